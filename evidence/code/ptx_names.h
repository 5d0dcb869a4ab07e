/* SPDX-License-Identifier: GPL-3.0-or-later
 * Names of one PTX kernel with their scopes: registers, labels, variables. Private to the PTX reader. */
#ifndef OCCAM_EVIDENCE_CODE_PTX_NAMES_H
#define OCCAM_EVIDENCE_CODE_PTX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A piece of the text being read. */
struct ptx_slice {
    const char *text;
    size_t length;
};

/* Names of different kinds never meet: a label may be called like a register. */
enum ptx_name_kind {
    PTX_NAME_REGISTER, /* value: its number */
    PTX_NAME_RANGE,    /* .reg %r<N>: the prefix; value: N */
    PTX_NAME_LABEL,    /* value: index of an instruction */
    PTX_NAME_TARGETS,  /* label of a .branchtargets list; value: index of the list */
    PTX_NAME_VARIABLE, /* .shared, .local variables; value: see ptx_listing.c */
    PTX_NAME_PARAMETER /* value: index */
};

struct ptx_binding {
    uint64_t value;
    uint32_t depth;
    uint32_t below; /* what the name meant outside: 1 + index, 0 nothing */
};

struct ptx_name {
    struct ptx_slice slice;
    enum ptx_name_kind kind;
    uint64_t hash;
    uint32_t binding; /* 1 + index, 0 nothing */
};

/* Zero-initialise; release with ptx_names_release. */
struct ptx_names {
    struct ptx_name *names;
    size_t name_count, name_capacity;
    uint32_t *slots; /* 1 + index of a name */
    size_t slot_count;
    struct ptx_binding *bindings;
    size_t binding_count, binding_capacity;
    struct ptx_undo *undo;
    size_t undo_count, undo_capacity;
    uint32_t undo_heads[66]; /* by depth: 1 + index */
    uint32_t free_undo;
};

/* Innermost meaning, or NULL. Valid until the next change. */
const struct ptx_binding *ptx_names_find(const struct ptx_names *names, enum ptx_name_kind kind,
                                         struct ptx_slice slice);
/* A meaning at `depth`, which ends with ptx_names_close of that depth. STATUS_NO_MEMORY. */
MUST_CHECK enum status ptx_names_bind(struct ptx_names *names, enum ptx_name_kind kind, struct ptx_slice slice,
                                      uint32_t depth, uint64_t value);
void ptx_names_close(struct ptx_names *names, uint32_t depth);
void ptx_names_release(struct ptx_names *names);

#endif
