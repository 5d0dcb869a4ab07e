/* SPDX-License-Identifier: GPL-3.0-or-later
 * Prints the golden predictions: every built-in scenario at its base configuration on a spread of GPUs, nine
 * significant digits, sorted. Compared with predictions.csv by compare.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/device_catalogue.h"
#include "evidence/embedded_data.h"
#include "evidence/scenario/scenario.h"
#include "model/predict/kernel_time.h"
#include "model/predict/step_time.h"

/* In the order they are printed; "" is the scenario's own device. */
static const char *const DEVICES[] = {
    "", "a100-sxm4-80gb", "geforce-rtx-4090", "h100-sxm5-80gb", "nvidia-h200", "rtx-pro-6000-blackwell-workstation"};

static void print_row(const char *scenario, const char *device, const char *kernel, const char *quantity, double value)
{
    char number[32];
    printf("%s,%s,%s,%s,%s\n", scenario, device, kernel, quantity, number_format_digits(value, 9, number));
}

static void print_kernel(const char *scenario, const char *device, const struct kernel_case *kernel,
                         const struct kernel_time *time)
{
    const char *name = kernel->name;
    print_row(scenario, device, name, "ctas_per_sm", time->ctas_per_sm);
    if (!time->feasible)
        return;
    print_row(scenario, device, name, "dram_bytes", time->dram_bytes);
    print_row(scenario, device, name, "grid_ctas", (double)kernel->launch.grid_ctas);
    print_row(scenario, device, name, "replication", time->replication);
    print_row(scenario, device, name, "smem_bytes",
              (double)(kernel->launch.static_smem_bytes + kernel->launch.dynamic_smem_bytes));
    print_row(scenario, device, name, "time_hi_s", time->time_hi_s);
    print_row(scenario, device, name, "time_lo_s", time->time_lo_s);
    print_row(scenario, device, name, "time_s", time->time_s);
    print_row(scenario, device, name, "waves", time->waves.waves);
}

static void print_layer(const struct scenario *scenario, const struct layer_case *layer, const struct layer_time *time)
{
    const char *name = scenario_name(scenario), *device = scenario_device(scenario)->name;
    for (uint32_t i = 0; i < layer->kernel_count; i++)
        if (!layer->kernels[i].skipped)
            print_kernel(name, device, &layer->kernels[i], &time->kernels[i]);
    print_row(name, device, "layer", "feasible", time->feasible ? 1.0 : 0.0);
    if (!time->feasible)
        return;
    for (int i = 0; i < TIME_LIMITER_COUNT; i++) {
        char quantity[64];
        snprintf(quantity, sizeof quantity, "share_%s_fraction", time_limiter_name((enum time_limiter)i));
        print_row(name, device, "layer", quantity, time->shares[i]);
    }
    print_row(name, device, "layer", "time_s", time->time_s);
}

static void print_serving(const struct scenario *scenario)
{
    static const double concurrencies[] = {1.0, 8.0, 48.0, 96.0};
    const struct serving_model *serving = scenario_serving(scenario);
    if (serving == NULL || !serving->present)
        return;
    for (size_t i = 0; i < sizeof concurrencies / sizeof concurrencies[0]; i++) {
        struct serving_estimate estimate;
        char quantity[64];
        serving_estimate_base(serving, concurrencies[i], 1.6448536269514722, &estimate);
        snprintf(quantity, sizeof quantity, "step_time_s_at_%g", concurrencies[i]);
        print_row(scenario_name(scenario), scenario_device(scenario)->name, "serving", quantity, estimate.step_time_s);
    }
}

/* One scenario on one device. Devices without the figures a prediction needs are not in the list above, so any failure
 * is one. */
static enum status print_scenario(const char *name, const struct device_catalogue *catalogue, const char *device,
                                  struct error *error)
{
    struct scenario *scenario = NULL;
    struct scenario_evaluator *evaluator = NULL;
    double *values = NULL;
    struct layer_case layer;
    struct layer_time time;
    struct time_model model;
    struct model_parameters parameters;
    enum config_verdict verdict = CONFIG_OK;
    size_t constraint = 0;

    model_parameters_init(&parameters);
    enum status status = scenario_read(name, catalogue, device[0] == '\0' ? NULL : device, &scenario, error);
    if (status == STATUS_OK) {
        values = calloc(scenario_variable_count(scenario) + 1, sizeof *values);
        if (values == NULL)
            status = error_set(error, STATUS_NO_MEMORY, "memory ran out");
    }
    if (status == STATUS_OK)
        status = scenario_evaluator_create(scenario, &evaluator, error);
    if (status == STATUS_OK) {
        scenario_base_values(scenario, values);
        status = scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, error);
    }
    if (status == STATUS_OK && verdict != CONFIG_OK)
        status = error_set(error, STATUS_DOMAIN, "the base configuration of %s is not valid", name);
    if (status == STATUS_OK)
        status = time_model_init(&model, scenario_device(scenario), &parameters, error);
    if (status == STATUS_OK) {
        layer_time_predict(&model, &layer, &time);
        print_layer(scenario, &layer, &time);
        if (device[0] == '\0')
            print_serving(scenario);
    }
    scenario_evaluator_free(evaluator);
    free(values);
    scenario_free(scenario);
    return status;
}

/* "scenarios/NAME.yaml" into name; false for other files. */
static bool scenario_file_name(const struct embedded_file *file, char name[128])
{
    static const char prefix[] = "scenarios/", suffix[] = ".yaml";
    size_t length = strlen(file->path), fixed = sizeof prefix - 1 + sizeof suffix - 1;
    if (length <= fixed || length - fixed >= 128 || strncmp(file->path, prefix, sizeof prefix - 1) != 0 ||
        strcmp(file->path + length - (sizeof suffix - 1), suffix) != 0)
        return false;
    memcpy(name, file->path + sizeof prefix - 1, length - fixed);
    name[length - fixed] = '\0';
    return true;
}

int main(void)
{
    struct device_catalogue *catalogue = NULL;
    struct error error = {0};
    enum status status = device_catalogue_create(&catalogue, &error);
    puts("scenario,device,kernel,quantity,value");
    for (size_t i = 0; status == STATUS_OK && i < embedded_file_count; i++) {
        char name[128];
        if (!scenario_file_name(&embedded_files[i], name))
            continue;
        for (size_t j = 0; status == STATUS_OK && j < sizeof DEVICES / sizeof DEVICES[0]; j++)
            status = print_scenario(name, catalogue, DEVICES[j], &error);
    }
    if (status != STATUS_OK) {
        char text[1100];
        fprintf(stderr, "golden: %s\n", error_describe(&error, text, sizeof text));
    }
    device_catalogue_free(catalogue);
    return status_exit_code(status);
}
