/* SPDX-License-Identifier: GPL-3.0-or-later
 * All sources of one kernel say the same of it: cubin, Triton's JSON, PTX, ptxas log, resource report, trace. And how a
 * folder is walked, and two records become one. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "evidence/code/compiled_code.h"
#include "evidence/code/compiler_log.h"
#include "evidence/code/cubin_file.h"
#include "evidence/code/ptx_listing.h"
#include "evidence/code/resource_usage_text.h"
#include "evidence/code/triton_entry.h"
#include "tests/support/temp_dir.h"

Suite *suite_compiled_code(void);

#define CACHE     "tests/recorded/triton-3.6-cache"
#define PROFILERS "tests/recorded/profilers/"

typedef enum status file_reader(const char *, size_t, const char *, struct compiled_kernel_list *, struct error *);

static enum status read_json(const char *text, size_t length, const char *name, struct compiled_kernel_list *list,
                             struct error *error)
{
    enum triton_json_kind kind;
    return triton_entry_parse(text, length, name, list, &kind, NULL, error);
}

static void read_file(file_reader *reader, const char *path, struct compiled_kernel_list *list)
{
    char *text = NULL;
    size_t length = 0;
    struct error error = {0};
    ck_assert_msg(file_read_text(path, 1 << 24, &text, &length, &error) == STATUS_OK, "%s: %s", path, error.text);
    ck_assert_msg(reader(text, length, path, list, &error) == STATUS_OK, "%s: %s", path, error.text);
    free(text);
}

static uint64_t exact(const struct compiled_kernel *kernel, enum compiled_figure figure)
{
    ck_assert_msg(kernel->figures[figure].state == FIGURE_EXACT, "%s: %s is not exact", kernel->file,
                  compiled_figure_name(figure));
    return kernel->figures[figure].value;
}

static struct triton_cache recorded_cache(void)
{
    struct triton_cache cache = {0};
    struct error error = {0};
    ck_assert_int_eq(triton_cache_walk(CACHE, &cache, &error), STATUS_OK);
    ck_assert_uint_eq(cache.count, 11); /* the autotune file is none */
    return cache;
}

START_TEST(cubin_json_and_ptx_agree)
{
    struct triton_cache cache = recorded_cache();
    for (size_t i = 0; i < cache.count; i++) {
        struct compiled_kernel_list made = {0}, said = {0};
        struct ptx_file ptx = {0};
        struct error error = {0};
        char *text = NULL;
        size_t length = 0;
        read_file(cubin_parse, cache.groups[i].paths[CODE_FILE_CUBIN], &made);
        read_file(read_json, cache.groups[i].paths[CODE_FILE_JSON], &said);
        ck_assert_int_eq(file_read_text(cache.groups[i].paths[CODE_FILE_PTX], 1 << 24, &text, &length, &error),
                         STATUS_OK);
        ck_assert_int_eq(ptx_listing_read(text, length, "x.ptx", &ptx, &error), STATUS_OK);
        ck_assert_uint_eq(made.count, 1);
        ck_assert_uint_eq(said.count, 1);
        ck_assert_uint_eq(ptx.entry_count, 1);
        const struct compiled_kernel *cubin = &made.items[0], *json = &said.items[0];
        ck_assert_str_eq(cubin->name, json->name);
        ck_assert_str_eq(cubin->name, ptx.entries[0].name);
        ck_assert_uint_eq(cubin->arch, json->arch);
        ck_assert_uint_eq(cubin->arch, ptx.entries[0].arch);
        ck_assert_int_eq(cubin->arch_suffix, ptx.entries[0].arch_suffix);
        ck_assert_uint_eq(exact(cubin, COMPILED_THREADS), exact(json, COMPILED_THREADS));
        ck_assert_uint_eq(exact(cubin, COMPILED_THREADS), ptx.entries[0].threads);
        ck_assert(ptx.entries[0].threads_exact);
        ck_assert_uint_eq(exact(cubin, COMPILED_STATIC_SMEM), 0); /* the section's 1024 bytes are the reserve */
        ck_assert_uint_eq(exact(cubin, COMPILED_RESERVED_SMEM), exact(json, COMPILED_RESERVED_SMEM));
        ck_assert_uint_ge(exact(cubin, COMPILED_REGISTERS), 64);
        free(text);
        ptx_file_release(&ptx);
        compiled_kernel_list_release(&made);
        compiled_kernel_list_release(&said);
    }
    triton_cache_release(&cache);
}
END_TEST

/* The four compilations whose log and report were recorded, in the order of these files. */
START_TEST(cubin_log_and_report_agree)
{
    static const char *const cubins[] = {
        CACHE "/S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.cubin",
        CACHE "/KINJ5DQGES2D2WHNIK2PODHSTONKLCTV4CKRMW2TCBRSIX7SUGRA/split_kernel.cubin",
        CACHE "/D2H6FLWMK4N2CMI6GA5PPC447MID3XG3GY727MLAKZASLUMJQEVQ/split_kernel.cubin",
        CACHE "/ALETGEZ5MV57XPV2WN7AO5BCSGG7KIQIREPURC7GFOUF3ZTZIZGQ/split_kernel.cubin"};
    struct compiled_kernel_list made = {0}, logged = {0}, reported = {0};
    read_file(compiler_log_parse, PROFILERS "ptxas-v.txt", &logged);
    read_file(resource_usage_text_parse, PROFILERS "cuobjdump-resource-usage.txt", &reported);
    for (size_t i = 0; i < 4; i++) {
        read_file(cubin_parse, cubins[i], &made);
        const struct compiled_kernel *cubin = &made.items[i];
        struct compiled_kernel *report = &reported.items[i];
        enum compiled_figure conflict;
        ck_assert_str_eq(cubin->name, logged.items[i].name);
        ck_assert_str_eq(cubin->name, report->name);
        ck_assert_uint_eq(cubin->arch, logged.items[i].arch);
        ck_assert_int_eq(cubin->arch_suffix, logged.items[i].arch_suffix);
        static const enum compiled_figure both[] = {COMPILED_REGISTERS, COMPILED_STACK};
        for (size_t f = 0; f < 2; f++) {
            ck_assert_uint_eq(exact(cubin, both[f]), exact(&logged.items[i], both[f]));
            ck_assert_uint_eq(exact(cubin, both[f]), exact(report, both[f]));
        }
        ck_assert_uint_eq(exact(cubin, COMPILED_STATIC_SMEM), exact(&logged.items[i], COMPILED_STATIC_SMEM));
        /* The report's bound becomes the cubin's figure; nothing contradicts. */
        ck_assert(compiled_kernel_merge(report, cubin, &conflict));
        ck_assert_int_eq(conflict, COMPILED_FIGURE_COUNT);
        ck_assert_uint_eq(exact(report, COMPILED_STATIC_SMEM), 0);
        struct compiled_kernel merged = *cubin;
        ck_assert(compiled_kernel_merge(&merged, &logged.items[i], &conflict));
        ck_assert_int_eq(conflict, COMPILED_FIGURE_COUNT);
        ck_assert_uint_eq(exact(&merged, COMPILED_BARRIERS), 1);
    }
    compiled_kernel_list_release(&made);
    compiled_kernel_list_release(&logged);
    compiled_kernel_list_release(&reported);
}
END_TEST

static uint64_t integer_of(const json_t *args, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(args, key));
}

/* The trace is of the same kernels on an H200: registers, static + dynamic SMEM and CTA size as launched. */
START_TEST(trace_agrees)
{
    struct compiled_code code = {0};
    struct error error = {0};
    const char *path = CACHE;
    ck_assert_int_eq(compiled_code_read(&path, 1, CODE_LISTING_AUTO, &code, &error), STATUS_OK);
    json_t *trace = json_load_file(PROFILERS "kineto-h200.json", 0, NULL);
    ck_assert_ptr_nonnull(trace);
    size_t index, agreeing = 0, kernels = 0;
    json_t *event;
    bool seen[16] = {false};
    json_array_foreach(json_object_get(trace, "traceEvents"), index, event)
    {
        const char *name = json_string_value(json_object_get(event, "name"));
        const json_t *args = json_object_get(event, "args");
        if (name == NULL || strcmp(name, "split_kernel") != 0) {
            continue;
        }
        kernels++;
        for (size_t i = 0; i < code.count; i++) {
            const struct compiled_kernel *kernel = &code.variants[i].kernel;
            uint64_t block = (uint64_t)json_integer_value(json_array_get(json_object_get(args, "block"), 0));
            uint64_t smem = exact(kernel, COMPILED_STATIC_SMEM) + exact(kernel, COMPILED_DYNAMIC_SMEM);
            if (kernel->arch == 90 && strcmp(kernel->name, name) == 0 && block == exact(kernel, COMPILED_THREADS) &&
                smem == integer_of(args, "shared memory")) {
                ck_assert_uint_eq(exact(kernel, COMPILED_REGISTERS), integer_of(args, "registers per thread"));
                agreeing++;
                seen[i] = true;
            }
        }
    }
    size_t variants = 0;
    for (size_t i = 0; i < 16; i++) {
        variants += seen[i];
    }
    ck_assert_uint_gt(kernels, 0);
    ck_assert_uint_gt(agreeing, 0);
    ck_assert_uint_eq(variants, 2); /* both sm_90 variants of the cache were run */
    json_decref(trace);
    compiled_code_release(&code);
}
END_TEST

START_TEST(mixed_architectures_stay_apart)
{
    static const char *const paths[] = {
        "tests/recorded/nvcc-13.0/probe-sm_80.cubin", "tests/recorded/nvcc-13.0/probe-sm_90.cubin",
        "tests/recorded/nvcc-13.0/probe-sm_90.log", "tests/recorded/nvcc-13.0/several-arch.log"};
    struct compiled_code code = {0};
    struct error error = {0};
    ck_assert_int_eq(compiled_code_read(paths, 4, CODE_LISTING_AUTO, &code, &error), STATUS_OK);
    /* sm_80: 4; sm_90: 5 of cubin and log together; the log of two architectures by itself: 9. */
    ck_assert_uint_eq(code.count, 18);
    size_t merged = 0;
    for (size_t i = 0; i < code.count; i++) {
        const struct code_variant *variant = &code.variants[i];
        bool has_both =
            (variant->sources >> CODE_SOURCE_CUBIN & 1) && (variant->sources >> CODE_SOURCE_COMPILER_LOG & 1);
        merged += has_both;
        ck_assert(!has_both || variant->kernel.figures[COMPILED_SPILL_STORES].state == FIGURE_EXACT);
        ck_assert_str_eq(variant->kernel.note, "");
    }
    ck_assert_uint_eq(merged, 5);
    compiled_code_release(&code);
}
END_TEST

/* A cache that was copied and half removed, with links that turn in circles. */
START_TEST(walk_stays_inside)
{
    struct temp_dir folder;
    char path[600], other[600];
    struct error error = {0};
    temp_dir_create(&folder);
    ck_assert_int_eq(mkdir(temp_dir_path(&folder, "KEY", path, sizeof path), 0700), 0);
    (void)temp_dir_write(&folder, "KEY/k.json", "{}", 2, path, sizeof path);
    (void)temp_dir_write(&folder, "KEY/__grp__k.json", "{}", 2, path, sizeof path);
    (void)temp_dir_write(&folder, "KEY/k.autotune.json", "{}", 2, path, sizeof path);
    (void)temp_dir_write(&folder, "KEY/k.cubin.tmp", "", 0, path, sizeof path);
    (void)temp_dir_write(&folder, "k.ptx", "", 0, path, sizeof path);
    ck_assert_int_eq(symlink(folder.path, temp_dir_path(&folder, "KEY/up", path, sizeof path)), 0);
    ck_assert_int_eq(symlink("loop", temp_dir_path(&folder, "loop", path, sizeof path)), 0);
    ck_assert_int_eq(symlink("/dev/zero", temp_dir_path(&folder, "KEY/k.cubin", path, sizeof path)), 0);
    ck_assert_int_eq(mkfifo(temp_dir_path(&folder, "KEY/k.sass", path, sizeof path), 0600), 0);
    (void)snprintf(path, sizeof path, "deep");
    for (int i = 0; i < TRITON_CACHE_DEPTH_MAX + 2; i++) {
        ck_assert_int_eq(mkdir(temp_dir_path(&folder, path, other, sizeof other), 0700), 0);
        (void)snprintf(path + strlen(path), sizeof path - strlen(path), "/d");
    }
    struct triton_cache cache = {0};
    ck_assert_int_eq(triton_cache_walk(folder.path, &cache, &error), STATUS_OK);
    ck_assert_uint_eq(cache.count, 2);
    ck_assert_str_eq(cache.groups[0].label, "KEY/k");
    ck_assert_str_eq(cache.groups[0].stem, "k");
    ck_assert_ptr_null(cache.groups[0].paths[CODE_FILE_CUBIN]);
    ck_assert_ptr_null(cache.groups[0].paths[CODE_FILE_SASS]);
    ck_assert_str_eq(cache.groups[1].label, "k");
    ck_assert_uint_eq(cache.skipped_links, 3);
    ck_assert_uint_eq(cache.skipped_folders, 1);
    triton_cache_release(&cache);
    ck_assert_int_eq(triton_cache_walk(temp_dir_path(&folder, "none", path, sizeof path), &cache, &error),
                     STATUS_MISSING);
    triton_cache_release(&cache);
    temp_dir_remove(&folder);
}
END_TEST

START_TEST(architectures_in_words)
{
    static const struct {
        const char *text;
        uint32_t arch; /* 0: none */
        char suffix;
    } cases[] = {{"sm_90a", 90, 'a'}, {"sm90", 90, 0}, {"sm_120f", 120, 'f'}, {"compute_75", 75, 0}, {"90", 90, 0},
                 {"sm_", 0, 0},       {"", 0, 0},      {"gfx942", 0, 0},      {"sm_90b", 0, 0},      {"sm_9", 0, 0},
                 {"sm_1000", 0, 0},   {"90a ", 0, 0},  {"120a", 120, 'a'},    {"-90", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t arch = 0;
        char suffix = 0;
        bool good = code_arch_parse(cases[i].text, strlen(cases[i].text), &arch, &suffix);
        ck_assert_msg(good == (cases[i].arch > 0) && arch == cases[i].arch && suffix == cases[i].suffix, "%s",
                      cases[i].text);
    }
}
END_TEST

START_TEST(names_of_two_triton_versions)
{
    ck_assert(compiled_names_match("split_kernel", "split_kernel"));
    ck_assert(compiled_names_match("split_kernel_0d1d2de3c", "split_kernel"));
    ck_assert(compiled_names_match("split_kernel", "split_kernel_0d1d2d34"));
    ck_assert(!compiled_names_match("split_kernel", "split_kernel_2"));
    ck_assert(!compiled_names_match("split_kernel_0d1d", "split_kernel_0d1d2d"));
    ck_assert(!compiled_names_match("split_kernel_dec", "split_kernel"));
    ck_assert(!compiled_names_match("", "_0d"));
}
END_TEST

START_TEST(merge_prefers_what_is_exact_and_tells_conflicts)
{
    struct compiled_kernel into = {.name = "k", .arch = 90, .note = ""}, from = {.name = "k", .note = ""};
    enum compiled_figure conflict;
    compiled_kernel_set(&into, COMPILED_THREADS, FIGURE_AT_MOST, CODE_SOURCE_CUBIN, 256);
    compiled_kernel_set(&into, COMPILED_REGISTERS, FIGURE_EXACT, CODE_SOURCE_CUBIN, 100);
    compiled_kernel_set(&from, COMPILED_THREADS, FIGURE_EXACT, CODE_SOURCE_TRITON_JSON, 128);
    compiled_kernel_set(&from, COMPILED_REGISTERS, FIGURE_EXACT, CODE_SOURCE_COMPILER_LOG, 101);
    compiled_kernel_set(&from, COMPILED_SPILL_LOADS, FIGURE_AT_MOST, CODE_SOURCE_COMPILER_LOG, 3);
    ck_assert(compiled_kernel_merge(&into, &from, &conflict));
    ck_assert_int_eq(conflict, COMPILED_REGISTERS);
    ck_assert_uint_eq(into.figures[COMPILED_REGISTERS].value, 100);
    ck_assert_uint_eq(into.figures[COMPILED_THREADS].value, 128);
    ck_assert_int_eq(into.figures[COMPILED_THREADS].source, CODE_SOURCE_TRITON_JSON);
    ck_assert_int_eq(into.figures[COMPILED_SPILL_LOADS].state, FIGURE_AT_MOST);
    from.arch = 80;
    compiled_kernel_set(&from, COMPILED_STACK, FIGURE_EXACT, CODE_SOURCE_COMPILER_LOG, 8);
    ck_assert(!compiled_kernel_merge(&into, &from, &conflict));
    ck_assert_int_eq(into.figures[COMPILED_STACK].state, FIGURE_UNKNOWN);
}
END_TEST

Suite *suite_compiled_code(void)
{
    Suite *suite = suite_create("compiled_code");
    TCase *agreement = tcase_create("agreement"), *parts = tcase_create("parts");
    tcase_add_test(agreement, cubin_json_and_ptx_agree);
    tcase_add_test(agreement, cubin_log_and_report_agree);
    tcase_add_test(agreement, trace_agrees);
    tcase_add_test(agreement, mixed_architectures_stay_apart);
    tcase_add_test(parts, walk_stays_inside);
    tcase_add_test(parts, architectures_in_words);
    tcase_add_test(parts, names_of_two_triton_versions);
    tcase_add_test(parts, merge_prefers_what_is_exact_and_tells_conflicts);
    suite_add_tcase(suite, agreement);
    suite_add_tcase(suite, parts);
    return suite;
}
