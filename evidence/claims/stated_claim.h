/* SPDX-License-Identifier: GPL-3.0-or-later
 * Numbers that somebody only read somewhere: "smem_bytes=80000 registers=255 source=trace". Used by `occam reconcile`.
 */
#ifndef OCCAM_EVIDENCE_CLAIMS_STATED_CLAIM_H
#define OCCAM_EVIDENCE_CLAIMS_STATED_CLAIM_H

#include "evidence/profiles/kernel_claim.h"

/* The file of such claims. */
#define STATED_CLAIM_FILE "stated"

/* Appends one claim. Words NAME=VALUE, separated by spaces: `source` (trace, nsys, nsys-table, ncu, cubin, ptxas,
 * cuobjdump, cache or triton, ptx, autotune, ...; without it the claim is a table without a maker, and noted),
 * `kernel`, `arch`, `device`, `grid`, `time_us`, and figures by the names of claim_figure_name or a common short one
 * (regs, smem, shared, block, ...). What SMEM without a further word means follows the source: static + dynamic in
 * traces, with the driver's part in Nsight Compute, dynamic in Triton's cache, static in ptxas, static with the reserve
 * from sm_90 on in cubins and cuobjdump. A value may carry KB, KiB, MB or MiB: it is then as exact as its digits, and
 * KB and MB, which sources use for both, cover both. STATUS_USAGE names the word. */
MUST_CHECK enum status stated_claim_parse(const char *text, struct kernel_claim_list *list, struct error *error);

#endif
