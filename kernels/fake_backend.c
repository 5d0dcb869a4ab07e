/* SPDX-License-Identifier: GPL-3.0-or-later
 * A device made of host memory, for tests of the harness without a GPU: results are the float64 references', times
 * follow from the bytes touched and a seed, and chosen configurations crash, hang or fail. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/device_backend.h"

struct fake_allocation {
    uint64_t address, bytes;
};

struct fake_state {
    struct measure_fake_plan plan;
    bool prepared;           /* and not yet run */
    uint32_t configurations; /* run so far */
    uint64_t used_bytes, noise;
    size_t allocation_count;
    struct fake_allocation allocations[4096];
};

struct fake_graph {
    double us;
};

static void close_fake(void *opaque)
{
    struct fake_state *state = opaque;
    for (size_t i = 0; i < state->allocation_count; i++)
        free((void *)(uintptr_t)state->allocations[i].address);
    free(state);
}

static enum status prepare(void *opaque, void *function, const struct kernel_stage *stage,
                           struct measure_resources *resources, struct error *error)
{
    struct fake_state *state = opaque;
    (void)function;
    (void)error;
    state->prepared = true;
    resources->registers_per_thread = 40;
    resources->driver_ctas_per_sm = stage->threads ? (int32_t)(2048 / stage->threads) : 0;
    if (resources->driver_ctas_per_sm > 32)
        resources->driver_ctas_per_sm = 32;
    return STATUS_OK;
}

static enum status allocate(void *opaque, uint64_t bytes, uint64_t *address, struct error *error)
{
    struct fake_state *state = opaque;
    if (bytes > state->plan.memory_bytes - state->used_bytes || state->allocation_count >= 4096)
        return error_set(error, STATUS_NO_MEMORY, "allocating device memory: out of the fake device's memory");
    void *block = malloc(bytes ? bytes : 1);
    if (!block)
        return error_set(error, STATUS_NO_MEMORY, "allocating device memory: out of host memory");
    state->used_bytes += bytes;
    state->allocations[state->allocation_count++] = (struct fake_allocation){(uintptr_t)block, bytes};
    *address = (uintptr_t)block;
    return STATUS_OK;
}

static void release(void *opaque, uint64_t address)
{
    struct fake_state *state = opaque;
    for (size_t i = 0; i < state->allocation_count; i++) {
        if (state->allocations[i].address != address)
            continue;
        free((void *)(uintptr_t)address);
        state->used_bytes -= state->allocations[i].bytes;
        state->allocations[i] = state->allocations[--state->allocation_count];
        return;
    }
    BUG("the fake device is asked to free what it did not allocate");
}

static enum status read_memory(void *opaque, uint64_t address, void *out, uint64_t bytes, struct error *error)
{
    (void)opaque;
    (void)error;
    memcpy(out, (const void *)(uintptr_t)address, bytes);
    return STATUS_OK;
}

static enum status poison(void *opaque, uint64_t address, uint64_t bytes, struct error *error)
{
    (void)opaque;
    (void)error;
    memset((void *)(uintptr_t)address, 0xff, bytes);
    return STATUS_OK;
}

static enum status fill_memory(void *opaque, void *fill_function, const struct fill_rule *rule, uint64_t address,
                               uint64_t bytes, struct error *error)
{
    (void)opaque;
    (void)fill_function;
    (void)error;
    fill_host(rule, (void *)(uintptr_t)address, bytes);
    return STATUS_OK;
}

/* Bytes that no reference gives. */
static void spoil(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].role == BUFFER_ROLE_OUTPUT)
            memset(buffers[i], 0x41, plan->buffers[i].bytes);
}

/* Elements outside the reference's sample count as written. */
static void write_rest(const struct kernel_buffer *buffer, void *bytes)
{
    if (buffer->format == ELEMENT_FORMAT_BFLOAT16) {
        for (uint64_t i = 0; i < buffer->bytes / 2; i++)
            if (((uint16_t *)bytes)[i] == UINT16_MAX)
                ((uint16_t *)bytes)[i] = 0;
    } else if (buffer->format == ELEMENT_FORMAT_FLOAT32) {
        for (uint64_t i = 0; i < buffer->bytes / 4; i++)
            if (((uint32_t *)bytes)[i] == UINT32_MAX)
                ((uint32_t *)bytes)[i] = 0;
    }
}

/* The first launches after a preparation are a configuration's correctness run: that is what the plan counts. */
static enum status run_calls(void *opaque, const struct device_call *calls, uint32_t count, struct error *error)
{
    struct fake_state *state = opaque;
    const struct kernel_plan *plan = calls[0].plan;
    void *buffers[KERNEL_BUFFERS_MAX] = {NULL};
    (void)count;
    uint32_t number = state->prepared ? ++state->configurations : 0; /* later launches of it never misbehave */
    state->prepared = false;
    if (number && number == state->plan.crash_at)
        raise(SIGKILL);
    while (number && number == state->plan.hang_at)
        pause();
    if (number && number == state->plan.launch_failure_at)
        return error_set(error, STATUS_IO, "%s: an illegal memory access was made up", calls[0].stage->entry);
    if (number && number == state->plan.not_tried_at)
        return error_set(error, STATUS_MISSING, "the host's memory was made up to be short");
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        buffers[i] = (void *)(uintptr_t)calls[0].set_addresses[i];
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].role == BUFFER_ROLE_RECORD)
            memset(buffers[i], 0, plan->buffers[i].bytes);
    plan->definition->reference(plan, buffers);
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].role == BUFFER_ROLE_OUTPUT)
            write_rest(&plan->buffers[i], buffers[i]);
    if (number && number == state->plan.wrong_at)
        spoil(plan, buffers);
    return STATUS_OK;
}

/* Deterministic noise of about one percent. */
static double noisy(struct fake_state *state, double us)
{
    state->noise = state->noise * 6364136223846793005ULL + 1442695040888963407ULL;
    return us * (1.0 + 0.01 * ((double)(state->noise >> 40) / (double)(1 << 24) - 0.5));
}

static double predicted_us(const struct device_call *calls, uint32_t count)
{
    double us = 0.0;
    for (uint32_t i = 0; i < count; i++)
        us += 2.0 + calls[i].plan->touched_bytes / calls[i].plan->stage_count / 1e6;
    return us;
}

static enum status graph_create(void *opaque, const struct device_call *calls, uint32_t count, void **graph,
                                struct error *error)
{
    (void)opaque;
    struct fake_graph *made = malloc(sizeof *made);
    if (!made)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a graph");
    made->us = predicted_us(calls, count);
    *graph = made;
    return STATUS_OK;
}

static enum status graph_time(void *opaque, void *graph, double *us, struct error *error)
{
    (void)error;
    *us = noisy(opaque, ((const struct fake_graph *)graph)->us);
    return STATUS_OK;
}

static void graph_free(void *opaque, void *graph)
{
    (void)opaque;
    free(graph);
}

static enum status stream_time(void *opaque, const struct device_call *calls, uint32_t count, double *us,
                               struct error *error)
{
    (void)error;
    *us = noisy(opaque, predicted_us(calls, count) + 3.0);
    return STATUS_OK;
}

static void sense(void *opaque, struct measure_sensors *sensors)
{
    const struct fake_state *state = opaque;
    *sensors = (struct measure_sensors){1400.0, 2600.0, 41.0, 300.0, state->plan.throttled ? 0x40 : 0};
}

enum status fake_backend_open(const struct measure_fake_plan *plan, struct device_backend *backend, struct error *error)
{
    struct fake_state *state = calloc(1, sizeof *state);
    if (!state)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the fake device");
    state->plan = *plan;
    state->noise = plan->seed;
    *backend = (struct device_backend){.state = state,
                                       .close = close_fake,
                                       .prepare = prepare,
                                       .allocate = allocate,
                                       .release = release,
                                       .read = read_memory,
                                       .poison = poison,
                                       .fill = fill_memory,
                                       .run = run_calls,
                                       .graph_create = graph_create,
                                       .graph_time = graph_time,
                                       .graph_free = graph_free,
                                       .stream_time = stream_time,
                                       .sense = sense};
    struct measure_facts *facts = &backend->facts;
    snprintf(facts->gpu_name, sizeof facts->gpu_name, "fake device");
    snprintf(facts->gpu_id, sizeof facts->gpu_id, "%016llx", (unsigned long long)plan->seed);
    facts->cc_major = 9;
    facts->sm_count = plan->sm_count;
    facts->l2_bytes = 1 << 20;
    facts->smem_per_cta_optin_bytes = 232448;
    facts->smem_per_sm_bytes = 233472;
    facts->memory_bytes = plan->memory_bytes;
    facts->clock_khz = 1400000;
    return STATUS_OK;
}
