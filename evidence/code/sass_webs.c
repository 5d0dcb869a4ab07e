/* SPDX-License-Identifier: GPL-3.0-or-later
 * One physical register holds many values, one after the other. Here each web (the writes that reach a common read, and
 * those reads) becomes a register of its own, as the registers of PTX are, so that loops and chains can be followed. */
#include <stdlib.h>
#include <string.h>

#include "evidence/code/code_loops.h"
#include "evidence/code/sass_instruction.h"

enum {
    REGISTERS = SASS_REGISTER_COUNT + 1, /* 0 is none */
    CELLS_MAX = 1 << 22,                 /* blocks times registers, and edges times registers: above, nothing changes */
    NO_NODE = UINT32_MAX
};

struct entry_value {
    uint32_t block, number;
};

/* Nodes are writes and values on entry to a block; joined where one is the other on some path. */
struct webs {
    struct code_listing *listing;
    struct code_graph graph;
    uint32_t *parents; /* union-find */
    uint32_t node_count;
    uint32_t *entries; /* blocks x REGISTERS: node of the value on entry, NO_NODE where nobody asked */
    uint32_t *exits;   /* blocks x REGISTERS: node of the last write in the block, NO_NODE if there is none */
    struct entry_value *work;
    size_t work_count; /* each cell enters once */
};

static uint32_t find_root(struct webs *webs, uint32_t node)
{
    while (webs->parents[node] != node) {
        webs->parents[node] = webs->parents[webs->parents[node]];
        node = webs->parents[node];
    }
    return node;
}

static void join(struct webs *webs, uint32_t a, uint32_t b)
{
    a = find_root(webs, a);
    b = find_root(webs, b);
    if (a < b) {
        webs->parents[b] = a;
    } else {
        webs->parents[a] = b;
    }
}

static uint32_t new_node(struct webs *webs)
{
    webs->parents[webs->node_count] = webs->node_count;
    return webs->node_count++;
}

static uint32_t value_on_entry(struct webs *webs, uint32_t block, uint32_t number)
{
    uint32_t *cell = &webs->entries[(size_t)block * REGISTERS + number];
    if (*cell == NO_NODE) {
        *cell = new_node(webs);
        webs->work[webs->work_count++] = (struct entry_value){block, number};
    }
    return *cell;
}

static uint32_t value_now(struct webs *webs, uint32_t block, uint32_t number)
{
    const uint32_t written = webs->exits[(size_t)block * REGISTERS + number];
    return written != NO_NODE ? written : value_on_entry(webs, block, number);
}

static void read_instruction(struct webs *webs, uint32_t block, struct code_instruction *item)
{
    for (uint32_t i = 0; i < item->read_count; i++) {
        item->reads[i] = value_now(webs, block, item->reads[i]);
    }
    for (uint32_t i = 0; i < item->address_count; i++) {
        item->addresses[i] = value_now(webs, block, item->addresses[i]);
    }
    if (item->guard != 0) {
        item->guard = value_now(webs, block, item->guard);
    }
}

/* Under a guard the old value may stay: then both are one. */
static void write_instruction(struct webs *webs, uint32_t block, struct code_instruction *item)
{
    for (uint32_t i = 0; i < item->write_count; i++) {
        const uint32_t number = item->writes[i], node = new_node(webs);
        if (item->predicated) {
            join(webs, node, value_now(webs, block, number));
        }
        webs->exits[(size_t)block * REGISTERS + number] = node;
        item->writes[i] = node;
    }
}

/* Every value asked for on entry to a block is that at the end of each block before it. */
static void follow_entries(struct webs *webs)
{
    while (webs->work_count > 0) {
        const struct entry_value at = webs->work[--webs->work_count];
        const struct code_block *block = &webs->graph.blocks[at.block];
        const uint32_t node = webs->entries[(size_t)at.block * REGISTERS + at.number];
        for (uint32_t i = 0; i < block->predecessor_count; i++) {
            join(webs, node, value_now(webs, block->predecessors[i], at.number));
        }
    }
}

/* Nodes to register numbers from 1 on. */
static void number_webs(struct webs *webs, uint32_t *numbers)
{
    struct code_listing *listing = webs->listing;
    uint32_t count = 0;
    numbers[0] = 0;
    for (uint32_t node = 1; node < webs->node_count; node++) {
        const uint32_t root = find_root(webs, node); /* not above node: numbered already */
        numbers[node] = root == node ? ++count : numbers[root];
    }
    for (size_t i = 0; i < listing->count; i++) {
        struct code_instruction *item = &listing->items[i];
        for (uint32_t k = 0; k < item->read_count; k++) {
            item->reads[k] = numbers[item->reads[k]];
        }
        for (uint32_t k = 0; k < item->address_count; k++) {
            item->addresses[k] = numbers[item->addresses[k]];
        }
        for (uint32_t k = 0; k < item->write_count; k++) {
            item->writes[k] = numbers[item->writes[k]];
        }
        item->guard = item->guard != 0 ? numbers[item->guard] : 0;
    }
    listing->register_count = count;
}

static bool allocate(struct webs *webs, uint32_t **numbers)
{
    const size_t cells = (size_t)webs->graph.block_count * REGISTERS;
    size_t nodes = cells + 1;
    for (size_t i = 0; i < webs->listing->count; i++) {
        nodes += webs->listing->items[i].write_count;
    }
    webs->parents = malloc(nodes * sizeof *webs->parents);
    webs->entries = malloc(cells * sizeof *webs->entries);
    webs->exits = malloc(cells * sizeof *webs->exits);
    webs->work = malloc(cells * sizeof *webs->work);
    *numbers = malloc(nodes * sizeof **numbers);
    if (webs->parents == NULL || webs->entries == NULL || webs->exits == NULL || webs->work == NULL ||
        *numbers == NULL) {
        return false;
    }
    for (size_t i = 0; i < cells; i++) {
        webs->entries[i] = webs->exits[i] = NO_NODE;
    }
    return true;
}

static bool too_large(const struct code_graph *graph)
{
    uint64_t edges = 0;
    for (uint32_t i = 0; i < graph->block_count; i++) {
        edges += graph->blocks[i].predecessor_count;
    }
    return (uint64_t)graph->block_count * REGISTERS > CELLS_MAX || edges * REGISTERS > 2 * CELLS_MAX;
}

bool sass_webs_separate(struct code_listing *listing)
{
    struct webs webs = {.listing = listing};
    uint32_t *numbers = NULL;
    if (listing->count == 0) {
        return true;
    }
    if (code_graph_build(listing, &webs.graph) != STATUS_OK) {
        return false;
    }
    bool good = true;
    if (!too_large(&webs.graph)) {
        good = allocate(&webs, &numbers);
        if (good) {
            new_node(&webs); /* 0 stays unused: a guard of 0 is none */
        }
        for (uint32_t b = 0; b < webs.graph.block_count && good; b++) {
            const struct code_block *block = &webs.graph.blocks[b];
            for (size_t i = block->first; i < block->first + block->count; i++) {
                read_instruction(&webs, b, &listing->items[i]);
                write_instruction(&webs, b, &listing->items[i]);
            }
        }
        if (good) {
            follow_entries(&webs);
            number_webs(&webs, numbers);
        }
    }
    code_graph_release(&webs.graph);
    free(webs.parents);
    free(webs.entries);
    free(webs.exits);
    free(webs.work);
    free(numbers);
    return good;
}
