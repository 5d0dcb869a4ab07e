/* SPDX-License-Identifier: GPL-3.0-or-later
 * The benchmark runs behind a curve, beside what the law says of them; and laws in words. Used by curve. */
#ifndef OCCAM_CLI_CURVE_RUNS_H
#define OCCAM_CLI_CURVE_RUNS_H

#include "cli/measured_points.h"
#include "cli/question.h"
#include "cli/report.h"

enum {
    STEP_LAW_TEXT_SIZE = 160
};

/* "11.1 + 7.86 (1 - (1 - 8/256)^n) + 0.239 n", in milliseconds, into out; "" for a committee. Returns out. */
const char *step_law_text(const struct step_time_law *law, char out[STEP_LAW_TEXT_SIZE]);

/* Records runs[], runs_series and runs_skipped. question: NULL where no law was found. */
void curve_runs_record(struct report *report, const struct measured_runs *runs, const struct question *question);
/* The table of runs, their notes, what was left out; nothing where there are no runs. */
MUST_CHECK enum status curve_runs_print(const struct report *report, const struct measured_runs *runs,
                                        struct error *error);

#endif
