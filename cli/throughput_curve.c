/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which step-time law to use, and the curve that follows from it. */
#include "cli/throughput_curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/measured_points.h"
#include "cli/prediction.h"

enum {
    GRID_STEPS = 100,
    GRID_STEPS_VARIANT = 32 /* its kernels are predicted anew at each */
};

/* Findings at the nominal concurrency; then, where tok_s and a time were both measured, the batch that ran. */
static enum status use_points(struct question *question, struct error *error)
{
    struct serving_model *serving = &question->serving;
    struct step_law *law = &question->law;
    double tokens_per_step = serving->tokens_per_step_per_request;
    bool apart = false;
    enum status status = step_law_find(serving, law, error);

    for (uint32_t i = 0; i < serving->point_count; i++) {
        const struct serving_point *point = &serving->points[i];

        apart =
            apart || fabs(point->throughput_tokens_per_s * point->step_time_s / (tokens_per_step * point->concurrency) -
                          1.0) > 1e-9;
    }
    if (status == STATUS_OK && apart)
        law->running_batch = step_time_use_running_batch(serving->points, serving->point_count, tokens_per_step);
    return status;
}

/* k and E from the command line go before the scenario's. */
static enum status take_experts(struct serving_model *serving, const struct curve_options *options, struct error *error)
{
    if (isnan(options->experts) != isnan(options->experts_per_token))
        return error_set(error, STATUS_USAGE, "--experts and --experts-per-token belong together");
    if (isnan(options->experts))
        return STATUS_OK;
    if (options->experts_per_token > options->experts)
        return error_set(error, STATUS_USAGE, "--experts-per-token is larger than --experts");
    serving->experts = options->experts;
    serving->experts_per_token = options->experts_per_token;
    return STATUS_OK;
}

/* Points from files take the place of the scenario's; without a serving part there is a plain one. */
static enum status read_measured(struct question *question, const struct curve_options *options, double *offered,
                                 struct error *error)
{
    struct serving_model *serving = &question->serving;
    struct measured_runs own = {0}, *runs = options->runs != NULL ? options->runs : &own;
    enum status status;

    if (!serving->present) {
        memset(serving, 0, sizeof *serving);
        serving->tokens_per_step_per_request = 1.0;
        serving->itl_limit_s = serving->kernel_share_measured = (double)NAN;
    }
    status = take_experts(serving, options, error);
    if (status == STATUS_OK)
        status = measured_points_read(&options->measured, options->series, serving, runs, error);
    measured_runs_release(&own);
    for (uint32_t i = 0; i < serving->point_count; i++)
        offered[i] = serving->points[i].concurrency;
    if (status == STATUS_OK)
        status = use_points(question, error);
    question->other_device = false; /* measured for what is asked */
    return status;
}

/* What is about points from files has no effect without them. */
static enum status refuse_without_points(const struct curve_options *options, struct error *error)
{
    if (options->series != NULL)
        return error_set(error, STATUS_USAGE, "--series goes with --measured");
    if (!isnan(options->experts) || !isnan(options->experts_per_token))
        return error_set(error, STATUS_USAGE, "--experts and --experts-per-token go with --measured");
    return STATUS_OK;
}

static enum status settle_law(struct question *question, const struct curve_options *options, double *offered,
                              struct error *error)
{
    struct serving_model *serving = &question->serving;
    const char *form = question->form;
    enum status status = STATUS_OK;

    for (uint32_t i = 0; i < serving->point_count; i++)
        offered[i] = serving->points[i].concurrency;
    if (options->measured.count > 0) {
        status = read_measured(question, options, offered, error);
        serving->base_from_points = serving->base_from_points || !serving->present;
        form = form != NULL ? form : "committee"; /* points that were just given are meant to be used */
    } else if (!serving->present) {
        status = error_set(error, STATUS_DOMAIN,
                           "scenario %s has no serving part; --measured FILE or a serving: section gives it one",
                           scenario_name(question->scenario));
    }
    if (status == STATUS_OK && options->measured.count == 0)
        status = refuse_without_points(options, error);
    if (status == STATUS_OK)
        status = step_law_settle(serving, form, true, &question->law, error);
    if (status == STATUS_OK)
        question_judge_step_law(question);
    return status;
}

static const struct serving_estimate unknown_estimate = {(double)NAN, (double)NAN, (double)NAN, (double)NAN,
                                                         (double)NAN, (double)NAN, (double)NAN, (double)NAN};

static enum status make_point(struct question *question, double concurrency, struct throughput_curve *curve,
                              struct error *error)
{
    struct curve_point *point = &curve->points[curve->count++];
    double values[QUESTION_VALUES_MAX], base[QUESTION_VALUES_MAX];
    struct prediction prediction;
    enum status status;

    point->concurrency = concurrency;
    point->extrapolating = concurrency < curve->measured_lo || concurrency > curve->measured_hi;
    point->variant = unknown_estimate;
    serving_estimate_base(&question->serving, concurrency, question->step_z, &point->base);
    if (!question->step_interval_known) {
        point->base.step_time_lo_s = point->base.step_time_hi_s = (double)NAN;
        point->base.throughput_lo_tokens_per_s = point->base.throughput_hi_tokens_per_s = (double)NAN;
    }
    if (!curve->has_variant)
        return STATUS_OK;
    question_values_at(question, question->values, concurrency, values);
    question_values_at(question, question->base, concurrency, base);
    status = prediction_make(question, values, base, &prediction, error);
    if (status == STATUS_OK && prediction.feasible && prediction.has_step)
        point->variant = prediction.step;
    else if (status == STATUS_OK && curve->variant_reason[0] == '\0')
        (void)snprintf(curve->variant_reason, sizeof curve->variant_reason, "%s",
                       prediction.feasible ? prediction.step_reason : prediction.reason);
    return status;
}

static void add_concurrency(double concurrency, struct number_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == concurrency)
            return;
    if (list->count < NUMBER_LIST_MAX)
        list->items[list->count++] = concurrency;
}

/* What was offered in the runs, in rising order, and one doubling more. */
static void run_concurrencies(const struct measured_runs *runs, struct number_list *list)
{
    for (size_t i = runs->first; i < runs->first + runs->count; i++)
        if (runs->results.items[i].concurrency >= 1.0 && runs->results.items[i].concurrency <= CONCURRENCY_MAX)
            add_concurrency(runs->results.items[i].concurrency, list);
    if (list->count > 0 && 2.0 * list->items[list->count - 1] <= CONCURRENCY_MAX)
        add_concurrency(2.0 * list->items[list->count - 1], list);
}

static enum status default_concurrencies(const struct question *question, const struct measured_runs *runs,
                                         struct number_list *list, struct error *error)
{
    long index = question->scenario == NULL ? -1 : scenario_concurrency_variable(question->scenario);
    const struct scenario_variable *variable =
        index < 0 ? NULL : scenario_variable_get(question->scenario, (size_t)index);

    list->count = 0;
    if (variable != NULL && variable->value_count > NUMBER_LIST_MAX)
        return error_set(error, STATUS_USAGE,
                         "the scenario lists %u concurrencies, at most %d are drawn: name them with --concurrency",
                         variable->value_count, NUMBER_LIST_MAX);
    if (variable != NULL)
        for (uint32_t i = 0; i < variable->value_count; i++)
            list->items[list->count++] = variable->values[i];
    if (variable == NULL && runs != NULL)
        run_concurrencies(runs, list);
    if (variable == NULL && list->count == 0)
        for (uint32_t i = 0; i < question->serving.point_count; i++)
            add_concurrency(question->serving.points[i].concurrency, list);
    return list->count > 0
               ? STATUS_OK
               : error_set(error, STATUS_USAGE, "option --concurrency is missing: the scenario lists no concurrencies");
}

/* NaN where nothing was measured: then no concurrency compares as outside. A run that was offered 96 requests and ran
 * 95.6 in the mean has measured 96 as well; one that ran half of what was offered has not. */
static void measured_range(const struct serving_model *serving, struct throughput_curve *curve)
{
    static const double about_all = 0.8; /* below it STEP-21 calls the batch limited */

    curve->measured_lo = curve->measured_hi = (double)NAN;
    for (uint32_t i = 0; i < serving->point_count; i++) {
        curve->measured_lo = fmin(curve->measured_lo, serving->points[i].concurrency);
        curve->measured_hi = fmax(curve->measured_hi, serving->points[i].concurrency);
        if (!(serving->points[i].concurrency >= about_all * curve->offered[i]))
            curve->offered[i] = (double)NAN;
        curve->measured_hi = fmax(curve->measured_hi, curve->offered[i]);
    }
}

static int compare_numbers(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Whole numbers from lo to hi, evenly spaced by difference and by ratio: laws bend most where the batch is small. */
static void add_grid(double lo, double hi, int steps, struct number_list *list)
{
    for (int i = 0; i <= steps; i++) {
        const double share = (double)i / steps;

        add_concurrency(fmin(hi, ceil(lo + (hi - lo) * share)), list);
        add_concurrency(fmin(hi, ceil(lo * pow(hi / lo, share))), list);
    }
}

enum status throughput_curve_dense(struct question *question, const struct throughput_curve *curve, bool variant,
                                   struct throughput_curve *dense, struct error *error)
{
    struct number_list list = {0};
    double lo = curve->measured_lo, hi = curve->measured_hi;
    enum status status = STATUS_OK;

    *dense = *curve;
    dense->count = 0;
    dense->has_variant = variant && curve->has_variant;
    for (size_t i = 0; i < curve->count; i++) {
        add_concurrency(curve->points[i].concurrency, &list);
        lo = fmin(lo, curve->points[i].concurrency);
        hi = fmax(hi, curve->points[i].concurrency);
    }
    /* The variant's kernels want whole requests; a measured batch is a mean and need not be one. */
    for (uint32_t i = 0; !variant && i < question->serving.point_count; i++)
        add_concurrency(question->serving.points[i].concurrency, &list);
    add_grid(lo, hi, variant ? GRID_STEPS_VARIANT : GRID_STEPS, &list);
    qsort(list.items, list.count, sizeof list.items[0], compare_numbers);
    for (size_t i = 0; i < list.count && status == STATUS_OK; i++)
        status = make_point(question, list.items[i], dense, error);
    return status;
}

enum status throughput_curve_make(struct question *question, const struct curve_options *options,
                                  struct throughput_curve *curve, struct error *error)
{
    struct number_list list = options->concurrency;
    enum status status = settle_law(question, options, curve->offered, error);

    if (status != STATUS_OK)
        return status;
    if (question->other_device)
        return error_set(error, STATUS_DOMAIN,
                         "the step time of %s was measured on another GPU than %s; --measured FILE gives one for it",
                         scenario_name(question->scenario), question->device->name);
    measured_range(&question->serving, curve);
    curve->has_variant = question->knobs_changed || question->workload_changed;
    if (list.count == 0)
        status = default_concurrencies(question, options->runs, &list, error);
    for (size_t i = 0; i < list.count && status == STATUS_OK; i++)
        status = make_point(question, list.items[i], curve, error);
    curve->itl_limit_ms =
        isfinite(options->itl_limit_ms) ? options->itl_limit_ms : question->serving.itl_limit_s / SECONDS_PER_MS;
    if (status == STATUS_OK && isfinite(curve->itl_limit_ms))
        curve->within_itl_limit =
            concurrency_within_itl(&question->serving, curve->itl_limit_ms * SECONDS_PER_MS, CONCURRENCY_MAX);
    return status;
}
