/* SPDX-License-Identifier: GPL-3.0-or-later
 * GSL's trust region on soft-L1 misfits of logarithms; their scale follows the rows (docs/MODEL.md FIG-1). */
#include "calibrate/robust_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "calibrate/gsl_errors.h"

enum {
    ITERATIONS_MAX = 200,
    SCALE_ROUNDS = 4 /* scale and fit in turn: more rounds change neither by a thousandth */
};

struct problem {
    robust_fit_law *law;
    const void *rows;
    const double *measured;
    size_t count;
    double scale;
    struct robust_fit *fit;
};

static void set_parameters(const struct problem *problem, const gsl_vector *unknowns, double *parameters)
{
    for (size_t p = 0; p < problem->fit->parameter_count; p++) {
        parameters[p] = problem->fit->parameters[p].start * exp(gsl_vector_get(unknowns, p));
    }
}

/* As the kernel fit's: a square near zero, a distance far out. */
static double soft(double misfit)
{
    /* sqrt(2 (sqrt(1 + u^2) - 1)), written so that no digits cancel near zero. */
    return misfit * sqrt(2 / (1 + sqrt(1 + misfit * misfit)));
}

static int misfits(const gsl_vector *unknowns, void *context, gsl_vector *out)
{
    const struct problem *problem = context;
    double parameters[ROBUST_FIT_PARAMETERS_MAX];
    set_parameters(problem, unknowns, parameters);
    for (size_t i = 0; i < problem->count; i++) {
        const double value = problem->law(parameters, problem->rows, i);
        if (!(value > 0) || !isfinite(value)) {
            return GSL_EDOM;
        }
        gsl_vector_set(out, i, soft(log(value / problem->measured[i]) / problem->scale));
    }
    for (size_t p = 0; p < problem->fit->parameter_count; p++) {
        gsl_vector_set(out, problem->count + p, gsl_vector_get(unknowns, p) / problem->fit->parameters[p].prior_log);
    }
    return GSL_SUCCESS;
}

/* The rows' distance from the law at the solution: robust scale, and the worst. */
static void judge(struct problem *problem, const gsl_vector *solution, double *room)
{
    struct robust_fit *fit = problem->fit;
    double parameters[ROBUST_FIT_PARAMETERS_MAX];
    set_parameters(problem, solution, parameters);
    fit->worst_log = 0;
    for (size_t i = 0; i < problem->count; i++) {
        room[i] = fabs(log(problem->measured[i] / problem->law(parameters, problem->rows, i)));
        if (room[i] > fit->worst_log) {
            fit->worst_log = room[i];
            fit->worst = i;
        }
    }
    const double freedom = fmax(1, (double)problem->count - (double)fit->parameter_count);
    fit->scatter_log = 1.4826 * median_in_place(room, problem->count) * sqrt((double)problem->count / freedom);
    for (size_t p = 0; p < fit->parameter_count; p++) {
        fit->parameters[p].value = parameters[p];
    }
}

static int solve(struct problem *problem, gsl_multifit_nlinear_workspace *workspace, gsl_vector *unknowns)
{
    struct robust_fit *fit = problem->fit;
    gsl_multifit_nlinear_fdf fdf = {
        .f = misfits, .n = problem->count + fit->parameter_count, .p = fit->parameter_count, .params = problem};
    int info = 0;
    int code = gsl_multifit_nlinear_init(unknowns, &fdf, workspace);
    if (code == GSL_SUCCESS) {
        code = gsl_multifit_nlinear_driver(ITERATIONS_MAX, 1e-6, 1e-6, 1e-8, NULL, NULL, &info, workspace);
    }
    fit->converged = code == GSL_SUCCESS || code == GSL_ENOPROG;
    fit->convergence = code == GSL_EMAXITER  ? "iteration limit"
                       : code == GSL_ENOPROG ? "no further progress"
                       : info == 1           ? "small step"
                                             : "small gradient";
    fit->iterations += (unsigned)gsl_multifit_nlinear_niter(workspace);
    if (code == GSL_SUCCESS || code == GSL_EMAXITER || code == GSL_ENOPROG) {
        gsl_vector_memcpy(unknowns, gsl_multifit_nlinear_position(workspace));
        return GSL_SUCCESS;
    }
    return code;
}

static int take_covariance(struct problem *problem, gsl_multifit_nlinear_workspace *workspace, gsl_matrix *covariance)
{
    struct robust_fit *fit = problem->fit;
    double inverse_condition = 0;
    const int code = gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(workspace), 0.0, covariance);
    fit->condition_number = gsl_multifit_nlinear_rcond(&inverse_condition, workspace) == GSL_SUCCESS
                                ? 1 / fmax(inverse_condition, 1e-300)
                                : (double)NAN;
    for (size_t p = 0; code == GSL_SUCCESS && p < fit->parameter_count; p++) {
        struct robust_fit_parameter *parameter = &fit->parameters[p];
        parameter->log_sigma = sqrt(gsl_matrix_get(covariance, p, p));
        parameter->informed = parameter->log_sigma < 0.5 * parameter->prior_log;
    }
    return code;
}

enum status robust_fit_run(struct robust_fit *fit, robust_fit_law *law, const void *rows, const double *measured,
                           size_t count, double floor_log, struct error *error)
{
    if (count <= fit->parameter_count) {
        return error_set(error, STATUS_BAD_DATA, "%zu rows cannot tell %zu parameters", count, fit->parameter_count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!(measured[i] > 0) || !isfinite(measured[i])) {
            return error_set(error, STATUS_DOMAIN, "measurement %zu of %zu is %g: a law is fitted to positive ones",
                             i + 1, count, measured[i]);
        }
    }
    struct problem problem = {
        .law = law, .rows = rows, .measured = measured, .count = count, .scale = fmax(floor_log, 0.05), .fit = fit};
    gsl_errors_install();
    gsl_errors_clear();
    const gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *workspace = gsl_multifit_nlinear_alloc(
        gsl_multifit_nlinear_trust, &settings, count + fit->parameter_count, fit->parameter_count);
    gsl_vector *unknowns = gsl_vector_calloc(fit->parameter_count);
    gsl_matrix *covariance = gsl_matrix_alloc(fit->parameter_count, fit->parameter_count);
    double *room = malloc(count * sizeof *room);
    int code = workspace && unknowns && covariance && room ? GSL_SUCCESS : GSL_ENOMEM;
    for (int round = 0; round < SCALE_ROUNDS && code == GSL_SUCCESS; round++) {
        code = solve(&problem, workspace, unknowns);
        if (code == GSL_SUCCESS) {
            judge(&problem, unknowns, room);
            code = take_covariance(&problem, workspace, covariance);
            problem.scale = fmax(floor_log, fit->scatter_log);
        }
    }
    gsl_matrix_free(covariance);
    gsl_vector_free(unknowns);
    gsl_multifit_nlinear_free(workspace);
    free(room);
    if (code == GSL_EDOM) {
        return error_set(error, STATUS_DOMAIN, "the law has no value at one of the %zu rows", count);
    }
    return code == GSL_SUCCESS ? STATUS_OK : gsl_errors_status(code, "fitting a law of the device", error);
}
