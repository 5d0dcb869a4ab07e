/* SPDX-License-Identifier: GPL-3.0-or-later
 * A directory that lives as long as one test. */
#define _XOPEN_SOURCE 700
#include "tests/support/temp_dir.h"

#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void temp_dir_create(struct temp_dir *directory)
{
    const char *base = getenv("TMPDIR");
    int length = snprintf(directory->path, sizeof directory->path, "%s/occam-test-XXXXXX",
                          base != NULL && base[0] != '\0' ? base : "/tmp");
    ck_assert_int_lt(length, (int)sizeof directory->path);
    ck_assert_msg(mkdtemp(directory->path) != NULL, "%s: %s", directory->path, strerror(errno));
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void temp_dir_remove(struct temp_dir *directory)
{
    ck_assert_msg(nftw(directory->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s: %s", directory->path,
                  strerror(errno));
}

const char *temp_dir_path(const struct temp_dir *directory, const char *name, char *out, size_t out_size)
{
    int length = snprintf(out, out_size, "%s/%s", directory->path, name);
    ck_assert_msg(length >= 0 && (size_t)length < out_size, "path of %s is too long", name);
    return out;
}

const char *temp_dir_write(const struct temp_dir *directory, const char *name, const char *bytes, size_t length,
                           char *out, size_t out_size)
{
    temp_dir_path(directory, name, out, out_size);
    FILE *stream = fopen(out, "wb");
    ck_assert_msg(stream != NULL, "%s: %s", out, strerror(errno));
    ck_assert_uint_eq(fwrite(bytes, 1, length, stream), length);
    ck_assert_int_eq(fclose(stream), 0);
    return out;
}
