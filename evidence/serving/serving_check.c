/* SPDX-License-Identifier: GPL-3.0-or-later
 * Figures of a run that cannot be what they are called: said, and not used. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "evidence/json_tolerant.h"
#include "evidence/serving/serving_reader.h"

enum {
    CHECK_DEPTH_MAX = 3
};

/* What the readers take from a run, and the statistics that stand below a name; none can be below 0 or a list. */
static const char *const measured_keys[] = {"output_throughput",
                                            "request_throughput",
                                            "total_token_throughput",
                                            "duration",
                                            "completed",
                                            "failed",
                                            "total_input_tokens",
                                            "total_output_tokens",
                                            "max_concurrency",
                                            "accept_length",
                                            "spec_decode_acceptance_length",
                                            "mean_itl_ms",
                                            "median_itl_ms",
                                            "p99_itl_ms",
                                            "mean_tpot_ms",
                                            "median_tpot_ms",
                                            "p99_tpot_ms",
                                            "mean_ttft_ms",
                                            "median_ttft_ms",
                                            "p99_ttft_ms",
                                            "mean_itl",
                                            "median_itl",
                                            "mean_tpot",
                                            "median_tpot",
                                            "mean_ttft",
                                            "median_ttft",
                                            "conc",
                                            "isl",
                                            "osl",
                                            "output_tput_per_gpu",
                                            "output_tput_tps",
                                            "latency",
                                            "avg",
                                            "mean",
                                            "median",
                                            "p50",
                                            "p99"};

static bool is_measured(const char *key)
{
    for (size_t i = 0; i < sizeof measured_keys / sizeof measured_keys[0]; i++)
        if (strcmp(key, measured_keys[i]) == 0)
            return true;
    return false;
}

static void check_value(struct serving_reader *reader, struct serving_result *result, const char *key,
                        const json_t *value)
{
    double number = 0.0;

    if (json_is_array(value) || json_is_boolean(value))
        serving_note(reader, result, "%s is %s, no number: left out", key, json_is_array(value) ? "a list" : "a truth");
    else if (json_tolerant_number(value, &number) && number < 0.0)
        serving_note(reader, result, "%s of %.4g is below 0: left out", key, number);
}

static void check_object(struct serving_reader *reader, struct serving_result *result, const json_t *object,
                         unsigned depth)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (json_is_object(value) && depth < CHECK_DEPTH_MAX)
            check_object(reader, result, value, depth + 1);
        else if (is_measured(key))
            check_value(reader, result, key, value);
    }
}

void serving_check_object(struct serving_reader *reader, struct serving_result *result, const json_t *object)
{
    static const char *const never_zero[] = {"duration", "output_throughput"};

    check_object(reader, result, object, 0);
    for (size_t i = 0; i < sizeof never_zero / sizeof never_zero[0]; i++)
        if (result->completed > 0.0 && serving_number(object, never_zero[i]) == 0.0)
            serving_note(reader, result, "%s is 0 although %.4g requests were completed", never_zero[i],
                         result->completed);
}

/* The bounds of a measured table's rows: no server of today or of the next years is outside. */
void serving_check_sense(struct serving_reader *reader, struct serving_result *result)
{
    const struct {
        const char *what;
        double *value, least, most;
    } checks[] = {{"a concurrency", &result->concurrency, 1.0, 1e7},
                  {"tokens per second", &result->output_tokens_per_s, 1e-3, 1e10},
                  {"a median ITL in ms", &result->itl_median_ms, 1e-3, 1e7},
                  {"a mean ITL in ms", &result->itl_mean_ms, 1e-3, 1e7},
                  {"a median TPOT in ms", &result->tpot_median_ms, 1e-3, 1e7},
                  {"a mean TPOT in ms", &result->tpot_mean_ms, 1e-3, 1e7},
                  {"a step time in ms", &result->step_time_ms, 1e-3, 1e7}};

    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (isnan(*checks[i].value) || (*checks[i].value >= checks[i].least && *checks[i].value <= checks[i].most))
            continue;
        serving_note(reader, result, "%s of %.4g makes no sense: left out", checks[i].what, *checks[i].value);
        *checks[i].value = (double)NAN;
    }
}
