/* SPDX-License-Identifier: GPL-3.0-or-later
 * Opens a question: catalogue, scenario, values, model, and how well the step-time law is known. */
#include "cli/question.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "calibrate/step_time_fit.h"
#include "model/predict/step_time.h"

/* Root mean square of the relative misses of a law at measured points. */
static double law_scatter(const struct serving_model *serving)
{
    double sum = 0.0;

    for (uint32_t i = 0; i < serving->point_count; i++) {
        const struct serving_point *point = &serving->points[i];
        double miss = log(point->step_time_s / step_time_evaluate(&serving->base, point->concurrency));

        sum += miss * miss;
    }
    return sqrt(sum / serving->point_count);
}

/* "1 measured point", "8 measured points". */
static const char *points_text(const struct serving_model *serving, char out[32])
{
    (void)snprintf(out, 32, "%u measured point%s", serving->point_count, serving->point_count == 1 ? "" : "s");
    return out;
}

void question_judge_step_law(struct question *question)
{
    struct serving_model *serving = &question->serving;
    struct step_time_law *law = &serving->base;
    char *basis = question->step_basis;
    size_t size = sizeof question->step_basis;
    char points[32];

    question->step_z = step_time_quantile(-1, question->level);
    question->step_interval_known = false;
    if (!serving->present) {
        (void)snprintf(basis, size, "the scenario has no serving part");
    } else if (law->form == STEP_TIME_COMMITTEE) {
        question->step_interval_known = true;
        question->step_z = step_time_quantile(law->degrees_of_freedom, question->level);
        (void)snprintf(basis, size, "committee of %u forms fitted to %s", law->member_count,
                       points_text(serving, points));
    } else if (law->degrees_of_freedom > 0) {
        question->step_interval_known = true;
        question->step_z = step_time_quantile(law->degrees_of_freedom, question->level);
        (void)snprintf(basis, size, "%s fitted to %s, %d degree%s of freedom", step_time_form_name(law->form),
                       points_text(serving, points), law->degrees_of_freedom, law->degrees_of_freedom == 1 ? "" : "s");
    } else if (law->degrees_of_freedom == 0) {
        (void)snprintf(basis, size, "%s through %s exactly: nothing is validated, no interval",
                       step_time_form_name(law->form), points_text(serving, points));
    } else if (serving->point_count > 0) {
        law->relative_sigma = law_scatter(serving);
        question->step_interval_known = true;
        question->step_z = step_time_quantile((int)serving->point_count, question->level);
        (void)snprintf(basis, size, "%s as given; interval from its misses at %s", step_time_form_name(law->form),
                       points_text(serving, points));
    } else {
        (void)snprintf(basis, size, "%s as given, without measured points: no interval",
                       step_time_form_name(law->form));
    }
}

double question_concurrency(const struct question *question, const double *values)
{
    long index = scenario_concurrency_variable(question->scenario);

    return index < 0 ? 1.0 : values[index];
}

void question_values_at(const struct question *question, const double *values, double concurrency, double *out)
{
    size_t count = scenario_variable_count(question->scenario);
    long index = scenario_concurrency_variable(question->scenario);

    memcpy(out, values, count * sizeof *out);
    if (index >= 0)
        out[index] = concurrency;
}

static void compare_with_base(struct question *question)
{
    size_t count = scenario_variable_count(question->scenario);
    long concurrency = scenario_concurrency_variable(question->scenario);

    for (size_t i = 0; i < count; i++) {
        const struct scenario_variable *variable = scenario_variable_get(question->scenario, i);
        bool changed = question->values[i] != question->base[i];

        if (variable->question != NULL) { /* an answer is no change: there is no other base */
            question->base[i] = question->values[i];
            continue;
        }
        question->outside_lists = question->outside_lists || !scenario_variable_lists(variable, question->values[i]);
        if ((long)i == concurrency)
            question->base[i] = question->values[i];
        else if (variable->is_knob)
            question->knobs_changed = question->knobs_changed || changed;
        else
            question->workload_changed = question->workload_changed || changed;
    }
}

void question_set_values(struct question *question, const double *values)
{
    memcpy(question->values, values, scenario_variable_count(question->scenario) * sizeof *values);
    question->outside_lists = question->knobs_changed = question->workload_changed = false;
    compare_with_base(question);
}

static enum status read_scenario(const struct question *question, const char *path,
                                 const struct question_options *options, const char *device, struct scenario **scenario,
                                 struct error *error)
{
    return options->text != NULL ? scenario_read_text(options->text, options->text_length, path, question->catalogue,
                                                      device, scenario, error)
                                 : scenario_read(path, question->catalogue, device, scenario, error);
}

/* The serving part describes what was measured on the scenario's own GPU. */
static enum status compare_device(struct question *question, const char *scenario_path,
                                  const struct question_options *options, struct error *error)
{
    struct scenario *own = NULL;
    enum status status = read_scenario(question, scenario_path, options, NULL, &own, error);

    if (status == STATUS_OK)
        question->other_device = strcmp(scenario_device(own)->name, question->device->name) != 0;
    scenario_free(own);
    return status;
}

static enum status read_named(struct question *question, const char *scenario_path,
                              const struct question_options *options, struct error *error)
{
    const struct gpu_device *from_file = NULL;
    const char *device = options->device;
    enum status status = device_catalogue_create(&question->catalogue, error);

    if (status == STATUS_OK && options->device_file != NULL)
        status = device_catalogue_add_file(question->catalogue, options->device_file, &from_file, error);
    if (device == NULL && from_file != NULL)
        device = from_file->name;
    if (status == STATUS_OK)
        status = read_scenario(question, scenario_path, options, device, &question->scenario, error);
    if (status != STATUS_OK)
        return status;
    question->device = scenario_device(question->scenario);
    if (device != NULL)
        status = compare_device(question, scenario_path, options, error);
    if (status == STATUS_OK)
        status = scenario_evaluator_create(question->scenario, &question->evaluator, error);
    return status;
}

/* Standard input can be read once, and a scenario is read twice where another device is asked for. */
static enum status read_files(struct question *question, const char *scenario_path,
                              const struct question_options *options, struct error *error)
{
    struct question_options piped = *options;
    char *text = NULL;

    if (options->text != NULL || strcmp(scenario_path, "-") != 0)
        return read_named(question, scenario_path, options, error);
    enum status status = file_read_text("/dev/stdin", SCENARIO_FILE_BYTES_MAX, &text, &piped.text_length, error);
    piped.text = text;
    if (status == STATUS_OK)
        status = read_named(question, "standard input", &piped, error);
    free(text);
    return status;
}

/* One name set twice is a mistake on the command line, and which of the two was meant is not known. */
static enum status refuse_repeats(const struct text_list *assignments, struct error *error)
{
    for (size_t i = 0; i < assignments->count; i++) {
        size_t length = strcspn(assignments->items[i], "=");

        for (size_t k = 0; k < i; k++)
            if (strcspn(assignments->items[k], "=") == length &&
                strncmp(assignments->items[i], assignments->items[k], length) == 0)
                return error_set(error, STATUS_USAGE, "%.*s is set twice: %s and %s", (int)length,
                                 assignments->items[i], assignments->items[k], assignments->items[i]);
    }
    return STATUS_OK;
}

/* The bounds of --concurrency hold for -s C=... and throughput@C=... as well. */
static enum status check_concurrency(double asked, struct error *error)
{
    if (!(asked >= 1.0 && asked <= CONCURRENCY_MAX))
        return error_set(error, STATUS_USAGE, "a concurrency of 1 to %d is expected, not %g", CONCURRENCY_MAX, asked);
    if (asked != floor(asked))
        return error_set(error, STATUS_USAGE, "a concurrency is a whole number of requests, not %.17g", asked);
    return STATUS_OK;
}

enum status question_read_throughput_at(const struct question *question, const char *objective, double *concurrency,
                                        struct error *error)
{
    static const char prefix[] = "throughput@";
    const long variable = scenario_concurrency_variable(question->scenario);
    const char *name = variable < 0 ? "C" : scenario_variable_get(question->scenario, (size_t)variable)->name;
    const size_t start = sizeof prefix - 1, length = strlen(name);

    if (strncmp(objective, prefix, start) == 0 &&
        (!scenario_serving(question->scenario)->present || scenario_layer_group_count(question->scenario) == 0))
        return error_set(error, STATUS_MISSING, "%s has no serving layers, so its kernels have no throughput",
                         scenario_name(question->scenario));
    if (variable < 0 || strncmp(objective, prefix, start) != 0 || strncmp(objective + start, name, length) != 0 ||
        objective[start + length] != '=' || number_parse(objective + start + length + 1, concurrency) != STATUS_OK)
        return error_set(error, STATUS_USAGE, "objective \"%s\": expected throughput@%s=N", objective, name);
    return check_concurrency(*concurrency, error);
}

enum status question_open(struct question *question, const char *scenario_path, const struct question_options *options,
                          struct error *error)
{
    enum status status = read_files(question, scenario_path, options, error);

    if (status != STATUS_OK)
        return status;
    scenario_base_values(question->scenario, question->base);
    scenario_base_values(question->scenario, question->values);
    status = refuse_repeats(&options->assignments, error);
    for (size_t i = 0; i < options->assignments.count && status == STATUS_OK; i++)
        status = scenario_set_value(question->scenario, options->assignments.items[i], options->free_values,
                                    question->values, error);
    if (status != STATUS_OK)
        return status;
    compare_with_base(question);
    question->level = options->level;
    status = question_take_calibration(question, options, error);
    if (status != STATUS_OK)
        return status;
    status = time_model_init(&question->time_model, question->device, &question->parameters, &question->untimed);
    question->timed = status == STATUS_OK;
    if (status != STATUS_OK && status != STATUS_MISSING) {
        *error = question->untimed;
        return status;
    }
    if (question->timed && question->calibrated != NULL)
        status = calibrated_model_init(question->calibrated, question->device, question->calibration, error);
    if (question->timed && status != STATUS_OK)
        return status;
    question->serving = *scenario_serving(question->scenario);
    question->form = options->form;
    if (question->serving.present) {
        status = step_law_settle(&question->serving, options->form, false, &question->law, error);
        if (status != STATUS_OK)
            return status;
    }
    question_judge_step_law(question);
    if (question->serving.present)
        return check_concurrency(question_concurrency(question, question->values), error);
    return STATUS_OK;
}

enum status question_open_timed(struct question *question, const char *scenario_path,
                                const struct question_options *options, struct error *error)
{
    const enum status status = question_open(question, scenario_path, options, error);
    if (status == STATUS_OK && !question->timed) {
        *error = question->untimed;
        return error->status;
    }
    return status;
}

void question_release(struct question *question)
{
    if (question->calibration != NULL)
        calibration_release(question->calibration);
    free(question->calibration);
    free(question->calibrated);
    scenario_evaluator_free(question->evaluator);
    scenario_free(question->scenario);
    device_catalogue_free(question->catalogue);
    *question = (struct question){0};
}
