/* SPDX-License-Identifier: GPL-3.0-or-later
 * Scores of predictions whose truth is known. */
#include <check.h>
#include <math.h>

#include "base/random.h"
#include "calibrate/experiment/scorecard.h"
#include "tests/support/assert_close.h"

enum {
    COUNT = 4000
};
static struct scored_prediction predictions[COUNT];

/* Measured values spread by `truth` around predictions that claim `claimed`. */
static void draw(double truth, double claimed, double bias)
{
    struct random_stream random;
    random_init(&random, 5, 0);
    for (int i = 0; i < COUNT; i++) {
        const double value = exp(random_normal(&random));
        predictions[i] =
            (struct scored_prediction){value, value * exp(-1.6448536 * claimed), value * exp(1.6448536 * claimed), 0.9,
                                       value * exp(bias + truth * random_normal(&random))};
    }
}

START_TEST(honest_predictions_are_covered_as_said)
{
    struct scorecard card;
    struct error error = {0};
    draw(0.1, 0.1, 0);
    ck_assert_int_eq(scorecard_make(predictions, COUNT, &card, &error), STATUS_OK);
    for (int i = 0; i < SCORECARD_LEVELS; i++) {
        ck_assert_msg(fabs(card.coverage[i] - scorecard_levels()[i]) < 0.025, "%g: %g", scorecard_levels()[i],
                      card.coverage[i]);
        ck_assert(card.coverage_low[i] < card.coverage[i] && card.coverage_high[i] > card.coverage[i]);
        ck_assert(card.coverage_high[i] - card.coverage_low[i] < 0.03);
    }
    /* Expected score of a true normal: sigma / sqrt(pi); of its median alone: sigma sqrt(2 / pi). */
    ck_assert_msg(fabs(card.crps / (0.1 / sqrt(M_PI)) - 1) < 0.03, "%g", card.crps);
    ck_assert_msg(fabs(card.crps_of_point / (0.1 * sqrt(2 / M_PI)) - 1) < 0.04, "%g", card.crps_of_point);
    ck_assert_msg(fabs(card.bias) < 0.006, "%g", card.bias);
    assert_close_rel(card.half_width, expm1(0.16448536), 1e-6);
}
END_TEST

START_TEST(boasting_and_bias_show)
{
    struct scorecard honest, boasting, biased;
    struct error error = {0};
    draw(0.1, 0.1, 0);
    ck_assert_int_eq(scorecard_make(predictions, COUNT, &honest, &error), STATUS_OK);
    draw(0.1, 0.03, 0);
    ck_assert_int_eq(scorecard_make(predictions, COUNT, &boasting, &error), STATUS_OK);
    ck_assert(boasting.coverage[3] < 0.5 && boasting.crps > 1.05 * honest.crps);
    draw(0.1, 0.1, 0.2);
    ck_assert_int_eq(scorecard_make(predictions, COUNT, &biased, &error), STATUS_OK);
    ck_assert_msg(fabs(biased.bias - expm1(0.2)) < 0.01 && biased.crps > 2 * honest.crps, "%g", biased.bias);
}
END_TEST

/* SCORE-1: the ends of the interval are the quantiles, wherever the stated value lies between them. */
START_TEST(the_interval_is_read_by_its_ends)
{
    const struct scored_prediction lopsided = {3, 1, 4, 0.9, 2};
    struct scorecard card;
    struct error error = {0};
    const double sigma = log(4) / 2 / 1.6448536270;
    ck_assert_int_eq(scorecard_make(&lopsided, 1, &card, &error), STATUS_OK);
    assert_close_rel(card.crps, sigma * (sqrt(2 / M_PI) - 1 / sqrt(M_PI)), 1e-8); /* measured at its centre */
    assert_close_rel(card.crps_of_point, log(1.5), 1e-12);
    assert_close_rel(card.bias, 2 / 3.0 - 1, 1e-12);
    ck_assert(card.coverage[0] == 1);
}
END_TEST

START_TEST(what_cannot_be_scored)
{
    struct scorecard card;
    struct error error = {0};
    ck_assert_int_eq(scorecard_make(predictions, 0, &card, &error), STATUS_BAD_DATA);
    const struct scored_prediction bad[] = {
        {1, 2, 1, 0.9, 1}, {1, 0, 1, 0.9, 1}, {1, 0.5, 2, 0.9, 0}, {1, 0.5, 2, 1, 1}, {1, 0.5, INFINITY, 0.9, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(scorecard_make(&bad[i], 1, &card, &error), STATUS_BAD_DATA);
    }
}
END_TEST

Suite *suite_scorecard(void)
{
    Suite *suite = suite_create("scorecard");
    TCase *tcase = tcase_create("scorecard");
    tcase_add_test(tcase, honest_predictions_are_covered_as_said);
    tcase_add_test(tcase, boasting_and_bias_show);
    tcase_add_test(tcase, the_interval_is_read_by_its_ends);
    tcase_add_test(tcase, what_cannot_be_scored);
    suite_add_tcase(suite, tcase);
    return suite;
}
