/* SPDX-License-Identifier: GPL-3.0-or-later
 * A judgement as rows of the ledger. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "cli/judge.h"

static enum status keep_samples(struct ledger *ledger, int64_t run, const double *values, size_t count, bool is_time,
                                struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct ledger_sample sample = {
            .run = run, .ordinal = (int64_t)i + 1, .value = is_time ? 1 / values[i] : values[i]};
        status = ledger_add(ledger, LEDGER_SAMPLE, &sample, NULL, error);
    }
    return status;
}

static enum status median_of(const double *values, size_t count, bool is_time, double *median, struct error *error)
{
    double *sorted = calloc(count, sizeof *sorted);
    if (sorted == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu runs", count);
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = is_time ? 1 / values[i] : values[i];
    }
    *median = median_in_place(sorted, count);
    free(sorted);
    return STATUS_OK;
}

static enum status keep_run(const struct judgement *judgement, const struct judged_row *row, bool is_variant,
                            struct ledger *ledger, struct error *error)
{
    const struct frozen_hypothesis *hypothesis = judgement->hypothesis;
    const double *values = is_variant ? row->condition->variant : row->condition->base;
    const size_t count = is_variant ? row->condition->variant_count : row->condition->base_count;
    const bool is_revert = judgement->options.is_revert;
    struct ledger_run run = {.scenario = hypothesis->scenario,
                             .hypothesis = hypothesis->id,
                             .prediction = is_variant && !is_revert && row->prediction != NULL && row->covered >= 0
                                               ? row->prediction->id
                                               : 0,
                             .role = !is_variant ? "base"
                                     : is_revert ? "revert"
                                                 : "variant",
                             .config = is_variant && !is_revert ? hypothesis->variant_config : hypothesis->base_config,
                             .condition = row->condition->text,
                             .quantity = judgement->files.metric,
                             .status = "ok",
                             .source = is_variant ? judgement->variant_path : judgement->base_path,
                             .provenance = "",
                             .note = judgement->data_is_older ? "older than the prediction" : ""};
    int64_t id = 0;
    enum status status = median_of(values, count, judgement->files.is_time, &run.median, error);
    if (status == STATUS_OK) {
        status = ledger_add(ledger, LEDGER_RUN, &run, &id, error);
    }
    return status == STATUS_OK ? keep_samples(ledger, id, values, count, judgement->files.is_time, error) : status;
}

static enum status keep_verdict(const struct judgement *judgement, const struct judged_row *row, struct ledger *ledger,
                                struct error *error)
{
    const struct effect_verdict *verdict = row->verdict;
    char text[200];
    (void)snprintf(text, sizeof text, "noise %.3g %% from %s; adjusted p %.3g", 100 * verdict->noise_sd,
                   effect_noise_name(verdict->noise), verdict->adjusted_p);
    const struct ledger_verdict record = {.hypothesis = judgement->hypothesis->id,
                                          .prediction = row->prediction != NULL ? row->prediction->id : 0,
                                          .kind = judgement->options.is_revert ? "revert" : "effect",
                                          .condition = row->condition->text,
                                          .outcome = effect_outcome_name(verdict->outcome),
                                          .ratio = verdict->ratio,
                                          .low = verdict->low,
                                          .high = verdict->high,
                                          .level = judgement->options.level,
                                          .p_value = verdict->p_value,
                                          .smallest_effect = verdict->smallest_effect,
                                          .covered = row->covered,
                                          .text = text};
    return ledger_add(ledger, LEDGER_VERDICT, &record, NULL, error);
}

struct same_run {
    double median;
    bool is_there;
};

static enum status compare_median(void *context, const void *record, struct error *error)
{
    (void)error;
    struct same_run *same = context;
    same->is_there = same->is_there || ((const struct ledger_run *)record)->median == same->median;
    return STATUS_OK;
}

/* The same results of a condition are kept once, whatever file they come from: their prediction would be scored twice.
 */
static enum status is_kept(const struct judgement *judgement, const struct judged_row *row, struct ledger *ledger,
                           bool *is_there, struct error *error)
{
    struct same_run same = {0};
    const struct ledger_filter filters[] = {{"hypothesis", judgement->hypothesis->id, NULL},
                                            {"condition", 0, row->condition->text},
                                            {"role", 0, judgement->options.is_revert ? "revert" : "variant"},
                                            {NULL, 0, NULL}};
    enum status status = median_of(row->condition->variant, row->condition->variant_count, judgement->files.is_time,
                                   &same.median, error);
    if (status == STATUS_OK) {
        status = ledger_each(ledger, LEDGER_RUN, filters, false, compare_median, &same, error);
    }
    *is_there = same.is_there;
    return status;
}

static enum status keep_condition(struct judgement *judgement, const struct judged_row *row, struct ledger *ledger,
                                  struct error *error)
{
    bool is_there = false;
    enum status status = is_kept(judgement, row, ledger, &is_there, error);
    if (status != STATUS_OK || is_there) {
        judgement->kept_before += is_there;
        return status;
    }
    status = keep_run(judgement, row, false, ledger, error);
    if (status == STATUS_OK) {
        status = keep_run(judgement, row, true, ledger, error);
    }
    return status == STATUS_OK ? keep_verdict(judgement, row, ledger, error) : status;
}

enum status judgement_keep(struct judgement *judgement, struct ledger *ledger, struct error *error)
{
    enum status status = ledger_begin(ledger, error);
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < judgement->files.count && status == STATUS_OK; i++) {
        status = keep_condition(judgement, &judgement->rows[i], ledger, error);
    }
    if (status != STATUS_OK) {
        ledger_rollback(ledger);
        return status;
    }
    return ledger_commit(ledger, error);
}
