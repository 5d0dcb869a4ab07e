/* SPDX-License-Identifier: GPL-3.0-or-later
 * What measure.c needs from a device: a struct of functions with two implementations, the CUDA driver and a fake one.
 */
#ifndef OCCAM_KERNELS_DEVICE_BACKEND_H
#define OCCAM_KERNELS_DEVICE_BACKEND_H

#include "kernels/kernel_plan.h"

/* One kernel launch. plan, set_addresses and stage_index are what a fake device computes from. */
struct device_call {
    void *function;
    const struct kernel_stage *stage;
    uint64_t arguments[KERNEL_ARGUMENTS_MAX];
    const struct kernel_plan *plan;
    const uint64_t *set_addresses; /* KERNEL_BUFFERS_MAX addresses of the input set */
    uint32_t stage_index;
};

/* Addresses are the device's own. Every function returns STATUS_OK, STATUS_NO_MEMORY (device memory), STATUS_IO (the
 * device refused or broke) or STATUS_MISSING (nothing of the device: the host fell short), with the reason in *error.
 */
struct device_backend {
    void *state;
    struct measure_facts facts;
    bool needs_code; /* false: load is never called and functions are NULL */
    void (*close)(void *state);
    enum status (*load)(void *state, const void *image, size_t image_bytes, void **module, struct error *error);
    void (*unload)(void *state, void *module);
    enum status (*find_function)(void *state, void *module, const char *entry, void **function, struct error *error);
    /* Raises the dynamic SMEM limit, then fills registers, static SMEM, local bytes and driver_ctas_per_sm. */
    enum status (*prepare)(void *state, void *function, const struct kernel_stage *stage,
                           struct measure_resources *resources, struct error *error);
    enum status (*allocate)(void *state, uint64_t bytes, uint64_t *address, struct error *error);
    void (*release)(void *state, uint64_t address);
    enum status (*read)(void *state, uint64_t address, void *out, uint64_t bytes, struct error *error);
    enum status (*poison)(void *state, uint64_t address, uint64_t bytes, struct error *error); /* every byte 0xff */
    enum status (*fill)(void *state, void *fill_function, const struct fill_rule *rule, uint64_t address,
                        uint64_t bytes, struct error *error);
    /* Launches the calls in order and waits. */
    enum status (*run)(void *state, const struct device_call *calls, uint32_t count, struct error *error);
    /* A graph of the calls, each after the one before; *graph is freed by graph_free. */
    enum status (*graph_create)(void *state, const struct device_call *calls, uint32_t count, void **graph,
                                struct error *error);
    /* One replay; its duration by events. */
    enum status (*graph_time)(void *state, void *graph, double *us, struct error *error);
    void (*graph_free)(void *state, void *graph);
    /* The calls in stream order between two events. */
    enum status (*stream_time)(void *state, const struct device_call *calls, uint32_t count, double *us,
                               struct error *error);
    void (*sense)(void *state, struct measure_sensors *sensors);
};

MUST_CHECK enum status cuda_backend_open(unsigned index, struct device_backend *backend, struct error *error);
MUST_CHECK enum status fake_backend_open(const struct measure_fake_plan *plan, struct device_backend *backend,
                                         struct error *error);

#endif
