/* SPDX-License-Identifier: GPL-3.0-or-later
 * Verdicts on measured effects: worked by hand, and how often they are wrong when nothing changed. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "calibrate/experiment/effect_judge.h"
#include "tests/support/assert_close.h"

static struct effect_options options;
static struct error error;

static void reset(void)
{
    effect_options_init(&options);
    error = (struct error){0};
}

/* Welch's t with Satterthwaite's degrees of freedom, from its definition. */
START_TEST(welch_by_hand)
{
    const double base[] = {100, 102, 104}, variant[] = {90, 91, 95};
    const struct effect_samples samples = {base, variant, 3, 3, false, 0};
    struct effect_verdict verdict;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
    double mean_base = 0, mean_variant = 0, variance_base = 0, variance_variant = 0;
    for (int i = 0; i < 3; i++) {
        mean_base += log(base[i]) / 3;
        mean_variant += log(variant[i]) / 3;
    }
    for (int i = 0; i < 3; i++) {
        variance_base += pow(log(base[i]) - mean_base, 2) / 2;
        variance_variant += pow(log(variant[i]) - mean_variant, 2) / 2;
    }
    const double standard = sqrt((variance_base + variance_variant) / 3),
                 freedom = pow(variance_base + variance_variant, 2) /
                           ((pow(variance_base, 2) + pow(variance_variant, 2)) / 2);
    assert_close_rel(verdict.ratio, exp(mean_variant - mean_base), 1e-12);
    assert_close_rel(verdict.degrees_of_freedom, freedom, 1e-9);
    /* The interval's half width over the standard error is Student's 97.5 % quantile, between those of 3 and 4. */
    const double t = log(verdict.high / verdict.ratio) / standard;
    ck_assert_msg(t > 2.776 && t < 3.183, "%g", t);
    ck_assert_int_eq(verdict.noise, EFFECT_NOISE_REPEATS);
    ck_assert_int_eq(verdict.outcome, EFFECT_REFUTED);
}
END_TEST

/* A drift of ten percent that both sides share hides a change of one percent from all but the pairs. */
START_TEST(pairs_cancel_drift)
{
    double base[8], variant[8];
    for (int i = 0; i < 8; i++) {
        base[i] = 100 * (1 + 0.0125 * i);
        variant[i] = base[i] * (1.010 + (i % 2 ? 0.001 : -0.001));
    }
    struct effect_samples samples = {base, variant, 8, 8, true, 0};
    struct effect_verdict verdict;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
    ck_assert_int_eq(verdict.outcome, EFFECT_SUPPORTED);
    assert_close_rel(verdict.ratio, 1.01, 1e-5);
    samples.paired = false;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
    ck_assert_int_eq(verdict.outcome, EFFECT_INCONCLUSIVE);
    ck_assert_double_gt(verdict.smallest_effect, 0.03);
}
END_TEST

/* Published single runs of a change from 4 to 8 warps: 53.1, 281, 845 before, 45.5, 230, 785 after. */
START_TEST(single_runs_stand_on_the_assumed_noise)
{
    const double base[] = {53.1, 281, 845}, variant[] = {45.5, 230, 785};
    struct effect_samples samples[3];
    struct effect_verdict verdicts[3];
    for (int i = 0; i < 3; i++) {
        samples[i] = (struct effect_samples){&base[i], &variant[i], 1, 1, false, 0};
    }
    ck_assert_int_eq(effect_judge(samples, 3, &options, verdicts, &error), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(verdicts[i].noise, EFFECT_NOISE_ASSUMED);
        ck_assert_int_eq(verdicts[i].outcome, EFFECT_REFUTED);
        /* 1.96 x 2 % x sqrt(2) */
        assert_close_rel(log(verdicts[i].high / verdicts[i].ratio), 1.959963985 * 0.02 * sqrt(2), 1e-8);
    }
    ck_assert_int_eq(effect_judge_together(verdicts, 3, false), EFFECT_REFUTED);
    /* With five times the noise nothing can be told any more of the third. */
    options.assumed_noise = 0.1;
    ck_assert_int_eq(effect_judge(samples, 3, &options, verdicts, &error), STATUS_OK);
    ck_assert_int_eq(verdicts[2].outcome, EFFECT_INCONCLUSIVE);
}
END_TEST

START_TEST(repeats_elsewhere_give_the_noise)
{
    const double base[] = {100, 104, 96, 101}, variant[] = {130, 135, 125, 131}, single_base = 50, single = 49;
    const struct effect_samples samples[] = {{base, variant, 4, 4, false, 0}, {&single_base, &single, 1, 1, false, 0}};
    struct effect_verdict verdicts[2];
    ck_assert_int_eq(effect_judge(samples, 2, &options, verdicts, &error), STATUS_OK);
    ck_assert_int_eq(verdicts[0].outcome, EFFECT_SUPPORTED);
    ck_assert_int_eq(verdicts[1].noise, EFFECT_NOISE_POOLED);
    assert_close_rel(verdicts[1].degrees_of_freedom, 6, 1e-12);
    /* Less noise elsewhere than is assumed anyway proves nothing of this load. */
    options.assumed_noise = 0.1;
    ck_assert_int_eq(effect_judge(samples, 2, &options, verdicts, &error), STATUS_OK);
    ck_assert_int_eq(verdicts[1].noise, EFFECT_NOISE_ASSUMED);
    ck_assert_int_eq(verdicts[1].outcome, EFFECT_INCONCLUSIVE);
    ck_assert_int_eq(effect_judge_together(verdicts, 2, false), EFFECT_SUPPORTED);
}
END_TEST

START_TEST(holm_is_monotone)
{
    /* p-values alone 0.02, 0.03, 0.04 with three conditions: none is below 0.05 any more. */
    const double base = 1, steps[] = {2.3263, 2.1701, 2.0537};
    double variant[3];
    struct effect_samples samples[3];
    struct effect_verdict verdicts[3];
    for (int i = 0; i < 3; i++) {
        variant[i] = exp(steps[i] * 0.02 * sqrt(2));
        samples[i] = (struct effect_samples){&base, &variant[i], 1, 1, false, 0};
    }
    ck_assert_int_eq(effect_judge(samples, 3, &options, verdicts, &error), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        assert_close_rel(verdicts[i].p_value, 0.02 + 0.01 * i, 1e-3);
        assert_close_rel(verdicts[i].adjusted_p, 0.06, 1e-3);
        ck_assert_int_eq(verdicts[i].outcome, EFFECT_INCONCLUSIVE);
    }
    ck_assert_int_eq(effect_judge(samples, 1, &options, verdicts, &error), STATUS_OK);
    ck_assert_int_eq(verdicts[0].outcome, EFFECT_SUPPORTED);
}
END_TEST

START_TEST(reverts)
{
    const double base[] = {845, 846, 844}, same[] = {845.5, 844.5, 845}, off[] = {800, 801, 799}, vague = 846;
    struct effect_samples samples = {base, same, 3, 3, false, 0};
    struct effect_verdict verdict;
    options.is_revert = true;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
    ck_assert_int_eq(verdict.outcome, EFFECT_RESTORED);
    samples.variant = off;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
    ck_assert_int_eq(verdict.outcome, EFFECT_NOT_RESTORED);
    /* The margin is a factor, either way: with 50 %, 0.6 of the speed is farther off than 1.45 times as much. */
    const double slow[] = {507, 507.5, 506.5}, fast[] = {1225, 1226, 1224};
    options.margin = 0.5;
    samples.variant = slow;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
    ck_assert_int_eq(verdict.outcome, EFFECT_NOT_RESTORED);
    samples.variant = fast;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
    ck_assert_int_eq(verdict.outcome, EFFECT_RESTORED);
    options.margin = 0.02;
    samples = (struct effect_samples){base, &vague, 1, 1, false, 0};
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
    ck_assert_int_eq(verdict.outcome, EFFECT_INCONCLUSIVE); /* single runs cannot show sameness within 2 % */
}
END_TEST

/* Two runs of much noise at a high level: no number holds the interval, and an end that is told says enough. */
START_TEST(what_is_told_is_finite)
{
    const double base[] = {1, 2000}, variant[] = {1000, 1};
    for (int is_paired = 0; is_paired < 2; is_paired++) {
        const struct effect_samples samples = {base, variant, 2, 2, is_paired, 0};
        struct effect_verdict verdict;
        reset();
        options.level = 0.9999;
        ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
        ck_assert(isfinite(verdict.high) && verdict.high > 1e8 && verdict.low > 0 && verdict.low < 1e-8);
        ck_assert(isfinite(verdict.smallest_effect) && verdict.smallest_effect > 1e8);
        ck_assert(verdict.low < verdict.ratio && verdict.ratio < verdict.high);
        ck_assert_int_eq(verdict.outcome, EFFECT_INCONCLUSIVE);
    }
}
END_TEST

START_TEST(wrong_input)
{
    const double one = 1, zero = 0, bad = (double)NAN;
    struct effect_verdict verdict;
    struct effect_samples samples = {&one, &zero, 1, 1, false, 0};
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_BAD_DATA);
    samples.variant = &bad;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_BAD_DATA);
    samples.variant_count = 0;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_BAD_DATA);
    ck_assert_int_eq(effect_judge(&samples, 0, &options, &verdict, &error), STATUS_BAD_DATA);
    const double two[] = {1, 1};
    samples = (struct effect_samples){two, &one, 2, 1, true, 0};
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_BAD_DATA);
    options.level = 1;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_DOMAIN);
}
END_TEST

/* ---- how often it is wrong ------------------------------------------------------------------------------------------
 */

enum {
    TRIALS = 10000,
    CONDITIONS = 4,
    REPEATS = 3
};

/* Share of trials with any condition decided; repeats 1: the noise is the assumed one. */
static double decided_share(double effect, size_t repeats, bool paired, uint64_t seed)
{
    struct random_stream random;
    random_init(&random, seed, 0);
    int decided = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double base[CONDITIONS][REPEATS], variant[CONDITIONS][REPEATS];
        struct effect_samples samples[CONDITIONS];
        struct effect_verdict verdicts[CONDITIONS];
        for (int c = 0; c < CONDITIONS; c++) {
            for (size_t i = 0; i < repeats; i++) {
                const double drift = paired ? random_normal(&random) * 0.1 : 0;
                base[c][i] = exp(drift + random_normal(&random) * options.assumed_noise);
                variant[c][i] = exp(drift + log1p(effect) + random_normal(&random) * options.assumed_noise);
            }
            samples[c] = (struct effect_samples){base[c], variant[c], repeats, repeats, paired, 0};
        }
        if (effect_judge(samples, CONDITIONS, &options, verdicts, &error) != STATUS_OK) {
            ck_abort_msg("%s", error.text);
        }
        bool any = false;
        for (int c = 0; c < CONDITIONS; c++) {
            any = any || verdicts[c].outcome != EFFECT_INCONCLUSIVE;
        }
        decided += any;
    }
    return (double)decided / TRIALS;
}

/* The promise is 5 %; three standard deviations of 10,000 trials on top are 0.65 %. */
START_TEST(no_effect_is_seldom_called_one)
{
    const double least = 0.0565;
    const double single = decided_share(0, 1, false, 11), repeats = decided_share(0, REPEATS, false, 12),
                 pairs = decided_share(0, REPEATS, true, 13);
    ck_assert_msg(single <= least && repeats <= least && pairs <= least, "%g %g %g", single, repeats, pairs);
    ck_assert_msg(single > 0.03 && pairs > 0.03, "blunt: %g %g", single, pairs);
}
END_TEST

/* Two noisy runs against twenty quiet ones; runs rounded to whole units: both would be believed too easily. */
START_TEST(uneven_and_rounded_runs)
{
    struct random_stream random;
    random_init(&random, 31, 0);
    int uneven = 0, rounded = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double few[2], many[20], base[2], variant[2];
        struct effect_verdict verdict;
        for (int i = 0; i < 20; i++) {
            many[i] = exp(random_normal(&random) * 0.01);
            few[i % 2] = exp(random_normal(&random) * 0.03);
            base[i % 2] = round(53 * exp(random_normal(&random) * 0.005));
            variant[i % 2] = round(53 * exp(random_normal(&random) * 0.005));
        }
        const struct effect_samples samples[] = {{few, many, 2, 20, false, 0},
                                                 {base, variant, 2, 2, false, 1 / sqrt(12) / 53}};
        if (effect_judge(&samples[0], 1, &options, &verdict, &error) != STATUS_OK) {
            ck_abort_msg("%s", error.text);
        }
        uneven += verdict.outcome != EFFECT_INCONCLUSIVE;
        if (effect_judge(&samples[1], 1, &options, &verdict, &error) != STATUS_OK) {
            ck_abort_msg("%s", error.text);
        }
        rounded += verdict.outcome != EFFECT_INCONCLUSIVE;
    }
    ck_assert_msg(uneven <= 0.0565 * TRIALS && rounded <= 0.0565 * TRIALS, "%d %d of %d", uneven, rounded, TRIALS);
}
END_TEST

/* What the power formula says is what happens. */
START_TEST(power_is_as_told)
{
    int seen = 0;
    struct random_stream random;
    random_init(&random, 21, 0);
    for (int trial = 0; trial < TRIALS; trial++) {
        const double base = exp(random_normal(&random) * 0.02), variant = 1.08 * exp(random_normal(&random) * 0.02);
        const struct effect_samples samples = {&base, &variant, 1, 1, false, 0};
        struct effect_verdict verdict;
        if (effect_judge(&samples, 1, &options, &verdict, &error) != STATUS_OK) {
            ck_abort_msg("%s", error.text);
        }
        seen += verdict.outcome == EFFECT_SUPPORTED;
    }
    const double told = effect_power(0.08, 0.02, 1, 1, 0.95);
    ck_assert_msg(fabs((double)seen / TRIALS - told) < 0.015, "%g, told %g", (double)seen / TRIALS, told);
    seen = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double base[REPEATS], variant[REPEATS];
        for (int i = 0; i < REPEATS; i++) {
            base[i] = exp(random_normal(&random) * 0.02);
            variant[i] = 1.08 * exp(random_normal(&random) * 0.02);
        }
        const struct effect_samples samples = {base, variant, REPEATS, REPEATS, false, 0};
        struct effect_verdict verdict;
        if (effect_judge(&samples, 1, &options, &verdict, &error) != STATUS_OK) {
            ck_abort_msg("%s", error.text);
        }
        seen += verdict.outcome == EFFECT_SUPPORTED;
    }
    const double told_of_repeats = effect_power(0.08, 0.02, REPEATS, 1, 0.95);
    ck_assert_msg(fabs((double)seen / TRIALS - told_of_repeats) < 0.015, "%g, told %g", (double)seen / TRIALS,
                  told_of_repeats);
    /* An effect of the smallest visible size is seen in 80 %. */
    const double one = 1;
    const struct effect_samples samples = {&one, &one, 1, 1, false, 0};
    struct effect_verdict verdict;
    ck_assert_int_eq(effect_judge(&samples, 1, &options, &verdict, &error), STATUS_OK);
    assert_close_rel(effect_power(verdict.smallest_effect, 0.02, 1, 1, 0.95), 0.8, 1e-3);
    ck_assert_double_gt(effect_power(0.05, 0.02, 10, 3, 0.95), effect_power(0.05, 0.02, 3, 3, 0.95));
}
END_TEST

Suite *suite_effect_judge(void)
{
    Suite *suite = suite_create("effect_judge");
    TCase *tcase = tcase_create("effect_judge");
    tcase_add_checked_fixture(tcase, reset, NULL);
    tcase_add_test(tcase, welch_by_hand);
    tcase_add_test(tcase, pairs_cancel_drift);
    tcase_add_test(tcase, single_runs_stand_on_the_assumed_noise);
    tcase_add_test(tcase, repeats_elsewhere_give_the_noise);
    tcase_add_test(tcase, holm_is_monotone);
    tcase_add_test(tcase, reverts);
    tcase_add_test(tcase, what_is_told_is_finite);
    tcase_add_test(tcase, wrong_input);
    tcase_add_test(tcase, no_effect_is_seldom_called_one);
    tcase_add_test(tcase, uneven_and_rounded_runs);
    tcase_add_test(tcase, power_is_as_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
