// SPDX-License-Identifier: GPL-3.0-or-later
// How many bytes per cycle come out of SMEM? -D: MODE (0 ld.shared.v4, 1 ldmatrix.x4, 2 ld.shared.u32 with STRIDE words
// between lanes: bank conflicts), STRIDE. Plain loads that repeat would be taken out of the loop, hence volatile ones.
#include "kernels/device_parts.cuh"

extern "C" __global__ void smem_bandwidth(const u32 *in, int iterations, u32 *sums, long long *cycles)
{
    extern __shared__ u32 smem[];
    u32 words = blockDim.x * 16 * STRIDE;
    for (u32 i = threadIdx.x; i < words; i += blockDim.x)
        smem[i] = in[i];
    __syncthreads();
    u32 base = smem_address(smem), sum = 0;
    u32 unit = MODE == 2 ? 4 * STRIDE : 16; // bytes between neighbouring threads
    long long start = clock64();
#pragma unroll 1
    for (int i = 0; i < iterations; i++) {
#pragma unroll
        for (int u = 0; u < 4; u++) {
            u32 address = base + (threadIdx.x + u * blockDim.x) * unit;
#if MODE == 2
            u32 v;
            asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(address));
            sum += v;
#elif MODE == 1
            u32 v[4];
            ldmatrix4(v, address);
            sum += (v[0] + v[1]) + (v[2] + v[3]);
#else
            u32 v[4];
            asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                         : "r"(address));
            sum += (v[0] + v[1]) + (v[2] + v[3]);
#endif
        }
    }
    __syncthreads();
    long long stop = clock64();
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = stop - start;
}
