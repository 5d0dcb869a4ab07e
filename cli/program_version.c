/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the Makefile passes in: OCCAM_VERSION, OCCAM_REVISION, OCCAM_WITH_CUDA. */
#include "cli/program_version.h"

#ifndef OCCAM_VERSION
#define OCCAM_VERSION "unknown"
#endif
#ifndef OCCAM_REVISION
#define OCCAM_REVISION "unknown"
#endif
#ifndef OCCAM_WITH_CUDA
#define OCCAM_WITH_CUDA 0
#endif

const char *program_version(void)
{
    return OCCAM_VERSION;
}

const char *program_revision(void)
{
    return OCCAM_REVISION;
}

bool program_has_cuda(void)
{
    return OCCAM_WITH_CUDA != 0;
}
