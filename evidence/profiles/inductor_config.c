/* SPDX-License-Identifier: GPL-3.0-or-later
 * KEY.best_config of an Inductor cache: the knobs that were chosen for one kernel, whose source is KEY.py beside it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/json_tolerant.h"
#include "evidence/profiles/profile_readers.h"

enum {
    CONFIG_BYTES_MAX = 1 << 20,
    SOURCE_BYTES_MAX = 4 << 20,
    NAME_SIZE = 256
};

/* What is no knob. time_taken_ms is how long the tuning took. */
static const char *const others[] = {"configs_hash", "found_by_coordesc", "time_taken_ms", "triton_cache_hash",
                                     "triton_cache_key"};

static bool is_knob(const char *key)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(key, others[i]) == 0) {
            return false;
        }
    }
    return true;
}

/* "def triton_poi_fused_add_0(" in the source beside; "" where there is none. */
static void find_name(const char *path, char name[NAME_SIZE])
{
    static const char ending[] = ".best_config", begin[] = "def triton_";
    const size_t length = strlen(path), tail = sizeof ending - 1;
    char *text = NULL, source[1024];
    size_t bytes = 0, bad;
    struct error ignored = {0};
    name[0] = '\0';
    if (length <= tail || length >= sizeof source || strcmp(path + length - tail, ending) != 0) {
        return;
    }
    (void)snprintf(source, sizeof source, "%.*s.py", (int)(length - tail), path);
    if (file_read_text(source, SOURCE_BYTES_MAX, &text, &bytes, &ignored) == STATUS_OK) {
        const char *found = strstr(text, begin);
        const size_t size = found != NULL ? strcspn(found + 4, "(: \t\r\n") : 0;
        if (size > 0 && size < NAME_SIZE && utf8_check(found + 4, size, &bad) == STATUS_OK) {
            (void)snprintf(name, NAME_SIZE, "%.*s", (int)size, found + 4);
        }
    }
    free(text);
}

static enum status add_knob(struct kernel_claim_list *list, struct kernel_claim *claim, const char *key,
                            const json_t *value, struct error *error)
{
    char text[32] = "";
    const char *shown = text;
    if (json_is_integer(value)) {
        (void)snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    } else if (json_is_boolean(value)) {
        shown = json_is_true(value) ? "true" : "false";
    } else if (json_is_string(value) && !json_tolerant_is_nonfinite(value)) {
        shown = json_string_value(value);
    }
    return shown[0] != '\0' ? kernel_claim_parameter(list, claim, key, strlen(key), shown, strlen(shown), error)
                            : STATUS_OK;
}

static void set_count(struct kernel_claim *claim, enum claim_figure figure, const json_t *value, json_int_t maximum)
{
    if (json_is_integer(value) && json_integer_value(value) >= 1 && json_integer_value(value) <= maximum) {
        kernel_claim_set(claim, figure, (double)json_integer_value(value));
    }
}

static void add_remarks(struct kernel_claim_list *list, struct kernel_claim *claim, const json_t *root)
{
    const json_t *descent = json_object_get(root, "found_by_coordesc"), *taken = json_object_get(root, "time_taken_ms");
    const char *entry = json_string_value(json_object_get(root, "triton_cache_hash"));
    kernel_claim_remark(list, claim, "chosen by Inductor%s; the kernel's own time is not in the file",
                        json_is_true(descent) ? " by coordinate descent" : "");
    if (json_is_integer(taken) && json_integer_value(taken) >= 0) {
        kernel_claim_remark(list, claim, "tuning took %lld ms", (long long)json_integer_value(taken));
    }
    if (entry != NULL && strlen(entry) <= 64) {
        kernel_claim_remark(list, claim, "Triton cache entry %s", entry);
    }
}

enum status inductor_config_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    char name[NAME_SIZE];
    json_t *root = NULL;
    struct kernel_claim *claim = NULL;
    const char *key;
    json_t *value;
    enum status status = json_tolerant_read(path, CONFIG_BYTES_MAX, JSON_DUPLICATES_REFUSED, &root, NULL, error);
    if (status == STATUS_OK && (!json_is_object(root) || !json_is_integer(json_object_get(root, "num_warps")))) {
        status = error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                              "no configuration of Inductor: an object with a whole \"num_warps\" expected");
    }
    find_name(path, name);
    if (status == STATUS_OK) {
        status = kernel_claim_list_add(list, CLAIM_SOURCE_INDUCTOR_CONFIG, path, name, strlen(name), &claim, error);
    }
    if (status == STATUS_OK) {
        claim->ordinal = 1;
        set_count(claim, CLAIM_NUM_WARPS, json_object_get(root, "num_warps"), 64);
        set_count(claim, CLAIM_NUM_STAGES, json_object_get(root, "num_stages"), 1024);
        add_remarks(list, claim, root);
        json_object_foreach(root, key, value)
        {
            if (status == STATUS_OK && is_knob(key)) {
                status = add_knob(list, claim, key, value, error);
            }
        }
    }
    json_decref(root);
    return status;
}
