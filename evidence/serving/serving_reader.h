/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the readers of serving results share: a tolerant JSON source, fields by path, points and their notes. Private to
 * evidence/serving; callers use serving_results.h. */
#ifndef OCCAM_EVIDENCE_SERVING_SERVING_READER_H
#define OCCAM_EVIDENCE_SERVING_SERVING_READER_H

#include <jansson.h>
#include <stdbool.h>

#include "evidence/serving/serving_results.h"

/* One file being read. */
struct serving_reader {
    const char *file; /* of the results' arena */
    unsigned line;    /* of the value at hand, from 1 */
    bool one_value;   /* the file is one value: points carry no line */
    struct serving_results *results;
    struct error *error;
    bool no_memory; /* remembered until the file ends */
};

/* --- JSON ----------------------------------------------------------------------------------------------------------
 */

/* Values of a text one after the other: one document, several, or JSON lines among other lines. */
struct serving_json {
    const char *at, *end;
    unsigned line; /* where `at` is */
    bool by_lines; /* each line stands for itself; lines that begin with no bracket are no values */
};
void serving_json_begin(struct serving_json *source, const char *text, size_t length);
/* The next object or array as json_tolerant_parse reads it; *value is the caller's (json_decref), NULL at the end.
 * Arrays and objects under keys that hold single requests become null before anything is built from them.
 * STATUS_BAD_DATA with the line of what is no JSON: with by_lines the next call goes on behind it, otherwise at the
 * end. */
MUST_CHECK enum status serving_json_next(struct serving_json *source, const char *name, json_t **value, unsigned *line,
                                         struct error *error);

/* The value at "outer.inner.key"; NULL where there is none or it is null. */
const json_t *serving_find(const json_t *object, const char *path);
/* A finite number, also one written as text; NaN otherwise. */
double serving_number(const json_t *object, const char *path);
/* The same, NaN unless above 0: programs write 0 for what they did not measure. */
double serving_positive(const json_t *object, const char *path);
/* Text; "" where there is none. Borrowed from the object. */
const char *serving_text(const json_t *object, const char *path);
/* A number, or infinity written as "inf" or Infinity. */
double serving_rate(const json_t *object, const char *path);

/* --- points --------------------------------------------------------------------------------------------------------
 */

/* A point of this kind at the reader's file and line with everything else unknown; borrowed until the next one. NULL
 * when memory ran out or there are too many (reader->error is filled). */
struct serving_result *serving_add(struct serving_reader *reader, enum serving_result_kind kind);
/* Joins what is not empty by ", " into the label. */
void serving_label(struct serving_reader *reader, struct serving_result *result, const char *const *parts,
                   size_t count);
/* One more sentence about the point. */
void serving_note(struct serving_reader *reader, struct serving_result *result, const char *format, ...)
    PRINTF_LIKE(3, 4);
void serving_source(struct serving_reader *reader, struct serving_result *result, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Counts what is left out at the reader's place. */
void serving_skip(struct serving_reader *reader, const char *format, ...) PRINTF_LIKE(2, 3);
/* Chooses the step time where the reader has not set it, the batch that ran, and the notes about them (docs/MODEL.md,
 * STEP-20..22). Call once every field is filled. */
void serving_finish(struct serving_reader *reader, struct serving_result *result);

/* Notes of fields that cannot be what they are called: below 0, lists, 0 where requests were completed. */
void serving_check_object(struct serving_reader *reader, struct serving_result *result, const json_t *object);
/* Figures that no server has become unknown, with a note. Part of serving_finish. */
void serving_check_sense(struct serving_reader *reader, struct serving_result *result);

/* mean_, median_ and p99_ of itl, tpot and ttft, as "mean_itl" + suffix, times factor into milliseconds. */
void serving_latencies(const json_t *object, const char *suffix, double factor_ms, struct serving_result *result);
/* Tokens per request from totals over the completed requests. */
void serving_lengths(const json_t *object, struct serving_result *result);

/* --- one reader per family -----------------------------------------------------------------------------------------
 */

/* A reader of one kind of JSON object: `is` looks at keys alone. read returns STATUS_OK also for an object it left out
 * (serving_skip). */
struct serving_object_format {
    bool (*is)(const json_t *object);
    enum status (*read)(struct serving_reader *reader, const json_t *object);
};
bool serving_is_vllm(const json_t *object);
enum status serving_read_vllm(struct serving_reader *reader, const json_t *object);
bool serving_is_sglang(const json_t *object);
enum status serving_read_sglang(struct serving_reader *reader, const json_t *object);
bool serving_is_one_batch(const json_t *object);
enum status serving_read_one_batch(struct serving_reader *reader, const json_t *object);
bool serving_is_perf_tool(const json_t *object);
enum status serving_read_perf_tool(struct serving_reader *reader, const json_t *object);
bool serving_is_guidellm(const json_t *object);
enum status serving_read_guidellm(struct serving_reader *reader, const json_t *object);
bool serving_is_llama_bench(const json_t *object);
enum status serving_read_llama_bench(struct serving_reader *reader, const json_t *object);
bool serving_is_batched_bench(const json_t *object);
enum status serving_read_batched_bench(struct serving_reader *reader, const json_t *object);
bool serving_is_inferencex(const json_t *object);
enum status serving_read_inferencex(struct serving_reader *reader, const json_t *object);

/* Readers of texts: `is` looks at the beginning. */
struct serving_text_format {
    bool (*is)(const char *text, size_t length);
    enum status (*read)(struct serving_reader *reader, const char *text, size_t length);
};
bool serving_is_perf_tool_csv(const char *text, size_t length);
enum status serving_read_perf_tool_csv(struct serving_reader *reader, const char *text, size_t length);
bool serving_is_llama_bench_csv(const char *text, size_t length);
enum status serving_read_llama_bench_csv(struct serving_reader *reader, const char *text, size_t length);
bool serving_is_batched_table(const char *text, size_t length);
enum status serving_read_batched_table(struct serving_reader *reader, const char *text, size_t length);

#endif
