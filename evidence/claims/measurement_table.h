/* SPDX-License-Identifier: GPL-3.0-or-later
 * Tables of timed configurations, ours and others', as claims: a row each, knobs as parameters (docs/DATA.md,
 * measurements to learn from). Used by the table of evidence kinds. */
#ifndef OCCAM_EVIDENCE_CLAIMS_MEASUREMENT_TABLE_H
#define OCCAM_EVIDENCE_CLAIMS_MEASUREMENT_TABLE_H

#include "evidence/profiles/kernel_claim.h"

enum {
    MEASUREMENT_TABLE_BYTES_MAX = 64 << 20
};

/* Columns with a figure's name or a common short one become figures, the column time_us, time_ms, time_ns or time_s the
 * time, kernel, device and outcome themselves; every other cell that is not empty is a knob (the first
 * CLAIM_PARAMETERS_MAX), unless its column stands behind `outcome`: there are results. Rows with a time that is no
 * positive number are left out and counted. STATUS_BAD_DATA: no CSV, or no such time. */
MUST_CHECK enum status measurement_table_read(const char *path, struct kernel_claim_list *list, struct error *error);

#endif
