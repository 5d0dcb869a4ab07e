/* SPDX-License-Identifier: GPL-3.0-or-later
 * Line by line: header, fields or JSON, time. Memory is one line. */
#include "evidence/serving/request_trace.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "base/units.h"

enum {
    FIELDS_MAX = 64,
    COLUMNS = 3 /* time, input, output */
};
#define TOKENS_MAX 1e9
/* The first three bytes of a file that says it is UTF-8. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct request_trace {
    FILE *stream;
    bool owned, skip_bad;
    char name[256];
    unsigned line;
    char *text; /* of the present line, without its end */
    size_t length, capacity;
    enum request_trace_layout layout;
    double time_unit_s;
    size_t places[COLUMNS]; /* of the columns */
    size_t field_count;
    bool has_origin, held; /* held: text is a line that was read ahead */
    double origin_s, origin_fraction_s, last_s;
    uint64_t skipped;
    char first_skipped[sizeof((struct error *)0)->text + 320];
};

static const struct {
    enum request_trace_layout layout;
    const char *columns[COLUMNS];
    double time_unit_s; /* 0: a date */
} layouts[] = {
    {REQUEST_TRACE_OWN, {"arrival_s", "input_tokens", "output_tokens"}, 1.0},
    {REQUEST_TRACE_OWN, {"arrival_ms", "input_tokens", "output_tokens"}, SECONDS_PER_MS},
    {REQUEST_TRACE_AZURE, {"TIMESTAMP", "ContextTokens", "GeneratedTokens"}, 0.0},
    {REQUEST_TRACE_MOONCAKE, {"timestamp", "input_length", "output_length"}, SECONDS_PER_MS},
};

static enum status bad(const struct request_trace *trace, struct error *error, const char *what)
{
    return error_set_at(error, STATUS_BAD_DATA, trace->name, trace->line, 0, "%s", what);
}

/* ---- lines */

static bool line_append(struct request_trace *trace, char c)
{
    if (trace->length + 1 >= trace->capacity) {
        size_t capacity = trace->capacity > 0 ? 2 * trace->capacity : 256;
        char *grown = realloc(trace->text, capacity);

        if (grown == NULL)
            return false;
        trace->text = grown;
        trace->capacity = capacity;
    }
    trace->text[trace->length++] = c;
    trace->text[trace->length] = '\0';
    return true;
}

/* The next line that is not blank. A line that is too long is read to its end and is a bad one. */
static enum status read_line(struct request_trace *trace, bool *more, struct error *error)
{
    bool nul = false, blank = true;
    size_t dropped = 0;
    int c;

    do {
        trace->length = dropped = 0;
        trace->line++;
        while ((c = getc(trace->stream)) != EOF && c != '\n') {
            nul = nul || c == '\0';
            blank = blank && isspace(c);
            if (trace->length == REQUEST_TRACE_LINE_MAX)
                dropped++;
            else if (!line_append(trace, (char)c))
                return error_set_at(error, STATUS_NO_MEMORY, trace->name, trace->line, 0, "memory ran out");
        }
    } while (blank && c != EOF);
    if (ferror(trace->stream) != 0)
        return error_set_at(error, STATUS_IO, trace->name, trace->line, 0, "%s", strerror(errno));
    *more = !blank;
    if (*more && trace->length > 0 && trace->text[trace->length - 1] == '\r')
        trace->text[--trace->length] = '\0';
    if (dropped > 0)
        return bad(trace, error, "the line is longer than 1 MiB");
    return nul ? bad(trace, error, "the line holds a NUL byte") : STATUS_OK;
}

/* Cuts the line at its commas, in place; quotes around a field are taken off. 0: a quote that is not closed, or too
 * many fields. */
static size_t split(char *text, char *fields[FIELDS_MAX])
{
    size_t count = 0;

    while (count < FIELDS_MAX) {
        char *end;

        while (*text == ' ' || *text == '\t')
            text++;
        if (*text == '"') {
            fields[count++] = ++text;
            end = strchr(text, '"');
            if (end == NULL)
                return 0;
            *end++ = '\0';
            end += strspn(end, " \t");
            if (*end != ',' && *end != '\0')
                return 0;
        } else {
            fields[count++] = text;
            end = text + strcspn(text, ",");
        }
        char separator = *end;

        *end = '\0';
        for (char *last = end; last > fields[count - 1] && isspace((unsigned char)last[-1]);)
            *--last = '\0';
        if (separator == '\0')
            return count;
        text = end + 1;
    }
    return 0;
}

/* ---- header */

static bool find_columns(struct request_trace *trace, char *const *fields, size_t count)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        size_t found = 0;

        for (size_t column = 0; column < COLUMNS; column++)
            for (size_t field = 0; field < count; field++)
                if (strcmp(fields[field], layouts[i].columns[column]) == 0) {
                    trace->places[column] = field;
                    found++;
                    break;
                }
        if (found < COLUMNS)
            continue;
        trace->layout = layouts[i].layout;
        trace->time_unit_s = layouts[i].time_unit_s;
        trace->field_count = count;
        return true;
    }
    return false;
}

static enum status read_header(struct request_trace *trace, struct error *error)
{
    char *fields[FIELDS_MAX];
    size_t count;
    bool more = true;
    enum status status;

    do
        status = read_line(trace, &more, error);
    while (status == STATUS_OK && more && *trace->text == '#');
    if (status != STATUS_OK)
        return status;
    if (!more)
        return bad(trace, error, "the trace is empty");
    if (strncmp(trace->text, BYTE_ORDER_MARK, 3) == 0)
        memmove(trace->text, trace->text + 3, (trace->length -= 3) + 1);
    if (*trace->text == '{') {
        trace->layout = REQUEST_TRACE_JSONL;
        trace->time_unit_s = SECONDS_PER_MS;
        trace->held = true;
        return STATUS_OK;
    }
    count = split(trace->text, fields);
    if (find_columns(trace, fields, count))
        return STATUS_OK;
    return bad(trace, error,
               "columns arrival_s (or arrival_ms), input_tokens, output_tokens; TIMESTAMP, ContextTokens, "
               "GeneratedTokens; or timestamp, input_length, output_length are expected, or JSON lines with these");
}

/* ---- times */

/* Days from 1970-01-01 of a date of the Gregorian calendar. */
static double days_of(int year, int month, int day)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int leaps_until = month > 2 ? year : year - 1;
    int leaps = (leaps_until / 4 - 1969 / 4) - (leaps_until / 100 - 1969 / 100) + (leaps_until / 400 - 1969 / 400);

    return 365.0 * (year - 1970) + before[month - 1] + day - 1 + leaps;
}

static bool digits(const char **text, int count, int *value)
{
    *value = 0;
    for (int i = 0; i < count; i++, (*text)++) {
        if (!isdigit((unsigned char)**text))
            return false;
        *value = 10 * *value + (**text - '0');
    }
    return true;
}

/* "+00:00", "-07:30" or "Z" behind a time, seconds to take off. */
static bool zone(const char *text, double *offset_s)
{
    int hours, minutes, sign = *text == '-' ? -1 : 1;

    *offset_s = 0.0;
    if (*text == '\0' || strcmp(text, "Z") == 0)
        return true;
    if (*text++ != (sign < 0 ? '-' : '+') || !digits(&text, 2, &hours) || *text++ != ':' || !digits(&text, 2, &minutes))
        return false;
    *offset_s = sign * 60.0 * (60.0 * hours + minutes);
    return *text == '\0' && hours < 24 && minutes < 60;
}

/* "2023-11-16 18:15:46.6805900", also with a T, with fewer digits or a zone. Whole seconds and fraction apart: a double
 * keeps tenths of microseconds of one day, not of fifty years. */
static bool date_parse(const char *text, double *whole_s, double *fraction_s)
{
    int year, month, day, hour, minute, second;
    double scale = 0.1, offset;

    if (!digits(&text, 4, &year) || *text++ != '-' || !digits(&text, 2, &month) || *text++ != '-' ||
        !digits(&text, 2, &day) || (*text != ' ' && *text != 'T'))
        return false;
    text++;
    if (!digits(&text, 2, &hour) || *text++ != ':' || !digits(&text, 2, &minute) || *text++ != ':' ||
        !digits(&text, 2, &second))
        return false;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60)
        return false;
    if (day > days_of(month < 12 ? year : year + 1, month % 12 + 1, 1) - days_of(year, month, 1))
        return false;
    *fraction_s = 0.0;
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text); text++, scale *= 0.1)
            *fraction_s += scale * (*text - '0');
    if (!zone(text, &offset))
        return false;
    *whole_s = 86400.0 * days_of(year, month, day) + 3600.0 * hour + 60.0 * minute + second - offset;
    return true;
}

/* ---- requests */

static bool whole_tokens(double value, uint64_t *tokens)
{
    if (!(value >= 1.0 && value <= TOKENS_MAX && value == floor(value)))
        return false;
    *tokens = (uint64_t)value;
    return true;
}

/* Takes what a line says, or says what is wrong with it. */
static enum status accept(struct request_trace *trace, double whole_s, double fraction_s, const double tokens[2],
                          struct traced_request *request, struct error *error)
{
    double time_s = trace->has_origin ? (whole_s - trace->origin_s) + (fraction_s - trace->origin_fraction_s) : 0.0;

    if (!(whole_s >= 0.0) || isinf(whole_s))
        return bad(trace, error, "a time that is not negative is expected");
    if (tokens[0] == 0.0 || tokens[1] == 0.0)
        return bad(trace, error, "a request of no prompt or no output tokens");
    if (!whole_tokens(tokens[0], &request->input_tokens) || !whole_tokens(tokens[1], &request->output_tokens))
        return bad(trace, error, "1 to 10^9 prompt and output tokens, whole numbers, are expected");
    if (trace->has_origin && time_s < trace->last_s)
        return bad(trace, error, "the request arrives before the one ahead of it: sort the trace by time");
    if (!trace->has_origin) {
        trace->has_origin = true;
        trace->origin_s = whole_s;
        trace->origin_fraction_s = fraction_s;
    }
    trace->last_s = request->arrival_s = time_s;
    return STATUS_OK;
}

static enum status read_fields(struct request_trace *trace, struct traced_request *request, struct error *error)
{
    char *fields[FIELDS_MAX];
    size_t count = split(trace->text, fields);
    double whole = 0.0, fraction = 0.0, tokens[2];
    const char *time = count == trace->field_count ? fields[trace->places[0]] : NULL;

    if (time == NULL)
        return bad(trace, error, "another number of fields than the header has");
    if (trace->time_unit_s == 0.0 && !date_parse(time, &whole, &fraction))
        return bad(trace, error, "a time such as 2023-11-16 18:15:46.6805900 is expected");
    if (trace->time_unit_s > 0.0) {
        if (number_parse(time, &whole) != STATUS_OK)
            return bad(trace, error, "the time is not a number");
        whole *= trace->time_unit_s;
    }
    for (size_t i = 0; i < 2; i++)
        if (number_parse(fields[trace->places[i + 1]], &tokens[i]) != STATUS_OK)
            return bad(trace, error, "the number of tokens is not a number");
    return accept(trace, whole, fraction, tokens, request, error);
}

static enum status read_json(struct request_trace *trace, struct traced_request *request, struct error *error)
{
    const char *const *keys = layouts[sizeof layouts / sizeof layouts[0] - 1].columns;
    double values[COLUMNS];
    json_error_t reason;
    json_t *object = json_loadb(trace->text, trace->length, 0, &reason);
    bool complete = json_is_object(object);

    for (size_t i = 0; i < COLUMNS && complete; i++) {
        const json_t *value = json_object_get(object, keys[i]);

        complete = json_is_number(value);
        values[i] = complete ? json_number_value(value) : 0.0;
    }
    json_decref(object);
    if (!complete)
        return bad(trace, error,
                   "a JSON object with the numbers timestamp, input_length and output_length is expected");
    return accept(trace, values[0] * trace->time_unit_s, 0.0, values + 1, request, error);
}

static enum status read_request(struct request_trace *trace, struct traced_request *request, bool *more,
                                struct error *error)
{
    enum status status = STATUS_OK;

    *more = true;
    if (!trace->held)
        status = read_line(trace, more, error);
    trace->held = false;
    if (status != STATUS_OK || !*more)
        return status;
    return trace->layout == REQUEST_TRACE_JSONL ? read_json(trace, request, error) : read_fields(trace, request, error);
}

enum status request_trace_next(struct request_trace *trace, struct traced_request *request, bool *more,
                               struct error *error)
{
    for (;;) {
        struct error line_error = {0};
        enum status status = read_request(trace, request, more, &line_error);

        if (status != STATUS_BAD_DATA || !trace->skip_bad) {
            if (status != STATUS_OK && error != NULL)
                *error = line_error;
            return status;
        }
        if (trace->skipped++ == 0)
            (void)error_describe(&line_error, trace->first_skipped, sizeof trace->first_skipped);
    }
}

enum status request_trace_attach(FILE *stream, const char *name, bool skip_bad, struct request_trace **trace,
                                 struct error *error)
{
    struct request_trace *opened = calloc(1, sizeof *opened);
    enum status status;

    *trace = NULL;
    if (opened == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the trace");
    opened->stream = stream;
    opened->skip_bad = skip_bad;
    (void)snprintf(opened->name, sizeof opened->name, "%s", name);
    status = read_header(opened, error);
    if (status == STATUS_OK)
        *trace = opened;
    else
        request_trace_free(opened);
    return status;
}

enum status request_trace_open(const char *path, bool skip_bad, struct request_trace **trace, struct error *error)
{
    struct stat info;
    FILE *stream;
    enum status status;

    *trace = NULL;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "is a directory, a file is expected");
    stream = fopen(path, "rb");
    if (stream == NULL)
        return error_set_at(error, STATUS_MISSING, path, 0, 0, "cannot be opened: %s", strerror(errno));
    status = request_trace_attach(stream, path, skip_bad, trace, error);
    if (status == STATUS_OK)
        (*trace)->owned = true;
    else
        (void)fclose(stream);
    return status;
}

enum request_trace_layout request_trace_layout_of(const struct request_trace *trace)
{
    return trace->layout;
}

uint64_t request_trace_skipped(const struct request_trace *trace, const char **first)
{
    *first = trace->first_skipped;
    return trace->skipped;
}

void request_trace_free(struct request_trace *trace)
{
    if (trace == NULL)
        return;
    if (trace->owned)
        (void)fclose(trace->stream);
    free(trace->text);
    free(trace);
}
