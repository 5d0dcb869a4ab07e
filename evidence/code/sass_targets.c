/* SPDX-License-Identifier: GPL-3.0-or-later
 * Labels and addresses of a complete function of SASS: where its branches go. */
#include <stdlib.h>
#include <string.h>

#include "evidence/code/sass_listing_private.h"

static int compare_slices(struct sass_slice a, struct sass_slice b)
{
    const int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_labels(const void *a, const void *b)
{
    return compare_slices(((const struct sass_label *)a)->name, ((const struct sass_label *)b)->name);
}

static size_t find_label(const struct sass_builder *function, struct sass_slice name)
{
    const struct sass_label wanted = {.name = name};
    const struct sass_label *label =
        function->label_count == 0
            ? NULL
            : bsearch(&wanted, function->labels, function->label_count, sizeof wanted, compare_labels);
    return label == NULL || label->index >= function->listing.count ? CODE_NO_TARGET : label->index;
}

static size_t find_address(const struct sass_builder *function, int64_t address)
{
    size_t low = 0, high = function->listing.count;
    while (address >= 0 && low < high) {
        const size_t middle = low + (high - low) / 2;
        if (function->places[middle].address == (uint64_t)address) {
            return middle;
        }
        if (function->places[middle].address < (uint64_t)address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return CODE_NO_TARGET;
}

static size_t find_target(const struct sass_builder *function, struct sass_slice name)
{
    int64_t address;
    return sass_number(name, &address) ? find_address(function, address) : find_label(function, name);
}

/* The target that the operands name; CODE_NO_TARGET if it is not in the function. */
static size_t named_target(const struct sass_builder *function, size_t index)
{
    struct sass_operands operands;
    size_t target = CODE_NO_TARGET;
    sass_operands_read(function->places[index].operands, &operands);
    for (uint32_t i = 0; i < operands.count; i++) {
        const struct sass_operand *operand = &operands.items[i];
        if (operand->kind == SASS_OPERAND_LABEL) {
            target = find_label(function, operand->label);
        } else if (operand->kind == SASS_OPERAND_LITERAL && operand->has_literal) {
            target = find_address(function, operand->literal);
        }
    }
    return target;
}

static void resolve_direct(struct sass_builder *function, size_t index)
{
    struct code_instruction *item = &function->listing.items[index];
    item->target = named_target(function, index);
    if (item->target == CODE_NO_TARGET) {
        sass_mark(&function->listing, "the branch of line %u goes to a place that is not in the text", item->line);
    }
}

/* BRX R2 -0x1d0 (*"BRANCH_TARGETS .L_x_3,.L_x_4"*): the list behind the word, else nothing is known. */
static enum status resolve_list(struct sass_reader *reader, size_t index)
{
    struct sass_builder *function = &reader->function;
    struct code_instruction *item = &function->listing.items[index];
    static const char word[] = "BRANCH_TARGETS";
    struct sass_slice text = function->places[index].operands;
    while (text.length >= sizeof word - 1 && !sass_slice_starts(text, word)) {
        text.text++;
        text.length--;
    }
    if (text.length < sizeof word - 1) {
        return STATUS_OK;
    }
    text = (struct sass_slice){text.text + sizeof word - 1, text.length - (sizeof word - 1)};
    const char *close = memchr(text.text, '"', text.length);
    text.length = close != NULL ? (size_t)(close - text.text) : text.length;
    size_t count = 1, found = 0, start = 0;
    for (size_t i = 0; i < text.length; i++) {
        count += text.text[i] == ',';
    }
    size_t *targets = arena_allocate(function->listing.arena, count, sizeof *targets);
    if (targets == NULL) {
        return sass_no_memory(reader);
    }
    for (size_t i = 0; i <= text.length; i++) {
        if (i == text.length || text.text[i] == ',') {
            const size_t target =
                find_target(function, sass_slice_trim((struct sass_slice){text.text + start, i - start}));
            if (target == CODE_NO_TARGET) {
                sass_mark(&function->listing, "the branch of line %u goes to a place that is not in the text",
                          item->line);
            } else {
                targets[found++] = target;
            }
            start = i + 1;
        }
    }
    if (found > 0) {
        item->target = targets[0];
        item->more_targets = targets + 1;
        item->more_target_count = (uint32_t)(found - 1);
    }
    return STATUS_OK;
}

/* --- calls that do not come back ------------------------------------------------------------------------------------
 */

static bool falls_through(const struct code_instruction *item)
{
    return !(item->op == CODE_OP_BRANCH || item->op == CODE_OP_EXIT) || item->conditional;
}

/* Chains of instructions that branch to the same one: first[target], next[source]; index + 1, 0 ends. */
struct branch_chains {
    size_t *first, *next;
};

static void reach_backwards(const struct code_listing *listing, const struct branch_chains *chains, bool *reaches,
                            size_t *work, size_t count)
{
    while (count > 0) {
        const size_t at = work[--count];
        if (at > 0 && !reaches[at - 1] && falls_through(&listing->items[at - 1])) {
            reaches[at - 1] = true;
            work[count++] = at - 1;
        }
        for (size_t source = chains->first[at]; source != 0; source = chains->next[source - 1]) {
            if (!reaches[source - 1]) {
                reaches[source - 1] = true;
                work[count++] = source - 1;
            }
        }
    }
}

/* For each instruction: can a RET be reached from it? Each is looked at once. */
static void find_returning(const struct code_listing *listing, struct branch_chains *chains, bool *reaches,
                           size_t *work)
{
    size_t count = 0;
    for (size_t i = 0; i < listing->count; i++) {
        const struct code_instruction *item = &listing->items[i];
        if (item->op == CODE_OP_EXIT && strncmp(item->mnemonic, "RET", 3) == 0) {
            reaches[i] = true;
            work[count++] = i;
        } else if (item->op == CODE_OP_BRANCH && item->target != CODE_NO_TARGET) {
            chains->next[i] = chains->first[item->target];
            chains->first[item->target] = i + 1;
        }
    }
    reach_backwards(listing, chains, reaches, work, count);
}

/* ptxas for sm_80 leaves some loops by "@P1 CALL.REL.NOINC" to code from which no RET can be reached: jumps. */
static enum status resolve_calls(struct sass_reader *reader)
{
    struct sass_builder *function = &reader->function;
    struct code_listing *listing = &function->listing;
    struct branch_chains chains = {calloc(listing->count + 1, sizeof(size_t)),
                                   calloc(listing->count + 1, sizeof(size_t))};
    bool *reaches = calloc(listing->count + 1, sizeof *reaches);
    size_t *work = calloc(listing->count + 1, sizeof *work);
    const bool good = chains.first != NULL && chains.next != NULL && reaches != NULL && work != NULL;
    if (good) {
        find_returning(listing, &chains, reaches, work);
    }
    for (size_t i = 0; i < listing->count && good; i++) {
        struct code_instruction *item = &listing->items[i];
        const size_t target = item->op == CODE_OP_CALL ? named_target(function, i) : CODE_NO_TARGET;
        if (target != CODE_NO_TARGET && !reaches[target]) {
            item->op = CODE_OP_BRANCH;
            item->target = target;
            item->conditional = item->predicated;
        }
    }
    free(chains.first);
    free(chains.next);
    free(reaches);
    free(work);
    return good ? STATUS_OK : sass_no_memory(reader);
}

static enum status check_labels(const struct sass_reader *reader)
{
    const struct sass_builder *function = &reader->function;
    if (function->label_count > 0) {
        qsort(function->labels, function->label_count, sizeof *function->labels, compare_labels);
    }
    for (size_t i = 1; i < function->label_count; i++) {
        const struct sass_label *label = &function->labels[i];
        if (compare_labels(label - 1, label) == 0) {
            const uint32_t line = label->line > label[-1].line ? label->line : label[-1].line;
            return error_set_at(reader->error, STATUS_BAD_DATA, reader->name, line, 0,
                                "the label '%.*s' is there twice",
                                label->name.length < 80 ? (int)label->name.length : 80, label->name.text);
        }
    }
    return STATUS_OK;
}

enum status sass_targets_resolve(struct sass_reader *reader)
{
    struct sass_builder *function = &reader->function;
    struct code_listing *listing = &function->listing;
    enum status status = check_labels(reader);
    bool has_calls = false;
    for (size_t i = 0; i < listing->count && status == STATUS_OK; i++) {
        struct code_instruction *item = &listing->items[i];
        has_calls = has_calls || item->op == CODE_OP_CALL;
        if (item->op == CODE_OP_ASYNC_WAIT && !function->has_copy_groups) {
            item->op = CODE_OP_OTHER; /* of something else */
            item->depth = -1;
        } else if (item->op == CODE_OP_BRANCH) {
            const bool listed = strncmp(item->mnemonic, "BRX", 3) == 0 || strncmp(item->mnemonic, "JMX", 3) == 0;
            if (listed) {
                status = resolve_list(reader, i);
            } else {
                resolve_direct(function, i);
            }
        }
    }
    return status == STATUS_OK && has_calls ? resolve_calls(reader) : status;
}
