/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam judge` is given, as a table. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_JUDGED_TABLE_H
#define OCCAM_CALIBRATE_EXPERIMENT_JUDGED_TABLE_H

#include "base/csv.h"

/* CSV as it stands; results of serving benchmarks (JSON, or a folder of one deployment and workload) with the columns
 * concurrency, request_rate (unknown_... where a run does not say) and output_tokens_per_s. Caller releases the table,
 * also after an error. */
MUST_CHECK enum status judged_table_read(const char *path, struct csv_table *table, struct error *error);

#endif
