/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the build says about this program. Used by the version and doctor commands. */
#ifndef OCCAM_CLI_PROGRAM_VERSION_H
#define OCCAM_CLI_PROGRAM_VERSION_H

#include <stdbool.h>

/* "0.1.0"; static. */
const char *program_version(void);
/* Git revision of the source, or "unknown" when it was built outside a repository; static. */
const char *program_revision(void);
/* Whether the build found the CUDA toolkit. */
bool program_has_cuda(void);

#endif
