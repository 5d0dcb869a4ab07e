/* SPDX-License-Identifier: GPL-3.0-or-later
 * Columns to figures, by name. */
#include "evidence/claims/measurement_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"

enum column_role {
    COLUMN_KNOB,
    COLUMN_FIGURE,
    COLUMN_TIME,
    COLUMN_KERNEL,
    COLUMN_DEVICE,
    COLUMN_OUTCOME,
    COLUMN_OTHER /* results and provenance that are neither knobs nor claims */
};

struct column {
    enum column_role role;
    enum claim_figure figure;
    double scale; /* to microseconds */
};

static const struct {
    const char *name;
    struct column column;
} known[] = {{"time_us", {COLUMN_TIME, 0, 1}},
             {"time_ms", {COLUMN_TIME, 0, 1e3}},
             {"time_ns", {COLUMN_TIME, 0, 1e-3}},
             {"time_s", {COLUMN_TIME, 0, 1e6}},
             {"kernel", {COLUMN_KERNEL, 0, 0}},
             {"device", {COLUMN_DEVICE, 0, 0}},
             {"outcome", {COLUMN_OUTCOME, 0, 0}},
             {"registers", {COLUMN_FIGURE, CLAIM_REGISTERS, 0}},
             {"regs", {COLUMN_FIGURE, CLAIM_REGISTERS, 0}},
             {"smem_bytes", {COLUMN_FIGURE, CLAIM_DYNAMIC_SMEM, 0}},
             {"shared", {COLUMN_FIGURE, CLAIM_DYNAMIC_SMEM, 0}},
             {"local_bytes", {COLUMN_FIGURE, CLAIM_STACK, 0}}};

/* Columns of `occam measure` and of `inspect --as measurements` that are no knobs. */
static bool is_other(const char *name)
{
    static const char *const names[] = {"file",   "note",         "source", "times", "gpu_id",
                                        "driver", "is_reference", "status", "date",  "reason"};
    static const char *const parts[] = {"_clock_mhz", "predicted", "time_", "error", "temperature", "power"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(name, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static struct column column_of(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            return known[i].column;
        }
    }
    for (int i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        if (strcmp(name, claim_figure_name((enum claim_figure)i)) == 0) {
            return (struct column){COLUMN_FIGURE, (enum claim_figure)i, 0};
        }
    }
    return (struct column){is_other(name) ? COLUMN_OTHER : COLUMN_KNOB, 0, 0};
}

struct reading {
    const struct csv_table *table;
    const struct column *columns;
    long time, kernel, outcome;
    struct kernel_claim_list *list;
    struct error *error;
};

static const char *cell(const struct reading *self, size_t row, long column)
{
    return column < 0 ? "" : csv_cell(self->table, row, (size_t)column);
}

static enum status take_cell(struct reading *self, size_t row, size_t column, struct kernel_claim *claim)
{
    const char *text = csv_cell(self->table, row, column), *name = self->table->names[column];
    const struct column *about = &self->columns[column];
    double value;
    const bool is_number = number_parse(text, &value) == STATUS_OK;
    if (about->role == COLUMN_DEVICE) {
        claim->device = arena_copy_text(&self->list->arena, text, strlen(text));
        return claim->device != NULL ? STATUS_OK : error_set(self->error, STATUS_NO_MEMORY, "no memory for claims");
    }
    if (about->role == COLUMN_FIGURE && is_number && value >= 0) {
        kernel_claim_set(claim, about->figure, value);
    }
    /* num_warps and num_stages are chosen: they are knobs as well. */
    const bool is_chosen =
        about->role == COLUMN_FIGURE && (about->figure == CLAIM_NUM_WARPS || about->figure == CLAIM_NUM_STAGES);
    const bool is_result = self->outcome >= 0 && column > (size_t)self->outcome;
    if ((about->role == COLUMN_KNOB || is_chosen) && !is_result && text[0] != '\0' &&
        claim->parameter_count < CLAIM_PARAMETERS_MAX) {
        return kernel_claim_parameter(self->list, claim, name, strlen(name), text, strlen(text), self->error);
    }
    return STATUS_OK;
}

static enum status take_row(struct reading *self, const char *path, size_t row)
{
    const char *kernel = cell(self, row, self->kernel), *outcome = cell(self, row, self->outcome);
    const bool is_failed = outcome[0] != '\0' && strcmp(outcome, "ok") != 0;
    struct kernel_claim *claim;
    double time = NAN;
    if (!is_failed && (number_parse(cell(self, row, self->time), &time) != STATUS_OK || !(time > 0))) {
        kernel_claim_skip(self->list, "%s:%u: its time is no number above 0", path, self->table->lines[row]);
        return STATUS_OK;
    }
    enum status status =
        kernel_claim_list_add(self->list, CLAIM_SOURCE_MEASUREMENTS, path, kernel, strlen(kernel), &claim, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    claim->line = self->table->lines[row];
    claim->ordinal = row + 1;
    claim->is_failed = is_failed;
    for (size_t column = 0; column < self->table->column_count && status == STATUS_OK; column++) {
        status = take_cell(self, row, column, claim);
    }
    if (is_failed) {
        kernel_claim_remark(self->list, claim, "outcome %.100s", outcome);
    } else {
        claim->time.count = 1;
        claim->time.median_us = claim->time.mean_us = time * self->columns[self->time].scale;
    }
    return status;
}

static enum status take_rows(struct reading *self, struct column *columns, const char *path)
{
    const struct csv_table *table = self->table;
    self->time = self->kernel = self->outcome = -1;
    for (size_t i = 0; i < table->column_count; i++) {
        columns[i] = column_of(table->names[i]);
        self->time = columns[i].role == COLUMN_TIME && self->time < 0 ? (long)i : self->time;
        self->kernel = columns[i].role == COLUMN_KERNEL ? (long)i : self->kernel;
        self->outcome = columns[i].role == COLUMN_OUTCOME ? (long)i : self->outcome;
    }
    if (self->time < 0) {
        return error_set_at(self->error, STATUS_BAD_DATA, path, 1, 0, "no column time_us, time_ms, time_ns or time_s");
    }
    enum status status = STATUS_OK;
    for (size_t row = 0; row < table->row_count && status == STATUS_OK; row++) {
        status = take_row(self, path, row);
    }
    return status;
}

enum status measurement_table_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct csv_table table = {0};
    enum status status = csv_read(path, MEASUREMENT_TABLE_BYTES_MAX, &table, error);
    if (status != STATUS_OK) {
        return status;
    }
    struct column *columns = calloc(table.column_count + 1, sizeof *columns);
    struct reading self = {.table = &table, .columns = columns, .list = list, .error = error};
    status = columns != NULL ? take_rows(&self, columns, path)
                             : error_set(error, STATUS_NO_MEMORY, "no memory for the columns of %s", path);
    free(columns);
    csv_table_release(&table);
    return status;
}
