/* SPDX-License-Identifier: GPL-3.0-or-later
 * All regular files below a folder, by name. Used by evidence_read. */
#ifndef OCCAM_EVIDENCE_CLAIMS_EVIDENCE_WALK_H
#define OCCAM_EVIDENCE_CLAIMS_EVIDENCE_WALK_H

#include <stddef.h>

#include "base/status.h"
#include "evidence/arena.h"

/* Zero-initialise; release with evidence_paths_release. */
struct evidence_paths {
    size_t count, capacity;
    const char **items; /* sorted; texts belong to the arena */
    struct arena arena;
};

/* Appends the files of `root` (itself possibly a link) and of the folders below, down to `depth_max`; links, special
 * files and folders deeper or not readable are left out: compiled_code_read counts them. STATUS_LIMIT beyond file_max
 * files. */
MUST_CHECK enum status evidence_walk(const char *root, int depth_max, size_t file_max, struct evidence_paths *paths,
                                     struct error *error);
void evidence_paths_release(struct evidence_paths *paths);

#endif
