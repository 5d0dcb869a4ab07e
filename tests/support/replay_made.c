/* SPDX-License-Identifier: GPL-3.0-or-later
 * Invented spaces, each kind with something that trips searches: nothing in them was measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/support/replay_space.h"

enum {
    KNOBS_MOST = 8,
    LEVELS_MOST = 16,
    WAVES = 200
};

/* What the values of one instance are drawn from. */
struct maker {
    struct random_stream stream;
    size_t knobs;
    size_t levels[KNOBS_MOST];
    double effects[KNOBS_MOST][LEVELS_MOST], pairs[KNOBS_MOST][LEVELS_MOST][LEVELS_MOST];
    double waves[WAVES][KNOBS_MOST], phases[WAVES];
    double needle[KNOBS_MOST], width;
};

static double between(struct maker *maker, double least, double most)
{
    return least + (most - least) * random_uniform(&maker->stream);
}

/* ln(time) of the levels; NaN: fails. */
typedef double value_of_levels(struct maker *maker, const size_t *levels);

/* Every knob on its own: walks of different size, so that few knobs matter. */
static double separable(struct maker *maker, const size_t *levels)
{
    double sum = 0;
    for (size_t k = 0; k < maker->knobs; k++) {
        sum += maker->effects[k][levels[k]];
    }
    return sum;
}

/* A tiled product: parallelism is lost in steps of whole waves, reuse grows with the tile, large tiles fail. */
static double cliffs(struct maker *maker, const size_t *levels)
{
    const double rows = exp2(4 + (double)levels[0]), columns = exp2(4 + (double)levels[1]);
    const double depth = exp2(3 + (double)levels[2]), stages = 1 + (double)levels[3], warps = exp2((double)levels[4]);
    const double bytes = (rows + columns) * depth * 2 * stages, registers = rows * columns / (32 * warps) + 40;
    if (bytes > 100e3 || registers > 400) {
        return (double)NAN;
    }
    const double ctas = ceil(2048 / rows) * ceil(1536 / columns);
    const double resident = fmax(1, floor(fmin(200e3 / bytes, fmin(65536 / (registers * 32 * warps), 48 / warps))));
    const double rounds = ceil(ctas / (108 * resident));
    const double math = rows * columns * depth / fmin(warps * resident, 4 + 4 * maker->width) * 1e-3;
    const double load = (rows + columns) * depth * 2e-2 / fmin(stages, 3);
    const double spill = registers > 255 ? 1.8 : 1;
    return log(rounds * resident * 1024 / depth * (fmax(math, load) + 20 + maker->effects[0][levels[2]]) * spill);
}

/* Almost flat and rough; one small basin. */
static double needle(struct maker *maker, const size_t *levels)
{
    double distance = 0;
    for (size_t k = 0; k < maker->knobs; k++) {
        const double step = (double)levels[k] - maker->needle[k];
        distance += step * step;
    }
    return 0.05 * random_normal(&maker->stream) - 1.2 * exp(-distance / 4);
}

static double noise(struct maker *maker, const size_t *levels)
{
    (void)levels;
    return 0.3 * random_normal(&maker->stream);
}

/* A smooth landscape in which all knobs act together: many waves of random direction. */
static double waves(struct maker *maker, const size_t *levels)
{
    double sum = 0;
    for (size_t w = 0; w < WAVES; w++) {
        double phase = maker->phases[w];
        for (size_t k = 0; k < maker->knobs; k++) {
            phase += maker->waves[w][k] * (double)levels[k] / (double)(maker->levels[k] - 1);
        }
        sum += cos(phase);
    }
    return 0.5 * sum * sqrt(2.0 / WAVES);
}

/* Levels without order (switches, layouts) that act in pairs; a third of one pair's combinations fail. */
static double switches(struct maker *maker, const size_t *levels)
{
    double sum = 0;
    for (size_t k = 0; k + 1 < maker->knobs; k++) {
        sum += maker->effects[k][levels[k]] + maker->pairs[k][levels[k]][levels[k + 1]];
    }
    return maker->pairs[0][levels[0]][levels[1]] > 0.2 ? (double)NAN : sum;
}

/* The maximum of three bounds, each by some of the knobs, and work that rounds up. */
static double bounds(struct maker *maker, const size_t *levels)
{
    double sides[3] = {0};
    for (size_t k = 0; k < maker->knobs; k++) {
        sides[k % 3] += maker->effects[k][levels[k]];
        sides[(k + 1) % 3] -= 0.7 * maker->effects[k][levels[k]];
    }
    const double part = exp2((double)levels[0]) * (1 + (double)levels[1]);
    return log(exp(4 * sides[0]) + exp(4 * sides[1]) + exp(4 * sides[2])) / 4 + log(ceil(97 / part) * part / 97) +
           0.01 * random_normal(&maker->stream);
}

static const struct kind {
    const char *name;
    value_of_levels *value;
    size_t knobs, levels[KNOBS_MOST];
} kinds[] = {
    {"separable", separable, 6, {8, 5, 4, 4, 3, 3}},
    {"cliffs", cliffs, 5, {5, 5, 4, 5, 4}},
    {"needle", needle, 4, {9, 8, 7, 6}},
    {"noise", noise, 5, {6, 5, 5, 4, 3}},
    {"waves", waves, 4, {10, 8, 8, 5}},
    {"switches", switches, 7, {4, 4, 4, 3, 3, 2, 2}},
    {"bounds", bounds, 6, {6, 6, 4, 4, 3, 3}},
};

static void draw(struct maker *maker, uint64_t instance)
{
    random_init(&maker->stream, instance + 1, 23);
    for (size_t k = 0; k < maker->knobs; k++) {
        const double size = between(maker, 0, 1) * between(maker, 0, 1);
        for (size_t a = 0; a < LEVELS_MOST; a++) {
            maker->effects[k][a] = (a ? maker->effects[k][a - 1] : 0) + 0.5 * size * random_normal(&maker->stream);
            for (size_t b = 0; b < LEVELS_MOST; b++) {
                maker->pairs[k][a][b] = 0.5 * size * random_normal(&maker->stream);
            }
        }
        maker->needle[k] = (double)random_below(&maker->stream, (uint32_t)maker->levels[k]);
    }
    maker->width = between(maker, 0, 3);
    for (size_t w = 0; w < WAVES; w++) {
        maker->phases[w] = between(maker, 0, 2 * M_PI);
        for (size_t k = 0; k < maker->knobs; k++) {
            maker->waves[w][k] = 3 * random_normal(&maker->stream);
        }
    }
}

static bool allocate(struct search_table *table, size_t knobs, size_t configs)
{
    *table = (struct search_table){.config_count = configs, .variable_count = knobs};
    table->names = calloc(knobs, sizeof *table->names);
    table->values = malloc(configs * knobs * sizeof *table->values);
    table->is_category = calloc(knobs, sizeof *table->is_category);
    table->times_s = malloc(configs * sizeof *table->times_s);
    return table->names && table->values && table->is_category && table->times_s;
}

bool replay_space_make(const char *name, uint64_t instance, struct search_table *table)
{
    const struct kind *kind = NULL;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        kind = strcmp(kinds[k].name, name) == 0 ? &kinds[k] : kind;
    }
    struct maker *maker = kind ? calloc(1, sizeof *maker) : NULL;
    if (!maker) {
        return false;
    }
    size_t configs = 1;
    maker->knobs = kind->knobs;
    memcpy(maker->levels, kind->levels, sizeof maker->levels);
    for (size_t k = 0; k < kind->knobs; k++) {
        configs *= kind->levels[k];
    }
    draw(maker, instance);
    const bool has_room = allocate(table, kind->knobs, configs);
    for (size_t c = 0; c < configs && has_room; c++) {
        size_t levels[KNOBS_MOST], rest = c;
        for (size_t k = 0; k < kind->knobs; k++) {
            levels[k] = rest % kind->levels[k];
            rest /= kind->levels[k];
            table->values[c * kind->knobs + k] = kind->value == switches ? (double)levels[k] : exp2((double)levels[k]);
        }
        table->times_s[c] = 1e-3 * exp(kind->value(maker, levels));
    }
    for (size_t k = 0; k < kind->knobs && has_room; k++) {
        table->is_category[k] = kind->value == switches;
    }
    free(maker);
    return has_room;
}
