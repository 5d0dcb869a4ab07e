/* SPDX-License-Identifier: GPL-3.0-or-later
 * Two ways to the same figures: a scan of the text, and a parse that checks everything. */
#include "evidence/profiles/trace_launch.h"

#include <math.h>
#include <string.h>

#include "evidence/profiles/trace_fields.h"

enum {
    REGISTERS_MAX = 65535,
    DIGITS_MAX = 18 /* of a number that is read without the parser: below 2^63 */
};

static const struct trace_launch nothing_known = {
    .shape = {TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN, {0, 0, 0}, {0, 0, 0}},
    .start_us = NAN,
    .duration_us = NAN,
    .occupancy_percent = NAN,
    .resident_ctas = NAN};

/* --- the quick way -------------------------------------------------------------------------------------------------
 */

/* A whole number without sign of at most DIGITS_MAX digits. */
static bool scan_whole(struct text_span *span, int64_t *value)
{
    const char *at = span->at, *limit = span->end - at > DIGITS_MAX ? at + DIGITS_MAX : span->end;
    int64_t number = 0;
    while (at < limit && *at >= '0' && *at <= '9') {
        number = number * 10 + (*at++ - '0');
    }
    bool is_good =
        at > span->at && (at == span->end || *at < '0' || *at > '9') && (*span->at != '0' || at == span->at + 1);
    span->at = at;
    *value = number;
    return is_good;
}

static bool scan_count(const struct trace_field *field, int64_t most, int64_t *value)
{
    struct text_span span = field->value;
    return field->kind == TRACE_FIELD_PLAIN && *value == TRACE_UNKNOWN && scan_whole(&span, value) &&
           span.at == span.end && *value <= most;
}

/* Microseconds: digits with or without a fraction. *is_exact: the quotient of two exact numbers, rounded once, as
 * strtod does it. */
static bool scan_microseconds(const struct trace_field *field, double *value, bool *is_exact)
{
    static const double powers[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    const char *at = field->value.at, *end = field->value.end;
    if (field->kind != TRACE_FIELD_PLAIN || !isnan(*value) || end - at > DIGITS_MAX || *at < '0' || *at > '9' ||
        (*at == '0' && end - at > 1 && at[1] != '.')) {
        return false;
    }
    int64_t digits = 0;
    size_t fraction = 0;
    bool has_point = false;
    for (; at < end; at++) {
        if (*at == '.' && !has_point && at + 1 < end) {
            has_point = true;
        } else if (*at >= '0' && *at <= '9') {
            digits = digits * 10 + (*at - '0');
            fraction += has_point ? 1 : 0;
        } else {
            return false;
        }
    }
    *value = (double)digits / powers[fraction];
    *is_exact = digits <= INT64_C(1) << 53;
    return true;
}

/* [x, y, z] */
static bool scan_sides(const struct trace_field *field, uint32_t sides[3])
{
    struct text_span span = field->value;
    if (field->kind != TRACE_FIELD_NESTED || *span.at != '[' || sides[0] != 0) {
        return false;
    }
    span.at++;
    for (int i = 0; i < 3; i++) {
        int64_t side = 0;
        while (span.at < span.end && *span.at == ' ') {
            span.at++;
        }
        if (!scan_whole(&span, &side) || side < 1 || side > UINT32_MAX || span.at == span.end ||
            *span.at != (i < 2 ? ',' : ']')) {
            return false;
        }
        span.at++;
        sides[i] = (uint32_t)side;
    }
    return span.at == span.end;
}

static bool scan_arguments(const struct trace_field *arguments, struct trace_shape *shape)
{
    struct text_span rest = {arguments->value.at + 1, arguments->value.end};
    struct trace_field field;
    enum trace_fields_step step;
    bool is_good = arguments->kind == TRACE_FIELD_NESTED && *arguments->value.at == '{';
    while (is_good && (step = trace_fields_next(&rest, &field)) != TRACE_FIELDS_END) {
        if (step == TRACE_FIELDS_ODD) {
            return false;
        }
        if (trace_field_is(&field, "device")) {
            is_good = scan_count(&field, INT32_MAX, &shape->device);
        } else if (trace_field_is(&field, "registers per thread")) {
            is_good = scan_count(&field, REGISTERS_MAX, &shape->registers);
        } else if (trace_field_is(&field, "shared memory")) {
            is_good = scan_count(&field, INT32_MAX, &shape->smem_bytes);
        } else if (trace_field_is(&field, "grid")) {
            is_good = scan_sides(&field, shape->grid);
        } else if (trace_field_is(&field, "block")) {
            is_good = scan_sides(&field, shape->block);
        }
    }
    return is_good;
}

bool trace_launch_scan(const char *text, size_t length, struct trace_launch *launch)
{
    struct text_span rest = {text + 1, text + length};
    struct trace_field field;
    enum trace_fields_step step;
    int64_t process = TRACE_UNKNOWN;
    bool has_arguments = false, is_good = true, is_exact = false;
    *launch = nothing_known;
    while (is_good && (step = trace_fields_next(&rest, &field)) != TRACE_FIELDS_END) {
        if (step == TRACE_FIELDS_ODD) {
            return false;
        }
        if (trace_field_is(&field, "name")) {
            is_good = launch->name == NULL && field.kind == TRACE_FIELD_STRING && !field.has_escape;
            launch->name = field.value.at;
            launch->name_length = (size_t)(field.value.end - field.value.at);
        } else if (trace_field_is(&field, "ts")) {
            is_good = scan_microseconds(&field, &launch->start_us, &is_exact); /* only for their order */
        } else if (trace_field_is(&field, "dur")) {
            is_good = scan_microseconds(&field, &launch->duration_us, &is_exact) && is_exact;
        } else if (trace_field_is(&field, "pid")) {
            is_good = scan_count(&field, INT32_MAX, &process);
        } else if (trace_field_is(&field, "args")) {
            is_good = !has_arguments && scan_arguments(&field, &launch->shape);
            has_arguments = true;
        }
    }
    launch->shape.device = launch->shape.device == TRACE_UNKNOWN ? process : launch->shape.device;
    return is_good && has_arguments && launch->name_length > 0 && !isnan(launch->duration_us) &&
           !isnan(launch->start_us);
}

/* --- the sure way --------------------------------------------------------------------------------------------------
 */

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

/* NaN unless it is a finite number of at least 0. */
static double number_of(const json_t *object, const char *key)
{
    double number = NAN;
    bool is_good = json_tolerant_number(json_object_get(object, key), &number) && isfinite(number) && number >= 0;
    return is_good ? number : (double)NAN;
}

static enum status parse_arguments(const json_t *arguments, struct trace_launch *launch, struct error *error)
{
    struct trace_shape *shape = &launch->shape;
    enum status status = parse_count(arguments, "device", INT32_MAX, &shape->device, error);
    if (status == STATUS_OK) {
        status = parse_count(arguments, "registers per thread", REGISTERS_MAX, &shape->registers, error);
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
        if (span_find(&rest, keys[i]) && span_find(&rest, keys[i])) {
            return error_set(error, STATUS_BAD_DATA, "the key %s stands twice", keys[i]);
        }
    }
    return STATUS_OK;
}

enum status trace_launch_parse(const char *text, size_t length, json_t **root, bool *is_kernel,
                               struct trace_launch *launch, struct error *error)
{
    struct json_tolerated tolerated = {0};
    *launch = nothing_known;
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
