/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a scenario file, read and evaluated at its base values. */
#include "evidence/scenario/scenario.h"
#include "tests/fuzz/fuzz_file.h"

static struct device_catalogue *catalogue;

static void release_catalogue(void)
{
    device_catalogue_free(catalogue);
}

/* Once per process. */
static void prepare_catalogue(void)
{
    struct error error = {0};
    FUZZ_REQUIRE(device_catalogue_create(&catalogue, &error) == STATUS_OK);
    (void)atexit(release_catalogue);
}

static void evaluate_base(const struct scenario *scenario)
{
    struct scenario_evaluator *evaluator = NULL;
    struct layer_case *layer = calloc(1, sizeof *layer);
    struct error error = {0};
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    scenario_base_values(scenario, values);
    if (layer != NULL && scenario_evaluator_create(scenario, &evaluator, &error) == STATUS_OK) {
        enum config_verdict verdict = CONFIG_OK;
        size_t constraint = 0;
        if (scenario_evaluate(evaluator, values, &verdict, &constraint, layer, &error) != STATUS_OK) {
            FUZZ_REQUIRE(error.text[0] != '\0');
        }
    }
    scenario_evaluator_free(evaluator);
    free(layer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (catalogue == NULL) {
        prepare_catalogue();
    }
    struct scenario *scenario = NULL;
    struct error error = {0};
    if (scenario_read(fuzz_file_write(data, size), catalogue, NULL, &scenario, &error) == STATUS_OK) {
        evaluate_base(scenario);
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0' && scenario == NULL);
    }
    scenario_free(scenario);
    return 0;
}
