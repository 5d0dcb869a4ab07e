/* SPDX-License-Identifier: GPL-3.0-or-later
 * One pass rewrites what jansson does not take, outside of strings; a text without any of it is parsed as it is. Errors
 * of the rewritten text are told by their place in the text as it was. */
#include "evidence/json_tolerant.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/byte_stream.h"

#define MARK "\xe2\x81\xa0" /* U+2060, word joiner */

enum {
    SAFE_INTEGER_DIGITS = 18, /* always below 2^63 */
    SAFE_REAL_DIGITS = 300,   /* without an exponent always below 1e308 */
    MARK_BYTES = 3
};

struct rewriter {
    const char *text;
    size_t length, at;
    size_t kept;            /* text before it is in out */
    struct text_buffer out; /* empty as long as nothing was replaced */
    unsigned depth;
    struct json_tolerated tolerated;
    /* When a place is sought: the offset in the rewritten text, and where that is in the original. */
    bool is_seeking;
    size_t sought, found;
};

/* --- places --------------------------------------------------------------------------------------------------------
 */

static enum status fail_at(const char *text, size_t offset, const char *name, const char *reason, struct error *error)
{
    unsigned line = 1;
    size_t line_start = 0;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    return error_set_at(error, STATUS_BAD_DATA, name, line, (unsigned)(offset - line_start) + 1, "no JSON: %s", reason);
}

/* --- replacing -----------------------------------------------------------------------------------------------------
 */

/* Puts a replacement in the place of text[at..end). */
static void replace(struct rewriter *self, size_t at, size_t end, const char *replacement)
{
    size_t rewritten = self->out.length + (at - self->kept);
    if (self->is_seeking && self->found == SIZE_MAX && self->sought < rewritten + strlen(replacement)) {
        self->found = self->sought < rewritten ? self->kept + (self->sought - self->out.length) : at;
    }
    text_buffer_append_bytes(&self->out, self->text + self->kept, at - self->kept);
    text_buffer_append(&self->out, replacement);
    self->kept = end;
}

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A word for a number that is none, at self->at behind a sign or not. */
static bool take_word(struct rewriter *self)
{
    static const struct {
        const char *word;
        bool is_nan;
    } words[] = {{"Infinity", false}, {"NaN", true}, {"inf", false}, {"nan", true}};
    bool is_negative = self->text[self->at] == '-';
    size_t start = self->at + (is_negative ? 1 : 0);
    if (start == self->length || is_digit(self->text[start])) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t count = strlen(words[i].word);
        if (self->length - start < count || memcmp(self->text + start, words[i].word, count) != 0 ||
            (start + count < self->length && is_word_character(self->text[start + count]))) {
            continue;
        }
        replace(self, self->at, start + count,
                words[i].is_nan ? "\"" MARK "NaN\""
                : is_negative   ? "\"" MARK "-Infinity\""
                                : "\"" MARK "Infinity\"");
        self->at = start + count;
        self->tolerated.nonfinite_count++;
        return true;
    }
    return false;
}

/* --- numbers -------------------------------------------------------------------------------------------------------
 */

static size_t skip_digits(const char *text, size_t at, size_t end)
{
    while (at < end && is_digit(text[at])) {
        at++;
    }
    return at;
}

/* The grammar of JSON; *is_integer without fraction and exponent. */
static bool is_json_number(const char *text, size_t at, size_t end, bool *is_integer)
{
    at += at < end && text[at] == '-' ? 1 : 0;
    size_t stop = skip_digits(text, at, end);
    if (stop == at || (text[at] == '0' && stop > at + 1)) {
        return false;
    }
    at = stop;
    *is_integer = at == end;
    if (at < end && text[at] == '.') {
        stop = skip_digits(text, at + 1, end);
        if (stop == at + 1) {
            return false;
        }
        at = stop;
    }
    if (at < end && (text[at] == 'e' || text[at] == 'E')) {
        at += at + 1 < end && (text[at + 1] == '+' || text[at + 1] == '-') ? 2 : 1;
        stop = skip_digits(text, at, end);
        if (stop == at) {
            return false;
        }
        at = stop;
    }
    return at == end;
}

static bool is_beyond_64_bits(const char *text, size_t at, size_t end)
{
    bool is_negative = text[at] == '-';
    at += is_negative ? 1 : 0;
    const char *most = is_negative ? "9223372036854775808" : "9223372036854775807";
    size_t digits = end - at;
    return digits > 19 || (digits == 19 && memcmp(text + at, most, 19) > 0);
}

/* How many digits stand before the decimal point once the exponent is applied, about; negative: zeros behind it. */
static long magnitude(const char *text, size_t at, size_t end)
{
    at += text[at] == '-' ? 1 : 0;
    size_t whole = skip_digits(text, at, end), first = at;
    while (first < end && (text[first] == '0' || text[first] == '.')) {
        first++;
    }
    long digits = first < whole ? (long)(whole - first) : (long)whole - (long)first;
    size_t e = whole;
    while (e < end && text[e] != 'e' && text[e] != 'E') {
        e++;
    }
    bool is_negative = e + 1 < end && text[e + 1] == '-';
    long exponent = 0;
    for (size_t i = e + 1; i < end && exponent < LONG_MAX / 20; i++) {
        exponent = is_digit(text[i]) ? exponent * 10 + (text[i] - '0') : exponent;
    }
    return digits + (is_negative ? -exponent : exponent);
}

static bool is_beyond_a_double(const char *text, size_t at, size_t end)
{
    struct text_buffer copy = {0};
    double value = 0;
    text_buffer_append_bytes(&copy, text + at, end - at);
    bool is_unreadable = !copy.failed && number_parse(copy.text, &value) != STATUS_OK;
    text_buffer_release(&copy);
    return is_unreadable && magnitude(text, at, end) > 0; /* otherwise so small that it is read as 0 */
}

static void take_number(struct rewriter *self)
{
    const char *text = self->text;
    size_t at = self->at, end = at + 1;
    bool has_exponent = false, is_integer = false;
    for (; end < self->length && (is_digit(text[end]) || text[end] == '.' || text[end] == 'e' || text[end] == 'E' ||
                                  text[end] == '+' || text[end] == '-');
         end++) {
        has_exponent = has_exponent || text[end] == 'e' || text[end] == 'E';
    }
    self->at = end;
    if ((!has_exponent && end - at <= SAFE_INTEGER_DIGITS) || !is_json_number(text, at, end, &is_integer)) {
        return; /* fine, or jansson says what is wrong */
    }
    if ((has_exponent || end - at > SAFE_REAL_DIGITS) && is_beyond_a_double(text, at, end)) {
        replace(self, at, end, text[at] == '-' ? "\"" MARK "-Infinity\"" : "\"" MARK "Infinity\"");
        self->tolerated.nonfinite_count++;
    } else if (is_integer && is_beyond_64_bits(text, at, end)) {
        replace(self, end, end, ".0");
        self->tolerated.big_integer_count++;
    }
}

/* --- the pass ------------------------------------------------------------------------------------------------------
 */

static void skip_string(struct rewriter *self)
{
    const char *text = self->text;
    size_t at = self->at + 1;
    while (at < self->length && text[at] != '"') {
        at += text[at] == '\\' ? 2 : 1;
    }
    self->at = at < self->length ? at + 1 : self->length;
}

/* False where the text is nested too deep, at self->at. */
static bool rewrite(struct rewriter *self)
{
    if (self->length >= 3 && memcmp(self->text, "\xef\xbb\xbf", 3) == 0) {
        self->tolerated.has_byte_order_mark = true;
        replace(self, 0, 3, "");
        self->at = 3;
    }
    while (self->at < self->length) {
        char c = self->text[self->at];
        if (c == '"') {
            skip_string(self);
        } else if (c == '{' || c == '[') {
            if (self->depth == JSON_DEPTH_MAX) {
                return false;
            }
            self->depth++;
            self->at++;
        } else if (c == '}' || c == ']') {
            self->depth -= self->depth > 0 ? 1 : 0;
            self->at++;
        } else if (is_digit(c) || c == '-' || is_word_character(c)) {
            if (take_word(self)) {
                continue;
            }
            if (is_digit(c) || c == '-') {
                take_number(self);
            } else {
                while (self->at < self->length && is_word_character(self->text[self->at])) {
                    self->at++;
                }
            }
        } else {
            self->at++;
        }
    }
    return true;
}

/* Where in the original text the rewritten one's `position` is. */
static size_t original_offset(const char *text, size_t length, size_t position)
{
    struct rewriter seeker = {.text = text, .length = length, .is_seeking = true, .sought = position};
    seeker.found = SIZE_MAX;
    (void)rewrite(&seeker);
    if (seeker.found == SIZE_MAX) {
        seeker.found = position < seeker.out.length ? seeker.kept : seeker.kept + (position - seeker.out.length);
    }
    text_buffer_release(&seeker.out);
    return seeker.found < length ? seeker.found : length;
}

static enum status load(struct rewriter *self, const char *name, enum json_duplicates duplicates, json_t **root,
                        struct error *error)
{
    if (self->kept > 0) {
        text_buffer_append_bytes(&self->out, self->text + self->kept, self->length - self->kept);
        if (self->out.failed) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for %s", name);
        }
    }
    const char *text = self->kept > 0 ? self->out.text : self->text;
    size_t length = self->kept > 0 ? self->out.length : self->length;
    json_error_t reason = {0};
    *root = json_loadb(length > 0 ? text : "", length, JSON_REJECT_DUPLICATES, &reason);
    if (*root == NULL && json_error_code(&reason) == json_error_duplicate_key && duplicates == JSON_DUPLICATES_LAST) {
        self->tolerated.has_duplicates = true;
        *root = json_loadb(text, length, 0, &reason);
    }
    if (*root != NULL) {
        return STATUS_OK;
    }
    if (json_error_code(&reason) == json_error_out_of_memory) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %s", name);
    }
    size_t position = reason.position > 0 ? (size_t)reason.position : 0;
    return fail_at(self->text, original_offset(self->text, self->length, position), name, reason.text, error);
}

enum status json_tolerant_parse(const char *text, size_t length, const char *name, enum json_duplicates duplicates,
                                json_t **root, struct json_tolerated *tolerated, struct error *error)
{
    struct rewriter rewriter = {.text = text, .length = length};
    size_t bad = 0;
    *root = NULL;
    if (utf8_check(text, length, &bad) != STATUS_OK) {
        return fail_at(text, bad, name, text[bad] == '\0' ? "a NUL byte" : "invalid UTF-8", error);
    }
    enum status status;
    if (rewrite(&rewriter)) {
        status = load(&rewriter, name, duplicates, root, error);
    } else {
        status = fail_at(text, rewriter.at, name, "nested too deep", error);
    }
    if (tolerated != NULL) {
        *tolerated = rewriter.tolerated;
    }
    text_buffer_release(&rewriter.out);
    return status;
}

enum status json_tolerant_read(const char *path, size_t limit_bytes, enum json_duplicates duplicates, json_t **root,
                               struct json_tolerated *tolerated, struct error *error)
{
    char *text = NULL;
    size_t length = 0;
    *root = NULL;
    enum status status = byte_stream_read_all(path, limit_bytes, &text, &length, error);
    if (status == STATUS_OK) {
        status = json_tolerant_parse(text, length, path, duplicates, root, tolerated, error);
    }
    free(text);
    return status;
}

/* --- values --------------------------------------------------------------------------------------------------------
 */

bool json_tolerant_number(const json_t *value, double *number)
{
    if (json_is_number(value)) {
        *number = json_number_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    if (text == NULL || strncmp(text, MARK, MARK_BYTES) != 0) {
        return false;
    }
    text += MARK_BYTES;
    if (strcmp(text, "NaN") == 0) {
        *number = NAN;
        return true;
    }
    *number = text[0] == '-' ? -INFINITY : INFINITY;
    return strcmp(text + (text[0] == '-' ? 1 : 0), "Infinity") == 0;
}

bool json_tolerant_is_nonfinite(const json_t *value)
{
    double number;
    return json_is_string(value) && json_tolerant_number(value, &number);
}
