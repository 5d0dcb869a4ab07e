/* SPDX-License-Identifier: GPL-3.0-or-later
 * Validation: what was trained on is never judged, the figures are what they say, and nothing can be learnt from
 * shuffled times. */
#include <check.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/validation.h"
#include "calibrate/validation_private.h"
#include "tests/support/assert_close.h"
#include "tests/support/synthetic_rows.h"

enum {
    ROWS = 120
};

static struct synthetic_rows data;

static void setup(void)
{
    synthetic_rows_create(&data, "gqa-split-decode", ROWS, 31, 0.7, 0.03);
}

static void teardown(void)
{
    synthetic_rows_release(&data);
}

static struct validation_options quick(enum validation_split split)
{
    struct validation_options options;
    validation_options_init(&options);
    options.split = split;
    options.seeds = 4;
    options.no_baselines = options.no_choice = options.no_residual = true;
    return options;
}

static void run(const struct validation_options *options, struct validation *result)
{
    struct error error = {0};
    ck_assert_msg(validation_run(data.device, &data.priors, data.scenario, &data.rows, options, result, &error) ==
                      STATUS_OK,
                  "%s", error.text);
}

static void refused(const struct validation_options *options, enum status wanted, const char *words)
{
    struct validation result;
    struct error error = {0};
    const enum status status =
        validation_run(data.device, &data.priors, data.scenario, &data.rows, options, &result, &error);
    ck_assert_msg(status == wanted && strstr(error.text, words) != NULL, "%s: %s", status_name(status), error.text);
}

START_TEST(trained_rows_are_never_judged)
{
    for (int split = VALIDATION_RANDOM; split <= VALIDATION_GROUPS; split++) {
        const struct validation_options options = quick((enum validation_split)split);
        struct validation result;
        run(&options, &result);
        ck_assert_uint_eq(result.train_rows, 24);
        for (size_t s = 0; s < result.splits; s++) {
            size_t trained = 0, judged = 0;
            for (size_t i = 0; i < ROWS; i++) {
                const struct validation_prediction *prediction = &result.predictions[s * ROWS + i];
                ck_assert(!(prediction->trained && prediction->held_out));
                ck_assert(!prediction->held_out || prediction->time_s > 0);
                ck_assert(prediction->held_out || prediction->time_s == 0);
                trained += prediction->trained;
                judged += prediction->held_out;
            }
            ck_assert_uint_eq(trained, 24);
            ck_assert(split == VALIDATION_GROUPS ? judged > 0 : judged == ROWS - 24);
        }
        validation_release(&result);
    }
}
END_TEST

START_TEST(whole_groups_are_held_out)
{
    struct validation_options options = quick(VALIDATION_GROUPS);
    struct validation result;
    options.group_variable = scenario_variable_find(data.scenario, "num_warps");
    run(&options, &result);
    for (size_t s = 0; s < result.splits; s++) {
        double held = -1; /* a tenth of four values, at least one */
        for (int pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < ROWS; i++) {
                const double warps = data.rows.values[i * data.rows.variable_count + (size_t)options.group_variable];
                const bool out = result.predictions[s * ROWS + i].held_out;
                held = out && held < 0 ? warps : held;
                ck_assert(pass == 0 || out == (warps == held));
            }
        }
    }
    validation_release(&result);
}
END_TEST

START_TEST(intervals_cover_what_they_promise)
{
    struct validation_options options = quick(VALIDATION_RANDOM);
    double covered = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct validation result;
        teardown();
        synthetic_rows_create(&data, "gqa-split-decode", ROWS, seed, 0.7, 0.03);
        run(&options, &result);
        covered += result.pooled_coverage_fraction / 4;
        ck_assert(result.half_width_percent.median > 3 && result.half_width_percent.median < 40);
        ck_assert(result.model.metrics[VALIDATION_SPEARMAN].median > 0.95);
        ck_assert(result.spearman_lo < result.spearman_hi && result.spearman_hi <= 1);
        validation_release(&result);
    }
    ck_assert_msg(covered > 0.85 && covered < 0.98, "90 %% intervals cover %.1f %%", 100 * covered);
}
END_TEST

START_TEST(nothing_is_learnt_from_shuffled_times)
{
    struct validation_options options = quick(VALIDATION_RANDOM);
    struct validation result;
    options.shuffle_times = true;
    options.no_baselines = options.no_residual = false;
    run(&options, &result);
    const double trivial = result.baselines[BASELINE_CONSTANT].metrics[VALIDATION_MEDIAN_APE_PERCENT].median;
    const double model = result.model.metrics[VALIDATION_MEDIAN_APE_PERCENT].median;
    ck_assert(fabs(result.model.metrics[VALIDATION_SPEARMAN].median) < 0.25);
    ck_assert_msg(model > 0.85 * trivial, "%.1f %% where a constant reaches %.1f %%", model, trivial);
    for (int b = 0; b < BASELINE_CONSTANT; b++) {
        ck_assert(fabs(result.baselines[b].metrics[VALIDATION_SPEARMAN].median) < 0.3);
    }
    validation_release(&result);
}
END_TEST

START_TEST(threads_do_not_matter)
{
    struct validation_options options = quick(VALIDATION_DESIGN);
    struct validation one, three;
    options.no_choice = false;
    omp_set_num_threads(1);
    run(&options, &one);
    omp_set_num_threads(3);
    run(&options, &three);
    for (size_t i = 0; i < ROWS * one.splits; i++) {
        ck_assert(one.predictions[i].time_s == three.predictions[i].time_s);
        ck_assert(one.predictions[i].time_hi_s == three.predictions[i].time_hi_s);
    }
    ck_assert(one.top1_regret_percent == three.top1_regret_percent);
    validation_release(&one);
    validation_release(&three);
}
END_TEST

START_TEST(choices_are_judged_in_shapes_nobody_ran)
{
    struct validation_options options = quick(VALIDATION_RANDOM);
    struct validation result;
    teardown();
    synthetic_rows_create(&data, "gqa-split-decode", 400, 8, 0.5, 0); /* without noise the model is the truth */
    options.no_choice = false;
    options.train_rows = 60;
    run(&options, &result);
    ck_assert_uint_gt(result.shapes, 0);
    ck_assert_msg(result.top1_regret_percent >= 0 && result.top1_regret_percent < 3, "%g", result.top1_regret_percent);
    ck_assert(result.after_runs_regret_percent >= 0 && result.after_runs_regret_percent < 3);
    for (size_t c = 0; c < result.choice_count; c++) {
        ck_assert(result.choices[c].mean_ratio >= 1 && result.choices[c].max_ratio >= result.choices[c].mean_ratio);
        ck_assert(result.choices[c].cells > 0);
    }
    validation_release(&result);
}
END_TEST

/* 8, 16 and 24 CTAs on a card of 4 SMs with 4 slots each: half a wave, one, one and a half. Over slots 16 fill best and
 * 8 and 24 fill 0.5 and 0.75 of it, so the rule takes 16; over SMs all three fill, and 8 would be taken. */
START_TEST(fill_rule_counts_slots)
{
    const long knob = scenario_variable_find(data.scenario, "splits");
    ck_assert_int_ge(knob, 0);
    const double splits[] = {1, 2, 3}, times_s[] = {4, 2, 3};
    struct kernel_row rows[3];
    struct kernel_facts facts[3];
    uint32_t shapes[3] = {0};
    struct validation_prediction predictions[3];
    double values[3 * (SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX)] = {0};
    struct measured_rows measured = data.rows;
    measured.values = values;
    measured.count = 3;
    for (size_t i = 0; i < 3; i++) {
        rows[i] = data.rows.rows[0];
        rows[i].time_s = times_s[i];
        facts[i] = (struct kernel_facts){.grid_ctas = 8 * (uint64_t)splits[i], .waves = splits[i] / 2};
        predictions[i] = (struct validation_prediction){.time_s = splits[i], .held_out = true};
        values[i * measured.variable_count + (size_t)knob] = splits[i];
    }
    const struct validation_job job = {.scenario = data.scenario,
                                       .measured = &measured,
                                       .rows = rows,
                                       .shapes = shapes,
                                       .shape_count = 1,
                                       .sm_count = 4,
                                       .facts = facts};
    struct validation result = {.splits = 1};
    struct error error = {0};
    ck_assert_int_eq(validation_choose(&job, predictions, &result, &error), STATUS_OK);
    ck_assert_uint_eq(result.choice_count, 1);
    ck_assert_uint_eq(result.choices[0].variable, (size_t)knob);
    assert_close_rel(result.choices[0].rule_mean, 1, 1e-12);
    assert_close_rel(result.choices[0].rule_max, 1, 1e-12);
    assert_close_rel(result.choices[0].mean_ratio, 2, 1e-12); /* predicted best: 1 split */
    free(result.choices);
}
END_TEST

START_TEST(slices_and_worst_rows_add_up)
{
    const struct validation_options options = quick(VALIDATION_RANDOM);
    struct validation result;
    size_t rows = 0, judged = 0;
    run(&options, &result);
    for (size_t i = 0; i < result.slice_count && result.slices[i].regime; i++) {
        rows += result.slices[i].rows;
    }
    for (size_t i = 0; i < ROWS; i++) {
        bool seen = false;
        for (size_t s = 0; s < result.splits; s++) {
            seen = seen || result.predictions[s * ROWS + i].held_out;
        }
        judged += seen;
    }
    ck_assert_uint_eq(rows, judged);
    ck_assert_uint_eq(result.worst_count, VALIDATION_WORST_MAX);
    for (size_t i = 0; i < result.worst_count; i++) {
        ck_assert(i == 0 || result.worst[i].ape_percent <= result.worst[i - 1].ape_percent);
        ck_assert(result.worst[i].reason[0] != '\0' && result.worst[i].tests > 0);
    }
    validation_release(&result);
}
END_TEST

START_TEST(figures_are_what_they_say)
{
    const double predicted[] = {1.1, 1.8, 3.3, 4, 5}, measured[] = {1, 2, 3, 4, 10};
    double scratch[15], metrics[VALIDATION_METRIC_COUNT];
    validation_measure(predicted, measured, 5, scratch, metrics);
    assert_close_rel(metrics[VALIDATION_MEDIAN_APE_PERCENT], 10, 1e-12);
    assert_close_rel(metrics[VALIDATION_MAPE_PERCENT], (10 + 10 + 10 + 0 + 50) / 5.0, 1e-12);
    assert_close_rel(metrics[VALIDATION_MAX_APE_PERCENT], 50, 1e-12);
    assert_close_rel(metrics[VALIDATION_P90_APE_PERCENT], 10 + 0.6 * 40, 1e-12);
    assert_close_zero(metrics[VALIDATION_BIAS_PERCENT], 1e-12);
    assert_close_rel(metrics[VALIDATION_SPEARMAN], 1, 1e-12);
}
END_TEST

START_TEST(what_cannot_be_validated_is_refused)
{
    struct validation_options options = quick(VALIDATION_RANDOM);
    struct validation result;
    options.train_rows = 4;
    refused(&options, STATUS_BAD_DATA, "at least 5 rows, not 4");
    options.train_rows = ROWS - 1;
    refused(&options, STATUS_BAD_DATA, "at least 2 left to test");
    options = quick(VALIDATION_RANDOM);
    options.seeds = 0;
    refused(&options, STATUS_BAD_DATA, "0 splits");
    options = quick(VALIDATION_GROUPS);
    for (size_t i = 0; i < ROWS; i++) { /* one workload */
        for (size_t v = scenario_knob_count(data.scenario); v < data.rows.variable_count; v++) {
            data.rows.values[i * data.rows.variable_count + v] = 7;
        }
    }
    refused(&options, STATUS_BAD_DATA, "the same workload");
    options = quick(VALIDATION_RANDOM);
    options.no_choice = false; /* without a second shape there is no choice to judge, but the rest holds */
    run(&options, &result);
    ck_assert(isnan(result.top1_regret_percent) && result.shapes == 0);
    validation_release(&result);
    for (size_t i = 1; i < ROWS; i++) { /* one configuration, again and again */
        data.rows.rows[i] = data.rows.rows[0];
    }
    refused(&options, STATUS_BAD_DATA, "one configuration");
}
END_TEST

Suite *suite_validation(void);
Suite *suite_validation(void)
{
    Suite *suite = suite_create("validation");
    TCase *tests = tcase_create("validation");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, trained_rows_are_never_judged);
    tcase_add_test(tests, whole_groups_are_held_out);
    tcase_add_test(tests, intervals_cover_what_they_promise);
    tcase_add_test(tests, nothing_is_learnt_from_shuffled_times);
    tcase_add_test(tests, threads_do_not_matter);
    tcase_add_test(tests, choices_are_judged_in_shapes_nobody_ran);
    tcase_add_test(tests, fill_rule_counts_slots);
    tcase_add_test(tests, slices_and_worst_rows_add_up);
    tcase_add_test(tests, figures_are_what_they_say);
    tcase_add_test(tests, what_cannot_be_validated_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
