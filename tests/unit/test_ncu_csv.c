/* SPDX-License-Identifier: GPL-3.0-or-later
 * Nsight Compute tables: the recorded ones, and small ones written as other versions and settings print them. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/profiles/profile_number.h"
#include "evidence/profiles/profile_readers.h"
#include "tests/support/assert_close.h"
#include "tests/support/claims.h"

#define HEADER                                                                                                         \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","      \
    "\"Grid Size\",\"Device\",\"CC\","
#define DETAILS HEADER "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
#define LAUNCH(id)                                                                                                     \
    "\"" id "\",\"9\",\"app\",\"host\",\"k<int, 4>(int)\",\"1\",\"7\",\"(32, 4, 1)\",\"(10, 3, 2)\",\"0\",\"8.6\","
#define ROW(m, u, v)  LAUNCH("0") "\"S\",\"" m "\",\"" u "\",\"" v "\"\n"
#define ROW2(m, u, v) LAUNCH("1") "\"S\",\"" m "\",\"" u "\",\"" v "\"\n"

static struct kernel_claim_list list;

static void read_text(const char *text)
{
    claims_must_read_text(ncu_csv_read, "report.csv", text, strlen(text), &list);
}

static void release(void)
{
    kernel_claim_list_release(&list);
}

/* What the four launches of the recorded details page say, read off it by eye. */
START_TEST(recorded_details_page)
{
    static const struct {
        double threads, registers, dynamic, config, ctas, occupancy, duration_us;
        uint32_t grid[3];
    } expected[] = {
        {128, 255, 51200, 233472, 2, 0.125, 272.256, {96, 2, 2}},
        {256, 246, 51200, 233472, 1, 0.125, 256.256, {96, 2, 2}},
        {128, 255, 32832, 135168, 2, 0.125, 272.544, {96, 4, 4}},
        {256, 255, 188416, 233472, 1, 0.125, 196.384, {96, 1, 1}},
    };
    claims_must_read(ncu_csv_read, "tests/recorded/profilers/ncu-details-h200.csv", &list);
    ck_assert_uint_eq(list.count, 4);
    ck_assert_uint_eq(list.skipped, 0);
    for (size_t i = 0; i < 4; i++) {
        const struct kernel_claim *claim = &list.items[i];
        ck_assert_str_eq(claim->name, "split_kernel");
        ck_assert_uint_eq(claim->arch, 90);
        ck_assert_uint_eq(claim->ordinal, i + 1);
        assert_figure(claim, CLAIM_THREADS, expected[i].threads);
        assert_figure(claim, CLAIM_REGISTERS, expected[i].registers);
        assert_figure(claim, CLAIM_STATIC_SMEM, 0);
        assert_figure(claim, CLAIM_DYNAMIC_SMEM, expected[i].dynamic);
        assert_figure(claim, CLAIM_LAUNCH_SMEM, expected[i].dynamic);
        assert_figure(claim, CLAIM_RESERVED_SMEM, 1024);
        assert_figure(claim, CLAIM_SMEM_CONFIG, expected[i].config);
        assert_figure(claim, CLAIM_CTAS_PER_SM, expected[i].ctas);
        assert_figure(claim, CLAIM_SM_COUNT, 132);
        assert_figure(claim, CLAIM_CLUSTER, 1);
        assert_unknown(claim, CLAIM_STACK);
        ck_assert(claim->figures[CLAIM_OCCUPANCY].low < expected[i].occupancy &&
                  claim->figures[CLAIM_OCCUPANCY].high > expected[i].occupancy);
        ck_assert_mem_eq(claim->grid, expected[i].grid, sizeof claim->grid);
        ck_assert_uint_eq(claim->time.count, 1);
        ck_assert(claim->time.is_profiled);
        assert_close_rel(claim->time.median_us, expected[i].duration_us, TOL_ROUNDING);
    }
    release();
}
END_TEST

START_TEST(recorded_raw_page)
{
    claims_must_read(ncu_csv_read, "tests/recorded/profilers/ncu-raw-h200.csv", &list);
    ck_assert_uint_eq(list.count, 4);
    ck_assert_uint_eq(list.skipped, 0);
    const struct kernel_claim *first = &list.items[0], *third = &list.items[2];
    ck_assert_str_eq(first->device, "NVIDIA H200");
    ck_assert_uint_eq(first->arch, 90);
    assert_figure(first, CLAIM_REGISTERS, 255);
    assert_figure(first, CLAIM_REGISTERS_ALLOCATED, 256);
    assert_figure(first, CLAIM_BARRIERS, 1);
    assert_figure(first, CLAIM_GRID, 384);
    assert_figure(third, CLAIM_GRID, 1536);
    assert_figure(third, CLAIM_STATIC_SMEM, 0);
    assert_figure(third, CLAIM_DYNAMIC_SMEM, 32832);
    assert_figure(third, CLAIM_LAUNCH_SMEM, 32832);
    assert_figure(third, CLAIM_RESERVED_SMEM, 1024);
    assert_figure(third, CLAIM_SMEM_CONFIG, 135168);
    assert_figure(third, CLAIM_CTAS_PER_SM, 2);
    assert_close_rel(third->time.last_us, 272.928, TOL_ROUNDING);
    ck_assert(third->time.is_profiled);
    release();
}
END_TEST

/* The two pages of one program say the same of each launch; times are of two runs. */
START_TEST(recorded_pages_agree)
{
    static const enum claim_figure both[] = {CLAIM_REGISTERS,     CLAIM_STATIC_SMEM, CLAIM_DYNAMIC_SMEM,
                                             CLAIM_RESERVED_SMEM, CLAIM_SMEM_CONFIG, CLAIM_THREADS,
                                             CLAIM_GRID,          CLAIM_CTAS_PER_SM, CLAIM_SM_COUNT};
    struct kernel_claim_list raw;
    claims_must_read(ncu_csv_read, "tests/recorded/profilers/ncu-details-h200.csv", &list);
    claims_must_read(ncu_csv_read, "tests/recorded/profilers/ncu-raw-h200.csv", &raw);
    ck_assert_uint_eq(list.count, raw.count);
    for (size_t i = 0; i < list.count; i++) {
        for (size_t f = 0; f < sizeof both / sizeof both[0]; f++) {
            assert_figure(&list.items[i], both[f], raw.items[i].figures[both[f]].low);
        }
    }
    kernel_claim_list_release(&raw);
    release();
}
END_TEST

/* Units differ from row to row unless base units were asked for; Kbyte is 1000 bytes and two decimals. Written from the
 * documented fields. */
START_TEST(scaled_units)
{
    read_text("app prints \"this\"\n==PROF== Connected to process 9\n" DETAILS ROW(
        "Registers Per Thread", "register/thread", "64") ROW("Dynamic Shared Memory Per Block", "Kbyte/block", "49.15")
                  ROW("Static Shared Memory Per Block", "byte/block", "16")
                      ROW("Driver Shared Memory Per Block", "Kbyte/block", "1.02")
                          ROW("Shared Memory Configuration Size", "Kbyte", "102.40") ROW("Duration", "ms", "1.50")
                              ROW("Theoretical Occupancy", "%", "4.17"));
    ck_assert_uint_eq(list.count, 1);
    const struct kernel_claim *claim = &list.items[0];
    ck_assert_str_eq(claim->name, "k<int, 4>(int)");
    ck_assert_uint_eq(claim->arch, 86);
    assert_interval(claim, CLAIM_DYNAMIC_SMEM, 49145, 49155);
    assert_figure(claim, CLAIM_STATIC_SMEM, 16);
    assert_interval(claim, CLAIM_LAUNCH_SMEM, 49161, 49171);
    assert_interval(claim, CLAIM_RESERVED_SMEM, 1015, 1025);
    assert_interval(claim, CLAIM_SMEM_CONFIG, 102395, 102405);
    assert_figure(claim, CLAIM_THREADS, 128);
    assert_figure(claim, CLAIM_GRID, 60);
    assert_unknown(claim, CLAIM_CTAS_PER_SM);
    assert_close_rel(claim->time.median_us, 1500.0, TOL_ROUNDING);
    release();
}
END_TEST

START_TEST(time_units_of_all_years)
{
    static const struct {
        const char *unit;
        double us;
    } units[] = {{"ns", 2.5e-3}, {"nsecond", 2.5e-3}, {"us", 2.5},  {"usecond", 2.5},
                 {"ms", 2500.0}, {"msecond", 2500.0}, {"s", 2.5e6}, {"second", 2.5e6}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, DETAILS LAUNCH("0") "\"S\",\"gpu__time_duration.sum\",\"%s\",\"2.50\"\n",
                 units[i].unit);
        read_text(text);
        assert_close_rel(list.items[0].time.median_us, units[i].us, TOL_ROUNDING);
        release();
    }
}
END_TEST

/* 2019 and 2020: no sizes, no CC, a column with the time of day. */
START_TEST(old_columns)
{
    read_text(
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\","
        "\"Stream\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
        "\"0\",\"9\",\"a\",\"h\",\"step\",\"2020-Apr-07 17:01:05\",\"1\",\"7\",\"L\",\"Block Size\",\"\",\"192\"\n"
        "\"0\",\"9\",\"a\",\"h\",\"step\",\"2020-Apr-07 17:01:05\",\"1\",\"7\",\"L\",\"Grid Size\",\"\",\"1,210\"\n"
        "\"0\",\"9\",\"a\",\"h\",\"step\",\"2020-Apr-07 17:01:05\",\"1\",\"7\",\"L\",\"Duration\",\"usecond\","
        "\"12.67\"\n");
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.items[0].arch, 0);
    ck_assert_uint_eq(list.items[0].grid[0], 0);
    assert_figure(&list.items[0], CLAIM_THREADS, 192);
    assert_figure(&list.items[0], CLAIM_GRID, 1210);
    assert_unknown(&list.items[0], CLAIM_REGISTERS);
    assert_close_rel(list.items[0].time.median_us, 12.67, TOL_ROUNDING);
    release();
}
END_TEST

/* A locale with comma and point the other way round, told by the numbers that cannot be read otherwise. */
START_TEST(other_decimal_sign)
{
    read_text(DETAILS ROW("SM Frequency", "hz", "1.810.665.788,82") ROW("Achieved Occupancy", "%", "10,39")
                  ROW("Registers Per Thread", "register/thread", "168")
                      ROW("Dynamic Shared Memory Per Block", "byte/block", "51.200") ROW("Duration", "ns", "272.256")
                          ROW("Theoretical Occupancy", "%", "12,50"));
    assert_figure(&list.items[0], CLAIM_DYNAMIC_SMEM, 51200);
    assert_close_rel(list.items[0].time.median_us, 272.256, TOL_ROUNDING);
    assert_close_rel(list.items[0].figures[CLAIM_OCCUPANCY].low, 0.12495, 1e-12);
    release();
}
END_TEST

START_TEST(values_that_are_none)
{
    read_text(DETAILS ROW("Registers Per Thread", "register/thread", "n/a") ROW("Duration", "ns", "nan")
                  ROW("Dynamic Shared Memory Per Block", "byte/block", "12.50")
                      ROW("Static Shared Memory Per Block", "furlong", "8") ROW("Grid Size", "", "-3"));
    const struct kernel_claim *claim = &list.items[0];
    assert_unknown(claim, CLAIM_REGISTERS);
    assert_unknown(claim, CLAIM_DYNAMIC_SMEM);
    assert_unknown(claim, CLAIM_STATIC_SMEM);
    assert_figure(claim, CLAIM_GRID, 60); /* from the column of sizes */
    ck_assert_uint_eq(claim->time.count, 0);
    ck_assert_msg(strstr(claim->note, "launch__shared_mem_per_block_dynamic: '12.50' is not taken") != NULL, "%s",
                  claim->note);
    release();
}
END_TEST

/* Launches alike are one claim with both times; another header in the middle starts anew. */
START_TEST(launches_alike_and_two_tables)
{
    read_text(DETAILS ROW("Duration", "us", "10.00")
                  ROW2("Duration", "us", "14.00") "==PROF== more, of it\n" DETAILS ROW("Duration", "us", "12.00"));
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.skipped, 0);
    const struct claim_time *time = &list.items[0].time;
    ck_assert_uint_eq(time->count, 3);
    assert_close_rel(time->median_us, 12.0, TOL_ROUNDING);
    assert_close_rel(time->mean_us, 12.0, TOL_ROUNDING);
    assert_close_rel(time->minimum_us, 10.0, TOL_ROUNDING);
    assert_close_rel(time->maximum_us, 14.0, TOL_ROUNDING);
    assert_close_rel(time->deviation_us, 2.0, TOL_ROUNDING);
    assert_close_rel(time->last_us, 12.0, TOL_ROUNDING);
    release();
}
END_TEST

START_TEST(block_smem_less_driver)
{
    read_text(HEADER
              "\"launch__shared_mem_per_block\",\"launch__shared_mem_per_block_driver\","
              "\"launch__occupancy_limit_registers\"\n"
              "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"byte/block\",\"byte/block\",\"block\"\n" LAUNCH(
                  "0") "\"230,704\",\"1,024\",\"3\"\n" LAUNCH("1") "\"5\"\n");
    ck_assert_uint_eq(list.count, 1);
    assert_figure(&list.items[0], CLAIM_LAUNCH_SMEM, 229680);
    assert_unknown(&list.items[0], CLAIM_DYNAMIC_SMEM);
    assert_unknown(&list.items[0], CLAIM_CTAS_PER_SM); /* one limit of four */
    ck_assert_uint_eq(list.skipped, 1);
    ck_assert_msg(strstr(list.first_skipped, ":4: a row of 12 fields, the header has 14") != NULL, "%s",
                  list.first_skipped);
    release();
}
END_TEST

START_TEST(damaged_rows_are_counted)
{
    static const char text[] = DETAILS ROW("Duration", "us", "10.00")
        LAUNCH("0") "\"S\",\"Grid \xff\",\"\",\"4\"\n" LAUNCH("0") "\"S\",\"Duration\",\"us\",\"11";
    read_text(text);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.skipped, 2);
    ck_assert_msg(strstr(list.first_skipped, ":3: a byte that is no UTF-8") != NULL, "%s", list.first_skipped);
    assert_close_rel(list.items[0].time.median_us, 10.0, TOL_ROUNDING);
    release();
}
END_TEST

START_TEST(no_table)
{
    static const char *const texts[] = {"", "a,b\n1,2\n", "==PROF== nothing\n", "\"ID\",\"x\"\n1,2\n"};
    struct error error;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_int_eq(claims_read_status(ncu_csv_read, "x.csv", texts[i], strlen(texts[i]), &error),
                         STATUS_BAD_DATA);
        ck_assert_msg(strstr(error.text, "no table of Nsight Compute") != NULL, "%s", error.text);
    }
    ck_assert_int_eq(ncu_csv_read("tests/no-such-file.csv", &list, &error), STATUS_MISSING);
    release();
}
END_TEST

START_TEST(row_longer_than_the_limit)
{
    struct text_buffer text = {0};
    text_buffer_append(&text, DETAILS "\"");
    for (size_t i = 0; i < (9u << 20) / 64; i++) {
        text_buffer_append(&text, "\n23456789012345678901234567890123456789012345678901234567890123");
    }
    ck_assert(!text.failed);
    struct error error;
    ck_assert_int_eq(claims_read_status(ncu_csv_read, "x.csv", text.text, text.length, &error), STATUS_LIMIT);
    ck_assert_uint_eq(error.line, 2);
    text_buffer_release(&text);
}
END_TEST

/* The barriers' limit is not in tables of old versions, so it is not needed, but it counts. */
START_TEST(barriers_limit_the_resident_ctas)
{
    read_text(DETAILS ROW("Block Limit SM", "block", "32") ROW("Block Limit Registers", "block", "9")
                  ROW("Block Limit Shared Mem", "block", "8") ROW("Block Limit Warps", "block", "16")
                      ROW("Block Limit Barriers", "block", "4"));
    assert_figure(&list.items[0], CLAIM_CTAS_PER_SM, 4);
    release();
}
END_TEST

/* Nsight Systems does not say which KB, MB and GB it means. */
START_TEST(decimal_and_binary_prefixes)
{
    static const struct {
        const char *unit;
        double low, high;
    } cases[] = {{"KB", 1e3, 1024},
                 {"MB", 1e6, 1048576},
                 {"GB", 1e9, 1073741824},
                 {"Kbyte/block", 1e3, 1e3},
                 {"MiB", 1048576, 1048576}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct unit unit = unit_parse(cases[i].unit);
        ck_assert_int_eq(unit.kind, UNIT_BYTES);
        ck_assert_double_eq(unit.low_scale, cases[i].low);
        ck_assert_double_eq(unit.high_scale, cases[i].high);
    }
}
END_TEST

START_TEST(printed_numbers)
{
    static const struct {
        const char *text;
        char decimal;
        bool is_number;
        double value;
        int decimals;
    } cases[] = {
        {"1,810,665,788.82", '.', true, 1810665788.82, 2},
        {"1.810.665.788,82", ',', true, 1810665788.82, 2},
        {"233\xe2\x80\xaf"
         "472",
         '.', true, 233472, 0},
        {"233'472", '.', true, 233472, 0},
        {"0.00", '.', true, 0, 2},
        {"-5", '.', true, -5, 0},
        {"1e+06", '.', true, 1e6, -6},
        {"1.25E-3", '.', true, 1.25e-3, 5},
        {"0e99999999999", '.', true, 0, 0},
        {"23,34", '.', false, 0, 0},
        {"1,,024", '.', false, 0, 0},
        {",024", '.', false, 0, 0},
        {"1,024,", '.', false, 0, 0},
        {"1024,024", '.', false, 0, 0},
        {"12 %", '.', false, 0, 0},
        {"0x10", '.', false, 0, 0},
        {"1e999", '.', false, 0, 0},
        {"", '.', false, 0, 0},
        {"1111111111111111111111111111111111111111111111111111111111111111111111111111111111", '.', false, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct printed_number number = {0};
        ck_assert_msg(printed_number_parse(cases[i].text, cases[i].decimal, &number) == cases[i].is_number, "%s",
                      cases[i].text);
        if (cases[i].is_number) {
            ck_assert_double_eq(number.value, cases[i].value);
            ck_assert_int_eq(number.decimals, cases[i].decimals);
        }
    }
}
END_TEST

/* A digit that an exponent moves is worth what it is worth where it ends up. */
START_TEST(rounding_with_an_exponent)
{
    static const struct {
        const char *text, *unit;
        double low, high;
    } cases[] = {{"1.2e+03", "us", 1150, 1250},
                 {"4.9e+01", "Kbyte", 48500, 49500},
                 {"2.5e-3", "ms", 2.45, 2.55},
                 {"12.5", "us", 12.45, 12.55},
                 {"0.0", "us", 0, 0.05}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct unit unit = unit_parse(cases[i].unit);
        struct printed_number number;
        ck_assert(printed_number_parse(cases[i].text, '.', &number));
        const struct claim_value value = printed_interval(&number, &unit);
        ck_assert_msg(is_close_rel(value.low, cases[i].low, 1e-12) && is_close_rel(value.high, cases[i].high, 1e-12),
                      "%s %s: %.17g to %.17g", cases[i].text, cases[i].unit, value.low, value.high);
    }
}
END_TEST

START_TEST(votes_for_the_decimal_sign)
{
    static const struct {
        const char *text;
        uint64_t point, comma;
    } cases[] = {{"12.50", 1, 0},     {"12,50", 0, 1},        {"1,024", 0, 0},       {"1.024", 0, 0},
                 {"0.125", 1, 0},     {"1,024.5", 1, 0},      {"1.024,5", 0, 1},     {"1,024,512", 1, 0},
                 {"1.024.512", 0, 1}, {"PolicySpread", 0, 0}, {"(128, 1, 1)", 0, 0}, {"2020-04", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct number_votes votes = {0};
        number_votes_add(&votes, cases[i].text);
        ck_assert_msg(votes.point == cases[i].point && votes.comma == cases[i].comma, "%s", cases[i].text);
    }
}
END_TEST

Suite *suite_ncu_csv(void)
{
    Suite *suite = suite_create("ncu_csv");
    TCase *recorded = tcase_create("recorded"), *written = tcase_create("written");
    tcase_add_test(recorded, recorded_details_page);
    tcase_add_test(recorded, recorded_raw_page);
    tcase_add_test(recorded, recorded_pages_agree);
    tcase_add_test(written, scaled_units);
    tcase_add_test(written, time_units_of_all_years);
    tcase_add_test(written, old_columns);
    tcase_add_test(written, other_decimal_sign);
    tcase_add_test(written, values_that_are_none);
    tcase_add_test(written, launches_alike_and_two_tables);
    tcase_add_test(written, block_smem_less_driver);
    tcase_add_test(written, damaged_rows_are_counted);
    tcase_add_test(written, no_table);
    tcase_add_test(written, row_longer_than_the_limit);
    tcase_add_test(written, barriers_limit_the_resident_ctas);
    tcase_add_test(written, decimal_and_binary_prefixes);
    tcase_add_test(written, printed_numbers);
    tcase_add_test(written, rounding_with_an_exponent);
    tcase_add_test(written, votes_for_the_decimal_sign);
    suite_add_tcase(suite, recorded);
    suite_add_tcase(suite, written);
    return suite;
}
