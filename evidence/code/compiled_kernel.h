/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a compiler's output says of one kernel, in one form for cubins, compiler logs, resource reports, Triton's JSON
 * and listings: each figure known or not, and how well. Filled by the readers of this room. */
#ifndef OCCAM_EVIDENCE_CODE_COMPILED_KERNEL_H
#define OCCAM_EVIDENCE_CODE_COMPILED_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/arena.h"

enum figure_state {
    FIGURE_UNKNOWN, /* the source does not say; value is 0 */
    FIGURE_EXACT,
    FIGURE_AT_MOST, /* the true value is not larger: __launch_bounds__, a size that may include the reserve */
    FIGURE_AT_LEAST /* the true value is not smaller: registers of code that is not linked yet */
};
/* "unknown", "exact", "at most", "at least"; static. */
const char *figure_state_name(enum figure_state state);

/* Kinds of files, in the order of trust for figures that several state. */
enum code_source {
    CODE_SOURCE_NONE,
    CODE_SOURCE_CUBIN,
    CODE_SOURCE_COMPILER_LOG,
    CODE_SOURCE_RESOURCE_USAGE,
    CODE_SOURCE_TRITON_JSON,
    CODE_SOURCE_PTX,
    CODE_SOURCE_SASS,
    CODE_SOURCE_INDEX /* a table of variants beside the files */
};
/* "cubin", "ptxas log", ...; static. */
const char *code_source_name(enum code_source source);

struct code_figure {
    enum figure_state state;
    enum code_source source;
    uint64_t value;
};

/* COMPILED_FIGURE_LIST(X): X(MEMBER, "key_with_unit", "meaning"). */
#define COMPILED_FIGURE_LIST(X)                                                                                        \
    X(REGISTERS, "registers_per_thread", "as allocated by the compiler, not rounded")                                  \
    X(STATIC_SMEM, "static_smem_bytes", "per CTA, without the reserve")                                                \
    X(DYNAMIC_SMEM, "dynamic_smem_bytes", "per CTA, asked for at launch")                                              \
    X(RESERVED_SMEM, "reserved_smem_bytes", "per CTA, what the device takes besides: 1024 from cc 8.0 on")             \
    X(THREADS, "threads", "per CTA")                                                                                   \
    X(STACK, "stack_bytes", "frame per thread in local memory")                                                        \
    X(SPILL_STORES, "spill_store_bytes", "per thread, counted once in the code")                                       \
    X(SPILL_LOADS, "spill_load_bytes", "per thread, counted once in the code")                                         \
    X(BARRIERS, "barriers", "named barriers per CTA")                                                                  \
    X(CLUSTER, "cluster_ctas", "CTAs per cluster")                                                                     \
    X(REGISTER_CAP, "register_cap", "what the build allows: maxnreg, -maxrregcount")                                   \
    X(NUM_WARPS, "num_warps", "warps per CTA as Triton states them")                                                   \
    X(NUM_STAGES, "num_stages", "as declared; not the tiles really buffered")                                          \
    X(TENSOR_COLUMNS, "tensor_memory_columns", "tensor memory of cc 10.x")

#define COMPILED_FIGURE_ENUM_ENTRY(constant, key, meaning) COMPILED_##constant,
enum compiled_figure {
    COMPILED_FIGURE_LIST(COMPILED_FIGURE_ENUM_ENTRY) COMPILED_FIGURE_COUNT
};
#undef COMPILED_FIGURE_ENUM_ENTRY
/* "registers_per_thread", ...; static. */
const char *compiled_figure_name(enum compiled_figure figure);

enum {
    COMPILED_REGISTERS_MAX = 255 /* per thread, of every architecture: an instruction has eight bits for one */
};

struct compiled_kernel {
    const char *name; /* as the compiler writes it, mangled; "" unknown */
    const char *file; /* where it was read */
    unsigned line;    /* 0 in binary files */
    uint32_t arch;    /* 90, 120; 0 unknown */
    char arch_suffix; /* 'a', 'f', 0 none or not stated */
    bool is_rejected; /* the compiler's own error follows: no code was made; `note` says why */
    struct code_figure figures[COMPILED_FIGURE_COUNT];
    const char *note; /* one line on what is doubtful, "" if nothing is */
};

/* Zero-initialise; texts belong to the arena. Release with compiled_kernel_list_release. */
struct compiled_kernel_list {
    size_t count, capacity;
    struct compiled_kernel *items;
    struct arena arena;
};

/* A new kernel at the end of the list, all figures unknown; name and file are copied. *kernel is valid until the next
 * call. */
MUST_CHECK enum status compiled_kernel_list_add(struct compiled_kernel_list *list, const char *name, size_t name_length,
                                                const char *file, struct compiled_kernel **kernel, struct error *error);
void compiled_kernel_list_release(struct compiled_kernel_list *list);
/* Adds a sentence to the kernel's note; out of memory leaves it as it was. */
void compiled_kernel_remark(struct compiled_kernel_list *list, struct compiled_kernel *kernel, const char *format, ...)
    PRINTF_LIKE(3, 4);

static inline void compiled_kernel_set(struct compiled_kernel *kernel, enum compiled_figure figure,
                                       enum figure_state state, enum code_source source, uint64_t value)
{
    kernel->figures[figure] = (struct code_figure){state, source, value};
}
/* SMEM that the device reserves per CTA: 1024 bytes from cc 8.0 on, 0 before. */
uint64_t compiled_reserved_smem_bytes(uint32_t arch);
/* SHARED of a linked cubin or of cuobjdump as static SMEM: from sm_90 on both hold the reserve once (seen with ptxas
 * 12.8 and 13.0), before they do not. Sets STATIC_SMEM and, where the architecture is known, RESERVED_SMEM. With an
 * unknown architecture a size of 1024 bytes or more is AT_MOST. */
void compiled_kernel_set_merged_smem(struct compiled_kernel *kernel, enum code_source source, uint64_t bytes);

/* "sm_90a", "sm90", "sm_120f", "compute_90", "90", "120a": number and suffix (0 if none). False if it is none. */
bool code_arch_parse(const char *text, size_t length, uint32_t *arch, char *suffix);

/* Takes over what `from` knows and `into` does not, and what it knows better (exact against a bound). A figure that
 * both state exactly and differently keeps `into`'s value and is told by *conflict (from 0; COMPILED_FIGURE_COUNT if
 * there is none). Two known, different architectures: returns false and changes nothing. */
bool compiled_kernel_merge(struct compiled_kernel *into, const struct compiled_kernel *from,
                           enum compiled_figure *conflict);
/* Same kernel by name: equal, or equal once Triton 2.x's specialisation suffix ("_0d1d2de3c") is left out. */
bool compiled_names_match(const char *left, const char *right);
/* Length of the name without that suffix. */
size_t compiled_plain_name_length(const char *name);

#endif
