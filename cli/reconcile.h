/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam reconcile` concludes of each case of claims: does a conflict change anything? */
#ifndef OCCAM_CLI_RECONCILE_H
#define OCCAM_CLI_RECONCILE_H

#include "cli/launch_fault_reason.h"
#include "cli/question.h"
#include "cli/report.h"
#include "evidence/claims/claim_cases.h"
#include "evidence/claims/claim_implied.h"
#include "evidence/claims/claim_occupancy.h"
#include "evidence/claims/evidence_read.h"
#include "model/predict/variant_effect.h"

enum {
    RECONCILE_DEVICES_MAX = 64,
    RECONCILE_STORIES_MAX = 12, /* of one case; more are counted */
    RECONCILE_SENTENCES_MAX = 24
};

enum reconcile_verdict {
    RECONCILE_SINGLE, /* one source alone */
    RECONCILE_AGREES,
    RECONCILE_CONFLICT
};
enum reconcile_matters {
    RECONCILE_NO, /* no conclusion changes */
    RECONCILE_YES,
    RECONCILE_UNKNOWN /* nothing here can tell */
};
const char *reconcile_verdict_name(enum reconcile_verdict verdict); /* "single source", "agree", "conflict" */
const char *reconcile_matters_name(enum reconcile_matters matters); /* "no", "yes", "unknown" */

struct reconcile_sentences {
    size_t count;
    const char *items[RECONCILE_SENTENCES_MAX];
};

/* Predicted time of a story's configuration against the trusted one's. */
struct reconcile_time {
    bool is_known;
    double time_s;         /* of the layer */
    struct interval ratio; /* to the trusted story's; 1 for that itself */
};

struct reconcile_flips {
    size_t count;
    struct implied_flip items[IMPLIED_FLIPS_MAX];
};

/* Everything that is allocated belongs to reconciliation.arena: a trace has thousands of cases, few of them with more
 * than an occupancy. */
struct reconcile_conclusion {
    enum reconcile_verdict verdict;
    enum reconcile_matters matters;
    size_t story_count;  /* at most RECONCILE_STORIES_MAX */
    size_t device_count; /* the case's: those named, or the ones that it can be about */
    const struct gpu_device **devices;
    struct claim_occupancy *occupancy; /* device_count x story_count: reconcile_occupancy */
    bool is_unsure;                    /* fits or times differ, but the sizes do not tell the configurations */
    bool has_implied;                  /* the scenario describes this kernel; the members below are set */
    const char *scenario_kernel;
    struct implied_search search;
    struct claim_implied *implied;       /* story_count */
    struct reconcile_flips *flips;       /* story_count, against the trusted story; [0] unused */
    struct reconcile_time *time;         /* story_count */
    struct reconcile_sentences *reasons; /* why it matters or not; NULL: no conflict */
    struct reconcile_sentences *checks;  /* what would decide, cheapest first; NULL: no conflict */
};

static inline struct claim_occupancy *reconcile_occupancy(const struct reconcile_conclusion *conclusion, size_t device,
                                                          size_t story)
{
    return &conclusion->occupancy[device * conclusion->story_count + story];
}

struct reconciliation {
    struct evidence evidence;
    struct kernel_claim_list *claims; /* the evidence's, with those of compiled code and those stated */
    struct claim_cases cases;
    struct device_catalogue *catalogue; /* owned unless the question has it */
    const struct device_catalogue *devices_known;
    bool has_question;
    struct question question;
    size_t device_count; /* named by the user */
    const struct gpu_device *devices[RECONCILE_DEVICES_MAX];
    bool names_kernel;                        /* --kernel: the scenario is about it, whatever it is called there */
    struct reconcile_conclusion *conclusions; /* one per case */
    struct arena arena;                       /* what they point to */
};

/* Why the story's launch cannot run on the device: "300 registers per thread, the limit is 255"; "" if it can, or if
 * nothing is known of it. Returns out. */
const char *reconcile_fault_text(const struct reconcile_conclusion *conclusion, size_t device, size_t story, char *out,
                                 size_t out_size);
/* Fills conclusions[]. */
MUST_CHECK enum status reconcile_conclude(struct reconciliation *self, struct error *error);
/* "block_h=32, BLOCK_T=16, num_stages=2": the knobs that decide, "" if none; where several combinations match the first
 * of them: "BM=64, BN=128; or BM=128, BN=64". Returns out. */
const char *reconcile_knobs_text(const struct reconciliation *self, const struct claim_implied *implied, char *out,
                                 size_t out_size);
/* "80,000 B", "213,500 to 224,920 B", "255". Returns out. */
const char *reconcile_value_text(enum claim_figure figure, const struct claim_value *value, char *out, size_t out_size);
/* "registers", "launch SMEM", ...; static. */
const char *reconcile_figure_text(enum claim_figure figure);

MUST_CHECK enum status reconcile_print(const struct reconciliation *self, struct error *error);
void reconcile_record(const struct reconciliation *self, struct report *report);

#endif
