/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which configuration to run when nothing is known: one that, with those already run, stands for the whole space
 * (SEARCH-3). Used by search_engine. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_DESIGN_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_DESIGN_H

#include "calibrate/experiment/search_space.h"

/* is_taken: config_count marks of configurations not to be chosen; at least one must be free. chosen: those run or
 * about to be. The same arguments give the same answer. */
uint32_t search_design_next(const struct search_space *space, uint64_t seed, const uint32_t *chosen, size_t count,
                            const bool *is_taken);

#endif
