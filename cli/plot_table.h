/* SPDX-License-Identifier: GPL-3.0-or-later
 * Figures that `occam plot` and `occam report` can draw. Adding one: a file cli/plot_NAME.c and a row in
 * cli/plot_table.c. */
#ifndef OCCAM_CLI_PLOT_TABLE_H
#define OCCAM_CLI_PLOT_TABLE_H

#include "cli/prediction.h"
#include "cli/throughput_curve.h"
#include "plots/figure_sheet.h"

/* What a figure is made from. */
struct plot_request {
    struct question *question;           /* NULL for a figure that needs files alone */
    const struct curve_options *curve;   /* never NULL */
    size_t file_count;                   /* tables */
    const char *const *files;            /* borrowed */
    const struct text_list *variants;    /* --variant: more configurations beside each other; may be NULL */
    const char *x_variable, *y_variable; /* --x, --y; NULL: the figure chooses */
    const char *ledger;                  /* --ledger, for the scorecard without a table; NULL: the default one */
    const struct gpu_device *device;     /* of --device, for figures without a question; may be NULL */
    struct device_catalogue *catalogue;  /* never NULL */
};

enum plot_needs {
    PLOT_NEEDS_SCENARIO,
    PLOT_NEEDS_FILES,
    PLOT_NEEDS_LEDGER, /* a table, a ledger, or none: the default ledger */
    PLOT_NEEDS_EITHER  /* a table (told by its ending .csv), else a scenario */
};

struct plot_row {
    const char *name;
    enum plot_needs needs;
    const char *options; /* words: the options besides those of the output that change it; from a table none of them
                            where it needs either */
    /* Fills sheet->figure. STATUS_DOMAIN where the question leaves nothing to draw (infeasible, no serving part). */
    enum status (*fill)(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
};
extern const struct plot_row plot_table[];
extern const size_t plot_count;
/* Whether a file is a ledger (SQLite), by its first bytes. */
bool plot_file_is_ledger(const char *path);
/* Row by name; STATUS_USAGE with near names. */
MUST_CHECK enum status plot_find(const char *name, const struct plot_row **row, struct error *error);

/* The same thing has the same colour in every figure. */
enum plot_color {
    PLOT_COLOR_BASE,    /* blue: the base configuration, and what is predicted */
    PLOT_COLOR_VARIANT, /* vermilion: the changed configuration */
    PLOT_COLOR_BEST,    /* green: the best of a search */
    PLOT_COLOR_FOURTH,  /* pink, orange, light blue: more of a kind */
    PLOT_COLOR_FIFTH,
    PLOT_COLOR_SIXTH,
    PLOT_COLOR_MEASURED /* ink */
};

/* "num_warps=8 num_stages=3": what values change of the base (the knobs alone); "base" for nothing. Owned by sheet. */
const char *plot_changes(struct figure_sheet *sheet, const struct question *question, const double *values);
/* Title "NAME on DEVICE", and the caption: what the figure says of itself, then device, model parameters, date. */
void plot_describe(struct figure_sheet *sheet, const struct question *question, const char *what, const char *remark);
/* "2026-11-30", or the day of SOURCE_DATE_EPOCH, so that figures can be made again byte for byte. Owned by sheet. */
const char *plot_date(struct figure_sheet *sheet);
/* A variable of the scenario by name; STATUS_USAGE with near names. */
MUST_CHECK enum status plot_variable(const struct question *question, const char *name, size_t *index,
                                     struct error *error);
/* The configuration as asked must be feasible: STATUS_DOMAIN with its reason. */
MUST_CHECK enum status plot_predict_feasible(struct question *question, const double *values,
                                             struct prediction *prediction, struct error *error);

enum status plot_throughput(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_step_time(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_occupancy_registers(const struct plot_request *request, struct figure_sheet *sheet,
                                     struct error *error);
enum status plot_occupancy_smem(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_waves(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_timeline(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_roofline(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_parity(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_errors(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_limiters(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_heatmap(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_saturation(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_regret(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);
enum status plot_scorecard(const struct plot_request *request, struct figure_sheet *sheet, struct error *error);

#endif
