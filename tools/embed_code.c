/* SPDX-License-Identifier: GPL-3.0-or-later
 * embed-code PLAN ARCH CACHE [NVRTC]: compiles the plan for sm_ARCH, each text and compiled settings once, into the
 * folder CACHE, where what was compiled before is found again; and lists the code on standard output, one tab-separated
 * line each, as .ci/embed-code reads it. Run by the build. Without NVRTC, or with one that does not know the
 * architecture, nothing is listed and one line on standard error says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "calibrate/campaign.h"
#include "kernels/embedded_code.h"

struct job {
    struct code_compiler *code;
    struct measure_compiler *measure;
    const char *cache;
    unsigned arch;
    int major, minor;
    size_t count;
    uint64_t hashes[512];
};

static const char *source_of(const struct measure_kernel *kernel)
{
    for (size_t i = 0; kernel_case_definitions[i]; i++)
        if (&kernel_case_definitions[i]->kernel == kernel)
            return kernel_case_definitions[i]->source;
    BUG("%s has no source", kernel->name);
}

static uint64_t hash_of(const char *source, const struct measure_config *config, unsigned arch)
{
    char file[MEASURE_NAME_SIZE + 4];
    snprintf(file, sizeof file, "%s.cu", source);
    const char *text = kernel_source_find(file);
    if (!text)
        BUG("no kernel source %s is built in", file);
    return code_hash(text, config, arch);
}

/* True the first time. */
static bool note_hash(struct job *job, uint64_t hash)
{
    for (size_t i = 0; i < job->count; i++)
        if (job->hashes[i] == hash)
            return false;
    if (job->count == sizeof job->hashes / sizeof *job->hashes)
        BUG("more than %zu variants to build in", job->count);
    job->hashes[job->count++] = hash;
    return true;
}

static void list_code(const struct job *job, const char *source, const struct measure_config *config, uint64_t hash)
{
    char image[CODE_PATH_SIZE], log[CODE_PATH_SIZE];
    code_cache_path(job->cache, source, hash, job->major, job->minor, ".cubin", image);
    code_cache_path(job->cache, source, hash, job->major, job->minor, ".log", log);
    printf("%s\t", source);
    const char *gap = "";
    for (size_t i = 0; config && i < config->kernel->setting_count; i++) {
        if (!config->kernel->settings[i].compiled)
            continue;
        printf("%s%s=%lld", gap, config->kernel->settings[i].name, (long long)config->values[i]);
        gap = " ";
    }
    printf("\t0x%016llx\t%u\t%d\t%d\t%s\t%s\n", (unsigned long long)hash, job->arch, job->major, job->minor, image,
           log);
}

/* The kernel that fills the inputs, which every run needs; also finds out whether there is a compiler at all. */
static enum status add_fill(struct job *job, struct error *error)
{
    struct machine_code code;
    enum status status = code_compile(job->code, "random_fill", NULL, job->arch, &code, error);
    if (status != STATUS_OK)
        return status;
    machine_code_release(&code);
    list_code(job, "random_fill", NULL, hash_of("random_fill", NULL, job->arch));
    return STATUS_OK;
}

static enum status add_config(struct job *job, const struct measure_config *config, struct error *error)
{
    static struct measure_result result;
    const char *source = source_of(config->kernel);
    uint64_t hash = hash_of(source, config, job->arch);
    if (!note_hash(job, hash))
        return STATUS_OK;
    enum status status = measure_compile(job->measure, config, job->arch, 132, &result, error);
    if (status == STATUS_OK && result.outcome == MEASURE_OUTCOME_COMPILE_FAILED)
        return error_set(error, STATUS_BAD_DATA, "%s: %s", config->kernel->name, result.reason);
    if (status == STATUS_OK && result.outcome == MEASURE_OUTCOME_OK)
        list_code(job, source, config, hash);
    return status;
}

static enum status add_plan(struct job *job, const char *path, struct error *error)
{
    struct campaign_plan plan;
    char *text;
    size_t length;
    enum status status = file_read_text(path, 1 << 20, &text, &length, error);
    if (status != STATUS_OK)
        return status;
    status = campaign_plan_parse(text, path, 10000, &plan, error);
    free(text);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; status == STATUS_OK && i < plan.count; i++)
        status = add_config(job, &plan.configs[i], error);
    campaign_plan_release(&plan);
    return status;
}

int main(int argc, char **argv)
{
    static struct job job;
    struct error error = {0};
    char text[1200];
    if (argc < 4) {
        fputs("embed-code PLAN ARCH CACHE [NVRTC]\n", stderr);
        return 2;
    }
    job.arch = (unsigned)strtoul(argv[2], NULL, 10);
    job.cache = argv[3];
    const char *nvrtc = argc > 4 && argv[4][0] ? argv[4] : NULL;
    enum status status = code_compiler_create(nvrtc, job.cache, &job.code, &error);
    if (status == STATUS_OK)
        status = measure_compiler_create(nvrtc, job.cache, &job.measure, &error);
    bool none = status == STATUS_MISSING;
    if (status == STATUS_OK) {
        code_compiler_version(job.code, &job.major, &job.minor);
        none = job.major == 0;
    }
    if (status == STATUS_OK && !none)
        status = add_fill(&job, &error);
    if (none || status == STATUS_BAD_DATA) {
        fprintf(stderr, "embed-code: no code for sm_%u is built in: %s\n", job.arch,
                none ? "NVRTC was not found" : error_describe(&error, text, sizeof text));
        return 0;
    }
    if (status == STATUS_OK)
        status = add_plan(&job, argv[1], &error);
    measure_compiler_free(job.measure);
    code_compiler_free(job.code);
    if (status == STATUS_OK && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "embed-code: %s\n", error_describe(&error, text, sizeof text));
    return 1;
}
