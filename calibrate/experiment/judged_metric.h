/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a column of results measures, by its name. Called by judged_files.c. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_JUDGED_METRIC_H
#define OCCAM_CALIBRATE_EXPERIMENT_JUDGED_METRIC_H

#include <stdbool.h>
#include <stddef.h>

/* What a hypothesis claims of. */
enum judged_quantity {
    JUDGED_ANY,
    JUDGED_THROUGHPUT,  /* of the server: rates of tokens or requests; times of a step or of a token behind the first */
    JUDGED_KERNEL_SPEED /* times of the kernel; its work per second */
};

/* Known names of results; NULL behind the last. Static. */
const char *judged_metric_name(size_t index);
/* Less is better: by the list; a name of its own is a time by its unit or its words, unless it is a rate. */
bool judged_metric_is_time(const char *name);
bool judged_metric_measures(const char *name, enum judged_quantity quantity);

#endif
