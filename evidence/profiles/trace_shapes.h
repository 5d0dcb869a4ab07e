/* SPDX-License-Identifier: GPL-3.0-or-later
 * Launches of a trace are alike in name, grid, block, registers, SMEM and device. Used by trace_reader.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_TRACE_SHAPES_H
#define OCCAM_EVIDENCE_PROFILES_TRACE_SHAPES_H

#include "evidence/profiles/launch_table.h"
#include "evidence/profiles/trace_launch.h"

enum {
    TRACE_GROUPS_MAX = 65536,         /* different launches of one file */
    TRACE_NAME_BYTES_MAX = 32 << 20,  /* of all their names */
    TRACE_SAMPLE_BYTES_MAX = 48 << 20 /* of all times that are kept */
};

struct trace_kind {
    size_t name_length;
    struct trace_shape shape;
    uint32_t operator;     /* of its first launch, as trace_operators_find says it */
    bool operators_differ; /* among its launches */
};

/* kinds[i] is of groups.items[i]. Zero-initialise; trace_shapes_init, trace_shapes_release. */
struct trace_shapes {
    struct launch_table groups;
    struct trace_kind *kinds;
    size_t capacity;
};

MUST_CHECK enum status trace_shapes_init(struct trace_shapes *shapes, struct kernel_claim_list *list, const char *file,
                                         struct error *error);
void trace_shapes_release(struct trace_shapes *shapes);
/* The group of such launches; NULL: none yet. */
struct launch_group *trace_shapes_find(const struct trace_shapes *shapes, const struct trace_launch *launch);
/* A new one; its claim has name and ordinal. *group NULL: no room, the launch is counted as left out. */
MUST_CHECK enum status trace_shapes_add(struct trace_shapes *shapes, const struct trace_launch *launch,
                                        uint64_t ordinal, struct launch_group **group, struct error *error);

#endif
