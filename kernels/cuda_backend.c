/* SPDX-License-Identifier: GPL-3.0-or-later
 * The real device: the CUDA driver API, opened at run time. One context, one stream, one thread. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kernels/cuda_driver.h"
#include "kernels/device_backend.h"

struct cuda_state {
    struct cuda_driver driver;
    struct nvml nvml;
    cuda_device device;
    struct cuda_context *context;
    struct cuda_stream *stream;
    struct cuda_event *start, *stop;
};

static enum status driver_error(const struct cuda_state *state, cuda_result code, const char *what, struct error *error)
{
    const char *name = NULL;
    if (state->driver.error_name)
        state->driver.error_name(code, &name);
    enum status status = code == CUDA_RESULT_OUT_OF_MEMORY ? STATUS_NO_MEMORY : STATUS_IO;
    return error_set(error, status, "%s: %s (%d)", what, name ? name : "unknown driver error", code);
}

#define TRY(call, what)                                                                                                \
    do {                                                                                                               \
        cuda_result try_code = (call);                                                                                 \
        if (try_code != 0)                                                                                             \
            return driver_error(state, try_code, what, error);                                                         \
    } while (0)

static enum status open_driver(struct cuda_driver *driver, struct error *error)
{
    driver->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver->library)
        return error_set(error, STATUS_MISSING, "no NVIDIA driver (libcuda.so.1) on this machine");
#define DRIVER_FIND(member, symbol, parameters)                                                                        \
    if (!(*(void **)&driver->member = dlsym(driver->library, symbol)))                                                 \
        return error_set(error, STATUS_MISSING, "the NVIDIA driver is too old: it lacks %s", symbol);
    CUDA_DRIVER_LIST(DRIVER_FIND)
#undef DRIVER_FIND
    return STATUS_OK;
}

/* Optional: without it clocks and power stay unknown. The GPU is found by its place on the bus: the driver and NVML do
 * not number GPUs alike, and CUDA_VISIBLE_DEVICES hides them from the driver alone. */
static void open_nvml(const struct cuda_state *state, struct nvml *nvml)
{
    char bus[32];
    nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    bool complete = nvml->library != NULL;
#define NVML_FIND(member, symbol, parameters)                                                                          \
    complete = complete && (*(void **)&nvml->member = dlsym(nvml->library, symbol));
    NVML_LIST(NVML_FIND)
#undef NVML_FIND
    if (!complete || nvml->init() != 0)
        return;
    if (state->driver.device_bus(bus, (int)sizeof bus, state->device) == 0 &&
        nvml->device_by_bus(bus, &nvml->device) == 0)
        return;
    nvml->device = NULL;
    nvml->shutdown();
}

static void close_cuda(void *opaque)
{
    struct cuda_state *state = opaque;
    if (state->start)
        state->driver.event_destroy(state->start);
    if (state->stop)
        state->driver.event_destroy(state->stop);
    if (state->stream)
        state->driver.stream_destroy(state->stream);
    if (state->context)
        state->driver.context_release(state->device);
    if (state->nvml.device)
        state->nvml.shutdown();
    free(state); /* the libraries stay: unloading the driver is not supported */
}

static enum status load_module(void *opaque, const void *image, size_t image_bytes, void **module, struct error *error)
{
    struct cuda_state *state = opaque;
    (void)image_bytes;
    struct cuda_module *loaded = NULL;
    TRY(state->driver.module_load(&loaded, image), "loading machine code");
    *module = loaded;
    return STATUS_OK;
}

static void unload_module(void *opaque, void *module)
{
    struct cuda_state *state = opaque;
    state->driver.module_unload(module);
}

static enum status find_function(void *opaque, void *module, const char *entry, void **function, struct error *error)
{
    struct cuda_state *state = opaque;
    struct cuda_function *found = NULL;
    TRY(state->driver.module_function(&found, module, entry), entry);
    *function = found;
    return STATUS_OK;
}

static enum status prepare(void *opaque, void *function, const struct kernel_stage *stage,
                           struct measure_resources *resources, struct error *error)
{
    struct cuda_state *state = opaque;
    const struct cuda_driver *driver = &state->driver;
    int registers = 0, smem = 0, local = 0, ctas = 0;
    TRY(driver->function_get(&registers, CUDA_FUNCTION_ATTRIBUTE_REGISTERS, function), "registers of the kernel");
    TRY(driver->function_get(&smem, CUDA_FUNCTION_ATTRIBUTE_STATIC_SMEM, function), "SMEM of the kernel");
    TRY(driver->function_get(&local, CUDA_FUNCTION_ATTRIBUTE_LOCAL_BYTES, function), "stack frame of the kernel");
    TRY(driver->function_set(function, CUDA_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SMEM, (int)stage->dynamic_smem_bytes),
        "asking for dynamic SMEM");
    /* Also the default: the function keeps what the configuration before asked for. */
    TRY(driver->function_set(function, CUDA_FUNCTION_ATTRIBUTE_CARVEOUT, stage->carveout_percent),
        "asking for the SMEM carve-out");
    if (stage->cluster_ctas > 8)
        TRY(driver->function_set(function, CUDA_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER, 1), "asking for the cluster");
    TRY(driver->occupancy(&ctas, function, (int)stage->threads, (size_t)stage->dynamic_smem_bytes),
        "asking for the occupancy");
    resources->registers_per_thread = (uint32_t)registers;
    resources->static_smem_bytes = (uint32_t)smem;
    resources->local_bytes = (uint32_t)local;
    resources->driver_ctas_per_sm = ctas;
    return STATUS_OK;
}

static enum status allocate(void *opaque, uint64_t bytes, uint64_t *address, struct error *error)
{
    struct cuda_state *state = opaque;
    cuda_address allocated = 0;
    TRY(state->driver.memory_allocate(&allocated, (size_t)bytes), "allocating device memory");
    *address = allocated;
    return STATUS_OK;
}

static void release(void *opaque, uint64_t address)
{
    struct cuda_state *state = opaque;
    state->driver.memory_free(address);
}

static enum status read_memory(void *opaque, uint64_t address, void *out, uint64_t bytes, struct error *error)
{
    struct cuda_state *state = opaque;
    TRY(state->driver.copy_to_host(out, address, (size_t)bytes), "reading device memory");
    return STATUS_OK;
}

static enum status poison(void *opaque, uint64_t address, uint64_t bytes, struct error *error)
{
    struct cuda_state *state = opaque;
    TRY(state->driver.set_bytes(address, 0xff, (size_t)bytes), "writing device memory");
    return STATUS_OK;
}

static cuda_result launch_one(const struct cuda_state *state, const struct device_call *call)
{
    void *parameters[KERNEL_ARGUMENTS_MAX];
    for (uint32_t i = 0; i < call->stage->argument_count; i++)
        parameters[i] = (void *)(uintptr_t)&call->arguments[i];
    struct cuda_launch_attribute cluster = {.id = CUDA_LAUNCH_ATTRIBUTE_CLUSTER};
    cluster.value.cluster[0] = call->stage->cluster_ctas;
    cluster.value.cluster[1] = cluster.value.cluster[2] = 1;
    bool clustered = call->stage->cluster_ctas > 1;
    struct cuda_launch_config config = {
        .grid_x = call->stage->grid_x,
        .grid_y = call->stage->grid_y,
        .grid_z = 1,
        .block_x = call->stage->threads,
        .block_y = 1,
        .block_z = 1,
        .dynamic_smem_bytes = (unsigned)call->stage->dynamic_smem_bytes,
        .stream = state->stream,
        .attributes = clustered ? &cluster : NULL,
        .attribute_count = clustered ? 1 : 0,
    };
    return state->driver.launch(&config, call->function, parameters, NULL);
}

static enum status launch_all(struct cuda_state *state, const struct device_call *calls, uint32_t count,
                              struct error *error)
{
    for (uint32_t i = 0; i < count; i++)
        TRY(launch_one(state, &calls[i]), calls[i].stage->entry);
    return STATUS_OK;
}

static enum status run_calls(void *opaque, const struct device_call *calls, uint32_t count, struct error *error)
{
    struct cuda_state *state = opaque;
    enum status status = launch_all(state, calls, count, error);
    if (status != STATUS_OK)
        return status;
    TRY(state->driver.stream_wait(state->stream), calls[0].stage->entry);
    return STATUS_OK;
}

static enum status fill_memory(void *opaque, void *fill_function, const struct fill_rule *rule, uint64_t address,
                               uint64_t bytes, struct error *error)
{
    struct kernel_stage stage = {
        .entry = "random_fill", .grid_x = 2048, .grid_y = 1, .threads = 256, .cluster_ctas = 1, .argument_count = 6};
    struct device_call call = {.function = fill_function,
                               .stage = &stage,
                               .arguments = {address, fill_element_count(rule, bytes), (uint64_t)rule->format,
                                             rule->seed, rule->count, rule->pool}};
    return run_calls(opaque, &call, 1, error);
}

static enum status graph_create(void *opaque, const struct device_call *calls, uint32_t count, void **graph,
                                struct error *error)
{
    struct cuda_state *state = opaque;
    struct cuda_graph *captured = NULL;
    struct cuda_graph_exec *ready = NULL;
    TRY(state->driver.capture_begin(state->stream, CUDA_CAPTURE_THREAD_LOCAL), "recording a graph");
    enum status status = launch_all(state, calls, count, error);
    cuda_result ended = state->driver.capture_end(state->stream, &captured);
    if (status != STATUS_OK)
        return status;
    TRY(ended, "recording a graph");
    cuda_result made = state->driver.graph_instantiate(&ready, captured, 0);
    state->driver.graph_destroy(captured);
    TRY(made, "making a graph");
    *graph = ready;
    return STATUS_OK;
}

static enum status elapsed(struct cuda_state *state, double *us, struct error *error)
{
    float ms = 0.0f;
    TRY(state->driver.event_record(state->stop, state->stream), "recording an event");
    TRY(state->driver.event_wait(state->stop), "waiting for the GPU");
    TRY(state->driver.event_elapsed_ms(&ms, state->start, state->stop), "reading the events");
    *us = (double)ms * 1e3;
    return STATUS_OK;
}

static enum status graph_time(void *opaque, void *graph, double *us, struct error *error)
{
    struct cuda_state *state = opaque;
    TRY(state->driver.event_record(state->start, state->stream), "recording an event");
    TRY(state->driver.graph_launch(graph, state->stream), "launching a graph");
    return elapsed(state, us, error);
}

static void graph_free(void *opaque, void *graph)
{
    struct cuda_state *state = opaque;
    state->driver.graph_exec_destroy(graph);
}

static enum status stream_time(void *opaque, const struct device_call *calls, uint32_t count, double *us,
                               struct error *error)
{
    struct cuda_state *state = opaque;
    TRY(state->driver.event_record(state->start, state->stream), "recording an event");
    enum status status = launch_all(state, calls, count, error);
    return status == STATUS_OK ? elapsed(state, us, error) : status;
}

static void sense(void *opaque, struct measure_sensors *sensors)
{
    const struct cuda_state *state = opaque;
    const struct nvml *nvml = &state->nvml;
    unsigned value;
    *sensors = (struct measure_sensors){NAN, NAN, NAN, NAN, 0};
    if (!nvml->device)
        return;
    if (nvml->clock(nvml->device, 1, &value) == 0) /* NVML_CLOCK_SM */
        sensors->sm_clock_mhz = value;
    if (nvml->clock(nvml->device, 2, &value) == 0) /* NVML_CLOCK_MEM */
        sensors->memory_clock_mhz = value;
    if (nvml->temperature(nvml->device, 0, &value) == 0)
        sensors->temperature_celsius = value;
    if (nvml->power(nvml->device, &value) == 0)
        sensors->power_watts = value * 1e-3;
    unsigned long long reasons = 0;
    if (nvml->throttle(nvml->device, &reasons) == 0)
        sensors->throttle_reasons = reasons;
}

/* The UUID itself is nobody's business; its hash tells two cards apart. */
static void hash_uuid(const struct cuda_uuid *uuid, char out[24])
{
    snprintf(out, 24, "%016llx", (unsigned long long)hash_bytes(HASH_START, uuid->bytes, sizeof uuid->bytes));
}

static enum status read_facts(struct cuda_state *state, struct measure_facts *facts, struct error *error)
{
    const struct cuda_driver *driver = &state->driver;
    static const struct {
        int attribute;
        size_t offset;
    } wanted[] = {
        {CUDA_DEVICE_ATTRIBUTE_CC_MAJOR, offsetof(struct measure_facts, cc_major)},
        {CUDA_DEVICE_ATTRIBUTE_CC_MINOR, offsetof(struct measure_facts, cc_minor)},
        {CUDA_DEVICE_ATTRIBUTE_SM_COUNT, offsetof(struct measure_facts, sm_count)},
        {CUDA_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, offsetof(struct measure_facts, l2_bytes)},
        {CUDA_DEVICE_ATTRIBUTE_SMEM_PER_SM, offsetof(struct measure_facts, smem_per_sm_bytes)},
        {CUDA_DEVICE_ATTRIBUTE_SMEM_PER_CTA_OPTIN, offsetof(struct measure_facts, smem_per_cta_optin_bytes)},
        {CUDA_DEVICE_ATTRIBUTE_CLOCK_RATE, offsetof(struct measure_facts, clock_khz)},
        {CUDA_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, offsetof(struct measure_facts, memory_clock_khz)},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        int value = 0;
        TRY(driver->device_attribute(&value, wanted[i].attribute, state->device), "asking for a device attribute");
        uint32_t stored = (uint32_t)value;
        memcpy((char *)facts + wanted[i].offset, &stored, sizeof stored);
    }
    size_t bytes = 0;
    struct cuda_uuid uuid;
    TRY(driver->device_name(facts->gpu_name, (int)sizeof facts->gpu_name, state->device), "asking for the name");
    TRY(driver->device_memory(&bytes, state->device), "asking for the memory");
    TRY(driver->device_uuid(&uuid, state->device), "asking for the UUID");
    TRY(driver->driver_version(&facts->driver_version), "asking for the driver version");
    facts->memory_bytes = bytes;
    hash_uuid(&uuid, facts->gpu_id);
    if (state->nvml.device)
        state->nvml.driver_text(facts->driver_text, (unsigned)sizeof facts->driver_text);
    return STATUS_OK;
}

static enum status start_device(struct cuda_state *state, unsigned index, struct measure_facts *facts,
                                struct error *error)
{
    enum status status = open_driver(&state->driver, error);
    if (status != STATUS_OK)
        return status;
    const struct cuda_driver *driver = &state->driver;
    int count = 0;
    if (driver->init(0) != 0 || driver->device_count(&count) != 0 || count == 0)
        return error_set(error, STATUS_MISSING, "the NVIDIA driver is here but finds no GPU");
    if (index >= (unsigned)count)
        return error_set(error, STATUS_MISSING, "there is no GPU %u; %d found, counted from 0", index, count);
    TRY(driver->device_get(&state->device, (int)index), "opening the GPU");
    TRY(driver->context_retain(&state->context, state->device), "opening the GPU");
    TRY(driver->context_set(state->context), "opening the GPU");
    TRY(driver->stream_create(&state->stream, 0), "making a stream"); /* waits for memory fills */
    TRY(driver->event_create(&state->start, 0), "making an event");
    TRY(driver->event_create(&state->stop, 0), "making an event");
    open_nvml(state, &state->nvml);
    return read_facts(state, facts, error);
}

enum status cuda_backend_open(unsigned index, struct device_backend *backend, struct error *error)
{
    struct cuda_state *state = calloc(1, sizeof *state);
    if (!state)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the GPU's state");
    memset(backend, 0, sizeof *backend);
    enum status status = start_device(state, index, &backend->facts, error);
    if (status != STATUS_OK) {
        close_cuda(state);
        return status;
    }
    backend->state = state;
    backend->needs_code = true;
    backend->close = close_cuda;
    backend->load = load_module;
    backend->unload = unload_module;
    backend->find_function = find_function;
    backend->prepare = prepare;
    backend->allocate = allocate;
    backend->release = release;
    backend->read = read_memory;
    backend->poison = poison;
    backend->fill = fill_memory;
    backend->run = run_calls;
    backend->graph_create = graph_create;
    backend->graph_time = graph_time;
    backend->graph_free = graph_free;
    backend->stream_time = stream_time;
    backend->sense = sense;
    return STATUS_OK;
}
