/* SPDX-License-Identifier: GPL-3.0-or-later
 * The simulator's clockwork (docs/MODEL.md, SIM-1 to SIM-9): one event per stage of a CTA; servers that take work in
 * the order in which it arrives, so that an event costs no more than a look at a few clocks. */
#include "sim/cta_simulator.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "sim/event_queue.h"

const char *sim_server_name(enum sim_server server)
{
    static const char *const names[SIM_SERVER_COUNT] = {"issue", "tensor", "special", "smem", "port", "l2", "dram"};
    if ((unsigned)server >= SIM_SERVER_COUNT)
        BUG("server %d", (int)server);
    return names[server];
}

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

struct slot {
    uint32_t sm, place, kind; /* kind: which of the SM's slots */
    uint32_t oldest, fill;    /* buffers that are used and filled next */
    uint64_t cta, iteration, iterations, requested;
    uint64_t ctas; /* that it has run */
    double speed;  /* factor on the CTA's own time */
    double start_s;
    int32_t presence[SM_SERVERS]; /* share of its time for which it stands at a server of this kind */
};

/* Work of one step on the four sub-cores for one of an SM's slots, and how it meets that of others (SIM-3). */
struct step_work {
    double issue[SUB_CORES_MAX], tensor[SUB_CORES_MAX];
    double work_s[SM_SERVERS]; /* mean over the servers of a kind */
};

struct run {
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
    double *arrivals;             /* [slot][buffer] */
    uint32_t *gpc_sms, *gpc_free; /* clusters: SMs and free slots of each GPC */
    uint32_t *free_slots;         /* per slot whether it is free */
    uint32_t slot_count, ctas_per_sm, gpc_count, kernel_index;
    double smem_s_per_byte, port_s_per_byte, l2_s_per_byte, dram_s_per_byte;
    double l2_clock, dram_clock;
    uint64_t next_cta, ragged_left;
    uint32_t ragged_group;
    double first_idle_s;
    double busy_s[SIM_SERVER_COUNT], stage_s[CTA_STAGE_COUNT], queued_s[CTA_STAGE_COUNT];
    double resident_s, load_s;
    uint64_t loads;
    double requested_bytes, served_bytes, dram_bytes;
};

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

/* ---- servers ------------------------------------------------------------------------------------------------------
 */

/* SIM-2: first come, first served: the clock moves on by the work, from now or from the work before. */
static inline double serve(double *clock, double now_s, double work_s)
{
    *clock = later(*clock, now_s) + work_s;
    return *clock;
}

/* SIM-4: bytes pass L2, DRAM for what L2 lacks, and the SM's port, each at its rate and all at once; the last one
 * behind them decides, and the latency comes on top. */
static double transfer(struct run *run, struct sm_clock *sm, double now_s, double bytes, double dram_bytes,
                       double latency_s)
{
    const double port_s = bytes * run->port_s_per_byte, l2_s = bytes * run->l2_s_per_byte;
    const double dram_s = dram_bytes * run->dram_s_per_byte;
    double end_s = later(serve(&sm->port, now_s, port_s), serve(&run->l2_clock, now_s, l2_s));
    if (dram_bytes > 0)
        end_s = later(end_s, serve(&run->dram_clock, now_s, dram_s));
    run->busy_s[SIM_SERVER_PORT] += port_s;
    run->busy_s[SIM_SERVER_L2] += l2_s;
    run->busy_s[SIM_SERVER_DRAM] += dram_s;
    run->requested_bytes += bytes;
    run->dram_bytes += dram_bytes;
    return end_s + latency_s;
}

static double transfer_alone_s(const struct run *run, const struct cta_transfer *what)
{
    const double slowest = later(what->bytes * run->port_s_per_byte, what->bytes * run->l2_s_per_byte);
    return what->latency_s + later(slowest, what->dram_bytes * run->dram_s_per_byte);
}

/* SIM-3: work on the sub-cores ends when the last of them is through. */
static inline double serve_sub_cores(double *clocks, const double *work_s, double now_s, double end_s)
{
    for (int i = 0; i < SUB_CORES_MAX; i++) {
        clocks[i] = work_s[i] > 0 ? later(clocks[i], now_s) + work_s[i] : clocks[i];
        end_s = work_s[i] > 0 ? later(end_s, clocks[i]) : end_s;
    }
    return end_s;
}

/* SIM-7: the part of the spill traffic that the frames of the CTAs here at the moment crowd out of L1. */
static double missed_spills(const struct run *run, const struct sm_clock *sm, double local_bytes)
{
    const double frames = sm->residents * run->program.frame_bytes;
    const double held = later(0, run->machine->l1_bytes - sm->residents * run->program.smem_bytes);
    return frames > held ? local_bytes * (1 - held / frames) * run->machine->spill_traffic_factor : 0;
}

static void account(struct run *run, enum cta_stage stage, double now_s, double end_s, double alone_s)
{
    const double queued = end_s - now_s - alone_s;
    run->stage_s[stage] += end_s - now_s;
    run->queued_s[stage] += queued > 0 ? queued : 0;
}

/* SIM-3. Returns the end of a step that would end at end_s if it met nobody. */
static double meet_others(struct sm_clock *sm, struct slot *slot, const struct step_work *work, double now_s,
                          double end_s)
{
    double waits_s[SM_SERVERS];
    for (int i = 0; i < SM_SERVERS; i++) {
        waits_s[i] = work->work_s[i] * sm->presence[i] * PRESENCE_UNIT;
        end_s += waits_s[i];
    }
    if (end_s <= now_s)
        return end_s;
    const double scale = 1 / PRESENCE_UNIT / (end_s - now_s);
    for (int i = 0; i < SM_SERVERS; i++) {
        const double presence = (work->work_s[i] + waits_s[i]) * scale;
        slot->presence[i] = presence < 1 / PRESENCE_UNIT ? (int32_t)presence : (int32_t)(1 / PRESENCE_UNIT);
        sm->presence[i] += slot->presence[i];
    }
    return end_s;
}

/* One step of an iteration begins; returns its end. */
static double begin_step(struct run *run, struct slot *slot, uint32_t index, double now_s)
{
    const struct cta_step *step = &run->program.steps[index];
    struct sm_clock *sm = &run->sms[slot->sm];
    const double alone_s = step->alone_s * slot->speed;
    double end_s = now_s + alone_s;
    if (step->stage != CTA_STAGE_BARRIER && step->stage != CTA_STAGE_OVERHEAD) {
        const struct step_work *work = &run->work[slot->kind * (CTA_STEPS_MAX + 1) + index];
        end_s = meet_others(sm, slot, work, now_s, end_s);
        end_s = serve_sub_cores(sm->issue, work->issue, now_s, end_s);
        if (step->tensor_s > 0)
            end_s = serve_sub_cores(sm->tensor, work->tensor, now_s, end_s);
        if (step->special_s > 0)
            end_s = later(end_s, serve(&sm->special, now_s, step->special_s));
        if (step->smem_s > 0)
            end_s = later(end_s, serve(&sm->smem, now_s, step->smem_s));
        run->busy_s[SIM_SERVER_ISSUE] += step->issue_s * step->warps;
        run->busy_s[SIM_SERVER_TENSOR] += step->tensor_s * step->warps;
        run->busy_s[SIM_SERVER_SPECIAL] += step->special_s;
        run->busy_s[SIM_SERVER_SMEM] += step->smem_s;
    }
    if (step->local_bytes > 0) {
        const double missed = missed_spills(run, sm, step->local_bytes);
        if (missed > 0)
            end_s = later(end_s, transfer(run, sm, now_s, missed, 0, alone_s));
        run->served_bytes += missed;
    }
    account(run, step->stage, now_s, end_s, alone_s);
    return end_s;
}

static inline void leave_others(struct run *run, struct slot *slot)
{
    for (int i = 0; i < SM_SERVERS; i++) {
        run->sms[slot->sm].presence[i] -= slot->presence[i];
        slot->presence[i] = 0;
    }
}

/* ---- one CTA ------------------------------------------------------------------------------------------------------
 */

static inline bool has_tile(const struct cta_program *program)
{
    return program->tile.bytes > 0 || program->tile.latency_s > 0;
}

/* The next tile that nobody has asked for, into the buffer that is free. */
static void request_tile(struct run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    const struct cta_transfer *tile = &run->program.tile;
    struct sm_clock *sm = &run->sms[slot->sm];
    const double smem_s = tile->bytes * run->smem_s_per_byte; /* copied there without a warp */
    const double written_s = serve(&sm->smem, now_s, smem_s) + tile->latency_s;
    const double arrival_s = later(written_s, transfer(run, sm, now_s, tile->bytes, tile->dram_bytes, tile->latency_s));
    run->busy_s[SIM_SERVER_SMEM] += smem_s;
    run->arrivals[(size_t)index * run->program.buffers + slot->fill] = arrival_s;
    slot->fill = slot->fill + 1 == run->program.buffers ? 0 : slot->fill + 1;
    slot->requested++;
    run->load_s += arrival_s - now_s;
    run->loads++;
}

static double begin_epilogue(struct run *run, struct slot *slot, double now_s)
{
    const struct cta_program *program = &run->program;
    const struct cta_transfer *epilogue = &program->epilogue;
    struct sm_clock *sm = &run->sms[slot->sm];
    const struct step_work *edges = &run->work[slot->kind * (CTA_STEPS_MAX + 1) + CTA_STEPS_MAX];
    const double edge_s = program->edge_s * slot->speed;
    double end_s = serve_sub_cores(sm->issue, edges->issue, now_s, now_s + edge_s);
    run->busy_s[SIM_SERVER_ISSUE] += program->edge_issue_s * program->warps;
    if (epilogue->bytes > 0) {
        end_s = later(end_s, transfer(run, sm, now_s, epilogue->bytes, epilogue->dram_bytes, edge_s));
        run->served_bytes += epilogue->bytes;
    }
    slot->place = PLACE_EPILOGUE;
    account(run, CTA_STAGE_EPILOGUE, now_s, end_s, edge_s + transfer_alone_s(run, epilogue));
    return end_s;
}

/* An iteration begins, or what follows the last. */
static double begin_iteration(struct run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    const struct cta_program *program = &run->program;
    if (slot->iteration == slot->iterations)
        return begin_epilogue(run, slot, now_s);
    if (program->exposed.latency_s > 0 || program->exposed.bytes > 0) {
        const struct cta_transfer *load = &program->exposed;
        slot->place = PLACE_EXPOSED;
        const double end_s = transfer(run, &run->sms[slot->sm], now_s, load->bytes, load->dram_bytes, load->latency_s);
        run->served_bytes += load->bytes;
        account(run, CTA_STAGE_LOAD, now_s, end_s, transfer_alone_s(run, load));
        return end_s;
    }
    slot->place = PLACE_EXPOSED;
    return now_s;
}

/* The tile of this iteration is needed now: when is it there? */
static double wait_for_tile(struct run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    slot->place = PLACE_BUFFERED;
    if (!has_tile(&run->program))
        return now_s;
    const double arrival_s = run->arrivals[(size_t)index * run->program.buffers + slot->oldest];
    slot->oldest = slot->oldest + 1 == run->program.buffers ? 0 : slot->oldest + 1;
    const double end_s = later(now_s, arrival_s);
    run->served_bytes += run->program.tile.bytes;
    account(run, CTA_STAGE_LOAD, now_s, end_s, end_s - now_s);
    return end_s;
}

static double begin_prologue(struct run *run, struct slot *slot, double now_s)
{
    const struct cta_program *program = &run->program;
    struct sm_clock *sm = &run->sms[slot->sm];
    const struct step_work *edges = &run->work[slot->kind * (CTA_STEPS_MAX + 1) + CTA_STEPS_MAX];
    const double edge_s = program->edge_s * slot->speed;
    double end_s = serve_sub_cores(sm->issue, edges->issue, now_s, now_s + edge_s);
    run->busy_s[SIM_SERVER_ISSUE] += program->edge_issue_s * program->warps;
    const double waits = program->prologue.latency_s + edge_s;
    if (program->prologue.bytes > 0)
        end_s = later(end_s, transfer(run, sm, now_s, program->prologue.bytes, program->prologue.dram_bytes, waits));
    run->served_bytes += program->prologue.bytes;
    end_s = later(end_s, now_s + waits);
    slot->place = PLACE_PROLOGUE;
    account(run, CTA_STAGE_PROLOGUE, now_s, end_s, edge_s + transfer_alone_s(run, &program->prologue));
    return end_s;
}

static void fill_buffers(struct run *run, uint32_t index, double now_s)
{
    const struct slot *slot = &run->slots[index];
    if (has_tile(&run->program))
        while (slot->requested < run->program.buffers && slot->requested < slot->iterations)
            request_tile(run, index, now_s);
}

static inline void refill(struct run *run, uint32_t index, uint32_t steps_done, double now_s)
{
    const struct slot *slot = &run->slots[index];
    if (steps_done == run->program.refill_step && has_tile(&run->program) && slot->requested < slot->iterations)
        request_tile(run, index, now_s);
}

/* The stage that ended at now_s is over: the end of the next one. Stages without length are passed at once. Returns a
 * negative number when the CTA has ended. */
static double advance(struct run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    double end_s = now_s;
    while (end_s <= now_s) {
        const uint32_t place = slot->place;
        if (place == PLACE_START) {
            end_s = begin_prologue(run, slot, now_s);
        } else if (place == PLACE_PROLOGUE) {
            fill_buffers(run, index, now_s);
            end_s = begin_iteration(run, index, now_s);
        } else if (place == PLACE_EXPOSED) {
            end_s = wait_for_tile(run, index, now_s);
        } else if (place == PLACE_EPILOGUE) {
            return -1;
        } else { /* a tile has come, or a step is done */
            const uint32_t done = place == PLACE_BUFFERED ? 0 : place - PLACE_STEPS + 1;
            if (done > 0)
                leave_others(run, slot);
            refill(run, index, done, now_s);
            if (done < run->program.step_count) {
                slot->place = PLACE_STEPS + done;
                end_s = begin_step(run, slot, done, now_s);
            } else {
                slot->iteration++;
                end_s = begin_iteration(run, index, now_s);
            }
        }
    }
    return end_s;
}

/* ---- dispatch (SIM-8) ---------------------------------------------------------------------------------------------
 */

/* Whole iterations of a CTA: those of its group, or such that the sum over the grid is that of the mean. */
static uint64_t take_iterations(struct run *run, uint64_t cta)
{
    const struct tile_loop *loop = &run->kernel->loop;
    if (loop->ragged_count == 0)
        return (uint64_t)(floor((double)(cta + 1) * loop->iterations + 0.5) -
                          floor((double)cta * loop->iterations + 0.5));
    while (run->ragged_left == 0 && run->ragged_group + 1 < loop->ragged_count)
        run->ragged_left = loop->ragged[++run->ragged_group].ctas;
    run->ragged_left -= run->ragged_left > 0;
    return (uint64_t)(loop->ragged[run->ragged_group].iterations + 0.5);
}

static double cta_speed(const struct run *run, uint64_t cta)
{
    if (run->options->jitter == 0)
        return 1;
    struct random_stream stream;
    random_init(&stream, run->options->seed, cta * KERNELS_PER_LAYER_MAX + run->kernel_index);
    return exp(run->options->jitter * random_normal(&stream));
}

/* The next CTA of the grid starts in this slot; returns the end of its first stage. */
static double start_cta(struct run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    const uint64_t cta = run->next_cta++;
    slot->cta = cta;
    slot->ctas++;
    slot->iteration = slot->requested = 0;
    slot->oldest = slot->fill = 0;
    slot->iterations = take_iterations(run, cta);
    slot->speed = cta_speed(run, cta);
    slot->start_s = now_s;
    slot->place = PLACE_START;
    run->sms[slot->sm].residents++;
    run->sms[slot->sm].ctas++;
    account(run, CTA_STAGE_START, now_s, now_s + run->program.start_s, run->program.start_s);
    return now_s + run->program.start_s;
}

static void end_cta(struct run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    struct cta_simulation *result = run->result;
    run->sms[slot->sm].residents--;
    run->resident_s += now_s - slot->start_s;
    if (result->timeline_count < run->options->timeline_capacity)
        run->options->timeline[result->timeline_count++] = (struct cta_record){.kernel = run->kernel_index,
                                                                               .sm = slot->sm,
                                                                               .slot = slot->kind,
                                                                               .cta = slot->cta,
                                                                               .start_s = slot->start_s,
                                                                               .stop_s = now_s};
}

/* The free slot of this GPC whose SM has the fewest CTAs; the lowest number of equals. */
static uint32_t roomiest_slot(const struct run *run, uint32_t gpc)
{
    uint32_t best = UINT32_MAX, fewest = UINT32_MAX;
    for (uint32_t i = 0; i < run->slot_count; i++) {
        const struct sm_clock *sm = &run->sms[run->slots[i].sm];
        if (run->free_slots[i] && sm->gpc == gpc && sm->residents < fewest) {
            best = i;
            fewest = sm->residents;
        }
    }
    return best;
}

/* Whole clusters into this GPC while there is room; none into one with fewer SMs than a cluster has CTAs. */
static void place_clusters(struct run *run, uint32_t gpc, uint32_t most, double now_s)
{
    const uint32_t cluster = run->kernel->launch.cluster_ctas;
    if (run->gpc_sms[gpc] < cluster)
        return;
    for (; most > 0 && run->gpc_free[gpc] >= cluster && run->next_cta < run->kernel->launch.grid_ctas; most--) {
        run->gpc_free[gpc] -= cluster;
        for (uint32_t i = 0; i < cluster; i++) {
            const uint32_t index = roomiest_slot(run, gpc);
            run->free_slots[index] = 0;
            event_queue_push(&run->queue, start_cta(run, index, now_s), index);
        }
    }
}

static void fill_device(struct run *run, double now_s)
{
    const uint64_t grid = run->kernel->launch.grid_ctas;
    if (run->kernel->launch.cluster_ctas == 1) {
        for (uint32_t i = 0; i < run->slot_count && run->next_cta < grid; i++)
            event_queue_push(&run->queue, start_cta(run, i, now_s), i);
        return;
    }
    uint64_t before;
    do { /* one cluster to each GPC in turn */
        before = run->next_cta;
        for (uint32_t gpc = 0; gpc < run->gpc_count; gpc++)
            place_clusters(run, gpc, 1, now_s);
    } while (run->next_cta != before);
}

/* A CTA has ended, its event is the one taken last. */
static void replace_cta(struct run *run, uint32_t index, double now_s)
{
    const struct kernel_launch *launch = &run->kernel->launch;
    end_cta(run, index, now_s);
    if (run->next_cta < launch->grid_ctas && launch->cluster_ctas == 1) {
        event_queue_replace(&run->queue, start_cta(run, index, now_s));
        return;
    }
    event_queue_drop(&run->queue);
    if (run->next_cta >= launch->grid_ctas) {
        run->first_idle_s = run->first_idle_s < 0 ? now_s : run->first_idle_s;
        return;
    }
    const uint32_t gpc = run->sms[run->slots[index].sm].gpc;
    run->free_slots[index] = 1;
    run->gpc_free[gpc]++;
    place_clusters(run, gpc, UINT32_MAX, now_s);
}

/* ---- memory and set-up --------------------------------------------------------------------------------------------
 */

static void set_step_work(const struct cta_step *step, uint32_t sub_cores, struct step_work *work)
{
    work->work_s[SIM_SERVER_ISSUE] = step->issue_s * step->warps / sub_cores;
    work->work_s[SIM_SERVER_TENSOR] = step->tensor_s * step->warps / sub_cores;
    work->work_s[SIM_SERVER_SPECIAL] = step->special_s;
    work->work_s[SIM_SERVER_SMEM] = step->smem_s;
}

static void set_work(struct run *run, const struct sm_residency *residency)
{
    const struct cta_program *program = &run->program;
    const uint32_t sub_cores = run->machine->limits->sub_cores_per_sm;
    for (uint32_t kind = 0; kind < residency->ctas; kind++) {
        for (uint32_t s = 0; s <= CTA_STEPS_MAX; s++) {
            const bool edge = s == CTA_STEPS_MAX;
            struct step_work *work = &run->work[kind * (CTA_STEPS_MAX + 1) + s];
            const uint32_t warps = edge ? program->warps : program->steps[s].warps;
            for (uint32_t warp = 0; warp < warps; warp++) {
                const uint32_t core = (residency->first_sub_core[kind] + warp) % sub_cores;
                work->issue[core] += edge ? program->edge_issue_s : program->steps[s].issue_s;
                work->tensor[core] += edge ? 0 : program->steps[s].tensor_s;
            }
            if (!edge)
                set_step_work(&program->steps[s], sub_cores, work);
        }
    }
}

/* One block for everything: freed at once. */
static enum status allocate(struct run *run, void **block, struct error *error)
{
    const size_t slots = run->slot_count, sms = run->machine->sm_count;
    const size_t sizes[] = {slots * sizeof *run->events,
                            sms * sizeof *run->sms,
                            slots * sizeof *run->slots,
                            run->ctas_per_sm * (CTA_STEPS_MAX + 1) * sizeof *run->work,
                            slots * run->program.buffers * sizeof *run->arrivals,
                            sms * sizeof *run->gpc_sms,
                            sms * sizeof *run->gpc_free,
                            slots * sizeof *run->free_slots};
    enum {
        PARTS = sizeof sizes / sizeof sizes[0],
        ALIGNMENT = 64
    };
    void *parts[PARTS];
    size_t total = 0;
    for (size_t i = 0; i < PARTS; i++)
        total += (sizes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *next = calloc(1, total);
    if (next == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu slots", slots);
    *block = next;
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = next;
        next += (sizes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    run->events = parts[0];
    run->sms = parts[1];
    run->slots = parts[2];
    run->work = parts[3];
    run->arrivals = parts[4];
    run->gpc_sms = parts[5];
    run->gpc_free = parts[6];
    run->free_slots = parts[7];
    return STATUS_OK;
}

static void set_places(struct run *run)
{
    const struct simulated_machine *machine = run->machine;
    for (uint32_t placed = 0; placed < machine->sm_count; run->gpc_count++) {
        const uint32_t sms = simulated_gpc_sms(machine, run->gpc_count, machine->sm_count - placed);
        run->gpc_sms[run->gpc_count] = sms;
        for (uint32_t i = 0; i < sms; i++)
            run->sms[placed++].gpc = run->gpc_count;
    }
    for (uint32_t i = 0; i < run->slot_count; i++) { /* one slot on every SM before the second on any */
        run->slots[i].sm = i % machine->sm_count;
        run->slots[i].kind = i / machine->sm_count;
        run->free_slots[i] = 1;
        run->gpc_free[run->sms[run->slots[i].sm].gpc]++;
    }
}

static enum status check_size(const struct run *run, struct error *error)
{
    const struct kernel_case *kernel = run->kernel;
    const double stages = run->program.step_count + 2.0;
    const double limit = run->options->event_limit ? (double)run->options->event_limit : (double)EVENT_QUEUE_EVENTS_MAX;
    double iterations = (double)kernel->launch.grid_ctas * kernel->loop.iterations;
    for (uint32_t i = 0; i < kernel->loop.ragged_count; i++)
        iterations = (i ? iterations : 0) + (double)kernel->loop.ragged[i].ctas * kernel->loop.ragged[i].iterations;
    const double events = (double)kernel->launch.grid_ctas * 3 + iterations * stages;
    if (!(events <= limit))
        return error_set(error, STATUS_LIMIT, "%s would take up to %.3g events, the limit is %.3g", kernel->name,
                         events, limit);
    return STATUS_OK;
}

static uint32_t largest_gpc(const struct simulated_machine *machine)
{
    uint32_t largest = 0, placed = 0;
    for (uint32_t gpc = 0; placed < machine->sm_count; gpc++) {
        const uint32_t sms = simulated_gpc_sms(machine, gpc, machine->sm_count - placed);
        largest = sms > largest ? sms : largest;
        placed += sms;
    }
    return largest;
}

static enum status prepare(struct run *run, struct sm_residency *residency, struct error *error)
{
    const struct kernel_case *kernel = run->kernel;
    const struct simulated_machine *machine = run->machine;
    sm_residency_fill(machine->limits, &kernel->launch, residency);
    if (residency->ctas == 0)
        return error_set(error, STATUS_DOMAIN, "%s: no CTA fits an SM (%s)", kernel->name, residency->full);
    run->ctas_per_sm = residency->ctas;
    run->slot_count = residency->ctas * machine->sm_count;
    const uint32_t largest = largest_gpc(machine);
    if (kernel->launch.cluster_ctas > largest)
        return error_set(error, STATUS_DOMAIN, "%s: no GPC holds a cluster of %u CTAs, only %u", kernel->name,
                         kernel->launch.cluster_ctas, largest);
    const enum status status = cta_program_build(machine, kernel, &run->program, error);
    return status == STATUS_OK ? check_size(run, error) : status;
}

/* ---- the result ---------------------------------------------------------------------------------------------------
 */

static void set_shares(const struct run *run, double span_s, struct kernel_simulation *result)
{
    const uint32_t sms = run->machine->sm_count, sub_cores = run->machine->limits->sub_cores_per_sm;
    const double servers[SIM_SERVER_COUNT] = {(double)sms * sub_cores, (double)sms * sub_cores, sms, sms, sms, 1, 1};
    for (int i = 0; i < SIM_SERVER_COUNT; i++)
        result->utilization[i] = span_s > 0 ? run->busy_s[i] / (servers[i] * span_s) : 0;
    double total = 0;
    for (int i = 0; i < CTA_STAGE_COUNT; i++)
        total += run->stage_s[i];
    for (int i = 0; i < CTA_STAGE_COUNT; i++) {
        result->stage_share[i] = total > 0 ? run->stage_s[i] / total : 0;
        result->queued_share[i] = total > 0 ? run->queued_s[i] / total : 0;
    }
}

static void set_result(const struct run *run, double end_s, struct kernel_simulation *result)
{
    const struct simulated_machine *machine = run->machine;
    const double span_s = end_s - result->begin_s;
    result->end_s = end_s;
    result->ctas_per_sm = run->ctas_per_sm;
    result->tail_s = run->first_idle_s < 0 ? 0 : end_s - run->first_idle_s;
    result->occupancy_fraction = span_s > 0 ? run->resident_s * run->program.warps /
                                                  (span_s * machine->sm_count * machine->limits->max_warps_per_sm)
                                            : 0;
    result->least_ctas_on_sm = UINT64_MAX;
    for (uint32_t i = 0; i < machine->sm_count; i++) {
        const uint64_t ctas = run->sms[i].ctas;
        result->sms_used += ctas > 0;
        result->most_ctas_on_sm = ctas > result->most_ctas_on_sm ? ctas : result->most_ctas_on_sm;
        result->least_ctas_on_sm = ctas < result->least_ctas_on_sm ? ctas : result->least_ctas_on_sm;
    }
    for (uint32_t i = 0; i < run->slot_count; i++)
        result->rounds = run->slots[i].ctas > result->rounds ? run->slots[i].ctas : result->rounds;
    for (uint32_t i = 0; i < run->slot_count; i++)
        result->tail_ctas += run->slots[i].ctas == result->rounds;
    set_shares(run, span_s, result);
    result->load_latency_s = run->loads ? run->load_s / (double)run->loads : (double)NAN;
    result->load_alone_s = run->loads ? transfer_alone_s(run, &run->program.tile) : (double)NAN;
    result->bytes_requested = run->requested_bytes;
    result->bytes_served = run->served_bytes;
    result->dram_bytes = run->dram_bytes;
    result->events = run->queue.taken;
}

/* ---- runs ---------------------------------------------------------------------------------------------------------
 */

static double run_events(struct run *run, double begin_s)
{
    event_queue_init(&run->queue, run->events, run->slot_count, begin_s);
    fill_device(run, begin_s);
    while (run->queue.count > 0) {
        const uint32_t index = event_queue_take(&run->queue);
        const double now_s = run->queue.now_s;
        const double next_s = advance(run, index, now_s);
        if (next_s < 0)
            replace_cta(run, index, now_s);
        else
            event_queue_replace(&run->queue, next_s);
    }
    if (run->next_cta != run->kernel->launch.grid_ctas)
        BUG("%s: %llu of %llu CTAs have run", run->kernel->name, (unsigned long long)run->next_cta,
            (unsigned long long)run->kernel->launch.grid_ctas);
    return run->queue.now_s;
}

static enum status simulate_kernel(struct run *run, double begin_s, struct kernel_simulation *result,
                                   struct error *error)
{
    struct sm_residency residency;
    void *block = NULL;
    enum status status = prepare(run, &residency, error);
    if (status == STATUS_OK)
        status = allocate(run, &block, error);
    if (status != STATUS_OK)
        return status;
    run->first_idle_s = -1;
    run->smem_s_per_byte = 1 / run->machine->smem_bytes_per_s;
    run->port_s_per_byte = 1 / run->machine->port_bytes_per_s;
    run->l2_s_per_byte = 1 / run->machine->l2_bytes_per_s;
    run->dram_s_per_byte = 1 / run->machine->dram_bytes_per_s;
    run->ragged_left = run->kernel->loop.ragged_count ? run->kernel->loop.ragged[0].ctas : 0;
    set_work(run, &residency);
    set_places(run);
    result->begin_s = begin_s;
    result->full = residency.full;
    set_result(run, run_events(run, begin_s), result);
    free(block);
    return STATUS_OK;
}

enum status cta_simulate(const struct simulated_machine *machine, const struct layer_case *layer,
                         const struct cta_simulation_options *options, struct cta_simulation *result,
                         struct error *error)
{
    double now_s = 0;
    bool first = true;
    *result = (struct cta_simulation){.kernel_count = layer->kernel_count};
    for (uint32_t i = 0; i < layer->kernel_count; i++) {
        struct kernel_simulation *kernel = &result->kernels[i];
        kernel->skipped = layer->kernels[i].skipped;
        if (kernel->skipped)
            continue;
        struct run run = {
            .machine = machine, .kernel = &layer->kernels[i], .options = options, .result = result, .kernel_index = i};
        now_s += first ? 0 : options->stream ? machine->stream_gap_s : machine->graph_gap_s;
        first = false;
        const double launched_s = now_s;
        const enum status status = simulate_kernel(&run, launched_s + machine->launch_s, kernel, error);
        if (status != STATUS_OK)
            return status;
        now_s = kernel->end_s;
        kernel->time_s = now_s - launched_s;
        result->events += kernel->events;
    }
    result->time_s = now_s;
    return STATUS_OK;
}

enum status cta_simulate_seeds(const struct simulated_machine *machine, const struct layer_case *layer,
                               const struct cta_simulation_options *options, uint32_t count, uint32_t threads,
                               struct cta_simulation *results, struct error *error)
{
    enum status first_status = STATUS_OK;
    uint32_t first_failed = UINT32_MAX;
#pragma omp parallel for schedule(dynamic) num_threads(threads ? (int)threads : omp_get_max_threads())
    for (uint32_t i = 0; i < count; i++) {
        struct cta_simulation_options own = *options;
        struct error own_error = {0};
        own.seed += i;
        own.timeline = NULL;
        own.timeline_capacity = 0;
        const enum status status = cta_simulate(machine, layer, &own, &results[i], &own_error);
#pragma omp critical(cta_simulation_error)
        if (status != STATUS_OK && i < first_failed) { /* the first seed's error, whichever thread was faster */
            first_failed = i;
            first_status = status;
            if (error)
                *error = own_error;
        }
    }
    return first_status;
}
