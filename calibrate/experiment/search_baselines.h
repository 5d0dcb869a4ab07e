/* SPDX-License-Identifier: GPL-3.0-or-later
 * What plain methods reach on a table whose every value is known: exact random search and greedy local search, to stand
 * beside the engine in its replays (docs/MODEL.md SEARCH-9). The third, plain expected improvement, is the engine
 * itself with SEARCH_KERNEL_PLAIN, ten random first runs and no prior. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_BASELINES_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_BASELINES_H

#include "calibrate/experiment/search_space.h"

/* values: config_count, above 0, NaN where the configuration fails. Expectation of (least value of all) / (least value
 * among `runs` different configurations drawn at random), 0 while all of them failed; exact. sorted: scratch,
 * config_count. */
double search_random_expectation(const double *values, size_t config_count, size_t runs, double *sorted);

/* Greedy local search: from a random configuration, tries those that differ in one knob in random order, moves to the
 * first that is better, and starts anew where none is. fractions[k] = least of all / least found after k + 1 different
 * configurations. STATUS_NO_MEMORY. */
MUST_CHECK enum status search_local_run(const struct search_space *space, const double *values, size_t runs,
                                        uint64_t seed, double *fractions, struct error *error);

#endif
