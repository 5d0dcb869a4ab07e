/* SPDX-License-Identifier: GPL-3.0-or-later
 * The one list of kernels; each is defined in kernels/case_NAME.c. Included by kernel_plan.c and the case files. */
#ifndef OCCAM_KERNELS_KERNEL_CASES_H
#define OCCAM_KERNELS_KERNEL_CASES_H

#include "kernels/kernel_plan.h"

extern const struct kernel_case_definition wave_probe_case, latency_chase_case, bandwidth_stream_case,
    bandwidth_gather_case, mma_tile_case, smem_bandwidth_case, launch_chain_case, barrier_and_exp_case,
    sparse_decode_case, gqa_decode_case, gemm_tile_case;

#define KERNEL_CASES                                                                                                   \
    &wave_probe_case, &latency_chase_case, &bandwidth_stream_case, &bandwidth_gather_case, &mma_tile_case,             \
        &smem_bandwidth_case, &launch_chain_case, &barrier_and_exp_case, &sparse_decode_case, &gqa_decode_case,        \
        &gemm_tile_case

#define SETTINGS_OF(array) .setting_count = sizeof(array) / sizeof *(array), .settings = (array)

#endif
