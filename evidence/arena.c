/* SPDX-License-Identifier: GPL-3.0-or-later
 * Arena of chained blocks. Used by the scenario and resource readers. */
#include "evidence/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BLOCK_BYTES = 1 << 12, /* a file of very many small functions has an arena for each */
    BLOCK_BYTES = 1 << 16
};

struct arena_block {
    struct arena_block *next;
    size_t used, capacity;
    alignas(max_align_t) unsigned char bytes[];
};

void *arena_allocate(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    struct arena_block *block = arena->blocks;
    if (block == NULL || block->capacity - block->used < bytes) {
        size_t usual = block == NULL ? FIRST_BLOCK_BYTES : BLOCK_BYTES;
        size_t capacity = bytes > usual ? bytes : usual;
        block = calloc(1, sizeof *block + capacity);
        if (block == NULL) {
            return NULL;
        }
        block->capacity = capacity;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

char *arena_copy_text(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_allocate(arena, length + 1, 1);
    if (copy != NULL && length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

void arena_release(struct arena *arena)
{
    while (arena->blocks != NULL) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
