/* SPDX-License-Identifier: GPL-3.0-or-later
 * One CTA from stage to stage: what it reads first, its tile loop, what it writes. */
#include "sim/cta_run_private.h"

static inline bool has_tile(const struct cta_program *program)
{
    return program->tile.bytes > 0 || program->tile.latency_s > 0;
}

/* What is read before the loop, or written after it, while the CTA's own work at that edge is done. */
static double begin_edge(struct cta_run *run, struct slot *slot, const struct cta_transfer *transfer,
                         enum cta_stage stage, double now_s)
{
    const double edge_s = run->program.edge_s * slot->speed, waits_s = transfer->latency_s + edge_s;
    double end_s = later(cta_begin_edge(run, slot, now_s), now_s + waits_s);
    if (transfer->bytes > 0)
        end_s = later(end_s, cta_send(run, &run->sms[slot->sm], now_s, transfer, waits_s));
    run->served_bytes += transfer->bytes;
    slot->place = stage == CTA_STAGE_PROLOGUE ? PLACE_PROLOGUE : PLACE_EPILOGUE;
    cta_account(run, stage, now_s, end_s, edge_s + cta_send_alone_s(run, transfer));
    return end_s;
}

/* An iteration begins, or what follows the last. */
static double begin_iteration(struct cta_run *run, struct slot *slot, double now_s)
{
    const struct cta_transfer *load = &run->program.exposed;
    if (slot->iteration == slot->iterations)
        return begin_edge(run, slot, &run->program.epilogue, CTA_STAGE_EPILOGUE, now_s);
    slot->place = PLACE_EXPOSED;
    if (!(load->latency_s > 0 || load->bytes > 0))
        return now_s;
    const double end_s = cta_send(run, &run->sms[slot->sm], now_s, load, load->latency_s);
    run->served_bytes += load->bytes;
    cta_account(run, CTA_STAGE_LOAD, now_s, end_s, cta_send_alone_s(run, load));
    return end_s;
}

/* The tile of this iteration is needed now: when is it there? */
static double wait_for_tile(struct cta_run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    slot->place = PLACE_BUFFERED;
    if (!has_tile(&run->program))
        return now_s;
    const double end_s = later(now_s, run->tiles[(size_t)index * run->program.buffers + slot->oldest].arrival_s);
    cta_account(run, CTA_STAGE_LOAD, now_s, end_s, end_s - now_s);
    return end_s;
}

static void fill_buffers(struct cta_run *run, uint32_t index, double now_s)
{
    const struct slot *slot = &run->slots[index];
    if (has_tile(&run->program))
        while (slot->requested < run->program.buffers && slot->requested < slot->iterations)
            cta_request_tile(run, index, now_s);
}

static inline void refill(struct cta_run *run, uint32_t index, uint32_t steps_done, double now_s)
{
    const struct slot *slot = &run->slots[index];
    if (steps_done == run->program.refill_step && has_tile(&run->program) && slot->requested < slot->iterations)
        cta_request_tile(run, index, now_s);
}

/* A tile has come, or a step is done. */
static double next_step(struct cta_run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    uint32_t done = 0;
    if (slot->place != PLACE_BUFFERED) {
        done = slot->place - PLACE_STEPS + 1;
        cta_leave_step(run, slot);
    } else if (has_tile(&run->program)) {
        cta_use_tile(run, index, now_s);
    }
    refill(run, index, done, now_s);
    if (done == run->program.step_count) {
        slot->iteration++;
        return begin_iteration(run, slot, now_s);
    }
    slot->place = PLACE_STEPS + done;
    return cta_begin_step(run, slot, done, now_s);
}

/* Stages without length are passed at once. */
double cta_advance(struct cta_run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    double end_s = now_s;
    while (end_s <= now_s) {
        const uint32_t place = slot->place;
        if (place == PLACE_START) {
            end_s = begin_edge(run, slot, &run->program.prologue, CTA_STAGE_PROLOGUE, now_s);
        } else if (place == PLACE_PROLOGUE) {
            fill_buffers(run, index, now_s);
            end_s = begin_iteration(run, slot, now_s);
        } else if (place == PLACE_EXPOSED) {
            end_s = wait_for_tile(run, index, now_s);
        } else if (place == PLACE_EPILOGUE) {
            return -1;
        } else {
            end_s = next_step(run, index, now_s);
        }
    }
    return end_s;
}
