/* SPDX-License-Identifier: GPL-3.0-or-later
 * Arithmetic expressions over named variables (muParser behind a small interface): compiled once, evaluated often.
 * Not thread-safe per object: every thread compiles its own. */
#ifndef OCCAM_EVIDENCE_SCENARIO_EXPRESSION_H
#define OCCAM_EVIDENCE_SCENARIO_EXPRESSION_H

#include <stdint.h>

#include "base/status.h"

enum {
    EXPRESSION_VARIABLES_MAX = 128,
    EXPRESSION_TEXT_MAX = 4096
};

struct expression; /* opaque */

/* Functions: ceil floor round trunc abs sqrt exp log log2 pow min max ceil_div(a,b) clamp(x,lo,hi) round_up(x,step)
 * if via ?: ; operators + - * / % (as C fmod: the sign of the left side; whole numbers exact) ^ comparison && || !.
 * variables[i] is a name, values points at count doubles that the caller keeps alive and updates in place.
 * Errors name the unknown identifier; error->column is the offending place in text, from 1: STATUS_BAD_DATA, or
 * STATUS_LIMIT beyond EXPRESSION_TEXT_MAX bytes or 64 nested parentheses. */
MUST_CHECK enum status expression_compile(const char *text, const char *const *variables, double *values,
                                          uint32_t variable_count, struct expression **expression, struct error *error);
void expression_free(struct expression *expression);
/* Indices of the variables that the text uses, as a bit set (variable_count <= 128). */
struct variable_set {
    uint64_t bits[2];
};
struct variable_set expression_variables(const struct expression *expression);
/* Value at the current variable values. A result that is not finite, a division by zero, % by zero, several
 * comma-separated results, a wrong argument count: STATUS_BAD_DATA (or DOMAIN for arithmetic). */
MUST_CHECK enum status expression_evaluate(struct expression *expression, double *value, struct error *error);

#endif
