/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which mnemonics of PTX there are, and of what kind each is; ptx_instruction.c reads the kinds. */
#ifndef OCCAM_EVIDENCE_CODE_PTX_OPCODES_H
#define OCCAM_EVIDENCE_CODE_PTX_OPCODES_H

#include <stdbool.h>

#include "evidence/code/ptx_instruction.h"

/* PTX_KIND_LIST(X): X(KIND, function that reads it) */
#define PTX_KIND_LIST(X)                                                                                               \
    X(ARITHMETIC, arithmetic)                                                                                          \
    X(ATOMIC, atomic)                                                                                                  \
    X(BARRIER, barrier)                                                                                                \
    X(BRANCH, branch)                                                                                                  \
    X(CALL, call)                                                                                                      \
    X(CONVERT, convert)                                                                                                \
    X(COPY, copy)                                                                                                      \
    X(DIVIDE, divide)                                                                                                  \
    X(EXPONENTIAL, exponential)                                                                                        \
    X(FENCE, fence)                                                                                                    \
    X(INTEGER, integer)                                                                                                \
    X(LEAVE, leave)                                                                                                    \
    X(LOAD, load)                                                                                                      \
    X(MATRIX_MOVE, matrix_move)                                                                                        \
    X(MBARRIER, mbarrier)                                                                                              \
    X(MMA, mma)                                                                                                        \
    X(MOV, mov)                                                                                                        \
    X(MOVE, move)                                                                                                      \
    X(MULTIMEM, multimem)                                                                                              \
    X(NOTHING, nothing)                                                                                                \
    X(OTHER, other)                                                                                                    \
    X(SHUFFLE, shuffle)                                                                                                \
    X(SPECIAL, special)                                                                                                \
    X(STORE, store)                                                                                                    \
    X(TCGEN05, tcgen05)                                                                                                \
    X(VOTE, vote)                                                                                                      \
    X(WGMMA, wgmma)                                                                                                    \
    X(WMMA, wmma)

#define PTX_KIND_ENUM_ENTRY(name, function) PTX_KIND_##name,
enum ptx_kind {
    PTX_KIND_LIST(PTX_KIND_ENUM_ENTRY) PTX_KIND_COUNT
};
#undef PTX_KIND_ENUM_ENTRY

/* Of a mnemonic without its modifiers; false: not in the table. */
bool ptx_opcode_find(struct ptx_slice name, enum ptx_kind *kind);
/* The order of the tables: as strcmp does. */
int ptx_slice_compare(struct ptx_slice slice, const char *text);

#endif
