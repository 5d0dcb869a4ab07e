/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs the verification kernels from a shell: list, compile, measure. tools/device_run.sh calls it on a GPU machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "calibrate/campaign.h"

struct arguments {
    const char *plan, *directory, *cache, *nvrtc, *revision;
    double budget_s, limit_s, seconds;
    unsigned arch, sm_count, shard, shards, repeats, reference_every;
    unsigned long long seed;
    bool fake, check_only;
    struct measure_fake_plan fake_plan;
};

static int usage(void)
{
    fputs("kernel-runner list\n"
          "kernel-runner compile PLAN --arch 90 [--sm-count N] [--cache DIR] [--shard I/N]   resources as CSV\n"
          "kernel-runner measure PLAN --out DIR --budget S [--limit S] [--seconds S] [--repeats N] [--seed N]\n"
          "              [--reference-every N] [--cache DIR] [--revision TEXT] [--check-only] [--fake]\n"
          "kernel-runner check PLAN [--cache DIR] [--fake]   correctness only, in this process\n"
          "every command takes --nvrtc LIBRARY\n",
          stderr);
    return 2;
}

static int fail(const struct error *error)
{
    char text[1200];
    fprintf(stderr, "kernel-runner: %s\n", error_describe(error, text, sizeof text));
    return status_exit_code(error->status);
}

static bool read_options(int argc, char **argv, struct arguments *arguments)
{
    *arguments = (struct arguments){.revision = "",
                                    .budget_s = 60.0,
                                    .limit_s = 30.0,
                                    .seconds = 0.1,
                                    .arch = 90,
                                    .sm_count = 132,
                                    .shards = 1,
                                    .repeats = 1,
                                    .seed = 1};
    arguments->fake_plan = (struct measure_fake_plan){.seed = 7, .sm_count = 37, .memory_bytes = 1u << 30};
    for (int i = 2; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        double number = 0.0;
        if (strncmp(name, "--", 2) != 0) {
            arguments->plan = name;
            continue;
        }
        if (strcmp(name, "--fake") == 0 || strcmp(name, "--check-only") == 0) {
            arguments->fake = arguments->fake || name[2] == 'f';
            arguments->check_only = arguments->check_only || name[2] == 'c';
            continue;
        }
        if (!value)
            return false;
        i++;
        bool is_number = number_parse(value, &number) == STATUS_OK;
        if (strcmp(name, "--out") == 0)
            arguments->directory = value;
        else if (strcmp(name, "--cache") == 0)
            arguments->cache = value;
        else if (strcmp(name, "--nvrtc") == 0)
            arguments->nvrtc = value;
        else if (strcmp(name, "--revision") == 0)
            arguments->revision = value;
        else if (strcmp(name, "--shard") == 0 && sscanf(value, "%u/%u", &arguments->shard, &arguments->shards) == 2)
            ;
        else if (!is_number || number < 0.0)
            return false;
        else if (strcmp(name, "--budget") == 0)
            arguments->budget_s = number;
        else if (strcmp(name, "--limit") == 0)
            arguments->limit_s = number;
        else if (strcmp(name, "--seconds") == 0)
            arguments->seconds = number;
        else if (strcmp(name, "--arch") == 0)
            arguments->arch = (unsigned)number;
        else if (strcmp(name, "--sm-count") == 0)
            arguments->sm_count = (unsigned)number;
        else if (strcmp(name, "--repeats") == 0)
            arguments->repeats = (unsigned)number;
        else if (strcmp(name, "--reference-every") == 0)
            arguments->reference_every = (unsigned)number;
        else if (strcmp(name, "--seed") == 0)
            arguments->seed = (unsigned long long)number;
        else if (strcmp(name, "--crash-at") == 0)
            arguments->fake_plan.crash_at = (uint32_t)number;
        else if (strcmp(name, "--hang-at") == 0)
            arguments->fake_plan.hang_at = (uint32_t)number;
        else if (strcmp(name, "--launch-failure-at") == 0)
            arguments->fake_plan.launch_failure_at = (uint32_t)number;
        else
            return false;
    }
    return true;
}

static int list_kernels(void)
{
    for (size_t k = 0; k < measure_kernel_count(); k++) {
        const struct measure_kernel *kernel = measure_kernel_get(k);
        printf("%s: %s\n", kernel->name, kernel->question);
        for (size_t i = 0; i < kernel->setting_count; i++) {
            const struct measure_setting *setting = &kernel->settings[i];
            printf("    %-16s %lld (%lld to %lld)%s  %s\n", setting->name, (long long)setting->fallback,
                   (long long)setting->minimum, (long long)setting->maximum, setting->compiled ? " compiled" : "",
                   setting->meaning);
        }
    }
    return 0;
}

static enum status read_plan(const char *path, struct campaign_plan *plan, struct error *error)
{
    char *text;
    size_t length;
    enum status status = file_read_text(path, 1 << 20, &text, &length, error);
    if (status != STATUS_OK)
        return status;
    status = campaign_plan_parse(text, path, 100000, plan, error);
    free(text);
    return status;
}

static int compile_plan(const struct arguments *arguments)
{
    struct campaign_plan plan;
    struct error error = {0};
    int exit_code = 0;
    if (read_plan(arguments->plan, &plan, &error) != STATUS_OK)
        return fail(&error);
    struct measure_compiler *compiler;
    if (measure_compiler_create(arguments->nvrtc, arguments->cache, &compiler, &error) != STATUS_OK) {
        campaign_plan_release(&plan);
        return fail(&error);
    }
    if (arguments->shard == 0)
        puts("compute_capability,config,outcome,reason,entry,threads,registers,spill_store_bytes,spill_load_bytes,"
             "local_bytes,static_smem_bytes,dynamic_smem_bytes,barriers");
    for (size_t i = arguments->shard; i < plan.count; i += arguments->shards) {
        static struct measure_result result;
        char text[1024];
        if (measure_compile(compiler, &plan.configs[i], arguments->arch, arguments->sm_count, &result, &error) !=
            STATUS_OK) {
            measure_compiler_free(compiler);
            campaign_plan_release(&plan);
            return fail(&error);
        }
        exit_code = result.outcome == MEASURE_OUTCOME_COMPILE_FAILED ? 1 : exit_code;
        measure_config_format(&plan.configs[i], text, sizeof text);
        for (uint32_t s = 0; s < (result.stage_count ? result.stage_count : 1); s++) {
            const struct measure_resources *stage = &result.stages[s];
            printf("%u,%s,%s,\"%s\",%s,%u,%u,%u,%u,%u,%u,%llu,%u\n", arguments->arch, text,
                   measure_outcome_word(result.outcome), result.reason, stage->entry, stage->threads,
                   stage->registers_per_thread, stage->spill_store_bytes, stage->spill_load_bytes, stage->local_bytes,
                   stage->static_smem_bytes, (unsigned long long)stage->dynamic_smem_bytes, stage->barriers);
        }
    }
    measure_compiler_free(compiler);
    campaign_plan_release(&plan);
    return exit_code;
}

/* In this process, without a worker: for memory and race checkers. */
static int check_plan(const struct arguments *arguments)
{
    struct campaign_plan plan;
    struct measure_device *device;
    struct measure_options options;
    struct error error = {0};
    size_t bad = 0, infeasible = 0;
    if (read_plan(arguments->plan, &plan, &error) != STATUS_OK)
        return fail(&error);
    measure_options_init(&options);
    options.seed = arguments->seed;
    options.check_only = true;
    enum status status = arguments->fake ? measure_device_open_fake(&arguments->fake_plan, &device, &error)
                                         : measure_device_open(0, arguments->nvrtc, arguments->cache, &device, &error);
    for (size_t i = 0; status == STATUS_OK && i < plan.count; i++) {
        static struct measure_result result;
        char text[1024];
        status = measure_run(device, &plan.configs[i], &options, &result, &error);
        infeasible += result.outcome == MEASURE_OUTCOME_INFEASIBLE;
        if (status != STATUS_OK || result.outcome == MEASURE_OUTCOME_OK || result.outcome == MEASURE_OUTCOME_INFEASIBLE)
            continue;
        bad++;
        printf("%s: %s: %s\n", measure_outcome_word(result.outcome),
               measure_config_format(&plan.configs[i], text, sizeof text), result.reason);
        if (measure_outcome_is_fatal(result.outcome))
            break;
    }
    if (status == STATUS_OK) {
        printf("%s: %zu configurations, %zu infeasible, %zu bad\n", arguments->plan, plan.count, infeasible, bad);
        measure_device_close(device);
    }
    campaign_plan_release(&plan);
    return status != STATUS_OK ? fail(&error) : bad > 0;
}

static void show_progress(void *context, const struct campaign_progress *progress)
{
    char text[1024];
    (void)context;
    if (progress->outcome != MEASURE_OUTCOME_OK && progress->outcome != MEASURE_OUTCOME_INFEASIBLE)
        fprintf(stderr, "%s: %s: %s\n", measure_outcome_word(progress->outcome),
                measure_config_format(progress->config, text, sizeof text), progress->reason);
    if (progress->done % 50 == 0 || progress->left == 0)
        fprintf(stderr, "%zu done, %zu left, %.0f s spent, %.0f s to go\n", progress->done, progress->left,
                progress->spent_s, progress->left_s);
}

static int run_worker(const struct arguments *arguments)
{
    struct measure_device *device;
    struct measure_options options;
    struct error error = {0};
    measure_options_init(&options);
    options.seed = arguments->seed;
    options.seconds = arguments->seconds;
    options.check_only = arguments->check_only;
    enum status status = arguments->fake ? measure_device_open_fake(&arguments->fake_plan, &device, &error)
                                         : measure_device_open(0, arguments->nvrtc, arguments->cache, &device, &error);
    if (status != STATUS_OK)
        return campaign_worker_refuse(status, &error, STDOUT_FILENO);
    return campaign_worker(device, &options, STDIN_FILENO, STDOUT_FILENO);
}

static int run_campaign(int argc, char **argv, const struct arguments *arguments)
{
    struct campaign_plan plan;
    struct campaign_progress progress;
    struct error error = {0};
    char **worker = calloc((size_t)argc + 1, sizeof *worker);
    if (!worker || read_plan(arguments->plan, &plan, &error) != STATUS_OK) {
        free(worker);
        return fail(&error);
    }
    char worker_word[] = "worker";
    memcpy(worker, argv, (size_t)argc * sizeof *worker);
    worker[1] = worker_word;
    struct campaign_options options = {.directory = arguments->directory,
                                       .cache_directory = arguments->cache,
                                       .nvrtc_path = arguments->nvrtc,
                                       .worker_argv = worker,
                                       .budget_s = arguments->budget_s,
                                       .config_limit_s = arguments->limit_s,
                                       .seed = arguments->seed,
                                       .reference_every = arguments->reference_every,
                                       .repeats = arguments->repeats,
                                       .revision = arguments->revision,
                                       .report = show_progress};
    enum status status = campaign_run(&plan, &options, &progress, &error);
    printf("%s: %zu done, %zu from before, %zu left", arguments->plan, progress.done, progress.skipped, progress.left);
    for (int i = 0; i < MEASURE_OUTCOME_COUNT; i++)
        if (progress.outcomes[i])
            printf(", %zu %s", progress.outcomes[i], measure_outcome_word((enum measure_outcome)i));
    printf("; %.1f s\n", progress.spent_s);
    campaign_plan_release(&plan);
    free(worker);
    return status == STATUS_OK ? 0 : fail(&error);
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "list") == 0)
        return list_kernels();
    if (!read_options(argc, argv, &arguments))
        return usage();
    if (strcmp(command, "worker") == 0)
        return run_worker(&arguments);
    if (strcmp(command, "compile") == 0 && arguments.plan)
        return compile_plan(&arguments);
    if (strcmp(command, "check") == 0 && arguments.plan)
        return check_plan(&arguments);
    if (strcmp(command, "measure") == 0 && arguments.plan && arguments.directory)
        return run_campaign(argc, argv, &arguments);
    return usage();
}
