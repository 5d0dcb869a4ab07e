/* SPDX-License-Identifier: GPL-3.0-or-later
 * File level of PTX: directives, variables, headers of entries. */
#include "evidence/code/ptx_listing.h"

#include <stdlib.h>
#include <string.h>

#include "evidence/arena.h"
#include "evidence/code/ptx_instruction.h"
#include "evidence/code/ptx_names.h"
#include "evidence/code/ptx_reader.h"

static const struct ptx_slice nothing = {"", 0};

static enum status take_module_shared(void *user, struct ptx_slice name, uint64_t bytes)
{
    struct ptx_reader *reader = user;
    if (bytes > UINT64_MAX / 4 ||
        __builtin_add_overflow(reader->file->module_shared_bytes, bytes, &reader->file->module_shared_bytes)) {
        return ptx_fail(reader, STATUS_BAD_DATA, "shared memory beyond all bounds", name);
    }
    return ptx_names_bind(&reader->module, PTX_NAME_VARIABLE, name, 0, bytes << 1 | 1);
}

static enum status take_module_variable(void *user, struct ptx_slice name, uint64_t bytes)
{
    (void)user;
    (void)name;
    (void)bytes;
    return STATUS_OK;
}

/* sm_90a: number and letter. */
static enum status read_target(struct ptx_reader *reader)
{
    ptx_skip_space(reader);
    const struct ptx_slice word = ptx_word(reader);
    if (reader->at >= reader->end) {
        return STATUS_OK; /* cut; the missing entry is reported */
    }
    uint32_t arch = 0;
    size_t i = 3;
    if (ptx_slice_starts(word, "sm_") || ptx_slice_starts(word, "compute_")) {
        i = word.text[0] == 's' ? 3 : 8;
        for (; i < word.length && word.text[i] >= '0' && word.text[i] <= '9' && arch < 100000; i++) {
            arch = arch * 10 + (uint32_t)(word.text[i] - '0');
        }
    }
    if (arch == 0 || i + 1 < word.length) {
        return ptx_fail(reader, STATUS_BAD_DATA, "a .target that is no sm_NN:", word);
    }
    reader->file->arch = arch;
    reader->file->arch_suffix = i < word.length ? word.text[i] : '\0';
    ptx_skip_line(reader); /* texmode_unified, debug */
    return STATUS_OK;
}

static enum status read_version(struct ptx_reader *reader)
{
    ptx_skip_space(reader);
    const struct ptx_slice word = ptx_word(reader);
    uint32_t parts[2] = {0, 0}, part = 0;
    for (size_t i = 0; i < word.length; i++) {
        const char c = word.text[i];
        if (c == '.' && part == 0) {
            part = 1;
        } else if (c >= '0' && c <= '9' && parts[part] < 1000) {
            parts[part] = parts[part] * 10 + (uint32_t)(c - '0');
        } else {
            return ptx_fail(reader, STATUS_BAD_DATA, "a .version that is no number:", word);
        }
    }
    if (parts[0] == 0 && reader->at < reader->end) {
        return ptx_fail(reader, STATUS_BAD_DATA, "a .version that is no number:", word);
    }
    reader->file->version_major = parts[0];
    reader->file->version_minor = parts[1];
    return STATUS_OK;
}

/* ---- header of an entry ---------------------------------------------------------------------------------------- */
struct header {
    struct ptx_slice *parameters;
    size_t count, capacity;
    bool ended;
};

static bool add_parameter(struct header *header, struct ptx_slice name)
{
    struct ptx_slice *larger =
        code_grown(header->parameters, header->count, 1, &header->capacity, sizeof *header->parameters);
    if (larger == NULL) {
        return false;
    }
    header->parameters = larger;
    header->parameters[header->count++] = name;
    return true;
}

/* From behind '(' to behind ')': the last word before ',' , '[' or ')' is a parameter's name. */
static enum status read_parameters(struct ptx_reader *reader, struct header *header)
{
    struct ptx_slice last = nothing;
    bool closed = false, in_extent = false;
    while (!closed) {
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            header->ended = true;
            return STATUS_OK;
        }
        const struct ptx_slice word = ptx_word(reader);
        if (word.length > 0) {
            last = in_extent || word.text[0] == '.' ? last : word;
            continue;
        }
        const char c = *reader->at++;
        in_extent = c == '[' || (in_extent && c != ']');
        closed = c == ')';
        if (!closed && strchr(",[]", c) == NULL) {
            return ptx_fail(reader, STATUS_BAD_DATA, "a list of parameters that cannot be read",
                            (struct ptx_slice){reader->at - 1, 1});
        }
        if ((closed || c == ',') && last.length > 0) {
            if (!add_parameter(header, last)) {
                return STATUS_NO_MEMORY;
            }
            last = nothing;
        }
    }
    return STATUS_OK;
}

/* 128, 2, 1 -> 256; false if there is no number. */
static bool read_product(struct ptx_reader *reader, uint64_t *product)
{
    *product = 1;
    for (int count = 0; count < 3; count++) {
        ptx_skip_space(reader);
        int64_t value;
        if (!ptx_integer(ptx_word(reader), &value) || value < 0 || value > UINT32_MAX ||
            __builtin_mul_overflow(*product, (uint64_t)value, product)) {
            return false;
        }
        ptx_skip_space(reader);
        if (ptx_peek(reader) != ',') {
            return true;
        }
        reader->at++;
    }
    return true;
}

static enum status read_limit(struct ptx_reader *reader, struct ptx_slice word, struct code_listing *listing)
{
    uint64_t value = 0;
    const bool exact = ptx_slice_is(word, ".reqntid"), most = ptx_slice_is(word, ".maxntid");
    const bool registers = ptx_slice_is(word, ".maxnreg"), least = ptx_slice_is(word, ".minnctapersm");
    if (!exact && !most && !registers && !least) {
        return STATUS_OK; /* its numbers are passed over with the rest */
    }
    if (!read_product(reader, &value) || value > UINT32_MAX) {
        return reader->at >= reader->end ? STATUS_OK : ptx_fail(reader, STATUS_BAD_DATA, "no number behind", word);
    }
    if (exact || (most && !listing->threads_exact)) {
        listing->threads = (uint32_t)value;
        listing->threads_exact = exact;
    } else if (registers) {
        listing->max_registers = (uint32_t)value;
    } else if (least) {
        listing->min_ctas_per_sm = (uint32_t)value;
    }
    return STATUS_OK;
}

/* Directives between the parameters and the '{', which is left standing. */
static enum status read_limits(struct ptx_reader *reader, struct header *header, struct code_listing *listing,
                               bool *declaration)
{
    for (;;) {
        ptx_skip_space(reader);
        const char c = ptx_peek(reader);
        if (reader->at >= reader->end) {
            header->ended = true;
            return STATUS_OK;
        }
        if (c == '{' || c == ';') {
            *declaration = c == ';';
            return STATUS_OK;
        }
        const struct ptx_slice word = ptx_word(reader);
        if (word.length == 0 && c == '"') { /* .pragma "..." and its ';' */
            header->ended = !ptx_skip_to(reader, ';');
        } else if (word.length == 0) {
            reader->at++;
        } else if (ptx_slice_is(word, ".pragma")) {
            header->ended = !ptx_skip_to(reader, ';');
        } else {
            const enum status status = read_limit(reader, word, listing);
            if (status != STATUS_OK) {
                return status;
            }
        }
        if (header->ended) {
            return STATUS_OK;
        }
    }
}

static enum status name_parameters(struct ptx_names *names, const struct header *header, struct code_listing *listing)
{
    listing->parameter_count = header->count;
    if (header->count == 0) {
        return STATUS_OK;
    }
    const char **texts = arena_allocate(listing->arena, header->count, sizeof *texts);
    if (texts == NULL) {
        return STATUS_NO_MEMORY;
    }
    listing->parameters = texts;
    for (size_t i = 0; i < header->count; i++) {
        texts[i] = arena_copy_text(listing->arena, header->parameters[i].text, header->parameters[i].length);
        if (texts[i] == NULL || ptx_names_bind(names, PTX_NAME_PARAMETER, header->parameters[i], 0, i) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

static enum status add_entry(struct ptx_reader *reader, struct code_listing **listing)
{
    struct ptx_file *file = reader->file;
    if (file->entry_count == PTX_ENTRIES_MAX) {
        return ptx_fail(reader, STATUS_LIMIT, "more than 16384 kernels", nothing);
    }
    if ((file->entry_count & (file->entry_count - 1)) == 0) { /* 0, 1, 2, 4, ...: full */
        const size_t capacity = file->entry_count == 0 ? 1 : file->entry_count * 2;
        struct code_listing *larger = realloc(file->entries, capacity * sizeof *larger);
        if (larger == NULL) {
            return STATUS_NO_MEMORY;
        }
        file->entries = larger;
    }
    *listing = &file->entries[file->entry_count];
    memset(*listing, 0, sizeof **listing);
    (*listing)->arena = calloc(1, sizeof *(*listing)->arena);
    if ((*listing)->arena == NULL) {
        return STATUS_NO_MEMORY;
    }
    file->entry_count++;
    (*listing)->arch = file->arch;
    (*listing)->arch_suffix = file->arch_suffix;
    return STATUS_OK;
}

static void drop_entry(struct ptx_file *file)
{
    code_listing_release(&file->entries[--file->entry_count]);
}

/* Behind ".entry name": parameters, limits, body. */
static enum status read_entry_parts(struct ptx_reader *reader, struct header *header, struct ptx_names *names,
                                    struct code_listing *listing)
{
    enum status status = STATUS_OK;
    bool declaration = false;
    ptx_skip_space(reader);
    if (ptx_peek(reader) == '(') {
        reader->at++;
        status = read_parameters(reader, header);
    }
    if (status == STATUS_OK && !header->ended) {
        status = read_limits(reader, header, listing, &declaration);
    }
    if (status != STATUS_OK || header->ended || declaration) {
        if (status == STATUS_OK) { /* nothing of it is worth keeping */
            reader->file->truncated |= header->ended;
            reader->at += declaration;
            drop_entry(reader->file);
        }
        return status;
    }
    reader->at++; /* '{' */
    status = name_parameters(names, header, listing);
    return status == STATUS_OK ? ptx_read_body(reader, names, listing) : status;
}

static enum status read_entry(struct ptx_reader *reader)
{
    if (reader->file->version_major == 0 || reader->file->arch == 0) {
        return ptx_fail(reader, STATUS_BAD_DATA,
                        reader->file->version_major == 0 ? "a kernel without .version before it"
                                                         : "a kernel without .target before it",
                        nothing);
    }
    ptx_skip_space(reader);
    const struct ptx_slice word = ptx_word(reader);
    if (reader->at >= reader->end) {
        reader->file->truncated = true;
        return STATUS_OK;
    }
    if (word.length == 0) {
        return ptx_fail(reader, STATUS_BAD_DATA, "no name behind .entry", nothing);
    }
    struct code_listing *listing = NULL;
    enum status status = add_entry(reader, &listing);
    if (status != STATUS_OK) {
        return status;
    }
    const size_t length = word.length < sizeof listing->name ? word.length : sizeof listing->name - 1;
    memcpy(listing->name, word.text, length);
    struct header header = {0};
    struct ptx_names names = {0};
    status = read_entry_parts(reader, &header, &names, listing);
    free(header.parameters);
    ptx_names_release(&names);
    return status;
}

/* A device function: a prototype ends with ';', a body is passed over. */
static enum status pass_function(struct ptx_reader *reader)
{
    for (;;) {
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            reader->file->truncated = true;
            return STATUS_OK;
        }
        if (*reader->at == ';') {
            reader->at++;
            return STATUS_OK;
        }
        if (*reader->at == '{') {
            reader->file->function_count++;
            reader->file->truncated |= !ptx_skip_braces(reader);
            return STATUS_OK;
        }
        if (ptx_word(reader).length == 0) {
            reader->at++;
        }
    }
}

/* ---- the file -------------------------------------------------------------------------------------------------- */
static enum status read_directive(struct ptx_reader *reader, struct ptx_slice word)
{
    bool ended = false;
    enum status status = STATUS_OK;
    if (ptx_slice_is(word, ".version")) {
        status = read_version(reader);
    } else if (ptx_slice_is(word, ".target")) {
        status = read_target(reader);
    } else if (ptx_slice_is(word, ".entry")) {
        status = read_entry(reader);
    } else if (ptx_slice_is(word, ".func")) {
        status = pass_function(reader);
    } else if (ptx_slice_is(word, ".shared")) {
        status = ptx_read_variables(reader, reader, take_module_shared, &ended);
    } else if (ptx_slice_is(word, ".global") || ptx_slice_is(word, ".const") || ptx_slice_is(word, ".local")) {
        status = ptx_read_variables(reader, reader, take_module_variable, &ended);
    } else if (ptx_slice_is(word, ".section")) {
        if (ptx_skip_to(reader, '{')) {
            reader->at--;
            ended = !ptx_skip_braces(reader);
        }
    } else if (ptx_slice_is(word, ".file") || ptx_slice_is(word, ".loc") || ptx_slice_is(word, ".address_size")) {
        ptx_skip_line(reader);
    } else if (ptx_slice_is(word, ".pragma") || ptx_slice_is(word, ".alias") || ptx_slice_is(word, ".callprototype")) {
        ended = !ptx_skip_to(reader, ';');
    } /* else .visible, .weak, .extern, ...: what they qualify follows */
    reader->file->truncated |= ended;
    return status;
}

static enum status read_file(struct ptx_reader *reader)
{
    for (;;) {
        ptx_skip_space(reader);
        if (reader->at >= reader->end) {
            break;
        }
        const struct ptx_slice word = ptx_word(reader);
        if (word.length == 0 && *reader->at == ';') {
            reader->at++;
            continue;
        }
        if (word.length == 0 || word.text[0] != '.') {
            const bool printable = word.length == 0 && *reader->at > ' ' && *reader->at < 127;
            return ptx_fail(reader, STATUS_BAD_DATA, "expected a PTX directive",
                            printable ? (struct ptx_slice){reader->at, 1} : word);
        }
        const enum status status = read_directive(reader, word);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (reader->file->version_major == 0) {
        return ptx_fail(reader, STATUS_BAD_DATA, "no .version: not PTX", nothing);
    }
    if (reader->file->entry_count == 0) {
        return ptx_fail(reader, STATUS_BAD_DATA,
                        reader->file->truncated ? "the text ends before the first kernel's body" : "no kernel (.entry)",
                        nothing);
    }
    return STATUS_OK;
}

enum status ptx_listing_read(const char *text, size_t length, const char *name, struct ptx_file *file,
                             struct error *error)
{
    memset(file, 0, sizeof *file);
    struct ptx_reader reader = {
        .at = text, .end = text + length, .line = 1, .name = name, .error = error, .file = file};
    const enum status status = read_file(&reader);
    ptx_names_release(&reader.module);
    if (status != STATUS_OK) {
        ptx_file_release(file);
        return status == STATUS_NO_MEMORY ? error_set_at(error, status, name, 0, 0, "memory ran out") : status;
    }
    return STATUS_OK;
}

void ptx_file_release(struct ptx_file *file)
{
    for (size_t i = 0; i < file->entry_count; i++) {
        code_listing_release(&file->entries[i]);
    }
    free(file->entries);
    memset(file, 0, sizeof *file);
}

const struct code_listing *ptx_file_entry(const struct ptx_file *file, const char *name)
{
    for (size_t i = 0; i < file->entry_count; i++) {
        if (strcmp(file->entries[i].name, name) == 0) {
            return &file->entries[i];
        }
    }
    return NULL;
}
