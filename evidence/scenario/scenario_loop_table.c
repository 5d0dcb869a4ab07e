/* SPDX-License-Identifier: GPL-3.0-or-later
 * A loop whose figures come from a table of compiled variants: columns "loop.KEY" named like the keys of `loop`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/scenario/scenario_internal.h"

static bool row_passes(const struct loop_table *table, size_t row)
{
    for (const struct yaml_node *child = table->where != NULL ? table->where->first : NULL; child != NULL;
         child = child->next) {
        long column = csv_column(&table->csv, child->key);
        if (column >= 0 && child->kind == YAML_SCALAR &&
            strcmp(csv_cell(&table->csv, row, (size_t)column), child->text) != 0) {
            return false;
        }
    }
    return true;
}

/* --- instructions ---------------------------------------------------------------------------------------------------
 */

enum {
    SIDES = 3,
    SIDE_SIZE = 5, /* 1 to 1024 */
    SIDE_MOST = 1024
};

/* "64x128x16" as three texts; false where it is none of these. */
static bool split_sides(const char *text, char sides[SIDES][SIDE_SIZE])
{
    unsigned values[SIDES];
    int length = 0;
    if (strspn(text, "0123456789x") != strlen(text) ||
        sscanf(text, "%4ux%4ux%4u%n", &values[0], &values[1], &values[2], &length) != SIDES || text[length] != '\0') {
        return false;
    }
    for (size_t side = 0; side < SIDES; side++) {
        if (values[side] < 1 || values[side] > SIDE_MOST) {
            return false;
        }
        (void)snprintf(sides[side], SIDE_SIZE, "%u", values[side]);
    }
    return true;
}

/* Where some variant has an instruction, those without one get 0, the format's own. */
static enum status fill_sides(const struct scenario_reader *reader, const struct loop_table *table, size_t column,
                              size_t first, char (*texts)[SIDES][SIDE_SIZE])
{
    static char none[] = "", own[] = "0";
    bool has_some = false;
    for (size_t row = 0; row < table->csv.row_count; row++) {
        has_some |= csv_cell(&table->csv, row, column)[0] != '\0' && row_passes(table, row);
    }
    for (size_t row = 0; row < table->csv.row_count; row++) {
        char **cells = table->csv.cells + row * table->csv.column_count;
        const bool is_wanted = cells[column][0] != '\0' && row_passes(table, row);
        if (is_wanted && !split_sides(cells[column], texts[row])) {
            return error_set_at(reader->error, STATUS_BAD_DATA, table->csv.file, table->csv.lines[row], 0,
                                "the loop table has the instruction '%.40s', not M x N x K such as 16x8x16",
                                cells[column]);
        }
        for (size_t side = 0; side < SIDES; side++) {
            cells[first + side] = is_wanted ? texts[row][side] : has_some ? own : none;
        }
    }
    return STATUS_OK;
}

/* Room for `more` columns behind the table's own. */
static enum status widen(const struct scenario_reader *reader, struct csv_table *csv, size_t more)
{
    const size_t old = csv->column_count, wide = old + more;
    char **names = realloc(csv->names, wide * sizeof *names);
    csv->names = names != NULL ? names : csv->names;
    char **cells = calloc(csv->row_count * wide + 1, sizeof *cells);
    if (names == NULL || cells == NULL) {
        free(cells);
        return reader_no_memory(reader);
    }
    for (size_t row = 0; row < csv->row_count; row++) {
        memcpy(cells + row * wide, csv->cells + row * old, old * sizeof *cells);
    }
    free(csv->cells);
    csv->cells = cells;
    csv->column_count = wide;
    return STATUS_OK;
}

/* Variants of one kernel use different instructions: each column loop.mmaN.instruction also becomes three of numbers,
 * which are looked up like any other; no file can have their names. */
static enum status add_instruction_sides(const struct scenario_reader *reader, struct loop_table *table)
{
#define SIDE_NAMES(i)                                                                                                  \
    {                                                                                                                  \
        "loop.mma" #i ".instruction m", "loop.mma" #i ".instruction n", "loop.mma" #i ".instruction k"                 \
    }
    static char names[TILE_LOOP_MMA_MAX][SIDES][32] = {SIDE_NAMES(1), SIDE_NAMES(2), SIDE_NAMES(3), SIDE_NAMES(4)};
#undef SIDE_NAMES
    const size_t rows = table->csv.row_count;
    char(*texts)[SIDES][SIDE_SIZE] = calloc(TILE_LOOP_MMA_MAX * rows + 1, sizeof *texts);
    enum status status = texts != NULL ? STATUS_OK : reader_no_memory(reader);
    table->texts = texts;
    for (unsigned i = 0; i < TILE_LOOP_MMA_MAX && status == STATUS_OK; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "loop.mma%u.instruction", i + 1);
        const long column = csv_column(&table->csv, name);
        if (column < 0) {
            continue;
        }
        const size_t first = table->csv.column_count;
        status = widen(reader, &table->csv, SIDES);
        for (size_t side = 0; side < SIDES && status == STATUS_OK; side++) {
            table->csv.names[first + side] = names[i][side];
        }
        status = status == STATUS_OK ? fill_sides(reader, table, (size_t)column, first, texts + i * rows) : status;
    }
    return status;
}

/* A filter that leaves nothing would leave a kernel without a loop. */
static enum status check_where(const struct scenario_reader *reader, const struct loop_table *table)
{
    for (size_t row = 0; row < table->csv.row_count; row++) {
        if (row_passes(table, row)) {
            return STATUS_OK;
        }
    }
    return reader_fail(reader, STATUS_BAD_DATA, table->where != NULL ? table->where : table->from,
                       "no row of the loop table passes 'where'");
}

enum status loop_table_read(const struct scenario_reader *reader, const struct yaml_node *node,
                            struct loop_table *table)
{
    *table = (struct loop_table){
        .from = yaml_find(node, "from"), .keys = yaml_find(node, "keys"), .where = yaml_find(node, "where")};
    if (table->from == NULL) {
        const struct yaml_node *stray = table->keys != NULL ? table->keys : table->where;
        return stray == NULL ? STATUS_OK
                             : reader_fail(reader, STATUS_BAD_DATA, stray, "loop: '%s' belongs to 'from'", stray->key);
    }
    if (table->keys == NULL) {
        return reader_fail(reader, STATUS_BAD_DATA, node, "loop: a table needs 'keys' beside 'from'");
    }
    enum status status = reader_expect(reader, table->from, YAML_SCALAR, "from");
    if (status == STATUS_OK && table->where != NULL) {
        status = reader_expect(reader, table->where, YAML_MAP, "where");
    }
    if (status == STATUS_OK) {
        status = scenario_read_table(reader, table->from, &table->csv);
        table->is_open = status == STATUS_OK;
    }
    status = status == STATUS_OK && table->where != NULL ? check_where(reader, table) : status;
    return status == STATUS_OK ? add_instruction_sides(reader, table) : status;
}

void loop_table_release(struct loop_table *table)
{
    if (table->is_open) {
        csv_table_release(&table->csv);
    }
    free(table->texts);
    table->texts = NULL;
    table->is_open = false;
}

/* Does some passing row fill the column? */
static bool column_is_filled(const struct loop_table *table, size_t column)
{
    for (size_t row = 0; row < table->csv.row_count; row++) {
        if (csv_cell(&table->csv, row, column)[0] != '\0' && row_passes(table, row)) {
            return true;
        }
    }
    return false;
}

enum loop_column loop_table_column(const struct loop_table *table, const char *prefix, const char *key,
                                   const char **name)
{
    char text[128];
    (void)snprintf(text, sizeof text, "loop.%s%s", prefix, key);
    long column = table->is_open ? csv_column(&table->csv, text) : -1;
    if (column < 0) {
        return LOOP_COLUMN_ABSENT;
    }
    *name = table->csv.names[column];
    return column_is_filled(table, (size_t)column) ? LOOP_COLUMN_FILLED : LOOP_COLUMN_EMPTY;
}

enum status loop_table_group(const struct scenario_reader *reader, const struct loop_table *table, const char *prefix,
                             const char *key, bool *is_filled)
{
    const char *name;
    char start[64];
    *is_filled = loop_table_column(table, prefix, key, &name) == LOOP_COLUMN_FILLED;
    int length = snprintf(start, sizeof start, "loop.%s", prefix);
    for (size_t column = 0; table->is_open && !*is_filled && column < table->csv.column_count; column++) {
        if (strncmp(table->csv.names[column], start, (size_t)length) == 0 && column_is_filled(table, column)) {
            return error_set_at(reader->error, STATUS_BAD_DATA, table->csv.file, 1, 0,
                                "column '%s' is filled, but '%s%s' is missing or empty", table->csv.names[column],
                                start, key);
        }
    }
    return STATUS_OK;
}

enum status loop_table_formula(const struct scenario_reader *reader, const struct loop_table *table, const char *column,
                               const char *what, struct scenario_formula *formula)
{
    return formula_set_lookup(reader, table->from, &table->csv, column, table->keys, table->where, what, formula);
}

enum status loop_table_text(const struct scenario_reader *reader, const struct loop_table *table, const char *prefix,
                            const char *key, const char **text)
{
    const char *name;
    *text = NULL;
    if (loop_table_column(table, prefix, key, &name) != LOOP_COLUMN_FILLED) {
        return STATUS_OK;
    }
    size_t column = (size_t)csv_column(&table->csv, name);
    for (size_t row = 0; row < table->csv.row_count; row++) {
        const char *cell = csv_cell(&table->csv, row, column);
        if (cell[0] == '\0' || !row_passes(table, row)) {
            continue;
        }
        if (*text != NULL && strcmp(*text, cell) != 0) {
            return error_set_at(reader->error, STATUS_BAD_DATA, table->csv.file, table->csv.lines[row], 0,
                                "column %s holds both '%.40s' and '%.40s': choose the rows with 'where'", name, *text,
                                cell);
        }
        *text = cell;
    }
    *text = arena_copy_text(&reader->scenario->arena, *text, strlen(*text));
    return *text != NULL ? STATUS_OK : reader_no_memory(reader);
}
