/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the files share that read the statements of one PTX kernel. Private to them. */
#ifndef OCCAM_EVIDENCE_CODE_PTX_BODY_PRIVATE_H
#define OCCAM_EVIDENCE_CODE_PTX_BODY_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/arena.h"
#include "evidence/code/ptx_instruction.h"
#include "evidence/code/ptx_reader.h"

enum {
    OPERANDS_MAX = 24,
    OPERAND_REGISTERS_MAX = 600
};

enum ptx_operand_kind {
    OPERAND_VALUE,
    OPERAND_ADDRESS, /* [...] */
    OPERAND_VECTOR,  /* {...} */
    OPERAND_GROUP    /* (...) of a call */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    uint32_t first, count;    /* of `registers` */
    uint32_t words, literals; /* integer literals */
    int64_t literal;          /* the last */
    struct ptx_slice symbol;  /* the last word that is neither register nor literal */
    enum code_special special;
};

/* What a generic address in a register is known to point to. */
enum ptx_address_space {
    SPACE_UNKNOWN,
    SPACE_SHARED,
    SPACE_LOCAL
};

/* A branch whose label has not been met in its scope yet. */
struct ptx_pending {
    size_t instruction;
    struct ptx_slice label;
    uint32_t line, depth;
};

struct ptx_target_list {
    size_t first, count; /* of `target_names` */
    size_t *targets;     /* once a branch asked for them; in the arena */
};

struct ptx_body {
    struct ptx_reader *reader;
    struct ptx_names *names;
    struct code_listing *listing;
    struct code_instruction *items;
    size_t count, capacity;
    uint32_t *pool; /* per instruction its writes, then its reads */
    size_t pool_count, pool_capacity;
    unsigned char *spaces; /* by register */
    size_t space_capacity;
    struct ptx_pending *pending;
    size_t pending_count, pending_capacity;
    struct ptx_slice *target_names;
    size_t target_name_count, target_name_capacity;
    struct ptx_target_list *lists;
    size_t list_count, list_capacity;
    uint32_t depth, inner_ranges;
    struct ptx_slice last_label;
    bool ended; /* the text is over */
    /* the statement at hand */
    struct ptx_operand operands[OPERANDS_MAX];
    uint32_t operand_count;
    uint32_t registers[OPERAND_REGISTERS_MAX];
    uint32_t register_count;
    bool odd, cut; /* not as the grammar has it; more operands than are kept */
};

/* ---- ptx_operands.c */
/* A register that this scope knows by the name from now on. STATUS_NO_MEMORY. */
MUST_CHECK enum status ptx_new_register(struct ptx_body *body, struct ptx_slice name, uint32_t depth, uint32_t *number);
/* 0 if the word is no register. STATUS_NO_MEMORY. */
MUST_CHECK enum status ptx_find_register(struct ptx_body *body, struct ptx_slice word, uint32_t *number);
/* From behind ".reg": .b32 %r<10>, a, b; */
MUST_CHECK enum status ptx_declare_registers(struct ptx_body *body);
/* A variable that is declared; user is the body. */
MUST_CHECK enum status ptx_take_shared(void *user, struct ptx_slice name, uint64_t bytes);
MUST_CHECK enum status ptx_take_local(void *user, struct ptx_slice name, uint64_t bytes);
MUST_CHECK enum status ptx_take_other(void *user, struct ptx_slice name, uint64_t bytes);
/* From behind the mnemonic to behind the ';': into body->operands. */
MUST_CHECK enum status ptx_read_operands(struct ptx_body *body);

/* ---- ptx_item.c */
/* One instruction, from behind its guard. There is room for one more behind it. */
MUST_CHECK enum status ptx_read_item(struct ptx_body *body, struct ptx_slice word, uint32_t line, uint32_t guard,
                                     bool guard_negated);

#endif
