/* SPDX-License-Identifier: GPL-3.0-or-later
 * Seals of a ledger: what edits they find and what not, older files, and a write that was cut off. */
#include <check.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/ledger/ledger.h"
#include "tests/support/temp_dir.h"

Suite *suite_ledger_seals(void);

static struct temp_dir folder;
static char path[600];
static struct error error;

static struct ledger *must_open(bool to_write)
{
    struct ledger *ledger = NULL;
    ck_assert_msg(ledger_open(path, to_write, &ledger, &error) == STATUS_OK, "%s", error.text);
    return ledger;
}

static void add_run(struct ledger *ledger, double value)
{
    const struct ledger_run run = {.config = "a=1", .quantity = "time_us", .status = "ok", .median = value};
    struct ledger_sample sample = {.ordinal = 1, .value = value};
    ck_assert_int_eq(ledger_add(ledger, LEDGER_RUN, &run, &sample.run, &error), STATUS_OK);
    ck_assert_int_eq(ledger_add(ledger, LEDGER_SAMPLE, &sample, NULL, &error), STATUS_OK);
}

static void make_ledger(void)
{
    temp_dir_create(&folder);
    temp_dir_path(&folder, "ledger.sqlite", path, sizeof path);
    error = (struct error){0};
    struct ledger *ledger = must_open(true);
    for (int i = 1; i <= 3; i++) {
        add_run(ledger, i);
    }
    ledger_close(ledger);
}

static void remove_ledger(void)
{
    temp_dir_remove(&folder);
}

static void keep_finding(void *context, const char *text)
{
    char *all = context;
    (void)snprintf(all + strlen(all), 2000 - strlen(all), "%s\n", text);
}

/* Findings, one a line, in found. */
static uint64_t check(char found[2000])
{
    struct ledger *ledger = must_open(false);
    uint64_t findings = 99;
    found[0] = '\0';
    ck_assert_int_eq(ledger_check(ledger, keep_finding, found, &findings, &error), STATUS_OK);
    ledger_close(ledger);
    return findings;
}

/* Past the program, by who knows SQLite: the guards of a table are taken away and put back as they were. */
static void edit(const char *table, const char *sql)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *guards = NULL;
    char kept[2][300], names[200];
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    (void)snprintf(names, sizeof names, "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '%s'",
                   table);
    ck_assert_int_eq(sqlite3_prepare_v2(database, names, -1, &guards, NULL), SQLITE_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sqlite3_step(guards), SQLITE_ROW);
        (void)snprintf(kept[i], sizeof kept[i], "%s", (const char *)sqlite3_column_text(guards, 0));
    }
    sqlite3_finalize(guards);
    (void)snprintf(names, sizeof names, "DROP TRIGGER %s_unchanged; DROP TRIGGER %s_kept", table, table);
    const char *const steps[] = {names, sql, kept[0], kept[1]};
    for (int i = 0; i < 4; i++) {
        ck_assert_msg(sqlite3_exec(database, steps[i], NULL, NULL, NULL) == SQLITE_OK, "%s: %s", steps[i],
                      sqlite3_errmsg(database));
    }
    ck_assert_int_eq(sqlite3_close(database), SQLITE_OK);
}

START_TEST(an_untouched_ledger_is_sound)
{
    char found[2000], first[SHA256_HEX_SIZE], then[SHA256_HEX_SIZE];
    bool has = false;
    ck_assert_msg(check(found) == 0, "%s", found);
    struct ledger *ledger = must_open(true);
    ck_assert_int_eq(ledger_last_seal(ledger, first, &error), STATUS_OK);
    ck_assert_uint_eq(strlen(first), SHA256_HEX_SIZE - 1);
    add_run(ledger, 7);
    ck_assert_int_eq(ledger_last_seal(ledger, then, &error), STATUS_OK);
    ck_assert_str_ne(first, then);
    ck_assert(ledger_has_seal(ledger, first, &has, &error) == STATUS_OK && has);
    ck_assert(ledger_has_seal(ledger, "0123", &has, &error) == STATUS_OK && !has);
    ledger_close(ledger);
    ck_assert_msg(check(found) == 0, "%s", found);
}
END_TEST

static const struct {
    const char *table, *sql, *found;
    uint64_t count;
} edits[] = {
    /* the median goes with its sample, so that only the seals tell */
    {"sample", "UPDATE sample SET ordinal = 5 WHERE id = 2", "sample 2: it is not as it was written", 1},
    {"run", "UPDATE run SET note = 'better' WHERE id = 1", "run 1: it is not as it was written", 1},
    {"run", "UPDATE run SET created = '2020-01-01T00:00:00.000Z' WHERE id = 3", "run 3: it is not as it was", 1},
    {"run",
     "INSERT INTO run(created, role, config, condition, quantity, status, source, provenance, note) "
     "VALUES('2026-01-01T00:00:00.000Z', '', '', '', '', 'failed', '', '', '')",
     "run 4: it has no seal", 1},
    {"sample", "DELETE FROM sample WHERE id = 3", "sample 3: the row is gone", 2}, /* and its run has no samples */
    {"seal", "UPDATE seal SET digest = 'x' WHERE id = 2", "sample 1: it is not as it was written", 2},
    {"seal", "DELETE FROM seal WHERE id = 6", "seal 6: it is gone", 2},
    {"seal", "DELETE FROM seal WHERE id = 2", "seal 2: it is gone", 2},
};

START_TEST(edits_past_the_program_are_found)
{
    char found[2000];
    edit(edits[_i].table, edits[_i].sql);
    ck_assert_msg(check(found) == edits[_i].count && strstr(found, edits[_i].found) != NULL, "%s: %s", edits[_i].sql,
                  found);
}
END_TEST

/* Who makes every seal anew leaves a sound file; a seal that was noted before tells. */
START_TEST(seals_made_anew_are_told_by_a_noted_one)
{
    char found[2000], noted[SHA256_HEX_SIZE];
    bool has = true;
    struct ledger *ledger = must_open(false);
    ck_assert_int_eq(ledger_last_seal(ledger, noted, &error), STATUS_OK);
    ledger_close(ledger);
    edit("run", "UPDATE run SET note = 'better' WHERE id = 1");
    sqlite3 *database = NULL;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(database, "DROP TABLE seal; PRAGMA user_version = 1", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(database), SQLITE_OK);
    ledger_close(must_open(true)); /* seals as for an older file */
    ck_assert_msg(check(found) == 0, "%s", found);
    ledger = must_open(false);
    ck_assert(ledger_has_seal(ledger, noted, &has, &error) == STATUS_OK && !has);
    ledger_close(ledger);
}
END_TEST

/* Schema 1 is this one without seals. */
static const char older_sql[] = "DROP TABLE seal; PRAGMA user_version = 1; PRAGMA journal_mode = DELETE";

static void change_file(const char *sql)
{
    sqlite3 *database = NULL;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(database), SQLITE_OK);
}

START_TEST(an_older_file_is_read_as_it_is)
{
    char found[2000], seal[SHA256_HEX_SIZE];
    uint64_t runs = 0;
    bool has = true;
    change_file(older_sql);
    ck_assert_int_eq(chmod(path, 0444), 0);
    struct ledger *ledger = must_open(false);
    ck_assert_int_eq(ledger_count(ledger, LEDGER_RUN, NULL, &runs, &error), STATUS_OK);
    ck_assert_uint_eq(runs, 3);
    ck_assert(ledger_last_seal(ledger, seal, &error) == STATUS_OK && seal[0] == '\0');
    ck_assert(ledger_has_seal(ledger, "0123", &has, &error) == STATUS_OK && !has);
    ledger_close(ledger);
    for (int time = 0; time < 2; time++) { /* looking changed nothing */
        ck_assert_uint_eq(check(found), 1);
        ck_assert_msg(strstr(found, "schema 1 has no seals") != NULL, "%s", found);
    }
    ck_assert_int_eq(chmod(path, 0644), 0);
    change_file("DROP TRIGGER run_unchanged");
    ck_assert_uint_eq(check(found), 1);
    ck_assert_msg(strstr(found, "trigger run_unchanged is missing") != NULL, "%s", found);
}
END_TEST

START_TEST(an_older_file_is_brought_up_to_date)
{
    char found[2000];
    change_file(older_sql);
    struct ledger *ledger = must_open(true);
    uint64_t runs = 0;
    ck_assert_int_eq(ledger_count(ledger, LEDGER_RUN, NULL, &runs, &error), STATUS_OK);
    ck_assert_uint_eq(runs, 3);
    add_run(ledger, 9);
    ledger_close(ledger);
    ck_assert_msg(check(found) == 0, "%s", found);
    edit("run", "UPDATE run SET note = 'better' WHERE id = 2");
    ck_assert_msg(check(found) == 1, "%s", found);
}
END_TEST

/* A journal that says how to take back pages that are already in the file. */
static void die_while_writing(void)
{
    sqlite3 *database = NULL;
    if (sqlite3_open(path, &database) == SQLITE_OK &&
        sqlite3_exec(database,
                     "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; BEGIN IMMEDIATE;"
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
                     "INSERT INTO calibration(created, name, hash, text) SELECT '', i, i, hex(zeroblob(100)) FROM n",
                     NULL, NULL, NULL) == SQLITE_OK) {
        raise(SIGKILL);
    }
    _exit(1);
}

START_TEST(a_write_that_was_cut_off_is_no_damage)
{
    char found[2000], journal[640];
    int state = 0;
    pid_t child = fork();
    if (child == 0) {
        die_while_writing();
    }
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert(WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL);
    (void)snprintf(journal, sizeof journal, "%s-journal", path);
    ck_assert_int_eq(access(journal, F_OK), 0);
    if (geteuid() != 0) { /* root may write to everything */
        struct ledger *ledger = NULL;
        ck_assert_int_eq(chmod(path, 0444), 0);
        ck_assert_int_eq(ledger_open(path, false, &ledger, &error), STATUS_IO);
        ck_assert_msg(strstr(error.text, "a write to it was cut off") != NULL, "%s", error.text);
        ck_assert_int_eq(chmod(path, 0644), 0);
    }
    ck_assert_msg(check(found) == 0, "%s", found);
    ck_assert_int_ne(access(journal, F_OK), 0);
    struct ledger *ledger = must_open(false);
    uint64_t calibrations = 99, runs = 0;
    ck_assert_int_eq(ledger_count(ledger, LEDGER_CALIBRATION, NULL, &calibrations, &error), STATUS_OK);
    ck_assert_int_eq(ledger_count(ledger, LEDGER_RUN, NULL, &runs, &error), STATUS_OK);
    ck_assert_uint_eq(calibrations, 0);
    ck_assert_uint_eq(runs, 3);
    ledger_close(ledger);
}
END_TEST

Suite *suite_ledger_seals(void)
{
    Suite *suite = suite_create("ledger_seals");
    TCase *tcase = tcase_create("seals");
    tcase_add_checked_fixture(tcase, make_ledger, remove_ledger);
    tcase_add_test(tcase, an_untouched_ledger_is_sound);
    tcase_add_loop_test(tcase, edits_past_the_program_are_found, 0, sizeof edits / sizeof edits[0]);
    tcase_add_test(tcase, seals_made_anew_are_told_by_a_noted_one);
    tcase_add_test(tcase, an_older_file_is_read_as_it_is);
    tcase_add_test(tcase, an_older_file_is_brought_up_to_date);
    tcase_add_test(tcase, a_write_that_was_cut_off_is_no_damage);
    suite_add_tcase(suite, tcase);
    return suite;
}
