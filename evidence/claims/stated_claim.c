/* SPDX-License-Identifier: GPL-3.0-or-later
 * Words into figures of a claim. */
#include "evidence/claims/stated_claim.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/code/compiled_kernel.h"

enum {
    WORD_SIZE = 160,
    FIGURE_SMEM = CLAIM_FIGURE_COUNT /* which SMEM depends on the source */
};

static const struct {
    const char *word;
    enum claim_source source;
} source_words[] = {{"trace", CLAIM_SOURCE_TRACE},
                    {"kineto", CLAIM_SOURCE_TRACE},
                    {"profiler", CLAIM_SOURCE_TRACE},
                    {"ncu", CLAIM_SOURCE_NCU},
                    {"nsys", CLAIM_SOURCE_NSYS_SQLITE},
                    {"nsys-sqlite", CLAIM_SOURCE_NSYS_SQLITE},
                    {"nsys-table", CLAIM_SOURCE_NSYS_TABLE},
                    {"nsys-csv", CLAIM_SOURCE_NSYS_TABLE},
                    {"cubin", CLAIM_SOURCE_CUBIN},
                    {"ptxas", CLAIM_SOURCE_COMPILER_LOG},
                    {"log", CLAIM_SOURCE_COMPILER_LOG},
                    {"cuobjdump", CLAIM_SOURCE_RESOURCE_USAGE},
                    {"cache", CLAIM_SOURCE_TRITON_JSON},
                    {"triton", CLAIM_SOURCE_TRITON_JSON},
                    {"json", CLAIM_SOURCE_TRITON_JSON},
                    {"ptx", CLAIM_SOURCE_PTX},
                    {"sass", CLAIM_SOURCE_SASS},
                    {"autotune", CLAIM_SOURCE_TRITON_AUTOTUNE_LOG},
                    {"inductor", CLAIM_SOURCE_INDUCTOR_LOG},
                    {"tuner", CLAIM_SOURCE_KERNEL_TUNER},
                    {"config", CLAIM_SOURCE_MOE_CONFIG},
                    {"table", CLAIM_SOURCE_MEASUREMENTS}};

static const struct {
    const char *word;
    int figure;
    double scale;
} figure_words[] = {{"smem_bytes", FIGURE_SMEM, 1},
                    {"smem", FIGURE_SMEM, 1},
                    {"shared", FIGURE_SMEM, 1},
                    {"shared_memory", FIGURE_SMEM, 1},
                    {"registers", CLAIM_REGISTERS, 1},
                    {"regs", CLAIM_REGISTERS, 1},
                    {"static", CLAIM_STATIC_SMEM, 1},
                    {"static_smem", CLAIM_STATIC_SMEM, 1},
                    {"dynamic", CLAIM_DYNAMIC_SMEM, 1},
                    {"dynamic_smem", CLAIM_DYNAMIC_SMEM, 1},
                    {"driver", CLAIM_RESERVED_SMEM, 1},
                    {"reserved", CLAIM_RESERVED_SMEM, 1},
                    {"block", CLAIM_THREADS, 1},
                    {"warps", CLAIM_NUM_WARPS, 1},
                    {"stages", CLAIM_NUM_STAGES, 1},
                    {"grid", CLAIM_GRID, 1},
                    {"cluster", CLAIM_CLUSTER, 1},
                    {"blocks_per_sm", CLAIM_CTAS_PER_SM, 1},
                    {"stack", CLAIM_STACK, 1},
                    {"local_bytes", CLAIM_STACK, 1},
                    {"required", CLAIM_SMEM_REQUIRED, 1},
                    {"limit", CLAIM_SMEM_LIMIT, 1},
                    {"occupancy", CLAIM_OCCUPANCY, 1},
                    {"est_occ", CLAIM_OCCUPANCY, 0.01},
                    {"occupancy_percent", CLAIM_OCCUPANCY, 0.01}};

struct stated {
    struct kernel_claim_list *list;
    struct kernel_claim *claim;
    const char *text;
    struct error *error;
    struct claim_value smem; /* as the source writes it */
    bool has_source;
};

static enum status wrong(const struct stated *self, const char *word, const char *what)
{
    return error_set(self->error, STATUS_USAGE, "claim \"%.200s\": \"%.100s\" %s", self->text, word, what);
}

static bool find_source(const char *word, enum claim_source *source)
{
    for (size_t i = 0; i < sizeof source_words / sizeof source_words[0]; i++) {
        if (strcmp(word, source_words[i].word) == 0) {
            *source = source_words[i].source;
            return true;
        }
    }
    return false;
}

static bool find_figure(const char *word, int *figure, double *scale)
{
    *scale = 1;
    for (size_t i = 0; i < sizeof figure_words / sizeof figure_words[0]; i++) {
        if (strcmp(word, figure_words[i].word) == 0) {
            *figure = figure_words[i].figure;
            *scale = figure_words[i].scale;
            return true;
        }
    }
    for (int i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        if (strcmp(word, claim_figure_name((enum claim_figure)i)) == 0) {
            *figure = i;
            return true;
        }
    }
    return false;
}

/* "80000", "80KB", "78.1KiB", "0.214MB". */
static bool parse_value(const char *text, struct claim_value *value)
{
    static const struct {
        const char *unit;
        double low, high;
    } units[] = {{"KiB", 1024, 1024}, {"MiB", 1048576, 1048576}, {"KB", 1000, 1024},
                 {"kB", 1000, 1024},  {"MB", 1e6, 1048576},      {"B", 1, 1}};
    double number;
    if (number_parse(text, &number) == STATUS_OK) {
        *value = (struct claim_value){true, number, number};
        return number >= 0 && number < 1e15;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t length = strlen(text), tail = strlen(units[i].unit);
        char digits[40];
        if (length > tail && length - tail < sizeof digits && strcmp(text + length - tail, units[i].unit) == 0) {
            memcpy(digits, text, length - tail);
            digits[length - tail] = '\0';
            if (i == sizeof units / sizeof units[0] - 1) {
                return parse_value(digits, value);
            }
            return claim_rounded_value(digits, units[i].low, units[i].high, value) && value->high < 1e15;
        }
    }
    return false;
}

static enum status take_figure(struct stated *self, const char *name, const char *text)
{
    int figure;
    double scale;
    struct claim_value value;
    if (!find_figure(name, &figure, &scale)) {
        return wrong(self, name,
                     "is no figure such as smem_bytes, registers, threads, num_warps, num_stages, static_smem_bytes");
    }
    if (!parse_value(text, &value)) {
        return wrong(self, text, "is no number from 0 on, alone or with B, KB, KiB, MB, MiB");
    }
    value.low *= scale;
    value.high *= scale;
    struct claim_value *place = figure == FIGURE_SMEM ? &self->smem : &self->claim->figures[figure];
    if (place->is_known) {
        return wrong(self, name, "is given twice");
    }
    *place = value;
    return STATUS_OK;
}

/* The words that say what the claim is about; the figures come later, because SMEM needs the source. */
static bool is_about(const char *name)
{
    static const char *const names[] = {"source", "kernel", "device", "arch", "time_us"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The source decides whom to trust, so a misspelt one is no claim at all. */
static enum status take_source(struct stated *self, const char *text)
{
    struct text_buffer known = {0};
    const char *near = NULL;
    if (self->has_source) {
        return wrong(self, "source", "is given twice");
    }
    self->has_source = find_source(text, &self->claim->source);
    if (self->has_source) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof source_words / sizeof source_words[0]; i++) {
        text_buffer_append_format(&known, "%s%s", i > 0 ? ", " : "", source_words[i].word);
        if (near == NULL && text_distance(text, source_words[i].word) <= (strlen(text) < 4 ? 1u : 2u)) {
            near = source_words[i].word;
        }
    }
    enum status status =
        known.failed ? error_set(self->error, STATUS_NO_MEMORY, "no memory for a claim")
                     : error_set(self->error, STATUS_USAGE, "claim \"%.80s\": source \"%.40s\" is none of %s%s%s%s",
                                 self->text, text, known.text, near != NULL ? "; did you mean " : "",
                                 near != NULL ? near : "", near != NULL ? "?" : "");
    text_buffer_release(&known);
    return status;
}

static enum status take_about(struct stated *self, const char *name, const char *text)
{
    struct kernel_claim *claim = self->claim;
    char suffix;
    double number;
    if (strcmp(name, "source") == 0) {
        return take_source(self, text);
    }
    if (strcmp(name, "kernel") == 0) {
        claim->name = arena_copy_text(&self->list->arena, text, strlen(text));
    } else if (strcmp(name, "device") == 0) {
        claim->device = arena_copy_text(&self->list->arena, text, strlen(text));
    } else if (strcmp(name, "arch") == 0 && !code_arch_parse(text, strlen(text), &claim->arch, &suffix)) {
        return wrong(self, text, "is no architecture such as sm_90");
    } else if (strcmp(name, "time_us") == 0) {
        if (number_parse(text, &number) != STATUS_OK || number <= 0) {
            return wrong(self, text, "is no time above 0");
        }
        claim->time.count = 1;
        claim->time.median_us = claim->time.mean_us = number;
    }
    if (claim->name == NULL || claim->device == NULL) {
        claim->name = claim->device = "";
        return error_set(self->error, STATUS_NO_MEMORY, "no memory for a claim");
    }
    return STATUS_OK;
}

/* The next word NAME=VALUE into two strings within `word`; *value NULL at the end. */
static enum status next_word(const struct stated *self, const char **at, char word[WORD_SIZE], char **value)
{
    *value = NULL;
    *at += strspn(*at, " \t,");
    const size_t length = strcspn(*at, " \t,");
    if (length >= WORD_SIZE) {
        return error_set(self->error, STATUS_USAGE, "claim \"%.200s\": a word is too long", self->text);
    }
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length;
    char *equals = strchr(word, '=');
    if (length > 0 && (equals == NULL || equals == word || equals[1] == '\0')) {
        return wrong(self, word, "is not NAME=VALUE");
    }
    if (length > 0) {
        *equals = '\0';
        *value = equals + 1;
    }
    return STATUS_OK;
}

static enum status take_words(struct stated *self, bool want_figures)
{
    const char *at = self->text;
    char word[WORD_SIZE], *value;
    enum status status = next_word(self, &at, word, &value);
    while (status == STATUS_OK && value != NULL) {
        if (is_about(word) != want_figures) {
            status = want_figures ? take_figure(self, word, value) : take_about(self, word, value);
        }
        if (status == STATUS_OK) {
            status = next_word(self, &at, word, &value);
        }
    }
    return status;
}

static void set_merged_static(struct stated *self)
{
    struct kernel_claim *claim = self->claim;
    struct claim_value value = self->smem;
    if (claim->arch >= 90) {
        value.low = fmax(0, value.low - CLAIM_RESERVE_BYTES);
        value.high = fmax(0, value.high - CLAIM_RESERVE_BYTES);
        kernel_claim_remark(self->list, claim, "%d B of its SMEM are the device's reserve", CLAIM_RESERVE_BYTES);
    } else if (claim->arch == 0 && value.high >= CLAIM_RESERVE_BYTES) {
        value.low = fmax(0, value.low - CLAIM_RESERVE_BYTES);
        kernel_claim_remark(self->list, claim,
                            "whether its SMEM holds the device's reserve of %d B depends on the "
                            "architecture (arch=sm_XX)",
                            CLAIM_RESERVE_BYTES);
    }
    claim->figures[CLAIM_STATIC_SMEM] = value;
}

static void set_smem(struct stated *self)
{
    struct kernel_claim *claim = self->claim;
    enum claim_figure figure = CLAIM_LAUNCH_SMEM;
    if (claim->source == CLAIM_SOURCE_CUBIN || claim->source == CLAIM_SOURCE_RESOURCE_USAGE) {
        set_merged_static(self);
        return;
    }
    if (claim->source == CLAIM_SOURCE_TRITON_JSON) {
        figure = CLAIM_DYNAMIC_SMEM;
    } else if (claim->source == CLAIM_SOURCE_COMPILER_LOG) {
        figure = CLAIM_STATIC_SMEM;
    } else if (claim->source == CLAIM_SOURCE_NCU) {
        self->smem.low = fmax(0, self->smem.low - CLAIM_RESERVE_BYTES);
        kernel_claim_remark(self->list, claim, "its SMEM per block may hold the driver's %d B", CLAIM_RESERVE_BYTES);
    }
    claim->figures[figure] = self->smem;
}

enum status stated_claim_parse(const char *text, struct kernel_claim_list *list, struct error *error)
{
    struct stated self = {.list = list, .text = text, .error = error};
    enum status status =
        kernel_claim_list_add(list, CLAIM_SOURCE_MEASUREMENTS, STATED_CLAIM_FILE, "", 0, &self.claim, error);
    if (status != STATUS_OK) {
        return status;
    }
    self.claim->ordinal = list->count;
    status = take_words(&self, false);
    if (status == STATUS_OK) {
        status = take_words(&self, true);
    }
    bool says_something = self.smem.is_known || self.claim->time.count > 0;
    for (int i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        says_something = says_something || self.claim->figures[i].is_known;
    }
    if (status == STATUS_OK && !says_something) {
        status = error_set(error, STATUS_USAGE, "claim \"%.200s\" states no figure", text);
    }
    if (status == STATUS_OK && !self.has_source) {
        kernel_claim_remark(list, self.claim,
                            "the claim names no source (source=trace, ncu, cache, ...): it is trusted least, like a "
                            "table without a maker");
    }
    if (status == STATUS_OK && self.smem.is_known) {
        set_smem(&self);
    }
    if (status == STATUS_OK && self.claim->source == CLAIM_SOURCE_TRACE &&
        self.claim->figures[CLAIM_CTAS_PER_SM].is_known) {
        self.claim->figures[CLAIM_CTAS_PER_SM] = (struct claim_value){0};
        kernel_claim_remark(list, self.claim,
                            "blocks per SM of a trace are launched ones (grid / SMs), not resident "
                            "ones: left out");
    }
    return status;
}
