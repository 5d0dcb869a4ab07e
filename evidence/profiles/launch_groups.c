/* SPDX-License-Identifier: GPL-3.0-or-later
 * Launches of profilers' tables are alike when all that is told of them is, but their times. */
#include "evidence/profiles/launch_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/profiles/launch_table.h"

static const struct launch_limits limits = {LAUNCH_GROUPS_MAX, LAUNCH_NAME_BYTES_MAX, LAUNCH_SAMPLE_BYTES_MAX};

struct launch_groups {
    struct launch_table table;
};

enum status launch_groups_create(struct kernel_claim_list *list, enum claim_source source, const char *file,
                                 struct launch_groups **groups, struct error *error)
{
    struct launch_groups *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", file);
    }
    enum status status = launch_table_init(&self->table, list, source, file, &limits, error);
    if (status != STATUS_OK) {
        free(self);
        return status;
    }
    *groups = self;
    return STATUS_OK;
}

void launch_groups_free(struct launch_groups *groups)
{
    if (groups != NULL) {
        launch_table_release(&groups->table);
        free(groups);
    }
}

void launch_set_sides(struct launch *launch)
{
    const uint32_t *sides[] = {launch->grid, launch->block};
    static const enum claim_figure figures[] = {CLAIM_GRID, CLAIM_THREADS};
    for (size_t i = 0; i < 2; i++) {
        double product = (double)sides[i][0] * sides[i][1] * sides[i][2];
        if (product > 0.0) {
            launch->figures[figures[i]] = (struct claim_value){true, product, product};
        }
    }
}

/* --- identity ------------------------------------------------------------------------------------------------------
 */

static uint64_t hash_launch(const struct launch *launch)
{
    uint64_t hash = launch_hash_bytes(launch->arch, launch->name, launch->name_length);
    hash = launch_hash_bytes(hash, launch->device, launch->device_length);
    for (size_t i = 0; i < 3; i++) {
        hash = launch_hash(hash, (uint64_t)launch->grid[i] << 32 | launch->block[i]);
    }
    for (size_t i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        const struct claim_value *figure = &launch->figures[i];
        if (figure->is_known) {
            uint64_t low, high;
            memcpy(&low, &figure->low, sizeof low);
            memcpy(&high, &figure->high, sizeof high);
            hash = launch_hash(hash, i);
            hash = launch_hash(hash, low);
            hash = low == high ? hash : launch_hash(hash, high);
        }
    }
    return hash;
}

static bool same_text(const char *text, const char *other, size_t length)
{
    return strncmp(text, other, length) == 0 && text[length] == '\0';
}

static bool is_same(const struct launch_table *table, size_t index, const void *wanted)
{
    const struct launch *launch = wanted;
    const struct kernel_claim *claim = &table->list->items[table->items[index].claim];
    if (claim->arch != launch->arch || memcmp(claim->grid, launch->grid, sizeof claim->grid) != 0 ||
        memcmp(claim->block, launch->block, sizeof claim->block) != 0 ||
        !same_text(claim->name, launch->name, launch->name_length) ||
        !same_text(claim->device, launch->device, launch->device_length)) {
        return false;
    }
    for (size_t i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        const struct claim_value *left = &claim->figures[i], *right = &launch->figures[i];
        if (left->is_known != right->is_known ||
            (left->is_known && (left->low != right->low || left->high != right->high))) {
            return false;
        }
    }
    return true;
}

/* --- groups --------------------------------------------------------------------------------------------------------
 */

static enum status fill_claim(struct launch_table *table, struct kernel_claim *claim, const struct launch *launch,
                              struct error *error)
{
    if (launch->device_length > 0) {
        const char *device = arena_copy_text(&table->list->arena, launch->device, launch->device_length);
        if (device == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", table->file);
        }
        claim->device = device;
    }
    claim->line = launch->line;
    claim->ordinal = launch->ordinal;
    claim->arch = launch->arch;
    memcpy(claim->grid, launch->grid, sizeof claim->grid);
    memcpy(claim->block, launch->block, sizeof claim->block);
    memcpy(claim->figures, launch->figures, sizeof claim->figures);
    return STATUS_OK;
}

enum status launch_groups_add(struct launch_groups *groups, const struct launch *launch, size_t *claim_index,
                              bool *is_new, struct error *error)
{
    struct launch_table *table = &groups->table;
    const uint64_t hash = hash_launch(launch);
    struct launch_group *group = launch_table_find(table, hash, is_same, launch);
    enum status status = STATUS_OK;
    bool is_added = group == NULL;
    if (is_added) {
        status = launch_table_add(table, hash, launch->name, launch->name_length,
                                  launch->name_length + launch->device_length, &group, error);
        if (status == STATUS_OK && group != NULL) {
            status = fill_claim(table, &table->list->items[group->claim], launch, error);
        } else if (status == STATUS_OK) {
            kernel_claim_skip(table->list, "%s: more than %d different launches, or %d bytes of their names",
                              table->file, LAUNCH_GROUPS_MAX, LAUNCH_NAME_BYTES_MAX);
        }
    }
    if (status == STATUS_OK && group != NULL) {
        launch_table_count(table, group, launch->time_us, NAN);
    }
    if (claim_index != NULL) {
        *claim_index = group != NULL ? group->claim : SIZE_MAX;
    }
    if (is_new != NULL) {
        *is_new = is_added && group != NULL;
    }
    return status;
}

void launch_groups_finish(struct launch_groups *groups, bool is_profiled)
{
    launch_table_finish(&groups->table, is_profiled);
    launch_groups_free(groups);
}
