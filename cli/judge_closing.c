/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a refutation closes: the levers that moved the right way while the speed fell, and values further along. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/judge.h"

/* Levers that people pull because more of them should hide latency. */
static const enum mechanism_kind levers[] = {MECHANISM_OCCUPANCY, MECHANISM_RESIDENCY, MECHANISM_BUFFERS};

struct closing {
    struct judgement *judgement;
    const char *path;
    struct question_options options;
    struct number_list concurrencies; /* of the refuted conditions, WHATIF_ROWS_MAX at most */
    size_t refuted_concurrencies;     /* how many there are */
    struct text_buffer at;            /* "at C=1, C=8" */
};

static enum status open_question(const struct closing *closing, const char *const *assignments, size_t count,
                                 struct question *question, struct whatif *whatif, struct error *error)
{
    struct question_options options = closing->options;
    options.assignments.count = 0;
    for (size_t i = 0; i < count && i < TEXT_LIST_MAX; i++) {
        options.assignments.items[options.assignments.count++] = assignments[i];
    }
    enum status status = question_open(question, closing->path, &options, error);
    return status == STATUS_OK ? whatif_make(question, &closing->concurrencies, whatif, error) : status;
}

static void close_levers(const struct closing *closing, const struct whatif *whatif)
{
    const struct variant_effect *effect = &whatif->rows[0].variant.effect;
    struct judgement *judgement = closing->judgement;
    for (uint32_t i = 0; i < effect->mechanism_count; i++) {
        const struct mechanism *mechanism = &effect->mechanisms[i];
        for (size_t k = 0; k < sizeof levers / sizeof levers[0]; k++) {
            const bool pulled = mechanism->kind == levers[k] && mechanism->variant > mechanism->base;
            char before[32], after[32];
            if (pulled && judgement->hypothesis->claim == EFFECT_RAISES) {
                text_buffer_append_format(
                    &judgement->closes, "more %s as the way to speed %s: it went from %s to %s and the speed fell\n",
                    mechanism_name(mechanism->kind), closing->at.text, number_format_digits(mechanism->base, 3, before),
                    number_format_digits(mechanism->variant, 3, after));
            }
        }
    }
}

/* -1, 0, 1: what the model says of the same knob at `value`, at every refuted condition: worse, not sure, cannot run.
 */
enum further {
    FURTHER_WORSE,
    FURTHER_OPEN,
    FURTHER_IMPOSSIBLE
};

static enum further judge_further(const struct closing *closing, const char *knob, double value)
{
    struct question *question = calloc(1, sizeof *question);
    struct whatif whatif = {0};
    struct error error = {0};
    char assignment[128], number[32];
    enum further result = FURTHER_OPEN;
    (void)snprintf(assignment, sizeof assignment, "%s=%s", knob, number_format(value, number));
    const char *const assignments[] = {assignment};
    if (question != NULL && open_question(closing, assignments, 1, question, &whatif, &error) == STATUS_OK) {
        const bool wants_up = closing->judgement->hypothesis->claim == EFFECT_RAISES;
        result = whatif.feasible ? FURTHER_WORSE : FURTHER_IMPOSSIBLE;
        for (size_t i = 0; i < whatif.row_count && result == FURTHER_WORSE; i++) {
            const double slower = whatif.rows[i].variant.effect.probability_slower;
            result = (wants_up ? slower : 1 - slower) >= 0.75 ? FURTHER_WORSE : FURTHER_OPEN;
        }
    }
    whatif_release(&whatif);
    if (question != NULL) {
        question_release(question);
    }
    free(question);
    return result;
}

/* Other listed values of the knob that was changed. */
static void close_values(const struct closing *closing, const struct question *question, size_t index)
{
    const struct scenario_variable *knob = scenario_variable_get(question->scenario, index);
    struct judgement *judgement = closing->judgement;
    const double base = question->base[index], variant = question->values[index];
    char number[32];
    for (uint32_t i = 0; i < knob->value_count; i++) {
        const double value = knob->values[i];
        if (value == base || value == variant) {
            continue;
        }
        number_format(value, number);
        if ((value - variant) * (variant - base) <= 0) {
            text_buffer_append_format(&judgement->leaves_open, "%s=%s: it lies in another direction\n", knob->name,
                                      number);
            continue;
        }
        const enum further further = judge_further(closing, knob->name, value);
        text_buffer_append_format(
            further == FURTHER_OPEN ? &judgement->leaves_open : &judgement->closes, "%s=%s: %s\n", knob->name, number,
            further == FURTHER_WORSE        ? "further in the same direction, and the model expects no "
                                              "turn there"
            : further == FURTHER_IMPOSSIBLE ? "cannot be launched"
                                            : "further in the same direction, but the model does not rule out a turn");
    }
}

static void leave_open(const struct closing *closing, const struct question *question, size_t changed_count)
{
    struct judgement *judgement = closing->judgement;
    size_t others = 0;
    for (size_t i = 0; i < scenario_knob_count(question->scenario); i++) {
        if (question->values[i] == question->base[i]) {
            text_buffer_append_format(&judgement->leaves_open, "%s%s", others++ > 0 ? ", " : "",
                                      scenario_variable_get(question->scenario, i)->name);
        }
    }
    if (others > 0) {
        text_buffer_append(&judgement->leaves_open, ": not touched by this change\n");
    }
    if (closing->refuted_concurrencies > closing->concurrencies.count) {
        text_buffer_append_format(&judgement->leaves_open,
                                  "what the model says between: it was asked at %zu of the %zu refuted concurrencies\n",
                                  closing->concurrencies.count, closing->refuted_concurrencies);
    }
    if (changed_count > 1) {
        text_buffer_append_format(&judgement->leaves_open, "each of the %zu changes alone: they were made together\n",
                                  changed_count);
    }
    text_buffer_append_format(&judgement->leaves_open, "conditions other than %s, and other GPUs\n",
                              closing->at.text + 3);
}

/* Conditions may differ in something else: each concurrency once. */
static void add_concurrency(struct number_list *list, double concurrency)
{
    bool is_new = list->count < NUMBER_LIST_MAX;
    for (size_t i = 0; i < list->count; i++) {
        is_new = is_new && list->items[i] != concurrency;
    }
    if (is_new) {
        list->items[list->count++] = concurrency;
    }
}

/* The model is asked at no more of them than it answers at once: spread evenly, the first and the last among them. */
static void thin_conditions(struct closing *closing)
{
    struct number_list *list = &closing->concurrencies;
    closing->refuted_concurrencies = list->count;
    if (list->count > WHATIF_ROWS_MAX) {
        for (size_t i = 0; i < WHATIF_ROWS_MAX; i++) {
            list->items[i] = list->items[i * (list->count - 1) / (WHATIF_ROWS_MAX - 1)];
        }
        list->count = WHATIF_ROWS_MAX;
    }
}

static void list_conditions(struct closing *closing)
{
    const struct judgement *judgement = closing->judgement;
    for (size_t i = 0; i < judgement->files.count; i++) {
        const struct judged_row *row = &judgement->rows[i];
        if (row->verdict->outcome != EFFECT_REFUTED) {
            continue;
        }
        text_buffer_append_format(&closing->at, "%s%s", closing->at.length == 0 ? "at " : ", ",
                                  row->condition->text[0] != '\0' ? row->condition->text : "what was run");
        if (row->prediction != NULL && !isnan(row->prediction->concurrency)) {
            add_concurrency(&closing->concurrencies, row->prediction->concurrency);
        }
    }
    thin_conditions(closing);
}

/* "a=1 b=2" into its parts; cuts text. */
static size_t split(char *text, const char **parts, size_t most)
{
    size_t count = 0;
    for (char *at = text; *at != '\0' && count < most;) {
        parts[count++] = at;
        while (*at != '\0' && *at != ' ') {
            at++;
        }
        if (*at == ' ') {
            *at++ = '\0';
        }
    }
    return count;
}

enum status judgement_close(struct judgement *judgement, struct error *error)
{
    struct frozen_hypothesis *hypothesis = judgement->hypothesis;
    struct closing closing = {
        .judgement = judgement,
        .path = hypothesis->scenario_path,
        .options = {
            .level = QUESTION_LEVEL_DEFAULT, .form_only = true, .free_values = true, .device = hypothesis->device}};
    char changes[sizeof hypothesis->changes];
    const char *parts[TEXT_LIST_MAX];
    struct whatif whatif = {0};
    struct question *question = calloc(1, sizeof *question);
    struct error reason = {0};
    if (question == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for what the verdict closes");
    }
    (void)snprintf(changes, sizeof changes, "%s", hypothesis->changes);
    const size_t count = split(changes, parts, TEXT_LIST_MAX);
    list_conditions(&closing);
    if (open_question(&closing, parts, count, question, &whatif, &reason) == STATUS_OK && whatif.feasible) {
        close_levers(&closing, &whatif);
        for (size_t i = 0; count == 1 && i < scenario_knob_count(question->scenario); i++) {
            if (question->values[i] != question->base[i]) {
                close_values(&closing, question, i);
            }
        }
        leave_open(&closing, question, count);
    } else {
        text_buffer_append_format(&judgement->leaves_open, "the scenario %s cannot be asked any more: %s\n",
                                  closing.path, reason.text);
    }
    whatif_release(&whatif);
    question_release(question);
    free(question);
    text_buffer_release(&closing.at);
    return judgement->closes.failed || judgement->leaves_open.failed
               ? error_set(error, STATUS_NO_MEMORY, "no memory for what the verdict closes")
               : STATUS_OK;
}
