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
    ck_assert_int_eq(user_command_run(command, limit_s, PRINTED_UNIT_TIME, &result, &error), STATUS_OK);
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
                 {"echo 1,234.5 us", 1234.5},
                 {"echo 1,234", 0},
                 {"echo 12,5 us", 0},
                 {"echo 1 234 us", 0},
                 {"echo 4,96,845", 845},
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
                 {"12.5 us\n10 runs in all", "us", PRINTED_UNIT_TIME, 1},
                 {"12.5 us\n10 runs", "us", PRINTED_UNIT_TIME, 1},
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
        ck_assert(printed_number_find(cases[i].text, strlen(cases[i].text), PRINTED_UNIT_TIME, &number));
        ck_assert_msg(number.unit == cases[i].unit && strcmp(number.unit_name, cases[i].name) == 0, "%s: %s",
                      cases[i].text, number.unit_name);
        ck_assert(cases[i].us > 0                      ? number.unit_size == cases[i].us
                  : number.unit == PRINTED_UNIT_TOKENS ? number.unit_size == 1
                                                       : isnan(number.unit_size));
    }
}
END_TEST

START_TEST(test_the_kind_asked_for_counts)
{
    static const struct {
        const char *text;
        enum printed_unit wanted;
        double value; /* in us or tokens/s where the unit is of the kind asked for; 0: it is of another */
    } cases[] = {
        {"0.0125 ms (3200.0 GB/s)", PRINTED_UNIT_TIME, 12.5},
        {"time 12.5 us | 85.3 TFLOP/s", PRINTED_UNIT_TIME, 12.5},
        {"12.5 us\nbandwidth 3200 GB/s", PRINTED_UNIT_TIME, 12.5},
        {"3.2 s (10 it/s)", PRINTED_UNIT_TIME, 3.2e6},
        {"12.5 us\nDone in 3 steps", PRINTED_UNIT_TIME, 12.5},
        {"12.5 us\n256 MB", PRINTED_UNIT_TIME, 12.5},
        {"12.5 us\n3 warnings generated.", PRINTED_UNIT_TIME, 12.5},
        {"12.5 us\nPASSED (1 of 1)", PRINTED_UNIT_TIME, 12.5},
        {"12.5\n3200 GB/s\n10 runs", PRINTED_UNIT_TIME, 12.5},
        {"845.20 tokens per second", PRINTED_UNIT_TIME, 0},
        {"845.20 tokens per second", PRINTED_UNIT_TOKENS, 845.2},
        {"845.20 output tok/s", PRINTED_UNIT_TIME, 0},
        {"845.20 output tok/s", PRINTED_UNIT_TOKENS, 845.2},
        {"845.20 tokens / s", PRINTED_UNIT_TOKENS, 845.2},
        {"845.2 tokens-per-sec", PRINTED_UNIT_TOKENS, 845.2},
        {"845.2 output tokens per second", PRINTED_UNIT_TOKENS, 845.2},
        {"3100 GB per second", PRINTED_UNIT_TIME, 0},
        {"3100 GB per second", PRINTED_UNIT_TOKENS, 0},
        {"Throughput: 3.41 requests/s, 1245.22 total tokens/s, 845.20 output tokens/s", PRINTED_UNIT_TOKENS, 845.2},
        {"eval time = 302.9 ms / 256 runs ( 1.18 ms per token, 845.20 tokens per second)", PRINTED_UNIT_TOKENS, 845.2},
        {"eval time = 302.9 ms / 256 runs ( 1.18 ms per token, 845.20 tokens per second)", PRINTED_UNIT_TIME, 1180},
        {"42.3us +- 0.5us", PRINTED_UNIT_TIME, 42.3},
        {"avg time: 42.3 us (std 0.4 us)", PRINTED_UNIT_TIME, 42.3},
        {"mean 42.3 std 0.4", PRINTED_UNIT_TIME, 42.3},
        {"12.5 ms/step", PRINTED_UNIT_TIME, 12500},
        {"1000 1234 ns/op 56 B/op", PRINTED_UNIT_TIME, 1.234},
        {"12.5us/iter", PRINTED_UNIT_TIME, 12.5},
        {"12.5 us \xc2\xb1 0.3 us", PRINTED_UNIT_TIME, 12.5},
        {"12.5 \xc2\xb1 0.3 us", PRINTED_UNIT_TIME, 12.5},
        {"(12.5 +/- 0.3) us", PRINTED_UNIT_TIME, 12.5},
        {"12.5\xc2\xb1"
         "0.3us",
         PRINTED_UNIT_TIME, 12.5},
        {"12.5 us (+/- 300 ns), 7 runs", PRINTED_UNIT_TIME, 12.5},
        {"12.5 +/- 2%", PRINTED_UNIT_TIME, 12.5},
        {"12.5 +/- 0.3", PRINTED_UNIT_TIME, 12.5},
        {"latency [ms]: 12.5", PRINTED_UNIT_TIME, 12500},
        {"time (ms) 12.5", PRINTED_UNIT_TIME, 12500},
        {"latency_ms=12.5", PRINTED_UNIT_TIME, 12500},
        {"time_ms: 12.5 (best of 3)", PRINTED_UNIT_TIME, 12500},
        {"time_ms: 12.5 OK", PRINTED_UNIT_TIME, 12500},
        {"{\"mean_ms\": 12.5, \"gflops\": 3200}", PRINTED_UNIT_TIME, 12500},
        {"Mean TTFT (ms):   12.5\nOutput (tok/s): 812", PRINTED_UNIT_TIME, 12500},
        {"Mean TTFT (ms):   12.5\nOutput (tok/s): 812\nPeak req/s: 3", PRINTED_UNIT_TOKENS, 812},
        {"time_min=12.5", PRINTED_UNIT_TIME, 12.5},
        {"time_us: 12.5 ms", PRINTED_UNIT_TIME, 12500},
        {"1,234.5 us", PRINTED_UNIT_TIME, 1234.5},
        {"2026-11-30 12:30:45,123 INFO 12.5 us", PRINTED_UNIT_TIME, 12.5},
        {"real 0m3.200s\nuser 0m9.000s\nsys 0m0.100s", PRINTED_UNIT_TIME, 3.2e6},
        {"12.5 ms \xc2\xb1 0.3 ms [User: 10.1 ms, System: 3 ms]", PRINTED_UNIT_TIME, 12500},
        {"n=8 h=12 time=9.5", PRINTED_UNIT_TIME, 9.5},
        {"1,2026-11-30,fp16,12.5", PRINTED_UNIT_TIME, 12.5},
        {"100-3,125 us", PRINTED_UNIT_TIME, 125},
        {"run 3 [ms]: 12.5", PRINTED_UNIT_TIME, 12500},
        {"real 1m3.5s", PRINTED_UNIT_TIME, 63.5e6},
        {"TFLOPS: 312.4", PRINTED_UNIT_TIME, 0},
        {"tokens_per_s: 812", PRINTED_UNIT_TIME, 0},
        {"bandwidth_gb_s=3200", PRINTED_UNIT_TIME, 0},
        {"bandwidth [GB/s] 3200", PRINTED_UNIT_TIME, 0},
        {"3200 GB/s\nPASSED (1 of 1)", PRINTED_UNIT_TIME, 0},
        {"3200 GB/s (best of 10)", PRINTED_UNIT_TIME, 0},
        {"tokens_per_s: 812", PRINTED_UNIT_TOKENS, 812},
        {"tok_s=812", PRINTED_UNIT_TOKENS, 812},
        {"1,234 tok/s", PRINTED_UNIT_TOKENS, 1234},
        {"812 tok/s, 3.2 req/s", PRINTED_UNIT_TOKENS, 812},
        {"812 toks/s", PRINTED_UNIT_TOKENS, 812},
        {"812 Tokens/s in 3.2 s", PRINTED_UNIT_TOKENS, 812},
        {"812 token/s", PRINTED_UNIT_TOKENS, 812},
        {"812 t/s", PRINTED_UNIT_TOKENS, 812},
        {"812 TPS", PRINTED_UNIT_TOKENS, 812},
        {"0.812 ktok/s", PRINTED_UNIT_TOKENS, 812}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct printed_number number;
        ck_assert(printed_number_find(cases[i].text, strlen(cases[i].text), cases[i].wanted, &number));
        const bool mine = number.unit == cases[i].wanted, bare = number.unit == PRINTED_UNIT_NONE;
        const double value = mine ? number.value * number.unit_size : bare ? number.value : 0;
        ck_assert_msg(fabs(value - cases[i].value) < 1e-9 * fmax(1, value) && number.doubt == PRINTED_DOUBT_NONE,
                      "%s: %g", cases[i].text, value);
    }
}
END_TEST

START_TEST(test_doubtful_numbers_are_none)
{
    static const struct {
        const char *text;
        enum printed_doubt doubt;
    } cases[] = {{"12,5 us", PRINTED_DOUBT_DECIMAL_COMMA},
                 {"0,125 ms", PRINTED_DOUBT_DECIMAL_COMMA},
                 {"1.234,5 us", PRINTED_DOUBT_DECIMAL_COMMA},
                 {"1 234 us", PRINTED_DOUBT_SPACE},
                 {"1,234", PRINTED_DOUBT_THOUSANDS},
                 {"step 12 34 us", PRINTED_DOUBT_NONE},
                 {"4,96,845", PRINTED_DOUBT_NONE},
                 {"4 128", PRINTED_DOUBT_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct printed_number number;
        ck_assert(printed_number_find(cases[i].text, strlen(cases[i].text), PRINTED_UNIT_TIME, &number));
        ck_assert_msg(number.doubt == cases[i].doubt, "%s: %d", cases[i].text, (int)number.doubt);
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
        ck_assert(printed_number_find(cases[i].text, strlen(cases[i].text), PRINTED_UNIT_TIME, &number));
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
    tcase_add_test(tests, test_the_kind_asked_for_counts);
    tcase_add_test(tests, test_doubtful_numbers_are_none);
    tcase_add_test(tests, test_parts_of_one_time_are_summed);
    tcase_add_test(tests, test_failures_have_reasons);
    suite_add_tcase(suite, tests);
    return suite;
}
