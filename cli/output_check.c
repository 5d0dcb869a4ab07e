/* SPDX-License-Identifier: GPL-3.0-or-later
 * Looks at the file and its folder without touching either. */
#include "cli/output_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096
};

static enum status fail(const char *path, const char *reason, struct error *error)
{
    return error_set_at(error, STATUS_IO, path, 0, 0, "cannot be written: %s", reason);
}

enum status output_check(const char *path, struct error *error)
{
    char folder[PATH_SIZE] = ".";
    struct stat state;
    if (!path) {
        return STATUS_OK;
    }
    if (stat(path, &state) == 0) {
        return S_ISDIR(state.st_mode)    ? fail(path, "it is a folder", error)
               : access(path, W_OK) == 0 ? STATUS_OK
                                         : fail(path, strerror(errno), error);
    }
    const char *slash = strrchr(path, '/');
    if (slash) {
        const size_t length = slash == path ? 1 : (size_t)(slash - path);
        if (length >= sizeof folder) {
            return fail(path, strerror(ENAMETOOLONG), error);
        }
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    return access(folder, W_OK | X_OK) == 0 ? STATUS_OK : fail(path, strerror(errno), error);
}
