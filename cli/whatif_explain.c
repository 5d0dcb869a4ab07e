/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which earlier value of a knob would explain an observed gain, and what that asks of the kernels' share of the step
 * (docs/MODEL.md VAR-6). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/whatif.h"

/* Step kernels of one configuration: their time, and grid and waves of the first kernel of the base workload. */
struct step_kernels {
    bool feasible;
    double time_s, waves;
    uint64_t grid_ctas;
};

static enum status measure_step(struct question *question, const double *values, struct step_kernels *out,
                                struct error *error)
{
    struct layer_case layer;
    struct layer_time time;
    enum config_verdict verdict;
    size_t constraint;
    const size_t groups = scenario_layer_group_count(question->scenario);
    enum status status = scenario_evaluate(question->evaluator, values, &verdict, &constraint, &layer, error);
    *out = (struct step_kernels){.feasible = false};
    if (status || verdict != CONFIG_OK) {
        return status;
    }
    layer_time_predict(&question->time_model, &layer, &time);
    out->feasible = time.feasible;
    out->grid_ctas = layer.kernels[0].launch.grid_ctas;
    out->waves = time.kernels[0].waves.waves;
    out->time_s = groups ? 0 : time.time_s;
    for (size_t g = 0; !status && g < groups; g++) {
        status = scenario_evaluate_group(question->evaluator, values, g, &layer, error);
        layer_time_predict(&question->time_model, &layer, &time);
        out->time_s += scenario_layer_group_layers(question->scenario, g) * time.time_s;
    }
    return status;
}

/* VAR-6: gain g of throughput from a kernel ratio r < 1 needs the share f = g / ((1 + g)(1 - r)) of the step before. */
static double share_for_gain(double gain, double ratio)
{
    return ratio < 1 ? gain / ((1 + gain) * (1 - ratio)) : (double)INFINITY;
}

static enum status append(struct explanation_list *list, struct explanation item, struct error *error)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct explanation *grown = realloc(list->items, capacity * sizeof *grown);
        if (!grown) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for %zu explanations", capacity);
        }
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return STATUS_OK;
}

/* The step cannot be faster than what it must read anyway, so the kernels' share has an upper end. */
static double largest_share(const struct question *question, double concurrency)
{
    if (!question->serving.present) {
        return 1;
    }
    const double step_s = step_time_evaluate(&question->serving.base, concurrency);
    return 1 - step_time_floor(&question->serving, concurrency, question->time_model.dram_bytes_per_s) / step_s;
}

static enum status explain_one(struct question *question, const double *new_values, size_t knob, double old_value,
                               double gain_lo, double gain_hi, struct explanation item, struct explanation_list *list,
                               struct error *error)
{
    double old_values[QUESTION_VALUES_MAX];
    struct step_kernels before, after;
    question_values_at(question, new_values, item.concurrency, old_values);
    enum status status = measure_step(question, old_values, &after, error);
    before.feasible = false;
    old_values[knob] = old_value;
    if (!status) {
        status = measure_step(question, old_values, &before, error);
    }
    if (status || !before.feasible || !after.feasible) {
        return status;
    }
    item.old_value = old_value;
    item.new_value = new_values[knob];
    item.old_grid = before.grid_ctas;
    item.new_grid = after.grid_ctas;
    item.old_waves = before.waves;
    item.new_waves = after.waves;
    item.kernel_ratio = after.time_s / before.time_s;
    item.share_lo = share_for_gain(gain_lo, item.kernel_ratio);
    item.share_hi = share_for_gain(gain_hi, item.kernel_ratio);
    item.explains = item.share_lo <= largest_share(question, item.concurrency);
    if (!item.explains) {
        item.share_lo = item.share_hi = (double)NAN;
    }
    return append(list, item, error);
}

static enum status explain_at(struct question *question, const double *values, double concurrency, size_t knob,
                              double other_value, double gain_lo, double gain_hi, struct explanation_list *list,
                              struct error *error)
{
    const struct scenario_variable *about = scenario_variable_get(question->scenario, knob);
    enum status status = STATUS_OK;
    for (uint32_t v = 0; !status && v < about->value_count; v++) {
        if (about->values[v] != values[knob]) {
            const struct explanation item = {.concurrency = concurrency, .other_value = other_value};
            status = explain_one(question, values, knob, about->values[v], gain_lo, gain_hi, item, list, error);
        }
    }
    return status;
}

static enum status explain_rule(struct question *question, const struct number_list *concurrencies,
                                const double *values, size_t knob, double other_value, double gain_lo, double gain_hi,
                                struct explanation_list *list, struct error *error)
{
    const long variable = scenario_concurrency_variable(question->scenario);
    const struct scenario_variable *about =
        variable < 0 ? NULL : scenario_variable_get(question->scenario, (size_t)variable);
    const size_t listed = about ? about->value_count : 1;
    const size_t count = concurrencies->count ? concurrencies->count : listed;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < count; i++) {
        const double concurrency = concurrencies->count ? concurrencies->items[i] : about ? about->values[i] : 1;
        status = explain_at(question, values, concurrency, knob, other_value, gain_lo, gain_hi, list, error);
    }
    return status;
}

enum status whatif_explain(struct question *question, const struct number_list *concurrencies, const char *knob,
                           const char *other_knob, double gain_lo, double gain_hi, struct explanation_list *list,
                           struct error *error)
{
    const long index = scenario_variable_find(question->scenario, knob);
    const long other = other_knob ? scenario_variable_find(question->scenario, other_knob) : -1;
    double values[QUESTION_VALUES_MAX];
    if (index < 0 || (size_t)index >= scenario_knob_count(question->scenario)) {
        return error_set(error, STATUS_USAGE, "%s is not a knob of the scenario", knob);
    }
    if (other_knob && (other < 0 || other == index || (size_t)other >= scenario_knob_count(question->scenario))) {
        return error_set(error, STATUS_USAGE, "--across needs another knob of the scenario, got %s", other_knob);
    }
    if (!question->timed) {
        *error = question->untimed;
        return question->untimed.status;
    }
    list->knob = scenario_variable_get(question->scenario, (size_t)index)->name;
    list->other_knob = other < 0 ? NULL : scenario_variable_get(question->scenario, (size_t)other)->name;
    question_values_at(question, question->values, question_concurrency(question, question->values), values);
    if (other < 0) {
        return explain_rule(question, concurrencies, values, (size_t)index, NAN, gain_lo, gain_hi, list, error);
    }
    const struct scenario_variable *about = scenario_variable_get(question->scenario, (size_t)other);
    enum status status = STATUS_OK;
    for (uint32_t v = 0; !status && v < about->value_count; v++) {
        values[other] = about->values[v];
        status = explain_rule(question, concurrencies, values, (size_t)index, about->values[v], gain_lo, gain_hi, list,
                              error);
    }
    return status;
}

static void print_group_heading(const struct explanation_list *list, const struct explanation *item)
{
    if (list->other_knob) {
        printf("\n%s = %g\n", list->other_knob, item->other_value);
    }
    printf(
        "  requests  earlier %-12s   CTAs before -> now   waves before -> now   kernels    needs the kernels to be\n",
        list->knob);
}

static void print_item(const struct explanation *item)
{
    printf("  %8g  %16g    %7llu -> %-7llu     %7.2f -> %-7.2f   x %5.3f   ", item->concurrency, item->old_value,
           (unsigned long long)item->old_grid, (unsigned long long)item->new_grid, item->old_waves, item->new_waves,
           item->kernel_ratio);
    if (item->explains) {
        printf("%.0f to %.0f %% of the step\n", 100 * item->share_lo, fmin(100, 100 * item->share_hi));
    } else if (item->old_grid == item->new_grid && item->kernel_ratio == 1) {
        printf("cannot: the same grid\n");
    } else if (item->kernel_ratio >= 1) {
        printf("cannot: not faster\n");
    } else {
        printf("cannot: would need more than the step\n");
    }
}

/* "ceil-like rule (0): explains at 48, 96; cannot at 1" for each value of the other knob. */
static void print_summary(const struct explanation_list *list)
{
    printf("\nIn short\n");
    for (size_t i = 0; i < list->count;) {
        const double rule = list->items[i].other_value;
        size_t end = i, explaining = 0;
        while (end < list->count && (list->items[end].other_value == rule || isnan(rule))) {
            explaining += list->items[end].explains;
            end++;
        }
        if (list->other_knob) {
            printf("  %s = %g: ", list->other_knob, rule);
        } else {
            printf("  ");
        }
        printf("%zu of %zu earlier values and batch sizes can explain the gain", explaining, end - i);
        double last = (double)NAN;
        for (size_t k = i; k < end; k++) {
            if (list->items[k].concurrency != last) {
                size_t here = 0;
                const char *separator = " (";
                for (size_t m = k; m < end && list->items[m].concurrency == list->items[k].concurrency; m++) {
                    here += list->items[m].explains;
                }
                printf("\n    at %g request%s:", list->items[k].concurrency,
                       list->items[k].concurrency == 1 ? "" : "s");
                for (size_t m = k; m < end && list->items[m].concurrency == list->items[k].concurrency; m++) {
                    if (list->items[m].explains) {
                        printf("%s%g", separator[1] == '(' ? " " : ", ", list->items[m].old_value);
                        separator = ", ";
                    }
                }
                printf(here ? "" : " none: this rule cannot explain it there");
            }
            last = list->items[k].concurrency;
        }
        printf("\n");
        i = end;
    }
}

void whatif_explain_print(const struct explanation_list *list, double gain_lo, double gain_hi)
{
    printf("Which earlier %s would explain a gain of %+.3g to %+.3g %% in throughput?\n", list->knob, 100 * gain_lo,
           100 * gain_hi);
    for (size_t i = 0; i < list->count; i++) {
        const struct explanation *item = &list->items[i];
        const bool new_group = i == 0 || (list->other_knob && item->other_value != list->items[i - 1].other_value);
        if (new_group) {
            print_group_heading(list, item);
        }
        print_item(item);
    }
    print_summary(list);
    printf("\nThe kernel ratio is the model's (uncertain by its interval); the share is not known. A kernel timing "
           "before\n"
           "and after, or the earlier value itself, would settle it.\n");
}

void whatif_explain_record(const struct explanation_list *list, struct report *report)
{
    report_string(report, "knob", list->knob);
    report_string(report, "other_knob", list->other_knob);
    report_begin_array(report, "explanations");
    for (size_t i = 0; i < list->count; i++) {
        const struct explanation *item = &list->items[i];
        report_begin_object(report, NULL);
        report_number(report, "concurrency", item->concurrency);
        report_number(report, "other_value", item->other_value);
        report_number(report, "old_value", item->old_value);
        report_number(report, "new_value", item->new_value);
        report_integer(report, "old_grid_ctas", (int64_t)item->old_grid);
        report_integer(report, "new_grid_ctas", (int64_t)item->new_grid);
        report_number(report, "old_waves", item->old_waves);
        report_number(report, "new_waves", item->new_waves);
        report_number(report, "kernel_ratio", item->kernel_ratio);
        report_bool(report, "explains", item->explains);
        report_number(report, "kernel_share_lo_fraction", item->share_lo);
        report_number(report, "kernel_share_hi_fraction", item->explains ? fmin(1, item->share_hi) : (double)NAN);
        report_end(report);
    }
    report_end(report);
}
