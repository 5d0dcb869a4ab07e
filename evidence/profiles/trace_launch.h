/* SPDX-License-Identifier: GPL-3.0-or-later
 * What one event of a trace says of one launch of a kernel. Used by trace_reader.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_TRACE_LAUNCH_H
#define OCCAM_EVIDENCE_PROFILES_TRACE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/json_tolerant.h"

enum {
    TRACE_UNKNOWN = -1,
    TRACE_REGISTERS_MAX = 65535
};

/* What launches must have in common to be alike. TRACE_UNKNOWN where the event does not say. */
struct trace_shape {
    int64_t device, registers, smem_bytes;
    uint32_t grid[3], block[3]; /* 0 unknown */
};

struct trace_launch {
    const char *name; /* not NUL-terminated */
    size_t name_length;
    struct trace_shape shape;
    int64_t operator_id; /* of what called it; TRACE_UNKNOWN */
    int64_t graph_node;  /* above 0: launched by a CUDA graph, of whose nodes an operator tells nothing */
    double start_us;
    double duration_us; /* NaN: none that can be used */
    /* Of an event that was parsed in full. */
    double occupancy_percent; /* estimated by the profiler; NaN unknown */
    double resident_ctas;     /* of the newer "occupancy" object; NaN unknown */
};

/* Nothing known of it. */
extern const struct trace_launch trace_launch_unknown;

/* By jansson. name points into *root, which the caller releases (json_decref), also after an error.
 * *is_kernel: of that category at all. STATUS_BAD_DATA with the reason. */
MUST_CHECK enum status trace_launch_parse(const char *text, size_t length, json_t **root, bool *is_kernel,
                                          struct trace_launch *launch, struct error *error);

#endif
