/* SPDX-License-Identifier: GPL-3.0-or-later
 * Walk over the members of one object. */
#include "evidence/profiles/trace_fields.h"

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static const uint64_t ones = 0x0101010101010101U;

static inline uint64_t load_word(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Which byte of a word the lowest bit belongs to. */
static inline size_t first_byte(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits) / 8;
}

/* Its lowest bit is in the first byte that is `wanted`; 0 if there is none. */
static inline uint64_t find_byte(uint64_t word, char wanted)
{
    word ^= ones * (uint64_t)(unsigned char)wanted;
    return (word - ones) & ~word & (ones << 7);
}

/* Spaces and, as if they were, control characters. */
static inline bool is_space(char c)
{
    return (unsigned char)c <= ' ';
}

/* The high bit of each byte that is none. */
static inline uint64_t no_spaces(uint64_t word)
{
    return (((word & ones * 0x7f) + ones * 0x5f) | word) & (ones << 7);
}

static inline const char *skip_spaces(const char *at, const char *end)
{
    while (end - at >= 8 && is_space(*at)) {
        uint64_t others = no_spaces(load_word(at));
        if (others != 0) {
            return at + first_byte(others);
        }
        at += 8;
    }
    while (at < end && is_space(*at)) {
        at++;
    }
    return at;
}

/* The first quote or backslash; end if there is none. */
static inline const char *find_quote(const char *at, const char *end)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        int found = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        if (found != 0) {
            return at + __builtin_ctz((unsigned)found);
        }
    }
#endif
    for (; end - at >= 8; at += 8) {
        uint64_t word = load_word(at), found = find_byte(word, '"') | find_byte(word, '\\');
        if (found != 0) {
            return at + first_byte(found);
        }
    }
    while (at < end && *at != '"' && *at != '\\') {
        at++;
    }
    return at;
}

/* The closing quote of the string whose first character is at `at`; NULL if there is none. */
static inline const char *string_end(const char *at, const char *end, bool *has_escape)
{
    *has_escape = false;
    while (at < end) {
        at = find_quote(at, end);
        if (at == end || *at == '"') {
            break;
        }
        *has_escape = true;
        at += 2;
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

enum trace_fields_step trace_fields_key(struct text_span *rest, struct trace_field *field)
{
    const char *end = rest->end, *at = skip_spaces(rest->at, end);
    if (at < end && *at == ',') {
        at = skip_spaces(at + 1, end);
    }
    rest->at = at;
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
    rest->at = skip_spaces(at + 1, end);
    return rest->at < end ? TRACE_FIELDS_FIELD : TRACE_FIELDS_ODD;
}

static const char *plain_end(const char *at, const char *end)
{
    const char *stop = at;
    if (*at == '"' || *at == '{' || *at == '[') {
        return NULL;
    }
    for (; end - stop >= 8; stop += 8) {
        uint64_t word = load_word(stop);
        uint64_t found = find_byte(word, ',') | find_byte(word, '}') | (no_spaces(word) ^ (ones << 7));
        if (found != 0) {
            stop += first_byte(found);
            return stop > at ? stop : NULL;
        }
    }
    while (stop < end && *stop != ',' && *stop != '}' && !is_space(*stop)) {
        stop++;
    }
    return stop > at && stop < end ? stop : NULL;
}

bool trace_fields_value_of(struct text_span *rest, enum trace_field_kind kind, struct trace_field *field)
{
    const char *at = rest->at, *end = rest->end, *stop = NULL;
    field->kind = kind;
    field->has_escape = false;
    if (at == end) {
        return false;
    }
    switch (kind) {
    case TRACE_FIELD_STRING:
        stop = string_end(at, end, &field->has_escape);
        break;
    case TRACE_FIELD_NESTED:
        stop = *at == '{' || *at == '[' ? nested_end(at, end) : NULL;
        break;
    case TRACE_FIELD_PLAIN:
        stop = plain_end(at, end);
        break;
    }
    field->value = (struct text_span){at, stop};
    rest->at = stop != NULL ? stop : end;
    return stop != NULL;
}

bool trace_fields_value(struct text_span *rest, struct trace_field *field)
{
    char first = *rest->at;
    if (first == '"') {
        rest->at++;
        bool has_end = trace_fields_value_of(rest, TRACE_FIELD_STRING, field);
        rest->at += has_end ? 1 : 0;
        return has_end;
    }
    return trace_fields_value_of(rest, first == '{' || first == '[' ? TRACE_FIELD_NESTED : TRACE_FIELD_PLAIN, field);
}

bool trace_field_is_kernel(const struct trace_field *field)
{
    const char *at = field->value.at;
    /* Capitalised in traces of 2021 and 2022. */
    return field->kind == TRACE_FIELD_STRING && !field->has_escape && field->value.end - at == 6 &&
           (memcmp(at, "kernel", 6) == 0 || memcmp(at, "Kernel", 6) == 0);
}

static enum trace_category category_of(const struct trace_field *field)
{
    if (field->kind != TRACE_FIELD_STRING) {
        return TRACE_CATEGORY_OTHER;
    }
    if (field->has_escape) {
        return TRACE_CATEGORY_UNCLEAR;
    }
    const struct text_span *value = &field->value;
    if (value->end - value->at == 6 && memcmp(value->at, "cpu_op", 6) == 0) {
        return TRACE_CATEGORY_OPERATOR;
    }
    return trace_field_is_kernel(field) ? TRACE_CATEGORY_KERNEL : TRACE_CATEGORY_OTHER;
}

enum trace_category trace_event_category(const char *text, size_t length)
{
    struct text_span rest = {text + 1, text + length};
    struct trace_field field;
    enum trace_fields_step step;
    while ((step = trace_fields_key(&rest, &field)) == TRACE_FIELDS_FIELD) {
        if (!trace_fields_value(&rest, &field)) {
            return TRACE_CATEGORY_UNCLEAR;
        }
        if (TRACE_FIELD_IS(&field, "cat")) {
            return category_of(&field);
        }
    }
    return step == TRACE_FIELDS_END ? TRACE_CATEGORY_OTHER : TRACE_CATEGORY_UNCLEAR;
}
