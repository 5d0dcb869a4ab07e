/* SPDX-License-Identifier: GPL-3.0-or-later
 * Expressions: values, exactness, every error with its column, hostile texts, locale, threads. */
#include <check.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "evidence/scenario/expression.h"
#include "tests/support/assert_close.h"
#include "tests/support/floating_point_flags.h"

Suite *suite_expression(void);

static const char *const names[] = {"x", "y", "tokens", "BLOCK_T"};
enum {
    NAME_COUNT = 4
};

static enum status evaluate(const char *text, double *value, struct error *error)
{
    double values[NAME_COUNT] = {3, 49, 640, 16};
    struct expression *expression;
    enum status status = expression_compile(text, names, values, NAME_COUNT, &expression, error);
    if (status == STATUS_OK) {
        status = expression_evaluate(expression, value, error);
    }
    expression_free(expression);
    return status;
}

static const struct {
    const char *text;
    double value;
} good[] = {
    {"1", 1},
    {"x", 3},
    {" ( x ) ", 3},
    {"-2^2", -4},
    {"2^3^2", 512},
    {"2 + 3 * 4 - 6 / 4", 12.5},
    {"7 % 4 * 2", 6},
    {"-7 % 4", -3},
    {"7.5 % 2", 1.5},
    {"x > 2 && y < 50 || 0", 1},
    {"x == 3 ? 10 : 20", 10},
    {"x != 3 ? 10 : y == 49 ? 30 : 40", 30},
    {"!x", 0},
    {"!!x", 1},
    {"!x + 1", 1},
    {"!x % 2", 0},
    {"!(x > 5) * 7", 7},
    {"!min(x, 0) + !0", 2},
    {"!-x == 0", 1},
    {"x * -1", -3},
    {"x>-1", 1},
    {"ceil(tokens / BLOCK_T)", 40},
    {"ceil(2.1) + floor(-2.1) + round(2.5) + trunc(-2.9)", 1},
    {"abs(-x) + sqrt(y) + exp(0) + log(1) + log2(8) + pow(2, 10)", 1038},
    {"min(5, x, 9) + max(1, y)", 52},
    {"clamp(x, 4, 9) + clamp(x, 1, 2) + clamp(x, 1, 9)", 9},
    {"ceil_div(10, 5) + ceil_div(11, 5) + ceil_div(-11, 5) + ceil_div(9007199254740991, 2)", 4503599627370499},
    {"round_up(65, 64)", 128},
    {"1e3 + .5 + 2.", 1002.5},
    {"x ? 2 : 1 / 0", 2},
    {"5 * x / 3 - 5", 0}, /* a coefficient folded to 5/3 or 1/49 would miss these by a rounding */
    {"1 * y / 49", 1},
    {"3 * y / 49 - 3", 0},
    {"0.1 * 3 * 10", 0.1 * 3 * 10},
};

START_TEST(values_are_right_and_whole_numbers_exact)
{
    double value = NAN;
    struct error error = {0};
    ck_assert_msg(evaluate(good[_i].text, &value, &error) == STATUS_OK, "%s: %s", good[_i].text, error.text);
    ck_assert_msg(value == good[_i].value, "%s is %.17g, expected %.17g", good[_i].text, value, good[_i].value);
}
END_TEST

static const struct {
    const char *text;
    enum status status;
    unsigned column; /* 0: an error of the values, without a place */
    const char *fragment;
} bad[] = {
    {"", STATUS_BAD_DATA, 1, "empty"},
    {"  ", STATUS_BAD_DATA, 1, "empty"},
    {"x +", STATUS_BAD_DATA, 3, "ends too early"},
    {"x + token", STATUS_BAD_DATA, 5, "near names: tokens"},
    {"x + q9", STATUS_BAD_DATA, 5, "unknown name 'q9'"},
    {"sin(x)", STATUS_BAD_DATA, 1, "unknown function 'sin'"},
    {"ceil + 1", STATUS_BAD_DATA, 1, "needs arguments"},
    {"ceil(1, 2)", STATUS_BAD_DATA, 10, "too many arguments"},
    {"pow(2)", STATUS_BAD_DATA, 6, "too few arguments"},
    {"min()", STATUS_BAD_DATA, 5, "too few arguments"},
    {"1,2", STATUS_BAD_DATA, 1, "several results"},
    {"(1,2)+3", STATUS_BAD_DATA, 6, "comma"},
    {"(x", STATUS_BAD_DATA, 2, "closing parenthesis is missing"},
    {"x)", STATUS_BAD_DATA, 2, "without an opening one"},
    {"x = 5", STATUS_BAD_DATA, 3, "compare with '=='"},
    {"x & y", STATUS_BAD_DATA, 3, "'&&'"},
    {"x 2", STATUS_BAD_DATA, 3, "operator is missing"},
    {"2x", STATUS_BAD_DATA, 1, "not a decimal number"},
    {"0x10", STATUS_BAD_DATA, 1, "not a decimal number"},
    {"1.2.3", STATUS_BAD_DATA, 1, "not a decimal number"},
    {"1e999", STATUS_BAD_DATA, 1, "not a decimal number"},
    {"\"a\"", STATUS_BAD_DATA, 1, "no meaning"},
    {"x ? 2", STATUS_BAD_DATA, 5, "do not match"},
    {"!", STATUS_BAD_DATA, 1, "needs an operand"},
    {"(!)", STATUS_BAD_DATA, 3, "needs an operand"},
    {"x + \xc3\xa9", STATUS_BAD_DATA, 5, "outside ASCII"},
    {"1/0", STATUS_DOMAIN, 0, "division by zero"},
    {"x % 0", STATUS_DOMAIN, 0, "division by zero"},
    {"min(1/0, 5)", STATUS_DOMAIN, 0, "division by zero"},
    {"1/0 > 3 ? 1 : 2", STATUS_DOMAIN, 0, "division by zero"},
    {"ceil_div(x, 0)", STATUS_DOMAIN, 0, "division by zero"},
    {"log(0)", STATUS_DOMAIN, 0, "division by zero"},
    {"0/0", STATUS_DOMAIN, 0, "undefined"},
    {"sqrt(-1)", STATUS_DOMAIN, 0, "undefined"},
    {"log(0-1)", STATUS_DOMAIN, 0, "undefined"},
    {"clamp(1, 3, 2)", STATUS_DOMAIN, 0, "undefined"},
    {"round_up(5, 0)", STATUS_DOMAIN, 0, "undefined"},
    {"1e308 * 10", STATUS_DOMAIN, 0, "too large"},
};

START_TEST(faults_are_named_with_their_column)
{
    double value = -1;
    struct error error = {0};
    if (bad[_i].status == STATUS_DOMAIN && !floating_point_flags_work("expression/arithmetic faults")) {
        return;
    }
    enum status status = evaluate(bad[_i].text, &value, &error);
    ck_assert_msg(status == bad[_i].status, "%s gave %s (%g): %s", bad[_i].text, status_name(status), value,
                  error.text);
    ck_assert_msg(strstr(error.text, bad[_i].fragment) != NULL, "%s: %s", bad[_i].text, error.text);
    ck_assert_msg(error.column == bad[_i].column, "%s: column %u, expected %u", bad[_i].text, error.column,
                  bad[_i].column);
    ck_assert(value == -1);
}
END_TEST

START_TEST(variables_are_reported_and_followed)
{
    double values[NAME_COUNT] = {1, 2, 3, 4}, value;
    struct expression *expression;
    ck_assert_int_eq(expression_compile("x + BLOCK_T * 2", names, values, NAME_COUNT, &expression, NULL), STATUS_OK);
    ck_assert_uint_eq(expression_variables(expression).bits[0], 1u | 8u);
    ck_assert_int_eq(expression_evaluate(expression, &value, NULL), STATUS_OK);
    ck_assert(value == 9);
    values[3] = 5;
    ck_assert_int_eq(expression_evaluate(expression, &value, NULL), STATUS_OK);
    ck_assert(value == 11);
    values[0] = NAN;
    ck_assert_int_eq(expression_evaluate(expression, &value, NULL), STATUS_DOMAIN);
    values[0] = 1; /* an error leaves nothing behind */
    ck_assert_int_eq(expression_evaluate(expression, &value, NULL), STATUS_OK);
    expression_free(expression);
    expression_free(NULL);
}
END_TEST

static void expect_limit(const char *text, const char *fragment)
{
    double value;
    struct error error = {0};
    ck_assert_int_eq(evaluate(text, &value, &error), STATUS_LIMIT);
    ck_assert_msg(strstr(error.text, fragment) != NULL, "%s", error.text);
}

START_TEST(length_depth_and_number_count_are_capped)
{
    static char text[3 * EXPRESSION_TEXT_MAX];
    memset(text, '1', EXPRESSION_TEXT_MAX + 1);
    expect_limit(text, "limit is 4096");
    memset(text, '(', 100);
    strcpy(text + 100, "1");
    expect_limit(text, "deeper than 64");
    memset(text, '!', 100);
    expect_limit(text, "deeper than 64");
    text[0] = '\0';
    for (int i = 0; i < 600; i++) {
        strcat(text, "1+");
    }
    strcat(text, "1");
    expect_limit(text, "more than 511 numbers");
}
END_TEST

/* Random token strings: any answer is fine but a crash, a hang, or success with a value that is not finite. */
START_TEST(hostile_texts_are_answered)
{
    static const char *const tokens[] = {"x",     "y",    "(", ")",     ",", "1",  "0", "+",  "-",  "*",      "/",
                                         "%",     "^",    "?", ":",     "!", "!=", "<", ">=", "&&", "||",     "min(",
                                         "ceil(", "pow(", " ", "1e300", "=", "\"", "#", "x2", "\n", "clamp(", "."};
    struct random_stream stream;
    random_init(&stream, 20251, 7);
    for (int round = 0; round < 4000; round++) {
        char text[256] = "";
        uint32_t length = 1 + random_below(&stream, 24);
        for (uint32_t i = 0; i < length; i++) {
            strcat(text, tokens[random_below(&stream, sizeof tokens / sizeof tokens[0])]);
        }
        double value = 0;
        struct error error = {0};
        enum status status = evaluate(text, &value, &error);
        ck_assert_msg(status == STATUS_OK ? isfinite(value) : error.text[0] != '\0', "%s", text);
    }
}
END_TEST

START_TEST(locale_does_not_matter)
{
    double value;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && setlocale(LC_ALL, "fr_FR.UTF-8") == NULL) {
        printf("skipped: expression/locale_does_not_matter: no locale with a decimal comma is installed\n");
    }
    ck_assert_int_eq(evaluate("1.5 + max(0.25, 0.5)", &value, NULL), STATUS_OK);
    ck_assert(value == 2.0);
    setlocale(LC_ALL, "C");
}
END_TEST

static void *count_up(void *argument)
{
    double values[NAME_COUNT] = {0, *(double *)argument, 0, 0}, sum = 0, value = 0;
    struct expression *expression;
    if (expression_compile("x % 7 == 0 ? x / (x % 7) : x * y", names, values, NAME_COUNT, &expression, NULL) !=
        STATUS_OK) {
        return NULL;
    }
    for (int i = 0; i < 20000; i++) {
        values[0] = i;
        enum status status = expression_evaluate(expression, &value, NULL);
        if ((status == STATUS_DOMAIN) != (i % 7 == 0)) {
            expression_free(expression);
            return NULL;
        }
        sum += i % 7 == 0 ? 0 : value;
    }
    expression_free(expression);
    *(double *)argument = sum;
    return argument;
}

/* Errors of one thread's arithmetic are not seen by another. */
START_TEST(threads_do_not_disturb_each_other)
{
    pthread_t threads[4];
    double arguments[4] = {1, 2, 3, 4};
    void *result;
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_up, &arguments[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &result), 0);
        ck_assert_ptr_nonnull(result);
        assert_close_rel(arguments[i], arguments[0] * (i + 1), TOL_ROUNDING);
    }
}
END_TEST

Suite *suite_expression(void)
{
    Suite *suite = suite_create("expression");
    TCase *tests = tcase_create("core");
    tcase_add_loop_test(tests, values_are_right_and_whole_numbers_exact, 0, sizeof good / sizeof good[0]);
    tcase_add_loop_test(tests, faults_are_named_with_their_column, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tests, variables_are_reported_and_followed);
    tcase_add_test(tests, length_depth_and_number_count_are_capped);
    tcase_add_test(tests, hostile_texts_are_answered);
    tcase_add_test(tests, locale_does_not_matter);
    tcase_add_test(tests, threads_do_not_disturb_each_other);
    suite_add_tcase(suite, tests);
    return suite;
}
