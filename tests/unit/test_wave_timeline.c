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
    ROWS_MAX = 1000
};

static const char WAVES[] = "data/measurements/nvidia-h200/wave_probe.csv";

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
                                        .cluster_ctas = 1,
                                        .carveout_percent = (int32_t)cell(table, row, "carveout")},
                             .loop = {.iterations = 1, .buffers = 1}};
    return layer;
}

static struct cta_simulation simulate_probe(const struct gpu_limits *limits, const struct layer_case *layer,
                                            double hold_s)
{
    const struct simulated_machine machine = {.limits = limits,
                                              .sm_count = 132,
                                              .dram_bytes_per_s = (double)INFINITY,
                                              .l2_bytes_per_s = (double)INFINITY,
                                              .port_bytes_per_s = (double)INFINITY,
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

START_TEST(probe_timelines_agree)
{
    struct device_catalogue *catalogue;
    const struct gpu_device *device;
    struct csv_table table;
    struct error error = {0};
    size_t rows = 0, same_rounds = 0, near_count = 0;
    static double longer[ROWS_MAX];
    ck_assert(device_catalogue_create(&catalogue, &error) == STATUS_OK);
    ck_assert(device_catalogue_find(catalogue, "nvidia-h200", &device, &error) == STATUS_OK);
    ck_assert_msg(csv_read(WAVES, FILE_BYTES_MAX, &table, &error) == STATUS_OK, "%s", error.text);
    for (size_t row = 0; row < table.row_count && rows < ROWS_MAX; row++) {
        const char *outcome = csv_cell(&table, row, (size_t)csv_column(&table, "outcome"));
        /* A preferred carve-out is a hint: the device takes a larger one where it likes (docs/MEASURING.md). */
        if (strcmp(outcome, "ok") != 0 || cell(&table, row, "cluster") != 1 || cell(&table, row, "carveout") >= 0)
            continue;
        const double hold_us = cell(&table, row, "hold_us");
        const struct layer_case layer = probe_of(&table, row);
        const struct cta_simulation run = simulate_probe(&device->limits, &layer, hold_us * SECONDS_PER_US);
        const struct kernel_simulation *kernel = &run.kernels[0];
        const double span_us = run.time_s / SECONDS_PER_US, measured_us = figure(&table, row, "span_us");
        const double most = figure(&table, row, "most_ctas_on_one_sm");
        ck_assert_msg((double)kernel->ctas_per_sm == figure(&table, row, "resident_ctas_per_sm") ||
                          cell(&table, row, "grid") < 132.0 * kernel->ctas_per_sm,
                      "line %u: %u CTAs per SM", table.lines[row], kernel->ctas_per_sm);
        ck_assert_msg((double)kernel->sms_used == figure(&table, row, "sms_used_count"), "line %u: %u SMs",
                      table.lines[row], kernel->sms_used);
        const double rounds = figure(&table, row, "rounds_count");
        /* Nothing that delays a CTA on the device can make it need fewer rounds, or its busiest SM run fewer CTAs. */
        ck_assert_msg((double)kernel->rounds <= rounds && span_us <= measured_us &&
                          (double)kernel->most_ctas_on_sm <= most,
                      "line %u", table.lines[row]);
        assert_tail(kernel, hold_us * SECONDS_PER_US, table.lines[row]);
        same_rounds += (double)kernel->rounds == rounds;
        near_count += most - (double)kernel->most_ctas_on_sm <= 2;
        longer[rows] = measured_us / span_us - 1;
        rows++;
    }
    ck_assert_uint_gt(rows, LEAST_ROWS);
    /* The others were held up by something else on the device: their spans are a third too long (docs/VALIDATION.md).
     */
    ck_assert_msg((double)same_rounds >= 0.94 * (double)rows, "%zu of %zu have the same rounds", same_rounds, rows);
    ck_assert_msg((double)near_count >= 0.88 * (double)rows, "%zu of %zu have near counts", near_count, rows);
    ck_assert_msg(median_in_place(longer, rows) < 0.02, "spans are longer by %g", longer[rows / 2]);
    csv_table_release(&table);
    device_catalogue_free(catalogue);
}
END_TEST

Suite *suite_wave_timeline(void);
Suite *suite_wave_timeline(void)
{
    Suite *suite = suite_create("wave_timeline");
    TCase *tcase = tcase_create("probe");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, probe_timelines_agree);
    suite_add_tcase(suite, tcase);
    return suite;
}
