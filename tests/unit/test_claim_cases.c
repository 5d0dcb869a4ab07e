/* SPDX-License-Identifier: GPL-3.0-or-later
 * Claims put together: the public cases of conflicting or stale evidence, traps that are no conflicts, names, and what
 * the recorded sources of one kernel say of it. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "evidence/claims/claim_cases.h"
#include "evidence/claims/claim_names.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/claims/claim_occupancy.h"
#include "evidence/claims/claim_rank.h"
#include "evidence/claims/code_claims.h"
#include "evidence/claims/evidence_read.h"
#include "evidence/claims/stated_claim.h"
#include "evidence/device_catalogue.h"

Suite *suite_claim_cases(void);

#define CACHE     "tests/recorded/triton-3.6-cache"
#define PROFILERS "tests/recorded/profilers/"

struct stated {
    struct kernel_claim_list list;
    struct claim_cases cases;
    struct device_catalogue *catalogue;
};

static void state(struct stated *self, const char *const *texts, size_t count)
{
    struct error error = {0};
    *self = (struct stated){0};
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(stated_claim_parse(texts[i], &self->list, &error) == STATUS_OK, "%s: %s", texts[i], error.text);
    }
    claims_normalise(&self->list);
    ck_assert_msg(claim_cases_find(&self->list, NULL, &self->cases, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(device_catalogue_create(&self->catalogue, &error) == STATUS_OK, "%s", error.text);
}
#define STATE(self, ...)                                                                                               \
    do {                                                                                                               \
        static const char *const texts[] = {__VA_ARGS__};                                                              \
        state(self, texts, sizeof texts / sizeof texts[0]);                                                            \
    } while (0)

static void stated_release(struct stated *self)
{
    claim_cases_release(&self->cases);
    kernel_claim_list_release(&self->list);
    device_catalogue_free(self->catalogue);
}

static struct claim_occupancy occupancy_of(const struct stated *self, const char *device, size_t story)
{
    const struct gpu_device *found = NULL;
    struct claim_occupancy result;
    struct error error = {0};
    ck_assert_msg(device_catalogue_find(self->catalogue, device, &found, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_lt(story, self->cases.items[0].story_count);
    claim_story_occupancy(&self->cases.items[0].stories[story], &found->limits, &result);
    return result;
}

static double exact(const struct claim_case *item, enum claim_figure figure)
{
    const struct claim_value *value = claim_case_value(item, figure);
    ck_assert_msg(claim_value_is_exact(value), "%s is not exact", claim_figure_name(figure));
    return value->low;
}

/* --- the public cases ----------------------------------------------------------------------------------------------
 */

/* arch, regs, threads as given: trace 81920 B against cache 61440 B. */
START_TEST(conflict_that_matters_on_one_gpu)
{
    static const struct {
        const char *device;
        uint32_t trace, cache;
    } rows[] = {{"sm_90", 2, 3}, {"sm_80", 2, 2}, {"sm_120", 1, 1}, {"sm_86", 1, 1}, {"sm_89", 1, 1}};
    struct stated self;
    STATE(&self, "smem_bytes=81920 regs=128 threads=128 source=trace", "smem_bytes=61440 source=cache");
    ck_assert_uint_eq(self.cases.count, 1);
    const struct claim_case *item = &self.cases.items[0];
    ck_assert_uint_eq(item->conflict_count, 1);
    ck_assert_uint_eq(item->story_count, 2);
    const struct claim_comparison *smem = claim_case_comparison(item, CLAIM_LAUNCH_SMEM);
    ck_assert_ptr_nonnull(smem);
    ck_assert(!smem->is_undecided);
    ck_assert_int_eq(self.list.items[smem->readings[0].lead].source, CLAIM_SOURCE_TRACE);
    ck_assert_double_eq(exact(item, CLAIM_LAUNCH_SMEM), 81920);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_uint_eq(occupancy_of(&self, rows[i].device, 0).ctas_low, rows[i].trace);
        ck_assert_uint_eq(occupancy_of(&self, rows[i].device, 1).ctas_low, rows[i].cache);
    }
    stated_release(&self);
}
END_TEST

/* The golden conflict: on cc 12.0 one CTA per SM either way, 2 against 2 on 8.0 and 9.0. */
START_TEST(golden_conflict_is_the_same_occupancy)
{
    struct stated self;
    STATE(&self, "smem_bytes=80000 registers=255 threads=128 source=trace", "smem_bytes=61568 source=cache");
    static const char *const devices[] = {"sm_120", "sm_80", "sm_90"};
    for (size_t i = 0; i < 3; i++) {
        const uint32_t expected = i == 0 ? 1 : 2;
        ck_assert_uint_eq(occupancy_of(&self, devices[i], 0).ctas_low, expected);
        ck_assert_uint_eq(occupancy_of(&self, devices[i], 1).ctas_low, expected);
    }
    stated_release(&self);
}
END_TEST

START_TEST(stale_binary_block_size_of_the_trace)
{
    struct stated self;
    STATE(&self, "num_warps=8 source=autotune", "block=32 source=trace");
    const struct claim_case *item = &self.cases.items[0];
    ck_assert_uint_eq(item->conflict_count, 1);
    ck_assert_double_eq(exact(item, CLAIM_THREADS), 32);
    const struct claim_comparison *threads = claim_case_comparison(item, CLAIM_THREADS);
    ck_assert_int_eq(self.list.items[threads->readings[0].lead].source, CLAIM_SOURCE_TRACE);
    ck_assert_double_eq(threads->readings[1].value.low, 256);
    stated_release(&self);
}
END_TEST

START_TEST(inductor_is_a_source)
{
    struct stated self;
    STATE(&self, "num_warps=8 source=inductor", "num_warps=4 source=trace");
    ck_assert_int_eq(self.list.items[0].source, CLAIM_SOURCE_INDUCTOR_LOG);
    stated_release(&self);
}
END_TEST

START_TEST(reserve_is_no_conflict)
{
    struct stated self;
    STATE(&self, "smem=0 source=ptxas arch=sm_121", "shared=1024 source=cuobjdump arch=sm_121",
          "shared=20480 source=json arch=sm_121", "driver=1024 source=ncu arch=sm_121");
    ck_assert_uint_eq(self.cases.count, 1);
    ck_assert_uint_eq(self.cases.items[0].conflict_count, 0);
    ck_assert_uint_eq(occupancy_of(&self, "sm_121", 0).charged_smem_bytes, 20480 + 1024);
    stated_release(&self);

    STATE(&self, "smem=1024 source=ptxas arch=sm_86", "shared=1024 source=cuobjdump arch=sm_86",
          "shared=20480 source=json arch=sm_86");
    ck_assert_uint_eq(self.cases.items[0].conflict_count, 0);
    ck_assert_double_eq(exact(&self.cases.items[0], CLAIM_STATIC_SMEM), 1024);
    ck_assert_uint_eq(occupancy_of(&self, "sm_86", 0).charged_smem_bytes, 20480 + 2048);
    stated_release(&self);
}
END_TEST

START_TEST(occupancy_of_kineto_beyond_its_limit_is_unknown)
{
    struct stated self;
    STATE(&self, "shared=81920 est_occ=0 source=kineto");
    ck_assert(!self.list.items[0].figures[CLAIM_OCCUPANCY].is_known);
    ck_assert_ptr_nonnull(strstr(self.list.items[0].note, "48 KiB"));
    stated_release(&self);
    STATE(&self, "shared=49152 est_occ=13 source=kineto");
    ck_assert(self.list.items[0].figures[CLAIM_OCCUPANCY].is_known);
    ck_assert_double_eq_tol(self.list.items[0].figures[CLAIM_OCCUPANCY].low, 0.13, 1e-12);
    stated_release(&self);
}
END_TEST

START_TEST(launched_blocks_are_no_residency)
{
    struct stated self;
    STATE(&self, "blocks_per_sm=2.72 regs=255 threads=128 source=trace");
    ck_assert(!self.list.items[0].figures[CLAIM_CTAS_PER_SM].is_known);
    ck_assert_ptr_nonnull(strstr(self.list.items[0].note, "not resident"));
    stated_release(&self);
}
END_TEST

/* "Used 4 registers, 80000 bytes smem" after an error of the compiler: nothing was built. */
START_TEST(refused_kernels_are_no_builds)
{
    static const char *const paths[] = {"tests/recorded/nvcc-13.0/refused-sm_86.log"};
    struct evidence evidence = {0};
    struct claim_cases cases = {0};
    struct error error = {0};
    ck_assert_int_eq(evidence_read(paths, 1, CODE_LISTING_AUTO, &evidence, &error), STATUS_OK);
    ck_assert_int_eq(code_claims_append(&evidence.code, &evidence.claims, &error), STATUS_OK);
    size_t refused = 0;
    for (size_t i = 0; i < evidence.claims.count; i++) {
        refused += evidence.claims.items[i].is_failed;
    }
    ck_assert_uint_ge(refused, 1);
    ck_assert_int_eq(claim_cases_find(&evidence.claims, NULL, &cases, &error), STATUS_OK);
    for (size_t i = 0; i < cases.count; i++) {
        for (size_t c = 0; c < cases.items[i].claim_count; c++) {
            ck_assert(!evidence.claims.items[cases.items[i].claims[c]].is_failed);
        }
    }
    claim_cases_release(&cases);
    evidence_release(&evidence);
}
END_TEST

START_TEST(megabytes_are_an_interval)
{
    struct stated self;
    STATE(&self, "dynamic=0.214MB source=nsys-table", "shared=219000 source=cache");
    const struct claim_value *value = &self.list.items[0].figures[CLAIM_DYNAMIC_SMEM];
    ck_assert_double_eq(value->low, 213500);
    ck_assert_double_eq(value->high, 224920);
    ck_assert_uint_eq(self.cases.items[0].conflict_count, 0);
    ck_assert_double_eq(exact(&self.cases.items[0], CLAIM_DYNAMIC_SMEM), 219000);
    stated_release(&self);
    STATE(&self, "dynamic=0.214MB source=nsys-table", "dynamic=230000 source=cubin");
    ck_assert_uint_ge(self.cases.items[0].conflict_count, 1);
    stated_release(&self);
}
END_TEST

/* cuobjdump of a bare cubin does not name the architecture: 1024 B may be the reserve. */
START_TEST(unknown_architecture_is_a_bound)
{
    struct stated self;
    STATE(&self, "shared=1024 source=cuobjdump", "smem=0 source=ptxas");
    ck_assert_uint_eq(self.cases.items[0].conflict_count, 0);
    ck_assert_double_eq(exact(&self.cases.items[0], CLAIM_STATIC_SMEM), 0);
    stated_release(&self);
}
END_TEST

START_TEST(equally_trusted_sources_decide_nothing)
{
    struct stated self;
    STATE(&self, "regs=128 threads=128 source=trace", "regs=168 source=ncu");
    const struct claim_comparison *registers = claim_case_comparison(&self.cases.items[0], CLAIM_REGISTERS);
    ck_assert_uint_eq(registers->reading_count, 2);
    ck_assert(registers->is_undecided);
    stated_release(&self);
}
END_TEST

/* --- words ---------------------------------------------------------------------------------------------------------
 */

/* A misspelt source would be trusted like a table, whatever it was: the sources are named. */
START_TEST(an_unknown_source_is_refused_and_a_missing_one_is_said)
{
    struct kernel_claim_list list = {0};
    struct error error = {0};
    ck_assert_int_eq(stated_claim_parse("smem_bytes=61568 source=trcae", &list, &error), STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "source \"trcae\" is none of trace, "));
    ck_assert_ptr_nonnull(strstr(error.text, "cuobjdump"));
    ck_assert_ptr_nonnull(strstr(error.text, "did you mean trace?"));
    kernel_claim_list_release(&list);
    list = (struct kernel_claim_list){0};
    ck_assert_int_eq(stated_claim_parse("smem_bytes=61568", &list, &error), STATUS_OK);
    ck_assert_int_eq(list.items[0].source, CLAIM_SOURCE_MEASUREMENTS);
    ck_assert_ptr_nonnull(strstr(list.items[0].note, "names no source"));
    kernel_claim_list_release(&list);
    list = (struct kernel_claim_list){0};
    ck_assert_int_eq(stated_claim_parse("smem_bytes=61568 source=table", &list, &error), STATUS_OK);
    ck_assert_str_eq(list.items[0].note, "");
    kernel_claim_list_release(&list);
}
END_TEST

START_TEST(wrong_words_are_named)
{
    static const char *const texts[] = {
        "",          "source=trace",        "smem_bytes",        "smem_bytes=",
        "=80000",    "smem_bytes=many",     "smem_bytes=-1",     "smem_bytes=1e99",
        "colour=4",  "arch=gfx942 regs=1",  "regs=1 regs=2",     "smem=1KB shared=1024",
        "time_us=0", "smem_bytes=80.KB.KB", "smem=1 source=nuc", "smem=1 source=trace source=ncu"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct kernel_claim_list list = {0};
        struct error error = {0};
        ck_assert_msg(stated_claim_parse(texts[i], &list, &error) == STATUS_USAGE, "\"%s\" was taken", texts[i]);
        ck_assert_ptr_nonnull(strstr(error.text, "claim"));
        kernel_claim_list_release(&list);
    }
    char longest[600];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct kernel_claim_list list = {0};
    struct error error = {0};
    ck_assert_int_eq(stated_claim_parse(longest, &list, &error), STATUS_USAGE);
    kernel_claim_list_release(&list);
}
END_TEST

START_TEST(names_of_one_kernel)
{
    static const struct {
        const char *name, *base;
    } rows[] = {{"matmul_kernel", "matmul_kernel"},
                {"matmul_kernel_0d1d2de3c", "matmul_kernel"},
                {"_Z3fooIiEvPT_", "foo"},
                {"_ZN2at6native4fillIjEEvPT_S2_i", "fill"},
                {"_ZN12_GLOBAL__N_112softmax_warpEv", "softmax_warp"},
                {"_Z99999999999999999999foo", "_Z99999999999999999999foo"},
                {"_Z", "_Z"},
                {"void at::native::mbtopk::fill<unsigned int, unsigned int>(unsigned int*, unsigned int)", "fill"},
                {"void (anonymous namespace)::softmax_warp_forward<float, 9>(float*)", "softmax_warp_forward"},
                {"foo(int)", "foo"},
                {"<<<", "<<<"},
                {"", ""}};
    char base[CLAIM_BASE_NAME_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_str_eq(claim_base_name(rows[i].name, base), rows[i].base);
    }
    ck_assert(claim_names_compatible("_ZN2at6native4fillIjEEvPT_S2_i", "void at::native::fill<unsigned>(unsigned*)"));
    ck_assert(!claim_names_compatible("void f<int>(int*)", "void f<float>(float*)"));
    ck_assert(claim_names_equal("k_0d1d", "k"));
}
END_TEST

START_TEST(every_source_has_a_rank_a_reason_and_a_check)
{
    for (int i = 0; i < CLAIM_SOURCE_COUNT; i++) {
        const struct claim_rank *rank = claim_rank_of((enum claim_source)i);
        ck_assert_uint_ge(rank->order, 1);
        ck_assert_ptr_nonnull(rank->reason);
        ck_assert_ptr_nonnull(rank->check);
        ck_assert(rank->kind != CLAIM_LAUNCHED || rank->order <= 2);
        ck_assert(rank->kind != CLAIM_TUNED || rank->order >= 7);
    }
    static const enum claim_source falling[] = {
        CLAIM_SOURCE_TRACE,        CLAIM_SOURCE_NSYS_TABLE,          CLAIM_SOURCE_CUBIN,
        CLAIM_SOURCE_COMPILER_LOG, CLAIM_SOURCE_TRITON_JSON,         CLAIM_SOURCE_PTX,
        CLAIM_SOURCE_KERNEL_TUNER, CLAIM_SOURCE_TRITON_AUTOTUNE_LOG, CLAIM_SOURCE_MEASUREMENTS}; /* EVID-4 */
    for (size_t i = 1; i < sizeof falling / sizeof falling[0]; i++) {
        ck_assert_uint_lt(claim_rank_of(falling[i - 1])->order, claim_rank_of(falling[i])->order);
    }
}
END_TEST

/* --- recorded files ------------------------------------------------------------------------------------------------
 */

static void read_all(const char *const *paths, size_t count, struct evidence *evidence, struct claim_cases *cases)
{
    struct error error = {0};
    *evidence = (struct evidence){0};
    *cases = (struct claim_cases){0};
    ck_assert_msg(evidence_read(paths, count, CODE_LISTING_AUTO, evidence, &error) == STATUS_OK, "%s: %s", error.file,
                  error.text);
    ck_assert_msg(code_claims_append(&evidence->code, &evidence->claims, &error) == STATUS_OK, "%s", error.text);
    claims_normalise(&evidence->claims);
    ck_assert_msg(claim_cases_find(&evidence->claims, NULL, cases, &error) == STATUS_OK, "%s", error.text);
}

static unsigned sources_of(const struct claim_cases *cases, const struct claim_case *item)
{
    unsigned sources = 0;
    for (size_t i = 0; i < item->claim_count; i++) {
        sources |= 1u << cases->claims->items[item->claims[i]].source;
    }
    return sources;
}

static const struct claim_case *find_case(const struct claim_cases *cases, const char *name, uint32_t arch,
                                          double threads, double smem)
{
    const struct claim_case *found = NULL;
    for (size_t i = 0; i < cases->count; i++) {
        const struct claim_case *item = &cases->items[i];
        if (strcmp(item->name, name) == 0 && item->arch == arch &&
            claim_case_value(item, CLAIM_THREADS)->low == threads &&
            claim_case_value(item, CLAIM_LAUNCH_SMEM)->low == smem) {
            ck_assert_ptr_null(found);
            found = item;
        }
    }
    return found;
}

/* Registers, SMEM and block size of cubin, ptxas, cuobjdump, JSON, PTX, trace and Nsight Compute are one where they
 * are about one kernel; nothing conflicts. */
START_TEST(recorded_sources_agree)
{
    static const char *const paths[] = {PROFILERS "kineto-h200.json",
                                        PROFILERS "ncu-raw-h200.csv",
                                        PROFILERS "ncu-details-h200.csv",
                                        PROFILERS "ptxas-v.txt",
                                        PROFILERS "cuobjdump-resource-usage.txt",
                                        CACHE};
    enum {
        BUILD = 1u << CLAIM_SOURCE_CUBIN | 1u << CLAIM_SOURCE_TRITON_JSON | 1u << CLAIM_SOURCE_PTX,
        REPORTS = 1u << CLAIM_SOURCE_COMPILER_LOG | 1u << CLAIM_SOURCE_RESOURCE_USAGE,
        RUN = 1u << CLAIM_SOURCE_TRACE | 1u << CLAIM_SOURCE_NCU
    };
    static const struct {
        const char *name;
        uint32_t arch;
        double threads, smem, registers;
        unsigned sources;
    } rows[] = {{"split_kernel", 90, 128, 51200, 255, BUILD | REPORTS | RUN},
                {"split_kernel", 90, 128, 32832, 255, BUILD | REPORTS | RUN},
                {"split_kernel", 90, 256, 51200, 246, RUN},
                {"split_kernel", 120, 128, 51200, 255, BUILD | REPORTS},
                {"gqa_kernel", 120, 128, 71680, 74, BUILD | REPORTS},
                {"matmul_kernel", 90, 256, 147456, 197, BUILD}};
    struct evidence evidence;
    struct claim_cases cases;
    read_all(paths, sizeof paths / sizeof paths[0], &evidence, &cases);
    for (size_t i = 0; i < cases.count; i++) {
        ck_assert_msg(cases.items[i].conflict_count == 0, "%s conflicts", cases.items[i].name);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct claim_case *item = find_case(&cases, rows[i].name, rows[i].arch, rows[i].threads, rows[i].smem);
        ck_assert_msg(item != NULL, "row %zu is not there", i);
        ck_assert_double_eq(exact(item, CLAIM_REGISTERS), rows[i].registers);
        ck_assert_uint_eq(sources_of(&cases, item), rows[i].sources);
    }
    claim_cases_release(&cases);
    evidence_release(&evidence);
}
END_TEST

/* The only cached build is not the one that the trace shows. */
START_TEST(launch_without_its_build_contradicts_the_nearest)
{
    static const char *const paths[] = {PROFILERS "kineto-h200.json",
                                        CACHE "/7JLSWOVP2Q4U3D5VUU7WMYQAIF7UXPWCU2O2HTYBX3IB4I3CSFAQ",
                                        CACHE "/ALETGEZ5MV57XPV2WN7AO5BCSGG7KIQIREPURC7GFOUF3ZTZIZGQ"};
    struct evidence evidence;
    struct claim_cases cases;
    read_all(paths, 3, &evidence, &cases);
    const struct claim_case *explained = find_case(&cases, "split_kernel", 90, 128, 32832);
    ck_assert_ptr_nonnull(explained);
    ck_assert_uint_eq(explained->conflict_count, 0);
    /* The sm_120 build is another architecture's: it contradicts nothing. */
    const struct claim_case *other = find_case(&cases, "split_kernel", 90, 128, 51200);
    ck_assert_ptr_nonnull(other);
    ck_assert_uint_eq(other->conflict_count, 0);
    claim_cases_release(&cases);
    evidence_release(&evidence);
}
END_TEST

START_TEST(stated_launch_against_a_cache)
{
    static const char *const paths[] = {CACHE};
    struct evidence evidence = {0};
    struct claim_cases cases = {0};
    struct error error = {0};
    ck_assert_int_eq(evidence_read(paths, 1, CODE_LISTING_AUTO, &evidence, &error), STATUS_OK);
    ck_assert_int_eq(code_claims_append(&evidence.code, &evidence.claims, &error), STATUS_OK);
    ck_assert_int_eq(
        stated_claim_parse("kernel=gqa_kernel smem=80000 threads=128 regs=74 source=trace", &evidence.claims, &error),
        STATUS_OK);
    claims_normalise(&evidence.claims);
    ck_assert_int_eq(claim_cases_find(&evidence.claims, "gqa_kernel", &cases, &error), STATUS_OK);
    ck_assert_uint_eq(cases.count, 1);
    ck_assert_uint_eq(cases.items[0].conflict_count, 1);
    ck_assert_uint_eq(cases.items[0].story_count, 2);
    ck_assert_double_eq(cases.items[0].stories[0].figures[CLAIM_LAUNCH_SMEM].low, 80000);
    ck_assert_double_eq(cases.items[0].stories[1].figures[CLAIM_LAUNCH_SMEM].low, 71680);
    claim_cases_release(&cases);
    /* Without a kernel it could be about any of three. */
    ck_assert_int_eq(stated_claim_parse("smem=80000 source=trace", &evidence.claims, &error), STATUS_OK);
    ck_assert_int_eq(claim_cases_find(&evidence.claims, NULL, &cases, &error), STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "matmul_kernel"));
    claim_cases_release(&cases);
    ck_assert_int_eq(claim_cases_find(&evidence.claims, "nothing_such", &cases, &error), STATUS_OK);
    claim_cases_release(&cases);
    evidence_release(&evidence);
}
END_TEST

/* Equal launches of one kernel by the thousand, and as many different ones: linear, and capped. */
START_TEST(many_launches)
{
    struct kernel_claim_list list = {0};
    struct claim_cases cases = {0};
    struct error error = {0};
    for (int i = 0; i < 3000; i++) {
        struct kernel_claim *claim;
        ck_assert_int_eq(kernel_claim_list_add(&list, CLAIM_SOURCE_TRACE, "t.json", "k", 1, &claim, &error), STATUS_OK);
        kernel_claim_set(claim, CLAIM_THREADS, 128);
        kernel_claim_set(claim, CLAIM_REGISTERS, 32);
        kernel_claim_set(claim, CLAIM_LAUNCH_SMEM, i % 2 == 0 ? 0 : 4 * i);
        kernel_claim_set(claim, CLAIM_GRID, i + 1);
    }
    ck_assert_int_eq(claim_cases_find(&list, NULL, &cases, &error), STATUS_OK);
    ck_assert_uint_eq(cases.count, CLAIM_UNITS_PER_KERNEL_MAX);
    ck_assert_uint_eq(cases.items[0].claim_count, 1500);
    ck_assert_uint_ge(cases.items[0].remark_count, 1);
    claim_cases_release(&cases);
    kernel_claim_list_release(&list);
}
END_TEST

Suite *suite_claim_cases(void)
{
    Suite *suite = suite_create("claim_cases");
    TCase *tcase = tcase_create("claims");
    tcase_add_test(tcase, conflict_that_matters_on_one_gpu);
    tcase_add_test(tcase, golden_conflict_is_the_same_occupancy);
    tcase_add_test(tcase, stale_binary_block_size_of_the_trace);
    tcase_add_test(tcase, inductor_is_a_source);
    tcase_add_test(tcase, reserve_is_no_conflict);
    tcase_add_test(tcase, occupancy_of_kineto_beyond_its_limit_is_unknown);
    tcase_add_test(tcase, launched_blocks_are_no_residency);
    tcase_add_test(tcase, refused_kernels_are_no_builds);
    tcase_add_test(tcase, megabytes_are_an_interval);
    tcase_add_test(tcase, unknown_architecture_is_a_bound);
    tcase_add_test(tcase, equally_trusted_sources_decide_nothing);
    tcase_add_test(tcase, wrong_words_are_named);
    tcase_add_test(tcase, an_unknown_source_is_refused_and_a_missing_one_is_said);
    tcase_add_test(tcase, names_of_one_kernel);
    tcase_add_test(tcase, every_source_has_a_rank_a_reason_and_a_check);
    tcase_add_test(tcase, recorded_sources_agree);
    tcase_add_test(tcase, launch_without_its_build_contradicts_the_nearest);
    tcase_add_test(tcase, stated_launch_against_a_cache);
    tcase_add_test(tcase, many_launches);
    suite_add_tcase(suite, tcase);
    return suite;
}
