/* SPDX-License-Identifier: GPL-3.0-or-later
 * CSV reader and field writer. One pass over the text; every text of the table lies in one block. Called by all readers
 * of tables in evidence/ and cli/. */
#include "base/csv.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"

/* A list of borrowed texts that grows. */
struct text_list {
    char **items;
    size_t count, capacity;
};

struct csv_parser {
    const char *at, *end;
    char *out;     /* next free byte of storage */
    unsigned line; /* of *at */
    const char *line_start;
    const char *name;
    struct error *error;
};

static bool text_list_append(struct text_list *list, char *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 64;
        char **grown = realloc(list->items, capacity * sizeof *grown);
        if (!grown)
            return false;
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

static enum status no_memory(const struct csv_parser *parser)
{
    return error_set_at(parser->error, STATUS_NO_MEMORY, parser->name, parser->line, 0, "no memory for the table");
}

static enum status bad_here(const struct csv_parser *parser, const char *what)
{
    unsigned column = (unsigned)(parser->at - parser->line_start) + 1;
    return error_set_at(parser->error, STATUS_BAD_DATA, parser->name, parser->line, column, "%s", what);
}

static bool at_line_end(const struct csv_parser *parser)
{
    const char *at = parser->at;
    return at == parser->end || *at == '\n' || (*at == '\r' && (at + 1 == parser->end || at[1] == '\n'));
}

static void next_line(struct csv_parser *parser)
{
    if (parser->at < parser->end && *parser->at == '\r')
        parser->at++;
    if (parser->at < parser->end && *parser->at == '\n')
        parser->at++;
    parser->line++;
    parser->line_start = parser->at;
}

/* Blank lines carry no fields and are skipped; before the header '#' lines are too. */
static void skip_empty_lines(struct csv_parser *parser, bool comments)
{
    while (parser->at < parser->end) {
        if (comments && *parser->at == '#')
            while (!at_line_end(parser))
                parser->at++;
        if (!at_line_end(parser))
            return;
        next_line(parser);
    }
}

/* parser->at stands behind the opening quote. */
static enum status parse_quoted(struct csv_parser *parser)
{
    unsigned opened_line = parser->line;
    unsigned opened_column = (unsigned)(parser->at - parser->line_start);
    for (;;) {
        if (parser->at == parser->end)
            return error_set_at(parser->error, STATUS_BAD_DATA, parser->name, opened_line, opened_column,
                                "the quote that opens here is never closed");
        char c = *parser->at++;
        if (c == '"') {
            if (parser->at == parser->end || *parser->at != '"')
                break;
            parser->at++;
        }
        *parser->out++ = c;
        if (c == '\n') {
            parser->line++;
            parser->line_start = parser->at;
        }
    }
    if (!at_line_end(parser) && *parser->at != ',')
        return bad_here(parser, "a comma or the end of the line is expected after the closing quote");
    return STATUS_OK;
}

static enum status parse_plain(struct csv_parser *parser)
{
    while (!at_line_end(parser) && *parser->at != ',') {
        if (*parser->at == '"')
            return bad_here(parser, "a quote inside a field that does not begin with one");
        if (*parser->at == '\r')
            return bad_here(parser, "a carriage return that does not end a line");
        *parser->out++ = *parser->at++;
    }
    return STATUS_OK;
}

/* One record; its fields are appended to list and the line end is consumed. */
static enum status parse_record(struct csv_parser *parser, struct text_list *list)
{
    for (;;) {
        char *field = parser->out;
        bool quoted = parser->at < parser->end && *parser->at == '"';
        if (quoted)
            parser->at++;
        enum status status = quoted ? parse_quoted(parser) : parse_plain(parser);
        if (status != STATUS_OK)
            return status;
        *parser->out++ = '\0';
        if (!text_list_append(list, field))
            return no_memory(parser);
        if (at_line_end(parser)) {
            next_line(parser);
            return STATUS_OK;
        }
        parser->at++; /* the comma */
    }
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Sorting a copy keeps a header of a million names from taking a million million comparisons. */
static enum status check_names(const struct csv_parser *parser, const struct csv_table *table, unsigned line)
{
    char **sorted = malloc(table->column_count * sizeof *sorted);
    if (!sorted)
        return no_memory(parser);
    enum status status = STATUS_OK;
    memcpy(sorted, table->names, table->column_count * sizeof *sorted);
    qsort(sorted, table->column_count, sizeof *sorted, compare_texts);
    if (sorted[0][0] == '\0')
        status =
            error_set_at(parser->error, STATUS_BAD_DATA, parser->name, line, 0, "a column of the header has no name");
    for (size_t i = 1; i < table->column_count && status == STATUS_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = error_set_at(parser->error, STATUS_BAD_DATA, parser->name, line, 0,
                                  "the header names column '%.100s' twice", sorted[i]);
    free(sorted);
    return status;
}

/* A header without a comma but with semicolons or tabs is that of a table with other separators. */
static enum status check_separator(const struct csv_parser *parser, const struct csv_table *table, unsigned line)
{
    const char *other = table->column_count == 1 ? strpbrk(table->names[0], ";\t") : NULL;
    return other == NULL ? STATUS_OK
                         : error_set_at(parser->error, STATUS_BAD_DATA, parser->name, line, 0,
                                        "the columns are separated by %s; commas are expected, and points in numbers",
                                        *other == ';' ? "semicolons" : "tabs");
}

static enum status parse_header(struct csv_parser *parser, struct csv_table *table)
{
    skip_empty_lines(parser, true);
    if (parser->at == parser->end)
        return error_set_at(parser->error, STATUS_BAD_DATA, parser->name, parser->line, 0,
                            "a header line with column names is expected, the file has none");
    unsigned line = parser->line;
    struct text_list names = {0};
    enum status status = parse_record(parser, &names);
    table->names = names.items;
    table->column_count = names.count;
    status = status == STATUS_OK ? check_separator(parser, table, line) : status;
    return status == STATUS_OK ? check_names(parser, table, line) : status;
}

static bool append_line(struct csv_table *table, size_t *capacity, unsigned line)
{
    if (table->row_count == *capacity) {
        size_t wanted = *capacity ? *capacity * 2 : 64;
        unsigned *grown = realloc(table->lines, wanted * sizeof *grown);
        if (!grown)
            return false;
        table->lines = grown;
        *capacity = wanted;
    }
    table->lines[table->row_count++] = line;
    return true;
}

static enum status parse_rows(struct csv_parser *parser, struct csv_table *table)
{
    struct text_list cells = {0};
    size_t line_capacity = 0;
    enum status status = STATUS_OK;
    for (skip_empty_lines(parser, false); parser->at < parser->end && status == STATUS_OK;
         skip_empty_lines(parser, false)) {
        unsigned line = parser->line;
        size_t before = cells.count;
        status = parse_record(parser, &cells);
        if (status == STATUS_OK && cells.count - before != table->column_count)
            status =
                error_set_at(parser->error, STATUS_BAD_DATA, parser->name, line, 0,
                             "%zu fields where the header has %zu columns", cells.count - before, table->column_count);
        if (status == STATUS_OK && !append_line(table, &line_capacity, line))
            status = no_memory(parser);
    }
    table->cells = cells.items;
    return status;
}

/* The table must be text: a NUL or a byte that is no UTF-8 means a binary file or a foreign encoding. */
static enum status check_text(const char *text, size_t length, const char *name, struct error *error)
{
    size_t bad_offset;
    if (utf8_check(text, length, &bad_offset) == STATUS_OK)
        return STATUS_OK;
    unsigned line = 1;
    size_t line_start = 0;
    for (size_t i = 0; i < bad_offset; i++)
        if (text[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    return error_set_at(error, STATUS_BAD_DATA, name, line, (unsigned)(bad_offset - line_start) + 1,
                        "%s; a CSV text file is expected", text[bad_offset] ? "a byte that is no UTF-8" : "a NUL byte");
}

enum status csv_parse(const char *text, size_t length, const char *name, struct csv_table *table, struct error *error)
{
    *table = (struct csv_table){0};
    enum status status = check_text(text, length, name, error);
    if (status != STATUS_OK)
        return status;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        length -= 3;
    }
    /* Every field's terminator replaces the comma or line end behind it; the last one may have neither. */
    table->storage = malloc(length + 1);
    struct csv_parser parser = {text, text + length, table->storage, 1, text, name, error};
    snprintf(table->file, sizeof table->file, "%s", name);
    status = table->storage ? parse_header(&parser, table) : no_memory(&parser);
    if (status == STATUS_OK)
        status = parse_rows(&parser, table);
    if (status != STATUS_OK)
        csv_table_release(table);
    return status;
}

enum status csv_read(const char *path, size_t limit_bytes, struct csv_table *table, struct error *error)
{
    char *text = NULL;
    size_t length = 0;
    *table = (struct csv_table){0};
    enum status status = file_read_text(path, limit_bytes, &text, &length, error);
    if (status == STATUS_OK)
        status = csv_parse(text, length, path, table, error);
    free(text);
    return status;
}

void csv_table_release(struct csv_table *table)
{
    free(table->names);
    free(table->cells);
    free(table->lines);
    free(table->storage);
    *table = (struct csv_table){0};
}

long csv_column(const struct csv_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->names[i], name) == 0)
            return (long)i;
    return -1;
}

const char *csv_cell(const struct csv_table *table, size_t row, size_t column)
{
    if (row >= table->row_count || column >= table->column_count)
        BUG("cell %zu, %zu of a table with %zu rows and %zu columns", row, column, table->row_count,
            table->column_count);
    return table->cells[row * table->column_count + column];
}

enum status csv_number(const struct csv_table *table, size_t row, size_t column, double *value, struct error *error)
{
    const char *cell = csv_cell(table, row, column);
    if (number_parse(cell, value) == STATUS_OK)
        return STATUS_OK;
    if (cell[0] == '\0')
        return error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                            "column '%.100s' is empty, a number is expected", table->names[column]);
    return error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                        "column '%.100s' holds '%.100s', a finite decimal number is expected", table->names[column],
                        cell);
}

/* A leading '#' is quoted too: at the start of a header it would read as a comment. */
static bool must_be_quoted(const char *text)
{
    size_t length = strlen(text);
    if (length == 0)
        return false;
    return text[0] == ' ' || text[length - 1] == ' ' || text[0] == '#' || text[strcspn(text, ",\"\r\n")] != '\0';
}

void csv_write_field(FILE *stream, const char *text)
{
    if (!must_be_quoted(text)) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}
