/* SPDX-License-Identifier: GPL-3.0-or-later
 * Base against variant at every concurrency, and the same as records. */
#include "cli/whatif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/quantity_text.h"
#include "cli/scenario_notes.h"

/* Below this a change of throughput is called none: it is less than two runs of one configuration usually differ. */
static const double NO_CHANGE_FRACTION = 0.01;
static const double SURE = 0.9, LIKELY = 0.75;

const char *whatif_verdict(const struct variant_effect *effect)
{
    const bool has_step = isfinite(effect->throughput_change_fraction.center);
    const struct interval change =
        has_step ? effect->throughput_change_fraction
                 : (struct interval){.lo = 1 / effect->kernel_ratio.hi - 1, .hi = 1 / effect->kernel_ratio.lo - 1};
    if (fabs(change.lo) < NO_CHANGE_FRACTION && fabs(change.hi) < NO_CHANGE_FRACTION) {
        return "no change";
    }
    const double slower = effect->probability_slower;
    return slower >= SURE         ? "slower"
           : slower >= LIKELY     ? "probably slower"
           : slower <= 1 - SURE   ? "faster"
           : slower <= 1 - LIKELY ? "probably faster"
                                  : "undecided";
}

bool whatif_is_contested(const struct whatif *whatif, const struct whatif_row *row)
{
    const char *verdict = whatif_verdict(&row->variant.effect);
    const struct scenario *scenario = whatif->question->scenario;
    for (size_t i = 0; i < scenario_note_count(scenario) && i < SCENARIO_NOTES_MAX; i++) {
        const char *contests = scenario_note_get(scenario, i)->contests;
        if (row->note_applies[i] && *contests && strstr(verdict, contests)) {
            return true;
        }
    }
    return false;
}

size_t whatif_note_rows(const struct whatif *whatif, size_t note)
{
    size_t rows = 0;
    for (size_t i = 0; i < whatif->row_count; i++) {
        rows += whatif->rows[i].note_applies[note];
    }
    return rows;
}

static enum status judge_notes(struct question *question, const double *values, struct whatif_row *row,
                               struct error *error)
{
    enum config_verdict verdict;
    size_t constraint;
    enum status status = scenario_evaluate(question->evaluator, values, &verdict, &constraint, NULL, error);
    for (size_t i = 0; !status && i < scenario_note_count(question->scenario) && i < SCENARIO_NOTES_MAX; i++) {
        bool known; /* a condition that cannot be told on this device counts as true */
        status = scenario_note_concerns(question, i, &row->note_applies[i], &known, error);
    }
    return status;
}

static enum status fill_row(struct whatif *whatif, struct whatif_row *row, struct error *error)
{
    struct question *question = whatif->question;
    double base[QUESTION_VALUES_MAX], variant[QUESTION_VALUES_MAX];
    question_values_at(question, question->base, row->concurrency, base);
    question_values_at(question, question->values, row->concurrency, variant);
    enum status status = prediction_make(question, base, base, &row->base, error);
    if (!status) {
        status = prediction_make(question, variant, base, &row->variant, error);
    }
    if (!status && whatif->feasible && !(row->base.feasible && row->variant.feasible)) {
        whatif->feasible = false;
        whatif->base_is_to_blame = !row->base.feasible;
        whatif->reason = row->base.feasible ? row->variant.reason : row->base.reason;
    }
    if (!status && row->variant.feasible) {
        status = judge_notes(question, variant, row, error);
    }
    return status;
}

/* The concurrencies asked for: the list, else a -s C=..., else the scenario's own list. Returns how many there are; out
 * is filled unless they are more than WHATIF_ROWS_MAX. */
static size_t choose_concurrencies(const struct question *question, const struct number_list *asked, double *out)
{
    const long variable = scenario_concurrency_variable(question->scenario);
    double base[QUESTION_VALUES_MAX];
    if (asked->count) {
        memcpy(out, asked->items, (asked->count <= WHATIF_ROWS_MAX ? asked->count : 0) * sizeof *out);
        return asked->count;
    }
    scenario_base_values(question->scenario, base);
    if (variable < 0 || question->values[variable] != base[variable]) {
        out[0] = question_concurrency(question, question->values);
        return 1;
    }
    const struct scenario_variable *about = scenario_variable_get(question->scenario, (size_t)variable);
    if (about->value_count <= WHATIF_ROWS_MAX) {
        memcpy(out, about->values, about->value_count * sizeof *out);
    }
    return about->value_count;
}

enum status whatif_make(struct question *question, const struct number_list *concurrencies, struct whatif *whatif,
                        struct error *error)
{
    double list[WHATIF_ROWS_MAX];
    memset(whatif, 0, sizeof *whatif);
    whatif->question = question;
    whatif->feasible = true;
    if (!question->knobs_changed && !question->workload_changed) {
        return error_set(error, STATUS_USAGE,
                         "nothing differs from the base configuration at the same concurrency; change a knob with -s "
                         "name=value");
    }
    const size_t count = choose_concurrencies(question, concurrencies, list);
    if (count > WHATIF_ROWS_MAX) {
        return concurrencies->count
                   ? error_set(error, STATUS_USAGE, "--concurrency takes at most %d values here", WHATIF_ROWS_MAX)
                   : error_set(error, STATUS_USAGE,
                               "the scenario lists %zu concurrencies, at most %d are compared: name them with "
                               "--concurrency",
                               count, WHATIF_ROWS_MAX);
    }
    whatif->row_count = count;
    whatif->rows = calloc(whatif->row_count, sizeof *whatif->rows);
    if (!whatif->rows) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu comparisons", whatif->row_count);
    }
    for (size_t i = 0; i < whatif->row_count; i++) {
        whatif->rows[i].concurrency = list[i];
        const enum status status = fill_row(whatif, &whatif->rows[i], error);
        if (status) {
            return status;
        }
    }
    if (whatif->feasible || whatif->base_is_to_blame) {
        return STATUS_OK;
    }
    return fit_advice_find(question->scenario, question->evaluator, &question->device->limits, question->values,
                           &whatif->advice, error);
}

void whatif_release(struct whatif *whatif)
{
    free(whatif->rows);
    whatif->rows = NULL;
    whatif->row_count = 0;
}

static void record_interval(struct report *report, const char *key, const struct interval *interval)
{
    report_begin_object(report, key);
    report_number(report, "center", interval->center);
    report_number(report, "lo", interval->lo);
    report_number(report, "hi", interval->hi);
    report_end(report);
}

static void record_row(struct report *report, const struct whatif *whatif, const struct whatif_row *row)
{
    const struct prediction *base = &row->base, *variant = &row->variant;
    const struct variant_effect *effect = &variant->effect;
    report_begin_object(report, NULL);
    report_number(report, "concurrency", row->concurrency);
    report_bool(report, "feasible", base->feasible && variant->feasible);
    report_string(report, "reason", base->feasible ? variant->reason : base->reason);
    if (variant->has_effect) {
        report_string(report, "verdict", whatif_verdict(effect));
        report_bool(report, "contested", whatif_is_contested(whatif, row));
        report_number(report, "probability_slower", effect->probability_slower);
        record_interval(report, "throughput_change_fraction", &effect->throughput_change_fraction);
        record_interval(report, "kernel_ratio", &effect->kernel_ratio);
        report_number(report, "described_kernel_ratio", effect->central_ratio);
        report_number(report, "described_kernel_ratio_other_layout", effect->other_layout_ratio);
        record_interval(report, "kernel_share_fraction", &effect->kernel_share);
        record_interval(report, "throughput_change_if_share_known_fraction", &effect->change_if_share_known);
    }
    if (variant->has_step && base->has_step) {
        report_number(report, "base_step_time_ms", base->step.step_time_s / SECONDS_PER_MS);
        report_number(report, "step_time_ms", variant->step.step_time_s / SECONDS_PER_MS);
        report_number(report, "base_throughput_tokens_per_s", base->step.throughput_tokens_per_s);
        report_number(report, "throughput_tokens_per_s", variant->step.throughput_tokens_per_s);
    }
    if (base->has_time && variant->has_time) {
        report_number(report, "base_kernel_time_us", base->time.time_s / SECONDS_PER_US);
        report_number(report, "kernel_time_us", variant->time.time_s / SECONDS_PER_US);
    }
    report_end(report);
}

static void record_mechanisms(struct report *report, const struct whatif *whatif)
{
    const struct variant_effect *effect = &whatif->rows[whatif->row_count - 1].variant.effect;
    report_begin_array(report, "mechanisms");
    for (uint32_t i = 0; whatif->feasible && i < effect->mechanism_count; i++) {
        report_begin_object(report, NULL);
        report_string(report, "mechanism", mechanism_name(effect->mechanisms[i].kind));
        report_number(report, "base", effect->mechanisms[i].base);
        report_number(report, "variant", effect->mechanisms[i].variant);
        report_number(report, "base_other_layout", effect->mechanisms[i].base_other);
        report_number(report, "variant_other_layout", effect->mechanisms[i].variant_other);
        report_number(report, "time_effect_fraction", effect->mechanisms[i].time_effect_fraction);
        report_end(report);
    }
    report_end(report);
}

static void record_notes(struct report *report, const struct whatif *whatif)
{
    const struct question *question = whatif->question;
    report_begin_array(report, "notes");
    for (size_t i = 0; i < scenario_note_count(question->scenario) && i < SCENARIO_NOTES_MAX; i++) {
        const struct scenario_note *note = scenario_note_get(question->scenario, i);
        if (!whatif_note_rows(whatif, i)) {
            continue;
        }
        report_begin_object(report, NULL);
        report_string(report, "text", note->text);
        report_string(report, "source", note->source);
        report_string(report, "contests", note->contests);
        report_begin_array(report, "concurrencies");
        for (size_t r = 0; r < whatif->row_count; r++) {
            if (whatif->rows[r].note_applies[i]) {
                report_number(report, NULL, whatif->rows[r].concurrency);
            }
        }
        report_end(report);
        report_end(report);
    }
    report_end(report);
}

static void record_advice(struct report *report, const struct whatif *whatif)
{
    char text[256];
    report_begin_array(report, "would_fit");
    for (size_t i = 0; i < whatif->advice.count; i++) {
        const struct fit_option *option = &whatif->advice.options[i];
        report_begin_object(report, NULL);
        report_string(report, "change", fit_option_text(whatif->question->scenario, option, text, sizeof text));
        report_integer(report, "smem_bytes", (int64_t)option->smem_bytes);
        report_integer(report, "ctas_per_sm", option->ctas_per_sm);
        report_end(report);
    }
    report_end(report);
}

void whatif_record(const struct whatif *whatif, struct report *report)
{
    const struct question *question = whatif->question;
    report_string(report, "scenario", scenario_name(question->scenario));
    report_string(report, "device", question->device->name);
    report_string(report, "calibration", question->parameters.calibration);
    report_number(report, "interval_level", question->level);
    report_begin_object(report, "changed");
    for (size_t i = 0; i < scenario_variable_count(question->scenario); i++) {
        if (question->values[i] == question->base[i]) {
            continue;
        }
        report_begin_object(report, scenario_variable_get(question->scenario, i)->name);
        report_number(report, "base", question->base[i]);
        report_number(report, "variant", question->values[i]);
        report_end(report);
    }
    report_end(report);
    report_bool(report, "feasible", whatif->feasible);
    report_string(report, "reason", whatif->feasible ? "" : whatif->reason);
    report_begin_array(report, "rows");
    for (size_t i = 0; i < whatif->row_count; i++) {
        record_row(report, whatif, &whatif->rows[i]);
    }
    report_end(report);
    record_mechanisms(report, whatif);
    record_notes(report, whatif);
    record_advice(report, whatif);
}
