/* SPDX-License-Identifier: GPL-3.0-or-later
 * Exact entries, then a histogram with geometric buckets (eq. SERVE-12). */
#include "sim/latency_sketch.h"

#include <math.h>
#include <stdlib.h>

struct latency_entry {
    double value;
    uint64_t weight;
};

#define LEAST_VALUE_S    1e-9
#define LARGEST_VALUE_S  1e9
#define BUCKET_FACTOR    ((1.0 + LATENCY_SKETCH_RELATIVE_ERROR) / (1.0 - LATENCY_SKETCH_RELATIVE_ERROR))
#define BUCKET_LOG_WIDTH 0.010000083334583179 /* log(BUCKET_FACTOR) */

enum {
    /* Bucket 0 holds values below the least, the last one values beyond the largest. */
    BUCKET_COUNT = 4145 + 2 /* log(1e18) / BUCKET_LOG_WIDTH, rounded up */
};

static size_t bucket_of(double value)
{
    if (value < LEAST_VALUE_S)
        return 0;
    if (value >= LARGEST_VALUE_S)
        return BUCKET_COUNT - 1;
    size_t bucket = 1 + (size_t)(log(value / LEAST_VALUE_S) / BUCKET_LOG_WIDTH);

    return bucket < BUCKET_COUNT - 1 ? bucket : BUCKET_COUNT - 2;
}

/* The value within the stated error of every value of the bucket. */
static double bucket_value(const struct latency_sketch *sketch, size_t bucket)
{
    double value;

    if (bucket == 0)
        return 0.0;
    if (bucket == BUCKET_COUNT - 1)
        return sketch->maximum;
    value = LEAST_VALUE_S * exp(BUCKET_LOG_WIDTH * (double)(bucket - 1)) * 2.0 * BUCKET_FACTOR / (1.0 + BUCKET_FACTOR);
    return fmin(fmax(value, sketch->minimum), sketch->maximum);
}

static void bucket_add(struct latency_sketch *sketch, double value, uint64_t weight)
{
    if (value != sketch->last_value) {
        sketch->last_value = value;
        sketch->last_bucket = bucket_of(value);
    }
    sketch->buckets[sketch->last_bucket] += weight;
}

static void become_histogram(struct latency_sketch *sketch)
{
    sketch->buckets = calloc(BUCKET_COUNT, sizeof *sketch->buckets);
    if (sketch->buckets == NULL) {
        sketch->failed = true;
        return;
    }
    sketch->last_value = (double)NAN;
    for (size_t i = 0; i < sketch->entry_count; i++)
        bucket_add(sketch, sketch->entries[i].value, sketch->entries[i].weight);
    free(sketch->entries);
    sketch->entries = NULL;
    sketch->entry_count = sketch->entry_capacity = 0;
}

static void entry_add(struct latency_sketch *sketch, double value, uint64_t weight)
{
    if (sketch->entry_count > 0 && !sketch->sorted && sketch->entries[sketch->entry_count - 1].value == value) {
        sketch->entries[sketch->entry_count - 1].weight += weight;
        return;
    }
    if (sketch->entry_count == sketch->entry_capacity) {
        size_t capacity = sketch->entry_capacity > 0 ? 2 * sketch->entry_capacity : 64;
        struct latency_entry *grown = realloc(sketch->entries, capacity * sizeof *grown);

        if (grown == NULL) {
            sketch->failed = true;
            return;
        }
        sketch->entries = grown;
        sketch->entry_capacity = capacity;
    }
    sketch->entries[sketch->entry_count++] = (struct latency_entry){value, weight};
    sketch->sorted = false;
}

/* Neumaier's compensated sum: means of a million terms stay exact enough for Little's law. */
static void sum_add(struct latency_sketch *sketch, double term)
{
    double sum = sketch->sum + term;

    sketch->sum_rest += fabs(sketch->sum) >= fabs(term) ? (sketch->sum - sum) + term : (term - sum) + sketch->sum;
    sketch->sum = sum;
}

void latency_sketch_add(struct latency_sketch *sketch, double value, uint64_t weight)
{
    if (!(value >= 0.0) || isinf(value))
        BUG("a latency of %g s", value);
    if (sketch->failed)
        return;
    sketch->minimum = sketch->count == 0 ? value : fmin(sketch->minimum, value);
    sketch->maximum = sketch->count == 0 ? value : fmax(sketch->maximum, value);
    sketch->count += weight;
    sum_add(sketch, value * (double)weight);
    if (sketch->buckets == NULL && sketch->entry_count == LATENCY_SKETCH_EXACT_MAX)
        become_histogram(sketch);
    if (sketch->failed)
        return;
    if (sketch->buckets != NULL)
        bucket_add(sketch, value, weight);
    else
        entry_add(sketch, value, weight);
}

static int compare_entries(const void *left, const void *right)
{
    double a = ((const struct latency_entry *)left)->value, b = ((const struct latency_entry *)right)->value;

    return (a > b) - (a < b);
}

static double exact_quantile(struct latency_sketch *sketch, double rank)
{
    uint64_t seen = 0;

    if (!sketch->sorted)
        qsort(sketch->entries, sketch->entry_count, sizeof *sketch->entries, compare_entries);
    sketch->sorted = true;
    for (size_t i = 0; i < sketch->entry_count; i++) {
        seen += sketch->entries[i].weight;
        if ((double)seen >= rank)
            return sketch->entries[i].value;
    }
    return sketch->maximum;
}

double latency_sketch_quantile(struct latency_sketch *sketch, double quantile)
{
    double rank = fmax(1.0, ceil(quantile * (double)sketch->count * (1.0 - 1e-15)));
    uint64_t seen = 0;

    if (sketch->count == 0)
        return (double)NAN;
    if (sketch->buckets == NULL)
        return exact_quantile(sketch, rank);
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        seen += sketch->buckets[i];
        if ((double)seen >= rank)
            return bucket_value(sketch, i);
    }
    return sketch->maximum;
}

double latency_sketch_mean(const struct latency_sketch *sketch)
{
    return sketch->count == 0 ? (double)NAN : (sketch->sum + sketch->sum_rest) / (double)sketch->count;
}

void latency_sketch_release(struct latency_sketch *sketch)
{
    free(sketch->entries);
    free(sketch->buckets);
    *sketch = (struct latency_sketch){0};
}
