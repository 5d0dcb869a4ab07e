/* SPDX-License-Identifier: GPL-3.0-or-later
 * What addresses depend on: other loads of the same turn, and the thread. Private to code_profile. */
#ifndef OCCAM_EVIDENCE_CODE_CODE_DATAFLOW_H
#define OCCAM_EVIDENCE_CODE_CODE_DATAFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/arena.h"
#include "evidence/code/code_listing.h"
#include "evidence/code/code_loops.h"

enum {
    CODE_FROM_GLOBAL = 1, /* the address comes from a global load of the same turn, through registers */
    CODE_FROM_SHARED = 2, /* from a shared load of the same turn */
    CODE_PREFETCHED = 4   /* a global load whose result waits for the next turn */
};

struct code_dataflow {
    unsigned char *flags;    /* by instruction, inside the loop only */
    uint16_t *thread_bits;   /* by instruction: bits of the thread's index that the address depends on */
    bool threads_settled;    /* false: the bits did not settle or there are too many registers */
    bool several_dimensions; /* the code reads %tid.y or %tid.z */
    double load_phases;
};

/* `loop` may be CODE_NONE. Everything lies in the arena. */
MUST_CHECK enum status code_dataflow_compute(const struct code_listing *listing, const struct code_graph *graph,
                                             uint32_t loop, struct arena *arena, struct code_dataflow *flow);
/* Different addresses that `threads` threads form from so many bits. */
double code_distinct_threads(uint16_t bits, uint32_t threads);

#endif
