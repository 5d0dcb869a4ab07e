/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a request trace, read to its end with wrong lines left out, then to the first wrong line. */
#include <math.h>
#include <stdio.h>

#include "evidence/serving/request_trace.h"
#include "tests/fuzz/fuzz_target.h"

/* Requests in the order of time, with tokens; else an error that says where. */
static void read_trace(FILE *stream, bool skip_bad)
{
    struct request_trace *trace = NULL;
    struct traced_request request;
    struct error error = {0};
    bool more = true;
    double last_s = 0.0;
    enum status status = request_trace_attach(stream, "input", skip_bad, &trace, &error);
    while (status == STATUS_OK && more) {
        status = request_trace_next(trace, &request, &more, &error);
        if (status == STATUS_OK && more) {
            FUZZ_REQUIRE(isfinite(request.arrival_s) && request.arrival_s >= last_s);
            FUZZ_REQUIRE(request.input_tokens > 0 && request.output_tokens > 0);
            last_s = request.arrival_s;
        }
    }
    FUZZ_REQUIRE(status == STATUS_OK || (error.text[0] != '\0' && error.line > 0));
    FUZZ_REQUIRE(status == STATUS_OK || trace == NULL || !skip_bad);
    request_trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    for (int skip_bad = 0; skip_bad < 2; skip_bad++) {
        FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
        if (stream == NULL) {
            return 0;
        }
        read_trace(stream, skip_bad != 0);
        fclose(stream);
    }
    return 0;
}
