/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam calibrate --design N` before anything was measured: the N configurations of the scenario's space that would
 * teach most, as a plan for `occam measure` or as a table. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "calibrate/config_space.h"
#include "cli/calibrate.h"
#include "cli/report.h"
#include "model/predict/kernel_time.h"

enum {
    CANDIDATES_MAX = 3000 /* more are thinned out evenly over the space */
};

struct candidates {
    struct calibrate_inputs inputs;
    struct scenario_evaluator *evaluator;
    struct config_space space;
    struct time_model model;
    size_t count, width;
    struct kernel_row *rows;
    double *values;
    uint32_t *chosen;
};

static enum status open_space(struct candidates *self, struct error *error)
{
    const struct scenario *scenario = self->inputs.scenario;
    double base[CONFIG_VARIABLES_MAX];
    uint32_t all[CONFIG_VARIABLES_MAX];
    self->width = scenario_variable_count(scenario);
    scenario_base_values(scenario, base);
    for (uint32_t i = 0; i < self->width; i++) {
        const struct scenario_variable *variable = scenario_variable_get(scenario, i);
        all[i] = i;
        if (variable->question) {
            return error_set(error, STATUS_BAD_DATA,
                             "scenario %s leaves %s open (%.200s): no configuration to choose from",
                             scenario_name(scenario), variable->name, variable->question);
        }
    }
    return config_space_init(&self->space, scenario, all, (uint32_t)self->width, base, UINT64_C(1) << 53, error);
}

static bool can_run(const struct candidates *self, const struct layer_case *layer)
{
    struct layer_time time;
    struct error ignored = {0};
    for (uint32_t k = 0; k < layer->kernel_count; k++) {
        if (time_model_supports(&self->model, &layer->kernels[k], &ignored) != STATUS_OK) {
            return false;
        }
    }
    layer_time_predict(&self->model, layer, &time);
    return time.feasible && time.time_s > 0;
}

/* Evenly over the space: what cannot run, or what the scenario forbids, is no candidate. */
static enum status collect(struct candidates *self, struct error *error)
{
    const uint64_t all = self->space.config_count, tried = all < CANDIDATES_MAX ? all : CANDIDATES_MAX;
    self->rows = calloc(tried + 1, sizeof *self->rows);
    self->values = calloc((tried + 1) * self->width, sizeof *self->values);
    self->chosen = calloc(tried + 1, sizeof *self->chosen);
    if (!self->rows || !self->values || !self->chosen) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %" PRIu64 " configurations", tried);
    }
    for (uint64_t i = 0; i < tried; i++) {
        const double place = ((double)i + 0.5) * (double)all / (double)tried;
        struct kernel_row *row = &self->rows[self->count];
        double *values = self->values + self->count * self->width;
        enum config_verdict verdict = CONFIG_OK;
        size_t constraint;
        struct error ignored = {0};
        config_space_values(&self->space, tried == all ? i : (uint64_t)place, values);
        const enum status status =
            scenario_evaluate(self->evaluator, values, &verdict, &constraint, &row->layer, &ignored);
        if (status == STATUS_NO_MEMORY) {
            *error = ignored;
            return status;
        }
        self->count += status == STATUS_OK && verdict == CONFIG_OK && can_run(self, &row->layer);
    }
    return self->count > 0 ? STATUS_OK
                           : error_set(error, STATUS_BAD_DATA, "no configuration of %s can run on %s",
                                       scenario_name(self->inputs.scenario), self->model.device_name);
}

static enum status print_plan(struct candidates *self, size_t wanted, struct error *error)
{
    const struct scenario *scenario = self->inputs.scenario;
    (void)printf("# %zu configurations that teach most about %s: occam measure THIS.plan\n", wanted,
                 scenario_name(scenario));
    for (size_t i = 0; i < wanted; i++) {
        enum config_verdict verdict;
        size_t constraint;
        const double *values = self->values + self->chosen[i] * self->width;
        enum status status = scenario_evaluate(self->evaluator, values, &verdict, &constraint, NULL, error);
        (void)printf("%s", scenario_measure_kernel(scenario));
        for (size_t s = 0; s < scenario_measure_setting_count(scenario) && status == STATUS_OK; s++) {
            int64_t value = 0;
            status = scenario_measure_value(self->evaluator, s, &value, error);
            (void)printf(" %s=%" PRId64, scenario_measure_setting(scenario, s), value);
        }
        (void)printf("\n");
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static void record(const struct candidates *self, size_t wanted, struct report *report)
{
    report_string(report, "scenario", scenario_name(self->inputs.scenario));
    report_string(report, "device", scenario_device(self->inputs.scenario)->name);
    report_integer(report, "candidates", (int64_t)self->count);
    report_begin_rows(report, "rows");
    for (size_t i = 0; i < wanted; i++) {
        const double *values = self->values + self->chosen[i] * self->width;
        struct layer_time time;
        report_begin_object(report, NULL);
        for (size_t v = 0; v < self->width; v++) {
            report_number(report, scenario_variable_get(self->inputs.scenario, v)->name, values[v]);
        }
        layer_time_predict(&self->model, &self->rows[self->chosen[i]].layer, &time);
        report_number(report, "predicted_us", time.time_s / SECONDS_PER_US);
        report_integer(report, "typical", design_is_typical(i));
        report_end(report);
    }
    report_end(report);
}

static enum status print(struct candidates *self, size_t wanted, enum output_format format, struct error *error)
{
    struct report report = {0};
    struct report_column columns[CONFIG_VARIABLES_MAX + 2];
    if (format == OUTPUT_FORMAT_TEXT && scenario_measure_kernel(self->inputs.scenario)) {
        return print_plan(self, wanted, error);
    }
    record(self, wanted, &report);
    for (size_t v = 0; v < self->width; v++) {
        const char *name = scenario_variable_get(self->inputs.scenario, v)->name;
        columns[v] = (struct report_column){name, name, 6};
    }
    columns[self->width] = (struct report_column){"predicted_us", "predicted us", 3};
    columns[self->width + 1] = (struct report_column){"typical", "typical", 1};
    const enum status status = format == OUTPUT_FORMAT_TEXT
                                   ? report_print_table(&report, "rows", columns, self->width + 2, stdout, error)
                                   : report_print(&report, format, "rows", stdout, error);
    report_release(&report);
    return status;
}

static void show_progress(void *context, size_t done, size_t wanted)
{
    (void)context;
    (void)fprintf(stderr, done == wanted ? "\r\033[K" : "\r%zu of %zu chosen", done, wanted);
}

const struct design_watch *calibrate_design_watch(void)
{
    static const struct design_watch watch = {show_progress, NULL};
    return isatty(STDERR_FILENO) ? &watch : NULL;
}

static enum status choose(struct candidates *self, size_t wanted, uint64_t seed, struct error *error)
{
    struct model_parameters priors;
    model_parameters_init(&priors);
    enum status status = scenario_evaluator_create(self->inputs.scenario, &self->evaluator, error);
    if (status == STATUS_OK) {
        status = time_model_init(&self->model, scenario_device(self->inputs.scenario), &priors, error);
    }
    status = status == STATUS_OK ? open_space(self, error) : status;
    status = status == STATUS_OK ? collect(self, error) : status;
    if (status == STATUS_OK && wanted > self->count) {
        return error_set(error, STATUS_BAD_DATA, "%zu configurations wanted, but only %zu can run", wanted,
                         self->count);
    }
    return status == STATUS_OK
               ? design_choose_watched(scenario_device(self->inputs.scenario), &priors, self->rows, self->count, wanted,
                                       seed, self->chosen, calibrate_design_watch(), error)
               : status;
}

enum status calibrate_design(const struct calibrate_options *options, struct error *error)
{
    struct candidates *self = calloc(1, sizeof *self);
    if (!self) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to choose configurations with");
    }
    enum status status = calibrate_inputs_open(&self->inputs, options, options->scenario, NULL, error);
    status = status == STATUS_OK ? choose(self, (size_t)options->design, options->seed, error) : status;
    status = status == STATUS_OK ? print(self, (size_t)options->design, options->format, error) : status;
    free(self->rows);
    free(self->values);
    free(self->chosen);
    scenario_evaluator_free(self->evaluator);
    calibrate_inputs_release(&self->inputs);
    free(self);
    return status;
}
