/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which step-time law a question uses: the given line, a form that was asked for, or what the measured points choose.
 */
#ifndef OCCAM_CLI_STEP_LAW_H
#define OCCAM_CLI_STEP_LAW_H

#include "calibrate/step_time_fit.h"
#include "model/describe/serving.h"

struct step_law {
    bool has_fits; /* fits holds what the measured points say */
    struct step_time_choice fits;
    char reason[320]; /* why the law in use was taken */
};

/* form: "given", "auto" or the name of a form; NULL = the scenario's own `form`, else given where a line is given and
 * auto where only points are. Fits every form when show_fits or when the form needs it. Fills serving->base.
 * STATUS_USAGE for an unknown form or a form that needs points there are none of; STATUS_DOMAIN when the points do not
 * determine it. */
MUST_CHECK enum status step_law_settle(struct serving_model *serving, const char *form, bool show_fits,
                                       struct step_law *law, struct error *error);

#endif
