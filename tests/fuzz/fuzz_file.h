/* SPDX-License-Identifier: GPL-3.0-or-later
 * For fuzz targets of readers that take a path: the input as a file. */
#ifndef OCCAM_TESTS_FUZZ_FUZZ_FILE_H
#define OCCAM_TESTS_FUZZ_FUZZ_FILE_H

#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/fuzz_target.h"

/* One file for the whole run, rewritten for each input, in memory where there is a folder for that: on a disk a process
 * waits three quarters of its time. It is removed at the end. */
static char fuzz_file_path[64];

static void fuzz_file_remove(void)
{
    (void)unlink(fuzz_file_path);
}

static const char *fuzz_file_write(const uint8_t *data, size_t size)
{
    static int descriptor = -1;
    if (descriptor < 0) {
        const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        (void)snprintf(fuzz_file_path, sizeof fuzz_file_path, "%s/occam-fuzz-XXXXXX", folder);
        descriptor = mkstemp(fuzz_file_path);
        FUZZ_REQUIRE(descriptor >= 0);
        (void)atexit(fuzz_file_remove);
    }
    FUZZ_REQUIRE(ftruncate(descriptor, 0) == 0);
    FUZZ_REQUIRE(size == 0 || pwrite(descriptor, data, size, 0) == (ssize_t)size);
    return fuzz_file_path;
}

#endif
