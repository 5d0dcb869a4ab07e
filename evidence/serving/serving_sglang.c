/* SPDX-License-Identifier: GPL-3.0-or-later
 * SGLang: bench_serving, and bench_one_batch in process or over a server. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "evidence/serving/serving_reader.h"

/* Share of a batch's time in which it was still starting, from which its decode rate is that of a smaller batch. */
static const double starting_share_most = 0.1;
static const double gauge_factor = 1.5;

static enum status failure(const struct serving_reader *reader)
{
    return reader->error != NULL ? reader->error->status : STATUS_NO_MEMORY;
}

/* --- bench_serving -------------------------------------------------------------------------------------------------
 */

/* Keys that vLLM's files do not have; the oldest files of SGLang have the same as vLLM's and are read as those. */
bool serving_is_sglang(const json_t *object)
{
    static const char *const keys[] = {"mean_e2e_latency_ms", "random_input_len", "server_info", "total_throughput",
                                       "total_output_tokens_retokenized"};

    if (serving_find(object, "output_throughput") == NULL || serving_find(object, "batch_size") != NULL)
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (json_object_get(object, keys[i]) != NULL)
            return true;
    return false;
}

static const char *first_text(const json_t *object, const char *first, const char *second)
{
    const char *text = serving_text(object, first);

    return *text != '\0' ? text : serving_text(object, second);
}

enum status serving_read_sglang(struct serving_reader *reader, const json_t *object)
{
    struct serving_result *result = serving_add(reader, SERVING_RESULT_SGLANG_SERVING);

    if (result == NULL)
        return failure(reader);
    const char *parts[] = {first_text(object, "server_info.model_path", "model"), serving_text(object, "backend")};

    serving_label(reader, result, parts, sizeof parts / sizeof parts[0]);
    result->concurrency = serving_positive(object, "max_concurrency");
    result->request_rate = serving_rate(object, "request_rate");
    result->output_tokens_per_s = serving_positive(object, "output_throughput");
    result->accept_length = serving_positive(object, "accept_length");
    serving_latencies(object, "_ms", 1.0, result);
    serving_lengths(object, result);
    if (!isfinite(result->input_tokens))
        result->input_tokens = serving_positive(object, "random_input_len");
    if (!isfinite(result->output_tokens))
        result->output_tokens = serving_positive(object, "random_output_len");
    if (!isfinite(result->concurrency))
        serving_note(reader, result, "no limit of concurrency: the batch that ran stands for it");
    serving_finish(reader, result);
    return STATUS_OK;
}

/* --- bench_one_batch -----------------------------------------------------------------------------------------------
 */

bool serving_is_one_batch(const json_t *object)
{
    return serving_find(object, "batch_size") != NULL && serving_find(object, "output_len") != NULL &&
           (serving_find(object, "median_decode_latency") != NULL || serving_find(object, "last_ttft") != NULL ||
            serving_find(object, "prefill_latency") != NULL || serving_find(object, "last_gen_throughput") != NULL);
}

/* In process: the time of one step, measured by itself. */
static void take_decode_latency(struct serving_reader *reader, struct serving_result *result, const json_t *object)
{
    result->step_time_ms = serving_positive(object, "median_decode_latency") / SECONDS_PER_MS;
    if (!isfinite(result->step_time_ms))
        return;
    serving_source(reader, result, "median_decode_latency, one step of the batch");
    result->output_tokens_per_s = serving_positive(object, "median_decode_throughput");
    if (!isfinite(result->output_tokens_per_s))
        result->output_tokens_per_s = result->concurrency / result->step_time_ms / SECONDS_PER_MS;
    result->ttft_mean_ms = serving_positive(object, "prefill_latency") / SECONDS_PER_MS;
}

/* Over a server: what is left of the latency when the last request has its first token. */
static void take_server_latency(struct serving_reader *reader, struct serving_result *result, const json_t *object)
{
    double latency_s = serving_positive(object, "latency"), first_s = serving_positive(object, "last_ttft");
    double tokens = result->accept_length > 1.0 ? result->accept_length : 1.0;
    double decode_s = latency_s - (isfinite(first_s) ? first_s : 0.0);
    double gauge = serving_positive(object, "last_gen_throughput");

    result->ttft_mean_ms = first_s / SECONDS_PER_MS;
    result->duration_s = latency_s;
    result->output_tokens_per_s = serving_positive(object, "output_throughput");
    if (decode_s > 0.0 && result->output_tokens > 1.0) {
        result->step_time_ms = decode_s / (result->output_tokens - 1.0) * tokens / SECONDS_PER_MS;
        serving_source(reader, result, "(latency - last_ttft) / (output_len - 1)%s",
                       tokens > 1.0 ? " x acc_length" : "");
        result->output_tokens_per_s = result->concurrency * tokens / result->step_time_ms / SECONDS_PER_MS;
    }
    if (!isfinite(first_s))
        serving_note(reader, result, "no last_ttft: the prefill counts as steps");
    else if (first_s > starting_share_most * latency_s)
        serving_note(reader, result,
                     "the last request got its first token after %.3g of the time: a smaller batch ran until then",
                     first_s / latency_s);
    if (gauge * gauge_factor < result->output_tokens_per_s)
        serving_note(reader, result,
                     "last_gen_throughput says %.4g tokens/s (of one data-parallel rank, or of the last log line) and "
                     "is not used",
                     gauge);
}

enum status serving_read_one_batch(struct serving_reader *reader, const json_t *object)
{
    double batch = serving_positive(object, "batch_size"), steps = serving_positive(object, "output_len");

    if (!isfinite(batch) || !(steps > 1.0)) {
        serving_skip(reader, "bench_one_batch without decode steps (output_len 1)");
        return STATUS_OK;
    }
    struct serving_result *result = serving_add(reader, SERVING_RESULT_SGLANG_ONE_BATCH);

    if (result == NULL)
        return failure(reader);
    const char *name = serving_text(object, "run_name");
    const char *parts[] = {strcmp(name, "default") == 0 ? "" : name};

    serving_label(reader, result, parts, 1);
    result->concurrency = result->running = batch;
    result->input_tokens = serving_positive(object, "input_len");
    result->output_tokens = steps;
    result->accept_length = serving_positive(object, "acc_length");
    take_decode_latency(reader, result, object);
    if (!isfinite(result->step_time_ms))
        take_server_latency(reader, result, object);
    serving_finish(reader, result);
    return STATUS_OK;
}
