/* SPDX-License-Identifier: GPL-3.0-or-later
 * Measurement files bound to a scenario: columns named after its knobs and workload variables become kernel cases, the
 * time column becomes seconds. Ours and foreign tables alike. Used by calibrate, validate, judge and propose. */
#ifndef OCCAM_CALIBRATE_MEASURED_ROWS_H
#define OCCAM_CALIBRATE_MEASURED_ROWS_H

#include <stdbool.h>

#include "base/csv.h"
#include "calibrate/kernel_fit.h"
#include "evidence/scenario/scenario.h"

struct measured_rows_options {
    const char *time_column; /* NULL: time_us, else the only column named time_ns, time_us, time_ms or time_s; the unit
                                is its ending */
    const char *kernel;      /* only rows whose `kernel` column says so; NULL: all */
    const struct device_catalogue *catalogue; /* rows of another GPU than the scenario's are refused; NULL: taken */
    bool first_kernel_only; /* the time is of the scenario's first kernel alone (a profiler's row), not of the layer */
};

struct measured_rows {
    size_t count;
    struct kernel_row *rows; /* configurations, repeats of one merged into their median (CAL-1) */
    double *values;          /* count x scenario_variable_count: knobs and workload of each row */
    size_t variable_count;
    size_t read, repeats, infeasible, failed,
        references;                          /* rows of the files, and those that are no row here, by why */
    uint32_t group_count;                    /* different workloads */
    char device[96], gpu_id[64], driver[64]; /* common to all rows; "" where no column says */
    double sm_clock_mhz;                     /* median, NaN unknown */
    uint64_t hash;                           /* of the files' bytes */
    unsigned warning_count;
    char warnings[8]
                 [200]; /* suspected unit, odd times, spread of repeats, more than one GPU of a kind: one line each */
};

/* Reads paths[0..path_count). Errors name file and line: a missing column that has no single value in the scenario, a
 * time that is zero, negative, no number or one that nothing takes, a value outside a knob's list (foreign values are
 * taken for workload), rows of different devices, a configuration that the device cannot run though it was timed, no
 * row left. A factor of about a thousand between times and predictions is STATUS_BAD_DATA that says which unit it
 * suspects. Release with measured_rows_release. */
MUST_CHECK enum status measured_rows_read(const struct scenario *scenario, const char *const *paths, size_t path_count,
                                          const struct measured_rows_options *options, struct measured_rows *rows,
                                          struct error *error);
void measured_rows_release(struct measured_rows *rows);

/* measured: what a column `device` says; "", n/a, unknown and the like say nothing. The model (H200, 3090) must be one
 * of the name or title of the scenario's GPU; a name without a model is taken on trust unless it is all of another's
 * name. STATUS_BAD_DATA with the place where it is another GPU than the scenario is read for. */
MUST_CHECK enum status measured_device_check(const struct device_catalogue *catalogue, const struct scenario *scenario,
                                             const char *measured, const char *path, unsigned line,
                                             struct error *error);
/* The column with the time: `asked`, or where that is NULL as measured_rows_options.time_column says; *name is static
 * or asked. Its ending is the unit. */
MUST_CHECK enum status measured_time_find(const struct csv_table *table, const char *asked, const char **name,
                                          double *second_per_unit, struct error *error);
/* A time that anything takes: 1 ns to 10^6 s. */
bool measured_time_is_possible(double time_s);
/* Holds the times of a file against the model: ratio is the median of measured over predicted. A factor of about a
 * thousand is STATUS_BAD_DATA that names the column and, by the ending of its name, the unit it seems to hold. *doubt:
 * a line where it is large and no such factor, else "". */
MUST_CHECK enum status measured_unit_judge(const char *path, const char *column, double ratio, char doubt[200],
                                           struct error *error);

#endif
