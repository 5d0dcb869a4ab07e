/* SPDX-License-Identifier: GPL-3.0-or-later
 * Events per second of the CTA simulator on one core: a gather kernel of two products on the invented device, in
 * several waves. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "sim/cta_simulator.h"
#include "tests/support/fixture_device.h"

enum {
    REPEATS = 7
};

static struct kernel_case case_of_bench(void)
{
    struct kernel_case kernel = {.name = "bench"};
    kernel.launch = (struct kernel_launch){.grid_ctas = 3000,
                                           .threads = 128,
                                           .registers_per_thread = 100,
                                           .dynamic_smem_bytes = 20000,
                                           .barriers = 1,
                                           .cluster_ctas = 1,
                                           .carveout_percent = CARVEOUT_DEFAULT};
    kernel.loop.iterations = 64;
    kernel.loop.buffers = 3;
    kernel.loop.gather = (struct tile_load){.rows = 16,
                                            .row_bytes = 576,
                                            .index_dependent = true,
                                            .pipelined = true,
                                            .exposures = 1,
                                            .distinct_fraction = 0.5};
    kernel.loop.mma_count = 2;
    kernel.loop.mma[0] = (struct mma_op){.m = 32, .n = 16, .k = 512, .count = 1, .format = NUMBER_FORMAT_BF16};
    kernel.loop.mma[1] = (struct mma_op){.m = 32, .n = 512, .k = 16, .count = 1, .format = NUMBER_FORMAT_BF16};
    kernel.loop.fp32_ops = 40000;
    kernel.loop.special_ops = 512;
    kernel.loop.smem_bytes = 16384;
    kernel.loop.barriers = 2;
    kernel.loop.epilogue_bytes = 32768;
    return kernel;
}

int main(void)
{
    struct gpu_device device;
    struct model_parameters parameters;
    struct simulated_machine machine;
    struct error error = {0};
    struct cta_simulation result;
    struct layer_case layer = {.kernel_count = 1};
    const struct cta_simulation_options options = {.seed = 1, .jitter = 0.05};
    double best = 0;
    layer.kernels[0] = case_of_bench();
    fixture_device_init(&device);
    model_parameters_init(&parameters);
    if (simulated_machine_init(&machine, &device, &parameters, &error) != STATUS_OK) {
        fprintf(stderr, "bench_simulator: %s\n", error.text);
        return 1;
    }
    for (int i = 0; i < REPEATS; i++) {
        const double begin = clock_now_s();
        if (cta_simulate(&machine, &layer, &options, &result, &error) != STATUS_OK) {
            fprintf(stderr, "bench_simulator: %s\n", error.text);
            return 1;
        }
        const double rate = (double)result.events / (clock_now_s() - begin);
        best = rate > best ? rate : best;
    }
    printf("CTA simulator, one core: %.1f million events per second over %llu events (limit 5)\n", best / 1e6,
           (unsigned long long)result.events);
    return 0;
}
