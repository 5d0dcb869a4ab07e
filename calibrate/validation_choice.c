/* SPDX-License-Identifier: GPL-3.0-or-later
 * What choosing by prediction costs, in shapes of which no row was trained on (docs/MODEL.md CAL-10). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "calibrate/validation_private.h"
#include "model/predict/waves.h"

enum {
    SHAPE_ROWS_LEAST = 4 /* of a shape, for a choice to mean anything */
};

struct ranked_row {
    double time_s; /* or whatever else rows are ordered by */
    uint32_t row;
};

struct chooser {
    const struct validation_job *job;
    struct ranked_row *ranked; /* held-out rows, shape by shape, each by predicted time */
    struct validation_key *keys;
    uint32_t *order, *cell;      /* rows of one shape by predicted time; those that differ in one knob alone */
    struct ranked_row *by_value; /* a cell by its knob, */
    double *waves;               /* and the waves of its rows */
    double *regrets, *after;
    size_t regret_count, after_count;
    double *rule_sums;
    size_t *rule_cells;
};

static const double *values_of(const struct chooser *self, uint32_t row)
{
    return self->job->measured->values + row * self->job->measured->variable_count;
}

static double time_of(const struct chooser *self, uint32_t row)
{
    return self->job->rows[row].time_s;
}

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked_row *a = left, *b = right;
    if (a->time_s != b->time_s) {
        return a->time_s < b->time_s ? -1 : 1;
    }
    return a->row < b->row ? -1 : a->row > b->row;
}

static void judge_regret(struct chooser *self, const uint32_t *rows, size_t count)
{
    double best_s = HUGE_VAL, found_s = HUGE_VAL;
    if (count < SHAPE_ROWS_LEAST) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        best_s = fmin(best_s, time_of(self, rows[i]));
        found_s = i < VALIDATION_RUNS_AFTER ? fmin(found_s, time_of(self, rows[i])) : found_s;
    }
    self->regrets[self->regret_count++] = 100 * (time_of(self, rows[0]) / best_s - 1);
    if (count > VALIDATION_RUNS_AFTER) {
        self->after[self->after_count++] = 100 * (found_s / best_s - 1);
    }
}

/* The time of what the rule of 85 % fill takes of a cell (WAVE-3, over the slots of each row's own kernel). */
static double time_by_rule(struct chooser *self, const uint32_t *cell, size_t count, size_t variable)
{
    for (size_t i = 0; i < count; i++) {
        self->by_value[i] = (struct ranked_row){values_of(self, cell[i])[variable], cell[i]};
    }
    qsort(self->by_value, count, sizeof *self->by_value, compare_ranked);
    for (size_t i = 0; i < count; i++) {
        self->waves[i] = self->job->facts[self->by_value[i].row].waves;
    }
    return time_of(self, self->by_value[split_rule_fill85(self->waves, count)].row);
}

/* Rows of a cell differ in one knob alone and come by predicted time. */
static void judge_cell(struct chooser *self, const uint32_t *cell, size_t count, struct validation_choice *choice,
                       size_t index)
{
    double best_s = HUGE_VAL;
    bool moves = false;
    for (size_t i = 0; i < count; i++) {
        best_s = fmin(best_s, time_of(self, cell[i]));
        moves = moves || self->job->facts[cell[i]].grid_ctas != self->job->facts[cell[0]].grid_ctas;
    }
    const double ratio = time_of(self, cell[0]) / best_s;
    choice->cells++;
    choice->mean_ratio += ratio;
    choice->max_ratio = fmax(choice->max_ratio, ratio);
    if (moves) {
        const double rule_ratio = time_by_rule(self, cell, count, choice->variable) / best_s;
        self->rule_sums[index] += rule_ratio;
        self->rule_cells[index]++;
        choice->rule_max = fmax(choice->rule_max, rule_ratio);
    }
}

/* self->order: the rows of one shape, by predicted time. Cells come out of sorting by all values but the knob's. */
static void judge_knob(struct chooser *self, size_t count, struct validation_choice *choice, size_t index)
{
    for (size_t i = 0; i < count; i++) {
        self->keys[i] = (struct validation_key){validation_hash_but(self->job, self->order[i], choice->variable),
                                                (uint32_t)i, self->order[i]};
    }
    validation_keys_sort(self->keys, count);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && self->keys[last].hash == self->keys[first].hash; last++) {
            self->cell[last - first] = self->keys[last].row;
        }
        if (last - first > 1) {
            judge_cell(self, self->cell, last - first, choice, index);
        }
    }
}

static void judge_shape(struct chooser *self, const struct ranked_row *rows, size_t count, struct validation *result)
{
    for (size_t i = 0; i < count; i++) {
        self->order[i] = rows[i].row;
    }
    judge_regret(self, self->order, count);
    for (size_t c = 0; c < result->choice_count; c++) {
        judge_knob(self, count, &result->choices[c], c);
    }
}

/* Shapes of the held-out rows, one after the other. */
static void judge_split(struct chooser *self, const struct validation_prediction *predictions,
                        struct validation *result)
{
    size_t held = 0;
    for (size_t i = 0; i < self->job->measured->count; i++) {
        if (predictions[i].held_out) {
            self->keys[held++] = (struct validation_key){self->job->shapes[i], (uint32_t)i, (uint32_t)i};
        }
    }
    validation_keys_sort(self->keys, held);
    for (size_t i = 0; i < held; i++) {
        self->ranked[i] = (struct ranked_row){predictions[self->keys[i].row].time_s, self->keys[i].row};
    }
    for (size_t first = 0, last; first < held; first = last) {
        const uint32_t shape = self->job->shapes[self->ranked[first].row];
        for (last = first; last < held && self->job->shapes[self->ranked[last].row] == shape;) {
            last++;
        }
        qsort(self->ranked + first, last - first, sizeof *self->ranked, compare_ranked);
        judge_shape(self, self->ranked + first, last - first, result);
    }
}

static void finish(struct chooser *self, struct validation *result)
{
    size_t kept = 0;
    for (size_t c = 0; c < result->choice_count; c++) {
        struct validation_choice *choice = &result->choices[c];
        choice->mean_ratio /= (double)(choice->cells ? choice->cells : 1);
        choice->rule_mean = self->rule_cells[c] ? self->rule_sums[c] / (double)self->rule_cells[c] : (double)NAN;
        choice->rule_max = self->rule_cells[c] ? choice->rule_max : (double)NAN;
        if (choice->cells) {
            result->choices[kept++] = *choice;
        }
    }
    result->choice_count = kept;
    result->shapes = self->regret_count;
    result->after_runs_shapes = self->after_count;
    if (self->regret_count) {
        sort_doubles(self->regrets, self->regret_count);
        result->top1_regret_percent = quantile_sorted(self->regrets, self->regret_count, 0.5);
        result->top1_regret_p90_percent = quantile_sorted(self->regrets, self->regret_count, 0.9);
    }
    if (self->after_count) {
        result->after_runs_regret_percent = median_in_place(self->after, self->after_count);
    }
}

enum status validation_choose(const struct validation_job *job, const struct validation_prediction *predictions,
                              struct validation *result, struct error *error)
{
    const size_t rows = job->measured->count, knobs = scenario_knob_count(job->scenario);
    const size_t shapes = (size_t)job->shape_count * result->splits;
    struct chooser self = {.job = job,
                           .ranked = malloc((rows + 1) * sizeof *self.ranked),
                           .keys = malloc((rows + 1) * sizeof *self.keys),
                           .order = malloc((rows + 1) * sizeof *self.order),
                           .cell = malloc((rows + 1) * sizeof *self.cell),
                           .by_value = malloc((rows + 1) * sizeof *self.by_value),
                           .waves = malloc((rows + 1) * sizeof *self.waves),
                           .regrets = malloc((shapes + 1) * sizeof *self.regrets),
                           .after = malloc((shapes + 1) * sizeof *self.after),
                           .rule_sums = calloc(knobs + 1, sizeof *self.rule_sums),
                           .rule_cells = calloc(knobs + 1, sizeof *self.rule_cells)};
    enum status status = STATUS_OK;
    result->choices = calloc(knobs + 1, sizeof *result->choices);
    if (self.ranked && self.keys && self.order && self.cell && self.by_value && self.waves && self.regrets &&
        self.after && self.rule_sums && self.rule_cells && result->choices) {
        for (size_t v = 0; v < knobs; v++) {
            result->choices[result->choice_count++].variable = v;
        }
        for (size_t s = 0; s < result->splits; s++) {
            judge_split(&self, predictions + s * rows, result);
        }
        finish(&self, result);
    } else {
        status = error_set(error, STATUS_NO_MEMORY, "no memory to judge choices");
    }
    free(self.ranked);
    free(self.keys);
    free(self.order);
    free(self.cell);
    free(self.by_value);
    free(self.waves);
    free(self.regrets);
    free(self.after);
    free(self.rule_sums);
    free(self.rule_cells);
    return status;
}
