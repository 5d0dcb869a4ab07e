/* SPDX-License-Identifier: GPL-3.0-or-later
 * Figures of a GPU from its microbenchmarks: known ones are found again within their stated uncertainty, the measured
 * ones are what the rows say, and files that are wrong are named by line. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "calibrate/device_figures.h"
#include "calibrate/robust_fit.h"
#include "evidence/device_catalogue.h"
#include "evidence/device_file_writer.h"
#include "tests/support/property.h"
#include "tests/support/temp_dir.h"

Suite *suite_device_figures(void);

#define FOLDER "data/measurements/nvidia-h200/"
static const char *const files[] = {
    FOLDER "latency_chase.csv",    FOLDER "bandwidth_stream.csv", FOLDER "bandwidth_stream_lone.csv",
    FOLDER "bandwidth_gather.csv", FOLDER "mma_tile.csv",         FOLDER "smem_bandwidth.csv",
    FOLDER "launch_chain.csv",     FOLDER "barrier_and_exp.csv",  FOLDER "wave_probe.csv"};
enum {
    FILES = sizeof files / sizeof files[0],
    POINTS = 30
};

static struct device_catalogue *catalogue;
static const struct gpu_device *h200;
static struct temp_dir directory;

static void setup(void)
{
    struct error error = {0};
    temp_dir_create(&directory);
    ck_assert_int_eq(device_catalogue_create(&catalogue, &error), STATUS_OK);
    ck_assert_int_eq(device_catalogue_find(catalogue, "nvidia-h200", &h200, &error), STATUS_OK);
}

static void teardown(void)
{
    device_catalogue_free(catalogue);
    temp_dir_remove(&directory);
}

/* ---- the fit ----------------------------------------------------------------------------------------------------- */

static const double truth[3] = {4.4e12, 4.3e-7, 1.7};

static double saturating(const double *parameters, const void *rows, size_t i)
{
    const double x = ((const double *)rows)[i] / (parameters[0] * parameters[1]);
    return parameters[0] * x / pow(1 + pow(x, parameters[2]), 1 / parameters[2]);
}

static void start(struct robust_fit *fit)
{
    *fit = (struct robust_fit){.parameter_count = 3};
    fit->parameters[0] = (struct robust_fit_parameter){.start = 3e12, .prior_log = 1};
    fit->parameters[1] = (struct robust_fit_parameter){.start = 6e-7, .prior_log = 1};
    fit->parameters[2] = (struct robust_fit_parameter){.start = 2.5, .prior_log = 1};
}

static void draw(uint64_t seed, double noise, double *in_flight, double *measured)
{
    struct random_stream stream;
    random_init(&stream, seed, 3);
    for (size_t i = 0; i < POINTS; i++) {
        in_flight[i] = 2e5 * pow(2, 8 * (double)i / (POINTS - 1));
        measured[i] = saturating(truth, in_flight, i) * exp(noise * random_normal(&stream));
    }
}

START_TEST(known_laws_are_found_within_their_uncertainty)
{
    const unsigned trials = property_cases(300);
    unsigned inside = 0;
    for (unsigned t = 0; t < trials; t++) {
        double in_flight[POINTS], measured[POINTS];
        struct robust_fit fit;
        struct error error = {0};
        draw(property_seed() + t, 0.01, in_flight, measured);
        start(&fit);
        ck_assert_msg(robust_fit_run(&fit, saturating, in_flight, measured, POINTS, 1e-4, &error) == STATUS_OK, "%s",
                      error.text);
        ck_assert_msg(fit.converged, "%s", fit.convergence);
        const size_t p = t % 3; /* one parameter of each fit: those of one fit err together */
        inside += fabs(log(fit.parameters[p].value / truth[p])) <= 1.645 * fit.parameters[p].log_sigma;
    }
    /* 90 % stated, the scatter itself taken from the rows (3 % of the times too small by as much as Student's t says).
     */
    const double least = 0.9 - 0.03 - 2.576 * sqrt(0.09 / trials);
    ck_assert_msg(inside >= least * trials, "%u of %u inside their 90 %% interval, at least %.1f %% expected", inside,
                  trials, 100 * least);
}
END_TEST

START_TEST(odd_rows_do_not_bend_a_law)
{
    double in_flight[POINTS], measured[POINTS];
    struct robust_fit fit;
    struct error error = {0};
    draw(7, 0.005, in_flight, measured);
    measured[3] *= 0.5;
    measured[20] *= 0.6;
    start(&fit);
    ck_assert_int_eq(robust_fit_run(&fit, saturating, in_flight, measured, POINTS, 1e-3, &error), STATUS_OK);
    for (size_t p = 0; p < 3; p++) {
        ck_assert_msg(fabs(log(fit.parameters[p].value / truth[p])) < 0.03, "parameter %zu is %g", p,
                      fit.parameters[p].value);
    }
    ck_assert_uint_eq(fit.worst, 3);
    ck_assert(fit.worst_log > 0.6 && fit.scatter_log < 0.01);
}
END_TEST

START_TEST(what_rows_do_not_show_is_not_informed)
{
    double in_flight[6], measured[6];
    struct robust_fit fit;
    struct error error = {0};
    for (size_t i = 0; i < 6; i++) { /* far below saturation: only the latency shows */
        in_flight[i] = 16 * (double)(i + 1);
        measured[i] = in_flight[i] / truth[1];
    }
    start(&fit);
    ck_assert_int_eq(robust_fit_run(&fit, saturating, in_flight, measured, 6, 1e-3, &error), STATUS_OK);
    ck_assert(!fit.parameters[0].informed && !fit.parameters[2].informed && fit.parameters[1].informed);
    ck_assert_int_eq(robust_fit_run(&fit, saturating, in_flight, measured, 3, 1e-3, &error), STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, "3 rows cannot tell 3 parameters") != NULL, "%s", error.text);
}
END_TEST

/* ---- the figures of the H200 ------------------------------------------------------------------------------------- */

static void fit_files(const char *const *paths, size_t count, struct device_figures *figures)
{
    struct benchmark_rows rows;
    struct error error = {0};
    ck_assert_msg(benchmark_rows_read(paths, count, &rows, &error) == STATUS_OK, "%s", error.text);
    ck_assert_str_eq(rows.device, "NVIDIA H200");
    ck_assert_msg(device_figures_fit(&rows, h200, figures, &error) == STATUS_OK, "%s", error.text);
    benchmark_rows_release(&rows);
}

static const struct device_figure *find(const struct device_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->count; i++) {
        if (strcmp(figures->items[i].name, name) == 0) {
            return &figures->items[i];
        }
    }
    return NULL;
}

/* Limits read off the rows by eye: plateaus, the fastest row, the slope between the two largest sizes. */
START_TEST(figures_are_what_the_rows_say)
{
    static const struct {
        const char *name;
        double least, most;
    } expected[] = {
        {"smem_latency_cycles", 23.00, 23.02},
        {"l1_latency_cycles", 40.13, 40.15},
        {"l2_latency_cycles", 283.4, 287.7},          /* lines of 32 KiB to 16 MiB */
        {"dram_latency_ns", 336.1, 339.6},            /* 128 MiB to 1 GiB */
        {"l2_capacity_of_one_sm_mib", 16, 32},        /* 16 MiB fit, 32 do not */
        {"dram_efficiency_fraction", 0.914, 0.96},    /* over the best row, which holds a launch; below 32 to 256 MiB */
        {"sm_bandwidth_bytes_per_cycle", 32.8, 33.3}, /* 65.0 to 65.8 GB/s at 1980 MHz */
        {"sm_l2_bandwidth_bytes_per_cycle", 73, 76},  /* (16 - 4 MiB) / (114.9 - 30.2 us) = 148.6 GB/s */
        {"l2_bandwidth_gb_per_s", 7600, 8800},        /* slopes between sizes: 8.0 to 8.7 TB/s */
        {"mma_latency_cycles", 24.1, 24.2},
        {"mma_bf16_interval_cycles", 5.9, 6.1}, /* 24.03 / 4, 12.02 / 2 */
        {"mma_sync_fraction", 0.65, 0.68},
        {"clock_under_tensor_load_mhz", 1750, 1830}, /* 642 to 650 TFLOP/s over 2,728 flop per cycle and SM */
        {"graph_gap_us", 0.78, 0.79},
        {"cta_replacement_interval_ns", 0.58, 0.62}, /* (41.49 - 10.86) us / 50,688 CTAs = 0.604 */
        {"cta_start_ns", 270, 330},                  /* 11.84 us / 38 rounds = 312 */
        {"barrier_cycles", 20.3, 20.5},
        {"smem_bandwidth_bytes_per_cycle", 127, 129},
    };
    struct device_figures figures;
    fit_files(files, FILES, &figures);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct device_figure *figure = find(&figures, expected[i].name);
        ck_assert_msg(figure != NULL, "%s is missing", expected[i].name);
        ck_assert_msg(figure->value >= expected[i].least && figure->value <= expected[i].most, "%s is %g", figure->name,
                      figure->value);
    }
    for (size_t i = 0; i < figures.count; i++) {
        const struct device_figure *figure = &figures.items[i];
        ck_assert_msg(figure->row_count > 0 && strstr(figure->rows, ".csv line") != NULL, "%s: %s", figure->name,
                      figure->rows);
        ck_assert_msg(figure->method[0] != '\0', "%s", figure->name);
        ck_assert_msg(figure->bound != DEVICE_FIGURE_VALUE ||
                          (figure->lo < figure->value && figure->value < figure->hi && figure->sigma > 0),
                      "%s: %g in %g to %g", figure->name, figure->value, figure->lo, figure->hi);
        ck_assert_msg(strstr(figure->note, "converge") == NULL, "%s: %s", figure->name, figure->note);
    }
}
END_TEST

START_TEST(a_missing_benchmark_leaves_its_figures_out)
{
    struct device_figures figures;
    for (size_t i = 0; i < FILES; i++) {
        fit_files(&files[i], 1, &figures);
        ck_assert_uint_gt(figures.count, 0);
        ck_assert((find(&figures, "mma_latency_cycles") != NULL) == (strstr(files[i], "mma_tile") != NULL));
        ck_assert((find(&figures, "dram_latency_ns") != NULL) == (strstr(files[i], "latency_chase") != NULL));
    }
}
END_TEST

/* 16 MiB stay at L2's latency, 32 MiB do not; without chains in DRAM the share that still hits is unknown, not 0. */
START_TEST(without_dram_the_share_of_l2_is_left_open)
{
    static const char text[] = "kernel,outcome,device,figures,space,links,stride_bytes,warm_hops,hops\n"
                               "latency_chase,ok,NVIDIA H200,latency_cycles=284,2,4096,128,300000,8192\n"
                               "latency_chase,ok,NVIDIA H200,latency_cycles=286,2,131072,128,300000,8192\n"
                               "latency_chase,ok,NVIDIA H200,latency_cycles=400,2,262144,128,300000,8192\n";
    char path[600];
    const char *const paths[] = {temp_dir_write(&directory, "l2.csv", text, strlen(text), path, sizeof path)};
    struct device_figures figures;
    fit_files(paths, 1, &figures);
    ck_assert(find(&figures, "dram_latency_ns") == NULL);
    const struct device_figure *capacity = find(&figures, "l2_capacity_of_one_sm_mib");
    ck_assert(capacity != NULL);
    ck_assert_msg(fabs(capacity->value - sqrt(16 * 32)) < 1e-9, "%g MiB: %s", capacity->value, capacity->method);
    ck_assert_msg(strstr(capacity->method, "no row of DRAM") != NULL, "%s", capacity->method);
}
END_TEST

START_TEST(differences_from_the_device_file_are_told)
{
    struct gpu_device device = *h200;
    struct device_figures figures;
    double stated;
    fit_files(files, FILES, &figures);
    const struct device_figure *latency = find(&figures, "dram_latency_ns"), *gap = find(&figures, "graph_gap_us");
    ck_assert_int_eq(device_figure_compare(latency, &device, &stated), DEVICE_FIGURE_AGREES);
    ck_assert(fabs(stated - 339.5) < 1e-9);
    device.figures[GPU_FIGURE_DRAM_LATENCY].value = 400e-9;
    ck_assert_int_eq(device_figure_compare(latency, &device, &stated), DEVICE_FIGURE_DIFFERS);
    ck_assert_int_eq(gap->bound, DEVICE_FIGURE_AT_MOST);
    ck_assert_int_eq(device_figure_compare(gap, &device, &stated), DEVICE_FIGURE_AGREES);
    device.figures[GPU_FIGURE_GRAPH_GAP].value = 1e-6;
    ck_assert_int_eq(device_figure_compare(gap, &device, &stated), DEVICE_FIGURE_DIFFERS);
    ck_assert_int_eq(device_figure_compare(find(&figures, "mma_bf16_interval_cycles"), &device, &stated),
                     DEVICE_FIGURE_NEW);
}
END_TEST

START_TEST(a_device_file_reads_back)
{
    char path[600];
    const struct gpu_device *read;
    struct error error = {0};
    (void)temp_dir_path(&directory, "h200-again.csv", path, sizeof path);
    ck_assert_msg(device_file_write(path, h200, "device nvidia-h200", "a test", &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(device_catalogue_add_file(catalogue, path, &read, &error) == STATUS_OK, "%s:%u: %s", error.file,
                  error.line, error.text);
    ck_assert_str_eq(read->name, "h200-again");
    ck_assert_str_eq(read->title, h200->title);
    ck_assert(memcmp(&read->limits, &h200->limits, sizeof read->limits) == 0);
    for (int i = 0; i < GPU_FIGURE_COUNT; i++) {
        const struct gpu_figure *a = &read->figures[i], *b = &h200->figures[i];
        ck_assert_msg(a->source == b->source && strcmp(a->citation, b->citation) == 0 && strcmp(a->note, b->note) == 0,
                      "%s", gpu_figure_column((enum gpu_figure_id)i));
        ck_assert_msg((isnan(a->value) && isnan(b->value)) || fabs(a->value / b->value - 1) < 1e-11, "%s",
                      gpu_figure_column((enum gpu_figure_id)i));
    }
    ck_assert_int_eq(device_file_write("/nonexistent/x.csv", h200, "a", "b", &error), STATUS_IO);
}
END_TEST

/* ---- files that are wrong ---------------------------------------------------------------------------------------- */

START_TEST(wrong_files_are_named_by_line)
{
    static const struct {
        const char *text, *expected;
        unsigned line;
    } rows[] = {
        {"kernel,outcome,device\n", "no column figures", 1},
        {"kernel,outcome,device,figures\n", "holds a row that ran", 0},
        {"kernel,outcome,device,figures\ngemm_tile,ok,NVIDIA H200,\n", "no microbenchmark", 2},
        {"kernel,outcome,device,figures\nlatency_chase,ok,,\n", "the column device is empty", 2},
        {"kernel,outcome,device,figures\nlatency_chase,ok,G,latency_cycles\n", "name=value", 2},
        {"kernel,outcome,device,figures\nlatency_chase,ok,G,latency_cycles=x\n", "expected a number", 2},
        {"kernel,outcome,device,figures\nlatency_chase,ok,G,latency_cycles=nan\n", "expected a number", 2},
        {"kernel,outcome,device,figures\nlatency_chase,ok,G,latency_cycles=-1\n", "expected a number", 2},
        {"kernel,outcome,device,figures\nlatency_chase,ok,G,latency_cycles=1\n", "column space", 2},
        {"kernel,outcome,device,figures,mode,stride,warps\nsmem_bandwidth,ok,G,,1,1,1\n",
         "above 0 for bytes_per_cycle_per_sm", 2},
        {"kernel,outcome,device,figures,mode,stride,warps\nsmem_bandwidth,ok,G,bytes_per_cycle_per_sm=1,0,1,0\n",
         "above 0 in the column warps", 2},
        {"kernel,outcome,device,figures,mode,stride,warps\nsmem_bandwidth,ok,G,bytes_per_cycle_per_sm=0,0,1,1\n",
         "above 0 for bytes_per_cycle_per_sm", 2},
        {"kernel,outcome,device,figures,mode,stride,warps\nsmem_bandwidth,ok,G,bytes_per_cycle_per_sm=1,1,1,x\n",
         "warps", 2},
        {"kernel,outcome,device,figures,mode,stride,warps\nsmem_bandwidth,ok,G,bytes_per_cycle_per_sm=1,1,1,1\n"
         "smem_bandwidth,ok,H,bytes_per_cycle_per_sm=1,1,1,1\n",
         "rows of another GPU: H", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[600];
        const char *const paths[] = {
            temp_dir_write(&directory, "wrong.csv", rows[i].text, strlen(rows[i].text), path, sizeof path)};
        struct benchmark_rows read;
        struct error error = {0};
        ck_assert_msg(benchmark_rows_read(paths, 1, &read, &error) == STATUS_BAD_DATA, "case %zu", i);
        ck_assert_msg(strstr(error.text, rows[i].expected) != NULL && error.line == rows[i].line, "case %zu: %u: %s", i,
                      error.line, error.text);
        benchmark_rows_release(&read);
    }
}
END_TEST

Suite *suite_device_figures(void)
{
    Suite *suite = suite_create("device_figures");
    TCase *tests = tcase_create("device_figures");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, known_laws_are_found_within_their_uncertainty);
    tcase_add_test(tests, odd_rows_do_not_bend_a_law);
    tcase_add_test(tests, what_rows_do_not_show_is_not_informed);
    tcase_add_test(tests, figures_are_what_the_rows_say);
    tcase_add_test(tests, a_missing_benchmark_leaves_its_figures_out);
    tcase_add_test(tests, without_dram_the_share_of_l2_is_left_open);
    tcase_add_test(tests, differences_from_the_device_file_are_told);
    tcase_add_test(tests, a_device_file_reads_back);
    tcase_add_test(tests, wrong_files_are_named_by_line);
    suite_add_tcase(suite, tests);
    return suite;
}
