/* SPDX-License-Identifier: GPL-3.0-or-later
 * Random search by its distribution, local search by doing it (SEARCH-9). */
#include "calibrate/experiment/search_baselines.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/statistics.h"

double search_random_expectation(const double *values, size_t config_count, size_t runs, double *sorted)
{
    size_t good = 0;
    for (size_t i = 0; i < config_count; i++) {
        if (isfinite(values[i])) {
            sorted[good++] = values[i];
        }
    }
    if (good == 0 || runs == 0) {
        return 0;
    }
    sort_doubles(sorted, good);
    if (runs >= config_count) {
        return 1;
    }
    /* P(the best drawn is the r-th best of all) = C(N - r - 1, runs - 1) / C(N, runs); failures are worse than all. */
    double probability = (double)runs / (double)config_count, sum = 0;
    for (size_t r = 0; r < good && probability > 0; r++) {
        sum += probability * sorted[0] / sorted[r];
        probability *=
            config_count - r - 1 >= runs ? (double)(config_count - r - runs) / (double)(config_count - r - 1) : 0;
    }
    return sum;
}

struct local_search {
    const struct search_space *space;
    const double *values;
    double least, found; /* of all; so far */
    bool *is_tried;
    uint32_t *neighbours;
    size_t runs, done;
    double *fractions;
    struct random_stream stream;
};

static double value_of(const struct local_search *self, uint32_t config)
{
    return isfinite(self->values[config]) ? self->values[config] : HUGE_VAL;
}

static void evaluate(struct local_search *self, uint32_t config)
{
    if (self->is_tried[config]) {
        return; /* known, costs nothing */
    }
    self->is_tried[config] = true;
    self->found = fmin(self->found, value_of(self, config));
    self->fractions[self->done++] = isfinite(self->found) ? self->least / self->found : 0;
}

static size_t collect_neighbours(struct local_search *self, uint32_t center)
{
    size_t count = 0;
    for (uint32_t c = 0; c < self->space->config_count; c++) {
        uint32_t differences = 0;
        for (uint32_t f = 0; f < self->space->feature_count && differences < 2; f++) {
            differences += search_space_level(self->space, f, c) != search_space_level(self->space, f, center);
        }
        if (differences == 1) {
            self->neighbours[count++] = c;
        }
    }
    return count;
}

/* Tries neighbours in random order; true and *center moved at the first better one. */
static bool improve(struct local_search *self, uint32_t *center)
{
    const size_t count = collect_neighbours(self, *center);
    for (size_t i = 0; i < count && self->done < self->runs; i++) {
        const size_t j = i + random_below(&self->stream, (uint32_t)(count - i));
        const uint32_t neighbour = self->neighbours[j];
        self->neighbours[j] = self->neighbours[i];
        self->neighbours[i] = neighbour;
        evaluate(self, neighbour);
        if (value_of(self, neighbour) < value_of(self, *center)) {
            *center = neighbour;
            return true;
        }
    }
    return false;
}

static void climb_until_spent(struct local_search *self)
{
    const size_t configs = self->space->config_count;
    const size_t most = self->runs;
    self->runs = most < configs ? most : configs;
    while (self->done < self->runs) {
        uint32_t center = random_below(&self->stream, (uint32_t)configs);
        while (self->is_tried[center]) {
            center = center + 1 < configs ? center + 1 : 0;
        }
        evaluate(self, center);
        while (self->done < self->runs && improve(self, &center)) {
        }
    }
    for (size_t i = self->done; i < most; i++) {
        self->fractions[i] = 1;
    }
}

enum status search_local_run(const struct search_space *space, const double *values, size_t runs, uint64_t seed,
                             double *fractions, struct error *error)
{
    struct local_search self = {.space = space,
                                .values = values,
                                .least = HUGE_VAL,
                                .found = HUGE_VAL,
                                .is_tried = calloc(space->config_count, sizeof(bool)),
                                .neighbours = malloc(space->config_count * sizeof(uint32_t)),
                                .runs = runs,
                                .fractions = fractions};
    enum status status = STATUS_OK;
    if (self.is_tried && self.neighbours) {
        for (size_t c = 0; c < space->config_count; c++) {
            self.least = fmin(self.least, value_of(&self, (uint32_t)c));
        }
        random_init(&self.stream, seed, 5);
        climb_until_spent(&self);
    } else {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a local search");
    }
    free(self.is_tried);
    free(self.neighbours);
    return status;
}
