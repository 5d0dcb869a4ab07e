/* SPDX-License-Identifier: GPL-3.0-or-later
 * Columns of a table become features: sorted different values, joined where there are too many, scaled to 0..1. */
#include "calibrate/experiment/search_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

/* Knobs of kernels that span this factor are mostly powers of two, and their effects follow the ratio. */
static const double log_span_least = 4;

struct column {
    const double *values;
    size_t config_count, variable_count, index;
    double *sorted;   /* scratch, config_count */
    double *distinct; /* scratch, config_count; of these count are used */
    size_t count;
};

static double column_value(const struct column *column, size_t config)
{
    return column->values[config * column->variable_count + column->index];
}

static enum status collect_distinct(struct column *column, struct error *error)
{
    for (size_t c = 0; c < column->config_count; c++) {
        column->sorted[c] = column_value(column, c);
        if (!isfinite(column->sorted[c])) {
            return error_set(error, STATUS_BAD_DATA, "configuration %zu has a knob without a finite value", c + 1);
        }
    }
    sort_doubles(column->sorted, column->config_count);
    column->count = 0;
    for (size_t c = 0; c < column->config_count; c++) {
        if (c == 0 || column->sorted[c] != column->sorted[c - 1]) {
            column->distinct[column->count++] = column->sorted[c];
        }
    }
    return STATUS_OK;
}

/* Level of the value at this rank among the different ones. */
static size_t level_of_rank(const struct column *column, size_t rank)
{
    return column->count <= SEARCH_LEVELS_MAX ? rank : rank * SEARCH_LEVELS_MAX / column->count;
}

static size_t rank_of(const struct column *column, double value)
{
    size_t low = 0, high = column->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (column->distinct[middle] <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void place_levels(const struct column *column, struct search_feature *feature)
{
    const double least = column->distinct[0], most = column->distinct[column->count - 1];
    const bool is_log = least > 0 && most / least >= log_span_least;
    const double from = is_log ? log(least) : least, to = is_log ? log(most) : most;
    uint32_t members[SEARCH_LEVELS_MAX] = {0};
    memset(feature->positions, 0, sizeof feature->positions);
    for (size_t rank = 0; rank < column->count; rank++) {
        const double value = is_log ? log(column->distinct[rank]) : column->distinct[rank];
        const size_t level = level_of_rank(column, rank);
        feature->positions[level] += (value - from) / (to - from);
        members[level]++;
    }
    feature->level_count = (uint32_t)(column->count < SEARCH_LEVELS_MAX ? column->count : SEARCH_LEVELS_MAX);
    for (uint32_t level = 0; level < feature->level_count; level++) {
        feature->positions[level] /= members[level];
    }
}

static enum status add_feature(struct search_space *space, struct column *column, bool is_category, struct error *error)
{
    const enum status status = collect_distinct(column, error);
    if (status != STATUS_OK || column->count < 2) {
        return status;
    }
    if (space->feature_count == SEARCH_FEATURES_MAX) {
        return error_set(error, STATUS_LIMIT, "more than %d knobs vary", SEARCH_FEATURES_MAX);
    }
    struct search_feature *feature = &space->features[space->feature_count];
    uint8_t *levels = space->levels + (size_t)space->feature_count * space->config_count;
    feature->variable = (uint32_t)column->index;
    feature->is_category = is_category;
    place_levels(column, feature);
    for (size_t c = 0; c < space->config_count; c++) {
        levels[c] = (uint8_t)level_of_rank(column, rank_of(column, column_value(column, c)));
    }
    space->feature_count++;
    return STATUS_OK;
}

enum status search_space_init(struct search_space *space, const double *values, size_t config_count,
                              size_t variable_count, const bool *is_category, struct error *error)
{
    *space = (struct search_space){.config_count = config_count};
    if (config_count == 0) {
        return error_set(error, STATUS_BAD_DATA, "a search needs at least one configuration");
    }
    if (config_count > SEARCH_CONFIGS_MAX) {
        return error_set(error, STATUS_LIMIT, "%zu configurations, at most %u can be searched", config_count,
                         SEARCH_CONFIGS_MAX);
    }
    const size_t features_most = variable_count < SEARCH_FEATURES_MAX ? variable_count : SEARCH_FEATURES_MAX;
    double *scratch = malloc((2 * config_count + 1) * sizeof *scratch);
    space->features = calloc(features_most + 1, sizeof *space->features);
    space->levels = malloc(features_most * config_count + 1);
    enum status status = scratch && space->features && space->levels
                             ? STATUS_OK
                             : error_set(error, STATUS_NO_MEMORY, "no memory for %zu configurations", config_count);
    for (size_t v = 0; v < variable_count && status == STATUS_OK; v++) {
        struct column column = {.values = values,
                                .config_count = config_count,
                                .variable_count = variable_count,
                                .index = v,
                                .sorted = scratch,
                                .distinct = scratch + config_count};
        status = add_feature(space, &column, is_category && is_category[v], error);
    }
    free(scratch);
    if (status != STATUS_OK) {
        search_space_release(space);
    }
    return status;
}

void search_space_release(struct search_space *space)
{
    free(space->features);
    free(space->levels);
    *space = (struct search_space){0};
}

double search_space_distance(const struct search_space *space, uint32_t feature, size_t a, size_t b)
{
    const uint8_t left = search_space_level(space, feature, a), right = search_space_level(space, feature, b);
    const struct search_feature *places = &space->features[feature];
    if (places->is_category) {
        return left == right ? 0 : 1;
    }
    return fabs(places->positions[left] - places->positions[right]);
}
