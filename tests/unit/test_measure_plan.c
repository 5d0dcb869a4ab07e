/* SPDX-License-Identifier: GPL-3.0-or-later
 * Plans in YAML, plans too large to keep, and the time that a campaign predicts for our own kernels. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/measure_predictor.h"
#include "evidence/scenario/measure_plan.h"
#include "evidence/scenario/scenario.h"
#include "model/predict/kernel_time.h"
#include "tests/support/assert_close.h"

Suite *suite_measure_plan(void);

/* ---- YAML ---------------------------------------------------------------------------------------------------------
 */

START_TEST(yaml_becomes_the_plain_form)
{
    static const char yaml[] = "title: t\nreference:\n  - kernel: launch_chain\nmeasure:\n  - kernel: sparse_decode\n"
                               "    settings: {block_t: [16, 32], splits: {from: 1, to: 9, times: 2}}\n\n"
                               "  - {kernel: launch_chain, settings: {ctas: {from: 1, to: 7, step: 3}, threads: 64}}\n";
    struct text_buffer plain = {0};
    struct error error = {0};
    ck_assert_msg(measure_plan_convert(yaml, sizeof yaml - 1, "p.yaml", &plain, &error) == STATUS_OK, "%s", error.text);
    ck_assert_str_eq(plain.text, "\n\nreference launch_chain\n\nsparse_decode block_t=16,32 splits=1,2,4,8\n\n\n"
                                 "launch_chain ctas=1,4,7 threads=64\n");
    text_buffer_release(&plain);
}
END_TEST

static const struct {
    const char *yaml, *message;
    unsigned line;
} bad_plans[] = {
    {"measure:\n  - {settings: {a: 1}}\n", "an entry needs 'kernel'", 2},
    {"measure:\n  - {kernel: a, settings: {b: 1.5}}\n", "expected a whole number", 2},
    {"measure:\n  - {kernel: a, settings: {b: '1'}}\n", "expected a whole number", 2},
    {"measure:\n  - {kernel: a, settings: {b: []}}\n", "1 to 256 values", 2},
    {"measure:\n  - {kernel: a, settings: {b: {from: 1, to: 999}}}\n", "at most 256 values", 2},
    {"measure:\n  - {kernel: a, settings: {b: {from: 0, to: 8, times: 2}}}\n", "from at least 1", 2},
    {"measure:\n  - {kernel: a, settings: {b: {from: 1, to: 8, times: 2, step: 1}}}\n", "a range goes up", 2},
    {"measure:\n  - {kernel: 'a b'}\n", "names are letters", 2},
    {"measures: []\n", "a plan has no key 'measures'", 1},
    {"name: x\n", "'measure' is missing", 1},
    {"- 1\n", "a plan must be keys with values", 1},
};

START_TEST(wrong_yaml_is_named)
{
    struct text_buffer plain = {0};
    struct error error = {0};
    ck_assert_int_eq(measure_plan_convert(bad_plans[_i].yaml, strlen(bad_plans[_i].yaml), "p.yaml", &plain, &error),
                     STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, bad_plans[_i].message) != NULL, "%s", error.text);
    ck_assert_uint_eq(error.line, bad_plans[_i].line);
    text_buffer_release(&plain);
}
END_TEST

/* A range that would overflow ends. */
START_TEST(a_long_range_by_factor_ends)
{
    static const char yaml[] =
        "measure:\n  - {kernel: a, settings: {b: {from: 3, to: 1000000000000000, times: 999999999}}}\n";
    struct text_buffer plain = {0};
    struct error error = {0};
    ck_assert_int_eq(measure_plan_convert(yaml, sizeof yaml - 1, "p.yaml", &plain, &error), STATUS_OK);
    ck_assert_str_eq(plain.text, "\na b=3,2999999997\n");
    text_buffer_release(&plain);
}
END_TEST

/* ---- sampling -----------------------------------------------------------------------------------------------------
 */

static int64_t place(const struct measure_config *config)
{
    return ((measure_config_value(config, "launches") - 1) * 100 + measure_config_value(config, "ctas") - 1) * 200 +
           measure_config_value(config, "threads") - 1;
}

START_TEST(a_large_plan_is_drawn_evenly)
{
    static const char text[] = "launch_chain launches=1..100 ctas=1..100 threads=1..200\nreference launch_chain\n";
    struct campaign_plan plan, again, other;
    struct error error = {0};
    uint64_t count;
    size_t same = 0;
    ck_assert_int_eq(campaign_plan_count(text, "p", &count, &error), STATUS_OK);
    ck_assert_uint_eq(count, 2000000);
    ck_assert_int_eq(campaign_plan_sample(text, "p", 1000, 7, &plan, &error), STATUS_OK);
    ck_assert_int_eq(campaign_plan_sample(text, "p", 1000, 7, &again, &error), STATUS_OK);
    ck_assert_int_eq(campaign_plan_sample(text, "p", 1000, 8, &other, &error), STATUS_OK);
    ck_assert_uint_eq(plan.count, 1000);
    ck_assert_uint_eq(plan.reference_count, 1);
    for (size_t i = 0; i < plan.count; i++) { /* one from each thousandth of the plan */
        ck_assert_int_eq(place(&plan.configs[i]) / 2000, (int64_t)i);
        ck_assert_int_eq(place(&again.configs[i]), place(&plan.configs[i]));
        same += place(&other.configs[i]) == place(&plan.configs[i]);
    }
    ck_assert_uint_lt(same, 20);
    campaign_plan_release(&plan);
    campaign_plan_release(&again);
    campaign_plan_release(&other);
    ck_assert_int_eq(campaign_plan_sample("launch_chain ctas=1..5", "p", 5, 7, &plan, &error), STATUS_OK);
    ck_assert_uint_eq(plan.count, 5);
    campaign_plan_release(&plan);
}
END_TEST

START_TEST(a_plan_beyond_counting_is_refused)
{
    static const char text[] = "sparse_decode splits=1..64 concurrency=1..256 heads=16..128 tokens=1..256 pool=1..256 "
                               "max_registers=0..255 block_t=16..64 block_h=16..64 num_warps=4..16 num_stages=1..4\n";
    struct error error = {0};
    uint64_t count;
    ck_assert_int_eq(campaign_plan_count(text, "p", &count, &error), STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "2^53"));
}
END_TEST

/* ---- prediction ---------------------------------------------------------------------------------------------------
 */

static const struct measure_facts h200 = {
    .gpu_name = "NVIDIA H200", .cc_major = 9, .cc_minor = 0, .sm_count = 132, .l2_bytes = 50 << 20};
static const char config_text[] = "sparse_decode block_t=32 block_h=64 num_warps=8 num_stages=2 splits=4";

/* The layer that the built-in scenario describes at config_text. */
static double scenario_time_us(struct layer_case *layer)
{
    struct device_catalogue *catalogue;
    struct scenario *scenario;
    struct scenario_evaluator *evaluator;
    struct model_parameters parameters;
    struct time_model model;
    struct layer_time time;
    struct error error = {0};
    enum config_verdict verdict;
    size_t constraint;
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    static const char *const sets[] = {"block_t=32", "block_h=64", "num_warps=8", "num_stages=2", "splits=4"};
    ck_assert_int_eq(device_catalogue_create(&catalogue, &error), STATUS_OK);
    ck_assert_int_eq(scenario_read("occam-sparse-decode", catalogue, "nvidia-h200", &scenario, &error), STATUS_OK);
    ck_assert_int_eq(scenario_evaluator_create(scenario, &evaluator, &error), STATUS_OK);
    scenario_base_values(scenario, values);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        ck_assert_int_eq(scenario_set_value(scenario, sets[i], false, values, &error), STATUS_OK);
    ck_assert_int_eq(scenario_evaluate(evaluator, values, &verdict, &constraint, layer, &error), STATUS_OK);
    ck_assert_int_eq(verdict, CONFIG_OK);
    model_parameters_init(&parameters);
    ck_assert_int_eq(time_model_init(&model, scenario_device(scenario), &parameters, &error), STATUS_OK);
    layer_time_predict(&model, layer, &time);
    scenario_evaluator_free(evaluator);
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    return time.time_s * 1e6;
}

static struct measure_result *compiled_like(const struct layer_case *layer)
{
    static const char *const entries[] = {"sparse_decode", "combine"};
    struct measure_result *result = calloc(1, sizeof *result);
    result->stage_count = 2;
    for (int i = 0; i < 2; i++) {
        strcpy(result->stages[i].entry, entries[i]);
        result->stages[i].registers_per_thread = layer->kernels[i].launch.registers_per_thread;
        result->stages[i].dynamic_smem_bytes = layer->kernels[i].launch.dynamic_smem_bytes;
    }
    result->stages[0].spill_load_bytes = (uint32_t)layer->kernels[0].loop.spill_bytes;
    return result;
}

START_TEST(a_campaign_predicts_what_the_scenario_says)
{
    struct measure_predictor *predictor;
    struct measure_config config;
    struct error error = {0};
    struct campaign_prediction first, more_registers, unknown;
    struct measure_facts other = h200;
    struct layer_case layer;
    double expected_us = scenario_time_us(&layer);
    struct measure_result *compiled = compiled_like(&layer);
    ck_assert_int_eq(measure_config_parse(config_text, &config, &error), STATUS_OK);
    ck_assert_int_eq(measure_predictor_create("occam 0 test", &predictor, &error), STATUS_OK);
    campaign_prediction_init(&first);
    measure_predictor_predict(predictor, &h200, &config, compiled, &first);
    assert_close_rel(first.time_us, expected_us, TOL_ROUNDING);
    ck_assert(first.time_lo_us < first.time_us && first.time_us < first.time_hi_us);
    ck_assert_str_eq(first.model, "uncalibrated");
    ck_assert_uint_eq(strlen(first.inputs_sha256), 64);
    compiled->stages[0].registers_per_thread = 255; /* the compiler's figure counts, not the table's */
    compiled->stages[0].spill_load_bytes = 400;
    campaign_prediction_init(&more_registers);
    measure_predictor_predict(predictor, &h200, &config, compiled, &more_registers);
    ck_assert(more_registers.time_us > first.time_us * 1.01);
    ck_assert_str_ne(more_registers.inputs_sha256, first.inputs_sha256);
    strcpy(other.gpu_name, "some device");
    campaign_prediction_init(&unknown);
    measure_predictor_predict(predictor, &other, &config, compiled, &unknown);
    ck_assert(isnan(unknown.time_us));
    ck_assert_str_eq(unknown.inputs_sha256, "");
    ck_assert_int_eq(measure_config_parse("launch_chain", &config, &error), STATUS_OK);
    measure_predictor_predict(predictor, &h200, &config, compiled, &unknown);
    ck_assert(isnan(unknown.time_us));
    measure_predictor_free(predictor);
    free(compiled);
}
END_TEST

Suite *suite_measure_plan(void)
{
    Suite *suite = suite_create("measure_plan");
    TCase *tests = tcase_create("core");
    tcase_add_test(tests, yaml_becomes_the_plain_form);
    tcase_add_loop_test(tests, wrong_yaml_is_named, 0, (int)(sizeof bad_plans / sizeof bad_plans[0]));
    tcase_add_test(tests, a_long_range_by_factor_ends);
    tcase_add_test(tests, a_large_plan_is_drawn_evenly);
    tcase_add_test(tests, a_plan_beyond_counting_is_refused);
    tcase_add_test(tests, a_campaign_predicts_what_the_scenario_says);
    suite_add_tcase(suite, tests);
    return suite;
}
