/* SPDX-License-Identifier: GPL-3.0-or-later
 * Statements of one PTX kernel: scopes, labels, operands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/arena.h"
#include "evidence/code/ptx_instruction.h"
#include "evidence/code/ptx_reader.h"

enum {
    OPERANDS_MAX = 24,
    OPERAND_REGISTERS_MAX = 600
};

enum operand_kind {
    OPERAND_VALUE,
    OPERAND_ADDRESS, /* [...] */
    OPERAND_VECTOR,  /* {...} */
    OPERAND_GROUP    /* (...) of a call */
};

struct operand {
    enum operand_kind kind;
    uint32_t first, count;    /* of `registers` */
    uint32_t words, literals; /* integer literals */
    int64_t literal;          /* the last */
    struct ptx_slice symbol;  /* the last word that is neither register nor literal */
    enum code_special special;
};

/* What a generic address in a register is known to point to. */
enum address_space {
    SPACE_UNKNOWN,
    SPACE_SHARED,
    SPACE_LOCAL
};

/* A branch whose label has not been met in its scope yet. */
struct pending {
    size_t instruction;
    struct ptx_slice label;
    uint32_t line, depth;
};

struct target_list {
    size_t first, count; /* of `target_names` */
    size_t *targets;     /* once a branch asked for them; in the arena */
};

struct body {
    struct ptx_reader *reader;
    struct ptx_names *names;
    struct code_listing *listing;
    struct code_instruction *items;
    size_t count, capacity;
    uint32_t *pool; /* per instruction its writes, then its reads */
    size_t pool_count, pool_capacity;
    unsigned char *spaces; /* by register */
    size_t space_capacity;
    struct pending *pending;
    size_t pending_count, pending_capacity;
    struct ptx_slice *target_names;
    size_t target_name_count, target_name_capacity;
    struct target_list *lists;
    size_t list_count, list_capacity;
    uint32_t depth, inner_ranges;
    struct ptx_slice last_label;
    bool ended; /* the text is over */
    /* the statement at hand */
    struct operand operands[OPERANDS_MAX];
    uint32_t operand_count;
    uint32_t registers[OPERAND_REGISTERS_MAX];
    uint32_t register_count;
    bool odd, cut; /* not as the grammar has it; more operands than are kept */
};

/* The array with room for `more`, or NULL and the array as it was. */
static void *grown(void *array, size_t count, size_t more, size_t *capacity, size_t size)
{
    if (*capacity - count >= more && array != NULL) {
        return array;
    }
    size_t wanted = *capacity == 0 ? 256 : *capacity * 2;
    while (wanted - count < more) {
        wanted *= 2;
    }
    void *larger = realloc(array, wanted * size);
    if (larger != NULL) {
        *capacity = wanted;
    }
    return larger;
}

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

static enum status new_register(struct body *body, struct ptx_slice name, uint32_t depth, uint32_t *number)
{
    *number = ++body->listing->register_count;
    unsigned char *spaces = grown(body->spaces, *number, 1, &body->space_capacity, 1);
    if (spaces == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->spaces = spaces;
    spaces[*number] = SPACE_UNKNOWN;
    return ptx_names_bind(body->names, PTX_NAME_REGISTER, name, depth, *number);
}

/* 0 if the word is no register. */
static enum status find_register(struct body *body, struct ptx_slice word, uint32_t *number)
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
    return new_register(body, word, range == NULL ? 0 : range->depth, number);
}

/* From behind ".reg": .b32 %r<10>, a, b; */
static enum status declare_registers(struct body *body)
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
            status = new_register(body, word, body->depth, &number);
        }
        if (status != STATUS_OK || body->ended) {
            return status;
        }
    }
}

static enum status take_shared(void *user, struct ptx_slice name, uint64_t bytes)
{
    struct body *body = user;
    if (__builtin_add_overflow(body->listing->static_smem_bytes, bytes, &body->listing->static_smem_bytes)) {
        return ptx_fail(body->reader, STATUS_BAD_DATA, "shared memory beyond all bounds", name);
    }
    return ptx_names_bind(body->names, PTX_NAME_VARIABLE, name, body->depth, 1);
}

static enum status take_local(void *user, struct ptx_slice name, uint64_t bytes)
{
    struct body *body = user;
    if (__builtin_add_overflow(body->listing->local_bytes, bytes, &body->listing->local_bytes)) {
        return ptx_fail(body->reader, STATUS_BAD_DATA, "local memory beyond all bounds", name);
    }
    return ptx_names_bind(body->names, PTX_NAME_VARIABLE, name, body->depth, 1);
}

static enum status take_other(void *user, struct ptx_slice name, uint64_t bytes)
{
    struct body *body = user;
    (void)bytes;
    return ptx_names_bind(body->names, PTX_NAME_VARIABLE, name, body->depth, 1);
}

/* A variable of the module counts once for each kernel that names it. */
static enum status use_symbol(struct body *body, struct ptx_slice name)
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
static struct operand *open_operand(struct body *body)
{
    if (body->operand_count == OPERANDS_MAX) {
        body->cut = true;
        body->operand_count--;
    }
    struct operand *operand = &body->operands[body->operand_count++];
    memset(operand, 0, sizeof *operand);
    operand->first = body->register_count;
    return operand;
}

static enum status take_word(struct body *body, struct operand *operand, struct ptx_slice word, bool negative)
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
    enum status status = find_register(body, word, &number);
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
static bool take_mark(struct operand *operand, char c, uint32_t *nesting, bool *negative)
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
static enum status read_operands(struct body *body)
{
    struct ptx_reader *reader = body->reader;
    body->operand_count = body->register_count = 0;
    body->odd = body->cut = false;
    struct operand *operand = NULL;
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

/* ---- instructions ---------------------------------------------------------------------------------------------- */
static enum status push(struct body *body, uint32_t number, uint16_t *count, struct code_instruction *item)
{
    if (*count == CODE_OPERANDS_MAX) {
        item->operands_cut = true;
        return STATUS_OK;
    }
    uint32_t *pool = grown(body->pool, body->pool_count, 1, &body->pool_capacity, sizeof *pool);
    if (pool == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->pool = pool;
    pool[body->pool_count++] = number;
    ++*count;
    return STATUS_OK;
}

static enum status push_operand(struct body *body, const struct operand *operand, uint16_t *count,
                                struct code_instruction *item)
{
    for (uint32_t i = 0; i < operand->count; i++) {
        const enum status status = push(body, body->registers[operand->first + i], count, item);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

/* The bracket that holds the global address, NULL if there is none. */
static const struct operand *address_operand(const struct body *body, const struct ptx_meaning *meaning)
{
    uint32_t brackets = 0;
    const struct operand *first = NULL;
    for (uint32_t i = 0; i < body->operand_count; i++) {
        if (body->operands[i].kind != OPERAND_ADDRESS) {
            continue;
        }
        first = first == NULL ? &body->operands[i] : first;
        if (brackets++ == meaning->source_address) {
            return &body->operands[i];
        }
    }
    return first;
}

static bool is_written(const struct body *body, const struct ptx_meaning *meaning, uint32_t i)
{
    if (meaning->op == CODE_OP_CALL) {
        return i == 0 && body->operands[0].kind == OPERAND_GROUP && body->operand_count > 1;
    }
    return i < meaning->written && body->operands[i].kind != OPERAND_ADDRESS;
}

static enum status keep_registers(struct body *body, const struct ptx_meaning *meaning, struct code_instruction *item)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < body->operand_count && status == STATUS_OK; i++) {
        if (is_written(body, meaning, i)) {
            status = push_operand(body, &body->operands[i], &item->write_count, item);
        }
    }
    const struct operand *address = address_operand(body, meaning);
    if (address != NULL && status == STATUS_OK) {
        status = push_operand(body, address, &item->read_count, item);
        item->address_count = item->read_count;
        item->has_address_offset = address->count == 1 && address->literals <= 1 && address->symbol.length == 0;
        item->address_offset = item->has_address_offset ? address->literal : 0;
    }
    for (uint32_t i = 0; i < body->operand_count && status == STATUS_OK; i++) {
        const bool read = !is_written(body, meaning, i) || (i == 0 && meaning->first_also_read);
        if (read && &body->operands[i] != address) {
            status = push_operand(body, &body->operands[i], &item->read_count, item);
        }
    }
    if (status == STATUS_OK && item->guard != 0) {
        status = push(body, item->guard, &item->read_count, item);
    }
    return status;
}

/* The literal of an integer operation with one register and one literal; see code_listing.h. */
static void keep_immediate(const struct body *body, const struct ptx_mnemonic *mnemonic,
                           const struct ptx_meaning *meaning, struct code_instruction *item)
{
    const struct ptx_slice base = mnemonic->parts[0];
    const uint32_t first = meaning->written;
    if (!meaning->integer || first != 1 || body->operand_count < 2) {
        return;
    }
    const struct operand *left = &body->operands[1], *right = &body->operands[body->operand_count - 1];
    const bool left_register = left->kind == OPERAND_VALUE && left->count == 1;
    const bool left_literal = left->kind == OPERAND_VALUE && left->count == 0 && left->literals == 1;
    const bool right_register = right->kind == OPERAND_VALUE && right->count == 1;
    const bool right_literal = right->kind == OPERAND_VALUE && right->count == 0 && right->literals == 1;
    if (body->operand_count == 2 && ptx_slice_is(base, "mov")) {
        item->has_immediate = left_literal;
        item->immediate = left_literal ? left->literal : 0;
    } else if (body->operand_count == 4 && ptx_slice_is(base, "bfe")) {
        const struct operand *middle = &body->operands[2];
        item->has_immediate = left_register && right_literal && middle->count == 0 && middle->literals == 1;
        item->immediate =
            item->has_immediate ? (int64_t)((uint64_t)right->literal << 32 | (uint32_t)middle->literal) : 0;
    } else if (body->operand_count == 3 && left_register && right_literal) {
        item->has_immediate = true;
        item->immediate = ptx_slice_is(base, "sub") ? (int64_t)(0 - (uint64_t)right->literal) : right->literal;
    } else if (body->operand_count == 3 && left_literal && right_register) {
        static const char *const commute[] = {"add", "mul", "and", "or", "xor", "min", "max"};
        for (size_t i = 0; i < sizeof commute / sizeof *commute; i++) {
            item->has_immediate |= ptx_slice_is(base, commute[i]);
        }
        item->immediate = item->has_immediate ? left->literal : 0;
    }
}

static uint32_t clamp_size(int64_t value)
{
    return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void keep_literals(const struct body *body, const struct ptx_meaning *meaning, struct code_instruction *item)
{
    item->depth = -1;
    if (meaning->wants_size && body->operand_count > 2 && body->operands[2].kind == OPERAND_VALUE &&
        body->operands[2].literals == 1) {
        item->lane_bytes = clamp_size(body->operands[2].literal);
    }
    const struct operand *last = body->operand_count == 0 ? NULL : &body->operands[body->operand_count - 1];
    if (meaning->wants_transaction && last != NULL && last->kind == OPERAND_VALUE && last->literals == 1) {
        item->lane_bytes = clamp_size(last->literal);
    }
    if (meaning->wants_depth) {
        item->depth = last == NULL                                                        ? 0
                      : last->literals == 1 && last->literal >= 0 && last->literal <= 255 ? (int32_t)last->literal
                                                                                          : -1;
    }
}

/* Memory operations without a named space: what the address register is known to be. */
static void settle_space(const struct body *body, const struct ptx_meaning *meaning, struct code_instruction *item)
{
    const struct operand *address = address_operand(body, meaning);
    if (!meaning->generic || address == NULL || address->count != 1) {
        return;
    }
    const bool is_load = item->op == CODE_OP_GLOBAL_LOAD;
    switch (body->spaces[body->registers[address->first]]) {
    case SPACE_SHARED:
        item->op = is_load ? CODE_OP_SHARED_LOAD : CODE_OP_SHARED_STORE;
        break;
    case SPACE_LOCAL:
        item->op = is_load ? CODE_OP_LOCAL_LOAD : CODE_OP_LOCAL_STORE;
        break;
    default:
        break;
    }
}

/* What the written register points to, if it is an address. */
static void track_space(struct body *body, const struct ptx_mnemonic *mnemonic, const struct code_instruction *item)
{
    if (item->write_count != 1 || (item->op != CODE_OP_MOVE && item->op != CODE_OP_INTEGER)) {
        return;
    }
    unsigned char space = SPACE_UNKNOWN;
    const bool convert = ptx_slice_is(mnemonic->parts[0], "cvta") && mnemonic->count > 1;
    if (convert) {
        space = ptx_slice_starts(mnemonic->parts[1], "shared")  ? SPACE_SHARED
                : ptx_slice_starts(mnemonic->parts[1], "local") ? SPACE_LOCAL
                                                                : SPACE_UNKNOWN;
    } else {
        for (uint32_t i = 0; i < body->register_count; i++) {
            const unsigned char other = body->spaces[body->registers[i]];
            const bool is_result = body->registers[i] == body->pool[body->pool_count - item->read_count - 1] && i == 0;
            space = !is_result && other > space ? other : space;
        }
    }
    body->spaces[body->pool[body->pool_count - item->read_count - 1]] = space;
}

static enum status keep_branch(struct body *body, const struct code_instruction *item)
{
    const struct operand *last = body->operand_count == 0 ? NULL : &body->operands[body->operand_count - 1];
    if (last == NULL || last->symbol.length == 0) {
        return STATUS_OK;
    }
    struct pending *pending = grown(body->pending, body->pending_count, 1, &body->pending_capacity, sizeof *pending);
    if (pending == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->pending = pending;
    pending[body->pending_count++] = (struct pending){body->count, last->symbol, item->line, body->depth};
    return STATUS_OK;
}

static void keep_parameter(const struct body *body, const struct ptx_meaning *meaning, struct code_instruction *item)
{
    const struct operand *address = address_operand(body, meaning);
    if (!meaning->is_parameter_load || address == NULL) {
        return;
    }
    const struct ptx_binding *parameter = ptx_names_find(body->names, PTX_NAME_PARAMETER, address->symbol);
    if (address->symbol.length > 0 && parameter != NULL) {
        item->parameter = (uint32_t)parameter->value + 1;
    } else if (address->count == 0) {
        item->op = CODE_OP_MOVE; /* the result of a call */
        item->lane_bytes = 0;
    }
}

static void fill_from_meaning(const struct body *body, const struct ptx_mnemonic *mnemonic,
                              const struct ptx_meaning *meaning, struct code_instruction *item)
{
    item->op = meaning->op;
    item->lane_bytes = meaning->lane_bytes;
    item->elements = meaning->elements;
    item->m = meaning->m;
    item->n = meaning->n;
    item->k = meaning->k;
    item->to_global = meaning->to_global;
    item->on_shared = meaning->on_shared;
    item->target = CODE_NO_TARGET;
    memcpy(item->format, meaning->format, sizeof item->format);
    const size_t length =
        mnemonic->whole.length < sizeof item->mnemonic ? mnemonic->whole.length : sizeof item->mnemonic - 1;
    memcpy(item->mnemonic, mnemonic->whole.text, length);
    if (item->op == CODE_OP_MOVE && body->operand_count == 2) {
        item->special = body->operands[1].special;
    }
    item->predicated = item->guard != 0;
    item->conditional = item->predicated && (item->op == CODE_OP_BRANCH || item->op == CODE_OP_EXIT);
}

/* One instruction, from behind its guard. */
static enum status read_instruction(struct body *body, struct ptx_slice word, uint32_t line, uint32_t guard,
                                    bool guard_negated)
{
    const enum status status = read_operands(body);
    if (status != STATUS_OK || body->ended) {
        return status;
    }
    if (body->reader->file->instruction_count + body->count >= PTX_INSTRUCTIONS_MAX) {
        body->listing->truncated = true;
        (void)snprintf(body->listing->note, sizeof body->listing->note,
                       "only the first %d instructions of the file were read", PTX_INSTRUCTIONS_MAX);
        return STATUS_OK;
    }
    struct code_instruction *items = grown(body->items, body->count, 2, &body->capacity, sizeof *items);
    if (items == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->items = items;
    struct code_instruction *item = &items[body->count];
    memset(item, 0, sizeof *item);
    struct ptx_mnemonic mnemonic;
    struct ptx_meaning meaning;
    ptx_mnemonic_split(word, &mnemonic);
    ptx_meaning_of(&mnemonic, &meaning);
    item->line = line;
    item->guard = guard;
    item->guard_negated = guard_negated;
    item->operands_cut = body->cut;
    fill_from_meaning(body, &mnemonic, &meaning, item);
    keep_literals(body, &meaning, item);
    if (meaning.lane_bytes > 0) {
        item->lane_bytes = meaning.lane_bytes;
    }
    settle_space(body, &meaning, item);
    keep_parameter(body, &meaning, item);
    keep_immediate(body, &mnemonic, &meaning, item);
    body->listing->unknown_count += !meaning.known || body->odd;
    enum status kept = keep_registers(body, &meaning, item);
    if (kept == STATUS_OK && item->op == CODE_OP_BRANCH) {
        kept = keep_branch(body, item);
    }
    if (kept == STATUS_OK) {
        track_space(body, &mnemonic, item);
        body->count++;
    }
    return kept;
}

/* ---- labels and scopes ----------------------------------------------------------------------------------------- */
/* Labels of the list become targets of the branch. */
static enum status resolve_list(struct body *body, const struct pending *branch, struct target_list *list)
{
    struct code_instruction *item = &body->items[branch->instruction];
    if (list->count == 0 || list->count > UINT32_MAX) {
        return STATUS_OK;
    }
    if (list->targets == NULL) {
        size_t *targets = arena_allocate(body->listing->arena, list->count, sizeof *targets);
        if (targets == NULL) {
            return STATUS_NO_MEMORY;
        }
        for (size_t i = 0; i < list->count; i++) {
            const struct ptx_binding *label =
                ptx_names_find(body->names, PTX_NAME_LABEL, body->target_names[list->first + i]);
            targets[i] = label == NULL ? CODE_NO_TARGET : (size_t)label->value;
        }
        list->targets = targets;
    }
    item->target = list->targets[0];
    item->more_targets = list->targets + 1;
    item->more_target_count = (uint32_t)(list->count - 1);
    return STATUS_OK;
}

/* Branches of the scope that ends go to its labels; the others wait for the scope around it. */
static enum status resolve(struct body *body)
{
    size_t first = body->pending_count, kept;
    while (first > 0 && body->pending[first - 1].depth == body->depth) {
        first--;
    }
    kept = first;
    for (size_t i = first; i < body->pending_count; i++) {
        struct pending branch = body->pending[i];
        const struct ptx_binding *label = ptx_names_find(body->names, PTX_NAME_LABEL, branch.label);
        const struct ptx_binding *list = ptx_names_find(body->names, PTX_NAME_TARGETS, branch.label);
        if (list != NULL && list->depth == body->depth) {
            const enum status status = resolve_list(body, &branch, &body->lists[list->value]);
            if (status != STATUS_OK) {
                return status;
            }
        } else if (label != NULL && label->depth == body->depth) {
            body->items[branch.instruction].target = (size_t)label->value;
        } else if (body->depth == 0 && !body->ended && !body->listing->truncated) {
            body->reader->line = branch.line;
            return ptx_fail(body->reader, STATUS_BAD_DATA, "a branch to a label that is nowhere", branch.label);
        } else if (body->depth > 0) {
            branch.depth--;
            body->pending[kept++] = branch;
        }
    }
    body->pending_count = kept;
    return STATUS_OK;
}

static enum status close_scope(struct body *body)
{
    const enum status status = resolve(body);
    if (status != STATUS_OK || body->depth == 0) {
        return status;
    }
    ptx_names_close(body->names, body->depth);
    body->depth--;
    if (body->depth == 0) {
        body->inner_ranges = 0;
    }
    return STATUS_OK;
}

/* From behind ".branchtargets": names up to the ';'. The label before it names the list. */
static enum status read_targets(struct body *body)
{
    struct ptx_reader *reader = body->reader;
    struct target_list list = {body->target_name_count, 0, NULL};
    for (;;) {
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            body->ended = true;
            return STATUS_OK;
        }
        const struct ptx_slice word = ptx_word(reader);
        if (word.length > 0) {
            struct ptx_slice *names =
                grown(body->target_names, body->target_name_count, 1, &body->target_name_capacity, sizeof *names);
            if (names == NULL) {
                return STATUS_NO_MEMORY;
            }
            body->target_names = names;
            names[body->target_name_count++] = word;
            list.count++;
        } else if (*reader->at++ == ';') {
            break;
        }
    }
    struct target_list *lists = grown(body->lists, body->list_count, 1, &body->list_capacity, sizeof *lists);
    if (lists == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->lists = lists;
    lists[body->list_count++] = list;
    return ptx_names_bind(body->names, PTX_NAME_TARGETS, body->last_label, body->depth, body->list_count - 1);
}

/* A directive inside a body, from behind its word. */
static enum status read_directive(struct body *body, struct ptx_slice word)
{
    struct ptx_reader *reader = body->reader;
    if (ptx_slice_is(word, ".reg")) {
        return declare_registers(body);
    }
    if (ptx_slice_is(word, ".shared")) {
        return ptx_read_variables(reader, body, take_shared, &body->ended);
    }
    if (ptx_slice_is(word, ".local")) {
        return ptx_read_variables(reader, body, take_local, &body->ended);
    }
    if (ptx_slice_is(word, ".param") || ptx_slice_is(word, ".global") || ptx_slice_is(word, ".const")) {
        return ptx_read_variables(reader, body, take_other, &body->ended);
    }
    if (ptx_slice_is(word, ".branchtargets")) {
        return read_targets(body);
    }
    if (ptx_slice_is(word, ".extern") || ptx_slice_is(word, ".visible")) {
        return STATUS_OK; /* the variable follows */
    }
    if (ptx_slice_is(word, ".loc") || ptx_slice_is(word, ".file")) {
        ptx_skip_line(reader);
        return STATUS_OK;
    }
    if (ptx_slice_is(word, ".section")) {
        body->ended = !ptx_skip_to(reader, '{') || (reader->at--, !ptx_skip_braces(reader));
        return STATUS_OK;
    }
    body->ended = !ptx_skip_to(reader, ';'); /* .pragma, .callprototype, .calltargets */
    return STATUS_OK;
}

/* '@' and what follows it. */
static enum status read_guard(struct body *body, uint32_t *guard, bool *negated)
{
    struct ptx_reader *reader = body->reader;
    reader->at++;
    ptx_skip_space(reader);
    *negated = ptx_peek(reader) == '!';
    reader->at += *negated;
    ptx_skip_space(reader);
    const struct ptx_slice word = ptx_word(reader);
    if (reader->at >= reader->end) {
        body->ended = true;
        return STATUS_OK;
    }
    if (word.length == 0) {
        return ptx_fail(reader, STATUS_BAD_DATA, "no predicate behind '@'", word);
    }
    enum status status = find_register(body, word, guard);
    if (status == STATUS_OK && *guard == 0) {
        status = new_register(body, word, body->depth, guard);
    }
    ptx_skip_space(reader);
    return status;
}

/* Label, instruction or directive. */
static enum status read_statement(struct body *body)
{
    struct ptx_reader *reader = body->reader;
    uint32_t guard = 0;
    bool negated = false;
    const uint32_t line = reader->line;
    if (ptx_peek(reader) == '@') {
        const enum status status = read_guard(body, &guard, &negated);
        if (status != STATUS_OK || body->ended) {
            return status;
        }
    }
    const struct ptx_slice word = ptx_word(reader);
    if (word.length == 0) {
        body->listing->unknown_count++;
        body->ended = !ptx_skip_to(reader, ';');
        return STATUS_OK;
    }
    if (word.text[0] == '.') {
        return read_directive(body, word);
    }
    ptx_skip_space(reader);
    if (ptx_peek(reader) == ':' && guard == 0) {
        reader->at++;
        body->last_label = word;
        return ptx_names_bind(body->names, PTX_NAME_LABEL, word, body->depth, body->count);
    }
    return read_instruction(body, word, line, guard, negated);
}

static enum status read_statements(struct body *body)
{
    struct ptx_reader *reader = body->reader;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !body->ended) {
        ptx_skip_space(reader);
        const char c = ptx_peek(reader);
        if (reader->at >= reader->end) {
            body->ended = true;
        } else if (c == '{') {
            reader->at++;
            if (++body->depth >= PTX_SCOPES_MAX) {
                return ptx_fail(reader, STATUS_LIMIT, "braces nested too deep", (struct ptx_slice){"", 0});
            }
        } else if (c == '}') {
            reader->at++;
            const bool last = body->depth == 0;
            status = close_scope(body);
            if (last) {
                return status;
            }
        } else if (c == ';') {
            reader->at++;
        } else {
            status = read_statement(body);
        }
    }
    while (status == STATUS_OK && body->depth > 0) { /* cut: what can be resolved is */
        status = close_scope(body);
    }
    return status == STATUS_OK ? resolve(body) : status;
}

/* A branch to the very end, or no return before it: the implicit return. */
static void end_with_return(struct body *body)
{
    const struct code_instruction *last = body->count == 0 ? NULL : &body->items[body->count - 1];
    bool wanted =
        last != NULL && !body->ended && (last->op == CODE_OP_BRANCH ? last->conditional : last->op != CODE_OP_EXIT);
    for (size_t i = 0; i < body->count && !wanted; i++) {
        wanted = body->items[i].target == body->count;
    }
    for (size_t i = 0; i < body->list_count && !wanted; i++) {
        for (size_t j = 0; body->lists[i].targets != NULL && j < body->lists[i].count; j++) {
            wanted |= body->lists[i].targets[j] == body->count;
        }
    }
    if (wanted) { /* there is room for one more: see read_instruction */
        struct code_instruction *item = &body->items[body->count++];
        memset(item, 0, sizeof *item);
        *item = (struct code_instruction){
            .op = CODE_OP_EXIT, .line = body->reader->line, .depth = -1, .target = CODE_NO_TARGET, .mnemonic = "ret"};
    }
}

/* Everything into the arena, pointers set. */
static enum status store_listing(struct body *body)
{
    struct code_listing *listing = body->listing;
    end_with_return(body);
    listing->count = body->count;
    if (body->count == 0) {
        return STATUS_OK;
    }
    uint32_t *pool = arena_allocate(listing->arena, body->pool_count + 1, sizeof *pool);
    listing->items = arena_allocate(listing->arena, body->count, sizeof *listing->items);
    if (pool == NULL || listing->items == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (body->pool_count > 0) {
        memcpy(pool, body->pool, body->pool_count * sizeof *pool);
    }
    memcpy(listing->items, body->items, body->count * sizeof *listing->items);
    for (size_t i = 0; i < body->count; i++) {
        struct code_instruction *item = &listing->items[i];
        item->writes = pool;
        item->reads = item->addresses = pool + item->write_count;
        pool += item->write_count + item->read_count;
    }
    return STATUS_OK;
}

enum status ptx_read_body(struct ptx_reader *reader, struct ptx_names *names, struct code_listing *listing)
{
    struct body *body = calloc(1, sizeof *body);
    if (body == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->reader = reader;
    body->names = names;
    body->listing = listing;
    enum status status = read_statements(body);
    if (status == STATUS_OK && body->ended) {
        reader->file->truncated = listing->truncated = true;
        (void)snprintf(listing->note, sizeof listing->note, "the text ends inside the kernel, line %u", reader->line);
    }
    if (status == STATUS_OK) {
        status = store_listing(body);
        reader->file->instruction_count += body->count;
    }
    free(body->items);
    free(body->pool);
    free(body->spaces);
    free(body->pending);
    free(body->target_names);
    free(body->lists);
    free(body);
    return status;
}
