/* SPDX-License-Identifier: GPL-3.0-or-later
 * Everything that files of compiled code say, one record per compiled variant of a kernel: resources of all sources put
 * together, the profile of its main loop, and its knobs where an index names them. Used by `occam inspect`. */
#ifndef OCCAM_EVIDENCE_CODE_COMPILED_CODE_H
#define OCCAM_EVIDENCE_CODE_COMPILED_CODE_H

#include "base/csv.h"
#include "evidence/code/code_profile.h"
#include "evidence/code/compiled_kernel.h"
#include "evidence/code/triton_cache.h"

enum {
    CODE_TEXT_BYTES_MAX = 64 << 20, /* of one PTX, SASS or log file */
    CODE_PROBLEMS_MAX = 100         /* told one by one; more are counted */
};

struct code_variant {
    struct compiled_kernel kernel; /* kernel.file is the first of its files, in the order of trust */
    const char *label;             /* folder below the one named, and stem; of a file named by hand its path */
    const char *stem;
    unsigned sources;             /* bit of each enum code_source that says something of it */
    const char *profile_file;     /* the listing its loop was read from; NULL: there is none */
    const char *address_file;     /* where that is SASS: the PTX that gave bytes and products of the loop; else NULL */
    struct code_profile *profile; /* NULL: no listing, or it could not be read (kernel.note) */
    long index_row;               /* of the index; -1: not in it */
};

/* Zero-initialise; release with compiled_code_release. */
struct compiled_code {
    size_t count, capacity;
    struct code_variant *variants; /* by label, then in the order of the file */
    bool has_index;
    struct csv_table index; /* index.csv of the folder named first that has one: column "file" holds stems */
    size_t problem_count;
    const char *problems[CODE_PROBLEMS_MAX]; /* files of a folder that could not be read: "FILE: text" */
    size_t skipped_links, skipped_folders;
    struct compiled_kernel_list kernels; /* owns the texts */
    struct arena arena;
};

enum code_listing_choice {
    CODE_LISTING_AUTO, /* SASS where there is one: it is what runs, with bytes and products of the PTX; else PTX */
    CODE_LISTING_PTX,
    CODE_LISTING_SASS
};

/* paths: files and folders. In a folder a file that cannot be read is a problem told in the answer, the others are
 * still read; a file named by hand that cannot be read is an error. STATUS_NOT_FOUND: no kernel in any of them. */
MUST_CHECK enum status compiled_code_read(const char *const *paths, size_t path_count, enum code_listing_choice listing,
                                          struct compiled_code *code, struct error *error);
void compiled_code_release(struct compiled_code *code);

#endif
