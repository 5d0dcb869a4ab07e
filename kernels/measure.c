/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs one configuration: plan, code, inputs, correctness, then times. Called by campaigns and by `occam measure`. */
#include "kernels/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/statistics.h"
#include "kernels/code_compiler.h"
#include "kernels/device_backend.h"
#include "kernels/measure_private.h"

enum {
    INPUT_SETS_MAX = 256,
    GRAPH_CALLS_MAX = 1024,
    BATCH = 8 /* samples between two looks at the throttle reasons */
};
#define COLD_FACTOR   3.0     /* input sets together are this many times the L2 */
#define WARM_UP_S     0.02    /* an idle GPU needs some milliseconds to raise its clocks */
#define MEMORY_SHARE  0.6     /* of the device's memory that input sets may take */
#define THROTTLE_MASK 0xe8ULL /* NVML: hardware slowdown, software and hardware thermal slowdown, power brake */

struct measure_device {
    struct device_backend backend;
    struct code_compiler *compiler;
    void *fill_module, *fill_function;
    struct measure_config loaded; /* what `module` was compiled for; kernel NULL = nothing */
    void *module;
    struct machine_code code;
};

/* One configuration under way. */
struct run {
    struct measure_device *device;
    struct kernel_plan plan;
    struct measure_config config;
    const struct measure_options *options;
    struct measure_result *result;
    void *functions[MEASURE_STAGES_MAX];
    uint32_t set_count;
    uint64_t addresses[INPUT_SETS_MAX][KERNEL_BUFFERS_MAX];
    void *host[KERNEL_BUFFERS_MAX];
};

void measure_options_init(struct measure_options *options)
{
    *options = (struct measure_options){
        .seed = 1, .seconds = 0.1, .target_fraction = 0.005, .minimum_samples = 7, .maximum_error = 1e-2};
}

/* ---- device ------------------------------------------------------------------------------------------------------ */

static enum status load_fill(struct measure_device *device, struct error *error)
{
    struct device_backend *backend = &device->backend;
    struct machine_code code;
    enum status status = code_compile(device->compiler, "random_fill", NULL,
                                      backend->facts.cc_major * 10 + backend->facts.cc_minor, &code, error);
    if (status != STATUS_OK)
        return status;
    status = backend->load(backend->state, code.image, code.image_bytes, &device->fill_module, error);
    machine_code_release(&code);
    if (status == STATUS_OK)
        status =
            backend->find_function(backend->state, device->fill_module, "random_fill", &device->fill_function, error);
    return status;
}

enum status measure_device_open(unsigned index, const char *nvrtc_path, const char *cache_directory,
                                struct measure_device **device, struct error *error)
{
    struct measure_device *made = calloc(1, sizeof *made);
    if (!made)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a device");
    enum status status = cuda_backend_open(index, &made->backend, error);
    if (status == STATUS_OK)
        status = code_compiler_create(nvrtc_path, cache_directory, &made->compiler, error);
    if (status == STATUS_OK) {
        struct measure_facts *facts = &made->backend.facts;
        code_compiler_version(made->compiler, &facts->compiler_major, &facts->compiler_minor);
        status = load_fill(made, error);
    }
    if (status != STATUS_OK) {
        measure_device_close(made);
        return status;
    }
    *device = made;
    return STATUS_OK;
}

enum status measure_device_open_fake(const struct measure_fake_plan *plan, struct measure_device **device,
                                     struct error *error)
{
    struct measure_device *made = calloc(1, sizeof *made);
    if (!made)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a device");
    enum status status = fake_backend_open(plan, &made->backend, error);
    if (status != STATUS_OK) {
        free(made);
        return status;
    }
    *device = made;
    return STATUS_OK;
}

static void drop_module(struct measure_device *device)
{
    if (device->module)
        device->backend.unload(device->backend.state, device->module);
    device->module = NULL;
    machine_code_release(&device->code);
    memset(&device->loaded, 0, sizeof device->loaded);
}

void measure_device_close(struct measure_device *device)
{
    if (!device)
        return;
    if (device->backend.state) {
        drop_module(device);
        if (device->fill_module)
            device->backend.unload(device->backend.state, device->fill_module);
        device->backend.close(device->backend.state);
    }
    code_compiler_free(device->compiler);
    free(device);
}

const struct measure_facts *measure_device_facts(const struct measure_device *device)
{
    return &device->backend.facts;
}

/* ---- code ----------------------------------------------------------------------------------------------- */

/* What the device refused or broke off, by the status a backend gives: its memory, the launch (or the code), or nothing
 * of the device at all (STATUS_MISSING). */
static void broke(struct run *run, enum status status, const struct error *error)
{
    measure_result_end(run->result,
                       status == STATUS_NO_MEMORY ? MEASURE_OUTCOME_NO_DEVICE_MEMORY
                       : status == STATUS_MISSING ? MEASURE_OUTCOME_NOT_TRIED
                                                  : MEASURE_OUTCOME_LAUNCH_FAILED,
                       error->text);
}

static bool load_code(struct run *run, const struct measure_config *config)
{
    struct measure_device *device = run->device;
    struct device_backend *backend = &device->backend;
    struct error error = {0};
    if (device->loaded.kernel && measure_same_code(&device->loaded, config))
        return true;
    drop_module(device);
    unsigned arch = backend->facts.cc_major * 10 + backend->facts.cc_minor;
    enum status status =
        code_compile(device->compiler, run->plan.definition->source, config, arch, &device->code, &error);
    if (status != STATUS_OK) { /* only the compiler's own complaint is about the configuration */
        measure_result_end(run->result,
                           status == STATUS_BAD_DATA ? MEASURE_OUTCOME_COMPILE_FAILED : MEASURE_OUTCOME_NOT_TRIED,
                           error.text);
        drop_module(device);
        return false;
    }
    status = backend->load(backend->state, device->code.image, device->code.image_bytes, &device->module, &error);
    if (status != STATUS_OK) { /* a damaged file of the cache, or a driver older than the code */
        broke(run, status == STATUS_NO_MEMORY ? status : STATUS_MISSING, &error);
        drop_module(device);
        return false;
    }
    device->loaded = *config;
    return true;
}

static void note_compiler(struct measure_result *result, const struct machine_code *code)
{
    result->compiler_major = code->compiler_major;
    result->compiler_minor = code->compiler_minor;
}

/* Functions, resources, and whether one CTA fits at all. */
static bool prepare_stages(struct run *run)
{
    struct device_backend *backend = &run->device->backend;
    struct error error = {0};
    for (uint32_t i = 0; i < run->plan.stage_count; i++) {
        const struct kernel_stage *stage = &run->plan.stages[i];
        struct measure_resources *resources = &run->result->stages[i];
        enum status status = STATUS_OK;
        if (backend->needs_code) {
            status =
                backend->find_function(backend->state, run->device->module, stage->entry, &run->functions[i], &error);
            machine_code_resources(&run->device->code, stage->entry, resources);
        }
        if (status == STATUS_OK)
            status = backend->prepare(backend->state, run->functions[i], stage, resources, &error);
        if (status != STATUS_OK) {
            if (status == STATUS_NO_MEMORY)
                broke(run, status, &error);
            else
                measure_result_end(run->result, MEASURE_OUTCOME_INFEASIBLE, error.text);
            return false;
        }
        if (resources->driver_ctas_per_sm == 0) {
            snprintf(run->result->reason, sizeof run->result->reason,
                     "not one CTA of %s fits: %u threads of %u registers, %llu bytes of SMEM", stage->entry,
                     stage->threads, resources->registers_per_thread,
                     resources->static_smem_bytes + (unsigned long long)stage->dynamic_smem_bytes);
            run->result->outcome = MEASURE_OUTCOME_INFEASIBLE;
            return false;
        }
    }
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* So many sets that going round them finds none of a set's bytes in L2 again. */
static uint32_t wanted_sets(const struct run *run)
{
    const struct measure_facts *facts = &run->device->backend.facts;
    double set_bytes = 0.0, wanted = 1.0;
    if (run->options->check_only || run->plan.in_kernel_clock)
        return 1;
    for (uint32_t i = 0; i < run->plan.buffer_count; i++)
        if (!run->plan.buffers[i].shared_by_sets)
            set_bytes += (double)run->plan.buffers[i].bytes;
    if (set_bytes > 0.0 && run->plan.touched_bytes > 0.0)
        wanted = ceil(COLD_FACTOR * facts->l2_bytes / run->plan.touched_bytes) + 1.0;
    double room = floor(MEMORY_SHARE * (double)facts->memory_bytes / (set_bytes > 1.0 ? set_bytes : 1.0));
    if (wanted > room)
        wanted = room;
    if (wanted > INPUT_SETS_MAX)
        wanted = INPUT_SETS_MAX;
    return wanted < 1.0 ? 1 : (uint32_t)wanted;
}

static bool allocate_sets(struct run *run)
{
    struct device_backend *backend = &run->device->backend;
    struct error error = {0};
    for (uint32_t set = 0; set < run->set_count; set++) {
        for (uint32_t i = 0; i < run->plan.buffer_count; i++) {
            const struct kernel_buffer *buffer = &run->plan.buffers[i];
            if (set > 0 && buffer->shared_by_sets) {
                run->addresses[set][i] = run->addresses[0][i];
                continue;
            }
            enum status status = backend->allocate(backend->state, buffer->bytes, &run->addresses[set][i], &error);
            if (status == STATUS_OK && buffer->role == BUFFER_ROLE_INPUT) {
                struct fill_rule rule = buffer->fill;
                rule.seed += run->options->seed * 1000003 + set * 7919 + i * 104729;
                status = backend->fill(backend->state, run->device->fill_function, &rule, run->addresses[set][i],
                                       buffer->bytes, &error);
            }
            if (status != STATUS_OK) {
                broke(run, status, &error);
                return false;
            }
        }
    }
    return true;
}

static void free_sets(struct run *run)
{
    struct device_backend *backend = &run->device->backend;
    for (uint32_t set = 0; set < run->set_count; set++)
        for (uint32_t i = 0; i < run->plan.buffer_count; i++)
            if (run->addresses[set][i] && (set == 0 || !run->plan.buffers[i].shared_by_sets))
                backend->release(backend->state, run->addresses[set][i]);
    for (uint32_t i = 0; i < run->plan.buffer_count; i++)
        free(run->host[i]);
}

static void make_calls(const struct run *run, uint32_t set, struct device_call *calls)
{
    for (uint32_t s = 0; s < run->plan.stage_count; s++) {
        const struct kernel_stage *stage = &run->plan.stages[s];
        calls[s] = (struct device_call){.function = run->functions[s],
                                        .stage = stage,
                                        .plan = &run->plan,
                                        .set_addresses = run->addresses[set],
                                        .stage_index = s};
        for (uint32_t i = 0; i < stage->argument_count; i++)
            calls[s].arguments[i] = stage->arguments[i].buffer >= 0 ? run->addresses[set][stage->arguments[i].buffer]
                                                                    : (uint64_t)stage->arguments[i].value;
    }
}

/* ---- correctness ------------------------------------------------------------------------------------------------- */

/* Poison, run once, read everything of set 0 back. */
static enum status run_and_read(struct run *run, struct error *error)
{
    struct device_backend *backend = &run->device->backend;
    struct device_call calls[MEASURE_STAGES_MAX];
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < run->plan.buffer_count; i++)
        if (run->plan.buffers[i].role != BUFFER_ROLE_INPUT)
            status = backend->poison(backend->state, run->addresses[0][i], run->plan.buffers[i].bytes, error);
    make_calls(run, 0, calls);
    if (status == STATUS_OK)
        status = backend->run(backend->state, calls, run->plan.stage_count, error);
    for (uint32_t i = 0; status == STATUS_OK && i < run->plan.buffer_count; i++)
        if (run->host[i])
            status =
                backend->read(backend->state, run->addresses[0][i], run->host[i], run->plan.buffers[i].bytes, error);
    return status;
}

static enum status allocate_host(struct run *run, void *references[KERNEL_BUFFERS_MAX], struct error *error)
{
    for (uint32_t i = 0; i < run->plan.buffer_count; i++) {
        const struct kernel_buffer *buffer = &run->plan.buffers[i];
        if (buffer->role == BUFFER_ROLE_SCRATCH)
            continue;
        run->host[i] = malloc(buffer->bytes ? buffer->bytes : 1);
        references[i] = buffer->role == BUFFER_ROLE_INPUT ? run->host[i] : malloc(buffer->bytes ? buffer->bytes : 1);
        if (!run->host[i] || !references[i])
            return error_set(error, STATUS_NO_MEMORY, "no host memory for %llu bytes of %s",
                             (unsigned long long)buffer->bytes, buffer->name);
        if (references[i] != run->host[i])
            memset(references[i], 0xff, buffer->bytes);
    }
    return STATUS_OK;
}

static enum status check_result(struct run *run, bool *right, struct error *error)
{
    void *references[KERNEL_BUFFERS_MAX] = {NULL};
    struct error reason = {0};
    *right = false;
    enum status status = allocate_host(run, references, error);
    if (status == STATUS_OK) {
        enum status ran = run_and_read(run, &reason);
        if (ran != STATUS_OK) {
            broke(run, ran, &reason);
        } else {
            run->plan.definition->reference(&run->plan, references);
            *right = measure_compare(&run->plan, run->host, references, run->options->maximum_error, run->result);
        }
    }
    for (uint32_t i = 0; i < run->plan.buffer_count; i++)
        if (run->plan.buffers[i].role != BUFFER_ROLE_INPUT)
            free(references[i]);
    return status;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* Median and the distribution-free 95 % interval by order statistics (n/2 -+ 0.98 sqrt n). */
static void summarize(struct measure_samples *samples)
{
    double sorted[MEASURE_SAMPLES_MAX];
    uint32_t n = samples->count;
    if (n == 0)
        return;
    memcpy(sorted, samples->us, n * sizeof *sorted);
    sort_doubles(sorted, n);
    samples->median_us = n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
    double low = floor(0.5 * n - 0.98 * sqrt(n)), high = ceil(0.5 * n + 0.98 * sqrt(n));
    uint32_t first = low < 0.0 ? 0 : (uint32_t)low, last = high > n - 1 ? n - 1 : (uint32_t)high;
    samples->confidence_fraction = 0.5 * (sorted[last] - sorted[first]) / samples->median_us;
}

struct timed {
    void *graph; /* NULL: the calls in stream order */
    const struct device_call *calls;
    uint32_t call_count;
    double launches; /* sequences in one sample */
};

static enum status take_one(struct run *run, const struct timed *timed, double *us, struct error *error)
{
    struct device_backend *backend = &run->device->backend;
    enum status status = timed->graph
                             ? backend->graph_time(backend->state, timed->graph, us, error)
                             : backend->stream_time(backend->state, timed->calls, timed->call_count, us, error);
    *us /= timed->launches;
    return status;
}

/* Batches until the median is known well enough or the time is spent; a batch that ended throttled does not count. */
static enum status take_samples(struct run *run, const struct timed *timed, double seconds,
                                struct measure_samples *samples, struct error *error)
{
    struct device_backend *backend = &run->device->backend;
    struct measure_sensors sensors;
    double us = 0.0, start = clock_now_s();
    uint32_t minimum = run->options->minimum_samples < 3 ? 3 : run->options->minimum_samples;
    for (int i = 0; i < 2; i++) {
        enum status status = take_one(run, timed, &us, error);
        if (status != STATUS_OK)
            return status;
    }
    while (samples->count + BATCH <= MEASURE_SAMPLES_MAX) {
        double batch[BATCH] = {0.0};
        for (int i = 0; i < BATCH; i++) {
            enum status status = take_one(run, timed, &batch[i], error);
            if (status != STATUS_OK)
                return status;
        }
        backend->sense(backend->state, &sensors);
        double spent = clock_now_s() - start;
        if (sensors.throttle_reasons & THROTTLE_MASK) {
            run->result->dropped_samples += BATCH;
            if (spent > 4.0 * seconds)
                break;
            continue;
        }
        memcpy(samples->us + samples->count, batch, sizeof batch);
        samples->count += BATCH;
        summarize(samples);
        bool known = samples->count >= minimum && samples->confidence_fraction <= run->options->target_fraction;
        if (known || (spent > seconds && samples->count >= minimum))
            break;
    }
    return STATUS_OK;
}

static enum status time_graph(struct run *run, const struct device_call *calls, uint32_t sequences,
                              struct measure_samples *samples, struct error *error)
{
    struct device_backend *backend = &run->device->backend;
    struct timed timed = {.launches = sequences};
    uint32_t count = sequences * run->plan.stage_count;
    enum status status = backend->graph_create(backend->state, calls, count, &timed.graph, error);
    if (status != STATUS_OK)
        return status;
    status = take_samples(run, &timed, run->options->seconds / 3.0, samples, error);
    backend->graph_free(backend->state, timed.graph);
    return status;
}

/* Sequences in one graph: every set at least once, enough for the events' resolution, within the limit of calls. */
static uint32_t sequences_per_graph(const struct run *run)
{
    uint32_t wanted = run->plan.launches_per_sample ? run->plan.launches_per_sample : 20;
    uint32_t most = GRAPH_CALLS_MAX / run->plan.stage_count;
    if (run->set_count > 1 && !run->plan.launches_per_sample)
        wanted = (wanted + run->set_count - 1) / run->set_count * run->set_count;
    return wanted > most ? most : wanted;
}

static enum status take_times(struct run *run, struct error *error)
{
    struct measure_result *result = run->result;
    uint32_t sequences = sequences_per_graph(run), stages = run->plan.stage_count;
    struct device_call *calls = malloc((size_t)sequences * stages * sizeof *calls);
    if (!calls)
        return error_set(error, STATUS_MISSING, "no host memory for %u launches", sequences);
    enum status status = STATUS_OK;
    result->launches_per_sample = sequences;
    if (run->set_count > 1) {
        for (uint32_t i = 0; i < sequences; i++)
            make_calls(run, i % run->set_count, calls + (size_t)i * stages);
        status = time_graph(run, calls, sequences, &result->cold, error);
    }
    for (uint32_t i = 0; i < sequences; i++)
        make_calls(run, 0, calls + (size_t)i * stages);
    if (status == STATUS_OK)
        status = time_graph(run, calls, sequences, &result->warm, error);
    struct timed single = {.calls = calls, .call_count = stages, .launches = 1.0};
    if (run->plan.launches_per_sample) { /* a chain of launches is the very question */
        single.call_count = sequences * stages;
        single.launches = sequences;
    }
    if (status == STATUS_OK)
        status = take_samples(run, &single, run->options->seconds / 3.0, &result->single, error);
    free(calls);
    return status;
}

/* The clocks of an idle GPU are low: keep it busy with the very launches that are measured next. */
static enum status warm_up(struct run *run, struct error *error)
{
    struct device_backend *backend = &run->device->backend;
    struct device_call calls[MEASURE_STAGES_MAX];
    double start = clock_now_s(), us = 0.0;
    make_calls(run, 0, calls);
    do {
        enum status status = backend->stream_time(backend->state, calls, run->plan.stage_count, &us, error);
        if (status != STATUS_OK)
            return status;
    } while (backend->needs_code && clock_now_s() - start < WARM_UP_S);
    return STATUS_OK;
}

void measure_timeline_release(struct measure_timeline *timeline)
{
    free(timeline->ctas);
    *timeline = (struct measure_timeline){0};
}

bool measure_kernel_has_timeline(const struct measure_kernel *kernel)
{
    return measure_definition_of(kernel)->timeline != NULL;
}

static enum status keep_timeline(const struct run *run, struct error *error)
{
    const struct kernel_stage *stage = &run->plan.stages[0];
    struct measure_timeline *timeline = run->options->timeline;
    size_t count = (size_t)stage->grid_x * stage->grid_y;
    if (!timeline || !run->plan.definition->timeline)
        return STATUS_OK;
    measure_timeline_release(timeline);
    timeline->ctas = calloc(count, sizeof *timeline->ctas);
    if (!timeline->ctas)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the timeline of %zu CTAs", count);
    timeline->count = count;
    run->plan.definition->timeline(&run->plan, run->host, timeline->ctas);
    return STATUS_OK;
}

/* What a row's time is: cold, or warm where inputs do not rotate. One does not stand in for the other. */
static bool has_times(const struct run *run)
{
    return run->plan.in_kernel_clock || (run->set_count > 1 ? run->result->cold.count : run->result->warm.count) > 0;
}

static enum status measure_times(struct run *run, struct error *failure)
{
    struct device_backend *backend = &run->device->backend;
    struct error error = {0};
    enum status status = warm_up(run, &error);
    backend->sense(backend->state, &run->result->before);
    if (status == STATUS_OK && run->plan.in_kernel_clock)
        status = run_and_read(run, &error);
    else if (status == STATUS_OK)
        status = take_times(run, &error);
    backend->sense(backend->state, &run->result->after);
    if (status != STATUS_OK) {
        broke(run, status, &error);
        return STATUS_OK;
    }
    if (!has_times(run)) { /* says nothing of the configuration */
        measure_result_end(run->result, MEASURE_OUTCOME_NOT_TRIED, "the GPU was throttled in all samples of its time");
        return STATUS_OK;
    }
    if (run->plan.definition->report)
        run->plan.definition->report(&run->plan, run->host, run->result);
    return keep_timeline(run, failure);
}

enum status measure_run(struct measure_device *device, const struct measure_config *config,
                        const struct measure_options *options, struct measure_result *result, struct error *error)
{
    const struct measure_facts *facts = &device->backend.facts;
    measure_result_init(result);
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a run");
    run->device = device;
    run->config = *config;
    run->options = options;
    run->result = result;
    enum status status = STATUS_OK;
    bool ready = measure_plan_make(&run->plan, &run->config, facts, facts->cc_major * 10 + facts->cc_minor, result);
    ready = ready && (!device->backend.needs_code || load_code(run, &run->config));
    if (ready)
        note_compiler(result, &device->code);
    ready = ready && prepare_stages(run);
    if (ready) {
        bool right = false;
        run->set_count = wanted_sets(run);
        result->input_sets = run->set_count;
        if (allocate_sets(run))
            status = check_result(run, &right, error);
        if (status == STATUS_OK && right && !options->check_only)
            status = measure_times(run, error);
    }
    free_sets(run);
    free(run);
    return status;
}
