/* SPDX-License-Identifier: GPL-3.0-or-later
 * CSV rows out of a stream of blocks. A row is taken apart in place; every byte is looked at twice. */
#include "evidence/profiles/table_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/byte_stream.h"

enum {
    FIRST_BUFFER_BYTES = 1 << 18
};

struct table_rows {
    struct byte_stream *stream;
    const char *path;
    char *buffer;
    size_t begin, end, capacity; /* bytes not taken yet: buffer[begin..end); one more byte is there for a NUL */
    bool at_end;                 /* of the stream */
    unsigned line;               /* of buffer[begin] */
    char *current;               /* last line or row, NUL-terminated */
    size_t current_length;
    unsigned current_line;
    const char **fields;
    size_t field_capacity;
};

enum status table_rows_open(const char *path, struct table_rows **rows, struct error *error)
{
    struct table_rows *self = calloc(1, sizeof *self);
    char *buffer = malloc(FIRST_BUFFER_BYTES + 1);
    if (self == NULL || buffer == NULL) {
        free(self);
        free(buffer);
        return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", path);
    }
    *self = (struct table_rows){.path = path, .buffer = buffer, .capacity = FIRST_BUFFER_BYTES, .line = 1};
    enum status status = byte_stream_open(path, &self->stream, error);
    if (status != STATUS_OK) {
        table_rows_free(self);
        return status;
    }
    *rows = self;
    return STATUS_OK;
}

void table_rows_free(struct table_rows *rows)
{
    if (rows != NULL) {
        byte_stream_free(rows->stream);
        free(rows->buffer);
        free(rows->fields);
        free(rows);
    }
}

const char *table_rows_damage(const struct table_rows *rows)
{
    return byte_stream_damage(rows->stream);
}

/* More bytes behind buffer[end): what is left moves to the front; the buffer grows only when one row fills it. */
static enum status fill(struct table_rows *self, struct error *error)
{
    memmove(self->buffer, self->buffer + self->begin, self->end - self->begin);
    self->end -= self->begin;
    self->begin = 0;
    if (self->end == self->capacity) {
        if (self->capacity >= TABLE_ROW_BYTES_MAX) {
            return error_set_at(error, STATUS_LIMIT, self->path, self->line, 0, "a row of more than %d bytes",
                                TABLE_ROW_BYTES_MAX);
        }
        char *more = realloc(self->buffer, self->capacity * 2 + 1);
        if (more == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for a row of %s", self->path);
        }
        self->buffer = more;
        self->capacity *= 2;
    }
    size_t length = 0;
    enum status status =
        byte_stream_read(self->stream, self->buffer + self->end, self->capacity - self->end, &length, error);
    self->end += length;
    self->at_end = self->end < self->capacity;
    return status;
}

/* How far a search for the end of a row has come. */
struct row_scan {
    bool is_quoting; /* quotes count */
    bool in_quotes;
    size_t length; /* of what was looked at */
};

/* True once the row's LF was found, scan->length bytes behind the begin. */
static bool scan_on(const struct table_rows *self, struct row_scan *scan)
{
    const char *base = self->buffer + self->begin;
    size_t available = self->end - self->begin;
    if (!scan->is_quoting) {
        const char *stop = memchr(base + scan->length, '\n', available - scan->length);
        scan->length = stop != NULL ? (size_t)(stop - base) : available;
        return stop != NULL;
    }
    for (; scan->length < available; scan->length++) {
        char c = base[scan->length];
        if (c == '"') {
            scan->in_quotes = !scan->in_quotes;
        } else if (c == '\n' && !scan->in_quotes) {
            return true;
        }
    }
    return false;
}

/* Makes the next line or row current, without its line end. *is_there false: the file has no more. *is_open: it ends
 * inside of quotes. */
static enum status take(struct table_rows *self, bool is_quoting, bool *is_there, bool *is_open, struct error *error)
{
    struct row_scan scan = {.is_quoting = is_quoting};
    bool is_found = false;
    while (!(is_found = scan_on(self, &scan)) && !self->at_end) {
        enum status status = fill(self, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *is_there = is_found || scan.length > 0;
    *is_open = scan.in_quotes;
    self->current = self->buffer + self->begin;
    self->current_length = scan.length;
    self->current_line = self->line;
    self->begin += scan.length + (is_found ? 1 : 0);
    self->line++;
    for (const char *at = self->current, *end = at + scan.length;
         is_quoting && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
        self->line++;
    }
    if (self->current_length > 0 && self->current[self->current_length - 1] == '\r') {
        self->current_length--;
    }
    self->current[self->current_length] = '\0';
    return STATUS_OK;
}

enum status table_rows_line(struct table_rows *rows, char **text, size_t *length, unsigned *line, struct error *error)
{
    bool is_there = false, is_open = false;
    enum status status = take(rows, false, &is_there, &is_open, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (is_there && rows->current_line == 1 && rows->current_length >= 3 &&
        memcmp(rows->current, "\xef\xbb\xbf", 3) == 0) {
        rows->current += 3;
        rows->current_length -= 3;
    }
    *text = is_there ? rows->current : NULL;
    *length = rows->current_length;
    *line = rows->current_line;
    return STATUS_OK;
}

static enum status add_field(struct table_rows *self, size_t *count, const char *text, struct error *error)
{
    if (*count == self->field_capacity) {
        size_t capacity = self->field_capacity == 0 ? 64 : self->field_capacity * 2;
        const char **more = realloc(self->fields, capacity * sizeof *more);
        if (more == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for a row of %s", self->path);
        }
        self->fields = more;
        self->field_capacity = capacity;
    }
    self->fields[(*count)++] = text;
    return STATUS_OK;
}

/* Takes the field at *at apart in place: its text, ended by a NUL, and *at behind its comma, or NULL behind the last
 * one. Two quotes inside of quotes are one; text behind the closing quote belongs to the field, as spreadsheets have
 * it. */
static char *take_field(char **at)
{
    char *read = *at + strspn(*at, " \t"), *field = read, *write = read, *text_end = read;
    bool in_quotes = false;
    for (; *read != '\0' && (in_quotes || *read != ','); read++) {
        if (*read == '"' && (in_quotes || write == field)) {
            if (in_quotes && read[1] == '"') {
                *write++ = *read++;
                text_end = write;
            } else {
                in_quotes = !in_quotes;
            }
            continue;
        }
        *write++ = *read;
        if (in_quotes || (write[-1] != ' ' && write[-1] != '\t')) {
            text_end = write;
        }
    }
    *at = *read == ',' ? read + 1 : NULL;
    *text_end = '\0';
    return field;
}

static enum status split(struct table_rows *self, bool is_open, struct table_row *row, struct error *error)
{
    size_t count = 0, bad_offset = 0;
    *row = (struct table_row){.line = self->current_line, .damage = ""};
    if (is_open) {
        row->damage = "the file ends inside of quotes";
    } else if (utf8_check(self->current, self->current_length, &bad_offset) != STATUS_OK) {
        row->damage = self->current[bad_offset] == '\0' ? "a NUL byte" : "a byte that is no UTF-8";
    }
    enum status status = STATUS_OK;
    for (char *at = self->current; at != NULL && status == STATUS_OK;) {
        char *field = take_field(&at);
        status = add_field(self, &count, field, error);
    }
    row->count = count;
    row->fields = self->fields;
    return status;
}

enum status table_rows_next(struct table_rows *rows, struct table_row *row, struct error *error)
{
    bool is_there = true, is_open = false;
    *row = (struct table_row){.damage = ""};
    do {
        enum status status = take(rows, true, &is_there, &is_open, error);
        if (status != STATUS_OK) {
            return status;
        }
    } while (is_there && rows->current_length == 0);
    return is_there ? split(rows, is_open, row, error) : STATUS_OK;
}

enum status table_rows_split_line(struct table_rows *rows, struct table_row *row, struct error *error)
{
    return split(rows, false, row, error);
}
