// SPDX-License-Identifier: GPL-3.0-or-later
// Small kernels whose counts per turn are worked out by hand in tests/unit/test_code_profile.c. The .ptx files beside it
// are what nvcc 13.0 makes of it: nvcc -ptx -arch=sm_90a -o loops_sm90a.ptx loops.cu, and sm_120a.
#include <cstdint>

// 16 bytes in, 16 bytes out per thread and turn.
extern "C" __global__ void __launch_bounds__(256) copy(const float4 *in, float4 *out, int n)
{
#pragma unroll 1
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 65536) {
        out[i] = in[i];
    }
}

// A row number, then four floats of that row per thread: 32 threads share one number.
extern "C" __global__ void __launch_bounds__(128)
    gather(const int *__restrict__ rows, const float4 *__restrict__ table, float4 *out, int n)
{
    float4 sum = {0, 0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < n; i += 4) {
        const int row = rows[i + (threadIdx.x >> 5)];
        const float4 value = table[row * 32 + (threadIdx.x & 31)];
        sum.x += value.x;
        sum.y += value.y;
        sum.z += value.z;
        sum.w += value.w;
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}

__device__ __forceinline__ void copy_async(uint32_t to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// Three buffers of 2 KiB, filled two turns ahead; each turn two products onto two accumulators.
extern "C" __global__ void __launch_bounds__(128) pipeline3(const uint4 *in, float *out, int turns)
{
    __shared__ uint4 tiles[3][128];
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(tiles) + threadIdx.x * 16;
    float c[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int fill = 2, use = 0;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        copy_async(base + i * 2048, in + i * 128 + threadIdx.x);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        copy_async(base + fill * 2048, in + (turn + 2) * 128 + threadIdx.x);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        uint32_t a0, a1, a2, a3;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3)
                     : "r"(base + use * 2048));
#pragma unroll
        for (int i = 0; i < 2; i++) {
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                         "{%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(c[4 * i]), "+f"(c[4 * i + 1]), "+f"(c[4 * i + 2]), "+f"(c[4 * i + 3])
                         : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(a0), "r"(a1));
        }
        __syncthreads();
        fill = fill + 1 == 3 ? 0 : fill + 1;
        use = use + 1 == 3 ? 0 : use + 1;
    }
    for (int i = 0; i < 8; i++) {
        out[i * 128 + threadIdx.x] = c[i];
    }
}

// A tile into shared memory, then a loop of 16 turns over it: the inner one is part of each outer turn.
extern "C" __global__ void __launch_bounds__(64) nested(const float *in, float *out, int tiles)
{
    __shared__ float tile[64];
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < tiles; i++) {
        tile[threadIdx.x] = in[i * 64 + threadIdx.x];
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < 16; k++) {
            sum += tile[(threadIdx.x + k) & 63];
        }
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// Four source iterations per turn; the compiler adds a loop for the rest.
extern "C" __global__ void __launch_bounds__(32) unrolled(const float *in, float *out, int n)
{
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++) {
        sum += in[i];
    }
    out[threadIdx.x] = sum;
}

// An array that stays in local memory: one load, one store and one more load of it per turn.
extern "C" __global__ void __launch_bounds__(32) spill(const int *__restrict__ where, float *out, int n)
{
    float kept[16];
    for (int i = 0; i < 16; i++) {
        kept[i] = i;
    }
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const int to = where[i] & 15;
        kept[to] = kept[to] + exp2f(kept[(to + 1) & 15]);
    }
    float sum = 0;
    for (int i = 0; i < 16; i++) {
        sum += kept[i];
    }
    out[threadIdx.x] = sum;
}

#if __CUDA_ARCH__ == 900
// Tiles by bulk copy onto an mbarrier; a warpgroup multiplies 64 x 64 x 32 from shared memory.
extern "C" __global__ void __launch_bounds__(128) warpgroup(const char *in, float *out, int turns)
{
    extern __shared__ __align__(128) char tiles[];
    __shared__ __align__(8) uint64_t full[2];
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(tiles);
    const uint32_t barrier = (uint32_t)__cvta_generic_to_shared(full);
    float c[32];
#pragma unroll
    for (int i = 0; i < 32; i++) {
        c[i] = 0;
    }
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier + 8) : "memory");
    }
    __syncthreads();
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        const uint32_t slot = turn & 1, at = base + slot * 8192;
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 8192;" ::"r"(barrier + 8 * slot)
                         : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 8192, [%2];" ::"r"(
                             at),
                         "l"(in + turn * 8192), "r"(barrier + 8 * slot)
                         : "memory");
        }
        asm volatile("{\n .reg .pred done;\n WAIT:\n mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                     " @done bra DONE;\n bra WAIT;\n DONE:\n }" ::"r"(barrier + 8 * slot),
                     "r"((turn >> 1) & 1)
                     : "memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const uint64_t a = 0x4000004000010000ull | ((at >> 4) + 2 * k), b = a + 256;
            asm volatile("{\n .reg .pred add;\n setp.ne.b32 add, 1, 0;\n"
                         "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                         "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
                         "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, add, 1, 1, 0, 0;\n}"
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
                           "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]),
                           "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]),
                           "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]),
                           "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
                         : "l"(a), "l"(b));
        }
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 32; i++) {
        out[i * 128 + threadIdx.x] = c[i];
    }
}
#endif

#if __CUDA_ARCH__ == 1200
// fp8 products of cc 12.0.
extern "C" __global__ void __launch_bounds__(32) narrow(const uint4 *in, float4 *out, int turns)
{
    float4 c = {0, 0, 0, 0};
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        const uint4 a = in[turn * 32 + threadIdx.x];
        asm volatile("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};"
                     : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                     : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w));
    }
    out[threadIdx.x] = c;
}
#endif
