/* SPDX-License-Identifier: GPL-3.0-or-later
 * Range checks on a kernel case, so that every formula after it may rely on finite, non-negative, sane numbers. */
#include "model/describe/kernel_case.h"

#include <math.h>

/* Caps far above anything real, low enough that products of two stay exact in a double. */
#define COUNT_MAX 1e12
#define BYTES_MAX 1e15

struct checked_quantity {
    const char *name;
    double value, minimum, maximum;
};

static enum status check_quantities(const char *kernel_name, const char *part, const struct checked_quantity *list,
                                    unsigned count, struct error *error)
{
    for (unsigned i = 0; i < count; i++) {
        if (list[i].value >= list[i].minimum && list[i].value <= list[i].maximum) {
            continue; /* NaN fails the comparison and falls through to the error */
        }
        return error_set(error, STATUS_DOMAIN, "kernel %s: %s%s is %g, expected %g to %g", kernel_name, part,
                         list[i].name, list[i].value, list[i].minimum, list[i].maximum);
    }
    return STATUS_OK;
}

static enum status check_launch(const struct kernel_case *kernel, struct error *error)
{
    const struct kernel_launch *launch = &kernel->launch;
    const struct checked_quantity list[] = {
        {"grid", (double)launch->grid_ctas, 1, COUNT_MAX},
        {"threads", launch->threads, 1, 1e6},
        {"registers", launch->registers_per_thread, 1, 65536},
        {"static_smem_bytes", launch->static_smem_bytes, 0, BYTES_MAX},
        {"smem_bytes", (double)launch->dynamic_smem_bytes, 0, BYTES_MAX},
        {"barriers", launch->barriers, 0, 1024},
        {"cluster", launch->cluster_ctas, 1, 1024},
        {"carveout", launch->carveout_percent, -1, 100},
    };
    return check_quantities(kernel->name, "", list, sizeof list / sizeof list[0], error);
}

static enum status check_load(const struct kernel_case *kernel, const char *part, const struct tile_load *load,
                              struct error *error)
{
    if (load->rows == 0) {
        return STATUS_OK;
    }
    const struct checked_quantity list[] = {
        {"rows", load->rows, 0, COUNT_MAX},
        {"row_bytes", load->row_bytes, 1, BYTES_MAX},
        {"alignment_bytes", load->alignment_bytes, 1, BYTES_MAX},
        {"exposures", load->exposures, 1, 1e6},
        {"distinct_fraction", load->distinct_fraction, 0, 1},
        {"in_flight_bytes", load->in_flight_bytes, 0, BYTES_MAX},
    };
    return check_quantities(kernel->name, part, list, sizeof list / sizeof list[0], error);
}

static enum status check_mma(const struct kernel_case *kernel, const struct mma_op *op, struct error *error)
{
    const struct checked_quantity list[] = {
        {"m", op->m, 1, 1e6},
        {"n", op->n, 1, 1e6},
        {"k", op->k, 1, 1e6},
        {"count", op->count, 0, COUNT_MAX},
        {"type", (double)op->format, 0, NUMBER_FORMAT_COUNT - 1},
        {"instruction m", op->instruction_m, 0, 1024},
        {"instruction n", op->instruction_n, 0, 1024},
        {"instruction k", op->instruction_k, 0, 1024},
    };
    return check_quantities(kernel->name, "mma ", list, sizeof list / sizeof list[0], error);
}

static enum status check_loop(const struct kernel_case *kernel, struct error *error)
{
    const struct tile_loop *loop = &kernel->loop;
    const double spill_bytes = isnan(loop->spill_bytes) ? 0 : loop->spill_bytes; /* NaN says unknown */
    const struct checked_quantity list[] = {
        {"iterations", loop->iterations, 0, COUNT_MAX},
        {"declared_stages", loop->declared_stages, 0, 1024},
        {"buffers", loop->buffers, 1, 1024},
        {"mma entries", loop->mma_count, 0, TILE_LOOP_MMA_MAX},
        {"fp32_ops", loop->fp32_ops, 0, COUNT_MAX},
        {"special_ops", loop->special_ops, 0, COUNT_MAX},
        {"convert_ops", loop->convert_ops, 0, COUNT_MAX},
        {"shuffle_ops", loop->shuffle_ops, 0, COUNT_MAX},
        {"replicated_ops", loop->replicated_ops, 0, COUNT_MAX},
        {"smem_bytes", loop->smem_bytes, 0, BYTES_MAX},
        {"barriers", loop->barriers, 0, 1e6},
        {"spill_bytes", spill_bytes, 0, 1e6},
        {"operand_ops", loop->operand_ops, 0, 1e6},
        {"prologue_bytes", loop->prologue_bytes, 0, BYTES_MAX},
        {"prologue_distinct_fraction", loop->prologue_distinct_fraction, 0, 1},
        {"epilogue_bytes", loop->epilogue_bytes, 0, BYTES_MAX},
        {"serial_steps", loop->serial_steps, 0, 1e6},
        {"ragged groups", loop->ragged_count, 0, TILE_LOOP_RAGGED_MAX},
    };
    return check_quantities(kernel->name, "", list, sizeof list / sizeof list[0], error);
}

static enum status check_ragged(const struct kernel_case *kernel, struct error *error)
{
    double ctas = 0;
    for (unsigned i = 0; i < kernel->loop.ragged_count; i++) {
        const struct checked_quantity list[] = {
            {"ctas", (double)kernel->loop.ragged[i].ctas, 0, 1e7},
            {"iterations", kernel->loop.ragged[i].iterations, 0, COUNT_MAX},
        };
        enum status status = check_quantities(kernel->name, "ragged ", list, 2, error);
        if (status) {
            return status;
        }
        ctas += list[0].value;
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
