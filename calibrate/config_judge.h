/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to calibrate/config_*.c: judges one configuration after the other, with all it needs of its own, so that
 * every thread has one. */
#ifndef OCCAM_CALIBRATE_CONFIG_JUDGE_H
#define OCCAM_CALIBRATE_CONFIG_JUDGE_H

#include "calibrate/config_sweep.h"
#include "evidence/scenario/expression.h"
#include "model/predict/occupancy.h"
#include "model/predict/tile_cost.h"

enum {
    SWEEP_RESULT_COUNT = 8,
    SWEEP_SYMBOLS_MAX = CONFIG_VARIABLES_MAX + SCENARIO_LET_MAX + SWEEP_RESULT_COUNT,
    /* Directions in which predictions err together: the limiters, unknown structure, the form itself. */
    SWEEP_DIRECTION_STRUCTURE = TIME_LIMITER_COUNT,
    SWEEP_DIRECTION_FORM,
    SWEEP_DIRECTION_COUNT
};
_Static_assert((int)SWEEP_SYMBOLS_MAX <= (int)EXPRESSION_VARIABLES_MAX, "where must see every name");

enum config_outcome {
    CONFIG_OUTCOME_FEASIBLE,
    CONFIG_OUTCOME_FILTERED,
    CONFIG_OUTCOME_CONSTRAINT, /* judge->constraint */
    CONFIG_OUTCOME_LAUNCH,     /* judge->time.infeasible_kernel */
    CONFIG_OUTCOME_INVALID     /* judge->error */
};

struct config_judge {
    const struct sweep_request *request;
    struct scenario_evaluator *evaluator;
    struct time_model model;
    struct layer_case layer, group_layer;
    struct layer_time time, group_time;
    struct layer_memo memo, group_memos[SERVING_LAYER_GROUPS_MAX];
    double direction_sigma[SWEEP_DIRECTION_COUNT];
    struct error error;
    size_t constraint;
    bool formats_checked;
    /* expressions and their symbols: variables, let entries, results */
    struct expression *where, *objective;
    bool where_needs_results;
    uint32_t symbol_count, let_count;
    bool let_used[SCENARIO_LET_MAX];
    const char *names[SWEEP_SYMBOLS_MAX];
    double symbols[SWEEP_SYMBOLS_MAX];
    /* throughput: the base's layers, and the step they belong to */
    double base_step_s;
    struct judge_kernels {
        double time_s, direction_s[SWEEP_DIRECTION_COUNT]; /* per step; the latter times their standard deviations */
    } base_kernels, kernels;                               /* kernels: of the last configuration */
};

/* The judge is large: allocated here, freed with config_judge_free (NULL is fine). request outlives it. */
MUST_CHECK enum status config_judge_create(const struct sweep_request *request, struct config_judge **judge,
                                           struct error *error);
void config_judge_free(struct config_judge *judge);
/* *key: smaller is better; set when feasible. Only what stops the whole sweep is a status. */
MUST_CHECK enum status config_judge_rate(struct config_judge *judge, const double *values, enum config_outcome *outcome,
                                         double *key, struct error *error);
/* Everything about the configuration rated last (it must be feasible), but gain and tie. */
void config_judge_describe(const struct config_judge *judge, const double *values, uint64_t config_index, double key,
                           struct sweep_entry *entry);
/* VAR-10, VAR-11: d ln(objective) / d direction, each times its standard deviation, of the configuration rated last. */
void config_judge_sensitivity(const struct config_judge *judge, double *sensitivity);
/* VAR-10: standard deviation of what two configurations do not share, in ln(objective). */
double config_judge_residual(const struct config_judge *judge);

#endif
