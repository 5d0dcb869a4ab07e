/* SPDX-License-Identifier: GPL-3.0-or-later
 * Designs: different rows, the same ones whatever was measured, and better ones than chance brings. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/design.h"
#include "calibrate/validation.h"
#include "tests/support/synthetic_rows.h"

enum {
    ROWS = 120,
    WANTED = 24
};

static void choose(const struct synthetic_rows *data, size_t count, size_t wanted, uint32_t *chosen)
{
    struct error error = {0};
    ck_assert_msg(design_choose(data->device, &data->priors, data->rows.rows, count, wanted, 7, chosen, &error) ==
                      STATUS_OK,
                  "%s", error.text);
}

START_TEST(rows_differ_and_times_do_not_matter)
{
    struct synthetic_rows data;
    uint32_t chosen[WANTED], again[WANTED];
    bool seen[ROWS] = {false};
    synthetic_rows_create(&data, "gqa-split-decode", ROWS, 1, 0.5, 0.02);
    choose(&data, ROWS, WANTED, chosen);
    for (size_t i = 0; i < WANTED; i++) {
        ck_assert_uint_lt(chosen[i], ROWS);
        ck_assert(!seen[chosen[i]]);
        seen[chosen[i]] = true;
    }
    for (size_t i = 0; i < ROWS; i++) {
        data.rows.rows[i].time_s = 1 + (double)i;
    }
    choose(&data, ROWS, WANTED, again);
    ck_assert(memcmp(chosen, again, sizeof chosen) == 0);
    choose(&data, ROWS, WANTED / 2, again); /* greedy: a smaller design is the beginning of a larger one */
    ck_assert(memcmp(chosen, again, sizeof chosen / 2) == 0);
    synthetic_rows_release(&data);
}
END_TEST

/* Nine of two dozen, by chance: another seed draws others. */
START_TEST(typical_rows_are_drawn)
{
    struct synthetic_rows data;
    uint32_t chosen[WANTED], other[WANTED];
    struct error error = {0};
    size_t typical = 0, same = 0;
    synthetic_rows_create(&data, "gqa-split-decode", ROWS, 1, 0.5, 0.02);
    choose(&data, ROWS, WANTED, chosen);
    ck_assert_int_eq(design_choose(data.device, &data.priors, data.rows.rows, ROWS, WANTED, 8, other, &error),
                     STATUS_OK);
    for (size_t i = 0; i < WANTED; i++) {
        typical += design_is_typical(i);
        same += design_is_typical(i) && chosen[i] == other[i];
    }
    ck_assert_uint_eq(typical, 9);
    ck_assert_uint_le(same, 2);
    synthetic_rows_release(&data);
}
END_TEST

START_TEST(a_row_is_not_chosen_for_being_there_often)
{
    struct synthetic_rows data;
    uint32_t chosen[WANTED];
    unsigned copies = 0;
    synthetic_rows_create(&data, "gqa-split-decode", ROWS, 2, 0.5, 0.02);
    for (size_t i = 0; i < ROWS / 2; i++) { /* half the candidates are one configuration */
        data.rows.rows[i] = data.rows.rows[0];
    }
    choose(&data, ROWS, WANTED, chosen);
    for (size_t i = 0; i < WANTED; i++) {
        copies += !design_is_typical(i) && chosen[i] < ROWS / 2; /* typical rows are typical */
    }
    ck_assert_msg(copies <= WANTED / 8, "%u of %d rows are the same", copies, WANTED);
    synthetic_rows_release(&data);
}
END_TEST

START_TEST(all_rows_are_a_design_and_more_are_refused)
{
    struct synthetic_rows data;
    struct error error = {0};
    uint32_t chosen[20];
    synthetic_rows_create(&data, "occam-gemm-tile", 20, 3, 0.5, 0.02);
    choose(&data, 20, 20, chosen);
    ck_assert(design_choose(data.device, &data.priors, data.rows.rows, 10, 11, 7, chosen, &error) == STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, "there are 10") != NULL, "%s", error.text);
    synthetic_rows_release(&data);
}
END_TEST

static double validate(const struct synthetic_rows *data, enum validation_split split)
{
    struct validation_options options;
    struct validation result;
    struct error error = {0};
    validation_options_init(&options);
    options.split = split;
    options.train_rows = 12;
    options.seeds = 4;
    options.no_baselines = options.no_choice = options.no_residual = true;
    ck_assert_msg(validation_run(data->device, &data->priors, data->scenario, &data->rows, &options, &result, &error) ==
                      STATUS_OK,
                  "%s", error.text);
    const double p90 = result.model.metrics[VALIDATION_P90_APE_PERCENT].median;
    validation_release(&result);
    return p90;
}

START_TEST(a_design_beats_chance_on_average)
{
    double chance = 0, design = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct synthetic_rows data;
        synthetic_rows_create(&data, seed % 2 ? "gqa-split-decode" : "occam-gemm-tile", ROWS, seed, 1, 0.02);
        chance += validate(&data, VALIDATION_RANDOM) / 4;
        design += validate(&data, VALIDATION_DESIGN) / 4;
        synthetic_rows_release(&data);
    }
    ck_assert_msg(design < chance, "90th percentile of the error: %.2f %% by design, %.2f %% at random", design,
                  chance);
}
END_TEST

Suite *suite_design(void);
Suite *suite_design(void)
{
    Suite *suite = suite_create("design");
    TCase *tests = tcase_create("design");
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, rows_differ_and_times_do_not_matter);
    tcase_add_test(tests, typical_rows_are_drawn);
    tcase_add_test(tests, a_row_is_not_chosen_for_being_there_often);
    tcase_add_test(tests, all_rows_are_a_design_and_more_are_refused);
    tcase_add_test(tests, a_design_beats_chance_on_average);
    suite_add_tcase(suite, tests);
    return suite;
}
