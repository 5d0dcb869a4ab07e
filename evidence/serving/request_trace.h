/* SPDX-License-Identifier: GPL-3.0-or-later
 * Traces of requests, one line after the other, whatever their length: when each arrives, how long its prompt is, how
 * many tokens it produces. Layouts are told apart by their header (docs/DATA.md, request traces). */
#ifndef OCCAM_EVIDENCE_SERVING_REQUEST_TRACE_H
#define OCCAM_EVIDENCE_SERVING_REQUEST_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

enum {
    REQUEST_TRACE_LINE_MAX = 1 << 20 /* bytes */
};

enum request_trace_layout {
    REQUEST_TRACE_OWN,      /* CSV arrival_s | arrival_ms, input_tokens, output_tokens */
    REQUEST_TRACE_AZURE,    /* CSV TIMESTAMP (date and time), ContextTokens, GeneratedTokens */
    REQUEST_TRACE_MOONCAKE, /* CSV timestamp (milliseconds), input_length, output_length */
    REQUEST_TRACE_JSONL     /* the same keys, one JSON object a line */
};

struct traced_request {
    double arrival_s; /* since the first request of the trace, which arrives at 0 */
    uint64_t input_tokens, output_tokens;
};

struct request_trace;

/* Reads the header. skip_bad: lines that are wrong are left out and counted instead of ending the reading. Caller
 * frees *trace with request_trace_free, also NULL. STATUS_MISSING, STATUS_BAD_DATA with the line. */
MUST_CHECK enum status request_trace_open(const char *path, bool skip_bad, struct request_trace **trace,
                                          struct error *error);
/* The same from an open stream that stays the caller's; name is for messages. */
MUST_CHECK enum status request_trace_attach(FILE *stream, const char *name, bool skip_bad, struct request_trace **trace,
                                            struct error *error);
/* The next request; *more false at the end. Wrong lines: too few fields, no numbers, negative or unsorted times,
 * requests without prompt or output tokens, more than 10^9 tokens. */
MUST_CHECK enum status request_trace_next(struct request_trace *trace, struct traced_request *request, bool *more,
                                          struct error *error);
enum request_trace_layout request_trace_layout_of(const struct request_trace *trace);
/* Lines left out so far, and what was wrong with the first of them; "" if none. The text is the trace's. */
uint64_t request_trace_skipped(const struct request_trace *trace, const char **first);
void request_trace_free(struct request_trace *trace);

#endif
