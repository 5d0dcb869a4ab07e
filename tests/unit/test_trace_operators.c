/* SPDX-License-Identifier: GPL-3.0-or-later
 * Inputs of operators in traces: which launches they are told for, odd and hostile events, and many of them. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/profiles/trace_operators.h"
#include "tests/support/trace_texts.h"

#define LAUNCH_OF(name, arguments)                                                                                     \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": 7, \"ts\": 9, \"dur\": 2, "     \
    "\"args\": {\"grid\": [37, 1, 1], \"block\": [96, 1, 1], " arguments "}}"
#define OPERATOR(name, arguments)                                                                                      \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name "\", \"ts\": 1, \"dur\": 1, \"args\": {" arguments "}}"
#define MM                                                                                                             \
    OPERATOR("aten::mm",                                                                                               \
             "\"External id\": 5, \"Input type\": [\"float\", \"float\"],\n\"Input Dims\": [[7, 11],\n [11, 13]]")

static struct kernel_claim_list list;
static struct error last;

static void teardown(void)
{
    kernel_claim_list_release(&list);
}

/* Both ways must say the same; the quick one's claims stay. */
static void read_events(const char *events)
{
    struct text_buffer text = {0};
    text_buffer_append_format(&text, "[%s]", events);
    for (int parses_all = 1; parses_all >= 0; parses_all--) {
        char before[2][200] = {"", ""};
        for (size_t i = 0; i < list.count && i < 2; i++) {
            (void)snprintf(before[i], sizeof before[i], "%s", list.items[i].note);
        }
        const size_t count = list.count;
        kernel_claim_list_release(&list);
        ck_assert_msg(trace_text_read(text.text, text.length, parses_all != 0, &list, &last) == STATUS_OK, "%s: %s",
                      events, last.text);
        for (size_t i = 0; i < count && i < 2 && parses_all == 0; i++) {
            ck_assert_str_eq(before[i], list.items[i].note);
        }
    }
    text_buffer_release(&text);
}

START_TEST(inputs_of_the_operator_that_launched)
{
    read_events(MM "," OPERATOR("aten::sum",
                                "\"External id\": 6, \"Input Dims\": [[3]]") "," LAUNCH_OF("k", "\"External id\": 5"));
    ck_assert_uint_eq(list.count, 1);
    const struct claim_operator *operator= list.items[0].operator;
    ck_assert_ptr_nonnull(operator);
    ck_assert_str_eq(operator->name, "aten::mm");
    ck_assert_str_eq(operator->input_dims, "[[7,11],[11,13]]");
    ck_assert_str_eq(operator->input_types, "[\"float\",\"float\"]");
    ck_assert_str_eq(operator->concrete_inputs, "");
    ck_assert_uint_eq(operator->input_count, 2);
    ck_assert_uint_eq(operator->inputs[0].rank, 2);
    ck_assert_uint_eq(operator->inputs[1].sides[1], 13);
    ck_assert_ptr_nonnull(strstr(list.items[0].note, "called by aten::mm with inputs [[7,11],[11,13]]"));
}
END_TEST

/* What is not the same for all launches is not told, and said. */
START_TEST(only_where_all_launches_agree)
{
    static const char *const cases[] = {
        MM "," OPERATOR("aten::mm", "\"External id\": 6, \"Input Dims\": [[7, 12], [12, 13]]") "," LAUNCH_OF(
            "k", "\"External id\": 5") "," LAUNCH_OF("k", "\"External id\": 6"),
        MM "," LAUNCH_OF("k", "\"External id\": 5") "," LAUNCH_OF("k", "\"External id\": 8"),
        LAUNCH_OF("k", "\"External id\": 5") "," MM "," LAUNCH_OF("k", "\"External id\": 5"), /* before its operator */
        MM "," LAUNCH_OF("k", "\"External id\": 5") "," LAUNCH_OF("k", "\"External id\": 5, \"graph node id\": 3")};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        read_events(cases[i]);
        ck_assert_uint_eq(list.count, 1);
        ck_assert_ptr_null(list.items[0].operator);
        ck_assert_msg(strstr(list.items[0].note, "called with different inputs") != NULL, "%zu", i);
    }
    /* the same call twice, or two calls alike: told */
    read_events(MM "," OPERATOR(
        "aten::mm",
        "\"External id\": 6, \"Input type\": [\"float\", \"float\"],\n\"Input Dims\": "
        "[[7, 11],\n [11, 13]]") "," LAUNCH_OF("k", "\"External id\": 5") "," LAUNCH_OF("k", "\"External Id\": 6"));
    ck_assert_ptr_nonnull(list.items[0].operator);
}
END_TEST

/* Nothing is told, and the launch is read all the same. */
START_TEST(odd_operators)
{
    static const char *const odd[] = {
        OPERATOR("aten::mm", "\"External id\": 5, \"Input Dims\": 3"),
        OPERATOR("aten::mm", "\"External id\": 5, \"Input Dims\": [3]"),
        OPERATOR("aten::mm", "\"External id\": 5, \"Input Dims\": [[-3]]"),
        OPERATOR("aten::mm", "\"External id\": 5, \"Input Dims\": [[1e999]]"),
        OPERATOR("aten::mm", "\"External id\": 5, \"Input Dims\": [\"x\"]"),
        OPERATOR("aten::mm", "\"External id\": \"5\", \"Input Dims\": [[3]]"),
        OPERATOR("aten::mm", "\"External id\": 99999999999999999999, \"Input Dims\": [[3]]"),
        OPERATOR("aten::mm", "\"Input Dims\": [[3]]"),
        OPERATOR("aten::mm", "\"External id\": 5, \"Input Dims\": [[3]], \"Input Dims\": [[4]]"),
        OPERATOR("a\\u0000b", "\"External id\": 5, \"Input Dims\": [[3]]"),
        OPERATOR("aten::mm", "\"External id\": 5, \"Input Dims\": [[3]}"),
        "{\"cat\": \"cpu_op\", \"name\": [\"Input Dims\"], \"args\": 3}",
        "{\"cat\": \"cpu_op\", \"name\": \"Input Dims\", \"args\": [\"Input Dims\"]}",
        MM "," OPERATOR("aten::add", "\"External id\": 5, \"Input Dims\": [[3]]")}; /* two have the id */
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        char events[1024];
        (void)snprintf(events, sizeof events, "%s,%s", odd[i], LAUNCH_OF("k", "\"External id\": 5"));
        read_events(events);
        ck_assert_msg(list.count == 1 && list.items[0].operator== NULL, "%s", odd[i]);
    }
}
END_TEST

START_TEST(tensors_in_lists_and_of_many_sides)
{
    read_events(OPERATOR(
        "aten::cat",
        "\"External id\": 5, \"Input Dims\": [[[4, 8], [4, 9]], [], [1,2,3,4,5,6,7,8,9]]") "," LAUNCH_OF("k",
                                                                                                         "\"External "
                                                                                                         "id\": 5"));
    const struct claim_operator *operator= list.items[0].operator;
    ck_assert_uint_eq(operator->input_count, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(operator->inputs[i].rank, 0);
    }
}
END_TEST

/* Tables that grow, each id found again. */
START_TEST(many_calls)
{
    struct trace_operators operators = {0};
    char event[200];
    for (int i = 1; i <= 5000; i++) {
        int length = snprintf(event, sizeof event,
                              "{\"name\": \"f%d\", \"args\": {\"External id\": %d, \"Input Dims\": [[%d]]}}", i % 777,
                              3 * i, i % 777);
        ck_assert(trace_operators_note(&operators, event, (size_t)length, &last) == STATUS_OK);
    }
    ck_assert_uint_eq(operators.count, 777);
    ck_assert_uint_eq(operators.call_count, 5000);
    ck_assert_uint_eq(trace_operators_find(&operators, 3), trace_operators_find(&operators, 3 * 778));
    ck_assert_uint_eq(trace_operators_find(&operators, 4), TRACE_OPERATOR_NONE);
    for (int i = 1; i <= 5000; i++) {
        ck_assert_uint_ne(trace_operators_find(&operators, 3 * i), TRACE_OPERATOR_NONE);
    }
    struct text_buffer large = {0};
    text_buffer_append(&large, "{\"name\": \"g\", \"args\": {\"External id\": 4, \"Input Dims\": [");
    for (int i = 0; i < TRACE_OPERATOR_BYTES_MAX / 4; i++) {
        text_buffer_append(&large, i > 0 ? ",[12]" : "[12]");
    }
    text_buffer_append(&large, "]}}");
    ck_assert(trace_operators_note(&operators, large.text, large.length, &last) == STATUS_OK);
    ck_assert_uint_eq(operators.left_out, 1);
    ck_assert_uint_eq(trace_operators_find(&operators, 4), TRACE_OPERATOR_NONE);
    text_buffer_release(&large);
    trace_operators_release(&operators);
}
END_TEST

/* Control characters of a name reach no terminal, and launches of such a name are still alike. */
START_TEST(control_characters_of_names)
{
    read_events(LAUNCH_OF("a\\n\\u001b[31m\\u009b\xc3\xa9",
                          "\"device\": 0") "," LAUNCH_OF("a\\n\\u001b[31m\\u009b\xc3\xa9", "\"device\": 0"));
    ck_assert_uint_eq(list.count, 1);
    ck_assert(kernel_claim_list_clean(&list, 0, &last) == STATUS_OK);
    ck_assert_str_eq(list.items[0].name, "a??[31m?\xc3\xa9");
    ck_assert_uint_eq(list.items[0].time.count, 2);
}
END_TEST

Suite *suite_trace_operators(void)
{
    Suite *suite = suite_create("trace_operators");
    TCase *operators = tcase_create("operators");
    tcase_add_checked_fixture(operators, NULL, teardown);
    tcase_add_test(operators, inputs_of_the_operator_that_launched);
    tcase_add_test(operators, only_where_all_launches_agree);
    tcase_add_test(operators, odd_operators);
    tcase_add_test(operators, tensors_in_lists_and_of_many_sides);
    tcase_add_test(operators, many_calls);
    tcase_add_test(operators, control_characters_of_names);
    suite_add_tcase(suite, operators);
    return suite;
}
