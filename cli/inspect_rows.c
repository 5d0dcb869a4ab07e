/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which variants of compiled code an answer is about. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/inspect.h"

const char *inspect_arch_text(const struct compiled_kernel *kernel, char out[16])
{
    out[0] = '\0';
    if (kernel->arch > 0) {
        (void)snprintf(out, 16, "sm_%u%c", kernel->arch, kernel->arch_suffix);
    }
    return out;
}

static bool has_arch(const struct compiled_kernel *kernel, const char *arch)
{
    uint32_t number;
    char suffix;
    return arch == NULL || (code_arch_parse(arch, strlen(arch), &number, &suffix) && number == kernel->arch &&
                            (suffix == 0 || suffix == kernel->arch_suffix));
}

static int compare_names(const void *left, const void *right)
{
    const struct inspect_row *a = left, *b = right;
    int order = strcmp(a->variant->kernel.name, b->variant->kernel.name);
    return order != 0 ? order : (a->variant > b->variant) - (a->variant < b->variant);
}

/* PTX does not show spills (CODE-5). Told are their loads and stores in the whole code; or else the frame, of which PTX
 * itself asks for a part. Without either the loop's spills stay unknown. */
static void settle_spills(struct inspect_row *row)
{
    const struct code_figure *figures = row->variant->kernel.figures;
    const struct code_figure *stack = &figures[COMPILED_STACK], *stores = &figures[COMPILED_SPILL_STORES],
                             *loads = &figures[COMPILED_SPILL_LOADS];
    const struct code_profile *profile = row->variant->profile;
    double spilled;
    if (stores->state == FIGURE_EXACT && loads->state == FIGURE_EXACT) {
        spilled = (double)stores->value + (double)loads->value;
    } else if (stack->state == FIGURE_EXACT) {
        spilled = 2 * fmax((double)stack->value - (double)profile->local_bytes, 0);
    } else {
        return;
    }
    row->loop.spill_bytes = spilled + profile->iteration.lane_bytes[CODE_TRAFFIC_LOCAL_LOAD] +
                            profile->iteration.lane_bytes[CODE_TRAFFIC_LOCAL_STORE];
    if (spilled > 0) {
        const size_t length = strlen(row->assumed);
        (void)snprintf(row->assumed + length, sizeof row->assumed - length,
                       "%swhat spills is written and read every turn", length > 0 ? "; " : "");
    }
}

/* What the loop is besides what the code tells: nothing assumed that would look like a figure. */
static void compute_loop(struct inspect_row *row, uint32_t warps_given)
{
    const struct compiled_kernel *kernel = &row->variant->kernel;
    const struct code_figure *threads = &kernel->figures[COMPILED_THREADS],
                             *stages = &kernel->figures[COMPILED_NUM_STAGES];
    struct error error = {0};
    if (row->variant->profile == NULL) {
        (void)snprintf(row->assumed, sizeof row->assumed, "no listing of its code (.ptx or .sass)");
        return;
    }
    row->loop = (struct tile_loop){.iterations = NAN,
                                   .declared_stages = stages->state == FIGURE_EXACT ? (double)stages->value : 1,
                                   .buffers = 1,
                                   .spill_bytes = NAN,
                                   .prologue_distinct_fraction = 1};
    row->loop.gather = row->loop.stream = (struct tile_load){.pipelined = true, .exposures = 1, .distinct_fraction = 1};
    bool is_told = threads->state != FIGURE_UNKNOWN && threads->value <= 65536;
    uint32_t warps = is_told ? (uint32_t)(threads->value + 31) / 32 : warps_given;
    row->has_loop = code_profile_tile_loop(row->variant->profile, warps, &row->loop, row->assumed, sizeof row->assumed,
                                           &error) == STATUS_OK;
    const struct code_figure *stack = &kernel->figures[COMPILED_STACK];
    if (stack->state != FIGURE_UNKNOWN) {
        row->loop.local_bytes = (double)stack->value;
    }
    if (row->has_loop && !row->variant->profile->is_sass) {
        settle_spills(row);
    }
    if (!row->has_loop) {
        (void)snprintf(row->assumed, sizeof row->assumed, "%.700s%s", error.text, warps == 0 ? " (--warps)" : "");
    }
}

static enum status nothing_left(const struct compiled_code *code, const char *kernel, const char *arch,
                                struct error *error)
{
    struct text_buffer names = {0};
    for (size_t i = 0, told = 0; i < code->count && told < 8; i++) {
        const struct compiled_kernel *item = &code->variants[i].kernel;
        char text[16];
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++) {
            is_new =
                strcmp(code->variants[k].kernel.name, item->name) != 0 || code->variants[k].kernel.arch != item->arch;
        }
        if (is_new) {
            text_buffer_append_format(&names, "%s%.60s %s", told > 0 ? ", " : "", item->name,
                                      inspect_arch_text(item, text));
            told++;
        }
    }
    enum status status = error_set(error, STATUS_USAGE, "no kernel %s%s%s here; there are %s",
                                   kernel != NULL ? kernel : "", kernel != NULL && arch != NULL ? " for " : "",
                                   arch != NULL ? arch : "", names.text != NULL ? names.text : "");
    text_buffer_release(&names);
    return status;
}

enum status inspect_rows_choose(const struct compiled_code *code, const char *kernel, const char *arch, uint32_t warps,
                                struct inspect_rows *rows, struct error *error)
{
    *rows = (struct inspect_rows){.code = code, .items = calloc(code->count + 1, sizeof *rows->items)};
    if (rows->items == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the compiled kernels");
    }
    for (size_t i = 0; i < code->count; i++) {
        const struct code_variant *variant = &code->variants[i];
        if ((kernel == NULL || compiled_names_match(variant->kernel.name, kernel)) &&
            has_arch(&variant->kernel, arch)) {
            rows->items[rows->count++].variant = variant;
        }
    }
    if (rows->count == 0) {
        return nothing_left(code, kernel, arch, error);
    }
    qsort(rows->items, rows->count, sizeof rows->items[0], compare_names);
    for (size_t i = 0; i < rows->count; i++) {
        bool is_same =
            i > 0 && strcmp(rows->items[i].variant->kernel.name, rows->items[i - 1].variant->kernel.name) == 0;
        rows->items[i].number = is_same ? rows->items[i - 1].number + 1 : 1;
        compute_loop(&rows->items[i], warps);
    }
    return STATUS_OK;
}
