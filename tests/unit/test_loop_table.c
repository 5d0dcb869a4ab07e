/* SPDX-License-Identifier: GPL-3.0-or-later
 * `loop: {from: TABLE, keys: ...}`: figures of compiled variants by knob, what is written down beside them, and tables
 * that do not fit. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/scenario/scenario.h"
#include "tests/support/temp_dir.h"

Suite *suite_loop_table(void);

static struct temp_dir folder;
static struct device_catalogue *catalogue;

static void set_up(void)
{
    struct error error = {0};
    temp_dir_create(&folder);
    ck_assert_int_eq(device_catalogue_create(&catalogue, &error), STATUS_OK);
}
static void tear_down(void)
{
    device_catalogue_free(catalogue);
    temp_dir_remove(&folder);
}

static const char table_text[] =
    "variant,BN,w,loop.buffers,loop.stream.rows,loop.stream.row_bytes,loop.gather.rows,loop.gather.row_bytes,"
    "loop.mma1.m,loop.mma1.n,loop.mma1.k,loop.mma1.count,loop.mma1.type,loop.mma1.instruction,loop.fp32_ops,"
    "loop.spill_bytes,loop.barriers,loop.warp_instructions,loop.edge_instructions,loop.early_fraction,"
    "loop.local_bytes\n"
    "a,32,4,2,32,512,0,0,16,32,128,1,fp16,16x8x16,1234,,2,300,40,0.5,0\n"
    "a,64,4,3,64,512,0,0,16,64,128,2,fp16,16x8x16,2345,,2,500,60,0.25,0\n"
    "a,64,8,3,64,512,5,64,16,64,128,2,fp16,16x8x16,777,,,350,50,0,128\n"
    "b,64,8,9,1,1,0,0,16,64,128,2,bf16,16x8x16,888,,4,1,1,1,1\n";

static enum status read_scenario(const char *loop, const char *table, struct scenario **scenario, struct error *error)
{
    char path[600], text[2048];
    memset(error, 0, sizeof *error);
    (void)temp_dir_write(&folder, "loops.csv", table, strlen(table), path, sizeof path);
    (void)snprintf(
        text, sizeof text,
        "name: t\ndevice: nvidia-h200\nknobs: {BN: [32, 64], w: [4, 8]}\nbase: {BN: 64, w: 4}\n"
        "kernels:\n  k:\n    grid: 10\n    threads: 32 * w\n    registers: 32\n    smem_bytes: 0\n    loop: %s\n",
        loop);
    (void)temp_dir_write(&folder, "t.yaml", text, strlen(text), path, sizeof path);
    return scenario_read(path, catalogue, NULL, scenario, error);
}

static enum status evaluate(const struct scenario *scenario, double bn, double w, struct layer_case *layer,
                            struct error *error)
{
    struct scenario_evaluator *evaluator;
    ck_assert_int_eq(scenario_evaluator_create(scenario, &evaluator, error), STATUS_OK);
    enum config_verdict verdict;
    size_t constraint;
    double values[2] = {bn, w};
    enum status status = scenario_evaluate(evaluator, values, &verdict, &constraint, layer, error);
    scenario_evaluator_free(evaluator);
    return status;
}

START_TEST(figures_follow_the_knobs)
{
    struct scenario *scenario;
    struct error error;
    enum status status = read_scenario("{from: loops.csv, keys: {BN: BN, w: w}, where: {variant: a}, iterations: 7,\n"
                                       "      stream: {distinct_fraction: 0.25}, barriers: 1}",
                                       table_text, &scenario, &error);
    ck_assert_msg(status == STATUS_OK, "%u: %s", error.line, error.text);
    struct layer_case *layer = calloc(1, sizeof *layer);
    const struct tile_loop *loop = &layer->kernels[0].loop;
    ck_assert_int_eq(evaluate(scenario, 32, 4, layer, &error), STATUS_OK);
    ck_assert_int_eq(loop->source, INPUT_SOURCE_COMPILED);
    ck_assert_double_eq(loop->iterations, 7);
    ck_assert_double_eq(loop->buffers, 2);
    ck_assert_double_eq(loop->stream.rows, 32);
    ck_assert_double_eq(loop->stream.row_bytes, 512);
    ck_assert_double_eq(loop->stream.distinct_fraction, 0.25);
    ck_assert_double_eq(loop->gather.rows, 0);
    ck_assert_uint_eq(loop->mma_count, 1);
    ck_assert_uint_eq(loop->mma[0].n, 32);
    ck_assert_int_eq(loop->mma[0].format, NUMBER_FORMAT_FP16);
    ck_assert_uint_eq(loop->mma[0].instruction_n, 8);
    ck_assert_double_eq(loop->fp32_ops, 1234);
    ck_assert_double_eq(loop->barriers, 1); /* written down: not the table's */
    ck_assert(isnan(loop->spill_bytes));    /* a column without any figure: unknown */
    ck_assert_int_eq(evaluate(scenario, 64, 8, layer, &error), STATUS_OK);
    ck_assert_double_eq(loop->fp32_ops, 777);
    ck_assert_double_eq(loop->gather.rows, 5);
    ck_assert_double_eq(loop->mma[0].count, 2);
    ck_assert_double_eq(loop->warp_instructions, 350);
    ck_assert_double_eq(loop->edge_instructions, 50);
    ck_assert_double_eq(loop->early_fraction, 0);
    ck_assert_double_eq(loop->local_bytes, 128);
    /* No such variant was compiled: said, not guessed. */
    ck_assert_int_eq(evaluate(scenario, 32, 8, layer, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "loops.csv has no row with BN = 32, w = 8"));
    free(layer);
    scenario_free(scenario);
}
END_TEST

/* One kernel's variants compile to different instructions; where none is told, the format's own. */
START_TEST(instructions_differ_by_row)
{
    static const struct {
        double bn, w;
        uint32_t m, n, k;
    } rows[] = {{32, 4, 16, 8, 16}, {64, 4, 64, 64, 16}, {64, 8, 0, 0, 0}};
    struct layer_case *layer = calloc(1, sizeof *layer);
    struct scenario *scenario;
    struct error error;
    const char *table = "variant,BN,w,loop.mma1.m,loop.mma1.n,loop.mma1.k,loop.mma1.instruction\n"
                        "a,32,4,64,32,16,16x8x16\na,64,4,64,64,16,64x64x16\na,64,8,64,64,16,\nb,32,4,64,32,16,none\n";
    ck_assert_msg(read_scenario("{from: loops.csv, keys: {BN: BN, w: w}, where: {variant: a}, iterations: 1}", table,
                                &scenario, &error) == STATUS_OK,
                  "%s", error.text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mma_op *op = &layer->kernels[0].loop.mma[0];
        ck_assert_int_eq(evaluate(scenario, rows[i].bn, rows[i].w, layer, &error), STATUS_OK);
        ck_assert(op->n == rows[i].bn && op->instruction_m == rows[i].m && op->instruction_n == rows[i].n &&
                  op->instruction_k == rows[i].k);
    }
    scenario_free(scenario);
    /* The column can still choose the rows. */
    ck_assert_int_eq(read_scenario("{from: loops.csv, keys: {BN: BN, w: w}, where: {loop.mma1.instruction: 64x64x16}, "
                                   "iterations: 1}",
                                   table, &scenario, &error),
                     STATUS_OK);
    ck_assert_int_eq(evaluate(scenario, 64, 4, layer, &error), STATUS_OK);
    ck_assert(layer->kernels[0].loop.mma_count == 1 && layer->kernels[0].loop.mma[0].instruction_n == 64);
    scenario_free(scenario);
    free(layer);
}
END_TEST

START_TEST(products_written_down_are_whole)
{
    struct scenario *scenario;
    struct error error;
    ck_assert_int_eq(read_scenario("{from: loops.csv, keys: {BN: BN, w: w}, where: {variant: a}, iterations: 7,\n"
                                   "      mma: [{m: 16, n: 8, k: 32, type: fp8}]}",
                                   table_text, &scenario, &error),
                     STATUS_OK);
    struct layer_case *layer = calloc(1, sizeof *layer);
    ck_assert_int_eq(evaluate(scenario, 64, 4, layer, &error), STATUS_OK);
    ck_assert_uint_eq(layer->kernels[0].loop.mma_count, 1);
    ck_assert_double_eq(layer->kernels[0].loop.mma[0].count, 1);
    ck_assert_int_eq(layer->kernels[0].loop.mma[0].format, NUMBER_FORMAT_FP8);
    free(layer);
    scenario_free(scenario);
}
END_TEST

START_TEST(flags_are_0_or_1)
{
    static const char *const values[] = {"1", "0", "7", "-1", "0.5"};
    struct layer_case *layer = calloc(1, sizeof *layer);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct scenario *scenario;
        struct error error;
        char text[256];
        (void)snprintf(text, sizeof text,
                       "BN,w,loop.stream.rows,loop.stream.row_bytes,loop.stream.pipelined,loop.iterations\n"
                       "64,4,32,512,%s,3\n",
                       values[i]);
        ck_assert_msg(read_scenario("{from: loops.csv, keys: {BN: BN, w: w}}", text, &scenario, &error) == STATUS_OK,
                      "%s", error.text);
        ck_assert_int_eq(evaluate(scenario, 64, 4, layer, &error), STATUS_OK);
        if (i < 2) {
            ck_assert(layer->kernels[0].loop.stream.pipelined == (i == 0));
        } else {
            ck_assert_msg(strstr(error.text, "it must be 0 or 1") != NULL, "%s: %s", values[i], error.text);
        }
        scenario_free(scenario);
    }
    free(layer);
}
END_TEST

START_TEST(tables_that_do_not_fit)
{
    static const struct {
        const char *loop, *table, *said;
    } cases[] = {
        {"{from: gone.csv, keys: {BN: BN}, iterations: 1}", table_text, "cannot be opened"},
        {"{from: loops.csv, iterations: 1}", table_text, "needs 'keys'"},
        {"{keys: {BN: BN}, iterations: 1}", table_text, "belongs to 'from'"},
        {"{from: loops.csv, keys: {BN: BN, w: w}}", table_text, "iterations"},
        {"{from: loops.csv, keys: {BN: BN, w: w}, iterations: 1}", table_text, "second row with the same key"},
        {"{from: loops.csv, keys: {BN: BN, x: w}, where: {variant: a}, iterations: 1}", table_text, "no column 'x'"},
        {"{from: loops.csv, keys: {BN: BN, variant: w}, iterations: 1}", table_text, "variant"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}",
         "BN,loop.mma1.m,loop.mma1.n,loop.mma1.k,loop.mma1.type\n32,16,8,16,bf16\n64,16,8,16,fp16\n",
         "holds both 'bf16' and 'fp16'"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}",
         "BN,loop.mma1.m,loop.mma1.n,loop.mma1.k,loop.mma1.type\n32,16,8,16,int8\n", "type must be one of"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}",
         "BN,loop.mma1.m,loop.mma1.n,loop.mma1.k,loop.mma1.instruction\n32,16,8,16,16x8\n", "instruction '16x8'"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}",
         "BN,loop.mma1.m,loop.mma1.n,loop.mma1.k,loop.mma1.instruction\n32,16,8,16,-1x8x16\n", "instruction '-1x8x16'"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}",
         "BN,loop.mma1.m,loop.mma1.n,loop.mma1.k,loop.mma1.instruction\n32,16,8,16,16x8x2000\n", "16x8x2000"},
        {"{from: loops.csv, keys: {BN: BN}, where: {v: c}, iterations: 1}", "v,BN,loop.fp32_ops\na,32,1\nb,32,2\n",
         "no row of the loop table passes 'where'"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}", "BN,loop.fp32_ops\n32,many\n", "fp32_ops"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}", "BN,loop.stream.rows\n32,4\n64,4\n",
         "'loop.stream.rows' is filled, but 'loop.stream.row_bytes' is missing"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}",
         "BN,loop.gather.rows,loop.gather.row_bytes\n32,4,\n64,4,\n",
         "'loop.gather.rows' is filled, but 'loop.gather.row_bytes' is missing"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}", "BN,loop.mma1.n,loop.mma1.k\n32,8,16\n",
         "'loop.mma1.n' is filled, but 'loop.mma1.m' is missing"},
        {"{from: loops.csv, keys: {BN: BN}, iterations: 1}", "BN,loop.mma2.m,loop.mma2.n,loop.mma2.k\n32,16,8,16\n",
         "fills loop.mma2, but not loop.mma1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scenario *scenario = NULL;
        struct error error;
        ck_assert_msg(read_scenario(cases[i].loop, cases[i].table, &scenario, &error) != STATUS_OK, "case %zu", i);
        ck_assert_msg(strstr(error.text, cases[i].said) != NULL, "case %zu: %s", i, error.text);
        scenario_free(scenario);
    }
}
END_TEST

Suite *suite_loop_table(void)
{
    Suite *suite = suite_create("loop_table");
    TCase *tables = tcase_create("tables");
    tcase_add_checked_fixture(tables, set_up, tear_down);
    tcase_add_test(tables, figures_follow_the_knobs);
    tcase_add_test(tables, instructions_differ_by_row);
    tcase_add_test(tables, products_written_down_are_whole);
    tcase_add_test(tables, flags_are_0_or_1);
    tcase_add_test(tables, tables_that_do_not_fit);
    suite_add_tcase(suite, tables);
    return suite;
}
