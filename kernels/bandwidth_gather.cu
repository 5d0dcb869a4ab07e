// SPDX-License-Identifier: GPL-3.0-or-later
// How many bytes per second does a gather of whole rows reach? Rows named by an index go into SMEM by cp.async, several
// tiles ahead. -D: ROW_BYTES, ROWS (per tile), STAGES (tiles in SMEM; STAGES - 1 in flight; 1 = load, wait, use).
#include "kernels/device_parts.cuh"

#if ROW_BYTES % 16 == 0
#define CHUNK 16
#else
#define CHUNK 8
#endif
#define AHEAD (STAGES > 1 ? STAGES - 1 : 0)

__device__ static void load_tile(const unsigned char *rows, const int *index, int tile, int row_count, u32 to)
{
    const int chunks = ROW_BYTES / CHUNK;
    if constexpr (chunks >= 32) { // a warp per row: one index, one address
        int lane = threadIdx.x % 32, warps = blockDim.x / 32;
        for (int in_tile = threadIdx.x / 32; in_tile < ROWS; in_tile += warps) {
            int row = tile * ROWS + in_tile;
            if (row < row_count) {
                const unsigned char *from = rows + (u64)index[row] * ROW_BYTES;
#pragma unroll
                for (int i = 0; i < chunks; i += 32)
                    if (i + lane < chunks)
                        copy_async<CHUNK>(to + in_tile * ROW_BYTES + (i + lane) * CHUNK, from + (i + lane) * CHUNK);
            }
        }
    } else {
        for (int i = threadIdx.x; i < ROWS * chunks; i += blockDim.x) {
            int row = tile * ROWS + i / chunks;
            if (row < row_count)
                copy_async<CHUNK>(to + i * CHUNK, rows + (u64)index[row] * ROW_BYTES + i % chunks * CHUNK);
        }
    }
}

extern "C" __global__ void bandwidth_gather(const unsigned char *rows, const int *index, int row_count, u32 *sums)
{
    extern __shared__ __align__(16) unsigned char smem[];
    const int tile_bytes = ROWS * ROW_BYTES;
    int tiles = (row_count + ROWS - 1) / ROWS, step = gridDim.x;
    u32 base = smem_address(smem), sum = 0;
    for (int s = 0; s < AHEAD; s++) {
        int tile = blockIdx.x + s * step;
        if (tile < tiles)
            load_tile(rows, index, tile, row_count, base + s * tile_bytes);
        copy_commit();
    }
    int stage = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += step) {
        int next = tile + AHEAD * step;
        if (next < tiles)
            load_tile(rows, index, next, row_count, base + (stage + AHEAD) % STAGES * tile_bytes);
        copy_commit();
        copy_wait<AHEAD>();
        __syncthreads();
        const u32 *words = (const u32 *)(smem + stage * tile_bytes);
        int here = min(ROWS, row_count - tile * ROWS) * (ROW_BYTES / 4);
        for (int i = threadIdx.x; i < here; i += blockDim.x)
            sum ^= words[i];
        __syncthreads();
        stage = (stage + 1) % STAGES;
    }
    store_sum(sum, sums);
}
