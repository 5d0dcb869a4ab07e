/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs of the CTA simulator (docs/MODEL.md, SIM): set-up and memory, one event per stage of a CTA, the result. */
#include "sim/cta_simulator.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "sim/cta_run_private.h"

const char *sim_server_name(enum sim_server server)
{
    static const char *const names[SIM_SERVER_COUNT] = {"issue", "tensor", "special", "smem", "port", "l2", "dram"};
    if ((unsigned)server >= SIM_SERVER_COUNT)
        BUG("server %d", (int)server);
    return names[server];
}

/* ---- memory and set-up ---------------------------------------------------------------------------------------------
 */

/* One block for everything: freed at once. */
static enum status allocate(struct cta_run *run, void **block, struct error *error)
{
    const size_t slots = run->slot_count, sms = run->machine->sm_count;
    const size_t sizes[] = {slots * sizeof *run->events,
                            sms * sizeof *run->sms,
                            slots * sizeof *run->slots,
                            run->ctas_per_sm * (CTA_STEPS_MAX + 1) * sizeof *run->work,
                            slots * run->program.buffers * sizeof *run->tiles,
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
    run->tiles = parts[4];
    run->gpc_sms = parts[5];
    run->gpc_free = parts[6];
    run->free_slots = parts[7];
    return STATUS_OK;
}

static enum status check_size(const struct cta_run *run, struct error *error)
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

static enum status prepare(struct cta_run *run, struct sm_residency *residency, struct error *error)
{
    const struct kernel_case *kernel = run->kernel;
    const struct simulated_machine *machine = run->machine;
    sm_residency_fill(machine->limits, &kernel->launch, residency);
    if (residency->ctas == 0)
        return error_set(error, STATUS_DOMAIN, "%s: no CTA fits an SM (%s)", kernel->name, residency->full);
    run->ctas_per_sm = residency->ctas;
    run->slot_count = residency->ctas * machine->sm_count;
    const uint32_t largest = cta_largest_gpc(machine);
    if (kernel->launch.cluster_ctas > largest)
        return error_set(error, STATUS_DOMAIN, "%s: no GPC holds a cluster of %u CTAs, only %u", kernel->name,
                         kernel->launch.cluster_ctas, largest);
    const enum status status = cta_program_build(machine, kernel, &run->program, error);
    return status == STATUS_OK ? check_size(run, error) : status;
}

/* ---- the result ----------------------------------------------------------------------------------------------------
 */

static void set_shares(const struct cta_run *run, double span_s, struct kernel_simulation *result)
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

static void set_result(const struct cta_run *run, double end_s, struct kernel_simulation *result)
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
    result->load_alone_s = run->loads ? cta_send_alone_s(run, &run->program.tile) : (double)NAN;
    result->bytes_requested = run->requested_bytes;
    result->bytes_served = run->served_bytes;
    result->dram_bytes = run->dram_bytes;
    result->events = run->queue.taken;
}

/* ---- runs ----------------------------------------------------------------------------------------------------------
 */

static double run_events(struct cta_run *run, double begin_s)
{
    event_queue_init(&run->queue, run->events, run->slot_count, begin_s);
    cta_fill_device(run, begin_s);
    while (run->queue.count > 0) {
        const uint32_t index = event_queue_take(&run->queue);
        const double now_s = run->queue.now_s;
        const double next_s = cta_advance(run, index, now_s);
        if (next_s < 0)
            cta_replace(run, index, now_s);
        else
            event_queue_replace(&run->queue, next_s);
    }
    if (run->next_cta != run->kernel->launch.grid_ctas)
        BUG("%s: %llu of %llu CTAs have run", run->kernel->name, (unsigned long long)run->next_cta,
            (unsigned long long)run->kernel->launch.grid_ctas);
    return run->queue.now_s;
}

static enum status simulate_kernel(struct cta_run *run, double begin_s, struct kernel_simulation *result,
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
    run->ragged_left = run->kernel->loop.ragged_count ? run->kernel->loop.ragged[0].ctas : 0;
    cta_servers_init(run, &residency);
    cta_set_places(run);
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
        struct cta_run run = {
            .machine = machine, .kernel = &layer->kernels[i], .options = options, .result = result, .kernel_index = i};
        now_s += first ? 0 : options->stream ? machine->stream_gap_s : machine->graph_gap_s;
        const double launched_s = now_s; /* SIM-8: the next kernels are launched while the ones before run */
        const double begin_s = launched_s + (first ? machine->launch_s : 0);
        first = false;
        const enum status status = simulate_kernel(&run, begin_s, kernel, error);
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
