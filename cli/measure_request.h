/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam measure` is asked, and the parts that answer it: the plan, compiling, listing. */
#ifndef OCCAM_CLI_MEASURE_REQUEST_H
#define OCCAM_CLI_MEASURE_REQUEST_H

#include "base/text_buffer.h"
#include "calibrate/campaign.h"
#include "cli/options.h"

enum {
    MEASURE_WITHOUT_BUDGET_MAX = 20000, /* configurations that run without --budget */
    MEASURE_CONFIGS_MAX = 100000,       /* of a larger plan that many are drawn */
    MEASURE_PROGRAM_PATH_SIZE = 4096
};
#define MEASURE_OUT_DEFAULT "measurements" /* where rows go without --output */
#define MEASURE_WORKER_WORD ":worker"      /* the last operand of the worker process */

struct measure_request {
    struct operands operands; /* kernels, scenarios, plans */
    struct text_list settings;
    const char *out, *cache, *nvrtc, *arch, *backend, *fault, *shard, *code, *timeline;
    double budget_s, config_limit_s, sample_s; /* budget_s: INFINITY without --budget */
    uint64_t seed, repeats, limit, reference_every;
    bool resume, check_only, compile_only, dry_run, list;
    enum output_format format;
    char own_cache[600]; /* where cache points without --cache */
};

/* This very program's file, for a worker of it: command_measure.c. */
MUST_CHECK enum status measure_program_path(char program[MEASURE_PROGRAM_PATH_SIZE], struct error *error);

/* ---- plan: measure_source.c -------------------------------------------------------------------------------------- */

struct measure_source {
    struct text_buffer plain; /* the plan as calibrate/campaign.h reads it */
    char name[256];           /* for messages */
    uint64_t count;           /* configurations, references not included */
};
/* Reads every operand: a kernel with -s NAME=LIST, a scenario with its knob space, a plan file. Everything is checked
 * here. Zero-initialise; release with measure_source_release, also after an error. */
MUST_CHECK enum status measure_source_read(const struct measure_request *request, struct measure_source *source,
                                           struct error *error);
void measure_source_release(struct measure_source *source);
/* The configurations, or MEASURE_CONFIGS_MAX of them. STATUS_USAGE where so many need --budget. */
MUST_CHECK enum status measure_source_plan(const struct measure_source *source, const struct measure_request *request,
                                           struct campaign_plan *plan, struct error *error);

/* ---- compiling and listing: measure_resources.c ------------------------------------------------------------------ */

/* sm_90,sm_120 (the "sm_" may be left out) into arch[]; at most 8. NULL text: sm_90 alone. */
MUST_CHECK enum status measure_arch_parse(const char *text, unsigned arch[8], size_t *count, struct error *error);
/* --compile-only: resource tables on standard output or in --output, one file per kernel. *bad counts what the compiler
 * refused. */
MUST_CHECK enum status measure_compile_plan(const struct campaign_plan *plan, const struct measure_request *request,
                                            size_t *bad, struct error *error);
/* --code DIR: what the compiler makes of each compiled setting, kept as DIR/KERNEL-sm_ARCH-NUMBER.cubin, .ptx and .log,
 * with an index.csv of the settings, as `occam inspect DIR` reads it. */
struct measure_code_folder {
    const char *path;
    size_t count;
    struct text_buffer index, known; /* lines of index.csv; the settings alone */
};
MUST_CHECK enum status measure_code_add(struct measure_code_folder *folder, struct measure_compiler *compiler,
                                        const struct measure_config *config, unsigned arch, struct error *error);
/* Writes the index. */
MUST_CHECK enum status measure_code_finish(struct measure_code_folder *folder, const struct measure_kernel *kernel,
                                           struct error *error);
/* --dry-run: every configuration and whether it can run at all. */
MUST_CHECK enum status measure_dry_run(const struct campaign_plan *plan, const struct measure_source *source,
                                       const struct measure_request *request, struct error *error);
/* --list: kernels, their settings and ranges. */
MUST_CHECK enum status measure_list(enum output_format format, struct error *error);

/* ---- where and when every CTA ran: measure_timeline.c ------------------------------------------------------------ */

/* --timeline FILE.csv: STATUS_USAGE where the plan is not one configuration of a kernel that writes its CTAs down. */
MUST_CHECK enum status measure_timeline_check(const struct campaign_plan *plan, const struct measure_request *request,
                                              struct error *error);
/* Runs it, writes FILE.csv with a row per CTA and FILE.json about the launch, and says so on standard output. A
 * configuration that cannot run or breaks is STATUS_DOMAIN with the reason. */
MUST_CHECK enum status measure_timeline_keep(struct measure_device *device, const struct measure_config *config,
                                             const struct measure_options *options,
                                             const struct measure_request *request, struct error *error);

#endif
