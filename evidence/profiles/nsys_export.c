/* SPDX-License-Identifier: GPL-3.0-or-later
 * What one row of the export's table of kernel launches says. */
#include <math.h>
#include <stddef.h>

#include "evidence/profiles/nsys_export_private.h"

#define NSYS_COLUMN_TEXT(name, text) text,
static const char *const column_texts[NSYS_COLUMN_COUNT] = {NSYS_COLUMN_LIST(NSYS_COLUMN_TEXT)};

const char *nsys_column_name(enum nsys_column column)
{
    return column_texts[column];
}

/* Three sides 1..2^32-1, or all unknown (0) where one is missing. */
static bool take_sides(const struct nsys_row *row, enum nsys_column first, uint32_t sides[3])
{
    for (unsigned i = 0; i < 3; i++) {
        if (!row->is_known[first + i]) {
            sides[0] = sides[1] = sides[2] = 0;
            return true;
        }
        int64_t value = row->values[first + i];
        if (value < 1 || value > UINT32_MAX) {
            return false;
        }
        sides[i] = (uint32_t)value;
    }
    return true;
}

static bool take_figure(const struct nsys_row *row, enum nsys_column column, int64_t minimum, int64_t maximum,
                        struct launch *launch, enum claim_figure figure)
{
    int64_t value = row->values[column];
    if (!row->is_known[column]) {
        return true;
    }
    if (value < minimum || value > maximum) {
        return false;
    }
    launch->figures[figure] = (struct claim_value){true, (double)value, (double)value};
    return true;
}

/* 0 or missing sides: launched without clusters, or by a version that does not tell. */
static void take_cluster(const struct nsys_row *row, struct launch *launch)
{
    uint32_t sides[3] = {0};
    if (take_sides(row, NSYS_CLUSTER_X, sides) && sides[0] > 0) {
        double product = (double)sides[0] * sides[1] * sides[2];
        launch->figures[CLAIM_CLUSTER] = (struct claim_value){true, product, product};
    }
}

bool nsys_row_launch(const struct nsys_row *row, struct launch *launch, const char **reason)
{
    *launch = (struct launch){.name = "", .device = "", .time_us = NAN};
    if (!take_sides(row, NSYS_GRID_X, launch->grid) || !take_sides(row, NSYS_BLOCK_X, launch->block)) {
        *reason = "a side of grid or block that is not 1 or more";
        return false;
    }
    if (!take_figure(row, NSYS_REGISTERS, 0, 65536, launch, CLAIM_REGISTERS) ||
        !take_figure(row, NSYS_STATIC_SMEM, 0, INT32_MAX, launch, CLAIM_STATIC_SMEM) ||
        !take_figure(row, NSYS_DYNAMIC_SMEM, 0, INT32_MAX, launch, CLAIM_DYNAMIC_SMEM)) {
        *reason = "registers or shared memory out of range";
        return false;
    }
    (void)take_figure(row, NSYS_SMEM_EXECUTED, 1, INT32_MAX, launch, CLAIM_SMEM_CONFIG); /* 0: not told */
    take_cluster(row, launch);
    const struct claim_value *fixed = &launch->figures[CLAIM_STATIC_SMEM];
    const struct claim_value *dynamic = &launch->figures[CLAIM_DYNAMIC_SMEM];
    if (fixed->is_known && dynamic->is_known) {
        launch->figures[CLAIM_LAUNCH_SMEM] =
            (struct claim_value){true, fixed->low + dynamic->low, fixed->high + dynamic->high};
    }
    launch_set_sides(launch);
    if (row->is_known[NSYS_START] && row->is_known[NSYS_END]) {
        int64_t duration_ns;
        if (__builtin_sub_overflow(row->values[NSYS_END], row->values[NSYS_START], &duration_ns) || duration_ns < 0) {
            *reason = "an end before its start";
            return false;
        }
        launch->time_us = (double)duration_ns * 1e-3;
    }
    return true;
}
