/* SPDX-License-Identifier: GPL-3.0-or-later
 * An answer recorded once and printed as JSON, as CSV, or (its rows) as an aligned table. Keys carry their unit and are
 * a promise (docs/DATA.md). Used by every command that prints figures. */
#ifndef OCCAM_CLI_REPORT_H
#define OCCAM_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "cli/command.h"

struct report_event;

/* Zero-initialise; release with report_release. Running out of memory is remembered and told by the print functions. */
struct report {
    size_t count, capacity, depth;
    struct report_event *events;
    bool failed;
};

void report_release(struct report *report);
/* key is NULL inside arrays. Texts are copied. NaN and infinity are null in JSON and empty in CSV. */
void report_begin_object(struct report *report, const char *key);
void report_begin_array(struct report *report, const char *key);
/* An array of objects: rows of their own, never part of another CSV row, not even when there are none. */
void report_begin_rows(struct report *report, const char *key);
void report_end(struct report *report);
void report_string(struct report *report, const char *key, const char *value); /* NULL -> null */
void report_number(struct report *report, const char *key, double value);
void report_integer(struct report *report, const char *key, int64_t value);
void report_bool(struct report *report, const char *key, bool value);

/* JSON: the whole document. CSV: one row per object of the top-level array rows_key, or with NULL the document itself
 * as one row. Nested objects become columns "outer.inner", arrays of plain values one field joined by ';', arrays of
 * objects are left out. The columns are those of the first row. */
MUST_CHECK enum status report_print(const struct report *report, enum output_format format, const char *rows_key,
                                    FILE *stream, struct error *error);

struct report_column {
    const char *key;     /* as recorded; "outer.inner" for nested objects */
    const char *heading; /* as printed */
    int digits;          /* significant digits of numbers */
};
/* The objects of the top-level array rows_key as an aligned table: numbers to the right, texts to the left, "-" for
 * null. */
MUST_CHECK enum status report_print_table(const struct report *report, const char *rows_key,
                                          const struct report_column *columns, size_t column_count, FILE *stream,
                                          struct error *error);

#endif
