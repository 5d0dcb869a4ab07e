/* SPDX-License-Identifier: GPL-3.0-or-later
 * Synthetic rows for the tests of calibration. */
#include "tests/support/synthetic_rows.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "model/predict/kernel_time.h"

static void draw_truth(struct synthetic_rows *self, struct random_stream *stream, double spread)
{
    model_parameters_init(&self->priors);
    self->truth = self->priors;
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        struct model_parameter *item = &self->truth.items[i];
        const struct parameter_description *about = parameter_describe((enum parameter_id)i);
        const double value = item->value * exp(spread * item->log_sigma * random_normal(stream));
        item->value = fmin(0.9 * about->maximum, fmax(1.1 * about->minimum, value));
    }
}

static void draw_values(const struct synthetic_rows *self, struct random_stream *stream, double *values)
{
    for (size_t v = 0; v < self->rows.variable_count; v++) {
        const struct scenario_variable *variable = scenario_variable_get(self->scenario, v);
        values[v] = variable->values[random_below(stream, variable->value_count)];
    }
}

static bool is_new(const struct synthetic_rows *self, const double *values)
{
    const size_t size = self->rows.variable_count;
    for (size_t i = 0; i < self->rows.count; i++) {
        if (memcmp(self->rows.values + i * size, values, size * sizeof *values) == 0) {
            return false;
        }
    }
    return true;
}

void synthetic_rows_create(struct synthetic_rows *self, const char *scenario, size_t count, uint64_t seed,
                           double spread, double noise)
{
    struct error error = {0};
    struct random_stream stream;
    struct scenario_evaluator *evaluator;
    struct time_model model;
    memset(self, 0, sizeof *self);
    random_init(&stream, seed, 5);
    ck_assert_msg(device_catalogue_create(&self->catalogue, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(scenario_read(scenario, self->catalogue, NULL, &self->scenario, &error) == STATUS_OK, "%s",
                  error.text);
    ck_assert_msg(scenario_evaluator_create(self->scenario, &evaluator, &error) == STATUS_OK, "%s", error.text);
    self->device = scenario_device(self->scenario);
    draw_truth(self, &stream, spread);
    ck_assert_msg(time_model_init(&model, self->device, &self->truth, &error) == STATUS_OK, "%s", error.text);
    struct measured_rows *rows = &self->rows;
    rows->variable_count = scenario_variable_count(self->scenario);
    rows->rows = calloc(count, sizeof *rows->rows);
    rows->values = calloc(count * rows->variable_count, sizeof *rows->values);
    ck_assert(rows->rows && rows->values);
    for (size_t tries = 0; rows->count < count; tries++) {
        double *values = rows->values + rows->count * rows->variable_count;
        struct kernel_row *row = &rows->rows[rows->count];
        enum config_verdict verdict;
        size_t constraint;
        struct layer_time time;
        ck_assert_msg(tries < 1000 * count, "%s has too few configurations", scenario);
        draw_values(self, &stream, values);
        ck_assert_msg(scenario_evaluate(evaluator, values, &verdict, &constraint, &row->layer, &error) == STATUS_OK,
                      "%s", error.text);
        if (verdict != CONFIG_OK || !is_new(self, values)) {
            continue;
        }
        layer_time_predict(&model, &row->layer, &time);
        if (time.feasible) {
            row->time_s = time.time_s * exp(noise * random_normal(&stream));
            row->line = (uint32_t)rows->count + 2;
            rows->count++;
        }
    }
    rows->read = rows->count;
    scenario_evaluator_free(evaluator);
}

void synthetic_rows_release(struct synthetic_rows *self)
{
    free(self->rows.rows);
    free(self->rows.values);
    scenario_free(self->scenario);
    device_catalogue_free(self->catalogue);
}
