/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fits of step-time laws: input checks, verdicts, uncertainty, leave-one-out error and the choice between forms. */
#include "calibrate/step_time_fit.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"
#include "calibrate/gsl_errors.h"
#include "calibrate/step_time_solver_private.h"
#include "model/predict/step_time.h"

enum {
    LEFT_OUT_MAX = 64,
    CHOICE_CONCURRENCIES_LEAST = 5
};

/* Absolute relative errors of points predicted from the others. */
struct left_out_errors {
    uint32_t count;
    double values[LEFT_OUT_MAX];
};

double step_time_quantile(int degrees_of_freedom, double level)
{
    double p = 0.5 + 0.5 * level;
    if (degrees_of_freedom < 1) {
        return normal_quantile(p);
    }
    gsl_errors_install();
    return gsl_cdf_tdist_Pinv(p, (double)degrees_of_freedom);
}

static enum status check_points(const struct serving_point *points, uint32_t count, struct error *error)
{
    if (count == 0) {
        return error_set(error, STATUS_BAD_DATA, "step-time fit: there are no points");
    }
    if (count > SERVING_POINTS_MAX) {
        return error_set(error, STATUS_LIMIT, "step-time fit: %u points, the limit is %d", (unsigned)count,
                         (int)SERVING_POINTS_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct serving_point *point = &points[i];
        unsigned number = (unsigned)i + 1;
        if (!isfinite(point->concurrency) || !(point->concurrency > 0.0)) {
            return error_set(error, STATUS_BAD_DATA,
                             "step-time fit: point %u: concurrency must be a number above 0, not %g", number,
                             point->concurrency);
        }
        if (!isfinite(point->step_time_s) || !(point->step_time_s > 0.0)) {
            return error_set(error, STATUS_BAD_DATA,
                             "step-time fit: point %u: step time must be a number above 0 s, not %g s", number,
                             point->step_time_s);
        }
        if (!isfinite(point->relative_sigma) || !(point->relative_sigma >= 0.0)) {
            return error_set(error, STATUS_BAD_DATA,
                             "step-time fit: point %u: relative sigma must be a number of 0 or more, not %g", number,
                             point->relative_sigma);
        }
    }
    return STATUS_OK;
}

/* The form's constants from the options, all parameters 0. */
static enum status prepare_law(enum step_time_form form, const struct step_time_fit_options *options,
                               struct step_time_law *law, struct error *error)
{
    memset(law, 0, sizeof *law);
    law->form = form;
    if (form == STEP_TIME_COVERAGE) {
        double experts = options->experts, chosen = options->experts_per_token;
        if (!isfinite(experts) || !(experts >= 1.0) || !(chosen > 0.0) || !(chosen <= experts)) {
            return error_set(error, STATUS_BAD_DATA,
                             "step-time fit: the coverage form needs experts of at least 1 and experts per token above "
                             "0 and not above them, not %g and %g",
                             experts, chosen);
        }
        law->experts = experts;
        law->experts_per_token = chosen;
    }
    if (form == STEP_TIME_PADDED) {
        if (options->captured_count < 1 || options->captured_count > CAPTURED_SIZES_MAX) {
            return error_set(error, STATUS_BAD_DATA, "step-time fit: the padded form needs 1 to %d captured sizes",
                             (int)CAPTURED_SIZES_MAX);
        }
        law->captured_count = options->captured_count;
        for (uint32_t i = 0; i < options->captured_count; i++) {
            double previous = i > 0 ? options->captured_sizes[i - 1] : 0.0;
            if (!isfinite(options->captured_sizes[i]) || !(options->captured_sizes[i] > previous)) {
                return error_set(error, STATUS_BAD_DATA, "step-time fit: captured size %u must be above %g, not %g",
                                 (unsigned)i + 1, previous, options->captured_sizes[i]);
            }
            law->captured_sizes[i] = options->captured_sizes[i];
        }
    }
    return STATUS_OK;
}

/* Sorts in place, removes repeats, returns how many remain. */
static uint32_t keep_distinct(double *values, uint32_t count)
{
    sort_doubles(values, count);
    uint32_t kept = count > 0 ? 1 : 0;
    for (uint32_t i = 1; i < count; i++) {
        if (values[i] > values[kept - 1]) {
            values[kept++] = values[i];
        }
    }
    return kept;
}

/* How many different settings the form sees: concurrencies, or for the padded form the sizes they are padded to. */
static uint32_t count_settings(const struct step_time_law *law, const struct serving_point *points, uint32_t count)
{
    double values[SERVING_POINTS_MAX], gradient[STEP_TIME_PARAMETERS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        values[i] = points[i].concurrency;
        if (law->form == STEP_TIME_PADDED) {
            step_time_gradient(law, points[i].concurrency, gradient);
            values[i] = gradient[1];
        }
    }
    return keep_distinct(values, count);
}

/* 1 / (sigma t): relative errors count, in units of their standard deviation where every point states one. */
static bool fill_weights(const struct serving_point *points, uint32_t count, double *weights)
{
    bool sigmas_known = true;
    for (uint32_t i = 0; i < count; i++) {
        sigmas_known = sigmas_known && points[i].relative_sigma > 0.0;
    }
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = 1.0 / (points[i].step_time_s * (sigmas_known ? points[i].relative_sigma : 1.0));
    }
    return sigmas_known;
}

/* Turns (J'WJ)^-1 and the residuals into the law's uncertainty (STEP-14). */
static void fill_uncertainty(const struct serving_point *points, uint32_t count, bool sigmas_known, double sum_squares,
                             struct step_time_fit *fit)
{
    struct step_time_law *law = &fit->law;
    double relative_squares = 0.0, sigma_squares = 0.0, absolute = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double error = step_time_evaluate(law, points[i].concurrency) / points[i].step_time_s - 1.0;
        relative_squares += error * error;
        absolute += fabs(error);
        sigma_squares += points[i].relative_sigma * points[i].relative_sigma;
    }
    fit->mean_relative_error = absolute / count;
    double stated_sigma = sigmas_known ? sqrt(sigma_squares / count) : 0.0;
    double scale = sigmas_known ? 1.0 : 0.0;
    law->relative_sigma = stated_sigma;
    if (law->degrees_of_freedom > 0) {
        /* Stated sigmas are a lower bound: a form that misses by more than they allow is less sure than they say. */
        scale = fmax(scale, sum_squares / law->degrees_of_freedom);
        law->relative_sigma = fmax(stated_sigma, sqrt(relative_squares / law->degrees_of_freedom));
    }
    for (int i = 0; i < STEP_TIME_PARAMETERS_MAX; i++) {
        for (int j = 0; j < STEP_TIME_PARAMETERS_MAX; j++) {
            law->covariance[i][j] *= scale;
        }
    }
}

/* step_time_fit on checked points and a prepared law, without the leave-one-out error. */
static enum status fit_checked(const struct step_time_law *prepared, const struct serving_point *points, uint32_t count,
                               struct step_time_fit *fit, struct error *error)
{
    memset(fit, 0, sizeof *fit);
    fit->law = *prepared;
    fit->mean_relative_error = (double)NAN;
    fit->leave_one_out_error = (double)NAN;
    fit->condition_number = HUGE_VAL;
    fit->verdict = STEP_TIME_FIT_UNDETERMINED;
    fit->convergence = "not tried: fewer distinct concurrencies than parameters";
    uint32_t parameters = step_time_form_parameter_count(prepared->form);
    uint32_t settings = count_settings(prepared, points, count);
    if (settings < parameters) {
        return STATUS_OK;
    }
    double weights[SERVING_POINTS_MAX];
    bool sigmas_known = fill_weights(points, count, weights);
    struct step_time_solution solution;
    enum status status = step_time_solve(&fit->law, points, weights, count, &solution, error);
    if (status != STATUS_OK) {
        return status;
    }
    fit->iterations = solution.iterations;
    fit->convergence = solution.convergence;
    if (!isfinite(solution.sum_squares)) {
        fit->law = *prepared;
        fit->verdict = STEP_TIME_FIT_FAILED;
        fit->convergence = "no finite sum of squares was found";
        return STATUS_OK;
    }
    fit->has_law = true;
    fit->condition_number = solution.condition_number;
    fit->law.degrees_of_freedom = (int)count - (int)parameters;
    fill_uncertainty(points, count, sigmas_known, solution.sum_squares, fit);
    if (solution.has_full_rank) {
        fit->verdict = settings == parameters ? STEP_TIME_FIT_EXACT : STEP_TIME_FIT_OK;
    }
    return STATUS_OK;
}

/* Predicts the points of one concurrency from all others; adds their absolute relative errors' mean. Where the others
 * cannot carry the form nothing is added. */
static enum status leave_out(const struct step_time_law *prepared, const struct serving_point *points, uint32_t count,
                             double concurrency, struct left_out_errors *errors, struct error *error)
{
    struct serving_point others[SERVING_POINTS_MAX];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (points[i].concurrency < concurrency || points[i].concurrency > concurrency) {
            others[kept++] = points[i];
        }
    }
    struct step_time_fit fit;
    enum status status = fit_checked(prepared, others, kept, &fit, error);
    if (status != STATUS_OK || !fit.has_law) {
        return status;
    }
    double sum = 0.0, predicted_s = step_time_evaluate(&fit.law, concurrency);
    for (uint32_t i = 0; i < count; i++) {
        if (!(points[i].concurrency < concurrency || points[i].concurrency > concurrency)) {
            sum += fabs(predicted_s / points[i].step_time_s - 1.0);
        }
    }
    errors->values[errors->count++] = sum / (count - kept);
    return STATUS_OK;
}

static enum status leave_each_out(const struct step_time_law *prepared, const struct serving_point *points,
                                  uint32_t count, struct left_out_errors *errors, struct error *error)
{
    double concurrencies[SERVING_POINTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        concurrencies[i] = points[i].concurrency;
    }
    uint32_t distinct = keep_distinct(concurrencies, count);
    errors->count = 0;
    if (distinct < 3) {
        return STATUS_OK;
    }
    /* The ends are extrapolations, which is another question; 64 interior concurrencies tell a median well enough. */
    uint32_t interior = distinct - 2, taken = interior < LEFT_OUT_MAX ? interior : LEFT_OUT_MAX;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < taken; i++) {
        uint32_t place = 1 + (uint32_t)((uint64_t)i * interior / taken);
        status = leave_out(prepared, points, count, concurrencies[place], errors, error);
    }
    return status;
}

static enum status fit_with_errors(enum step_time_form form, const struct serving_point *points, uint32_t count,
                                   const struct step_time_fit_options *options, struct step_time_fit *fit,
                                   struct left_out_errors *errors, struct error *error)
{
    struct step_time_law prepared;
    errors->count = 0;
    enum status status = prepare_law(form, options, &prepared, error);
    if (status == STATUS_OK) {
        status = fit_checked(&prepared, points, count, fit, error);
    }
    if (status == STATUS_OK && fit->has_law) {
        status = leave_each_out(&prepared, points, count, errors, error);
    }
    if (status == STATUS_OK && errors->count > 0) {
        fit->leave_one_out_error = median_in_place(errors->values, errors->count);
    }
    return status;
}

enum status step_time_fit(enum step_time_form form, const struct serving_point *points, uint32_t count,
                          const struct step_time_fit_options *options, struct step_time_fit *fit, struct error *error)
{
    if ((unsigned)form >= STEP_TIME_FORM_COUNT) {
        BUG("step-time form %d does not exist", (int)form);
    }
    struct left_out_errors errors;
    enum status status = check_points(points, count, error);
    return status == STATUS_OK ? fit_with_errors(form, points, count, options, fit, &errors, error) : status;
}

enum status step_time_fit_once(enum step_time_form form, const struct serving_point *points, uint32_t count,
                               const struct step_time_fit_options *options, struct step_time_fit *fit,
                               struct error *error)
{
    if ((unsigned)form >= STEP_TIME_FORM_COUNT) {
        BUG("step-time form %d does not exist", (int)form);
    }
    struct step_time_law prepared;
    enum status status = check_points(points, count, error);
    if (status == STATUS_OK) {
        status = prepare_law(form, options, &prepared, error);
    }
    return status == STATUS_OK ? fit_checked(&prepared, points, count, fit, error) : status;
}

static bool form_is_applicable(enum step_time_form form, const struct step_time_fit_options *options)
{
    if (form == STEP_TIME_COVERAGE) {
        return options->experts > 0.0;
    }
    return form != STEP_TIME_PADDED || options->captured_count > 0;
}

/* The winner of STEP-15, given the line's fit (index 0 by enum order) and its left-out scatter. */
static void choose_form(struct step_time_choice *choice, double line_scatter)
{
    const struct step_time_fit *line = &choice->fits[0];
    uint32_t line_parameters = step_time_form_parameter_count(STEP_TIME_LINE);
    choice->chosen = 0;
    for (uint32_t i = 1; i < choice->count; i++) {
        const struct step_time_fit *fit = &choice->fits[i];
        if (fit->verdict != STEP_TIME_FIT_OK || isnan(fit->leave_one_out_error)) {
            continue;
        }
        bool is_richer = step_time_form_parameter_count(fit->law.form) > line_parameters;
        double margin = is_richer ? line_scatter : 0.0;
        if (fit->leave_one_out_error < line->leave_one_out_error - margin &&
            fit->leave_one_out_error < choice->fits[choice->chosen].leave_one_out_error) {
            choice->chosen = (long)i;
        }
    }
    const struct step_time_fit *best = &choice->fits[choice->chosen];
    if (choice->chosen == 0) {
        snprintf(choice->reason, sizeof choice->reason,
                 "the line, with a median leave-one-out error of %.2f %%: no richer form beats it by more than its own "
                 "scatter of %.2f %%",
                 100.0 * line->leave_one_out_error, 100.0 * line_scatter);
    } else {
        snprintf(choice->reason, sizeof choice->reason,
                 "%s: median leave-one-out error %.2f %% against the line's %.2f %% (scatter %.2f %%)",
                 step_time_form_name(best->law.form), 100.0 * best->leave_one_out_error,
                 100.0 * line->leave_one_out_error, 100.0 * line_scatter);
    }
}

enum status step_time_choose(const struct serving_point *points, uint32_t count,
                             const struct step_time_fit_options *options, struct step_time_choice *choice,
                             struct error *error)
{
    choice->count = 0;
    choice->chosen = -1;
    choice->reason[0] = '\0';
    enum status status = check_points(points, count, error);
    double line_scatter = 0.0;
    for (int i = 0; status == STATUS_OK && i < STEP_TIME_FORM_COUNT; i++) {
        enum step_time_form form = (enum step_time_form)i;
        struct left_out_errors errors;
        if (!form_is_applicable(form, options)) {
            continue;
        }
        status = fit_with_errors(form, points, count, options, &choice->fits[choice->count++], &errors, error);
        if (form == STEP_TIME_LINE && errors.count > 0) {
            line_scatter = standard_deviation(errors.values, errors.count) / sqrt(errors.count);
        }
    }
    if (status != STATUS_OK) {
        return status;
    }
    double concurrencies[SERVING_POINTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        concurrencies[i] = points[i].concurrency;
    }
    uint32_t distinct = keep_distinct(concurrencies, count);
    if (distinct < CHOICE_CONCURRENCIES_LEAST) {
        snprintf(choice->reason, sizeof choice->reason,
                 "no form chosen: %u distinct concurrenc%s, and leaving one out tells forms apart from %d on",
                 (unsigned)distinct, distinct == 1 ? "y" : "ies", (int)CHOICE_CONCURRENCIES_LEAST);
    } else if (choice->fits[0].verdict != STEP_TIME_FIT_OK) {
        snprintf(choice->reason, sizeof choice->reason, "no form chosen: the points do not determine the line");
    } else {
        choose_form(choice, line_scatter);
    }
    return STATUS_OK;
}
