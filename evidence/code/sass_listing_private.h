/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the files behind sass_listing.h share: the text being read, and the function being put together. */
#ifndef OCCAM_EVIDENCE_CODE_SASS_LISTING_PRIVATE_H
#define OCCAM_EVIDENCE_CODE_SASS_LISTING_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/arena.h"
#include "evidence/code/sass_instruction.h"
#include "evidence/code/sass_listing.h"

struct sass_label {
    struct sass_slice name;
    size_t index; /* of the instruction behind it */
    uint32_t line;
};

/* What is kept of an instruction until its function is complete. */
struct sass_place {
    uint64_t address;
    struct sass_slice operands; /* of branches: where the target is named; else empty */
};

struct sass_builder {
    struct code_listing listing;
    size_t capacity, label_count, label_capacity;
    struct sass_place *places;
    struct sass_label *labels;
    bool bulk_group_open; /* the last group closed was one of bulk copies */
    bool has_copy_groups;
};

struct sass_reader {
    const char *text;
    size_t length, at;
    uint32_t line;
    const char *name;
    struct error *error;
    struct sass_file *file;
    size_t function_capacity, instruction_total;
    bool open;         /* inside a function */
    bool section_seen; /* nvdisasm: code is in sections that say so */
    uint32_t arch;
    char arch_suffix;
    struct sass_builder function;
};

/* Both set the reader's error, with its line, and return its status. */
enum status sass_no_memory(const struct sass_reader *reader);
enum status sass_bad_line(const struct sass_reader *reader, const char *what, struct sass_slice text);
/* Says once why a listing is a part; format takes the line. */
void sass_mark(struct code_listing *listing, const char *format, unsigned line);

/* ---- sass_item.c */
/* One instruction behind the others of the open function, for which there is room. STATUS_BAD_DATA, STATUS_NO_MEMORY.
 */
MUST_CHECK enum status sass_item_add(struct sass_reader *reader, uint64_t address, struct sass_slice text);

/* ---- sass_targets.c */
/* Where the branches of the complete function go; what is an asynchronous wait, what a call that does not come back. */
MUST_CHECK enum status sass_targets_resolve(struct sass_reader *reader);

#endif
