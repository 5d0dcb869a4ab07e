/* SPDX-License-Identifier: GPL-3.0-or-later
 * JSON output: jansson holds the document and quotes strings; the printing walk is ours so that numbers take their
 * shortest exact form in every locale. Called by cli/report.c. */
#include "evidence/json_writer.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"

enum {
    JSON_WRITER_DEPTH_MAX = 32,
    JSON_INDENT = 2
};

struct json_writer {
    json_t *levels[JSON_WRITER_DEPTH_MAX]; /* levels[0] is owned, the others are borrowed from it */
    unsigned depth;                        /* index of the current level */
    bool failed;                           /* memory ran out somewhere */
};

enum status json_writer_create(struct json_writer **writer)
{
    struct json_writer *fresh = calloc(1, sizeof *fresh);

    *writer = NULL;
    if (fresh == NULL)
        return STATUS_NO_MEMORY;
    fresh->levels[0] = json_object();
    if (fresh->levels[0] == NULL) {
        free(fresh);
        return STATUS_NO_MEMORY;
    }
    *writer = fresh;
    return STATUS_OK;
}

void json_writer_free(struct json_writer *writer)
{
    if (writer == NULL)
        return;
    json_decref(writer->levels[0]);
    free(writer);
}

/* Text from outside (file names, arguments) need not be UTF-8, JSON must be: offending bytes become '?'. */
static json_t *string_value(const char *value)
{
    size_t length = strlen(value), bad_offset;
    char *copy;
    json_t *result;

    if (utf8_check(value, length, &bad_offset) == STATUS_OK)
        return json_stringn(value, length);
    copy = strdup(value);
    if (copy == NULL)
        return NULL;
    while (utf8_check(copy, length, &bad_offset) != STATUS_OK)
        copy[bad_offset] = '?';
    result = json_stringn(copy, length);
    free(copy);
    return result;
}

/* Puts value (a new reference, NULL = out of memory) at the current position. */
static void add_value(struct json_writer *writer, const char *key, json_t *value)
{
    json_t *level = writer->levels[writer->depth];
    int outcome;

    if (value == NULL || writer->failed) {
        json_decref(value);
        writer->failed = true;
        return;
    }
    if (json_is_array(level)) {
        if (key != NULL)
            BUG("JSON key \"%s\" inside an array", key);
        outcome = json_array_append_new(level, value);
    } else {
        if (key == NULL)
            BUG("JSON value without a key inside an object");
        if (json_object_get(level, key) != NULL)
            BUG("JSON key \"%s\" written twice", key);
        outcome = json_object_set_new(level, key, value);
    }
    if (outcome != 0)
        writer->failed = true;
}

static void begin_level(struct json_writer *writer, const char *key, json_t *value)
{
    if (writer->depth + 1 == JSON_WRITER_DEPTH_MAX)
        BUG("JSON nested deeper than %d", JSON_WRITER_DEPTH_MAX);
    add_value(writer, key, value);
    /* After a failed allocation the level is not in the document; stay where we are but keep begin and end paired. */
    writer->levels[writer->depth + 1] = writer->failed ? writer->levels[writer->depth] : value;
    writer->depth++;
}

void json_writer_begin_object(struct json_writer *writer, const char *key)
{
    begin_level(writer, key, json_object());
}

void json_writer_begin_array(struct json_writer *writer, const char *key)
{
    begin_level(writer, key, json_array());
}

void json_writer_end(struct json_writer *writer)
{
    if (writer->depth == 0)
        BUG("json_writer_end without a matching begin");
    writer->depth--;
}

void json_writer_string(struct json_writer *writer, const char *key, const char *value)
{
    add_value(writer, key, value == NULL ? json_null() : string_value(value));
}

void json_writer_number(struct json_writer *writer, const char *key, double value)
{
    add_value(writer, key, isfinite(value) ? json_real(value) : json_null());
}

void json_writer_integer(struct json_writer *writer, const char *key, int64_t value)
{
    add_value(writer, key, json_integer(value));
}

void json_writer_bool(struct json_writer *writer, const char *key, bool value)
{
    add_value(writer, key, json_boolean(value));
}

void json_writer_null(struct json_writer *writer, const char *key)
{
    add_value(writer, key, json_null());
}

static void append_indent(struct text_buffer *buffer, unsigned depth)
{
    text_buffer_append(buffer, "\n");
    for (unsigned i = 0; i < depth * JSON_INDENT; i++)
        text_buffer_append(buffer, " ");
}

static void append_quoted(struct text_buffer *buffer, const json_t *string)
{
    char *text = json_dumps(string, JSON_ENCODE_ANY);

    if (text == NULL)
        buffer->failed = true;
    else
        text_buffer_append(buffer, text);
    free(text);
}

static void append_value(struct text_buffer *buffer, json_t *value, unsigned depth);

static void append_object(struct text_buffer *buffer, json_t *object, unsigned depth)
{
    const char *separator = "";
    const char *key;
    json_t *member, *name;

    text_buffer_append(buffer, "{");
    json_object_foreach(object, key, member)
    {
        text_buffer_append(buffer, separator);
        append_indent(buffer, depth + 1);
        name = json_string(key);
        append_quoted(buffer, name);
        json_decref(name);
        text_buffer_append(buffer, ": ");
        append_value(buffer, member, depth + 1);
        separator = ",";
    }
    if (json_object_size(object) > 0)
        append_indent(buffer, depth);
    text_buffer_append(buffer, "}");
}

static void append_array(struct text_buffer *buffer, json_t *array, unsigned depth)
{
    size_t count = json_array_size(array);

    text_buffer_append(buffer, "[");
    for (size_t i = 0; i < count; i++) {
        text_buffer_append(buffer, i == 0 ? "" : ",");
        append_indent(buffer, depth + 1);
        append_value(buffer, json_array_get(array, i), depth + 1);
    }
    if (count > 0)
        append_indent(buffer, depth);
    text_buffer_append(buffer, "]");
}

static void append_value(struct text_buffer *buffer, json_t *value, unsigned depth)
{
    char number[32];

    switch (json_typeof(value)) {
    case JSON_OBJECT:
        append_object(buffer, value, depth);
        break;
    case JSON_ARRAY:
        append_array(buffer, value, depth);
        break;
    case JSON_STRING:
        append_quoted(buffer, value);
        break;
    case JSON_INTEGER:
        text_buffer_append_format(buffer, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        text_buffer_append(buffer, number_format(json_real_value(value), number));
        break;
    case JSON_TRUE:
        text_buffer_append(buffer, "true");
        break;
    case JSON_FALSE:
        text_buffer_append(buffer, "false");
        break;
    case JSON_NULL:
        text_buffer_append(buffer, "null");
        break;
    default:
        BUG("unknown JSON type");
    }
}

enum status json_writer_print(struct json_writer *writer, FILE *stream, struct error *error)
{
    struct text_buffer buffer = {0};
    enum status status = STATUS_OK;

    writer->depth = 0;
    if (!writer->failed) {
        append_value(&buffer, writer->levels[0], 0);
        text_buffer_append(&buffer, "\n");
    }
    if (writer->failed || buffer.failed)
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out while writing JSON");
    else if (fwrite(buffer.text, 1, buffer.length, stream) != buffer.length)
        status = error_set(error, STATUS_IO, "cannot write JSON: %s", strerror(errno));
    text_buffer_release(&buffer);
    return status;
}
