/* SPDX-License-Identifier: GPL-3.0-or-later
 * Tables of timed configurations as claims: units, knobs, outcomes, wrong times. */
#include <check.h>
#include <string.h>

#include "evidence/claims/claim_normal.h"
#include "evidence/claims/measurement_table.h"
#include "tests/support/temp_dir.h"

Suite *suite_measurement_table(void);

static enum status read_text(const char *text, struct kernel_claim_list *list, struct error *error)
{
    struct temp_dir directory;
    char path[600];
    temp_dir_create(&directory);
    *list = (struct kernel_claim_list){0};
    *error = (struct error){0};
    (void)temp_dir_write(&directory, "t.csv", text, strlen(text), path, sizeof path);
    enum status status = measurement_table_read(path, list, error);
    temp_dir_remove(&directory);
    return status;
}

START_TEST(rows_become_claims)
{
    struct kernel_claim_list list;
    struct error error;
    ck_assert_int_eq(read_text("# source: made\nkernel,BM,num_warps,dtype,registers,smem_bytes,outcome,time_ms,seed\n"
                               "k,64,4,bf16,128,4096,ok,0.25,7\n"
                               "k,128,8,bf16,,,infeasible,,8\n"
                               "k,32,4,bf16,40,0,ok,fast,9\n",
                               &list, &error),
                     STATUS_OK);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(list.skipped, 1);
    ck_assert_ptr_nonnull(strstr(list.first_skipped, ":5:"));
    const struct kernel_claim *first = &list.items[0], *second = &list.items[1];
    ck_assert_str_eq(first->name, "k");
    ck_assert_uint_eq(first->line, 3);
    ck_assert_double_eq(first->time.median_us, 250);
    ck_assert_double_eq(first->figures[CLAIM_REGISTERS].low, 128);
    ck_assert_double_eq(first->figures[CLAIM_DYNAMIC_SMEM].low, 4096);
    ck_assert_uint_eq(first->parameter_count, 3); /* what stands behind the outcome is no knob */
    ck_assert_str_eq(first->parameters[1].name, "num_warps");
    ck_assert_str_eq(first->parameters[2].text, "bf16");
    ck_assert(second->is_failed);
    ck_assert_uint_eq(second->time.count, 0);
    ck_assert(!second->figures[CLAIM_REGISTERS].is_known);
    claims_normalise(&list);
    ck_assert_double_eq(first->figures[CLAIM_THREADS].low, 128);
    kernel_claim_list_release(&list);
}
END_TEST

START_TEST(no_time_is_no_table)
{
    struct kernel_claim_list list;
    struct error error;
    ck_assert_int_eq(read_text("a,b\n1,2\n", &list, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "time_us"));
    kernel_claim_list_release(&list);
    ck_assert_int_eq(read_text("a,time_us\n1\n", &list, &error), STATUS_BAD_DATA);
    kernel_claim_list_release(&list);
}
END_TEST

Suite *suite_measurement_table(void)
{
    Suite *suite = suite_create("measurement_table");
    TCase *tcase = tcase_create("rows");
    tcase_add_test(tcase, rows_become_claims);
    tcase_add_test(tcase, no_time_is_no_table);
    suite_add_tcase(suite, tcase);
    return suite;
}
