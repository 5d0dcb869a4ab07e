/* SPDX-License-Identifier: GPL-3.0-or-later
 * The first bytes of a file, unpacked, and the keys of the JSON that they begin. Used by evidence_kind. */
#ifndef OCCAM_EVIDENCE_CLAIMS_EVIDENCE_HEAD_H
#define OCCAM_EVIDENCE_CLAIMS_EVIDENCE_HEAD_H

#include "evidence/claims/evidence_kind.h"

/* Reads up to `capacity` bytes into buffer (capacity + 1 bytes) and fills *head, which borrows buffer and path. Only
 * regular files: a pipe would be emptied by looking at it. */
MUST_CHECK enum status evidence_head_read(const char *path, char *buffer, size_t capacity, struct evidence_head *head,
                                          struct error *error);
/* Fills is_json and the keys from head->bytes: tolerates comments of Python's JSON (NaN, Infinity) and a cut end. */
void evidence_head_scan(struct evidence_head *head);
bool evidence_has_key(const struct evidence_head *head, int depth, const char *text);
/* All keys of that depth are decimal numbers, and there is one. */
bool evidence_keys_are_numbers(const struct evidence_head *head, int depth);
/* The next line of *text (borrowed, without its end) or false; *text moves on. */
bool evidence_next_line(const char **text, const char *end, const char **line, size_t *length);

#endif
