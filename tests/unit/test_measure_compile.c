/* SPDX-License-Identifier: GPL-3.0-or-later
 * Kernels compiled for every architecture without a GPU. One line says that it is skipped where NVRTC is not. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/measure.h"
#include "tests/support/temp_dir.h"

Suite *suite_measure_compile(void);

static const unsigned archs[] = {80, 90, 100, 120};

/* NULL when there is no NVRTC here. */
static struct measure_compiler *open_compiler(const char *cache)
{
    struct measure_compiler *compiler;
    struct error error = {0};
    int major = 0, minor;
    if (getenv("TEST_QUICK"))
        return NULL;
    ck_assert_int_eq(measure_compiler_create(NULL, cache, &compiler, &error), STATUS_OK);
    measure_compiler_version(compiler, &major, &minor);
    if (major > 0)
        return compiler;
    measure_compiler_free(compiler);
    return NULL;
}

/* What --code keeps: all entry points in PTX, and machine code made of it. */
START_TEST(code_of_a_configuration)
{
    struct measure_compiler *compiler = open_compiler(NULL);
    struct measure_config config;
    struct measure_code code = {0};
    struct error error = {0};
    if (!compiler)
        return;
    ck_assert_int_eq(measure_config_parse("gqa_decode", &config, &error), STATUS_OK);
    ck_assert_msg(measure_compile_code(compiler, &config, 90, &code, &error) == STATUS_OK, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(code.ptx, ".entry gqa_decode("));
    ck_assert_ptr_nonnull(strstr(code.ptx, ".entry gqa_combine("));
    ck_assert_ptr_nonnull(strstr(code.ptx, ".target sm_90"));
    ck_assert(code.cubin_bytes > 64 && memcmp(code.cubin, "\177ELF", 4) == 0);
    ck_assert_ptr_nonnull(strstr(code.log, "registers"));
    measure_code_release(&code);
    ck_assert_ptr_null(code.cubin);
    measure_compiler_free(compiler);
}
END_TEST

START_TEST(says_whether_kernels_are_compiled)
{
    struct measure_compiler *compiler = open_compiler(NULL);
    if (!compiler)
        printf("skipped: kernels are not compiled: %s\n", getenv("TEST_QUICK") ? "quick run" : "NVRTC is not here");
    measure_compiler_free(compiler);
}
END_TEST

static const char *const every_kernel[] = {"wave_probe pad=33 static_smem=64",
                                           "latency_chase space=1",
                                           "bandwidth_stream mode=2 lane_bytes=8",
                                           "bandwidth_gather stages=3",
                                           "mma_tile accumulators=2",
                                           "smem_bandwidth mode=1",
                                           "launch_chain",
                                           "barrier_and_exp operation=1",
                                           "sparse_decode block_t=16 block_h=16",
                                           "gqa_decode block_n=32 splits=2",
                                           "gemm_tile block_m=32 block_n=32 num_warps=4"};

START_TEST(every_kernel_compiles_for_every_architecture)
{
    struct measure_compiler *compiler = open_compiler(NULL);
    struct measure_config config;
    struct measure_result result;
    struct error error = {0};
    if (!compiler)
        return;
    ck_assert_uint_eq(sizeof every_kernel / sizeof *every_kernel, measure_kernel_count());
    ck_assert_int_eq(measure_config_parse(every_kernel[_i], &config, &error), STATUS_OK);
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
        ck_assert_int_eq(measure_compile(compiler, &config, archs[a], 132, &result, &error), STATUS_OK);
        ck_assert_msg(result.outcome == MEASURE_OUTCOME_OK, "sm_%u: %s", archs[a], result.reason);
        for (uint32_t s = 0; s < result.stage_count; s++) {
            ck_assert_uint_ge(result.stages[s].registers_per_thread, 8);
            ck_assert_uint_le(result.stages[s].registers_per_thread, 255);
        }
    }
    measure_compiler_free(compiler);
}
END_TEST

START_TEST(knobs_reach_the_compiler)
{
    struct measure_compiler *compiler = open_compiler(NULL);
    struct measure_config config;
    struct measure_result free_result, capped;
    struct error error = {0};
    if (!compiler)
        return;
    ck_assert_int_eq(measure_config_parse("wave_probe pad=120 static_smem=1024", &config, &error), STATUS_OK);
    ck_assert_int_eq(measure_compile(compiler, &config, 90, 132, &free_result, &error), STATUS_OK);
    ck_assert_uint_eq(free_result.stages[0].static_smem_bytes, 1024);
    ck_assert_uint_gt(free_result.stages[0].registers_per_thread, 120);
    ck_assert_uint_eq(free_result.stages[0].spill_store_bytes, 0);
    ck_assert_int_eq(measure_config_parse("wave_probe pad=120 max_registers=64", &config, &error), STATUS_OK);
    ck_assert_int_eq(measure_compile(compiler, &config, 90, 132, &capped, &error), STATUS_OK);
    ck_assert_uint_le(capped.stages[0].registers_per_thread, 64);
    ck_assert_uint_gt(capped.stages[0].spill_store_bytes, 0);
    ck_assert_int_eq(measure_config_parse("mma_tile format=1", &config, &error), STATUS_OK);
    ck_assert_int_eq(measure_compile(compiler, &config, 80, 108, &capped, &error), STATUS_OK);
    ck_assert_int_eq(capped.outcome, MEASURE_OUTCOME_INFEASIBLE);
    ck_assert_str_eq(capped.reason, "e4m3 in mma.sync needs sm_89 or newer");
    measure_compiler_free(compiler);
}
END_TEST

START_TEST(the_cache_gives_the_same_answer)
{
    struct temp_dir directory;
    struct measure_config config;
    struct measure_result first, second;
    struct error error = {0};
    temp_dir_create(&directory);
    struct measure_compiler *compiler = open_compiler(directory.path);
    if (compiler) {
        ck_assert_int_eq(measure_config_parse("bandwidth_gather rows=7 stages=3", &config, &error), STATUS_OK);
        ck_assert_int_eq(measure_compile(compiler, &config, 120, 188, &first, &error), STATUS_OK);
        ck_assert_int_eq(measure_compile(compiler, &config, 120, 188, &second, &error), STATUS_OK);
        ck_assert_mem_eq(first.stages, second.stages, sizeof first.stages);
        ck_assert_uint_eq(first.stages[0].dynamic_smem_bytes, 7 * 3 * 584);
    }
    measure_compiler_free(compiler);
    temp_dir_remove(&directory);
}
END_TEST

/* One text of code serves several launches: what is kept of it must not bring the launch it was compiled for. */
START_TEST(what_is_kept_is_the_code_alone)
{
    static const char *const launches[] = {"gqa_decode splits=1 block_n=32", "gqa_decode splits=4 block_n=32"};
    struct measure_compiler *compiler = open_compiler(NULL);
    struct measure_result first, again;
    struct measure_config config;
    struct error error = {0};
    if (!compiler)
        return;
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(measure_config_parse(launches[i % 2], &config, &error), STATUS_OK);
        struct measure_compiler *fresh = open_compiler(NULL);
        ck_assert_int_eq(measure_compile(fresh, &config, 90, 132, &first, &error), STATUS_OK);
        ck_assert_int_eq(measure_compile(compiler, &config, 90, 132, &again, &error), STATUS_OK);
        ck_assert_uint_eq(first.stage_count, again.stage_count);
        ck_assert_int_eq(first.compiler_major, again.compiler_major);
        ck_assert_mem_eq(first.stages, again.stages, sizeof first.stages);
        measure_compiler_free(fresh);
    }
    measure_compiler_free(compiler);
}
END_TEST

Suite *suite_measure_compile(void)
{
    Suite *suite = suite_create("measure_compile");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, says_whether_kernels_are_compiled);
    tcase_add_test(tcase, code_of_a_configuration);
    tcase_add_loop_test(tcase, every_kernel_compiles_for_every_architecture, 0, 11);
    tcase_add_test(tcase, knobs_reach_the_compiler);
    tcase_add_test(tcase, the_cache_gives_the_same_answer);
    tcase_add_test(tcase, what_is_kept_is_the_code_alone);
    suite_add_tcase(suite, tcase);
    return suite;
}
