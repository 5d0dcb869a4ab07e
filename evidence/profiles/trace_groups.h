/* SPDX-License-Identifier: GPL-3.0-or-later
 * Launches alike, counted and timed in bounded memory. Each group is one claim of the list. Used by trace_reader.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_TRACE_GROUPS_H
#define OCCAM_EVIDENCE_PROFILES_TRACE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "base/status.h"
#include "evidence/profiles/kernel_claim.h"
#include "evidence/profiles/trace_launch.h"

enum {
    TRACE_GROUPS_MAX = 65536,          /* different launches of one file */
    TRACE_NAME_BYTES_MAX = 32 << 20,   /* of all their names */
    TRACE_SAMPLE_BYTES_MAX = 48 << 20, /* of all times that are kept */
    TRACE_SAMPLES_MAX = 4096           /* times that one group keeps; its median is exact up to here */
};

struct trace_group {
    uint64_t hash;
    size_t claim; /* index in the list */
    size_t name_length;
    struct trace_shape shape;
    uint64_t launches, timed;
    double mean_us, squares_us2; /* running mean, and sum of squared differences from it */
    double minimum_us, maximum_us, last_start_us, last_us;
    double *samples; /* all times, or a random choice of them */
    uint32_t sample_count, sample_capacity;
};

/* Zero-initialise, trace_groups_init, trace_groups_release. */
struct trace_groups {
    struct kernel_claim_list *list;
    const char *file;
    struct trace_group *items;
    size_t count, capacity;
    uint32_t *slots; /* group + 1; 0 empty */
    size_t slot_count;
    size_t name_bytes, sample_bytes;
    uint64_t left_out; /* launches of groups for which there was no room */
    struct random_stream random;
};

MUST_CHECK enum status trace_groups_init(struct trace_groups *groups, struct kernel_claim_list *list, const char *file,
                                         struct error *error);
/* The group of such launches; NULL: none yet. */
struct trace_group *trace_groups_find(struct trace_groups *groups, const struct trace_launch *launch);
/* A new one; its claim has name and ordinal. *group NULL: no room, the launch is counted as left out. */
MUST_CHECK enum status trace_groups_add(struct trace_groups *groups, const struct trace_launch *launch,
                                        uint64_t ordinal, struct trace_group **group, struct error *error);
void trace_groups_count(struct trace_groups *groups, struct trace_group *group, const struct trace_launch *launch);
/* Times into the claims; releases what they took. */
void trace_groups_finish(struct trace_groups *groups);
void trace_groups_release(struct trace_groups *groups);

#endif
