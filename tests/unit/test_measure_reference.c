/* SPDX-License-Identifier: GPL-3.0-or-later
 * The float64 references of the kernels against cases worked by hand, the number formats, and the random inputs. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel_cases.h"
#include "tests/support/assert_close.h"

Suite *suite_measure_reference(void);

#define TOL_BFLOAT16 (1.0 / 256.0) /* half a unit in the last of 8 significant bits */

struct fixture {
    struct measure_config config;
    struct measure_facts facts;
    struct kernel_plan plan;
    void *buffers[KERNEL_BUFFERS_MAX];
};

/* Plans a configuration and allocates zeroed buffers. */
static void fixture_init(struct fixture *fixture, const char *text)
{
    struct error error = {0};
    memset(fixture, 0, sizeof *fixture);
    ck_assert_msg(measure_config_parse(text, &fixture->config, &error) == STATUS_OK, "%s", error.text);
    fixture->facts = (struct measure_facts){.cc_major = 9, .sm_count = 3, .l2_bytes = 1};
    for (size_t i = 0; kernel_case_definitions[i]; i++)
        if (&kernel_case_definitions[i]->kernel == fixture->config.kernel)
            fixture->plan.definition = kernel_case_definitions[i];
    fixture->plan.config = &fixture->config;
    fixture->plan.facts = &fixture->facts;
    ck_assert_msg(fixture->plan.definition->plan(&fixture->plan, &error) == STATUS_OK, "%s", error.text);
    for (uint32_t i = 0; i < fixture->plan.buffer_count; i++)
        fixture->buffers[i] = calloc(1, fixture->plan.buffers[i].bytes);
}

static void fixture_release(struct fixture *fixture)
{
    for (uint32_t i = 0; i < fixture->plan.buffer_count; i++)
        free(fixture->buffers[i]);
}

START_TEST(number_formats)
{
    ck_assert_double_eq(e4m3_to_double(0x38), 1.0);    /* exponent 7 is 2^0 */
    ck_assert_double_eq(e4m3_to_double(0x7e), 448.0);  /* the largest */
    ck_assert_double_eq(e4m3_to_double(0x01), 0x1p-9); /* the smallest */
    ck_assert_double_eq(e4m3_to_double(0xbc), -1.5);
    ck_assert(isnan(e4m3_to_double(0x7f)) && isnan(e4m3_to_double(0xff)));
    ck_assert_double_eq(bfloat16_to_double(0x3f80), 1.0);
    ck_assert_double_eq(bfloat16_to_double(0xc049), -3.140625);
    ck_assert_uint_eq(bfloat16_from_double(1.0 + 1.0 / 256.0), 0x3f80); /* a tie goes to even */
    ck_assert_uint_eq(bfloat16_from_double(1.0 + 3.0 / 256.0), 0x3f82);
    ck_assert_uint_eq(bfloat16_from_double(-3.14), 0xc049);
}
END_TEST

START_TEST(gathered_rows_are_distinct_and_in_their_pool)
{
    enum {
        GROUPS = 5,
        COUNT = 100,
        POOL = 256
    };
    int32_t index[GROUPS * COUNT];
    struct fill_rule rule = {FILL_FORMAT_GATHER, 42, COUNT, POOL};
    fill_host(&rule, index, sizeof index);
    bool in_order = true;
    for (int group = 0; group < GROUPS; group++) {
        bool seen[POOL] = {false};
        for (int i = 0; i < COUNT; i++) {
            int row = index[group * COUNT + i] - group * POOL;
            ck_assert_msg(row >= 0 && row < POOL && !seen[row], "group %d entry %d is row %d", group, i, row);
            seen[row] = true;
            in_order = in_order && (i == 0 || index[group * COUNT + i] > index[group * COUNT + i - 1]);
        }
    }
    ck_assert(!in_order);
}
END_TEST

START_TEST(a_chain_is_one_cycle)
{
    enum {
        LINKS = 512,
        WORDS = 32
    };
    static uint32_t chain[LINKS * WORDS];
    struct fill_rule rule = {FILL_FORMAT_CHAIN, 0, LINKS, WORDS};
    fill_host(&rule, chain, sizeof chain);
    uint32_t at = 0;
    for (int i = 1; i < LINKS; i++) {
        at = chain[at];
        ck_assert_uint_ne(at, 0);
        ck_assert_uint_eq(at % WORDS, 0);
    }
    ck_assert_uint_eq(chain[at], 0);
}
END_TEST

START_TEST(kv_rows_are_finite)
{
    uint8_t rows[3 * KV_ROW_BYTES];
    struct fill_rule rule = {FILL_FORMAT_KV_ROW, 9, 0, 0};
    fill_host(&rule, rows, sizeof rows);
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < KV_ROW_E4M3; i++)
            ck_assert(isfinite(e4m3_to_double(rows[row * KV_ROW_BYTES + i])));
        for (int i = 0; i < 7; i++) {
            int scale = rows[row * KV_ROW_BYTES + KV_ROW_SCALES_OFFSET + i];
            ck_assert_msg(scale >= 121 && scale <= 126, "scale %d", scale);
        }
    }
    ck_assert_int_ne(memcmp(rows, rows + KV_ROW_BYTES, KV_ROW_BYTES), 0);
}
END_TEST

/* A row of ones (e4m3 0x38) with scale 2^1 in its second group of 64, and 0.5 in the bf16 part. */
static void write_row(uint8_t *row, uint8_t e4m3, uint8_t second_scale)
{
    memset(row, e4m3, KV_ROW_E4M3);
    for (int i = 0; i < KV_ROW_BFLOAT16; i++) {
        row[KV_ROW_E4M3 + 2 * i] = 0x00;
        row[KV_ROW_E4M3 + 2 * i + 1] = 0x3f; /* 0x3f00 = 0.5 */
    }
    memset(row + KV_ROW_SCALES_OFFSET, 127, 7);
    row[KV_ROW_SCALES_OFFSET + 1] = second_scale;
}

START_TEST(sparse_decode_by_hand)
{
    struct fixture fixture;
    fixture_init(&fixture, "sparse_decode block_h=16 block_t=16 concurrency=1 heads=16 tokens=2 pool=4");
    uint16_t *query = fixture.buffers[0], *out = fixture.buffers[5];
    uint8_t *cache = fixture.buffers[1];
    int32_t *index = fixture.buffers[2];
    write_row(cache + 1 * KV_ROW_BYTES, 0x38, 128);
    write_row(cache + 3 * KV_ROW_BYTES, 0x40, 127); /* twos */
    index[0] = 3;
    index[1] = 1;
    /* Head 0: a query of zeros weighs both rows alike. */
    /* Head 1: dimension 0 of the query is sqrt(512) ln 3, so the scores differ by ln 3 and the weights are 3/4 and 1/4.
     */
    query[512] = bfloat16_from_double(sqrt(512.0) * log(3.0));
    fixture.plan.definition->reference(&fixture.plan, fixture.buffers);
    ck_assert_double_eq(bfloat16_to_double(out[0]), 1.5);   /* (2 + 1) / 2 */
    ck_assert_double_eq(bfloat16_to_double(out[64]), 2.0);  /* (2 + 1 x 2) / 2 */
    ck_assert_double_eq(bfloat16_to_double(out[448]), 0.5); /* the bf16 part */
    assert_close_rel(bfloat16_to_double(out[512]), 1.75, TOL_BFLOAT16);
    assert_close_rel(bfloat16_to_double(out[512 + 64]), 2.0, TOL_BFLOAT16);
    fixture_release(&fixture);
}
END_TEST

START_TEST(gqa_decode_by_hand)
{
    struct fixture fixture;
    fixture_init(&fixture, "gqa_decode block_n=16 group=2 batch=1 kv_heads=1 length=2");
    uint16_t *query = fixture.buffers[0], *keys = fixture.buffers[1], *values = fixture.buffers[2];
    uint16_t *out = fixture.buffers[5];
    keys[128] = 0x3f80; /* the second token's key is 1 in dimension 0 */
    query[128] = bfloat16_from_double(sqrt(128.0) * log(3.0));
    values[0] = 0x3f80;   /* 1 */
    values[128] = 0x40a0; /* 5 */
    fixture.plan.definition->reference(&fixture.plan, fixture.buffers);
    ck_assert_double_eq(bfloat16_to_double(out[0]), 3.0);
    assert_close_rel(bfloat16_to_double(out[128]), 4.0, TOL_BFLOAT16); /* 1/4 x 1 + 3/4 x 5 */
    ck_assert_double_eq(bfloat16_to_double(out[1]), 0.0);
    fixture_release(&fixture);
}
END_TEST

START_TEST(gemm_by_hand)
{
    struct fixture fixture;
    fixture_init(&fixture, "gemm_tile block_m=16 block_n=8 block_k=32 num_warps=1 warps_m=1 m=16 n=8 k=32");
    uint16_t *a = fixture.buffers[0], *b = fixture.buffers[1], *c = fixture.buffers[2];
    a[2 * 32 + 3] = 0x4000;  /* A[2][3] = 2 */
    a[2 * 32 + 31] = 0x3f80; /* A[2][31] = 1 */
    b[5 * 32 + 3] = 0x4040;  /* B[5][3] = 3 */
    b[5 * 32 + 31] = 0xbf80; /* B[5][31] = -1 */
    fixture.plan.definition->reference(&fixture.plan, fixture.buffers);
    ck_assert_double_eq(bfloat16_to_double(c[2 * 8 + 5]), 5.0);
    ck_assert_double_eq(bfloat16_to_double(c[5 * 8 + 2]), 0.0);
    fixture_release(&fixture);
}
END_TEST

START_TEST(mma_by_hand)
{
    struct fixture fixture;
    fixture_init(&fixture, "mma_tile format=1 accumulators=2 warps=1 iterations=4");
    uint8_t *a = fixture.buffers[0], *b = fixture.buffers[1];
    const float *out = fixture.buffers[2];
    a[3 * 32 + 7] = 0x40; /* A[3][7] = 2 */
    b[6 * 32 + 7] = 0x44; /* B[6][7] = 3 */
    fixture.plan.definition->reference(&fixture.plan, fixture.buffers);
    ck_assert_double_eq((double)out[3 * 8 + 6], 24.0);
    ck_assert_double_eq((double)out[128 + 3 * 8 + 6], 24.0); /* the second accumulator */
    ck_assert_double_eq((double)out[6 * 8 + 3], 0.0);
    fixture_release(&fixture);
}
END_TEST

START_TEST(streams_and_gathers_by_hand)
{
    struct fixture fixture;
    fixture_init(&fixture, "bandwidth_stream mode=0 lane_bytes=8 threads=32 ctas=2 kib=1");
    uint32_t *in = fixture.buffers[0], *sums = fixture.buffers[2];
    for (uint32_t i = 0; i < 256; i++)
        in[i] = 1u << (i / 64); /* 64 words are one access of a CTA of 32 threads */
    in[0] ^= 0x100;
    fixture.plan.definition->reference(&fixture.plan, fixture.buffers);
    ck_assert_uint_eq(sums[0], 0x100); /* pairs of equal words cancel */
    ck_assert_uint_eq(sums[1], 0);
    fixture_release(&fixture);
    fixture_init(&fixture, "bandwidth_gather row_bytes=8 rows=1 ctas=2 row_count=3 groups=1 pool=4");
    uint32_t *rows = fixture.buffers[0];
    int32_t *index = fixture.buffers[1];
    for (uint32_t i = 0; i < 8; i++)
        rows[i] = 1u << i;
    index[0] = 3;
    index[1] = 0;
    index[2] = 1;
    fixture.plan.definition->reference(&fixture.plan, fixture.buffers);
    ck_assert_uint_eq(((uint32_t *)fixture.buffers[2])[0], 0xcc); /* rows 3 and 1 */
    ck_assert_uint_eq(((uint32_t *)fixture.buffers[2])[1], 0x03); /* row 0 */
    fixture_release(&fixture);
}
END_TEST

/* Two SMs, two CTAs at a time on each, five CTAs of 10 us: a full round of four and a tail of one. */
START_TEST(wave_records_by_hand)
{
    static const uint64_t records[5][5] = {{4, 100, 200, 1000, 11000},
                                           {4, 110, 205, 1010, 11010},
                                           {9, 7100, 7200, 1005, 11005},
                                           {9, 7101, 7210, 1020, 11020},
                                           {9, 7200, 7300, 11010, 21010}}; /* takes over at the very clock */
    struct fixture fixture;
    struct measure_result result;
    memset(&result, 0, sizeof result);
    fixture_init(&fixture, "wave_probe grid=5 hold_us=10");
    memcpy(fixture.buffers[0], records, sizeof records);
    fixture.plan.definition->report(&fixture.plan, fixture.buffers, &result);
    static const struct {
        const char *name;
        double value;
    } wanted[] = {{"resident_ctas_per_sm", 2},
                  {"least_resident_ctas_per_sm", 2},
                  {"sms_used_count", 2},
                  {"most_ctas_on_one_sm", 3},
                  {"least_ctas_on_one_sm", 2},
                  {"rounds_count", 2},
                  {"tail_ctas", 1},
                  {"first_round_ctas", 4},
                  {"first_round_starts_ns", 20}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        ck_assert_str_eq(result.figures[i].name, wanted[i].name);
        ck_assert_msg(!(result.figures[i].value < wanted[i].value || result.figures[i].value > wanted[i].value),
                      "%s is %g", wanted[i].name, result.figures[i].value);
    }
    fixture_release(&fixture);
}
END_TEST

Suite *suite_measure_reference(void)
{
    Suite *suite = suite_create("measure_reference");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, number_formats);
    tcase_add_test(tcase, gathered_rows_are_distinct_and_in_their_pool);
    tcase_add_test(tcase, a_chain_is_one_cycle);
    tcase_add_test(tcase, kv_rows_are_finite);
    tcase_add_test(tcase, sparse_decode_by_hand);
    tcase_add_test(tcase, gqa_decode_by_hand);
    tcase_add_test(tcase, gemm_by_hand);
    tcase_add_test(tcase, mma_by_hand);
    tcase_add_test(tcase, streams_and_gathers_by_hand);
    tcase_add_test(tcase, wave_records_by_hand);
    suite_add_tcase(suite, tcase);
    return suite;
}
