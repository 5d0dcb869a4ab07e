/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figures of the units of one case against each other (EVID-3). Used by claim_cases. */
#ifndef OCCAM_EVIDENCE_CLAIMS_CLAIM_COMPARE_H
#define OCCAM_EVIDENCE_CLAIMS_CLAIM_COMPARE_H

#include "evidence/claims/claim_cases.h"
#include "evidence/claims/claim_units.h"

/* Fills claims, comparisons and stories of a case from its units (indices into units->items, most trusted first).
 * Memory is the arena's. */
MUST_CHECK enum status claim_case_compare(const struct claim_units *units, const size_t *members, size_t member_count,
                                          struct arena *arena, struct claim_case *item, struct error *error);

#endif
