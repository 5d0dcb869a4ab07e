/* SPDX-License-Identifier: GPL-3.0-or-later
 * Profiler traces that are cut, damaged or hostile. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text_buffer.h"
#include "evidence/profiles/profile_readers.h"
#include "evidence/profiles/trace_blocks.h"
#include "evidence/profiles/trace_events.h"
#include "tests/support/claims.h"
#include "tests/support/trace_texts.h"

/* --- cut and wrong -------------------------------------------------------------------------------------------------
 */

START_TEST(cut_at_every_byte)
{
    static const char text[] =
        "{" DEVICES ",\n\"traceEvents\": [\n  " CPU ",\n  " KERNEL ",\n  " CPU
        ",\n  " EVENT("a \\\"quoted\\\" {name}", "1", "\"grid\": [1, 2, 3]") "\n], \"traceName\": \"t\"\n}";
    size_t length = sizeof text - 1;
    const char *first = strstr(text, "\"kernel\""), *second = strstr(first + 1, "\"kernel\"");
    size_t first_end = (size_t)(strstr(first, "}}") + 2 - text), second_end = (size_t)(strstr(second, "}}") + 2 - text);
    size_t array = (size_t)(strstr(text, "[\n") + 1 - text);
    for (size_t cut = 0; cut <= length; cut++) {
        char *copy = malloc(cut + 1); /* so that reading beyond the cut is seen */
        memcpy(copy, text, cut);
        enum status status = trace_list_read(copy, cut, false);
        size_t expected = cut >= second_end ? 2 : cut >= first_end ? 1 : 0;
        if (status != (cut < array ? STATUS_BAD_DATA : STATUS_OK) || trace_list.count != expected) {
            ck_abort_msg("cut at %zu: %s, %zu kernels: %s", cut, status_name(status), trace_list.count,
                         trace_error.text);
        }
        if ((status == STATUS_OK) != (trace_error.text[0] == '\0') || trace_list.skipped != 0 ||
            (status == STATUS_OK && (strstr(trace_list.remark, "cut off") != NULL) != (cut < length))) {
            ck_abort_msg("cut at %zu: skipped %s, remark %s", cut, trace_list.first_skipped, trace_list.remark);
        }
        free(copy);
    }
}
END_TEST

START_TEST(what_is_no_trace)
{
    static const struct {
        const char *text, *reason;
    } wrong[] = {{"", "no text"},
                 {" \n", "no text"},
                 {"kernel,time", "begins with"},
                 {"{\"key\": [1], \"configs_timings\": []}", "traceEvents"},
                 {"{\"traceEvents\": {\"a\": 1}}", "traceEvents"},
                 {"{\"traceEvents\": ", "traceEvents"},
                 {"{\"deviceProperties\": [{\"id\": 0", "traceEvents"},
                 {"{3", "traceEvents"},
                 {"{\"a\" 3}", "traceEvents"},
                 {"\xff\xfe", "0xff"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_msg(trace_list_read(wrong[i].text, strlen(wrong[i].text), false) == STATUS_BAD_DATA, "%s",
                      wrong[i].text);
        ck_assert_msg(strstr(trace_error.text, wrong[i].reason) != NULL, "%s: %s", wrong[i].text, trace_error.text);
        ck_assert_str_eq(trace_error.file, "t.json");
    }
    ck_assert_int_eq(trace_read("/nonexistent/trace.json", &trace_list, &trace_error), STATUS_MISSING);
    ck_assert_int_eq(trace_read("tests", &trace_list, &trace_error), STATUS_BAD_DATA);
}
END_TEST

START_TEST(bad_events_are_left_out_and_counted)
{
    static const struct {
        const char *event, *reason;
    } bad[] = {{"3", "not an object"},
               {"\"{\"", "not an object"},
               {"[{\"cat\":\"kernel\"}, []]", "not an object"},
               {"null", "not an object"},
               {"{\"cat\": \"kernel\"}", "no name"},
               {"{\"cat\": \"kernel\", \"name\": 3}", "no name"},
               {EVENT("k", "1", "\"registers per thread\": -1"), "registers per thread"},
               {EVENT("k", "1", "\"registers per thread\": 1.5"), "registers per thread"},
               {EVENT("k", "1", "\"registers per thread\": \"8\""), "registers per thread"},
               {EVENT("k", "1", "\"registers per thread\": 99999999999999999999"), "registers per thread"},
               {EVENT("k", "1", "\"shared memory\": Infinity"), "shared memory"},
               {EVENT("k", "1", "\"shared memory\": 3000000000"), "shared memory"},
               {EVENT("k", "1", "\"grid\": [1, 2]"), "grid"},
               {EVENT("k", "1", "\"grid\": [1, 2, 0]"), "grid"},
               {EVENT("k", "1", "\"block\": {\"x\": 1}"), "block"},
               {EVENT("k", "1", "\"grid\": [1,1,1], \"grid\": [2,1,1]"), "twice"},
               {"{\"cat\": \"kernel\", \"name\": \"k\", \"name\": \"l\"}", "twice"},
               {EVENT("k\xff", "1", ""), "UTF-8"},
               {EVENT("k\\u0000", "1", ""), "u0000"},
               {EVENT("k", "1", "\"a\": ?"), "no JSON"},
               {EVENT("k\\q", "1", ""), "no JSON"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct text_buffer text = {0};
        text_buffer_append_format(&text, "{\"traceEvents\": [%s, %s, %s]}", KERNEL, bad[i].event, KERNEL);
        trace_list_must_read(text.text);
        ck_assert_msg(trace_list.count == 1 && trace_list.items[0].time.count == 2, "%s: %zu", bad[i].event,
                      trace_list.count);
        ck_assert_msg(trace_list.skipped == 1, "%s", bad[i].event);
        ck_assert_msg(strstr(trace_list.first_skipped, bad[i].reason) != NULL &&
                          strstr(trace_list.first_skipped, "event 2 at"),
                      "%s: %s", bad[i].event, trace_list.first_skipped);
        text_buffer_release(&text);
    }
    /* A key twice that is of no account. */
    trace_list_must_read("[" EVENT("k", "1", "\"a\": 1, \"a\": 2, \"registers per thread\": 4") "]");
    ck_assert_uint_eq(trace_list.count, 1);
    assert_figure(&trace_list.items[0], CLAIM_REGISTERS, 4);
}
END_TEST

START_TEST(bytes_of_zero)
{
    static const char text[] = "[" CPU ",\0" KERNEL ",{\"cat\":\"kernel\",\"name\":\"a\0b\"}," KERNEL "]";
    ck_assert_int_eq(trace_list_read(text, sizeof text - 1, false), STATUS_OK);
    ck_assert_uint_eq(trace_list.count, 1);
    ck_assert_uint_ge(trace_list.items[0].time.count, 1);
    ck_assert_uint_ge(trace_list.skipped, 1);
}
END_TEST

START_TEST(deep_nesting)
{
    struct text_buffer text = {0};
    text_buffer_append(&text, "[{\"cat\": \"cpu_op\", \"a\": ");
    for (int i = 0; i < 300000; i++) {
        text_buffer_append(&text, "{\"a\":");
    }
    for (int i = 0; i < 300000; i++) {
        text_buffer_append(&text, "}");
    }
    text_buffer_append(&text, "}, {\"cat\": \"kernel\", \"name\": \"deep\", \"a\": ");
    for (int i = 0; i < 1000; i++) {
        text_buffer_append(&text, "{\"a\":");
    }
    text_buffer_append(&text, "0");
    for (int i = 0; i < 1000; i++) {
        text_buffer_append(&text, "}");
    }
    text_buffer_append(&text, "}, " KERNEL "]");
    trace_list_must_read(text.text);
    ck_assert_uint_eq(trace_list.count, 1);
    ck_assert_uint_eq(trace_list.skipped, 1);
    ck_assert_ptr_nonnull(strstr(trace_list.first_skipped, "deep"));
    text_buffer_release(&text);
}
END_TEST

/* Events that do not fit into the buffer: told apart by what they begin with. */
START_TEST(events_too_large)
{
    struct text_buffer text = {0};
    static const char *const categories[] = {"\"cat\": \"cpu_op\", ", "\"cat\": \"kernel\", ", ""};
    text_buffer_append(&text, "[" KERNEL);
    for (size_t i = 0; i < 3; i++) {
        text_buffer_append_format(&text, ", {%s\"name\": \"", categories[i]);
        for (int j = 0; j < 30000; j++) {
            text_buffer_append(&text, i == 1
                                          ? "0123456789012345678901234567890123456789012345678901234567890123456789"
                                          : "}{[]\\\"}}}89012345678901234567890123456789012345678901234567890123456");
        }
        text_buffer_append(&text, "\"}");
    }
    text_buffer_append(&text, ", " KERNEL "]");
    trace_list_must_read(text.text);
    ck_assert_uint_eq(trace_list.count, 1);
    ck_assert_uint_eq(trace_list.items[0].time.count, 2);
    ck_assert_uint_eq(trace_list.skipped, 2);
    ck_assert_ptr_nonnull(strstr(trace_list.first_skipped, "event 3"));
    ck_assert_ptr_nonnull(strstr(trace_list.first_skipped, "larger than 1 MiB"));
    text_buffer_release(&text);
}
END_TEST

START_TEST(devices_too_large)
{
    struct text_buffer text = {0};
    text_buffer_append(&text, "{\"deviceProperties\": [");
    for (int i = 0; i < 60000; i++) {
        text_buffer_append_format(&text, "%s{\"id\": %d, \"name\": \"abc\"}", i > 0 ? "," : "", i);
    }
    text_buffer_append(&text, "], \"traceEvents\": [" KERNEL "]}");
    trace_list_must_read(text.text);
    ck_assert_uint_eq(trace_list.count, 1);
    ck_assert_uint_eq(trace_list.skipped, 1);
    ck_assert_ptr_nonnull(strstr(trace_list.first_skipped, "deviceProperties"));
    text_buffer_release(&text);
}
END_TEST

/* Every place of an event relative to blocks and reads: the same kernels whatever stands before them. */
START_TEST(places_of_blocks)
{
    struct text_buffer text = {0};
    for (size_t shift = 0; shift < 130; shift++) {
        text_buffer_clear(&text);
        text_buffer_append(&text, "[");
        for (size_t i = 0; i < shift; i++) {
            text_buffer_append(&text, " ");
        }
        text_buffer_append(&text, EVENT("a\\\\", "1", "\"x\": \"}\\\"{\"") "," CPU ",\n" KERNEL "\n," KERNEL "]");
        trace_list_must_read(text.text);
        if (trace_list.count != 2 || trace_list.items[0].time.count != 1 || trace_list.items[1].time.count != 2 ||
            trace_list.skipped != 0) {
            ck_abort_msg("shift %zu: %zu kernels", shift, trace_list.count);
        }
    }
    text_buffer_release(&text);
}
END_TEST

/* --- gzip ----------------------------------------------------------------------------------------------------------
 */

START_TEST(gzip_whole_and_cut)
{
    char *text = NULL;
    size_t length;
    ck_assert_int_eq(file_read_text(RECORDED, 1 << 20, &text, &length, &trace_error), STATUS_OK);
    ck_assert_int_eq(trace_list_read(text, length, false), STATUS_OK);
    size_t kernels = trace_list.count;
    z_stream stream = {0};
    static unsigned char packed[1 << 20];
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)text;
    stream.avail_in = (uInt)length;
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t packed_bytes = stream.total_out;
    ck_assert_int_eq(deflateEnd(&stream), Z_OK);
    ck_assert_int_eq(trace_list_read((char *)packed, packed_bytes, false), STATUS_OK);
    ck_assert_uint_eq(trace_list.count, kernels);
    ck_assert_str_eq(trace_list.remark, "");
    ck_assert_int_eq(trace_list_read((char *)packed, packed_bytes * 3 / 4, false), STATUS_OK);
    ck_assert_uint_gt(trace_list.count, 0);
    ck_assert_ptr_nonnull(strstr(trace_list.remark, "gzip data ends early"));
    ck_assert_ptr_nonnull(strstr(trace_list.remark, "cut off"));
    packed[packed_bytes - 5] ^= 1; /* its checksum */
    ck_assert_int_eq(trace_list_read((char *)packed, packed_bytes, false), STATUS_OK);
    ck_assert_uint_eq(trace_list.count, kernels);
    ck_assert_ptr_nonnull(strstr(trace_list.remark, "damaged"));
    ck_assert_int_eq(trace_list_read("\x1f\x8b\x08garbage", 10, false), STATUS_BAD_DATA);
    free(text);
}
END_TEST

Suite *suite_trace_damage(void)
{
    Suite *suite = suite_create("trace_damage");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, trace_list_setup, trace_list_teardown);
    tcase_add_test(tests, cut_at_every_byte);
    tcase_add_test(tests, what_is_no_trace);
    tcase_add_test(tests, bad_events_are_left_out_and_counted);
    tcase_add_test(tests, bytes_of_zero);
    tcase_add_test(tests, deep_nesting);
    tcase_add_test(tests, events_too_large);
    tcase_add_test(tests, devices_too_large);
    tcase_add_test(tests, places_of_blocks);
    tcase_add_test(tests, gzip_whole_and_cut);
    suite_add_tcase(suite, tests);
    return suite;
}
