/* SPDX-License-Identifier: GPL-3.0-or-later
 * Roles of values; a walk over an event that fills them and remembers the layout; events that have a known layout. */
#include "evidence/profiles/trace_scan.h"

#include <math.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/profiles/trace_fields.h"

enum {
    DIGITS_MAX = 18, /* of a whole number that is read here: below 2^63 */
    NUMBER_BYTES_MAX = 40
};

enum role {
    ROLE_NONE,
    ROLE_NAME,
    ROLE_START,
    ROLE_DURATION,
    ROLE_PROCESS,
    ROLE_DEVICE,
    ROLE_REGISTERS,
    ROLE_SMEM,
    ROLE_GRID,
    ROLE_BLOCK,
    ROLE_OPERATOR,
    ROLE_GRAPH_NODE
};

struct event_scan {
    struct trace_launch *launch;
    int64_t process;
    /* The layout that is learnt; NULL once it is known not to fit. */
    struct trace_layout *layout;
    const char *literal; /* start of the next one */
};

/* --- values --------------------------------------------------------------------------------------------------------
 */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A whole number without sign of at most DIGITS_MAX digits. */
static bool scan_whole(struct text_span *span, int64_t *value)
{
    const char *at = span->at, *limit = span->end - at > DIGITS_MAX ? at + DIGITS_MAX : span->end;
    int64_t number = 0;
    while (at < limit && is_digit(*at)) {
        number = number * 10 + (*at++ - '0');
    }
    bool is_good = at > span->at && (at == span->end || !is_digit(*at)) && (*span->at != '0' || at == span->at + 1);
    span->at = at;
    *value = number;
    return is_good;
}

static bool scan_count(const struct trace_field *field, int64_t most, int64_t *value)
{
    struct text_span span = field->value;
    return field->kind == TRACE_FIELD_PLAIN && *value == TRACE_UNKNOWN && scan_whole(&span, value) &&
           span.at == span.end && *value <= most;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at)) {
        at++;
    }
    return at;
}

/* A number of JSON without sign in general, as strtod reads it. */
static bool scan_any_number(const struct text_span *span, double *value)
{
    char copy[NUMBER_BYTES_MAX + 1];
    size_t length = (size_t)(span->end - span->at);
    const char *at = skip_digits(span->at, span->end);
    if (length > NUMBER_BYTES_MAX || at == span->at || (*span->at == '0' && at > span->at + 1)) {
        return false;
    }
    if (at < span->end && *at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction, span->end);
        if (at == fraction) {
            return false;
        }
    }
    if (at < span->end && (*at == 'e' || *at == 'E')) {
        at += at + 1 < span->end && (at[1] == '+' || at[1] == '-') ? 2 : 1;
        const char *exponent = at;
        at = skip_digits(exponent, span->end);
        if (at == exponent) {
            return false;
        }
    }
    memcpy(copy, span->at, length);
    copy[length] = '\0';
    return at == span->end && number_parse(copy, value) == STATUS_OK;
}

/* Microseconds. Most are digits with a point among them, and then the quotient of two exact numbers, rounded once, as
 * strtod does it. */
static bool scan_microseconds(const struct trace_field *field, double *value)
{
    static const double powers[] = {1,   1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,
                                    1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};
    const char *at = field->value.at, *end = field->value.end;
    if (field->kind != TRACE_FIELD_PLAIN || !isnan(*value)) {
        return false;
    }
    int64_t digits = 0;
    const char *point = NULL;
    bool is_simple = end - at <= DIGITS_MAX && is_digit(*at) && (*at != '0' || end - at == 1 || at[1] == '.');
    for (; at < end && is_simple; at++) {
        if (is_digit(*at)) {
            digits = digits * 10 + (*at - '0');
        } else {
            is_simple = *at == '.' && point == NULL && at + 1 < end;
            point = at;
        }
    }
    if (!is_simple || digits > INT64_C(1) << 53) {
        return scan_any_number(&field->value, value);
    }
    *value = (double)digits / powers[point != NULL ? end - point - 1 : 0];
    return true;
}

/* [x, y, z] */
static bool scan_sides(const struct trace_field *field, uint32_t sides[3])
{
    struct text_span span = field->value;
    if (field->kind != TRACE_FIELD_NESTED || *span.at != '[' || sides[0] != 0) {
        return false;
    }
    span.at++;
    for (int i = 0; i < 3; i++) {
        int64_t side = 0;
        span_skip_spaces(&span);
        if (!scan_whole(&span, &side) || side < 1 || side > UINT32_MAX || span.at == span.end ||
            *span.at != (i < 2 ? ',' : ']')) {
            return false;
        }
        span.at++;
        sides[i] = (uint32_t)side;
    }
    return span.at == span.end;
}

static bool take_name(const struct trace_field *field, struct trace_launch *launch)
{
    bool is_good = launch->name == NULL && field->kind == TRACE_FIELD_STRING && !field->has_escape;
    launch->name = field->value.at;
    launch->name_length = (size_t)(field->value.end - field->value.at);
    return is_good && launch->name_length > 0;
}

static bool take_value(struct event_scan *self, enum role role, const struct trace_field *field)
{
    struct trace_launch *launch = self->launch;
    struct trace_shape *shape = &launch->shape;
    switch (role) {
    case ROLE_NONE:
        return true;
    case ROLE_NAME:
        return take_name(field, launch);
    case ROLE_START:
        return scan_microseconds(field, &launch->start_us);
    case ROLE_DURATION:
        return scan_microseconds(field, &launch->duration_us);
    case ROLE_PROCESS:
        return scan_count(field, INT32_MAX, &self->process);
    case ROLE_DEVICE:
        return scan_count(field, INT32_MAX, &shape->device);
    case ROLE_REGISTERS:
        return scan_count(field, TRACE_REGISTERS_MAX, &shape->registers);
    case ROLE_SMEM:
        return scan_count(field, INT32_MAX, &shape->smem_bytes);
    case ROLE_GRID:
        return scan_sides(field, shape->grid);
    case ROLE_BLOCK:
        return scan_sides(field, shape->block);
    case ROLE_OPERATOR:
        return scan_count(field, INT64_MAX, &launch->operator_id);
    case ROLE_GRAPH_NODE:
        return scan_count(field, INT64_MAX, &launch->graph_node);
    }
    return false;
}

static bool finish(const struct event_scan *self)
{
    struct trace_launch *launch = self->launch;
    launch->shape.device = launch->shape.device == TRACE_UNKNOWN ? self->process : launch->shape.device;
    return launch->name != NULL && !isnan(launch->duration_us) && !isnan(launch->start_us);
}

/* --- taking an event apart -----------------------------------------------------------------------------------------
 */

static enum role role_of(const struct trace_field *field, bool is_argument)
{
    if (!is_argument) {
        return TRACE_FIELD_IS(field, "name")  ? ROLE_NAME
               : TRACE_FIELD_IS(field, "ts")  ? ROLE_START
               : TRACE_FIELD_IS(field, "dur") ? ROLE_DURATION
               : TRACE_FIELD_IS(field, "pid") ? ROLE_PROCESS
                                              : ROLE_NONE;
    }
    return TRACE_FIELD_IS(field, "device")                 ? ROLE_DEVICE
           : TRACE_FIELD_IS(field, "grid")                 ? ROLE_GRID
           : TRACE_FIELD_IS(field, "block")                ? ROLE_BLOCK
           : TRACE_FIELD_IS(field, "shared memory")        ? ROLE_SMEM
           : TRACE_FIELD_IS(field, "registers per thread") ? ROLE_REGISTERS
           : TRACE_FIELD_IS(field, "External id")          ? ROLE_OPERATOR
           : TRACE_FIELD_IS(field, "External Id")          ? ROLE_OPERATOR
           : TRACE_FIELD_IS(field, "external id")          ? ROLE_OPERATOR
           : TRACE_FIELD_IS(field, "graph node id")        ? ROLE_GRAPH_NODE
                                                           : ROLE_NONE;
}

/* What stands before `end` and behind the last value, for the layout. */
static void learn_literal(struct event_scan *self, const char *end)
{
    struct trace_layout *layout = self->layout;
    size_t length = (size_t)(end - self->literal);
    if (layout == NULL || layout->value_count == TRACE_LAYOUT_VALUES_MAX ||
        length > TRACE_LAYOUT_BYTES_MAX - layout->literal_bytes) {
        self->layout = NULL;
        return;
    }
    memcpy(layout->literals + layout->literal_bytes, self->literal, length);
    layout->literal_bytes += length;
    layout->literal_lengths[layout->value_count] = (uint16_t)length;
}

static void learn_value(struct event_scan *self, enum role role, const struct trace_field *field)
{
    learn_literal(self, field->value.at);
    self->literal = field->value.end;
    if (self->layout != NULL) {
        self->layout->roles[self->layout->value_count] = (uint8_t)role;
        self->layout->kinds[self->layout->value_count] = (uint8_t)field->kind;
        self->layout->value_count++;
    }
}

/* The members of one object, rest->at behind its opening brace; it goes to the closing one. */
static bool scan_members(struct event_scan *self, struct text_span *rest, bool is_argument)
{
    struct trace_field field;
    enum trace_fields_step step;
    bool has_arguments = false;
    while ((step = trace_fields_key(rest, &field)) == TRACE_FIELDS_FIELD) {
        if (!is_argument && TRACE_FIELD_IS(&field, "args")) {
            if (has_arguments || *rest->at != '{') {
                return false;
            }
            has_arguments = true;
            rest->at++;
            if (!scan_members(self, rest, true)) {
                return false;
            }
            rest->at++;
            continue;
        }
        enum role role = role_of(&field, is_argument);
        if (!trace_fields_value(rest, &field) || !take_value(self, role, &field)) {
            return false;
        }
        if (!is_argument && TRACE_FIELD_IS(&field, "cat")) {
            /* It stays part of the literal: a layout is one of kernels. Here come events, too, whose category is in
             * doubt. */
            if (!trace_field_is_kernel(&field)) {
                return false;
            }
        } else {
            learn_value(self, role, &field);
        }
    }
    return step == TRACE_FIELDS_END && (is_argument || has_arguments);
}

/* --- events of a known layout --------------------------------------------------------------------------------------
 */

static bool has_layout(struct event_scan *self, const struct trace_layout *layout, struct text_span rest)
{
    const char *literal = layout->literals;
    struct trace_field field = {.key = {NULL, NULL}};
    for (unsigned i = 0; i <= layout->value_count; i++) {
        size_t length = layout->literal_lengths[i];
        if ((size_t)(rest.end - rest.at) < length || memcmp(rest.at, literal, length) != 0) {
            return false;
        }
        rest.at += length;
        literal += length;
        if (i == layout->value_count) {
            break;
        }
        enum trace_field_kind kind = (enum trace_field_kind)layout->kinds[i];
        if (!trace_fields_value_of(&rest, kind, &field) || !take_value(self, (enum role)layout->roles[i], &field)) {
            return false;
        }
    }
    return rest.at == rest.end;
}

static void begin(struct event_scan *self, struct trace_launch *launch)
{
    *launch = trace_launch_unknown;
    *self = (struct event_scan){.launch = launch, .process = TRACE_UNKNOWN};
}

bool trace_scan_launch(struct trace_scan *scan, const char *text, size_t length, struct trace_launch *launch)
{
    struct event_scan event;
    struct text_span rest = {text, text + length};
    for (unsigned i = 0; i < TRACE_LAYOUTS; i++) {
        unsigned which = (scan->latest + i) % TRACE_LAYOUTS;
        begin(&event, launch);
        if (has_layout(&event, &scan->layouts[which], rest)) {
            scan->latest = which;
            return finish(&event);
        }
    }
    begin(&event, launch);
    struct trace_layout *layout = &scan->layouts[scan->next_replaced];
    layout->literal_bytes = 0;
    layout->value_count = 0;
    event.layout = layout;
    event.literal = text;
    rest.at++;
    bool is_good = scan_members(&event, &rest, false);
    learn_literal(&event, text + length);
    if (is_good && event.layout != NULL) {
        scan->latest = scan->next_replaced;
        scan->next_replaced = (scan->next_replaced + 1) % TRACE_LAYOUTS;
    } else {
        layout->value_count = 0; /* an event without a byte: fits none */
        layout->literal_lengths[0] = 0;
    }
    return is_good && finish(&event);
}
