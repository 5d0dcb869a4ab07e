/* SPDX-License-Identifier: GPL-3.0-or-later
 * Results of the Kernel Tuning Toolkit (KTT 2.x, JSON): one object per configuration with registers, sizes and times of
 * the functions it launched. "LocalMemorySize" is OpenCL's word for shared memory, "PrivateMemorySize" for what CUDA
 * calls local. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/profiles/tuner_reader_private.h"

/* Of the functions one configuration launches; figures hold only where it is one. */
struct ktt_launches {
    unsigned count;
    double grid[3], block[3]; /* 0 unknown */
    double total_duration;    /* of the configuration; NaN */
};

static bool taken_count(const struct tuner_reader *self, double *value)
{
    *value = self->taken.number;
    return self->taken.piece == JSON_PIECE_NUMBER && *value >= 0.0 && *value <= 4294967295.0 && *value == floor(*value);
}

static enum status read_sides(struct tuner_reader *self, double sides[3])
{
    char key[TUNER_KEY_BYTES];
    bool more = self->taken.piece == JSON_PIECE_OBJECT;
    enum status status = more ? STATUS_OK : tuner_skip(self);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        double value;
        if (key[0] >= 'X' && key[0] <= 'Z' && key[1] == '\0' && taken_count(self, &value)) {
            sides[key[0] - 'X'] = value;
        } else {
            status = tuner_skip(self);
        }
    }
    return status;
}

static enum status read_compilation(struct tuner_reader *self)
{
    static const struct {
        const char *key;
        enum claim_figure figure;
        double maximum;
    } figures[] = {{"RegistersCount", CLAIM_REGISTERS, 65536.0},
                   {"LocalMemorySize", CLAIM_STATIC_SMEM, 1e9},
                   {"PrivateMemorySize", CLAIM_STACK, 1e9}};
    char key[TUNER_KEY_BYTES];
    bool more = self->taken.piece == JSON_PIECE_OBJECT;
    enum status status = more ? STATUS_OK : tuner_skip(self);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        double value;
        for (size_t i = 0; i < sizeof figures / sizeof figures[0] && self->claim != NULL; i++) {
            if (strcmp(key, figures[i].key) == 0 && taken_count(self, &value) && value <= figures[i].maximum) {
                kernel_claim_set(self->claim, figures[i].figure, value);
            }
        }
        status = tuner_skip(self);
    }
    return status;
}

static enum status read_launch(struct tuner_reader *self, struct ktt_launches *launches)
{
    char key[TUNER_KEY_BYTES];
    bool more = true;
    enum status status = STATUS_OK;
    launches->count++;
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        if (strcmp(key, "CompilationData") == 0) {
            status = read_compilation(self);
        } else if (strcmp(key, "GlobalSize") == 0) {
            status = read_sides(self, launches->grid);
        } else if (strcmp(key, "LocalSize") == 0) {
            status = read_sides(self, launches->block);
        } else {
            self->has_counters = self->has_counters || strcmp(key, "ProfilingData") == 0;
            status = tuner_skip(self);
        }
    }
    return status;
}

static enum status read_launches(struct tuner_reader *self, struct ktt_launches *launches)
{
    bool more = self->taken.piece == JSON_PIECE_ARRAY;
    enum status status = more ? STATUS_OK : tuner_skip(self);
    while (status == STATUS_OK && more) {
        status = tuner_next_element(self, &more);
        if (status == STATUS_OK && more) {
            status = self->taken.piece == JSON_PIECE_OBJECT ? read_launch(self, launches) : tuner_skip(self);
        }
    }
    return status;
}

/* {"Name": "BLOCK", "Value": 32, "ValueType": "UnsignedInt"} */
static enum status read_knob(struct tuner_reader *self)
{
    char key[TUNER_KEY_BYTES], name[TUNER_KEY_BYTES] = "";
    bool more = true;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        if (strcmp(key, "Name") == 0 && self->taken.piece == JSON_PIECE_STRING) {
            (void)snprintf(name, sizeof name, "%s", self->taken.text);
        } else if (strcmp(key, "Value") == 0 && name[0] != '\0') {
            status = tuner_add_knob(self, name, strlen(name));
        } else {
            status = tuner_skip(self);
        }
    }
    return status;
}

static enum status read_configuration(struct tuner_reader *self)
{
    bool more = self->taken.piece == JSON_PIECE_ARRAY;
    enum status status = more ? STATUS_OK : tuner_skip(self);
    while (status == STATUS_OK && more) {
        status = tuner_next_element(self, &more);
        if (status == STATUS_OK && more) {
            status = self->taken.piece == JSON_PIECE_OBJECT ? read_knob(self) : tuner_skip(self);
        }
    }
    return status;
}

static enum status take_member(struct tuner_reader *self, const char *key, struct ktt_launches *launches)
{
    const struct json_taken *taken = &self->taken;
    if (strcmp(key, "ComputationResults") == 0) {
        tuner_see_key(&self->entry, TUNER_KEY_LAUNCHES);
        return read_launches(self, launches);
    }
    if (strcmp(key, "Configuration") == 0) {
        tuner_see_key(&self->entry, TUNER_KEY_KNOBS);
        return read_configuration(self);
    }
    if (strcmp(key, "KernelName") == 0 && taken->piece == JSON_PIECE_STRING && self->claim != NULL) {
        const char *name = arena_copy_text(&self->list->arena, taken->text, taken->length);
        self->claim->name = name != NULL ? name : "";
        return STATUS_OK;
    }
    if (strcmp(key, "Status") == 0 && taken->piece == JSON_PIECE_STRING) {
        tuner_see_key(&self->entry, TUNER_KEY_OUTCOME);
        if (strcmp(taken->text, "Ok") != 0) {
            tuner_fail_entry(&self->entry, "%.80s", taken->text);
        }
        return STATUS_OK;
    }
    if (strcmp(key, "TotalDuration") == 0 && taken->piece == JSON_PIECE_NUMBER) {
        tuner_see_key(&self->entry, TUNER_KEY_TIME);
        launches->total_duration = taken->number;
        return STATUS_OK;
    }
    return tuner_skip(self);
}

static void set_sides(const double from[3], uint32_t to[3], struct kernel_claim *claim, enum claim_figure figure)
{
    double product = from[0] * from[1] * from[2];
    if (product >= 1.0) {
        for (size_t i = 0; i < 3; i++) {
            to[i] = (uint32_t)from[i];
        }
        kernel_claim_set(claim, figure, product);
    }
}

static void set_launches(struct tuner_reader *self, struct ktt_launches *launches)
{
    struct kernel_claim *claim = self->claim;
    if (self->head.us_per_unit > 0.0 && tuner_is_time(launches->total_duration * self->head.us_per_unit)) {
        self->entry.time_us = launches->total_duration * self->head.us_per_unit;
    }
    if (launches->count > 1) {
        memset(claim->figures, 0, sizeof claim->figures);
        kernel_claim_remark(self->list, claim, "%u kernels in one configuration: the time is of all, figures of none",
                            launches->count);
        return;
    }
    for (size_t i = 0; i < 3 && self->head.is_opencl_size; i++) { /* work-items, not CTAs */
        double ctas = launches->block[i] > 0.0 ? launches->grid[i] / launches->block[i] : 0.0;
        launches->grid[i] = ctas == floor(ctas) ? ctas : 0.0;
    }
    set_sides(launches->grid, claim->grid, claim, CLAIM_GRID);
    set_sides(launches->block, claim->block, claim, CLAIM_THREADS);
}

static enum status read_entry(struct tuner_reader *self)
{
    char key[TUNER_KEY_BYTES];
    bool more = true;
    struct ktt_launches launches = {.total_duration = NAN};
    enum status status = tuner_begin_entry(self, CLAIM_SOURCE_KTT_RESULTS);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        status = status == STATUS_OK && more ? take_member(self, key, &launches) : status;
    }
    if (status == STATUS_OK && self->claim != NULL) {
        set_launches(self, &launches);
        tuner_end_entry(self);
    }
    return status;
}

enum status tuner_read_ktt_results(struct tuner_reader *self)
{
    return tuner_read_objects(self, read_entry);
}
