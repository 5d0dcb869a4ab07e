/* SPDX-License-Identifier: GPL-3.0-or-later
 * From predictions to figures: errors, slices by knob and fill, the worst rows (docs/MODEL.md CAL-10). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "base/units.h"
#include "calibrate/validation_private.h"

enum {
    REGIMES = 3
};

const char *validation_metric_name(enum validation_metric metric)
{
    static const char *const names[VALIDATION_METRIC_COUNT] = {
        "mape_percent", "median_ape_percent", "p90_ape_percent", "max_ape_percent", "bias_percent", "spearman"};
    return names[metric];
}

void validation_measure(const double *predicted, const double *measured, size_t count, double *scratch, double *metrics)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        scratch[i] = log(predicted[i] / measured[i]);
    }
    metrics[VALIDATION_BIAS_PERCENT] = 100 * (exp(median_in_place(scratch, count)) - 1);
    for (size_t i = 0; i < count; i++) {
        scratch[i] = 100 * fabs(predicted[i] / measured[i] - 1);
        sum += scratch[i];
    }
    sort_doubles(scratch, count);
    metrics[VALIDATION_MAPE_PERCENT] = sum / (double)count;
    metrics[VALIDATION_MEDIAN_APE_PERCENT] = quantile_sorted(scratch, count, 0.5);
    metrics[VALIDATION_P90_APE_PERCENT] = quantile_sorted(scratch, count, 0.9);
    metrics[VALIDATION_MAX_APE_PERCENT] = scratch[count - 1];
    metrics[VALIDATION_SPEARMAN] = spearman(predicted, measured, count, scratch);
}

/* NaNs are left out; none left: NaN. */
struct validation_spread validation_spread_of(double *values, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i])) {
            values[known++] = values[i];
        }
    }
    if (!known) {
        return (struct validation_spread){(double)NAN, (double)NAN, (double)NAN};
    }
    sort_doubles(values, known);
    return (struct validation_spread){quantile_sorted(values, known, 0.5), quantile_sorted(values, known, 0.1),
                                      quantile_sorted(values, known, 0.9)};
}

/* The number at this place of every split's scores. */
static struct validation_spread spread_at(const struct split_scores *scores, size_t splits, size_t offset,
                                          double *scratch)
{
    for (size_t s = 0; s < splits; s++) {
        memcpy(&scratch[s], (const char *)&scores[s] + offset, sizeof scratch[s]);
    }
    return validation_spread_of(scratch, splits);
}

static void summarise_splits(const struct validation_job *job, const struct split_scores *scores,
                             struct validation *result)
{
    double scratch[VALIDATION_SPLITS_MAX];
    const size_t splits = result->splits;
    for (size_t m = 0; m < VALIDATION_METRIC_COUNT; m++) {
        result->model.metrics[m] =
            spread_at(scores, splits, offsetof(struct split_scores, metrics) + m * sizeof(double), scratch);
        for (size_t b = 0; b < BASELINE_COUNT && !job->options->no_baselines; b++) {
            const size_t place = b * VALIDATION_METRIC_COUNT + m;
            result->baselines[b].metrics[m] =
                spread_at(scores, splits, offsetof(struct split_scores, baselines) + place * sizeof(double), scratch);
        }
    }
    result->coverage_fraction = spread_at(scores, splits, offsetof(struct split_scores, coverage), scratch);
    result->half_width_percent = spread_at(scores, splits, offsetof(struct split_scores, half_width), scratch);
    result->train_rows = (size_t)spread_at(scores, splits, offsetof(struct split_scores, train_rows), scratch).median;
    result->test_rows = (size_t)spread_at(scores, splits, offsetof(struct split_scores, test_rows), scratch).median;
    for (size_t s = 0; s < splits; s++) {
        result->residual_used += scores[s].residual_used;
    }
    /* Bonett and Wright 2000: atanh(r) has about the variance (1 + r^2 / 2) / (n - 3). */
    const double r = result->model.metrics[VALIDATION_SPEARMAN].median, n = (double)result->test_rows;
    const double width =
        n > 3 ? normal_quantile(0.5 + result->interval_level / 2) * sqrt((1 + r * r / 2) / (n - 3)) : (double)NAN;
    result->spearman_lo = fabs(r) < 1 ? tanh(atanh(r) - width) : (double)NAN;
    result->spearman_hi = fabs(r) < 1 ? tanh(atanh(r) + width) : (double)NAN;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

static int regime_of(const struct validation_job *job, size_t row)
{
    const struct kernel_facts *facts = &job->facts[row];
    return facts->grid_ctas <= job->sm_count ? 0 : facts->waves <= 1 ? 1 : 2;
}

static bool in_slice(const struct validation_job *job, const struct validation_slice *slice, size_t regime, size_t row)
{
    if (slice->variable == SIZE_MAX) {
        return regime_of(job, row) == (int)regime;
    }
    return job->measured->values[row * job->measured->variable_count + slice->variable] == slice->value;
}

/* scratch: 2 x splits x rows. */
static void fill_slice(const struct validation_job *job, const struct validation *result, size_t regime,
                       struct validation_slice *slice, double *scratch)
{
    double *apes = scratch, *logs = scratch + result->splits * result->rows;
    size_t count = 0, inside = 0;
    for (size_t i = 0; i < result->rows; i++) {
        bool seen = false;
        for (size_t s = 0; s < result->splits && in_slice(job, slice, regime, i); s++) {
            const struct validation_prediction *prediction = &result->predictions[s * result->rows + i];
            if (prediction->held_out) {
                const double measured_s = job->rows[i].time_s;
                logs[count] = log(prediction->time_s / measured_s);
                apes[count++] = 100 * fabs(prediction->time_s / measured_s - 1);
                inside += measured_s >= prediction->time_lo_s && measured_s <= prediction->time_hi_s;
                seen = true;
            }
        }
        slice->rows += seen;
    }
    slice->median_ape_percent = slice->p90_ape_percent = slice->bias_percent = slice->coverage_fraction = (double)NAN;
    if (count) {
        sort_doubles(apes, count);
        slice->median_ape_percent = quantile_sorted(apes, count, 0.5);
        slice->p90_ape_percent = quantile_sorted(apes, count, 0.9);
        slice->bias_percent = 100 * (exp(median_in_place(logs, count)) - 1);
        slice->coverage_fraction = (double)inside / (double)count;
    }
}

/* Different values of a variable, ascending, at most VALIDATION_SLICE_VALUES_MAX; more: 0. */
static size_t values_of(const struct validation_job *job, size_t variable, double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < job->measured->count; i++) {
        const double value = job->measured->values[i * job->measured->variable_count + variable];
        size_t k = 0;
        while (k < count && values[k] != value) {
            k++;
        }
        if (k == VALIDATION_SLICE_VALUES_MAX || isnan(value)) {
            return 0;
        }
        values[k] = value;
        count = k == count ? count + 1 : count;
    }
    sort_doubles(values, count);
    return count;
}

static enum status fill_slices(const struct validation_job *job, struct validation *result, struct error *error)
{
    static const char *const regimes[REGIMES] = {"<= 1 CTA per SM", "up to one wave", "more than one wave"};
    const size_t variables = job->measured->variable_count;
    double values[VALIDATION_SLICE_VALUES_MAX];
    double *scratch = malloc((2 * result->splits * result->rows + 1) * sizeof *scratch);
    result->slices = calloc(REGIMES + variables * VALIDATION_SLICE_VALUES_MAX, sizeof *result->slices);
    if (!scratch || !result->slices) {
        free(scratch);
        return error_set(error, STATUS_NO_MEMORY, "no memory for slices");
    }
    for (size_t r = 0; r < REGIMES; r++) {
        struct validation_slice *slice = &result->slices[result->slice_count];
        *slice = (struct validation_slice){.variable = SIZE_MAX, .regime = regimes[r]};
        fill_slice(job, result, r, slice, scratch);
        result->slice_count += slice->rows > 0;
    }
    for (size_t v = 0; v < variables; v++) {
        const size_t count = values_of(job, v, values);
        for (size_t k = 0; k < count && count > 1; k++) {
            struct validation_slice *slice = &result->slices[result->slice_count];
            *slice = (struct validation_slice){.variable = v, .value = values[k]};
            fill_slice(job, result, 0, slice, scratch);
            result->slice_count += slice->rows > 0;
        }
    }
    free(scratch);
    return STATUS_OK;
}

/* ---- the worst rows ---------------------------------------------------------------------------------------------- */

/* The most likely reason comes first: what is outside the training rows, what the description does not know, what
 * measures badly, and only then the term that bounds the time. */
static void name_reason(const struct validation_job *job, const struct validation_prediction *prediction,
                        struct validation_worst *worst)
{
    const struct kernel_facts *facts = &job->facts[worst->row];
    const struct kernel_row *row = &job->rows[worst->row];
    char *out = worst->reason;
    const size_t size = sizeof worst->reason;
    if (isnan(facts->spill_bytes)) {
        (void)snprintf(out, size, "it is not known whether the kernel spills");
    } else if (facts->spill_bytes > 0) {
        (void)snprintf(out, size, "registers spill: %.0f bytes a thread and iteration", facts->spill_bytes);
    } else if (row->noise_log_sigma > 0.05) {
        (void)snprintf(out, size, "its repeats differ by %.0f %%", 100 * (exp(row->noise_log_sigma) - 1));
    } else if (prediction->beyond) {
        (void)snprintf(out, size, "extrapolation: %s beyond the training rows",
                       calibration_feature_words(prediction->beyond));
    } else if (facts->structure_unknown) {
        (void)snprintf(out, size, "how warps share a tile is not known");
    } else if (row->time_s < 5e-6) {
        (void)snprintf(out, size, "a short kernel: start and drain make most of its time");
    } else {
        (void)snprintf(out, size, "%s bounds %.0f %% of its time%s", time_limiter_name(prediction->limiter),
                       100 * (double)prediction->limiter_share,
                       regime_of(job, worst->row) == 0   ? ", at most one CTA per SM"
                       : regime_of(job, worst->row) == 1 ? ", up to one wave"
                                                         : "");
    }
}

/* The prediction of the split whose time is nearest to the median one. */
static const struct validation_prediction *typical(const struct validation *result, size_t row, double median_s)
{
    const struct validation_prediction *best = NULL;
    for (size_t s = 0; s < result->splits; s++) {
        const struct validation_prediction *prediction = &result->predictions[s * result->rows + row];
        if (prediction->held_out && (!best || fabs(prediction->time_s - median_s) < fabs(best->time_s - median_s))) {
            best = prediction;
        }
    }
    return best;
}

static void fill_worst(const struct validation_job *job, struct validation *result)
{
    double times[VALIDATION_SPLITS_MAX];
    for (size_t i = 0; i < result->rows; i++) {
        struct validation_worst row = {.row = (uint32_t)i, .measured_s = job->rows[i].time_s};
        for (size_t s = 0; s < result->splits; s++) {
            const struct validation_prediction *prediction = &result->predictions[s * result->rows + i];
            if (prediction->held_out) {
                times[row.tests++] = prediction->time_s;
            }
        }
        if (!row.tests) {
            continue;
        }
        row.predicted_s = median_in_place(times, row.tests);
        row.ape_percent = 100 * fabs(row.predicted_s / row.measured_s - 1);
        size_t place = result->worst_count;
        while (place > 0 && result->worst[place - 1].ape_percent < row.ape_percent) {
            place--;
        }
        if (place == VALIDATION_WORST_MAX) {
            continue;
        }
        result->worst_count += result->worst_count < VALIDATION_WORST_MAX;
        memmove(&result->worst[place + 1], &result->worst[place],
                (result->worst_count - place - 1) * sizeof result->worst[0]);
        result->worst[place] = row;
    }
    for (size_t w = 0; w < result->worst_count; w++) {
        name_reason(job, typical(result, result->worst[w].row, result->worst[w].predicted_s), &result->worst[w]);
    }
}

/* ---- all together ------------------------------------------------------------------------------------------------ */

static enum status pool_rows(const struct validation_job *job, struct validation *result, struct error *error)
{
    double *apes = malloc((result->rows * result->splits + 1) * sizeof *apes);
    size_t tests = 0, inside = 0, within = 0;
    if (!apes) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for errors");
    }
    for (size_t p = 0; p < result->rows * result->splits; p++) {
        const struct validation_prediction *prediction = &result->predictions[p];
        const double measured_s = job->rows[p % result->rows].time_s;
        if (prediction->held_out) {
            tests++;
            inside += measured_s >= prediction->time_lo_s && measured_s <= prediction->time_hi_s;
            if (!prediction->beyond) {
                apes[within++] = 100 * fabs(prediction->time_s / measured_s - 1);
            }
        }
    }
    result->pooled_coverage_fraction = (double)inside / (double)tests;
    result->extrapolating_fraction = 1 - (double)within / (double)tests;
    result->inside_median_ape_percent = within ? median_in_place(apes, within) : (double)NAN;
    free(apes);
    return STATUS_OK;
}

enum status validation_summarise(const struct validation_job *job, const struct split_scores *scores,
                                 struct validation *result, struct error *error)
{
    summarise_splits(job, scores, result);
    fill_worst(job, result);
    enum status status = pool_rows(job, result, error);
    return status == STATUS_OK ? fill_slices(job, result, error) : status;
}
