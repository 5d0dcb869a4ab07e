/* SPDX-License-Identifier: GPL-3.0-or-later
 * A finite space of configurations as a search sees it: every knob that varies is a feature with few levels, placed
 * between 0 and 1. Filled from a table of knob values; used by search_engine and its parts. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_SPACE_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    SEARCH_FEATURES_MAX = 40,
    SEARCH_LEVELS_MAX = 128 /* of one feature; a variable with more values has neighbouring ones share a level */
};
#define SEARCH_CONFIGS_MAX (4u << 20)

struct search_feature {
    uint32_t variable; /* column it was made of */
    bool is_category;  /* levels have no order: any two are 1 apart */
    uint32_t level_count;
    double positions[SEARCH_LEVELS_MAX]; /* ascending, 0 to 1 */
};

struct search_space {
    size_t config_count;
    uint32_t feature_count;
    struct search_feature *features;
    uint8_t *levels; /* feature_count x config_count */
};

/* values: config_count x variable_count. A column without variation gives no feature. Positive columns whose values
 * span a factor of four or more are placed by their logarithm. is_category may be NULL: none. STATUS_BAD_DATA for no
 * configuration or a value that is not finite; STATUS_LIMIT beyond SEARCH_CONFIGS_MAX or SEARCH_FEATURES_MAX. Release
 * with search_space_release. */
MUST_CHECK enum status search_space_init(struct search_space *space, const double *values, size_t config_count,
                                         size_t variable_count, const bool *is_category, struct error *error);
void search_space_release(struct search_space *space);

static inline uint8_t search_space_level(const struct search_space *space, uint32_t feature, size_t config)
{
    return space->levels[(size_t)feature * space->config_count + config];
}
/* Distance of two configurations in one feature, 0 to 1. */
double search_space_distance(const struct search_space *space, uint32_t feature, size_t a, size_t b);

#endif
