/* SPDX-License-Identifier: GPL-3.0-or-later
 * What one CTA does: a prologue, a loop over tiles, an epilogue. All counts are per CTA (not per warp) and, unless
 * said otherwise, per iteration. Filled by evidence/scenario or from compiled code; read by model/predict and sim. */
#ifndef OCCAM_MODEL_DESCRIBE_TILE_LOOP_H
#define OCCAM_MODEL_DESCRIBE_TILE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/describe/input_source.h"

enum {
    TILE_LOOP_MMA_MAX = 4,
    TILE_LOOP_RAGGED_MAX = 64
};

enum number_format {
    NUMBER_FORMAT_BF16,
    NUMBER_FORMAT_FP16,
    NUMBER_FORMAT_FP8,
    NUMBER_FORMAT_FP4,
    NUMBER_FORMAT_TF32,
    NUMBER_FORMAT_COUNT
};
/* "bf16", ...; static. */
const char *number_format_name(enum number_format format);

/* How warps share one tile product. Which one the compiler took decides replication (docs/MODEL.md). */
enum mma_layout {
    MMA_LAYOUT_AUTO,     /* unknown: the central value is BALANCED, the interval spans BALANCED and SPLIT_M */
    MMA_LAYOUT_CHAINED,  /* one of two chained products in Triton: along the longer axis (3.6, seen in its code) in the
                            centre, all along M (older) as the other possibility */
    MMA_LAYOUT_BALANCED, /* warps dealt over M and N as evenly as the tile allows */
    MMA_LAYOUT_SPLIT_M,  /* all warps along M */
    MMA_LAYOUT_SPLIT_N   /* all warps along N */
};

/* One tile product D[m][n] += A[m][k] B[k][n] per iteration. */
struct mma_op {
    uint32_t m, n, k;
    double count; /* products of this shape per iteration, usually 1 */
    enum number_format format;
    enum mma_layout layout;
    uint32_t instruction_m, instruction_n, instruction_k; /* 0 = mma.sync default of the format: 16 x 8 x 16 or 32 */
    uint32_t warps_m, warps_n; /* the warps that share the product, as a hand-written kernel deals them; the others
                                  wait. 0 = by layout, with every warp */
    bool warpgroup;            /* wgmma or tcgen05: full tensor rate, no replication by warps */
};

/* Loads of one kind. Bytes that stay in flight decide how much latency is hidden. */
struct tile_load {
    double rows;              /* rows per iteration; 1 for a plain stream */
    double row_bytes;         /* bytes per row, not padded */
    double alignment_bytes;   /* row starts are multiples of this; 32-byte sectors follow from it. 0 = the largest power
                                 of   two in row_bytes, as in an aligned array of such rows */
    bool index_dependent;     /* the address comes from another load in the same iteration: L_index + L_data */
    bool pipelined;           /* false: the compiler did not buffer it, its latency is exposed */
    double exposures;         /* dependent load phases per iteration when nothing is buffered, at least 1 */
    double distinct_fraction; /* share of the requested bytes that DRAM must deliver, 0..1; the rest hits L2 */
    double in_flight_bytes;   /* 0 = the whole iteration's loads are issued at once; else the cap per CTA */
};

/* CTAs that do unequal work: `ctas` CTAs of `iterations` each, in dispatch order. */
struct ragged_group {
    uint64_t ctas;
    double iterations;
};

struct tile_loop {
    enum input_source source; /* of the figures as a whole: COMPILED where they were read off compiled code, else
                                 FORMULA; printed, never used */
    double iterations;        /* per CTA, the mean when ragged */
    double declared_stages;   /* num_stages as the user writes it */
    double buffers;           /* tiles on their way or waiting (1 = nothing is buffered) */
    struct tile_load gather;  /* rows = 0: no gather */
    struct tile_load stream;  /* rows = 0: no stream */
    uint32_t mma_count;
    struct mma_op mma[TILE_LOOP_MMA_MAX];
    double fp32_ops;          /* scalar fp32 operations (fma = 1) per iteration, summed over threads */
    double special_ops;       /* exp2, rcp, ... */
    double convert_ops;       /* fp8 -> bf16 and the like, elements */
    double shuffle_ops;       /* lane results of warp shuffles */
    double replicated_ops;    /* scalar operations repeated by every replicated warp of the first mma */
    double operand_ops;       /* operations per element of the first mma's B operand, done by each warp that reads it
                                 (dequantisation in registers) */
    double smem_bytes;        /* SMEM traffic besides mma operands, read + write */
    uint32_t smem_operands;   /* mma operands read from SMEM each iteration: 0 none, 1 = B only (A stays in registers,
                                 as in attention), 2 = A and B (GEMM); their traffic follows from the warp layout */
    double barriers;          /* CTA-wide barriers per iteration */
    double spill_bytes;       /* local-memory traffic per thread and iteration; NaN = unknown */
    double warp_instructions; /* all instructions one warp issues per iteration, the mean over the warps, as counted in
                                 compiled code; 0 = estimated from the counts above (TILE-4) */
    double operand_waits;     /* what one warp waits per iteration for values just loaded from SMEM or local memory, in
                                 latencies of SMEM, as seen in compiled code (CODE-7); used where warp_instructions are
                                 known */
    double product_waits;     /* the same for results of products just issued, in latencies of a product */
    double local_bytes;       /* stack frame per thread; 0 = half of spill_bytes */
    double early_fraction;    /* share of an iteration's own work that runs after its loads are issued, 0..1: 0 where a
                                 buffer is refilled after its use (Triton), 1 where loads are issued first */
    double edge_instructions; /* instructions one warp issues before and after the loop; 0 = left out */
    double prologue_bytes;    /* per CTA, read before the loop */
    double prologue_distinct_fraction; /* share of these that DRAM must deliver, 0..1; the rest hits L2 */
    double epilogue_bytes;             /* per CTA, written after the loop; TIME-6: what of it reaches DRAM */
    double epilogue_piece_bytes; /* side by side in one store of a warp; below a sector of 32 bytes each piece is a
                                    partial write (TIME-9); 0: whole sectors */
    double serial_steps;         /* dependent load steps before the loop besides the first, usually 0 */
    uint32_t ragged_count;       /* 0: every CTA does `iterations` */
    struct ragged_group ragged[TILE_LOOP_RAGGED_MAX];
};

#endif
