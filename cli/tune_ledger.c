/* SPDX-License-Identifier: GPL-3.0-or-later
 * Each forecast is a row before its run, and the run names it. */
#include "cli/tune_ledger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum status tune_ledger_open(struct tune_ledger *tune, const char *path, const struct question *question,
                             const char *source, struct error *error)
{
    *tune = (struct tune_ledger){.source = source};
    enum status status = ledger_place_open(path, true, &tune->ledger, error);
    if (status == STATUS_OK) {
        status = ledger_keep_question(tune->ledger, question, &tune->scenario, &tune->calibration, error);
    }
    return status;
}

/* "batch=16 length=4096": the workload. */
static void condition_text(const struct search_question *search, const double *values, struct text_buffer *out)
{
    const struct scenario *scenario = search->question->scenario;
    for (size_t v = scenario_knob_count(scenario); v < scenario_variable_count(scenario); v++) {
        char number[32];
        text_buffer_append_format(out, "%s%s=%s", out->length ? " " : "", scenario_variable_get(scenario, v)->name,
                                  number_format(values[v], number));
    }
}

static enum status freeze(struct tune_ledger *tune, const struct search_question *search, const struct tune_row *row,
                          const char *config, const char *condition, struct error *error)
{
    char model[64], hash[17];
    const struct ledger_prediction prediction = {.scenario = tune->scenario,
                                                 .calibration = tune->calibration,
                                                 .config = config,
                                                 .condition = condition,
                                                 .quantity = search_value_name(search),
                                                 .value = row->forecast,
                                                 .low = row->forecast_lo,
                                                 .high = row->forecast_hi,
                                                 .level = search->options.interval_level,
                                                 .mechanism = row->note,
                                                 .model = model_text(search->question, model),
                                                 .input_hash = input_hash_text(search->question, row->values, hash)};
    tune->prediction = 0;
    return isfinite(row->forecast) ? ledger_add(tune->ledger, LEDGER_PREDICTION, &prediction, &tune->prediction, error)
                                   : STATUS_OK;
}

static enum status record(struct tune_ledger *tune, const struct search_question *search, const struct tune_row *row,
                          const char *config, const char *condition, struct error *error)
{
    const struct ledger_run run = {.scenario = tune->scenario,
                                   .prediction = tune->prediction,
                                   .role = "tune",
                                   .config = config,
                                   .condition = condition,
                                   .quantity = search_value_name(search),
                                   .status = row->outcome,
                                   .median = row->value,
                                   .source = tune->source,
                                   .provenance = row->provenance,
                                   .note = row->note};
    int64_t id = 0;
    enum status status = ledger_begin(tune->ledger, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = ledger_add(tune->ledger, LEDGER_RUN, &run, &id, error);
    const double *samples = row->samples != NULL ? row->samples : &row->value;
    const size_t count = !isfinite(row->value) ? 0 : row->samples != NULL ? row->sample_count : 1;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct ledger_sample sample = {.run = id, .ordinal = (int64_t)i + 1, .value = samples[i]};
        status = ledger_add(tune->ledger, LEDGER_SAMPLE, &sample, NULL, error);
    }
    if (status == STATUS_OK) {
        return ledger_commit(tune->ledger, error);
    }
    ledger_rollback(tune->ledger);
    return status;
}

/* --- what is there from before ---------------------------------------------------------------------------------------
 */

/* "name=value name=value" over values; false where a name is none of the scenario's or a value no number. */
static bool take_assignments(const struct scenario *scenario, const char *text, double *values)
{
    while (*text != '\0') {
        char name[128], number[64];
        const size_t word = strcspn(text, " "), equals = strcspn(text, "=");
        if (equals >= word || equals >= sizeof name || word - equals > sizeof number) {
            return false;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)equals, text);
        (void)snprintf(number, sizeof number, "%.*s", (int)(word - equals - 1), text + equals + 1);
        const long variable = scenario_variable_find(scenario, name);
        if (variable < 0 || number_parse(number, &values[variable]) != STATUS_OK) {
            return false;
        }
        text += word + strspn(text + word, " ");
    }
    return true;
}

struct reader {
    struct tune_ledger *tune;
    struct search_question *search;
    struct search_run run;
};

/* One of another level says nothing of today's intervals. */
static enum status take_forecast(void *context, const void *record, struct error *error)
{
    const struct ledger_prediction *prediction = record;
    struct reader *reader = context;
    (void)error;
    if (fabs(prediction->level - reader->search->options.interval_level) < 1e-6) {
        reader->run.forecast_lo = prediction->low;
        reader->run.forecast_hi = prediction->high;
    }
    return STATUS_OK;
}

static enum status take_run(void *context, const void *record, struct error *error)
{
    struct reader *reader = context;
    const struct ledger_run *row = record;
    struct search_question *search = reader->search;
    struct search_run *run = &reader->run;
    double values[QUESTION_VALUES_MAX];
    *run = (struct search_run){.config = UINT32_MAX, .forecast_lo = (double)NAN, .forecast_hi = (double)NAN};
    memcpy(values, search->space.configs.values, sizeof *values * search->space.variable_count);
    if (take_assignments(search->question->scenario, row->config, values) &&
        take_assignments(search->question->scenario, row->condition, values)) {
        run->config = search_scenario_find(&search->space, values);
    }
    if (run->config == UINT32_MAX) {
        search_question_leave(search, values, "ledger: run", (unsigned)row->id);
        return STATUS_OK;
    }
    enum status status = STATUS_OK;
    if (row->prediction > 0) {
        const struct ledger_filter filters[] = {{"id", row->prediction, NULL}, {NULL, 0, NULL}};
        status = ledger_each(reader->tune->ledger, LEDGER_PREDICTION, filters, false, take_forecast, reader, error);
    }
    const double lo = run->forecast_lo, hi = run->forecast_hi;
    run->forecast_lo = search_engine_value(search, search->is_throughput ? hi : lo);
    run->forecast_hi = search_engine_value(search, search->is_throughput ? lo : hi);
    run->failed = strcmp(row->status, "ok") != 0 || !isfinite(row->median);
    run->value = run->failed ? (double)NAN : search_engine_value(search, row->median);
    search->read_runs++;
    return status == STATUS_OK ? search_engine_tell(search->engine, run, error) : status;
}

enum status tune_ledger_read(struct tune_ledger *tune, struct search_question *search, struct error *error)
{
    const struct ledger_filter filters[] = {{"scenario", tune->scenario, NULL},
                                            {"role", 0, "tune"},
                                            {"source", 0, tune->source},
                                            {"quantity", 0, search_value_name(search)},
                                            {NULL, 0, NULL}};
    struct reader reader = {.tune = tune, .search = search};
    return ledger_each(tune->ledger, LEDGER_RUN, filters, false, take_run, &reader, error);
}

enum status tune_ledger_keep(struct tune_ledger *tune, const struct search_question *search, const struct tune_row *row,
                             struct error *error)
{
    struct text_buffer config = {0}, condition = {0};
    config_text(search->question, row->values, false, &config);
    condition_text(search, row->values, &condition);
    enum status status = config.failed || condition.failed
                             ? error_set(error, STATUS_NO_MEMORY, "no memory for a row of the ledger")
                             : STATUS_OK;
    if (status == STATUS_OK) {
        status = strcmp(row->outcome, "frozen") == 0
                     ? freeze(tune, search, row, config.text, condition.text ? condition.text : "", error)
                     : record(tune, search, row, config.text, condition.text ? condition.text : "", error);
    }
    text_buffer_release(&config);
    text_buffer_release(&condition);
    return status;
}
