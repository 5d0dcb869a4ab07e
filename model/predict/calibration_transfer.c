/* SPDX-License-Identifier: GPL-3.0-or-later
 * Transfer of a calibration between GPUs (docs/MODEL.md CAL-9). */
#include "model/predict/calibration_transfer.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"

/* Factors fitted on one GPU and read on another: no measurement of ours says how far they agree, so a tenth is assumed
 * for each factor, and as much for the form as a whole. */
static const double TRANSFER_LOG_SIGMA = 0.10;

/* Between kernels on one GPU: root mean square, over six pairs of calibration and measured table, of the median error
 * in the logarithm over the normal quantile 0.674 (CAL-12 has the pairs). */
static const double KERNEL_LOG_SIGMA = 0.36;

enum {
    FIGURES_MAX = 2
};

/* The figures behind each factor; GPU_FIGURE_COUNT = none. */
static const enum gpu_figure_id figures_of[PARAMETER_COUNT][FIGURES_MAX] = {
    [PARAMETER_LAUNCH_FACTOR] = {GPU_FIGURE_LAUNCH_LATENCY, GPU_FIGURE_COUNT},
    [PARAMETER_CTA_START_FACTOR] = {GPU_FIGURE_CTA_START, GPU_FIGURE_COUNT},
    [PARAMETER_DRAM_LATENCY_FACTOR] = {GPU_FIGURE_DRAM_LATENCY, GPU_FIGURE_COUNT},
    [PARAMETER_L2_LATENCY_FACTOR] = {GPU_FIGURE_L2_LATENCY, GPU_FIGURE_COUNT},
    [PARAMETER_DRAM_BANDWIDTH_FACTOR] = {GPU_FIGURE_DRAM_BANDWIDTH, GPU_FIGURE_DRAM_EFFICIENCY},
    [PARAMETER_L2_BANDWIDTH_FACTOR] = {GPU_FIGURE_L2_BANDWIDTH, GPU_FIGURE_COUNT},
    [PARAMETER_SM_BANDWIDTH_FACTOR] = {GPU_FIGURE_SM_BANDWIDTH, GPU_FIGURE_COUNT},
    [PARAMETER_SMEM_BANDWIDTH_FACTOR] = {GPU_FIGURE_SMEM_BANDWIDTH, GPU_FIGURE_COUNT},
    [PARAMETER_MMA_LATENCY_FACTOR] = {GPU_FIGURE_MMA_LATENCY, GPU_FIGURE_COUNT},
    [PARAMETER_MMA_INTERVAL_FACTOR] = {GPU_FIGURE_BF16_RATE, GPU_FIGURE_MMA_SYNC_FRACTION},
    [PARAMETER_BARRIER_FACTOR] = {GPU_FIGURE_BARRIER, GPU_FIGURE_COUNT},
};

double figure_log_sigma(enum input_source source)
{
    switch (source) {
    case INPUT_SOURCE_MEASURED:
    case INPUT_SOURCE_COMPILED:
    case INPUT_SOURCE_FITTED:
        return 0.03;
    case INPUT_SOURCE_DATASHEET:
        return 0.05;
    case INPUT_SOURCE_LITERATURE:
        return 0.15;
    case INPUT_SOURCE_RULE:
    case INPUT_SOURCE_FORMULA:
    case INPUT_SOURCE_USER:
    case INPUT_SOURCE_ASSUMED:
    case INPUT_SOURCE_ABSENT:
    case INPUT_SOURCE_COUNT:
        break;
    }
    return 0.4;
}

static double figure_variance(const struct gpu_device *device, enum gpu_figure_id id)
{
    double sigma = figure_log_sigma(device ? device->figures[id].source : INPUT_SOURCE_ASSUMED);
    if (id == GPU_FIGURE_SM_BANDWIDTH && device && !isnan(gpu_device_value(device, GPU_FIGURE_SM_L2_BANDWIDTH))) {
        /* One factor for both: the less certain of them. */
        sigma = fmax(sigma, figure_log_sigma(device->figures[GPU_FIGURE_SM_L2_BANDWIDTH].source));
    }
    return sigma * sigma;
}

void calibration_transfer(struct calibration *calibration, const struct gpu_device *from, const struct gpu_device *to)
{
    const double transfer = TRANSFER_LOG_SIGMA * TRANSFER_LOG_SIGMA;
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        if (figures_of[i][0] == figures_of[i][1]) { /* no row above: cycles and exponents belong to the code */
            continue;
        }
        double added = transfer;
        for (int k = 0; k < FIGURES_MAX; k++) {
            if (figures_of[i][k] != GPU_FIGURE_COUNT) {
                added += figure_variance(from, figures_of[i][k]) + figure_variance(to, figures_of[i][k]);
            }
        }
        calibration->covariance[i][i] += added;
        calibration->parameters.items[i].log_sigma = sqrt(calibration->covariance[i][i]);
    }
    double process = 0;
    if (calibration->residual.row_count > 0) {
        process = calibration->residual.amplitude;
    }
    calibration->form_log_sigma = sqrt(calibration->form_log_sigma * calibration->form_log_sigma + transfer + process);
    calibration->parameters.model_log_sigma = calibration->form_log_sigma;
}

void calibration_transfer_kernel(struct calibration *calibration)
{
    calibration->workload_count = 0; /* of another scenario */
    calibration->stretch_beyond = calibration->stretch;
    calibration->form_log_sigma = hypot(calibration->form_log_sigma, KERNEL_LOG_SIGMA);
    calibration->parameters.model_log_sigma = calibration->form_log_sigma;
}

void calibration_set_level(struct calibration *calibration, double level)
{
    const double ratio = normal_quantile(0.5 + level / 2) / normal_quantile(0.5 + calibration->interval_level / 2);
    calibration->stretch *= ratio;
    calibration->stretch_beyond *= ratio;
    calibration->interval_level = level;
    calibration->parameters.interval_level = level;
}

void covariance_factor_compute(const double *covariance, double *factor)
{
    enum {
        N = PARAMETER_COUNT
    };
    memset(factor, 0, N * N * sizeof *factor);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            double value = covariance[i * N + j];
            for (int k = 0; k < j; k++) {
                value -= factor[i * N + k] * factor[j * N + k];
            }
            const double pivot = factor[j * N + j];
            if (i == j) {
                factor[i * N + i] = value > 1e-12 * covariance[i * N + i] ? sqrt(value) : 0;
            } else {
                factor[i * N + j] = pivot > 0 ? value / pivot : 0;
            }
        }
    }
}
