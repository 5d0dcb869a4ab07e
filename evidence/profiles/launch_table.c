/* SPDX-License-Identifier: GPL-3.0-or-later
 * A hash table of launches; running moments; a reservoir for the median. */
#include "evidence/profiles/launch_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

enum {
    FIRST_SLOTS = 1024,
    FIRST_SAMPLES = 4
};

enum status launch_table_init(struct launch_table *table, struct kernel_claim_list *list, enum claim_source source,
                              const char *file, const struct launch_limits *limits, struct error *error)
{
    *table = (struct launch_table){
        .list = list, .source = source, .file = file, .limits = *limits, .slot_count = FIRST_SLOTS};
    random_init(&table->random, 1, 1);
    table->slots = calloc(FIRST_SLOTS, sizeof *table->slots);
    return table->slots != NULL ? STATUS_OK
                                : error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", file);
}

void launch_table_release(struct launch_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->items[i].samples);
    }
    free(table->items);
    free(table->slots);
    *table = (struct launch_table){0};
}

/* --- finding -------------------------------------------------------------------------------------------------------
 */

uint64_t launch_hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
    uint64_t word;
    size_t at = 0;
    hash = launch_hash(hash, length);
    for (; length - at >= sizeof word; at += sizeof word) {
        memcpy(&word, bytes + at, sizeof word);
        hash = launch_hash(hash, word);
    }
    word = 0;
    if (at < length) {
        memcpy(&word, bytes + at, length - at);
    }
    return launch_hash(hash, word);
}

struct launch_group *launch_table_find(const struct launch_table *table, uint64_t hash, launch_is_alike *is_alike,
                                       const void *launch)
{
    size_t mask = table->slot_count - 1;
    for (size_t slot = hash & mask; table->slots[slot] != 0; slot = (slot + 1) & mask) {
        size_t index = table->slots[slot] - 1;
        if (table->items[index].hash == hash && is_alike(table, index, launch)) {
            return &table->items[index];
        }
    }
    return NULL;
}

/* --- adding --------------------------------------------------------------------------------------------------------
 */

static void put(uint32_t *slots, size_t slot_count, const struct launch_group *group, size_t index)
{
    size_t slot = group->hash & (slot_count - 1);
    while (slots[slot] != 0) {
        slot = (slot + 1) & (slot_count - 1);
    }
    slots[slot] = (uint32_t)index + 1;
}

/* Room for one more, half of the slots empty. */
static bool reserve(struct launch_table *self)
{
    if (self->count == self->capacity) {
        size_t capacity = self->capacity == 0 ? 64 : self->capacity * 2;
        struct launch_group *items = realloc(self->items, capacity * sizeof *items);
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

enum status launch_table_add(struct launch_table *table, uint64_t hash, const char *name, size_t name_length,
                             size_t text_bytes, struct launch_group **group, struct error *error)
{
    *group = NULL;
    if (table->count == table->limits.groups || text_bytes > table->limits.name_bytes - table->name_bytes) {
        table->left_out++;
        return STATUS_OK;
    }
    struct kernel_claim *claim = NULL;
    enum status status = reserve(table)
                             ? STATUS_OK
                             : error_set(error, STATUS_NO_MEMORY, "no memory for the launches of %s", table->file);
    if (status == STATUS_OK) {
        status = kernel_claim_list_add(table->list, table->source, table->file, name, name_length, &claim, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    table->name_bytes += text_bytes;
    *group = &table->items[table->count];
    **group = (struct launch_group){.hash = hash,
                                    .claim = table->list->count - 1,
                                    .minimum_us = INFINITY,
                                    .maximum_us = -INFINITY,
                                    .last_start_us = -INFINITY,
                                    .last_us = NAN};
    put(table->slots, table->slot_count, *group, table->count);
    table->count++;
    return STATUS_OK;
}

/* --- times ---------------------------------------------------------------------------------------------------------
 */

/* Doubles the room for times, as long as the budgets of the group and of all groups allow. */
static bool grow_samples(struct launch_table *self, struct launch_group *group)
{
    uint32_t capacity = group->sample_capacity == 0 ? FIRST_SAMPLES : 2 * group->sample_capacity;
    size_t more = (capacity - group->sample_capacity) * sizeof *group->samples;
    if (capacity > LAUNCH_SAMPLES_MAX || more > self->limits.sample_bytes - self->sample_bytes) {
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
static void keep_sample(struct launch_table *self, struct launch_group *group, double time_us)
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

void launch_table_count(struct launch_table *table, struct launch_group *group, double time_us, double start_us)
{
    group->launches++;
    if (!isfinite(time_us)) {
        return;
    }
    group->timed++;
    double difference = time_us - group->mean_us;
    group->mean_us += difference / (double)group->timed;
    group->squares_us2 += difference * (time_us - group->mean_us);
    group->minimum_us = fmin(group->minimum_us, time_us);
    group->maximum_us = fmax(group->maximum_us, time_us);
    if (isnan(start_us) || start_us >= group->last_start_us) {
        group->last_start_us = isnan(start_us) ? group->last_start_us : start_us;
        group->last_us = time_us;
    }
    keep_sample(table, group, time_us);
}

static void finish(struct launch_table *self, struct launch_group *group, bool is_profiled)
{
    struct kernel_claim *claim = &self->list->items[group->claim];
    struct claim_time *time = &claim->time;
    if (group->timed > 0) {
        time->count = group->timed;
        time->mean_us = group->mean_us;
        time->minimum_us = group->minimum_us;
        time->maximum_us = group->maximum_us;
        time->last_us = group->last_us;
        time->is_profiled = is_profiled;
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
    free(group->samples);
    group->samples = NULL;
}

void launch_table_finish(struct launch_table *table, bool is_profiled)
{
    for (size_t i = 0; i < table->count; i++) {
        finish(table, &table->items[i], is_profiled);
    }
}
