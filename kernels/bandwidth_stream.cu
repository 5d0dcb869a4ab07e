// SPDX-License-Identifier: GPL-3.0-or-later
// How many bytes per second go by in order? Grid-stride reads, writes or copies of 4, 8 or 16 bytes per lane.
// -D: MODE (0 read, 1 write, 2 copy), LANE_BYTES, UNROLL (independent loads per thread before the first use).
#include "kernels/device_parts.cuh"

#if LANE_BYTES == 16
typedef uint4 lane_word;
[[maybe_unused]] __device__ static unsigned fold(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
__device__ static uint4 spread(unsigned s) { return make_uint4(s, s, s, s); }
#elif LANE_BYTES == 8
typedef uint2 lane_word;
[[maybe_unused]] __device__ static unsigned fold(uint2 v) { return v.x ^ v.y; }
__device__ static uint2 spread(unsigned s) { return make_uint2(s, s); }
#else
typedef unsigned lane_word;
[[maybe_unused]] __device__ static unsigned fold(unsigned v) { return v; }
__device__ static unsigned spread(unsigned s) { return s; }
#endif

extern "C" __global__ void bandwidth_stream(const lane_word *in, lane_word *out, unsigned long long words,
                                            unsigned *sums)
{
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
#if MODE == 0
    unsigned sum = 0;
#endif
    for (; i < words; i += UNROLL * step) {
#if MODE != 1
        lane_word v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            v[u] = i + u * step < words ? in[i + u * step] : spread(0);
#endif
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
#if MODE == 0
            sum ^= fold(v[u]);
#elif MODE == 1
            if (i + u * step < words)
                out[i + u * step] = spread((unsigned)(i + u * step));
#else
            if (i + u * step < words)
                out[i + u * step] = v[u];
#endif
        }
    }
#if MODE == 0
    store_sum(sum, sums);
#else
    if (threadIdx.x == 0)
        sums[blockIdx.x] = 0;
#endif
}
