/* SPDX-License-Identifier: GPL-3.0-or-later
 * Calls liboccam: reads a scenario, changes one knob, prints occupancy and kernel time with its interval. */
#include <occam.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Evaluates the scenario at values and predicts its layer. */
static enum status predict(const struct scenario *scenario, const double *values, struct layer_time *time,
                           struct error *error)
{
    struct scenario_evaluator *evaluator = NULL;
    struct layer_case layer;
    enum config_verdict verdict = CONFIG_OK;
    size_t constraint = 0;
    enum status status = scenario_evaluator_create(scenario, &evaluator, error);
    if (status == STATUS_OK)
        status = scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, error);
    if (status == STATUS_OK && verdict == CONFIG_CONSTRAINT)
        status = error_set(error, STATUS_DOMAIN, "%s", scenario_constraint_get(scenario, constraint)->why);
    else if (status == STATUS_OK && verdict == CONFIG_KERNEL_INVALID)
        status = error->status; /* scenario_evaluate has said why */

    struct model_parameters parameters;
    struct time_model model;
    model_parameters_init(&parameters);
    if (status == STATUS_OK)
        status = time_model_init(&model, scenario_device(scenario), &parameters, error);
    if (status == STATUS_OK)
        layer_time_predict(&model, &layer, time);
    scenario_evaluator_free(evaluator);
    return status;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "dsv4-flash-sparse-decode";
    struct device_catalogue *catalogue = NULL;
    struct scenario *scenario = NULL;
    double *values = NULL;
    struct layer_time time = {0};
    struct error error = {0};
    enum status status = device_catalogue_create(&catalogue, &error);

    if (status == STATUS_OK)
        status = scenario_read(name, catalogue, NULL, &scenario, &error);
    if (status == STATUS_OK) {
        values = calloc(scenario_variable_count(scenario), sizeof *values);
        if (values == NULL)
            status = error_set(&error, STATUS_NO_MEMORY, "memory ran out");
    }
    if (status == STATUS_OK) {
        scenario_base_values(scenario, values);
        if (argc > 2)
            status = scenario_set_value(scenario, argv[2], false, values, &error);
    }
    if (status == STATUS_OK)
        status = predict(scenario, values, &time, &error);

    if (status != STATUS_OK) {
        char text[1100];
        fprintf(stderr, "%s\n", error_describe(&error, text, sizeof text));
    } else if (!time.feasible) {
        printf("%s does not fit on %s\n", scenario_name(scenario), scenario_device(scenario)->name);
    } else {
        printf("%s on %s: %" PRIu32 " CTA/SM, %.2f waves, %.1f us (%.1f to %.1f), limited by %s\n",
               scenario_name(scenario), scenario_device(scenario)->name, time.kernels[0].ctas_per_sm,
               time.kernels[0].waves.waves, time.time_s / SECONDS_PER_US, time.time_lo_s / SECONDS_PER_US,
               time.time_hi_s / SECONDS_PER_US, time_limiter_name(time.limiter));
    }
    free(values);
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    return status_exit_code(status);
}
