/* SPDX-License-Identifier: GPL-3.0-or-later
 * vllm bench serve --save-result, and what SGLang and InferenceX have in common with it. */
#include <math.h>
#include <stdio.h>

#include "evidence/serving/serving_reader.h"

static double latency(const json_t *object, const char *statistic, const char *what, const char *suffix, double factor)
{
    char key[64];

    (void)snprintf(key, sizeof key, "%s_%s%s", statistic, what, suffix);
    return factor * serving_positive(object, key);
}

void serving_latencies(const json_t *object, const char *suffix, double factor_ms, struct serving_result *result)
{
    const struct {
        const char *what;
        double *mean, *median, *p99;
    } rows[] = {
        {"itl", &result->itl_mean_ms, &result->itl_median_ms, &result->itl_p99_ms},
        {"tpot", &result->tpot_mean_ms, &result->tpot_median_ms, &result->tpot_p99_ms},
        {"ttft", &result->ttft_mean_ms, &result->ttft_median_ms, &result->ttft_p99_ms},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i].mean = latency(object, "mean", rows[i].what, suffix, factor_ms);
        *rows[i].median = latency(object, "median", rows[i].what, suffix, factor_ms);
        *rows[i].p99 = latency(object, "p99", rows[i].what, suffix, factor_ms);
    }
}

void serving_lengths(const json_t *object, struct serving_result *result)
{
    result->duration_s = serving_positive(object, "duration");
    result->completed = serving_number(object, "completed");
    result->failed = serving_number(object, "failed");
    result->input_tokens = serving_positive(object, "total_input_tokens") / result->completed;
    result->output_tokens = serving_positive(object, "total_output_tokens") / result->completed;
    if (!isfinite(result->input_tokens))
        result->input_tokens = (double)NAN;
    if (!isfinite(result->output_tokens))
        result->output_tokens = (double)NAN;
}

bool serving_is_vllm(const json_t *object)
{
    return serving_find(object, "output_throughput") != NULL &&
           (serving_find(object, "mean_ttft_ms") != NULL || serving_find(object, "mean_tpot_ms") != NULL ||
            serving_find(object, "mean_itl_ms") != NULL || serving_find(object, "total_token_throughput") != NULL);
}

enum status serving_read_vllm(struct serving_reader *reader, const json_t *object)
{
    struct serving_result *result = serving_add(reader, SERVING_RESULT_VLLM_SERVE);

    if (result == NULL)
        return reader->error != NULL ? reader->error->status : STATUS_NO_MEMORY;
    const char *parts[] = {serving_text(object, "model_id"), serving_text(object, "label")};

    serving_label(reader, result, parts, sizeof parts / sizeof parts[0]);
    result->concurrency = serving_positive(object, "max_concurrency");
    result->request_rate = serving_rate(object, "request_rate");
    result->output_tokens_per_s = serving_positive(object, "output_throughput");
    result->accept_length = serving_positive(object, "spec_decode_acceptance_length");
    serving_latencies(object, "_ms", 1.0, result);
    serving_lengths(object, result);
    if (!isfinite(result->concurrency))
        serving_note(reader, result, "no limit of concurrency: the batch that ran stands for it");
    serving_finish(reader, result);
    return STATUS_OK;
}
