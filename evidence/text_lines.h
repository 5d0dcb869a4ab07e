/* SPDX-License-Identifier: GPL-3.0-or-later
 * Line by line through a text of a compiler, and the few things its readers take from a line. Bytes are borrowed. */
#ifndef OCCAM_EVIDENCE_TEXT_LINES_H
#define OCCAM_EVIDENCE_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stretch of a text, not NUL-terminated. */
struct text_span {
    const char *at, *end;
};

struct text_lines {
    const char *at, *end;
    unsigned line; /* of the last line taken, from 1 */
};

/* The next line without its LF or CRLF; false at the end. */
bool text_lines_next(struct text_lines *lines, struct text_span *span);

void span_skip_spaces(struct text_span *span);
/* Steps over `literal` (a space in it stands for any number of spaces, also none before punctuation). */
bool span_take(struct text_span *span, const char *literal);
/* Steps behind the first occurrence of `literal` in the span; exact bytes. */
bool span_find(struct text_span *span, const char *literal);
/* A decimal number without sign, below 2^63. */
bool span_take_number(struct text_span *span, uint64_t *value);
/* The text between quotes ('...'); the span goes behind it. */
bool span_take_quoted(struct text_span *span, struct text_span *text);

#endif
