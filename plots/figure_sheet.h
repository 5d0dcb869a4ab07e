/* SPDX-License-Identifier: GPL-3.0-or-later
 * A figure with all its numbers and texts in one owner: whoever makes a figure asks it for arrays and fills them. */
#ifndef OCCAM_PLOTS_FIGURE_SHEET_H
#define OCCAM_PLOTS_FIGURE_SHEET_H

#include "plots/figure.h"

enum {
    SHEET_SERIES_MAX = 24,
    SHEET_MARKERS_MAX = 24,
    SHEET_LABELS_MAX = 1024,
    SHEET_TICKS_MAX = 200
};

/* Zero-initialise; release with sheet_release. Running out of memory sets failed; what was asked for is then a scratch
 * that keeps nothing. Check failed once at the end (sheet_check). */
struct figure_sheet {
    struct figure figure; /* its arrays point into this sheet: do not copy */
    struct figure_series series[SHEET_SERIES_MAX];
    struct figure_marker markers[SHEET_MARKERS_MAX];
    struct figure_label labels[SHEET_LABELS_MAX];
    struct figure_tick x_ticks[SHEET_TICKS_MAX], y_ticks[SHEET_TICKS_MAX];
    void **blocks;
    size_t block_count, block_capacity;
    bool failed;
};

void sheet_release(struct figure_sheet *sheet);
/* Text owned by the sheet. */
const char *sheet_text(struct figure_sheet *sheet, const char *format, ...) PRINTF_LIKE(2, 3);
/* count numbers, zero; NULL only when memory ran out (or count is 0). */
double *sheet_numbers(struct figure_sheet *sheet, size_t count);
/* Zeroed memory that lives as long as the sheet; NULL only when memory ran out. */
void *sheet_memory(struct figure_sheet *sheet, size_t size);
/* Append; what is beyond the sheet's room is left out. Texts are borrowed: sheet_text makes lasting ones. */
void sheet_add_series(struct figure_sheet *sheet, struct figure_series series);
void sheet_add_marker(struct figure_sheet *sheet, bool vertical, double position, const char *label);
void sheet_add_label(struct figure_sheet *sheet, double x, double y, const char *text);
void sheet_add_x_tick(struct figure_sheet *sheet, double position, const char *label);
void sheet_add_y_tick(struct figure_sheet *sheet, double position, const char *label);
/* STATUS_NO_MEMORY if memory ran out on the way. */
MUST_CHECK enum status sheet_check(const struct figure_sheet *sheet, struct error *error);

#endif
