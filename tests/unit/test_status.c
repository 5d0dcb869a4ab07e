/* SPDX-License-Identifier: GPL-3.0-or-later
 * Status codes and the one-line error messages that every room fills. */
#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

START_TEST(every_status_has_name_text_and_exit_code)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        enum status status = (enum status)i;
        ck_assert_ptr_nonnull(status_name(status));
        ck_assert_uint_gt(strlen(status_text(status)), 3);
        int exit_code = status_exit_code(status);
        ck_assert_msg(exit_code == 0 || exit_code == 1 || exit_code == 2 || exit_code == 3 || exit_code == 4 ||
                          exit_code == 70,
                      "%s exits with %d", status_name(status), exit_code);
        ck_assert_msg((exit_code == 0) == (status == STATUS_OK), "%s exits with %d", status_name(status), exit_code);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(status_name(status), status_name((enum status)j));
    }
}
END_TEST

/* The numbers are a promise of the manual, so they are spelled out once more here. */
START_TEST(exit_codes_are_those_of_the_manual)
{
    ck_assert_int_eq(status_exit_code(STATUS_TOLERANCE_FAILED), 1);
    ck_assert_int_eq(status_exit_code(STATUS_USAGE), 2);
    ck_assert_int_eq(status_exit_code(STATUS_BAD_DATA), 3);
    ck_assert_int_eq(status_exit_code(STATUS_NOT_FOUND), 3);
    ck_assert_int_eq(status_exit_code(STATUS_DOMAIN), 3);
    ck_assert_int_eq(status_exit_code(STATUS_LIMIT), 3);
    ck_assert_int_eq(status_exit_code(STATUS_MISSING), 4);
    ck_assert_int_eq(status_exit_code(STATUS_IO), 4);
    ck_assert_int_eq(status_exit_code(STATUS_NO_MEMORY), 4);
    ck_assert_int_eq(status_exit_code(STATUS_INTERNAL), 70);
    ck_assert_str_eq(status_name(STATUS_BAD_DATA), "BAD_DATA");
}
END_TEST

START_TEST(unknown_status_is_our_mistake)
{
    status_name(STATUS_COUNT);
}
END_TEST

START_TEST(bug_ends_the_process_with_70)
{
    BUG("seventy %d", 70);
}
END_TEST

START_TEST(error_keeps_place_and_text)
{
    struct error error = {0};
    char text[1100];
    ck_assert_int_eq(error_set_at(&error, STATUS_BAD_DATA, "a.yaml", 7, 13, "expected %s", "a number"),
                     STATUS_BAD_DATA);
    ck_assert_int_eq(error.status, STATUS_BAD_DATA);
    ck_assert_str_eq(error_describe(&error, text, sizeof text), "a.yaml:7:13: expected a number");
    ck_assert_int_eq(error_set_at(&error, STATUS_LIMIT, "a.yaml", 7, 0, "too long"), STATUS_LIMIT);
    ck_assert_str_eq(error_describe(&error, text, sizeof text), "a.yaml:7: too long");
    ck_assert_int_eq(error_set_at(&error, STATUS_IO, "a.yaml", 0, 0, "gone"), STATUS_IO);
    ck_assert_str_eq(error_describe(&error, text, sizeof text), "a.yaml: gone");
    ck_assert_int_eq(error_set(&error, STATUS_USAGE, "which knob"), STATUS_USAGE);
    ck_assert_str_eq(error_describe(&error, text, sizeof text), "which knob");
}
END_TEST

START_TEST(error_without_a_text_is_described_by_its_status)
{
    struct error error = {.status = STATUS_NO_MEMORY};
    char text[200];
    ck_assert_str_eq(error_describe(&error, text, sizeof text), status_text(STATUS_NO_MEMORY));
}
END_TEST

START_TEST(error_may_be_left_out)
{
    ck_assert_int_eq(error_set(NULL, STATUS_DOMAIN, "%d", 5), STATUS_DOMAIN);
    ck_assert_int_eq(error_set_at(NULL, STATUS_DOMAIN, NULL, 1, 2, "x"), STATUS_DOMAIN);
}
END_TEST

START_TEST(messages_stay_one_line)
{
    struct error error = {0};
    (void)error_set_at(&error, STATUS_BAD_DATA, "a\nb", 1, 1, "name '%s' is unknown", "x\r\ny\033[31m");
    ck_assert_ptr_null(strpbrk(error.text, "\r\n\033"));
    ck_assert_ptr_null(strpbrk(error.file, "\r\n"));
    ck_assert_ptr_nonnull(strstr(error.text, "is unknown"));
}
END_TEST

START_TEST(long_texts_and_paths_are_cut_at_a_whole_character)
{
    struct error error = {0};
    char long_text[3001], long_path[601];
    for (size_t i = 0; i + 1 < sizeof long_text; i += 2)
        memcpy(long_text + i, "\xc3\xa9", 2);
    long_text[sizeof long_text - 1] = '\0';
    memset(long_path, 'd', sizeof long_path - 1);
    memcpy(long_path + sizeof long_path - 8, "end.csv", 8);
    (void)error_set_at(&error, STATUS_BAD_DATA, long_path, 3, 0, "x%s", long_text);
    ck_assert_uint_ge(strlen(error.text), sizeof error.text - 4);
    ck_assert_uint_eq((strlen(error.text) - 1) % 2, 0);
    ck_assert_ptr_nonnull(strstr(error.file, "end.csv"));
    char small[16];
    error_describe(&error, small, sizeof small);
    ck_assert_uint_eq(strlen(small), sizeof small - 1);
}
END_TEST

START_TEST(an_error_may_quote_itself)
{
    struct error error = {0};
    (void)error_set(&error, STATUS_IO, "disk full");
    (void)error_set(&error, STATUS_IO, "while writing: %s", error.text);
    ck_assert_str_eq(error.text, "while writing: disk full");
}
END_TEST

/* Where no locale with a decimal comma is installed there is nothing to see. */
START_TEST(numbers_in_messages_do_not_follow_the_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR"};
    struct error error = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            break;
    (void)error_set(&error, STATUS_DOMAIN, "%.1f", 2.5);
    ck_assert_str_eq(error.text, "2.5");
}
END_TEST

Suite *suite_status(void)
{
    Suite *suite = suite_create("status");
    TCase *list = tcase_create("list");
    tcase_add_test(list, every_status_has_name_text_and_exit_code);
    tcase_add_test(list, exit_codes_are_those_of_the_manual);
    suite_add_tcase(suite, list);
    TCase *messages = tcase_create("messages");
    tcase_add_test(messages, error_keeps_place_and_text);
    tcase_add_test(messages, error_without_a_text_is_described_by_its_status);
    tcase_add_test(messages, error_may_be_left_out);
    tcase_add_test(messages, messages_stay_one_line);
    tcase_add_test(messages, long_texts_and_paths_are_cut_at_a_whole_character);
    tcase_add_test(messages, an_error_may_quote_itself);
    tcase_add_test(messages, numbers_in_messages_do_not_follow_the_locale);
    suite_add_tcase(suite, messages);
    /* These end the process, which only a forked test survives. */
    const char *fork_mode = getenv("CK_FORK");
    if (fork_mode == NULL || strcmp(fork_mode, "no") != 0) {
        TCase *exits = tcase_create("exits");
        tcase_add_exit_test(exits, unknown_status_is_our_mistake, 70);
        tcase_add_exit_test(exits, bug_ends_the_process_with_70, 70);
        suite_add_tcase(suite, exits);
    }
    return suite;
}
