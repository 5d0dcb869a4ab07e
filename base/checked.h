/* SPDX-License-Identifier: GPL-3.0-or-later
 * Overflow-checked products for sizes and counts that come from input. */
#ifndef OCCAM_BASE_CHECKED_H
#define OCCAM_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* Returns false and leaves *result alone when the true value does not fit in 64 bits. */
static inline bool checked_multiply(uint64_t a, uint64_t b, uint64_t *result)
{
    return !__builtin_mul_overflow(a, b, result);
}

#endif
