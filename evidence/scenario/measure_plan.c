/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reads a plan of measurements: a list of kernels with their settings, single, listed or in ranges. */
#include "evidence/scenario/measure_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/scenario/yaml_tree.h"

enum {
    VALUES_MAX = 256, /* of one setting */
    NAME_MAX_LENGTH = 31
};

struct plan_writer {
    const char *name;
    struct text_buffer *plain;
    unsigned line; /* of plain, from 1 */
    struct error *error;
};

static enum status fail(const struct plan_writer *writer, const struct yaml_node *node, const char *text)
{
    return error_set_at(writer->error, STATUS_BAD_DATA, writer->name, node->line, node->column, "%s", text);
}

static enum status check_keys(const struct plan_writer *writer, const struct yaml_node *map, const char *what,
                              const char *const *keys, size_t count)
{
    if (map->kind != YAML_MAP)
        return error_set_at(writer->error, STATUS_BAD_DATA, writer->name, map->line, map->column,
                            "%s must be keys with values", what);
    for (const struct yaml_node *child = map->first; child != NULL; child = child->next) {
        size_t i = 0;
        while (i < count && strcmp(child->key, keys[i]) != 0)
            i++;
        if (i == count)
            return error_set_at(writer->error, STATUS_BAD_DATA, writer->name, child->key_line, child->key_column,
                                "%s has no key '%.40s'", what, child->key);
    }
    return STATUS_OK;
}

/* Kernel and setting names go into the plain form as they are. */
static enum status check_name(const struct plan_writer *writer, const struct yaml_node *node, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t length = strlen(name);
    if (length == 0 || length > NAME_MAX_LENGTH || strspn(name, letters) != length)
        return fail(writer, node, "names are letters, digits and _, up to 31");
    return STATUS_OK;
}

static enum status read_whole(const struct plan_writer *writer, const struct yaml_node *node, long long *value)
{
    double number;
    if (node->kind != YAML_SCALAR || node->quoted || number_parse(node->text, &number) != STATUS_OK ||
        number != floor(number) || fabs(number) > 1e15)
        return fail(writer, node, "expected a whole number, a list of them, or {from, to, step or times}");
    *value = (long long)number;
    return STATUS_OK;
}

static enum status write_range(struct plan_writer *writer, const struct yaml_node *node)
{
    static const char *const keys[] = {"from", "to", "step", "times"};
    long long ends[4] = {0, 0, 1, 0}, count = 0;
    enum status status = check_keys(writer, node, "a range", keys, 4);
    for (size_t i = 0; i < 4 && status == STATUS_OK; i++) {
        const struct yaml_node *child = yaml_find(node, keys[i]);
        if (child != NULL)
            status = read_whole(writer, child, &ends[i]);
        else if (i < 2)
            status = fail(writer, node, "a range needs 'from' and 'to'");
    }
    if (status != STATUS_OK)
        return status;
    bool by_factor = yaml_find(node, "times") != NULL;
    if ((by_factor && yaml_find(node, "step") != NULL) || ends[1] < ends[0] || ends[2] < 1 ||
        (by_factor && (ends[3] < 2 || ends[0] < 1)))
        return fail(writer, node,
                    "a range goes up, by a step of at least 1 or times at least 2 (then from at least 1)");
    for (long long value = ends[0]; value <= ends[1]; value = by_factor ? value * ends[3] : value + ends[2]) {
        if (++count > VALUES_MAX)
            return fail(writer, node, "a setting has at most 256 values");
        text_buffer_append_format(writer->plain, "%s%lld", count > 1 ? "," : "", value);
        if (by_factor && value > ends[1] / ends[3])
            break; /* the next one would pass the end, or overflow */
    }
    return STATUS_OK;
}

static enum status write_setting(struct plan_writer *writer, const struct yaml_node *node)
{
    enum status status = check_name(writer, node, node->key);
    long long value;
    if (status != STATUS_OK)
        return status;
    text_buffer_append_format(writer->plain, " %s=", node->key);
    if (node->kind == YAML_MAP)
        return write_range(writer, node);
    if (node->kind == YAML_LIST && (node->count == 0 || node->count > VALUES_MAX))
        return fail(writer, node, "a setting has 1 to 256 values");
    const struct yaml_node *item = node->kind == YAML_LIST ? node->first : node;
    for (bool first = true; item != NULL && status == STATUS_OK; first = false) {
        status = read_whole(writer, item, &value);
        if (status == STATUS_OK)
            text_buffer_append_format(writer->plain, "%s%lld", first ? "" : ",", value);
        item = node->kind == YAML_LIST ? item->next : NULL;
    }
    return status;
}

static enum status write_entry(struct plan_writer *writer, const struct yaml_node *node, bool is_reference)
{
    static const char *const keys[] = {"kernel", "settings"};
    enum status status = check_keys(writer, node, "an entry", keys, 2);
    if (status != STATUS_OK)
        return status;
    const struct yaml_node *kernel = yaml_find(node, "kernel"), *settings = yaml_find(node, "settings");
    if (kernel == NULL || kernel->kind != YAML_SCALAR)
        return fail(writer, node, "an entry needs 'kernel' with a name");
    status = check_name(writer, kernel, kernel->text);
    if (status == STATUS_OK && settings != NULL && settings->kind != YAML_MAP)
        status = fail(writer, settings, "'settings' must be keys with values");
    for (; writer->line < node->line; writer->line++)
        text_buffer_append(writer->plain, "\n");
    text_buffer_append_format(writer->plain, "%s%s", is_reference ? "reference " : "", kernel->text);
    for (const struct yaml_node *child = settings != NULL ? settings->first : NULL;
         child != NULL && status == STATUS_OK; child = child->next)
        status = write_setting(writer, child);
    text_buffer_append(writer->plain, "\n");
    writer->line++;
    return status;
}

static enum status write_list(struct plan_writer *writer, const struct yaml_node *list, bool is_reference)
{
    enum status status = STATUS_OK;
    if (list == NULL)
        return STATUS_OK;
    if (list->kind != YAML_LIST)
        return fail(writer, list, "expected a list of {kernel, settings}");
    for (const struct yaml_node *child = list->first; child != NULL && status == STATUS_OK; child = child->next)
        status = write_entry(writer, child, is_reference);
    return status;
}

static enum status write_plan(struct plan_writer *writer, const struct yaml_node *root)
{
    static const char *const keys[] = {"name", "title", "measure", "reference"};
    enum status status = check_keys(writer, root, "a plan", keys, 4);
    if (status != STATUS_OK)
        return status;
    const struct yaml_node *measure = yaml_find(root, "measure"), *reference = yaml_find(root, "reference");
    if (measure == NULL)
        return fail(writer, root, "'measure' is missing: a list of {kernel, settings}");
    /* In the order of the file, so that the lines of the plain form are those of the file. */
    bool reference_first = reference != NULL && reference->key_line < measure->key_line;
    status = write_list(writer, reference_first ? reference : measure, reference_first);
    return status == STATUS_OK ? write_list(writer, reference_first ? measure : reference, !reference_first) : status;
}

enum status measure_plan_convert(const char *text, size_t length, const char *name, struct text_buffer *plain,
                                 struct error *error)
{
    struct plan_writer writer = {.name = name, .plain = plain, .line = 1, .error = error};
    struct arena arena = {0};
    struct yaml_node *root;
    enum status status = yaml_tree_parse(text, length, name, 0x9e3779b97f4a7c15u, &arena, &root, error);
    if (status == STATUS_OK)
        status = write_plan(&writer, root);
    if (status == STATUS_OK && plain->failed)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a plan");
    arena_release(&arena);
    return status;
}
