/* SPDX-License-Identifier: GPL-3.0-or-later
 * Between the search (config_sweep.c) and its answer (config_sweep_result.c). */
#ifndef OCCAM_CALIBRATE_CONFIG_SWEEP_PRIVATE_H
#define OCCAM_CALIBRATE_CONFIG_SWEEP_PRIVATE_H

#include "calibrate/config_judge.h"
#include "calibrate/config_sweep.h"

enum {
    LAUNCH_FAULT_KINDS = LAUNCH_FAULT_GRID + 1
};

struct candidate {
    double key;
    uint64_t config_index;
};

struct best_heap {
    struct candidate *items;
    size_t count, capacity;
};

struct sweep_tally {
    uint64_t feasible, filtered;
    uint64_t constraints[SCENARIO_REQUIRE_MAX];
    uint64_t launches[KERNELS_PER_LAYER_MAX][LAUNCH_FAULT_KINDS];
    uint64_t invalid, first_invalid; /* the example shown is the one with the lowest index */
    struct error invalid_error;
};

struct sweep_worker {
    struct config_judge *judge;
    struct best_heap best;
    struct sweep_tally tally;
    struct error error;
};

/* Order in which the counter turns: digits[0] slowest. */
struct sweep_order {
    uint32_t digits[CONFIG_VARIABLES_MAX];
};

/* The whole search. */
struct sweep_state {
    struct sweep_request request; /* a copy that points at values */
    double values[CONFIG_VARIABLES_MAX];
    struct config_space space;
    struct sweep_order order;
    unsigned worker_count;
    struct sweep_worker *workers;
    uint64_t chunk_configs, chunk_count;
};

/* For qsort: the better first; of equals the one with the lower index. */
int config_sweep_compare(const void *left, const void *right);
/* Counts and reasons of what cannot run. An error where nothing at all could be rated. */
MUST_CHECK enum status config_sweep_set_reasons(const struct sweep_state *state, struct sweep_result *result,
                                                struct error *error);
/* The base, and the best of all threads with intervals, ties and gains. */
MUST_CHECK enum status config_sweep_set_details(const struct sweep_state *state, struct sweep_result *result,
                                                struct error *error);

#endif
