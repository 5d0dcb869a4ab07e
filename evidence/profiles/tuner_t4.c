/* SPDX-License-Identifier: GPL-3.0-or-later
 * Results in the T4 format of the auto-tuning community, version 1.0.0: one object per configuration with its knobs,
 * single runs, measurements and how it failed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/profiles/tuner_reader_private.h"

struct t4_measurement {
    char name[TUNER_KEY_BYTES], unit[TUNER_KEY_BYTES];
    double value;
    bool is_failure; /* a word instead of a number */
};

static enum status read_configuration(struct tuner_reader *self)
{
    char key[TUNER_KEY_BYTES];
    bool more = self->taken.piece == JSON_PIECE_OBJECT;
    enum status status = more ? STATUS_OK : tuner_skip(self);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        status = status == STATUS_OK && more ? tuner_add_knob(self, key, strlen(key)) : status;
    }
    return status;
}

static enum status read_runs(struct tuner_reader *self)
{
    char key[TUNER_KEY_BYTES];
    bool more = self->taken.piece == JSON_PIECE_OBJECT;
    enum status status = more ? STATUS_OK : tuner_skip(self);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        if (status == STATUS_OK && more) {
            status = strcmp(key, "runtimes") == 0 ? tuner_add_times(self, self->head.us_per_unit) : tuner_skip(self);
        }
    }
    return status;
}

static enum status read_measurement(struct tuner_reader *self, struct t4_measurement *measurement)
{
    char key[TUNER_KEY_BYTES];
    bool more = true;
    enum status status = STATUS_OK;
    *measurement = (struct t4_measurement){.value = NAN};
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        const struct json_taken *taken = &self->taken;
        bool is_text = taken->piece == JSON_PIECE_STRING;
        if (strcmp(key, "name") == 0 && is_text) {
            (void)snprintf(measurement->name, sizeof measurement->name, "%s", taken->text);
        } else if (strcmp(key, "unit") == 0 && is_text) {
            (void)snprintf(measurement->unit, sizeof measurement->unit, "%s", taken->text);
        } else if (strcmp(key, "value") == 0 && taken->piece == JSON_PIECE_NUMBER) {
            measurement->value = taken->number;
        } else if (strcmp(key, "value") == 0 && is_text) {
            measurement->is_failure = true;
        } else {
            status = tuner_skip(self);
        }
    }
    return status;
}

/* The measurement called "time" is the result; others (energy, GFLOP/s) are passed over. */
static enum status read_measurements(struct tuner_reader *self)
{
    bool more = self->taken.piece == JSON_PIECE_ARRAY;
    enum status status = more ? STATUS_OK : tuner_skip(self);
    while (status == STATUS_OK && more) {
        struct t4_measurement measurement;
        status = tuner_next_element(self, &more);
        if (status != STATUS_OK || !more) {
            break;
        }
        if (self->taken.piece != JSON_PIECE_OBJECT) {
            status = tuner_skip(self);
            continue;
        }
        status = read_measurement(self, &measurement);
        if (status != STATUS_OK || strcmp(measurement.name, "time") != 0) {
            continue;
        }
        double us = measurement.unit[0] != '\0' ? tuner_us_per_unit(measurement.unit) : self->head.us_per_unit;
        if (measurement.is_failure || isinf(measurement.value)) {
            tuner_fail_entry(&self->entry, "failed: its time is no number");
        } else if (us > 0.0 && tuner_is_time(measurement.value * us)) {
            self->entry.time_us = measurement.value * us;
        }
    }
    return status;
}

static enum status take_member(struct tuner_reader *self, const char *key)
{
    if (strcmp(key, "configuration") == 0) {
        tuner_see_key(&self->entry, TUNER_KEY_KNOBS);
        return read_configuration(self);
    }
    if (strcmp(key, "times") == 0) {
        tuner_see_key(&self->entry, TUNER_KEY_RUNS);
        return read_runs(self);
    }
    if (strcmp(key, "measurements") == 0) {
        tuner_see_key(&self->entry, TUNER_KEY_TIME);
        return read_measurements(self);
    }
    if (strcmp(key, "invalidity") == 0 && self->taken.piece == JSON_PIECE_STRING) {
        tuner_see_key(&self->entry, TUNER_KEY_OUTCOME);
        if (strcmp(self->taken.text, "correct") != 0) {
            tuner_fail_entry(&self->entry, self->taken.text[0] ? "failed: invalidity %.60s" : "failed%.0s",
                             self->taken.text);
        }
        return STATUS_OK;
    }
    return tuner_skip(self);
}

static enum status read_entry(struct tuner_reader *self)
{
    char key[TUNER_KEY_BYTES];
    bool more = true;
    enum status status = tuner_begin_entry(self, CLAIM_SOURCE_T4_RESULTS);
    while (status == STATUS_OK && more) {
        status = tuner_next_member(self, key, &more);
        status = status == STATUS_OK && more ? take_member(self, key) : status;
    }
    if (status == STATUS_OK) {
        tuner_end_entry(self);
    }
    return status;
}

enum status tuner_read_t4_results(struct tuner_reader *self)
{
    return tuner_read_objects(self, read_entry);
}
