/* SPDX-License-Identifier: GPL-3.0-or-later
 * KERNEL.autotune.json of a Triton cache: [[configuration, [median, 20 %, 80 %]], ...] in milliseconds. A configuration
 * that did not run has Infinity three times, as Python writes it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/json_tolerant.h"
#include "evidence/profiles/profile_readers.h"

#define US_PER_MS 1e3

enum {
    FILE_BYTES_MAX = 64 << 20
};

struct autotune_reader {
    const char *path;
    struct kernel_claim_list *list;
    char name[256];
    char *key; /* the tuple the results are for, as JSON; "" */
    struct error *error;
};

/* The file's name without ".autotune.json", which is the kernel's. */
static void kernel_name(const char *path, char out[256])
{
    const char *file = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    const char *ending = strstr(file, ".autotune.json");
    size_t length = ending != NULL ? (size_t)(ending - file) : 0, bad;
    if (length >= 256 || utf8_check(file, length, &bad) != STATUS_OK) {
        length = 0;
    }
    memcpy(out, file, length);
    out[length] = '\0';
}

static enum status add_knob(struct autotune_reader *self, struct kernel_claim *claim, const char *key,
                            const json_t *value)
{
    char text[64] = "", digits[32];
    const char *shown = text;
    double number;
    if (json_is_integer(value)) {
        (void)snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    } else if (json_is_boolean(value)) {
        shown = json_is_true(value) ? "true" : "false";
    } else if (json_is_string(value) && !json_tolerant_is_nonfinite(value)) {
        shown = json_string_value(value);
    } else if (json_tolerant_number(value, &number)) {
        (void)snprintf(text, sizeof text, "%s", number_format(number, digits));
    }
    return shown[0] == '\0' /* null, lists: not set, or nothing that can be compared */
               ? STATUS_OK
               : kernel_claim_parameter(self->list, claim, key, strlen(key), shown, strlen(shown), self->error);
}

static void set_count(struct kernel_claim *claim, enum claim_figure figure, const json_t *value, json_int_t maximum)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= maximum) {
        kernel_claim_set(claim, figure, (double)json_integer_value(value));
    }
}

static enum status add_configuration(struct autotune_reader *self, struct kernel_claim *claim, json_t *configuration)
{
    const char *key;
    json_t *value;
    enum status status = STATUS_OK;
    json_object_foreach(json_object_get(configuration, "kwargs"), key, value)
    {
        status = status == STATUS_OK ? add_knob(self, claim, key, value) : status;
    }
    json_object_foreach(configuration, key, value)
    {
        if (strcmp(key, "kwargs") != 0 && status == STATUS_OK) {
            status = add_knob(self, claim, key, value);
        }
    }
    set_count(claim, CLAIM_NUM_WARPS, json_object_get(configuration, "num_warps"), 64);
    set_count(claim, CLAIM_NUM_STAGES, json_object_get(configuration, "num_stages"), 1024);
    set_count(claim, CLAIM_CLUSTER, json_object_get(configuration, "num_ctas"), 64);
    return status;
}

/* One number (first versions) or three quantiles. False: no times at all. */
static bool read_quantiles(const json_t *timings, double times[3])
{
    const json_t *list[3] = {timings, NULL, NULL};
    times[0] = times[1] = times[2] = NAN;
    for (size_t i = 0; i < 3 && json_is_array(timings); i++) {
        list[i] = json_array_get(timings, i);
    }
    for (size_t i = 0; i < 3; i++) {
        if (list[i] != NULL && !json_tolerant_number(list[i], &times[i])) {
            return false;
        }
    }
    return list[0] != NULL;
}

static void set_times(struct autotune_reader *self, struct kernel_claim *claim, const double times[3])
{
    if (!isfinite(times[0]) || times[0] < 0.0) {
        claim->is_failed = true;
        kernel_claim_remark(self->list, claim, "did not run: out of resources, or it did not compile");
        return;
    }
    claim->time.count = 1; /* how many runs the median is of is not in the file */
    claim->time.median_us = times[0] * US_PER_MS;
    if (isfinite(times[1]) && isfinite(times[2])) {
        kernel_claim_remark(self->list, claim, "20 %% and 80 %% of its runs below %.6g and %.6g us",
                            times[1] * US_PER_MS, times[2] * US_PER_MS);
    }
}

static enum status read_entry(struct autotune_reader *self, json_t *entry, size_t index)
{
    json_t *configuration = json_array_get(entry, 0);
    double times[3];
    if (!json_is_array(entry) || !json_is_object(configuration) || !read_quantiles(json_array_get(entry, 1), times)) {
        kernel_claim_skip(self->list, "%s: entry %zu of \"configs_timings\" is no configuration with its times",
                          self->path, index + 1);
        return STATUS_OK;
    }
    struct kernel_claim *claim;
    enum status status = kernel_claim_list_add(self->list, CLAIM_SOURCE_TRITON_AUTOTUNE_FILE, self->path, self->name,
                                               strlen(self->name), &claim, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    claim->ordinal = index + 1;
    set_times(self, claim, times);
    if (self->key != NULL) {
        kernel_claim_remark(self->list, claim, "key %.200s", self->key);
    }
    return add_configuration(self, claim, configuration);
}

enum status triton_autotune_file_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct autotune_reader reader = {.path = path, .list = list, .error = error};
    json_t *root = NULL;
    enum status status = json_tolerant_read(path, FILE_BYTES_MAX, JSON_DUPLICATES_REFUSED, &root, NULL, error);
    json_t *entries = json_object_get(root, "configs_timings");
    if (status == STATUS_OK && !json_is_array(entries)) {
        status = error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                              "no results of Triton's autotuner: a list \"configs_timings\" expected");
    }
    if (status == STATUS_OK && json_object_get(root, "key") != NULL) {
        reader.key = json_dumps(json_object_get(root, "key"), JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    }
    kernel_name(path, reader.name);
    for (size_t i = 0; status == STATUS_OK && i < json_array_size(entries); i++) {
        status = read_entry(&reader, json_array_get(entries, i), i);
    }
    free(reader.key);
    json_decref(root);
    return status;
}
