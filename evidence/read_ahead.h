/* SPDX-License-Identifier: GPL-3.0-or-later
 * A thread that fills blocks while another one uses those before. Used by byte_stream.c, so that a compressed file is
 * expanded and read at the same time. */
#ifndef OCCAM_EVIDENCE_READ_AHEAD_H
#define OCCAM_EVIDENCE_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct read_ahead;

/* Fills buffer[0..capacity); *length < capacity only at the end, after which it is not called again. */
typedef enum status (*read_ahead_source)(void *context, void *buffer, size_t capacity, size_t *length,
                                         struct error *error);

/* Starts the thread, which alone uses context until read_ahead_free. NULL where there is no memory or no thread: then
 * the caller reads by itself. */
struct read_ahead *read_ahead_start(read_ahead_source source, void *context);
/* As the source does it. */
MUST_CHECK enum status read_ahead_take(struct read_ahead *ahead, void *buffer, size_t capacity, size_t *length,
                                       struct error *error);
/* Has the thread come to the end? Then it changes nothing any more. */
bool read_ahead_is_done(struct read_ahead *ahead);
/* Stops the thread, also in the middle. NULL is fine. */
void read_ahead_free(struct read_ahead *ahead);

#endif
