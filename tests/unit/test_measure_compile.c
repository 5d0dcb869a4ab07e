/* SPDX-License-Identifier: GPL-3.0-or-later
 * Kernels compiled for every architecture without a GPU, and the committed resource tables. Skips where NVRTC is not.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "evidence/embedded_data.h"
#include "kernels/measure.h"
#include "tests/support/temp_dir.h"

Suite *suite_measure_compile(void);

static const unsigned archs[] = {80, 90, 100, 120};
static const char *const tables[] = {"sparse-decode", "gqa-decode", "gemm-tile", "bandwidth-gather", "mma-tile"};

/* NULL after saying "skipped" when there is no NVRTC here. */
static struct measure_compiler *open_compiler(const char *test, const char *cache)
{
    struct measure_compiler *compiler;
    struct measure_config config;
    struct measure_result result;
    struct error error = {0};
    if (getenv("TEST_QUICK")) {
        printf("skipped: %s: quick run\n", test);
        return NULL;
    }
    ck_assert_int_eq(measure_compiler_create(NULL, cache, &compiler, &error), STATUS_OK);
    ck_assert_int_eq(measure_config_parse("launch_chain", &config, &error), STATUS_OK);
    if (measure_compile(compiler, &config, 90, 132, &result, &error) == STATUS_OK)
        return compiler;
    ck_assert_int_eq(error.status, STATUS_MISSING);
    printf("skipped: %s: NVRTC is not here\n", test);
    measure_compiler_free(compiler);
    return NULL;
}

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
    struct measure_compiler *compiler = open_compiler("every_kernel_compiles_for_every_architecture", NULL);
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
    struct measure_compiler *compiler = open_compiler("knobs_reach_the_compiler", NULL);
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
    struct measure_compiler *compiler = open_compiler("the_cache_gives_the_same_answer", directory.path);
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

static double number(const struct csv_table *table, size_t row, const char *name)
{
    double value = 0.0;
    struct error error = {0};
    long column = csv_column(table, name);
    ck_assert_msg(column >= 0, "no column %s", name);
    ck_assert_msg(csv_number(table, row, (size_t)column, &value, &error) == STATUS_OK, "%s", error.text);
    return value;
}

static void read_table(const char *name, struct csv_table *table)
{
    char path[80];
    struct error error = {0};
    snprintf(path, sizeof path, "resources/%s.csv", name);
    const struct embedded_file *file = embedded_file_find(path);
    ck_assert_msg(file != NULL, "%s is not built in", path);
    ck_assert_msg(csv_parse(file->begin, file->length, path, table, &error) == STATUS_OK, "%s", error.text);
}

START_TEST(committed_tables_are_consistent)
{
    struct csv_table table;
    read_table(tables[_i], &table);
    ck_assert_uint_gt(table.row_count, 30);
    for (size_t row = 0; row < table.row_count; row++) {
        double registers = number(&table, row, "registers_per_thread");
        ck_assert_msg(registers >= 8.0 && registers <= 255.0, "line %u: %g registers", table.lines[row], registers);
        if (number(&table, row, "spill_store_bytes") > 0.0)
            ck_assert_msg(number(&table, row, "local_bytes") > 0.0, "line %u spills to nowhere", table.lines[row]);
        ck_assert(number(&table, row, "static_smem_bytes") <= 49152.0);
    }
    csv_table_release(&table);
}
END_TEST

/* Every so many-th row compiled again; another compiler may choose other registers, so only the table's own version
 * must agree exactly. */
START_TEST(committed_tables_are_what_the_compiler_says)
{
    struct measure_compiler *compiler = open_compiler("committed_tables_are_what_the_compiler_says", NULL);
    struct csv_table table;
    struct error error = {0};
    if (!compiler)
        return;
    int major, minor;
    measure_compiler_version(compiler, &major, &minor);
    read_table(tables[_i], &table);
    for (size_t row = 1; row < table.row_count; row += table.row_count / 4) {
        char text[512];
        struct measure_config config;
        struct measure_result result;
        int used = snprintf(text, sizeof text, "%s", tables[_i]);
        for (char *c = text; *c; c++)
            *c = *c == '-' ? '_' : *c;
        for (size_t column = 2; strcmp(table.names[column], "registers_per_thread") != 0; column++)
            used += snprintf(text + used, sizeof text - (size_t)used, " %s=%s", table.names[column],
                             csv_cell(&table, row, column));
        bool splits = strstr(csv_cell(&table, row, 1), "combine") != NULL;
        if (splits)
            snprintf(text + used, sizeof text - (size_t)used, " splits=2");
        ck_assert_msg(measure_config_parse(text, &config, &error) == STATUS_OK, "%s: %s", text, error.text);
        unsigned arch = (unsigned)number(&table, row, "compute_capability");
        ck_assert_int_eq(measure_compile(compiler, &config, arch, 132, &result, &error), STATUS_OK);
        if (major == 13 && minor == 0)
            ck_assert_msg(result.stages[splits].registers_per_thread ==
                              (uint32_t)number(&table, row, "registers_per_thread"),
                          "line %u: %s sm_%u: %u registers now", table.lines[row], text, arch,
                          result.stages[splits].registers_per_thread);
    }
    csv_table_release(&table);
    measure_compiler_free(compiler);
}
END_TEST

Suite *suite_measure_compile(void)
{
    Suite *suite = suite_create("measure_compile");
    TCase *tcase = tcase_create("all");
    int table_count = (int)(sizeof tables / sizeof *tables);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, every_kernel_compiles_for_every_architecture, 0, 11);
    tcase_add_test(tcase, knobs_reach_the_compiler);
    tcase_add_test(tcase, the_cache_gives_the_same_answer);
    tcase_add_loop_test(tcase, committed_tables_are_consistent, 0, table_count);
    tcase_add_loop_test(tcase, committed_tables_are_what_the_compiler_says, 0, table_count);
    suite_add_tcase(suite, tcase);
    return suite;
}
