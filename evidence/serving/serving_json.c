/* SPDX-License-Identifier: GPL-3.0-or-later
 * JSON of benchmark programs: cut into values, single requests left out, then parsed. */
#include <math.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/json_tolerant.h"
#include "evidence/serving/serving_reader.h"

enum {
    PATH_PART_MAX = 64
};

/* What the files hold of single requests: nothing of it is read, and it can be most of the file. */
static const char *const request_keys[] = {"itls",        "ttfts",          "generated_texts", "errors",
                                           "start_times", "input_lens",     "output_lens",     "request_samples",
                                           "requests",    "prompt_lengths", "latencies",       "samples"};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

/* From an opening quote to behind the closing one; `end` if there is none. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at < end ? at + 1 : end;
}

/* From an opening bracket to behind its closing one; NULL where the text ends before. */
static const char *skip_value(const char *at, const char *end)
{
    size_t depth = 0;

    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if ((*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
        at++;
    }
    return NULL;
}

static unsigned count_lines(const char *at, const char *end)
{
    unsigned lines = 0;

    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

static bool is_request_key(const char *key, size_t length)
{
    for (size_t i = 0; i < sizeof request_keys / sizeof request_keys[0]; i++)
        if (strlen(request_keys[i]) == length && memcmp(request_keys[i], key, length) == 0)
            return true;
    return false;
}

/* --- one value to clean text ---------------------------------------------------------------------------------------
 */

struct cleaner {
    const char *at, *end, *from; /* from: what is not in `out` yet */
    struct text_buffer *out;
};

static void replace(struct cleaner *self, const char *behind, const char *text)
{
    text_buffer_append_bytes(self->out, self->from, (size_t)(self->at - self->from));
    text_buffer_append(self->out, text);
    self->at = self->from = behind;
}

/* At a quote: a key whose value is left out, with its line ends kept so that later errors name the right line; or any
 * other string. False where the value does not end. */
static bool take_string(struct cleaner *self)
{
    const char *start = self->at + 1, *behind = skip_string(self->at, self->end);
    const char *value = skip_spaces(behind, self->end);

    if (value < self->end && *value == ':' && is_request_key(start, (size_t)(behind - start) - 1)) {
        value = skip_spaces(value + 1, self->end);
        if (value < self->end && (*value == '[' || *value == '{')) {
            const char *rest = skip_value(value, self->end);

            if (rest == NULL)
                return false;
            self->at = value;
            replace(self, rest, "null");
            for (unsigned lines = count_lines(value, rest); lines > 0; lines--)
                text_buffer_append(self->out, "\n");
            return true;
        }
    }
    self->at = behind;
    return true;
}

/* Cleans the value at `at` into out. NULL and a reason, or where it ends. */
static const char *clean_value(const char *at, const char *end, struct text_buffer *out, const char **reason)
{
    struct cleaner self = {at, end, at, out};
    unsigned depth = 0;

    *reason = "the text ends within a value";
    while (self.at < end) {
        char c = *self.at;

        if (c == '"') {
            if (!take_string(&self))
                return NULL;
            continue;
        }
        if ((c == '{' || c == '[') && ++depth > JSON_DEPTH_MAX) {
            *reason = "brackets are nested too deep";
            return NULL;
        }
        self.at++;
        if ((c == '}' || c == ']') && --depth == 0) {
            text_buffer_append_bytes(out, self.from, (size_t)(self.at - self.from));
            return self.at;
        }
    }
    return NULL;
}

/* --- values of a text ----------------------------------------------------------------------------------------------
 */

static bool opens(const char *at, const char *end)
{
    return at < end && (*at == '{' || *at == '[');
}

/* Lines stand for themselves where the first of them does, and where the text begins with something else. */
void serving_json_begin(struct serving_json *source, const char *text, size_t length)
{
    *source = (struct serving_json){.at = text, .end = text + length, .line = 1};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        source->at += 3;
    const char *start = skip_spaces(source->at, source->end);

    if (!opens(start, source->end)) {
        source->by_lines = true;
        return;
    }
    const char *line_end = memchr(start, '\n', (size_t)(source->end - start));

    source->by_lines = line_end != NULL && skip_value(start, line_end) != NULL;
}

static enum status parse_value(const char *at, const char *end, const char **behind, const char *name, unsigned line,
                               json_t **value, struct error *error)
{
    struct text_buffer clean = {0};
    const char *reason;
    enum status status = STATUS_OK;

    *behind = clean_value(at, end, &clean, &reason);
    if (clean.failed) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for %s", name);
    } else if (*behind == NULL) {
        status = error_set_at(error, STATUS_BAD_DATA, name, line, 0, "no JSON: %s", reason);
    } else {
        struct error problem = {0};

        status = json_tolerant_parse(clean.text, clean.length, name, JSON_DUPLICATES_REFUSED, value, NULL, &problem);
        if (status != STATUS_OK) /* its lines count from the value's first */
            status = error_set_at(error, status, name, line + (problem.line > 1 ? problem.line - 1 : 0), 0, "%s",
                                  problem.text);
    }
    text_buffer_release(&clean);
    return status;
}

enum status serving_json_next(struct serving_json *source, const char *name, json_t **value, unsigned *line,
                              struct error *error)
{
    *value = NULL;
    while (source->at < source->end) {
        const char *start = skip_spaces(source->at, source->end), *limit = source->end, *behind;

        source->line += count_lines(source->at, start);
        source->at = start;
        if (start == source->end)
            break;
        if (source->by_lines) {
            limit = memchr(start, '\n', (size_t)(source->end - start));
            limit = limit == NULL ? source->end : limit;
        }
        *line = source->line;
        if (!opens(start, limit)) {
            if (source->by_lines) {
                source->at = limit;
                continue;
            }
            source->at = source->end;
            return error_set_at(error, STATUS_BAD_DATA, name, *line, 0, "no JSON: an object or array is expected");
        }
        enum status status = parse_value(start, limit, &behind, name, *line, value, error);

        if (status != STATUS_OK || source->by_lines)
            behind = limit;
        source->line += count_lines(start, behind);
        source->at = behind;
        return status;
    }
    return STATUS_OK;
}

/* --- fields --------------------------------------------------------------------------------------------------------
 */

const json_t *serving_find(const json_t *object, const char *path)
{
    char part[PATH_PART_MAX];

    while (object != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");

        if (length >= sizeof part)
            return NULL;
        memcpy(part, path, length);
        part[length] = '\0';
        object = json_object_get(object, part);
        path += length;
        path += *path == '.';
    }
    return json_is_null(object) ? NULL : object;
}

double serving_number(const json_t *object, const char *path)
{
    const json_t *value = serving_find(object, path);
    double number = (double)NAN;

    if (value == NULL)
        return number;
    if (json_tolerant_number(value, &number))
        return isfinite(number) ? number : (double)NAN;
    if (json_is_string(value) && number_parse(json_string_value(value), &number) == STATUS_OK)
        return number;
    return (double)NAN;
}

double serving_positive(const json_t *object, const char *path)
{
    double number = serving_number(object, path);

    return number > 0.0 ? number : (double)NAN;
}

const char *serving_text(const json_t *object, const char *path)
{
    const json_t *value = serving_find(object, path);

    return json_is_string(value) ? json_string_value(value) : "";
}

double serving_rate(const json_t *object, const char *path)
{
    const json_t *value = serving_find(object, path);
    double number = 0.0;

    if (strcmp(serving_text(object, path), "inf") == 0)
        return (double)INFINITY;
    return value != NULL && json_tolerant_number(value, &number) && isinf(number) && number > 0.0
               ? number
               : serving_positive(object, path);
}
