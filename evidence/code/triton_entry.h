/* SPDX-License-Identifier: GPL-3.0-or-later
 * One JSON file of a Triton compile cache: what was compiled, for what, with how many warps and how much SMEM. */
#ifndef OCCAM_EVIDENCE_CODE_TRITON_ENTRY_H
#define OCCAM_EVIDENCE_CODE_TRITON_ENTRY_H

#include "evidence/code/compiled_kernel.h"

enum {
    TRITON_JSON_BYTES_MAX = 16 << 20
};

/* All of these end in .json; only the first describes a kernel. */
enum triton_json_kind {
    TRITON_JSON_KERNEL,
    TRITON_JSON_GROUP,    /* __grp__NAME.json: paths of siblings, stale once a cache was copied */
    TRITON_JSON_AUTOTUNE, /* NAME.autotune.json: timings of candidates */
    TRITON_JSON_OTHER     /* an object of something else */
};

struct triton_entry {
    char backend[16];      /* "cuda", "hip"; "" where the version does not say (2.0, 2.1) */
    char version[24];      /* "3.6.0"; "" before 3.1 */
    uint32_t warp_size;    /* 32 unless given */
    bool is_other_backend; /* not NVIDIA: the figures are not for the model here */
};

/* Reads Triton 2.x to 3.6: all spellings of target, arch and cluster; unknown keys are ignored; a missing target is an
 * unknown architecture. A kernel (and only that) is appended to *list: dynamic SMEM, threads, num_warps, num_stages,
 * cluster, register cap. Registers, spills and static SMEM are in no version's JSON. Python's bare Infinity and NaN
 * leave a figure unknown. entry may be NULL. STATUS_BAD_DATA: no JSON object, or a figure of a wrong type or range. */
MUST_CHECK enum status triton_entry_parse(const char *text, size_t length, const char *name,
                                          struct compiled_kernel_list *list, enum triton_json_kind *kind,
                                          struct triton_entry *entry, struct error *error);

#endif
