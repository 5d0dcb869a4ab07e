/* SPDX-License-Identifier: GPL-3.0-or-later
 * A hash table of launches; running moments; a reservoir for the median. */
#include "evidence/profiles/trace_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

enum {
    FIRST_SLOTS = 1024,
    FIRST_SAMPLES = 4
};

enum status trace_groups_init(struct trace_groups *groups, struct kernel_claim_list *list, const char *file,
                              struct error *error)
{
    *groups = (struct trace_groups){.list = list, .file = file, .slot_count = FIRST_SLOTS};
    random_init(&groups->random, 1, 1);
    groups->slots = calloc(FIRST_SLOTS, sizeof *groups->slots);
    return groups->slots != NULL ? STATUS_OK
                                 : error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", file);
}

void trace_groups_release(struct trace_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        free(groups->items[i].samples);
    }
    free(groups->items);
    free(groups->slots);
    *groups = (struct trace_groups){0};
}

/* --- finding -------------------------------------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29);
}

static uint64_t hash_of(const struct trace_launch *launch)
{
    const struct trace_shape *shape = &launch->shape;
    uint64_t hash = launch->name_length, word;
    size_t at = 0;
    for (; launch->name_length - at >= sizeof word; at += sizeof word) {
        memcpy(&word, launch->name + at, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, launch->name + at, launch->name_length - at);
    hash = mix(hash, word);
    hash = mix(hash, (uint64_t)shape->registers << 32 ^ (uint64_t)shape->smem_bytes);
    for (int i = 0; i < 3; i++) {
        hash = mix(hash, (uint64_t)shape->grid[i] << 32 | shape->block[i]);
    }
    return mix(hash, (uint64_t)shape->device);
}

static bool is_alike(const struct trace_groups *self, const struct trace_group *group,
                     const struct trace_launch *launch)
{
    const struct trace_shape *left = &group->shape, *right = &launch->shape;
    return group->name_length == launch->name_length &&
           memcmp(self->list->items[group->claim].name, launch->name, launch->name_length) == 0 &&
           left->device == right->device && left->registers == right->registers &&
           left->smem_bytes == right->smem_bytes && memcmp(left->grid, right->grid, sizeof left->grid) == 0 &&
           memcmp(left->block, right->block, sizeof left->block) == 0;
}

struct trace_group *trace_groups_find(struct trace_groups *groups, const struct trace_launch *launch)
{
    uint64_t hash = hash_of(launch);
    size_t mask = groups->slot_count - 1;
    for (size_t slot = hash & mask; groups->slots[slot] != 0; slot = (slot + 1) & mask) {
        struct trace_group *group = &groups->items[groups->slots[slot] - 1];
        if (group->hash == hash && is_alike(groups, group, launch)) {
            return group;
        }
    }
    return NULL;
}

/* --- adding --------------------------------------------------------------------------------------------------------
 */

static void put(uint32_t *slots, size_t slot_count, const struct trace_group *group, size_t index)
{
    size_t slot = group->hash & (slot_count - 1);
    while (slots[slot] != 0) {
        slot = (slot + 1) & (slot_count - 1);
    }
    slots[slot] = (uint32_t)index + 1;
}

/* Room for one more, half of the slots empty. */
static bool reserve(struct trace_groups *self)
{
    if (self->count == self->capacity) {
        size_t capacity = self->capacity == 0 ? 64 : self->capacity * 2;
        struct trace_group *items = realloc(self->items, capacity * sizeof *items);
        if (items == NULL) {
            return false;
        }
        self->items = items;
        self->capacity = capacity;
    }
    if (2 * (self->count + 1) > self->slot_count) {
        size_t slot_count = 2 * self->slot_count;
        uint32_t *slots = calloc(slot_count, sizeof *slots);
        if (slots == NULL) {
            return false;
        }
        for (size_t i = 0; i < self->count; i++) {
            put(slots, slot_count, &self->items[i], i);
        }
        free(self->slots);
        self->slots = slots;
        self->slot_count = slot_count;
    }
    return true;
}

enum status trace_groups_add(struct trace_groups *groups, const struct trace_launch *launch, uint64_t ordinal,
                             struct trace_group **group, struct error *error)
{
    *group = NULL;
    if (groups->count == TRACE_GROUPS_MAX || launch->name_length > TRACE_NAME_BYTES_MAX - groups->name_bytes) {
        groups->left_out++;
        return STATUS_OK;
    }
    struct kernel_claim *claim = NULL;
    enum status status = reserve(groups)
                             ? STATUS_OK
                             : error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", groups->file);
    if (status == STATUS_OK) {
        status = kernel_claim_list_add(groups->list, CLAIM_SOURCE_TRACE, groups->file, launch->name,
                                       launch->name_length, &claim, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    claim->ordinal = ordinal;
    groups->name_bytes += launch->name_length;
    *group = &groups->items[groups->count];
    **group = (struct trace_group){.hash = hash_of(launch),
                                   .claim = groups->list->count - 1,
                                   .name_length = launch->name_length,
                                   .shape = launch->shape,
                                   .minimum_us = INFINITY,
                                   .maximum_us = -INFINITY,
                                   .last_start_us = -INFINITY,
                                   .last_us = NAN};
    put(groups->slots, groups->slot_count, *group, groups->count);
    groups->count++;
    return STATUS_OK;
}

/* --- times ---------------------------------------------------------------------------------------------------------
 */

/* Doubles the room for times, as long as the budgets of the group and of all groups allow. */
static bool grow_samples(struct trace_groups *self, struct trace_group *group)
{
    uint32_t capacity = group->sample_capacity == 0 ? FIRST_SAMPLES : 2 * group->sample_capacity;
    size_t more = (capacity - group->sample_capacity) * sizeof *group->samples;
    if (capacity > TRACE_SAMPLES_MAX || self->sample_bytes + more > TRACE_SAMPLE_BYTES_MAX) {
        return false;
    }
    double *samples = realloc(group->samples, capacity * sizeof *samples);
    if (samples == NULL) {
        return false;
    }
    group->samples = samples;
    group->sample_capacity = capacity;
    self->sample_bytes += more;
    return true;
}

/* Keeps the time, or lets it take a random one's place: then those kept are a fair choice of all (reservoir, Vitter's
 * algorithm R). */
static void keep_sample(struct trace_groups *self, struct trace_group *group, double time_us)
{
    bool is_complete = group->sample_count == group->timed - 1;
    if (is_complete && (group->sample_count < group->sample_capacity || grow_samples(self, group))) {
        group->samples[group->sample_count++] = time_us;
        return;
    }
    uint64_t place = (uint64_t)(random_uniform(&self->random) * (double)group->timed);
    if (place < group->sample_count) {
        group->samples[place] = time_us;
    }
}

void trace_groups_count(struct trace_groups *groups, struct trace_group *group, const struct trace_launch *launch)
{
    double time_us = launch->duration_us;
    group->launches++;
    if (isnan(time_us)) {
        return;
    }
    group->timed++;
    double difference = time_us - group->mean_us;
    group->mean_us += difference / (double)group->timed;
    group->squares_us2 += difference * (time_us - group->mean_us);
    group->minimum_us = fmin(group->minimum_us, time_us);
    group->maximum_us = fmax(group->maximum_us, time_us);
    if (isnan(launch->start_us) || launch->start_us >= group->last_start_us) {
        group->last_start_us = isnan(launch->start_us) ? group->last_start_us : launch->start_us;
        group->last_us = time_us;
    }
    keep_sample(groups, group, time_us);
}

static void finish(struct trace_groups *self, struct trace_group *group)
{
    struct kernel_claim *claim = &self->list->items[group->claim];
    struct claim_time *time = &claim->time;
    if (group->timed > 0) {
        time->count = group->timed;
        time->mean_us = group->mean_us;
        time->minimum_us = group->minimum_us;
        time->maximum_us = group->maximum_us;
        time->last_us = group->last_us;
    }
    if (group->timed > 1) {
        time->deviation_us = sqrt(group->squares_us2 / (double)(group->timed - 1));
    }
    if (group->sample_count > 0) {
        time->median_us = median_in_place(group->samples, group->sample_count);
    }
    if (group->sample_count > 0 && group->sample_count < group->timed) {
        kernel_claim_remark(self->list, claim, "median of %u launches chosen at random", group->sample_count);
    }
    if (group->timed < group->launches) {
        kernel_claim_remark(self->list, claim, "%llu launches have no duration",
                            (unsigned long long)(group->launches - group->timed));
    }
    free(group->samples);
    group->samples = NULL;
}

void trace_groups_finish(struct trace_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        finish(groups, &groups->items[i]);
    }
}
