/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the compiler says of a configuration, without a GPU. */
#include <stdlib.h>
#include <string.h>

#include "kernels/code_compiler.h"
#include "kernels/measure_private.h"

enum {
    KEPT_MAX = 1024 /* resources of so many pieces of code are kept; a campaign comes back to few */
};

/* What was compiled before: references and repeats of a campaign ask again and again. */
struct kept_code {
    struct measure_config config;
    unsigned arch;
    int compiler_major, compiler_minor;
    uint32_t stage_count; /* how many a plan launches may hang on run-time settings */
    const char *entries[MEASURE_STAGES_MAX];
    struct measure_resources stages[MEASURE_STAGES_MAX]; /* what the log says */
};

struct measure_compiler {
    struct code_compiler *code;
    struct kept_code *kept; /* KEPT_MAX */
    size_t kept_count;
};

enum status measure_compiler_create(const char *nvrtc_path, const char *cache_directory,
                                    struct measure_compiler **compiler, struct error *error)
{
    struct measure_compiler *made = calloc(1, sizeof *made);
    if (!made)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the kernel compiler");
    enum status status = code_compiler_create(nvrtc_path, cache_directory, &made->code, error);
    if (status == STATUS_OK) {
        made->kept = malloc(KEPT_MAX * sizeof *made->kept);
        status = made->kept ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for the kernel compiler");
    }
    if (status != STATUS_OK) {
        measure_compiler_free(made);
        return status;
    }
    *compiler = made;
    return STATUS_OK;
}

void measure_compiler_free(struct measure_compiler *compiler)
{
    if (!compiler)
        return;
    code_compiler_free(compiler->code);
    free(compiler->kept);
    free(compiler);
}

void measure_compiler_version(const struct measure_compiler *compiler, int *major, int *minor)
{
    code_compiler_version(compiler->code, major, minor);
}

void measure_config_plan(const struct measure_config *config, const struct measure_facts *facts,
                         struct measure_result *result)
{
    struct kernel_plan plan;
    measure_result_init(result);
    if (measure_plan_make(&plan, config, facts, facts->cc_major * 10 + facts->cc_minor, result))
        result->stage_count = plan.stage_count;
}

static bool same_stages(const struct kept_code *kept, const struct kernel_plan *plan)
{
    bool same = kept->stage_count == plan->stage_count;
    for (uint32_t i = 0; same && i < plan->stage_count; i++)
        same = strcmp(kept->entries[i], plan->stages[i].entry) == 0;
    return same;
}

static const struct kept_code *find_kept(const struct measure_compiler *compiler, const struct kernel_plan *plan,
                                         unsigned arch)
{
    for (size_t i = 0; i < compiler->kept_count; i++) {
        const struct kept_code *kept = &compiler->kept[i];
        if (kept->arch == arch && measure_same_code(&kept->config, plan->config) && same_stages(kept, plan))
            return kept;
    }
    return NULL;
}

static void keep(struct measure_compiler *compiler, const struct kept_code *code)
{
    if (compiler->kept_count < KEPT_MAX)
        compiler->kept[compiler->kept_count++] = *code;
}

/* The launch's own figures stay the plan's; the rest is the compiler's. */
static void take_resources(struct measure_result *result, const struct kept_code *code)
{
    for (uint32_t i = 0; i < code->stage_count; i++) {
        struct measure_resources *to = &result->stages[i];
        const struct measure_resources *from = &code->stages[i];
        to->registers_per_thread = from->registers_per_thread;
        to->static_smem_bytes = from->static_smem_bytes;
        to->local_bytes = from->local_bytes;
        to->spill_store_bytes = from->spill_store_bytes;
        to->spill_load_bytes = from->spill_load_bytes;
        to->barriers = from->barriers;
    }
    result->compiler_major = code->compiler_major;
    result->compiler_minor = code->compiler_minor;
}

/* Compiles every entry point that the plan launches; false: the outcome, or *error, says why not. */
static enum status compile_stages(struct measure_compiler *compiler, const struct kernel_plan *plan, unsigned arch,
                                  struct kept_code *made, struct measure_result *result, struct error *error)
{
    struct machine_code code;
    struct error reason = {0};
    enum status status = code_compile(compiler->code, plan->definition->source, plan->config, arch, &code, &reason);
    if (status == STATUS_BAD_DATA) {
        measure_result_end(result, MEASURE_OUTCOME_COMPILE_FAILED, reason.text);
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        if (error)
            *error = reason;
        return status;
    }
    *made = (struct kept_code){.config = *plan->config,
                               .arch = arch,
                               .stage_count = plan->stage_count,
                               .compiler_major = code.compiler_major,
                               .compiler_minor = code.compiler_minor};
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        made->entries[i] = plan->stages[i].entry; /* static */
        if (!machine_code_resources(&code, plan->stages[i].entry, &made->stages[i]))
            measure_result_end(result, MEASURE_OUTCOME_COMPILE_FAILED,
                               "the compiler's log does not name the entry point");
    }
    machine_code_release(&code);
    return STATUS_OK;
}

enum status measure_compile(struct measure_compiler *compiler, const struct measure_config *config, unsigned arch,
                            uint32_t sm_count, struct measure_result *result, struct error *error)
{
    struct measure_facts facts = {.cc_major = arch / 10, .cc_minor = arch % 10, .sm_count = sm_count, .l2_bytes = 1};
    struct kernel_plan plan;
    struct kept_code made;
    measure_result_init(result);
    if (!measure_plan_make(&plan, config, &facts, arch, result))
        return STATUS_OK;
    const struct kept_code *kept = find_kept(compiler, &plan, arch);
    if (!kept) {
        enum status status = compile_stages(compiler, &plan, arch, &made, result, error);
        if (status != STATUS_OK || result->outcome != MEASURE_OUTCOME_OK)
            return status;
        keep(compiler, &made);
        kept = &made;
    }
    take_resources(result, kept);
    return STATUS_OK;
}

enum status measure_compile_code(struct measure_compiler *compiler, const struct measure_config *config, unsigned arch,
                                 struct measure_code *code, struct error *error)
{
    struct measure_facts facts = {.cc_major = arch / 10, .cc_minor = arch % 10, .sm_count = 1, .l2_bytes = 1};
    struct measure_result *result = calloc(1, sizeof *result);
    struct kernel_plan plan;
    struct machine_code made;
    if (!result)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a result");
    measure_result_init(result);
    bool feasible = measure_plan_make(&plan, config, &facts, arch, result);
    enum status status = feasible
                             ? code_compile_fresh(compiler->code, plan.definition->source, config, arch, &made, error)
                             : error_set(error, STATUS_DOMAIN, "%s", result->reason);
    free(result);
    if (status == STATUS_OK)
        *code = (struct measure_code){made.image, made.image_bytes, made.ptx, made.log};
    return status;
}

void measure_code_release(struct measure_code *code)
{
    free(code->cubin);
    free(code->ptx);
    free(code->log);
    *code = (struct measure_code){0};
}
