/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the verdicts of one hypothesis come to. A condition that was judged again counts as its latest verdict says, and
 * a prediction once. Used by `occam ledger`. */
#ifndef OCCAM_CLI_LEDGER_OUTCOMES_H
#define OCCAM_CLI_LEDGER_OUTCOMES_H

#include "evidence/ledger/ledger.h"

struct ledger_outcomes {
    uint64_t supported, refuted, inconclusive, restored, not_restored; /* conditions, by their latest verdict */
    uint64_t held, missed; /* predictions, by the latest verdict that could test them */
    uint64_t replaced;     /* verdicts that a later one of the same condition replaces */
};

MUST_CHECK enum status ledger_outcomes_read(struct ledger *ledger, int64_t hypothesis, struct ledger_outcomes *outcomes,
                                            struct error *error);

#endif
