/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which configurations to measure: rows that leave the least uncertainty about all the others, and among them typical
 * ones, by which intervals are judged (CAL-7). */
#ifndef OCCAM_CALIBRATE_DESIGN_H
#define OCCAM_CALIBRATE_DESIGN_H

#include "calibrate/kernel_fit.h"

/* Is choice k (from 0) a typical row, drawn at random? Three of eight are: 9 of 24 are the fewest that know where nine
 * tenths of them lie. */
bool design_is_typical(size_t k);

/* Picks `wanted` different rows out of count without looking at their times: greedy on the mean predictive variance
 * over all rows, with the parameters' priors and a residual process, but for the typical ones, which follow from the
 * seed. Indices go to chosen, in order of choice; a smaller design is the beginning of a larger one. More than 3000
 * candidates: every row is judged on a spread-out sample of 3000. STATUS_BAD_DATA where wanted > count. */
MUST_CHECK enum status design_choose(const struct gpu_device *device, const struct model_parameters *priors,
                                     const struct kernel_row *rows, size_t count, size_t wanted, uint64_t seed,
                                     uint32_t *chosen, struct error *error);

/* Told after every choice, in the caller's thread. */
struct design_watch {
    void (*progress)(void *context, size_t done, size_t wanted);
    void *context;
};
/* The same, watched; watch may be NULL. */
MUST_CHECK enum status design_choose_watched(const struct gpu_device *device, const struct model_parameters *priors,
                                             const struct kernel_row *rows, size_t count, size_t wanted, uint64_t seed,
                                             uint32_t *chosen, const struct design_watch *watch, struct error *error);

#endif
