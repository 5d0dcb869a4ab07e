/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reader of measured concurrency curves. */
#include "tests/support/serving_curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/units.h"

enum {
    COLUMN_CURVE,
    COLUMN_CONCURRENCY,
    COLUMN_TOK_S,
    COLUMN_ITL_MS,
    COLUMN_CHOSEN,
    COLUMN_EXPERTS,
    COLUMN_COUNT
};
static const char *const column_names[COLUMN_COUNT] = {"curve",  "concurrency",       "tok_s",
                                                       "itl_ms", "experts_per_token", "experts"};

static struct serving_curve *find_or_add(struct serving_curves *curves, const char *name)
{
    for (size_t i = 0; i < curves->count; i++) {
        if (strcmp(curves->curves[i].name, name) == 0) {
            return &curves->curves[i];
        }
    }
    struct serving_curve *curve = &curves->curves[curves->count++];
    memset(curve, 0, sizeof *curve);
    snprintf(curve->name, sizeof curve->name, "%s", name);
    return curve;
}

static void insert_by_concurrency(struct serving_curve *curve, struct serving_point point)
{
    uint32_t place = curve->count++;
    while (place > 0 && curve->points[place - 1].concurrency > point.concurrency) {
        curve->points[place] = curve->points[place - 1];
        place--;
    }
    curve->points[place] = point;
}

static enum status read_row(const struct csv_table *table, size_t row, const size_t *columns,
                            struct serving_curves *curves, struct error *error)
{
    struct serving_curve *curve = find_or_add(curves, csv_cell(table, row, columns[COLUMN_CURVE]));
    if (curve->count == CURVE_POINTS_MAX) {
        return error_set_at(error, STATUS_LIMIT, table->file, table->lines[row], 0, "more than %d points in a curve",
                            (int)CURVE_POINTS_MAX);
    }
    double itl_ms = 0.0;
    struct serving_point point = {0};
    enum status status = csv_number(table, row, columns[COLUMN_CONCURRENCY], &point.concurrency, error);
    if (status == STATUS_OK) {
        status = csv_number(table, row, columns[COLUMN_TOK_S], &point.throughput_tokens_per_s, error);
    }
    if (status == STATUS_OK) {
        status = csv_number(table, row, columns[COLUMN_ITL_MS], &itl_ms, error);
    }
    if (status == STATUS_OK && csv_cell(table, row, columns[COLUMN_EXPERTS])[0] != '\0') {
        status = csv_number(table, row, columns[COLUMN_EXPERTS], &curve->experts, error);
        if (status == STATUS_OK) {
            status = csv_number(table, row, columns[COLUMN_CHOSEN], &curve->experts_per_token, error);
        }
    }
    point.step_time_s = itl_ms * SECONDS_PER_MS;
    insert_by_concurrency(curve, point);
    return status;
}

enum status serving_curves_read(const char *path, struct serving_curves *curves, struct error *error)
{
    const size_t limit_bytes = (size_t)16 << 20;
    struct csv_table table = {0};
    size_t columns[COLUMN_COUNT];
    memset(curves, 0, sizeof *curves);
    enum status status = csv_read(path, limit_bytes, &table, error);
    if (status != STATUS_OK) {
        return status;
    }
    for (int i = 0; status == STATUS_OK && i < COLUMN_COUNT; i++) {
        long column = csv_column(&table, column_names[i]);
        columns[i] = (size_t)column;
        if (column < 0) {
            status = error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "no column %s", column_names[i]);
        }
    }
    if (status == STATUS_OK) {
        curves->curves = calloc(table.row_count + 1, sizeof *curves->curves);
        status = curves->curves != NULL ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "memory ran out");
    }
    for (size_t row = 0; status == STATUS_OK && row < table.row_count; row++) {
        status = read_row(&table, row, columns, curves, error);
    }
    csv_table_release(&table);
    if (status != STATUS_OK) {
        serving_curves_release(curves);
    }
    return status;
}

void serving_curves_release(struct serving_curves *curves)
{
    free(curves->curves);
    memset(curves, 0, sizeof *curves);
}

const struct serving_curve *serving_curves_find(const struct serving_curves *curves, const char *name)
{
    for (size_t i = 0; i < curves->count; i++) {
        if (strcmp(curves->curves[i].name, name) == 0) {
            return &curves->curves[i];
        }
    }
    return NULL;
}
