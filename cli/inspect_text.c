/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam inspect` as text and as a report: figures of every variant, and what one warp does in a turn of its loop. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/inspect.h"
#include "cli/quantity_text.h"

/* --- report: JSON and CSV ------------------------------------------------------------------------------------------
 */

static void record_sources(struct report *report, unsigned sources)
{
    report_begin_array(report, "sources");
    for (unsigned i = 1; i <= CODE_SOURCE_INDEX; i++) {
        if ((sources >> i & 1) != 0) {
            report_string(report, NULL, code_source_name((enum code_source)i));
        }
    }
    report_end(report);
}

static void record_figures(struct report *report, const struct compiled_kernel *kernel)
{
    for (int i = 0; i < COMPILED_FIGURE_COUNT; i++) {
        const struct code_figure *figure = &kernel->figures[i];
        const char *key = compiled_figure_name((enum compiled_figure)i);
        if (figure->state == FIGURE_UNKNOWN) {
            report_string(report, key, NULL);
        } else {
            report_integer(report, key, (int64_t)figure->value);
        }
    }
    report_begin_array(report, "bounds");
    for (int i = 0; i < COMPILED_FIGURE_COUNT; i++) {
        if (kernel->figures[i].state == FIGURE_AT_MOST || kernel->figures[i].state == FIGURE_AT_LEAST) {
            char text[96];
            (void)snprintf(text, sizeof text, "%s %s", compiled_figure_name((enum compiled_figure)i),
                           figure_state_name(kernel->figures[i].state));
            report_string(report, NULL, text);
        }
    }
    report_end(report);
}

static void record_tally(struct report *report, const char *key, const struct code_tally *tally)
{
    report_begin_object(report, key);
    report_number(report, "instructions", tally->instructions_sure);
    report_number(report, "instructions_most", tally->instructions_most);
    for (int op = 0; op < CODE_OP_COUNT; op++) {
        char most[64];
        if (tally->most[op] > 0) {
            (void)snprintf(most, sizeof most, "%s_most", code_op_name((enum code_op)op));
            report_number(report, code_op_name((enum code_op)op), tally->sure[op]);
            report_number(report, most, tally->most[op]);
        }
    }
    report_end(report);
}

static void record_load(struct report *report, const char *key, const struct tile_load *load)
{
    report_begin_object(report, key);
    report_number(report, "rows", load->rows);
    report_number(report, "row_bytes", load->row_bytes);
    report_bool(report, "index_dependent", load->index_dependent);
    report_bool(report, "pipelined", load->pipelined);
    report_end(report);
}

static void record_tile_loop(struct report *report, const struct inspect_row *row)
{
    const struct tile_loop *loop = &row->loop;
    report_begin_object(report, "tile_loop");
    report_number(report, "declared_stages", loop->declared_stages);
    report_number(report, "buffers", loop->buffers);
    record_load(report, "gather", &loop->gather);
    record_load(report, "stream", &loop->stream);
    report_begin_rows(report, "mma");
    for (uint32_t i = 0; i < loop->mma_count; i++) {
        const struct mma_op *op = &loop->mma[i];
        report_begin_object(report, NULL);
        report_integer(report, "m", op->m);
        report_integer(report, "n", op->n);
        report_integer(report, "k", op->k);
        report_number(report, "count", op->count);
        report_string(report, "type", number_format_name(op->format));
        report_bool(report, "warpgroup", op->warpgroup);
        report_end(report);
    }
    report_end(report);
    report_number(report, "fp32_ops", loop->fp32_ops);
    report_number(report, "special_ops", loop->special_ops);
    report_number(report, "convert_ops", loop->convert_ops);
    report_number(report, "shuffle_ops", loop->shuffle_ops);
    report_number(report, "smem_bytes", loop->smem_bytes);
    report_number(report, "barriers", loop->barriers);
    report_number(report, "spill_bytes", loop->spill_bytes);
    report_number(report, "warp_instructions", loop->warp_instructions);
    report_number(report, "edge_instructions", loop->edge_instructions);
    report_number(report, "operand_waits", loop->operand_waits);
    report_number(report, "product_waits", loop->product_waits);
    report_number(report, "early_fraction", loop->early_fraction);
    report_number(report, "local_bytes", loop->local_bytes);
    report_number(report, "prologue_bytes", loop->prologue_bytes);
    report_number(report, "epilogue_bytes", loop->epilogue_bytes);
    report_end(report);
}

static void record_loop(struct report *report, const struct inspect_row *row)
{
    const struct code_profile *profile = row->variant->profile;
    char trip[256];
    report_begin_object(report, "loop");
    report_string(report, "listing", profile->is_sass ? "sass" : "ptx");
    report_string(report, "file", row->variant->profile_file);
    report_string(report, "bytes_and_products_from", row->variant->address_file);
    report_bool(report, "found", profile->has_loop);
    report_integer(report, "line", profile->main_line);
    report_integer(report, "loops", profile->loop_count);
    report_integer(report, "depth", profile->main_depth);
    report_string(report, "turns", code_trip_text(&profile->trip, trip, sizeof trip));
    report_number(report, "outer_turns", profile->outer_turns);
    report_string(report, "pipeline", code_pipeline_name(profile->pipeline.kind));
    report_number(report, "buffers", profile->pipeline.buffers_known ? profile->pipeline.buffers : (double)NAN);
    record_tally(report, "prologue", &profile->prologue);
    record_tally(report, "iteration", &profile->iteration);
    record_tally(report, "epilogue", &profile->epilogue);
    if (row->has_loop) {
        record_tile_loop(report, row);
    }
    report_string(report, "assumed", row->assumed);
    report_begin_array(report, "notes");
    for (uint32_t i = 0; i < profile->note_count; i++) {
        report_string(report, NULL, profile->notes[i]);
    }
    report_end(report);
    report_end(report);
}

void inspect_record(const struct inspect_rows *rows, struct report *report)
{
    char arch[16];
    report_begin_rows(report, "variants");
    for (size_t i = 0; i < rows->count; i++) {
        const struct code_variant *variant = rows->items[i].variant;
        const struct compiled_kernel *kernel = &variant->kernel;
        report_begin_object(report, NULL);
        report_string(report, "kernel", kernel->name);
        report_string(report, "label", variant->label);
        report_string(report, "arch", kernel->arch > 0 ? inspect_arch_text(kernel, arch) : NULL);
        record_figures(report, kernel);
        report_bool(report, "rejected", kernel->is_rejected);
        record_sources(report, variant->sources);
        report_string(report, "file", kernel->file);
        report_string(report, "note", kernel->note);
        if (variant->profile != NULL) {
            record_loop(report, &rows->items[i]);
        }
        report_end(report);
    }
    report_end(report);
    report_begin_array(report, "problems");
    for (size_t i = 0; i < rows->code->problem_count && i < CODE_PROBLEMS_MAX; i++) {
        report_string(report, NULL, rows->code->problems[i]);
    }
    report_end(report);
    report_integer(report, "problem_count", (int64_t)rows->code->problem_count);
    report_integer(report, "skipped_links", (int64_t)rows->code->skipped_links);
    report_integer(report, "skipped_folders", (int64_t)rows->code->skipped_folders);
}

/* --- text ----------------------------------------------------------------------------------------------------------
 */

static void text_figure(struct report *report, const struct compiled_kernel *kernel, enum compiled_figure id)
{
    const struct code_figure *figure = &kernel->figures[id];
    char text[32];
    if (figure->state == FIGURE_UNKNOWN) {
        report_string(report, compiled_figure_name(id), NULL);
    } else if (figure->state == FIGURE_EXACT) {
        report_integer(report, compiled_figure_name(id), (int64_t)figure->value);
    } else {
        (void)snprintf(text, sizeof text, "%s %llu",
                       figure->state == FIGURE_AT_MOST ? "<=" : ">=", (unsigned long long)figure->value);
        report_string(report, compiled_figure_name(id), text);
    }
}

static void text_row(struct report *report, const struct inspect_row *row)
{
    static const enum compiled_figure shown[] = {
        COMPILED_THREADS,      COMPILED_REGISTERS,   COMPILED_STATIC_SMEM, COMPILED_DYNAMIC_SMEM, COMPILED_STACK,
        COMPILED_SPILL_STORES, COMPILED_SPILL_LOADS, COMPILED_BARRIERS,    COMPILED_CLUSTER,      COMPILED_NUM_STAGES};
    const struct compiled_kernel *kernel = &row->variant->kernel;
    char name[40], arch[16], number[16];
    size_t length = strlen(kernel->name);
    report_begin_object(report, NULL);
    (void)snprintf(number, sizeof number, "%u", row->number);
    (void)snprintf(name, sizeof name, length < sizeof name ? "%s" : "%.35s...", kernel->name);
    report_string(report, "kernel", name);
    report_string(report, "number", number);
    report_string(report, "arch", kernel->arch > 0 ? inspect_arch_text(kernel, arch) : NULL);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        text_figure(report, kernel, shown[i]);
    }
    report_string(report, "stem", row->variant->stem);
    report_end(report);
}

static enum status print_table(const struct inspect_rows *rows, struct error *error)
{
    static const struct report_column columns[] = {{"kernel", "kernel", 0},
                                                   {"number", "no", 0},
                                                   {"arch", "arch", 0},
                                                   {"threads", "threads", 12},
                                                   {"registers_per_thread", "registers", 12},
                                                   {"static_smem_bytes", "static B", 12},
                                                   {"dynamic_smem_bytes", "dynamic B", 12},
                                                   {"stack_bytes", "stack B", 12},
                                                   {"spill_store_bytes", "spilled B", 12},
                                                   {"spill_load_bytes", "refilled B", 12},
                                                   {"barriers", "barriers", 12},
                                                   {"cluster_ctas", "cluster", 12},
                                                   {"num_stages", "stages", 12},
                                                   {"stem", "in the index", 0}};
    /* The names of an index tell variants apart; those of a cache are hashes. */
    const size_t count = sizeof columns / sizeof columns[0] - (rows->code->has_index ? 0 : 1);
    struct report report = {0};
    report_begin_rows(&report, "rows");
    for (size_t i = 0; i < rows->count; i++) {
        text_row(&report, &rows->items[i]);
    }
    report_end(&report);
    enum status status = report_print_table(&report, "rows", columns, count, stdout, error);
    report_release(&report);
    return status;
}

static void print_remarks(const struct inspect_rows *rows)
{
    const struct compiled_code *code = rows->code;
    for (size_t i = 0; i < rows->count; i++) {
        const struct inspect_row *row = &rows->items[i];
        if (row->variant->kernel.note[0] != '\0') {
            (void)printf("note: %s %u: %s\n", row->variant->kernel.name, row->number, row->variant->kernel.note);
        }
    }
    for (size_t i = 0; i < code->problem_count && i < CODE_PROBLEMS_MAX; i++) {
        (void)printf("not read: %s\n", code->problems[i]);
    }
    if (code->problem_count > CODE_PROBLEMS_MAX) {
        (void)printf("not read: %zu more files\n", code->problem_count - CODE_PROBLEMS_MAX);
    }
    if (code->skipped_links > 0 || code->skipped_folders > 0) {
        (void)printf("not followed: %zu links, %zu folders\n", code->skipped_links, code->skipped_folders);
    }
}

static void print_counts(const struct code_tally *prologue, const struct code_tally *iteration,
                         const struct code_tally *epilogue)
{
    (void)printf("  %-18s %10s %10s %10s %10s\n", "per warp", "before", "a turn", "at most", "after");
    (void)printf("  %-18s %10.6g %10.6g %10.6g %10.6g\n", "instructions", prologue->instructions_most,
                 iteration->instructions_sure, iteration->instructions_most, epilogue->instructions_most);
    for (int op = 0; op < CODE_OP_COUNT; op++) {
        if (prologue->most[op] + iteration->most[op] + epilogue->most[op] > 0) {
            (void)printf("  %-18s %10.6g %10.6g %10.6g %10.6g\n", code_op_name((enum code_op)op), prologue->most[op],
                         iteration->sure[op], iteration->most[op], epilogue->most[op]);
        }
    }
}

static void print_load(const char *name, const struct tile_load *load)
{
    char bytes[QUANTITY_TEXT_SIZE];
    if (load->rows > 0) {
        (void)printf("  %-18s %.6g rows of %s%s\n", name, load->rows, quantity_bytes(load->row_bytes, bytes),
                     load->pipelined ? "" : ", not buffered");
    }
}

static void print_tile_loop(const struct inspect_row *row)
{
    const struct tile_loop *loop = &row->loop;
    if (!row->has_loop) {
        (void)printf("  no tile loop: %s\n", row->assumed);
        return;
    }
    (void)printf("  the CTA, a turn:\n");
    print_load("gather", &loop->gather);
    print_load("stream", &loop->stream);
    for (uint32_t i = 0; i < loop->mma_count; i++) {
        const struct mma_op *op = &loop->mma[i];
        (void)printf("  %-18s %u x %u x %u %s%s, %.6g\n", "product", op->m, op->n, op->k,
                     number_format_name(op->format), op->warpgroup ? " by warpgroups" : "", op->count);
    }
    (void)printf("  %-18s fp32 %.6g, special %.6g, convert %.6g, shuffle %.6g\n", "lane operations", loop->fp32_ops,
                 loop->special_ops, loop->convert_ops, loop->shuffle_ops);
    (void)printf("  %-18s %.6g on %s way, %.6g barriers, SMEM besides operands %.6g B\n", "tiles", loop->buffers,
                 loop->buffers == 1 ? "its" : "their", loop->barriers, loop->smem_bytes);
    if (row->assumed[0] != '\0') {
        (void)printf("  assumed: %s\n", row->assumed);
    }
}

static void print_loop(const struct inspect_row *row)
{
    const struct code_profile *profile = row->variant->profile;
    char trip[256], arch[16];
    (void)printf("\n%s %u %s, %s of %s\n", row->variant->kernel.name, row->number,
                 inspect_arch_text(&row->variant->kernel, arch), profile->is_sass ? "SASS" : "PTX",
                 row->variant->profile_file);
    if (row->variant->address_file != NULL) {
        (void)printf("  bytes without repetition and chains of products: PTX of %s\n", row->variant->address_file);
    }
    if (!profile->has_loop) {
        (void)printf("  no loop\n");
    } else {
        (void)printf("  main loop at line %u, depth %u, of %u loop%s; turns: %s\n", profile->main_line,
                     profile->main_depth, profile->loop_count, profile->loop_count == 1 ? "" : "s",
                     code_trip_text(&profile->trip, trip, sizeof trip));
        (void)printf("  asynchronous copies: %s", code_pipeline_name(profile->pipeline.kind));
        if (profile->pipeline.buffers_known) {
            (void)printf(", %.3g tile%s of SMEM", profile->pipeline.buffers, profile->pipeline.buffers == 1 ? "" : "s");
        }
        (void)printf("\n");
    }
    print_counts(&profile->prologue, &profile->iteration, &profile->epilogue);
    print_tile_loop(row);
    for (uint32_t i = 0; i < profile->note_count; i++) {
        (void)printf("  note: %s\n", profile->notes[i]);
    }
}

void inspect_print_loops(const struct inspect_rows *rows, size_t loops_max)
{
    size_t profiles = 0;
    for (size_t i = 0; i < rows->count; i++) {
        profiles += rows->items[i].variant->profile != NULL;
    }
    for (size_t i = 0; i < rows->count && profiles <= loops_max; i++) {
        if (rows->items[i].variant->profile != NULL) {
            print_loop(&rows->items[i]);
        }
    }
    if (profiles > loops_max) {
        (void)printf("\n%zu loops: --loops prints them, --kernel and --arch choose, --as loops writes a table\n",
                     profiles);
    }
}

enum status inspect_print_table(const struct inspect_rows *rows, struct error *error)
{
    enum status status = print_table(rows, error);
    if (status == STATUS_OK) {
        print_remarks(rows);
    }
    return status;
}
