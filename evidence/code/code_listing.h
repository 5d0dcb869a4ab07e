/* SPDX-License-Identifier: GPL-3.0-or-later
 * Instructions of one kernel in one form for PTX and SASS: what each does, how wide, what it reads and writes. Filled
 * by ptx_listing and sass_listing, read by code_loops and code_profile. */
#ifndef OCCAM_EVIDENCE_CODE_CODE_LISTING_H
#define OCCAM_EVIDENCE_CODE_CODE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* CODE_OP_LIST(X): X(CONSTANT, "json_name", "meaning"). Counted per warp instruction. */
#define CODE_OP_LIST(X)                                                                                                \
    X(OTHER, "other", "anything not listed")                                                                           \
    X(GLOBAL_LOAD, "global_loads", "ld.global and generic ld that is not known to be shared or local; LDG")            \
    X(GLOBAL_STORE, "global_stores", "st.global; STG")                                                                 \
    X(ATOMIC, "atomics", "atom, red on global or shared memory")                                                       \
    X(ASYNC_COPY, "async_copies", "cp.async global to shared; LDGSTS")                                                 \
    X(ASYNC_COMMIT, "async_commits", "cp.async.commit_group; LDGDEPBAR")                                               \
    X(ASYNC_WAIT, "async_waits", "cp.async.wait_group N, wait_all; DEPBAR.LE on the copy scoreboard: depth is N")      \
    X(BULK_COPY, "bulk_copies", "cp.async.bulk without tensor map; UBLKCP")                                            \
    X(TENSOR_COPY, "tensor_copies", "cp.async.bulk.tensor; UTMALDG, UTMASTG")                                          \
    X(MBARRIER, "mbarrier_ops", "mbarrier arrive, try_wait, expect_tx; SYNCS")                                         \
    X(SHARED_LOAD, "shared_loads", "ld.shared; LDS")                                                                   \
    X(SHARED_STORE, "shared_stores", "st.shared; STS")                                                                 \
    X(LDMATRIX, "ldmatrix", "ldmatrix; LDSM")                                                                          \
    X(STMATRIX, "stmatrix", "stmatrix; STSM")                                                                          \
    X(LOCAL_LOAD, "local_loads", "ld.local; LDL (in SASS: stack and spills)")                                          \
    X(LOCAL_STORE, "local_stores", "st.local; STL")                                                                    \
    X(CONSTANT_LOAD, "constant_loads", "ld.param, ld.const; LDC, ULDC")                                                \
    X(MMA, "mma", "mma.sync; HMMA, IMMA, QMMA, OMMA")                                                                  \
    X(WGMMA, "wgmma", "wgmma.mma_async; HGMMA, QGMMA, IGMMA")                                                          \
    X(WGMMA_SYNC, "wgmma_syncs", "wgmma.fence, commit_group, wait_group; WARPGROUP: depth is the group of a wait")     \
    X(TCGEN05, "tcgen05", "tcgen05.mma; UTCHMMA and kin")                                                              \
    X(TCGEN05_OTHER, "tcgen05_other", "tcgen05 loads, stores, waits, commits")                                         \
    X(EXPONENTIAL, "exponentials", "ex2; MUFU.EX2")                                                                    \
    X(SPECIAL, "special", "other special functions: lg2, rcp, rsqrt, sqrt, sin, cos, tanh; MUFU")                      \
    X(CONVERT, "converts", "cvt between number types; F2F, F2FP, I2F, F2I, and their packed forms")                    \
    X(SHUFFLE, "shuffles", "shfl, elect excluded; SHFL")                                                               \
    X(REDUCE, "warp_reductions", "redux, vote, match, activemask; REDUX, VOTE, MATCH")                                 \
    X(BARRIER, "barriers", "bar.sync, barrier.sync, barrier.cta; BAR.SYNC: CTA-wide or named")                         \
    X(FENCE, "fences", "membar, fence; MEMBAR, FENCE, ERRBAR")                                                         \
    X(FP32, "fp32", "fp32 add, mul, fma, min, max, setp, select; FADD, FMUL, FFMA, FMNMX, FSETP, FSEL")                \
    X(FP32_PACKED, "fp32_packed", "two fp32 at a time: add.f32x2, fma.f32x2; FADD2, FFMA2")                            \
    X(HALF, "half", "fp16 and bf16 arithmetic, packed or not; HADD2, HMUL2, HFMA2, HMNMX2")                            \
    X(FP64, "fp64", "fp64 arithmetic; DADD, DMUL, DFMA")                                                               \
    X(INTEGER, "integer", "integer, logic, shift, address arithmetic, predicate arithmetic")                           \
    X(MOVE, "moves", "mov, prmt-free copies, cvta, register shuffling; MOV, UMOV, S2R, R2UR")                          \
    X(UNIFORM, "uniform", "uniform-datapath integer work of SASS: UIADD3, ULEA, ...; never in PTX")                    \
    X(BRANCH, "branches", "bra, brx; BRA, BRX, BSSY, BSYNC, WARPSYNC are OTHER")                                       \
    X(CALL, "calls", "call; CALL")                                                                                     \
    X(EXIT, "exits", "ret, exit, trap; EXIT, RET, BPT")

#define CODE_OP_ENUM_ENTRY(constant, name, meaning) CODE_OP_##constant,
enum code_op {
    CODE_OP_LIST(CODE_OP_ENUM_ENTRY) CODE_OP_COUNT
};
#undef CODE_OP_ENUM_ENTRY
/* "global_loads", ...; static. */
const char *code_op_name(enum code_op op);

/* Special registers whose value differs within a CTA, or between CTAs. */
enum code_special {
    CODE_SPECIAL_NONE,
    CODE_SPECIAL_THREAD_X, /* %tid.x, SR_TID.X */
    CODE_SPECIAL_THREAD,   /* other coordinates of the thread */
    CODE_SPECIAL_LANE,     /* %laneid */
    CODE_SPECIAL_WARP,     /* %warpid */
    CODE_SPECIAL_CTA,      /* %ctaid, %nctaid, cluster coordinates */
    CODE_SPECIAL_OTHER     /* clocks, sizes, masks */
};

enum {
    CODE_OPERANDS_MAX = 40 /* registers kept per instruction and direction; more are dropped and `operands_cut` set */
};
#define CODE_NO_TARGET SIZE_MAX

struct arena;

/* Registers are numbers that mean the same register throughout one listing (numbered by the reader; 0 is none). */
struct code_instruction {
    enum code_op op;
    uint32_t line; /* of the file, from 1 */
    uint32_t
        lane_bytes;   /* memory operations: bytes per thread (bulk copies: of the whole copy where it is a literal) */
    int32_t depth;    /* waits: how many groups may stay open; -1 elsewhere or unknown */
    uint32_t m, n, k; /* mma shapes, 0 elsewhere */
    char format[12];  /* mma: operand type "bf16", "f16", "e4m3", "tf32", "s8", ...; else "" */
    bool predicated;  /* runs under a guard other than always-true */
    bool conditional; /* branches and exits: may fall through */
    size_t target;    /* branches: index of the instruction jumped to, CODE_NO_TARGET if unknown (brx) or none */
    uint16_t write_count, read_count, address_count;
    uint32_t *writes, *reads; /* in the listing's pool; reads starts with the addresses and ends with the guard */
    uint32_t *addresses;      /* of the reads: those that form a memory address (the global one of an async copy) */
    bool operands_cut;
    bool has_immediate;
    int64_t immediate; /* the literal of an integer operation with one register and one literal (and bfe: the low 32
                          bits hold the position, the high ones the length); negated for sub; of setp only where the
                          literal is on the right; of mov the literal itself, with no register read */
    char mnemonic[24]; /* "add.s32", "IADD3", cut; for messages and for telling setp.lt from setp.ge */

    /* Zero where a reader does not know. */
    uint32_t guard; /* the register of the guard, also among `reads` */
    bool guard_negated;
    bool has_address_offset; /* the address is one register plus a literal */
    int64_t address_offset;
    uint32_t parameter;         /* constant loads: 1 + index of the kernel parameter */
    enum code_special special;  /* moves: the special register read */
    uint32_t elements;          /* converts, exponentials, half: elements per lane where packed; 0 means 1 */
    bool to_global;             /* bulk and tensor copies and reductions out of shared memory */
    bool on_shared;             /* atomics on shared memory */
    uint32_t more_target_count; /* branches with a list of targets besides `target` */
    const size_t *more_targets;
};

struct code_listing {
    char name[256];   /* entry point, "" if the text does not say */
    uint32_t arch;    /* 90, 120; 0 unknown */
    char arch_suffix; /* 'a', 'f' or 0 */
    bool is_sass;
    uint32_t threads;   /* .reqntid, or .maxntid where that is all; 0 unknown */
    bool threads_exact; /* .reqntid */
    size_t count;
    struct code_instruction *items; /* in program order */
    size_t parameter_count;
    struct arena *arena;        /* owns everything here; see code_listing_release */
    uint32_t register_count;    /* numbers in use: 1..register_count */
    uint64_t static_smem_bytes; /* .shared declared with a size; PTX only */
    uint64_t local_bytes;       /* PTX: the .local depot; SASS: the frame that the kernel takes from the stack */
    size_t unknown_count;       /* instructions that no rule knew (OTHER because unknown, not because listed) */
    bool truncated;             /* the text ended inside the kernel, or a limit was hit; `note` says which */
    char note[160];
    uint32_t max_registers;        /* .maxnreg; 0 not given */
    uint32_t min_ctas_per_sm;      /* .minnctapersm; 0 not given */
    const char *const *parameters; /* names, parameter_count of them; NULL where the text has none */
};
void code_listing_release(struct code_listing *listing);

/* For readers of listings: the array with room for `more` items behind the first count; NULL without memory, and the
 * array as it was. */
void *code_grown(void *array, size_t count, size_t more, size_t *capacity, size_t size);

#endif
