/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reader of Triton's metadata JSON (jansson). */
#include "evidence/code/triton_entry.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/json_tolerant.h"

struct entry_reader {
    const char *name;
    const json_t *root;
    struct compiled_kernel *kernel;
    struct error *error;
};

static enum status fail(const struct entry_reader *self, const char *key, const char *expected)
{
    return error_set_at(self->error, STATUS_BAD_DATA, self->name, 0, 0, "key \"%s\": %s expected", key, expected);
}

static enum triton_json_kind kind_of(const json_t *root)
{
    if (json_object_get(root, "child_paths") != NULL) {
        return TRITON_JSON_GROUP;
    }
    if (json_object_get(root, "configs_timings") != NULL) {
        return TRITON_JSON_AUTOTUNE;
    }
    return json_object_get(root, "shared") != NULL && json_object_get(root, "num_warps") != NULL ? TRITON_JSON_KERNEL
                                                                                                 : TRITON_JSON_OTHER;
}

/* --- figures -------------------------------------------------------------------------------------------------------
 */

/* A whole number minimum..maximum; absent, null and Python's Infinity and NaN leave the figure unknown. */
static enum status read_count(const struct entry_reader *self, const char *key, enum compiled_figure figure,
                              int64_t minimum, int64_t maximum)
{
    const json_t *value = json_object_get(self->root, key);
    if (value == NULL || json_is_null(value) || json_tolerant_is_nonfinite(value)) {
        return STATUS_OK;
    }
    int64_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < minimum || number > maximum) {
        char expected[64];
        (void)snprintf(expected, sizeof expected, "a whole number %lld to %lld", (long long)minimum,
                       (long long)maximum);
        return fail(self, key, expected);
    }
    compiled_kernel_set(self->kernel, figure, FIGURE_EXACT, CODE_SOURCE_TRITON_JSON, (uint64_t)number);
    return STATUS_OK;
}

/* cluster_dims (3.0 to 3.5), clusterDims (2.x), ctas_per_cga (newer, may be null): the sides' product; without them
 * num_ctas is the cluster. */
static enum status read_cluster(const struct entry_reader *self)
{
    static const char *const keys[] = {"cluster_dims", "clusterDims", "ctas_per_cga"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *sides = json_object_get(self->root, keys[i]);
        if (sides == NULL || json_is_null(sides)) {
            continue;
        }
        uint64_t product = 1;
        bool is_good = json_is_array(sides) && json_array_size(sides) >= 1 && json_array_size(sides) <= 3;
        for (size_t side = 0; is_good && side < json_array_size(sides); side++) {
            json_int_t value = json_integer_value(json_array_get(sides, side));
            is_good = value >= 1 && value <= 64;
            product *= is_good ? (uint64_t)value : 1;
        }
        if (!is_good) {
            return fail(self, keys[i], "a list of up to three sides, 1 to 64");
        }
        compiled_kernel_set(self->kernel, COMPILED_CLUSTER, FIGURE_EXACT, CODE_SOURCE_TRITON_JSON, product);
        if (product > 1) {
            return STATUS_OK;
        }
    }
    const json_t *ctas = json_object_get(self->root, "num_ctas");
    bool says_more = json_integer_value(ctas) > 1 || self->kernel->figures[COMPILED_CLUSTER].state == FIGURE_UNKNOWN;
    return says_more ? read_count(self, "num_ctas", COMPILED_CLUSTER, 1, 64) : STATUS_OK;
}

static void read_arch_text(const struct entry_reader *self, const json_t *value)
{
    const char *text = json_string_value(value);
    uint32_t arch = 0;
    char suffix = 0;
    if (json_is_integer(value) && json_integer_value(value) >= 10 && json_integer_value(value) <= 999) {
        self->kernel->arch = (uint32_t)json_integer_value(value);
    } else if (text != NULL && code_arch_parse(text, strlen(text), &arch, &suffix)) {
        self->kernel->arch = arch;
        self->kernel->arch_suffix = suffix;
    }
}

/* target: {backend, arch, warp_size} (3.x), ["cuda", 90] (2.x), absent (2.0, 2.1); arch: "sm90" (3.3 and later),
 * "cuda:90" in between. */
static void read_target(const struct entry_reader *self, struct triton_entry *entry)
{
    const json_t *target = json_object_get(self->root, "target");
    const json_t *backend = NULL, *arch = NULL, *warp_size = json_object_get(self->root, "warp_size");
    if (json_is_object(target)) {
        backend = json_object_get(target, "backend");
        arch = json_object_get(target, "arch");
        warp_size = warp_size != NULL ? warp_size : json_object_get(target, "warp_size");
    } else if (json_is_array(target)) {
        backend = json_array_get(target, 0);
        arch = json_array_get(target, 1);
    } else if (json_is_string(target) && strncmp(json_string_value(target), "cuda:", 5) == 0) {
        json_t *number = json_string(json_string_value(target) + 5);
        read_arch_text(self, number);
        json_decref(number);
    }
    if (json_is_string(backend)) {
        (void)snprintf(entry->backend, sizeof entry->backend, "%s", json_string_value(backend));
    }
    const json_t *version = json_object_get(self->root, "triton_version");
    if (json_is_string(version)) {
        (void)snprintf(entry->version, sizeof entry->version, "%s", json_string_value(version));
    }
    entry->is_other_backend = entry->backend[0] != '\0' && strcmp(entry->backend, "cuda") != 0;
    json_int_t lanes = json_integer_value(warp_size);
    entry->warp_size = lanes >= 1 && lanes <= 128 ? (uint32_t)lanes : 32;
    if (!entry->is_other_backend) {
        read_arch_text(self, arch);
        read_arch_text(self, json_object_get(self->root, "arch")); /* an override, if there is one */
    }
}

static enum status read_figures(const struct entry_reader *self, struct triton_entry *entry)
{
    const struct {
        const char *key;
        enum compiled_figure figure;
        int64_t minimum, maximum;
    } counts[] = {{"shared", COMPILED_DYNAMIC_SMEM, 0, INT32_MAX},
                  {"num_warps", COMPILED_NUM_WARPS, 1, 64},
                  {"num_stages", COMPILED_NUM_STAGES, 0, 1024},
                  {"maxnreg", COMPILED_REGISTER_CAP, 1, 65536},
                  {"tmem_size", COMPILED_TENSOR_COLUMNS, 0, 65536}};
    enum status status = STATUS_OK;
    read_target(self, entry);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && status == STATUS_OK; i++) {
        status = read_count(self, counts[i].key, counts[i].figure, counts[i].minimum, counts[i].maximum);
    }
    status = status == STATUS_OK ? read_cluster(self) : status;
    const struct code_figure *warps = &self->kernel->figures[COMPILED_NUM_WARPS];
    if (status == STATUS_OK && warps->state == FIGURE_EXACT) {
        compiled_kernel_set(self->kernel, COMPILED_THREADS, FIGURE_EXACT, CODE_SOURCE_TRITON_JSON,
                            warps->value * entry->warp_size);
    }
    if (self->kernel->arch != 0) {
        compiled_kernel_set(self->kernel, COMPILED_RESERVED_SMEM, FIGURE_EXACT, CODE_SOURCE_TRITON_JSON,
                            compiled_reserved_smem_bytes(self->kernel->arch));
    }
    return status;
}

static enum status read_kernel(const json_t *root, const char *name, struct compiled_kernel_list *list,
                               struct triton_entry *entry, struct error *error)
{
    const json_t *label = json_object_get(root, "name");
    const char *text = json_is_string(label) ? json_string_value(label) : "";
    struct entry_reader reader = {name, root, NULL, error};
    enum status status = compiled_kernel_list_add(list, text, strlen(text), name, &reader.kernel, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = read_figures(&reader, entry);
    if (status != STATUS_OK) {
        list->count--;
        return status;
    }
    if (entry->is_other_backend) {
        compiled_kernel_remark(list, reader.kernel, "compiled for the backend %s, not for NVIDIA", entry->backend);
    }
    return STATUS_OK;
}

enum status triton_entry_parse(const char *text, size_t length, const char *name, struct compiled_kernel_list *list,
                               enum triton_json_kind *kind, struct triton_entry *entry, struct error *error)
{
    struct triton_entry unused = {0};
    entry = entry != NULL ? entry : &unused;
    *entry = (struct triton_entry){.warp_size = 32};
    *kind = TRITON_JSON_OTHER;
    json_t *root = NULL;
    enum status status = json_tolerant_parse(text, length, name, JSON_DUPLICATES_REFUSED, &root, NULL, error);
    if (status == STATUS_OK && !json_is_object(root)) {
        status = error_set_at(error, STATUS_BAD_DATA, name, 1, 1, "a JSON object expected");
    }
    if (status == STATUS_OK) {
        *kind = kind_of(root);
        status = *kind == TRITON_JSON_KERNEL ? read_kernel(root, name, list, entry, error) : STATUS_OK;
    }
    json_decref(root);
    return status;
}
