/* SPDX-License-Identifier: GPL-3.0-or-later
 * Dates of runs as points in time. */
#include <check.h>

#include "calibrate/experiment/judged_dates.h"

Suite *suite_judged_dates(void);

START_TEST(dates_are_points_in_time)
{
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2000-02-29 00:00", 951782400},
        {"2026-11-30T01:02:03Z", 1796000523},
        {"2026-11-30T03:02:03+02:00", 1796000523}, /* east of Greenwich it is later */
        {"2026-11-29T19:32:03-0530", 1796000523},
        {"2026-11-30 01:02:03.25 UTC", 1796000523.25},
        {"2016-12-31T23:59:60Z", 1483228800},
        {"1796000523", 1796000523},
        {"1796000523250", 1796000523.25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double seconds = -1;
        ck_assert_msg(judged_date_parse(cases[i].text, &seconds), "%s", cases[i].text);
        ck_assert_msg(seconds == cases[i].seconds, "%s: %.17g", cases[i].text, seconds);
    }
}
END_TEST

START_TEST(what_is_no_date)
{
    static const char *const texts[] = {"",
                                        "today",
                                        "30.11.2026",
                                        "2026-13-01T00:00:00Z",
                                        "2026-11-30",
                                        "2026-02-29 00:00",
                                        "2026-04-31 00:00",
                                        "2026-11-30T24:00:00Z",
                                        "12",
                                        "2026-11-30T01:02:03+2:00",
                                        "2026-11-30T01:02:03 CET"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double seconds;
        ck_assert_msg(!judged_date_parse(texts[i], &seconds), "%s", texts[i]);
    }
}
END_TEST

Suite *suite_judged_dates(void)
{
    Suite *suite = suite_create("judged_dates");
    TCase *tests = tcase_create("dates");
    tcase_add_test(tests, dates_are_points_in_time);
    tcase_add_test(tests, what_is_no_date);
    suite_add_tcase(suite, tests);
    return suite;
}
