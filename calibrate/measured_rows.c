/* SPDX-License-Identifier: GPL-3.0-or-later
 * Lines into rows: repeats are merged, every configuration is evaluated, and the times are held against the
 * uncalibrated model for a wrong unit. */
#include "calibrate/measured_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "calibrate/measured_rows_private.h"
#include "model/predict/occupancy.h"

enum {
    CONFIGS_MAX = 100000 /* each is a layer with all its kernels */
};
static const double repeat_spread_suspect = 1.10; /* largest over smallest time of one configuration */
static const double ratio_suspect = 30;           /* measured over predicted, or its inverse */
static const double time_least_s = 1e-9;          /* about a clock cycle */
static const double time_most_s = 1e6;            /* eleven days */

/* ---- configurations ---------------------------------------------------------------------------------------------- */

struct sort_key {
    const double *values;
    size_t width, order;
};

static int compare_values(const struct sort_key *left, const struct sort_key *right)
{
    for (size_t i = 0; i < left->width; i++) {
        if (left->values[i] != right->values[i]) {
            return left->values[i] < right->values[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_keys(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    const int order = compare_values(a, b);
    return order ? order : a->order < b->order ? -1 : a->order > b->order;
}

/* first[i]: the earliest row with the same values[0..width) as row i. stride: from one row's values to the next's. */
static enum status find_first(const double *values, size_t stride, size_t width, size_t count, size_t *first,
                              struct error *error)
{
    struct sort_key *keys = malloc((count + 1) * sizeof *keys);
    if (!keys) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu measured rows", count);
    }
    for (size_t i = 0; i < count; i++) {
        keys[i] = (struct sort_key){values + i * stride, width, i};
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++) {
        const bool same = i > 0 && compare_values(&keys[i - 1], &keys[i]) == 0;
        first[keys[i].order] = same ? first[keys[i - 1].order] : keys[i].order;
    }
    free(keys);
    return STATUS_OK;
}

static enum status fail_at(const struct measured_reader *self, const struct raw_row *raw, const struct error *cause,
                           struct error *error)
{
    char text[sizeof cause->text];
    (void)snprintf(text, sizeof text, "%s", cause->text);
    return error_set_at(error, cause->status == STATUS_NO_MEMORY ? STATUS_NO_MEMORY : STATUS_BAD_DATA,
                        self->paths[raw->file], raw->line, 0, "%s", text);
}

/* The time is of one kernel: the first that is launched. */
static void keep_first_kernel(struct layer_case *layer)
{
    uint32_t first = 0;
    while (first + 1 < layer->kernel_count && layer->kernels[first].skipped) {
        first++;
    }
    layer->kernels[0] = layer->kernels[first];
    layer->kernel_count = 1;
}

static enum status check_layer(const struct measured_reader *self, const struct raw_row *raw,
                               const struct layer_case *layer, struct error *error)
{
    const struct gpu_limits *limits = &scenario_device(self->scenario)->limits;
    for (uint32_t k = 0; k < layer->kernel_count; k++) {
        const struct kernel_case *kernel = &layer->kernels[k];
        struct occupancy occupancy;
        struct error cause = {0};
        if (kernel->skipped) {
            continue;
        }
        occupancy_compute(limits, &kernel->launch, &occupancy);
        if (occupancy.fault != LAUNCH_FAULT_NONE || occupancy.ctas_per_sm == 0) {
            return error_set_at(error, STATUS_BAD_DATA, self->paths[raw->file], raw->line, 0,
                                "this configuration was timed, but on %s kernel %s cannot be launched: %s",
                                scenario_device(self->scenario)->name, kernel->name,
                                launch_fault_text(occupancy.fault));
        }
        if (time_model_supports(&self->model, kernel, &cause) != STATUS_OK) {
            return fail_at(self, raw, &cause, error);
        }
    }
    return STATUS_OK;
}

/* *usable: false where a `require` line forbids what was timed. */
static enum status evaluate_row(struct measured_reader *self, const struct raw_row *raw, const double *values,
                                struct layer_case *layer, bool *usable, struct error *error)
{
    enum config_verdict verdict = CONFIG_OK;
    size_t constraint = 0;
    struct error cause = {0};
    const enum status status = scenario_evaluate(self->evaluator, values, &verdict, &constraint, layer, &cause);
    if (status != STATUS_OK || verdict == CONFIG_KERNEL_INVALID) {
        return fail_at(self, raw, &cause, error);
    }
    *usable = verdict == CONFIG_OK;
    if (!*usable) {
        if (self->forbidden++ == 0) {
            char text[200];
            (void)snprintf(
                text, sizeof text, "%.60s:%u: was timed, but the scenario requires %.60s; such rows are left out",
                self->paths[raw->file], raw->line, scenario_constraint_get(self->scenario, constraint)->expression);
            measured_rows_warn(self->out, text);
        }
        return STATUS_OK;
    }
    if (self->options->first_kernel_only) {
        keep_first_kernel(layer);
    }
    return check_layer(self, raw, layer, error);
}

/* Median and spread of the repeats times[0..count). */
static void take_times(struct kernel_row *row, double *times, size_t count, double *logs)
{
    for (size_t i = 0; i < count; i++) {
        logs[i] = log(times[i]);
    }
    row->noise_log_sigma = standard_deviation(logs, count);
    row->time_s = median_in_place(times, count);
}

struct merge {
    size_t *first, *next, *last; /* next: chain of the repeats of one configuration, 0 = end */
    double *times, *logs;
    double worst_spread;
    const struct raw_row *worst;
};

static size_t gather_times(const struct measured_reader *self, struct merge *merge, size_t i)
{
    size_t count = 0;
    double least = HUGE_VAL, most = 0;
    for (size_t k = i;; k = merge->next[k]) {
        merge->times[count++] = self->raw[k].time_s;
        least = fmin(least, self->raw[k].time_s);
        most = fmax(most, self->raw[k].time_s);
        if (merge->next[k] == 0) {
            break;
        }
    }
    if (most / least > merge->worst_spread) {
        merge->worst_spread = most / least;
        merge->worst = &self->raw[i];
    }
    return count;
}

static enum status merge_row(struct measured_reader *self, struct merge *merge, size_t i, struct error *error)
{
    struct measured_rows *out = self->out;
    bool usable = false;
    struct kernel_row *row = &out->rows[out->count];
    memset(row, 0, sizeof *row);
    const enum status status =
        evaluate_row(self, &self->raw[i], self->values + i * self->width, &row->layer, &usable, error);
    if (status != STATUS_OK) {
        return status;
    }
    const size_t count = gather_times(self, merge, i);
    if (!usable) {
        out->infeasible += count;
        return STATUS_OK;
    }
    out->repeats += count - 1;
    take_times(row, merge->times, count, merge->logs);
    row->line = self->raw[i].line;
    memcpy(out->values + out->count * self->width, self->values + i * self->width, self->width * sizeof *out->values);
    out->count++;
    return STATUS_OK;
}

static size_t chain_repeats(const struct measured_reader *self, struct merge *merge)
{
    size_t configs = 0;
    for (size_t i = 0; i < self->raw_count; i++) {
        const size_t first = merge->first[i];
        if (first == i) {
            configs++;
        } else {
            merge->next[merge->last[first]] = i;
        }
        merge->last[first] = i;
    }
    return configs;
}

static enum status merge_rows(struct measured_reader *self, struct merge *merge, struct error *error)
{
    enum status status = find_first(self->values, self->width, self->width, self->raw_count, merge->first, error);
    const size_t configs = status == STATUS_OK ? chain_repeats(self, merge) : 0;
    if (configs > CONFIGS_MAX) {
        return error_set(error, STATUS_LIMIT, "%zu different configurations, at most %d can be taken", configs,
                         CONFIGS_MAX);
    }
    self->out->rows = calloc(configs + 1, sizeof *self->out->rows);
    self->out->values = calloc(configs * self->width + 1, sizeof *self->out->values);
    if (status == STATUS_OK && (!self->out->rows || !self->out->values)) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu configurations", configs);
    }
    for (size_t i = 0; i < self->raw_count && status == STATUS_OK; i++) {
        if (merge->first[i] == i) {
            status = merge_row(self, merge, i, error);
        }
    }
    if (status == STATUS_OK && merge->worst_spread > repeat_spread_suspect) {
        char text[200];
        (void)snprintf(text, sizeof text, "repeats of one configuration differ by up to %.0f %% (%.80s:%u)",
                       100 * (merge->worst_spread - 1), self->paths[merge->worst->file], merge->worst->line);
        measured_rows_warn(self->out, text);
    }
    return status;
}

static enum status make_rows(struct measured_reader *self, struct error *error)
{
    const size_t count = self->raw_count + 1;
    struct merge merge = {.first = calloc(3 * count, sizeof(size_t)), .times = calloc(2 * count, sizeof(double))};
    enum status status = STATUS_OK;
    if (merge.first && merge.times) {
        merge.next = merge.first + count;
        merge.last = merge.first + 2 * count;
        merge.logs = merge.times + count;
        status = merge_rows(self, &merge, error);
    } else {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for %zu measured rows", count);
    }
    free(merge.first);
    free(merge.times);
    return status;
}

/* Rows of one workload get one number, in the order of their first rows. */
static enum status number_groups(struct measured_reader *self, struct error *error)
{
    struct measured_rows *out = self->out;
    const size_t knobs = scenario_knob_count(self->scenario);
    size_t *first = calloc(out->count + 1, sizeof *first);
    enum status status =
        first ? find_first(out->values + knobs, self->width, self->width - knobs, out->count, first, error)
              : error_set(error, STATUS_NO_MEMORY, "no memory for %zu measured rows", out->count);
    for (size_t i = 0; i < out->count && status == STATUS_OK; i++) {
        out->rows[i].group = first[i] == i ? out->group_count++ : out->rows[first[i]].group;
    }
    free(first);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* What the column would hold if its name were wrong by this factor; NULL where that is no unit. */
static const char *suspected_unit(const char *column, double ratio)
{
    const int unit = measured_unit_of(column);
    const int steps = (int)lround(log10(ratio) / 3);
    const int suspected = unit - steps;
    return unit >= 0 && suspected >= 0 && suspected < MEASURED_UNIT_COUNT ? measured_unit_name(suspected) : NULL;
}

bool measured_time_is_possible(double time_s)
{
    return time_s >= time_least_s && time_s <= time_most_s;
}

enum status measured_unit_judge(const char *path, const char *column, double ratio, char doubt[200],
                                struct error *error)
{
    const double thousands = log10(ratio) / 3, whole = nearbyint(thousands);
    char number[32];
    doubt[0] = '\0';
    if (fabs(thousands) > 0.8 && (fabs(thousands) > 1.2 || fabs(thousands - whole) < 0.2)) { /* from 250 times on */
        const char *unit = suspected_unit(column, ratio);
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                            "the times are about %s times what the model says: wrong unit suspected in column %s%s%s",
                            number_format_digits(ratio, 2, number), column, unit ? ", which seems to hold " : "",
                            unit ? unit : "");
    }
    if (ratio > ratio_suspect || ratio < 1 / ratio_suspect) {
        (void)snprintf(doubt, 200, "the times are about %s times what the model says: check unit and description",
                       number_format_digits(ratio, 2, number));
    }
    return STATUS_OK;
}

/* Single times far from where the others stand: a slip of the pen that a robust fit survives in silence. */
static void warn_of_odd_times(const struct measured_reader *self, const double *ratios, double median)
{
    struct measured_rows *out = self->out;
    size_t odd = 0, first = 0;
    for (size_t i = out->count; i-- > 0;) {
        if (ratios[i] > ratio_suspect * median || ratios[i] < median / ratio_suspect) {
            odd++;
            first = i;
        }
    }
    if (odd > 0) {
        char text[200], number[32];
        (void)snprintf(
            text, sizeof text,
            "%zu of %zu times are more than %g times off what the others let expect (line %u: %s times): wrong?", odd,
            out->count, ratio_suspect, out->rows[first].line, number_format_digits(ratios[first] / median, 2, number));
        measured_rows_warn(out, text);
    }
}

static enum status check_units(const struct measured_reader *self, struct error *error)
{
    struct measured_rows *out = self->out;
    double *ratios = malloc(2 * (out->count + 1) * sizeof *ratios);
    if (!ratios) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu measured rows", out->count);
    }
    for (size_t i = 0; i < out->count; i++) {
        struct layer_time time;
        layer_time_predict(&self->model, &out->rows[i].layer, &time);
        ratios[i] = time.feasible && time.time_s > 0 ? out->rows[i].time_s / time.time_s : 1;
    }
    double *const sorted = ratios + out->count + 1;
    memcpy(sorted, ratios, out->count * sizeof *sorted);
    const double ratio = median_in_place(sorted, out->count);
    char doubt[200];
    const enum status status = measured_unit_judge(self->paths[0], self->time_name, ratio, doubt, error);
    if (status == STATUS_OK && doubt[0] != '\0') {
        measured_rows_warn(self->out, doubt);
    }
    if (status == STATUS_OK) {
        warn_of_odd_times(self, ratios, ratio);
    }
    free(ratios);
    return status;
}

static enum status check_any(const struct measured_reader *self, struct error *error)
{
    const struct measured_rows *out = self->out;
    if (out->count > 0) {
        return STATUS_OK;
    }
    const char *kernel = self->options->kernel ? self->options->kernel : scenario_measure_kernel(self->scenario);
    if (out->read == 0 && kernel) {
        return error_set_at(error, STATUS_BAD_DATA, self->paths[0], 0, 0, "no row of kernel %s", kernel);
    }
    return error_set_at(error, STATUS_BAD_DATA, self->paths[0], 0, 0,
                        "no row to learn from: of %zu rows %zu are infeasible, %zu failed, %zu are references",
                        out->read, out->infeasible, out->failed, out->references);
}

static void finish_provenance(struct measured_reader *self, double *clocks)
{
    struct measured_rows *out = self->out;
    size_t count = 0;
    for (size_t i = 0; i < self->raw_count; i++) {
        if (isfinite(self->raw[i].clock_mhz)) {
            clocks[count++] = self->raw[i].clock_mhz;
        }
    }
    out->sm_clock_mhz = count ? median_in_place(clocks, count) : (double)NAN;
    if (self->several_gpus) {
        measured_rows_warn(out, "rows come from more than one GPU of the kind: their difference counts as noise");
        out->gpu_id[0] = '\0';
    }
    if (self->several_drivers) {
        measured_rows_warn(out, "rows were measured under more than one driver");
        out->driver[0] = '\0';
    }
}

static enum status read_all(struct measured_reader *self, size_t path_count, struct error *error)
{
    struct model_parameters parameters;
    model_parameters_init(&parameters);
    enum status status = time_model_init(&self->model, scenario_device(self->scenario), &parameters, error);
    if (status == STATUS_OK) {
        status = scenario_evaluator_create(self->scenario, &self->evaluator, error);
    }
    for (size_t i = 0; i < path_count && status == STATUS_OK; i++) {
        status = measured_lines_read(self, (uint32_t)i, error);
    }
    if (status == STATUS_OK) {
        status = make_rows(self, error);
    }
    status = status == STATUS_OK ? check_any(self, error) : status;
    status = status == STATUS_OK ? number_groups(self, error) : status;
    status = status == STATUS_OK ? check_units(self, error) : status;
    double *clocks = malloc((self->raw_count + 1) * sizeof *clocks);
    if (status == STATUS_OK && clocks) {
        finish_provenance(self, clocks);
    } else if (status == STATUS_OK) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for %zu measured rows", self->raw_count);
    }
    free(clocks);
    return status;
}

enum status measured_rows_read(const struct scenario *scenario, const char *const *paths, size_t path_count,
                               const struct measured_rows_options *options, struct measured_rows *rows,
                               struct error *error)
{
    static const struct measured_rows_options none;
    struct measured_reader self = {.scenario = scenario,
                                   .options = options ? options : &none,
                                   .paths = paths,
                                   .out = rows,
                                   .width = scenario_variable_count(scenario)};
    memset(rows, 0, sizeof *rows);
    rows->variable_count = self.width;
    rows->hash = HASH_START;
    rows->sm_clock_mhz = NAN;
    if (path_count == 0) {
        return error_set(error, STATUS_USAGE, "no file with measurements");
    }
    const enum status status = read_all(&self, path_count, error);
    scenario_evaluator_free(self.evaluator);
    free(self.raw);
    free(self.values);
    if (status != STATUS_OK) {
        measured_rows_release(rows);
    }
    return status;
}

void measured_rows_release(struct measured_rows *rows)
{
    free(rows->rows);
    free(rows->values);
    memset(rows, 0, sizeof *rows);
}
