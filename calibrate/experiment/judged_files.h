/* SPDX-License-Identifier: GPL-3.0-or-later
 * Two result files side by side: which column is the result, which columns are the conditions, which rows are repeats
 * or pairs. CSV tables, serving benchmarks' files, and folders of those (of one deployment and workload). Used by
 * `occam judge`. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_JUDGED_FILES_H
#define OCCAM_CALIBRATE_EXPERIMENT_JUDGED_FILES_H

#include "base/status.h"
#include "calibrate/experiment/effect_judge.h"
#include "calibrate/experiment/judged_metric.h"

enum {
    JUDGED_CONDITIONS_MAX = 4096,
    JUDGED_COLUMNS_MAX = 16 /* of conditions */
};

/* A column of that name must hold these values: the changed knob of a hypothesis. NaN: any value. */
struct judged_setting {
    char name[64];
    double base, variant;
};

struct judged_options {
    const char *metric;    /* column of the result; NULL: the only one of a known name */
    const char *const *by; /* columns of the conditions; by_count 0: those of a known name */
    size_t by_count;
    const char *const
        *prefer; /* names that may be conditions when by_count is 0: a scenario's workload; may be empty */
    size_t prefer_count;
    enum judged_quantity quantity; /* what the result must measure */
    const struct judged_setting *settings;
    size_t setting_count;
    double load; /* that a load which one file alone tells must be; 0: any */
};

enum {
    JUDGED_LOAD_NAMES = 9
};
/* Names of the column that tells how many requests are served at once. */
extern const char *const judged_load_names[JUDGED_LOAD_NAMES];

struct judged_condition {
    char text[200];                     /* "concurrency=8 tokens=640"; "" where there is only one */
    double numbers[JUDGED_COLUMNS_MAX]; /* of files.columns; NaN: a text */
    double *base, *variant;             /* results, larger is better: 1 / time for times */
    size_t base_count, variant_count;
    bool paired;
    double rounding; /* relative standard deviation that the last digit of the results stands for */
};

struct judged_files {
    size_t count;
    struct judged_condition *conditions; /* ascending in their columns */
    char metric[64];                     /* as the files name it */
    bool is_time;                        /* the result was inverted */
    size_t column_count;
    char columns[JUDGED_COLUMNS_MAX][64]; /* of the conditions */
    size_t only_base, only_variant;       /* conditions that the other file lacks */
    size_t counted_ways; /* in which one side counted its results, where the other does not say; or 1 */
    size_t failed;       /* rows that say so of themselves */
    char doubt[400];     /* why the sides may differ by more than the change, one sentence each; "" */
    char pairing[120];   /* why rows are pairs; "" */
    double oldest;       /* date of the oldest row, seconds since 1970; NaN: the files have no dates */
    double *storage;
};

/* Reads both files. STATUS_BAD_DATA with the place: no result column, or two of them, or one that does not measure
 * the quantity; a result that is no number, not above 0, or nothing that can be measured; no condition in common; pairs
 * that are none; a column that holds another value than a setting. STATUS_USAGE: the metric is a column of conditions.
 * Release with judged_files_release. */
MUST_CHECK enum status judged_files_read(const char *base_path, const char *variant_path,
                                         const struct judged_options *options, struct judged_files *files,
                                         struct error *error);
void judged_files_release(struct judged_files *files);

#endif
