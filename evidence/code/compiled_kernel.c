/* SPDX-License-Identifier: GPL-3.0-or-later
 * The common form of what compilers say: names, limits of trust, and how two sources become one. */
#include "evidence/code/compiled_kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"

enum {
    DEVICE_RESERVE_BYTES = 1024, /* per CTA, cc 8.0 and later; data/compute_capabilities/ */
    RESERVE_ARCH_MIN = 80,
    MERGED_RESERVE_ARCH_MIN = 90, /* the file's SHARED holds the reserve */
    ARCH_MAX = 999
};

const char *figure_state_name(enum figure_state state)
{
    static const char *const names[] = {"unknown", "exact", "at most", "at least"};
    return names[state];
}

const char *code_source_name(enum code_source source)
{
    static const char *const names[] = {"",    "cubin", "compiler log", "resource report", "Triton JSON",
                                        "PTX", "SASS",  "index"};
    return names[source];
}

#define COMPILED_FIGURE_NAME(constant, key, meaning) key,
const char *compiled_figure_name(enum compiled_figure figure)
{
    static const char *const names[] = {COMPILED_FIGURE_LIST(COMPILED_FIGURE_NAME)};
    return names[figure];
}
#undef COMPILED_FIGURE_NAME

/* Names go to terminals and into JSON: control characters, and what is no UTF-8, become '?'. */
static char *copy_printable(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_copy_text(arena, text, length);
    size_t bad = 0;
    bool is_utf8 = copy != NULL && utf8_check(copy, strlen(copy), &bad) == STATUS_OK;
    for (char *at = copy; at != NULL && *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte < ' ' || byte == 0x7f || (byte > 0x7f && !is_utf8)) {
            *at = '?';
        }
    }
    return copy;
}

enum status compiled_kernel_list_add(struct compiled_kernel_list *list, const char *name, size_t name_length,
                                     const char *file, struct compiled_kernel **kernel, struct error *error)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        struct compiled_kernel *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for the kernels of %s", file);
        }
        list->items = items;
        list->capacity = capacity;
    }
    /* Kernels of one file stand beside each other and share its name. */
    const char *known = list->count > 0 ? list->items[list->count - 1].file : "";
    const char *own_file = strcmp(known, file) == 0 ? known : arena_copy_text(&list->arena, file, strlen(file));
    const char *own_name = copy_printable(&list->arena, name, name_length);
    if (own_file == NULL || own_name == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the kernels of %s", file);
    }
    *kernel = &list->items[list->count++];
    **kernel = (struct compiled_kernel){.name = own_name, .file = own_file, .note = ""};
    return STATUS_OK;
}

void compiled_kernel_list_release(struct compiled_kernel_list *list)
{
    free(list->items);
    arena_release(&list->arena);
    *list = (struct compiled_kernel_list){0};
}

void compiled_kernel_remark(struct compiled_kernel_list *list, struct compiled_kernel *kernel, const char *format, ...)
{
    char text[1024];
    int length = snprintf(text, sizeof text, "%s%s", kernel->note, kernel->note[0] == '\0' ? "" : "; ");
    if (length < 0 || (size_t)length >= sizeof text) {
        return; /* more remarks than a line holds */
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    const char *note = copy_printable(&list->arena, text, strlen(text));
    kernel->note = note != NULL ? note : kernel->note;
}

uint64_t compiled_reserved_smem_bytes(uint32_t arch)
{
    return arch >= RESERVE_ARCH_MIN ? DEVICE_RESERVE_BYTES : 0;
}

void compiled_kernel_set_merged_smem(struct compiled_kernel *kernel, enum code_source source, uint64_t bytes)
{
    if (kernel->arch == 0) {
        compiled_kernel_set(kernel, COMPILED_STATIC_SMEM, bytes < DEVICE_RESERVE_BYTES ? FIGURE_EXACT : FIGURE_AT_MOST,
                            source, bytes);
        return;
    }
    uint64_t merged = kernel->arch >= MERGED_RESERVE_ARCH_MIN ? DEVICE_RESERVE_BYTES : 0;
    compiled_kernel_set(kernel, COMPILED_STATIC_SMEM, FIGURE_EXACT, source, bytes >= merged ? bytes - merged : bytes);
    compiled_kernel_set(kernel, COMPILED_RESERVED_SMEM, FIGURE_EXACT, source,
                        compiled_reserved_smem_bytes(kernel->arch));
}

bool code_arch_parse(const char *text, size_t length, uint32_t *arch, char *suffix)
{
    static const char *const prefixes[] = {"sm_", "compute_", "sm"};
    size_t at = 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0] && at == 0; i++) {
        size_t prefix = strlen(prefixes[i]);
        at = length > prefix && memcmp(text, prefixes[i], prefix) == 0 ? prefix : 0;
    }
    uint32_t value = 0;
    size_t digits = 0;
    for (; at < length && text[at] >= '0' && text[at] <= '9' && value <= ARCH_MAX; at++, digits++) {
        value = value * 10 + (uint32_t)(text[at] - '0');
    }
    char last = at + 1 == length ? text[at] : '\0';
    if (digits == 0 || value < 10 || value > ARCH_MAX || (at != length && last != 'a' && last != 'f')) {
        return false;
    }
    *arch = value;
    *suffix = last;
    return true;
}

static bool is_better(const struct code_figure *candidate, const struct code_figure *present)
{
    return candidate->state != FIGURE_UNKNOWN &&
           (present->state == FIGURE_UNKNOWN || (present->state != FIGURE_EXACT && candidate->state == FIGURE_EXACT));
}

bool compiled_kernel_merge(struct compiled_kernel *into, const struct compiled_kernel *from,
                           enum compiled_figure *conflict)
{
    *conflict = COMPILED_FIGURE_COUNT;
    if (into->arch != 0 && from->arch != 0 && into->arch != from->arch) {
        return false;
    }
    if (into->arch == 0) {
        into->arch = from->arch;
    }
    if (into->arch_suffix == 0) {
        into->arch_suffix = from->arch_suffix;
    }
    for (int i = 0; i < COMPILED_FIGURE_COUNT; i++) {
        struct code_figure *present = &into->figures[i];
        const struct code_figure *candidate = &from->figures[i];
        if (is_better(candidate, present)) {
            *present = *candidate;
        } else if (candidate->state == FIGURE_EXACT && present->state == FIGURE_EXACT &&
                   candidate->value != present->value && *conflict == COMPILED_FIGURE_COUNT) {
            *conflict = (enum compiled_figure)i;
        }
    }
    return true;
}

/* The suffix is "_" [0-9dec]+ with at least one letter d. */
size_t compiled_plain_name_length(const char *name)
{
    size_t length = strlen(name), at = length;
    bool has_mark = false;
    while (at > 0 && strchr("0123456789dec", name[at - 1]) != NULL) {
        at--;
        has_mark = has_mark || name[at] == 'd';
    }
    return has_mark && at > 1 && at < length && name[at - 1] == '_' && name[at] >= '0' && name[at] <= '9' ? at - 1
                                                                                                          : length;
}

bool compiled_names_match(const char *left, const char *right)
{
    if (strcmp(left, right) == 0) {
        return true;
    }
    size_t a = compiled_plain_name_length(left), b = compiled_plain_name_length(right);
    return a == b && memcmp(left, right, a) == 0 && (left[a] == '\0' || right[b] == '\0');
}
