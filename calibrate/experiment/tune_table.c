/* SPDX-License-Identifier: GPL-3.0-or-later
 * The record of a tuning loop as CSV (tune_store.h). */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "calibrate/experiment/tune_store.h"

struct tune_table {
    int file;
    size_t name_count;
    char device[96]; /* "": the file has no such column */
    char path[256];
    struct text_buffer header, line;
};

static enum status io_error(const struct tune_table *table, const char *what, struct error *error)
{
    return error_set_at(error, STATUS_IO, table->path, 0, 0, "%s: %s", what, strerror(errno));
}

static enum status write_all(const struct tune_table *table, const char *text, size_t length, struct error *error)
{
    while (length > 0) {
        const ssize_t written = write(table->file, text, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return io_error(table, "cannot be written", error);
        }
        text += written;
        length -= (size_t)written;
    }
    return fsync(table->file) == 0 || errno == EINVAL ? STATUS_OK : io_error(table, "cannot be flushed", error);
}

static void append_quoted(struct text_buffer *buffer, const char *text)
{
    text_buffer_append(buffer, "\"");
    for (; *text != '\0'; text++) {
        text_buffer_append_bytes(buffer, *text == '"' ? "\"\"" : *text == '\n' ? " " : text, *text == '"' ? 2 : 1);
    }
    text_buffer_append(buffer, "\"");
}

static void append_number(struct text_buffer *buffer, double value)
{
    char number[32];
    text_buffer_append(buffer, ",");
    if (isfinite(value)) {
        text_buffer_append(buffer, number_format(value, number));
    }
}

static enum status keep_row(void *context, const struct tune_row *row, struct error *error)
{
    struct tune_table *table = context;
    struct text_buffer *line = &table->line;
    char number[32];
    text_buffer_clear(line);
    for (size_t i = 0; i < table->name_count; i++) {
        text_buffer_append(line, i ? "," : "");
        text_buffer_append(line, number_format(row->values[i], number));
    }
    append_number(line, row->value);
    text_buffer_append(line, ",");
    text_buffer_append(line, row->outcome);
    append_number(line, row->forecast);
    append_number(line, row->forecast_lo);
    append_number(line, row->forecast_hi);
    text_buffer_append(line, ",");
    append_quoted(line, row->note ? row->note : "");
    if (table->device[0] != '\0') {
        text_buffer_append(line, ",");
        append_quoted(line, table->device);
    }
    text_buffer_append(line, "\n");
    return line->failed ? error_set(error, STATUS_NO_MEMORY, "no memory for a row")
                        : write_all(table, line->text, line->length, error);
}

/* Whether the text begins with our header, or with that of a record without the column `device`, which stays so. */
static bool has_our_header(struct tune_table *table, const char *text, size_t length)
{
    static const char last[] = ",device\n";
    const size_t header = table->header.length, older = header - (sizeof last - 1);
    if (length >= header && memcmp(text, table->header.text, header) == 0) {
        return true;
    }
    if (length > older && memcmp(text, table->header.text, older) == 0 && text[older] == '\n') {
        table->device[0] = '\0';
        return true;
    }
    return false;
}

/* An existing file: its header must be ours, and it must end with a whole line. */
static enum status take_over(struct tune_table *table, struct error *error)
{
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read_text(table->path, 256u << 20, &text, &length, error);
    if (status != STATUS_OK) {
        return status;
    }
    size_t whole = length;
    while (whole > 0 && text[whole - 1] != '\n') {
        whole--;
    }
    if (!has_our_header(table, text, whole)) {
        status = whole == 0 ? STATUS_OK
                            : error_set_at(error, STATUS_BAD_DATA, table->path, 1, 0,
                                           "is no record of this search: its first line is another");
    }
    if (status == STATUS_OK && whole < length && ftruncate(table->file, (off_t)whole) != 0) {
        status = io_error(table, "a last line that was cut off cannot be taken away", error);
    }
    if (status == STATUS_OK && whole == 0) {
        status = write_all(table, table->header.text, table->header.length, error);
    }
    free(text);
    return status;
}

static void make_header(struct tune_table *table, const char *const *names, const char *value_name)
{
    for (size_t i = 0; i < table->name_count; i++) {
        text_buffer_append(&table->header, names[i]);
        text_buffer_append(&table->header, ",");
    }
    text_buffer_append(&table->header, value_name);
    text_buffer_append(&table->header, ",outcome,forecast,forecast_lo,forecast_hi,note,device\n");
}

/* One writer at a time; the lock ends with the process. */
static enum status lock(const struct tune_table *table, struct error *error)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(table->file, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN)) {
        return STATUS_OK; /* some file systems have no locks */
    }
    return error_set_at(error, STATUS_IO, table->path, 0, 0, "another search is writing it");
}

enum status tune_table_open(const char *path, const char *const *names, size_t name_count, const char *value_name,
                            const char *device, struct tune_table **table, struct tune_store *store,
                            struct error *error)
{
    struct tune_table *self = calloc(1, sizeof *self);
    *table = self;
    if (self == NULL || strlen(path) >= sizeof self->path) {
        free(self);
        *table = NULL;
        return self ? error_set(error, STATUS_USAGE, "the record's path is too long")
                    : error_set(error, STATUS_NO_MEMORY, "no memory for a record");
    }
    strcpy(self->path, path);
    self->name_count = name_count;
    (void)snprintf(self->device, sizeof self->device, "%s", device);
    make_header(self, names, value_name);
    self->file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    enum status status = self->header.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for a record")
                         : self->file < 0    ? io_error(self, "cannot be opened for writing", error)
                                             : lock(self, error);
    status = status == STATUS_OK ? take_over(self, error) : status;
    *store = (struct tune_store){.context = self, .keep = keep_row};
    if (status != STATUS_OK) {
        tune_table_close(self);
        *table = NULL;
    }
    return status;
}

void tune_table_close(struct tune_table *table)
{
    if (table != NULL) {
        if (table->file >= 0) {
            close(table->file);
        }
        text_buffer_release(&table->header);
        text_buffer_release(&table->line);
        free(table);
    }
}
