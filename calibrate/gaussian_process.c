/* SPDX-License-Identifier: GPL-3.0-or-later
 * Gaussian process with one length per input (Rasmussen and Williams 2006, sections 2.2 and 5.4.1). */
#include "calibrate/gaussian_process.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gsl_errors.h"

enum {
    SEARCH_ROWS_MAX = 200, /* the search costs rows^3 a step */
    SEARCH_STEPS_MAX = 60,
    LOG_AMPLITUDE = 0,
    LOG_NOISE = 1,
    LOG_LENGTHS = 2,
    UNKNOWNS_MAX = LOG_LENGTHS + GAUSSIAN_PROCESS_INPUTS_MAX,
    STARTS = 2
};

/* Outputs are scaled to unit variance for the search. */
struct search {
    size_t count, input_count, unknown_count;
    const double *inputs; /* of the search's rows */
    double *outputs;
    double centers[UNKNOWNS_MAX], sigmas[UNKNOWNS_MAX]; /* of the priors, in logarithms */
    gsl_matrix *matrix;
    gsl_vector *solution;
};

static double scaled_square(const double *a, const double *b, const double *lengths, size_t input_count)
{
    double squares = 0;
    for (size_t f = 0; f < input_count; f++) {
        const double distance = (a[f] - b[f]) / lengths[f];
        squares += distance * distance;
    }
    return squares;
}

static double matern(double amplitude, double squares)
{
    const double s = sqrt(5 * squares);
    return amplitude * (1 + s + s * s / 3) * exp(-s);
}

static void fill_matrix(const double *inputs, size_t count, size_t input_count, const double *lengths, double amplitude,
                        double noise, gsl_matrix *out)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double squares =
                scaled_square(inputs + i * input_count, inputs + j * input_count, lengths, input_count);
            const double value = matern(amplitude, squares) + (i == j ? noise : 0);
            gsl_matrix_set(out, i, j, value);
            gsl_matrix_set(out, j, i, value);
        }
    }
}

static void take_lengths(const struct search *search, const gsl_vector *logs, double *lengths)
{
    for (size_t f = 0; f < search->input_count; f++) {
        lengths[f] = exp(gsl_vector_get(logs, LOG_LENGTHS + f));
    }
}

/* Adds the gradient of minus the logarithm of the likelihood; matrix holds the inverse covariance. */
static void add_gradient(const struct search *search, const gsl_vector *logs, const double *lengths,
                         gsl_vector *gradient)
{
    const size_t n = search->input_count;
    const double amplitude = exp(gsl_vector_get(logs, LOG_AMPLITUDE)), noise = exp(gsl_vector_get(logs, LOG_NOISE));
    for (size_t i = 0; i < search->count; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double *a = search->inputs + i * n, *b = search->inputs + j * n;
            const double s = sqrt(5 * scaled_square(a, b, lengths, n)), decay = exp(-s);
            const double slope =
                (i == j ? 0.5 : 1) * (gsl_matrix_get(search->matrix, i, j) -
                                      gsl_vector_get(search->solution, i) * gsl_vector_get(search->solution, j));
            *gsl_vector_ptr(gradient, LOG_AMPLITUDE) += slope * amplitude * (1 + s + s * s / 3) * decay;
            if (i == j) {
                *gsl_vector_ptr(gradient, LOG_NOISE) += slope * noise;
                continue;
            }
            const double common = slope * amplitude * 5 / 3 * (1 + s) * decay;
            for (size_t f = 0; f < n; f++) {
                const double distance = (a[f] - b[f]) / lengths[f];
                *gsl_vector_ptr(gradient, LOG_LENGTHS + f) += common * distance * distance;
            }
        }
    }
}

/* Minus the logarithm of the posterior density, and its gradient (NULL: not wanted). */
static double evaluate(const struct search *search, const gsl_vector *logs, gsl_vector *gradient)
{
    double lengths[GAUSSIAN_PROCESS_INPUTS_MAX], value = 0;
    for (size_t k = 0; k < search->unknown_count; k++) {
        const double z = (gsl_vector_get(logs, k) - search->centers[k]) / search->sigmas[k];
        value += z * z / 2;
        if (gradient) {
            gsl_vector_set(gradient, k, z / search->sigmas[k]);
        }
    }
    if (!(value < 1e4)) { /* a wild step of the line search */
        return value;
    }
    take_lengths(search, logs, lengths);
    fill_matrix(search->inputs, search->count, search->input_count, lengths, exp(gsl_vector_get(logs, LOG_AMPLITUDE)),
                exp(gsl_vector_get(logs, LOG_NOISE)), search->matrix);
    if (gsl_linalg_cholesky_decomp1(search->matrix) != GSL_SUCCESS) {
        return 1e6 + value;
    }
    const gsl_vector_const_view outputs = gsl_vector_const_view_array(search->outputs, search->count);
    gsl_linalg_cholesky_solve(search->matrix, &outputs.vector, search->solution);
    for (size_t i = 0; i < search->count; i++) {
        value +=
            search->outputs[i] * gsl_vector_get(search->solution, i) / 2 + log(gsl_matrix_get(search->matrix, i, i));
    }
    if (gradient) {
        gsl_linalg_cholesky_invert(search->matrix);
        add_gradient(search, logs, lengths, gradient);
    }
    return value;
}

static double objective(const gsl_vector *logs, void *context)
{
    return evaluate(context, logs, NULL);
}

static void objective_gradient(const gsl_vector *logs, void *context, gsl_vector *gradient)
{
    (void)evaluate(context, logs, gradient);
}

static void objective_both(const gsl_vector *logs, void *context, double *value, gsl_vector *gradient)
{
    *value = evaluate(context, logs, gradient);
}

/* From one start; keeps the better of it and *best_value. */
static int descend(struct search *search, gsl_multimin_fdfminimizer *minimizer, double length_shift, double *best_value,
                   double *best)
{
    gsl_multimin_function_fdf function = {
        .f = objective, .df = objective_gradient, .fdf = objective_both, .n = search->unknown_count, .params = search};
    gsl_vector *start = gsl_vector_alloc(search->unknown_count);
    if (!start) {
        return GSL_ENOMEM;
    }
    for (size_t k = 0; k < search->unknown_count; k++) {
        gsl_vector_set(start, k, search->centers[k] + (k >= LOG_LENGTHS ? length_shift : 0));
    }
    int code = gsl_multimin_fdfminimizer_set(minimizer, &function, start, 0.3, 0.1);
    for (int i = 0; i < SEARCH_STEPS_MAX && code == GSL_SUCCESS; i++) {
        if (gsl_multimin_fdfminimizer_iterate(minimizer) != GSL_SUCCESS ||
            gsl_multimin_test_gradient(minimizer->gradient, 0.05) == GSL_SUCCESS) {
            break; /* no further progress, or there */
        }
    }
    if (code == GSL_SUCCESS && minimizer->f < *best_value) {
        *best_value = minimizer->f;
        for (size_t k = 0; k < search->unknown_count; k++) {
            best[k] = gsl_vector_get(minimizer->x, k);
        }
    }
    gsl_vector_free(start);
    return code;
}

static int search_run(struct search *search, double *best)
{
    static const double length_shifts[STARTS] = {0, 1};
    gsl_multimin_fdfminimizer *minimizer =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, search->unknown_count);
    double best_value = HUGE_VAL;
    int code = minimizer ? GSL_SUCCESS : GSL_ENOMEM;
    for (int s = 0; s < STARTS && code == GSL_SUCCESS; s++) {
        code = descend(search, minimizer, length_shifts[s], &best_value, best);
    }
    gsl_multimin_fdfminimizer_free(minimizer);
    return code == GSL_SUCCESS && !isfinite(best_value) ? GSL_EFAILED : code;
}

/* Priors, of outputs with unit variance and standardised inputs: a length of one to two typical distances each (a wide
 * prior, so that an input that does not matter is left out), noise of some 5 % of the spread. */
static void set_priors(struct search *search)
{
    search->centers[LOG_AMPLITUDE] = 0;
    search->sigmas[LOG_AMPLITUDE] = 1;
    search->centers[LOG_NOISE] = log(0.05 * 0.05);
    search->sigmas[LOG_NOISE] = 1.5;
    for (size_t f = 0; f < search->input_count; f++) {
        search->centers[LOG_LENGTHS + f] = log(1.5 * sqrt((double)search->input_count));
        search->sigmas[LOG_LENGTHS + f] = 1;
    }
}

static double spread_of(const double *values, size_t count, double center)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += (values[i] - center) * (values[i] - center);
    }
    const double spread = sqrt(squares / (double)count);
    return spread > 1e-12 ? spread : 1;
}

/* Hyperparameters from every stride-th row. */
static enum status choose_hyperparameters(struct gaussian_process *process, const double *outputs, struct error *error)
{
    const size_t n = process->input_count, stride = (process->count + SEARCH_ROWS_MAX - 1) / SEARCH_ROWS_MAX;
    const size_t some = (process->count + stride - 1) / stride;
    const double spread = spread_of(outputs, process->count, process->mean);
    double *inputs = malloc((some * n + 1) * sizeof *inputs), best[UNKNOWNS_MAX] = {0};
    struct search search = {.count = some,
                            .input_count = n,
                            .unknown_count = LOG_LENGTHS + n,
                            .inputs = inputs,
                            .outputs = malloc(some * sizeof(double)),
                            .matrix = gsl_matrix_alloc(some, some),
                            .solution = gsl_vector_alloc(some)};
    int code = GSL_ENOMEM;
    if (inputs && search.outputs && search.matrix && search.solution) {
        for (size_t i = 0; i < some; i++) {
            memcpy(inputs + i * n, process->inputs + i * stride * n, n * sizeof *inputs);
            search.outputs[i] = (outputs[i * stride] - process->mean) / spread;
        }
        set_priors(&search);
        code = search_run(&search, best);
    }
    process->amplitude = exp(best[LOG_AMPLITUDE]) * spread * spread;
    process->noise = exp(best[LOG_NOISE]) * spread * spread;
    for (size_t f = 0; f < n; f++) {
        process->lengths[f] = exp(best[LOG_LENGTHS + f]);
    }
    free(inputs);
    free(search.outputs);
    gsl_matrix_free(search.matrix);
    gsl_vector_free(search.solution);
    return code == GSL_SUCCESS ? STATUS_OK : gsl_errors_status(code, "fitting a Gaussian process", error);
}

static enum status solve_weights(struct gaussian_process *process, const double *outputs, struct error *error)
{
    gsl_matrix *matrix = gsl_matrix_alloc(process->count, process->count);
    int code = matrix ? GSL_SUCCESS : GSL_ENOMEM;
    if (code == GSL_SUCCESS) {
        gsl_vector_view weights = gsl_vector_view_array(process->weights, process->count);
        fill_matrix(process->inputs, process->count, process->input_count, process->lengths, process->amplitude,
                    process->noise, matrix);
        for (size_t i = 0; i < process->count; i++) {
            process->weights[i] = outputs[i] - process->mean;
        }
        code = gsl_linalg_cholesky_decomp1(matrix);
        code = code == GSL_SUCCESS ? gsl_linalg_cholesky_svx(matrix, &weights.vector) : code;
    }
    gsl_matrix_free(matrix);
    return code == GSL_SUCCESS ? STATUS_OK : gsl_errors_status(code, "solving for a Gaussian process", error);
}

enum status gaussian_process_fit(struct gaussian_process *process, const double *inputs, const double *outputs,
                                 size_t count, size_t input_count, struct error *error)
{
    *process = (struct gaussian_process){.count = count, .input_count = input_count};
    if (count < 2 || input_count > GAUSSIAN_PROCESS_INPUTS_MAX) {
        return error_set(error, STATUS_BAD_DATA,
                         "a Gaussian process needs at least 2 rows and at most %d inputs, got %zu and %zu",
                         GAUSSIAN_PROCESS_INPUTS_MAX, count, input_count);
    }
    gsl_errors_install();
    gsl_errors_clear();
    process->inputs = malloc((count * input_count + 1) * sizeof *process->inputs);
    process->weights = malloc(count * sizeof *process->weights);
    enum status status = STATUS_OK;
    if (process->inputs && process->weights) {
        memcpy(process->inputs, inputs, count * input_count * sizeof *inputs);
        for (size_t i = 0; i < count; i++) {
            process->mean += outputs[i] / (double)count;
        }
        status = choose_hyperparameters(process, outputs, error);
        status = status == STATUS_OK ? solve_weights(process, outputs, error) : status;
    } else {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a process of %zu rows", count);
    }
    if (status != STATUS_OK) {
        gaussian_process_release(process);
    }
    return status;
}

double gaussian_process_mean(const struct gaussian_process *process, const double *input)
{
    double value = process->mean;
    for (size_t i = 0; i < process->count; i++) {
        value += process->weights[i] *
                 matern(process->amplitude, scaled_square(process->inputs + i * process->input_count, input,
                                                          process->lengths, process->input_count));
    }
    return value;
}

void gaussian_process_release(struct gaussian_process *process)
{
    free(process->inputs);
    free(process->weights);
    process->inputs = process->weights = NULL;
    process->count = 0;
}
