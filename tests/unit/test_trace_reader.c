/* SPDX-License-Identifier: GPL-3.0-or-later
 * Profiler traces: a recorded one against Python's reading of it, variants of layout, traps, and many launches. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "evidence/profiles/profile_readers.h"
#include "evidence/profiles/trace_blocks.h"
#include "evidence/profiles/trace_events.h"
#include "evidence/profiles/trace_reader_private.h"
#include "evidence/profiles/trace_shapes.h"
#include "tests/support/assert_close.h"
#include "tests/support/trace_texts.h"

#define EXPECTED "tests/recorded/kineto_kernels.tsv"

static double figure(size_t claim, enum claim_figure which)
{
    ck_assert_msg(trace_list.items[claim].figures[which].is_known, "%s", claim_figure_name(which));
    ck_assert_double_eq(trace_list.items[claim].figures[which].low, trace_list.items[claim].figures[which].high);
    return trace_list.items[claim].figures[which].low;
}

/* --- recorded ------------------------------------------------------------------------------------------------------
 */

START_TEST(recorded_trace_as_python_reads_it)
{
    ck_assert_msg(trace_read(RECORDED, &trace_list, &trace_error) == STATUS_OK, "%s", trace_error.text);
    char *text = NULL;
    size_t length, row = 0;
    ck_assert_int_eq(file_read_text(EXPECTED, 1 << 20, &text, &length, &trace_error), STATUS_OK);
    char *rest = NULL, *line = strtok_r(text, "\n", &rest);
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        unsigned grid[3], block[3], registers, smem, device, launches, event;
        double median, average, least, most, deviation, latest;
        int at = 0;
        ck_assert_int_eq(sscanf(line, "%u%u%u%u%u%u%u%u%u%u%lf%lf%lf%lf%lf%lf%u\t%n", &grid[0], &grid[1], &grid[2],
                                &block[0], &block[1], &block[2], &registers, &smem, &device, &launches, &median,
                                &average, &least, &most, &deviation, &latest, &event, &at),
                         17);
        ck_assert_uint_lt(row, trace_list.count);
        const struct kernel_claim *claim = &trace_list.items[row];
        ck_assert_str_eq(claim->name, line + at);
        for (int i = 0; i < 3; i++) {
            ck_assert_uint_eq(claim->grid[i], grid[i]);
            ck_assert_uint_eq(claim->block[i], block[i]);
        }
        ck_assert_double_eq(figure(row, CLAIM_REGISTERS), registers);
        ck_assert_double_eq(figure(row, CLAIM_LAUNCH_SMEM), smem);
        ck_assert_double_eq(figure(row, CLAIM_GRID), (double)grid[0] * grid[1] * grid[2]);
        ck_assert_double_eq(figure(row, CLAIM_THREADS), (double)block[0] * block[1] * block[2]);
        ck_assert_double_eq(figure(row, CLAIM_SM_COUNT), 132);
        ck_assert_str_eq(claim->device, "NVIDIA H200");
        ck_assert_uint_eq(claim->arch, 90);
        ck_assert_uint_eq(claim->ordinal, event);
        ck_assert_uint_eq(claim->time.count, launches);
        assert_close_rel(claim->time.median_us, median, TOL_ROUNDING);
        assert_close_rel(claim->time.mean_us, average, TOL_ROUNDING);
        ck_assert_double_eq(claim->time.minimum_us, least);
        ck_assert_double_eq(claim->time.maximum_us, most);
        ck_assert_double_eq(claim->time.last_us, latest);
        ck_assert(launches == 1 ? isnan(claim->time.deviation_us)
                                : fabs(claim->time.deviation_us - deviation) <= 1e-9 * deviation);
        row++;
    }
    ck_assert_uint_eq(row, trace_list.count);
    ck_assert_uint_gt(row, 10);
    ck_assert_uint_eq(trace_list.skipped, 0);
    ck_assert_str_eq(trace_list.remark, "");
    free(text);
}
END_TEST

/* The quick way and the parser say the same. */
START_TEST(scanning_and_parsing_agree)
{
    char *text = NULL;
    size_t length;
    ck_assert_int_eq(file_read_text(RECORDED, 1 << 20, &text, &length, &trace_error), STATUS_OK);
    ck_assert_int_eq(trace_list_read(text, length, true), STATUS_OK);
    struct kernel_claim_list parsed = trace_list;
    trace_list = (struct kernel_claim_list){0};
    ck_assert_int_eq(trace_list_read(text, length, false), STATUS_OK);
    ck_assert_uint_eq(parsed.count, trace_list.count);
    for (size_t i = 0; i < trace_list.count; i++) {
        ck_assert_str_eq(parsed.items[i].name, trace_list.items[i].name);
        ck_assert_mem_eq(&parsed.items[i].time.count, &trace_list.items[i].time.count, sizeof(struct claim_time) - 8);
        ck_assert_mem_eq(parsed.items[i].figures, trace_list.items[i].figures, sizeof trace_list.items[i].figures);
    }
    kernel_claim_list_release(&parsed);
    free(text);
}
END_TEST

/* An event with its members in an order of their own, numbers of other kinds, and keys of no account. */
static void append_event(struct text_buffer *text, struct random_stream *random)
{
    static const char *const names[] = {"k", "void f<{1}>(float*)", "a \\\"b\\\"", "\\u0041", "gemm"};
    static const char *const times[] = {
        "1.5",     "2",   "0.125", "1e1",      "0.30000000000000004", "12345678.901234567",
        "1.5e-05", "12.", "007",   "Infinity", "123456789.123",       "-0",
        "null"};
    static const char *const more[] = {"",
                                       "\"blocks per SM\": \"inf\", ",
                                       "\"a\": {\"grid\": [9, 9, 9]}, ",
                                       "\"b\": inf, ",
                                       "\"c\": \"}],{[\", ",
                                       "\"d\" : [1, {\"e\": \"\\\\\"}],\n",
                                       "\"device\": 1, "};
    const char *name = names[random_below(random, 5)], *time = times[random_below(random, 13)];
    text_buffer_append_format(text, ",\n{\"cat\": \"%s\", ", random_below(random, 9) == 0 ? "cpu_op" : "kernel");
    if (random_below(random, 2) == 0) {
        text_buffer_append_format(text, "\"name\": \"%s\", \"dur\": %s, ", name, time);
    } else {
        text_buffer_append_format(text, "\"dur\":%s,\n  \"name\":\"%s\", ", time, name);
    }
    text_buffer_append_format(text, "\"ts\": %u.%03u, \"pid\": %u, \"args\": {%s", random_uint32(random),
                              random_below(random, 1000), random_below(random, 2), more[random_below(random, 7)]);
    text_buffer_append_format(text, "\"grid\": [%u, %u,1], \"shared memory\": %u%s", 1 + random_below(random, 2),
                              1 + random_below(random, 2), 512 * random_below(random, 2),
                              random_below(random, 2) == 0 ? ", \"registers per thread\": 32" : "");
    text_buffer_append(text, random_below(random, 3) == 0 ? "\n}, \"tid\": \"stream 7\"}" : "}}");
}

START_TEST(any_layout_scanned_and_parsed_agree)
{
    struct text_buffer text = {0};
    struct random_stream random;
    random_init(&random, 11, 11);
    for (int round = 0; round < (getenv("TEST_QUICK") != NULL ? 2 : 15); round++) {
        text_buffer_clear(&text);
        text_buffer_append(&text, "[" KERNEL);
        for (int i = 0; i < 200; i++) {
            append_event(&text, &random);
        }
        text_buffer_append(&text, "]");
        ck_assert_int_eq(trace_list_read(text.text, text.length, true), STATUS_OK);
        struct kernel_claim_list parsed = trace_list;
        trace_list = (struct kernel_claim_list){0};
        ck_assert_int_eq(trace_list_read(text.text, text.length, false), STATUS_OK);
        ck_assert_uint_eq(parsed.count, trace_list.count);
        ck_assert_uint_eq(parsed.skipped, trace_list.skipped);
        ck_assert_str_eq(parsed.first_skipped, trace_list.first_skipped);
        for (size_t i = 0; i < trace_list.count; i++) {
            ck_assert_str_eq(parsed.items[i].name, trace_list.items[i].name);
            ck_assert_str_eq(parsed.items[i].note, trace_list.items[i].note);
            ck_assert_mem_eq(parsed.items[i].grid, trace_list.items[i].grid, sizeof trace_list.items[i].grid);
            ck_assert_mem_eq(parsed.items[i].figures, trace_list.items[i].figures, sizeof trace_list.items[i].figures);
            ck_assert_mem_eq(&parsed.items[i].time.median_us, &trace_list.items[i].time.median_us, 6 * sizeof(double));
        }
        kernel_claim_list_release(&parsed);
    }
    text_buffer_release(&text);
}
END_TEST

/* What the masks mean, said byte by byte. */
static uint64_t braces_byte_by_byte(const char *bytes, bool *in_string, bool *escaped)
{
    uint64_t braces = 0;
    for (int i = 0; i < TRACE_BLOCK_BYTES; i++) {
        bool was_escaped = *escaped;
        *escaped = false;
        if (bytes[i] == '\n') {
            *in_string = false;
        } else if (!was_escaped && bytes[i] == '"') {
            *in_string = !*in_string;
        } else if (!was_escaped && bytes[i] == '\\') {
            *escaped = *in_string;
        } else if (!*in_string && strchr("{}y\x7f", bytes[i]) != NULL) {
            braces |= UINT64_C(1) << i;
        }
    }
    return braces;
}

START_TEST(masks_of_blocks)
{
    static const char alphabet[] = "{}[]y\x7f\"\"\"\\\n ,:|{}az0123456789abcdefgh ";
    struct random_stream random;
    random_init(&random, 5, 5);
    bool states[3][2] = {{false}};
    for (int round = 0; round < (getenv("TEST_QUICK") != NULL ? 500 : 20000); round++) {
        char bytes[TRACE_BLOCK_BYTES];
        uint32_t letters = random_below(&random, 2) == 0 ? 11 : (uint32_t)sizeof alphabet - 1;
        for (int i = 0; i < TRACE_BLOCK_BYTES; i++) {
            bytes[i] = alphabet[random_below(&random, letters)];
        }
        uint64_t expected = braces_byte_by_byte(bytes, &states[0][0], &states[0][1]);
        uint64_t braces = trace_block_braces(bytes, &states[1][0], &states[1][1]);
        uint64_t by_words = trace_block_braces_by_words(bytes, &states[2][0], &states[2][1]);
        if (braces != expected || by_words != expected || states[1][0] != states[0][0] ||
            states[1][1] != states[0][1] || states[2][0] != states[0][0] || states[2][1] != states[0][1]) {
            ck_abort_msg("block %d: %.64s", round, bytes);
        }
    }
}
END_TEST

/* --- layouts -------------------------------------------------------------------------------------------------------
 */

START_TEST(objects_arrays_and_order_of_keys)
{
    static const char *const texts[] = {
        "{" DEVICES ", \"traceEvents\": [" CPU ", " KERNEL "," KERNEL "], \"traceName\": \"x\"}",
        "{\"traceEvents\": [" CPU ", " KERNEL "," KERNEL "], " DEVICES "}",
        "\xef\xbb\xbf \n{" DEVICES ",\"traceEvents\":[" CPU "," KERNEL "\n,\n" KERNEL "\n]\n}\n",
        "{\"a\": {\"traceEvents\": [" KERNEL "]}, \"b\\\"traceEvents\": \"[{\", " DEVICES ", \"traceEvents\": [" KERNEL
        ", " CPU ", " KERNEL "]}",
        "{" DEVICES ", \"traceEvents\": [{\"args\": {" ARGUMENTS "}, \"dur\" : 2.5, \"name\":\"k\",\"ts\":1,\n"
        "\"cat\"\t:\r\n\"Kernel\"}, {\"dur\":2.5,\"cat\":\"kernel\",\"args\":{" ARGUMENTS
        "},\"name\":\"k\",\"ts\":3}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        trace_list_must_read(texts[i]);
        ck_assert_msg(trace_list.count == 1 && trace_list.items[0].time.count == 2, "%zu: %zu", i, trace_list.count);
        ck_assert_str_eq(trace_list.items[0].name, "k");
        ck_assert_str_eq(trace_list.items[0].device, "NVIDIA H200");
        ck_assert_double_eq(figure(0, CLAIM_REGISTERS), 64);
        ck_assert_double_eq(trace_list.items[0].time.median_us, 2.5);
        ck_assert_uint_eq(trace_list.skipped, 0);
        ck_assert_str_eq(trace_list.remark, "");
    }
    trace_list_must_read("[" CPU ", " KERNEL "]");
    ck_assert_uint_eq(trace_list.count, 1);
    ck_assert_str_eq(trace_list.items[0].device, "");
    ck_assert_uint_eq(trace_list.items[0].arch, 0);
    trace_list_must_read("[]");
    ck_assert_uint_eq(trace_list.count, 0);
    ck_assert_ptr_nonnull(strstr(trace_list.remark, "no kernels among 0 events"));
    trace_list_must_read("[" KERNEL "] and more");
    ck_assert_ptr_nonnull(strstr(trace_list.remark, "follows the end"));
}
END_TEST

START_TEST(strings_with_brackets_quotes_and_escapes)
{
    trace_list_must_read(
        "[{\"cat\": \"python_function\", \"name\": \"} ] \\\" { \\\\\", \"args\": {\"a\": \"}\\\\\\\"}\"}}, " EVENT(
            "f<\\\"}\\\">{lambda()#1}]\\\\ \\u00e9", "1", ARGUMENTS) ", " EVENT("void g<{x}>()", "1", ARGUMENTS) "]");
    ck_assert_uint_eq(trace_list.count, 2);
    ck_assert_str_eq(trace_list.items[0].name, "f<\"}\">{lambda()#1}]\\ \xc3\xa9");
    ck_assert_str_eq(trace_list.items[1].name, "void g<{x}>()");
    ck_assert_uint_eq(trace_list.skipped, 0);
}
END_TEST

/* Writers that forget to escape: quotes in pairs stay within their event, a lone one ends with its line. */
START_TEST(unescaped_quotes)
{
    trace_list_must_read(
        "[{\"cat\": \"python_function\", \"name\": \"{\"device\": \"cpu\", \"dtype\": \"float32\"}(12): run\"},\n"
        "{\"cat\": \"user_annotation\", \"name\": \"a \" b\"\n},\n" KERNEL "\n]");
    ck_assert_uint_eq(trace_list.count, 1);
    ck_assert_uint_eq(trace_list.items[0].ordinal, 3);
}
END_TEST

START_TEST(numbers_that_json_does_not_have)
{
    trace_list_must_read("{\"x\": NaN, \"traceEvents\": [" EVENT(
        "k", "2.5",
        "\"blocks per SM\": Infinity, \"External id\": "
        "184467440737095516159, \"warps per SM\": \"inf\", \"a\": -inf, "
        "\"registers per thread\": 8") "," EVENT("k", "1e0",
                                                 "\"b\": nan, \"registers per "
                                                 "thread\": 8") "," EVENT("k", "NaN",
                                                                          "\"re"
                                                                          "gist"
                                                                          "ers "
                                                                          "per "
                                                                          "thre"
                                                                          "ad\""
                                                                          ": 8") "," EVENT("k", "-1",
                                                                                           "\"registers per thread\": "
                                                                                           "8") "]}");
    ck_assert_uint_eq(trace_list.count, 1);
    ck_assert_uint_eq(trace_list.items[0].time.count, 2);
    ck_assert_double_eq(trace_list.items[0].time.mean_us, 1.75);
    ck_assert_ptr_nonnull(strstr(trace_list.items[0].note, "2 launches have no duration"));
    ck_assert_double_eq(figure(0, CLAIM_REGISTERS), 8);
}
END_TEST

/* --- traps ---------------------------------------------------------------------------------------------------------
 */

static struct claim_value occupancy_of(const char *smem, const char *blocks, const char *percent)
{
    struct text_buffer text = {0};
    text_buffer_append_format(
        &text,
        "{" DEVICES ", \"traceEvents\": [" EVENT(
            "k", "1",
            "\"device\": 0, \"grid\": [%s, 1, 1], "
            "\"block\": [128, 1, 1], \"shared memory\": %s, \"est. achieved occupancy %%\": %s") "]}",
        blocks, smem, percent);
    trace_list_must_read(text.text);
    text_buffer_release(&text);
    ck_assert_uint_eq(trace_list.count, 1);
    return trace_list.items[0].figures[CLAIM_OCCUPANCY];
}

START_TEST(occupancy_only_where_it_is_evidence)
{
    struct claim_value known = occupancy_of("49152", "13200", "19");
    ck_assert(known.is_known);
    assert_close_rel(known.low, 0.185, TOL_ROUNDING);
    assert_close_rel(known.high, 0.195, TOL_ROUNDING);
    /* Above 48 KiB it is 0 whatever fits; a small grid tells of itself. */
    ck_assert(!occupancy_of("49153", "13200", "0").is_known);
    ck_assert_ptr_nonnull(strstr(trace_list.items[0].note, "48 KiB"));
    ck_assert_double_eq(figure(0, CLAIM_LAUNCH_SMEM), 49153);
    ck_assert(!occupancy_of("1024", "264", "13").is_known);
    ck_assert_str_eq(trace_list.items[0].note, "");
    ck_assert(!occupancy_of("1024", "13200", "0").is_known);
}
END_TEST

START_TEST(newer_occupancy_object)
{
    trace_list_must_read("[" EVENT("k", "1",
                                   "\"shared memory\": 49152, \"occupancy\": {\"activeBlocksPerMultiprocessor\": 4, "
                                   "\"limitingFactors\": \"REGS|SMEM\"}") "]");
    ck_assert_double_eq(figure(0, CLAIM_CTAS_PER_SM), 4);
    trace_list_must_read("[" EVENT("k", "1",
                                   "\"shared memory\": 50000, \"occupancy\": {\"activeBlocksPerMultiprocessor\": 0, "
                                   "\"blockLimitSharedMem\": 0}") "]");
    ck_assert(!trace_list.items[0].figures[CLAIM_CTAS_PER_SM].is_known);
    ck_assert_ptr_nonnull(strstr(trace_list.items[0].note, "48 KiB"));
}
END_TEST

START_TEST(rocm_has_less)
{
    trace_list_must_read(
        "{\"deviceProperties\": [{\"id\": 3, \"name\": \"AMD Instinct MI300X\", \"computeMajor\": 9, "
        "\"computeMinor\": 4, \"numSms\": 304, \"maxSharedMemoryPerMultiProcessor\": 65536}], \"traceEvents\": [" EVENT(
            "k", "1",
            "\"device\": 3, \"stream\": 0, \"kind\": \"Dispatch\", \"grid\": [4, 1, 1], \"block\": "
            "[64, 1, 1], \"shared memory\": 512") "]}");
    ck_assert_uint_eq(trace_list.count, 1);
    ck_assert(!trace_list.items[0].figures[CLAIM_REGISTERS].is_known);
    ck_assert_str_eq(trace_list.items[0].device, "AMD Instinct MI300X");
    ck_assert_uint_eq(trace_list.items[0].arch, 0);
    ck_assert_double_eq(figure(0, CLAIM_SM_COUNT), 304);
}
END_TEST

START_TEST(launches_that_differ_are_apart)
{
    trace_list_must_read("{\"traceEvents\": [" EVENT(
        "k", "1",
        "\"device\": 0, \"registers per thread\": 32, \"shared memory\": 0, "
        "\"grid\": [1,1,1]") "," EVENT("k", "2",
                                       "\"device\": 1, \"registers per thread\": 32, "
                                       "\"shared memory\": "
                                       "0, \"grid\": [1,1,1]") "," EVENT("k", "3",
                                                                         "\"device\":"
                                                                         " 0, "
                                                                         "\"registers"
                                                                         " per "
                                                                         "thread\": "
                                                                         "33, "
                                                                         "\"shared "
                                                                         "memory\": "
                                                                         "0, "
                                                                         "\"grid\": "
                                                                         "[1,1,1]") "," EVENT("k", "4",
                                                                                              "\"device\": 0, "
                                                                                              "\"registers per "
                                                                                              "thread\": 32, "
                                                                                              "\"shared memory\": "
                                                                                              "1, \"grid\": "
                                                                                              "[1,1,1]") "," EVENT("k",
                                                                                                                   "5",
                                                                                                                   "\"d"
                                                                                                                   "evi"
                                                                                                                   "ce"
                                                                                                                   "\":"
                                                                                                                   " 0,"
                                                                                                                   " \""
                                                                                                                   "reg"
                                                                                                                   "ist"
                                                                                                                   "ers"
                                                                                                                   " pe"
                                                                                                                   "r "
                                                                                                                   "thr"
                                                                                                                   "ead"
                                                                                                                   "\":"
                                                                                                                   " "
                                                                                                                   "32,"
                                                                                                                   " \""
                                                                                                                   "sha"
                                                                                                                   "red"
                                                                                                                   " me"
                                                                                                                   "mor"
                                                                                                                   "y\""
                                                                                                                   ": "
                                                                                                                   "0, "
                                                                                                                   "\"g"
                                                                                                                   "rid"
                                                                                                                   "\":"
                                                                                                                   " ["
                                                                                                                   "1,"
                                                                                                                   "1,"
                                                                                                                   "2]") "," EVENT("l",
                                                                                                                                   "6",
                                                                                                                                   "\"device\": 0, \"registers per "
                                                                                                                                   "thread\": 32, \"shared memory\": 0, \"grid\": [1,1,1]") "," EVENT("k",
                                                                                                                                                                                                      "7",
                                                                                                                                                                                                      "\"device\": 0, \"registers "
                                                                                                                                                                                                      "per thread\": 32, \"shared memory\": 0, \"grid\": [1,1,1]") "]}");
    ck_assert_uint_eq(trace_list.count, 6);
    ck_assert_uint_eq(trace_list.items[0].time.count, 2);
    ck_assert_double_eq(trace_list.items[0].time.mean_us, 4);
    for (size_t i = 1; i < 6; i++) {
        ck_assert_double_eq(trace_list.items[i].time.median_us, (double)i + 1);
    }
}
END_TEST

START_TEST(latest_is_by_time_not_by_place)
{
    trace_list_must_read("[{\"cat\":\"kernel\",\"name\":\"k\",\"ts\":20,\"dur\":2,\"args\":{}},"
                         "{\"cat\":\"kernel\",\"name\":\"k\",\"ts\":30,\"dur\":3,\"args\":{}},"
                         "{\"cat\":\"kernel\",\"name\":\"k\",\"ts\":10,\"dur\":1,\"args\":{}}]");
    ck_assert_uint_eq(trace_list.count, 1);
    ck_assert_double_eq(trace_list.items[0].time.last_us, 3);
}
END_TEST

/* --- much ----------------------------------------------------------------------------------------------------------
 */

START_TEST(median_of_many_launches)
{
    struct text_buffer text = {0};
    enum {
        LAUNCHES = 20001
    };
    text_buffer_append(&text, "[");
    for (unsigned i = 0; i < LAUNCHES; i++) {
        /* 0 to 20000 in a scrambled order: the median is 10000. */
        text_buffer_append_format(&text, "%s{\"cat\":\"kernel\",\"name\":\"k\",\"ts\":%u,\"dur\":%u,\"args\":{}}",
                                  i > 0 ? ",\n" : "", i, i * 7919U % LAUNCHES);
        if (i == 4001) {
            struct byte_stream *stream = NULL;
            ck_assert_int_eq(byte_stream_open_memory(text.text, text.length, "part", &stream, &trace_error), STATUS_OK);
            ck_assert_int_eq(trace_read_stream(stream, "part", false, &trace_list, &trace_error), STATUS_OK);
            byte_stream_free(stream);
        }
    }
    text_buffer_append(&text, "]");
    double all[4002];
    for (unsigned i = 0; i < 4002; i++) {
        all[i] = i * 7919U % LAUNCHES;
    }
    ck_assert_uint_eq(trace_list.items[0].time.count, 4002);
    ck_assert_str_eq(trace_list.items[0].note, "");
    ck_assert_double_eq(trace_list.items[0].time.median_us, median_in_place(all, 4002));
    trace_list_must_read(text.text);
    const struct claim_time *time = &trace_list.items[0].time;
    ck_assert_uint_eq(time->count, LAUNCHES);
    ck_assert_double_eq_tol(time->mean_us, 10000, 1e-6);
    ck_assert_double_eq(time->minimum_us, 0);
    ck_assert_double_eq(time->maximum_us, 20000);
    /* Four standard errors of the rank: 4 * 0.5 / sqrt(4096) of all launches. */
    ck_assert_double_eq_tol(time->median_us, 10000, 4 * 0.5 / 64 * LAUNCHES);
    ck_assert_double_eq_tol(time->deviation_us, LAUNCHES / sqrt(12), 0.5);
    ck_assert_ptr_nonnull(strstr(trace_list.items[0].note, "4096 launches chosen at random"));
    text_buffer_release(&text);
}
END_TEST

START_TEST(kinds_of_launches_have_a_limit)
{
    struct text_buffer text = {0};
    if (getenv("TEST_QUICK") != NULL) {
        return;
    }
    text_buffer_append(&text, "[");
    for (unsigned i = 0; i < TRACE_GROUPS_MAX + 10; i++) {
        text_buffer_append_format(&text, "%s{\"cat\":\"kernel\",\"name\":\"k\",\"dur\":1,\"args\":{\"grid\":[%u,1,1]}}",
                                  i > 0 ? "," : "", i + 1);
    }
    text_buffer_append(&text, "]");
    trace_list_must_read(text.text);
    ck_assert_uint_eq(trace_list.count, TRACE_GROUPS_MAX);
    ck_assert_ptr_nonnull(strstr(trace_list.remark, "10 launches of further kinds were left out"));
    text_buffer_release(&text);
}
END_TEST

Suite *suite_trace_reader(void)
{
    Suite *suite = suite_create("trace_reader");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, trace_list_setup, trace_list_teardown);
    tcase_add_test(tests, recorded_trace_as_python_reads_it);
    tcase_add_test(tests, scanning_and_parsing_agree);
    tcase_add_test(tests, any_layout_scanned_and_parsed_agree);
    tcase_add_test(tests, masks_of_blocks);
    tcase_add_test(tests, objects_arrays_and_order_of_keys);
    tcase_add_test(tests, strings_with_brackets_quotes_and_escapes);
    tcase_add_test(tests, unescaped_quotes);
    tcase_add_test(tests, numbers_that_json_does_not_have);
    tcase_add_test(tests, occupancy_only_where_it_is_evidence);
    tcase_add_test(tests, newer_occupancy_object);
    tcase_add_test(tests, rocm_has_less);
    tcase_add_test(tests, launches_that_differ_are_apart);
    tcase_add_test(tests, latest_is_by_time_not_by_place);
    tcase_add_test(tests, median_of_many_launches);
    tcase_add_test(tests, kinds_of_launches_have_a_limit);
    suite_add_tcase(suite, tests);
    return suite;
}
