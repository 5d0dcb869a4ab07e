/* SPDX-License-Identifier: GPL-3.0-or-later
 * The words of a verdict, answer first, and the same as records. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/judge.h"
#include "cli/quantity_text.h"

void judgement_release(struct judgement *judgement)
{
    judged_files_release(&judgement->files);
    free(judgement->verdicts);
    free(judgement->rows);
    free(judgement->hypothesis);
    text_buffer_release(&judgement->closes);
    text_buffer_release(&judgement->leaves_open);
}

static double geometric_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += log(values[i]);
    }
    return exp(sum / (double)count);
}

/* Times were inverted for judging; people read them as they were measured. */
static double as_measured(const struct judgement *judgement, const double *values, size_t count)
{
    const double mean_value = geometric_mean(values, count);
    return judgement->files.is_time ? 1 / mean_value : mean_value;
}

static void record_row(const struct judgement *judgement, const struct judged_row *row, struct report *report)
{
    const struct judged_condition *condition = row->condition;
    const struct effect_verdict *verdict = row->verdict;
    report_begin_object(report, NULL);
    report_string(report, "condition", condition->text[0] != '\0' ? condition->text : "all runs");
    report_number(report, "base", as_measured(judgement, condition->base, condition->base_count));
    report_number(report, "variant", as_measured(judgement, condition->variant, condition->variant_count));
    report_integer(report, "base_runs", (int64_t)condition->base_count);
    report_integer(report, "variant_runs", (int64_t)condition->variant_count);
    report_bool(report, "paired", condition->paired);
    report_number(report, "speed_ratio", verdict->ratio);
    report_number(report, "speed_ratio_lo", verdict->low);
    report_number(report, "speed_ratio_hi", verdict->high);
    report_number(report, "change_percent", 100 * (verdict->ratio - 1));
    report_number(report, "change_lo_percent", 100 * (verdict->low - 1));
    report_number(report, "change_hi_percent", 100 * (verdict->high - 1));
    report_number(report, "p_value", verdict->p_value);
    report_number(report, "adjusted_p_value", verdict->adjusted_p);
    report_number(report, "smallest_visible_effect_percent", 100 * verdict->smallest_effect);
    report_number(report, "noise_percent", 100 * verdict->noise_sd);
    report_string(report, "noise_from", effect_noise_name(verdict->noise));
    report_string(report, "verdict", effect_outcome_name(verdict->outcome));
    report_number(report, "predicted_ratio", row->prediction != NULL ? row->prediction->value : (double)NAN);
    report_number(report, "predicted_ratio_lo", row->prediction != NULL ? row->prediction->low : (double)NAN);
    report_number(report, "predicted_ratio_hi", row->prediction != NULL ? row->prediction->high : (double)NAN);
    report_number(report, "predicted_level", row->prediction != NULL ? row->prediction->level : (double)NAN);
    report_string(report, "prediction_covers",
                  row->covered < 0 ? (row->prediction != NULL ? "does not count" : "no prediction")
                                   : (row->covered ? "yes" : "no"));
    report_end(report);
}

static void record_lines(struct report *report, const char *key, const struct text_buffer *lines)
{
    report_begin_array(report, key);
    for (const char *at = lines->text; at != NULL && *at != '\0';) {
        size_t length = 0;
        while (at[length] != '\0' && at[length] != '\n') {
            length++;
        }
        char line[400];
        (void)snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), at);
        report_string(report, NULL, line);
        at += length + (at[length] == '\n');
    }
    report_end(report);
}

void judgement_record(const struct judgement *judgement, struct report *report)
{
    const struct judged_files *files = &judgement->files;
    report_string(report, "verdict", effect_outcome_name(judgement->together));
    report_string(report, "claim", judgement->claim_text);
    report_integer(report, "hypothesis", judgement->hypothesis != NULL ? judgement->hypothesis->id : 0);
    report_string(report, "metric", files->metric);
    report_bool(report, "metric_is_time", files->is_time);
    report_number(report, "level", judgement->options.level);
    report_integer(report, "conditions_of_base_alone", (int64_t)files->only_base);
    report_integer(report, "conditions_of_variant_alone", (int64_t)files->only_variant);
    report_integer(report, "failed_runs", (int64_t)files->failed);
    report_string(report, "pairing", files->pairing);
    report_string(report, "doubt", files->doubt);
    report_number(report, "counting_spread_percent", 100 * judgement->counting_spread);
    report_bool(report, "load_is_taken", judgement->load_is_taken);
    report_bool(report, "statement_says_otherwise", judgement->says_otherwise);
    report_bool(report, "data_older_than_prediction", judgement->data_is_older);
    report_begin_array(report, "conditions");
    for (size_t i = 0; i < files->count; i++) {
        record_row(judgement, &judgement->rows[i], report);
    }
    report_end(report);
    record_lines(report, "closes", &judgement->closes);
    record_lines(report, "leaves_open", &judgement->leaves_open);
}

/* ---- text -----------------------------------------------------------------------------------------------------------
 */

static void print_heading(const struct judgement *judgement)
{
    size_t seen[EFFECT_NOT_RESTORED + 1] = {0};
    for (size_t i = 0; i < judgement->files.count; i++) {
        seen[judgement->verdicts[i].outcome]++;
    }
    printf("%s: %s\n", effect_outcome_name(judgement->together), judgement->claim_text);
    if (judgement->files.count > 1) {
        printf("  of %zu conditions", judgement->files.count);
        for (int outcome = 0; outcome <= EFFECT_NOT_RESTORED; outcome++) {
            if (seen[outcome] > 0) {
                printf(", %zu %s", seen[outcome], effect_outcome_name((enum effect_outcome)outcome));
            }
        }
        printf("\n");
    }
    printf("\n");
}

enum {
    CELL_SIZE = 32
};

/* "+10.0"; large ones by three digits. */
static const char *change_text(double ratio, char out[CELL_SIZE])
{
    const double percent = 100 * (ratio - 1);
    (void)snprintf(out, CELL_SIZE, percent < 1e5 ? "%+.1f" : "%+.3g", quantity_change_percent(ratio - 1));
    return out;
}

/* "-34.1..+0.0 holds"; "none" where nothing was foretold. */
static void frozen_text(const struct judged_row *row, char out[2 * CELL_SIZE])
{
    const struct frozen_prediction *prediction = row->prediction;
    char low[CELL_SIZE], high[CELL_SIZE];
    if (prediction == NULL || !isfinite(prediction->low) || !isfinite(prediction->high)) {
        (void)snprintf(out, 2 * CELL_SIZE, "none");
        return;
    }
    (void)snprintf(out, 2 * CELL_SIZE, "%.14s..%.14s %s", change_text(prediction->low, low),
                   change_text(prediction->high, high),
                   row->covered > 0    ? "holds"
                   : row->covered == 0 ? "missed"
                                       : "late");
}

/* "frozen 90 %"; "" where no prediction is judged. */
static void frozen_heading(const struct judgement *judgement, char out[CELL_SIZE])
{
    const struct frozen_hypothesis *hypothesis = judgement->hypothesis;
    out[0] = '\0';
    if (hypothesis != NULL && hypothesis->prediction_count > 0 && !judgement->options.is_revert) {
        (void)snprintf(out, CELL_SIZE, "frozen %.4g %%", 100 * hypothesis->predictions[0].level);
    }
}

static void print_conditions(const struct judgement *judgement)
{
    int width = 9, frozen_width = 0;
    char heading[CELL_SIZE], interval_heading[CELL_SIZE], frozen[2 * CELL_SIZE];
    frozen_heading(judgement, heading);
    for (size_t i = 0; i < judgement->files.count; i++) {
        const int length = (int)strlen(judgement->files.conditions[i].text);
        width = length > width ? length : width;
        frozen_text(&judgement->rows[i], frozen);
        frozen_width = (int)strlen(frozen) > frozen_width ? (int)strlen(frozen) : frozen_width;
    }
    frozen_width = (int)strlen(heading) > frozen_width ? (int)strlen(heading) : frozen_width;
    (void)snprintf(interval_heading, sizeof interval_heading, "interval %.4g %%", 100 * judgement->options.level);
    printf("  %s, %s is better\n", judgement->files.metric, judgement->files.is_time ? "less" : "more");
    printf("  %-*s  %9s  %9s  %8s  %19s", width, "condition", "base", "variant", "change", interval_heading);
    if (heading[0] != '\0') {
        printf("  %*s", frozen_width, heading);
    }
    printf("  verdict\n");
    for (size_t i = 0; i < judgement->files.count; i++) {
        const struct judged_row *row = &judgement->rows[i];
        char base[CELL_SIZE], variant[CELL_SIZE], change[CELL_SIZE], low[CELL_SIZE], high[CELL_SIZE];
        printf("  %-*s  %9s  %9s  %7s%%  %8s..%s%%", width,
               row->condition->text[0] != '\0' ? row->condition->text : "all runs",
               number_format_digits(as_measured(judgement, row->condition->base, row->condition->base_count), 4, base),
               number_format_digits(as_measured(judgement, row->condition->variant, row->condition->variant_count), 4,
                                    variant),
               change_text(row->verdict->ratio, change), change_text(row->verdict->low, low),
               change_text(row->verdict->high, high));
        if (heading[0] != '\0') {
            frozen_text(row, frozen);
            printf("  %*s", frozen_width, frozen);
        }
        printf("  %s\n", effect_outcome_name(row->verdict->outcome));
    }
}

/* What the noise stands on, and what could have been seen. */
static void print_noise(const struct judgement *judgement)
{
    bool is_told[EFFECT_NOISE_ASSUMED + 1] = {false};
    double worst = 0, best = INFINITY;
    for (size_t i = 0; i < judgement->files.count; i++) {
        is_told[judgement->verdicts[i].noise] = true;
        worst = fmax(worst, judgement->verdicts[i].smallest_effect);
        best = fmin(best, judgement->verdicts[i].smallest_effect);
    }
    printf("\nNoise:");
    if (is_told[EFFECT_NOISE_ASSUMED]) {
        printf("%s %g %% for one run is assumed (--noise), not measured.",
               is_told[EFFECT_NOISE_PAIRS] || is_told[EFFECT_NOISE_REPEATS]
                   ? " measured where runs were repeated; elsewhere"
                   : " nothing was repeated;",
               100 * judgement->options.assumed_noise);
    } else {
        printf(" measured, from %s.", is_told[EFFECT_NOISE_PAIRS]     ? "the differences of pairs"
                                      : is_told[EFFECT_NOISE_REPEATS] ? "the repeats"
                                                                      : "the repeats of all conditions together");
    }
    if (worst < 1.02 * best) {
        printf("\nVisible:  an effect of %.2g %% would have been seen with probability %g.\n", 100 * worst,
               judgement->options.power);
    } else {
        printf("\nVisible:  an effect of %.2g to %.2g %%, by condition, would have been seen with probability %g.\n",
               100 * best, 100 * worst, judgement->options.power);
    }
}

static void print_data(const struct judgement *judgement)
{
    const struct judged_files *files = &judgement->files;
    if (files->is_time) {
        printf("Result:   %s is a time: less is better, and the change is that of the speed.\n", files->metric);
    }
    if (files->pairing[0] != '\0') {
        printf("Pairs:    %s.\n", files->pairing);
    }
    if (files->doubt[0] != '\0') {
        printf("Doubt:    %s.\n", files->doubt);
    }
    if (files->failed > 0) {
        printf("Left out: %zu run%s that failed.\n", files->failed, files->failed == 1 ? "" : "s");
    }
    if (files->only_base + files->only_variant > 0) {
        printf("Left out: conditions of the base alone: %zu, of the variant alone: %zu.\n", files->only_base,
               files->only_variant);
    }
    if (judgement->kept_before > 0) {
        printf("Ledger:   %zu of the conditions were kept before, with the same results.\n", judgement->kept_before);
    }
    if (judgement->counting_spread > 0) {
        printf("Counting: ways of counting one load differ by %.1f %% among themselves, and the other file does not\n"
               "          say how it counted: less than that says nothing about the change.\n",
               100 * judgement->counting_spread);
    }
    if (judgement->load_is_taken) {
        printf("Load:     no column tells it; the only one that was frozen is taken, %s.\n",
               judgement->hypothesis->predictions[0].condition);
    }
    if (judgement->says_otherwise) {
        printf(
            "Note:     frozen as \"%s\", which the statement contradicts as it is read today; earlier versions misread "
            "some.\n",
            effect_claim_name(judgement->hypothesis->claim));
    }
    if (judgement->data_is_older) {
        printf("Rows are dated before the prediction was frozen (%s): it proves nothing.\n",
               judgement->hypothesis->created);
    }
}

static void print_lines(const char *heading, const struct text_buffer *lines)
{
    if (lines->length == 0) {
        return;
    }
    printf("\n%s\n", heading);
    for (const char *at = lines->text; *at != '\0'; at++) {
        if (at == lines->text || at[-1] == '\n') {
            printf("  ");
        }
        (void)putchar(*at);
    }
}

void judgement_print(const struct judgement *judgement)
{
    print_heading(judgement);
    print_conditions(judgement);
    print_noise(judgement);
    print_data(judgement);
    print_lines("What this closes:", &judgement->closes);
    print_lines("What it leaves open:", &judgement->leaves_open);
}
