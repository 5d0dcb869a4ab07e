/* SPDX-License-Identifier: GPL-3.0-or-later
 * Quantiles of a stream of weighted times in bounded memory: exact up to a number of distinct entries, then a histogram
 * whose buckets grow by a constant factor. Used by the serving simulator. */
#ifndef OCCAM_SIM_LATENCY_SKETCH_H
#define OCCAM_SIM_LATENCY_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    LATENCY_SKETCH_EXACT_MAX = 1 << 14 /* entries kept as they are before the histogram takes over */
};
/* Largest relative error of a quantile once the sketch is a histogram (eq. SERVE-12). */
#define LATENCY_SKETCH_RELATIVE_ERROR 0.005

struct latency_sketch {
    uint64_t count;
    double sum, sum_rest; /* compensated sum of value x weight, seconds */
    double minimum, maximum;
    struct latency_entry *entries; /* while exact */
    size_t entry_count, entry_capacity;
    bool sorted;
    uint64_t *buckets; /* NULL while exact */
    double last_value; /* of the bucket that was used last: steady batches repeat one gap */
    size_t last_bucket;
    bool failed; /* memory ran out; what follows is lost */
};

/* Zero-initialise; release with latency_sketch_release. value >= 0 and finite, weight >= 1. */
void latency_sketch_add(struct latency_sketch *sketch, double value, uint64_t weight);
/* Sorts what is still exact. NaN for an empty sketch. quantile 0..1: the smallest recorded value that at least this
 * share of the weight does not exceed; from the histogram within LATENCY_SKETCH_RELATIVE_ERROR of it (values under a
 * nanosecond come out as 0, values from 1e9 s on as the maximum). */
double latency_sketch_quantile(struct latency_sketch *sketch, double quantile);
/* NaN for an empty sketch. */
double latency_sketch_mean(const struct latency_sketch *sketch);
void latency_sketch_release(struct latency_sketch *sketch);

#endif
