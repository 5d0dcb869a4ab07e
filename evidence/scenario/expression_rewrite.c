/* SPDX-License-Identifier: GPL-3.0-or-later
 * Lexer of expressions: names, numbers and operators are checked with their column, and rewritten for muParser. */
#include "evidence/scenario/expression_rewrite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"

enum {
    NAME_LENGTH_MAX = 64
};

static const char *const function_names[] = {"ceil", "floor", "round", "trunc", "abs",   "sqrt",     "exp",     "log",
                                             "log2", "pow",   "min",   "max",   "clamp", "ceil_div", "round_up"};

static bool is_function(const char *name)
{
    for (size_t i = 0; i < sizeof function_names / sizeof function_names[0]; i++) {
        if (strcmp(function_names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static enum status fail_at(struct expression_rewriter *rewriter, size_t offset, const char *what)
{
    return error_set_at(rewriter->error, STATUS_BAD_DATA, NULL, 0, (unsigned)offset + 1, "%s", what);
}

static enum status emit(struct expression_rewriter *rewriter, const char *piece, size_t origin)
{
    size_t length = strlen(piece);
    if (rewriter->output_length + length >= EXPRESSION_OUTPUT_MAX) {
        return error_set(rewriter->error, STATUS_LIMIT, "the expression is too long");
    }
    memcpy(rewriter->output + rewriter->output_length, piece, length + 1);
    for (size_t i = 0; i < length; i++) {
        rewriter->origins[rewriter->output_length + i] = (uint16_t)origin;
    }
    rewriter->output_length += length;
    return STATUS_OK;
}

/* A complete operand ends here: close every "not(" that waits for it. */
static enum status end_operand(struct expression_rewriter *rewriter, size_t origin)
{
    while (rewriter->pending_not_count > 0 &&
           rewriter->pending_not_depth[rewriter->pending_not_count - 1] == rewriter->depth) {
        rewriter->pending_not_count--;
        enum status status = emit(rewriter, ")", origin);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static enum status lex_number(struct expression_rewriter *rewriter)
{
    const char *text = rewriter->text;
    size_t start = rewriter->position, end = start;
    while (is_digit(text[end]) || text[end] == '.') {
        end++;
    }
    if ((text[end] == 'e' || text[end] == 'E') &&
        (is_digit(text[end + 1]) || ((text[end + 1] == '+' || text[end + 1] == '-') && is_digit(text[end + 2])))) {
        end += 2;
        while (is_digit(text[end])) {
            end++;
        }
    }
    char digits[64];
    if (end - start >= sizeof digits) {
        return fail_at(rewriter, start, "the number has too many digits");
    }
    memcpy(digits, text + start, end - start);
    digits[end - start] = '\0';
    if (is_name_start(text[end]) || number_parse(digits, &rewriter->literals[rewriter->literal_count]) != STATUS_OK) {
        return error_set_at(rewriter->error, STATUS_BAD_DATA, NULL, 0, (unsigned)start + 1,
                            "'%s%.8s' is not a decimal number", digits, is_name_start(text[end]) ? text + end : "");
    }
    char name[16];
    snprintf(name, sizeof name, "k%u", (unsigned)rewriter->literal_count);
    if (++rewriter->literal_count == EXPRESSION_LITERALS_MAX) {
        return error_set(rewriter->error, STATUS_LIMIT, "the expression has more than %d numbers",
                         EXPRESSION_LITERALS_MAX - 1);
    }
    rewriter->position = end;
    enum status status = emit(rewriter, name, start);
    return status == STATUS_OK ? end_operand(rewriter, start) : status;
}

/* Up to three names nearest to `name`, for the message. */
static void near_names(const struct expression_rewriter *rewriter, const char *name, char *out, size_t out_size)
{
    size_t length = 0;
    out[0] = '\0';
    uint32_t taken = 0;
    unsigned length_limit = (unsigned)strlen(name) / 2 + 1, limit = length_limit < 3 ? length_limit : 3;
    for (unsigned distance = 0; distance <= limit && taken < 3; distance++) {
        for (uint32_t i = 0; i < rewriter->variable_count && taken < 3; i++) {
            const char *candidate = rewriter->variables[i];
            if (candidate[0] != '\0' && text_distance(candidate, name) == distance && length < out_size) {
                int written =
                    snprintf(out + length, out_size - length, "%s%s", taken ? ", " : "; near names: ", candidate);
                length += written > 0 ? (size_t)written : 0;
                taken++;
            }
        }
    }
}

static enum status unknown_name(struct expression_rewriter *rewriter, const char *name, size_t offset, bool called)
{
    char list[240];
    if (called) {
        return error_set_at(rewriter->error, STATUS_BAD_DATA, NULL, 0, (unsigned)offset + 1,
                            "unknown function '%s'; known are ceil floor round trunc abs sqrt exp log log2 pow min max "
                            "clamp ceil_div round_up",
                            name);
    }
    if (is_function(name)) {
        return error_set_at(rewriter->error, STATUS_BAD_DATA, NULL, 0, (unsigned)offset + 1,
                            "'%s' is a function and needs arguments in parentheses", name);
    }
    near_names(rewriter, name, list, sizeof list);
    return error_set_at(rewriter->error, STATUS_BAD_DATA, NULL, 0, (unsigned)offset + 1, "unknown name '%s'%s", name,
                        list);
}

static enum status lex_name(struct expression_rewriter *rewriter)
{
    const char *text = rewriter->text;
    size_t start = rewriter->position, end = start, next;
    while (is_name_start(text[end]) || is_digit(text[end])) {
        end++;
    }
    char name[NAME_LENGTH_MAX + 1];
    if (end - start > NAME_LENGTH_MAX) {
        return fail_at(rewriter, start, "a name longer than 64 characters");
    }
    memcpy(name, text + start, end - start);
    name[end - start] = '\0';
    for (next = end; text[next] == ' ' || text[next] == '\t' || text[next] == '\n'; next++) {
    }
    rewriter->position = end;
    if (text[next] == '(') {
        return is_function(name) ? emit(rewriter, name, start) : unknown_name(rewriter, name, start, true);
    }
    for (uint32_t i = 0; i < rewriter->variable_count; i++) {
        if (strcmp(rewriter->variables[i], name) == 0) {
            char alias[16];
            snprintf(alias, sizeof alias, "v%u", (unsigned)i);
            rewriter->used.bits[i / 64] |= (uint64_t)1 << (i % 64);
            rewriter->lone_variable = (long)i;
            enum status status = emit(rewriter, alias, start);
            return status == STATUS_OK ? end_operand(rewriter, start) : status;
        }
    }
    return unknown_name(rewriter, name, start, false);
}

static enum status lex_parenthesis(struct expression_rewriter *rewriter, char c)
{
    size_t start = rewriter->position++;
    if (c == '(') {
        if (++rewriter->depth > EXPRESSION_NESTING_MAX) {
            return error_set_at(rewriter->error, STATUS_LIMIT, NULL, 0, (unsigned)start + 1,
                                "parentheses are nested deeper than %d", EXPRESSION_NESTING_MAX);
        }
        return emit(rewriter, "(", start);
    }
    if (rewriter->depth == 0) {
        return fail_at(rewriter, start, "a closing parenthesis without an opening one");
    }
    if (rewriter->pending_not_count > 0 &&
        rewriter->pending_not_depth[rewriter->pending_not_count - 1] == rewriter->depth) {
        return fail_at(rewriter, start, "'!' needs an operand");
    }
    rewriter->depth--;
    enum status status = emit(rewriter, ")", start);
    return status == STATUS_OK ? end_operand(rewriter, start) : status;
}

static enum status lex_not(struct expression_rewriter *rewriter)
{
    size_t start = rewriter->position++;
    if (rewriter->pending_not_count == EXPRESSION_NESTING_MAX) {
        return error_set_at(rewriter->error, STATUS_LIMIT, NULL, 0, (unsigned)start + 1, "'!' is nested deeper than %d",
                            EXPRESSION_NESTING_MAX);
    }
    rewriter->pending_not_depth[rewriter->pending_not_count++] = rewriter->depth;
    return emit(rewriter, "not(", start);
}

static enum status lex_operator(struct expression_rewriter *rewriter)
{
    static const char *const operators[] = {"<=", ">=", "==", "!=", "&&", "||", "+", "-", "*",
                                            "/",  "%",  "^",  "<",  ">",  "?",  ":", ","};
    const char *text = rewriter->text + rewriter->position;
    size_t start = rewriter->position;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (strncmp(text, operators[i], strlen(operators[i])) == 0) {
            rewriter->position += strlen(operators[i]);
            /* The blank keeps neighbours apart: muParser would read "*-" or ">-" as one unknown operator name. */
            enum status status = emit(rewriter, operators[i], start);
            return status == STATUS_OK ? emit(rewriter, " ", start) : status;
        }
    }
    if (*text == '!') {
        return lex_not(rewriter);
    }
    if (*text == '=') {
        return fail_at(rewriter, start, "'=' does not assign here; compare with '=='");
    }
    if (*text == '&' || *text == '|') {
        return fail_at(rewriter, start, "write '&&' and '||'");
    }
    bool printable = *text >= 0x20 && *text < 0x7f;
    return error_set_at(rewriter->error, STATUS_BAD_DATA, NULL, 0, (unsigned)start + 1,
                        printable ? "the character '%c' has no meaning in an expression"
                                  : "a character outside ASCII has no meaning in an expression",
                        *text);
}

enum status expression_rewrite(struct expression_rewriter *rewriter)
{
    for (;;) {
        char c = rewriter->text[rewriter->position];
        if (c == '\0') {
            break;
        }
        enum status status = STATUS_OK;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            rewriter->position++;
            status = emit(rewriter, " ", rewriter->position - 1);
        } else {
            rewriter->token_count++;
            if (is_digit(c) || (c == '.' && is_digit(rewriter->text[rewriter->position + 1]))) {
                status = lex_number(rewriter);
            } else if (is_name_start(c)) {
                status = lex_name(rewriter);
            } else if (c == '(' || c == ')') {
                status = lex_parenthesis(rewriter, c);
            } else {
                status = lex_operator(rewriter);
            }
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (rewriter->token_count == 0) {
        return error_set_at(rewriter->error, STATUS_BAD_DATA, NULL, 0, 1, "an empty expression");
    }
    if (rewriter->depth > 0) {
        return fail_at(rewriter, rewriter->position - 1, "a closing parenthesis is missing at the end");
    }
    if (rewriter->pending_not_count > 0) {
        return fail_at(rewriter, rewriter->position - 1, "'!' needs an operand");
    }
    return STATUS_OK;
}
