/* SPDX-License-Identifier: GPL-3.0-or-later
 * Opening a ledger: what kind of file it is, its schema, durability, and what goes wrong in the words of the user. */
#include "evidence/ledger/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "evidence/ledger/ledger_private.h"

enum {
    APPLICATION_ID = 0x4f63634d, /* "OccM": what `file` and we tell a ledger by */
    BUSY_MILLISECONDS = 10000,
    BUSY_STEP_MILLISECONDS = 5
};

static const char *reason_of(int code, int system_error)
{
    if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY) {
        return "a write to it was cut off, which is taken back as soon as file and folder can be written to";
    }
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another process is writing to it for more than ten seconds";
    case SQLITE_FULL:
        return "the disk is full; nothing of this was recorded";
    case SQLITE_READONLY:
        return "it cannot be written to";
    case SQLITE_CORRUPT:
        return "the file is damaged or cut off";
    case SQLITE_NOTADB:
        return "it is no ledger";
    case SQLITE_CANTOPEN:
        return system_error != 0 ? strerror(system_error) : "it cannot be opened";
    case SQLITE_IOERR:
        return system_error != 0 ? strerror(system_error) : "reading or writing failed";
    case SQLITE_TOOBIG:
        return "a text is too long";
    default:
        return NULL;
    }
}

static enum status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
        return STATUS_OK;
    case SQLITE_NOMEM:
        return STATUS_NO_MEMORY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT:
        return STATUS_BAD_DATA;
    case SQLITE_TOOBIG:
        return STATUS_LIMIT;
    case SQLITE_CANTOPEN:
        return STATUS_MISSING;
    default:
        return STATUS_IO;
    }
}

enum status ledger_fail(struct ledger *ledger, int code, const char *doing, struct error *error)
{
    const char *reason = reason_of(code, sqlite3_system_errno(ledger->database));
    ledger->code = code;
    return error_set(error, status_of(code), "ledger %s: %s: %s", ledger->path, doing,
                     reason != NULL ? reason : sqlite3_errmsg(ledger->database));
}

enum status ledger_execute(struct ledger *ledger, const char *sql, const char *doing, struct error *error)
{
    int code = sqlite3_exec(ledger->database, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : ledger_fail(ledger, code, doing, error);
}

enum status ledger_prepare(struct ledger *ledger, const char *sql, sqlite3_stmt **statement, struct error *error)
{
    int code = sqlite3_prepare_v2(ledger->database, sql, -1, statement, NULL);
    return code == SQLITE_OK ? STATUS_OK : ledger_fail(ledger, code, "reading it", error);
}

static enum status pragma_integer(struct ledger *ledger, const char *sql, int64_t *value, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    enum status status = ledger_prepare(ledger, sql, &statement, error);
    if (status != STATUS_OK) {
        return status;
    }
    int code = sqlite3_step(statement);
    *value = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? STATUS_OK : ledger_fail(ledger, code, "reading it", error);
}

/* One table from its layout, with triggers that refuse to change or remove a row. */
static void append_table(struct text_buffer *sql, enum ledger_table table)
{
    static const char *const types[] = {"TEXT NOT NULL", "INTEGER", "REAL"};
    const struct ledger_layout *layout = ledger_layout(table);
    text_buffer_append_format(sql, "CREATE TABLE %s(id INTEGER PRIMARY KEY AUTOINCREMENT", layout->name);
    for (size_t i = 1; i < layout->column_count; i++) {
        const struct ledger_column *column = &layout->columns[i];
        text_buffer_append_format(sql, ", %s %s", column->name, types[column->type]);
        if (column->references != LEDGER_TABLE_COUNT) {
            text_buffer_append_format(sql, " REFERENCES %s(id)", ledger_layout(column->references)->name);
        }
    }
    text_buffer_append(sql, ") STRICT;\n");
    for (int change = 0; change < 2; change++) {
        text_buffer_append_format(sql,
                                  "CREATE TRIGGER %s_%s BEFORE %s ON %s BEGIN "
                                  "SELECT RAISE(ABORT, 'rows of a ledger are never changed'); END;\n",
                                  layout->name, change ? "kept" : "unchanged", change ? "DELETE" : "UPDATE",
                                  layout->name);
    }
}

/* The walks ask for these. */
static const char index_sql[] = "CREATE INDEX sample_run ON sample(run);\n"
                                "CREATE INDEX run_scenario ON run(scenario, config);\n"
                                "CREATE INDEX prediction_hypothesis ON prediction(hypothesis);\n"
                                "CREATE INDEX correction_subject ON correction(subject, replaced);\n";

void ledger_schema_sql(struct text_buffer *sql, int64_t version)
{
    for (int table = 0; table < LEDGER_TABLE_COUNT; table++) {
        append_table(sql, (enum ledger_table)table);
    }
    text_buffer_append(sql, index_sql);
    if (version >= LEDGER_SCHEMA_SEALS) {
        text_buffer_append(sql, ledger_seal_sql);
    }
}

/* Several processes may find the file empty at once: who gets the lock makes it, the others find it made. */
static enum status create_schema(struct ledger *ledger, struct error *error)
{
    struct text_buffer sql = {0};
    int64_t tables = 0;
    ledger_schema_sql(&sql, LEDGER_SCHEMA_VERSION);
    text_buffer_append_format(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION_ID,
                              LEDGER_SCHEMA_VERSION);
    enum status status = sql.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for the ledger's schema")
                                    : ledger_execute(ledger, "BEGIN IMMEDIATE", "making it", error);
    if (status == STATUS_OK) {
        status = pragma_integer(ledger, "SELECT count(*) FROM sqlite_schema", &tables, error);
    }
    if (status == STATUS_OK && tables == 0) {
        status = ledger_execute(ledger, sql.text, "making it", error);
    }
    if (status == STATUS_OK) {
        status = ledger_execute(ledger, "COMMIT", "making it", error);
    }
    text_buffer_release(&sql);
    if (status != STATUS_OK) {
        (void)sqlite3_exec(ledger->database, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

/* What brings version i + 1 to version i + 2; a file goes through all it lacks, each in one transaction. */
static const struct migration {
    const char *sql;
    enum status (*fill)(struct ledger *ledger, struct error *error);
} migrations[LEDGER_SCHEMA_VERSION - 1] = {{ledger_seal_sql, ledger_seal_all}};

/* From version `at`, unless another process was faster. */
static enum status migrate_once(struct ledger *ledger, int64_t at, struct error *error)
{
    const struct migration *migration = &migrations[at - 1];
    char version_sql[64];
    int64_t now = 0;
    (void)snprintf(version_sql, sizeof version_sql, "PRAGMA user_version = %lld", (long long)at + 1);
    enum status status = ledger_begin(ledger, error);
    if (status == STATUS_OK) {
        status = pragma_integer(ledger, "PRAGMA user_version", &now, error);
    }
    if (status == STATUS_OK && now == at) {
        status = ledger_execute(ledger, migration->sql, "bringing it up to date", error);
        status = status == STATUS_OK ? migration->fill(ledger, error) : status;
        status = status == STATUS_OK ? ledger_execute(ledger, version_sql, "bringing it up to date", error) : status;
    }
    if (status == STATUS_OK) {
        return ledger_commit(ledger, error);
    }
    ledger_rollback(ledger);
    return status;
}

static enum status migrate(struct ledger *ledger, int64_t version, struct error *error)
{
    enum status status = STATUS_OK;
    for (int64_t at = version; at < LEDGER_SCHEMA_VERSION && status == STATUS_OK; at++) {
        status = migrate_once(ledger, at, error);
    }
    return status;
}

/* In one transaction: another process may be making it just now. */
static enum status read_kind(struct ledger *ledger, int64_t *application, int64_t *version, int64_t *tables,
                             struct error *error)
{
    enum status status = ledger_execute(ledger, "BEGIN", "reading it", error);
    if (status != STATUS_OK) {
        return status;
    }
    status = pragma_integer(ledger, "SELECT count(*) FROM sqlite_schema", tables, error);
    if (status == STATUS_OK) {
        status = pragma_integer(ledger, "PRAGMA application_id", application, error);
    }
    if (status == STATUS_OK) {
        status = pragma_integer(ledger, "PRAGMA user_version", version, error);
    }
    (void)sqlite3_exec(ledger->database, "ROLLBACK", NULL, NULL, NULL); /* nothing was written */
    return status;
}

static enum status check_kind(struct ledger *ledger, bool to_write, struct error *error)
{
    int64_t version = 0, application = 0, tables = 0;
    enum status status = read_kind(ledger, &application, &version, &tables, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (application == 0 && version == 0 && tables == 0) {
        ledger->version = LEDGER_SCHEMA_VERSION;
        return to_write ? create_schema(ledger, error)
                        : error_set(error, STATUS_BAD_DATA, "ledger %s: it is empty", ledger->path);
    }
    if (application != APPLICATION_ID || version < 1) {
        return error_set(error, STATUS_BAD_DATA, "ledger %s: it is a database of something else", ledger->path);
    }
    if (version > LEDGER_SCHEMA_VERSION) {
        return error_set(error, STATUS_BAD_DATA,
                         "ledger %s: schema %lld is newer than this occam knows (%d): use the occam that wrote it",
                         ledger->path, (long long)version, LEDGER_SCHEMA_VERSION);
    }
    /* What older schemas lack (seals) only a check of them asks for: they are read as they are. */
    ledger->version = to_write ? LEDGER_SCHEMA_VERSION : version;
    return to_write ? migrate(ledger, version, error) : STATUS_OK;
}

/* Damage is found before anything is added to it. Ledgers are small: some milliseconds. */
static enum status check_pages(struct ledger *ledger, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    enum status status = ledger_prepare(ledger, "PRAGMA quick_check(1)", &statement, error);
    if (status != STATUS_OK) {
        return status;
    }
    int code = sqlite3_step(statement);
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (text == NULL) {
        status = ledger_fail(ledger, code, "checking it", error);
    } else if (strcmp(text, "ok") != 0) {
        status =
            error_set(error, STATUS_BAD_DATA, "ledger %s: the file is damaged or cut off: %.200s", ledger->path, text);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* SQLite does not wait for the lock that a change of the journal's mode takes, as several processes want it that make a
 * ledger at once: it answers "busy" at once, whatever the time limit is. */
static enum status enter_wal(struct ledger *ledger, struct error *error)
{
    int code = SQLITE_BUSY;
    for (int waited = 0; (code & 0xff) == SQLITE_BUSY && waited <= BUSY_MILLISECONDS;
         waited += BUSY_STEP_MILLISECONDS) {
        if (waited > 0) {
            (void)sqlite3_sleep(BUSY_STEP_MILLISECONDS);
        }
        code = sqlite3_exec(ledger->database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? STATUS_OK : ledger_fail(ledger, code, "opening it", error);
}

static enum status prepare_session(struct ledger *ledger, bool to_write, struct error *error)
{
    (void)sqlite3_busy_timeout(ledger->database, BUSY_MILLISECONDS);
    (void)sqlite3_extended_result_codes(ledger->database, 1);
    (void)sqlite3_db_config(ledger->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(ledger->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_limit(ledger->database, SQLITE_LIMIT_LENGTH, LEDGER_TEXT_BYTES_MAX);
    enum status status =
        ledger_execute(ledger, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL", "opening it", error);
    if (status == STATUS_OK) {
        status = check_kind(ledger, to_write, error);
    }
    if (status == STATUS_OK) {
        status = check_pages(ledger, error);
    }
    if (status == STATUS_OK && to_write) {
        /* Only now: a file of something else stays as it is. FULL: a committed row survives a power cut. */
        status = enter_wal(ledger, error);
    }
    return status;
}

static enum status open_database(struct ledger *ledger, const char *path, bool to_write, struct error *error)
{
    int flags = to_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int code = sqlite3_open_v2(path, &ledger->database, flags, NULL);
    if (code == SQLITE_NOMEM || ledger->database == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for ledger %s", path);
    }
    if (code == SQLITE_OK && to_write && sqlite3_db_readonly(ledger->database, "main") == 1) {
        return error_set(error, STATUS_IO, "ledger %s: it cannot be written to", path);
    }
    return code == SQLITE_OK ? STATUS_OK : ledger_fail(ledger, code, "opening it", error);
}

/* Whether something lies beside the file that it cannot be understood without. */
static bool has_leftovers(const char *path)
{
    static const char *const endings[] = {"-wal", "-journal"};
    struct text_buffer name = {0};
    bool has = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        text_buffer_clear(&name);
        text_buffer_append_format(&name, "%s%s", path, endings[i]);
        has = has || name.failed || access(name.text, F_OK) == 0;
    }
    text_buffer_release(&name);
    return has;
}

/* On media where not even the shared-memory file can be made, a ledger without a log left to apply can be read as it
 * lies. */
static enum status reopen_immutable(struct ledger *ledger, const char *path, struct error *error)
{
    struct text_buffer name = {0};
    text_buffer_append(&name, "file:");
    for (const char *at = path; *at != '\0'; at++) {
        text_buffer_append_format(&name, strchr("%?#", *at) != NULL ? "%%%02x" : "%c", (unsigned char)*at);
    }
    text_buffer_append(&name, "?immutable=1");
    enum status status = STATUS_IO;
    if (!name.failed) {
        (void)sqlite3_close(ledger->database);
        ledger->database = NULL;
        int code = sqlite3_open_v2(name.text, &ledger->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
        status = code == SQLITE_OK ? prepare_session(ledger, false, error) : STATUS_IO;
    }
    text_buffer_release(&name);
    return status;
}

/* A process that ended in the middle of a write leaves a journal or a log behind, which only a connection that may
 * write takes back or applies; ours still changes no row. */
static enum status reopen_recovering(struct ledger *ledger, const char *path, struct error *error)
{
    (void)sqlite3_close(ledger->database);
    ledger->database = NULL;
    const int code = sqlite3_open_v2(path, &ledger->database, SQLITE_OPEN_READWRITE, NULL);
    if (code != SQLITE_OK) {
        return ledger->database == NULL ? error_set(error, STATUS_NO_MEMORY, "no memory for ledger %s", path)
                                        : ledger_fail(ledger, code, "opening it", error);
    }
    const enum status status = prepare_session(ledger, false, error);
    return status == STATUS_OK ? ledger_execute(ledger, "PRAGMA query_only = ON", "opening it", error) : status;
}

/* Reading did not work at the first try. A busy file is no reason for another: it would be read half written. */
static enum status open_again(struct ledger *ledger, const char *path, enum status status, struct error *error)
{
    const int kind = ledger->code & 0xff;
    if (kind != SQLITE_READONLY && kind != SQLITE_CANTOPEN && kind != SQLITE_IOERR) {
        return status;
    }
    if (has_leftovers(path)) {
        return reopen_recovering(ledger, path, error);
    }
    struct error ignored = {0};
    return reopen_immutable(ledger, path, &ignored) == STATUS_OK ? STATUS_OK : status;
}

enum status ledger_open(const char *path, bool to_write, struct ledger **ledger, struct error *error)
{
    struct ledger *own = calloc(1, sizeof *own);
    *ledger = NULL;
    if (own == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for ledger %s", path);
    }
    (void)snprintf(own->path, sizeof own->path, "%s", path);
    enum status status = STATUS_OK;
    if (!to_write && access(path, F_OK) != 0) {
        status = error_set(error, STATUS_MISSING, "ledger %s: %s", path, strerror(errno));
    }
    struct stat about;
    if (status == STATUS_OK && stat(path, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))) {
        status =
            error_set(error, STATUS_BAD_DATA, "ledger %s: no regular file", path); /* opening it may never return */
    }
    if (status == STATUS_OK) {
        status = open_database(own, path, to_write, error);
    }
    if (status == STATUS_OK) {
        status = prepare_session(own, to_write, error);
        if (!to_write && (status == STATUS_IO || status == STATUS_MISSING)) {
            status = open_again(own, path, status, error);
        }
    }
    if (status != STATUS_OK) {
        ledger_close(own);
        return status;
    }
    *ledger = own;
    return STATUS_OK;
}

void ledger_close(struct ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    for (int table = 0; table < LEDGER_TABLE_COUNT; table++) {
        (void)sqlite3_finalize(ledger->insert[table]);
    }
    ledger_seals_close(ledger);
    if (ledger->in_transaction) {
        ledger_rollback(ledger);
    }
    (void)sqlite3_close(ledger->database);
    free(ledger);
}

const char *ledger_path(const struct ledger *ledger)
{
    return ledger->path;
}

enum status ledger_begin(struct ledger *ledger, struct error *error)
{
    enum status status = ledger_execute(ledger, "BEGIN IMMEDIATE", "beginning to write", error);
    ledger->in_transaction = status == STATUS_OK;
    return status;
}

enum status ledger_commit(struct ledger *ledger, struct error *error)
{
    enum status status = ledger_execute(ledger, "COMMIT", "writing", error);
    if (status != STATUS_OK) {
        ledger_rollback(ledger);
    }
    ledger->in_transaction = false;
    return status;
}

void ledger_rollback(struct ledger *ledger)
{
    (void)sqlite3_exec(ledger->database, "ROLLBACK", NULL, NULL, NULL);
    ledger->in_transaction = false;
}
