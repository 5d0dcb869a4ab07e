/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reader of SASS text as cuobjdump -sass and nvdisasm print it (sm_70 to sm_12x): every function of a file as a
 * code_listing. What is not an instruction (encodings, scheduling marks, data sections) is passed over. Linear in the
 * length of the text. */
#ifndef OCCAM_EVIDENCE_CODE_SASS_LISTING_H
#define OCCAM_EVIDENCE_CODE_SASS_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/code/code_listing.h"

enum {
    SASS_FUNCTIONS_MAX = 65536,
    SASS_INSTRUCTIONS_MAX = 1 << 20 /* of the file; what follows is left out, the listing marked truncated */
};

/* Zero-initialise; release with sass_file_release. */
struct sass_file {
    size_t function_count;
    struct code_listing *functions; /* in the order of the text; owned, as all they point to */
    bool truncated;                 /* at least one function is marked */
};

/* text[0..length) needs no NUL; `name` is the file for messages. Of a function, `arch` is that of the last "code for"
 * or ".target" above it. A physical register counts as many as it holds values that no read shares, as PTX would have
 * it (but not in a function of many thousand blocks); RZ, URZ, PT and UPT are none. Of a 64-bit address `addresses`
 * holds the low register, `reads` both. Instructions that can never run (@!PT, which the assembler places against
 * hazards) are CODE_OP_OTHER without operands. BRA.DIV, into the slow way of a warp whose threads have come apart, is
 * OTHER; a call to code that cannot return is a branch. A function whose text ends early (its last instruction goes on
 * to a next one, a branch goes to what is not there) is given as far as it goes, marked. STATUS_BAD_DATA with the line:
 * no function at all, addresses that do not rise, an instruction that is none, a label twice. STATUS_LIMIT: too many
 * functions. STATUS_NO_MEMORY. On failure *file is empty. */
MUST_CHECK enum status sass_listing_read(const char *text, size_t length, const char *name, struct sass_file *file,
                                         struct error *error);
void sass_file_release(struct sass_file *file);
/* The function of that name, or NULL. */
const struct code_listing *sass_file_function(const struct sass_file *file, const char *name);

#endif
