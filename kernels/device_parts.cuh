// SPDX-License-Identifier: GPL-3.0-or-later
// What several kernels share: mma.sync, ldmatrix, cp.async, tiles in flight, accumulators, online softmax, combining splits.
// The same code runs on sm_80 to sm_120. The measurements in data/ belong to the machine code these texts compile to: what
// still repeats between the kernels (fragment addresses, stores of results) compiles to other code when it is shared.
// Settings are macros in capitals (STAGES, ROWS, ...): no name here may be one of them.
#ifdef MAX_REGISTERS // the compiler's own cap: launch bounds would override it
#define LAUNCH_BOUNDS(...)
#else
#define LAUNCH_BOUNDS(...) __launch_bounds__(__VA_ARGS__)
#endif
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ static inline u32 smem_address(const void *pointer)
{
    return (u32)__cvta_generic_to_shared(pointer);
}

// D += A B, 16x8x16, bf16 in, fp32 accumulate.
__device__ static inline void mma_bf16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#if __CUDA_ARCH__ >= 890
// D += A B, 16x8x32, e4m3 in, fp32 accumulate.
__device__ static inline void mma_e4m3(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

__device__ static inline void ldmatrix4(u32 (&d)[4], u32 address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(address));
}

__device__ static inline void ldmatrix4_transposed(u32 (&d)[4], u32 address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(address));
}

template <int BYTES> __device__ static inline void copy_async(u32 to, const void *from)
{
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
    else if (BYTES == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));
}

// 16 bytes, or zeros where `there` is false: then nothing is read.
__device__ static inline void copy_async_or_zero(u32 to, const void *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0));
}

__device__ static inline void copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int PENDING> __device__ static inline void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// The copies of the first AHEAD tiles, a group each. load(tile, stage) issues the copies of one tile.
template <int AHEAD, class LOAD> __device__ static inline void start_tiles(int tiles, const LOAD &load)
{
    for (int t = 0; t < AHEAD; t++) {
        if (t < tiles)
            load(t, t);
        copy_commit();
    }
}

// Waits for `tile`, which arrives in `stage`, and issues the copies of the one STAGE_COUNT - 1 later. One stage: load, wait,
// use.
template <int STAGE_COUNT, class LOAD>
__device__ static inline void next_tile(int tile, int tiles, int stage, const LOAD &load)
{
    if constexpr (STAGE_COUNT == 1) {
        __syncthreads();
        load(tile, 0);
        copy_commit();
        copy_wait<0>();
        __syncthreads();
    } else {
        copy_wait<STAGE_COUNT - 2>();
        __syncthreads();
        if (tile + STAGE_COUNT - 1 < tiles)
            load(tile + STAGE_COUNT - 1, (stage + STAGE_COUNT - 1) % STAGE_COUNT);
        copy_commit();
    }
}

// Accumulators of neighbouring 16x8 tiles: [0] and [1] lie in row lane / 4, [2] and [3] eight rows below.
template <int TILES> __device__ static inline void clear_tiles(float (&d)[TILES][4])
{
#pragma unroll
    for (int i = 0; i < TILES; i++)
        d[i][0] = d[i][1] = d[i][2] = d[i][3] = 0.0f;
}

template <int TILES> __device__ static inline void scale_tiles(float (&d)[TILES][4], float upper, float lower)
{
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        d[i][0] *= upper;
        d[i][1] *= upper;
        d[i][2] *= lower;
        d[i][3] *= lower;
    }
}

__device__ static inline float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Of normal numbers, to 1 unit in the last place.
__device__ static inline float reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ static inline float log2_fast(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ static inline u32 pack_bf16(float low, float high)
{
    u32 packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

// Over the four lanes that hold one row of an accumulator.
__device__ static inline float row_maximum(float x)
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ static inline float row_total(float x)
{
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// Scores in units of log 2, those of tokens from `valid` on -1e30; `highest` rises to this lane's maxima of its two rows.
// first: the tile of 8 tokens that s begins with.
template <int TILES>
__device__ static inline void mask_scores(float (&s)[TILES][4], int first, int valid, float scale_log2,
                                          float (&highest)[2])
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < TILES; n++) {
        int token = (first + n) * 8 + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            s[n][i] = token + i % 2 < valid ? s[n][i] * scale_log2 : -1e30f;
            highest[i / 2] = fmaxf(highest[i / 2], s[n][i]);
        }
    }
}

// A row's maximum rises to `highest` if that is more; the result is the factor for all that was summed up under the old one.
__device__ static inline float raise_maximum(float highest, float &row_max, float &row_sum)
{
    highest = fmaxf(highest, row_max);
    float factor = exp2_fast(row_max - highest);
    row_sum *= factor;
    row_max = highest;
    return factor;
}

// The softmax weights p of one tile's scores, not yet divided by their sum.
__device__ static inline void weigh_scores(const float (&s)[4], const float (&row_max)[2], float (&row_sum)[2],
                                           float (&p)[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        p[i] = exp2_fast(s[i] - row_max[i / 2]);
        row_sum[i / 2] += p[i];
    }
}

// The splits of one row come together, weighted by 2^lse, four dimensions per thread; row_of(split) is the split's row.
template <class ROW_OF> __device__ static inline float highest_split(const float *lse, int splits, ROW_OF row_of)
{
    float highest = -1e30f;
    for (int s = 0; s < splits; s++)
        highest = fmaxf(highest, lse[row_of(s)]);
    return highest;
}

template <int DIMENSIONS, class ROW_OF>
__device__ static inline uint2 combine_splits(const float *partial, const float *lse, float highest, int splits,
                                              ROW_OF row_of)
{
    float total = 0.0f;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
    for (int s = 0; s < splits; s++) {
        u64 row = row_of(s);
        float weight = exp2_fast(lse[row] - highest);
        float4 part = ((const float4 *)partial)[row * (DIMENSIONS / 4) + threadIdx.x];
        total += weight;
        sum.x += weight * part.x;
        sum.y += weight * part.y;
        sum.z += weight * part.z;
        sum.w += weight * part.w;
    }
    float inverse = reciprocal(total);
    return make_uint2(pack_bf16(sum.x * inverse, sum.y * inverse), pack_bf16(sum.z * inverse, sum.w * inverse));
}

// The xor of all threads' values, so that no load is left out, goes to sums[CTA].
__device__ static inline void store_sum(u32 sum, u32 *sums)
{
    for (int offset = 16; offset > 0; offset /= 2)
        sum ^= __shfl_xor_sync(0xffffffffu, sum, offset);
    __shared__ u32 parts[32];
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x / 32; w++)
            sum ^= parts[w];
        sums[blockIdx.x] = sum;
    }
}
