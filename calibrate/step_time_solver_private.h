/* SPDX-License-Identifier: GPL-3.0-or-later
 * Numerical core of the step-time fit: one form, weighted, times non-negative. Private to calibrate/step_time_fit.c. */
#ifndef OCCAM_CALIBRATE_STEP_TIME_SOLVER_PRIVATE_H
#define OCCAM_CALIBRATE_STEP_TIME_SOLVER_PRIVATE_H

#include <stdbool.h>

#include "model/describe/serving.h"

struct step_time_solution {
    double sum_squares;      /* of weighted residuals */
    double condition_number; /* of the weighted Jacobian with columns scaled to unit length; infinite when singular */
    bool has_full_rank;      /* false: several parameter sets fit equally well */
    unsigned iterations;
    const char *convergence; /* static */
};

/* Minimises sum (weights[i] (t_i - law(n_i)))^2. law: form and its constants (experts, captured sizes) set by the
 * caller; parameters and covariance = (J'WJ)^-1, not yet scaled by any residual, are filled. At least as many distinct
 * concurrencies as parameters. count <= SERVING_POINTS_MAX. */
MUST_CHECK enum status step_time_solve(struct step_time_law *law, const struct serving_point *points,
                                       const double *weights, uint32_t count, struct step_time_solution *solution,
                                       struct error *error);

#endif
