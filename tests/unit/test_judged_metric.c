/* SPDX-License-Identifier: GPL-3.0-or-later
 * What columns of results measure. */
#include <check.h>

#include "calibrate/experiment/judged_metric.h"

START_TEST(times_and_rates)
{
    static const struct {
        const char *name;
        bool is_time, is_of_server, is_of_kernel;
    } rows[] = {
        {"tokens_per_s", false, true, false},
        {"tok_s", false, true, false},
        {"output_throughput", false, true, false},
        {"req_s", false, true, false},
        {"step_time_ms", true, true, false},
        {"mean_tpot_ms", true, true, false},
        {"median_itl_ms", true, true, false},
        {"time_per_output_token_s", true, true, false},
        {"ttft_ms", true, false, false},
        {"time_to_first_token_ms", true, false, false},
        {"mean_e2e_latency_ms", true, false, false},
        {"kernel_time_us", true, false, true},
        {"time_us", true, false, true},
        {"elapsed_s", true, false, true},
        {"gb_s", false, false, true},
        {"tflops", false, false, true},
        {"TFLOPS", false, false, true},
        {"tflop_per_s", false, false, true},
        {"gflop", false, false, false},
        {"tput", false, true, false},
        {"output_tput", false, true, false},
        {"decode_time_us", true, true, true},
        {"decode_latency_ms", true, true, true},
        {"decode_kernel_us", true, false, true},
        {"goodput", false, false, false},
        {"goodput_tok_s", false, false, false},
        {"occupancy", false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(judged_metric_is_time(rows[i].name) == rows[i].is_time, "%s: a time?", rows[i].name);
        ck_assert_msg(judged_metric_measures(rows[i].name, JUDGED_THROUGHPUT) == rows[i].is_of_server,
                      "%s: throughput?", rows[i].name);
        ck_assert_msg(judged_metric_measures(rows[i].name, JUDGED_KERNEL_SPEED) == rows[i].is_of_kernel,
                      "%s: of a kernel?", rows[i].name);
        ck_assert(judged_metric_measures(rows[i].name, JUDGED_ANY));
    }
}
END_TEST

/* Every known result measures one of both. */
START_TEST(known_names)
{
    size_t count = 0;
    for (const char *name; (name = judged_metric_name(count)) != NULL; count++) {
        ck_assert_msg(judged_metric_measures(name, JUDGED_THROUGHPUT) !=
                          judged_metric_measures(name, JUDGED_KERNEL_SPEED),
                      "%s", name);
    }
    ck_assert_uint_gt(count, 5);
}
END_TEST

Suite *suite_judged_metric(void)
{
    Suite *suite = suite_create("judged_metric");
    TCase *tcase = tcase_create("judged_metric");
    tcase_add_test(tcase, times_and_rates);
    tcase_add_test(tcase, known_names);
    suite_add_tcase(suite, tcase);
    return suite;
}
