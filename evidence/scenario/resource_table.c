/* SPDX-License-Identifier: GPL-3.0-or-later
 * Hash index over the key columns of a resource table. Used by the scenario reader and evaluator. */
#include "evidence/scenario/resource_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_keys(const double *keys, uint32_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < count; i++) {
        double key = keys[i] + 0.0; /* -0 and 0 are the same key */
        uint64_t bits;
        memcpy(&bits, &key, sizeof bits);
        hash = (hash ^ bits) * 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

static bool keys_equal(const double *left, const double *right, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(left[i] == right[i])) {
            return false;
        }
    }
    return true;
}

/* Slot of a row with these keys, or the free slot where it belongs. */
static uint32_t find_slot(const struct resource_index *index, const double *keys)
{
    uint32_t slot = hash_keys(keys, index->key_count) & index->slot_mask;
    while (index->slots[slot] != 0 &&
           !keys_equal(index->keys + (size_t)(index->slots[slot] - 1) * index->key_count, keys, index->key_count)) {
        slot = (slot + 1) & index->slot_mask;
    }
    return slot;
}

static enum status find_column(const struct csv_table *table, const char *name, size_t *column, struct error *error)
{
    long found = csv_column(table, name);
    if (found < 0) {
        return error_set_at(error, STATUS_NOT_FOUND, table->file, 1, 0, "the table has no column '%s'", name);
    }
    *column = (size_t)found;
    return STATUS_OK;
}

struct columns {
    size_t value, keys[RESOURCE_KEYS_MAX], filters[RESOURCE_KEYS_MAX];
};

static bool row_passes(const struct csv_table *table, size_t row, const struct columns *columns,
                       const struct resource_filter *filters, uint32_t filter_count)
{
    for (uint32_t i = 0; i < filter_count; i++) {
        if (strcmp(csv_cell(table, row, columns->filters[i]), filters[i].text) != 0) {
            return false;
        }
    }
    return true;
}

static enum status add_row(struct resource_index *index, const struct csv_table *table, size_t row,
                           const struct columns *columns, struct error *error)
{
    double *keys = index->keys + (size_t)index->row_count * index->key_count;
    for (uint32_t i = 0; i < index->key_count; i++) {
        enum status status = csv_number(table, row, columns->keys[i], &keys[i], error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    double *value = &index->values[index->row_count];
    *value = NAN;
    if (csv_cell(table, row, columns->value)[0] != '\0') {
        enum status status = csv_number(table, row, columns->value, value, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    uint32_t slot = find_slot(index, keys);
    if (index->slots[slot] != 0) {
        return error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                            "a second row with the same key values");
    }
    index->slots[slot] = ++index->row_count;
    return STATUS_OK;
}

static enum status build_rows(struct resource_index *index, const struct csv_table *table,
                              const struct columns *columns, const struct resource_filter *filters,
                              uint32_t filter_count, struct error *error)
{
    uint32_t size = 16;
    while (size < 2 * table->row_count) {
        size *= 2;
    }
    index->slot_mask = size - 1;
    index->slots = calloc(size, sizeof *index->slots);
    index->keys = calloc(table->row_count * index->key_count + 1, sizeof *index->keys);
    index->values = calloc(table->row_count + 1, sizeof *index->values);
    if (index->slots == NULL || index->keys == NULL || index->values == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the resource table %s", table->file);
    }
    for (size_t row = 0; row < table->row_count; row++) {
        if (row_passes(table, row, columns, filters, filter_count)) {
            enum status status = add_row(index, table, row, columns, error);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

enum status resource_index_build(const struct csv_table *table, const char *value_column,
                                 const char *const *key_columns, uint32_t key_count,
                                 const struct resource_filter *filters, uint32_t filter_count,
                                 struct resource_index *index, struct error *error)
{
    if (key_count > RESOURCE_KEYS_MAX || filter_count > RESOURCE_KEYS_MAX || table->row_count > 1u << 24) {
        return error_set_at(error, STATUS_LIMIT, table->file, 0, 0, "the resource table is too large");
    }
    struct columns columns = {0};
    enum status status = find_column(table, value_column, &columns.value, error);
    for (uint32_t i = 0; i < key_count && status == STATUS_OK; i++) {
        status = find_column(table, key_columns[i], &columns.keys[i], error);
    }
    for (uint32_t i = 0; i < filter_count && status == STATUS_OK; i++) {
        status = find_column(table, filters[i].column, &columns.filters[i], error);
    }
    *index = (struct resource_index){.key_count = key_count};
    if (status == STATUS_OK) {
        status = build_rows(index, table, &columns, filters, filter_count, error);
    }
    if (status != STATUS_OK) {
        resource_index_release(index);
    }
    return status;
}

void resource_index_release(struct resource_index *index)
{
    free(index->slots);
    free(index->keys);
    free(index->values);
    *index = (struct resource_index){0};
}

bool resource_index_find(const struct resource_index *index, const double *keys, double *value)
{
    uint32_t row = index->slots[find_slot(index, keys)];
    if (row == 0 || isnan(index->values[row - 1])) {
        return false;
    }
    *value = index->values[row - 1];
    return true;
}
