/* SPDX-License-Identifier: GPL-3.0-or-later
 * Texts in a gnuplot script: drawn as they are, never expanded nor executed. */
#include <string.h>

#include "plots/figure_private.h"

/* A quote is joined in as ."'". because gnuplot 5.4 misreads a doubled quote at the start of a string. Control
 * characters (a newline would end the command) become spaces, bytes that are not UTF-8 become '?'. */
void script_append_quoted(struct text_buffer *script, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text), bad_offset = 0, offset = 0;

    text_buffer_append(script, "'");
    while (offset < length) {
        bool broken = utf8_check(text + offset, length - offset, &bad_offset) != STATUS_OK;
        size_t end = broken ? offset + bad_offset : length;

        for (; offset < end; offset++) {
            unsigned char byte = (unsigned char)text[offset];
            char clean = byte < 0x20 || byte == 0x7f ? ' ' : (char)byte;

            if (clean == '\'')
                text_buffer_append(script, "'.\"'\".'");
            else
                text_buffer_append_bytes(script, &clean, 1);
        }
        if (broken) {
            text_buffer_append(script, "?");
            offset++;
        }
    }
    text_buffer_append(script, "'");
}

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Bytes of the first line. */
static size_t line_length(const char *text, size_t columns)
{
    size_t length = strlen(text), end;

    if (length <= columns)
        return length;
    for (end = columns; end > 0 && text[end] != ' '; end--)
        ;
    if (end == 0) /* one long word: cut it, but not inside a character */
        for (end = columns; end > 1 && continues_character(text[end]); end--)
            ;
    return end;
}

void script_append_wrapped(struct text_buffer *script, const char *text, size_t columns, bool is_first)
{
    char line[512];

    columns = columns < sizeof line ? columns : sizeof line - 1;
    while (*text != '\0') {
        const size_t end = line_length(text, columns);

        memcpy(line, text, end);
        line[end] = '\0';
        text_buffer_append(script, is_first ? "." : ".\"\\n\".");
        is_first = false;
        script_append_quoted(script, line);
        text += end;
        text += strspn(text, " ");
    }
}

size_t script_wrapped_lines(const char *text, size_t columns)
{
    size_t lines = 0;

    for (; *text != '\0'; lines++) {
        text += line_length(text, columns);
        text += strspn(text, " ");
    }
    return lines;
}

size_t script_text_columns(const char *text)
{
    size_t columns = 0;

    for (; text != NULL && *text != '\0'; text++)
        columns += !continues_character(*text);
    return columns;
}

size_t script_columns_bytes(const char *text, size_t columns)
{
    size_t bytes = 0;

    for (; text[bytes] != '\0' && (columns > 0 || continues_character(text[bytes])); bytes++)
        columns -= !continues_character(text[bytes]);
    return bytes;
}
