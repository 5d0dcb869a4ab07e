/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a sweep found, recorded and printed: the ranking, or one ranking for each value of a variable. Used by
 * cli/command_sweep.c. */
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

/* Whether the whole step ranks the same configuration first as one layer does. */
enum step_winner {
    STEP_WINNER_UNKNOWN, /* not asked: no layer groups, several rankings, another objective, or too many configurations
                          */
    STEP_WINNER_SAME,
    STEP_WINNER_TIED, /* another one, not to be told from the layer's winner */
    STEP_WINNER_OTHER
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
    enum step_winner step_winner;
    double step_winner_values[CONFIG_VARIABLES_MAX]; /* unless unknown or the same */
};

MUST_CHECK enum status sweep_answer_print(const struct sweep_answer *answer, enum output_format format,
                                          struct error *error);

#endif
