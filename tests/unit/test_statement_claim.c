/* SPDX-License-Identifier: GPL-3.0-or-later
 * Sentences and what they say of the speed. */
#include <check.h>
#include <string.h>

#include "calibrate/experiment/statement_claim.h"

static const char *const changes[] = {"num_warps=8"};

static struct statement_reading read(const char *statement)
{
    struct statement_reading reading;
    statement_claim_read(statement, changes, 1, &reading);
    return reading;
}

static void check_all(const char *const *statements, size_t count, enum statement_meaning meaning,
                      enum effect_claim claim)
{
    for (size_t i = 0; i < count; i++) {
        const struct statement_reading reading = read(statements[i]);
        ck_assert_msg(reading.meaning == meaning, "\"%s\": meaning %d, not %d (%s)", statements[i],
                      (int)reading.meaning, (int)meaning, reading.word);
        ck_assert_msg(meaning != STATEMENT_CLEAR || reading.claim == claim, "\"%s\": the other direction",
                      statements[i]);
    }
}
#define CHECK_ALL(statements, meaning, claim)                                                                          \
    check_all(statements, sizeof(statements) / sizeof(statements)[0], meaning, claim)

START_TEST(faster_in_many_words)
{
    static const char *const statements[] = {
        "num_warps=8 raises throughput",
        "num_warps=8 lowers latency",
        "num_warps=8 Lowers the Latency.",
        "reduces step time",
        "decreases kernel time by 5 %",
        "cuts ITL",
        "lowers TPOT",
        "lowers TTFT at 96 requests",
        "reduces the p99 latency",
        "shortens the duration",
        "lowers the duration of a step",
        "saves 30 us per step",
        "saves milliseconds",
        "the step takes 3 ms less",
        "takes fewer milliseconds",
        "takes less time",
        "latency drops",
        "latency goes down",
        "the step time is lower",
        "step_time falls by 10 %",
        "time_us is smaller",
        "throughput is higher",
        "throughput rises at C=96",
        "raises tokens/s",
        "raises tokens per second",
        "raises output tokens per second per GPU",
        "is faster",
        "num_warps=8 is faster than num_warps=4",
        "8 warps are faster than 4",
        "is faster than the base",
        "speeds up decode",
        "gives a speedup",
        "gains 5 %",
        "wins 3 percent of throughput",
        "improves latency",
        "improves throughput",
        "better latency",
        "lower time per output token",
        "lowers the time to first token",
        "reduces the inter-token latency",
        "raises throughput and lowers latency",
        "raises throughput at lower latency",
        "more warps raise throughput",
        "fewer registers, so the kernel is faster",
        "raises throughput by more than 5 %",
        "raises throughput by up to 5 %",
        "num_warps=8 raises throughput because it hides latency",
        "halves the step time",
        "2 times faster",
        "raises throughput at higher concurrency",
        "reduces spills and is faster",
        "instead of num_warps=4, num_warps=8 raises throughput",
        "with num_warps=8.0 the kernel's time falls",
        "lowers the step time by 20 \xc2\xb5s",
        "saves 20 \xc2\xb5s",
        "latency drops considerably",
        "num_warps=8 is better",
        "latency is better",
        "this change improves throughput",
        "with more stages the throughput rises",
        "eight warps make the step time fall",
        "reduction of latency",
        "latency improvement of 5 %",
        "improves occupancy, and throughput rises",
        "lowers p99 ITL and TTFT",
        "reduces time-to-first-token",
        "speeds it up",
        "speeds the kernel up",
        "will speed the kernel up by 5 %",
        "raises throughput compared to num_warps=4",
        "raises throughput compared with the base",
        "raises throughput relative to base",
        "compared to 4 warps the throughput rises",
        "reduces execution time",
        "lowers the elapsed time",
        "reduces wall clock time",
        "reduces the wall-clock time",
        "num_warps=8 performs better",
        "brings ITL down by 5 %",
        "pushes throughput up",
        "pushes latency down",
        "drives throughput up",
        "throughput +5 %",
        "+5 % throughput",
        "is faster by +5 %",
        "eight warps are faster than four",
        "is faster than num_warps=4",
        "num_warps = 8 is faster",
        "with more warps 5 % faster",
        "8 warps are faster than 4 warps",
        "going from 4 to 8 warps raises throughput",
        "going from num_warps=4 to num_warps=8 raises throughput",
        "with a num_warps of 8 it is faster",
        "more warps at 96 requests raise throughput",
    };
    CHECK_ALL(statements, STATEMENT_CLEAR, EFFECT_RAISES);
}
END_TEST

START_TEST(slower_in_many_words)
{
    static const char *const statements[] = {
        "num_warps=8 lowers throughput",
        "raises the step time",
        "increases kernel time",
        "adds 3 ms",
        "adds latency",
        "takes more time",
        "takes longer",
        "latency rises",
        "latency is higher",
        "higher latency",
        "TTFT grows",
        "ITL goes up",
        "the runtime increases",
        "costs 5 % of throughput",
        "costs time",
        "is slower",
        "slows down decode",
        "worsens latency",
        "loses 5 %",
        "throughput loss of 5 %",
        "throughput falls",
        "drops tokens/s",
        "lowers speed",
        "raises latency, lowers throughput",
        "TARGET_CTAS=256 lowers throughput",
        "longer step time",
        "more warps lower the throughput",
        "throughput collapses",
        "makes each step take longer",
        "throughput regression",
        "latency increase of 3 ms",
        "slows the kernel",
        "num_warps=8 slows the kernel down",
        "slows it down",
        "increases execution time",
        "raises elapsed time",
        "the wall clock time rises",
        "performs worse",
        "performs worse than num_warps=4",
        "drives throughput down",
        "pushes throughput down",
        "pushes latency up",
        "latency +5 %",
    };
    CHECK_ALL(statements, STATEMENT_CLEAR, EFFECT_LOWERS);
}
END_TEST

START_TEST(what_is_denied_is_left_open)
{
    static const char *const statements[] = {
        "num_warps=8 does not raise throughput",
        "is not faster",
        "is no longer faster",
        "never lowers latency",
        "isn't slower",
        "doesn\xe2\x80\x99t raise throughput",
        "doesnt raise throughput",
        "raises throughput without raising latency",
        "cannot be faster",
        "no throughput gain",
        "neither faster nor slower",
        "fails to raise throughput",
        "block_h=16 changes nothing, it is slower",
        "raises throughput at the same latency",
        "is as fast as before",
        "hardly raises throughput",
        "raises throughput by -5 %",
        "is it faster?",
        "reverting num_warps=8 raises throughput",
        "is too slow",
        "raises throughput at the expense of ITL",
        "prevents higher latency",
    };
    CHECK_ALL(statements, STATEMENT_NEGATED, EFFECT_CHANGES);
    ck_assert_int_eq(read("num_warps=8 does not raise throughput").denied, EFFECT_RAISES);
    ck_assert_int_eq(read("does not lower latency").denied, EFFECT_RAISES);
    ck_assert_int_eq(read("is not slower").denied, EFFECT_LOWERS);
    ck_assert_int_eq(read("raises throughput without raising latency").denied, EFFECT_CHANGES);
    ck_assert_int_eq(read("raises throughput, with no spills").denied, EFFECT_CHANGES);
    ck_assert_str_eq(read("it is never slower").word, "never");
}
END_TEST

START_TEST(two_ways_at_once)
{
    static const char *const statements[] = {
        "raises throughput and latency, and throughput falls",
        "raises throughput at higher latency",
        "raises throughput but is slower",
        "faster at 1, slower at 96",
        "lowers latency and throughput drops",
        "raises latency, raises throughput",
        "lower latency, lower throughput",
        "throughput goes up, latency goes up",
        "more occupancy, lower throughput, faster kernel",
    };
    CHECK_ALL(statements, STATEMENT_TWO_WAYS, EFFECT_CHANGES);
}
END_TEST

/* The quantity is none that is known, or the sentence is about the base. */
START_TEST(not_clear)
{
    static const char *const statements[] = {
        "raises",
        "increases the cost of a step",
        "num_warps=4 is slower than num_warps=8",
        "num_warps=4 raises throughput",
        "4 warps are slower than others",
        "the base is slower",
        "less slow",
        "reduces the slowdown",
        "lowers the L2 hit rate",
        "a faster path",
        "gains latency",
        "raises memory latency",
        "reduces throughput loss",
        "lowers the latency budget",
        "increases the time budget",
        "the share of the time is higher",
        "the share of time is higher",
        "idle time falls",
        "raises the clock rate",
        "increases the share of time spent computing",
        "improves locality",
        "accuracy gets worse",
        "improves throughput variance",
        "the hit rate improves",
        "costs accuracy",
        "gains accuracy",
        "saves the cache",
        "low latency hides gaps",
        "hides latency better",
        "higher occupancy hides the gaps",
        "four warps are faster",
        "with four warps it is faster",
        "4 warps is faster",
        "the 4-warp version is faster",
        "going back to 4 warps raises throughput",
        "going from 8 to 4 warps raises throughput",
        "switching to num_warps=4 raises throughput",
        "a num_warps of 4 is faster",
        "num_warps 4 is faster",
        "num_warps: 4 is faster",
        "num_warps = 4 is faster",
        "warps=4 is faster",
        "reducing warps to 4 raises throughput",
        "raises throughput compared to num_warps=8",
        "is faster compared to eight warps",
        "num_warps=4 changes throughput",
    };
    CHECK_ALL(statements, STATEMENT_UNCLEAR, EFFECT_CHANGES);
    ck_assert_str_eq(read("num_warps=4 is slower than num_warps=8").word, "num_warps=4");
}
END_TEST

START_TEST(nothing_is_said_of_the_speed)
{
    static const char *const statements[] = {
        "",
        "it",
        "num_warps=8",
        "raises occupancy",
        "reduces registers",
        "senkt die Latenz",
        "changes occupancy",
        "changes throughput variance",
        "= / %",
        "window rates of winter",
        "\xc2",
        "throughput",
    };
    CHECK_ALL(statements, STATEMENT_SILENT, EFFECT_CHANGES);
}
END_TEST

START_TEST(a_change_in_either_direction)
{
    static const char *const statements[] = {"num_warps=8 changes throughput", "changes the step time",
                                             "affects latency", "will change throughput by 5 %"};
    CHECK_ALL(statements, STATEMENT_CLEAR, EFFECT_CHANGES);
    ck_assert_int_eq(read("this change improves throughput").claim, EFFECT_RAISES);
}
END_TEST

START_TEST(what_contradicts_a_claim)
{
    struct statement_reading reading = read("num_warps=8 lowers latency");
    ck_assert(statement_claim_contradicts(&reading, EFFECT_LOWERS));
    ck_assert(!statement_claim_contradicts(&reading, EFFECT_RAISES));
    reading = read("num_warps=8 changes throughput");
    ck_assert(!statement_claim_contradicts(&reading, EFFECT_RAISES));
    reading = read("num_warps=8 is not faster");
    ck_assert(statement_claim_contradicts(&reading, EFFECT_RAISES));
    ck_assert(!statement_claim_contradicts(&reading, EFFECT_LOWERS));
}
END_TEST

START_TEST(a_sentence_of_any_length)
{
    char text[2000];
    memset(text, ',', sizeof text);
    memcpy(text, "raises throughput", 17);
    text[sizeof text - 1] = '\0';
    ck_assert_int_eq(read(text).meaning, STATEMENT_UNCLEAR);
    memset(text, 'a', sizeof text - 1);
    ck_assert_int_eq(read(text).meaning, STATEMENT_SILENT);
}
END_TEST

Suite *suite_statement_claim(void)
{
    Suite *suite = suite_create("statement_claim");
    TCase *tcase = tcase_create("statement_claim");
    tcase_add_test(tcase, faster_in_many_words);
    tcase_add_test(tcase, slower_in_many_words);
    tcase_add_test(tcase, what_is_denied_is_left_open);
    tcase_add_test(tcase, two_ways_at_once);
    tcase_add_test(tcase, not_clear);
    tcase_add_test(tcase, nothing_is_said_of_the_speed);
    tcase_add_test(tcase, a_change_in_either_direction);
    tcase_add_test(tcase, what_contradicts_a_claim);
    tcase_add_test(tcase, a_sentence_of_any_length);
    suite_add_tcase(suite, tcase);
    return suite;
}
