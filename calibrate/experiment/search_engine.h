/* SPDX-License-Identifier: GPL-3.0-or-later
 * Proposes the next runs over a finite space, from the results so far and an optional prediction per configuration
 * (docs/MODEL.md SEARCH). Values are positive and smaller is better: a time, or one over a throughput. The same results
 * give the same proposals. Used by `occam propose`, `occam tune` and the replay. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_ENGINE_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_ENGINE_H

#include "calibrate/experiment/search_surrogate.h"

enum {
    SEARCH_RUNS_MAX = 4000,
    SEARCH_BATCH_MAX = 100
};

enum search_objective {
    SEARCH_OBJECTIVE_BEST, /* find the least value */
    SEARCH_OBJECTIVE_LEARN /* lower the uncertainty about all configurations */
};

struct search_options {
    enum search_objective objective;
    enum search_kernel kernel;
    size_t initial_runs;      /* before anything is predicted, where there is no prior; 8 unless set */
    size_t chosen_runs;       /* of these by design, the others at random: even designs say little of lengths; 3 */
    uint64_t seed;            /* 1 */
    double interval_level;    /* 0.8 */
    double stop_gain;         /* stop when no more than this fraction is expected to be gained; 0.01 */
    double run_noise;         /* known scatter of ln(value) between runs of one configuration; 0: fitted only */
    const double *log_floors; /* least ln(value) that a configuration can have, per configuration; they count as long as
                                 no run was below its own; NULL: none; borrowed */
    const double *costs_s;    /* of one run, per configuration, above 0; NULL: all alike; borrowed */
    bool design_at_random;    /* the first runs at random: for comparisons */
};
void search_options_init(struct search_options *options);

/* A run that happened. */
struct search_run {
    uint32_t config;
    bool failed;                     /* infeasible, crashed, wrong result: value means nothing */
    double value;                    /* above 0 */
    double log_sigma;                /* scatter of ln(value) by its own repeats; 0: unknown */
    double forecast_lo, forecast_hi; /* value_lo and value_hi of the proposal it follows; NaN: there was none */
};

enum search_reason {
    SEARCH_REASON_EXPLOIT, /* predicted to be better than the best so far */
    SEARCH_REASON_EXPLORE, /* predicted to be worse, or nothing is known, but it may be better */
    SEARCH_REASON_SETTLE,  /* measured already: its noise leaves open whether it is the best */
    SEARCH_REASON_CONFLICT /* forms of the model disagree, and it tells them apart (form_conflict.h); not the engine's
                            */
};
/* "exploit", ...; static. */
const char *search_reason_name(enum search_reason reason);

struct search_proposal {
    uint32_t config;
    enum search_reason reason;
    double value, value_lo, value_hi; /* predicted for one run, at the interval level; NaN while nothing is known */
    double feasible_probability, best_probability;
    double gain_fraction; /* expected improvement on the best so far; LEARN: of the summed variance */
    double cost_s, gain_per_s;
};

struct search_summary {
    size_t runs, failures;
    bool has_best;
    uint32_t best_config;
    double best_value;                  /* mean of its runs in the logarithm */
    double best_probability;            /* that no other configuration is better */
    double remaining_gain;              /* what is expected to be gained yet, all runs together; NaN: not known yet */
    bool was_all_run;                   /* every configuration; then nothing remains to be gained */
    bool stop;                          /* that is less than stop_gain, and was after each of the last runs */
    double noise;                       /* of ln(value) from run to run, as fitted or told */
    double stretch;                     /* half width of intervals in sigmas */
    size_t forecasts, forecasts_inside; /* runs that had a forecast, and those inside its interval */
};

struct search_engine; /* opaque; not to be shared between threads */

/* space and prior (may be NULL) are borrowed. */
MUST_CHECK enum status search_engine_create(const struct search_space *space, const struct search_prior *prior,
                                            const struct search_options *options, struct search_engine **engine,
                                            struct error *error);
void search_engine_free(struct search_engine *engine);
/* STATUS_BAD_DATA for a configuration outside the space or a value that is no positive number, STATUS_LIMIT beyond
 * SEARCH_RUNS_MAX. */
MUST_CHECK enum status search_engine_tell(struct search_engine *engine, const struct search_run *run,
                                          struct error *error);
/* All runs so far, in the order they were told; valid until the next one. */
const struct search_run *search_engine_runs(const struct search_engine *engine, size_t *count);
/* Up to wanted (<= SEARCH_BATCH_MAX) different configurations, best first, each taken to come out as predicted before
 * the next is chosen. Those that were run are not among them, but for the best, once, where the noise of runs leaves
 * more open than any new one promises. *count is smaller where none is left. summary may be NULL; it costs time, and
 * without it no probability of being best is computed. */
MUST_CHECK enum status search_engine_propose(struct search_engine *engine, size_t wanted,
                                             struct search_proposal *proposals, size_t *count,
                                             struct search_summary *summary, struct error *error);
/* The best configuration once more; its gain is what a slip of the noise is expected to have cost. False while there is
 * none. After search_engine_propose. */
bool search_engine_incumbent(struct search_engine *engine, struct search_proposal *proposal);
/* What is believed of one configuration, run or not. False while nothing is known. After search_engine_propose. */
bool search_engine_describe(struct search_engine *engine, uint32_t config, struct search_proposal *proposal);

#endif
