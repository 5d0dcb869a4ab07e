/* SPDX-License-Identifier: GPL-3.0-or-later
 * Keys and values of one JSON object in place, without a tree: what kind of event it is, and the quick way to its
 * figures. Anything unusual is left to the parser. Used by trace_events.c and trace_launch.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_TRACE_FIELDS_H
#define OCCAM_EVIDENCE_PROFILES_TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "evidence/text_lines.h"

enum trace_field_kind {
    TRACE_FIELD_STRING, /* value without its quotes */
    TRACE_FIELD_NESTED, /* object or array with its brackets */
    TRACE_FIELD_PLAIN   /* number or word */
};

struct trace_field {
    struct text_span key, value;
    enum trace_field_kind kind;
    bool has_escape; /* in a string */
};

enum trace_fields_step {
    TRACE_FIELDS_FIELD,
    TRACE_FIELDS_END, /* the closing brace */
    TRACE_FIELDS_ODD  /* no JSON, or the text ends, or an escape in a key */
};

/* The next key; rest->at goes to its value. Starts behind the opening brace, or behind a value. */
enum trace_fields_step trace_fields_key(struct text_span *rest, struct trace_field *field);
/* The value at rest->at, which goes behind it; false where the text ends. */
bool trace_fields_value(struct text_span *rest, struct trace_field *field);
/* The same of a value of this kind; of a string from behind its opening quote to its closing one. */
bool trace_fields_value_of(struct text_span *rest, enum trace_field_kind kind, struct trace_field *field);
/* The length is known where the literal is. */
#define TRACE_FIELD_IS(field, literal)                                                                                 \
    ((size_t)((field)->key.end - (field)->key.at) == sizeof(literal) - 1 &&                                            \
     memcmp((field)->key.at, literal, sizeof(literal) - 1) == 0)

enum trace_category {
    TRACE_CATEGORY_OTHER,
    TRACE_CATEGORY_KERNEL,
    TRACE_CATEGORY_OPERATOR, /* cpu_op */
    TRACE_CATEGORY_UNCLEAR   /* no category in what there is, or it has to be parsed */
};

/* Whether the value of "cat" is that of a kernel; one with escapes has to be parsed and is none here. */
bool trace_field_is_kernel(const struct trace_field *field);

/* Of an event's text, possibly only its beginning. The first "cat" counts. */
enum trace_category trace_event_category(const char *text, size_t length);

#endif
