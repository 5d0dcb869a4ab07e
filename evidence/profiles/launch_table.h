/* SPDX-License-Identifier: GPL-3.0-or-later
 * Launches that are alike, counted and timed in bounded memory: each group is one claim of a list. What makes launches
 * alike is the user's: launch_groups.c for tables of profilers, trace_shapes.c for traces. */
#ifndef OCCAM_EVIDENCE_PROFILES_LAUNCH_TABLE_H
#define OCCAM_EVIDENCE_PROFILES_LAUNCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "base/status.h"
#include "evidence/profiles/kernel_claim.h"

enum {
    LAUNCH_SAMPLES_MAX = 4096 /* times that one group keeps; its median is exact up to here, then of a fair choice */
};

struct launch_limits {
    size_t groups;       /* different launches of one file */
    size_t name_bytes;   /* of all their names */
    size_t sample_bytes; /* of all times that are kept */
};

struct launch_group {
    uint64_t hash;
    size_t claim;                /* index in the list */
    uint64_t launches, timed;    /* timed: those with a time */
    double mean_us, squares_us2; /* running mean, and sum of squared differences from it (Welford) */
    double minimum_us, maximum_us, last_start_us, last_us;
    double *samples; /* all times, or a random choice of them */
    uint32_t sample_count, sample_capacity;
};

/* Zero-initialise; launch_table_init, launch_table_release. */
struct launch_table {
    struct kernel_claim_list *list;
    enum claim_source source;
    const char *file;
    struct launch_limits limits;
    struct launch_group *items;
    size_t count, capacity;
    uint32_t *slots; /* group + 1; 0 empty */
    size_t slot_count;
    size_t name_bytes, sample_bytes;
    uint64_t left_out;           /* launches of groups for which there was no room */
    struct random_stream random; /* the same choice every time */
};

/* Spreads a word over all bits of a hash. */
static inline uint64_t launch_hash(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29);
}
uint64_t launch_hash_bytes(uint64_t hash, const char *bytes, size_t length);

/* list and file are borrowed until the table is released. */
MUST_CHECK enum status launch_table_init(struct launch_table *table, struct kernel_claim_list *list,
                                         enum claim_source source, const char *file, const struct launch_limits *limits,
                                         struct error *error);
void launch_table_release(struct launch_table *table);

/* Whether the launch is of group `index`, whose hash is the launch's. */
typedef bool launch_is_alike(const struct launch_table *table, size_t index, const void *launch);
/* NULL: no group of such launches yet. */
struct launch_group *launch_table_find(const struct launch_table *table, uint64_t hash, launch_is_alike *is_alike,
                                       const void *launch);
/* A new group with a claim of that name. *group NULL: no room for it, the launch is counted as left out. text_bytes:
 * of the launch's texts, name included. */
MUST_CHECK enum status launch_table_add(struct launch_table *table, uint64_t hash, const char *name, size_t name_length,
                                        size_t text_bytes, struct launch_group **group, struct error *error);
/* One more launch of the group. time_us, start_us: NaN unknown. */
void launch_table_count(struct launch_table *table, struct launch_group *group, double time_us, double start_us);
/* Times into the claims. is_profiled as in struct claim_time. */
void launch_table_finish(struct launch_table *table, bool is_profiled);

#endif
