/* SPDX-License-Identifier: GPL-3.0-or-later
 * CSV reader (RFC 4180, '#' comment lines before the header allowed, LF or CRLF, UTF-8 BOM skipped) that knows the
 * line of every field; and a writer that quotes what must be quoted. */
#ifndef OCCAM_BASE_CSV_H
#define OCCAM_BASE_CSV_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

struct csv_table {
    size_t column_count, row_count;
    char **names;    /* column_count names, from the header line */
    char **cells;    /* row_count * column_count texts, row-major; "" for an empty field */
    unsigned *lines; /* row_count line numbers in the file, from 1 */
    char *storage;   /* one block that the texts point into */
    char file[256];  /* for messages */
};

/* Parse text[0..length) (borrowed only during the call). name is used in messages. Rows whose field count differs from
 * the header's, duplicate or empty column names, NUL bytes, an unterminated quote: STATUS_BAD_DATA with the line.
 * A table without rows is fine. Release with csv_table_release. */
MUST_CHECK enum status csv_parse(const char *text, size_t length, const char *name, struct csv_table *table,
                                 struct error *error);
/* file_read_text + csv_parse; limit_bytes as there. */
MUST_CHECK enum status csv_read(const char *path, size_t limit_bytes, struct csv_table *table, struct error *error);
void csv_table_release(struct csv_table *table);

/* Column index by exact name, or -1. */
long csv_column(const struct csv_table *table, const char *name);
/* Borrowed until the table is released. */
const char *csv_cell(const struct csv_table *table, size_t row, size_t column);
/* A cell as a finite number; an empty or malformed cell is STATUS_BAD_DATA naming file, line and column name. */
MUST_CHECK enum status csv_number(const struct csv_table *table, size_t row, size_t column, double *value,
                                  struct error *error);
/* Writes one field, quoted if it holds a comma, quote, CR, LF, or leading/trailing space. */
void csv_write_field(FILE *stream, const char *text);

#endif
