/* SPDX-License-Identifier: GPL-3.0-or-later
 * The search on spaces made here: what must hold on any space, not how fast it is on one. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "calibrate/experiment/search_baselines.h"
#include "calibrate/experiment/search_engine.h"
#include "tests/support/assert_close.h"

enum {
    CONFIGS = 12 * 6 * 5 * 2,
    KNOBS = 4
};

struct table {
    struct search_space space;
    double times[CONFIGS], logs[CONFIGS];
};

/* Four knobs that interact, one of which matters little; a corner that fails. */
static struct table *make_table(void)
{
    struct table *table = malloc(sizeof *table);
    double values[CONFIGS * KNOBS];
    struct error error = {0};
    ck_assert_ptr_nonnull(table);
    for (int c = 0; c < CONFIGS; c++) {
        const int a = c % 12, b = c / 12 % 6, d = c / 72 % 5, e = c / 360;
        const double knobs[KNOBS] = {8 + 8 * a, 1 << b, d, e};
        for (int k = 0; k < KNOBS; k++) {
            values[c * KNOBS + k] = knobs[k];
        }
        table->logs[c] = 0.05 * pow(a - 2.0 * b + 1, 2) + 0.5 * fabs(d - 3.0 + e) + 0.1 * abs(a - 6) + 0.4 * (b == 5);
        table->times[c] = a + b > 11 ? (double)NAN : 1e-3 * exp(table->logs[c]);
    }
    ck_assert_int_eq(search_space_init(&table->space, values, CONFIGS, KNOBS, NULL, &error), STATUS_OK);
    return table;
}

static void free_table(struct table *table)
{
    search_space_release(&table->space);
    free(table);
}

static struct search_engine *start(const struct table *table, const struct search_prior *prior,
                                   const struct search_options *options)
{
    struct search_engine *engine = NULL;
    struct error error = {0};
    ck_assert_int_eq(search_engine_create(&table->space, prior, options, &engine, &error), STATUS_OK);
    return engine;
}

static void tell(struct search_engine *engine, uint32_t config, double value, const struct search_proposal *proposal)
{
    struct error error = {0};
    const struct search_run run = {.config = config,
                                   .failed = !isfinite(value),
                                   .value = value,
                                   .forecast_lo = proposal ? proposal->value_lo : (double)NAN,
                                   .forecast_hi = proposal ? proposal->value_hi : (double)NAN};
    ck_assert_int_eq(search_engine_tell(engine, &run, &error), STATUS_OK);
}

static struct search_proposal propose(struct search_engine *engine, struct search_summary *summary)
{
    struct search_proposal proposal = {0};
    struct error error = {0};
    size_t count = 0;
    ck_assert_int_eq(search_engine_propose(engine, 1, &proposal, &count, summary, &error), STATUS_OK);
    ck_assert_uint_eq(count, 1);
    return proposal;
}

/* Four seeds: never a configuration twice, and after 25 of 720 runs much nearer to the best than random search is. */
START_TEST(test_finds_the_best)
{
    struct table *table = make_table();
    double scratch[CONFIGS];
    double sum = 0;
    const double chance = search_random_expectation(table->times, CONFIGS, 25, scratch);
    ck_assert(chance < 0.85);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct search_options options;
        bool seen[CONFIGS] = {false};
        double least = HUGE_VAL;
        search_options_init(&options);
        options.seed = seed;
        struct search_engine *engine = start(table, NULL, &options);
        for (int i = 0; i < 25; i++) {
            const struct search_proposal proposal = propose(engine, NULL);
            ck_assert(!seen[proposal.config]);
            seen[proposal.config] = true;
            least = fmin(least, table->times[proposal.config]);
            tell(engine, proposal.config, table->times[proposal.config], &proposal);
        }
        sum += 1e-3 / least;
        search_engine_free(engine);
    }
    ck_assert_msg(sum / 4 > chance + 0.1, "%g, by chance %g", sum / 4, chance);
    free_table(table);
}
END_TEST

/* Whoever asks again, or starts anew from the record, gets the same answer. */
START_TEST(test_same_results_same_proposals)
{
    struct table *table = make_table();
    struct search_options options;
    struct search_proposal first[6], second[6];
    struct search_summary summary;
    struct error error = {0};
    size_t count = 0;
    search_options_init(&options);
    struct search_engine *engine = start(table, NULL, &options), *again = start(table, NULL, &options);
    for (int i = 0; i < 12; i++) {
        const struct search_proposal proposal = propose(engine, i % 2 ? &summary : NULL);
        tell(engine, proposal.config, table->times[proposal.config], &proposal);
        tell(again, proposal.config, table->times[proposal.config], &proposal);
    }
    ck_assert_int_eq(search_engine_propose(engine, 6, first, &count, &summary, &error), STATUS_OK);
    ck_assert_uint_eq(count, 6);
    ck_assert_int_eq(search_engine_propose(again, 6, second, &count, NULL, &error), STATUS_OK);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_uint_eq(first[i].config, second[i].config);
        ck_assert(first[i].value_lo < first[i].value && first[i].value < first[i].value_hi);
        ck_assert(first[i].best_probability >= 0 && first[i].best_probability <= 1);
        for (size_t j = 0; j < i; j++) {
            ck_assert_uint_ne(first[i].config, first[j].config);
        }
    }
    ck_assert(summary.has_best && summary.runs == 12 && summary.best_probability >= 0);
    search_engine_free(engine);
    search_engine_free(again);
    free_table(table);
}
END_TEST

/* A prediction that is right leads to the best at once; one with the wrong sign does not keep it from being found. */
START_TEST(test_prior_leads)
{
    struct table *table = make_table();
    struct search_options options;
    double offsets[CONFIGS], least = HUGE_VAL;
    uint32_t best = 0;
    search_options_init(&options);
    for (uint32_t c = 0; c < CONFIGS; c++) {
        offsets[c] = log(1e-3) + table->logs[c];
        if (table->times[c] < least) {
            least = table->times[c];
            best = c;
        }
    }
    const struct search_prior prior = {offsets, 0.05};
    struct search_engine *engine = start(table, &prior, &options);
    const struct search_proposal proposal = propose(engine, NULL);
    ck_assert(fabs(log(table->times[proposal.config] / least)) < 1e-9 || proposal.config == best);
    assert_close_rel(proposal.value, table->times[proposal.config], 0.05);
    search_engine_free(engine);
    for (uint32_t c = 0; c < CONFIGS; c++) {
        offsets[c] = log(1e-3) - 0.5 * table->logs[c];
    }
    engine = start(table, &prior, &options);
    least = HUGE_VAL;
    for (int i = 0; i < 45; i++) {
        const struct search_proposal next = propose(engine, NULL);
        least = fmin(least, table->times[next.config]);
        tell(engine, next.config, table->times[next.config], &next);
    }
    ck_assert_msg(least < 1.15e-3, "misled: %g", least);
    search_engine_free(engine);
    free_table(table);
}
END_TEST

/* Failures are learnt: after a corner failed, its neighbours are thought less likely to run than what did run. */
START_TEST(test_failures_teach)
{
    struct table *table = make_table();
    struct search_options options;
    struct search_proposal near, far;
    search_options_init(&options);
    struct search_engine *engine = start(table, NULL, &options);
    for (uint32_t c = 0; c < CONFIGS; c += 7) {
        tell(engine, c, table->times[c], NULL);
    }
    (void)propose(engine, NULL);
    ck_assert(search_engine_describe(engine, 11 + 12 * 4, &near) && search_engine_describe(engine, 1 + 12 * 1, &far));
    ck_assert_msg(near.feasible_probability < 0.6 && far.feasible_probability > 0.9, "%g %g", near.feasible_probability,
                  far.feasible_probability);
    search_engine_free(engine);
    free_table(table);
}
END_TEST

/* Where nothing runs the search goes through all of it and ends. */
START_TEST(test_nothing_runs)
{
    const double values[] = {1, 2, 3, 4, 5, 6};
    struct search_space space;
    struct search_options options;
    struct search_engine *engine = NULL;
    struct search_proposal proposal;
    struct search_summary summary;
    struct error error = {0};
    size_t count = 0;
    search_options_init(&options);
    ck_assert_int_eq(search_space_init(&space, values, 6, 1, NULL, &error), STATUS_OK);
    ck_assert_int_eq(search_engine_create(&space, NULL, &options, &engine, &error), STATUS_OK);
    for (int i = 0; i < 6; i++) {
        proposal = propose(engine, &summary);
        tell(engine, proposal.config, (double)NAN, &proposal);
    }
    ck_assert_int_eq(search_engine_propose(engine, 3, &proposal, &count, &summary, &error), STATUS_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert(!summary.has_best && summary.failures == 6 && !search_engine_incumbent(engine, &proposal));
    search_engine_free(engine);
    search_space_release(&space);
}
END_TEST

/* Misses widen the next intervals, hits narrow them: at a level of 0.8 four hits make up for one miss (SEARCH-7). */
START_TEST(test_stretch_follows_the_misses)
{
    struct table *table = make_table();
    struct search_options options;
    struct search_summary before, missed, held;
    search_options_init(&options);
    struct search_engine *engine = start(table, NULL, &options);
    const struct search_proposal wrong = {.value_lo = 1, .value_hi = 2}, right = {.value_lo = 1e-9, .value_hi = 1e9};
    (void)propose(engine, &before);
    tell(engine, 0, 3, &wrong);
    (void)propose(engine, &missed);
    for (uint32_t c = 1; c <= 4; c++) {
        tell(engine, c, 3, &right);
    }
    (void)propose(engine, &held);
    assert_close_rel(missed.stretch, before.stretch * exp(0.4 * 0.8), TOL_ROUNDING);
    assert_close_rel(held.stretch, before.stretch, 1e-12);
    ck_assert_uint_eq(held.forecasts, 5);
    ck_assert_uint_eq(held.forecasts_inside, 4);
    search_engine_free(engine);
    free_table(table);
}
END_TEST

/* Two configurations within the noise of a run, everything else far behind: the best is worth another look. */
START_TEST(test_noise_calls_for_a_repeat)
{
    struct table *table = make_table();
    struct search_options options;
    struct search_proposal again, quiet;
    struct search_summary summary;
    search_options_init(&options);
    for (int noisy = 0; noisy < 2; noisy++) {
        options.run_noise = noisy ? 0.05 : 0;
        struct search_engine *engine = start(table, NULL, &options);
        for (uint32_t c = 0; c < CONFIGS; c += 4) {
            tell(engine, c, isfinite(table->times[c]) ? table->times[c] : 1, NULL);
        }
        const struct search_proposal first = propose(engine, &summary);
        ck_assert(search_engine_incumbent(engine, noisy ? &again : &quiet));
        if (!noisy) {
            ck_assert(first.reason != SEARCH_REASON_SETTLE);
        }
        search_engine_free(engine);
    }
    ck_assert(quiet.gain_fraction == 0 && again.gain_fraction > 0.001);
    ck_assert_int_eq(again.reason, SEARCH_REASON_SETTLE);
    free_table(table);
}
END_TEST

/* What is foretold of the other runs of a batch is no measurement of the incumbent: its interval stays as wide. */
START_TEST(test_a_batch_does_not_settle_the_incumbent)
{
    struct table *table = make_table();
    struct search_options options;
    struct search_proposal alone, batch[8];
    struct error error = {0};
    size_t count = 0;
    search_options_init(&options);
    options.run_noise = 0.5;
    struct search_engine *engine = start(table, NULL, &options);
    for (uint32_t c = 0; c < CONFIGS; c += 4) {
        tell(engine, c, isfinite(table->times[c]) ? table->times[c] : 1, NULL);
    }
    ck_assert_int_eq(search_engine_propose(engine, 1, &alone, &count, NULL, &error), STATUS_OK);
    ck_assert_int_eq(search_engine_propose(engine, 8, batch, &count, NULL, &error), STATUS_OK);
    ck_assert_uint_eq(count, 8);
    ck_assert_int_eq(alone.reason, SEARCH_REASON_SETTLE);
    ck_assert_int_eq(batch[0].reason, SEARCH_REASON_SETTLE);
    ck_assert_uint_eq(batch[0].config, alone.config);
    assert_close_rel(batch[0].value_lo, alone.value_lo, 1e-12);
    assert_close_rel(batch[0].value_hi, alone.value_hi, 1e-12);
    search_engine_free(engine);
    free_table(table);
}
END_TEST

/* The dearer of two like configurations waits. */
START_TEST(test_cost_counts)
{
    struct table *table = make_table();
    struct search_options options;
    double costs[CONFIGS];
    int cheap = 0;
    search_options_init(&options);
    for (uint32_t c = 0; c < CONFIGS; c++) {
        costs[c] = c >= 360 ? 1000 : 1;
    }
    options.costs_s = costs;
    struct search_engine *engine = start(table, NULL, &options);
    for (int i = 0; i < 20; i++) {
        const struct search_proposal proposal = propose(engine, NULL);
        cheap += i >= 8 && proposal.config < 360;
        tell(engine, proposal.config, table->times[proposal.config], &proposal);
    }
    ck_assert_int_ge(cheap, 10);
    search_engine_free(engine);
    free_table(table);
}
END_TEST

/* Learning: the chosen run lowers the deviation elsewhere, and the stated share falls as more is known. */
START_TEST(test_learning)
{
    struct table *table = make_table();
    struct search_options options;
    double first = 0, last = 0;
    search_options_init(&options);
    options.objective = SEARCH_OBJECTIVE_LEARN;
    struct search_engine *engine = start(table, NULL, &options);
    for (int i = 0; i < 20; i++) {
        const struct search_proposal proposal = propose(engine, NULL);
        if (i == 9) {
            first = proposal.gain_fraction;
        }
        last = proposal.gain_fraction;
        tell(engine, proposal.config, table->times[proposal.config], &proposal);
    }
    ck_assert_msg(first > 0 && first < 1 && last > 0 && last < first, "%g %g", first, last);
    search_engine_free(engine);
    free_table(table);
}
END_TEST

START_TEST(test_stops_when_all_is_known)
{
    double values[2 * 40];
    struct search_space space;
    struct search_options options;
    struct search_summary summary;
    struct search_engine *engine = NULL;
    struct error error = {0};
    for (int c = 0; c < 40; c++) {
        values[2 * c] = c % 8;
        values[2 * c + 1] = c / 8;
    }
    search_options_init(&options);
    ck_assert_int_eq(search_space_init(&space, values, 40, 2, NULL, &error), STATUS_OK);
    ck_assert_int_eq(search_engine_create(&space, NULL, &options, &engine, &error), STATUS_OK);
    for (uint32_t c = 0; c < 40; c++) {
        if (c % 7 != 5) {
            tell(engine, c, exp(0.1 * pow(values[2 * c] - 3, 2) + 0.2 * values[2 * c + 1]), NULL);
        }
    }
    (void)propose(engine, &summary);
    ck_assert_msg(summary.stop && summary.remaining_gain < 0.01, "%g", summary.remaining_gain);
    search_engine_free(engine);
    search_space_release(&space);
}
END_TEST

/* However little is known: not more than down to the floors, and nothing once all was run (SEARCH-11). */
START_TEST(test_no_more_than_there_is)
{
    enum {
        RUNS = 12,
        LEFT = 40
    };
    double values[LEFT], floors[LEFT];
    struct search_space space;
    struct search_options options;
    struct search_summary summary;
    struct search_proposal proposal;
    struct error error = {0};
    size_t count;
    for (int c = 0; c < LEFT; c++) {
        values[c] = c;
        floors[c] = log(0.95);
    }
    search_options_init(&options);
    ck_assert_int_eq(search_space_init(&space, values, LEFT, 1, NULL, &error), STATUS_OK);
    for (int with_floors = 0; with_floors < 2; with_floors++) {
        struct search_engine *engine = NULL;
        options.log_floors = with_floors ? floors : NULL;
        ck_assert_int_eq(search_engine_create(&space, NULL, &options, &engine, &error), STATUS_OK);
        for (uint32_t c = 0; c < LEFT; c++) {
            if (c == RUNS) {
                (void)propose(engine, &summary);
                ck_assert(!summary.was_all_run && !summary.stop);
                ck_assert(with_floors ? summary.remaining_gain <= -log(0.95) + 1e-9 : summary.remaining_gain > 0.1);
            }
            tell(engine, c, 1 + (c * 7 % 12) * 0.3, NULL);
        }
        ck_assert_int_eq(search_engine_propose(engine, 1, &proposal, &count, &summary, &error), STATUS_OK);
        ck_assert(summary.was_all_run && summary.stop && summary.remaining_gain == 0);
        search_engine_free(engine);
    }
    search_space_release(&space);
}
END_TEST

/* Whoever asked all along and whoever asks for the first time are told the same of stopping (SEARCH-8): it is said from
 * the runs alone. */
START_TEST(test_stop_is_of_the_runs)
{
    struct table *table = make_table();
    struct search_options options;
    struct search_summary asked, fresh;
    bool stopped = false;
    search_options_init(&options);
    options.stop_gain = 0.5;
    struct search_engine *engine = start(table, NULL, &options), *late = start(table, NULL, &options);
    for (int i = 0; i < 90 && !stopped; i++) {
        const struct search_proposal proposal = propose(engine, &asked);
        ck_assert(i >= 12 || !asked.stop); /* eight first runs, then five in a row */
        stopped = asked.stop;
        if (stopped) {
            (void)propose(late, &fresh);
            ck_assert(fresh.stop);
            ck_assert_double_eq(fresh.remaining_gain, asked.remaining_gain);
            ck_assert_double_eq(fresh.best_probability, asked.best_probability);
        }
        tell(engine, proposal.config, table->times[proposal.config], &proposal);
        tell(late, proposal.config, table->times[proposal.config], &proposal);
    }
    ck_assert(stopped);
    search_engine_free(engine);
    search_engine_free(late);
    free_table(table);
}
END_TEST

START_TEST(test_bad_runs_are_refused)
{
    struct table *table = make_table();
    struct search_options options;
    struct error error = {0};
    struct search_proposal proposal;
    size_t count;
    search_options_init(&options);
    struct search_engine *engine = start(table, NULL, &options);
    ck_assert_int_eq(search_engine_tell(engine, &(struct search_run){.config = CONFIGS, .value = 1}, &error),
                     STATUS_BAD_DATA);
    ck_assert_int_eq(search_engine_tell(engine, &(struct search_run){.config = 1, .value = -1}, &error),
                     STATUS_BAD_DATA);
    ck_assert_int_eq(search_engine_propose(engine, SEARCH_BATCH_MAX + 1, &proposal, &count, NULL, &error),
                     STATUS_USAGE);
    search_engine_free(engine);
    free_table(table);
}
END_TEST

Suite *suite_search_engine(void);
Suite *suite_search_engine(void)
{
    Suite *suite = suite_create("search_engine");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_finds_the_best);
    tcase_add_test(tests, test_same_results_same_proposals);
    tcase_add_test(tests, test_prior_leads);
    tcase_add_test(tests, test_failures_teach);
    tcase_add_test(tests, test_nothing_runs);
    tcase_add_test(tests, test_noise_calls_for_a_repeat);
    tcase_add_test(tests, test_a_batch_does_not_settle_the_incumbent);
    tcase_add_test(tests, test_stretch_follows_the_misses);
    tcase_add_test(tests, test_cost_counts);
    tcase_add_test(tests, test_learning);
    tcase_add_test(tests, test_stops_when_all_is_known);
    tcase_add_test(tests, test_no_more_than_there_is);
    tcase_add_test(tests, test_stop_is_of_the_runs);
    tcase_add_test(tests, test_bad_runs_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
