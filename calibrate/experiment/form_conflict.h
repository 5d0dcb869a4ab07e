/* SPDX-License-Identifier: GPL-3.0-or-later
 * Several forms of the model foretell the same configurations: do they disagree by more than noise, and which run tells
 * them apart best (docs/MODEL.md SEARCH-10). Knows numbers, no scenario. Used by `occam propose`. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_FORM_CONFLICT_H
#define OCCAM_CALIBRATE_EXPERIMENT_FORM_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CONFLICT_FORMS_MAX = 12
};

struct conflict_form {
    const double *log_values; /* ln(value), smaller is better, per candidate; NaN: it says nothing; borrowed */
    double log_sigma;         /* how far off one of them is, typically; above 0 */
};

struct conflict_request {
    size_t form_count; /* at most CONFLICT_FORMS_MAX */
    const struct conflict_form *forms;
    size_t candidate_count;
    const double *measured; /* ln(value), mean of a candidate's runs; NaN: none yet */
    const bool *is_closed;  /* tried already, or not to be run: never the run that is chosen */
    const double *costs_s;  /* of one run, above 0 */
    size_t anchor;          /* the candidate whose ratio to the others counts before anything is measured; SIZE_MAX:
                               there is none, and the values count as they are */
    double noise;           /* scatter of ln(value) from run to run, above 0 */
    double least_gain;      /* differences below it in ln(value) decide nothing */
};

struct form_conflict {
    bool found;
    bool other_best;           /* they hold different configurations for the best; else only values differ */
    size_t forms[2], bests[2]; /* the two forms, and the candidate that each holds for the best */
    size_t run;                /* the candidate that tells them apart best */
    double log_values[2];      /* what each foretells for it, moved so that it agrees with the runs so far */
    double information_per_s;  /* nats */
    bool is_plausible[CONFLICT_FORMS_MAX]; /* not refuted by the runs so far */
};

/* Form 0 is the one in use: it, or the likeliest where the runs refute it, is held against every other plausible form.
 * Other bests go before other values, then what the run tells per second. */
void form_conflict_find(const struct conflict_request *request, struct form_conflict *conflict);

#endif
