// SPDX-License-Identifier: GPL-3.0-or-later
// Split-KV sparse MLA decode: every request gathers `tokens` rows of 584 bytes (448 e4m3, 64 bf16, 7 UE8M0 scales, pad),
// K = V of 512 dimensions, one KV head for all query heads. Online softmax; partial results go to `combine`.
// One split writes the result itself. -D: BLOCK_T, BLOCK_H, NUM_WARPS, NUM_STAGES (raw tiles in SMEM),
// WIDE_TILES (2: the next tile is widened while this one is multiplied).
#include "kernels/device_parts.cuh"

#define DIMENSIONS 512
#define NOPE 448
#define ROW_BYTES 584
#define RAW_STRIDE 592
#define WIDE_STRIDE 1040 // bytes of a row of 512 bf16, padded by 16: ldmatrix without bank conflicts
#define P_STRIDE (BLOCK_T * 2 + 16)
#define AHEAD (WIDE_TILES == 2 ? NUM_STAGES : NUM_STAGES - 1) // a widened tile no longer needs its raw one
#define THREADS (NUM_WARPS * 32)
#define M_TILES (BLOCK_H / 16)
#define N_TILES (BLOCK_T / 8)
#define WARPS_M (M_TILES < NUM_WARPS ? M_TILES : NUM_WARPS)
#define WARPS_N_FREE (NUM_WARPS / WARPS_M)
#define WARPS_N (N_TILES < WARPS_N_FREE ? N_TILES : WARPS_N_FREE)
#define N_PER_WARP (N_TILES / WARPS_N)
#define DIMENSIONS_PER_WARP (DIMENSIONS / NUM_WARPS)
#define D_TILES (DIMENSIONS_PER_WARP / 8)

struct layout {
    static constexpr int query = 0;
    static constexpr int raw = query + BLOCK_H * WIDE_STRIDE;
    static constexpr int wide = raw + NUM_STAGES * BLOCK_T * RAW_STRIDE;
    static constexpr int p = wide + WIDE_TILES * BLOCK_T * WIDE_STRIDE;
    static constexpr int maxima = p + BLOCK_H * P_STRIDE;
    static constexpr int alpha = maxima + WARPS_N * BLOCK_H * 4;
    static constexpr int index = alpha + BLOCK_H * 4;
};

__device__ static void gather_tile(const unsigned char *cache, const int *index, int first, int count, u32 raw)
{
    int lane = threadIdx.x % 32;
#pragma unroll 4
    for (int row = threadIdx.x / 32; row < BLOCK_T; row += NUM_WARPS) { // a warp per row: 73 pieces of 8 bytes
        if (first + row < count) {
            const unsigned char *from = cache + (u64)index[first + row] * ROW_BYTES + lane * 8;
            u32 to = raw + row * RAW_STRIDE + lane * 8;
            copy_async<8>(to, from);
            copy_async<8>(to + 256, from + 256);
            if (lane < ROW_BYTES / 8 - 64)
                copy_async<8>(to + 512, from + 512);
        }
    }
}

// Two e4m3 bytes at bits 8 and 24 become two bf16 that are 2^120 too small; the scale's exponent makes up for it. Exact.
__device__ static u32 widen_pair(u32 pair, u32 scale)
{
    u32 bits = (pair & 0x80008000u) | ((pair & 0x7f007f00u) >> 4), wide;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(wide) : "r"(bits), "r"(scale), "r"(0x80008000u));
    return wide;
}

__device__ static void widen_tile(const unsigned char *raw, unsigned char *wide, int valid)
{
#pragma unroll 4
    for (int i = threadIdx.x; i < BLOCK_T * 64; i += THREADS) {
        int row = i / 64, unit = i % 64;
        const unsigned char *from = raw + row * RAW_STRIDE;
        uint4 out = make_uint4(0, 0, 0, 0);
        if (row < valid && unit < NOPE / 8) {
            uint2 bytes = *(const uint2 *)(from + unit * 8);
            u32 scale = ((u32)from[576 + unit / 8] + 120u) << 7;
            scale |= scale << 16;
            out.x = widen_pair(__byte_perm(bytes.x, 0, 0x1404), scale);
            out.y = widen_pair(__byte_perm(bytes.x, 0, 0x3424), scale);
            out.z = widen_pair(__byte_perm(bytes.y, 0, 0x1404), scale);
            out.w = widen_pair(__byte_perm(bytes.y, 0, 0x3424), scale);
        } else if (row < valid) {
            out = *(const uint4 *)(from + NOPE + (unit - NOPE / 8) * 16);
        }
        *(uint4 *)(wide + row * WIDE_STRIDE + unit * 16) = out;
    }
}

// S = Q K^T of one warp: 16 heads by N_PER_WARP tiles of 8 tokens.
__device__ static void score_tile(u32 query, u32 wide, int warp_m, int warp_n, float (&s)[N_PER_WARP][4])
{
    int lane = threadIdx.x % 32;
    u32 a_address = query + (warp_m * 16 + lane % 16) * WIDE_STRIDE + lane / 16 * 16;
    u32 b_address = wide + (warp_n * N_PER_WARP * 8 + lane % 8) * WIDE_STRIDE + lane / 8 * 16;
    clear_tiles(s);
#pragma unroll 4
    for (int k = 0; k < DIMENSIONS / 32; k++) {
        u32 a0[4], a1[4];
        ldmatrix4(a0, a_address + k * 64);
        ldmatrix4(a1, a_address + k * 64 + 32);
#pragma unroll
        for (int n = 0; n < N_PER_WARP; n++) {
            u32 b[4];
            ldmatrix4(b, b_address + n * 8 * WIDE_STRIDE + k * 64);
            mma_bf16(s[n], a0, b[0], b[1]);
            mma_bf16(s[n], a1, b[2], b[3]);
        }
    }
}

// O += P V of one warp: all heads by DIMENSIONS_PER_WARP dimensions.
__device__ static void output_tile(u32 p, u32 wide, float (&o)[M_TILES][D_TILES][4])
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < BLOCK_T / 16; k++) {
        u32 a[M_TILES][4];
#pragma unroll
        for (int m = 0; m < M_TILES; m++)
            ldmatrix4(a[m], p + (m * 16 + lane % 16) * P_STRIDE + k * 32 + lane / 16 * 16);
        u32 b_address = wide + (k * 16 + lane % 16) * WIDE_STRIDE + warp * DIMENSIONS_PER_WARP * 2 + lane / 16 * 16;
#pragma unroll
        for (int d = 0; d < D_TILES; d += 2) {
            u32 b[4];
            ldmatrix4_transposed(b, b_address + d * 16);
#pragma unroll
            for (int m = 0; m < M_TILES; m++) {
                mma_bf16(o[m][d], a[m], b[0], b[1]);
                mma_bf16(o[m][d + 1], a[m], b[2], b[3]);
            }
        }
    }
}

// Masks, maxima over the warps of a row, exponentials into SMEM; row_max and row_sum are of this thread's two rows, the
// sum of this warp's tokens only.
__device__ static void softmax_tile(unsigned char *smem, int warp_m, int warp_n, bool works, int valid, float scale_log2,
                                    float (&s)[N_PER_WARP][4], float (&row_max)[2], float (&row_sum)[2])
{
    float *maxima = (float *)(smem + layout::maxima), *alpha = (float *)(smem + layout::alpha);
    int lane = threadIdx.x % 32, row = warp_m * 16 + lane / 4;
    float highest[2] = {-1e30f, -1e30f};
    if (works) {
        mask_scores(s, warp_n * N_PER_WARP, valid, scale_log2, highest);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            highest[h] = row_maximum(highest[h]);
            if (WARPS_N > 1 && lane % 4 == 0)
                maxima[warp_n * BLOCK_H + row + 8 * h] = highest[h];
        }
    }
    if (WARPS_N > 1)
        __syncthreads();
    if (!works)
        return;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        for (int w = 0; WARPS_N > 1 && w < WARPS_N; w++)
            highest[h] = fmaxf(highest[h], maxima[w * BLOCK_H + row + 8 * h]);
        float factor = raise_maximum(highest[h], row_max[h], row_sum[h]);
        if (warp_n == 0 && lane % 4 == 0)
            alpha[row + 8 * h] = factor;
    }
#pragma unroll
    for (int n = 0; n < N_PER_WARP; n++) {
        float p[4];
        weigh_scores(s[n], row_max, row_sum, p);
        int column = ((warp_n * N_PER_WARP + n) * 8 + lane % 4 * 2) * 2;
        *(u32 *)(smem + layout::p + row * P_STRIDE + column) = pack_bf16(p[0], p[1]);
        *(u32 *)(smem + layout::p + (row + 8) * P_STRIDE + column) = pack_bf16(p[2], p[3]);
    }
}

__device__ static void load_query(const unsigned char *query, u32 to)
{
    for (int i = threadIdx.x; i < BLOCK_H * 64; i += THREADS)
        copy_async<16>(to + i / 64 * WIDE_STRIDE + i % 64 * 16, query + i * 16);
    copy_commit();
}

// The row sums of the warps come together; then every thread knows its rows' sums and maxima.
__device__ static void share_sums(unsigned char *smem, int warp_m, int warp_n, bool works, float (&row_max)[2],
                                  float (&row_sum)[2])
{
    float *maxima = (float *)(smem + layout::maxima), *alpha = (float *)(smem + layout::alpha);
    int lane = threadIdx.x % 32, row = warp_m * 16 + lane / 4;
    __syncthreads();
    if (works) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            row_sum[h] = row_total(row_sum[h]);
            if (lane % 4 == 0) {
                maxima[warp_n * BLOCK_H + row + 8 * h] = row_sum[h];
                if (warp_n == 0)
                    alpha[row + 8 * h] = row_max[h];
            }
        }
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sparse_decode(const unsigned char *query, const unsigned char *cache, const int *index, int heads, int tokens,
                  int splits, int tiles_per_split, float *partial, float *lse, unsigned *out)
{
    extern __shared__ __align__(16) unsigned char smem[];
    const float scale_log2 = 0.04419417382f * 1.44269504f; // 1/sqrt(512), and exp as exp2
    int head_blocks = heads / BLOCK_H;
    int head_block = blockIdx.x % head_blocks, split = blockIdx.x / head_blocks % splits;
    int request = blockIdx.x / head_blocks / splits;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_m = warp % WARPS_M, warp_n = warp / WARPS_M;
    bool works = warp_n < WARPS_N;
    int start = split * tiles_per_split * BLOCK_T;
    int count = max(0, min(tokens - start, tiles_per_split * BLOCK_T));
    int tiles = (count + BLOCK_T - 1) / BLOCK_T;
    u32 base = smem_address(smem);
    int *rows = (int *)(smem + layout::index);
    float o[M_TILES][D_TILES][4], s[N_PER_WARP][4], row_max[2] = {-1e30f, -1e30f}, row_sum[2] = {0.0f, 0.0f};
#pragma unroll
    for (int m = 0; m < M_TILES; m++)
        clear_tiles(o[m]);
    load_query(query + ((u64)request * heads + head_block * BLOCK_H) * (DIMENSIONS * 2), base + layout::query);
    for (int i = threadIdx.x; i < count; i += THREADS)
        rows[i] = index[(u64)request * tokens + start + i];
    __syncthreads();
    for (int t = 0; t < AHEAD; t++) {
        if (t < tiles)
            gather_tile(cache, rows, t * BLOCK_T, count, base + layout::raw + t * BLOCK_T * RAW_STRIDE);
        copy_commit();
    }
    int stage = 0;
#if WIDE_TILES == 2
    copy_wait<AHEAD - 1>();
    __syncthreads();
    widen_tile(smem + layout::raw, smem + layout::wide, count);
#endif
    for (int tile = 0; tile < tiles; tile++) {
        int valid = count - tile * BLOCK_T;
#if WIDE_TILES == 2
        copy_wait<AHEAD - 2>();
        __syncthreads();
        if (tile + AHEAD < tiles)
            gather_tile(cache, rows, (tile + AHEAD) * BLOCK_T, count,
                        base + layout::raw + stage * BLOCK_T * RAW_STRIDE);
        copy_commit();
        int wide = layout::wide + tile % 2 * BLOCK_T * WIDE_STRIDE;
        if (tile + 1 < tiles)
            widen_tile(smem + layout::raw + (stage + 1) % NUM_STAGES * BLOCK_T * RAW_STRIDE,
                       smem + layout::wide + (tile + 1) % 2 * BLOCK_T * WIDE_STRIDE, valid - BLOCK_T);
#else
        const int wide = layout::wide;
#if NUM_STAGES == 1
        __syncthreads();
        gather_tile(cache, rows, tile * BLOCK_T, count, base + layout::raw);
        copy_commit();
        copy_wait<0>();
        __syncthreads();
#else
        copy_wait<AHEAD - 1>();
        __syncthreads();
        if (tile + AHEAD < tiles)
            gather_tile(cache, rows, (tile + AHEAD) * BLOCK_T, count,
                        base + layout::raw + (stage + AHEAD) % NUM_STAGES * BLOCK_T * RAW_STRIDE);
        copy_commit();
#endif
        widen_tile(smem + layout::raw + stage * BLOCK_T * RAW_STRIDE, smem + wide, valid);
        __syncthreads();
#endif
        if (works)
            score_tile(base + layout::query, base + wide, warp_m, warp_n, s);
        softmax_tile(smem, warp_m, warp_n, works, valid, scale_log2, s, row_max, row_sum);
        __syncthreads();
        const float *alpha = (const float *)(smem + layout::alpha);
#pragma unroll
        for (int m = 0; m < M_TILES; m++)
            scale_tiles(o[m], alpha[m * 16 + lane / 4], alpha[m * 16 + lane / 4 + 8]);
        output_tile(base + layout::p, base + wide, o);
        stage = (stage + 1) % NUM_STAGES;
    }
    copy_wait<0>();
    share_sums(smem, warp_m, warp_n, works, row_max, row_sum);
    const float *sums = (const float *)(smem + layout::maxima), *maxima = (const float *)(smem + layout::alpha);
#pragma unroll
    for (int m = 0; m < M_TILES; m++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int row = m * 16 + lane / 4 + 8 * h, head = head_block * BLOCK_H + row;
            float sum = 0.0f;
            for (int w = 0; w < WARPS_N; w++)
                sum += sums[w * BLOCK_H + row];
            float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
            u64 place = ((u64)(request * splits + split) * heads + head) * DIMENSIONS + warp * DIMENSIONS_PER_WARP;
#pragma unroll
            for (int d = 0; d < D_TILES; d++) {
                float x = o[m][d][2 * h] * inverse, y = o[m][d][2 * h + 1] * inverse;
                if (splits == 1)
                    out[(place + d * 8 + lane % 4 * 2) / 2] = pack_bf16(x, y);
                else
                    *(float2 *)(partial + place + d * 8 + lane % 4 * 2) = make_float2(x, y);
            }
            if (splits > 1 && warp == 0 && lane % 4 == 0)
                lse[(u64)(request * splits + split) * heads + head] = sum > 0.0f ? maxima[row] + log2f(sum) : -1e30f;
        }
    }
}

// One CTA per request and head: the splits' results weighted by 2^lse.
extern "C" __global__ void combine(const float *partial, const float *lse, int heads, int splits, uint2 *out)
{
    int request = blockIdx.x / heads, head = blockIdx.x % heads;
    float highest = highest_split(lse, splits, [&](int s) { return (request * splits + s) * heads + head; });
    auto row_of = [&](int s) { return (u64)(request * splits + s) * heads + head; };
    out[(u64)blockIdx.x * (DIMENSIONS / 4) + threadIdx.x] =
        combine_splits<DIMENSIONS>(partial, lse, highest, splits, row_of);
}
