/* SPDX-License-Identifier: GPL-3.0-or-later
 * Status codes and one-line error messages with a place. Called by every room; only bug_abort prints, because it is
 * the last thing a broken program does. */
#include "base/status.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct status_entry {
    const char *name, *text;
    int exit_code;
};

#define STATUS_TABLE_ENTRY(name, exit_code, text) {#name, text, exit_code},
static const struct status_entry status_table[] = {STATUS_LIST(STATUS_TABLE_ENTRY)};
#undef STATUS_TABLE_ENTRY

static const struct status_entry *status_entry(enum status status)
{
    if ((unsigned)status >= (unsigned)STATUS_COUNT)
        BUG("status %d is not in STATUS_LIST", (int)status);
    return &status_table[status];
}

const char *status_name(enum status status)
{
    return status_entry(status)->name;
}

const char *status_text(enum status status)
{
    return status_entry(status)->text;
}

int status_exit_code(enum status status)
{
    return status_entry(status)->exit_code;
}

/* Messages quote hostile input; a control character could move the cursor or start a second line. */
static void make_one_line(char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == 0x7f)
            *text = ' ';
    }
}

/* A cut in the middle of a UTF-8 character would leave a broken one at the end of the message. */
static void drop_cut_character(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (length - (start - 1) < wanted)
        text[start - 1] = '\0';
}

/* The end of a path tells more than its beginning, so a long one loses its head. */
static void store_file_name(char *out, size_t out_size, const char *file)
{
    size_t length = strlen(file);
    if (length < out_size) {
        memcpy(out, file, length + 1);
    } else {
        memcpy(out, "...", 3);
        memcpy(out + 3, file + length - (out_size - 4), out_size - 3);
    }
    make_one_line(out);
}

static void store_error(struct error *error, enum status status, const char *file, unsigned line, unsigned column,
                        const char *format, va_list arguments)
{
    char text[sizeof error->text]; /* the arguments may point into *error itself */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    int length = vsnprintf(text, sizeof text, format, arguments);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    if (length < 0)
        snprintf(text, sizeof text, "%s", status_text(status));
    else if ((size_t)length >= sizeof text)
        drop_cut_character(text, sizeof text - 1);
    make_one_line(text);
    char name[sizeof error->file];
    store_file_name(name, sizeof name, file ? file : "");
    error->status = status;
    error->line = line;
    error->column = column;
    memcpy(error->file, name, sizeof name);
    memcpy(error->text, text, sizeof text);
}

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        store_error(error, status, NULL, 0, 0, format, arguments);
        va_end(arguments);
    }
    return status;
}

enum status error_set_at(struct error *error, enum status status, const char *file, unsigned line, unsigned column,
                         const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        store_error(error, status, file, line, column, format, arguments);
        va_end(arguments);
    }
    return status;
}

const char *error_describe(const struct error *error, char *out, unsigned long out_size)
{
    const char *text = error->text[0] ? error->text : status_text(error->status);
    const char *file = error->file[0] ? error->file : "line ";
    const char *separator = error->file[0] ? ":" : "";
    if (out_size == 0)
        BUG("error_describe needs room for the terminator");
    if (error->line && error->column)
        snprintf(out, out_size, "%s%s%u:%u: %s", file, separator, error->line, error->column, text);
    else if (error->line)
        snprintf(out, out_size, "%s%s%u: %s", file, separator, error->line, text);
    else if (error->file[0])
        snprintf(out, out_size, "%s: %s", file, text);
    else
        snprintf(out, out_size, "%s", text);
    return out;
}

void bug_abort(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "occam: this is a mistake of occam's own, please report it: %s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(70);
}
