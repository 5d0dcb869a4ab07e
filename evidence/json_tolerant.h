/* SPDX-License-Identifier: GPL-3.0-or-later
 * JSON as Python and profilers write it, into jansson. Used by all readers of foreign JSON.
 *
 * Taken although JSON has no such thing: a byte-order mark; Infinity, inf, NaN and nan, with or without a sign, and
 * numbers beyond a double (marked, see json_tolerant_number); integers beyond 64 bits (become reals).
 * Refused with line and column: anything else that is no JSON, invalid UTF-8, NUL bytes and \u0000, nesting deeper than
 * JSON_DEPTH_MAX, text behind the end, and, unless the caller takes the last of them, a key twice in one object. */
#ifndef OCCAM_EVIDENCE_JSON_TOLERANT_H
#define OCCAM_EVIDENCE_JSON_TOLERANT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    JSON_DEPTH_MAX = 128 /* arrays and objects within each other; what consumers may recurse into */
};

enum json_duplicates {
    JSON_DUPLICATES_REFUSED,
    JSON_DUPLICATES_LAST /* as Python reads them */
};

/* What was tolerated in a text. */
struct json_tolerated {
    uint64_t nonfinite_count, big_integer_count;
    bool has_duplicates, has_byte_order_mark;
};

/* text[0..length) into *root, an object or array (json_decref by the caller; NULL on error). name is the file in
 * errors; tolerated may be NULL. */
MUST_CHECK enum status json_tolerant_parse(const char *text, size_t length, const char *name,
                                           enum json_duplicates duplicates, json_t **root,
                                           struct json_tolerated *tolerated, struct error *error);
/* The same of a whole file, plain or gzip, of at most limit_bytes when expanded. */
MUST_CHECK enum status json_tolerant_read(const char *path, size_t limit_bytes, enum json_duplicates duplicates,
                                          json_t **root, struct json_tolerated *tolerated, struct error *error);

/* True for integers, reals and the marked values, which come out as infinities and NaN. jansson has no number for
 * those: in the tree they are strings that begin with an invisible character (U+2060) and read "Infinity", "-Infinity",
 * "NaN". json_is_number is false for them, so a reader that forgets them cannot take a failure for a time. */
bool json_tolerant_number(const json_t *value, double *number);
/* True for the marked values alone. */
bool json_tolerant_is_nonfinite(const json_t *value);

#endif
