/* SPDX-License-Identifier: GPL-3.0-or-later
 * Claims about one kernel put together: what belongs to one build or launch, where the sources agree, where they truly
 * contradict each other, and which is trusted then (docs/MODEL.md, EVID-1 ff.). Used by `occam reconcile`. */
#ifndef OCCAM_EVIDENCE_CLAIMS_CLAIM_CASES_H
#define OCCAM_EVIDENCE_CLAIMS_CLAIM_CASES_H

#include "evidence/profiles/kernel_claim.h"

enum {
    CLAIM_CASE_REMARKS_MAX = 8,
    CLAIM_UNITS_PER_KERNEL_MAX = 1024 /* builds and launches of one kernel; more are counted */
};

/* One value of a figure, and who says it. */
struct claim_reading {
    struct claim_value value; /* where all of them agree */
    size_t lead;              /* index of the most trusted claim that says so */
    size_t count;
    size_t *claims; /* indices; the lead first */
};

struct claim_comparison {
    enum claim_figure figure;
    size_t reading_count;           /* 1: all agree, or only one says it */
    struct claim_reading *readings; /* most trusted first */
    bool is_undecided;              /* the first two stand equally high: no order of trust decides */
};

/* One consistent description of the kernel: the trusted figures, or these with one source's differing ones. */
struct claim_story {
    size_t lead;                                    /* the claim that it follows */
    struct claim_value figures[CLAIM_FIGURE_COUNT]; /* LAUNCH_SMEM is filled where it follows from the others */
};

/* One launch or build of one kernel. */
struct claim_case {
    const char *name;   /* as the most trusted source writes it; "" unknown */
    const char *device; /* it ran on; "" unknown */
    uint32_t arch;      /* 0 unknown */
    bool is_launched;   /* some source saw it run */
    size_t claim_count;
    size_t *claims; /* indices into the list, most trusted first */
    size_t comparison_count;
    struct claim_comparison *comparisons; /* in the order of CLAIM_FIGURE_LIST; figures that somebody states */
    size_t conflict_count;                /* comparisons with more than one reading */
    size_t story_count;                   /* at least 1 */
    struct claim_story *stories;          /* the trusted one first, then one for each that differs */
    size_t remark_count;
    const char *remarks[CLAIM_CASE_REMARKS_MAX];
};

/* Zero-initialise; release with claim_cases_release. Borrows the list. */
struct claim_cases {
    const struct kernel_claim_list *claims;
    size_t count, capacity;
    struct claim_case *items; /* by kernel, launched ones first */
    size_t tuned_only;        /* configurations of tuners for kernels that nothing else speaks of */
    struct arena arena;
};

/* claims: normalised (claims_normalise), most trusted sources in any order. kernel: NULL for all, else claims of this
 * kernel (its bare name will do). Claims stated by hand without a kernel are about the only kernel there is.
 *
 * A build is what stands in one folder under one stem; a launch is a set of equal launch records, whatever the grid. A
 * build explains a launch when no figure differs. Launches that no build explains, while a build that explains nothing
 * is left, contradict the nearest of those. Further builds of a kernel are other configurations, not conflicts.
 * STATUS_USAGE: no such kernel; stated claims without a kernel where there are several. */
MUST_CHECK enum status claim_cases_find(const struct kernel_claim_list *claims, const char *kernel,
                                        struct claim_cases *cases, struct error *error);
void claim_cases_release(struct claim_cases *cases);

/* The value that is trusted; not known: nobody says. */
const struct claim_value *claim_case_value(const struct claim_case *item, enum claim_figure figure);
/* Its comparison, NULL: nobody says. */
const struct claim_comparison *claim_case_comparison(const struct claim_case *item, enum claim_figure figure);
/* The claim was given by hand. */
bool claim_is_stated(const struct kernel_claim *claim);

#endif
