/* SPDX-License-Identifier: GPL-3.0-or-later
 * Output of Triton's autotuner, within whatever else a program logs. Configurations are announced one by one, failures
 * follow the one they are of, and the end names the chosen one; old versions print the end alone, on one line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text_buffer.h"
#include "evidence/profiles/autotune_log_private.h"
#include "evidence/profiles/out_of_resources.h"
#include "evidence/profiles/profile_readers.h"
#include "evidence/profiles/table_rows.h"

enum {
    LOOK_BACK_MAX = 16 /* refusals that an equal one is compared with */
};

/* --- rounds --------------------------------------------------------------------------------------------------------
 */

static enum status add_candidate(struct log_reader *self, uint64_t hash)
{
    if (self->candidate_count == self->candidate_capacity) {
        size_t capacity = self->candidate_capacity == 0 ? 64 : self->candidate_capacity * 2;
        struct candidate *candidates = realloc(self->candidates, capacity * sizeof *candidates);
        if (candidates == NULL) {
            return error_set(self->error, STATUS_NO_MEMORY, "no memory to read %s", self->path);
        }
        self->candidates = candidates;
        self->candidate_capacity = capacity;
    }
    self->candidates[self->candidate_count++] = (struct candidate){hash, self->list->count - 1};
    return STATUS_OK;
}

static void begin_round(struct log_reader *self, const char *function, size_t length)
{
    self->candidate_count = 0;
    self->key[0] = '\0';
    length = length < sizeof self->function ? length : 0; /* no kernel is called so */
    (void)snprintf(self->function, sizeof self->function, "%.*s", (int)length, function);
}

static bool is_function(const struct log_reader *self, const char *name, size_t length)
{
    return strlen(self->function) == length && strncmp(self->function, name, length) == 0;
}

/* Behind "Autotuning kernel ". */
static enum status take_candidate(struct log_reader *self, const char *name)
{
    static const char with[] = " with config ";
    const char *configuration = strstr(name, with);
    if (configuration == NULL) {
        return STATUS_OK;
    }
    size_t length = (size_t)(configuration - name);
    configuration += sizeof with - 1;
    const char *end = configuration + strlen(configuration);
    self->has_any = true;
    if (!is_function(self, name, length)) {
        begin_round(self, name, length);
    }
    struct kernel_claim *claim;
    enum status status = autotune_log_add(self, CLAIM_SOURCE_TRITON_AUTOTUNE_LOG, name, length, &claim);
    if (status != STATUS_OK || claim == NULL) {
        return status;
    }
    status = autotune_log_knobs(self, claim, configuration, end, ':');
    return status == STATUS_OK
               ? add_candidate(self, hash_bytes(HASH_START, configuration, (size_t)(end - configuration)))
               : status;
}

/* Of the round's configurations the one that was chosen; all get the key they were tried for. */
static enum status end_round(struct log_reader *self, const char *configuration, double seconds)
{
    const char *end = configuration + strlen(configuration);
    while (end > configuration && strchr("; \t", end[-1]) != NULL) {
        end--;
    }
    uint64_t hash = hash_bytes(HASH_START, configuration, (size_t)(end - configuration));
    size_t count = self->candidate_count;
    struct kernel_claim *best = NULL;
    enum status status = STATUS_OK;
    self->has_any = true;
    for (size_t i = 0; i < count; i++) {
        if (self->candidates[i].hash == hash) {
            best = &self->list->items[self->candidates[i].claim];
        }
    }
    if (best == NULL) {
        status =
            autotune_log_add(self, CLAIM_SOURCE_TRITON_AUTOTUNE_LOG, self->function, strlen(self->function), &best);
        status = status == STATUS_OK && best != NULL ? autotune_log_knobs(self, best, configuration, end, ':') : status;
        status = status == STATUS_OK && best != NULL ? add_candidate(self, hash) : status;
    }
    if (status == STATUS_OK && best != NULL) {
        char others[64] = "";
        if (count > 1) {
            (void)snprintf(others, sizeof others, " of %zu", count);
        }
        kernel_claim_remark(self->list, best, "chosen%s by tuning of %.6g s; its own time is not printed", others,
                            seconds);
    }
    for (size_t i = 0; i < self->candidate_count && self->key[0] != '\0'; i++) {
        kernel_claim_remark(self->list, &self->list->items[self->candidates[i].claim], "key %s", self->key);
    }
    begin_round(self, "", 0);
    return status;
}

/* --- refusals ------------------------------------------------------------------------------------------------------
 */

static void set_refusal(struct log_reader *self, struct kernel_claim *claim, const struct out_of_resources *message)
{
    claim->is_failed = true;
    if (out_of_resources_is_smem(message)) {
        kernel_claim_set(claim, CLAIM_SMEM_REQUIRED, (double)message->required);
        kernel_claim_set(claim, CLAIM_SMEM_LIMIT, (double)message->limit);
    }
    kernel_claim_remark(self->list, claim, "out of %s: %llu asked for, %llu there",
                        message->resource[0] != '\0' ? message->resource : "resources, which one is not named",
                        (unsigned long long)message->required, (unsigned long long)message->limit);
}

/* Behind "Autotuning failed with ": of the configuration announced last. */
static enum status take_failure(struct log_reader *self, const char *reason)
{
    struct out_of_resources message;
    struct kernel_claim *claim = NULL;
    enum status status = STATUS_OK;
    self->has_any = true;
    if (self->candidate_count > 0) {
        claim = &self->list->items[self->candidates[self->candidate_count - 1].claim];
    } else {
        status =
            autotune_log_add(self, CLAIM_SOURCE_TRITON_AUTOTUNE_LOG, self->function, strlen(self->function), &claim);
    }
    if (status != STATUS_OK || claim == NULL) {
        return status;
    }
    if (out_of_resources_parse(reason, &message)) {
        set_refusal(self, claim, &message);
    } else {
        claim->is_failed = true;
        kernel_claim_remark(self->list, claim, "failed: %.200s", reason);
    }
    return STATUS_OK;
}

static bool is_equal_refusal(const struct kernel_claim *claim, const struct out_of_resources *message,
                             const char *kernel)
{
    const struct claim_value *required = &claim->figures[CLAIM_SMEM_REQUIRED];
    return claim->is_failed && claim->parameter_count == 0 && required->is_known &&
           required->low == (double)message->required &&
           claim->figures[CLAIM_SMEM_LIMIT].low == (double)message->limit && strcmp(claim->name, kernel) == 0;
}

/* A message outside of tuning; each process of a server repeats it. */
static enum status take_refusal(struct log_reader *self, const char *line, const struct out_of_resources *message)
{
    const char *kernel = message->kernel[0] != '\0' ? message->kernel : self->has_pending ? self->pending_kernel : "";
    static const char choice[] = "TritonTemplateCaller(";
    const char *configuration = strstr(line, choice);
    self->has_any = true;
    for (size_t i = self->list->count, seen = 0; i > self->first_claim && seen < LOOK_BACK_MAX && configuration == NULL;
         i--, seen++) {
        if (is_equal_refusal(&self->list->items[i - 1], message, kernel)) {
            return STATUS_OK;
        }
    }
    struct kernel_claim *claim;
    enum status status = autotune_log_add(self, CLAIM_SOURCE_TRITON_AUTOTUNE_LOG, kernel, strlen(kernel), &claim);
    if (status != STATUS_OK || claim == NULL) {
        return status;
    }
    set_refusal(self, claim, message);
    if (configuration != NULL) {
        configuration += sizeof choice - 1;
        const char *end = strrchr(configuration, ')');
        status = autotune_log_knobs(self, claim, configuration,
                                    end != NULL ? end : configuration + strlen(configuration), '=');
    }
    return status;
}

/* --- lines ---------------------------------------------------------------------------------------------------------
 */

static const char *behind(const char *line, const char *literal)
{
    const char *at = strstr(line, literal);
    return at != NULL ? at + strlen(literal) : NULL;
}

static double seconds_of(const char *text)
{
    char number[32];
    double seconds;
    size_t length = strspn(text, "0123456789.");
    if (length == 0 || length >= sizeof number) {
        return NAN;
    }
    memcpy(number, text, length);
    number[length] = '\0';
    return number_parse(number, &seconds) == STATUS_OK ? seconds : (double)NAN;
}

/* "Triton autotuning for function NAME," and, on the same line or on lines of their own, the rest. */
static void take_function(struct log_reader *self, const char *name)
{
    size_t length = strcspn(name, ", ");
    if (!is_function(self, name, length)) {
        begin_round(self, name, length);
    }
}

static void take_key(struct log_reader *self, const char *key)
{
    size_t length = strlen(key);
    while (length > 0 && strchr(", ", key[length - 1]) != NULL) {
        length--;
    }
    (void)snprintf(self->key, sizeof self->key, "%.*s", (int)(length < 300 ? length : 300), key);
}

static enum status take_line(struct log_reader *self, const char *line, double *seconds)
{
    const char *rest;
    struct out_of_resources message;
    bool is_taken = false;
    enum status of_table = inductor_table_take(self, line, &is_taken);
    if (is_taken || of_table != STATUS_OK) {
        self->has_pending = false;
        return of_table;
    }
    if ((rest = behind(line, "Autotuning kernel ")) != NULL) {
        return take_candidate(self, rest);
    }
    if ((rest = behind(line, "Autotuning failed with ")) != NULL) {
        return take_failure(self, rest);
    }
    if ((rest = behind(line, "Triton autotuning for function ")) != NULL) {
        take_function(self, rest);
    }
    if ((rest = behind(line, "with key as ")) != NULL) {
        take_key(self, rest);
    }
    if ((rest = behind(line, "finished after ")) != NULL) {
        *seconds = seconds_of(rest);
    }
    if ((rest = behind(line, "best config selected: ")) != NULL) {
        return end_round(self, rest, *seconds);
    }
    bool has_pending = out_of_resources_begins(line, self->pending_kernel);
    enum status status = out_of_resources_parse(line, &message) ? take_refusal(self, line, &message) : STATUS_OK;
    self->has_pending = has_pending;
    return status;
}

/* Cheap enough for every line of a large log. */
static bool may_matter(const struct log_reader *self, const char *line)
{
    return self->table.is_open || strstr(line, "AUTOTUNE ") != NULL || strstr(line, "utotuning") != NULL ||
           strstr(line, "esource") != NULL || strstr(line, "Required") != NULL ||
           strstr(line, "with key as ") != NULL || strstr(line, "finished after ") != NULL ||
           strstr(line, "best config selected: ") != NULL;
}

static enum status read_lines(struct log_reader *self, struct table_rows *rows)
{
    double seconds = NAN;
    for (;;) {
        char *text;
        size_t length, bad;
        enum status status = table_rows_line(rows, &text, &length, &self->line, self->error);
        if (status != STATUS_OK || text == NULL) {
            return status;
        }
        if (!may_matter(self, text)) {
            self->has_pending = false;
            continue;
        }
        if (utf8_check(text, length, &bad) != STATUS_OK) {
            kernel_claim_skip(self->list, "%s:%u: a byte that is no UTF-8", self->path, self->line);
            continue;
        }
        status = take_line(self, text, &seconds);
        if (status != STATUS_OK) {
            return status;
        }
    }
}

enum status triton_autotune_log_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct log_reader reader = {.path = path, .list = list, .first_claim = list->count, .error = error};
    struct table_rows *rows = NULL;
    enum status status = table_rows_open(path, &rows, error);
    status = status == STATUS_OK ? read_lines(&reader, rows) : status;
    if (status == STATUS_OK && !reader.has_any) {
        status = error_set_at(
            error, STATUS_BAD_DATA, path, 0, 0,
            "no output of Triton's autotuner (TRITON_PRINT_AUTOTUNING=1), no table of Inductor (AUTOTUNE ...) and no "
            "OutOfResources");
    }
    if (status == STATUS_OK && table_rows_damage(rows)[0] != '\0') {
        (void)snprintf(list->remark, sizeof list->remark, "%.200s: %s", path, table_rows_damage(rows));
    }
    table_rows_free(rows);
    free(reader.candidates);
    return status;
}
