/* SPDX-License-Identifier: GPL-3.0-or-later
 * Time of one call of the occupancy hot path on launches drawn at random before the clock starts. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"
#include "evidence/device_catalogue.h"
#include "model/predict/occupancy.h"

enum {
    LAUNCHES = 4096,
    ROUNDS = 2000
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(const struct gpu_limits *limits, int32_t carveout_percent)
{
    static struct kernel_launch launches[LAUNCHES];
    struct random_stream stream;
    random_init(&stream, 1, 1);
    for (int i = 0; i < LAUNCHES; i++)
        launches[i] = (struct kernel_launch){.grid_ctas = 1000,
                                             .threads = 32 * (1 + random_below(&stream, 16)),
                                             .registers_per_thread = 16 + random_below(&stream, 200),
                                             .dynamic_smem_bytes = random_below(&stream, 65536),
                                             .barriers = 1,
                                             .cluster_ctas = 1,
                                             .carveout_percent = carveout_percent};
    uint64_t sum = 0;
    double begin = seconds_now();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < LAUNCHES; i++)
            sum += occupancy_ctas_per_sm(limits, &launches[i]);
    double nanoseconds = 1e9 * (seconds_now() - begin) / ((double)ROUNDS * LAUNCHES);
    printf("occupancy hot path, cc %u.%u, carve-out %s: %.1f ns per launch (limit 15 ns; mean %.2f CTAs)\n",
           limits->cc_major, limits->cc_minor, carveout_percent < 0 ? "default" : "50 %", nanoseconds,
           (double)sum / ((double)ROUNDS * LAUNCHES));
}

int main(void)
{
    struct device_catalogue *catalogue = NULL;
    struct error error = {0};
    if (device_catalogue_create(&catalogue, &error) != STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return EXIT_FAILURE;
    }
    static const char *const names[] = {"sm_90", "sm_120"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct gpu_device *device = NULL;
        if (device_catalogue_find(catalogue, names[i], &device, &error) != STATUS_OK) {
            fprintf(stderr, "%s\n", error.text);
            device_catalogue_free(catalogue);
            return EXIT_FAILURE;
        }
        measure(&device->limits, CARVEOUT_DEFAULT);
        measure(&device->limits, 50);
    }
    device_catalogue_free(catalogue);
    return EXIT_SUCCESS;
}
