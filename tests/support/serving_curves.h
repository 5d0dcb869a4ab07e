/* SPDX-License-Identifier: GPL-3.0-or-later
 * Measured concurrency curves from a CSV table with the columns curve, concurrency, tok_s, itl_ms, experts_per_token
 * and experts; for the step-time tests and the serving report. */
#ifndef OCCAM_TESTS_SUPPORT_SERVING_CURVES_H
#define OCCAM_TESTS_SUPPORT_SERVING_CURVES_H

#include <stddef.h>

#include "model/describe/serving.h"

enum {
    CURVE_POINTS_MAX = 32
};

struct serving_curve {
    char name[96];
    double experts_per_token, experts; /* 0 = dense */
    uint32_t count;
    struct serving_point points[CURVE_POINTS_MAX]; /* by ascending concurrency; step time = the table's ITL */
};

struct serving_curves {
    size_t count;
    struct serving_curve *curves; /* in order of first appearance */
};

/* Release with serving_curves_release. */
MUST_CHECK enum status serving_curves_read(const char *path, struct serving_curves *curves, struct error *error);
void serving_curves_release(struct serving_curves *curves);
/* Borrowed; NULL if there is none of that name. */
const struct serving_curve *serving_curves_find(const struct serving_curves *curves, const char *name);

#endif
