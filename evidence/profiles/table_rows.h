/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rows of a CSV file as profilers print it, one at a time: text of other programs before the table, rows of different
 * lengths, gzip or plain, files larger than memory. base/csv.h is for tables of ours, which are whole and regular. */
#ifndef OCCAM_EVIDENCE_PROFILES_TABLE_ROWS_H
#define OCCAM_EVIDENCE_PROFILES_TABLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    TABLE_ROW_BYTES_MAX = 8 << 20 /* one row or line; longer ones are refused with the line */
};

struct table_rows;

/* fields: texts without their quotes, spaces around them taken off; valid until the next call. */
struct table_row {
    size_t count;
    const char *const *fields;
    unsigned line;      /* where it begins, from 1 */
    const char *damage; /* "" if the row is whole, else why its fields are not to be trusted; one clause */
};

/* Statuses of byte_stream_open. Free with table_rows_free. */
MUST_CHECK enum status table_rows_open(const char *path, struct table_rows **rows, struct error *error);
/* The next line as it stands, without LF or CRLF, whatever quotes it holds; *length bytes at *text, NUL-terminated,
 * which the caller may overwrite. *text = NULL at the end. */
MUST_CHECK enum status table_rows_line(struct table_rows *rows, char **text, size_t *length, unsigned *line,
                                       struct error *error);
/* The next row; quoted fields may hold commas and line ends. row->count = 0 at the end; empty lines are passed over. */
MUST_CHECK enum status table_rows_next(struct table_rows *rows, struct table_row *row, struct error *error);
/* Takes the line that table_rows_line gave last apart as a row. */
MUST_CHECK enum status table_rows_split_line(struct table_rows *rows, struct table_row *row, struct error *error);
/* "" or what is wrong with the file as a whole (gzip data that ends early). */
const char *table_rows_damage(const struct table_rows *rows);
/* NULL is fine. */
void table_rows_free(struct table_rows *rows);

#endif
