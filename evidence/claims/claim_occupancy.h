/* SPDX-License-Identifier: GPL-3.0-or-later
 * Resident CTAs per SM of what a story says: exact figures give one number, intervals and unknown figures a range
 * (EVID-6). Used by `occam reconcile`. */
#ifndef OCCAM_EVIDENCE_CLAIMS_CLAIM_OCCUPANCY_H
#define OCCAM_EVIDENCE_CLAIMS_CLAIM_OCCUPANCY_H

#include "evidence/claims/claim_cases.h"
#include "model/predict/occupancy.h"

struct claim_occupancy {
    bool is_known;                /* false: neither registers nor threads nor SMEM are known */
    uint32_t ctas_low, ctas_high; /* per SM, at the worst and the best end of the intervals; 0: cannot be launched */
    bool registers_unknown, threads_unknown, smem_unknown; /* taken as no limit at all: one warp, no SMEM */
    int64_t smem_over_limit_bytes; /* static + dynamic less the limit per CTA, at the worst end */
    uint64_t charged_smem_bytes;   /* static + dynamic + the device's reserve, at the worst end; not rounded */
    double occupancy_fraction;     /* at the worst end */
    enum launch_fault fault;       /* at the worst end */
    struct kernel_launch launch;   /* the worst end itself, for saying why it cannot run */
};

/* The same limits for all stories of a case make their answers comparable. */
void claim_story_occupancy(const struct claim_story *story, const struct gpu_limits *limits,
                           struct claim_occupancy *result);

#endif
