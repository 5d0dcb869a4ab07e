/* SPDX-License-Identifier: GPL-3.0-or-later
 * GuideLLM's benchmarks.json, version 2 and the one before it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/serving/serving_reader.h"

static const double tokens_per_chunk_most = 1.5;

bool serving_is_guidellm(const json_t *object)
{
    const json_t *list = serving_find(object, "benchmarks");

    return json_is_array(list) && serving_find(json_array_get(list, 0), "metrics") != NULL;
}

static double metric(const json_t *benchmark, const char *name, const char *statistic)
{
    char path[128];

    (void)snprintf(path, sizeof path, "metrics.%s.successful.%s", name, statistic);
    return serving_positive(benchmark, path);
}

/* Version 2 keeps the strategy under config, the one before it under args. */
static const json_t *strategy_of(const json_t *benchmark)
{
    const json_t *strategy = serving_find(benchmark, "config.strategy");

    return strategy != NULL ? strategy : serving_find(benchmark, "args.strategy");
}

static void take_load(struct serving_reader *reader, struct serving_result *result, const json_t *benchmark)
{
    const json_t *strategy = strategy_of(benchmark);
    const char *type = serving_text(strategy, "type_");

    result->concurrency = serving_positive(strategy, "streams");
    if (strcmp(type, "synchronous") == 0)
        result->concurrency = 1.0;
    if (!isfinite(result->concurrency) && strcmp(type, "throughput") == 0)
        result->concurrency = serving_positive(strategy, "max_concurrency");
    result->request_rate = serving_rate(strategy, "rate");
    if (!isfinite(result->concurrency))
        serving_note(reader, result, "load given as %s: %.4g requests were in flight on average",
                     *type != '\0' ? type : "no strategy", metric(benchmark, "request_concurrency", "mean"));
}

static double first_of(const json_t *object, const char *first, const char *second)
{
    double value = serving_number(object, first);

    return isfinite(value) ? value : serving_number(object, second);
}

static void take_metrics(struct serving_reader *reader, struct serving_result *result, const json_t *benchmark)
{
    double per_chunk = metric(benchmark, "output_tokens_per_iteration", "mean");

    result->output_tokens_per_s = metric(benchmark, "output_tokens_per_second", "mean");
    result->tpot_mean_ms = metric(benchmark, "inter_token_latency_ms", "mean");
    result->tpot_median_ms = metric(benchmark, "inter_token_latency_ms", "median");
    result->tpot_p99_ms = metric(benchmark, "inter_token_latency_ms", "percentiles.p99");
    result->ttft_mean_ms = metric(benchmark, "time_to_first_token_ms", "mean");
    result->ttft_median_ms = metric(benchmark, "time_to_first_token_ms", "median");
    result->ttft_p99_ms = metric(benchmark, "time_to_first_token_ms", "percentiles.p99");
    result->input_tokens = metric(benchmark, "prompt_token_count", "mean");
    result->output_tokens = metric(benchmark, "output_token_count", "mean");
    result->completed = first_of(benchmark, "metrics.request_totals.successful", "run_stats.requests_made.successful");
    result->failed = first_of(benchmark, "metrics.request_totals.errored", "run_stats.requests_made.errored");
    result->duration_s = serving_number(benchmark, "scheduler_metrics.measure_end_time") -
                         serving_number(benchmark, "scheduler_metrics.measure_start_time");
    if (!(result->duration_s > 0.0))
        result->duration_s = serving_positive(benchmark, "duration");
    if (per_chunk > tokens_per_chunk_most)
        serving_note(reader, result,
                     "chunks are not tokens: about %.3g of them in each (a stream interval, or speculative decoding)",
                     per_chunk);
}

static enum status read_benchmark(struct serving_reader *reader, const json_t *benchmark)
{
    if (!json_is_object(serving_find(benchmark, "metrics"))) {
        serving_skip(reader, "a benchmark without metrics");
        return STATUS_OK;
    }
    struct serving_result *result = serving_add(reader, SERVING_RESULT_GUIDELLM);

    if (result == NULL)
        return reader->error != NULL ? reader->error->status : STATUS_NO_MEMORY;
    const char *model = serving_text(benchmark, "config.backend.model");
    const char *parts[] = {*model != '\0' ? model : serving_text(benchmark, "worker.backend_model")};

    serving_label(reader, result, parts, 1);
    take_load(reader, result, benchmark);
    take_metrics(reader, result, benchmark);
    serving_finish(reader, result);
    return STATUS_OK;
}

enum status serving_read_guidellm(struct serving_reader *reader, const json_t *object)
{
    const json_t *list = serving_find(object, "benchmarks");
    enum status status = STATUS_OK;

    for (size_t i = 0; i < json_array_size(list) && status == STATUS_OK; i++)
        status = read_benchmark(reader, json_array_get(list, i));
    return status;
}
