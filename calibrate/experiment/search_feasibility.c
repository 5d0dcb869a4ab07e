/* SPDX-License-Identifier: GPL-3.0-or-later
 * Neighbours vote: a beta distribution whose counts are weighted by closeness (SEARCH-5). */
#include "calibrate/experiment/search_feasibility.h"

#include <math.h>

static const double length = 0.35, strength = 0.5; /* of the overall rate, in runs */

struct closeness_table {
    const struct search_space *space;
    double correlation[SEARCH_FEATURES_MAX][SEARCH_LEVELS_MAX]; /* to one configuration, by level */
};

static void fill_table(struct closeness_table *table, size_t config)
{
    for (uint32_t f = 0; f < table->space->feature_count; f++) {
        const struct search_feature *feature = &table->space->features[f];
        const uint8_t own = search_space_level(table->space, f, config);
        for (uint32_t level = 0; level < feature->level_count; level++) {
            const double distance = feature->is_category ? (level == own ? 0 : 1)
                                                         : fabs(feature->positions[level] - feature->positions[own]);
            const double s = sqrt(5) * distance / length;
            table->correlation[f][level] = (1 + s + s * s / 3) * exp(-s);
        }
    }
}

static double closeness(const struct closeness_table *table, size_t config)
{
    double product = 1;
    for (uint32_t f = 0; f < table->space->feature_count; f++) {
        product *= table->correlation[f][search_space_level(table->space, f, config)];
    }
    return product;
}

/* out holds the sum of votes for; a second pass would need the sum of weights, so both are kept as a running mean. */
void search_feasibility(const struct search_space *space, const uint32_t *tried, const bool *did_run,
                        size_t tried_count, const uint32_t *configs, size_t count, double *out)
{
    size_t good = 0;
    for (size_t i = 0; i < tried_count; i++) {
        good += did_run[i];
    }
    const double rate = (double)(good + 1) / (double)(tried_count + 1);
    if (good == tried_count) {
        for (size_t c = 0; c < count; c++) {
            out[c] = rate;
        }
        return;
    }
    enum {
        BLOCK = 256
    };
    struct closeness_table table = {.space = space};
    for (size_t first = 0; first < count; first += BLOCK) {
        const size_t some = count - first < BLOCK ? count - first : BLOCK;
        double weights[BLOCK], votes[BLOCK];
        for (size_t c = 0; c < some; c++) {
            weights[c] = strength;
            votes[c] = strength * rate;
        }
        for (size_t i = 0; i < tried_count; i++) {
            fill_table(&table, tried[i]);
            for (size_t c = 0; c < some; c++) {
                const double weight = closeness(&table, configs[first + c]);
                weights[c] += weight;
                votes[c] += did_run[i] ? weight : 0;
            }
        }
        for (size_t c = 0; c < some; c++) {
            out[first + c] = votes[c] / weights[c];
        }
    }
}
