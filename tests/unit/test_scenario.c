/* SPDX-License-Identifier: GPL-3.0-or-later
 * Scenarios: the golden one's figures, evaluation with its memory of earlier results, tables, notes, shipped files. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "evidence/embedded_data.h"
#include "evidence/scenario/scenario.h"
#include "tests/support/assert_close.h"
#include "tests/support/temp_dir.h"

Suite *suite_scenario(void);

#define GOLDEN "dsv4-flash-sparse-decode"

static struct device_catalogue *catalogue;
static struct scenario *scenario;
static struct scenario_evaluator *evaluator;
static struct temp_dir directory;
static double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
static struct layer_case layer;

static void open_scenario(const char *path)
{
    struct error error = {0};
    ck_assert_msg(scenario_read(path, catalogue, NULL, &scenario, &error) == STATUS_OK, "%u:%u %s", error.line,
                  error.column, error.text);
    ck_assert_msg(scenario_evaluator_create(scenario, &evaluator, &error) == STATUS_OK, "%s", error.text);
    scenario_base_values(scenario, values);
}

static void close_scenario(void)
{
    scenario_evaluator_free(evaluator);
    scenario_free(scenario);
    evaluator = NULL;
    scenario = NULL;
}

static void setup(void)
{
    struct error error = {0};
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s", error.text);
    temp_dir_create(&directory);
}

static void teardown(void)
{
    close_scenario();
    device_catalogue_free(catalogue);
    temp_dir_remove(&directory);
}

static void open_text(const char *text)
{
    char path[600];
    open_scenario(temp_dir_write(&directory, "test.yaml", text, strlen(text), path, sizeof path));
}

static void set(const char *assignment)
{
    struct error error = {0};
    ck_assert_msg(scenario_set_value(scenario, assignment, true, values, &error) == STATUS_OK, "%s", error.text);
}

static enum config_verdict evaluate(void)
{
    enum config_verdict verdict = CONFIG_OK;
    size_t constraint;
    struct error error = {0};
    ck_assert_msg(scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error) == STATUS_OK, "%s",
                  error.text);
    return verdict;
}

static double let_value(const char *name)
{
    for (size_t i = 0; i < scenario_let_count(scenario); i++) {
        if (strcmp(scenario_let_name(scenario, i), name) == 0) {
            return scenario_evaluator_let(evaluator, i);
        }
    }
    ck_abort_msg("no let entry %s", name);
    return NAN;
}

/* --- the golden scenario --------------------------------------------------------------------------------------------
 */

/* The golden file without its `require`, which would exclude BLOCK_T = 8 before SMEM is asked for. */
static void open_golden_without_require(void)
{
    const struct embedded_file *file = embedded_file_find("scenarios/" GOLDEN ".yaml");
    ck_assert_ptr_nonnull(file);
    char *text = calloc(file->length + 1, 1);
    memcpy(text, file->begin, file->length);
    char *start = strstr(text, "\nrequire:"), *end = strstr(text, "\nworkload:");
    ck_assert(start != NULL && end != NULL && start < end);
    memset(start + 1, ' ', (size_t)(end - start - 1)); /* blank, so that places stay */
    open_text(text);
    free(text);
}

START_TEST(golden_smem)
{
    static const struct {
        const char *block_h, *tile, *stages;
        uint64_t smem_bytes;
    } rows[] = {{"block_h=32", "BLOCK_T=16", "num_stages=2", 80000},
                {"block_h=16", "BLOCK_T=16", "num_stages=2", 61568},
                {"block_h=32", "BLOCK_T=16", "num_stages=3", 101568},
                {"block_h=16", "BLOCK_T=16", "num_stages=3", 83136},
                {"block_h=32", "BLOCK_T=8", "num_stages=3", 69216}};
    open_golden_without_require();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set(rows[i].block_h);
        set(rows[i].tile);
        set(rows[i].stages);
        ck_assert_int_eq(evaluate(), CONFIG_OK);
        ck_assert_uint_eq(layer.kernels[0].launch.dynamic_smem_bytes, rows[i].smem_bytes);
        ck_assert_int_eq(layer.kernels[0].launch.smem_source, INPUT_SOURCE_FORMULA);
    }
}
END_TEST

START_TEST(golden_constraint)
{
    open_scenario(GOLDEN);
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    ck_assert(let_value("splits") == 6);
    set("BLOCK_T=8");
    set("C=8");
    ck_assert_int_eq(evaluate(), CONFIG_CONSTRAINT);
    ck_assert_ptr_nonnull(strstr(scenario_constraint_get(scenario, 0)->why, "at least 16"));
    ck_assert(isnan(let_value("splits"))); /* not evaluated: never an old value */
    set("BLOCK_T=16");
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    ck_assert(let_value("splits") == 40);
}
END_TEST

START_TEST(golden_grids)
{
    static const struct {
        const char *concurrency;
        uint64_t grid_ceil, grid_floor;
    } rows[] = {{"C=1", 40, 40},    {"C=8", 320, 320},  {"C=48", 528, 480},
                {"C=64", 512, 512}, {"C=80", 560, 480}, {"C=96", 576, 480}};
    open_scenario(GOLDEN);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set(rows[i].concurrency);
        set("split_floor=0");
        ck_assert_int_eq(evaluate(), CONFIG_OK);
        ck_assert_uint_eq(layer.kernels[0].launch.grid_ctas, rows[i].grid_ceil);
        set("split_floor=1");
        ck_assert_int_eq(evaluate(), CONFIG_OK);
        ck_assert_uint_eq(layer.kernels[0].launch.grid_ctas, rows[i].grid_floor);
    }
}
END_TEST

START_TEST(golden_loop_and_sources)
{
    open_scenario(GOLDEN);
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    const struct kernel_case *split = &layer.kernels[0], *combine = &layer.kernels[1];
    ck_assert_uint_eq(layer.kernel_count, 2);
    ck_assert_str_eq(split->name, "split");
    ck_assert_uint_eq(split->launch.threads, 128);
    ck_assert_uint_eq(split->launch.registers_per_thread, 255);
    ck_assert_int_eq(split->launch.registers_source, INPUT_SOURCE_ASSUMED);
    ck_assert_int_eq(split->launch.grid_source, INPUT_SOURCE_FORMULA);
    ck_assert_int_eq(split->launch.carveout_percent, CARVEOUT_DEFAULT);
    ck_assert(split->loop.iterations == 7); /* ceil(ceil(640 / 6) / 16) */
    ck_assert(split->loop.declared_stages == 2 && split->loop.buffers == 1);
    assert_close_rel(split->loop.gather.rows, 640.0 / 6 / 7, TOL_ROUNDING); /* of 16: the last tile is partly masked */
    ck_assert(split->loop.gather.row_bytes == 584);
    ck_assert(split->loop.gather.alignment_bytes == 8 && split->loop.gather.index_dependent);
    ck_assert(split->loop.stream.rows == 0);
    ck_assert_uint_eq(split->loop.mma_count, 2);
    ck_assert_uint_eq(split->loop.mma[0].k, 576);
    ck_assert_uint_eq(split->loop.mma[1].n, 512);
    ck_assert_int_eq(split->loop.mma[1].layout, MMA_LAYOUT_CHAINED);
    ck_assert(isnan(split->loop.spill_bytes));
    ck_assert(!combine->skipped);
    ck_assert_uint_eq(combine->launch.grid_ctas, 96 * 16);
    set("tokens=16"); /* one split: nothing to combine */
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    ck_assert(layer.kernels[1].skipped);
    ck_assert_str_eq(layer.kernels[1].name, "combine");
}
END_TEST

START_TEST(golden_serving)
{
    open_scenario(GOLDEN);
    const struct serving_model *serving = scenario_serving(scenario);
    ck_assert(serving->present && !serving->base_from_points);
    assert_close_rel(serving->base.parameters[0], 18e-3, TOL_ROUNDING);
    assert_close_rel(serving->base.parameters[1], 1.05e-3, TOL_ROUNDING);
    ck_assert_int_eq(serving->base.degrees_of_freedom, -1);
    ck_assert_uint_eq(serving->point_count, 3);
    assert_close_rel(serving->points[2].step_time_s, 96 / 845.0, TOL_ROUNDING);
    assert_close_rel(serving->floor_bytes_per_expert, 13.37e6 * 43 / 4, TOL_ROUNDING);
    struct error error = {0};
    ck_assert_msg(serving_model_validate(serving, &error) == STATUS_OK, "%s", error.text);
    ck_assert_int_eq(scenario_concurrency_variable(scenario), scenario_variable_find(scenario, "C"));
    ck_assert_uint_eq(scenario_layer_group_count(scenario), 3);
    double layers = 0;
    for (size_t i = 0; i < 3; i++) {
        layers += scenario_layer_group_layers(scenario, i);
    }
    ck_assert(layers == 43);
}
END_TEST

START_TEST(layer_groups_override_the_workload)
{
    static const double iterations[] = {2, 7, 2}; /* 128, 640 and 192 tokens in 6 splits of BLOCK_T 16 */
    struct error error = {0};
    open_scenario(GOLDEN);
    for (size_t g = 0; g < 3; g++) {
        ck_assert_int_eq(scenario_evaluate_group(evaluator, values, g, &layer, &error), STATUS_OK);
        ck_assert(layer.kernels[0].loop.iterations == iterations[g]);
    }
    set("context=65536"); /* 128 + 512 tokens now */
    ck_assert_int_eq(scenario_evaluate_group(evaluator, values, 2, &layer, &error), STATUS_OK);
    ck_assert(layer.kernels[0].loop.iterations == 7);
    ck_assert_int_eq(evaluate(), CONFIG_OK); /* the scenario itself is untouched by groups */
    ck_assert(layer.kernels[0].loop.iterations == 7);
}
END_TEST

START_TEST(golden_notes)
{
    bool applies[2];
    struct error error = {0};
    open_scenario(GOLDEN);
    ck_assert_uint_eq(scenario_note_count(scenario), 2);
    ck_assert_str_eq(scenario_note_get(scenario, 0)->knob, "num_warps");
    for (int large = 0; large < 2; large++) {
        set(large ? "C=96" : "C=1");
        evaluate();
        for (size_t i = 0; i < 2; i++) {
            ck_assert_int_eq(scenario_note_applies(evaluator, i, &applies[i], &error), STATUS_OK);
        }
        ck_assert(applies[0] == !large && applies[1] == (bool)large);
    }
}
END_TEST

START_TEST(bare_compute_capability_is_enough_for_limits)
{
    struct error error = {0};
    bool applies;
    ck_assert_int_eq(scenario_read(GOLDEN, catalogue, "sm_120", &scenario, &error), STATUS_OK);
    ck_assert_int_eq(scenario_evaluator_create(scenario, &evaluator, &error), STATUS_OK);
    scenario_base_values(scenario, values);
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    ck_assert_int_eq(scenario_note_applies(evaluator, 0, &applies, &error), STATUS_MISSING);
}
END_TEST

/* --- memory of earlier results --------------------------------------------------------------------------------------
 */

static void expect_same_launch(const struct layer_case *left, const struct layer_case *right)
{
    for (uint32_t k = 0; k < left->kernel_count; k++) {
        const struct kernel_case *a = &left->kernels[k], *b = &right->kernels[k];
        ck_assert_int_eq(a->skipped, b->skipped);
        ck_assert_uint_eq(a->launch.grid_ctas, b->launch.grid_ctas);
        ck_assert_uint_eq(a->launch.threads, b->launch.threads);
        ck_assert_uint_eq(a->launch.dynamic_smem_bytes, b->launch.dynamic_smem_bytes);
        ck_assert_int_eq(a->launch.registers_source, b->launch.registers_source);
        ck_assert(a->loop.iterations == b->loop.iterations && a->loop.buffers == b->loop.buffers);
        ck_assert(a->loop.gather.rows == b->loop.gather.rows && a->loop.stream.rows == b->loop.stream.rows);
        ck_assert(a->loop.fp32_ops == b->loop.fp32_ops && a->loop.special_ops == b->loop.special_ops);
        ck_assert(a->loop.epilogue_bytes == b->loop.epilogue_bytes);
        for (uint32_t i = 0; i < a->loop.mma_count; i++) {
            ck_assert_uint_eq(a->loop.mma[i].m, b->loop.mma[i].m);
            ck_assert_uint_eq(a->loop.mma[i].n, b->loop.mma[i].n);
            ck_assert_uint_eq(a->loop.mma[i].k, b->loop.mma[i].k);
        }
    }
}

static double random_value(struct random_stream *stream, size_t variable)
{
    const struct scenario_variable *described = scenario_variable_get(scenario, variable);
    double value = described->values[random_below(stream, described->value_count)];
    /* Now and then a value outside the list, which no table may answer for. */
    return random_below(stream, 8) == 0 ? value + (double)random_below(stream, 3) : value;
}

/* A used evaluator and a fresh one must agree on every configuration, whatever came before. */
START_TEST(history_never_changes_an_answer)
{
    static const char *const paths[] = {GOLDEN, "gqa-split-decode", "triton-gemm", "stream-copy"};
    struct random_stream stream;
    random_init(&stream, 4711, (uint64_t)_i);
    open_scenario(paths[_i]);
    for (int round = 0; round < 60; round++) {
        for (int step = 0; step < 50; step++) { /* used: many single changes */
            size_t variable = random_below(&stream, (uint32_t)scenario_variable_count(scenario));
            values[variable] = random_value(&stream, variable);
            enum config_verdict verdict;
            size_t constraint;
            struct error error = {0};
            enum status status = scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error);
            ck_assert(status == STATUS_OK || status == STATUS_BAD_DATA || status == STATUS_DOMAIN);
        }
        struct scenario_evaluator *fresh;
        static struct layer_case expected;
        enum config_verdict verdict = CONFIG_OK, fresh_verdict = CONFIG_OK;
        size_t constraint = 0, fresh_constraint = 0;
        struct error error = {0}, fresh_error = {0};
        ck_assert_int_eq(scenario_evaluator_create(scenario, &fresh, &error), STATUS_OK);
        enum status status = scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error);
        enum status fresh_status =
            scenario_evaluate(fresh, values, &fresh_verdict, &fresh_constraint, &expected, &fresh_error);
        ck_assert_int_eq(status, fresh_status);
        ck_assert_str_eq(error.text, fresh_error.text);
        ck_assert_int_eq(verdict, fresh_verdict);
        ck_assert_uint_eq(constraint, fresh_constraint);
        if (status == STATUS_OK && verdict == CONFIG_OK) {
            expect_same_launch(&layer, &expected);
        }
        scenario_evaluator_free(fresh);
    }
}
END_TEST

/* --- syntax that the shipped files do not use ------------------------------------------------------------------------
 */

#define HEAD "name: t\ndevice: nvidia-h200\n"
#define KERNEL                                                                                                         \
    "kernels:\n  k:\n    grid: a * 2\n    threads: 128\n    registers: 32\n    smem_bytes: 0\n"                        \
    "    loop: {iterations: 4}\n"

START_TEST(ranges_step_and_multiply)
{
    open_text(HEAD "knobs: {a: {from: 1, to: 4096, step: 1}, b: {from: 2, to: 64, times: 2}, "
                   "c: {from: 0, to: 1, step: 0.1}}\nbase: {a: 7, b: 16, c: 0.5}\n" KERNEL);
    ck_assert_uint_eq(scenario_variable_get(scenario, 0)->value_count, 4096);
    ck_assert(scenario_variable_get(scenario, 0)->values[4095] == 4096);
    ck_assert_uint_eq(scenario_variable_get(scenario, 1)->value_count, 6);
    ck_assert(scenario_variable_get(scenario, 1)->values[5] == 64);
    ck_assert_uint_eq(scenario_variable_get(scenario, 2)->value_count, 11);
    uint64_t count;
    struct error error = {0};
    ck_assert_int_eq(scenario_config_count(scenario, &count, &error), STATUS_OK);
    ck_assert_uint_eq(count, 4096u * 6 * 11);
    evaluate();
    ck_assert_uint_eq(layer.kernels[0].launch.grid_ctas, 14);
}
END_TEST

START_TEST(too_many_configurations_can_be_read_but_not_counted)
{
    char text[4096] = HEAD "knobs:\n", line[64];
    for (int i = 0; i < 10; i++) {
        snprintf(line, sizeof line, "  k%d: {from: 1, to: 1000, step: 1}\n", i);
        strcat(text, line);
    }
    strcat(text, "base: {k0: 1, k1: 1, k2: 1, k3: 1, k4: 1, k5: 1, k6: 1, k7: 1, k8: 1, k9: 1}\nlet: {a: k0}\n" KERNEL);
    open_text(text);
    uint64_t count = 5;
    struct error error = {0};
    ck_assert_int_eq(scenario_config_count(scenario, &count, &error), STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "2^63"));
    ck_assert_uint_eq(count, 5);
    ck_assert_int_eq(evaluate(), CONFIG_OK);
}
END_TEST

START_TEST(ragged_work_gives_the_mean)
{
    open_text(HEAD "workload: {a: 5}\nkernels:\n  k:\n    grid: a + 3\n    threads: 128\n    registers: 32\n"
                   "    smem_bytes: 1024\n    carveout: 50\n    cluster: 2\n    loop: {stream: {row_bytes: 64}}\n"
                   "    ragged: [{ctas: a, iterations: 10}, {ctas: 3, iterations: 2}]\n");
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    const struct kernel_case *kernel = &layer.kernels[0];
    ck_assert_uint_eq(kernel->loop.ragged_count, 2);
    ck_assert_uint_eq(kernel->loop.ragged[0].ctas, 5);
    assert_close_rel(kernel->loop.iterations, 56.0 / 8, TOL_ROUNDING);
    ck_assert_int_eq(kernel->launch.carveout_percent, 50);
    ck_assert_uint_eq(kernel->launch.cluster_ctas, 2);
    ck_assert(kernel->loop.stream.rows == 1 && kernel->loop.stream.row_bytes == 64);
    ck_assert(!kernel->loop.stream.index_dependent && kernel->loop.stream.pipelined);
}
END_TEST

START_TEST(ragged_groups_without_ctas_do_not_count)
{
    open_text(HEAD "workload: {a: [0, 2]}\nkernels:\n  k:\n    grid: 6\n    threads: 128\n    registers: 32\n"
                   "    smem_bytes: 1024\n    loop: {stream: {row_bytes: 64}}\n"
                   "    ragged: [{ctas: a, iterations: 10}, {ctas: 6 - a, iterations: 2}, {ctas: 0, iterations: 9}]\n");
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    const struct tile_loop *loop = &layer.kernels[0].loop;
    ck_assert_uint_eq(loop->ragged_count, 0);
    ck_assert(loop->iterations == 2);
    values[0] = 2;
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    ck_assert_uint_eq(loop->ragged_count, 2);
    ck_assert(loop->ragged[0].ctas == 2 && loop->ragged[1].ctas == 4);
    assert_close_rel(loop->iterations, 28.0 / 6, TOL_ROUNDING);
}
END_TEST

START_TEST(warps_of_a_product_may_be_given)
{
    open_text(HEAD
              "workload: {w: [2, 1, 5]}\nkernels:\n  k:\n    grid: 6\n    threads: 128\n    registers: 32\n"
              "    smem_bytes: 0\n    loop: {iterations: 1, mma: [{m: 32, n: 16, k: 64, warps_m: w, warps_n: 1}]}\n");
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    ck_assert_uint_eq(layer.kernels[0].loop.mma[0].warps_m, 2);
    ck_assert_uint_eq(layer.kernels[0].loop.mma[0].warps_n, 1);
    values[0] = 5; /* of four warps */
    ck_assert_int_eq(evaluate(), CONFIG_KERNEL_INVALID);
}
END_TEST

START_TEST(values_that_no_kernel_can_have_are_a_verdict)
{
    static const char *const bad[] = {"a=-3", "a=0", "a=0.25", "a=1e300"};
    open_text(HEAD "workload: {a: [5, -3], b: 5}\n" KERNEL);
    struct error refused = {0};
    ck_assert_int_eq(scenario_set_value(scenario, "b=-3", true, values, &refused), STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(refused.text, "nothing that the scenario lists for it is below 0"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        enum config_verdict verdict = CONFIG_OK;
        size_t constraint;
        struct error error = {0};
        set(bad[i]);
        ck_assert_int_eq(scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error), STATUS_OK);
        ck_assert_msg(verdict == CONFIG_KERNEL_INVALID, "%s", bad[i]);
        ck_assert_msg(strstr(error.text, "grid") != NULL && error.line > 0, "%s: %s", bad[i], error.text);
        set("a=5");
        ck_assert_int_eq(evaluate(), CONFIG_OK);
    }
}
END_TEST

/* By ourselves, not by the library, which may lose memory over them. */
START_TEST(doubled_quotes_stand_for_one)
{
    open_text(HEAD "workload: {a: 5}\ntitle: '''a''b c'''\n" KERNEL);
    ck_assert_str_eq(scenario_title(scenario), "'a'b c'");
    close_scenario();
    open_text(HEAD "workload: {a: 5}\ntitle: '''a'' ''''b''''' # '\n" KERNEL);
    ck_assert_str_eq(scenario_title(scenario), "'a' ''b''");
}
END_TEST

START_TEST(resource_tables_answer_by_exact_key)
{
    static const char table[] = "# source: a test\nwarps,tile,registers_per_thread\n4,16,96\n8,16,64\n4,32,\n";
    char path[600];
    temp_dir_write(&directory, "regs.csv", table, sizeof table - 1, path, sizeof path);
    open_text(HEAD "workload: {a: 5, w: 4, tile: 16}\nkernels:\n  k:\n    grid: a\n    threads: 32 * w\n"
                   "    registers: {from: regs.csv, column: registers_per_thread, keys: {warps: w, tile: tile}, "
                   "else: 10 * w}\n    smem_bytes: 0\n    loop: {iterations: 4}\n");
    static const struct {
        const char *warps, *tile;
        uint32_t registers;
        enum input_source source;
    } rows[] = {{"w=4", "tile=16", 96, INPUT_SOURCE_COMPILED},
                {"w=8", "tile=16", 64, INPUT_SOURCE_COMPILED},
                {"w=4", "tile=32", 40, INPUT_SOURCE_ASSUMED}, /* an empty cell is no row */
                {"w=2", "tile=16", 20, INPUT_SOURCE_ASSUMED},
                {"w=4", "tile=16", 96, INPUT_SOURCE_COMPILED}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set(rows[i].warps);
        set(rows[i].tile);
        ck_assert_int_eq(evaluate(), CONFIG_OK);
        ck_assert_uint_eq(layer.kernels[0].launch.registers_per_thread, rows[i].registers);
        ck_assert_int_eq(layer.kernels[0].launch.registers_source, rows[i].source);
    }
}
END_TEST

START_TEST(smem_rule_is_applied)
{
    open_scenario("triton-gemm");
    set("BM=32");
    set("BN=32");
    set("BK=32");
    set("num_warps=4");
    set("num_stages=5");
    ck_assert_int_eq(evaluate(), CONFIG_OK);
    ck_assert_int_eq(layer.kernels[0].launch.smem_source, INPUT_SOURCE_RULE);
    ck_assert_uint_eq(layer.kernels[0].launch.dynamic_smem_bytes, 4 * (32 * 32 + 32 * 32) * 2); /* S - 1 tiles */
}
END_TEST

START_TEST(measured_points_alone_leave_the_base_to_a_fit)
{
    open_text(HEAD "workload: {a: 5, n: [1, 2]}\n" KERNEL
                   "serving:\n  concurrency: n\n  tokens_per_step: 2\n  itl_limit_ms: 50\n  fixed_bytes: a * 10\n"
                   "  measured: [{concurrency: 4, tokens_per_s: 100}, {concurrency: 8, step_ms: 28.4, "
                   "relative_sigma: 0.02}]\n  captured_sizes: [1, 2, 4]\n  kernel_share: {fraction: 0.2}\n");
    const struct serving_model *serving = scenario_serving(scenario);
    ck_assert(serving->base_from_points && isnan(serving->base.parameters[0]));
    assert_close_rel(serving->points[0].step_time_s, 4 * 2 / 100.0, TOL_ROUNDING);
    ck_assert(isnan(serving->points[1].throughput_tokens_per_s));
    assert_close_rel(serving->points[1].step_time_s, 28.4e-3, TOL_ROUNDING);
    assert_close_rel(serving->itl_limit_s, 0.05, TOL_ROUNDING);
    ck_assert(serving->floor_bytes_fixed == 50 && serving->kernel_share_measured == 0.2);
    ck_assert_uint_eq(serving->base.captured_count, 3);
    ck_assert_int_eq(scenario_concurrency_variable(scenario), 1);
}
END_TEST

START_TEST(assignments_are_checked)
{
    static const struct {
        const char *text, *fragment;
    } bad[] = {{"BLOCK_T", "name=value"},   {"=3", "name=value"},    {"BLOK_T=16", "BLOCK_T"},
               {"BLOCK_T=17", "8, 16, 32"}, {"BLOCK_T=x", "finite"}, {"BLOCK_T=nan", "finite"},
               {"BLOCK_T=1e999", "finite"}, {"BLOCK_T=", "finite"},  {"BLOCK_T=16 ", "finite"}};
    open_scenario(GOLDEN);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error error = {0};
        ck_assert_int_eq(scenario_set_value(scenario, bad[i].text, false, values, &error), STATUS_USAGE);
        ck_assert_msg(strstr(error.text, bad[i].fragment) != NULL, "%s: %s", bad[i].text, error.text);
    }
    struct error error = {0};
    ck_assert_int_eq(scenario_set_value(scenario, "BLOCK_T=17", true, values, &error), STATUS_OK);
    ck_assert_int_eq(scenario_set_value(scenario, "BLOCK_T=4.5", true, values, &error), STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "'BLOCK_T' counts in whole numbers"));
    ck_assert_int_eq(scenario_set_value(scenario, "tokens=641", false, values, &error), STATUS_OK);
}
END_TEST

/* Every configuration of every shipped scenario evaluates. */
START_TEST(shipped_scenarios_evaluate_everywhere)
{
    static const char *const paths[] = {GOLDEN, "gqa-split-decode", "triton-gemm", "stream-copy"};
    static const uint64_t counts[] = {2u * 3 * 2 * 2 * 8 * 2, 6u * 4 * 4 * 4, 4u * 4 * 3 * 2 * 4, 4u * 3 * 4};
    open_scenario(paths[_i]);
    uint64_t count, valid = 0;
    struct error error = {0};
    ck_assert_int_eq(scenario_config_count(scenario, &count, &error), STATUS_OK);
    ck_assert_uint_eq(count, counts[_i]);
    for (uint64_t config = 0; config < count; config++) {
        uint64_t rest = config;
        for (size_t v = scenario_knob_count(scenario); v-- > 0;) {
            const struct scenario_variable *variable = scenario_variable_get(scenario, v);
            values[v] = variable->values[rest % variable->value_count];
            rest /= variable->value_count;
        }
        enum config_verdict verdict = evaluate();
        ck_assert_int_ne(verdict, CONFIG_KERNEL_INVALID);
        valid += verdict == CONFIG_OK;
    }
    ck_assert_uint_ge(valid, count / 2);
}
END_TEST

Suite *suite_scenario(void)
{
    Suite *suite = suite_create("scenario");
    TCase *tests = tcase_create("core");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, golden_smem);
    tcase_add_test(tests, golden_constraint);
    tcase_add_test(tests, golden_grids);
    tcase_add_test(tests, golden_loop_and_sources);
    tcase_add_test(tests, golden_serving);
    tcase_add_test(tests, layer_groups_override_the_workload);
    tcase_add_test(tests, golden_notes);
    tcase_add_test(tests, bare_compute_capability_is_enough_for_limits);
    tcase_add_loop_test(tests, history_never_changes_an_answer, 0, 4);
    tcase_add_test(tests, ranges_step_and_multiply);
    tcase_add_test(tests, too_many_configurations_can_be_read_but_not_counted);
    tcase_add_test(tests, ragged_work_gives_the_mean);
    tcase_add_test(tests, ragged_groups_without_ctas_do_not_count);
    tcase_add_test(tests, warps_of_a_product_may_be_given);
    tcase_add_test(tests, values_that_no_kernel_can_have_are_a_verdict);
    tcase_add_test(tests, doubled_quotes_stand_for_one);
    tcase_add_test(tests, resource_tables_answer_by_exact_key);
    tcase_add_test(tests, smem_rule_is_applied);
    tcase_add_test(tests, measured_points_alone_leave_the_base_to_a_fit);
    tcase_add_test(tests, assignments_are_checked);
    tcase_add_loop_test(tests, shipped_scenarios_evaluate_everywhere, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
