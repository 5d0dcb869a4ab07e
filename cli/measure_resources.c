/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam measure` answers without a GPU: resource tables by compiling, a dry run, the list of kernels. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "cli/measure_request.h"
#include "cli/report.h"
#include "evidence/device_catalogue.h"

enum {
    ARCH_MAX = 8,
    PATH_SIZE = 600,
    ASSUMED_SMS = 132, /* the grids of some microbenchmarks follow the SMs; their code does not */
    INDEX_BYTES = 4    /* sparse_decode keeps the row numbers of its tokens in SMEM */
};

enum status measure_arch_parse(const char *text, unsigned arch[8], size_t *count, struct error *error)
{
    *count = 0;
    for (const char *item = text != NULL ? text : "sm_90";;) {
        size_t length = strcspn(item, ",");
        const char *digits = strncmp(item, "sm_", 3) == 0 ? item + 3 : item;
        size_t digit_count = strspn(digits, "0123456789");

        if (digit_count < 2 || digit_count > 3 || (size_t)(digits - item) + digit_count != length || *count == ARCH_MAX)
            return error_set(error, STATUS_USAGE,
                             "option --arch: \"%.60s\" is not sm_90 or a list sm_90,sm_120 of up to %d", text,
                             ARCH_MAX);
        arch[(*count)++] = (unsigned)strtoul(digits, NULL, 10);
        if (item[length] == '\0')
            return STATUS_OK;
        item += length + 1;
    }
}

/* ---- resource tables ----------------------------------------------------------------------------------------------
 */

/* One table being written. */
struct table {
    const struct measure_kernel *kernel;
    struct text_buffer rows;
    const struct measure_config *last; /* compiled last, with so many launches */
    uint32_t last_stages;
};

/* Dynamic SMEM of these follows from settings of the launch, so a table of compiled code cannot hold it. */
static bool smem_is_decided_at_launch(const struct measure_kernel *kernel)
{
    static const char *const names[] = {"wave_probe", "latency_chase", "smem_bandwidth"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(kernel->name, names[i]) == 0)
            return true;
    return false;
}

static bool has_token_column(const struct measure_kernel *kernel)
{
    return strcmp(kernel->name, "sparse_decode") == 0;
}

static void write_heading(FILE *stream, const struct measure_kernel *kernel, int major, int minor)
{
    (void)fprintf(
        stream,
        "# source: kernels/%s.cu compiled by NVRTC %d.%d for each compute capability (make kernel-resources), "
        "assembler log.\n",
        kernel->name, major, minor);
    if (has_token_column(kernel))
        (void)fprintf(stream,
                      "# spill_*_bytes and local_bytes are per thread; a launch asks for\n"
                      "# dynamic_smem_bytes + dynamic_smem_bytes_per_token x the tokens of one split, rounded up to "
                      "whole tiles (the index list).\n");
    else if (smem_is_decided_at_launch(kernel))
        (void)fprintf(stream,
                      "# spill_*_bytes and local_bytes are per thread; dynamic SMEM is a setting of the launch "
                      "(kernels/case_%s.c).\n",
                      kernel->name);
    else
        (void)fprintf(stream, "# spill_*_bytes and local_bytes are per thread; dynamic_smem_bytes is what the launch "
                              "asks for.\n");
    (void)fprintf(stream, "compute_capability,entry");
    for (size_t i = 0; i < kernel->setting_count; i++)
        if (kernel->settings[i].compiled)
            (void)fprintf(stream, ",%s", kernel->settings[i].name);
    (void)fprintf(stream,
                  ",registers_per_thread,spill_store_bytes,spill_load_bytes,local_bytes,static_smem_bytes%s,"
                  "barriers%s\n",
                  smem_is_decided_at_launch(kernel) ? "" : ",dynamic_smem_bytes",
                  has_token_column(kernel) ? ",dynamic_smem_bytes_per_token" : "");
}

/* SMEM of the row numbers, which the launch decides; the column per token says how to add them again. */
static uint64_t index_bytes(const struct measure_config *config, bool is_main)
{
    if (!has_token_column(config->kernel) || !is_main)
        return 0;
    int64_t tile = measure_config_value(config, "block_t"), splits = measure_config_value(config, "splits");
    int64_t tiles = (measure_config_value(config, "tokens") + tile - 1) / tile;

    return (uint64_t)(INDEX_BYTES * ((tiles + splits - 1) / splits) * tile);
}

static void add_row(struct table *table, unsigned arch, const struct measure_config *config,
                    const struct measure_resources *stage)
{
    const struct measure_kernel *kernel = config->kernel;
    bool is_main = strcmp(stage->entry, kernel->name) == 0;
    struct text_buffer row = {0};

    text_buffer_append_format(&row, "%u,%s", arch, stage->entry);
    for (size_t i = 0; i < kernel->setting_count; i++)
        if (kernel->settings[i].compiled)
            text_buffer_append_format(&row, ",%lld", (long long)config->values[i]);
    text_buffer_append_format(&row, ",%u,%u,%u,%u,%u", stage->registers_per_thread, stage->spill_store_bytes,
                              stage->spill_load_bytes, stage->local_bytes, stage->static_smem_bytes);
    if (!smem_is_decided_at_launch(kernel))
        text_buffer_append_format(&row, ",%llu",
                                  (unsigned long long)(stage->dynamic_smem_bytes - index_bytes(config, is_main)));
    text_buffer_append_format(&row, ",%u", stage->barriers);
    if (has_token_column(kernel))
        text_buffer_append_format(&row, ",%d", is_main ? INDEX_BYTES : 0);
    text_buffer_append(&row, "\n");
    if (row.failed)
        table->rows.failed = true;
    else if (table->rows.text == NULL || strstr(table->rows.text, row.text) == NULL) /* the launch alone differs */
        text_buffer_append(&table->rows, row.text);
    text_buffer_release(&row);
}

static bool same_code(const struct measure_config *left, const struct measure_config *right)
{
    for (size_t i = 0; i < left->kernel->setting_count; i++)
        if (left->kernel->settings[i].compiled && left->values[i] != right->values[i])
            return false;
    return left->kernel == right->kernel;
}

struct compile_job {
    const struct campaign_plan *plan;
    const struct measure_request *request;
    struct measure_compiler *compiler;
    int major, minor;
    unsigned shard, shards;
    struct measure_code_folder code; /* path NULL: not kept */
    size_t bad;
};

static enum status compile_one(struct compile_job *job, const struct measure_config *config, unsigned arch,
                               struct table *table, struct error *error)
{
    struct measure_result *result = calloc(1, sizeof *result);
    char text[1024];

    if (result == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a result");
    enum status status = measure_compile(job->compiler, config, arch, ASSUMED_SMS, result, error);

    if (status == STATUS_OK && result->outcome == MEASURE_OUTCOME_OK) {
        table->last = config;
        table->last_stages = result->stage_count;
        job->major = result->compiler_major;
        job->minor = result->compiler_minor;
        for (uint32_t s = 0; s < result->stage_count; s++)
            add_row(table, arch, config, &result->stages[s]);
        if (job->code.path != NULL)
            status = measure_code_add(&job->code, job->compiler, config, arch, error);
    } else if (status == STATUS_OK) {
        job->bad += result->outcome == MEASURE_OUTCOME_COMPILE_FAILED;
        (void)fprintf(stderr, "occam: measure: %s: %s: sm_%u: %s\n", measure_outcome_word(result->outcome),
                      measure_config_format(config, text, sizeof text), arch, result->reason);
    }
    free(result);
    return status;
}

static enum status write_table(const struct compile_job *job, const struct table *table, struct error *error)
{
    char path[PATH_SIZE] = "", draft[PATH_SIZE + 8] = "";
    const char *out = job->request->out;
    FILE *stream = stdout;

    if (table->rows.failed)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a table");
    if (out != NULL) {
        if (mkdir(out, 0777) != 0 && errno != EEXIST)
            return error_set(error, STATUS_IO, "%s: %s", out, strerror(errno));
        (void)snprintf(path, sizeof path, "%.500s/%s.csv", out, table->kernel->name);
        for (char *c = path + strlen(path) - strlen(table->kernel->name) - 4; *c != '\0'; c++)
            *c = *c == '_' ? '-' : *c;
        (void)snprintf(draft, sizeof draft, "%s.new", path);
        stream = fopen(draft, "w");
        if (stream == NULL)
            return error_set(error, STATUS_IO, "%s: %s", draft, strerror(errno));
    }
    write_heading(stream, table->kernel, job->major, job->minor);
    (void)fputs(table->rows.text != NULL ? table->rows.text : "", stream);
    if (out == NULL)
        return ferror(stream) ? error_set(error, STATUS_IO, "standard output: %s", strerror(errno)) : STATUS_OK;
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed || rename(draft, path) != 0)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    return STATUS_OK;
}

/* Whether the configuration compiled last has the same code and every launch of this one. */
static bool is_repeated(const struct table *table, const struct measure_config *config, unsigned arch)
{
    const struct measure_facts facts = {
        .cc_major = arch / 10, .cc_minor = arch % 10, .sm_count = ASSUMED_SMS, .l2_bytes = 1};
    struct measure_result result;

    if (table->last == NULL || !same_code(table->last, config))
        return false;
    measure_config_plan(config, &facts, &result);
    return result.outcome == MEASURE_OUTCOME_OK && result.stage_count <= table->last_stages;
}

/* All rows of one kernel: architectures outside, as the tables are sorted. */
static enum status compile_kernel(struct compile_job *job, const struct measure_kernel *kernel, const unsigned *arch,
                                  size_t arch_count, struct error *error)
{
    struct table table = {.kernel = kernel};
    enum status status = STATUS_OK;
    size_t seen = 0;

    for (size_t a = 0; a < arch_count; a++) {
        table.last = NULL;
        for (size_t i = 0; i < job->plan->count && status == STATUS_OK; i++) {
            const struct measure_config *config = &job->plan->configs[i];

            seen += config->kernel == kernel;
            if (config->kernel == kernel && i % job->shards == job->shard && !is_repeated(&table, config, arch[a]))
                status = compile_one(job, config, arch[a], &table, error);
        }
    }
    if (status == STATUS_OK && seen > 0)
        status = write_table(job, &table, error);
    if (status == STATUS_OK && seen > 0 && job->code.path != NULL)
        status = measure_code_finish(&job->code, kernel, error);
    text_buffer_release(&table.rows);
    return status;
}

static enum status check_kernels(const struct campaign_plan *plan, const struct measure_request *request,
                                 struct error *error)
{
    for (size_t i = 1; i < plan->count && (request->out == NULL || request->code != NULL); i++)
        if (plan->configs[i].kernel != plan->configs[0].kernel && request->code != NULL)
            return error_set(error, STATUS_USAGE, "option --code: the folder is of one kernel, the plan holds several");
        else if (plan->configs[i].kernel != plan->configs[0].kernel)
            return error_set(
                error, STATUS_USAGE,
                "the plan holds several kernels, each with a table of its own: say where with --output DIR");
    return STATUS_OK;
}

enum status measure_compile_plan(const struct campaign_plan *plan, const struct measure_request *request, size_t *bad,
                                 struct error *error)
{
    struct compile_job job = {.plan = plan, .request = request, .shards = 1, .code.path = request->code};
    unsigned arch[ARCH_MAX];
    size_t arch_count;
    char end;
    enum status status = measure_arch_parse(request->arch, arch, &arch_count, error);

    if (status == STATUS_OK && request->shard != NULL &&
        (sscanf(request->shard, "%u/%u%c", &job.shard, &job.shards, &end) != 2 || job.shard >= job.shards))
        status = error_set(error, STATUS_USAGE, "option --shard: \"%.40s\" is not I/N with I below N", request->shard);
    if (status == STATUS_OK)
        status = check_kernels(plan, request, error);
    if (status == STATUS_OK)
        status = measure_compiler_create(request->nvrtc, request->cache, &job.compiler, error);
    for (size_t k = 0; k < measure_kernel_count() && status == STATUS_OK; k++)
        status = compile_kernel(&job, measure_kernel_get(k), arch, arch_count, error);
    measure_compiler_free(job.compiler);
    text_buffer_release(&job.code.index);
    text_buffer_release(&job.code.known);
    *bad = job.bad;
    return status;
}

/* ---- dry run ------------------------------------------------------------------------------------------------------
 */

static enum status facts_of(unsigned arch, struct measure_facts *facts, struct error *error)
{
    struct device_catalogue *catalogue = NULL;
    const struct gpu_device *device;
    char name[16];
    enum status status = device_catalogue_create(&catalogue, error);

    (void)snprintf(name, sizeof name, "sm_%u", arch);
    if (status == STATUS_OK)
        status = device_catalogue_find(catalogue, name, &device, error);
    if (status == STATUS_OK)
        *facts = (struct measure_facts){.cc_major = arch / 10,
                                        .cc_minor = arch % 10,
                                        .sm_count = ASSUMED_SMS,
                                        .l2_bytes = 1,
                                        .smem_per_cta_optin_bytes = device->limits.smem_per_cta_optin_bytes};
    device_catalogue_free(catalogue);
    return status;
}

static enum status print_dry_run(struct report *report, const struct measure_source *source, size_t shown,
                                 size_t infeasible, enum output_format format, struct error *error)
{
    static const struct report_column columns[] = {
        {"outcome", "outcome", 0}, {"config", "configuration", 0}, {"reason", "reason", 0}};

    if (format != OUTPUT_FORMAT_TEXT)
        return report_print(report, format, "configs", stdout, error);
    enum status status =
        report_print_table(report, "configs", columns, sizeof columns / sizeof columns[0], stdout, error);

    (void)printf("\n%s: %llu configurations", source->name, (unsigned long long)source->count);
    if (shown < source->count)
        (void)printf(", of which %zu were drawn", shown);
    (void)printf("; %zu infeasible\n", infeasible);
    return status;
}

enum status measure_dry_run(const struct campaign_plan *plan, const struct measure_source *source,
                            const struct measure_request *request, struct error *error)
{
    struct measure_result *result = calloc(1, sizeof *result);
    struct report report = {0};
    struct measure_facts facts;
    unsigned arch[ARCH_MAX];
    size_t arch_count, infeasible = 0;
    char text[1024];
    enum status status = measure_arch_parse(request->arch, arch, &arch_count, error);

    if (status == STATUS_OK && result == NULL)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a result");
    if (status == STATUS_OK)
        status = facts_of(arch[0], &facts, error);
    report_integer(&report, "plan_configurations", (int64_t)source->count);
    report_begin_rows(&report, "configs");
    for (size_t i = 0; i < plan->count && status == STATUS_OK; i++) {
        measure_config_plan(&plan->configs[i], &facts, result);
        infeasible += result->outcome == MEASURE_OUTCOME_INFEASIBLE;
        report_begin_object(&report, NULL);
        report_string(&report, "config", measure_config_format(&plan->configs[i], text, sizeof text));
        report_string(&report, "outcome", result->outcome == MEASURE_OUTCOME_OK ? "would run" : "infeasible");
        report_string(&report, "reason", result->reason);
        report_end(&report);
    }
    report_end(&report);
    report_integer(&report, "infeasible", (int64_t)infeasible);
    if (status == STATUS_OK)
        status = print_dry_run(&report, source, plan->count, infeasible, request->format, error);
    report_release(&report);
    free(result);
    return status;
}

/* ---- list ---------------------------------------------------------------------------------------------------------
 */

static void print_kernels(void)
{
    for (size_t k = 0; k < measure_kernel_count(); k++) {
        const struct measure_kernel *kernel = measure_kernel_get(k);

        (void)printf("%s%s: %s\n", k > 0 ? "\n" : "", kernel->name, kernel->question);
        for (size_t i = 0; i < kernel->setting_count; i++) {
            const struct measure_setting *setting = &kernel->settings[i];

            (void)printf("  %-16s %lld (%lld to %lld)%s  %s\n", setting->name, (long long)setting->fallback,
                         (long long)setting->minimum, (long long)setting->maximum, setting->compiled ? " compiled" : "",
                         setting->meaning);
        }
    }
}

enum status measure_list(enum output_format format, struct error *error)
{
    struct report report = {0};

    if (format == OUTPUT_FORMAT_TEXT) {
        print_kernels();
        return STATUS_OK;
    }
    report_begin_rows(&report, "settings");
    for (size_t k = 0; k < measure_kernel_count(); k++) {
        const struct measure_kernel *kernel = measure_kernel_get(k);

        for (size_t i = 0; i < kernel->setting_count; i++) {
            const struct measure_setting *setting = &kernel->settings[i];

            report_begin_object(&report, NULL);
            report_string(&report, "kernel", kernel->name);
            report_string(&report, "question", kernel->question);
            report_string(&report, "setting", setting->name);
            report_integer(&report, "default", setting->fallback);
            report_integer(&report, "minimum", setting->minimum);
            report_integer(&report, "maximum", setting->maximum);
            report_bool(&report, "compiled", setting->compiled);
            report_string(&report, "meaning", setting->meaning);
            report_end(&report);
        }
    }
    report_end(&report);
    enum status status = report_print(&report, format, "settings", stdout, error);
    report_release(&report);
    return status;
}
