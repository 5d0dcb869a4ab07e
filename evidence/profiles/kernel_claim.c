/* SPDX-License-Identifier: GPL-3.0-or-later
 * The list of claims: growth, names, remarks. */
#include "evidence/profiles/kernel_claim.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"

#define SOURCE_TEXT(name, text) text,
static const char *const source_texts[CLAIM_SOURCE_COUNT] = {CLAIM_SOURCE_LIST(SOURCE_TEXT)};
#define FIGURE_TEXT(name, key, meaning) key,
static const char *const figure_texts[CLAIM_FIGURE_COUNT] = {CLAIM_FIGURE_LIST(FIGURE_TEXT)};

const char *claim_source_name(enum claim_source source)
{
    return (unsigned)source < CLAIM_SOURCE_COUNT ? source_texts[source] : "unknown";
}

const char *claim_figure_name(enum claim_figure figure)
{
    return (unsigned)figure < CLAIM_FIGURE_COUNT ? figure_texts[figure] : "unknown";
}

static enum status grow(struct kernel_claim_list *list, struct error *error)
{
    size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
    struct kernel_claim *items = realloc(list->items, capacity * sizeof *items);
    if (items == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu claims", capacity);
    }
    list->items = items;
    list->capacity = capacity;
    return STATUS_OK;
}

enum status kernel_claim_list_add(struct kernel_claim_list *list, enum claim_source source, const char *file,
                                  const char *name, size_t name_length, struct kernel_claim **claim,
                                  struct error *error)
{
    if (list->count == list->capacity) {
        enum status status = grow(list, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    /* Claims of one file follow each other: its name is kept once. */
    const char *own_file = list->count > 0 && strcmp(list->items[list->count - 1].file, file) == 0
                               ? list->items[list->count - 1].file
                               : arena_copy_text(&list->arena, file, strlen(file));
    const char *own_name = arena_copy_text(&list->arena, name, name_length);
    if (own_file == NULL || own_name == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the claims of %s", file);
    }
    struct kernel_claim *item = &list->items[list->count++];
    *item = (struct kernel_claim){.source = source, .file = own_file, .name = own_name, .device = "", .note = ""};
    item->time = (struct claim_time){0, NAN, NAN, NAN, NAN, NAN, NAN, false};
    *claim = item;
    return STATUS_OK;
}

void kernel_claim_list_release(struct kernel_claim_list *list)
{
    free(list->items);
    arena_release(&list->arena);
    *list = (struct kernel_claim_list){0};
}

/* The character at `at` and how many bytes it has: C0 controls and DEL, and U+0080 to U+009F of UTF-8. */
static size_t control_bytes(const char *at)
{
    const unsigned char byte = (unsigned char)at[0], next = byte != '\0' ? (unsigned char)at[1] : 0;
    const bool is_single = (byte > 0 && byte < ' ') || byte == 0x7f;
    return is_single ? 1 : byte == 0xc2 && next >= 0x80 && next <= 0x9f ? 2 : 0;
}

/* A copy without them where there are any, else the text itself; NULL without memory. */
static const char *printable(struct kernel_claim_list *list, const char *text)
{
    const char *at = text;
    while (*at != '\0' && control_bytes(at) == 0) {
        at++;
    }
    if (*at == '\0') {
        return text;
    }
    char *copy = arena_copy_text(&list->arena, text, strlen(text)), *end = copy;
    for (at = text; copy != NULL && *at != '\0';) {
        const size_t control = control_bytes(at);
        *end++ = control > 0 ? '?' : *at;
        at += control > 0 ? control : 1;
    }
    if (copy != NULL) {
        *end = '\0';
    }
    return copy;
}

enum status kernel_claim_list_clean(struct kernel_claim_list *list, size_t first, struct error *error)
{
    for (size_t i = first; i < list->count; i++) {
        struct kernel_claim *claim = &list->items[i];
        claim->name = printable(list, claim->name);
        claim->device = printable(list, claim->device);
        claim->note = printable(list, claim->note);
        bool is_good = claim->name != NULL && claim->device != NULL && claim->note != NULL;
        for (size_t k = 0; k < claim->parameter_count && is_good; k++) {
            struct claim_parameter *parameter = &claim->parameters[k];
            parameter->name = printable(list, parameter->name);
            parameter->text = printable(list, parameter->text);
            is_good = parameter->name != NULL && parameter->text != NULL;
        }
        if (!is_good) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for the names of %s", claim->file);
        }
    }
    return STATUS_OK;
}

enum status kernel_claim_parameter(struct kernel_claim_list *list, struct kernel_claim *claim, const char *name,
                                   size_t name_length, const char *text, size_t text_length, struct error *error)
{
    if (claim->parameter_count == CLAIM_PARAMETERS_MAX) {
        return error_set_at(error, STATUS_LIMIT, claim->file, claim->line, 0, "more than %d knobs in one configuration",
                            CLAIM_PARAMETERS_MAX);
    }
    if (claim->parameter_count % 8 == 0) {
        struct claim_parameter *more =
            arena_allocate(&list->arena, claim->parameter_count + 8, sizeof *claim->parameters);
        if (more == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for the knobs of %s", claim->file);
        }
        if (claim->parameter_count > 0) {
            memcpy(more, claim->parameters, claim->parameter_count * sizeof *more);
        }
        claim->parameters = more;
    }
    struct claim_parameter *parameter = &claim->parameters[claim->parameter_count];
    parameter->name = arena_copy_text(&list->arena, name, name_length);
    parameter->text = arena_copy_text(&list->arena, text, text_length);
    if (parameter->name == NULL || parameter->text == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the knobs of %s", claim->file);
    }
    if (number_parse(parameter->text, &parameter->value) != STATUS_OK) {
        parameter->value = NAN;
    }
    claim->parameter_count++;
    return STATUS_OK;
}

/* Text of a file that was cut within a character must not spoil what is printed as JSON later. */
static void replace_broken_characters(char *text)
{
    size_t length = strlen(text), at = 0, bad;
    while (utf8_check(text + at, length - at, &bad) != STATUS_OK) {
        at += bad;
        text[at++] = '?';
    }
}

void kernel_claim_remark(struct kernel_claim_list *list, struct kernel_claim *claim, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    replace_broken_characters(text);
    struct text_buffer note = {0};
    text_buffer_append_format(&note, "%s%s%s", claim->note, claim->note[0] != '\0' ? "; " : "", text);
    const char *copy = note.failed ? NULL : arena_copy_text(&list->arena, note.text, note.length);
    if (copy != NULL) {
        claim->note = copy;
    }
    text_buffer_release(&note);
}

void kernel_claim_skip(struct kernel_claim_list *list, const char *format, ...)
{
    if (list->skipped++ == 0) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(list->first_skipped, sizeof list->first_skipped, format, arguments);
        va_end(arguments);
        replace_broken_characters(list->first_skipped);
    }
}
