/* SPDX-License-Identifier: GPL-3.0-or-later
 * Results of serving benchmarks in one form: points of throughput and latency over concurrency, whatever program wrote
 * them (docs/DATA.md, serving results). Used by `occam curve`, the step-time fit, `judge` and `inspect`. */
#ifndef OCCAM_EVIDENCE_SERVING_SERVING_RESULTS_H
#define OCCAM_EVIDENCE_SERVING_SERVING_RESULTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/arena.h"

/* SERVING_RESULT_KIND_LIST(X): X(NAME, "text for people"). */
#define SERVING_RESULT_KIND_LIST(X)                                                                                    \
    X(VLLM_SERVE, "vllm bench serve")                                                                                  \
    X(SGLANG_SERVING, "SGLang bench_serving")                                                                          \
    X(SGLANG_ONE_BATCH, "SGLang bench_one_batch")                                                                      \
    X(AIPERF, "AIPerf")                                                                                                \
    X(GENAI_PERF, "GenAI-Perf")                                                                                        \
    X(GUIDELLM, "GuideLLM")                                                                                            \
    X(LLAMA_BENCH, "llama-bench")                                                                                      \
    X(LLAMA_BATCHED_BENCH, "llama-batched-bench")                                                                      \
    X(INFERENCEX, "InferenceX")

#define SERVING_RESULT_KIND_ENUM_ENTRY(name, text) SERVING_RESULT_##name,
enum serving_result_kind {
    SERVING_RESULT_KIND_LIST(SERVING_RESULT_KIND_ENUM_ENTRY) SERVING_RESULT_KIND_COUNT
};
#undef SERVING_RESULT_KIND_ENUM_ENTRY
/* "vllm bench serve", ...; static. */
const char *serving_result_kind_name(enum serving_result_kind kind);

enum {
    SERVING_RESULTS_MAX = 20000, /* points */
    SERVING_RESULTS_BYTES_MAX = 256 << 20
};

/* One run at one load. NaN: the file does not say. Throughput is of the whole deployment, not per GPU. */
struct serving_result {
    enum serving_result_kind kind;
    const char *file;
    unsigned line;       /* of JSON lines and CSV; 0 */
    const char *label;   /* model, engine, hardware, as far as the file says; "" */
    double concurrency;  /* nominal: what the client offered; NaN for loads given as a rate */
    double request_rate; /* 1/s; infinity = all at once */
    double output_tokens_per_s;
    double itl_mean_ms, itl_median_ms, itl_p99_ms;    /* gaps between chunks, pooled */
    double tpot_mean_ms, tpot_median_ms, tpot_p99_ms; /* per request, without the first token */
    double ttft_mean_ms, ttft_median_ms, ttft_p99_ms;
    double duration_s, completed, failed; /* requests; +inf for request_rate only */
    double input_tokens, output_tokens;   /* per request */
    double accept_length;                 /* tokens per verification step of speculative decoding */
    double gpu_count;
    double step_time_ms;     /* best estimate of one decode step (docs/MODEL.md, STEP-20); NaN */
    const char *step_source; /* which field that is, and what was done to it */
    double running;   /* requests that were decoding on average: output_tokens_per_s x mean time per token; NaN */
    const char *note; /* traps seen: chunks that are no tokens, warm-up, client limit, units; "" */
    unsigned series;  /* points of one deployment and workload share it; set by serving_results_settle */
};

/* Zero-initialise; texts belong to the arena. */
struct serving_results {
    size_t count, capacity;
    struct serving_result *items; /* in the order of the files */
    uint64_t skipped;             /* runs and lines left out: no JSON, none of the kinds, no decode step in them */
    char first_skipped[256];      /* where and why; "" */
    unsigned series_count;
    struct arena arena;
};

/* Appends the points of one file, or of all files of a folder and its folders: there, files that are none of the kinds
 * are passed over, and so is the second form of a run (NAME.csv beside NAME.json, agg_NAME.json beside NAME.json). What
 * was appended so far stays after an error. STATUS_BAD_DATA with the place when a file is none of the kinds (or nothing
 * in a folder is), STATUS_LIMIT for more than SERVING_RESULTS_MAX points or a larger file than
 * SERVING_RESULTS_BYTES_MAX, STATUS_MISSING. */
MUST_CHECK enum status serving_results_read(const char *path, struct serving_results *results, struct error *error);
/* The same from text; name is for messages, and where it is a path its folder may say the concurrency. */
MUST_CHECK enum status serving_results_parse(const char *text, size_t length, const char *name,
                                             struct serving_results *results, struct error *error);
/* Sorts by series and concurrency, repeats in the order of reading, and adds to the notes what only neighbours tell
 * (warm-up in the first point, quantised throughput). A series: one label, and prompts and answers of about one length.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status serving_results_settle(struct serving_results *results, struct error *error);
void serving_results_release(struct serving_results *results);

#endif
