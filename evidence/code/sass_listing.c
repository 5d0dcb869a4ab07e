/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reads the lines of a SASS text into listings: functions, labels, addresses. */
#include "evidence/code/sass_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/code/sass_listing_private.h"

enum status sass_no_memory(const struct sass_reader *reader)
{
    return error_set_at(reader->error, STATUS_NO_MEMORY, reader->name, reader->line, 0, "no memory for the SASS text");
}

enum status sass_bad_line(const struct sass_reader *reader, const char *what, struct sass_slice text)
{
    return error_set_at(reader->error, STATUS_BAD_DATA, reader->name, reader->line, 0, "%s: '%.*s'", what,
                        text.length < 80 ? (int)text.length : 80, text.text);
}

void sass_mark(struct code_listing *listing, const char *format, unsigned line)
{
    if (!listing->truncated) {
        listing->truncated = true;
        snprintf(listing->note, sizeof listing->note, format, line);
    }
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
        return sass_no_memory(reader);
    }
    memcpy(listing->name, name.text, name.length < sizeof listing->name ? name.length : sizeof listing->name - 1);
    listing->arch = reader->arch;
    listing->arch_suffix = reader->arch_suffix;
    listing->is_sass = true;
    listing->register_count = SASS_REGISTER_COUNT;
    reader->open = true;
    return STATUS_OK;
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
        sass_mark(listing, "the text ends inside the function, line %u", item != NULL ? item->line : 0);
    }
}

static enum status end_function(struct sass_reader *reader)
{
    if (!reader->open) {
        return STATUS_OK;
    }
    struct sass_file *file = reader->file;
    struct code_listing *listing = &reader->function.listing;
    enum status status = sass_targets_resolve(reader);
    if (status != STATUS_OK) {
        return status;
    }
    check_end(listing);
    struct code_listing *functions =
        code_grown(file->functions, file->function_count, 1, &reader->function_capacity, sizeof *functions);
    if (functions == NULL) {
        return sass_no_memory(reader);
    }
    file->functions = functions;
    struct code_instruction *items = arena_allocate(listing->arena, listing->count + 1, sizeof *items);
    if (items == NULL) {
        return sass_no_memory(reader);
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
        code_grown(function->labels, function->label_count, 1, &function->label_capacity, sizeof *labels);
    if (labels == NULL) {
        return sass_no_memory(reader);
    }
    function->labels = labels;
    labels[function->label_count++] = (struct sass_label){name, function->listing.count, reader->line};
    return STATUS_OK;
}

static bool make_room(struct sass_builder *function)
{
    size_t capacity = function->capacity;
    struct sass_place *places =
        code_grown(function->places, function->listing.count, 1, &capacity, sizeof *function->places);
    if (places == NULL) {
        return false;
    }
    function->places = places;
    struct code_instruction *items =
        code_grown(function->listing.items, function->listing.count, 1, &function->capacity, sizeof *items);
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
            sass_mark(listing, "the text ends inside line %u", reader->line);
            return STATUS_OK;
        }
        return sass_bad_line(reader, "this instruction has no ';'", rest);
    }
    if (listing->count > 0 && function->places[listing->count - 1].address >= address) {
        return sass_bad_line(reader, "the address of this instruction is not above the one before", rest);
    }
    if (reader->instruction_total == SASS_INSTRUCTIONS_MAX) {
        sass_mark(listing, "more instructions than are read, from line %u on", reader->line);
        return STATUS_OK;
    }
    if (!make_room(function)) {
        return sass_no_memory(reader);
    }
    struct sass_slice text = {rest.text, (size_t)(end - rest.text)};
    while (text.length > 0 && (text.text[0] == '{' || text.text[0] == '}')) {
        text = sass_slice_trim((struct sass_slice){text.text + 1, text.length - 1});
    }
    reader->instruction_total++;
    return sass_item_add(reader, address, sass_slice_trim(text));
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
