/* SPDX-License-Identifier: GPL-3.0-or-later
 * Remarks of the scenario that concern the question. Printed by predict and whatif. */
#ifndef OCCAM_CLI_SCENARIO_NOTES_H
#define OCCAM_CLI_SCENARIO_NOTES_H

#include <stdio.h>

#include "cli/question.h"

/* Whether note `index` concerns the question: its knob is changed (or it names none) and its condition holds at the
 * evaluator's last values. *known is false where the condition needs a figure that the device lacks; then *applies is
 * true, because keeping a warning back would be worse. */
MUST_CHECK enum status scenario_note_concerns(const struct question *question, size_t index, bool *applies, bool *known,
                                              struct error *error);
/* The kernel time that the first note that concerns the question and has one was measured to be, in microseconds; NaN
 * where there is none. */
MUST_CHECK enum status scenario_notes_measured(const struct question *question, double *time_us, struct error *error);
/* Prints those notes, a blank line before each. */
MUST_CHECK enum status scenario_notes_print(const struct question *question, FILE *stream, struct error *error);

#endif
