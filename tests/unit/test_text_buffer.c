/* SPDX-License-Identifier: GPL-3.0-or-later
 * Growing text, numbers to and from text in any locale, whole files, UTF-8, edit distance. */
#include <check.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text_buffer.h"
#include "tests/support/temp_dir.h"

Suite *suite_text_buffer(void);

START_TEST(appends_and_grows)
{
    struct text_buffer buffer = {0};
    ck_assert_ptr_null(buffer.text);
    text_buffer_append(&buffer, "");
    ck_assert_str_eq(buffer.text, "");
    for (int i = 0; i < 1000; i++)
        text_buffer_append_format(&buffer, "%d,", i);
    text_buffer_append_bytes(&buffer, "a\0b", 3);
    /* 10 numbers of one digit, 90 of two, 900 of three, each with a comma */
    ck_assert_uint_eq(buffer.length, 10 * 2 + 90 * 3 + 900 * 4 + 3);
    ck_assert_mem_eq(buffer.text + buffer.length - 7, "999,a\0b", 8);
    ck_assert(!buffer.failed);
    text_buffer_clear(&buffer);
    ck_assert_uint_eq(buffer.length, 0);
    ck_assert_str_eq(buffer.text, "");
    ck_assert_uint_gt(buffer.capacity, 3000);
    text_buffer_release(&buffer);
    ck_assert_ptr_null(buffer.text);
}
END_TEST

START_TEST(format_longer_than_the_buffer_is_whole)
{
    struct text_buffer buffer = {0};
    text_buffer_append(&buffer, "head ");
    text_buffer_append_format(&buffer, "%0500d|%s", 7, "tail");
    ck_assert_uint_eq(buffer.length, 5 + 500 + 1 + 4);
    ck_assert_str_eq(buffer.text + 5 + 499, "7|tail");
    text_buffer_release(&buffer);
}
END_TEST

static const struct {
    double value;
    const char *text;
} shortest[] = {
    {0.0, "0"},
    {-0.0, "-0"},
    {0.1, "0.1"},
    {0.1 + 0.2, "0.30000000000000004"},
    {1.0 / 3.0, "0.3333333333333333"},
    {2.0 / 3.0, "0.6666666666666666"},
    {-2.5, "-2.5"},
    {101568.0, "101568"},
    {1e14, "100000000000000"},
    {999999999999999.0, "999999999999999"},
    {1e15, "1e+15"},
    {1e22, "1e+22"},
    {1e23, "1e+23"},
    {1e30, "1e+30"},
    {1e-4, "0.0001"},
    {9.9e-5, "9.9e-05"},
    {1e-7, "1e-07"},
    {123456789012345678.0, "1.2345678901234568e+17"},
    {5e-324, "5e-324"},
    {DBL_MIN, "2.2250738585072014e-308"},
    {DBL_MAX, "1.7976931348623157e+308"},
    {-DBL_MAX, "-1.7976931348623157e+308"},
};

START_TEST(number_format_is_shortest)
{
    char out[32];
    ck_assert_str_eq(number_format(shortest[_i].value, out), shortest[_i].text);
    double back = NAN;
    ck_assert_int_eq(number_parse(out, &back), STATUS_OK);
    ck_assert_mem_eq(&back, &shortest[_i].value, sizeof back);
}
END_TEST

START_TEST(number_format_of_what_is_not_finite)
{
    char out[32];
    ck_assert_str_eq(number_format(NAN, out), "nan");
    ck_assert_str_eq(number_format(-NAN, out), "nan");
    ck_assert_str_eq(number_format(INFINITY, out), "inf");
    ck_assert_str_eq(number_format(-INFINITY, out), "-inf");
    ck_assert_str_eq(number_format_digits(-INFINITY, 3, out), "-inf");
}
END_TEST

static unsigned count_digits(const char *text)
{
    unsigned count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9')
            continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        count += count > 0 || *text != '0';
    }
    return count - zeros;
}

/* Any bit pattern survives, and no text with fewer digits would have done (tried through the C library). */
START_TEST(number_format_round_trips_random_bits)
{
    struct random_stream stream;
    random_init(&stream, 20240917, 1);
    unsigned tried = 0;
    for (int i = 0; i < 40000; i++) {
        uint64_t bits = ((uint64_t)random_uint32(&stream) << 32) | random_uint32(&stream);
        double value, back = NAN;
        memcpy(&value, &bits, sizeof value);
        if (i % 2) /* the range that reports live in, with few digits now and then */
            value = floor(random_uniform(&stream) * 1e7) / (i % 4 == 1 ? 1e3 : 7.0);
        if (!isfinite(value) || value == 0.0)
            continue;
        char out[32], shorter[40];
        ck_assert_int_eq(number_parse(number_format(value, out), &back), STATUS_OK);
        ck_assert_msg(back == value, "%a became %s", value, out);
        unsigned digits = count_digits(out);
        if (digits > 1) {
            snprintf(shorter, sizeof shorter, "%.*e", (int)digits - 2, value);
            double from_shorter = strtod(shorter, NULL);
            ck_assert_msg(from_shorter != value, "%s would do for %s", shorter, out);
        }
        tried++;
    }
    ck_assert_uint_gt(tried, 39000);
}
END_TEST

START_TEST(number_format_digits_rounds_and_keeps_plain_notation)
{
    char out[32];
    ck_assert_str_eq(number_format_digits(1234567.0, 3, out), "1230000");
    ck_assert_str_eq(number_format_digits(0.00012345, 3, out), "0.000123");
    ck_assert_str_eq(number_format_digits(0.000012345, 3, out), "1.23e-05");
    ck_assert_str_eq(number_format_digits(9.996, 3, out), "10");
    ck_assert_str_eq(number_format_digits(-52.5, 9, out), "-52.5");
    ck_assert_str_eq(number_format_digits(99999999999999.9, 3, out), "100000000000000");
    ck_assert_str_eq(number_format_digits(999999999999999.9, 3, out), "1e+15");
    ck_assert_str_eq(number_format_digits(0.1, 17, out), "0.10000000000000001");
    ck_assert_str_eq(number_format_digits(2.0, 1, out), "2");
    ck_assert_str_eq(number_format_digits(0.0, 4, out), "0");
}
END_TEST

static const struct {
    const char *text;
    double value;
} good_numbers[] = {
    {"0", 0.0},   {"-0", -0.0},       {"1.5", 1.5},     {"+3", 3.0},       {".5", 0.5},
    {"5.", 5.0},  {"1e3", 1e3},       {"1E-3", 1e-3},   {"2.5e+2", 250.0}, {"0.0e999", 0.0},
    {"007", 7.0}, {"5e-324", 5e-324}, {"1e308", 1e308}, {"0.1", 0.1},
};

START_TEST(number_parse_takes_decimal_numbers)
{
    double value = NAN;
    ck_assert_int_eq(number_parse(good_numbers[_i].text, &value), STATUS_OK);
    ck_assert_mem_eq(&value, &good_numbers[_i].value, sizeof value);
}
END_TEST

static const char *const bad_numbers[] = {
    "",  " 1",  "1 ",    "1,5", "0x10",  "nan",    "NaN",    "inf",   "-inf", "infinity", "1e",  "1e+",   "e5",  ".",
    "-", "+-1", "1.2.3", "1f",  "1e400", "-1e400", "1e-400", "1_000", "１",   "1\n",      "--1", "1e1.5", "\t2", "1p3",
};

START_TEST(number_parse_refuses_the_rest)
{
    double value = 42.0;
    ck_assert_int_eq(number_parse(bad_numbers[_i], &value), STATUS_BAD_DATA);
    ck_assert_double_eq(value, 42.0);
}
END_TEST

/* Takes up a locale with a decimal comma: an installed one, else one compiled into the directory. */
static bool use_comma_locale(const struct temp_dir *directory)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0)
            return true;
    char command[1200];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", directory->path);
    setenv("LOCPATH", directory->path, 1);
    return system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
}

static void check_numbers_with_comma_locale(void)
{
    char out[32];
    snprintf(out, sizeof out, "%.1f", 0.5);
    ck_assert_str_eq(out, "0,5"); /* the locale is in force */
    ck_assert_str_eq(number_format(0.1 + 0.2, out), "0.30000000000000004");
    ck_assert_str_eq(number_format(1234.5, out), "1234.5");
    ck_assert_str_eq(number_format_digits(3.14159, 3, out), "3.14");
    double value = 0.0;
    ck_assert_int_eq(number_parse("2.5", &value), STATUS_OK);
    ck_assert_double_eq(value, 2.5);
    ck_assert_int_eq(number_parse("2,5", &value), STATUS_BAD_DATA);
    struct text_buffer buffer = {0};
    text_buffer_append_format(&buffer, "%.2f", 0.25);
    ck_assert_str_eq(buffer.text, "0.25");
    text_buffer_release(&buffer);
    snprintf(out, sizeof out, "%.1f", 0.5);
    ck_assert_str_eq(out, "0,5"); /* and still is */
}

/* A decimal comma in the locale must change nothing. */
START_TEST(numbers_do_not_follow_the_locale)
{
    struct temp_dir directory;
    temp_dir_create(&directory);
    if (use_comma_locale(&directory)) {
        check_numbers_with_comma_locale();
    } else {
        printf("skipped: numbers_do_not_follow_the_locale: no locale with a decimal comma is here\n");
        fflush(stdout);
    }
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    temp_dir_remove(&directory);
}
END_TEST

START_TEST(reads_whole_files)
{
    struct temp_dir directory;
    char path[1024];
    temp_dir_create(&directory);
    temp_dir_write(&directory, "data", "ab\0c\n", 5, path, sizeof path);
    char *text = NULL;
    size_t length = 0;
    struct error error = {0};
    ck_assert_int_eq(file_read_text(path, 5, &text, &length, &error), STATUS_OK);
    ck_assert_uint_eq(length, 5);
    ck_assert_mem_eq(text, "ab\0c\n", 6);
    free(text);
    text = NULL;
    ck_assert_int_eq(file_read_text(path, 4, &text, &length, &error), STATUS_LIMIT);
    ck_assert_ptr_null(text);
    ck_assert_str_eq(error.file, path);
    ck_assert_str_eq(error.text, "has 5 bytes, the limit is 4");
    ck_assert_int_eq(file_read_text(directory.path, 99, &text, &length, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error.text, "is a directory, a file is expected");
    temp_dir_write(&directory, "empty", "", 0, path, sizeof path);
    ck_assert_int_eq(file_read_text(path, 0, &text, &length, &error), STATUS_OK);
    ck_assert_uint_eq(length, 0);
    ck_assert_str_eq(text, "");
    free(text);
    text = NULL;
    temp_dir_path(&directory, "absent", path, sizeof path);
    ck_assert_int_eq(file_read_text(path, 99, &text, &length, &error), STATUS_MISSING);
    ck_assert_ptr_nonnull(strstr(error.text, "No such file"));
    temp_dir_remove(&directory);
}
END_TEST

/* An endless file has no size to refuse it by. */
START_TEST(stops_reading_an_endless_file)
{
    char *text = NULL;
    size_t length = 0;
    struct error error = {0};
    ck_assert_int_eq(file_read_text("/dev/zero", 100000, &text, &length, &error), STATUS_LIMIT);
    ck_assert_ptr_null(text);
    ck_assert_str_eq(error.text, "larger than the limit of 100000 bytes");
}
END_TEST

static const struct {
    const char *bytes;
    size_t length;
    long bad_offset; /* -1 = valid */
} utf8_cases[] = {
    {"", 0, -1},
    {"plain", 5, -1},
    {"\xc2\xb5s", 3, -1},        /* U+00B5 */
    {"\xe2\x82\xac", 3, -1},     /* U+20AC */
    {"\xf0\x9f\x98\x80", 4, -1}, /* U+1F600 */
    {"\xf4\x8f\xbf\xbf", 4, -1}, /* U+10FFFF */
    {"\xed\x9f\xbf", 3, -1},     /* U+D7FF */
    {"ab\0c", 4, 2},
    {"a\xff", 2, 1},
    {"a\x80", 2, 1},
    {"\xc0\xaf", 2, 0}, /* overlong '/' */
    {"\xc1\xbf", 2, 0},
    {"\xe0\x9f\xbf", 3, 0},     /* overlong */
    {"\xf0\x8f\xbf\xbf", 4, 0}, /* overlong */
    {"\xed\xa0\x80", 3, 0},     /* surrogate */
    {"\xf4\x90\x80\x80", 4, 0}, /* beyond U+10FFFF */
    {"xy\xe2\x82", 4, 2},       /* cut */
    {"\xe2\x28\xa1", 3, 0},
};

START_TEST(checks_utf8)
{
    size_t bad_offset = 12345;
    enum status status = utf8_check(utf8_cases[_i].bytes, utf8_cases[_i].length, &bad_offset);
    if (utf8_cases[_i].bad_offset < 0) {
        ck_assert_int_eq(status, STATUS_OK);
    } else {
        ck_assert_int_eq(status, STATUS_BAD_DATA);
        ck_assert_uint_eq(bad_offset, (size_t)utf8_cases[_i].bad_offset);
    }
}
END_TEST

START_TEST(measures_edit_distance)
{
    ck_assert_uint_eq(text_distance("", ""), 0);
    ck_assert_uint_eq(text_distance("", "abc"), 3);
    ck_assert_uint_eq(text_distance("kitten", "sitting"), 3);
    ck_assert_uint_eq(text_distance("rtx 5900", "RTX 5090"), 1); /* one swap, case aside */
    ck_assert_uint_eq(text_distance("num_warp", "num_warps"), 1);
    /* Equal up to 255 bytes: what is behind counts by its length. */
    char left[601], right[256];
    memset(left, 'a', 600);
    memset(right, 'a', 255);
    left[600] = right[255] = '\0';
    ck_assert_uint_eq(text_distance(left, right), 345);
    left[0] = 'b';
    ck_assert_uint_eq(text_distance(left, right), 346);
}
END_TEST

Suite *suite_text_buffer(void)
{
    Suite *suite = suite_create("text_buffer");
    TCase *tests = tcase_create("text_buffer");
    tcase_add_test(tests, appends_and_grows);
    tcase_add_test(tests, format_longer_than_the_buffer_is_whole);
    tcase_add_loop_test(tests, number_format_is_shortest, 0, sizeof shortest / sizeof shortest[0]);
    tcase_add_test(tests, number_format_of_what_is_not_finite);
    tcase_add_test(tests, number_format_round_trips_random_bits);
    tcase_add_test(tests, number_format_digits_rounds_and_keeps_plain_notation);
    tcase_add_loop_test(tests, number_parse_takes_decimal_numbers, 0, sizeof good_numbers / sizeof good_numbers[0]);
    tcase_add_loop_test(tests, number_parse_refuses_the_rest, 0, sizeof bad_numbers / sizeof bad_numbers[0]);
    tcase_add_test(tests, numbers_do_not_follow_the_locale);
    tcase_add_test(tests, reads_whole_files);
    tcase_add_test(tests, stops_reading_an_endless_file);
    tcase_add_loop_test(tests, checks_utf8, 0, sizeof utf8_cases / sizeof utf8_cases[0]);
    tcase_add_test(tests, measures_edit_distance);
    suite_add_tcase(suite, tests);
    return suite;
}
