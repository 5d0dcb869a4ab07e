/* SPDX-License-Identifier: GPL-3.0-or-later
 * Sides of a branch of which a turn runs only one (CODE-2). */
#include <string.h>

#include "evidence/code/code_profile_private.h"

/* What a side does, for telling which one stands for all. */
struct side_work {
    double bytes; /* per lane, that come from global memory */
    double flop, stores, instructions;
};

struct sides {
    const struct code_profiler *self;
    struct side_work *below; /* by block: of all that it dominates, one side of each branch */
    unsigned char *left_out;
};

static struct side_work work_of_block(const struct code_profiler *self, const struct code_block *block)
{
    struct side_work work = {.instructions = (double)block->count};
    for (size_t i = 0; i < block->count; i++) {
        const struct code_instruction *item = &self->listing->items[block->first + i];
        work.flop += code_flop_of(item);
        switch ((unsigned)item->op) { /* the other operations are not listed */
        case CODE_OP_GLOBAL_LOAD:
        case CODE_OP_ASYNC_COPY:
        case CODE_OP_BULK_COPY:
        case CODE_OP_TENSOR_COPY:
            work.bytes += item->lane_bytes > 0 ? item->lane_bytes : 4;
            break;
        case CODE_OP_GLOBAL_STORE:
        case CODE_OP_SHARED_STORE:
        case CODE_OP_STMATRIX:
        case CODE_OP_ATOMIC:
            work.stores++;
            break;
        default:
            break;
        }
    }
    return work;
}

static void add(struct side_work *sum, const struct side_work *term, double sign)
{
    sum->flop += sign * term->flop;
    sum->bytes += sign * term->bytes;
    sum->stores += sign * term->stores;
    sum->instructions += sign * term->instructions;
}

/* Is `side` entered from `branch` alone, and does it stay in the branch's loop? Then what it dominates runs in a turn,
 * or what another such side dominates, but not both. */
static bool is_side(const struct sides *sides, uint32_t branch, uint32_t side)
{
    const struct code_graph *graph = &sides->self->graph;
    const struct code_block *block = &graph->blocks[side];
    if (block->dominator != branch || side == branch || !code_loop_contains(graph, graph->blocks[branch].loop, side)) {
        return false;
    }
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        const uint32_t from = block->predecessors[i];
        if (from != branch && !code_graph_dominates(graph, side, from)) {
            return false;
        }
    }
    return true;
}

static bool works_more(const struct side_work *a, const struct side_work *b)
{
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes;
    }
    return a->flop != b->flop ? a->flop > b->flop : a->instructions > b->instructions;
}

/* Keeps the side with most bytes, and those that do something of which it does less: a loop that warps of several kinds
 * share, or a tile that is filled with zeros where nothing is to be copied. */
static void choose_side(struct sides *sides, uint32_t branch)
{
    const struct code_block *block = &sides->self->graph.blocks[branch];
    uint32_t best = CODE_NONE;
    for (uint32_t i = 0; i < block->successor_count; i++) {
        const uint32_t side = block->successors[i];
        if (is_side(sides, branch, side) &&
            (best == CODE_NONE || works_more(&sides->below[side], &sides->below[best]))) {
            best = side;
        }
    }
    for (uint32_t i = 0; i < block->successor_count && best != CODE_NONE; i++) {
        const uint32_t side = block->successors[i];
        if (side != best && is_side(sides, branch, side) && sides->below[side].flop <= sides->below[best].flop &&
            sides->below[side].stores <= sides->below[best].stores) {
            sides->left_out[side] = 1;
            add(&sides->below[branch], &sides->below[side], -1);
        }
    }
}

unsigned char *code_sides_left_out(const struct code_profiler *self, uint32_t root, struct arena *arena)
{
    const struct code_graph *graph = &self->graph;
    struct sides sides = {.self = self};
    sides.below = arena_allocate(arena, (size_t)graph->block_count + 1, sizeof *sides.below);
    sides.left_out = arena_allocate(arena, (size_t)graph->block_count + 1, 1);
    if (sides.below == NULL || sides.left_out == NULL) {
        return NULL;
    }
    for (uint32_t i = graph->rpo_count; i-- > 0;) { /* what a block dominates comes before it here */
        const uint32_t index = graph->rpo[i];
        const struct code_block *block = &graph->blocks[index];
        if (!code_loop_contains(graph, root, index)) {
            continue;
        }
        const struct side_work own = work_of_block(self, block);
        add(&sides.below[index], &own, 1);
        if (block->successor_count > 1) {
            choose_side(&sides, index);
        }
        if (block->dominator != index && code_loop_contains(graph, root, block->dominator)) {
            add(&sides.below[block->dominator], &sides.below[index], 1);
        }
    }
    for (uint32_t i = 0; i < graph->rpo_count; i++) {
        const struct code_block *block = &graph->blocks[graph->rpo[i]];
        sides.left_out[graph->rpo[i]] |= block->dominator != CODE_NONE ? sides.left_out[block->dominator] : 0;
    }
    return sides.left_out;
}
