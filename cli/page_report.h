/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam report` in parts: its figures (page_figures.c), its sections (page_sections.c). Used by cli/command_report.c.
 */
#ifndef OCCAM_CLI_PAGE_REPORT_H
#define OCCAM_CLI_PAGE_REPORT_H

#include "calibrate/config_sweep.h"
#include "cli/page.h"
#include "cli/plot_table.h"

enum {
    REPORT_FIGURES_MAX = 20,
    REPORT_REASONS_SIZE = 512,
    REPORT_TOP = 10
};

struct report_figure {
    const struct plot_row *row;
    const char *name;           /* unique in the report, and the stem of kept files */
    struct figure_sheet *sheet; /* owned; NULL: not drawn */
    struct text_buffer svg;
    char reason[REPORT_REASONS_SIZE]; /* why it is not drawn; "" */
};

struct report_answer {
    struct plot_request request;
    const struct text_list *tables; /* files with tables, told apart by their columns */
    const char *keep, *output;      /* folder for figures, NULL; the report's file */
    size_t figure_count;
    struct report_figure figures[REPORT_FIGURES_MAX];
    struct prediction base, asked;
    bool has_sweep;
    struct sweep_result sweep;
    char no_sweep[256]; /* why there is none */
};

/* Every figure that the question and the tables allow, drawn by one gnuplot. A figure that cannot be made is there with
 * its reason; without gnuplot the status says so. Release with report_figures_release, also after an error. */
MUST_CHECK enum status report_figures_make(struct report_answer *answer, struct error *error);
void report_figures_release(struct report_answer *answer);
/* Whether a file is a table for figures (true) or measured points of the step time. */
bool report_is_figure_table(const char *path);

/* The whole document but its drawing. */
void report_write(struct page *page, const struct report_answer *answer);

#endif
