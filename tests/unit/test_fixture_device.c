/* SPDX-License-Identifier: GPL-3.0-or-later
 * The invented device must be a valid one, and odd enough that a swapped or forgotten figure shows. */
#include <check.h>
#include <math.h>

#include "tests/support/fixture_device.h"

START_TEST(it_is_a_valid_device)
{
    struct gpu_device device;
    struct error error = {0};
    fixture_device_init(&device);
    ck_assert_msg(gpu_device_validate(&device, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(gpu_device_require_timing(&device, &error) == STATUS_OK, "%s", error.text);
}
END_TEST

START_TEST(no_two_figures_are_alike)
{
    struct gpu_device device;
    fixture_device_init(&device);
    for (int i = 0; i < GPU_FIGURE_COUNT; i++) {
        double value = gpu_device_value(&device, (enum gpu_figure_id)i);
        double exponent = log2(value);
        if (isnan(value))
            continue;
        ck_assert_msg(fabs(exponent - rint(exponent)) > 1e-6, "%s is a power of two",
                      gpu_figure_column((enum gpu_figure_id)i));
        for (int j = 0; j < i; j++)
            ck_assert_double_ne(value, gpu_device_value(&device, (enum gpu_figure_id)j));
    }
}
END_TEST

START_TEST(a_changed_figure_is_read_back)
{
    struct gpu_device device;
    fixture_device_init(&device);
    double before = gpu_device_value(&device, GPU_FIGURE_DRAM_BANDWIDTH);
    fixture_device_set(&device, GPU_FIGURE_DRAM_BANDWIDTH, 1.5 * before);
    ck_assert_double_eq(gpu_device_value(&device, GPU_FIGURE_DRAM_BANDWIDTH), 1.5 * before);
    ck_assert_int_eq(device.figures[GPU_FIGURE_DRAM_BANDWIDTH].source, INPUT_SOURCE_USER);
}
END_TEST

Suite *suite_fixture_device(void)
{
    Suite *suite = suite_create("fixture_device");
    TCase *cases = tcase_create("testgpu");
    tcase_add_test(cases, it_is_a_valid_device);
    tcase_add_test(cases, no_two_figures_are_alike);
    tcase_add_test(cases, a_changed_figure_is_read_back);
    suite_add_tcase(suite, cases);
    return suite;
}
