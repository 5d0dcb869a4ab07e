/* SPDX-License-Identifier: GPL-3.0-or-later
 * JSON writer: exact numbers, null for what is not finite, key order, escaping, broken UTF-8, write errors. */
#include <check.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/json_writer.h"

Suite *suite_json_writer(void);

static struct json_writer *create(void)
{
    struct json_writer *writer;

    ck_assert_int_eq(json_writer_create(&writer), STATUS_OK);
    return writer;
}

/* Prints the document into memory and frees the writer. Caller frees the text. */
static char *print(struct json_writer *writer)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    struct error error = {0};

    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(json_writer_print(writer, stream, &error), STATUS_OK);
    ck_assert_int_eq(fclose(stream), 0);
    json_writer_free(writer);
    return text;
}

START_TEST(layout_is_indented_and_keeps_order)
{
    struct json_writer *writer = create();
    char *text;

    json_writer_integer(writer, "zulu", -7);
    json_writer_begin_array(writer, "alpha");
    json_writer_number(writer, NULL, 2.5);
    json_writer_begin_object(writer, NULL);
    json_writer_bool(writer, "yes", true);
    json_writer_null(writer, "none");
    json_writer_end(writer);
    json_writer_end(writer);
    json_writer_begin_object(writer, "empty");
    json_writer_end(writer);
    json_writer_begin_array(writer, "nothing");
    json_writer_end(writer);
    json_writer_string(writer, "mike", NULL);
    text = print(writer);
    ck_assert_str_eq(text, "{\n"
                           "  \"zulu\": -7,\n"
                           "  \"alpha\": [\n"
                           "    2.5,\n"
                           "    {\n"
                           "      \"yes\": true,\n"
                           "      \"none\": null\n"
                           "    }\n"
                           "  ],\n"
                           "  \"empty\": {},\n"
                           "  \"nothing\": [],\n"
                           "  \"mike\": null\n"
                           "}\n");
    free(text);
}
END_TEST

START_TEST(numbers_read_back_exactly)
{
    static const double values[] = {
        0.1,  1.0 / 3.0,           1e300, 5e-324, 376.0, 2.5e-7, -0.0, 1.7976931348623157e308, 53.1, 0.0833, 1e15,
        1e16, 123456789012345678.0};
    struct json_writer *writer = create();
    char *text;
    json_t *root, *array;

    json_writer_begin_array(writer, "values");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        json_writer_number(writer, NULL, values[i]);
    text = print(writer); /* the open array is closed by printing */
    root = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(root);
    array = json_object_get(root, "values");
    ck_assert_uint_eq(json_array_size(array), sizeof values / sizeof values[0]);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        ck_assert_double_eq(json_number_value(json_array_get(array, i)), values[i]);
    ck_assert_ptr_nonnull(strstr(text, "    0.1,\n"));
    json_decref(root);
    free(text);
}
END_TEST

START_TEST(what_is_not_finite_is_null)
{
    struct json_writer *writer = create();
    char *text;

    json_writer_number(writer, "a", (double)NAN);
    json_writer_number(writer, "b", (double)INFINITY);
    json_writer_number(writer, "c", -(double)INFINITY);
    text = print(writer);
    ck_assert_str_eq(text, "{\n  \"a\": null,\n  \"b\": null,\n  \"c\": null\n}\n");
    free(text);
}
END_TEST

START_TEST(strings_are_escaped_and_made_utf8)
{
    static const char hostile[] = "quote\" back\\slash \n\t\x01 </script> \xc3\xa9";
    struct json_writer *writer = create();
    json_t *root;
    char *text;

    json_writer_string(writer, "hostile", hostile);
    json_writer_string(writer, "broken", "a\xff\xc3");
    json_writer_integer(writer, "key \"quoted\"\n", 1);
    text = print(writer);
    root = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(root);
    ck_assert_str_eq(json_string_value(json_object_get(root, "hostile")), hostile);
    ck_assert_str_eq(json_string_value(json_object_get(root, "broken")), "a??");
    ck_assert_int_eq(json_integer_value(json_object_get(root, "key \"quoted\"\n")), 1);
    json_decref(root);
    free(text);
}
END_TEST

START_TEST(locale_does_not_matter)
{
    struct json_writer *writer = create();
    char *text;

    /* Where the locale is not installed this still tests the plain path. */
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    json_writer_number(writer, "value", 1234.5);
    json_writer_integer(writer, "count", 1234567);
    text = print(writer);
    (void)setlocale(LC_ALL, "C");
    ck_assert_str_eq(text, "{\n  \"value\": 1234.5,\n  \"count\": 1234567\n}\n");
    free(text);
}
END_TEST

START_TEST(a_full_disk_is_reported)
{
    struct json_writer *writer = create();
    FILE *stream = fopen("/dev/full", "w");
    struct error error = {0};

    if (stream == NULL) {
        printf("skipped: /dev/full is not here\n");
        json_writer_free(writer);
        return;
    }
    (void)setvbuf(stream, NULL, _IONBF, 0);
    json_writer_integer(writer, "a", 1);
    ck_assert_int_eq(json_writer_print(writer, stream, &error), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot write JSON"));
    (void)fclose(stream);
    json_writer_free(writer);
}
END_TEST

Suite *suite_json_writer(void)
{
    Suite *suite = suite_create("json_writer");
    TCase *cases = tcase_create("json_writer");

    tcase_add_test(cases, layout_is_indented_and_keeps_order);
    tcase_add_test(cases, numbers_read_back_exactly);
    tcase_add_test(cases, what_is_not_finite_is_null);
    tcase_add_test(cases, strings_are_escaped_and_made_utf8);
    tcase_add_test(cases, locale_does_not_matter);
    tcase_add_test(cases, a_full_disk_is_reported);
    suite_add_tcase(suite, cases);
    return suite;
}
