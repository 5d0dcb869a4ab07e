/* SPDX-License-Identifier: GPL-3.0-or-later
 * GPU figures: names, units, ranges, identities, and what predicting a time needs. Sources by name. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "model/describe/gpu_device.h"
#include "tests/support/assert_close.h"
#include "tests/support/fixture_device.h"

Suite *suite_gpu_device(void);

static void expect_refusal(const struct gpu_device *device, const char *message)
{
    struct error error = {0};
    ck_assert_int_eq(gpu_device_validate(device, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error.text, message);
}

START_TEST(names_units_and_factors)
{
    for (int i = 0; i < GPU_FIGURE_COUNT; i++) {
        enum gpu_figure_id id = (enum gpu_figure_id)i;
        ck_assert_uint_gt(strlen(gpu_figure_unit(id)), 0);
        ck_assert_uint_gt(strlen(gpu_figure_meaning(id)), 5);
        ck_assert(gpu_figure_si_factor(id) > 0.0);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(gpu_figure_column(id), gpu_figure_column((enum gpu_figure_id)j));
    }
    ck_assert_str_eq(gpu_figure_column(GPU_FIGURE_BOOST_CLOCK), "boost_clock_mhz");
    ck_assert_str_eq(gpu_figure_unit(GPU_FIGURE_BOOST_CLOCK), "MHz");
    ck_assert_str_eq(gpu_figure_unit(GPU_FIGURE_DRAM_BANDWIDTH), "GB/s");
    ck_assert_str_eq(gpu_figure_unit(GPU_FIGURE_DRAM_CAPACITY), "GB");
    ck_assert_str_eq(gpu_figure_unit(GPU_FIGURE_BF16_RATE), "flop/cycle/SM");
    ck_assert_str_eq(gpu_figure_unit(GPU_FIGURE_SM_BANDWIDTH), "bytes/cycle");
    ck_assert_str_eq(gpu_figure_unit(GPU_FIGURE_DRAM_LATENCY), "ns");
    ck_assert_double_eq(gpu_figure_si_factor(GPU_FIGURE_L2_CAPACITY), 1048576.0);
}
END_TEST

/* The prefix of a unit and the factor to SI are written in two places. */
START_TEST(units_agree_with_factors)
{
    static const struct {
        char first;
        double factor;
    } prefixes[] = {{'M', 1e6}, {'G', 1e9}, {'T', 1e12}, {'n', 1e-9}, {'u', 1e-6}};
    for (int i = 0; i < GPU_FIGURE_COUNT; i++) {
        const char *unit = gpu_figure_unit((enum gpu_figure_id)i);
        double expected = 1.0;
        for (size_t j = 0; j < sizeof prefixes / sizeof prefixes[0]; j++)
            if (unit[0] == prefixes[j].first)
                expected = prefixes[j].factor;
        if (strcmp(unit, "MiB") == 0)
            expected = 1048576.0;
        assert_close_rel(gpu_figure_si_factor((enum gpu_figure_id)i), expected, TOL_ROUNDING);
    }
}
END_TEST

START_TEST(the_fixture_is_valid_and_can_be_timed)
{
    struct gpu_device device;
    struct error error = {0};
    fixture_device_init(&device);
    ck_assert_int_eq(gpu_device_validate(&device, &error), STATUS_OK);
    ck_assert_int_eq(gpu_device_require_timing(&device, &error), STATUS_OK);
    assert_close_rel(gpu_device_value(&device, GPU_FIGURE_BOOST_CLOCK), 1.913e9, TOL_ROUNDING);
}
END_TEST

START_TEST(impossible_figures_are_named_in_their_unit)
{
    struct gpu_device device;
    fixture_device_init(&device);
    fixture_device_set(&device, GPU_FIGURE_SM_COUNT, -37.0);
    expect_refusal(&device, "sm_count is -37, expected 1 to 1024 count");
    fixture_device_set(&device, GPU_FIGURE_SM_COUNT, 37.5);
    expect_refusal(&device, "sm_count is 37.5, expected a whole number");
    fixture_device_init(&device);
    fixture_device_set(&device, GPU_FIGURE_DRAM_EFFICIENCY, 1.01);
    expect_refusal(&device, "dram_efficiency_fraction is 1.01, expected 0.05 to 1 fraction");
    fixture_device_init(&device);
    fixture_device_set(&device, GPU_FIGURE_BOOST_CLOCK, 1913.0); /* MHz where Hz belong */
    expect_refusal(&device, "boost_clock_mhz is 0.001913, expected 100 to 5000 MHz");
    fixture_device_init(&device);
    fixture_device_set(&device, GPU_FIGURE_L2_LATENCY, (double)NAN);
    expect_refusal(&device, "l2_latency_cycles is nan, expected 20 to 5000 cycles");
}
END_TEST

START_TEST(every_figure_has_a_range)
{
    for (int i = 0; i < GPU_FIGURE_COUNT; i++) {
        struct gpu_device device;
        struct error error = {0};
        for (int j = 0; j < 3; j++) {
            static const double impossible[] = {0.0, -1.0, 1e40};
            fixture_device_init(&device);
            fixture_device_set(&device, (enum gpu_figure_id)i, impossible[j]);
            ck_assert_int_eq(gpu_device_validate(&device, &error), STATUS_BAD_DATA);
            ck_assert_msg(strncmp(error.text, gpu_figure_column((enum gpu_figure_id)i),
                                  strlen(gpu_figure_column((enum gpu_figure_id)i))) == 0,
                          "%s", error.text);
        }
    }
}
END_TEST

START_TEST(peaks_must_follow_from_rates)
{
    struct gpu_device device;
    struct error error = {0};
    fixture_device_init(&device);
    double peak = gpu_device_value(&device, GPU_FIGURE_BF16_PEAK);
    fixture_device_set(&device, GPU_FIGURE_BF16_PEAK, peak * 1.019);
    ck_assert_int_eq(gpu_device_validate(&device, &error), STATUS_OK);
    fixture_device_set(&device, GPU_FIGURE_BF16_PEAK, peak * 1.03);
    ck_assert_int_eq(gpu_device_validate(&device, &error), STATUS_BAD_DATA);
    /* 1039 x 37 x 1.913 GHz = 73.54 TFLOP/s, times 1.03 = 75.75 */
    ck_assert_str_eq(error.text,
                     "bf16_tflop_per_s is 75.7477, but bf16_flop_per_cycle_per_sm x SMs x boost clock gives "
                     "73.5415; correct one of them or note the disagreement");
    device.figures[GPU_FIGURE_BF16_PEAK].note = "disagreement: stated at another clock";
    ck_assert_int_eq(gpu_device_validate(&device, &error), STATUS_OK);
    fixture_device_init(&device);
    fixture_device_set(&device, GPU_FIGURE_FP32_RATE, 2.1 * gpu_device_value(&device, GPU_FIGURE_FP32_RATE) / 2.0);
    ck_assert_int_eq(gpu_device_validate(&device, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "fp32_tflop_per_s"));
    fixture_device_init(&device);
    fixture_device_set(&device, GPU_FIGURE_BASE_CLOCK, 1.92e9);
    expect_refusal(&device, "base_clock_mhz is 1920, more than boost_clock_mhz with 1913");
}
END_TEST

START_TEST(gpcs_add_up)
{
    struct gpu_device device;
    struct error error = {0};
    fixture_device_init(&device); /* 37 SMs */
    device.gpcs = (struct gpu_gpcs){.count = 4, .sms = {16, 16, 4, 1}, .source = INPUT_SOURCE_MEASURED};
    ck_assert_msg(gpu_device_validate(&device, &error) == STATUS_OK, "%s", error.text);
    device.gpcs.sms[3] = 2;
    expect_refusal(&device, "gpc_sms adds up to 38 SMs, sm_count is 37");
    device.gpcs.sms[3] = 0;
    expect_refusal(&device, "gpc_sms has a group without SMs");
}
END_TEST

START_TEST(sources_are_required)
{
    struct gpu_device device;
    fixture_device_init(&device);
    device.figures[GPU_FIGURE_POWER].citation = "";
    expect_refusal(&device, "board_power_watts has no source");
    fixture_device_init(&device);
    device.figures[GPU_FIGURE_POWER].source = INPUT_SOURCE_ABSENT;
    expect_refusal(&device, "board_power_watts has a value but is marked absent");
}
END_TEST

START_TEST(limits_must_fit_together)
{
    struct gpu_device device;
    fixture_device_init(&device);
    device.limits.smem_per_cta_optin_bytes = 119 * 1024;
    expect_refusal(&device, "smem_per_cta_optin_bytes is 121856, expected 1024 to 120832");
    fixture_device_init(&device);
    device.limits.carveout_kib[1] = 38;
    expect_refusal(&device, "carveout_kib must ascend, 38 follows 38");
    fixture_device_init(&device);
    device.limits.carveout_count = 4;
    expect_refusal(&device, "carveout_kib ends with 74, but smem_per_sm_bytes is 120832");
    fixture_device_init(&device);
    device.limits.max_cluster = 5;
    expect_refusal(&device, "max_cluster_portable is 6, expected 0 to 5");
}
END_TEST

START_TEST(timing_needs_are_named)
{
    struct gpu_device device;
    struct error error = {0};
    fixture_device_init(&device);
    device.figures[GPU_FIGURE_BOOST_CLOCK] = (struct gpu_figure){(double)NAN, INPUT_SOURCE_ABSENT, "", ""};
    ck_assert_int_eq(gpu_device_require_timing(&device, &error), STATUS_MISSING);
    ck_assert_str_eq(error.text,
                     "device testgpu has no boost_clock_mhz (boost SM clock; cycles convert to seconds with "
                     "it), which predicting a time needs");
    /* A part without bf16 can still be timed on copies. */
    fixture_device_init(&device);
    device.figures[GPU_FIGURE_BF16_RATE] = (struct gpu_figure){(double)NAN, INPUT_SOURCE_ABSENT, "", ""};
    ck_assert_int_eq(gpu_device_require_timing(&device, &error), STATUS_OK);
}
END_TEST

START_TEST(input_sources_have_names)
{
    ck_assert_str_eq(input_source_name(INPUT_SOURCE_MEASURED), "measured");
    ck_assert_str_eq(input_source_name(INPUT_SOURCE_COMPILED), "compiled");
    ck_assert_str_eq(input_source_name(INPUT_SOURCE_LITERATURE), "literature");
    ck_assert_str_eq(input_source_name(INPUT_SOURCE_ASSUMED), "assumed");
    ck_assert_str_eq(input_source_name(INPUT_SOURCE_ABSENT), "absent");
    for (int i = 0; i < INPUT_SOURCE_COUNT; i++)
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(input_source_name((enum input_source)i), input_source_name((enum input_source)j));
}
END_TEST

Suite *suite_gpu_device(void)
{
    Suite *suite = suite_create("gpu_device");
    TCase *tests = tcase_create("gpu_device");
    tcase_add_test(tests, names_units_and_factors);
    tcase_add_test(tests, units_agree_with_factors);
    tcase_add_test(tests, the_fixture_is_valid_and_can_be_timed);
    tcase_add_test(tests, impossible_figures_are_named_in_their_unit);
    tcase_add_test(tests, every_figure_has_a_range);
    tcase_add_test(tests, peaks_must_follow_from_rates);
    tcase_add_test(tests, gpcs_add_up);
    tcase_add_test(tests, sources_are_required);
    tcase_add_test(tests, limits_must_fit_together);
    tcase_add_test(tests, timing_needs_are_named);
    tcase_add_test(tests, input_sources_have_names);
    suite_add_tcase(suite, tests);
    return suite;
}
