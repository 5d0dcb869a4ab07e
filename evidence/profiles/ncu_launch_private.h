/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to the readers of Nsight Compute's output (ncu_csv.c, ncu_text.c): one launch as it is put together from its
 * figures, and the launches of a file. */
#ifndef OCCAM_EVIDENCE_PROFILES_NCU_LAUNCH_PRIVATE_H
#define OCCAM_EVIDENCE_PROFILES_NCU_LAUNCH_PRIVATE_H

#include "base/text_buffer.h"
#include "evidence/profiles/launch_groups.h"
#include "evidence/profiles/profile_number.h"

enum {
    NCU_NO_METRIC = -1
};

struct ncu_launch {
    struct launch launch;
    struct text_buffer name, device;
    bool is_begun;
    unsigned limits_seen;
    double least_limit, major, minor;
    struct claim_value block_smem;
    char doubt[256]; /* the first figure that could not be taken */
};

/* Claims are appended to the list; the launch is the one that is being read. */
struct ncu_launches {
    const char *path;
    struct kernel_claim_list *list;
    struct launch_groups *groups;
    char decimal; /* '.' unless the reader finds another */
    struct ncu_launch launch;
    uint64_t launch_count;
    struct error *error;
};

MUST_CHECK enum status ncu_launches_init(struct ncu_launches *launches, const char *path,
                                         struct kernel_claim_list *list, struct error *error);
/* Writes times into the claims where all was well; releases what launches holds. Also after a failed init. */
void ncu_launches_finish(struct ncu_launches *launches, bool is_good);

/* A metric by its id or by what the details page calls it; NCU_NO_METRIC: not one that is taken. */
int ncu_metric_find(const char *name);
/* The metric with whose name and a space the line begins; *length of that name. */
int ncu_metric_begins(const char *line, size_t *length);
/* "(128, 1, 1)"; all at least 1. */
bool ncu_sides_parse(const char *text, uint32_t sides[3]);

/* The launch in hand must have been ended. */
void ncu_launch_begin(struct ncu_launches *launches, const char *name, size_t name_length, unsigned line);
/* "9.0", also with a comma. Anything else leaves the architecture unknown. */
void ncu_launch_capability(struct ncu_launch *launch, const char *text);
/* A value that cannot be is left out with a note. */
void ncu_launch_metric(struct ncu_launches *launches, int metric, const char *text, const struct unit *unit);
/* The launch becomes a claim, or counts towards one alike. Without a launch in hand nothing happens. */
MUST_CHECK enum status ncu_launch_end(struct ncu_launches *launches);

#endif
