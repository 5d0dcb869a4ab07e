/* SPDX-License-Identifier: GPL-3.0-or-later
 * Words, numbers and comments of PTX. */
#include <string.h>

#include "evidence/code/ptx_instruction.h"
#include "evidence/code/ptx_reader.h"

char ptx_peek(const struct ptx_reader *reader)
{
    return reader->at < reader->end ? *reader->at : '\0';
}

void ptx_skip_line(struct ptx_reader *reader)
{
    const char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    reader->at = newline == NULL ? reader->end : newline;
}

/* At a comment: past it. */
static bool skip_comment(struct ptx_reader *reader)
{
    if (reader->end - reader->at < 2 || reader->at[0] != '/') {
        return false;
    }
    if (reader->at[1] == '/') {
        ptx_skip_line(reader);
        return true;
    }
    if (reader->at[1] != '*') {
        return false;
    }
    for (reader->at += 2; reader->at < reader->end; reader->at++) {
        reader->line += *reader->at == '\n';
        if (*reader->at == '*' && reader->end - reader->at > 1 && reader->at[1] == '/') {
            reader->at += 2;
            return true;
        }
    }
    return true;
}

void ptx_skip_space(struct ptx_reader *reader)
{
    while (reader->at < reader->end) {
        const char c = *reader->at;
        if (c == '\n') {
            reader->line++;
        } else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
            if (!skip_comment(reader)) {
                return;
            }
            continue;
        }
        reader->at++;
    }
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '%' || c == '.';
}

struct ptx_slice ptx_word(struct ptx_reader *reader)
{
    const char *start = reader->at;
    while (reader->at < reader->end) {
        if (is_word(*reader->at)) {
            reader->at++;
        } else if (*reader->at == ':' && reader->end - reader->at > 2 && reader->at[1] == ':' &&
                   is_word(reader->at[2]) && reader->at > start) {
            reader->at += 2;
        } else {
            break;
        }
    }
    return (struct ptx_slice){start, (size_t)(reader->at - start)};
}

/* At a quote: past the closing one. */
static void skip_quoted(struct ptx_reader *reader)
{
    for (reader->at++; reader->at < reader->end && *reader->at != '"'; reader->at++) {
        reader->line += *reader->at == '\n';
    }
    reader->at += reader->at < reader->end;
}

bool ptx_skip_to(struct ptx_reader *reader, char stop)
{
    for (;;) {
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            return false;
        }
        if (*reader->at == '"') {
            skip_quoted(reader);
            continue;
        }
        if (*reader->at++ == stop) {
            return true;
        }
    }
}

bool ptx_skip_braces(struct ptx_reader *reader)
{
    for (size_t depth = 0;;) {
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            return false;
        }
        if (*reader->at == '"') {
            skip_quoted(reader);
            continue;
        }
        const char c = *reader->at++;
        depth += c == '{';
        if (c == '}' && --depth == 0) {
            return true;
        }
    }
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

bool ptx_is_float(struct ptx_slice word)
{
    if (word.length < 2 || word.text[0] < '0' || word.text[0] > '9') {
        return false;
    }
    return word.text[0] == '0' && strchr("fFdD", word.text[1]) != NULL ? true
                                                                       : memchr(word.text, '.', word.length) != NULL;
}

bool ptx_integer(struct ptx_slice word, int64_t *value)
{
    size_t i = 0, length = word.length;
    uint64_t base = 10, result = 0;
    if (length > 0 && word.text[length - 1] == 'U') {
        length--;
    }
    if (length > 2 && word.text[0] == '0' && strchr("xXfFdD", word.text[1]) != NULL) {
        base = 16;
        i = 2;
    } else if (length > 2 && word.text[0] == '0' && (word.text[1] == 'b' || word.text[1] == 'B')) {
        base = 2;
        i = 2;
    } else if (length > 1 && word.text[0] == '0') {
        base = 8;
        i = 1;
    }
    if (i >= length) {
        return false;
    }
    for (; i < length; i++) {
        const int digit = digit_of(word.text[i]);
        if ((uint64_t)digit >= base || __builtin_mul_overflow(result, base, &result) ||
            __builtin_add_overflow(result, (uint64_t)digit, &result)) {
            return false;
        }
    }
    *value = (int64_t)result;
    return true;
}

enum status ptx_fail(struct ptx_reader *reader, enum status status, const char *what, struct ptx_slice slice)
{
    const int length = slice.length > 80 ? 80 : (int)slice.length;
    return error_set_at(reader->error, status, reader->name, reader->line, 0, "%s%s%.*s%s", what,
                        length > 0 ? " '" : "", length, length > 0 ? slice.text : "", length > 0 ? "'" : "");
}

/* [4][8] behind a name: false if what is there is no list of sizes. *open: a [] without size. */
static bool read_extents(struct ptx_reader *reader, uint64_t *count, bool *open)
{
    *count = 1;
    *open = false;
    for (;;) {
        ptx_skip_space(reader);
        if (ptx_peek(reader) != '[') {
            return true;
        }
        reader->at++;
        ptx_skip_space(reader);
        int64_t extent = 0;
        if (ptx_peek(reader) == ']') {
            *open = true;
        } else if (!ptx_integer(ptx_word(reader), &extent) || extent < 0 ||
                   __builtin_mul_overflow(*count, (uint64_t)extent, count)) {
            return false;
        }
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            return true; /* cut */
        }
        if (*reader->at++ != ']') {
            return false;
        }
    }
}

/* = {..., {...}} or = 5: to the ',' or ';' that ends it. */
static void skip_initialiser(struct ptx_reader *reader)
{
    for (;;) {
        ptx_skip_space(reader);
        const char c = ptx_peek(reader);
        if (reader->at >= reader->end || c == ',' || c == ';') {
            return;
        }
        if (c == '{') {
            if (!ptx_skip_braces(reader)) {
                return;
            }
        } else if (c == '"') {
            skip_quoted(reader);
        } else {
            reader->at++;
        }
    }
}

/* .align N .b8, .v4 .f32 and attributes before the name: bytes of one element. */
static uint64_t read_element_type(struct ptx_reader *reader)
{
    uint64_t bytes = 1, lanes = 1;
    for (;;) {
        ptx_skip_space(reader);
        if (ptx_peek(reader) != '.') {
            return bytes * lanes;
        }
        struct ptx_slice word = ptx_word(reader);
        if (ptx_slice_is(word, ".align")) {
            ptx_skip_space(reader);
            (void)ptx_word(reader);
        } else if (ptx_slice_starts(word, ".attribute")) {
            (void)ptx_skip_to(reader, ')');
        } else if (ptx_slice_is(word, ".v2") || ptx_slice_is(word, ".v4")) {
            lanes = (uint64_t)(word.text[2] - '0');
        } else {
            const uint64_t type = ptx_type_bytes((struct ptx_slice){word.text + 1, word.length - 1});
            bytes = type > 0 ? type : bytes;
        }
    }
}

enum status ptx_read_variables(struct ptx_reader *reader, void *user,
                               enum status (*take)(void *user, struct ptx_slice name, uint64_t bytes), bool *ended)
{
    *ended = false;
    const uint64_t element = read_element_type(reader);
    for (;;) {
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            *ended = true;
            return STATUS_OK;
        }
        const struct ptx_slice name = ptx_word(reader);
        uint64_t count, bytes;
        bool open;
        if (name.length == 0 || !read_extents(reader, &count, &open) ||
            __builtin_mul_overflow(count, element, &bytes)) {
            if (reader->at >= reader->end) {
                *ended = true;
                return STATUS_OK;
            }
            return ptx_fail(reader, STATUS_BAD_DATA, "a declaration of a variable that cannot be read", name);
        }
        const enum status status = take(user, name, open ? 0 : bytes);
        if (status != STATUS_OK) {
            return status;
        }
        skip_initialiser(reader);
        if (ptx_peek(reader) == ';') {
            reader->at++;
            return STATUS_OK;
        }
        reader->at += reader->at < reader->end; /* ',' */
    }
}
