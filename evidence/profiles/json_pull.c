/* SPDX-License-Identifier: GPL-3.0-or-later
 * A JSON reader with one buffer of input, one text and a stack of bits. */
#include "evidence/profiles/json_pull.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/byte_stream.h"

enum {
    INPUT_BYTES = 1 << 16,
    NOTHING = -1 /* instead of a byte: the file ends */
};

/* What may come next. */
enum expected {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* behind [ */
    EXPECT_KEY,          /* behind a comma in an object */
    EXPECT_KEY_OR_END,   /* behind { */
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING
};

struct json_pull {
    struct byte_stream *stream;
    const char *path;
    const unsigned char *at, *end;
    uint64_t consumed; /* bytes of the file before input[0] */
    uint64_t line_start;
    unsigned line;
    bool at_end;
    enum expected expected;
    unsigned depth;
    bool is_object[JSON_PULL_DEPTH_MAX];
    struct text_buffer text;
    unsigned char input[INPUT_BYTES];
};

enum status json_pull_open(const char *path, struct json_pull **pull, struct error *error)
{
    struct json_pull *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", path);
    }
    self->path = path;
    self->at = self->end = self->input;
    self->line = 1;
    self->expected = EXPECT_VALUE;
    enum status status = byte_stream_open(path, &self->stream, error);
    if (status != STATUS_OK) {
        free(self);
        return status;
    }
    *pull = self;
    return STATUS_OK;
}

void json_pull_free(struct json_pull *pull)
{
    if (pull != NULL) {
        byte_stream_free(pull->stream);
        text_buffer_release(&pull->text);
        free(pull);
    }
}

const char *json_pull_damage(const struct json_pull *pull)
{
    return byte_stream_damage(pull->stream);
}

/* --- bytes ---------------------------------------------------------------------------------------------------------
 */

static enum status refill(struct json_pull *self, struct error *error)
{
    size_t length = 0;
    if (self->at_end) {
        return STATUS_OK;
    }
    self->consumed += (uint64_t)(self->end - self->input);
    enum status status = byte_stream_read(self->stream, self->input, INPUT_BYTES, &length, error);
    self->at = self->input;
    self->end = self->input + length;
    self->at_end = length < INPUT_BYTES;
    return status;
}

static uint64_t position(const struct json_pull *self)
{
    return self->consumed + (uint64_t)(self->at - self->input);
}

static unsigned column_of(const struct json_pull *self)
{
    uint64_t column = position(self) - self->line_start + 1;
    return column < 0xffffffffu ? (unsigned)column : 0;
}

static enum status bad(const struct json_pull *self, struct error *error, const char *expected)
{
    return error_set_at(error, STATUS_BAD_DATA, self->path, self->line, column_of(self), "no JSON: %s expected",
                        expected);
}

/* *byte is the next one without taking it, or NOTHING. */
static enum status peek(struct json_pull *self, int *byte, struct error *error)
{
    if (self->at == self->end) {
        enum status status = refill(self, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *byte = self->at < self->end ? *self->at : NOTHING;
    return STATUS_OK;
}

static enum status skip_space(struct json_pull *self, int *byte, struct error *error)
{
    for (;;) {
        enum status status = peek(self, byte, error);
        if (status != STATUS_OK || (*byte != ' ' && *byte != '\n' && *byte != '\r' && *byte != '\t')) {
            return status;
        }
        self->at++;
        if (*byte == '\n') {
            self->line++;
            self->line_start = position(self);
        }
    }
}

/* --- texts ---------------------------------------------------------------------------------------------------------
 */

static enum status check_text(struct json_pull *self, struct error *error)
{
    if (self->text.failed) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", self->path);
    }
    if (self->text.length > JSON_PULL_TEXT_BYTES_MAX) {
        return error_set_at(error, STATUS_LIMIT, self->path, self->line, column_of(self),
                            "a text of more than %d bytes", JSON_PULL_TEXT_BYTES_MAX);
    }
    return STATUS_OK;
}

/* Four hexadecimal digits behind \u; *code NOTHING when the file ends. */
static enum status take_hex(struct json_pull *self, int *code, struct error *error)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int byte;
        enum status status = peek(self, &byte, error);
        if (status != STATUS_OK || byte == NOTHING) {
            *code = NOTHING;
            return status;
        }
        static const char digits[] = "0123456789abcdef";
        const char *digit = memchr(digits, byte >= 'A' && byte <= 'F' ? byte - 'A' + 'a' : byte, 16);
        if (digit == NULL) {
            return bad(self, error, "four hexadecimal digits");
        }
        *code = *code * 16 + (int)(digit - digits);
        self->at++;
    }
    return STATUS_OK;
}

static void append_code(struct text_buffer *text, int code)
{
    char bytes[4];
    size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = count; i-- > 1; code >>= 6) {
        bytes[i] = (char)(0x80 | (code & 0x3f));
    }
    bytes[0] = (char)(count == 1 ? code : marks[count] | code);
    text_buffer_append_bytes(text, bytes, count);
}

/* \uXXXX, and its second half where it is one of two. */
static enum status take_unicode(struct json_pull *self, int *code, struct error *error)
{
    enum status status = take_hex(self, code, error);
    if (status != STATUS_OK || *code == NOTHING) {
        return status;
    }
    if (*code >= 0xd800 && *code < 0xdc00) {
        int low = 0;
        for (const char *mark = "\\u"; *mark != '\0'; mark++) {
            status = peek(self, &low, error);
            if (status != STATUS_OK || low == NOTHING) {
                *code = NOTHING;
                return status;
            }
            if (low != *mark) {
                return bad(self, error, "the second half of a surrogate pair");
            }
            self->at++;
        }
        status = take_hex(self, &low, error);
        if (status != STATUS_OK || low == NOTHING) {
            *code = NOTHING;
            return status;
        }
        if (low < 0xdc00 || low > 0xdfff) {
            return bad(self, error, "the second half of a surrogate pair");
        }
        *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    } else if (*code == 0 || (*code >= 0xdc00 && *code <= 0xdfff)) {
        return bad(self, error, "a character");
    }
    return STATUS_OK;
}

/* Behind a backslash. *is_cut: the file ends. */
static enum status take_escape(struct json_pull *self, bool *is_cut, struct error *error)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int byte;
    enum status status = peek(self, &byte, error);
    *is_cut = byte == NOTHING;
    if (status != STATUS_OK || *is_cut) {
        return status;
    }
    const char *letter = memchr(letters, byte, sizeof letters - 1);
    if (letter != NULL) {
        text_buffer_append_bytes(&self->text, &meanings[letter - letters], 1);
        self->at++;
        return STATUS_OK;
    }
    if (byte != 'u') {
        return bad(self, error, "an escape");
    }
    self->at++;
    int code;
    status = take_unicode(self, &code, error);
    *is_cut = code == NOTHING;
    if (status == STATUS_OK && !*is_cut) {
        append_code(&self->text, code);
    }
    return status;
}

/* The string whose opening quote comes next, into self->text. */
static enum status take_string(struct json_pull *self, bool *is_cut, struct error *error)
{
    text_buffer_clear(&self->text);
    text_buffer_append(&self->text, "");
    self->at++;
    *is_cut = false;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !*is_cut) {
        int byte;
        const unsigned char *from = self->at;
        while (self->at < self->end && *self->at != '"' && *self->at != '\\' && *self->at >= 0x20) {
            self->at++;
        }
        text_buffer_append_bytes(&self->text, (const char *)from, (size_t)(self->at - from));
        status = check_text(self, error);
        status = status == STATUS_OK ? peek(self, &byte, error) : status;
        if (status != STATUS_OK) {
            return status;
        }
        *is_cut = byte == NOTHING;
        if (byte == '"') {
            size_t offset;
            self->at++;
            return utf8_check(self->text.text, self->text.length, &offset) == STATUS_OK ? STATUS_OK
                                                                                        : bad(self, error, "UTF-8");
        }
        if (byte == '\\') {
            self->at++;
            status = take_escape(self, is_cut, error);
        } else if (byte != NOTHING && byte < 0x20) {
            return bad(self, error, "no control character in a string");
        }
    }
    return status;
}

static bool is_word_byte(int byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '+' || byte == '-' || byte == '.';
}

/* Letters, digits and signs up to the next separator, into self->text. */
static enum status take_word(struct json_pull *self, struct error *error)
{
    text_buffer_clear(&self->text);
    text_buffer_append(&self->text, "");
    for (;;) {
        int byte;
        const unsigned char *from = self->at;
        while (self->at < self->end && is_word_byte(*self->at)) {
            self->at++;
        }
        text_buffer_append_bytes(&self->text, (const char *)from, (size_t)(self->at - from));
        enum status status = check_text(self, error);
        status = status == STATUS_OK ? peek(self, &byte, error) : status;
        if (status != STATUS_OK || !is_word_byte(byte)) {
            return status;
        }
    }
}

/* --- numbers -------------------------------------------------------------------------------------------------------
 */

static bool take_digits(const char **at)
{
    const char *from = *at;
    while (**at >= '0' && **at <= '9') {
        ++*at;
    }
    return *at > from;
}

static bool has_number_form(const char *text)
{
    const char *at = text + (*text == '-' ? 1 : 0);
    if (at[0] == '0' && at[1] >= '0' && at[1] <= '9') {
        return false;
    }
    if (!take_digits(&at)) {
        return false;
    }
    if (*at == '.') {
        at++;
        if (!take_digits(&at)) {
            return false;
        }
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        if (!take_digits(&at)) {
            return false;
        }
    }
    return *at == '\0';
}

/* Beyond a double: too large is infinite, too small 0. */
static double extreme_number(const char *text)
{
    const char *magnitude = text + (*text == '-' ? 1 : 0), *exponent = strpbrk(text, "eE");
    bool is_small = exponent != NULL ? exponent[1] == '-' : magnitude[0] == '0';
    double value = is_small ? 0.0 : (double)INFINITY;
    return *text == '-' ? -value : value;
}

static bool word_number(const char *text, double *number)
{
    static const struct {
        const char *text;
        double value;
    } words[] = {{"Infinity", (double)INFINITY}, {"inf", (double)INFINITY}, {"NaN", (double)NAN}, {"nan", (double)NAN}};
    const char *word = text + (*text == '-' || *text == '+' ? 1 : 0);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i].text) == 0) {
            *number = *text == '-' ? -words[i].value : words[i].value;
            return true;
        }
    }
    return false;
}

/* --- pieces --------------------------------------------------------------------------------------------------------
 */

static void value_is_taken(struct json_pull *self)
{
    self->expected = self->depth == 0 ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

static enum status open_container(struct json_pull *self, bool is_object, struct json_taken *taken, struct error *error)
{
    if (self->depth == JSON_PULL_DEPTH_MAX) {
        return error_set_at(error, STATUS_BAD_DATA, self->path, self->line, column_of(self),
                            "nested deeper than %d levels", JSON_PULL_DEPTH_MAX);
    }
    self->at++;
    self->is_object[self->depth++] = is_object;
    self->expected = is_object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    taken->piece = is_object ? JSON_PIECE_OBJECT : JSON_PIECE_ARRAY;
    return STATUS_OK;
}

static void close_container(struct json_pull *self, struct json_taken *taken)
{
    self->at++;
    self->depth--;
    taken->piece = self->is_object[self->depth] ? JSON_PIECE_OBJECT_END : JSON_PIECE_ARRAY_END;
    value_is_taken(self);
}

static void set_text(const struct json_pull *self, struct json_taken *taken)
{
    taken->text = self->text.text;
    taken->length = self->text.length;
}

/* A key with its colon, or a string. */
static enum status take_text(struct json_pull *self, bool is_key, struct json_taken *taken, struct error *error)
{
    bool is_cut;
    enum status status = take_string(self, &is_cut, error);
    if (status == STATUS_OK && is_key && !is_cut) {
        int byte;
        status = skip_space(self, &byte, error);
        is_cut = byte == NOTHING;
        if (status == STATUS_OK && byte != ':' && !is_cut) {
            return bad(self, error, "':'");
        }
        self->at += status == STATUS_OK && !is_cut ? 1 : 0;
        self->expected = EXPECT_VALUE;
    } else if (!is_key) {
        value_is_taken(self);
    }
    taken->piece = is_cut ? JSON_PIECE_CUT : is_key ? JSON_PIECE_KEY : JSON_PIECE_STRING;
    set_text(self, taken);
    return status;
}

static enum status take_plain(struct json_pull *self, struct json_taken *taken, struct error *error)
{
    enum status status = take_word(self, error);
    if (status != STATUS_OK) {
        return status;
    }
    const char *text = self->text.text;
    set_text(self, taken);
    if (self->at_end && self->at == self->end && self->depth > 0) {
        taken->piece = JSON_PIECE_CUT; /* who knows what would have followed */
        return STATUS_OK;
    }
    if (has_number_form(text)) {
        taken->piece = JSON_PIECE_NUMBER;
        if (number_parse(text, &taken->number) != STATUS_OK) {
            taken->number = extreme_number(text);
        }
    } else if (word_number(text, &taken->number)) {
        taken->piece = JSON_PIECE_NUMBER;
    } else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || strcmp(text, "null") == 0) {
        taken->piece = JSON_PIECE_WORD;
    } else {
        return bad(self, error, "a value");
    }
    value_is_taken(self);
    return STATUS_OK;
}

static enum status take_value(struct json_pull *self, int byte, struct json_taken *taken, struct error *error)
{
    if (byte == '{' || byte == '[') {
        return open_container(self, byte == '{', taken, error);
    }
    return byte == '"' ? take_text(self, false, taken, error) : take_plain(self, taken, error);
}

/* Steps over the byte-order mark that some editors write. */
static enum status skip_mark(struct json_pull *self, int *byte, struct error *error)
{
    enum status status = peek(self, byte, error);
    if (status == STATUS_OK && self->end - self->at >= 3 && memcmp(self->at, "\xef\xbb\xbf", 3) == 0) {
        self->at += 3;
    }
    return status;
}

enum status json_pull_next(struct json_pull *pull, struct json_taken *taken, struct error *error)
{
    int byte = NOTHING;
    *taken = (struct json_taken){.piece = JSON_PIECE_CUT, .text = "", .number = NAN};
    enum status status = pull->consumed == 0 && pull->at == pull->input ? skip_mark(pull, &byte, error) : STATUS_OK;
    status = status == STATUS_OK ? skip_space(pull, &byte, error) : status;
    if (status == STATUS_OK && pull->expected == EXPECT_COMMA_OR_END && byte == ',') {
        pull->at++;
        pull->expected = pull->is_object[pull->depth - 1] ? EXPECT_KEY : EXPECT_VALUE;
        status = skip_space(pull, &byte, error);
    }
    taken->line = pull->line;
    taken->column = column_of(pull);
    if (status != STATUS_OK) {
        return status;
    }
    if (byte == NOTHING) {
        taken->piece = pull->expected == EXPECT_NOTHING ? JSON_PIECE_END : JSON_PIECE_CUT;
        return STATUS_OK;
    }
    bool may_end = pull->expected == EXPECT_COMMA_OR_END || pull->expected == EXPECT_KEY_OR_END ||
                   pull->expected == EXPECT_VALUE_OR_END;
    if (may_end && byte == (pull->is_object[pull->depth - 1] ? '}' : ']')) {
        close_container(pull, taken);
        return STATUS_OK;
    }
    switch (pull->expected) {
    case EXPECT_KEY:
    case EXPECT_KEY_OR_END:
        return byte == '"' ? take_text(pull, true, taken, error) : bad(pull, error, "a key in quotes");
    case EXPECT_VALUE:
    case EXPECT_VALUE_OR_END:
        return take_value(pull, byte, taken, error);
    case EXPECT_COMMA_OR_END:
        return bad(pull, error, pull->is_object[pull->depth - 1] ? "',' or '}'" : "',' or ']'");
    case EXPECT_NOTHING:
        break;
    }
    return bad(pull, error, "the end of the file");
}

/* --- passing over --------------------------------------------------------------------------------------------------
 */

struct skip_state {
    uint64_t open; /* containers entered and not left */
    bool in_string, is_escaped;
};

/* Looks at the bytes at hand; true when the container that was entered first has been left. */
static bool skip_bytes(struct json_pull *self, struct skip_state *state)
{
    for (; self->at < self->end; self->at++) {
        unsigned char byte = *self->at;
        if (byte == '\n') {
            self->line++;
            self->line_start = position(self) + 1;
        }
        if (state->in_string) {
            if (state->is_escaped) {
                state->is_escaped = false;
            } else if (byte == '\\') {
                state->is_escaped = true;
            } else if (byte == '"') {
                state->in_string = false;
            }
        } else if (byte == '"') {
            state->in_string = true;
        } else if (byte == '{' || byte == '[') {
            state->open++;
        } else if ((byte == '}' || byte == ']') && --state->open == 0) {
            return true;
        }
    }
    return false;
}

enum status json_pull_skip(struct json_pull *pull, struct json_taken *taken, struct error *error)
{
    enum status status = STATUS_OK;
    if (taken->piece == JSON_PIECE_KEY) {
        status = json_pull_next(pull, taken, error);
    }
    if (status != STATUS_OK || (taken->piece != JSON_PIECE_OBJECT && taken->piece != JSON_PIECE_ARRAY)) {
        return status;
    }
    struct skip_state state = {.open = 1};
    while (!skip_bytes(pull, &state)) {
        int byte;
        status = peek(pull, &byte, error);
        if (status != STATUS_OK || byte == NOTHING) {
            taken->piece = JSON_PIECE_CUT;
            return status;
        }
    }
    if (*pull->at != (taken->piece == JSON_PIECE_OBJECT ? '}' : ']')) {
        return bad(pull, error, taken->piece == JSON_PIECE_OBJECT ? "'}'" : "']'");
    }
    close_container(pull, taken);
    return STATUS_OK;
}
