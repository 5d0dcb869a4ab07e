/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `ptxas -v` (nvcc -Xptxas -v, --resource-usage) or NVRTC's log says of each kernel. */
#ifndef OCCAM_EVIDENCE_CODE_COMPILER_LOG_H
#define OCCAM_EVIDENCE_CODE_COMPILER_LOG_H

#include "evidence/code/compiled_kernel.h"

enum {
    COMPILER_LOG_BYTES_MAX = 256 << 20
};

/* The text holds a line of ptxas' report. */
bool compiler_log_is_one(const char *text, size_t length);

/* Appends one record per entry function and architecture, in the order of the text; several logs may be joined, and
 * other lines of a build stand between. Functions kept out of line have properties but no record. SMEM is static,
 * without the reserve, on every architecture; dynamic SMEM is never in a log. A kernel that the compiler refused ("uses
 * too much shared data") is followed by a line that looks normal: its record is marked rejected. A report that is cut
 * short keeps what it said, with a note. STATUS_BAD_DATA: no kernel in the text, or "Used ... registers" that cannot be
 * read; with file and line. */
MUST_CHECK enum status compiler_log_parse(const char *text, size_t length, const char *name,
                                          struct compiled_kernel_list *list, struct error *error);

#endif
