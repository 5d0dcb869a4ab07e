/* SPDX-License-Identifier: GPL-3.0-or-later
 * MoE configuration files, made from the documented fields. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "evidence/profiles/profile_readers.h"
#include "tests/support/claims.h"

static struct kernel_claim_list list;

static void release(void)
{
    kernel_claim_list_release(&list);
}

START_TEST(file_of_a_device)
{
    static const char text[] =
        "{\"triton_version\": \"3.4.0\", \"1\": {\"BLOCK_SIZE_M\": 16, \"BLOCK_SIZE_N\": 128, \"BLOCK_SIZE_K\": 128, "
        "\"GROUP_SIZE_M\": 1, \"num_warps\": 4, \"num_stages\": 4}, \"64\": {\"BLOCK_SIZE_M\": 64, \"BLOCK_SIZE_N\": "
        "128, "
        "\"BLOCK_SIZE_K\": 64, \"GROUP_SIZE_M\": 32, \"num_warps\": 8, \"num_stages\": 3}}";
    claims_must_read_text(moe_config_read,
                          "E=256,N=512,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128,128].json", text,
                          sizeof text - 1, &list);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(list.skipped, 0);
    const struct kernel_claim *claim = &list.items[1];
    static const char *const names[] = {"M",
                                        "E",
                                        "N",
                                        "dtype",
                                        "block_shape",
                                        "BLOCK_SIZE_M",
                                        "BLOCK_SIZE_N",
                                        "BLOCK_SIZE_K",
                                        "GROUP_SIZE_M",
                                        "num_warps",
                                        "num_stages"};
    static const char *const values[] = {"64",  "256", "512", "fp8_w8a8", "[128,128]", "64",
                                         "128", "64",  "32",  "8",        "3"};
    ck_assert_uint_eq(claim->parameter_count, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < claim->parameter_count; i++) {
        ck_assert_str_eq(claim->parameters[i].name, names[i]);
        ck_assert_str_eq(claim->parameters[i].text, values[i]);
    }
    ck_assert_str_eq(claim->device, "NVIDIA H200");
    ck_assert_uint_eq(claim->time.count, 0);
    assert_figure(claim, CLAIM_NUM_WARPS, 8);
    assert_figure(claim, CLAIM_NUM_STAGES, 3);
    release();
}
END_TEST

START_TEST(entries_that_are_none)
{
    static const char text[] =
        "{\"0\": {\"BLOCK_SIZE_M\": 16}, \"x\": {\"BLOCK_SIZE_M\": 16}, \"8\": {\"a\": 1}, \"9\": 4, "
        "\"16\": {\"BLOCK_SIZE_M\": Infinity, \"num_warps\": -4, \"deep\": [1]}}";
    claims_must_read_text(moe_config_read, "plain.json", text, sizeof text - 1, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.skipped, 4);
    ck_assert_msg(strstr(list.first_skipped, "\"0\" is no batch size") != NULL, "%s", list.first_skipped);
    ck_assert_str_eq(claim_knob(&list.items[0], "M"), "16");
    ck_assert_str_eq(claim_knob(&list.items[0], "num_warps"), "-4");
    ck_assert_ptr_null(claim_knob(&list.items[0], "BLOCK_SIZE_M"));
    assert_unknown(&list.items[0], CLAIM_NUM_WARPS);
    ck_assert_str_eq(list.items[0].device, "");
    release();
}
END_TEST

START_TEST(wrong_files)
{
    static const struct {
        const char *text, *message;
    } cases[] = {{"", ""},
                 {"[]", "no MoE configuration"},
                 {"{}", "no MoE configuration"},
                 {"{\"a\": {\"BLOCK_SIZE_M\": 1}}", "no MoE configuration"},
                 {"{\"1\": {\"BLOCK_SIZE_M\": 1}, \"1\": {\"BLOCK_SIZE_M\": 2}}", ""},
                 {"{\"1\": {\"BLOCK_SIZE_M\": \"\xff\"}}", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error;
        enum status status =
            claims_read_status(moe_config_read, "x.json", cases[i].text, strlen(cases[i].text), &error);
        ck_assert_msg(status == STATUS_BAD_DATA && error.text[0] != '\0' &&
                          strstr(error.text, cases[i].message) != NULL,
                      "%s: %s", cases[i].text, error.text);
    }
}
END_TEST

Suite *suite_moe_config(void)
{
    Suite *suite = suite_create("moe_config");
    TCase *tcase = tcase_create("files");
    tcase_add_test(tcase, file_of_a_device);
    tcase_add_test(tcase, entries_that_are_none);
    tcase_add_test(tcase, wrong_files);
    suite_add_tcase(suite, tcase);
    return suite;
}
