/* SPDX-License-Identifier: GPL-3.0-or-later
 * Kernel time on the invented device, worked by hand; replication against counts in compiled Triton 3.6 kernels. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "model/predict/kernel_time.h"
#include "model/predict/tile_cost.h"
#include "tests/support/assert_close.h"
#include "tests/support/fixture_device.h"

/* Fourth roots of sums of fourth powers: some ten roundings. */
#define TOL_NORM 1e-13

static struct gpu_device device;
static struct time_model model;

static void setup(void)
{
    struct model_parameters parameters;
    struct error error;
    fixture_device_init(&device);
    model_parameters_init(&parameters);
    parameters.items[PARAMETER_LAUNCH_FACTOR].value = 1; /* the figures of the invented device as they are */
    parameters.items[PARAMETER_DRAM_LATENCY_FACTOR].value = 1;
    parameters.items[PARAMETER_SM_BANDWIDTH_FACTOR].value = 1;
    parameters.items[PARAMETER_OVERLAP_EXPONENT].value = 4;
    parameters.items[PARAMETER_ITERATION_OVERHEAD].value = 120;
    ck_assert_msg(time_model_init(&model, &device, &parameters, &error) == STATUS_OK, "%s", error.text);
    model.operand_factor = 0; /* what products wait for has tests of its own */
}

/* 128 threads, 32 registers: 13 CTAs fit by warps (52 / 4), 16 by registers. Nothing in the loop but its overhead. */
static struct kernel_case empty_kernel(uint64_t grid_ctas, double iterations)
{
    struct kernel_case kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.name = "empty";
    kernel.launch = (struct kernel_launch){.grid_ctas = grid_ctas,
                                           .threads = 128,
                                           .registers_per_thread = 32,
                                           .barriers = 1,
                                           .cluster_ctas = 1,
                                           .carveout_percent = CARVEOUT_DEFAULT};
    kernel.loop.iterations = iterations;
    kernel.loop.buffers = 1;
    return kernel;
}

static double predicted_s(const struct kernel_case *kernel)
{
    struct kernel_time result;
    struct error error;
    ck_assert_msg(kernel_case_validate(kernel, &error) == STATUS_OK, "%s", error.text);
    kernel_time_predict(&model, kernel, &result);
    ck_assert(result.feasible);
    return result.time_s;
}

START_TEST(one_cta_takes_its_critical_path)
{
    /* launch 2.385 us + CTA start 0.433 us + 7 iterations of 120 cycles at 1.913 GHz */
    const struct kernel_case kernel = empty_kernel(1, 7);
    assert_close_rel(predicted_s(&kernel), 2.385e-6 + 0.433e-6 + 7 * 120 / 1.913e9, TOL_NORM);
}
END_TEST

START_TEST(uniform_ctas_without_contention_follow_the_rounds)
{
    const double chain_s = 0.433e-6 + 7 * 120 / 1.913e9;
    const uint64_t slots = 37 * 13;
    for (uint64_t rounds = 1; rounds <= 3; rounds++) {
        const struct kernel_case full = empty_kernel(rounds * slots, 7);
        const struct kernel_case one_more = empty_kernel(rounds * slots + 1, 7);
        assert_close_rel(predicted_s(&full), 2.385e-6 + (double)rounds * chain_s, TOL_NORM);
        assert_close_rel(predicted_s(&one_more), 2.385e-6 + (double)(rounds + 1) * chain_s, TOL_NORM);
    }
}
END_TEST

START_TEST(exposed_load_adds_latency_and_transfer)
{
    struct kernel_case kernel = empty_kernel(1, 5);
    kernel.loop.stream =
        (struct tile_load){.rows = 3, .row_bytes = 1024, .alignment_bytes = 64, .exposures = 2, .distinct_fraction = 1};
    struct tile_cost cost;
    tile_cost_compute(&model, &kernel, &cost);
    const double transfer_s = 3 * 1024 / (61.3 * 1.913e9);
    assert_close_rel(cost.exposed_s, 2 * 613e-9 + transfer_s, TOL_ROUNDING);
    assert_close_rel(cost.dram_bytes, 3072, TOL_ROUNDING);
    kernel.loop.stream.distinct_fraction = 0.25;
    kernel.loop.stream.index_dependent = true;
    tile_cost_compute(&model, &kernel, &cost);
    const double l2_s = 253 / 1.913e9;
    const double all_hit = pow(0.75, 96); /* of 96 sectors */
    assert_close_rel(cost.exposed_s, 2 * ((1 - all_hit) * 613e-9 + all_hit * l2_s + l2_s) + transfer_s, TOL_ROUNDING);
    assert_close_rel(cost.sector_bytes, 3072, TOL_ROUNDING);
    assert_close_rel(cost.dram_bytes, 3072 / 4.0, TOL_ROUNDING);
}
END_TEST

START_TEST(partial_writes_take_their_own_time)
{
    /* 64 KiB in pieces of 16 bytes: 4096 partial writes, of one SM 1.95 cycles each, of L2 32 bytes at 0.32 of its
     * rate. */
    struct kernel_case kernel = empty_kernel(1, 7);
    kernel.loop.epilogue_bytes = 65536;
    kernel.loop.epilogue_piece_bytes = 16;
    const double store_s = 4096 * 1.95 / 1.913e9, chain_s = 0.433e-6 + 7 * 120 / 1.913e9 + store_s;
    const double sm_s = pow(pow(chain_s, 4) + pow(store_s, 4), 0.25);
    const double l2_s = 65536 / 2.039e12 + 4096 * 32 / (0.32 * 2.039e12);
    assert_close_rel(predicted_s(&kernel), 2.385e-6 + pow(pow(sm_s, 8) + pow(l2_s, 8), 0.125), 1e-12);

    /* Whole sectors go at the port's rate, whatever their number. */
    kernel.loop.epilogue_piece_bytes = 32;
    const double whole_s = predicted_s(&kernel);
    kernel.loop.epilogue_piece_bytes = 0;
    assert_close_rel(predicted_s(&kernel), whole_s, TOL_ROUNDING);
    ck_assert(whole_s < 2.385e-6 + chain_s);

    /* The device's figures, where it has them. */
    device.figures[GPU_FIGURE_SM_PARTIAL_WRITE].value = 3.9;
    device.figures[GPU_FIGURE_L2_PARTIAL_WRITE].value = 1e12;
    struct model_parameters parameters;
    struct error error;
    struct time_model stated;
    model_parameters_init(&parameters);
    ck_assert_msg(time_model_init(&stated, &device, &parameters, &error) == STATUS_OK, "%s", error.text);
    assert_close_rel(stated.sm_partial_write_s, 3.9 / 1.913e9, TOL_ROUNDING);
    assert_close_rel(stated.l2_partial_write_s, 32e-12, TOL_ROUNDING);
}
END_TEST

START_TEST(tile_arrives_with_its_last_sector)
{
    const double l2_s = 253 / 1.913e9, dram_s = 613e-9;
    assert_close_rel(slowest_sector_latency_s(&model, 4096, 0), l2_s, TOL_ROUNDING);
    assert_close_rel(slowest_sector_latency_s(&model, 4096, 1), dram_s, TOL_ROUNDING);
    assert_close_rel(slowest_sector_latency_s(&model, 64, 0.5), 0.25 * l2_s + 0.75 * dram_s, TOL_ROUNDING);
    assert_close_rel(slowest_sector_latency_s(&model, 8, 0.5), 0.5 * l2_s + 0.5 * dram_s, TOL_ROUNDING);
    assert_close_rel(slowest_sector_latency_s(&model, 1e6, 0.01), dram_s, TOL_ROUNDING);
}
END_TEST

START_TEST(waits_of_compiled_code_lengthen_the_chain)
{
    struct kernel_case kernel = empty_kernel(1, 5);
    kernel.loop.mma_count = 1;
    kernel.loop.mma[0] = (struct mma_op){
        .m = 64, .n = 64, .k = 16, .count = 1, .format = NUMBER_FORMAT_BF16, .warps_m = 1, .warps_n = 1};
    kernel.loop.smem_operands = 2;
    kernel.loop.warp_instructions = 500;
    struct tile_cost with, more;
    kernel.loop.operand_waits = 1;
    tile_cost_compute(&model, &kernel, &with);
    kernel.loop.operand_waits = 4;
    kernel.loop.product_waits = 2;
    kernel.loop.spill_bytes = 64; /* among the waits */
    tile_cost_compute(&model, &kernel, &more);
    assert_close_rel(more.compute_s - with.compute_s,
                     3 * model.exact_operand_factor * model.smem_latency_s + 2 * model.mma_latency_s, 1e-9);
    assert_close_rel(more.before_loads_s, model.iteration_overhead_s, TOL_ROUNDING);
    kernel.loop.warp_instructions = 0;
    tile_cost_compute(&model, &kernel, &more);
    ck_assert(more.before_loads_s == 0);
}
END_TEST

/* One tile in flight, loaded early: what comes before its loads is waited for as well. */
START_TEST(loads_go_out_after_the_overhead)
{
    struct kernel_case kernel = empty_kernel(1, 100);
    kernel.loop.warp_instructions = 1e-9;
    kernel.loop.early_fraction = 1;
    kernel.loop.stream = (struct tile_load){
        .rows = 1, .row_bytes = 32, .alignment_bytes = 32, .exposures = 1, .distinct_fraction = 1, .pipelined = true};
    const double slow_s = predicted_s(&kernel);
    kernel.loop.warp_instructions = 0;
    const double fast_s = predicted_s(&kernel);
    ck_assert(slow_s > fast_s + 99 * 0.9 * model.iteration_overhead_s);
}
END_TEST

START_TEST(rows_touch_whole_sectors)
{
    assert_close_rel(row_sector_bytes(584, 8), 608, TOL_ROUNDING); /* 19 sectors */
    assert_close_rel(row_sector_bytes(256, 256), 256, TOL_ROUNDING);
    assert_close_rel(row_sector_bytes(40, 32), 64, TOL_ROUNDING);
    assert_close_rel(row_sector_bytes(16, 16), 32, TOL_ROUNDING);
}
END_TEST

/* mma.sync per warp and loop iteration, counted in the code Triton 3.6 made. */
static const struct {
    uint32_t warps, m, n_first, k_first, n_second;
    double first, second;
} compiled_counts[] = {
    {1, 16, 16, 128, 128, 16, 16}, /* GQA decode, 16 padded heads, 16 rows a tile, head dim 128: 32 in all */
    {2, 16, 16, 128, 128, 8, 8},   /* 16 */
    {4, 16, 16, 128, 128, 8, 4},   /* 12: the first product is replicated twice */
    {8, 16, 16, 128, 128, 8, 2},   /* 10 */
    {8, 16, 64, 128, 128, 8, 8},   /* 16 */
    {4, 32, 16, 576, 576, 72, 36}, /* sparse decode, block_h 32, 16 rows a tile: 108 */
    {8, 32, 16, 576, 576, 72, 18}, /* 90: the first product gains nothing from four more warps */
};

START_TEST(chained_products_match_compiled_code)
{
    for (size_t i = 0; i < sizeof compiled_counts / sizeof compiled_counts[0]; i++) {
        const struct mma_op first = {.m = compiled_counts[i].m,
                                     .n = compiled_counts[i].n_first,
                                     .k = compiled_counts[i].k_first,
                                     .count = 1,
                                     .layout = MMA_LAYOUT_CHAINED};
        const struct mma_op second = {.m = compiled_counts[i].m,
                                      .n = compiled_counts[i].n_second,
                                      .k = compiled_counts[i].n_first,
                                      .count = 1,
                                      .layout = MMA_LAYOUT_CHAINED};
        struct mma_replication share;
        mma_replication_compute(&first, compiled_counts[i].warps, &share);
        assert_close_rel(share.tiles_per_warp * first.k / 16, compiled_counts[i].first, TOL_ROUNDING);
        mma_replication_compute(&second, compiled_counts[i].warps, &share);
        assert_close_rel(share.tiles_per_warp * second.k / 16, compiled_counts[i].second, TOL_ROUNDING);
    }
}
END_TEST

START_TEST(small_tile_is_replicated)
{
    struct mma_op op = {.m = 32, .n = 16, .k = 576, .count = 1, .layout = MMA_LAYOUT_BALANCED};
    struct mma_replication share;
    mma_replication_compute(&op, 4, &share);
    assert_close_rel(share.replication, 1, TOL_ROUNDING);
    mma_replication_compute(&op, 8, &share);
    assert_close_rel(share.replication, 2, TOL_ROUNDING);
    op.layout = MMA_LAYOUT_SPLIT_M;
    mma_replication_compute(&op, 4, &share);
    assert_close_rel(share.replication, 2, TOL_ROUNDING);
    mma_replication_compute(&op, 8, &share);
    assert_close_rel(share.replication, 4, TOL_ROUNDING);
}
END_TEST

START_TEST(tensor_chain_is_latency_or_issue_bound)
{
    /* 36 dependent steps. One accumulator a warp: latency 31.7 cycles. Four warps a sub-core with 2 accumulators each:
     * 8 intervals of 4 * 4096 / (1039 * 0.953) = 16.55 cycles. */
    struct kernel_case kernel = empty_kernel(1, 1);
    kernel.loop.mma_count = 1;
    kernel.loop.mma[0] = (struct mma_op){.m = 32, .n = 16, .k = 576, .count = 1, .layout = MMA_LAYOUT_BALANCED};
    struct tile_cost cost;
    const double cycle_s = 1 / 1.913e9, interval_s = 4 * 4096 / (1039 * 0.953) * cycle_s;
    tile_cost_compute(&model, &kernel, &cost);
    assert_close_rel(cost.mma_share * cost.compute_s, 36 * 31.7 * cycle_s, TOL_NORM);
    kernel.launch.threads = 512;
    kernel.loop.mma[0].layout = MMA_LAYOUT_SPLIT_M;
    tile_cost_compute(&model, &kernel, &cost);
    assert_close_rel(cost.mma_share * cost.compute_s, 36 * 8 * interval_s, TOL_NORM);
    assert_close_rel(cost.tensor_s, 16 * 2 * 36 * interval_s / 4, TOL_NORM);
    assert_close_rel(cost.replication, 8, TOL_ROUNDING);
}
END_TEST

/* Two of four warps share the tile, the others wait: half the instructions of a replicated tile, the same chain. */
START_TEST(given_warps_leave_the_others_idle)
{
    struct kernel_case kernel = empty_kernel(1, 1);
    struct tile_cost idle, replicated;
    struct mma_replication share;
    kernel.loop.mma_count = 1;
    kernel.loop.smem_operands = 2;
    kernel.loop.mma[0] = (struct mma_op){.m = 32, .n = 8, .k = 576, .count = 1, .warps_m = 2, .warps_n = 1};
    mma_replication_compute(&kernel.loop.mma[0], 4, &share);
    assert_close_rel(share.replication, 1, TOL_ROUNDING);
    ck_assert(!mma_layout_is_unknown(&kernel.loop.mma[0]));
    tile_cost_compute(&model, &kernel, &idle);
    kernel.loop.mma[0].warps_m = kernel.loop.mma[0].warps_n = 0;
    kernel.loop.mma[0].layout = MMA_LAYOUT_BALANCED;
    tile_cost_compute(&model, &kernel, &replicated);
    assert_close_rel(replicated.replication, 2, TOL_ROUNDING);
    assert_close_rel(idle.tensor_s, replicated.tensor_s / 2, TOL_NORM);
    assert_close_rel(idle.mma_share * idle.compute_s, replicated.mma_share * replicated.compute_s, TOL_NORM);
    /* Two warps of 16 rows: each reads all 8 columns, and its own rows. */
    assert_close_rel(idle.smem_s * model.smem_bytes_per_s, (2 * 8 + 32) * 576 * 2, TOL_NORM);
}
END_TEST

/* MMA-3: a warpgroup computes 64 rows whatever of them is wanted; the floor counts what is wanted. */
START_TEST(warpgroup_rows_are_rounded_up)
{
    struct kernel_case kernel = empty_kernel(1, 1);
    struct tile_cost part, whole;
    kernel.loop.mma_count = 1;
    kernel.loop.mma[0] = (struct mma_op){.m = 48, .n = 128, .k = 64, .count = 2, .warpgroup = true};
    tile_cost_compute(&model, &kernel, &part);
    kernel.loop.mma[0].m = 64;
    tile_cost_compute(&model, &kernel, &whole);
    assert_close_rel(whole.tensor_s, 2.0 * 64 * 128 * 64 * 2 / (1039 * 1.913e9), TOL_NORM);
    assert_close_rel(part.tensor_s, whole.tensor_s, TOL_ROUNDING);
    assert_close_rel(part.useful_tensor_s, 0.75 * whole.useful_tensor_s, TOL_ROUNDING);
}
END_TEST

/* TILE-6: 13 CTAs of 128 threads with frames of 8 bytes, 13,312 bytes, against what their SMEM leaves of the array. */
START_TEST(frames_beyond_the_array_go_to_l2)
{
    struct kernel_case kernel = empty_kernel(37 * 13, 1);
    struct kernel_time result;
    double l2_bytes[3];
    static const double held[] = {1e9, 13312 / 4.0, 0};
    kernel.loop.spill_bytes = 16;
    model.spill_traffic_factor = 1;
    for (int i = 0; i < 3; i++) {
        model.l1_bytes = 13 * 1024 + held[i];
        kernel_time_predict(&model, &kernel, &result);
        l2_bytes[i] = result.l2_bytes;
    }
    ck_assert(l2_bytes[0] == 0);
    assert_close_rel(l2_bytes[2], 37.0 * 13 * 16 * 128, TOL_NORM);
    assert_close_rel(l2_bytes[1], 0.75 * l2_bytes[2], TOL_NORM);
}
END_TEST

/* TILE-6: loads that pass L1 take their share of it, asynchronous copies do not. */
START_TEST(loads_through_l1_take_room_from_frames)
{
    struct kernel_case kernel = empty_kernel(37 * 13, 1);
    struct kernel_time copied, loaded;
    kernel.loop.spill_bytes = 16;
    kernel.loop.stream = (struct tile_load){
        .rows = 1, .row_bytes = 1024, .alignment_bytes = 32, .exposures = 1, .distinct_fraction = 1, .pipelined = true};
    model.spill_traffic_factor = 1;
    model.l1_bytes = 13 * 1024 + 13312; /* all frames, and no more */
    kernel_time_predict(&model, &kernel, &copied);
    kernel.loop.stream.pipelined = false;
    kernel_time_predict(&model, &kernel, &loaded);
    assert_close_rel(copied.l2_bytes, 37.0 * 13 * 1024, TOL_NORM);
    assert_close_rel(loaded.l2_bytes, 37.0 * 13 * (1024 + 0.5 * 16 * 128), TOL_NORM);
}
END_TEST

/* TIME-6: what is written goes on to DRAM where the grid reads from there or nothing; else it stays in L2 as far as
 * that holds it. */
START_TEST(writes_leave_l2_where_the_grid_reads_from_dram)
{
    struct kernel_case kernel = empty_kernel(37, 1);
    struct kernel_time result;
    const double capacity = model.l2_capacity_bytes;
    kernel.loop.epilogue_bytes = 0.5 * capacity / 37;
    kernel_time_predict(&model, &kernel, &result);
    assert_close_rel(result.dram_bytes, 0.5 * capacity, TOL_NORM);
    kernel.loop.prologue_bytes = 1.5 * capacity / 37;
    kernel.loop.prologue_distinct_fraction = 0;
    kernel_time_predict(&model, &kernel, &result);
    ck_assert(result.dram_bytes == 0);
    kernel.loop.prologue_distinct_fraction = 1;
    kernel_time_predict(&model, &kernel, &result);
    assert_close_rel(result.dram_bytes, (1.5 + 0.5) * capacity, TOL_NORM);
    assert_close_rel(result.dram_floor_s, 1.5 * capacity / model.peak_dram_bytes_per_s, TOL_NORM);
}
END_TEST

/* 37 SMs, 4 iterations of loads from DRAM; launch, L2 and DRAM left out. */
static struct kernel_case loads_alone(void)
{
    struct kernel_case kernel = empty_kernel(37, 4);
    kernel.loop.stream = (struct tile_load){
        .rows = 64, .row_bytes = 1024, .alignment_bytes = 32, .exposures = 1, .distinct_fraction = 1};
    model.launch_s = 0;
    model.l2_bytes_per_s = model.dram_bytes_per_s = 1e30;
    return kernel;
}

/* Equal CTAs in two groups take as long as without groups. */
static void assert_groups_change_nothing(struct kernel_case kernel)
{
    struct kernel_time equal, grouped;
    kernel_time_predict(&model, &kernel, &equal);
    kernel.loop.ragged_count = 2;
    kernel.loop.ragged[0] = (struct ragged_group){.ctas = 20, .iterations = 4};
    kernel.loop.ragged[1] = (struct ragged_group){.ctas = kernel.launch.grid_ctas - 20, .iterations = 4};
    kernel_time_predict(&model, &kernel, &grouped);
    assert_close_rel(grouped.time_s, equal.time_s, TOL_NORM);
}

/* TIME-5: after rounds that the SMs bound a tail has an SM for each of its CTAs. */
START_TEST(a_tail_spreads_where_the_sms_bound_the_rounds)
{
    struct kernel_case kernel = loads_alone();
    struct kernel_time round, tail, both;
    kernel_time_predict(&model, &kernel, &tail);
    kernel.launch.grid_ctas = (uint64_t)37 * tail.ctas_per_sm;
    kernel_time_predict(&model, &kernel, &round);
    kernel.launch.grid_ctas += 37;
    kernel_time_predict(&model, &kernel, &both);
    assert_close_rel(both.time_s, round.time_s + tail.time_s, TOL_NORM);
    assert_groups_change_nothing(kernel);
}
END_TEST

/* TIME-5: after rounds that DRAM bounds it packs onto SMs that ended early, as many CTAs on each as fit, or as there
 * are. TIME-6: it does not run at the bandwidth of the round before. */
START_TEST(a_tail_packs_where_dram_bounds_the_rounds)
{
    struct kernel_case kernel = loads_alone();
    struct kernel_time round, both;
    const double p = model.device_exponent;
    kernel_time_predict(&model, &kernel, &round);
    const uint32_t residents = round.ctas_per_sm, packed = residents < 5 ? residents : 5;
    ck_assert_uint_gt(residents, 2);
    kernel.launch.grid_ctas = (uint64_t)37 * packed;
    kernel_time_predict(&model, &kernel, &round);
    const double packed_s = round.time_s, dram_s = 1e6 * packed_s; /* of the round: it alone bounds it */
    kernel.launch.grid_ctas = (uint64_t)37 * residents;
    kernel_time_predict(&model, &kernel, &round);
    model.dram_bytes_per_s = round.dram_bytes / dram_s;
    kernel_time_predict(&model, &kernel, &round);
    kernel.launch.grid_ctas += 37;
    kernel_time_predict(&model, &kernel, &both);
    const double tail_s = pow(pow(packed_s, p) + pow(dram_s / residents, p), 1 / p);
    assert_close_rel(both.time_s, round.time_s + tail_s, 1e-9);
    assert_groups_change_nothing(kernel);
    kernel.launch.grid_ctas -= 35; /* two CTAs, on one SM */
    const double dram_bytes_per_s = model.dram_bytes_per_s;
    model.dram_bytes_per_s = 1e30;
    struct kernel_case pair = kernel;
    pair.launch.grid_ctas = 37 * 2;
    kernel_time_predict(&model, &pair, &both);
    const double pair_s = both.time_s;
    model.dram_bytes_per_s = dram_bytes_per_s;
    kernel_time_predict(&model, &kernel, &both);
    const double two_s = pow(pow(pair_s, p) + pow(dram_s * 2 / (37.0 * residents), p), 1 / p);
    assert_close_rel(both.time_s, round.time_s + two_s, 1e-9);
}
END_TEST

/* TIME-5: a CTA of the tail that does nothing holds no SM's time; and more work on the SMs, which makes a tail spread,
 * never makes the whole faster. */
START_TEST(packing_follows_work)
{
    struct kernel_case kernel = loads_alone();
    struct kernel_time result, lone;
    double before_s = 0;
    kernel.launch.registers_per_thread = 16;
    kernel.launch.static_smem_bytes = 0;
    kernel_time_predict(&model, &kernel, &result);
    kernel.launch.grid_ctas = (uint64_t)37 * result.ctas_per_sm + 7;
    model.dram_bytes_per_s = result.dram_bytes * result.ctas_per_sm / (3 * result.time_s);
    for (double operations = 0; operations < 2e6; operations += 2e4) {
        kernel.loop.fp32_ops = operations;
        kernel_time_predict(&model, &kernel, &result);
        ck_assert_msg(result.time_s >= before_s, "%g operations: %g after %g s", operations, result.time_s, before_s);
        before_s = result.time_s;
    }
    kernel.loop.fp32_ops = 0;
    kernel.launch.grid_ctas -= 6; /* one CTA of a tail */
    kernel_time_predict(&model, &kernel, &lone);
    kernel.loop.ragged_count = 2;
    kernel.loop.ragged[0] = (struct ragged_group){.ctas = kernel.launch.grid_ctas, .iterations = 4};
    kernel.loop.ragged[1] = (struct ragged_group){.ctas = 6, .iterations = 0};
    kernel.launch.grid_ctas += 6;
    kernel.loop.iterations = 4.0 * (double)(kernel.launch.grid_ctas - 6) / (double)kernel.launch.grid_ctas;
    kernel_time_predict(&model, &kernel, &result);
    assert_close_rel(result.time_s, lone.time_s, 1e-3);
}
END_TEST

/* TILE-2: what hits L2 passes an SM's port at a rate of its own; without a figure for it at that of DRAM's reads. */
START_TEST(hits_pass_the_port_at_their_own_rate)
{
    assert_close_rel(model.sm_l2_bytes_per_s, model.sm_bytes_per_s, TOL_NORM);
    model.sm_l2_bytes_per_s = 3 * model.sm_bytes_per_s;
    assert_close_rel(port_time_s(&model, 1200, 0.25) * model.sm_bytes_per_s, 300 + 900 / 3.0, TOL_NORM);
    struct kernel_case kernel = loads_alone();
    struct kernel_time hits, misses;
    kernel.launch.grid_ctas = 37 * 4;
    kernel_time_predict(&model, &kernel, &misses);
    kernel.loop.stream.distinct_fraction = 0;
    kernel_time_predict(&model, &kernel, &hits);
    const double port = 4 * 4 * 64 * 1024 / model.sm_bytes_per_s; /* four CTAs of four tiles on an SM */
    ck_assert(misses.time_s > port && hits.time_s < port);
}
END_TEST

/* TIME-2: a CTA of less than one iteration waits for that part of a tile. */
START_TEST(part_of_an_iteration_waits_for_part_of_a_tile)
{
    struct kernel_case kernel = empty_kernel(1, 1);
    kernel.loop.stream = (struct tile_load){
        .rows = 1, .row_bytes = 32, .alignment_bytes = 32, .exposures = 1, .distinct_fraction = 1, .pipelined = true};
    kernel.loop.buffers = 2;
    const double start_s = 2.385e-6 + 0.433e-6, whole_s = predicted_s(&kernel) - start_s;
    kernel.loop.iterations = 0.25;
    ck_assert_msg(fabs((predicted_s(&kernel) - start_s) / whole_s - 0.25) < 0.02, "%g of %g s",
                  predicted_s(&kernel) - start_s, whole_s);
}
END_TEST

/* PARAM-1: tf32 at half the bf16 rate; fp16 at the bf16 rate, or at its own peak where there is no bf16. */
START_TEST(tensor_rates_of_other_formats)
{
    struct model_parameters parameters;
    struct error error;
    model_parameters_init(&parameters);
    const double bf16 = model.warpgroup_flop_per_s_per_sm[NUMBER_FORMAT_BF16];
    assert_close_rel(bf16, 1039 * 1.913e9, TOL_ROUNDING);
    assert_close_rel(model.warpgroup_flop_per_s_per_sm[NUMBER_FORMAT_TF32], bf16 / 2, TOL_ROUNDING);
    assert_close_rel(model.warpgroup_flop_per_s_per_sm[NUMBER_FORMAT_FP16], bf16, TOL_ROUNDING);
    fixture_device_set(&device, GPU_FIGURE_BF16_RATE, (double)NAN);
    fixture_device_set(&device, GPU_FIGURE_FP16_PEAK, 37e12);
    ck_assert_int_eq(time_model_init(&model, &device, &parameters, &error), STATUS_OK);
    assert_close_rel(model.warpgroup_flop_per_s_per_sm[NUMBER_FORMAT_FP16], 1e12, TOL_ROUNDING);
    ck_assert(!(model.warpgroup_flop_per_s_per_sm[NUMBER_FORMAT_TF32] > 0));
}
END_TEST

/* TIME-8: the interval's ends lie the quantile of its level away, 1.96 standard deviations at 95 %. */
START_TEST(level_sets_the_width)
{
    struct model_parameters parameters;
    struct error error;
    const struct kernel_case kernel = empty_kernel(1, 1000);
    struct kernel_time result;
    model_parameters_init(&parameters);
    parameters.interval_level = 0.95;
    ck_assert_int_eq(time_model_init(&model, &device, &parameters, &error), STATUS_OK);
    kernel_time_predict(&model, &kernel, &result);
    assert_close_rel(log(result.time_hi_s / result.time_s), 1.959963984540054 * result.log_sigma, 1e-12);
    assert_close_rel(log(result.time_s / result.time_lo_s), 1.959963984540054 * result.log_sigma, 1e-12);
}
END_TEST

START_TEST(more_buffers_hide_more_latency)
{
    double previous_s = INFINITY;
    for (int buffers = 1; buffers <= 6; buffers++) {
        struct kernel_case kernel = empty_kernel(1, 50);
        kernel.loop.gather = (struct tile_load){.rows = 16,
                                                .row_bytes = 584,
                                                .alignment_bytes = 8,
                                                .index_dependent = true,
                                                .pipelined = true,
                                                .exposures = 1,
                                                .distinct_fraction = 1};
        kernel.loop.buffers = buffers;
        const double time_s = predicted_s(&kernel);
        ck_assert_msg(time_s < previous_s, "%d buffers: %g s, one less %g s", buffers, time_s, previous_s);
        previous_s = time_s;
    }
}
END_TEST

START_TEST(equal_ragged_groups_equal_the_uniform_grid)
{
    struct kernel_case uniform = empty_kernel(2 * 37 * 13, 9);
    struct kernel_case ragged = uniform;
    ragged.loop.ragged_count = 2;
    ragged.loop.ragged[0] = (struct ragged_group){.ctas = 500, .iterations = 9};
    ragged.loop.ragged[1] = (struct ragged_group){.ctas = 2 * 37 * 13 - 500, .iterations = 9};
    assert_close_rel(predicted_s(&ragged), predicted_s(&uniform), TOL_NORM);
}
END_TEST

START_TEST(one_long_cta_sets_the_time)
{
    struct kernel_case kernel = empty_kernel(40, 1);
    kernel.loop.ragged_count = 2;
    kernel.loop.ragged[0] = (struct ragged_group){.ctas = 39, .iterations = 1};
    kernel.loop.ragged[1] = (struct ragged_group){.ctas = 1, .iterations = 100};
    assert_close_rel(predicted_s(&kernel), 2.385e-6 + 0.433e-6 + 100 * 120 / 1.913e9, TOL_NORM);
}
END_TEST

START_TEST(impossible_launch_has_no_time)
{
    struct kernel_case kernel = empty_kernel(10, 1);
    kernel.launch.dynamic_smem_bytes = 117 * 1024 + 1;
    struct kernel_time result;
    kernel_time_predict(&model, &kernel, &result);
    ck_assert(!result.feasible);
    ck_assert(isnan(result.time_s) && isnan(result.time_lo_s) && isnan(result.time_hi_s));
}
END_TEST

START_TEST(skipped_kernel_costs_nothing)
{
    struct layer_case layer = {.kernel_count = 2, .kernels = {empty_kernel(10, 3), empty_kernel(10, 3)}};
    struct layer_time both, one;
    layer_time_predict(&model, &layer, &both);
    layer.kernels[1].skipped = true;
    layer_time_predict(&model, &layer, &one);
    assert_close_rel(both.time_s, 2 * one.time_s + 1.171e-6, TOL_NORM); /* one graph gap */
    assert_close_rel(one.time_s, one.kernels[0].time_s, TOL_ROUNDING);
}
END_TEST

START_TEST(unknown_tensor_rate_is_said)
{
    struct kernel_case kernel = empty_kernel(1, 1);
    struct model_parameters parameters;
    struct error error;
    kernel.loop.mma_count = 1;
    kernel.loop.mma[0] = (struct mma_op){.m = 16, .n = 8, .k = 64, .count = 1, .format = NUMBER_FORMAT_FP4};
    ck_assert_int_eq(time_model_supports(&model, &kernel, &error), STATUS_OK);
    fixture_device_set(&device, GPU_FIGURE_FP4_RATE, (double)NAN);
    model_parameters_init(&parameters);
    ck_assert_int_eq(time_model_init(&model, &device, &parameters, &error), STATUS_OK);
    ck_assert_int_eq(time_model_supports(&model, &kernel, &error), STATUS_MISSING);
    ck_assert_ptr_nonnull(strstr(error.text, "fp4"));
}
END_TEST

START_TEST(unphysical_parameter_is_refused)
{
    struct model_parameters parameters;
    struct error error;
    model_parameters_init(&parameters);
    parameters.items[PARAMETER_DRAM_BANDWIDTH_FACTOR].value = 3;
    ck_assert_int_eq(time_model_init(&model, &device, &parameters, &error), STATUS_DOMAIN);
    ck_assert_ptr_nonnull(strstr(error.text, "dram_bandwidth_factor"));
    model_parameters_init(&parameters);
    parameters.items[PARAMETER_BARRIER_FACTOR].value = (double)NAN;
    ck_assert_int_eq(time_model_init(&model, &device, &parameters, &error), STATUS_DOMAIN);
}
END_TEST

START_TEST(fast_powers_equal_the_general_ones)
{
    struct kernel_case kernel = empty_kernel(1000, 11);
    kernel.loop.stream = (struct tile_load){
        .rows = 4, .row_bytes = 2048, .alignment_bytes = 64, .pipelined = true, .exposures = 1, .distinct_fraction = 1};
    kernel.loop.buffers = 3;
    kernel.loop.fp32_ops = 9999;
    for (int exponent = 1; exponent <= 4; exponent++) {
        struct kernel_time exact, near;
        model.overlap_exponent = model.pipeline_exponent = exponent;
        kernel_time_predict(&model, &kernel, &exact);
        model.overlap_exponent = model.pipeline_exponent = exponent + 1e-9; /* takes pow() */
        kernel_time_predict(&model, &kernel, &near);
        assert_close_rel(exact.time_s, near.time_s, 1e-8);
    }
}
END_TEST

START_TEST(validation_names_what_is_wrong)
{
    struct error error;
    struct kernel_case kernel = empty_kernel(0, 1);
    ck_assert_int_eq(kernel_case_validate(&kernel, &error), STATUS_DOMAIN);
    ck_assert_ptr_nonnull(strstr(error.text, "grid"));
    kernel = empty_kernel(5, (double)NAN);
    ck_assert_int_eq(kernel_case_validate(&kernel, &error), STATUS_DOMAIN);
    ck_assert_ptr_nonnull(strstr(error.text, "iterations"));
    kernel = empty_kernel(5, 1);
    kernel.loop.ragged_count = 1;
    kernel.loop.ragged[0] = (struct ragged_group){.ctas = 4, .iterations = 1};
    ck_assert_int_eq(kernel_case_validate(&kernel, &error), STATUS_DOMAIN);
    ck_assert_ptr_nonnull(strstr(error.text, "ragged"));
    kernel = empty_kernel(5, 1);
    kernel.loop.gather = (struct tile_load){.rows = 2, .row_bytes = -1, .alignment_bytes = 8, .exposures = 1};
    ck_assert_int_eq(kernel_case_validate(&kernel, &error), STATUS_DOMAIN);
    ck_assert_ptr_nonnull(strstr(error.text, "gather row_bytes"));
}
END_TEST

Suite *suite_kernel_time(void)
{
    Suite *suite = suite_create("kernel_time");
    TCase *tests = tcase_create("time");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, one_cta_takes_its_critical_path);
    tcase_add_test(tests, uniform_ctas_without_contention_follow_the_rounds);
    tcase_add_test(tests, exposed_load_adds_latency_and_transfer);
    tcase_add_test(tests, partial_writes_take_their_own_time);
    tcase_add_test(tests, tile_arrives_with_its_last_sector);
    tcase_add_test(tests, waits_of_compiled_code_lengthen_the_chain);
    tcase_add_test(tests, loads_go_out_after_the_overhead);
    tcase_add_test(tests, rows_touch_whole_sectors);
    tcase_add_test(tests, chained_products_match_compiled_code);
    tcase_add_test(tests, small_tile_is_replicated);
    tcase_add_test(tests, tensor_chain_is_latency_or_issue_bound);
    tcase_add_test(tests, given_warps_leave_the_others_idle);
    tcase_add_test(tests, warpgroup_rows_are_rounded_up);
    tcase_add_test(tests, frames_beyond_the_array_go_to_l2);
    tcase_add_test(tests, loads_through_l1_take_room_from_frames);
    tcase_add_test(tests, writes_leave_l2_where_the_grid_reads_from_dram);
    tcase_add_test(tests, a_tail_spreads_where_the_sms_bound_the_rounds);
    tcase_add_test(tests, packing_follows_work);
    tcase_add_test(tests, hits_pass_the_port_at_their_own_rate);
    tcase_add_test(tests, a_tail_packs_where_dram_bounds_the_rounds);
    tcase_add_test(tests, part_of_an_iteration_waits_for_part_of_a_tile);
    tcase_add_test(tests, tensor_rates_of_other_formats);
    tcase_add_test(tests, level_sets_the_width);
    tcase_add_test(tests, more_buffers_hide_more_latency);
    tcase_add_test(tests, equal_ragged_groups_equal_the_uniform_grid);
    tcase_add_test(tests, one_long_cta_sets_the_time);
    tcase_add_test(tests, impossible_launch_has_no_time);
    tcase_add_test(tests, skipped_kernel_costs_nothing);
    tcase_add_test(tests, unknown_tensor_rate_is_said);
    tcase_add_test(tests, unphysical_parameter_is_refused);
    tcase_add_test(tests, fast_powers_equal_the_general_ones);
    tcase_add_test(tests, validation_names_what_is_wrong);
    suite_add_tcase(suite, tests);
    return suite;
}
