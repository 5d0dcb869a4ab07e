/* SPDX-License-Identifier: GPL-3.0-or-later
 * Where a tuning loop keeps what it foretold and what came out, so that it goes on after any interruption. A table that
 * is only ever appended to; a ledger can take its place. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_TUNE_STORE_H
#define OCCAM_CALIBRATE_EXPERIMENT_TUNE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* A row: a forecast before its run (outcome "frozen"), or a run. */
struct tune_row {
    const double *values;                      /* of all variables of the store */
    const char *outcome;                       /* "frozen", "ok", "infeasible", "failed", "timeout" */
    double value;                              /* NaN unless ok; in the unit of the value column */
    double forecast, forecast_lo, forecast_hi; /* likewise; NaN: none */
    const char *note;
    const double *samples; /* raw repeats behind the value, in its unit; NULL: the value is the only one */
    size_t sample_count;
    const char *provenance; /* device, driver, clocks, method; NULL: not known */
};

struct tune_store {
    void *context;
    /* Kept when it returns STATUS_OK, whatever happens then. */
    enum status (*keep)(void *context, const struct tune_row *row, struct error *error);
};

/* The append-only CSV: columns are the variables' names, value_name, outcome, forecast, forecast_lo, forecast_hi, note,
 * device (the same in every row; a record from before there was this column goes on without it).
 * Every row is one write, flushed to the disk. An existing file must have these columns, and a last line that was cut
 * off is taken away. STATUS_BAD_DATA: other columns; STATUS_IO. Close with tune_table_close. */
struct tune_table;
MUST_CHECK enum status tune_table_open(const char *path, const char *const *names, size_t name_count,
                                       const char *value_name, const char *device, struct tune_table **table,
                                       struct tune_store *store, struct error *error);
void tune_table_close(struct tune_table *table);

#endif
