/* SPDX-License-Identifier: GPL-3.0-or-later
 * The golden scenario's step line and measured points through the serving simulator, 1 to 96 requests at once. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "evidence/scenario/scenario.h"
#include "model/predict/step_time.h"
#include "sim/serving_simulator.h"
#include "tests/support/assert_close.h"

static struct device_catalogue *catalogue;
static struct scenario *scenario;
static const struct serving_model *serving;

static void setup(void)
{
    struct error error;
    ck_assert_msg(!device_catalogue_create(&catalogue, &error), "%s", error.text);
    ck_assert_msg(!scenario_read("dsv4-flash-sparse-decode", catalogue, NULL, &scenario, &error), "%s", error.text);
    serving = scenario_serving(scenario);
}

static void teardown(void)
{
    scenario_free(scenario);
    device_catalogue_free(catalogue);
}

static double law_time(void *context, const struct serving_step *step)
{
    (void)context;
    return step_time_evaluate(&serving->base, (double)step->batch);
}

/* Output tokens per second at n requests; lengths differ, so that ends and starts are spread over the steps. */
static double simulated_throughput(uint64_t n)
{
    static struct serving_outcome result;
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {.process = ARRIVAL_CLOSED,
                                .request_count = 12 * n,
                                .input_tokens = 500,
                                .output_tokens = 300,
                                .output_spread = LENGTH_UNIFORM,
                                .seed = 2};
    struct step_time_source steps = {.step_time_s = law_time};
    struct arrival_generator generator;
    struct error error = {0};
    config.concurrency = n;
    ck_assert_int_eq(arrival_generator_init(&generator, &plan, &error), STATUS_OK);
    struct arrival_source source = arrival_generator_source(&generator);
    ck_assert_msg(serving_simulate(&config, &steps, &source, &result, &error) == STATUS_OK, "%s", error.text);
    return result.output_tokens_per_s;
}

START_TEST(simulated_equals_the_line_from_1_to_96)
{
    for (uint64_t n = 1; n <= 96; n++) {
        double line = (double)n / step_time_evaluate(&serving->base, (double)n);
        assert_close_rel(simulated_throughput(n), line, 1e-9);
    }
}
END_TEST

START_TEST(simulated_misses_the_measured_points_as_the_line_does)
{
    /* 53.1, 281 and 845 tokens/s were measured; the line says 52.5, 303.0 and 808.1. */
    static const double misses[] = {0.011, 0.079, 0.044};
    ck_assert_uint_eq(serving->point_count, 3);
    for (uint32_t i = 0; i < serving->point_count; i++) {
        double simulated = simulated_throughput((uint64_t)serving->points[i].concurrency);
        double measured = serving->points[i].throughput_tokens_per_s;
        assert_close_zero(fabs(simulated / measured - 1.0) - misses[i], 0.001);
    }
}
END_TEST

Suite *suite_serving_golden(void);
Suite *suite_serving_golden(void)
{
    Suite *suite = suite_create("serving_golden");
    TCase *tcase = tcase_create("golden scenario");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, simulated_equals_the_line_from_1_to_96);
    tcase_add_test(tcase, simulated_misses_the_measured_points_as_the_line_does);
    suite_add_tcase(suite, tcase);
    return suite;
}
