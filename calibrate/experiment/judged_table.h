/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam judge` is given, as a table. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_JUDGED_TABLE_H
#define OCCAM_CALIBRATE_EXPERIMENT_JUDGED_TABLE_H

#include "base/csv.h"
#include "evidence/serving/serving_results.h"

/* What serving results say besides their figures. NaN, SERVING_RESULT_KIND_COUNT: nothing, or not the same in all. */
struct judged_origin {
    enum serving_result_kind kind;
    double input_tokens, output_tokens; /* per request, means over the runs */
    double completed, failed;           /* requests of all runs */
};

/* CSV as it stands; results of serving benchmarks (JSON, or a folder; of one deployment and workload) with the columns
 * concurrency, request_rate (unknown_... where a run does not say), output_tokens_per_s and outcome (failed: without a
 * completed request). Caller releases the table, also after an error. */
MUST_CHECK enum status judged_table_read(const char *path, struct csv_table *table, struct judged_origin *origin,
                                         struct error *error);
/* What differs between the sides besides the change, as sentences: the program that measured, the workload by more than
 * a tenth, more than one request in a hundred that failed. "" if nothing does. */
void judged_origins_compare(const struct judged_origin *base, const struct judged_origin *variant, char *doubt,
                            size_t size);

#endif
