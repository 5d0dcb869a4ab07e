/* SPDX-License-Identifier: GPL-3.0-or-later
 * Walk over the members of one object. */
#include "evidence/profiles/trace_fields.h"

#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && is_space(*at)) {
        at++;
    }
    return at;
}

/* The closing quote of the string that starts at `at`; NULL if there is none. */
static const char *string_end(const char *at, const char *end, bool *has_escape)
{
    const char *stop = at < end ? memchr(at, '"', (size_t)(end - at)) : NULL;
    *has_escape = stop != NULL && memchr(at, '\\', (size_t)(stop - at)) != NULL;
    if (!*has_escape) {
        return stop;
    }
    while (at < end && *at != '"') {
        at += *at == '\\' ? 2 : 1;
    }
    return at < end ? at : NULL;
}

/* Behind the bracket that closes the one at `at`; NULL if there is none. */
static const char *nested_end(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        char c = *at++;
        if (c == '"') {
            bool has_escape;
            at = string_end(at, end, &has_escape);
            if (at == NULL) {
                return NULL;
            }
            at++;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
            if (depth == 0) {
                return at;
            }
        }
    }
    return NULL;
}

/* Takes the value at `at`; the end of it, or NULL. */
static const char *take_value(const char *at, const char *end, struct trace_field *field)
{
    const char *stop = at;
    field->has_escape = false;
    if (*at == '"') {
        field->kind = TRACE_FIELD_STRING;
        stop = string_end(at + 1, end, &field->has_escape);
        field->value = (struct text_span){at + 1, stop};
        return stop != NULL ? stop + 1 : NULL;
    }
    if (*at == '{' || *at == '[') {
        field->kind = TRACE_FIELD_NESTED;
        stop = nested_end(at, end);
    } else {
        field->kind = TRACE_FIELD_PLAIN;
        while (stop < end && *stop != ',' && *stop != '}' && !is_space(*stop)) {
            stop++;
        }
        stop = stop > at && stop < end ? stop : NULL;
    }
    field->value = (struct text_span){at, stop};
    return stop;
}

enum trace_fields_step trace_fields_next(struct text_span *rest, struct trace_field *field)
{
    const char *end = rest->end, *at = skip_spaces(rest->at, end);
    if (at < end && *at == '}') {
        return TRACE_FIELDS_END;
    }
    if (at == end || *at != '"') {
        return TRACE_FIELDS_ODD;
    }
    bool has_escape;
    const char *stop = string_end(at + 1, end, &has_escape);
    if (stop == NULL || has_escape) {
        return TRACE_FIELDS_ODD;
    }
    field->key = (struct text_span){at + 1, stop};
    at = skip_spaces(stop + 1, end);
    if (at == end || *at != ':') {
        return TRACE_FIELDS_ODD;
    }
    at = skip_spaces(at + 1, end);
    at = at < end ? take_value(at, end, field) : NULL;
    if (at == NULL) {
        return TRACE_FIELDS_ODD;
    }
    at = skip_spaces(at, end);
    if (at == end || (*at != ',' && *at != '}')) {
        return TRACE_FIELDS_ODD;
    }
    rest->at = at + (*at == ',' ? 1 : 0);
    return TRACE_FIELDS_FIELD;
}

static bool span_is(const struct text_span *span, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(span->end - span->at) == length && memcmp(span->at, text, length) == 0;
}

bool trace_field_is(const struct trace_field *field, const char *key)
{
    return span_is(&field->key, key);
}

enum trace_category trace_event_category(const char *text, size_t length)
{
    struct text_span rest = {text + 1, text + length};
    struct trace_field field;
    enum trace_fields_step step;
    while ((step = trace_fields_next(&rest, &field)) == TRACE_FIELDS_FIELD) {
        if (trace_field_is(&field, "cat")) {
            if (field.kind == TRACE_FIELD_STRING && field.has_escape) {
                return TRACE_CATEGORY_UNCLEAR;
            }
            /* Capitalised in traces of 2021 and 2022. */
            bool is_kernel = field.kind == TRACE_FIELD_STRING &&
                             (span_is(&field.value, "kernel") || span_is(&field.value, "Kernel"));
            return is_kernel ? TRACE_CATEGORY_KERNEL : TRACE_CATEGORY_OTHER;
        }
    }
    return step == TRACE_FIELDS_END ? TRACE_CATEGORY_OTHER : TRACE_CATEGORY_UNCLEAR;
}
