/* SPDX-License-Identifier: GPL-3.0-or-later
 * Arithmetic expressions: a small lexer of ours in front of muParser. Used by the scenario reader and evaluator. */
#include "evidence/scenario/expression.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <muParserDLL.h>

#if defined(__SSE2__) && defined(__SSE2_MATH__)
#include <xmmintrin.h>
#endif

#include "evidence/scenario/expression_rewrite.h"

enum expression_kind {
    EXPRESSION_CONSTANT,
    EXPRESSION_VARIABLE,
    EXPRESSION_PARSED
};

struct expression {
    enum expression_kind kind;
    double constant;
    const double *variable;
    muParserHandle_t parser;
    double *literals; /* bound to the parser: never moves */
    struct variable_set variables;
};

/* --- functions ---------------------------------------------------------------------------------------------------
 * Wrong arguments raise a floating-point flag (0/0 or 1/0), which expression_evaluate turns into an error; so an error
 * cannot be hidden by min(), a comparison or an unused branch's neighbour. */

static double raise_invalid(void)
{
    volatile double zero = 0.0;
    return zero / zero;
}

static double function_ceil(double x)
{
    return ceil(x);
}
static double function_floor(double x)
{
    return floor(x);
}
static double function_round(double x)
{
    return round(x);
}
static double function_trunc(double x)
{
    return trunc(x);
}
static double function_abs(double x)
{
    return fabs(x);
}
static double function_sqrt(double x)
{
    return sqrt(x);
}
static double function_exp(double x)
{
    return exp(x);
}
static double function_log(double x)
{
    return log(x);
}
static double function_log2(double x)
{
    return log2(x);
}
static double function_not(double x)
{
    return x == 0.0 ? 1.0 : 0.0;
}
static double function_pow(double x, double y)
{
    return pow(x, y);
}

static double function_modulo(double x, double y)
{
    return y == 0.0 ? copysign(1.0, x) / y : fmod(x, y);
}

/* Exact for whole numbers up to 2^53, where ceil(x / y) can be one too large or too small after rounding. */
static double function_ceil_div(double x, double y)
{
    if (y == 0.0) {
        return x / y;
    }
    double rest = fmod(x, y);
    double quotient = round((x - rest) / y);
    return rest != 0.0 && (x < 0.0) == (y < 0.0) ? quotient + 1.0 : quotient;
}

static double function_round_up(double x, double step)
{
    return step > 0.0 ? function_ceil_div(x, step) * step : raise_invalid();
}

static double function_clamp(double x, double low, double high)
{
    if (low > high) {
        return raise_invalid();
    }
    return x < low ? low : x > high ? high : x;
}

static double function_min(const double *values, int count)
{
    double least = values[0];
    for (int i = 1; i < count; i++) {
        least = values[i] < least ? values[i] : least;
    }
    return least;
}

static double function_max(const double *values, int count)
{
    double most = values[0];
    for (int i = 1; i < count; i++) {
        most = values[i] > most ? values[i] : most;
    }
    return most;
}

static void define_functions(muParserHandle_t parser)
{
    mupClearFun(parser);
    mupClearConst(parser);
    mupDefineFun1(parser, "ceil", function_ceil, 0);
    mupDefineFun1(parser, "floor", function_floor, 0);
    mupDefineFun1(parser, "round", function_round, 0);
    mupDefineFun1(parser, "trunc", function_trunc, 0);
    mupDefineFun1(parser, "abs", function_abs, 0);
    mupDefineFun1(parser, "sqrt", function_sqrt, 0);
    mupDefineFun1(parser, "exp", function_exp, 0);
    mupDefineFun1(parser, "log", function_log, 0);
    mupDefineFun1(parser, "log2", function_log2, 0);
    mupDefineFun1(parser, "not", function_not, 0);
    mupDefineFun2(parser, "pow", function_pow, 0);
    mupDefineFun2(parser, "ceil_div", function_ceil_div, 0);
    mupDefineFun2(parser, "round_up", function_round_up, 0);
    mupDefineFun3(parser, "clamp", function_clamp, 0);
    mupDefineMultFun(parser, "min", function_min, 0);
    mupDefineMultFun(parser, "max", function_max, 0);
    mupDefineOprt(parser, "%", function_modulo, 6 /* muParser's prMUL_DIV */, muOPRT_ASCT_LEFT, 0);
}

/* --- muParser ----------------------------------------------------------------------------------------------------- */

/* muParser calls this instead of throwing; the state is asked for afterwards with mupError. */
static void note_error(muParserHandle_t parser)
{
    (void)parser;
}

static const char *explain_code(int code)
{
    switch (code) { /* muParserDef.h, enum EErrorCodes */
    case 0:
        return "an operator stands where a value is expected";
    case 2:
        return "the expression ends too early";
    case 3:
    case 4:
        return "a comma stands outside a function's arguments";
    case 5:
    case 6:
    case 12:
        return "an operator is missing between two values";
    case 7:
        return "an unexpected parenthesis";
    case 11:
        return "a closing parenthesis is missing";
    case 14:
        return "too many arguments for the function";
    case 15:
        return "too few arguments for the function";
    case 32:
    case 33:
    case 34:
        return "'?' and ':' do not match";
    default:
        return "the expression is malformed";
    }
}

static enum status parse_failure(const struct expression_rewriter *rewriter, muParserHandle_t parser)
{
    int code = mupGetErrorCode(parser), position = mupGetErrorPos(parser);
    size_t origin = rewriter->position > 0 ? rewriter->position - 1 : 0;
    if (position >= 0 && (size_t)position < rewriter->output_length) {
        origin = rewriter->origins[position];
    }
    return error_set_at(rewriter->error, STATUS_BAD_DATA, NULL, 0, (unsigned)origin + 1, "%s", explain_code(code));
}

/* muParser compiles at the first evaluation. Values of that evaluation do not matter; only syntax is judged here. */
static enum status build_parser(struct expression *expression, const struct expression_rewriter *rewriter,
                                double *values)
{
    expression->literals = malloc((rewriter->literal_count + 1) * sizeof *expression->literals);
    expression->parser = mupCreate(muBASETYPE_FLOAT);
    if (expression->literals == NULL || expression->parser == NULL) {
        return error_set(rewriter->error, STATUS_NO_MEMORY, "no memory for an expression");
    }
    memcpy(expression->literals, rewriter->literals, rewriter->literal_count * sizeof *expression->literals);
    mupSetErrorHandler(expression->parser, note_error);
    define_functions(expression->parser);
    char name[16];
    for (uint32_t i = 0; i < rewriter->literal_count; i++) {
        snprintf(name, sizeof name, "k%u", (unsigned)i);
        mupDefineVar(expression->parser, name, &expression->literals[i]);
    }
    for (uint32_t i = 0; i < rewriter->variable_count; i++) {
        if (rewriter->used.bits[i / 64] >> (i % 64) & 1) {
            snprintf(name, sizeof name, "v%u", (unsigned)i);
            mupDefineVar(expression->parser, name, &values[i]);
        }
    }
    mupSetExpr(expression->parser, rewriter->output);
    int result_count = 0;
    mupEvalMulti(expression->parser, &result_count);
    if (mupError(expression->parser)) {
        return parse_failure(rewriter, expression->parser);
    }
    if (result_count != 1) {
        return error_set_at(rewriter->error, STATUS_BAD_DATA, NULL, 0, 1,
                            "several results separated by commas, where one is expected");
    }
    return STATUS_OK;
}

static enum status build(const struct expression_rewriter *rewriter, double *values, struct expression **result)
{
    struct expression *expression = calloc(1, sizeof *expression);
    if (expression == NULL) {
        return error_set(rewriter->error, STATUS_NO_MEMORY, "no memory for an expression");
    }
    expression->variables = rewriter->used;
    if (rewriter->token_count == 1 && rewriter->literal_count == 1) {
        expression->kind = EXPRESSION_CONSTANT;
        expression->constant = rewriter->literals[0];
    } else if (rewriter->token_count == 1 && rewriter->lone_variable >= 0) {
        expression->kind = EXPRESSION_VARIABLE;
        expression->variable = &values[rewriter->lone_variable];
    } else {
        expression->kind = EXPRESSION_PARSED;
        enum status status = build_parser(expression, rewriter, values);
        if (status != STATUS_OK) {
            expression_free(expression);
            return status;
        }
    }
    *result = expression;
    return STATUS_OK;
}

enum status expression_compile(const char *text, const char *const *variables, double *values, uint32_t variable_count,
                               struct expression **expression, struct error *error)
{
    *expression = NULL;
    if (variable_count > EXPRESSION_VARIABLES_MAX) {
        BUG("%u variables for an expression", (unsigned)variable_count);
    }
    size_t length = strlen(text);
    if (length > EXPRESSION_TEXT_MAX) {
        return error_set(error, STATUS_LIMIT, "an expression of %zu bytes; the limit is %d", length,
                         EXPRESSION_TEXT_MAX);
    }
    struct expression_rewriter *rewriter = calloc(1, sizeof *rewriter);
    char *output = malloc(EXPRESSION_OUTPUT_MAX + 1);
    uint16_t *origins = malloc((EXPRESSION_OUTPUT_MAX + 1) * sizeof *origins);
    enum status status;
    if (rewriter == NULL || output == NULL || origins == NULL) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for an expression");
        goto cleanup;
    }
    rewriter->text = text;
    rewriter->variables = variables;
    rewriter->variable_count = variable_count;
    rewriter->output = output;
    rewriter->origins = origins;
    rewriter->lone_variable = -1;
    rewriter->error = error;
    output[0] = '\0';
    status = expression_rewrite(rewriter);
    if (status == STATUS_OK) {
        status = build(rewriter, values, expression);
    }
cleanup:
    free(rewriter);
    free(output);
    free(origins);
    return status;
}

void expression_free(struct expression *expression)
{
    if (expression == NULL) {
        return;
    }
    if (expression->parser != NULL) {
        mupRelease(expression->parser);
    }
    free(expression->literals);
    free(expression);
}

struct variable_set expression_variables(const struct expression *expression)
{
    return expression->variables;
}

/* Floating-point flags of this thread. Reading MXCSR costs a nanosecond, the portable calls some fifty. */
#if defined(__SSE2__) && defined(__SSE2_MATH__)
enum {
    FLAG_INVALID = 0x01,
    FLAG_DIVISION = 0x04,
    FLAG_OVERFLOW = 0x08
};
static void flags_clear(void)
{
    unsigned state = _mm_getcsr();
    if (state & (FLAG_INVALID | FLAG_DIVISION | FLAG_OVERFLOW)) {
        _mm_setcsr(state & ~(unsigned)(FLAG_INVALID | FLAG_DIVISION | FLAG_OVERFLOW));
    }
}
static unsigned flags_raised(void)
{
    return _mm_getcsr() & (FLAG_INVALID | FLAG_DIVISION | FLAG_OVERFLOW);
}
#else
enum {
    FLAG_INVALID = FE_INVALID,
    FLAG_DIVISION = FE_DIVBYZERO,
    FLAG_OVERFLOW = FE_OVERFLOW
};
static void flags_clear(void)
{
    feclearexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}
static unsigned flags_raised(void)
{
    return (unsigned)fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}
#endif

static enum status arithmetic_failure(unsigned flags, struct error *error)
{
    if (flags & FLAG_DIVISION) {
        return error_set(error, STATUS_DOMAIN, "division by zero (by '/', '%%', log(0) or a negative power of 0)");
    }
    if (flags & FLAG_OVERFLOW) {
        return error_set(error, STATUS_DOMAIN, "the result is too large for a number");
    }
    return error_set(error, STATUS_DOMAIN,
                     "an undefined result (0/0, square root or logarithm of a negative number, clamp with its limits "
                     "swapped, round_up to a step that is not positive)");
}

enum status expression_evaluate(struct expression *expression, double *value, struct error *error)
{
    double result;
    if (expression->kind == EXPRESSION_CONSTANT) {
        *value = expression->constant;
        return STATUS_OK;
    }
    if (expression->kind == EXPRESSION_VARIABLE) {
        result = *expression->variable;
    } else {
        flags_clear();
        result = mupEval(expression->parser);
        unsigned flags = flags_raised();
        if (flags != 0) {
            return arithmetic_failure(flags, error);
        }
    }
    if (!isfinite(result)) {
        return error_set(error, STATUS_DOMAIN, "the result is not a finite number");
    }
    *value = result;
    return STATUS_OK;
}
