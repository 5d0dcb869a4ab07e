/* SPDX-License-Identifier: GPL-3.0-or-later
 * Counts of a compiled kernel around its main loop. */
#include "evidence/code/code_profile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/code/code_profile_private.h"
#include "evidence/code/code_trip.h"

void code_note(struct code_profile *profile, const char *format, ...)
{
    if (profile->note_count == CODE_NOTES_MAX) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(profile->notes[profile->note_count++], sizeof profile->notes[0], format, arguments);
    va_end(arguments);
}

/* ---- stretches ------------------------------------------------------------------------------------------------- */
/* Blocks from which the loop can be reached going forward only come before it. */
static bool mark_stretches(struct code_profiler *self, uint32_t loop)
{
    const struct code_graph *graph = &self->graph;
    uint32_t *stack = arena_allocate(&self->arena, graph->block_count, sizeof *stack);
    self->stretch = arena_allocate(&self->arena, graph->block_count, 1);
    if (stack == NULL || self->stretch == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->rpo_count; i++) {
        const uint32_t block = graph->rpo[i];
        self->stretch[block] = loop == CODE_NONE                        ? CODE_STRETCH_PROLOGUE
                               : code_loop_contains(graph, loop, block) ? CODE_STRETCH_LOOP
                                                                        : CODE_STRETCH_EPILOGUE;
    }
    if (loop == CODE_NONE) {
        return true;
    }
    size_t height = 0;
    stack[height++] = graph->loops[loop].header;
    while (height > 0) {
        const struct code_block *block = &graph->blocks[stack[--height]];
        for (uint32_t i = 0; i < block->predecessor_count; i++) {
            const uint32_t from = block->predecessors[i];
            if (graph->blocks[from].order < block->order && self->stretch[from] == CODE_STRETCH_EPILOGUE) {
                self->stretch[from] = CODE_STRETCH_PROLOGUE;
                stack[height++] = from;
            }
        }
    }
    return true;
}

/* ---- counting: CODE-2
 * -------------------------------------------------------------------------------------------------- */
static int traffic_of(const struct code_instruction *item)
{
    switch ((unsigned)item->op) { /* the other operations are not listed */
    case CODE_OP_GLOBAL_LOAD:
        return CODE_TRAFFIC_GLOBAL_LOAD;
    case CODE_OP_GLOBAL_STORE:
        return CODE_TRAFFIC_GLOBAL_STORE;
    case CODE_OP_ASYNC_COPY:
        return CODE_TRAFFIC_ASYNC_COPY;
    case CODE_OP_SHARED_LOAD:
    case CODE_OP_LDMATRIX:
        return CODE_TRAFFIC_SHARED_LOAD;
    case CODE_OP_SHARED_STORE:
    case CODE_OP_STMATRIX:
        return CODE_TRAFFIC_SHARED_STORE;
    case CODE_OP_LOCAL_LOAD:
        return CODE_TRAFFIC_LOCAL_LOAD;
    case CODE_OP_LOCAL_STORE:
        return CODE_TRAFFIC_LOCAL_STORE;
    default:
        return -1;
    }
}

static void count_traffic(struct code_tally *tally, const struct code_instruction *item, double times)
{
    const int traffic = traffic_of(item);
    if (traffic < 0) {
        return;
    }
    const uint32_t bytes = item->lane_bytes;
    if (bytes == 0) {
        tally->unsized[traffic] += times;
        return;
    }
    tally->lane_bytes[traffic] += times * bytes;
    const int width = 31 - __builtin_clz(bytes);
    if (width < CODE_WIDTHS && bytes == 1u << width) {
        tally->widths[traffic][width] += times;
    }
}

/* Copies of one address by several threads count once. */
static void count_distinct(const struct code_profiler *self, struct code_tally *tally, size_t index, double times)
{
    const struct code_instruction *item = &self->listing->items[index];
    const bool load = item->op == CODE_OP_GLOBAL_LOAD;
    if (!load && item->op != CODE_OP_ASYNC_COPY) {
        return;
    }
    const unsigned char flags = self->flow.flags[index];
    const double bytes = times * item->lane_bytes;
    if (flags & CODE_FROM_GLOBAL) {
        tally->gather_loads += times;
        tally->gather_lane_bytes += bytes;
    } else if (flags & CODE_FROM_SHARED) {
        tally->gather_shared_loads += times;
        tally->gather_shared_lane_bytes += bytes;
    }
    const uint32_t threads = self->listing->threads;
    if (!self->flow.threads_settled || threads == 0 || self->flow.several_dimensions) {
        tally->distinct_bytes = tally->gather_distinct_bytes = NAN;
        tally->async_distinct_bytes = tally->gather_async_distinct_bytes = NAN;
        return;
    }
    const double distinct = code_distinct_threads(self->flow.thread_bits[index], threads);
    if (load && distinct == 1) {
        tally->uniform_loads += times;
        tally->uniform_lane_bytes += bytes;
    }
    const bool gather = (flags & (CODE_FROM_GLOBAL | CODE_FROM_SHARED)) != 0;
    tally->distinct_bytes += bytes * distinct;
    tally->async_distinct_bytes += load ? 0 : bytes * distinct;
    tally->gather_distinct_bytes += gather ? bytes * distinct : 0;
    tally->gather_async_distinct_bytes += gather && !load ? bytes * distinct : 0;
}

static struct code_mma *find_mma(struct code_tally *tally, const struct code_instruction *item)
{
    for (uint32_t i = 0; i < tally->mma_count; i++) {
        struct code_mma *mma = &tally->mma[i];
        if (mma->op == item->op && mma->m == item->m && mma->n == item->n && mma->k == item->k &&
            strcmp(mma->format, item->format) == 0) {
            return mma;
        }
    }
    if (tally->mma_count == CODE_MMA_KINDS) {
        tally->mma_cut = true;
        return &tally->mma[CODE_MMA_KINDS - 1];
    }
    struct code_mma *mma = &tally->mma[tally->mma_count++];
    *mma = (struct code_mma){.op = item->op, .m = item->m, .n = item->n, .k = item->k};
    memcpy(mma->format, item->format, sizeof mma->format);
    return mma;
}

/* Scratch of one tally: which chain of products a register holds the sum of. */
struct chain {
    uint32_t kind; /* index of the code_mma */
    double length;
};

struct chains {
    uint32_t *of; /* by register: 1 + index */
    struct chain *items;
    uint32_t count;
};

/* A product that adds to the result of an earlier one of the pass continues its chain. C is the last of the operands,
 * of wgmma the first, which is D too. */
static void count_mma(struct code_tally *tally, const struct code_instruction *item, double times, bool sure,
                      struct chains *chains)
{
    if (item->op != CODE_OP_MMA && item->op != CODE_OP_WGMMA && item->op != CODE_OP_TCGEN05) {
        return;
    }
    struct code_mma *mma = find_mma(tally, item);
    mma->most += times;
    mma->sure += sure ? times : 0;
    const uint32_t own = (uint32_t)item->read_count - (item->guard != 0 && item->read_count > 0 ? 1u : 0u);
    uint32_t chain = 0;
    for (uint32_t i = 0; i < own && item->write_count > 0; i++) {
        const bool place = item->op == CODE_OP_WGMMA ? i < item->write_count : i + item->write_count >= own;
        chain = place && chains->of[item->reads[i]] != 0 ? chains->of[item->reads[i]] : chain;
    }
    if (chain == 0) {
        chains->items[chains->count++] = (struct chain){(uint32_t)(mma - tally->mma), 0};
        chain = chains->count;
    }
    chains->items[chain - 1].length += times;
    for (uint32_t i = 0; i < item->write_count; i++) {
        chains->of[item->writes[i]] = chain;
    }
}

static int compare_chain(const void *left, const void *right)
{
    const struct chain *a = left, *b = right;
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return a->length > b->length ? -1 : a->length < b->length;
}

/* Chains of equal length together. */
static void sum_chains(struct code_tally *tally, struct chains *chains)
{
    if (chains->count > 0) {
        qsort(chains->items, chains->count, sizeof *chains->items, compare_chain);
    }
    for (uint32_t i = 0; i < chains->count; i++) {
        struct code_mma *mma = &tally->mma[chains->items[i].kind];
        struct code_chains *last = mma->chain_kinds == 0 ? NULL : &mma->chains[mma->chain_kinds - 1];
        if (last != NULL && (last->length == chains->items[i].length || mma->chain_kinds == CODE_CHAIN_KINDS)) {
            last->length = (last->length * last->count + chains->items[i].length) / (last->count + 1);
            last->count++;
        } else {
            mma->chains[mma->chain_kinds++] = (struct code_chains){chains->items[i].length, 1};
        }
    }
}

static void count_item(const struct code_profiler *self, struct code_tally *tally, size_t index, double times,
                       bool sure, struct chains *chains)
{
    const struct code_instruction *item = &self->listing->items[index];
    const bool runs = sure && !item->predicated;
    tally->most[item->op] += times;
    tally->sure[item->op] += runs ? times : 0;
    tally->instructions_most += times;
    tally->instructions_sure += sure ? times : 0;
    const double elements = item->elements > 0 ? item->elements : 1;
    tally->convert_elements += item->op == CODE_OP_CONVERT ? times * elements : 0;
    tally->exponential_elements += item->op == CODE_OP_EXPONENTIAL ? times * elements : 0;
    tally->half_elements += item->op == CODE_OP_HALF ? times * elements : 0;
    tally->expected_bytes += item->op == CODE_OP_MBARRIER ? times * item->lane_bytes : 0;
    if (item->op == CODE_OP_BULK_COPY && !item->to_global) {
        tally->bulk_bytes += times * item->lane_bytes;
    }
    count_traffic(tally, item, times);
    count_distinct(self, tally, index, times);
    count_mma(tally, item, times, runs, chains);
    for (uint32_t i = 0; i < item->write_count && item->op != CODE_OP_MMA && item->op != CODE_OP_WGMMA; i++) {
        chains->of[item->writes[i]] = 0;
    }
}

/* A loop that does nothing but try an mbarrier. */
static bool is_spin(const struct code_profiler *self, uint32_t index)
{
    const struct code_loop *loop = &self->graph.loops[index];
    bool tries = false;
    for (uint32_t j = 0; j < loop->block_count; j++) {
        const struct code_block *block = &self->graph.blocks[loop->blocks[j]];
        for (size_t k = 0; k < block->count; k++) {
            const enum code_op op = self->listing->items[block->first + k].op;
            tries |= op == CODE_OP_MBARRIER;
            if (code_flop_of(&self->listing->items[block->first + k]) > 0 ||
                traffic_of(&self->listing->items[block->first + k]) >= 0) {
                return false;
            }
        }
    }
    return tries;
}

/* How often a loop inside a stretch runs, and whether it surely does. */
struct loop_share {
    double times;
    bool sure;
};

/* Shares of all loops relative to one pass of `root` (a loop, or CODE_NONE for the whole kernel). */
static void share_loops(const struct code_profiler *self, uint32_t root, struct loop_share *shares)
{
    const struct code_graph *graph = &self->graph;
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        const struct code_loop *loop = &graph->loops[i];
        const bool contains_main = self->profile->main_loop != CODE_NONE && i <= self->profile->main_loop &&
                                   loop->inner_last >= self->profile->main_loop;
        if (i == root || (root == CODE_NONE && contains_main)) {
            shares[i] = (struct loop_share){1, i == root};
            continue;
        }
        const struct loop_share around =
            loop->parent == CODE_NONE ? (struct loop_share){1, true} : shares[loop->parent];
        const double turns = isnan(loop->trip.turns) ? 1 : loop->trip.turns;
        shares[i].times = fmin(around.times * turns, 1e100);
        shares[i].sure =
            around.sure && loop->parent != CODE_NONE && code_in_every_turn(graph, loop->parent, loop->header);
    }
}

static void count_inner_loops(const struct code_profiler *self, uint32_t root, enum code_stretch stretch,
                              struct code_tally *tally)
{
    for (uint32_t i = 0; i < self->graph.loop_count; i++) {
        const struct code_loop *loop = &self->graph.loops[i];
        const bool inside = root == CODE_NONE ? self->stretch[loop->header] == stretch
                                              : i > root && i <= self->graph.loops[root].inner_last;
        const bool around_main = self->profile->main_loop != CODE_NONE && i <= self->profile->main_loop &&
                                 loop->inner_last >= self->profile->main_loop;
        if (!inside || (root == CODE_NONE && around_main)) {
            continue;
        }
        if (!isnan(loop->trip.turns)) {
            tally->inner_loops++;
        } else if (!is_spin(self, i)) {
            tally->inner_loops_unknown++;
        }
    }
}

/* One turn of `root`, or with root CODE_NONE the blocks of a stretch. */
static bool tally_code(struct code_profiler *self, uint32_t root, enum code_stretch stretch, struct code_tally *tally)
{
    const struct code_graph *graph = &self->graph;
    struct arena scratch = {0};
    struct loop_share *shares = arena_allocate(&scratch, (size_t)graph->loop_count + 1, sizeof *shares);
    struct chains chains = {0};
    chains.of = arena_allocate(&scratch, (size_t)self->listing->register_count + 1, sizeof *chains.of);
    chains.items = arena_allocate(&scratch, self->listing->count, sizeof *chains.items);
    const unsigned char *left_out = root == CODE_NONE ? NULL : code_sides_left_out(self, root, &scratch);
    if (shares == NULL || chains.of == NULL || chains.items == NULL || (root != CODE_NONE && left_out == NULL)) {
        arena_release(&scratch);
        return false;
    }
    share_loops(self, root, shares);
    const uint32_t header = self->profile->main_loop == CODE_NONE ? 0 : graph->loops[self->profile->main_loop].header;
    for (uint32_t i = 0; i < graph->rpo_count; i++) {
        const uint32_t index = graph->rpo[i];
        const struct code_block *block = &graph->blocks[index];
        if (root == CODE_NONE ? self->stretch[index] != (unsigned char)stretch
                              : !code_loop_contains(graph, root, index)) {
            continue;
        }
        if (left_out != NULL && left_out[index]) {
            tally->instructions_left_out += (double)block->count;
            continue;
        }
        struct loop_share share = {1, true};
        if (block->loop != CODE_NONE && shares[block->loop].times != 1) {
            share.times = shares[block->loop].times;
        }
        if (root == CODE_NONE) { /* what every path to the main loop passes */
            share.sure = stretch == CODE_STRETCH_PROLOGUE && block->successor_count > 0 &&
                         code_graph_dominates(graph, index, header);
        } else {
            share.sure = shares[block->loop].sure && code_in_every_turn(graph, block->loop, index);
        }
        for (size_t j = 0; j < block->count; j++) {
            count_item(self, tally, block->first + j, share.times, share.sure, &chains);
        }
    }
    count_inner_loops(self, root, stretch, tally);
    sum_chains(tally, &chains);
    arena_release(&scratch);
    return true;
}

/* ---- notes and the whole --------------------------------------------------------------------------------------- */
static void count_prefetched(struct code_profiler *self)
{
    struct code_profile *profile = self->profile;
    for (size_t i = 0; i < self->listing->count; i++) {
        if (self->flow.flags[i] & CODE_PREFETCHED) {
            profile->prefetched_loads++;
            profile->prefetched_lane_bytes += self->listing->items[i].lane_bytes;
        }
    }
    profile->load_phases = self->flow.load_phases;
}

static void add_notes(struct code_profiler *self)
{
    struct code_profile *profile = self->profile;
    const struct code_tally *turn = &profile->iteration;
    if (profile->truncated) {
        code_note(profile, "%s", self->listing->note[0] != '\0' ? self->listing->note : "only a part of the code");
    }
    if (profile->unknown_instructions > 0) {
        code_note(profile, "%zu instructions are not known", profile->unknown_instructions);
    }
    if (profile->irreducible_edges > 0) {
        code_note(profile, "line %u: control flow that is no loop (%u edges): what it repeats is counted once",
                  self->graph.irreducible_line, profile->irreducible_edges);
    }
    if (profile->unknown_branches > 0) {
        code_note(profile, "%u indirect branches: where they lead is not known", profile->unknown_branches);
    }
    if (turn->inner_loops_unknown > 0) {
        code_note(profile, "%u inner loops turn an unknown number of times: each is counted once",
                  turn->inner_loops_unknown);
    }
    if (turn->most[CODE_OP_CALL] > 0) {
        code_note(profile, "%g calls in the loop: what is called is not counted", turn->most[CODE_OP_CALL]);
    }
    if (turn->gather_shared_loads > 0) {
        code_note(profile,
                  "addresses from shared memory: taken as a gather, where that data came from is not followed");
    }
    if (turn->mma_cut) {
        code_note(profile, "more than %d kinds of products: the last are added up", CODE_MMA_KINDS);
    }
    if (turn->instructions_most > turn->instructions_sure) {
        code_note(profile, "%g of %g instructions of a turn lie behind branches",
                  turn->instructions_most - turn->instructions_sure, turn->instructions_most);
    }
    if (turn->instructions_left_out > 0) {
        code_note(profile, "%g instructions are other sides of branches: only the one with most work is counted",
                  turn->instructions_left_out);
    }
    if (!profile->is_sass) {
        code_note(profile, "PTX: counts before register allocation, spills are not in it");
    }
}

static void describe_loop(struct code_profiler *self)
{
    struct code_profile *profile = self->profile;
    const struct code_graph *graph = &self->graph;
    const struct code_loop *loop = &graph->loops[profile->main_loop];
    profile->has_loop = true;
    profile->main_line = self->listing->items[graph->blocks[loop->header].first].line;
    profile->main_depth = loop->depth;
    profile->trip = loop->trip;
    profile->outer_turns = 1;
    for (uint32_t i = loop->parent; i != CODE_NONE; i = graph->loops[i].parent) {
        profile->outer_turns *= graph->loops[i].trip.turns;
    }
}

static bool compute(struct code_profiler *self)
{
    struct code_profile *profile = self->profile;
    const struct code_graph *graph = &self->graph;
    struct code_loop_work *works = arena_allocate(&self->arena, (size_t)graph->loop_count + 1, sizeof *works);
    if (works == NULL) {
        return false;
    }
    code_loops_measure(self, works);
    profile->main_loop = code_choose_loop(self, works);
    if (code_dataflow_compute(self->listing, graph, profile->main_loop, &self->arena, &self->flow) != STATUS_OK ||
        !mark_stretches(self, profile->main_loop) ||
        !tally_code(self, CODE_NONE, CODE_STRETCH_PROLOGUE, &profile->prologue)) {
        return false;
    }
    if (profile->main_loop != CODE_NONE) {
        describe_loop(self);
        const uint32_t producer = code_choose_producer(self, works, profile->main_loop);
        if (!tally_code(self, profile->main_loop, CODE_STRETCH_LOOP, &profile->iteration) ||
            !tally_code(self, CODE_NONE, CODE_STRETCH_EPILOGUE, &profile->epilogue) ||
            (producer != CODE_NONE && !tally_code(self, producer, CODE_STRETCH_LOOP, &profile->producer))) {
            return false;
        }
        profile->has_producer = producer != CODE_NONE;
        profile->producer_line =
            producer == CODE_NONE ? 0 : self->listing->items[graph->blocks[graph->loops[producer].header].first].line;
    }
    count_prefetched(self);
    if (!code_pipeline_find(self) || !code_waits_find(self)) {
        return false;
    }
    add_notes(self);
    return true;
}

enum status code_profile_compute(const struct code_listing *listing, struct code_profile *profile, struct error *error)
{
    memset(profile, 0, sizeof *profile);
    if (listing->count == 0) {
        return error_set(error, STATUS_BAD_DATA, "kernel '%.200s' has no instructions", listing->name);
    }
    memcpy(profile->name, listing->name, sizeof profile->name);
    profile->is_sass = listing->is_sass;
    profile->arch = listing->arch;
    profile->arch_suffix = listing->arch_suffix;
    profile->threads = listing->threads;
    profile->main_loop = CODE_NONE;
    profile->outer_turns = NAN;
    profile->static_smem_bytes = listing->static_smem_bytes;
    profile->local_bytes = listing->local_bytes;
    profile->unknown_instructions = listing->unknown_count;
    profile->truncated = listing->truncated;
    struct code_profiler self = {.listing = listing, .profile = profile};
    enum status status = code_graph_build(listing, &self.graph);
    if (status == STATUS_OK) {
        profile->loop_count = self.graph.loop_count;
        profile->unreachable_instructions = self.graph.unreachable_instructions;
        profile->irreducible_edges = self.graph.irreducible_edges;
        profile->unknown_branches = self.graph.unknown_branches;
        status = compute(&self) ? STATUS_OK : STATUS_NO_MEMORY;
    }
    code_graph_release(&self.graph);
    arena_release(&self.arena);
    return status == STATUS_OK ? STATUS_OK : error_set(error, status, "kernel '%.200s' is too large", listing->name);
}

/* What is left in machine code of the bytes that the threads ask for in PTX; 1 where neither has any. */
static double kept_share(const struct code_tally *sass, const struct code_tally *ptx, enum code_traffic traffic)
{
    const double asked = ptx->lane_bytes[traffic];
    return asked > 0 ? sass->lane_bytes[traffic] / asked : 1;
}

static void take_bytes(struct code_tally *sass, const struct code_tally *ptx)
{
    const double loads = kept_share(sass, ptx, CODE_TRAFFIC_GLOBAL_LOAD);
    const double copies = kept_share(sass, ptx, CODE_TRAFFIC_ASYNC_COPY);
    if (isnan(ptx->distinct_bytes) ||
        loads * ptx->lane_bytes[CODE_TRAFFIC_GLOBAL_LOAD] + copies * ptx->lane_bytes[CODE_TRAFFIC_ASYNC_COPY] == 0) {
        return;
    }
    sass->async_distinct_bytes = ptx->async_distinct_bytes * copies;
    sass->gather_async_distinct_bytes = ptx->gather_async_distinct_bytes * copies;
    sass->distinct_bytes = (ptx->distinct_bytes - ptx->async_distinct_bytes) * loads + sass->async_distinct_bytes;
    sass->gather_distinct_bytes =
        (ptx->gather_distinct_bytes - ptx->gather_async_distinct_bytes) * loads + sass->gather_async_distinct_bytes;
}

static const struct code_mma *same_product(const struct code_tally *tally, const struct code_mma *mma)
{
    for (uint32_t i = 0; i < tally->mma_count; i++) {
        const struct code_mma *other = &tally->mma[i];
        if (other->op == mma->op && other->m == mma->m && other->n == mma->n && other->k == mma->k &&
            other->most == mma->most && strcmp(other->format, mma->format) == 0) {
            return other;
        }
    }
    return NULL;
}

static void take_products(struct code_tally *sass, const struct code_tally *ptx)
{
    for (uint32_t i = 0; i < sass->mma_count; i++) {
        struct code_mma *mma = &sass->mma[i];
        const struct code_mma *known = same_product(ptx, mma);
        if (known != NULL && !sass->mma_cut && !ptx->mma_cut) {
            mma->chain_kinds = known->chain_kinds;
            memcpy(mma->chains, known->chains, sizeof mma->chains);
        }
    }
}

static void take_tally(struct code_tally *sass, const struct code_tally *ptx)
{
    take_bytes(sass, ptx);
    take_products(sass, ptx);
}

void code_profile_take_bytes(struct code_profile *sass, const struct code_profile *ptx)
{
    take_tally(&sass->prologue, &ptx->prologue);
    take_tally(&sass->iteration, &ptx->iteration);
    take_tally(&sass->epilogue, &ptx->epilogue);
    if (sass->has_producer && ptx->has_producer) {
        take_tally(&sass->producer, &ptx->producer);
    }
}
