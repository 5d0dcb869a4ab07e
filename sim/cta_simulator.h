/* SPDX-License-Identifier: GPL-3.0-or-later
 * CTAs of a layer's kernels on the SMs of a GPU, event by event: an answer that shares nothing with the formulas of
 * model/predict (docs/MODEL.md, SIM). Used by `occam simulate cta` and `occam compare`. */
#ifndef OCCAM_SIM_CTA_SIMULATOR_H
#define OCCAM_SIM_CTA_SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/describe/kernel_case.h"
#include "sim/cta_program.h"
#include "sim/simulated_machine.h"

/* What CTAs compete for: the last two are the device's, the others an SM's (issue and tensor pipes: per sub-core). */
enum sim_server {
    SIM_SERVER_ISSUE,
    SIM_SERVER_TENSOR,
    SIM_SERVER_SPECIAL,
    SIM_SERVER_SMEM,
    SIM_SERVER_PORT,
    SIM_SERVER_L2,
    SIM_SERVER_DRAM,
    SIM_SERVER_COUNT
};
enum {
    SM_SERVERS = SIM_SERVER_PORT /* that CTAs use while they compute */
};
/* "issue", "tensor", ...; static. */
const char *sim_server_name(enum sim_server server);

struct cta_record {
    uint32_t kernel, sm, slot;
    uint64_t cta;
    double start_s, stop_s;
};

struct cta_simulation_options {
    uint64_t seed;
    double jitter;               /* relative standard deviation of a CTA's own speed (log-normal), 0..1 */
    bool stream;                 /* gaps between kernels of a stream, not of a graph */
    uint64_t event_limit;        /* 0: EVENT_QUEUE_EVENTS_MAX */
    struct cta_record *timeline; /* NULL, or room for timeline_capacity records; the first so many CTAs to end */
    size_t timeline_capacity;
};

struct kernel_simulation {
    bool skipped;
    uint32_t ctas_per_sm;
    const char *full;          /* which resource refused one more CTA; static */
    double time_s;             /* the first with its launch, the others without the gap before them */
    double begin_s, end_s;     /* of its CTAs */
    double occupancy_fraction; /* resident warps over the SM's, mean over its SMs and begin_s..end_s */
    uint64_t rounds;           /* most CTAs that one slot ran, one after the other */
    uint64_t tail_ctas;        /* that were the last of those rounds; the grid's rest where the rounds are even */
    double tail_s;             /* from the first slot that found no CTA left to the end */
    uint64_t most_ctas_on_sm, least_ctas_on_sm;
    uint32_t sms_used;
    double utilization[SIM_SERVER_COUNT]; /* busy share of begin_s..end_s, mean over the servers of a kind */
    double stage_share[CTA_STAGE_COUNT];  /* of the time of all CTAs; sum to 1 */
    double queued_share[CTA_STAGE_COUNT]; /* part of it beyond what the CTA alone would have taken */
    double load_latency_s, load_alone_s;  /* mean of a buffered tile from request to arrival; NaN without */
    double bytes_requested, bytes_served, dram_bytes; /* through the SMs' ports; of DRAM */
    uint64_t events;
};

struct cta_simulation {
    double time_s; /* all kernels and gaps */
    uint64_t events, timeline_count;
    uint32_t kernel_count;
    struct kernel_simulation kernels[KERNELS_PER_LAYER_MAX];
};

/* One run. Errors: STATUS_DOMAIN where a kernel does not fit an SM or a cluster no GPC (named), STATUS_LIMIT for more
 * events than the limit, STATUS_MISSING, STATUS_NO_MEMORY. All memory of the run is freed before it returns. */
MUST_CHECK enum status cta_simulate(const struct simulated_machine *machine, const struct layer_case *layer,
                                    const struct cta_simulation_options *options, struct cta_simulation *result,
                                    struct error *error);
/* Runs with seeds options->seed, +1, ...: count results. threads 0: as many as there are processors. The same results
 * whatever the threads. Timelines are not kept. */
MUST_CHECK enum status cta_simulate_seeds(const struct simulated_machine *machine, const struct layer_case *layer,
                                          const struct cta_simulation_options *options, uint32_t count,
                                          uint32_t threads, struct cta_simulation *results, struct error *error);

#endif
