/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which of a few configurations is the best, and how likely, when their values err together (SEARCH-6). Used by
 * search_engine. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_BEST_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_BEST_H

#include <stddef.h>
#include <stdint.h>

/* means and covariance (count x count) of ln(value), deviations stretched by the factor; feasible: probability that
 * each runs at all. count <= SEARCH_JOINT_MAX. Probabilities go to out; they add up to 1 unless none may run. */
void search_best_probabilities(const double *means, const double *covariance, const double *feasible, size_t count,
                               double stretch, uint64_t seed, double *out);

#endif
