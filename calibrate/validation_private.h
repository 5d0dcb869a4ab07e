/* SPDX-License-Identifier: GPL-3.0-or-later
 * Between the files of validation: splits and predictions (validation.c), scores and slices (validation_scores.c),
 * choice of configurations (validation_choice.c). */
#ifndef OCCAM_CALIBRATE_VALIDATION_PRIVATE_H
#define OCCAM_CALIBRATE_VALIDATION_PRIVATE_H

#include "calibrate/validation.h"

/* Everything one validation works with; read-only while splits run. */
struct validation_job {
    const struct gpu_device *device;
    const struct model_parameters *priors;
    const struct scenario *scenario;
    const struct measured_rows *measured;
    const struct validation_options *options;
    struct kernel_row *rows; /* copies, their times shuffled where asked */
    uint32_t *groups;        /* of each row, from 0 */
    uint32_t group_count;
    uint32_t *shapes; /* the same by workload, for the choice */
    uint32_t shape_count;
    uint32_t sm_count;
    struct baseline_table baselines;
    struct kernel_facts {
        uint64_t grid_ctas;
        double waves, spill_bytes;
        bool structure_unknown;
    } * facts; /* of each row's longest kernel */
};

/* What one split leaves behind. */
struct split_scores {
    double metrics[VALIDATION_METRIC_COUNT], baselines[BASELINE_COUNT][VALIDATION_METRIC_COUNT];
    double coverage, half_width, train_rows, test_rows;
    bool residual_used;
    enum status status;
    struct error error;
};

/* Scores of held-out rows: predicted and measured seconds. scratch: 3 * count. */
void validation_measure(const double *predicted, const double *measured, size_t count, double *scratch,
                        double *metrics);
/* Fills everything of *result that follows from scores and predictions. */
MUST_CHECK enum status validation_summarise(const struct validation_job *job, const struct split_scores *scores,
                                            struct validation *result, struct error *error);
/* Rows sorted by a key, ties in the order of `rank`. */
struct validation_key {
    uint64_t hash; /* of the values that count (FNV-1a; a collision of 64 bits is not expected in any table) */
    uint32_t rank, row;
};
void validation_keys_sort(struct validation_key *keys, size_t count);
/* Hash of a row's values, but that of one variable (SIZE_MAX: of none). */
uint64_t validation_hash_but(const struct validation_job *job, size_t row, size_t variable);
struct validation_spread validation_spread_of(double *values, size_t count);
/* Choice of configurations: predictions (splits x rows) come from splits that held whole shapes out. */
MUST_CHECK enum status validation_choose(const struct validation_job *job,
                                         const struct validation_prediction *predictions, struct validation *result,
                                         struct error *error);

#endif
