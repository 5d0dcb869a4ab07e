/* SPDX-License-Identifier: GPL-3.0-or-later
 * Shared-memory rules against every recorded compiler output and the published cases. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "model/predict/smem_rule.h"

enum {
    CSV_LIMIT_BYTES = 1 << 20
};

static void read_table(const char *path, struct csv_table *table)
{
    struct error error = {0};
    ck_assert_msg(csv_read(path, CSV_LIMIT_BYTES, table, &error) == STATUS_OK, "%s: %s", path, error.text);
}

static const char *cell(const struct csv_table *table, size_t row, const char *column)
{
    long index = csv_column(table, column);
    ck_assert_msg(index >= 0, "no column %s", column);
    return table->cells[row * table->column_count + (size_t)index];
}

/* 0 for an empty cell: what a rule does not use is not given. */
static uint32_t number(const struct csv_table *table, size_t row, const char *column)
{
    char *end = NULL;
    unsigned long value = strtoul(cell(table, row, column), &end, 10);
    ck_assert_msg(*end == '\0' && value <= UINT32_MAX, "line %u, %s", table->lines[row], column);
    return (uint32_t)value;
}

static struct smem_rule_result apply(const char *rule, const struct smem_rule_input *input)
{
    struct smem_rule_result result;
    struct error error = {0};
    ck_assert_msg(smem_rule_apply(rule, input, &result, &error) == STATUS_OK, "%s: %s", rule, error.text);
    return result;
}

/* How a rule stands on a set of rows. */
struct tally {
    unsigned exact, bounded, unknown;
    uint64_t largest_excess_bytes;
};

/* An exact answer must be equal; a lower bound must not be above the compiler, nor the slack below its excess. */
static void judge(const struct csv_table *table, size_t row, struct smem_rule_result result, uint64_t recorded,
                  struct tally *tally)
{
    switch (result.quality) {
    case SMEM_RULE_EXACT:
        ck_assert_msg(result.smem_bytes == recorded, "%s line %u: %llu, the compiler says %llu", table->file,
                      table->lines[row], (unsigned long long)result.smem_bytes, (unsigned long long)recorded);
        tally->exact++;
        break;
    case SMEM_RULE_LOWER_BOUND:
        ck_assert_msg(result.smem_bytes <= recorded && recorded - result.smem_bytes <= result.slack_bytes,
                      "%s line %u: %llu to %llu, the compiler says %llu", table->file, table->lines[row],
                      (unsigned long long)result.smem_bytes,
                      (unsigned long long)(result.smem_bytes + result.slack_bytes), (unsigned long long)recorded);
        tally->bounded++;
        if (recorded - result.smem_bytes > tally->largest_excess_bytes)
            tally->largest_excess_bytes = recorded - result.smem_bytes;
        break;
    case SMEM_RULE_UNKNOWN:
        tally->unknown++;
        break;
    }
}

static void print_tally(const char *source, const char *kernel, uint32_t cc, const struct tally *tally)
{
    printf("smem_rule: %s %s cc %u.%u: %u exact, %u bounded (largest excess %llu B), %u unexplained\n", source, kernel,
           cc / 10, cc % 10, tally->exact, tally->bounded, (unsigned long long)tally->largest_excess_bytes,
           tally->unknown);
}

static struct smem_rule_input input_of_resources(const struct csv_table *table, size_t row, bool attention)
{
    uint32_t cc = number(table, row, "compute_capability");
    /* The attention kernel of this file: 16 (padded) query heads, head dim 128, bf16. */
    return (struct smem_rule_input){.cc_major = cc / 10,
                                    .cc_minor = cc % 10,
                                    .block_m = attention ? 16 : number(table, row, "BM"),
                                    .block_n = number(table, row, "BN"),
                                    .block_k = number(table, row, "BK"),
                                    .head_dim = attention ? 128 : 0,
                                    .element_bytes_a = 2,
                                    .element_bytes_b = 2,
                                    .element_bytes_out = 2,
                                    .num_warps = number(table, row, "num_warps"),
                                    .num_stages = number(table, row, "num_stages")};
}

START_TEST(equals_the_recorded_resources)
{
    static const struct {
        const char *kernel, *rule;
        uint32_t cc;
        unsigned rows;
    } groups[] = {
        {"matmul", "triton-gemm", 80, 181},  {"matmul", "triton-gemm", 90, 206},  {"matmul", "triton-gemm", 120, 167},
        {"gqa", "triton-attention", 80, 24}, {"gqa", "triton-attention", 90, 33}, {"gqa", "triton-attention", 120, 32},
    };
    struct csv_table table;
    read_table("tests/recorded/triton36_resources.csv", &table);
    ck_assert_uint_eq(table.row_count, 699);
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        struct tally tally = {0};
        for (size_t row = 0; row < table.row_count; row++) {
            if (strcmp(cell(&table, row, "kernel"), groups[g].kernel) != 0 ||
                number(&table, row, "compute_capability") != groups[g].cc)
                continue;
            struct smem_rule_input input = input_of_resources(&table, row, strcmp(groups[g].kernel, "gqa") == 0);
            judge(&table, row, apply(groups[g].rule, &input), number(&table, row, "dynamic_smem_bytes"), &tally);
        }
        print_tally("resources", groups[g].kernel, groups[g].cc, &tally);
        ck_assert_uint_eq(tally.exact, groups[g].rows);
        ck_assert_uint_eq(tally.bounded + tally.unknown, 0);
    }
    csv_table_release(&table);
    printf("skipped: smem_rule: 56 rows of kernel sparse: its index and scale buffers have no rule\n");
}
END_TEST

/* The two simple wgmma bounds on the same rows: S tiles is never above the compiler. */
START_TEST(wgmma_bound_holds_on_recorded_resources)
{
    struct csv_table table;
    read_table("tests/recorded/triton36_resources.csv", &table);
    struct tally tally = {0};
    for (size_t row = 0; row < table.row_count; row++) {
        if (strcmp(cell(&table, row, "kernel"), "matmul") != 0 || number(&table, row, "compute_capability") != 90 ||
            number(&table, row, "BM") < 64)
            continue;
        struct smem_rule_input input = input_of_resources(&table, row, false);
        judge(&table, row, apply("hopper-wgmma-gemm", &input), number(&table, row, "dynamic_smem_bytes"), &tally);
    }
    csv_table_release(&table);
    ck_assert_uint_gt(tally.bounded, 150);
    ck_assert_uint_eq(tally.largest_excess_bytes, 16384);
}
END_TEST

START_TEST(holds_on_our_own_compilations)
{
    static const uint32_t capabilities[] = {80, 86, 87, 89, 90, 120, 121};
    struct csv_table table;
    read_table("tests/recorded/triton36_smem.csv", &table);
    unsigned judged = 0;
    for (int attention = 0; attention <= 1; attention++)
        for (size_t c = 0; c < sizeof capabilities / sizeof capabilities[0]; c++) {
            struct tally tally = {0};
            for (size_t row = 0; row < table.row_count; row++) {
                uint32_t cc = number(&table, row, "compute_capability");
                if (cc != capabilities[c] ||
                    (strcmp(cell(&table, row, "kernel"), "attention") == 0) != (attention == 1))
                    continue;
                struct smem_rule_input input = {.cc_major = cc / 10,
                                                .cc_minor = cc % 10,
                                                .block_m = number(&table, row, "block_m"),
                                                .block_n = number(&table, row, "block_n"),
                                                .block_k = number(&table, row, "block_k"),
                                                .head_dim = number(&table, row, "head_dim"),
                                                .element_bytes_a = number(&table, row, "element_bytes"),
                                                .element_bytes_b = number(&table, row, "element_bytes"),
                                                .element_bytes_out = number(&table, row, "element_bytes_out"),
                                                .num_warps = number(&table, row, "num_warps"),
                                                .num_stages = number(&table, row, "num_stages")};
                judge(&table, row, apply(attention == 1 ? "triton-attention" : "triton-gemm", &input),
                      number(&table, row, "smem_bytes"), &tally);
            }
            judged += tally.exact + tally.bounded;
            ck_assert_uint_eq(tally.unknown, 0);
            if (tally.exact + tally.bounded > 0)
                print_tally("compiled", attention == 1 ? "attention" : "gemm", capabilities[c], &tally);
        }
    ck_assert_uint_eq(judged, table.row_count);
    csv_table_release(&table);
}
END_TEST

/* "16*256*4+3*32" */
static uint64_t sum_of_products(const char *text)
{
    uint64_t sum = 0;
    while (*text != '\0') {
        uint64_t product = 1;
        do {
            char *end = NULL;
            product *= strtoull(text, &end, 10);
            ck_assert_ptr_ne(end, text);
            text = end;
        } while (*text == '*' && *text++ != '\0');
        sum += product;
        if (*text == '+')
            text++;
    }
    return sum;
}

START_TEST(equals_the_published_cases)
{
    struct csv_table table;
    read_table("tests/anchors/public_smem.csv", &table);
    ck_assert_uint_eq(table.row_count, 11);
    unsigned derived = 0;
    for (size_t row = 0; row < table.row_count; row++) {
        uint64_t expected = number(&table, row, "smem_bytes");
        derived += strcmp(cell(&table, row, "evidence"), "derived") == 0;
        if (strcmp(cell(&table, row, "rule"), "terms") == 0) {
            ck_assert_uint_eq(sum_of_products(cell(&table, row, "terms")), expected);
            continue;
        }
        struct smem_rule_input input = {.cc_major = number(&table, row, "device_major"),
                                        .cc_minor = number(&table, row, "device_minor"),
                                        .block_m = number(&table, row, "block_m"),
                                        .block_n = number(&table, row, "block_n"),
                                        .block_k = number(&table, row, "block_k"),
                                        .element_bytes_a = number(&table, row, "element_bytes_a"),
                                        .element_bytes_b = number(&table, row, "element_bytes_b"),
                                        .element_bytes_out = 2,
                                        .num_warps = 8,
                                        .num_stages = number(&table, row, "num_stages")};
        struct smem_rule_result result = apply(cell(&table, row, "rule"), &input);
        if (strcmp(cell(&table, row, "relation"), "equal") == 0)
            ck_assert_uint_eq(result.smem_bytes, expected);
        else
            ck_assert(result.quality == SMEM_RULE_LOWER_BOUND && result.smem_bytes == 262144 &&
                      result.smem_bytes + result.slack_bytes == expected);
    }
    csv_table_release(&table);
    printf("smem_rule: %u published rows are derived: only their arithmetic is asserted\n", derived);
}
END_TEST

START_TEST(persistent_kernel_adds_result_and_barriers)
{
    struct smem_rule_input input = {.cc_major = 9,
                                    .block_m = 128,
                                    .block_n = 256,
                                    .block_k = 64,
                                    .element_bytes_a = 2,
                                    .element_bytes_b = 2,
                                    .element_bytes_out = 4,
                                    .num_warps = 8,
                                    .num_stages = 3};
    ck_assert_uint_eq(apply("hopper-wgmma-persistent", &input).smem_bytes,
                      3 * (128 + 256) * 64 * 2 + 128 * 256 * 4 + 24);
    ck_assert_uint_eq(apply("hopper-wgmma-gemm", &input).smem_bytes, 3 * (128 + 256) * 64 * 2);
    input.cc_major = 8;
    ck_assert_int_eq(apply("hopper-wgmma-persistent", &input).quality, SMEM_RULE_UNKNOWN);
    ck_assert_uint_eq(apply("triton20-gemm", &input).smem_bytes, 3 * (128 + 256) * 64 * 2);
    ck_assert_uint_eq(apply("triton20-gemm", &input).buffers, 3);
    input.cc_minor = 6;
    ck_assert_int_eq(apply("triton20-gemm", &input).quality, SMEM_RULE_UNKNOWN);
}
END_TEST

START_TEST(says_where_there_is_no_rule)
{
    static const uint32_t without[][2] = {{7, 0}, {7, 5}, {10, 0}, {10, 3}, {11, 0}};
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        struct smem_rule_input input = {.cc_major = without[i][0],
                                        .cc_minor = without[i][1],
                                        .block_m = 64,
                                        .block_n = 64,
                                        .block_k = 32,
                                        .head_dim = 128,
                                        .element_bytes_a = 2,
                                        .element_bytes_b = 2,
                                        .element_bytes_out = 2,
                                        .num_warps = 4,
                                        .num_stages = 3};
        struct smem_rule_result result = apply("triton-gemm", &input);
        ck_assert_int_eq(result.quality, SMEM_RULE_UNKNOWN);
        ck_assert_uint_eq(result.smem_bytes, 0);
        ck_assert_int_eq(apply("triton-attention", &input).quality, SMEM_RULE_UNKNOWN);
    }
}
END_TEST

START_TEST(refuses_what_it_is_not_defined_on)
{
    const struct smem_rule_input good = {.cc_major = 9,
                                         .block_m = 64,
                                         .block_n = 64,
                                         .block_k = 32,
                                         .head_dim = 128,
                                         .element_bytes_a = 2,
                                         .element_bytes_b = 2,
                                         .element_bytes_out = 2,
                                         .num_warps = 4,
                                         .num_stages = 3};
    struct smem_rule_input bad[9];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        bad[i] = good;
    bad[0].block_m = 48;
    bad[1].block_n = 0;
    bad[2].block_k = 4;
    bad[3].element_bytes_a = 3;
    bad[4].element_bytes_b = 1;
    bad[5].element_bytes_out = 0;
    bad[6].num_warps = 6;
    bad[7].num_stages = 0;
    bad[8].block_m = 1u << 20;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct smem_rule_result result;
        struct error error = {0};
        ck_assert_int_eq(smem_rule_apply("triton-gemm", &bad[i], &result, &error), STATUS_DOMAIN);
        ck_assert_uint_gt(strlen(error.text), 20);
    }
    struct smem_rule_result result;
    struct error error = {0};
    ck_assert_int_eq(smem_rule_apply("triton", &good, &result, &error), STATUS_NOT_FOUND);
    unsigned count = 0;
    for (; smem_rule_name(count) != NULL; count++) {
        ck_assert_ptr_nonnull(strstr(error.text, smem_rule_name(count)));
        ck_assert_uint_gt(strlen(smem_rule_summary(count)), 20);
    }
    ck_assert_uint_eq(count, 5);
    ck_assert_ptr_null(smem_rule_summary(count));
    struct smem_rule_input short_tile = good;
    short_tile.block_m = 32;
    ck_assert_int_eq(smem_rule_apply("hopper-wgmma-gemm", &short_tile, &result, &error), STATUS_DOMAIN);
}
END_TEST

START_TEST(counts_buffers)
{
    ck_assert_uint_eq(triton_buffers(12, 1, false), 1);
    ck_assert_uint_eq(triton_buffers(12, 2, false), 1); /* a second stage buys no buffer */
    ck_assert_uint_eq(triton_buffers(12, 5, false), 4);
    ck_assert_uint_eq(triton_buffers(9, 5, true), 5);
    ck_assert_uint_eq(triton_buffers(9, 1, true), 1);
    ck_assert_uint_eq(triton_buffers(9, 5, false), 4);
}
END_TEST

/* Public cases P11 (fused FFN, RTX 4090) and P17 (meta-pytorch/MSLK#517). */
START_TEST(answers_register_and_pipeline_questions)
{
    ck_assert_uint_eq(accumulator_registers_per_thread(128, 512, 4, 256), 256);
    ck_assert_uint_eq(accumulator_registers_per_thread(64, 512, 4, 256), 128);
    ck_assert_uint_eq(accumulator_registers_per_thread(16, 8, 2, 96), 1);
    ck_assert(pipeline_can_fill(512 / 128.0, 5));
    ck_assert(!pipeline_can_fill(512 / 128.0, 6));
    ck_assert(pipeline_can_fill(513 / 128.0, 6));
}
END_TEST

Suite *suite_smem_rule(void);
Suite *suite_smem_rule(void)
{
    Suite *suite = suite_create("smem_rule");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, equals_the_recorded_resources);
    tcase_add_test(tcase, wgmma_bound_holds_on_recorded_resources);
    tcase_add_test(tcase, holds_on_our_own_compilations);
    tcase_add_test(tcase, equals_the_published_cases);
    tcase_add_test(tcase, persistent_kernel_adds_result_and_barriers);
    tcase_add_test(tcase, says_where_there_is_no_rule);
    tcase_add_test(tcase, refuses_what_it_is_not_defined_on);
    tcase_add_test(tcase, counts_buffers);
    tcase_add_test(tcase, answers_register_and_pipeline_questions);
    suite_add_tcase(suite, tcase);
    return suite;
}
