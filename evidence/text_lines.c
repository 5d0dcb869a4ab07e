/* SPDX-License-Identifier: GPL-3.0-or-later
 * Lines, literals and numbers of compiler texts. */
#include "evidence/text_lines.h"

#include <string.h>

bool text_lines_next(struct text_lines *lines, struct text_span *span)
{
    if (lines->at == lines->end) {
        return false;
    }
    const char *stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    *span = (struct text_span){lines->at, stop != NULL ? stop : lines->end};
    lines->at = stop != NULL ? stop + 1 : lines->end;
    lines->line++;
    if (span->end > span->at && span->end[-1] == '\r') {
        span->end--;
    }
    return true;
}

void span_skip_spaces(struct text_span *span)
{
    while (span->at < span->end && (*span->at == ' ' || *span->at == '\t')) {
        span->at++;
    }
}

bool span_take(struct text_span *span, const char *literal)
{
    struct text_span rest = *span;
    for (; *literal != '\0'; literal++) {
        if (*literal == ' ') {
            span_skip_spaces(&rest);
        } else if (rest.at < rest.end && *rest.at == *literal) {
            rest.at++;
        } else {
            return false;
        }
    }
    *span = rest;
    return true;
}

bool span_find(struct text_span *span, const char *literal)
{
    size_t length = strlen(literal);
    for (const char *at = span->at; (size_t)(span->end - at) >= length; at++) {
        at = memchr(at, literal[0], (size_t)(span->end - at) - length + 1);
        if (at == NULL) {
            return false;
        }
        if (memcmp(at, literal, length) == 0) {
            span->at = at + length;
            return true;
        }
    }
    return false;
}

bool span_take_number(struct text_span *span, uint64_t *value)
{
    uint64_t number = 0;
    const char *at = span->at;
    for (; at < span->end && *at >= '0' && *at <= '9'; at++) {
        if (number > (uint64_t)INT64_MAX / 10 - 1) {
            return false;
        }
        number = number * 10 + (uint64_t)(*at - '0');
    }
    if (at == span->at) {
        return false;
    }
    span->at = at;
    *value = number;
    return true;
}

bool span_take_quoted(struct text_span *span, struct text_span *text)
{
    struct text_span rest = *span;
    if (!span_take(&rest, "'")) {
        return false;
    }
    const char *stop = memchr(rest.at, '\'', (size_t)(rest.end - rest.at));
    if (stop == NULL) {
        return false;
    }
    *text = (struct text_span){rest.at, stop};
    span->at = stop + 1;
    return true;
}
