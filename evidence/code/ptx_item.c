/* SPDX-License-Identifier: GPL-3.0-or-later
 * One PTX instruction: meaning, registers, literals, where its address points. */
#include <stdio.h>
#include <string.h>

#include "evidence/code/ptx_body_private.h"

/* ---- instructions ---------------------------------------------------------------------------------------------- */
static enum status push(struct ptx_body *body, uint32_t number, uint16_t *count, struct code_instruction *item)
{
    if (*count == CODE_OPERANDS_MAX) {
        item->operands_cut = true;
        return STATUS_OK;
    }
    uint32_t *pool = code_grown(body->pool, body->pool_count, 1, &body->pool_capacity, sizeof *pool);
    if (pool == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->pool = pool;
    pool[body->pool_count++] = number;
    ++*count;
    return STATUS_OK;
}

static enum status push_operand(struct ptx_body *body, const struct ptx_operand *operand, uint16_t *count,
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
static const struct ptx_operand *address_operand(const struct ptx_body *body, const struct ptx_meaning *meaning)
{
    uint32_t brackets = 0;
    const struct ptx_operand *first = NULL;
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

static bool is_written(const struct ptx_body *body, const struct ptx_meaning *meaning, uint32_t i)
{
    if (meaning->op == CODE_OP_CALL) {
        return i == 0 && body->operands[0].kind == OPERAND_GROUP && body->operand_count > 1;
    }
    return i < meaning->written && body->operands[i].kind != OPERAND_ADDRESS;
}

static enum status keep_registers(struct ptx_body *body, const struct ptx_meaning *meaning,
                                  struct code_instruction *item)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < body->operand_count && status == STATUS_OK; i++) {
        if (is_written(body, meaning, i)) {
            status = push_operand(body, &body->operands[i], &item->write_count, item);
        }
    }
    const struct ptx_operand *address = address_operand(body, meaning);
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
static void keep_immediate(const struct ptx_body *body, const struct ptx_mnemonic *mnemonic,
                           const struct ptx_meaning *meaning, struct code_instruction *item)
{
    const struct ptx_slice base = mnemonic->parts[0];
    const uint32_t first = meaning->written;
    if (!meaning->integer || first != 1 || body->operand_count < 2) {
        return;
    }
    const struct ptx_operand *left = &body->operands[1], *right = &body->operands[body->operand_count - 1];
    const bool left_register = left->kind == OPERAND_VALUE && left->count == 1;
    const bool left_literal = left->kind == OPERAND_VALUE && left->count == 0 && left->literals == 1;
    const bool right_register = right->kind == OPERAND_VALUE && right->count == 1;
    const bool right_literal = right->kind == OPERAND_VALUE && right->count == 0 && right->literals == 1;
    if (body->operand_count == 2 && ptx_slice_is(base, "mov")) {
        item->has_immediate = left_literal;
        item->immediate = left_literal ? left->literal : 0;
    } else if (body->operand_count == 4 && ptx_slice_is(base, "bfe")) {
        const struct ptx_operand *middle = &body->operands[2];
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

static void keep_literals(const struct ptx_body *body, const struct ptx_meaning *meaning, struct code_instruction *item)
{
    item->depth = -1;
    if (meaning->wants_size && body->operand_count > 2 && body->operands[2].kind == OPERAND_VALUE &&
        body->operands[2].literals == 1) {
        item->lane_bytes = clamp_size(body->operands[2].literal);
    }
    const struct ptx_operand *last = body->operand_count == 0 ? NULL : &body->operands[body->operand_count - 1];
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
static void settle_space(const struct ptx_body *body, const struct ptx_meaning *meaning, struct code_instruction *item)
{
    const struct ptx_operand *address = address_operand(body, meaning);
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
static void track_space(struct ptx_body *body, const struct ptx_mnemonic *mnemonic, const struct code_instruction *item)
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

static enum status keep_branch(struct ptx_body *body, const struct code_instruction *item)
{
    const struct ptx_operand *last = body->operand_count == 0 ? NULL : &body->operands[body->operand_count - 1];
    if (last == NULL || last->symbol.length == 0) {
        return STATUS_OK;
    }
    struct ptx_pending *pending =
        code_grown(body->pending, body->pending_count, 1, &body->pending_capacity, sizeof *pending);
    if (pending == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->pending = pending;
    pending[body->pending_count++] = (struct ptx_pending){body->count, last->symbol, item->line, body->depth};
    return STATUS_OK;
}

static void keep_parameter(const struct ptx_body *body, const struct ptx_meaning *meaning,
                           struct code_instruction *item)
{
    const struct ptx_operand *address = address_operand(body, meaning);
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

static void fill_from_meaning(const struct ptx_body *body, const struct ptx_mnemonic *mnemonic,
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
enum status ptx_read_item(struct ptx_body *body, struct ptx_slice word, uint32_t line, uint32_t guard,
                          bool guard_negated)
{
    const enum status status = ptx_read_operands(body);
    if (status != STATUS_OK || body->ended) {
        return status;
    }
    if (body->reader->file->instruction_count + body->count >= PTX_INSTRUCTIONS_MAX) {
        body->listing->truncated = true;
        (void)snprintf(body->listing->note, sizeof body->listing->note,
                       "only the first %d instructions of the file were read", PTX_INSTRUCTIONS_MAX);
        return STATUS_OK;
    }
    struct code_instruction *items = code_grown(body->items, body->count, 2, &body->capacity, sizeof *items);
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
