/* SPDX-License-Identifier: GPL-3.0-or-later
 * Lines of measurement files: columns are bound to the scenario's variables, and what is no row is counted by why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/hash.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "calibrate/measured_rows_private.h"

enum {
    FILE_BYTES_MAX = 256 << 20,
    RAW_ROWS_MAX = 1000000,
    VARIABLES_MAX = SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX
};

/* The columns of one file that matter; -1 = absent. */
struct binding {
    const struct csv_table *table;
    uint32_t file;
    long variables[VARIABLES_MAX];
    long time, kernel, outcome, reference, device, gpu_id, driver, clock;
    double second_per_unit;
};

void measured_rows_warn(struct measured_rows *out, const char *text)
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
_Static_assert(sizeof units / sizeof units[0] == MEASURED_UNIT_COUNT, "one row for each unit");

const char *measured_unit_name(int unit)
{
    return units[unit].name;
}

int measured_unit_of(const char *column)
{
    const size_t length = strlen(column);
    for (int i = 0; i < MEASURED_UNIT_COUNT; i++) {
        const size_t ending = strlen(units[i].ending);
        if (length > ending && strcmp(column + length - ending, units[i].ending) == 0) {
            return i;
        }
    }
    return -1;
}

enum status measured_time_find(const struct csv_table *table, const char *asked, const char **name,
                               double *second_per_unit, struct error *error)
{
    static const char *const names[] = {"time_us", "time_ns", "time_ms", "time_s"};
    *name = asked;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && asked == NULL; i++) {
        if (csv_column(table, names[i]) < 0 || (*name != NULL && strcmp(*name, "time_us") == 0)) {
            continue;
        }
        if (*name != NULL) {
            return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                                "columns %s and %s: say which holds the time to learn from", *name, names[i]);
        }
        *name = names[i];
    }
    if (*name == NULL) {
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                            "no column time_us, time_ns, time_ms or time_s, and none was named");
    }
    if (csv_column(table, *name) < 0) {
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0, "no column '%s' with times", *name);
    }
    const int unit = measured_unit_of(*name);
    if (unit < 0) {
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                            "column '%s' does not say its unit: expected a name that ends in _ns, _us, _ms or _s",
                            *name);
    }
    *second_per_unit = units[unit].second;
    return STATUS_OK;
}

static enum status bind_time(struct measured_reader *self, struct binding *binding, struct error *error)
{
    const char *name;
    const enum status status =
        measured_time_find(binding->table, self->options->time_column, &name, &binding->second_per_unit, error);
    if (status == STATUS_OK) {
        binding->time = csv_column(binding->table, name);
        (void)note_text(self->time_name, sizeof self->time_name, name);
    }
    return status;
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

static enum status bind_columns(struct measured_reader *self, struct binding *binding, struct error *error)
{
    const struct csv_table *table = binding->table;
    for (size_t i = 0; i < self->width; i++) {
        const struct scenario_variable *variable = scenario_variable_get(self->scenario, i);
        char hint[80];
        binding->variables[i] = csv_column(table, variable->name);
        if (binding->variables[i] >= 0 || (variable->value_count == 1 && isfinite(variable->base))) {
            continue;
        }
        return error_set_at(
            error, STATUS_BAD_DATA, table->file, 1, 0,
            "no column '%s', a %s that has no single value in scenario %s: add it, with a value in every "
            "row%s",
            variable->name, variable->is_knob ? "knob" : "workload variable", scenario_name(self->scenario),
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

static enum status check_device(struct measured_reader *self, const struct binding *binding, size_t row,
                                struct error *error)
{
    const char *device = cell(binding, row, binding->device);
    if (measured_device_is_told(device) && note_text(self->out->device, sizeof self->out->device, device) &&
        !measured_device_is_same(self->out->device, device)) {
        return error_set_at(error, STATUS_BAD_DATA, binding->table->file, binding->table->lines[row], 0,
                            "device '%.80s', but earlier rows are of '%s': one calibration is of one device", device,
                            self->out->device);
    }
    return self->options->catalogue == NULL
               ? STATUS_OK
               : measured_device_check(self->options->catalogue, self->scenario, device, binding->table->file,
                                       binding->table->lines[row], error);
}

/* Rows of other kernels are left alone; two kernels with nothing to choose by is an error. */
static enum status check_kernel(struct measured_reader *self, const struct binding *binding, size_t row, bool *mine,
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

static enum status read_values(const struct measured_reader *self, const struct binding *binding, size_t row,
                               double *values, struct error *error)
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
        if (variable->is_knob && !scenario_variable_lists(variable, values[i])) {
            return error_set_at(error, STATUS_BAD_DATA, binding->table->file, binding->table->lines[row], 0,
                                "%s=%s is not in the list of that knob in scenario %s", variable->name,
                                cell(binding, row, binding->variables[i]), scenario_name(self->scenario));
        }
    }
    return STATUS_OK;
}

static enum status grow(struct measured_reader *self, struct error *error)
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

static enum status take_row(struct measured_reader *self, const struct binding *binding, size_t row,
                            struct error *error)
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
    if (!measured_time_is_possible(raw->time_s)) {
        return error_set_at(error, STATUS_BAD_DATA, binding->table->file, raw->line, 0,
                            "%s is %s: nothing takes less than 1 ns or more than 10^6 s",
                            binding->table->names[binding->time], cell(binding, row, binding->time));
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

static enum status read_line(struct measured_reader *self, const struct binding *binding, size_t row,
                             struct error *error)
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

enum status measured_lines_read(struct measured_reader *self, uint32_t file, struct error *error)
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
