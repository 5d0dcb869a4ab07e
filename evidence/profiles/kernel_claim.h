/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a file says of one kernel as it was compiled, launched or timed, in one form for traces, profilers' tables,
 * tuners' results and compiled code. A figure is an interval, because some sources round. Filled by the readers of this
 * room and of evidence/claims. */
#ifndef OCCAM_EVIDENCE_PROFILES_KERNEL_CLAIM_H
#define OCCAM_EVIDENCE_PROFILES_KERNEL_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/arena.h"

enum {
    CLAIM_PARAMETERS_MAX = 64, /* knobs of one claim; more are refused with the place */
    CLAIM_RANK_MAX = 8         /* sides of an operator's input that are kept */
};

/* CLAIM_SOURCE_LIST(X): X(NAME, "text for people"). What kind of file said it, not how far it is trusted. */
#define CLAIM_SOURCE_LIST(X)                                                                                           \
    X(CUBIN, "cubin")                                                                                                  \
    X(COMPILER_LOG, "ptxas log")                                                                                       \
    X(RESOURCE_USAGE, "cuobjdump resource usage")                                                                      \
    X(TRITON_JSON, "Triton cache entry")                                                                               \
    X(PTX, "PTX")                                                                                                      \
    X(SASS, "SASS")                                                                                                    \
    X(TRACE, "profiler trace")                                                                                         \
    X(NCU, "Nsight Compute")                                                                                           \
    X(NSYS_TABLE, "Nsight Systems table")                                                                              \
    X(NSYS_SQLITE, "Nsight Systems export")                                                                            \
    X(TRITON_AUTOTUNE_FILE, "Triton autotune file")                                                                    \
    X(TRITON_AUTOTUNE_LOG, "Triton autotuning output")                                                                 \
    X(INDUCTOR_LOG, "Inductor autotuning table")                                                                       \
    X(INDUCTOR_CONFIG, "Inductor configuration")                                                                       \
    X(KERNEL_TUNER, "Kernel Tuner cache")                                                                              \
    X(T4_RESULTS, "T4 results")                                                                                        \
    X(KTT_RESULTS, "KTT results")                                                                                      \
    X(MOE_CONFIG, "MoE kernel configuration")                                                                          \
    X(MEASUREMENTS, "measurement table")

#define CLAIM_SOURCE_ENUM_ENTRY(name, text) CLAIM_SOURCE_##name,
enum claim_source {
    CLAIM_SOURCE_LIST(CLAIM_SOURCE_ENUM_ENTRY) CLAIM_SOURCE_COUNT
};
#undef CLAIM_SOURCE_ENUM_ENTRY
/* "profiler trace", ...; static. */
const char *claim_source_name(enum claim_source source);

/* CLAIM_FIGURE_LIST(X): X(NAME, "key_with_unit", "meaning"). Everything per CTA or thread as launched. */
#define CLAIM_FIGURE_LIST(X)                                                                                           \
    X(REGISTERS, "registers_per_thread", "not rounded")                                                                \
    X(REGISTERS_ALLOCATED, "registers_allocated_per_thread", "rounded by the hardware")                                \
    X(STATIC_SMEM, "static_smem_bytes", "without the reserve")                                                         \
    X(DYNAMIC_SMEM, "dynamic_smem_bytes", "asked for at launch")                                                       \
    X(LAUNCH_SMEM, "launch_smem_bytes", "static + dynamic, without the reserve; one number in traces")                 \
    X(RESERVED_SMEM, "reserved_smem_bytes", "what the device takes besides")                                           \
    X(SMEM_CONFIG, "smem_config_bytes", "carve-out chosen for the launch, not the capacity")                           \
    X(THREADS, "threads", "per CTA")                                                                                   \
    X(GRID, "grid_ctas", "CTAs launched")                                                                              \
    X(CLUSTER, "cluster_ctas", "CTAs per cluster")                                                                     \
    X(STACK, "stack_bytes", "per thread in local memory")                                                              \
    X(SPILL_STORES, "spill_store_bytes", "per thread, counted once in the code")                                       \
    X(SPILL_LOADS, "spill_load_bytes", "per thread, counted once in the code")                                         \
    X(BARRIERS, "barriers", "named barriers per CTA")                                                                  \
    X(NUM_WARPS, "num_warps", "as a tuner or Triton states them")                                                      \
    X(NUM_STAGES, "num_stages", "as declared; not the tiles really buffered")                                          \
    X(CTAS_PER_SM, "ctas_per_sm", "resident, as the source computes it")                                               \
    X(OCCUPANCY, "occupancy_fraction", "theoretical, as the source computes it")                                       \
    X(SM_COUNT, "sm_count", "of the device it ran on")                                                                 \
    X(SMEM_REQUIRED, "smem_required_bytes", "of a launch that was refused: what it asked for")                         \
    X(SMEM_LIMIT, "smem_limit_bytes", "of a launch that was refused: what the device gives")

#define CLAIM_FIGURE_ENUM_ENTRY(name, key, meaning) CLAIM_##name,
enum claim_figure {
    CLAIM_FIGURE_LIST(CLAIM_FIGURE_ENUM_ENTRY) CLAIM_FIGURE_COUNT
};
#undef CLAIM_FIGURE_ENUM_ENTRY
/* "registers_per_thread", ...; static. */
const char *claim_figure_name(enum claim_figure figure);

/* low = high: exact as stated. is_known false: the source does not say, or says something that is no evidence. */
struct claim_value {
    bool is_known;
    double low, high;
};

/* Times of one launch or of many alike, in microseconds; count 0 = none. Members that are not known are NaN. */
struct claim_time {
    uint64_t count;
    double median_us, mean_us, minimum_us, maximum_us, deviation_us; /* deviation: of one launch */
    double last_us;                                                  /* of the latest launch */
    bool is_profiled; /* taken under a profiler that serialises or lowers clocks (Nsight Compute) */
};

struct claim_parameter {
    const char *name, *text; /* text as in the file, without quotes */
    double value;            /* NaN: no number */
};

/* Rank 0: a scalar, several tensors, none, or one of more than CLAIM_RANK_MAX sides. */
struct claim_input {
    unsigned rank;
    uint64_t sides[CLAIM_RANK_MAX];
};

/* What called the kernel, and with which inputs. Texts are JSON in one line, "" if not told. */
struct claim_operator {
    const char *name; /* aten::mm */
    const char *input_dims, *input_types, *concrete_inputs;
    size_t input_count;
    const struct claim_input *inputs;
};

struct kernel_claim {
    enum claim_source source;
    const char *file; /* where it was read */
    unsigned line;    /* 0 where lines mean nothing */
    uint64_t ordinal; /* event, row or entry in the file, from 1 */
    const char *name; /* kernel; "" unknown */
    const char *device;
    uint32_t arch;              /* 90, 120; 0 unknown */
    uint32_t grid[3], block[3]; /* 0 unknown */
    struct claim_value figures[CLAIM_FIGURE_COUNT];
    struct claim_time time;
    size_t parameter_count;
    struct claim_parameter *parameters;    /* the configuration, in the file's order */
    const struct claim_operator *operator; /* NULL unknown, or not the same for all launches */
    bool is_failed;                        /* was tried and did not run: note says why */
    const char *note;                      /* what is doubtful or was left out, one line; "" if nothing is */
};

/* Zero-initialise; texts belong to the arena. Release with kernel_claim_list_release. */
struct kernel_claim_list {
    size_t count, capacity;
    struct kernel_claim *items;
    uint64_t skipped;        /* bad entries that were left out */
    char first_skipped[256]; /* place and reason of the first of them; "" */
    char remark[512];        /* about the file as a whole: truncated, preamble, capped; "" */
    struct arena arena;
};

/* A new claim at the end, everything unknown (times NaN); texts are copied. *claim is valid until the next call. */
MUST_CHECK enum status kernel_claim_list_add(struct kernel_claim_list *list, enum claim_source source, const char *file,
                                             const char *name, size_t name_length, struct kernel_claim **claim,
                                             struct error *error);
void kernel_claim_list_release(struct kernel_claim_list *list);
/* Names of the claims from `first` on go to terminals: control characters in them become '?'. After a reader is done,
 * because readers find launches alike by the names as they are in the file. */
MUST_CHECK enum status kernel_claim_list_clean(struct kernel_claim_list *list, size_t first, struct error *error);
static inline void kernel_claim_set(struct kernel_claim *claim, enum claim_figure figure, double value)
{
    claim->figures[figure] = (struct claim_value){true, value, value};
}
/* Adds name = text to the claim's parameters; value follows from the text. STATUS_LIMIT beyond CLAIM_PARAMETERS_MAX. */
MUST_CHECK enum status kernel_claim_parameter(struct kernel_claim_list *list, struct kernel_claim *claim,
                                              const char *name, size_t name_length, const char *text,
                                              size_t text_length, struct error *error);
/* Adds a sentence to the claim's note; out of memory leaves it as it was. */
void kernel_claim_remark(struct kernel_claim_list *list, struct kernel_claim *claim, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Counts an entry that was left out, and keeps place and reason of the first. */
void kernel_claim_skip(struct kernel_claim_list *list, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
