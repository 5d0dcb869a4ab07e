/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam predict`: the answer first, then why. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/fit_advice.h"
#include "cli/kernel_traffic.h"
#include "cli/launch_remarks.h"
#include "cli/predict_configs.h"
#include "cli/prediction.h"
#include "cli/quantity_text.h"
#include "cli/report.h"
#include "cli/scenario_notes.h"
#include "cli/step_kernels.h"
#include "evidence/calibration_list.h"

/* All that is said of one configuration. */
struct predict_answer {
    struct prediction prediction;
    struct step_kernels step_kernels;
    struct fit_advice advice;
    struct launch_remarks remarks;
    double measured_us; /* of the kernels, as a note of the scenario has it; NaN none */
};

/* Figures of the device that enter a kernel time, as named in input_sources. */
static const struct {
    const char *name;
    enum gpu_figure_id id;
} timing_figures[] = {
    {"sm_count", GPU_FIGURE_SM_COUNT},
    {"boost_clock", GPU_FIGURE_BOOST_CLOCK},
    {"dram_bandwidth", GPU_FIGURE_DRAM_BANDWIDTH},
    {"dram_latency", GPU_FIGURE_DRAM_LATENCY},
    {"l2_bandwidth", GPU_FIGURE_L2_BANDWIDTH},
    {"l2_latency", GPU_FIGURE_L2_LATENCY},
    {"tensor_rate", GPU_FIGURE_BF16_RATE},
    {"mma_latency", GPU_FIGURE_MMA_LATENCY},
    {"kernel_launch", GPU_FIGURE_LAUNCH_LATENCY},
};
enum {
    TIMING_FIGURES = sizeof timing_figures / sizeof timing_figures[0]
};

/* Where the step-time law comes from. */
static enum input_source step_source(const struct question *question)
{
    if (!question->serving.present)
        return INPUT_SOURCE_ABSENT;
    return question->serving.base_from_points ? INPUT_SOURCE_FITTED : INPUT_SOURCE_USER;
}

static enum input_source parameters_source(const struct model_parameters *parameters)
{
    enum input_source weakest = INPUT_SOURCE_MEASURED;

    for (int i = 0; i < PARAMETER_COUNT; i++)
        if (parameters->items[i].source > weakest)
            weakest = parameters->items[i].source;
    return weakest;
}

static void record_sources(struct report *report, const struct question *question, const struct prediction *prediction)
{
    report_begin_object(report, "input_sources");
    if (prediction->has_layer) {
        const struct kernel_launch *launch =
            &prediction->layer.kernels[prediction_first_kernel(&prediction->layer)].launch;
        const struct tile_loop *loop = &prediction->layer.kernels[prediction_first_kernel(&prediction->layer)].loop;

        report_string(report, "registers", input_source_name(launch->registers_source));
        report_string(report, "smem", input_source_name(launch->smem_source));
        report_string(report, "grid", input_source_name(launch->grid_source));
        report_string(report, "loop", input_source_name(loop->source));
    }
    for (size_t i = 0; i < TIMING_FIGURES; i++)
        report_string(report, timing_figures[i].name,
                      input_source_name(question->device->figures[timing_figures[i].id].source));
    report_string(report, "model_parameters", input_source_name(parameters_source(&question->parameters)));
    report_string(report, "step_time", input_source_name(step_source(question)));
    report_end(report);
}

static void record_variables(struct report *report, const struct question *question, bool knobs)
{
    report_begin_object(report, knobs ? "knobs" : "workload");
    for (size_t i = 0; i < scenario_variable_count(question->scenario); i++) {
        const struct scenario_variable *variable = scenario_variable_get(question->scenario, i);

        if (variable->is_knob == knobs)
            report_number(report, variable->name, question->values[i]);
    }
    report_end(report);
}

static void record_kernels(struct report *report, const struct question *question, const struct prediction *prediction)
{
    struct kernel_traffic traffic;

    report_begin_rows(report, "kernels");
    for (uint32_t k = 0; prediction->has_layer && k < prediction->layer.kernel_count; k++) {
        const struct kernel_case *kernel = &prediction->layer.kernels[k];
        const struct occupancy *occupancy = &prediction->occupancy[k];
        const struct kernel_time *time = prediction->has_time ? &prediction->time.kernels[k] : NULL;
        bool timed = time != NULL && !kernel->skipped;

        report_begin_object(report, NULL);
        report_string(report, "name", kernel->name);
        report_bool(report, "skipped", kernel->skipped);
        report_integer(report, "grid_ctas", (int64_t)kernel->launch.grid_ctas);
        report_integer(report, "threads", kernel->launch.threads);
        report_integer(report, "registers_per_thread", kernel->launch.registers_per_thread);
        report_integer(report, "smem_bytes", (int64_t)occupancy->smem_requested_bytes);
        report_integer(report, "ctas_per_sm", occupancy->ctas_per_sm);
        report_number(report, "occupancy_fraction", occupancy->occupancy_fraction);
        report_number(report, "iterations", kernel->loop.iterations);
        report_number(report, "waves", timed ? time->waves.waves : (double)NAN);
        report_number(report, "time_us", timed ? time->time_s / SECONDS_PER_US : (double)NAN);
        report_number(report, "time_lo_us", timed ? time->time_lo_s / SECONDS_PER_US : (double)NAN);
        report_number(report, "time_hi_us", timed ? time->time_hi_s / SECONDS_PER_US : (double)NAN);
        report_string(report, "limiter", timed ? time_limiter_name(time->limiter) : NULL);
        report_number(report, "warp_replication", timed ? time->replication : (double)NAN);
        report_number(report, "dram_floor_us", timed ? time->dram_floor_s / SECONDS_PER_US : (double)NAN);
        report_number(report, "tensor_floor_us", timed ? time->tensor_floor_s / SECONDS_PER_US : (double)NAN);
        if (timed)
            kernel_traffic_compute(kernel, time, &question->time_model, &traffic);
        kernel_traffic_record(timed ? &traffic : NULL, report);
        report_end(report);
    }
    report_end(report);
}

static void record_kernel_part(struct report *report, const struct question *question,
                               const struct predict_answer *answer)
{
    const struct prediction *prediction = &answer->prediction;
    uint32_t first = prediction->has_layer ? prediction_first_kernel(&prediction->layer) : 0;
    const struct occupancy *occupancy = &prediction->occupancy[first];
    const struct waves *waves = &prediction->time.kernels[first].waves;
    const struct layer_time *time = &prediction->time;
    bool known = prediction->has_layer, timed = prediction->has_time;

    report_number(report, "smem_bytes", known ? (double)occupancy->smem_requested_bytes : (double)NAN);
    report_number(report, "smem_over_limit_bytes", known ? (double)occupancy->smem_over_limit_bytes : (double)NAN);
    report_number(report, "ctas_per_sm", known ? occupancy->ctas_per_sm : (double)NAN);
    report_number(report, "occupancy_fraction", known ? occupancy->occupancy_fraction : (double)NAN);
    report_number(report, "grid_ctas", known ? (double)prediction->layer.kernels[first].launch.grid_ctas : (double)NAN);
    report_number(report, "waves", timed ? waves->waves : (double)NAN);
    report_number(report, "wave_efficiency_fraction", timed ? waves->wave_efficiency_fraction : (double)NAN);
    report_number(report, "kernel_time_us", timed ? time->time_s / SECONDS_PER_US : (double)NAN);
    report_number(report, "kernel_time_lo_us", timed ? time->time_lo_s / SECONDS_PER_US : (double)NAN);
    report_number(report, "kernel_time_hi_us", timed ? time->time_hi_s / SECONDS_PER_US : (double)NAN);
    report_string(report, "kernel_time_reason", timed || !prediction->feasible ? "" : question->untimed.text);
    report_number(report, "measured_kernel_time_us", answer->measured_us);
    report_number(report, "interval_level", question->level);
}

static void record_step_part(struct report *report, const struct prediction *prediction)
{
    const struct serving_estimate *step = &prediction->step;
    bool known = prediction->has_step;

    report_number(report, "concurrency", prediction->concurrency);
    report_number(report, "step_time_ms", known ? step->step_time_s / SECONDS_PER_MS : (double)NAN);
    report_number(report, "step_time_lo_ms", known ? step->step_time_lo_s / SECONDS_PER_MS : (double)NAN);
    report_number(report, "step_time_hi_ms", known ? step->step_time_hi_s / SECONDS_PER_MS : (double)NAN);
    report_number(report, "throughput_tokens_per_s", known ? step->throughput_tokens_per_s : (double)NAN);
    report_number(report, "throughput_lo_tokens_per_s", known ? step->throughput_lo_tokens_per_s : (double)NAN);
    report_number(report, "throughput_hi_tokens_per_s", known ? step->throughput_hi_tokens_per_s : (double)NAN);
    report_number(report, "request_tokens_per_s", known ? step->request_tokens_per_s : (double)NAN);
    report_string(report, "step_basis", prediction->step_reason);
}

static void record_advice(struct report *report, const struct question *question, const struct fit_advice *advice)
{
    report_begin_rows(report, "would_fit");
    for (size_t i = 0; i < advice->count; i++) {
        const struct fit_option *option = &advice->options[i];

        report_begin_object(report, NULL);
        report_begin_object(report, "knobs");
        for (uint32_t c = 0; c < option->change_count; c++)
            report_number(report, scenario_variable_get(question->scenario, option->changes[c].knob)->name,
                          option->changes[c].value);
        report_end(report);
        report_integer(report, "smem_bytes", (int64_t)option->smem_bytes);
        report_integer(report, "ctas_per_sm", option->ctas_per_sm);
        report_end(report);
    }
    report_end(report);
}

static void record(struct report *report, const struct question *question, const struct predict_answer *answer)
{
    const struct prediction *prediction = &answer->prediction;
    uint32_t first = prediction->has_layer ? prediction_first_kernel(&prediction->layer) : 0;

    report_string(report, "scenario", scenario_name(question->scenario));
    report_string(report, "device", question->device->name);
    record_variables(report, question, true);
    record_variables(report, question, false);
    report_bool(report, "feasible", prediction->feasible);
    report_string(report, "reason", prediction->reason);
    record_kernel_part(report, question, answer);
    record_step_part(report, prediction);
    report_number(report, "registers_per_thread",
                  prediction->has_layer ? prediction->layer.kernels[first].launch.registers_per_thread : (double)NAN);
    record_sources(report, question, prediction);
    report_string(report, "limiter", prediction->has_time ? time_limiter_name(prediction->time.limiter) : NULL);
    report_begin_object(report, "limiter_shares");
    for (int i = 0; i < TIME_LIMITER_COUNT; i++)
        report_number(report, time_limiter_name((enum time_limiter)i),
                      prediction->has_time ? prediction->time.shares[i] : (double)NAN);
    report_end(report);
    report_string(report, "calibration", question->parameters.calibration);
    report_bool(report, "extrapolating", prediction->extrapolating);
    report_string(report, "extrapolation", prediction->extrapolation);
    record_kernels(report, question, prediction);
    record_advice(report, question, &answer->advice);
    step_kernels_record(&answer->step_kernels, prediction, report);
    launch_remarks_record(&answer->remarks, report);
}

static void print_heading(const struct question *question)
{
    char number[32];

    (void)printf("%s on %s\n ", scenario_name(question->scenario), question->device->title);
    for (size_t i = 0; i < scenario_variable_count(question->scenario); i++) {
        const struct scenario_variable *variable = scenario_variable_get(question->scenario, i);
        bool changed = variable->is_knob && question->values[i] != question->base[i];

        (void)printf("%s %s=%s%s", i == scenario_knob_count(question->scenario) ? " |" : "", variable->name,
                     number_format(question->values[i], number), changed ? "*" : "");
    }
    (void)printf("\n\n");
}

static void print_advice(const struct question *question, const struct fit_advice *advice)
{
    char text[256], bytes[QUANTITY_TEXT_SIZE];

    if (advice->count == 0) {
        (void)printf("\nNo change of one or two knobs within their lists makes it fit%s.\n",
                     advice->truncated ? " among those tried" : "");
        return;
    }
    (void)printf("\nSmallest changes that make it fit:\n");
    for (size_t i = 0; i < advice->count; i++)
        (void)printf("  %-32s SMEM %s, %u CTA%s per SM\n",
                     fit_option_text(question->scenario, &advice->options[i], text, sizeof text),
                     quantity_bytes((double)advice->options[i].smem_bytes, bytes), advice->options[i].ctas_per_sm,
                     advice->options[i].ctas_per_sm == 1 ? "" : "s");
}

static void print_smem(const struct question *question, const struct occupancy *occupancy)
{
    char bytes[QUANTITY_TEXT_SIZE], limit[QUANTITY_TEXT_SIZE];

    (void)printf("  SMEM            %s per CTA, limit %s\n",
                 quantity_bytes((double)occupancy->smem_requested_bytes, bytes),
                 quantity_bytes(question->device->limits.smem_per_cta_optin_bytes, limit));
}

static void print_occupancy(const struct question *question, const struct prediction *prediction, uint32_t first)
{
    const struct kernel_case *kernel = &prediction->layer.kernels[first];
    const struct occupancy *occupancy = &prediction->occupancy[first];
    char percent[QUANTITY_TEXT_SIZE], limiters[LAUNCH_LIMITERS_TEXT_SIZE];

    print_smem(question, occupancy);
    (void)printf("  occupancy       %u CTA%s per SM, %u of %u warps, %s; limited by %s (%u registers per thread)\n",
                 occupancy->ctas_per_sm, occupancy->ctas_per_sm == 1 ? "" : "s", occupancy->warps_per_sm,
                 question->device->limits.max_warps_per_sm, quantity_percent(occupancy->occupancy_fraction, percent),
                 launch_limiters_text(occupancy->limiters, limiters), kernel->launch.registers_per_thread);
}

/* What would be nearer than a prediction of nothing but the description. */
static void print_known_calibration(const struct question *question)
{
    char name[CALIBRATION_NAME_SIZE];
    if (question->calibration != NULL)
        return;
    calibration_list_built_in_for(scenario_name(question->scenario), question->device->name, name);
    if (name[0] != '\0')
        (void)printf("                  (--calibration %s was learnt from this kernel on this GPU)\n", name);
}

/* Which layer the kernel time is that of: groups of layers have workloads of their own. */
static void print_layer_workload(const struct question *question)
{
    const size_t knobs = scenario_knob_count(question->scenario), count = scenario_variable_count(question->scenario);
    char number[32];

    (void)printf("                  that of one layer of the %s workload:",
                 question->workload_changed ? "asked" : "base");
    for (size_t i = knobs; i < count; i++)
        (void)printf(" %s=%s", scenario_variable_get(question->scenario, i)->name,
                     number_format(question->values[i], number));
    (void)printf("\n");
}

static void print_step(const struct question *question, const struct predict_answer *answer)
{
    const struct prediction *prediction = &answer->prediction;
    const struct serving_estimate *step = &prediction->step;
    char text[QUANTITY_TEXT_SIZE], number[QUANTITY_TEXT_SIZE], lo[QUANTITY_TEXT_SIZE], hi[QUANTITY_TEXT_SIZE];

    step_kernels_print(&answer->step_kernels, prediction);
    if (!prediction->has_step) {
        (void)printf("  step time       unknown: %s\n",
                     question->timed || !question->serving.present || question->other_device ? prediction->step_reason
                                                                                             : "the kernel time is");
        return;
    }
    (void)printf("  step time       %s at %s request%s\n",
                 quantity_time_interval(step->step_time_s, step->step_time_lo_s, step->step_time_hi_s, text),
                 quantity_number(prediction->concurrency, number), prediction->concurrency == 1.0 ? "" : "s");
    (void)printf("  throughput      %s tokens/s", quantity_number(step->throughput_tokens_per_s, text));
    if (isfinite(step->throughput_lo_tokens_per_s))
        (void)printf(" (%s to %s)", quantity_number(step->throughput_lo_tokens_per_s, lo),
                     quantity_number(step->throughput_hi_tokens_per_s, hi));
    (void)printf(", %s per request\n", quantity_number(step->request_tokens_per_s, number));
}

static void print_answer(const struct question *question, const struct predict_answer *answer)
{
    const struct prediction *prediction = &answer->prediction;
    uint32_t first = prediction_first_kernel(&prediction->layer);
    const struct waves *waves = &prediction->time.kernels[first].waves;
    const struct layer_time *time = &prediction->time;
    char text[QUANTITY_TEXT_SIZE], number[QUANTITY_TEXT_SIZE], grid[QUANTITY_TEXT_SIZE];

    (void)printf("  feasible        yes\n");
    print_occupancy(question, prediction, first);
    if (!prediction->has_time) {
        (void)printf("  kernel time     unknown: %s\n", question->untimed.text);
    } else {
        (void)printf(
            "  waves           %s CTA%s in %s waves: %llu round%s, last %s full\n",
            quantity_whole((double)prediction->layer.kernels[first].launch.grid_ctas, grid),
            prediction->layer.kernels[first].launch.grid_ctas == 1 ? "" : "s", quantity_number(waves->waves, number),
            (unsigned long long)waves->rounds, waves->rounds == 1 ? "" : "s",
            quantity_percent(waves->tail_ctas == 0 ? 1.0 : (double)waves->tail_ctas / (double)waves->slots, text));
        (void)printf("  kernel time     %s%s, %s%s\n",
                     quantity_time_interval(time->time_s, time->time_lo_s, time->time_hi_s, text),
                     scenario_layer_group_count(question->scenario) > 0 ? " per layer" : "",
                     question->calibration != NULL ? "calibration " : "", question->parameters.calibration);
        print_known_calibration(question);
        if (scenario_layer_group_count(question->scenario) > 0)
            print_layer_workload(question);
        if (!isnan(answer->measured_us))
            (void)printf("  measured        %s (note below)\n",
                         quantity_time(answer->measured_us * SECONDS_PER_US, text));
        (void)printf("  limited by      %s (%s of the time)\n", time_limiter_name(time->limiter),
                     quantity_percent(time->shares[time->limiter], text));
    }
    print_step(question, answer);
}

/* Shares of half a percent or more, in falling order. */
static void print_shares(const struct layer_time *time)
{
    const double least = 0.005;
    bool printed[TIME_LIMITER_COUNT] = {false};
    char percent[QUANTITY_TEXT_SIZE];
    const char *separator = "";

    (void)printf("  kernel time is ");
    for (;;) {
        int largest = -1;

        for (int i = 0; i < TIME_LIMITER_COUNT; i++)
            if (!printed[i] && time->shares[i] >= least && (largest < 0 || time->shares[i] > time->shares[largest]))
                largest = i;
        if (largest < 0)
            break;
        printed[largest] = true;
        (void)printf("%s%s %s", separator, time_limiter_name((enum time_limiter)largest),
                     quantity_percent(time->shares[largest], percent));
        separator = ", ";
    }
    (void)printf("\n");
}

static void print_kernels(const struct question *question, const struct prediction *prediction)
{
    char time_text[QUANTITY_TEXT_SIZE], number[QUANTITY_TEXT_SIZE], grid[QUANTITY_TEXT_SIZE];
    struct kernel_traffic traffic;

    for (uint32_t k = 0; k < prediction->layer.kernel_count; k++) {
        const struct kernel_case *kernel = &prediction->layer.kernels[k];
        const struct kernel_time *time = &prediction->time.kernels[k];

        if (kernel->skipped) {
            (void)printf("  kernel %s: not launched\n", kernel->name);
            continue;
        }
        (void)printf("  kernel %s: %s, %s CTA%s of %u threads, %s iteration%s\n", kernel->name,
                     quantity_time_interval(time->time_s, time->time_lo_s, time->time_hi_s, time_text),
                     quantity_whole((double)kernel->launch.grid_ctas, grid), kernel->launch.grid_ctas == 1 ? "" : "s",
                     kernel->launch.threads, quantity_number(kernel->loop.iterations, number),
                     kernel->loop.iterations == 1.0 ? "" : "s");
        kernel_traffic_compute(kernel, time, &question->time_model, &traffic);
        kernel_traffic_print(&traffic, time);
    }
}

/* A calibration fits the parameters that its rows inform; the others stay assumed. */
static void print_parameter_sources(const struct model_parameters *parameters)
{
    int fitted = 0;

    for (int i = 0; i < PARAMETER_COUNT; i++)
        fitted += parameters->items[i].source == INPUT_SOURCE_FITTED;
    (void)printf("\n  model parameters ");
    if (fitted == 0)
        (void)printf("%s (%s)\n", input_source_name(parameters_source(parameters)), parameters->calibration);
    else
        (void)printf("%d of %d fitted, the others %s (calibration %s)\n", fitted, (int)PARAMETER_COUNT,
                     input_source_name(INPUT_SOURCE_ASSUMED), parameters->calibration);
}

static void print_inputs(const struct question *question, const struct prediction *prediction)
{
    const struct kernel_case *kernel = &prediction->layer.kernels[prediction_first_kernel(&prediction->layer)];
    const struct kernel_launch *launch = &kernel->launch;

    (void)printf("\nInputs\n  registers %s, SMEM %s, grid %s%s\n ", input_source_name(launch->registers_source),
                 input_source_name(launch->smem_source), input_source_name(launch->grid_source),
                 kernel->loop.source == INPUT_SOURCE_COMPILED ? ", loop compiled" : "");
    for (size_t i = 0; i < TIMING_FIGURES; i++)
        (void)printf("%s %s %s", i == 0 ? "" : ",", timing_figures[i].name,
                     input_source_name(question->device->figures[timing_figures[i].id].source));
    print_parameter_sources(&question->parameters);
    if (prediction->has_step)
        (void)printf("  step time: %s\n", prediction->step_reason);
}

static enum status print_text(const struct question *question, const struct predict_answer *answer, struct error *error)
{
    const struct prediction *prediction = &answer->prediction;
    char level[QUANTITY_TEXT_SIZE];

    print_heading(question);
    if (!prediction->feasible) {
        (void)printf("  feasible        no: %s\n", prediction->reason);
        if (prediction->has_layer)
            print_smem(question, &prediction->occupancy[prediction_first_kernel(&prediction->layer)]);
        print_advice(question, &answer->advice);
        launch_remarks_print(&answer->remarks);
        return scenario_notes_print(question, stdout, error);
    }
    print_answer(question, answer);
    (void)printf("\nWhy\n");
    if (prediction->has_time) {
        print_shares(&prediction->time);
        print_kernels(question, prediction);
    }
    if (prediction->has_effect && prediction->has_step)
        (void)printf("  the step is the base's, moved by the change of the kernels (occam whatif says how)\n");
    (void)printf("  intervals are meant to cover %s", quantity_percent(question->level, level));
    if (fabs(question->learnt_level - question->level) > 1e-9)
        (void)printf(" (learnt at %s, stretched as a normal distribution's)",
                     quantity_percent(question->learnt_level, level));
    (void)printf("\n");
    if (prediction->new_workload)
        (void)printf(
            "  no row of this workload is behind the calibration: the interval is that of workloads held out whole\n");
    if (prediction->extrapolating)
        (void)printf("  extrapolating: %s\n", prediction->extrapolation);
    print_inputs(question, prediction);
    launch_remarks_print(&answer->remarks);
    return scenario_notes_print(question, stdout, error);
}

static void find_remarks(const struct question *question, struct predict_answer *answer)
{
    const struct layer_case *layer = &answer->prediction.layer;

    for (uint32_t k = 0; answer->prediction.has_layer && k < layer->kernel_count; k++)
        if (!layer->kernels[k].skipped) {
            launch_remarks_add(&answer->remarks, layer->kernels[k].name, &question->device->limits,
                               &layer->kernels[k].launch);
            launch_remarks_add_loop(&answer->remarks, &question->device->limits, &layer->kernels[k]);
        }
}

static enum status answer(struct question *question, enum output_format format, struct error *error)
{
    struct predict_answer answer = {.measured_us = NAN};
    struct report report = {0};
    enum config_verdict verdict;
    size_t constraint;
    enum status status = prediction_make(question, question->values, question->base, &answer.prediction, error);

    if (status == STATUS_OK && !answer.prediction.feasible)
        status = fit_advice_find(question->scenario, question->evaluator, &question->device->limits, question->values,
                                 &answer.advice, error);
    if (status == STATUS_OK && answer.prediction.feasible)
        step_kernels_sum(question, question->values, &answer.step_kernels);
    /* Notes look at the evaluator's last values. */
    if (status == STATUS_OK && answer.prediction.feasible)
        status = scenario_evaluate(question->evaluator, question->values, &verdict, &constraint, NULL, error);
    if (status == STATUS_OK && answer.prediction.feasible && !question->other_device)
        status = scenario_notes_measured(question, &answer.measured_us, error);
    if (status != STATUS_OK)
        return status;
    find_remarks(question, &answer);
    if (format == OUTPUT_FORMAT_TEXT)
        return print_text(question, &answer, error);
    record(&report, question, &answer);
    status = report_print(&report, format, NULL, stdout, error);
    report_release(&report);
    return status;
}

int command_predict(int argc, char **argv)
{
    struct question_options options = {.level = QUESTION_LEVEL_DEFAULT};
    const char *configs = NULL;
    const struct option_row rows[] = {
        QUESTION_OPTION_ROWS(options), QUESTION_FORMAT_ROW(options), {0, "configs", OPTION_TEXT, &configs, 0, 0}};
    struct question question = {0};
    struct operands operands;
    struct error error = {0};
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "SCENARIO", 1, 1, &operands, &error);

    if (status == STATUS_OK)
        status = question_open(&question, operands.items[0], &options, &error);
    if (status == STATUS_OK)
        status = configs != NULL ? predict_configs(&question, configs, options.free_values, options.format, &error)
                                 : answer(&question, options.format, &error);
    question_release(&question);
    return status == STATUS_OK ? 0 : command_fail("predict", &error);
}
