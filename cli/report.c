/* SPDX-License-Identifier: GPL-3.0-or-later
 * Recorded answers: a flat list of events that is replayed as JSON, CSV or a table. */
#include "cli/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "cli/quantity_text.h"
#include "evidence/json_writer.h"

enum event_kind {
    EVENT_BEGIN_OBJECT,
    EVENT_BEGIN_ARRAY,
    EVENT_END,
    EVENT_STRING,
    EVENT_NUMBER,
    EVENT_INTEGER,
    EVENT_BOOL
};

struct report_event {
    enum event_kind kind;
    char *key, *text; /* owned; NULL where there is none */
    double number;
    int64_t integer; /* of EVENT_BEGIN_ARRAY: 1 = an array of objects */
};

void report_release(struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        free(report->events[i].key);
        free(report->events[i].text);
    }
    free(report->events);
    *report = (struct report){0};
}

static void record(struct report *report, const char *key, const char *text, struct report_event event)
{
    if (report->failed)
        return;
    if (report->count == report->capacity) {
        size_t capacity = report->capacity == 0 ? 64 : 2 * report->capacity;
        struct report_event *events = realloc(report->events, capacity * sizeof *events);

        if (events == NULL) {
            report->failed = true;
            return;
        }
        report->events = events;
        report->capacity = capacity;
    }
    event.key = key == NULL ? NULL : strdup(key);
    event.text = text == NULL ? NULL : strdup(text);
    report->failed = (key != NULL && event.key == NULL) || (text != NULL && event.text == NULL);
    report->events[report->count++] = event;
}

void report_begin_object(struct report *report, const char *key)
{
    record(report, key, NULL, (struct report_event){.kind = EVENT_BEGIN_OBJECT});
    report->depth++;
}

void report_begin_array(struct report *report, const char *key)
{
    record(report, key, NULL, (struct report_event){.kind = EVENT_BEGIN_ARRAY});
    report->depth++;
}

void report_begin_rows(struct report *report, const char *key)
{
    record(report, key, NULL, (struct report_event){.kind = EVENT_BEGIN_ARRAY, .integer = 1});
    report->depth++;
}

void report_end(struct report *report)
{
    if (report->depth == 0)
        BUG("report_end without a matching begin");
    report->depth--;
    record(report, NULL, NULL, (struct report_event){.kind = EVENT_END});
}

void report_string(struct report *report, const char *key, const char *value)
{
    record(report, key, value, (struct report_event){.kind = EVENT_STRING});
}

void report_number(struct report *report, const char *key, double value)
{
    record(report, key, NULL, (struct report_event){.kind = EVENT_NUMBER, .number = value});
}

void report_integer(struct report *report, const char *key, int64_t value)
{
    record(report, key, NULL, (struct report_event){.kind = EVENT_INTEGER, .integer = value});
}

void report_bool(struct report *report, const char *key, bool value)
{
    record(report, key, NULL, (struct report_event){.kind = EVENT_BOOL, .integer = value});
}

static enum status print_json(const struct report *report, FILE *stream, struct error *error)
{
    struct json_writer *writer;
    enum status status = json_writer_create(&writer);

    if (status != STATUS_OK)
        return error_set(error, status, "memory ran out while writing JSON");
    for (size_t i = 0; i < report->count; i++) {
        const struct report_event *event = &report->events[i];

        switch (event->kind) {
        case EVENT_BEGIN_OBJECT:
            json_writer_begin_object(writer, event->key);
            break;
        case EVENT_BEGIN_ARRAY:
            json_writer_begin_array(writer, event->key);
            break;
        case EVENT_END:
            json_writer_end(writer);
            break;
        case EVENT_STRING:
            json_writer_string(writer, event->key, event->text);
            break;
        case EVENT_NUMBER:
            json_writer_number(writer, event->key, event->number);
            break;
        case EVENT_INTEGER:
            json_writer_integer(writer, event->key, event->integer);
            break;
        case EVENT_BOOL:
            json_writer_bool(writer, event->key, event->integer != 0);
            break;
        default:
            BUG("unknown report event");
        }
    }
    status = json_writer_print(writer, stream, error);
    json_writer_free(writer);
    return status;
}

/* Index of the event after the one that begins at `index`, with everything inside it. */
static size_t event_after(const struct report *report, size_t index)
{
    size_t depth = 0;

    do {
        enum event_kind kind = report->events[index].kind;

        if (kind == EVENT_BEGIN_OBJECT || kind == EVENT_BEGIN_ARRAY)
            depth++;
        else if (kind == EVENT_END)
            depth--;
        index++;
    } while (depth > 0);
    return index;
}

static bool is_null(const struct report_event *event)
{
    return (event->kind == EVENT_STRING && event->text == NULL) ||
           (event->kind == EVENT_NUMBER && !isfinite(event->number));
}

/* As a person reads it: percentages, which keys tell by their ending, not below the hundredth. */
static double shown_number(const struct report_event *event)
{
    static const char ending[] = "_percent";
    const size_t length = event->key != NULL ? strlen(event->key) : 0, tail = sizeof ending - 1;

    return length >= tail && strcmp(event->key + length - tail, ending) == 0 ? quantity_percent_shown(event->number)
                                                                             : event->number;
}

/* digits 0: exact. */
static void append_value(struct text_buffer *buffer, const struct report_event *event, int digits)
{
    char number[32];

    if (is_null(event))
        return;
    if (event->kind == EVENT_STRING)
        text_buffer_append(buffer, event->text);
    else if (event->kind == EVENT_NUMBER)
        text_buffer_append(buffer, digits > 0 ? number_format_digits(shown_number(event), digits, number)
                                              : number_format(event->number, number));
    else if (event->kind == EVENT_INTEGER)
        text_buffer_append_format(buffer, "%lld", (long long)event->integer);
    else
        text_buffer_append(buffer, event->integer != 0 ? "true" : "false");
}

/* One column of a row: its path, and the event that holds its value (a plain value or an array of them). */
struct field {
    char *path; /* owned */
    size_t event;
};

struct row {
    size_t count, capacity;
    struct field *fields;
    bool failed;
};

static void row_release(struct row *row)
{
    for (size_t i = 0; i < row->count; i++)
        free(row->fields[i].path);
    free(row->fields);
    *row = (struct row){0};
}

static void row_add(struct row *row, const char *prefix, const char *key, size_t event)
{
    struct text_buffer path = {0};

    if (row->count == row->capacity) {
        size_t capacity = row->capacity == 0 ? 32 : 2 * row->capacity;
        struct field *fields = realloc(row->fields, capacity * sizeof *fields);

        if (fields == NULL) {
            row->failed = true;
            return;
        }
        row->fields = fields;
        row->capacity = capacity;
    }
    text_buffer_append(&path, prefix);
    text_buffer_append(&path, key);
    row->failed = row->failed || path.failed;
    if (path.failed)
        text_buffer_release(&path);
    else
        row->fields[row->count++] = (struct field){path.text, event};
}

/* Collects the fields of events[begin..end), the inside of an object. */
static void row_collect(const struct report *report, size_t begin, size_t end, const char *prefix, struct row *row)
{
    for (size_t i = begin; i < end; i = event_after(report, i)) {
        const struct report_event *event = &report->events[i];

        if (event->kind == EVENT_BEGIN_OBJECT) {
            struct text_buffer inner = {0};

            text_buffer_append(&inner, prefix);
            text_buffer_append(&inner, event->key);
            text_buffer_append(&inner, ".");
            if (inner.failed)
                row->failed = true;
            else
                row_collect(report, i + 1, event_after(report, i) - 1, inner.text, row);
            text_buffer_release(&inner);
        } else if (event->kind != EVENT_BEGIN_ARRAY || event->integer == 0) {
            row_add(row, prefix, event->key, i);
        }
    }
}

static const struct field *row_find(const struct row *row, const char *path)
{
    for (size_t i = 0; i < row->count; i++)
        if (strcmp(row->fields[i].path, path) == 0)
            return &row->fields[i];
    return NULL;
}

static void append_field(const struct report *report, const struct field *field, int digits, struct text_buffer *text)
{
    const struct report_event *event = &report->events[field->event];

    if (event->kind != EVENT_BEGIN_ARRAY) {
        append_value(text, event, digits);
        return;
    }
    for (size_t i = field->event + 1; report->events[i].kind != EVENT_END; i++) {
        text_buffer_append(text, i == field->event + 1 ? "" : ";");
        append_value(text, &report->events[i], digits);
    }
}

/* First event inside the top-level array of that name, or count when there is none. */
static size_t rows_begin(const struct report *report, const char *rows_key)
{
    for (size_t i = 0; i < report->count; i = event_after(report, i))
        if (report->events[i].kind == EVENT_BEGIN_ARRAY && strcmp(report->events[i].key, rows_key) == 0)
            return i + 1;
    return report->count;
}

static bool write_csv_line(const struct report *report, const struct row *heads, const struct row *row, FILE *stream)
{
    struct text_buffer text = {0};

    for (size_t i = 0; i < heads->count; i++) {
        const struct field *field = row == NULL ? NULL : row_find(row, heads->fields[i].path);

        text_buffer_clear(&text);
        text_buffer_append(&text, "");
        if (row == NULL)
            text_buffer_append(&text, heads->fields[i].path);
        else if (field != NULL)
            append_field(report, field, 0, &text);
        if (i > 0)
            (void)fputc(',', stream);
        csv_write_field(stream, text.text == NULL ? "" : text.text);
    }
    bool good = fputc('\n', stream) != EOF && !text.failed;

    text_buffer_release(&text);
    return good;
}

static enum status print_csv(const struct report *report, const char *rows_key, FILE *stream, struct error *error)
{
    struct row heads = {0}, row = {0};
    size_t index = rows_key == NULL ? 0 : rows_begin(report, rows_key);
    bool good = true, first = true;

    while (good && index < report->count && report->events[index].kind != EVENT_END) {
        size_t next = rows_key == NULL ? report->count : event_after(report, index);

        if (rows_key == NULL)
            row_collect(report, index, next, "", &row);
        else
            row_collect(report, index + 1, next - 1, "", &row);
        if (first) {
            heads = row;
            good = write_csv_line(report, &heads, NULL, stream);
        }
        good = good && write_csv_line(report, &heads, &row, stream) && !row.failed;
        if (first)
            row = (struct row){0}; /* its fields live on in heads */
        else
            row_release(&row);
        first = false;
        index = next;
    }
    row_release(&row);
    row_release(&heads);
    if (!good)
        return error_set(error, STATUS_IO, "cannot write CSV: %s", strerror(errno));
    return STATUS_OK;
}

enum status report_print(const struct report *report, enum output_format format, const char *rows_key, FILE *stream,
                         struct error *error)
{
    if (report->failed)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out while collecting the answer");
    if (report->depth != 0)
        BUG("a report with %zu open levels", report->depth);
    if (format == OUTPUT_FORMAT_JSON)
        return print_json(report, stream, error);
    return print_csv(report, rows_key, stream, error);
}

/* Cells of the table, row-major, the heading first. */
struct cells {
    size_t rows, columns;
    char **texts; /* owned */
    bool *left;   /* per column */
    size_t *widths;
};

static void cells_release(struct cells *cells)
{
    for (size_t i = 0; cells->texts != NULL && i < cells->rows * cells->columns; i++)
        free(cells->texts[i]);
    free(cells->texts);
    free(cells->left);
    free(cells->widths);
}

/* Characters, not bytes: continuation bytes of UTF-8 take no place. */
static size_t text_width(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* A row is one line, and texts of files do not steer the terminal: control characters become '?', those of UTF-8
 * (U+0080 to U+009F) too. */
static void make_printable(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        if (*at < ' ' || *at == 0x7f)
            *at = '?';
        else if (*at == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f)
            at[0] = at[1] = '?';
    }
}

static bool cells_put(struct cells *cells, size_t row, size_t column, const char *text)
{
    char *copy = strdup(text);
    size_t width;

    if (copy != NULL)
        make_printable(copy);
    width = text_width(copy != NULL ? copy : "");

    cells->texts[row * cells->columns + column] = copy;
    if (width > cells->widths[column])
        cells->widths[column] = width;
    return copy != NULL;
}

static bool cells_fill(struct cells *cells, const struct report *report, size_t index,
                       const struct report_column *columns)
{
    bool good = true;

    for (size_t c = 0; c < cells->columns; c++)
        good = cells_put(cells, 0, c, columns[c].heading) && good;
    for (size_t r = 1; r < cells->rows && good; r++, index = event_after(report, index)) {
        struct row row = {0};

        row_collect(report, index + 1, event_after(report, index) - 1, "", &row);
        for (size_t c = 0; c < cells->columns; c++) {
            const struct field *field = row_find(&row, columns[c].key);
            struct text_buffer text = {0};

            if (field != NULL)
                append_field(report, field, columns[c].digits, &text);
            if (field != NULL && report->events[field->event].kind == EVENT_STRING)
                cells->left[c] = true;
            good = cells_put(cells, r, c, text.length == 0 ? "-" : text.text) && !text.failed && good;
            text_buffer_release(&text);
        }
        good = good && !row.failed;
        row_release(&row);
    }
    return good;
}

static void cells_print(const struct cells *cells, FILE *stream)
{
    for (size_t r = 0; r < cells->rows; r++) {
        for (size_t c = 0; c < cells->columns; c++) {
            const char *text = cells->texts[r * cells->columns + c];
            size_t padding = cells->widths[c] - text_width(text);
            bool last = c + 1 == cells->columns;

            if (c > 0)
                (void)fputs("  ", stream);
            if (cells->left[c])
                (void)fprintf(stream, "%s%*s", text, last ? 0 : (int)padding, "");
            else
                (void)fprintf(stream, "%*s%s", (int)padding, "", text);
        }
        (void)fputc('\n', stream);
    }
}

enum status report_print_table(const struct report *report, const char *rows_key, const struct report_column *columns,
                               size_t column_count, FILE *stream, struct error *error)
{
    size_t begin = rows_begin(report, rows_key);
    struct cells cells = {.rows = 1, .columns = column_count};
    bool good;

    for (size_t i = begin; i < report->count && report->events[i].kind != EVENT_END; i = event_after(report, i))
        cells.rows++;
    cells.texts = calloc(cells.rows * column_count, sizeof *cells.texts);
    cells.left = calloc(column_count, sizeof *cells.left);
    cells.widths = calloc(column_count, sizeof *cells.widths);
    good = !report->failed && cells.texts != NULL && cells.left != NULL && cells.widths != NULL &&
           cells_fill(&cells, report, begin, columns);
    if (good)
        cells_print(&cells, stream);
    cells_release(&cells);
    if (!good)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out while printing a table");
    return STATUS_OK;
}
