/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which CTA runs where and when (docs/MODEL.md, SIM-8, SIM-9): the grid in order, slots that become free, clusters
 * within a GPC. */
#include <math.h>

#include "base/random.h"
#include "sim/cta_run_private.h"

/* Whole iterations of a CTA: those of its group, or such that the sum over the grid is that of the mean. */
static uint64_t take_iterations(struct cta_run *run, uint64_t cta)
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

static double cta_speed(const struct cta_run *run, uint64_t cta)
{
    if (run->options->jitter == 0)
        return 1;
    struct random_stream stream;
    random_init(&stream, run->options->seed, cta * KERNELS_PER_LAYER_MAX + run->kernel_index);
    return exp(run->options->jitter * random_normal(&stream));
}

/* The next CTA of the grid starts in this slot; returns the end of its first stage. */
static double start_cta(struct cta_run *run, uint32_t index, double now_s)
{
    struct slot *slot = &run->slots[index];
    const uint64_t cta = run->next_cta++;
    slot->cta = cta;
    slot->ctas++;
    slot->iteration = slot->requested = 0;
    slot->oldest = slot->fill = 0;
    slot->iterations = take_iterations(run, cta);
    slot->iteration_s = run->program.iteration_alone_s;
    slot->speed = cta_speed(run, cta);
    slot->start_s = now_s;
    slot->place = PLACE_START;
    run->sms[slot->sm].residents++;
    run->sms[slot->sm].ctas++;
    cta_account(run, CTA_STAGE_START, now_s, now_s + run->program.start_s, run->program.start_s);
    return now_s + run->program.start_s;
}

static void end_cta(struct cta_run *run, uint32_t index, double now_s)
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
static uint32_t roomiest_slot(const struct cta_run *run, uint32_t gpc)
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
static void place_clusters(struct cta_run *run, uint32_t gpc, uint32_t most, double now_s)
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

void cta_fill_device(struct cta_run *run, double now_s)
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

void cta_replace(struct cta_run *run, uint32_t index, double now_s)
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

/* ---- places -------------------------------------------------------------------------------------------------------
 */

uint32_t cta_largest_gpc(const struct simulated_machine *machine)
{
    uint32_t largest = 0, placed = 0;
    for (uint32_t gpc = 0; placed < machine->sm_count; gpc++) {
        const uint32_t sms = simulated_gpc_sms(machine, gpc, machine->sm_count - placed);
        largest = sms > largest ? sms : largest;
        placed += sms;
    }
    return largest;
}

void cta_set_places(struct cta_run *run)
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
