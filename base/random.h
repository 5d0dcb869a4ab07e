/* SPDX-License-Identifier: GPL-3.0-or-later
 * Repeatable random numbers (PCG32) and low-discrepancy points. Same seed, same numbers, on every machine. */
#ifndef OCCAM_BASE_RANDOM_H
#define OCCAM_BASE_RANDOM_H

#include <stdint.h>

struct random_stream {
    uint64_t state, increment;
};

void random_init(struct random_stream *stream, uint64_t seed, uint64_t sequence);
uint32_t random_uint32(struct random_stream *stream);
/* Uniform in [0, 1) with 53 bits. */
double random_uniform(struct random_stream *stream);
/* Uniform integer in [0, bound), bound >= 1, without modulo bias. */
uint32_t random_below(struct random_stream *stream, uint32_t bound);
/* Standard normal. */
double random_normal(struct random_stream *stream);
/* Point `index` (from 0) of the Halton sequence in prime base number `dimension` (0..31), in (0, 1), with the
 * first 20 points skipped. For quasi-random draws of model parameters. */
double halton(uint32_t index, uint32_t dimension);

#endif
