/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which of a few configurations is the best, and how likely, when their values err together (SEARCH-6). Used by
 * search_engine. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_BEST_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_BEST_H

#include <stddef.h>
#include <stdint.h>

/* means and covariance (count x count, count <= SEARCH_JOINT_MAX) of ln(value), deviations stretched by the factor;
 * feasible: probability that each runs at all. The first is the best so far. Adds weight times the share of the draws
 * in which each is the best to `probabilities` (all of them add up to weight unless none may run), and weight times the
 * mean of what the least of a draw is below the first to *gain. */
void search_best_draw(const double *means, const double *covariance, const double *feasible, size_t count,
                      double stretch, uint64_t seed, size_t draws, double weight, double *probabilities, double *gain);

#endif
