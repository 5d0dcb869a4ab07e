/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam report` in parts: its figures (page_figures.c), its sections (page_sections.c, page_sources.c). Used by
 * cli/command_report.c.
 */
#ifndef OCCAM_CLI_PAGE_REPORT_H
#define OCCAM_CLI_PAGE_REPORT_H

#include "calibrate/config_sweep.h"
#include "cli/page.h"
#include "cli/plot_table.h"
#include "cli/search_question.h"

enum {
    REPORT_FIGURES_MAX = 20,
    REPORT_REASONS_SIZE = 512,
    REPORT_TOP = 10,
    REPORT_PROPOSALS = 5,
    REPORT_SEARCH_MAX = 20000 /* configurations: a larger space takes the search longer than a report should */
};

struct report_figure {
    const struct plot_row *row;
    const char *name;                 /* unique in the report, and the stem of kept files */
    struct figure_sheet *sheet;       /* owned; NULL: not drawn */
    struct text_buffer svg, narrow;   /* narrow: of a page alone */
    char reason[REPORT_REASONS_SIZE]; /* why it is not drawn; "" */
};

struct report_answer {
    struct plot_request request;
    const struct text_list *tables; /* files with tables, told apart by their columns */
    const char *keep, *output;      /* folder for figures, NULL; the report's file */
    bool html;
    size_t figure_count;
    struct report_figure figures[REPORT_FIGURES_MAX];
    struct prediction base, asked;
    bool has_sweep;
    struct sweep_result sweep;
    char no_sweep[256];               /* why there is none */
    struct search_question search;    /* what proposals are of; released by the command */
    size_t proposal_count, run_count; /* run_count: measured rows that the search was told */
    struct search_proposal proposals[REPORT_PROPOSALS];
    char no_proposals[256]; /* why there are none; "" */
};

/* Every figure that the question and the tables allow, drawn by one gnuplot. A figure that cannot be made is there with
 * its reason; without gnuplot the status says so. Release with report_figures_release, also after an error. */
MUST_CHECK enum status report_figures_make(struct report_answer *answer, struct error *error);
void report_figures_release(struct report_answer *answer);
/* Whether a table of measurements has a column for every knob, so that its rows are runs of this scenario. */
bool report_table_has_knobs(const char *path, const struct scenario *scenario);
/* Whether a file is a table for figures (true) or measured points of the step time. */
bool report_is_figure_table(const char *path);

/* Sections of it: what is measured, fitted, assumed; held-out accuracy (page_sources.c). */
void report_write_sources(struct page *page, const struct report_answer *answer);
void report_write_accuracy(struct page *page, const struct report_answer *answer);
/* The whole document but its drawing. */
void report_write(struct page *page, struct report_answer *answer);

#endif
