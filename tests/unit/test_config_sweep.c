/* SPDX-License-Identifier: GPL-3.0-or-later
 * The sweep against brute force, over threads, with filters, limits, reasons and ties. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "calibrate/config_sweep.h"
#include "tests/support/assert_close.h"
#include "tests/support/temp_dir.h"

enum {
    ALL = 4096
};

/* 4 x 3 x 3 x 5 = 180 configurations: some break a constraint, some do not fit, one value makes a grid of 0. */
static const char SCENARIO[] = "name: sweep-test\n"
                               "device: rtx-pro-6000-blackwell-server\n"
                               "knobs:\n"
                               "  block: [16, 32, 64, 96]\n"
                               "  warps: [2, 4, 8]\n"
                               "  stages: [1, 2, 3]\n"
                               "  target: [0, 100, 188, 376, 512]\n"
                               "base: {block: 32, warps: 4, stages: 2, target: 188}\n"
                               "require:\n"
                               "  - {expr: \"warps < 8 || block > 16\", why: \"too many warps\"}\n"
                               "workload: {C: [1, 4, 16], tokens: 512}\n"
                               "workload_base: {C: 4}\n"
                               "let: {waves_wanted: target / 188}\n"
                               "kernels:\n"
                               "  main:\n"
                               "    grid: C * target\n"
                               "    threads: 32 * warps\n"
                               "    registers: 128\n"
                               "    smem_bytes: 700 * block * stages\n"
                               "    epilogue_bytes: 2048\n"
                               "    loop:\n"
                               "      iterations: ceil(tokens / block)\n"
                               "      buffers: stages\n"
                               "      stream: {rows: block, row_bytes: 256}\n"
                               "      mma: [{m: 16, n: block, k: 64, type: bf16}]\n"
                               "serving:\n"
                               "  fixed_ms: 10\n"
                               "  per_request_ms: 0.5\n"
                               "  layers: [{count: 7, set: {tokens: 512}}, {count: 3, set: {tokens: 128}}]\n";

static struct temp_dir directory;
static struct device_catalogue *catalogue;
static struct scenario *scenario;
static struct model_parameters parameters;
static double values[CONFIG_VARIABLES_MAX];

static struct scenario *read_text(const char *text)
{
    char path[1024];
    struct scenario *read = NULL;
    struct error error = {0};
    temp_dir_write(&directory, "sweep-test.yaml", text, strlen(text), path, sizeof path);
    ck_assert_msg(scenario_read(path, catalogue, NULL, &read, &error) == STATUS_OK, "%u:%u: %s", error.line,
                  error.column, error.text);
    return read;
}

static void setup(void)
{
    struct error error = {0};
    temp_dir_create(&directory);
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s", error.text);
    scenario = read_text(SCENARIO);
    model_parameters_init(&parameters);
    scenario_base_values(scenario, values);
}

static void teardown(void)
{
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    temp_dir_remove(&directory);
}

static struct sweep_request all_knobs(void)
{
    return (struct sweep_request){
        .scenario = scenario, .parameters = &parameters, .values = values, .top_count = ALL, .thread_count = 1};
}

static struct sweep_result run(const struct sweep_request *request)
{
    struct sweep_result result;
    struct error error = {0};
    ck_assert_msg(config_sweep_run(request, &result, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(result.feasible_count + result.filtered_count + result.infeasible_count,
                      result.space.config_count);
    uint64_t counted = 0;
    for (size_t i = 0; i < result.reason_count; i++) {
        counted += result.reasons[i].count;
        ck_assert_uint_gt(result.reasons[i].count, 0);
        ck_assert(i == 0 || result.reasons[i].count <= result.reasons[i - 1].count);
    }
    ck_assert_uint_eq(counted, result.infeasible_count);
    return result;
}

static void fails(const struct sweep_request *request, enum status expected, const char *part)
{
    struct sweep_result result;
    struct error error = {0};
    ck_assert_int_eq(config_sweep_run(request, &result, &error), expected);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" lacks \"%s\"", error.text, part);
    ck_assert_ptr_null(result.entries);
}

static const struct sweep_reason *find_reason(const struct sweep_result *result, enum sweep_reason_kind kind)
{
    for (size_t i = 0; i < result->reason_count; i++) {
        if (result->reasons[i].kind == kind) {
            return &result->reasons[i];
        }
    }
    return NULL;
}

/* --- brute force: no space, no judge, no memory of iterations ----------------------------------------------------- */

struct brute {
    double values[4], time_s;
    uint64_t order;
};

static int by_time(const void *left, const void *right)
{
    const struct brute *a = left, *b = right;
    return a->time_s > b->time_s ? 1 : a->time_s < b->time_s ? -1 : a->order > b->order ? 1 : -1;
}

static size_t brute_force(struct brute *list, size_t *constraints, size_t *launches, size_t *invalid)
{
    static const double blocks[] = {16, 32, 64, 96}, warps[] = {2, 4, 8}, stages[] = {1, 2, 3},
                        targets[] = {0, 100, 188, 376, 512};
    struct scenario_evaluator *evaluator;
    struct time_model model;
    struct error error = {0};
    static struct layer_case layer;
    size_t count = 0;
    uint64_t order = 0;
    ck_assert_int_eq(scenario_evaluator_create(scenario, &evaluator, &error), STATUS_OK);
    ck_assert_int_eq(time_model_init(&model, scenario_device(scenario), &parameters, &error), STATUS_OK);
    *constraints = *launches = *invalid = 0;
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 3; b++) {
            for (int c = 0; c < 3; c++) {
                for (int d = 0; d < 5; d++, order++) {
                    const double at[] = {blocks[a], warps[b], stages[c], targets[d], 4, 512};
                    enum config_verdict verdict;
                    size_t index;
                    struct layer_time time;
                    ck_assert_int_eq(scenario_evaluate(evaluator, at, &verdict, &index, &layer, &error), STATUS_OK);
                    if (verdict != CONFIG_OK) {
                        *(verdict == CONFIG_CONSTRAINT ? constraints : invalid) += 1;
                        continue;
                    }
                    layer_time_predict(&model, &layer, &time);
                    if (!time.feasible) {
                        *launches += 1;
                        continue;
                    }
                    list[count] = (struct brute){.time_s = time.time_s, .order = order};
                    memcpy(list[count++].values, at, sizeof list->values);
                }
            }
        }
    }
    scenario_evaluator_free(evaluator);
    qsort(list, count, sizeof *list, by_time);
    return count;
}

START_TEST(top_equals_brute_force)
{
    static struct brute list[180];
    size_t constraints, launches, invalid;
    const size_t count = brute_force(list, &constraints, &launches, &invalid);
    ck_assert_uint_gt(count, 50);
    ck_assert(constraints > 0 && launches > 0 && invalid > 0); /* every branch is there */
    static const size_t TOPS[] = {1, 2, 7, ALL};
    for (size_t t = 0; t < sizeof TOPS / sizeof TOPS[0]; t++) {
        struct sweep_request request = all_knobs();
        request.top_count = TOPS[t];
        struct sweep_result result = run(&request);
        ck_assert_uint_eq(result.space.config_count, 180);
        ck_assert_uint_eq(result.feasible_count, count);
        ck_assert_uint_eq(result.entry_count, TOPS[t] < count ? TOPS[t] : count);
        ck_assert_uint_eq(find_reason(&result, SWEEP_REASON_CONSTRAINT)->count, constraints);
        ck_assert_str_eq(find_reason(&result, SWEEP_REASON_CONSTRAINT)->text, "too many warps");
        ck_assert_uint_eq(find_reason(&result, SWEEP_REASON_LAUNCH)->count, launches);
        ck_assert_str_eq(find_reason(&result, SWEEP_REASON_LAUNCH)->text, launch_fault_text(LAUNCH_FAULT_SMEM_PER_CTA));
        ck_assert_str_eq(find_reason(&result, SWEEP_REASON_LAUNCH)->subject, "main");
        ck_assert_uint_eq(find_reason(&result, SWEEP_REASON_INVALID)->count, invalid);
        for (size_t i = 0; i < result.entry_count; i++) {
            ck_assert_double_eq(result.entries[i].objective, list[i].time_s);
            ck_assert_uint_eq(result.entries[i].config_index, list[i].order);
            ck_assert_mem_eq(result.entries[i].values, list[i].values, sizeof list[i].values);
        }
        config_sweep_release(&result);
    }
}
END_TEST

/* Padding inside layer_time is not set; what is asserted is every number that a caller prints. */
static void assert_same(const struct sweep_result *left, const struct sweep_result *right)
{
    ck_assert_uint_eq(left->entry_count, right->entry_count);
    ck_assert_uint_eq(left->feasible_count, right->feasible_count);
    ck_assert_uint_eq(left->filtered_count, right->filtered_count);
    ck_assert_uint_eq(left->reason_count, right->reason_count);
    for (size_t i = 0; i < left->reason_count; i++) {
        ck_assert_uint_eq(left->reasons[i].count, right->reasons[i].count);
        ck_assert_str_eq(left->reasons[i].text, right->reasons[i].text);
    }
    for (size_t i = 0; i < left->entry_count; i++) {
        const struct sweep_entry *a = &left->entries[i], *b = &right->entries[i];
        ck_assert_uint_eq(a->config_index, b->config_index);
        ck_assert_mem_eq(&a->objective, &b->objective, sizeof a->objective);
        ck_assert_mem_eq(a->values, b->values, sizeof a->values);
        ck_assert_mem_eq(a->layer.shares, b->layer.shares, sizeof a->layer.shares);
        ck_assert_mem_eq(&a->layer.time_hi_s, &b->layer.time_hi_s, sizeof a->layer.time_hi_s);
        ck_assert_mem_eq(&a->serving, &b->serving, sizeof a->serving);
        ck_assert_mem_eq(&a->gain_fraction, &b->gain_fraction, sizeof a->gain_fraction);
        ck_assert_int_eq(a->tie, b->tie);
    }
}

START_TEST(threads_do_not_change_a_number)
{
    static const enum sweep_objective OBJECTIVES[] = {SWEEP_OBJECTIVE_TIME, SWEEP_OBJECTIVE_THROUGHPUT,
                                                      SWEEP_OBJECTIVE_OCCUPANCY, SWEEP_OBJECTIVE_EXPRESSION};
    struct sweep_request request = all_knobs();
    request.objective = OBJECTIVES[_i];
    request.concurrency = 4;
    request.objective_text = "abs(waves - 1.5)";
    request.where = "rounds < 40";
    request.top_count = 17;
    struct sweep_result one = run(&request);
    ck_assert_uint_eq(one.entry_count, 17);
    for (unsigned threads = 2; threads <= 3; threads++) {
        request.thread_count = threads;
        struct sweep_result several = run(&request);
        assert_same(&one, &several);
        config_sweep_release(&several);
    }
    config_sweep_release(&one);
}
END_TEST

START_TEST(where_filters)
{
    struct sweep_request request = all_knobs();
    struct sweep_result everything = run(&request);

    request.where = "warps == 4"; /* needs no result: what it leaves out is not judged at all */
    struct sweep_result early = run(&request);
    ck_assert_uint_eq(early.filtered_count, 120);
    ck_assert_uint_eq(early.feasible_count + early.infeasible_count, 60);
    for (size_t i = 0; i < early.entry_count; i++) {
        ck_assert_double_eq(early.entries[i].values[1], 4);
    }

    const size_t middle = everything.entry_count / 2;
    const double limit_us = round(everything.entries[middle].layer.time_s / SECONDS_PER_US);
    char text[128];
    snprintf(text, sizeof text, "kernel_time_us < %.0f && grid_ctas == 4 * target && waves_wanted > 0.6", limit_us);
    request.where = text;
    struct sweep_result late = run(&request);
    ck_assert_uint_eq(late.infeasible_count, everything.infeasible_count);
    size_t expected = 0;
    for (size_t i = 0; i < everything.entry_count; i++) {
        const struct sweep_entry *entry = &everything.entries[i];
        expected += entry->layer.time_s / SECONDS_PER_US < limit_us && entry->values[3] / 188 > 0.6;
    }
    ck_assert_uint_eq(late.feasible_count, expected);
    ck_assert(expected > 0 && expected < everything.entry_count);

    request.where = "smem_bytes >= 0 && ctas_per_sm > 0 && occupancy_fraction <= 1 && registers_per_thread == 128";
    struct sweep_result none_left_out = run(&request);
    ck_assert_uint_eq(none_left_out.feasible_count, everything.feasible_count);
    request.where = "0";
    struct sweep_result nothing = run(&request);
    ck_assert_uint_eq(nothing.filtered_count, 180);
    ck_assert_uint_eq(nothing.entry_count, 0);
    ck_assert(nothing.base_feasible);
    config_sweep_release(&everything);
    config_sweep_release(&early);
    config_sweep_release(&late);
    config_sweep_release(&none_left_out);
    config_sweep_release(&nothing);
}
END_TEST

START_TEST(base_and_gain)
{
    struct sweep_request request = all_knobs();
    struct sweep_result result = run(&request);
    ck_assert(result.base_feasible);
    bool seen = false;
    for (size_t i = 0; i < result.entry_count; i++) {
        const struct sweep_entry *entry = &result.entries[i];
        assert_close_rel(1 + entry->gain_fraction, result.base.layer.time_s / entry->layer.time_s, TOL_ROUNDING);
        if (memcmp(entry->values, result.base.values, sizeof entry->values) == 0) {
            ck_assert_double_eq(entry->gain_fraction, 0);
            seen = true;
        }
    }
    ck_assert(seen);
    config_sweep_release(&result);
}
END_TEST

START_TEST(varied_workload_compares_with_the_base_at_that_workload)
{
    uint32_t varied[CONFIG_VARIABLES_MAX], count;
    struct error error = {0};
    ck_assert_int_eq(config_space_parse_names(scenario, "C,target", varied, &count, &error), STATUS_OK);
    struct sweep_request request = all_knobs();
    request.varied = varied;
    request.varied_count = count;
    struct sweep_result result = run(&request);
    ck_assert_uint_eq(result.space.config_count, 15);
    unsigned bases = 0;
    for (size_t i = 0; i < result.entry_count; i++) {
        if (result.entries[i].values[3] == 188) {
            ck_assert_double_eq(result.entries[i].gain_fraction, 0);
            bases++;
        }
    }
    ck_assert_uint_eq(bases, 3);
    config_sweep_release(&result);
}
END_TEST

START_TEST(throughput_is_anchored_at_the_line)
{
    struct sweep_request request = all_knobs();
    request.objective = SWEEP_OBJECTIVE_THROUGHPUT;
    request.concurrency = 16;
    struct sweep_result result = run(&request);
    ck_assert(result.base_feasible);
    assert_close_rel(result.base.objective, 16 / (10e-3 + 16 * 0.5e-3), TOL_ROUNDING);
    for (size_t i = 0; i < result.entry_count; i++) {
        ck_assert_double_eq(result.entries[i].values[4], 16);
        ck_assert(i == 0 || result.entries[i].objective <= result.entries[i - 1].objective);
    }
    /* seven layers of 512 tokens and three of 128, each against the base */
    const struct sweep_entry *best = &result.entries[0];
    double delta_s = 0;
    for (int group = 0; group < 2; group++) {
        struct sweep_request layers = all_knobs();
        double at[CONFIG_VARIABLES_MAX];
        memcpy(at, values, sizeof at);
        at[4] = 16;
        at[5] = group == 0 ? 512 : 128;
        layers.values = at;
        struct sweep_result times = run(&layers);
        for (size_t i = 0; i < times.entry_count; i++) {
            if (times.entries[i].config_index == best->config_index) {
                delta_s += (group == 0 ? 7 : 3) * (times.entries[i].layer.time_s - times.base.layer.time_s);
            }
        }
        config_sweep_release(&times);
    }
    assert_close_rel(best->serving.step_time_s, 18e-3 + delta_s, 1e-12);
    ck_assert(delta_s < 0);
    config_sweep_release(&result);
}
END_TEST

START_TEST(ties)
{
    /* the second knob changes nothing: equal times are ties; ten times the work is none */
    const char *text = "name: sweep-test\ndevice: rtx-pro-6000-blackwell-server\n"
                       "knobs: {work: [10, 100, 10.01], idle: [1, 2]}\nbase: {work: 10, idle: 1}\n"
                       "kernels:\n  main:\n    grid: 188\n    threads: 128\n    registers: 64\n    smem_bytes: 0\n"
                       "    loop: {iterations: 10 * work, stream: {rows: 8, row_bytes: 256}}\n";
    struct scenario *other = read_text(text);
    double base[CONFIG_VARIABLES_MAX];
    scenario_base_values(other, base);
    struct sweep_request request = all_knobs();
    request.scenario = other;
    request.values = base;
    struct sweep_result result = run(&request);
    ck_assert_uint_eq(result.entry_count, 6);
    ck_assert(!result.entries[0].tie);
    ck_assert_double_eq(result.entries[1].objective, result.entries[0].objective);
    for (size_t i = 1; i < 6; i++) {
        ck_assert_int_eq(result.entries[i].tie, result.entries[i].values[0] < 50);
    }
    config_sweep_release(&result);

    request.objective = SWEEP_OBJECTIVE_EXPRESSION; /* an exact objective: only equal values are ties */
    request.objective_text = "work";
    result = run(&request);
    for (size_t i = 1; i < 6; i++) {
        ck_assert_int_eq(result.entries[i].tie, result.entries[i].values[0] == 10);
    }
    config_sweep_release(&result);
    scenario_free(other);
}
END_TEST

START_TEST(too_many_configurations_are_refused)
{
    struct sweep_request request = all_knobs();
    request.config_limit = 179;
    fails(&request, STATUS_LIMIT, "more than the limit of 179");
    request.config_limit = 180;
    struct sweep_result result = run(&request);
    config_sweep_release(&result);

    char text[20000] = "name: sweep-test\ndevice: rtx-pro-6000-blackwell-server\nknobs:\n"; /* 100^15 = 10^30 */
    size_t used = strlen(text);
    for (int knob = 0; knob < 15; knob++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "  k%d: [", knob);
        for (int i = 0; i < 100; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", i ? "," : "", i);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "]\n");
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "base: {");
    for (int knob = 0; knob < 15; knob++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%sk%d: 1", knob ? ", " : "", knob);
    }
    snprintf(text + used, sizeof text - used,
             "}\nkernels: {main: {grid: 1 + k0, threads: 128, registers: 64, "
             "smem_bytes: 0, loop: {iterations: 1}}}\n");
    struct scenario *vast = read_text(text);
    double base[CONFIG_VARIABLES_MAX];
    scenario_base_values(vast, base);
    request.scenario = vast;
    request.values = base;
    request.config_limit = 0;
    fails(&request, STATUS_LIMIT, "1e+30");
    request.config_limit = UINT64_MAX; /* does not fit in 64 bits either */
    fails(&request, STATUS_LIMIT, "1e+30");
    scenario_free(vast);
}
END_TEST

START_TEST(bad_requests)
{
    struct sweep_request request = all_knobs();
    request.where = "nosuch > 1";
    fails(&request, STATUS_BAD_DATA, "nosuch");
    request.where = "1 / (block - block)";
    fails(&request, STATUS_DOMAIN,
          "1 / (block - block)"); /* its text differs where floating-point flags are not emulated */
    request.where = NULL;
    request.top_count = 0;
    fails(&request, STATUS_USAGE, "to keep");
    request.top_count = 1;
    request.objective = SWEEP_OBJECTIVE_THROUGHPUT;
    request.concurrency = (double)NAN;
    fails(&request, STATUS_USAGE, "concurrency");
    request.concurrency = 4;
    const uint32_t workload[] = {5};
    request.varied = workload;
    request.varied_count = 1;
    fails(&request, STATUS_USAGE, "tokens");
    const uint32_t twice[] = {1, 1};
    request.objective = SWEEP_OBJECTIVE_TIME;
    request.varied = twice;
    request.varied_count = 2;
    fails(&request, STATUS_USAGE, "twice");
    uint32_t indices[CONFIG_VARIABLES_MAX], count;
    struct error error = {0};
    ck_assert_int_eq(config_space_parse_names(scenario, "blok", indices, &count, &error), STATUS_USAGE);
    ck_assert(strstr(error.text, "near names: block") != NULL);
    ck_assert_int_eq(config_space_parse_names(scenario, "block,,warps", indices, &count, &error), STATUS_USAGE);
}
END_TEST

struct seen_progress {
    unsigned calls;
    uint64_t last, total;
};

static void note_progress(void *context, uint64_t done, uint64_t total)
{
    struct seen_progress *seen = context;
    ck_assert_uint_ge(done, seen->last);
    ck_assert_uint_le(done, total);
    *seen = (struct seen_progress){seen->calls + 1, done, total};
}

START_TEST(progress_ends_at_the_total)
{
    struct seen_progress seen = {0};
    struct sweep_request request = all_knobs();
    request.progress = note_progress;
    request.progress_context = &seen;
    request.thread_count = 2;
    struct sweep_result result = run(&request);
    ck_assert_uint_ge(seen.calls, 1);
    ck_assert_uint_eq(seen.last, 180);
    ck_assert_uint_eq(seen.total, 180);
    config_sweep_release(&result);
}
END_TEST

Suite *suite_config_sweep(void);
Suite *suite_config_sweep(void)
{
    Suite *suite = suite_create("config_sweep");
    TCase *tests = tcase_create("sweep");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, top_equals_brute_force);
    tcase_add_loop_test(tests, threads_do_not_change_a_number, 0, 4);
    tcase_add_test(tests, where_filters);
    tcase_add_test(tests, base_and_gain);
    tcase_add_test(tests, varied_workload_compares_with_the_base_at_that_workload);
    tcase_add_test(tests, throughput_is_anchored_at_the_line);
    tcase_add_test(tests, ties);
    tcase_add_test(tests, too_many_configurations_are_refused);
    tcase_add_test(tests, bad_requests);
    tcase_add_test(tests, progress_ends_at_the_total);
    suite_add_tcase(suite, tests);
    return suite;
}
