/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a scenario file, read and evaluated at its base values. The reader takes a path, so each input passes
 * through one temporary file. */
#include <string.h>
#include <unistd.h>

#include "evidence/scenario/scenario.h"
#include "tests/fuzz/fuzz_target.h"

struct fuzz_files {
    char path[64];
    struct device_catalogue *catalogue;
};

static void release_files(void);
static struct fuzz_files files;

/* Once per process; removed at its end. */
static void prepare_files(void)
{
    struct error error = {0};
    strcpy(files.path, "/tmp/occam-fuzz-XXXXXX");
    int descriptor = mkstemp(files.path);
    FUZZ_REQUIRE(descriptor >= 0);
    close(descriptor);
    FUZZ_REQUIRE(device_catalogue_create(&files.catalogue, &error) == STATUS_OK);
    atexit(release_files);
}
static void release_files(void)
{
    unlink(files.path);
    device_catalogue_free(files.catalogue);
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
    if (files.catalogue == NULL) {
        prepare_files();
    }
    FILE *stream = fopen(files.path, "wb");
    FUZZ_REQUIRE(stream != NULL);
    FUZZ_REQUIRE(size == 0 || fwrite(data, 1, size, stream) == size);
    FUZZ_REQUIRE(fclose(stream) == 0);
    struct scenario *scenario = NULL;
    struct error error = {0};
    if (scenario_read(files.path, files.catalogue, NULL, &scenario, &error) == STATUS_OK) {
        evaluate_base(scenario);
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0' && scenario == NULL);
    }
    scenario_free(scenario);
    return 0;
}
