/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a sentence says of the speed: "num_warps=8 lowers the step time" says that it rises. Read only where every word
 * of direction is understood; all else is for the user to settle. Used by `occam hypothesis`. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_STATEMENT_CLAIM_H
#define OCCAM_CALIBRATE_EXPERIMENT_STATEMENT_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/experiment/effect_judge.h"

enum statement_meaning {
    STATEMENT_CLEAR,
    STATEMENT_SILENT,   /* no word of direction, or none that is of a speed or a time */
    STATEMENT_NEGATED,  /* not, never, without, ...: what is meant instead is left open */
    STATEMENT_TWO_WAYS, /* the speed rises and falls */
    STATEMENT_UNCLEAR   /* of what a word of direction speaks, or of which configuration */
};
struct statement_reading {
    enum statement_meaning meaning;
    enum effect_claim claim;  /* of STATEMENT_CLEAR, of the speed */
    enum effect_claim denied; /* of STATEMENT_NEGATED: what is denied; EFFECT_CHANGES where that is not clear */
    char word[48];            /* of STATEMENT_NEGATED and STATEMENT_UNCLEAR: the word that makes it so */
};

/* `changes`: "num_warps=8", what the hypothesis changes: a sentence about another value of the same knob is unclear. */
void statement_claim_read(const char *statement, const char *const *changes, size_t change_count,
                          struct statement_reading *reading);
/* The sentence says the opposite of the claim, or denies just that. */
bool statement_claim_contradicts(const struct statement_reading *reading, enum effect_claim claim);

#endif
