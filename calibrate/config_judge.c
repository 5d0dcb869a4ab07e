/* SPDX-License-Identifier: GPL-3.0-or-later
 * One configuration: constraints, launch, time, objective. The hot path of a sweep. */
#include "calibrate/config_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* VAR-10: what two configurations of one kernel do not share beyond the terms of the model, in ln(time). */
#define UNSHARED_LOG_SIGMA 0.02

enum sweep_result_id {
    RESULT_SMEM_BYTES,
    RESULT_CTAS_PER_SM,
    RESULT_OCCUPANCY_FRACTION,
    RESULT_GRID_CTAS,
    RESULT_WAVES,
    RESULT_ROUNDS,
    RESULT_KERNEL_TIME_US,
    RESULT_REGISTERS_PER_THREAD,
    RESULT_COUNT
};
_Static_assert((int)RESULT_COUNT == (int)SWEEP_RESULT_COUNT, "one name per result");

static const char *const result_names[RESULT_COUNT] = {
    "smem_bytes", "ctas_per_sm", "occupancy_fraction", "grid_ctas",
    "waves",      "rounds",      "kernel_time_us",     "registers_per_thread",
};

static bool is_result_name(const char *name)
{
    for (int i = 0; i < RESULT_COUNT; i++) {
        if (strcmp(name, result_names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static double sum_of_squares(const double *terms, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += terms[i] * terms[i];
    }
    return sum;
}

/* VAR-10: the parameters behind each limiter's share. A CTA's own chain is made of several; their standard deviations
 * enter as the root of the mean square, since the layer's shares do not tell them apart. */
static void set_direction_sigmas(struct config_judge *judge)
{
    const double *sigma = judge->model.log_sigma;
    const double chain[] = {sigma[PARAMETER_MMA_LATENCY_FACTOR], sigma[PARAMETER_MMA_INTERVAL_FACTOR],
                            sigma[PARAMETER_ISSUE_FACTOR],       sigma[PARAMETER_ISSUE_INTERVAL],
                            sigma[PARAMETER_ITERATION_OVERHEAD], sigma[PARAMETER_BARRIER_FACTOR],
                            sigma[PARAMETER_SPILL_CYCLES]};
    const int chain_count = sizeof chain / sizeof chain[0];
    double *direction = judge->direction_sigma;
    direction[TIME_LIMITER_LAUNCH] = sigma[PARAMETER_LAUNCH_FACTOR];
    direction[TIME_LIMITER_MEMORY_LATENCY] = sigma[PARAMETER_DRAM_LATENCY_FACTOR];
    direction[TIME_LIMITER_DEPENDENCY] = sqrt(sum_of_squares(chain, chain_count) / chain_count);
    direction[TIME_LIMITER_TENSOR] = sigma[PARAMETER_MMA_INTERVAL_FACTOR];
    direction[TIME_LIMITER_ISSUE] = sigma[PARAMETER_ISSUE_FACTOR];
    direction[TIME_LIMITER_SMEM] = sigma[PARAMETER_SMEM_BANDWIDTH_FACTOR];
    direction[TIME_LIMITER_SM_BANDWIDTH] = sigma[PARAMETER_SM_BANDWIDTH_FACTOR];
    direction[TIME_LIMITER_L2] = sigma[PARAMETER_L2_BANDWIDTH_FACTOR];
    direction[TIME_LIMITER_DRAM] = sigma[PARAMETER_DRAM_BANDWIDTH_FACTOR];
    direction[SWEEP_DIRECTION_STRUCTURE] = 1; /* structural_log_sigma is one already */
    direction[SWEEP_DIRECTION_FORM] = judge->model.model_log_sigma;
}

static double direction_weight(const struct layer_time *time, int direction)
{
    return direction < TIME_LIMITER_COUNT           ? time->shares[direction]
           : direction == SWEEP_DIRECTION_STRUCTURE ? time->structural_log_sigma
                                                    : 1;
}

/* --- expressions -------------------------------------------------------------------------------------------------- */

static enum status name_symbols(struct config_judge *judge, struct error *error)
{
    const struct scenario *scenario = judge->request->scenario;
    const size_t variables = scenario_variable_count(scenario);
    for (size_t i = 0; i < variables; i++) {
        judge->names[i] = scenario_variable_get(scenario, i)->name;
        if (is_result_name(judge->names[i])) {
            return error_set(error, STATUS_BAD_DATA,
                             "the variable \"%s\" has the name of a result, so an expression"
                             " over results cannot tell them apart",
                             judge->names[i]);
        }
    }
    judge->let_count = (uint32_t)scenario_let_count(scenario);
    for (uint32_t i = 0; i < judge->let_count; i++) {
        const char *name = scenario_let_name(scenario, i);
        judge->names[variables + i] = is_result_name(name) ? "" : name; /* the result's name wins */
    }
    for (int i = 0; i < RESULT_COUNT; i++) {
        judge->names[variables + judge->let_count + (uint32_t)i] = result_names[i];
    }
    judge->symbol_count = (uint32_t)variables + judge->let_count + RESULT_COUNT;
    return STATUS_OK;
}

static bool set_has(struct variable_set set, size_t index)
{
    return set.bits[index / 64] >> (index % 64) & 1;
}

/* Puts the expression in front of what is wrong with it. */
static enum status blame(const char *text, const struct error *cause, struct error *error)
{
    return error_set(error, cause->status, "expression \"%.200s\": %s", text, cause->text);
}

static enum status compile(struct config_judge *judge, const char *text, struct expression **expression,
                           bool *needs_results, struct error *error)
{
    struct error cause = {0};
    const enum status status =
        expression_compile(text, judge->names, judge->symbols, judge->symbol_count, expression, &cause);
    if (status) {
        return blame(text, &cause, error);
    }
    const struct variable_set used = expression_variables(*expression);
    const size_t variables = scenario_variable_count(judge->request->scenario);
    *needs_results = false;
    for (size_t i = variables; i < judge->symbol_count; i++) {
        *needs_results = *needs_results || set_has(used, i);
    }
    for (uint32_t i = 0; i < judge->let_count; i++) {
        judge->let_used[i] = judge->let_used[i] || set_has(used, variables + i);
    }
    return STATUS_OK;
}

static enum status compile_expressions(struct config_judge *judge, struct error *error)
{
    const struct sweep_request *request = judge->request;
    const bool has_objective = request->objective == SWEEP_OBJECTIVE_EXPRESSION;
    if (!request->where && !has_objective) {
        return STATUS_OK;
    }
    bool ignored;
    enum status status = name_symbols(judge, error);
    if (!status && request->where) {
        status = compile(judge, request->where, &judge->where, &judge->where_needs_results, error);
    }
    if (!status && has_objective) {
        status = compile(judge, request->objective_text, &judge->objective, &ignored, error);
    }
    return status;
}

static double occupancy_fraction(const struct config_judge *judge)
{
    const struct kernel_case *kernel = &judge->layer.kernels[0];
    const uint32_t warps = (kernel->launch.threads + 31) / 32;
    return (double)judge->time.kernels[0].ctas_per_sm * warps / judge->model.limits->max_warps_per_sm;
}

static void set_result_symbols(struct config_judge *judge)
{
    const size_t variables = scenario_variable_count(judge->request->scenario);
    for (uint32_t i = 0; i < judge->let_count; i++) {
        if (judge->let_used[i]) {
            judge->symbols[variables + i] = scenario_evaluator_let(judge->evaluator, i);
        }
    }
    const struct kernel_launch *launch = &judge->layer.kernels[0].launch;
    const struct kernel_time *kernel = &judge->time.kernels[0];
    double *results = judge->symbols + variables + judge->let_count;
    results[RESULT_SMEM_BYTES] = (double)launch->dynamic_smem_bytes + launch->static_smem_bytes;
    results[RESULT_CTAS_PER_SM] = kernel->ctas_per_sm;
    results[RESULT_OCCUPANCY_FRACTION] = occupancy_fraction(judge);
    results[RESULT_GRID_CTAS] = (double)launch->grid_ctas;
    results[RESULT_WAVES] = kernel->waves.waves;
    results[RESULT_ROUNDS] = (double)kernel->waves.rounds;
    results[RESULT_KERNEL_TIME_US] = judge->time.time_s / SECONDS_PER_US;
    results[RESULT_REGISTERS_PER_THREAD] = launch->registers_per_thread;
}

/* Whether the configuration stays; an expression that fails makes it invalid. */
static enum config_outcome apply_where(struct config_judge *judge)
{
    double value;
    struct error cause = {0};
    if (expression_evaluate(judge->where, &value, &cause)) {
        blame(judge->request->where, &cause, &judge->error);
        return CONFIG_OUTCOME_INVALID;
    }
    return value != 0 ? CONFIG_OUTCOME_FEASIBLE : CONFIG_OUTCOME_FILTERED;
}

/* --- throughput --------------------------------------------------------------------------------------------------- */

/* What the calibration's residual process adds (CAL-4): its mean alone, the interval is settled for the best. */
static void correct_layer(const struct config_judge *judge, const struct layer_case *layer, struct layer_time *time)
{
    const struct calibrated_model *calibrated = judge->request->calibrated;
    double features[CALIBRATION_FEATURE_COUNT], mean, deviation;
    if (!calibrated || calibrated->calibration->residual.row_count == 0 || !(time->time_s > 0)) {
        return;
    }
    struct calibration_residual residual = calibrated->calibration->residual;
    residual.factor = NULL;
    calibration_features(&judge->model, layer, time, features);
    calibration_residual_predict(&residual, features, &mean, &deviation);
    const double factor = exp(mean);
    time->time_s *= factor;
    time->time_lo_s *= factor;
    time->time_hi_s *= factor;
}

/* Kernels of one step: every layer group with its own workload (eq. STEP-11). */
static enum config_outcome sum_groups(struct config_judge *judge, const double *values, struct judge_kernels *sum)
{
    const struct scenario *scenario = judge->request->scenario;
    const size_t groups = scenario_layer_group_count(scenario);
    *sum = (struct judge_kernels){0};
    for (size_t group = 0; group < groups; group++) {
        if (scenario_evaluate_group(judge->evaluator, values, group, &judge->group_layer, &judge->error)) {
            return CONFIG_OUTCOME_INVALID;
        }
        layer_time_predict_next(&judge->model, &judge->group_layer, &judge->group_memos[group], &judge->group_time);
        if (!judge->group_time.feasible) {
            judge->time.infeasible_kernel = judge->group_time.infeasible_kernel;
            judge->layer = judge->group_layer;
            return CONFIG_OUTCOME_LAUNCH;
        }
        correct_layer(judge, &judge->group_layer, &judge->group_time);
        const double time_s = scenario_layer_group_layers(scenario, group) * judge->group_time.time_s;
        sum->time_s += time_s;
        for (int i = 0; i < SWEEP_DIRECTION_COUNT; i++) {
            sum->direction_s[i] += time_s * direction_weight(&judge->group_time, i) * judge->direction_sigma[i];
        }
    }
    return CONFIG_OUTCOME_FEASIBLE;
}

static enum config_outcome rate_throughput(struct config_judge *judge, const double *values, double *key)
{
    const enum config_outcome outcome = sum_groups(judge, values, &judge->kernels);
    if (outcome != CONFIG_OUTCOME_FEASIBLE) {
        return outcome;
    }
    *key = judge->base_step_s + judge->kernels.time_s - judge->base_kernels.time_s;
    if (!(*key > 0)) {
        error_set(&judge->error, STATUS_DOMAIN,
                  "the kernels save %.3g ms of a measured step of %.3g ms: the kernel model contradicts the step",
                  (judge->base_kernels.time_s - judge->kernels.time_s) / SECONDS_PER_MS,
                  judge->base_step_s / SECONDS_PER_MS);
        return CONFIG_OUTCOME_INVALID;
    }
    return CONFIG_OUTCOME_FEASIBLE;
}

static const struct serving_model *serving_of(const struct sweep_request *request)
{
    return request->serving ? request->serving : scenario_serving(request->scenario);
}

/* The base knobs with the request's workload. */
static void base_values(const struct config_judge *judge, double *values)
{
    const struct scenario *scenario = judge->request->scenario;
    const size_t knobs = scenario_knob_count(scenario);
    scenario_base_values(scenario, values);
    for (size_t i = knobs; i < scenario_variable_count(scenario); i++) {
        values[i] = judge->request->values[i];
    }
}

static enum status anchor_throughput(struct config_judge *judge, struct error *error)
{
    const struct sweep_request *request = judge->request;
    const struct serving_model *serving = serving_of(request);
    if (!serving || !serving->present || scenario_layer_group_count(request->scenario) == 0) {
        return error_set(error, STATUS_MISSING, "%s has no serving layers, so its kernels have no throughput",
                         scenario_name(request->scenario));
    }
    double values[CONFIG_VARIABLES_MAX];
    base_values(judge, values);
    const enum config_outcome outcome = sum_groups(judge, values, &judge->base_kernels);
    if (outcome == CONFIG_OUTCOME_INVALID) {
        if (error) {
            *error = judge->error;
        }
        return judge->error.status;
    }
    if (outcome != CONFIG_OUTCOME_FEASIBLE) {
        return error_set(error, STATUS_DOMAIN,
                         "throughput is anchored at the base configuration, which cannot be"
                         " launched on %s",
                         judge->model.device_name);
    }
    judge->base_step_s = step_time_evaluate(&serving->base, request->concurrency);
    return STATUS_OK;
}

/* --- one configuration -------------------------------------------------------------------------------------------- */

/* Errors that concern this configuration alone make it invalid; the rest stops the sweep. */
static bool stops_the_sweep(enum status status)
{
    return status == STATUS_NO_MEMORY || status == STATUS_INTERNAL || status == STATUS_IO;
}

static enum status evaluate_layer(struct config_judge *judge, const double *values, enum config_outcome *outcome,
                                  struct error *error)
{
    enum config_verdict verdict = CONFIG_OK;
    const enum status status =
        scenario_evaluate(judge->evaluator, values, &verdict, &judge->constraint, &judge->layer, &judge->error);
    if (stops_the_sweep(status)) {
        if (error) {
            *error = judge->error;
        }
        return status;
    }
    if (status || verdict == CONFIG_KERNEL_INVALID) {
        *outcome = CONFIG_OUTCOME_INVALID;
        return STATUS_OK;
    }
    if (verdict == CONFIG_CONSTRAINT) {
        *outcome = CONFIG_OUTCOME_CONSTRAINT;
        return STATUS_OK;
    }
    for (uint32_t i = 0; !judge->formats_checked && i < judge->layer.kernel_count; i++) {
        const enum status supported = time_model_supports(&judge->model, &judge->layer.kernels[i], error);
        if (supported) {
            return supported;
        }
    }
    judge->formats_checked = true; /* formats are no formulas: the same in every configuration */
    layer_time_predict_next(&judge->model, &judge->layer, &judge->memo, &judge->time);
    *outcome = judge->time.feasible ? CONFIG_OUTCOME_FEASIBLE : CONFIG_OUTCOME_LAUNCH;
    if (judge->time.feasible) {
        correct_layer(judge, &judge->layer, &judge->time);
    }
    return STATUS_OK;
}

static enum config_outcome rate_expression(struct config_judge *judge, double *key)
{
    struct error cause = {0};
    if (expression_evaluate(judge->objective, key, &cause)) {
        blame(judge->request->objective_text, &cause, &judge->error);
        return CONFIG_OUTCOME_INVALID;
    }
    return CONFIG_OUTCOME_FEASIBLE;
}

static enum config_outcome rate_objective(struct config_judge *judge, const double *values, double *key)
{
    switch (judge->request->objective) {
    case SWEEP_OBJECTIVE_TIME:
        *key = judge->time.time_s;
        return CONFIG_OUTCOME_FEASIBLE;
    case SWEEP_OBJECTIVE_OCCUPANCY:
        *key = -occupancy_fraction(judge);
        return CONFIG_OUTCOME_FEASIBLE;
    case SWEEP_OBJECTIVE_THROUGHPUT:
        return rate_throughput(judge, values, key);
    case SWEEP_OBJECTIVE_EXPRESSION:
        return rate_expression(judge, key);
    }
    BUG("objective %d", (int)judge->request->objective);
}

enum status config_judge_rate(struct config_judge *judge, const double *values, enum config_outcome *outcome,
                              double *key, struct error *error)
{
    const bool has_symbols = judge->where || judge->objective;
    if (has_symbols) {
        memcpy(judge->symbols, values, scenario_variable_count(judge->request->scenario) * sizeof *values);
    }
    if (judge->where && !judge->where_needs_results) {
        *outcome = apply_where(judge);
        if (*outcome != CONFIG_OUTCOME_FEASIBLE) {
            return STATUS_OK;
        }
    }
    const enum status status = evaluate_layer(judge, values, outcome, error);
    if (status || *outcome != CONFIG_OUTCOME_FEASIBLE) {
        return status;
    }
    if (has_symbols) {
        set_result_symbols(judge);
    }
    if (judge->where && judge->where_needs_results) {
        *outcome = apply_where(judge);
    }
    if (*outcome == CONFIG_OUTCOME_FEASIBLE) {
        *outcome = rate_objective(judge, values, key);
    }
    return STATUS_OK;
}

/* --- description of a rated configuration ------------------------------------------------------------------------- */

void config_judge_sensitivity(const struct config_judge *judge, double *sensitivity)
{
    const double step_s = judge->base_step_s + judge->kernels.time_s - judge->base_kernels.time_s;
    for (int i = 0; i < SWEEP_DIRECTION_COUNT; i++) {
        sensitivity[i] = judge->request->objective == SWEEP_OBJECTIVE_THROUGHPUT
                             ? (judge->kernels.direction_s[i] - judge->base_kernels.direction_s[i]) / step_s
                             : direction_weight(&judge->time, i) * judge->direction_sigma[i];
    }
}

/* UNSHARED_LOG_SIGMA, and the noise of the rows behind a calibration. */
static double unshared_log_sigma(const struct config_judge *judge)
{
    const struct calibrated_model *calibrated = judge->request->calibrated;
    return calibrated ? hypot(UNSHARED_LOG_SIGMA, calibrated->calibration->form_log_sigma) : UNSHARED_LOG_SIGMA;
}

/* The interval of one that is kept, and whether it lies outside of what the calibration has seen. */
static void settle_interval(const struct config_judge *judge, struct sweep_entry *entry)
{
    struct calibrated_time time;
    if (!judge->request->calibrated) {
        return;
    }
    calibrated_time_predict(judge->request->calibrated, &judge->layer, &time);
    entry->layer.time_lo_s = time.time_lo_s;
    entry->layer.time_hi_s = time.time_hi_s;
    entry->extrapolating = time.extrapolating || judge->request->extrapolate_all;
}

double config_judge_residual(const struct config_judge *judge)
{
    switch (judge->request->objective) {
    case SWEEP_OBJECTIVE_TIME:
        return unshared_log_sigma(judge);
    case SWEEP_OBJECTIVE_THROUGHPUT: {
        const double step_s = judge->base_step_s + judge->kernels.time_s - judge->base_kernels.time_s;
        return unshared_log_sigma(judge) * judge->kernels.time_s / step_s;
    }
    case SWEEP_OBJECTIVE_OCCUPANCY:
    case SWEEP_OBJECTIVE_EXPRESSION:
        break;
    }
    return 0;
}

static void describe_serving(const struct config_judge *judge, struct sweep_entry *entry)
{
    const struct sweep_request *request = judge->request;
    double difference_s[SWEEP_DIRECTION_COUNT];
    for (int i = 0; i < SWEEP_DIRECTION_COUNT; i++) {
        difference_s[i] = judge->kernels.direction_s[i] - judge->base_kernels.direction_s[i];
    }
    /* The base differs from itself by nothing; any other configuration by what is not shared, too. */
    const double delta_s = judge->kernels.time_s - judge->base_kernels.time_s;
    const double unshared_s = delta_s == 0 ? 0 : unshared_log_sigma(judge) * judge->kernels.time_s;
    const double sigma_s = sqrt(sum_of_squares(difference_s, SWEEP_DIRECTION_COUNT) + unshared_s * unshared_s);
    serving_estimate_variant(serving_of(request), request->concurrency, delta_s, sigma_s, judge->model.interval_z,
                             &entry->serving);
}

void config_judge_describe(const struct config_judge *judge, const double *values, uint64_t config_index, double key,
                           struct sweep_entry *entry)
{
    const struct kernel_launch *launch = &judge->layer.kernels[0].launch;
    memset(entry, 0, sizeof *entry); /* no byte of it depends on what was there before */
    entry->config_index = config_index;
    memcpy(entry->values, values, scenario_variable_count(judge->request->scenario) * sizeof *values);
    entry->layer = judge->time;
    settle_interval(judge, entry);
    entry->grid_ctas = launch->grid_ctas;
    entry->smem_bytes = launch->dynamic_smem_bytes + launch->static_smem_bytes;
    entry->threads = launch->threads;
    entry->registers_per_thread = launch->registers_per_thread;
    entry->iterations = judge->layer.kernels[0].loop.iterations;
    entry->occupancy_fraction = occupancy_fraction(judge);
    entry->gain_fraction = NAN;
    switch (judge->request->objective) {
    case SWEEP_OBJECTIVE_TIME:
    case SWEEP_OBJECTIVE_EXPRESSION:
        entry->objective = key;
        break;
    case SWEEP_OBJECTIVE_OCCUPANCY:
        entry->objective = -key;
        break;
    case SWEEP_OBJECTIVE_THROUGHPUT:
        describe_serving(judge, entry);
        entry->objective = entry->serving.throughput_tokens_per_s;
        break;
    }
}

/* --- life --------------------------------------------------------------------------------------------------------- */

void config_judge_free(struct config_judge *judge)
{
    if (!judge) {
        return;
    }
    expression_free(judge->where);
    expression_free(judge->objective);
    scenario_evaluator_free(judge->evaluator);
    free(judge);
}

enum status config_judge_create(const struct sweep_request *request, struct config_judge **judge, struct error *error)
{
    struct config_judge *made = calloc(1, sizeof *made);
    if (!made) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to judge configurations with");
    }
    made->request = request;
    enum status status = time_model_init(&made->model, scenario_device(request->scenario), request->parameters, error);
    if (!status) {
        set_direction_sigmas(made);
        status = scenario_evaluator_create(request->scenario, &made->evaluator, error);
    }
    if (!status) {
        status = compile_expressions(made, error);
    }
    if (!status && request->objective == SWEEP_OBJECTIVE_THROUGHPUT) {
        status = anchor_throughput(made, error);
    }
    if (status) {
        config_judge_free(made);
        return status;
    }
    *judge = made;
    return STATUS_OK;
}
