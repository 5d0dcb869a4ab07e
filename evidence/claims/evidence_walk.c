/* SPDX-License-Identifier: GPL-3.0-or-later
 * Goes through folders by descriptor, so that nothing can be swapped for a link on the way. */
#include "evidence/claims/evidence_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"

struct walker {
    struct evidence_paths *paths;
    struct error *error;
    const char *root;
    int depth_max;
    size_t file_max;
};

static enum status no_memory(struct walker *self)
{
    return error_set(self->error, STATUS_NO_MEMORY, "no memory for the files of %s", self->root);
}

static enum status take_file(struct walker *self, const char *folder, const char *name)
{
    struct evidence_paths *paths = self->paths;
    if (paths->count == self->file_max) {
        return error_set_at(self->error, STATUS_LIMIT, self->root, 0, 0, "more than %zu files", self->file_max);
    }
    if (paths->count == paths->capacity) {
        const size_t capacity = paths->capacity == 0 ? 64 : 2 * paths->capacity;
        const char **items = realloc(paths->items, capacity * sizeof *items);
        if (items == NULL) {
            return no_memory(self);
        }
        paths->items = items;
        paths->capacity = capacity;
    }
    struct text_buffer path = {0};
    text_buffer_append_format(&path, "%s/%s%s", self->root, folder, name);
    const char *copy = path.failed ? NULL : arena_copy_text(&paths->arena, path.text, path.length);
    text_buffer_release(&path);
    if (copy == NULL) {
        return no_memory(self);
    }
    paths->items[paths->count++] = copy;
    return STATUS_OK;
}

static enum status walk(struct walker *self, int descriptor, const char *folder, int depth);

static enum status enter(struct walker *self, int parent, const char *folder, const char *name, int depth)
{
    const int descriptor =
        depth < self->depth_max ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (descriptor < 0) {
        return STATUS_OK;
    }
    struct text_buffer path = {0};
    text_buffer_append_format(&path, "%s%s/", folder, name);
    enum status status =
        path.failed ? (close(descriptor), no_memory(self)) : walk(self, descriptor, path.text, depth + 1);
    text_buffer_release(&path);
    return status;
}

/* descriptor is closed. folder: below the root, "" or ending in a slash. */
static enum status walk(struct walker *self, int descriptor, const char *folder, int depth)
{
    DIR *stream = fdopendir(descriptor);
    if (stream == NULL) {
        (void)close(descriptor);
        return no_memory(self);
    }
    enum status status = STATUS_OK;
    struct dirent *entry;
    /* cppcheck-suppress readdirCalled ; no stream is shared between threads */
    while (status == STATUS_OK && (entry = readdir(stream)) != NULL) {
        struct stat about;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strncmp(entry->d_name, "tmp.pid_", 8) == 0 ||
            fstatat(dirfd(stream), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISREG(about.st_mode)) {
            status = take_file(self, folder, entry->d_name);
        } else if (S_ISDIR(about.st_mode)) {
            status = enter(self, dirfd(stream), folder, entry->d_name, depth);
        }
    }
    (void)closedir(stream);
    return status;
}

static int compare(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

enum status evidence_walk(const char *root, int depth_max, size_t file_max, struct evidence_paths *paths,
                          struct error *error)
{
    const int descriptor = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return error_set_at(error, STATUS_MISSING, root, 0, 0, "the folder cannot be opened: %s", strerror(errno));
    }
    struct walker self = {paths, error, root, depth_max, file_max};
    enum status status = walk(&self, descriptor, "", 0);
    if (paths->count > 1) {
        qsort(paths->items, paths->count, sizeof paths->items[0], compare);
    }
    return status;
}

void evidence_paths_release(struct evidence_paths *paths)
{
    free(paths->items);
    arena_release(&paths->arena);
    *paths = (struct evidence_paths){0};
}
