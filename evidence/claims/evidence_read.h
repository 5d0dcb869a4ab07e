/* SPDX-License-Identifier: GPL-3.0-or-later
 * Everything that a list of files and folders says: claims about kernels, compiled code with its loops, results of
 * serving benchmarks. Used by `occam inspect` and `occam reconcile`. */
#ifndef OCCAM_EVIDENCE_CLAIMS_EVIDENCE_READ_H
#define OCCAM_EVIDENCE_CLAIMS_EVIDENCE_READ_H

#include "evidence/claims/evidence_kind.h"
#include "evidence/code/compiled_code.h"
#include "evidence/profiles/kernel_claim.h"
#include "evidence/serving/serving_results.h"

enum {
    EVIDENCE_FILES_MAX = 1 << 20, /* looked at in folders */
    EVIDENCE_DEPTH_MAX = 6,       /* folders below the one named */
    EVIDENCE_PROBLEMS_MAX = 100,  /* told one by one; more are counted */
    EVIDENCE_CLAIMS_MAX = 4 << 20
};

/* A file that was read, compiled code apart. */
struct evidence_file {
    const char *path;
    const struct evidence_kind *kind;
    bool is_named;       /* by hand, not found in a folder */
    size_t first, count; /* its claims, or its points */
    uint64_t skipped;    /* bad entries left out */
    const char *first_skipped, *remark;
};

/* Zero-initialise; release with evidence_release. */
struct evidence {
    struct kernel_claim_list claims; /* not of compiled code: code_claims_append adds those */
    struct compiled_code code;       /* count 0: none */
    struct serving_results serving;
    size_t file_count, file_capacity;
    struct evidence_file *files; /* in the order of the paths, folders sorted */
    size_t problem_count;
    const char *problems[EVIDENCE_PROBLEMS_MAX]; /* files of a folder that could not be read: "FILE: text" */
    size_t unknown_files;                        /* of folders: nothing that is known here */
    size_t skipped_links, skipped_folders;
    struct arena arena;
};

/* A file named by hand that cannot be read, is of no known kind, or has to be exported first is an error that says so;
 * in a folder it is a problem told in the answer, or counted. Links in folders are not followed, and nothing outside of
 * the paths is opened. STATUS_NOT_FOUND: nothing in any of them. */
MUST_CHECK enum status evidence_read(const char *const *paths, size_t path_count, enum code_listing_choice listing,
                                     struct evidence *evidence, struct error *error);
void evidence_release(struct evidence *evidence);

#endif
