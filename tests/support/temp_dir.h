/* SPDX-License-Identifier: GPL-3.0-or-later
 * A directory that lives as long as one test. */
#ifndef OCCAM_TESTS_SUPPORT_TEMP_DIR_H
#define OCCAM_TESTS_SUPPORT_TEMP_DIR_H

#include <stddef.h>

struct temp_dir {
    char path[512];
};

/* Creates an empty directory below TMPDIR (default /tmp). A failure fails the test. */
void temp_dir_create(struct temp_dir *directory);
/* Removes it with all that is in it. */
void temp_dir_remove(struct temp_dir *directory);
/* "directory/name" into out. Returns out. */
const char *temp_dir_path(const struct temp_dir *directory, const char *name, char *out, size_t out_size);
/* Writes a file of these bytes into the directory and its path into out. Returns out. A failure fails the test. */
const char *temp_dir_write(const struct temp_dir *directory, const char *name, const char *bytes, size_t length,
                           char *out, size_t out_size);

#endif
