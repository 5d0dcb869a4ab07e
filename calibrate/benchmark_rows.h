/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rows of the microbenchmarks as `occam measure` writes them (docs/MEASURING.md "Files"). Read here, used by the
 * device_fit_*.c. */
#ifndef OCCAM_CALIBRATE_BENCHMARK_ROWS_H
#define OCCAM_CALIBRATE_BENCHMARK_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum benchmark {
    BENCHMARK_LATENCY_CHASE,
    BENCHMARK_BANDWIDTH_STREAM,
    BENCHMARK_BANDWIDTH_GATHER,
    BENCHMARK_MMA_TILE,
    BENCHMARK_SMEM_BANDWIDTH,
    BENCHMARK_LAUNCH_CHAIN,
    BENCHMARK_BARRIER_AND_EXP,
    BENCHMARK_WAVE_PROBE,
    BENCHMARK_COUNT
};

/* clang-format off */
/* Columns that the fits use, of whatever benchmark has them; NaN elsewhere. Settings as `occam measure` names them. */
#define BENCHMARK_FIELD_LIST(X)                                                                                        \
    X(space) X(links) X(stride_bytes) X(warm_hops) X(hops) X(mode) X(lane_bytes) X(unroll) X(threads) X(ctas) X(kib)   \
    X(row_bytes) X(rows) X(stages) X(row_count) X(format) X(accumulators) X(warps) X(ctas_per_sm) X(iterations)        \
    X(stride) X(launches) X(operation) X(chains) X(pad) X(cluster) X(grid) X(hold_us) X(cold_us) X(warm_us)            \
    X(cold_ci_fraction) X(touched_bytes) X(driver_ctas_per_sm) X(sm_clock_mhz)
/* The same of the column `figures`. */
#define BENCHMARK_FIGURE_LIST(X)                                                                                       \
    X(latency_cycles) X(cycles_per_instruction_of_a_warp) X(warm_tflop_per_s) X(bytes_per_cycle_per_sm)                \
    X(graph_launch_us) X(stream_launch_us) X(iteration_cycles) X(rounds_count) X(first_round_ctas)                     \
    X(first_round_starts_ns) X(span_us)
/* clang-format on */

struct benchmark_row {
    enum benchmark benchmark;
    uint32_t file; /* of benchmark_rows.files */
    unsigned line;
#define BENCHMARK_MEMBER(name) double name;
    BENCHMARK_FIELD_LIST(BENCHMARK_MEMBER)
    BENCHMARK_FIGURE_LIST(BENCHMARK_MEMBER)
#undef BENCHMARK_MEMBER
};

struct benchmark_rows {
    size_t count, file_count;
    struct benchmark_row *rows; /* those that ran (outcome ok), files in the order given */
    char (*files)[96];          /* last parts of the paths */
    char device[96];            /* as the rows name it */
    char driver[64], date[32];  /* of the first row */
    size_t gpu_count;           /* different gpu_id */
};

/* Every file must hold rows of microbenchmarks, all of one kind of GPU: anything else, a malformed or negative number
 * or a missing column is STATUS_BAD_DATA with file and line. Release with benchmark_rows_release, also after an error.
 */
MUST_CHECK enum status benchmark_rows_read(const char *const *paths, size_t count, struct benchmark_rows *rows,
                                           struct error *error);
void benchmark_rows_release(struct benchmark_rows *rows);

#endif
