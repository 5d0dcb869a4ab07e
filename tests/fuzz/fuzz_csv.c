/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a CSV table, every cell of it read as text and as number. */
#include <math.h>

#include "base/csv.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct csv_table table = {0};
    struct error error = {0};
    if (csv_parse((const char *)data, size, "input.csv", &table, &error) != STATUS_OK) {
        FUZZ_REQUIRE(error.text[0] != '\0');
        return 0;
    }
    for (size_t column = 0; column < table.column_count; column++) {
        FUZZ_REQUIRE(csv_column(&table, table.names[column]) == (long)column);
    }
    for (size_t row = 0; row < table.row_count; row++) {
        for (size_t column = 0; column < table.column_count; column++) {
            double value = NAN;
            FUZZ_REQUIRE(csv_cell(&table, row, column) != NULL);
            if (csv_number(&table, row, column, &value, &error) == STATUS_OK) {
                FUZZ_REQUIRE(isfinite(value));
            }
        }
    }
    csv_table_release(&table);
    return 0;
}
