/* SPDX-License-Identifier: GPL-3.0-or-later
 * Between the files of a campaign: rows and the worker process. */
#ifndef OCCAM_CALIBRATE_CAMPAIGN_PRIVATE_H
#define OCCAM_CALIBRATE_CAMPAIGN_PRIVATE_H

#include <sys/types.h>

#include "calibrate/campaign.h"

/* ---- rows: campaign_rows.c --------------------------------------------------------------------------------------- */

/* How often each configuration is already in a file. */
struct campaign_past {
    size_t count;
    struct measure_config *configs;
};

struct campaign_row {
    const struct measure_facts *facts;
    const struct measure_config *config;
    const struct measure_result *result;
    const struct campaign_prediction *prediction;
    const char *revision;
    const char *seal; /* of the prediction; NULL while it is being made */
    uint64_t seed;
    bool is_reference;
};

/* Reads DIRECTORY/KERNEL.csv into past, but for rows that were not tried, (appending) if it exists; checks that its
 * columns are today's. A cut-off last line is removed from the file first. */
MUST_CHECK enum status campaign_past_read(const char *directory, const struct measure_kernel *kernel,
                                          struct campaign_past *past, struct error *error);
/* Once, between reading and counting. */
void campaign_past_sort(struct campaign_past *past);
size_t campaign_past_count(const struct campaign_past *past, const struct measure_config *config);
void campaign_past_release(struct campaign_past *past);
/* One row, in one write; the header first if the file is new. STATUS_IO with the reason (disk full...). */
MUST_CHECK enum status campaign_row_append(const char *directory, const struct campaign_row *row, struct error *error);
/* Appends the prediction to DIRECTORY/predictions.csv before the run. seal holds the digest of the line before ("" at
 * first) and gets this line's: each covers the one before, so a line changed later breaks all that follow. */
MUST_CHECK enum status campaign_prediction_append(const char *directory, const struct campaign_row *row,
                                                  char seal[CAMPAIGN_DIGEST_SIZE], struct error *error);
/* The last seal of the file, or "" where there is none. A cut-off last line is removed first; a line whose seal does
 * not follow from the one before: STATUS_BAD_DATA naming it. */
MUST_CHECK enum status campaign_seal_read(const char *directory, char seal[CAMPAIGN_DIGEST_SIZE], struct error *error);
/* DIRECTORY/provenance.json, rewritten through a second file. */
MUST_CHECK enum status campaign_provenance_write(const char *directory, const struct measure_facts *facts,
                                                 const struct campaign_options *options, struct error *error);

/* ---- worker process: campaign_worker.c ----------------------------------------------------------------------------
 */

/* First message of a worker; then one struct measure_result for every configuration. Both ends are the same program, so
 * the structs go over the pipe as they are. */
struct worker_hello {
    uint32_t version; /* WORKER_VERSION */
    enum status status;
    struct error error;
    struct measure_facts facts;
};
enum {
    WORKER_VERSION = 1
};

struct campaign_process {
    pid_t pid; /* 0 = none */
    int to, from;
};

MUST_CHECK enum status campaign_process_start(struct campaign_process *process, char *const *argv, double limit_s,
                                              struct measure_facts *facts, struct error *error);
/* Sends config, waits for the result. The outcome is CRASHED or TIMED_OUT when none came; the process is gone then. */
void campaign_process_measure(struct campaign_process *process, const struct measure_config *config, double limit_s,
                              struct measure_result *result);
/* Closes its input, waits a moment, kills it if it stays. */
void campaign_process_stop(struct campaign_process *process);

#endif
