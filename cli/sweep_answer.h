/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a sweep found, recorded and printed: the ranking, or one ranking for each value of a variable, and the values
 * that would explain an observed gain. Used by cli/command_sweep.c. */
#ifndef OCCAM_CLI_SWEEP_ANSWER_H
#define OCCAM_CLI_SWEEP_ANSWER_H

#include "calibrate/config_sweep.h"
#include "cli/command.h"
#include "cli/question.h"

/* One ranking; by_value NaN when there is only one. */
struct sweep_ranking {
    double by_value;
    struct sweep_result result;
};

/* Moving one variable from `value` to its base value, everything else as in `values`: would that give the gain? */
struct gain_explanation {
    double by_value;
    double values[CONFIG_VARIABLES_MAX];
    double gain_fraction, gain_lo_fraction, gain_hi_fraction; /* throughput; NaN where infeasible */
};

struct sweep_answer {
    struct question *question;
    const char *objective_text, *where; /* as asked; where NULL = none */
    enum sweep_objective objective;
    bool with_throughput;
    size_t top_count;
    long by; /* variable index, -1 = one ranking */
    size_t ranking_count;
    struct sweep_ranking *rankings; /* owned by the caller */
    bool explains;
    double gain_from_fraction, gain_to_fraction;
    uint32_t moved; /* variable that is moved to its base */
    size_t explanation_count;
    struct gain_explanation *explanations; /* owned by the caller */
};

MUST_CHECK enum status sweep_answer_print(const struct sweep_answer *answer, enum output_format format,
                                          struct error *error);

#endif
