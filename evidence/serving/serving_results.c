/* SPDX-License-Identifier: GPL-3.0-or-later
 * Tables of the kinds of serving results, and the walk over files and folders. */
#include "evidence/serving/serving_results.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "evidence/byte_stream.h"
#include "evidence/serving/serving_reader.h"

enum {
    FOLDER_DEPTH_MAX = 4,
    FOLDER_ENTRIES_MAX = 20000,
    PATH_SIZE = 4096
};

/* More telling keys first: several programs share those of vLLM. */
static const struct serving_object_format object_formats[] = {
    {serving_is_guidellm, serving_read_guidellm},       {serving_is_batched_bench, serving_read_batched_bench},
    {serving_is_llama_bench, serving_read_llama_bench}, {serving_is_perf_tool, serving_read_perf_tool},
    {serving_is_inferencex, serving_read_inferencex},   {serving_is_one_batch, serving_read_one_batch},
    {serving_is_sglang, serving_read_sglang},           {serving_is_vllm, serving_read_vllm},
};

static const struct serving_text_format text_formats[] = {
    {serving_is_perf_tool_csv, serving_read_perf_tool_csv},
    {serving_is_llama_bench_csv, serving_read_llama_bench_csv},
    {serving_is_batched_table, serving_read_batched_table},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

const char *serving_result_kind_name(enum serving_result_kind kind)
{
#define KIND_TEXT(name, text) text,
    static const char *const names[] = {SERVING_RESULT_KIND_LIST(KIND_TEXT)};
#undef KIND_TEXT

    if ((unsigned)kind >= SERVING_RESULT_KIND_COUNT)
        BUG("serving result kind %d does not exist", (int)kind);
    return names[kind];
}

/* --- one text ------------------------------------------------------------------------------------------------------
 */

static enum status read_and_check(struct serving_reader *reader, const json_t *object,
                                  enum status (*read)(struct serving_reader *reader, const json_t *object))
{
    struct serving_results *results = reader->results;
    size_t before = results->count;
    enum status status = read(reader, object);

    if (status == STATUS_OK && results->count == before + 1) /* with several, whose field it is cannot be told */
        serving_check_object(reader, &results->items[before], object);
    return status;
}

static enum status read_object(struct serving_reader *reader, const json_t *object)
{
    for (size_t i = 0; i < COUNT_OF(object_formats); i++)
        if (object_formats[i].is(object))
            return read_and_check(reader, object, object_formats[i].read);
    serving_skip(reader, "an object of none of the kinds of serving results");
    return STATUS_OK;
}

static enum status read_value(struct serving_reader *reader, const json_t *value)
{
    enum status status = STATUS_OK;

    if (json_is_object(value))
        return read_object(reader, value);
    for (size_t i = 0; i < json_array_size(value) && status == STATUS_OK; i++)
        if (json_is_object(json_array_get(value, i)))
            status = read_object(reader, json_array_get(value, i));
        else
            serving_skip(reader, "an entry that is no object");
    return status;
}

/* Lines that are no JSON are left out; a document that is none is an error. */
static enum status read_json(struct serving_reader *reader, const char *text, size_t length)
{
    struct serving_json source;
    enum status status = STATUS_OK;

    serving_json_begin(&source, text, length);
    reader->one_value = !source.by_lines;
    while (status == STATUS_OK) {
        json_t *value = NULL;
        struct error problem = {0};

        status = serving_json_next(&source, reader->file, &value, &reader->line, &problem);
        if (status == STATUS_BAD_DATA && source.by_lines) {
            serving_skip(reader, "%s", problem.text);
            status = STATUS_OK;
            continue;
        }
        if (status != STATUS_OK && reader->error != NULL)
            *reader->error = problem;
        if (value == NULL)
            break;
        status = read_value(reader, value);
        json_decref(value);
    }
    return status;
}

static enum status read_text(struct serving_reader *reader, const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(text_formats); i++)
        if (text_formats[i].is(text, length))
            return text_formats[i].read(reader, text, length);
    return read_json(reader, text, length);
}

enum status serving_results_parse(const char *text, size_t length, const char *name, struct serving_results *results,
                                  struct error *error)
{
    struct serving_reader reader = {.results = results, .error = error};
    size_t count = results->count;
    uint64_t skipped = results->skipped;

    reader.file = arena_copy_text(&results->arena, name, strlen(name));
    if (reader.file == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for %s", name);
    enum status status = read_text(&reader, text, length);

    if (status == STATUS_OK && reader.no_memory)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for %s", name);
    if (status != STATUS_OK || results->count > count)
        return status;
    if (results->skipped > skipped && skipped == 0)
        return error_set(error, STATUS_BAD_DATA, "%s", results->first_skipped);
    return error_set_at(error, STATUS_BAD_DATA, name, 0, 0, "none of the known kinds of serving results");
}

static enum status read_file(const char *path, struct serving_results *results, struct error *error)
{
    char *text = NULL;
    size_t length = 0;
    enum status status = byte_stream_read_all(path, SERVING_RESULTS_BYTES_MAX, &text, &length, error);

    if (status == STATUS_OK)
        status = serving_results_parse(text, length, path, results, error);
    free(text);
    return status;
}

/* --- folders -------------------------------------------------------------------------------------------------------
 */

struct walk {
    struct serving_results *results;
    struct error *error;
    unsigned entries;
};

static bool is_present(const char *folder, const char *stem, size_t length, const char *end)
{
    char path[PATH_SIZE];
    struct stat info;
    int size = snprintf(path, sizeof path, "%s/%.*s%s", folder, (int)length, stem, end);

    return size > 0 && (size_t)size < sizeof path && lstat(path, &info) == 0;
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), wanted = strlen(end);

    return length > wanted && strcmp(name + length - wanted, end) == 0;
}

/* A run that another file of the folder says more about. */
static bool is_second_form(const char *folder, const char *name)
{
    if (ends_in(name, ".csv"))
        return is_present(folder, name, strlen(name) - 4, ".json");
    return strncmp(name, "agg_", 4) == 0 && is_present(folder, name + 4, strlen(name) - 4, "");
}

/* Files of other kinds are no errors here, nor counted. */
static enum status read_if_known(struct walk *walk, const char *path)
{
    struct serving_results *results = walk->results;
    struct error problem = {0};
    uint64_t skipped = results->skipped;
    size_t count = results->count;
    enum status status = read_file(path, results, &problem);

    if (status == STATUS_BAD_DATA && results->count == count) {
        results->skipped = skipped;
        if (skipped == 0)
            results->first_skipped[0] = '\0';
        return STATUS_OK;
    }
    if (status == STATUS_LIMIT && results->count < SERVING_RESULTS_MAX) { /* too large to be one, but say so */
        struct serving_reader reader = {.file = path, .results = results, .one_value = true};

        serving_skip(&reader, "%s", problem.text);
        return STATUS_OK;
    }
    if (status != STATUS_OK && walk->error != NULL)
        *walk->error = problem;
    return status;
}

static int keep_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static enum status walk_folder(struct walk *walk, const char *folder, unsigned depth);

static enum status walk_entry(struct walk *walk, const char *folder, const char *name, unsigned depth)
{
    char path[PATH_SIZE];
    struct stat info;
    int size = snprintf(path, sizeof path, "%s/%s", folder, name);

    if (walk->entries++ >= FOLDER_ENTRIES_MAX)
        return error_set(walk->error, STATUS_LIMIT, "%s: more than %d files below it", folder, (int)FOLDER_ENTRIES_MAX);
    if (size <= 0 || (size_t)size >= sizeof path || lstat(path, &info) != 0)
        return STATUS_OK;
    if (S_ISDIR(info.st_mode))
        return depth < FOLDER_DEPTH_MAX ? walk_folder(walk, path, depth + 1) : STATUS_OK;
    bool is_text = ends_in(name, ".json") || ends_in(name, ".jsonl") || ends_in(name, ".csv") ||
                   ends_in(name, ".txt") || ends_in(name, ".log") || ends_in(name, ".md");

    if (!S_ISREG(info.st_mode) || !is_text || is_second_form(folder, name))
        return STATUS_OK;
    return read_if_known(walk, path);
}

static enum status walk_folder(struct walk *walk, const char *folder, unsigned depth)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, keep_visible, alphasort);
    enum status status = STATUS_OK;

    if (count < 0)
        return depth > 0
                   ? STATUS_OK
                   : error_set_at(walk->error, STATUS_MISSING, folder, 0, 0, "cannot be read: %s", strerror(errno));
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK)
            status = walk_entry(walk, folder, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return status;
}

enum status serving_results_read(const char *path, struct serving_results *results, struct error *error)
{
    struct walk walk = {.results = results, .error = error};
    struct stat info;
    size_t count = results->count;

    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return read_file(path, results, error);
    enum status status = walk_folder(&walk, path, 0);

    if (status == STATUS_OK && results->count == count)
        status = error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "no file in it is one of the known serving results");
    return status;
}

void serving_results_release(struct serving_results *results)
{
    free(results->items);
    arena_release(&results->arena);
    *results = (struct serving_results){0};
}
