/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to the readers of autotuning logs: triton_autotune_log.c, autotune_knobs.c, inductor_table.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_AUTOTUNE_LOG_PRIVATE_H
#define OCCAM_EVIDENCE_PROFILES_AUTOTUNE_LOG_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/profiles/kernel_claim.h"

/* A configuration of the round that is open. */
struct candidate {
    uint64_t hash; /* of its text */
    size_t claim;
};

/* A table of Inductor that is open. */
struct inductor_table {
    bool is_open;
    unsigned rows, strangers;        /* lines that were no row */
    char operation[200], types[200]; /* "mm(8x2048, 2048x3072)", "torch.bfloat16, torch.bfloat16" */
    double sizes[3];                 /* M, N, K; 0: not told */
};

struct log_reader {
    const char *path;
    struct kernel_claim_list *list;
    unsigned line;
    size_t first_claim; /* of this file */
    size_t candidate_count, candidate_capacity;
    struct candidate *candidates;
    char function[256];
    char key[512];
    char pending_kernel[160]; /* of a refusal whose numbers stand on the next line */
    struct inductor_table table;
    bool has_pending, has_any;
    struct error *error;
};

/* A new claim at the line in hand; NULL: there are too many. */
MUST_CHECK enum status autotune_log_add(struct log_reader *self, enum claim_source source, const char *name,
                                        size_t length, struct kernel_claim **claim);
/* "BM: 128, BN: 256, num_warps: 8, maxnreg: None" with sign ':', Inductor's "BLOCK_M=64, ..." with '=': parameters of
 * the claim, and the figures that have a name everywhere. */
MUST_CHECK enum status autotune_log_knobs(struct log_reader *self, struct kernel_claim *claim, const char *at,
                                          const char *end, char sign);
/* A line of a table of Inductor's choices, or the end of one that is open. *is_taken: nothing else has to look at the
 * line. */
MUST_CHECK enum status inductor_table_take(struct log_reader *self, const char *line, bool *is_taken);

#endif
