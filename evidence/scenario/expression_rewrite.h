/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to evidence/expression*.c: the lexer that checks an expression and rewrites it for muParser. */
#ifndef OCCAM_EVIDENCE_SCENARIO_EXPRESSION_REWRITE_H
#define OCCAM_EVIDENCE_SCENARIO_EXPRESSION_REWRITE_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/scenario/expression.h"

/* Why the text is rewritten before muParser sees it:
 * - muParser folds literals into coefficients (x*5/3 becomes (5/3)*x), which loses the exactness of whole numbers and
 *   hides 1/0 in a constant. Its C interface cannot switch that off, so literals become variables named k0, k1, ...
 * - its C interface gives "!" the precedence of "||"; "!x" becomes "not(x)".
 * - it would accept assignments and strings. Names become v0, v1, ... so that no name of the user can clash. */
enum {
    EXPRESSION_NESTING_MAX = 64,
    EXPRESSION_LITERALS_MAX = 512,
    EXPRESSION_OUTPUT_MAX = 19900, /* muParser's own limit is 20000 */
};

struct expression_rewriter {
    const char *text;
    size_t position; /* in text */
    const char *const *variables;
    uint32_t variable_count;
    char *output;
    uint16_t *origins; /* per output byte: the offset in text it came from */
    size_t output_length;
    double literals[EXPRESSION_LITERALS_MAX];
    uint32_t literal_count;
    struct variable_set used;
    uint32_t depth;
    uint32_t pending_not_depth[EXPRESSION_NESTING_MAX];
    uint32_t pending_not_count;
    uint32_t token_count;
    long lone_variable; /* index of the last variable token */
    struct error *error;
};

/* Reads rewriter->text into rewriter->output; the caller has set text, variables, output, origins, error. */
MUST_CHECK enum status expression_rewrite(struct expression_rewriter *rewriter);

#endif
