/* SPDX-License-Identifier: GPL-3.0-or-later
 * Malformed scenarios: each gets one line with the right place and says what was expected. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/scenario/scenario.h"
#include "tests/support/floating_point_flags.h"
#include "tests/support/temp_dir.h"

Suite *suite_scenario_errors(void);

static struct device_catalogue *catalogue;
static struct temp_dir directory;

static void setup(void)
{
    struct error error = {0};
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s", error.text);
    temp_dir_create(&directory);
}

static void teardown(void)
{
    device_catalogue_free(catalogue);
    temp_dir_remove(&directory);
}

/* Reads the bytes as a scenario, which must fail with one line. */
static enum status read_bytes(const char *bytes, size_t length, struct error *error)
{
    char path[600];
    struct scenario *scenario = NULL;
    temp_dir_write(&directory, "bad.yaml", bytes, length, path, sizeof path);
    *error = (struct error){0};
    enum status status = scenario_read(path, catalogue, NULL, &scenario, error);
    if (status == STATUS_OK) {
        scenario_free(scenario);
        return status;
    }
    ck_assert_ptr_null(scenario);
    ck_assert_int_eq(error->status, status);
    ck_assert(error->text[0] != '\0' && strpbrk(error->text, "\r\n") == NULL);
    return status;
}

#define HEAD   "name: t\ndevice: nvidia-h200\n"                   /* lines 1 and 2 */
#define KNOBS  "knobs: {a: [1, 2], b: [4]}\nbase: {a: 1, b: 4}\n" /* lines 3 and 4 */
#define LAUNCH "    grid: a\n    threads: 128\n    registers: 32\n    smem_bytes: 0\n"
#define KERNEL "kernels:\n  k:\n" LAUNCH "    loop: {iterations: 4}\n"

static const struct {
    const char *text;
    unsigned line, column;
    const char *fragment;
} bad[] = {
    /* tables within */
    {HEAD "tables: [a]\n" KERNEL, 3, 9, "tables"},
    {HEAD "tables: {a.csv: {b: 1}}\n" KERNEL, 3, 17, "block of CSV text"},
    {HEAD KNOBS KERNEL "notes:\n  - {text: a, measured_us: 0}\n", 13, 28, "above 0"},
    /* the file as such */
    {"", 1, 1, "empty"},
    {"# a comment\n\n", 1, 1, "empty"},
    {"- 1\n- 2\n", 1, 1, "a scenario must be a map"},
    {"just text\n", 1, 1, "a scenario must be a map"},
    {HEAD "title: \xff\n", 3, 8, "0xff"},
    {HEAD "title: a \x80 b\n", 3, 10, "UTF-8"},
    {HEAD "---\nname: u\n", 3, 1, "second document"},
    {HEAD "knobs: &k {a: [1]}\n", 3, 11, "anchors"},
    {HEAD "title: *k\n", 3, 9, "aliases"},
    {HEAD "title: !!str x\n", 3, 14, "tags"},
    {"%YAML 1.2\n---\nname: t\n", 1, 1, "directives"},
    {"name: t\ntitle: 'x''''''\n  ''x'\n", 2, 8, "doubled quotes in a text of several lines"},
    {HEAD "title: {a: 1\n", 4, 1, "YAML"},
    {HEAD "knobs:\n\ta: 1\n", 4, 1, "tab"},
    {HEAD "title: \"x\n", 3, 9, "without closing quote"},
    {HEAD "knobs: {[1]: 2}\n", 3, 9, "key must be a plain text"},
    {HEAD "title: \"a\\0b\"\n", 3, 8, "NUL"},
    {HEAD "name: u\n", 3, 1, "'name' is given twice; first in line 1"},
    {HEAD "knobs: {a: [1], b: [2], a: [3]}\n", 3, 25, "'a' is given twice"},
    /* header */
    {"device: nvidia-h200\n" KERNEL, 1, 1, "'name' is missing"},
    {"name: t\n" KERNEL, 1, 1, "'device' is missing"},
    {"name: t\ndevice: nvidia-h2000\n" KERNEL, 2, 9, "h200"},
    {"name: t\ndevice:\n" KERNEL, 2, 1, "text on one line"},
    {"name: [t]\ndevice: nvidia-h200\n" KERNEL, 1, 7, "text on one line"},
    {HEAD "kernel: {}\n", 3, 1, "unknown key 'kernel' in a scenario; near names: kernels"},
    {HEAD KNOBS, 1, 1, "'kernels' is missing"},
    /* knobs, base, workload */
    {HEAD "knobs: [1, 2]\n" KERNEL, 3, 8, "knobs must be a map"},
    {HEAD "knobs: {a: []}\n" KERNEL, 3, 12, "no values"},
    {HEAD "knobs: {a: [1, x]}\n" KERNEL, 3, 16, "finite number, not 'x'"},
    {HEAD "knobs: {a: [1, .nan]}\n" KERNEL, 3, 16, "finite number"},
    {HEAD "knobs: {a: [1, 1e999]}\n" KERNEL, 3, 16, "finite number"},
    {HEAD "knobs: {a: [1, 2, 1]}\n" KERNEL, 3, 19, "lists 1 twice"},
    {HEAD "knobs: {2a: [1]}\n" KERNEL, 3, 9, "must be a name"},
    {HEAD "knobs: {min: [1]}\n" KERNEL, 3, 9, "taken by the expression language"},
    {HEAD "knobs: {sm_count: [1]}\n" KERNEL, 3, 9, "taken by the expression language"},
    {HEAD "knobs: {a: {from: 1, to: 5000, step: 1}}\n" KERNEL, 3, 12, "more than 4096 values"},
    {HEAD "knobs: {a: {from: 1, to: 5}}\n" KERNEL, 3, 12, "one of 'step', 'times'"},
    {HEAD "knobs: {a: {from: 5, to: 1, step: 1}}\n" KERNEL, 3, 12, "ascends"},
    {HEAD "knobs: {a: {from: 0, to: 8, times: 2}}\n" KERNEL, 3, 12, "ascends"},
    {HEAD "knobs: {a: {from: 1e17, to: 2e17, step: 1}}\n" KERNEL, 3, 12, "too small"},
    {HEAD "knobs: {a: [1]}\nworkload: {a: 3}\n" KERNEL, 4, 12, "has the name of a knob"},
    {HEAD "knobs: {a: [1]}\n" KERNEL, 1, 1, "'base' is missing"},
    {HEAD "knobs: {a: [1, 2]}\nbase: {}\n" KERNEL, 4, 7, "no value for the knob 'a'"},
    {HEAD "knobs: {a: [1, 2]}\nbase: {a: 3}\n" KERNEL, 4, 11, "not among the listed values of 'a'"},
    {HEAD "knobs: {a: [1, 2]}\nbase: {a: 1, q: 3}\n" KERNEL, 4, 14, "unknown key 'q' in base"},
    {HEAD "workload: {a: [1, 2]}\nworkload_base: {a: 3}\n" KERNEL, 4, 20, "not among the listed values"},
    /* let, require */
    {HEAD KNOBS "let: {x: y + 1, y: z, z: x * 2}\n" KERNEL, 5, 10, "x -> y -> z -> x"},
    {HEAD KNOBS "let: {x: x}\n" KERNEL, 5, 10, "x -> x"},
    {HEAD KNOBS "let: {x: a + bb}\n" KERNEL, 5, 14, "unknown name 'bb'; near names: b, a"},
    {HEAD KNOBS "let: {x: \"a + bb\"}\n" KERNEL, 5, 15, "unknown name 'bb'"},
    {HEAD KNOBS "let: {x: a + }\n" KERNEL, 5, 12, "ends too early"},
    {HEAD KNOBS "let: {x: }\n" KERNEL, 5, 7, "x has no value"},
    {HEAD KNOBS "let: {x: [1]}\n" KERNEL, 5, 10, "number or an expression"},
    {HEAD KNOBS "let: {a: 1}\n" KERNEL, 5, 7, "has the name of a knob"},
    {HEAD KNOBS "let: {x: grid_ctas}\n" KERNEL, 5, 10, "unknown name 'grid_ctas'"},
    {HEAD KNOBS "let: {x: \"1, 2\"}\n" KERNEL, 5, 11, "several results"},
    {HEAD KNOBS "require: {expr: a > 1}\n" KERNEL, 5, 10, "require must be a list"},
    {HEAD KNOBS "require: [{expr: a > 1}]\n" KERNEL, 5, 11, "'expr' and 'why'"},
    {HEAD KNOBS "require: [{expr: a >> 1, why: x}]\n" KERNEL, 5, 21, "operator"},
    /* kernels */
    {HEAD KNOBS "kernels: {}\n", 5, 10, "1 to 8 kernels"},
    {HEAD KNOBS "kernels:\n  k:\n" LAUNCH, 7, 5, "'loop' is missing"},
    {HEAD KNOBS "kernels:\n  k:\n    grid: 1\n    loop: {iterations: 1}\n", 7, 5, "'threads' is missing"},
    {HEAD KNOBS "kernels:\n  k:\n" LAUNCH "    loop: {}\n", 11, 11, "'iterations' is missing"},
    {HEAD KNOBS "kernels:\n  k:\n" LAUNCH "    smem: 3\n", 11, 5, "unknown key 'smem'"},
    {HEAD KNOBS "kernels:\n  k:\n" LAUNCH "    loop: {iterations: 1, gather: {rows: 4}}\n", 11, 35,
     "'row_bytes' is missing"},
    {HEAD KNOBS "kernels:\n  k:\n" LAUNCH "    loop: {iterations: 1, mma: [{m: 1, n: 2, k: 3, type: int4}]}\n", 11, 58,
     "type must be one of bf16"},
    {HEAD KNOBS "kernels:\n  k:\n" LAUNCH
                "    loop: {iterations: 1, mma: [{m: 1, n: 2, k: 3, instruction: [16, 8]}]}\n",
     11, 65, "[m, n, k]"},
    {HEAD KNOBS "kernels:\n  k:\n    grid: {rule: no-such}\n", 7, 18, "unknown SMEM rule"},
    {HEAD KNOBS "kernels:\n  k:\n    grid: 1\n    threads: 1\n    registers: 1\n    smem_bytes: {rule: triton-gem}\n",
     10, 24, "near names: triton-gemm"},
    {HEAD KNOBS "kernels:\n  k:\n    grid: 1\n    threads: 1\n    registers: {value: 3, source: guess}\n", 9, 35,
     "source must be measured"},
    {HEAD KNOBS "kernels:\n  k:\n    grid: 1\n    threads: 1\n    registers: {from: no.csv, column: r, keys: {a: a}}\n",
     9, 23, "cannot be opened"},
    {HEAD KNOBS "kernels:\n  k:\n    grid: 1\n    threads: 1\n    registers: {from: no.csv}\n", 9, 16,
     "'column' and 'keys'"},
    /* serving and notes */
    {HEAD KNOBS KERNEL "serving: {}\n", 12, 10, "'fixed_ms'"},
    {HEAD KNOBS KERNEL "serving: {fixed_ms: 1}\n", 12, 10, "both 'fixed_ms'"},
    {HEAD KNOBS KERNEL "serving: {fixed_ms: -1, per_request_ms: 1}\n", 12, 21, "between 0"},
    {HEAD KNOBS KERNEL "serving: {fixed_ms: 1/(a-1), per_request_ms: 1}\n", 12, 21, "division by zero"},
    {HEAD KNOBS KERNEL "serving: {concurrency: D, fixed_ms: 1, per_request_ms: 1}\n", 12, 24, "no workload variable"},
    {HEAD KNOBS KERNEL "serving: {measured: [{tokens_per_s: 3}]}\n", 12, 22, "'concurrency' is missing"},
    {HEAD KNOBS KERNEL "serving: {measured: [{concurrency: 3}]}\n", 12, 22, "one of 'tokens_per_s' and 'step_ms'"},
    {HEAD KNOBS KERNEL "serving: {fixed_ms: 1, per_request_ms: 1, layers: [{count: 1, set: {a: 3}}]}\n", 12, 69,
     "no workload variable 'a'"},
    {HEAD KNOBS KERNEL "serving: {fixed_ms: 1, per_request_ms: 1, captured_sizes: [4, 2]}\n", 12, 63, "ascend"},
    {HEAD KNOBS KERNEL "notes: [{knob: c, text: x}]\n", 12, 16, "no knob 'c'"},
    {HEAD KNOBS KERNEL "notes: [{knob: a}]\n", 12, 9, "needs 'text'"},
};

START_TEST(faults_are_named_with_their_place)
{
    struct error error;
    if (strcmp(bad[_i].fragment, "division by zero") == 0 &&
        !floating_point_flags_work("scenario_errors/division by zero")) {
        return;
    }
    enum status status = read_bytes(bad[_i].text, strlen(bad[_i].text), &error);
    ck_assert_msg(status != STATUS_OK, "accepted:\n%s", bad[_i].text);
    ck_assert_msg(strstr(error.text, bad[_i].fragment) != NULL && error.line == bad[_i].line &&
                      error.column == bad[_i].column,
                  "%u:%u %s\nexpected %u:%u ...%s...\n%s", error.line, error.column, error.text, bad[_i].line,
                  bad[_i].column, bad[_i].fragment, bad[_i].text);
    ck_assert_ptr_nonnull(strstr(error.file, "bad.yaml"));
}
END_TEST

/* The text that the table builds on is itself accepted: every failure above is its own. */
START_TEST(the_common_part_is_sound)
{
    struct error error;
    ck_assert_msg(read_bytes(HEAD KNOBS KERNEL, strlen(HEAD KNOBS KERNEL), &error) == STATUS_OK, "%s", error.text);
}
END_TEST

static void expect_fault(const char *bytes, size_t length, enum status expected, const char *fragment)
{
    struct error error;
    ck_assert_int_eq(read_bytes(bytes, length, &error), expected);
    ck_assert_msg(strstr(error.text, fragment) != NULL, "%s", error.text);
}

/* `unit` repeated behind `head` up to `length` bytes. Caller frees. */
static char *repeat(const char *head, const char *unit, size_t length)
{
    char *text = malloc(length + 1);
    size_t used = strlen(head), step = strlen(unit);
    memcpy(text, head, used);
    for (; used + step <= length; used += step) {
        memcpy(text + used, unit, step);
    }
    memset(text + used, '\n', length - used);
    text[length] = '\0';
    return text;
}

START_TEST(hostile_sizes_are_refused_quickly)
{
    static const struct {
        const char *head, *unit;
        size_t length;
        enum status status;
        const char *fragment;
    } rows[] = {{HEAD "title: ", "[", 1u << 20, STATUS_LIMIT, "brackets"},
                {"", "- ", 1u << 20, STATUS_LIMIT, "deeper than 32"},
                {"", "{", 1u << 20, STATUS_LIMIT, "brackets"},
                {"", "%", 1u << 20, STATUS_BAD_DATA, "directives"},
                {HEAD "title: [", "x,", 1u << 20, STATUS_LIMIT, "values in one file"},
                {HEAD "title: \"", "x", 4u << 20, STATUS_BAD_DATA, "closing quote"},
                {HEAD "title: x\n", "# comment\n", (4u << 20) + 1, STATUS_LIMIT, "4194304"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = repeat(rows[i].head, rows[i].unit, rows[i].length);
        expect_fault(text, rows[i].length, rows[i].status, rows[i].fragment);
        free(text);
    }
}
END_TEST

/* 100,000 keys with the last one given twice: a pairwise search would take minutes. */
START_TEST(duplicate_keys_are_found_in_linear_time)
{
    enum {
        KEYS = 100000
    };
    char *text = malloc((size_t)KEYS * 16 + 64), *end = text;
    for (int i = 0; i < KEYS; i++) {
        end += sprintf(end, "key%06d: 1\n", i);
    }
    end += sprintf(end, "key%06d: 1\n", KEYS - 1);
    expect_fault(text, (size_t)(end - text), STATUS_BAD_DATA, "given twice");
    free(text);
}
END_TEST

START_TEST(counts_are_capped)
{
    char *text = malloc(1u << 20), *end = text + sprintf(text, HEAD "knobs:\n");
    for (int i = 0; i <= SCENARIO_KNOBS_MAX; i++) {
        end += sprintf(end, "  k%d: [1]\n", i);
    }
    expect_fault(text, (size_t)(end - text), STATUS_LIMIT, "knobs holds 25 names");
    end = text + sprintf(text, HEAD "knobs: {a: [0");
    for (int i = 1; i <= SCENARIO_KNOB_VALUES_MAX; i++) {
        end += sprintf(end, ",%d", i);
    }
    end += sprintf(end, "]}\n");
    expect_fault(text, (size_t)(end - text), STATUS_LIMIT, "more than 4096 values");
    end = text + sprintf(text, HEAD KNOBS "let:\n");
    for (int i = 0; i <= SCENARIO_LET_MAX; i++) {
        end += sprintf(end, "  l%d: 1\n", i);
    }
    expect_fault(text, (size_t)(end - text), STATUS_LIMIT, "let holds 49 names");
    end = text + sprintf(text, HEAD KNOBS "let: {x: 1");
    for (int i = 0; i < 2100; i++) {
        end += sprintf(end, "+1");
    }
    end += sprintf(end, "}\n");
    expect_fault(text, (size_t)(end - text), STATUS_LIMIT, "limit is 4096");
    free(text);
}
END_TEST

START_TEST(paths_that_cannot_be_read)
{
    static const struct {
        const char *path;
        enum status status;
        const char *fragment;
    } rows[] = {{"/nonexistent/x.yaml", STATUS_MISSING, "No such file"},
                {"dsv4-flash-sparse-decod", STATUS_MISSING, "near names: dsv4-flash-sparse-decode"},
                {"no-such-thing-at-all", STATUS_MISSING, "shipped are"},
                {"/", STATUS_BAD_DATA, "directory"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *scenario;
        struct error error = {0};
        char described[1200];
        ck_assert_int_eq(scenario_read(rows[i].path, catalogue, NULL, &scenario, &error), rows[i].status);
        error_describe(&error, described, sizeof described);
        ck_assert_msg(strstr(described, rows[i].fragment) != NULL, "%s", described);
    }
}
END_TEST

/* Arithmetic that only fails for some values is reported by the evaluation, with the expression's place. */
START_TEST(arithmetic_errors_have_the_place_of_the_expression)
{
    static const struct {
        const char *let, *fragment;
        unsigned column;
    } rows[] = {{"{x: 1 / (a - 1)}", "division by zero", 10},
                {"{x: a % (a - 1)}", "division by zero", 10},
                {"{x: sqrt(a - 2)}", "undefined", 10},
                {"{x: 1e200 ^ (a + 1)}", "too large", 10}};
    char text[1000], path[600];
    if (!floating_point_flags_work("scenario_errors/arithmetic errors")) {
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, HEAD KNOBS "let: %s\n" KERNEL, rows[i].let);
        temp_dir_write(&directory, "late.yaml", text, strlen(text), path, sizeof path);
        struct scenario *scenario;
        struct scenario_evaluator *evaluator;
        struct error error = {0};
        ck_assert_int_eq(scenario_read(path, catalogue, NULL, &scenario, &error), STATUS_OK);
        ck_assert_int_eq(scenario_evaluator_create(scenario, &evaluator, &error), STATUS_OK);
        double values[2] = {1, 4};
        enum config_verdict verdict;
        size_t constraint;
        static struct layer_case layer;
        for (int again = 0; again < 2; again++) { /* an error is not forgotten because nothing changed since */
            error = (struct error){0};
            ck_assert_int_eq(scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error),
                             STATUS_DOMAIN);
            ck_assert_msg(strstr(error.text, rows[i].fragment) != NULL && error.line == 5 &&
                              error.column == rows[i].column,
                          "%u:%u %s", error.line, error.column, error.text);
        }
        values[0] = 3;
        ck_assert_int_eq(scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error),
                         i == 3 ? STATUS_DOMAIN : STATUS_OK);
        scenario_evaluator_free(evaluator);
        scenario_free(scenario);
    }
}
END_TEST

START_TEST(resource_tables_name_their_faults)
{
    static const struct {
        const char *table;
        enum status status;
        unsigned line;
        const char *fragment;
    } rows[] = {{"a,r\n1,32\n1,64\n", STATUS_BAD_DATA, 3, "same key"},
                {"a,q\n1,32\n", STATUS_NOT_FOUND, 1, "no column 'r'"},
                {"c,r\n1,32\n", STATUS_NOT_FOUND, 1, "no column 'a'"},
                {"a,r\nx,32\n", STATUS_BAD_DATA, 2, "a"},
                {"a,r\n1,many\n", STATUS_BAD_DATA, 2, "r"},
                {"a,r\n1\n", STATUS_BAD_DATA, 2, ""}};
    static const char text[] = HEAD KNOBS "kernels:\n  k:\n    grid: 1\n    threads: 1\n    registers: {from: t.csv, "
                                          "column: r, keys: {a: a}}\n    smem_bytes: 0\n    loop: {iterations: 1}\n";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[600];
        struct error error;
        temp_dir_write(&directory, "t.csv", rows[i].table, strlen(rows[i].table), path, sizeof path);
        ck_assert_int_eq(read_bytes(text, sizeof text - 1, &error), rows[i].status);
        ck_assert_msg(strstr(error.text, rows[i].fragment) != NULL && error.line == rows[i].line, "%u %s", error.line,
                      error.text);
        ck_assert_ptr_nonnull(strstr(error.file, "t.csv"));
    }
}
END_TEST

START_TEST(a_missing_row_names_its_key)
{
    static const char table[] = "a,r\n1,32\n";
    static const char text[] = HEAD KNOBS "kernels:\n  k:\n    grid: 1\n    threads: 1\n    registers: {from: t.csv, "
                                          "column: r, keys: {a: a}}\n    smem_bytes: 0\n    loop: {iterations: 1}\n";
    char path[600];
    temp_dir_write(&directory, "t.csv", table, sizeof table - 1, path, sizeof path);
    temp_dir_write(&directory, "late.yaml", text, sizeof text - 1, path, sizeof path);
    struct scenario *scenario;
    struct scenario_evaluator *evaluator;
    struct error error = {0};
    double values[2] = {2, 4};
    enum config_verdict verdict;
    size_t constraint;
    static struct layer_case layer;
    ck_assert_int_eq(scenario_read(path, catalogue, NULL, &scenario, &error), STATUS_OK);
    ck_assert_int_eq(scenario_evaluator_create(scenario, &evaluator, &error), STATUS_OK);
    ck_assert_int_eq(scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error), STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, "no row with a = 2") != NULL && error.line == 9, "%s", error.text);
    scenario_evaluator_free(evaluator);
    scenario_free(scenario);
}
END_TEST

Suite *suite_scenario_errors(void)
{
    Suite *suite = suite_create("scenario_errors");
    TCase *tests = tcase_create("core");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_common_part_is_sound);
    tcase_add_loop_test(tests, faults_are_named_with_their_place, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tests, hostile_sizes_are_refused_quickly);
    tcase_add_test(tests, duplicate_keys_are_found_in_linear_time);
    tcase_add_test(tests, counts_are_capped);
    tcase_add_test(tests, paths_that_cannot_be_read);
    tcase_add_test(tests, arithmetic_errors_have_the_place_of_the_expression);
    tcase_add_test(tests, resource_tables_name_their_faults);
    tcase_add_test(tests, a_missing_row_names_its_key);
    suite_add_tcase(suite, tests);
    return suite;
}
