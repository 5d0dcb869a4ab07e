/* SPDX-License-Identifier: GPL-3.0-or-later
 * Measured rows that nobody measured: configurations drawn from a shipped scenario, timed by the model itself with
 * known parameters, times noise. What a fit must find again. */
#ifndef OCCAM_TESTS_SUPPORT_SYNTHETIC_ROWS_H
#define OCCAM_TESTS_SUPPORT_SYNTHETIC_ROWS_H

#include "calibrate/measured_rows.h"

struct synthetic_rows {
    struct device_catalogue *catalogue;
    struct scenario *scenario;
    const struct gpu_device *device;
    struct model_parameters priors, truth;
    struct measured_rows rows;
};
/* `count` different feasible configurations over the knobs' and the workload's lists. truth is drawn around the priors:
 * spread times their standard deviations. noise is the standard deviation of ln(time). Aborts the test on any error.
 * Release with synthetic_rows_release. */
void synthetic_rows_create(struct synthetic_rows *self, const char *scenario, size_t count, uint64_t seed,
                           double spread, double noise);
void synthetic_rows_release(struct synthetic_rows *self);

#endif
