/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rows of one layer are found whatever lies between them; entries behind a list's count do not tell layers apart. */
#include <check.h>
#include <string.h>

#include "calibrate/equal_layers.h"

enum {
    ROWS = 8
};

static struct kernel_row row_of(uint64_t grid)
{
    struct kernel_row row;
    memset(&row, 0, sizeof row);
    row.layer.kernel_count = 1;
    row.layer.kernels[0].name = "kernel";
    row.layer.kernels[0].launch.grid_ctas = grid;
    return row;
}

START_TEST(rows_of_a_layer_are_found)
{
    static struct kernel_row items[ROWS];
    struct measured_rows rows = {.count = ROWS, .rows = items};
    struct equal_layers layers = {0};
    struct error error = {0};
    for (int i = 0; i < ROWS; i++)
        items[i] = row_of(5);
    items[1].layer.kernels[0].launch.grid_ctas = 6;
    items[2].layer.kernels[0].loop.mma[0].m = 16; /* behind the count */
    items[2].layer.kernels[0].loop.ragged[3].ctas = 7;
    items[3].layer.kernels[0].loop.mma_count = 1;
    items[3].layer.kernels[0].loop.mma[0].m = 16;
    items[4].layer.kernels[0].loop.mma_count = 1;
    items[4].layer.kernels[0].loop.mma[0].m = 32;
    items[5].layer.kernel_count = 2;
    items[5].layer.kernels[1].skipped = true;
    items[6].layer = items[5].layer;
    items[6].layer.kernels[1].skipped = false;
    items[7].layer = items[1].layer;
    ck_assert(equal_layers_find(&rows, &layers, &error) == STATUS_OK);
    static const size_t first[ROWS] = {0, 1, 0, 3, 4, 5, 6, 1};
    ck_assert_uint_eq(layers.count, 6);
    for (size_t i = 0; i < ROWS; i++)
        ck_assert_uint_eq(layers.first[layers.layer[i]], first[i]);
    equal_layers_release(&layers);
    ck_assert_ptr_null(layers.first);
}
END_TEST

/* Unequal CTAs, by the groups that count. */
START_TEST(groups_tell_layers_apart)
{
    static struct kernel_row items[3];
    struct measured_rows rows = {.count = 3, .rows = items};
    struct equal_layers layers = {0};
    struct error error = {0};
    for (int i = 0; i < 3; i++) {
        items[i] = row_of(5);
        items[i].layer.kernels[0].loop.ragged_count = 2;
        items[i].layer.kernels[0].loop.ragged[1].ctas = i == 1 ? 4 : 5;
    }
    ck_assert(equal_layers_find(&rows, &layers, &error) == STATUS_OK);
    ck_assert_uint_eq(layers.count, 2);
    ck_assert(layers.layer[0] == layers.layer[2] && layers.layer[0] != layers.layer[1]);
    equal_layers_release(&layers);
}
END_TEST

Suite *suite_equal_layers(void);
Suite *suite_equal_layers(void)
{
    Suite *suite = suite_create("equal_layers");
    TCase *tcase = tcase_create("rows");
    tcase_add_test(tcase, rows_of_a_layer_are_found);
    tcase_add_test(tcase, groups_tell_layers_apart);
    suite_add_tcase(suite, tcase);
    return suite;
}
