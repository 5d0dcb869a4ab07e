/* SPDX-License-Identifier: GPL-3.0-or-later
 * A finite space whose values were all measured: a tuner's results as a table of knobs and times. Used by the replay
 * and by `occam tune --replay`. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_TABLE_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct kernel_claim_list;

struct search_table {
    size_t config_count, variable_count;
    char (*names)[64];
    double *values;    /* config_count x variable_count; for a category the number of its text, from 0 */
    bool *is_category; /* some value of the variable is no number */
    double *times_s;   /* NaN: failed */
};

/* Every claim with parameters becomes a configuration; without a time it counts as failed. All must name
 * the same parameters, else STATUS_BAD_DATA with the place. Release with search_table_release. */
MUST_CHECK enum status search_table_from_claims(const struct kernel_claim_list *claims, struct search_table *table,
                                                struct error *error);
/* A tuner's result file (evidence/profiles/profile_readers.h). */
MUST_CHECK enum status search_table_read(const char *path, struct search_table *table, struct error *error);
void search_table_release(struct search_table *table);

#endif
