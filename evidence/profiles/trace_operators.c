/* SPDX-License-Identifier: GPL-3.0-or-later
 * Two tables: what was called, kept once however often it was called, and which call had which id. */
#include "evidence/profiles/trace_operators.h"

#include <stdlib.h>
#include <string.h>

#include "evidence/json_tolerant.h"
#include "evidence/profiles/launch_table.h"
#include "evidence/profiles/trace_fields.h"

enum part {
    PART_NAME,
    PART_DIMS,
    PART_TYPES,
    PART_VALUES,
    PARTS
};

enum {
    ID_DIGITS_MAX = 18
};

void trace_operators_release(struct trace_operators *operators)
{
    free(operators->items);
    free(operators->calls);
    free(operators->slots);
    arena_release(&operators->arena);
    *operators = (struct trace_operators){0};
}

static enum status no_memory(struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "no memory for the operators of a trace");
}

/* --- an event ------------------------------------------------------------------------------------------------------
 */

struct call {
    struct text_span parts[PARTS];
    int64_t id;
};

/* "External id", which was spelt in three ways. */
static bool is_id(const struct trace_field *field)
{
    return TRACE_FIELD_IS(field, "External id") || TRACE_FIELD_IS(field, "External Id") ||
           TRACE_FIELD_IS(field, "external id");
}

static bool take_id(const struct trace_field *field, int64_t *id)
{
    const size_t length = (size_t)(field->value.end - field->value.at);
    int64_t number = 0;
    for (const char *at = field->value.at; at < field->value.end; at++) {
        if (*at < '0' || *at > '9') {
            return false;
        }
        number = length <= ID_DIGITS_MAX ? 10 * number + (*at - '0') : 0;
    }
    *id = number;
    return field->kind == TRACE_FIELD_PLAIN && length <= ID_DIGITS_MAX;
}

/* False where a key that matters stands twice, or is no list. */
static bool take_part(struct call *call, enum part part, const struct trace_field *field)
{
    const bool is_text = field->kind == TRACE_FIELD_STRING && !field->has_escape;
    const bool is_list = field->kind == TRACE_FIELD_NESTED && *field->value.at == '[';
    const bool is_good = call->parts[part].at == NULL && (part == PART_NAME ? is_text : is_list);
    call->parts[part] = field->value;
    return is_good;
}

static bool read_arguments(struct text_span rest, struct call *call)
{
    struct trace_field field;
    enum trace_fields_step step;
    while ((step = trace_fields_key(&rest, &field)) == TRACE_FIELDS_FIELD) {
        bool is_good = trace_fields_value(&rest, &field);
        if (is_good && is_id(&field)) {
            is_good = call->id == 0 && take_id(&field, &call->id);
        } else if (is_good && TRACE_FIELD_IS(&field, "Input Dims")) {
            is_good = take_part(call, PART_DIMS, &field);
        } else if (is_good && TRACE_FIELD_IS(&field, "Input type")) {
            is_good = take_part(call, PART_TYPES, &field);
        } else if (is_good && TRACE_FIELD_IS(&field, "Concrete Inputs")) {
            is_good = take_part(call, PART_VALUES, &field);
        }
        if (!is_good) {
            return false;
        }
    }
    return step == TRACE_FIELDS_END;
}

static bool read_event(const char *text, size_t length, struct call *call)
{
    struct text_span rest = {text + 1, text + length};
    struct trace_field field;
    enum trace_fields_step step;
    *call = (struct call){.id = 0};
    while ((step = trace_fields_key(&rest, &field)) == TRACE_FIELDS_FIELD) {
        bool is_good = trace_fields_value(&rest, &field);
        if (is_good && TRACE_FIELD_IS(&field, "name")) {
            is_good = take_part(call, PART_NAME, &field);
        } else if (is_good && TRACE_FIELD_IS(&field, "args")) {
            is_good = field.kind == TRACE_FIELD_NESTED && *field.value.at == '{' &&
                      read_arguments((struct text_span){field.value.at + 1, field.value.end}, call);
        }
        if (!is_good) {
            return false;
        }
    }
    return step == TRACE_FIELDS_END && call->id > 0 && call->parts[PART_NAME].at != NULL &&
           call->parts[PART_DIMS].at != NULL;
}

/* --- tables --------------------------------------------------------------------------------------------------------
 */

static size_t bytes_of(const struct text_span *span)
{
    return span->at != NULL ? (size_t)(span->end - span->at) : 0;
}

static bool is_same(const struct trace_operator *item, const struct call *call, uint64_t hash)
{
    const char *at = item->bytes;
    bool is_same = item->hash == hash;
    for (int i = 0; i < PARTS && is_same; i++) {
        const size_t length = item->lengths[i];
        is_same = length == bytes_of(&call->parts[i]) && (length == 0 || memcmp(at, call->parts[i].at, length) == 0);
        at += length;
    }
    return is_same;
}

static uint32_t *find_slot(const struct trace_operators *self, const struct call *call, uint64_t hash)
{
    size_t at = hash & (self->slot_count - 1);
    while (self->slots[at] != 0 && !(call != NULL && is_same(&self->items[self->slots[at] - 1], call, hash))) {
        at = (at + 1) & (self->slot_count - 1);
    }
    return &self->slots[at];
}

/* Room for one more operator; half of the slots stay free. */
static bool reserve_item(struct trace_operators *self)
{
    if (self->count < self->capacity) {
        return true;
    }
    const size_t capacity = self->capacity == 0 ? 64 : 2 * self->capacity;
    struct trace_operator *items = realloc(self->items, capacity * sizeof *items);
    if (items == NULL) {
        return false;
    }
    self->items = items;
    uint32_t *slots = calloc(2 * capacity, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    free(self->slots);
    self->slots = slots;
    self->slot_count = 2 * capacity;
    self->capacity = capacity;
    for (size_t i = 0; i < self->count; i++) {
        *find_slot(self, NULL, self->items[i].hash) = (uint32_t)i + 1;
    }
    return true;
}

static struct trace_call *find_call(const struct trace_operators *self, int64_t id)
{
    size_t at = launch_hash(0, (uint64_t)id) & (self->call_slots - 1);
    while (self->calls[at].which != 0 && self->calls[at].id != id) {
        at = (at + 1) & (self->call_slots - 1);
    }
    return &self->calls[at];
}

static bool reserve_call(struct trace_operators *self)
{
    if (2 * (self->call_count + 1) <= self->call_slots) {
        return true;
    }
    struct trace_operators larger = *self;
    larger.call_slots = self->call_slots == 0 ? 256 : 2 * self->call_slots;
    larger.calls = calloc(larger.call_slots, sizeof *larger.calls);
    if (larger.calls == NULL) {
        return false;
    }
    for (size_t i = 0; i < self->call_slots; i++) {
        if (self->calls[i].which != 0) {
            *find_call(&larger, self->calls[i].id) = self->calls[i];
        }
    }
    free(self->calls);
    *self = larger;
    return true;
}

static bool append_item(struct trace_operators *self, const struct call *call, uint64_t hash, size_t length)
{
    char *bytes = arena_allocate(&self->arena, length + 1, 1);
    struct trace_operator item = {.bytes = bytes, .hash = hash};
    for (int i = 0; i < PARTS && bytes != NULL; i++) {
        item.lengths[i] = bytes_of(&call->parts[i]);
        if (item.lengths[i] > 0) {
            memcpy(bytes, call->parts[i].at, item.lengths[i]);
        }
        bytes += item.lengths[i];
    }
    if (bytes != NULL) {
        self->items[self->count++] = item;
    }
    return bytes != NULL;
}

enum status trace_operators_note(struct trace_operators *operators, const char *text, size_t length,
                                 struct error *error)
{
    struct call call;
    size_t bytes = 0;
    uint64_t hash = 0;
    if (!read_event(text, length, &call)) {
        return STATUS_OK;
    }
    for (int i = 0; i < PARTS; i++) {
        bytes += bytes_of(&call.parts[i]);
        hash = launch_hash(launch_hash_bytes(hash, call.parts[i].at, bytes_of(&call.parts[i])), (uint64_t)i);
    }
    if (!reserve_item(operators) || !reserve_call(operators)) {
        return no_memory(error);
    }
    uint32_t *slot = find_slot(operators, &call, hash);
    const bool has_room = bytes <= TRACE_OPERATOR_BYTES_MAX && operators->call_count < TRACE_OPERATOR_CALLS_MAX &&
                          (*slot != 0 || operators->count < TRACE_OPERATORS_MAX);
    if (!has_room) {
        operators->left_out++;
        return STATUS_OK;
    }
    if (*slot == 0 && !append_item(operators, &call, hash, bytes)) {
        return no_memory(error);
    }
    *slot = *slot == 0 ? (uint32_t)operators->count : *slot;
    struct trace_call *known = find_call(operators, call.id);
    operators->call_count += known->which == 0;
    known->which = known->which == 0 || known->which == *slot ? *slot : (uint32_t)TRACE_OPERATOR_UNCLEAR;
    known->id = call.id;
    return STATUS_OK;
}

uint32_t trace_operators_find(const struct trace_operators *operators, int64_t id)
{
    return operators->call_slots > 0 && id > 0 ? find_call(operators, id)->which : (uint32_t)TRACE_OPERATOR_NONE;
}

/* --- into a claim --------------------------------------------------------------------------------------------------
 */

/* A list of whole numbers is a tensor; an empty one a scalar or no tensor; a list of lists several tensors, which stay
 * without sides. False: something else. */
static bool read_input(const json_t *sides, struct claim_input *input)
{
    const size_t rank = json_array_size(sides);
    bool is_list = json_is_array(sides);
    *input = (struct claim_input){0};
    for (size_t i = 0; i < rank && is_list; i++) {
        const json_t *side = json_array_get(sides, i);
        is_list = json_is_array(side) || (json_is_integer(side) && json_integer_value(side) >= 0);
        if (is_list && json_is_integer(side) && rank <= CLAIM_RANK_MAX && input->rank == i) {
            input->sides[input->rank++] = (uint64_t)json_integer_value(side);
        }
    }
    input->rank = input->rank == rank ? input->rank : 0;
    return is_list;
}

/* In one line, however it was laid out; "" if it is no list. */
static const char *one_line(struct kernel_claim_list *list, const char *text, size_t length, json_t **root)
{
    struct error ignored = {0};
    *root = NULL;
    if (length == 0 ||
        json_tolerant_parse(text, length, "inputs", JSON_DUPLICATES_LAST, root, NULL, &ignored) != STATUS_OK) {
        return "";
    }
    char *line = json_dumps(*root, JSON_COMPACT);
    const char *copy = line != NULL ? arena_copy_text(&list->arena, line, strlen(line)) : NULL;
    free(line);
    return copy;
}

static bool read_inputs(struct kernel_claim_list *list, const json_t *root, struct claim_operator *operator)
{
    operator->input_count = json_array_size(root);
    struct claim_input *inputs = arena_allocate(&list->arena, operator->input_count + 1, sizeof *inputs);
    bool is_good = inputs != NULL && json_is_array(root);
    for (size_t i = 0; i < operator->input_count && is_good; i++) {
        is_good = read_input(json_array_get(root, i), &inputs[i]);
    }
    operator->inputs = inputs;
    return is_good;
}

enum status trace_operators_claim(const struct trace_operators *operators, uint32_t which,
                                  struct kernel_claim_list *list, struct kernel_claim *claim, struct error *error)
{
    const struct trace_operator *item = &operators->items[which - 1];
    struct claim_operator *operator= arena_allocate(&list->arena, 1, sizeof *operator);
    const char *texts[PARTS] = {NULL}, *at = item->bytes;
    bool is_good = false;
    if (operator== NULL) {
        return no_memory(error);
    }
    texts[PART_NAME] = arena_copy_text(&list->arena, at, item->lengths[PART_NAME]);
    for (int i = PART_DIMS; i < PARTS; i++) {
        json_t *root = NULL;
        at += item->lengths[i - 1];
        texts[i] = one_line(list, at, item->lengths[i], &root);
        is_good = i == PART_DIMS ? root != NULL && read_inputs(list, root, operator) : is_good;
        json_decref(root);
    }
    for (int i = 0; i < PARTS; i++) {
        if (texts[i] == NULL) {
            return no_memory(error);
        }
    }
    operator->name = texts[PART_NAME];
    operator->input_dims = texts[PART_DIMS];
    operator->input_types = texts[PART_TYPES];
    operator->concrete_inputs = texts[PART_VALUES];
    claim->operator= is_good ? operator: NULL;
    return STATUS_OK;
}
