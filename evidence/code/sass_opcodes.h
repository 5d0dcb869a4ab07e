/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which mnemonics of SASS there are, and of what kind each is; sass_instruction.c reads the kinds. */
#ifndef OCCAM_EVIDENCE_CODE_SASS_OPCODES_H
#define OCCAM_EVIDENCE_CODE_SASS_OPCODES_H

#include <stdbool.h>

#include "evidence/code/sass_instruction.h"

/* SASS_KIND_LIST(X): X(KIND, function that reads it) */
#define SASS_KIND_LIST(X)                                                                                              \
    X(ASYNC_COMMIT, async_commit)                                                                                      \
    X(ASYNC_COPY, async_copy)                                                                                          \
    X(ATOMIC, atomic)                                                                                                  \
    X(BARRIER, barrier)                                                                                                \
    X(BRANCH, branch)                                                                                                  \
    X(BULK_COPY, bulk_copy)                                                                                            \
    X(CALL, call)                                                                                                      \
    X(CONSTANT_LOAD, constant_load)                                                                                    \
    X(CONVERT, convert)                                                                                                \
    X(FENCE, fence)                                                                                                    \
    X(FP32, fp32)                                                                                                      \
    X(FP32_PACKED, fp32_packed)                                                                                        \
    X(FP64, fp64)                                                                                                      \
    X(GLOBAL_LOAD, global_load)                                                                                        \
    X(GLOBAL_STORE, global_store)                                                                                      \
    X(HALF, half)                                                                                                      \
    X(INTEGER, integer)                                                                                                \
    X(LEAVE, leave)                                                                                                    \
    X(LOCAL_LOAD, local_load)                                                                                          \
    X(LOCAL_STORE, local_store)                                                                                        \
    X(MATRIX_LOAD, matrix_load)                                                                                        \
    X(MATRIX_STORE, matrix_store)                                                                                      \
    X(MBARRIER, mbarrier)                                                                                              \
    X(MMA, mma)                                                                                                        \
    X(MOVE, move)                                                                                                      \
    X(NOTHING, nothing)                                                                                                \
    X(OTHER, other)                                                                                                    \
    X(REDUCE, reduce)                                                                                                  \
    X(SCOREBOARD_WAIT, scoreboard_wait)                                                                                \
    X(SHARED_LOAD, shared_load)                                                                                        \
    X(SHARED_STORE, shared_store)                                                                                      \
    X(SHUFFLE, shuffle)                                                                                                \
    X(SPECIAL_FUNCTION, special_function)                                                                              \
    X(TCGEN05, tcgen05)                                                                                                \
    X(TENSOR_COPY, tensor_copy)                                                                                        \
    X(TENSOR_MEMORY, tensor_memory)                                                                                    \
    X(TENSOR_MEMORY_LOAD, tensor_memory_load)                                                                          \
    X(UNIFORM, uniform)                                                                                                \
    X(WARPGROUP, warpgroup)                                                                                            \
    X(WGMMA, wgmma)

#define SASS_KIND_ENUM_ENTRY(name, function) SASS_KIND_##name,
enum sass_kind {
    SASS_KIND_LIST(SASS_KIND_ENUM_ENTRY) SASS_KIND_COUNT
};
#undef SASS_KIND_ENUM_ENTRY

/* Of a mnemonic without its modifiers; false: not in the table. */
bool sass_opcode_find(struct sass_slice name, enum sass_kind *kind);

#endif
