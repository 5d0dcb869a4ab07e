/* SPDX-License-Identifier: GPL-3.0-or-later
 * Differential test: our occupancy against NVIDIA's own calculator, cuda_occupancy.h, where the toolkit is installed.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "evidence/device_catalogue.h"
#include "model/predict/occupancy.h"

Suite *suite_occupancy_cuda(void);

#if defined(__has_include)
#if __has_include(<cuda_occupancy.h>)
#define HAVE_CUDA_OCCUPANCY_HEADER 1
#endif
#endif

#ifdef HAVE_CUDA_OCCUPANCY_HEADER

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop

static const char *const CC_NAMES[] = {"sm_70", "sm_75",  "sm_80",  "sm_86",  "sm_87",  "sm_89",
                                       "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
enum {
    CC_COUNT = sizeof CC_NAMES / sizeof CC_NAMES[0]
};

/* C users of the header must fill everything in: zeros would mean a carve-out of 0 %, the 48 KiB limit, a largest
 * dynamic SMEM of 0 and no barrier limit. */
static cudaOccDeviceProp device_properties(const struct gpu_limits *limits)
{
    cudaOccDeviceProp properties = {0};
    properties.computeMajor = (int)limits->cc_major;
    properties.computeMinor = (int)limits->cc_minor;
    properties.maxThreadsPerBlock = (int)limits->max_threads_per_cta;
    properties.maxThreadsPerMultiprocessor = (int)limits->max_warps_per_sm * 32;
    properties.regsPerBlock = (int)limits->max_registers_per_cta;
    properties.regsPerMultiprocessor = (int)limits->registers_per_sm;
    properties.warpSize = 32;
    properties.sharedMemPerBlock = limits->smem_per_cta_default_bytes;
    properties.sharedMemPerMultiprocessor = limits->smem_per_sm_bytes;
    properties.numSms = 1;
    properties.sharedMemPerBlockOptin = limits->smem_per_cta_optin_bytes;
    properties.reservedSharedMemPerBlock = limits->smem_reserved_per_cta_bytes;
    return properties;
}

static cudaOccFuncAttributes function_attributes(const struct gpu_limits *limits, const struct kernel_launch *launch)
{
    cudaOccFuncAttributes attributes = {0};
    attributes.maxThreadsPerBlock = 1024;
    attributes.numRegs = (int)launch->registers_per_thread;
    attributes.sharedSizeBytes = launch->static_smem_bytes;
    attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    attributes.maxDynamicSharedSizeBytes = limits->smem_per_cta_optin_bytes;
    attributes.numBlockBarriers = (int)launch->barriers;
    return attributes;
}

static int expected_limit(int header_limit)
{
    return header_limit == INT_MAX ? OCCUPANCY_NO_LIMIT : header_limit;
}

static void compare_one(const struct gpu_limits *limits, const cudaOccDeviceProp *properties,
                        const struct kernel_launch *launch)
{
    cudaOccFuncAttributes attributes = function_attributes(limits, launch);
    cudaOccDeviceState state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = launch->carveout_percent};
    cudaOccResult theirs;
    struct occupancy ours;
    cudaOccError status = cudaOccMaxActiveBlocksPerMultiprocessor(
        &theirs, properties, &attributes, &state, (int)launch->threads, (size_t)launch->dynamic_smem_bytes);
    occupancy_compute(limits, launch, &ours);
    uint32_t hot = occupancy_ctas_per_sm(limits, launch);
    bool equal = status == CUDA_OCC_SUCCESS && (int)ours.ctas_per_sm == theirs.activeBlocksPerMultiprocessor &&
                 (int)hot == theirs.activeBlocksPerMultiprocessor && ours.limit_warps == theirs.blockLimitWarps &&
                 ours.limit_ctas == theirs.blockLimitBlocks &&
                 ours.limit_registers == expected_limit(theirs.blockLimitRegs) &&
                 ours.limit_smem == expected_limit(theirs.blockLimitSharedMem) &&
                 ours.limit_barriers == expected_limit(theirs.blockLimitBarriers) &&
                 ours.smem_allocated_bytes == theirs.allocatedSharedMemPerBlock &&
                 (int)ours.registers_allocated_per_cta == theirs.allocatedRegistersPerBlock;
    if (!equal) /* formatting 3 million messages would take longer than the comparison */
        ck_abort_msg("cc %u.%u: %u threads, %u registers, %u + %llu bytes, %u barriers, carve-out %d: %u (hot %u), "
                     "cuda_occupancy.h says %d (status %d)",
                     limits->cc_major, limits->cc_minor, launch->threads, launch->registers_per_thread,
                     launch->static_smem_bytes, (unsigned long long)launch->dynamic_smem_bytes, launch->barriers,
                     (int)launch->carveout_percent, ours.ctas_per_sm, hot, theirs.activeBlocksPerMultiprocessor,
                     (int)status);
}

/* Threads off the warp boundary, all register classes, SMEM steps that meet granularities and limits from both sides.
 * The grid steps and offsets are coprime so that the four dimensions do not move in lockstep. */
static long compare_grid(const struct gpu_limits *limits, const cudaOccDeviceProp *properties)
{
    static const int32_t carveouts[] = {CARVEOUT_DEFAULT, 0, 1, 7, 16, 31, 32, 39, 50, 61, 62, 77, 99, 100};
    static const uint32_t statics[] = {0, 1, 900, 1024, 4097};
    long count = 0;
    uint32_t smem_top = limits->smem_per_cta_optin_bytes + 2048;
    for (uint32_t threads = 1; threads <= 1056; threads += 13)
        for (uint32_t registers = 0; registers <= 255; registers += 7)
            for (uint32_t k = 0; k < 128; k++) {
                struct kernel_launch launch = {
                    .grid_ctas = 1, .threads = threads, .registers_per_thread = registers, .cluster_ctas = 1};
                uint32_t step = (uint32_t)count;
                launch.carveout_percent = step % 3 == 0 ? CARVEOUT_DEFAULT : carveouts[step / 3 % 14];
                launch.static_smem_bytes = statics[step / 5 % 5];
                launch.barriers = step / 7 % 2 == 0 ? 1 : 1 + step / 11 % 16;
                launch.dynamic_smem_bytes = k == 0 ? 0 : (uint64_t)(k * 3469u + step % 127u) % smem_top;
                compare_one(limits, properties, &launch);
                count++;
            }
    return count;
}

/* Every byte size around each boundary of the SMEM rule, for each carve-out percent. */
static long compare_smem_edges(const struct gpu_limits *limits, const cudaOccDeviceProp *properties)
{
    long count = 0;
    for (int32_t percent = CARVEOUT_DEFAULT; percent <= 100; percent++)
        for (uint32_t size = 0; size < limits->carveout_count; size++)
            for (uint32_t ctas = 1; ctas <= 3; ctas++)
                for (int offset = -130; offset <= 130; offset += offset < -2 || offset > 0 ? 64 : 1) {
                    long bytes = (long)limits->carveout_kib[size] * 1024 / ctas -
                                 (long)limits->smem_reserved_per_cta_bytes + offset;
                    if (bytes < 0)
                        continue;
                    struct kernel_launch launch = {.grid_ctas = 1,
                                                   .threads = 32,
                                                   .registers_per_thread = 16,
                                                   .dynamic_smem_bytes = (uint64_t)bytes,
                                                   .barriers = 1,
                                                   .cluster_ctas = 1,
                                                   .carveout_percent = percent};
                    compare_one(limits, properties, &launch);
                    count++;
                }
    return count;
}

START_TEST(equals_cuda_occupancy_header)
{
    struct device_catalogue *catalogue = NULL;
    struct error error = {0};
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s", error.text);
    long count = 0;
    for (size_t i = 0; i < CC_COUNT; i++) {
        const struct gpu_device *device = NULL;
        ck_assert_msg(device_catalogue_find(catalogue, CC_NAMES[i], &device, &error) == STATUS_OK, "%s", error.text);
        cudaOccDeviceProp properties = device_properties(&device->limits);
        if (getenv("TEST_QUICK") == NULL)
            count += compare_grid(&device->limits, &properties);
        count += compare_smem_edges(&device->limits, &properties);
    }
    device_catalogue_free(catalogue);
    printf("occupancy: %ld configurations equal cuda_occupancy.h\n", count);
    if (getenv("TEST_QUICK") == NULL)
        ck_assert_int_ge(count, 3000000);
}
END_TEST

#else

START_TEST(header_is_absent)
{
    printf("skipped: occupancy_cuda: cuda_occupancy.h is not here (set CUDA_HOME)\n");
    fflush(stdout);
}
END_TEST

#endif

Suite *suite_occupancy_cuda(void)
{
    Suite *suite = suite_create("occupancy_cuda");
    TCase *tcase = tcase_create("all");
#ifdef HAVE_CUDA_OCCUPANCY_HEADER
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, equals_cuda_occupancy_header);
#else
    tcase_add_test(tcase, header_is_absent);
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}
