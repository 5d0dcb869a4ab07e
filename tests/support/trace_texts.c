/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reading texts of profiler traces. */
#include "tests/support/trace_texts.h"

#include <check.h>
#include <string.h>

#include "evidence/byte_stream.h"
#include "evidence/profiles/trace_reader_private.h"

enum status trace_text_read(const char *text, size_t length, bool parses_all, struct kernel_claim_list *list,
                            struct error *error)
{
    struct byte_stream *stream = NULL;
    kernel_claim_list_release(list);
    *error = (struct error){0};
    ck_assert_int_eq(byte_stream_open_memory(text, length, "t.json", &stream, error), STATUS_OK);
    enum status status = trace_read_stream(stream, "t.json", parses_all, list, error);
    byte_stream_free(stream);
    return status;
}

struct kernel_claim_list trace_list;
struct error trace_error;

void trace_list_setup(void)
{
    trace_list = (struct kernel_claim_list){0};
    trace_error = (struct error){0};
}

void trace_list_teardown(void)
{
    kernel_claim_list_release(&trace_list);
}

enum status trace_list_read(const char *text, size_t length, bool parses_all)
{
    return trace_text_read(text, length, parses_all, &trace_list, &trace_error);
}

void trace_list_must_read(const char *text)
{
    const enum status status = trace_list_read(text, strlen(text), false);
    ck_assert_msg(status == STATUS_OK, "%s: %s", text, trace_error.text);
}
