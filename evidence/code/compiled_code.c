/* SPDX-License-Identifier: GPL-3.0-or-later
 * Puts the sources of each compiled variant together: within one folder and stem, by kernel name and architecture. */
#include "evidence/code/compiled_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "evidence/code/compiler_log.h"
#include "evidence/code/cubin_file.h"
#include "evidence/code/ptx_listing.h"
#include "evidence/code/resource_usage_text.h"
#include "evidence/code/sass_listing.h"
#include "evidence/code/triton_entry.h"

enum {
    NAME_BUCKETS = 4096,
    NAME_CHAIN_MAX = 256,     /* variants of one name that are compared */
    LISTING_NAME_LENGTH = 255 /* longer names are cut in listings */
};

struct name_table {
    uint32_t heads[NAME_BUCKETS]; /* variant + 1 */
    uint32_t *next;               /* of each variant of the group, variant + 1 */
    size_t first, capacity;       /* of the group */
};

struct code_reader {
    struct compiled_code *code;
    const struct code_group *group;
    enum code_listing_choice choice;
    bool is_strict; /* a file that cannot be read is an error */
    struct error *error;
    struct name_table names;
};

static enum status no_memory(struct code_reader *self)
{
    return error_set(self->error, STATUS_NO_MEMORY, "no memory for the compiled kernels");
}

/* --- which variant a record belongs to -----------------------------------------------------------------------------
 */

static size_t shared_length(const char *name)
{
    size_t length = strlen(name);
    return length >= LISTING_NAME_LENGTH ? LISTING_NAME_LENGTH : compiled_plain_name_length(name);
}

static uint32_t name_bucket(const char *name)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0, length = shared_length(name); i < length; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 16777619u; /* FNV-1a */
    }
    return hash % NAME_BUCKETS;
}

static bool is_same_kernel(const struct compiled_kernel *left, const struct compiled_kernel *right)
{
    bool is_cut = strlen(left->name) == LISTING_NAME_LENGTH || strlen(right->name) == LISTING_NAME_LENGTH;
    bool same_name = is_cut ? strncmp(left->name, right->name, LISTING_NAME_LENGTH) == 0
                            : compiled_names_match(left->name, right->name);
    return same_name && (left->arch == 0 || right->arch == 0 || left->arch == right->arch);
}

/* The variant of this group that the record belongs to, one that has nothing of this source yet; NULL: a new one. */
static struct code_variant *find_variant(struct code_reader *self, const struct compiled_kernel *kernel,
                                         enum code_source source)
{
    uint32_t link = self->names.heads[name_bucket(kernel->name)];
    for (unsigned steps = 0; link != 0 && steps < NAME_CHAIN_MAX; steps++) {
        struct code_variant *variant = &self->code->variants[link - 1];
        if ((variant->sources >> source & 1) == 0 && is_same_kernel(&variant->kernel, kernel)) {
            return variant;
        }
        link = self->names.next[link - 1 - self->names.first];
    }
    return NULL;
}

static enum status grow(struct code_reader *self)
{
    struct compiled_code *code = self->code;
    if (code->count == code->capacity) {
        size_t capacity = code->capacity == 0 ? 64 : 2 * code->capacity;
        struct code_variant *variants = realloc(code->variants, capacity * sizeof *variants);
        if (variants == NULL) {
            return no_memory(self);
        }
        code->variants = variants;
        code->capacity = capacity;
    }
    size_t used = code->count - self->names.first;
    if (used == self->names.capacity) {
        size_t capacity = used == 0 ? 64 : 2 * used;
        uint32_t *next = realloc(self->names.next, capacity * sizeof *next);
        if (next == NULL) {
            return no_memory(self);
        }
        self->names.next = next;
        self->names.capacity = capacity;
    }
    return STATUS_OK;
}

static enum status add_variant(struct code_reader *self, const struct compiled_kernel *kernel,
                               struct code_variant **variant)
{
    enum status status = grow(self);
    if (status != STATUS_OK) {
        return status;
    }
    struct compiled_code *code = self->code;
    uint32_t bucket = name_bucket(kernel->name);
    self->names.next[code->count - self->names.first] = self->names.heads[bucket];
    self->names.heads[bucket] = (uint32_t)code->count + 1;
    *variant = &code->variants[code->count++];
    **variant = (struct code_variant){.kernel = *kernel, .index_row = -1};
    (*variant)->label = arena_copy_text(&code->arena, self->group->label, strlen(self->group->label));
    (*variant)->stem = arena_copy_text(&code->arena, self->group->stem, strlen(self->group->stem));
    return (*variant)->label != NULL && (*variant)->stem != NULL ? STATUS_OK : no_memory(self);
}

/* Adds what a record says to its variant. */
static enum status take_record(struct code_reader *self, struct compiled_kernel *kernel, enum code_source source,
                               struct code_variant **variant)
{
    if (kernel->name[0] == '\0') {
        const char *stem = arena_copy_text(&self->code->arena, self->group->stem, strlen(self->group->stem));
        kernel->name = stem != NULL ? stem : kernel->name;
    }
    *variant = find_variant(self, kernel, source);
    enum status status = STATUS_OK;
    if (*variant == NULL) {
        status = add_variant(self, kernel, variant);
    } else {
        struct compiled_kernel *into = &(*variant)->kernel;
        enum compiled_figure conflict;
        (void)compiled_kernel_merge(into, kernel, &conflict);
        if (conflict != COMPILED_FIGURE_COUNT) {
            compiled_kernel_remark(&self->code->kernels, into, "%s: %s says %llu, %s %llu",
                                   compiled_figure_name(conflict), code_source_name(into->figures[conflict].source),
                                   (unsigned long long)into->figures[conflict].value, code_source_name(source),
                                   (unsigned long long)kernel->figures[conflict].value);
        }
        if (kernel->note[0] != '\0') {
            compiled_kernel_remark(&self->code->kernels, into, "%s", kernel->note);
        }
        into->is_rejected = into->is_rejected || kernel->is_rejected;
    }
    if (status == STATUS_OK) {
        (*variant)->sources |= 1u << source;
    }
    return status;
}

/* Records first..count of the list. They may move: each is copied before it is taken. */
static enum status take_records(struct code_reader *self, size_t first, enum code_source source)
{
    enum status status = STATUS_OK;
    for (size_t i = first; i < self->code->kernels.count && status == STATUS_OK; i++) {
        struct compiled_kernel kernel = self->code->kernels.items[i];
        struct code_variant *variant;
        status = take_record(self, &kernel, source, &variant);
    }
    return status;
}

/* --- the index beside the files ------------------------------------------------------------------------------------
 */

static void set_from_index(struct code_variant *variant, enum compiled_figure figure, double value)
{
    struct code_figure *present = &variant->kernel.figures[figure];
    /* A bound that the index names too is what the launch has. */
    const bool is_bound = present->state == FIGURE_AT_MOST && (double)present->value == value;
    if ((present->state == FIGURE_UNKNOWN || is_bound) && value >= 0 && value < 1e15 &&
        value == (double)(uint64_t)value) {
        *present = (struct code_figure){FIGURE_EXACT, CODE_SOURCE_INDEX, (uint64_t)value};
    }
}

static void apply_index(struct code_reader *self, struct code_variant *variant)
{
    static const struct {
        const char *column;
        enum compiled_figure figure;
        double scale;
    } columns[] = {{"registers", COMPILED_REGISTERS, 1},
                   {"registers_per_thread", COMPILED_REGISTERS, 1},
                   {"shared", COMPILED_DYNAMIC_SMEM, 1},
                   {"smem_bytes", COMPILED_DYNAMIC_SMEM, 1},
                   {"dynamic_smem_bytes", COMPILED_DYNAMIC_SMEM, 1},
                   {"stack_bytes", COMPILED_STACK, 1},
                   {"local_bytes", COMPILED_STACK, 1},
                   {"n_spills", COMPILED_STACK, 4}, /* Triton's count: the frame in registers of 4 bytes */
                   {"spills", COMPILED_STACK, 4},
                   {"num_warps", COMPILED_NUM_WARPS, 1},
                   {"num_warps", COMPILED_THREADS, 32},
                   {"threads", COMPILED_THREADS, 1},
                   {"num_stages", COMPILED_NUM_STAGES, 1}};
    const struct csv_table *index = &self->code->index;
    long file = self->code->has_index ? csv_column(index, "file") : -1;
    for (size_t row = 0; file >= 0 && variant->index_row < 0 && row < index->row_count; row++) {
        variant->index_row =
            strcmp(csv_cell(index, row, (size_t)file), self->group->stem) == 0 ? (long)row : variant->index_row;
    }
    if (variant->index_row < 0) {
        return;
    }
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        long column = csv_column(index, columns[i].column);
        double value;
        if (column >= 0 &&
            number_parse(csv_cell(index, (size_t)variant->index_row, (size_t)column), &value) == STATUS_OK) {
            set_from_index(variant, columns[i].figure, value * columns[i].scale);
        }
    }
    variant->sources |= 1u << CODE_SOURCE_INDEX;
}

/* --- listings ------------------------------------------------------------------------------------------------------
 */

static enum status record_of_listing(struct code_reader *self, const struct code_listing *listing, const char *path,
                                     struct compiled_kernel *kernel)
{
    struct compiled_kernel *added;
    enum status status =
        compiled_kernel_list_add(&self->code->kernels, listing->name, strlen(listing->name), path, &added, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    enum code_source source = listing->is_sass ? CODE_SOURCE_SASS : CODE_SOURCE_PTX;
    added->arch = listing->arch;
    added->arch_suffix = listing->arch_suffix;
    added->line = listing->count > 0 ? listing->items[0].line : 0;
    if (listing->threads > 0) {
        compiled_kernel_set(added, COMPILED_THREADS, listing->threads_exact ? FIGURE_EXACT : FIGURE_AT_MOST, source,
                            listing->threads);
    }
    if (listing->static_smem_bytes > 0) {
        compiled_kernel_set(added, COMPILED_STATIC_SMEM, FIGURE_AT_MOST, source, listing->static_smem_bytes);
    }
    if (listing->is_sass && listing->local_bytes > 0) {
        compiled_kernel_set(added, COMPILED_STACK, FIGURE_EXACT, source, listing->local_bytes);
    }
    if (listing->max_registers > 0) {
        compiled_kernel_set(added, COMPILED_REGISTER_CAP, FIGURE_EXACT, source, listing->max_registers);
    }
    if (listing->arch > 0) {
        compiled_kernel_set(added, COMPILED_RESERVED_SMEM, FIGURE_EXACT, source,
                            compiled_reserved_smem_bytes(listing->arch));
    }
    *kernel = *added;
    return STATUS_OK;
}

static bool is_profiled(const struct code_reader *self, bool is_sass)
{
    if (self->choice == CODE_LISTING_AUTO) {
        return true;
    }
    return is_sass == (self->choice == CODE_LISTING_SASS);
}

/* The second listing of a variant is of the other kind: SASS stays, with what PTX knows better. */
static void take_profile(struct code_variant *variant, struct code_profile *profile, const char *file)
{
    struct code_profile *earlier = variant->profile;
    const char *earlier_file = variant->profile_file;
    if (earlier == NULL || profile->is_sass) {
        variant->profile = profile;
        variant->profile_file = file;
    }
    if (earlier != NULL && earlier->is_sass != profile->is_sass) {
        variant->address_file = profile->is_sass ? earlier_file : file;
        code_profile_take_bytes(variant->profile, profile->is_sass ? earlier : profile);
    }
}

static enum status compute_profile(struct code_reader *self, struct code_listing *listing, const char *path,
                                   struct code_variant *variant)
{
    const struct code_figure *threads = &variant->kernel.figures[COMPILED_THREADS];
    if (threads->state == FIGURE_EXACT && threads->value <= 65536) {
        listing->threads = (uint32_t)threads->value;
        listing->threads_exact = true;
    }
    struct code_profile *profile = arena_allocate(&self->code->arena, 1, sizeof *profile);
    if (profile == NULL) {
        return no_memory(self);
    }
    struct error error = {0};
    enum status status = code_profile_compute(listing, profile, &error);
    if (status == STATUS_NO_MEMORY) {
        return no_memory(self);
    }
    if (status != STATUS_OK) {
        compiled_kernel_remark(&self->code->kernels, &variant->kernel, "%s", error.text);
        return STATUS_OK;
    }
    const char *file = arena_copy_text(&self->code->arena, path, strlen(path));
    take_profile(variant, profile, file);
    return file != NULL ? STATUS_OK : no_memory(self);
}

static enum status take_listings(struct code_reader *self, struct code_listing *listings, size_t count,
                                 const char *path)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct code_listing *listing = &listings[i];
        struct compiled_kernel kernel;
        struct code_variant *variant = NULL;
        status = record_of_listing(self, listing, path, &kernel);
        if (status == STATUS_OK) {
            status = take_record(self, &kernel, listing->is_sass ? CODE_SOURCE_SASS : CODE_SOURCE_PTX, &variant);
        }
        if (status == STATUS_OK) {
            apply_index(self, variant);
            if (is_profiled(self, listing->is_sass)) {
                status = compute_profile(self, listing, path, variant);
            }
        }
    }
    return status;
}

/* --- files ---------------------------------------------------------------------------------------------------------
 */

static enum status read_log(struct code_reader *self, const char *text, size_t length, const char *path)
{
    size_t first = self->code->kernels.count;
    bool is_report = resource_usage_text_is_one(text, length);
    bool is_log = compiler_log_is_one(text, length);
    if (!is_report && !is_log) {
        return error_set_at(self->error, STATUS_BAD_DATA, path, 0, 0,
                            "neither a ptxas log nor a resource report of cuobjdump");
    }
    enum status status = is_log ? compiler_log_parse(text, length, path, &self->code->kernels, self->error)
                                : resource_usage_text_parse(text, length, path, &self->code->kernels, self->error);
    return status == STATUS_OK
               ? take_records(self, first, is_log ? CODE_SOURCE_COMPILER_LOG : CODE_SOURCE_RESOURCE_USAGE)
               : status;
}

static enum status read_json(struct code_reader *self, const char *text, size_t length, const char *path)
{
    size_t first = self->code->kernels.count;
    enum triton_json_kind kind;
    enum status status = triton_entry_parse(text, length, path, &self->code->kernels, &kind, NULL, self->error);
    if (status == STATUS_OK && kind != TRITON_JSON_KERNEL && self->is_strict) {
        return error_set_at(self->error, STATUS_BAD_DATA, path, 0, 0,
                            "not the JSON of a compiled kernel (no \"shared\" and \"num_warps\")");
    }
    return status == STATUS_OK ? take_records(self, first, CODE_SOURCE_TRITON_JSON) : status;
}

static enum status read_ptx(struct code_reader *self, const char *text, size_t length, const char *path)
{
    struct ptx_file file = {0};
    enum status status = ptx_listing_read(text, length, path, &file, self->error);
    if (status == STATUS_OK) {
        status = take_listings(self, file.entries, file.entry_count, path);
    }
    ptx_file_release(&file);
    return status;
}

static enum status read_sass(struct code_reader *self, const char *text, size_t length, const char *path)
{
    struct sass_file file = {0};
    enum status status = sass_listing_read(text, length, path, &file, self->error);
    if (status == STATUS_OK) {
        status = take_listings(self, file.functions, file.function_count, path);
    }
    sass_file_release(&file);
    return status;
}

static enum status read_code_file(struct code_reader *self, enum code_file_kind kind, const char *path)
{
    static const size_t limits[CODE_FILE_KINDS] = {CUBIN_BYTES_MAX, CODE_TEXT_BYTES_MAX, TRITON_JSON_BYTES_MAX,
                                                   CODE_TEXT_BYTES_MAX, CODE_TEXT_BYTES_MAX};
    char *text = NULL;
    size_t length = 0, first = self->code->kernels.count;
    enum status status = file_read_text(path, limits[kind], &text, &length, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    switch (kind) {
    case CODE_FILE_CUBIN:
        status = cubin_parse(text, length, path, &self->code->kernels, self->error);
        status = status == STATUS_OK ? take_records(self, first, CODE_SOURCE_CUBIN) : status;
        break;
    case CODE_FILE_LOG:
        status = read_log(self, text, length, path);
        break;
    case CODE_FILE_JSON:
        status = read_json(self, text, length, path);
        break;
    case CODE_FILE_PTX:
        status = read_ptx(self, text, length, path);
        break;
    case CODE_FILE_SASS:
        status = read_sass(self, text, length, path);
        break;
    case CODE_FILE_KINDS:
    default:
        BUG("unknown kind of code file %d", (int)kind);
    }
    free(text);
    return status;
}

static enum status note_problem(struct code_reader *self, const char *path)
{
    struct compiled_code *code = self->code;
    char text[1280];
    if (code->problem_count < CODE_PROBLEMS_MAX) {
        if (self->error->file[0] == '\0') {
            (void)error_set_at(self->error, self->error->status, path, 0, 0, "%s", self->error->text);
        }
        (void)error_describe(self->error, text, sizeof text);
        code->problems[code->problem_count] = arena_copy_text(&code->arena, text, strlen(text));
        if (code->problems[code->problem_count] == NULL) {
            return no_memory(self);
        }
    }
    code->problem_count++;
    *self->error = (struct error){0};
    return STATUS_OK;
}

static enum status read_group(struct code_reader *self, const struct code_group *group)
{
    enum status status = STATUS_OK;
    self->group = group;
    memset(self->names.heads, 0, sizeof self->names.heads);
    self->names.first = self->code->count;
    for (int kind = 0; kind < CODE_FILE_KINDS && status == STATUS_OK; kind++) {
        if (group->paths[kind] != NULL) {
            status = read_code_file(self, (enum code_file_kind)kind, group->paths[kind]);
            if (status != STATUS_OK && status != STATUS_NO_MEMORY && !self->is_strict) {
                status = note_problem(self, group->paths[kind]);
            }
        }
    }
    for (size_t i = self->names.first; i < self->code->count && status == STATUS_OK; i++) {
        apply_index(self, &self->code->variants[i]);
    }
    return status;
}

/* What a file named by hand is: by its first bytes where they say, else by its words, else by its name. */
static enum status recognise(const char *path, enum code_file_kind *kind, struct error *error)
{
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read_text(path, CUBIN_BYTES_MAX, &text, &length, error);
    if (status != STATUS_OK) {
        return status;
    }
    const char *start = text + strspn(text, " \t\r\n\f\v");
    *kind = code_file_kind_of(path);
    if (cubin_is_elf(text, length) || cubin_is_fatbin(text, length)) {
        *kind = CODE_FILE_CUBIN;
    } else if (*start == '{') {
        *kind = CODE_FILE_JSON;
    } else if (resource_usage_text_is_one(text, length) || compiler_log_is_one(text, length)) {
        *kind = CODE_FILE_LOG;
    } else if (strstr(text, ".version") != NULL && strstr(text, ".target") != NULL && strstr(text, ".entry") != NULL) {
        *kind = CODE_FILE_PTX;
    } else if (strstr(text, "/*0000*/") != NULL || strstr(text, "Function :") != NULL) {
        *kind = CODE_FILE_SASS;
    }
    free(text);
    if (*kind == CODE_FILE_KINDS) {
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                            "neither a cubin, PTX, SASS, a ptxas log, a resource report nor Triton's JSON");
    }
    return STATUS_OK;
}

static enum status read_index(struct code_reader *self, const char *folder)
{
    char path[4096];
    struct stat about;
    int length = snprintf(path, sizeof path, "%s/index.csv", folder);
    if (self->code->has_index || length < 0 || (size_t)length >= sizeof path || lstat(path, &about) != 0 ||
        !S_ISREG(about.st_mode)) {
        return STATUS_OK;
    }
    enum status status = csv_read(path, CODE_TEXT_BYTES_MAX, &self->code->index, self->error);
    self->code->has_index = status == STATUS_OK;
    if (status == STATUS_OK && csv_column(&self->code->index, "file") < 0) {
        status = error_set_at(self->error, STATUS_BAD_DATA, path, 1, 0,
                              "an index of compiled files needs a column 'file' with their names without ending");
    }
    return status;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static enum status read_groups(struct code_reader *self, const struct triton_cache *cache)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < cache->count && status == STATUS_OK; i++) {
        status = read_group(self, &cache->groups[i]);
    }
    return status;
}

/* Files named by hand: those of one folder and stem belong together. */
static enum status read_files(struct code_reader *self, const char *const *paths, size_t path_count)
{
    struct triton_cache cache = {0};
    enum status status = STATUS_OK;
    self->is_strict = true;
    for (size_t i = 0; i < path_count && status == STATUS_OK; i++) {
        enum code_file_kind kind = CODE_FILE_KINDS;
        if (!is_folder(paths[i])) {
            status = recognise(paths[i], &kind, self->error);
            status = status == STATUS_OK ? triton_cache_add_file(&cache, paths[i], kind, self->error) : status;
        }
    }
    status = status == STATUS_OK ? read_groups(self, &cache) : status;
    triton_cache_release(&cache);
    return status;
}

static enum status read_folder(struct code_reader *self, const char *path)
{
    struct triton_cache cache = {0};
    self->is_strict = false;
    enum status status = triton_cache_walk(path, &cache, self->error);
    status = status == STATUS_OK ? read_index(self, path) : status;
    status = status == STATUS_OK ? read_groups(self, &cache) : status;
    self->code->skipped_links += cache.skipped_links;
    self->code->skipped_folders += cache.skipped_folders;
    triton_cache_release(&cache);
    return status;
}

enum status compiled_code_read(const char *const *paths, size_t path_count, enum code_listing_choice listing,
                               struct compiled_code *code, struct error *error)
{
    struct error own_error = {0};
    struct code_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the compiled kernels");
    }
    *reader = (struct code_reader){.code = code, .choice = listing, .error = error != NULL ? error : &own_error};
    enum status status = read_files(reader, paths, path_count);
    for (size_t i = 0; i < path_count && status == STATUS_OK; i++) {
        status = is_folder(paths[i]) ? read_folder(reader, paths[i]) : STATUS_OK;
    }
    if (status == STATUS_OK && code->count == 0) {
        status = code->problem_count > 0
                     ? error_set(reader->error, STATUS_BAD_DATA, "no kernel could be read: %s", code->problems[0])
                     : error_set_at(reader->error, STATUS_NOT_FOUND, paths[0], 0, 0,
                                    "no compiled kernel here (.cubin, .ptx, .sass, .log, or Triton's .json)");
    }
    free(reader->names.next);
    free(reader);
    return status;
}

void compiled_code_release(struct compiled_code *code)
{
    free(code->variants);
    if (code->has_index) {
        csv_table_release(&code->index);
    }
    compiled_kernel_list_release(&code->kernels);
    arena_release(&code->arena);
    *code = (struct compiled_code){0};
}
