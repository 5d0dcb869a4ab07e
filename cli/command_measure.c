/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam measure`: runs verification kernels on a GPU, correctness first, and appends what came out; or compiles them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "calibrate/measure_predictor.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/measure_request.h"
#include "cli/program_version.h"
#include "cli/report.h"

enum {
    BAR_CELLS = 20,
    FAKE_SMS = 37
};
#define FAKE_SEED         7
#define FAKE_MEMORY_BYTES ((uint64_t)1 << 30)

/* ---- the device ---------------------------------------------------------------------------------------------------
 */

static bool is_fake(const struct measure_request *request)
{
    return request->backend != NULL && strcmp(request->backend, "fake") == 0;
}

/* KIND@N: the N-th configuration of the fake device misbehaves. */
static enum status fault_read(const char *text, struct measure_fake_plan *plan, struct error *error)
{
    const struct {
        const char *kind;
        uint32_t *at;
    } kinds[] = {{"crash", &plan->crash_at},
                 {"hang", &plan->hang_at},
                 {"launch-failure", &plan->launch_failure_at},
                 {"wrong", &plan->wrong_at},
                 {"not-tried", &plan->not_tried_at}};
    size_t length = text != NULL ? strcspn(text, "@") : 0;
    double number;

    if (text == NULL)
        return STATUS_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        bool named = strlen(kinds[i].kind) == length && strncmp(text, kinds[i].kind, length) == 0;

        if (!named || text[length] != '@' || number_parse(text + length + 1, &number) != STATUS_OK || number < 1 ||
            number > 1e6 || number != floor(number))
            continue;
        *kinds[i].at = (uint32_t)number;
        return STATUS_OK;
    }
    return error_set(error, STATUS_USAGE,
                     "option --fake-fault: \"%.40s\" is not crash@N, hang@N, launch-failure@N, wrong@N or "
                     "not-tried@N",
                     text);
}

static enum status open_device(const struct measure_request *request, struct measure_device **device,
                               struct error *error)
{
    struct measure_fake_plan plan = {.seed = FAKE_SEED, .sm_count = FAKE_SMS, .memory_bytes = FAKE_MEMORY_BYTES};
    enum status status = fault_read(request->fault, &plan, error);

    if (status != STATUS_OK)
        return status;
    return is_fake(request) ? measure_device_open_fake(&plan, device, error)
                            : measure_device_open(0, request->nvrtc, request->cache, device, error);
}

static void sampling_options(const struct measure_request *request, struct measure_options *options)
{
    measure_options_init(options);
    options->seed = request->seed;
    options->seconds = request->sample_s;
    options->check_only = request->check_only;
}

/* The worker process of a campaign: configurations on standard input, results on standard output. */
static int run_worker(const struct measure_request *request)
{
    struct measure_device *device;
    struct measure_options options;
    struct error error = {0};

    sampling_options(request, &options);
    enum status status = open_device(request, &device, &error);
    if (status != STATUS_OK)
        return campaign_worker_refuse(status, &error, STDOUT_FILENO);
    return campaign_worker(device, &options, STDIN_FILENO, STDOUT_FILENO);
}

/* ---- check only, in this process ----------------------------------------------------------------------------------
 */

/* Memory and race checkers look at the process they start, so nothing is handed to a worker here. */
static enum status check_plan(const struct campaign_plan *plan, const struct measure_source *source,
                              const struct measure_request *request, size_t *bad, struct error *error)
{
    struct measure_device *device;
    struct measure_options options;
    struct measure_result *result = calloc(1, sizeof *result);
    size_t infeasible = 0;
    char text[1024];

    if (result == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a result");
    sampling_options(request, &options);
    enum status status = open_device(request, &device, error);
    bool opened = status == STATUS_OK;
    for (size_t i = 0; i < plan->count && status == STATUS_OK; i++) {
        status = measure_run(device, &plan->configs[i], &options, result, error);
        infeasible += result->outcome == MEASURE_OUTCOME_INFEASIBLE;
        if (status != STATUS_OK || result->outcome == MEASURE_OUTCOME_OK ||
            result->outcome == MEASURE_OUTCOME_INFEASIBLE)
            continue;
        ++*bad;
        (void)printf("%s: %s: %s\n", measure_outcome_word(result->outcome),
                     measure_config_format(&plan->configs[i], text, sizeof text), result->reason);
        if (measure_outcome_is_fatal(result->outcome))
            break;
    }
    if (status == STATUS_OK)
        (void)printf("%s: %zu configurations, %zu infeasible, %zu bad\n", source->name, plan->count, infeasible, *bad);
    if (opened)
        measure_device_close(device);
    free(result);
    return status;
}

/* ---- a timeline, in this process ----------------------------------------------------------------------------------
 */

static enum status timeline_of_plan(const struct campaign_plan *plan, const struct measure_request *request,
                                    struct error *error)
{
    struct measure_device *device;
    struct measure_options options;

    sampling_options(request, &options);
    enum status status = measure_timeline_check(plan, request, error);
    if (status == STATUS_OK)
        status = open_device(request, &device, error);
    if (status != STATUS_OK)
        return status;
    status = measure_timeline_keep(device, &plan->configs[0], &options, request, error);
    measure_device_close(device);
    return status;
}

/* ---- progress -----------------------------------------------------------------------------------------------------
 */

static void print_duration(double seconds, char *out, size_t size)
{
    if (!isfinite(seconds))
        (void)snprintf(out, size, "?");
    else if (seconds < 90.0)
        (void)snprintf(out, size, "%.0f s", seconds);
    else if (seconds < 5400.0)
        (void)snprintf(out, size, "%.0f min", seconds / 60.0);
    else
        (void)snprintf(out, size, "%.1f h", seconds / 3600.0);
}

static size_t bad_count(const struct campaign_progress *progress)
{
    size_t bad = 0;

    for (int i = 0; i < MEASURE_OUTCOME_COUNT; i++)
        if (i != MEASURE_OUTCOME_OK && i != MEASURE_OUTCOME_INFEASIBLE)
            bad += progress->outcomes[i];
    return bad;
}

/* One line that is drawn over itself. What is left is bounded by the budget. */
static void draw_bar(const struct campaign_progress *progress)
{
    size_t all = progress->done + progress->left, filled = all > 0 ? progress->done * BAR_CELLS / all : BAR_CELLS;
    double left_s = fmin(progress->left_s, progress->budget_s - progress->spent_s);
    char left[32], bar[BAR_CELLS + 1];

    for (size_t i = 0; i < BAR_CELLS; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    print_duration(left_s > 0.0 ? left_s : 0.0, left, sizeof left);
    (void)fprintf(stderr, "\r\033[K[%s] %zu of %zu, %s left, %zu bad  %.20s", bar, progress->done, all, left,
                  bad_count(progress), progress->config->kernel->name);
    (void)fflush(stderr);
}

static void show_progress(void *context, const struct campaign_progress *progress)
{
    const bool *is_terminal = context;
    char text[1024];

    if (progress->outcome != MEASURE_OUTCOME_OK && progress->outcome != MEASURE_OUTCOME_INFEASIBLE)
        (void)fprintf(stderr, "%soccam: measure: %s: %s: %s\n", *is_terminal ? "\r\033[K" : "",
                      measure_outcome_word(progress->outcome),
                      measure_config_format(progress->config, text, sizeof text), progress->reason);
    if (*is_terminal)
        draw_bar(progress);
}

/* ---- a campaign ---------------------------------------------------------------------------------------------------
 */

static enum status print_summary(const struct measure_source *source, const struct measure_request *request,
                                 const struct campaign_plan *plan, const struct campaign_progress *progress,
                                 struct error *error)
{
    struct report report = {0};
    enum status status = STATUS_OK;

    if (request->format == OUTPUT_FORMAT_TEXT) {
        (void)printf("%s: %zu done, %zu from before, %zu left", request->out, progress->done, progress->skipped,
                     progress->left);
        for (int i = 0; i < MEASURE_OUTCOME_COUNT; i++)
            if (progress->outcomes[i] > 0)
                (void)printf(", %zu %s", progress->outcomes[i], measure_outcome_word((enum measure_outcome)i));
        if (plan->count < source->count)
            (void)printf("; %zu of the plan's %llu configurations were drawn", plan->count,
                         (unsigned long long)source->count);
        (void)printf("; %.1f s\n", progress->spent_s);
        return STATUS_OK;
    }
    report_string(&report, "directory", request->out);
    report_integer(&report, "plan_configurations", (int64_t)source->count);
    report_integer(&report, "drawn_configurations", (int64_t)plan->count);
    report_integer(&report, "done", (int64_t)progress->done);
    report_integer(&report, "from_before", (int64_t)progress->skipped);
    report_integer(&report, "left", (int64_t)progress->left);
    report_number(&report, "spent_s", progress->spent_s);
    report_begin_object(&report, "outcomes");
    for (int i = 0; i < MEASURE_OUTCOME_COUNT; i++)
        report_integer(&report, measure_outcome_word((enum measure_outcome)i), (int64_t)progress->outcomes[i]);
    report_end(&report);
    status = report_print(&report, request->format, NULL, stdout, error);
    report_release(&report);
    return status;
}

enum status measure_program_path(char program[MEASURE_PROGRAM_PATH_SIZE], struct error *error)
{
    ssize_t length = readlink("/proc/self/exe", program, MEASURE_PROGRAM_PATH_SIZE - 1);

    if (length <= 0)
        return error_set(error, STATUS_IO, "the program's own file is not found: %s", strerror(errno));
    program[length] = '\0';
    return STATUS_OK;
}

/* This very program, its own arguments, and the word that makes it the worker. */
static enum status make_worker_argv(int argc, char **argv, char program[MEASURE_PROGRAM_PATH_SIZE], char *word,
                                    char ***worker, struct error *error)
{
    enum status status = measure_program_path(program, error);

    if (status != STATUS_OK)
        return status;
    *worker = calloc((size_t)argc + 3, sizeof **worker);
    if (*worker == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the worker's arguments");
    (*worker)[0] = program;
    memcpy(*worker + 1, argv, (size_t)argc * sizeof **worker);
    (*worker)[argc + 1] = word;
    return STATUS_OK;
}

static enum status run_campaign(const struct campaign_plan *plan, const struct measure_source *source,
                                const struct measure_request *request, char *const *worker,
                                struct campaign_progress *progress, struct error *error)
{
    bool is_terminal = isatty(STDERR_FILENO) != 0;
    struct measure_predictor *predictor = NULL;
    struct campaign_options options = {.directory = request->out,
                                       .cache_directory = request->cache,
                                       .nvrtc_path = request->nvrtc,
                                       .worker_argv = worker,
                                       .budget_s = request->budget_s,
                                       .config_limit_s = request->config_limit_s,
                                       .seed = request->seed,
                                       .reference_every = (uint32_t)request->reference_every,
                                       .refuse_past = !request->resume,
                                       .run_limit = (size_t)request->limit,
                                       .repeats = (uint32_t)request->repeats,
                                       .revision = program_revision(),
                                       .predict = measure_predictor_predict,
                                       .report = show_progress,
                                       .report_context = &is_terminal};
    char name[128];

    (void)snprintf(name, sizeof name, "occam %.40s %.60s", program_version(), program_revision());
    enum status status = measure_predictor_create(name, &predictor, error);

    if (status != STATUS_OK)
        return status;
    options.predict_context = predictor;
    status = campaign_run(plan, &options, progress, error);
    if (is_terminal && progress->done > 0)
        (void)fputs("\r\033[K", stderr);
    measure_predictor_free(predictor);
    if (status == STATUS_USAGE && progress->skipped > 0) {
        size_t length = strlen(error->text);

        (void)snprintf(error->text + length, sizeof error->text - length,
                       "; --resume goes on with them, another --output starts anew");
    }
    if (progress->done > 0 || status == STATUS_OK) {
        struct error printing = {0};
        enum status printed = print_summary(source, request, plan, progress, &printing);

        if (status == STATUS_OK && printed != STATUS_OK) {
            *error = printing;
            status = printed;
        }
    }
    return status;
}

/* What makes the exit code 1: wrong results; every failure where checking is all that was asked for, or where nothing
 * else came out. */
static size_t failed_count(const struct measure_request *request, const struct campaign_progress *progress)
{
    const size_t bad = bad_count(progress);

    if (request->check_only)
        return bad;
    if (bad > 0 && progress->outcomes[MEASURE_OUTCOME_OK] == 0) {
        (void)fprintf(stderr, "occam: measure: no configuration came out: %zu of %zu failed\n", bad, progress->done);
        return bad;
    }
    return progress->outcomes[MEASURE_OUTCOME_WRONG];
}

/* ---- the command --------------------------------------------------------------------------------------------------
 */

static enum status read_request(int argc, char **argv, struct measure_request *request, struct error *error)
{
    const struct option_row rows[] = {
        {'s', "set", OPTION_LIST, &request->settings, 0, 0},
        {0, "output", OPTION_TEXT, &request->out, 0, 0},
        {0, "out", OPTION_TEXT, &request->out, 0, 0}, /* as it was called first; not documented any more */
        {0, "budget", OPTION_DURATION, &request->budget_s, 0, 0},
        {0, "resume", OPTION_FLAG, &request->resume, 0, 0},
        {0, "repeats", OPTION_COUNT, &request->repeats, 1, 1000},
        {0, "limit", OPTION_COUNT, &request->limit, 1, 1e9},
        {0, "seed", OPTION_COUNT, &request->seed, 0, 9007199254740992.0},
        {0, "reference-every", OPTION_COUNT, &request->reference_every, 0, 1e6},
        {0, "config-limit", OPTION_DURATION, &request->config_limit_s, 0, 0},
        {0, "sample-time", OPTION_DURATION, &request->sample_s, 0, 0},
        {0, "check-only", OPTION_FLAG, &request->check_only, 0, 0},
        {0, "compile-only", OPTION_FLAG, &request->compile_only, 0, 0},
        {0, "dry-run", OPTION_FLAG, &request->dry_run, 0, 0},
        {0, "list", OPTION_FLAG, &request->list, 0, 0},
        {0, "timeline", OPTION_TEXT, &request->timeline, 0, 0},
        {0, "arch", OPTION_TEXT, &request->arch, 0, 0},
        {0, "shard", OPTION_TEXT, &request->shard, 0, 0},
        {0, "code", OPTION_TEXT, &request->code, 0, 0},
        {0, "cache", OPTION_TEXT, &request->cache, 0, 0},
        {0, "nvrtc", OPTION_TEXT, &request->nvrtc, 0, 0},
        {0, "device-backend", OPTION_TEXT, &request->backend, 0, 0},
        {0, "fake-fault", OPTION_TEXT, &request->fault, 0, 0},
        {0, "format", OPTION_FORMAT, &request->format, 0, 0},
    };

    *request = (struct measure_request){
        .budget_s = INFINITY, .config_limit_s = 30.0, .sample_s = 0.1, .repeats = 1, .seed = 1, .reference_every = 40};
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "KERNEL, SCENARIO or PLAN", 0,
                                       OPERANDS_MAX, &request->operands, error);
    if (status == STATUS_OK && request->operands.count == 0 && !request->list)
        status = error_set(error, STATUS_USAGE, "KERNEL, SCENARIO or PLAN is missing (--list names the kernels)");
    if (status == STATUS_OK && request->backend != NULL && strcmp(request->backend, "cuda") != 0 && !is_fake(request))
        status = error_set(error, STATUS_USAGE, "option --device-backend: \"%.40s\" is none of cuda, fake",
                           request->backend);
    if (status == STATUS_OK && request->fault != NULL && !is_fake(request))
        status = error_set(error, STATUS_USAGE, "option --fake-fault needs --device-backend fake");
    if (status == STATUS_OK && request->shard != NULL && !request->compile_only)
        status = error_set(error, STATUS_USAGE, "option --shard goes with --compile-only");
    if (status == STATUS_OK && request->code != NULL && !request->compile_only)
        status = error_set(error, STATUS_USAGE, "option --code goes with --compile-only");
    if (status == STATUS_OK && request->timeline != NULL)
        status = options_refuse_others(rows, sizeof rows / sizeof rows[0], &request->operands,
                                       "timeline set seed cache nvrtc device-backend fake-fault", "--timeline", error);
    if (request->nvrtc != NULL && strcmp(request->nvrtc, "none") == 0)
        request->nvrtc = "";
    if (is_fake(request) && request->nvrtc == NULL)
        request->nvrtc = ""; /* nothing to compile for */
    bool campaigns = !request->compile_only && !request->dry_run && request->timeline == NULL &&
                     (request->out != NULL || !request->check_only);
    if (campaigns && request->out == NULL)
        request->out = MEASURE_OUT_DEFAULT;
    if (request->cache == NULL && campaigns && !is_fake(request)) {
        /* Predictions compile in one process and measurements in another: one finds the code of the other. */
        (void)snprintf(request->own_cache, sizeof request->own_cache, "%.560s/code", request->out);
        request->cache = request->own_cache;
    }
    return status;
}

static enum status answer(int argc, char **argv, struct measure_request *request, int *exit_code, struct error *error)
{
    struct measure_source source = {0};
    struct campaign_plan plan = {0};
    struct measure_fake_plan fault = {0};
    char program[MEASURE_PROGRAM_PATH_SIZE], word[] = MEASURE_WORKER_WORD, **worker = NULL;
    size_t bad = 0;
    enum status status = fault_read(request->fault, &fault, error);

    if (status == STATUS_OK)
        status = measure_source_read(request, &source, error);
    if (status == STATUS_OK)
        status = measure_source_plan(&source, request, &plan, error);
    bool in_process = request->dry_run || request->compile_only || (request->check_only && request->out == NULL);
    if (status == STATUS_OK && request->timeline != NULL) {
        status = timeline_of_plan(&plan, request, error);
    } else if (status == STATUS_OK && request->dry_run) {
        status = measure_dry_run(&plan, &source, request, error);
    } else if (status == STATUS_OK && request->compile_only) {
        status = measure_compile_plan(&plan, request, &bad, error);
    } else if (status == STATUS_OK && in_process) {
        status = check_plan(&plan, &source, request, &bad, error);
    } else if (status == STATUS_OK) {
        struct campaign_progress progress = {0};

        status = make_worker_argv(argc, argv, program, word, &worker, error);
        if (status == STATUS_OK)
            status = run_campaign(&plan, &source, request, worker, &progress, error);
        bad = failed_count(request, &progress);
    }
    *exit_code = bad > 0 ? status_exit_code(STATUS_TOLERANCE_FAILED) : 0;
    free(worker);
    campaign_plan_release(&plan);
    measure_source_release(&source);
    return status;
}

int command_measure(int argc, char **argv)
{
    struct measure_request request;
    struct error error = {0};
    int exit_code = 0;
    enum status status = read_request(argc, argv, &request, &error);
    size_t operands = request.operands.count;

    if (status == STATUS_OK && operands > 0 && strcmp(request.operands.items[operands - 1], MEASURE_WORKER_WORD) == 0)
        return run_worker(&request);
    if (status == STATUS_OK && request.list)
        status = measure_list(request.format, &error);
    else if (status == STATUS_OK)
        status = answer(argc, argv, &request, &exit_code, &error);
    return status == STATUS_OK ? exit_code : command_fail("measure", &error);
}
