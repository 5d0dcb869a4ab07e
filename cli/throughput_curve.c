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

/* Columns of a measured table; -1: not there. Where tok_s and a time stand side by side the batch that ran follows. */
struct measured_columns {
    long concurrency, tok_s, step_ms, itl_ms;
};

static enum status find_columns(const struct csv_table *table, struct measured_columns *columns, struct error *error)
{
    columns->concurrency = csv_column(table, "concurrency");
    columns->tok_s = csv_column(table, "tok_s");
    columns->step_ms = csv_column(table, "step_ms");
    columns->itl_ms = columns->step_ms >= 0 ? -1 : csv_column(table, "itl_ms");
    if (columns->concurrency < 0 || (columns->tok_s < 0 && columns->step_ms < 0 && columns->itl_ms < 0))
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                            "a column concurrency and one of tok_s, step_ms, itl_ms are expected");
    if (table->row_count == 0 || table->row_count > SERVING_POINTS_MAX)
        return error_set_at(error, STATUS_BAD_DATA, table->file, 0, 0, "1 to %d measured points are expected, not %zu",
                            SERVING_POINTS_MAX, table->row_count);
    return STATUS_OK;
}

/* A positive number of at least `least` in a column that may be missing (then NaN). */
static enum status read_cell(const struct csv_table *table, size_t row, long column, const char *name, double least,
                             double *value, struct error *error)
{
    enum status status = column < 0 ? STATUS_OK : csv_number(table, row, (size_t)column, value, error);

    if (column < 0)
        *value = (double)NAN;
    else if (status == STATUS_OK && !(*value > 0.0 && *value >= least))
        status = error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                              "a concurrency of at least 1 and a positive %s are expected", name);
    return status;
}

/* No server of today or of the next years takes such a step, serves so many requests or gives so many tokens: a wrong
 * unit or a wrong column. */
static enum status check_sense(const struct csv_table *table, size_t row, const struct serving_point *point,
                               struct error *error)
{
    const struct {
        const char *what;
        double value, least, most;
    } checks[] = {{"a concurrency", point->concurrency, 1.0, 1e7},
                  {"a step time in ms", point->step_time_s / SECONDS_PER_MS, 1e-3, 1e7},
                  {"tokens per second", point->throughput_tokens_per_s, 1e-3, 1e10}};

    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (!(checks[i].value >= checks[i].least && checks[i].value <= checks[i].most) && !isnan(checks[i].value))
            return error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                                "%s of %g makes no sense: %g to %g are expected; is a unit or a column wrong?",
                                checks[i].what, checks[i].value, checks[i].least, checks[i].most);
    return STATUS_OK;
}

static enum status read_row(const struct csv_table *table, size_t row, const struct measured_columns *columns,
                            double tokens_per_step, struct serving_point *point, struct error *error)
{
    long time_column = columns->step_ms >= 0 ? columns->step_ms : columns->itl_ms;
    const char *time_name = columns->step_ms >= 0 ? "step_ms" : "itl_ms";
    double time_ms = (double)NAN;
    enum status status = read_cell(table, row, columns->concurrency, columns->tok_s >= 0 ? "tok_s" : time_name, 1.0,
                                   &point->concurrency, error);

    if (status == STATUS_OK)
        status = read_cell(table, row, columns->tok_s, "tok_s", 0.0, &point->throughput_tokens_per_s, error);
    if (status == STATUS_OK)
        status = read_cell(table, row, time_column, time_name, 0.0, &time_ms, error);
    if (status != STATUS_OK)
        return status;
    point->relative_sigma = 0.0;
    if (time_column < 0)
        point->step_time_s = point->concurrency * tokens_per_step / point->throughput_tokens_per_s;
    else
        point->step_time_s = time_ms * SECONDS_PER_MS * (columns->step_ms >= 0 ? 1.0 : tokens_per_step);
    return check_sense(table, row, point, error);
}

static enum status read_rows(const struct csv_table *table, struct serving_model *serving, struct error *error)
{
    struct measured_columns columns;
    enum status status = find_columns(table, &columns, error);

    for (size_t row = 0; row < table->row_count && status == STATUS_OK; row++)
        status = read_row(table, row, &columns, serving->tokens_per_step_per_request, &serving->points[row], error);
    serving->point_count = status == STATUS_OK ? (uint32_t)table->row_count : 0;
    return status;
}

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
    if (status == STATUS_OK)
        status = use_points(question, error);
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
        form = form != NULL ? form : "committee"; /* points that were just given are meant to be used */
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
