/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fits step-time laws to a measured concurrency table (GSL) and chooses between forms by leave-one-out error. */
#ifndef OCCAM_CALIBRATE_STEP_TIME_FIT_H
#define OCCAM_CALIBRATE_STEP_TIME_FIT_H

#include <stdbool.h>

#include "model/describe/serving.h"

struct step_time_fit_options {
    double experts_per_token, experts;      /* 0 = dense: the coverage form is not tried */
    uint32_t captured_count;                /* 0 = the padded form is not tried */
    const double *captured_sizes;           /* ascending, borrowed */
};

enum step_time_fit_verdict {
    STEP_TIME_FIT_OK,
    STEP_TIME_FIT_EXACT,          /* as many parameters as points: passes through them, validates nothing */
    STEP_TIME_FIT_UNDETERMINED,   /* fewer points than parameters, or points that cannot tell them apart */
    STEP_TIME_FIT_FAILED          /* did not converge */
};

struct step_time_fit {
    struct step_time_law law;
    enum step_time_fit_verdict verdict;
    double mean_relative_error;       /* in sample, absolute */
    double leave_one_out_error;       /* median absolute relative error of interior points predicted from the others;
                                         NaN when there are not points enough to leave one out */
    double condition_number;          /* of the scaled Jacobian */
    unsigned iterations;
    const char *convergence;          /* GSL's reason in words; static */
};

/* Fit one form by weighted least squares on relative error, parameters that are times kept non-negative.
 * count >= 1; concurrencies and times finite and positive, else STATUS_BAD_DATA naming the point. */
MUST_CHECK enum status step_time_fit(enum step_time_form form, const struct serving_point *points, uint32_t count,
                                     const struct step_time_fit_options *options, struct step_time_fit *fit,
                                     struct error *error);

struct step_time_choice {
    uint32_t count;
    struct step_time_fit fits[STEP_TIME_FORM_COUNT]; /* every form that was tried, in enum order */
    long chosen;                 /* index into fits, -1 = the points choose no form (then use the line or the base) */
    char reason[256];            /* one sentence */
};
/* Fit all applicable forms and choose by leave-one-out error; a form with more parameters must beat the line by more
 * than the line's own leave-one-out scatter. With fewer than five points no form is chosen. */
MUST_CHECK enum status step_time_choose(const struct serving_point *points, uint32_t count,
                                        const struct step_time_fit_options *options, struct step_time_choice *choice,
                                        struct error *error);

#endif
