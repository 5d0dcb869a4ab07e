/* SPDX-License-Identifier: GPL-3.0-or-later
 * Search over a scenario's configurations: every one is predicted, the best are kept, the infeasible ones are counted
 * by reason. Same bytes out whatever the number of threads. */
#ifndef OCCAM_CALIBRATE_CONFIG_SWEEP_H
#define OCCAM_CALIBRATE_CONFIG_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/config_space.h"
#include "evidence/scenario/scenario.h"
#include "model/describe/model_parameters.h"
#include "model/predict/calibrated_time.h"
#include "model/predict/kernel_time.h"
#include "model/predict/step_time.h"

#define SWEEP_CONFIG_LIMIT (UINT64_C(1) << 40) /* days of work; more only when the caller asks for it */
enum {
    SWEEP_TOP_MAX = 100000,
    SWEEP_THREADS_MAX = 1024
};

enum sweep_objective {
    SWEEP_OBJECTIVE_TIME,       /* layer time, smaller is better */
    SWEEP_OBJECTIVE_THROUGHPUT, /* tokens per second at `concurrency`, larger is better; needs serving.layers */
    SWEEP_OBJECTIVE_OCCUPANCY,  /* resident warps of the first kernel / maximum, larger is better */
    SWEEP_OBJECTIVE_EXPRESSION  /* objective_text, smaller is better */
};

/* `where` and an objective expression may use, besides the scenario's variables and let entries, smem_bytes,
 * ctas_per_sm, occupancy_fraction, grid_ctas, waves, rounds, registers_per_thread of the first kernel, and
 * kernel_time_us of the whole layer. */
struct sweep_request {
    const struct scenario *scenario;
    const struct model_parameters *parameters;
    const struct calibrated_model *calibrated; /* whose parameters these are; NULL: uncalibrated */
    bool extrapolate_all;                      /* the calibration is another GPU's */
    const struct serving_model *serving;       /* NULL = the scenario's */
    const double *values;                      /* all variables; those not varied keep theirs */
    const uint32_t *varied;                    /* scenario indices; varied_count 0 = all knobs */
    uint32_t varied_count;
    enum sweep_objective objective;
    double concurrency;         /* THROUGHPUT only */
    const char *objective_text; /* EXPRESSION only */
    const char *where;          /* NULL = everything. An expression without results and let entries is applied before
                                   anything else; any other only to feasible configurations */
    size_t top_count;           /* 1..SWEEP_TOP_MAX */
    uint64_t config_limit;      /* 0 = SWEEP_CONFIG_LIMIT */
    unsigned thread_count;      /* 0 = all cores */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL; ten times a second at most, always
                                                                       from the calling thread */
    void *progress_context;
};

struct sweep_entry {
    uint64_t config_index; /* in the order of config_space */
    double objective;      /* seconds, tokens/s, fraction, or the expression's value */
    double values[CONFIG_VARIABLES_MAX];
    struct layer_time layer;
    uint64_t grid_ctas, smem_bytes; /* of the first kernel */
    uint32_t threads, registers_per_thread;
    double iterations; /* of one CTA of the first kernel */
    double occupancy_fraction;
    struct serving_estimate serving; /* THROUGHPUT only */
    double gain_fraction;            /* speed against the scenario's base knobs with the same workload: +0.1 = ten
                                        percent more per second; NaN when the base is infeasible */
    bool extrapolating;              /* outside of the rows behind the calibration */
    bool tie;                        /* not to be told from the best (eq. VAR-10); false for the best itself */
};

enum sweep_reason_kind {
    SWEEP_REASON_CONSTRAINT, /* a require line: text is its `why` */
    SWEEP_REASON_LAUNCH,     /* text is launch_fault_text */
    SWEEP_REASON_INVALID     /* an expression failed or a kernel got impossible values: text is the first example */
};
struct sweep_reason {
    enum sweep_reason_kind kind;
    uint64_t count;
    const char *subject; /* the require expression, the kernel, or ""; borrowed from the scenario */
    char text[256];
};

struct sweep_result {
    struct config_space space;
    uint64_t feasible_count, filtered_count,
        infeasible_count; /* sum: space.config_count; filtered = `where` is false */
    size_t entry_count;
    struct sweep_entry *entries; /* best first: objective, then config_index */
    size_t reason_count;
    struct sweep_reason *reasons; /* most frequent first */
    bool base_feasible;
    struct sweep_entry base; /* the scenario's base knobs with the request's workload, when feasible */
};

/* STATUS_LIMIT for too many configurations, STATUS_USAGE for a throughput objective that varies the workload,
 * STATUS_MISSING when the device or the scenario lacks something, STATUS_BAD_DATA for an expression. A space without
 * any feasible configuration is an answer, not an error, unless expressions failed in it. The caller owns *result:
 * config_sweep_release. */
MUST_CHECK enum status config_sweep_run(const struct sweep_request *request, struct sweep_result *result,
                                        struct error *error);
void config_sweep_release(struct sweep_result *result);

#endif
