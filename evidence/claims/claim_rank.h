/* SPDX-License-Identifier: GPL-3.0-or-later
 * How far each kind of source is trusted against the others, and why: one table (EVID-4). Used by claim_cases. */
#ifndef OCCAM_EVIDENCE_CLAIMS_CLAIM_RANK_H
#define OCCAM_EVIDENCE_CLAIMS_CLAIM_RANK_H

#include "evidence/profiles/kernel_claim.h"

enum claim_class {
    CLAIM_LAUNCHED, /* read from the driver as the kernel ran */
    CLAIM_BUILT,    /* read from what a compiler made; whether that build is the one that runs is another question */
    CLAIM_TUNED     /* what a tuner tried or a file of settings asks for */
};

struct claim_rank {
    enum claim_class kind;
    unsigned order;     /* 1 is trusted most; equal orders decide nothing between them */
    const char *reason; /* why it stands there, one clause for people */
    const char *check;  /* the cheapest way to have it confirmed or thrown out */
};

/* Static. */
const struct claim_rank *claim_rank_of(enum claim_source source);
/* "launched", "built", "tuned". */
const char *claim_class_name(enum claim_class kind);

#endif
