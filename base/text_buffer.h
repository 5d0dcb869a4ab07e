/* SPDX-License-Identifier: GPL-3.0-or-later
 * A growing text buffer, and numbers to and from text the same way in every locale. */
#ifndef OCCAM_BASE_TEXT_BUFFER_H
#define OCCAM_BASE_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* text is NUL-terminated once anything was appended, else NULL. Zero-initialise; release with text_buffer_release.
 * Running out of memory sets failed and keeps what was there; check failed once at the end. */
struct text_buffer {
    char *text;
    size_t length, capacity;
    bool failed;
};

void text_buffer_append(struct text_buffer *buffer, const char *text);
void text_buffer_append_bytes(struct text_buffer *buffer, const char *bytes, size_t count);
void text_buffer_append_format(struct text_buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Length becomes 0; memory is kept. */
void text_buffer_clear(struct text_buffer *buffer);
void text_buffer_release(struct text_buffer *buffer);

/* The shortest decimal text that reads back as the same double ("0.1", "1e+30", "nan", "inf"), '.' in every locale.
 * out must hold 32 bytes. Returns out. */
const char *number_format(double value, char out[32]);
/* value with `digits` significant digits (1..17), '.' in every locale, no trailing zeros, plain notation between
 * 1e-4 and 1e15. out must hold 32 bytes. Returns out. */
const char *number_format_digits(double value, int digits, char out[32]);
/* A whole text as one finite decimal number ('.' in every locale; no hex, no nan, no inf, no surrounding space).
 * STATUS_BAD_DATA without touching *value otherwise, also when it overflows a double. */
MUST_CHECK enum status number_parse(const char *text, double *value);

/* Whole file into *text (caller frees), NUL-terminated, at most limit_bytes (STATUS_LIMIT beyond, without reading it
 * all). STATUS_MISSING with errno's reason when it cannot be opened, STATUS_BAD_DATA for a directory. */
MUST_CHECK enum status file_read_text(const char *path, size_t limit_bytes, char **text, size_t *length,
                                      struct error *error);
/* STATUS_OK if the bytes are valid UTF-8 without NUL; otherwise *bad_offset is the first offending byte. */
MUST_CHECK enum status utf8_check(const char *bytes, size_t length, size_t *bad_offset);
/* Takes a character that was cut at the end of the text away, as snprintf leaves it behind. */
void utf8_trim(char *text);
/* Edit distance (Damerau-Levenshtein, case-insensitive) for "did you mean" lists. */
unsigned text_distance(const char *left, const char *right);

#endif
