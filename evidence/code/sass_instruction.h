/* SPDX-License-Identifier: GPL-3.0-or-later
 * One SASS instruction: what its mnemonic means and what its operands are. Private to evidence/sass_*.c. */
#ifndef OCCAM_EVIDENCE_CODE_SASS_INSTRUCTION_H
#define OCCAM_EVIDENCE_CODE_SASS_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/code/code_listing.h"
#include "evidence/code/sass_listing.h"

/* A piece of the text, not NUL-terminated. */
struct sass_slice {
    const char *text;
    size_t length;
};
bool sass_slice_is(struct sass_slice slice, const char *word);
bool sass_slice_starts(struct sass_slice slice, const char *word);
struct sass_slice sass_slice_trim(struct sass_slice slice);

enum {
    SASS_PARTS_MAX = 12,    /* of a mnemonic, split at dots */
    SASS_OPERANDS_MAX = 16, /* of an instruction */
    SASS_OPERAND_REGISTERS = 6,
    SASS_SOURCES_MAX = 4,
    SASS_UNIFORM_FIRST = 257,   /* R0 is 1 */
    SASS_PREDICATE_FIRST = 513, /* UR0 is 257 */
    SASS_PREDICATES = 8,
    SASS_UNIFORM_PREDICATE_FIRST = SASS_PREDICATE_FIRST + SASS_PREDICATES,
    SASS_REGISTER_COUNT = SASS_UNIFORM_PREDICATE_FIRST + SASS_PREDICATES - 1
};

struct sass_mnemonic {
    struct sass_slice whole, parts[SASS_PARTS_MAX];
    uint32_t count;
};
void sass_mnemonic_split(struct sass_slice whole, struct sass_mnemonic *mnemonic);
bool sass_mnemonic_has(const struct sass_mnemonic *mnemonic, const char *part);

/* Which literal becomes code_instruction.immediate. */
enum sass_literal {
    SASS_LITERAL_NONE,
    SASS_LITERAL_ONE_REGISTER, /* one register and one literal among the first three sources */
    SASS_LITERAL_RIGHT,        /* register, literal, and a predicate that is true */
    SASS_LITERAL_ALONE         /* no register at all */
};

struct sass_meaning {
    enum code_op op;
    bool known;
    bool writes;                       /* a register comes first and is written */
    uint32_t predicates_before;        /* leading operands that are written predicates, at most */
    uint32_t predicates_after;         /* the same behind the written register: carries */
    uint32_t extra_writes;             /* further written registers behind the first */
    uint32_t write_width;              /* registers in a row */
    uint32_t widths[SASS_SOURCES_MAX]; /* of the sources */
    enum sass_literal literal;
    uint32_t address; /* which memory operand is the address, from 0 */
    uint32_t lane_bytes, m, n, k, elements;
    char format[12];
    bool wants_depth, conditional, to_global, on_shared;
    bool a_may_be_descriptor; /* wgmma: A is registers or a descriptor, which moves C */
};
void sass_meaning_of(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning);

enum sass_operand_kind {
    SASS_OPERAND_OTHER, /* SB0, gsb0, B0, INF, ... */
    SASS_OPERAND_REGISTER,
    SASS_OPERAND_PREDICATE,
    SASS_OPERAND_MEMORY,     /* [..], desc[..][..] */
    SASS_OPERAND_DESCRIPTOR, /* c[..][..], gdesc[..], tmem[..] and kin */
    SASS_OPERAND_LITERAL,
    SASS_OPERAND_LABEL
};

struct sass_operand {
    enum sass_operand_kind kind;
    struct sass_slice text;
    bool negated, wide;  /* a sign or ! in front; .64 or .F32x2 behind */
    bool all_predicates; /* PR */
    bool zero;           /* RZ, URZ, PT, UPT */
    bool scaled;         /* memory: a register times something */
    uint32_t count;      /* registers, without zero ones */
    uint32_t registers[SASS_OPERAND_REGISTERS];
    bool register_wide[SASS_OPERAND_REGISTERS];
    uint32_t address_first; /* memory: registers from here form the address, those before a descriptor */
    bool has_literal;       /* whole number: the operand itself, or the offset of memory */
    int64_t literal;
    struct sass_slice label;
    enum code_special special;
};

struct sass_operands {
    uint32_t count;
    bool cut;
    struct sass_operand items[SASS_OPERANDS_MAX];
};
/* Splits "R4, desc[UR16][R2.64+0x40], P1" at its commas. */
void sass_operands_read(struct sass_slice text, struct sass_operands *operands);

/* "0x1f0", "-0x10", "12": false if the slice is anything else or does not fit. */
bool sass_number(struct sass_slice slice, int64_t *value);

/* Physical registers, one number for each: 1 + n is Rn, then uniform registers, predicates, uniform predicates. */
MUST_CHECK enum status sass_listing_read_physical(const char *text, size_t length, const char *name,
                                                  struct sass_file *file, struct error *error);
/* Physical registers into webs (sass_webs.c). Leaves a listing with very many blocks as it is. False: no memory. */
MUST_CHECK bool sass_webs_separate(struct code_listing *listing);

#endif
