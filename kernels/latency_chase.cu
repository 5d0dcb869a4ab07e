// SPDX-License-Identifier: GPL-3.0-or-later
// How long does one load take? One thread follows a chain of indices through SMEM, L1, L2 or DRAM.
// -D: SPACE (0 SMEM, 1 global through L1, 2 global past L1).
extern "C" __global__ void latency_chase(const unsigned *chain, unsigned smem_words, unsigned warm_hops, unsigned hops,
                                         unsigned *last, long long *cycles)
{
    extern __shared__ unsigned smem[];
    unsigned at = 0;
#if SPACE == 0
    unsigned base = (unsigned)__cvta_generic_to_shared(smem);
    for (unsigned i = threadIdx.x; i < smem_words; i += blockDim.x)
        smem[i] = base + 4 * chain[i]; // addresses, so that the chain is loads and nothing else
    at = base;
    __syncthreads();
#endif
    if (threadIdx.x != 0)
        return;
    long long start = 0;
    for (int pass = 0; pass < 2; pass++) {
        unsigned count = pass ? hops : warm_hops;
        start = clock64();
#pragma unroll 8
        for (unsigned i = 0; i < count; i++) {
#if SPACE == 0
            asm volatile("ld.shared.u32 %0, [%1];" : "=r"(at) : "r"(at) : "memory");
#elif SPACE == 1
            asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(chain + at) : "memory");
#else
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(chain + at) : "memory");
#endif
        }
        if (at == 0xffffffffu) // never: keeps the last load before the clock
            last[1] = at;
    }
    *cycles = clock64() - start;
#if SPACE == 0
    at = (at - base) / 4;
#endif
    *last = at;
}
