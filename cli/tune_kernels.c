/* SPDX-License-Identifier: GPL-3.0-or-later
 * A campaign session whose next configuration is chosen by the search. */
#include "cli/tune_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text_buffer.h"
#include "cli/program_version.h"

enum {
    CONFIG_TEXT_SIZE = 1024
};
#define COMPILING_MATTERS 0.2 /* of the time that measuring takes; below it the order of runs stays free of clocks */

enum status tune_kernels_check(const struct scenario *scenario, struct error *error)
{
    const char *name = scenario_measure_kernel(scenario);
    if (name == NULL) {
        return error_set(error, STATUS_USAGE,
                         "%s names no verification kernel (measure: {kernel: ...}) that could be run here: give --run "
                         "'COMMAND {knob} ...' or --replay TABLE",
                         scenario_name(scenario));
    }
    return measure_kernel_find(name) != NULL ? STATUS_OK
                                             : error_set_at(error, STATUS_NOT_FOUND, scenario_path(scenario), 0, 0,
                                                            "there is no kernel '%.40s'", name);
}

/* ---- opening -------------------------------------------------------------------------------------------------------
 */

static void add_argument(struct tune_kernels *self, size_t *count, const char *name, const char *value)
{
    if (value != NULL) {
        self->worker[(*count)++] = (char *)(uintptr_t)name; /* exec takes them as they are */
        self->worker[(*count)++] = (char *)(uintptr_t)value;
    }
}

/* `occam measure` is the worker. */
static enum status make_worker(struct tune_kernels *self, const struct tune_kernels_options *options,
                               struct error *error)
{
    static char measure[] = "measure", word[] = MEASURE_WORKER_WORD;
    size_t count = 0;
    (void)snprintf(self->seed, sizeof self->seed, "%llu", (unsigned long long)options->seed);
    (void)snprintf(self->sample, sizeof self->sample, "%.9gs", options->sample_s);
    self->worker[count++] = self->program;
    self->worker[count++] = measure;
    add_argument(self, &count, "--seed", self->seed);
    add_argument(self, &count, "--sample-time", self->sample);
    add_argument(self, &count, "--nvrtc", options->nvrtc);
    add_argument(self, &count, "--cache", self->is_fake ? NULL : self->cache);
    add_argument(self, &count, "--device-backend", options->backend);
    add_argument(self, &count, "--fake-fault", options->fault);
    self->worker[count++] = word;
    self->worker[count] = NULL;
    return measure_program_path(self->program, error);
}

static enum status open_session(struct tune_kernels *self, const struct tune_kernels_options *options,
                                struct error *error)
{
    const char *nvrtc = options->nvrtc;
    if ((nvrtc == NULL && self->is_fake) || (nvrtc != NULL && strcmp(nvrtc, "none") == 0)) {
        nvrtc = "";
    }
    const struct campaign_options campaign = {.directory = options->out,
                                              .cache_directory =
                                                  nvrtc != NULL && nvrtc[0] == 0 && self->is_fake ? NULL : self->cache,
                                              .nvrtc_path = nvrtc,
                                              .worker_argv = self->worker,
                                              .budget_s = INFINITY,
                                              .config_limit_s = options->limit_s,
                                              .seed = options->seed,
                                              .revision = program_revision(),
                                              .predict = measure_predictor_predict,
                                              .predict_context = self->predictor};
    return campaign_session_open(&campaign, self->kernel, &self->session, error);
}

enum status tune_kernels_open(struct tune_kernels *self, const struct tune_kernels_options *options,
                              const struct scenario *scenario, struct error *error)
{
    char name[128];
    enum status status = tune_kernels_check(scenario, error);
    if (status != STATUS_OK) {
        return status;
    }
    self->kernel = measure_kernel_find(scenario_measure_kernel(scenario));
    self->opened_s = clock_now_s();
    self->is_fake = options->backend != NULL && strcmp(options->backend, "fake") == 0;
    self->needs_code = !self->is_fake || (options->nvrtc != NULL && strcmp(options->nvrtc, "none") == 0);
    (void)snprintf(self->cache, sizeof self->cache, options->cache ? "%.599s" : "%.560s/code",
                   options->cache ? options->cache : options->out);
    (void)snprintf(self->source, sizeof self->source, "kernel %s, occam %.60s", self->kernel->name, program_revision());
    (void)snprintf(name, sizeof name, "occam %.40s %.60s", program_version(), program_revision());
    self->result = calloc(1, sizeof *self->result);
    status = self->result ? measure_predictor_create(name, &self->predictor, error)
                          : error_set(error, STATUS_NO_MEMORY, "no memory for a result");
    status = status == STATUS_OK ? make_worker(self, options, error) : status;
    status = status == STATUS_OK ? tune_kernels_take_scenario(self, scenario, error) : status;
    return status == STATUS_OK ? open_session(self, options, error) : status;
}

enum status tune_kernels_take_scenario(struct tune_kernels *self, const struct scenario *scenario, struct error *error)
{
    scenario_evaluator_free(self->evaluator);
    self->evaluator = NULL;
    self->scenario = scenario;
    return scenario_evaluator_create(scenario, &self->evaluator, error);
}

void tune_kernels_release(struct tune_kernels *self)
{
    campaign_session_close(self->session);
    measure_predictor_free(self->predictor);
    scenario_evaluator_free(self->evaluator);
    free(self->result);
    free(self->codes);
    free(self->is_built);
    *self = (struct tune_kernels){0};
}

const struct measure_facts *tune_kernels_facts(const struct tune_kernels *self)
{
    return campaign_session_facts(self->session);
}

double tune_kernels_spent_s(const struct tune_kernels *self)
{
    return clock_now_s() - self->opened_s;
}

/* ---- configurations ------------------------------------------------------------------------------------------------
 */

/* The kernel's settings at these values. An error is one of the configuration. */
static enum status config_at(struct tune_kernels *self, const double *values, struct measure_config *config,
                             struct error *error)
{
    char text[CONFIG_TEXT_SIZE];
    enum config_verdict verdict;
    size_t constraint, length = (size_t)snprintf(text, sizeof text, "%s", self->kernel->name);
    struct layer_case layer;
    enum status status = scenario_evaluate(self->evaluator, values, &verdict, &constraint, &layer, error);
    for (size_t i = 0; i < scenario_measure_setting_count(self->scenario) && status == STATUS_OK; i++) {
        int64_t value = 0;
        status = scenario_measure_value(self->evaluator, i, &value, error);
        if (status == STATUS_OK && length < sizeof text) {
            length += (size_t)snprintf(text + length, sizeof text - length, " %s=%lld",
                                       scenario_measure_setting(self->scenario, i), (long long)value);
        }
    }
    if (status == STATUS_OK && length >= sizeof text) {
        return error_set(error, STATUS_LIMIT, "the settings of %s are too long", self->kernel->name);
    }
    return status == STATUS_OK ? measure_config_parse(text, config, error) : status;
}

static uint64_t code_of(const struct measure_config *config)
{
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < config->kernel->setting_count; i++) {
        if (config->kernel->settings[i].compiled) {
            hash = hash_bytes(hash, &config->values[i], sizeof config->values[i]);
        }
    }
    return hash;
}

/* Without a compiler only what is built in or cached runs; neighbours in the space mostly share their code. */
struct code_question {
    bool needed, asked, answer;
    uint64_t last;
};

static bool has_code(struct tune_kernels *self, struct code_question *code, const struct measure_config *config,
                     struct error *error)
{
    if (!code->needed) {
        return true;
    }
    if (!code->asked || code->last != code_of(config)) {
        code->asked = true;
        code->last = code_of(config);
        code->answer = campaign_session_has_code(self->session, config);
    }
    if (!code->answer) {
        (void)error_set(
            error, STATUS_MISSING,
            "its code for this GPU is neither built in nor cached, and there is no compiler (libnvrtc of the "
            "CUDA toolkit; --nvrtc names one elsewhere)");
    }
    return code->answer;
}

static bool can_launch(struct tune_kernels *self, const struct measure_config *config, struct error *error)
{
    measure_config_plan(config, tune_kernels_facts(self), self->result);
    if (self->result->outcome != MEASURE_OUTCOME_OK) {
        (void)error_set(error, STATUS_BAD_DATA, "%s", self->result->reason);
    }
    return self->result->outcome == MEASURE_OUTCOME_OK;
}

enum status tune_kernels_narrow(void *context, const struct search_scenario *space, bool *keep, struct error *error)
{
    struct tune_kernels *self = context;
    struct code_question code = {.needed = self->needs_code && tune_kernels_facts(self)->compiler_major == 0};
    struct error reason = {0};
    size_t kept = 0;
    self->codes = calloc(space->count, sizeof *self->codes);
    self->is_built = calloc(space->count, sizeof *self->is_built);
    if (self->codes == NULL || self->is_built == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu configurations", space->count);
    }
    for (size_t c = 0; c < space->count; c++) {
        struct measure_config config;
        keep[c] = config_at(self, space->values + c * space->variable_count, &config, &reason) == STATUS_OK &&
                  can_launch(self, &config, &reason) && has_code(self, &code, &config, &reason);
        if (keep[c]) {
            self->codes[kept++] = code_of(&config);
        }
    }
    self->config_count = kept;
    return kept > 0 ? STATUS_OK
                    : error_set(error, reason.status == STATUS_MISSING ? STATUS_MISSING : STATUS_BAD_DATA,
                                "none of %zu configurations can be built here, the last because: %s", space->count,
                                reason.text);
}

/* ---- runs ----------------------------------------------------------------------------------------------------------
 */

static const char *outcome_name(enum measure_outcome outcome)
{
    return outcome == MEASURE_OUTCOME_OK           ? "ok"
           : outcome == MEASURE_OUTCOME_INFEASIBLE ? "infeasible"
           : outcome == MEASURE_OUTCOME_TIMED_OUT  ? "timeout"
                                                   : "failed";
}

static void describe(struct tune_kernels *self, const struct measure_config *config, bool cold)
{
    const struct measure_facts *facts = tune_kernels_facts(self);
    const struct measure_result *result = self->result;
    const struct measure_sensors *sensors = &result->after;
    char text[CONFIG_TEXT_SIZE];
    const int major = result->compiler_major ? result->compiler_major : facts->compiler_major;
    const int minor = result->compiler_major ? result->compiler_minor : facts->compiler_minor;
    char compiler[32] = "unknown compiler";
    if (major > 0) {
        (void)snprintf(compiler, sizeof compiler, "NVRTC %d.%d", major, minor);
    }
    (void)snprintf(self->provenance, sizeof self->provenance,
                   "%s %s, driver %s, %s, SM %.0f MHz, memory %.0f MHz, %.0f C, %.0f W, throttle %llu; %s "
                   "inputs; seal %s; %s",
                   facts->gpu_name, facts->gpu_id, facts->driver_text[0] ? facts->driver_text : "unknown", compiler,
                   sensors->sm_clock_mhz, sensors->memory_clock_mhz, sensors->temperature_celsius, sensors->power_watts,
                   (unsigned long long)(result->before.throttle_reasons | sensors->throttle_reasons),
                   cold ? "cold" : "warm", campaign_session_seal(self->session),
                   measure_config_format(config, text, sizeof text));
}

/* The prediction of one configuration with the build that is in the session's cache. */
static void predict_again(struct tune_kernels *self, const struct question *question, const double *values,
                          double *log_value)
{
    struct measure_config config;
    struct calibrated_time time;
    struct layer_case layer;
    enum config_verdict verdict = CONFIG_CONSTRAINT;
    size_t constraint;
    struct error ignored = {0};
    if (config_at(self, values, &config, &ignored) == STATUS_OK &&
        campaign_session_compile(self->session, &config, self->result) &&
        scenario_evaluate(self->evaluator, values, &verdict, &constraint, &layer, &ignored) == STATUS_OK &&
        verdict == CONFIG_OK && measure_resources_take(self->result, &layer)) {
        question_predict_layer(question, &layer, &time);
        *log_value = time.layer.feasible && time.layer.time_s > 0 ? log(time.layer.time_s) : *log_value;
    }
}

bool tune_kernels_look(struct tune_kernels *self, const struct question *question, uint32_t config,
                       struct search_scenario *space)
{
    if (self->is_built[config]) {
        return false;
    }
    const double begun_s = clock_now_s();
    predict_again(self, question, space->values + (size_t)config * space->variable_count, &space->log_values[config]);
    self->compile_s += clock_now_s() - begun_s;
    self->compiles++;
    for (size_t c = 0; c < self->config_count; c++) {
        if (self->codes[c] == self->codes[config] && !self->is_built[c]) {
            self->is_built[c] = true;
            if (c != config) {
                predict_again(self, question, space->values + c * space->variable_count, &space->log_values[c]);
            }
        }
    }
    return true;
}

void tune_kernels_costs(const struct tune_kernels *self, double *costs_s)
{
    const double measure_s = self->runs > 0 ? self->measure_s / (double)self->runs : 0;
    const double compile_s = self->compiles > 0 ? self->compile_s / (double)self->compiles : 0;
    for (size_t c = 0; c < self->config_count && compile_s > COMPILING_MATTERS * measure_s; c++) {
        costs_s[c] = fmax(measure_s + (self->is_built[c] ? 0 : compile_s), 1e-6);
    }
}

enum status tune_kernels_run(struct tune_kernels *self, const double *values, struct tune_measurement *measurement,
                             struct error *error)
{
    struct measure_config config;
    *measurement = (struct tune_measurement){.outcome = "failed", .time_us = (double)NAN};
    enum status status = config_at(self, values, &config, error);
    status = status == STATUS_OK ? campaign_session_measure(self->session, &config, self->result, error) : status;
    if (status != STATUS_OK) {
        return status;
    }
    double compile_s, measure_s;
    campaign_session_seconds(self->session, &compile_s, &measure_s);
    self->measure_s += measure_s;
    self->runs++;
    const struct measure_result *result = self->result;
    if (result->outcome == MEASURE_OUTCOME_NOT_TRIED) { /* no failure of the configuration: nothing to learn from */
        return error_set(error, STATUS_MISSING, "%s: %s", measure_outcome_word(result->outcome), result->reason);
    }
    const struct measure_samples *samples = result->cold.count > 0 ? &result->cold : &result->warm;
    measurement->outcome = outcome_name(result->outcome);
    if (result->outcome == MEASURE_OUTCOME_OK && samples->count > 0) {
        measurement->time_us = samples->median_us;
        measurement->samples_us = samples->us;
        measurement->sample_count = samples->count;
    } else if (result->outcome == MEASURE_OUTCOME_OK) {
        measurement->outcome = "failed";
    }
    if (result->outcome != MEASURE_OUTCOME_OK) {
        (void)snprintf(measurement->note, sizeof measurement->note, "%s: %.150s", measure_outcome_word(result->outcome),
                       result->reason);
    }
    describe(self, &config, samples == &result->cold);
    measurement->provenance = self->provenance;
    return STATUS_OK;
}
