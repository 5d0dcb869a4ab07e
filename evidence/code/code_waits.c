/* SPDX-License-Identifier: GPL-3.0-or-later
 * What one warp waits for inside a turn of machine code (docs/MODEL.md CODE-7): the instructions are issued in program
 * order, each when what it reads is there. */
#include <math.h>

#include "evidence/code/code_profile_private.h"

/* Cycles of cc 9.0: a load from SMEM as ldmatrix sees it (data/devices/nvidia-h200.csv has 23 for a plain one, which
 * does not go through the matrix unit; 29 to 33 published), the result of mma.sync, and the flop that one sub-core's
 * tensor pipe takes in a cycle. Only what is left to wait for after the instructions in between depends on them. */
static const double shared_latency = 30, product_latency = 24, flop_per_cycle = 683;
enum {
    TURNS_WALKED = 3 /* values of the turn before are then those of a turn in the middle */
};

enum waited_for {
    WAITED_NOTHING,
    WAITED_OPERAND,
    WAITED_PRODUCT
};

struct walker {
    double *ready; /* by register: the cycle its value is there */
    unsigned char *source;
    double now, pipe_free;
    double operand_cycles, product_cycles; /* waited in the present turn */
};

static enum waited_for source_of(const struct code_instruction *item)
{
    if (item->op == CODE_OP_MMA) {
        return WAITED_PRODUCT;
    }
    const bool operand =
        item->op == CODE_OP_SHARED_LOAD || item->op == CODE_OP_LDMATRIX || item->op == CODE_OP_LOCAL_LOAD;
    return operand ? WAITED_OPERAND : WAITED_NOTHING;
}

static void issue(struct walker *self, const struct code_instruction *item)
{
    const bool product = item->op == CODE_OP_MMA;
    const double earliest = product ? fmax(self->now, self->pipe_free) : self->now;
    double start = earliest;
    enum waited_for cause = WAITED_NOTHING;
    for (uint32_t i = 0; i < item->read_count; i++) {
        if (self->ready[item->reads[i]] > start) {
            start = self->ready[item->reads[i]];
            cause = (enum waited_for)self->source[item->reads[i]];
        }
    }
    self->operand_cycles += cause == WAITED_OPERAND ? start - earliest : 0;
    self->product_cycles += cause == WAITED_PRODUCT ? start - earliest : 0;
    const enum waited_for source = source_of(item);
    double done = start + 1;
    if (product) {
        self->pipe_free = start + 2.0 * item->m * item->n * item->k / flop_per_cycle;
        done = start + product_latency;
    } else if (source == WAITED_OPERAND) {
        done = start + shared_latency;
    }
    for (uint32_t i = 0; i < item->write_count; i++) {
        self->ready[item->writes[i]] = done;
        self->source[item->writes[i]] = (unsigned char)source;
    }
    self->now = start + 1;
}

bool code_waits_find(struct code_profiler *self)
{
    struct code_profile *profile = self->profile;
    const struct code_graph *graph = &self->graph;
    profile->operand_waits = profile->product_waits = 0;
    if (!profile->has_loop || !profile->is_sass) {
        return true;
    }
    const size_t registers = (size_t)self->listing->register_count + 1;
    struct walker walker = {.ready = arena_allocate(&self->arena, registers, sizeof *walker.ready),
                            .source = arena_allocate(&self->arena, registers, sizeof *walker.source)};
    if (walker.ready == NULL || walker.source == NULL) {
        return false;
    }
    for (int turn = 0; turn < TURNS_WALKED; turn++) {
        walker.operand_cycles = walker.product_cycles = 0;
        for (uint32_t i = 0; i < graph->rpo_count; i++) {
            const struct code_block *block = &graph->blocks[graph->rpo[i]];
            for (size_t j = 0; code_loop_contains(graph, profile->main_loop, graph->rpo[i]) && j < block->count; j++) {
                issue(&walker, &self->listing->items[block->first + j]);
            }
        }
    }
    profile->operand_waits = walker.operand_cycles / shared_latency;
    profile->product_waits = walker.product_cycles / product_latency;
    return true;
}
