/* SPDX-License-Identifier: GPL-3.0-or-later
 * The files compiled into the program are those of data/, byte for byte. Runs in the repository root. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/embedded_data.h"

START_TEST(table_is_sorted_and_every_entry_is_found)
{
    for (size_t i = 0; i < embedded_file_count; i++) {
        const struct embedded_file *file = &embedded_files[i];
        ck_assert_ptr_eq(embedded_file_find(file->path), file);
        ck_assert_msg(strncmp(file->path, "data/", 5) != 0, "%s is below data/", file->path);
        if (i > 0)
            ck_assert_msg(strcmp(embedded_files[i - 1].path, file->path) < 0, "%s is out of order", file->path);
    }
}
END_TEST

START_TEST(names_that_are_not_there_are_not_found)
{
    ck_assert_ptr_null(embedded_file_find(""));
    ck_assert_ptr_null(embedded_file_find("devices"));
    ck_assert_ptr_null(embedded_file_find("devices/no-such-gpu.csv"));
    ck_assert_ptr_null(embedded_file_find("zzz"));
}
END_TEST

START_TEST(bytes_are_those_of_the_file)
{
    for (size_t i = 0; i < embedded_file_count; i++) {
        const struct embedded_file *file = &embedded_files[i];
        char path[512], *text = NULL;
        size_t length = 0;
        struct error error = {0};
        snprintf(path, sizeof path, "data/%s", file->path);
        ck_assert_msg(file_read_text(path, 64u << 20, &text, &length, &error) == STATUS_OK, "%s: %s", path, error.text);
        ck_assert_uint_eq(length, file->length);
        ck_assert_msg(memcmp(text, file->begin, length) == 0, "%s differs from its embedded copy", path);
        free(text);
    }
}
END_TEST

Suite *suite_embedded_data(void)
{
    Suite *suite = suite_create("embedded_data");
    TCase *cases = tcase_create("table");
    tcase_add_test(cases, table_is_sorted_and_every_entry_is_found);
    tcase_add_test(cases, names_that_are_not_there_are_not_found);
    tcase_add_test(cases, bytes_are_those_of_the_file);
    suite_add_tcase(suite, cases);
    return suite;
}
