/* SPDX-License-Identifier: GPL-3.0-or-later
 * A loop whose figures come from a table of compiled variants: columns "loop.KEY" named like the keys of `loop`. */
#include <stdio.h>
#include <string.h>

#include "evidence/scenario/scenario_internal.h"

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
    return status;
}

void loop_table_release(struct loop_table *table)
{
    if (table->is_open) {
        csv_table_release(&table->csv);
    }
    table->is_open = false;
}

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
