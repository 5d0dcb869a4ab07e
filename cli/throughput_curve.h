/* SPDX-License-Identifier: GPL-3.0-or-later
 * Step time and throughput over concurrency, for the base and a changed configuration. Used by curve and plot. */
#ifndef OCCAM_CLI_THROUGHPUT_CURVE_H
#define OCCAM_CLI_THROUGHPUT_CURVE_H

#include "calibrate/step_time_fit.h"
#include "cli/question.h"
#include "model/predict/step_time.h"

struct measured_runs; /* cli/measured_points.h */

struct curve_options {
    struct number_list concurrency;    /* empty: the scenario's list */
    struct text_list measured;         /* files and folders; empty: not given */
    const char *series;                /* which series of serving results; NULL: not given */
    double experts, experts_per_token; /* NaN: not given */
    double itl_limit_ms;               /* NaN: not given */
    struct measured_runs *runs;        /* filled with the runs behind the points; NULL: not wanted */
};

/* Rows of the options above; initialise with CURVE_OPTIONS_NONE. */
#define CURVE_OPTION_ROWS(options)                                                                                     \
    {0, "concurrency", OPTION_NUMBERS, &(options).concurrency, 1, CONCURRENCY_MAX},                                    \
        {0, "measured", OPTION_LIST, &(options).measured, 0, 0}, {0, "series", OPTION_TEXT, &(options).series, 0, 0},  \
        {0, "experts", OPTION_NUMBER, &(options).experts, 1, 1e6},                                                     \
        {0, "experts-per-token", OPTION_NUMBER, &(options).experts_per_token, 1, 1e6},                                 \
    {                                                                                                                  \
        0, "itl-limit-ms", OPTION_NUMBER, &(options).itl_limit_ms, 1e-6, 1e9                                           \
    }
#define CURVE_OPTIONS_NONE                                                                                             \
    {                                                                                                                  \
        .experts = (double)NAN, .experts_per_token = (double)NAN, .itl_limit_ms = (double)NAN                          \
    }

struct curve_point {
    double concurrency;
    bool extrapolating;                    /* outside the measured concurrencies; false where none were measured */
    struct serving_estimate base, variant; /* variant: NaN where it is infeasible or there is none */
};

struct throughput_curve {
    size_t count;
    struct curve_point points[NUMBER_LIST_MAX];
    bool has_variant;
    char variant_reason[512];           /* why the variant has no figures; "" if it has */
    double offered[SERVING_POINTS_MAX]; /* of each measured point, where about as many ran; else NaN */
    double measured_lo, measured_hi; /* of both: least and largest measured concurrency; NaN without measured points */
    double itl_limit_ms;             /* NaN: none */
    double within_itl_limit;         /* largest concurrency of the base within it; CONCURRENCY_MAX: at least that */
};

/* Applies form and measured points to question->serving, then computes the curve. Zero-initialise *curve. The question
 * may be without a scenario where points are given: then the curve is that of their law alone. */
MUST_CHECK enum status throughput_curve_make(struct question *question, const struct curve_options *options,
                                             struct throughput_curve *curve, struct error *error);
/* The same law between curve's concurrencies and the measured ones, in rising order and dense enough to be drawn as a
 * line. variant: with the variant's figures, and at whole concurrencies besides curve's own. Initialises *dense. */
MUST_CHECK enum status throughput_curve_dense(struct question *question, const struct throughput_curve *curve,
                                              bool variant, struct throughput_curve *dense, struct error *error);

#endif
