/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to search_surrogate.c, which fits, and search_candidates.c, which predicts. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_SURROGATE_PRIVATE_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_SURROGATE_PRIVATE_H

#include <math.h>

#include "calibrate/experiment/search_surrogate.h"

enum {
    LOG_AMPLITUDE,
    LOG_NOISE,
    LOG_LENGTHS,
    SEARCH_UNKNOWNS_MAX = LOG_LENGTHS + SEARCH_FEATURES_MAX,
    SEARCH_BLOCK = 128 /* configurations weighed together */
};
_Static_assert((int)SEARCH_JOINT_MAX <= (int)SEARCH_BLOCK, "a joint covariance is made from one block");

struct search_surrogate {
    const struct search_space *space;
    enum search_kernel kernel;
    const double *offsets; /* NULL: no prior */
    double offset_mean, prior_scale;
    size_t capacity, count;
    struct search_observation *rows;
    double center, scale; /* outputs = (ln(value) - offset - center) / scale */
    double common, slope; /* variances of a common shift, and of the slope against the offset */
    double unknowns[SEARCH_UNKNOWNS_MAX];
    double fit_value; /* minus the logarithm of their posterior density, in units of scale, over fit_count rows */
    size_t fit_count;
    double amplitude;                    /* of the unknowns that the tables are of */
    double *tables[SEARCH_FEATURES_MAX]; /* levels x levels: correlation, or square of the scaled distance */
    double *slopes[SEARCH_FEATURES_MAX]; /* levels x levels: d ln(correlation) / d ln(length); product only */
    double *table_storage;
    double *factor, *inverse;            /* capacity x capacity, row-major */
    double *outputs, *forward, *weights; /* capacity */
    float *tables_single;                /* the correlations again: single precision is enough for candidates */
    float *block, *reference;            /* capacity x SEARCH_BLOCK */
};

static inline bool surrogate_is_product(const struct search_surrogate *self)
{
    return self->kernel == SEARCH_KERNEL_PRODUCT || self->kernel == SEARCH_KERNEL_ANOVA;
}

static inline double surrogate_offset(const struct search_surrogate *self, size_t config)
{
    return self->offsets ? (self->offsets[config] - self->offset_mean) / self->scale : 0;
}

/* What the lengths do not touch. */
static inline double surrogate_common(const struct search_surrogate *self, double offset_a, double offset_b)
{
    return self->common + self->slope * offset_a * offset_b;
}

/* Without common parts and noise. */
double surrogate_covariance(const struct search_surrogate *self, size_t a, size_t b);

#endif
