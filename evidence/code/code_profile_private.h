/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the files behind code_profile.h share. */
#ifndef OCCAM_EVIDENCE_CODE_PROFILE_PRIVATE_H
#define OCCAM_EVIDENCE_CODE_PROFILE_PRIVATE_H

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

void code_note(struct code_profile *profile, const char *format, ...) PRINTF_LIKE(2, 3);
/* Fills profile->pipeline; the tallies are there. false: memory ran out. */
bool code_pipeline_find(struct code_profiler *self);
/* Fills operand_waits and product_waits. false: memory ran out. */
bool code_waits_find(struct code_profiler *self);

#endif
