/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which step-time law to use, and the curve that follows from it. */
#include "cli/throughput_curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/units.h"
#include "cli/prediction.h"

enum {
    MEASURED_BYTES_MAX = 4 << 20
};

/* How a measured column becomes a step time of n requests with t tokens per step and request. */
enum measured_column {
    MEASURED_TOK_S,
    MEASURED_STEP_MS,
    MEASURED_ITL_MS
};
static const char *const measured_names[] = {"tok_s", "step_ms", "itl_ms"};

static void convert_point(struct serving_point *point, enum measured_column column, double value,
                          double tokens_per_step)
{
    point->throughput_tokens_per_s = (double)NAN;
    if (column == MEASURED_TOK_S) {
        point->step_time_s = point->concurrency * tokens_per_step / value;
        point->throughput_tokens_per_s = value;
    } else if (column == MEASURED_STEP_MS) {
        point->step_time_s = value * SECONDS_PER_MS;
    } else {
        point->step_time_s = value * SECONDS_PER_MS * tokens_per_step;
    }
}

static enum status read_rows(const struct csv_table *table, struct serving_model *serving, struct error *error)
{
    long concurrency = csv_column(table, "concurrency"), value_column = -1;
    enum measured_column kind = MEASURED_TOK_S;

    for (size_t i = 0; i < sizeof measured_names / sizeof measured_names[0] && value_column < 0; i++) {
        value_column = csv_column(table, measured_names[i]);
        kind = (enum measured_column)i;
    }
    if (concurrency < 0 || value_column < 0)
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                            "a column concurrency and one of tok_s, step_ms, itl_ms are expected");
    if (table->row_count == 0 || table->row_count > SERVING_POINTS_MAX)
        return error_set_at(error, STATUS_BAD_DATA, table->file, 0, 0, "1 to %d measured points are expected, not %zu",
                            SERVING_POINTS_MAX, table->row_count);
    for (size_t row = 0; row < table->row_count; row++) {
        struct serving_point *point = &serving->points[row];
        double value;
        enum status status = csv_number(table, row, (size_t)concurrency, &point->concurrency, error);

        if (status == STATUS_OK)
            status = csv_number(table, row, (size_t)value_column, &value, error);
        if (status != STATUS_OK)
            return status;
        if (point->concurrency < 1.0 || value <= 0.0)
            return error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                                "a concurrency of at least 1 and a positive %s are expected", measured_names[kind]);
        point->relative_sigma = 0.0;
        convert_point(point, kind, value, serving->tokens_per_step_per_request);
    }
    serving->point_count = (uint32_t)table->row_count;
    return STATUS_OK;
}

/* Points from a file take the place of the scenario's; a scenario without a serving part gets a plain one. */
static enum status read_measured(struct question *question, const char *path, struct error *error)
{
    struct serving_model *serving = &question->serving;
    struct csv_table table = {0};
    enum status status = csv_read(path, MEASURED_BYTES_MAX, &table, error);

    if (!serving->present) {
        memset(serving, 0, sizeof *serving);
        serving->tokens_per_step_per_request = 1.0;
        serving->itl_limit_s = serving->kernel_share_measured = (double)NAN;
    }
    if (status == STATUS_OK)
        status = read_rows(&table, serving, error);
    csv_table_release(&table);
    question->other_device = false; /* measured for what is asked */
    return status;
}

static enum status settle_law(struct question *question, const struct curve_options *options, struct error *error)
{
    struct serving_model *serving = &question->serving;
    const char *form = question->form;
    enum status status = STATUS_OK;

    if (options->measured != NULL) {
        status = read_measured(question, options->measured, error);
        serving->base_from_points = serving->base_from_points || !serving->present;
        form = form != NULL ? form : "auto"; /* points that were just given are meant to be used */
    } else if (!serving->present) {
        status = error_set(error, STATUS_DOMAIN,
                           "scenario %s has no serving part; --measured FILE or a serving: section gives it one",
                           scenario_name(question->scenario));
    }
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

static void default_concurrencies(const struct question *question, struct number_list *list)
{
    long index = scenario_concurrency_variable(question->scenario);
    const struct scenario_variable *variable =
        index < 0 ? NULL : scenario_variable_get(question->scenario, (size_t)index);

    list->count = 0;
    if (variable != NULL)
        for (uint32_t i = 0; i < variable->value_count && list->count < NUMBER_LIST_MAX; i++)
            list->items[list->count++] = variable->values[i];
    if (variable == NULL)
        for (uint32_t i = 0; i < question->serving.point_count && list->count < NUMBER_LIST_MAX; i++)
            list->items[list->count++] = question->serving.points[i].concurrency;
}

/* NaN where nothing was measured: then no concurrency compares as outside. */
static void measured_range(const struct serving_model *serving, struct throughput_curve *curve)
{
    curve->measured_lo = curve->measured_hi = (double)NAN;
    for (uint32_t i = 0; i < serving->point_count; i++) {
        curve->measured_lo = fmin(curve->measured_lo, serving->points[i].concurrency);
        curve->measured_hi = fmax(curve->measured_hi, serving->points[i].concurrency);
    }
}

enum status throughput_curve_make(struct question *question, const struct curve_options *options,
                                  struct throughput_curve *curve, struct error *error)
{
    struct number_list list = options->concurrency;
    enum status status = settle_law(question, options, error);

    if (status != STATUS_OK)
        return status;
    if (question->other_device)
        return error_set(error, STATUS_DOMAIN,
                         "the step time of %s was measured on another GPU than %s; --measured FILE gives one for it",
                         scenario_name(question->scenario), question->device->name);
    measured_range(&question->serving, curve);
    curve->has_variant = question->knobs_changed || question->workload_changed;
    if (list.count == 0)
        default_concurrencies(question, &list);
    if (list.count == 0)
        return error_set(error, STATUS_USAGE, "option --concurrency is missing: the scenario lists no concurrencies");
    for (size_t i = 0; i < list.count && status == STATUS_OK; i++)
        status = make_point(question, list.items[i], curve, error);
    curve->itl_limit_ms =
        isfinite(options->itl_limit_ms) ? options->itl_limit_ms : question->serving.itl_limit_s / SECONDS_PER_MS;
    if (status == STATUS_OK && isfinite(curve->itl_limit_ms))
        curve->within_itl_limit =
            concurrency_within_itl(&question->serving, curve->itl_limit_ms * SECONDS_PER_MS, CONCURRENCY_MAX);
    return status;
}
