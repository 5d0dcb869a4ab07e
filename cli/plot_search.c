/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `regret`: how near to the best each search method is after so many runs; columns method, runs, fraction,
 * or the record of `occam tune`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "cli/plot_table.h"

enum {
    METHODS_MAX = 7
};
#define FILE_BYTES_MAX (64u << 20)

static enum status need_column(const struct csv_table *table, const char *name, size_t *column, struct error *error)
{
    const long found = csv_column(table, name);

    if (found < 0)
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0, "no column %s", name);
    *column = (size_t)found;
    return STATUS_OK;
}

struct regret_columns {
    size_t method, runs, fraction;
};

/* Rows of one method, in the table's order; methods of their own colour, in the order in which they come. */
static enum status add_method(struct figure_sheet *sheet, const struct csv_table *table,
                              const struct regret_columns *columns, const char *method, int color, struct error *error)
{
    double *x = sheet_numbers(sheet, table->row_count), *y = sheet_numbers(sheet, table->row_count);
    size_t n = 0;
    enum status status = sheet_check(sheet, error);

    for (size_t r = 0; r < table->row_count && status == STATUS_OK; r++) {
        if (strcmp(csv_cell(table, r, columns->method), method) != 0)
            continue;
        status = csv_number(table, r, columns->runs, &x[n], error);
        if (status == STATUS_OK)
            status = csv_number(table, r, columns->fraction, &y[n], error);
        y[n] *= 100.0;
        n++;
    }
    sheet_add_series(sheet, (struct figure_series){.label = sheet_text(sheet, "%s", method),
                                                   .style = SERIES_STYLE_LINE_POINTS,
                                                   .count = n,
                                                   .x = x,
                                                   .y = y,
                                                   .color_index = color});
    return status;
}

static bool seen_before(const struct csv_table *table, size_t row, size_t column)
{
    for (size_t r = 0; r < row; r++)
        if (strcmp(csv_cell(table, r, column), csv_cell(table, row, column)) == 0)
            return true;
    return false;
}

static enum status fill_regret(struct figure_sheet *sheet, const struct csv_table *table, struct error *error)
{
    struct regret_columns columns = {0};
    int methods = 0;
    enum status status = need_column(table, "method", &columns.method, error);

    if (status == STATUS_OK)
        status = need_column(table, "runs", &columns.runs, error);
    if (status == STATUS_OK)
        status = need_column(table, "fraction", &columns.fraction, error);
    for (size_t r = 0; r < table->row_count && status == STATUS_OK && methods <= METHODS_MAX; r++) {
        if (r > 0 && (strcmp(csv_cell(table, r, columns.method), csv_cell(table, r - 1, columns.method)) == 0 ||
                      seen_before(table, r, columns.method)))
            continue;
        if (methods == METHODS_MAX)
            return error_set_at(error, STATUS_LIMIT, table->file, table->lines[r], 0, "more than %d methods",
                                METHODS_MAX);
        status = add_method(sheet, table, &columns, csv_cell(table, r, columns.method), methods++, error);
    }
    if (status == STATUS_OK && methods == 0)
        status = error_set_at(error, STATUS_BAD_DATA, table->file, 0, 0, "no rows");
    return status;
}

struct record_columns {
    size_t count;
    double *run, *own, *best; /* own: NaN of a run that failed */
};

/* Every run of a record as its figure of merit, more is better; forecasts are no runs. */
static enum status read_record(const struct csv_table *table, bool throughput, struct record_columns *columns,
                               double *best, struct error *error)
{
    size_t outcome = 0, value = 0;
    enum status status = need_column(table, "outcome", &outcome, error);

    if (status == STATUS_OK)
        status = need_column(table, throughput ? "throughput_tokens_per_s" : "time_us", &value, error);
    for (size_t r = 0; r < table->row_count && status == STATUS_OK; r++) {
        double number = 0.0;

        if (strcmp(csv_cell(table, r, outcome), "frozen") == 0)
            continue;
        if (strcmp(csv_cell(table, r, outcome), "ok") == 0)
            status = csv_number(table, r, value, &number, error);
        const size_t n = columns->count++;
        columns->own[n] = number > 0.0 ? (throughput ? number : 1.0 / number) : (double)NAN;
        *best = fmax(*best, columns->own[n]);
        columns->run[n] = (double)columns->count; /* a failed run costs one too */
        columns->best[n] = *best > 0.0 ? *best : (double)NAN;
    }
    if (status == STATUS_OK && !(*best > 0.0))
        status = error_set_at(error, STATUS_BAD_DATA, table->file, 0, 0, "no run succeeded");
    return status;
}

/* The record of `occam tune`: each run, and the best so far, over the best of the record. */
static enum status fill_record(struct figure_sheet *sheet, const struct csv_table *table, const char *path,
                               struct error *error)
{
    const bool throughput = csv_column(table, "throughput_tokens_per_s") >= 0;
    struct record_columns columns = {.run = sheet_numbers(sheet, table->row_count),
                                     .own = sheet_numbers(sheet, table->row_count),
                                     .best = sheet_numbers(sheet, table->row_count)};
    double best = 0.0;
    size_t failed = 0;
    enum status status = sheet_check(sheet, error);

    if (status == STATUS_OK)
        status = read_record(table, throughput, &columns, &best, error);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < columns.count; i++) {
        failed += isnan(columns.own[i]) ? 1 : 0;
        columns.own[i] *= 100.0 / best;
        columns.best[i] *= 100.0 / best;
    }
    sheet_add_series(sheet, (struct figure_series){.label = "best so far",
                                                   .style = SERIES_STYLE_STEPS,
                                                   .count = columns.count,
                                                   .x = columns.run,
                                                   .y = columns.best,
                                                   .color_index = PLOT_COLOR_BASE});
    sheet_add_series(sheet, (struct figure_series){.label = "each run",
                                                   .style = SERIES_STYLE_POINTS,
                                                   .count = columns.count,
                                                   .x = columns.run,
                                                   .y = columns.own,
                                                   .missing_is_told = true,
                                                   .color_index = PLOT_COLOR_VARIANT});
    sheet->figure.title = "what the runs of the search found";
    sheet->figure.y_label =
        throughput ? "throughput, of the best of the record (%)" : "speed, of the best of the record (%)";
    sheet->figure.caption = sheet_text(
        sheet,
        "%zu runs, %zu failed. Whether there is a better one than the record's best is not known. From %s; drawn %s.",
        columns.count, failed, path, plot_date(sheet));
    return status;
}

static enum status read_table(const struct plot_request *request, struct csv_table *table, struct error *error)
{
    if (request->file_count != 1)
        return error_set(error, STATUS_USAGE, "this figure takes one table, not %zu", request->file_count);
    return csv_read(request->files[0], FILE_BYTES_MAX, table, error);
}

enum status plot_regret(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    struct csv_table table = {0};
    enum status status = read_table(request, &table, error);

    if (status != STATUS_OK)
        return status;
    sheet->figure.title = "best found after so many runs";
    sheet->figure.x_label = "runs on the GPU";
    sheet->figure.x_whole = true;
    sheet->figure.y_label = "best found, of the best there is (%)";
    sheet->figure.caption = sheet_text(sheet, "From %s; drawn %s.", request->files[0], plot_date(sheet));
    status = csv_column(&table, "method") < 0 && csv_column(&table, "outcome") >= 0
                 ? fill_record(sheet, &table, request->files[0], error)
                 : fill_regret(sheet, &table, error);
    csv_table_release(&table);
    return status == STATUS_OK ? sheet_check(sheet, error) : status;
}
