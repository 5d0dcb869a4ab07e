/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fits step-time laws to a measured concurrency table (GSL) and chooses between forms by leave-one-out error. */
#ifndef OCCAM_CALIBRATE_STEP_TIME_FIT_H
#define OCCAM_CALIBRATE_STEP_TIME_FIT_H

#include <stdbool.h>

#include "model/describe/serving.h"

struct step_time_fit_options {
    double experts_per_token, experts; /* 0 = dense: the coverage form is not tried */
    uint32_t captured_count;           /* 0 = the padded form is not tried */
    const double *captured_sizes;      /* ascending, borrowed */
};

enum step_time_fit_verdict {
    STEP_TIME_FIT_OK,
    STEP_TIME_FIT_EXACT,        /* as many parameters as distinct concurrencies: passes through them (or is held off
                                   them by a bound), validates nothing */
    STEP_TIME_FIT_UNDETERMINED, /* fewer distinct concurrencies than parameters, or points that cannot tell them apart
                                   (condition number above 1e8, a term that vanished) */
    STEP_TIME_FIT_FAILED        /* did not converge */
};

struct step_time_fit {
    /* degrees_of_freedom = points - parameters, but 0 where that is negative. covariance: from the points' own sigmas
     * where every point has one (enlarged if they explain too little of the scatter), else from the residuals; zero for
     * an exact fit to points without sigmas. */
    struct step_time_law law;
    bool has_law; /* false: too few points or no convergence; the law's parameters are all 0. True
                     with UNDETERMINED: the curve within the points holds, its parameters do not */
    enum step_time_fit_verdict verdict;
    double mean_relative_error; /* in sample, absolute */
    double leave_one_out_error; /* median absolute relative error of interior points predicted from the others
                                   (all points of one concurrency left out together, at most 64 concurrencies
                                   spread evenly); NaN when there are not points enough to leave one out */
    double condition_number;    /* of the Jacobian, weighted, columns scaled to one length; infinite if singular */
    unsigned iterations;
    const char *convergence; /* GSL's reason in words; static */
};

/* Factor on the relative sigma for a two-sided interval of this level (0 < level < 1): Student's t of the degrees of
 * freedom, the normal quantile where there are none (0: sigmas come from outside; -1: given). */
double step_time_quantile(int degrees_of_freedom, double level);

/* Fit one form by weighted least squares on relative error, parameters that are times kept non-negative.
 * count >= 1; concurrencies and times finite and positive, else STATUS_BAD_DATA naming the point. More than
 * SERVING_POINTS_MAX points: STATUS_LIMIT. Where every point has a relative_sigma the weights follow it, else all
 * points weigh the same. Equations STEP-13, STEP-14. */
MUST_CHECK enum status step_time_fit(enum step_time_form form, const struct serving_point *points, uint32_t count,
                                     const struct step_time_fit_options *options, struct step_time_fit *fit,
                                     struct error *error);

/* The same without the leave-one-out error, which stays NaN: for many fits in a row. */
MUST_CHECK enum status step_time_fit_once(enum step_time_form form, const struct serving_point *points, uint32_t count,
                                          const struct step_time_fit_options *options, struct step_time_fit *fit,
                                          struct error *error);

struct step_time_choice {
    uint32_t count;
    struct step_time_fit fits[STEP_TIME_FORM_COUNT]; /* every form that was tried, in enum order */
    long chosen;      /* index into fits, -1 = the points choose no form (then use the line or the base) */
    char reason[256]; /* one sentence */
};
/* Fit all applicable forms and choose by leave-one-out error; a form with more parameters must beat the line by more
 * than the line's own leave-one-out scatter: the standard error of the line's absolute errors over the points left out
 * (eq. STEP-15). With fewer than five distinct concurrencies no form is chosen, and none whose verdict is not OK. */
MUST_CHECK enum status step_time_choose(const struct serving_point *points, uint32_t count,
                                        const struct step_time_fit_options *options, struct step_time_choice *choice,
                                        struct error *error);

#endif
