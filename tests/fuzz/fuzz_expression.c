/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: an expression of a scenario, compiled and evaluated. */
#include <math.h>
#include <string.h>

#include "evidence/scenario/expression.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"splits", "warps", "context", "x"};
    double values[] = {8, 4, 131072, -0.5};
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    struct expression *expression = NULL;
    struct error error = {0};
    if (expression_compile(text, names, values, 4, &expression, &error) == STATUS_OK) {
        double value = NAN;
        if (expression_evaluate(expression, &value, &error) == STATUS_OK) {
            FUZZ_REQUIRE(isfinite(value));
        } else {
            FUZZ_REQUIRE(error.text[0] != '\0');
        }
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0' && expression == NULL);
    }
    expression_free(expression);
    free(text);
    return 0;
}
