/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam simulate cta`: the kernels of one layer, CTA by CTA: time, what was busy, where CTAs waited. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/output_check.h"
#include "cli/quantity_text.h"
#include "cli/question.h"
#include "cli/report.h"
#include "cli/simulate.h"
#include "sim/cta_simulator.h"

enum {
    SEEDS_MAX = 10000,
    TIMELINE_ROWS_MAX = 20000000
};

struct cta_request {
    struct question_options question;
    uint64_t seed, seeds, threads, sms_per_gpc;
    double jitter;
    bool stream;
    const char *timeline;
};

struct cta_answer {
    const struct cta_request *request;
    const struct question *question;
    struct layer_case layer;
    bool feasible;
    char reason[512];
    struct cta_simulation run;           /* the first seed's */
    double time_s, time_lo_s, time_hi_s; /* over the seeds: median and quantiles of the level; NaN with one */
    struct cta_record *timeline;
};

static enum status find_layer(struct question *question, struct cta_answer *answer, struct error *error)
{
    enum config_verdict verdict;
    size_t constraint_index = 0;
    struct error invalid = {0};
    const enum status status =
        scenario_evaluate(question->evaluator, question->values, &verdict, &constraint_index, &answer->layer, &invalid);
    if (status != STATUS_OK) {
        *error = invalid;
        return status;
    }
    answer->feasible = verdict == CONFIG_OK;
    if (verdict == CONFIG_CONSTRAINT) {
        const struct scenario_constraint *constraint = scenario_constraint_get(question->scenario, constraint_index);
        (void)snprintf(answer->reason, sizeof answer->reason, "the scenario requires %s: %s", constraint->expression,
                       constraint->why);
    } else if (verdict == CONFIG_KERNEL_INVALID) {
        (void)snprintf(answer->reason, sizeof answer->reason, "%.500s", invalid.text);
    }
    return STATUS_OK;
}

/* A kernel that no SM takes in is an answer, as it is for predict. */
static enum status judge_failure(struct cta_answer *answer, enum status status, struct error *error)
{
    if (status != STATUS_DOMAIN)
        return status;
    answer->feasible = false;
    (void)snprintf(answer->reason, sizeof answer->reason, "%.500s", error->text);
    *error = (struct error){0};
    return STATUS_OK;
}

static enum status run_seeds(struct cta_answer *answer, const struct simulated_machine *machine,
                             const struct cta_simulation_options *options, struct error *error)
{
    const struct cta_request *request = answer->request;
    const size_t count = (size_t)request->seeds;
    struct cta_simulation *runs = calloc(count, sizeof *runs);
    double *times = calloc(count, sizeof *times);
    enum status status = STATUS_NO_MEMORY;
    if (runs == NULL || times == NULL) {
        (void)error_set(error, status, "no memory for %zu runs", count);
    } else {
        status = cta_simulate_seeds(machine, &answer->layer, options, (uint32_t)count, (uint32_t)request->threads, runs,
                                    error);
    }
    if (status == STATUS_OK) {
        const double tail = (1 - request->question.level) / 2;
        for (size_t i = 0; i < count; i++)
            times[i] = runs[i].time_s;
        sort_doubles(times, count);
        answer->time_s = quantile_sorted(times, count, 0.5);
        answer->time_lo_s = quantile_sorted(times, count, tail);
        answer->time_hi_s = quantile_sorted(times, count, 1 - tail);
    }
    free(runs);
    free(times);
    return status;
}

static enum status run(struct question *question, struct cta_answer *answer, struct error *error)
{
    const struct cta_request *request = answer->request;
    struct simulated_machine machine;
    struct cta_simulation_options options = {
        .seed = request->seed, .jitter = request->jitter, .stream = request->stream};
    enum status status = simulated_machine_init(&machine, question->device, &question->parameters, error);
    if (status != STATUS_OK)
        return status;
    machine.sms_per_gpc = (uint32_t)request->sms_per_gpc;
    uint64_t ctas = 0;
    for (uint32_t i = 0; i < answer->layer.kernel_count; i++)
        ctas += answer->layer.kernels[i].skipped ? 0 : answer->layer.kernels[i].launch.grid_ctas;
    if (request->timeline != NULL) {
        if (ctas > TIMELINE_ROWS_MAX)
            return error_set(error, STATUS_LIMIT, "a timeline of %llu CTAs, the limit is %d", (unsigned long long)ctas,
                             TIMELINE_ROWS_MAX);
        answer->timeline = calloc((size_t)ctas + 1, sizeof *answer->timeline);
        if (answer->timeline == NULL)
            return error_set(error, STATUS_NO_MEMORY, "no memory for a timeline of %llu CTAs",
                             (unsigned long long)ctas);
        options.timeline = answer->timeline;
        options.timeline_capacity = (size_t)ctas;
    }
    status = cta_simulate(&machine, &answer->layer, &options, &answer->run, error);
    answer->time_s = answer->run.time_s;
    answer->time_lo_s = answer->time_hi_s = (double)NAN;
    if (status == STATUS_OK && request->seeds > 1)
        status = run_seeds(answer, &machine, &options, error);
    return judge_failure(answer, status, error);
}

static enum status write_timeline(const struct cta_answer *answer, struct error *error)
{
    const char *path = answer->request->timeline;
    FILE *file = fopen(path, "w");
    char start[32], stop[32];
    if (file == NULL)
        return error_set(error, STATUS_IO, "cannot write %s: %s", path, strerror(errno));
    (void)fprintf(file, "kernel,cta,sm,slot,start_us,stop_us\n");
    for (uint64_t i = 0; i < answer->run.timeline_count; i++) {
        const struct cta_record *record = &answer->timeline[i];
        csv_write_field(file, answer->layer.kernels[record->kernel].name);
        (void)fprintf(file, ",%llu,%u,%u,%s,%s\n", (unsigned long long)record->cta, record->sm, record->slot,
                      number_format_digits(record->start_s / SECONDS_PER_US, 9, start),
                      number_format_digits(record->stop_s / SECONDS_PER_US, 9, stop));
    }
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return error_set(error, STATUS_IO, "cannot write %s: %s", path, strerror(errno));
    return STATUS_OK;
}

/* What the simulated device knows of its GPCs, as "12 of 2 to 18 SMs, measured"; they matter to clusters alone. */
static const char *describe_gpcs(const struct cta_answer *answer, char *out, size_t size)
{
    const struct gpu_gpcs *gpcs = &answer->question->device->gpcs;
    uint32_t least = UINT32_MAX, most = 0;
    if (answer->request->sms_per_gpc > 0) {
        (void)snprintf(out, size, "of %llu SMs, as asked for", (unsigned long long)answer->request->sms_per_gpc);
        return out;
    }
    for (uint32_t i = 0; i < gpcs->count; i++) {
        least = gpcs->sms[i] < least ? gpcs->sms[i] : least;
        most = gpcs->sms[i] > most ? gpcs->sms[i] : most;
    }
    if (gpcs->count == 0)
        (void)snprintf(out, size, "not known: the device counts as one (--sms-per-gpc)");
    else
        (void)snprintf(out, size, "%u of %u to %u SMs, %s", gpcs->count, least, most, input_source_name(gpcs->source));
    return out;
}

static bool has_clusters(const struct cta_answer *answer)
{
    for (uint32_t i = 0; i < answer->layer.kernel_count; i++)
        if (!answer->layer.kernels[i].skipped && answer->layer.kernels[i].launch.cluster_ctas > 1)
            return true;
    return false;
}

static void record_kernel(struct report *report, const char *name, const struct kernel_simulation *kernel)
{
    report_begin_object(report, NULL);
    report_string(report, "name", name);
    report_bool(report, "skipped", kernel->skipped);
    report_number(report, "time_us", kernel->time_s / SECONDS_PER_US);
    report_integer(report, "ctas_per_sm", kernel->ctas_per_sm);
    report_number(report, "occupancy_fraction", kernel->occupancy_fraction);
    report_integer(report, "rounds", (int64_t)kernel->rounds);
    report_integer(report, "tail_ctas", (int64_t)kernel->tail_ctas);
    report_number(report, "tail_us", kernel->tail_s / SECONDS_PER_US);
    report_integer(report, "sms_used", kernel->sms_used);
    report_integer(report, "most_ctas_on_sm", (int64_t)kernel->most_ctas_on_sm);
    report_integer(report, "least_ctas_on_sm", (int64_t)kernel->least_ctas_on_sm);
    report_number(report, "load_latency_us", kernel->skipped ? (double)NAN : kernel->load_latency_s / SECONDS_PER_US);
    report_number(report, "load_alone_us", kernel->skipped ? (double)NAN : kernel->load_alone_s / SECONDS_PER_US);
    report_number(report, "bytes_served", kernel->bytes_served);
    report_number(report, "dram_bytes", kernel->dram_bytes);
    report_begin_object(report, "utilization");
    for (int i = 0; i < SIM_SERVER_COUNT; i++)
        report_number(report, sim_server_name((enum sim_server)i), kernel->utilization[i]);
    report_end(report);
    report_begin_object(report, "stage_share");
    for (int i = 0; i < CTA_STAGE_COUNT; i++)
        report_number(report, cta_stage_name((enum cta_stage)i), kernel->stage_share[i]);
    report_end(report);
    report_begin_object(report, "queued_share");
    for (int i = 0; i < CTA_STAGE_COUNT; i++)
        report_number(report, cta_stage_name((enum cta_stage)i), kernel->queued_share[i]);
    report_end(report);
    report_end(report);
}

static void record(struct report *report, const struct cta_answer *answer)
{
    const struct cta_request *request = answer->request;
    const struct question *question = answer->question;
    const bool known = answer->feasible;
    report_string(report, "scenario", scenario_name(question->scenario));
    report_string(report, "device", question->device->name);
    for (int knobs = 1; knobs >= 0; knobs--) {
        report_begin_object(report, knobs ? "knobs" : "workload");
        for (size_t i = 0; i < scenario_variable_count(question->scenario); i++) {
            const struct scenario_variable *variable = scenario_variable_get(question->scenario, i);
            if (variable->is_knob == (knobs == 1))
                report_number(report, variable->name, question->values[i]);
        }
        report_end(report);
    }
    report_bool(report, "feasible", answer->feasible);
    report_string(report, "reason", answer->reason);
    report_string(report, "calibration", question->parameters.calibration);
    char gpcs[96];
    report_string(report, "gpcs", describe_gpcs(answer, gpcs, sizeof gpcs));
    report_integer(report, "seed", (int64_t)request->seed);
    report_integer(report, "seeds", (int64_t)request->seeds);
    report_number(report, "jitter_fraction", request->jitter);
    report_number(report, "time_us", known ? answer->time_s / SECONDS_PER_US : (double)NAN);
    report_number(report, "time_lo_us", known ? answer->time_lo_s / SECONDS_PER_US : (double)NAN);
    report_number(report, "time_hi_us", known ? answer->time_hi_s / SECONDS_PER_US : (double)NAN);
    report_number(report, "interval_level", request->question.level);
    report_integer(report, "events", (int64_t)answer->run.events);
    report_begin_rows(report, "kernels");
    for (uint32_t i = 0; known && i < answer->run.kernel_count; i++)
        record_kernel(report, answer->layer.kernels[i].name, &answer->run.kernels[i]);
    report_end(report);
}

static void print_kernel(const char *name, const struct kernel_simulation *kernel)
{
    char a[QUANTITY_TEXT_SIZE], b[QUANTITY_TEXT_SIZE];
    if (kernel->skipped) {
        (void)printf("\n%s is not launched\n", name);
        return;
    }
    (void)printf("\n%s: %s\n", name, quantity_time(kernel->time_s, a));
    (void)printf("  CTAs            %u per SM, %llu round%s, %llu to %llu on an SM, %u SMs used\n", kernel->ctas_per_sm,
                 (unsigned long long)kernel->rounds, kernel->rounds == 1 ? "" : "s",
                 (unsigned long long)kernel->least_ctas_on_sm, (unsigned long long)kernel->most_ctas_on_sm,
                 kernel->sms_used);
    (void)printf("  occupancy       %s of the warps over its time; tail %s\n",
                 quantity_percent(kernel->occupancy_fraction, a), quantity_time(kernel->tail_s, b));
    (void)printf("  busy           ");
    for (int i = 0; i < SIM_SERVER_COUNT; i++)
        (void)printf(" %s %s%s", sim_server_name((enum sim_server)i), quantity_percent(kernel->utilization[i], a),
                     i + 1 < SIM_SERVER_COUNT ? "," : "\n");
    if (!isnan(kernel->load_latency_s))
        (void)printf("  loads           %s from request to arrival, %s with nothing else under way\n",
                     quantity_time(kernel->load_latency_s, a), quantity_time(kernel->load_alone_s, b));
    /* Times are sums of many steps: a smaller share is what rounding left. */
    static const double ROUNDING = 1e-9;
    (void)printf("  stage           of a CTA's time   spent queueing\n");
    for (int i = 0; i < CTA_STAGE_COUNT; i++)
        if (kernel->stage_share[i] > 0)
            (void)printf("    %-12s %16s %16s\n", cta_stage_name((enum cta_stage)i),
                         quantity_percent(kernel->stage_share[i], a),
                         quantity_percent(kernel->queued_share[i] < ROUNDING ? 0 : kernel->queued_share[i], b));
}

static void print_text(const struct cta_answer *answer)
{
    const struct question *question = answer->question;
    char number[32], a[QUANTITY_TEXT_SIZE];
    (void)printf("%s on %s, simulated\n ", scenario_name(question->scenario), question->device->title);
    for (size_t i = 0; i < scenario_variable_count(question->scenario); i++)
        (void)printf("%s %s=%s", i == scenario_knob_count(question->scenario) ? " |" : "",
                     scenario_variable_get(question->scenario, i)->name, number_format(question->values[i], number));
    (void)printf("\n\n");
    if (!answer->feasible) {
        (void)printf("  feasible        no: %s\n", answer->reason);
        return;
    }
    (void)printf("  time            %s",
                 quantity_time_interval(answer->time_s, answer->time_lo_s, answer->time_hi_s, a));
    if (answer->request->seeds > 1)
        (void)printf(", median and %g %% of %llu runs", 100 * answer->request->question.level,
                     (unsigned long long)answer->request->seeds);
    (void)printf("\n  parameters      %s\n", question->parameters.calibration);
    if (has_clusters(answer)) {
        char gpcs[96];
        (void)printf("  GPCs            %s\n", describe_gpcs(answer, gpcs, sizeof gpcs));
    }
    (void)printf("  events          %s%s\n", quantity_whole((double)answer->run.events, a),
                 answer->request->seeds > 1 ? " in the first run, whose details follow" : "");
    for (uint32_t i = 0; i < answer->run.kernel_count; i++)
        print_kernel(answer->layer.kernels[i].name, &answer->run.kernels[i]);
}

static enum status print(const struct cta_answer *answer, struct error *error)
{
    struct report report = {0};
    if (answer->request->question.format == OUTPUT_FORMAT_TEXT) {
        print_text(answer);
        return STATUS_OK;
    }
    record(&report, answer);
    const enum status status = report_print(&report, answer->request->question.format, NULL, stdout, error);
    report_release(&report);
    return status;
}

static enum status answer_request(const struct cta_request *request, const char *scenario, struct error *error)
{
    struct question question = {0};
    struct cta_answer answer = {.request = request, .question = &question};
    enum status status = question_open(&question, scenario, &request->question, error);
    if (status == STATUS_OK)
        status = output_check(request->timeline, error);
    if (status == STATUS_OK)
        status = find_layer(&question, &answer, error);
    if (status == STATUS_OK && answer.feasible)
        status = run(&question, &answer, error);
    if (status == STATUS_OK && answer.feasible && request->timeline != NULL)
        status = write_timeline(&answer, error);
    if (status == STATUS_OK)
        status = print(&answer, error);
    free(answer.timeline);
    question_release(&question);
    return status;
}

enum status simulate_cta(int argc, char **argv, struct error *error)
{
    struct cta_request request = {.question = {.level = QUESTION_LEVEL_DEFAULT}, .seed = 1, .seeds = 1};
    const struct option_row rows[] = {
        QUESTION_OPTION_ROWS(request.question),
        QUESTION_FORMAT_ROW(request.question),
        {0, "seed", OPTION_COUNT, &request.seed, 0, 1e15},
        {0, "seeds", OPTION_COUNT, &request.seeds, 1, SEEDS_MAX},
        {0, "jitter", OPTION_NUMBER, &request.jitter, 0, 1},
        {0, "threads", OPTION_COUNT, &request.threads, 1, 1024},
        {0, "sms-per-gpc", OPTION_COUNT, &request.sms_per_gpc, 1, SIMULATED_SMS_MAX},
        {0, "stream", OPTION_FLAG, &request.stream, 0, 0},
        {0, "timeline", OPTION_TEXT, &request.timeline, 0, 0},
    };
    struct operands operands;
    const enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "SCENARIO", 1, 1, &operands, error);
    if (status != STATUS_OK)
        return status;
    if (request.seeds > 1 && request.jitter == 0)
        return error_set(error, STATUS_USAGE, "without --jitter all seeds give the same run: --seeds needs it");
    return answer_request(&request, operands.items[0], error);
}
