/* SPDX-License-Identifier: GPL-3.0-or-later
 * Workload that a scenario leaves open with `ask`: refused until it is answered, then like any other. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/scenario/scenario.h"
#include "tests/support/temp_dir.h"

Suite *suite_scenario_questions(void);

#define HEAD "name: open\ndevice: nvidia-h200\n"
#define TAIL                                                                                                           \
    "kernels:\n"                                                                                                       \
    "  copy:\n"                                                                                                        \
    "    grid: ctas\n"                                                                                                 \
    "    threads: 256\n"                                                                                               \
    "    registers: 32\n"                                                                                              \
    "    smem_bytes: 0\n"                                                                                              \
    "    loop: {iterations: turns, stream: {row_bytes: 4096}}\n"

static struct temp_dir folder;
static struct device_catalogue *catalogue;

static void set_up(void)
{
    struct error error = {0};
    temp_dir_create(&folder);
    ck_assert_int_eq(device_catalogue_create(&catalogue, &error), STATUS_OK);
}
static void tear_down(void)
{
    device_catalogue_free(catalogue);
    temp_dir_remove(&folder);
}

static enum status read_text(const char *text, struct scenario **scenario, struct error *error)
{
    char path[600];
    memset(error, 0, sizeof *error);
    (void)temp_dir_write(&folder, "open.yaml", text, strlen(text), path, sizeof path);
    return scenario_read(path, catalogue, NULL, scenario, error);
}

START_TEST(open_until_answered)
{
    struct scenario *scenario;
    struct scenario_evaluator *evaluator;
    struct error error;
    ck_assert_int_eq(read_text(HEAD
                               "workload: {ctas: {ask: 'CTAs of the launch'}, turns: {ask: \"per CTA\"}, C: 3}\n" TAIL,
                               &scenario, &error),
                     STATUS_OK);
    ck_assert_str_eq(scenario_variable_get(scenario, 0)->question, "CTAs of the launch");
    ck_assert_ptr_null(scenario_variable_get(scenario, 2)->question);
    ck_assert_int_eq(scenario_evaluator_create(scenario, &evaluator, &error), STATUS_OK);
    double values[3];
    scenario_base_values(scenario, values);
    ck_assert(isnan(values[0]) && isnan(values[1]));
    enum config_verdict verdict;
    size_t constraint;
    struct layer_case *layer = calloc(1, sizeof *layer);
    ck_assert_int_eq(scenario_evaluate(evaluator, values, &verdict, &constraint, layer, &error), STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "-s ctas=... (CTAs of the launch), -s turns=... (per CTA)"));
    ck_assert_int_eq(scenario_set_value(scenario, "ctas=264", false, values, &error), STATUS_OK);
    ck_assert_int_eq(scenario_evaluate(evaluator, values, &verdict, &constraint, layer, &error), STATUS_USAGE);
    ck_assert_ptr_null(strstr(error.text, "ctas"));
    ck_assert_int_eq(scenario_set_value(scenario, "turns=17", false, values, &error), STATUS_OK);
    ck_assert_int_eq(scenario_evaluate(evaluator, values, &verdict, &constraint, layer, &error), STATUS_OK);
    ck_assert_uint_eq(layer->kernels[0].launch.grid_ctas, 264);
    ck_assert_double_eq(layer->kernels[0].loop.iterations, 17);
    ck_assert_int_ne(scenario_set_value(scenario, "turns=nan", false, values, &error), STATUS_OK);
    free(layer);
    scenario_evaluator_free(evaluator);
    scenario_free(scenario);
}
END_TEST

START_TEST(wrong_questions)
{
    static const char *const wrong[] = {
        HEAD "workload: {ctas: {ask: ''}, turns: 1}\n" TAIL,
        HEAD "workload: {ctas: {ask: [1]}, turns: 1}\n" TAIL,
        HEAD "workload: {ctas: {ask: how many, base: 3}, turns: 1}\n" TAIL,
        HEAD "knobs: {ctas: {ask: how many}}\nbase: {ctas: 1}\nworkload: {turns: 1}\n" TAIL,
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct scenario *scenario;
        struct error error;
        ck_assert_msg(read_text(wrong[i], &scenario, &error) == STATUS_BAD_DATA, "%s", wrong[i]);
        ck_assert_uint_eq(error.line, 3);
    }
}
END_TEST

Suite *suite_scenario_questions(void)
{
    Suite *suite = suite_create("scenario_questions");
    TCase *questions = tcase_create("questions");
    tcase_add_checked_fixture(questions, set_up, tear_down);
    tcase_add_test(questions, open_until_answered);
    tcase_add_test(questions, wrong_questions);
    suite_add_tcase(suite, questions);
    return suite;
}
