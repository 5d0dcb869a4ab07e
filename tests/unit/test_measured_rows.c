/* SPDX-License-Identifier: GPL-3.0-or-later
 * Measurement files bound to a scenario: what becomes a row, what is counted, what is refused and with which words. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/measured_rows_private.h"
#include "tests/support/assert_close.h"
#include "tests/support/temp_dir.h"

Suite *suite_measured_rows(void);

static const char SCENARIO[] = "name: rows-test\n"
                               "device: nvidia-h200\n"
                               "knobs:\n"
                               "  block: [16, 32, 64]\n"
                               "  warps: [4, 8]\n"
                               "base: {block: 32, warps: 4}\n"
                               "require:\n"
                               "  - {expr: \"warps < 8 || block > 16\", why: \"too many warps\"}\n"
                               "workload: {rows: [4096, 8192], heads: 8}\n"
                               "kernels:\n"
                               "  main:\n"
                               "    grid: heads * 16\n"
                               "    threads: 32 * warps\n"
                               "    registers: 128\n"
                               "    smem_bytes: 4000 * block\n"
                               "    loop:\n"
                               "      iterations: ceil(rows / block)\n"
                               "      buffers: 2\n"
                               "      stream: {rows: block, row_bytes: 256}\n";

static struct temp_dir directory;
static struct device_catalogue *catalogue;
static struct scenario *scenario;

static void setup(void)
{
    char path[1024];
    struct error error = {0};
    temp_dir_create(&directory);
    temp_dir_write(&directory, "rows-test.yaml", SCENARIO, strlen(SCENARIO), path, sizeof path);
    ck_assert_int_eq(device_catalogue_create(&catalogue, &error), STATUS_OK);
    ck_assert_msg(scenario_read(path, catalogue, NULL, &scenario, &error) == STATUS_OK, "%s", error.text);
}

static void teardown(void)
{
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    temp_dir_remove(&directory);
}

static enum status read_text(const char *csv, const struct measured_rows_options *options, struct measured_rows *rows,
                             struct error *error)
{
    char path[1024];
    temp_dir_write(&directory, "rows.csv", csv, strlen(csv), path, sizeof path);
    return measured_rows_read(scenario, (const char *const[]){path}, 1, options, rows, error);
}

START_TEST(lines_become_rows)
{
    static const char csv[] = "kernel,device,gpu_id,block,warps,rows,outcome,is_reference,time_us,sm_clock_mhz,note\n"
                              "main,NVIDIA H200,a,16,4,4096,ok,0,150,1980,x\n"
                              "main,nvidia-h200,a,32,4,4096,ok,0,100,1970,x\n"
                              "main,NVIDIA H200,a,64,8,4096,infeasible,0,,,\"a, b\"\n"
                              "main,NVIDIA H200,a,32,4,4096,ok,1,7,1980,x\n"
                              "main,NVIDIA H200,b,32,4,4096,ok,0,104,1980,x\n"
                              "main,NVIDIA H200,a,32,4,8192,ok,0,190,1980,x\n"
                              "main,NVIDIA H200,a,32,4,4096,ok,0,101,1980,x\n"
                              "main,NVIDIA H200,a,64,4,8192,wrong result,0,1,1980,x\n";
    struct measured_rows rows;
    struct error error = {0};
    ck_assert_msg(read_text(csv, NULL, &rows, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_uint_eq(rows.read, 8);
    ck_assert_uint_eq(rows.repeats, 2);
    ck_assert_uint_eq(rows.infeasible, 1);
    ck_assert_uint_eq(rows.failed, 1);
    ck_assert_uint_eq(rows.references, 1);
    ck_assert_uint_eq(rows.group_count, 2);
    ck_assert_uint_eq(rows.rows[0].group, 0);
    ck_assert_uint_eq(rows.rows[1].group, 0);
    ck_assert_uint_eq(rows.rows[2].group, 1);
    assert_close_rel(rows.rows[1].time_s, 101e-6, 1e-12); /* the median of 100, 104, 101 */
    ck_assert_double_gt(rows.rows[1].noise_log_sigma, 0.015);
    ck_assert_double_lt(rows.rows[1].noise_log_sigma, 0.025);
    ck_assert_double_eq(rows.rows[0].noise_log_sigma, 0);
    ck_assert_uint_eq(rows.rows[2].line, 7);
    ck_assert_uint_eq(rows.rows[0].layer.kernels[0].launch.threads, 128);
    ck_assert_double_eq(rows.rows[0].layer.kernels[0].loop.iterations, 256);
    ck_assert_uint_eq(rows.variable_count, 4);
    ck_assert_double_eq(rows.values[2 * 4 + 2], 8192);
    ck_assert_double_eq(rows.values[2 * 4 + 3], 8); /* no column: the scenario's only value */
    ck_assert_str_eq(rows.device, "NVIDIA H200");
    ck_assert_str_eq(rows.gpu_id, ""); /* two of them: said, and none is named */
    ck_assert_uint_eq(rows.warning_count, 1);
    ck_assert(strstr(rows.warnings[0], "more than one GPU") != NULL);
    ck_assert_double_eq(rows.sm_clock_mhz, 1980);
    measured_rows_release(&rows);
}
END_TEST

/* One time in the wrong unit among right ones is kept, and its line is named. */
START_TEST(odd_time_is_named)
{
    static const char csv[] = "block,warps,rows,time_us\n"
                              "32,4,4096,100\n"
                              "16,4,4096,150\n"
                              "32,4,8192,0.19\n"
                              "16,4,8192,290\n";
    struct measured_rows rows;
    struct error error = {0};
    ck_assert_msg(read_text(csv, NULL, &rows, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(rows.count, 4);
    ck_assert_uint_eq(rows.warning_count, 1);
    ck_assert_msg(strstr(rows.warnings[0], "1 of 4 times") != NULL, "%s", rows.warnings[0]);
    ck_assert_msg(strstr(rows.warnings[0], "line 4:") != NULL, "%s", rows.warnings[0]);
    measured_rows_release(&rows);
}
END_TEST

/* The time column's ending is its unit: the same table in four units. */
START_TEST(units_by_ending)
{
    static const struct {
        const char *column, *time;
    } cases[] = {{"time_ns", "123400"}, {"time_us", "123.4"}, {"time_ms", "0.1234"}, {"time_s", "0.0001234"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char csv[256];
        struct measured_rows rows;
        struct error error = {0};
        (void)snprintf(csv, sizeof csv, "block,warps,rows,%s\n32,4,4096,%s\n", cases[i].column, cases[i].time);
        ck_assert_msg(read_text(csv, NULL, &rows, &error) == STATUS_OK, "%s", error.text);
        assert_close_rel(rows.rows[0].time_s, 123.4e-6, 1e-12);
        measured_rows_release(&rows);
    }
}
END_TEST

START_TEST(hash_follows_every_byte)
{
    uint64_t hashes[3];
    static const char *const tables[] = {"block,warps,rows,time_us\n32,4,4096,123\n",
                                         "block,warps,rows,time_us\n32,4,4096,124\n",
                                         "block,warps,rows,time_us\n32,4,4096,123\n"};
    for (int i = 0; i < 3; i++) {
        struct measured_rows rows;
        struct error error = {0};
        ck_assert_int_eq(read_text(tables[i], NULL, &rows, &error), STATUS_OK);
        hashes[i] = rows.hash;
        measured_rows_release(&rows);
    }
    ck_assert_uint_ne(hashes[0], hashes[1]);
    ck_assert_uint_eq(hashes[0], hashes[2]);
}
END_TEST

START_TEST(kernel_and_column_are_chosen)
{
    static const char csv[] = "kernel,block,warps,rows,cold_us,time_us\n"
                              "a,32,4,4096,100,1\n"
                              "b,32,4,4096,80,1\n"
                              "b,16,4,4096,90,1\n"
                              "b,16,8,4096,90,1\n";
    const struct measured_rows_options options = {.kernel = "b", .time_column = "cold_us"};
    struct measured_rows rows;
    struct error error = {0};
    ck_assert_msg(read_text(csv, &options, &rows, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_uint_eq(rows.read, 3);
    assert_close_rel(rows.rows[0].time_s, 80e-6, 1e-12);
    ck_assert_uint_eq(rows.infeasible, 1); /* the scenario requires otherwise: left out, and said */
    ck_assert_uint_eq(rows.warning_count, 1);
    ck_assert(strstr(rows.warnings[0], ":5: was timed, but the scenario requires warps < 8") != NULL);
    measured_rows_release(&rows);
}
END_TEST

static const struct {
    const char *csv, *message;
    unsigned line;
} refused[] = {
    {"block,rows,time_us\n32,4096,100\n", "no column 'warps', a knob that has no single value", 1},
    {"block,warps,row,time_us\n32,4,4096,100\n", "is 'row' it?", 1},
    {"block,warps,rows,duration\n32,4,4096,100\n", "no column time_us", 1},
    {"block,warps,rows,time_ms,time_ns\n32,4,4096,100,100\n", "say which", 1},
    {"block,warps,rows,time_us\n32,4,4096,100\n32,4,8192,0\n", "a time must be above 0", 3},
    {"block,warps,rows,time_us\n32,4,4096,-5\n", "a time must be above 0", 2},
    {"block,warps,rows,time_us\n32,4,4096,fast\n", "time_us", 2},
    {"block,warps,rows,time_us\n32,4,4096,nan\n", "time_us", 2},
    {"block,warps,rows,time_us\n32,4,4096,1e300\n", "less than 1 ns or more", 2},
    {"block,warps,rows,time_us\n32,4,4096,100\n32,4,8192,1e-300\n", "less than 1 ns or more", 3},
    {"block,warps,rows,time_us\n48,4,4096,100\n", "block=48 is not in the list", 2},
    {"block,warps,rows,time_us\n32,4,4096,0.1\n16,4,4096,0.15\n", "seems to hold milliseconds", 0},
    {"block,warps,rows,time_us\n32,4,4096,100000\n16,4,4096,150000\n", "seems to hold nanoseconds", 0},
    {"device,block,warps,rows,time_us\nNVIDIA H200,32,4,4096,100\nNVIDIA A100,32,4,4096,100\n", "one device", 3},
    {"kernel,block,warps,rows,time_us\na,32,4,4096,100\nb,32,4,4096,100\n", "say which is meant", 3},
    {"block,warps,rows,time_us\n64,4,4096,100\n", "cannot be launched", 2},
    {"block,warps,rows,outcome,time_us\n32,4,4096,infeasible,\n", "no row to learn from: of 1 rows 1 are infeasible",
     0},
    {"block,warps,rows,time_us\n16,8,4096,100\n", "no row to learn from", 0},
    {"block,warps,rows,time_us\n", "no row to learn from", 0},
    {"block,warps,rows,time_us\n32,4,4096\n", "", 2},
    {"", "", 0},
};

START_TEST(wrong_tables_are_refused)
{
    struct measured_rows rows;
    struct error error = {0};
    const char *csv = refused[_i].csv;
    ck_assert_int_ne(read_text(csv, NULL, &rows, &error), STATUS_OK);
    ck_assert_int_eq(error.status, STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, refused[_i].message) != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.file, "rows.csv") != NULL, "%s: %s", csv, error.file);
    if (refused[_i].line > 0)
        ck_assert_uint_eq(error.line, refused[_i].line);
    ck_assert_ptr_null(rows.rows);
    ck_assert_ptr_null(rows.values);
}
END_TEST

/* Our own measurements, through the scenario that describes the kernel. */
START_TEST(our_measurements)
{
    struct scenario *own;
    struct measured_rows rows;
    struct error error = {0};
    static const char *const paths[] = {"data/measurements/nvidia-h200/gemm_tile.csv",
                                        "data/measurements/nvidia-h200/gemm_tile_repeat.csv"};
    ck_assert_int_eq(scenario_read("occam-gemm-tile", catalogue, NULL, &own, &error), STATUS_OK);
    ck_assert_msg(measured_rows_read(own, paths, 2, NULL, &rows, &error) == STATUS_OK, "%s:%u %s", error.file,
                  error.line, error.text);
    ck_assert_uint_gt(rows.count, 50);
    ck_assert_uint_gt(rows.repeats, 0); /* the second file repeats rows of the first */
    ck_assert_uint_eq(rows.count + rows.repeats + rows.infeasible + rows.failed + rows.references, rows.read);
    ck_assert_str_eq(rows.device, "NVIDIA H200");
    for (size_t i = 0; i < rows.count; i++)
        ck_assert_double_gt(rows.rows[i].time_s, 0);
    measured_rows_release(&rows);
    scenario_free(own);
}
END_TEST

START_TEST(missing_file)
{
    struct measured_rows rows;
    struct error error = {0};
    ck_assert_int_eq(measured_rows_read(scenario, (const char *const[]){"/nowhere/rows.csv"}, 1, NULL, &rows, &error),
                     STATUS_MISSING);
    ck_assert_int_eq(measured_rows_read(scenario, NULL, 0, NULL, &rows, &error), STATUS_USAGE);
}
END_TEST

START_TEST(devices_are_told_apart_by_their_model)
{
    static const char *const mine[] = {"",
                                       "n/a",
                                       "N/A",
                                       "NA",
                                       "none",
                                       "unknown",
                                       "-",
                                       "?",
                                       "server",
                                       "my-host",
                                       "cuda:0",
                                       "gpu3",
                                       "NVIDIA H200",
                                       "H200",
                                       "nvidia-h200",
                                       "h200",
                                       "NVIDIA H200 NVL",
                                       "H200 SXM 141GB"};
    static const char *const others[] = {"NVIDIA H100 80GB HBM3", "H100",       "NVIDIA H20", "Tesla T4",
                                         "NVIDIA GH200 480GB",    "AMD MI300X", "RTX3090",    "NVIDIA X777Q"};
    struct error error = {0};
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++) {
        ck_assert_msg(measured_device_check(catalogue, scenario, mine[i], "a.csv", 2, &error) == STATUS_OK, "%s",
                      mine[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert_msg(measured_device_check(catalogue, scenario, others[i], "a.csv", 2, &error) == STATUS_BAD_DATA,
                      "%s", others[i]);
    }
    ck_assert(measured_device_is_same("NVIDIA H200", "H200"));
    ck_assert(measured_device_is_same("nvidia-h200", "H200 SXM 141GB"));
    ck_assert(!measured_device_is_same("NVIDIA H200 NVL", "H200 SXM"));
    ck_assert(!measured_device_is_same("RTX 5070", "GeForce RTX 5070 Ti"));
    ck_assert(!measured_device_is_same("NVIDIA", "NVIDIA H200"));
    ck_assert(!measured_device_is_same("H20", "H200"));
}
END_TEST

Suite *suite_measured_rows(void)
{
    Suite *suite = suite_create("measured_rows");
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, devices_are_told_apart_by_their_model);
    tcase_add_test(tcase, lines_become_rows);
    tcase_add_test(tcase, odd_time_is_named);
    tcase_add_test(tcase, units_by_ending);
    tcase_add_test(tcase, hash_follows_every_byte);
    tcase_add_test(tcase, kernel_and_column_are_chosen);
    tcase_add_loop_test(tcase, wrong_tables_are_refused, 0, sizeof refused / sizeof refused[0]);
    tcase_add_test(tcase, our_measurements);
    tcase_add_test(tcase, missing_file);
    suite_add_tcase(suite, tcase);
    return suite;
}
