/* SPDX-License-Identifier: GPL-3.0-or-later
 * FNV-1a, 64 bits: to tell inputs apart, not against anyone who wants a collision. */
#ifndef OCCAM_BASE_HASH_H
#define OCCAM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The hash of what `hash` stands for, followed by these bytes; begin with HASH_START. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

#endif
