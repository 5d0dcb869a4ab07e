/* SPDX-License-Identifier: GPL-3.0-or-later
 * Control flow of one listing: basic blocks, dominators, loops and how often they turn. Read by code_profile. */
#ifndef OCCAM_EVIDENCE_CODE_CODE_LOOPS_H
#define OCCAM_EVIDENCE_CODE_CODE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/arena.h"
#include "evidence/code/code_listing.h"

#define CODE_NONE UINT32_MAX /* no block, no loop */

struct code_block {
    size_t first, count; /* instructions of the listing */
    uint32_t successor_count, predecessor_count;
    uint32_t *successors, *predecessors; /* blocks, without repetition of one edge */
    uint32_t order;                      /* position in reverse post-order; CODE_NONE: unreachable */
    uint32_t dominator;                  /* immediate; the entry's is itself; CODE_NONE: unreachable */
    uint32_t tree_first, tree_last;      /* interval of the dominator tree: see code_graph_dominates */
    uint32_t loop;                       /* innermost loop around it; CODE_NONE: none */
};

enum code_bound {
    CODE_BOUND_UNKNOWN,   /* no test of a counted register against something that stays the same in the loop */
    CODE_BOUND_LITERAL,   /* against a literal */
    CODE_BOUND_PARAMETER, /* against a kernel parameter */
    CODE_BOUND_DERIVED    /* against a value computed before the loop */
};

/* How often a loop turns, as far as the code shows it: counter = start, += step each turn, leaves when the test fails.
 */
struct code_trip {
    enum code_bound bound_kind;
    uint32_t counter; /* register that is stepped; 0: unknown */
    int64_t step;     /* per turn of the back edge; 0: unknown. What one turn of compiled code steps, unrolled or not */
    char comparison[4]; /* "lt", "le", "gt", "ge", "eq", "ne": the loop goes on while counter + offset ? bound; else ""
                         */
    int64_t offset;     /* added to the counter's value at the loop's entry for the first test */
    bool start_known;
    int64_t start;      /* the counter on entry, if a literal */
    int64_t bound;      /* CODE_BOUND_LITERAL */
    uint32_t parameter; /* CODE_BOUND_PARAMETER: 1 + its index */
    uint32_t bound_register;
    double turns;    /* times the body runs each time the loop is entered, if start, step and bound are literals; NaN:
                        unknown */
    uint32_t unroll; /* source iterations per turn: so many accesses of one kind lie evenly spaced along the step of
                        their address, and the counter's step is a multiple of them; 0: cannot be shown */
};

struct code_loop {
    uint32_t header;                  /* block */
    uint32_t parent;                  /* loop around it; CODE_NONE: outermost */
    uint32_t depth;                   /* 1 = outermost */
    uint32_t inner_last;              /* loops are numbered so that those inside loop i are i+1 .. inner_last */
    uint32_t latch_count, exit_count; /* edges back to the header; edges out of its own blocks */
    size_t instructions;              /* of its blocks, inner loops included */
    uint32_t block_count;
    uint32_t *blocks;        /* its own blocks, without those of inner loops, in reverse post-order */
    bool irreducible_inside; /* a retreating edge whose target does not dominate it lies inside: counts are less sure */
    struct code_trip trip;
};

/* Where registers are written. */
struct code_definitions {
    const uint32_t *first; /* by register: definitions first[r] .. first[r + 1] - 1 */
    const size_t *items;   /* instructions */
};

struct code_graph {
    uint32_t block_count, loop_count;
    struct code_block *blocks; /* block 0 is the entry */
    uint32_t *rpo;             /* reachable blocks in reverse post-order */
    uint32_t rpo_count;
    struct code_loop *loops; /* outer before inner */
    uint32_t *block_of;      /* of each instruction */
    struct code_definitions definitions;
    size_t unreachable_instructions;
    uint32_t irreducible_edges; /* retreating edges without a dominating target: no loop is made of them */
    uint32_t irreducible_line;  /* line of the first such edge's branch */
    uint32_t unknown_branches;  /* indirect branches without a list of targets: edges are missing */
    uint64_t steps;             /* work done, for tests of how it grows */
    struct arena arena;
};

/* *graph borrows nothing; release it with code_graph_release. An empty listing gives an empty graph. Near linear. */
MUST_CHECK enum status code_graph_build(const struct code_listing *listing, struct code_graph *graph);
void code_graph_release(struct code_graph *graph);
/* Does every path from the entry to `block` pass `dominator`? false if either is unreachable. */
bool code_graph_dominates(const struct code_graph *graph, uint32_t dominator, uint32_t block);
/* Is `block` inside `loop` or a loop inside it? */
bool code_loop_contains(const struct code_graph *graph, uint32_t loop, uint32_t block);
/* "(parameter 5 - start) / 64 turns", "16 turns", "unknown": one line into out. Returns out. */
const char *code_trip_text(const struct code_trip *trip, char *out, size_t out_size);

#endif
