/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam predict --configs`: a list of configurations, one row of the answer for each. */
#ifndef OCCAM_CLI_PREDICT_CONFIGS_H
#define OCCAM_CLI_PREDICT_CONFIGS_H

#include "cli/question.h"

enum {
    CONFIGS_BYTES_MAX = 16 << 20,
    CONFIGS_MAX = 100000
};

/* Verdict, launch and kernel time of one layer; nothing of the step. path: CSV, "-" for standard input. A column that
 * is no variable, or a cell that is no number, is an error with its line; what a row asks for and cannot have is told
 * in the row (docs/DATA.md). The question's own values stand for variables without a column. */
MUST_CHECK enum status predict_configs(struct question *question, const char *path, bool free_values,
                                       enum output_format format, struct error *error);

#endif
