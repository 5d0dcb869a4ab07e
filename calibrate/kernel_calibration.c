/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fit, residual process, cross-validation, stretch (docs/MODEL.md CAL-1 to CAL-6). */
#include "calibrate/kernel_calibration.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "calibrate/residual_fit.h"
#include "model/predict/calibrated_time.h"

enum {
    FOLDS_MAX = 10,
    GROUP_FOLDS_MAX = 5, /* of whole workloads: each costs a fit */
    GROUPS_LEAST = 2,
    BEYOND_ROWS_LEAST = 5,
    LEAVE_ONE_OUT_MAX = 32, /* up to here every row is a fold of its own */
    ROWS_LEAST = 5,
    TYPICAL_ROWS_LEAST = 5,
    RESIDUAL_ROWS_LEAST = 12 /* fewer say nothing about a process in this many features */
};
/* The process is left out where it makes the held-out error larger by more than this: two dozen rows cannot tell
 * smaller differences from chance, and over twenty splits of four tables it helped more often than not (CAL-4). */
static const double residual_loss_most = 1.15;

void kernel_calibration_options_init(struct kernel_calibration_options *options)
{
    *options = (struct kernel_calibration_options){.interval_level = 0.9, .seed = 1};
}

/* Everything one calibration works with. */
struct trainer {
    const struct gpu_device *device;
    const struct model_parameters *priors;
    const struct kernel_row *rows;
    const struct kernel_calibration_options *options;
    uint32_t *which; /* of the rows, in the order of the folds */
    size_t count;
    unsigned folds;
    double *form_scores, *hybrid_scores; /* |ln error| / sigma of held-out rows */
    double *form_errors, *hybrid_errors; /* |ln error| */
};

static void take_fit(const struct kernel_fit *fit, double level, struct calibration *calibration)
{
    calibration->parameters = fit->parameters;
    calibration->parameters.interval_level = level;
    calibration->interval_level = level;
    calibration->stretch = calibration->stretch_beyond = normal_quantile(0.5 + level / 2);
    memcpy(calibration->covariance, fit->covariance, sizeof fit->covariance);
    calibration->form_log_sigma = fit->form_log_sigma;
    calibration->parameters.model_log_sigma = fit->form_log_sigma;
}

/* What the form leaves over of these rows, and (features not NULL) their features. */
static enum status leftovers(const struct trainer *self, const struct model_parameters *parameters,
                             const uint32_t *which, size_t count, double *features, double *residuals,
                             struct error *error)
{
    struct time_model model;
    enum status status = time_model_init(&model, self->device, parameters, error);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct kernel_row *row = &self->rows[which[i]];
        struct layer_time time;
        layer_time_predict(&model, &row->layer, &time);
        residuals[i] = log(row->time_s / time.time_s);
        if (features) {
            calibration_features(&model, &row->layer, &time, features + i * CALIBRATION_FEATURE_COUNT);
        }
    }
    return status;
}

/* The residual process on top of fitted parameters. */
static enum status add_process(const struct trainer *self, const uint32_t *which, size_t count,
                               struct calibration *calibration, struct error *error)
{
    double *features = malloc(count * (CALIBRATION_FEATURE_COUNT + 1) * sizeof *features);
    if (!features) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the features of %zu rows", count);
    }
    double *residuals = features + count * CALIBRATION_FEATURE_COUNT;
    enum status status = leftovers(self, &calibration->parameters, which, count, features, residuals, error);
    status = status == STATUS_OK ? residual_start(calibration, features, count, error) : status;
    status = status == STATUS_OK ? residual_search(calibration, residuals, error) : status;
    status = status == STATUS_OK ? residual_weigh(calibration, residuals, error) : status;
    free(features);
    return status;
}

/* The form alone. *calibration is initialised here. */
static enum status train_form(const struct trainer *self, const uint32_t *which, size_t count,
                              struct calibration *calibration, struct kernel_fit *fit, struct error *error)
{
    calibration_init(calibration);
    const enum status status = kernel_fit_run(self->device, self->priors, self->rows, which, count, NULL, fit, error);
    if (status == STATUS_OK) {
        take_fit(fit, self->options->interval_level, calibration);
        calibration->row_count = (uint32_t)count;
    }
    return status;
}

/* CAL-4: the form, then the process on what it leaves. *calibration is initialised here. */
static enum status train_hybrid(const struct trainer *self, const uint32_t *which, size_t count,
                                struct calibration *calibration, struct kernel_fit *fit, struct error *error)
{
    enum status status = train_form(self, which, count, calibration, fit, error);
    if (status == STATUS_OK) {
        status = add_process(self, which, count, calibration, error);
    }
    return status;
}

static enum status score_held_out(const struct trainer *self, const struct calibration *calibration, size_t first,
                                  size_t last, double *scores, double *errors, struct error *error)
{
    struct calibrated_model *model = malloc(sizeof *model);
    enum status status = model ? calibrated_model_init(model, self->device, calibration, error)
                               : error_set(error, STATUS_NO_MEMORY, "no memory for a model");
    for (size_t i = first; i < last && status == STATUS_OK; i++) {
        const struct kernel_row *row = &self->rows[self->which[i]];
        struct calibrated_time time;
        calibrated_time_predict(model, &row->layer, &time);
        errors[i] = fabs(log(time.time_s / row->time_s));
        scores[i] = errors[i] / time.log_sigma;
    }
    free(model);
    return status;
}

/* One fold: rows [first, last) held out. */
static enum status run_fold(const struct trainer *self, size_t first, size_t last, bool try_residual,
                            struct error *error)
{
    struct calibration calibration;
    struct kernel_fit fit;
    size_t count = 0;
    uint32_t *others = malloc(self->count * sizeof *others);
    if (!others) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a fold");
    }
    for (size_t i = 0; i < self->count; i++) {
        if (i < first || i >= last) {
            others[count++] = self->which[i];
        }
    }
    enum status status = train_form(self, others, count, &calibration, &fit, error);
    if (status == STATUS_OK) {
        status = score_held_out(self, &calibration, first, last, self->form_scores, self->form_errors, error);
    }
    if (status == STATUS_OK && try_residual) {
        status = add_process(self, others, count, &calibration, error);
        status = status == STATUS_OK
                     ? score_held_out(self, &calibration, first, last, self->hybrid_scores, self->hybrid_errors, error)
                     : status;
    }
    calibration_release(&calibration);
    free(others);
    return status;
}

/* CAL-5: the smallest stretch that would have covered the level among held-out rows, finite-sample corrected. */
static double stretch_of(double *scores, size_t count, double level)
{
    sort_doubles(scores, count);
    const double place = (double)(count + 1) * level - 1; /* between the order statistics, from 0 */
    const double last = (double)count - 1;
    if (place <= last) {
        const size_t below = (size_t)place;
        const double above = below + 1 < count ? scores[below + 1] : scores[below];
        return scores[below] + (place - (double)below) * (above - scores[below]);
    }
    const double reached =
        (double)count / (double)(count + 1); /* too few rows for the level: a normal tail beyond them */
    return scores[count - 1] * normal_quantile(0.5 + level / 2) / normal_quantile(0.5 + reached / 2);
}

/* The scores that intervals follow from, in place: those of typical rows, if there are enough. Returns how many. */
static size_t keep_typical(const struct trainer *self, double *scores)
{
    const bool *typical = self->options->typical;
    size_t count = 0;
    for (size_t i = 0; i < self->count && typical; i++) {
        count += typical[self->which[i]];
    }
    if (count < TYPICAL_ROWS_LEAST) {
        return self->count;
    }
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++) {
        if (typical[self->which[i]]) {
            scores[kept++] = scores[i];
        }
    }
    return kept;
}

/* CAL-6: what the rows span. The process has no part in it, and would cost more than everything else here. */
static enum status set_domain(const struct trainer *self, struct calibration *calibration, struct error *error)
{
    struct calibration form = *calibration;
    struct calibrated_model *model = malloc(sizeof *model);
    form.residual = (struct calibration_residual){0};
    const enum status status = model ? calibrated_model_init(model, self->device, &form, error)
                                     : error_set(error, STATUS_NO_MEMORY, "no memory for a model");
    double leverage_most = 0;
    for (unsigned f = 0; f < CALIBRATION_FEATURE_COUNT; f++) {
        calibration->least[f] = HUGE_VAL;
        calibration->most[f] = -HUGE_VAL;
    }
    for (size_t i = 0; i < self->count && status == STATUS_OK; i++) {
        double features[CALIBRATION_FEATURE_COUNT];
        struct calibrated_time time;
        calibrated_time_predict(model, &self->rows[self->which[i]].layer, &time);
        calibration_features(&model->center, &self->rows[self->which[i]].layer, &time.layer, features);
        leverage_most = fmax(leverage_most, time.leverage);
        for (unsigned f = 0; f < CALIBRATION_FEATURE_COUNT; f++) {
            calibration->least[f] = fmin(calibration->least[f], features[f]);
            calibration->most[f] = fmax(calibration->most[f], features[f]);
        }
    }
    calibration->leverage_limit = 2 * leverage_most;
    free(model);
    return status;
}

/* Whole workloads held out, for workloads nobody measured (CAL-5). */
struct beyond {
    const struct trainer *self;
    bool with_process;
    uint32_t *fold; /* by place in trainer.which */
    unsigned folds;
    double *scores; /* by place; negative: in a fold too large to judge */
};

static enum status score_beyond(const struct beyond *beyond, unsigned fold, const struct calibration *calibration,
                                struct error *error)
{
    const struct trainer *self = beyond->self;
    struct calibrated_model *model = malloc(sizeof *model);
    const enum status status = model ? calibrated_model_init(model, self->device, calibration, error)
                                     : error_set(error, STATUS_NO_MEMORY, "no memory for a model");
    for (size_t i = 0; i < self->count && status == STATUS_OK; i++) {
        if (beyond->fold[i] == fold) {
            const struct kernel_row *row = &self->rows[self->which[i]];
            struct calibrated_time time;
            calibrated_time_predict(model, &row->layer, &time);
            beyond->scores[i] = fabs(log(time.time_s / row->time_s)) / time.log_sigma;
        }
    }
    free(model);
    return status;
}

static enum status run_group_fold(const struct beyond *beyond, unsigned fold, struct error *error)
{
    const struct trainer *self = beyond->self;
    struct calibration calibration;
    struct kernel_fit fit;
    size_t count = 0;
    uint32_t *others = malloc((self->count + 1) * sizeof *others);
    if (!others) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a fold");
    }
    for (size_t i = 0; i < self->count; i++) {
        if (beyond->fold[i] != fold) {
            others[count++] = self->which[i];
        }
    }
    enum status status = STATUS_OK;
    if (count >= ROWS_LEAST) {
        status = beyond->with_process && count >= RESIDUAL_ROWS_LEAST
                     ? train_hybrid(self, others, count, &calibration, &fit, error)
                     : train_form(self, others, count, &calibration, &fit, error);
        status = status == STATUS_OK ? score_beyond(beyond, fold, &calibration, error) : status;
        calibration_release(&calibration);
    }
    free(others);
    return status;
}

/* Folds do not see each other, so threads change nothing. */
static enum status cross_validate(const struct trainer *self, bool try_residual, struct error *error)
{
    enum status result = STATUS_OK;
    unsigned first_failed = self->folds;
#pragma omp parallel for schedule(dynamic)
    for (unsigned f = 0; f < self->folds; f++) {
        const size_t first = self->count * f / self->folds, last = self->count * (f + 1) / self->folds;
        struct error fold_error = {0};
        const enum status status = run_fold(self, first, last, try_residual, &fold_error);
#pragma omp critical(kernel_calibration_error)
        if (status != STATUS_OK && f < first_failed) { /* the first fold's error, whichever thread was faster */
            first_failed = f;
            result = status;
            if (error) {
                *error = fold_error;
            }
        }
    }
    return result;
}

/* Workloads dealt to folds in the order of their first rows in the shuffle; returns how many workloads there are. */
static size_t deal_groups(struct beyond *beyond)
{
    const struct trainer *self = beyond->self;
    size_t groups = 0;
    for (size_t i = 0; i < self->count; i++) {
        size_t first = 0;
        while (self->rows[self->which[first]].group != self->rows[self->which[i]].group) {
            first++;
        }
        beyond->fold[i] = first < i ? beyond->fold[first] : (uint32_t)(groups++ % GROUP_FOLDS_MAX);
    }
    beyond->folds = (unsigned)(groups < GROUP_FOLDS_MAX ? groups : GROUP_FOLDS_MAX);
    return groups;
}

static enum status hold_out_workloads(struct beyond *beyond, struct error *error)
{
    enum status result = STATUS_OK;
    unsigned failed = UINT_MAX;
#pragma omp parallel for schedule(dynamic)
    for (unsigned f = 0; f < beyond->folds; f++) {
        struct error fold_error = {0};
        const enum status status = run_group_fold(beyond, f, &fold_error);
        if (status != STATUS_OK) {
#pragma omp critical
            if (f < failed) {
                failed = f;
                result = status;
                if (error) {
                    *error = fold_error;
                }
            }
        }
    }
    return result;
}

/* CAL-5 for workloads nobody measured: as the stretch, each row held out with its whole workload. */
static enum status set_stretch_beyond(const struct trainer *self, bool with_process, struct calibration *calibration,
                                      struct error *error)
{
    struct beyond beyond = {.self = self, .with_process = with_process};
    calibration->stretch_beyond = calibration->stretch;
    beyond.fold = calloc(self->count, sizeof *beyond.fold);
    beyond.scores = calloc(self->count, sizeof *beyond.scores);
    enum status status = beyond.fold && beyond.scores
                             ? STATUS_OK
                             : error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", self->count);
    if (status == STATUS_OK && deal_groups(&beyond) >= GROUPS_LEAST) {
        for (size_t i = 0; i < self->count; i++) {
            beyond.scores[i] = -1;
        }
        status = hold_out_workloads(&beyond, error);
        size_t kept = keep_typical(self, beyond.scores), count = 0;
        for (size_t i = 0; i < kept; i++) {
            if (beyond.scores[i] >= 0) {
                beyond.scores[count++] = beyond.scores[i];
            }
        }
        if (status == STATUS_OK && count >= BEYOND_ROWS_LEAST) {
            calibration->stretch_beyond =
                fmax(calibration->stretch, stretch_of(beyond.scores, count, self->options->interval_level));
        }
    }
    free(beyond.fold);
    free(beyond.scores);
    return status;
}

static int compare_workloads(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* CAL-6. More than there is room for are not kept. */
static void set_workloads(const struct trainer *self, struct calibration *calibration)
{
    uint64_t *known = calibration->workloads;
    uint32_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        const uint64_t workload = self->rows[self->which[i]].layer.workload;
        if (workload == 0 || bsearch(&workload, known, count, sizeof *known, compare_workloads)) {
            continue;
        }
        if (count == CALIBRATION_WORKLOADS_MAX) {
            count = 0;
            break;
        }
        known[count++] = workload;
        qsort(known, count, sizeof *known, compare_workloads);
    }
    calibration->workload_count = count;
}

static enum status calibrate_rows(struct trainer *self, struct calibration *calibration,
                                  struct kernel_calibration_report *report, struct error *error)
{
    const bool try_residual = !self->options->no_residual && self->count >= RESIDUAL_ROWS_LEAST &&
                              self->count <= CALIBRATION_RESIDUAL_ROWS_MAX;
    enum status status = cross_validate(self, try_residual, error);
    if (status != STATUS_OK) {
        return status;
    }
    report->folds = self->folds;
    report->form_error = median_in_place(self->form_errors, self->count);
    report->hybrid_error = try_residual ? median_in_place(self->hybrid_errors, self->count) : (double)NAN;
    report->residual_used = try_residual && report->hybrid_error < report->form_error * residual_loss_most;
    status = report->residual_used ? train_hybrid(self, self->which, self->count, calibration, &report->fit, error)
                                   : train_form(self, self->which, self->count, calibration, &report->fit, error);
    if (status == STATUS_OK) {
        double *scores = report->residual_used ? self->hybrid_scores : self->form_scores;
        calibration->stretch = stretch_of(scores, keep_typical(self, scores), self->options->interval_level);
        status = set_domain(self, calibration, error);
    }
    if (status == STATUS_OK) {
        set_workloads(self, calibration);
        status = set_stretch_beyond(self, report->residual_used, calibration, error);
    }
    return status;
}

/* By what a launch and its loop count; other members follow from these in any scenario worth calibrating. */
static bool same_configuration(const struct layer_case *a, const struct layer_case *b)
{
    bool same = a->kernel_count == b->kernel_count;
    for (uint32_t k = 0; same && k < a->kernel_count; k++) {
        const struct kernel_launch *x = &a->kernels[k].launch, *y = &b->kernels[k].launch;
        same = x->grid_ctas == y->grid_ctas && x->threads == y->threads &&
               x->registers_per_thread == y->registers_per_thread && x->dynamic_smem_bytes == y->dynamic_smem_bytes &&
               a->kernels[k].loop.iterations == b->kernels[k].loop.iterations &&
               a->kernels[k].loop.buffers == b->kernels[k].loop.buffers;
    }
    return same;
}

static enum status check_count(const struct trainer *self, struct error *error)
{
    if (self->count < ROWS_LEAST) {
        return error_set(error, STATUS_BAD_DATA, "a calibration needs at least %d rows, got %zu", ROWS_LEAST,
                         self->count);
    }
    for (size_t i = 1; i < self->count; i++) {
        if (!same_configuration(&self->rows[self->which[i]].layer, &self->rows[self->which[0]].layer)) {
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_BAD_DATA, "all %zu rows are one configuration: nothing to learn from", self->count);
}

enum status kernel_calibrate(const struct gpu_device *device, const struct model_parameters *priors,
                             const struct kernel_row *rows, const uint32_t *which, size_t count,
                             const struct kernel_calibration_options *options, struct calibration *calibration,
                             struct kernel_calibration_report *report, struct error *error)
{
    struct trainer self = {.device = device, .priors = priors, .rows = rows, .options = options, .count = count};
    double *numbers = calloc(count * 4 + 1, sizeof *numbers);
    self.which = malloc((count + 1) * sizeof *self.which);
    calibration_init(calibration);
    memset(report, 0, sizeof *report);
    enum status status =
        numbers && self.which ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", count);
    if (status == STATUS_OK) {
        struct random_stream stream;
        random_init(&stream, options->seed, 71);
        for (size_t i = 0; i < count; i++) { /* shuffled as it is filled */
            const size_t j = random_below(&stream, (uint32_t)i + 1);
            self.which[i] = self.which[j];
            self.which[j] = which ? which[i] : (uint32_t)i;
        }
        self.folds = count <= LEAVE_ONE_OUT_MAX ? (unsigned)count : FOLDS_MAX;
        self.form_scores = numbers;
        self.hybrid_scores = numbers + count;
        self.form_errors = numbers + 2 * count;
        self.hybrid_errors = numbers + 3 * count;
        status = check_count(&self, error);
    }
    if (status == STATUS_OK) {
        status = calibrate_rows(&self, calibration, report, error);
    }
    if (status != STATUS_OK) {
        calibration_release(calibration);
    }
    free(numbers);
    free(self.which);
    return status;
}
