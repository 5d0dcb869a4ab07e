/* SPDX-License-Identifier: GPL-3.0-or-later
 * JSON output (jansson behind a small interface). Key order is the order of the calls; NaN and infinity become null;
 * numbers read back exactly. */
#ifndef OCCAM_EVIDENCE_JSON_WRITER_H
#define OCCAM_EVIDENCE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

struct json_writer; /* opaque: a document under construction, with a current position */

MUST_CHECK enum status json_writer_create(struct json_writer **writer); /* root is an object */
void json_writer_free(struct json_writer *writer);
/* key is NULL inside arrays. Out of memory is remembered and reported by json_writer_print. */
void json_writer_begin_object(struct json_writer *writer, const char *key);
void json_writer_begin_array(struct json_writer *writer, const char *key);
void json_writer_end(struct json_writer *writer);
void json_writer_string(struct json_writer *writer, const char *key, const char *value); /* NULL -> null */
void json_writer_number(struct json_writer *writer, const char *key, double value);
void json_writer_integer(struct json_writer *writer, const char *key, int64_t value);
void json_writer_bool(struct json_writer *writer, const char *key, bool value);
void json_writer_null(struct json_writer *writer, const char *key);
/* Indented by 2, newline at the end. Unclosed levels are closed. */
MUST_CHECK enum status json_writer_print(struct json_writer *writer, FILE *stream, struct error *error);

#endif
