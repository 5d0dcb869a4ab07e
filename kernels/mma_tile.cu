// SPDX-License-Identifier: GPL-3.0-or-later
// How fast does mma.sync go? Every warp multiplies the same 16x8 tile over and over into ACCUMULATORS accumulators: one is
// a dependent chain, many show the issue rate. -D: FORMAT (0 bf16 16x8x16, 1 e4m3 16x8x32), ACCUMULATORS.
#include "kernels/device_parts.cuh"

extern "C" __global__ void mma_tile(const u32 *a_rows, const u32 *b_columns, int iterations, float *out,
                                    long long *cycles)
{
    int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const u32 *a_tile = a_rows + (warp % 64) * 128, *b_tile = b_columns + (warp % 64) * 64;
    u32 a[4] = {a_tile[group * 8 + place], a_tile[(group + 8) * 8 + place], a_tile[group * 8 + place + 4],
                a_tile[(group + 8) * 8 + place + 4]};
    u32 b0 = b_tile[group * 8 + place], b1 = b_tile[group * 8 + place + 4];
    float d[ACCUMULATORS][4];
#pragma unroll
    for (int n = 0; n < ACCUMULATORS; n++)
        d[n][0] = d[n][1] = d[n][2] = d[n][3] = 0.0f;
    __syncthreads();
    long long start = clock64();
#pragma unroll 1
    for (int i = 0; i < iterations; i += 4) {
#pragma unroll
        for (int n = 0; n < 4 * ACCUMULATORS; n++) {
#if FORMAT == 0
            mma_bf16(d[n % ACCUMULATORS], a, b0, b1);
#else
            mma_e4m3(d[n % ACCUMULATORS], a, b0, b1);
#endif
        }
    }
    __syncthreads();
    long long stop = clock64();
#pragma unroll
    for (int n = 0; n < ACCUMULATORS; n++) {
        float *tile = out + ((u64)warp * ACCUMULATORS + n) * 128;
        tile[group * 8 + 2 * place] = d[n][0];
        tile[group * 8 + 2 * place + 1] = d[n][1];
        tile[(group + 8) * 8 + 2 * place] = d[n][2];
        tile[(group + 8) * 8 + 2 * place + 1] = d[n][3];
    }
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = stop - start;
}
