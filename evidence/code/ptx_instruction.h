/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a PTX mnemonic means: operation, widths, shapes, which operands are written. Private to the PTX reader. */
#ifndef OCCAM_EVIDENCE_CODE_PTX_INSTRUCTION_H
#define OCCAM_EVIDENCE_CODE_PTX_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/code/code_listing.h"
#include "evidence/code/ptx_names.h"

enum {
    PTX_MODIFIERS_MAX = 20
};

/* "mma.sync.aligned" in its parts: "mma", "sync", "aligned"; "shared::cta" stays one. */
struct ptx_mnemonic {
    struct ptx_slice whole;
    uint32_t count;
    struct ptx_slice parts[PTX_MODIFIERS_MAX];
};

struct ptx_meaning {
    bool known;
    enum code_op op;
    uint32_t written;        /* so many first operands are written */
    bool first_also_read;    /* accumulators */
    uint32_t source_address; /* which bracket is the global address: index among the brackets, 0 mostly */
    bool generic;            /* a generic address: what it points to must be known from the register */
    uint32_t lane_bytes, elements;
    uint32_t m, n, k;
    char format[12];
    bool wants_depth;       /* the last literal is a group count, 0 without one */
    bool wants_transaction; /* mbarrier expect_tx: the last literal is the size in bytes */
    bool wants_size;        /* cp.async, cp.async.bulk: the first literal operand is the size in bytes */
    bool to_global, on_shared;
    bool integer; /* its literal is worth keeping */
    bool is_parameter_load;
};

void ptx_mnemonic_split(struct ptx_slice whole, struct ptx_mnemonic *mnemonic);
void ptx_meaning_of(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning);
bool ptx_slice_is(struct ptx_slice slice, const char *text);
bool ptx_slice_starts(struct ptx_slice slice, const char *text);
/* Bytes of a type name ("b32", "e4m3x2"), 0 for what is none or a predicate. */
uint32_t ptx_type_bytes(struct ptx_slice type);

#endif
