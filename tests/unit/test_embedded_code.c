/* SPDX-License-Identifier: GPL-3.0-or-later
 * Machine code that the build put in: found by text, settings and architecture, the same as the compiler's. Skips where
 * the build found no NVRTC. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/embedded_code.h"

Suite *suite_embedded_code(void);

static bool nothing_built_in(const char *test)
{
    if (embedded_code_count > 0)
        return false;
    printf("skipped: %s: no kernel code is built in (release builds have it where NVRTC is found)\n", test);
    return true;
}

static const struct kernel_case_definition *definition_of(const char *source)
{
    for (size_t i = 0; kernel_case_definitions[i]; i++)
        if (strcmp(kernel_case_definitions[i]->source, source) == 0)
            return kernel_case_definitions[i];
    return NULL;
}

/* False for the fill kernel, which has no configuration. */
static bool config_of(const struct embedded_code *code, struct measure_config *config)
{
    char text[512];
    struct error error = {0};
    const struct kernel_case_definition *definition = definition_of(code->source);
    if (!definition)
        return false;
    snprintf(text, sizeof text, "%s %s", definition->kernel.name, code->settings);
    ck_assert_msg(measure_config_parse(text, config, &error) == STATUS_OK, "%s: %s", text, error.text);
    return true;
}

static const char *text_of(const char *source)
{
    char file[MEASURE_NAME_SIZE + 4];
    snprintf(file, sizeof file, "%s.cu", source);
    const char *text = kernel_source_find(file);
    ck_assert_msg(text != NULL, "no text %s", file);
    return text;
}

START_TEST(every_piece_is_filed_under_todays_text)
{
    if (nothing_built_in("every_piece_is_filed_under_todays_text"))
        return;
    for (size_t i = 0; i < embedded_code_count; i++) {
        const struct embedded_code *code = &embedded_codes[i];
        struct measure_config config;
        bool configured = config_of(code, &config);
        uint64_t hash = code_hash(text_of(code->source), configured ? &config : NULL, code->arch);
        ck_assert_msg(hash == code->hash, "%s %s sm_%u", code->source, code->settings, code->arch);
        ck_assert_msg(embedded_code_find(code->source, hash) == code, "%s %s is there twice", code->source,
                      code->settings);
        ck_assert(code->image_end - code->image > 64);
        ck_assert_mem_eq(code->image, "\177ELF", 4);
        ck_assert(strstr(code->log, "Compiling entry function") != NULL);
    }
}
END_TEST

START_TEST(every_kernel_is_there_for_every_architecture)
{
    if (nothing_built_in("every_kernel_is_there_for_every_architecture"))
        return;
    for (size_t k = 0; kernel_case_definitions[k]; k++) {
        unsigned last = 0, missing = 0;
        for (size_t i = 0; i < embedded_code_count; i++) {
            if (embedded_codes[i].arch == last)
                continue;
            last = embedded_codes[i].arch;
            bool found = false;
            for (size_t j = i; j < embedded_code_count && embedded_codes[j].arch == last; j++)
                found = found || strcmp(embedded_codes[j].source, kernel_case_definitions[k]->source) == 0;
            missing += !found;
        }
        ck_assert_msg(missing == 0, "%s lacks %u architectures", kernel_case_definitions[k]->kernel.name, missing);
    }
}
END_TEST

START_TEST(another_text_setting_or_architecture_does_not_match)
{
    if (nothing_built_in("another_text_setting_or_architecture_does_not_match"))
        return;
    for (size_t i = 0; i < embedded_code_count; i += 7) {
        const struct embedded_code *code = &embedded_codes[i];
        struct measure_config config;
        bool configured = config_of(code, &config);
        const char *text = text_of(code->source);
        char *changed = malloc(strlen(text) + 2);
        ck_assert(changed != NULL);
        snprintf(changed, strlen(text) + 2, "%s\n", text);
        const struct measure_config *given = configured ? &config : NULL;
        ck_assert(embedded_code_find(code->source, code_hash(text, given, code->arch)) == code);
        ck_assert(embedded_code_find(code->source, code_hash(changed, given, code->arch)) == NULL);
        ck_assert(embedded_code_find(code->source, code_hash(text, given, 75)) == NULL);
        ck_assert(embedded_code_find("launch", code->hash) == NULL);
        free(changed);
    }
}
END_TEST

START_TEST(another_compiler_version_is_not_stood_in_for)
{
    const struct embedded_code code = {.compiler_major = 13, .compiler_minor = 0};
    ck_assert(embedded_code_usable(&code, 0, 0));
    ck_assert(embedded_code_usable(&code, 13, 0));
    ck_assert(!embedded_code_usable(&code, 12, 8));
    ck_assert(!embedded_code_usable(&code, 13, 1));
}
END_TEST

/* What measure_compile says without NVRTC, for a configuration that is built in. */
START_TEST(runs_without_a_compiler)
{
    struct measure_compiler *none;
    struct measure_config config;
    struct measure_result result;
    struct error error = {0};
    size_t ran = 0;
    if (nothing_built_in("runs_without_a_compiler"))
        return;
    ck_assert_int_eq(measure_compiler_create("", NULL, &none, &error), STATUS_OK);
    for (size_t i = 0; i < embedded_code_count; i++) {
        const struct embedded_code *code = &embedded_codes[i];
        if (!config_of(code, &config))
            continue;
        ck_assert_msg(measure_compile(none, &config, code->arch, 132, &result, &error) == STATUS_OK, "%s", error.text);
        /* Settings that are no part of the code are at their fallbacks here: with those one chain is too long for SMEM.
         */
        if (result.outcome == MEASURE_OUTCOME_INFEASIBLE && strcmp(code->source, "latency_chase") == 0)
            continue;
        ck_assert_msg(result.outcome == MEASURE_OUTCOME_OK, "%s: %s", code->source, result.reason);
        ck_assert_uint_ge(result.stages[0].registers_per_thread, 8);
        ck_assert_int_eq(result.compiler_major, code->compiler_major);
        ran++;
    }
    ck_assert_uint_ge(ran, embedded_code_count * 9 / 10);
    measure_compiler_free(none);
}
END_TEST

START_TEST(says_what_could_run_without_a_compiler)
{
    struct measure_compiler *none;
    struct measure_config config;
    struct measure_result result;
    struct error error = {0};
    ck_assert_int_eq(measure_compiler_create("", NULL, &none, &error), STATUS_OK);
    ck_assert_int_eq(measure_config_parse("gqa_decode block_n=32 group=3 max_registers=77", &config, &error),
                     STATUS_OK);
    ck_assert_int_eq(measure_compile(none, &config, 90, 132, &result, &error), STATUS_MISSING);
    ck_assert(strstr(error.text, "gqa_decode") != NULL);
    ck_assert(strchr(error.text, '\n') == NULL);
    ck_assert_uint_lt(strlen(error.text), sizeof result.reason);
    if (embedded_code_count > 0)
        ck_assert_msg(strstr(error.text, "block_n/num_warps/num_stages/group/max_registers 16/1/2/8/0,") != NULL, "%s",
                      error.text);
    else
        ck_assert_msg(strstr(error.text, "is not built in for sm_90") != NULL, "%s", error.text);
    ck_assert_int_eq(measure_compile(none, &config, 101, 132, &result, &error), STATUS_MISSING);
    ck_assert_msg(strstr(error.text, "is not built in for sm_101") != NULL, "%s", error.text);
    measure_compiler_free(none);
}
END_TEST

/* Every figure of every entry point, out of both logs. */
static void compare_resources(const struct machine_code *left, const struct machine_code *right,
                              const struct measure_config *config)
{
    struct measure_compiler *none;
    struct measure_result result;
    struct error error = {0};
    ck_assert_int_eq(measure_compiler_create("", NULL, &none, &error), STATUS_OK);
    ck_assert_int_eq(measure_compile(none, config, 90, 132, &result, &error), STATUS_OK);
    for (uint32_t s = 0; s < result.stage_count; s++) {
        struct measure_resources one, other;
        memset(&one, 0, sizeof one);
        memset(&other, 0, sizeof other);
        ck_assert(machine_code_resources(left, result.stages[s].entry, &one));
        ck_assert(machine_code_resources(right, result.stages[s].entry, &other));
        ck_assert_mem_eq(&one, &other, sizeof one);
    }
    measure_compiler_free(none);
}

/* Some pieces of each architecture compiled again. */
START_TEST(resources_are_what_the_compiler_says)
{
    struct code_compiler *compiler;
    struct error error = {0};
    int major, minor;
    if (nothing_built_in("resources_are_what_the_compiler_says"))
        return;
    ck_assert_int_eq(code_compiler_create(NULL, NULL, &compiler, &error), STATUS_OK);
    code_compiler_version(compiler, &major, &minor);
    bool quick = getenv("TEST_QUICK") != NULL;
    if (quick || major != embedded_codes[0].compiler_major || minor != embedded_codes[0].compiler_minor) {
        if (_i == 0)
            printf("skipped: resources_are_what_the_compiler_says: %s\n",
                   quick ? "quick run" : "NVRTC of the build is not here");
        code_compiler_free(compiler);
        return;
    }
    size_t compared = 0;
    for (size_t i = (size_t)_i; i < embedded_code_count; i += 41) {
        const struct embedded_code *code = &embedded_codes[i];
        struct measure_config config;
        struct machine_code fresh, copy;
        if (!config_of(code, &config))
            continue;
        ck_assert_msg(code_compile_fresh(compiler, code->source, &config, code->arch, &fresh, &error) == STATUS_OK,
                      "%s", error.text);
        ck_assert_int_eq(embedded_code_copy(code, &copy, &error), STATUS_OK);
        compare_resources(&fresh, &copy, &config);
        ck_assert_uint_eq(fresh.image_bytes, copy.image_bytes);
        machine_code_release(&fresh);
        machine_code_release(&copy);
        compared++;
    }
    ck_assert_uint_gt(compared, 0);
    code_compiler_free(compiler);
}
END_TEST

Suite *suite_embedded_code(void)
{
    Suite *suite = suite_create("embedded_code");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, every_piece_is_filed_under_todays_text);
    tcase_add_test(tcase, every_kernel_is_there_for_every_architecture);
    tcase_add_test(tcase, another_text_setting_or_architecture_does_not_match);
    tcase_add_test(tcase, another_compiler_version_is_not_stood_in_for);
    tcase_add_test(tcase, runs_without_a_compiler);
    tcase_add_test(tcase, says_what_could_run_without_a_compiler);
    tcase_add_loop_test(tcase, resources_are_what_the_compiler_says, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
