/* SPDX-License-Identifier: GPL-3.0-or-later
 * Full predictions per second: the golden scenario's kernels over 10 million configurations, by time and with the step
 * time of all layer groups; peak memory of the process. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "calibrate/config_sweep.h"
#include "evidence/device_catalogue.h"

#define SCENARIO_PATH "tests/bench/golden-10m.yaml"
enum {
    REPEATS = 3
};
static const double MEMORY_LIMIT_MB = 200;
static const double LIMIT_PER_S = 2e6;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Best of some sweeps: configurations per second, feasible ones only, the time of the infeasible ones included. */
static double feasible_per_s(const struct sweep_request *request, struct sweep_result *result)
{
    double best = 0;
    for (int i = 0; i < REPEATS; i++) {
        struct error error = {0};
        const double begin_s = seconds_now();
        if (config_sweep_run(request, result, &error) != STATUS_OK) {
            fprintf(stderr, "%s\n", error.text);
            exit(EXIT_FAILURE);
        }
        const double rate = (double)result->feasible_count / (seconds_now() - begin_s);
        best = rate > best ? rate : best;
        config_sweep_release(result);
    }
    return best;
}

static void measure(const struct scenario *scenario)
{
    struct model_parameters parameters;
    double values[CONFIG_VARIABLES_MAX];
    struct sweep_result result;
    model_parameters_init(&parameters);
    scenario_base_values(scenario, values);
    struct sweep_request request = {
        .scenario = scenario, .parameters = &parameters, .values = values, .top_count = 100, .thread_count = 1};
    uint64_t count = 0;
    struct error error = {0};
    if (scenario_config_count(scenario, &count, &error) != STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
    const double one_core = feasible_per_s(&request, &result);
    printf("%llu configurations, constraints, expressions and two kernels each, interval and shares included:\n",
           (unsigned long long)count);
    printf(
        "  one core:   %.2f million configurations/s, up to %.2f million kernel predictions/s (limit %.0f million)\n",
        one_core / 1e6, 2 * one_core / 1e6, LIMIT_PER_S / 1e6);
    request.thread_count = 0;
    printf("  all cores:  %.2f million configurations/s\n", feasible_per_s(&request, &result) / 1e6);
    request.thread_count = 1;
    request.objective = SWEEP_OBJECTIVE_THROUGHPUT;
    request.concurrency = 96;
    const uint32_t varied[] = {(uint32_t)scenario_variable_find(scenario, "TARGET_CTAS"),
                               (uint32_t)scenario_variable_find(scenario, "num_warps"),
                               (uint32_t)scenario_variable_find(scenario, "block_h")};
    request.varied = varied;
    request.varied_count = 3;
    printf("  one core, with the step time of %zu layer groups: %.2f million configurations/s\n",
           scenario_layer_group_count(scenario), feasible_per_s(&request, &result) / 1e6);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("  peak memory: %.1f MB (limit %.0f MB)\n", (double)usage.ru_maxrss / 1e3, MEMORY_LIMIT_MB);
}

int main(void)
{
    struct device_catalogue *catalogue = NULL;
    struct scenario *scenario = NULL;
    struct error error = {0};
    if (device_catalogue_create(&catalogue, &error) != STATUS_OK ||
        scenario_read(SCENARIO_PATH, catalogue, NULL, &scenario, &error) != STATUS_OK) {
        fprintf(stderr, "%s:%u: %s\n", error.file, error.line, error.text);
        return EXIT_FAILURE;
    }
    measure(scenario);
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    return EXIT_SUCCESS;
}
