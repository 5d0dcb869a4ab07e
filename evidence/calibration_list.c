/* SPDX-License-Identifier: GPL-3.0-or-later
 * Lists calibrations by name. */
#include "evidence/calibration_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/embedded_data.h"

enum {
    ENTRIES_MAX = 4096,
    PATH_SIZE = 1024,
    HEAD_SIZE = 1024
};
static const char prefix[] = "calibrations/", ending[] = ".json";

struct list {
    struct calibration_list_entry *entries;
    size_t count, capacity;
};

static enum status append(struct list *list, const char *stem, size_t length, bool built_in, struct error *error)
{
    if (length == 0 || length >= CALIBRATION_NAME_SIZE) {
        return STATUS_OK; /* no name that calibration_file_read takes */
    }
    if (list->count == ENTRIES_MAX) {
        return error_set(error, STATUS_LIMIT, "more than %d calibrations", ENTRIES_MAX);
    }
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 16;
        struct calibration_list_entry *grown = realloc(list->entries, capacity * sizeof *grown);
        if (!grown) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for %zu calibrations", capacity);
        }
        list->entries = grown;
        list->capacity = capacity;
    }
    struct calibration_list_entry *entry = &list->entries[list->count++];
    *entry = (struct calibration_list_entry){.built_in = built_in};
    memcpy(entry->name, stem, length);
    return STATUS_OK;
}

/* Length of the stem of NAME.json, 0 for other names. */
static size_t stem_length(const char *name)
{
    const size_t length = strlen(name), tail = sizeof ending - 1;
    return length > tail && strcmp(name + length - tail, ending) == 0 ? length - tail : 0;
}

static enum status add_built_in(struct list *list, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < embedded_file_count && status == STATUS_OK; i++) {
        const char *path = embedded_files[i].path;
        if (strncmp(path, prefix, sizeof prefix - 1) == 0) {
            const char *name = path + sizeof prefix - 1;
            status = append(list, name, stem_length(name), true, error);
        }
    }
    return status;
}

static bool user_folder(char *out, size_t size)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = -1;
    if (config && config[0] == '/') {
        length = snprintf(out, size, "%s/occam/calibrations", config);
    } else if (home && home[0] != '\0') {
        length = snprintf(out, size, "%s/.config/occam/calibrations", home);
    }
    return length > 0 && (size_t)length < size;
}

static enum status add_users(struct list *list, struct error *error)
{
    char folder[PATH_SIZE];
    DIR *stream = user_folder(folder, sizeof folder) ? opendir(folder) : NULL;
    enum status status = STATUS_OK;
    if (!stream) {
        return errno == EACCES ? error_set_at(error, STATUS_IO, folder, 0, 0, "cannot be read: %s", strerror(errno))
                               : STATUS_OK;
    }
    const struct dirent *entry;
    /* cppcheck-suppress readdirCalled ; no stream is shared between threads */
    while (status == STATUS_OK && (entry = readdir(stream)) != NULL) {
        status = append(list, entry->d_name, stem_length(entry->d_name), false, error);
    }
    (void)closedir(stream);
    return status;
}

/* By name; of two alike the user's comes first. */
static int compare(const void *left, const void *right)
{
    const struct calibration_list_entry *a = left, *b = right;
    const int order = strcmp(a->name, b->name);
    return order ? order : (int)a->built_in - (int)b->built_in;
}

enum status calibration_list_create(struct calibration_list_entry **entries, size_t *count, struct error *error)
{
    struct list list = {0};
    errno = 0;
    enum status status = add_users(&list, error);
    status = status == STATUS_OK ? add_built_in(&list, error) : status;
    *entries = NULL;
    *count = 0;
    if (status != STATUS_OK) {
        free(list.entries);
        return status;
    }
    if (list.count > 0) {
        qsort(list.entries, list.count, sizeof *list.entries, compare);
    }
    for (size_t i = 0; i < list.count; i++) {
        if (*count == 0 || strcmp(list.entries[i].name, list.entries[*count - 1].name) != 0) {
            list.entries[(*count)++] = list.entries[i];
        }
    }
    *entries = list.entries;
    return STATUS_OK;
}

/* Whether the head of a calibration file says "key": "value". */
static bool head_says(const struct embedded_file *file, const char *key, const char *value)
{
    char head[HEAD_SIZE], wanted[CALIBRATION_NAME_SIZE];
    const size_t length = file->length < sizeof head - 1 ? file->length : sizeof head - 1;
    memcpy(head, file->begin, length);
    head[length] = '\0';
    const int written = snprintf(wanted, sizeof wanted, "\"%s\": \"%s\"", key, value);
    return written > 0 && (size_t)written < sizeof wanted && strstr(head, wanted) != NULL;
}

void calibration_list_built_in_for(const char *scenario, const char *device, char name[CALIBRATION_NAME_SIZE])
{
    name[0] = '\0';
    for (size_t i = 0; i < embedded_file_count && name[0] == '\0'; i++) {
        const struct embedded_file *file = &embedded_files[i];
        const bool is_one = strncmp(file->path, prefix, sizeof prefix - 1) == 0;
        const size_t length = is_one ? stem_length(file->path + sizeof prefix - 1) : 0;
        if (length > 0 && length < CALIBRATION_NAME_SIZE && head_says(file, "scenario", scenario) &&
            head_says(file, "device", device)) {
            memcpy(name, file->path + sizeof prefix - 1, length);
            name[length] = '\0';
        }
    }
}
