/* SPDX-License-Identifier: GPL-3.0-or-later
 * State and lexer shared by the files of the PTX reader. Private to it. */
#ifndef OCCAM_EVIDENCE_CODE_PTX_READER_H
#define OCCAM_EVIDENCE_CODE_PTX_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/code/code_listing.h"
#include "evidence/code/ptx_listing.h"
#include "evidence/code/ptx_names.h"

struct ptx_reader {
    const char *at, *end;
    uint32_t line;
    const char *name; /* of the file */
    struct error *error;
    struct ptx_file *file;
    struct ptx_names module; /* variables outside of entries: value is size << 1 | shared */
};

/* ---- lexer: never reads past the end --------------------------------------------------------------------------- */
/* Past space and comments. */
void ptx_skip_space(struct ptx_reader *reader);
/* The character at the reader, '\0' at the end of the text. */
char ptx_peek(const struct ptx_reader *reader);
/* Letters, digits, '_', '$', '%', '.', and "::"; empty if there is none. */
struct ptx_slice ptx_word(struct ptx_reader *reader);
/* Behind the next `stop` outside of quotes and comments; false: the text ended before. */
bool ptx_skip_to(struct ptx_reader *reader, char stop);
void ptx_skip_line(struct ptx_reader *reader);
/* Behind the brace that closes the one at the reader; false: the text ended before. */
bool ptx_skip_braces(struct ptx_reader *reader);
/* A whole word as an integer: decimal, 0x, 0b, octal, trailing U, the bits of 0f and 0d. */
bool ptx_integer(struct ptx_slice word, int64_t *value);
bool ptx_is_float(struct ptx_slice word);
enum status ptx_fail(struct ptx_reader *reader, enum status status, const char *what, struct ptx_slice slice);

/* .align 16 .b8 name[4][8], other = {1, 2}; from behind the directive to behind the ';'. Each variable is handed over
 * with its size in bytes, 0 if open. *ended: the text ended inside. */
MUST_CHECK enum status ptx_read_variables(struct ptx_reader *reader, void *user,
                                          enum status (*take)(void *user, struct ptx_slice name, uint64_t bytes),
                                          bool *ended);

/* From behind the '{' of an entry to behind its '}'. names holds the parameters. Fills the listing. */
MUST_CHECK enum status ptx_read_body(struct ptx_reader *reader, struct ptx_names *names, struct code_listing *listing);

#endif
