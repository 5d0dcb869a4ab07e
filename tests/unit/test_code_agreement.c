/* SPDX-License-Identifier: GPL-3.0-or-later
 * PTX and SASS of the same kernels read side by side: one turn of the main loop must hold the same tensor products,
 * exponentials, barriers and asynchronous copies, but for what the assembler is known to change (docs/MODEL.md, "PTX
 * and SASS of one loop"). Recorded pairs, and all 128 variants of the reference archive where it is. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "evidence/code/code_profile.h"
#include "evidence/code/compiled_code.h"
#include "evidence/code/ptx_listing.h"
#include "evidence/code/sass_listing.h"
#include "tests/support/shared_data.h"
#include "tests/support/temp_dir.h"

Suite *suite_code_agreement(void);

#define RECORDED "tests/recorded/sass/"
#define CACHE    "tests/recorded/triton-3.6-cache/"
#define ARCHIVE  "data/h200_triton_gqa_compiled.tar.gz"
enum {
    TEXT_BYTES_MAX = 1 << 24,
    ARCHIVE_VARIANTS = 128
};

struct pair {
    struct ptx_file ptx;
    struct sass_file sass;
};

static char *read_text(const char *path, size_t *length)
{
    char *text = NULL;
    struct error error = {0};
    ck_assert_msg(file_read_text(path, TEXT_BYTES_MAX, &text, length, &error) == STATUS_OK, "%s: %s", path, error.text);
    return text;
}

static void read_pair(const char *ptx_path, const char *sass_path, struct pair *pair)
{
    struct error error = {0};
    size_t length = 0;
    char *text = read_text(ptx_path, &length);
    ck_assert_msg(ptx_listing_read(text, length, ptx_path, &pair->ptx, &error) == STATUS_OK, "%s:%u: %s", ptx_path,
                  error.line, error.text);
    free(text);
    text = read_text(sass_path, &length);
    ck_assert_msg(sass_listing_read(text, length, sass_path, &pair->sass, &error) == STATUS_OK, "%s:%u: %s", sass_path,
                  error.line, error.text);
    free(text);
}

static void release_pair(struct pair *pair)
{
    ptx_file_release(&pair->ptx);
    sass_file_release(&pair->sass);
}

static struct code_profile *profile_of(const struct code_listing *listing, const char *path)
{
    struct code_profile *profile = calloc(1, sizeof *profile);
    struct error error = {0};
    ck_assert_ptr_nonnull(profile);
    ck_assert_msg(listing != NULL, "%s: the kernel is missing", path);
    ck_assert_msg(!listing->truncated && listing->unknown_count == 0, "%s: %zu unknown instructions, %s", path,
                  listing->unknown_count, listing->note);
    ck_assert_msg(code_profile_compute(listing, profile, &error) == STATUS_OK, "%s: %s", path, error.text);
    return profile;
}

/* --- what must agree ------------------------------------------------------------------------------------------------
 */

static const enum code_op same_ops[] = {CODE_OP_MMA,          CODE_OP_WGMMA,        CODE_OP_EXPONENTIAL,
                                        CODE_OP_BARRIER,      CODE_OP_ASYNC_COPY,   CODE_OP_ASYNC_COMMIT,
                                        CODE_OP_ASYNC_WAIT,   CODE_OP_LDMATRIX,     CODE_OP_SHARED_LOAD,
                                        CODE_OP_SHARED_STORE, CODE_OP_GLOBAL_STORE, CODE_OP_ATOMIC};
/* ptxas drops loads whose guard is a constant false, and shuffles of what all lanes have alike. */
static const enum code_op fewer_ops[] = {CODE_OP_GLOBAL_LOAD, CODE_OP_SHUFFLE};

static bool same_kinds(const struct code_tally *ptx, const struct code_tally *sass)
{
    if (ptx->mma_count != sass->mma_count) {
        return false;
    }
    for (uint32_t i = 0; i < ptx->mma_count; i++) {
        const struct code_mma *a = &ptx->mma[i], *b = NULL;
        for (uint32_t k = 0; k < sass->mma_count && b == NULL; k++) {
            const struct code_mma *other = &sass->mma[k];
            if (other->op == a->op && other->m == a->m && other->n == a->n && other->k == a->k &&
                strcmp(other->format, a->format) == 0) {
                b = other;
            }
        }
        if (b == NULL || a->most != b->most) {
            return false;
        }
    }
    return true;
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* How far ahead copies run, and what one turn steps: of SASS this needs the values of a register told apart. */
static unsigned compare_loops(const char *what, const struct code_profile *ptx, const struct code_profile *sass)
{
    const struct code_pipeline *a = &ptx->pipeline, *b = &sass->pipeline;
    unsigned wrong = 0;
    if (a->kind != b->kind || a->wait_depth != b->wait_depth ||
        !same_number(a->ahead_iterations, b->ahead_iterations) || !same_number(a->ring_slots, b->ring_slots) ||
        !same_number(a->buffers, b->buffers)) {
        printf("%s: pipeline: PTX %s, depth %d, %g ahead, ring %g; SASS %s, depth %d, %g ahead, ring %g\n", what,
               code_pipeline_name(a->kind), a->wait_depth, a->ahead_iterations, a->ring_slots,
               code_pipeline_name(b->kind), b->wait_depth, b->ahead_iterations, b->ring_slots);
        wrong++;
    }
    const bool spills = sass->iteration.most[CODE_OP_LOCAL_LOAD] > 0; /* then the counter may be in memory */
    if (spills && sass->trip.step == 0) {
        return wrong;
    }
    if (ptx->trip.step != sass->trip.step || strcmp(ptx->trip.comparison, sass->trip.comparison) != 0 ||
        ptx->trip.step == 0) {
        printf("%s: turns: PTX step %lld %s, SASS step %lld %s\n", what, (long long)ptx->trip.step,
               ptx->trip.comparison, (long long)sass->trip.step, sass->trip.comparison);
        wrong++;
    }
    fflush(stdout);
    return wrong;
}

/* Number of disagreements, each printed. */
static unsigned compare_iterations(const char *what, const struct code_profile *ptx, const struct code_profile *sass)
{
    unsigned wrong = 0;
    const double *a = ptx->iteration.most, *b = sass->iteration.most;
    for (size_t i = 0; i < sizeof same_ops / sizeof *same_ops; i++) {
        if (a[same_ops[i]] != b[same_ops[i]]) {
            printf("%s: %s per iteration: PTX %g, SASS %g\n", what, code_op_name(same_ops[i]), a[same_ops[i]],
                   b[same_ops[i]]);
            wrong++;
        }
    }
    for (size_t i = 0; i < sizeof fewer_ops / sizeof *fewer_ops; i++) {
        if (a[fewer_ops[i]] < b[fewer_ops[i]]) {
            printf("%s: %s per iteration: PTX %g, SASS %g, which is more\n", what, code_op_name(fewer_ops[i]),
                   a[fewer_ops[i]], b[fewer_ops[i]]);
            wrong++;
        }
    }
    if (!same_kinds(&ptx->iteration, &sass->iteration)) {
        printf("%s: shapes or types of products differ\n", what);
        wrong++;
    }
    fflush(stdout);
    return wrong;
}

static unsigned compare_files(const char *ptx_path, const char *sass_path, const char *kernel, double products)
{
    struct pair pair;
    read_pair(ptx_path, sass_path, &pair);
    struct code_profile *ptx = profile_of(ptx_file_entry(&pair.ptx, kernel), ptx_path);
    struct code_profile *sass = profile_of(sass_file_function(&pair.sass, kernel), sass_path);
    ck_assert_msg(ptx->has_loop && sass->has_loop, "%s: no loop", sass_path);
    const unsigned wrong = compare_iterations(sass_path, ptx, sass) + compare_loops(sass_path, ptx, sass);
    const double found = sass->iteration.most[CODE_OP_MMA] + sass->iteration.most[CODE_OP_WGMMA];
    ck_assert_msg(products < 0 ? found > 0 : found == products, "%s: %g products per iteration", sass_path, found);
    free(ptx);
    free(sass);
    release_pair(&pair);
    fflush(stdout);
    return wrong;
}

/* --- recorded -------------------------------------------------------------------------------------------------------
 */

START_TEST(recorded_pairs)
{
    static const struct {
        const char *ptx, *sass, *kernel;
        double products; /* counted by hand in the PTX */
    } rows[] = {
        {RECORDED "gqa_BN16_w8_s1_splits1.ptx", RECORDED "gqa_BN16_w8_s1_splits1.sass", "gqa_kernel", 10},
        {RECORDED "gqa_BN16_w8_s3_splitsn.ptx", RECORDED "gqa_BN16_w8_s3_splitsn.sass", "gqa_kernel", 10},
        {CACHE "UBPIYWASYLXIVCQ3W5HPIUOLSEJAFXBW2BKT5IMHPLGAVLOOXIZQ/matmul_kernel.ptx",
         RECORDED "UBPI_matmul_kernel.sass", "matmul_kernel", 16},
        {CACHE "JLX6B3DTZBVGELVQYVZCGRQPK6ZTHZPJ77HKRSTU75YO3BJNMLMA/matmul_kernel.ptx",
         RECORDED "JLX6_matmul_kernel.sass", "matmul_kernel", 4},
        {CACHE "S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.ptx", RECORDED "S5SM_gqa_kernel.sass",
         "gqa_kernel", 32},
        {RECORDED "occam_gqa_decode_sm80.ptx", RECORDED "occam_gqa_decode_sm80.sass", "gqa_decode", 16},
    };
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wrong += compare_files(rows[i].ptx, rows[i].sass, rows[i].kernel, rows[i].products);
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* Rows of a table and their indices: addresses that come from other loads of the turn. Four of the loads have a guard
 * that is a constant false, which ptxas drops. */
START_TEST(dependent_addresses)
{
    static const char folder[] = CACHE "7JLSWOVP2Q4U3D5VUU7WMYQAIF7UXPWCU2O2HTYBX3IB4I3CSFAQ/split_kernel.ptx";
    struct pair pair;
    read_pair(folder, RECORDED "7JLS_split_kernel.sass", &pair);
    struct code_profile *ptx = profile_of(&pair.ptx.entries[0], "PTX");
    struct code_profile *sass = profile_of(&pair.sass.functions[0], "SASS");
    ck_assert_double_eq(ptx->iteration.most[CODE_OP_GLOBAL_LOAD] - sass->iteration.most[CODE_OP_GLOBAL_LOAD], 4);
    ck_assert_double_eq(ptx->iteration.gather_loads, 35);
    ck_assert_double_eq(sass->iteration.gather_loads, 31);
    free(ptx);
    free(sass);
    release_pair(&pair);
}
END_TEST

/* --- what the assembler changes -------------------------------------------------------------------------------------
 */

static double in_iteration(const char *path, bool is_sass, enum code_op op)
{
    struct error error = {0};
    size_t length = 0;
    char *text = read_text(path, &length);
    struct ptx_file ptx = {0};
    struct sass_file sass = {0};
    const enum status status = is_sass ? sass_listing_read(text, length, path, &sass, &error)
                                       : ptx_listing_read(text, length, path, &ptx, &error);
    ck_assert_msg(status == STATUS_OK, "%s:%u: %s", path, error.line, error.text);
    free(text);
    struct code_profile *profile = profile_of(is_sass ? &sass.functions[0] : &ptx.entries[0], path);
    const double count = profile->iteration.most[op];
    free(profile);
    ptx_file_release(&ptx);
    sass_file_release(&sass);
    return count;
}

/* ex2 of two halves takes two MUFU: f16x2 everywhere, and bf16x2 from sm_90 on, where PTX has it. */
START_TEST(packed_exponentials_are_split)
{
    ck_assert_double_eq(in_iteration(RECORDED "instructions_sm80.ptx", false, CODE_OP_EXPONENTIAL), 2);
    ck_assert_double_eq(in_iteration(RECORDED "instructions_sm80.cuobjdump.sass", true, CODE_OP_EXPONENTIAL), 3);
}
END_TEST

/* sm_90 has no mma.sync of 8-bit floats: e4m3 of depth 32 becomes two fp16 products of depth 16, after conversions.
 * sm_120 has it, as QMMA. */
START_TEST(products_of_fp8_are_split_where_there_are_none)
{
    ck_assert_double_eq(in_iteration(RECORDED "instructions_sm90a.ptx", false, CODE_OP_MMA), 8);
    ck_assert_double_eq(in_iteration(RECORDED "instructions_sm90a.nvdisasm.sass", true, CODE_OP_MMA), 9);
    ck_assert_double_eq(in_iteration(RECORDED "instructions_sm120a.ptx", false, CODE_OP_MMA), 11);
    ck_assert_double_eq(in_iteration(RECORDED "instructions_sm120a.nvdisasm.sass", true, CODE_OP_MMA), 11);
}
END_TEST

static double loads_of_first_loop(const struct code_listing *listing)
{
    struct code_graph graph;
    ck_assert_int_eq(code_graph_build(listing, &graph), STATUS_OK);
    ck_assert_uint_ge(graph.loop_count, 1);
    double loads = 0;
    for (uint32_t b = 0; b < graph.loops[0].block_count; b++) {
        const struct code_block *block = &graph.blocks[graph.loops[0].blocks[b]];
        for (size_t i = block->first; i < block->first + block->count; i++) {
            loads += listing->items[i].op == CODE_OP_GLOBAL_LOAD;
        }
    }
    code_graph_release(&graph);
    return loads;
}

/* A small loop is unrolled once more: one turn of SASS is then four of PTX. */
START_TEST(small_loops_are_unrolled)
{
    struct pair pair;
    read_pair(RECORDED "occam_gqa_decode_sm80.ptx", RECORDED "occam_gqa_decode_sm80.sass", &pair);
    const struct code_listing *ptx = ptx_file_entry(&pair.ptx, "gqa_combine");
    const struct code_listing *sass = sass_file_function(&pair.sass, "gqa_combine");
    ck_assert(ptx != NULL && sass != NULL);
    ck_assert_double_eq(loads_of_first_loop(ptx), 4);
    ck_assert_double_eq(loads_of_first_loop(sass), 16);
    release_pair(&pair);
}
END_TEST

/* --- the archive ----------------------------------------------------------------------------------------------------
 */

static bool unpack(const char *archive, const struct temp_dir *directory)
{
    char command[2048];
    const int length = snprintf(command, sizeof command, "tar -xzf '%s' -C '%s' 2>/dev/null", archive, directory->path);
    ck_assert_int_lt(length, (int)sizeof command);
    return strchr(archive, '\'') == NULL && system(command) == 0;
}

static unsigned compare_archive(const struct temp_dir *directory)
{
    char path[1024];
    struct csv_table index;
    struct error error = {0};
    snprintf(path, sizeof path, "%s/h200_triton_gqa_compiled/index.csv", directory->path);
    ck_assert_msg(csv_read(path, TEXT_BYTES_MAX, &index, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(index.row_count, ARCHIVE_VARIANTS);
    const long file = csv_column(&index, "file");
    ck_assert_int_ge((int)file, 0);
    unsigned wrong = 0;
    const size_t step = getenv("TEST_QUICK") != NULL ? 17 : 1;
    for (size_t row = 0; row < index.row_count; row += step) {
        char ptx[1024], sass[1024];
        const char *name = csv_cell(&index, row, (size_t)file);
        snprintf(ptx, sizeof ptx, "%s/h200_triton_gqa_compiled/%s.ptx", directory->path, name);
        snprintf(sass, sizeof sass, "%s/h200_triton_gqa_compiled/%s.sass", directory->path, name);
        wrong += compare_files(ptx, sass, "gqa_kernel", -1);
    }
    csv_table_release(&index);
    fflush(stdout);
    return wrong;
}

/* A row of the shipped table is what the code of the variant says today; the frame of SASS is what Triton counts. */
static void check_shipped(const struct csv_table *shipped, const struct compiled_code *code,
                          const struct code_variant *variant)
{
    struct tile_loop loop = {.declared_stages = 1, .spill_bytes = NAN};
    struct error error = {0};
    double spills, rows;
    size_t row = 0;
    const long spill_column = csv_column(&code->index, "spills"), bn_column = csv_column(&code->index, "BN");
    ck_assert(spill_column >= 0 && bn_column >= 0 && variant->index_row >= 0);
    ck_assert_int_eq(csv_number(&code->index, (size_t)variant->index_row, (size_t)spill_column, &spills, &error),
                     STATUS_OK);
    ck_assert_int_eq(csv_number(&code->index, (size_t)variant->index_row, (size_t)bn_column, &rows, &error), STATUS_OK);
    ck_assert_msg((double)variant->profile->local_bytes == 4 * spills, "%s: a frame of %llu bytes, %g spills",
                  variant->label, (unsigned long long)variant->profile->local_bytes, spills);
    ck_assert_int_eq(code_profile_tile_loop(variant->profile, 0, &loop, NULL, 0, &error), STATUS_OK);
    ck_assert_double_eq(loop.stream.rows * loop.stream.row_bytes, 2 * rows * 128 * 2); /* K and V of bf16 */
    while (row < shipped->row_count &&
           strcmp(csv_cell(shipped, row, (size_t)csv_column(shipped, "label")), variant->label) != 0) {
        row++;
    }
    ck_assert_msg(row < shipped->row_count, "the shipped table has no %s", variant->label);
    const struct {
        const char *column;
        double value;
    } figures[] = {{"loop.warp_instructions", loop.warp_instructions},
                   {"loop.edge_instructions", loop.edge_instructions},
                   {"loop.early_fraction", loop.early_fraction},
                   {"loop.local_bytes", loop.local_bytes},
                   {"loop.spill_bytes", loop.spill_bytes},
                   {"loop.barriers", loop.barriers},
                   {"loop.buffers", loop.buffers},
                   {"loop.special_ops", loop.special_ops},
                   {"loop.smem_bytes", loop.smem_bytes},
                   {"loop.stream.row_bytes", loop.stream.row_bytes},
                   {"loop.stream.exposures", loop.stream.exposures},
                   {"loop.mma1.n", loop.mma[0].n},
                   {"loop.mma1.count", loop.mma[0].count}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        double value;
        const long column = csv_column(shipped, figures[i].column);
        ck_assert_int_ge((int)column, 0);
        ck_assert_int_eq(csv_number(shipped, row, (size_t)column, &value, &error), STATUS_OK);
        ck_assert_msg(fabs(value - figures[i].value) <= 1e-12 * fabs(value), "%s: %s is %g, the table has %g",
                      variant->label, figures[i].column, figures[i].value, value);
    }
}

START_TEST(shipped_table_is_what_the_code_says)
{
    char archive[1024], path[1024];
    if (shared_data_path("code_agreement", ARCHIVE, archive, sizeof archive) == NULL) {
        return;
    }
    struct temp_dir directory;
    struct compiled_code code = {0};
    struct csv_table shipped;
    struct error error = {0};
    temp_dir_create(&directory);
    if (!unpack(archive, &directory)) {
        printf("skipped: code_agreement: %s cannot be unpacked with tar\n", archive);
        temp_dir_remove(&directory);
        return;
    }
    snprintf(path, sizeof path, "%s/h200_triton_gqa_compiled", directory.path);
    const char *folder = path;
    ck_assert_msg(compiled_code_read(&folder, 1, CODE_LISTING_AUTO, &code, &error) == STATUS_OK, "%s", error.text);
    ck_assert_int_eq(csv_read("data/resources/h200-triton-gqa-loops.csv", TEXT_BYTES_MAX, &shipped, &error), STATUS_OK);
    ck_assert_uint_eq(code.count, ARCHIVE_VARIANTS);
    for (size_t i = 0; i < code.count; i++) {
        ck_assert_ptr_nonnull(code.variants[i].address_file);
        ck_assert_str_eq(code.variants[i].kernel.note, "");
        check_shipped(&shipped, &code, &code.variants[i]);
    }
    csv_table_release(&shipped);
    compiled_code_release(&code);
    temp_dir_remove(&directory);
}
END_TEST

START_TEST(every_variant_of_the_archive)
{
    char archive[1024];
    if (shared_data_path("code_agreement", ARCHIVE, archive, sizeof archive) == NULL) {
        return;
    }
    struct temp_dir directory;
    temp_dir_create(&directory);
    unsigned wrong = 0;
    if (unpack(archive, &directory)) {
        wrong = compare_archive(&directory);
    } else {
        printf("skipped: code_agreement: %s cannot be unpacked with tar\n", archive);
    }
    temp_dir_remove(&directory);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

Suite *suite_code_agreement(void)
{
    Suite *suite = suite_create("code_agreement");
    TCase *recorded = tcase_create("recorded"), *archive = tcase_create("archive");
    tcase_add_test(recorded, recorded_pairs);
    tcase_add_test(recorded, dependent_addresses);
    tcase_add_test(recorded, packed_exponentials_are_split);
    tcase_add_test(recorded, products_of_fp8_are_split_where_there_are_none);
    tcase_add_test(recorded, small_loops_are_unrolled);
    tcase_set_timeout(archive, 120);
    tcase_add_test(archive, every_variant_of_the_archive);
    tcase_add_test(archive, shipped_table_is_what_the_code_says);
    suite_add_tcase(suite, recorded);
    suite_add_tcase(suite, archive);
    return suite;
}
