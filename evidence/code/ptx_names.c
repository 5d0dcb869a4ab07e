/* SPDX-License-Identifier: GPL-3.0-or-later
 * Hash table of names; each name has a stack of meanings, one per scope. */
#include "evidence/code/ptx_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "evidence/code/code_listing.h"

struct ptx_undo {
    uint32_t name; /* index */
    uint32_t next; /* 1 + index */
};

static uint64_t hash_of(enum ptx_name_kind kind, struct ptx_slice slice)
{
    const uint64_t hash = hash_bytes(HASH_START ^ (uint64_t)kind, slice.text, slice.length);
    return hash ^ hash >> 29;
}

static bool equal(const struct ptx_name *name, enum ptx_name_kind kind, struct ptx_slice slice, uint64_t hash)
{
    return name->hash == hash && name->kind == kind && name->slice.length == slice.length &&
           (slice.length == 0 ||
            memcmp(name->slice.text, slice.text, slice.length) == 0); /* an empty name has no text */
}

/* Index of the slot that holds the name or would. The table is never full. */
static size_t slot_of(const struct ptx_names *names, enum ptx_name_kind kind, struct ptx_slice slice, uint64_t hash)
{
    size_t slot = hash & (names->slot_count - 1);
    while (names->slots[slot] != 0 && !equal(&names->names[names->slots[slot] - 1], kind, slice, hash)) {
        slot = (slot + 1) & (names->slot_count - 1);
    }
    return slot;
}

const struct ptx_binding *ptx_names_find(const struct ptx_names *names, enum ptx_name_kind kind, struct ptx_slice slice)
{
    if (names->slot_count == 0) {
        return NULL;
    }
    const uint32_t index = names->slots[slot_of(names, kind, slice, hash_of(kind, slice))];
    if (index == 0 || names->names[index - 1].binding == 0) {
        return NULL;
    }
    return &names->bindings[names->names[index - 1].binding - 1];
}

static bool grow_slots(struct ptx_names *names)
{
    if (names->name_count * 2 < names->slot_count) {
        return true;
    }
    const size_t count = names->slot_count == 0 ? 256 : names->slot_count * 2;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    free(names->slots);
    names->slots = slots;
    names->slot_count = count;
    for (size_t i = 0; i < names->name_count; i++) {
        const struct ptx_name *name = &names->names[i];
        slots[slot_of(names, name->kind, name->slice, name->hash)] = (uint32_t)i + 1;
    }
    return true;
}

static struct ptx_name *name_of(struct ptx_names *names, enum ptx_name_kind kind, struct ptx_slice slice)
{
    struct ptx_name *room = code_grown(names->names, names->name_count, 1, &names->name_capacity, sizeof *room);
    if (room == NULL) {
        return NULL;
    }
    names->names = room;
    if (!grow_slots(names)) {
        return NULL;
    }
    const uint64_t hash = hash_of(kind, slice);
    const size_t slot = slot_of(names, kind, slice, hash);
    if (names->slots[slot] == 0) {
        names->names[names->name_count] = (struct ptx_name){slice, kind, hash, 0};
        names->slots[slot] = (uint32_t)++names->name_count;
    }
    return &names->names[names->slots[slot] - 1];
}

enum status ptx_names_bind(struct ptx_names *names, enum ptx_name_kind kind, struct ptx_slice slice, uint32_t depth,
                           uint64_t value)
{
    struct ptx_name *name = name_of(names, kind, slice);
    struct ptx_binding *bindings =
        code_grown(names->bindings, names->binding_count, 1, &names->binding_capacity, sizeof *bindings);
    names->bindings = bindings != NULL ? bindings : names->bindings;
    struct ptx_undo *all = code_grown(names->undo, names->undo_count, 1, &names->undo_capacity, sizeof *all);
    names->undo = all != NULL ? all : names->undo;
    if (name == NULL || bindings == NULL || all == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (name->binding != 0 && names->bindings[name->binding - 1].depth == depth) {
        names->bindings[name->binding - 1].value = value;
        return STATUS_OK;
    }
    names->bindings[names->binding_count] = (struct ptx_binding){value, depth, name->binding};
    name->binding = (uint32_t)++names->binding_count;
    if (depth == 0) {
        return STATUS_OK; /* nothing outlives it */
    }
    uint32_t slot = names->free_undo;
    if (slot != 0) {
        names->free_undo = names->undo[slot - 1].next;
    } else {
        slot = (uint32_t)++names->undo_count;
    }
    names->undo[slot - 1] = (struct ptx_undo){(uint32_t)(name - names->names), names->undo_heads[depth]};
    names->undo_heads[depth] = slot;
    return STATUS_OK;
}

void ptx_names_close(struct ptx_names *names, uint32_t depth)
{
    while (names->undo_heads[depth] != 0) {
        const uint32_t slot = names->undo_heads[depth];
        struct ptx_undo *undo = &names->undo[slot - 1];
        struct ptx_name *name = &names->names[undo->name];
        if (name->binding != 0) {
            name->binding = names->bindings[name->binding - 1].below;
        }
        names->undo_heads[depth] = undo->next;
        undo->next = names->free_undo;
        names->free_undo = slot;
    }
}

void ptx_names_release(struct ptx_names *names)
{
    free(names->names);
    free(names->slots);
    free(names->bindings);
    free(names->undo);
    memset(names, 0, sizeof *names);
}
