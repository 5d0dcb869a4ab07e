/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rows sorted by the bytes of their layers, so that equal ones lie side by side. */
#include "calibrate/equal_layers.h"

#include <stdlib.h>
#include <string.h>

struct numbered_layer {
    const struct layer_case *layer;
    size_t row;
};

enum {
    MMA_OFFSET = offsetof(struct kernel_case, loop) + offsetof(struct tile_loop, mma),
    MMA_END = MMA_OFFSET + sizeof(struct mma_op[TILE_LOOP_MMA_MAX]),
    RAGGED_OFFSET = offsetof(struct kernel_case, loop) + offsetof(struct tile_loop, ragged)
};

/* Order by the members that mean something: entries behind a list's count do not. Unequal padding only costs a run. */
static int kernel_order(const struct kernel_case *a, const struct kernel_case *b)
{
    const unsigned char *left = (const unsigned char *)a, *right = (const unsigned char *)b;
    if (a->skipped != b->skipped)
        return a->skipped ? 1 : -1;
    int order = memcmp(left, right, MMA_OFFSET);
    if (order == 0)
        order = memcmp(left + MMA_END, right + MMA_END, RAGGED_OFFSET - MMA_END); /* ragged_count is in it */
    if (order == 0 && !a->skipped) {                                              /* mma_count is equal by then */
        order = memcmp(a->loop.mma, b->loop.mma, a->loop.mma_count * sizeof a->loop.mma[0]);
        if (order == 0)
            order = memcmp(a->loop.ragged, b->loop.ragged, a->loop.ragged_count * sizeof a->loop.ragged[0]);
    }
    return order;
}

static int layer_order(const void *left, const void *right)
{
    const struct numbered_layer *a = left, *b = right;
    int order = (a->layer->kernel_count > b->layer->kernel_count) - (a->layer->kernel_count < b->layer->kernel_count);
    for (uint32_t i = 0; i < a->layer->kernel_count && order == 0; i++)
        order = kernel_order(&a->layer->kernels[i], &b->layer->kernels[i]);
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

static bool is_same(const struct numbered_layer *a, const struct numbered_layer *b)
{
    const struct numbered_layer same_row = {b->layer, a->row};
    return layer_order(a, &same_row) == 0;
}

enum status equal_layers_find(const struct measured_rows *rows, struct equal_layers *layers, struct error *error)
{
    struct numbered_layer *sorted = calloc(rows->count, sizeof *sorted);
    layers->count = 0;
    layers->first = calloc(rows->count, sizeof *layers->first);
    layers->layer = calloc(rows->count, sizeof *layers->layer);
    if (sorted == NULL || layers->first == NULL || layers->layer == NULL) {
        free(sorted);
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", rows->count);
    }
    for (size_t i = 0; i < rows->count; i++)
        sorted[i] = (struct numbered_layer){&rows->rows[i].layer, i};
    qsort(sorted, rows->count, sizeof *sorted, layer_order);
    for (size_t i = 0; i < rows->count; i++) {
        if (i == 0 || !is_same(&sorted[i], &sorted[i - 1]))
            layers->first[layers->count++] = sorted[i].row;
        layers->layer[sorted[i].row] = layers->count - 1;
    }
    free(sorted);
    return STATUS_OK;
}

void equal_layers_release(struct equal_layers *layers)
{
    free(layers->first);
    free(layers->layer);
    *layers = (struct equal_layers){0};
}
