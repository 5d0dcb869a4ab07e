/* SPDX-License-Identifier: GPL-3.0-or-later
 * Each forecast is a row before its run, and the run names it. */
#include "cli/tune_ledger.h"

#include <math.h>
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
                                   .note = row->note};
    int64_t id = 0;
    enum status status = ledger_begin(tune->ledger, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = ledger_add(tune->ledger, LEDGER_RUN, &run, &id, error);
    if (status == STATUS_OK && isfinite(row->value)) {
        const struct ledger_sample sample = {.run = id, .ordinal = 1, .value = row->value};
        status = ledger_add(tune->ledger, LEDGER_SAMPLE, &sample, NULL, error);
    }
    if (status == STATUS_OK) {
        return ledger_commit(tune->ledger, error);
    }
    ledger_rollback(tune->ledger);
    return status;
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
