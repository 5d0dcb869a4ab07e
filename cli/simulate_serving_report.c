/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam simulate serving` prints: one run as text, every run as a row, the mean over seeds with its interval. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "calibrate/step_time_fit.h"
#include "cli/quantity_text.h"
#include "cli/report.h"
#include "cli/simulate_serving.h"

enum {
    FIGURES_MAX = 64,
    KEY_SIZE = 48
};

/* The figures of one run that are numbers of their own, in the order of the columns. */
struct figure_list {
    size_t count;
    struct {
        char key[KEY_SIZE];
        double value;
    } items[FIGURES_MAX];
};

static void add(struct figure_list *list, double value, const char *key)
{
    (void)snprintf(list->items[list->count].key, KEY_SIZE, "%s", key);
    list->items[list->count++].value = value;
}

static void add_latency(struct figure_list *list, enum serving_metric metric, const struct latency_summary *latency)
{
    const struct {
        const char *statistic;
        double seconds;
    } values[] = {{"mean", latency->mean_s},
                  {"p50", latency->p50_s},
                  {"p90", latency->p90_s},
                  {"p99", latency->p99_s},
                  {"max", latency->maximum_s}};
    char key[KEY_SIZE];

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        (void)snprintf(key, sizeof key, "%s_%s_ms", serving_metric_name(metric), values[i].statistic);
        add(list, values[i].seconds / SECONDS_PER_MS, key);
    }
}

static void collect(const struct serving_answer *answer, struct figure_list *list)
{
    const struct serving_outcome *result = &answer->result;

    list->count = 0;
    add(list, result->output_tokens_per_s, "throughput_tokens_per_s");
    add(list, result->total_tokens_per_s, "total_tokens_per_s");
    add(list, result->requests_per_s, "requests_per_s");
    add(list, result->goodput_requests_per_s, "goodput_requests_per_s");
    add(list, result->goodput_tokens_per_s, "goodput_tokens_per_s");
    add(list, result->within_limits_fraction, "within_limits_fraction");
    for (int i = 0; i < SERVING_METRIC_COUNT; i++)
        add_latency(list, (enum serving_metric)i, &result->latency[i]);
    add(list, result->duration_s, "duration_s");
    add(list, result->busy_fraction, "busy_fraction");
    add(list, result->mean_batch, "mean_batch");
    add(list, result->mean_waiting, "mean_waiting");
    add(list, result->mean_running, "mean_running");
    add(list, result->mean_in_system, "mean_in_system");
    add(list, (double)result->peak_in_system, "peak_in_system");
    add(list, result->kv_mean_tokens, "kv_mean_tokens");
    add(list, (double)result->kv_peak_tokens, "kv_peak_tokens");
    add(list, (double)result->steps, "steps");
    add(list, (double)result->arrived, "arrived");
    add(list, (double)result->completed, "completed");
    add(list, (double)result->unfinished, "unfinished");
    add(list, (double)result->rejected_kv, "rejected_kv");
    add(list, (double)result->rejected_empty, "rejected_empty");
    add(list, (double)result->preemptions, "preemptions");
    add(list, (double)result->output_tokens, "output_tokens");
    add(list, (double)result->prompt_tokens, "prompt_tokens");
    add(list, (double)result->recomputed_tokens, "recomputed_tokens");
    add(list, result->queue_growth_per_s, "queue_growth_per_s");
    add(list, answer->outside_fraction, "extrapolated_steps_fraction");
}

static void limit_name(const struct serving_limit *limit, char out[KEY_SIZE])
{
    char percent[32];

    if (isnan(limit->quantile))
        (void)snprintf(out, KEY_SIZE, "%s_mean", serving_metric_name(limit->metric));
    else
        (void)snprintf(out, KEY_SIZE, "%s_p%s", serving_metric_name(limit->metric),
                       number_format_digits(100.0 * limit->quantile, 12, percent));
}

static void record_run(struct report *report, const struct serving_answer *answer)
{
    struct figure_list list;

    collect(answer, &list);
    report_begin_object(report, NULL);
    report_integer(report, "seed", (int64_t)answer->seed);
    for (size_t i = 0; i < list.count; i++)
        report_number(report, list.items[i].key, list.items[i].value);
    report_bool(report, "unstable", answer->result.unstable);
    report_bool(report, "horizon_reached", answer->result.horizon_reached);
    report_bool(report, "limits_met", answer->result.limits_met);
    report_integer(report, "skipped_lines", (int64_t)answer->skipped_lines);
    report_bool(report, "queue_limit_reached", answer->result.queue_limit_reached);
    report_end(report);
}

static void record_limits(struct report *report, const struct serving_setup *setup,
                          const struct serving_outcome *result)
{
    report_begin_rows(report, "limits");
    for (uint32_t i = 0; i < setup->config.limit_count; i++) {
        const struct serving_limit *limit = &setup->config.limits[i];
        char name[KEY_SIZE];

        limit_name(limit, name);
        report_begin_object(report, NULL);
        report_string(report, "limit", name);
        report_number(report, "limit_ms", limit->limit_s / SECONDS_PER_MS);
        report_number(report, "value_ms", result->limit_values_s[i] / SECONDS_PER_MS);
        report_end(report);
    }
    report_end(report);
}

static void record_search(struct report *report, const struct rate_search *search)
{
    report_begin_object(report, "max_rate");
    report_number(report, "requests_per_s", search->trials > 0 ? search->lowest_per_s : (double)NAN);
    report_number(report, "fails_at_requests_per_s", search->trials > 0 ? search->highest_per_s : (double)NAN);
    report_number(report, "tolerance_fraction", search->trials > 0 ? search->tolerance : (double)NAN);
    report_integer(report, "trials", search->trials);
    report_bool(report, "bounded", search->bounded);
    report_end(report);
}

/* Mean over the seeds and the interval of that mean: Student's t on the runs, which are independent. */
static void record_over_seeds(struct report *report, const struct serving_setup *setup,
                              const struct serving_answer *answers, size_t count)
{
    struct figure_list first, list;

    report_begin_rows(report, "over_seeds");
    collect(&answers[0], &first);
    for (size_t figure = 0; figure < first.count && count > 1; figure++) {
        double sum = 0.0, squares = 0.0, average, half;

        for (size_t i = 0; i < count; i++) {
            collect(&answers[i], &list);
            sum += list.items[figure].value;
        }
        average = sum / (double)count;
        for (size_t i = 0; i < count; i++) {
            collect(&answers[i], &list);
            squares += (list.items[figure].value - average) * (list.items[figure].value - average);
        }
        half = step_time_quantile((int)count - 1, setup->question.level) *
               sqrt(squares / (double)(count - 1) / (double)count);
        report_begin_object(report, NULL);
        report_string(report, "quantity", first.items[figure].key);
        report_number(report, "mean", average);
        report_number(report, "lo", average - half);
        report_number(report, "hi", average + half);
        report_end(report);
    }
    report_end(report);
}

static void record(struct report *report, const struct serving_setup *setup, const struct serving_answer *answers,
                   size_t count)
{
    bool closed = setup->config.concurrency > 0, random = !closed && !setup->from_trace;

    report_string(report, "scenario", scenario_name(setup->question.scenario));
    report_string(report, "device", setup->question.device->name);
    report_string(report, "step_basis", setup->times.basis);
    report_string(report, "arrivals", setup->arrivals_name);
    report_number(report, "rate_per_s", random && setup->options.find == NULL ? setup->plan.rate_per_s : (double)NAN);
    report_number(report, "concurrency", closed ? (double)setup->config.concurrency : (double)NAN);
    report_integer(report, "max_batch", (int64_t)setup->config.max_batch);
    report_number(report, "tokens_per_step", setup->config.tokens_per_step);
    report_number(report, "interval_level", setup->question.level);
    record_search(report, &answers[0].search);
    record_limits(report, setup, &answers[0].result);
    report_begin_rows(report, "runs");
    for (size_t i = 0; i < count; i++)
        record_run(report, &answers[i]);
    report_end(report);
    record_over_seeds(report, setup, answers, count);
}

/* ---- text */

static void print_search(const struct serving_setup *setup, const struct serving_answer *answer)
{
    const struct rate_search *search = &answer->search;
    char lo[QUANTITY_TEXT_SIZE], hi[QUANTITY_TEXT_SIZE], tolerance[QUANTITY_TEXT_SIZE];

    if (setup->options.find == NULL)
        return;
    if (!(search->lowest_per_s > 0.0)) {
        (void)printf("\nNo arrival rate keeps the limits: even %s requests/s does not; that run follows\n",
                     quantity_number(search->highest_per_s, hi));
        return;
    }
    (void)printf("\nHighest rate within the limits: %s requests/s (%s fails; sought to %s, %u runs)\n"
                 "The run at that rate follows; its gaps are drawn by chance, so its own requests/s differ a little\n",
                 quantity_number(search->lowest_per_s, lo),
                 isfinite(search->highest_per_s) ? quantity_number(search->highest_per_s, hi) : "none that was tried",
                 quantity_percent(search->tolerance, tolerance), search->trials);
}

static void print_latencies(const struct serving_outcome *result)
{
    static const char *const titles[SERVING_METRIC_COUNT] = {"TTFT", "ITL", "TPOT", "E2E", "wait"};

    (void)printf("\n%-6s %12s %12s %12s %12s %12s\n", "", "mean", "p50", "p90", "p99", "max");
    for (int i = 0; i < SERVING_METRIC_COUNT; i++) {
        const struct latency_summary *latency = &result->latency[i];
        const double values[] = {latency->mean_s, latency->p50_s, latency->p90_s, latency->p99_s, latency->maximum_s};

        (void)printf("%-6s", titles[i]);
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            char text[QUANTITY_TEXT_SIZE];

            (void)printf(" %12s", isnan(values[v]) ? "-" : quantity_time(values[v], text));
        }
        (void)printf("\n");
    }
}

static void print_limits(const struct serving_setup *setup, const struct serving_outcome *result)
{
    char goodput[QUANTITY_TEXT_SIZE], tokens[QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE];

    if (setup->config.limit_count == 0)
        return;
    (void)printf("\n");
    for (uint32_t i = 0; i < setup->config.limit_count; i++) {
        const struct serving_limit *limit = &setup->config.limits[i];
        char name[KEY_SIZE], wanted[QUANTITY_TEXT_SIZE], got[QUANTITY_TEXT_SIZE];
        double value = result->limit_values_s[i];

        limit_name(limit, name);
        (void)printf("%s: %s, %s the limit of %s\n", name, quantity_time(value, got),
                     isnan(value)              ? "not to be compared with"
                     : value <= limit->limit_s ? "within"
                                               : "over",
                     quantity_time(limit->limit_s, wanted));
    }
    (void)printf("Goodput: %s requests/s, %s tokens/s; %s of the requests keep all limits\n",
                 quantity_number(result->goodput_requests_per_s, goodput),
                 quantity_number(result->goodput_tokens_per_s, tokens),
                 quantity_percent(result->within_limits_fraction, share));
}

static void print_lengths(const struct serving_setup *setup)
{
    const struct serving_options *options = &setup->options;
    char prompt[QUANTITY_TEXT_SIZE], output[QUANTITY_TEXT_SIZE];

    if (setup->from_trace)
        (void)printf("Lengths: those of %s\n", options->trace);
    else
        (void)printf("Lengths: %s prompt and %s output tokens a request, %s (--input-tokens, --output-tokens)\n",
                     quantity_whole((double)options->input_tokens, prompt),
                     quantity_whole((double)options->output_tokens, output), options->lengths);
}

static void print_load(const struct serving_outcome *result)
{
    char a[QUANTITY_TEXT_SIZE], b[QUANTITY_TEXT_SIZE], c[QUANTITY_TEXT_SIZE], d[QUANTITY_TEXT_SIZE];

    (void)printf("\nThroughput: %s output tokens/s, %s with prompts, %s requests/s, over %s\n",
                 quantity_number(result->output_tokens_per_s, a), quantity_number(result->total_tokens_per_s, b),
                 quantity_number(result->requests_per_s, c), quantity_time(result->duration_s, d));
    (void)printf("Busy %s of the time, %s requests a step; on average %s requests wait, %s are in the system\n",
                 quantity_percent(result->busy_fraction, a), quantity_number(result->mean_batch, b),
                 quantity_number(result->mean_waiting, c), quantity_number(result->mean_in_system, d));
    (void)printf("Requests: %s arrived, %s completed, %s unfinished, %s rejected\n",
                 quantity_whole((double)result->arrived, a), quantity_whole((double)result->completed, b),
                 quantity_whole((double)result->unfinished, c),
                 quantity_whole((double)(result->rejected_kv + result->rejected_empty), d));
    if (result->rejected_kv + result->rejected_empty > 0)
        (void)printf("Rejected: %s longer than the KV capacity, %s without prompt or output tokens\n",
                     quantity_whole((double)result->rejected_kv, a), quantity_whole((double)result->rejected_empty, b));
    if (result->preemptions > 0)
        (void)printf("Preemptions: %s; %s tokens were computed again\n", quantity_whole((double)result->preemptions, a),
                     quantity_whole((double)result->recomputed_tokens, b));
}

static void print_prefill_warning(const struct serving_setup *setup)
{
    if (setup->times.prefill_s_per_token == 0.0)
        (void)printf("\nPrompts take no time beyond the step itself: --prefill-us-per-token gives them one\n");
}

static void print_warnings(const struct serving_setup *setup, const struct serving_answer *answer)
{
    const struct serving_outcome *result = &answer->result;
    char number[QUANTITY_TEXT_SIZE];

    print_prefill_warning(setup);
    if (setup->config.warmup_requests >= result->completed && setup->config.warmup_requests > 0)
        (void)printf("\nNo latencies: the %s completed requests are all within --warmup\n",
                     quantity_whole((double)result->completed, number));
    if (result->unstable)
        (void)printf("\nUnstable: %s more requests wait every second. Latencies depend on how long the load lasts\n",
                     quantity_number(result->queue_growth_per_s, number));
    if (result->horizon_reached)
        (void)printf("\nStopped at the horizon of %s: what was unfinished is in no E2E, TPOT or goodput\n",
                     quantity_time(result->duration_s, number));
    if (result->queue_limit_reached) {
        char time[QUANTITY_TEXT_SIZE];

        (void)printf(
            "\nStopped after %s: more than %s requests wait (--queue-limit). What was unfinished is in no E2E, "
            "TPOT or goodput\n",
            quantity_time(result->duration_s, time), quantity_whole((double)setup->config.queue_limit, number));
    }
    if (answer->skipped_lines > 0)
        (void)printf("\nTrace lines left out: %s; the first: %s\n",
                     quantity_whole((double)answer->skipped_lines, number), answer->first_skipped);
    if (answer->outside_fraction > 0.0)
        (void)printf("\nExtrapolating: %s of the steps have a batch that was not measured near\n",
                     quantity_percent(answer->outside_fraction, number));
}

static void print_run_count(size_t runs, size_t count, const char *what)
{
    if (runs > 0)
        (void)printf("\n%zu of %zu runs: %s\n", runs, count, what);
}

/* What print_warnings says of one run, counted over those of several seeds. */
static void print_seed_warnings(const struct serving_setup *setup, const struct serving_answer *answers, size_t count)
{
    size_t unwarmed = 0, unstable = 0, at_horizon = 0, at_queue_limit = 0, outside = 0;

    for (size_t i = 0; i < count; i++) {
        const struct serving_outcome *result = &answers[i].result;

        unwarmed += setup->config.warmup_requests > 0 && setup->config.warmup_requests >= result->completed;
        unstable += result->unstable;
        at_horizon += result->horizon_reached;
        at_queue_limit += result->queue_limit_reached;
        outside += answers[i].outside_fraction > 0.0;
    }
    print_prefill_warning(setup);
    print_run_count(unwarmed, count, "no latencies, all completed requests are within --warmup");
    print_run_count(unstable, count, "unstable, ever more requests wait. Latencies depend on how long the load lasts");
    print_run_count(at_horizon, count, "stopped at the horizon. What was unfinished is in no E2E, TPOT or goodput");
    print_run_count(at_queue_limit, count,
                    "stopped at --queue-limit. What was unfinished is in no E2E, TPOT or goodput");
    print_run_count(outside, count, "extrapolating, steps have a batch that was not measured near");
}

static enum status print_text(const struct report *report, const struct serving_setup *setup,
                              const struct serving_answer *answers, size_t count, struct error *error)
{
    static const struct report_column columns[] = {
        {"quantity", "over the seeds", 0}, {"mean", "mean", 5}, {"lo", "from", 5}, {"hi", "to", 5}};
    enum status status;

    (void)printf("%s on %s, %s arrivals\nStep time: %s\n", scenario_name(setup->question.scenario),
                 setup->question.device->title, setup->arrivals_name, setup->times.basis);
    print_lengths(setup);
    if (count > 1) {
        (void)printf("\n");
        status = report_print_table(report, "over_seeds", columns, sizeof columns / sizeof columns[0], stdout, error);
        if (status == STATUS_OK)
            print_seed_warnings(setup, answers, count);
        return status;
    }
    print_search(setup, &answers[0]);
    print_load(&answers[0].result);
    print_latencies(&answers[0].result);
    print_limits(setup, &answers[0].result);
    print_warnings(setup, &answers[0]);
    return STATUS_OK;
}

enum status serving_report(const struct serving_setup *setup, const struct serving_answer *answers, size_t count,
                           struct error *error)
{
    struct report report = {0};
    enum status status;

    record(&report, setup, answers, count);
    status = setup->options.question.format == OUTPUT_FORMAT_TEXT
                 ? print_text(&report, setup, answers, count, error)
                 : report_print(&report, setup->options.question.format, "runs", stdout, error);
    report_release(&report);
    return status;
}

enum status serving_queue_write(const struct serving_outcome *result, const char *path, struct error *error)
{
    const struct queue_history *history = &result->history;
    FILE *stream = fopen(path, "w");
    bool failed;

    if (stream == NULL)
        return error_set_at(error, STATUS_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
    (void)fprintf(stream, "begin_s,end_s,waiting,running,kv_tokens\n");
    for (size_t i = 0; i < history->count; i++) {
        const struct queue_interval *interval = &history->intervals[i];
        double begin = history->width_s * (double)i, end = fmin(begin + history->width_s, history->end_s);
        const double values[] = {begin, end, interval->waiting_s / (end - begin), interval->running_s / (end - begin),
                                 interval->kv_token_s / (end - begin)};

        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            char number[32];

            (void)fprintf(stream, "%s%s", v > 0 ? "," : "", number_format(values[v], number));
        }
        (void)fprintf(stream, "\n");
    }
    failed = ferror(stream) != 0;
    failed = fclose(stream) != 0 || failed;
    return failed ? error_set_at(error, STATUS_IO, path, 0, 0, "writing failed") : STATUS_OK;
}
