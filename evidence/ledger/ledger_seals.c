/* SPDX-License-Identifier: GPL-3.0-or-later
 * Seals: a chain of SHA-256 over all rows in the order they were added, so that a row that was edited past the program
 * is found. */
#include <stdio.h>
#include <string.h>

#include "evidence/ledger/ledger.h"
#include "evidence/ledger/ledger_private.h"

const char ledger_seal_sql[] =
    "CREATE TABLE seal(id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, record INTEGER NOT NULL, "
    "digest TEXT NOT NULL, UNIQUE(subject, record)) STRICT;\n"
    "CREATE TRIGGER seal_unchanged BEFORE UPDATE ON seal BEGIN "
    "SELECT RAISE(ABORT, 'rows of a ledger are never changed'); END;\n"
    "CREATE TRIGGER seal_kept BEFORE DELETE ON seal BEGIN "
    "SELECT RAISE(ABORT, 'rows of a ledger are never changed'); END;\n";

static enum status prepare_once(struct ledger *ledger, const char *sql, sqlite3_stmt **statement, struct error *error)
{
    return *statement != NULL ? STATUS_OK : ledger_prepare(ledger, sql, statement, error);
}

/* All columns of one row. */
static enum status prepare_row(struct ledger *ledger, enum ledger_table table, struct error *error)
{
    const struct ledger_layout *layout = ledger_layout(table);
    struct text_buffer sql = {0};
    if (ledger->read_row[table] != NULL) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < layout->column_count; i++) {
        text_buffer_append_format(&sql, "%s%s", i ? ", " : "SELECT ", layout->columns[i].name);
    }
    text_buffer_append_format(&sql, " FROM %s WHERE id = ?", layout->name);
    const enum status status = sql.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for a question to the ledger")
                                          : ledger_prepare(ledger, sql.text, &ledger->read_row[table], error);
    text_buffer_release(&sql);
    return status;
}

/* Every value with its type and length, so that no two rows read alike. */
static void append_value(struct text_buffer *text, sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        text_buffer_append_format(text, "i%lld;", (long long)sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT: {
        const double value = sqlite3_column_double(statement, column);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        text_buffer_append_format(text, "r%016llx;", (unsigned long long)bits);
        break;
    }
    case SQLITE_NULL:
        text_buffer_append(text, "n;");
        break;
    default: {
        const void *bytes = sqlite3_column_blob(statement, column);
        const int length = sqlite3_column_bytes(statement, column);
        text_buffer_append_format(text, "t%d:", length);
        if (bytes != NULL) {
            text_buffer_append_bytes(text, bytes, (size_t)length);
        }
        text_buffer_append(text, ";");
    }
    }
}

/* The seal that belongs to a row as it stands, after the seal `before`. *is_there: there is such a row. */
static enum status row_digest(struct ledger *ledger, enum ledger_table table, int64_t id, const char *before,
                              char digest[SHA256_HEX_SIZE], bool *is_there, struct error *error)
{
    const struct ledger_layout *layout = ledger_layout(table);
    struct text_buffer text = {0};
    enum status status = prepare_row(ledger, table, error);
    *is_there = false;
    if (status != STATUS_OK) {
        return status;
    }
    sqlite3_stmt *statement = ledger->read_row[table];
    (void)sqlite3_bind_int64(statement, 1, id);
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        *is_there = true;
        text_buffer_append_format(&text, "%s\n%s\n", before, layout->name);
        for (size_t i = 0; i < layout->column_count; i++) {
            append_value(&text, statement, (int)i);
        }
        status = text.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for a seal of the ledger") : STATUS_OK;
    } else if (code != SQLITE_DONE) {
        status = ledger_fail(ledger, code, "reading it", error);
    }
    if (status == STATUS_OK && *is_there) {
        (void)sha256_hex(text.text, text.length, digest);
    }
    (void)sqlite3_reset(statement);
    text_buffer_release(&text);
    return status;
}

enum status ledger_last_seal(struct ledger *ledger, char seal[SHA256_HEX_SIZE], struct error *error)
{
    seal[0] = '\0';
    if (ledger->version < LEDGER_SCHEMA_SEALS) {
        return STATUS_OK;
    }
    enum status status =
        prepare_once(ledger, "SELECT digest FROM seal ORDER BY id DESC LIMIT 1", &ledger->last_seal, error);
    if (status != STATUS_OK) {
        return status;
    }
    const int code = sqlite3_step(ledger->last_seal);
    if (code == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(ledger->last_seal, 0);
        (void)snprintf(seal, SHA256_HEX_SIZE, "%s", text != NULL ? text : "");
    } else if (code != SQLITE_DONE) {
        status = ledger_fail(ledger, code, "reading it", error);
    }
    (void)sqlite3_reset(ledger->last_seal);
    return status;
}

enum status ledger_seal_row(struct ledger *ledger, enum ledger_table table, int64_t id, struct error *error)
{
    char before[SHA256_HEX_SIZE], digest[SHA256_HEX_SIZE] = "";
    bool is_there = false;
    enum status status = ledger_last_seal(ledger, before, error);
    if (status == STATUS_OK) {
        status = row_digest(ledger, table, id, before, digest, &is_there, error);
    }
    if (status == STATUS_OK) {
        status =
            prepare_once(ledger, "INSERT INTO seal(subject, record, digest) VALUES(?, ?, ?)", &ledger->add_seal, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    sqlite3_stmt *statement = ledger->add_seal;
    (void)sqlite3_bind_text(statement, 1, ledger_layout(table)->name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(statement, 2, id);
    (void)sqlite3_bind_text(statement, 3, digest, -1, SQLITE_TRANSIENT);
    const int code = sqlite3_step(statement);
    status = code == SQLITE_DONE ? STATUS_OK : ledger_fail(ledger, code, "sealing a row", error);
    (void)sqlite3_reset(statement);
    return status;
}

static enum status seal_table(struct ledger *ledger, enum ledger_table table, struct error *error)
{
    char sql[96];
    sqlite3_stmt *statement = NULL;
    (void)snprintf(sql, sizeof sql, "SELECT id FROM %s ORDER BY id", ledger_layout(table)->name);
    enum status status = ledger_prepare(ledger, sql, &statement, error);
    int code = SQLITE_DONE;
    while (status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = ledger_seal_row(ledger, table, sqlite3_column_int64(statement, 0), error);
    }
    if (status == STATUS_OK && code != SQLITE_DONE) {
        status = ledger_fail(ledger, code, "sealing its rows", error);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

enum status ledger_seal_all(struct ledger *ledger, struct error *error)
{
    enum status status = STATUS_OK;
    for (int table = 0; table < LEDGER_TABLE_COUNT && status == STATUS_OK; table++) {
        status = seal_table(ledger, (enum ledger_table)table, error);
    }
    return status;
}

void ledger_seals_close(struct ledger *ledger)
{
    for (int table = 0; table < LEDGER_TABLE_COUNT; table++) {
        (void)sqlite3_finalize(ledger->read_row[table]);
    }
    (void)sqlite3_finalize(ledger->last_seal);
    (void)sqlite3_finalize(ledger->add_seal);
}

/* ---- looking -------------------------------------------------------------------------------------------------------
 */

struct seal_check {
    void (*found)(void *context, const char *text);
    void *context;
    uint64_t *findings;
    char before[SHA256_HEX_SIZE]; /* the seal that the next one follows */
    int64_t next;                 /* number of the next seal */
};

static void tell(const struct seal_check *check, const char *subject, int64_t record, const char *what)
{
    char text[200];
    (void)snprintf(text, sizeof text, "%.40s %lld: %s", subject, (long long)record, what);
    (*check->findings)++;
    check->found(check->context, text);
}

static enum ledger_table find_table(const char *name)
{
    int table = 0;
    while (table < LEDGER_TABLE_COUNT && strcmp(ledger_layout((enum ledger_table)table)->name, name) != 0) {
        table++;
    }
    return (enum ledger_table)table;
}

/* One seal of the chain; a broken one is told once, the next is held against what stands there. */
static enum status check_seal(struct ledger *ledger, sqlite3_stmt *statement, struct seal_check *check,
                              struct error *error)
{
    const int64_t number = sqlite3_column_int64(statement, 0), record = sqlite3_column_int64(statement, 2);
    const char *subject = (const char *)sqlite3_column_text(statement, 1);
    const char *stands = (const char *)sqlite3_column_text(statement, 3);
    char digest[SHA256_HEX_SIZE] = "";
    bool is_there = false;
    subject = subject != NULL ? subject : "";
    stands = stands != NULL ? stands : "";
    const enum ledger_table table = find_table(subject);
    const bool follows = number == check->next;
    if (!follows) {
        tell(check, "seal", check->next, "it is gone, and perhaps rows with it");
    }
    check->next = number + 1;
    enum status status = STATUS_OK;
    if (table != LEDGER_TABLE_COUNT) {
        status = row_digest(ledger, table, record, check->before, digest, &is_there, error);
    }
    if (status == STATUS_OK && !is_there) {
        tell(check, subject, record, "the row is gone");
    } else if (status == STATUS_OK && follows && strcmp(digest, stands) != 0) {
        tell(check, subject, record, "it is not as it was written: the row, its seal or the one before was changed");
    }
    (void)snprintf(check->before, sizeof check->before, "%s", stands);
    return status;
}

static enum status check_unsealed(struct ledger *ledger, enum ledger_table table, const struct seal_check *check,
                                  struct error *error)
{
    const char *name = ledger_layout(table)->name;
    char sql[200];
    sqlite3_stmt *statement = NULL;
    (void)snprintf(sql, sizeof sql,
                   "SELECT id FROM %s WHERE NOT EXISTS (SELECT 1 FROM seal WHERE subject = '%s' AND record = %s.id)",
                   name, name, name);
    enum status status = ledger_prepare(ledger, sql, &statement, error);
    int code = SQLITE_DONE;
    while (status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        tell(check, name, sqlite3_column_int64(statement, 0), "it has no seal: occam did not write it");
    }
    if (status == STATUS_OK && code != SQLITE_DONE) {
        status = ledger_fail(ledger, code, "checking it", error);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* Numbers are given once: the last that was given must still be there. */
static const char end_sql[] = "SELECT seq FROM sqlite_sequence WHERE name = 'seal' AND seq >= ?";

static enum status check_end(struct ledger *ledger, const struct seal_check *check, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    enum status status = ledger_prepare(ledger, end_sql, &statement, error);
    if (status == STATUS_OK) {
        (void)sqlite3_bind_int64(statement, 1, check->next);
        const int code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            tell(check, "seal", check->next, "it is gone, and perhaps rows with it");
        } else if (code != SQLITE_DONE) {
            status = ledger_fail(ledger, code, "checking it", error);
        }
    }
    (void)sqlite3_finalize(statement);
    return status;
}

static enum status check_all(struct ledger *ledger, struct seal_check *check, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    enum status status =
        ledger_prepare(ledger, "SELECT id, subject, record, digest FROM seal ORDER BY id", &statement, error);
    int code = SQLITE_DONE;
    while (status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = check_seal(ledger, statement, check, error);
    }
    if (status == STATUS_OK && code != SQLITE_DONE) {
        status = ledger_fail(ledger, code, "checking it", error);
    }
    (void)sqlite3_finalize(statement);
    status = status == STATUS_OK ? check_end(ledger, check, error) : status;
    for (int table = 0; table < LEDGER_TABLE_COUNT && status == STATUS_OK; table++) {
        status = check_unsealed(ledger, (enum ledger_table)table, check, error);
    }
    return status;
}

/* In one view of the file: what others add meanwhile is not looked for. */
enum status ledger_check_seals(struct ledger *ledger, void (*found)(void *context, const char *text), void *context,
                               uint64_t *findings, struct error *error)
{
    struct seal_check check = {.found = found, .context = context, .findings = findings, .next = 1};
    if (ledger->version < LEDGER_SCHEMA_SEALS) {
        ++*findings;
        found(context, "schema 1 has no seals, so that changed rows are not seen: occam hypothesis, judge and tune add "
                       "them when they next write to the ledger");
        return STATUS_OK;
    }
    enum status status = ledger_execute(ledger, "BEGIN", "checking it", error);
    if (status == STATUS_OK) {
        status = check_all(ledger, &check, error);
        (void)sqlite3_exec(ledger->database, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

enum status ledger_has_seal(struct ledger *ledger, const char *seal, bool *has, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    if (ledger->version < LEDGER_SCHEMA_SEALS) {
        *has = false;
        return STATUS_OK;
    }
    enum status status = ledger_prepare(ledger, "SELECT 1 FROM seal WHERE digest = ?", &statement, error);
    *has = false;
    if (status == STATUS_OK) {
        (void)sqlite3_bind_text(statement, 1, seal, -1, SQLITE_STATIC);
        const int code = sqlite3_step(statement);
        *has = code == SQLITE_ROW;
        status = code == SQLITE_ROW || code == SQLITE_DONE ? STATUS_OK : ledger_fail(ledger, code, "reading it", error);
    }
    (void)sqlite3_finalize(statement);
    return status;
}
