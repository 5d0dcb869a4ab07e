/* SPDX-License-Identifier: GPL-3.0-or-later
 * Walk over a cache folder by descriptors, so that a folder renamed or replaced by a link meanwhile is not followed. */
#include "evidence/code/triton_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"

struct walk {
    struct triton_cache *cache;
    struct error *error;
    const char *root;
    size_t files;
};

static const char *const endings[CODE_FILE_KINDS] = {".cubin", ".log", ".json", ".ptx", ".sass"};

enum code_file_kind code_file_kind_of(const char *name)
{
    const char *ending = strrchr(name, '.');
    for (int i = 0; ending != NULL && i < CODE_FILE_KINDS; i++) {
        if (strcmp(ending, endings[i]) == 0) {
            return (enum code_file_kind)i;
        }
    }
    return CODE_FILE_KINDS;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static enum status no_memory(struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "no memory for the list of compiled files");
}

/* A file as a group of its own; groups of one label are joined later. */
static enum status append(struct triton_cache *cache, const char *label, size_t label_length, const char *path,
                          enum code_file_kind kind, struct error *error)
{
    if (cache->count == cache->capacity) {
        size_t capacity = cache->capacity == 0 ? 64 : 2 * cache->capacity;
        struct code_group *groups = realloc(cache->groups, capacity * sizeof *groups);
        if (groups == NULL) {
            return no_memory(error);
        }
        cache->groups = groups;
        cache->capacity = capacity;
    }
    struct code_group group = {.label = arena_copy_text(&cache->arena, label, label_length)};
    group.paths[kind] = arena_copy_text(&cache->arena, path, strlen(path));
    if (group.label == NULL || group.paths[kind] == NULL) {
        return no_memory(error);
    }
    const char *slash = strrchr(group.label, '/');
    group.stem = slash != NULL ? slash + 1 : group.label;
    cache->groups[cache->count++] = group;
    return STATUS_OK;
}

static int compare_groups(const void *left, const void *right)
{
    const struct code_group *a = left, *b = right;
    return strcmp(a->label, b->label);
}

/* Sorts by label and makes one group of each; of two files of one kind (named twice) the first stays. */
static void join_groups(struct triton_cache *cache)
{
    if (cache->count == 0) {
        return;
    }
    qsort(cache->groups, cache->count, sizeof cache->groups[0], compare_groups);
    size_t kept = 0;
    for (size_t i = 1; i < cache->count; i++) {
        struct code_group *last = &cache->groups[kept];
        if (strcmp(last->label, cache->groups[i].label) != 0) {
            cache->groups[++kept] = cache->groups[i];
            continue;
        }
        for (int kind = 0; kind < CODE_FILE_KINDS; kind++) {
            last->paths[kind] = last->paths[kind] != NULL ? last->paths[kind] : cache->groups[i].paths[kind];
        }
    }
    cache->count = kept + 1;
}

static enum status take_file(struct walk *walk, const char *folder, const char *name)
{
    enum code_file_kind kind = code_file_kind_of(name);
    if (kind == CODE_FILE_KINDS || strncmp(name, "__grp__", 7) == 0 || ends_with(name, ".autotune.json")) {
        return STATUS_OK;
    }
    if (walk->files++ == TRITON_CACHE_FILES_MAX) {
        return error_set_at(walk->error, STATUS_LIMIT, walk->root, 0, 0, "more than %d files of compiled code",
                            TRITON_CACHE_FILES_MAX);
    }
    struct text_buffer label = {0}, path = {0};
    text_buffer_append_format(&label, "%s%.*s", folder, (int)(strlen(name) - strlen(endings[kind])), name);
    text_buffer_append_format(&path, "%s/%s%s", walk->root, folder, name);
    enum status status = label.failed || path.failed
                             ? no_memory(walk->error)
                             : append(walk->cache, label.text, label.length, path.text, kind, walk->error);
    text_buffer_release(&label);
    text_buffer_release(&path);
    return status;
}

static enum status walk_folder(struct walk *walk, int descriptor, const char *folder, int depth);

static enum status enter_folder(struct walk *walk, int parent, const char *folder, const char *name, int depth)
{
    int descriptor = depth < TRITON_CACHE_DEPTH_MAX && strncmp(name, "tmp.pid_", 8) != 0
                         ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                         : -1;
    if (descriptor < 0) {
        walk->cache->skipped_folders += strncmp(name, "tmp.pid_", 8) != 0;
        return STATUS_OK;
    }
    struct text_buffer path = {0};
    text_buffer_append_format(&path, "%s%s/", folder, name);
    enum status status =
        path.failed ? (close(descriptor), no_memory(walk->error)) : walk_folder(walk, descriptor, path.text, depth + 1);
    text_buffer_release(&path);
    return status;
}

/* descriptor is closed. folder: below the root, "" or ending in a slash. */
static enum status walk_folder(struct walk *walk, int descriptor, const char *folder, int depth)
{
    DIR *stream = fdopendir(descriptor);
    if (stream == NULL) {
        (void)close(descriptor);
        return no_memory(walk->error);
    }
    enum status status = STATUS_OK;
    struct dirent *entry;
    /* cppcheck-suppress readdirCalled ; no stream is shared between threads */
    while (status == STATUS_OK && (entry = readdir(stream)) != NULL) {
        struct stat about;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(stream), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISREG(about.st_mode)) {
            status = take_file(walk, folder, entry->d_name);
        } else if (S_ISDIR(about.st_mode)) {
            status = enter_folder(walk, dirfd(stream), folder, entry->d_name, depth);
        } else {
            walk->cache->skipped_links += S_ISLNK(about.st_mode);
        }
    }
    (void)closedir(stream);
    return status;
}

enum status triton_cache_walk(const char *root, struct triton_cache *cache, struct error *error)
{
    int descriptor = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return error_set_at(error, STATUS_MISSING, root, 0, 0, "the folder cannot be opened: %s", strerror(errno));
    }
    struct walk walk = {cache, error, root, 0};
    enum status status = walk_folder(&walk, descriptor, "", 0);
    join_groups(cache);
    return status;
}

enum status triton_cache_add_file(struct triton_cache *cache, const char *path, enum code_file_kind kind,
                                  struct error *error)
{
    const char *slash = strrchr(path, '/'), *ending = strrchr(slash != NULL ? slash : path, '.');
    size_t length = ending != NULL && code_file_kind_of(path) == kind ? (size_t)(ending - path) : strlen(path);
    enum status status = append(cache, path, length, path, kind, error);
    join_groups(cache);
    return status;
}

void triton_cache_release(struct triton_cache *cache)
{
    free(cache->groups);
    arena_release(&cache->arena);
    *cache = (struct triton_cache){0};
}
