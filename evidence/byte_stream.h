/* SPDX-License-Identifier: GPL-3.0-or-later
 * Bytes of a file, plain or gzip, block by block. What is compressed is told by its first two bytes, not by its name.
 * Used by the readers of profilers' and tuners' files. */
#ifndef OCCAM_EVIDENCE_BYTE_STREAM_H
#define OCCAM_EVIDENCE_BYTE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct byte_stream;

/* STATUS_MISSING: cannot be opened; STATUS_BAD_DATA: a directory. Free with byte_stream_free. */
MUST_CHECK enum status byte_stream_open(const char *path, struct byte_stream **stream, struct error *error);
/* The same over bytes in memory, which are borrowed until byte_stream_free; name stands for the path. */
MUST_CHECK enum status byte_stream_open_memory(const void *bytes, size_t length, const char *name,
                                               struct byte_stream **stream, struct error *error);
/* Fills buffer[0..capacity) as far as there are bytes; *length < capacity only at the end. Several gzip members follow
 * each other as one text. STATUS_IO: reading failed. gzip data that is cut off or damaged is no error: the bytes before
 * it are delivered, then the stream ends, and byte_stream_damage says so. */
MUST_CHECK enum status byte_stream_read(struct byte_stream *stream, void *buffer, size_t capacity, size_t *length,
                                        struct error *error);
/* A thread of its own expands gzip data ahead of the reader, so that both go on at once. No effect on plain data, and
 * where no thread can be had. Before the first byte_stream_read. */
void byte_stream_read_ahead(struct byte_stream *stream);
bool byte_stream_is_gzip(const struct byte_stream *stream);
/* "" as long as nothing is wrong, otherwise one clause: "the gzip data ends early". To
 * be asked at the end of the stream. */
const char *byte_stream_damage(const struct byte_stream *stream);
/* NULL is fine. */
void byte_stream_free(struct byte_stream *stream);

/* All bytes of a file into *text (caller frees), NUL-terminated. limit_bytes bounds them as expanded, so that a small
 * file cannot grow without bound: STATUS_LIMIT beyond. Damaged gzip data is STATUS_BAD_DATA. */
MUST_CHECK enum status byte_stream_read_all(const char *path, size_t limit_bytes, char **text, size_t *length,
                                            struct error *error);

#endif
