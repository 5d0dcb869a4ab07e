/* SPDX-License-Identifier: GPL-3.0-or-later
 * Invented spaces, each kind with something that trips searches: nothing in them was measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/support/replay_space.h"

enum {
    KNOBS_MOST = 10,
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
    double shares[8]; /* between 0 and 1 */
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

/* --- kernels by a rough model each: not all combinations are allowed, as in a tuner's table --- */

static double power(const size_t *levels, size_t knob, double first)
{
    return first * exp2((double)levels[knob]);
}

/* CTAs on one SM by registers, shared memory and threads; 0: none fits. */
static double residents(double threads, double registers, double bytes)
{
    return floor(fmin(fmin(65536 / (threads * registers), 100e3 / (bytes + 1024)), 1536 / threads));
}

/* How far so many threads hide latency, and a tail of the last round. */
static double fill(double resident, double threads, double ctas, double sms, double needed)
{
    const double rounds = ceil(ctas / (sms * resident)), warps = resident * threads / 32;
    return rounds * sms * resident / ctas * (1 + needed / warps);
}

/* A product C = A B: tiles of groups and of threads, vectors, copies through shared memory. */
static bool tiled_allowed(const size_t *levels)
{
    const double rows = power(levels, 0, 16), columns = power(levels, 1, 16), depth = power(levels, 2, 16);
    const double row_threads = power(levels, 3, 8), column_threads = power(levels, 4, 8);
    const double row_vector = power(levels, 5, 1), column_vector = power(levels, 6, 1);
    return rows >= row_threads * row_vector && columns >= column_threads * column_vector &&
           depth * rows >= row_threads * column_threads && row_threads * column_threads <= 1024;
}

static double tiled(struct maker *maker, const size_t *levels)
{
    const double rows = power(levels, 0, 16), columns = power(levels, 1, 16), depth = power(levels, 2, 16);
    const double row_threads = power(levels, 3, 8), column_threads = power(levels, 4, 8);
    const double row_vector = power(levels, 5, 1), column_vector = power(levels, 6, 1);
    const double row_copy = (double)levels[7], column_copy = (double)levels[8], unroll = power(levels, 9, 1);
    const double threads = row_threads * column_threads, own = rows * columns / threads;
    const double registers = 24 + own + 2 * row_vector + 2 * column_vector + unroll;
    const double bytes = 4 * depth * (row_copy * rows + column_copy * columns);
    const double spill = registers > 255 ? 1 + (registers - 255) / 60 : 1;
    const double resident = residents(threads, fmin(registers, 255), bytes), *share = maker->shares;
    if (resident < 1) {
        return (double)NAN;
    }
    const double reuse = 1 / rows * (1 + share[0] * (1 - column_copy) * column_threads / 8) +
                         1 / columns * (1 + share[1] * (1 - row_copy) * row_threads / 8);
    const double vector = 1 + share[2] / row_vector + share[3] / column_vector;
    const double math = 1 + 1 / sqrt(own) + 0.3 * share[4] / unroll, memory = 60 * share[5] * reuse * vector;
    const double copies = (row_copy + column_copy) * share[6] * (0.1 + 4 / depth);
    const double ctas = ceil(2048 / rows) * ceil(2048 / columns), needed = 2 + 14 * share[7] / sqrt(own);
    return log((pow(pow(math, 4) + pow(memory, 4), 0.25) + copies) * spill *
               fill(resident, threads, ctas, 82, needed)) +
           0.01 * random_normal(&maker->stream);
}

/* A stencil over time steps in one launch: halos grow with the steps, traffic shrinks. */
static bool stencil_allowed(const size_t *levels)
{
    const double threads = power(levels, 0, 16) * power(levels, 1, 1);
    return threads >= 32 && threads <= 1024;
}

static double stencil(struct maker *maker, const size_t *levels)
{
    const double threads_x = power(levels, 0, 16), threads_y = power(levels, 1, 1), steps = 1 + (double)levels[4];
    const double width = threads_x * (1 + (double)levels[2]), height = threads_y * (1 + (double)levels[3]);
    const double own = (1 + (double)levels[2]) * (1 + (double)levels[3]), shared = (double)levels[5];
    const double cached = (double)levels[6], unroll = 1 + (double)levels[7], *share = maker->shares;
    const double inner_x = width - 2 * (steps - 1), inner_y = height - 2 * (steps - 1), threads = threads_x * threads_y;
    const double registers = 20 + own * (4 + 4 * share[0]) + 3 * unroll, bytes = shared * width * height * 8;
    const double resident = residents(threads, fmin(registers, 255), bytes);
    if (resident < 1 || inner_x < 1 || inner_y < 1) {
        return (double)NAN;
    }
    const double halo = width * height / (inner_x * inner_y), line = inner_x < 32 ? 1 + share[1] : 1;
    const double traffic = halo * line * (1 + (1 - shared) * (2 * share[2] + 0.5 - share[3] * cached)) / steps;
    const double math = halo * (0.3 + 0.5 * share[4]) * (1 + 0.4 / unroll) * (1 + shared * 0.3 * share[5]);
    const double spill = registers > 255 ? registers / 128 : 1, ctas = ceil(4096 / inner_x) * ceil(4096 / inner_y);
    const double barriers = shared * steps * 0.05 * share[6] * threads / 256;
    return log((fmax(traffic, math) + 0.3 * fmin(traffic, math) + barriers) * spill *
               fill(resident, threads, ctas, 108, 4 + 12 * share[7] / own)) +
           0.01 * random_normal(&maker->stream);
}

/* Keys and values of long requests dealt to splits, then put together: few rounds against long loops. */
static bool split_allowed(const size_t *levels)
{
    return levels[1] + levels[5] <= 4; /* rows of a block, by lanes of a warp, in whole vectors */
}

static double split(struct maker *maker, const size_t *levels)
{
    const double splits = 1 + (double)levels[0], rows = power(levels, 1, 16), warps = power(levels, 2, 1);
    const double stages = 1 + (double)levels[3], heads = power(levels, 4, 4), vector = power(levels, 5, 1);
    const double held = (double)levels[6], *share = maker->shares, requests = 24 + floor(80 * share[0]);
    const double length = 1024 * (1 + floor(6 * share[1])), bytes = rows * 256 * stages + heads * 512 * held;
    const double registers = 40 + heads * 512 / (32 * warps) * 0.5 + 8 * vector + 16 * (1 - held);
    const double resident = residents(32 * warps, fmin(registers, 255), bytes);
    if (resident < 1) {
        return (double)NAN;
    }
    const double ctas = requests * ceil(32 / heads) * splits, steps = ceil(length / splits / rows);
    const double useful = fmin(warps, heads / 4 * (1 + rows / 64)), latency = 0.5 + share[2];
    const double load = rows * 0.01 * (1 + share[3] / vector), math = rows * heads * 2e-3 * (0.5 + share[4]) / useful;
    const double step = fmax(math + 0.2 * (1 - held) * share[5], fmax(load, latency / stages));
    const double rounds = ceil(ctas / (132 * resident)), crowd = fmax(1, resident * load / (latency + load));
    const double combine = splits > 1 ? 1 + splits * requests * (0.002 + 0.01 * share[6]) : 0;
    return log(rounds * (steps * step * crowd * (registers > 255 ? registers / 160 : 1) + 3) + combine) +
           0.01 * random_normal(&maker->stream);
}

static const struct kind {
    const char *name;
    value_of_levels *value;
    size_t knobs, levels[KNOBS_MOST];
    bool (*allows)(const size_t *levels); /* NULL: all combinations */
} kinds[] = {
    {"separable", separable, 6, {8, 5, 4, 4, 3, 3}, NULL},
    {"cliffs", cliffs, 5, {5, 5, 4, 5, 4}, NULL},
    {"needle", needle, 4, {9, 8, 7, 6}, NULL},
    {"noise", noise, 5, {6, 5, 5, 4, 3}, NULL},
    {"waves", waves, 4, {10, 8, 8, 5}, NULL},
    {"switches", switches, 7, {4, 4, 4, 3, 3, 2, 2}, NULL},
    {"bounds", bounds, 6, {6, 6, 4, 4, 3, 3}, NULL},
    {"tiled", tiled, 10, {4, 4, 2, 3, 3, 3, 3, 2, 2, 2}, tiled_allowed},
    {"stencil", stencil, 8, {6, 5, 4, 4, 5, 2, 2, 3}, stencil_allowed},
    {"split", split, 7, {12, 4, 4, 4, 4, 4, 2}, split_allowed},
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
    for (size_t i = 0; i < sizeof maker->shares / sizeof maker->shares[0]; i++) {
        maker->shares[i] = between(maker, 0, 1);
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
    table->config_count = 0;
    for (size_t c = 0; c < configs && has_room; c++) {
        size_t levels[KNOBS_MOST], rest = c;
        for (size_t k = 0; k < kind->knobs; k++) {
            levels[k] = rest % kind->levels[k];
            rest /= kind->levels[k];
            table->values[table->config_count * kind->knobs + k] =
                kind->value == switches ? (double)levels[k] : exp2((double)levels[k]);
        }
        if (!kind->allows || kind->allows(levels)) {
            table->times_s[table->config_count++] = 1e-3 * exp(kind->value(maker, levels));
        }
    }
    for (size_t k = 0; k < kind->knobs && has_room; k++) {
        table->is_category[k] = kind->value == switches;
    }
    free(maker);
    return has_room;
}
