/* SPDX-License-Identifier: GPL-3.0-or-later
 * One instruction of SASS: what it reads, writes and addresses, its literals, its guard. */
#include <string.h>

#include "evidence/code/sass_listing_private.h"

/* --- registers of one instruction -----------------------------------------------------------------------------------
 */

struct register_list {
    uint32_t count;
    bool cut;
    uint32_t items[CODE_OPERANDS_MAX];
};

static void list_add(struct register_list *list, uint32_t first, uint32_t width)
{
    if (first == 0) {
        return;
    }
    const uint32_t limit = first < SASS_UNIFORM_FIRST     ? SASS_UNIFORM_FIRST
                           : first < SASS_PREDICATE_FIRST ? SASS_PREDICATE_FIRST
                                                          : first + 1;
    for (uint32_t i = 0; i < width && first + i < limit; i++) {
        if (list->count == CODE_OPERANDS_MAX) {
            list->cut = true;
            return;
        }
        list->items[list->count++] = first + i;
    }
}

static void list_add_predicates(struct register_list *list)
{
    list_add(list, SASS_PREDICATE_FIRST, 1);
    for (uint32_t i = 1; i + 1 < SASS_PREDICATES; i++) {
        list_add(list, SASS_PREDICATE_FIRST + i, 1);
    }
}

static bool list_keep(const struct register_list *list, struct arena *arena, uint16_t *count, uint32_t **items)
{
    *count = (uint16_t)list->count;
    if (list->count == 0) {
        return true;
    }
    *items = arena_allocate(arena, list->count, sizeof **items);
    if (*items != NULL) {
        memcpy(*items, list->items, list->count * sizeof **items);
    }
    return *items != NULL;
}

struct instruction_registers {
    struct register_list writes, reads, addresses;
};

static bool written_predicate(const struct sass_operand *operand)
{
    return operand->kind == SASS_OPERAND_PREDICATE && !operand->negated;
}

static void write_predicate(const struct sass_operand *operand, struct register_list *writes)
{
    if (operand->all_predicates) {
        list_add_predicates(writes);
    } else if (operand->count > 0) {
        list_add(writes, operand->registers[0], 1);
    }
}

/* Written operands come first. Returns how many there are. */
static uint32_t take_written(const struct sass_operands *operands, const struct sass_meaning *meaning,
                             struct register_list *writes)
{
    uint32_t at = 0;
    while (at < operands->count && at < meaning->predicates_before && written_predicate(&operands->items[at])) {
        write_predicate(&operands->items[at++], writes);
    }
    if (!meaning->writes || at == operands->count || operands->items[at].kind != SASS_OPERAND_REGISTER) {
        return at;
    }
    for (uint32_t extra = 0;
         extra <= meaning->extra_writes && at < operands->count && operands->items[at].kind == SASS_OPERAND_REGISTER;
         extra++, at++) {
        const struct sass_operand *operand = &operands->items[at];
        list_add(writes, operand->count > 0 ? operand->registers[0] : 0, meaning->write_width);
    }
    for (uint32_t after = 0;
         after < meaning->predicates_after && at < operands->count && written_predicate(&operands->items[at]);
         after++, at++) {
        write_predicate(&operands->items[at], writes);
    }
    return at;
}

static uint32_t source_width(const struct sass_meaning *meaning, bool descriptor_first, uint32_t source)
{
    if (meaning->a_may_be_descriptor && descriptor_first && source == 1) {
        source = 2;
    }
    return source < SASS_SOURCES_MAX ? meaning->widths[source] : 1;
}

static void take_memory(const struct sass_operand *operand, bool is_address, struct code_instruction *item,
                        struct instruction_registers *registers)
{
    for (uint32_t i = 0; i < operand->count; i++) {
        const uint32_t number = operand->registers[i];
        const bool wide = operand->register_wide[i];
        if (is_address && i >= operand->address_first) {
            list_add(&registers->addresses, number, 1);
            list_add(&registers->reads, wide ? number + 1 : 0, 1); /* the upper half */
        } else {
            list_add(&registers->reads, number, wide ? 2 : 1);
        }
    }
    if (is_address && operand->count == operand->address_first + 1 && !operand->scaled) {
        item->has_address_offset = true;
        item->address_offset = operand->has_literal ? operand->literal : 0;
    }
}

static void take_sources(const struct sass_operands *operands, uint32_t first, const struct sass_meaning *meaning,
                         struct code_instruction *item, struct instruction_registers *registers)
{
    const bool descriptor_first = first < operands->count && operands->items[first].kind == SASS_OPERAND_DESCRIPTOR;
    uint32_t memory = 0;
    for (uint32_t i = first; i < operands->count; i++) {
        const struct sass_operand *operand = &operands->items[i];
        if (operand->kind == SASS_OPERAND_MEMORY) {
            take_memory(operand, memory++ == meaning->address, item, registers);
            continue;
        }
        if (operand->all_predicates) {
            list_add_predicates(&registers->reads);
        }
        const uint32_t width =
            operand->kind == SASS_OPERAND_REGISTER ? source_width(meaning, descriptor_first, i - first) : 1;
        for (uint32_t r = 0; r < operand->count; r++) {
            list_add(&registers->reads, operand->registers[r], operand->register_wide[r] && width < 2 ? 2 : width);
        }
        item->special = operand->special != CODE_SPECIAL_NONE ? operand->special : item->special;
    }
}

/* --- literals -------------------------------------------------------------------------------------------------------
 */

struct source_counts {
    uint32_t registers, literals, others;
    bool negated;
    int64_t literal;
};

static struct source_counts count_sources(const struct sass_operands *operands, uint32_t first, uint32_t limit)
{
    struct source_counts counts = {0};
    for (uint32_t i = first; i < operands->count && i < first + limit; i++) {
        const struct sass_operand *operand = &operands->items[i];
        if (operand->kind == SASS_OPERAND_LITERAL && operand->has_literal) {
            counts.literals++;
            counts.literal = operand->literal;
        } else if (operand->kind == SASS_OPERAND_REGISTER && !operand->zero) {
            counts.registers++;
            counts.negated = counts.negated || operand->negated;
        } else if (!operand->zero) {
            counts.others++;
        }
    }
    return counts;
}

static void take_literal(const struct sass_operands *operands, uint32_t first, const struct sass_meaning *meaning,
                         struct code_instruction *item)
{
    const struct source_counts counts = count_sources(operands, first, 3);
    if (counts.others > 0 || counts.negated) {
        return;
    }
    if (meaning->literal == SASS_LITERAL_ALONE) {
        item->has_immediate = counts.registers == 0 && counts.literals <= 1 && operands->count > first;
    } else if (meaning->literal == SASS_LITERAL_ONE_REGISTER) {
        item->has_immediate = counts.registers == 1 && counts.literals == 1;
    } else if (meaning->literal == SASS_LITERAL_RIGHT) {
        item->has_immediate =
            counts.registers == 1 && counts.literals == 1 && operands->items[first + 1].kind == SASS_OPERAND_LITERAL;
    }
    item->immediate = item->has_immediate ? counts.literal : 0;
}

static bool both_zero(const struct sass_operands *operands, uint32_t first)
{
    return operands->count > first + 2 && operands->items[first].kind == SASS_OPERAND_REGISTER &&
           operands->items[first].zero && operands->items[first + 1].zero;
}

/* PLOP3.LUT P2, PT, PT, PT, UP0, 0x80, 0x0: the table of "and", with one predicate and twice true. */
static bool copies_predicate(const struct sass_mnemonic *mnemonic, const struct sass_operands *operands, uint32_t first)
{
    uint32_t registers = 0;
    if (!sass_slice_is(mnemonic->parts[0], "PLOP3") || operands->count < first + 4 ||
        !operands->items[first + 3].has_literal || operands->items[first + 3].literal != 0x80) {
        return false;
    }
    for (uint32_t i = first; i < first + 3; i++) {
        const struct sass_operand *operand = &operands->items[i];
        if (operand->kind != SASS_OPERAND_PREDICATE || operand->negated) {
            return false;
        }
        registers += operand->count;
    }
    return registers == 1;
}

/* Arithmetic that only moves: IMAD.U32 R4, RZ, RZ, UR5; HFMA2 R4, -RZ, RZ, 1, 0; CS2R R4, SRZ. */
static void recognise_moves(const struct sass_mnemonic *mnemonic, const struct sass_operands *operands, uint32_t first,
                            struct code_instruction *item)
{
    const bool product = sass_slice_is(mnemonic->parts[0], "HFMA2") ||
                         (sass_slice_is(mnemonic->parts[0], "IMAD") && !sass_mnemonic_has(mnemonic, "X"));
    if ((product && both_zero(operands, first)) || copies_predicate(mnemonic, operands, first)) {
        item->op = CODE_OP_MOVE;
        item->elements = 0;
    }
    if (sass_slice_is(mnemonic->parts[0], "CS2R") && operands->count > first &&
        sass_slice_is(operands->items[first].text, "SRZ")) {
        item->has_immediate = true;
    }
    if (sass_slice_is(mnemonic->parts[0], "F2FP") && operands->count > first && operands->items[first].zero) {
        item->elements = 1; /* the upper half is nothing */
    }
}

static void take_depth(const struct sass_operands *operands, struct code_instruction *item)
{
    for (uint32_t i = 0; i < operands->count; i++) {
        const struct sass_operand *operand = &operands->items[i];
        if (operand->kind == SASS_OPERAND_LITERAL && operand->has_literal && operand->literal >= 0 &&
            operand->literal <= INT32_MAX) {
            item->depth = (int32_t)operand->literal;
            return;
        }
    }
}

/* --- one instruction ------------------------------------------------------------------------------------------------
 */

/* "@!P0 " in front. never: the guard cannot be true. */
static struct sass_slice read_guard(struct sass_slice text, struct code_instruction *item, bool *never)
{
    *never = false;
    if (text.length == 0 || text.text[0] != '@') {
        return text;
    }
    size_t end = 1;
    while (end < text.length && text.text[end] != ' ' && text.text[end] != '\t') {
        end++;
    }
    struct sass_operands guard;
    sass_operands_read((struct sass_slice){text.text + 1, end - 1}, &guard);
    if (guard.count == 1 && guard.items[0].kind == SASS_OPERAND_PREDICATE) {
        const struct sass_operand *operand = &guard.items[0];
        item->guard_negated = operand->negated;
        item->predicated = !operand->zero || operand->negated;
        *never = operand->zero && operand->negated;
        item->guard = operand->count > 0 ? operand->registers[0] : 0;
    }
    return sass_slice_trim((struct sass_slice){text.text + end, text.length - end});
}

/* "BRA.U !UP0, L": the condition is an operand. */
static void take_branch_condition(const struct sass_operands *operands, struct code_instruction *item)
{
    for (uint32_t i = 0; i < operands->count && !item->predicated; i++) {
        const struct sass_operand *operand = &operands->items[i];
        if (operand->kind == SASS_OPERAND_PREDICATE && operand->count > 0) {
            item->predicated = true;
            item->guard = operand->registers[0];
            item->guard_negated = operand->negated;
        }
    }
}

static void copy_meaning(const struct sass_meaning *meaning, struct code_instruction *item)
{
    item->op = meaning->op;
    item->lane_bytes = meaning->lane_bytes;
    item->m = meaning->m;
    item->n = meaning->n;
    item->k = meaning->k;
    item->elements = meaning->elements;
    item->to_global = meaning->to_global;
    item->on_shared = meaning->on_shared;
    memcpy(item->format, meaning->format, sizeof item->format);
}

/* Groups of bulk copies are waited for by the same instruction; and other work uses other scoreboards. */
static void sort_out_waits(struct sass_builder *function, const struct sass_mnemonic *mnemonic,
                           const struct sass_operands *operands, struct code_instruction *item)
{
    if (item->op == CODE_OP_ASYNC_COMMIT || item->op == CODE_OP_ASYNC_COPY) {
        function->has_copy_groups = true;
        function->bulk_group_open = function->bulk_group_open && item->op != CODE_OP_ASYNC_COMMIT;
    } else if (sass_slice_is(mnemonic->parts[0], "UTMACMDFLUSH")) {
        function->bulk_group_open = true;
    } else if (item->op == CODE_OP_ASYNC_WAIT) {
        const bool first = operands->count > 0 && sass_slice_is(operands->items[0].text, "SB0");
        if (!first || function->bulk_group_open) {
            item->op = CODE_OP_OTHER;
            item->depth = -1;
        }
    }
}

/* The stack pointer moves down by the frame before anything uses it: "IADD3 R1, R1, -0x38, RZ", or with the literal as
 * 32 bits, "VIADD R1, R1, 0xffffffc8". */
static void take_frame(struct code_listing *listing, const struct code_instruction *item,
                       const struct instruction_registers *registers)
{
    enum {
        STACK_POINTER = 2 /* R1 */
    };
    const bool moves = item->has_immediate && registers->writes.count == 1 && registers->reads.count == 1 &&
                       registers->writes.items[0] == STACK_POINTER && registers->reads.items[0] == STACK_POINTER;
    if (!moves || item->immediate < INT32_MIN || item->immediate > UINT32_MAX) {
        return;
    }
    const int64_t step = item->immediate > INT32_MAX ? item->immediate - ((int64_t)1 << 32) : item->immediate;
    if (step < 0 && (uint64_t)-step > listing->local_bytes) {
        listing->local_bytes = (uint64_t)-step;
    }
}

static void understand(struct sass_builder *function, const struct sass_mnemonic *mnemonic,
                       const struct sass_operands *operands, struct code_instruction *item,
                       struct instruction_registers *registers)
{
    struct sass_meaning meaning;
    sass_meaning_of(mnemonic, &meaning);
    function->listing.unknown_count += !meaning.known;
    copy_meaning(&meaning, item);
    if (meaning.wants_depth) {
        take_depth(operands, item);
    }
    const uint32_t first = take_written(operands, &meaning, &registers->writes);
    take_sources(operands, first, &meaning, item, registers);
    take_literal(operands, first, &meaning, item);
    take_frame(&function->listing, item, registers);
    recognise_moves(mnemonic, operands, first, item);
    if (item->op == CODE_OP_BRANCH) {
        take_branch_condition(operands, item);
    }
    if (item->op == CODE_OP_BRANCH || item->op == CODE_OP_EXIT) {
        item->conditional = item->predicated || meaning.conditional;
    }
    sort_out_waits(function, mnemonic, operands, item);
}

/* Scheduling marks of newer disassemblers: " &req={1} ?trans1" behind the operands. */
static struct sass_slice cut_marks(struct sass_slice text)
{
    for (size_t i = 1; i < text.length; i++) {
        if ((text.text[i] == '&' || text.text[i] == '?') && (text.text[i - 1] == ' ' || text.text[i - 1] == '\t')) {
            text.length = i;
            break;
        }
    }
    return sass_slice_trim(text);
}

enum status sass_item_add(struct sass_reader *reader, uint64_t address, struct sass_slice text)
{
    struct sass_builder *function = &reader->function;
    struct code_listing *listing = &function->listing;
    struct code_instruction item = {.line = reader->line, .depth = -1, .target = CODE_NO_TARGET};
    struct instruction_registers registers;
    registers.writes.count = registers.reads.count = registers.addresses.count = 0;
    registers.writes.cut = registers.reads.cut = registers.addresses.cut = false;
    bool never = false;
    const struct sass_slice body = cut_marks(read_guard(text, &item, &never));
    size_t end = 0;
    while (end < body.length && body.text[end] != ' ' && body.text[end] != '\t') {
        end++;
    }
    if (end == 0 || body.text[0] < 'A' || body.text[0] > 'Z') {
        return sass_bad_line(reader, "this is no instruction", text);
    }
    struct sass_mnemonic mnemonic;
    struct sass_operands operands;
    sass_mnemonic_split((struct sass_slice){body.text, end}, &mnemonic);
    memcpy(item.mnemonic, body.text, end < sizeof item.mnemonic ? end : sizeof item.mnemonic - 1);
    sass_operands_read((struct sass_slice){body.text + end, body.length - end}, &operands);
    const uint32_t guard = item.guard; /* that of BRA.U is among its operands */
    if (!never) {
        understand(function, &mnemonic, &operands, &item, &registers);
    }
    struct register_list reads = registers.addresses; /* addresses first, the guard last */
    for (uint32_t i = 0; i < registers.reads.count; i++) {
        list_add(&reads, registers.reads.items[i], 1);
    }
    list_add(&reads, guard, 1);
    item.operands_cut =
        operands.cut || reads.cut || registers.writes.cut || registers.reads.cut || registers.addresses.cut;
    if (!list_keep(&registers.writes, listing->arena, &item.write_count, &item.writes) ||
        !list_keep(&reads, listing->arena, &item.read_count, &item.reads) ||
        !list_keep(&registers.addresses, listing->arena, &item.address_count, &item.addresses)) {
        return sass_no_memory(reader);
    }
    function->places[listing->count] =
        (struct sass_place){address, item.op == CODE_OP_BRANCH || item.op == CODE_OP_CALL
                                         ? (struct sass_slice){body.text + end, body.length - end}
                                         : (struct sass_slice){NULL, 0}};
    listing->items[listing->count++] = item;
    return STATUS_OK;
}
