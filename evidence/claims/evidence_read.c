/* SPDX-License-Identifier: GPL-3.0-or-later
 * Sends each file to its reader. Compiled code goes to compiled_code_read in one call, which puts together what belongs
 * together. */
#include "evidence/claims/evidence_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "evidence/claims/evidence_walk.h"

struct reading {
    struct evidence *evidence;
    struct error *error;
    bool in_folder;
    size_t code_count;
    const char **code; /* paths for compiled_code_read; capacity path_count */
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
    **file = (struct evidence_file){.kind = kind, .first_skipped = "", .remark = ""};
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
    if (kind->room == EVIDENCE_CLAIMS && kind->read == NULL) {
        return error_set_at(self->error, STATUS_BAD_DATA, path, 0, 0, "%s: this version does not read it", kind->name);
    }
    enum status status = add_file(self, path, kind, &file);
    if (status != STATUS_OK) {
        return status;
    }
    file->first = kind->room == EVIDENCE_SERVING ? evidence->serving.count : evidence->claims.count;
    status = kind->room == EVIDENCE_SERVING ? serving_results_read(path, &evidence->serving, self->error)
                                            : kind->read(path, &evidence->claims, self->error);
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

/* Files named by hand go to compiled_code_read; those of a folder it finds itself. */
static enum status take_code(struct reading *self, const char *path)
{
    if (!self->in_folder) {
        self->code[self->code_count++] = path;
    }
    return STATUS_OK;
}

static enum status read_file(struct reading *self, const char *path)
{
    const struct evidence_kind *kind, *second;
    enum status status = evidence_recognise(path, &kind, &second, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    switch (kind->room) {
    case EVIDENCE_CODE:
        status = take_code(self, path);
        return status == STATUS_OK && second != NULL ? read_with(self, path, second) : status;
    case EVIDENCE_CLAIMS:
    case EVIDENCE_SERVING:
        return read_with(self, path, kind);
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
    for (size_t i = 0; i < files.count && status == STATUS_OK; i++) {
        status = read_file(self, files.items[i]);
        if (status != STATUS_OK && status != STATUS_NO_MEMORY) {
            status = note_problem(self, files.items[i]);
        }
    }
    self->in_folder = false;
    evidence_paths_release(&files);
    return status;
}

/* --- compiled code -------------------------------------------------------------------------------------------------
 */

static bool was_read(const struct evidence *evidence, const char *problem)
{
    for (size_t i = 0; i < evidence->file_count; i++) {
        const size_t length = strlen(evidence->files[i].path);
        if (strncmp(problem, evidence->files[i].path, length) == 0 && problem[length] == ':') {
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

static enum status read_code(struct reading *self, enum code_listing_choice listing)
{
    struct evidence *evidence = self->evidence;
    if (self->code_count == 0) {
        return STATUS_OK;
    }
    enum status status = compiled_code_read(self->code, self->code_count, listing, &evidence->code, self->error);
    drop_answered_problems(evidence, &evidence->code);
    /* A folder without compiled code is fine where it holds other evidence. */
    if ((status == STATUS_NOT_FOUND ||
         (status == STATUS_BAD_DATA && evidence->code.count == 0 && evidence->code.problem_count == 0)) &&
        evidence->file_count > 0) {
        *self->error = (struct error){0};
        status = STATUS_OK;
    }
    evidence->skipped_links = evidence->code.skipped_links;
    evidence->skipped_folders = evidence->code.skipped_folders;
    return status;
}

enum status evidence_read(const char *const *paths, size_t path_count, enum code_listing_choice listing,
                          struct evidence *evidence, struct error *error)
{
    struct error own_error = {0};
    struct reading self = {.evidence = evidence, .error = error != NULL ? error : &own_error};
    enum status status = STATUS_OK;
    self.code = calloc(path_count + 1, sizeof *self.code);
    if (self.code == NULL) {
        return no_memory(&self);
    }
    for (size_t i = 0; i < path_count && status == STATUS_OK; i++) {
        if (is_folder(paths[i])) {
            self.code[self.code_count++] = paths[i];
            status = read_folder(&self, paths[i]);
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
