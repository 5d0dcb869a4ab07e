/* SPDX-License-Identifier: GPL-3.0-or-later
 * JSON taken piece by piece from a file that may be larger than memory, compressed or cut off, and that Python may have
 * written (Infinity, NaN). What a reader does not want it passes over without building it. Whole small files are better
 * read with evidence/json_tolerant.h. */
#ifndef OCCAM_EVIDENCE_PROFILES_JSON_PULL_H
#define OCCAM_EVIDENCE_PROFILES_JSON_PULL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    JSON_PULL_DEPTH_MAX = 128,
    JSON_PULL_TEXT_BYTES_MAX = 1 << 20 /* of one key, string or number */
};

enum json_piece {
    JSON_PIECE_OBJECT,     /* { */
    JSON_PIECE_OBJECT_END, /* } */
    JSON_PIECE_ARRAY,      /* [ */
    JSON_PIECE_ARRAY_END,  /* ] */
    JSON_PIECE_KEY,        /* text; a value follows */
    JSON_PIECE_STRING,     /* text */
    JSON_PIECE_NUMBER,     /* text as written, number */
    JSON_PIECE_WORD,       /* text: true, false, null */
    JSON_PIECE_END,        /* behind the outermost value; only white space follows */
    JSON_PIECE_CUT         /* the file ends inside of the outermost value; comes again and again */
};

struct json_pull;

/* The piece last taken; texts are NUL-terminated UTF-8 without NUL inside and valid until the next call. */
struct json_taken {
    enum json_piece piece;
    const char *text;
    size_t length;
    double number; /* of a number: NaN and infinities as written, +-infinity beyond a double; else NaN */
    unsigned line, column;
};

/* Statuses of byte_stream_open. Free with json_pull_free. */
MUST_CHECK enum status json_pull_open(const char *path, struct json_pull **pull, struct error *error);
/* STATUS_BAD_DATA with the place for what is no JSON, nests deeper than JSON_PULL_DEPTH_MAX or is no UTF-8;
 * STATUS_LIMIT for texts that are too long. */
MUST_CHECK enum status json_pull_next(struct json_pull *pull, struct json_taken *taken, struct error *error);
/* Passes over the rest of the value that begins with *taken (an object, an array, or a key and its value; nothing to
 * do for others). *taken is the last piece of it, or JSON_PIECE_CUT. Strings inside are not looked into. */
MUST_CHECK enum status json_pull_skip(struct json_pull *pull, struct json_taken *taken, struct error *error);
/* "" or what is wrong with the file as a whole (gzip data that ends early). */
const char *json_pull_damage(const struct json_pull *pull);
/* NULL is fine. */
void json_pull_free(struct json_pull *pull);

#endif
