/* SPDX-License-Identifier: GPL-3.0-or-later
 * Memory that is freed all at once: the nodes and texts of one scenario. Used by the scenario and resource readers. */
#ifndef OCCAM_EVIDENCE_ARENA_H
#define OCCAM_EVIDENCE_ARENA_H

#include <stddef.h>

struct arena_block;

/* Zero-initialise; release with arena_release. */
struct arena {
    struct arena_block *blocks;
};

/* Zeroed memory aligned for any type, owned by the arena; NULL when memory runs out or size overflows. */
void *arena_allocate(struct arena *arena, size_t count, size_t size);
/* NUL-terminated copy of text[0..length); NULL when memory runs out. */
char *arena_copy_text(struct arena *arena, const char *text, size_t length);
void arena_release(struct arena *arena);

#endif
