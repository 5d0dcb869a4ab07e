/* SPDX-License-Identifier: GPL-3.0-or-later
 * Configurations as autotuners print them, and the claims they become. */
#include <stdio.h>
#include <string.h>

#include "evidence/profiles/autotune_log_private.h"

enum {
    LOG_CLAIMS_MAX = 1 << 19 /* configurations and refusals of one log; more are counted as skipped */
};

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Where a knob's value ends: before the next ", NAME:" (or ", NAME="), or at the end. */
static const char *value_end(const char *at, const char *end, char sign)
{
    for (; at < end; at++) {
        if (*at != ',') {
            continue;
        }
        const char *name = at + 1 + (at + 1 < end && at[1] == ' ' ? 1 : 0), *behind = name;
        while (behind < end && is_name_byte(*behind)) {
            behind++;
        }
        if (behind > name && behind < end && *behind == sign) {
            return at;
        }
    }
    return end;
}

static void set_known_figures(struct kernel_claim *claim)
{
    static const struct {
        const char *name;
        enum claim_figure figure;
    } figures[] = {{"num_warps", CLAIM_NUM_WARPS}, {"num_stages", CLAIM_NUM_STAGES}, {"num_ctas", CLAIM_CLUSTER}};
    for (size_t i = 0; i < claim->parameter_count; i++) {
        for (size_t f = 0; f < sizeof figures / sizeof figures[0]; f++) {
            double value = claim->parameters[i].value;
            if (strcmp(claim->parameters[i].name, figures[f].name) == 0 && value >= 0.0 && value <= 1024.0) {
                kernel_claim_set(claim, figures[f].figure, value);
            }
        }
    }
}

enum status autotune_log_knobs(struct log_reader *self, struct kernel_claim *claim, const char *at, const char *end,
                               char sign)
{
    enum status status = STATUS_OK;
    while (at < end && status == STATUS_OK) {
        const char *name = at;
        while (at < end && is_name_byte(*at)) {
            at++;
        }
        if (at == name || at == end || *at != sign) {
            const char *next = value_end(at, end, sign); /* no knob: a path, a word */
            at = next < end ? next + 1 : end;
            at += at < end && *at == ' ' ? 1 : 0;
            continue;
        }
        const char *value = at + 1, *stop;
        value += value < end && *value == ' ' ? 1 : 0;
        stop = value_end(value, end, sign);
        size_t length = (size_t)(stop - value);
        if (length >= 2 && value[0] == '\'' && stop[-1] == '\'') { /* texts as Python writes them */
            value++;
            length -= 2;
        }
        if (length > 0 && !(length == 4 && strncmp(value, "None", 4) == 0)) {
            status = kernel_claim_parameter(self->list, claim, name, (size_t)(at - name), value, length, self->error);
        }
        at = stop < end ? stop + 1 : end;
        at += at < end && *at == ' ' ? 1 : 0;
    }
    set_known_figures(claim);
    return status;
}

enum status autotune_log_add(struct log_reader *self, enum claim_source source, const char *name, size_t length,
                             struct kernel_claim **claim)
{
    *claim = NULL;
    if (self->list->count - self->first_claim >= LOG_CLAIMS_MAX) {
        kernel_claim_skip(self->list, "%s:%u: more than %d configurations", self->path, self->line, LOG_CLAIMS_MAX);
        return STATUS_OK;
    }
    enum status status = kernel_claim_list_add(self->list, source, self->path, name, length, claim, self->error);
    if (status == STATUS_OK) {
        (*claim)->line = self->line;
        (*claim)->ordinal = self->list->count - self->first_claim;
    }
    return status;
}
