/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam inspect --as loops`: one CSV row per variant that `loop: {from: ...}` of a scenario reads. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "cli/inspect.h"

/* What a cell holds: NaN is an empty one. */
typedef double cell_value(const struct inspect_row *row, unsigned argument);

static double figure_cell(const struct inspect_row *row, unsigned figure)
{
    const struct code_figure *found = &row->variant->kernel.figures[figure];
    /* A bound is no figure: threads of __launch_bounds__ are not those of the launch. */
    return found->state == FIGURE_EXACT ? (double)found->value : (double)NAN;
}

static double number_cell(const struct inspect_row *row, unsigned unused)
{
    (void)unused;
    return row->number;
}

enum load_member {
    LOAD_ROWS,
    LOAD_ROW_BYTES,
    LOAD_ALIGNMENT,
    LOAD_INDEX_DEPENDENT,
    LOAD_PIPELINED,
    LOAD_EXPOSURES,
    LOAD_IN_FLIGHT
};

static double load_value(const struct inspect_row *row, const struct tile_load *load, unsigned member)
{
    if (!row->has_loop) {
        return NAN;
    }
    const double values[] = {load->rows,      load->row_bytes, load->alignment_bytes, load->index_dependent,
                             load->pipelined, load->exposures, load->in_flight_bytes};
    return values[member];
}

static double gather_cell(const struct inspect_row *row, unsigned member)
{
    return load_value(row, &row->loop.gather, member);
}
static double stream_cell(const struct inspect_row *row, unsigned member)
{
    return load_value(row, &row->loop.stream, member);
}

enum mma_member {
    MMA_M,
    MMA_N,
    MMA_K,
    MMA_COUNT,
    MMA_WARPS_M,
    MMA_WARPS_N,
    MMA_WARPGROUP,
    MMA_MEMBERS
};

/* A variant without this product has a product of no count, so that tables of both kinds can be looked up. */
static double mma_cell(const struct inspect_row *row, unsigned argument)
{
    unsigned index = argument / MMA_MEMBERS, member = argument % MMA_MEMBERS;
    static const struct mma_op none = {.m = 16, .n = 8, .k = 16};
    if (!row->has_loop) {
        return NAN;
    }
    const struct mma_op *op = index < row->loop.mma_count ? &row->loop.mma[index] : &none;
    const double values[MMA_MEMBERS] = {op->m, op->n, op->k, op->count, op->warps_m, op->warps_n, op->warpgroup};
    return values[member];
}

static double loop_cell(const struct inspect_row *row, unsigned member)
{
    const struct tile_loop *loop = &row->loop;
    const double values[] = {loop->declared_stages,   loop->buffers,           loop->fp32_ops,
                             loop->special_ops,       loop->convert_ops,       loop->shuffle_ops,
                             loop->replicated_ops,    loop->operand_ops,       loop->smem_bytes,
                             loop->smem_operands,     loop->barriers,          loop->spill_bytes,
                             loop->prologue_bytes,    loop->epilogue_bytes,    loop->serial_steps,
                             loop->warp_instructions, loop->edge_instructions, loop->early_fraction,
                             loop->local_bytes,       loop->operand_waits,     loop->product_waits};
    return row->has_loop ? values[member] : (double)NAN;
}

/* Where the code has all bounds as literals. */
static double turns_cell(const struct inspect_row *row, unsigned unused)
{
    (void)unused;
    return row->has_loop ? row->variant->profile->trip.turns * row->variant->profile->outer_turns : (double)NAN;
}

static double tile_cell(const struct inspect_row *row, unsigned side)
{
    if (!row->has_loop || row->loop.mma_count == 0) {
        return NAN;
    }
    const struct mma_op *op = &row->loop.mma[0];
    const double sides[] = {op->m, op->n, op->k * op->count};
    return sides[side];
}

struct table_column {
    const char *name;
    cell_value *value;
    unsigned argument;
};

#define MMA_COLUMNS(i)                                                                                                 \
    {"loop.mma" #i ".m", mma_cell, (i - 1) * MMA_MEMBERS + MMA_M},                                                     \
        {"loop.mma" #i ".n", mma_cell, (i - 1) * MMA_MEMBERS + MMA_N},                                                 \
        {"loop.mma" #i ".k", mma_cell, (i - 1) * MMA_MEMBERS + MMA_K},                                                 \
        {"loop.mma" #i ".count", mma_cell, (i - 1) * MMA_MEMBERS + MMA_COUNT},                                         \
        {"loop.mma" #i ".warps_m", mma_cell, (i - 1) * MMA_MEMBERS + MMA_WARPS_M},                                     \
        {"loop.mma" #i ".warps_n", mma_cell, (i - 1) * MMA_MEMBERS + MMA_WARPS_N},                                     \
    {                                                                                                                  \
        "loop.mma" #i ".warpgroup", mma_cell, (i - 1) * MMA_MEMBERS + MMA_WARPGROUP                                    \
    }

static const struct table_column columns[] = {
    {"variant", number_cell, 0},
    {"num_warps", figure_cell, COMPILED_NUM_WARPS},
    {"num_stages", figure_cell, COMPILED_NUM_STAGES},
    {"tile_m", tile_cell, 0},
    {"tile_n", tile_cell, 1},
    {"tile_k", tile_cell, 2},
    {"threads", figure_cell, COMPILED_THREADS},
    {"registers_per_thread", figure_cell, COMPILED_REGISTERS},
    {"static_smem_bytes", figure_cell, COMPILED_STATIC_SMEM},
    {"dynamic_smem_bytes", figure_cell, COMPILED_DYNAMIC_SMEM},
    {"barriers", figure_cell, COMPILED_BARRIERS},
    {"cluster_ctas", figure_cell, COMPILED_CLUSTER},
    {"stack_bytes", figure_cell, COMPILED_STACK},
    {"spill_store_bytes", figure_cell, COMPILED_SPILL_STORES},
    {"spill_load_bytes", figure_cell, COMPILED_SPILL_LOADS},
    {"prologue_bytes", loop_cell, 12},
    {"epilogue_bytes", loop_cell, 13},
    {"serial_steps", loop_cell, 14},
    {"loop.iterations", turns_cell, 0},
    {"loop.declared_stages", loop_cell, 0},
    {"loop.buffers", loop_cell, 1},
    {"loop.gather.rows", gather_cell, LOAD_ROWS},
    {"loop.gather.row_bytes", gather_cell, LOAD_ROW_BYTES},
    {"loop.gather.alignment_bytes", gather_cell, LOAD_ALIGNMENT},
    {"loop.gather.index_dependent", gather_cell, LOAD_INDEX_DEPENDENT},
    {"loop.gather.pipelined", gather_cell, LOAD_PIPELINED},
    {"loop.gather.exposures", gather_cell, LOAD_EXPOSURES},
    {"loop.gather.in_flight_bytes", gather_cell, LOAD_IN_FLIGHT},
    {"loop.stream.rows", stream_cell, LOAD_ROWS},
    {"loop.stream.row_bytes", stream_cell, LOAD_ROW_BYTES},
    {"loop.stream.alignment_bytes", stream_cell, LOAD_ALIGNMENT},
    {"loop.stream.index_dependent", stream_cell, LOAD_INDEX_DEPENDENT},
    {"loop.stream.pipelined", stream_cell, LOAD_PIPELINED},
    {"loop.stream.exposures", stream_cell, LOAD_EXPOSURES},
    {"loop.stream.in_flight_bytes", stream_cell, LOAD_IN_FLIGHT},
    MMA_COLUMNS(1),
    MMA_COLUMNS(2),
    MMA_COLUMNS(3),
    MMA_COLUMNS(4),
    {"loop.fp32_ops", loop_cell, 2},
    {"loop.special_ops", loop_cell, 3},
    {"loop.convert_ops", loop_cell, 4},
    {"loop.shuffle_ops", loop_cell, 5},
    {"loop.replicated_ops", loop_cell, 6},
    {"loop.operand_ops", loop_cell, 7},
    {"loop.smem_bytes", loop_cell, 8},
    {"loop.smem_operands", loop_cell, 9},
    {"loop.barriers", loop_cell, 10},
    {"loop.spill_bytes", loop_cell, 11},
    {"loop.warp_instructions", loop_cell, 15},
    {"loop.edge_instructions", loop_cell, 16},
    {"loop.early_fraction", loop_cell, 17},
    {"loop.local_bytes", loop_cell, 18},
    {"loop.operand_waits", loop_cell, 19},
    {"loop.product_waits", loop_cell, 20},
};
enum {
    COLUMN_COUNT = sizeof columns / sizeof columns[0]
};

/* --- cells of the index --------------------------------------------------------------------------------------------
 */

/* A number, or ">N" as the least whole number that it means: compiled code tells 1 from more than 1, the scenario's key
 * then says min(x, 2). */
static bool index_number(const char *text, double *value)
{
    if (text[0] != '>') {
        return number_parse(text, value) == STATUS_OK;
    }
    bool is_number = number_parse(text + 1, value) == STATUS_OK;
    *value = is_number ? floor(*value) + 1 : (double)NAN;
    return is_number;
}

static const char *index_text(const struct inspect_rows *rows, size_t row, size_t column)
{
    long index_row = rows->items[row].variant->index_row;
    return index_row >= 0 ? csv_cell(&rows->code->index, (size_t)index_row, column) : "";
}

static size_t index_columns(const struct inspect_rows *rows)
{
    return rows->code->has_index ? rows->code->index.column_count : 0;
}

static bool is_index_column(const struct inspect_rows *rows, const char *name)
{
    return rows->code->has_index && csv_column(&rows->code->index, name) >= 0;
}

double inspect_knob_value(const struct inspect_rows *rows, size_t row, const char *name)
{
    double value = NAN;
    if (is_index_column(rows, name)) {
        (void)index_number(index_text(rows, row, (size_t)csv_column(&rows->code->index, name)), &value);
        return value;
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (strcmp(columns[i].name, name) == 0) {
            return columns[i].value(&rows->items[row], columns[i].argument);
        }
    }
    return value;
}

/* --- the table -----------------------------------------------------------------------------------------------------
 */

/* A product that no variant has, and columns without any figure but those whose emptiness speaks. */
static bool is_printed(const struct inspect_rows *rows, const struct table_column *column)
{
    bool has_loop = false;
    if (is_index_column(rows, column->name)) {
        return false; /* the index has its own */
    }
    for (size_t i = 0; i < rows->count; i++) {
        bool is_absent_mma =
            column->value == mma_cell && column->argument / MMA_MEMBERS >= rows->items[i].loop.mma_count;
        has_loop = has_loop || rows->items[i].has_loop;
        if (!is_absent_mma && !isnan(column->value(&rows->items[i], column->argument))) {
            return true;
        }
    }
    return has_loop && strcmp(column->name, "loop.spill_bytes") == 0;
}

static void print_header(const struct inspect_rows *rows, FILE *stream)
{
    (void)fprintf(stream, "# source: occam inspect, %zu variants of compiled code\nkernel,label,arch", rows->count);
    for (size_t i = 0; i < index_columns(rows); i++) {
        (void)fputc(',', stream);
        csv_write_field(stream, rows->code->index.names[i]);
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (is_printed(rows, &columns[i])) {
            (void)fprintf(stream, ",%s", columns[i].name);
        }
    }
    for (unsigned i = 0; i < TILE_LOOP_MMA_MAX; i++) {
        (void)fprintf(stream, ",loop.mma%u.type,loop.mma%u.instruction", i + 1, i + 1);
    }
    (void)fprintf(stream, ",assumed\n");
}

static void print_texts(const struct inspect_row *row, FILE *stream)
{
    for (uint32_t i = 0; i < TILE_LOOP_MMA_MAX; i++) {
        const struct mma_op *op = &row->loop.mma[i];
        if (!row->has_loop || i >= row->loop.mma_count) {
            (void)fprintf(stream, ",,");
        } else if (op->instruction_m == 0) {
            (void)fprintf(stream, ",%s,", number_format_name(op->format));
        } else {
            (void)fprintf(stream, ",%s,%ux%ux%u", number_format_name(op->format), op->instruction_m, op->instruction_n,
                          op->instruction_k);
        }
    }
    (void)fputc(',', stream);
    csv_write_field(stream, row->assumed);
    (void)fputc('\n', stream);
}

static void print_row(const struct inspect_rows *rows, size_t row, FILE *stream)
{
    const struct code_variant *variant = rows->items[row].variant;
    char arch[16], number[32];
    csv_write_field(stream, variant->kernel.name);
    (void)fputc(',', stream);
    csv_write_field(stream, variant->label);
    (void)fprintf(stream, ",%s", inspect_arch_text(&variant->kernel, arch));
    for (size_t i = 0; i < index_columns(rows); i++) {
        const char *text = index_text(rows, row, i);
        double value;
        (void)fputc(',', stream);
        csv_write_field(stream, index_number(text, &value) ? number_format(value, number) : text);
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (is_printed(rows, &columns[i])) {
            double value = columns[i].value(&rows->items[row], columns[i].argument);
            (void)fprintf(stream, ",%s", isnan(value) ? "" : number_format(value, number));
        }
    }
    print_texts(&rows->items[row], stream);
}

enum status inspect_loop_table(const struct inspect_rows *rows, FILE *stream, struct error *error)
{
    print_header(rows, stream);
    for (size_t row = 0; row < rows->count; row++) {
        print_row(rows, row, stream);
    }
    return fflush(stream) == 0 && ferror(stream) == 0
               ? STATUS_OK
               : error_set(error, STATUS_IO, "the table cannot be written: %s", strerror(errno));
}
