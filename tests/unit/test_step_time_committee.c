/* SPDX-License-Identifier: GPL-3.0-or-later
 * Committee of step-time forms: members, mean, weights, intervals that cover, bootstrap, and held-out points of
 * measured curves. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "calibrate/step_time_committee.h"
#include "model/predict/step_time.h"
#include "tests/support/assert_close.h"
#include "tests/support/serving_curves.h"
#include "tests/support/shared_data.h"

/* The same sums in another order. */
#define TOL_REPEATED 1e-12
/* An exact line through forms that are searched: the solver's tolerance on their nonlinear parameter. */
#define TOL_SEARCH 1e-5

enum {
    POINTS = 5,
    TRIALS = 200,
    POOL_MAX = 2048
};
static const double concurrencies[POINTS] = {4, 8, 16, 32, 64};
static const struct step_time_fit_options dense = {0.0, 0.0, 0, NULL}, moe = {8.0, 256.0, 0, NULL};

static struct step_time_law known_law(enum step_time_form form, double a, double b, double c)
{
    struct step_time_law law;
    memset(&law, 0, sizeof law);
    law.form = form;
    law.parameters[0] = a;
    law.parameters[1] = b;
    law.parameters[2] = c;
    law.experts_per_token = moe.experts_per_token;
    law.experts = moe.experts;
    return law;
}

static void fill(const struct step_time_law *law, const double *at, uint32_t count, struct serving_point *points)
{
    for (uint32_t i = 0; i < count; i++) {
        points[i] = (struct serving_point){at[i], step_time_evaluate(law, at[i]), 0.0, (double)NAN};
    }
}

static void fit_or_fail(const struct serving_point *points, uint32_t count, const struct step_time_fit_options *options,
                        struct step_time_committee *committee)
{
    struct error error = {0};
    ck_assert_msg(step_time_committee_fit(points, count, options, committee, &error) == STATUS_OK, "%s", error.text);
}

/* The mean again from fits of the single forms, with weights worked out here. */
START_TEST(test_mean_of_the_forms)
{
    static const enum step_time_form forms[2][4] = {
        {STEP_TIME_LINE, STEP_TIME_POWER, STEP_TIME_SQRT, STEP_TIME_SATURATING},
        {STEP_TIME_COVERAGE, STEP_TIME_SQRT, STEP_TIME_SATURATING, STEP_TIME_FORM_COUNT}};
    const double times_s[POINTS] = {0.0101, 0.0118, 0.0149, 0.0197, 0.0302};
    for (int has_experts = 0; has_experts < 2; has_experts++) {
        const struct step_time_fit_options *options = has_experts ? &moe : &dense;
        struct serving_point points[POINTS];
        struct step_time_committee committee;
        struct error error = {0};
        double log_sum = 0.0, weight_sum = 0.0, squares = 0.0;
        for (int i = 0; i < POINTS; i++) {
            points[i] = (struct serving_point){concurrencies[i], times_s[i], 0.0, (double)NAN};
        }
        fit_or_fail(points, POINTS, options, &committee);
        ck_assert(committee.has_law);
        ck_assert_uint_eq(committee.law.member_count, has_experts ? 3 : 4);
        for (uint32_t i = 0; i < committee.law.member_count; i++) {
            struct step_time_fit fit;
            double square = 0.0;
            ck_assert_int_eq(committee.law.members[i].form, forms[has_experts][i]);
            ck_assert_int_eq(step_time_fit_once(forms[has_experts][i], points, POINTS, options, &fit, &error),
                             STATUS_OK);
            for (int p = 0; p < POINTS; p++) {
                square += pow(step_time_evaluate(&fit.law, concurrencies[p]) / times_s[p] - 1.0, 2) / POINTS;
            }
            double weight = pow(1.0 + square / (0.05 * 0.05), -POINTS / 4.0);
            weight_sum += weight;
            squares += weight * square;
            log_sum += weight * log(step_time_evaluate(&fit.law, 100.0));
        }
        assert_close_rel(step_time_evaluate(&committee.law, 100.0), exp(log_sum / weight_sum), TOL_REPEATED);
        double scatter = squares / weight_sum * POINTS / (POINTS - 2.0);
        assert_close_rel(committee.law.relative_sigma, sqrt(0.035 * 0.035 / POINTS + scatter), TOL_REPEATED);
        ck_assert_int_eq(committee.law.degrees_of_freedom, POINTS - 1);
        ck_assert(strstr(committee.reason, has_experts ? "coverage" : "line") != NULL);
    }
}
END_TEST

/* Every form contains the line: no spread, so sigma is the floor, and grows outside as STEP-18 says. */
START_TEST(test_a_line_stays_a_line)
{
    struct step_time_law line = known_law(STEP_TIME_LINE, 0.018, 0.00105, 0.0);
    struct serving_point points[POINTS];
    struct step_time_committee committee;
    fill(&line, concurrencies, POINTS, points);
    fit_or_fail(points, POINTS, &dense, &committee);
    double floor = 0.035 / sqrt(POINTS);
    for (double n = 1.0; n <= 256.0; n *= 2.0) {
        assert_close_rel(step_time_evaluate(&committee.law, n), step_time_evaluate(&line, n), TOL_SEARCH);
    }
    assert_close_rel(step_time_relative_sigma(&committee.law, 24.0), floor, 1e-4);
    assert_close_rel(step_time_relative_sigma(&committee.law, 128.0), 2.4 * floor, 1e-4);
    assert_close_rel(step_time_relative_sigma(&committee.law, 256.0), 3.8 * floor, 1e-4);
    assert_close_rel(step_time_relative_sigma(&committee.law, 2.0), 1.5 * floor, 1e-4);
}
END_TEST

/* Forty points of a strong bend leave the line no say, three points leave it one. */
START_TEST(test_points_take_weight_from_a_wrong_form)
{
    struct step_time_law bend = known_law(STEP_TIME_SQRT, 0.002, 0.004, 0.0);
    double many[40], three[3] = {1, 16, 128};
    struct serving_point points[40];
    struct step_time_committee committee;
    for (int i = 0; i < 40; i++) {
        many[i] = pow(128.0, i / 39.0);
    }
    fill(&bend, many, 40, points);
    fit_or_fail(points, 40, &dense, &committee);
    ck_assert_int_eq(committee.law.members[0].form, STEP_TIME_LINE);
    ck_assert_msg(committee.law.members[0].weight < 1e-3, "the line keeps %g", committee.law.members[0].weight);
    /* sqrt and power hold the truth, saturating misses by about 1 % and keeps up to a third of the say. */
    assert_close_rel(step_time_evaluate(&committee.law, 50.0), step_time_evaluate(&bend, 50.0), 5e-3);
    fill(&bend, three, 3, points);
    fit_or_fail(points, 3, &dense, &committee);
    ck_assert(committee.law.members[0].weight > 0.05);
    ck_assert_uint_eq(committee.law.member_count, 3); /* four parameters are too many for saturating */
}
END_TEST

START_TEST(test_too_few_or_bad_points)
{
    struct serving_point points[4] = {
        {4, 0.01, 0, (double)NAN}, {4, 0.011, 0, (double)NAN}, {8, 0.012, 0, (double)NAN}, {8, -1.0, 0, (double)NAN}};
    struct step_time_committee committee;
    struct error error = {0};
    fit_or_fail(points, 3, &dense, &committee);
    ck_assert(!committee.has_law);
    ck_assert_str_eq(committee.reason, "2 distinct concurrencies are too few for a committee, which needs 3");
    fit_or_fail(points, 1, &moe, &committee);
    ck_assert_str_eq(committee.reason, "1 distinct concurrency is too few for a committee, which needs 3");
    ck_assert_int_eq(step_time_committee_fit(points, 4, &dense, &committee, &error), STATUS_BAD_DATA);
    ck_assert(strstr(error.text, "point 4") != NULL);
    ck_assert_int_eq(step_time_committee_fit(points, 0, &dense, &committee, &error), STATUS_BAD_DATA);
    ck_assert_int_eq(step_time_committee_fit(points, SERVING_POINTS_MAX + 1, &dense, &committee, &error), STATUS_LIMIT);
}
END_TEST

START_TEST(test_stated_sigmas_count)
{
    struct step_time_law line = known_law(STEP_TIME_LINE, 0.018, 0.00105, 0.0);
    struct serving_point points[POINTS];
    struct step_time_committee committee;
    fill(&line, concurrencies, POINTS, points);
    for (int i = 0; i < POINTS; i++) {
        points[i].relative_sigma = 0.1;
    }
    fit_or_fail(points, POINTS, &dense, &committee);
    assert_close_rel(committee.law.relative_sigma, hypot(0.1, 0.035 / sqrt(POINTS)), 1e-9);
}
END_TEST

/* Noisy points of laws of each kind, five with the scatter that public curves have and nine with twice as much: at
 * least 85 % of new observations inside, within and one doubling beyond. */
START_TEST(test_intervals_cover)
{
    const struct step_time_law laws[] = {
        known_law(STEP_TIME_LINE, 0.018, 0.00105, 0.0), known_law(STEP_TIME_SQRT, 0.012, 0.0027, 0.0003),
        known_law(STEP_TIME_POWER, 0.010, 0.0033, 0.73), known_law(STEP_TIME_COVERAGE, 0.0113, 0.0179, 0.00024)};
    const double nine[] = {1, 2, 4, 8, 12, 16, 32, 48, 64}, asked[2] = {24.0, 128.0};
    const bool is_noisy = _i >= 4;
    const double noise = is_noisy ? 0.03 : 0.015, *at = is_noisy ? nine : concurrencies;
    const uint32_t count = is_noisy ? 9 : POINTS;
    const struct step_time_law *law = &laws[_i % 4];
    const struct step_time_fit_options *options = law->form == STEP_TIME_COVERAGE ? &moe : &dense;
    struct random_stream stream;
    int inside[2] = {0};
    random_init(&stream, 20261129, (uint64_t)_i);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct serving_point points[9];
        struct step_time_committee committee;
        fill(law, at, count, points);
        for (uint32_t i = 0; i < count; i++) {
            points[i].step_time_s *= exp(noise * random_normal(&stream));
        }
        fit_or_fail(points, count, options, &committee);
        double factor = step_time_quantile(committee.law.degrees_of_freedom, 0.9);
        for (int i = 0; i < 2; i++) {
            double observed_s = step_time_evaluate(law, asked[i]) * exp(noise * random_normal(&stream));
            double miss = fabs(log(observed_s / step_time_evaluate(&committee.law, asked[i])));
            inside[i] += miss <= factor * step_time_relative_sigma(&committee.law, asked[i]);
        }
    }
    ck_assert_msg(inside[0] >= TRIALS * 85 / 100 && inside[1] >= TRIALS * 85 / 100, "%s: %d and %d of %d inside",
                  step_time_form_name(law->form), inside[0], inside[1], TRIALS);
}
END_TEST

START_TEST(test_serves_as_a_law)
{
    struct step_time_law truth = known_law(STEP_TIME_COVERAGE, 0.0113, 0.0179, 0.00024);
    static struct serving_model serving;
    struct step_time_committee committee;
    struct error error = {0};
    serving = (struct serving_model){.present = true,
                                     .base_from_points = true,
                                     .point_count = POINTS,
                                     .tokens_per_step_per_request = 1.0,
                                     .itl_limit_s = (double)NAN,
                                     .kernel_share_measured = (double)NAN};
    fill(&truth, concurrencies, POINTS, serving.points);
    fit_or_fail(serving.points, POINTS, &moe, &committee);
    serving.base = committee.law;
    ck_assert_msg(serving_model_validate(&serving, &error) == STATUS_OK, "%s", error.text);
    ck_assert_str_eq(step_time_form_name(serving.base.form), "committee");
    double n = 1.0;
    while (step_time_evaluate(&serving.base, n + 1.0) <= 0.025) {
        n += 1.0;
    }
    ck_assert_double_eq(concurrency_within_itl(&serving, 0.025, 1e5), n);
    serving.base.members[0].weight *= 2.0;
    ck_assert_int_eq(serving_model_validate(&serving, &error), STATUS_BAD_DATA);
    ck_assert(strstr(error.text, "weights") != NULL);
    serving.base = committee.law;
    serving.base.members[1].form = STEP_TIME_COMMITTEE;
    ck_assert_int_eq(serving_model_validate(&serving, &error), STATUS_BAD_DATA);
    serving.base.member_count = STEP_TIME_MEMBERS_MAX + 1;
    ck_assert_int_eq(serving_model_validate(&serving, &error), STATUS_BAD_DATA);
}
END_TEST

START_TEST(test_bootstrap)
{
    struct step_time_law truth = known_law(STEP_TIME_LINE, 0.018, 0.00105, 0.0);
    const double asked[2] = {24.0, 128.0};
    struct serving_point points[POINTS];
    struct step_time_committee committee;
    struct error error = {0};
    double first[2], again[2], wider[2];
    fill(&truth, concurrencies, POINTS, points);
    fit_or_fail(points, POINTS, &dense, &committee);
    ck_assert_int_eq(step_time_committee_bootstrap(&committee, points, POINTS, &dense, 200, 1, asked, 2, first, &error),
                     STATUS_OK);
    ck_assert_int_eq(step_time_committee_bootstrap(&committee, points, POINTS, &dense, 200, 1, asked, 2, again, &error),
                     STATUS_OK);
    ck_assert(memcmp(first, again, sizeof first) == 0);
    /* A curve through five points is known better than one point inside, and worse beyond. */
    ck_assert(first[0] > 0.2 * committee.law.relative_sigma && first[0] < committee.law.relative_sigma);
    ck_assert(first[1] > first[0]);
    committee.law.relative_sigma *= 2.0;
    ck_assert_int_eq(step_time_committee_bootstrap(&committee, points, POINTS, &dense, 200, 1, asked, 2, wider, &error),
                     STATUS_OK);
    ck_assert(wider[0] > 1.6 * first[0] && wider[0] < 2.4 * first[0]);
}
END_TEST

/* Held-out errors of one class of curves. */
struct pool {
    size_t three_count, doubling_count, interior_count, interior_inside, doubling_inside;
    double three[POOL_MAX], doubling[POOL_MAX];
};

static double held_out_error(const struct serving_curve *curve, const bool *used, uint32_t out, bool *inside)
{
    struct step_time_fit_options options = {curve->experts_per_token, curve->experts, 0, NULL};
    struct serving_point points[CURVE_POINTS_MAX];
    struct step_time_committee committee;
    uint32_t count = 0;
    for (uint32_t i = 0; i < curve->count; i++) {
        if (used[i]) {
            points[count++] = curve->points[i];
        }
    }
    fit_or_fail(points, count, &options, &committee);
    ck_assert(committee.has_law);
    double n = curve->points[out].concurrency;
    double miss = step_time_evaluate(&committee.law, n) / curve->points[out].step_time_s - 1.0;
    *inside = fabs(log1p(miss)) <=
              step_time_quantile(committee.law.degrees_of_freedom, 0.9) * step_time_relative_sigma(&committee.law, n);
    return miss;
}

static void judge_curve(const struct serving_curve *curve, struct pool *pool)
{
    bool used[CURVE_POINTS_MAX] = {false}, inside;
    uint32_t last = curve->count - 1;
    used[0] = used[curve->count / 2] = used[last] = true;
    for (uint32_t i = 0; i < curve->count; i++) {
        if (!used[i]) {
            pool->three[pool->three_count++] = fabs(held_out_error(curve, used, i, &inside));
        }
    }
    for (uint32_t i = 0; i < curve->count; i++) {
        used[i] = true;
    }
    for (uint32_t out = 1; out <= last; out++) {
        used[out] = false;
        double miss = held_out_error(curve, used, out, &inside);
        used[out] = true;
        if (out == last) {
            pool->doubling[pool->doubling_count++] = miss;
            pool->doubling_inside += inside;
        } else {
            pool->interior_count++;
            pool->interior_inside += inside;
        }
    }
}

/* The figures that are asked of the 222 public curves. */
START_TEST(test_measured_curves)
{
    const double three_most[2] = {0.018, 0.024};
    static struct pool pools[2];
    struct serving_curves curves;
    struct error error = {0};
    char path[1024];
    if (shared_data_path("step_time_committee", "data/serving_curves.csv", path, sizeof path) == NULL) {
        return;
    }
    ck_assert_msg(serving_curves_read(path, &curves, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(curves.count, 222);
    for (size_t i = 0; i < curves.count; i++) {
        judge_curve(&curves.curves[i], &pools[curves.curves[i].experts > 0.0]);
    }
    for (int m = 0; m < 2; m++) {
        struct pool *pool = &pools[m];
        double bias = median_in_place(pool->doubling, pool->doubling_count);
        for (size_t i = 0; i < pool->doubling_count; i++) {
            pool->doubling[i] = fabs(pool->doubling[i]);
        }
        double three = median_in_place(pool->three, pool->three_count);
        double doubling = median_in_place(pool->doubling, pool->doubling_count);
        double interior_share = (double)pool->interior_inside / (double)pool->interior_count;
        double doubling_share = (double)pool->doubling_inside / (double)pool->doubling_count;
        ck_assert_msg(three <= three_most[m], "three points: %g", three);
        ck_assert_msg(doubling <= 0.05 && fabs(bias) <= 0.02, "next doubling: %g, bias %g", doubling, bias);
        ck_assert_msg(interior_share >= 0.85 && interior_share <= 0.95, "interior inside: %g", interior_share);
        ck_assert_msg(doubling_share >= 0.85 && doubling_share <= 0.95, "doublings inside: %g", doubling_share);
    }
    serving_curves_release(&curves);
}
END_TEST

/* How fast is bench_step_time's. */
START_TEST(test_measured_bootstrap)
{
    struct serving_curves curves;
    struct error error = {0};
    char path[1024];
    if (shared_data_path("step_time_committee bootstrap", "data/serving_curves.csv", path, sizeof path) == NULL) {
        return;
    }
    ck_assert_msg(serving_curves_read(path, &curves, &error) == STATUS_OK, "%s", error.text);
    for (size_t i = 0; i < curves.count; i++) {
        const struct serving_curve *curve = &curves.curves[i];
        struct step_time_fit_options options = {curve->experts_per_token, curve->experts, 0, NULL};
        struct step_time_committee committee;
        double asked = 2.0 * curve->points[curve->count - 1].concurrency, sigma;
        fit_or_fail(curve->points, curve->count, &options, &committee);
        ck_assert_int_eq(step_time_committee_bootstrap(&committee, curve->points, curve->count, &options, 50, i, &asked,
                                                       1, &sigma, &error),
                         STATUS_OK);
        ck_assert(isfinite(sigma) && sigma > 0.0);
    }
    serving_curves_release(&curves);
}
END_TEST

Suite *suite_step_time_committee(void)
{
    Suite *suite = suite_create("step_time_committee");
    TCase *fits = tcase_create("fits");
    tcase_add_test(fits, test_mean_of_the_forms);
    tcase_add_test(fits, test_a_line_stays_a_line);
    tcase_add_test(fits, test_points_take_weight_from_a_wrong_form);
    tcase_add_test(fits, test_too_few_or_bad_points);
    tcase_add_test(fits, test_stated_sigmas_count);
    tcase_add_loop_test(fits, test_intervals_cover, 0, 8);
    tcase_add_test(fits, test_serves_as_a_law);
    tcase_add_test(fits, test_bootstrap);
    suite_add_tcase(suite, fits);
    TCase *measured = tcase_create("measured");
    tcase_set_timeout(measured, 60.0);
    tcase_add_test(measured, test_measured_curves);
    tcase_add_test(measured, test_measured_bootstrap);
    suite_add_tcase(suite, measured);
    return suite;
}
