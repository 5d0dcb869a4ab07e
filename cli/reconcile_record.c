/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam reconcile` as JSON and CSV; the keys are a promise (docs/DATA.md). */
#include <math.h>

#include "cli/evidence_remarks.h"
#include "cli/inspect_evidence.h"
#include "cli/reconcile.h"
#include "cli/report.h"
#include "evidence/claims/claim_rank.h"

static void record_value(struct report *report, const struct claim_value *value)
{
    report_number(report, "lo", value->is_known ? value->low : (double)NAN);
    report_number(report, "hi", value->is_known ? value->high : (double)NAN);
}

static void record_claim_place(struct report *report, const struct kernel_claim *claim)
{
    report_string(report, "source", claim_source_name(claim->source));
    report_string(report, "file", claim->file);
    report_integer(report, "line", claim->line);
    report_string(report, "kind", claim_class_name(claim_rank_of(claim->source)->kind));
    report_integer(report, "trust_order", claim_rank_of(claim->source)->order);
    report_string(report, "reason", claim_rank_of(claim->source)->reason);
}

static void record_figures(struct report *report, const struct reconciliation *self, const struct claim_case *item)
{
    report_begin_rows(report, "figures");
    for (size_t i = 0; i < item->comparison_count; i++) {
        const struct claim_comparison *comparison = &item->comparisons[i];
        report_begin_object(report, NULL);
        report_string(report, "figure", claim_figure_name(comparison->figure));
        record_value(report, &comparison->readings[0].value);
        report_bool(report, "conflict", comparison->reading_count > 1);
        report_bool(report, "decided", !comparison->is_undecided);
        report_begin_rows(report, "readings");
        for (size_t r = 0; r < comparison->reading_count; r++) {
            const struct claim_reading *reading = &comparison->readings[r];
            report_begin_object(report, NULL);
            record_value(report, &reading->value);
            report_integer(report, "claims", (int64_t)reading->count);
            record_claim_place(report, &self->claims->items[reading->lead]);
            report_end(report);
        }
        report_end(report);
        report_end(report);
    }
    report_end(report);
}

static void record_claims(struct report *report, const struct reconciliation *self, const struct claim_case *item)
{
    report_begin_rows(report, "claims");
    for (size_t i = 0; i < item->claim_count; i++) {
        const struct kernel_claim *claim = &self->claims->items[item->claims[i]];
        report_begin_object(report, NULL);
        record_claim_place(report, claim);
        for (int figure = 0; figure < CLAIM_FIGURE_COUNT; figure++) {
            report_begin_object(report, claim_figure_name((enum claim_figure)figure));
            record_value(report, &claim->figures[figure]);
            report_end(report);
        }
        report_number(report, "time_us", inspect_time_us(claim));
        report_integer(report, "times", (int64_t)claim->time.count);
        report_bool(report, "time_profiled", claim->time.is_profiled);
        report_string(report, "note", claim->note);
        report_end(report);
    }
    report_end(report);
}

static void record_occupancy(struct report *report, const struct reconcile_conclusion *conclusion)
{
    char reason[LAUNCH_FAULT_REASON_SIZE];
    report_begin_rows(report, "occupancy");
    for (size_t d = 0; d < conclusion->device_count; d++) {
        report_begin_object(report, NULL);
        report_string(report, "device", conclusion->devices[d]->name);
        report_begin_rows(report, "stories");
        for (size_t s = 0; s < conclusion->story_count; s++) {
            const struct claim_occupancy *occupancy = reconcile_occupancy(conclusion, d, s);
            report_begin_object(report, NULL);
            report_integer(report, "ctas_per_sm_lo", occupancy->ctas_low);
            report_integer(report, "ctas_per_sm_hi", occupancy->ctas_high);
            report_number(report, "occupancy_fraction", occupancy->occupancy_fraction);
            report_integer(report, "charged_smem_bytes", (int64_t)occupancy->charged_smem_bytes);
            report_integer(report, "smem_over_limit_bytes", occupancy->smem_over_limit_bytes);
            report_string(report, "reason", reconcile_fault_text(conclusion, d, s, reason, sizeof reason));
            report_bool(report, "registers_known", !occupancy->registers_unknown);
            report_bool(report, "threads_known", !occupancy->threads_unknown);
            report_bool(report, "smem_known", !occupancy->smem_unknown);
            report_end(report);
        }
        report_end(report);
        report_end(report);
    }
    report_end(report);
}

static void record_knobs(struct report *report, const char *key, const struct reconciliation *self,
                         const double *values, const bool *chosen)
{
    report_begin_object(report, key);
    for (size_t i = 0; i < scenario_knob_count(self->question.scenario); i++) {
        if (chosen == NULL || chosen[i]) {
            report_number(report, scenario_variable_get(self->question.scenario, i)->name, values[i]);
        }
    }
    report_end(report);
}

static void record_neighbour(struct report *report, const char *key, const struct reconciliation *self,
                             const struct implied_neighbour *neighbour)
{
    report_begin_object(report, key);
    report_number(report, "smem_bytes", neighbour->is_known ? neighbour->smem_bytes : (double)NAN);
    if (neighbour->is_known) {
        record_knobs(report, "knobs", self, neighbour->values, NULL);
    }
    report_end(report);
}

static void record_implied(struct report *report, const struct reconciliation *self, const struct claim_case *item,
                           const struct reconcile_conclusion *conclusion)
{
    report_begin_rows(report, "implied");
    for (size_t s = 0; s < conclusion->story_count && conclusion->has_implied; s++) {
        const struct claim_implied *implied = &conclusion->implied[s];
        report_begin_object(report, NULL);
        record_value(report, &item->stories[s].figures[CLAIM_LAUNCH_SMEM]);
        report_integer(report, "matches", (int64_t)implied->matches);
        report_bool(report, "threads_ignored", implied->threads_ignored);
        if (implied->matches > 0) {
            record_knobs(report, "knobs", self, implied->values, implied->is_set);
            record_knobs(report, "nearest", self, implied->values, NULL);
            report_begin_array(report, "open_knobs");
            for (size_t i = 0; i < scenario_knob_count(self->question.scenario); i++) {
                if (implied->is_open[i]) {
                    report_string(report, NULL, scenario_variable_get(self->question.scenario, i)->name);
                }
            }
            report_end(report);
        } else {
            record_neighbour(report, "below", self, &implied->below);
            record_neighbour(report, "above", self, &implied->above);
        }
        if (conclusion->time[s].is_known) {
            report_number(report, "time_us", conclusion->time[s].time_s * 1e6);
            report_number(report, "time_ratio", conclusion->time[s].ratio.center);
            report_number(report, "time_ratio_lo", conclusion->time[s].ratio.lo);
            report_number(report, "time_ratio_hi", conclusion->time[s].ratio.hi);
        }
        report_end(report);
    }
    report_end(report);
}

static void record_flips(struct report *report, const struct reconciliation *self,
                         const struct reconcile_conclusion *conclusion)
{
    report_begin_rows(report, "flips");
    for (size_t s = 1; s < conclusion->story_count && conclusion->has_implied; s++) {
        for (size_t i = 0; i < conclusion->flips[s].count; i++) {
            const struct implied_flip *flip = &conclusion->flips[s].items[i];
            report_begin_object(report, NULL);
            report_string(report, "knob", scenario_variable_get(self->question.scenario, flip->knob)->name);
            report_number(report, "value", flip->value);
            report_integer(report, "story", (int64_t)s);
            report_bool(report, "fits_trusted", flip->fits[0]);
            report_bool(report, "fits_other", flip->fits[1]);
            report_number(report, "smem_bytes_trusted", flip->smem_bytes[0]);
            report_number(report, "smem_bytes_other", flip->smem_bytes[1]);
            report_integer(report, "smem_over_limit_bytes_trusted", flip->smem_over_limit_bytes[0]);
            report_integer(report, "smem_over_limit_bytes_other", flip->smem_over_limit_bytes[1]);
            report_end(report);
        }
    }
    report_end(report);
}

static void record_sentences(struct report *report, const char *key, const struct reconcile_sentences *sentences)
{
    report_begin_array(report, key);
    for (size_t i = 0; sentences != NULL && i < sentences->count; i++) {
        report_string(report, NULL, sentences->items[i]);
    }
    report_end(report);
}

static void record_case(struct report *report, const struct reconciliation *self, size_t index)
{
    const struct claim_case *item = &self->cases.items[index];
    const struct reconcile_conclusion *conclusion = &self->conclusions[index];
    const bool is_conflict = conclusion->verdict == RECONCILE_CONFLICT;
    report_begin_object(report, NULL);
    report_string(report, "kernel", item->name);
    report_integer(report, "compute_capability", item->arch);
    report_string(report, "device", item->device[0] != '\0' ? item->device : NULL);
    report_bool(report, "launched", item->is_launched);
    report_string(report, "verdict", reconcile_verdict_name(conclusion->verdict));
    report_string(report, "matters", is_conflict ? reconcile_matters_name(conclusion->matters) : NULL);
    report_string(report, "trusted_source",
                  item->claim_count > 0 ? claim_source_name(self->claims->items[item->claims[0]].source) : NULL);
    for (int figure = 0; figure < CLAIM_FIGURE_COUNT; figure++) {
        const struct claim_value *value = claim_case_value(item, (enum claim_figure)figure);
        if (figure <= CLAIM_RESERVED_SMEM || figure == CLAIM_THREADS) {
            report_begin_object(report, claim_figure_name((enum claim_figure)figure));
            record_value(report, value);
            report_end(report);
        }
    }
    record_figures(report, self, item);
    record_claims(report, self, item);
    record_occupancy(report, conclusion);
    record_implied(report, self, item, conclusion);
    record_flips(report, self, conclusion);
    record_sentences(report, "reasons", conclusion->reasons);
    record_sentences(report, "checks", conclusion->checks);
    report_begin_array(report, "remarks");
    for (size_t i = 0; i < item->remark_count; i++) {
        report_string(report, NULL, item->remarks[i]);
    }
    report_end(report);
    report_end(report);
}

void reconcile_record(const struct reconciliation *self, struct report *report)
{
    bool changes = false;
    report_begin_rows(report, "cases");
    for (size_t i = 0; i < self->cases.count; i++) {
        record_case(report, self, i);
        changes = changes || self->conclusions[i].matters == RECONCILE_YES;
    }
    report_end(report);
    report_bool(report, "changes_a_conclusion", changes);
    report_integer(report, "claim_count", (int64_t)self->claims->count);
    report_integer(report, "tuned_only", (int64_t)self->cases.tuned_only);
    report_begin_array(report, "problems");
    for (size_t i = 0; i < self->evidence.problem_count && i < EVIDENCE_PROBLEMS_MAX; i++) {
        report_string(report, NULL, self->evidence.problems[i]);
    }
    for (size_t i = 0; i < self->evidence.code.problem_count && i < CODE_PROBLEMS_MAX; i++) {
        report_string(report, NULL, self->evidence.code.problems[i]);
    }
    report_end(report);
    evidence_record_files(report, &self->evidence);
}
