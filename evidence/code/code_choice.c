/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which loop of a kernel is its main one (CODE-1). */
#include <math.h>

#include "evidence/code/code_profile_private.h"

#define UNKNOWN_TURNS 8.0 /* a loop inside a loop is where the work is: only for ranking loops */

double code_flop_of(const struct code_instruction *item)
{
    switch ((unsigned)item->op) { /* the other operations are not listed */
    case CODE_OP_MMA:
        return 2.0 * item->m * item->n * item->k;
    case CODE_OP_WGMMA: /* of four warps */
        return 2.0 * item->m * item->n * item->k / 4;
    case CODE_OP_TCGEN05: /* the shape is not in the text: at least this */
        return 2.0 * 128 * 64 * 16;
    default:
        return 0;
    }
}

static void add_work(struct code_loop_work *work, const struct code_instruction *item)
{
    work->flop += code_flop_of(item);
    work->instructions++;
    switch ((unsigned)item->op) { /* the other operations are not listed */
    case CODE_OP_GLOBAL_LOAD:
    case CODE_OP_ASYNC_COPY:
    case CODE_OP_BULK_COPY:
    case CODE_OP_TENSOR_COPY:
        work->copies += item->to_global ? 0 : 1;
        work->bytes += 32.0 * (item->lane_bytes > 0 ? item->lane_bytes : 4);
        break;
    case CODE_OP_GLOBAL_STORE:
    case CODE_OP_ATOMIC:
        work->bytes += 32.0 * (item->lane_bytes > 0 ? item->lane_bytes : 4);
        break;
    case CODE_OP_MBARRIER:
        work->waits++;
        break;
    default:
        break;
    }
}

static bool works_more(const struct code_loop_work *a, const struct code_loop_work *b)
{
    const double flop_a = a->flop * a->weight, flop_b = b->flop * b->weight;
    const double bytes_a = a->bytes * a->weight, bytes_b = b->bytes * b->weight;
    if (flop_a != flop_b) {
        return flop_a > flop_b;
    }
    if (bytes_a != bytes_b) {
        return bytes_a > bytes_b;
    }
    return a->instructions * a->weight > b->instructions * b->weight;
}

void code_loops_measure(const struct code_profiler *self, struct code_loop_work *works)
{
    const struct code_graph *graph = &self->graph;
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        const struct code_loop *loop = &graph->loops[i];
        for (uint32_t j = 0; j < loop->block_count; j++) {
            const struct code_block *block = &graph->blocks[loop->blocks[j]];
            for (size_t k = 0; k < block->count; k++) {
                add_work(&works[i], &self->listing->items[block->first + k]);
            }
        }
        const double around = loop->parent == CODE_NONE ? 1 : works[loop->parent].weight;
        const double turns = isnan(loop->trip.turns) ? UNKNOWN_TURNS : loop->trip.turns;
        works[i].weight = fmin(around * fmax(turns, 1), 1e100);
    }
}

/* The loop with most work; if it only works on what the loop around it copies, that one. */
uint32_t code_choose_loop(const struct code_profiler *self, const struct code_loop_work *works)
{
    const struct code_graph *graph = &self->graph;
    uint32_t best = CODE_NONE;
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        if (best == CODE_NONE || works_more(&works[i], &works[best])) {
            best = i;
        }
    }
    while (best != CODE_NONE) {
        double copies = 0, waits = 0;
        const uint32_t parent = graph->loops[best].parent;
        for (uint32_t i = best; i <= graph->loops[best].inner_last; i++) {
            copies += works[i].copies;
            waits += works[i].waits;
        }
        if (copies > 0 || waits > 0 || parent == CODE_NONE || works[parent].copies == 0) {
            break;
        }
        best = parent;
    }
    return best;
}

/* Another loop whose copies the main one waits for. */
uint32_t code_choose_producer(const struct code_profiler *self, const struct code_loop_work *works, uint32_t main_loop)
{
    const struct code_graph *graph = &self->graph;
    uint32_t best = CODE_NONE;
    double copies = 0, waits = 0, flop = 0;
    for (uint32_t i = main_loop; i <= graph->loops[main_loop].inner_last; i++) {
        copies += works[i].copies;
        waits += works[i].waits;
        flop += works[i].flop;
    }
    if (copies > 0 || waits == 0 || flop == 0) {
        return CODE_NONE;
    }
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        const bool apart = i < main_loop || i > graph->loops[main_loop].inner_last;
        const bool around = i < main_loop && graph->loops[i].inner_last >= main_loop;
        if (apart && !around && works[i].copies > 0 &&
            (best == CODE_NONE || works[i].copies * works[i].weight > works[best].copies * works[best].weight)) {
            best = i;
        }
    }
    return best;
}
