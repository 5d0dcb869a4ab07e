/* SPDX-License-Identifier: GPL-3.0-or-later
 * CODE-6, induction variables: a register that each turn steps by a literal, tested against something that stays the
 * same. */
#include "evidence/code/code_trip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HOPS_MAX = 16,        /* copies and sums between a test and its counter */
    DEFINITIONS_MAX = 64, /* of one register; beyond, it counts as written many times */
    LATCHES_MAX = 16,
    ACCESSES_MAX = 4096 /* looked at for an unrolled loop */
};

int code_definition_in_loop(const struct code_graph *graph, uint32_t loop, uint32_t number, size_t *instruction)
{
    const uint32_t first = graph->definitions.first[number], end = graph->definitions.first[number + 1];
    int found = 0;
    if (end - first > DEFINITIONS_MAX) {
        return -1;
    }
    for (uint32_t i = first; i < end; i++) {
        const size_t at = graph->definitions.items[i];
        if (code_loop_contains(graph, loop, graph->block_of[at])) {
            if (found++) {
                return -1;
            }
            *instruction = at;
        }
    }
    return found;
}

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool code_is_step(const struct code_instruction *item, int64_t *literal)
{
    *literal = 0;
    if (item->predicated || item->read_count != 1) {
        return false;
    }
    if (item->op == CODE_OP_MOVE) {
        return !item->has_immediate && item->special == CODE_SPECIAL_NONE && item->write_count == 1;
    }
    if ((item->op != CODE_OP_INTEGER && item->op != CODE_OP_UNIFORM) || !item->has_immediate) {
        return false;
    }
    *literal = item->immediate;
    static const char *const sums[] = {"add.", "sub.", "IADD", "UIADD", "VIADD", "IADD3", "UIADD3", "IMAD.IADD"};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        if (begins(item->mnemonic, sums[i])) {
            return true;
        }
    }
    return false;
}

bool code_comparison(const struct code_instruction *item, char comparison[4])
{
    static const struct {
        const char *text, *meaning;
    } known[] = {{".lt.", "lt"}, {".le.", "le"}, {".gt.", "gt"}, {".ge.", "ge"}, {".eq.", "eq"}, {".ne.", "ne"},
                 {".lo.", "lt"}, {".ls.", "le"}, {".hi.", "gt"}, {".hs.", "ge"}, {".LT.", "lt"}, {".LE.", "le"},
                 {".GT.", "gt"}, {".GE.", "ge"}, {".EQ.", "eq"}, {".NE.", "ne"}};
    const bool is_test =
        begins(item->mnemonic, "setp.") || begins(item->mnemonic, "ISETP.") || begins(item->mnemonic, "UISETP.");
    if (!is_test || (item->op != CODE_OP_INTEGER && item->op != CODE_OP_UNIFORM)) {
        return false;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(item->mnemonic, known[i].text) != NULL) {
            memcpy(comparison, known[i].meaning, 3);
            return true;
        }
    }
    return false;
}

bool code_in_every_turn(const struct code_graph *graph, uint32_t loop, uint32_t block)
{
    const struct code_block *header = &graph->blocks[graph->loops[loop].header];
    if (graph->loops[loop].latch_count > LATCHES_MAX) {
        return block == graph->loops[loop].header;
    }
    for (uint32_t i = 0; i < header->predecessor_count; i++) {
        const uint32_t from = header->predecessors[i];
        if (code_loop_contains(graph, loop, from) && !code_graph_dominates(graph, block, from)) {
            return false;
        }
    }
    return true;
}

bool code_register_step(const struct code_listing *listing, const struct code_graph *graph, uint32_t loop,
                        uint32_t number, int64_t *step)
{
    uint32_t at = number;
    *step = 0;
    for (int hop = 0; hop < HOPS_MAX; hop++) {
        size_t instruction;
        int64_t literal;
        if (code_definition_in_loop(graph, loop, at, &instruction) != 1 ||
            graph->blocks[graph->block_of[instruction]].loop != loop ||
            !code_in_every_turn(graph, loop, graph->block_of[instruction]) ||
            !code_is_step(&listing->items[instruction], &literal) || __builtin_add_overflow(*step, literal, step)) {
            return false;
        }
        at = listing->items[instruction].reads[0];
        if (at == number) {
            return *step != 0;
        }
    }
    return false;
}

/* Is `a` run before `b` within every turn? */
static bool precedes(const struct code_graph *graph, size_t a, size_t b)
{
    const uint32_t block_a = graph->block_of[a], block_b = graph->block_of[b];
    return block_a == block_b ? a < b : code_graph_dominates(graph, block_a, block_b);
}

/* The register whose value at the loop's entry, plus *offset, is what `number` holds at instruction `point` in the
 * first turn. 0: not so simple. */
static uint32_t entry_register(const struct code_listing *listing, const struct code_graph *graph, uint32_t loop,
                               uint32_t number, size_t point, int64_t *offset)
{
    *offset = 0;
    for (int hop = 0; hop < HOPS_MAX; hop++) {
        size_t instruction;
        int64_t literal;
        const int found = code_definition_in_loop(graph, loop, number, &instruction);
        if (found != 1) {
            return 0;
        }
        if (!precedes(graph, instruction, point)) {
            return number;
        }
        if (!code_is_step(&listing->items[instruction], &literal) || __builtin_add_overflow(*offset, literal, offset)) {
            return 0;
        }
        number = listing->items[instruction].reads[0];
        point = instruction;
    }
    return 0;
}

/* What a register holds that is written once before the loop: a literal, a parameter or something derived. */
static enum code_bound origin_of(const struct code_listing *listing, const struct code_graph *graph, uint32_t loop,
                                 uint32_t number, int64_t *literal, uint32_t *parameter)
{
    for (int hop = 0; hop < HOPS_MAX; hop++) {
        const uint32_t first = graph->definitions.first[number], end = graph->definitions.first[number + 1];
        size_t at = SIZE_MAX;
        if (end - first > DEFINITIONS_MAX) {
            return CODE_BOUND_DERIVED;
        }
        for (uint32_t i = first; i < end; i++) {
            const size_t item = graph->definitions.items[i];
            if (!code_loop_contains(graph, loop, graph->block_of[item])) {
                if (at != SIZE_MAX) {
                    return CODE_BOUND_DERIVED;
                }
                at = item;
            }
        }
        if (at == SIZE_MAX || listing->items[at].predicated) {
            return CODE_BOUND_DERIVED;
        }
        const struct code_instruction *item = &listing->items[at];
        if (item->op == CODE_OP_CONSTANT_LOAD && item->parameter != 0) {
            *parameter = item->parameter;
            return CODE_BOUND_PARAMETER;
        }
        if (item->op == CODE_OP_MOVE && item->has_immediate && item->read_count == 0) {
            *literal = item->immediate;
            return CODE_BOUND_LITERAL;
        }
        if (item->op != CODE_OP_MOVE || item->read_count != 1 || item->special != CODE_SPECIAL_NONE) {
            return CODE_BOUND_DERIVED;
        }
        number = item->reads[0];
    }
    return CODE_BOUND_DERIVED;
}

static void reverse(char comparison[4], bool negate)
{
    static const char *const pairs[][3] = {{"lt", "gt", "ge"}, {"le", "ge", "gt"}, {"gt", "lt", "le"},
                                           {"ge", "le", "lt"}, {"eq", "eq", "ne"}, {"ne", "ne", "eq"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(comparison, pairs[i][0]) == 0) {
            memcpy(comparison, pairs[i][negate ? 2 : 1], 3);
            return;
        }
    }
}

/* Tests that succeed before the first that fails; NaN if none ever fails. */
static double successes(double first, double step, const char *comparison, double bound)
{
    const double distance = (bound - first) / step;
    if (strcmp(comparison, "ne") == 0) {
        return distance >= 0 && distance == floor(distance) ? distance : (double)NAN;
    }
    if (strcmp(comparison, "eq") == 0) {
        return distance == 0 ? 1 : 0;
    }
    const bool upward = comparison[0] == 'l';
    const bool holds = upward ? first < bound || (comparison[1] == 'e' && first == bound)
                              : first > bound || (comparison[1] == 'e' && first == bound);
    if (!holds) {
        return 0;
    }
    if (upward != (step > 0)) {
        return NAN;
    }
    return comparison[1] == 'e' ? floor(distance) + 1 : ceil(distance);
}

/* A test at the loop's head that comes before the counter's step is one more than the turns; any other is the end of
 * its turn. */
static bool test_comes_first(const struct code_graph *graph, uint32_t loop, size_t test, uint32_t counter)
{
    const uint32_t block = graph->block_of[test];
    size_t step;
    if (block != graph->loops[loop].header || code_definition_in_loop(graph, loop, counter, &step) != 1) {
        return false;
    }
    for (uint32_t i = 0; i < graph->blocks[block].successor_count; i++) {
        if (graph->blocks[block].successors[i] == block) {
            return false;
        }
    }
    return graph->block_of[step] != block;
}

static void count_turns(const struct code_graph *graph, uint32_t loop, size_t test, struct code_trip *trip)
{
    trip->turns = NAN;
    if (!trip->start_known || trip->bound_kind != CODE_BOUND_LITERAL || trip->step == 0) {
        return;
    }
    const double held = successes((double)trip->start + (double)trip->offset, (double)trip->step, trip->comparison,
                                  (double)trip->bound);
    trip->turns = test_comes_first(graph, loop, test, trip->counter) ? held : held + 1;
}

/* One side of the comparison as the counter, the other as the bound. */
static bool take_sides(const struct code_listing *listing, const struct code_graph *graph, uint32_t loop, size_t test,
                       uint32_t counted, uint32_t bound, struct code_trip *trip)
{
    const struct code_instruction *item = &listing->items[test];
    size_t inside;
    trip->counter = entry_register(listing, graph, loop, counted, test, &trip->offset);
    if (trip->counter == 0 || !code_register_step(listing, graph, loop, trip->counter, &trip->step)) {
        return false;
    }
    if (bound == 0) {
        trip->bound_kind = CODE_BOUND_LITERAL;
        trip->bound = item->immediate;
    } else {
        const int found = code_definition_in_loop(graph, loop, bound, &inside);
        trip->bound_register = bound;
        if (found == 0) {
            trip->bound_kind = origin_of(listing, graph, loop, bound, &trip->bound, &trip->parameter);
        } else if (found == 1 && !listing->items[inside].predicated && listing->items[inside].parameter != 0) {
            trip->bound_kind = CODE_BOUND_PARAMETER; /* loaded anew each turn */
            trip->parameter = listing->items[inside].parameter;
        } else {
            return false;
        }
    }
    uint32_t start_parameter = 0;
    trip->start_known =
        origin_of(listing, graph, loop, trip->counter, &trip->start, &start_parameter) == CODE_BOUND_LITERAL;
    return true;
}

/* The branch at the end of a block that leaves the loop: what keeps the loop going? */
static bool take_test(const struct code_listing *listing, const struct code_graph *graph, uint32_t loop, uint32_t block,
                      struct code_trip *trip)
{
    const size_t last = graph->blocks[block].first + graph->blocks[block].count - 1;
    const struct code_instruction *branch = &listing->items[last];
    size_t test;
    memset(trip, 0, sizeof *trip);
    trip->turns = NAN;
    if (branch->op != CODE_OP_BRANCH || branch->guard == 0 || branch->target >= listing->count ||
        branch->more_target_count > 0 || code_definition_in_loop(graph, loop, branch->guard, &test) != 1) {
        return false;
    }
    const struct code_instruction *item = &listing->items[test];
    uint32_t tested = branch->guard;
    int64_t added;
    if (item->op == CODE_OP_MOVE && code_is_step(item, &added) && /* SASS copies a uniform predicate */
        code_definition_in_loop(graph, loop, item->reads[0], &test) == 1) {
        tested = item->reads[0];
        item = &listing->items[test];
    }
    if (item->predicated || !code_comparison(item, trip->comparison)) {
        return false;
    }
    const bool stays = code_loop_contains(graph, loop, graph->block_of[branch->target]);
    const bool second = item->write_count > 1 && item->writes[1] == tested;
    if (stays == (branch->guard_negated != second)) {
        reverse(trip->comparison, true);
    }
    const char kept[2] = {trip->comparison[0], trip->comparison[1]};
    bool taken = false;
    if (item->read_count == 1 && item->has_immediate) {
        taken = take_sides(listing, graph, loop, test, item->reads[0], 0, trip);
    } else if (item->read_count == 2) {
        taken = take_sides(listing, graph, loop, test, item->reads[0], item->reads[1], trip);
        if (!taken) {
            memset(trip, 0, sizeof *trip);
            memcpy(trip->comparison, kept, 2);
            reverse(trip->comparison, false);
            taken = take_sides(listing, graph, loop, test, item->reads[1], item->reads[0], trip);
        }
    }
    if (taken) {
        count_turns(graph, loop, test, trip);
    }
    return taken;
}

static bool leaves(const struct code_graph *graph, uint32_t loop, uint32_t block)
{
    for (uint32_t i = 0; i < graph->blocks[block].successor_count; i++) {
        if (!code_loop_contains(graph, loop, graph->blocks[block].successors[i])) {
            return true;
        }
    }
    return false;
}

/* ---- unrolled loops -------------------------------------------------------------------------------------------- */
struct access {
    uint32_t base, bytes;
    enum code_op op;
    int64_t offset;
};

static int compare_access(const void *left, const void *right)
{
    const struct access *a = left, *b = right;
    if (a->op != b->op) {
        return a->op < b->op ? -1 : 1;
    }
    if (a->base != b->base) {
        return a->base < b->base ? -1 : 1;
    }
    if (a->bytes != b->bytes) {
        return a->bytes < b->bytes ? -1 : 1;
    }
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static size_t collect_accesses(const struct code_listing *listing, const struct code_graph *graph,
                               const struct code_loop *loop, struct access *accesses)
{
    size_t count = 0;
    for (uint32_t i = 0; i < loop->block_count; i++) {
        const struct code_block *block = &graph->blocks[loop->blocks[i]];
        for (size_t j = block->first; j < block->first + block->count && count < ACCESSES_MAX; j++) {
            const struct code_instruction *item = &listing->items[j];
            if (item->has_address_offset && item->address_count == 1 && item->lane_bytes > 0) {
                accesses[count++] =
                    (struct access){item->addresses[0], item->lane_bytes, item->op, item->address_offset};
            }
        }
    }
    return count;
}

/* n accesses d bytes apart whose base moves by n d. */
static uint32_t spacing(const struct code_listing *listing, const struct code_graph *graph, uint32_t loop,
                        const struct access *group, size_t n)
{
    int64_t step, distance, span;
    if (n < 2 || __builtin_sub_overflow(group[1].offset, group[0].offset, &distance) || distance <= 0) {
        return 0;
    }
    for (size_t i = 2; i < n; i++) {
        int64_t other;
        if (__builtin_sub_overflow(group[i].offset, group[i - 1].offset, &other) || other != distance) {
            return 0;
        }
    }
    if (!code_register_step(listing, graph, loop, group[0].base, &step) || step == INT64_MIN ||
        __builtin_mul_overflow(distance, (int64_t)n, &span)) {
        return 0;
    }
    return (step < 0 ? -step : step) == span ? (uint32_t)n : 0;
}

static void find_unroll(const struct code_listing *listing, struct code_graph *graph, uint32_t index,
                        struct access *accesses)
{
    struct code_loop *loop = &graph->loops[index];
    if (loop->trip.step == 0) {
        return;
    }
    const size_t count = collect_accesses(listing, graph, loop, accesses);
    qsort(accesses, count, sizeof *accesses, compare_access);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1;
             end < count && accesses[end].op == accesses[first].op && accesses[end].base == accesses[first].base &&
             accesses[end].bytes == accesses[first].bytes;
             end++) {
        }
        const uint32_t unroll = spacing(listing, graph, index, accesses + first, end - first);
        if (unroll > 1 && loop->trip.step % (int64_t)unroll == 0) {
            loop->trip.unroll = unroll;
            return;
        }
    }
}

bool code_trips_find(const struct code_listing *listing, struct code_graph *graph)
{
    struct access *accesses = malloc(ACCESSES_MAX * sizeof *accesses);
    if (accesses == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        struct code_loop *loop = &graph->loops[i];
        loop->trip.turns = NAN;
        /* Latches come late in the order: a test at the end says more than one that breaks off. */
        for (uint32_t j = loop->block_count; j-- > 0;) {
            graph->steps++;
            if (leaves(graph, i, loop->blocks[j]) && code_in_every_turn(graph, i, loop->blocks[j]) &&
                take_test(listing, graph, i, loop->blocks[j], &loop->trip)) {
                break;
            }
        }
        if (loop->trip.counter == 0 || loop->trip.step == 0) {
            loop->trip = (struct code_trip){.turns = NAN};
        }
        find_unroll(listing, graph, i, accesses);
    }
    free(accesses);
    return true;
}

const char *code_trip_text(const struct code_trip *trip, char *out, size_t out_size)
{
    char bound[48], start[48];
    if (!isnan(trip->turns)) {
        (void)snprintf(out, out_size, "%.17g turns", trip->turns);
        return out;
    }
    if (trip->bound_kind == CODE_BOUND_UNKNOWN || trip->step == 0) {
        (void)snprintf(out, out_size, "unknown");
        return out;
    }
    if (trip->bound_kind == CODE_BOUND_LITERAL) {
        (void)snprintf(bound, sizeof bound, "%lld", (long long)trip->bound);
    } else if (trip->bound_kind == CODE_BOUND_PARAMETER) {
        (void)snprintf(bound, sizeof bound, "parameter %u", trip->parameter - 1);
    } else {
        (void)snprintf(bound, sizeof bound, "computed bound");
    }
    if (trip->start_known) {
        (void)snprintf(start, sizeof start, "%lld", (long long)trip->start);
    } else {
        (void)snprintf(start, sizeof start, "start");
    }
    (void)snprintf(out, out_size, "(%s - %s) / %lld turns", bound, start, (long long)trip->step);
    return out;
}
