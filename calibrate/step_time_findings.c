/* SPDX-License-Identifier: GPL-3.0-or-later
 * Findings about a measured concurrency table; every rule compares a point with its neighbours or with the line. */
#include "calibrate/step_time_findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"
#include "model/predict/step_time.h"

/* Compute-bound work makes a step grow as fast as its batch; beyond this factor something else happened. */
static const double cliff_factor = 1.1;
/* Repeated runs differ by a few percent. */
static const double falling_factor = 0.95;
static const double outlier_least = 0.1, outlier_times_usual = 4.0;
/* A limit shows where the offered load grows by a fifth or more and what runs by less than a twentieth of that load. */
static const double offered_growth = 1.2, running_growth = 1.05;
static const double below_share = 0.8, above_share = 1.1;
static const double plateau_growth = 1.02;
static const double bend_least = 0.1, mixed_share = 0.3, touched_most = 0.9, touched_least = 0.2;

/* All points of one concurrency as one, by ascending concurrency. */
struct merged {
    double concurrency, log_time, running; /* running: NaN where unknown */
    uint32_t count;
};

struct search {
    const struct step_time_fit_options *options;
    const struct serving_point *points;
    uint32_t point_count, count;
    struct merged merged[SERVING_POINTS_MAX];
    bool after_cliff[SERVING_POINTS_MAX];
    struct step_time_findings *findings;
};

const char *step_time_finding_name(enum step_time_finding_kind kind)
{
    static const char *const names[STEP_TIME_FINDING_KIND_COUNT] = {"cliff",   "falling",     "outlier",    "admission",
                                                                    "plateau", "below",       "above",      "concave",
                                                                    "convex",  "inseparable", "slope-mixed"};
    if ((unsigned)kind >= STEP_TIME_FINDING_KIND_COUNT) {
        BUG("step-time finding %d does not exist", (int)kind);
    }
    return names[kind];
}

static void add(struct search *search, enum step_time_finding_kind kind, double from, double to, double value,
                const char *format, ...) __attribute__((format(printf, 6, 7)));
static void add(struct search *search, enum step_time_finding_kind kind, double from, double to, double value,
                const char *format, ...)
{
    struct step_time_findings *findings = search->findings;
    if (findings->count == STEP_TIME_FINDINGS_MAX) {
        return;
    }
    struct step_time_finding *item = &findings->items[findings->count++];
    *item = (struct step_time_finding){.kind = kind, .from = from, .to = to, .value = value};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(item->text, sizeof item->text, format, arguments);
    va_end(arguments);
}

static double running_batch(const struct serving_point *point, double tokens_per_step)
{
    return point->throughput_tokens_per_s * point->step_time_s / tokens_per_step;
}

static void merge_points(struct search *search, double tokens_per_step)
{
    double sorted[SERVING_POINTS_MAX];
    for (uint32_t i = 0; i < search->point_count; i++) {
        sorted[i] = search->points[i].concurrency;
    }
    sort_doubles(sorted, search->point_count);
    for (uint32_t i = 0; i < search->point_count; i++) {
        if (i == 0 || sorted[i] > sorted[i - 1]) {
            search->merged[search->count++] = (struct merged){.concurrency = sorted[i]};
        }
    }
    for (uint32_t i = 0; i < search->point_count; i++) {
        const struct serving_point *point = &search->points[i];
        uint32_t low = 0, high = search->count - 1;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (search->merged[middle].concurrency < point->concurrency) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        struct merged *merged = &search->merged[low];
        merged->count++;
        merged->log_time += (log(point->step_time_s) - merged->log_time) / merged->count;
        merged->running += (running_batch(point, tokens_per_step) - merged->running) / merged->count;
    }
}

static void find_steps(struct search *search)
{
    for (uint32_t i = 1; i < search->count; i++) {
        const struct merged *left = &search->merged[i - 1], *right = &search->merged[i];
        double ratio = exp(right->log_time - left->log_time), growth = right->concurrency / left->concurrency;
        if (ratio > cliff_factor * growth) {
            search->after_cliff[i] = true;
            add(search, STEP_TIME_CLIFF, left->concurrency, right->concurrency, ratio,
                "a cliff between %g and %g requests: the step takes %.2f times as long for %.2f times the batch, so "
                "that "
                "throughput falls; a batch without a captured graph or a preempting scheduler does that",
                left->concurrency, right->concurrency, ratio, growth);
        } else if (ratio < falling_factor) {
            add(search, STEP_TIME_FALLING, left->concurrency, right->concurrency, ratio,
                i == 1 ? "the step at %g requests takes longer than at %g (ratio %.2f): warm-up in the first point?"
                       : "the step at %g requests takes longer than at %g (ratio %.2f): the points do not belong "
                         "together, "
                         "or the engine changed its kernels",
                left->concurrency, right->concurrency, ratio);
        }
    }
}

/* Distance in log time from the straight line between the neighbours on the logarithmic axis of concurrency. */
static double off_neighbours(const struct search *search, uint32_t place)
{
    const struct merged *left = &search->merged[place - 1], *here = left + 1, *right = left + 2;
    double part = log(here->concurrency / left->concurrency) / log(right->concurrency / left->concurrency);
    return here->log_time - left->log_time - part * (right->log_time - left->log_time);
}

/* Median distance of the points that are neither `place` nor beside it, 0 if there are none. */
static double usual_distance(const struct search *search, const double *off, uint32_t place)
{
    double others[SERVING_POINTS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 1; i + 1 < search->count; i++) {
        if (i + 1 < place || i > place + 1) {
            others[count++] = fabs(off[i]);
        }
    }
    return count > 0 ? median_in_place(others, count) : 0.0;
}

static void find_outliers(struct search *search)
{
    double off[SERVING_POINTS_MAX] = {0}, sorted[SERVING_POINTS_MAX];
    if (search->count < 5) {
        return;
    }
    for (uint32_t i = 1; i + 1 < search->count; i++) {
        off[i] = sorted[i - 1] = off_neighbours(search, i);
    }
    /* A curve that bends lies off its chords everywhere; that much is no point's fault. */
    double bend = median_in_place(sorted, search->count - 2);
    for (uint32_t i = 1; i + 1 < search->count; i++) {
        off[i] -= bend;
    }
    for (uint32_t i = 1; i + 1 < search->count; i++) {
        /* An outlier pulls its neighbours' chords half as far the other way; a cliff pulls one of them only. */
        bool near_cliff = search->after_cliff[i] || search->after_cliff[i + 1];
        bool largest = fabs(off[i]) >= 1.5 * fabs(off[i - 1]) && fabs(off[i]) >= 1.5 * fabs(off[i + 1]);
        double n = search->merged[i].concurrency;
        if (largest && !near_cliff && fabs(off[i]) > outlier_least &&
            fabs(off[i]) > outlier_times_usual * usual_distance(search, off, i)) {
            add(search, STEP_TIME_OUTLIER, n, n, expm1(off[i]),
                "the point at %g requests lies %+.0f %% off its neighbours: measure it again", n,
                100.0 * expm1(off[i]));
        }
    }
}

static double requests_per_s(const struct merged *merged)
{
    return merged->concurrency / exp(merged->log_time);
}

/* Where the step time follows from the throughput the batch that ran is not known, but a limit still shows. */
static void find_plateau(struct search *search)
{
    const struct merged *last = &search->merged[search->count - 1];
    uint32_t place = search->count - 1;
    double largest = 0.0;
    for (uint32_t i = 0; i < search->count; i++) {
        largest = fmax(largest, requests_per_s(&search->merged[i]));
    }
    while (place > 0 && largest < plateau_growth * requests_per_s(&search->merged[place - 1])) {
        place--;
    }
    double from = search->merged[place].concurrency;
    if (last->concurrency >= offered_growth * from && largest < plateau_growth * requests_per_s(last)) {
        add(search, STEP_TIME_PLATEAU, from, last->concurrency, largest,
            "from %g requests on throughput no longer grows: either the engine admits no more and the others wait, or "
            "the step is bound by computing; an ITL measured beside tok_s tells which",
            from);
    }
}

/* Returns whether an admission limit was found: beyond it the nominal concurrency says nothing of the step. */
static bool find_limits(struct search *search)
{
    double largest = 0.0, above = 0.0;
    bool known = true, apart = false;
    for (uint32_t i = 0; i < search->count; i++) {
        const struct merged *merged = &search->merged[i];
        known = known && isfinite(merged->running);
        apart = apart || fabs(merged->running / merged->concurrency - 1.0) > 1e-3;
        largest = fmax(largest, merged->running);
        above = fmax(above, merged->running / merged->concurrency);
    }
    if (!known || !apart) {
        find_plateau(search);
        return false;
    }
    const struct merged *last = &search->merged[search->count - 1];
    uint32_t place = search->count - 1; /* the first of the last points that run alike */
    while (place > 0 && largest < running_growth * search->merged[place - 1].running) {
        place--;
    }
    double from = search->merged[place].concurrency, share = last->running / last->concurrency;
    bool is_limited = above <= above_share && last->concurrency >= offered_growth * from && share < below_share;
    if (above > above_share) {
        add(search, STEP_TIME_ABOVE, search->merged[0].concurrency, last->concurrency, above,
            "tok/s x step time makes up to %.2f times the requests that were offered: the two columns do not belong "
            "together (per GPU against all, chunks against tokens); the nominal concurrency is used",
            above);
    } else if (is_limited) {
        add(search, STEP_TIME_ADMISSION, from, last->concurrency, largest,
            "from %g requests on no more than about %.1f run at once (tok/s x step time): the engine admits no more "
            "(its largest batch or KV cache memory), the others wait. "
            "Figures for a larger batch are those of an engine that would admit it",
            from, largest);
    } else if (share < below_share) {
        add(search, STEP_TIME_BELOW, last->concurrency, last->concurrency, share,
            "of %g requests only %.1f run at once (tok/s x step time): the others are in prefill, or the client is "
            "slow "
            "or out of prompts",
            last->concurrency, last->running);
    }
    return is_limited;
}

/* The line without the last concurrency against the last one. */
static enum status find_bend(struct search *search, struct error *error)
{
    struct serving_point others[SERVING_POINTS_MAX];
    const struct merged *last = &search->merged[search->count - 1];
    struct step_time_fit part, whole = {0};
    uint32_t kept = 0;
    if (search->count < 4) {
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < search->point_count; i++) {
        if (search->points[i].concurrency < last->concurrency) {
            others[kept++] = search->points[i];
        }
    }
    enum status status = step_time_fit_once(STEP_TIME_LINE, others, kept, search->options, &part, error);
    if (status == STATUS_OK) {
        status =
            step_time_fit_once(STEP_TIME_LINE, search->points, search->point_count, search->options, &whole, error);
    }
    if (status != STATUS_OK || !part.has_law || !whole.has_law) {
        return status;
    }
    double miss = step_time_evaluate(&part.law, last->concurrency) / exp(last->log_time) - 1.0;
    if (fabs(miss) > bend_least) {
        add(search, miss > 0.0 ? STEP_TIME_CONCAVE : STEP_TIME_CONVEX, last->concurrency, last->concurrency, miss,
            "%s: a line misses the points by %.1f %% on average and, without the last one, %s it by %.0f %%",
            miss > 0.0 ? "concave" : "convex", 100.0 * whole.mean_relative_error,
            miss > 0.0 ? "over-predicts" : "under-predicts", 100.0 * fabs(miss));
    }
    /* What grows with n at the last point: KV cache reads, prefill mixed in, host work per request. */
    double share = whole.law.parameters[1] * last->concurrency / step_time_evaluate(&whole.law, last->concurrency);
    if (share > mixed_share) {
        add(search, STEP_TIME_SLOPE_MIXED, last->concurrency, last->concurrency, share,
            "%.0f %% of the step at %g requests grows with their number; one workload cannot split this into KV cache "
            "reads, prefill mixed in and host work: run the same concurrencies with another prompt length and, apart, "
            "another output length",
            100.0 * share, last->concurrency);
    }
    return STATUS_OK;
}

/* Points that all lie where the experts are touched already, or where touching still grows as n does. */
static void find_inseparable(struct search *search)
{
    double experts = search->options->experts, chosen = search->options->experts_per_token;
    double lo = search->merged[0].concurrency, hi = search->merged[search->count - 1].concurrency;
    if (experts > chosen) {
        double most = ceil(log1p(-touched_most) / log1p(-chosen / experts));
        double least = distinct_experts(experts, chosen, lo) / experts;
        double share = distinct_experts(experts, chosen, hi) / experts;
        if (least > touched_most) {
            double below = fmax(1.0, floor(most / 4.0));
            add(search, STEP_TIME_INSEPARABLE, lo, hi, below,
                "at %g requests %.0f %% of the experts are touched already: reading experts (m) cannot be told from "
                "the fixed part (a); run %g requests",
                lo, 100.0 * least, below);
        } else if (share < touched_least) {
            add(search, STEP_TIME_INSEPARABLE, lo, hi, most,
                "up to %g requests the touched experts grow as the batch does (%.0f %% of them): reading experts (m) "
                "cannot be told from the time per request (b); run %g requests",
                hi, 100.0 * share, most);
        }
    }
    if (hi < 2.0 * lo) {
        add(search, STEP_TIME_INSEPARABLE, lo, hi, lo > 2.0 ? 1.0 : ceil(4.0 * hi),
            "%g to %g requests are less than a doubling: the fixed part cannot be told from what grows; run %g", lo, hi,
            lo > 2.0 ? 1.0 : ceil(4.0 * hi));
    }
}

enum status step_time_find(const struct serving_point *points, uint32_t count, double tokens_per_step,
                           const struct step_time_fit_options *options, struct step_time_findings *findings,
                           struct error *error)
{
    struct search search = {.options = options, .points = points, .point_count = count, .findings = findings};
    struct step_time_fit ignored;
    findings->count = 0;
    /* One fit for its checks of the points. */
    enum status status = step_time_fit_once(STEP_TIME_LINE, points, count, options, &ignored, error);
    if (status != STATUS_OK) {
        return status;
    }
    merge_points(&search, tokens_per_step);
    find_steps(&search);
    find_outliers(&search);
    if (!find_limits(&search)) {
        status = find_bend(&search, error);
    }
    if (status == STATUS_OK) {
        find_inseparable(&search);
    }
    return status;
}

bool step_time_use_running_batch(struct serving_point *points, uint32_t count, double tokens_per_step)
{
    for (uint32_t i = 0; i < count; i++) {
        double running = running_batch(&points[i], tokens_per_step);
        if (!isfinite(running) || !(running > 0.0) || running > above_share * points[i].concurrency) {
            return false;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        points[i].concurrency = running_batch(&points[i], tokens_per_step);
    }
    return true;
}
