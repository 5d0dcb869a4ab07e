/* SPDX-License-Identifier: GPL-3.0-or-later
 * Moments of arrival gaps and request lengths, and what another rate leaves alone. */
#include <check.h>
#include <math.h>

#include "sim/arrivals.h"
#include "tests/support/assert_close.h"

enum {
    DRAWS = 400000
};

struct moments {
    double gap_mean, gap_cv, input_mean, input_cv, output_mean;
};

static struct moments moments_of(const struct arrival_plan *plan)
{
    struct arrival_generator generator;
    struct error error = {0};
    struct request_arrival arrival = {0};
    double last = 0.0, gaps = 0.0, gap_squares = 0.0, inputs = 0.0, input_squares = 0.0, outputs = 0.0;
    bool more = true;
    uint64_t count = 0;
    ck_assert_int_eq(arrival_generator_init(&generator, plan, &error), STATUS_OK);
    struct arrival_source source = arrival_generator_source(&generator);
    while (source.next(source.context, &arrival, &more, &error) == STATUS_OK && more) {
        double gap = arrival.time_s - last;
        /* One message for each of a million requests would drown the runner. */
        if (!(gap >= 0.0) || arrival.input_tokens < 1 || arrival.output_tokens < 1)
            ck_abort_msg("request %llu: gap %g", (unsigned long long)count, gap);
        last = arrival.time_s;
        gaps += gap;
        gap_squares += gap * gap;
        inputs += (double)arrival.input_tokens;
        input_squares += (double)arrival.input_tokens * (double)arrival.input_tokens;
        outputs += (double)arrival.output_tokens;
        count++;
    }
    ck_assert_uint_eq(count, plan->request_count);
    double n = (double)count, gap_mean = gaps / n, input_mean = inputs / n;
    return (struct moments){.gap_mean = gap_mean,
                            .gap_cv = sqrt(gap_squares / n - gap_mean * gap_mean) / gap_mean,
                            .input_mean = input_mean,
                            .input_cv = sqrt(fmax(0.0, input_squares / n - input_mean * input_mean)) / input_mean,
                            .output_mean = outputs / n};
}

START_TEST(gaps_have_the_mean_and_variation_asked_for)
{
    static const double variations[] = {0.2, 0.5, 1.0, 2.0};
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 4.0,
                                .request_count = DRAWS,
                                .input_tokens = 10,
                                .output_tokens = 20,
                                .seed = 3};
    struct moments moments = moments_of(&plan);
    assert_close_rel(moments.gap_mean, 0.25, 0.01);
    assert_close_rel(moments.gap_cv, 1.0, 0.01);
    assert_close_rel(moments.input_mean, 10.0, TOL_ROUNDING);
    plan.process = ARRIVAL_GAMMA;
    for (size_t i = 0; i < sizeof variations / sizeof variations[0]; i++) {
        plan.gap_cv = variations[i];
        moments = moments_of(&plan);
        assert_close_rel(moments.gap_mean, 0.25, 0.015);
        assert_close_rel(moments.gap_cv, variations[i], 0.02);
    }
}
END_TEST

START_TEST(lengths_have_the_mean_and_variation_of_their_kind)
{
    struct arrival_plan plan = {.process = ARRIVAL_CLOSED,
                                .request_count = DRAWS,
                                .input_tokens = 50,
                                .input_spread = LENGTH_UNIFORM,
                                .output_tokens = 1,
                                .output_spread = LENGTH_GEOMETRIC,
                                .seed = 4};
    struct moments moments = moments_of(&plan);
    assert_close_rel(moments.input_mean, 50.0, 0.01);
    assert_close_rel(moments.input_cv, sqrt((99.0 * 99.0 - 1.0) / 12.0) / 50.0, 0.01);
    assert_close_rel(moments.output_mean, 1.0, TOL_ROUNDING);
    plan.input_spread = LENGTH_GEOMETRIC;
    moments = moments_of(&plan);
    assert_close_rel(moments.input_mean, 50.0, 0.01);
    assert_close_rel(moments.input_cv, sqrt(1.0 - 1.0 / 50.0), 0.01);
}
END_TEST

START_TEST(another_rate_stretches_the_same_pattern)
{
    struct arrival_plan plan = {.process = ARRIVAL_GAMMA,
                                .rate_per_s = 1.0,
                                .gap_cv = 1.5,
                                .request_count = 1000,
                                .input_tokens = 50,
                                .input_spread = LENGTH_UNIFORM,
                                .output_tokens = 9,
                                .seed = 4};
    struct arrival_generator slow, fast;
    struct request_arrival first = {0}, second = {0};
    struct error error = {0};
    bool more = true;
    ck_assert_int_eq(arrival_generator_init(&slow, &plan, &error), STATUS_OK);
    plan.rate_per_s = 8.0;
    ck_assert_int_eq(arrival_generator_init(&fast, &plan, &error), STATUS_OK);
    struct arrival_source one = arrival_generator_source(&slow), other = arrival_generator_source(&fast);
    while (more) {
        if (one.next(one.context, &first, &more, &error) != STATUS_OK ||
            other.next(other.context, &second, &more, &error) != STATUS_OK)
            ck_abort_msg("%s", error.text);
        if (!is_close_rel(8.0 * second.time_s, first.time_s, TOL_ROUNDING) || first.input_tokens != second.input_tokens)
            ck_abort_msg("%g is not %g / 8", second.time_s, first.time_s);
    }
}
END_TEST

START_TEST(impossible_plans_are_refused)
{
    static const struct arrival_plan plans[] = {
        {.process = ARRIVAL_POISSON, .rate_per_s = 0.0, .request_count = 1, .input_tokens = 1, .output_tokens = 1},
        {.process = ARRIVAL_GAMMA, .rate_per_s = 1.0, .request_count = 1, .input_tokens = 1, .output_tokens = 1},
        {.process = ARRIVAL_CLOSED, .request_count = 1, .input_tokens = 0, .output_tokens = 1},
        {.process = ARRIVAL_CLOSED, .request_count = 1, .input_tokens = 1, .output_tokens = 1.5},
        {.process = ARRIVAL_CLOSED, .request_count = 0, .input_tokens = 1, .output_tokens = 1},
        {.process = ARRIVAL_POISSON, .rate_per_s = NAN, .request_count = 1, .input_tokens = 1, .output_tokens = 1},
    };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        struct arrival_generator generator;
        struct error error = {0};
        ck_assert_int_eq(arrival_generator_init(&generator, &plans[i], &error), STATUS_DOMAIN);
    }
}
END_TEST

Suite *suite_arrivals(void);
Suite *suite_arrivals(void)
{
    Suite *suite = suite_create("arrivals");
    TCase *tcase = tcase_create("processes");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, gaps_have_the_mean_and_variation_asked_for);
    tcase_add_test(tcase, lengths_have_the_mean_and_variation_of_their_kind);
    tcase_add_test(tcase, another_rate_stretches_the_same_pattern);
    tcase_add_test(tcase, impossible_plans_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
