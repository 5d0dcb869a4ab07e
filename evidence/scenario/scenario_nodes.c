/* SPDX-License-Identifier: GPL-3.0-or-later
 * Access to the nodes of a scenario file, with one clear message and place for each fault. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text_buffer.h"
#include "evidence/scenario/scenario_internal.h"

enum status reader_fail(const struct scenario_reader *reader, enum status status, const struct yaml_node *node,
                        const char *format, ...)
{
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set_at(reader->error, status, reader->scenario->path, node->line, node->column, "%s", text);
}

enum status reader_no_memory(const struct scenario_reader *reader)
{
    return error_set(reader->error, STATUS_NO_MEMORY, "no memory for the scenario");
}

void scenario_near_names(const char *const *names, size_t count, const char *name, char *out, size_t out_size)
{
    size_t length = 0, taken = 0;
    unsigned half = (unsigned)strlen(name) / 2 + 1, limit = half < 3 ? half : 3;
    out[0] = '\0';
    for (unsigned distance = 0; distance <= limit; distance++) {
        for (size_t i = 0; i < count && taken < 4; i++) {
            /* cut short: as good as one letter off */
            const bool begins = name[0] != '\0' && strncasecmp(names[i], name, strlen(name)) == 0;
            if ((begins ? 1 : text_distance(names[i], name)) == distance && length < out_size) {
                int written =
                    snprintf(out + length, out_size - length, "%s%s", taken > 0 ? ", " : "; near names: ", names[i]);
                length += written > 0 ? (size_t)written : 0;
                taken++;
            }
        }
    }
}

void scenario_list_names(const char *const *names, size_t count, const char *intro, char *out, size_t out_size)
{
    size_t length = (size_t)snprintf(out, out_size, "; %s", intro);
    for (size_t i = 0; i < count && length + SCENARIO_NAME_LENGTH_MAX + 8 < out_size; i++) {
        const int written =
            snprintf(out + length, out_size - length, "%s %.*s", i > 0 ? "," : "", SCENARIO_NAME_LENGTH_MAX, names[i]);
        length += written > 0 ? (size_t)written : 0;
    }
}

static enum status unknown_key(const struct scenario_reader *reader, const struct yaml_node *child, const char *what,
                               const char *const *keys, size_t count)
{
    char near[256];
    scenario_near_names(keys, count, child->key, near, sizeof near);
    if (near[0] == '\0') {
        scenario_list_names(keys, count, "known are", near, sizeof near);
    }
    return error_set_at(reader->error, STATUS_BAD_DATA, reader->scenario->path, child->key_line, child->key_column,
                        "unknown key '%.64s' in %s%s", child->key, what, near);
}

enum status reader_check_keys(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                              const char *const *keys, size_t count)
{
    enum status status = reader_expect(reader, node, YAML_MAP, what);
    if (status != STATUS_OK) {
        return status;
    }
    for (const struct yaml_node *child = node->first; child != NULL; child = child->next) {
        size_t i = 0;
        while (i < count && strcmp(keys[i], child->key) != 0) {
            i++;
        }
        if (i == count) {
            return unknown_key(reader, child, what, keys, count);
        }
    }
    return STATUS_OK;
}

enum status reader_expect(const struct scenario_reader *reader, const struct yaml_node *node, enum yaml_kind kind,
                          const char *what)
{
    static const char *const kinds[] = {
        [YAML_SCALAR] = "one value", [YAML_LIST] = "a list [a, b, ...]", [YAML_MAP] = "a map of keys and values"};
    if (node->kind == kind) {
        return STATUS_OK;
    }
    return reader_fail(reader, STATUS_BAD_DATA, node, "%s must be %s", what, kinds[kind]);
}

enum status reader_number(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                          double *number)
{
    if (node->kind == YAML_SCALAR && !node->quoted && number_parse(node->text, number) == STATUS_OK) {
        return STATUS_OK;
    }
    return reader_fail(reader, STATUS_BAD_DATA, node, "%s must be a finite number%s%.40s%s", what,
                       node->kind == YAML_SCALAR ? ", not '" : "", node->text, node->kind == YAML_SCALAR ? "'" : "");
}

enum status reader_text(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                        const char **text)
{
    if (node->kind != YAML_SCALAR || node->text[0] == '\0' || strpbrk(node->text, "\r\n") != NULL) {
        return reader_fail(reader, STATUS_BAD_DATA, node, "%s must be a text on one line", what);
    }
    /* Texts are printed on terminals: no escape sequences. C1 controls are U+0080 to U+009F, C2 80 to C2 9F in UTF-8.
     */
    for (const unsigned char *byte = (const unsigned char *)node->text; *byte != '\0'; byte++) {
        if (*byte < 0x20 || *byte == 0x7f || (*byte == 0xc2 && byte[1] >= 0x80 && byte[1] <= 0x9f)) {
            return reader_fail(reader, STATUS_BAD_DATA, node, "%s holds a control character", what);
        }
    }
    *text = node->text;
    return STATUS_OK;
}

static bool is_identifier(const char *name)
{
    static const char characters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return name[0] > '9' && strspn(name, characters) == strlen(name);
}

enum status reader_new_name(const struct scenario_reader *reader, const struct yaml_node *node, const char *what)
{
    static const char *const functions[] = {"ceil", "floor", "round", "trunc", "abs",   "sqrt",     "exp",     "log",
                                            "log2", "pow",   "min",   "max",   "clamp", "ceil_div", "round_up"};
    const struct scenario *scenario = reader->scenario;
    struct yaml_node place = *node;
    place.line = node->key_line;
    place.column = node->key_column;
    if (strlen(node->key) > SCENARIO_NAME_LENGTH_MAX || !is_identifier(node->key)) {
        return reader_fail(reader, STATUS_BAD_DATA, &place,
                           "%s '%.64s' must be a name of letters, digits and '_', at most %d long", what, node->key,
                           SCENARIO_NAME_LENGTH_MAX);
    }
    bool reserved = false;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        reserved = reserved || strcmp(functions[i], node->key) == 0;
    }
    for (size_t i = 0; i < SCENARIO_CONSTANT_COUNT; i++) {
        reserved = reserved || strcmp(scenario_constant_names[i], node->key) == 0;
    }
    if (reserved) {
        return reader_fail(reader, STATUS_BAD_DATA, &place, "the name '%s' is taken by the expression language",
                           node->key);
    }
    for (uint32_t i = 0; i < scenario->variable_count; i++) {
        if (strcmp(scenario->variables[i].name, node->key) == 0) {
            return reader_fail(reader, STATUS_BAD_DATA, &place, "%s '%s' has the name of a %s", what, node->key,
                               scenario->variables[i].is_knob ? "knob" : "workload variable");
        }
    }
    return STATUS_OK;
}
