/* SPDX-License-Identifier: GPL-3.0-or-later
 * Timelines of the wave probe on an H200 against simulated ones: CTAs that hold their slot for a fixed time, with the
 * resources of each measured row. Rounds, tail and CTAs per SM. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "evidence/device_catalogue.h"
#include "sim/cta_simulator.h"

enum {
    FILE_BYTES_MAX = 8 << 20,
    LEAST_ROWS = 250,
    LEAST_CLUSTER_ROWS = 60,
    ROWS_MAX = 1000
};

static const char WAVES[] = "data/measurements/nvidia-h200/wave_probe.csv";
static const char CLUSTERS[] = "data/measurements/nvidia-h200/wave_probe_clusters.csv";

static double cell(const struct csv_table *table, size_t row, const char *column)
{
    const long index = csv_column(table, column);
    struct error error = {0};
    double value = 0;
    ck_assert_msg(index >= 0, "no column %s", column);
    ck_assert_msg(csv_number(table, row, (size_t)index, &value, &error) == STATUS_OK, "%s", error.text);
    return value;
}

/* "name=value" of the column figures. */
static double figure(const struct csv_table *table, size_t row, const char *name)
{
    const char *text = csv_cell(table, row, (size_t)csv_column(table, "figures"));
    char key[64], number[32] = "";
    double value = 0;
    snprintf(key, sizeof key, "%s=", name);
    const char *found = strstr(text, key);
    while (found != NULL && found != text && found[-1] != ';')
        found = strstr(found + 1, key);
    ck_assert_msg(found != NULL, "line %u: no %s", table->lines[row], name);
    sscanf(found + strlen(key), "%31[0-9.e+-]", number);
    ck_assert(number_parse(number, &value) == STATUS_OK);
    return value;
}

static struct layer_case probe_of(const struct csv_table *table, size_t row)
{
    struct layer_case layer = {.kernel_count = 1};
    layer.kernels[0] =
        (struct kernel_case){.name = "wave_probe",
                             .launch = {.grid_ctas = (uint64_t)cell(table, row, "grid"),
                                        .threads = (uint32_t)cell(table, row, "threads"),
                                        .registers_per_thread = (uint32_t)cell(table, row, "registers"),
                                        .static_smem_bytes = (uint32_t)cell(table, row, "static_smem_bytes"),
                                        .dynamic_smem_bytes = (uint64_t)cell(table, row, "smem_bytes"),
                                        .barriers = 1,
                                        .cluster_ctas = (uint32_t)cell(table, row, "cluster"),
                                        .carveout_percent = (int32_t)cell(table, row, "carveout")},
                             .loop = {.iterations = 1, .buffers = 1}};
    return layer;
}

static struct cta_simulation simulate_probe(const struct gpu_device *device, const struct layer_case *layer,
                                            double hold_s)
{
    const struct simulated_machine machine = {.limits = &device->limits,
                                              .gpcs = &device->gpcs,
                                              .sm_count = 132,
                                              .dram_bytes_per_s = (double)INFINITY,
                                              .l2_bytes_per_s = (double)INFINITY,
                                              .port_bytes_per_s = (double)INFINITY,
                                              .port_l2_bytes_per_s = (double)INFINITY,
                                              .smem_bytes_per_s = (double)INFINITY,
                                              .special_per_s = (double)INFINITY,
                                              .issue_interval = 1,
                                              .iteration_overhead_s = hold_s,
                                              .l2_capacity_bytes = 1e12};
    const struct cta_simulation_options options = {.seed = 1};
    struct cta_simulation result;
    struct error error = {0};
    ck_assert_msg(cta_simulate(&machine, layer, &options, &result, &error) == STATUS_OK, "%s", error.text);
    return result;
}

/* Equal CTAs: the tail is their last round where that is not full, else nothing. */
static void assert_tail(const struct kernel_simulation *kernel, double hold_s, unsigned line)
{
    const double tail_s = kernel->tail_s;
    ck_assert_msg(fabs(tail_s) < 1e-9 * hold_s || fabs(tail_s - hold_s) < 1e-9 * hold_s, "line %u: tail of %g s", line,
                  tail_s);
}

struct probes {
    struct device_catalogue *catalogue;
    const struct gpu_device *device;
    struct csv_table table;
};

static void open_probes(struct probes *probes, const char *path)
{
    struct error error = {0};
    ck_assert(device_catalogue_create(&probes->catalogue, &error) == STATUS_OK);
    ck_assert(device_catalogue_find(probes->catalogue, "nvidia-h200", &probes->device, &error) == STATUS_OK);
    ck_assert_msg(csv_read(path, FILE_BYTES_MAX, &probes->table, &error) == STATUS_OK, "%s", error.text);
}

static void close_probes(struct probes *probes)
{
    csv_table_release(&probes->table);
    device_catalogue_free(probes->catalogue);
}

/* A preferred carve-out is a hint: the device takes a larger one where it likes (docs/MEASURING.md). */
static bool has_run(const struct csv_table *table, size_t row, bool clusters)
{
    const bool ok = strcmp(csv_cell(table, row, (size_t)csv_column(table, "outcome")), "ok") == 0;
    if (!ok || (cell(table, row, "cluster") > 1) != clusters)
        return false;
    return clusters || cell(table, row, "carveout") < 0;
}

/* What a row and its simulation agree on. */
struct agreement {
    size_t rows, rounds, tails, near;
    double longer[ROWS_MAX];
};

static void compare_row(const struct probes *probes, size_t row, struct agreement *sum)
{
    const struct csv_table *table = &probes->table;
    const unsigned line = table->lines[row];
    const double hold_us = cell(table, row, "hold_us");
    const struct layer_case layer = probe_of(table, row);
    const struct cta_simulation run = simulate_probe(probes->device, &layer, hold_us * SECONDS_PER_US);
    const struct kernel_simulation *kernel = &run.kernels[0];
    const double span_us = run.time_s / SECONDS_PER_US, measured_us = figure(table, row, "span_us");
    const double most = figure(table, row, "most_ctas_on_one_sm"), rounds = figure(table, row, "rounds_count");
    const double tail = figure(table, row, "tail_ctas");
    ck_assert_msg((double)kernel->ctas_per_sm == figure(table, row, "resident_ctas_per_sm") ||
                      cell(table, row, "grid") < 132.0 * kernel->ctas_per_sm,
                  "line %u: %u CTAs per SM", line, kernel->ctas_per_sm);
    ck_assert_msg((double)kernel->sms_used == figure(table, row, "sms_used_count"), "line %u: %u SMs", line,
                  kernel->sms_used);
    /* Nothing that delays a CTA on the device can make it need fewer rounds, or its busiest SM run fewer CTAs. */
    ck_assert_msg((double)kernel->rounds <= rounds && span_us <= measured_us, "line %u: %llu rounds", line,
                  (unsigned long long)kernel->rounds);
    assert_tail(kernel, hold_us * SECONDS_PER_US, line);
    sum->rounds += (double)kernel->rounds == rounds;
    sum->tails += (double)kernel->rounds == rounds && (double)kernel->tail_ctas == tail;
    sum->near += fabs(most - (double)kernel->most_ctas_on_sm) <= 2;
    sum->longer[sum->rows++] = measured_us / span_us - 1;
}

static void compare_rows(const char *path, bool clusters, struct agreement *sum)
{
    struct probes probes;
    open_probes(&probes, path);
    for (size_t row = 0; row < probes.table.row_count && sum->rows < ROWS_MAX; row++)
        if (has_run(&probes.table, row, clusters))
            compare_row(&probes, row, sum);
    close_probes(&probes);
}

static void print_agreement(const char *what, struct agreement *sum)
{
    const double longer = median_in_place(sum->longer, sum->rows);
    printf("wave timelines, %s: of %zu rows %zu have the same rounds, %zu the same CTAs in the last round, %zu within "
           "2 of "
           "the most on an SM; the device takes %.1f %% longer\n",
           what, sum->rows, sum->rounds, sum->tails, sum->near, 100 * longer);
    ck_assert_msg(longer < 0.02, "%s: spans are longer by %g", what, longer);
}

START_TEST(probe_timelines_agree)
{
    static struct agreement sum;
    sum = (struct agreement){.rows = 0};
    compare_rows(WAVES, false, &sum);
    print_agreement("single CTAs", &sum);
    ck_assert_uint_gt(sum.rows, LEAST_ROWS);
    /* The others were held up by something else on the device: their spans are a third too long (docs/VALIDATION.md).
     */
    ck_assert_msg((double)sum.rounds >= 0.94 * (double)sum.rows, "%zu of %zu have the same rounds", sum.rounds,
                  sum.rows);
    ck_assert_msg((double)sum.near >= 0.88 * (double)sum.rows, "%zu of %zu have near counts", sum.near, sum.rows);
}
END_TEST

START_TEST(cluster_timelines_agree)
{
    static struct agreement sum;
    sum = (struct agreement){.rows = 0};
    compare_rows(WAVES, true, &sum);
    compare_rows(CLUSTERS, true, &sum);
    print_agreement("clusters", &sum);
    ck_assert_uint_gt(sum.rows, LEAST_CLUSTER_ROWS);
    ck_assert_uint_eq(sum.rounds, sum.rows);
    ck_assert_msg((double)sum.near >= 0.95 * (double)sum.rows, "%zu of %zu have near counts", sum.near, sum.rows);
}
END_TEST

/* NVIDIA/cutlass#1921: of clusters of 8 CTAs that fill an SM each, 15 are resident on an H100 of 132 SMs, not 16. */
START_TEST(fifteen_clusters_of_eight)
{
    struct probes probes;
    struct layer_case layer = {.kernel_count = 1};
    open_probes(&probes, CLUSTERS);
    layer.kernels[0] = (struct kernel_case){.name = "probe",
                                            .launch = {.threads = 1024,
                                                       .registers_per_thread = 64,
                                                       .barriers = 1,
                                                       .cluster_ctas = 8,
                                                       .carveout_percent = -1},
                                            .loop = {.iterations = 1, .buffers = 1}};
    for (uint64_t clusters = 14; clusters <= 17; clusters++) {
        layer.kernels[0].launch.grid_ctas = 8 * clusters;
        const struct cta_simulation run = simulate_probe(probes.device, &layer, 1);
        ck_assert_uint_eq(run.kernels[0].ctas_per_sm, 1);
        ck_assert_uint_eq(run.kernels[0].rounds, clusters <= 15 ? 1 : 2);
        if (clusters <= 15)
            ck_assert_uint_eq(run.kernels[0].sms_used, 8 * clusters);
    }
    close_probes(&probes);
}
END_TEST

Suite *suite_wave_timeline(void);
Suite *suite_wave_timeline(void)
{
    Suite *suite = suite_create("wave_timeline");
    TCase *tcase = tcase_create("probe");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, probe_timelines_agree);
    tcase_add_test(tcase, cluster_timelines_agree);
    tcase_add_test(tcase, fifteen_clusters_of_eight);
    suite_add_tcase(suite, tcase);
    return suite;
}
