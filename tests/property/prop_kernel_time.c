/* SPDX-License-Identifier: GPL-3.0-or-later
 * Properties of the kernel-time formulas over random kernels on random devices: monotone in every resource, above
 * every bound, free of units, the same for the same input. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "model/predict/kernel_time.h"
#include "model/predict/tile_cost.h"
#include "tests/support/assert_close.h"
#include "tests/support/fixture_device.h"
#include "tests/support/property.h"

enum {
    CASES = 3000
};
/* Sums and fourth roots of some thirty terms: a monotone formula may step back by this much in floating point. */
#define TOL_MONOTONE 1e-12
#define TOL_SHARES   1e-9

struct random_case {
    struct gpu_device device;
    struct model_parameters parameters;
    struct kernel_case kernel;
};

static double log_uniform(struct random_stream *stream, double low, double high)
{
    return low * pow(high / low, random_uniform(stream));
}

static bool coin(struct random_stream *stream)
{
    return random_below(stream, 2) == 1;
}

/* Every figure of the test device within a factor of three either way; fractions stay fractions. */
static void random_device(struct random_stream *stream, struct gpu_device *device)
{
    fixture_device_init(device);
    for (int id = 0; id < GPU_FIGURE_COUNT; id++) {
        const double value = gpu_device_value(device, (enum gpu_figure_id)id);
        if (isnan(value)) {
            continue;
        }
        const bool is_fraction = id == GPU_FIGURE_DRAM_EFFICIENCY || id == GPU_FIGURE_MMA_SYNC_FRACTION;
        fixture_device_set(device, (enum gpu_figure_id)id,
                           is_fraction ? 0.3 + 0.7 * random_uniform(stream) : value * log_uniform(stream, 0.33, 3));
    }
    fixture_device_set(device, GPU_FIGURE_SM_COUNT, 1 + random_below(stream, 200));
}

static struct tile_load random_load(struct random_stream *stream)
{
    struct tile_load load = {.rows = random_below(stream, 3) ? 1 + random_below(stream, 128) : 0,
                             .row_bytes = 1 + random_below(stream, 4096),
                             .alignment_bytes = (double)(1u << random_below(stream, 8)),
                             .index_dependent = coin(stream),
                             .pipelined = coin(stream),
                             .exposures = 1 + random_below(stream, 3),
                             .distinct_fraction = random_uniform(stream),
                             .in_flight_bytes = coin(stream) ? log_uniform(stream, 64, 1e5) : 0};
    return load;
}

static struct mma_op random_mma(struct random_stream *stream)
{
    struct mma_op op = {.m = 1 + random_below(stream, 128),
                        .n = 1 + random_below(stream, 256),
                        .k = 1 + random_below(stream, 600),
                        .count = 1 + random_below(stream, 2),
                        .format = (enum number_format)random_below(stream, NUMBER_FORMAT_COUNT),
                        .layout = (enum mma_layout)random_below(stream, MMA_LAYOUT_SPLIT_N + 1),
                        .warpgroup = random_below(stream, 4) == 0};
    return op;
}

static void random_ragged(struct random_stream *stream, struct kernel_case *kernel)
{
    struct tile_loop *loop = &kernel->loop;
    double total = 0;
    kernel->launch.grid_ctas = 0;
    loop->ragged_count = 1 + random_below(stream, 5);
    for (uint32_t i = 0; i < loop->ragged_count; i++) {
        loop->ragged[i] = (struct ragged_group){1 + random_below(stream, 300), random_below(stream, 60)};
        kernel->launch.grid_ctas += loop->ragged[i].ctas;
        total += (double)loop->ragged[i].ctas * loop->ragged[i].iterations;
    }
    loop->iterations = total / (double)kernel->launch.grid_ctas;
}

static void random_kernel(struct random_stream *stream, struct kernel_case *kernel)
{
    memset(kernel, 0, sizeof *kernel);
    kernel->name = "random";
    kernel->launch = (struct kernel_launch){.grid_ctas = (uint64_t)log_uniform(stream, 1, 20000),
                                            .threads = 1 + random_below(stream, 512),
                                            .registers_per_thread = 16 + random_below(stream, 112),
                                            .dynamic_smem_bytes = random_below(stream, 117 * 1024),
                                            .barriers = 1,
                                            .cluster_ctas = 1,
                                            .carveout_percent = CARVEOUT_DEFAULT};
    struct tile_loop *loop = &kernel->loop;
    loop->iterations = random_below(stream, 100) + (coin(stream) ? random_uniform(stream) : 0);
    loop->buffers = 1 + random_below(stream, 4);
    loop->declared_stages = loop->buffers;
    loop->gather = random_load(stream);
    loop->stream = random_load(stream);
    loop->mma_count = random_below(stream, 3);
    for (uint32_t i = 0; i < loop->mma_count; i++) {
        loop->mma[i] = random_mma(stream);
    }
    loop->fp32_ops = coin(stream) ? log_uniform(stream, 1, 1e5) : 0;
    loop->special_ops = coin(stream) ? log_uniform(stream, 1, 1e4) : 0;
    loop->convert_ops = coin(stream) ? log_uniform(stream, 1, 1e5) : 0;
    loop->shuffle_ops = coin(stream) ? log_uniform(stream, 1, 1e4) : 0;
    loop->replicated_ops = coin(stream) ? log_uniform(stream, 1, 1e4) : 0;
    loop->operand_ops = random_uniform(stream);
    loop->smem_bytes = coin(stream) ? log_uniform(stream, 1, 1e5) : 0;
    loop->smem_operands = random_below(stream, 3);
    loop->barriers = random_below(stream, 4);
    loop->spill_bytes = random_below(stream, 3) ? (coin(stream) ? random_below(stream, 400) : 0) : (double)NAN;
    loop->prologue_bytes = coin(stream) ? log_uniform(stream, 1, 1e5) : 0;
    loop->prologue_distinct_fraction = random_uniform(stream);
    loop->epilogue_bytes = coin(stream) ? log_uniform(stream, 1, 1e6) : 0;
    loop->serial_steps = random_below(stream, 3);
    if (random_below(stream, 5) == 0) {
        random_ragged(stream, kernel);
    }
}

static void random_parameters(struct random_stream *stream, struct model_parameters *parameters)
{
    model_parameters_init(parameters);
    if (coin(stream)) { /* else powers of two, which take another path */
        parameters->items[PARAMETER_OVERLAP_EXPONENT].value = 1 + 15 * random_uniform(stream);
        parameters->items[PARAMETER_PIPELINE_EXPONENT].value = 1 + 15 * random_uniform(stream);
    }
}

static void random_case(struct random_stream *stream, struct random_case *made)
{
    struct error error = {0};
    random_device(stream, &made->device);
    random_parameters(stream, &made->parameters);
    random_kernel(stream, &made->kernel);
    ck_assert_msg(kernel_case_validate(&made->kernel, &error) == STATUS_OK, "%s", error.text);
}

static struct kernel_time predict(const struct random_case *random)
{
    struct time_model model;
    struct kernel_time result;
    struct error error = {0};
    ck_assert_msg(time_model_init(&model, &random->device, &random->parameters, &error) == STATUS_OK, "%s", error.text);
    kernel_time_predict(&model, &random->kernel, &result);
    return result;
}

static void scale_figure(struct random_case *random, enum gpu_figure_id id, double factor)
{
    fixture_device_set(&random->device, id, gpu_device_value(&random->device, id) * factor);
}

/* With twice the SMs nothing is said of a tail after full rounds, which may pack onto few of them where DRAM, full
 * sooner, now bounds the rounds (MODEL.md TIME-5), nor of unequal CTAs. */
static bool may_be_slower(const struct random_case *random, const struct kernel_time *after)
{
    return random->kernel.loop.ragged_count > 1 || (after->waves.full_rounds && after->waves.tail_ctas);
}

static void assert_never_slower(struct random_stream *stream, enum gpu_figure_id id, bool whole)
{
    unsigned feasible = 0;
    for (unsigned i = 0; i < property_cases(CASES); i++) {
        static struct random_case random;
        random_case(stream, &random);
        const struct kernel_time before = predict(&random);
        const double figure = gpu_device_value(&random.device, id);
        const double more = figure * (whole ? 2 : log_uniform(stream, 1, 10));
        fixture_device_set(&random.device, id, more);
        const struct kernel_time after = predict(&random);
        ck_assert_int_eq(before.feasible, after.feasible);
        if (!before.feasible || (whole && may_be_slower(&random, &after))) {
            continue;
        }
        feasible++;
        assert_property(after.time_s <= before.time_s * (1 + TOL_MONOTONE), i, "%s %g -> %g: %.17g s -> %.17g s",
                        gpu_figure_column(id), figure, more, before.time_s, after.time_s);
    }
    ck_assert_uint_gt(feasible, property_cases(CASES) / (whole ? 4 : 2)); /* the property was really asked */
}

static const struct {
    enum gpu_figure_id id;
    bool whole;
} RESOURCES[] = {
    {GPU_FIGURE_DRAM_BANDWIDTH, false}, {GPU_FIGURE_L2_BANDWIDTH, false}, {GPU_FIGURE_SM_BANDWIDTH, false},
    {GPU_FIGURE_SMEM_BANDWIDTH, false}, {GPU_FIGURE_SM_COUNT, true},      {GPU_FIGURE_BOOST_CLOCK, false},
};
enum {
    RESOURCE_COUNT = sizeof RESOURCES / sizeof RESOURCES[0]
};

START_TEST(more_of_a_resource_is_never_slower)
{
    struct random_stream stream;
    random_init(&stream, property_seed(), (uint64_t)_i);
    assert_never_slower(&stream, RESOURCES[_i].id, RESOURCES[_i].whole);
}
END_TEST

START_TEST(more_ctas_are_never_faster)
{
    struct random_stream stream;
    random_init(&stream, property_seed(), 20);
    for (unsigned i = 0; i < property_cases(CASES); i++) {
        static struct random_case random;
        random_case(&stream, &random);
        if (random.kernel.loop.ragged_count) {
            continue;
        }
        const struct kernel_time before = predict(&random);
        random.kernel.launch.grid_ctas += 1 + random_below(&stream, 500);
        const struct kernel_time after = predict(&random);
        assert_property(!before.feasible || after.time_s >= before.time_s * (1 - TOL_MONOTONE), i,
                        "grown to %llu CTAs: %.17g s -> %.17g s", (unsigned long long)random.kernel.launch.grid_ctas,
                        before.time_s, after.time_s);
    }
}
END_TEST

START_TEST(time_is_above_its_bounds_and_inside_its_interval)
{
    struct random_stream stream;
    random_init(&stream, property_seed(), 21);
    for (unsigned i = 0; i < property_cases(CASES); i++) {
        static struct random_case random;
        random_case(&stream, &random);
        const struct kernel_time time = predict(&random);
        if (!time.feasible) {
            assert_property(isnan(time.time_s) && isnan(time.time_lo_s) && isnan(time.time_hi_s), i, "%g s",
                            time.time_s);
            continue;
        }
        assert_property(time.time_s >= time.dram_floor_s * (1 - TOL_MONOTONE), i, "%g s, DRAM floor %g s", time.time_s,
                        time.dram_floor_s);
        assert_property(time.time_s >= time.tensor_floor_s * (1 - TOL_MONOTONE), i, "%g s, tensor floor %g s",
                        time.time_s, time.tensor_floor_s);
        assert_property(time.time_lo_s <= time.time_s && time.time_s <= time.time_hi_s, i, "%g in [%g, %g] s",
                        time.time_s, time.time_lo_s, time.time_hi_s);
        assert_property(isfinite(time.time_hi_s) && time.time_lo_s > 0, i, "[%g, %g] s", time.time_lo_s,
                        time.time_hi_s);
        assert_property(time.structural_log_sigma >= 0 && time.structural_log_sigma <= time.log_sigma, i, "%g of %g",
                        time.structural_log_sigma, time.log_sigma);
    }
}
END_TEST

START_TEST(shares_sum_to_one)
{
    struct random_stream stream;
    random_init(&stream, property_seed(), 22);
    for (unsigned i = 0; i < property_cases(CASES); i++) {
        static struct random_case random;
        random_case(&stream, &random);
        const struct kernel_time time = predict(&random);
        double sum = 0, largest = 0;
        for (int k = 0; k < TIME_LIMITER_COUNT; k++) {
            assert_property(time.shares[k] >= 0, i, "share of %s is %g", time_limiter_name((enum time_limiter)k),
                            time.shares[k]);
            sum += time.shares[k];
            largest = fmax(largest, time.shares[k]);
        }
        if (time.feasible) {
            assert_property(fabs(sum - 1) <= TOL_SHARES, i, "the shares sum to %.17g", sum);
            assert_property(time.shares[time.limiter] == largest, i, "limiter %s", time_limiter_name(time.limiter));
        }
    }
}
END_TEST

/* A second of ten old ones: every time is a tenth of what it was, every rate ten times as large. */
START_TEST(the_unit_of_time_does_not_matter)
{
    static const enum gpu_figure_id RATES[] = {GPU_FIGURE_BASE_CLOCK, GPU_FIGURE_BOOST_CLOCK, GPU_FIGURE_DRAM_BANDWIDTH,
                                               GPU_FIGURE_L2_BANDWIDTH};
    static const enum gpu_figure_id TIMES[] = {GPU_FIGURE_DRAM_LATENCY, GPU_FIGURE_LAUNCH_LATENCY, GPU_FIGURE_GRAPH_GAP,
                                               GPU_FIGURE_STREAM_GAP, GPU_FIGURE_CTA_START};
    struct random_stream stream;
    random_init(&stream, property_seed(), 23);
    for (unsigned i = 0; i < property_cases(CASES); i++) {
        static struct random_case random;
        random_case(&stream, &random);
        const struct kernel_time before = predict(&random);
        for (size_t k = 0; k < sizeof RATES / sizeof RATES[0]; k++) {
            scale_figure(&random, RATES[k], 0.1);
        }
        for (size_t k = 0; k < sizeof TIMES / sizeof TIMES[0]; k++) {
            scale_figure(&random, TIMES[k], 10);
        }
        const struct kernel_time after = predict(&random);
        if (before.feasible) {
            assert_property(is_close_rel(after.time_s, 10 * before.time_s, 1e-11), i, "%.17g s became %.17g s",
                            before.time_s, after.time_s);
            assert_property(is_close_rel(after.log_sigma, before.log_sigma, 1e-9), i, "sigma %.17g became %.17g",
                            before.log_sigma, after.log_sigma);
        }
    }
}
END_TEST

/* All numbers of a result (its padding is nobody's). */
static size_t numbers_of(const struct kernel_time *time, double *numbers)
{
    size_t count = 0;
    const double plain[] = {time->feasible,
                            time->ctas_per_sm,
                            (double)time->limiter,
                            (double)time->waves.slots,
                            time->waves.waves,
                            (double)time->waves.rounds,
                            (double)time->waves.full_rounds,
                            (double)time->waves.tail_ctas,
                            time->waves.tail_ctas_per_sm,
                            time->waves.wave_efficiency_fraction,
                            time->waves.sm_fill_fraction,
                            time->time_s,
                            time->time_lo_s,
                            time->time_hi_s,
                            time->log_sigma,
                            time->structural_log_sigma,
                            time->iteration_s,
                            time->iteration_load_s,
                            time->iteration_compute_s,
                            time->dram_floor_s,
                            time->tensor_floor_s,
                            time->dram_bytes,
                            time->l2_bytes,
                            time->replication,
                            time->bytes_in_flight_per_sm};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        numbers[count++] = plain[i];
    }
    for (int k = 0; k < TIME_LIMITER_COUNT; k++) {
        numbers[count++] = time->shares[k];
    }
    return count;
}

/* Whatever the result held before, and whether the iteration was remembered or computed. */
START_TEST(same_input_same_numbers)
{
    struct random_stream stream;
    random_init(&stream, property_seed(), 24);
    for (unsigned i = 0; i < property_cases(CASES); i++) {
        static struct random_case random;
        static struct time_model model;
        static struct layer_case layer;
        static struct layer_memo memo;
        struct error error = {0};
        random_case(&stream, &random);
        ck_assert_msg(time_model_init(&model, &random.device, &random.parameters, &error) == STATUS_OK, "%s",
                      error.text);
        struct kernel_time first;
        struct layer_time again, other;
        memset(&first, 0xa5, sizeof first);
        memset(&again, 0x5a, sizeof again);
        memset(&memo, 0, sizeof memo);
        memset(&layer, 0, sizeof layer);
        layer.kernel_count = 2;
        layer.kernels[0] = layer.kernels[1] = random.kernel;
        layer.kernels[1].loop.fp32_ops += 1;
        kernel_time_predict(&model, &random.kernel, &first);
        layer_time_predict_next(&model, &layer, &memo, &other);
        layer.kernels[0].launch.grid_ctas += layer.kernels[0].loop.ragged_count ? 0 : 7; /* same iteration */
        layer_time_predict_next(&model, &layer, &memo, &other);
        layer.kernels[0] = random.kernel;
        layer_time_predict_next(&model, &layer, &memo, &again);
        double left[64], right[64];
        const size_t count = numbers_of(&first, left);
        ck_assert_uint_le(count, 64);
        numbers_of(&again.kernels[0], right);
        assert_property(memcmp(left, right, count * sizeof left[0]) == 0, i, "%.17g s, then %.17g s", left[11],
                        right[11]);
    }
}
END_TEST

/* Every model of the list, also where rows share their iteration with the one before. */
START_TEST(times_alone_are_those_of_the_whole_prediction)
{
    enum {
        MODELS = 1 + PARAMETER_COUNT
    };
    static struct time_model models[MODELS];
    static struct layer_memo memos[MODELS];
    static struct random_case random;
    static struct layer_case layer;
    struct random_stream stream;
    random_init(&stream, property_seed(), 25);
    for (unsigned i = 0; i < property_cases(CASES / 10); i++) {
        random_case(&stream, &random);
        for (int m = 0; m < MODELS; m++) {
            struct model_parameters moved = random.parameters;
            if (m > 0) {
                const double most = parameter_describe((enum parameter_id)(m - 1))->maximum;
                double *value = &moved.items[m - 1].value;
                *value = *value * 1.001 < most ? *value * 1.001 : *value / 1.001;
            }
            ck_assert_int_eq(time_model_init(&models[m], &random.device, &moved, NULL), STATUS_OK);
        }
        memset(memos, 0, sizeof memos);
        memset(&layer, 0, sizeof layer);
        layer.kernel_count = 2;
        layer.kernels[0] = layer.kernels[1] = random.kernel;
        for (int round = 0; round < 3; round++) {
            double times_s[MODELS];
            layer_times_predict(models, MODELS, &layer, memos, times_s);
            for (int m = 0; m < MODELS; m++) {
                struct layer_time whole;
                layer_time_predict(&models[m], &layer, &whole);
                const bool same = isnan(whole.time_s) ? isnan(times_s[m]) : whole.time_s == times_s[m];
                assert_property(same, i, "model %d: %.17g s alone, %.17g s", m, times_s[m], whole.time_s);
            }
            layer.kernels[0].launch.grid_ctas += layer.kernels[0].loop.ragged_count ? 0 : 7; /* same iteration */
            layer.kernels[1].loop.fp32_ops += round;
            layer.kernels[1].skipped = round == 1;
        }
    }
}
END_TEST

Suite *suite_prop_kernel_time(void);
Suite *suite_prop_kernel_time(void)
{
    Suite *suite = suite_create("prop_kernel_time");
    TCase *tests = tcase_create("properties");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, more_of_a_resource_is_never_slower, 0, RESOURCE_COUNT);
    tcase_add_test(tests, more_ctas_are_never_faster);
    tcase_add_test(tests, time_is_above_its_bounds_and_inside_its_interval);
    tcase_add_test(tests, shares_sum_to_one);
    tcase_add_test(tests, the_unit_of_time_does_not_matter);
    tcase_add_test(tests, same_input_same_numbers);
    tcase_add_test(tests, times_alone_are_those_of_the_whole_prediction);
    suite_add_tcase(suite, tests);
    return suite;
}
