/* SPDX-License-Identifier: GPL-3.0-or-later
 * Predictions of a calibrated model (docs/MODEL.md CAL-3 to CAL-6). */
#include "model/predict/calibrated_time.h"

#include <math.h>
#include <string.h>

#include "model/predict/tile_cost.h"

/* Step of the forward differences in ln(parameter): kinks of the form (CAL-3) are smaller than this resolves. */
static const double derivative_step = 0.02;

enum status calibrated_model_init(struct calibrated_model *model, const struct gpu_device *device,
                                  const struct calibration *calibration, struct error *error)
{
    model->calibration = calibration;
    model->direction_count = 0;
    enum status status = time_model_init(&model->center, device, &calibration->parameters, error);
    for (int i = 0; i < PARAMETER_COUNT && status == STATUS_OK; i++) {
        if (!(calibration->covariance[i][i] > 0)) {
            continue;
        }
        const uint32_t d = model->direction_count++;
        struct model_parameters moved = calibration->parameters;
        const double limit = parameter_describe((enum parameter_id)i)->maximum;
        const double up = moved.items[i].value * exp(derivative_step);
        model->directions[d] = (enum parameter_id)i;
        model->steps[d] = up <= limit ? derivative_step : -derivative_step;
        moved.items[i].value *= exp(model->steps[d]);
        status = time_model_init(&model->shifted[d], device, &moved, error);
    }
    for (uint32_t a = 0; a < model->direction_count; a++) {
        for (uint32_t b = 0; b < model->direction_count; b++) {
            model->covariance[a][b] = calibration->covariance[model->directions[a]][model->directions[b]];
        }
    }
    return status;
}

void calibrated_gradient(const struct calibrated_model *model, const struct layer_case *layer, double time_s,
                         double *gradient)
{
    for (uint32_t d = 0; d < model->direction_count; d++) {
        struct layer_time moved;
        layer_time_predict(&model->shifted[d], layer, &moved);
        gradient[d] = log(moved.time_s / time_s) / model->steps[d];
    }
}

static double tensor_work(const struct tile_loop *loop)
{
    double work = 0;
    for (uint32_t i = 0; i < loop->mma_count; i++) {
        const struct mma_op *op = &loop->mma[i];
        work += (double)op->m * op->n * op->k * op->count;
    }
    return work;
}

static double load_bytes(const struct tile_loop *loop)
{
    return loop->gather.rows * loop->gather.row_bytes + loop->stream.rows * loop->stream.row_bytes;
}

void calibration_features(const struct time_model *model, const struct layer_case *layer, const struct layer_time *time,
                          double *features)
{
    const uint32_t k = layer_time_longest_kernel(time);
    const struct kernel_case *kernel = &layer->kernels[k];
    const struct tile_loop *loop = &kernel->loop;
    struct tile_cost tile;
    tile_cost_compute(model, kernel, &tile);
    const double smem = kernel->launch.static_smem_bytes + (double)kernel->launch.dynamic_smem_bytes;
    const double spills = isnan(loop->spill_bytes) ? 0 : loop->spill_bytes;
    const double values[CALIBRATION_FEATURE_COUNT] = {
        log(ceil(kernel->launch.threads / 32.0)),
        log1p(loop->iterations),
        log1p(load_bytes(loop)),
        log1p(tensor_work(loop)),
        log1p(tile.issue_s * model->issue_per_s),
        log(loop->buffers),
        log1p(loop->declared_stages),
        log((double)kernel->launch.grid_ctas),
        log(fmax(1, time->kernels[k].ctas_per_sm)),
        log(fmax(1e-6, time->kernels[k].waves.waves)),
        log(smem + 1024),
        log1p(spills / 16),
    };
    memcpy(features, values, sizeof values);
}

double calibration_kernel(double amplitude, double length, double distance)
{
    const double r = sqrt(5.0) * distance / length;
    return amplitude * (1 + r + r * r / 3) * exp(-r);
}

/* In four sums that do not wait for each other: with hundreds of rows this is what a prediction costs. */
static double dot_product(const double *left, const double *right, uint32_t count)
{
    double sums[4] = {0};
    uint32_t j = 0;
    for (; j + 4 <= count; j += 4) {
        for (uint32_t k = 0; k < 4; k++) {
            sums[k] += left[j + k] * right[j + k];
        }
    }
    for (; j < count; j++) {
        sums[0] += left[j] * right[j];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void calibration_residual_predict(const struct calibration_residual *residual, const double *features, double *mean,
                                  double *deviation)
{
    enum {
        N = CALIBRATION_FEATURE_COUNT
    };
    double scaled[N], covariances[CALIBRATION_RESIDUAL_ROWS_MAX];
    unsigned varying = 0;
    *mean = *deviation = 0;
    for (unsigned f = 0; f < N; f++) {
        varying += residual->scale[f] > 0;
        scaled[f] = residual->scale[f] > 0 ? (features[f] - residual->center[f]) / residual->scale[f] : 0;
    }
    const uint32_t rows = residual->row_count;
    for (uint32_t i = 0; i < rows; i++) {
        double squares = 0;
        for (unsigned f = 0; f < N; f++) {
            const double distance = scaled[f] - residual->features[i * N + f];
            squares += distance * distance;
        }
        covariances[i] =
            calibration_kernel(residual->amplitude, residual->length, sqrt(squares / (varying ? varying : 1)));
        *mean += covariances[i] * residual->weights[i];
    }
    double explained = 0; /* |L^-1 k|^2, solved in place */
    for (uint32_t i = 0; i < rows && residual->factor; i++) {
        const double *line = residual->factor + (size_t)i * rows;
        covariances[i] = (covariances[i] - dot_product(line, covariances, i)) / line[i];
        explained += covariances[i] * covariances[i];
    }
    if (rows) {
        *deviation = sqrt(fmax(0, residual->amplitude - explained));
    }
}

/* CAL-6: outside what the training rows span. */
static void judge_domain(const struct calibration *calibration, const double *features, struct calibrated_time *result)
{
    result->beyond = NULL;
    for (unsigned f = 0; f < CALIBRATION_FEATURE_COUNT && !result->beyond; f++) {
        const double slack = 1e-9 + 0.02 * fabs(calibration->most[f] - calibration->least[f]);
        if (features[f] < calibration->least[f] - slack || features[f] > calibration->most[f] + slack) {
            result->beyond = calibration_feature_name(f);
        }
    }
    if (!result->beyond && result->leverage > calibration->leverage_limit) {
        result->beyond = "leverage";
    }
    result->extrapolating = result->beyond != NULL;
}

void calibrated_time_predict(const struct calibrated_model *model, const struct layer_case *layer,
                             struct calibrated_time *result)
{
    const struct calibration *calibration = model->calibration;
    double gradient[PARAMETER_COUNT], features[CALIBRATION_FEATURE_COUNT];
    layer_time_predict(&model->center, layer, &result->layer);
    if (!result->layer.feasible || !(result->layer.time_s > 0)) {
        const double time_s = result->layer.feasible ? 0 : (double)NAN;
        const struct layer_time layer_time = result->layer;
        memset(result, 0, sizeof *result);
        result->layer = layer_time;
        result->time_s = result->time_lo_s = result->time_hi_s = time_s;
        return;
    }
    calibrated_gradient(model, layer, result->layer.time_s, gradient);
    double variance = 0;
    for (uint32_t a = 0; a < model->direction_count; a++) {
        for (uint32_t b = 0; b < model->direction_count; b++) {
            variance += gradient[a] * model->covariance[a][b] * gradient[b];
        }
    }
    calibration_features(&model->center, layer, &result->layer, features);
    calibration_residual_predict(&calibration->residual, features, &result->residual_log, &result->residual_log_sigma);
    const double form = calibration->form_log_sigma, structural = result->layer.structural_log_sigma;
    result->parameter_log_sigma = sqrt(fmax(0, variance));
    result->leverage = variance / (form * form);
    result->log_sigma = sqrt(fmax(0, variance) + result->residual_log_sigma * result->residual_log_sigma + form * form +
                             structural * structural);
    result->time_s = result->layer.time_s * exp(result->residual_log);
    judge_domain(calibration, features, result);
    result->new_workload = !calibration_knows_workload(calibration, layer->workload);
    const bool beyond = result->extrapolating || result->new_workload;
    const double stretch = beyond ? calibration->stretch_beyond : calibration->stretch;
    const double spread = exp(stretch * result->log_sigma);
    result->time_lo_s = result->time_s / spread;
    result->time_hi_s = result->time_s * spread;
}
