// SPDX-License-Identifier: GPL-3.0-or-later
// C = A B^T in bf16 with fp32 accumulation by mma.sync: A is [m][k], B is [n][k], C is [m][n]. One CTA per tile of C, cp.async
// into NUM_STAGES stages. SMEM holds lines of 128 bytes (two, one or half a row) whose eight pieces of 16 bytes are permuted:
// piece i of line l lies at i ^ l % 8. So ldmatrix has no bank conflicts, and cp.async writes whole aligned lines: into rows padded
// by 16 bytes a warp's copy takes 10.5 wavefronts, not 4. -D: BLOCK_M, BLOCK_N, BLOCK_K, NUM_WARPS, NUM_STAGES, WARPS_M.
#include "kernels/device_parts.cuh"

#define STRIDE (BLOCK_K * 2)
#define THREADS (NUM_WARPS * 32)
#define WARPS_N (NUM_WARPS / WARPS_M)
#define WARP_M (BLOCK_M / WARPS_M)
#define WARP_N (BLOCK_N / WARPS_N)
#define M_TILES (WARP_M / 16)
#define N_TILES (WARP_N / 8)
#define CHUNKS (BLOCK_K / 8) // pieces of 16 bytes of a row
#define LINE_ROWS (128 / STRIDE > 1 ? 128 / STRIDE : 1) // rows in a line of 128 bytes
#define COPY_ROWS (THREADS / CHUNKS) // rows that all threads copy at once; threads beyond copy nothing
#define STAGE_BYTES ((BLOCK_M + BLOCK_N) * STRIDE)

// Where byte `offset` of a row lies, a multiple of 16.
__device__ static u32 place_of(int row, int offset)
{
    return (u32)(row * STRIDE + offset) ^ (u32)(row / LINE_ROWS % 8 * 16);
}

// This thread's pieces of 16 bytes lie COPY_ROWS rows apart, `step` bytes in memory, mostly a constant in SMEM.
template <int ROWS> __device__ static void load_rows(const unsigned char *from, u64 step, u32 to)
{
    int row = threadIdx.x / CHUNKS, offset = threadIdx.x % CHUNKS * 16;
#pragma unroll
    for (int i = 0; i < ROWS; i += COPY_ROWS) {
        u32 place = COPY_ROWS % (8 * LINE_ROWS) ? place_of(row + i, offset) : place_of(row, offset) + i * STRIDE;
        if (i + COPY_ROWS <= ROWS || row < ROWS - i)
            copy_async<16>(to + place, from);
        from += step;
    }
}

extern "C" __global__ void LAUNCH_BOUNDS(THREADS)
    gemm_tile(const unsigned char *a, const unsigned char *b, int n_count, int k_count, unsigned *c)
{
    extern __shared__ __align__(128) unsigned char smem[];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_m = warp % WARPS_M, warp_n = warp / WARPS_M;
    int n_blocks = n_count / BLOCK_N, block_m = blockIdx.x / n_blocks, block_n = blockIdx.x % n_blocks;
    u64 row_bytes = (u64)k_count * 2, first = threadIdx.x / CHUNKS * row_bytes + threadIdx.x % CHUNKS * 16;
    const unsigned char *a_rows = a + block_m * BLOCK_M * row_bytes + first; // this thread's first piece of the first tile
    const unsigned char *b_rows = b + block_n * BLOCK_N * row_bytes + first;
    u32 base = smem_address(smem);
    int tiles = k_count / BLOCK_K;
    // Further down in a row, and eight rows on where two share a line, are bits that change; 16 rows on, nothing changes.
    u32 a_place = place_of(warp_m * WARP_M + lane % 16, lane / 16 * 16);
    u32 b_place = place_of(warp_n * WARP_N + lane % 8, lane / 8 * 16);
    float d[M_TILES][N_TILES][4];
#pragma unroll
    for (int m = 0; m < M_TILES; m++)
        clear_tiles(d[m]);
    auto load = [&](int tile, int stage) {
        u32 to = base + stage * STAGE_BYTES;
        load_rows<BLOCK_M>(a_rows + (u64)tile * (BLOCK_K * 2), COPY_ROWS * row_bytes, to);
        load_rows<BLOCK_N>(b_rows + (u64)tile * (BLOCK_K * 2), COPY_ROWS * row_bytes, to + BLOCK_M * STRIDE);
    };
    start_tiles<NUM_STAGES - 1>(tiles, load);
    int stage = 0;
    for (int tile = 0; tile < tiles; tile++) {
        next_tile<NUM_STAGES>(tile, tiles, stage, load);
        u32 a_address = base + stage * STAGE_BYTES, b_address = a_address + BLOCK_M * STRIDE;
#pragma unroll
        for (int k = 0; k < BLOCK_K / 32; k++) {
            u32 x[M_TILES][2][4];
#pragma unroll
            for (int m = 0; m < M_TILES; m++) {
                ldmatrix4(x[m][0], a_address + m * 16 * STRIDE + (a_place ^ k * 64));
                ldmatrix4(x[m][1], a_address + m * 16 * STRIDE + (a_place ^ (k * 64 + 32)));
            }
#pragma unroll
            for (int n = 0; n < N_TILES; n++) {
                u32 y[4];
                ldmatrix4(y, b_address + n * 8 * STRIDE + (b_place ^ (k * 64 + (LINE_ROWS == 2 ? n % 2 * 64 : 0))));
#pragma unroll
                for (int m = 0; m < M_TILES; m++)
                    mma_bf16(d[m][n], x[m][0], y[0], y[1]);
#pragma unroll
                for (int m = 0; m < M_TILES; m++)
                    mma_bf16(d[m][n], x[m][1], y[2], y[3]);
            }
        }
        stage = (stage + 1) % NUM_STAGES;
    }
    copy_wait<0>();
#pragma unroll
    for (int m = 0; m < M_TILES; m++) {
        u64 row = (u64)block_m * BLOCK_M + warp_m * WARP_M + m * 16 + lane / 4;
#pragma unroll
        for (int n = 0; n < N_TILES; n++) {
            u64 column = (u64)block_n * BLOCK_N + warp_n * WARP_N + n * 8 + lane % 4 * 2;
            c[(row * n_count + column) / 2] = pack_bf16(d[m][n][0], d[m][n][1]);
            c[((row + 8) * n_count + column) / 2] = pack_bf16(d[m][n][2], d[m][n][3]);
        }
    }
}
