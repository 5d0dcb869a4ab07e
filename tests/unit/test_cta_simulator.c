/* SPDX-License-Identifier: GPL-3.0-or-later
 * The CTA simulator where the answer is known: waves without contention, one CTA by hand, bounds, bytes, seeds,
 * clusters; and its residency against the occupancy module, with which it shares no code. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "model/predict/kernel_time.h"
#include "model/predict/occupancy.h"
#include "model/predict/waves.h"
#include "sim/cta_simulator.h"
#include "tests/support/assert_close.h"
#include "tests/support/fixture_device.h"

enum {
    RANDOM_LAUNCHES = 20000,
    RANDOM_KERNELS = 60,
    TIMELINE = 4000
};

static const struct cta_simulation_options PLAIN = {.seed = 1};

/* Everything infinitely fast; a test sets what it is about. Seconds are whole so that sums are exact. */
static void ideal_machine(struct simulated_machine *machine, struct gpu_device *device)
{
    fixture_device_init(device);
    *machine = (struct simulated_machine){.limits = &device->limits,
                                          .sm_count = 37,
                                          .cycle_s = 0,
                                          .dram_bytes_per_s = (double)INFINITY,
                                          .l2_bytes_per_s = (double)INFINITY,
                                          .port_bytes_per_s = (double)INFINITY,
                                          .port_l2_bytes_per_s = (double)INFINITY,
                                          .smem_bytes_per_s = (double)INFINITY,
                                          .special_per_s = (double)INFINITY,
                                          .l2_capacity_bytes = 1e12,
                                          .issue_factor = 1,
                                          .compiled_issue_factor = 1,
                                          .issue_interval = 1};
}

static struct layer_case one_kernel(uint64_t grid, double iterations)
{
    struct layer_case layer = {.kernel_count = 1};
    layer.kernels[0] = (struct kernel_case){.name = "kernel",
                                            .launch = {.grid_ctas = grid,
                                                       .threads = 128,
                                                       .registers_per_thread = 100,
                                                       .barriers = 1,
                                                       .cluster_ctas = 1,
                                                       .carveout_percent = CARVEOUT_DEFAULT},
                                            .loop = {.iterations = iterations, .buffers = 1}};
    return layer;
}

static struct cta_simulation simulate(const struct simulated_machine *machine, const struct layer_case *layer,
                                      const struct cta_simulation_options *options)
{
    struct cta_simulation result;
    struct error error = {0};
    ck_assert_msg(cta_simulate(machine, layer, options, &result, &error) == STATUS_OK, "%s", error.text);
    return result;
}

START_TEST(equal_ctas_take_whole_rounds)
{
    struct gpu_device device;
    struct simulated_machine machine;
    static const uint64_t grids[] = {1, 36, 37, 38, 147, 148, 149, 1000, 1776, 12345};
    ideal_machine(&machine, &device);
    machine.launch_s = 16;
    machine.cta_start_s = 2;
    machine.iteration_overhead_s = 3;
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        const struct layer_case layer = one_kernel(grids[i], 7);
        struct waves waves;
        const struct cta_simulation result = simulate(&machine, &layer, &PLAIN);
        waves_compute(grids[i], 37, occupancy_ctas_per_sm(&device.limits, &layer.kernels[0].launch), &waves);
        ck_assert_msg(result.time_s == 16 + (double)waves.rounds * (2 + 7 * 3), "grid %llu takes %.17g",
                      (unsigned long long)grids[i], result.time_s);
        ck_assert_uint_eq(result.kernels[0].rounds, waves.rounds);
        ck_assert_uint_eq(result.kernels[0].sms_used, grids[i] < 37 ? grids[i] : 37);
    }
}
END_TEST

START_TEST(unequal_ctas_are_list_scheduled)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.iteration_overhead_s = 1;
    struct layer_case layer = one_kernel(1001, 0);
    struct tile_loop *loop = &layer.kernels[0].loop;
    const double work[] = {5, 0, 17, 2};
    const uint64_t counts[] = {301, 199, 0, 501};
    loop->ragged_count = 4;
    for (int i = 0; i < 4; i++)
        loop->ragged[i] = (struct ragged_group){.ctas = counts[i], .iterations = work[i]};
    const struct cta_simulation result = simulate(&machine, &layer, &PLAIN);
    const double expected =
        waves_list_schedule(work, counts, 4, 37 * occupancy_ctas_per_sm(&device.limits, &layer.kernels[0].launch));
    ck_assert(result.time_s == expected);
}
END_TEST

/* Latency 8, 2 for a tile to pass, 3 of work, 4 tiles, 2 buffers. Refilled after use: tiles arrive at 10, 12, 13 + 10,
 * 16 + 10. Refilled at the start of an iteration: 10, 12, 10 + 10, 13 + 10. */
START_TEST(one_cta_is_its_critical_path)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.dram_latency_s = 8;
    machine.port_bytes_per_s = machine.port_l2_bytes_per_s = 32;
    machine.iteration_overhead_s = 3;
    machine.cta_start_s = 64;
    machine.launch_s = 128;
    struct layer_case layer = one_kernel(1, 4);
    struct tile_loop *loop = &layer.kernels[0].loop;
    loop->buffers = 2;
    loop->stream =
        (struct tile_load){.rows = 1, .row_bytes = 64, .pipelined = true, .exposures = 1, .distinct_fraction = 1};
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 128 + 64 + 29);
    loop->early_fraction = 1;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 128 + 64 + 26);
    /* One buffer, refilled as soon as an iteration begins: tiles at 10, 20, 30, 40. */
    loop->buffers = 1;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 128 + 64 + 43);
    /* Nothing buffered: every iteration waits for 8 + 2 and works for 3. */
    loop->early_fraction = 0;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 128 + 64 + 4 * 13);
    /* Index first: 4 more; two dependent phases: twice the latency. */
    machine.l2_latency_s = 4;
    loop->stream.index_dependent = true;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 128 + 64 + 4 * (13 + 4));
    loop->stream.exposures = 2;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 128 + 64 + 4 * (13 + 4 + 12));
    /* 128 bytes before the loop from L2, 32 after it. */
    loop->prologue_bytes = 128;
    loop->epilogue_bytes = 32;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 128 + 64 + (4 + 4) + 4 * 29 + 1);
}
END_TEST

/* One product takes 4 of latency, 1 of which its pipes are busy: the CTA that begins second finds a quarter of a
 * request there and is longer by a quarter of its own work (SIM-3). */
START_TEST(a_step_waits_for_those_it_meets)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.sm_count = 1;
    machine.mma_latency_s = 4;
    machine.mma_flop_per_s[NUMBER_FORMAT_BF16] = 2.0 * 16 * 8 * 16 * SUB_CORES_MAX;
    struct layer_case layer = one_kernel(1, 1);
    struct tile_loop *loop = &layer.kernels[0].loop;
    loop->mma_count = 1;
    loop->mma[0] = (struct mma_op){.m = 16, .n = 8, .k = 16, .count = 1, .layout = MMA_LAYOUT_SPLIT_N};
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 4);
    layer.kernels[0].launch.grid_ctas = 2;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 4.25);
}
END_TEST

/* Frames of 4 bytes a thread, 512 a CTA, against 256 that SMEM leaves of the array: half of the 1,024 bytes goes on. */
START_TEST(spills_that_the_array_does_not_hold_go_on)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.sm_count = 1;
    machine.l1_bytes = 1024 + 256;
    machine.spill_traffic_factor = 1;
    machine.port_bytes_per_s = machine.port_l2_bytes_per_s = 32;
    struct layer_case layer = one_kernel(1, 1);
    layer.kernels[0].loop.spill_bytes = 8;
    const struct cta_simulation result = simulate(&machine, &layer, &PLAIN);
    ck_assert(result.time_s == 16);
    ck_assert(result.kernels[0].bytes_requested == 512 && result.kernels[0].bytes_served == 512);
    machine.l1_bytes = 1024 + 512;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 0);
}
END_TEST

/* Of what is written, DRAM sees what L2 cannot hold; all of it where something is read from there, or nothing at all.
 */
START_TEST(writes_stay_in_l2_while_they_fit)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.l2_capacity_bytes = 150;
    struct layer_case layer = one_kernel(2, 1);
    layer.kernels[0].loop.epilogue_bytes = 100;
    ck_assert(simulate(&machine, &layer, &PLAIN).kernels[0].dram_bytes == 200);
    layer.kernels[0].loop.prologue_bytes = 64;
    ck_assert(simulate(&machine, &layer, &PLAIN).kernels[0].dram_bytes == 50);
    machine.l2_capacity_bytes = 200;
    ck_assert(simulate(&machine, &layer, &PLAIN).kernels[0].dram_bytes == 0);
    layer.kernels[0].loop.prologue_distinct_fraction = 0.5;
    ck_assert(simulate(&machine, &layer, &PLAIN).kernels[0].dram_bytes == 2 * (100 + 32));
}
END_TEST

/* Two sectors of which each is missing in L2 with probability 1/2: L2 alone answers in a quarter of the tiles. */
START_TEST(a_tile_waits_for_its_slowest_sector)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.dram_latency_s = 8;
    machine.l2_latency_s = 4;
    machine.port_bytes_per_s = machine.port_l2_bytes_per_s = 32;
    struct layer_case layer = one_kernel(1, 1);
    struct tile_loop *loop = &layer.kernels[0].loop;
    loop->buffers = 2;
    loop->stream = (struct tile_load){
        .rows = 1, .row_bytes = 64, .alignment_bytes = 32, .pipelined = true, .exposures = 1, .distinct_fraction = 0.5};
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 4.0 / 4 + 8 * 3.0 / 4 + 2);
    loop->stream.rows = 3; /* six sectors */
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 4.0 / 64 + 8 * 63.0 / 64 + 6);
    loop->stream.distinct_fraction = 1;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 8 + 6);
    loop->stream.distinct_fraction = 0;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 4 + 6);
    loop->stream.distinct_fraction = 0.5; /* the same before the loop */
    loop->iterations = 0;
    loop->prologue_bytes = 64;
    loop->prologue_distinct_fraction = 0.5;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 4.0 / 4 + 8 * 3.0 / 4 + 2);
}
END_TEST

/* One instruction of 1 s on the pipe; operands waited for twice, 3 s each, a result once, 5 s. Two warps on a sub-core:
 * one finds the other at the pipe for 1 of 12 s. */
START_TEST(a_product_takes_what_compiled_code_waits_for)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.cycle_s = 0x1p-60;
    machine.mma_flop_per_s[NUMBER_FORMAT_BF16] = 2.0 * 16 * 8 * 16 * 4;
    machine.mma_latency_s = 5;
    machine.compiled_operand_wait_s = 3;
    struct layer_case layer = one_kernel(1, 1);
    struct tile_loop *loop = &layer.kernels[0].loop;
    layer.kernels[0].launch.threads = 32;
    loop->mma_count = 1;
    loop->mma[0] =
        (struct mma_op){.m = 16, .n = 8, .k = 16, .count = 1, .format = NUMBER_FORMAT_BF16, .warps_m = 1, .warps_n = 1};
    assert_close_rel(simulate(&machine, &layer, &PLAIN).time_s, 5, 1e-12); /* waits unknown: one dependent step */
    loop->warp_instructions = 1;
    loop->operand_waits = 2;
    loop->product_waits = 1;
    loop->spill_bytes = 400; /* among the operands */
    machine.spill_s = 1;
    assert_close_rel(simulate(&machine, &layer, &PLAIN).time_s, 12, 1e-12);
    layer.kernels[0].launch.threads = 256;
    loop->mma[0].n = 64;
    loop->mma[0].warps_n = 8;
    assert_close_rel(simulate(&machine, &layer, &PLAIN).time_s, 12 + 1.0 / 12, 1e-12);
}
END_TEST

/* Latency 8, 2 to pass, 3 of overhead and no other work: where the instructions are counted the overhead comes before
 * the next load even if that goes out early. */
START_TEST(overhead_of_a_counted_loop_precedes_its_loads)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.dram_latency_s = 8;
    machine.port_bytes_per_s = machine.port_l2_bytes_per_s = 32;
    machine.iteration_overhead_s = 3;
    struct layer_case layer = one_kernel(1, 4);
    struct tile_loop *loop = &layer.kernels[0].loop;
    loop->early_fraction = 1;
    loop->stream =
        (struct tile_load){.rows = 1, .row_bytes = 64, .pipelined = true, .exposures = 1, .distinct_fraction = 1};
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 4 * 10 + 3);
    loop->warp_instructions = 1;
    ck_assert(simulate(&machine, &layer, &PLAIN).time_s == 4 * (10 + 3));
}
END_TEST

/* Two tiles of 1 s at SMEM each, asked for together, there after 10 and 12 s; steps of 4 s at SMEM. The first step
 * finds the second copy, which stands there for 1 of its 12 s. Rows that start anywhere take 11.9 wavefronts, not 4. */
START_TEST(copies_contend_for_smem)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.dram_latency_s = 8;
    machine.port_bytes_per_s = machine.port_l2_bytes_per_s = 32;
    machine.smem_bytes_per_s = 64;
    struct layer_case layer = one_kernel(1, 2);
    struct tile_loop *loop = &layer.kernels[0].loop;
    loop->buffers = 2;
    loop->smem_bytes = 4 * 64;
    loop->stream = (struct tile_load){
        .rows = 1, .row_bytes = 64, .alignment_bytes = 64, .pipelined = true, .exposures = 1, .distinct_fraction = 1};
    const struct cta_simulation aligned = simulate(&machine, &layer, &PLAIN);
    ck_assert(fabs(aligned.time_s - (10 + 4 * (1 + 1.0 / 12) + 4)) < 4.0 / 65536);
    assert_close_rel(aligned.kernels[0].utilization[SIM_SERVER_SMEM] * 37 * aligned.time_s, 2 * (1 + 4), 1e-12);
    loop->stream.alignment_bytes = 16; /* 2.5 sectors */
    const struct cta_simulation anywhere = simulate(&machine, &layer, &PLAIN);
    assert_close_rel(anywhere.kernels[0].utilization[SIM_SERVER_SMEM] * 37 * anywhere.time_s,
                     2 * (2.5 * 32 / 64 * 11.9 / 4 + 4), 1e-12);
    loop->stream.pipelined = false; /* through registers: what that stores is described */
    const struct cta_simulation loaded = simulate(&machine, &layer, &PLAIN);
    assert_close_rel(loaded.kernels[0].utilization[SIM_SERVER_SMEM] * 37 * loaded.time_s, 2 * (2.5 * 32 / 64 + 4),
                     1e-12);
}
END_TEST

START_TEST(kernels_follow_each_other_with_gaps)
{
    struct gpu_device device;
    struct simulated_machine machine;
    ideal_machine(&machine, &device);
    machine.iteration_overhead_s = 1;
    machine.launch_s = 100;
    machine.graph_gap_s = 7;
    machine.stream_gap_s = 9;
    struct layer_case layer = one_kernel(10, 5);
    layer.kernel_count = 3;
    layer.kernels[1] = layer.kernels[2] = layer.kernels[0];
    layer.kernels[1].skipped = true;
    struct cta_simulation_options options = PLAIN;
    ck_assert(simulate(&machine, &layer, &options).time_s == 100 + 5 + 7 + 5); /* launched while the first one runs */
    options.stream = true;
    ck_assert(simulate(&machine, &layer, &options).time_s == 100 + 5 + 9 + 5);
}
END_TEST

static struct kernel_launch random_launch(struct random_stream *random)
{
    return (struct kernel_launch){.grid_ctas = 1 + random_below(random, 40),
                                  .threads = random_below(random, 1100),
                                  .registers_per_thread = random_below(random, 264),
                                  .static_smem_bytes = random_below(random, 3) ? 0 : random_below(random, 50000),
                                  .dynamic_smem_bytes = random_below(random, 2) ? 0 : random_below(random, 240000),
                                  .barriers = 1 + random_below(random, random_below(random, 4) ? 3 : 18),
                                  .cluster_ctas = random_below(random, 4) ? 1 : random_below(random, 13),
                                  .carveout_percent =
                                      random_below(random, 2) ? CARVEOUT_DEFAULT : (int32_t)random_below(random, 101)};
}

START_TEST(residency_is_that_of_the_occupancy_module)
{
    struct gpu_device device;
    struct random_stream random;
    uint64_t sum = 0;
    random_init(&random, 11, 3);
    fixture_device_init(&device);
    for (int i = 0; i < RANDOM_LAUNCHES; i++) {
        const struct kernel_launch launch = random_launch(&random);
        struct sm_residency residency;
        sm_residency_fill(&device.limits, &launch, &residency);
        const uint32_t expected = occupancy_ctas_per_sm(&device.limits, &launch);
        ck_assert_msg(residency.ctas == expected, "%u threads, %u registers, %u + %llu bytes, cluster %u: %u, not %u",
                      launch.threads, launch.registers_per_thread, launch.static_smem_bytes,
                      (unsigned long long)launch.dynamic_smem_bytes, launch.cluster_ctas, residency.ctas, expected);
        sum += expected;
    }
    ck_assert_uint_gt(sum, RANDOM_LAUNCHES / 2); /* many of them do run */
}
END_TEST

/* A kernel with everything in it. */
static struct layer_case random_layer(struct random_stream *random)
{
    struct layer_case layer = one_kernel(1 + random_below(random, 600), 1 + random_below(random, 20));
    struct tile_loop *loop = &layer.kernels[0].loop;
    layer.kernels[0].launch.threads = 32 * (1 + random_below(random, 12));
    layer.kernels[0].launch.registers_per_thread = 32 + random_below(random, 100);
    layer.kernels[0].launch.dynamic_smem_bytes = random_below(random, 100000);
    loop->buffers = 1 + random_below(random, 4);
    loop->early_fraction = random_below(random, 3) / 2.0;
    loop->gather = (struct tile_load){.rows = 1 + random_below(random, 64),
                                      .row_bytes = 8.0 * (1 + random_below(random, 200)),
                                      .alignment_bytes = 8,
                                      .index_dependent = random_below(random, 2) == 1,
                                      .pipelined = random_below(random, 3) > 0,
                                      .exposures = 1 + random_below(random, 2),
                                      .distinct_fraction = random_uniform(random)};
    loop->mma_count = random_below(random, 3);
    for (uint32_t i = 0; i < loop->mma_count; i++)
        loop->mma[i] = (struct mma_op){.m = 16 << random_below(random, 3),
                                       .n = 16 << random_below(random, 4),
                                       .k = 16 << random_below(random, 5),
                                       .count = 1,
                                       .format = NUMBER_FORMAT_BF16};
    loop->smem_operands = random_below(random, 3);
    loop->fp32_ops = random_below(random, 100000);
    loop->special_ops = random_below(random, 2000);
    loop->spill_bytes = random_below(random, 2) * 40.0;
    loop->smem_bytes = random_below(random, 50000);
    loop->barriers = random_below(random, 4);
    loop->edge_instructions = random_below(random, 300);
    loop->prologue_bytes = random_below(random, 20000);
    loop->epilogue_bytes = random_below(random, 40000);
    return layer;
}

static void init_models(struct gpu_device *device, struct simulated_machine *machine, struct time_model *model)
{
    struct model_parameters parameters;
    struct error error = {0};
    fixture_device_init(device);
    model_parameters_init(&parameters);
    ck_assert_msg(simulated_machine_init(machine, device, &parameters, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(time_model_init(model, device, &parameters, &error) == STATUS_OK, "%s", error.text);
}

START_TEST(no_run_beats_the_bounds_and_no_byte_is_lost)
{
    struct gpu_device device;
    struct simulated_machine machine;
    struct time_model model;
    struct random_stream random;
    init_models(&device, &machine, &model);
    random_init(&random, 23, 1);
    for (int i = 0; i < RANDOM_KERNELS; i++) {
        const struct layer_case layer = random_layer(&random);
        if (occupancy_ctas_per_sm(&device.limits, &layer.kernels[0].launch) == 0)
            continue;
        const struct cta_simulation result = simulate(&machine, &layer, &PLAIN);
        const struct kernel_simulation *kernel = &result.kernels[0];
        struct kernel_time time;
        double shares = 0;
        kernel_time_predict(&model, &layer.kernels[0], &time);
        ck_assert(result.time_s >= time.dram_floor_s && result.time_s >= time.tensor_floor_s);
        assert_close_rel(kernel->bytes_served, kernel->bytes_requested, 1e-12);
        assert_close_rel(kernel->dram_bytes, time.dram_bytes, 1e-9);
        ck_assert(kernel->bytes_served <= (kernel->end_s - kernel->begin_s) * machine.l2_bytes_per_s * (1 + 1e-9));
        for (int s = 0; s < SIM_SERVER_COUNT; s++)
            ck_assert_msg(kernel->utilization[s] <= 1 + 1e-9, "%s is busy %g", sim_server_name((enum sim_server)s),
                          kernel->utilization[s]);
        for (int s = 0; s < CTA_STAGE_COUNT; s++)
            shares += kernel->stage_share[s];
        assert_close_rel(shares, 1, 1e-12);
    }
}
END_TEST

/* By the description: 60 CTAs of 5 tiles of 16 rows of 18.25 + 1 - 1/4 sectors, and what comes before and after. */
START_TEST(bytes_are_those_described)
{
    struct gpu_device device;
    struct simulated_machine machine;
    struct time_model model;
    init_models(&device, &machine, &model);
    struct layer_case layer = one_kernel(60, 5);
    struct tile_loop *loop = &layer.kernels[0].loop;
    loop->buffers = 3;
    loop->gather = (struct tile_load){.rows = 16,
                                      .row_bytes = 584,
                                      .alignment_bytes = 8,
                                      .pipelined = true,
                                      .exposures = 1,
                                      .distinct_fraction = 0.25};
    loop->prologue_bytes = 100;
    loop->epilogue_bytes = 10;
    const struct cta_simulation result = simulate(&machine, &layer, &PLAIN);
    assert_close_rel(result.kernels[0].bytes_served, 60 * (5 * 16 * 19.0 * 32 + 110), 1e-12);
    assert_close_rel(result.kernels[0].dram_bytes, 60 * (5 * 16 * 19.0 * 32 / 4 + 10), 1e-12);
}
END_TEST

/* What is marked as the formula's alone changes no simulated time; nor does anything else go unused. */
START_TEST(only_the_formulas_own_parameters_go_unused)
{
    struct gpu_device device;
    struct model_parameters parameters;
    struct error error = {0};
    bool used[PARAMETER_COUNT] = {0};
    struct random_stream random;
    fixture_device_init(&device);
    random_init(&random, 31, 1);
    for (int k = 0; k < RANDOM_KERNELS / 4; k++) {
        struct layer_case layer = random_layer(&random);
        double plain_s = 0;
        for (int i = -1; i < PARAMETER_COUNT; i++) { /* -1: the defaults */
            struct simulated_machine machine;
            struct cta_simulation result;
            model_parameters_init(&parameters);
            if (i >= 0)
                parameters.items[i].value *= 1.05;
            ck_assert(simulated_machine_init(&machine, &device, &parameters, &error) == STATUS_OK);
            machine.l1_bytes = 0;
            if (cta_simulate(&machine, &layer, &PLAIN, &result, &error) != STATUS_OK)
                break;
            if (i < 0)
                plain_s = result.time_s;
            else
                used[i] |= result.time_s != plain_s;
        }
    }
    for (int i = 0; i < PARAMETER_COUNT; i++)
        ck_assert_msg(used[i] != parameter_describe((enum parameter_id)i)->formula_only, "%s",
                      parameter_describe((enum parameter_id)i)->name);
}
END_TEST

START_TEST(load_takes_longer_under_load)
{
    struct gpu_device device;
    struct simulated_machine machine;
    struct time_model model;
    init_models(&device, &machine, &model);
    double before = 0;
    for (uint64_t grid = 1; grid < 37 * 4; grid = grid * 3 + 34) { /* 1, 37, 145: up to one wave */
        struct layer_case layer = one_kernel(grid, 50);
        struct tile_loop *loop = &layer.kernels[0].loop;
        loop->buffers = 4;
        loop->stream = (struct tile_load){
            .rows = 1, .row_bytes = 16384, .pipelined = true, .exposures = 1, .distinct_fraction = 1};
        const struct cta_simulation result = simulate(&machine, &layer, &PLAIN);
        ck_assert(result.kernels[0].load_latency_s >= result.kernels[0].load_alone_s * (1 - 1e-9));
        ck_assert(result.kernels[0].load_latency_s > before);
        before = result.kernels[0].load_latency_s;
    }
    ck_assert(before > 1e-6); /* DRAM cannot keep up with that many */
}
END_TEST

START_TEST(a_seed_repeats_and_seeds_differ)
{
    struct gpu_device device;
    struct simulated_machine machine;
    struct time_model model;
    struct random_stream random;
    struct error error = {0};
    static struct cta_record first[TIMELINE], second[TIMELINE];
    static struct cta_simulation serial[24], parallel[24];
    init_models(&device, &machine, &model);
    random_init(&random, 7, 1);
    const struct layer_case layer = random_layer(&random);
    struct cta_simulation_options options = {
        .seed = 5, .jitter = 0.1, .timeline = first, .timeline_capacity = TIMELINE};
    const struct cta_simulation one = simulate(&machine, &layer, &options);
    options.timeline = second;
    const struct cta_simulation two = simulate(&machine, &layer, &options);
    ck_assert(one.time_s == two.time_s && one.timeline_count == layer.kernels[0].launch.grid_ctas);
    ck_assert(memcmp(first, second, sizeof first) == 0);
    ck_assert(cta_simulate_seeds(&machine, &layer, &options, 24, 1, serial, &error) == STATUS_OK);
    ck_assert(cta_simulate_seeds(&machine, &layer, &options, 24, 5, parallel, &error) == STATUS_OK);
    unsigned different = 0;
    for (int i = 0; i < 24; i++) {
        ck_assert(serial[i].time_s == parallel[i].time_s);
        ck_assert(memcmp(serial[i].kernels[0].stage_share, parallel[i].kernels[0].stage_share,
                         sizeof serial[i].kernels[0].stage_share) == 0);
        different += serial[i].time_s != one.time_s;
    }
    ck_assert(serial[0].time_s == one.time_s);
    ck_assert_uint_eq(different, 23);
}
END_TEST

/* GPCs of 10, 10, 10 and 7 SMs, one CTA of 1,024 threads per SM, clusters of 4: 2 + 2 + 2 + 1 at a time. */
START_TEST(clusters_stay_within_a_gpc)
{
    struct gpu_device device;
    struct simulated_machine machine;
    static struct cta_record timeline[TIMELINE];
    ideal_machine(&machine, &device);
    machine.sms_per_gpc = 10;
    machine.iteration_overhead_s = 1;
    struct layer_case layer = one_kernel(400, 3);
    layer.kernels[0].launch.threads = 1024;
    layer.kernels[0].launch.registers_per_thread = 32;
    layer.kernels[0].launch.cluster_ctas = 4;
    const struct cta_simulation_options options = {.timeline = timeline, .timeline_capacity = TIMELINE};
    const struct cta_simulation result = simulate(&machine, &layer, &options);
    ck_assert(result.time_s == 15 * 3); /* ceil(100 / 7) */
    uint32_t gpcs[100];
    double starts[100];
    for (int seen = 0; seen < 2; seen++)
        for (uint64_t i = 0; i < 400; i++) {
            const uint64_t cluster = timeline[i].cta / 4;
            if (seen == 0) {
                gpcs[cluster] = timeline[i].sm / 10;
                starts[cluster] = timeline[i].start_s;
            }
            ck_assert_uint_eq(timeline[i].sm / 10, gpcs[cluster]);
            ck_assert(timeline[i].start_s == starts[cluster]);
        }
}
END_TEST

START_TEST(what_cannot_run_is_named)
{
    struct gpu_device device;
    struct simulated_machine machine;
    struct cta_simulation result;
    struct error error = {0};
    ideal_machine(&machine, &device);
    struct layer_case layer = one_kernel(40, 3);
    layer.kernels[0].launch.dynamic_smem_bytes = 200000;
    ck_assert(cta_simulate(&machine, &layer, &PLAIN, &result, &error) == STATUS_DOMAIN);
    ck_assert_str_eq(error.text, "kernel: no CTA fits an SM (smem)");
    layer = one_kernel(40, 3);
    layer.kernels[0].launch.cluster_ctas = 8;
    layer.kernels[0].launch.threads = 1024;
    machine.sms_per_gpc = 4;
    layer.kernels[0].launch.registers_per_thread = 32;
    ck_assert(cta_simulate(&machine, &layer, &PLAIN, &result, &error) == STATUS_DOMAIN);
    ck_assert_str_eq(error.text, "kernel: no GPC holds a cluster of 8 CTAs, only 4");
    layer = one_kernel(1u << 30, 1000);
    ck_assert(cta_simulate(&machine, &layer, &PLAIN, &result, &error) == STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "events, the limit is 2e+09"));
    layer = one_kernel(40, 3);
    layer.kernels[0].loop.mma_count = 1;
    layer.kernels[0].loop.mma[0] = (struct mma_op){.m = 16, .n = 16, .k = 16, .count = 1, .format = NUMBER_FORMAT_FP4};
    ck_assert(cta_simulate(&machine, &layer, &PLAIN, &result, &error) == STATUS_MISSING);
    ck_assert_str_eq(error.text, "kernel: the device has no tensor rate for fp4");
}
END_TEST

Suite *suite_cta_simulator(void);
Suite *suite_cta_simulator(void)
{
    Suite *suite = suite_create("cta_simulator");
    TCase *tcase = tcase_create("simulator");
    tcase_add_test(tcase, equal_ctas_take_whole_rounds);
    tcase_add_test(tcase, unequal_ctas_are_list_scheduled);
    tcase_add_test(tcase, one_cta_is_its_critical_path);
    tcase_add_test(tcase, a_tile_waits_for_its_slowest_sector);
    tcase_add_test(tcase, a_product_takes_what_compiled_code_waits_for);
    tcase_add_test(tcase, overhead_of_a_counted_loop_precedes_its_loads);
    tcase_add_test(tcase, copies_contend_for_smem);
    tcase_add_test(tcase, kernels_follow_each_other_with_gaps);
    tcase_add_test(tcase, a_step_waits_for_those_it_meets);
    tcase_add_test(tcase, spills_that_the_array_does_not_hold_go_on);
    tcase_add_test(tcase, writes_stay_in_l2_while_they_fit);
    tcase_add_test(tcase, residency_is_that_of_the_occupancy_module);
    tcase_add_test(tcase, no_run_beats_the_bounds_and_no_byte_is_lost);
    tcase_add_test(tcase, bytes_are_those_described);
    tcase_add_test(tcase, only_the_formulas_own_parameters_go_unused);
    tcase_add_test(tcase, load_takes_longer_under_load);
    tcase_add_test(tcase, a_seed_repeats_and_seeds_differ);
    tcase_add_test(tcase, clusters_stay_within_a_gpc);
    tcase_add_test(tcase, what_cannot_run_is_named);
    suite_add_tcase(suite, tcase);
    return suite;
}
