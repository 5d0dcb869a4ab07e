/* SPDX-License-Identifier: GPL-3.0-or-later
 * Design of a calibration (docs/MODEL.md CAL-7): greedy on the mean predictive variance. */
#include "calibrate/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "model/predict/calibrated_time.h"

enum {
    CANDIDATES_MAX = 3000,
    STREAM_OF_TYPICAL_ROWS = 97, /* of the random numbers */
    TYPICAL_SHARE = 3,
    TYPICAL_OF = 8
};
/* What the residual process may add before any row is seen, and what a measured row still leaves unknown: the centres
 * of the priors of CAL-4. */
static const double residual_amplitude = 0.05 * 0.05, residual_length = 1.5, row_variance = 0.03 * 0.03;

/* Every stride-th row, so that a large space is judged on an even sample. */
struct candidates {
    size_t count, stride;
    double *gradients, *features; /* count x PARAMETER_COUNT, count x CALIBRATION_FEATURE_COUNT */
    double *covariance;           /* count x count, of ln(time) given what is chosen */
    double *squares;              /* count: sum of the squares of each line of it */
};

static enum status fill_candidates(const struct gpu_device *device, const struct model_parameters *priors,
                                   const struct kernel_row *rows, struct candidates *self, struct error *error)
{
    struct calibration calibration;
    struct calibrated_model *model = malloc(sizeof *model);
    if (!model) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a model");
    }
    calibration_init(&calibration);
    calibration.parameters = *priors;
    enum status status = calibrated_model_init(model, device, &calibration, error);
    for (size_t i = 0; i < self->count && status == STATUS_OK; i++) {
        const struct kernel_row *row = &rows[i * self->stride];
        struct layer_time time;
        double *gradient = self->gradients + i * PARAMETER_COUNT;
        layer_time_predict(&model->center, &row->layer, &time);
        if (!time.feasible || !(time.time_s > 0)) {
            status = error_set(error, STATUS_DOMAIN, "candidate %zu does not fit an SM of %s", i * self->stride,
                               device->name);
            break;
        }
        calibrated_gradient(model, &row->layer, time.time_s, gradient);
        for (uint32_t d = 0; d < model->direction_count; d++) {
            gradient[d] *= priors->items[model->directions[d]].log_sigma;
        }
        calibration_features(&model->center, &row->layer, &time, self->features + i * CALIBRATION_FEATURE_COUNT);
    }
    free(model);
    return status;
}

/* Features to zero mean and unit deviation, those that do not vary to zero. Returns how many vary. */
static unsigned standardise(struct candidates *self)
{
    unsigned varying = 0;
    for (unsigned f = 0; f < CALIBRATION_FEATURE_COUNT; f++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < self->count; i++) {
            sum += self->features[i * CALIBRATION_FEATURE_COUNT + f];
        }
        const double center = sum / (double)self->count;
        for (size_t i = 0; i < self->count; i++) {
            const double distance = self->features[i * CALIBRATION_FEATURE_COUNT + f] - center;
            squares += distance * distance;
        }
        const double scale = sqrt(squares / (double)self->count);
        varying += scale > 1e-9;
        for (size_t i = 0; i < self->count; i++) {
            double *feature = &self->features[i * CALIBRATION_FEATURE_COUNT + f];
            *feature = scale > 1e-9 ? (*feature - center) / scale : 0;
        }
    }
    return varying;
}

static void fill_covariance(struct candidates *self, unsigned varying)
{
    for (size_t i = 0; i < self->count; i++) {
        for (size_t j = 0; j <= i; j++) {
            double dot = 0, squares = 0;
            for (unsigned d = 0; d < PARAMETER_COUNT; d++) {
                dot += self->gradients[i * PARAMETER_COUNT + d] * self->gradients[j * PARAMETER_COUNT + d];
            }
            for (unsigned f = 0; f < CALIBRATION_FEATURE_COUNT; f++) {
                const double distance = self->features[i * CALIBRATION_FEATURE_COUNT + f] -
                                        self->features[j * CALIBRATION_FEATURE_COUNT + f];
                squares += distance * distance;
            }
            const double distance = sqrt(squares / (varying ? varying : 1));
            const double value = dot + calibration_kernel(residual_amplitude, residual_length, distance);
            self->covariance[i * self->count + j] = self->covariance[j * self->count + i] = value;
        }
    }
}

static double squares_of(const double *line, size_t count)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        sum += line[j] * line[j];
    }
    return sum;
}

/* The candidate whose measurement takes most off the summed variance of all. */
static size_t best_candidate(const struct candidates *self, const bool *taken)
{
    size_t best = 0;
    double most = -1;
    for (size_t i = 0; i < self->count; i++) {
        const double gain = self->squares[i] / (self->covariance[i * self->count + i] + row_variance);
        if (!taken[i] && gain > most) {
            most = gain;
            best = i;
        }
    }
    return best;
}

/* The squares of each line go along: the matrix is larger than any cache. */
static void observe(struct candidates *self, size_t chosen, double *column)
{
    const double scale = 1 / (self->covariance[chosen * self->count + chosen] + row_variance);
    memcpy(column, self->covariance + chosen * self->count, self->count * sizeof *column);
    for (size_t i = 0; i < self->count; i++) {
        double *line = self->covariance + i * self->count;
        const double factor = column[i] * scale;
        for (size_t j = 0; j < self->count; j++) {
            line[j] -= factor * column[j];
        }
        self->squares[i] = squares_of(line, self->count);
    }
}

bool design_is_typical(size_t k)
{
    return (k + 1) * TYPICAL_SHARE / TYPICAL_OF > k * TYPICAL_SHARE / TYPICAL_OF;
}

/* wanted <= count, so one is left. */
static size_t typical_candidate(const struct candidates *self, const bool *taken, struct random_stream *stream)
{
    size_t drawn;
    do {
        drawn = random_below(stream, (uint32_t)self->count);
    } while (taken[drawn]);
    return drawn;
}

static void choose(struct candidates *self, size_t wanted, uint64_t seed, const struct design_watch *watch,
                   double *column, bool *taken, uint32_t *chosen)
{
    struct random_stream stream;
    random_init(&stream, seed, STREAM_OF_TYPICAL_ROWS);
    fill_covariance(self, standardise(self));
    for (size_t i = 0; i < self->count; i++) {
        self->squares[i] = squares_of(self->covariance + i * self->count, self->count);
    }
    for (size_t k = 0; k < wanted; k++) {
        const size_t best =
            design_is_typical(k) ? typical_candidate(self, taken, &stream) : best_candidate(self, taken);
        taken[best] = true;
        chosen[k] = (uint32_t)(best * self->stride);
        if (k + 1 < wanted) {
            observe(self, best, column);
        }
        if (watch) {
            watch->progress(watch->context, k + 1, wanted);
        }
    }
}

enum status design_choose_watched(const struct gpu_device *device, const struct model_parameters *priors,
                                  const struct kernel_row *rows, size_t count, size_t wanted, uint64_t seed,
                                  uint32_t *chosen, const struct design_watch *watch, struct error *error)
{
    struct candidates self = {.stride = count / CANDIDATES_MAX + 1};
    self.count = count ? (count - 1) / self.stride + 1 : 0;
    if (wanted > self.count) {
        return error_set(error, STATUS_BAD_DATA, "a design of %zu rows needs as many candidates, there are %zu", wanted,
                         self.count);
    }
    self.gradients = calloc(self.count * PARAMETER_COUNT + 1, sizeof(double));
    self.features = calloc(self.count * CALIBRATION_FEATURE_COUNT + 1, sizeof(double));
    self.covariance = malloc((self.count * self.count + 1) * sizeof(double));
    self.squares = malloc((self.count + 1) * sizeof(double));
    double *column = malloc((self.count + 1) * sizeof *column);
    bool *taken = calloc(self.count + 1, sizeof *taken);
    enum status status = STATUS_OK;
    if (!self.gradients || !self.features || !self.covariance || !self.squares || !column || !taken) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for %zu candidates", self.count);
    } else {
        status = fill_candidates(device, priors, rows, &self, error);
    }
    if (status == STATUS_OK) {
        choose(&self, wanted, seed, watch, column, taken, chosen);
    }
    free(self.gradients);
    free(self.features);
    free(self.covariance);
    free(self.squares);
    free(column);
    free(taken);
    return status;
}

enum status design_choose(const struct gpu_device *device, const struct model_parameters *priors,
                          const struct kernel_row *rows, size_t count, size_t wanted, uint64_t seed, uint32_t *chosen,
                          struct error *error)
{
    return design_choose_watched(device, priors, rows, count, wanted, seed, chosen, NULL, error);
}
