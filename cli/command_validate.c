/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam validate`: trained on few rows, judged on all others, beside the baselines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/options.h"
#include "cli/output_check.h"
#include "cli/validate_report.h"

enum {
    RUNS_MAX = 16,
    TRAIN_DEFAULT = 24
};

struct validate_request {
    const char *scenario, *device, *device_file, *hold_out, *predictions, *time_column, *kernel;
    struct number_list train;
    struct text_list require;
    uint64_t seeds, seed;
    double level;
    bool design, no_baselines, no_choice, no_residual, shuffle, first_kernel;
    enum output_format format;
};

/* ---- --require --------------------------------------------------------------------------------------------------- */

struct requirement {
    char key[64];
    bool at_most; /* else at least */
    double limit;
};

static enum status parse_requirement(const char *text, struct requirement *out, struct error *error)
{
    const char *sign = strpbrk(text, "<>");
    char *end = NULL;
    if (sign && sign[1] == '=' && sign > text && (size_t)(sign - text) < sizeof out->key) {
        memcpy(out->key, text, (size_t)(sign - text));
        out->key[sign - text] = '\0';
        out->at_most = *sign == '<';
        out->limit = strtod(sign + 2, &end);
    }
    if (!end || end == sign + 2 || *end != '\0' || !isfinite(out->limit)) {
        return error_set(error, STATUS_USAGE, "--require %s is not KEY<=NUMBER or KEY>=NUMBER", text);
    }
    const struct validation_options options = {0};
    const struct validate_run none = {.options = &options, .result = {.splits = 1}};
    const char *names[64], *key;
    size_t count = 0;
    double value;
    while ((key = validate_field(&none, count, &value)) != NULL) {
        if (strcmp(key, out->key) == 0) {
            return STATUS_OK;
        }
        names[count++] = key;
    }
    (void)error_set(error, STATUS_USAGE, "--require %s: there is no figure %s", text, out->key);
    near_names_append(error, out->key, names, count);
    return STATUS_USAGE;
}

static double field_by_name(const struct validate_run *run, const char *wanted)
{
    const char *key;
    double value;
    for (size_t i = 0; (key = validate_field(run, i, &value)) != NULL; i++) {
        if (strcmp(key, wanted) == 0) {
            return value;
        }
    }
    return (double)NAN;
}

/* A figure that is not known does not meet a requirement. Every miss is told; the last one is the error. */
static enum status check_requirements(const struct validate_request *request, const struct validate_run *runs,
                                      size_t count, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t r = 0; r < request->require.count; r++) {
        struct requirement requirement;
        if (parse_requirement(request->require.items[r], &requirement, error) != STATUS_OK) {
            return STATUS_USAGE;
        }
        for (size_t i = 0; i < count; i++) {
            const double value = field_by_name(&runs[i], requirement.key);
            if (requirement.at_most ? value <= requirement.limit : value >= requirement.limit) {
                continue;
            }
            if (status != STATUS_OK) {
                (void)command_fail("validate", error);
            }
            status = error_set(error, STATUS_TOLERANCE_FAILED, "with %zu training rows %s is %.4g, required is %s",
                               runs[i].result.train_rows, requirement.key, value, request->require.items[r]);
        }
    }
    return status;
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

static void show_progress(void *context, unsigned done, unsigned total)
{
    (void)context;
    (void)fprintf(stderr, done == total ? "\r\033[K" : "\r%u of %u splits", done, total);
}

static enum status fill_options(const struct validate_request *request, const struct scenario *scenario,
                                double train_rows, struct validation_options *options, struct error *error)
{
    validation_options_init(options);
    options->train_rows = (size_t)train_rows;
    options->seeds = (unsigned)request->seeds;
    options->seed = request->seed;
    options->interval_level = request->level;
    options->no_baselines = request->no_baselines;
    options->no_choice = request->no_choice;
    options->no_residual = request->no_residual;
    options->shuffle_times = request->shuffle;
    options->split = request->design ? VALIDATION_DESIGN : VALIDATION_RANDOM;
    if (isatty(STDERR_FILENO)) {
        options->progress = show_progress;
    }
    if (request->hold_out == NULL) {
        return STATUS_OK;
    }
    options->split = VALIDATION_GROUPS;
    if (strcmp(request->hold_out, "workload") == 0) {
        return STATUS_OK;
    }
    options->group_variable = scenario_variable_find(scenario, request->hold_out);
    if (options->group_variable < 0) {
        return error_set(error, STATUS_USAGE, "--hold-out %s: neither workload nor a variable of %s", request->hold_out,
                         scenario_name(scenario));
    }
    return STATUS_OK;
}

static void print_rows(const struct measured_rows *rows, const struct scenario *scenario)
{
    (void)printf("%s on %s\n%zu configurations of %zu rows", scenario_name(scenario), scenario_device(scenario)->title,
                 rows->count, rows->read);
    (void)printf(" (%zu repeats, %zu references, %zu failed, %zu infeasible), %u workloads\n", rows->repeats,
                 rows->references, rows->failed, rows->infeasible, rows->group_count);
}

static enum status print_answer(const struct validate_request *request, const struct validate_run *runs, size_t count,
                                struct error *error)
{
    struct report report = {0};
    enum status status = STATUS_OK;
    for (unsigned w = 0; w < runs[0].rows->warning_count; w++) {
        (void)fprintf(stderr, "occam: validate: warning: %s\n", runs[0].rows->warnings[w]);
    }
    if (request->format == OUTPUT_FORMAT_TEXT) {
        print_rows(runs[0].rows, runs[0].scenario);
        for (size_t i = 0; i < count && status == STATUS_OK; i++) {
            (void)printf("\n");
            status = validate_print(&runs[i], stdout, error);
        }
        return status;
    }
    validate_record(&report, runs, count);
    status = report_print(&report, request->format, "runs", stdout, error);
    report_release(&report);
    return status;
}

static enum status run_all(const struct validate_request *request, const struct scenario *scenario,
                           const struct measured_rows *rows, struct error *error)
{
    struct validation_options options[RUNS_MAX];
    struct validate_run *runs = calloc(RUNS_MAX, sizeof *runs);
    struct model_parameters priors;
    const size_t wanted = request->train.count ? request->train.count : 1;
    size_t done = 0;
    enum status status = runs ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for results");
    if (wanted > RUNS_MAX) {
        status = error_set(error, STATUS_USAGE, "--train takes at most %d numbers", RUNS_MAX);
    }
    model_parameters_init(&priors);
    for (size_t i = 0; i < wanted && status == STATUS_OK; i++) {
        runs[i] = (struct validate_run){.scenario = scenario, .rows = rows, .options = &options[i]};
        status = fill_options(request, scenario, request->train.count ? request->train.items[i] : TRAIN_DEFAULT,
                              &options[i], error);
        if (status == STATUS_OK) {
            status =
                validation_run(scenario_device(scenario), &priors, scenario, rows, &options[i], &runs[i].result, error);
            done += status == STATUS_OK;
        }
    }
    status = status == STATUS_OK ? print_answer(request, runs, done, error) : status;
    if (status == STATUS_OK && request->predictions) {
        status = validate_write_predictions(runs, done, request->predictions, error);
    }
    status = status == STATUS_OK ? check_requirements(request, runs, done, error) : status;
    for (size_t i = 0; i < done; i++) {
        validation_release(&runs[i].result);
    }
    free(runs);
    return status;
}

/* What needs no data is refused before any is read. */
static enum status check_request(const struct validate_request *request, struct error *error)
{
    struct requirement requirement;
    enum status status = STATUS_OK;
    if (request->scenario == NULL) {
        return error_set(error, STATUS_USAGE, "--scenario is missing: which one describes the kernel of these rows?");
    }
    if (request->design && request->hold_out) {
        return error_set(error, STATUS_USAGE, "--design and --hold-out exclude each other");
    }
    for (size_t r = 0; r < request->require.count && status == STATUS_OK; r++) {
        status = parse_requirement(request->require.items[r], &requirement, error);
    }
    for (size_t i = 0; i < request->train.count && status == STATUS_OK; i++) {
        const double rows = request->train.items[i];
        if (rows != floor(rows)) {
            status = error_set(error, STATUS_USAGE, "--train %g is not a whole number", rows);
        }
    }
    return status == STATUS_OK ? output_check(request->predictions, error) : status;
}

static enum status answer(const struct validate_request *request, const struct operands *operands, struct error *error)
{
    struct measured_rows_options options = {
        .time_column = request->time_column, .kernel = request->kernel, .first_kernel_only = request->first_kernel};
    struct device_catalogue *catalogue = NULL;
    struct scenario *scenario = NULL;
    const struct gpu_device *from_file = NULL;
    const char *device = request->device;
    struct measured_rows rows = {0};
    enum status status = check_request(request, error);
    status = status == STATUS_OK ? device_catalogue_create(&catalogue, error) : status;
    if (status == STATUS_OK && request->device_file != NULL) {
        status = device_catalogue_add_file(catalogue, request->device_file, &from_file, error);
    }
    if (device == NULL && from_file != NULL) {
        device = from_file->name;
    }
    status = status == STATUS_OK ? scenario_read(request->scenario, catalogue, device, &scenario, error) : status;
    options.catalogue = catalogue;
    if (status == STATUS_OK) {
        status = measured_rows_read(scenario, operands->items, operands->count, &options, &rows, error);
    }
    if (status == STATUS_OK) {
        status = run_all(request, scenario, &rows, error);
        measured_rows_release(&rows);
    }
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    return status;
}

int command_validate(int argc, char **argv)
{
    struct validate_request request = {.seeds = 20, .seed = 1, .level = 0.9};
    const struct option_row rows[] = {
        {0, "scenario", OPTION_TEXT, &request.scenario, 0, 0},
        {0, "train", OPTION_NUMBERS, &request.train, 0, 100000},
        {0, "design", OPTION_FLAG, &request.design, 0, 0},
        {0, "hold-out", OPTION_TEXT, &request.hold_out, 0, 0},
        {0, "seeds", OPTION_COUNT, &request.seeds, 1, VALIDATION_SPLITS_MAX},
        {0, "seed", OPTION_COUNT, &request.seed, 0, 1e9},
        {0, "level", OPTION_NUMBER, &request.level, 0.5, 0.999},
        {0, "no-baselines", OPTION_FLAG, &request.no_baselines, 0, 0},
        {0, "no-choice", OPTION_FLAG, &request.no_choice, 0, 0},
        {0, "no-residual", OPTION_FLAG, &request.no_residual, 0, 0},
        {0, "shuffle", OPTION_FLAG, &request.shuffle, 0, 0},
        {0, "require", OPTION_LIST, &request.require, 0, 0},
        {0, "predictions", OPTION_TEXT, &request.predictions, 0, 0},
        {0, "time-column", OPTION_TEXT, &request.time_column, 0, 0},
        {0, "kernel", OPTION_TEXT, &request.kernel, 0, 0},
        {0, "first-kernel", OPTION_FLAG, &request.first_kernel, 0, 0},
        {0, "device", OPTION_TEXT, &request.device, 0, 0},
        {0, "device-file", OPTION_TEXT, &request.device_file, 0, 0},
        {0, "format", OPTION_FORMAT, &request.format, 0, 0},
    };
    struct operands operands;
    struct error error = {0};
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "MEASUREMENTS...", 1,
                                       OPERANDS_MAX, &operands, &error);
    status = status == STATUS_OK ? answer(&request, &operands, &error) : status;
    return status == STATUS_OK ? 0 : command_fail("validate", &error);
}
