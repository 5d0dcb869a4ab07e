/* SPDX-License-Identifier: GPL-3.0-or-later
 * Evaluates a configuration and asks every predictor in turn. */
#include "cli/prediction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/launch_fault_reason.h"
#include "cli/quantity_text.h"

uint32_t prediction_first_kernel(const struct layer_case *layer)
{
    for (uint32_t k = 0; k < layer->kernel_count; k++)
        if (!layer->kernels[k].skipped)
            return k;
    return 0;
}

void launch_fault_describe(const struct kernel_case *kernel, const struct occupancy *occupancy,
                           const struct gpu_limits *limits, char *out, size_t out_size)
{
    char reason[LAUNCH_FAULT_REASON_SIZE];

    (void)snprintf(out, out_size, "kernel %s: %s", kernel->name,
                   launch_fault_reason(limits, &kernel->launch, occupancy->fault, reason, sizeof reason));
}

static void judge_launches(const struct gpu_limits *limits, struct prediction *prediction)
{
    prediction->feasible = true;
    for (uint32_t k = 0; k < prediction->layer.kernel_count; k++) {
        const struct kernel_case *kernel = &prediction->layer.kernels[k];
        struct occupancy *occupancy = &prediction->occupancy[k];

        occupancy_compute(limits, &kernel->launch, occupancy);
        if (kernel->skipped || !prediction->feasible)
            continue;
        if (occupancy->fault == LAUNCH_FAULT_NONE && occupancy->ctas_per_sm > 0)
            continue;
        prediction->feasible = false;
        launch_fault_describe(kernel, occupancy, limits, prediction->reason, sizeof prediction->reason);
    }
}

/* The layers of a step, base and variant side by side. */
struct step_layers {
    struct layer_case base[SERVING_LAYER_GROUPS_MAX], variant[SERVING_LAYER_GROUPS_MAX];
    struct variant_layers groups[SERVING_LAYER_GROUPS_MAX];
    uint32_t count;
};

static enum status evaluate_one(struct question *question, const double *values, size_t group, bool grouped,
                                struct layer_case *layer, struct error *error)
{
    enum config_verdict verdict;
    size_t constraint;
    enum status status;

    if (grouped)
        return scenario_evaluate_group(question->evaluator, values, group, layer, error);
    status = scenario_evaluate(question->evaluator, values, &verdict, &constraint, layer, error);
    if (status == STATUS_OK && verdict != CONFIG_OK)
        status = error_set(error, STATUS_DOMAIN, "the base configuration is forbidden by a constraint");
    return status;
}

static enum status evaluate_step_layers(struct question *question, const double *values, const double *base,
                                        struct step_layers *layers, struct error *error)
{
    size_t groups = scenario_layer_group_count(question->scenario);
    enum status status = STATUS_OK;

    layers->count = groups == 0 ? 1 : (uint32_t)groups;
    for (uint32_t g = 0; g < layers->count && status == STATUS_OK; g++) {
        status = evaluate_one(question, base, g, groups > 0, &layers->base[g], error);
        if (status == STATUS_OK)
            status = evaluate_one(question, values, g, groups > 0, &layers->variant[g], error);
        layers->groups[g] =
            (struct variant_layers){.count = groups == 0 ? 1.0 : scenario_layer_group_layers(question->scenario, g),
                                    .base = &layers->base[g],
                                    .variant = &layers->variant[g]};
    }
    return status;
}

/* Two independent relative errors: half-widths add in quadrature, in the logarithm. */
static double combined_spread(double end_a, double center_a, double end_b, double center_b)
{
    return exp(hypot(log(end_a / center_a), log(end_b / center_b)));
}

static void step_of_variant(const struct question *question, struct prediction *prediction)
{
    const struct interval *change = &prediction->effect.step_time_s;
    struct serving_estimate base = prediction->step, *step = &prediction->step;
    double tokens = prediction->concurrency * question->serving.tokens_per_step_per_request;

    step->step_time_s = change->center;
    if (question->step_interval_known) {
        step->step_time_lo_s =
            change->center / combined_spread(change->lo, change->center, base.step_time_lo_s, base.step_time_s);
        step->step_time_hi_s =
            change->center * combined_spread(change->hi, change->center, base.step_time_hi_s, base.step_time_s);
    } else {
        step->step_time_lo_s = change->lo;
        step->step_time_hi_s = change->hi;
    }
    step->throughput_tokens_per_s = tokens / step->step_time_s;
    step->throughput_lo_tokens_per_s = tokens / step->step_time_hi_s;
    step->throughput_hi_tokens_per_s = tokens / step->step_time_lo_s;
    step->request_tokens_per_s = question->serving.tokens_per_step_per_request / step->step_time_s;
}

static bool differs(const struct question *question, const double *values, const double *base)
{
    for (size_t i = 0; i < scenario_variable_count(question->scenario); i++)
        if (values[i] != base[i])
            return true;
    return false;
}

/* Effect of the change on the kernels and, with serving, on the step. */
static enum status predict_effect(struct question *question, const double *values, const double *base,
                                  const struct serving_model *serving, struct prediction *prediction,
                                  struct error *error)
{
    struct step_layers layers;
    enum status status;

    if (!question->timed) {
        (void)snprintf(prediction->step_reason, sizeof prediction->step_reason, "%.180s", question->untimed.text);
        return STATUS_OK;
    }
    status = evaluate_step_layers(question, values, base, &layers, error);
    if (status == STATUS_OK)
        status = variant_effect_predict(question->device, &question->parameters, layers.groups, layers.count, serving,
                                        prediction->concurrency, question->level, &prediction->effect, error);
    prediction->has_effect = status == STATUS_OK;
    if (status == STATUS_DOMAIN) { /* a layer of the step cannot be launched: an answer, not a mistake */
        (void)snprintf(prediction->step_reason, sizeof prediction->step_reason, "%.180s", error->text);
        *error = (struct error){0};
        return STATUS_OK;
    }
    return status;
}

static enum status predict_step(struct question *question, const double *values, const double *base,
                                struct prediction *prediction, struct error *error)
{
    bool variant = differs(question, values, base);
    enum status status;

    if (!question->serving.present || question->other_device) {
        (void)snprintf(prediction->step_reason, sizeof prediction->step_reason, "%s",
                       question->serving.present ? "the step time was measured on another GPU; it is not carried over"
                                                 : "the scenario has no serving part");
        return variant ? predict_effect(question, values, base, NULL, prediction, error) : STATUS_OK;
    }
    (void)snprintf(prediction->step_reason, sizeof prediction->step_reason, "%s", question->step_basis);
    serving_estimate_base(&question->serving, prediction->concurrency, question->step_z, &prediction->step);
    if (!question->step_interval_known) {
        prediction->step.step_time_lo_s = prediction->step.step_time_hi_s = (double)NAN;
        prediction->step.throughput_lo_tokens_per_s = prediction->step.throughput_hi_tokens_per_s = (double)NAN;
    }
    prediction->has_step = true;
    if (!variant)
        return STATUS_OK;
    prediction->has_step = false;
    status = predict_effect(question, values, base, &question->serving, prediction, error);
    if (status == STATUS_OK && prediction->has_effect) {
        prediction->has_step = true;
        step_of_variant(question, prediction);
    }
    return status;
}

/* Where the answer leaves the ground it was measured on. */
static void judge_extrapolation(const struct question *question, struct prediction *prediction)
{
    const struct serving_model *serving = &question->serving;
    double lo = (double)INFINITY, hi = -(double)INFINITY;
    char lo_text[32], hi_text[32];

    for (uint32_t i = 0; i < serving->point_count; i++) {
        lo = fmin(lo, serving->points[i].concurrency);
        hi = fmax(hi, serving->points[i].concurrency);
    }
    if (question->outside_lists) {
        prediction->extrapolating = true;
        (void)snprintf(prediction->extrapolation, sizeof prediction->extrapolation,
                       "a value lies outside the scenario's list");
    }
    if (prediction->has_step && serving->point_count > 0 &&
        (prediction->concurrency < lo || prediction->concurrency > hi)) {
        prediction->extrapolating = true;
        (void)snprintf(prediction->extrapolation, sizeof prediction->extrapolation,
                       "the step time was measured from %s to %s requests", number_format(lo, lo_text),
                       number_format(hi, hi_text));
    }
}

/* A forbidden configuration's SMEM and occupancy are still worth seeing; where even they cannot be told, nothing is. */
static void judge_forbidden(struct question *question, struct prediction *prediction)
{
    char reason[sizeof prediction->reason];
    enum config_verdict verdict;
    struct error ignored = {0};

    if (scenario_evaluate_forbidden(question->evaluator, &verdict, &prediction->layer, &ignored) != STATUS_OK ||
        verdict != CONFIG_OK)
        return;
    (void)snprintf(reason, sizeof reason, "%s", prediction->reason);
    judge_launches(&question->device->limits, prediction);
    (void)snprintf(prediction->reason, sizeof prediction->reason, "%s", reason);
    prediction->has_layer = true;
    prediction->feasible = false;
}

/* A kernel that the device has no instruction or rate for: no time, with the reason. */
static void judge_support(struct question *question, const struct prediction *prediction)
{
    for (uint32_t k = 0; question->timed && k < prediction->layer.kernel_count; k++)
        question->timed =
            time_model_supports(&question->time_model, &prediction->layer.kernels[k], &question->untimed) == STATUS_OK;
}

/* Where the kernel time leaves what the calibration has seen. */
static void judge_calibration(const struct question *question, const struct calibrated_time *time,
                              struct prediction *prediction)
{
    prediction->new_workload = time->new_workload;
    if (!time->extrapolating)
        return;
    prediction->extrapolating = true;
    if (question->other_calibration_kernel)
        (void)snprintf(prediction->extrapolation, sizeof prediction->extrapolation, "%.40s was calibrated with %.60s",
                       question->parameters.calibration, question->calibration->scenario);
    else if (question->other_calibration_device)
        (void)snprintf(prediction->extrapolation, sizeof prediction->extrapolation, "%.40s was calibrated on %.60s",
                       question->parameters.calibration, question->calibration->device);
    else
        (void)snprintf(prediction->extrapolation, sizeof prediction->extrapolation,
                       "outside of the rows behind %.40s: %s", question->parameters.calibration,
                       calibration_feature_words(time->beyond));
}

/* The scenario worked with its own values, so what was changed is to blame: " (with heads=0)". */
static void name_changes(const struct question *question, const double *values, struct error *error)
{
    char number[32];
    bool told = false;

    for (size_t i = 0; i < scenario_variable_count(question->scenario) && error->status == STATUS_DOMAIN; i++) {
        size_t length = strlen(error->text);

        if (values[i] == question->base[i])
            continue;
        (void)snprintf(error->text + length, sizeof error->text - length, "%s%s=%s", told ? ", " : "; with ",
                       scenario_variable_get(question->scenario, i)->name, number_format(values[i], number));
        told = true;
    }
}

enum status prediction_make(struct question *question, const double *values, const double *base,
                            struct prediction *prediction, struct error *error)
{
    enum config_verdict verdict;
    size_t constraint_index = 0;
    struct error invalid = {0};
    enum status status;

    memset(prediction, 0, sizeof *prediction);
    prediction->concurrency = question_concurrency(question, values);
    status = scenario_evaluate(question->evaluator, values, &verdict, &constraint_index, &prediction->layer, &invalid);
    if (status != STATUS_OK) {
        *error = invalid;
        name_changes(question, values, error);
        return status;
    }
    if (verdict == CONFIG_CONSTRAINT) {
        const struct scenario_constraint *constraint = scenario_constraint_get(question->scenario, constraint_index);

        (void)snprintf(prediction->reason, sizeof prediction->reason, "the scenario requires %s: %s",
                       constraint->expression, constraint->why);
        judge_forbidden(question, prediction);
        return STATUS_OK;
    }
    if (verdict == CONFIG_KERNEL_INVALID) {
        (void)snprintf(prediction->reason, sizeof prediction->reason, "%.500s", invalid.text);
        return STATUS_OK;
    }
    prediction->has_layer = true;
    judge_launches(&question->device->limits, prediction);
    if (!prediction->feasible)
        return STATUS_OK;
    judge_support(question, prediction);
    if (question->timed) {
        struct calibrated_time time;

        question_predict_layer(question, &prediction->layer, &time);
        prediction->time = time.layer;
        prediction->has_time = prediction->time.feasible;
        judge_calibration(question, &time, prediction);
    }
    status = predict_step(question, values, base, prediction, error);
    judge_extrapolation(question, prediction);
    return status;
}
