/* SPDX-License-Identifier: GPL-3.0-or-later
 * How a validation is printed: JSON and CSV keys (a promise, docs/DATA.md), tables for a terminal, predictions as CSV,
 * and the figures that --require may name. */
#ifndef OCCAM_CLI_VALIDATE_REPORT_H
#define OCCAM_CLI_VALIDATE_REPORT_H

#include "calibrate/validation.h"
#include "cli/report.h"

/* One validation and how it was asked for. */
struct validate_run {
    const struct scenario *scenario;
    const struct measured_rows *rows;
    const struct validation_options *options;
    struct validation result;
};

/* The figures of a run by key: fixed order, all of them. *value is NaN where unknown. Returns NULL past the end. */
const char *validate_field(const struct validate_run *run, size_t index, double *value);
/* "24 random rows", "96 random rows, whole workloads held out", ...; returns out. */
const char *validate_split_text(const struct validate_run *run, char *out, size_t size);

/* All runs: the keys of the first at the top, then runs[] with the figures of each. */
void validate_record(struct report *report, const struct validate_run *runs, size_t count);
MUST_CHECK enum status validate_print(const struct validate_run *run, FILE *stream, struct error *error);
/* One line per prediction of a held-out row. */
MUST_CHECK enum status validate_write_predictions(const struct validate_run *runs, size_t count, const char *path,
                                                  struct error *error);

#endif
