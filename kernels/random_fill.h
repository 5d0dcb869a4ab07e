/* SPDX-License-Identifier: GPL-3.0-or-later
 * Random inputs that host and device produce bit for bit the same: the rules of random_fill.cu, in C. */
#ifndef OCCAM_KERNELS_RANDOM_FILL_H
#define OCCAM_KERNELS_RANDOM_FILL_H

#include <stdint.h>

/* The numbers are those of random_fill.cu. */
enum fill_format {
    FILL_FORMAT_WORDS = 0,    /* uint32, uniform */
    FILL_FORMAT_BFLOAT16 = 1, /* k/128, k in -128..127 */
    FILL_FORMAT_E4M3 = 2,     /* finite, magnitude 2^-4 to below 2^3 */
    FILL_FORMAT_KV_ROW = 3,   /* 584 bytes: 448 e4m3, 64 bf16, 7 UE8M0 scales of 2^-6 to 2^-1, 1 zero */
    FILL_FORMAT_GATHER = 4,   /* int32: group g of `count` entries holds distinct rows of [g*pool, (g+1)*pool) */
    FILL_FORMAT_CHAIN = 5     /* uint32 at every `pool`-th word: the word index of the next; one cycle through all */
};

struct fill_rule {
    enum fill_format format;
    uint64_t seed;
    uint64_t count; /* GATHER: entries per group; CHAIN: links, a power of two */
    uint64_t pool;  /* GATHER: rows per group, a power of two; CHAIN: words between links */
};

enum {
    KV_ROW_BYTES = 584,
    KV_ROW_E4M3 = 448,
    KV_ROW_BFLOAT16 = 64,
    KV_ROW_SCALES_OFFSET = 576
};

/* Elements of the format in `bytes` (rounded down): what one call of the device kernel covers. */
uint64_t fill_element_count(const struct fill_rule *rule, uint64_t bytes);
/* Fills host memory. */
void fill_host(const struct fill_rule *rule, void *out, uint64_t bytes);

#endif
