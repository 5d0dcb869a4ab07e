/* SPDX-License-Identifier: GPL-3.0-or-later
 * Figures of a GPU from its microbenchmarks, each with its uncertainty, the rows behind it and what they cannot tell
 * (docs/MODEL.md section 14, FIG). Used by `occam calibrate --figures`. */
#ifndef OCCAM_CALIBRATE_DEVICE_FIGURES_H
#define OCCAM_CALIBRATE_DEVICE_FIGURES_H

#include "calibrate/benchmark_rows.h"
#include "model/describe/gpu_device.h"

enum {
    DEVICE_FIGURES_MAX = 48
};

enum device_figure_bound {
    DEVICE_FIGURE_VALUE,
    DEVICE_FIGURE_AT_LEAST, /* the rows end before the figure shows, or something else limits them */
    DEVICE_FIGURE_AT_MOST
};

struct device_figure {
    char name[48];    /* of the device file where it has the figure, else our own; the unit is its ending */
    const char *unit; /* static */
    int id;           /* enum gpu_figure_id; -1: no figure of a device file */
    enum device_figure_bound bound;
    double value, sigma, lo, hi; /* in `unit`; sigma: standard error; lo to hi: 90 %. A bound has value alone */
    size_t row_count;
    char rows[128];   /* "latency_chase.csv lines 5, 6, 9" */
    char method[200]; /* what was done with them */
    char note[240];   /* what they cannot tell; "" */
};

struct device_figures {
    size_t count;
    struct device_figure items[DEVICE_FIGURES_MAX];
};

/* Fits all that the rows allow. device: for SM count, clocks and capacities; it must be the GPU of the rows (checked by
 * the caller). A benchmark that is missing leaves its figures out. Errors are those of the fits (robust_fit.h). */
MUST_CHECK enum status device_figures_fit(const struct benchmark_rows *rows, const struct gpu_device *device,
                                          struct device_figures *figures, struct error *error);

enum device_figure_verdict {
    DEVICE_FIGURE_NEW,    /* the device has no such figure */
    DEVICE_FIGURE_AGREES, /* inside lo..hi, or on the right side of a bound; half a percent is rounding */
    DEVICE_FIGURE_DIFFERS
};
/* Against the device's own figure. *stated: that, in the figure's unit; NaN where there is none. */
enum device_figure_verdict device_figure_compare(const struct device_figure *figure, const struct gpu_device *device,
                                                 double *stated);

#endif
