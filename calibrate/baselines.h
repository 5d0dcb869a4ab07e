/* SPDX-License-Identifier: GPL-3.0-or-later
 * What any accuracy figure is compared with: six simple predictors and a constant, trained on the same rows as the
 * model (docs/VALIDATION.md, docs/MODEL.md CAL-10). */
#ifndef OCCAM_CALIBRATE_BASELINES_H
#define OCCAM_CALIBRATE_BASELINES_H

#include "calibrate/kernel_fit.h"

enum baseline_id {
    BASELINE_ROOFLINE,        /* time that the datasheet's bandwidth and tensor rate allow, times one fitted factor */
    BASELINE_WAVES,           /* rounds of CTAs times iterations, times one fitted factor */
    BASELINE_NEAREST,         /* the nearest training row in standardised logarithms of knobs and workload */
    BASELINE_LINEAR,          /* least squares in the logarithms of time, knobs and workload */
    BASELINE_PROCESS_KNOBS,   /* Gaussian process on the same inputs */
    BASELINE_PROCESS_DERIVED, /* Gaussian process on these and CTAs per SM, iterations, waves, spills */
    BASELINE_CONSTANT,        /* the median of the training rows: what a predictor without any knowledge reaches */
    BASELINE_COUNT
};
/* "roofline", "waves", "nearest", "linear", "gp_knobs", "gp_derived", "constant"; static. */
const char *baseline_name(enum baseline_id id);

/* What the baselines see of all rows; times are used of training rows only. */
struct baseline_table {
    size_t count, input_count, derived_count; /* the derived inputs follow the others in a line */
    double *inputs;                           /* count x (input_count + derived_count), standardised logarithms */
    double *log_roofline, *log_waves, *log_time;
};
/* values: count x variable_count, knobs and workload of each row. STATUS_DOMAIN where a row does not fit the device;
 * STATUS_LIMIT with too many variables. Release with baseline_table_release. */
MUST_CHECK enum status baseline_table_create(const struct gpu_device *device, const struct kernel_row *rows,
                                             const double *values, size_t count, size_t variable_count,
                                             struct baseline_table *table, struct error *error);
void baseline_table_release(struct baseline_table *table);

/* Predicts ln(time) of rows test[0..test_count) from rows train[0..train_count), at least 2. */
MUST_CHECK enum status baseline_predict(const struct baseline_table *table, enum baseline_id id, const uint32_t *train,
                                        size_t train_count, const uint32_t *test, size_t test_count, double *log_time,
                                        struct error *error);

#endif
