// SPDX-License-Identifier: GPL-3.0-or-later
// Where and when does every CTA run? Each CTA writes its SM and its start and stop, and stays for hold_ns.
// -D: PAD (32-bit values kept alive), STATIC_SMEM (bytes).
typedef unsigned long long u64;

__device__ static u64 global_ns()
{
    u64 ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

extern "C" __global__ void wave_probe(u64 *records, u64 hold_ns, unsigned *written, int keep)
{
    extern __shared__ unsigned dynamic_smem[];
#if STATIC_SMEM > 0
    __shared__ unsigned static_smem[(STATIC_SMEM + 3) / 4];
    asm volatile("" ::"l"(static_smem) : "memory");
#endif
    unsigned kept[PAD + 1];
#pragma unroll
    for (int i = 0; i <= PAD; i++)
        asm volatile("mov.u32 %0, %%clock;" : "=r"(kept[i]));
    asm volatile("" ::"l"(dynamic_smem) : "memory");
    __syncthreads();
    u64 start_ns = global_ns();
    long long start_clock = clock64();
    if (threadIdx.x == 0)
        while (global_ns() - start_ns < hold_ns)
            ;
    __syncthreads();
    if (keep) { // never: the values must stay in registers until here
#pragma unroll
        for (int i = 0; i <= PAD; i++)
            records[i] = kept[i];
    }
    if (threadIdx.x == 0) {
        unsigned sm;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        u64 *record = records + 5 * (u64)blockIdx.x;
        record[0] = sm;
        record[1] = (u64)start_clock;
        record[2] = (u64)clock64();
        record[3] = start_ns;
        record[4] = global_ns();
        written[blockIdx.x] = blockIdx.x;
    }
}
