/* SPDX-License-Identifier: GPL-3.0-or-later
 * A hash table from what a launch is to its claim, and running statistics of its times (Welford's update for mean and
 * deviation, reservoir sampling for the median of very many). */
#include "evidence/profiles/launch_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"

enum {
    FIRST_SLOTS = 256
};

struct launch_group {
    uint64_t hash;
    size_t claim;
    uint64_t count; /* of times */
    double mean, squares, minimum, maximum, last;
    double *samples;
    size_t sample_count, sample_capacity;
};

struct launch_groups {
    struct kernel_claim_list *list;
    enum claim_source source;
    const char *file;
    size_t count, capacity;
    struct launch_group *groups;
    size_t slot_count; /* a power of two, at least twice count */
    uint32_t *slots;   /* group + 1; 0 free */
    size_t sample_total, name_bytes;
    struct random_stream random; /* the same sample every time */
};

enum status launch_groups_create(struct kernel_claim_list *list, enum claim_source source, const char *file,
                                 struct launch_groups **groups, struct error *error)
{
    struct launch_groups *self = calloc(1, sizeof *self);
    uint32_t *slots = calloc(FIRST_SLOTS, sizeof *slots);
    if (self == NULL || slots == NULL) {
        free(self);
        free(slots);
        return error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", file);
    }
    *self =
        (struct launch_groups){.list = list, .source = source, .file = file, .slot_count = FIRST_SLOTS, .slots = slots};
    random_init(&self->random, 1, 1);
    *groups = self;
    return STATUS_OK;
}

void launch_groups_free(struct launch_groups *groups)
{
    if (groups != NULL) {
        for (size_t i = 0; i < groups->count; i++) {
            free(groups->groups[i].samples);
        }
        free(groups->groups);
        free(groups->slots);
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

/* Each word is spread over all bits before the next one joins (the finalizer of MurmurHash3). */
static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash ^= word;
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
    return hash ^ (hash >> 33);
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
    hash = hash_word(hash, length);
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = hash_word(hash, word);
    }
    uint64_t rest = 0;
    if (length > 0) {
        memcpy(&rest, bytes, length);
    }
    return hash_word(hash, rest);
}

static uint64_t hash_launch(const struct launch *launch)
{
    uint64_t hash = hash_bytes(launch->arch, launch->name, launch->name_length);
    hash = hash_bytes(hash, launch->device, launch->device_length);
    for (size_t i = 0; i < 3; i++) {
        hash = hash_word(hash, (uint64_t)launch->grid[i] << 32 | launch->block[i]);
    }
    for (size_t i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        const struct claim_value *figure = &launch->figures[i];
        if (figure->is_known) {
            uint64_t low, high;
            memcpy(&low, &figure->low, sizeof low);
            memcpy(&high, &figure->high, sizeof high);
            hash = hash_word(hash, i);
            hash = hash_word(hash, low);
            hash = low == high ? hash : hash_word(hash, high);
        }
    }
    return hash;
}

static bool same_text(const char *text, const char *other, size_t length)
{
    return strncmp(text, other, length) == 0 && text[length] == '\0';
}

static bool is_same(const struct kernel_claim *claim, const struct launch *launch)
{
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

static bool grow(struct launch_groups *self)
{
    size_t capacity = self->capacity == 0 ? FIRST_SLOTS / 2 : self->capacity * 2;
    struct launch_group *groups = realloc(self->groups, capacity * sizeof *groups);
    if (groups == NULL) {
        return false;
    }
    self->groups = groups;
    self->capacity = capacity;
    uint32_t *slots = calloc(capacity * 2, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    free(self->slots);
    self->slots = slots;
    self->slot_count = capacity * 2;
    for (size_t i = 0; i < self->count; i++) {
        size_t slot = groups[i].hash & (self->slot_count - 1);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (self->slot_count - 1);
        }
        slots[slot] = (uint32_t)i + 1;
    }
    return true;
}

/* The slot of the launch's group, or the free one where it belongs. */
static size_t find_slot(const struct launch_groups *self, const struct launch *launch, uint64_t hash)
{
    size_t slot = hash & (self->slot_count - 1);
    for (; self->slots[slot] != 0; slot = (slot + 1) & (self->slot_count - 1)) {
        const struct launch_group *group = &self->groups[self->slots[slot] - 1];
        if (group->hash == hash && is_same(&self->list->items[group->claim], launch)) {
            break;
        }
    }
    return slot;
}

static enum status add_group(struct launch_groups *self, const struct launch *launch, uint64_t hash, size_t slot,
                             struct error *error)
{
    if (self->count == self->capacity) {
        if (!grow(self)) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", self->file);
        }
        slot = find_slot(self, launch, hash);
    }
    struct kernel_claim *claim;
    enum status status =
        kernel_claim_list_add(self->list, self->source, self->file, launch->name, launch->name_length, &claim, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (launch->device_length > 0) {
        const char *device = arena_copy_text(&self->list->arena, launch->device, launch->device_length);
        if (device == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", self->file);
        }
        claim->device = device;
    }
    claim->line = launch->line;
    claim->ordinal = launch->ordinal;
    claim->arch = launch->arch;
    memcpy(claim->grid, launch->grid, sizeof claim->grid);
    memcpy(claim->block, launch->block, sizeof claim->block);
    memcpy(claim->figures, launch->figures, sizeof claim->figures);
    self->groups[self->count++] = (struct launch_group){
        .hash = hash, .claim = self->list->count - 1, .minimum = INFINITY, .maximum = -INFINITY, .last = NAN};
    self->slots[slot] = (uint32_t)self->count;
    return STATUS_OK;
}

static void keep_sample(struct launch_groups *self, struct launch_group *group, double time_us)
{
    bool may_grow = group->sample_capacity < LAUNCH_SAMPLES_MAX && self->sample_total < LAUNCH_SAMPLES_TOTAL_MAX;
    if (group->sample_count == group->sample_capacity && may_grow && group->sample_count + 1 == group->count) {
        size_t capacity = group->sample_capacity == 0 ? 4 : group->sample_capacity * 2;
        double *samples = realloc(group->samples, capacity * sizeof *samples);
        if (samples != NULL) { /* without memory the sample stays as small as it is */
            self->sample_total += capacity - group->sample_capacity;
            group->samples = samples;
            group->sample_capacity = capacity;
        }
    }
    if (group->sample_count < group->sample_capacity) {
        group->samples[group->sample_count++] = time_us;
    } else if (group->sample_count > 0) {
        uint64_t place = (uint64_t)(random_uniform(&self->random) * (double)group->count);
        if (place < group->sample_count) {
            group->samples[place] = time_us;
        }
    }
}

static void add_time(struct launch_groups *self, struct launch_group *group, double time_us)
{
    double before = time_us - group->mean;
    group->count++;
    group->mean += before / (double)group->count;
    group->squares += before * (time_us - group->mean);
    group->minimum = fmin(group->minimum, time_us);
    group->maximum = fmax(group->maximum, time_us);
    group->last = time_us;
    keep_sample(self, group, time_us);
}

enum status launch_groups_add(struct launch_groups *groups, const struct launch *launch, size_t *claim_index,
                              bool *is_new, struct error *error)
{
    uint64_t hash = hash_launch(launch);
    size_t slot = find_slot(groups, launch, hash);
    bool is_added = groups->slots[slot] == 0;
    size_t index = SIZE_MAX;
    size_t name_bytes = launch->name_length + launch->device_length;
    if (is_added && (groups->count == LAUNCH_GROUPS_MAX || name_bytes > LAUNCH_NAME_BYTES_MAX - groups->name_bytes)) {
        kernel_claim_skip(groups->list, "%s: more than %d different launches, or %d bytes of their names", groups->file,
                          LAUNCH_GROUPS_MAX, LAUNCH_NAME_BYTES_MAX);
        is_added = false;
    } else {
        size_t group = groups->count;
        if (is_added) {
            enum status status = add_group(groups, launch, hash, slot, error);
            if (status != STATUS_OK) {
                return status;
            }
            groups->name_bytes += name_bytes;
        } else {
            group = groups->slots[slot] - 1;
        }
        if (isfinite(launch->time_us)) {
            add_time(groups, &groups->groups[group], launch->time_us);
        }
        index = groups->groups[group].claim;
    }
    if (claim_index != NULL) {
        *claim_index = index;
    }
    if (is_new != NULL) {
        *is_new = is_added;
    }
    return STATUS_OK;
}

void launch_groups_finish(struct launch_groups *groups, bool is_profiled)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct launch_group *group = &groups->groups[i];
        struct kernel_claim *claim = &groups->list->items[group->claim];
        if (group->count == 0) {
            continue;
        }
        claim->time = (struct claim_time){.count = group->count,
                                          .median_us = NAN,
                                          .mean_us = group->mean,
                                          .minimum_us = group->minimum,
                                          .maximum_us = group->maximum,
                                          .deviation_us = NAN,
                                          .last_us = group->last,
                                          .is_profiled = is_profiled};
        if (group->count > 1) {
            claim->time.deviation_us = sqrt(group->squares / (double)(group->count - 1));
        }
        if (group->sample_count > 0) {
            claim->time.median_us = median_in_place(group->samples, group->sample_count);
        }
    }
    launch_groups_free(groups);
}
