/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the files behind code_profile.h share. */
#ifndef OCCAM_EVIDENCE_CODE_CODE_PROFILE_PRIVATE_H
#define OCCAM_EVIDENCE_CODE_CODE_PROFILE_PRIVATE_H

#include "evidence/code/code_dataflow.h"
#include "evidence/code/code_listing.h"
#include "evidence/code/code_loops.h"
#include "evidence/code/code_profile.h"

enum code_stretch {
    CODE_STRETCH_NONE, /* not reached */
    CODE_STRETCH_PROLOGUE,
    CODE_STRETCH_LOOP,
    CODE_STRETCH_EPILOGUE
};

struct code_profiler {
    const struct code_listing *listing;
    struct code_graph graph;
    struct code_dataflow flow;
    struct arena arena;
    struct code_profile *profile;
    unsigned char *stretch; /* enum code_stretch by block */
};

/* Work of one turn of a loop's own blocks, inner loops not included. */
struct code_loop_work {
    double flop, bytes, instructions;
    double copies; /* loads and copies from global memory */
    double waits;  /* mbarrier operations */
    double weight; /* times it runs, as far as it can be ranked */
};

/* Of every loop of the graph, outer before inner. */
void code_loops_measure(const struct code_profiler *self, struct code_loop_work *works);
/* The main loop; CODE_NONE: there is none. */
uint32_t code_choose_loop(const struct code_profiler *self, const struct code_loop_work *works);
/* Another loop whose copies the main one waits for; CODE_NONE: none. */
uint32_t code_choose_producer(const struct code_profiler *self, const struct code_loop_work *works, uint32_t main_loop);
/* Of one warp; 0 for what is no product. */
double code_flop_of(const struct code_instruction *item);
/* By block: 1 where a turn of loop `root` that runs it does not run another side of a branch, which stands for it. Lies
 * in the arena; NULL: no memory. Linear in blocks and edges. */
unsigned char *code_sides_left_out(const struct code_profiler *self, uint32_t root, struct arena *arena);
void code_note(struct code_profile *profile, const char *format, ...) PRINTF_LIKE(2, 3);
/* Fills profile->pipeline; the tallies are there. false: memory ran out. */
bool code_pipeline_find(struct code_profiler *self);
/* Fills operand_waits and product_waits. false: memory ran out. */
bool code_waits_find(struct code_profiler *self);

#endif
