/* SPDX-License-Identifier: GPL-3.0-or-later
 * What one warp of a compiled kernel does before, in and after its main loop, and that as a tile loop. PTX or SASS
 * (docs/MODEL.md, CODE). */
#ifndef OCCAM_EVIDENCE_CODE_CODE_PROFILE_H
#define OCCAM_EVIDENCE_CODE_CODE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/code/code_listing.h"
#include "evidence/code/code_loops.h"
#include "model/describe/tile_loop.h"

enum {
    CODE_WIDTHS = 6,    /* accesses of 1, 2, 4, 8, 16 and 32 bytes per lane */
    CODE_MMA_KINDS = 8, /* shapes and types told apart; further ones are added to the last and `mma_cut` set */
    CODE_CHAIN_KINDS = 4,
    CODE_NOTES_MAX = 12
};

enum code_traffic {
    CODE_TRAFFIC_GLOBAL_LOAD,
    CODE_TRAFFIC_GLOBAL_STORE,
    CODE_TRAFFIC_ASYNC_COPY,  /* cp.async, without bulk and tensor copies */
    CODE_TRAFFIC_SHARED_LOAD, /* ldmatrix included */
    CODE_TRAFFIC_SHARED_STORE,
    CODE_TRAFFIC_LOCAL_LOAD,
    CODE_TRAFFIC_LOCAL_STORE,
    CODE_TRAFFIC_COUNT
};

/* Accumulators to which so many products each are added one after the other; the chains do not depend on each other. */
struct code_chains {
    double length, count;
};

/* Products of one shape and type, in warp instructions. */
struct code_mma {
    enum code_op op;   /* CODE_OP_MMA, CODE_OP_WGMMA or CODE_OP_TCGEN05 */
    char format[12];   /* type of A */
    uint32_t m, n, k;  /* as the instruction says: wgmma's 64 rows are those of four warps; 0 = not in the text */
    double sure, most; /* per warp */
    uint32_t chain_kinds;
    struct code_chains chains[CODE_CHAIN_KINDS]; /* per warp and pass, longest first; further ones join the last */
};

/* Counts per warp of one stretch of code. An inner loop with a known count is multiplied, one without is taken once. */
struct code_tally {
    double sure[CODE_OP_COUNT]; /* warp instructions that run in every turn: neither predicated nor behind a branch */
    double most[CODE_OP_COUNT]; /* with the conditional ones, whose share is not known */
    double instructions_sure, instructions_most; /* issued: a predicated instruction takes its slot either way */
    double instructions_left_out; /* of a turn: sides of branches that another side stands for; in no other figure */
    double widths[CODE_TRAFFIC_COUNT][CODE_WIDTHS]; /* most: warp instructions by bytes per lane: 1, 2, 4, ... 32 */
    double lane_bytes[CODE_TRAFFIC_COUNT];          /* most: bytes per lane, summed over the instructions */
    double unsized[CODE_TRAFFIC_COUNT];             /* instructions whose width the text does not say */
    double bulk_bytes;   /* bulk copies into shared memory whose size is a literal: bytes per issuing thread */
    double gather_loads; /* of the global loads and async copies: those whose address comes from another global load
                            of the same pass, through registers */
    double gather_lane_bytes;
    double gather_shared_loads; /* the same through shared memory: the address comes from a shared load, the loop also
                                   copies or stores to shared memory. Where that data came from is not followed */
    double gather_shared_lane_bytes;
    double uniform_loads; /* global loads with one address for the whole CTA */
    double uniform_lane_bytes;
    double distinct_bytes;       /* per CTA: what global loads and async copies ask for without copies of one address by
                                    several threads; NaN where the threads are unknown */
    double async_distinct_bytes; /* the part of it by async copies */
    double gather_distinct_bytes;       /* the part of it with a dependent address */
    double gather_async_distinct_bytes; /* the part of that by async copies */
    double expected_bytes; /* literal expect_tx of mbarriers: bytes of the bulk and tensor copies of a CTA */
    double convert_elements, exponential_elements, half_elements; /* most: per lane, packed ones counted as such */
    uint32_t mma_count;
    struct code_mma mma[CODE_MMA_KINDS];
    bool mma_cut;
    uint32_t inner_loops; /* inside this stretch, multiplied */
    uint32_t
        inner_loops_unknown; /* inside, count unknown: taken once (waiting loops on an mbarrier are not among them) */
};

enum code_pipeline_kind {
    CODE_PIPELINE_NONE,    /* nothing is copied asynchronously in the loop */
    CODE_PIPELINE_GROUPS,  /* cp.async with commit and wait groups */
    CODE_PIPELINE_BARRIERS /* mbarriers: bulk and tensor copies, or cp.async that arrives on one */
};
/* "none", "groups", "barriers"; static. */
const char *code_pipeline_name(enum code_pipeline_kind kind);

/* How far ahead copies run (docs/MODEL.md CODE-4). NaN: the code does not tell. */
struct code_pipeline {
    enum code_pipeline_kind kind;
    double commits_per_iteration, prologue_commits;
    int32_t wait_depth;          /* least group count left open by a wait of the loop; -1: no such wait */
    double ahead_iterations;     /* from a copy to the wait for it, of the groups with most bytes; 0 = waited for in the
                                   same     iteration */
    double open_tiles;           /* most copies in flight at once, in iterations' worth */
    double early_fraction;       /* share of a turn's instructions that come after its copies are issued, mean over the
                                    bytes; NaN without copies */
    double ring_slots;           /* period of the ring index, where one is seen in the loop */
    double barriers_initialised; /* mbarrier.init in the prologue */
    double buffers;    /* tiles of shared memory: the ring's slots if seen, else from the groups; 1 = nothing runs
                          ahead */
    double held_tiles; /* of these, what a product still reads while the copies go out: they are not on their way */
    bool buffers_known;
};

struct code_profile {
    char name[256];
    bool is_sass;
    uint32_t arch;
    char arch_suffix;
    uint32_t threads; /* of a CTA; 0 unknown */
    bool has_loop;
    uint32_t main_loop; /* of the graph; CODE_NONE */
    uint32_t main_line; /* first line of the loop's header */
    uint32_t loop_count, main_depth;
    struct code_trip trip;       /* of the main loop */
    double outer_turns;          /* product of the counts of loops around the main one; NaN: unknown, 1: none */
    struct code_tally prologue;  /* reached before the loop, which it can lead to */
    struct code_tally iteration; /* one turn of the main loop */
    struct code_tally epilogue;  /* everything else that is reached */
    double load_phases;      /* of one turn: latencies of global loads that follow each other; 0 without loads. SASS:
                                as the warp waits for results in program order; PTX: batches with a barrier and a
                                use of the batch before in between, so that no compiler can issue them together */
    double prefetched_loads; /* of the turn's global loads: not used before the next turn */
    double prefetched_lane_bytes;
    bool has_producer;          /* the main loop has products but copies nothing: another loop, of other warps, does */
    struct code_tally producer; /* one turn of that loop */
    uint32_t producer_line;
    struct code_pipeline pipeline;
    /* Of one turn and warp, SASS only (CODE-7): waiting for values just loaded from SMEM or local memory, in latencies
     * of SMEM, and for products just issued, in latencies of a product. */
    double operand_waits, product_waits;
    uint64_t static_smem_bytes, local_bytes;
    size_t unreachable_instructions;
    uint32_t irreducible_edges, unknown_branches;
    size_t unknown_instructions;
    bool truncated;      /* the listing is a part */
    uint32_t note_count; /* what is not known or assumed, one line each */
    char notes[CODE_NOTES_MAX][160];
};

/* Of one kernel. STATUS_NO_MEMORY; STATUS_BAD_DATA for a listing without instructions. No heap inside *profile. */
MUST_CHECK enum status code_profile_compute(const struct code_listing *listing, struct code_profile *profile,
                                            struct error *error);

/* Machine code says what is issued, PTX what addresses depend on. Where *sass has the profile of machine code and *ptx
 * that of the PTX it was made from: the bytes without repetition of each stretch come from PTX, in proportion to the
 * bytes that the threads ask for in both (loads may have gone, or turns been unrolled). Where both have the same
 * products by type and shape in a stretch, their chains come from PTX too: registers of machine code hold several
 * accumulators one after the other. Nothing else changes. */
void code_profile_take_bytes(struct code_profile *sass, const struct code_profile *ptx);

/* Figures of the compiled loop as a tile loop, for `warps` warps per CTA (0: the profile's threads / 32). Fields that
 * the code does not determine keep what *loop has: iterations, distinct fractions, alignment, ragged. Where a loop of
 * other warps feeds the main one, its copies are taken as issued by one thread (bulk) or one warp. Each assumption goes
 * to `assumed` as one line, separated by "; " (may be NULL). STATUS_DOMAIN: no loop, or the warps are unknown. */
MUST_CHECK enum status code_profile_tile_loop(const struct code_profile *profile, uint32_t warps,
                                              struct tile_loop *loop, char *assumed, size_t assumed_size,
                                              struct error *error);

#endif
