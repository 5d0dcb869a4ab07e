/* SPDX-License-Identifier: GPL-3.0-or-later
 * Names and operands of one PTX kernel. */
#include <stdlib.h>
#include <string.h>

#include "evidence/code/ptx_body_private.h"

/* ---- names ----------------------------------------------------------------------------------------------------- */
static enum code_special special_of(struct ptx_slice word)
{
    static const struct {
        const char *start;
        enum code_special special;
    } known[] = {
        {"%tid.x", CODE_SPECIAL_THREAD_X},     {"%tid", CODE_SPECIAL_THREAD},
        {"%laneid", CODE_SPECIAL_LANE},        {"%warpid", CODE_SPECIAL_WARP},
        {"%ctaid", CODE_SPECIAL_CTA},          {"%nctaid", CODE_SPECIAL_CTA},
        {"%cluster", CODE_SPECIAL_CTA},        {"%nclusterid", CODE_SPECIAL_CTA},
        {"%ntid", CODE_SPECIAL_OTHER},         {"%nwarpid", CODE_SPECIAL_OTHER},
        {"%smid", CODE_SPECIAL_CTA},           {"%nsmid", CODE_SPECIAL_OTHER},
        {"%gridid", CODE_SPECIAL_OTHER},       {"%is_explicit", CODE_SPECIAL_OTHER},
        {"%lanemask", CODE_SPECIAL_LANE},      {"%clock", CODE_SPECIAL_OTHER},
        {"%pm", CODE_SPECIAL_OTHER},           {"%envreg", CODE_SPECIAL_OTHER},
        {"%globaltimer", CODE_SPECIAL_OTHER},  {"%reserved_smem", CODE_SPECIAL_OTHER},
        {"%total_smem", CODE_SPECIAL_OTHER},   {"%aggr_smem", CODE_SPECIAL_OTHER},
        {"%dynamic_smem", CODE_SPECIAL_OTHER}, {"%current_graph", CODE_SPECIAL_OTHER},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (ptx_slice_starts(word, known[i].start)) {
            return known[i].special;
        }
    }
    return CODE_SPECIAL_NONE;
}

/* "%r12" -> "%r"; empty if no digit ends the word. */
static struct ptx_slice range_prefix(struct ptx_slice word)
{
    size_t length = word.length;
    while (length > 0 && word.text[length - 1] >= '0' && word.text[length - 1] <= '9') {
        length--;
    }
    return (struct ptx_slice){word.text, length == word.length ? 0 : length};
}

enum status ptx_new_register(struct ptx_body *body, struct ptx_slice name, uint32_t depth, uint32_t *number)
{
    *number = ++body->listing->register_count;
    unsigned char *spaces = code_grown(body->spaces, *number, 1, &body->space_capacity, 1);
    if (spaces == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->spaces = spaces;
    spaces[*number] = SPACE_UNKNOWN;
    return ptx_names_bind(body->names, PTX_NAME_REGISTER, name, depth, *number);
}

/* 0 if the word is no register. */
enum status ptx_find_register(struct ptx_body *body, struct ptx_slice word, uint32_t *number)
{
    *number = 0;
    if (word.length > 2 && word.text[word.length - 2] == '.' && strchr("xyzwrgba", word.text[word.length - 1])) {
        word.length -= 2; /* component of a vector register */
    }
    const struct ptx_binding *found = ptx_names_find(body->names, PTX_NAME_REGISTER, word);
    const bool percent = word.text[0] == '%';
    if (found != NULL && (body->inner_ranges == 0 || found->depth == body->depth)) {
        *number = (uint32_t)found->value;
        return STATUS_OK;
    }
    const struct ptx_slice prefix = range_prefix(word);
    const struct ptx_binding *range = prefix.length == 0 ? NULL : ptx_names_find(body->names, PTX_NAME_RANGE, prefix);
    if (found != NULL && (range == NULL || range->depth <= found->depth)) {
        *number = (uint32_t)found->value;
        return STATUS_OK;
    }
    if (range == NULL && (!percent || special_of(word) != CODE_SPECIAL_NONE)) {
        return STATUS_OK;
    }
    return ptx_new_register(body, word, range == NULL ? 0 : range->depth, number);
}

/* From behind ".reg": .b32 %r<10>, a, b; */
enum status ptx_declare_registers(struct ptx_body *body)
{
    struct ptx_reader *reader = body->reader;
    for (;;) {
        ptx_skip_space(reader);
        const char c = ptx_peek(reader);
        if (reader->at >= reader->end) {
            body->ended = true;
            return STATUS_OK;
        }
        if (c == ';') {
            reader->at++;
            return STATUS_OK;
        }
        const struct ptx_slice word = ptx_word(reader);
        if (word.length == 0 && c != ',') {
            return ptx_fail(reader, STATUS_BAD_DATA, "a declaration of registers that cannot be read", word);
        }
        if (word.length == 0) {
            reader->at++;
            continue;
        }
        if (word.text[0] == '.') {
            continue;
        }
        ptx_skip_space(reader);
        enum status status;
        uint32_t number;
        if (ptx_peek(reader) == '<') {
            reader->at++;
            status = ptx_names_bind(body->names, PTX_NAME_RANGE, word, body->depth, 0);
            body->inner_ranges += body->depth > 0;
            body->ended = !ptx_skip_to(reader, '>');
        } else {
            status = ptx_new_register(body, word, body->depth, &number);
        }
        if (status != STATUS_OK || body->ended) {
            return status;
        }
    }
}

enum status ptx_take_shared(void *user, struct ptx_slice name, uint64_t bytes)
{
    struct ptx_body *body = user;
    if (__builtin_add_overflow(body->listing->static_smem_bytes, bytes, &body->listing->static_smem_bytes)) {
        return ptx_fail(body->reader, STATUS_BAD_DATA, "shared memory beyond all bounds", name);
    }
    return ptx_names_bind(body->names, PTX_NAME_VARIABLE, name, body->depth, 1);
}

enum status ptx_take_local(void *user, struct ptx_slice name, uint64_t bytes)
{
    struct ptx_body *body = user;
    if (__builtin_add_overflow(body->listing->local_bytes, bytes, &body->listing->local_bytes)) {
        return ptx_fail(body->reader, STATUS_BAD_DATA, "local memory beyond all bounds", name);
    }
    return ptx_names_bind(body->names, PTX_NAME_VARIABLE, name, body->depth, 1);
}

enum status ptx_take_other(void *user, struct ptx_slice name, uint64_t bytes)
{
    struct ptx_body *body = user;
    (void)bytes;
    return ptx_names_bind(body->names, PTX_NAME_VARIABLE, name, body->depth, 1);
}

/* A variable of the module counts once for each kernel that names it. */
static enum status use_symbol(struct ptx_body *body, struct ptx_slice name)
{
    if (ptx_names_find(body->names, PTX_NAME_VARIABLE, name) != NULL) {
        return STATUS_OK;
    }
    const struct ptx_binding *outside = ptx_names_find(&body->reader->module, PTX_NAME_VARIABLE, name);
    if (outside == NULL) {
        return STATUS_OK;
    }
    const uint64_t bytes = outside->value & 1 ? outside->value >> 1 : 0;
    if (__builtin_add_overflow(body->listing->static_smem_bytes, bytes, &body->listing->static_smem_bytes)) {
        return ptx_fail(body->reader, STATUS_BAD_DATA, "shared memory beyond all bounds", name);
    }
    return ptx_names_bind(body->names, PTX_NAME_VARIABLE, name, 0, 1);
}

/* ---- operands -------------------------------------------------------------------------------------------------- */
static struct ptx_operand *open_operand(struct ptx_body *body)
{
    if (body->operand_count == OPERANDS_MAX) {
        body->cut = true;
        body->operand_count--;
    }
    struct ptx_operand *operand = &body->operands[body->operand_count++];
    memset(operand, 0, sizeof *operand);
    operand->first = body->register_count;
    return operand;
}

static enum status take_word(struct ptx_body *body, struct ptx_operand *operand, struct ptx_slice word, bool negative)
{
    operand->words++;
    int64_t value;
    uint32_t number = 0;
    if (word.text[0] >= '0' && word.text[0] <= '9') {
        if (ptx_is_float(word)) {
            /* 0f00000000 as an integer pattern is still a literal that a move may carry */
            operand->symbol = word;
        } else if (ptx_integer(word, &value)) {
            operand->literals++;
            operand->literal = negative ? (int64_t)(0 - (uint64_t)value) : value;
        } else {
            body->odd = true;
        }
        return STATUS_OK;
    }
    if (word.length == 1 && word.text[0] == '_') {
        return STATUS_OK; /* a result nobody wants */
    }
    enum status status = ptx_find_register(body, word, &number);
    if (status != STATUS_OK) {
        return status;
    }
    if (number == 0) {
        operand->symbol = word;
        operand->special = word.text[0] == '%' ? special_of(word) : CODE_SPECIAL_NONE;
        return operand->special != CODE_SPECIAL_NONE ? STATUS_OK : use_symbol(body, word);
    }
    if (body->register_count == OPERAND_REGISTERS_MAX) {
        body->cut = true;
        return STATUS_OK;
    }
    body->registers[body->register_count++] = number;
    operand->count++;
    return STATUS_OK;
}

/* Brackets and signs. Returns false at what cannot stand in an operand. */
static bool take_mark(struct ptx_operand *operand, char c, uint32_t *nesting, bool *negative)
{
    switch (c) {
    case '[':
    case '{':
    case '(':
        if (*nesting == 0) {
            operand->kind = c == '[' ? OPERAND_ADDRESS : c == '{' ? OPERAND_VECTOR : OPERAND_GROUP;
        }
        ++*nesting;
        return true;
    case ']':
    case '}':
    case ')':
        if (*nesting == 0) {
            return false;
        }
        --*nesting;
        return true;
    case '-':
        *negative = !*negative;
        return true;
    case '+':
    case '!':
    case '|':
    case '~':
    case '=':
        return true;
    default:
        return false;
    }
}

/* From behind the mnemonic to behind the ';'. */
enum status ptx_read_operands(struct ptx_body *body)
{
    struct ptx_reader *reader = body->reader;
    body->operand_count = body->register_count = 0;
    body->odd = body->cut = false;
    struct ptx_operand *operand = NULL;
    uint32_t nesting = 0;
    bool negative = false, joined = true;
    for (;;) {
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            body->ended = true;
            return STATUS_OK;
        }
        const char c = *reader->at;
        if (c == ';') {
            reader->at++;
            return STATUS_OK;
        }
        if (operand == NULL) {
            operand = open_operand(body);
            joined = true;
        }
        const struct ptx_slice word = ptx_word(reader);
        if (word.length > 0) {
            body->odd |= !joined;
            const enum status status = take_word(body, operand, word, negative);
            if (status != STATUS_OK) {
                return status;
            }
            negative = false;
            joined = false;
        } else if (c == ',') {
            reader->at++;
            operand = nesting == 0 ? NULL : operand;
            joined = true;
            negative = false;
        } else if (take_mark(operand, c, &nesting, &negative)) {
            reader->at++;
            joined = true;
        } else if (c == '}') { /* the block ends without a ';' */
            body->odd = true;
            return STATUS_OK;
        } else {
            body->odd = true;
            reader->at++;
        }
    }
}
