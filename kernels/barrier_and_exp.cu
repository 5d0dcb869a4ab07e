// SPDX-License-Identifier: GPL-3.0-or-later
// What do a barrier and one exp2 cost? -D: OPERATION (0 __syncthreads, 1 ex2.approx, 2 fma), CHAINS per thread.
extern "C" __global__ void barrier_and_exp(int iterations, float *out, long long *cycles)
{
    float x[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        x[c] = (float)((threadIdx.x + c) % 8) * 0.125f;
    __syncthreads();
    long long start = clock64();
#pragma unroll 32
    for (int i = 0; i < iterations; i++) {
#if OPERATION == 0
        __syncthreads();
#else
#pragma unroll
        for (int c = 0; c < CHAINS; c++) {
#if OPERATION == 1
            asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(x[c]) : "f"(-x[c]));
#else
            asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(x[c]) : "f"(x[c]), "f"(0.5f), "f"(1.0f));
#endif
        }
#endif
    }
    long long stop = clock64();
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum += x[c];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = stop - start;
}
