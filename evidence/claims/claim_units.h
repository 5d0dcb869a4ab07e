/* SPDX-License-Identifier: GPL-3.0-or-later
 * Claims that are surely of one build or one launch, as a unit (EVID-2). Used by claim_cases and claim_compare. */
#ifndef OCCAM_EVIDENCE_CLAIMS_CLAIM_UNITS_H
#define OCCAM_EVIDENCE_CLAIMS_CLAIM_UNITS_H

#include "evidence/claims/claim_rank.h"
#include "evidence/profiles/kernel_claim.h"

struct claim_unit {
    enum claim_class kind;
    bool is_stated;
    uint32_t arch;
    unsigned order;     /* of its most trusted claim */
    unsigned sources;   /* bit of each enum claim_source */
    size_t first, last; /* its claims, + 1: a chain through claim_units.next, most trusted first */
    size_t count;
    struct claim_value figures[CLAIM_FIGURE_COUNT]; /* of the most trusted claim that says so */
    size_t taken_by;                                /* number of the case, from 1; 0: none */
    size_t next_of_case;                            /* the next unit of that case + 1, 0 at the end */
};

/* Zero-initialise; release with claim_units_release. */
struct claim_units {
    const struct kernel_claim_list *claims;
    size_t count, capacity;
    struct claim_unit *items; /* most trusted first */
    size_t *next;             /* borrowed; per claim: the next of its unit + 1, 0 at the end */
    size_t left_out;          /* claims beyond the limit of units */
};

/* Units of the claims indices[0..count), which are of one kernel. Failed attempts of tuners and kernels
 * that the compiler refused are left out. next: room
 * for one number per claim of the list. */
MUST_CHECK enum status claim_units_make(const struct kernel_claim_list *claims, const size_t *indices, size_t count,
                                        size_t *next, struct claim_units *units, struct error *error);
void claim_units_release(struct claim_units *units);

/* Figures that both know: how many agree and differ; distance is the sum of |ln| of the ratios that differ. */
struct claim_match {
    unsigned agreeing, differing;
    bool threads_differ;
    double distance;
};
void claim_unit_match(const struct claim_unit *left, const struct claim_unit *right, struct claim_match *match);
/* static + dynamic of the unit: stated, or the sum. Triton declares no static SMEM, so there its dynamic alone, with
 * `static_bytes` of others added (0: none known). */
struct claim_value claim_unit_launch_smem(const struct claim_unit *unit, double static_bytes);

#endif
