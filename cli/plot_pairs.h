/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rows with a predicted and a measured time, from tables of `occam measure` and `occam validate --predictions`. Used
 * by the figures parity and errors. */
#ifndef OCCAM_CLI_PLOT_PAIRS_H
#define OCCAM_CLI_PLOT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    PAIR_KNOBS_MAX = 48
};

struct plot_pair {
    double measured_us, predicted_us, lo_us, hi_us; /* lo and hi NaN where the table has none */
    double knobs[PAIR_KNOBS_MAX];                   /* NaN: no number */
};

struct plot_pairs {
    size_t count, skipped; /* skipped: rows without both times */
    struct plot_pair *items;
    size_t knob_count;
    char knobs[PAIR_KNOBS_MAX][64]; /* columns that are settings: those of the first file */
    char device[96];                /* "" where no column says; "several" */
    char kernel[96];
};

/* Measured: column measured_us or time_us; predicted: predicted_us, predicted_lo_us, predicted_hi_us. Settings are the
 * columns before `outcome` (tables of measurements) or after `beyond` (predictions). STATUS_BAD_DATA with file and
 * line. Release with plot_pairs_release, also after an error. */
MUST_CHECK enum status plot_pairs_read(const char *const *paths, size_t count, struct plot_pairs *pairs,
                                       struct error *error);
void plot_pairs_release(struct plot_pairs *pairs);

#endif
