/* SPDX-License-Identifier: GPL-3.0-or-later
 * One kernel being run by the CTA simulator: what its parts share. cta_servers.c: what CTAs contend for; cta_stages.c:
 * one CTA from stage to stage; cta_dispatch.c: which CTA runs where; cta_simulator.c: set-up, the event loop, results.
 * Private to these and to tests. */
#ifndef OCCAM_SIM_CTA_RUN_PRIVATE_H
#define OCCAM_SIM_CTA_RUN_PRIVATE_H

#include "sim/cta_simulator.h"
#include "sim/event_queue.h"

#define PRESENCE_UNIT (1.0 / 65536)

/* Time until which the servers of one SM have work. */
struct sm_clock {
    double issue[SUB_CORES_MAX], tensor[SUB_CORES_MAX];
    double special, smem, port;
    int32_t presence[SM_SERVERS]; /* requests that an arrival finds, in PRESENCE_UNITs: exact sums */
    uint32_t residents, gpc;
    uint64_t ctas;
};

/* Where a CTA is: the stage that ends at its event. */
enum slot_place {
    PLACE_START,
    PLACE_PROLOGUE,
    PLACE_EXPOSED,
    PLACE_BUFFERED,
    PLACE_STEPS, /* + step */
    PLACE_EPILOGUE = PLACE_STEPS + CTA_STEPS_MAX
};

/* A tile that was asked for and is not used yet. */
struct coming_tile {
    double arrival_s;
    int32_t presence; /* share of its time for which its copy stands at SMEM */
};

struct slot {
    uint32_t sm, place, kind; /* kind: which of the SM's slots */
    uint32_t oldest, fill;    /* buffers that are used and filled next */
    uint64_t cta, iteration, iterations, requested;
    uint64_t ctas;                /* that it has run */
    double speed;                 /* factor on the CTA's own time */
    double start_s;               /* of the CTA */
    double used_s, iteration_s;   /* when the last tile came into use, and how long after the one before */
    int32_t presence[SM_SERVERS]; /* share of its time for which its step stands at a server of this kind */
};

/* Work of one step on the four sub-cores for one of an SM's slots, and how it meets that of others (SIM-3). */
struct step_work {
    double issue[SUB_CORES_MAX], tensor[SUB_CORES_MAX];
    double work_s[SM_SERVERS]; /* mean over the servers of a kind */
};

struct cta_run {
    const struct simulated_machine *machine;
    const struct kernel_case *kernel;
    const struct cta_simulation_options *options;
    struct cta_simulation *result;
    struct cta_program program;
    struct event_queue queue;
    struct event *events;
    struct sm_clock *sms;
    struct slot *slots;
    struct step_work *work;       /* [kind][step], the last step stands for the edges */
    struct coming_tile *tiles;    /* [slot][buffer] */
    uint32_t *gpc_sms, *gpc_free; /* clusters: SMs and free slots of each GPC */
    uint32_t *free_slots;         /* per slot whether it is free */
    uint32_t slot_count, ctas_per_sm, gpc_count, kernel_index;
    double port_s_per_byte, port_l2_s_per_byte, l2_s_per_byte, dram_s_per_byte;
    double l2_clock, dram_clock;
    uint64_t next_cta, ragged_left;
    uint32_t ragged_group;
    double first_idle_s;
    double busy_s[SIM_SERVER_COUNT], stage_s[CTA_STAGE_COUNT], queued_s[CTA_STAGE_COUNT];
    double resident_s, load_s;
    uint64_t loads;
    double requested_bytes, served_bytes, dram_bytes;
};

/* fmax() of the C library is a call and treats NaN, which times never are. */
static inline double later(double a, double b)
{
    return a > b ? a : b;
}

/* A stage from now_s to end_s that would have taken alone_s is booked. */
static inline void cta_account(struct cta_run *run, enum cta_stage stage, double now_s, double end_s, double alone_s)
{
    const double queued = end_s - now_s - alone_s;
    run->stage_s[stage] += end_s - now_s;
    run->queued_s[stage] += queued > 0 ? queued : 0;
}

/* ---- cta_servers.c ---- */

/* The servers' rates and each step's work on the sub-cores, once program, machine and memory are set. */
void cta_servers_init(struct cta_run *run, const struct sm_residency *residency);
/* eq. SIM-4: bytes to or from an SM. Returns their arrival: when the last server is through, latency_s later. */
double cta_send(struct cta_run *run, struct sm_clock *sm, double now_s, const struct cta_transfer *what,
                double latency_s);
/* The same if nothing else were under way. */
double cta_send_alone_s(const struct cta_run *run, const struct cta_transfer *what);
/* eq. SIM-10: the next tile that nobody has asked for, into the buffer that is free. */
void cta_request_tile(struct cta_run *run, uint32_t index, double now_s);
/* The tile of this iteration, which has come, is used from now on. */
void cta_use_tile(struct cta_run *run, uint32_t index, double now_s);
/* eq. SIM-3: step `index` of an iteration begins, or the instructions before or after the loop. Returns the end. */
double cta_begin_step(struct cta_run *run, struct slot *slot, uint32_t index, double now_s);
double cta_begin_edge(struct cta_run *run, const struct slot *slot, double now_s);
/* The step is over: others no longer find its requests. */
void cta_leave_step(struct cta_run *run, struct slot *slot);

/* ---- cta_stages.c ---- */

/* The stage of this slot's CTA that ended at now_s is over. Returns the end of the next one, negative where the CTA has
 * ended. */
double cta_advance(struct cta_run *run, uint32_t index, double now_s);

/* ---- cta_dispatch.c ---- */

/* SMs of the largest GPC, which bounds the size of clusters. */
uint32_t cta_largest_gpc(const struct simulated_machine *machine);
/* Which slot is on which SM, and which SM in which GPC. */
void cta_set_places(struct cta_run *run);
/* eq. SIM-8: the first CTAs of the grid start; the CTA whose event was taken last has ended, others take its place. */
void cta_fill_device(struct cta_run *run, double now_s);
void cta_replace(struct cta_run *run, uint32_t index, double now_s);

#endif
