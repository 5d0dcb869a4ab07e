/* SPDX-License-Identifier: GPL-3.0-or-later
 * Kernels of a layer one after the other (docs/MODEL.md section 4). */
#include <math.h>

#include "model/predict/kernel_time_private.h"

void layer_times_predict(const struct time_model *models, uint32_t count, const struct layer_case *layer,
                         struct layer_memo *memos, double *times_s)
{
    double launched = 0;
    for (uint32_t m = 0; m < count; m++) {
        times_s[m] = 0;
    }
    for (uint32_t i = 0; i < layer->kernel_count; i++) {
        const struct kernel_case *kernel = &layer->kernels[i];
        struct kernel_time placed;
        struct power_book book = {.closed = false};
        if (kernel->skipped) {
            continue;
        }
        launched++;
        placed.ctas_per_sm = occupancy_ctas_per_sm(models->limits, &kernel->launch);
        const bool held = tile_memo_holds(&memos->kernels[i], kernel);
        if (placed.ctas_per_sm > 0) {
            waves_compute(kernel->launch.grid_ctas, models->sm_count, placed.ctas_per_sm, &placed.waves);
        }
        for (uint32_t m = 0; m < count; m++) {
            struct tile_memo *memo = &memos[m].kernels[i];
            if (placed.ctas_per_sm == 0) {
                times_s[m] = (double)NAN;
                continue;
            }
            if (m == 0) {
                (void)tile_cost_recall(models, kernel, memo);
            } else if (!held) {
                tile_cost_compute(&models[m], kernel, &memo->cost);
            }
            book.next = 0;
            times_s[m] += kernel_time_seconds(&models[m], kernel, &memo->cost, &book, &placed);
            book.closed = true;
        }
    }
    for (uint32_t m = 0; m < count; m++) {
        times_s[m] += launched > 1 ? (launched - 1) * models[m].gap_s : 0;
    }
}

void layer_time_predict(const struct time_model *model, const struct layer_case *layer, struct layer_time *result)
{
    layer_time_predict_next(model, layer, NULL, result);
}

void layer_time_predict_next(const struct time_model *model, const struct layer_case *layer, struct layer_memo *memo,
                             struct layer_time *result)
{
    double sum_s = 0, lo_s = 0, hi_s = 0, sigma_s = 0, structural_s = 0, launched = 0;
    result->feasible = true;
    result->infeasible_kernel = 0;
    result->kernel_count = layer->kernel_count;
    for (int k = 0; k < TIME_LIMITER_COUNT; k++) {
        result->shares[k] = 0;
    }
    for (uint32_t i = 0; i < layer->kernel_count; i++) {
        struct kernel_time *kernel = &result->kernels[i];
        kernel_time_predict_next(model, &layer->kernels[i], memo ? &memo->kernels[i] : NULL, kernel);
        if (!kernel->feasible) {
            result->infeasible_kernel = result->feasible ? i : result->infeasible_kernel;
            result->feasible = false;
        }
        if (!kernel->feasible || layer->kernels[i].skipped) {
            continue;
        }
        launched++;
        sum_s += kernel->time_s;
        lo_s += kernel->time_lo_s;
        hi_s += kernel->time_hi_s;
        structural_s += kernel->time_s * kernel->structural_log_sigma;
        sigma_s += kernel->time_s * kernel->log_sigma; /* one model errs the same way in all kernels of a layer */
        for (int k = 0; k < TIME_LIMITER_COUNT; k++) {
            result->shares[k] += kernel->time_s * kernel->shares[k];
        }
    }
    const double gaps_s = launched > 1 ? (launched - 1) * model->gap_s : 0;
    result->time_s = sum_s + gaps_s;
    if (!result->feasible) {
        result->time_s = result->time_lo_s = result->time_hi_s = NAN;
        result->log_sigma = result->structural_log_sigma = NAN;
        return;
    }
    result->shares[TIME_LIMITER_LAUNCH] += gaps_s;
    const double scale = result->time_s > 0 ? 1 / result->time_s : 0;
    for (int k = 0; k < TIME_LIMITER_COUNT; k++) {
        result->shares[k] *= scale;
    }
    result->limiter = time_largest_share(result->shares);
    result->log_sigma = sigma_s * scale;
    result->structural_log_sigma = structural_s * scale;
    result->time_lo_s = lo_s + gaps_s; /* errors common to all kernels: their ends add */
    result->time_hi_s = hi_s + gaps_s;
}

uint32_t layer_time_longest_kernel(const struct layer_time *time)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < time->kernel_count; i++) {
        if (time->kernels[i].time_s > time->kernels[best].time_s) {
            best = i;
        }
    }
    return best;
}
