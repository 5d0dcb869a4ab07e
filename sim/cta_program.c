/* SPDX-License-Identifier: GPL-3.0-or-later
 * A tile loop turned into stages. The physics is that of docs/MODEL.md sections 4 and SIM; the code is the simulator's
 * own, so that a mistake here and one in the formulas do not agree by being the same. */
#include "sim/cta_program.h"

#include <math.h>
#include <string.h>

#define SECTOR                 32.0
#define LANES                  32.0
#define BYTES_PER_WARP_ACCESS  512.0
#define BARRIER_FIXED_SHARE    0.75 /* SIM-6 */
#define BARRIER_SHARE_PER_WARP 0.1
#define WGMMA_ROWS             64u
/* A warp's asynchronous copy of 512 bytes, in wavefronts of SMEM over the 4 that it takes into whole lines: the
 * profiler counts 11.9 where rows start anywhere (docs/MODEL.md section 10). */
#define COPY_FACTOR_ANYWHERE (11.9 / 4)

const char *cta_stage_name(enum cta_stage stage)
{
    static const char *const names[CTA_STAGE_COUNT] = {"start",  "prologue", "load",     "barrier", "product",
                                                       "scalar", "spill",    "overhead", "epilogue"};
    if ((unsigned)stage >= CTA_STAGE_COUNT)
        BUG("CTA stage %d", (int)stage);
    return names[stage];
}

/* ---- bytes (SIM-4) ------------------------------------------------------------------------------------------------
 */

/* Rows start at multiples of this: as stated, else the largest power of two in them up to a sector, as in an array. */
static double alignment_of(const struct tile_load *load)
{
    double alignment = load->alignment_bytes > 0 ? load->alignment_bytes : 1;
    while (load->alignment_bytes == 0 && alignment < SECTOR && fmod(load->row_bytes, alignment * 2) == 0)
        alignment *= 2;
    return alignment;
}

/* Average number of 32-byte sectors under a row that may start at any multiple of the alignment. */
static double sectors_of_row(double row_bytes, double alignment)
{
    if (alignment >= SECTOR)
        return ceil(row_bytes / SECTOR);
    double sum = 0, starts = 0;
    for (double offset = 0; offset < SECTOR; offset += alignment, starts++)
        sum += ceil((offset + row_bytes) / SECTOR);
    return sum / starts;
}

/* What is asked for together has arrived when its slowest sector has. Each sector is missing in L2 with the chance
 * `missing`, independently: only if all of them hit does L2 alone answer. */
static double slowest_sector_s(const struct simulated_machine *machine, double bytes, double missing)
{
    double all_hit = 1;
    for (double left = ceil(bytes / SECTOR), power = 1 - missing; left >= 1 && all_hit > 0; left = floor(left / 2)) {
        all_hit *= fmod(left, 2) == 1 ? power : 1; /* (1 - missing)^sectors, by squaring */
        power *= power;
    }
    return all_hit * machine->l2_latency_s + (1 - all_hit) * machine->dram_latency_s;
}

static void add_load(const struct simulated_machine *machine, const struct tile_loop *loop,
                     const struct tile_load *load, struct cta_program *program)
{
    if (load->rows == 0)
        return;
    const double alignment = alignment_of(load);
    const double bytes = load->rows * SECTOR * sectors_of_row(load->row_bytes, alignment);
    double latency = slowest_sector_s(machine, bytes, load->distinct_fraction);
    latency += load->index_dependent ? machine->l2_latency_s : 0;
    if (load->in_flight_bytes > 0 && load->in_flight_bytes < bytes)
        latency *= bytes / load->in_flight_bytes;
    const bool buffered = load->pipelined && (loop->buffers > 1 || loop->early_fraction > 0);
    struct cta_transfer *transfer = buffered ? &program->tile : &program->exposed;
    if (buffered)
        transfer->latency_s = fmax(transfer->latency_s, latency); /* both are on their way together */
    else
        transfer->latency_s += latency * load->exposures;
    transfer->bytes += bytes;
    transfer->dram_bytes += bytes * load->distinct_fraction;
    const double copy_factor = load->pipelined && alignment < SECTOR ? COPY_FACTOR_ANYWHERE : 1;
    transfer->smem_s += bytes * copy_factor / machine->smem_bytes_per_s;
}

/* ---- warps that wait for each other (SIM-5, SIM-6) ----------------------------------------------------------------
 */

/* Time until each of some warps has had `own_s` of a server that they share and thought for think_s in between: the
 * mean-value analysis of a closed queue (Reiser and Lavenberg 1980). own_s alone where think_s is 0 and warps is 1. */
static double closed_queue_s(double think_s, double own_s, uint32_t warps)
{
    double queue = 0, cycle_s = think_s + own_s;
    for (uint32_t n = 1; n <= warps && cycle_s > 0; n++) {
        const double response_s = own_s * (1 + queue);
        cycle_s = think_s + response_s;
        queue = n * response_s / cycle_s;
    }
    return cycle_s;
}

/* Cycles between two instructions of one warp when `warps` warps of the CTA share its sub-core: each issues for one
 * cycle and cannot for the rest of its interval. */
static double cycles_per_instruction(double interval, uint32_t warps)
{
    return closed_queue_s(interval - 1, 1, warps);
}

/* ---- products (SIM-5) ---------------------------------------------------------------------------------------------
 */

static uint32_t parts(uint32_t whole, uint32_t part)
{
    return whole / part + (whole % part != 0);
}

struct product_shape {
    uint32_t tile_m, tile_n, tile_k; /* of one instruction */
    uint32_t along_m, along_n;       /* warps */
    uint32_t warps;                  /* that issue */
};

static uint32_t usual_depth(enum number_format format)
{
    static const uint32_t depths[NUMBER_FORMAT_COUNT] = {
        [NUMBER_FORMAT_BF16] = 16, [NUMBER_FORMAT_FP16] = 16, [NUMBER_FORMAT_FP8] = 32,
        [NUMBER_FORMAT_FP4] = 64,  [NUMBER_FORMAT_TF32] = 8,
    };
    return depths[format];
}

static double element_bytes(enum number_format format)
{
    static const double bytes[NUMBER_FORMAT_COUNT] = {
        [NUMBER_FORMAT_BF16] = 2,  [NUMBER_FORMAT_FP16] = 2, [NUMBER_FORMAT_FP8] = 1,
        [NUMBER_FORMAT_FP4] = 0.5, [NUMBER_FORMAT_TF32] = 4,
    };
    return bytes[format];
}

/* Which warp has which part of the result (MMA-1). */
static void deal_warps(const struct mma_op *op, uint32_t warps, struct product_shape *shape)
{
    const uint32_t rows = parts(op->m, shape->tile_m);
    enum mma_layout layout = op->layout;
    shape->along_m = shape->along_n = 1;
    shape->warps = warps;
    if (op->warps_m != 0) {
        shape->along_m = op->warps_m;
        shape->along_n = op->warps_n;
        shape->warps = op->warps_m * op->warps_n;
        return;
    }
    if (layout == MMA_LAYOUT_CHAINED)
        layout = op->m > op->n ? MMA_LAYOUT_SPLIT_M : MMA_LAYOUT_SPLIT_N;
    if (layout == MMA_LAYOUT_SPLIT_M || layout == MMA_LAYOUT_SPLIT_N) {
        *(layout == MMA_LAYOUT_SPLIT_M ? &shape->along_m : &shape->along_n) = warps;
        return;
    }
    while (shape->along_m * shape->along_n * 2 <= warps) {
        const double rows_left = (double)rows / shape->along_m, columns_left = op->n / 16.0 / shape->along_n;
        if (rows_left >= columns_left && shape->along_m < rows)
            shape->along_m *= 2;
        else
            shape->along_n *= 2;
    }
    shape->along_n = warps / shape->along_m;
}

static void add_warpgroup_product(const struct simulated_machine *machine, const struct mma_op *op, uint32_t warps,
                                  struct cta_step *step)
{
    const double depth = op->instruction_k ? op->instruction_k : usual_depth(op->format);
    const double steps = ceil(op->k / depth) * op->count;
    const double rows = (double)parts(op->m, WGMMA_ROWS) * WGMMA_ROWS;
    const double sm_s = 2 * rows * op->n * op->k * op->count / machine->warpgroup_flop_per_s[op->format];
    const double bytes = ((double)op->m + op->n) * op->k * op->count * element_bytes(op->format);
    step->warps = warps;
    step->tensor_s = sm_s * SUB_CORES_MAX / warps;
    step->issue_s = 4 * steps / warps * machine->cycle_s;
    step->smem_s = bytes / machine->smem_bytes_per_s;
    step->alone_s = fmax(fmax(sm_s, steps * machine->mma_latency_s), step->smem_s);
}

/* What one warp waits for in a product, as seen in compiled code (CODE-7). */
struct product_waits {
    bool known;
    double s; /* for operands and for results */
};

/* Was it read off compiled code what a warp waits for? Spilled values are then among it. */
static bool has_known_waits(const struct tile_loop *loop)
{
    return loop->warp_instructions > 0 && loop->operand_waits > 0;
}

/* Of an iteration, an equal part for each of its products. */
static struct product_waits waits_of_product(const struct simulated_machine *machine, const struct tile_loop *loop)
{
    if (!has_known_waits(loop))
        return (struct product_waits){.known = false};
    const double waits_s =
        loop->operand_waits * machine->compiled_operand_wait_s + loop->product_waits * machine->mma_latency_s;
    return (struct product_waits){.known = true, .s = waits_s / loop->mma_count};
}

static double operand_bytes_of(const struct mma_op *op, const struct product_shape *shape, uint32_t smem_operands)
{
    double rows = 0;
    if (smem_operands >= 1)
        rows += (double)shape->along_m * op->n;
    if (smem_operands >= 2)
        rows += (double)shape->along_n * op->m;
    return rows * element_bytes(op->format) * op->k * op->count;
}

static void add_warp_product(const struct simulated_machine *machine, const struct mma_op *op, uint32_t warps,
                             const struct tile_loop *loop, struct cta_step *step, struct product_shape *shape)
{
    shape->tile_m = op->instruction_m ? op->instruction_m : 16;
    shape->tile_n = op->instruction_n ? op->instruction_n : 8;
    shape->tile_k = op->instruction_k ? op->instruction_k : usual_depth(op->format);
    deal_warps(op, warps, shape);
    const uint32_t rows = parts(op->m, shape->tile_m), columns = parts(op->n, shape->tile_n);
    const double accumulators = (double)parts(rows, shape->along_m) * parts(columns, shape->along_n);
    const double steps = parts(op->k, shape->tile_k) * op->count;
    const double flop = 2.0 * shape->tile_m * shape->tile_n * shape->tile_k;
    const double interval_s = flop * SUB_CORES_MAX / machine->mma_flop_per_s[op->format];
    const uint32_t beside = parts(shape->warps, SUB_CORES_MAX); /* warps that share a sub-core's pipe */
    const double operand_bytes = operand_bytes_of(op, shape, loop->smem_operands);
    const double loads = operand_bytes / BYTES_PER_WARP_ACCESS / shape->warps;
    const struct product_waits waits = waits_of_product(machine, loop);
    step->warps = shape->warps;
    step->tensor_s = accumulators * steps * interval_s;
    step->issue_s = (accumulators * steps + loads) * machine->cycle_s;
    step->smem_s = operand_bytes / machine->smem_bytes_per_s;
    if (waits.known) { /* all other operands are loaded ahead, and warps of a sub-core work while one waits */
        step->alone_s = fmax(closed_queue_s(waits.s, step->tensor_s, beside), step->smem_s);
        return;
    }
    const double chain_s = steps * fmax(machine->mma_latency_s, interval_s * accumulators * beside);
    step->alone_s =
        closed_queue_s(chain_s + loads * machine->operand_wait_s, step->smem_s / shape->warps, shape->warps);
}

/* ---- instructions (SIM-6) -----------------------------------------------------------------------------------------
 */

static double edge_of_warp(const struct simulated_machine *machine, const struct tile_loop *loop)
{
    return loop->edge_instructions * machine->compiled_issue_factor;
}

/* Products counted so far: what the scalar work needs to know of them. */
struct product_sum {
    double instructions, copies, operand_elements; /* copies: warps that hold the first product's tile over those that
                                                      would do */
};

static double scalar_of_cta(const struct simulated_machine *machine, const struct tile_loop *loop, uint32_t warps,
                            double sector_bytes, const struct product_sum *products)
{
    if (loop->warp_instructions > 0)
        return fmax(0, loop->warp_instructions * warps - products->instructions) * machine->compiled_issue_factor;
    const double lanes = loop->fp32_ops + loop->special_ops + loop->convert_ops + loop->shuffle_ops +
                         loop->replicated_ops * products->copies + loop->operand_ops * products->operand_elements;
    return (lanes / LANES + sector_bytes / BYTES_PER_WARP_ACCESS) * machine->issue_factor;
}

/* ---- the program --------------------------------------------------------------------------------------------------
 */

static struct cta_step *next_step(struct cta_program *program, enum cta_stage stage)
{
    struct cta_step *step = &program->steps[program->step_count++];
    *step = (struct cta_step){.stage = stage, .warps = program->warps};
    return step;
}

static void count_product(const struct simulated_machine *machine, const struct mma_op *op, const struct cta_step *step,
                          const struct product_shape *shape, bool first, struct product_sum *sum)
{
    sum->instructions += step->issue_s * step->warps / machine->cycle_s;
    if (!first)
        return;
    if (op->warpgroup) {
        sum->operand_elements = (double)op->n * op->k * op->count;
        return;
    }
    const uint32_t rows = parts(op->m, shape->tile_m), columns = parts(op->n, shape->tile_n);
    const uint32_t needed_m = rows < shape->along_m ? rows : shape->along_m;
    const uint32_t needed_n = columns < shape->along_n ? columns : shape->along_n;
    sum->copies = (double)shape->warps / ((double)needed_m * needed_n);
    sum->operand_elements = (double)shape->warps * parts(columns, shape->along_n) * shape->tile_n * op->k * op->count;
}

static enum status add_products(const struct simulated_machine *machine, const struct kernel_case *kernel,
                                struct cta_program *program, struct product_sum *sum, struct error *error)
{
    const struct tile_loop *loop = &kernel->loop;
    for (uint32_t i = 0; i < loop->mma_count; i++) {
        const struct mma_op *op = &loop->mma[i];
        struct product_shape shape = {0};
        struct cta_step *step = next_step(program, CTA_STAGE_PRODUCT);
        const double rate =
            op->warpgroup ? machine->warpgroup_flop_per_s[op->format] : machine->mma_flop_per_s[op->format];
        if (!(rate > 0))
            return error_set(error, STATUS_MISSING, "%s: the device has no tensor rate for %s", kernel->name,
                             number_format_name(op->format));
        if (op->warpgroup)
            add_warpgroup_product(machine, op, program->warps, step);
        else
            add_warp_product(machine, op, program->warps, loop, step, &shape);
        count_product(machine, op, step, &shape, i == 0, sum);
    }
    return STATUS_OK;
}

static void add_scalar(const struct simulated_machine *machine, const struct tile_loop *loop, double instructions,
                       struct cta_program *program)
{
    struct cta_step *step = next_step(program, CTA_STAGE_SCALAR);
    const double per_warp = instructions / program->warps;
    const uint32_t beside = parts(program->warps, SUB_CORES_MAX);
    step->issue_s = per_warp * machine->cycle_s;
    step->special_s = loop->special_ops / machine->special_per_s;
    step->smem_s = loop->smem_bytes / machine->smem_bytes_per_s + program->exposed.smem_s;
    step->alone_s = closed_queue_s(
        fmax(per_warp * cycles_per_instruction(machine->issue_interval, beside) * machine->cycle_s, step->special_s),
        step->smem_s / program->warps, program->warps);
}

/* Waiting for copies, going round. Where all instructions of the loop are counted, this comes before the loads. */
static void add_overhead(const struct simulated_machine *machine, struct cta_program *program)
{
    next_step(program, CTA_STAGE_OVERHEAD)->alone_s = machine->iteration_overhead_s;
}

static void add_spills(const struct simulated_machine *machine, const struct tile_loop *loop,
                       struct cta_program *program)
{
    if (loop->spill_bytes > 0) { /* false for NaN: unknown is left out */
        struct cta_step *step = next_step(program, CTA_STAGE_SPILL);
        const double accesses = loop->spill_bytes / 4;
        step->alone_s = has_known_waits(loop) ? 0 : accesses * machine->spill_s * parts(program->warps, SUB_CORES_MAX);
        step->issue_s = loop->warp_instructions > 0 ? 0 : accesses * machine->cycle_s;
        step->local_bytes = accesses * program->warps * LANES * 4;
        step->smem_s = step->local_bytes / machine->smem_bytes_per_s;
    }
}

/* Of what a CTA writes, what DRAM has to take: all of it where the grid reads from DRAM or nothing, else its share of
 * what L2 cannot hold (TIME-6 has the measurement). */
static double written_back_bytes(const struct simulated_machine *machine, const struct kernel_case *kernel,
                                 const struct cta_program *program)
{
    const double bytes = kernel->loop.epilogue_bytes, written = (double)kernel->launch.grid_ctas * bytes;
    const double loaded = program->tile.bytes + program->exposed.bytes + program->prologue.bytes;
    if (loaded == 0 || program->tile.dram_bytes + program->exposed.dram_bytes + program->prologue.dram_bytes > 0)
        return bytes;
    return written > machine->l2_capacity_bytes ? bytes * (1 - machine->l2_capacity_bytes / written) : 0;
}

/* After the loads. */
static void set_edges(const struct simulated_machine *machine, const struct kernel_case *kernel,
                      struct cta_program *program)
{
    const struct tile_loop *loop = &kernel->loop;
    const double edge = edge_of_warp(machine, loop) / 2 * machine->cycle_s;
    program->start_s = machine->cta_start_s;
    program->edge_issue_s = edge;
    program->edge_s = edge * cycles_per_instruction(machine->issue_interval, parts(program->warps, SUB_CORES_MAX));
    program->prologue.latency_s = loop->serial_steps * machine->l2_latency_s;
    if (loop->prologue_bytes > 0)
        program->prologue.latency_s +=
            slowest_sector_s(machine, loop->prologue_bytes, loop->prologue_distinct_fraction);
    program->prologue.bytes = loop->prologue_bytes;
    program->prologue.dram_bytes = loop->prologue_bytes * loop->prologue_distinct_fraction;
    program->epilogue.bytes = loop->epilogue_bytes;
    program->epilogue.is_written = true;
    if (loop->epilogue_piece_bytes > 0 && loop->epilogue_piece_bytes < SECTOR) { /* SIM-11 */
        const double pieces = loop->epilogue_bytes / loop->epilogue_piece_bytes;
        program->epilogue.partial_port_s = pieces * machine->port_partial_write_s;
        program->epilogue.partial_l2_s = pieces * machine->l2_partial_write_s;
    }
    program->epilogue.dram_bytes = written_back_bytes(machine, kernel, program);
}

static void add_barriers(const struct simulated_machine *machine, const struct tile_loop *loop,
                         struct cta_program *program)
{
    if (loop->barriers > 0)
        next_step(program, CTA_STAGE_BARRIER)->alone_s =
            loop->barriers * machine->barrier_s * (BARRIER_FIXED_SHARE + BARRIER_SHARE_PER_WARP * program->warps);
}

/* Softmax stands between the first product and the others. */
static void move_scalar(struct cta_program *program, uint32_t first_product)
{
    if (program->step_count <= first_product + 2)
        return;
    const struct cta_step moved = program->steps[program->step_count - 1];
    memmove(&program->steps[first_product + 2], &program->steps[first_product + 1],
            (program->step_count - first_product - 2) * sizeof moved);
    program->steps[first_product + 1] = moved;
}

/* After how many steps the refill goes out: those of the work that precedes it. */
static void set_refill(const struct tile_loop *loop, struct cta_program *program)
{
    const double first_s = program->steps[0].stage == CTA_STAGE_OVERHEAD ? program->steps[0].alone_s : 0;
    double before_s = 0;
    for (uint32_t i = 0; i < program->step_count; i++)
        program->iteration_alone_s += program->steps[i].alone_s;
    const double wanted_s = first_s + (1 - loop->early_fraction) * (program->iteration_alone_s - first_s);
    program->refill_step = 0;
    while (program->refill_step < program->step_count && before_s < wanted_s * (1 - 1e-9))
        before_s += program->steps[program->refill_step++].alone_s;
}

enum status cta_program_build(const struct simulated_machine *machine, const struct kernel_case *kernel,
                              struct cta_program *program, struct error *error)
{
    const struct tile_loop *loop = &kernel->loop;
    const bool counted = loop->warp_instructions > 0;
    struct product_sum products = {.copies = 1};
    memset(program, 0, sizeof *program);
    program->warps = parts(kernel->launch.threads, 32);
    program->buffers = loop->buffers >= 2 ? (uint32_t)loop->buffers : 1;
    program->smem_bytes = (double)kernel->launch.static_smem_bytes + (double)kernel->launch.dynamic_smem_bytes +
                          machine->limits->smem_reserved_per_cta_bytes;
    program->frame_bytes =
        kernel->launch.threads * (loop->local_bytes > 0 ? loop->local_bytes : fmax(0, loop->spill_bytes) / 2);
    add_load(machine, loop, &loop->gather, program);
    add_load(machine, loop, &loop->stream, program);
    set_edges(machine, kernel, program);
    if (counted)
        add_overhead(machine, program);
    add_barriers(machine, loop, program);
    const uint32_t first_product = program->step_count;
    const enum status status = add_products(machine, kernel, program, &products, error);
    if (status != STATUS_OK)
        return status;
    const double scalar =
        scalar_of_cta(machine, loop, program->warps, program->tile.bytes + program->exposed.bytes, &products);
    add_scalar(machine, loop, scalar, program);
    move_scalar(program, first_product);
    add_spills(machine, loop, program);
    if (!counted)
        add_overhead(machine, program);
    set_refill(loop, program);
    return STATUS_OK;
}
