/* SPDX-License-Identifier: GPL-3.0-or-later
 * Figures of compiled kernels in the form that traces and tables share. */
#include "evidence/claims/code_claims.h"

#include <string.h>

enum {
    RESERVE_BYTES = 1024, /* what cubins and cuobjdump count in from sm_90 on */
    REGISTERS_MAX = 255
};

static const struct {
    enum compiled_figure from;
    enum claim_figure to;
} figure_map[] = {{COMPILED_REGISTERS, CLAIM_REGISTERS},       {COMPILED_STATIC_SMEM, CLAIM_STATIC_SMEM},
                  {COMPILED_DYNAMIC_SMEM, CLAIM_DYNAMIC_SMEM}, {COMPILED_RESERVED_SMEM, CLAIM_RESERVED_SMEM},
                  {COMPILED_THREADS, CLAIM_THREADS},           {COMPILED_STACK, CLAIM_STACK},
                  {COMPILED_SPILL_STORES, CLAIM_SPILL_STORES}, {COMPILED_SPILL_LOADS, CLAIM_SPILL_LOADS},
                  {COMPILED_BARRIERS, CLAIM_BARRIERS},         {COMPILED_CLUSTER, CLAIM_CLUSTER},
                  {COMPILED_NUM_WARPS, CLAIM_NUM_WARPS},       {COMPILED_NUM_STAGES, CLAIM_NUM_STAGES}};

static enum claim_source source_of(enum code_source source)
{
    switch (source) {
    case CODE_SOURCE_CUBIN:
        return CLAIM_SOURCE_CUBIN;
    case CODE_SOURCE_COMPILER_LOG:
        return CLAIM_SOURCE_COMPILER_LOG;
    case CODE_SOURCE_RESOURCE_USAGE:
        return CLAIM_SOURCE_RESOURCE_USAGE;
    case CODE_SOURCE_TRITON_JSON:
        return CLAIM_SOURCE_TRITON_JSON;
    case CODE_SOURCE_PTX:
        return CLAIM_SOURCE_PTX;
    case CODE_SOURCE_SASS:
        return CLAIM_SOURCE_SASS;
    case CODE_SOURCE_INDEX:
    case CODE_SOURCE_NONE:
    default:
        return CLAIM_SOURCE_MEASUREMENTS;
    }
}

static struct claim_value value_of(enum claim_figure figure, const struct code_figure *from)
{
    const double value = (double)from->value;
    if (from->state == FIGURE_UNKNOWN) {
        return (struct claim_value){0};
    }
    /* A listing declares arrays that the compiler may drop; a report may count the reserve in. */
    if (from->state == FIGURE_AT_MOST && figure == CLAIM_STATIC_SMEM && from->source != CODE_SOURCE_PTX &&
        from->source != CODE_SOURCE_SASS) {
        return (struct claim_value){true, value > RESERVE_BYTES ? value - RESERVE_BYTES : 0, value};
    }
    if (from->state == FIGURE_AT_MOST) {
        return (struct claim_value){true, figure == CLAIM_THREADS ? 1 : 0, value};
    }
    if (from->state == FIGURE_AT_LEAST) {
        return (struct claim_value){true, value, figure == CLAIM_REGISTERS ? REGISTERS_MAX : 1e9};
    }
    return (struct claim_value){true, value, value};
}

static enum status append(const struct compiled_kernel *kernel, enum claim_source source, const char *name,
                          struct kernel_claim_list *list, struct error *error)
{
    struct kernel_claim *claim;
    enum status status = kernel_claim_list_add(list, source, kernel->file, name, strlen(name), &claim, error);
    if (status != STATUS_OK) {
        return status;
    }
    claim->line = kernel->line;
    claim->arch = kernel->arch;
    claim->is_failed = kernel->is_rejected;
    for (size_t i = 0; i < sizeof figure_map / sizeof figure_map[0]; i++) {
        claim->figures[figure_map[i].to] = value_of(figure_map[i].to, &kernel->figures[figure_map[i].from]);
    }
    if (kernel->note[0] != '\0') {
        kernel_claim_remark(list, claim, "%s", kernel->note);
    }
    return STATUS_OK;
}

static enum code_source record_source(const struct compiled_kernel *kernel)
{
    for (size_t i = 0; i < COMPILED_FIGURE_COUNT; i++) {
        /* The reserve follows from the architecture, whoever named it. */
        if (kernel->figures[i].state != FIGURE_UNKNOWN && i != COMPILED_RESERVED_SMEM) {
            return kernel->figures[i].source;
        }
    }
    return CODE_SOURCE_NONE;
}

/* A listing without figures of its own claims nothing: it would only repeat that the kernel exists. */
static bool says_something(const struct compiled_kernel *kernel)
{
    return record_source(kernel) != CODE_SOURCE_NONE;
}

/* Old entries name no kernel: their file does. */
static const char *record_name(const struct compiled_kernel *kernel, char *out, size_t out_size)
{
    if (kernel->name[0] != '\0') {
        return kernel->name;
    }
    const char *slash = strrchr(kernel->file, '/');
    const char *stem = slash != NULL ? slash + 1 : kernel->file;
    const size_t length = strcspn(stem, ".");
    const size_t kept = length < out_size - 1 ? length : out_size - 1;
    memcpy(out, stem, kept);
    out[kept] = '\0';
    return out;
}

enum status code_claims_append(const struct compiled_code *code, struct kernel_claim_list *list, struct error *error)
{
    char name[256];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < code->kernels.count && status == STATUS_OK; i++) {
        const struct compiled_kernel *kernel = &code->kernels.items[i];
        if (says_something(kernel)) {
            status =
                append(kernel, source_of(record_source(kernel)), record_name(kernel, name, sizeof name), list, error);
        }
    }
    return status;
}

enum status code_variant_claim(const struct code_variant *variant, struct kernel_claim_list *list, struct error *error)
{
    enum code_source best = CODE_SOURCE_INDEX;
    for (unsigned source = CODE_SOURCE_INDEX; source > CODE_SOURCE_NONE; source--) {
        best = (variant->sources >> source & 1) != 0 ? (enum code_source)source : best;
    }
    return append(&variant->kernel, source_of(best), variant->kernel.name, list, error);
}
