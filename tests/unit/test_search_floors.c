/* SPDX-License-Identifier: GPL-3.0-or-later
 * SEARCH-11: one run that is far off its prediction must not make others fast beyond what hardware can. */
#include <check.h>
#include <math.h>

#include "calibrate/experiment/search_engine.h"

Suite *suite_search_floors(void);

enum {
    CONFIGS = 60
};

static struct search_space space;
static double logs[CONFIGS], floors[CONFIGS];
static struct search_prior prior;
static struct search_options options;

static void set_up(void)
{
    double values[2 * CONFIGS];
    struct error error = {0};
    for (int c = 0; c < CONFIGS; c++) {
        values[2 * c] = c % 10;
        values[2 * c + 1] = c / 10;
        logs[c] = log(300e-6 + 20e-6 * c);
        floors[c] = log(139e-6);
    }
    ck_assert_int_eq(search_space_init(&space, values, CONFIGS, 2, NULL, &error), STATUS_OK);
    prior.log_value = logs;
    prior.log_sigma = 0.2;
    search_options_init(&options);
    options.log_floors = floors;
}

static void tear_down(void)
{
    search_space_release(&space);
}

/* The lowest value, lower end and expected gain that any configuration is given after runs of 0 at `first` and of 40 at
 * `second`. */
static void extremes(double first, double second, double *value, double *lo, double *gain)
{
    struct search_engine *engine = NULL;
    struct search_proposal proposal;
    struct search_summary summary;
    struct error error = {0};
    size_t count = 0;
    ck_assert_int_eq(search_engine_create(&space, &prior, &options, &engine, &error), STATUS_OK);
    const double times[] = {first, second};
    for (int i = 0; i < 2; i++) {
        const struct search_run run = {.config = i ? 40 : 0, .value = times[i], .forecast_lo = NAN, .forecast_hi = NAN};
        ck_assert_int_eq(search_engine_tell(engine, &run, &error), STATUS_OK);
    }
    ck_assert_int_eq(search_engine_propose(engine, 1, &proposal, &count, &summary, &error), STATUS_OK);
    ck_assert_uint_eq(count, 1);
    *value = *lo = HUGE_VAL;
    *gain = 0;
    for (uint32_t c = 0; c < CONFIGS; c++) {
        if (c != 0 && c != 40 && search_engine_describe(engine, c, &proposal)) {
            *value = fmin(*value, proposal.value);
            *lo = fmin(*lo, proposal.value_lo);
            *gain = fmax(*gain, proposal.gain_fraction);
        }
    }
    search_engine_free(engine);
}

START_TEST(nothing_is_foretold_below_its_floor)
{
    double value, lo, gain, free_value, free_lo, free_gain;
    extremes(5712e-6, 160e-6, &value, &lo, &gain);
    ck_assert(value >= 139e-6 * (1 - 1e-12) && lo >= 139e-6 * (1 - 1e-12));
    ck_assert(gain > 0 && gain <= log(160.0 / 139.0) + 1e-12);
    options.log_floors = NULL;
    extremes(5712e-6, 160e-6, &free_value, &free_lo, &free_gain);
    ck_assert_msg(free_lo < 139e-6, "the case shows nothing: %g", free_lo);
}
END_TEST

/* Measured below its floor: then what is measured is not what is described. */
START_TEST(a_run_below_its_floor_takes_them_away)
{
    double value, lo, gain, free_value, free_lo, free_gain;
    extremes(300e-6, 100e-6, &value, &lo, &gain);
    options.log_floors = NULL;
    extremes(300e-6, 100e-6, &free_value, &free_lo, &free_gain);
    ck_assert(fabs(value - free_value) < 1e-12 && fabs(lo - free_lo) < 1e-12 && fabs(gain - free_gain) < 1e-12);
    ck_assert(lo < 139e-6);
}
END_TEST

Suite *suite_search_floors(void)
{
    Suite *suite = suite_create("search_floors");
    TCase *tcase = tcase_create("floors");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, nothing_is_foretold_below_its_floor);
    tcase_add_test(tcase, a_run_below_its_floor_takes_them_away);
    suite_add_tcase(suite, tcase);
    return suite;
}
