/* SPDX-License-Identifier: GPL-3.0-or-later
 * The residual process: standardised features, penalised marginal likelihood by the simplex method, Cholesky (CAL-4).
 */
#include "calibrate/residual_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "calibrate/gsl_errors.h"
#include "model/predict/calibrated_time.h"
#include "model/predict/residual_factor.h"

enum {
    FEATURES = CALIBRATION_FEATURE_COUNT,
    HYPERPARAMETERS = 3,
    SEARCH_ROWS_MAX = 200, /* the search costs rows^3 a step; more rows hardly move three numbers */
    SEARCH_STEPS_MAX = 120
};

/* Priors of the hyperparameters, ln(value) and standard deviation: the form misses by some 5 % over a distance of one
 * to two standard deviations of the features, repeats and what no feature sees by some 2 %. */
static const struct {
    double center, sigma;
} hyperpriors[HYPERPARAMETERS] = {{-5.99146, 1.5}, {0.405465, 0.7}, {-7.82405, 1.0}}; /* ln 0.05^2, ln 1.5, ln 0.02^2 */

struct search {
    size_t count;
    double *distances; /* count x count */
    double *residuals;
    double *matrix;   /* count x count: the covariance, then its lower factor */
    double *columns;  /* room of the factorisation */
    double *whitened; /* count: factor^-1 residuals */
};

/* The lower triangle. */
static void fill_covariance(const double *distances, size_t count, double amplitude, double length, double noise,
                            double *out)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            out[i * count + j] = calibration_kernel(amplitude, length, distances[i * count + j]) + (i == j ? noise : 0);
        }
    }
}

/* Minus the logarithm of the posterior density of the hyperparameters. */
static double objective(const gsl_vector *logs, void *context)
{
    struct search *search = context;
    double value = 0;
    for (size_t k = 0; k < HYPERPARAMETERS; k++) {
        const double z = (gsl_vector_get(logs, k) - hyperpriors[k].center) / hyperpriors[k].sigma;
        value += z * z / 2;
    }
    if (value > 200) { /* fourteen standard deviations out: nothing to see there */
        return value * 1e3;
    }
    const size_t count = search->count;
    fill_covariance(search->distances, count, exp(gsl_vector_get(logs, 0)), exp(gsl_vector_get(logs, 1)),
                    exp(gsl_vector_get(logs, 2)), search->matrix);
    if (!residual_factor_in_place(search->matrix, count, search->columns)) {
        return 1e6;
    }
    for (size_t i = 0; i < count; i++) { /* r' K^-1 r = |L^-1 r|^2 */
        const double *line = search->matrix + i * count;
        double rest = search->residuals[i];
        for (size_t j = 0; j < i; j++) {
            rest -= line[j] * search->whitened[j];
        }
        search->whitened[i] = rest / line[i];
        value += search->whitened[i] * search->whitened[i] / 2 + log(line[i]);
    }
    return value;
}

static int search_run(struct search *search, double *logs)
{
    gsl_multimin_function function = {.f = objective, .n = HYPERPARAMETERS, .params = search};
    gsl_multimin_fminimizer *minimizer =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, HYPERPARAMETERS);
    gsl_vector *start = gsl_vector_alloc(HYPERPARAMETERS), *steps = gsl_vector_alloc(HYPERPARAMETERS);
    int code = minimizer && start && steps ? GSL_SUCCESS : GSL_ENOMEM;
    for (size_t k = 0; k < HYPERPARAMETERS && code == GSL_SUCCESS; k++) {
        gsl_vector_set(start, k, hyperpriors[k].center);
        gsl_vector_set(steps, k, hyperpriors[k].sigma / 2);
    }
    if (code == GSL_SUCCESS) {
        code = gsl_multimin_fminimizer_set(minimizer, &function, start, steps);
    }
    for (int i = 0; i < SEARCH_STEPS_MAX && code == GSL_SUCCESS; i++) {
        code = gsl_multimin_fminimizer_iterate(minimizer);
        if (gsl_multimin_test_size(gsl_multimin_fminimizer_size(minimizer), 1e-2) == GSL_SUCCESS) {
            break;
        }
    }
    code = code == GSL_ENOPROG ? GSL_SUCCESS : code;
    for (size_t k = 0; k < HYPERPARAMETERS && code == GSL_SUCCESS; k++) {
        logs[k] = gsl_vector_get(minimizer->x, k);
    }
    gsl_multimin_fminimizer_free(minimizer);
    gsl_vector_free(start);
    gsl_vector_free(steps);
    return code;
}

/* Centre and scale of every feature that varies. */
static void standardise(struct calibration_residual *residual, const double *features, size_t count)
{
    for (unsigned f = 0; f < FEATURES; f++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < count; i++) {
            sum += features[i * FEATURES + f];
        }
        const double center = sum / (double)count;
        for (size_t i = 0; i < count; i++) {
            const double distance = features[i * FEATURES + f] - center;
            squares += distance * distance;
        }
        const double scale = sqrt(squares / (double)count);
        residual->center[f] = center;
        residual->scale[f] = scale > 1e-9 ? scale : 0;
        for (size_t i = 0; i < count; i++) {
            residual->features[i * FEATURES + f] =
                residual->scale[f] > 0 ? (features[i * FEATURES + f] - center) / scale : 0;
        }
    }
}

static void fill_distances(const struct calibration_residual *residual, unsigned varying, size_t stride, size_t count,
                           double *distances)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            double squares = 0;
            for (unsigned f = 0; f < FEATURES; f++) {
                const double distance =
                    residual->features[i * stride * FEATURES + f] - residual->features[j * stride * FEATURES + f];
                squares += distance * distance;
            }
            distances[i * count + j] = distances[j * count + i] = sqrt(squares / (varying ? varying : 1));
        }
    }
}

static unsigned varying_features(const struct calibration_residual *residual)
{
    unsigned varying = 0;
    for (unsigned f = 0; f < FEATURES; f++) {
        varying += residual->scale[f] > 0;
    }
    return varying;
}

enum status residual_start(struct calibration *calibration, const double *features, size_t count, struct error *error)
{
    if (count < 4) {
        return error_set(error, STATUS_BAD_DATA, "a residual process needs at least 4 rows, got %zu", count);
    }
    gsl_errors_install();
    gsl_errors_clear();
    enum status status = calibration_residual_allocate(calibration, (uint32_t)count, error);
    if (status == STATUS_OK) {
        standardise(&calibration->residual, features, count);
        calibration->residual.amplitude = exp(hyperpriors[0].center);
        calibration->residual.length = exp(hyperpriors[1].center);
        calibration->residual.noise = exp(hyperpriors[2].center);
    }
    return status;
}

/* From every stride-th row. */
enum status residual_search(struct calibration *calibration, const double *residuals, struct error *error)
{
    struct calibration_residual *residual = &calibration->residual;
    const size_t count = residual->row_count;
    const size_t stride = (count + SEARCH_ROWS_MAX - 1) / SEARCH_ROWS_MAX, some = (count + stride - 1) / stride;
    struct search search = {.count = some,
                            .distances = malloc(some * some * sizeof(double)),
                            .residuals = malloc(some * sizeof(double)),
                            .matrix = malloc(some * some * sizeof(double)),
                            .columns = malloc(RESIDUAL_FACTOR_ROOM * some * sizeof(double)),
                            .whitened = malloc(some * sizeof(double))};
    double logs[HYPERPARAMETERS] = {0};
    int code = GSL_ENOMEM;
    if (search.distances && search.residuals && search.matrix && search.columns && search.whitened) {
        fill_distances(residual, varying_features(residual), stride, some, search.distances);
        for (size_t i = 0; i < some; i++) {
            search.residuals[i] = residuals[i * stride];
        }
        code = search_run(&search, logs);
    }
    free(search.distances);
    free(search.residuals);
    free(search.matrix);
    free(search.columns);
    free(search.whitened);
    if (code != GSL_SUCCESS) {
        return gsl_errors_status(code, "fitting the residual process", error);
    }
    residual->amplitude = exp(logs[0]);
    residual->length = exp(logs[1]);
    residual->noise = exp(logs[2]);
    return residual_factor_compute(residual, error);
}

enum status residual_weigh(struct calibration *calibration, const double *residuals, struct error *error)
{
    struct calibration_residual *residual = &calibration->residual;
    const gsl_matrix_const_view factor =
        gsl_matrix_const_view_array(residual->factor, residual->row_count, residual->row_count);
    const gsl_vector_const_view right = gsl_vector_const_view_array(residuals, residual->row_count);
    gsl_vector_view weights = gsl_vector_view_array(residual->weights, residual->row_count);
    const int code = gsl_linalg_cholesky_solve(&factor.matrix, &right.vector, &weights.vector);
    return code == GSL_SUCCESS ? STATUS_OK : gsl_errors_status(code, "solving for the residual process", error);
}
