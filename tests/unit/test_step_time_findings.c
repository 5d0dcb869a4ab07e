/* SPDX-License-Identifier: GPL-3.0-or-later
 * Findings about concurrency tables: each rule on made-up points, silence on a clean line, and published checks. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "calibrate/step_time_findings.h"
#include "model/predict/step_time.h"
#include "tests/support/assert_close.h"
#include "tests/support/serving_curves.h"
#include "tests/support/shared_data.h"

/* Figures that were published with "about" in front: two units of their last digit. */
#define TOL_ABOUT(value, last_digit) (2.0 * (last_digit) / (value))

static const struct step_time_fit_options dense = {0.0, 0.0, 0, NULL};

static void find_or_fail(const struct serving_point *points, uint32_t count,
                         const struct step_time_fit_options *options, struct step_time_findings *findings)
{
    struct error error = {0};
    ck_assert_msg(step_time_find(points, count, 1.0, options, findings, &error) == STATUS_OK, "%s", error.text);
}

static const struct step_time_finding *find_kind(const struct step_time_findings *findings,
                                                 enum step_time_finding_kind kind)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        if (findings->items[i].kind == kind) {
            return &findings->items[i];
        }
    }
    return NULL;
}

/* Points at the powers of two from 1 on, throughput unknown. */
static uint32_t fill(const double *times_ms, uint32_t count, struct serving_point *points)
{
    for (uint32_t i = 0; i < count; i++) {
        points[i] = (struct serving_point){(double)(1u << i), times_ms[i] * 1e-3, 0.0, (double)NAN};
    }
    return count;
}

START_TEST(test_a_clean_line_is_clean)
{
    struct serving_point points[8];
    struct step_time_findings findings;
    double times_ms[8];
    for (int i = 0; i < 8; i++) {
        times_ms[i] = 18.0 + 1.05 * (1 << i);
    }
    find_or_fail(points, fill(times_ms, 6, points), &dense, &findings);
    ck_assert_uint_eq(findings.count, 1);
    ck_assert_int_eq(findings.items[0].kind, STEP_TIME_SLOPE_MIXED);
    assert_close_rel(findings.items[0].value, 1.05 * 32 / (18.0 + 1.05 * 32), 1e-9);
    find_or_fail(points, fill(times_ms, 3, points), &dense, &findings);
    ck_assert_uint_eq(findings.count, 0);
}
END_TEST

/* Throughput given by the very same step time adds nothing; apart from it, it tells what ran. */
START_TEST(test_limits)
{
    struct serving_point points[7];
    struct step_time_findings findings;
    for (int i = 0; i < 7; i++) {
        double offered = 1 << i, running = fmin(offered, 20.0), step_s = 0.018 + 0.00105 * running;
        points[i] = (struct serving_point){offered, step_s, 0.0, running / step_s};
    }
    find_or_fail(points, 7, &dense, &findings);
    const struct step_time_finding *finding = find_kind(&findings, STEP_TIME_ADMISSION);
    ck_assert(finding != NULL && find_kind(&findings, STEP_TIME_PLATEAU) == NULL);
    assert_close_rel(finding->value, 20.0, TOL_ROUNDING);
    ck_assert_double_eq(finding->from, 32.0);
    ck_assert(step_time_use_running_batch(points, 7, 1.0));
    assert_close_rel(points[6].concurrency, 20.0, TOL_ROUNDING);
    for (int i = 0; i < 7; i++) { /* the same table from its throughput alone */
        points[i] = (struct serving_point){1 << i, (1 << i) / points[i].throughput_tokens_per_s, 0.0,
                                           points[i].throughput_tokens_per_s};
    }
    find_or_fail(points, 7, &dense, &findings);
    ck_assert(find_kind(&findings, STEP_TIME_PLATEAU) != NULL && find_kind(&findings, STEP_TIME_ADMISSION) == NULL);
    for (int i = 0; i < 7; i++) { /* two thirds run throughout: no limit, but not what was offered */
        points[i].throughput_tokens_per_s = 0.66 * points[i].concurrency / (0.018 + 0.00105 * points[i].concurrency);
        points[i].step_time_s = 0.018 + 0.00105 * points[i].concurrency;
    }
    find_or_fail(points, 7, &dense, &findings);
    finding = find_kind(&findings, STEP_TIME_BELOW);
    ck_assert(finding != NULL && find_kind(&findings, STEP_TIME_ADMISSION) == NULL);
    assert_close_rel(finding->value, 0.66, 1e-9);
    points[2].throughput_tokens_per_s *= 8.0; /* per GPU against all */
    double before = points[2].concurrency;
    find_or_fail(points, 7, &dense, &findings);
    ck_assert(find_kind(&findings, STEP_TIME_ABOVE) != NULL);
    ck_assert(!step_time_use_running_batch(points, 7, 1.0));
    ck_assert_double_eq(points[2].concurrency, before);
    points[2].throughput_tokens_per_s = (double)NAN;
    ck_assert(!step_time_use_running_batch(points, 7, 1.0));
}
END_TEST

START_TEST(test_steps_and_outliers)
{
    const double cliff[] = {10, 11, 12, 14, 17, 50, 60}, warm[] = {40, 11, 12, 14, 17, 23, 35};
    const double outlier[] = {10, 11, 13, 22, 22, 34, 58}, bend[] = {10, 10.5, 11.5, 13.5, 17.5, 25.5, 41.5};
    struct serving_point points[7];
    struct step_time_findings findings;
    find_or_fail(points, fill(cliff, 7, points), &dense, &findings);
    const struct step_time_finding *finding = find_kind(&findings, STEP_TIME_CLIFF);
    ck_assert(finding != NULL && finding->from == 16.0 && finding->to == 32.0);
    assert_close_rel(finding->value, 50.0 / 17.0, TOL_ROUNDING);
    ck_assert(find_kind(&findings, STEP_TIME_OUTLIER) == NULL);
    find_or_fail(points, fill(warm, 7, points), &dense, &findings);
    finding = find_kind(&findings, STEP_TIME_FALLING);
    ck_assert(finding != NULL && finding->from == 1.0 && strstr(finding->text, "warm-up") != NULL);
    find_or_fail(points, fill(outlier, 7, points), &dense, &findings);
    finding = find_kind(&findings, STEP_TIME_OUTLIER);
    ck_assert(finding != NULL && finding->from == 8.0 && finding->value > 0.2);
    find_or_fail(points, fill(bend, 7, points), &dense, &findings);
    ck_assert(find_kind(&findings, STEP_TIME_OUTLIER) == NULL && find_kind(&findings, STEP_TIME_CLIFF) == NULL);
}
END_TEST

/* k/E = 8/256: 90 % of the experts from 73 requests on, 20 % up to 7. */
START_TEST(test_inseparable_terms)
{
    const struct step_time_fit_options moe = {8.0, 256.0, 0, NULL};
    struct serving_point points[4];
    struct step_time_findings findings;
    const double high[] = {80, 128, 256, 512}, low[] = {1, 2, 4, 6}, both[] = {4, 16, 64, 128},
                 narrow[] = {16, 18, 20, 24};
    const double *tables[] = {high, low, both, narrow};
    const double separating[] = {18.0, 73.0, 0.0, 1.0};
    for (int table = 0; table < 4; table++) {
        for (int i = 0; i < 4; i++) {
            points[i] = (struct serving_point){tables[table][i], 0.01 + 1e-4 * tables[table][i], 0.0, (double)NAN};
        }
        find_or_fail(points, 4, &moe, &findings);
        const struct step_time_finding *finding = find_kind(&findings, STEP_TIME_INSEPARABLE);
        ck_assert_int_eq(finding != NULL, separating[table] > 0.0);
        if (finding != NULL) {
            ck_assert_double_eq(finding->value, separating[table]);
        }
    }
}
END_TEST

START_TEST(test_odd_input)
{
    struct serving_point points[SERVING_POINTS_MAX] = {{0}};
    struct step_time_findings findings;
    struct error error = {0};
    ck_assert_int_eq(step_time_find(points, 0, 1.0, &dense, &findings, &error), STATUS_BAD_DATA);
    points[0] = (struct serving_point){1.0, (double)NAN, 0.0, (double)NAN};
    ck_assert_int_eq(step_time_find(points, 1, 1.0, &dense, &findings, &error), STATUS_BAD_DATA);
    points[0].step_time_s = 0.01;
    find_or_fail(points, 1, &dense, &findings);
    for (int i = 0; i < SERVING_POINTS_MAX; i++) { /* a saw: far more findings than there is room for */
        points[i] = (struct serving_point){1.0 + i, i % 2 == 0 ? 1e-6 : 1e6, 0.0, 1e-300};
    }
    find_or_fail(points, SERVING_POINTS_MAX, &dense, &findings);
    ck_assert_uint_eq(findings.count, STEP_TIME_FINDINGS_MAX);
    for (int kind = 0; kind < STEP_TIME_FINDING_KIND_COUNT; kind++) {
        ck_assert(strlen(step_time_finding_name((enum step_time_finding_kind)kind)) > 0);
    }
}
END_TEST

START_TEST(test_measured)
{
    static const struct {
        const char *curve;
        enum step_time_finding_kind kind;
        double from, to, value, tolerance;
    } checks[] = {
        {"nim_llama33_70b_2xh100_fp8_5k500_v180", STEP_TIME_ADMISSION, 100, 250, 85.8, TOL_ABOUT(85.8, 0.1)},
        {"rtx6k_glm-dcp1-mtp0_ctx0k", STEP_TIME_CLIFF, 16, 32, 2.7, TOL_ABOUT(2.7, 0.1)},
        {"gptoss_h200_tp1_8k1k_medianitl", STEP_TIME_CONCAVE, 128, 128, 0.32, TOL_ABOUT(0.32, 0.01)},
    };
    struct serving_curves curves;
    struct error error = {0};
    char path[1024];
    if (shared_data_path("step_time_findings", "data/serving_curves.csv", path, sizeof path) == NULL) {
        return;
    }
    ck_assert_msg(serving_curves_read(path, &curves, &error) == STATUS_OK, "%s", error.text);
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const struct serving_curve *curve = serving_curves_find(&curves, checks[i].curve);
        struct step_time_findings findings;
        ck_assert(curve != NULL);
        struct step_time_fit_options options = {curve->experts_per_token, curve->experts, 0, NULL};
        find_or_fail(curve->points, curve->count, &options, &findings);
        const struct step_time_finding *finding = find_kind(&findings, checks[i].kind);
        ck_assert_msg(finding != NULL, "%s: no %s", curve->name, step_time_finding_name(checks[i].kind));
        ck_assert_double_eq(finding->from, checks[i].from);
        ck_assert_double_eq(finding->to, checks[i].to);
        assert_close_rel(finding->value, checks[i].value, checks[i].tolerance);
        if (checks[i].kind == STEP_TIME_CONCAVE) {
            ck_assert_msg(strstr(finding->text, "11.3 %") != NULL, "%s", finding->text);
        }
    }
    serving_curves_release(&curves);
}
END_TEST

Suite *suite_step_time_findings(void)
{
    Suite *suite = suite_create("step_time_findings");
    TCase *rules = tcase_create("rules");
    tcase_add_test(rules, test_a_clean_line_is_clean);
    tcase_add_test(rules, test_limits);
    tcase_add_test(rules, test_steps_and_outliers);
    tcase_add_test(rules, test_inseparable_terms);
    tcase_add_test(rules, test_odd_input);
    tcase_add_test(rules, test_measured);
    suite_add_tcase(suite, rules);
    return suite;
}
