/* SPDX-License-Identifier: GPL-3.0-or-later
 * How far a calibration can be trusted: trained on few rows, judged on all others, again and again (docs/MODEL.md
 * CAL-10). Rows trained on never enter an error. Used by `occam validate`. */
#ifndef OCCAM_CALIBRATE_VALIDATION_H
#define OCCAM_CALIBRATE_VALIDATION_H

#include "calibrate/baselines.h"
#include "calibrate/measured_rows.h"
#include "model/predict/kernel_time.h"

enum validation_split {
    VALIDATION_RANDOM, /* train_rows drawn at random */
    VALIDATION_DESIGN, /* train_rows by design_choose out of a random four fifths, so that repeats differ */
    VALIDATION_GROUPS  /* whole groups held out, about a tenth of them; train_rows drawn among the others */
};

enum {
    VALIDATION_SPLITS_MAX = 1000,
    VALIDATION_WORST_MAX = 10,
    VALIDATION_RUNS_AFTER = 8, /* of a shape nobody has run, by predicted rank, before choosing */
    VALIDATION_SLICE_VALUES_MAX = 16
};

struct validation_options {
    enum validation_split split;
    size_t train_rows;     /* 24 unless set; 0 with groups: all rows of the other groups */
    unsigned seeds;        /* repeated splits, 20 unless set */
    uint64_t seed;         /* of the first split */
    double interval_level; /* 0.9 unless set */
    long group_variable;   /* groups are the rows that share this variable's value; -1: the whole workload */
    bool no_baselines, no_choice, no_residual;
    void (*progress)(void *context, unsigned done, unsigned total); /* of splits; one call at a time; may be NULL */
    void *progress_context;
    bool shuffle_times; /* times dealt to other rows: nothing can be learnt, and no error may look as if */
};
void validation_options_init(struct validation_options *options);

/* Over the splits: median, and the tenth and ninetieth percentile. NaN: not known. */
struct validation_spread {
    double median, lo, hi;
};

enum validation_metric {
    VALIDATION_MAPE_PERCENT, /* mean of |predicted / measured - 1| */
    VALIDATION_MEDIAN_APE_PERCENT,
    VALIDATION_P90_APE_PERCENT,
    VALIDATION_MAX_APE_PERCENT,
    VALIDATION_BIAS_PERCENT, /* exp(median ln(predicted / measured)) - 1 */
    VALIDATION_SPEARMAN,
    VALIDATION_METRIC_COUNT
};
/* "mape_percent", ...; static. */
const char *validation_metric_name(enum validation_metric metric);

struct validation_scores {
    struct validation_spread metrics[VALIDATION_METRIC_COUNT];
};

/* Held-out rows of one value of one variable, or of one fill regime, over all splits. */
struct validation_slice {
    size_t variable; /* of the scenario; SIZE_MAX: a fill regime */
    double value;
    const char *regime; /* "<= 1 CTA per SM", "up to one wave", "more than one wave"; NULL for variables */
    size_t rows;        /* different rows */
    double median_ape_percent, p90_ape_percent, bias_percent, coverage_fraction;
};

struct validation_worst {
    uint32_t row;                   /* of the measured rows */
    unsigned tests;                 /* splits in which it was held out */
    double measured_s, predicted_s; /* the median of its predictions */
    double ape_percent;             /* of that */
    char reason[160];               /* what most likely lies behind it: one clause */
};

/* One knob chosen by prediction, all else equal, in shapes of which no row was trained on. */
struct validation_choice {
    size_t variable;
    size_t cells;                 /* sets of rows that differ in this knob alone, over all splits */
    double mean_ratio, max_ratio; /* time of the choice over that of the best measured value */
    double rule_mean, rule_max;   /* of the rule "least value whose waves fill 85 % of the best" (WAVE-3, over slots);
                                     NaN where the knob leaves the grid alone */
};

/* One prediction of one split. */
struct validation_prediction {
    double time_s, time_lo_s, time_hi_s;
    const char *beyond; /* as in struct calibrated_time */
    enum time_limiter limiter;
    float limiter_share;
    bool held_out; /* else trained on, or left out of this split: no figure uses it, and the numbers are zero */
    bool trained;
};

struct validation {
    size_t rows, train_rows, test_rows; /* the latter two: median over the splits */
    unsigned splits;
    double interval_level;
    struct validation_scores model, baselines[BASELINE_COUNT];
    double spearman_lo, spearman_hi;                          /* interval of the median (Bonett and Wright 2000) */
    struct validation_spread coverage_fraction;               /* of held-out rows inside their interval */
    struct validation_spread half_width_percent;              /* median of sqrt(hi / lo) - 1 */
    double pooled_coverage_fraction;                          /* over all held-out rows of all splits */
    unsigned residual_used;                                   /* splits in which the residual process helped */
    double extrapolating_fraction, inside_median_ape_percent; /* of rows marked so; error of the others */
    size_t shapes;                                            /* held-out shapes judged for choice, over all splits */
    double top1_regret_percent, after_runs_regret_percent, top1_regret_p90_percent; /* medians over shapes, and p90 */
    size_t after_runs_shapes; /* those with more than VALIDATION_RUNS_AFTER rows */
    size_t slice_count, worst_count, choice_count;
    struct validation_slice *slices;
    struct validation_worst worst[VALIDATION_WORST_MAX];
    struct validation_choice *choices;
    struct validation_prediction *predictions; /* splits x rows */
};

/* rows as measured_rows_read gives them. STATUS_BAD_DATA with too few rows (train_rows < 5, nothing left to test), a
 * single group to hold out; STATUS_LIMIT where splits x rows is beyond memory's sense. Uses OpenMP's threads; the
 * result does not depend on their number. Release with validation_release. */
MUST_CHECK enum status validation_run(const struct gpu_device *device, const struct model_parameters *priors,
                                      const struct scenario *scenario, const struct measured_rows *rows,
                                      const struct validation_options *options, struct validation *result,
                                      struct error *error);
void validation_release(struct validation *result);

#endif
