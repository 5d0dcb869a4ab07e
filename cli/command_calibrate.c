/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam calibrate`: measurements into a calibration, what to measure for one, whether one still holds, and what
 * microbenchmarks say of a GPU. */
#include "cli/calibrate.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/output_check.h"
#include "cli/question.h"

/* --figures and --list learn nothing, so what belongs to learning goes with neither. */
static enum status check_other(const struct calibrate_options *options, size_t files, struct error *error)
{
    const bool learning = options->train || options->design || options->train_rows || options->check ||
                          options->scenario || options->name || options->kernel || options->time_column ||
                          options->first_kernel;
    if (options->figures && (learning || options->list)) {
        return error_set(error, STATUS_USAGE,
                         "--figures takes files of microbenchmarks, --device, --device-file, --output and --format, "
                         "nothing else");
    }
    if (options->figures && files == 0) {
        return error_set(error, STATUS_USAGE, "--figures needs the files of microbenchmarks that occam measure wrote");
    }
    if (options->list && (learning || options->output || files > 0)) {
        return error_set(error, STATUS_USAGE, "--list takes --format and nothing else");
    }
    return STATUS_OK;
}

static enum status check_usage(const struct calibrate_options *options, size_t files, struct error *error)
{
    const int ways = (options->train > 0) + (options->design > 0) + (options->train_rows != NULL);
    if (options->figures || options->list) {
        return check_other(options, files, error);
    }
    if (options->check && (ways > 0 || options->output || options->name)) {
        return error_set(error, STATUS_USAGE,
                         "--check only looks: it goes with none of --train, --train-rows, "
                         "--design, --output and --name");
    }
    if (!options->check && !options->scenario) {
        return error_set(error, STATUS_USAGE, "--scenario is missing: which scenario do the columns belong to?");
    }
    if (ways > 1) {
        return error_set(error, STATUS_USAGE, "--train, --train-rows and --design exclude each other");
    }
    if (files == 0 && (options->check || options->design == 0)) {
        return error_set(error, STATUS_USAGE, "no file with measurements (--design N alone says what to measure)");
    }
    if (files == 0 && options->output) {
        return error_set(error, STATUS_USAGE, "--output needs measurements to learn from");
    }
    return STATUS_OK;
}

int command_calibrate(int argc, char **argv)
{
    struct calibrate_options options = {.level = QUESTION_LEVEL_DEFAULT, .seed = 1};
    const struct option_row rows[] = {
        {0, "scenario", OPTION_TEXT, &options.scenario, 0, 0},
        {0, "device", OPTION_TEXT, &options.device, 0, 0},
        {0, "device-file", OPTION_TEXT, &options.device_file, 0, 0},
        {0, "train", OPTION_COUNT, &options.train, 1, 1e6},
        {0, "train-rows", OPTION_TEXT, &options.train_rows, 0, 0},
        {0, "design", OPTION_COUNT, &options.design, 1, 2000},
        {0, "check", OPTION_TEXT, &options.check, 0, 0},
        {'o', "output", OPTION_TEXT, &options.output, 0, 0},
        {0, "name", OPTION_TEXT, &options.name, 0, 0},
        {0, "kernel", OPTION_TEXT, &options.kernel, 0, 0},
        {0, "time-column", OPTION_TEXT, &options.time_column, 0, 0},
        {0, "figures", OPTION_FLAG, &options.figures, 0, 0},
        {0, "list", OPTION_FLAG, &options.list, 0, 0},
        {0, "first-kernel", OPTION_FLAG, &options.first_kernel, 0, 0},
        {0, "seed", OPTION_COUNT, &options.seed, 0, 1e15},
        {0, "level", OPTION_NUMBER, &options.level, 0.5, 0.999},
        {0, "format", OPTION_FORMAT, &options.format, 0, 0},
    };
    struct operands files;
    struct error error = {0};
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "MEASUREMENTS", 0, OPERANDS_MAX, &files, &error);
    status = status == STATUS_OK ? check_usage(&options, files.count, &error) : status;
    status = status == STATUS_OK ? output_check(options.output, &error) : status;
    if (status != STATUS_OK) {
        return command_fail("calibrate", &error);
    }
    if (options.list) {
        status = calibrate_list(&options, &error);
    } else if (options.figures) {
        status = calibrate_figures(&options, &files, &error);
    } else if (options.check) {
        status = calibrate_check(&options, &files, &error);
    } else if (files.count == 0) {
        status = calibrate_design(&options, &error);
    } else {
        status = calibrate_train(&options, &files, &error);
    }
    if (status == STATUS_TOLERANCE_FAILED) {
        return status_exit_code(status); /* the answer has been printed */
    }
    return status == STATUS_OK ? 0 : command_fail("calibrate", &error);
}
