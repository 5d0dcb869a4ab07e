/* SPDX-License-Identifier: GPL-3.0-or-later
 * The time that the model says for a configuration of our own kernels, before it is measured: the kernel's built-in
 * scenario at the configuration's settings, with the registers, SMEM and spills that the compiler has just reported. */
#include "calibrate/measure_predictor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "evidence/scenario/scenario.h"
#include "model/describe/model_parameters.h"
#include "model/predict/kernel_time.h"

/* The scenarios that describe our kernels. */
static const struct {
    const char *kernel, *scenario;
} described[] = {
    {"sparse_decode", "occam-sparse-decode"}, {"gqa_decode", "occam-gqa-decode"}, {"gemm_tile", "occam-gemm-tile"}};
enum {
    DESCRIBED_COUNT = sizeof described / sizeof described[0]
};

struct measure_predictor {
    char program[128]; /* version and revision */
    struct device_catalogue *catalogue;
    struct model_parameters parameters;
    char gpu_name[96]; /* the device below belongs to */
    bool known;        /* device and time_model are filled */
    struct gpu_device device;
    struct time_model time_model;
    struct scenario *scenarios[DESCRIBED_COUNT];
    struct scenario_evaluator *evaluators[DESCRIBED_COUNT];
};

enum status measure_predictor_create(const char *program, struct measure_predictor **predictor, struct error *error)
{
    struct measure_predictor *made = calloc(1, sizeof *made);

    if (made == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for predictions");
    model_parameters_init(&made->parameters);
    (void)snprintf(made->program, sizeof made->program, "%s", program);
    enum status status = device_catalogue_create(&made->catalogue, error);
    if (status == STATUS_OK)
        *predictor = made;
    else
        measure_predictor_free(made);
    return status;
}

static void close_scenarios(struct measure_predictor *predictor)
{
    for (size_t i = 0; i < DESCRIBED_COUNT; i++) {
        scenario_evaluator_free(predictor->evaluators[i]);
        scenario_free(predictor->scenarios[i]);
        predictor->evaluators[i] = NULL;
        predictor->scenarios[i] = NULL;
    }
}

void measure_predictor_free(struct measure_predictor *predictor)
{
    if (predictor == NULL)
        return;
    close_scenarios(predictor);
    device_catalogue_free(predictor->catalogue);
    free(predictor);
}

/* The GPU as the driver names it, with the SMs it says it has; every scenario for that GPU. */
static bool take_device(struct measure_predictor *predictor, const struct measure_facts *facts)
{
    const struct gpu_device *device;
    struct error error = {0};

    if (strcmp(predictor->gpu_name, facts->gpu_name) == 0)
        return predictor->known;
    (void)snprintf(predictor->gpu_name, sizeof predictor->gpu_name, "%s", facts->gpu_name);
    close_scenarios(predictor);
    predictor->known = facts->sm_count > 0 &&
                       device_catalogue_find(predictor->catalogue, facts->gpu_name, &device, &error) == STATUS_OK;
    if (!predictor->known)
        return false;
    predictor->device = *device;
    predictor->device.figures[GPU_FIGURE_SM_COUNT].value = facts->sm_count;
    predictor->known =
        time_model_init(&predictor->time_model, &predictor->device, &predictor->parameters, &error) == STATUS_OK;
    for (size_t i = 0; i < DESCRIBED_COUNT && predictor->known; i++) {
        bool read = scenario_read(described[i].scenario, predictor->catalogue, predictor->device.name,
                                  &predictor->scenarios[i], &error) == STATUS_OK;

        predictor->known =
            read && scenario_evaluator_create(predictor->scenarios[i], &predictor->evaluators[i], &error) == STATUS_OK;
    }
    return predictor->known;
}

/* The scenario's variables are called as the settings. */
static bool evaluate(struct scenario_evaluator *evaluator, const struct scenario *scenario,
                     const struct measure_config *config, struct layer_case *layer)
{
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    enum config_verdict verdict = CONFIG_CONSTRAINT;
    size_t constraint;
    struct error error = {0};

    for (size_t i = 0; i < scenario_variable_count(scenario); i++)
        values[i] = (double)measure_config_value(config, scenario_variable_get(scenario, i)->name);
    return scenario_evaluate(evaluator, values, &verdict, &constraint, layer, &error) == STATUS_OK &&
           verdict == CONFIG_OK;
}

bool measure_resources_take(const struct measure_result *resources, struct layer_case *layer)
{
    struct error error = {0};
    uint32_t launched = 0;

    for (uint32_t k = 0; k < layer->kernel_count; k++) {
        struct kernel_case *kernel = &layer->kernels[k];

        if (kernel->skipped)
            continue;
        const struct measure_resources *stage = &resources->stages[launched];

        if (launched++ >= resources->stage_count || strcmp(stage->entry, kernel->name) != 0)
            return false;
        kernel->launch.registers_per_thread = stage->registers_per_thread;
        kernel->launch.static_smem_bytes = stage->static_smem_bytes;
        kernel->launch.dynamic_smem_bytes = stage->dynamic_smem_bytes;
        kernel->loop.spill_bytes = (double)stage->spill_store_bytes + stage->spill_load_bytes;
        if (kernel_case_validate(kernel, &error) != STATUS_OK)
            return false;
    }
    return launched == resources->stage_count;
}

/* Everything the answer depends on: program, parameters, the GPU's figures, the scenario, the configuration, and what
 * the compiler said. */
static void digest_inputs(const struct measure_predictor *predictor, const struct scenario *scenario,
                          const struct measure_config *config, const struct measure_result *resources,
                          char out[CAMPAIGN_DIGEST_SIZE])
{
    struct text_buffer text = {0};
    char number[32], line[1024];

    text_buffer_append_format(&text, "%s\n%s %s\n", predictor->program, predictor->parameters.calibration,
                              number_format(predictor->parameters.model_log_sigma, number));
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        text_buffer_append_format(&text, "%s", number_format(predictor->parameters.items[i].value, number));
        text_buffer_append_format(&text, " %s\n", number_format(predictor->parameters.items[i].log_sigma, number));
    }
    text_buffer_append_format(&text, "%s\n", predictor->device.name);
    for (int i = 0; i < GPU_FIGURE_COUNT; i++)
        text_buffer_append_format(&text, "%s\n", number_format(predictor->device.figures[i].value, number));
    text_buffer_append_format(&text, "%s %016llx\n%s\n", scenario_name(scenario),
                              (unsigned long long)scenario_hash(scenario),
                              measure_config_format(config, line, sizeof line));
    for (uint32_t i = 0; i < resources->stage_count; i++) {
        const struct measure_resources *stage = &resources->stages[i];

        text_buffer_append_format(&text, "%s %u %u %llu %u %u\n", stage->entry, stage->registers_per_thread,
                                  stage->static_smem_bytes, (unsigned long long)stage->dynamic_smem_bytes,
                                  stage->spill_store_bytes, stage->spill_load_bytes);
    }
    out[0] = '\0';
    if (!text.failed)
        (void)sha256_hex(text.text, text.length, out);
    text_buffer_release(&text);
}

void measure_predictor_predict(void *context, const struct measure_facts *facts, const struct measure_config *config,
                               const struct measure_result *resources, struct campaign_prediction *prediction)
{
    struct measure_predictor *predictor = context;
    struct layer_case layer;
    struct layer_time time;
    size_t index = 0;

    while (index < DESCRIBED_COUNT && strcmp(described[index].kernel, config->kernel->name) != 0)
        index++;
    if (index == DESCRIBED_COUNT || !take_device(predictor, facts) ||
        !evaluate(predictor->evaluators[index], predictor->scenarios[index], config, &layer) ||
        !measure_resources_take(resources, &layer))
        return;
    layer_time_predict(&predictor->time_model, &layer, &time);
    if (!time.feasible)
        return;
    prediction->time_us = time.time_s / SECONDS_PER_US;
    prediction->time_lo_us = time.time_lo_s / SECONDS_PER_US;
    prediction->time_hi_us = time.time_hi_s / SECONDS_PER_US;
    (void)snprintf(prediction->model, sizeof prediction->model, "%s", predictor->parameters.calibration);
    digest_inputs(predictor, predictor->scenarios[index], config, resources, prediction->inputs_sha256);
}
