/* SPDX-License-Identifier: GPL-3.0-or-later
 * A step-time law from few points: the mean of several forms that the points cannot tell apart (eq. STEP-16..19).
 *
 * Three to eight points of a concurrency table do not choose a form: the one that wins leaves its own error behind in
 * the next doubling. Forms bend differently, so their errors partly cancel in a geometric mean, and how far they lie
 * apart says how little the points decide. */
#ifndef OCCAM_CALIBRATE_STEP_TIME_COMMITTEE_H
#define OCCAM_CALIBRATE_STEP_TIME_COMMITTEE_H

#include <stdbool.h>

#include "calibrate/step_time_fit.h"

enum {
    STEP_TIME_COMMITTEE_LEAST = 3, /* distinct concurrencies */
    STEP_TIME_BOOTSTRAP_MAX = 2000 /* repeats */
};

struct step_time_committee {
    bool has_law;             /* false: fewer than STEP_TIME_COMMITTEE_LEAST distinct concurrencies */
    struct step_time_law law; /* form STEP_TIME_COMMITTEE; relative_sigma holds the floor and the scatter */
    uint32_t distinct;        /* concurrencies */
    double residual;          /* root mean square of the members' relative errors at the points, weighted */
    char reason[256];         /* members and their weights in percent, or why there is no law; one clause */
};

/* Fits coverage, sqrt and saturating where experts are given, else line, power, sqrt and saturating; saturating from
 * four distinct concurrencies on. Errors as step_time_fit. */
MUST_CHECK enum status step_time_committee_fit(const struct serving_point *points, uint32_t count,
                                               const struct step_time_fit_options *options,
                                               struct step_time_committee *committee, struct error *error);

/* Spread of the fitted curve under the points' scatter alone: `repeats` refits to times drawn around the committee with
 * its relative_sigma (normal in the logarithm, stream of `seed`). sigmas[i] = standard deviation of log(step time) at
 * concurrencies[i]. It knows nothing of a wrong form, so it is no prediction interval. The committee has a law; repeats
 * 2..STEP_TIME_BOOTSTRAP_MAX. */
MUST_CHECK enum status step_time_committee_bootstrap(const struct step_time_committee *committee,
                                                     const struct serving_point *points, uint32_t count,
                                                     const struct step_time_fit_options *options, uint32_t repeats,
                                                     uint64_t seed, const double *concurrencies,
                                                     uint32_t concurrency_count, double *sigmas, struct error *error);

#endif
