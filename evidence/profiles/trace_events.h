/* SPDX-License-Identifier: GPL-3.0-or-later
 * Splits a profiler trace into its events without building a tree: 64 bytes at a time, what matters are quotes, braces
 * and the first keys of each event. Only events of kernels, and of operators with the shapes of their
 * inputs, come out. Used by trace_reader.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_TRACE_EVENTS_H
#define OCCAM_EVIDENCE_PROFILES_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/byte_stream.h"
#include "evidence/profiles/trace_fields.h"

enum {
    TRACE_EVENT_BYTES_MAX = 1 << 20, /* a kernel's event has some hundred, with long C++ names some thousand */
    TRACE_READ_BYTES = 128 << 10     /* read at a time: stays in the cache of the core */
};

enum trace_item_kind {
    TRACE_ITEM_KERNEL,   /* text: an event whose category is a kernel, or cannot be told without parsing it */
    TRACE_ITEM_OPERATOR, /* text: an event of an operator that has the shapes of its inputs */
    TRACE_ITEM_DEVICES,  /* text: the value of deviceProperties */
    TRACE_ITEM_BAD,      /* reason: an element of the array that was passed over */
    TRACE_ITEM_END
};

struct trace_item {
    enum trace_item_kind kind;
    const char *text; /* borrowed until the next call, not NUL-terminated */
    size_t length;
    uint64_t offset;    /* of its first byte in the text (as expanded) */
    uint64_t ordinal;   /* event in the file, from 1 */
    const char *reason; /* static */
};

enum trace_phase {
    TRACE_PHASE_START,
    TRACE_PHASE_KEYS,   /* in the outermost object */
    TRACE_PHASE_EVENTS, /* in the array of events */
    TRACE_PHASE_END
};

/* Zero-initialise, trace_events_init, trace_events_next until TRACE_ITEM_END, trace_events_release. */
struct trace_events {
    /* Of interest when the end was reached. */
    bool has_events;      /* an array of events was found */
    bool is_cut;          /* the text ends before its last bracket */
    bool is_cut_in_event; /* and within an event */
    bool has_rest;        /* something follows the last bracket */
    uint64_t event_count; /* complete events of any category */
    uint64_t offset;      /* of the end; of the event that was cut */

    struct byte_stream *stream;
    const char *name;
    char *bytes; /* [0, end) of the text from `base` on; a block of spaces follows */
    size_t end, capacity;
    size_t cursor;                        /* next byte that was not looked at */
    size_t keep;                          /* start of what must stay; SIZE_MAX: nothing */
    uint64_t base;                        /* offset of bytes[0] */
    bool is_at_end;                       /* the stream has no more */
    size_t block;                         /* the 64 bytes whose masks these are; SIZE_MAX: none */
    uint64_t braces;                      /* of that block, not in strings, not yet passed */
    bool is_in_string, is_escaped;        /* behind that block */
    enum trace_category dropped_category; /* of the last event that was too large */
    bool is_bare_array;
    enum trace_phase phase;
    enum status status; /* of reading */
    struct error *error;
};

/* stream and name are borrowed. */
MUST_CHECK enum status trace_events_init(struct trace_events *events, struct byte_stream *stream, const char *name,
                                         struct error *error);
/* STATUS_BAD_DATA: neither an object with traceEvents nor an array. */
MUST_CHECK enum status trace_events_next(struct trace_events *events, struct trace_item *item, struct error *error);
void trace_events_release(struct trace_events *events);

#endif
