/* SPDX-License-Identifier: GPL-3.0-or-later
 * One loop iteration of one CTA (docs/MODEL.md section 4). */
#include "model/predict/tile_cost.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define SECTOR_BYTES               32.0
#define WARP_LANES                 32.0
#define LOAD_BYTES_PER_INSTRUCTION 512.0 /* 16 bytes a lane */
#define CERTAIN_MISSES             40.0  /* expected misses from which on exp(-40) is nothing */
/* __syncthreads on an H200: 17, 23, 31 and 79 cycles for 1, 4, 8 and 32 warps (docs/MEASURING.md), over the device
 * figure of 20.4 (TILE-5). */
#define BARRIER_FIXED    0.75
#define BARRIER_PER_WARP 0.1

/* fmax() of the C library is a call and treats NaN, which validated input cannot hold. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline uint32_t ceil_divide(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static uint32_t default_instruction_k(enum number_format format)
{
    switch (format) {
    case NUMBER_FORMAT_FP8:
        return 32;
    case NUMBER_FORMAT_FP4:
        return 64;
    case NUMBER_FORMAT_TF32:
        return 8;
    case NUMBER_FORMAT_BF16:
    case NUMBER_FORMAT_FP16:
    case NUMBER_FORMAT_COUNT:
        break;
    }
    return 16;
}

static inline uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value ? value : fallback;
}

/* Rows that follow each other in an aligned array start at multiples of the largest power of two in their length. */
static double natural_alignment_bytes(double row_bytes)
{
    const uint64_t whole = (uint64_t)row_bytes;
    return (double)whole == row_bytes ? (double)(whole & -whole) : 1;
}

/* TILE-1: averaged over the positions a row can start at. */
double row_sector_bytes(double row_bytes, double alignment_bytes)
{
    if (alignment_bytes == 0) {
        alignment_bytes = natural_alignment_bytes(row_bytes);
    }
    if (alignment_bytes >= SECTOR_BYTES) {
        return ceil(row_bytes / SECTOR_BYTES) * SECTOR_BYTES;
    }
    const double expected = (row_bytes - alignment_bytes) / SECTOR_BYTES + 1;
    return larger(expected, ceil(row_bytes / SECTOR_BYTES)) * SECTOR_BYTES;
}

/* MMA-1. BALANCED doubles the axis with more 16-wide tiles left per warp, as Triton's older rule for single dots. */
static void warp_grid(const struct mma_op *op, uint32_t tiles_m, uint32_t warps, uint32_t *warps_m, uint32_t *warps_n)
{
    const uint32_t n = op->n;
    enum mma_layout layout = op->layout;
    if (op->warps_m) {
        *warps_m = op->warps_m;
        *warps_n = op->warps_n;
        return;
    }
    if (layout == MMA_LAYOUT_CHAINED) {
        layout = op->m > n ? MMA_LAYOUT_SPLIT_M : MMA_LAYOUT_SPLIT_N;
    }
    if (layout == MMA_LAYOUT_SPLIT_M) {
        *warps_m = warps;
        *warps_n = 1;
        return;
    }
    if (layout == MMA_LAYOUT_SPLIT_N) {
        *warps_m = 1;
        *warps_n = warps;
        return;
    }
    uint32_t along_m = 1, along_n = 1;
    while (along_m * along_n * 2 <= warps) {
        const bool m_has_more = tiles_m * 16 * along_n >= n * along_m; /* tiles_m / along_m >= (n / 16) / along_n */
        if (m_has_more && along_m < tiles_m) {
            along_m *= 2;
        } else {
            along_n *= 2;
        }
    }
    *warps_m = along_m;
    *warps_n = warps / along_m;
}

/* Warps that issue the product: the others of a given grid wait at the next barrier. */
static inline uint32_t warps_at_work(const struct mma_op *op, uint32_t warps)
{
    return op->warps_m ? op->warps_m * op->warps_n : warps;
}

bool mma_layout_is_unknown(const struct mma_op *op)
{
    return !op->warpgroup && !op->warps_m && (op->layout == MMA_LAYOUT_AUTO || op->layout == MMA_LAYOUT_CHAINED);
}

void mma_replication_compute(const struct mma_op *op, uint32_t warps, struct mma_replication *result)
{
    const uint32_t tiles_m = ceil_divide(op->m, or_default(op->instruction_m, 16));
    const uint32_t tiles_n = ceil_divide(op->n, or_default(op->instruction_n, 8));
    warp_grid(op, tiles_m, warps, &result->warps_m, &result->warps_n);
    const uint32_t useful_m = tiles_m < result->warps_m ? tiles_m : result->warps_m;
    const uint32_t useful_n = tiles_n < result->warps_n ? tiles_n : result->warps_n;
    result->useful_warps = (double)(useful_m * useful_n);
    result->replication = (double)warps_at_work(op, warps) / result->useful_warps;
    result->tiles_per_warp =
        (double)ceil_divide(tiles_m, result->warps_m) * (double)ceil_divide(tiles_n, result->warps_n);
}

/* What one tile product costs. */
struct mma_cost {
    double chain_s;      /* one CTA alone */
    double tensor_s;     /* busy time of the SM's four tensor pipes */
    double useful_s;     /* flop / best rate */
    double instructions; /* warp instructions issued */
    double smem_bytes;   /* operands read from SMEM */
    double replication;
    double operand_elements; /* B elements held by all warps together: dequantised once per warp that reads them */
};

static double bytes_per_element(enum number_format format)
{
    return format == NUMBER_FORMAT_FP4 ? 0.5 : format == NUMBER_FORMAT_FP8 ? 1 : format == NUMBER_FORMAT_TF32 ? 4 : 2;
}

/* MMA-3: wgmma and tcgen05 read operands from SMEM themselves and are not replicated over warps. */
static void warpgroup_cost(const struct time_model *model, const struct mma_op *op, struct mma_cost *cost)
{
    const double flop = 2.0 * 64 * ceil_divide(op->m, 64) * op->n * op->k * op->count;
    const double steps = (double)ceil_divide(op->k, or_default(op->instruction_k, default_instruction_k(op->format)));
    cost->tensor_s = flop / model->warpgroup_flop_per_s_per_sm[op->format];
    cost->chain_s = larger(cost->tensor_s, steps * op->count * model->mma_latency_s);
    cost->useful_s = 2.0 * op->m * op->n * op->k * op->count / model->warpgroup_flop_per_s_per_sm[op->format];
    cost->instructions = 4 * steps * op->count;
    cost->smem_bytes = ((double)op->m + op->n) * op->k * op->count * bytes_per_element(op->format);
    cost->replication = 1;
    cost->operand_elements = (double)op->n * op->k * op->count;
}

/* MMA-2: every warp walks k with tiles_per_warp independent accumulators; warps of a sub-core share its pipe. */
static void mma_cost_compute(const struct time_model *model, const struct mma_op *op, uint32_t warps,
                             uint32_t smem_operands, struct mma_cost *cost)
{
    if (op->warpgroup) {
        warpgroup_cost(model, op, cost);
        return;
    }
    const uint32_t m = or_default(op->instruction_m, 16), n = or_default(op->instruction_n, 8);
    const uint32_t k = or_default(op->instruction_k, default_instruction_k(op->format));
    struct mma_replication share;
    mma_replication_compute(op, warps, &share);
    const double steps = ceil_divide(op->k, k) * op->count;
    const double interval_s = 2.0 * m * n * k * 4 / model->mma_sync_flop_per_s_per_sm[op->format];
    warps = warps_at_work(op, warps);
    const double warps_per_sub_core = ceil_divide(warps, 4);
    cost->chain_s = steps * larger(model->mma_latency_s, interval_s * share.tiles_per_warp * warps_per_sub_core);
    cost->instructions = warps * share.tiles_per_warp * steps;
    cost->tensor_s = cost->instructions * interval_s / 4;
    cost->useful_s = 2.0 * op->m * op->n * op->k * op->count / model->warpgroup_flop_per_s_per_sm[op->format];
    cost->replication = share.replication;
    cost->operand_elements = (double)warps * ceil_divide(ceil_divide(op->n, n), share.warps_n) * n * op->k * op->count;
    cost->smem_bytes = 0;
    const double element_bytes = bytes_per_element(op->format) * op->k * op->count;
    if (smem_operands >= 1) { /* TILE-3: each row of warps reads all of B */
        cost->smem_bytes += share.warps_m * (double)op->n * element_bytes;
    }
    if (smem_operands >= 2) {
        cost->smem_bytes += share.warps_n * (double)op->m * element_bytes;
    }
}

/* TILE-2: a tile has arrived when its last sector has. Of `bytes`, each sector misses L2 with probability `missed`. */
double slowest_sector_latency_s(const struct time_model *model, double bytes, double missed)
{
    if (!(missed > 0)) {
        return model->l2_latency_s;
    }
    const double sectors = larger(1, bytes / SECTOR_BYTES);
    const double all_hit = missed * sectors > CERTAIN_MISSES ? 0 : pow(1 - missed, sectors);
    return all_hit * model->l2_latency_s + (1 - all_hit) * model->dram_latency_s;
}

double port_time_s(const struct time_model *model, double bytes, double missed)
{
    return bytes * (missed / model->sm_bytes_per_s + (1 - missed) / model->sm_l2_bytes_per_s);
}

/* TILE-2: latency and bytes of one kind of load. */
static void add_load(const struct time_model *model, const struct tile_loop *loop, const struct tile_load *load,
                     struct tile_cost *cost)
{
    if (load->rows == 0) {
        return;
    }
    const double bytes = load->rows * row_sector_bytes(load->row_bytes, load->alignment_bytes);
    double latency_s = slowest_sector_latency_s(model, bytes, load->distinct_fraction);
    if (load->index_dependent) {
        latency_s += model->l2_latency_s;
    }
    double in_flight_bytes = bytes;
    if (load->in_flight_bytes > 0 && load->in_flight_bytes < bytes) {
        latency_s *= bytes / load->in_flight_bytes;
        in_flight_bytes = load->in_flight_bytes;
    }
    const double transfer_s = port_time_s(model, bytes, load->distinct_fraction);
    cost->sector_bytes += bytes;
    cost->port_s += transfer_s;
    cost->through_l1_bytes += load->pipelined ? 0 : bytes;
    cost->dram_bytes += bytes * load->distinct_fraction;
    cost->described_dram_bytes += load->rows * load->row_bytes * load->distinct_fraction;
    if (load->pipelined && (loop->buffers > 1 || loop->early_fraction > 0)) { /* one buffer filled early hides too */
        cost->hidden_latency_s = larger(cost->hidden_latency_s, latency_s);
        cost->hidden_transfer_s += transfer_s;
        cost->in_flight_bytes += in_flight_bytes * loop->buffers;
    } else {
        cost->exposed_s += load->exposures * latency_s + transfer_s;
        cost->in_flight_bytes += in_flight_bytes / load->exposures;
    }
}

/* The tile products of one iteration together. */
struct mma_sum {
    double chain_s, instructions;
    double first_replication, first_operand_elements;
};

/* TILE-4: scalar work. Returns warp instructions of the CTA. */
static double scalar_instructions(const struct time_model *model, const struct tile_loop *loop, uint32_t warps,
                                  const struct tile_cost *cost, const struct mma_sum *mma)
{
    if (loop->warp_instructions > 0) {
        return larger(0, loop->warp_instructions * warps - mma->instructions) * model->exact_issue_factor;
    }
    const double lane_ops = loop->fp32_ops + loop->special_ops + loop->convert_ops + loop->shuffle_ops +
                            loop->replicated_ops * mma->first_replication +
                            loop->operand_ops * mma->first_operand_elements;
    return (lane_ops / WARP_LANES + cost->sector_bytes / LOAD_BYTES_PER_INSTRUCTION) * model->issue_factor;
}

/* Cycles between two instructions of one warp (TILE-4): alone on its sub-core it waits for itself, with others for
 * them. */
double warp_issue_cycles(const struct time_model *model, uint32_t warps)
{
    const double others = warps > 4 ? warps / 4.0 : 1, alone = model->issue_interval;
    const double squares = alone * alone * (alone * alone) + others * others * (others * others);
    return sqrt(sqrt(squares));
}

/* Was it read off compiled code what a warp waits for? Spilled values are then among it. */
static bool has_known_waits(const struct tile_loop *loop)
{
    return loop->warp_instructions > 0 && loop->operand_waits > 0;
}

/* TILE-5: parts of the chain that are neither tensor nor issue. */
static double spill_chain_s(const struct time_model *model, const struct tile_loop *loop)
{
    return isnan(loop->spill_bytes) || has_known_waits(loop) ? 0 : loop->spill_bytes / 4 * model->spill_s_per_access;
}

static void add_mma_list(const struct time_model *model, const struct tile_loop *loop, uint32_t warps,
                         struct tile_cost *cost, struct mma_sum *sum)
{
    const bool waits_known = has_known_waits(loop);
    if (waits_known) { /* TILE-3, CODE-7 */
        sum->chain_s += loop->operand_waits * model->exact_operand_factor * model->smem_latency_s +
                        loop->product_waits * model->mma_latency_s;
    }
    for (uint32_t i = 0; i < loop->mma_count; i++) {
        struct mma_cost mma;
        mma_cost_compute(model, &loop->mma[i], warps, loop->smem_operands, &mma);
        const double operand_s = mma.smem_bytes / model->smem_bytes_per_s;
        const double loads = mma.smem_bytes / LOAD_BYTES_PER_INSTRUCTION / warps_at_work(&loop->mma[i], warps);
        /* Operand reads overlap the product they feed, but for what the compiler does not issue ahead (TILE-3). */
        sum->chain_s += larger(mma.chain_s, operand_s);
        sum->chain_s += waits_known ? 0 : model->operand_factor * loads * model->smem_latency_s;
        sum->instructions += mma.instructions + mma.smem_bytes / LOAD_BYTES_PER_INSTRUCTION;
        cost->tensor_s += mma.tensor_s;
        cost->useful_tensor_s += mma.useful_s;
        cost->smem_s += operand_s;
        cost->replication = larger(cost->replication, mma.replication);
        if (i == 0) {
            sum->first_replication = mma.replication;
            sum->first_operand_elements = mma.operand_elements;
        }
        if (mma_layout_is_unknown(&loop->mma[i])) {
            struct mma_op other = loop->mma[i];
            struct mma_replication share;
            other.layout = MMA_LAYOUT_SPLIT_M;
            mma_replication_compute(&other, warps, &share);
            cost->layout_replication = larger(cost->layout_replication, share.replication / mma.replication);
        }
    }
}

void tile_cost_compute(const struct time_model *model, const struct kernel_case *kernel, struct tile_cost *cost)
{
    const struct tile_loop *loop = &kernel->loop;
    const uint32_t warps = ceil_divide(kernel->launch.threads, 32);
    memset(cost, 0, sizeof *cost);
    cost->replication = cost->layout_replication = 1;
    add_load(model, loop, &loop->gather, cost);
    add_load(model, loop, &loop->stream, cost);
    struct mma_sum mma = {.first_replication = 1};
    add_mma_list(model, loop, warps, cost, &mma);

    const double scalar = scalar_instructions(model, loop, warps, cost, &mma);
    const double spill_accesses = isnan(loop->spill_bytes) ? 0 : loop->spill_bytes / 4 * warps;
    const double special_s = loop->special_ops / model->special_per_s;
    const double scalar_s = larger(scalar / warps * warp_issue_cycles(model, warps) * model->cycle_s, special_s);
    const double barrier_s = loop->barriers * model->barrier_s * (BARRIER_FIXED + BARRIER_PER_WARP * warps);
    const double spill_s = spill_chain_s(model, loop) * ceil_divide(warps, 4);
    const double traffic_s = (loop->smem_bytes + cost->sector_bytes) / model->smem_bytes_per_s;

    cost->issue_s =
        larger((scalar + mma.instructions + (loop->warp_instructions > 0 ? 0 : spill_accesses)) / model->issue_per_s,
               special_s);
    cost->local_bytes = spill_accesses * WARP_LANES * 4;
    cost->smem_s += traffic_s + cost->local_bytes / model->smem_bytes_per_s;
    cost->compute_s = mma.chain_s + scalar_s + barrier_s + spill_s + model->iteration_overhead_s;
    cost->before_loads_s = loop->warp_instructions > 0 ? model->iteration_overhead_s : 0;
    cost->mma_share = mma.chain_s / cost->compute_s;
    cost->issue_share = scalar_s / cost->compute_s;
    cost->overhead_share = model->iteration_overhead_s / cost->compute_s;
    cost->barrier_share = barrier_s / cost->compute_s;
    cost->spill_share = spill_s / cost->compute_s;
    cost->layout_log = cost->layout_replication > 1 ? log(cost->layout_replication) : 0;
}

/* The members of struct tile_loop that an iteration depends on lie side by side. Equal bytes give equal costs; unequal
 * padding only costs a computation. */
bool tile_memo_holds(const struct tile_memo *memo, const struct kernel_case *kernel)
{
    const unsigned char *loop_bytes = (const unsigned char *)&kernel->loop + offsetof(struct tile_loop, buffers);
    return memo->filled && memo->threads == kernel->launch.threads &&
           memcmp(memo->loop_bytes, loop_bytes, sizeof memo->loop_bytes) == 0;
}

const struct tile_cost *tile_cost_recall(const struct time_model *model, const struct kernel_case *kernel,
                                         struct tile_memo *memo)
{
    if (!tile_memo_holds(memo, kernel)) {
        tile_cost_compute(model, kernel, &memo->cost);
        memcpy(memo->loop_bytes, (const unsigned char *)&kernel->loop + offsetof(struct tile_loop, buffers),
               sizeof memo->loop_bytes);
        memo->threads = kernel->launch.threads;
        memo->filled = true;
    }
    return &memo->cost;
}
