/* SPDX-License-Identifier: GPL-3.0-or-later
 * Draws of a process's lengths, amplitude and noise: by their priors where there are no runs, by the runs where there
 * are. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "calibrate/experiment/search_surrogate_private.h"
#include "tests/support/assert_close.h"

enum {
    SIDE = 8,
    CONFIGS = SIDE * SIDE,
    ROWS = 16,
    DRAWS = 3000
};

/* Two knobs of eight levels. */
static void make_space(struct search_space *space)
{
    double values[CONFIGS * 2];
    struct error error = {0};
    for (int c = 0; c < CONFIGS; c++) {
        values[c * 2] = 1 + c % SIDE;
        values[c * 2 + 1] = 11 + 3 * (c / SIDE);
    }
    ck_assert_int_eq(search_space_init(space, values, CONFIGS, 2, NULL, &error), STATUS_OK);
}

static struct search_surrogate *start(const struct search_space *space)
{
    struct search_surrogate *surrogate = NULL;
    struct error error = {0};
    ck_assert_int_eq(search_surrogate_create(space, SEARCH_KERNEL_PRODUCT, NULL, ROWS, &surrogate, &error), STATUS_OK);
    return surrogate;
}

static void draw(struct search_surrogate *surrogate, size_t steps, double *means, double *deviations)
{
    struct random_stream stream;
    double sums[LOG_LENGTHS + 2] = {0}, squares[LOG_LENGTHS + 2] = {0};
    random_init(&stream, 5, 1);
    for (int d = 0; d < DRAWS; d++) {
        search_surrogate_walk(surrogate, steps, &stream);
        for (int k = 0; k < LOG_LENGTHS + 2; k++) {
            sums[k] += surrogate->unknowns[k] / DRAWS;
            squares[k] += surrogate->unknowns[k] * surrogate->unknowns[k] / DRAWS;
        }
    }
    for (int k = 0; k < LOG_LENGTHS + 2; k++) {
        means[k] = sums[k];
        deviations[k] = sqrt(squares[k] - sums[k] * sums[k]);
    }
}

/* SEARCH-2: amplitude and lengths about 1, noise about 0.002, each by a factor of e. */
START_TEST(test_without_runs_the_priors)
{
    struct search_space space;
    double means[LOG_LENGTHS + 2], deviations[LOG_LENGTHS + 2];
    make_space(&space);
    struct search_surrogate *surrogate = start(&space);
    search_surrogate_fit(surrogate, &(struct search_observation){0}, 0);
    draw(surrogate, 1, means, deviations);
    for (int k = 0; k < LOG_LENGTHS + 2; k++) {
        ck_assert_double_eq_tol(means[k], k == LOG_NOISE ? log(0.002) : 0, 0.1);
        ck_assert_double_eq_tol(deviations[k], 1, 0.1);
    }
    search_surrogate_free(surrogate);
    search_space_release(&space);
}
END_TEST

/* Runs that the first knob makes rough and the second does not touch: short against long; the next fit is as before. */
START_TEST(test_runs_move_the_draws)
{
    struct search_space space;
    double means[LOG_LENGTHS + 2], deviations[LOG_LENGTHS + 2];
    struct search_observation rows[ROWS];
    make_space(&space);
    for (int i = 0; i < ROWS; i++) {
        const uint32_t config = (uint32_t)(i * 27 % CONFIGS);
        rows[i] = (struct search_observation){.config = config, .log_value = sin(2.5 * (config % SIDE))};
    }
    struct search_surrogate *surrogate = start(&space);
    search_surrogate_fit(surrogate, rows, ROWS);
    const double evidence = search_surrogate_evidence(surrogate);
    draw(surrogate, 2, means, deviations);
    ck_assert_double_lt(means[LOG_LENGTHS], -0.5);
    ck_assert_double_gt(means[LOG_LENGTHS + 1], 0.5);
    ck_assert_double_lt(deviations[LOG_LENGTHS], 0.7);
    ck_assert_double_gt(deviations[LOG_LENGTHS], 0.05);
    assert_close_rel(search_surrogate_evidence(surrogate), evidence, TOL_ROUNDING);
    search_surrogate_fit(surrogate, rows, ROWS);
    assert_close_rel(search_surrogate_evidence(surrogate), evidence, TOL_ROUNDING);
    search_surrogate_free(surrogate);
    search_space_release(&space);
}
END_TEST

Suite *suite_search_surrogate(void);
Suite *suite_search_surrogate(void)
{
    Suite *suite = suite_create("search_surrogate");
    TCase *tests = tcase_create("draws");
    tcase_add_test(tests, test_without_runs_the_priors);
    tcase_add_test(tests, test_runs_move_the_draws);
    suite_add_tcase(suite, tests);
    return suite;
}
