/* SPDX-License-Identifier: GPL-3.0-or-later
 * The forms of the model at hand for a search, what each foretells for the configurations that matter, and where they
 * disagree (calibrate/experiment/form_conflict.h). Used by `occam propose` and `occam tune`. */
#ifndef OCCAM_CLI_SEARCH_FORMS_H
#define OCCAM_CLI_SEARCH_FORMS_H

#include "calibrate/experiment/form_conflict.h"
#include "cli/search_question.h"

enum {
    SEARCH_FORM_NAME_SIZE = 96
};

struct search_forms {
    size_t count;
    char names[CONFLICT_FORMS_MAX][SEARCH_FORM_NAME_SIZE]; /* "calibrated", "simulator", "split_floor=1" */
    double *whole[CONFLICT_FORMS_MAX];                     /* ln(value) of every configuration; NULL: simulator */
    double log_sigmas[CONFLICT_FORMS_MAX];
    size_t candidate_count;
    uint32_t *candidates;          /* configurations of the space, ascending */
    double *values;                /* ln(value), count x candidate_count */
    struct form_conflict conflict; /* of places in candidates */
};

/* Forms: the model as it is used; without its calibration, and the calibrated form without its residual process; the
 * CTA simulator (times only, and candidates only); the step-time forms that the points allow (throughput only); every
 * other value of what is unsettled. Candidates: the best of every form, the proposals, what was measured, the
 * scenario's own configuration. noise: of a run, 0 where it is not known. Without a second form, or in a space of more
 * than SEARCH_FORMS_CONFIGS_MAX configurations, nothing is compared (count is 0 or 1). Zero-initialise; release it also
 * after an error. */
enum {
    SEARCH_FORMS_CONFIGS_MAX = 200000
};
MUST_CHECK enum status search_forms_find(struct search_forms *self, struct search_question *search,
                                         const struct search_proposal *proposals, size_t proposal_count, double noise,
                                         struct error *error);
void search_forms_release(struct search_forms *self);
/* The run that tells two conflicting forms apart best, as it is believed of, reason SEARCH_REASON_CONFLICT; false where
 * no conflict was found. After search_forms_find. */
bool search_forms_run(const struct search_forms *self, struct search_question *search,
                      struct search_proposal *proposal);

#endif
