/* SPDX-License-Identifier: GPL-3.0-or-later
 * Triton's JSON of several versions, what else ends in .json, and the figures that all sources of one kernel share. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/code/triton_entry.h"

Suite *suite_triton_entry(void);

struct read_entry {
    struct compiled_kernel_list list;
    enum triton_json_kind kind;
    struct triton_entry entry;
    struct error error;
};

static enum status read_text(const char *text, struct read_entry *out)
{
    *out = (struct read_entry){0};
    return triton_entry_parse(text, strlen(text), "k.json", &out->list, &out->kind, &out->entry, &out->error);
}

static uint64_t exact(const struct read_entry *out, enum compiled_figure figure)
{
    ck_assert_uint_eq(out->list.count, 1);
    ck_assert_int_eq(out->list.items[0].figures[figure].state, FIGURE_EXACT);
    return out->list.items[0].figures[figure].value;
}

START_TEST(spellings_of_target_and_arch)
{
    static const struct {
        const char *json;
        uint32_t arch;
        char suffix;
    } cases[] = {
        {"{\"name\":\"k\",\"shared\":1,\"num_warps\":4}", 0, 0},                                 /* 2.0, 2.1 */
        {"{\"name\":\"k\",\"shared\":1,\"num_warps\":4,\"target\":[\"cuda\",80]}", 80, 0},       /* 2.x */
        {"{\"shared\":1,\"num_warps\":4,\"target\":{\"backend\":\"cuda\",\"arch\":90}}", 90, 0}, /* 3.0 */
        {"{\"shared\":1,\"num_warps\":4,\"target\":\"cuda:86\"}", 86, 0},                        /* ttgir's form */
        {"{\"shared\":1,\"num_warps\":4,\"target\":{\"arch\":121},\"arch\":\"sm121\"}", 121, 0}, /* 3.6 */
        {"{\"shared\":1,\"num_warps\":4,\"target\":{\"arch\":90},\"arch\":\"sm_90a\"}", 90, 'a'},
        {"{\"shared\":1,\"num_warps\":4,\"target\":null,\"arch\":null}", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct read_entry out;
        ck_assert_msg(read_text(cases[i].json, &out) == STATUS_OK, "%s: %s", cases[i].json, out.error.text);
        ck_assert_int_eq(out.kind, TRITON_JSON_KERNEL);
        ck_assert_uint_eq(out.list.items[0].arch, cases[i].arch);
        ck_assert_int_eq(out.list.items[0].arch_suffix, cases[i].suffix);
        ck_assert_uint_eq(exact(&out, COMPILED_THREADS), 128);
        compiled_kernel_list_release(&out.list);
    }
}
END_TEST

START_TEST(spellings_of_the_cluster)
{
    static const struct {
        const char *rest;
        uint64_t cluster; /* 0: unknown */
    } cases[] = {{"\"num_ctas\":1,\"cluster_dims\":[2,2,1]", 4},
                 {"\"clusterDims\":[1,1,1]", 1},
                 {"\"num_ctas\":2,\"cluster_dims\":[1,1,1]", 2},
                 {"\"num_ctas\":2,\"ctas_per_cga\":null", 2},
                 {"\"ctas_per_cga\":[2,1,1],\"num_ctas\":1", 2},
                 {"\"num_ctas\":1", 1},
                 {"\"num_stages\":3", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char json[256];
        (void)snprintf(json, sizeof json, "{\"shared\":0,\"num_warps\":8,%s}", cases[i].rest);
        struct read_entry out;
        ck_assert_msg(read_text(json, &out) == STATUS_OK, "%s: %s", json, out.error.text);
        const struct code_figure *figure = &out.list.items[0].figures[COMPILED_CLUSTER];
        ck_assert_int_eq(figure->state == FIGURE_EXACT, cases[i].cluster > 0);
        ck_assert_uint_eq(figure->value, cases[i].cluster);
        compiled_kernel_list_release(&out.list);
    }
}
END_TEST

START_TEST(other_json_files_of_a_cache)
{
    struct read_entry out;
    ck_assert_int_eq(read_text("{\"child_paths\": {\"k.json\": \"/gone/k.json\"}}", &out), STATUS_OK);
    ck_assert_int_eq(out.kind, TRITON_JSON_GROUP);
    ck_assert_int_eq(read_text("{\"child_paths\": [\"k.json\"]}", &out), STATUS_OK);
    ck_assert_int_eq(out.kind, TRITON_JSON_GROUP);
    ck_assert_int_eq(
        read_text("{\"key\":[\"a \\\"Infinity\"],\"configs_timings\":[[{},[Infinity,-Infinity,NaN]]]}", &out),
        STATUS_OK);
    ck_assert_int_eq(out.kind, TRITON_JSON_AUTOTUNE);
    ck_assert_int_eq(read_text("{\"XBLOCK\": 64, \"num_warps\": 4}", &out), STATUS_OK);
    ck_assert_int_eq(out.kind, TRITON_JSON_OTHER);
    ck_assert_uint_eq(out.list.count, 0);
}
END_TEST

START_TEST(other_backends_are_marked)
{
    struct read_entry out;
    ck_assert_int_eq(read_text("{\"name\":\"k\",\"shared\":0,\"num_warps\":4,"
                               "\"target\":{\"backend\":\"hip\",\"arch\":\"gfx942\",\"warp_size\":64}}",
                               &out),
                     STATUS_OK);
    ck_assert(out.entry.is_other_backend);
    ck_assert_uint_eq(out.list.items[0].arch, 0);
    ck_assert_uint_eq(exact(&out, COMPILED_THREADS), 256);
    ck_assert_ptr_nonnull(strstr(out.list.items[0].note, "hip"));
    compiled_kernel_list_release(&out.list);
}
END_TEST

START_TEST(wrong_json)
{
    static const char *const wrong[] = {"",
                                        "[]",
                                        "{",
                                        "3",
                                        "{\"shared\":1,\"shared\":2,\"num_warps\":4}",
                                        "{\"shared\":-1,\"num_warps\":4}",
                                        "{\"shared\":1.5,\"num_warps\":4}",
                                        "{\"shared\":\"1\",\"num_warps\":4}",
                                        "{\"shared\":1,\"num_warps\":0}",
                                        "{\"shared\":99999999999,\"num_warps\":4}",
                                        "{\"shared\":1,\"num_warps\":4,\"cluster_dims\":[0,1,1]}",
                                        "{\"shared\":1,\"num_warps\":4,\"cluster_dims\":\"2\"}",
                                        "{\"shared\":Infinity,\"num_warps\":4"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct read_entry out;
        ck_assert_msg(read_text(wrong[i], &out) == STATUS_BAD_DATA, "%s", wrong[i]);
        ck_assert_str_ne(out.error.text, "");
        ck_assert_uint_eq(out.list.count, 0);
        compiled_kernel_list_release(&out.list);
    }
    /* As deep as it likes: refused, not followed. */
    struct text_buffer deep = {0};
    for (int i = 0; i < 100000; i++) {
        text_buffer_append(&deep, "{\"a\":");
    }
    struct read_entry out;
    ck_assert_int_eq(read_text(deep.text, &out), STATUS_BAD_DATA);
    text_buffer_release(&deep);
}
END_TEST

Suite *suite_triton_entry(void)
{
    Suite *suite = suite_create("triton_entry");
    TCase *entries = tcase_create("entries");
    tcase_add_test(entries, spellings_of_target_and_arch);
    tcase_add_test(entries, spellings_of_the_cluster);
    tcase_add_test(entries, other_json_files_of_a_cache);
    tcase_add_test(entries, other_backends_are_marked);
    tcase_add_test(entries, wrong_json);
    suite_add_tcase(suite, entries);
    return suite;
}
