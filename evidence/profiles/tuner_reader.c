/* SPDX-License-Identifier: GPL-3.0-or-later
 * Common steps of the readers of tuners' results. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/statistics.h"
#include "evidence/profiles/tuner_reader_private.h"

/* --- pieces --------------------------------------------------------------------------------------------------------
 */

enum status tuner_next(struct tuner_reader *self)
{
    enum status status = json_pull_next(self->pull, &self->taken, self->error);
    self->is_cut = self->is_cut || self->taken.piece == JSON_PIECE_CUT;
    return status;
}

enum status tuner_skip(struct tuner_reader *self)
{
    enum status status = json_pull_skip(self->pull, &self->taken, self->error);
    self->is_cut = self->is_cut || self->taken.piece == JSON_PIECE_CUT;
    return status;
}

enum status tuner_next_member(struct tuner_reader *self, char key[TUNER_KEY_BYTES], bool *more)
{
    *more = false;
    enum status status = self->is_cut ? STATUS_OK : tuner_next(self);
    if (status != STATUS_OK || self->is_cut || self->taken.piece != JSON_PIECE_KEY) {
        return status;
    }
    (void)snprintf(key, TUNER_KEY_BYTES, "%s", self->taken.text);
    status = tuner_next(self);
    *more = !self->is_cut;
    return status;
}

enum status tuner_next_element(struct tuner_reader *self, bool *more)
{
    *more = false;
    enum status status = self->is_cut ? STATUS_OK : tuner_next(self);
    *more = !self->is_cut && self->taken.piece != JSON_PIECE_ARRAY_END;
    return status;
}

enum status tuner_copy_text(struct tuner_reader *self, const char **text)
{
    *text = arena_copy_text(&self->head_arena, self->taken.text, self->taken.length);
    return *text != NULL ? STATUS_OK : error_set(self->error, STATUS_NO_MEMORY, "no memory to read %s", self->path);
}

double tuner_us_per_unit(const char *unit)
{
    static const struct {
        const char *name;
        double us;
    } units[] = {{"miliseconds", 1e3},
                 {"milliseconds", 1e3},
                 {"millisecond", 1e3},
                 {"ms", 1e3},
                 {"microseconds", 1.0},
                 {"microsecond", 1.0},
                 {"us", 1.0},
                 {"nanoseconds", 1e-3},
                 {"nanosecond", 1e-3},
                 {"ns", 1e-3},
                 {"seconds", 1e6},
                 {"second", 1e6},
                 {"s", 1e6}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcasecmp(unit, units[i].name) == 0) {
            return units[i].us;
        }
    }
    return 0.0;
}

/* --- entries -------------------------------------------------------------------------------------------------------
 */

enum status tuner_begin_entry(struct tuner_reader *self, enum claim_source source)
{
    struct tuner_entry *entry = &self->entry;
    entry->time_us = NAN;
    entry->is_failed = entry->has_key_twice = false;
    entry->keys_seen = 0;
    entry->failure[0] = '\0';
    entry->time_count = 0;
    self->entry_count++;
    self->claim = NULL;
    if (self->entry_count > TUNER_CLAIMS_MAX) {
        kernel_claim_skip(self->list, "%s:%u: more than %d configurations", self->path, self->taken.line,
                          TUNER_CLAIMS_MAX);
        return STATUS_OK;
    }
    const char *kernel = self->head.kernel != NULL ? self->head.kernel : "";
    enum status status =
        kernel_claim_list_add(self->list, source, self->path, kernel, strlen(kernel), &self->claim, self->error);
    if (status == STATUS_OK) {
        self->claim->line = self->taken.line;
        self->claim->ordinal = self->entry_count;
    }
    return status;
}

void tuner_see_key(struct tuner_entry *entry, enum tuner_key key)
{
    entry->has_key_twice = entry->has_key_twice || (entry->keys_seen & (unsigned)key) != 0;
    entry->keys_seen |= (unsigned)key;
}

enum status tuner_add_knob(struct tuner_reader *self, const char *name, size_t name_length)
{
    const struct json_taken *taken = &self->taken;
    bool is_value = taken->piece == JSON_PIECE_NUMBER || taken->piece == JSON_PIECE_STRING ||
                    (taken->piece == JSON_PIECE_WORD && strcmp(taken->text, "null") != 0);
    if (!is_value || self->claim == NULL) {
        return tuner_skip(self);
    }
    for (size_t i = 0; i < self->claim->parameter_count; i++) {
        const char *other = self->claim->parameters[i].name;
        if (strncmp(other, name, name_length) == 0 && other[name_length] == '\0') {
            self->entry.has_key_twice = true;
        }
    }
    return kernel_claim_parameter(self->list, self->claim, name, name_length, taken->text, taken->length, self->error);
}

static enum status add_time(struct tuner_reader *self, double time_us)
{
    struct tuner_entry *entry = &self->entry;
    if (entry->time_count == entry->time_capacity) {
        size_t capacity = entry->time_capacity == 0 ? 64 : entry->time_capacity * 2;
        double *times = capacity <= TUNER_TIMES_MAX ? realloc(entry->times_us, capacity * sizeof *times) : NULL;
        if (times == NULL) {
            return error_set_at(self->error, capacity <= TUNER_TIMES_MAX ? STATUS_NO_MEMORY : STATUS_LIMIT, self->path,
                                self->taken.line, 0, "more times of one configuration than the %d that are kept",
                                TUNER_TIMES_MAX);
        }
        entry->times_us = times;
        entry->time_capacity = capacity;
    }
    entry->times_us[entry->time_count++] = time_us;
    return STATUS_OK;
}

bool tuner_is_time(double time_us)
{
    return time_us >= 0.0 && time_us <= TUNER_TIME_US_MAX;
}

enum status tuner_add_times(struct tuner_reader *self, double us_per_unit)
{
    bool more = true;
    enum status status = STATUS_OK;
    if (self->taken.piece != JSON_PIECE_ARRAY) {
        return tuner_skip(self);
    }
    while (status == STATUS_OK && more) {
        status = tuner_next_element(self, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        bool is_time = self->taken.piece == JSON_PIECE_NUMBER && us_per_unit > 0.0 &&
                       tuner_is_time(self->taken.number * us_per_unit);
        status = is_time ? add_time(self, self->taken.number * us_per_unit) : tuner_skip(self);
    }
    return status;
}

void tuner_fail_entry(struct tuner_entry *entry, const char *format, ...)
{
    va_list arguments;
    if (entry->is_failed) {
        return;
    }
    entry->is_failed = true;
    va_start(arguments, format);
    (void)vsnprintf(entry->failure, sizeof entry->failure, format, arguments);
    va_end(arguments);
}

/* The stated time is what the tuner went by. Single runs are taken with it only where their mean is the same: some
 * files hold runs of another clock beside it. */
static void set_times(struct tuner_reader *self)
{
    enum {
        AGREEMENT_PERCENT = 1
    };
    struct tuner_entry *entry = &self->entry;
    struct claim_time *time = &self->claim->time;
    double runs = entry->time_count > 0 ? mean(entry->times_us, entry->time_count) : (double)NAN;
    time->mean_us = isnan(entry->time_us) ? runs : entry->time_us;
    time->count = isnan(time->mean_us) ? 0u : 1u;
    if (isnan(runs)) {
        return;
    }
    if (fabs(runs - time->mean_us) > AGREEMENT_PERCENT / 100.0 * time->mean_us) {
        kernel_claim_remark(self->list, self->claim,
                            "its single runs have a mean of %.4g us, not the stated %.4g us, "
                            "and are left out",
                            runs, time->mean_us);
        return;
    }
    time->count = entry->time_count;
    time->last_us = entry->times_us[entry->time_count - 1];
    time->deviation_us = entry->time_count > 1 ? standard_deviation(entry->times_us, entry->time_count) : (double)NAN;
    time->median_us = median_in_place(entry->times_us, entry->time_count);
    time->minimum_us = entry->times_us[0];
    time->maximum_us = entry->times_us[entry->time_count - 1];
}

void tuner_end_entry(struct tuner_reader *self)
{
    struct kernel_claim *claim = self->claim;
    if (claim == NULL) {
        return;
    }
    if (self->is_cut) {
        self->list->count--;
        self->claim = NULL;
        return;
    }
    if (claim->parameter_count == 0 || self->entry.has_key_twice) {
        kernel_claim_skip(self->list, "%s:%u: %s", self->path, claim->line,
                          self->entry.has_key_twice ? "a result with a key twice" : "a result without a configuration");
        self->list->count--;
        self->claim = NULL;
        return;
    }
    if (self->head.device != NULL) {
        char *device = arena_copy_text(&self->list->arena, self->head.device, strlen(self->head.device));
        claim->device = device != NULL ? device : "";
    }
    claim->is_failed = self->entry.is_failed;
    if (claim->is_failed) {
        const bool is_blank = self->entry.failure[strspn(self->entry.failure, " \t\r\n")] == '\0';
        kernel_claim_remark(self->list, claim, "%s", is_blank ? "failed" : self->entry.failure);
    } else {
        set_times(self);
        if (claim->time.count == 0) {
            kernel_claim_remark(self->list, claim, "no time is stated");
        }
    }
    self->claim = NULL;
}

enum status tuner_read_objects(struct tuner_reader *self, enum status (*read_entry)(struct tuner_reader *self))
{
    bool more = true;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && more) {
        status = tuner_next_element(self, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        if (self->taken.piece == JSON_PIECE_OBJECT) {
            status = read_entry(self);
        } else {
            kernel_claim_skip(self->list, "%s:%u: a result that is no object", self->path, self->taken.line);
            status = tuner_skip(self);
        }
    }
    return status;
}
