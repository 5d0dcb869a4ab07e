/* SPDX-License-Identifier: GPL-3.0-or-later
 * InferenceX (InferenceMAX) aggregates: seconds instead of milliseconds, throughput per GPU. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "evidence/serving/serving_reader.h"

enum {
    PART_SIZE = 48
};

/* Rows of its database keep the figures one level down. */
static const json_t *figures_of(const json_t *object)
{
    const json_t *metrics = serving_find(object, "metrics");

    return json_is_object(metrics) ? metrics : object;
}

bool serving_is_inferencex(const json_t *object)
{
    const json_t *figures = figures_of(object);

    return serving_find(object, "conc") != NULL &&
           (serving_find(figures, "output_tput_per_gpu") != NULL || serving_find(figures, "tput_per_gpu") != NULL ||
            serving_find(figures, "output_tput_tps") != NULL);
}

/* Written as true, "true" or "True". */
static bool says_yes(const json_t *object, const char *key)
{
    return json_is_true(serving_find(object, key)) || strcasecmp(serving_text(object, key), "true") == 0;
}

static double or_one(double value)
{
    return isfinite(value) ? value : 1.0;
}

/* GPUs that output_tput_per_gpu was divided by; NaN where the row does not say. */
static double dividing_gpus(const json_t *object)
{
    double decode = serving_positive(object, "num_decode_gpu"), tp = serving_positive(object, "tp");

    if (says_yes(object, "is_multinode") || says_yes(object, "disagg")) {
        double prefill = serving_positive(object, "num_prefill_gpu");

        /* Newer rows divide by the whole cluster, and say so by a figure per decode GPU beside it. */
        if (serving_find(figures_of(object), "output_tput_per_decode_gpu") != NULL)
            return decode + (isfinite(prefill) ? prefill : 0.0);
        return decode;
    }
    if (isfinite(tp))
        return tp * or_one(serving_positive(object, "pp")) * or_one(serving_positive(object, "pcp"));
    return isfinite(decode) ? decode : serving_positive(object, "decode_tp");
}

static void take_throughput(struct serving_reader *reader, struct serving_result *result, const json_t *object)
{
    const json_t *figures = figures_of(object);
    double whole = serving_positive(figures, "output_tput_tps");
    double per_gpu = serving_positive(figures, "output_tput_per_gpu");

    result->gpu_count = dividing_gpus(object);
    result->output_tokens_per_s = isfinite(whole) ? whole : per_gpu * result->gpu_count;
    if (isfinite(whole))
        return;
    if (!isfinite(per_gpu))
        serving_note(reader, result, "no output throughput in the row");
    else if (!isfinite(result->gpu_count))
        serving_note(reader, result, "throughput is per GPU and the row does not say how many there are");
    else
        serving_note(reader, result, "throughput per GPU times %.4g GPUs; latencies were seconds", result->gpu_count);
}

static void name_part(char *out, const json_t *object, const char *key, const char *prefix)
{
    double value = serving_positive(object, key);

    out[0] = '\0';
    if (isfinite(value))
        (void)snprintf(out, PART_SIZE, "%s%.10g", prefix, value);
}

/* "none" and "false" stand for no speculative decoding. */
static const char *speculation(const json_t *object)
{
    const char *text = serving_text(object, "spec_decoding");

    if (*text == '\0')
        text = serving_text(object, "spec_method");
    return strcmp(text, "none") == 0 || strcasecmp(text, "false") == 0 ? "" : text;
}

static void take_label(struct serving_reader *reader, struct serving_result *result, const json_t *object)
{
    char tp[PART_SIZE], ep[PART_SIZE], decode[PART_SIZE];
    const char *hardware = serving_text(object, "hw");

    name_part(tp, object, "tp", "tp");
    name_part(ep, object, "ep", "ep");
    name_part(decode, object, "decode_tp", "decode tp");
    const char *parts[] = {serving_text(object, "model"),
                           *hardware != '\0' ? hardware : serving_text(object, "device"),
                           serving_text(object, "framework"),
                           serving_text(object, "precision"),
                           tp[0] != '\0' ? tp : decode,
                           ep,
                           says_yes(object, "dp_attention") ? "dp attention" : "",
                           says_yes(object, "disagg") ? "disaggregated" : "",
                           speculation(object)};

    serving_label(reader, result, parts, sizeof parts / sizeof parts[0]);
}

static void take_latencies(struct serving_result *result, const json_t *figures)
{
    serving_latencies(figures, "", 1.0 / SECONDS_PER_MS, result);
    if (!isfinite(result->tpot_mean_ms))
        result->tpot_mean_ms = 1.0 / serving_positive(figures, "mean_intvty") / SECONDS_PER_MS;
    if (!isfinite(result->tpot_median_ms))
        result->tpot_median_ms = 1.0 / serving_positive(figures, "median_intvty") / SECONDS_PER_MS;
}

enum status serving_read_inferencex(struct serving_reader *reader, const json_t *object)
{
    const json_t *figures = figures_of(object);
    struct serving_result *result = serving_add(reader, SERVING_RESULT_INFERENCEX);

    if (result == NULL)
        return reader->error != NULL ? reader->error->status : STATUS_NO_MEMORY;
    take_label(reader, result, object);
    result->concurrency = serving_positive(object, "conc");
    result->input_tokens = serving_positive(object, "isl");
    result->output_tokens = serving_positive(object, "osl");
    result->duration_s = serving_positive(figures, "duration_seconds");
    result->accept_length = serving_positive(figures, "observed_tokens_per_step");
    take_throughput(reader, result, object);
    take_latencies(result, figures);
    if (*speculation(object) != '\0' && !isfinite(result->accept_length))
        serving_note(reader, result,
                     "speculative decoding without its accept length: a step takes longer than the time given here");
    serving_finish(reader, result);
    return STATUS_OK;
}
