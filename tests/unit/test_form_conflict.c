/* SPDX-License-Identifier: GPL-3.0-or-later
 * Forms of a model against each other: what is a conflict, which run settles it, what runs refute. */
#include <check.h>
#include <math.h>
#include <stdint.h>

#include "calibrate/experiment/form_conflict.h"
#include "tests/support/assert_close.h"

Suite *suite_form_conflict(void);

enum {
    CANDIDATES = 5
};
/* ln(value) of two forms: agreed but for candidate 3, which the second holds for the best, and 2, where they are
 * further apart. Candidate 0 is the anchor. */
static const double first[CANDIDATES] = {0.0, -0.10, 0.30, 0.05, 0.2};
static const double second[CANDIDATES] = {0.0, -0.10, 0.10, -0.20, 0.2};
static double measured[CANDIDATES], costs[CANDIDATES];
static bool closed[CANDIDATES];
static struct conflict_form forms[3];
static struct conflict_request request;
static struct form_conflict conflict;

static void set_up(void)
{
    for (int c = 0; c < CANDIDATES; c++) {
        measured[c] = NAN;
        closed[c] = false;
        costs[c] = 2;
    }
    forms[0] = (struct conflict_form){first, 0.05};
    forms[1] = (struct conflict_form){second, 0.05};
    request = (struct conflict_request){.form_count = 2,
                                        .forms = forms,
                                        .candidate_count = CANDIDATES,
                                        .measured = measured,
                                        .is_closed = closed,
                                        .costs_s = costs,
                                        .anchor = 0,
                                        .noise = 0.01,
                                        .least_gain = 0.01};
}

static void run(int candidate, double log_value)
{
    measured[candidate] = log_value;
    closed[candidate] = true;
}

START_TEST(different_bests_are_a_conflict)
{
    form_conflict_find(&request, &conflict);
    ck_assert(conflict.found && conflict.other_best);
    ck_assert_uint_eq(conflict.forms[0], 0);
    ck_assert_uint_eq(conflict.forms[1], 1);
    ck_assert_uint_eq(conflict.bests[0], 1);
    ck_assert_uint_eq(conflict.bests[1], 3);
    ck_assert_uint_eq(conflict.run, 3); /* 0.25 apart; candidate 2 is 0.20 apart */
    assert_close_rel(conflict.log_values[0], 0.05, 1e-12);
    assert_close_rel(conflict.log_values[1], -0.20, 1e-12);
    const double variance = 0.01 * 0.01 + 0.05 * 0.05;
    assert_close_rel(conflict.information_per_s, log1p(0.25 * 0.25 / (4 * variance)) / 2 / 2, 1e-12);
}
END_TEST

START_TEST(the_run_is_worth_its_cost)
{
    costs[3] = 20;
    form_conflict_find(&request, &conflict);
    ck_assert(conflict.found);
    ck_assert_uint_eq(conflict.run, 2);
}
END_TEST

/* A factor that all configurations have in common decides nothing. */
START_TEST(a_common_factor_is_no_conflict)
{
    double moved[CANDIDATES];
    for (int c = 0; c < CANDIDATES; c++) {
        moved[c] = first[c] + 0.7;
    }
    forms[1].log_values = moved;
    form_conflict_find(&request, &conflict);
    ck_assert(!conflict.found);
    run(4, 0.4);
    form_conflict_find(&request, &conflict);
    ck_assert(!conflict.found);
}
END_TEST

START_TEST(what_noise_hides_is_no_conflict)
{
    request.noise = 0.2;
    form_conflict_find(&request, &conflict);
    ck_assert(!conflict.found);
}
END_TEST

/* The bests agree; one value differs by more than the forms and a run scatter. */
START_TEST(values_alone_can_conflict)
{
    double other[CANDIDATES] = {0.0, -0.10, 0.30, 0.05, 0.2 + 0.3};
    forms[1].log_values = other;
    form_conflict_find(&request, &conflict);
    ck_assert(conflict.found && !conflict.other_best);
    ck_assert_uint_eq(conflict.run, 4);
    ck_assert_uint_eq(conflict.bests[0], conflict.bests[1]);
    forms[0].log_sigma = forms[1].log_sigma = 0.2;
    form_conflict_find(&request, &conflict);
    ck_assert(!conflict.found);
}
END_TEST

/* Measured is measured: what both held for the best before is no question any more. */
START_TEST(runs_take_the_place_of_predictions)
{
    run(0, 1.0);
    run(3, 1.0); /* as bad as the first form says, relative to candidate 0 */
    form_conflict_find(&request, &conflict);
    ck_assert(conflict.is_plausible[0] && conflict.is_plausible[1]);
    ck_assert(!conflict.found || conflict.run != 3);
}
END_TEST

/* Eight runs that the first form foretells and the second misses by 30 % each: no conflict is left. */
START_TEST(runs_refute_a_form)
{
    enum {
        MANY = 10
    };
    double right[MANY], wrong[MANY], runs[MANY], cost[MANY];
    bool done[MANY];
    for (int c = 0; c < MANY; c++) {
        right[c] = 0.1 * c;
        wrong[c] = 0.1 * c + (c % 2 ? 0.3 : -0.3);
        done[c] = c < 8;
        runs[c] = done[c] ? right[c] + 2 : (double)NAN;
        cost[c] = 1;
    }
    forms[0] = (struct conflict_form){wrong, 0.05};
    forms[1] = (struct conflict_form){right, 0.05};
    request.candidate_count = MANY;
    request.measured = runs;
    request.is_closed = done;
    request.costs_s = cost;
    form_conflict_find(&request, &conflict);
    ck_assert(!conflict.is_plausible[0] && conflict.is_plausible[1] && !conflict.found);
    /* one of them says nothing of ratios */
    for (int c = 1; c < 8; c++) {
        done[c] = false;
        runs[c] = (double)NAN;
    }
    form_conflict_find(&request, &conflict);
    ck_assert(conflict.is_plausible[0] && conflict.is_plausible[1] && conflict.found);
    ck_assert_uint_ge(conflict.run, 1);
}
END_TEST

/* A rival of the form in use is named, not two rivals of it; where the runs refute that one, the likeliest takes its
 * place. */
START_TEST(the_form_in_use_is_one_of_the_two)
{
    double far[CANDIDATES] = {0.0, 0.2, 0.9, 0.9, -0.6};
    forms[2] = (struct conflict_form){far, 0.05};
    request.form_count = 3;
    form_conflict_find(&request, &conflict);
    ck_assert(conflict.found);
    ck_assert_uint_eq(conflict.forms[0], 0);
    ck_assert_uint_eq(conflict.forms[1], 2);
}
END_TEST

START_TEST(forms_that_say_nothing)
{
    double silent[CANDIDATES] = {NAN, NAN, NAN, NAN, NAN};
    forms[1].log_values = silent;
    form_conflict_find(&request, &conflict);
    ck_assert(!conflict.found);
    forms[1].log_values = second;
    for (int c = 0; c < CANDIDATES; c++) {
        closed[c] = true;
    }
    form_conflict_find(&request, &conflict);
    ck_assert(!conflict.found); /* nothing is left to run */
    set_up();
    request.anchor = SIZE_MAX;
    form_conflict_find(&request, &conflict);
    ck_assert(conflict.found);
}
END_TEST

Suite *suite_form_conflict(void)
{
    Suite *suite = suite_create("form_conflict");
    TCase *tcase = tcase_create("conflict");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, different_bests_are_a_conflict);
    tcase_add_test(tcase, the_run_is_worth_its_cost);
    tcase_add_test(tcase, a_common_factor_is_no_conflict);
    tcase_add_test(tcase, what_noise_hides_is_no_conflict);
    tcase_add_test(tcase, values_alone_can_conflict);
    tcase_add_test(tcase, runs_take_the_place_of_predictions);
    tcase_add_test(tcase, runs_refute_a_form);
    tcase_add_test(tcase, the_form_in_use_is_one_of_the_two);
    tcase_add_test(tcase, forms_that_say_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}
