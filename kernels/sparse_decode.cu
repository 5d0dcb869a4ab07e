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
#define SCORE_PARTS (WIDE_TILES == 1 && WARPS_M > 1 ? 2 : 1) // exchanged through the raw tile, which is free when it is widened
#define DIMENSIONS_PER_WARP (DIMENSIONS / NUM_WARPS)
#define D_TILES (DIMENSIONS_PER_WARP / 8)
#define ROWS_PER_WARP (BLOCK_T / NUM_WARPS)
#define ROWS_AT_ONCE (THREADS / 8 < BLOCK_T ? THREADS / 8 : BLOCK_T) // rows that are widened at once
#define GROUP_PARTS (THREADS / 8 / ROWS_AT_ONCE)
#define GROUPS_PER_PART (8 / GROUP_PARTS)

struct layout {
    static constexpr int query = 0;
    static constexpr int raw = query + BLOCK_H * WIDE_STRIDE;
    static constexpr int wide = raw + NUM_STAGES * BLOCK_T * RAW_STRIDE;
    static constexpr int p = wide + WIDE_TILES * BLOCK_T * WIDE_STRIDE;
    static constexpr int maxima = p + BLOCK_H * P_STRIDE;
    static constexpr int alpha = maxima + WARPS_N * BLOCK_H * 4;
    static constexpr int index = alpha + BLOCK_H * 4;
};

// What the compiler leaves registers for: as many CTAs as SMEM holds on the largest SM, as long as the accumulators and 40 more
// fit.
#define CTAS_BY_REGISTERS (65536 / THREADS / (16 * BLOCK_H / NUM_WARPS + 40))
#define CTAS_BY_SMEM (233472 / (layout::index + 1024))
#define RESIDENT_CTAS (CTAS_BY_REGISTERS < CTAS_BY_SMEM ? (CTAS_BY_REGISTERS > 0 ? CTAS_BY_REGISTERS : 1) : CTAS_BY_SMEM)

// Rows are 8-aligned, the cache is 16-aligned: down to the last multiple of 16.
__device__ static const unsigned char *row_start(const unsigned char *cache, int row)
{
    return (const unsigned char *)((u64)(cache + (u64)(u32)row * ROW_BYTES) & ~15ull);
}

// Lane i holds the row of token i % ROWS_PER_WARP of this warp's: read before the barrier that frees the buffer.
__device__ static int row_numbers(const int *index)
{
    return index[threadIdx.x / 32 * ROWS_PER_WARP + threadIdx.x % ROWS_PER_WARP];
}

// A warp copies its rows in pieces of 16 bytes, though rows are only 8-aligned: an odd row is copied from 8 bytes before it, so
// that it lies 8 bytes further on in its place of RAW_STRIDE bytes; after an even row come 8 bytes of the next.
__device__ static void gather_tile(const unsigned char *cache, int numbers, u32 raw)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    raw += warp * ROWS_PER_WARP * RAW_STRIDE;
#pragma unroll
    for (int row = 0; row < ROWS_PER_WARP; row++) // the first 512 bytes of a row
        copy_async<16>(raw + row * RAW_STRIDE + lane * 16,
                       row_start(cache + lane * 16, __shfl_sync(0xffffffffu, numbers, row)));
    cache += 512 + lane % 8 * 16;
    raw += lane / 8 * RAW_STRIDE + 512 + lane % 8 * 16;
#pragma unroll
    for (int row = 0; row < ROWS_PER_WARP; row += 4) { // the rest, 80 bytes, of four rows at once
        int number = __shfl_sync(0xffffffffu, numbers, row + lane / 8);
        if (lane % 8 < 5 && row + lane / 8 < ROWS_PER_WARP)
            copy_async<16>(raw + row * RAW_STRIDE, row_start(cache, number));
    }
}

// Two e4m3 bytes at bits 0 and 16 become two bf16 that are 2^120 too small (sign to bit 15, the rest 4 bits up); the scale's
// exponent makes up for it. Exact.
__device__ static u32 widen_pair(u32 pair, u32 scale)
{
    u32 bits = (pair & 0x00800080u) * 240 + pair * 16, wide;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(wide) : "r"(bits), "r"(scale), "r"(0x80008000u));
    return wide;
}

__device__ static uint4 widen_piece(uint2 bytes, u32 scale)
{
    return make_uint4(widen_pair(__byte_perm(bytes.x, 0, 0x4140), scale), widen_pair(__byte_perm(bytes.x, 0, 0x4342), scale),
                      widen_pair(__byte_perm(bytes.y, 0, 0x4140), scale), widen_pair(__byte_perm(bytes.y, 0, 0x4342), scale));
}

// Eight threads share a row: each widens 8 values of every group of 64, so that it needs the row's scales once. Where there are
// more threads than that, the groups are shared out too. The last group is bf16 already.
__device__ static void widen_tile(const unsigned char *raw, const int *index, unsigned char *wide)
{
    int place = threadIdx.x / 8 % ROWS_AT_ONCE, piece = threadIdx.x % 8, part = threadIdx.x / (ROWS_AT_ONCE * 8);
    int first = place / 8 * 8 + place % 2 * 4 + place / 2 % 4; // rows 4 apart: neighbours would share banks
    bool last = part == GROUP_PARTS - 1;
    index += first;
    raw += first * RAW_STRIDE + piece * 8 + part * (GROUPS_PER_PART * 64);
    wide += first * WIDE_STRIDE + piece * 16 + part * (GROUPS_PER_PART * 128);
#pragma unroll
    for (int row = 0; row < BLOCK_T; row += ROWS_AT_ONCE) {
        const unsigned char *from = raw + row * RAW_STRIDE + index[row] % 2 * 8;
        unsigned char *to = wide + row * WIDE_STRIDE;
        uint2 packed = *(const uint2 *)(from - piece * 8 - part * (GROUPS_PER_PART * 64) + 576), bytes[GROUPS_PER_PART];
        u64 all = ((u64)packed.y << 32 | packed.x) >> part * (GROUPS_PER_PART * 8);
        u32 scales[2] = {(u32)all, (u32)(all >> 32)};
#pragma unroll
        for (int group = 0; group < GROUPS_PER_PART; group++)
            bytes[group] = *(const uint2 *)(from + group * 64);
#pragma unroll
        for (int group = 0; group < GROUPS_PER_PART; group++) {
            u32 scale = __byte_perm(scales[group / 4], 0, 0x4040 | group % 4 * 0x0101) * 128u + 120u * 0x00800080u;
            uint4 out = widen_piece(bytes[group], scale);
            if (group == GROUPS_PER_PART - 1 && last) { // 16 bytes a piece here
                uint2 upper = *(const uint2 *)(from + group * 64 + piece * 8 + 8);
                bytes[group] = *(const uint2 *)(from + group * 64 + piece * 8);
                out = make_uint4(bytes[group].x, bytes[group].y, upper.x, upper.y);
            }
            *(uint4 *)(to + group * 128) = out;
        }
    }
}

// What a warp computed of its neighbour's scores against what the neighbour computed of its own. All warps call it.
__device__ static void exchange_scores(float4 *exchange, bool works, float (&mine)[N_PER_WARP][4],
                                       const float (&other)[N_PER_WARP][4])
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (works) {
#pragma unroll
        for (int n = 0; n < N_PER_WARP; n++)
            exchange[(warp * N_PER_WARP + n) * 32 + lane] = make_float4(other[n][0], other[n][1], other[n][2], other[n][3]);
    }
    __syncthreads();
    if (!works)
        return;
#pragma unroll
    for (int n = 0; n < N_PER_WARP; n++) {
        float4 rest = exchange[((warp ^ 1) * N_PER_WARP + n) * 32 + lane];
        mine[n][0] += rest.x;
        mine[n][1] += rest.y;
        mine[n][2] += rest.z;
        mine[n][3] += rest.w;
    }
}

// S = Q K^T of one warp: 16 heads by N_PER_WARP tiles of 8 tokens. With SCORE_PARTS 2 the two warps of neighbouring heads compute
// both their tiles over half of the dimensions each, and exchange what belongs to the other: half of the queries and half as
// many chained products a warp, and fewer bytes out of SMEM.
__device__ static void score_tile(u32 query, u32 wide, int warp_m, int warp_n, float (&s)[N_PER_WARP][4],
                                  float (&t)[N_PER_WARP][4])
{
    int lane = threadIdx.x % 32;
    u32 part = warp_m % SCORE_PARTS * (DIMENSIONS / SCORE_PARTS * 2);
    u32 a_address = query + (warp_m * 16 + lane % 16) * WIDE_STRIDE + lane / 16 * 16 + part;
    u32 b_address = wide + (warp_n * N_PER_WARP * 8 + lane % 8) * WIDE_STRIDE + lane / 8 * 16 + part;
    u32 other = query + ((warp_m ^ 1) * 16 + lane % 16) * WIDE_STRIDE + lane / 16 * 16 + part;
    clear_tiles(s);
    clear_tiles(t);
#pragma unroll 4
    for (int k = 0; k < DIMENSIONS / SCORE_PARTS / 32; k++) {
        u32 a0[4], a1[4], c0[4], c1[4];
        ldmatrix4(a0, a_address + k * 64);
        ldmatrix4(a1, a_address + k * 64 + 32);
        if (SCORE_PARTS == 2) {
            ldmatrix4(c0, other + k * 64);
            ldmatrix4(c1, other + k * 64 + 32);
        }
#pragma unroll
        for (int n = 0; n < N_PER_WARP; n++) {
            u32 b[4];
            ldmatrix4(b, b_address + n * 8 * WIDE_STRIDE + k * 64);
            mma_bf16(s[n], a0, b[0], b[1]);
            if (SCORE_PARTS == 2) {
                mma_bf16(t[n], c0, b[0], b[1]);
                mma_bf16(t[n], c1, b[2], b[3]);
            }
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
    query += threadIdx.x * 16;
    to += threadIdx.x / 64 * WIDE_STRIDE + threadIdx.x % 64 * 16;
#pragma unroll
    for (int row = 0; row < BLOCK_H; row += THREADS / 64)
        copy_async<16>(to + row * WIDE_STRIDE, query + row * (DIMENSIONS * 2));
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

// A warp's dimensions of all heads, through its part of the queries' place: whole 16-byte pieces side by side leave it.
__device__ static void store_results(unsigned char *place, const float (&o)[M_TILES][D_TILES][4], unsigned char *out)
{
    const int pieces = DIMENSIONS_PER_WARP / 8;
    int lane = threadIdx.x % 32, offset = threadIdx.x / 32 * (DIMENSIONS_PER_WARP * 2);
    unsigned char *to = place + lane / 4 * WIDE_STRIDE + offset + lane % 4 * 4;
#pragma unroll
    for (int m = 0; m < M_TILES; m++) {
#pragma unroll
        for (int d = 0; d < D_TILES; d++) {
            *(u32 *)(to + m * 16 * WIDE_STRIDE + d * 16) = pack_bf16(o[m][d][0], o[m][d][1]);
            *(u32 *)(to + (m * 16 + 8) * WIDE_STRIDE + d * 16) = pack_bf16(o[m][d][2], o[m][d][3]);
        }
    }
    __syncwarp();
    const unsigned char *from = place + lane / pieces * WIDE_STRIDE + offset + lane % pieces * 16;
    out += lane / pieces * (DIMENSIONS * 2) + offset + lane % pieces * 16;
#pragma unroll
    for (int row = 0; row < BLOCK_H; row += 32 / pieces)
        *(uint4 *)(out + row * (DIMENSIONS * 2)) = *(const uint4 *)(from + row * WIDE_STRIDE);
}

__device__ static void store_partial(const float (&o)[M_TILES][D_TILES][4], float *partial)
{
    int lane = threadIdx.x % 32;
    partial += lane / 4 * DIMENSIONS + threadIdx.x / 32 * DIMENSIONS_PER_WARP + lane % 4 * 2;
#pragma unroll
    for (int m = 0; m < M_TILES; m++) {
#pragma unroll
        for (int d = 0; d < D_TILES; d++) {
            *(float2 *)(partial + m * 16 * DIMENSIONS + d * 8) = make_float2(o[m][d][0], o[m][d][1]);
            *(float2 *)(partial + (m * 16 + 8) * DIMENSIONS + d * 8) = make_float2(o[m][d][2], o[m][d][3]);
        }
    }
}

extern "C" __global__ void LAUNCH_BOUNDS(THREADS, RESIDENT_CTAS)
    sparse_decode(const unsigned char *query, const unsigned char *cache, const int *index, int heads, int tokens,
                  int splits, int tiles_per_split, float *partial, float *lse, unsigned *out)
{
    extern __shared__ __align__(16) unsigned char smem[];
    const float scale_log2 = 0.04419417382f * 1.44269504f; // 1/sqrt(512), and exp as exp2
    int head_blocks = heads / BLOCK_H;
    int head_block = blockIdx.x % head_blocks, split = blockIdx.x / head_blocks % splits;
    int request = blockIdx.x / head_blocks / splits;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_m = warp % WARPS_M, warp_n = warp / WARPS_M;
    bool works = WARPS_M * WARPS_N == NUM_WARPS || warp_n < WARPS_N;
    int start = split * tiles_per_split * BLOCK_T;
    int count = max(0, min(tokens - start, tiles_per_split * BLOCK_T));
    int tiles = (count + BLOCK_T - 1) / BLOCK_T;
    u32 base = smem_address(smem);
    int *rows = (int *)(smem + layout::index);
    float o[M_TILES][D_TILES][4], s[N_PER_WARP][4], t[N_PER_WARP][4];
    float row_max[2] = {-1e30f, -1e30f}, row_sum[2] = {0.0f, 0.0f};
#pragma unroll
    for (int m = 0; m < M_TILES; m++)
        clear_tiles(o[m]);
    index += (u64)request * tokens + start;
    auto token_of = [](int i) { return (int)threadIdx.x + i * THREADS; };
    int known[4]; // asked for before the queries: everything waits for them
#pragma unroll
    for (int i = 0; i < 4; i++)
        known[i] = token_of(i) < tiles * BLOCK_T ? index[min(token_of(i), count - 1)] : 0;
    load_query(query + ((u64)request * heads + head_block * BLOCK_H) * (DIMENSIONS * 2), base + layout::query);
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (token_of(i) < tiles * BLOCK_T)
            rows[token_of(i)] = known[i];
    for (int i = token_of(4); i < tiles * BLOCK_T; i += THREADS) // behind the end: the last row again, with a weight of zero
        rows[i] = index[min(i, count - 1)];
    __syncthreads();
    for (int t = 0; t < AHEAD; t++) {
        if (t < tiles)
            gather_tile(cache, row_numbers(rows + t * BLOCK_T), base + layout::raw + t * BLOCK_T * RAW_STRIDE);
        copy_commit();
    }
    int stage = 0;
#if WIDE_TILES == 2
    copy_wait<AHEAD - 1>();
    __syncthreads();
    if (tiles > 0)
        widen_tile(smem + layout::raw, rows, smem + layout::wide);
#endif
    for (int tile = 0; tile < tiles; tile++) {
        int valid = count - tile * BLOCK_T, numbers = row_numbers(rows + min(tile + AHEAD, tiles - 1) * BLOCK_T);
#if WIDE_TILES == 2
        copy_wait<AHEAD - 2>();
        __syncthreads();
        if (tile + AHEAD < tiles)
            gather_tile(cache, numbers,
                        base + layout::raw + stage * BLOCK_T * RAW_STRIDE);
        copy_commit();
        int wide = layout::wide + tile % 2 * BLOCK_T * WIDE_STRIDE;
        if (tile + 1 < tiles)
            widen_tile(smem + layout::raw + (stage + 1) % NUM_STAGES * BLOCK_T * RAW_STRIDE, rows + (tile + 1) * BLOCK_T,
                       smem + layout::wide + (tile + 1) % 2 * BLOCK_T * WIDE_STRIDE);
#else
        const int wide = layout::wide;
#if NUM_STAGES == 1
        __syncthreads();
        gather_tile(cache, numbers, base + layout::raw);
        copy_commit();
        copy_wait<0>();
        __syncthreads();
#else
        copy_wait<AHEAD - 1>();
        __syncthreads();
        if (tile + AHEAD < tiles)
            gather_tile(cache, numbers,
                        base + layout::raw + (stage + AHEAD) % NUM_STAGES * BLOCK_T * RAW_STRIDE);
        copy_commit();
#endif
        widen_tile(smem + layout::raw + stage * BLOCK_T * RAW_STRIDE, rows + tile * BLOCK_T, smem + wide);
        __syncthreads();
#endif
        if (works)
            score_tile(base + layout::query, base + wide, warp_m, warp_n, s, t);
        if (SCORE_PARTS == 2)
            exchange_scores((float4 *)(smem + layout::raw + stage * BLOCK_T * RAW_STRIDE), works, s, t);
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
    u64 first = (u64)(request * splits + split) * heads + head_block * BLOCK_H; // of this CTA's results
#pragma unroll
    for (int m = 0; m < M_TILES; m++) {
        float sum[2] = {0.0f, 0.0f}, inverse[2];
        int row = m * 16 + lane / 4;
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int w = 0; w < WARPS_N; w++)
                sum[h] += sums[w * BLOCK_H + row + 8 * h];
            inverse[h] = sum[h] > 0.0f ? reciprocal(sum[h]) : 0.0f;
            if (splits > 1 && warp == 0 && lane % 4 == 0)
                lse[first + row + 8 * h] = sum[h] > 0.0f ? maxima[row + 8 * h] + log2_fast(sum[h]) : -1e30f;
        }
        scale_tiles(o[m], inverse[0], inverse[1]);
    }
    if (splits == 1)
        store_results(smem + layout::query, o, (unsigned char *)out + first * (DIMENSIONS * 2));
    else
        store_partial(o, partial + first * DIMENSIONS);
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
