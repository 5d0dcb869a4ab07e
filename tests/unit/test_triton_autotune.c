/* SPDX-License-Identifier: GPL-3.0-or-later
 * What Triton's autotuner leaves: its file, its output, and messages of kernels that ask for too much. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/profiles/out_of_resources.h"
#include "evidence/profiles/profile_readers.h"
#include "tests/support/assert_close.h"
#include "tests/support/claims.h"

static struct kernel_claim_list list;

static void read_log(const char *text)
{
    claims_must_read_text(triton_autotune_log_read, "run.log", text, strlen(text), &list);
}

static void release(void)
{
    kernel_claim_list_release(&list);
}

/* --- the file ------------------------------------------------------------------------------------------------------
 */

START_TEST(recorded_file)
{
    claims_must_read(triton_autotune_file_read,
                     "tests/recorded/triton-3.6-cache/ERQUX52T3WZ36PZHGNKPKQOZWO3GR7LCL2WC6PXPKHCR6GVC3GDQ/"
                     "matmul_kernel.autotune.json",
                     &list);
    static const double medians_us[] = {183.55199694633484, 216.5759950876236, NAN, NAN,
                                        361.87200248241425, 657.9679846763611};
    ck_assert_uint_eq(list.count, 6);
    ck_assert_uint_eq(list.skipped, 0);
    for (size_t i = 0; i < 6; i++) {
        const struct kernel_claim *claim = &list.items[i];
        ck_assert_str_eq(claim->name, "matmul_kernel");
        ck_assert_int_eq(claim->is_failed, isnan(medians_us[i]));
        ck_assert_uint_eq(claim->time.count, isnan(medians_us[i]) ? 0u : 1u);
        if (!isnan(medians_us[i])) {
            assert_close_rel(claim->time.median_us, medians_us[i], TOL_ROUNDING);
        }
    }
    const struct kernel_claim *first = &list.items[0];
    ck_assert_str_eq(claim_knob(first, "BN"), "256");
    ck_assert_ptr_null(claim_knob(first, "maxnreg")); /* null in the file */
    assert_figure(first, CLAIM_NUM_WARPS, 8);
    assert_figure(first, CLAIM_NUM_STAGES, 3);
    assert_figure(first, CLAIM_CLUSTER, 1);
    ck_assert_msg(strstr(first->note, "below 182.592 and 184.224 us") != NULL, "%s", first->note);
    ck_assert_msg(strstr(first->note, "key [4096,4096,4096,\"torch.bfloat16\"") != NULL, "%s", first->note);
    release();
}
END_TEST

START_TEST(files_of_other_versions)
{
    static const char one_number[] =
        "{\"key\": [64, 1], \"configs_timings\": [[{\"kwargs\": {\"B\": 16}, \"num_warps\": 4,"
        " \"num_stages\": 2, \"maxnreg\": 128}, 0.5], [{\"kwargs\": {}}, NaN], [3, 4],"
        " [{\"kwargs\": {\"B\": 16}}, [\"x\", 1, 2]]]}";
    claims_must_read_text(triton_autotune_file_read, "k.autotune.json", one_number, sizeof one_number - 1, &list);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(list.skipped, 2);
    ck_assert_str_eq(list.items[0].name, "k");
    ck_assert_double_eq(list.items[0].time.median_us, 500.0);
    ck_assert_str_eq(claim_knob(&list.items[0], "maxnreg"), "128");
    ck_assert(list.items[1].is_failed);
    release();
}
END_TEST

START_TEST(wrong_autotune_files)
{
    static const char *const texts[] = {"",
                                        "{}",
                                        "[]",
                                        "{\"configs_timings\": 3}",
                                        "{\"configs_timings\": [",
                                        "{\"configs_timings\": [], \"configs_timings\": []}"};
    struct error error;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_int_eq(
            claims_read_status(triton_autotune_file_read, "k.autotune.json", texts[i], strlen(texts[i]), &error),
            STATUS_BAD_DATA);
        ck_assert_str_ne(error.text, "");
    }
}
END_TEST

/* --- the output ----------------------------------------------------------------------------------------------------
 */

START_TEST(recorded_output)
{
    claims_must_read(triton_autotune_log_read, "tests/recorded/profilers/triton-print-autotuning.txt", &list);
    ck_assert_uint_eq(list.count, 12); /* two keys, six configurations each */
    size_t failed = 0, chosen = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct kernel_claim *claim = &list.items[i];
        ck_assert_str_eq(claim->name, "matmul_kernel");
        ck_assert_uint_eq(claim->time.count, 0);
        ck_assert_uint_eq(claim->parameter_count, 7);
        failed += claim->is_failed;
        chosen += strstr(claim->note, "chosen of 6") != NULL;
        const char *key = i < 6 ? "key (4096, 4096, 4096, 'torch.bfloat16'" : "key (1024, 4096, 4096, 'torch.bfloat16'";
        ck_assert_msg(strstr(claim->note, key) != NULL, "%s", claim->note);
    }
    ck_assert_uint_eq(failed, 4);
    ck_assert_uint_eq(chosen, 2);
    ck_assert_msg(strstr(list.items[0].note, "chosen of 6 by tuning of 3.96 s") != NULL, "%s", list.items[0].note);
    ck_assert_msg(strstr(list.items[6].note, "chosen of 6 by tuning of 0.46 s") != NULL, "%s", list.items[6].note);
    const struct kernel_claim *third = &list.items[2], *fourth = &list.items[3];
    ck_assert(third->is_failed && fourth->is_failed);
    assert_figure(third, CLAIM_SMEM_REQUIRED, 327680);
    assert_figure(third, CLAIM_SMEM_LIMIT, 232448);
    assert_figure(fourth, CLAIM_SMEM_REQUIRED, 393216);
    assert_figure(third, CLAIM_NUM_WARPS, 4);
    assert_figure(third, CLAIM_NUM_STAGES, 4);
    ck_assert_str_eq(claim_knob(third, "BK"), "128");
    release();
}
END_TEST

/* 2.x and 3.0: the end alone, on one line; a prefix of a logger; a value with a comma. */
START_TEST(old_one_line_form)
{
    read_log("(Worker pid=7) INFO Triton autotuning for function copy finished after 16.82s; best config selected: "
             "BLOCK: 4096, shape: (1, 2), num_warps: 4, num_ctas: 1, num_stages: 2, num_buffers_warp_spec: 0, "
             "maxnreg: None;\n");
    ck_assert_uint_eq(list.count, 1);
    const struct kernel_claim *claim = &list.items[0];
    ck_assert_str_eq(claim->name, "copy");
    ck_assert_str_eq(claim_knob(claim, "BLOCK"), "4096");
    ck_assert_str_eq(claim_knob(claim, "shape"), "(1, 2)");
    ck_assert_str_eq(claim_knob(claim, "num_buffers_warp_spec"), "0");
    ck_assert_ptr_null(claim_knob(claim, "maxnreg"));
    assert_figure(claim, CLAIM_NUM_WARPS, 4);
    ck_assert_str_eq(claim->note, "chosen by tuning of 16.82 s; its own time is not printed");
    release();
}
END_TEST

/* A refusal of another kernel between the lines does not disturb the round; other failures keep their reason. */
START_TEST(round_with_other_lines_between)
{
    read_log(
        "Autotuning kernel a with config B: 1, num_warps: 4\n"
        "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 163842, Hardware limitation: "
        "101376. reducing the block size\n"
        "Autotuning kernel a with config B: 2, num_warps: 4\n"
        "Autotuning failed with PTXASError: `ptxas` failed with error code 255\n"
        "Triton autotuning for function a,\nwith key as (1,),\nfinished after 2.00s,\n"
        "best config selected: B: 1, num_warps: 4;\n");
    ck_assert_uint_eq(list.count, 3);
    ck_assert_msg(strstr(list.items[0].note, "chosen of 2") != NULL, "%s", list.items[0].note);
    ck_assert(!list.items[0].is_failed && list.items[1].is_failed && list.items[2].is_failed);
    assert_figure(&list.items[1], CLAIM_SMEM_REQUIRED, 163842);
    assert_figure(&list.items[1], CLAIM_SMEM_LIMIT, 101376);
    ck_assert_str_eq(list.items[1].name, "");
    assert_unknown(&list.items[2], CLAIM_SMEM_REQUIRED);
    ck_assert_msg(strstr(list.items[2].note, "PTXASError") != NULL, "%s", list.items[2].note);
    release();
}
END_TEST

/* --- refusals ------------------------------------------------------------------------------------------------------
 */

START_TEST(spellings_of_out_of_resources)
{
    static const struct {
        const char *text;
        uint64_t required, limit;
        const char *resource, *kernel;
        bool is_smem;
    } cases[] = {
        {"out of resource: shared memory, Required: 327680, Hardware limit: 232448. Reducing block sizes or "
         "`num_stages` "
         "may help.",
         327680, 232448, "shared memory", "", true},
        {"out of resource: shared memoryRequired: 65536Hardware limit: 49152", 65536, 49152, "shared memory", "", true},
        {"out of resource: shared memory, Required: 163842, Hardware limitation: 101376. reducing", 163842, 101376,
         "shared memory", "", true},
        {"OutOfMemoryError: out of resource: triton_mm Required: 294912 Hardware limit:232448 Reducing", 294912, 232448,
         "", "triton_mm", true},
        {"Required: 73728  Hardware limit: 65536", 73728, 65536, "", "", false},
        {"OutOfResources(98304, 49152, 'shared memory')", 98304, 49152, "shared memory", "", true},
        {"out of resource: tensor memory, Required: 1024, Hardware limit: 512. R", 1024, 512, "tensor memory", "",
         false},
        {"out of resource: threads, Required: 2048, Hardware limit: 1024. R", 2048, 1024, "threads", "", false},
        {"out of resource: registers, Required: 90112, Hardware limit: 65536. R", 90112, 65536, "registers", "", false},
        {"out of resource: grid size, Required: 65536, Hardware limit: 65535.", 65536, 65535, "grid size", "", false},
    };
    static const char *const others[] = {
        "raise OutOfResources(self.metadata.shared, max_shared_mem, \"shared memory\")",
        "out of resource: shared memory",
        "Required: many, Hardware limit: 4",
        "Required: 12, and much later, Hardware limit: 4",
        "Required: 99999999999999999999, Hardware limit: 4",
        "",
    };
    struct out_of_resources message;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(out_of_resources_parse(cases[i].text, &message), "%s", cases[i].text);
        ck_assert_uint_eq(message.required, cases[i].required);
        ck_assert_uint_eq(message.limit, cases[i].limit);
        ck_assert_str_eq(message.resource, cases[i].resource);
        ck_assert_str_eq(message.kernel, cases[i].kernel);
        ck_assert_msg(out_of_resources_is_smem(&message) == cases[i].is_smem, "%s", cases[i].text);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert_msg(!out_of_resources_parse(others[i], &message), "%s", others[i]);
    }
}
END_TEST

/* Inductor names the kernel instead of the resource, sometimes with its configuration; servers repeat messages. */
START_TEST(logs_of_servers)
{
    read_log("ERROR: No valid triton configs. OutOfMemoryError: out of resource: triton_mm Required: 294912 Hardware "
             "limit:232448 Reducing block sizes or `num_stages` may help. for benchmark choice "
             "TritonTemplateCaller(/cache/c2.py, ACC_TYPE='tl.float32', BLOCK_K=128, BLOCK_M=64, GROUP_M=8, "
             "num_stages=4, num_warps=4)\n"
             "rank 0: OutOfResources: out of resource: shared memory, Required: 73728, Hardware limit: 65536. R\n"
             "rank 1: OutOfResources: out of resource: shared memory, Required: 73728, Hardware limit: 65536. R\n"
             "out of resource: triton_flex\nRequired: 262144  Hardware limit: 232448\n");
    ck_assert_uint_eq(list.count, 3);
    ck_assert_str_eq(list.items[0].name, "triton_mm");
    ck_assert_str_eq(claim_knob(&list.items[0], "BLOCK_K"), "128");
    ck_assert_str_eq(claim_knob(&list.items[0], "ACC_TYPE"), "tl.float32");
    assert_figure(&list.items[0], CLAIM_NUM_STAGES, 4);
    assert_figure(&list.items[0], CLAIM_SMEM_REQUIRED, 294912);
    ck_assert_str_eq(list.items[1].name, "");
    assert_figure(&list.items[1], CLAIM_SMEM_LIMIT, 65536);
    ck_assert_str_eq(list.items[2].name, "triton_flex");
    ck_assert_uint_eq(list.items[2].line, 5);
    assert_figure(&list.items[2], CLAIM_SMEM_REQUIRED, 262144);
    release();
}
END_TEST

START_TEST(other_logs)
{
    static const char *const texts[] = {"", "hello\n", "finished after 3s\n", "Autotuning kernel x\n"};
    struct error error;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_int_eq(claims_read_status(triton_autotune_log_read, "x.log", texts[i], strlen(texts[i]), &error),
                         STATUS_BAD_DATA);
        ck_assert_msg(strstr(error.text, "no output of Triton's autotuner") != NULL, "%s", error.text);
    }
    read_log("Autotuning kernel k\xff with config B: 1\nAutotuning kernel k with config B: 1\n");
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.skipped, 1);
    release();
}
END_TEST

Suite *suite_triton_autotune(void)
{
    Suite *suite = suite_create("triton_autotune");
    TCase *file = tcase_create("file"), *log = tcase_create("log");
    tcase_add_test(file, recorded_file);
    tcase_add_test(file, files_of_other_versions);
    tcase_add_test(file, wrong_autotune_files);
    tcase_add_test(log, recorded_output);
    tcase_add_test(log, old_one_line_form);
    tcase_add_test(log, round_with_other_lines_between);
    tcase_add_test(log, spellings_of_out_of_resources);
    tcase_add_test(log, logs_of_servers);
    tcase_add_test(log, other_logs);
    suite_add_tcase(suite, file);
    suite_add_tcase(suite, log);
    return suite;
}
