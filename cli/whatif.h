/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam whatif` in parts: the comparison (whatif.c), its words (whatif_text.c), and which earlier values would explain
 * an observed gain (whatif_explain.c). Used by cli/command_whatif.c. */
#ifndef OCCAM_CLI_WHATIF_H
#define OCCAM_CLI_WHATIF_H

#include "cli/fit_advice.h"
#include "cli/prediction.h"
#include "cli/report.h"

enum {
    WHATIF_ROWS_MAX = 64
};

/* Base and variant at one concurrency. */
struct whatif_row {
    double concurrency;
    struct prediction base, variant;
    bool note_applies[SCENARIO_NOTES_MAX];
};

struct whatif {
    struct question *question; /* borrowed */
    size_t row_count;
    struct whatif_row *rows; /* owned */
    bool feasible;           /* both sides, in every row */
    const char *reason;      /* why not: borrowed from the row that failed */
    bool base_is_to_blame;
    struct fit_advice advice; /* when the variant is infeasible */
};

/* Both sides at every concurrency of the list (the scenario's own list when it is empty). Release with whatif_release,
 * also after an error. STATUS_USAGE when nothing differs from the base. */
MUST_CHECK enum status whatif_make(struct question *question, const struct number_list *concurrencies,
                                   struct whatif *whatif, struct error *error);
void whatif_release(struct whatif *whatif);

/* "slower", "probably slower", "faster", ..., "no change"; static. */
const char *whatif_verdict(const struct variant_effect *effect);
/* Does a note of the scenario that applies at this row speak against its verdict? */
bool whatif_is_contested(const struct whatif *whatif, const struct whatif_row *row);

/* Rows at which note `note` applies. */
size_t whatif_note_rows(const struct whatif *whatif, size_t note);

/* The whole answer as text, answer first. */
void whatif_print(const struct whatif *whatif);
void whatif_record(const struct whatif *whatif, struct report *report);

/* One earlier value of a knob, seen from the new configuration. */
struct explanation {
    double concurrency;
    double other_value; /* of the second knob, NaN if none */
    double old_value, new_value;
    uint64_t old_grid, new_grid;
    double old_waves, new_waves;
    double kernel_ratio;       /* new / old time of the step's kernels */
    double share_lo, share_hi; /* share of the step before the change that gives the observed gain; NaN: none can */
    bool explains;
};

struct explanation_list {
    size_t count, capacity;
    struct explanation *items;     /* owned; free() */
    const char *knob, *other_knob; /* borrowed; other_knob NULL if none */
};

/* Every other listed value of the one changed knob as the earlier one (for every value of other_knob when that is
 * given), at every concurrency: which share of the step the kernels must have had for a gain within gain_lo..gain_hi
 * (fractions). STATUS_USAGE unless exactly one knob is set with -s. eq. VAR-6 */
MUST_CHECK enum status whatif_explain(struct question *question, const struct number_list *concurrencies,
                                      const char *knob, const char *other_knob, double gain_lo, double gain_hi,
                                      struct explanation_list *list, struct error *error);
void whatif_explain_print(const struct explanation_list *list, double gain_lo, double gain_hi);
void whatif_explain_record(const struct explanation_list *list, struct report *report);

#endif
