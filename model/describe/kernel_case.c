/* SPDX-License-Identifier: GPL-3.0-or-later
 * Range checks on a kernel case, so that every formula after it may rely on finite, non-negative, sane numbers. */
#include "model/describe/kernel_case.h"

#include <math.h>

/* Caps far above anything real, low enough that products of two stay exact in a double. */
#define COUNT_MAX 1e12
#define BYTES_MAX 1e15

/* The first quantity out of its range. Sweeps validate millions of kernels: nothing is stored while all is well. */
struct range_check {
    const char *name; /* NULL: none yet */
    double value, minimum, maximum;
};

static inline void expect(struct range_check *check, const char *name, double value, double minimum, double maximum)
{
    if (!(value >= minimum && value <= maximum) && !check->name) { /* NaN fails the comparison */
        *check = (struct range_check){name, value, minimum, maximum};
    }
}

static enum status range_status(const struct range_check *check, const char *kernel_name, const char *part,
                                struct error *error)
{
    if (!check->name) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_DOMAIN, "kernel %s: %s%s is %g, expected %g to %g", kernel_name, part, check->name,
                     check->value, check->minimum, check->maximum);
}

static enum status check_launch(const struct kernel_case *kernel, struct error *error)
{
    const struct kernel_launch *launch = &kernel->launch;
    struct range_check check = {0};
    expect(&check, "grid", (double)launch->grid_ctas, 1, COUNT_MAX);
    expect(&check, "threads", launch->threads, 1, 1e6);
    expect(&check, "registers", launch->registers_per_thread, 1, 65536);
    expect(&check, "static_smem_bytes", launch->static_smem_bytes, 0, BYTES_MAX);
    expect(&check, "smem_bytes", (double)launch->dynamic_smem_bytes, 0, BYTES_MAX);
    expect(&check, "barriers", launch->barriers, 0, 1024);
    expect(&check, "cluster", launch->cluster_ctas, 1, 1024);
    expect(&check, "carveout", launch->carveout_percent, -1, 100);
    return range_status(&check, kernel->name, "", error);
}

static enum status check_load(const struct kernel_case *kernel, const char *part, const struct tile_load *load,
                              struct error *error)
{
    if (load->rows == 0) {
        return STATUS_OK;
    }
    struct range_check check = {0};
    expect(&check, "rows", load->rows, 0, COUNT_MAX);
    expect(&check, "row_bytes", load->row_bytes, 1, BYTES_MAX);
    expect(&check, "alignment_bytes", load->alignment_bytes == 0 ? 1 : load->alignment_bytes, 1, BYTES_MAX);
    expect(&check, "exposures", load->exposures, 1, 1e6);
    expect(&check, "distinct_fraction", load->distinct_fraction, 0, 1);
    expect(&check, "in_flight_bytes", load->in_flight_bytes, 0, BYTES_MAX);
    return range_status(&check, kernel->name, part, error);
}

static enum status check_mma(const struct kernel_case *kernel, const struct mma_op *op, struct error *error)
{
    struct range_check check = {0};
    expect(&check, "m", op->m, 1, 1e6);
    expect(&check, "n", op->n, 1, 1e6);
    expect(&check, "k", op->k, 1, 1e6);
    expect(&check, "count", op->count, 0, COUNT_MAX);
    expect(&check, "type", (double)op->format, 0, NUMBER_FORMAT_COUNT - 1);
    expect(&check, "instruction m", op->instruction_m, 0, 1024);
    expect(&check, "instruction n", op->instruction_n, 0, 1024);
    expect(&check, "instruction k", op->instruction_k, 0, 1024);
    expect(&check, "warps_m", op->warps_m, 0, 64);
    expect(&check, "warps_n", op->warps_n, 0, 64);
    enum status status = range_status(&check, kernel->name, "mma ", error);
    const uint32_t warps = (kernel->launch.threads + 31) / 32, given = op->warps_m * op->warps_n;
    if (status == STATUS_OK && ((op->warps_m == 0) != (op->warps_n == 0) || given > warps)) {
        return error_set(error, STATUS_DOMAIN, "kernel %s: mma has %u by %u warps, the CTA %u (give both or neither)",
                         kernel->name, op->warps_m, op->warps_n, warps);
    }
    return status;
}

static enum status check_loop(const struct kernel_case *kernel, struct error *error)
{
    const struct tile_loop *loop = &kernel->loop;
    const double spill_bytes = isnan(loop->spill_bytes) ? 0 : loop->spill_bytes; /* NaN says unknown */
    struct range_check check = {0};
    expect(&check, "iterations", loop->iterations, 0, COUNT_MAX);
    expect(&check, "declared_stages", loop->declared_stages, 0, 1024);
    expect(&check, "buffers", loop->buffers, 1, 1024);
    expect(&check, "mma entries", loop->mma_count, 0, TILE_LOOP_MMA_MAX);
    expect(&check, "fp32_ops", loop->fp32_ops, 0, COUNT_MAX);
    expect(&check, "special_ops", loop->special_ops, 0, COUNT_MAX);
    expect(&check, "convert_ops", loop->convert_ops, 0, COUNT_MAX);
    expect(&check, "shuffle_ops", loop->shuffle_ops, 0, COUNT_MAX);
    expect(&check, "replicated_ops", loop->replicated_ops, 0, COUNT_MAX);
    expect(&check, "smem_bytes", loop->smem_bytes, 0, BYTES_MAX);
    expect(&check, "barriers", loop->barriers, 0, 1e6);
    expect(&check, "spill_bytes", spill_bytes, 0, 1e6);
    expect(&check, "warp_instructions", loop->warp_instructions, 0, 1e9);
    expect(&check, "operand_waits", loop->operand_waits, 0, 1e6);
    expect(&check, "product_waits", loop->product_waits, 0, 1e6);
    expect(&check, "local_bytes", loop->local_bytes, 0, 1e6);
    expect(&check, "early_fraction", loop->early_fraction, 0, 1);
    expect(&check, "edge_instructions", loop->edge_instructions, 0, 1e9);
    expect(&check, "smem_operands", loop->smem_operands, 0, 2);
    expect(&check, "operand_ops", loop->operand_ops, 0, 1e6);
    expect(&check, "prologue_bytes", loop->prologue_bytes, 0, BYTES_MAX);
    expect(&check, "prologue_distinct_fraction", loop->prologue_distinct_fraction, 0, 1);
    expect(&check, "epilogue_bytes", loop->epilogue_bytes, 0, BYTES_MAX);
    expect(&check, "epilogue_piece_bytes", loop->epilogue_piece_bytes, 0, BYTES_MAX);
    expect(&check, "serial_steps", loop->serial_steps, 0, 1e6);
    expect(&check, "ragged groups", loop->ragged_count, 0, TILE_LOOP_RAGGED_MAX);
    return range_status(&check, kernel->name, "", error);
}

static enum status check_ragged(const struct kernel_case *kernel, struct error *error)
{
    double ctas = 0;
    for (unsigned i = 0; i < kernel->loop.ragged_count; i++) {
        const struct ragged_group *group = &kernel->loop.ragged[i];
        struct range_check check = {0};
        expect(&check, "ctas", (double)group->ctas, 0, 1e7);
        expect(&check, "iterations", group->iterations, 0, COUNT_MAX);
        enum status status = range_status(&check, kernel->name, "ragged ", error);
        if (status) {
            return status;
        }
        ctas += (double)group->ctas;
    }
    if (kernel->loop.ragged_count && (uint64_t)ctas != kernel->launch.grid_ctas) {
        return error_set(error, STATUS_DOMAIN, "kernel %s: ragged groups hold %.0f CTAs, the grid has %llu",
                         kernel->name, ctas, (unsigned long long)kernel->launch.grid_ctas);
    }
    return STATUS_OK;
}

enum status kernel_case_validate(const struct kernel_case *kernel, struct error *error)
{
    enum status status = check_launch(kernel, error);
    if (!status) {
        status = check_loop(kernel, error);
    }
    if (!status) {
        status = check_load(kernel, "gather ", &kernel->loop.gather, error);
    }
    if (!status) {
        status = check_load(kernel, "stream ", &kernel->loop.stream, error);
    }
    for (unsigned i = 0; !status && i < kernel->loop.mma_count; i++) {
        status = check_mma(kernel, &kernel->loop.mma[i], error);
    }
    return status ? status : check_ragged(kernel, error);
}
