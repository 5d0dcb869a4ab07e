/* SPDX-License-Identifier: GPL-3.0-or-later
 * Step-time laws against published figures, finite differences, the vLLM capture list; and what validation refuses. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "model/predict/step_time.h"
#include "tests/support/assert_close.h"

/* The truncation error of a central difference with step 1e-5 n is of order 1e-10, its rounding error of order 1e-10.
 */
#define TOL_DIFFERENCE 1e-7

static const double normal_90 = 1.6448536269514722;

static struct serving_model line_model(double a_ms, double b_ms)
{
    struct serving_model serving;
    memset(&serving, 0, sizeof serving);
    serving.present = true;
    serving.base.form = STEP_TIME_LINE;
    serving.base.parameters[0] = a_ms * SECONDS_PER_MS;
    serving.base.parameters[1] = b_ms * SECONDS_PER_MS;
    serving.base.degrees_of_freedom = -1;
    serving.tokens_per_step_per_request = 1.0;
    serving.itl_limit_s = (double)NAN;
    serving.kernel_share_measured = (double)NAN;
    return serving;
}

/* vLLM's default: 1, 2, 4, then 8 to 248 by 8, then 256 to 512 by 16. */
static uint32_t fill_vllm_sizes(double *sizes)
{
    uint32_t count = 0;
    for (int size = 1; size < 8; size *= 2) {
        sizes[count++] = size;
    }
    for (int size = 8; size <= 512; size += size < 256 ? 8 : 16) {
        sizes[count++] = size;
    }
    return count;
}

/* A law of each form with odd values: no two alike, none 0 or 1. */
static struct step_time_law odd_law(enum step_time_form form)
{
    static const double parameters[STEP_TIME_FORM_COUNT][STEP_TIME_PARAMETERS_MAX] = {
        [STEP_TIME_LINE] = {0.0173, 0.00107},
        [STEP_TIME_COVERAGE] = {0.0113, 0.0079, 0.00024},
        [STEP_TIME_POWER] = {0.0131, 0.0023, 0.73},
        [STEP_TIME_SQRT] = {0.0121, 0.0017, 0.00031},
        [STEP_TIME_SATURATING] = {0.0109, 0.0067, 13.7, 0.00029},
        [STEP_TIME_PADDED] = {0.0143, 0.00037},
        [STEP_TIME_HINGE] = {0.0127, 0.00019, 0.00053, 41.3},
    };
    struct step_time_law law;
    memset(&law, 0, sizeof law);
    law.form = form;
    memcpy(law.parameters, parameters[form], sizeof law.parameters);
    law.experts = 256.0;
    law.experts_per_token = 6.0;
    law.captured_count = fill_vllm_sizes(law.captured_sizes);
    return law;
}

START_TEST(test_golden_line)
{
    struct serving_model serving = line_model(18.0, 1.05);
    const double published[][2] = {{1, 52.5}, {8, 303.0}, {96, 808.1}};
    for (int i = 0; i < 3; i++) {
        struct serving_estimate estimate;
        serving_estimate_base(&serving, published[i][0], normal_90, &estimate);
        assert_close_rel(estimate.throughput_tokens_per_s, published[i][1], TOL_PRINTED(published[i][1], 0.1));
        assert_close_rel(estimate.request_tokens_per_s * published[i][0], estimate.throughput_tokens_per_s,
                         TOL_ROUNDING);
        /* A given law knows no uncertainty. */
        ck_assert(estimate.step_time_lo_s == estimate.step_time_s && estimate.step_time_hi_s == estimate.step_time_s);
    }
    /* n_half = a / b = 17.1, ceiling = 1 / b = 952 tok/s, 620 at 32 and 751 at 64. */
    struct serving_estimate at_half, at_32, at_64, far;
    serving_estimate_base(&serving, 18.0 / 1.05, normal_90, &at_half);
    serving_estimate_base(&serving, 32.0, normal_90, &at_32);
    serving_estimate_base(&serving, 64.0, normal_90, &at_64);
    serving_estimate_base(&serving, 1e9, normal_90, &far);
    assert_close_rel(at_half.throughput_tokens_per_s, 952.0 / 2.0, TOL_PRINTED(952.0, 1.0));
    assert_close_rel(at_32.throughput_tokens_per_s, 620.0, TOL_PRINTED(620.0, 1.0));
    assert_close_rel(at_64.throughput_tokens_per_s, 751.0, TOL_PRINTED(751.0, 1.0));
    assert_close_rel(far.throughput_tokens_per_s, 952.0, TOL_PRINTED(952.0, 1.0));
}
END_TEST

START_TEST(test_forms_by_hand)
{
    const double n = 57.0;
    const double expected_s[STEP_TIME_FORM_COUNT] = {
        [STEP_TIME_LINE] = 0.0173 + 0.00107 * 57.0,
        [STEP_TIME_COVERAGE] = 0.0113 + 0.0079 * (1.0 - pow(250.0 / 256.0, 57.0)) + 0.00024 * 57.0,
        [STEP_TIME_POWER] = 0.0131 + 0.0023 * exp(0.73 * log(57.0)),
        [STEP_TIME_SQRT] = 0.0121 + 0.0017 * sqrt(57.0) + 0.00031 * 57.0,
        [STEP_TIME_SATURATING] = 0.0109 + 0.0067 * 57.0 / 70.7 + 0.00029 * 57.0,
        [STEP_TIME_PADDED] = 0.0143 + 0.00037 * 64.0,
        [STEP_TIME_HINGE] = 0.0127 + 0.00019 * 57.0 + 0.00053 * 15.7,
    };
    const uint32_t counts[STEP_TIME_FORM_COUNT] = {2, 3, 3, 3, 4, 2, 4};
    for (int form = 0; form < STEP_TIME_FORM_COUNT; form++) {
        struct step_time_law law = odd_law((enum step_time_form)form);
        assert_close_rel(step_time_evaluate(&law, n), expected_s[form], TOL_ROUNDING);
        ck_assert_uint_eq(step_time_form_parameter_count(law.form), counts[form]);
    }
    ck_assert_str_eq(step_time_form_name(STEP_TIME_COVERAGE), "coverage");
    ck_assert_str_eq(step_time_form_name(STEP_TIME_HINGE), "hinge");
}
END_TEST

START_TEST(test_gradient_is_the_finite_difference)
{
    struct step_time_law law = odd_law((enum step_time_form)_i);
    uint32_t count = step_time_form_parameter_count(law.form);
    const double concurrencies[] = {1.0, 3.0, 8.0, 37.0, 100.0};
    for (int c = 0; c < 5; c++) {
        double gradient[STEP_TIME_PARAMETERS_MAX];
        step_time_gradient(&law, concurrencies[c], gradient);
        for (uint32_t i = 0; i < STEP_TIME_PARAMETERS_MAX; i++) {
            struct step_time_law above = law, below = law;
            double step = i < count ? 1e-5 * law.parameters[i] : 1e-5;
            above.parameters[i] += step;
            below.parameters[i] -= step;
            double difference =
                (step_time_evaluate(&above, concurrencies[c]) - step_time_evaluate(&below, concurrencies[c])) /
                (above.parameters[i] - below.parameters[i]);
            if (difference == 0.0) {
                assert_close_zero(gradient[i], 0.0);
            } else {
                assert_close_rel(gradient[i], difference, TOL_DIFFERENCE);
            }
        }
    }
}
END_TEST

START_TEST(test_padding_follows_the_capture_list)
{
    const double padded[][2] = {{1, 1},     {2, 2},     {3, 4},     {5, 8},     {8, 8},    {9, 16},
                                {241, 248}, {249, 256}, {257, 272}, {512, 512}, {513, 513}};
    struct step_time_law law = odd_law(STEP_TIME_PADDED);
    ck_assert_uint_eq(law.captured_count, 3 + 31 + 17);
    for (size_t i = 0; i < sizeof padded / sizeof padded[0]; i++) {
        assert_close_rel(step_time_evaluate(&law, padded[i][0]), 0.0143 + 0.00037 * padded[i][1], TOL_ROUNDING);
    }
}
END_TEST

START_TEST(test_distinct_experts)
{
    /* n for 90 % coverage: 8/256 -> 73, 8/128 -> 36, 8/384 -> 109, 10/512 -> 117 (nearest whole number). */
    const double anchors[][3] = {{256, 8, 73}, {128, 4, 73}, {128, 8, 36}, {384, 8, 109}, {512, 10, 117}};
    for (int i = 0; i < 5; i++) {
        double experts = anchors[i][0], chosen = anchors[i][1], n = anchors[i][2];
        ck_assert(distinct_experts(experts, chosen, n - 0.5) < 0.9 * experts);
        ck_assert(distinct_experts(experts, chosen, n + 0.5) > 0.9 * experts);
    }
    assert_close_rel(distinct_experts(256, 6, 1), 6.0, TOL_ROUNDING);
    assert_close_rel(distinct_experts(256, 6, 96), 256.0 * (1.0 - pow(250.0 / 256.0, 96.0)), 100 * TOL_ROUNDING);
    assert_close_rel(distinct_experts(8, 8, 1), 8.0, TOL_ROUNDING);
    assert_close_zero(distinct_experts(8, 8, 0), 0.0);
    assert_close_zero(distinct_experts(0, 0, 5), 0.0);
}
END_TEST

START_TEST(test_relative_sigma)
{
    struct step_time_law law = odd_law(STEP_TIME_LINE);
    law.relative_sigma = 0.03;
    law.covariance[0][0] = 4e-8;
    law.covariance[0][1] = law.covariance[1][0] = -7e-10;
    law.covariance[1][1] = 9e-11;
    double n = 11.0, value_s = 0.0173 + 0.00107 * n;
    double variance_s2 = 4e-8 - 2.0 * n * 7e-10 + n * n * 9e-11;
    assert_close_rel(step_time_relative_sigma(&law, n), sqrt(variance_s2 / (value_s * value_s) + 0.0009), TOL_ROUNDING);
}
END_TEST

START_TEST(test_intervals_stay_positive)
{
    struct serving_model serving = line_model(18.0, 1.05);
    serving.base.relative_sigma = 2.0; /* absurdly wide: a symmetric interval would reach below zero */
    struct serving_estimate estimate;
    serving_estimate_base(&serving, 8.0, normal_90, &estimate);
    ck_assert(estimate.step_time_lo_s > 0.0 && estimate.step_time_lo_s < estimate.step_time_s);
    assert_close_rel(estimate.step_time_lo_s * estimate.step_time_hi_s, estimate.step_time_s * estimate.step_time_s,
                     TOL_ROUNDING);
    assert_close_rel(estimate.throughput_lo_tokens_per_s, 8.0 / estimate.step_time_hi_s, TOL_ROUNDING);
    assert_close_rel(estimate.throughput_hi_tokens_per_s, 8.0 / estimate.step_time_lo_s, TOL_ROUNDING);
}
END_TEST

START_TEST(test_variant_is_anchored_at_the_base)
{
    struct serving_model serving = line_model(18.0, 1.05);
    serving.base.relative_sigma = 0.02;
    struct serving_estimate base, same, slower, impossible;
    serving_estimate_base(&serving, 8.0, normal_90, &base);
    serving_estimate_variant(&serving, 8.0, 0.0, 0.0, normal_90, &same);
    assert_close_rel(same.step_time_s, base.step_time_s, TOL_ROUNDING);
    assert_close_rel(same.step_time_hi_s, base.step_time_hi_s, TOL_ROUNDING);
    /* 37 layers that take 113 us more each. */
    serving_estimate_variant(&serving, 8.0, 37 * 113e-6, 1e-3, normal_90, &slower);
    assert_close_rel(slower.step_time_s, 0.0264 + 37 * 113e-6, TOL_ROUNDING);
    double sigma = hypot(0.0264 * 0.02, 1e-3) / slower.step_time_s;
    assert_close_rel(log(slower.step_time_hi_s / slower.step_time_s), normal_90 * sigma, 100 * TOL_ROUNDING);
    serving_estimate_variant(&serving, 8.0, -0.03, 0.0, normal_90, &impossible);
    ck_assert(isnan(impossible.step_time_s) && isnan(impossible.throughput_lo_tokens_per_s));
    assert_close_rel(impossible.concurrency, 8.0, TOL_ROUNDING);
}
END_TEST

START_TEST(test_speculation_counts_tokens)
{
    struct serving_model serving = line_model(18.0, 1.05);
    serving.tokens_per_step_per_request = 2.4;
    struct serving_estimate estimate;
    serving_estimate_base(&serving, 8.0, normal_90, &estimate);
    assert_close_rel(estimate.throughput_tokens_per_s, 2.4 * 8.0 / 0.0264, TOL_ROUNDING);
    assert_close_rel(estimate.request_tokens_per_s, 2.4 / 0.0264, TOL_ROUNDING);
    /* ITL = step / 2.4: 11 ms a token allow steps of 26.4 ms, which is n = 8. */
    assert_close_rel(concurrency_within_itl(&serving, 0.0110001, 1000.0), 8.0, TOL_ROUNDING);
}
END_TEST

START_TEST(test_itl_limit)
{
    struct serving_model serving = line_model(18.0, 1.05);
    assert_close_zero(concurrency_within_itl(&serving, 0.019, 1000.0), 0.0);
    assert_close_rel(concurrency_within_itl(&serving, 0.0191, 1000.0), 1.0, TOL_ROUNDING);
    assert_close_rel(concurrency_within_itl(&serving, 0.050, 1000.0), 30.0, TOL_ROUNDING); /* 49.5 ms; 31 is 50.55 */
    assert_close_rel(concurrency_within_itl(&serving, 0.050, 16.7), 16.0, TOL_ROUNDING);
    assert_close_zero(concurrency_within_itl(&serving, 0.050, 0.5), 0.0);
    assert_close_zero(concurrency_within_itl(&serving, (double)NAN, 100.0), 0.0);
    serving.base = odd_law(STEP_TIME_PADDED); /* all of 9..16 pay for 16 */
    assert_close_rel(concurrency_within_itl(&serving, 0.0143 + 0.00037 * 15.9, 1000.0), 8.0, TOL_ROUNDING);
    assert_close_rel(concurrency_within_itl(&serving, 0.0143 + 0.00037 * 16.1, 1000.0), 16.0, TOL_ROUNDING);
    /* Falls again after 20 requests: only what lies before the first violation counts. */
    serving.base = odd_law(STEP_TIME_HINGE);
    serving.base.parameters[1] = 1e-3;
    serving.base.parameters[2] = -3e-3;
    serving.base.parameters[3] = 20.0;
    assert_close_rel(concurrency_within_itl(&serving, 0.0127 + 15.5e-3, 1000.0), 15.0, TOL_ROUNDING);
}
END_TEST

START_TEST(test_floor)
{
    struct serving_model serving = line_model(18.0, 1.05);
    assert_close_zero(step_time_floor(&serving, 8.0, 1.6e12), 0.0); /* bytes unknown */
    /* 43 layers x 13.37 MB, a quarter of each expert on each of four ranks. */
    serving.floor_bytes_fixed = 2e9;
    serving.floor_bytes_per_expert = 43 * 13.37e6 / 4.0;
    serving.experts = 256.0;
    serving.experts_per_token = 6.0;
    assert_close_rel(step_time_floor(&serving, 1.0, 1.6e12), (2e9 + 6.0 * 43 * 13.37e6 / 4.0) / 1.6e12, TOL_ROUNDING);
    double previous_s = 0.0;
    for (double n = 1.0; n <= 128.0; n += 1.0) {
        double floor_s = step_time_floor(&serving, n, 1.6e12);
        ck_assert(floor_s > previous_s);
        ck_assert(floor_s < step_time_evaluate(&serving.base, n));
        ck_assert(step_time_floor(&serving, n, 1.79e12) < floor_s);
        previous_s = floor_s;
    }
}
END_TEST

START_TEST(test_laws_are_positive_and_rise)
{
    struct serving_model serving = line_model(18.0, 1.05);
    serving.base = odd_law((enum step_time_form)_i);
    double previous_s = 0.0;
    for (double n = 1.0; n <= 600.0; n += 1.0) {
        struct serving_estimate estimate;
        serving_estimate_base(&serving, n, normal_90, &estimate);
        ck_assert(estimate.throughput_tokens_per_s > 0.0 && isfinite(estimate.throughput_tokens_per_s));
        ck_assert(estimate.step_time_s >= previous_s);
        previous_s = estimate.step_time_s;
    }
    /* Times in another unit give the same curve in that unit. */
    double before_s = step_time_evaluate(&serving.base, 29.0);
    for (uint32_t i = 0; i < step_time_form_parameter_count(serving.base.form); i++) {
        bool is_time = !(serving.base.form == STEP_TIME_POWER && i == 2) &&
                       !(serving.base.form == STEP_TIME_SATURATING && i == 2) &&
                       !(serving.base.form == STEP_TIME_HINGE && i == 3);
        serving.base.parameters[i] *= is_time ? 1e3 : 1.0;
    }
    assert_close_rel(step_time_evaluate(&serving.base, 29.0), 1e3 * before_s, 10 * TOL_ROUNDING);
}
END_TEST

/* Each breaks one thing; the message must name it. */
static void break_slope(struct serving_model *s)
{
    s->base.parameters[1] = -1e-3;
}
static void break_nan(struct serving_model *s)
{
    s->base.parameters[0] = (double)NAN;
}
static void break_zero(struct serving_model *s)
{
    s->base.parameters[0] = s->base.parameters[1] = 0.0;
}
static void break_hinge(struct serving_model *s)
{
    s->base = odd_law(STEP_TIME_HINGE);
    s->base.parameters[2] = -0.1;
}
static void break_exponent(struct serving_model *s)
{
    s->base = odd_law(STEP_TIME_POWER);
    s->base.parameters[2] = 0.0;
}
static void break_experts(struct serving_model *s)
{
    s->base = odd_law(STEP_TIME_COVERAGE);
    s->base.experts_per_token = 300.0;
}
static void break_captured(struct serving_model *s)
{
    s->base = odd_law(STEP_TIME_PADDED);
    s->base.captured_sizes[2] = 2.0;
}
static void break_captured_count(struct serving_model *s)
{
    s->base = odd_law(STEP_TIME_PADDED);
    s->base.captured_count = 0;
}
static void break_covariance(struct serving_model *s)
{
    s->base.covariance[1][1] = -1.0;
}
static void break_sigma(struct serving_model *s)
{
    s->base.relative_sigma = -0.1;
}
static void break_freedom(struct serving_model *s)
{
    s->base.degrees_of_freedom = -2;
}
static void break_form(struct serving_model *s)
{
    s->base.form = STEP_TIME_FORM_COUNT;
}
static void break_concurrency(struct serving_model *s)
{
    s->point_count = 1;
    s->points[0] = (struct serving_point){0.0, 0.02, 0.0, (double)NAN};
}
static void break_step(struct serving_model *s)
{
    s->point_count = 1;
    s->points[0] = (struct serving_point){1.0, -0.02, 0.0, (double)NAN};
}
static void break_throughput(struct serving_model *s)
{
    s->point_count = 1;
    s->points[0] = (struct serving_point){1.0, 0.02, 0.0, 0.0};
}
static void break_points(struct serving_model *s)
{
    s->base_from_points = true;
}
static void break_tokens(struct serving_model *s)
{
    s->tokens_per_step_per_request = 0.0;
}
static void break_itl(struct serving_model *s)
{
    s->itl_limit_s = -1.0;
}
static void break_floor(struct serving_model *s)
{
    s->floor_bytes_per_expert = 1e6;
}
static void break_share(struct serving_model *s)
{
    s->kernel_share_measured = 1.2;
}

static const struct break_case {
    void (*apply)(struct serving_model *);
    const char *named;
} break_cases[] = {
    {break_slope, "b of the line"},
    {break_nan, "a of the line"},
    {break_zero, "0 s"},
    {break_hinge, "b1 + b2"},
    {break_exponent, "p of the power"},
    {break_experts, "experts per token"},
    {break_captured, "captured size 3"},
    {break_captured_count, "captured"},
    {break_covariance, "covariance"},
    {break_sigma, "relative sigma"},
    {break_freedom, "degrees of freedom"},
    {break_form, "form number"},
    {break_concurrency, "concurrency"},
    {break_step, "step time"},
    {break_throughput, "throughput"},
    {break_points, "come from points"},
    {break_tokens, "tokens per step"},
    {break_itl, "ITL limit"},
    {break_floor, "floor per expert"},
    {break_share, "kernel's share"},
};
enum {
    BREAK_CASE_COUNT = sizeof break_cases / sizeof break_cases[0]
};

START_TEST(test_validation_names_what_is_wrong)
{
    struct serving_model serving = line_model(18.0, 1.05);
    struct error error = {0};
    ck_assert_int_eq(serving_model_validate(&serving, &error), STATUS_OK);
    break_cases[_i].apply(&serving);
    ck_assert_int_eq(serving_model_validate(&serving, &error), STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, break_cases[_i].named) != NULL, "\"%s\" does not name \"%s\"", error.text,
                  break_cases[_i].named);
    serving.present = false;
    ck_assert_int_eq(serving_model_validate(&serving, &error), STATUS_OK);
}
END_TEST

START_TEST(test_validation_accepts_every_form)
{
    struct serving_model serving = line_model(18.0, 1.05);
    struct error error = {0};
    serving.base = odd_law((enum step_time_form)_i);
    ck_assert_msg(serving_model_validate(&serving, &error) == STATUS_OK, "%s", error.text);
    serving.point_count = SERVING_POINTS_MAX + 1;
    ck_assert_int_eq(serving_model_validate(&serving, &error), STATUS_LIMIT);
}
END_TEST

Suite *suite_step_time(void)
{
    Suite *suite = suite_create("step_time");
    TCase *laws = tcase_create("laws");
    tcase_add_test(laws, test_golden_line);
    tcase_add_test(laws, test_forms_by_hand);
    tcase_add_loop_test(laws, test_gradient_is_the_finite_difference, 0, STEP_TIME_FORM_COUNT);
    tcase_add_test(laws, test_padding_follows_the_capture_list);
    tcase_add_test(laws, test_distinct_experts);
    tcase_add_test(laws, test_relative_sigma);
    tcase_add_loop_test(laws, test_laws_are_positive_and_rise, 0, STEP_TIME_FORM_COUNT);
    suite_add_tcase(suite, laws);
    TCase *estimates = tcase_create("estimates");
    tcase_add_test(estimates, test_intervals_stay_positive);
    tcase_add_test(estimates, test_variant_is_anchored_at_the_base);
    tcase_add_test(estimates, test_speculation_counts_tokens);
    tcase_add_test(estimates, test_itl_limit);
    tcase_add_test(estimates, test_floor);
    suite_add_tcase(suite, estimates);
    TCase *validation = tcase_create("validation");
    tcase_add_loop_test(validation, test_validation_names_what_is_wrong, 0, BREAK_CASE_COUNT);
    tcase_add_loop_test(validation, test_validation_accepts_every_form, 0, STEP_TIME_FORM_COUNT);
    suite_add_tcase(suite, validation);
    return suite;
}
