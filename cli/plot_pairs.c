/* SPDX-License-Identifier: GPL-3.0-or-later
 * Predicted and measured times row by row. */
#include "cli/plot_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"

#define FILE_BYTES_MAX (256u << 20)

struct pair_columns {
    long measured, predicted, lo, hi, device, kernel;
    size_t knob_first, knob_end;
    long knobs[PAIR_KNOBS_MAX]; /* of pairs->knobs; -1: this file has no such column */
};

void plot_pairs_release(struct plot_pairs *pairs)
{
    free(pairs->items);
    *pairs = (struct plot_pairs){0};
}

/* NaN where the cell is empty or no number. */
static double cell(const struct csv_table *table, size_t row, long column)
{
    double value;

    if (column < 0 || number_parse(csv_cell(table, row, (size_t)column), &value) != STATUS_OK)
        return (double)NAN;
    return value;
}

static enum status find_columns(const struct csv_table *table, struct plot_pairs *pairs, struct pair_columns *columns,
                                struct error *error)
{
    const long outcome = csv_column(table, "outcome"), beyond = csv_column(table, "beyond");

    *columns = (struct pair_columns){.measured = csv_column(table, "measured_us"),
                                     .predicted = csv_column(table, "predicted_us"),
                                     .lo = csv_column(table, "predicted_lo_us"),
                                     .hi = csv_column(table, "predicted_hi_us"),
                                     .device = csv_column(table, "device"),
                                     .kernel = csv_column(table, "kernel")};
    if (columns->measured < 0)
        columns->measured = csv_column(table, "time_us");
    if (columns->predicted < 0 || columns->measured < 0)
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                            "no column %s: neither measurements with predictions nor validate's predictions",
                            columns->predicted < 0 ? "predicted_us" : "measured_us or time_us");
    if (beyond >= 0) {
        columns->knob_first = (size_t)beyond + 1;
        columns->knob_end = table->column_count;
    } else if (outcome > 0) {
        columns->knob_first = columns->kernel == 0 ? 1 : 0;
        columns->knob_end = (size_t)outcome;
    }
    for (size_t c = columns->knob_first; pairs->count == 0 && pairs->knob_count == 0 && c < columns->knob_end &&
                                         c - columns->knob_first < PAIR_KNOBS_MAX;
         c++)
        (void)snprintf(pairs->knobs[c - columns->knob_first], sizeof pairs->knobs[0], "%s", table->names[c]);
    if (pairs->knob_count == 0 && columns->knob_end > columns->knob_first)
        pairs->knob_count = columns->knob_end - columns->knob_first < PAIR_KNOBS_MAX
                                ? columns->knob_end - columns->knob_first
                                : PAIR_KNOBS_MAX;
    for (size_t k = 0; k < pairs->knob_count; k++)
        columns->knobs[k] = csv_column(table, pairs->knobs[k]);
    return STATUS_OK;
}

static void keep_common(char *common, size_t size, const struct csv_table *table, size_t row, long column)
{
    const char *text = column < 0 ? "" : csv_cell(table, row, (size_t)column);

    if (*text == '\0' || strcmp(common, text) == 0)
        return;
    (void)snprintf(common, size, "%s", *common == '\0' ? text : "several");
}

static enum status append_rows(const struct csv_table *table, const struct pair_columns *columns,
                               struct plot_pairs *pairs, struct error *error)
{
    struct plot_pair *items = realloc(pairs->items, (pairs->count + table->row_count + 1) * sizeof *items);

    if (items == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for %zu rows", table->row_count);
    pairs->items = items;
    for (size_t r = 0; r < table->row_count; r++) {
        struct plot_pair *pair = &items[pairs->count];

        pair->measured_us = cell(table, r, columns->measured);
        pair->predicted_us = cell(table, r, columns->predicted);
        pair->lo_us = cell(table, r, columns->lo);
        pair->hi_us = cell(table, r, columns->hi);
        if (!(pair->measured_us > 0.0 && pair->predicted_us > 0.0)) {
            pairs->skipped++;
            continue;
        }
        for (size_t k = 0; k < pairs->knob_count; k++)
            pair->knobs[k] = cell(table, r, columns->knobs[k]);
        keep_common(pairs->device, sizeof pairs->device, table, r, columns->device);
        keep_common(pairs->kernel, sizeof pairs->kernel, table, r, columns->kernel);
        pairs->count++;
    }
    return STATUS_OK;
}

enum status plot_pairs_read(const char *const *paths, size_t count, struct plot_pairs *pairs, struct error *error)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct csv_table table = {0};
        struct pair_columns columns;

        status = csv_read(paths[i], FILE_BYTES_MAX, &table, error);
        if (status != STATUS_OK)
            return status;
        status = find_columns(&table, pairs, &columns, error);
        if (status == STATUS_OK)
            status = append_rows(&table, &columns, pairs, error);
        csv_table_release(&table);
    }
    if (status == STATUS_OK && pairs->count == 0)
        status = error_set(error, STATUS_BAD_DATA, "no row has both a measured and a predicted time (%zu rows)",
                           pairs->skipped);
    return status;
}
