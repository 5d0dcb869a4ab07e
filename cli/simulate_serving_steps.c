/* SPDX-License-Identifier: GPL-3.0-or-later
 * The step times that the serving simulator asks for: law, prediction of a changed configuration, measured points. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/simulate_serving.h"
#include "model/predict/step_time.h"

/* Between two points, or along the line through the nearest two beyond the ends. */
static double interpolate(const struct serving_step_times *times, double batch)
{
    uint32_t right = 1;

    if (times->count == 1)
        return times->times_s[0];
    while (right + 1 < times->count && times->batches[right] < batch)
        right++;
    double left_batch = times->batches[right - 1], left_s = times->times_s[right - 1];

    return left_s + (times->times_s[right] - left_s) * (batch - left_batch) / (times->batches[right] - left_batch);
}

double serving_step_time(void *context, const struct serving_step *step)
{
    struct serving_step_times *times = context;
    double batch = (double)step->batch;
    double base = times->law != NULL ? step_time_evaluate(times->law, batch) : interpolate(times, batch);

    times->steps++;
    times->outside += batch < times->measured_lo || batch > times->measured_hi;
    return base + times->prefill_s_per_token * (double)step->prefill_tokens +
           times->context_s_per_token *
               ((double)step->context_tokens - times->context_reference_tokens * (double)step->requests);
}

/* Whole numbers from 1 to largest, every one at first, then in equal ratios. */
static void grid_make(double largest, struct number_list *list)
{
    double ratio = pow(fmax(largest, 2.0), 1.0 / (SERVING_GRID_MAX - 1)), at = 1.0;

    list->count = 0;
    for (double last = 0.0; list->count < SERVING_GRID_MAX && last < largest;) {
        last = fmin(largest, fmax(last + 1.0, floor(at)));
        list->items[list->count++] = last;
        at = fmax(at, last) * ratio;
    }
    list->items[list->count - 1] = largest;
}

static double largest_batch(const struct serving_config *config)
{
    double largest = (double)config->max_batch;

    if (config->captured_count > 0)
        largest = fmax(largest, (double)config->captured_sizes[config->captured_count - 1]);
    return largest;
}

static enum status use_variant(struct serving_step_times *times, const struct throughput_curve *curve,
                               struct error *error)
{
    if (*curve->variant_reason != '\0')
        return error_set(error, STATUS_DOMAIN, "the changed configuration has no step time: %s", curve->variant_reason);
    for (size_t i = 0; i < curve->count; i++) {
        times->batches[times->count] = curve->points[i].concurrency;
        times->times_s[times->count++] = curve->points[i].variant.step_time_s;
        if (!isfinite(curve->points[i].variant.step_time_s))
            return error_set(error, STATUS_DOMAIN, "the changed configuration has no step time for a batch of %g",
                             curve->points[i].concurrency);
    }
    return STATUS_OK;
}

static int compare_points(const void *left, const void *right)
{
    double a = ((const struct serving_point *)left)->concurrency,
           b = ((const struct serving_point *)right)->concurrency;

    return (a > b) - (a < b);
}

/* Points of one concurrency are taken together by their mean. */
static enum status use_points(struct serving_step_times *times, const struct serving_model *serving,
                              struct error *error)
{
    struct serving_point sorted[SERVING_POINTS_MAX];
    uint32_t same = 0;

    memcpy(sorted, serving->points, serving->point_count * sizeof *sorted);
    qsort(sorted, serving->point_count, sizeof *sorted, compare_points);
    for (uint32_t i = 0; i < serving->point_count; i++) {
        same = i > 0 && sorted[i].concurrency == sorted[i - 1].concurrency ? same + 1 : 1;
        if (same == 1) {
            times->batches[times->count] = sorted[i].concurrency;
            times->times_s[times->count++] = sorted[i].step_time_s;
        } else {
            times->times_s[times->count - 1] +=
                (sorted[i].step_time_s - times->times_s[times->count - 1]) / (double)same;
        }
    }
    if (times->count < 2)
        return error_set(error, STATUS_DOMAIN, "--step measured needs measured points at two concurrencies or more");
    return STATUS_OK;
}

static enum status use_curve(struct serving_setup *setup, const struct throughput_curve *curve, struct error *error)
{
    struct serving_step_times *times = &setup->times;
    const struct question *question = &setup->question;
    bool points = strcmp(setup->options.step, "measured") == 0;
    enum status status = STATUS_OK;

    times->measured_lo = curve->measured_lo;
    times->measured_hi = curve->measured_hi;
    if (points && curve->has_variant)
        return error_set(error, STATUS_USAGE,
                         "--step measured is of the base configuration: it does not go with --set");
    (void)snprintf(times->basis, sizeof times->basis, "%s (%s)", question->step_basis, question->law.reason);
    if (points) {
        (void)snprintf(times->basis, sizeof times->basis, "measured points, straight lines between them");
        status = use_points(times, &question->serving, error);
    } else if (curve->has_variant) {
        (void)snprintf(times->basis, sizeof times->basis, "%.300s, moved by the change of its kernels",
                       question->step_basis);
        status = use_variant(times, curve, error);
    } else {
        times->law = &question->serving.base;
    }
    return status;
}

enum status serving_step_times_make(struct serving_setup *setup, struct error *error)
{
    const struct serving_options *options = &setup->options;
    struct curve_options curve_options = CURVE_OPTIONS_NONE;
    struct throughput_curve *curve;
    enum status status;

    if (strcmp(options->step, "law") != 0 && strcmp(options->step, "measured") != 0)
        return error_set(error, STATUS_USAGE, "option --step: \"%s\" is none of law, measured", options->step);
    curve = calloc(1, sizeof *curve);
    if (curve == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the step times");
    if (options->measured != NULL)
        curve_options.measured.items[curve_options.measured.count++] = options->measured;
    grid_make(largest_batch(&setup->config), &curve_options.concurrency);
    status = throughput_curve_make(&setup->question, &curve_options, curve, error);
    if (status == STATUS_OK)
        status = use_curve(setup, curve, error);
    free(curve);
    setup->times.prefill_s_per_token = options->prefill_us_per_token * SECONDS_PER_US;
    setup->times.context_s_per_token = options->context_ns_per_token * SECONDS_PER_NS;
    setup->times.context_reference_tokens = (double)options->context_reference;
    setup->config.tokens_per_step = setup->question.serving.tokens_per_step_per_request;
    return status;
}
