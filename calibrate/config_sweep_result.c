/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the threads of a search found, as one answer: why configurations cannot run, and the best ones described. Called
 * by config_sweep.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/config_sweep_private.h"

static void merge_tallies(const struct sweep_state *state, struct sweep_tally *sum)
{
    memset(sum, 0, sizeof *sum);
    for (unsigned i = 0; i < state->worker_count; i++) {
        const struct sweep_tally *tally = &state->workers[i].tally;
        sum->feasible += tally->feasible;
        sum->filtered += tally->filtered;
        for (int k = 0; k < SCENARIO_REQUIRE_MAX; k++) {
            sum->constraints[k] += tally->constraints[k];
        }
        for (int k = 0; k < KERNELS_PER_LAYER_MAX; k++) {
            for (int fault = 0; fault < LAUNCH_FAULT_KINDS; fault++) {
                sum->launches[k][fault] += tally->launches[k][fault];
            }
        }
        if (tally->invalid && (!sum->invalid || tally->first_invalid < sum->first_invalid)) {
            sum->first_invalid = tally->first_invalid;
            sum->invalid_error = tally->invalid_error;
        }
        sum->invalid += tally->invalid;
    }
}

static void add_reason(struct sweep_result *result, enum sweep_reason_kind kind, uint64_t count, const char *subject,
                       const char *text)
{
    if (!count) {
        return;
    }
    struct sweep_reason *reason = &result->reasons[result->reason_count++];
    *reason = (struct sweep_reason){.kind = kind, .count = count, .subject = subject};
    snprintf(reason->text, sizeof reason->text, "%s", text);
    result->infeasible_count += count;
    for (; reason > result->reasons && reason[-1].count < reason->count; reason--) {
        const struct sweep_reason moved = *reason;
        *reason = reason[-1];
        reason[-1] = moved;
    }
}

enum status config_sweep_set_reasons(const struct sweep_state *state, struct sweep_result *result, struct error *error)
{
    struct sweep_tally sum;
    merge_tallies(state, &sum);
    if (sum.invalid && !sum.feasible && !sum.filtered) { /* nothing could be rated: that is a mistake in the input */
        if (error) {
            *error = sum.invalid_error;
        }
        return sum.invalid_error.status;
    }
    const struct scenario *scenario = state->request.scenario;
    const size_t most = SCENARIO_REQUIRE_MAX + KERNELS_PER_LAYER_MAX * LAUNCH_FAULT_KINDS + 1;
    result->reasons = calloc(most, sizeof *result->reasons);
    if (!result->reasons) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the reasons");
    }
    result->feasible_count = sum.feasible;
    result->filtered_count = sum.filtered;
    for (size_t i = 0; i < scenario_constraint_count(scenario); i++) {
        const struct scenario_constraint *constraint = scenario_constraint_get(scenario, i);
        add_reason(result, SWEEP_REASON_CONSTRAINT, sum.constraints[i], constraint->expression, constraint->why);
    }
    for (size_t i = 0; i < scenario_kernel_count(scenario); i++) {
        for (int fault = 0; fault < LAUNCH_FAULT_KINDS; fault++) {
            add_reason(result, SWEEP_REASON_LAUNCH, sum.launches[i][fault], scenario_kernel_name(scenario, i),
                       launch_fault_text((enum launch_fault)fault));
        }
    }
    char text[1200];
    add_reason(result, SWEEP_REASON_INVALID, sum.invalid, "",
               sum.invalid ? error_describe(&sum.invalid_error, text, sizeof text) : "");
    return STATUS_OK;
}

/* One list out of all heaps, best first, at most top_count. */
static enum status merge_heaps(const struct sweep_state *state, struct candidate **merged, size_t *count,
                               struct error *error)
{
    size_t total = 0;
    for (unsigned i = 0; i < state->worker_count; i++) {
        total += state->workers[i].best.count;
    }
    *merged = calloc(total ? total : 1, sizeof **merged);
    if (!*merged) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to merge %zu configurations", total);
    }
    size_t filled = 0;
    for (unsigned i = 0; i < state->worker_count; i++) {
        const struct best_heap *heap = &state->workers[i].best;
        if (heap->count) {
            memcpy(*merged + filled, heap->items, heap->count * sizeof **merged);
        }
        filled += heap->count;
    }
    qsort(*merged, total, sizeof **merged, config_sweep_compare);
    *count = total < state->request.top_count ? total : state->request.top_count;
    return STATUS_OK;
}

/* The base knobs with the workload of `values`, whether or not `where` lets them pass: reference has no `where`.
 * False when they cannot be launched. */
static bool rate_base(struct config_judge *reference, const double *values, double *base, double *key)
{
    const struct scenario *scenario = reference->request->scenario;
    scenario_base_values(scenario, base);
    for (size_t i = scenario_knob_count(scenario); i < scenario_variable_count(scenario); i++) {
        base[i] = values[i];
    }
    enum config_outcome outcome = CONFIG_OUTCOME_INVALID;
    struct error ignored = {0};
    return !config_judge_rate(reference, base, &outcome, key, &ignored) && outcome == CONFIG_OUTCOME_FEASIBLE;
}

static double base_speed(struct config_judge *reference, const double *values)
{
    double base[CONFIG_VARIABLES_MAX], key;
    if (!rate_base(reference, values, base, &key)) {
        return NAN;
    }
    return reference->request->objective == SWEEP_OBJECTIVE_THROUGHPUT ? 1 / reference->base_step_s
                                                                       : 1 / reference->time.time_s;
}

static double entry_speed(const struct sweep_request *request, const struct sweep_entry *entry)
{
    return request->objective == SWEEP_OBJECTIVE_THROUGHPUT ? 1 / entry->serving.step_time_s : 1 / entry->layer.time_s;
}

/* VAR-10: is the difference of two objectives within the interval of that difference? */
static bool is_tie(const struct candidate *best, const struct candidate *other, const double *best_sensitivity,
                   const double *sensitivity, double residual, double z)
{
    if (best->key == other->key) {
        return true;
    }
    if (residual == 0) {
        return false; /* the objective is exact, or nothing is known of its error */
    }
    double variance = residual * residual;
    for (int i = 0; i < SWEEP_DIRECTION_COUNT; i++) {
        const double difference = sensitivity[i] - best_sensitivity[i];
        variance += difference * difference;
    }
    return log(other->key / best->key) <= z * sqrt(variance);
}

static enum status describe_entries(const struct sweep_state *state, struct config_judge *reference,
                                    const struct candidate *candidates, struct sweep_result *result,
                                    struct error *error)
{
    struct config_judge *judge = state->workers[0].judge;
    double best_sensitivity[SWEEP_DIRECTION_COUNT] = {0}, best_residual = 0;
    for (size_t i = 0; i < result->entry_count; i++) {
        struct sweep_entry *entry = &result->entries[i];
        double values[CONFIG_VARIABLES_MAX] = {0}, sensitivity[SWEEP_DIRECTION_COUNT], key;
        enum config_outcome outcome;
        config_space_values(&state->space, candidates[i].config_index, values);
        const enum status status = config_judge_rate(judge, values, &outcome, &key, error);
        if (status) {
            return status;
        }
        if (outcome != CONFIG_OUTCOME_FEASIBLE || key != candidates[i].key) {
            BUG("configuration %llu rated twice: %.17g, then %.17g", (unsigned long long)candidates[i].config_index,
                candidates[i].key, key);
        }
        config_judge_describe(judge, values, candidates[i].config_index, key, entry);
        config_judge_sensitivity(judge, sensitivity);
        const double residual = config_judge_residual(judge);
        if (i == 0) {
            memcpy(best_sensitivity, sensitivity, sizeof sensitivity);
            best_residual = residual;
        } else {
            entry->tie = is_tie(&candidates[0], &candidates[i], best_sensitivity, sensitivity,
                                fmax(residual, best_residual), judge->model.interval_z);
        }
        entry->gain_fraction = entry_speed(&state->request, entry) / base_speed(reference, values) - 1;
    }
    return STATUS_OK;
}

static enum status set_entries(const struct sweep_state *state, struct config_judge *reference,
                               struct sweep_result *result, struct error *error)
{
    struct candidate *candidates = NULL;
    size_t count = 0;
    enum status status = merge_heaps(state, &candidates, &count, error);
    if (!status) {
        result->entries = calloc(count ? count : 1, sizeof *result->entries);
        if (!result->entries) {
            status = error_set(error, STATUS_NO_MEMORY, "no memory for %zu configurations", count);
        }
    }
    if (!status) {
        result->entry_count = count;
        status = describe_entries(state, reference, candidates, result, error);
    }
    free(candidates);
    return status;
}

enum status config_sweep_set_details(const struct sweep_state *state, struct sweep_result *result, struct error *error)
{
    struct sweep_request request = state->request;
    request.where = NULL;
    struct config_judge *reference = NULL;
    enum status status = config_judge_create(&request, &reference, error);
    if (status) {
        return status;
    }
    double values[CONFIG_VARIABLES_MAX] = {0}, key = 0;
    result->base_feasible = rate_base(reference, request.values, values, &key);
    if (result->base_feasible) {
        config_judge_describe(reference, values, UINT64_MAX, key, &result->base);
        result->base.gain_fraction = 0;
    }
    status = set_entries(state, reference, result, error);
    config_judge_free(reference);
    return status;
}
