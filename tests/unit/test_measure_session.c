/* SPDX-License-Identifier: GPL-3.0-or-later
 * One configuration at a time: the folder is there before its worker and gone with it, and a build's resources take the
 * place of assumed ones. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate/campaign.h"
#include "calibrate/measure_predictor.h"
#include "kernels/embedded_code.h"
#include "model/describe/kernel_case.h"
#include "tests/support/temp_dir.h"

Suite *suite_measure_session(void);

static struct temp_dir directory;
static char program[1024], rows[600], cache[640];

static void setup(void)
{
    temp_dir_create(&directory);
    temp_dir_path(&directory, "rows", rows, sizeof rows);
    (void)snprintf(cache, sizeof cache, "%s/code", rows);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 32);
    ck_assert_int_gt(length, 0);
    program[length] = '\0';
    *strrchr(program, '/') = '\0'; /* tests/run-unit lies below the program */
    ck_assert_ptr_nonnull(strrchr(program, '/'));
    memcpy(strrchr(program, '/'), "/occam", sizeof "/occam");
}

static void teardown(void)
{
    temp_dir_remove(&directory);
}

static enum status open_with(char *const *worker, struct campaign_session **session, struct error *error)
{
    const struct campaign_options options = {.directory = rows,
                                             .cache_directory = cache,
                                             .nvrtc_path = "",
                                             .worker_argv = worker,
                                             .config_limit_s = 20,
                                             .revision = "test"};
    return campaign_session_open(&options, measure_kernel_find("launch_chain"), session, error);
}

/* The worker of a GPU makes code/ in the folder, so that must be there; where the worker finds no GPU nothing stays. */
START_TEST(the_folder_is_there_before_the_worker)
{
    char shell[] = "/bin/sh", flag[] = "-c", script[800];
    char *worker[] = {shell, flag, script, NULL};
    struct campaign_session *session = NULL;
    struct error error = {0};
    (void)snprintf(script, sizeof script, "mkdir '%s' && exit 7; exit 8", cache);
    ck_assert_int_ne(open_with(worker, &session, &error), STATUS_OK);
    ck_assert_ptr_null(session);
    ck_assert_msg(strstr(error.text, "exit code 7") != NULL, "%s", error.text);
    ck_assert_int_ne(access(rows, F_OK), 0);
    /* a folder of the user's stays */
    ck_assert_int_eq(mkdir(rows, 0700), 0);
    ck_assert_int_ne(open_with(worker, &session, &error), STATUS_OK);
    ck_assert_int_eq(access(rows, F_OK), 0);
}
END_TEST

START_TEST(configurations_one_by_one)
{
    char words[4][32] = {"measure", ":worker", "--device-backend=fake", "--sample-time=1ms"};
    char *worker[] = {program, words[0], words[2], words[3], words[1], NULL};
    struct campaign_session *session = NULL;
    struct measure_config config;
    struct measure_result *result = calloc(1, sizeof *result);
    struct error error = {0};
    char first[SHA256_HEX_SIZE];
    double compile_s = -1, measure_s = -1;
    ck_assert_ptr_nonnull(result);
    ck_assert_msg(open_with(worker, &session, &error) == STATUS_OK, "%s", error.text);
    ck_assert_str_eq(campaign_session_facts(session)->gpu_name, "fake device");
    ck_assert_int_eq(measure_config_parse("launch_chain launches=2 ctas=3", &config, &error), STATUS_OK);
    /* no compiler and nothing cached: only what is built into the program */
    ck_assert_int_eq(campaign_session_has_code(session, &config), embedded_code_count > 0);
    ck_assert_int_eq(campaign_session_measure(session, &config, result, &error), STATUS_OK);
    ck_assert_int_eq(result->outcome, MEASURE_OUTCOME_OK);
    (void)snprintf(first, sizeof first, "%s", campaign_session_seal(session));
    ck_assert_uint_eq(strlen(first), SHA256_HEX_SIZE - 1);
    campaign_session_seconds(session, &compile_s, &measure_s);
    ck_assert(compile_s >= 0 && measure_s > 0);
    ck_assert_int_eq(campaign_session_measure(session, &config, result, &error), STATUS_OK);
    ck_assert_str_ne(first, campaign_session_seal(session));
    /* the folder is taken */
    struct campaign_session *other = NULL;
    ck_assert_int_eq(open_with(worker, &other, &error), STATUS_IO);
    ck_assert_msg(strstr(error.text, "in use") != NULL, "%s", error.text);
    campaign_session_close(session);
    ck_assert_msg(open_with(worker, &other, &error) == STATUS_OK, "%s", error.text);
    campaign_session_close(other);
    free(result);
}
END_TEST

START_TEST(resources_of_a_build_take_their_place)
{
    struct measure_result *built = calloc(1, sizeof *built);
    const struct kernel_case kernel = {.name = "main",
                                       .launch = {.grid_ctas = 99,
                                                  .threads = 128,
                                                  .registers_per_thread = 40,
                                                  .barriers = 1,
                                                  .cluster_ctas = 1,
                                                  .carveout_percent = CARVEOUT_DEFAULT},
                                       .loop = {.iterations = 3, .buffers = 1}};
    struct layer_case layer = {.kernel_count = 2, .kernels = {kernel, kernel}};
    struct error error = {0};
    ck_assert_ptr_nonnull(built);
    ck_assert_msg(kernel_case_validate(&kernel, &error) == STATUS_OK, "%s", error.text);
    layer.kernels[1].name = "combine";
    layer.kernels[1].skipped = true;
    built->stage_count = 1;
    (void)snprintf(built->stages[0].entry, sizeof built->stages[0].entry, "main");
    built->stages[0].registers_per_thread = 77;
    built->stages[0].dynamic_smem_bytes = 4096;
    built->stages[0].spill_store_bytes = 100;
    built->stages[0].spill_load_bytes = 28;
    ck_assert(measure_resources_take(built, &layer));
    ck_assert_uint_eq(layer.kernels[0].launch.registers_per_thread, 77);
    ck_assert_uint_eq(layer.kernels[0].launch.dynamic_smem_bytes, 4096);
    ck_assert(fabs(layer.kernels[0].loop.spill_bytes - 128) < 1e-12);
    layer.kernels[1].skipped = false; /* a launch that the build does not have */
    ck_assert(!measure_resources_take(built, &layer));
    layer.kernels[1].skipped = true;
    (void)snprintf(built->stages[0].entry, sizeof built->stages[0].entry, "other");
    ck_assert(!measure_resources_take(built, &layer));
    free(built);
}
END_TEST

Suite *suite_measure_session(void)
{
    Suite *suite = suite_create("measure_session");
    TCase *tcase = tcase_create("session");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_folder_is_there_before_the_worker);
    tcase_add_test(tcase, configurations_one_by_one);
    tcase_add_test(tcase, resources_of_a_build_take_their_place);
    suite_add_tcase(suite, tcase);
    return suite;
}
