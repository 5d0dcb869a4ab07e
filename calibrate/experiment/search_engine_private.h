/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to search_engine.c, which takes runs in, and search_proposals.c, which says what to run next. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_ENGINE_PRIVATE_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_ENGINE_PRIVATE_H

#include "calibrate/experiment/search_engine.h"
#include "calibrate/experiment/search_members.h"

struct search_engine {
    const struct search_space *space;
    const struct search_prior *prior; /* NULL: none */
    struct search_options options;
    struct search_members *members;
    struct search_run *runs;
    size_t run_count, run_capacity, good_count;
    double log_stretch;
    size_t forecasts, forecasts_inside;
    double run_noise;     /* of ln(value), as told or seen in repeats */
    double *gains_by_run; /* run_capacity + 1: what remained after so many runs; NaN: not asked */
    double second_log;    /* least mean of the other configurations */
    size_t best_repeats;
    uint32_t joint[SEARCH_JOINT_MAX]; /* those that may be the best, the incumbent first, and how likely */
    double joint_probability[SEARCH_JOINT_MAX];
    size_t joint_count;
    bool *is_taken; /* config_count: run, or proposed in this batch */
    uint32_t *pool;
    size_t pool_count, pool_capacity;
    double *means, *deviations, *feasible, *gains; /* of the pool; gains of those that run, on the target */
    struct search_observation *rows;               /* of the surrogate: one per configuration that ran */
    bool floors_hold;                              /* of the last weighing */
    bool is_weighed; /* means, deviations, feasible and gains are of the present beliefs, against target */
    double target;
    size_t row_count;
    uint32_t *tried;
    bool *did_run;
    double best_log; /* least mean of ln(value); HUGE_VAL: none */
    uint32_t best_config;
};

/* Neither a prior nor two runs to learn from. */
bool search_engine_knows_nothing(const struct search_engine *self);
/* From all runs: rows, the best, the pool of candidates, the process. */
void search_engine_form_beliefs(struct search_engine *self);

#endif
