/* SPDX-License-Identifier: GPL-3.0-or-later
 * Traces in every layout, and lines that are wrong. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "evidence/serving/request_trace.h"
#include "tests/support/assert_close.h"

enum {
    REQUESTS_MAX = 16
};
static struct traced_request requests[REQUESTS_MAX];
static uint64_t skipped;
static char first_skipped[512];

/* Reads a whole trace from text. */
static enum status read_text(const char *text, size_t length, bool skip_bad, size_t *count,
                             enum request_trace_layout *layout, struct error *error)
{
    FILE *stream = fmemopen((void *)text, length, "r");
    struct request_trace *trace = NULL;
    bool more = true;
    ck_assert_ptr_nonnull(stream);
    *count = 0;
    enum status status = request_trace_attach(stream, "trace", skip_bad, &trace, error);
    while (status == STATUS_OK && more) {
        ck_assert_uint_lt(*count, REQUESTS_MAX);
        status = request_trace_next(trace, &requests[*count], &more, error);
        *count += status == STATUS_OK && more;
    }
    if (trace != NULL) {
        const char *first;
        skipped = request_trace_skipped(trace, &first);
        snprintf(first_skipped, sizeof first_skipped, "%s", first);
        *layout = request_trace_layout_of(trace);
    }
    request_trace_free(trace);
    fclose(stream);
    return status;
}

static size_t must_read(const char *text, enum request_trace_layout expected)
{
    struct error error = {0};
    enum request_trace_layout layout = REQUEST_TRACE_OWN;
    size_t count;
    ck_assert_msg(read_text(text, strlen(text), false, &count, &layout, &error) == STATUS_OK, "%s", error.text);
    ck_assert_int_eq(layout, expected);
    return count;
}

START_TEST(azure_columns_with_dates)
{
    ck_assert_uint_eq(must_read("TIMESTAMP,ContextTokens,GeneratedTokens\n"
                                "2023-11-16 18:15:46.6805900,374,44\n"
                                "2023-11-16 18:15:50.9951690,396,109\r\n"
                                "2023-12-01 00:00:00,1,2\n"
                                "2024-03-01 00:00:00.5,1,2",
                                REQUEST_TRACE_AZURE),
                      4);
    assert_close_zero(requests[0].arrival_s, 0.0);
    ck_assert_uint_eq(requests[0].input_tokens, 374);
    ck_assert_uint_eq(requests[1].output_tokens, 109);
    assert_close_rel(requests[1].arrival_s, 4.314579, 1e-12);
    assert_close_rel(requests[2].arrival_s, 14 * 86400.0 + 86400.0 - 65746.68059, 1e-13);
    assert_close_rel(requests[3].arrival_s - requests[2].arrival_s, 91 * 86400.0 + 0.5, 1e-12); /* a leap day */
}
END_TEST

START_TEST(azure_columns_with_zones)
{
    ck_assert_uint_eq(must_read("\xef\xbb\xbf\"TIMESTAMP\",\"ContextTokens\",\"GeneratedTokens\"\n"
                                "\"2024-05-10 00:00:00.009930+00:00\",2162,5\n"
                                "2024-05-10T02:00:01.009930+02:00,2399,6\n"
                                "2024-05-10 00:00:02.009930Z,2399,6\n",
                                REQUEST_TRACE_AZURE),
                      3);
    assert_close_rel(requests[1].arrival_s, 1.0, 1e-12);
    assert_close_rel(requests[2].arrival_s, 2.0, 1e-12);
}
END_TEST

START_TEST(mooncake_columns_and_lines_say_the_same)
{
    struct traced_request first[2];
    ck_assert_uint_eq(must_read("# two requests\ninput_length,timestamp,hash,output_length\n"
                                "6755,27482,x,500\n7319,30535.5,y,490\n",
                                REQUEST_TRACE_MOONCAKE),
                      2);
    memcpy(first, requests, sizeof first);
    ck_assert_uint_eq(
        must_read("{\"timestamp\": 27482, \"input_length\": 6755, \"output_length\": 500, \"hash_ids\": [46, 47]}\n"
                  "\n{\"timestamp\": 30535.5, \"input_length\": 7319, \"output_length\": 490}\n",
                  REQUEST_TRACE_JSONL),
        2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(first[i].input_tokens, requests[i].input_tokens);
        ck_assert_uint_eq(first[i].output_tokens, requests[i].output_tokens);
        ck_assert(first[i].arrival_s == requests[i].arrival_s);
    }
    assert_close_rel(requests[1].arrival_s, 3.0535, 1e-12);
}
END_TEST

START_TEST(own_columns_carry_their_unit)
{
    ck_assert_uint_eq(must_read("arrival_s,input_tokens,output_tokens\n5,1,2\n7.5,3,4\n", REQUEST_TRACE_OWN), 2);
    assert_close_rel(requests[1].arrival_s, 2.5, 1e-12);
    ck_assert_uint_eq(must_read("arrival_ms,input_tokens,output_tokens\n0,1,2\n7.5,3,4\n", REQUEST_TRACE_OWN), 2);
    assert_close_rel(requests[1].arrival_s, 0.0075, 1e-12);
    ck_assert_uint_eq(must_read("arrival_s,input_tokens,output_tokens\n", REQUEST_TRACE_OWN), 0);
}
END_TEST

#define OWN_HEADER "arrival_s,input_tokens,output_tokens\n"

static const struct {
    const char *text, *complaint;
} wrong_lines[] = {
    {"2,1\n", "another number of fields"},
    {"2,1,1,1\n", "another number of fields"},
    {"two,1,1\n", "the time is not a number"},
    {"2,1,\n", "number of tokens is not a number"},
    {"-2,1,1\n", "a time that is not negative"},
    {"0.5,1,1\n", "arrives before the one ahead"},
    {"2,0,1\n", "no prompt or no output tokens"},
    {"2,1,0\n", "no prompt or no output tokens"},
    {"2,1.5,1\n", "whole numbers"},
    {"2,1,1e10\n", "whole numbers"},
    {"2,-1,1\n", "whole numbers"},
    {"\"2,1,1\n", "another number of fields"},
    {"nan,1,1\n", "the time is not a number"},
};

START_TEST(wrong_lines_are_named_or_counted)
{
    char text[256];
    struct error error = {0};
    enum request_trace_layout layout;
    size_t count;
    snprintf(text, sizeof text, "%s1,1,1\n%s3,5,6\n", OWN_HEADER, wrong_lines[_i].text);
    ck_assert_int_eq(read_text(text, strlen(text), false, &count, &layout, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(error.line, 3);
    ck_assert_uint_eq(count, 1);
    ck_assert_msg(strstr(error.text, wrong_lines[_i].complaint) != NULL, "%s", error.text);
    ck_assert_int_eq(read_text(text, strlen(text), true, &count, &layout, &error), STATUS_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(skipped, 1);
    ck_assert_ptr_nonnull(strstr(first_skipped, "trace:3: "));
    ck_assert_uint_eq(requests[1].output_tokens, 6);
    assert_close_rel(requests[1].arrival_s, 2.0, 1e-12);
}
END_TEST

START_TEST(wrong_dates_and_json_are_named)
{
    static const char *const texts[] = {
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-16 18:15:46,1,1\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-29 18:15:46,1,1\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16,1,1\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46+1,1,1\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n12.5,1,1\n",
        "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1}\n{\"timestamp\": 1}\n",
        "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1}\n{\"timestamp\": \"1\", \"input_length\": 1, "
        "\"output_length\": 1}\n",
        "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1}\nnonsense\n",
    };
    struct error error = {0};
    enum request_trace_layout layout;
    size_t count;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_int_eq(read_text(texts[i], strlen(texts[i]), false, &count, &layout, &error), STATUS_BAD_DATA);
        ck_assert_uint_eq(error.line, 2);
    }
    ck_assert_int_eq(read_text("a,b,c\n1,2,3\n", 12, true, &count, &layout, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "ContextTokens"));
    ck_assert_int_eq(read_text("\n \n", 3, true, &count, &layout, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "empty"));
    const char nul[] = OWN_HEADER "1,1,1\n2,\0001,1\n";
    ck_assert_int_eq(read_text(nul, sizeof nul - 1, false, &count, &layout, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(error.line, 3);
}
END_TEST

START_TEST(missing_file)
{
    struct request_trace *trace;
    struct error error = {0};
    ck_assert_int_eq(request_trace_open("no/such/trace.csv", false, &trace, &error), STATUS_MISSING);
    ck_assert_ptr_null(trace);
}
END_TEST

Suite *suite_request_trace(void);
Suite *suite_request_trace(void)
{
    Suite *suite = suite_create("request_trace");
    TCase *tcase = tcase_create("layouts");
    tcase_add_test(tcase, azure_columns_with_dates);
    tcase_add_test(tcase, azure_columns_with_zones);
    tcase_add_test(tcase, mooncake_columns_and_lines_say_the_same);
    tcase_add_test(tcase, own_columns_carry_their_unit);
    tcase_add_loop_test(tcase, wrong_lines_are_named_or_counted, 0, sizeof wrong_lines / sizeof wrong_lines[0]);
    tcase_add_test(tcase, wrong_dates_and_json_are_named);
    tcase_add_test(tcase, missing_file);
    suite_add_tcase(suite, tcase);
    return suite;
}
