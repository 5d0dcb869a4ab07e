/* SPDX-License-Identifier: GPL-3.0-or-later
 * Where a calibration and what it is used for differ: scenario, device, driver, clock. One sentence each, for warnings.
 */
#ifndef OCCAM_CLI_CALIBRATION_MATCH_H
#define OCCAM_CLI_CALIBRATION_MATCH_H

#include "calibrate/measured_rows.h"

struct calibration_match {
    bool other_device;
    unsigned count;
    char texts[6][320];
};

/* What a prediction for this scenario (and its device) should know. */
void calibration_match_scenario(const struct calibration *calibration, const struct scenario *scenario,
                                struct calibration_match *match);
/* The same, and what rows measured now differ in. */
void calibration_match_rows(const struct calibration *calibration, const struct scenario *scenario,
                            const struct measured_rows *rows, struct calibration_match *match);

#endif
