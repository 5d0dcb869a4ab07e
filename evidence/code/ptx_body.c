/* SPDX-License-Identifier: GPL-3.0-or-later
 * Statements of one PTX kernel: scopes, labels, directives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/code/ptx_body_private.h"

/* ---- labels and scopes ----------------------------------------------------------------------------------------- */
/* Labels of the list become targets of the branch. */
static enum status resolve_list(struct ptx_body *body, const struct ptx_pending *branch, struct ptx_target_list *list)
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
static enum status resolve(struct ptx_body *body)
{
    size_t first = body->pending_count, kept;
    while (first > 0 && body->pending[first - 1].depth == body->depth) {
        first--;
    }
    kept = first;
    for (size_t i = first; i < body->pending_count; i++) {
        struct ptx_pending branch = body->pending[i];
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

static enum status close_scope(struct ptx_body *body)
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
static enum status read_targets(struct ptx_body *body)
{
    struct ptx_reader *reader = body->reader;
    struct ptx_target_list list = {body->target_name_count, 0, NULL};
    for (;;) {
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            body->ended = true;
            return STATUS_OK;
        }
        const struct ptx_slice word = ptx_word(reader);
        if (word.length > 0) {
            struct ptx_slice *names =
                code_grown(body->target_names, body->target_name_count, 1, &body->target_name_capacity, sizeof *names);
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
    struct ptx_target_list *lists = code_grown(body->lists, body->list_count, 1, &body->list_capacity, sizeof *lists);
    if (lists == NULL) {
        return STATUS_NO_MEMORY;
    }
    body->lists = lists;
    lists[body->list_count++] = list;
    return ptx_names_bind(body->names, PTX_NAME_TARGETS, body->last_label, body->depth, body->list_count - 1);
}

/* A directive inside a body, from behind its word. */
static enum status read_directive(struct ptx_body *body, struct ptx_slice word)
{
    struct ptx_reader *reader = body->reader;
    if (ptx_slice_is(word, ".reg")) {
        return ptx_declare_registers(body);
    }
    if (ptx_slice_is(word, ".shared")) {
        return ptx_read_variables(reader, body, ptx_take_shared, &body->ended);
    }
    if (ptx_slice_is(word, ".local")) {
        return ptx_read_variables(reader, body, ptx_take_local, &body->ended);
    }
    if (ptx_slice_is(word, ".param") || ptx_slice_is(word, ".global") || ptx_slice_is(word, ".const")) {
        return ptx_read_variables(reader, body, ptx_take_other, &body->ended);
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
static enum status read_guard(struct ptx_body *body, uint32_t *guard, bool *negated)
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
    enum status status = ptx_find_register(body, word, guard);
    if (status == STATUS_OK && *guard == 0) {
        status = ptx_new_register(body, word, body->depth, guard);
    }
    ptx_skip_space(reader);
    return status;
}

/* Label, instruction or directive. */
static enum status read_statement(struct ptx_body *body)
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
    return ptx_read_item(body, word, line, guard, negated);
}

static enum status read_statements(struct ptx_body *body)
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
static void end_with_return(struct ptx_body *body)
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
    if (wanted) { /* there is room for one more: see ptx_read_item */
        struct code_instruction *item = &body->items[body->count++];
        memset(item, 0, sizeof *item);
        *item = (struct code_instruction){
            .op = CODE_OP_EXIT, .line = body->reader->line, .depth = -1, .target = CODE_NO_TARGET, .mnemonic = "ret"};
    }
}

/* Everything into the arena, pointers set. */
static enum status store_listing(struct ptx_body *body)
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
    struct ptx_body *body = calloc(1, sizeof *body);
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
