/* SPDX-License-Identifier: GPL-3.0-or-later
 * Kernel herding (Chen, Welling, Smola 2010) over random candidates: near to where the space is dense, far from what
 * was chosen. Distance alone picks corners, which are bad configurations of most kernels. */
#include "calibrate/experiment/search_design.h"

#include <math.h>

#include "base/random.h"

enum {
    SAMPLE = 400, /* stands for the space */
    CANDIDATES = 100
};
static const double length = 0.5;

/* Half of each factor does not fall off, so that agreement in some knobs counts whatever the others do. */
static double closeness(const struct search_space *space, size_t a, size_t b)
{
    double product = 1;
    for (uint32_t f = 0; f < space->feature_count; f++) {
        const double s = sqrt(5) * search_space_distance(space, f, a, b) / length;
        product *= 0.5 + 0.5 * (1 + s + s * s / 3) * exp(-s);
    }
    return product;
}

static uint32_t any_free(const struct search_space *space, struct random_stream *stream, const bool *is_taken)
{
    uint32_t config = random_below(stream, (uint32_t)space->config_count);
    for (int tries = 0; is_taken[config] && tries < 64; tries++) {
        config = random_below(stream, (uint32_t)space->config_count);
    }
    while (is_taken[config]) { /* almost all are taken */
        config = config + 1 < space->config_count ? config + 1 : 0;
    }
    return config;
}

uint32_t search_design_next(const struct search_space *space, uint64_t seed, const uint32_t *chosen, size_t count,
                            const bool *is_taken)
{
    struct random_stream stream;
    uint32_t sample[SAMPLE], best = 0;
    double most = -HUGE_VAL;
    random_init(&stream, seed, 3);
    for (int i = 0; i < SAMPLE; i++) {
        sample[i] = random_below(&stream, (uint32_t)space->config_count);
    }
    random_init(&stream, seed, 4 + count);
    for (int candidate = 0; candidate < CANDIDATES; candidate++) {
        const uint32_t config = any_free(space, &stream, is_taken);
        double typical = 0, known = 0;
        for (int i = 0; i < SAMPLE; i++) {
            typical += closeness(space, config, sample[i]);
        }
        for (size_t i = 0; i < count; i++) {
            known += closeness(space, config, chosen[i]);
        }
        const double value = typical / SAMPLE - known / (double)(count + 1);
        if (value > most) {
            most = value;
            best = config;
        }
    }
    return best;
}
