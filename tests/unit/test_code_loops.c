/* SPDX-License-Identifier: GPL-3.0-or-later
 * Control flow of compiled code: dominators and loops against brute force on random graphs, trip counts against loops
 * that are really run, and work that grows as the code does. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text_buffer.h"
#include "evidence/code/code_loops.h"
#include "evidence/code/ptx_listing.h"
#include "tests/support/property.h"

#define HEAD ".version 8.7\n.target sm_90a\n.entry k(.param .u32 n)\n{\n"

struct code {
    struct ptx_file file;
    struct code_graph graph;
};

static void build(struct code *code, const char *body)
{
    struct text_buffer text = {0};
    struct error error = {0};
    text_buffer_append_format(&text, HEAD "%s\n}\n", body);
    const enum status status = ptx_listing_read(text.text, text.length, "k.ptx", &code->file, &error);
    ck_assert_msg(status == STATUS_OK, "line %u: %s", error.line, error.text);
    ck_assert_int_eq(code_graph_build(&code->file.entries[0], &code->graph), STATUS_OK);
    text_buffer_release(&text);
}

static void release(struct code *code)
{
    code_graph_release(&code->graph);
    ptx_file_release(&code->file);
}

/* ---- brute force ----------------------------------------------------------------------------------------------- */
enum {
    NODES_MAX = 24
};

static void reach(const struct code_graph *graph, uint32_t from, uint32_t without, bool *reached)
{
    if (from == without || reached[from]) {
        return;
    }
    reached[from] = true;
    for (uint32_t i = 0; i < graph->blocks[from].successor_count; i++) {
        reach(graph, graph->blocks[from].successors[i], without, reached);
    }
}

/* A random kernel of `nodes` blocks: each ends with a branch, a conditional branch or nothing. */
static void random_body(struct random_stream *random, uint32_t nodes, struct text_buffer *text)
{
    for (uint32_t i = 0; i < nodes; i++) {
        text_buffer_append_format(text, "B%u: add.s32 %%r%u, %%r%u, 1;\n", i, i, i);
        const uint64_t kind = random_below(random, 4);
        const unsigned to = (unsigned)random_below(random, nodes);
        if (kind == 0) {
            text_buffer_append_format(text, "bra B%u;\n", to);
        } else if (kind < 3) {
            text_buffer_append_format(text, "@%%p%u bra B%u;\n", i, to);
        }
    }
    text_buffer_append(text, "ret;\n");
}

static void check_dominators(const struct code_graph *graph, unsigned number)
{
    bool all[NODES_MAX * 2] = {0};
    reach(graph, 0, CODE_NONE, all);
    for (uint32_t d = 0; d < graph->block_count; d++) {
        bool around[NODES_MAX * 2] = {0};
        reach(graph, 0, d, around);
        for (uint32_t b = 0; b < graph->block_count; b++) {
            const bool dominates = all[d] && all[b] && !around[b];
            assert_property(code_graph_dominates(graph, d, b) == dominates, number, "block %u over %u", d, b);
        }
    }
}

/* The loop of a header: the header and what reaches one of its latches without passing it. */
static void check_loops(const struct code_graph *graph, unsigned number)
{
    uint32_t headers = 0;
    for (uint32_t h = 0; h < graph->block_count; h++) {
        bool member[NODES_MAX * 2] = {0};
        uint32_t latches = 0;
        for (uint32_t from = 0; from < graph->block_count; from++) {
            for (uint32_t i = 0; i < graph->blocks[from].successor_count; i++) {
                latches += graph->blocks[from].successors[i] == h && code_graph_dominates(graph, h, from);
            }
        }
        for (uint32_t b = 0; b < graph->block_count && latches > 0; b++) {
            bool reached[NODES_MAX * 2] = {0};
            if (graph->blocks[b].order != CODE_NONE && b != h) {
                reach(graph, b, h, reached);
            }
            for (uint32_t from = 0; from < graph->block_count; from++) {
                for (uint32_t i = 0; i < graph->blocks[from].successor_count; i++) {
                    member[b] |=
                        reached[from] && graph->blocks[from].successors[i] == h && code_graph_dominates(graph, h, from);
                }
            }
        }
        if (latches == 0) {
            continue;
        }
        headers++;
        member[h] = true;
        uint32_t loop = 0;
        while (loop < graph->loop_count && graph->loops[loop].header != h) {
            loop++;
        }
        assert_property(loop < graph->loop_count, number, "no loop at block %u", h);
        assert_property(graph->loops[loop].latch_count == latches, number, "latches of %u", h);
        for (uint32_t b = 0; b < graph->block_count; b++) {
            assert_property(code_loop_contains(graph, loop, b) == member[b], number, "block %u in loop of %u", b, h);
        }
    }
    assert_property(headers == graph->loop_count, number, "%u loops", graph->loop_count);
}

START_TEST(random_graphs_against_brute_force)
{
    struct random_stream random;
    random_init(&random, property_seed(), 1);
    unsigned irreducible = 0, loops = 0;
    for (unsigned i = 0; i < property_cases(400); i++) {
        struct text_buffer text = {0};
        struct code code;
        random_body(&random, 2 + (uint32_t)random_below(&random, NODES_MAX - 2), &text);
        build(&code, text.text);
        ck_assert_uint_le(code.graph.block_count, NODES_MAX * 2);
        check_dominators(&code.graph, i);
        check_loops(&code.graph, i);
        irreducible += code.graph.irreducible_edges > 0;
        loops += code.graph.loop_count;
        release(&code);
        text_buffer_release(&text);
    }
    ck_assert_uint_gt(loops, 0);
    ck_assert_uint_gt(irreducible, 0); /* the cases do reach both */
}
END_TEST

/* ---- shapes by hand -------------------------------------------------------------------------------------------- */
START_TEST(no_loop)
{
    struct code code;
    build(&code, "setp.eq.s32 %p1, %r1, 0; @%p1 bra A; mov.u32 %r2, 1; A: ret; mov.u32 %r3, 2; bra A;");
    ck_assert_uint_eq(code.graph.loop_count, 0);
    ck_assert_uint_eq(code.graph.unreachable_instructions, 2);
    ck_assert_uint_eq(code.graph.irreducible_edges, 0);
    release(&code);
}
END_TEST

START_TEST(nested_loops)
{
    struct code code;
    build(&code, "mov.u32 %r1, 0; A: mov.u32 %r2, 0; B: add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, 7; @%p1 bra B; "
                 "C: add.s32 %r3, %r3, 1; @%p3 bra C; add.s32 %r1, %r1, 2; setp.lt.s32 %p2, %r1, 10; @%p2 bra A; ret;");
    const struct code_loop *loops = code.graph.loops;
    ck_assert_uint_eq(code.graph.loop_count, 3);
    ck_assert_uint_eq(loops[0].depth, 1);
    ck_assert_uint_eq(loops[0].inner_last, 2);
    ck_assert_uint_eq(loops[1].parent, 0);
    ck_assert_uint_eq(loops[2].parent, 0);
    ck_assert_uint_eq(loops[2].depth, 2);
    ck_assert_uint_eq(loops[0].instructions, 9);
    ck_assert(loops[0].trip.turns == 5 && loops[1].trip.turns == 7 && isnan(loops[2].trip.turns));
    release(&code);
}
END_TEST

/* Two blocks that jump into each other, both entered from outside. */
START_TEST(irreducible_flow_is_reported)
{
    struct code code;
    build(&code, "@%p1 bra B; A: add.s32 %r1, %r1, 1; bra B; B: add.s32 %r2, %r2, 1;\n@%p2 bra A; ret;");
    ck_assert_uint_eq(code.graph.loop_count, 0);
    ck_assert_uint_eq(code.graph.irreducible_edges, 1);
    ck_assert_uint_ne(code.graph.irreducible_line, 0);
    release(&code);
    build(&code, "L: @%p1 bra B; A: bra B; B: @%p2 bra A; @%p3 bra L; ret;");
    ck_assert_uint_eq(code.graph.loop_count, 1);
    ck_assert(code.graph.loops[0].irreducible_inside);
    release(&code);
}
END_TEST

START_TEST(indirect_branches)
{
    struct code code;
    build(&code, "T: .branchtargets A, B, A;\nA: brx.idx %r1, T; B: ret;");
    ck_assert_uint_eq(code.graph.unknown_branches, 0);
    ck_assert_uint_eq(code.graph.blocks[0].successor_count, 2);
    ck_assert_uint_eq(code.graph.loop_count, 1);
    release(&code);
}
END_TEST

/* ---- turns ----------------------------------------------------------------------------------------------------- */
struct turning {
    int64_t start, step, bound;
    const char *test;
};

static bool holds(const char *test, int64_t a, int64_t b)
{
    return strcmp(test, "lt") == 0   ? a < b
           : strcmp(test, "le") == 0 ? a <= b
           : strcmp(test, "gt") == 0 ? a > b
           : strcmp(test, "ge") == 0 ? a >= b
           : strcmp(test, "eq") == 0 ? a == b
                                     : a != b;
}

static double run(const struct turning *loop, bool test_first)
{
    int64_t i = loop->start;
    double turns = 0;
    for (; turns < 1e6; turns++) {
        if (test_first && !holds(loop->test, i, loop->bound)) {
            return turns;
        }
        i += loop->step;
        if (!test_first && !holds(loop->test, i, loop->bound)) {
            return turns + 1;
        }
    }
    return NAN; /* wraps around at best */
}

START_TEST(turns_are_those_of_a_loop_that_is_run)
{
    static const char *const tests[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    struct random_stream random;
    random_init(&random, property_seed(), 1);
    unsigned known = 0;
    for (unsigned i = 0; i < property_cases(600); i++) {
        struct turning loop = {(int64_t)random_below(&random, 41) - 20, (int64_t)random_below(&random, 13) - 6,
                               (int64_t)random_below(&random, 201) - 100, tests[random_below(&random, 6)]};
        loop.step = loop.step == 0 ? 1 : loop.step;
        const bool first = random_below(&random, 2) == 0, leave = random_below(&random, 2) == 0;
        char body[400];
        const int start = (int)loop.start, step = (int)loop.step, bound = (int)loop.bound;
        if (first) {
            (void)snprintf(
                body, sizeof body,
                "mov.u32 %%r1, %d; L: setp.%s.s32 %%p1, %%r1, %d; @!%%p1 bra E; add.s32 %%r1, %%r1, %d; bra L; "
                "E: ret;",
                start, loop.test, bound, step);
        } else if (leave) {
            (void)snprintf(
                body, sizeof body,
                "mov.u32 %%r1, %d; L: add.s32 %%r1, %%r1, %d; setp.%s.s32 %%p1, %%r1, %d; @!%%p1 bra E; bra L; "
                "E: ret;",
                start, step, loop.test, bound);
        } else {
            (void)snprintf(
                body, sizeof body,
                "mov.u32 %%r1, %d; L: mov.u32 %%r2, %%r1; add.s32 %%r1, %%r2, %d; setp.%s.s32 %%p1, %%r1, %d; "
                "@%%p1 bra L; ret;",
                start, step, loop.test, bound);
        }
        struct code code;
        build(&code, body);
        const double expected = run(&loop, first), found = code.graph.loops[0].trip.turns;
        assert_property(code.graph.loop_count == 1, i, "%s", body);
        assert_property(found == expected || (isnan(found) && isnan(expected)), i, "%g, found %g in %s", expected,
                        found, body);
        known += isnan(found) ? 0 : 1;
        release(&code);
    }
    ck_assert_uint_gt(known, 0);
}
END_TEST

START_TEST(bounds_by_origin)
{
    struct code code;
    char text[200];
    build(&code, "ld.param.u32 %r1, [n]; mov.u32 %r2, 3; L: add.s32 %r2, %r2, 2; setp.ge.s32 %p1, %r2, %r1; "
                 "@!%p1 bra L; ret;");
    ck_assert_int_eq(code.graph.loops[0].trip.bound_kind, CODE_BOUND_PARAMETER);
    ck_assert_uint_eq(code.graph.loops[0].trip.parameter, 1);
    ck_assert_str_eq(code.graph.loops[0].trip.comparison, "lt");
    ck_assert_str_eq(code_trip_text(&code.graph.loops[0].trip, text, sizeof text), "(parameter 0 - 3) / 2 turns");
    release(&code);
    build(&code, "min.s32 %r1, %r8, %r9; L: add.s32 %r2, %r2, 64; setp.ne.s32 %p1, %r1, %r2; @%p1 bra L; ret;");
    ck_assert_int_eq(code.graph.loops[0].trip.bound_kind, CODE_BOUND_DERIVED);
    ck_assert_int_eq(code.graph.loops[0].trip.step, 64);
    ck_assert(!code.graph.loops[0].trip.start_known);
    release(&code);
    /* The bound changes; the counter is stepped behind a condition, or in an inner loop: nothing is claimed. */
    static const char *const unclear[] = {
        "L: add.s32 %r2, %r2, 1; add.s32 %r1, %r1, %r3; setp.lt.s32 %p1, %r2, %r1; @%p1 bra L; ret;",
        "L: @%p2 bra M; add.s32 %r2, %r2, 1; M: setp.lt.s32 %p1, %r2, 10; @%p1 bra L; ret;",
        "L: @%p2 add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, 10; @%p1 bra L; ret;",
        "L: add.s32 %r3, %r3, 1; M: add.s32 %r2, %r2, 1; @%p2 bra M; setp.lt.s32 %p1, %r2, 10; @%p1 bra L; ret;",
        "L: ld.global.u32 %r2, [%rd1]; setp.ne.s32 %p1, %r2, 0; @%p1 bra L; ret;",
    };
    for (size_t i = 0; i < sizeof unclear / sizeof *unclear; i++) {
        build(&code, unclear[i]);
        ck_assert_msg(code.graph.loops[0].trip.bound_kind == CODE_BOUND_UNKNOWN && code.graph.loops[0].trip.step == 0,
                      "%s", unclear[i]);
        ck_assert_str_eq(code_trip_text(&code.graph.loops[0].trip, text, sizeof text), "unknown");
        release(&code);
    }
}
END_TEST

START_TEST(unrolled_only_where_it_can_be_shown)
{
#define TURN "add.s64 %%rd1, %%rd1, %d; add.s32 %%r1, %%r1, %d; setp.lt.s32 %%p1, %%r1, 100; @%%p1 bra L; ret;"
    static const struct {
        const char *loads;
        int address_step, step;
        uint32_t unroll;
    } cases[] = {
        {"ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ", 8, 2, 2},
        {"ld.global.f32 %f1, [%rd1-4]; ld.global.f32 %f2, [%rd1]; ", 8, 1, 0},  /* pairs */
        {"ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ", 16, 2, 0}, /* two of four */
        {"ld.global.f32 %f1, [%rd1]; ", 4, 1, 0},
        {"ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ld.global.f32 %f3, [%rd1+12]; ", 12, 3, 0},
        {"ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+64]; ld.global.f32 %f3, [%rd1+128]; ", 192, 3, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char turn[300], body[600];
        struct code code;
        (void)snprintf(turn, sizeof turn, TURN, cases[i].address_step, cases[i].step);
        (void)snprintf(body, sizeof body, "mov.u32 %%r1, 0; L: %s %s", cases[i].loads, turn);
        build(&code, body);
        ck_assert_msg(code.graph.loops[0].trip.unroll == cases[i].unroll, "%s", body);
        release(&code);
    }
}
END_TEST

/* ---- growth ---------------------------------------------------------------------------------------------------- */
/* n loops inside each other; n conditional jumps over each other; a chain of diamonds; a list shared by n branches. */
static void grow_text(int shape, unsigned n, struct text_buffer *text)
{
    for (unsigned i = 0; i < n; i++) {
        switch (shape) {
        case 0:
            text_buffer_append_format(text, "L%u: add.s32 %%r%u, %%r%u, 1;\n", i, i % 50, i % 50);
            break;
        case 1:
            text_buffer_append_format(text, "L%u: @%%p1 bra L%u; add.s32 %%r1, %%r1, 1;\n", i, n - 1 - i);
            break;
        case 2:
            text_buffer_append_format(
                text, "L%u: @%%p1 bra R%u; mov.u32 %%r1, 1; bra J%u; R%u: mov.u32 %%r1, 2; J%u:\n", i, i, i, i, i);
            break;
        default:
            text_buffer_append_format(text, "L%u: brx.idx %%r1, T;\n", i);
            break;
        }
    }
    if (shape == 0) {
        for (unsigned i = n; i-- > 0;) {
            text_buffer_append_format(text, "@%%p1 bra L%u;\n", i);
        }
    } else if (shape > 2) {
        text_buffer_append(text, "T: .branchtargets ");
        for (unsigned i = 0; i < n; i++) {
            text_buffer_append_format(text, "%sL%u", i > 0 ? ", " : "", i);
        }
        text_buffer_append(text, ";\n");
    }
    text_buffer_append(text, "ret;\n");
}

START_TEST(work_grows_as_the_code)
{
    double per_instruction[3];
    static const unsigned sizes[] = {500, 4000, 32000};
    for (int s = 0; s < 3; s++) {
        struct text_buffer text = {0};
        struct code code;
        grow_text(_i, sizes[s], &text);
        build(&code, text.text);
        per_instruction[s] = (double)code.graph.steps / (double)code.file.entries[0].count;
        if (_i == 0) {
            ck_assert_uint_eq(code.graph.loop_count, sizes[s]);
            ck_assert_uint_eq(code.graph.loops[sizes[s] - 1].depth, sizes[s]);
        }
        release(&code);
        text_buffer_release(&text);
    }
    ck_assert_msg(per_instruction[2] < 2 * per_instruction[0] && per_instruction[2] < 40,
                  "steps per instruction: %g, %g, %g", per_instruction[0], per_instruction[1], per_instruction[2]);
}
END_TEST

Suite *suite_code_loops(void);
Suite *suite_code_loops(void)
{
    Suite *suite = suite_create("code_loops");
    TCase *graphs = tcase_create("graphs"), *turns = tcase_create("turns"), *growth = tcase_create("growth");
    tcase_set_timeout(graphs, 60);
    tcase_set_timeout(growth, 60);
    tcase_add_test(graphs, random_graphs_against_brute_force);
    tcase_add_test(graphs, no_loop);
    tcase_add_test(graphs, nested_loops);
    tcase_add_test(graphs, irreducible_flow_is_reported);
    tcase_add_test(graphs, indirect_branches);
    tcase_add_test(turns, turns_are_those_of_a_loop_that_is_run);
    tcase_add_test(turns, bounds_by_origin);
    tcase_add_test(turns, unrolled_only_where_it_can_be_shown);
    tcase_add_loop_test(growth, work_grows_as_the_code, 0, 4);
    suite_add_tcase(suite, graphs);
    suite_add_tcase(suite, turns);
    suite_add_tcase(suite, growth);
    return suite;
}
