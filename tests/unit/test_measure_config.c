/* SPDX-License-Identifier: GPL-3.0-or-later
 * The list of kernels and the text form of configurations. */
#include <check.h>
#include <string.h>

#include "kernels/measure.h"

Suite *suite_measure_config(void);

START_TEST(every_kernel_is_complete)
{
    ck_assert_uint_ge(measure_kernel_count(), 11);
    for (size_t k = 0; k < measure_kernel_count(); k++) {
        const struct measure_kernel *kernel = measure_kernel_get(k);
        ck_assert_ptr_eq(measure_kernel_find(kernel->name), kernel);
        ck_assert_uint_lt(strlen(kernel->name), MEASURE_NAME_SIZE);
        ck_assert_uint_gt(strlen(kernel->question), 10);
        ck_assert_uint_le(kernel->setting_count, MEASURE_SETTINGS_MAX);
        for (size_t i = 0; i < kernel->setting_count; i++) {
            const struct measure_setting *setting = &kernel->settings[i];
            ck_assert_msg(setting->minimum <= setting->fallback && setting->fallback <= setting->maximum, "%s of %s",
                          setting->name, kernel->name);
            for (size_t j = 0; j < i; j++)
                ck_assert_str_ne(setting->name, kernel->settings[j].name);
        }
    }
}
END_TEST

START_TEST(text_and_config_are_the_same_thing)
{
    struct measure_config config, again;
    struct error error = {0};
    char text[1024];
    ck_assert_int_eq(measure_config_parse("sparse_decode  block_t=64 splits=3 ", &config, &error), STATUS_OK);
    ck_assert_int_eq(measure_config_value(&config, "block_t"), 64);
    ck_assert_int_eq(measure_config_value(&config, "splits"), 3);
    ck_assert_int_eq(measure_config_value(&config, "concurrency"), 96);
    measure_config_format(&config, text, sizeof text);
    ck_assert_int_eq(measure_config_parse(text, &again, &error), STATUS_OK);
    ck_assert_mem_eq(config.values, again.values, sizeof config.values);
    ck_assert_int_eq(measure_config_parse("wave_probe carveout=-1", &config, &error), STATUS_OK);
    ck_assert_int_eq(measure_config_value(&config, "carveout"), -1);
}
END_TEST

static const struct {
    const char *text, *message;
    enum status status;
} wrong[] = {
    {"", "there is no kernel ''", STATUS_NOT_FOUND},
    {"sparse_decoder", "there is no kernel 'sparse_decoder'", STATUS_NOT_FOUND},
    {"sparse_decode block=1", "sparse_decode has no setting 'block'", STATUS_NOT_FOUND},
    {"sparse_decode block_t", "'block_t' is not name=value", STATUS_BAD_DATA},
    {"sparse_decode block_t=", "'block_t=': expected a whole number", STATUS_BAD_DATA},
    {"sparse_decode block_t=1e3", "'block_t=1e3': expected a whole number", STATUS_BAD_DATA},
    {"sparse_decode block_t=99999999999999999999", "'block_t=99999999999999999999': expected a whole number",
     STATUS_BAD_DATA},
    {"sparse_decode block_t=16 block_t=16", "block_t is given twice", STATUS_BAD_DATA},
    {"sparse_decode block_t=65", "block_t of sparse_decode must be 16 to 64, not 65", STATUS_DOMAIN},
};

START_TEST(refuses_what_is_wrong)
{
    struct measure_config config;
    struct error error = {0};
    ck_assert_int_eq(measure_config_parse(wrong[_i].text, &config, &error), wrong[_i].status);
    ck_assert_str_eq(error.text, wrong[_i].message);
}
END_TEST

Suite *suite_measure_config(void)
{
    Suite *suite = suite_create("measure_config");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, every_kernel_is_complete);
    tcase_add_test(tcase, text_and_config_are_the_same_thing);
    tcase_add_loop_test(tcase, refuses_what_is_wrong, 0, (int)(sizeof wrong / sizeof *wrong));
    suite_add_tcase(suite, tcase);
    return suite;
}
