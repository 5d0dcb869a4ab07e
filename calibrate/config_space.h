/* SPDX-License-Identifier: GPL-3.0-or-later
 * The configurations that some variables of a scenario span: a mixed-radix number, last variable fastest. Used by
 * config_sweep and by whatever proposes experiments. */
#ifndef OCCAM_CALIBRATE_CONFIG_SPACE_H
#define OCCAM_CALIBRATE_CONFIG_SPACE_H

#include <stdint.h>

#include "evidence/scenario/scenario.h"

enum {
    CONFIG_VARIABLES_MAX = SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX
};

struct config_space {
    const struct scenario *scenario;        /* borrowed */
    uint32_t varied_count;                  /* variables that take all their values */
    uint32_t varied[CONFIG_VARIABLES_MAX];  /* their scenario indices, ascending */
    uint64_t strides[CONFIG_VARIABLES_MAX]; /* configurations between two neighbouring values of varied[i] */
    uint64_t config_count;
    double values[CONFIG_VARIABLES_MAX]; /* of the variables that are not varied */
};

/* varied: count scenario indices in any order, or count = 0 for all knobs. values: scenario_variable_count doubles,
 * copied. STATUS_USAGE for an index given twice; STATUS_LIMIT when there are more than config_limit configurations,
 * also when their number does not fit in 64 bits. */
MUST_CHECK enum status config_space_init(struct config_space *space, const struct scenario *scenario,
                                         const uint32_t *varied, uint32_t varied_count, const double *values,
                                         uint64_t config_limit, struct error *error);
/* "a,b,c" into scenario indices. indices holds CONFIG_VARIABLES_MAX. STATUS_USAGE with near names for an unknown one.
 */
MUST_CHECK enum status config_space_parse_names(const struct scenario *scenario, const char *names, uint32_t *indices,
                                                uint32_t *count, struct error *error);
/* All variables of configuration `index` < config_count into values (scenario_variable_count doubles). */
void config_space_values(const struct config_space *space, uint64_t index, double *values);

#endif
