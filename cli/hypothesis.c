/* SPDX-License-Identifier: GPL-3.0-or-later
 * Freezing a prediction before there is data, and reading it back. */
#include "cli/hypothesis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/quantity_text.h"

/* ---- claims ---------------------------------------------------------------------------------------------------------
 */

static const char *const claim_names[] = {"raises", "lowers", "changes"};

const char *effect_claim_name(enum effect_claim claim)
{
    return claim_names[claim];
}

bool effect_claim_parse(const char *text, enum effect_claim *claim)
{
    for (int i = 0; i <= EFFECT_CHANGES; i++) {
        if (strcmp(claim_names[i], text) == 0) {
            *claim = (enum effect_claim)i;
            return true;
        }
    }
    return false;
}

/* Name and unit of each quantity; a time and a share have their own units. */
static const struct mechanism_words {
    const char *name, *unit;
    const char *(*text)(double value, char out[QUANTITY_TEXT_SIZE]);
} mechanism_words[MECHANISM_COUNT] = {
    [MECHANISM_REPLICATION] = {"tile replication", " copies", quantity_number},
    [MECHANISM_SPILLS] = {"spills", " B per thread and iteration", quantity_number},
    [MECHANISM_RESIDENCY] = {"residency", " CTAs per SM", quantity_number},
    [MECHANISM_OCCUPANCY] = {"occupancy", "", quantity_percent},
    [MECHANISM_WAVES] = {"waves", "", quantity_number},
    [MECHANISM_BUFFERS] = {"loads in flight", " B per SM", quantity_number},
    [MECHANISM_WORK] = {"iterations per CTA", "", quantity_number},
    [MECHANISM_COMBINE] = {"kernels after the first", "", quantity_time},
};

void hypothesis_mechanism(const struct variant_effect *effect, char *out, size_t out_size)
{
    struct text_buffer text = {0};
    for (uint32_t i = 0; i < effect->mechanism_count; i++) {
        const struct mechanism *mechanism = &effect->mechanisms[i];
        const struct mechanism_words *words = &mechanism_words[mechanism->kind];
        char before[QUANTITY_TEXT_SIZE], after[QUANTITY_TEXT_SIZE];
        if (isnan(mechanism->base) && isnan(mechanism->variant)) {
            text_buffer_append_format(&text, "%s%s unknown", i > 0 ? ", " : "", words->name);
            continue;
        }
        if (mechanism->base == mechanism->variant) { /* here for what the other warp layout would do */
            text_buffer_append_format(&text, "%s%s depends on the warp layout", i > 0 ? ", " : "", words->name);
            continue;
        }
        text_buffer_append_format(&text, "%s%s %s -> %s%s", i > 0 ? ", " : "", words->name,
                                  words->text(mechanism->base, before), words->text(mechanism->variant, after),
                                  words->unit);
    }
    (void)snprintf(out, out_size, "%s", text.text != NULL ? text.text : "");
    text_buffer_release(&text);
}

/* ---- freezing -------------------------------------------------------------------------------------------------------
 */

struct freezer {
    struct ledger *ledger;
    const struct whatif *whatif;
    int64_t scenario, calibration, hypothesis;
    const char *model;
    struct text_buffer base, variant, changes;
};

struct late_search {
    struct ledger *ledger;
    const char *scenario, *device;
    bool is_same; /* the scenario of the row at hand */
    int64_t run;  /* the first that was found */
};

static enum status compare_scenario(void *context, const void *record, struct error *error)
{
    (void)error;
    struct late_search *search = context;
    const struct ledger_scenario *scenario = record;
    search->is_same = strcmp(scenario->name, search->scenario) == 0 && strcmp(scenario->device, search->device) == 0;
    return STATUS_OK;
}

static enum status find_run(void *context, const void *record, struct error *error)
{
    struct late_search *search = context;
    const struct ledger_run *run = record;
    if (search->run != 0 || strcmp(run->status, "ok") != 0) {
        return STATUS_OK;
    }
    const struct ledger_filter filters[] = {{"id", run->scenario, NULL}, {NULL, 0, NULL}};
    search->is_same = false;
    enum status status = ledger_each(search->ledger, LEDGER_SCENARIO, filters, true, compare_scenario, search, error);
    search->run = search->is_same ? run->id : 0;
    return status;
}

/* A prediction counts when it stood before its data. */
static enum status refuse_late(struct freezer *freezer, struct error *error)
{
    const struct question *question = freezer->whatif->question;
    struct late_search search = {freezer->ledger, scenario_name(question->scenario), question->device->name, false, 0};
    const struct ledger_filter filters[] = {{"config", 0, freezer->variant.text}, {NULL, 0, NULL}};
    enum status status = ledger_each(freezer->ledger, LEDGER_RUN, filters, false, find_run, &search, error);
    if (status == STATUS_OK && search.run != 0) {
        status = error_set(error, STATUS_TOLERANCE_FAILED,
                           "run %lld of the ledger measured %s already: a prediction would come after its data",
                           (long long)search.run, freezer->changes.text);
    }
    return status;
}

/* The throughput is claimed of where the model has a step, else the kernels; what cannot be launched has no effect to
 * ask. */
static bool is_of_step(const struct whatif *whatif)
{
    for (size_t i = 0; i < whatif->row_count; i++) {
        if (whatif->rows[i].variant.has_effect) {
            return isfinite(whatif->rows[i].variant.effect.throughput_change_fraction.center);
        }
    }
    return scenario_concurrency_variable(whatif->question->scenario) >= 0;
}

/* Speed of the variant over the base: of the step where there is one, else of the kernels. */
static struct interval speed_ratio(const struct variant_effect *effect, bool of_step)
{
    const struct interval change = effect->throughput_change_fraction, kernel = effect->kernel_ratio;
    return of_step ? (struct interval){1 + change.center, 1 + change.lo, 1 + change.hi}
                   : (struct interval){1 / kernel.center, 1 / kernel.hi, 1 / kernel.lo};
}

/* "C=8"; in a scenario without concurrency its workload, "batch=16 length=4096", as far as the change leaves it. */
static void condition_text(const struct whatif *whatif, const struct whatif_row *row, char out[CONDITION_TEXT_MAX])
{
    const struct question *question = whatif->question;
    const struct scenario *scenario = question->scenario;
    const long variable = scenario_concurrency_variable(scenario);
    char number[32];
    size_t length = 0;
    out[0] = '\0';
    if (variable >= 0) {
        (void)snprintf(out, CONDITION_TEXT_MAX, "%s=%s", scenario_variable_get(scenario, (size_t)variable)->name,
                       number_format(row->concurrency, number));
        return;
    }
    for (size_t v = scenario_knob_count(scenario); v < scenario_variable_count(scenario); v++) {
        const char *name = scenario_variable_get(scenario, v)->name;
        number_format(question->values[v], number);
        if (question->values[v] == question->base[v] &&
            length + strlen(name) + strlen(number) + 2 < CONDITION_TEXT_MAX) {
            length += (size_t)snprintf(out + length, CONDITION_TEXT_MAX - length, "%s%s=%s", length > 0 ? " " : "",
                                       name, number);
        }
    }
}

static enum status freeze_row(struct freezer *freezer, const struct whatif_row *row, int64_t *id, struct error *error)
{
    const struct question *question = freezer->whatif->question;
    const struct variant_effect *effect = &row->variant.effect;
    const bool is_known = row->variant.has_effect, of_step = is_of_step(freezer->whatif);
    struct interval ratio = {(double)NAN, (double)NAN, (double)NAN};
    char condition[CONDITION_TEXT_MAX], mechanism[512], hash[17];
    condition_text(freezer->whatif, row, condition);
    if (is_known) {
        ratio = speed_ratio(effect, of_step);
        hypothesis_mechanism(effect, mechanism, sizeof mechanism);
    } else {
        (void)snprintf(mechanism, sizeof mechanism, "cannot be launched: %.480s",
                       row->base.feasible ? row->variant.reason : row->base.reason);
    }
    const struct ledger_prediction record = {.hypothesis = freezer->hypothesis,
                                             .scenario = freezer->scenario,
                                             .calibration = freezer->calibration,
                                             .config = freezer->variant.text,
                                             .condition = condition,
                                             .quantity = of_step ? "throughput_ratio" : "kernel_speed_ratio",
                                             .value = ratio.center,
                                             .low = ratio.lo,
                                             .high = ratio.hi,
                                             .level = question->level,
                                             .extrapolating = row->variant.extrapolating,
                                             .mechanism = mechanism,
                                             .model = freezer->model,
                                             .input_hash = input_hash_text(question, question->values, hash)};
    return ledger_add(freezer->ledger, LEDGER_PREDICTION, &record, id, error);
}

/* A variant that cannot be launched needs no run. */
static enum status reject(struct freezer *freezer, int64_t prediction, struct error *error)
{
    char text[600];
    (void)snprintf(text, sizeof text, "rejected without a run: %.560s", freezer->whatif->reason);
    const struct ledger_verdict record = {.hypothesis = freezer->hypothesis,
                                          .prediction = prediction,
                                          .kind = "effect",
                                          .outcome = "refuted",
                                          .ratio = (double)NAN,
                                          .low = (double)NAN,
                                          .high = (double)NAN,
                                          .level = (double)NAN,
                                          .p_value = (double)NAN,
                                          .smallest_effect = (double)NAN,
                                          .covered = -1,
                                          .text = text};
    return ledger_add(freezer->ledger, LEDGER_VERDICT, &record, NULL, error);
}

struct same_search {
    struct ledger *ledger;
    const struct ledger_hypothesis *asked;
    const struct whatif *whatif;
    size_t predictions;
    bool differs;
    int64_t id; /* of the hypothesis that says the same; 0 */
};

static enum status compare_prediction(void *context, const void *record, struct error *error)
{
    (void)error;
    struct same_search *search = context;
    const struct ledger_prediction *row = record;
    if (search->predictions < search->whatif->row_count) {
        char condition[CONDITION_TEXT_MAX];
        condition_text(search->whatif, &search->whatif->rows[search->predictions], condition);
        search->differs =
            search->differs || row->level != search->whatif->question->level || strcmp(row->condition, condition) != 0;
    }
    search->predictions++;
    return STATUS_OK;
}

static enum status find_same(void *context, const void *record, struct error *error)
{
    struct same_search *search = context;
    const struct ledger_hypothesis *row = record, *asked = search->asked;
    if (search->id != 0 || row->scenario != asked->scenario || row->calibration != asked->calibration ||
        strcmp(row->statement, asked->statement) != 0 || strcmp(row->base_config, asked->base_config) != 0 ||
        strcmp(row->direction, asked->direction) != 0 || strcmp(row->model, asked->model) != 0 ||
        strcmp(row->input_hash, asked->input_hash) != 0) {
        return STATUS_OK;
    }
    const struct ledger_filter of_it[] = {{"hypothesis", row->id, NULL}, {NULL, 0, NULL}};
    search->predictions = 0;
    search->differs = false;
    enum status status =
        ledger_each(search->ledger, LEDGER_PREDICTION, of_it, false, compare_prediction, search, error);
    search->id = !search->differs && search->predictions == search->whatif->row_count ? row->id : 0;
    return status;
}

/* The same statement, inputs, model and conditions predict the same again: a second row would only count twice. */
static enum status refuse_same(const struct freezer *freezer, const struct ledger_hypothesis *asked,
                               struct error *error)
{
    struct same_search search = {.ledger = freezer->ledger, .asked = asked, .whatif = freezer->whatif};
    const struct ledger_filter filters[] = {{"changes", 0, asked->changes}, {NULL, 0, NULL}};
    enum status status = ledger_each(freezer->ledger, LEDGER_HYPOTHESIS, filters, false, find_same, &search, error);
    if (status == STATUS_OK && search.id != 0) {
        status =
            error_set(error, STATUS_TOLERANCE_FAILED,
                      "hypothesis %lld of the ledger is the same, with the same predictions (occam ledger show %lld)",
                      (long long)search.id, (long long)search.id);
    }
    return status;
}

static enum status freeze_all(struct freezer *freezer, const char *statement, enum effect_claim claim,
                              struct error *error)
{
    const struct whatif *whatif = freezer->whatif;
    char hash[17];
    int64_t prediction = 0;
    enum status status =
        ledger_keep_question(freezer->ledger, whatif->question, &freezer->scenario, &freezer->calibration, error);
    if (status == STATUS_OK) {
        status = refuse_late(freezer, error);
    }
    const bool of_step = is_of_step(whatif);
    const struct ledger_hypothesis record = {.scenario = freezer->scenario,
                                             .calibration = freezer->calibration,
                                             .statement = statement,
                                             .changes = freezer->changes.text,
                                             .base_config = freezer->base.text,
                                             .quantity = of_step ? "throughput" : "kernel speed",
                                             .direction = effect_claim_name(claim),
                                             .model = freezer->model,
                                             .input_hash =
                                                 input_hash_text(whatif->question, whatif->question->values, hash)};
    if (status == STATUS_OK) {
        status = refuse_same(freezer, &record, error);
    }
    if (status == STATUS_OK) {
        status = ledger_add(freezer->ledger, LEDGER_HYPOTHESIS, &record, &freezer->hypothesis, error);
    }
    for (size_t i = 0; i < whatif->row_count && status == STATUS_OK; i++) {
        status = freeze_row(freezer, &whatif->rows[i], &prediction, error);
    }
    if (status == STATUS_OK && !whatif->feasible && !whatif->base_is_to_blame) {
        status = reject(freezer, prediction, error);
    }
    return status;
}

enum status hypothesis_freeze(struct ledger *ledger, const struct whatif *whatif, const char *statement,
                              enum effect_claim claim, int64_t *id, struct error *error)
{
    const struct question *question = whatif->question;
    char model[64];
    struct freezer freezer = {.ledger = ledger, .whatif = whatif, .model = model_text(question, model)};
    config_text(question, question->base, false, &freezer.base);
    config_text(question, question->values, false, &freezer.variant);
    config_text(question, question->values, true, &freezer.changes);
    enum status status = STATUS_OK;
    if (freezer.base.length >= CONFIG_TEXT_MAX || freezer.variant.length >= CONFIG_TEXT_MAX) {
        status = error_set(error, STATUS_LIMIT, "the knobs of one configuration are longer than %d bytes",
                           CONFIG_TEXT_MAX - 1);
    }
    for (const char *at = statement; *at != '\0' && status == STATUS_OK; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            status = error_set(error, STATUS_USAGE, "the statement holds a control character");
        }
    }
    if (strlen(statement) > 255 && status == STATUS_OK) {
        status = error_set(error, STATUS_USAGE, "the statement is longer than 255 bytes");
    }
    if (freezer.base.failed || freezer.variant.failed || freezer.changes.failed) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for the hypothesis");
    }
    if (status == STATUS_OK) {
        status = ledger_begin(ledger, error);
    }
    if (status == STATUS_OK) {
        status = freeze_all(&freezer, statement, claim, error);
        if (status == STATUS_OK) {
            status = ledger_commit(ledger, error);
        } else {
            ledger_rollback(ledger);
        }
    }
    text_buffer_release(&freezer.base);
    text_buffer_release(&freezer.variant);
    text_buffer_release(&freezer.changes);
    *id = freezer.hypothesis;
    return status;
}

/* ---- reading back ---------------------------------------------------------------------------------------------------
 */

#define KEEP(target, text) (void)snprintf(target, sizeof(target), "%s", text)

static enum status keep_hypothesis(void *context, const void *record, struct error *error)
{
    (void)error;
    struct frozen_hypothesis *hypothesis = context;
    const struct ledger_hypothesis *row = record;
    hypothesis->id = row->id;
    hypothesis->scenario = row->scenario;
    KEEP(hypothesis->created, row->created);
    KEEP(hypothesis->statement, row->statement);
    KEEP(hypothesis->changes, row->changes);
    KEEP(hypothesis->base_config, row->base_config);
    KEEP(hypothesis->quantity, row->quantity);
    hypothesis->is_of_kernel = strcmp(row->quantity, "throughput") != 0;
    return effect_claim_parse(row->direction, &hypothesis->claim)
               ? STATUS_OK
               : error_set(error, STATUS_BAD_DATA, "hypothesis %lld claims \"%s\", which is no direction",
                           (long long)row->id, row->direction);
}

static enum status keep_prediction(void *context, const void *record, struct error *error)
{
    struct frozen_hypothesis *hypothesis = context;
    const struct ledger_prediction *row = record;
    if (hypothesis->prediction_count == HYPOTHESIS_PREDICTIONS_MAX) {
        return error_set(error, STATUS_LIMIT, "hypothesis %lld has more than %d predictions", (long long)hypothesis->id,
                         HYPOTHESIS_PREDICTIONS_MAX);
    }
    struct frozen_prediction *prediction = &hypothesis->predictions[hypothesis->prediction_count++];
    const char *equals = hypothesis->is_of_kernel ? NULL : strrchr(row->condition, '=');
    if (strlen(row->config) >= CONFIG_TEXT_MAX) {
        return error_set(error, STATUS_LIMIT, "prediction %lld: its configuration is longer than %d bytes",
                         (long long)row->id, CONFIG_TEXT_MAX - 1);
    }
    *prediction = (struct frozen_prediction){.id = row->id,
                                             .concurrency = (double)NAN,
                                             .value = row->value,
                                             .low = row->low,
                                             .high = row->high,
                                             .level = row->level};
    if (equals != NULL) {
        (void)snprintf(prediction->variable, sizeof prediction->variable, "%.*s", (int)(equals - row->condition),
                       row->condition);
    }
    if (equals != NULL && number_parse(equals + 1, &prediction->concurrency) != STATUS_OK) {
        prediction->concurrency = (double)NAN;
    }
    KEEP(prediction->condition, row->condition);
    KEEP(prediction->mechanism, row->mechanism);
    KEEP(hypothesis->variant_config, row->config);
    return STATUS_OK;
}

static enum status keep_place(void *context, const void *record, struct error *error)
{
    (void)error;
    struct frozen_hypothesis *hypothesis = context;
    const struct ledger_scenario *row = record;
    KEEP(hypothesis->scenario_path, strncmp(row->path, "built in", 8) == 0 ? row->name : row->path);
    KEEP(hypothesis->device, row->device);
    return STATUS_OK;
}

enum status hypothesis_read(struct ledger *ledger, int64_t id, struct frozen_hypothesis *hypothesis,
                            struct error *error)
{
    *hypothesis = (struct frozen_hypothesis){0};
    const struct ledger_filter self[] = {{"id", id, NULL}, {NULL, 0, NULL}},
                               of_it[] = {{"hypothesis", id, NULL}, {NULL, 0, NULL}};
    enum status status = ledger_each(ledger, LEDGER_HYPOTHESIS, self, false, keep_hypothesis, hypothesis, error);
    if (status == STATUS_OK && hypothesis->id == 0) {
        return error_set(error, STATUS_NOT_FOUND, "ledger %s has no hypothesis %lld", ledger_path(ledger),
                         (long long)id);
    }
    if (status == STATUS_OK) {
        status = ledger_each(ledger, LEDGER_PREDICTION, of_it, false, keep_prediction, hypothesis, error);
    }
    const struct ledger_filter place[] = {{"id", hypothesis->scenario, NULL}, {NULL, 0, NULL}};
    return status == STATUS_OK ? ledger_each(ledger, LEDGER_SCENARIO, place, true, keep_place, hypothesis, error)
                               : status;
}
