/* SPDX-License-Identifier: GPL-3.0-or-later
 * Entries of a Kernel Tuner cache: knobs and results side by side in one object per configuration. Times are
 * milliseconds; "time" is the mean of "times", or a word that says how the configuration failed. */
#include <math.h>
#include <string.h>

#include "evidence/profiles/tuner_reader_private.h"

#define US_PER_MS          1e3
#define FAILURE_OF_OLD     1e20 /* versions before 0.4.2 wrote this number for a failure */
#define LAUNCH_THREADS_MAX 1024

/* The knob of that name, or NULL; they come in the order of the head. */
static const char *find_knob(const struct tuner_head *head, const char *key, size_t *expected)
{
    for (size_t i = 0; i < head->knob_count; i++) {
        size_t at = (*expected + i) % head->knob_count;
        if (strcmp(head->knobs[at], key) == 0) {
            *expected = at + 1;
            return head->knobs[at];
        }
    }
    return NULL;
}

static enum status take_time(struct tuner_reader *self)
{
    const struct json_taken *taken = &self->taken;
    struct tuner_entry *entry = &self->entry;
    if (taken->piece == JSON_PIECE_STRING) {
        tuner_fail_entry(entry, "%.80s", taken->text[0] != '\0' ? taken->text : "failed");
    } else if (taken->piece == JSON_PIECE_NUMBER &&
               (!isfinite(taken->number) || taken->number >= FAILURE_OF_OLD || taken->number < 0.0)) {
        tuner_fail_entry(entry, "failed: a time of %.40s", taken->text);
    } else if (taken->piece == JSON_PIECE_NUMBER) {
        entry->time_us = taken->number * US_PER_MS;
        return STATUS_OK;
    }
    return tuner_skip(self);
}

static enum status take_member(struct tuner_reader *self, const char *key, size_t *expected_knob)
{
    const char *knob = find_knob(&self->head, key, expected_knob);
    if (knob != NULL) {
        return tuner_add_knob(self, knob, strlen(knob));
    }
    if (strcmp(key, "time") == 0) {
        tuner_see_key(&self->entry, TUNER_KEY_TIME);
        return take_time(self);
    }
    if (strcmp(key, "times") == 0) {
        tuner_see_key(&self->entry, TUNER_KEY_RUNS);
        return tuner_add_times(self, US_PER_MS);
    }
    return tuner_skip(self);
}

/* block_size_x, _y and _z are the sides of a CTA unless the tuner was told other names, which the file does not say. */
static void set_block(struct kernel_claim *claim)
{
    static const char *const names[] = {"block_size_x", "block_size_y", "block_size_z"};
    uint32_t sides[3] = {0, 1, 1};
    for (size_t i = 0; i < claim->parameter_count; i++) {
        for (size_t side = 0; side < 3; side++) {
            double value = claim->parameters[i].value;
            if (strcmp(claim->parameters[i].name, names[side]) == 0) {
                bool is_side = value >= 1.0 && value <= LAUNCH_THREADS_MAX && value == floor(value);
                sides[side] = is_side ? (uint32_t)value : 0;
            }
        }
    }
    double threads = (double)sides[0] * sides[1] * sides[2];
    if (threads > 0.0) {
        memcpy(claim->block, sides, sizeof claim->block);
        kernel_claim_set(claim, CLAIM_THREADS, threads);
    }
}

static enum status read_entry(struct tuner_reader *self)
{
    char key[TUNER_KEY_BYTES];
    bool more = true;
    size_t expected_knob = 0;
    if (self->taken.piece != JSON_PIECE_OBJECT) {
        kernel_claim_skip(self->list, "%s:%u: a configuration that is no object", self->path, self->taken.line);
        return tuner_skip(self);
    }
    enum status status = tuner_begin_entry(self, CLAIM_SOURCE_KERNEL_TUNER);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        status = status == STATUS_OK && more ? take_member(self, key, &expected_knob) : status;
    }
    if (status == STATUS_OK && self->claim != NULL) {
        set_block(self->claim);
        tuner_end_entry(self);
    }
    return status;
}

enum status tuner_read_kernel_tuner_cache(struct tuner_reader *self)
{
    char key[TUNER_KEY_BYTES];
    bool more = true;
    if (self->head.knob_count == 0) {
        return error_set_at(
            self->error, STATUS_BAD_DATA, self->path, self->taken.line, 0,
            "a Kernel Tuner cache without \"tune_params_keys\": which of its columns are knobs is unknown");
    }
    enum status status = STATUS_OK;
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        status = status == STATUS_OK && more ? read_entry(self) : status;
    }
    return status;
}
