/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which step-time law a question uses: the given line, a form that was asked for, what the measured points choose, or
 * the committee of forms through them. */
#ifndef OCCAM_CLI_STEP_LAW_H
#define OCCAM_CLI_STEP_LAW_H

#include "calibrate/step_time_committee.h"
#include "calibrate/step_time_findings.h"
#include "calibrate/step_time_fit.h"
#include "model/describe/serving.h"

struct step_law {
    bool has_fits; /* fits holds what the measured points say */
    struct step_time_choice fits;
    bool has_findings; /* findings holds what is odd about the points, at their nominal concurrency */
    struct step_time_findings findings;
    bool running_batch; /* the points' concurrency is the batch that ran, not the nominal one */
    char reason[320];   /* why the law in use was taken */
};

/* form: "given", "auto", "committee" or the name of a form; NULL = the scenario's own `form`, else given where a line
 * is given and committee where only points are. auto takes the committee where the points choose no form. Fits every
 * form and looks for findings (unless there are some already) when show_fits or when the form needs it. Fills
 * serving->base. STATUS_USAGE for an unknown form or a form that needs points there are none of; STATUS_DOMAIN when the
 * points do not determine it. */
MUST_CHECK enum status step_law_settle(struct serving_model *serving, const char *form, bool show_fits,
                                       struct step_law *law, struct error *error);

/* Fills law->findings from the points as they stand; their concurrency is the nominal one. */
MUST_CHECK enum status step_law_find(const struct serving_model *serving, struct step_law *law, struct error *error);

#endif
