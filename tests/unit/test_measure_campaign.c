/* SPDX-License-Identifier: GPL-3.0-or-later
 * Campaigns on the fake device, with real worker processes (the program itself): crash, hang, broken
 * launch, kill and resume, two at once, corrupt files, full disk, and the text form of plans. */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "calibrate/campaign_private.h"
#include "tests/support/temp_dir.h"

extern char **environ;

Suite *suite_measure_campaign(void);

static struct temp_dir directory;
static char runner[1024];

static void setup(void)
{
    temp_dir_create(&directory);
    ssize_t length = readlink("/proc/self/exe", runner, sizeof runner - 32);
    ck_assert_int_gt(length, 0);
    runner[length] = '\0';
    *strrchr(runner, '/') = '\0'; /* tests/run-unit lies below the program */
    ck_assert_ptr_nonnull(strrchr(runner, '/'));
    memcpy(strrchr(runner, '/'), "/occam", sizeof "/occam");
    ck_assert_msg(access(runner, X_OK) == 0, "%s is not built", runner);
}

static void teardown(void)
{
    temp_dir_remove(&directory);
}

static const char plan_text[] = "launch_chain launches=2 ctas=1..6\n"
                                "barrier_and_exp operation=1 iterations=4 warps=1,2\n";

/* Runs a plan; fault: crash, hang, ... at configuration `at` of every worker, or NULL. */
static enum status run_plan(const char *text, const char *fault, int at, struct campaign_options *options,
                            struct campaign_progress *progress, struct error *error)
{
    struct campaign_plan plan;
    char words[7][32] = {"measure", ":worker", "--device-backend=fake", "--sample-time=1ms", "--seed=5"};
    char *argv[] = {runner, words[0], words[1], words[2], words[3], words[4], NULL, NULL};
    if (fault) {
        snprintf(words[5], sizeof words[5], "--fake-fault=%s@%d", fault, at);
        argv[6] = words[5];
    }
    memset(error, 0, sizeof *error);
    options->directory = directory.path;
    options->worker_argv = argv;
    options->seed = 5;
    if (getenv("TEST_QUICK"))
        options->nvrtc_path = ""; /* no predictions: the compiler is slow under a memory checker */
    if (options->budget_s <= 0.0)
        options->budget_s = 60.0;
    if (options->config_limit_s <= 0.0)
        options->config_limit_s = 20.0;
    ck_assert_int_eq(campaign_plan_parse(text, "test.plan", 1000, &plan, error), STATUS_OK);
    enum status status = campaign_run(&plan, options, progress, error);
    campaign_plan_release(&plan);
    return status;
}

static enum status run(const char *fault, int at, struct campaign_options *options, struct campaign_progress *progress,
                       struct error *error)
{
    return run_plan(plan_text, fault, at, options, progress, error);
}

static size_t count_rows(const char *kernel)
{
    char path[600];
    struct csv_table table;
    struct error error = {0};
    snprintf(path, sizeof path, "%s/%s.csv", directory.path, kernel);
    if (access(path, R_OK) != 0)
        return 0;
    ck_assert_msg(csv_read(path, 1 << 24, &table, &error) == STATUS_OK, "%s", error.text);
    size_t count = table.row_count;
    csv_table_release(&table);
    return count;
}

START_TEST(measures_everything_once)
{
    struct campaign_options options = {.revision = "abc"};
    struct campaign_progress progress;
    struct error error;
    ck_assert_msg(run(NULL, 0, &options, &progress, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(progress.done, 8);
    ck_assert_uint_eq(progress.outcomes[MEASURE_OUTCOME_OK], 8);
    ck_assert_uint_eq(progress.left, 0);
    ck_assert_uint_eq(count_rows("launch_chain"), 6);
    ck_assert_uint_eq(count_rows("barrier_and_exp"), 2);
    char path[600], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/provenance.json", directory.path);
    ck_assert_int_eq(file_read_text(path, 1 << 20, &text, &length, &error), STATUS_OK);
    ck_assert_ptr_nonnull(strstr(text, "\"device\": \"fake device\""));
    ck_assert_ptr_nonnull(strstr(text, "\"revision\": \"abc\""));
    free(text);
    /* A second start has nothing to do; asked for two repeats it measures everything once more. */
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_OK);
    ck_assert_uint_eq(progress.done, 0);
    ck_assert_uint_eq(progress.skipped, 8);
    options.repeats = 2;
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_OK);
    ck_assert_uint_eq(progress.done, 8);
    ck_assert_uint_eq(count_rows("launch_chain"), 12);
}
END_TEST

/* A round smaller than the distance of reference runs begins with one all the same, in every repeat. */
START_TEST(every_round_has_its_references)
{
    static const struct {
        uint32_t every, repeats, done;
    } cases[] = {{40, 5, 5 * (3 + 2)}, {2, 1, 3 + 2 * 2}, {0, 1, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct campaign_options options = {.reference_every = cases[i].every, .repeats = cases[i].repeats};
        struct campaign_progress progress;
        struct error error;
        teardown();
        setup();
        ck_assert_msg(run_plan("launch_chain launches=2 ctas=1..3\n"
                               "reference barrier_and_exp operation=1 iterations=4 warps=1,2\n",
                               NULL, 0, &options, &progress, &error) == STATUS_OK,
                      "%s", error.text);
        ck_assert_uint_eq(progress.done, cases[i].done);
        ck_assert_uint_eq(count_rows("launch_chain"), 3 * (size_t)cases[i].repeats);
    }
}
END_TEST

static const struct {
    const char *option;
    enum measure_outcome outcome;
} accidents[] = {{"crash", MEASURE_OUTCOME_CRASHED},
                 {"hang", MEASURE_OUTCOME_TIMED_OUT},
                 {"launch-failure", MEASURE_OUTCOME_LAUNCH_FAILED}};

/* Every worker has the accident at its third configuration: the 3rd and 6th of the eight. */
START_TEST(an_accident_costs_one_configuration)
{
    struct campaign_options options = {.config_limit_s = 1.0};
    struct campaign_progress progress;
    struct error error;
    ck_assert_msg(run(accidents[_i].option, 3, &options, &progress, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(progress.done, 8);
    ck_assert_uint_eq(progress.outcomes[accidents[_i].outcome], 2);
    ck_assert_uint_eq(progress.outcomes[MEASURE_OUTCOME_OK], 6);
    ck_assert_uint_eq(count_rows("launch_chain") + count_rows("barrier_and_exp"), 8);
}
END_TEST

/* What was not tried stays in the file, and is tried again; a launch that failed is not. */
START_TEST(what_was_not_tried_is_tried_again)
{
    struct campaign_options options = {0};
    struct campaign_progress progress;
    struct error error;
    ck_assert_int_eq(run("not-tried", 3, &options, &progress, &error), STATUS_OK);
    ck_assert_uint_eq(progress.done, 8);
    ck_assert_uint_eq(progress.outcomes[MEASURE_OUTCOME_NOT_TRIED], 1); /* the worker goes on: once in eight */
    ck_assert_uint_eq(progress.outcomes[MEASURE_OUTCOME_OK], 7);
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_OK);
    ck_assert_uint_eq(progress.skipped, 7);
    ck_assert_uint_eq(progress.done, 1);
    ck_assert_uint_eq(progress.outcomes[MEASURE_OUTCOME_OK], 1);
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_OK);
    ck_assert_uint_eq(progress.done, 0);
    ck_assert_uint_eq(count_rows("launch_chain") + count_rows("barrier_and_exp"), 9);
}
END_TEST

static size_t count_all_rows(void)
{
    return count_rows("launch_chain") + count_rows("barrier_and_exp");
}

/* A campaign of its own process is killed while its fourth configuration runs; half a row is added; the next start ends
 * the work. */
START_TEST(killed_campaigns_go_on)
{
    char plan[600], words[6][32] = {"measure",  "--device-backend=fake", "--out", "--sample-time=1ms",
                                    "--seed=5", "--fake-fault=hang@4"};
    char *argv[] = {runner, words[0], plan, words[1], words[2], directory.path, words[3], words[4], words[5], NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status;
    temp_dir_write(&directory, "test.plan", plan_text, strlen(plan_text), plan, sizeof plan);
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", 1 /* O_WRONLY */, 0);
    ck_assert_int_eq(posix_spawn(&pid, runner, &quiet, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&quiet);
    for (int i = 0; i < 2000 && count_all_rows() < 3; i++)
        usleep(10000);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    size_t before = count_all_rows();
    ck_assert_uint_eq(before, 3);
    char path[600];
    snprintf(path, sizeof path, "%s/launch_chain.csv", directory.path);
    FILE *stream = fopen(path, "a");
    ck_assert_ptr_nonnull(stream);
    fputs("launch_chain,2,5", stream); /* a row cut off in the middle */
    fclose(stream);
    struct campaign_options options = {0};
    struct campaign_progress progress;
    struct error error;
    ck_assert_msg(run(NULL, 0, &options, &progress, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(progress.skipped, before);
    ck_assert_uint_eq(progress.done, 8 - before);
    ck_assert_uint_eq(count_rows("launch_chain"), 6);
}
END_TEST

START_TEST(two_at_once_do_not_mix)
{
    char plan[600], words[4][32] = {"measure", "--device-backend=fake", "--out", "--fake-fault=hang@1"};
    char *argv[] = {runner, words[0], plan, words[1], words[2], directory.path, words[3], NULL};
    pid_t pid;
    int status;
    temp_dir_write(&directory, "test.plan", plan_text, strlen(plan_text), plan, sizeof plan);
    ck_assert_int_eq(posix_spawn(&pid, runner, NULL, NULL, argv, environ), 0);
    char lock[600];
    snprintf(lock, sizeof lock, "%s/provenance.json", directory.path); /* written when the first worker has started */
    for (int i = 0; i < 500 && access(lock, F_OK) != 0; i++)
        usleep(10000);
    struct campaign_options options = {0};
    struct campaign_progress progress;
    struct error error;
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "is in use by another campaign"));
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}
END_TEST

START_TEST(a_corrupt_file_is_named_and_kept)
{
    struct campaign_options options = {0};
    struct campaign_progress progress;
    struct error error;
    char path[600], *before, *after;
    size_t length;
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_OK);
    snprintf(path, sizeof path, "%s/launch_chain.csv", directory.path);
    FILE *stream = fopen(path, "a");
    fputs("launch_chain,2,5\n", stream);
    fclose(stream);
    ck_assert_int_eq(file_read_text(path, 1 << 24, &before, &length, &error), STATUS_OK);
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(error.line, 8);
    ck_assert_int_eq(file_read_text(path, 1 << 24, &after, &length, &error), STATUS_OK);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
}
END_TEST

/* Settings of a row written by hand: such a number has no place in an int64_t, and one half is no setting. */
static const char *const no_settings[] = {"1e300", "-1e19", "0.5"};

START_TEST(a_row_whose_setting_is_no_whole_number_is_named)
{
    struct campaign_options options = {0};
    struct campaign_progress progress;
    struct error error;
    char path[600], expected[200], *text;
    size_t length;
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_OK);
    snprintf(path, sizeof path, "%s/launch_chain.csv", directory.path);
    ck_assert_int_eq(file_read_text(path, 1 << 24, &text, &length, &error), STATUS_OK);
    const char *row = strchr(text, '\n') + 1, *rest = strchr(strchr(row, ',') + 1, ',');
    FILE *stream = fopen(path, "a");
    fprintf(stream, "launch_chain,%s%.*s\n", no_settings[_i], (int)strcspn(rest, "\n"), rest);
    fclose(stream);
    free(text);
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_BAD_DATA);
    snprintf(expected, sizeof expected, "column 'launches' holds '%s', a whole number is expected", no_settings[_i]);
    ck_assert_str_eq(error.text, expected);
    ck_assert_uint_eq(error.line, 8);
}
END_TEST

START_TEST(predictions_are_sealed_before_the_run)
{
    struct campaign_options options = {0};
    struct campaign_progress progress;
    struct error error;
    char path[600], seal[CAMPAIGN_DIGEST_SIZE], *text;
    size_t length;
    ck_assert_str_eq(sha256_hex("", 0, seal), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    ck_assert_str_eq(sha256_hex("abc", 3, seal), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ck_assert_str_eq(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, seal),
                     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    /* The third configuration crashes: its prediction is there all the same. */
    ck_assert_int_eq(run("crash", 3, &options, &progress, &error), STATUS_OK);
    snprintf(path, sizeof path, "%s/predictions.csv", directory.path);
    ck_assert_int_eq(file_read_text(path, 1 << 20, &text, &length, &error), STATUS_OK);
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    ck_assert_uint_eq(lines, 1 + 8);
    ck_assert_int_eq(campaign_seal_read(directory.path, seal, &error), STATUS_OK);
    ck_assert_int_eq(memcmp(text + length - 65, seal, 64), 0);
    /* One digit of the second prediction changes. */
    char *digit = strchr(strchr(strchr(text, '\n') + 1, '\n') + 1, '=') + 1;
    *digit = *digit == '9' ? '8' : '9';
    FILE *stream = fopen(path, "w");
    fputs(text, stream);
    fclose(stream);
    free(text);
    options.repeats = 2;
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(error.line, 3);
}
END_TEST

START_TEST(a_full_disk_ends_it_with_a_reason)
{
    struct campaign_options options = {0};
    struct campaign_progress progress;
    struct error error;
    char path[600];
    snprintf(path, sizeof path, "%s/launch_chain.csv", directory.path);
    if (access("/dev/full", W_OK) != 0 || symlink("/dev/full", path) != 0) {
        printf("skipped: a_full_disk_ends_it_with_a_reason: /dev/full is not here\n");
        return;
    }
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "writing a row: No space left on device"));
}
END_TEST

START_TEST(the_budget_ends_it)
{
    struct campaign_options options = {.budget_s = 1e-9};
    struct campaign_progress progress;
    struct error error;
    ck_assert_int_eq(run(NULL, 0, &options, &progress, &error), STATUS_OK);
    ck_assert_uint_eq(progress.done, 0);
    ck_assert_uint_eq(progress.left, 8);
}
END_TEST

START_TEST(a_worker_that_cannot_start_is_an_error)
{
    struct campaign_plan plan;
    struct campaign_progress progress;
    struct error error = {0};
    char program[] = "/nonexistent/worker";
    char *argv[] = {program, NULL};
    struct campaign_options options = {
        .directory = directory.path, .nvrtc_path = "", .worker_argv = argv, .budget_s = 10.0, .config_limit_s = 10.0};
    ck_assert_int_eq(campaign_plan_parse(plan_text, "test.plan", 100, &plan, &error), STATUS_OK);
    ck_assert_int_eq(campaign_run(&plan, &options, &progress, &error), STATUS_IO);
    campaign_plan_release(&plan);
}
END_TEST

START_TEST(plans_multiply_out)
{
    struct campaign_plan plan;
    struct error error = {0};
    ck_assert_int_eq(campaign_plan_parse("# first\n\n sparse_decode splits=1..8*2 block_t=16,64  # tail\n"
                                         "reference gqa_decode\nlaunch_chain ctas=3..5",
                                         "p", 100, &plan, &error),
                     STATUS_OK);
    ck_assert_uint_eq(plan.count, 4 * 2 + 3);
    ck_assert_uint_eq(plan.reference_count, 1);
    ck_assert_int_eq(measure_config_value(&plan.configs[3], "splits"), 2);
    ck_assert_int_eq(measure_config_value(&plan.configs[3], "block_t"), 64);
    ck_assert_int_eq(measure_config_value(&plan.configs[10], "ctas"), 5);
    campaign_plan_release(&plan);
}
END_TEST

static const struct {
    const char *text, *message;
    enum status status;
    unsigned line;
} bad_plans[] = {
    {"", "the plan names no configuration", STATUS_BAD_DATA, 0},
    {"# only words\n", "the plan names no configuration", STATUS_BAD_DATA, 0},
    {"\nlaunch_chains", "there is no kernel 'launch_chains'", STATUS_NOT_FOUND, 2},
    {"launch_chain ctas=1,,2", "'ctas=1,,2': expected whole numbers like 1,2,4 or 1..8 or 1..64*2, at most 256",
     STATUS_BAD_DATA, 1},
    {"launch_chain ctas=8..1", "'ctas=8..1': expected whole numbers like 1,2,4 or 1..8 or 1..64*2, at most 256",
     STATUS_BAD_DATA, 1},
    {"launch_chain ctas=1..1000", "'ctas=1..1000': expected whole numbers like 1,2,4 or 1..8 or 1..64*2, at most 256",
     STATUS_BAD_DATA, 1},
    {"launch_chain ctas=0", "ctas of launch_chain must be 1 to 1000000, not 0", STATUS_DOMAIN, 1},
    {"launch_chain ctas=1..9223372036854775807*3", "ctas of launch_chain must be 1 to 1000000, not 1594323",
     STATUS_DOMAIN, 1},
    {"launch_chain ctas=9223372036854775806..9223372036854775807",
     "ctas of launch_chain must be 1 to 1000000, not 9223372036854775806", STATUS_DOMAIN, 1},
    {"launch_chain ctas=9223372036854775808",
     "'ctas=9223372036854775808': expected whole numbers like 1,2,4 or 1..8 or 1..64*2, at most 256", STATUS_BAD_DATA,
     1},
    {"launch_chain ctas=1x", "'ctas=1x': 'x' is not expected", STATUS_BAD_DATA, 1},
    {"launch_chain ctas=1..50 threads=1..50", "the plan has more than 100 configurations", STATUS_LIMIT, 0},
};

START_TEST(bad_plans_are_refused)
{
    struct campaign_plan plan;
    struct error error = {0};
    ck_assert_int_eq(campaign_plan_parse(bad_plans[_i].text, "p", 100, &plan, &error), bad_plans[_i].status);
    ck_assert_str_eq(error.text, bad_plans[_i].message);
    ck_assert_uint_eq(error.line, bad_plans[_i].line);
}
END_TEST

Suite *suite_measure_campaign(void)
{
    Suite *suite = suite_create("measure_campaign");
    TCase *plans = tcase_create("plans"), *runs = tcase_create("runs");
    tcase_add_test(plans, plans_multiply_out);
    tcase_add_loop_test(plans, bad_plans_are_refused, 0, (int)(sizeof bad_plans / sizeof *bad_plans));
    suite_add_tcase(suite, plans);
    tcase_set_timeout(runs, 120);
    tcase_add_checked_fixture(runs, setup, teardown);
    tcase_add_test(runs, measures_everything_once);
    tcase_add_test(runs, every_round_has_its_references);
    tcase_add_loop_test(runs, an_accident_costs_one_configuration, 0, (int)(sizeof accidents / sizeof *accidents));
    tcase_add_test(runs, what_was_not_tried_is_tried_again);
    tcase_add_test(runs, killed_campaigns_go_on);
    tcase_add_test(runs, two_at_once_do_not_mix);
    tcase_add_test(runs, a_corrupt_file_is_named_and_kept);
    tcase_add_loop_test(runs, a_row_whose_setting_is_no_whole_number_is_named, 0,
                        (int)(sizeof no_settings / sizeof *no_settings));
    tcase_add_test(runs, predictions_are_sealed_before_the_run);
    tcase_add_test(runs, a_full_disk_ends_it_with_a_reason);
    tcase_add_test(runs, the_budget_ends_it);
    tcase_add_test(runs, a_worker_that_cannot_start_is_an_error);
    suite_add_tcase(suite, runs);
    return suite;
}
