/* SPDX-License-Identifier: GPL-3.0-or-later
 * The catalogue of GPUs: collects device files, keeps them sorted, finds them by forgiving names. Created once by cli/
 * and by whoever else needs a GPU by its name. */
#include "evidence/device_catalogue_private.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/embedded_data.h"

enum {
    DEVICE_FILE_LIMIT_BYTES = 1 << 20,
    PATH_SIZE = 4096,
    NORMALIZED_SIZE = 256
};

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static int compare_entries(const struct device_entry *left, const struct device_entry *right)
{
    const struct gpu_limits *a = &left->device.limits, *b = &right->device.limits;
    if (a->cc_major != b->cc_major)
        return a->cc_major < b->cc_major ? -1 : 1;
    if (a->cc_minor != b->cc_minor)
        return a->cc_minor < b->cc_minor ? -1 : 1;
    return strcmp(left->device.name, right->device.name);
}

static enum status reserve_one(struct entry_list *list, struct error *error)
{
    if (list->count < list->capacity)
        return STATUS_OK;
    size_t capacity = list->capacity ? list->capacity * 2 : 64;
    struct device_entry **grown = realloc(list->items, capacity * sizeof *grown);
    if (!grown)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the device catalogue");
    list->items = grown;
    list->capacity = capacity;
    return STATUS_OK;
}

/* The place was reserved. */
static void insert_sorted(struct entry_list *list, struct device_entry *entry)
{
    size_t place = list->count++;
    for (; place > 0 && compare_entries(entry, list->items[place - 1]) < 0; place--)
        list->items[place] = list->items[place - 1];
    list->items[place] = entry;
}

/* Takes over entry when it succeeds. A product of the same name goes to `replaced`. */
static enum status insert_product(struct device_catalogue *catalogue, struct device_entry *entry, struct error *error)
{
    struct entry_list *products = &catalogue->products;
    enum status status = reserve_one(products, error);
    if (status == STATUS_OK)
        status = reserve_one(&catalogue->replaced, error);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < products->count; i++)
        if (strcmp(products->items[i]->device.name, entry->device.name) == 0) {
            catalogue->replaced.items[catalogue->replaced.count++] = products->items[i];
            memmove(&products->items[i], &products->items[i + 1],
                    (products->count - i - 1) * sizeof(struct device_entry *));
            products->count--;
            break;
        }
    insert_sorted(products, entry);
    return STATUS_OK;
}

/* "sm_120", "sm120", "sm_120a", "12.0". */
static bool parse_capability_name(const char *name, unsigned *major, unsigned *minor)
{
    if (compute_capability_parse(name, major, minor))
        return true;
    if (tolower((unsigned char)name[0]) != 's' || tolower((unsigned char)name[1]) != 'm')
        return false;
    name += 2;
    if (*name == '_' || *name == '-' || *name == ' ')
        name++;
    size_t digits = strspn(name, "0123456789");
    if (digits < 2 || digits > 3)
        return false;
    char suffix = (char)tolower((unsigned char)name[digits]);
    if (suffix != '\0' && ((suffix != 'a' && suffix != 'f') || name[digits + 1] != '\0'))
        return false;
    unsigned number = (unsigned)strtoul(name, NULL, 10);
    *major = number / 10;
    *minor = number % 10;
    return true;
}

/* The device is called after its file: "dir/nvidia-h200.csv" is nvidia-h200. */
static enum status set_name_from_path(struct gpu_device *device, const char *path, struct error *error)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".csv") == 0)
        length -= 4;
    if (length == 0 || length >= sizeof device->name)
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "the file's name names the device: 1 to %zu bytes",
                            sizeof device->name - 1);
    memcpy(device->name, base, length);
    device->name[length] = '\0';
    size_t bad_offset;
    unsigned major, minor;
    bool control = false;
    for (size_t i = 0; i < length; i++)
        control = control || iscntrl((unsigned char)device->name[i]);
    if (control || utf8_check(device->name, length, &bad_offset) != STATUS_OK)
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "the file's name must be printable UTF-8");
    if (parse_capability_name(device->name, &major, &minor))
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                            "a device cannot be called after a compute capability, rename the file");
    return STATUS_OK;
}

static enum status add_product(struct device_catalogue *catalogue, struct device_entry *entry, const char *path,
                               struct error *error)
{
    enum status status = set_name_from_path(&entry->device, path, error);
    if (status == STATUS_OK)
        status = device_file_read_product(catalogue, entry, error);
    return status == STATUS_OK ? insert_product(catalogue, entry, error) : status;
}

enum status device_catalogue_add_file(struct device_catalogue *catalogue, const char *path,
                                      const struct gpu_device **device, struct error *error)
{
    struct device_entry *entry = device_entry_create(path);
    if (!entry)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the device catalogue");
    enum status status = csv_read(path, DEVICE_FILE_LIMIT_BYTES, &entry->table, error);
    if (status == STATUS_OK)
        status = add_product(catalogue, entry, path, error);
    if (status != STATUS_OK)
        device_entry_free(entry);
    else if (device)
        *device = &entry->device;
    return status;
}

static enum status add_embedded(struct device_catalogue *catalogue, const struct embedded_file *file, bool limits,
                                struct error *error)
{
    struct device_entry *entry = device_entry_create("built in");
    if (!entry)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the device catalogue");
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "built-in %s", file->path);
    enum status status = csv_parse(file->begin, file->length, name, &entry->table, error);
    if (status == STATUS_OK && limits) {
        status = device_file_read_limits(catalogue, entry, error);
        if (status == STATUS_OK)
            status = reserve_one(&catalogue->capabilities, error);
        if (status == STATUS_OK)
            insert_sorted(&catalogue->capabilities, entry);
    } else if (status == STATUS_OK) {
        status = add_product(catalogue, entry, file->path, error);
    }
    if (status != STATUS_OK)
        device_entry_free(entry);
    return status;
}

static enum status read_embedded(struct device_catalogue *catalogue, const char *directory, bool limits,
                                 struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < embedded_file_count && status == STATUS_OK; i++)
        if (strncmp(embedded_files[i].path, directory, strlen(directory)) == 0)
            status = add_embedded(catalogue, &embedded_files[i], limits, error);
    return status;
}

/* ---- the user's directory --------------------------------------------------------------------------------------- */

static int is_device_file(const struct dirent *file)
{
    size_t length = strlen(file->d_name);
    return length > 4 && file->d_name[0] != '.' && strcmp(file->d_name + length - 4, ".csv") == 0;
}

/* strcoll of alphasort would make the order, and so the first error, depend on the locale. */
static int compare_file_names(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static enum status read_directory(struct device_catalogue *catalogue, const char *directory, bool must_exist,
                                  struct error *error)
{
    struct dirent **files = NULL;
    int count = scandir(directory, &files, is_device_file, compare_file_names);
    if (count < 0 && (errno == ENOENT || errno == ENOTDIR) && !must_exist)
        return STATUS_OK;
    if (count < 0)
        return error_set_at(error, STATUS_MISSING, directory, 0, 0, "cannot be read as a directory of devices: %s",
                            strerror(errno));
    enum status status = STATUS_OK;
    for (int i = 0; i < count; i++) {
        char path[PATH_SIZE];
        int length = snprintf(path, sizeof path, "%s/%s", directory, files[i]->d_name);
        if (status == STATUS_OK && (length < 0 || (size_t)length >= sizeof path))
            status = error_set_at(error, STATUS_LIMIT, directory, 0, 0, "the path is too long");
        if (status == STATUS_OK)
            status = device_catalogue_add_file(catalogue, path, NULL, error);
        free(files[i]);
    }
    free(files);
    return status;
}

static enum status read_user_directory(struct device_catalogue *catalogue, struct error *error)
{
    const char *own = getenv("OCCAM_DEVICE_DIR"), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (own && own[0])
        return read_directory(catalogue, own, true, error);
    char path[PATH_SIZE];
    int length = -1;
    if (config && config[0])
        length = snprintf(path, sizeof path, "%s/occam/devices", config);
    else if (home && home[0])
        length = snprintf(path, sizeof path, "%s/.config/occam/devices", home);
    else
        return STATUS_OK;
    if (length < 0 || (size_t)length >= sizeof path)
        return error_set(error, STATUS_LIMIT, "the path of the directory of user devices is too long");
    return read_directory(catalogue, path, false, error);
}

enum status device_catalogue_create(struct device_catalogue **catalogue, struct error *error)
{
    struct device_catalogue *created = calloc(1, sizeof *created);
    if (!created)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the device catalogue");
    enum status status = read_embedded(created, "compute_capabilities/", true, error);
    if (status == STATUS_OK)
        status = read_embedded(created, "devices/", false, error);
    if (status == STATUS_OK)
        status = read_user_directory(created, error);
    if (status == STATUS_OK)
        *catalogue = created;
    else
        device_catalogue_free(created);
    return status;
}

static void entry_list_release(struct entry_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        device_entry_free(list->items[i]);
    free(list->items);
}

void device_catalogue_free(struct device_catalogue *catalogue)
{
    if (!catalogue)
        return;
    entry_list_release(&catalogue->products);
    entry_list_release(&catalogue->capabilities);
    entry_list_release(&catalogue->replaced);
    free(catalogue);
}

/* ---- looking up ------------------------------------------------------------------------------------------------- */

/* Lower case letters and digits only, without a leading vendor or brand word. Longer names are cut: they match nothing
 * and are far from everything either way. */
static void normalize_name(const char *name, char out[NORMALIZED_SIZE])
{
    size_t length = 0;
    for (; *name && length < NORMALIZED_SIZE - 1; name++)
        if (!strchr("-_ ()/", *name))
            out[length++] = (char)tolower((unsigned char)*name);
    out[length] = '\0';
    static const char *const prefixes[] = {"nvidia", "geforce"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t prefix_length = strlen(prefixes[i]);
        if (strncmp(out, prefixes[i], prefix_length) == 0 && out[prefix_length])
            memmove(out, out + prefix_length, strlen(out + prefix_length) + 1);
    }
}

enum match {
    MATCH_EXACT,
    MATCH_START,
    MATCH_PART,
    MATCH_NONE
};

static enum match match_text(const char *candidate, const char *wanted)
{
    char normalized[NORMALIZED_SIZE];
    normalize_name(candidate, normalized);
    const char *found = strstr(normalized, wanted);
    if (!found)
        return MATCH_NONE;
    if (found != normalized)
        return MATCH_PART;
    return found[strlen(wanted)] == '\0' ? MATCH_EXACT : MATCH_START;
}

static enum match match_device(const struct gpu_device *device, const char *wanted)
{
    enum match by_name = match_text(device->name, wanted), by_title = match_text(device->title, wanted);
    return by_name < by_title ? by_name : by_title;
}

struct candidate {
    unsigned distance;
    const char *name;
};

static unsigned name_distance(const struct gpu_device *device, const char *wanted)
{
    char name[NORMALIZED_SIZE], title[NORMALIZED_SIZE];
    normalize_name(device->name, name);
    normalize_name(device->title, title);
    unsigned by_name = text_distance(name, wanted), by_title = text_distance(title, wanted);
    return by_name < by_title ? by_name : by_title;
}

enum {
    CANDIDATES_MAX = 5
};

/* The nearest names, best first; equal distances keep the catalogue's order. */
static size_t nearest_names(const struct device_catalogue *catalogue, const char *wanted,
                            struct candidate nearest[CANDIDATES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < catalogue->products.count; i++) {
        const struct gpu_device *device = &catalogue->products.items[i]->device;
        struct candidate candidate = {name_distance(device, wanted), device->name};
        size_t place = count < CANDIDATES_MAX ? count++ : CANDIDATES_MAX;
        for (; place > 0 && candidate.distance < nearest[place - 1].distance; place--)
            if (place < CANDIDATES_MAX)
                nearest[place] = nearest[place - 1];
        if (place < CANDIDATES_MAX)
            nearest[place] = candidate;
    }
    return count;
}

static enum status not_found(const struct device_catalogue *catalogue, const char *name, const char *wanted,
                             struct error *error)
{
    struct candidate nearest[CANDIDATES_MAX];
    struct text_buffer list = {0};
    size_t count = nearest_names(catalogue, wanted, nearest);
    /* A name with nothing in common is no slip of the keyboard. */
    const bool is_near = count > 0 && nearest[0].distance < strlen(wanted);
    for (size_t i = 0; i < count && is_near; i++)
        text_buffer_append_format(&list, "%s%s", i ? ", " : "", nearest[i].name);
    enum status status = error_set(error, STATUS_NOT_FOUND, "no device '%.80s'%s%s (occam devices lists them)", name,
                                   is_near ? "; near names: " : "", list.text ? list.text : "");
    text_buffer_release(&list);
    return status;
}

static enum status ambiguous(const struct device_catalogue *catalogue, const char *name, const char *wanted,
                             enum match level, struct error *error)
{
    struct text_buffer list = {0};
    for (size_t i = 0; i < catalogue->products.count; i++) {
        const struct gpu_device *device = &catalogue->products.items[i]->device;
        if (match_device(device, wanted) <= level)
            text_buffer_append_format(&list, "%s%s", list.length ? ", " : "", device->name);
    }
    enum status status = error_set(error, STATUS_NOT_FOUND, "'%.80s' could be %s", name, list.text ? list.text : "");
    text_buffer_release(&list);
    return status;
}

static enum status find_limits(const struct device_catalogue *catalogue, const char *name, unsigned major,
                               unsigned minor, const struct gpu_device **device, struct error *error)
{
    const struct device_entry *entry = compute_capability_find(catalogue, major, minor);
    if (entry) {
        *device = &entry->device;
        return STATUS_OK;
    }
    struct text_buffer known = {0};
    compute_capability_list(catalogue, &known);
    enum status status = error_set(error, STATUS_NOT_FOUND, "no compute capability '%.80s'; known are %s", name,
                                   known.text ? known.text : "none");
    text_buffer_release(&known);
    return status;
}

enum status device_catalogue_find(const struct device_catalogue *catalogue, const char *name,
                                  const struct gpu_device **device, struct error *error)
{
    unsigned major, minor;
    if (parse_capability_name(name, &major, &minor))
        return find_limits(catalogue, name, major, minor, device, error);
    char wanted[NORMALIZED_SIZE];
    normalize_name(name, wanted);
    if (wanted[0] == '\0')
        return error_set(error, STATUS_NOT_FOUND, "an empty device name");
    const struct gpu_device *found = NULL;
    enum match best = MATCH_NONE;
    size_t count = 0;
    /* The name as it is spelt wins, so that a user's "h200" beside "nvidia-h200" can be meant. */
    for (size_t i = 0; i < catalogue->products.count; i++)
        if (strcmp(catalogue->products.items[i]->device.name, name) == 0) {
            *device = &catalogue->products.items[i]->device;
            return STATUS_OK;
        }
    for (size_t i = 0; i < catalogue->products.count; i++) {
        const struct gpu_device *candidate = &catalogue->products.items[i]->device;
        enum match match = match_device(candidate, wanted);
        if (match < best) {
            best = match;
            count = 0;
        }
        if (match == best && match != MATCH_NONE) {
            found = candidate;
            count++;
        }
    }
    if (best == MATCH_NONE)
        return not_found(catalogue, name, wanted, error);
    if (count > 1)
        return ambiguous(catalogue, name, wanted, best, error);
    *device = found;
    return STATUS_OK;
}

size_t device_catalogue_count(const struct device_catalogue *catalogue)
{
    return catalogue->products.count + catalogue->capabilities.count;
}

const struct gpu_device *device_catalogue_get(const struct device_catalogue *catalogue, size_t index)
{
    if (index < catalogue->products.count)
        return &catalogue->products.items[index]->device;
    index -= catalogue->products.count;
    if (index >= catalogue->capabilities.count)
        BUG("device %zu of a catalogue with %zu", index + catalogue->products.count, device_catalogue_count(catalogue));
    return &catalogue->capabilities.items[index]->device;
}

const char *device_catalogue_origin(const struct device_catalogue *catalogue, const struct gpu_device *device)
{
    const struct entry_list *lists[] = {&catalogue->products, &catalogue->capabilities, &catalogue->replaced};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            if (&lists[i]->items[j]->device == device)
                return lists[i]->items[j]->origin;
    BUG("device %s is not of this catalogue", device->name);
}

const char *device_catalogue_limits_note(const struct device_catalogue *catalogue, unsigned cc_major, unsigned cc_minor)
{
    const struct device_entry *entry = compute_capability_find(catalogue, cc_major, cc_minor);
    return entry && entry->limits_note.text ? entry->limits_note.text : "";
}
