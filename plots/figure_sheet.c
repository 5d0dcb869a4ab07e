/* SPDX-License-Identifier: GPL-3.0-or-later
 * Owner of a figure's numbers and texts. */
#include "plots/figure_sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sheet_release(struct figure_sheet *sheet)
{
    for (size_t i = 0; i < sheet->block_count; i++)
        free(sheet->blocks[i]);
    free(sheet->blocks);
    *sheet = (struct figure_sheet){0};
}

static void *sheet_block(struct figure_sheet *sheet, size_t count, size_t size)
{
    void *block = NULL;

    if (sheet->block_count == sheet->block_capacity) {
        size_t capacity = sheet->block_capacity == 0 ? 32 : 2 * sheet->block_capacity;
        void **blocks = realloc(sheet->blocks, capacity * sizeof *blocks);

        if (blocks == NULL) {
            sheet->failed = true;
            return NULL;
        }
        sheet->blocks = blocks;
        sheet->block_capacity = capacity;
    }
    block = calloc(count, size);
    if (block == NULL)
        sheet->failed = true;
    else
        sheet->blocks[sheet->block_count++] = block;
    return block;
}

const char *sheet_text(struct figure_sheet *sheet, const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text = length < 0 ? NULL : sheet_block(sheet, (size_t)length + 1, 1);
    if (text == NULL) {
        sheet->failed = true;
        return "";
    }
    va_start(arguments, format);
    (void)vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

double *sheet_numbers(struct figure_sheet *sheet, size_t count)
{
    return count == 0 ? NULL : sheet_block(sheet, count, sizeof(double));
}

void *sheet_memory(struct figure_sheet *sheet, size_t size)
{
    return sheet_block(sheet, 1, size);
}

void sheet_add_series(struct figure_sheet *sheet, struct figure_series series)
{
    if (sheet->failed || sheet->figure.series_count == SHEET_SERIES_MAX)
        return;
    sheet->series[sheet->figure.series_count++] = series;
    sheet->figure.series = sheet->series;
}

void sheet_add_marker(struct figure_sheet *sheet, bool vertical, double position, const char *label)
{
    if (sheet->figure.marker_count == SHEET_MARKERS_MAX)
        return;
    sheet->markers[sheet->figure.marker_count++] = (struct figure_marker){position, vertical, label};
    sheet->figure.markers = sheet->markers;
}

void sheet_add_label(struct figure_sheet *sheet, double x, double y, const char *text)
{
    if (sheet->figure.label_count == SHEET_LABELS_MAX)
        return;
    sheet->labels[sheet->figure.label_count++] = (struct figure_label){.x = x, .y = y, .text = text};
    sheet->figure.labels = sheet->labels;
}

void sheet_add_x_tick(struct figure_sheet *sheet, double position, const char *label)
{
    if (sheet->figure.x_tick_count == SHEET_TICKS_MAX)
        return;
    sheet->x_ticks[sheet->figure.x_tick_count++] = (struct figure_tick){position, label};
    sheet->figure.x_ticks = sheet->x_ticks;
}

void sheet_add_y_tick(struct figure_sheet *sheet, double position, const char *label)
{
    if (sheet->figure.y_tick_count == SHEET_TICKS_MAX)
        return;
    sheet->y_ticks[sheet->figure.y_tick_count++] = (struct figure_tick){position, label};
    sheet->figure.y_ticks = sheet->y_ticks;
}

enum status sheet_check(const struct figure_sheet *sheet, struct error *error)
{
    if (sheet->failed)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the figure");
    return STATUS_OK;
}
