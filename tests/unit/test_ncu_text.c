/* SPDX-License-Identifier: GPL-3.0-or-later
 * What Nsight Compute prints without --csv. The large sample is made: figures of the recorded CSV in the layout, with
 * the scaled units, of the console (tests/fuzz/corpus/ncu_text). */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "evidence/profiles/profile_readers.h"
#include "tests/support/assert_close.h"
#include "tests/support/claims.h"

#define CORPUS "tests/fuzz/corpus/ncu_text/"
#define FRAME  "    ---------------- ----------- ------------\n"
#define HEAD   FRAME "    Metric Name      Metric Unit Metric Value\n" FRAME

static struct kernel_claim_list list;

static void read_text(const char *text)
{
    claims_must_read_text(ncu_text_read, "run.txt", text, strlen(text), &list);
}

static void release(void)
{
    kernel_claim_list_release(&list);
}

/* Exact in the CSV, rounded to 10 bytes on the console: the CSV's value lies in the console's interval. */
START_TEST(console_says_what_the_table_says)
{
    static const enum claim_figure both[] = {CLAIM_REGISTERS,   CLAIM_STATIC_SMEM, CLAIM_DYNAMIC_SMEM,
                                             CLAIM_LAUNCH_SMEM, CLAIM_SMEM_CONFIG, CLAIM_RESERVED_SMEM,
                                             CLAIM_THREADS,     CLAIM_GRID,        CLAIM_CTAS_PER_SM,
                                             CLAIM_SM_COUNT,    CLAIM_CLUSTER};
    struct kernel_claim_list table;
    claims_must_read(ncu_text_read, CORPUS "console", &list);
    claims_must_read(ncu_csv_read, "tests/recorded/profilers/ncu-details-h200.csv", &table);
    ck_assert_uint_eq(list.count, table.count);
    ck_assert_uint_eq(list.skipped, 0);
    for (size_t i = 0; i < list.count; i++) {
        const struct kernel_claim *console = &list.items[i], *csv = &table.items[i];
        ck_assert_str_eq(console->name, csv->name);
        ck_assert_uint_eq(console->arch, 90);
        ck_assert_mem_eq(console->grid, csv->grid, sizeof csv->grid);
        ck_assert_mem_eq(console->block, csv->block, sizeof csv->block);
        ck_assert_str_eq(console->note, "");
        for (size_t f = 0; f < sizeof both / sizeof both[0]; f++) {
            const struct claim_value *printed = &console->figures[both[f]], *exact = &csv->figures[both[f]];
            ck_assert_msg(printed->is_known && exact->is_known && printed->low <= exact->low &&
                              printed->high >= exact->high && printed->high - printed->low <= 20,
                          "%s of launch %zu: %g to %g, exactly %g", claim_figure_name(both[f]), i + 1, printed->low,
                          printed->high, exact->low);
        }
        ck_assert(console->time.is_profiled);
        ck_assert_double_eq_tol(console->time.median_us, csv->time.median_us, 0.005);
    }
    kernel_claim_list_release(&table);
    release();
}
END_TEST

/* No head of the tables, a date and no sides in the launch's line, long names of units. */
START_TEST(old_versions)
{
    claims_must_read(ncu_text_read, CORPUS "old", &list);
    ck_assert_uint_eq(list.count, 1);
    const struct kernel_claim *claim = &list.items[0];
    ck_assert_str_eq(claim->name, "k<int, 4>(int const*, float*)");
    ck_assert_uint_eq(claim->arch, 0);
    assert_figure(claim, CLAIM_THREADS, 256);
    assert_figure(claim, CLAIM_GRID, 4096);
    assert_figure(claim, CLAIM_REGISTERS, 40);
    assert_interval(claim, CLAIM_DYNAMIC_SMEM, 49145, 49155);
    assert_figure(claim, CLAIM_STATIC_SMEM, 128);
    assert_close_rel(claim->time.median_us, 1230, TOL_ROUNDING);
    release();
}
END_TEST

START_TEST(metrics_by_their_ids_and_a_decimal_comma)
{
    claims_must_read(ncu_text_read, CORPUS "metrics", &list);
    ck_assert_uint_eq(list.count, 1);
    const struct kernel_claim *claim = &list.items[0];
    ck_assert_str_eq(claim->name, "gemm(float *)");
    ck_assert_uint_eq(claim->arch, 120);
    assert_figure(claim, CLAIM_REGISTERS, 168);
    assert_figure(claim, CLAIM_GRID, 60);
    assert_figure(claim, CLAIM_THREADS, 128);
    assert_close_rel(claim->time.median_us, 12.5, TOL_ROUNDING);
    release();
}
END_TEST

/* Rules and the program's own lines look like rows; only what is framed counts. */
START_TEST(lines_outside_of_tables_say_nothing)
{
    read_text("Grid Size 7\n"
              "  k (1, 1, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
              "    Section: Launch Statistics\n" HEAD "    Registers Per Thread register/thread 32\n" FRAME "\n"
              "    OPT   a rule\n"
              "    Registers Per Thread register/thread 99\n"
              "    Section: Occupancy\n"
              "    Block Limit SM block 3\n" HEAD "    Theoretical Occupancy % 50\n" FRAME
              "  k (1, 1, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
              "    Section: Launch Statistics\n" HEAD "    Registers Per Thread register/thread 32\n");
    ck_assert_uint_eq(list.count, 2); /* the second does not tell its occupancy */
    assert_figure(&list.items[0], CLAIM_REGISTERS, 32);
    assert_interval(&list.items[0], CLAIM_OCCUPANCY, 0.495, 0.505);
    assert_unknown(&list.items[0], CLAIM_CTAS_PER_SM);
    assert_figure(&list.items[1], CLAIM_REGISTERS, 32);
    release();
}
END_TEST

START_TEST(launches_alike_are_one)
{
    static const char launch[] = "  k (1, 1, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
                                 "    Section: GPU Speed Of Light Throughput\n" HEAD;
    char text[2000];
    (void)snprintf(text, sizeof text, "%s    Duration us 2.00\n%s%s    Duration ms 0.004\n%s", launch, FRAME, launch,
                   FRAME);
    read_text(text);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.items[0].time.count, 2);
    assert_close_rel(list.items[0].time.mean_us, 3, TOL_ROUNDING);
    release();
}
END_TEST

START_TEST(hostile_lines)
{
    static const char bad_name[] =
        "  \xff\xfe (1, 1, 1)x(64, 1, 1), Context 1, Stream 7\n"
        "  k (0, 1, 1)x(64, 1, 1), Context 1, Stream 7\n"
        "  good (1, 1, 1)x(64, 1, 1), Context 1, Stream 7\n" HEAD "    Registers Per Thread register/thread -3\n"
        "    Grid Size 1e999\n"
        "    Duration\n"
        "    Block Size \n"
        "    Static Shared Memory Per Block furlong 3\n";
    struct error error = {0};
    read_text(bad_name);
    ck_assert_uint_eq(list.skipped, 2);
    ck_assert_ptr_nonnull(strstr(list.first_skipped, ":1:"));
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.items[0].name, "good");
    assert_unknown(&list.items[0], CLAIM_REGISTERS);
    ck_assert_ptr_nonnull(strstr(list.items[0].note, "'-3' is not taken"));
    release();
    ck_assert_int_eq(claims_read_status(ncu_text_read, "x", "Section: Occupancy\n", 19, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "Context 1"));
    ck_assert_int_eq(claims_read_status(ncu_text_read, "x", "", 0, &error), STATUS_BAD_DATA);
}
END_TEST

Suite *suite_ncu_text(void)
{
    Suite *suite = suite_create("ncu_text");
    TCase *samples = tcase_create("samples"), *written = tcase_create("written");
    tcase_add_test(samples, console_says_what_the_table_says);
    tcase_add_test(samples, old_versions);
    tcase_add_test(samples, metrics_by_their_ids_and_a_decimal_comma);
    tcase_add_test(written, lines_outside_of_tables_say_nothing);
    tcase_add_test(written, launches_alike_are_one);
    tcase_add_test(written, hostile_lines);
    suite_add_tcase(suite, samples);
    suite_add_tcase(suite, written);
    return suite;
}
