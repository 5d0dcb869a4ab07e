/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a file is, told by its content: the table of all evidence that is known. A format more is a reader, a recogniser
 * and one row of that table (docs/ARCHITECTURE.md). Used by evidence_read. */
#ifndef OCCAM_EVIDENCE_CLAIMS_EVIDENCE_KIND_H
#define OCCAM_EVIDENCE_CLAIMS_EVIDENCE_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "evidence/profiles/kernel_claim.h"

enum {
    EVIDENCE_HEAD_BYTES = 256 << 10, /* of a file, unpacked, that are looked at */
    EVIDENCE_LOG_BYTES = 32 << 20,   /* of a text that is nothing else known */
    EVIDENCE_KEYS_MAX = 96,          /* different JSON keys in them */
    EVIDENCE_KEY_SIZE = 48
};

enum evidence_room {
    EVIDENCE_CLAIMS,  /* claims about kernels: `read` appends them */
    EVIDENCE_CODE,    /* compiled code, read by compiled_code_read with what lies beside it */
    EVIDENCE_SERVING, /* a serving benchmark's results */
    EVIDENCE_IGNORED, /* belongs to other evidence and says nothing itself */
    EVIDENCE_REFUSED, /* known, not read: `advice` says what to export instead */
    EVIDENCE_UNKNOWN
};

/* A key of a JSON document: depth 1 is the outermost object; arrays do not count. */
struct evidence_key {
    int depth;
    char text[EVIDENCE_KEY_SIZE]; /* longer keys are cut */
};

/* The first bytes of a file. */
struct evidence_head {
    const char *path;
    const char *bytes; /* NUL-terminated; NULs of binary files lie within */
    size_t length;
    bool is_packed; /* the file is gzip; the bytes are unpacked */
    bool is_whole;  /* the bytes are the whole file */
    bool is_json;
    size_t key_count;
    struct evidence_key keys[EVIDENCE_KEYS_MAX];
};

struct evidence_kind {
    const char *name; /* for people: "profiler trace" */
    enum evidence_room room;
    bool (*is_one)(const struct evidence_head *head);
    enum status (*read)(const char *path, struct kernel_claim_list *list, struct error *error); /* EVIDENCE_CLAIMS */
    const char *advice;                                                                         /* EVIDENCE_REFUSED */
};

/* Fills *kind with a row of the table; of two that fit, the first, and *second with the other (NULL: none; a log may
 * hold both a compiler's report and a tuner's output). Never fails for what is in the file: EVIDENCE_UNKNOWN is an
 * answer. STATUS_MISSING: it cannot be opened; STATUS_BAD_DATA: no regular file. */
MUST_CHECK enum status evidence_recognise(const char *path, const struct evidence_kind **kind,
                                          const struct evidence_kind **second, struct error *error);
/* The same from the file's bytes. */
const struct evidence_kind *evidence_recognise_bytes(const char *path, const char *bytes, size_t length,
                                                     const struct evidence_kind **second);
/* Rows of the table, for the list of what can be read. */
size_t evidence_kind_count(void);
const struct evidence_kind *evidence_kind_get(size_t index);

#endif
