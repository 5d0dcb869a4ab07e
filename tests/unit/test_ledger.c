/* SPDX-License-Identifier: GPL-3.0-or-later
 * The record of experiments: what goes in comes out, nothing is ever changed, and what can happen to a file. */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/ledger/ledger.h"
#include "tests/support/temp_dir.h"

static struct temp_dir folder;
static char path[600];
static struct error error;

static void make_folder(void)
{
    temp_dir_create(&folder);
    temp_dir_path(&folder, "ledger.sqlite", path, sizeof path);
    error = (struct error){0};
}

static void remove_folder(void)
{
    temp_dir_remove(&folder);
}

static struct ledger *must_open(bool to_write)
{
    struct ledger *ledger = NULL;
    ck_assert_msg(ledger_open(path, to_write, &ledger, &error) == STATUS_OK, "%s", error.text);
    return ledger;
}

static int64_t must_add(struct ledger *ledger, enum ledger_table table, const void *record)
{
    int64_t id = 0;
    ck_assert_msg(ledger_add(ledger, table, record, &id, &error) == STATUS_OK, "%s", error.text);
    return id;
}

static void must_fail(bool to_write, enum status expected, const char *part)
{
    struct ledger *ledger = NULL;
    error = (struct error){0};
    enum status status = ledger_open(path, to_write, &ledger, &error);
    ck_assert_msg(status == expected, "%s, not %s: %s", status_name(status), status_name(expected), error.text);
    ck_assert_msg(strstr(error.text, part) != NULL, "%s", error.text);
    ck_assert_ptr_null(ledger);
}

static void execute(const char *sql, int expected)
{
    sqlite3 *database = NULL;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    int code = sqlite3_exec(database, sql, NULL, NULL, NULL);
    ck_assert_msg((code & 0xff) == expected, "%s: %s", sql, sqlite3_errmsg(database));
    ck_assert_int_eq(sqlite3_close(database), SQLITE_OK);
}

static int64_t add_run(struct ledger *ledger, int64_t prediction, double median, const double *samples, int count)
{
    const struct ledger_run run = {.prediction = prediction,
                                   .role = "variant",
                                   .config = "num_warps=8",
                                   .condition = "C=8",
                                   .quantity = "throughput_tokens_per_s",
                                   .status = "ok",
                                   .median = median,
                                   .source = "v1.csv",
                                   .provenance = "device: X; driver 575",
                                   .note = NULL};
    int64_t id = must_add(ledger, LEDGER_RUN, &run);
    for (int i = 0; i < count; i++) {
        must_add(ledger, LEDGER_SAMPLE, &(struct ledger_sample){.run = id, .ordinal = i + 1, .value = samples[i]});
    }
    return id;
}

static enum status keep_run(void *context, const void *record, struct error *unused)
{
    (void)unused;
    const struct ledger_run *run = record;
    char(*texts)[64] = context;
    snprintf(texts[0], 64, "%s", run->config);
    snprintf(texts[1], 64, "%s", run->note);
    snprintf(texts[2], 64, "%.17g %d", run->median, (int)run->prediction);
    snprintf(texts[3], 64, "%s", run->created);
    return STATUS_OK;
}

START_TEST(what_goes_in_comes_out)
{
    char texts[4][64];
    struct ledger *ledger = must_open(true);
    add_run(ledger, 0, 0.1, (const double[]){0.1}, 1);
    add_run(ledger, 0, (double)NAN, NULL, 0);
    ledger_close(ledger);
    ledger = must_open(false);
    uint64_t count = 0;
    ck_assert_int_eq(ledger_count(ledger, LEDGER_RUN, NULL, &count, &error), STATUS_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(ledger_each(ledger, LEDGER_RUN, (const struct ledger_filter[]){{"id", 1, NULL}, {0}}, false,
                                 keep_run, texts, &error),
                     STATUS_OK);
    ck_assert_str_eq(texts[0], "num_warps=8");
    ck_assert_str_eq(texts[1], "");
    ck_assert_str_eq(texts[2], "0.10000000000000001 0");
    ck_assert_msg(strlen(texts[3]) == 24 && texts[3][10] == 'T' && texts[3][23] == 'Z', "%s", texts[3]);
    ck_assert_int_eq(ledger_each(ledger, LEDGER_RUN, (const struct ledger_filter[]){{"id", 2, NULL}, {0}}, false,
                                 keep_run, texts, &error),
                     STATUS_OK);
    ck_assert_str_eq(texts[2], "nan 0");
    ledger_close(ledger);
}
END_TEST

/* The structs, the layout and the file agree in every column. */
START_TEST(layout_is_the_schema)
{
    ledger_close(must_open(true));
    sqlite3 *database = NULL;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    for (int table = 0; table < LEDGER_TABLE_COUNT; table++) {
        const struct ledger_layout *layout = ledger_layout((enum ledger_table)table);
        sqlite3_stmt *statement = NULL;
        char sql[96];
        snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s') ORDER BY cid", layout->name);
        ck_assert_int_eq(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
        for (size_t i = 0; i < layout->column_count; i++) {
            ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
            ck_assert_str_eq((const char *)sqlite3_column_text(statement, 0), layout->columns[i].name);
            ck_assert_uint_eq(layout->columns[i].offset, i * 8);
        }
        ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
        ck_assert_uint_eq(layout->size, layout->column_count * 8);
        sqlite3_finalize(statement);
    }
    sqlite3_close(database);
}
END_TEST

START_TEST(rows_are_never_changed)
{
    struct ledger *ledger = must_open(true);
    add_run(ledger, 0, 1, (const double[]){1}, 1);
    ledger_close(ledger);
    execute("UPDATE run SET median = 2", SQLITE_CONSTRAINT);
    execute("DELETE FROM run", SQLITE_CONSTRAINT);
    execute("UPDATE sample SET value = 2", SQLITE_CONSTRAINT);
    ledger = must_open(false);
    uint64_t findings = 1;
    ck_assert_int_eq(ledger_check(ledger, NULL, NULL, &findings, &error), STATUS_OK);
    ck_assert_uint_eq(findings, 0);
    ledger_close(ledger);
}
END_TEST

START_TEST(a_correction_hides_what_it_replaces)
{
    struct ledger *ledger = must_open(true);
    int64_t wrong = add_run(ledger, 0, 1, (const double[]){1}, 1);
    int64_t right = add_run(ledger, 0, 2, (const double[]){2}, 1);
    must_add(
        ledger, LEDGER_CORRECTION,
        &(struct ledger_correction){.subject = "run", .replaced = wrong, .replacement = right, .reason = "ms, not us"});
    uint64_t count = 0;
    ck_assert_int_eq(ledger_count(ledger, LEDGER_RUN, NULL, &count, &error), STATUS_OK);
    ck_assert_uint_eq(count, 1);
    char texts[4][64] = {""};
    ck_assert_int_eq(ledger_each(ledger, LEDGER_RUN, (const struct ledger_filter[]){{"id", wrong, NULL}, {0}}, true,
                                 keep_run, texts, &error),
                     STATUS_OK);
    ck_assert_str_eq(texts[2], "1 0");
    ledger_close(ledger);
}
END_TEST

START_TEST(references_must_exist)
{
    struct ledger *ledger = must_open(true);
    const struct ledger_hypothesis orphan = {.scenario = 7, .statement = "x"};
    ck_assert_int_eq(ledger_add(ledger, LEDGER_HYPOTHESIS, &orphan, NULL, &error), STATUS_BAD_DATA);
    const struct ledger_scenario bad = {.name = "\xff", .hash = "0"};
    ck_assert_int_eq(ledger_add(ledger, LEDGER_SCENARIO, &bad, NULL, &error), STATUS_BAD_DATA);
    const struct ledger_scenario good = {.name = "gemm", .hash = "12ab", .device = "h200"};
    int64_t first = 0, second = 0;
    ck_assert_int_eq(ledger_add_scenario_once(ledger, &good, &first, &error), STATUS_OK);
    ck_assert_int_eq(ledger_add_scenario_once(ledger, &good, &second, &error), STATUS_OK);
    ck_assert_int_eq(first, 1);
    ck_assert_int_eq(second, 1);
    ledger_close(ledger);
}
END_TEST

static void keep_finding(void *context, const char *text)
{
    strncat(context, text, 400);
    strncat(context, "\n", 2);
}

START_TEST(check_finds_what_is_wrong)
{
    struct ledger *ledger = must_open(true);
    const struct ledger_prediction prediction = {.config = "a=1", .quantity = "kernel_time_us", .value = 3};
    add_run(ledger, 0, 5, (const double[]){1, 2, 3, 4}, 4); /* the median is 2.5 */
    add_run(ledger, 0, 1, NULL, 0);
    ledger_close(ledger);
    execute("INSERT INTO run(created, role, config, condition, quantity, status, median, source, provenance, note) "
            "VALUES('2026-01-01T00:00:00.000Z', '', '', '', '', 'failed', NULL, '', '', '')",
            SQLITE_OK);
    ledger = must_open(true);
    int64_t late = must_add(ledger, LEDGER_PREDICTION, &prediction);
    ledger_close(ledger);
    char sql[300];
    snprintf(sql, sizeof sql,
             "INSERT INTO run(created, prediction, role, config, condition, quantity, status, median, source, "
             "provenance, note) VALUES('2026-01-01T00:00:00.000Z', %d, '', '', '', '', 'failed', NULL, '', '', '')",
             (int)late);
    execute(sql, SQLITE_OK);
    ledger = must_open(false);
    char found[2000] = "";
    uint64_t findings = 0;
    ck_assert_int_eq(ledger_check(ledger, keep_finding, found, &findings, &error), STATUS_OK);
    ck_assert_msg(findings == 5, "%s", found); /* and two rows that the program did not write */
    ck_assert_msg(strstr(found, "run 1: its median") && strstr(found, "run 2: it is ok but") &&
                      strstr(found, "prediction 1: frozen after run 4"),
                  "%s", found);
    ledger_close(ledger);
}
END_TEST

/* ---- what can happen to a file --------------------------------------------------------------------------------------
 */

START_TEST(a_killed_writer_loses_nothing_committed)
{
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        struct ledger *ledger = must_open(true);
        add_run(ledger, 0, 1, (const double[]){1}, 1);
        if (ledger_begin(ledger, &error) == STATUS_OK) {
            add_run(ledger, 0, 2, (const double[]){2}, 1);
        }
        (void)!write(pipes[1], "x", 1);
        for (;;) {
            pause();
        }
    }
    char byte;
    ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    struct ledger *ledger = must_open(true);
    uint64_t count = 0, samples = 0, findings = 1;
    ck_assert_int_eq(ledger_count(ledger, LEDGER_RUN, NULL, &count, &error), STATUS_OK);
    ck_assert_int_eq(ledger_count(ledger, LEDGER_SAMPLE, NULL, &samples, &error), STATUS_OK);
    ck_assert_int_eq(ledger_check(ledger, NULL, NULL, &findings, &error), STATUS_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(samples, 1);
    ck_assert_uint_eq(findings, 0);
    ledger_close(ledger);
}
END_TEST

START_TEST(two_processes_write_one_after_the_other)
{
    enum {
        RUNS = 25
    };
    ledger_close(must_open(true));
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct ledger *ledger = must_open(true);
            for (int run = 0; run < RUNS; run++) {
                if (ledger_begin(ledger, &error) != STATUS_OK) {
                    _exit(1);
                }
                add_run(ledger, 0, run, (const double[]){run, run}, 2);
                if (ledger_commit(ledger, &error) != STATUS_OK) {
                    _exit(2);
                }
            }
            ledger_close(ledger);
            _exit(0);
        }
    }
    for (int i = 0; i < 2; i++) {
        int state = 0;
        ck_assert_int_eq(waitpid(children[i], &state, 0), children[i]);
        ck_assert_msg(WIFEXITED(state) && WEXITSTATUS(state) == 0, "writer %d: %d", i, state);
    }
    struct ledger *ledger = must_open(false);
    uint64_t count = 0, findings = 1;
    ck_assert_int_eq(ledger_count(ledger, LEDGER_SAMPLE, NULL, &count, &error), STATUS_OK);
    ck_assert_uint_eq(count, 4 * RUNS);
    ck_assert_int_eq(ledger_check(ledger, NULL, NULL, &findings, &error), STATUS_OK);
    ck_assert_uint_eq(findings, 0);
    ledger_close(ledger);
}
END_TEST

/* All find an empty file; one makes it. */
START_TEST(several_processes_make_it_at_once)
{
    enum {
        WRITERS = 6
    };
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct ledger *ledger = must_open(true);
            add_run(ledger, 0, i + 1, (const double[]){i + 1}, 1);
            ledger_close(ledger);
            _exit(0);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int state = 0;
        ck_assert_int_eq(waitpid(children[i], &state, 0), children[i]);
        ck_assert_msg(WIFEXITED(state) && WEXITSTATUS(state) == 0, "writer %d: %d", i, state);
    }
    struct ledger *ledger = must_open(false);
    uint64_t count = 0;
    ck_assert_int_eq(ledger_count(ledger, LEDGER_RUN, NULL, &count, &error), STATUS_OK);
    ck_assert_uint_eq(count, WRITERS);
    ledger_close(ledger);
}
END_TEST

START_TEST(check_takes_the_median_of_any_number_of_samples)
{
    struct ledger *ledger = must_open(true);
    char found[2000] = "";
    uint64_t findings = 0;
    add_run(ledger, 0, 5, (const double[]){5}, 1);
    add_run(ledger, 0, 3, (const double[]){4, 2}, 2);
    add_run(ledger, 0, 2, (const double[]){9, 2, 1}, 3);
    add_run(ledger, 0, 2.5, (const double[]){3, 1, 2, 4}, 4);
    ck_assert_int_eq(ledger_check(ledger, keep_finding, found, &findings, &error), STATUS_OK);
    ck_assert_msg(findings == 0, "%s", found);
    ledger_close(ledger);
}
END_TEST

START_TEST(check_sees_that_a_guard_is_gone)
{
    struct ledger *ledger = must_open(true);
    add_run(ledger, 0, 1, (const double[]){1}, 1);
    ledger_close(ledger);
    execute("DROP TRIGGER run_unchanged", SQLITE_OK);
    execute("CREATE VIEW more AS SELECT 1", SQLITE_OK);
    ledger = must_open(false);
    char found[2000] = "";
    uint64_t findings = 0;
    ck_assert_int_eq(ledger_check(ledger, keep_finding, found, &findings, &error), STATUS_OK);
    ck_assert_msg(findings == 2 && strstr(found, "trigger run_unchanged is missing") && strstr(found, "view more does"),
                  "%s", found);
    ledger_close(ledger);
}
END_TEST

/* A database of something else is refused and left as it is, byte for byte. */
START_TEST(files_that_are_no_ledger)
{
    must_fail(false, STATUS_MISSING, "No such file");
    temp_dir_write(&folder, "ledger.sqlite", "hello, this is a text of some length that is no database at all\n", 64,
                   path, sizeof path);
    must_fail(true, STATUS_BAD_DATA, "it is no ledger");
    ck_assert_int_eq(unlink(path), 0);
    execute("CREATE TABLE other(x)", SQLITE_OK);
    struct stat before, after;
    ck_assert_int_eq(stat(path, &before), 0);
    must_fail(true, STATUS_BAD_DATA, "a database of something else");
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    must_fail(true, STATUS_MISSING, "opening it");
    temp_dir_write(&folder, "empty", "", 0, path, sizeof path);
    must_fail(false, STATUS_BAD_DATA, "it is empty");
    ledger_close(must_open(true));
}
END_TEST

START_TEST(a_newer_schema_is_left_alone)
{
    ledger_close(must_open(true));
    execute("PRAGMA user_version = 99", SQLITE_OK);
    must_fail(true, STATUS_BAD_DATA, "newer than this occam knows");
    must_fail(false, STATUS_BAD_DATA, "newer than this occam knows");
}
END_TEST

/* Cut anywhere, the file is refused, or holds everything: never a part of it without a word. */
START_TEST(a_truncated_file_is_refused)
{
    struct ledger *ledger = must_open(true);
    for (int i = 0; i < 40; i++) {
        add_run(ledger, 0, i, (const double[]){i}, 1);
    }
    ledger_close(ledger);
    struct stat state;
    ck_assert_int_eq(stat(path, &state), 0);
    for (off_t length = state.st_size - 1024; length > 0; length -= state.st_size / 7) {
        ck_assert_int_eq(truncate(path, length), 0);
        error = (struct error){0};
        enum status status = ledger_open(path, true, &ledger, &error);
        ck_assert_msg(status == STATUS_BAD_DATA, "%ld bytes: %s %s", (long)length, status_name(status), error.text);
    }
}
END_TEST

/* A limit on the size of files fails writes as a full disk does. */
static int add_beyond_limit(void)
{
    enum {
        TEXT_BYTES = 4 << 20
    };
    char *text = calloc(1, TEXT_BYTES);
    struct ledger *ledger = must_open(true);
    signal(SIGXFSZ, SIG_IGN);
    if (text == NULL || setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, 1 << 20}) != 0) {
        return 9;
    }
    memset(text, 'x', TEXT_BYTES - 1);
    const struct ledger_scenario big = {.name = "big", .text = text};
    enum status status = ledger_add(ledger, LEDGER_SCENARIO, &big, NULL, &error);
    const struct ledger_scenario small = {.name = "small"};
    bool goes_on = ledger_add(ledger, LEDGER_SCENARIO, &small, NULL, &error) == STATUS_OK;
    ledger_close(ledger);
    free(text);
    return status == STATUS_IO && goes_on ? 0 : 1;
}

START_TEST(a_full_disk_loses_nothing)
{
    struct ledger *ledger = must_open(true);
    add_run(ledger, 0, 1, (const double[]){1}, 1);
    ledger_close(ledger);
    pid_t child = fork();
    if (child == 0) {
        _exit(add_beyond_limit());
    }
    int state = 0;
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_msg(WIFEXITED(state) && WEXITSTATUS(state) == 0, "%d", state);
    ledger = must_open(true);
    uint64_t runs = 0, scenarios = 0, findings = 1;
    ck_assert_int_eq(ledger_count(ledger, LEDGER_RUN, NULL, &runs, &error), STATUS_OK);
    ck_assert_int_eq(ledger_count(ledger, LEDGER_SCENARIO, NULL, &scenarios, &error), STATUS_OK);
    ck_assert_int_eq(ledger_check(ledger, NULL, NULL, &findings, &error), STATUS_OK);
    ck_assert_uint_eq(runs, 1);
    ck_assert_uint_eq(scenarios, 1);
    ck_assert_uint_eq(findings, 0);
    ledger_close(ledger);
}
END_TEST

START_TEST(a_read_only_file)
{
    struct ledger *ledger = must_open(true);
    add_run(ledger, 0, 1, (const double[]){1}, 1);
    ledger_close(ledger);
    ck_assert_int_eq(chmod(path, 0444), 0);
    ledger = must_open(false);
    uint64_t count = 0;
    ck_assert_int_eq(ledger_count(ledger, LEDGER_RUN, NULL, &count, &error), STATUS_OK);
    ck_assert_uint_eq(count, 1);
    ledger_close(ledger);
    if (geteuid() != 0) { /* root may write to everything */
        must_fail(true, STATUS_IO, "cannot be written");
    }
}
END_TEST

Suite *suite_ledger(void)
{
    Suite *suite = suite_create("ledger");
    TCase *records = tcase_create("records"), *files = tcase_create("files");
    tcase_add_checked_fixture(records, make_folder, remove_folder);
    tcase_add_test(records, what_goes_in_comes_out);
    tcase_add_test(records, layout_is_the_schema);
    tcase_add_test(records, rows_are_never_changed);
    tcase_add_test(records, a_correction_hides_what_it_replaces);
    tcase_add_test(records, references_must_exist);
    tcase_add_test(records, check_finds_what_is_wrong);
    suite_add_tcase(suite, records);
    tcase_add_checked_fixture(files, make_folder, remove_folder);
    tcase_add_test(files, a_killed_writer_loses_nothing_committed);
    tcase_add_test(files, two_processes_write_one_after_the_other);
    tcase_add_test(files, several_processes_make_it_at_once);
    tcase_add_test(files, check_sees_that_a_guard_is_gone);
    tcase_add_test(files, check_takes_the_median_of_any_number_of_samples);
    tcase_add_test(files, files_that_are_no_ledger);
    tcase_add_test(files, a_newer_schema_is_left_alone);
    tcase_add_test(files, a_truncated_file_is_refused);
    tcase_add_test(files, a_full_disk_loses_nothing);
    tcase_add_test(files, a_read_only_file);
    suite_add_tcase(suite, files);
    return suite;
}
