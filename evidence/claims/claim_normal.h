/* SPDX-License-Identifier: GPL-3.0-or-later
 * The known traps taken out of claims, so that equal things compare equal (docs/MODEL.md, EVID-1 ff.). */
#ifndef OCCAM_EVIDENCE_CLAIMS_CLAIM_NORMAL_H
#define OCCAM_EVIDENCE_CLAIMS_CLAIM_NORMAL_H

#include "evidence/profiles/kernel_claim.h"

enum {
    CLAIM_RESERVE_BYTES = 1024,          /* what the device takes per CTA from cc 8.0 on */
    CLAIM_DEFAULT_LIMIT_BYTES = 48 << 10 /* SMEM per CTA without opting in: beyond it Kineto's occupancy is 0 */
};

/* Each claim for itself: threads from warps; static, dynamic and launch SMEM from each other where two are known;
 * occupancy and CTAs per SM of a trace that were computed with the 48 KiB limit become unknown. Says in the note what
 * was taken out. Safe to call twice. */
void claims_normalise(struct kernel_claim_list *list);

bool claim_value_is_exact(const struct claim_value *value);
/* Both known and the intervals meet. */
bool claim_values_agree(const struct claim_value *left, const struct claim_value *right);
/* Both known and apart. */
bool claim_values_differ(const struct claim_value *left, const struct claim_value *right);
/* Text "0.214" in a unit of `scale_low` to `scale_high` bytes (MB: 1e6 or 2^20, which of the two is not known) as an
 * interval of half a last digit either way. False if it is no decimal number. */
bool claim_rounded_value(const char *text, double scale_low, double scale_high, struct claim_value *value);

#endif
