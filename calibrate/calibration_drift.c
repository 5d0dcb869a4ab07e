/* SPDX-License-Identifier: GPL-3.0-or-later
 * Drift: the share of rows inside their intervals, and a common shift, each against its own chance (CAL-8). */
#include "calibrate/calibration_drift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "model/predict/calibrated_time.h"

/* One false alarm in a hundred, for either sign. */
static const double chance_least = 0.01;
static const double sigmas_most = 2.5758;

/* P(at least `hits` of count), each with probability p. */
static double binomial_tail(size_t count, size_t hits, double p)
{
    double below = 0;
    for (size_t k = 0; k < hits; k++) {
        below += exp(lgamma((double)count + 1) - lgamma((double)k + 1) - lgamma((double)(count - k) + 1) +
                     (double)k * log(p) + (double)(count - k) * log1p(-p));
    }
    return fmax(0, 1 - below);
}

enum {
    FEATURES = CALIBRATION_FEATURE_COUNT,
    PAIRED_ROWS_MAX = 1000 /* correlations between rows cost their square; more rows are thinned out */
};

/* What the mean over all rows is made of. */
struct sums {
    double gradient[PARAMETER_COUNT]; /* of ln(time) */
    double structural_sigma, form_variance;
    double *features; /* of each row, standardised */
    double *sigmas;   /* of its residual process */
};

static void add_row(const struct calibrated_model *model, const struct kernel_row *row,
                    const struct calibrated_time *time, size_t i, struct sums *sums)
{
    const struct calibration_residual *residual = &model->calibration->residual;
    double gradient[PARAMETER_COUNT], *features = sums->features + i * FEATURES;
    calibrated_gradient(model, &row->layer, time->layer.time_s, gradient);
    for (uint32_t d = 0; d < model->direction_count; d++) {
        sums->gradient[d] += gradient[d];
    }
    calibration_features(&model->center, &row->layer, &time->layer, features);
    for (unsigned f = 0; f < FEATURES; f++) {
        features[f] = residual->scale[f] > 0 ? (features[f] - residual->center[f]) / residual->scale[f] : 0;
    }
    sums->sigmas[i] = time->residual_log_sigma;
    sums->structural_sigma += time->layer.structural_log_sigma;
    sums->form_variance += model->calibration->form_log_sigma * model->calibration->form_log_sigma;
}

/* Variance of the sum of what the process leaves open: neighbours err together, as far as the process says. */
static double residual_variance(const struct calibration_residual *residual, const struct sums *sums, size_t count)
{
    const size_t stride = 1 + (count - 1) / PAIRED_ROWS_MAX;
    unsigned varying = 0;
    double sum = 0;
    for (unsigned f = 0; f < FEATURES; f++) {
        varying += residual->scale[f] > 0;
    }
    for (size_t i = 0; i < count && residual->row_count > 0; i += stride) {
        for (size_t j = 0; j < count; j += stride) {
            double squares = 0;
            for (unsigned f = 0; f < FEATURES; f++) {
                const double distance = sums->features[i * FEATURES + f] - sums->features[j * FEATURES + f];
                squares += distance * distance;
            }
            sum += sums->sigmas[i] * sums->sigmas[j] *
                   calibration_kernel(1, residual->length, sqrt(squares / (varying ? varying : 1)));
        }
    }
    return sum * (double)stride * (double)stride;
}

/* Standard deviation of the mean residual: parameters are common to all rows, the form's own error is not. */
static double bias_sigma(const struct calibrated_model *model, const struct sums *sums, size_t count)
{
    const struct calibration *calibration = model->calibration;
    double variance = sums->form_variance + sums->structural_sigma * sums->structural_sigma +
                      residual_variance(&calibration->residual, sums, count);
    for (uint32_t a = 0; a < model->direction_count; a++) {
        for (uint32_t b = 0; b < model->direction_count; b++) {
            variance += sums->gradient[a] * model->covariance[a][b] * sums->gradient[b];
        }
    }
    const double widening = calibration->stretch / normal_quantile(0.5 + calibration->interval_level / 2);
    return fmax(1, widening) * sqrt(fmax(0, variance)) / (double)count;
}

static void judge(const struct calibrated_model *model, const struct kernel_row *rows, size_t count, double *room,
                  struct calibration_drift *drift)
{
    double *errors = room;
    struct sums sums = {.sigmas = room + count, .features = room + 2 * count};
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        struct calibrated_time time;
        calibrated_time_predict(model, &rows[i].layer, &time);
        const double log_error = log(rows[i].time_s / time.time_s);
        drift->inside += rows[i].time_s >= time.time_lo_s && rows[i].time_s <= time.time_hi_s;
        drift->extrapolating += time.extrapolating;
        errors[i] = fabs(log_error);
        total += log_error;
        if (i == 0 || errors[i] > fabs(drift->worst_log)) {
            drift->worst = i;
            drift->worst_log = log_error;
        }
        add_row(model, &rows[i], &time, i, &sums);
    }
    drift->count = count;
    drift->bias_log = total / (double)count;
    drift->bias_sigma = bias_sigma(model, &sums, count);
    drift->median_error = median_in_place(errors, count);
    drift->outside_chance = binomial_tail(count, count - drift->inside, 1 - model->calibration->interval_level);
    drift->biased = fabs(drift->bias_log) > sigmas_most * drift->bias_sigma;
    drift->uncovered = drift->outside_chance < chance_least;
    drift->holds = !drift->biased && !drift->uncovered;
}

enum status calibration_drift_judge(const struct gpu_device *device, const struct calibration *calibration,
                                    const struct kernel_row *rows, size_t count, struct calibration_drift *drift,
                                    struct error *error)
{
    memset(drift, 0, sizeof *drift);
    if (count < CALIBRATION_DRIFT_ROWS_LEAST) {
        return error_set(error, STATUS_BAD_DATA, "%zu configuration%s cannot show drift: at least %d are needed", count,
                         count == 1 ? "" : "s", CALIBRATION_DRIFT_ROWS_LEAST);
    }
    struct calibrated_model *model = malloc(sizeof *model);
    double *room = malloc(count * (2 + FEATURES) * sizeof *room);
    enum status status = model && room ? calibrated_model_init(model, device, calibration, error)
                                       : error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", count);
    if (status == STATUS_OK) {
        judge(model, rows, count, room, drift);
    }
    free(model);
    free(room);
    return status;
}
