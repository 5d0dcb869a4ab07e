/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a change of configuration does: ratio of kernel times under shared uncertainty, carried into the step, with the
 * mechanisms named (eq. VAR-1 ff.). */
#ifndef OCCAM_MODEL_PREDICT_VARIANT_EFFECT_H
#define OCCAM_MODEL_PREDICT_VARIANT_EFFECT_H

#include "model/describe/serving.h"
#include "model/predict/kernel_time.h"

struct interval {
    double center, lo, hi; /* median and two-sided quantiles */
};

enum mechanism_kind {
    MECHANISM_REPLICATION, /* warps that compute the same tile again */
    MECHANISM_SPILLS,      /* registers per thread capped: local-memory traffic, possibly unknown */
    MECHANISM_RESIDENCY,   /* resident CTAs per SM */
    MECHANISM_OCCUPANCY,   /* resident warps per SM */
    MECHANISM_WAVES,       /* rounds and tail */
    MECHANISM_BUFFERS,     /* bytes in flight through stages */
    MECHANISM_WORK,        /* iterations, bytes or flop per CTA */
    MECHANISM_COMBINE,     /* time of the kernels after the first */
    MECHANISM_COUNT
};
const char *mechanism_name(enum mechanism_kind kind);

struct mechanism {
    enum mechanism_kind kind;
    double base, variant;             /* the quantity before and after; NaN = unknown */
    double base_other, variant_other; /* the same under the other possible mma layout; NaN where there is no doubt */
    double time_effect_fraction;      /* change of the variant's kernel time that this alone causes; NaN if it has no
                                         term of its own */
};

/* One layer group of the step: base and variant layers, run `count` times per step. */
struct variant_layers {
    double count;
    const struct layer_case *base, *variant; /* borrowed; the same pointer in every group: nothing was changed */
};

struct variant_effect {
    struct interval kernel_ratio; /* variant time / base time */
    struct interval kernel_share; /* base kernels' share of the base step (an explicit unknown unless measured) */
    struct interval throughput_change_fraction; /* -0.07 = 7 % fewer tokens per second */
    struct interval step_time_s;                /* variant */
    double probability_slower;
    bool share_is_measured;
    struct interval
        change_if_share_known; /* the same with the share fixed at its median: what measuring it would leave */
    double central_ratio;      /* of the described kernels over the whole step, central parameters, likelier layout */
    double other_layout_ratio; /* the same under the compiler's other warp layout; NaN where there is no doubt */
    double group_base_s[SERVING_LAYER_GROUPS_MAX], group_variant_s[SERVING_LAYER_GROUPS_MAX]; /* one layer of each */
    bool is_unmoved; /* no draw moves what the description holds: the intervals are the form's error alone (VAR-3) */
    uint32_t leading_group; /* layer group in which the change moves the step most; the mechanisms are its */
    uint32_t mechanism_count;
    struct mechanism mechanisms[MECHANISM_COUNT];
};

/* VAR-1..VAR-5. Draws (fixed seed) of parameters, of unknown mma layouts and spills, of an error of the form that the
 * two configurations do not share, and of the kernels' share of the step; both configurations see the same draw.
 * groups: the step's layer groups. serving may be NULL or not present: then the step
 * fields are NaN and probability_slower is that of the kernels. level: two-sided, for example 0.9. STATUS_DOMAIN when
 * either side cannot be launched. Not a hot path: some milliseconds. */
MUST_CHECK enum status variant_effect_predict(const struct gpu_device *device,
                                              const struct model_parameters *parameters,
                                              const struct variant_layers *groups, uint32_t group_count,
                                              const struct serving_model *serving, double concurrency, double level,
                                              struct variant_effect *result, struct error *error);

#endif
