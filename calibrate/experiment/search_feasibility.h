/* SPDX-License-Identifier: GPL-3.0-or-later
 * How likely a configuration is to run at all, from those that did and those that failed (SEARCH-5). Used by
 * search_engine. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_FEASIBILITY_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_FEASIBILITY_H

#include "calibrate/experiment/search_space.h"

/* did_run[i]: whether run i of tried[i] gave a time. Probabilities of count configurations go to out. */
void search_feasibility(const struct search_space *space, const uint32_t *tried, const bool *did_run,
                        size_t tried_count, const uint32_t *configs, size_t count, double *out);

#endif
