/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a calibration in JSON. One that is taken has parameters within their ranges, and a process that predicts
 * finite numbers. */
#include <math.h>

#include "evidence/calibration_file.h"
#include "model/predict/calibrated_time.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calibration calibration;
    struct error error = {0};
    if (calibration_text_read((const char *)data, size, "input.json", &calibration, &error) != STATUS_OK) {
        FUZZ_REQUIRE(error.text[0] != '\0');
        FUZZ_REQUIRE(calibration.residual.features == NULL);
        return 0;
    }
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const struct parameter_description *about = parameter_describe((enum parameter_id)i);
        const double value = calibration.parameters.items[i].value;
        FUZZ_REQUIRE(value >= about->minimum && value <= about->maximum);
        FUZZ_REQUIRE(calibration.covariance[i][i] >= 0);
    }
    if (calibration.residual.row_count > 0) {
        const double features[CALIBRATION_FEATURE_COUNT] = {1, 2, 3};
        double mean, deviation;
        calibration_residual_predict(&calibration.residual, features, &mean, &deviation);
        FUZZ_REQUIRE(isfinite(mean) && deviation >= 0);
    }
    calibration_release(&calibration);
    return 0;
}
