/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reads the lines of a SASS text into listings: functions, labels, instructions, targets of branches. */
#include "evidence/code/sass_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/arena.h"
#include "evidence/code/sass_instruction.h"

struct sass_label {
    struct sass_slice name;
    size_t index; /* of the instruction behind it */
    uint32_t line;
};

/* What is kept of an instruction until its function is complete. */
struct sass_place {
    uint64_t address;
    struct sass_slice operands; /* of branches: where the target is named; else empty */
};

struct sass_builder {
    struct code_listing listing;
    size_t capacity, label_count, label_capacity;
    struct sass_place *places;
    struct sass_label *labels;
    bool bulk_group_open; /* the last group closed was one of bulk copies */
    bool has_copy_groups;
};

struct sass_reader {
    const char *text;
    size_t length, at;
    uint32_t line;
    const char *name;
    struct error *error;
    struct sass_file *file;
    size_t function_capacity, instruction_total;
    bool open;         /* inside a function */
    bool section_seen; /* nvdisasm: code is in sections that say so */
    uint32_t arch;
    char arch_suffix;
    struct sass_builder function;
};

static enum status no_memory(const struct sass_reader *reader)
{
    return error_set_at(reader->error, STATUS_NO_MEMORY, reader->name, reader->line, 0, "no memory for the SASS text");
}

static enum status bad_line(const struct sass_reader *reader, const char *what, struct sass_slice text)
{
    return error_set_at(reader->error, STATUS_BAD_DATA, reader->name, reader->line, 0, "%s: '%.*s'", what,
                        text.length < 80 ? (int)text.length : 80, text.text);
}

/* Room for one more item; NULL without memory, the array stays. */
static void *grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return array;
    }
    size_t wanted = *capacity == 0 ? 64 : *capacity * 2, bytes;
    void *grown = __builtin_mul_overflow(wanted, size, &bytes) ? NULL : realloc(array, bytes);
    if (grown != NULL) {
        *capacity = wanted;
    }
    return grown;
}

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

static enum status add_instruction(struct sass_reader *reader, uint64_t address, struct sass_slice text)
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
        return bad_line(reader, "this is no instruction", text);
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
        return no_memory(reader);
    }
    function->places[listing->count] =
        (struct sass_place){address, item.op == CODE_OP_BRANCH || item.op == CODE_OP_CALL
                                         ? (struct sass_slice){body.text + end, body.length - end}
                                         : (struct sass_slice){NULL, 0}};
    listing->items[listing->count++] = item;
    return STATUS_OK;
}

/* --- functions ------------------------------------------------------------------------------------------------------
 */

static void builder_release(struct sass_builder *function)
{
    if (function->listing.arena != NULL) {
        free(function->listing.items); /* not yet the arena's */
        function->listing.items = NULL;
    }
    code_listing_release(&function->listing);
    free(function->places);
    free(function->labels);
    *function = (struct sass_builder){0};
}

static void mark(struct code_listing *listing, const char *format, unsigned line)
{
    if (!listing->truncated) {
        listing->truncated = true;
        snprintf(listing->note, sizeof listing->note, format, line);
    }
}

static enum status begin_function(struct sass_reader *reader, struct sass_slice name)
{
    if (reader->file->function_count == SASS_FUNCTIONS_MAX) {
        return error_set_at(reader->error, STATUS_LIMIT, reader->name, reader->line, 0, "more than %d functions",
                            SASS_FUNCTIONS_MAX);
    }
    struct sass_builder *function = &reader->function;
    struct code_listing *listing = &function->listing;
    listing->arena = calloc(1, sizeof *listing->arena);
    if (listing->arena == NULL) {
        return no_memory(reader);
    }
    memcpy(listing->name, name.text, name.length < sizeof listing->name ? name.length : sizeof listing->name - 1);
    listing->arch = reader->arch;
    listing->arch_suffix = reader->arch_suffix;
    listing->is_sass = true;
    listing->register_count = SASS_REGISTER_COUNT;
    reader->open = true;
    return STATUS_OK;
}

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
        mark(&function->listing, "the branch of line %u goes to a place that is not in the text", item->line);
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
        return no_memory(reader);
    }
    for (size_t i = 0; i <= text.length; i++) {
        if (i == text.length || text.text[i] == ',') {
            const size_t target =
                find_target(function, sass_slice_trim((struct sass_slice){text.text + start, i - start}));
            if (target == CODE_NO_TARGET) {
                mark(&function->listing, "the branch of line %u goes to a place that is not in the text", item->line);
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
    return good ? STATUS_OK : no_memory(reader);
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

static enum status resolve_targets(struct sass_reader *reader)
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

/* Code goes on behind its last instruction only where the text was cut; a function is padded with NOP. */
static void check_end(struct code_listing *listing)
{
    size_t last = listing->count;
    while (last > 0 && strncmp(listing->items[last - 1].mnemonic, "NOP", 3) == 0) {
        last--;
    }
    const struct code_instruction *item = last > 0 ? &listing->items[last - 1] : NULL;
    const bool leaves = item != NULL && (item->op == CODE_OP_BRANCH || item->op == CODE_OP_EXIT) && !item->conditional;
    if (!leaves) {
        mark(listing, "the text ends inside the function, line %u", item != NULL ? item->line : 0);
    }
}

static enum status end_function(struct sass_reader *reader)
{
    if (!reader->open) {
        return STATUS_OK;
    }
    struct sass_file *file = reader->file;
    struct code_listing *listing = &reader->function.listing;
    enum status status = resolve_targets(reader);
    if (status != STATUS_OK) {
        return status;
    }
    check_end(listing);
    struct code_listing *functions =
        grow(file->functions, file->function_count, &reader->function_capacity, sizeof *functions);
    if (functions == NULL) {
        return no_memory(reader);
    }
    file->functions = functions;
    struct code_instruction *items = arena_allocate(listing->arena, listing->count + 1, sizeof *items);
    if (items == NULL) {
        return no_memory(reader);
    }
    if (listing->count > 0) {
        memcpy(items, listing->items, listing->count * sizeof *items);
    }
    free(listing->items);
    listing->items = items;
    file->truncated = file->truncated || listing->truncated;
    functions[file->function_count++] = *listing;
    *listing = (struct code_listing){0};
    builder_release(&reader->function);
    reader->open = false;
    return STATUS_OK;
}

/* --- lines ----------------------------------------------------------------------------------------------------------
 */

/* "sm_90a" behind "code for" and ".target". */
static void read_arch(struct sass_reader *reader, struct sass_slice text)
{
    text = sass_slice_trim(text);
    if (!sass_slice_starts(text, "sm_")) {
        return;
    }
    uint32_t arch = 0;
    size_t at = 3;
    while (at < text.length && at < 7 && text.text[at] >= '0' && text.text[at] <= '9') {
        arch = arch * 10 + (uint32_t)(text.text[at++] - '0');
    }
    reader->arch = arch;
    reader->arch_suffix = at < text.length && (text.text[at] == 'a' || text.text[at] == 'f') ? text.text[at] : '\0';
}

/* nvdisasm names the architecture of some files only among the flags: "EF_CUDA_SM90 ...". */
static void read_flags(struct sass_reader *reader, struct sass_slice text)
{
    static const char flag[] = "EF_CUDA_SM";
    while (text.length > sizeof flag && !sass_slice_starts(text, flag)) {
        text.text++;
        text.length--;
    }
    uint32_t arch = 0;
    for (size_t i = sizeof flag - 1; i < text.length && i < sizeof flag + 2; i++) {
        if (text.text[i] >= '0' && text.text[i] <= '9') {
            arch = arch * 10 + (uint32_t)(text.text[i] - '0');
        } else {
            break;
        }
    }
    if (reader->arch == 0) {
        reader->arch = arch;
    }
}

static struct sass_slice behind(struct sass_slice text, const char *word)
{
    const size_t skip = strlen(word);
    return sass_slice_trim((struct sass_slice){text.text + skip, text.length - skip});
}

/* ".section .text.NAME,"ax",@progbits": code, or the end of it. */
static enum status read_section(struct sass_reader *reader, struct sass_slice rest)
{
    enum status status = end_function(reader);
    reader->section_seen = true;
    if (status != STATUS_OK || !sass_slice_starts(rest, ".text.")) {
        return status;
    }
    struct sass_slice name = behind(rest, ".text.");
    const char *comma = memchr(name.text, ',', name.length);
    name.length = comma != NULL ? (size_t)(comma - name.text) : name.length;
    return begin_function(reader, name);
}

static enum status read_label(struct sass_reader *reader, struct sass_slice line)
{
    struct sass_builder *function = &reader->function;
    const char *colon = memchr(line.text, ':', line.length);
    if (!reader->open || colon == NULL) {
        return STATUS_OK;
    }
    const struct sass_slice name = {line.text, (size_t)(colon - line.text)};
    if (name.length == 0 || memchr(name.text, ' ', name.length) != NULL ||
        memchr(name.text, '\t', name.length) != NULL) {
        return STATUS_OK;
    }
    struct sass_label *labels =
        grow(function->labels, function->label_count, &function->label_capacity, sizeof *labels);
    if (labels == NULL) {
        return no_memory(reader);
    }
    function->labels = labels;
    labels[function->label_count++] = (struct sass_label){name, function->listing.count, reader->line};
    return STATUS_OK;
}

static bool make_room(struct sass_builder *function)
{
    size_t capacity = function->capacity;
    struct sass_place *places = grow(function->places, function->listing.count, &capacity, sizeof *function->places);
    if (places == NULL) {
        return false;
    }
    function->places = places;
    struct code_instruction *items =
        grow(function->listing.items, function->listing.count, &function->capacity, sizeof *items);
    if (items == NULL) {
        return false;
    }
    function->listing.items = items;
    return true;
}

/* Behind the address: "@P0 BRA 0x10 ;  / * encoding * /", in braces where two are issued together. */
static enum status read_instruction(struct sass_reader *reader, uint64_t address, struct sass_slice rest)
{
    struct sass_builder *function = &reader->function;
    struct code_listing *listing = &function->listing;
    const char *end = memchr(rest.text, ';', rest.length);
    if (end == NULL) {
        if (reader->at >= reader->length) {
            mark(listing, "the text ends inside line %u", reader->line);
            return STATUS_OK;
        }
        return bad_line(reader, "this instruction has no ';'", rest);
    }
    if (listing->count > 0 && function->places[listing->count - 1].address >= address) {
        return bad_line(reader, "the address of this instruction is not above the one before", rest);
    }
    if (reader->instruction_total == SASS_INSTRUCTIONS_MAX) {
        mark(listing, "more instructions than are read, from line %u on", reader->line);
        return STATUS_OK;
    }
    if (!make_room(function)) {
        return no_memory(reader);
    }
    struct sass_slice text = {rest.text, (size_t)(end - rest.text)};
    while (text.length > 0 && (text.text[0] == '{' || text.text[0] == '}')) {
        text = sass_slice_trim((struct sass_slice){text.text + 1, text.length - 1});
    }
    reader->instruction_total++;
    return add_instruction(reader, address, sass_slice_trim(text));
}

/* A line that starts with a comment of hexadecimal digits alone. */
static enum status read_addressed(struct sass_reader *reader, struct sass_slice line)
{
    uint64_t address = 0;
    size_t at = 2;
    for (; at < line.length && at < 18; at++) {
        const char c = line.text[at];
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                      : 16;
        if (digit == 16) {
            break;
        }
        address = address * 16 + digit;
    }
    if (at == 2 || at > 14 || at + 1 >= line.length || line.text[at] != '*' || line.text[at + 1] != '/') {
        return STATUS_OK; /* an encoding, or a comment */
    }
    const struct sass_slice rest = sass_slice_trim((struct sass_slice){line.text + at + 2, line.length - at - 2});
    if (rest.length == 0 || rest.text[0] == '.') {
        return STATUS_OK; /* data */
    }
    if (!reader->open && !reader->section_seen && reader->file->function_count == 0) {
        const enum status status = begin_function(reader, (struct sass_slice){"", 0});
        if (status != STATUS_OK) {
            return status;
        }
    }
    return reader->open ? read_instruction(reader, address, rest) : STATUS_OK;
}

static enum status read_line(struct sass_reader *reader, struct sass_slice line)
{
    line = sass_slice_trim(line);
    if (sass_slice_starts(line, "/*")) {
        return read_addressed(reader, line);
    }
    if (sass_slice_starts(line, "code for")) {
        read_arch(reader, behind(line, "code for"));
    } else if (sass_slice_starts(line, ".target")) {
        read_arch(reader, behind(line, ".target"));
    } else if (sass_slice_starts(line, "Function :")) {
        const enum status status = end_function(reader);
        return status != STATUS_OK ? status : begin_function(reader, behind(line, "Function :"));
    } else if (sass_slice_starts(line, "..........")) {
        return end_function(reader);
    } else if (sass_slice_starts(line, ".headerflags")) {
        read_flags(reader, line);
    } else if (sass_slice_starts(line, ".section ") || sass_slice_starts(line, ".section\t")) {
        return read_section(reader, behind(line, ".section"));
    } else if (!sass_slice_starts(line, "//")) {
        return read_label(reader, line);
    }
    return STATUS_OK;
}

static enum status read_lines(struct sass_reader *reader)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && reader->at < reader->length) {
        const char *start = reader->text + reader->at;
        const char *end = memchr(start, '\n', reader->length - reader->at);
        const size_t length = end != NULL ? (size_t)(end - start) : reader->length - reader->at;
        reader->at += length + (end != NULL);
        reader->line++;
        status = read_line(reader, (struct sass_slice){start, length});
    }
    return status == STATUS_OK ? end_function(reader) : status;
}

enum status sass_listing_read_physical(const char *text, size_t length, const char *name, struct sass_file *file,
                                       struct error *error)
{
    *file = (struct sass_file){0};
    struct sass_reader reader = {.text = text, .length = length, .name = name, .error = error, .file = file};
    enum status status = read_lines(&reader);
    builder_release(&reader.function);
    if (status == STATUS_OK && file->function_count == 0) {
        status =
            error_set_at(error, STATUS_BAD_DATA, name, 0, 0,
                         "no function of SASS text: neither 'Function : ' nor '.section .text.' nor an instruction");
    }
    if (status != STATUS_OK) {
        sass_file_release(file);
    }
    return status;
}

enum status sass_listing_read(const char *text, size_t length, const char *name, struct sass_file *file,
                              struct error *error)
{
    enum status status = sass_listing_read_physical(text, length, name, file, error);
    for (size_t i = 0; i < file->function_count && status == STATUS_OK; i++) {
        if (!sass_webs_separate(&file->functions[i])) {
            status = error_set_at(error, STATUS_NO_MEMORY, name, 0, 0, "no memory for the registers of the SASS text");
        }
    }
    if (status != STATUS_OK) {
        sass_file_release(file);
    }
    return status;
}

void sass_file_release(struct sass_file *file)
{
    for (size_t i = 0; i < file->function_count; i++) {
        code_listing_release(&file->functions[i]);
    }
    free(file->functions);
    *file = (struct sass_file){0};
}

const struct code_listing *sass_file_function(const struct sass_file *file, const char *name)
{
    for (size_t i = 0; i < file->function_count; i++) {
        if (strcmp(file->functions[i].name, name) == 0) {
            return &file->functions[i];
        }
    }
    return NULL;
}
