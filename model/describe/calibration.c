/* SPDX-License-Identifier: GPL-3.0-or-later
 * Storage of a calibration. */
#include "model/describe/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *calibration_feature_name(unsigned index)
{
    static const char *const names[CALIBRATION_FEATURE_COUNT] = {
        "ln_warps",  "ln_iterations", "ln_load_bytes",  "ln_tensor_work", "ln_instructions", "ln_buffers",
        "ln_stages", "ln_grid",       "ln_ctas_per_sm", "ln_waves",       "ln_smem",         "ln_spills"};
    return index < CALIBRATION_FEATURE_COUNT ? names[index] : "unknown";
}

const char *calibration_feature_words(const char *name)
{
    static const char *const words[CALIBRATION_FEATURE_COUNT] = {"warps of a CTA",
                                                                 "iterations of a CTA",
                                                                 "bytes of an iteration",
                                                                 "tensor work of an iteration",
                                                                 "instructions of an iteration",
                                                                 "buffers",
                                                                 "stages",
                                                                 "CTAs of the grid",
                                                                 "CTAs on an SM",
                                                                 "waves",
                                                                 "SMEM of a CTA",
                                                                 "spilled registers"};
    for (unsigned i = 0; i < CALIBRATION_FEATURE_COUNT; i++) {
        if (strcmp(name, calibration_feature_name(i)) == 0) {
            return words[i];
        }
    }
    return strcmp(name, "leverage") == 0 ? "the mix of its bounds" : "something else";
}

void calibration_init(struct calibration *calibration)
{
    memset(calibration, 0, sizeof *calibration);
    model_parameters_init(&calibration->parameters);
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const double sigma = calibration->parameters.items[i].log_sigma;
        calibration->covariance[i][i] = sigma * sigma;
    }
    for (unsigned i = 0; i < CALIBRATION_FEATURE_COUNT; i++) {
        calibration->least[i] = -HUGE_VAL;
        calibration->most[i] = HUGE_VAL;
    }
    calibration->form_log_sigma = calibration->parameters.model_log_sigma;
    calibration->interval_level = calibration->parameters.interval_level;
    calibration->stretch = 1.6448536269514722; /* normal, two-sided 90 % */
    calibration->stretch_beyond = calibration->stretch;
    calibration->leverage_limit = HUGE_VAL;
    calibration->sm_clock_mhz = NAN;
    memcpy(calibration->name, calibration->parameters.calibration, sizeof calibration->parameters.calibration);
}

enum status calibration_residual_allocate(struct calibration *calibration, uint32_t row_count, struct error *error)
{
    if (row_count > CALIBRATION_RESIDUAL_ROWS_MAX) {
        return error_set(error, STATUS_LIMIT, "a residual process takes at most %d rows, got %u",
                         CALIBRATION_RESIDUAL_ROWS_MAX, row_count);
    }
    struct calibration_residual *residual = &calibration->residual;
    calibration_release(calibration);
    residual->features = calloc((size_t)row_count * CALIBRATION_FEATURE_COUNT + 1, sizeof(double));
    residual->weights = calloc((size_t)row_count + 1, sizeof(double));
    residual->factor = calloc((size_t)row_count * row_count + 1, sizeof(double));
    if (!residual->features || !residual->weights || !residual->factor) {
        calibration_release(calibration);
        return error_set(error, STATUS_NO_MEMORY, "no memory for a residual process of %u rows", row_count);
    }
    residual->row_count = row_count;
    return STATUS_OK;
}

void calibration_release(struct calibration *calibration)
{
    free(calibration->residual.features);
    free(calibration->residual.weights);
    free(calibration->residual.factor);
    memset(&calibration->residual, 0, sizeof calibration->residual);
}

bool calibration_knows_workload(const struct calibration *calibration, uint64_t workload)
{
    uint32_t first = 0, end = calibration->workload_count;
    if (end == 0 || workload == 0) {
        return true;
    }
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (calibration->workloads[middle] < workload) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first < calibration->workload_count && calibration->workloads[first] == workload;
}
