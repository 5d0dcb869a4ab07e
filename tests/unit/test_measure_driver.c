/* SPDX-License-Identifier: GPL-3.0-or-later
 * Our own declarations of the CUDA driver against NVIDIA's header, where that is installed. */
#include <check.h>
#include <stdio.h>

#if OCCAM_WITH_CUDA_OCCUPANCY
#include <cuda.h>
#include <stddef.h>

#include "kernels/cuda_driver.h"
#endif

Suite *suite_measure_driver(void);

#if OCCAM_WITH_CUDA_OCCUPANCY
START_TEST(constants_agree)
{
    static const struct {
        int ours, theirs;
    } pairs[] = {
        {CUDA_RESULT_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY},
        {CUDA_DEVICE_ATTRIBUTE_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
        {CUDA_DEVICE_ATTRIBUTE_SM_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {CUDA_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
        {CUDA_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
        {CUDA_DEVICE_ATTRIBUTE_CC_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
        {CUDA_DEVICE_ATTRIBUTE_CC_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
        {CUDA_DEVICE_ATTRIBUTE_SMEM_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
        {CUDA_DEVICE_ATTRIBUTE_SMEM_PER_CTA_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
        {CUDA_FUNCTION_ATTRIBUTE_STATIC_SMEM, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
        {CUDA_FUNCTION_ATTRIBUTE_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
        {CUDA_FUNCTION_ATTRIBUTE_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS},
        {CUDA_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SMEM, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
        {CUDA_FUNCTION_ATTRIBUTE_CARVEOUT, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT},
        {CUDA_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED},
        {CUDA_LAUNCH_ATTRIBUTE_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
        {CUDA_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        ck_assert_msg(pairs[i].ours == pairs[i].theirs, "row %zu: %d, the header says %d", i, pairs[i].ours,
                      pairs[i].theirs);
}
END_TEST

START_TEST(structs_agree)
{
    ck_assert_uint_eq(sizeof(struct cuda_launch_config), sizeof(CUlaunchConfig));
    ck_assert_uint_eq(offsetof(struct cuda_launch_config, block_x), offsetof(CUlaunchConfig, blockDimX));
    ck_assert_uint_eq(offsetof(struct cuda_launch_config, dynamic_smem_bytes),
                      offsetof(CUlaunchConfig, sharedMemBytes));
    ck_assert_uint_eq(offsetof(struct cuda_launch_config, stream), offsetof(CUlaunchConfig, hStream));
    ck_assert_uint_eq(offsetof(struct cuda_launch_config, attributes), offsetof(CUlaunchConfig, attrs));
    ck_assert_uint_eq(offsetof(struct cuda_launch_config, attribute_count), offsetof(CUlaunchConfig, numAttrs));
    ck_assert_uint_eq(sizeof(struct cuda_launch_attribute), sizeof(CUlaunchAttribute));
    ck_assert_uint_eq(offsetof(struct cuda_launch_attribute, value), offsetof(CUlaunchAttribute, value));
    ck_assert_uint_eq(sizeof(struct cuda_uuid), sizeof(CUuuid));
    ck_assert_uint_eq(sizeof(cuda_address), sizeof(CUdeviceptr));
}
END_TEST
#else
START_TEST(nothing_to_compare)
{
    printf("skipped: suite_measure_driver: cuda.h is not here\n");
}
END_TEST
#endif

Suite *suite_measure_driver(void)
{
    Suite *suite = suite_create("measure_driver");
    TCase *tcase = tcase_create("all");
#if OCCAM_WITH_CUDA_OCCUPANCY
    tcase_add_test(tcase, constants_agree);
    tcase_add_test(tcase, structs_agree);
#else
    tcase_add_test(tcase, nothing_to_compare);
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}
