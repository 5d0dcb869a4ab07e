// SPDX-License-Identifier: GPL-3.0-or-later
// Dense split-KV decode attention, bf16, head dimension 128, up to 16 query heads per KV head (rows of one mma tile).
// Online softmax; partial results go to `gqa_combine`; one split writes the result itself.
// -D: BLOCK_N (tokens per tile), NUM_WARPS, NUM_STAGES (K and V tiles in SMEM), GROUP (query heads per KV head).
#include "kernels/device_parts.cuh"

#define DIMENSIONS 128
#define ROW_BYTES 256
#define STRIDE 272 // bytes of a row of queries in SMEM, padded by 16
#define P_STRIDE (BLOCK_N * 2 + 16)
#define THREADS (NUM_WARPS * 32)
#define COPY_ROWS (THREADS / 16) // rows that all threads copy at once, 16 bytes each
#define N_TILES (BLOCK_N / 8)
#define WARPS_N (N_TILES < NUM_WARPS ? N_TILES : NUM_WARPS)
#define N_PER_WARP (N_TILES / WARPS_N)
#define D_TILES (DIMENSIONS / NUM_WARPS / 8)

struct layout {
    static constexpr int k = 0;
    static constexpr int v = k + NUM_STAGES * BLOCK_N * ROW_BYTES;
    static constexpr int query = v + NUM_STAGES * BLOCK_N * ROW_BYTES;
    static constexpr int p = query + 16 * STRIDE;
    static constexpr int maxima = p + 16 * P_STRIDE;
    static constexpr int alpha = maxima + WARPS_N * 16 * 4;
};

// Rows of keys and values are not padded: their pieces of 16 bytes are permuted, piece i of row r lies at i ^ r % 8. So ldmatrix
// has no bank conflicts, and cp.async writes whole aligned lines of 128 bytes: into padded rows a warp's copy takes 10.5
// wavefronts, not 4.
__device__ static u32 place_of(int row, int offset)
{
    return (u32)(row * ROW_BYTES + offset) ^ (u32)(row % 8 * 16);
}

// This thread's pieces of 16 bytes of one tile lie COPY_ROWS rows apart: every address is the first one and constants. Rows
// behind the end are zeroed: a weight of zero times garbage may be NaN.
__device__ static void load_tile(const unsigned char *from, int valid, u32 to)
{
    int row = threadIdx.x / 16;
    u32 place = place_of(row, threadIdx.x % 16 * 16);
    if (valid >= BLOCK_N) {
#pragma unroll
        for (int i = 0; i < BLOCK_N; i += COPY_ROWS)
            copy_async<16>(to + (place ^ i % 8 * 16) + i * ROW_BYTES, from + i * ROW_BYTES);
    } else {
#pragma unroll
        for (int i = 0; i < BLOCK_N; i += COPY_ROWS)
            copy_async_or_zero(to + (place ^ i % 8 * 16) + i * ROW_BYTES, from + i * ROW_BYTES, row + i < valid);
    }
}

__device__ static void score_tile(u32 query, u32 k_tile, int warp, float (&s)[N_PER_WARP][4])
{
    int lane = threadIdx.x % 32;
    u32 place = place_of(lane % 8, lane / 8 * 16);
    clear_tiles(s);
#pragma unroll
    for (int k = 0; k < DIMENSIONS / 32; k++) {
        u32 a0[4], a1[4];
        ldmatrix4(a0, query + lane % 16 * STRIDE + lane / 16 * 16 + k * 64);
        ldmatrix4(a1, query + lane % 16 * STRIDE + lane / 16 * 16 + k * 64 + 32);
#pragma unroll
        for (int n = 0; n < N_PER_WARP; n++) {
            u32 b[4];
            ldmatrix4(b, k_tile + (warp * N_PER_WARP + n) * 8 * ROW_BYTES + (place ^ k * 64));
            mma_bf16(s[n], a0, b[0], b[1]);
            mma_bf16(s[n], a1, b[2], b[3]);
        }
    }
}

__device__ static void softmax_tile(unsigned char *smem, int warp, bool works, int valid, float scale_log2,
                                    float (&s)[N_PER_WARP][4], float (&row_max)[2], float (&row_sum)[2])
{
    float *maxima = (float *)(smem + layout::maxima), *alpha = (float *)(smem + layout::alpha);
    int lane = threadIdx.x % 32, row = lane / 4;
    float highest[2] = {-1e30f, -1e30f};
    if (works) {
        mask_scores(s, warp * N_PER_WARP, valid, scale_log2, highest);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            highest[h] = row_maximum(highest[h]);
            if (lane % 4 == 0)
                maxima[warp * 16 + row + 8 * h] = highest[h];
        }
    }
    __syncthreads();
    if (!works)
        return;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        for (int w = 0; w < WARPS_N; w++)
            highest[h] = fmaxf(highest[h], maxima[w * 16 + row + 8 * h]);
        float factor = raise_maximum(highest[h], row_max[h], row_sum[h]);
        if (warp == 0 && lane % 4 == 0)
            alpha[row + 8 * h] = factor;
    }
#pragma unroll
    for (int n = 0; n < N_PER_WARP; n++) {
        float p[4];
        weigh_scores(s[n], row_max, row_sum, p);
        int column = ((warp * N_PER_WARP + n) * 8 + lane % 4 * 2) * 2;
        *(u32 *)(smem + layout::p + row * P_STRIDE + column) = pack_bf16(p[0], p[1]);
        *(u32 *)(smem + layout::p + (row + 8) * P_STRIDE + column) = pack_bf16(p[2], p[3]);
    }
}

__device__ static void output_tile(const unsigned char *smem, u32 base, u32 v_tile, float (&o)[D_TILES][4])
{
    const float *alpha = (const float *)(smem + layout::alpha);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 place = place_of(lane % 16, warp * (DIMENSIONS / NUM_WARPS) * 2 + lane / 16 * 16);
    scale_tiles(o, alpha[lane / 4], alpha[lane / 4 + 8]);
#pragma unroll
    for (int k = 0; k < BLOCK_N / 16; k++) {
        u32 a[4];
        ldmatrix4(a, base + layout::p + lane % 16 * P_STRIDE + k * 32 + lane / 16 * 16);
#pragma unroll
        for (int d = 0; d < D_TILES; d += 2) {
            u32 b[4];
            ldmatrix4_transposed(b, v_tile + k * 16 * ROW_BYTES + (place ^ d * 16));
            mma_bf16(o[d], a, b[0], b[1]);
            mma_bf16(o[d + 1], a, b[2], b[3]);
        }
    }
}

// Keys and values: [request][kv head][token][128].
extern "C" __global__ void LAUNCH_BOUNDS(THREADS)
    gqa_decode(const unsigned char *query, const unsigned char *keys, const unsigned char *values, int length, int splits,
               int tiles_per_split, float *partial, float *lse, unsigned *out)
{
    extern __shared__ __align__(128) unsigned char smem[];
    const float scale_log2 = 0.08838834765f * 1.44269504f; // 1/sqrt(128), and exp as exp2
    int split = blockIdx.x % splits, pair = blockIdx.x / splits; // pair: request and KV head
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    bool works = WARPS_N == NUM_WARPS || warp < WARPS_N;
    int start = split * tiles_per_split * BLOCK_N;
    int count = max(0, min(length - start, tiles_per_split * BLOCK_N)), tiles = (count + BLOCK_N - 1) / BLOCK_N;
    u32 base = smem_address(smem);
    u64 first = ((u64)pair * length + start) * ROW_BYTES + threadIdx.x * 16;
    const unsigned char *k_rows = keys + first, *v_rows = values + first; // this thread's first piece of the first tile
    float o[D_TILES][4], s[N_PER_WARP][4], row_max[2] = {-1e30f, -1e30f}, row_sum[2] = {0.0f, 0.0f};
    clear_tiles(o);
    for (int i = threadIdx.x; i < 16 * 16; i += THREADS) {
        uint4 word = make_uint4(0, 0, 0, 0);
        if (i / 16 < GROUP)
            word = ((const uint4 *)query)[(u64)pair * GROUP * 16 + i];
        *(uint4 *)(smem + layout::query + i / 16 * STRIDE + i % 16 * 16) = word;
    }
    auto load = [&](int tile, int stage) {
        u32 place = base + stage * (BLOCK_N * ROW_BYTES);
        u64 offset = (u64)tile * (BLOCK_N * ROW_BYTES);
        load_tile(k_rows + offset, count - tile * BLOCK_N, place + layout::k);
        load_tile(v_rows + offset, count - tile * BLOCK_N, place + layout::v);
    };
    start_tiles<NUM_STAGES - 1>(tiles, load);
    int stage = 0;
    for (int tile = 0; tile < tiles; tile++) {
        next_tile<NUM_STAGES>(tile, tiles, stage, load);
        int place = stage * BLOCK_N * ROW_BYTES;
        if (works)
            score_tile(base + layout::query, base + layout::k + place, warp, s);
        softmax_tile(smem, warp, works, count - tile * BLOCK_N, scale_log2, s, row_max, row_sum);
        __syncthreads();
        output_tile(smem, base, base + layout::v + place, o);
        stage = (stage + 1) % NUM_STAGES;
    }
    copy_wait<0>();
    float *sums = (float *)(smem + layout::maxima), *maxima = (float *)(smem + layout::alpha);
    __syncthreads();
#pragma unroll
    for (int h = 0; h < 2; h++) {
        row_sum[h] = row_total(row_sum[h]);
        if (works && lane % 4 == 0) {
            sums[warp * 16 + lane / 4 + 8 * h] = row_sum[h];
            if (warp == 0)
                maxima[lane / 4 + 8 * h] = row_max[h];
        }
    }
    __syncthreads();
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int row = lane / 4 + 8 * h;
        float sum = 0.0f;
        for (int w = 0; w < WARPS_N; w++)
            sum += sums[w * 16 + row];
        float inverse = sum > 0.0f ? reciprocal(sum) : 0.0f;
        if (row >= GROUP)
            continue;
        u64 head = ((u64)pair * splits + split) * GROUP + row;
        u64 at = head * DIMENSIONS + warp * (DIMENSIONS / NUM_WARPS) + lane % 4 * 2;
#pragma unroll
        for (int d = 0; d < D_TILES; d++) {
            float x = o[d][2 * h] * inverse, y = o[d][2 * h + 1] * inverse;
            if (splits == 1)
                out[(at + d * 8) / 2] = pack_bf16(x, y);
            else
                *(float2 *)(partial + at + d * 8) = make_float2(x, y);
        }
        if (splits > 1 && warp == 0 && lane % 4 == 0)
            lse[head] = sum > 0.0f ? maxima[row] + log2_fast(sum) : -1e30f;
    }
}

// One warp-sized CTA per request and query head.
extern "C" __global__ void gqa_combine(const float *partial, const float *lse, int splits, uint2 *out)
{
    int pair = blockIdx.x / GROUP, row = blockIdx.x % GROUP;
    auto row_of = [&](int s) { return ((u64)pair * splits + s) * GROUP + row; };
    float highest = highest_split(lse, splits, row_of);
    out[(u64)blockIdx.x * (DIMENSIONS / 4) + threadIdx.x] =
        combine_splits<DIMENSIONS>(partial, lse, highest, splits, row_of);
}
