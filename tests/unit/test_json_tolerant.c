/* SPDX-License-Identifier: GPL-3.0-or-later
 * JSON as Python and profilers write it: what is taken, what is marked, what is refused and where. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/json_tolerant.h"

static struct error last;
static struct json_tolerated seen;

static json_t *parsed(const char *text)
{
    json_t *root = NULL;
    last = (struct error){0};
    enum status status =
        json_tolerant_parse(text, strlen(text), "a.json", JSON_DUPLICATES_REFUSED, &root, &seen, &last);
    ck_assert_msg(status == STATUS_OK, "%s: %s", text, last.text);
    return root;
}

static void refused(const char *text, size_t length, unsigned line, unsigned column, const char *reason)
{
    json_t *root = NULL;
    last = (struct error){0};
    ck_assert_msg(json_tolerant_parse(text, length, "a.json", JSON_DUPLICATES_REFUSED, &root, NULL, &last) ==
                      STATUS_BAD_DATA,
                  "%s", text);
    ck_assert_ptr_null(root);
    ck_assert_msg(strstr(last.text, reason) != NULL, "%s: %s", text, last.text);
    ck_assert_str_eq(last.file, "a.json");
    ck_assert_msg(last.line == line && last.column == column, "%s: %u:%u", text, last.line, last.column);
}

START_TEST(plain_json_is_read_as_it_is)
{
    json_t *root = parsed("{\"a\": [1, -2.5, \"x\", null, true], \"b\": 9223372036854775807}");
    double number = 0;
    ck_assert(json_tolerant_number(json_array_get(json_object_get(root, "a"), 1), &number));
    ck_assert_double_eq(number, -2.5);
    ck_assert(!json_tolerant_number(json_array_get(json_object_get(root, "a"), 2), &number));
    ck_assert(!json_tolerant_number(json_array_get(json_object_get(root, "a"), 3), &number));
    ck_assert(!json_tolerant_number(NULL, &number));
    ck_assert_int_eq(json_integer_value(json_object_get(root, "b")), INT64_MAX);
    ck_assert_uint_eq(seen.nonfinite_count + seen.big_integer_count, 0);
    json_decref(root);
}
END_TEST

START_TEST(numbers_that_are_none_are_marked)
{
    json_t *root = parsed("[Infinity, -Infinity,NaN , inf,-inf, nan, -nan, 1e999, -1e999, 1e-999, \"Infinity\"]");
    static const double expected[] = {INFINITY, -INFINITY, NAN, INFINITY, -INFINITY, NAN, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        double number = 0;
        const json_t *value = json_array_get(root, i);
        ck_assert(!json_is_number(value) && json_tolerant_is_nonfinite(value));
        ck_assert(json_tolerant_number(value, &number));
        ck_assert_msg(isnan(expected[i]) ? isnan(number) : number == expected[i], "%zu: %g", i, number);
    }
    ck_assert_uint_eq(seen.nonfinite_count, 9);
    ck_assert_double_eq(json_real_value(json_array_get(root, 9)), 0);
    ck_assert(!json_tolerant_is_nonfinite(json_array_get(root, 10)));
    ck_assert_str_eq(json_string_value(json_array_get(root, 10)), "Infinity");
    json_decref(root);
}
END_TEST

START_TEST(words_in_strings_stay)
{
    json_t *root = parsed("{\"a \\\" Infinity\\\\\": \"NaN, -Infinity \\\\\", \"b\": NaN}");
    ck_assert_str_eq(json_string_value(json_object_get(root, "a \" Infinity\\")), "NaN, -Infinity \\");
    ck_assert(json_tolerant_is_nonfinite(json_object_get(root, "b")));
    json_decref(root);
}
END_TEST

START_TEST(big_integers_become_reals)
{
    json_t *root = parsed("[9223372036854775807, 9223372036854775808, -9223372036854775808, -9223372036854775809,"
                          " 18446744073709551615, 123456789012345678901234567890, 0.1234567890123456789012]");
    static const bool is_real[] = {false, true, false, true, true, true, true};
    static const double expected[] = {
        0x1p63, 0x1p63, -0x1p63, -0x1p63, 0x1p64, 123456789012345678901234567890.0, 0.1234567890123456789012};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        ck_assert_msg(json_is_real(json_array_get(root, i)) == is_real[i], "%zu", i);
        ck_assert_double_eq(json_number_value(json_array_get(root, i)), expected[i]);
    }
    ck_assert_uint_eq(seen.big_integer_count, 4);
    json_decref(root);
    /* Beyond a double: 400 digits. */
    char text[512] = "[";
    memset(text + 1, '7', 400);
    memcpy(text + 401, "]", 2);
    root = parsed(text);
    double number = 0;
    ck_assert(json_tolerant_number(json_array_get(root, 0), &number) && isinf(number));
    json_decref(root);
}
END_TEST

START_TEST(byte_order_mark)
{
    json_t *root = parsed("\xef\xbb\xbf{\"a\": 1}");
    ck_assert(seen.has_byte_order_mark);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "a")), 1);
    json_decref(root);
    refused("\xef\xbb\xbf\n {]", 7, 2, 4, "]"); /* just behind what is wrong */
}
END_TEST

START_TEST(duplicate_keys)
{
    static const char text[] = "{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": NaN}}";
    refused(text, strlen(text), 2, 19, "duplicate");
    json_t *root = NULL;
    ck_assert_int_eq(json_tolerant_parse(text, strlen(text), "a.json", JSON_DUPLICATES_LAST, &root, &seen, &last),
                     STATUS_OK);
    ck_assert(seen.has_duplicates);
    ck_assert(json_tolerant_is_nonfinite(json_object_get(json_object_get(root, "b"), "c")));
    json_decref(root);
}
END_TEST

START_TEST(errors_have_the_place_in_the_file)
{
    refused("", 0, 1, 1, "");
    refused("[1, 2", 5, 1, 6, "");
    refused("{\"a\": Infinity, \"b\": NaN, \"c\": 99999999999999999999, ?}", 55, 1, 55, "");
    refused("[\"a\xff\"]", 6, 1, 4, "UTF-8");
    refused("[1,\n2\0]", 7, 2, 2, "NUL");
    refused("[\"\\u0000\"]", 10, 1, 10, "u0000");
    refused("[infinite]", 10, 1, 10, "");
    refused("[-]", 3, 1, 3, "");
    refused("[01234567890123456789012345]", 28, 1, 3, "");
    refused("[1e]", 4, 1, 4, "");
    refused("[1] 2", 5, 1, 6, "");
    refused("3", 1, 1, 2, "");
}
END_TEST

START_TEST(nesting_has_a_limit)
{
    struct text_buffer text = {0};
    for (int i = 0; i < JSON_DEPTH_MAX; i++) {
        text_buffer_append(&text, "[");
    }
    for (int i = 0; i < JSON_DEPTH_MAX; i++) {
        text_buffer_append(&text, "]");
    }
    json_decref(parsed(text.text));
    text_buffer_clear(&text);
    for (int i = 0; i < 100000; i++) {
        text_buffer_append(&text, "[");
    }
    refused(text.text, text.length, 1, JSON_DEPTH_MAX + 1, "deep");
    text_buffer_release(&text);
}
END_TEST

/* Each of 100,000 values is rewritten, and the place of an error at the end is still found: linear time. */
START_TEST(many_replacements)
{
    struct text_buffer text = {0};
    text_buffer_append(&text, "[");
    unsigned count = getenv("TEST_QUICK") != NULL ? 1000 : 50000;
    for (unsigned i = 0; i < count; i++) {
        text_buffer_append(&text, "NaN,99999999999999999999,");
    }
    size_t length = text.length;
    text_buffer_append(&text, "0]");
    json_t *root = parsed(text.text);
    ck_assert_uint_eq(json_array_size(root), 2 * count + 1);
    ck_assert_uint_eq(seen.nonfinite_count, count);
    json_decref(root);
    text.text[length] = '?';
    refused(text.text, text.length, 1, (unsigned)length + 2, "?");
    text_buffer_release(&text);
}
END_TEST

Suite *suite_json_tolerant(void)
{
    Suite *suite = suite_create("json_tolerant");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, plain_json_is_read_as_it_is);
    tcase_add_test(tests, numbers_that_are_none_are_marked);
    tcase_add_test(tests, words_in_strings_stay);
    tcase_add_test(tests, big_integers_become_reals);
    tcase_add_test(tests, byte_order_mark);
    tcase_add_test(tests, duplicate_keys);
    tcase_add_test(tests, errors_have_the_place_in_the_file);
    tcase_add_test(tests, nesting_has_a_limit);
    tcase_add_test(tests, many_replacements);
    suite_add_tcase(suite, tests);
    return suite;
}
