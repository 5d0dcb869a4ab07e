/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the files behind an answer were, and what of them was left out. Used by inspect and reconcile. */
#ifndef OCCAM_CLI_EVIDENCE_REMARKS_H
#define OCCAM_CLI_EVIDENCE_REMARKS_H

#include "cli/report.h"
#include "evidence/claims/evidence_read.h"

/* files[]: file, kind, entries, skipped, first_skipped, remark. */
void evidence_record_files(struct report *report, const struct evidence *evidence);
/* A line for each file with entries left out or a remark. */
void evidence_print_files(const struct evidence *evidence);

#endif
