/* SPDX-License-Identifier: GPL-3.0-or-later
 * Sources of spaces into families. */
#include "tests/support/replay_space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"

enum {
    MADE_INSTANCES = 10,
    SHAPE_ROWS_LEAST = 12, /* fewer are no search */
    COLUMNS_MOST = 12
};
#define FILE_BYTES_MAX (64u << 20)

static enum status no_room(const char *source, struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "no memory for %s", source);
}

/* The next place of the family, cleared; NULL: no memory. */
static struct replay_space *add_space(struct replay_family *family)
{
    struct replay_space *grown = realloc(family->spaces, (family->count + 1) * sizeof *grown);
    if (!grown) {
        return NULL;
    }
    family->spaces = grown;
    grown[family->count] = (struct replay_space){.least = HUGE_VAL};
    return &grown[family->count++];
}

static enum status finish(struct replay_space *space, struct error *error)
{
    const struct search_table *table = &space->table;
    for (size_t c = 0; c < table->config_count; c++) {
        const bool ran = isfinite(table->times_s[c]);
        space->failures += !ran;
        space->least = ran ? fmin(space->least, table->times_s[c]) : space->least;
    }
    return search_space_init(&space->space, table->values, table->config_count, table->variable_count,
                             table->is_category, error);
}

/* --- shapes of a table --- */

struct shape_table {
    struct csv_table csv;
    size_t shape_columns[COLUMNS_MOST], shape_count;
    size_t columns[2 * COLUMNS_MOST],
        count; /* of the variables: the knobs, then the shape, which a scenario needs too */
    size_t time_column;
};

static enum status find_columns(const struct csv_table *csv, char *names, size_t *columns, size_t *count,
                                struct error *error)
{
    *count = 0;
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        const long column = csv_column(csv, name);
        if (column < 0 || *count == COLUMNS_MOST) {
            return error_set_at(error, STATUS_BAD_DATA, csv->file, 1, 0, "no column %s, or more than %d", name,
                                COLUMNS_MOST);
        }
        columns[(*count)++] = (size_t)column;
    }
    return STATUS_OK;
}

static bool same_shape(const struct shape_table *shapes, size_t a, size_t b)
{
    for (size_t s = 0; s < shapes->shape_count; s++) {
        const size_t column = shapes->shape_columns[s];
        if (strcmp(csv_cell(&shapes->csv, a, column), csv_cell(&shapes->csv, b, column)) != 0) {
            return false;
        }
    }
    return true;
}

/* Appends the row unless its knobs are there already (measured again). */
static enum status add_row(const struct shape_table *shapes, size_t row, struct search_table *table,
                           struct error *error)
{
    double *values = table->values + table->config_count * shapes->count;
    for (size_t k = 0; k < shapes->count; k++) {
        const enum status status = csv_number(&shapes->csv, row, shapes->columns[k], &values[k], error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    for (size_t c = 0; c < table->config_count; c++) {
        if (memcmp(table->values + c * shapes->count, values, shapes->count * sizeof *values) == 0) {
            return STATUS_OK;
        }
    }
    double *time = &table->times_s[table->config_count++];
    *time = (double)NAN;
    return *csv_cell(&shapes->csv, row, shapes->time_column)
               ? csv_number(&shapes->csv, row, shapes->time_column, time, error)
               : STATUS_OK;
}

static enum status take_shape(const struct shape_table *shapes, size_t first, struct replay_family *family,
                              struct error *error)
{
    struct replay_space *space = add_space(family);
    const size_t rows = shapes->csv.row_count;
    if (!space) {
        return no_room(family->name, error);
    }
    struct search_table *table = &space->table;
    *table = (struct search_table){.variable_count = shapes->count,
                                   .names = calloc(shapes->count, sizeof *table->names),
                                   .values = malloc(rows * shapes->count * sizeof(double)),
                                   .times_s = malloc(rows * sizeof(double))};
    if (!table->names || !table->values || !table->times_s) {
        return no_room(family->name, error);
    }
    for (size_t k = 0; k < shapes->count; k++) {
        (void)snprintf(table->names[k], sizeof table->names[k], "%s", shapes->csv.names[shapes->columns[k]]);
    }
    for (size_t r = first; r < rows; r++) {
        const enum status status = same_shape(shapes, r, first) ? add_row(shapes, r, table, error) : STATUS_OK;
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (table->config_count < SHAPE_ROWS_LEAST) {
        search_table_release(table);
        family->count--;
        return STATUS_OK;
    }
    return finish(space, error);
}

static enum status read_shapes(const char *path, char *shape_names, char *knob_names, struct replay_family *family,
                               struct error *error)
{
    static char time_name[] = "time_us";
    struct shape_table shapes = {0};
    size_t times;
    enum status status = csv_read(path, FILE_BYTES_MAX, &shapes.csv, error);
    if (status == STATUS_OK) {
        status = find_columns(&shapes.csv, shape_names, shapes.shape_columns, &shapes.shape_count, error);
    }
    if (status == STATUS_OK) {
        status = find_columns(&shapes.csv, knob_names, shapes.columns, &shapes.count, error);
    }
    for (size_t i = 0; i < shapes.shape_count && status == STATUS_OK; i++) {
        shapes.columns[shapes.count++] = shapes.shape_columns[i];
    }
    if (status == STATUS_OK) {
        status = find_columns(&shapes.csv, time_name, &shapes.time_column, &times, error);
    }
    for (size_t r = 0; r < shapes.csv.row_count && status == STATUS_OK; r++) {
        bool is_new = true;
        for (size_t earlier = 0; earlier < r && is_new; earlier++) {
            is_new = !same_shape(&shapes, earlier, r);
        }
        status = is_new ? take_shape(&shapes, r, family, error) : STATUS_OK;
    }
    csv_table_release(&shapes.csv);
    return status;
}

/* --- families --- */

static enum status make_all(const char *kind, struct replay_family *family, struct error *error)
{
    for (uint64_t i = 0; i < MADE_INSTANCES; i++) {
        struct replay_space *space = add_space(family);
        if (!space || !replay_space_make(kind, i, &space->table)) {
            return error_set(error, STATUS_USAGE, "no kind %s of spaces, or no memory for it", kind);
        }
        const enum status status = finish(space, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status read_tuner(const char *path, struct replay_family *family, struct error *error)
{
    struct replay_space *space = add_space(family);
    if (!space) {
        return no_room(path, error);
    }
    const enum status status = search_table_read(path, &space->table, error);
    return status == STATUS_OK ? finish(space, error) : status;
}

enum status replay_family_read(const char *source, struct replay_family *family, struct error *error)
{
    char text[1024];
    *family = (struct replay_family){0};
    (void)snprintf(text, sizeof text, "%s", source);
    char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
    if (colon) {
        *colon = '\0';
    }
    if (second) {
        *second = '\0';
    }
    const char *slash = strrchr(text, '/');
    const bool is_made = colon && strcmp(text, "made") == 0;
    (void)snprintf(family->name, sizeof family->name, "%.80s%s",
                   is_made ? colon + 1
                   : slash ? slash + 1
                           : text,
                   is_made ? ", made" : "");
    enum status status = is_made  ? make_all(colon + 1, family, error)
                         : second ? read_shapes(text, colon + 1, second + 1, family, error)
                                  : read_tuner(source, family, error);
    if (status == STATUS_OK && family->count == 0) {
        status = error_set(error, STATUS_BAD_DATA, "%s has no shape with %d configurations", text, SHAPE_ROWS_LEAST);
    }
    if (status != STATUS_OK) {
        replay_family_release(family);
    }
    return status;
}

void replay_family_release(struct replay_family *family)
{
    for (size_t s = 0; s < family->count; s++) {
        search_space_release(&family->spaces[s].space);
        search_table_release(&family->spaces[s].table);
    }
    free(family->spaces);
    *family = (struct replay_family){0};
}
