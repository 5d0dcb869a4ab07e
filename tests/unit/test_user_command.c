/* SPDX-License-Identifier: GPL-3.0-or-later
 * Commands of the user's: what is put in, what is read, and what goes wrong. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "calibrate/experiment/user_command.h"

static const char *const names[] = {"warps", "scale"};
static const double values[] = {8, 0.5};

START_TEST(test_names_are_filled)
{
    struct text_buffer out = {0};
    struct error error = {0};
    ck_assert_int_eq(user_command_fill("a {warps} {{b} {scale}{warps}", names, values, 2, &out, &error), STATUS_OK);
    ck_assert_str_eq(out.text, "a 8 {b} 0.58");
    ck_assert_int_eq(user_command_fill("{stages}", names, values, 2, &out, &error), STATUS_USAGE);
    ck_assert_int_eq(user_command_fill("{warps", names, values, 2, &out, &error), STATUS_USAGE);
    ck_assert_int_eq(user_command_fill("{", names, values, 2, &out, &error), STATUS_USAGE);
    text_buffer_release(&out);
}
END_TEST

static struct user_command_result run(const char *command, double limit_s)
{
    struct user_command_result result;
    struct error error = {0};
    ck_assert_int_eq(user_command_run(command, limit_s, &result, &error), STATUS_OK);
    return result;
}

START_TEST(test_the_last_number_counts)
{
    static const struct {
        const char *command;
        double value;
    } cases[] = {{"echo 12", 12},
                 {"echo 'mean 3.5 us'", 3.5},
                 {"echo time=7 ms", 7},
                 {"echo v7 x_8", 0},
                 {"echo 9us", 9},
                 {"printf '1\\n2.5e-3\\n'", 2.5e-3},
                 {"echo 5 v2", 5},
                 {"echo 12.5 GB/s, 3rd run", 12.5},
                 {"echo 4 then 10x", 4},
                 {"echo 10x", 0},
                 {"echo 97%", 0},
                 {"echo 7 at 12:30:45 on 2026-11-30", 7},
                 {"echo step 3/10", 0},
                 {"echo 1,2,3.5", 3.5},
                 {"echo 1,234.5 us", 0},
                 {"echo 5e", 0},
                 {"echo 0x10", 0},
                 {"echo +1e3s", 1000},
                 {"echo '{\"us\": 8.25}'", 8.25},
                 {"echo 5, 6.", 6},
                 {"head -c 200000 /dev/zero | tr '\\0' x; echo ' 42'", 42}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct user_command_result result = run(cases[i].command, 10);
        if (cases[i].value > 0) {
            ck_assert_msg(result.ok && result.number.value == cases[i].value, "%s: %g", cases[i].command,
                          result.number.value);
        } else {
            ck_assert_msg(!result.ok && result.reason[0], "%s: %g", cases[i].command, result.number.value);
        }
    }
}
END_TEST

START_TEST(test_units_are_told)
{
    static const struct {
        const char *text, *name;
        enum printed_unit unit;
        double us;
    } cases[] = {{"took 9ms", "ms", PRINTED_UNIT_TIME, 1e3},
                 {"900us", "us", PRINTED_UNIT_TIME, 1},
                 {"9 \xc2\xb5s.", "\xc2\xb5s", PRINTED_UNIT_TIME, 1},
                 {"mean 4 [ns]", "ns", PRINTED_UNIT_TIME, 1e-3},
                 {"2 sec", "sec", PRINTED_UNIT_TIME, 1e6},
                 {"5 min", "min", PRINTED_UNIT_TIME, 60e6},
                 {"5 minutes.", "minutes", PRINTED_UNIT_TIME, 60e6},
                 {"0.5h", "h", PRINTED_UNIT_TIME, 3600e6},
                 {"2 hours", "hours", PRINTED_UNIT_TIME, 3600e6},
                 {"3 secs", "secs", PRINTED_UNIT_TIME, 1e6},
                 {"time: 12.5 us (best of 10)", "us", PRINTED_UNIT_TIME, 1},
                 {"12.5 us, 10 runs", "us", PRINTED_UNIT_TIME, 1},
                 {"12.5 us\n10 runs in all", "", PRINTED_UNIT_NONE, 0},
                 {"12.5 us\n10 runs", "runs", PRINTED_UNIT_UNKNOWN, 0},
                 {"5 bananas", "bananas", PRINTED_UNIT_UNKNOWN, 0},
                 {"5 bananas (ripe)", "", PRINTED_UNIT_NONE, 0},
                 {"5 bananas, 3 us", "us", PRINTED_UNIT_TIME, 1},
                 {"12 (GB)", "GB", PRINTED_UNIT_UNKNOWN, 0},
                 {"5 incomprehensibilities", "incomprehensibi", PRINTED_UNIT_UNKNOWN, 0},
                 {"812 tok/s", "tok/s", PRINTED_UNIT_TOKENS, 0},
                 {"12.5 GB/s, 3rd run", "GB/s", PRINTED_UNIT_OTHER, 0},
                 {"610TFLOPS", "TFLOPS", PRINTED_UNIT_OTHER, 0},
                 {"9\nms", "", PRINTED_UNIT_NONE, 0},
                 {"9 runs in all", "", PRINTED_UNIT_NONE, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct printed_number number;
        bool ambiguous;
        ck_assert(printed_number_last(cases[i].text, strlen(cases[i].text), &number, &ambiguous));
        ck_assert_msg(number.unit == cases[i].unit && strcmp(number.unit_name, cases[i].name) == 0, "%s: %s",
                      cases[i].text, number.unit_name);
        ck_assert(cases[i].us > 0 ? number.unit_us == cases[i].us : isnan(number.unit_us));
    }
}
END_TEST

START_TEST(test_parts_of_one_time_are_summed)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"took 5 min 30 s", 330}, {"1 h 2 min", 62},           {"1 h 2 min 3 s", 3723},
                 {"1h 30min", 90},         {"5 min, mean of 30 s", 30}, {"5 min, 30 s", 30},
                 {"5 min\n30 s", 30},      {"3 s 12 us", 12},           {"12.5 us (best of 10)", 12.5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct printed_number number;
        bool ambiguous;
        ck_assert(printed_number_last(cases[i].text, strlen(cases[i].text), &number, &ambiguous));
        ck_assert_msg(fabs(number.value - cases[i].value) < 1e-9, "%s: %g", cases[i].text, number.value);
    }
}
END_TEST

START_TEST(test_failures_have_reasons)
{
    ck_assert_str_eq(run("echo 5; exit 3", 10).reason, "exit code 3");
    ck_assert_str_eq(run("kill -9 $$", 10).reason, "ended by signal 9");
    ck_assert_str_eq(run("echo nothing", 10).reason, "no number in its output");
    ck_assert_str_eq(run("echo -4", 10).reason, "gave -4, expected more than 0");
    const struct user_command_result late = run("echo 5; sleep 20", 0.2);
    ck_assert(late.timed_out && !late.ok && late.seconds < 10);
    ck_assert(!run("/no/such/program", 10).ok);
}
END_TEST

Suite *suite_user_command(void);
Suite *suite_user_command(void)
{
    Suite *suite = suite_create("user_command");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_names_are_filled);
    tcase_add_test(tests, test_the_last_number_counts);
    tcase_add_test(tests, test_units_are_told);
    tcase_add_test(tests, test_parts_of_one_time_are_summed);
    tcase_add_test(tests, test_failures_have_reasons);
    suite_add_tcase(suite, tests);
    return suite;
}
