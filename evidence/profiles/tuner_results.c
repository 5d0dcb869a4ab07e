/* SPDX-License-Identifier: GPL-3.0-or-later
 * Results of auto-tuners: which format a file has, and what its head states. A head that comes behind the results is
 * looked for in a pass of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/profiles/profile_readers.h"
#include "evidence/profiles/tuner_reader_private.h"

enum tuner_format {
    FORMAT_UNKNOWN,
    FORMAT_KERNEL_TUNER,
    FORMAT_T4,
    FORMAT_KTT
};

/* --- heads ---------------------------------------------------------------------------------------------------------
 */

/* tune_params_keys: the names of the knobs. */
static enum status read_knob_names(struct tuner_reader *self)
{
    bool more = self->taken.piece == JSON_PIECE_ARRAY;
    enum status status = more ? STATUS_OK : tuner_skip(self);
    self->head.knob_count = 0;
    while (status == STATUS_OK && more) {
        status = tuner_next_element(self, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        if (self->taken.piece != JSON_PIECE_STRING || self->taken.length >= TUNER_KEY_BYTES) {
            status = error_set_at(self->error, STATUS_BAD_DATA, self->path, self->taken.line, self->taken.column,
                                  "\"tune_params_keys\": names of fewer than %d bytes expected", TUNER_KEY_BYTES);
        } else if (self->head.knob_count == CLAIM_PARAMETERS_MAX) {
            status = error_set_at(self->error, STATUS_LIMIT, self->path, self->taken.line, 0,
                                  "more than %d knobs in one configuration", CLAIM_PARAMETERS_MAX);
        } else {
            status = tuner_copy_text(self, &self->head.knobs[self->head.knob_count]);
            self->head.knob_count += status == STATUS_OK;
        }
    }
    return status;
}

static enum status read_metadata(struct tuner_reader *self)
{
    char key[TUNER_KEY_BYTES];
    bool more = self->taken.piece == JSON_PIECE_OBJECT;
    enum status status = more ? STATUS_OK : tuner_skip(self);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        const struct json_taken *taken = &self->taken;
        if (taken->piece != JSON_PIECE_STRING) {
            status = tuner_skip(self);
        } else if (strcmp(key, "TimeUnit") == 0 || strcmp(key, "timeunit") == 0) {
            self->head.us_per_unit = tuner_us_per_unit(taken->text);
        } else if (strcmp(key, "Device") == 0) {
            status = tuner_copy_text(self, &self->head.device);
        } else if (strcmp(key, "GlobalSizeType") == 0) {
            self->head.is_opencl_size = strcmp(taken->text, "OpenCL") == 0;
        }
    }
    return status;
}

/* A member of the outermost object that is no container of results. */
static enum status take_head_member(struct tuner_reader *self, const char *key)
{
    bool is_text = self->taken.piece == JSON_PIECE_STRING;
    if (self->has_whole_head) {
        return tuner_skip(self);
    }
    if (strcmp(key, "device_name") == 0 && is_text) {
        return tuner_copy_text(self, &self->head.device);
    }
    if (strcmp(key, "kernel_name") == 0 && is_text) {
        return tuner_copy_text(self, &self->head.kernel);
    }
    if (strcmp(key, "tune_params_keys") == 0 && self->head.knob_count > 0) {
        return error_set_at(self->error, STATUS_BAD_DATA, self->path, self->taken.line, self->taken.column,
                            "key \"tune_params_keys\" a second time");
    }
    if (strcmp(key, "tune_params_keys") == 0) {
        self->head.is_seen = true;
        return read_knob_names(self);
    }
    if (strcmp(key, "metadata") == 0 || strcmp(key, "Metadata") == 0) {
        self->head.is_seen = true;
        return read_metadata(self);
    }
    return tuner_skip(self);
}

/* --- documents -----------------------------------------------------------------------------------------------------
 */

static enum tuner_format format_of(const char *key, enum json_piece piece)
{
    if (strcmp(key, "cache") == 0 && piece == JSON_PIECE_OBJECT) {
        return FORMAT_KERNEL_TUNER;
    }
    if (strcmp(key, "results") == 0 && piece == JSON_PIECE_ARRAY) {
        return FORMAT_T4;
    }
    return strcmp(key, "Results") == 0 && piece == JSON_PIECE_ARRAY ? FORMAT_KTT : FORMAT_UNKNOWN;
}

static enum status open_document(struct tuner_reader *self)
{
    enum status status = json_pull_open(self->path, &self->pull, self->error);
    status = status == STATUS_OK ? tuner_next(self) : status;
    if (status == STATUS_OK && self->taken.piece != JSON_PIECE_OBJECT) {
        status = error_set_at(self->error, STATUS_BAD_DATA, self->path, self->taken.line, self->taken.column,
                              "results of a tuner are a JSON object");
    }
    return status;
}

/* Reads the file once for its head alone. */
static enum status find_head(struct tuner_reader *self)
{
    char key[TUNER_KEY_BYTES];
    bool more = true;
    struct tuner_reader other = {.path = self->path, .list = self->list, .error = self->error};
    enum status status = open_document(&other);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(&other, key, &more);
        if (status == STATUS_OK && more) {
            status = format_of(key, other.taken.piece) != FORMAT_UNKNOWN ? tuner_skip(&other)
                                                                         : take_head_member(&other, key);
        }
    }
    json_pull_free(other.pull);
    arena_release(&self->head_arena);
    self->head = other.head;
    self->head_arena = other.head_arena;
    self->has_whole_head = true;
    return status;
}

static enum status read_results(struct tuner_reader *self, enum tuner_format format)
{
    enum status status = STATUS_OK;
    if (!self->head.is_seen) {
        struct json_taken here = self->taken;
        status = find_head(self);
        self->taken = here;
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (format == FORMAT_KERNEL_TUNER) {
        return tuner_read_kernel_tuner_cache(self);
    }
    return format == FORMAT_T4 ? tuner_read_t4_results(self) : tuner_read_ktt_results(self);
}

static enum status read_document(struct tuner_reader *self, enum tuner_format *format)
{
    char key[TUNER_KEY_BYTES];
    bool more = true;
    enum status status = open_document(self);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        enum tuner_format found = format_of(key, self->taken.piece);
        if (found != FORMAT_UNKNOWN && *format == FORMAT_UNKNOWN) {
            *format = found;
            status = read_results(self, found);
        } else if (found != FORMAT_UNKNOWN) {
            status = error_set_at(self->error, STATUS_BAD_DATA, self->path, self->taken.line, self->taken.column,
                                  "results a second time, as \"%s\"", key);
        } else {
            status = take_head_member(self, key);
        }
    }
    if (status == STATUS_OK && !self->is_cut) {
        status = tuner_next(self); /* nothing may follow */
    }
    return status;
}

static void write_remark(struct tuner_reader *self, enum tuner_format format)
{
    const char *damage = json_pull_damage(self->pull);
    const char *cut = "";
    if (self->is_cut) {
        cut = format == FORMAT_KERNEL_TUNER ? "not closed, as Kernel Tuner leaves it while it runs"
                                            : "the file ends early";
    }
    const char *counters =
        self->has_counters ? "hardware counters were taken; whether times include that is not told" : "";
    const char *unit = format != FORMAT_KERNEL_TUNER && !(self->head.us_per_unit > 0.0) ? "no time unit is stated" : "";
    const char *const parts[] = {cut, damage, counters, unit};
    char *out = self->list->remark;
    size_t size = sizeof self->list->remark, used = strlen(out);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i][0] != '\0' && used < size) {
            (void)snprintf(out + used, size - used, "%s%s", used > 0 ? "; " : "", parts[i]);
            used = strlen(out);
        }
    }
}

enum status tuner_results_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct tuner_reader reader = {.path = path, .list = list, .error = error};
    enum tuner_format format = FORMAT_UNKNOWN;
    enum status status = read_document(&reader, &format);
    if (status == STATUS_OK && format == FORMAT_UNKNOWN) {
        status =
            error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                         "no results of a tuner: no \"cache\" (Kernel Tuner), \"results\" (T4) or \"Results\" (KTT)");
    }
    if (status == STATUS_OK) {
        write_remark(&reader, format);
    }
    json_pull_free(reader.pull);
    arena_release(&reader.head_arena);
    free(reader.entry.times_us);
    return status;
}
