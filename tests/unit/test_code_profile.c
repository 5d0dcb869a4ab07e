/* SPDX-License-Identifier: GPL-3.0-or-later
 * Profiles of compiled kernels against counts made by hand: three Triton kernels, kernels of our own, and code that is
 * cut or odd. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/code/code_profile.h"
#include "evidence/code/ptx_listing.h"
#include "evidence/code/sass_listing.h"
#include "tests/support/assert_close.h"
#include "tests/support/temp_dir.h"

#define CACHE "tests/recorded/triton-3.6-cache/"
#define OWN   "tests/recorded/ptx/"
#define HEAD  ".version 8.7\n.target sm_90a\n.entry k(.param .u64 a, .param .u32 n)\n.reqntid 128\n{\n"

static void read_profile(const char *path, const char *name, struct code_profile *profile)
{
    char *text;
    size_t length;
    struct error error = {0};
    struct ptx_file file;
    ck_assert_msg(file_read_text(path, 1 << 24, &text, &length, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(ptx_listing_read(text, length, path, &file, &error) == STATUS_OK, "%s", error.text);
    const struct code_listing *listing = name == NULL ? &file.entries[0] : ptx_file_entry(&file, name);
    ck_assert_msg(listing != NULL, "%s has no %s", path, name);
    ck_assert_uint_eq(listing->unknown_count, 0);
    ck_assert_int_eq(code_profile_compute(listing, profile, &error), STATUS_OK);
    ptx_file_release(&file);
    free(text);
}

static void profile_text(const char *body, struct code_profile *profile)
{
    struct text_buffer text = {0};
    struct ptx_file file;
    struct error error = {0};
    text_buffer_append_format(&text, HEAD "%s\n}\n", body);
    const enum status status = ptx_listing_read(text.text, text.length, "k.ptx", &file, &error);
    ck_assert_msg(status == STATUS_OK, "line %u: %s", error.line, error.text);
    ck_assert_int_eq(code_profile_compute(&file.entries[0], profile, &error), STATUS_OK);
    ptx_file_release(&file);
    text_buffer_release(&text);
}

static void profile_sass(const char *const *items, size_t count, struct code_profile *profile)
{
    struct text_buffer text = {0};
    struct sass_file file;
    struct error error = {0};
    text_buffer_append(&text, "\tcode for sm_90a\n\t\tFunction : k\n");
    for (size_t i = 0; i < count; i++) {
        text_buffer_append_format(&text, "        /*%04zx*/                   %s ;\n", 16 * i, items[i]);
    }
    const enum status status = sass_listing_read(text.text, text.length, "k.sass", &file, &error);
    ck_assert_msg(status == STATUS_OK, "line %u: %s", error.line, error.text);
    ck_assert_uint_eq(file.functions[0].unknown_count, 0);
    ck_assert_int_eq(code_profile_compute(&file.functions[0], profile, &error), STATUS_OK);
    sass_file_release(&file);
    text_buffer_release(&text);
}

static bool has_note(const struct code_profile *profile, const char *part)
{
    for (uint32_t i = 0; i < profile->note_count; i++) {
        if (strstr(profile->notes[i], part) != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- Triton 3.6 -------------------------------------------------------------------------------------------------- */
/* Per warp and turn, worked out from the tile shapes; 16 x 8 x 16 products of a warp are counted along M, N, K.
 * gqa: 16 rows (8 heads padded), 64 keys of 128: first product 64/4 warps/8 = 2 along N, 8 deep; second 128/4/8 = 4
 *   along N, 64/16 = 4 deep. Exponentials per lane: 16 x 16 scores of a warp / 32 + 2 for the two rows' maxima = 10.
 *   Copies: 2 x 64 x 128 x 2 B / 128 threads = 256 B a lane, 16 at a time. ldmatrix of 512 B: K 16 x 128 x 2 B = 8, Q
 *   the same, P 16 x 64 x 2 B = 4, V 64 x 32 x 2 B = 8.
 * split: 16 positions, keys of 576. [16 heads] first product N = 16 over 4 warps: one of two tiles along N each, 36
 *   deep; second 576/4/8 = 18 along N, 1 deep. [32 heads] 2 along M: 2 chains of 36 and 36 of 1; with 8 warps 2 of 36,
 *   18 of 1. Exponentials: 4 scores a lane and tile + 2 maxima a tile: 6 for one tile, 12 for two.
 * matmul: wgmma of 64 rows; S tiles of SMEM hold (BM + BN) BK 2 B. */
static const struct triton_case {
    const char *entry;
    uint32_t arch, threads, stages;
    enum code_op product;
    uint32_t n;
    double products, exponentials, copy_lane_bytes, copies;
    struct code_chains chains[2];
    double ahead, buffers, tile_bytes; /* of asynchronous copies and CTA; 0: not checked */
} triton_cases[] = {
    {"S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.ptx",
     120,
     128,
     3,
     CODE_OP_MMA,
     8,
     32,
     10,
     256,
     16,
     {{8, 2}, {4, 4}},
     2,
     2,
     32768},
    {"I2JNVFEUZLXDPTSTO6K6Y2J3GO6XE2UQMLVOZ3JINF2DPYDLSXPQ/split_kernel.ptx",
     120,
     128,
     3,
     CODE_OP_MMA,
     8,
     54,
     6,
     20,
     2,
     {{36, 1}, {1, 18}},
     1,
     1,
     0},
    {"ALETGEZ5MV57XPV2WN7AO5BCSGG7KIQIREPURC7GFOUF3ZTZIZGQ/split_kernel.ptx",
     90,
     128,
     3,
     CODE_OP_MMA,
     8,
     54,
     6,
     20,
     2,
     {{36, 1}, {1, 18}},
     1,
     1,
     0},
    {"KINJ5DQGES2D2WHNIK2PODHSTONKLCTV4CKRMW2TCBRSIX7SUGRA/split_kernel.ptx",
     120,
     128,
     2,
     CODE_OP_MMA,
     8,
     108,
     12,
     16,
     1,
     {{36, 2}, {1, 36}},
     1,
     1,
     0},
    {"7JLSWOVP2Q4U3D5VUU7WMYQAIF7UXPWCU2O2HTYBX3IB4I3CSFAQ/split_kernel.ptx",
     120,
     256,
     2,
     CODE_OP_MMA,
     8,
     90,
     12,
     8,
     1,
     {{36, 2}, {1, 18}},
     1,
     1,
     0},
    {"UBPIYWASYLXIVCQ3W5HPIUOLSEJAFXBW2BKT5IMHPLGAVLOOXIZQ/matmul_kernel.ptx",
     90,
     128,
     2,
     CODE_OP_MMA,
     8,
     16,
     0,
     96,
     6,
     {{4, 4}},
     1,
     1,
     12288},
    {"V6KJ74KVZ4PKTDENZA4LRVYPDT572RWCWHQT2Y2GVLFM3BLA2PPQ/matmul_kernel.ptx",
     90,
     256,
     3,
     CODE_OP_WGMMA,
     256,
     4,
     0,
     192,
     12,
     {{4, 1}},
     2,
     3,
     147456.0 / 3},
    {"PSND7Y32TCERZAZC42GLHD5YEJJA7NYMEJHSJNAJN657DMMD7WBQ/matmul_kernel.ptx",
     90,
     256,
     4,
     CODE_OP_WGMMA,
     128,
     16,
     0,
     384,
     24,
     {{8, 2}},
     3,
     4,
     393216.0 / 4},
    {"JLX6B3DTZBVGELVQYVZCGRQPK6ZTHZPJ77HKRSTU75YO3BJNMLMA/matmul_kernel.ptx",
     90,
     128,
     4,
     CODE_OP_WGMMA,
     64,
     4,
     0,
     96,
     6,
     {{2, 2}},
     3,
     4,
     49152.0 / 4},
};

START_TEST(triton_kernels_by_hand)
{
    const struct triton_case *expected = &triton_cases[_i];
    struct code_profile profile;
    char path[300];
    (void)snprintf(path, sizeof path, CACHE "%s", expected->entry);
    read_profile(path, NULL, &profile);
    const struct code_tally *turn = &profile.iteration;
    ck_assert(profile.has_loop && profile.main_depth == 1);
    ck_assert_uint_eq(profile.arch, expected->arch);
    ck_assert_uint_eq(profile.threads, expected->threads);
    ck_assert_uint_eq(turn->mma_count, 1);
    ck_assert_int_eq(turn->mma[0].op, expected->product);
    ck_assert_str_eq(turn->mma[0].format, "bf16");
    ck_assert_uint_eq(turn->mma[0].n, expected->n);
    ck_assert_uint_eq(turn->mma[0].m, expected->product == CODE_OP_WGMMA ? 64 : 16);
    ck_assert_uint_eq(turn->mma[0].k, 16);
    ck_assert(turn->mma[0].most == expected->products && turn->mma[0].sure == expected->products);
    for (uint32_t i = 0; i < 2; i++) {
        const bool there = expected->chains[i].count > 0;
        ck_assert(there == (i < turn->mma[0].chain_kinds));
        ck_assert(!there || (turn->mma[0].chains[i].length == expected->chains[i].length &&
                             turn->mma[0].chains[i].count == expected->chains[i].count));
    }
    ck_assert(turn->most[CODE_OP_EXPONENTIAL] == expected->exponentials);
    ck_assert(turn->most[CODE_OP_ASYNC_COPY] == expected->copies);
    ck_assert(turn->lane_bytes[CODE_TRAFFIC_ASYNC_COPY] == expected->copy_lane_bytes);
    ck_assert_int_eq(profile.pipeline.kind, CODE_PIPELINE_GROUPS);
    ck_assert(profile.pipeline.ahead_iterations == expected->ahead);
    ck_assert(profile.pipeline.buffers_known && profile.pipeline.buffers == expected->buffers);
    ck_assert(expected->tile_bytes == 0 || turn->async_distinct_bytes == expected->tile_bytes);
    ck_assert(turn->instructions_most == turn->instructions_sure && turn->inner_loops_unknown == 0);
}
END_TEST

START_TEST(gqa_in_detail)
{
    struct code_profile profile;
    read_profile(CACHE "S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.ptx", NULL, &profile);
    const struct code_tally *turn = &profile.iteration;
    ck_assert(turn->most[CODE_OP_LDMATRIX] == 28 && turn->widths[CODE_TRAFFIC_ASYNC_COPY][4] == 16);
    ck_assert(turn->most[CODE_OP_BARRIER] == 9 && turn->most[CODE_OP_SHUFFLE] == 12);
    ck_assert(turn->most[CODE_OP_CONVERT] == 4 &&
              turn->convert_elements == 8); /* 16 x 64 / 128 threads, two at a time */
    ck_assert(turn->gather_loads == 0 && turn->gather_shared_loads == 0 && turn->most[CODE_OP_GLOBAL_LOAD] == 0);
    ck_assert(profile.pipeline.commits_per_iteration == 2 && profile.pipeline.prologue_commits == 4);
    ck_assert_int_eq(profile.pipeline.wait_depth, 2);
    ck_assert(profile.pipeline.ring_slots == 2 && profile.pipeline.open_tiles == 2);
    ck_assert_int_eq(profile.trip.bound_kind, CODE_BOUND_DERIVED);
    ck_assert_int_eq(profile.trip.step, 64);
    /* Queries before: 16 rows of 128, of which 8 are there: both halves ask. */
    ck_assert(profile.prologue.distinct_bytes - profile.prologue.async_distinct_bytes == 16 * 128 * 2);
    ck_assert(profile.epilogue.most[CODE_OP_GLOBAL_STORE] == 6 && profile.epilogue.sure[CODE_OP_GLOBAL_STORE] == 0);
}
END_TEST

/* Rows of 584 bytes at numbers that were loaded the same turn (2 stages), or a turn before into shared memory (3). */
START_TEST(split_gathers)
{
    struct code_profile two, three;
    read_profile(CACHE "KINJ5DQGES2D2WHNIK2PODHSTONKLCTV4CKRMW2TCBRSIX7SUGRA/split_kernel.ptx", NULL, &two);
    read_profile(CACHE "I2JNVFEUZLXDPTSTO6K6Y2J3GO6XE2UQMLVOZ3JINF2DPYDLSXPQ/split_kernel.ptx", NULL, &three);
    ck_assert(two.iteration.gather_loads > 60 && two.iteration.gather_shared_loads == 0);
    ck_assert(three.iteration.gather_shared_loads > 0);
    ck_assert(has_note(&three, "addresses from shared memory"));
    /* 16 rows of 584 B, and at most one row's worth of 128 B more each where the parts are padded to powers of two. */
    ck_assert(two.iteration.gather_distinct_bytes >= 16 * 584 && two.iteration.gather_distinct_bytes <= 16 * 712);
    ck_assert(three.iteration.gather_distinct_bytes >= 16 * 584 && three.iteration.gather_distinct_bytes <= 16 * 712);
    ck_assert(two.iteration.convert_elements > 500);
}
END_TEST

/* num_stages as written, tiles as there are: one fewer, and none for 1. */
START_TEST(stages_against_buffers)
{
    const int stages = _i;
    struct code_profile profile;
    char path[200];
    (void)snprintf(path, sizeof path, OWN "triton-gqa/BN16_w4_s%d_splitsn.ptx", stages);
    read_profile(path, NULL, &profile);
    ck_assert(profile.pipeline.buffers == (stages == 1 ? 1 : stages - 1));
    ck_assert_int_eq(profile.pipeline.kind, stages == 1 ? CODE_PIPELINE_NONE : CODE_PIPELINE_GROUPS);
    /* 16 keys: 16/4/8 = half a tile along N each, so one, 8 deep; 4 along N, 1 deep. The same work in each. */
    ck_assert(profile.iteration.mma[0].most == 12);
    ck_assert(profile.iteration.mma[0].chains[0].length == 8 && profile.iteration.mma[0].chains[1].count == 4);
    ck_assert_int_eq(profile.trip.step, 16);
    ck_assert(profile.iteration.distinct_bytes == 2 * 16 * 128 * 2);
    ck_assert(profile.load_phases == (stages == 1 ? 2 : 0));
    ck_assert(stages < 2 || profile.pipeline.ahead_iterations == stages - 1);
}
END_TEST

/* ---- our own ---------------------------------------------------------------------------------------------------- */
static void check_copy_and_gather(const char *path)
{
    struct code_profile profile;
    read_profile(path, "copy", &profile);
    ck_assert(profile.iteration.lane_bytes[CODE_TRAFFIC_GLOBAL_LOAD] == 16);
    ck_assert(profile.iteration.lane_bytes[CODE_TRAFFIC_GLOBAL_STORE] == 16);
    ck_assert(profile.iteration.distinct_bytes == 256 * 16 && profile.iteration.gather_loads == 0);
    ck_assert_int_eq(profile.trip.bound_kind, CODE_BOUND_PARAMETER);
    ck_assert_uint_eq(profile.trip.parameter, 3);
    ck_assert_int_eq(profile.trip.step, 65536);
    read_profile(path, "gather", &profile);
    ck_assert(profile.iteration.most[CODE_OP_GLOBAL_LOAD] == 2 && profile.iteration.gather_loads == 1);
    ck_assert(profile.iteration.gather_distinct_bytes == 128 * 16);  /* four rows of 512 */
    ck_assert(profile.iteration.distinct_bytes == 128 * 16 + 4 * 4); /* one number per warp */
    ck_assert(profile.iteration.most[CODE_OP_FP32] == 4 && profile.trip.step == 4);
    ck_assert(profile.epilogue.lane_bytes[CODE_TRAFFIC_GLOBAL_STORE] == 16);
}

static void check_loops(const char *path)
{
    struct code_profile profile;
    read_profile(path, "pipeline3", &profile);
    ck_assert_int_eq(profile.pipeline.kind, CODE_PIPELINE_GROUPS);
    ck_assert(profile.pipeline.ahead_iterations == 2 && profile.pipeline.open_tiles == 3);
    ck_assert(profile.pipeline.buffers == 3 && profile.pipeline.ring_slots == 3 && profile.pipeline.wait_depth == 2);
    ck_assert(profile.pipeline.early_fraction > 0.5); /* filled before the products */
    ck_assert(profile.iteration.mma[0].most == 2 && profile.iteration.mma[0].chains[0].count == 2);
    ck_assert(profile.iteration.most[CODE_OP_BARRIER] == 2 && profile.iteration.most[CODE_OP_LDMATRIX] == 1);
    ck_assert_uint_eq(profile.static_smem_bytes, 3 * 128 * 16);
    ck_assert(profile.epilogue.most[CODE_OP_GLOBAL_STORE] == 8);

    read_profile(path, "nested", &profile);
    ck_assert_uint_eq(profile.main_depth, 1); /* the inner loop has most adds, but lives on what the outer one loads */
    ck_assert(profile.iteration.most[CODE_OP_FP32] == 16 && profile.iteration.sure[CODE_OP_FP32] == 16);
    ck_assert(profile.iteration.most[CODE_OP_SHARED_LOAD] == 16 && profile.iteration.most[CODE_OP_GLOBAL_LOAD] == 1);
    ck_assert(profile.iteration.most[CODE_OP_BARRIER] == 2 && profile.iteration.inner_loops == 1);
    ck_assert_int_eq(profile.trip.bound_kind, CODE_BOUND_PARAMETER);

    read_profile(path, "unrolled", &profile);
    ck_assert(profile.iteration.most[CODE_OP_GLOBAL_LOAD] == 4 && profile.iteration.most[CODE_OP_FP32] == 4);
    ck_assert_uint_eq(profile.trip.unroll, 4);
    ck_assert(profile.iteration.uniform_loads == 4);      /* every thread reads the same */
    ck_assert(profile.epilogue.inner_loops_unknown == 1); /* the rest of n */

    read_profile(path, "spill", &profile);
    ck_assert(profile.iteration.most[CODE_OP_LOCAL_LOAD] == 2 && profile.iteration.most[CODE_OP_LOCAL_STORE] == 1);
    ck_assert(profile.iteration.lane_bytes[CODE_TRAFFIC_LOCAL_LOAD] == 8);
    ck_assert(profile.iteration.most[CODE_OP_EXPONENTIAL] == 1 && profile.local_bytes == 64);
}

START_TEST(own_kernels_by_hand)
{
    check_copy_and_gather(OWN "loops_sm90a.ptx");
    check_loops(OWN "loops_sm90a.ptx");
    check_copy_and_gather(OWN "loops_sm120a.ptx");
    check_loops(OWN "loops_sm120a.ptx");
}
END_TEST

/* The same of what the compiler at hand makes of the source today. */
START_TEST(own_kernels_compiled_now)
{
    struct temp_dir directory;
    char path[700], command[1600];
    if (system("command -v nvcc > /dev/null 2>&1") != 0) {
        printf("skipped: own_kernels_compiled_now: no nvcc on the path\n");
        return;
    }
    temp_dir_create(&directory);
    temp_dir_path(&directory, "loops.ptx", path, sizeof path);
    (void)snprintf(command, sizeof command, "nvcc -ptx -arch=sm_90a -o '%s' " OWN "loops.cu", path);
    ck_assert_int_eq(system(command), 0);
    check_copy_and_gather(path);
    check_loops(path);
    temp_dir_remove(&directory);
}
END_TEST

/* The same source for two architectures: a warpgroup's product on one, narrow ones of a warp on the other. */
START_TEST(architectures_told_apart)
{
    struct code_profile profile;
    read_profile(OWN "loops_sm90a.ptx", "warpgroup", &profile);
    ck_assert_uint_eq(profile.arch, 90);
    ck_assert_int_eq(profile.iteration.mma[0].op, CODE_OP_WGMMA);
    ck_assert(profile.iteration.mma[0].m == 64 && profile.iteration.mma[0].n == 64 && profile.iteration.mma[0].k == 16);
    ck_assert(profile.iteration.mma[0].most == 2 && profile.iteration.mma[0].chains[0].length == 2);
    ck_assert_int_eq(profile.pipeline.kind, CODE_PIPELINE_BARRIERS);
    ck_assert(!profile.pipeline.buffers_known && isnan(profile.pipeline.buffers));
    ck_assert(profile.pipeline.barriers_initialised == 2 && has_note(&profile, "mbarriers"));
    ck_assert(profile.iteration.bulk_bytes == 8192 && profile.iteration.expected_bytes == 8192);
    ck_assert(profile.iteration.sure[CODE_OP_BULK_COPY] == 0);   /* by one thread, behind a branch */
    ck_assert_uint_eq(profile.iteration.inner_loops_unknown, 0); /* waiting is no inner loop */
    read_profile(OWN "loops_sm120a.ptx", "narrow", &profile);
    ck_assert_uint_eq(profile.arch, 120);
    ck_assert_int_eq(profile.iteration.mma[0].op, CODE_OP_MMA);
    ck_assert_str_eq(profile.iteration.mma[0].format, "e4m3");
    ck_assert_uint_eq(profile.iteration.mma[0].k, 32);
    ck_assert(profile.iteration.distinct_bytes == 512);
}
END_TEST

/* ---- by hand, in the text ---------------------------------------------------------------------------------------- */
#define TURN " add.s32 %r9, %r9, 1; setp.lt.s32 %p9, %r9, %r8; @%p9 bra L; ret;"

START_TEST(conditions_give_a_lower_and_an_upper_count)
{
    struct code_profile profile;
    profile_text(
        "L: ld.global.f32 %f1, [%rd1]; @%p1 ld.global.f32 %f2, [%rd2]; @%p2 bra S; ex2.approx.f32 %f1, %f1; S:" TURN,
        &profile);
    ck_assert(profile.iteration.sure[CODE_OP_GLOBAL_LOAD] == 1 && profile.iteration.most[CODE_OP_GLOBAL_LOAD] == 2);
    ck_assert(profile.iteration.sure[CODE_OP_EXPONENTIAL] == 0 && profile.iteration.most[CODE_OP_EXPONENTIAL] == 1);
    ck_assert(profile.iteration.instructions_sure == 6 && profile.iteration.instructions_most == 7);
    ck_assert(has_note(&profile, "1 of 7 instructions"));
}
END_TEST

/* Whole tiles are copied without checks, the last one with: a turn does one or the other. A third path skips both. */
START_TEST(one_side_of_a_branch)
{
    struct code_profile profile;
    profile_text(
        "L: @%p1 bra J; @%p2 bra A; bra.uni B;"
        "A: ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1]; ld.global.f32 %f5, [%rd2]; bra.uni J;"
        "B: setp.lt.s32 %p3, %r1, %r2; @%p3 ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];"
        "   @%p3 ld.global.f32 %f5, [%rd2]; @%p4 bra C; ex2.approx.f32 %f1, %f1; bra.uni J; C: sin.approx.f32 %f1, %f1;"
        "J:" TURN,
        &profile);
    ck_assert(profile.iteration.most[CODE_OP_GLOBAL_LOAD] == 2);
    ck_assert(profile.iteration.lane_bytes[CODE_TRAFFIC_GLOBAL_LOAD] == 20);
    ck_assert(profile.iteration.instructions_left_out == 3 + 1); /* A; the lesser of the two after B's branch */
    ck_assert(has_note(&profile, "4 instructions are other sides of branches"));
    /* an if without an else is no such pair, nor are two that may both be taken */
    profile_text("L: @%p1 bra A; ld.global.f32 %f1, [%rd1]; A: @%p2 bra B; ld.global.f32 %f2, [%rd2]; B:" TURN,
                 &profile);
    ck_assert(profile.iteration.most[CODE_OP_GLOBAL_LOAD] == 2 && profile.iteration.instructions_left_out == 0);
    /* warps that load and warps that multiply: both count */
    profile_text(
        "L: @%p1 bra A; ld.global.f32 %f1, [%rd1]; bra.uni J;"
        "A: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2,%f3,%f4,%f5}, {%r1,%r2,%r3,%r4}, {%r5,%r6},"
        " {%f2,%f3,%f4,%f5}; J:" TURN,
        &profile);
    ck_assert(profile.iteration.most[CODE_OP_GLOBAL_LOAD] == 1 && profile.iteration.most[CODE_OP_MMA] == 1);
}
END_TEST

START_TEST(prefetch_through_registers)
{
    struct code_profile profile;
    profile_text("L: st.shared.f32 [%r1], %f1; ld.global.f32 %f1, [%rd1]; bar.sync 0; add.s64 %rd1, %rd1, 512;" TURN,
                 &profile);
    ck_assert(profile.prefetched_loads == 1 && profile.load_phases == 1);
    profile_text("L: ld.global.f32 %f1, [%rd1]; st.shared.f32 [%r1], %f1; bar.sync 0; ld.global.f32 %f2, [%rd2]; "
                 "st.shared.f32 [%r1], %f2;" TURN,
                 &profile);
    ck_assert(profile.prefetched_loads == 0 && profile.load_phases == 2);
}
END_TEST

#define SASS_TURN "IADD3 R2, R2, 0x1, RZ", "ISETP.GE.AND P0, PT, R2, 0x40, PT", "@!P0 BRA 0x20", "EXIT"
#define COUNT(a)  (sizeof(a) / sizeof *(a))

/* A warp goes on only when what it reads has come; no barrier is needed for that. */
START_TEST(machine_code_waits_in_program_order)
{
    static const char *const together[] = {"MOV R2, RZ",
                                           "MOV R8, RZ",
                                           "LDG.E.128 R12, desc[UR4][R20.64]",
                                           "LDG.E.128 R16, desc[UR4][R20.64+0x200]",
                                           "STS.128 [R8], R12",
                                           "STS.128 [R8+0x200], R16",
                                           SASS_TURN};
    static const char *const one_by_one[] = {"MOV R2, RZ",
                                             "MOV R8, RZ",
                                             "LDG.E.128 R12, desc[UR4][R20.64]",
                                             "STS.128 [R8], R12",
                                             "LDG.E.128 R16, desc[UR4][R20.64+0x200]",
                                             "STS.128 [R8+0x200], R16",
                                             SASS_TURN};
    /* Two in flight: the third goes out after the first has come, and the second comes with the first. */
    static const char *const rolling[] = {"MOV R2, RZ",
                                          "MOV R8, RZ",
                                          "LDG.E.128 R12, desc[UR4][R20.64]",
                                          "LDG.E.128 R16, desc[UR4][R20.64+0x200]",
                                          "STS.128 [R8], R12",
                                          "LDG.E.128 R12, desc[UR4][R20.64+0x400]",
                                          "STS.128 [R8+0x200], R16",
                                          "LDG.E.128 R16, desc[UR4][R20.64+0x600]",
                                          "STS.128 [R8+0x400], R12",
                                          "STS.128 [R8+0x600], R16",
                                          SASS_TURN};
    /* The index's latency is the gather's own. */
    static const char *const gather[] = {"MOV R2, RZ",
                                         "MOV R8, RZ",
                                         "LDG.E R6, desc[UR4][R20.64]",
                                         "IMAD.WIDE R10, R6, 0x4, R22",
                                         "LDG.E R12, desc[UR4][R10.64]",
                                         "STS [R8], R12",
                                         SASS_TURN};
    struct code_profile profile;
    profile_sass(together, COUNT(together), &profile);
    ck_assert(profile.has_loop && profile.load_phases == 1);
    profile_sass(one_by_one, COUNT(one_by_one), &profile);
    ck_assert(profile.load_phases == 2);
    profile_sass(rolling, COUNT(rolling), &profile);
    ck_assert(profile.iteration.most[CODE_OP_GLOBAL_LOAD] == 4 && profile.load_phases == 2);
    profile_sass(gather, COUNT(gather), &profile);
    ck_assert(profile.iteration.gather_loads == 1 && profile.load_phases == 1);
}
END_TEST

/* Issued in order: what a product reads was loaded just before it, or 8 products earlier; a product on the one before.
 */
START_TEST(waits_of_machine_code)
{
    const char *at_once[] = {"MOV R60, RZ", "MOV R61, RZ", "LDSM.16.M88.4 R4, [R2]",
                             "HMMA.16816.F32.BF16 R8, R4, R12, R8", SASS_TURN};
    const char *dependent[] = {"MOV R60, RZ", "MOV R61, RZ", "HMMA.16816.F32.BF16 R8, R4, R12, R8",
                               "HMMA.16816.F32.BF16 R8, R4, R14, R8", SASS_TURN};
    const char *ahead[] = {"MOV R60, RZ",
                           "MOV R61, RZ",
                           "LDSM.16.M88.4 R4, [R2]",
                           "HMMA.16816.F32.BF16 R8, R20, R12, R8",
                           "HMMA.16816.F32.BF16 R24, R20, R12, R24",
                           "HMMA.16816.F32.BF16 R28, R20, R12, R28",
                           "HMMA.16816.F32.BF16 R32, R20, R12, R32",
                           "HMMA.16816.F32.BF16 R36, R20, R12, R36",
                           "HMMA.16816.F32.BF16 R40, R20, R12, R40",
                           "HMMA.16816.F32.BF16 R44, R4, R12, R44",
                           SASS_TURN};
    struct code_profile profile;
    struct tile_loop loop = {0};
    struct error error = {0};
    profile_sass(at_once, COUNT(at_once), &profile);
    ck_assert(profile.operand_waits > 0.8 && profile.operand_waits < 1 && profile.product_waits == 0);
    ck_assert_int_eq(code_profile_tile_loop(&profile, 4, &loop, NULL, 0, &error), STATUS_OK);
    ck_assert(loop.operand_waits == profile.operand_waits && loop.product_waits == 0);
    profile_sass(dependent, COUNT(dependent), &profile);
    ck_assert(profile.operand_waits == 0 && profile.product_waits > 1.2 && profile.product_waits < 2);
    profile_sass(ahead, COUNT(ahead), &profile);
    ck_assert(profile.operand_waits == 0 && profile.product_waits == 0);
}
END_TEST

START_TEST(frames_of_machine_code)
{
    const char *items[] = {"VIADD R1, R1, 0xfffff838", "MOV R2, RZ", SASS_TURN};
    struct code_profile profile;
    struct tile_loop loop = {0};
    struct error error = {0};
    items[4] = "@!P0 BRA 0x20";
    profile_sass(items, COUNT(items), &profile);
    ck_assert_uint_eq(profile.local_bytes, 1992);
    ck_assert_int_eq(code_profile_tile_loop(&profile, 4, &loop, NULL, 0, &error), STATUS_OK);
    ck_assert(loop.local_bytes == 1992 && loop.edge_instructions == 3 && loop.warp_instructions == 3);
    items[0] = "IADD3 R1, R1, -0x10, RZ";
    profile_sass(items, COUNT(items), &profile);
    ck_assert_uint_eq(profile.local_bytes, 16);
    items[0] = "IADD3 R1, R1, 0x10, RZ"; /* taken back */
    profile_sass(items, COUNT(items), &profile);
    ck_assert_uint_eq(profile.local_bytes, 0);
}
END_TEST

START_TEST(addresses_by_thread)
{
    static const struct {
        const char *address;
        double threads;
    } cases[] = {{"and.b32 %r1, %r0, 15; shl.b32 %r2, %r1, 4;", 16},
                 {"shr.u32 %r1, %r0, 5; mul.wide.u32 %rd9, %r1, 4; cvt.u32.u64 %r2, %rd9;", 4},
                 {"bfe.u32 %r1, %r0, 2, 3; add.s32 %r2, %r1, %r5;", 8},
                 {"and.b32 %r1, %r0, 48; xor.b32 %r2, %r1, 7;", 4},
                 {"and.b32 %r1, %r0, 3; shl.b32 %r3, %r0, 3; and.b32 %r4, %r3, 64; or.b32 %r2, %r1, %r4;", 8},
                 {"mov.u32 %r2, %ctaid.x;", 1},
                 {"mov.u32 %r2, %r0;", 128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[500];
        struct code_profile profile;
        (void)snprintf(body, sizeof body,
                       "mov.u32 %%r0, %%tid.x; %s cvt.u64.u32 %%rd3, %%r2; add.s64 %%rd4, %%rd3, %%rd1; "
                       "L: ld.global.f32 %%f1, [%%rd4]; add.s64 %%rd4, %%rd4, 4096; add.s32 %%r9, %%r9, 1; "
                       "setp.lt.s32 %%p9, %%r9, %%r8; @%%p9 bra L; ret;",
                       cases[i].address);
        profile_text(body, &profile);
        ck_assert_msg(profile.iteration.distinct_bytes == 4 * cases[i].threads, "%s: %g B", cases[i].address,
                      profile.iteration.distinct_bytes);
    }
}
END_TEST

START_TEST(no_loop_and_irreducible_flow)
{
    struct code_profile profile;
    struct tile_loop loop = {0};
    struct error error = {0};
    profile_text("ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd1], %f1; ret;", &profile);
    ck_assert(!profile.has_loop && profile.prologue.most[CODE_OP_GLOBAL_LOAD] == 1);
    ck_assert_int_eq(code_profile_tile_loop(&profile, 4, &loop, NULL, 0, &error), STATUS_DOMAIN);
    ck_assert_ptr_nonnull(strstr(error.text, "no loop"));
    profile_text("@%p1 bra B; A: ex2.approx.f32 %f1, %f1; B: add.f32 %f1, %f1, %f1; @%p2 bra A; ret;", &profile);
    ck_assert(!profile.has_loop && profile.irreducible_edges == 1 && has_note(&profile, "no loop"));
}
END_TEST

START_TEST(cut_texts_are_marked)
{
    char *text;
    size_t length, marked = 0;
    struct error error = {0};
    ck_assert_int_eq(file_read_text(OWN "loops_sm120a.ptx", 1 << 20, &text, &length, &error), STATUS_OK);
    for (size_t cut = 0; cut < length; cut += 7) {
        struct ptx_file file;
        if (ptx_listing_read(text, cut, "k.ptx", &file, &error) != STATUS_OK) {
            continue;
        }
        const struct code_listing *last = &file.entries[file.entry_count - 1];
        struct code_profile profile;
        if (last->count > 0) {
            ck_assert_int_eq(code_profile_compute(last, &profile, &error), STATUS_OK);
            ck_assert(profile.truncated == last->truncated && (!profile.truncated || profile.note_count > 0));
            marked += profile.truncated;
        }
        ptx_file_release(&file);
    }
    ck_assert_uint_gt(marked, 100);
    free(text);
}
END_TEST

/* ---- tile loops -------------------------------------------------------------------------------------------------- */
/* Products as the model counts them: warps x count, whatever shape they were written as. */
static double modelled_products(const struct tile_loop *loop, uint32_t warps)
{
    double sum = 0;
    for (uint32_t i = 0; i < loop->mma_count; i++) {
        const struct mma_op *op = &loop->mma[i];
        ck_assert_uint_eq(op->m % (op->instruction_m * (op->warpgroup ? warps / 4 : warps)), 0);
        const uint32_t along_m = op->m / op->instruction_m, along_n = op->n / op->instruction_n;
        const uint32_t depth = op->k / op->instruction_k, warps_each = op->warpgroup ? 4 : 1;
        sum += (double)along_m * along_n * depth * warps_each * op->count;
    }
    return sum;
}

START_TEST(tile_loops_keep_the_work)
{
    const struct triton_case *expected = &triton_cases[_i];
    struct code_profile profile;
    struct tile_loop loop = {.iterations = 9, .declared_stages = expected->stages};
    struct error error = {0};
    char path[300], assumed[600];
    (void)snprintf(path, sizeof path, CACHE "%s", expected->entry);
    read_profile(path, NULL, &profile);
    ck_assert_int_eq(code_profile_tile_loop(&profile, 0, &loop, assumed, sizeof assumed, &error), STATUS_OK);
    const uint32_t warps = expected->threads / 32;
    ck_assert(modelled_products(&loop, warps) == expected->products * warps);
    /* What wgmma reads in the meantime is in shared memory and not on its way. */
    ck_assert(profile.pipeline.held_tiles == (expected->product == CODE_OP_WGMMA ? 1 : 0));
    ck_assert(loop.buffers == expected->buffers - profile.pipeline.held_tiles && loop.iterations == 9);
    ck_assert_uint_eq(loop.mma[0].warpgroup, expected->product == CODE_OP_WGMMA);
    ck_assert(loop.special_ops ==
              (expected->exponentials + profile.iteration.most[CODE_OP_SPECIAL]) * expected->threads);
    ck_assert(loop.barriers == profile.iteration.most[CODE_OP_BARRIER] && isnan(loop.spill_bytes));
    const double bytes = loop.stream.rows * loop.stream.row_bytes + loop.gather.rows * loop.gather.row_bytes;
    assert_close_rel(bytes, profile.iteration.distinct_bytes, TOL_ROUNDING);
    ck_assert(loop.gather.index_dependent == (profile.iteration.gather_distinct_bytes > 0));
    if (expected->tile_bytes > 0) {
        ck_assert(loop.stream.pipelined && loop.gather.rows == 0);
    }
}
END_TEST

/* Half of the loads of the PTX are left in what stands for machine code here: half of the bytes. */
START_TEST(machine_code_takes_bytes_from_ptx)
{
    struct code_profile ptx, sass;
    read_profile(OWN "loops_sm90a.ptx", "gather", &ptx);
    sass = ptx;
    sass.iteration.lane_bytes[CODE_TRAFFIC_GLOBAL_LOAD] /= 2;
    sass.iteration.distinct_bytes = sass.iteration.gather_distinct_bytes = NAN;
    code_profile_take_bytes(&sass, &ptx);
    ck_assert(sass.iteration.distinct_bytes == ptx.iteration.distinct_bytes / 2);
    ck_assert(sass.iteration.gather_distinct_bytes == ptx.iteration.gather_distinct_bytes / 2);
    ck_assert(sass.iteration.instructions_most == ptx.iteration.instructions_most);
    ptx.iteration.distinct_bytes = NAN; /* PTX does not know either: nothing changes */
    code_profile_take_bytes(&sass, &ptx);
    ck_assert(!isnan(sass.iteration.distinct_bytes));
}
END_TEST

/* Copies before the loop and loads before the loop are not left out in proportion to each other. */
START_TEST(loads_and_copies_are_kept_apart)
{
    struct code_profile ptx, sass;
    read_profile(CACHE "S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.ptx", NULL, &ptx);
    struct code_tally *ours = &sass.prologue, *known = &ptx.prologue;
    const double loaded = known->distinct_bytes - known->async_distinct_bytes;
    ck_assert(loaded > 0 && known->async_distinct_bytes > 0);
    sass = ptx;
    ours->lane_bytes[CODE_TRAFFIC_GLOBAL_LOAD] /= 2; /* a load that never runs is gone */
    ours->distinct_bytes = ours->async_distinct_bytes = NAN;
    code_profile_take_bytes(&sass, &ptx);
    assert_close_rel(ours->async_distinct_bytes, known->async_distinct_bytes, TOL_ROUNDING);
    assert_close_rel(ours->distinct_bytes - ours->async_distinct_bytes, loaded / 2, TOL_ROUNDING);
}
END_TEST

START_TEST(machine_code_takes_chains_from_ptx)
{
    struct code_profile ptx, sass;
    read_profile(CACHE "S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.ptx", NULL, &ptx);
    const struct code_mma *known = &ptx.iteration.mma[0];
    ck_assert_uint_eq(ptx.iteration.mma_count, 1);
    ck_assert_uint_eq(known->chain_kinds, 2);
    sass = ptx;
    struct code_mma *ours = &sass.iteration.mma[0];
    *ours->chains = (struct code_chains){5, 3};
    ours->chain_kinds = 1;
    code_profile_take_bytes(&sass, &ptx);
    ck_assert_uint_eq(ours->chain_kinds, 2);
    ck_assert(ours->chains[0].length == known->chains[0].length && ours->chains[0].count == known->chains[0].count);
    *ours->chains = (struct code_chains){5, 3}; /* fewer products than PTX has: not the same work */
    ours->most--;
    code_profile_take_bytes(&sass, &ptx);
    ck_assert(ours->chains[0].length == 5);
}
END_TEST

START_TEST(tile_loops_need_warps)
{
    struct code_profile profile;
    struct tile_loop loop = {0};
    struct error error = {0};
    profile_text("L: ld.global.f32 %f1, [%rd1];" TURN, &profile);
    profile.threads = 0;
    ck_assert_int_eq(code_profile_tile_loop(&profile, 0, &loop, NULL, 0, &error), STATUS_DOMAIN);
    ck_assert_ptr_nonnull(strstr(error.text, "warps"));
    ck_assert_int_eq(code_profile_tile_loop(&profile, 2, &loop, NULL, 0, &error), STATUS_OK);
    ck_assert(!loop.stream.pipelined && loop.buffers == 1);
}
END_TEST

Suite *suite_code_profile(void);
Suite *suite_code_profile(void)
{
    Suite *suite = suite_create("code_profile");
    const int cases = (int)(sizeof triton_cases / sizeof *triton_cases);
    TCase *recorded = tcase_create("recorded"), *hand = tcase_create("hand"), *tile = tcase_create("tile_loop");
    tcase_set_timeout(recorded, 120);
    tcase_set_timeout(hand, 60);
    tcase_add_loop_test(recorded, triton_kernels_by_hand, 0, cases);
    tcase_add_test(recorded, gqa_in_detail);
    tcase_add_test(recorded, split_gathers);
    tcase_add_loop_test(recorded, stages_against_buffers, 1, 5);
    tcase_add_test(recorded, own_kernels_by_hand);
    tcase_add_test(recorded, own_kernels_compiled_now);
    tcase_add_test(recorded, architectures_told_apart);
    tcase_add_test(hand, conditions_give_a_lower_and_an_upper_count);
    tcase_add_test(hand, one_side_of_a_branch);
    tcase_add_test(hand, prefetch_through_registers);
    tcase_add_test(hand, machine_code_waits_in_program_order);
    tcase_add_test(hand, frames_of_machine_code);
    tcase_add_test(hand, waits_of_machine_code);
    tcase_add_test(hand, addresses_by_thread);
    tcase_add_test(hand, no_loop_and_irreducible_flow);
    tcase_add_test(hand, cut_texts_are_marked);
    tcase_add_loop_test(tile, tile_loops_keep_the_work, 0, cases);
    tcase_add_test(tile, tile_loops_need_warps);
    tcase_add_test(tile, machine_code_takes_bytes_from_ptx);
    tcase_add_test(tile, loads_and_copies_are_kept_apart);
    tcase_add_test(tile, machine_code_takes_chains_from_ptx);
    suite_add_tcase(suite, recorded);
    suite_add_tcase(suite, hand);
    suite_add_tcase(suite, tile);
    return suite;
}
