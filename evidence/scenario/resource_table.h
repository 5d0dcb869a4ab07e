/* SPDX-License-Identifier: GPL-3.0-or-later
 * Resource tables: figures read off compiled kernels (registers, SMEM, spills), looked up by exact knob values. */
#ifndef OCCAM_EVIDENCE_SCENARIO_RESOURCE_TABLE_H
#define OCCAM_EVIDENCE_SCENARIO_RESOURCE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/csv.h"
#include "base/status.h"

enum {
    RESOURCE_KEYS_MAX = 12
};

/* One value column of a table, indexed by one set of key columns. */
struct resource_index {
    uint32_t key_count, row_count;
    uint32_t slot_mask;
    uint32_t *slots; /* row + 1, 0 = free */
    double *keys;    /* row_count * key_count */
    double *values;  /* NaN where the cell is empty: the row counts as missing */
};

/* A filter on text columns (for example kernel = sparse). */
struct resource_filter {
    const char *column, *text;
};

/* Index `table` (only needed during the call). Rows that a filter excludes are left out. STATUS_NOT_FOUND names a
 * missing column, STATUS_BAD_DATA a key or value that is no number or two rows with the same key; both with the
 * table's file and line. Release with resource_index_release. */
MUST_CHECK enum status resource_index_build(const struct csv_table *table, const char *value_column,
                                            const char *const *key_columns, uint32_t key_count,
                                            const struct resource_filter *filters, uint32_t filter_count,
                                            struct resource_index *index, struct error *error);
void resource_index_release(struct resource_index *index);
/* The value of the row with exactly these keys; false if there is none. */
bool resource_index_find(const struct resource_index *index, const double *keys, double *value);

#endif
