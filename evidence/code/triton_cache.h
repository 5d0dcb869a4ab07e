/* SPDX-License-Identifier: GPL-3.0-or-later
 * Files of compiled code below a folder, grouped by folder and stem: a Triton compile cache (one folder per key), or
 * any folder of .cubin, .ptx, .sass and .log files. */
#ifndef OCCAM_EVIDENCE_CODE_TRITON_CACHE_H
#define OCCAM_EVIDENCE_CODE_TRITON_CACHE_H

#include <stddef.h>

#include "base/status.h"
#include "evidence/arena.h"

enum {
    TRITON_CACHE_DEPTH_MAX = 6, /* folders below the one named; deeper ones are counted, not entered */
    TRITON_CACHE_FILES_MAX = 1 << 20
};

/* In the order in which their figures are trusted. */
enum code_file_kind {
    CODE_FILE_CUBIN,
    CODE_FILE_LOG,
    CODE_FILE_JSON,
    CODE_FILE_PTX,
    CODE_FILE_SASS,
    CODE_FILE_KINDS
};

/* Files of one stem in one folder, such as split_kernel.json and split_kernel.cubin. */
struct code_group {
    const char *label;                  /* folder below the root and stem: "KEY/split_kernel" */
    const char *stem;                   /* "split_kernel" */
    const char *paths[CODE_FILE_KINDS]; /* NULL: there is none */
};

/* Zero-initialise; release with triton_cache_release. */
struct triton_cache {
    size_t count, capacity;
    struct code_group *groups; /* by label */
    size_t skipped_links;      /* symbolic links: never followed */
    size_t skipped_folders;    /* too deep, or not readable */
    struct arena arena;
};

/* Walks the folder (itself possibly a link). Which file belongs to which follows from names in the same folder alone:
 * paths inside of __grp__*.json go stale when a cache is copied, and nothing outside the folder is opened. Left out:
 * __grp__*.json, *.autotune.json, locks, tmp.pid_* folders, links, everything that is no regular file. STATUS_MISSING:
 * the folder cannot be opened; STATUS_LIMIT: too many files. No groups is fine. */
MUST_CHECK enum status triton_cache_walk(const char *root, struct triton_cache *cache, struct error *error);
/* A file named by hand joins the group of its folder and stem. */
MUST_CHECK enum status triton_cache_add_file(struct triton_cache *cache, const char *path, enum code_file_kind kind,
                                             struct error *error);
void triton_cache_release(struct triton_cache *cache);
/* By the name's ending; CODE_FILE_KINDS for others. */
enum code_file_kind code_file_kind_of(const char *name);

#endif
