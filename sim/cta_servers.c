/* SPDX-License-Identifier: GPL-3.0-or-later
 * What CTAs contend for (docs/MODEL.md, SIM-2 to SIM-4, SIM-7, SIM-10): servers that take work in the order in which it
 * arrives, and how often a step meets the steps and copies of others before a server is full. */
#include "sim/cta_run_private.h"

/* SIM-2: first come, first served: the clock moves on by the work, from now or from the work before. */
static inline double serve(double *clock, double now_s, double work_s)
{
    *clock = later(*clock, now_s) + work_s;
    return *clock;
}

static double port_time_s(const struct cta_run *run, const struct cta_transfer *what)
{
    if (what->partial_port_s > 0)
        return what->partial_port_s;
    const double from_l2 = what->is_written ? 0 : what->bytes - what->dram_bytes;
    return (what->bytes - from_l2) * run->port_s_per_byte + from_l2 * run->port_l2_s_per_byte;
}

static double l2_time_s(const struct cta_run *run, const struct cta_transfer *what)
{
    return what->partial_l2_s > 0 ? what->partial_l2_s : what->bytes * run->l2_s_per_byte;
}

/* SIM-4: bytes pass L2, DRAM for what L2 lacks, and the SM's port, each at its rate and all at once; the last one
 * behind them decides, and the latency comes on top. */
double cta_send(struct cta_run *run, struct sm_clock *sm, double now_s, const struct cta_transfer *what,
                double latency_s)
{
    const double port_s = port_time_s(run, what), l2_s = l2_time_s(run, what);
    const double dram_s = what->dram_bytes * run->dram_s_per_byte;
    double end_s = later(serve(&sm->port, now_s, port_s), serve(&run->l2_clock, now_s, l2_s));
    if (what->dram_bytes > 0)
        end_s = later(end_s, serve(&run->dram_clock, now_s, dram_s));
    run->busy_s[SIM_SERVER_PORT] += port_s;
    run->busy_s[SIM_SERVER_L2] += l2_s;
    run->busy_s[SIM_SERVER_DRAM] += dram_s;
    run->requested_bytes += what->bytes;
    run->dram_bytes += what->dram_bytes;
    return end_s + latency_s;
}

double cta_send_alone_s(const struct cta_run *run, const struct cta_transfer *what)
{
    const double slowest = later(port_time_s(run, what), l2_time_s(run, what));
    return what->latency_s + later(slowest, what->dram_bytes * run->dram_s_per_byte);
}

/* ---- tiles (SIM-10) -----------------------------------------------------------------------------------------------
 */

/* Share of the time from now to its use for which a copy stands at SMEM. The use is still to come: as far off as the
 * last iteration was long, for every buffer, and not before the tile is there. */
static int32_t copy_presence(const struct cta_run *run, const struct slot *slot, double coming_s)
{
    const double until_use_s = later(coming_s, run->program.buffers * slot->iteration_s);
    const double share = run->program.tile.smem_s / until_use_s;
    return (int32_t)((share < 1 ? share : 1) / PRESENCE_UNIT);
}

void cta_request_tile(struct cta_run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    const struct cta_transfer *tile = &run->program.tile;
    struct sm_clock *sm = &run->sms[slot->sm];
    struct coming_tile *coming = &run->tiles[(size_t)index * run->program.buffers + slot->fill];
    const double sent_s = cta_send(run, sm, now_s, tile, tile->latency_s);
    coming->arrival_s = sent_s;
    if (tile->smem_s > 0) { /* written there without a warp */
        coming->arrival_s = later(sent_s, serve(&sm->smem, now_s, tile->smem_s) + tile->latency_s);
        coming->presence = copy_presence(run, slot, coming->arrival_s - now_s);
        sm->presence[SIM_SERVER_SMEM] += coming->presence;
        run->busy_s[SIM_SERVER_SMEM] += tile->smem_s;
    }
    slot->fill = slot->fill + 1 == run->program.buffers ? 0 : slot->fill + 1;
    slot->requested++;
    run->load_s += coming->arrival_s - now_s;
    run->loads++;
}

void cta_use_tile(struct cta_run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    struct coming_tile *tile = &run->tiles[(size_t)index * run->program.buffers + slot->oldest];
    run->sms[slot->sm].presence[SIM_SERVER_SMEM] -= tile->presence;
    tile->presence = 0;
    slot->oldest = slot->oldest + 1 == run->program.buffers ? 0 : slot->oldest + 1;
    slot->iteration_s = slot->iteration > 0 ? now_s - slot->used_s : slot->iteration_s;
    slot->used_s = now_s;
    run->served_bytes += run->program.tile.bytes;
}

/* ---- steps (SIM-3) ------------------------------------------------------------------------------------------------
 */

/* Work on the sub-cores ends when the last of them is through. */
static inline double serve_sub_cores(double *clocks, const double *work_s, double now_s, double end_s)
{
    for (int i = 0; i < SUB_CORES_MAX; i++) {
        clocks[i] = work_s[i] > 0 ? later(clocks[i], now_s) + work_s[i] : clocks[i];
        end_s = work_s[i] > 0 ? later(end_s, clocks[i]) : end_s;
    }
    return end_s;
}

/* SIM-7: the part of the spill traffic that the frames of the CTAs here at the moment crowd out of L1. */
static double missed_spills(const struct cta_run *run, const struct sm_clock *sm, double local_bytes)
{
    const double frames = sm->residents * run->program.frame_bytes;
    const double held = later(0, run->machine->l1_bytes - sm->residents * run->program.smem_bytes);
    return frames > held ? local_bytes * (1 - held / frames) * run->machine->spill_traffic_factor : 0;
}

/* Returns the end of a step that would end at end_s if it met nobody. */
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

static double serve_step(struct cta_run *run, struct sm_clock *sm, const struct cta_step *step,
                         const struct step_work *work, double now_s, double end_s)
{
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
    return end_s;
}

double cta_begin_step(struct cta_run *run, struct slot *slot, uint32_t index, double now_s)
{
    const struct cta_step *step = &run->program.steps[index];
    struct sm_clock *sm = &run->sms[slot->sm];
    const double alone_s = step->alone_s * slot->speed;
    double end_s = now_s + alone_s;
    if (step->stage != CTA_STAGE_BARRIER && step->stage != CTA_STAGE_OVERHEAD) {
        const struct step_work *work = &run->work[slot->kind * (CTA_STEPS_MAX + 1) + index];
        end_s = serve_step(run, sm, step, work, now_s, meet_others(sm, slot, work, now_s, end_s));
    }
    if (step->local_bytes > 0) {
        const double missed = missed_spills(run, sm, step->local_bytes);
        if (missed > 0)
            end_s = later(end_s, cta_send(run, sm, now_s, &(struct cta_transfer){.bytes = missed}, alone_s));
        run->served_bytes += missed;
    }
    cta_account(run, step->stage, now_s, end_s, alone_s);
    return end_s;
}

double cta_begin_edge(struct cta_run *run, const struct slot *slot, double now_s)
{
    const struct cta_program *program = &run->program;
    const struct step_work *work = &run->work[slot->kind * (CTA_STEPS_MAX + 1) + CTA_STEPS_MAX];
    run->busy_s[SIM_SERVER_ISSUE] += program->edge_issue_s * program->warps;
    return serve_sub_cores(run->sms[slot->sm].issue, work->issue, now_s, now_s + program->edge_s * slot->speed);
}

void cta_leave_step(struct cta_run *run, struct slot *slot)
{
    for (int i = 0; i < SM_SERVERS; i++) {
        run->sms[slot->sm].presence[i] -= slot->presence[i];
        slot->presence[i] = 0;
    }
}

/* ---- set-up -------------------------------------------------------------------------------------------------------
 */

static void set_step_work(const struct cta_step *step, uint32_t sub_cores, struct step_work *work)
{
    work->work_s[SIM_SERVER_ISSUE] = step->issue_s * step->warps / sub_cores;
    work->work_s[SIM_SERVER_TENSOR] = step->tensor_s * step->warps / sub_cores;
    work->work_s[SIM_SERVER_SPECIAL] = step->special_s;
    work->work_s[SIM_SERVER_SMEM] = step->smem_s;
}

void cta_servers_init(struct cta_run *run, const struct sm_residency *residency)
{
    const struct cta_program *program = &run->program;
    const uint32_t sub_cores = run->machine->limits->sub_cores_per_sm;
    run->port_s_per_byte = 1 / run->machine->port_bytes_per_s;
    run->port_l2_s_per_byte = 1 / run->machine->port_l2_bytes_per_s;
    run->l2_s_per_byte = 1 / run->machine->l2_bytes_per_s;
    run->dram_s_per_byte = 1 / run->machine->dram_bytes_per_s;
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
