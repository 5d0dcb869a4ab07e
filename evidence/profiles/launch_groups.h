/* SPDX-License-Identifier: GPL-3.0-or-later
 * Launches that are alike become one claim with their count and times, so that memory grows with the number of
 * different launches and not with the file. Used by the readers of profilers' files. */
#ifndef OCCAM_EVIDENCE_PROFILES_LAUNCH_GROUPS_H
#define OCCAM_EVIDENCE_PROFILES_LAUNCH_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/profiles/kernel_claim.h"

enum {
    LAUNCH_GROUPS_MAX = 1 << 18,       /* different launches of one file; launches beyond are counted as skipped */
    LAUNCH_NAME_BYTES_MAX = 64 << 20,  /* of all their names */
    LAUNCH_SAMPLE_BYTES_MAX = 64 << 20 /* of all times that are kept */
};

/* One launch; texts are borrowed during the call. What identifies it: all but time, line and ordinal. */
struct launch {
    const char *name;
    size_t name_length;
    const char *device;
    size_t device_length;
    uint32_t arch, grid[3], block[3]; /* 0 unknown */
    struct claim_value figures[CLAIM_FIGURE_COUNT];
    double time_us; /* NaN: unknown */
    unsigned line;
    uint64_t ordinal;
};

struct launch_groups;

/* Claims are appended to list, which is borrowed until launch_groups_finish; file as in kernel_claim_list_add. */
MUST_CHECK enum status launch_groups_create(struct kernel_claim_list *list, enum claim_source source, const char *file,
                                            struct launch_groups **groups, struct error *error);
/* *claim_index is the claim of the launch in list->items, SIZE_MAX if it was left out; *is_new: added by this call.
 * Both may be NULL. */
MUST_CHECK enum status launch_groups_add(struct launch_groups *groups, const struct launch *launch, size_t *claim_index,
                                         bool *is_new, struct error *error);
/* Writes the times into the claims and frees groups. is_profiled as in struct claim_time. */
void launch_groups_finish(struct launch_groups *groups, bool is_profiled);
/* Without writing anything; NULL is fine. */
void launch_groups_free(struct launch_groups *groups);

/* grid and block sides as the figures GRID and THREADS, where all three are known. */
void launch_set_sides(struct launch *launch);

#endif
