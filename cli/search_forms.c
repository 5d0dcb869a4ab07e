/* SPDX-License-Identifier: GPL-3.0-or-later
 * Every form of the model at hand, asked of the same configurations. */
#include "cli/search_forms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "sim/cta_simulator.h"

enum {
    BEST_OF_EACH = 12,
    CANDIDATES_MAX = 4096,
    SIMULATED_RUNS_MAX = 256, /* of measured candidates; the others are few */
    EVENTS_MAX = 2000000
};
#define NOISE_ASSUMED 0.02 /* of a run, where nobody repeated anything (JUDGE-1) */

static enum status no_memory(struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "no memory to compare forms of the model");
}

/* ---- forms over the whole space ------------------------------------------------------------------------------------
 */

static void name_form(struct search_forms *self, const char *name)
{
    (void)snprintf(self->names[self->count], SEARCH_FORM_NAME_SIZE, "%s", name);
}

/* The request's predictions for every configuration of the search; NaN where it has none. A form that cannot be asked
 * (a request that no configuration passes) is left out. */
static enum status add_form(struct search_forms *self, const struct search_question *search, const char *name,
                            const struct sweep_request *request, struct error *error)
{
    const struct search_scenario *space = &search->space;
    struct search_scenario other = {0};
    struct error reason = {0};
    double values[QUESTION_VALUES_MAX];
    if (self->count == CONFLICT_FORMS_MAX) {
        return STATUS_OK;
    }
    double *out = malloc(space->count * sizeof *out);
    if (out == NULL) {
        return no_memory(error);
    }
    const enum status status = search_scenario_init(&other, request, &reason);
    for (size_t c = 0; c < space->count && status == STATUS_OK; c++) {
        memcpy(values, space->values + c * space->variable_count, space->variable_count * sizeof *values);
        for (uint32_t i = 0; i < search->unsettled_count; i++) {
            values[search->unsettled[i]] = request->values[search->unsettled[i]];
        }
        const uint32_t found = search_scenario_find(&other, values);
        out[c] = found == UINT32_MAX ? (double)NAN : other.log_values[found];
    }
    if (status == STATUS_OK) {
        name_form(self, name);
        self->log_sigmas[self->count] = other.prior.log_sigma;
        self->whole[self->count++] = out;
    } else {
        free(out);
    }
    search_scenario_release(&other);
    if (status == STATUS_NO_MEMORY) {
        *error = reason;
        return status;
    }
    return STATUS_OK;
}

static enum status add_used(struct search_forms *self, const struct search_question *search, struct error *error)
{
    const struct search_scenario *space = &search->space;
    self->whole[0] = malloc(space->count * sizeof *self->whole[0]);
    if (self->whole[0] == NULL) {
        return no_memory(error);
    }
    memcpy(self->whole[0], space->log_values, space->count * sizeof *self->whole[0]);
    self->log_sigmas[0] = space->prior.log_sigma;
    name_form(self, search->question->calibration != NULL ? "calibrated" : "uncalibrated");
    self->count = 1;
    return STATUS_OK;
}

static enum status add_without_calibration(struct search_forms *self, const struct search_question *search,
                                           struct error *error)
{
    const struct question *question = search->question;
    struct sweep_request request = search_question_request(search);
    struct model_parameters parameters;
    if (question->calibration == NULL) {
        return STATUS_OK;
    }
    request.calibrated = NULL;
    enum status status = add_form(self, search, "calibrated, form alone", &request, error);
    if (status == STATUS_OK) {
        model_parameters_init(&parameters);
        parameters.interval_level = question->parameters.interval_level;
        request.parameters = &parameters;
        request.extrapolate_all = false;
        status = add_form(self, search, "uncalibrated", &request, error);
    }
    return status;
}

/* Laws that the points do not determine are no forms. */
static enum status add_step_forms(struct search_forms *self, const struct search_question *search, struct error *error)
{
    const struct serving_model *own = scenario_serving(search->question->scenario);
    enum status status = STATUS_OK;
    for (int form = 0; form < STEP_TIME_FORM_COUNT && search->is_throughput && status == STATUS_OK; form++) {
        const char *name = step_time_form_name((enum step_time_form)form);
        struct serving_model serving = *own;
        struct sweep_request request = search_question_request(search);
        struct step_law *law = calloc(1, sizeof *law);
        struct error reason = {0};
        char text[SEARCH_FORM_NAME_SIZE];
        if (law == NULL) {
            return no_memory(error);
        }
        (void)snprintf(text, sizeof text, "step time %s", name);
        request.serving = &serving;
        if ((enum step_time_form)form != search->question->serving.base.form &&
            step_law_settle(&serving, name, false, law, &reason) == STATUS_OK) {
            status = add_form(self, search, text, &request, error);
        }
        free(law);
    }
    return status;
}

static enum status add_unsettled(struct search_forms *self, const struct search_question *search, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < search->unsettled_count && status == STATUS_OK; i++) {
        const struct scenario_variable *variable =
            scenario_variable_get(search->question->scenario, search->unsettled[i]);
        for (size_t v = 0; v < variable->value_count && status == STATUS_OK; v++) {
            struct sweep_request request = search_question_request(search);
            double values[QUESTION_VALUES_MAX];
            char name[SEARCH_FORM_NAME_SIZE], number[32];
            memcpy(values, search->values, sizeof values);
            (void)snprintf(name, sizeof name, "%s=%s", variable->name, number_format(variable->values[v], number));
            if (variable->values[v] == search->values[search->unsettled[i]]) {
                (void)snprintf(self->names[0] + strlen(self->names[0]), SEARCH_FORM_NAME_SIZE - strlen(self->names[0]),
                               " with %s", name);
                continue;
            }
            values[search->unsettled[i]] = variable->values[v];
            request.values = values;
            status = add_form(self, search, name, &request, error);
        }
    }
    return status;
}

/* ---- candidates ----------------------------------------------------------------------------------------------------
 */

static void mark_best(const double *values, size_t count, bool *marks)
{
    size_t best[BEST_OF_EACH], kept = 0;
    for (size_t c = 0; c < count; c++) {
        if (!isfinite(values[c]) || (kept == BEST_OF_EACH && values[c] >= values[best[kept - 1]])) {
            continue;
        }
        size_t place = kept < BEST_OF_EACH ? kept++ : kept - 1;
        for (; place > 0 && values[best[place - 1]] > values[c]; place--) {
            best[place] = best[place - 1];
        }
        best[place] = c;
    }
    for (size_t i = 0; i < kept; i++) {
        marks[best[i]] = true;
    }
}

static enum status choose_candidates(struct search_forms *self, const struct search_question *search,
                                     const struct search_proposal *proposals, size_t proposal_count,
                                     struct error *error)
{
    const struct search_scenario *space = &search->space;
    const uint32_t own = search_scenario_find(space, search->question->values);
    size_t run_count = 0;
    const struct search_run *runs = search_engine_runs(search->engine, &run_count);
    bool *marks = calloc(space->count, sizeof *marks);
    self->candidates = malloc(space->count * sizeof *self->candidates);
    if (marks == NULL || self->candidates == NULL) {
        free(marks);
        return no_memory(error);
    }
    for (size_t f = 0; f < self->count; f++) {
        mark_best(self->whole[f], space->count, marks);
    }
    for (size_t i = 0; i < proposal_count; i++) {
        marks[proposals[i].config] = true;
    }
    for (size_t i = 0; i < run_count; i++) {
        marks[runs[i].config] = true;
    }
    if (own != UINT32_MAX) {
        marks[own] = true;
    }
    for (size_t c = 0; c < space->count && self->candidate_count < CANDIDATES_MAX; c++) {
        if (marks[c]) {
            self->candidates[self->candidate_count++] = (uint32_t)c;
        }
    }
    free(marks);
    return STATUS_OK;
}

/* ---- simulator -----------------------------------------------------------------------------------------------------
 */

static double simulated(struct question *question, const struct simulated_machine *machine, const double *values)
{
    const struct cta_simulation_options options = {.seed = 1, .event_limit = EVENTS_MAX};
    struct cta_simulation *result = malloc(sizeof *result);
    struct error ignored = {0};
    struct layer_case layer;
    enum config_verdict verdict = CONFIG_CONSTRAINT;
    size_t constraint;
    double log_value = (double)NAN;
    if (result != NULL &&
        scenario_evaluate(question->evaluator, values, &verdict, &constraint, &layer, &ignored) == STATUS_OK &&
        verdict == CONFIG_OK && cta_simulate(machine, &layer, &options, result, &ignored) == STATUS_OK) {
        log_value = log(result->time_s);
    }
    free(result);
    return log_value;
}

static bool did_run(const struct search_question *search, uint32_t config)
{
    size_t count = 0;
    const struct search_run *runs = search_engine_runs(search->engine, &count);
    bool did = false;
    for (size_t i = 0; i < count && !did; i++) {
        did = runs[i].config == config;
    }
    return did;
}

/* NaN where it cannot say anything; it has the typical error of the form in use. */
static void add_simulator(struct search_forms *self, struct search_question *search)
{
    const struct search_scenario *space = &search->space;
    struct simulated_machine machine;
    struct error ignored = {0};
    size_t run_count = 0;
    if (search->is_throughput || self->count == CONFLICT_FORMS_MAX ||
        simulated_machine_init(&machine, search->question->device, &search->question->parameters, &ignored) !=
            STATUS_OK) {
        return;
    }
    for (size_t c = 0; c < self->candidate_count; c++) {
        const uint32_t config = self->candidates[c];
        const bool asked = !did_run(search, config) || run_count++ < SIMULATED_RUNS_MAX;
        self->values[self->count * self->candidate_count + c] =
            asked ? simulated(search->question, &machine, space->values + (size_t)config * space->variable_count)
                  : (double)NAN;
    }
    name_form(self, "simulator");
    self->log_sigmas[self->count++] = self->log_sigmas[0];
}

/* ---- conflict ------------------------------------------------------------------------------------------------------
 */

/* Means of ln(value) over runs; closed: measured or failed. */
static void take_runs(const struct search_forms *self, const struct search_question *search, double *measured,
                      bool *is_closed)
{
    size_t count = 0;
    const struct search_run *runs = search_engine_runs(search->engine, &count);
    for (size_t c = 0; c < self->candidate_count; c++) {
        double sum = 0;
        size_t good = 0;
        is_closed[c] = false;
        for (size_t i = 0; i < count; i++) {
            if (runs[i].config == self->candidates[c]) {
                is_closed[c] = true;
                good += !runs[i].failed;
                sum += runs[i].failed ? 0 : log(runs[i].value);
            }
        }
        measured[c] = good > 0 ? sum / (double)good : (double)NAN;
    }
}

static enum status settle(struct search_forms *self, const struct search_question *search, double noise,
                          struct error *error)
{
    const uint32_t own = search_scenario_find(&search->space, search->question->values);
    struct conflict_form forms[CONFLICT_FORMS_MAX];
    double *measured = malloc(2 * self->candidate_count * sizeof *measured);
    bool *is_closed = malloc(self->candidate_count * sizeof *is_closed);
    if (measured == NULL || is_closed == NULL) {
        free(measured);
        free(is_closed);
        return no_memory(error);
    }
    double *costs = measured + self->candidate_count;
    struct conflict_request request = {.form_count = self->count,
                                       .forms = forms,
                                       .candidate_count = self->candidate_count,
                                       .measured = measured,
                                       .is_closed = is_closed,
                                       .costs_s = costs,
                                       .anchor = SIZE_MAX,
                                       .noise = noise > 0 ? noise : NOISE_ASSUMED,
                                       .least_gain = log1p(search->options.stop_gain)};
    take_runs(self, search, measured, is_closed);
    for (size_t c = 0; c < self->candidate_count; c++) {
        costs[c] = search->costs_s[self->candidates[c]];
        if (self->candidates[c] == own) {
            request.anchor = c;
        }
    }
    for (size_t f = 0; f < self->count; f++) {
        forms[f] = (struct conflict_form){self->values + f * self->candidate_count, self->log_sigmas[f]};
    }
    form_conflict_find(&request, &self->conflict);
    free(measured);
    free(is_closed);
    return STATUS_OK;
}

bool search_forms_run(const struct search_forms *self, struct search_question *search, struct search_proposal *proposal)
{
    if (!self->conflict.found) {
        return false;
    }
    const uint32_t config = self->candidates[self->conflict.run];
    if (!search_engine_describe(search->engine, config, proposal)) {
        *proposal = (struct search_proposal){.config = config,
                                             .value = exp(self->conflict.log_values[0]),
                                             .value_lo = (double)NAN,
                                             .value_hi = (double)NAN,
                                             .feasible_probability = 1,
                                             .best_probability = (double)NAN,
                                             .gain_fraction = (double)NAN,
                                             .cost_s = search->costs_s[config],
                                             .gain_per_s = (double)NAN};
    }
    proposal->reason = SEARCH_REASON_CONFLICT;
    return true;
}

static enum status gather_values(struct search_forms *self, struct search_question *search, struct error *error)
{
    self->values = malloc(CONFLICT_FORMS_MAX * self->candidate_count * sizeof *self->values);
    if (self->values == NULL) {
        return no_memory(error);
    }
    for (size_t f = 0; f < self->count; f++) {
        for (size_t c = 0; c < self->candidate_count; c++) {
            self->values[f * self->candidate_count + c] = self->whole[f][self->candidates[c]];
        }
    }
    add_simulator(self, search);
    return STATUS_OK;
}

enum status search_forms_find(struct search_forms *self, struct search_question *search,
                              const struct search_proposal *proposals, size_t proposal_count, double noise,
                              struct error *error)
{
    if (search->space.count > SEARCH_FORMS_CONFIGS_MAX) {
        return STATUS_OK;
    }
    enum status status = add_used(self, search, error);
    status = status == STATUS_OK ? add_without_calibration(self, search, error) : status;
    status = status == STATUS_OK ? add_step_forms(self, search, error) : status;
    status = status == STATUS_OK ? add_unsettled(self, search, error) : status;
    status = status == STATUS_OK ? choose_candidates(self, search, proposals, proposal_count, error) : status;
    status = status == STATUS_OK ? gather_values(self, search, error) : status;
    return status == STATUS_OK && self->count > 1 ? settle(self, search, noise, error) : status;
}

void search_forms_release(struct search_forms *self)
{
    for (size_t f = 0; f < CONFLICT_FORMS_MAX; f++) {
        free(self->whole[f]);
    }
    free(self->candidates);
    free(self->values);
    *self = (struct search_forms){0};
}
