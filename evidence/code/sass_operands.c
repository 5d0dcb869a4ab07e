/* SPDX-License-Identifier: GPL-3.0-or-later
 * Operands of SASS instructions: registers, addresses, literals, labels. */
#include <string.h>

#include "evidence/code/sass_instruction.h"

bool sass_slice_is(struct sass_slice slice, const char *word)
{
    return strlen(word) == slice.length && memcmp(slice.text, word, slice.length) == 0;
}

bool sass_slice_starts(struct sass_slice slice, const char *word)
{
    const size_t length = strlen(word);
    return slice.length >= length && memcmp(slice.text, word, length) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

struct sass_slice sass_slice_trim(struct sass_slice slice)
{
    while (slice.length > 0 && is_space(slice.text[0])) {
        slice.text++;
        slice.length--;
    }
    while (slice.length > 0 && is_space(slice.text[slice.length - 1])) {
        slice.length--;
    }
    return slice;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/* Value of a digit in bases up to 16, 16 for others. */
static unsigned digit_value(char c)
{
    return is_digit(c)            ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 16;
}

bool sass_number(struct sass_slice slice, int64_t *value)
{
    bool negative = false;
    if (slice.length > 0 && (slice.text[0] == '-' || slice.text[0] == '+')) {
        negative = slice.text[0] == '-';
        slice.text++;
        slice.length--;
    }
    uint64_t base = 10, magnitude = 0;
    if (slice.length > 2 && slice.text[0] == '0' && slice.text[1] == 'x') {
        base = 16;
        slice.text += 2;
        slice.length -= 2;
    }
    if (slice.length == 0 || slice.length > 16) {
        return false;
    }
    for (size_t i = 0; i < slice.length; i++) {
        const unsigned digit = digit_value(slice.text[i]);
        if (digit >= base) {
            return false;
        }
        magnitude = magnitude * base + digit;
    }
    if (magnitude > INT64_MAX) {
        return false;
    }
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

/* --- registers ---------------------------------------------------------------------------------------------------- */

struct register_class {
    const char *prefix, *zero; /* "R", "RZ" */
    uint32_t first, limit;
    bool predicate;
};
/* Longer prefixes first. */
static const struct register_class classes[] = {
    {"UR", "URZ", SASS_UNIFORM_FIRST, SASS_PREDICATE_FIRST - SASS_UNIFORM_FIRST, false},
    {"UP", "UPT", SASS_UNIFORM_PREDICATE_FIRST, SASS_PREDICATES - 1, true},
    {"R", "RZ", 1, 255, false},
    {"P", "PT", SASS_PREDICATE_FIRST, SASS_PREDICATES - 1, true},
};

/* The class of "R12", "UPT", ...; NULL for other words. *number is 0 for those that are none. */
static const struct register_class *read_register(struct sass_slice word, uint32_t *number)
{
    *number = 0;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const struct register_class *class = &classes[i];
        const size_t skip = strlen(class->prefix);
        if (sass_slice_is(word, class->zero)) {
            return class;
        }
        int64_t index = 0;
        const struct sass_slice digits = {word.text + skip, word.length - skip};
        if (word.length > skip && word.length <= skip + 3 && sass_slice_starts(word, class->prefix) &&
            is_digit(digits.text[0]) && sass_number(digits, &index) && index < (int64_t) class->limit) {
            *number = class->first + (uint32_t)index;
            return class;
        }
    }
    return NULL;
}

static const struct {
    const char *name;
    enum code_special special;
} specials[] = {
    {"SR_TID.X", CODE_SPECIAL_THREAD_X}, {"SR_TID", CODE_SPECIAL_THREAD},  {"SR_LANEID", CODE_SPECIAL_LANE},
    {"SR_VIRTID", CODE_SPECIAL_WARP},    {"SR_WARPID", CODE_SPECIAL_WARP}, {"SR_CTAID", CODE_SPECIAL_CTA},
    {"SR_NCTAID", CODE_SPECIAL_CTA},     {"SR_Cga", CODE_SPECIAL_CTA},     {"SR_CLUSTER", CODE_SPECIAL_CTA},
    {"SRZ", CODE_SPECIAL_NONE},          {"SR_", CODE_SPECIAL_OTHER},
};

static enum code_special read_special(struct sass_slice text)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (sass_slice_starts(text, specials[i].name)) {
            return specials[i].special;
        }
    }
    return CODE_SPECIAL_NONE;
}

static void add_register(struct sass_operand *operand, uint32_t number, bool wide)
{
    if (number != 0 && operand->count < SASS_OPERAND_REGISTERS) {
        operand->registers[operand->count] = number;
        operand->register_wide[operand->count++] = wide;
    }
}

/* ".reuse", ".H0_H0", ".64", ".X16" behind a register: where they end. */
static size_t skip_suffixes(struct sass_slice text, size_t at, bool *wide, bool *scaled)
{
    while (at < text.length && text.text[at] == '.') {
        size_t end = at + 1;
        while (end < text.length && is_word(text.text[end])) {
            end++;
        }
        const struct sass_slice suffix = {text.text + at, end - at};
        *wide = *wide || sass_slice_is(suffix, ".64") || sass_slice_starts(suffix, ".F32x2");
        *scaled =
            *scaled || sass_slice_is(suffix, ".X4") || sass_slice_is(suffix, ".X8") || sass_slice_is(suffix, ".X16");
        at = end;
    }
    return at;
}

/* --- one operand -------------------------------------------------------------------------------------------------- */

/* Registers and the offset of "desc[UR6][R2.64+0x40]", "[R0.X16+UR4]", "gdesc[UR4]". */
static void read_brackets(struct sass_operand *operand)
{
    const struct sass_slice text = operand->text;
    unsigned bracket = 0;
    for (size_t i = 0; i < text.length;) {
        const char c = text.text[i];
        size_t end = i + 1;
        if (c == '[') {
            bracket++;
            operand->address_first = operand->count;
            operand->has_literal = false;
        } else if (is_word(c)) {
            while (end < text.length && is_word(text.text[end])) {
                end++;
            }
            const struct sass_slice word = {text.text + i, end - i};
            uint32_t number;
            int64_t offset;
            if (bracket > 0 && read_register(word, &number) != NULL) {
                bool wide = false;
                end = skip_suffixes(text, end, &wide, &operand->scaled);
                add_register(operand, number, wide);
            } else if (bracket > 0 && is_digit(c) && sass_number(word, &offset)) {
                operand->has_literal = true;
                operand->literal = i > 0 && text.text[i - 1] == '-' ? -offset : offset;
            }
        }
        i = end;
    }
}

/* "`(.L_x_1)", also behind a register and with "+0x10". */
static bool read_label(struct sass_operand *operand)
{
    const struct sass_slice text = operand->text;
    const char *tick = memchr(text.text, '`', text.length);
    if (tick == NULL) {
        return false;
    }
    const size_t at = (size_t)(tick - text.text) + 1;
    if (at >= text.length || text.text[at] != '(') {
        return false;
    }
    const char *close = memchr(text.text + at, ')', text.length - at);
    if (close != NULL) {
        operand->label = (struct sass_slice){text.text + at + 1, (size_t)(close - text.text) - at - 1};
    }
    return close != NULL;
}

static void read_bare(struct sass_operand *operand)
{
    struct sass_slice text = operand->text;
    while (text.length > 0 && (text.text[0] == '!' || text.text[0] == '-' || text.text[0] == '~' ||
                               text.text[0] == '|' || text.text[0] == '+')) {
        operand->negated = operand->negated || text.text[0] != '|';
        text.text++;
        text.length--;
    }
    size_t end = 0;
    while (end < text.length && is_word(text.text[end])) {
        end++;
    }
    const struct sass_slice word = {text.text, end};
    uint32_t number;
    const struct register_class *class = read_register(word, &number);
    if (class != NULL) {
        skip_suffixes(text, end, &operand->wide, &operand->scaled);
        operand->kind = class->predicate ? SASS_OPERAND_PREDICATE : SASS_OPERAND_REGISTER;
        operand->zero = number == 0;
        add_register(operand, number, operand->wide);
    } else if (sass_slice_is(word, "PR")) {
        operand->kind = SASS_OPERAND_PREDICATE;
        operand->all_predicates = true;
    } else if (end > 0 && is_digit(text.text[0])) {
        operand->kind = SASS_OPERAND_LITERAL;
        operand->has_literal = sass_number(operand->text, &operand->literal);
    } else {
        operand->special = read_special(text);
    }
    if (read_label(operand) && class == NULL) {
        operand->kind = SASS_OPERAND_LABEL;
    }
}

static void read_operand(struct sass_slice text, struct sass_operand *operand)
{
    *operand = (struct sass_operand){.text = text};
    const char *bracket = memchr(text.text, '[', text.length);
    const char *tick = memchr(text.text, '`', text.length);
    if (bracket == NULL || (tick != NULL && tick < bracket)) {
        read_bare(operand);
        return;
    }
    operand->kind =
        bracket == text.text || sass_slice_starts(text, "desc[") ? SASS_OPERAND_MEMORY : SASS_OPERAND_DESCRIPTOR;
    operand->negated = text.text[0] == '-' || text.text[0] == '~';
    read_brackets(operand);
}

void sass_operands_read(struct sass_slice text, struct sass_operands *operands)
{
    operands->count = 0;
    operands->cut = false;
    int depth = 0;
    size_t start = 0;
    for (size_t i = 0; i <= text.length; i++) {
        const char c = i < text.length ? text.text[i] : ',';
        depth += c == '[' || c == '(' ? 1 : 0;
        depth -= depth > 0 && (c == ']' || c == ')') ? 1 : 0;
        if (c != ',' || (depth > 0 && i < text.length)) {
            continue;
        }
        const struct sass_slice piece = sass_slice_trim((struct sass_slice){text.text + start, i - start});
        start = i + 1;
        if (piece.length == 0) {
            continue;
        }
        if (operands->count == SASS_OPERANDS_MAX) {
            operands->cut = true;
            return;
        }
        read_operand(piece, &operands->items[operands->count++]);
    }
}
