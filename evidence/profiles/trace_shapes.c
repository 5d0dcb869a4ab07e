/* SPDX-License-Identifier: GPL-3.0-or-later
 * What makes launches of a trace alike, kept small: most events of a trace are found by it. */
#include "evidence/profiles/trace_shapes.h"

#include <stdlib.h>
#include <string.h>

static const struct launch_limits limits = {TRACE_GROUPS_MAX, TRACE_NAME_BYTES_MAX, TRACE_SAMPLE_BYTES_MAX};

enum status trace_shapes_init(struct trace_shapes *shapes, struct kernel_claim_list *list, const char *file,
                              struct error *error)
{
    *shapes = (struct trace_shapes){0};
    return launch_table_init(&shapes->groups, list, CLAIM_SOURCE_TRACE, file, &limits, error);
}

void trace_shapes_release(struct trace_shapes *shapes)
{
    launch_table_release(&shapes->groups);
    free(shapes->kinds);
    *shapes = (struct trace_shapes){0};
}

static uint64_t hash_of(const struct trace_launch *launch)
{
    const struct trace_shape *shape = &launch->shape;
    uint64_t hash = launch_hash_bytes(0, launch->name, launch->name_length);
    hash = launch_hash(hash, (uint64_t)shape->registers << 32 ^ (uint64_t)shape->smem_bytes);
    for (int i = 0; i < 3; i++) {
        hash = launch_hash(hash, (uint64_t)shape->grid[i] << 32 | shape->block[i]);
    }
    return launch_hash(hash, (uint64_t)shape->device);
}

struct wanted {
    const struct trace_kind *kinds;
    const struct trace_launch *launch;
};

static bool is_alike(const struct launch_table *table, size_t index, const void *context)
{
    const struct wanted *wanted = context;
    const struct trace_launch *launch = wanted->launch;
    const struct trace_kind *kind = &wanted->kinds[index];
    const struct trace_shape *left = &kind->shape, *right = &launch->shape;
    return kind->name_length == launch->name_length && left->device == right->device &&
           left->registers == right->registers && left->smem_bytes == right->smem_bytes &&
           memcmp(left->grid, right->grid, sizeof left->grid) == 0 &&
           memcmp(left->block, right->block, sizeof left->block) == 0 &&
           memcmp(table->list->items[table->items[index].claim].name, launch->name, launch->name_length) == 0;
}

struct launch_group *trace_shapes_find(const struct trace_shapes *shapes, const struct trace_launch *launch)
{
    return launch_table_find(&shapes->groups, hash_of(launch), is_alike, &(struct wanted){shapes->kinds, launch});
}

static bool reserve(struct trace_shapes *self)
{
    if (self->groups.count < self->capacity) {
        return true;
    }
    const size_t capacity = self->capacity == 0 ? 64 : 2 * self->capacity;
    struct trace_kind *kinds = realloc(self->kinds, capacity * sizeof *kinds);
    if (kinds == NULL) {
        return false;
    }
    self->kinds = kinds;
    self->capacity = capacity;
    return true;
}

enum status trace_shapes_add(struct trace_shapes *shapes, const struct trace_launch *launch, uint64_t ordinal,
                             struct launch_group **group, struct error *error)
{
    struct launch_table *groups = &shapes->groups;
    *group = NULL;
    if (!reserve(shapes)) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", groups->file);
    }
    enum status status =
        launch_table_add(groups, hash_of(launch), launch->name, launch->name_length, launch->name_length, group, error);
    if (status == STATUS_OK && *group != NULL) {
        groups->list->items[(*group)->claim].ordinal = ordinal;
        shapes->kinds[groups->count - 1] =
            (struct trace_kind){.name_length = launch->name_length, .shape = launch->shape};
    }
    return status;
}
