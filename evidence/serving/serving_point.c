/* SPDX-License-Identifier: GPL-3.0-or-later
 * One point of a serving benchmark: what its step time is, how many requests ran, what is odd about it (STEP-20..22).
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "evidence/serving/serving_reader.h"

enum {
    TEXT_MAX = 512 /* one label, source or note; longer ones are cut */
};

/* A chunk of up to half a token more than one is still one token: engines merge a few. */
static const double chunk_ratio_most = 1.5;
/* Below this share of what was offered something else than the batch limits; above that share units do not match. */
static const double running_least = 0.8, running_most = 1.1, running_nonsense = 0.01;
/* Mean over median gap from which prefill of other requests is worth a word. */
static const double mixing_ratio_least = 1.2;
static const double requests_per_slot_least = 3.0;

/* --- texts ---------------------------------------------------------------------------------------------------------
 */

static const char *keep_text(struct serving_reader *reader, const char *text)
{
    const char *copy = arena_copy_text(&reader->results->arena, text, strlen(text));

    reader->no_memory = reader->no_memory || copy == NULL;
    return copy != NULL ? copy : "";
}

void serving_note(struct serving_reader *reader, struct serving_result *result, const char *format, ...)
{
    char text[TEXT_MAX];
    size_t used = (size_t)snprintf(text, sizeof text, "%s%s", result->note, result->note[0] != '\0' ? "; " : "");
    va_list arguments;

    if (used >= sizeof text)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    utf8_trim(text);
    result->note = keep_text(reader, text);
}

void serving_source(struct serving_reader *reader, struct serving_result *result, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    utf8_trim(text);
    result->step_source = keep_text(reader, text);
}

void serving_label(struct serving_reader *reader, struct serving_result *result, const char *const *parts, size_t count)
{
    char text[TEXT_MAX];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < sizeof text; i++)
        if (parts[i][0] != '\0')
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "", parts[i]);
    utf8_trim(text);
    for (char *at = text; *at != '\0'; at++) /* labels are shown in one line */
        if ((unsigned char)*at < ' ')
            *at = ' ';
    result->label = keep_text(reader, text);
}

void serving_skip(struct serving_reader *reader, const char *format, ...)
{
    struct serving_results *results = reader->results;
    struct error place = {0};
    char text[TEXT_MAX];
    va_list arguments;

    if (results->skipped++ > 0)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)error_set_at(&place, STATUS_BAD_DATA, reader->file, reader->one_value ? 0 : reader->line, 0, "%s", text);
    (void)error_describe(&place, results->first_skipped, sizeof results->first_skipped);
}

/* --- points --------------------------------------------------------------------------------------------------------
 */

static const struct serving_result unknown_result = {
    .label = "",
    .concurrency = (double)NAN,
    .request_rate = (double)NAN,
    .output_tokens_per_s = (double)NAN,
    .itl_mean_ms = (double)NAN,
    .itl_median_ms = (double)NAN,
    .itl_p99_ms = (double)NAN,
    .tpot_mean_ms = (double)NAN,
    .tpot_median_ms = (double)NAN,
    .tpot_p99_ms = (double)NAN,
    .ttft_mean_ms = (double)NAN,
    .ttft_median_ms = (double)NAN,
    .ttft_p99_ms = (double)NAN,
    .duration_s = (double)NAN,
    .completed = (double)NAN,
    .failed = (double)NAN,
    .input_tokens = (double)NAN,
    .output_tokens = (double)NAN,
    .accept_length = (double)NAN,
    .gpu_count = (double)NAN,
    .step_time_ms = (double)NAN,
    .step_source = "",
    .running = (double)NAN,
    .note = "",
};

struct serving_result *serving_add(struct serving_reader *reader, enum serving_result_kind kind)
{
    struct serving_results *results = reader->results;

    if (results->count == SERVING_RESULTS_MAX) {
        (void)error_set_at(reader->error, STATUS_LIMIT, reader->file, reader->line, 0, "more than %d runs",
                           (int)SERVING_RESULTS_MAX);
        return NULL;
    }
    if (results->count == results->capacity) {
        size_t capacity = results->capacity > 0 ? results->capacity * 2 : 16;
        struct serving_result *items = realloc(results->items, capacity * sizeof *items);

        if (items == NULL) {
            (void)error_set(reader->error, STATUS_NO_MEMORY, "no memory for the runs of %s", reader->file);
            return NULL;
        }
        results->items = items;
        results->capacity = capacity;
    }
    struct serving_result *result = &results->items[results->count++];

    *result = unknown_result;
    result->kind = kind;
    result->file = reader->file;
    result->line = reader->one_value ? 0 : reader->line;
    return result;
}

/* --- the step ------------------------------------------------------------------------------------------------------
 */

static double first_known(double first, double second)
{
    return isfinite(first) ? first : second;
}

/* Tokens per streamed chunk by the two means; NaN where one is unknown. */
static double tokens_per_chunk(const struct serving_result *result)
{
    return result->itl_mean_ms / result->tpot_mean_ms;
}

static bool speculates(const struct serving_result *result)
{
    return result->accept_length > 1.0;
}

static void step_from_tpot(struct serving_reader *reader, struct serving_result *result)
{
    bool median = isfinite(result->tpot_median_ms);
    double tpot_ms = first_known(result->tpot_median_ms, result->tpot_mean_ms);

    result->step_time_ms = speculates(result) ? tpot_ms * result->accept_length : tpot_ms;
    if (speculates(result))
        serving_source(reader, result, "%s TPOT x %.4g tokens accepted per step", median ? "median" : "mean",
                       result->accept_length);
    else
        serving_source(reader, result, "%s TPOT", median ? "median" : "mean");
    if (result->input_tokens > result->output_tokens)
        serving_note(reader, result,
                     "prompts of %.4g tokens for answers of %.4g: TPOT holds the prefill of other requests, the step "
                     "is shorter",
                     result->input_tokens, result->output_tokens);
}

static void step_from_itl(struct serving_reader *reader, struct serving_result *result)
{
    bool median = isfinite(result->itl_median_ms);

    result->step_time_ms = first_known(result->itl_median_ms, result->itl_mean_ms);
    serving_source(reader, result, "%s ITL", median ? "median" : "mean");
    if (!isfinite(tokens_per_chunk(result)))
        serving_note(reader, result, "no mean TPOT beside the ITL tells whether a chunk is one token");
    if (result->itl_mean_ms > mixing_ratio_least * result->itl_median_ms)
        serving_note(reader, result,
                     "the mean ITL is %.3g times the median: prefill of other requests between the steps; tokens/s of "
                     "the whole is lower than batch / step",
                     result->itl_mean_ms / result->itl_median_ms);
}

/* Where no time per token was measured: with the batch always full, a step gives every request its tokens. */
static void step_from_throughput(struct serving_reader *reader, struct serving_result *result)
{
    double tokens = speculates(result) ? result->accept_length : 1.0;

    result->step_time_ms = result->concurrency * tokens / result->output_tokens_per_s / SECONDS_PER_MS;
    if (!isfinite(result->step_time_ms))
        return;
    serving_source(reader, result, "concurrency / tokens per second");
    serving_note(reader, result, "no time per token was measured: prefill and waiting count as steps");
}

static void choose_step(struct serving_reader *reader, struct serving_result *result)
{
    double ratio = tokens_per_chunk(result);
    bool has_itl = isfinite(first_known(result->itl_median_ms, result->itl_mean_ms));
    bool has_tpot = isfinite(first_known(result->tpot_median_ms, result->tpot_mean_ms));

    if (ratio > chunk_ratio_most && !speculates(result))
        serving_note(reader, result,
                     "chunks are not tokens: about %.3g of them in each (a stream interval, or speculative decoding "
                     "that the file does not name)",
                     ratio);
    if (has_itl && !speculates(result) && !(ratio > chunk_ratio_most))
        step_from_itl(reader, result);
    else if (has_tpot)
        step_from_tpot(reader, result);
    else
        step_from_throughput(reader, result);
}

/* --- the batch -----------------------------------------------------------------------------------------------------
 */

/* Mean time between two tokens of one request: what Little's law takes. */
static double mean_token_time_ms(const struct serving_result *result)
{
    double step_ms = speculates(result) ? result->step_time_ms / result->accept_length : result->step_time_ms;
    double mean_ms = first_known(result->tpot_mean_ms, result->tpot_median_ms);

    if (!isfinite(mean_ms) && !speculates(result))
        mean_ms = result->itl_mean_ms;
    return first_known(mean_ms, step_ms);
}

/* Requests anywhere between sent and done, by Little's law over their whole latency; NaN where that is unknown. */
static double in_flight(const struct serving_result *result)
{
    double latency_ms = result->ttft_mean_ms + (result->output_tokens - 1.0) * mean_token_time_ms(result);

    return result->output_tokens_per_s / result->output_tokens * latency_ms * SECONDS_PER_MS;
}

static void judge_batch(struct serving_reader *reader, struct serving_result *result)
{
    double share = result->running / result->concurrency, flying = in_flight(result) / result->concurrency;

    if (share > running_most)
        serving_note(reader, result,
                     "%.4g requests ran where %.4g were offered: the concurrency, or a unit, is not what it says; the "
                     "offered number is used",
                     result->running, result->concurrency);
    else if (share < running_least && flying >= running_least)
        serving_note(reader, result,
                     "%.4g of %.4g requests were decoding, the others waited or were in prefill: an admission limit, "
                     "or long prompts",
                     result->running, result->concurrency);
    else if (share < running_nonsense) {
        serving_note(reader, result,
                     "%.4g of %.4g requests ran: the concurrency, or a unit, is not what it says; the offered number "
                     "is used",
                     result->running, result->concurrency);
        result->running = (double)NAN;
    } else if (share < running_least)
        serving_note(reader, result, "%.4g of %.4g requests ran: an admission limit, a slow client or few prompts",
                     result->running, result->concurrency);
    if (result->completed < requests_per_slot_least * result->concurrency)
        serving_note(reader, result, "%.4g requests at %.4g at a time: starting and draining weigh in the figures",
                     result->completed, result->concurrency);
    if (result->failed > 0.0)
        serving_note(reader, result, "%.4g requests failed", result->failed);
}

void serving_finish(struct serving_reader *reader, struct serving_result *result)
{
    serving_check_sense(reader, result);
    bool given = isfinite(result->step_time_ms);

    if (!given)
        choose_step(reader, result);
    if (!isfinite(result->running))
        result->running = result->output_tokens_per_s * mean_token_time_ms(result) * SECONDS_PER_MS;
    judge_batch(reader, result);
}
