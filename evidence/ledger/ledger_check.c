/* SPDX-License-Identifier: GPL-3.0-or-later
 * Looking for damage in a ledger: of the file, and of what its rows say of each other. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/ledger/ledger.h"
#include "evidence/ledger/ledger_private.h"

struct finding_sink {
    void (*found)(void *context, const char *text);
    void *context;
    uint64_t *findings;
};

/* Each row of the statement's first column is one finding, but for the text `fine`. */
static enum status tell_rows(struct ledger *ledger, const char *sql, const char *fine, const struct finding_sink *sink,
                             struct error *error)
{
    sqlite3_stmt *statement = NULL;
    enum status status = ledger_prepare(ledger, sql, &statement, error);
    int code = SQLITE_DONE;
    while (status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        if (text != NULL && (fine == NULL || strcmp(text, fine) != 0)) {
            (*sink->findings)++;
            sink->found(sink->context, text);
        }
    }
    if (status == STATUS_OK && code != SQLITE_DONE) {
        status = ledger_fail(ledger, code, "checking it", error);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* A median over an even count is the mean of the middle two. */
static const char median_sql[] =
    "WITH ranked AS (SELECT run, value, row_number() OVER (PARTITION BY run ORDER BY value) AS rank, "
    "count(*) OVER (PARTITION BY run) AS samples FROM sample), "
    "middle AS (SELECT run, avg(value) AS median FROM ranked WHERE rank IN ((samples + 1) / 2, samples / 2 + 1) "
    "GROUP BY run) "
    "SELECT 'run ' || run.id || ': its median is not that of its samples' FROM run JOIN middle ON middle.run = run.id "
    "WHERE run.median IS NULL OR abs(run.median - middle.median) > 1e-9 * abs(middle.median)";

static const char sampleless_sql[] = "SELECT 'run ' || id || ': it is ok but has no samples' FROM run WHERE status = "
                                     "'ok' AND NOT EXISTS (SELECT 1 FROM sample WHERE sample.run = run.id)";

/* A prediction counts only when it stood before its data. */
static const char late_sql[] =
    "SELECT 'prediction ' || prediction.id || ': frozen after run ' || run.id || ', which it "
    "is said to predict' FROM run JOIN prediction ON prediction.id = run.prediction "
    "WHERE prediction.created > run.created";

static const char reference_sql[] =
    "SELECT 'table ' || \"table\" || ', row ' || rowid || ': refers to a row of ' || parent || ' that is not there' "
    "FROM pragma_foreign_key_check";

/* Tables, triggers and indices must be those that this version makes: who takes a trigger away can change rows. */
static enum status compare_schema(struct ledger *ledger, const struct finding_sink *sink, struct error *error)
{
    static const char compare[] =
        "SELECT 'schema: ' || type || ' ' || name || ' is missing or another' FROM "
        "(SELECT type, name, sql FROM wanted.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' "
        "EXCEPT SELECT type, name, sql FROM main.sqlite_schema) "
        "UNION ALL SELECT 'schema: ' || type || ' ' || name || ' does not belong here' FROM main.sqlite_schema "
        "WHERE name NOT LIKE 'sqlite_%' AND name NOT IN (SELECT name FROM wanted.sqlite_schema)";
    struct text_buffer sql = {0};
    sqlite3 *wanted = NULL;
    sqlite3_int64 size = 0;
    ledger_schema_sql(&sql, ledger->version);
    enum status status = STATUS_OK;
    if (sql.failed || sqlite3_open_v2(":memory:", &wanted, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(wanted, sql.text, NULL, NULL, NULL) != SQLITE_OK) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for the ledger's schema");
    }
    unsigned char *image = status == STATUS_OK ? sqlite3_serialize(wanted, "main", &size, 0) : NULL;
    if (status == STATUS_OK) {
        status = image == NULL ? error_set(error, STATUS_NO_MEMORY, "no memory for the ledger's schema")
                               : ledger_execute(ledger, "ATTACH ':memory:' AS wanted", "checking it", error);
    }
    if (status == STATUS_OK &&
        sqlite3_deserialize(ledger->database, "wanted", image, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for the ledger's schema");
    }
    if (status == STATUS_OK) {
        status = tell_rows(ledger, compare, NULL, sink, error);
        (void)sqlite3_exec(ledger->database, "DETACH wanted", NULL, NULL, NULL);
    }
    sqlite3_free(image);
    (void)sqlite3_close(wanted);
    text_buffer_release(&sql);
    return status;
}

enum status ledger_check(struct ledger *ledger, void (*found)(void *context, const char *text), void *context,
                         uint64_t *findings, struct error *error)
{
    *findings = 0;
    const struct finding_sink sink = {found, context, findings};
    enum status status = tell_rows(ledger, "PRAGMA integrity_check(100)", "ok", &sink, error);
    if (status == STATUS_OK) {
        status = compare_schema(ledger, &sink, error);
    }
    if (status != STATUS_OK || *findings > 0) {
        return status; /* rows of a ledger that is none prove nothing */
    }
    const char *const questions[] = {reference_sql, median_sql, sampleless_sql, late_sql};
    for (size_t i = 0; i < sizeof questions / sizeof questions[0] && status == STATUS_OK; i++) {
        status = tell_rows(ledger, questions[i], NULL, &sink, error);
    }
    return status == STATUS_OK ? ledger_check_seals(ledger, found, context, findings, error) : status;
}
