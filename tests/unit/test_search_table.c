/* SPDX-License-Identifier: GPL-3.0-or-later
 * Tuners' results as a table to search: numbers, texts, failures, and entries that do not fit together. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "calibrate/experiment/search_table.h"
#include "evidence/profiles/kernel_claim.h"
#include "tests/support/assert_close.h"

static void add(struct kernel_claim_list *list, const char *block, const char *method, double time_us)
{
    struct kernel_claim *claim = NULL;
    struct error error = {0};
    ck_assert_int_eq(kernel_claim_list_add(list, CLAIM_SOURCE_KERNEL_TUNER, "t.json", "k", 1, &claim, &error),
                     STATUS_OK);
    ck_assert_int_eq(kernel_claim_parameter(list, claim, "block", 5, block, strlen(block), &error), STATUS_OK);
    if (method) {
        ck_assert_int_eq(kernel_claim_parameter(list, claim, "method", 6, method, strlen(method), &error), STATUS_OK);
    }
    claim->time.count = time_us > 0;
    claim->time.mean_us = time_us > 0 ? time_us : (double)NAN;
    claim->is_failed = !(time_us > 0);
}

START_TEST(test_claims_become_columns)
{
    struct kernel_claim_list list = {0};
    struct search_table table;
    struct error error = {0};
    add(&list, "16", "row", 5);
    add(&list, "32", "column", 4);
    add(&list, "64", "row", -1);
    ck_assert_int_eq(search_table_from_claims(&list, &table, &error), STATUS_OK);
    ck_assert_uint_eq(table.config_count, 3);
    ck_assert_uint_eq(table.variable_count, 2);
    ck_assert_str_eq(table.names[1], "method");
    ck_assert(!table.is_category[0] && table.is_category[1]);
    ck_assert(table.values[2] == 32 && table.values[1] == table.values[5] && table.values[1] != table.values[3]);
    assert_close_rel(table.times_s[1], 4e-6, 1e-12);
    ck_assert(isnan(table.times_s[2]));
    search_table_release(&table);
    kernel_claim_list_release(&list);
}
END_TEST

START_TEST(test_entries_must_agree)
{
    struct kernel_claim_list list = {0};
    struct search_table table;
    struct error error = {0};
    ck_assert_int_eq(search_table_from_claims(&list, &table, &error), STATUS_BAD_DATA);
    add(&list, "16", "row", 5);
    add(&list, "32", NULL, 4);
    ck_assert_int_eq(search_table_from_claims(&list, &table, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "method"));
    kernel_claim_list_release(&list);
    ck_assert_int_ne(search_table_read("/no/such/file.json", &table, &error), STATUS_OK);
}
END_TEST

Suite *suite_search_table(void);
Suite *suite_search_table(void)
{
    Suite *suite = suite_create("search_table");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, test_claims_become_columns);
    tcase_add_test(tests, test_entries_must_agree);
    suite_add_tcase(suite, tests);
    return suite;
}
