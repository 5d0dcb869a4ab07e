/* SPDX-License-Identifier: GPL-3.0-or-later
 * Finds reference data that is not part of the repository. */
#include "tests/support/shared_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *shared_data_path(const char *test, const char *relative, char *out, size_t out_size)
{
    const char *base = getenv("OCCAM_SHARED");
    int length = snprintf(out, out_size, "%s/%s", base != NULL && base[0] != '\0' ? base : "../shared", relative);
    if (length >= 0 && (size_t)length < out_size && access(out, R_OK) == 0)
        return out;
    printf("skipped: %s: %s is not here (set OCCAM_SHARED)\n", test, relative);
    fflush(stdout);
    return NULL;
}
