/* SPDX-License-Identifier: GPL-3.0-or-later
 * Files into rows: columns are bound to the scenario's variables, repeats are merged, every configuration is evaluated,
 * and the times are held against the uncalibrated model for a wrong unit. */
#include "calibrate/measured_rows.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "model/predict/kernel_time.h"
#include "model/predict/occupancy.h"

enum {
    FILE_BYTES_MAX = 256 << 20,
    RAW_ROWS_MAX = 1000000,
    CONFIGS_MAX = 100000, /* each is a layer with all its kernels */
    VARIABLES_MAX = SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX
};
static const double repeat_spread_suspect = 1.10; /* largest over smallest time of one configuration */
static const double ratio_suspect = 30;           /* measured over predicted, or its inverse */

/* One usable line of a file. Its values lie in reader.values at index x variable count. */
struct raw_row {
    double time_s, clock_mhz;
    unsigned line;
    uint32_t file;
};

struct reader {
    const struct scenario *scenario;
    const struct measured_rows_options *options;
    const char *const *paths;
    struct measured_rows *out;
    struct scenario_evaluator *evaluator;
    struct time_model model;
    size_t raw_count, raw_capacity, width;
    struct raw_row *raw;
    double *values;
    char kernel[128];   /* of the rows taken; "" until one is seen */
    char time_name[64]; /* of the column in the first file */
    size_t forbidden;   /* rows that a `require` line excludes */
    bool several_gpus, several_drivers;
};

/* The columns of one file that matter; -1 = absent. */
struct binding {
    const struct csv_table *table;
    uint32_t file;
    long variables[VARIABLES_MAX];
    long time, kernel, outcome, reference, device, gpu_id, driver, clock;
    double second_per_unit;
};

static void warn(struct measured_rows *out, const char *text)
{
    const unsigned room = sizeof out->warnings / sizeof out->warnings[0];
    if (out->warning_count < room) {
        (void)snprintf(out->warnings[out->warning_count++], sizeof out->warnings[0], "%s", text);
    }
}

/* Keeps the first text seen; true where another one follows. */
static bool note_text(char *kept, size_t size, const char *text)
{
    if (text[0] == '\0') {
        return false;
    }
    if (kept[0] == '\0') {
        (void)snprintf(kept, size, "%s", text);
        return false;
    }
    return strncmp(kept, text, size - 1) != 0;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *ending, *name;
    double second;
} units[] = {{"_ns", "nanoseconds", SECONDS_PER_NS},
             {"_us", "microseconds", SECONDS_PER_US},
             {"_ms", "milliseconds", SECONDS_PER_MS},
             {"_s", "seconds", 1.0}};
enum {
    UNIT_COUNT = sizeof units / sizeof units[0]
};

static int unit_of(const char *column)
{
    const size_t length = strlen(column);
    for (int i = 0; i < UNIT_COUNT; i++) {
        const size_t ending = strlen(units[i].ending);
        if (length > ending && strcmp(column + length - ending, units[i].ending) == 0) {
            return i;
        }
    }
    return -1;
}

static enum status bind_time(struct reader *self, struct binding *binding, struct error *error)
{
    static const char *const names[] = {"time_us", "time_ns", "time_ms", "time_s"};
    const struct csv_table *table = binding->table;
    const char *name = self->options->time_column;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !self->options->time_column; i++) {
        if (csv_column(table, names[i]) < 0 || (name && strcmp(name, "time_us") == 0)) {
            continue;
        }
        if (name) {
            return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                                "columns %s and %s: say which holds the time to learn from", name, names[i]);
        }
        name = names[i];
    }
    if (!name) {
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                            "no column time_us, time_ns, time_ms or time_s, and none was named");
    }
    binding->time = csv_column(table, name);
    if (binding->time < 0) {
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0, "no column '%s' with times", name);
    }
    const int unit = unit_of(name);
    if (unit < 0) {
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                            "column '%s' does not say its unit: expected a name that ends in _ns, _us, _ms or _s",
                            name);
    }
    binding->second_per_unit = units[unit].second;
    (void)note_text(self->time_name, sizeof self->time_name, name);
    return STATUS_OK;
}

/* ", is 'bn' it?" for the nearest column, or nothing. */
static const char *near_column(const struct csv_table *table, const char *name, char *out, size_t out_size)
{
    unsigned least = strlen(name) > 4 ? 3 : 2;
    out[0] = '\0';
    for (size_t i = 0; i < table->column_count; i++) {
        const unsigned distance = text_distance(name, table->names[i]);
        if (distance < least) {
            least = distance;
            (void)snprintf(out, out_size, "; is '%.60s' it?", table->names[i]);
        }
    }
    return out;
}

static enum status bind_columns(struct reader *self, struct binding *binding, struct error *error)
{
    const struct csv_table *table = binding->table;
    for (size_t i = 0; i < self->width; i++) {
        const struct scenario_variable *variable = scenario_variable_get(self->scenario, i);
        char hint[80];
        binding->variables[i] = csv_column(table, variable->name);
        if (binding->variables[i] >= 0 || (variable->value_count == 1 && isfinite(variable->base))) {
            continue;
        }
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                            "no column '%s', a %s that has no single value in scenario %s%s", variable->name,
                            variable->is_knob ? "knob" : "workload variable", scenario_name(self->scenario),
                            near_column(table, variable->name, hint, sizeof hint));
    }
    binding->kernel = csv_column(table, "kernel");
    binding->outcome = csv_column(table, "outcome");
    binding->reference = csv_column(table, "is_reference");
    binding->device = csv_column(table, "device");
    binding->gpu_id = csv_column(table, "gpu_id");
    binding->driver = csv_column(table, "driver");
    binding->clock = csv_column(table, "sm_clock_mhz");
    return bind_time(self, binding, error);
}

static const char *cell(const struct binding *binding, size_t row, long column)
{
    return column < 0 ? "" : csv_cell(binding->table, row, (size_t)column);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Case and everything but letters and digits aside: "NVIDIA H200" is "nvidia-h200". */
static bool same_name(const char *left, const char *right)
{
    for (;;) {
        while (*left && !isalnum((unsigned char)*left)) {
            left++;
        }
        while (*right && !isalnum((unsigned char)*right)) {
            right++;
        }
        if (!*left || !*right) {
            return *left == *right;
        }
        if (tolower((unsigned char)*left++) != tolower((unsigned char)*right++)) {
            return false;
        }
    }
}

static enum status check_device(struct reader *self, const struct binding *binding, size_t row, struct error *error)
{
    const char *device = cell(binding, row, binding->device);
    if (note_text(self->out->device, sizeof self->out->device, device) && !same_name(self->out->device, device)) {
        return error_set_at(error, STATUS_BAD_DATA, binding->table->file, binding->table->lines[row], 0,
                            "device '%.80s', but earlier rows are of '%s': one calibration is of one device", device,
                            self->out->device);
    }
    return STATUS_OK;
}

/* Rows of other kernels are left alone; two kernels with nothing to choose by is an error. */
static enum status check_kernel(struct reader *self, const struct binding *binding, size_t row, bool *mine,
                                struct error *error)
{
    const char *kernel = cell(binding, row, binding->kernel);
    const char *wanted = self->options->kernel ? self->options->kernel : scenario_measure_kernel(self->scenario);
    *mine = true;
    if (self->options->kernel && binding->kernel < 0) {
        return error_set_at(error, STATUS_BAD_DATA, binding->table->file, 1, 0, "no column 'kernel' to find %s by",
                            self->options->kernel);
    }
    if (wanted) {
        *mine = binding->kernel < 0 || strcmp(kernel, wanted) == 0;
    } else if (note_text(self->kernel, sizeof self->kernel, kernel)) {
        return error_set_at(error, STATUS_BAD_DATA, binding->table->file, binding->table->lines[row], 0,
                            "kernel '%.80s', but earlier rows are of '%s': say which is meant", kernel, self->kernel);
    }
    return STATUS_OK;
}

static bool is_listed(const struct scenario_variable *variable, double value)
{
    for (uint32_t i = 0; i < variable->value_count; i++) {
        if (variable->values[i] == value) {
            return true;
        }
    }
    return false;
}

static enum status read_values(const struct reader *self, const struct binding *binding, size_t row, double *values,
                               struct error *error)
{
    scenario_base_values(self->scenario, values);
    for (size_t i = 0; i < self->width; i++) {
        const struct scenario_variable *variable = scenario_variable_get(self->scenario, i);
        if (binding->variables[i] < 0) {
            continue;
        }
        const enum status status = csv_number(binding->table, row, (size_t)binding->variables[i], &values[i], error);
        if (status != STATUS_OK) {
            return status;
        }
        if (variable->is_knob && !is_listed(variable, values[i])) {
            return error_set_at(error, STATUS_BAD_DATA, binding->table->file, binding->table->lines[row], 0,
                                "%s=%s is not in the list of that knob in scenario %s", variable->name,
                                cell(binding, row, binding->variables[i]), scenario_name(self->scenario));
        }
    }
    return STATUS_OK;
}

static enum status grow(struct reader *self, struct error *error)
{
    if (self->raw_count < self->raw_capacity) {
        return STATUS_OK;
    }
    if (self->raw_count >= RAW_ROWS_MAX) {
        return error_set(error, STATUS_LIMIT, "more than %d measured rows", RAW_ROWS_MAX);
    }
    const size_t capacity = self->raw_capacity ? 2 * self->raw_capacity : 256;
    struct raw_row *raw = realloc(self->raw, capacity * sizeof *raw);
    if (!raw) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu measured rows", capacity);
    }
    self->raw = raw;
    double *values = realloc(self->values, (capacity * self->width + 1) * sizeof *values);
    if (!values) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu measured rows", capacity);
    }
    self->values = values;
    self->raw_capacity = capacity;
    return STATUS_OK;
}

static enum status take_row(struct reader *self, const struct binding *binding, size_t row, struct error *error)
{
    enum status status = grow(self, error);
    if (status == STATUS_OK) {
        status = read_values(self, binding, row, self->values + self->raw_count * self->width, error);
    }
    double time = 0;
    if (status == STATUS_OK) {
        status = csv_number(binding->table, row, (size_t)binding->time, &time, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct raw_row *raw = &self->raw[self->raw_count];
    *raw = (struct raw_row){.time_s = time * binding->second_per_unit,
                            .clock_mhz = NAN,
                            .line = binding->table->lines[row],
                            .file = binding->file};
    if (!(raw->time_s > 0) || !isfinite(raw->time_s)) {
        return error_set_at(error, STATUS_BAD_DATA, binding->table->file, raw->line, 0,
                            "%s is %s: a time must be above 0", binding->table->names[binding->time],
                            cell(binding, row, binding->time));
    }
    double clock;
    if (number_parse(cell(binding, row, binding->clock), &clock) == STATUS_OK && clock > 0) {
        raw->clock_mhz = clock;
    }
    struct measured_rows *out = self->out;
    self->several_gpus |= note_text(out->gpu_id, sizeof out->gpu_id, cell(binding, row, binding->gpu_id));
    self->several_drivers |= note_text(out->driver, sizeof out->driver, cell(binding, row, binding->driver));
    self->raw_count++;
    return STATUS_OK;
}

static enum status read_line(struct reader *self, const struct binding *binding, size_t row, struct error *error)
{
    struct measured_rows *out = self->out;
    bool mine;
    enum status status = check_kernel(self, binding, row, &mine, error);
    if (status != STATUS_OK || !mine) {
        return status;
    }
    status = check_device(self, binding, row, error);
    if (status != STATUS_OK) {
        return status;
    }
    const char *outcome = cell(binding, row, binding->outcome);
    out->read++;
    if (strcmp(outcome, "infeasible") == 0) {
        out->infeasible++;
    } else if (outcome[0] != '\0' && strcmp(outcome, "ok") != 0) {
        out->failed++;
    } else if (strcmp(cell(binding, row, binding->reference), "1") == 0) {
        out->references++;
    } else {
        status = take_row(self, binding, row, error);
    }
    return status;
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u; /* FNV-1a, 64 bits */
    }
    return hash;
}

static enum status read_file(struct reader *self, uint32_t file, struct error *error)
{
    struct csv_table table;
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read_text(self->paths[file], FILE_BYTES_MAX, &text, &length, error);
    if (status != STATUS_OK) {
        return status;
    }
    self->out->hash = hash_bytes(self->out->hash, text, length);
    status = csv_parse(text, length, self->paths[file], &table, error);
    free(text);
    if (status != STATUS_OK) {
        return status;
    }
    struct binding binding = {.table = &table, .file = file};
    status = bind_columns(self, &binding, error);
    for (size_t row = 0; row < table.row_count && status == STATUS_OK; row++) {
        status = read_line(self, &binding, row, error);
    }
    csv_table_release(&table);
    return status;
}

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

static enum status fail_at(const struct reader *self, const struct raw_row *raw, const struct error *cause,
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

static enum status check_layer(const struct reader *self, const struct raw_row *raw, const struct layer_case *layer,
                               struct error *error)
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
static enum status evaluate_row(struct reader *self, const struct raw_row *raw, const double *values,
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
            warn(self->out, text);
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

static size_t gather_times(const struct reader *self, struct merge *merge, size_t i)
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

static enum status merge_row(struct reader *self, struct merge *merge, size_t i, struct error *error)
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

static size_t chain_repeats(const struct reader *self, struct merge *merge)
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

static enum status merge_rows(struct reader *self, struct merge *merge, struct error *error)
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
        warn(self->out, text);
    }
    return status;
}

static enum status make_rows(struct reader *self, struct error *error)
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
static enum status number_groups(struct reader *self, struct error *error)
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
    const int unit = unit_of(column);
    const int steps = (int)lround(log10(ratio) / 3);
    const int suspected = unit - steps;
    return unit >= 0 && suspected >= 0 && suspected < UNIT_COUNT ? units[suspected].name : NULL;
}

static enum status judge_unit(const struct reader *self, double ratio, struct error *error)
{
    const double thousands = log10(ratio) / 3, whole = nearbyint(thousands);
    if (fabs(thousands) > 0.8 && (fabs(thousands) > 1.2 || fabs(thousands - whole) < 0.2)) { /* from 250 times on */
        const char *unit = suspected_unit(self->time_name, ratio);
        char number[32];
        return error_set_at(error, STATUS_BAD_DATA, self->paths[0], 0, 0,
                            "the times are about %s times what the model says: wrong unit suspected in column %s%s%s",
                            number_format_digits(ratio, 2, number), self->time_name,
                            unit ? ", which seems to hold " : "", unit ? unit : "");
    }
    if (ratio > ratio_suspect || ratio < 1 / ratio_suspect) {
        char text[200], number[32];
        (void)snprintf(text, sizeof text,
                       "the times are about %s times what the uncalibrated model says: check unit and description",
                       number_format_digits(ratio, 2, number));
        warn(self->out, text);
    }
    return STATUS_OK;
}

/* Single times far from where the others stand: a slip of the pen that a robust fit survives in silence. */
static void warn_of_odd_times(const struct reader *self, const double *ratios, double median)
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
        warn(out, text);
    }
}

static enum status check_units(const struct reader *self, struct error *error)
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
    enum status status = judge_unit(self, ratio, error);
    if (status == STATUS_OK) {
        warn_of_odd_times(self, ratios, ratio);
    }
    free(ratios);
    return status;
}

static enum status check_any(const struct reader *self, struct error *error)
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

static void finish_provenance(struct reader *self, double *clocks)
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
        warn(out, "rows come from more than one GPU of the kind: their difference counts as noise");
        out->gpu_id[0] = '\0';
    }
    if (self->several_drivers) {
        warn(out, "rows were measured under more than one driver");
        out->driver[0] = '\0';
    }
}

static enum status read_all(struct reader *self, size_t path_count, struct error *error)
{
    struct model_parameters parameters;
    model_parameters_init(&parameters);
    enum status status = time_model_init(&self->model, scenario_device(self->scenario), &parameters, error);
    if (status == STATUS_OK) {
        status = scenario_evaluator_create(self->scenario, &self->evaluator, error);
    }
    for (size_t i = 0; i < path_count && status == STATUS_OK; i++) {
        status = read_file(self, (uint32_t)i, error);
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
    struct reader self = {.scenario = scenario,
                          .options = options ? options : &none,
                          .paths = paths,
                          .out = rows,
                          .width = scenario_variable_count(scenario)};
    memset(rows, 0, sizeof *rows);
    rows->variable_count = self.width;
    rows->hash = 0xcbf29ce484222325u;
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
