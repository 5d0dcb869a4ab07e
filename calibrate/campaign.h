/* SPDX-License-Identifier: GPL-3.0-or-later
 * A campaign: many configurations of verification kernels, predicted first, then measured one by one in worker
 * processes, and appended to one CSV file per kernel. Can be killed at any moment and started again. */
#ifndef OCCAM_CALIBRATE_CAMPAIGN_H
#define OCCAM_CALIBRATE_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/status.h"
#include "kernels/measure.h"

/* ---- plan -------------------------------------------------------------------------------------------------------- */

struct campaign_plan {
    size_t count;
    struct measure_config *configs; /* in the order of the text */
    size_t reference_count;         /* configurations of `reference` lines: measured again and again for drift */
    struct measure_config *references;
};
/* One line per kernel: "kernel name=value[,value...] ...", every combination of the lists; "first..last" and
 * "first..last*factor" are lists too ("1..8", "1..64*2"). '#' begins a comment; a line that begins with "reference "
 * names one configuration for drift. More than limit configurations: STATUS_LIMIT. Messages name file and line.
 * Release with campaign_plan_release. */
MUST_CHECK enum status campaign_plan_parse(const char *text, const char *name, size_t limit, struct campaign_plan *plan,
                                           struct error *error);
/* Configurations of the plan without its references, counted without making them. STATUS_LIMIT beyond 2^53. */
MUST_CHECK enum status campaign_plan_count(const char *text, const char *name, uint64_t *count, struct error *error);
/* As campaign_plan_parse, but of a plan with more than keep configurations only keep of them, at least 1: spread evenly
 * over the plan, drawn by seed. The same seed draws the same ones, so that such a campaign can go on. */
MUST_CHECK enum status campaign_plan_sample(const char *text, const char *name, size_t keep, uint64_t seed,
                                            struct campaign_plan *plan, struct error *error);
void campaign_plan_release(struct campaign_plan *plan);

/* ---- prediction -------------------------------------------------------------------------------------------------- */

enum {
    CAMPAIGN_DIGEST_SIZE = SHA256_HEX_SIZE
};

/* What was said before the run. NaN and -1 where nothing was said. */
struct campaign_prediction {
    int32_t ctas_per_sm;
    char limiters[48];        /* "registers+smem" */
    double rounds, tail_ctas; /* of uniform CTAs */
    double time_us, time_lo_us, time_hi_us;
    char model[64];                           /* name of the calibration; "" where there is no time */
    char inputs_sha256[CAMPAIGN_DIGEST_SIZE]; /* of the model's parameters and all that entered; "" likewise */
};
void campaign_prediction_init(struct campaign_prediction *prediction);

/* Fills the prediction of one configuration. resources hold what the compiler said (stage 0 is the main kernel). */
typedef void campaign_predict_function(void *context, const struct measure_facts *facts,
                                       const struct measure_config *config, const struct measure_result *resources,
                                       struct campaign_prediction *prediction);

/* ---- running ----------------------------------------------------------------------------------------------------- */

struct campaign_progress {
    size_t done, skipped, left; /* skipped: measured by an earlier start */
    size_t outcomes[MEASURE_OUTCOME_COUNT];
    double spent_s, budget_s, left_s;    /* left_s: estimate for what is left; NaN at first */
    const struct measure_config *config; /* the one just finished */
    enum measure_outcome outcome;
    const char *reason;
};

struct campaign_options {
    const char *directory;                    /* KERNEL.csv and provenance.json go here; created if missing */
    const char *cache_directory, *nvrtc_path; /* may be NULL */
    char *const *worker_argv;           /* program and arguments that end up in campaign_worker; argv[0] is a path */
    double budget_s;                    /* no configuration is started after it */
    double config_limit_s;              /* a worker that takes longer over one configuration is killed */
    uint64_t seed;                      /* of the order and the inputs */
    uint32_t reference_every;           /* configurations between two reference runs; 0 = none */
    bool refuse_past;                   /* STATUS_USAGE where the files already hold rows of the plan */
    size_t run_limit;                   /* stop after that many; 0 = none */
    uint32_t repeats;                   /* measure every configuration this often, in separate rounds; at least 1 */
    const char *revision;               /* git revision of the program, "" if unknown */
    campaign_predict_function *predict; /* NULL: occupancy only */
    void *predict_context;
    void (*report)(void *context, const struct campaign_progress *progress); /* may be NULL */
    void *report_context;
};

/* Runs what is not yet in the files. Two campaigns on one directory: the second gets STATUS_IO ("in use"). A row with a
 * wrong number of fields: STATUS_BAD_DATA with its line, nothing is touched. A last line without its end (killed while
 * writing, disk full) is cut off. *progress is the final state. */
MUST_CHECK enum status campaign_run(const struct campaign_plan *plan, const struct campaign_options *options,
                                    struct campaign_progress *progress, struct error *error);

/* A JSON file about one kept timeline: device, settings, figures of the launch, method. */
MUST_CHECK enum status timeline_provenance_write(const char *path, const struct measure_facts *facts,
                                                 const struct measure_config *config,
                                                 const struct measure_result *result, const char *revision,
                                                 uint64_t seed, struct error *error);

/* ---- one configuration at a time, for who chooses the next by the last ------------------------------------------- */

struct campaign_session; /* opaque */

/* Opens the folder (locked, as by campaign_run) and a worker with its GPU. Of options, budget, order, references and
 * reporting are not used; what they point to is borrowed. STATUS_MISSING: no GPU. Close with campaign_session_close. */
MUST_CHECK enum status campaign_session_open(const struct campaign_options *options,
                                             const struct measure_kernel *kernel, struct campaign_session **session,
                                             struct error *error);
const struct measure_facts *campaign_session_facts(const struct campaign_session *session);
/* Of the last prediction in predictions.csv. */
const char *campaign_session_seal(const struct campaign_session *session);
/* Whether its code can be had: by a compiler, built in, or in the cache. Compiles where there is a compiler. */
bool campaign_session_has_code(struct campaign_session *session, const struct measure_config *config);
/* What the compiler makes of it: stages with registers and spills. False where no code can be had or made. */
bool campaign_session_compile(struct campaign_session *session, const struct measure_config *config,
                              struct measure_result *result);
/* Predicts, seals, measures, appends the row. Whatever the configuration does is in result->outcome; only a folder that
 * cannot be written or a GPU that is gone is an error. */
MUST_CHECK enum status campaign_session_measure(struct campaign_session *session, const struct measure_config *config,
                                                struct measure_result *result, struct error *error);
/* Seconds that the last configuration took: to predict and compile (or to find the code), and to measure. */
void campaign_session_seconds(const struct campaign_session *session, double *compile_s, double *measure_s);
void campaign_session_close(struct campaign_session *session); /* NULL is fine */

/* ---- worker ------------------------------------------------------------------------------------------------------ */

/* The worker's side: reads configurations from descriptor `in`, one a line, answers on `out`, until `in` ends. device
 * is open; the worker closes it. Returns the process's exit status. */
int campaign_worker(struct measure_device *device, const struct measure_options *options, int in, int out);

/* The worker's answer when it has no device: the campaign then ends with this status and text. */
int campaign_worker_refuse(enum status status, const struct error *error, int out);

#endif
