/* SPDX-License-Identifier: GPL-3.0-or-later
 * The runs of `occam tune` on a GPU: the verification kernel that a scenario describes, measured as `occam measure`
 * does it, one configuration at a time. */
#ifndef OCCAM_CLI_TUNE_KERNELS_H
#define OCCAM_CLI_TUNE_KERNELS_H

#include "calibrate/campaign.h"
#include "calibrate/experiment/search_scenario.h"
#include "calibrate/measure_predictor.h"
#include "cli/measure_request.h"
#include "cli/question.h"

struct tune_kernels_options {
    const char *out, *cache, *nvrtc, *backend, *fault; /* as for `occam measure`; NULL: their defaults */
    double sample_s, limit_s;
    uint64_t seed;
};

enum {
    TUNE_WORKER_ARGUMENTS_MAX = 20
};

struct tune_kernels {
    const struct measure_kernel *kernel; /* NULL: not opened */
    const struct scenario *scenario;     /* borrowed */
    struct scenario_evaluator *evaluator;
    struct campaign_session *session;
    struct measure_predictor *predictor;
    struct measure_result *result; /* of the last run */
    double opened_s;               /* when: everything since counts as spent */
    uint64_t *codes;               /* of every configuration that stays: a hash of the settings that are compiled in */
    bool *is_built;                /* its code was compiled by an earlier run */
    size_t config_count;
    double compile_s, measure_s; /* summed over compiles of new code, and over all runs */
    size_t compiles, runs;
    bool is_fake;
    bool needs_code;      /* the fake device runs without any, unless it is told that there is no compiler */
    char source[160];     /* what the ledger calls this command: kernel and revision */
    char provenance[512]; /* of the last run */
    char cache[600], program[MEASURE_PROGRAM_PATH_SIZE], seed[24], sample[32];
    char *worker[TUNE_WORKER_ARGUMENTS_MAX];
};

/* Whether the scenario names a kernel that is there; *error says why not. */
MUST_CHECK enum status tune_kernels_check(const struct scenario *scenario, struct error *error);
/* Opens folder and GPU. STATUS_MISSING: none. scenario is borrowed until the release. Zero-initialise *self; release
 * it also after an error. */
MUST_CHECK enum status tune_kernels_open(struct tune_kernels *self, const struct tune_kernels_options *options,
                                         const struct scenario *scenario, struct error *error);
void tune_kernels_release(struct tune_kernels *self);
const struct measure_facts *tune_kernels_facts(const struct tune_kernels *self);
double tune_kernels_spent_s(const struct tune_kernels *self);

/* The scenario was read anew, for another device. */
MUST_CHECK enum status tune_kernels_take_scenario(struct tune_kernels *self, const struct scenario *scenario,
                                                  struct error *error);
/* A narrow function of search_question_options, context is the tune_kernels: drops what the kernel cannot be built or
 * launched as here. STATUS_BAD_DATA with the last reason where nothing stays. */
MUST_CHECK enum status tune_kernels_narrow(void *context, const struct search_scenario *space, bool *keep,
                                           struct error *error);

/* Compiles the code of a configuration that was not looked at yet, and predicts it, and all others with the same code,
 * anew with the registers and spills of that build: a scenario's table knows few builds, and those that spill take many
 * times as long. False where there was nothing to do. values: of all variables, variable_count for each configuration;
 * log_values as in search_scenario. */
bool tune_kernels_look(struct tune_kernels *self, const struct question *question, uint32_t config,
                       struct search_scenario *space);
/* What runs cost by what runs have cost: less where another one has built their code. costs_s: of the configurations
 * that stay, unchanged while compiling takes no time worth it, as where everything is built in. After a run. */
void tune_kernels_costs(const struct tune_kernels *self, double *costs_s);

struct tune_measurement {
    const char *outcome; /* "ok", "infeasible", "failed", "timeout"; static */
    double time_us;      /* NaN unless ok: inputs out of DRAM where the kernel has such samples, else warm */
    const double *samples_us;
    size_t sample_count;
    char note[200];
    const char *provenance; /* in the tune_kernels */
};
/* values: of all variables of the scenario. Samples stay valid until the
 * next run. */
MUST_CHECK enum status tune_kernels_run(struct tune_kernels *self, const double *values,
                                        struct tune_measurement *measurement, struct error *error);

#endif
