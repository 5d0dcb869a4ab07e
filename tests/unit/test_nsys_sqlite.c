/* SPDX-License-Identifier: GPL-3.0-or-later
 * Exports of Nsight Systems. No real one is at hand: the files are made here from the documented tables, whole, with
 * parts missing, and hostile. */
#include <check.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/profiles/profile_readers.h"
#include "tests/support/assert_close.h"
#include "tests/support/claims.h"
#include "tests/support/temp_dir.h"

/* Columns as the exporter's documentation lists them for schema 3. */
#define KERNEL_TABLE                                                                                                   \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL," \
    "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,"            \
    "globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,"              \
    "launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL,"            \
    "gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL,"                \
    "blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,"              \
    "localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL,"               \
    "sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER, clusterX INTEGER,"            \
    "clusterY INTEGER, clusterZ INTEGER);"
#define NAMES                                                                                                          \
    "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"                                    \
    "INSERT INTO StringIds VALUES(1,'[Unknown]'),(7,'void attention<(int)64, __half>(T2*)'),(8,'attention');"
#define DEVICES                                                                                                        \
    "CREATE TABLE TARGET_INFO_GPU(id INTEGER PRIMARY KEY, name TEXT, busLocation TEXT, totalMemory INTEGER,"           \
    "smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER);"                                                    \
    "INSERT INTO TARGET_INFO_GPU VALUES(0,'NVIDIA H100 80GB HBM3','',85,132,9,0);"
#define LAUNCH(start, end)                                                                                             \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" #start "," #end                                                   \
    ",0,1,NULL,7,5,16,7,8,NULL,1,0,255,96,2,2,128,1,1,0,80000,0,0,0,102400,NULL,0,0,0,0);"

static struct temp_dir directory;
static char path[600];
static struct kernel_claim_list list;

static void setup(void)
{
    temp_dir_create(&directory);
    temp_dir_path(&directory, "report.sqlite", path, sizeof path);
    list = (struct kernel_claim_list){0};
}

static void teardown(void)
{
    kernel_claim_list_release(&list);
    temp_dir_remove(&directory);
}

static void build(const char *statements)
{
    sqlite3 *database = NULL;
    char *message = NULL;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    int code = sqlite3_exec(database, statements, NULL, NULL, &message);
    ck_assert_msg(code == SQLITE_OK, "%s", message);
    ck_assert_int_eq(sqlite3_close(database), SQLITE_OK);
}

static void must_fail(enum status expected, const char *text)
{
    struct error error = {0};
    enum status status = nsys_sqlite_read(path, &list, &error);
    ck_assert_msg(status == expected, "%s: %s", status_name(status), error.text);
    ck_assert_msg(strstr(error.text, text) != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.file, "report.sqlite") != NULL, "%s", error.file);
}

START_TEST(whole_export)
{
    build(KERNEL_TABLE NAMES DEVICES LAUNCH(1000, 76200) LAUNCH(100000, 174000) LAUNCH(200000, 275000));
    claims_must_read(nsys_sqlite_read, path, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.skipped, 0);
    const struct kernel_claim *claim = &list.items[0];
    ck_assert_str_eq(claim->name, "void attention<(int)64, __half>(T2*)");
    ck_assert_str_eq(claim->device, "NVIDIA H100 80GB HBM3");
    ck_assert_uint_eq(claim->arch, 90);
    assert_figure(claim, CLAIM_SM_COUNT, 132);
    assert_figure(claim, CLAIM_REGISTERS, 255);
    assert_figure(claim, CLAIM_STATIC_SMEM, 0);
    assert_figure(claim, CLAIM_DYNAMIC_SMEM, 80000);
    assert_figure(claim, CLAIM_LAUNCH_SMEM, 80000);
    assert_figure(claim, CLAIM_SMEM_CONFIG, 102400);
    assert_figure(claim, CLAIM_THREADS, 128);
    assert_figure(claim, CLAIM_GRID, 384);
    assert_unknown(claim, CLAIM_CLUSTER);
    assert_unknown(claim, CLAIM_RESERVED_SMEM);
    ck_assert_uint_eq(claim->time.count, 3);
    assert_close_rel(claim->time.median_us, 75.0, TOL_ROUNDING);
    assert_close_rel(claim->time.last_us, 75.0, TOL_ROUNDING);
    ck_assert(!claim->time.is_profiled);
}
END_TEST

START_TEST(columns_and_tables_that_are_missing)
{
    build("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, shortName INT, registersPerThread INT);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1000,3000,8,40),(5000,8000,8,NULL),(NULL,1,8,40),"
          "('a','b',8,40);");
    claims_must_read(nsys_sqlite_read, path, &list);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(list.skipped, 2);
    ck_assert_msg(strstr(list.first_skipped, "row 3 of CUPTI_ACTIVITY_KIND_KERNEL: a launch without start") != NULL,
                  "%s", list.first_skipped);
    assert_figure(&list.items[0], CLAIM_REGISTERS, 40);
    assert_unknown(&list.items[1], CLAIM_REGISTERS);
    assert_unknown(&list.items[0], CLAIM_GRID);
    ck_assert_str_eq(list.items[0].name, "");
    ck_assert_msg(strstr(list.items[0].note, "number 8 of StringIds") != NULL, "%s", list.items[0].note);
}
END_TEST

START_TEST(rows_that_cannot_be)
{
    build(KERNEL_TABLE NAMES LAUNCH(9, 5) LAUNCH(-9223372036854775807, 9223372036854775807)
              LAUNCH(0, 1000) "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX=0 WHERE "
                              "start=0;" LAUNCH(1, 2) "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "
                                                      "registersPerThread=-1 WHERE "
                                                      "start=1;" LAUNCH(2, 3) "UPDATE "
                                                                              "CUPTI_ACTIVITY_KIND_"
                                                                              "KERNEL SET "
                                                                              "dynamicSharedMemory="
                                                                              "99999999999 WHERE "
                                                                              "start=2;"
                                                                              "INSERT INTO StringIds "
                                                                              "VALUES(9,x'6100c3')"
                                                                              ";" LAUNCH(3, 4) "UPDATE "
                                                                                               "CUPTI_ACTIVITY_"
                                                                                               "KIND_KERNEL "
                                                                                               "SET "
                                                                                               "demangledName="
                                                                                               "9 WHERE "
                                                                                               "start=3;");
    claims_must_read(nsys_sqlite_read, path, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.skipped, 6);
    ck_assert_str_eq(list.items[0].name, "");
}
END_TEST

START_TEST(names_without_an_index_and_twice)
{
    build(KERNEL_TABLE "CREATE TABLE StringIds(id INT, value TEXT);"
                       "INSERT INTO StringIds VALUES(7,'first'),(7,'second'),('7','third'),(7,NULL);" LAUNCH(0, 1000));
    claims_must_read(nsys_sqlite_read, path, &list);
    ck_assert_str_eq(list.items[0].name, "first");
}
END_TEST

START_TEST(views_and_computed_columns_are_not_run)
{
    build("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) "
          "SELECT x AS start, x AS end FROM n;");
    must_fail(STATUS_BAD_DATA, "no table CUPTI_ACTIVITY_KIND_KERNEL");
    unlink(path);
    build(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, registersPerThread INT AS (length(hex(zeroblob("
        "900000)))));"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end) VALUES(0,1000);"
        "CREATE TRIGGER t AFTER UPDATE ON CUPTI_ACTIVITY_KIND_KERNEL BEGIN DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; END;"
        "CREATE VIEW StringIds AS SELECT 7 AS id, 'x' AS value;");
    claims_must_read(nsys_sqlite_read, path, &list);
    ck_assert_uint_eq(list.count, 1);
    assert_unknown(&list.items[0], CLAIM_REGISTERS);
}
END_TEST

START_TEST(files_that_are_no_export)
{
    build("CREATE TABLE other(x);");
    must_fail(STATUS_BAD_DATA, "not an export of Nsight Systems");
    unlink(path);
    build("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(a INT);");
    must_fail(STATUS_BAD_DATA, "has no columns start and end");
    unlink(path);
    temp_dir_write(&directory, "report.sqlite", "", 0, path, sizeof path);
    must_fail(STATUS_BAD_DATA, "no table CUPTI_ACTIVITY_KIND_KERNEL");
    temp_dir_write(&directory, "report.sqlite", "this is no database at all, but it is long enough to be one", 59, path,
                   sizeof path);
    must_fail(STATUS_BAD_DATA, "not a database");
    unlink(path);
    must_fail(STATUS_MISSING, "cannot be opened");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    must_fail(STATUS_BAD_DATA, "not a regular file");
}
END_TEST

/* Nothing is written beside or into the file, whatever state it was left in; odd names are names. */
START_TEST(the_file_stays_as_it_is)
{
    temp_dir_path(&directory, "a?b#c%41 'x.sqlite", path, sizeof path);
    build(KERNEL_TABLE NAMES LAUNCH(0, 1000));
    struct stat before, after;
    ck_assert_int_eq(chmod(path, 0400), 0);
    ck_assert_int_eq(stat(path, &before), 0);
    claims_must_read(nsys_sqlite_read, path, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert(before.st_size == after.st_size && before.st_mtime == after.st_mtime);
    char beside[700];
    static const char *const endings[] = {"-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(beside, sizeof beside, "%s%s", path, endings[i]);
        ck_assert_int_ne(access(beside, F_OK), 0);
    }
}
END_TEST

/* Any single page of rubbish, and any length: a message or an answer, never more. */
START_TEST(damaged_files)
{
    build(KERNEL_TABLE NAMES DEVICES LAUNCH(0, 1000) LAUNCH(5, 1000));
    FILE *stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    static char bytes[1 << 16], damaged[1 << 16];
    size_t length = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    ck_assert_uint_gt(length, 4096);
    for (size_t step = 0; step < 40; step++) {
        size_t kept = step < 20 ? length : length * (step - 19) / 21;
        memcpy(damaged, bytes, length);
        for (size_t i = 0; i < 64 && step < 20; i++) {
            damaged[(step * length / 20 + i * 3) % length] ^= (char)(0x5a + step + i);
        }
        temp_dir_write(&directory, "report.sqlite", damaged, kept, path, sizeof path);
        struct error error = {0};
        struct kernel_claim_list claims = {0};
        enum status status = nsys_sqlite_read(path, &claims, &error);
        if (status != STATUS_OK && error.text[0] == '\0') {
            ck_abort_msg("step %zu: no message", step);
        }
        kernel_claim_list_release(&claims);
    }
}
END_TEST

Suite *suite_nsys_sqlite(void)
{
    Suite *suite = suite_create("nsys_sqlite");
    TCase *tcase = tcase_create("exports");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, whole_export);
    tcase_add_test(tcase, columns_and_tables_that_are_missing);
    tcase_add_test(tcase, rows_that_cannot_be);
    tcase_add_test(tcase, names_without_an_index_and_twice);
    tcase_add_test(tcase, views_and_computed_columns_are_not_run);
    tcase_add_test(tcase, files_that_are_no_export);
    tcase_add_test(tcase, the_file_stays_as_it_is);
    tcase_add_test(tcase, damaged_files);
    suite_add_tcase(suite, tcase);
    return suite;
}
