/* SPDX-License-Identifier: GPL-3.0-or-later
 * What PTX and SASS listings share: names of operations, growing, release. */
#include "evidence/code/code_listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "evidence/arena.h"

const char *code_op_name(enum code_op op)
{
#define CODE_OP_NAME_ENTRY(constant, name, meaning) name,
    static const char *const names[] = {CODE_OP_LIST(CODE_OP_NAME_ENTRY)};
#undef CODE_OP_NAME_ENTRY
    if ((unsigned)op >= CODE_OP_COUNT) {
        BUG("code_op_name: no operation %d", (int)op);
    }
    return names[op];
}

void code_listing_release(struct code_listing *listing)
{
    if (listing->arena != NULL) {
        arena_release(listing->arena);
        free(listing->arena);
    }
    memset(listing, 0, sizeof *listing);
}

void *code_grown(void *array, size_t count, size_t more, size_t *capacity, size_t size)
{
    if (*capacity >= count && *capacity - count >= more) {
        return array;
    }
    size_t wanted = *capacity == 0 ? 64 : *capacity, bytes;
    while (wanted < count || wanted - count < more) {
        if (__builtin_mul_overflow(wanted, 2, &wanted)) {
            return NULL;
        }
    }
    void *grown = __builtin_mul_overflow(wanted, size, &bytes) ? NULL : realloc(array, bytes);
    if (grown != NULL) {
        *capacity = wanted;
    }
    return grown;
}
