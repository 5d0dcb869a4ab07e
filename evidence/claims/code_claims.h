/* SPDX-License-Identifier: GPL-3.0-or-later
 * Compiled code as claims: one claim per record of a cubin, log, report, JSON or listing, because reconciling weighs
 * them one by one; or one per variant, where a table is wanted. */
#ifndef OCCAM_EVIDENCE_CLAIMS_CODE_CLAIMS_H
#define OCCAM_EVIDENCE_CLAIMS_CODE_CLAIMS_H

#include "evidence/code/compiled_code.h"
#include "evidence/profiles/kernel_claim.h"

/* Appends a claim for every record. A bound is an interval: threads of __launch_bounds__ 1 to N, a static size that may
 * hold the reserve from 1024 B less on. */
MUST_CHECK enum status code_claims_append(const struct compiled_code *code, struct kernel_claim_list *list,
                                          struct error *error);
/* Appends one claim with everything that is known of the variant. */
MUST_CHECK enum status code_variant_claim(const struct code_variant *variant, struct kernel_claim_list *list,
                                          struct error *error);

#endif
