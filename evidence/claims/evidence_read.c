/* SPDX-License-Identifier: GPL-3.0-or-later
 * Sends each file to its reader. Compiled code goes to compiled_code_read in one call, which puts together what belongs
 * together. */
#include "evidence/claims/evidence_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "evidence/claims/evidence_walk.h"
#include "evidence/code/compiler_log.h"
#include "evidence/code/resource_usage_text.h"

struct reading {
    struct evidence *evidence;
    struct error *error;
    bool in_folder;
    const struct evidence_paths *folder; /* its files, sorted */
    size_t code_count, code_capacity;
    const char **code; /* paths for compiled_code_read */
};

static enum status no_memory(struct reading *self)
{
    return error_set(self->error, STATUS_NO_MEMORY, "no memory for the evidence");
}

static enum status note_problem(struct reading *self, const char *path)
{
    struct evidence *evidence = self->evidence;
    char text[1280];
    if (evidence->problem_count < EVIDENCE_PROBLEMS_MAX) {
        if (self->error->file[0] == '\0') {
            char own[sizeof self->error->text];
            (void)snprintf(own, sizeof own, "%s", self->error->text);
            (void)error_set_at(self->error, self->error->status, path, 0, 0, "%s", own);
        }
        (void)error_describe(self->error, text, sizeof text);
        const char *copy = arena_copy_text(&evidence->arena, text, strlen(text));
        if (copy == NULL) {
            return no_memory(self);
        }
        evidence->problems[evidence->problem_count] = copy;
    }
    evidence->problem_count++;
    *self->error = (struct error){0};
    return STATUS_OK;
}

static enum status add_file(struct reading *self, const char *path, const struct evidence_kind *kind,
                            struct evidence_file **file)
{
    struct evidence *evidence = self->evidence;
    if (evidence->file_count == evidence->file_capacity) {
        const size_t capacity = evidence->file_capacity == 0 ? 16 : 2 * evidence->file_capacity;
        struct evidence_file *files = realloc(evidence->files, capacity * sizeof *files);
        if (files == NULL) {
            return no_memory(self);
        }
        evidence->files = files;
        evidence->file_capacity = capacity;
    }
    *file = &evidence->files[evidence->file_count];
    **file = (struct evidence_file){.kind = kind, .is_named = !self->in_folder, .first_skipped = "", .remark = ""};
    (*file)->path = arena_copy_text(&evidence->arena, path, strlen(path));
    if ((*file)->path == NULL) {
        return no_memory(self);
    }
    evidence->file_count++;
    return STATUS_OK;
}

/* What a reader said of its file stands in the list until the next file. */
static enum status take_remarks(struct reading *self, struct evidence_file *file)
{
    struct kernel_claim_list *list = &self->evidence->claims;
    struct serving_results *serving = &self->evidence->serving;
    const bool is_serving = file->kind->room == EVIDENCE_SERVING;
    const char *skipped = is_serving ? serving->first_skipped : list->first_skipped;
    file->count = (is_serving ? serving->count : list->count) - file->first;
    file->skipped = is_serving ? serving->skipped : list->skipped;
    file->first_skipped = arena_copy_text(&self->evidence->arena, skipped, strlen(skipped));
    file->remark = is_serving ? "" : arena_copy_text(&self->evidence->arena, list->remark, strlen(list->remark));
    list->skipped = 0;
    serving->skipped = 0;
    list->first_skipped[0] = list->remark[0] = serving->first_skipped[0] = '\0';
    return file->first_skipped != NULL && file->remark != NULL ? STATUS_OK : no_memory(self);
}

static enum status read_with(struct reading *self, const char *path, const struct evidence_kind *kind)
{
    struct evidence *evidence = self->evidence;
    struct evidence_file *file = NULL;
    enum status status = add_file(self, path, kind, &file);
    if (status != STATUS_OK) {
        return status;
    }
    file->first = kind->room == EVIDENCE_SERVING ? evidence->serving.count : evidence->claims.count;
    status = kind->room == EVIDENCE_SERVING ? serving_results_read(path, &evidence->serving, self->error)
                                            : kind->read(path, &evidence->claims, self->error);
    if (status == STATUS_OK && kind->room != EVIDENCE_SERVING) {
        status = kernel_claim_list_clean(&evidence->claims, file->first, self->error);
    }
    if (status == STATUS_OK && evidence->claims.count > EVIDENCE_CLAIMS_MAX) {
        return error_set_at(self->error, STATUS_LIMIT, path, 0, 0, "more than %d claims", EVIDENCE_CLAIMS_MAX);
    }
    if (status != STATUS_OK) { /* what it had said so far goes with it */
        evidence->claims.count = kind->room == EVIDENCE_SERVING ? evidence->claims.count : file->first;
        evidence->serving.count = kind->room == EVIDENCE_SERVING ? file->first : evidence->serving.count;
    }
    enum status remarks = take_remarks(self, file);
    evidence->file_count -= status != STATUS_OK;
    return status != STATUS_OK ? status : remarks;
}

/* --- serving results -----------------------------------------------------------------------------------------------
 */

static int compare_paths(const void *key, const void *item)
{
    const char *const *path = item;
    return strcmp(key, *path);
}

static bool is_in_folder(const struct reading *self, const char *path)
{
    return self->folder != NULL && bsearch(path, self->folder->items, self->folder->count,
                                           sizeof self->folder->items[0], compare_paths) != NULL;
}

/* A run that another file of the folder says more about: NAME.csv beside NAME.json, agg_NAME beside NAME. */
static bool is_second_form(const struct reading *self, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(path), folder = (size_t)(name - path);
    struct text_buffer other = {0};
    if (length > 4 && strcmp(path + length - 4, ".csv") == 0) {
        text_buffer_append_bytes(&other, path, length - 4);
        text_buffer_append(&other, ".json");
    } else if (strncmp(name, "agg_", 4) == 0) {
        text_buffer_append_bytes(&other, path, folder);
        text_buffer_append(&other, name + 4);
    }
    const bool is_second = other.text != NULL && !other.failed && is_in_folder(self, other.text);
    text_buffer_release(&other);
    return is_second;
}

static const struct evidence_kind *serving_kind(void)
{
    for (size_t i = 0; i < evidence_kind_count(); i++) {
        if (evidence_kind_get(i)->room == EVIDENCE_SERVING) {
            return evidence_kind_get(i);
        }
    }
    return NULL;
}

static bool may_be_serving(const char *path)
{
    static const char *const endings[] = {".json", ".jsonl", ".csv", ".txt", ".log", ".md"};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcmp(ending, endings[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Their reader knows more forms than the first bytes tell. */
static enum status try_serving(struct reading *self, const char *path, bool *is_one)
{
    struct error before = *self->error;
    enum status status = may_be_serving(path) ? read_with(self, path, serving_kind()) : STATUS_BAD_DATA;
    *is_one = status == STATUS_OK;
    if (status != STATUS_OK && status != STATUS_NO_MEMORY) {
        *self->error = before;
        status = STATUS_OK;
    }
    return status;
}

/* --- files of compiled code ----------------------------------------------------------------------------------------
 */

static enum status push_code(struct reading *self, const char *path)
{
    if (self->code_count == self->code_capacity) {
        const size_t capacity = self->code_capacity == 0 ? 16 : 2 * self->code_capacity;
        const char **code = realloc(self->code, capacity * sizeof *code);
        if (code == NULL) {
            return no_memory(self);
        }
        self->code = code;
        self->code_capacity = capacity;
    }
    const char *copy = arena_copy_text(&self->evidence->arena, path, strlen(path));
    if (copy == NULL) {
        return no_memory(self);
    }
    self->code[self->code_count++] = copy;
    return STATUS_OK;
}

/* A text in a folder that is a compiler's report as a whole: what only quotes one must not end the reading. */
static enum status check_report(struct reading *self, const char *path)
{
    static const char *const endings[] = {".txt", ".out", ".err"};
    const char *ending = strrchr(path, '.');
    bool may_be_one = false;
    for (size_t i = 0; ending != NULL && i < sizeof endings / sizeof endings[0]; i++) {
        may_be_one = may_be_one || strcmp(ending, endings[i]) == 0;
    }
    if (!may_be_one) {
        return error_set_at(self->error, STATUS_BAD_DATA, path, 0, 0,
                            "looks like compiled code, which a folder holds as .cubin, .ptx, .sass, .log, .json or "
                            ".txt; name it by hand");
    }
    struct compiled_kernel_list kernels = {0};
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read_text(path, CODE_TEXT_BYTES_MAX, &text, &length, self->error);
    if (status == STATUS_OK) {
        status = compiler_log_is_one(text, length)
                     ? compiler_log_parse(text, length, path, &kernels, self->error)
                     : resource_usage_text_parse(text, length, path, &kernels, self->error);
    }
    free(text);
    compiled_kernel_list_release(&kernels);
    return status;
}

/* compiled_code_read finds files of compiled code in folders itself, by their names; others are named to it. */
static enum status take_code(struct reading *self, const char *path)
{
    enum status status = STATUS_OK;
    if (self->in_folder && code_file_kind_of(path) != CODE_FILE_KINDS) {
        return STATUS_OK;
    }
    if (self->in_folder) {
        status = check_report(self, path);
    }
    return status == STATUS_OK ? push_code(self, path) : status;
}

static enum status read_file(struct reading *self, const char *path)
{
    const struct evidence_kind *kind, *second;
    bool is_serving = false;
    enum status status = evidence_recognise(path, &kind, &second, self->error);
    if (status == STATUS_OK && kind->room == EVIDENCE_UNKNOWN) {
        status = try_serving(self, path, &is_serving);
    }
    if (status != STATUS_OK || is_serving) {
        return status;
    }
    switch (kind->room) {
    case EVIDENCE_CODE:
        status = take_code(self, path);
        return status == STATUS_OK && second != NULL ? read_with(self, path, second) : status;
    case EVIDENCE_CLAIMS:
        return read_with(self, path, kind);
    case EVIDENCE_SERVING:
        return is_second_form(self, path) ? STATUS_OK : read_with(self, path, kind);
    case EVIDENCE_IGNORED:
        return STATUS_OK;
    case EVIDENCE_REFUSED:
        return error_set_at(self->error, STATUS_BAD_DATA, path, 0, 0, "%s: %s", kind->name, kind->advice);
    case EVIDENCE_UNKNOWN:
    default:
        /* By its name compiled code: that reader knows what is wrong with it. */
        if (!self->in_folder && code_file_kind_of(path) != CODE_FILE_KINDS) {
            return take_code(self, path);
        }
        self->evidence->unknown_files += self->in_folder;
        return self->in_folder
                   ? STATUS_OK
                   : error_set_at(self->error, STATUS_BAD_DATA, path, 0, 0,
                                  "nothing known here: neither compiled code (cubin, PTX, SASS, ptxas log, resource "
                                  "report, Triton's JSON), nor a trace, a profiler's table, a tuner's results or "
                                  "serving results");
    }
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static enum status read_folder(struct reading *self, const char *path)
{
    struct evidence_paths files = {0};
    enum status status = evidence_walk(path, EVIDENCE_DEPTH_MAX, EVIDENCE_FILES_MAX, &files, self->error);
    self->in_folder = true;
    self->folder = &files;
    for (size_t i = 0; i < files.count && status == STATUS_OK; i++) {
        status = read_file(self, files.items[i]);
        if (status != STATUS_OK && status != STATUS_NO_MEMORY) {
            status = note_problem(self, files.items[i]);
        }
    }
    self->in_folder = false;
    self->folder = NULL;
    evidence_paths_release(&files);
    return status;
}

/* --- compiled code -------------------------------------------------------------------------------------------------
 */

static bool begins_with_place(const char *problem, const char *path, size_t length)
{
    return strncmp(problem, path, length) == 0 && problem[length] == ':';
}

/* By another reader, with or without success. */
static bool was_read(const struct evidence *evidence, const char *problem)
{
    for (size_t i = 0; i < evidence->file_count; i++) {
        if (begins_with_place(problem, evidence->files[i].path, strlen(evidence->files[i].path))) {
            return true;
        }
    }
    for (size_t i = 0; i < evidence->problem_count && i < EVIDENCE_PROBLEMS_MAX; i++) {
        if (begins_with_place(problem, evidence->problems[i], strcspn(evidence->problems[i], ":"))) {
            return true;
        }
    }
    return false;
}

/* A trace in a folder is no broken Triton entry, whatever its name ends in. */
static void drop_answered_problems(const struct evidence *evidence, struct compiled_code *code)
{
    size_t kept = 0;
    const size_t told = code->problem_count < CODE_PROBLEMS_MAX ? code->problem_count : CODE_PROBLEMS_MAX;
    for (size_t i = 0; i < told; i++) {
        if (!was_read(evidence, code->problems[i])) {
            code->problems[kept++] = code->problems[i];
        }
    }
    code->problem_count -= told - kept;
}

/* Folders alone, and nothing in them. */
static enum status nothing_here(struct reading *self)
{
    const struct evidence *evidence = self->evidence;
    if (evidence->problem_count > 0) {
        return error_set(self->error, STATUS_BAD_DATA, "nothing could be read: %s", evidence->problems[0]);
    }
    return error_set_at(self->error, STATUS_NOT_FOUND, self->code[0], 0, 0,
                        "nothing known here: no compiled code, trace, profiler's table, tuner's or serving results "
                        "among %zu files",
                        evidence->unknown_files);
}

static enum status read_code(struct reading *self, enum code_listing_choice listing)
{
    struct evidence *evidence = self->evidence;
    if (self->code_count == 0) {
        return STATUS_OK;
    }
    enum status status = compiled_code_read(self->code, self->code_count, listing, &evidence->code, self->error);
    const size_t folder_problems = evidence->code.problem_count; /* a file named by hand is an error instead */
    drop_answered_problems(evidence, &evidence->code);
    /* A folder without compiled code is fine where it holds other evidence. */
    const bool has_none =
        status == STATUS_NOT_FOUND || (status == STATUS_BAD_DATA && evidence->code.count == 0 && folder_problems > 0);
    if (has_none && evidence->file_count > 0) {
        *self->error = (struct error){0};
        status = STATUS_OK;
    }
    evidence->skipped_links = evidence->code.skipped_links;
    evidence->skipped_folders = evidence->code.skipped_folders;
    return status == STATUS_NOT_FOUND ? nothing_here(self) : status;
}

enum status evidence_read(const char *const *paths, size_t path_count, enum code_listing_choice listing,
                          struct evidence *evidence, struct error *error)
{
    struct error own_error = {0};
    struct reading self = {.evidence = evidence, .error = error != NULL ? error : &own_error};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < path_count && status == STATUS_OK; i++) {
        if (is_folder(paths[i])) {
            status = push_code(&self, paths[i]);
            status = status == STATUS_OK ? read_folder(&self, paths[i]) : status;
        } else {
            status = read_file(&self, paths[i]);
        }
    }
    if (status == STATUS_OK) {
        status = read_code(&self, listing);
    }
    free(self.code);
    return status;
}

void evidence_release(struct evidence *evidence)
{
    kernel_claim_list_release(&evidence->claims);
    compiled_code_release(&evidence->code);
    serving_results_release(&evidence->serving);
    free(evidence->files);
    arena_release(&evidence->arena);
    *evidence = (struct evidence){0};
}
