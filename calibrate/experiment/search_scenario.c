/* SPDX-License-Identifier: GPL-3.0-or-later
 * One pass over the knob space; what cannot run never becomes a candidate. */
#include "calibrate/experiment/search_scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "calibrate/config_judge.h"

/* Narrower than any model is. */
static const double log_sigma_least = 0.02;

struct collector {
    struct search_scenario *out;
    const struct sweep_request *request;
    struct config_judge *judge;
    struct sweep_entry *entry; /* large */
    double *sigmas;
    size_t capacity;
    struct error first; /* why the first configuration that is infeasible is so; STATUS_OK: there is none yet */
    size_t invalid;     /* whose expressions failed */
};

static enum status no_room(size_t configs, struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "no memory for %zu configurations", configs);
}

static enum status grow(struct collector *self, struct error *error)
{
    struct search_scenario *out = self->out;
    if (out->count < self->capacity) {
        return STATUS_OK;
    }
    if (out->count == SEARCH_SCENARIO_CONFIGS_MAX) {
        return error_set(error, STATUS_LIMIT,
                         "more than %d feasible configurations: narrow them with --where or --vary",
                         SEARCH_SCENARIO_CONFIGS_MAX);
    }
    const size_t capacity = self->capacity ? 2 * self->capacity : 1024;
    uint64_t *indices = realloc(out->indices, capacity * sizeof *indices);
    if (!indices) {
        return no_room(capacity, error);
    }
    out->indices = indices;
    double *values = realloc(out->values, capacity * out->variable_count * sizeof *values);
    if (!values) {
        return no_room(capacity, error);
    }
    out->values = values;
    double *logs = realloc(out->log_values, capacity * sizeof *logs);
    if (!logs) {
        return no_room(capacity, error);
    }
    out->log_values = logs;
    double *floors = realloc(out->log_floors, capacity * sizeof *floors);
    if (!floors) {
        return no_room(capacity, error);
    }
    out->log_floors = floors;
    double *sigmas = realloc(self->sigmas, capacity * sizeof *sigmas);
    if (!sigmas) {
        return no_room(capacity, error);
    }
    self->sigmas = sigmas;
    self->capacity = capacity;
    return STATUS_OK;
}

/* Prediction and its sigma; false when it is no number. */
static bool predicted(const struct collector *self, double *log_value, double *sigma)
{
    const struct sweep_entry *entry = self->entry;
    const double z = normal_quantile(0.5 + self->request->parameters->interval_level / 2);
    const bool is_time = self->request->objective == SWEEP_OBJECTIVE_TIME;
    const double value = is_time ? entry->layer.time_s : entry->serving.throughput_tokens_per_s;
    const double lo = is_time ? entry->layer.time_lo_s : entry->serving.throughput_lo_tokens_per_s;
    const double hi = is_time ? entry->layer.time_hi_s : entry->serving.throughput_hi_tokens_per_s;
    *log_value = is_time ? log(value) : -log(value);
    *sigma = lo > 0 && hi > lo ? log(hi / lo) / (2 * z) : log_sigma_least;
    return value > 0 && isfinite(value);
}

/* Of the kernels one after the other; -HUGE_VAL where nothing is known. */
static double log_floor(const struct layer_time *layer)
{
    double floor_s = 0;
    for (uint32_t k = 0; k < layer->kernel_count; k++) {
        const double kernel_s = fmax(layer->kernels[k].dram_floor_s, layer->kernels[k].tensor_floor_s);
        floor_s += kernel_s > 0 ? kernel_s : 0;
    }
    return floor_s > 0 ? log(floor_s) : -HUGE_VAL;
}

static void count_infeasible(struct collector *self, enum config_outcome outcome)
{
    struct search_scenario *out = self->out;
    const struct scenario *scenario = self->request->scenario;
    out->filtered_count += outcome == CONFIG_OUTCOME_FILTERED;
    out->infeasible_count += outcome != CONFIG_OUTCOME_FILTERED;
    self->invalid += outcome == CONFIG_OUTCOME_INVALID;
    if (outcome == CONFIG_OUTCOME_FILTERED || self->first.status != STATUS_OK) {
        return;
    }
    if (outcome == CONFIG_OUTCOME_INVALID) {
        self->first = self->judge->error;
    } else if (outcome == CONFIG_OUTCOME_CONSTRAINT) {
        const struct scenario_constraint *constraint = scenario_constraint_get(scenario, self->judge->constraint);
        (void)error_set(&self->first, STATUS_BAD_DATA, "the scenario requires %s", constraint->expression);
    } else {
        const struct gpu_device *device = scenario_device(scenario);
        const struct kernel_case *kernel = &self->judge->layer.kernels[self->judge->time.infeasible_kernel];
        struct occupancy occupancy;
        occupancy_compute(&device->limits, &kernel->launch, &occupancy);
        (void)error_set(&self->first, STATUS_BAD_DATA, "kernel %s on %s: %s", kernel->name, device->name,
                        launch_fault_text(occupancy.fault));
    }
}

static enum status collect_one(struct collector *self, uint64_t index, struct error *error)
{
    struct search_scenario *out = self->out;
    double values[CONFIG_VARIABLES_MAX], key = 0, log_value = 0, sigma = 0;
    enum config_outcome outcome = CONFIG_OUTCOME_INVALID;
    config_space_values(&out->configs, index, values);
    enum status status = config_judge_rate(self->judge, values, &outcome, &key, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (outcome == CONFIG_OUTCOME_FEASIBLE) {
        config_judge_describe(self->judge, values, index, key, self->entry);
    }
    if (outcome != CONFIG_OUTCOME_FEASIBLE || !predicted(self, &log_value, &sigma)) {
        count_infeasible(self, outcome);
        return STATUS_OK;
    }
    status = grow(self, error);
    if (status == STATUS_OK) {
        out->indices[out->count] = index;
        memcpy(out->values + out->count * out->variable_count, values, out->variable_count * sizeof *values);
        out->log_values[out->count] = log_value;
        out->log_floors[out->count] = log_floor(&self->entry->layer);
        self->sigmas[out->count++] = sigma;
    }
    return status;
}

/* A failed expression is a mistake in the input, as for a sweep. */
static enum status none_left(const struct collector *self, struct error *error)
{
    const struct search_scenario *out = self->out;
    const unsigned long long all = out->configs.config_count;
    if (self->invalid == all) {
        *error = self->first;
        return error->status;
    }
    if (out->filtered_count == all) {
        return error_set(error, STATUS_BAD_DATA, "--where leaves out all of the %llu configurations", all);
    }
    if (out->filtered_count > 0) {
        return error_set(error, STATUS_BAD_DATA,
                         "none of the %llu configurations is left: --where leaves out %zu, the others cannot be "
                         "launched, the first because: %s",
                         all, out->filtered_count, self->first.text);
    }
    return error_set(error, STATUS_BAD_DATA, "none of the %llu configurations can be launched, the first because: %s",
                     all, self->first.text);
}

static enum status collect_all(struct collector *self, struct error *error)
{
    struct search_scenario *out = self->out;
    enum status status = config_judge_create(self->request, &self->judge, error);
    for (uint64_t index = 0; index < out->configs.config_count && status == STATUS_OK; index++) {
        status = collect_one(self, index, error);
    }
    if (status == STATUS_OK && out->count == 0) {
        status = none_left(self, error);
    }
    if (status == STATUS_OK) {
        out->prior =
            (struct search_prior){out->log_values, fmax(median_in_place(self->sigmas, out->count), log_sigma_least)};
        status = search_space_init(&out->space, out->values, out->count, out->variable_count, NULL, error);
    }
    config_judge_free(self->judge);
    return status;
}

enum status search_scenario_init(struct search_scenario *self, const struct sweep_request *request, struct error *error)
{
    struct collector collector = {.out = self, .request = request, .entry = malloc(sizeof *collector.entry)};
    *self = (struct search_scenario){.variable_count = scenario_variable_count(request->scenario)};
    enum status status =
        collector.entry ? config_space_init(&self->configs, request->scenario, request->varied, request->varied_count,
                                            request->values,
                                            request->config_limit ? request->config_limit : SWEEP_CONFIG_LIMIT, error)
                        : error_set(error, STATUS_NO_MEMORY, "no memory for a configuration");
    if (status == STATUS_OK) {
        status = collect_all(&collector, error);
    }
    free(collector.entry);
    free(collector.sigmas);
    if (status != STATUS_OK) {
        search_scenario_release(self);
    }
    return status;
}

void search_scenario_release(struct search_scenario *self)
{
    free(self->indices);
    free(self->values);
    free(self->log_values);
    free(self->log_floors);
    search_space_release(&self->space);
    *self = (struct search_scenario){0};
}

enum status search_scenario_keep(struct search_scenario *self, const bool *keep, struct error *error)
{
    size_t kept = 0;
    for (size_t c = 0; c < self->count; c++) {
        if (keep[c]) {
            self->indices[kept] = self->indices[c];
            self->log_values[kept] = self->log_values[c];
            self->log_floors[kept] = self->log_floors[c];
            memmove(self->values + kept * self->variable_count, self->values + c * self->variable_count,
                    self->variable_count * sizeof *self->values);
            kept++;
        }
    }
    self->count = kept;
    search_space_release(&self->space);
    return search_space_init(&self->space, self->values, kept, self->variable_count, NULL, error);
}

/* Whether a variable may have this value here; *place: of a varied one in its list. */
static bool is_in_space(const struct config_space *configs, size_t v, bool is_varied, double value, uint32_t *place)
{
    const struct scenario_variable *variable = scenario_variable_get(configs->scenario, v);
    *place = 0;
    if (!is_varied) {
        return value == configs->values[v];
    }
    while (*place < variable->value_count && variable->values[*place] != value) {
        (*place)++;
    }
    return *place < variable->value_count;
}

static bool is_varied_at(const struct config_space *configs, uint32_t varied, size_t v)
{
    return varied < configs->varied_count && configs->varied[varied] == v;
}

/* Mixed-radix index of the values; false where one is not listed, or a fixed one differs. */
static bool index_of(const struct config_space *configs, const double *values, uint64_t *index)
{
    uint32_t varied = 0;
    *index = 0;
    for (size_t v = 0; v < scenario_variable_count(configs->scenario); v++) {
        const bool is_varied = is_varied_at(configs, varied, v);
        uint32_t place;
        if (!is_in_space(configs, v, is_varied, values[v], &place)) {
            return false;
        }
        if (is_varied) {
            *index += place * configs->strides[varied++];
        }
    }
    return true;
}

uint32_t search_scenario_find(const struct search_scenario *self, const double *values)
{
    uint64_t wanted;
    size_t low = 0, high = self->count;
    if (!index_of(&self->configs, values, &wanted)) {
        return UINT32_MAX;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (self->indices[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < self->count && self->indices[low] == wanted ? (uint32_t)low : UINT32_MAX;
}

/* Of values that are a configuration: cannot it be launched, or does `where` leave it out? */
static enum search_absence judge_absence(const struct sweep_request *request, const double *values)
{
    struct config_judge *judge = NULL;
    struct error ignored = {0};
    enum config_outcome outcome = CONFIG_OUTCOME_LAUNCH;
    double key;
    if (request->where != NULL && config_judge_create(request, &judge, &ignored) == STATUS_OK &&
        config_judge_rate(judge, values, &outcome, &key, &ignored) != STATUS_OK) {
        outcome = CONFIG_OUTCOME_LAUNCH;
    }
    config_judge_free(judge);
    return outcome == CONFIG_OUTCOME_FILTERED ? SEARCH_ABSENCE_WHERE : SEARCH_ABSENCE_LAUNCH;
}

enum search_absence search_scenario_absence(const struct search_scenario *self, const struct sweep_request *request,
                                            const double *values)
{
    const struct config_space *configs = &self->configs;
    enum search_absence absence = SEARCH_ABSENCE_COUNT;
    uint32_t varied = 0, place;
    for (size_t v = 0; v < self->variable_count; v++) {
        const bool is_varied = is_varied_at(configs, varied, v);
        varied += is_varied;
        if (is_in_space(configs, v, is_varied, values[v], &place)) {
            continue;
        }
        const enum search_absence found = !scenario_variable_get(configs->scenario, v)->is_knob
                                              ? SEARCH_ABSENCE_WORKLOAD
                                          : is_varied ? SEARCH_ABSENCE_VALUE
                                                      : SEARCH_ABSENCE_KNOB;
        absence = found < absence ? found : absence; /* another workload says more than a knob */
    }
    return absence < SEARCH_ABSENCE_COUNT ? absence : judge_absence(request, values);
}
