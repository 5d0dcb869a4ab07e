/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a file of serving results of any kind; points whose figures are usable or unknown, or a message. */
#include <math.h>

#include "evidence/serving/serving_results.h"
#include "tests/fuzz/fuzz_target.h"

static void check_point(const struct serving_result *point)
{
    FUZZ_REQUIRE((unsigned)point->kind < SERVING_RESULT_KIND_COUNT);
    FUZZ_REQUIRE(point->label != NULL && point->note != NULL && point->step_source != NULL && point->file != NULL);
    FUZZ_REQUIRE(isnan(point->concurrency) || point->concurrency > 0.0);
    FUZZ_REQUIRE(isnan(point->output_tokens_per_s) || point->output_tokens_per_s >= 0.0);
    FUZZ_REQUIRE(isnan(point->step_time_ms) || point->step_time_ms >= 0.0);
    FUZZ_REQUIRE(isnan(point->step_time_ms) || point->step_source[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct serving_results results = {0};
    struct error error = {0};

    if (serving_results_parse((const char *)data, size, "run-concurrency4/input.json", &results, &error) == STATUS_OK) {
        FUZZ_REQUIRE(results.count > 0);
        FUZZ_REQUIRE(serving_results_settle(&results, &error) == STATUS_OK);
        FUZZ_REQUIRE(results.series_count > 0 && results.series_count <= results.count);
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0');
    }
    for (size_t i = 0; i < results.count; i++) {
        check_point(&results.items[i]);
        FUZZ_REQUIRE(i == 0 || results.items[i].series >= results.items[i - 1].series);
    }
    serving_results_release(&results);
    return 0;
}
