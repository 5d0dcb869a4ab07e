/* SPDX-License-Identifier: GPL-3.0-or-later
 * MoE configuration files of vLLM and SGLang: an object from the batch size M, as text, to the knobs of the fused
 * kernel. What else identifies the configuration (E, N, the device, the number format) is in the file's name alone. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/json_tolerant.h"
#include "evidence/profiles/profile_readers.h"

enum {
    FILE_BYTES_MAX = 16 << 20,
    NAME_PARTS_MAX = 16
};

/* E=256,N=512,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128,128].json */
struct moe_name {
    size_t count;
    struct {
        const char *key, *value;
        size_t key_length, value_length;
    } parts[NAME_PARTS_MAX];
    char device[128]; /* "NVIDIA H200" */
};

static void add_part(struct moe_name *name, const char *part, size_t length)
{
    const char *equals = memchr(part, '=', length);
    if (equals == NULL || equals == part || name->count == NAME_PARTS_MAX) {
        return;
    }
    size_t key_length = (size_t)(equals - part), value_length = length - key_length - 1;
    if (key_length == strlen("device_name") && strncmp(part, "device_name", key_length) == 0) {
        (void)snprintf(name->device, sizeof name->device, "%.*s", (int)value_length, equals + 1);
        for (char *at = name->device; *at != '\0'; at++) {
            *at = *at == '_' ? ' ' : *at;
        }
        return;
    }
    name->parts[name->count].key = part;
    name->parts[name->count].key_length = key_length;
    name->parts[name->count].value = equals + 1;
    name->parts[name->count++].value_length = value_length;
}

/* Commas inside of brackets do not part. */
static void parse_name(const char *path, struct moe_name *name)
{
    const char *file = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    size_t length = strlen(file);
    size_t bad;
    if (utf8_check(file, length, &bad) != STATUS_OK || length > 255) {
        return;
    }
    if (length > 3 && strcmp(file + length - 3, ".gz") == 0) {
        length -= 3;
    }
    if (length > 5 && strncmp(file + length - 5, ".json", 5) == 0) {
        length -= 5;
    }
    int depth = 0;
    const char *from = file;
    for (const char *at = file; at <= file + length; at++) {
        bool is_end = at == file + length;
        depth += !is_end && *at == '[' ? 1 : !is_end && *at == ']' ? -1 : 0;
        if (is_end || (*at == ',' && depth == 0)) {
            add_part(name, from, (size_t)(at - from));
            from = at + 1;
        }
    }
}

static bool parse_batch(const char *text, uint64_t *batch)
{
    char *end;
    if (*text < '1' || *text > '9' || strlen(text) > 9) {
        return false;
    }
    *batch = strtoull(text, &end, 10);
    return *end == '\0';
}

/* A knob as text: whole numbers, decimals, words; "" for what is none. */
static void knob_text(const json_t *value, char out[64])
{
    double number;
    char digits[32];
    out[0] = '\0';
    if (json_is_integer(value)) {
        (void)snprintf(out, 64, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value) && json_tolerant_number(value, &number)) {
        (void)snprintf(out, 64, "%s", number_format(number, digits));
    } else if (json_is_boolean(value)) {
        (void)snprintf(out, 64, "%s", json_is_true(value) ? "true" : "false");
    } else if (json_is_string(value) && json_string_length(value) < 64 && !json_tolerant_is_nonfinite(value)) {
        (void)snprintf(out, 64, "%s", json_string_value(value));
    }
}

static enum status add_name_parts(const struct moe_name *name, struct kernel_claim_list *list,
                                  struct kernel_claim *claim, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < name->count && status == STATUS_OK; i++) {
        status = kernel_claim_parameter(list, claim, name->parts[i].key, name->parts[i].key_length,
                                        name->parts[i].value, name->parts[i].value_length, error);
    }
    return status;
}

static enum status add_knobs(json_t *knobs, struct kernel_claim_list *list, struct kernel_claim *claim,
                             struct error *error)
{
    const char *key;
    json_t *value;
    enum status status = STATUS_OK;
    json_object_foreach(knobs, key, value)
    {
        char text[64];
        knob_text(value, text);
        if (text[0] != '\0' && status == STATUS_OK) {
            status = kernel_claim_parameter(list, claim, key, strlen(key), text, strlen(text), error);
        }
        if (json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= 1024) {
            double number = (double)json_integer_value(value);
            if (strcmp(key, "num_warps") == 0) {
                kernel_claim_set(claim, CLAIM_NUM_WARPS, number);
            } else if (strcmp(key, "num_stages") == 0) {
                kernel_claim_set(claim, CLAIM_NUM_STAGES, number);
            }
        }
    }
    return status;
}

static enum status add_claim(const char *path, const struct moe_name *name, const char *batch, json_t *knobs,
                             struct kernel_claim_list *list, uint64_t ordinal, struct error *error)
{
    static const char kernel[] = "fused_moe_kernel";
    struct kernel_claim *claim;
    enum status status =
        kernel_claim_list_add(list, CLAIM_SOURCE_MOE_CONFIG, path, kernel, sizeof kernel - 1, &claim, error);
    if (status != STATUS_OK) {
        return status;
    }
    claim->ordinal = ordinal;
    if (name->device[0] != '\0') {
        const char *device = arena_copy_text(&list->arena, name->device, strlen(name->device));
        claim->device = device != NULL ? device : "";
    }
    status = kernel_claim_parameter(list, claim, "M", 1, batch, strlen(batch), error);
    status = status == STATUS_OK ? add_name_parts(name, list, claim, error) : status;
    return status == STATUS_OK ? add_knobs(knobs, list, claim, error) : status;
}

static enum status read_batches(const char *path, json_t *root, struct kernel_claim_list *list, struct error *error)
{
    struct moe_name name = {0};
    const char *key;
    json_t *value;
    uint64_t ordinal = 0, batch;
    enum status status = STATUS_OK;
    parse_name(path, &name);
    json_object_foreach(root, key, value)
    {
        bool is_batch = parse_batch(key, &batch);
        if (status != STATUS_OK) {
            break;
        }
        if (is_batch && json_is_object(value) && json_object_get(value, "BLOCK_SIZE_M") != NULL) {
            status = add_claim(path, &name, key, value, list, ++ordinal, error);
        } else if (is_batch || !json_is_string(value)) { /* "triton_version": "3.4.0" is no batch size */
            kernel_claim_skip(list, "%s: \"%.60s\" is no batch size with a configuration", path, key);
        }
    }
    if (status == STATUS_OK && ordinal == 0) {
        status =
            error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                         "no MoE configuration: an object from batch sizes to BLOCK_SIZE_M, num_warps, ... expected");
    }
    return status;
}

enum status moe_config_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    json_t *root = NULL;
    enum status status = json_tolerant_read(path, FILE_BYTES_MAX, JSON_DUPLICATES_REFUSED, &root, NULL, error);
    if (status == STATUS_OK && !json_is_object(root)) {
        status = error_set_at(error, STATUS_BAD_DATA, path, 1, 1, "no MoE configuration: a JSON object expected");
    }
    status = status == STATUS_OK ? read_batches(path, root, list, error) : status;
    json_decref(root);
    return status;
}
