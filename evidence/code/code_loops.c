/* SPDX-License-Identifier: GPL-3.0-or-later
 * Basic blocks, dominators and loops. Everything is iterative: compiled code can be deep. */
#include "evidence/code/code_loops.h"

#include <stdlib.h>
#include <string.h>

#include "evidence/code/code_trip.h"

enum {
    EDGES_PER_INSTRUCTION = 4 /* more come only from lists of targets; such a branch is then called unknown */
};

/* Scratch of the build; freed at its end. */
struct builder {
    const struct code_listing *listing;
    struct code_graph *graph;
    uint32_t *targets; /* of edges, by source block */
    size_t edge_count, list_budget;
    uint32_t *seen; /* block -> 1 + the source that has an edge to it already */
    struct arena scratch;
};

#define ALLOCATE(arena, count, array) ((array) = arena_allocate((arena), (count), sizeof *(array)))

static bool ends_block(const struct code_instruction *item)
{
    return item->op == CODE_OP_BRANCH || item->op == CODE_OP_EXIT;
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */
/* Lists of targets can be shared by any number of branches: all of them together may bring so many edges. The same
 * answers come out whenever all branches are asked in order with a fresh budget. */
static bool accept_list(const struct code_instruction *item, size_t *budget)
{
    if (item->more_target_count > *budget) {
        return false;
    }
    *budget -= item->more_target_count;
    return true;
}

static void mark_leaders(const struct code_listing *listing, unsigned char *leader)
{
    size_t budget = EDGES_PER_INSTRUCTION * listing->count;
    leader[0] = 1;
    for (size_t i = 0; i < listing->count; i++) {
        const struct code_instruction *item = &listing->items[i];
        if (!ends_block(item)) {
            continue;
        }
        if (i + 1 < listing->count) {
            leader[i + 1] = 1;
        }
        if (item->op == CODE_OP_BRANCH && item->target < listing->count) {
            leader[item->target] = 1;
        }
        const bool accepted = accept_list(item, &budget);
        for (uint32_t j = 0; accepted && j < item->more_target_count; j++) {
            if (item->more_targets[j] < listing->count) {
                leader[item->more_targets[j]] = 1;
            }
        }
    }
}

static bool make_blocks(struct builder *builder)
{
    const struct code_listing *listing = builder->listing;
    struct code_graph *graph = builder->graph;
    unsigned char *leader;
    if (ALLOCATE(&builder->scratch, listing->count + 1, leader) == NULL ||
        ALLOCATE(&graph->arena, listing->count, graph->block_of) == NULL) {
        return false;
    }
    mark_leaders(listing, leader);
    for (size_t i = 0; i < listing->count; i++) {
        graph->block_count += leader[i];
        graph->block_of[i] = graph->block_count - 1;
    }
    if (ALLOCATE(&graph->arena, graph->block_count, graph->blocks) == NULL) {
        return false;
    }
    for (size_t i = 0; i < listing->count; i++) {
        struct code_block *block = &graph->blocks[graph->block_of[i]];
        if (leader[i]) {
            *block = (struct code_block){.first = i, .order = CODE_NONE, .dominator = CODE_NONE, .loop = CODE_NONE};
        }
        block->count++;
    }
    graph->steps += listing->count;
    return true;
}

static void add_edge(struct builder *builder, uint32_t from, size_t instruction)
{
    if (instruction >= builder->listing->count) {
        return; /* behind the end of a cut text */
    }
    const uint32_t to = builder->graph->block_of[instruction];
    builder->graph->steps++;
    if (builder->seen[to] == from + 1) {
        return;
    }
    builder->seen[to] = from + 1;
    builder->targets[builder->edge_count++] = to;
    builder->graph->blocks[from].successor_count++;
    builder->graph->blocks[to].predecessor_count++;
}

static void add_branch(struct builder *builder, uint32_t from, const struct code_instruction *item)
{
    if (!accept_list(item, &builder->list_budget) || item->target == CODE_NO_TARGET) {
        builder->graph->unknown_branches++;
        return;
    }
    add_edge(builder, from, item->target);
    for (uint32_t i = 0; i < item->more_target_count; i++) {
        add_edge(builder, from, item->more_targets[i]);
    }
}

static bool make_edges(struct builder *builder)
{
    struct code_graph *graph = builder->graph;
    builder->list_budget = EDGES_PER_INSTRUCTION * builder->listing->count;
    const size_t most = 2 * (size_t)graph->block_count + builder->list_budget;
    if (ALLOCATE(&graph->arena, most, builder->targets) == NULL ||
        ALLOCATE(&builder->scratch, graph->block_count, builder->seen) == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        struct code_block *block = &graph->blocks[i];
        const size_t last = block->first + block->count - 1;
        const struct code_instruction *item = &builder->listing->items[last];
        block->successors = builder->targets + builder->edge_count;
        if (item->op == CODE_OP_BRANCH) {
            add_branch(builder, i, item);
        }
        if (!ends_block(item) || item->conditional) {
            add_edge(builder, i, last + 1);
        }
    }
    uint32_t *predecessors;
    if (ALLOCATE(&graph->arena, builder->edge_count + 1, predecessors) == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        graph->blocks[i].predecessors = predecessors;
        predecessors += graph->blocks[i].predecessor_count;
        graph->blocks[i].predecessor_count = 0;
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        for (uint32_t j = 0; j < graph->blocks[i].successor_count; j++) {
            struct code_block *to = &graph->blocks[graph->blocks[i].successors[j]];
            to->predecessors[to->predecessor_count++] = i;
        }
    }
    return true;
}

/* ---- order and dominators -------------------------------------------------------------------------------------- */
/* Depth-first numbers from 1 for Lengauer and Tarjan, and reverse post-order. */
struct search {
    uint32_t *number; /* of a block; 0: not reached */
    uint32_t *vertex; /* block of a number */
    uint32_t *parent; /* number of a number's parent in the tree */
    uint32_t count;
};

static bool search_blocks(struct builder *builder, struct search *search)
{
    struct code_graph *graph = builder->graph;
    const size_t n = graph->block_count;
    uint32_t *stack, *next;
    if (ALLOCATE(&builder->scratch, n, search->number) == NULL ||
        ALLOCATE(&builder->scratch, n + 1, search->vertex) == NULL ||
        ALLOCATE(&builder->scratch, n + 1, search->parent) == NULL || ALLOCATE(&builder->scratch, n, stack) == NULL ||
        ALLOCATE(&builder->scratch, n, next) == NULL || ALLOCATE(&graph->arena, n, graph->rpo) == NULL) {
        return false;
    }
    size_t height = 0;
    uint32_t finished = 0;
    stack[height++] = 0;
    search->number[0] = search->count = 1;
    search->vertex[1] = 0;
    while (height > 0) {
        const uint32_t block = stack[height - 1];
        graph->steps++;
        if (next[block] < graph->blocks[block].successor_count) {
            const uint32_t to = graph->blocks[block].successors[next[block]++];
            if (search->number[to] == 0) {
                search->number[to] = ++search->count;
                search->vertex[search->count] = to;
                search->parent[search->count] = search->number[block];
                stack[height++] = to;
            }
        } else {
            height--;
            graph->rpo[n - ++finished] = block;
        }
    }
    memmove(graph->rpo, graph->rpo + (n - finished), finished * sizeof *graph->rpo);
    graph->rpo_count = finished;
    for (uint32_t i = 0; i < finished; i++) {
        graph->blocks[graph->rpo[i]].order = i;
    }
    return true;
}

/* Lengauer and Tarjan 1979, the simple variant: O(edges log blocks). All in depth-first numbers. */
struct dominators {
    uint32_t *semi, *idom, *ancestor, *label, *bucket_head, *bucket_next, *path;
};

static uint32_t evaluate(struct code_graph *graph, struct dominators *self, uint32_t v)
{
    if (self->ancestor[v] == 0) {
        return v;
    }
    uint32_t length = 0, at = v;
    while (self->ancestor[self->ancestor[at]] != 0) {
        self->path[length++] = at;
        at = self->ancestor[at];
        graph->steps++;
    }
    while (length > 0) { /* compress from the root's side */
        const uint32_t w = self->path[--length], above = self->ancestor[w];
        if (self->semi[self->label[above]] < self->semi[self->label[w]]) {
            self->label[w] = self->label[above];
        }
        self->ancestor[w] = self->ancestor[above];
    }
    return self->label[v];
}

static void dominate_number(struct code_graph *graph, const struct search *search, struct dominators *self, uint32_t w)
{
    const struct code_block *block = &graph->blocks[search->vertex[w]];
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        const uint32_t v = search->number[block->predecessors[i]];
        if (v != 0) {
            const uint32_t u = evaluate(graph, self, v);
            self->semi[w] = self->semi[u] < self->semi[w] ? self->semi[u] : self->semi[w];
        }
    }
    self->bucket_next[w] = self->bucket_head[self->semi[w]];
    self->bucket_head[self->semi[w]] = w;
    const uint32_t parent = search->parent[w];
    self->ancestor[w] = parent;
    for (uint32_t v = self->bucket_head[parent]; v != 0; v = self->bucket_next[v]) {
        const uint32_t u = evaluate(graph, self, v);
        self->idom[v] = self->semi[u] < self->semi[v] ? u : parent;
    }
    self->bucket_head[parent] = 0;
}

static bool find_dominators(struct builder *builder, const struct search *search)
{
    struct code_graph *graph = builder->graph;
    const size_t n = (size_t)search->count + 1;
    struct dominators self;
    uint32_t *memory;
    if (ALLOCATE(&builder->scratch, 7 * n, memory) == NULL) {
        return false;
    }
    self = (struct dominators){memory,         memory + n,     memory + 2 * n, memory + 3 * n,
                               memory + 4 * n, memory + 5 * n, memory + 6 * n};
    for (uint32_t i = 1; i <= search->count; i++) {
        self.semi[i] = self.label[i] = i;
    }
    for (uint32_t w = search->count; w > 1; w--) {
        dominate_number(graph, search, &self, w);
    }
    graph->blocks[0].dominator = 0;
    for (uint32_t w = 2; w <= search->count; w++) {
        if (self.idom[w] != self.semi[w]) {
            self.idom[w] = self.idom[self.idom[w]];
        }
        graph->blocks[search->vertex[w]].dominator = search->vertex[self.idom[w]];
    }
    return true;
}

/* Intervals of the dominator tree. A dominator comes earlier in reverse post-order, so sizes add up backwards. */
static bool number_tree(struct builder *builder)
{
    struct code_graph *graph = builder->graph;
    uint32_t *size, *next;
    if (ALLOCATE(&builder->scratch, graph->block_count, size) == NULL ||
        ALLOCATE(&builder->scratch, graph->block_count, next) == NULL) {
        return false;
    }
    for (uint32_t i = graph->rpo_count; i-- > 0;) {
        const uint32_t block = graph->rpo[i];
        size[block]++;
        if (i > 0) {
            size[graph->blocks[block].dominator] += size[block];
        }
    }
    for (uint32_t i = 0; i < graph->rpo_count; i++) {
        struct code_block *block = &graph->blocks[graph->rpo[i]];
        if (i > 0) {
            block->tree_first = next[block->dominator];
            next[block->dominator] += size[graph->rpo[i]];
        }
        block->tree_last = block->tree_first + size[graph->rpo[i]] - 1;
        next[graph->rpo[i]] = block->tree_first + 1;
    }
    return true;
}

bool code_graph_dominates(const struct code_graph *graph, uint32_t dominator, uint32_t block)
{
    const struct code_block *above = &graph->blocks[dominator], *below = &graph->blocks[block];
    return above->order != CODE_NONE && below->order != CODE_NONE && above->tree_first <= below->tree_first &&
           below->tree_last <= above->tree_last;
}

/* ---- loops ----------------------------------------------------------------------------------------------------- */
static uint32_t find_outermost(uint32_t *representative, uint32_t block)
{
    while (representative[block] != block) {
        representative[block] = representative[representative[block]];
        block = representative[block];
    }
    return block;
}

static bool is_back_edge(const struct code_graph *graph, uint32_t from, uint32_t to)
{
    return code_graph_dominates(graph, to, from);
}

static uint32_t count_latches(struct code_graph *graph, uint32_t header)
{
    uint32_t count = 0;
    const struct code_block *block = &graph->blocks[header];
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        const uint32_t from = block->predecessors[i];
        if (graph->blocks[from].order == CODE_NONE || graph->blocks[from].order < block->order) {
            continue;
        }
        if (is_back_edge(graph, from, header)) {
            count++;
        } else {
            graph->irreducible_edges++;
            if (graph->irreducible_line == 0) {
                graph->irreducible_line = (uint32_t)graph->blocks[from].first; /* an index until the end */
            }
        }
    }
    return count;
}

/* Blocks that reach a latch without passing the header; loops found before count as one block each. */
static void collect_loop(struct code_graph *graph, uint32_t index, uint32_t *representative, uint32_t *stack)
{
    const uint32_t header = graph->loops[index].header;
    size_t height = 0;
    graph->blocks[header].loop = index;
    for (uint32_t at = header, first = 1;; first = 0) {
        const struct code_block *block = &graph->blocks[at];
        for (uint32_t i = 0; i < block->predecessor_count; i++) {
            const uint32_t from = block->predecessors[i];
            graph->steps++;
            if (graph->blocks[from].order == CODE_NONE || (first && !is_back_edge(graph, from, header))) {
                continue;
            }
            const uint32_t outer = find_outermost(representative, from);
            if (outer == header) {
                continue;
            }
            representative[outer] = header;
            if (graph->blocks[outer].loop == CODE_NONE) {
                graph->blocks[outer].loop = index;
            } else {
                graph->loops[graph->blocks[outer].loop].parent = index;
            }
            stack[height++] = outer;
        }
        if (height == 0) {
            return;
        }
        at = stack[--height];
    }
}

/* Numbers so that a loop's inner loops follow it. Found inner first: a parent has a larger index. */
static bool renumber_loops(struct builder *builder)
{
    struct code_graph *graph = builder->graph;
    const uint32_t n = graph->loop_count;
    uint32_t *size, *next, *place;
    struct code_loop *sorted;
    if (ALLOCATE(&builder->scratch, n + 1, size) == NULL || ALLOCATE(&builder->scratch, n + 1, next) == NULL ||
        ALLOCATE(&builder->scratch, n + 1, place) == NULL || ALLOCATE(&graph->arena, n + 1, sorted) == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        size[i]++;
        const uint32_t parent = graph->loops[i].parent;
        size[parent == CODE_NONE ? n : parent] += size[i];
    }
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t parent = graph->loops[i].parent, slot = parent == CODE_NONE ? n : parent;
        place[i] = next[slot];
        next[slot] += size[i];
        next[i] = place[i] + 1;
        sorted[place[i]] = graph->loops[i];
        sorted[place[i]].parent = parent == CODE_NONE ? CODE_NONE : place[parent];
        sorted[place[i]].inner_last = place[i] + size[i] - 1;
        sorted[place[i]].depth = parent == CODE_NONE ? 1 : sorted[place[parent]].depth + 1;
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        struct code_block *block = &graph->blocks[i];
        block->loop = block->loop == CODE_NONE ? CODE_NONE : place[block->loop];
    }
    graph->loops = sorted;
    return true;
}

static bool fill_loops(struct code_graph *graph)
{
    for (uint32_t i = 0; i < graph->rpo_count; i++) {
        const struct code_block *block = &graph->blocks[graph->rpo[i]];
        if (block->loop != CODE_NONE) {
            graph->loops[block->loop].block_count++;
            graph->loops[block->loop].instructions += block->count;
        }
    }
    uint32_t *blocks;
    if (ALLOCATE(&graph->arena, graph->rpo_count, blocks) == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        graph->loops[i].blocks = blocks;
        blocks += graph->loops[i].block_count;
        graph->loops[i].block_count = 0;
    }
    for (uint32_t i = 0; i < graph->rpo_count; i++) {
        const uint32_t index = graph->blocks[graph->rpo[i]].loop;
        if (index == CODE_NONE) {
            continue;
        }
        struct code_loop *loop = &graph->loops[index];
        const struct code_block *block = &graph->blocks[graph->rpo[i]];
        loop->blocks[loop->block_count++] = graph->rpo[i];
        for (uint32_t j = 0; j < block->successor_count; j++) {
            loop->exit_count += !code_loop_contains(graph, index, block->successors[j]);
        }
    }
    for (uint32_t i = graph->loop_count; i-- > 0;) {
        if (graph->loops[i].parent != CODE_NONE) {
            graph->loops[graph->loops[i].parent].instructions += graph->loops[i].instructions;
        }
    }
    return true;
}

/* Loops around the target of a retreating edge that is no back edge. */
static void mark_irreducible(struct code_graph *graph)
{
    for (uint32_t i = 0; i < graph->rpo_count; i++) {
        const struct code_block *block = &graph->blocks[graph->rpo[i]];
        for (uint32_t j = 0; j < block->successor_count; j++) {
            const uint32_t to = block->successors[j];
            if (graph->blocks[to].order <= block->order && !is_back_edge(graph, graph->rpo[i], to)) {
                for (uint32_t at = graph->blocks[to].loop; at != CODE_NONE && !graph->loops[at].irreducible_inside;
                     at = graph->loops[at].parent) {
                    graph->loops[at].irreducible_inside = true;
                }
            }
        }
    }
}

static bool find_loops(struct builder *builder)
{
    struct code_graph *graph = builder->graph;
    uint32_t *representative, *stack;
    if (ALLOCATE(&builder->scratch, graph->block_count, representative) == NULL ||
        ALLOCATE(&builder->scratch, graph->block_count, stack) == NULL ||
        ALLOCATE(&builder->scratch, graph->rpo_count, graph->loops) == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        representative[i] = i;
    }
    for (uint32_t i = graph->rpo_count; i-- > 0;) { /* inner headers come later in this order */
        const uint32_t latches = count_latches(graph, graph->rpo[i]);
        if (latches > 0) {
            graph->loops[graph->loop_count] =
                (struct code_loop){.header = graph->rpo[i], .parent = CODE_NONE, .latch_count = latches};
            collect_loop(graph, graph->loop_count++, representative, stack);
        }
    }
    if (!renumber_loops(builder) || !fill_loops(graph)) {
        return false;
    }
    if (graph->irreducible_edges > 0) {
        graph->irreducible_line = builder->listing->items[graph->irreducible_line].line;
        mark_irreducible(graph);
    }
    return true;
}

bool code_loop_contains(const struct code_graph *graph, uint32_t loop, uint32_t block)
{
    const uint32_t inner = graph->blocks[block].loop;
    return inner != CODE_NONE && inner >= loop && inner <= graph->loops[loop].inner_last;
}

/* ---- definitions ----------------------------------------------------------------------------------------------- */
static bool index_definitions(struct code_graph *graph, const struct code_listing *listing)
{
    const size_t registers = (size_t)listing->register_count + 2;
    size_t total = 0, *items;
    uint32_t *first;
    for (size_t i = 0; i < listing->count; i++) {
        total += listing->items[i].write_count;
    }
    if (total > UINT32_MAX || ALLOCATE(&graph->arena, registers + 1, first) == NULL ||
        ALLOCATE(&graph->arena, total + 1, items) == NULL) {
        return false;
    }
    for (size_t i = 0; i < listing->count; i++) { /* counted two places up, so that filling leaves the starts */
        for (uint32_t j = 0; j < listing->items[i].write_count; j++) {
            first[listing->items[i].writes[j] + 2]++;
        }
    }
    for (size_t r = 2; r <= registers; r++) {
        first[r] += first[r - 1];
    }
    for (size_t i = 0; i < listing->count; i++) {
        for (uint32_t j = 0; j < listing->items[i].write_count; j++) {
            items[first[listing->items[i].writes[j] + 1]++] = i;
        }
    }
    graph->definitions = (struct code_definitions){first, items};
    graph->steps += total;
    return true;
}

static bool build(struct builder *builder)
{
    struct code_graph *graph = builder->graph;
    struct search search = {0};
    if (!make_blocks(builder) || !make_edges(builder) || !search_blocks(builder, &search) ||
        !find_dominators(builder, &search) || !number_tree(builder) || !find_loops(builder) ||
        !index_definitions(graph, builder->listing)) {
        return false;
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        graph->unreachable_instructions += graph->blocks[i].order == CODE_NONE ? graph->blocks[i].count : 0;
    }
    return code_trips_find(builder->listing, graph);
}

enum status code_graph_build(const struct code_listing *listing, struct code_graph *graph)
{
    memset(graph, 0, sizeof *graph);
    if (listing->count == 0) {
        return STATUS_OK;
    }
    if (listing->count > UINT32_MAX / 16) {
        return STATUS_LIMIT;
    }
    struct builder builder = {.listing = listing, .graph = graph};
    const bool done = build(&builder);
    arena_release(&builder.scratch);
    if (!done) {
        code_graph_release(graph);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

void code_graph_release(struct code_graph *graph)
{
    arena_release(&graph->arena);
    memset(graph, 0, sizeof *graph);
}
