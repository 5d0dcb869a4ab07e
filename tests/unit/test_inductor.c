/* SPDX-License-Identifier: GPL-3.0-or-later
 * What Inductor leaves of its autotuning: tables in a log and files of chosen configurations. Samples are made from the
 * documented fields (tests/fuzz/corpus/triton_autotune/inductor, tests/fuzz/corpus/inductor_config). */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/profiles/profile_readers.h"
#include "tests/support/assert_close.h"
#include "tests/support/claims.h"

#define TABLES "tests/fuzz/corpus/triton_autotune/inductor"
#define CONFIG "tests/fuzz/corpus/inductor_config/"

static struct kernel_claim_list list;

static void release(void)
{
    kernel_claim_list_release(&list);
}

START_TEST(tables_of_a_log)
{
    static const struct {
        const char *name;
        double time_us;
    } expected[] = {{"triton_mm_4", 13.0},  {"triton_mm_8", 13.4},   {"mm", 16.0},
                    {"triton_mm_16", -1.0}, {"triton_mm_740", 27.6}, {"bias_addmm", 3240.4}};
    claims_must_read(triton_autotune_log_read, TABLES, &list);
    ck_assert_uint_eq(list.count, sizeof expected / sizeof expected[0]);
    ck_assert_uint_eq(list.skipped, 0);
    for (size_t i = 0; i < list.count; i++) {
        const struct kernel_claim *claim = &list.items[i];
        ck_assert_str_eq(claim->name, expected[i].name);
        ck_assert_int_eq(claim->source, CLAIM_SOURCE_INDUCTOR_LOG);
        ck_assert_int_eq(claim->is_failed, expected[i].time_us < 0);
        if (!claim->is_failed) {
            assert_close_rel(claim->time.median_us, expected[i].time_us, TOL_ROUNDING);
        }
    }
    release();
}
END_TEST

START_TEST(knobs_and_sizes)
{
    claims_must_read(triton_autotune_log_read, TABLES, &list);
    const struct kernel_claim *first = &list.items[0], *added = &list.items[4], *symbolic = &list.items[5];
    ck_assert_str_eq(claim_knob(first, "M"), "8");
    ck_assert_str_eq(claim_knob(first, "N"), "3072");
    ck_assert_str_eq(claim_knob(first, "K"), "2048");
    ck_assert_str_eq(claim_knob(first, "ACC_TYPE"), "tl.float32");
    ck_assert_str_eq(claim_knob(first, "BLOCK_N"), "32");
    ck_assert_ptr_null(claim_knob(first, "B_PROLOGUE_CAST_TYPE"));
    assert_figure(first, CLAIM_NUM_WARPS, 2);
    assert_figure(first, CLAIM_NUM_STAGES, 5);
    ck_assert_str_eq(first->note, "mm(8x2048, 2048x3072), torch.bfloat16, torch.bfloat16: the fastest");
    ck_assert_str_eq(claim_knob(added, "M"), "1"); /* the added operand is passed over */
    ck_assert_str_eq(claim_knob(added, "N"), "32");
    ck_assert_str_eq(claim_knob(added, "K"), "256");
    ck_assert_ptr_null(claim_knob(symbolic, "M"));
    release();
}
END_TEST

/* A table that does not end would otherwise take anything with " ms " for a row. */
START_TEST(rows_end)
{
    char text[8000] = "AUTOTUNE mm(8x8, 8x8)\n  a 1.0 ms 100.0% \n";
    for (int i = 0; i < 100; i++) {
        strcat(text, "something else\n");
    }
    strcat(text, "  b 2.0 ms 50.0% \nAUTOTUNE (no name)\nAUTOTUNE mm(\n c x ms 1%\n d 1.0 ms 1\n e -1 ms 3.0%\n");
    claims_must_read_text(triton_autotune_log_read, "run.log", text, strlen(text), &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.items[0].name, "a");
    release();
}
END_TEST

/* time_taken_ms is how long the tuning took, which must not pass for the kernel's time. */
START_TEST(chosen_configuration)
{
    claims_must_read(inductor_config_read, CONFIG "reduction", &list);
    ck_assert_uint_eq(list.count, 1);
    const struct kernel_claim *claim = &list.items[0];
    ck_assert_uint_eq(claim->time.count, 0);
    ck_assert(!claim->is_failed);
    ck_assert_str_eq(claim->name, "");
    ck_assert_str_eq(claim_knob(claim, "R0_BLOCK"), "1024");
    ck_assert_ptr_null(claim_knob(claim, "time_taken_ms"));
    ck_assert_ptr_null(claim_knob(claim, "configs_hash"));
    assert_figure(claim, CLAIM_NUM_WARPS, 8);
    assert_figure(claim, CLAIM_NUM_STAGES, 1);
    ck_assert_ptr_nonnull(strstr(claim->note, "tuning took 63 ms"));
    ck_assert_ptr_nonnull(strstr(claim->note, "own time is not in the file"));
    ck_assert_ptr_nonnull(strstr(claim->note, "Y3VLPBHR73K47MTJCPXHILRKEOCBRB3NF33M3BLQG3B3RP5TJ6RA"));
    release();
    claims_must_read(inductor_config_read, CONFIG "descent", &list);
    ck_assert_ptr_nonnull(strstr(list.items[0].note, "by coordinate descent"));
    assert_unknown(&list.items[0], CLAIM_NUM_STAGES);
    release();
}
END_TEST

static void write_file(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs(text, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
}

START_TEST(name_from_the_source_beside)
{
    char folder[] = "/tmp/occam-inductor-XXXXXX", config[64], source[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(config, sizeof config, "%s/ab.best_config", folder);
    (void)snprintf(source, sizeof source, "%s/ab.py", folder);
    write_file(config, "{\"XBLOCK\": 64, \"num_warps\": 4, \"found_by_coordesc\": false}");
    write_file(source, "import triton\n@triton.jit\ndef triton_poi_fused_add_0(in_ptr0, XBLOCK : tl.constexpr):\n");
    claims_must_read(inductor_config_read, config, &list);
    ck_assert_str_eq(list.items[0].name, "triton_poi_fused_add_0");
    release();
    ck_assert_int_eq(unlink(source), 0);
    claims_must_read(inductor_config_read, config, &list);
    ck_assert_str_eq(list.items[0].name, "");
    release();
    ck_assert_int_eq(unlink(config), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(what_is_no_configuration)
{
    static const char *const texts[] = {
        "[]", "{}", "{\"num_warps\": 4.5}", "{\"num_warps\": 4, \"num_warps\": 8}", "{\"num_warps\": 4", "\xff"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct error error = {0};
        ck_assert_msg(claims_read_status(inductor_config_read, "x", texts[i], strlen(texts[i]), &error) ==
                          STATUS_BAD_DATA,
                      "%s", texts[i]);
        ck_assert_str_ne(error.text, "");
    }
}
END_TEST

Suite *suite_inductor(void)
{
    Suite *suite = suite_create("inductor");
    TCase *tables = tcase_create("tables"), *files = tcase_create("files");
    tcase_add_test(tables, tables_of_a_log);
    tcase_add_test(tables, knobs_and_sizes);
    tcase_add_test(tables, rows_end);
    tcase_add_test(files, chosen_configuration);
    tcase_add_test(files, name_from_the_source_beside);
    tcase_add_test(files, what_is_no_configuration);
    suite_add_tcase(suite, tables);
    suite_add_tcase(suite, files);
    return suite;
}
