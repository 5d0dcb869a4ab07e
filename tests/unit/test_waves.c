/* SPDX-License-Identifier: GPL-3.0-or-later
 * Waves, fill and splits against published cases; list scheduling against brute force. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/random.h"
#include "base/text_buffer.h"
#include "model/predict/waves.h"
#include "tests/support/assert_close.h"

enum {
    CSV_LIMIT_BYTES = 1 << 20,
    SPLITS_MAX = 64,
    DOT_ROWS_MIN = 16 /* a tensor-core tile needs that many rows: more splits than tiles leave CTAs empty */
};

static const char *cell(const struct csv_table *table, size_t row, const char *column)
{
    const long index = csv_column(table, column);
    ck_assert_msg(index >= 0, "no column %s", column);
    return csv_cell(table, row, (size_t)index);
}

/* 0 for an empty cell. */
static double number(const struct csv_table *table, size_t row, const char *column)
{
    const char *text = cell(table, row, column);
    double value = 0;
    ck_assert_msg(*text == '\0' || number_parse(text, &value) == STATUS_OK, "line %u, %s", table->lines[row], column);
    return value;
}

/* What the case calls the right number of splits: the best fill, the smallest where several are best. */
static uint32_t best_splits(uint64_t tiles, uint32_t sm_count)
{
    uint32_t best = 0;
    double best_fill = 0;
    for (uint32_t splits = 1; splits <= SPLITS_MAX; splits++) {
        struct waves waves;
        waves_compute(tiles * splits, sm_count, 1, &waves);
        if (waves.wave_efficiency_fraction > best_fill) {
            best_fill = waves.wave_efficiency_fraction;
            best = splits;
        }
    }
    return best;
}

static double answer(const struct csv_table *table, size_t row, const char *quantity)
{
    const double grid = number(table, row, "grid_ctas"), work = number(table, row, "work");
    const uint32_t sm_count = (uint32_t)number(table, row, "sm_count");
    if (strcmp(quantity, "best_splits") == 0) {
        return best_splits((uint64_t)work, sm_count);
    }
    if (strcmp(quantity, "tokens_per_split") == 0) {
        return work / grid;
    }
    if (strcmp(quantity, "over_split") == 0) {
        return grid > ceil(work / DOT_ROWS_MIN);
    }
    struct waves waves;
    waves_compute((uint64_t)grid, sm_count, (uint32_t)number(table, row, "ctas_per_sm"), &waves);
    const struct {
        const char *name;
        double value;
    } answers[] = {
        {"waves", waves.waves},
        {"rounds", (double)waves.rounds},
        {"tail_ctas", (double)waves.tail_ctas},
        {"efficiency_percent", 100 * waves.wave_efficiency_fraction},
        {"fill_percent", 100 * waves.sm_fill_fraction},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (strcmp(quantity, answers[i].name) == 0) {
            return answers[i].value;
        }
    }
    ck_abort_msg("line %u: unknown quantity %s", table->lines[row], quantity);
    return NAN;
}

/* Half a unit of the last printed digit. */
static double printed_tolerance(const char *text)
{
    const char *point = strchr(text, '.');
    const size_t decimals = point ? strlen(point + 1) : 0;
    return 0.5 * pow(10, -(double)decimals) + 1e-9;
}

START_TEST(published_cases)
{
    struct csv_table table;
    struct error error = {0};
    ck_assert_msg(csv_read("tests/anchors/public_waves.csv", CSV_LIMIT_BYTES, &table, &error) == STATUS_OK, "%s",
                  error.text);
    unsigned exact = 0;
    for (size_t row = 0; row < table.row_count; row++) {
        const char *expected = cell(&table, row, "expected");
        const double got = answer(&table, row, cell(&table, row, "quantity"));
        ck_assert_msg(fabs(got - number(&table, row, "expected")) <= printed_tolerance(expected),
                      "%s line %u: %s is %.6g, published %s", cell(&table, row, "case"), table.lines[row],
                      cell(&table, row, "quantity"), got, expected);
        exact += strcmp(cell(&table, row, "evidence"), "exact") == 0;
    }
    printf("waves: %zu published rows reproduced, %u of them exact cases\n", table.row_count, exact);
    printf("waves: P36's 15 resident clusters of 8 on 132 SMs are the simulator's: suite wave_timeline\n");
    csv_table_release(&table);
}
END_TEST

START_TEST(the_golden_grid_is_2_72_waves)
{
    struct waves waves;
    waves_compute(512, 188, 1, &waves);
    assert_close_rel(waves.waves, 2.72, TOL_PRINTED(2.72, 0.01));
    ck_assert_uint_eq(waves.rounds, 3);
    ck_assert_uint_eq(waves.full_rounds, 2);
    ck_assert_uint_eq(waves.tail_ctas, 136);
    ck_assert_uint_eq(waves.tail_ctas_per_sm, 1);
    assert_close_rel(waves.wave_efficiency_fraction, 0.91, TOL_PRINTED(0.91, 0.01));
}
END_TEST

START_TEST(waves_agree_with_dealing_ctas_one_by_one)
{
    struct random_stream stream;
    random_init(&stream, 7, 7);
    for (int i = 0; i < 2000; i++) {
        const uint32_t sm_count = 1 + random_below(&stream, 40), ctas_per_sm = 1 + random_below(&stream, 5);
        const uint64_t grid = 1 + random_below(&stream, 700);
        struct waves waves;
        waves_compute(grid, sm_count, ctas_per_sm, &waves);
        uint64_t left = grid, rounds = 0, tail = 0;
        while (left > 0) {
            const uint64_t slots = (uint64_t)sm_count * ctas_per_sm;
            tail = left >= slots ? 0 : left;
            left -= left < slots ? left : slots;
            rounds++;
        }
        uint32_t busiest = 0;
        for (uint64_t cta = 0; cta < tail; cta++) { /* dealt over the SMs in turn */
            busiest = (uint32_t)(cta / sm_count) + 1;
        }
        ck_assert_uint_eq(waves.rounds, rounds);
        ck_assert_uint_eq(waves.tail_ctas, tail);
        ck_assert_uint_eq(waves.tail_ctas_per_sm, busiest);
        ck_assert_uint_eq(waves.full_rounds * waves.slots + waves.tail_ctas, grid);
    }
}
END_TEST

/* Every job goes to the worker that is free first; workers are looked through one by one. */
static double brute_force_makespan(const double *work, const uint64_t *counts, size_t groups, size_t slots)
{
    double busy_until[64] = {0}, makespan = 0;
    for (size_t group = 0; group < groups; group++) {
        for (uint64_t job = 0; job < counts[group]; job++) {
            size_t first = 0;
            for (size_t i = 1; i < slots; i++) {
                first = busy_until[i] < busy_until[first] ? i : first;
            }
            busy_until[first] += work[group];
            makespan = fmax(makespan, busy_until[first]);
        }
    }
    return makespan;
}

START_TEST(list_scheduling_equals_brute_force)
{
    struct random_stream stream;
    random_init(&stream, 11, 3);
    for (int i = 0; i < 3000; i++) {
        double work[6];
        uint64_t counts[6];
        const size_t groups = 1 + random_below(&stream, 6), slots = 1 + random_below(&stream, 64);
        for (size_t k = 0; k < groups; k++) {
            work[k] = random_below(&stream, 3) ? random_uniform(&stream) : random_below(&stream, 4);
            counts[k] = random_below(&stream, random_below(&stream, 4) ? 90 : 2000);
        }
        ck_assert_double_eq(waves_list_schedule(work, counts, groups, slots),
                            brute_force_makespan(work, counts, groups, slots));
    }
}
END_TEST

START_TEST(list_scheduling_by_hand)
{
    /* two workers: 5 to the first; 3 and 3 to the second, which is at 6; 4 to the first, which ends at 9 */
    const double work[] = {5, 3, 4};
    const uint64_t counts[] = {1, 2, 1};
    ck_assert_double_eq(waves_list_schedule(work, counts, 3, 2), 9);
    ck_assert_double_eq(waves_list_schedule(work, counts, 0, 2), 0);
}
END_TEST

/* Of 1, 2, ... splits of so many tiles on so many slots. */
static size_t splits_by_rule(double tiles, double slots, size_t most)
{
    double waves[256];
    ck_assert_uint_le(most, 256);
    for (size_t i = 0; i < most; i++) {
        waves[i] = tiles * (double)(i + 1) / slots;
    }
    return 1 + split_rule_fill85(waves, most);
}

START_TEST(fill_rule_takes_the_smallest_near_the_best)
{
    /* 12 tiles on 108 slots: 9 splits fill all, 8 fill 96 / 108 = 88.9 % and are the smallest above 85 % */
    ck_assert_uint_eq(splits_by_rule(12, 108, 64), 8);
    /* 1 tile: 113 of 132 slots are 85.6 %, 112 are 84.8 % */
    ck_assert_uint_eq(splits_by_rule(1, 132, 256), 113);
    ck_assert_uint_eq(splits_by_rule(132, 132, 16), 1);
    const double none[] = {0, 0};
    ck_assert_uint_eq(split_rule_fill85(none, 2), 0);
    ck_assert_uint_eq(split_rule_fill85(none, 0), 0);
}
END_TEST

Suite *suite_waves(void);
Suite *suite_waves(void)
{
    Suite *suite = suite_create("waves");
    TCase *tests = tcase_create("waves");
    tcase_add_test(tests, published_cases);
    tcase_add_test(tests, the_golden_grid_is_2_72_waves);
    tcase_add_test(tests, waves_agree_with_dealing_ctas_one_by_one);
    tcase_add_test(tests, list_scheduling_equals_brute_force);
    tcase_add_test(tests, list_scheduling_by_hand);
    tcase_add_test(tests, fill_rule_takes_the_smallest_near_the_best);
    suite_add_tcase(suite, tests);
    return suite;
}
