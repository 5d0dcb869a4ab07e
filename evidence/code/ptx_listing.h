/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reader of PTX text (PTX ISA 9.0): every kernel entry of a file as a code_listing. Bodies of device functions are
 * passed over; a call stays a call. Linear in the length of the text. */
#ifndef OCCAM_EVIDENCE_CODE_PTX_LISTING_H
#define OCCAM_EVIDENCE_CODE_PTX_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/code/code_listing.h"

enum {
    PTX_ENTRIES_MAX = 16384,
    PTX_INSTRUCTIONS_MAX = 4 << 20, /* of the file; what follows is left out and the listings marked truncated */
    PTX_SCOPES_MAX = 64             /* nested braces */
};

/* Zero-initialise; release with ptx_file_release. */
struct ptx_file {
    uint32_t version_major, version_minor; /* .version */
    uint32_t arch;                         /* .target sm_90a: 90 */
    char arch_suffix;                      /* 'a', 'f' or 0 */
    size_t entry_count;
    struct code_listing *entries; /* in the order of the text; owned, as all they point to */
    uint64_t module_shared_bytes; /* .shared with a size outside of entries */
    size_t instruction_count;     /* of all entries */
    size_t function_count;        /* bodies of .func that were passed over */
    bool truncated;               /* the text ended inside a kernel or function: the last entry is marked as well */
};

/* text[0..length) needs no NUL; `name` is the file for messages. A text that ends inside a kernel gives the part that
 * is there, marked. STATUS_BAD_DATA with the line: no .version or .target before the first entry, no entry at all, a
 * declaration that cannot be read, a branch to a label that is nowhere in a whole kernel. STATUS_LIMIT: too many
 * entries or too deep a nesting. STATUS_NO_MEMORY. On failure *file is empty. */
MUST_CHECK enum status ptx_listing_read(const char *text, size_t length, const char *name, struct ptx_file *file,
                                        struct error *error);
void ptx_file_release(struct ptx_file *file);
/* The entry of that name, or NULL. */
const struct code_listing *ptx_file_entry(const struct ptx_file *file, const char *name);

#endif
