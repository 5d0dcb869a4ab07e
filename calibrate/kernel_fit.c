/* SPDX-License-Identifier: GPL-3.0-or-later
 * Maximum a posteriori fit of the kernel-time model (docs/MODEL.md CAL-1, CAL-2). */
#include "calibrate/kernel_fit.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "calibrate/gsl_errors.h"
#include "model/predict/tile_cost.h"

enum {
    ITERATIONS_MAX = 60
};
/* Scale of the misfit in ln(time) that the soft-L1 loss is built around: repeats differ by about 0.5 %, the form itself
 * by about 3 % when fitted to all rows of four kernels (docs/MODEL.md CAL-1). */
static const double form_scale = 0.03;
/* Step of the forward differences, in standard deviations of the prior. */
static const double step = 1e-3;
static const double correlation_limit = 0.95;

/* The problem GSL sees: unknowns are ln(parameter / prior) over the prior's standard deviation. */
struct fit_problem {
    const struct gpu_device *device;
    const struct model_parameters *priors;
    const struct kernel_row *rows;
    const uint32_t *which;
    size_t count;
    const double *factor; /* NULL or count x count */
    uint32_t *order;      /* in which the rows are timed: those of one tile loop after each other */
    double *scales;       /* of each row's misfit: form and repeats */
    uint32_t free_count;
    enum parameter_id free[PARAMETER_COUNT];
    struct fit_models *models; /* room */
};

/* The model at one point, and with one parameter after the other a step further. */
struct fit_models {
    struct time_model items[1 + PARAMETER_COUNT];
    struct layer_memo memos[1 + PARAMETER_COUNT];
};

static const struct kernel_row *row_of(const struct fit_problem *problem, size_t i)
{
    return &problem->rows[problem->which ? problem->which[i] : i];
}

/* Values at the unknowns, kept inside the physical range. */
static void set_values(const struct fit_problem *problem, const gsl_vector *unknowns,
                       struct model_parameters *parameters)
{
    *parameters = *problem->priors;
    for (uint32_t j = 0; j < problem->free_count; j++) {
        struct model_parameter *item = &parameters->items[problem->free[j]];
        const struct parameter_description *about = parameter_describe(problem->free[j]);
        const double value = item->value * exp(gsl_vector_get(unknowns, j) * item->log_sigma);
        item->value = fmin(about->maximum, fmax(about->minimum, value));
    }
}

/* Soft L1: grows like the square near zero and like the distance far out, so that a few odd rows do not bend the fit.
 */
static double soft(double misfit)
{
    const double loss = sqrt(1 + misfit * misfit) - 1;
    return misfit < 0 ? -sqrt(2 * loss) : sqrt(2 * loss);
}

/* Misfits that share no error: L^-1 misfits, in place. */
static void whiten(const struct fit_problem *problem, gsl_vector *misfits)
{
    for (size_t i = 0; i < problem->count; i++) {
        const double *line = problem->factor + i * problem->count;
        double value = gsl_vector_get(misfits, i);
        for (size_t j = 0; j < i; j++) {
            value -= line[j] * gsl_vector_get(misfits, j);
        }
        gsl_vector_set(misfits, i, value / line[i]);
    }
}

/* Model number `which` of the room, at the unknowns. */
static int set_model(struct fit_problem *problem, uint32_t which, const gsl_vector *unknowns)
{
    struct model_parameters parameters;
    set_values(problem, unknowns, &parameters);
    return time_model_init(&problem->models->items[which], problem->device, &parameters, NULL) == STATUS_OK
               ? GSL_SUCCESS
               : GSL_EDOM;
}

/* The rows' misfits under the first `models` models of the room, one column each. Row by row, so that a row is read
 * once and what models have in common is computed once. */
static int misfits(struct fit_problem *problem, uint32_t models, gsl_matrix *out)
{
    double times_s[1 + PARAMETER_COUNT];
    memset(problem->models->memos, 0, models * sizeof problem->models->memos[0]);
    for (size_t place = 0; place < problem->count; place++) {
        const size_t i = problem->order[place];
        const struct kernel_row *row = row_of(problem, i);
        layer_times_predict(problem->models->items, models, &row->layer, problem->models->memos, times_s);
        for (uint32_t m = 0; m < models; m++) {
            const double misfit = log(times_s[m] / row->time_s);
            if (!isfinite(misfit)) {
                return GSL_EDOM;
            }
            gsl_matrix_set(out, i, m, problem->factor ? misfit : misfit / problem->scales[i]);
        }
    }
    for (uint32_t m = 0; m < models; m++) {
        gsl_vector_view column = gsl_matrix_subcolumn(out, m, 0, problem->count);
        if (problem->factor) {
            whiten(problem, &column.vector);
        }
        for (size_t i = 0; i < problem->count; i++) {
            gsl_vector_set(&column.vector, i, soft(gsl_vector_get(&column.vector, i)));
        }
    }
    return GSL_SUCCESS;
}

static int residuals(const gsl_vector *unknowns, void *context, gsl_vector *out)
{
    struct fit_problem *problem = context;
    gsl_matrix *column = gsl_matrix_alloc(problem->count, 1);
    int code = column ? set_model(problem, 0, unknowns) : GSL_ENOMEM;
    code = code == GSL_SUCCESS ? misfits(problem, 1, column) : code;
    for (size_t i = 0; i < problem->count && code == GSL_SUCCESS; i++) {
        gsl_vector_set(out, i, gsl_matrix_get(column, i, 0));
    }
    for (uint32_t j = 0; j < problem->free_count; j++) { /* the priors */
        gsl_vector_set(out, problem->count + j, gsl_vector_get(unknowns, j));
    }
    gsl_matrix_free(column);
    return code;
}

static int jacobian(const gsl_vector *unknowns, void *context, gsl_matrix *out)
{
    struct fit_problem *problem = context;
    gsl_matrix *columns = gsl_matrix_alloc(problem->count, 1 + problem->free_count);
    gsl_vector *point = gsl_vector_alloc(problem->free_count);
    int code = columns && point ? set_model(problem, 0, unknowns) : GSL_ENOMEM;
    for (uint32_t j = 0; j < problem->free_count && code == GSL_SUCCESS; j++) {
        gsl_vector_memcpy(point, unknowns);
        gsl_vector_set(point, j, gsl_vector_get(unknowns, j) + step);
        code = set_model(problem, 1 + j, point);
    }
    code = code == GSL_SUCCESS ? misfits(problem, 1 + problem->free_count, columns) : code;
    for (uint32_t j = 0; j < problem->free_count && code == GSL_SUCCESS; j++) {
        for (size_t i = 0; i < problem->count; i++) {
            gsl_matrix_set(out, i, j, (gsl_matrix_get(columns, i, 1 + j) - gsl_matrix_get(columns, i, 0)) / step);
        }
        for (uint32_t k = 0; k < problem->free_count; k++) {
            const double at = gsl_vector_get(unknowns, j);
            gsl_matrix_set(out, problem->count + k, j, k == j ? (at + step - at) / step : 0);
        }
    }
    gsl_matrix_free(columns);
    gsl_vector_free(point);
    return code;
}

static void PRINTF_LIKE(2, 3) add_note(struct kernel_fit *fit, const char *format, ...)
{
    if (fit->note_count < KERNEL_FIT_NOTES_MAX) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(fit->notes[fit->note_count++], sizeof fit->notes[0], format, arguments);
        va_end(arguments);
    }
}

/* Covariance of ln(parameter), from that of the whitened unknowns. */
static void set_covariance(const struct fit_problem *problem, const gsl_matrix *whitened, struct kernel_fit *fit)
{
    for (uint32_t a = 0; a < problem->free_count; a++) {
        const double sigma_a = problem->priors->items[problem->free[a]].log_sigma;
        for (uint32_t b = 0; b < problem->free_count; b++) {
            const double sigma_b = problem->priors->items[problem->free[b]].log_sigma;
            fit->covariance[problem->free[a]][problem->free[b]] = gsl_matrix_get(whitened, a, b) * sigma_a * sigma_b;
        }
    }
}

/* CAL-2: what the rows say about each parameter. */
static void judge_parameters(const struct fit_problem *problem, struct kernel_fit *fit)
{
    for (uint32_t a = 0; a < problem->free_count; a++) {
        const enum parameter_id id = problem->free[a];
        const struct parameter_description *about = parameter_describe(id);
        struct model_parameter *item = &fit->parameters.items[id];
        const double prior_sigma = item->log_sigma;
        item->log_sigma = sqrt(fit->covariance[id][id]);
        fit->informed[id] = item->log_sigma < 0.9 * prior_sigma;
        if (fit->informed[id]) {
            item->source = INPUT_SOURCE_FITTED;
        }
        if (item->value <= about->minimum * (1 + 1e-9) || item->value >= about->maximum * (1 - 1e-9)) {
            add_note(
                fit,
                "%s ends at %g, the edge of its physical range %g to %g: the description of the kernel is at fault",
                about->name, item->value, about->minimum, about->maximum);
        } else if (fabs(log(item->value / problem->priors->items[id].value)) > 3 * prior_sigma) {
            add_note(fit,
                     "%s is %.3g, more than three standard deviations from %.3g: check the description of the kernel",
                     about->name, item->value, problem->priors->items[id].value);
        }
        for (uint32_t b = 0; b < a; b++) {
            const enum parameter_id other = problem->free[b];
            const double correlation =
                fit->covariance[id][other] / sqrt(fit->covariance[id][id] * fit->covariance[other][other]);
            if (fabs(correlation) > correlation_limit) {
                add_note(fit, "%s and %s cannot be told apart (correlation %+.2f)", parameter_describe(other)->name,
                         about->name, correlation);
            }
        }
    }
}

static double robust_scale(const struct fit_problem *problem, const struct model_parameters *parameters)
{
    struct time_model model;
    double *misfits = malloc(problem->count * sizeof *misfits);
    double scale = NAN;
    if (misfits && time_model_init(&model, problem->device, parameters, NULL) == STATUS_OK) {
        for (size_t i = 0; i < problem->count; i++) {
            struct layer_time time;
            layer_time_predict(&model, &row_of(problem, i)->layer, &time);
            misfits[i] = fabs(log(time.time_s / row_of(problem, i)->time_s));
        }
        scale = 1.4826 * median_in_place(misfits, problem->count); /* of a normal distribution */
    }
    free(misfits);
    return scale;
}

static const char *convergence_text(int info, int code)
{
    if (code == GSL_EMAXITER) {
        return "iteration limit";
    }
    return code == GSL_ENOPROG ? "no further progress"
           : info == 1         ? "small step"
           : info == 2         ? "small gradient"
                               : "small change";
}

static enum status solve(struct fit_problem *problem, gsl_multifit_nlinear_workspace *workspace,
                         gsl_multifit_nlinear_fdf *fdf, gsl_vector *start, gsl_matrix *covariance,
                         struct kernel_fit *fit, struct error *error)
{
    int info = 0;
    double condition = 1;
    int code = gsl_multifit_nlinear_init(start, fdf, workspace);
    if (code != GSL_SUCCESS) {
        return gsl_errors_status(code, "timing the rows at the start of the fit", error);
    }
    code = gsl_multifit_nlinear_driver(ITERATIONS_MAX, 1e-3, 1e-6, 1e-8, NULL, NULL, &info, workspace);
    if (code != GSL_SUCCESS && code != GSL_EMAXITER && code != GSL_ENOPROG) {
        return gsl_errors_status(code, "fitting the kernel-time model", error);
    }
    fit->converged = code != GSL_EMAXITER;
    fit->convergence = convergence_text(info, code);
    fit->iterations = (unsigned)gsl_multifit_nlinear_niter(workspace);
    if (gsl_multifit_nlinear_rcond(&condition, workspace) == GSL_SUCCESS && condition > 0) {
        fit->condition_number = 1 / condition;
    }
    code = gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(workspace), 0.0, covariance);
    if (code != GSL_SUCCESS) {
        return gsl_errors_status(code, "inverting the normal matrix", error);
    }
    set_values(problem, gsl_multifit_nlinear_position(workspace), &fit->parameters);
    set_covariance(problem, covariance, fit);
    judge_parameters(problem, fit);
    fit->form_log_sigma = form_scale;
    fit->misfit_log_sigma = robust_scale(problem, &fit->parameters);
    return STATUS_OK;
}

static enum status check_rows(const struct fit_problem *problem, struct error *error)
{
    struct time_model model;
    enum status status = time_model_init(&model, problem->device, problem->priors, error);
    for (size_t i = 0; i < problem->count && status == STATUS_OK; i++) {
        const struct kernel_row *row = row_of(problem, i);
        struct layer_time time;
        layer_time_predict(&model, &row->layer, &time);
        if (!time.feasible || !(time.time_s > 0) || !(row->time_s > 0) || !isfinite(row->time_s)) {
            status = error_set(error, STATUS_DOMAIN, "the row of line %u cannot be timed on %s: %s", row->line,
                               problem->device->name,
                               time.feasible ? "its time is not a positive number" : "the kernel does not fit an SM");
        }
    }
    return status;
}

struct timed_row {
    const struct kernel_case *kernel; /* the first of its layer */
    uint32_t row;
};

/* Rows whose iteration costs the same are neighbours, so that the memory of the last one serves (tile_cost.h). */
static int compare_loops(const void *left, const void *right)
{
    const struct timed_row *a = left, *b = right;
    const size_t first = offsetof(struct tile_loop, buffers), last = offsetof(struct tile_loop, prologue_bytes);
    const int order = memcmp((const unsigned char *)&a->kernel->loop + first,
                             (const unsigned char *)&b->kernel->loop + first, last - first);
    if (order != 0) {
        return order;
    }
    if (a->kernel->launch.threads != b->kernel->launch.threads) {
        return a->kernel->launch.threads < b->kernel->launch.threads ? -1 : 1;
    }
    return a->row < b->row ? -1 : 1;
}

/* Changes the speed and nothing else: rows are independent. */
static enum status order_rows(struct fit_problem *problem, struct error *error)
{
    struct timed_row *rows = malloc((problem->count + 1) * sizeof *rows);
    problem->order = malloc((problem->count + 1) * sizeof *problem->order);
    problem->scales = malloc((problem->count + 1) * sizeof *problem->scales);
    if (!rows || !problem->order || !problem->scales) {
        free(rows);
        return error_set(error, STATUS_NO_MEMORY, "no memory to fit %zu rows", problem->count);
    }
    for (size_t i = 0; i < problem->count; i++) {
        rows[i] = (struct timed_row){&row_of(problem, i)->layer.kernels[0], (uint32_t)i};
        problem->scales[i] = hypot(form_scale, row_of(problem, i)->noise_log_sigma);
    }
    qsort(rows, problem->count, sizeof *rows, compare_loops);
    for (size_t i = 0; i < problem->count; i++) {
        problem->order[i] = rows[i].row;
    }
    free(rows);
    return STATUS_OK;
}

enum status kernel_fit_run(const struct gpu_device *device, const struct model_parameters *priors,
                           const struct kernel_row *rows, const uint32_t *which, size_t count, const double *factor,
                           struct kernel_fit *fit, struct error *error)
{
    struct fit_problem problem = {
        .device = device, .priors = priors, .rows = rows, .which = which, .count = count, .factor = factor};
    memset(fit, 0, sizeof *fit);
    fit->condition_number = 1;
    gsl_errors_install();
    gsl_errors_clear();
    enum status status = check_rows(&problem, error);
    status = status == STATUS_OK ? order_rows(&problem, error) : status;
    if (status != STATUS_OK) {
        free(problem.order);
        free(problem.scales);
        return status;
    }
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        if (priors->items[i].log_sigma > 0) {
            problem.free[problem.free_count++] = (enum parameter_id)i;
        }
    }
    const gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf fdf = {
        .f = residuals, .df = jacobian, .n = count + problem.free_count, .p = problem.free_count, .params = &problem};
    gsl_multifit_nlinear_workspace *workspace =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, fdf.n, fdf.p);
    gsl_vector *start = gsl_vector_calloc(problem.free_count);
    gsl_matrix *covariance = gsl_matrix_alloc(problem.free_count, problem.free_count);
    problem.models = malloc(sizeof *problem.models);
    if (workspace && start && covariance && problem.models) {
        status = solve(&problem, workspace, &fdf, start, covariance, fit, error);
    } else {
        status = error_set(error, STATUS_NO_MEMORY, "no memory to fit %zu rows", count);
    }
    gsl_matrix_free(covariance);
    gsl_vector_free(start);
    gsl_multifit_nlinear_free(workspace);
    free(problem.models);
    free(problem.order);
    free(problem.scales);
    return status;
}
