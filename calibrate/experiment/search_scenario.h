/* SPDX-License-Identifier: GPL-3.0-or-later
 * The feasible configurations of a scenario as a space to search, each with the model's prediction. Used by `occam
 * propose` and `occam tune`. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_SCENARIO_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_SCENARIO_H

#include "calibrate/config_sweep.h"
#include "calibrate/experiment/search_engine.h"

enum {
    SEARCH_SCENARIO_CONFIGS_MAX = 1000000 /* feasible ones */
};

struct search_scenario {
    struct config_space configs;
    size_t count, infeasible_count; /* feasible; not */
    size_t filtered_count;          /* left out by `where` */
    uint64_t *indices;              /* count, ascending, of configs */
    double *values;                 /* count x scenario_variable_count */
    size_t variable_count;
    double *log_values; /* of the prediction: ln(seconds), or -ln(tokens per second) */
    double *log_floors; /* ln(seconds) that no kernel can beat (TIME-7); means nothing for a throughput */
    struct search_prior prior;
    struct search_space space;
};

/* request: objective TIME or THROUGHPUT, and everything but top_count as for a sweep. STATUS_BAD_DATA where no
 * configuration is left, with why, STATUS_LIMIT for more than SEARCH_SCENARIO_CONFIGS_MAX. Release with
 * search_scenario_release. */
MUST_CHECK enum status search_scenario_init(struct search_scenario *self, const struct sweep_request *request,
                                            struct error *error);
void search_scenario_release(struct search_scenario *self);

/* Drops the configurations that are not to be kept (count marks, at least one true) and makes the space anew. */
MUST_CHECK enum status search_scenario_keep(struct search_scenario *self, const bool *keep, struct error *error);

/* The configuration with these values of all variables; UINT32_MAX: none is feasible with them. */
uint32_t search_scenario_find(const struct search_scenario *self, const double *values);

/* Why search_scenario_find finds nothing. */
enum search_absence {
    SEARCH_ABSENCE_WORKLOAD, /* of another workload than is asked */
    SEARCH_ABSENCE_KNOB,     /* a knob that is not varied has another value */
    SEARCH_ABSENCE_VALUE,    /* a value that the list of a varied knob does not have */
    SEARCH_ABSENCE_WHERE,    /* `where` leaves it out */
    SEARCH_ABSENCE_LAUNCH,   /* it cannot be launched, or was not kept */
    SEARCH_ABSENCE_COUNT
};
/* request: what the scenario was made with; values: those that were not found. */
enum search_absence search_scenario_absence(const struct search_scenario *self, const struct sweep_request *request,
                                            const double *values);

#endif
