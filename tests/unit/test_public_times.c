/* SPDX-License-Identifier: GPL-3.0-or-later
 * Published timings: is the direction right? What a case does not give is assumed; the assumptions are printed, and so
 * are the directions that the model gets wrong. No size is asserted. Sources by case: P42
 * Dao-AILab/flash-attention#2445; P43 vllm-project/vllm#57711; P44 vllm-project/vllm#53317; P48
 * deepseek-ai/DeepGEMM#44; M11 b12x revision 77be789; M15 vllm-project/vllm#54929; M16 flashinfer-ai/flashinfer#3655;
 * M20 stage-1 warps of the same sparse decode. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "evidence/scenario/scenario.h"
#include "model/predict/kernel_time.h"
#include "model/predict/step_time.h"
#include "tests/support/assert_close.h"

static struct device_catalogue *catalogue;
static struct layer_case layer;
static struct time_model model;

static void setup(void)
{
    struct error error = {0};
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s", error.text);
}

static void teardown(void)
{
    device_catalogue_free(catalogue);
}

static void use_device(const char *name)
{
    const struct gpu_device *device = NULL;
    struct model_parameters parameters;
    struct error error = {0};
    model_parameters_init(&parameters);
    ck_assert_msg(device_catalogue_find(catalogue, name, &device, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(time_model_init(&model, device, &parameters, &error) == STATUS_OK, "%s", error.text);
}

static double layer_time_s(void)
{
    struct layer_time time;
    struct error error = {0};
    for (uint32_t i = 0; i < layer.kernel_count; i++) {
        if (layer.kernels[i].skipped) {
            continue;
        }
        ck_assert_msg(kernel_case_validate(&layer.kernels[i], &error) == STATUS_OK, "%s", error.text);
        ck_assert_msg(time_model_supports(&model, &layer.kernels[i], &error) == STATUS_OK, "%s", error.text);
    }
    layer_time_predict(&model, &layer, &time);
    ck_assert_msg(time.feasible, "kernel %u cannot be launched", time.infeasible_kernel);
    return time.time_s;
}

static struct kernel_case *new_kernel(const char *name, uint64_t grid_ctas, uint32_t threads, uint64_t smem_bytes)
{
    struct kernel_case *kernel = &layer.kernels[layer.kernel_count++];
    memset(kernel, 0, sizeof *kernel);
    kernel->name = name;
    kernel->launch = (struct kernel_launch){.grid_ctas = grid_ctas,
                                            .threads = threads,
                                            .registers_per_thread = 128,
                                            .dynamic_smem_bytes = smem_bytes,
                                            .barriers = 1,
                                            .cluster_ctas = 1,
                                            .carveout_percent = CARVEOUT_DEFAULT};
    kernel->loop.buffers = 1;
    return kernel;
}

/* Partial results of `rows` query heads and `splits`: one CTA per head reads them four at a time from L2. */
static void add_combine(double rows, double splits, double head_dim)
{
    if (splits <= 1) {
        return;
    }
    struct kernel_case *combine = new_kernel("combine", (uint64_t)rows, 128, 0);
    combine->loop.iterations = ceil(splits / 4);
    combine->loop.stream = (struct tile_load){
        .rows = fmin(splits, 4), .row_bytes = (head_dim + 2) * 4, .alignment_bytes = 8, .exposures = 1};
    combine->loop.fp32_ops = 2 * head_dim * fmin(splits, 4);
}

/* Attention decode of one KV head on Hopper or later: K and V tiles of 128 rows, one CTA per SM. */
static double split_decode_s(double kv_tokens, double splits, double heads, double head_dim, double buffers)
{
    layer.kernel_count = 0;
    struct kernel_case *split = new_kernel("split", (uint64_t)splits, 256, 160 * 1024);
    const double chunk = ceil(kv_tokens / splits), rows = fmin(128, chunk);
    split->loop.iterations = ceil(chunk / rows);
    split->loop.declared_stages = split->loop.buffers = buffers;
    split->loop.stream = (struct tile_load){.rows = 2 * rows,
                                            .row_bytes = 2 * head_dim,
                                            .alignment_bytes = 16,
                                            .pipelined = true,
                                            .exposures = 2,
                                            .distinct_fraction = 1};
    split->loop.mma_count = 2;
    split->loop.mma[0] =
        (struct mma_op){.m = 64, .n = (uint32_t)rows, .k = (uint32_t)head_dim, .count = 1, .warpgroup = true};
    split->loop.mma[1] =
        (struct mma_op){.m = 64, .n = (uint32_t)head_dim, .k = (uint32_t)rows, .count = 1, .warpgroup = true};
    split->loop.fp32_ops = 6 * 64 * rows;
    split->loop.special_ops = 64 * rows;
    split->loop.barriers = 2;
    split->loop.epilogue_bytes = heads * (head_dim + 2) * 4;
    add_combine(heads, splits, head_dim);
    return layer_time_s();
}

START_TEST(p42_one_split_starves_short_decode)
{
    use_device("h100-sxm5-80gb");
    const double one_s = split_decode_s(512, 1, 8, 128, 2), four_s = split_decode_s(512, 4, 8, 128, 2);
    printf("P42 timed: H100, 512 KV tokens, 1 -> 4 splits: %.2f -> %.2f us (published: more splits are faster)\n"
           "    assumed: head dim 128, 8 query heads, tiles of 128 rows, a combine kernel of its own in a CUDA graph\n",
           one_s / SECONDS_PER_US, four_s / SECONDS_PER_US);
    ck_assert_double_lt(four_s, one_s);
}
END_TEST

START_TEST(p43_less_than_a_wave_is_flat)
{
    static const uint64_t GRIDS[] = {1, 6, 96};
    double times_s[3];
    use_device("b200-sxm");
    for (int i = 0; i < 3; i++) {
        layer.kernel_count = 0;
        struct kernel_case *kernel = new_kernel("mla", GRIDS[i], 256, 200 * 1024);
        kernel->loop.iterations = 16;
        kernel->loop.buffers = 2;
        kernel->loop.gather = (struct tile_load){.rows = 64,
                                                 .row_bytes = 656,
                                                 .alignment_bytes = 16,
                                                 .index_dependent = true,
                                                 .pipelined = true,
                                                 .exposures = 1,
                                                 .distinct_fraction = 0.1};
        kernel->loop.mma_count = 1;
        kernel->loop.mma[0] = (struct mma_op){.m = 128, .n = 64, .k = 576, .count = 2, .warpgroup = true};
        times_s[i] = layer_time_s();
    }
    printf("P43 timed: B200, grids of 1 / 6 / 96 on 148 SMs: %.2f / %.2f / %.2f us (published: 26.6 at each)\n"
           "    assumed: one CTA per query token, 1,024 gathered rows of 656 B, nine tenths of them in L2\n",
           times_s[0] / SECONDS_PER_US, times_s[1] / SECONDS_PER_US, times_s[2] / SECONDS_PER_US);
    ck_assert_double_lt(times_s[1] / times_s[0], 1.1);
    ck_assert_double_lt(times_s[2] / times_s[0], 1.1); /* a linear answer would be 96 */
}
END_TEST

/* Times of 64, 128 and 256 splits. */
static void p44_times(double kv_tokens, double buffers, double *times_s)
{
    static const double SPLITS[] = {64, 128, 256};
    for (int i = 0; i < 3; i++) {
        times_s[i] = split_decode_s(kv_tokens, SPLITS[i], 4, 128, buffers);
    }
    printf("P44 timed: H200, %.0fK tokens, %s K and V tiles, 64 / 128 / 256 splits: %.2f / %.2f / %.2f us\n",
           kv_tokens / 1024, buffers > 1 ? "buffered" : "unbuffered", times_s[0] / SECONDS_PER_US,
           times_s[1] / SECONDS_PER_US, times_s[2] / SECONDS_PER_US);
}

START_TEST(p44_more_splits_than_sms_are_worse)
{
    double buffered_s[3], unbuffered_s[3], short_s[3];
    use_device("nvidia-h200");
    p44_times(65536, 2, buffered_s);
    p44_times(65536, 1, unbuffered_s);
    p44_times(8192, 2, short_s);
    printf(
        "    published: 64K 117 / 101 / 115, 8K 87 / 86 / 94, of which some 80 us are no kernel: 128 splits are best\n"
        "    assumed: tiles of 128 rows, 160 KiB SMEM, one combine CTA per query head that reads four partial results"
        " at a time\n    right: 256 splits on 132 SMs are worse than 128. %s\n",
        buffered_s[1] < buffered_s[0] ? "Right: 64 are worse, too"
                                      : "WRONG: 64 splits should be worse than 128; with unbuffered tiles they are");
    ck_assert_double_lt(buffered_s[1], buffered_s[2]);
    ck_assert_double_lt(unbuffered_s[1], unbuffered_s[2]);
    ck_assert_double_lt(unbuffered_s[1], unbuffered_s[0]);
    ck_assert_double_lt(short_s[1], short_s[2]);
}
END_TEST

/* Persistent GEMM: tiles of 64 x 128 dealt to the CTAs in turn. */
static double persistent_gemm_s(uint64_t ctas)
{
    const uint64_t tiles = 24576 / 128;
    const double steps = 1536.0 / 128;
    layer.kernel_count = 0;
    struct kernel_case *kernel = new_kernel("gemm", ctas, 256, 180 * 1024);
    struct tile_loop *loop = &kernel->loop;
    loop->buffers = 6;
    loop->stream = (struct tile_load){.rows = 64 + 128,
                                      .row_bytes = 128,
                                      .alignment_bytes = 128,
                                      .pipelined = true,
                                      .exposures = 1,
                                      .distinct_fraction = 128.0 / 192};
    loop->mma_count = 1;
    loop->mma[0] =
        (struct mma_op){.m = 64, .n = 128, .k = 128, .count = 1, .format = NUMBER_FORMAT_FP8, .warpgroup = true};
    loop->smem_operands = 2;
    loop->epilogue_bytes = 64 * 128 * 2;
    loop->ragged_count = 2;
    loop->ragged[0] = (struct ragged_group){tiles - ctas, 2 * steps};
    loop->ragged[1] = (struct ragged_group){2 * ctas - tiles, steps};
    loop->iterations = (double)tiles * steps / (double)ctas;
    return layer_time_s();
}

START_TEST(p48_evening_out_a_wave_buys_little)
{
    use_device("h100-sxm5-80gb");
    const double gain_percent = 100 * (persistent_gemm_s(132) / persistent_gemm_s(128) - 1);
    printf(
        "P48 timed: H100, 64 x 24576 x 1536, 132 -> 128 CTAs: %+.2f %% (published 281 -> 283, between -1.1 and +2 %%)\n"
        "    assumed: persistent fp8 kernel, tiles of 64 x 128 x 128, six buffers\n",
        gain_percent);
    ck_assert_double_lt(fabs(gain_percent), 2);
}
END_TEST

/* What decode cannot beat: bytes that each token reads over the bandwidth. An exact case, by arithmetic. */
START_TEST(p51_decode_ceilings)
{
    static const struct {
        double bandwidth_gb_per_s, bytes_gb, ceiling_tokens_per_s, measured_tokens_per_s, percent;
    } ROWS[] = {{273, 4.68, 58.3, 6.203, 10.6}, {1008, 4.68, 215.4, 0, 0}, {1628, 14.5, 112.3, 87.4, 77.8}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct serving_model serving = {.floor_bytes_fixed = ROWS[i].bytes_gb * BYTES_PER_GB,
                                              .tokens_per_step_per_request = 1};
        const double ceiling = 1 / step_time_floor(&serving, 1, ROWS[i].bandwidth_gb_per_s * BYTES_PER_GB);
        assert_close_rel(ceiling, ROWS[i].ceiling_tokens_per_s, TOL_PRINTED(ROWS[i].ceiling_tokens_per_s, 0.1));
        if (ROWS[i].measured_tokens_per_s > 0) {
            assert_close_rel(100 * ROWS[i].measured_tokens_per_s / ceiling, ROWS[i].percent,
                             TOL_PRINTED(ROWS[i].percent, 0.1));
        }
    }
}
END_TEST

/* --- the golden scenario's kernels under other shapes ------------------------------------------------------------- */

static struct scenario *golden;
static struct scenario_evaluator *evaluator;

static void open_golden(const char *device)
{
    struct error error = {0};
    ck_assert_msg(scenario_read("dsv4-flash-sparse-decode", catalogue, device, &golden, &error) == STATUS_OK, "%s",
                  error.text);
    ck_assert_msg(scenario_evaluator_create(golden, &evaluator, &error) == STATUS_OK, "%s", error.text);
    use_device(scenario_device(golden)->name);
}

static void close_golden(void)
{
    scenario_evaluator_free(evaluator);
    scenario_free(golden);
}

/* assignments: "C=1 heads=8 ..."; any value goes. */
static double golden_s(const char *assignments)
{
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    char text[256];
    struct error error = {0};
    enum config_verdict verdict;
    size_t constraint;
    scenario_base_values(golden, values);
    snprintf(text, sizeof text, "%s", assignments);
    for (char *rest = text, *item; (item = strtok_r(rest, " ", &rest)) != NULL;) {
        ck_assert_msg(scenario_set_value(golden, item, true, values, &error) == STATUS_OK, "%s", error.text);
    }
    ck_assert_msg(scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error) == STATUS_OK, "%s",
                  error.text);
    ck_assert_int_eq(verdict, CONFIG_OK);
    return layer_time_s();
}

START_TEST(m11_splits_fill_the_device)
{
    open_golden(NULL);
    static const double TOKENS[] = {512, 1024, 2048}, SPLITS[] = {8, 16, 16}, PUBLISHED[] = {4.09, 4.08, 3.19};
    for (int i = 0; i < 3; i++) {
        char one[96], several[96];
        snprintf(one, sizeof one, "C=1 tokens=%.0f TARGET_CTAS=1", TOKENS[i]);
        snprintf(several, sizeof several, "C=1 tokens=%.0f TARGET_CTAS=%.0f", TOKENS[i], SPLITS[i]);
        const double one_s = golden_s(one), several_s = golden_s(several);
        printf(
            "M11 timed: RTX PRO 6000, one row, k%.0f, 1 -> %.0f splits: %.1f -> %.1f us, %.1f times faster (published: "
            "%.2f times an older kernel, which one split does not reach)\n",
            TOKENS[i], SPLITS[i], one_s / SECONDS_PER_US, several_s / SECONDS_PER_US, one_s / several_s, PUBLISHED[i]);
        ck_assert_double_lt(several_s, one_s / 1.5);
    }
    printf("    assumed: the golden scenario's kernel and combine, 16 heads\n");
    close_golden();
}
END_TEST

START_TEST(m15_an_unsplit_decode_is_many_times_slower)
{
    open_golden("rtx 5090");
    const double one_s = golden_s("C=1 heads=8 tokens=2048 TARGET_CTAS=1");
    const double sixteen_s = golden_s("C=1 heads=8 tokens=2048 TARGET_CTAS=16");
    const double thirty_two_s = golden_s("C=1 heads=8 tokens=2048 TARGET_CTAS=32");
    const double four_rows_s = golden_s("C=4 heads=8 tokens=2048 TARGET_CTAS=128");
    printf(
        "M15 timed: RTX 5090, 8 heads, k2048, 1 / 16 / 32 splits: %.1f / %.1f / %.1f us (published 213 / 28.7 / 28.7), "
        "32 splits of 4 rows: %.1f us (published: the same)\n"
        "    assumed: the golden scenario's kernel, tile and combine\n",
        one_s / SECONDS_PER_US, sixteen_s / SECONDS_PER_US, thirty_two_s / SECONDS_PER_US,
        four_rows_s / SECONDS_PER_US);
    ck_assert_double_gt(one_s / sixteen_s, 2);
    ck_assert_double_gt(one_s / thirty_two_s, 2);
    ck_assert_double_lt(fabs(log(four_rows_s / thirty_two_s)), 0.1);
    close_golden();
}
END_TEST

START_TEST(m16_bandwidth_grows_with_the_batch)
{
    static const double BATCHES[] = {1, 2, 4, 8, 256};
    static const char *const DEVICES[] = {"rtx-pro-6000-blackwell-server", "geforce-rtx-5080", "gb10"};
    static const double PUBLISHED[][5] = {{32, 52, 66, 77, 95}, {47, 62, 76, 83, 91}, {40, 51, 63, 73, 85}};
    for (int d = 0; d < 3; d++) {
        double before = 0;
        use_device(DEVICES[d]);
        printf("M16 timed: %s, share of peak DRAM bandwidth at batch 1 / 2 / 4 / 8 / 256:", DEVICES[d]);
        for (int i = 0; i < 5; i++) {
            layer.kernel_count = 0;
            const double request_bytes = 4.5e6, tile_bytes = 64 * 576;
            const double splits = fmin(16, ceil(model.sm_count / BATCHES[i]));
            struct kernel_case *split = new_kernel("split", (uint64_t)(splits * BATCHES[i]), 128, 48 * 1024);
            split->loop.iterations = ceil(request_bytes / splits / tile_bytes);
            split->loop.buffers = 1;
            split->loop.gather = (struct tile_load){.rows = 64,
                                                    .row_bytes = 576,
                                                    .alignment_bytes = 16,
                                                    .index_dependent = true,
                                                    .exposures = 1,
                                                    .distinct_fraction = 1};
            split->loop.epilogue_bytes = 16 * 514 * 4;
            add_combine(16 * BATCHES[i], splits, 512);
            const double bytes = splits * BATCHES[i] * split->loop.iterations * tile_bytes;
            const double share = bytes / layer_time_s() / model.peak_dram_bytes_per_s;
            printf(" %.0f (%.0f)", 100 * share, PUBLISHED[d][i]);
            ck_assert_double_gt(share, before);
            ck_assert_double_lt(share, 1);
            before = share;
        }
        printf(" %%, published in parentheses\n");
    }
    printf("    assumed: 4.5 MB a request (345 GB/s in 13 us), as many splits as fill the SMs but 16 at most,\n"
           "    unbuffered gathers of 64 rows of 576 B\n");
}
END_TEST

START_TEST(m20_four_warps)
{
    open_golden(NULL);
    const double two_s = golden_s("C=96 num_warps=2"), four_s = golden_s("C=96 num_warps=4"),
                 eight_s = golden_s("C=96 num_warps=8");
    printf("M20 timed: 2 / 4 / 8 warps: %.1f / %.1f / %.1f us (published ms on the C4 layers: 0.481 / 0.174 / 0.279)\n",
           two_s / SECONDS_PER_US, four_s / SECONDS_PER_US, eight_s / SECONDS_PER_US);
    const double narrow_s = golden_s("C=96 block_h=4"), wide_s = golden_s("C=96 block_h=8");
    printf("M20 timed: BLOCK_H 4 / 8: %.1f / %.1f us (published 0.278 / 0.177)\n"
           "    assumed: the golden scenario at 96 requests; the GPU, batch and tile of the case are not stated\n",
           narrow_s / SECONDS_PER_US, wide_s / SECONDS_PER_US);
    ck_assert_double_lt(four_s, two_s);
    ck_assert_double_lt(four_s, eight_s);
    ck_assert_double_lt(wide_s, narrow_s);
    close_golden();
}
END_TEST

Suite *suite_public_times(void);
Suite *suite_public_times(void)
{
    Suite *suite = suite_create("public_times");
    TCase *tests = tcase_create("directions");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, p42_one_split_starves_short_decode);
    tcase_add_test(tests, p43_less_than_a_wave_is_flat);
    tcase_add_test(tests, p44_more_splits_than_sms_are_worse);
    tcase_add_test(tests, p48_evening_out_a_wave_buys_little);
    tcase_add_test(tests, p51_decode_ceilings);
    tcase_add_test(tests, m11_splits_fill_the_device);
    tcase_add_test(tests, m15_an_unsplit_decode_is_many_times_slower);
    tcase_add_test(tests, m16_bandwidth_grows_with_the_batch);
    tcase_add_test(tests, m20_four_warps);
    suite_add_tcase(suite, tests);
    return suite;
}
