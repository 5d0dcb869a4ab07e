/* SPDX-License-Identifier: GPL-3.0-or-later
 * Measured points of a step-time law from files: occam's own table, or results of serving benchmarks. Used by the curve
 * and what is made from it. */
#ifndef OCCAM_CLI_MEASURED_POINTS_H
#define OCCAM_CLI_MEASURED_POINTS_H

#include "base/csv.h"
#include "cli/options.h"
#include "evidence/serving/serving_results.h"
#include "model/describe/serving.h"

/* The benchmark runs behind the points; nothing in it where all came from tables of our own. Zero-initialise. */
struct measured_runs {
    struct serving_results results; /* of all files, settled */
    size_t first, count;            /* the series that was taken */
};
void measured_runs_release(struct measured_runs *runs);

/* The column of tokens per second of all requests together, by any of the names that occam itself writes or reads;
 * -1: there is none. */
long throughput_column(const struct csv_table *table);

/* Points from files and folders into serving->points, at their nominal concurrency, with throughput so that throughput
 * x step time is the batch that ran (Little's law) where that is known. A table is told by its column `concurrency`.
 * Accept lengths of the runs become serving->tokens_per_step_per_request; without them the times are those of a token
 * and serving's own tokens per step stand. series: a part of the series' text or its number, NULL: there must be one.
 * STATUS_DOMAIN listing them when there are several; STATUS_BAD_DATA, STATUS_MISSING, STATUS_LIMIT. */
MUST_CHECK enum status measured_points_read(const struct text_list *files, const char *series,
                                            struct serving_model *serving, struct measured_runs *runs,
                                            struct error *error);

/* Requests that ran in the mean, where a run says so credibly (at most a tenth above what was offered); else what was
 * offered. */
double measured_run_batch(const struct serving_result *run);

/* "vllm bench serve: m/one; 1024 in, 1024 out" into out; returns out. */
const char *measured_series_text(const struct serving_result *result, char *out, size_t size);

#endif
