/* SPDX-License-Identifier: GPL-3.0-or-later
 * Nsight Compute tables as CSV. The details page has a row per figure, the raw page a column per figure and a row of
 * units; both end in the same figures of one launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/profiles/ncu_launch_private.h"
#include "evidence/profiles/profile_readers.h"
#include "evidence/profiles/table_rows.h"

struct ncu_reader {
    const char *path;
    struct kernel_claim_list *list;
    struct table_rows *rows;
    bool is_details;
    long id, process, name, block, grid, capability, metric, unit, value; /* columns, -1: not there */
    size_t column_count;
    int *column_metrics; /* raw page: NCU_NO_METRIC or a metric */
    struct unit *column_units;
    struct ncu_launches launches;
    char launch_id[64]; /* process and ID: what tells launches apart */
    struct error *error;
};

static const char *field(const struct table_row *row, long column)
{
    return column >= 0 && (size_t)column < row->count ? row->fields[column] : "";
}

static void write_id(const struct ncu_reader *self, const struct table_row *row, char id[64])
{
    (void)snprintf(id, 64, "%.30s/%.30s", field(row, self->process), field(row, self->id));
}

/* Columns that both pages have. */
static void begin_launch(struct ncu_reader *self, const struct table_row *row)
{
    struct ncu_launch *launch = &self->launches.launch;
    const char *name = field(row, self->name);
    ncu_launch_begin(&self->launches, name, strlen(name), row->line);
    write_id(self, row, self->launch_id);
    (void)ncu_sides_parse(field(row, self->block), launch->launch.block);
    (void)ncu_sides_parse(field(row, self->grid), launch->launch.grid);
    ncu_launch_capability(launch, field(row, self->capability));
}

/* --- rows ----------------------------------------------------------------------------------------------------------
 */

static long find_column(const struct table_row *row, const char *name)
{
    for (size_t i = 0; i < row->count; i++) {
        if (strcmp(row->fields[i], name) == 0) {
            return (long)i;
        }
    }
    return -1;
}

static bool is_header(const struct table_row *row)
{
    return row->count > 1 && strcmp(row->fields[0], "ID") == 0 && find_column(row, "Kernel Name") >= 0;
}

/* Another header may follow in one file: several programs, or files put together. */
static enum status take_header(struct ncu_reader *self, const struct table_row *row)
{
    self->id = 0;
    self->process = find_column(row, "Process ID");
    self->name = find_column(row, "Kernel Name");
    self->block = find_column(row, "Block Size");
    self->grid = find_column(row, "Grid Size");
    self->capability = find_column(row, "CC");
    self->metric = find_column(row, "Metric Name");
    self->unit = find_column(row, "Metric Unit");
    self->value = find_column(row, "Metric Value");
    self->is_details = self->metric >= 0 && self->value >= 0;
    self->column_count = row->count;
    free(self->column_metrics);
    free(self->column_units);
    self->column_metrics = malloc(row->count * sizeof *self->column_metrics);
    self->column_units = malloc(row->count * sizeof *self->column_units);
    if (self->column_metrics == NULL || self->column_units == NULL) {
        return error_set(self->error, STATUS_NO_MEMORY, "no memory for the columns of %s", self->path);
    }
    for (size_t i = 0; i < row->count; i++) {
        bool is_metric = (long)i != self->block && (long)i != self->grid && !self->is_details;
        self->column_metrics[i] = is_metric ? ncu_metric_find(row->fields[i]) : NCU_NO_METRIC;
        self->column_units[i] = unit_parse("");
    }
    return STATUS_OK;
}

static enum status take_details_row(struct ncu_reader *self, const struct table_row *row)
{
    if (row->count <= (size_t)self->value) {
        kernel_claim_skip(self->list, "%s:%u: a row of %zu fields, the header has %zu", self->path, row->line,
                          row->count, self->column_count);
        return STATUS_OK;
    }
    char id[64];
    write_id(self, row, id);
    if (!self->launches.launch.is_begun || strcmp(self->launch_id, id) != 0) {
        enum status status = ncu_launch_end(&self->launches);
        if (status != STATUS_OK) {
            return status;
        }
        begin_launch(self, row);
    }
    int metric = ncu_metric_find(field(row, self->metric)); /* "" in rows of rules */
    if (metric != NCU_NO_METRIC) {
        struct unit unit = unit_parse(field(row, self->unit));
        ncu_launch_metric(&self->launches, metric, field(row, self->value), &unit);
    }
    return STATUS_OK;
}

static enum status take_raw_row(struct ncu_reader *self, const struct table_row *row)
{
    if (row->count != self->column_count) {
        kernel_claim_skip(self->list, "%s:%u: a row of %zu fields, the header has %zu", self->path, row->line,
                          row->count, self->column_count);
        return STATUS_OK;
    }
    if (row->fields[0][0] == '\0') {
        for (size_t i = 0; i < row->count; i++) {
            self->column_units[i] = unit_parse(row->fields[i]);
        }
        return STATUS_OK;
    }
    begin_launch(self, row);
    for (size_t i = 0; i < row->count; i++) {
        if (self->column_metrics[i] != NCU_NO_METRIC) {
            ncu_launch_metric(&self->launches, self->column_metrics[i], row->fields[i], &self->column_units[i]);
        }
    }
    return ncu_launch_end(&self->launches);
}

static enum status take_row(struct ncu_reader *self, const struct table_row *row)
{
    if (strncmp(row->fields[0], "==", 2) == 0) { /* ==PROF==, ==WARNING== between the rows */
        return STATUS_OK;
    }
    if (row->damage[0] != '\0') {
        kernel_claim_skip(self->list, "%s:%u: %s", self->path, row->line, row->damage);
        return STATUS_OK;
    }
    if (is_header(row)) {
        enum status status = ncu_launch_end(&self->launches);
        return status == STATUS_OK ? take_header(self, row) : status;
    }
    return self->is_details ? take_details_row(self, row) : take_raw_row(self, row);
}

/* --- the file ------------------------------------------------------------------------------------------------------
 */

enum {
    VOTE_ROWS_MAX = 2000
};

/* Goes to the header; text of the profiled program and of Nsight Compute may stand before it. */
static enum status find_header(struct ncu_reader *self)
{
    for (;;) {
        char *text;
        size_t length;
        unsigned line;
        enum status status = table_rows_line(self->rows, &text, &length, &line, self->error);
        if (status != STATUS_OK) {
            return status;
        }
        if (text == NULL) {
            return error_set_at(self->error, STATUS_BAD_DATA, self->path, 0, 0,
                                "no table of Nsight Compute: no line begins with \"ID\",\"Process ID\" (ncu --csv)");
        }
        text += strspn(text, " \t");
        if (strncmp(text, "\"ID\"", 4) == 0 || strncmp(text, "ID,", 3) == 0) {
            struct table_row row;
            status = table_rows_split_line(self->rows, &row, self->error);
            if (status != STATUS_OK || is_header(&row)) {
                return status == STATUS_OK ? take_header(self, &row) : status;
            }
        }
    }
}

/* The decimal sign is the file's: the first rows are read once for it alone. */
static enum status sniff_decimal(struct ncu_reader *self)
{
    struct number_votes votes = {0};
    enum status status = table_rows_open(self->path, &self->rows, self->error);
    status = status == STATUS_OK ? find_header(self) : status;
    for (int i = 0; i < VOTE_ROWS_MAX && status == STATUS_OK; i++) {
        struct table_row row;
        status = table_rows_next(self->rows, &row, self->error);
        if (status != STATUS_OK || row.count == 0) {
            break;
        }
        for (size_t column = 0; column < row.count; column++) {
            bool is_value = self->is_details ? (long)column == self->value
                                             : (long)column > self->name && (long)column != self->capability;
            if (is_value) {
                number_votes_add(&votes, row.fields[column]);
            }
        }
    }
    self->launches.decimal = number_votes_decimal(&votes);
    table_rows_free(self->rows);
    self->rows = NULL;
    return status;
}

static enum status read_rows(struct ncu_reader *self)
{
    enum status status = sniff_decimal(self);
    status = status == STATUS_OK ? table_rows_open(self->path, &self->rows, self->error) : status;
    status = status == STATUS_OK ? find_header(self) : status;
    while (status == STATUS_OK) {
        struct table_row row;
        status = table_rows_next(self->rows, &row, self->error);
        if (status != STATUS_OK || row.count == 0) {
            break;
        }
        status = take_row(self, &row);
    }
    status = status == STATUS_OK ? ncu_launch_end(&self->launches) : status;
    if (status == STATUS_OK && table_rows_damage(self->rows)[0] != '\0') {
        (void)snprintf(self->list->remark, sizeof self->list->remark, "%.200s: %s", self->path,
                       table_rows_damage(self->rows));
    }
    return status;
}

enum status ncu_csv_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct ncu_reader reader = {.path = path, .list = list, .error = error};
    enum status status = ncu_launches_init(&reader.launches, path, list, error);
    status = status == STATUS_OK ? read_rows(&reader) : status;
    ncu_launches_finish(&reader.launches, status == STATUS_OK);
    table_rows_free(reader.rows);
    free(reader.column_metrics);
    free(reader.column_units);
    return status;
}
