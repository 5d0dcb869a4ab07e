/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `cuobjdump -res-usage` (--dump-resource-usage) prints of each kernel. */
#ifndef OCCAM_EVIDENCE_CODE_RESOURCE_USAGE_TEXT_H
#define OCCAM_EVIDENCE_CODE_RESOURCE_USAGE_TEXT_H

#include "evidence/code/compiled_kernel.h"

bool resource_usage_text_is_one(const char *text, size_t length);

/* Appends one record per "Function NAME:" with its line of figures; several reports may be joined. From a container of
 * cubins the report names the architecture ("arch = sm_90"); from a bare cubin it does not, and then SHARED, which
 * holds the reserve from sm_90 on, only bounds static SMEM from above. STATUS_BAD_DATA with file and line: a function
 * without its figures, a figure that is no number, no function at all. */
MUST_CHECK enum status resource_usage_text_parse(const char *text, size_t length, const char *name,
                                                 struct compiled_kernel_list *list, struct error *error);

#endif
