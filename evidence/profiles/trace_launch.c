/* SPDX-License-Identifier: GPL-3.0-or-later
 * The sure way to the figures of a launch: a parse that checks everything (jansson). */
#include "evidence/profiles/trace_launch.h"

#include <math.h>
#include <string.h>

#include "evidence/text_lines.h"

const struct trace_launch trace_launch_unknown = {
    .shape = {TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN, {0, 0, 0}, {0, 0, 0}},
    .operator_id = TRACE_UNKNOWN,
    .graph_node = TRACE_UNKNOWN,
    .start_us = NAN,
    .duration_us = NAN,
    .occupancy_percent = NAN,
    .resident_ctas = NAN};

/* Absent: unknown. */
static enum status parse_count(const json_t *object, const char *key, int64_t most, int64_t *value, struct error *error)
{
    const json_t *member = json_object_get(object, key);
    if (member == NULL || json_is_null(member)) {
        return STATUS_OK;
    }
    json_int_t number = json_is_integer(member) ? json_integer_value(member) : -1;
    if (number < 0 || number > most) {
        return error_set(error, STATUS_BAD_DATA, "\"%s\": a whole number 0 to %lld expected", key, (long long)most);
    }
    *value = number;
    return STATUS_OK;
}

static enum status parse_sides(const json_t *object, const char *key, uint32_t sides[3], struct error *error)
{
    const json_t *member = json_object_get(object, key);
    if (member == NULL || json_is_null(member)) {
        return STATUS_OK;
    }
    bool is_good = json_is_array(member) && json_array_size(member) == 3;
    for (size_t i = 0; i < 3 && is_good; i++) {
        const json_t *side = json_array_get(member, i);
        json_int_t number = json_is_integer(side) ? json_integer_value(side) : 0;
        is_good = number >= 1 && number <= UINT32_MAX;
        sides[i] = is_good ? (uint32_t)number : 0;
    }
    return is_good ? STATUS_OK : error_set(error, STATUS_BAD_DATA, "\"%s\": three sides of at least 1 expected", key);
}

/* TRACE_UNKNOWN unless it is a whole number of at least 0. */
static int64_t id_of(const json_t *object, const char *const keys[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *member = json_object_get(object, keys[i]);
        if (json_is_integer(member) && json_integer_value(member) >= 0) {
            return json_integer_value(member);
        }
    }
    return TRACE_UNKNOWN;
}

/* NaN unless it is a finite number of at least 0. */
static double number_of(const json_t *object, const char *key)
{
    double number = NAN;
    bool is_good = json_tolerant_number(json_object_get(object, key), &number) && isfinite(number) && number >= 0;
    return is_good ? number : (double)NAN;
}

static enum status parse_arguments(const json_t *arguments, struct trace_launch *launch, struct error *error)
{
    static const char *const ids[] = {"External id", "External Id", "external id"}, *const nodes[] = {"graph node id"};
    struct trace_shape *shape = &launch->shape;
    launch->operator_id = id_of(arguments, ids, sizeof ids / sizeof ids[0]);
    launch->graph_node = id_of(arguments, nodes, 1);
    enum status status = parse_count(arguments, "device", INT32_MAX, &shape->device, error);
    if (status == STATUS_OK) {
        status = parse_count(arguments, "registers per thread", TRACE_REGISTERS_MAX, &shape->registers, error);
    }
    if (status == STATUS_OK) {
        status = parse_count(arguments, "shared memory", INT32_MAX, &shape->smem_bytes, error);
    }
    if (status == STATUS_OK) {
        status = parse_sides(arguments, "grid", shape->grid, error);
    }
    if (status == STATUS_OK) {
        status = parse_sides(arguments, "block", shape->block, error);
    }
    launch->occupancy_percent = number_of(arguments, "est. achieved occupancy %");
    if (isnan(launch->occupancy_percent)) {
        launch->occupancy_percent = number_of(arguments, "theoretical occupancy %"); /* until 2021 */
    }
    /* "blocks per SM" and "warps per SM" are launched, not resident: the grid says as much. */
    launch->resident_ctas = number_of(json_object_get(arguments, "occupancy"), "activeBlocksPerMultiprocessor");
    return status;
}

static bool has_kernel_category(const json_t *root)
{
    const char *category = json_string_value(json_object_get(root, "cat"));
    return category != NULL && (strcmp(category, "kernel") == 0 || strcmp(category, "Kernel") == 0);
}

/* Of keys that stand twice the last is taken, as Python does, unless the launch's own figures hang on it. */
static enum status check_duplicates(const char *text, size_t length, struct error *error)
{
    static const char *const keys[] = {"\"cat\"",  "\"name\"",  "\"dur\"",           "\"args\"",
                                       "\"grid\"", "\"block\"", "\"shared memory\"", "\"registers per thread\""};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct text_span rest = {text, text + length};
        unsigned found = 0;
        while (found < 2 && span_find(&rest, keys[i])) {
            found++;
        }
        if (found == 2) {
            return error_set(error, STATUS_BAD_DATA, "the key %s stands twice", keys[i]);
        }
    }
    return STATUS_OK;
}

enum status trace_launch_parse(const char *text, size_t length, json_t **root, bool *is_kernel,
                               struct trace_launch *launch, struct error *error)
{
    struct json_tolerated tolerated = {0};
    *launch = trace_launch_unknown;
    *is_kernel = true;
    enum status status = json_tolerant_parse(text, length, "event", JSON_DUPLICATES_LAST, root, &tolerated, error);
    if (status == STATUS_OK && tolerated.has_duplicates) {
        status = check_duplicates(text, length, error);
    }
    if (status == STATUS_OK) {
        *is_kernel = has_kernel_category(*root);
    }
    if (status != STATUS_OK || !*is_kernel) {
        return status;
    }
    const char *name = json_string_value(json_object_get(*root, "name"));
    if (name == NULL || name[0] == '\0') {
        return error_set(error, STATUS_BAD_DATA, "the kernel has no name");
    }
    launch->name = name;
    launch->name_length = strlen(name);
    launch->start_us = number_of(*root, "ts");
    launch->duration_us = number_of(*root, "dur");
    status = parse_arguments(json_object_get(*root, "args"), launch, error);
    const json_t *process = json_object_get(*root, "pid");
    if (launch->shape.device == TRACE_UNKNOWN && json_is_integer(process) && json_integer_value(process) >= 0 &&
        json_integer_value(process) <= INT32_MAX) {
        launch->shape.device = json_integer_value(process);
    }
    return status;
}
