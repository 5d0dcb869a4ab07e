/* SPDX-License-Identifier: GPL-3.0-or-later
 * Records in and out of the ledger, for every table from its layout. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/ledger/ledger.h"
#include "evidence/ledger/ledger_private.h"

enum {
    RECORD_BYTES_MAX = 256 /* the largest struct of ledger.h, and then some */
};

static enum status prepare_insert(struct ledger *ledger, enum ledger_table table, struct error *error)
{
    const struct ledger_layout *layout = ledger_layout(table);
    struct text_buffer sql = {0};
    text_buffer_append_format(&sql, "INSERT INTO %s(created", layout->name);
    for (size_t i = 2; i < layout->column_count; i++) {
        text_buffer_append_format(&sql, ", %s", layout->columns[i].name);
    }
    text_buffer_append(&sql, ") VALUES(strftime('%Y-%m-%dT%H:%M:%fZ','now')");
    for (size_t i = 2; i < layout->column_count; i++) {
        text_buffer_append(&sql, ", ?");
    }
    text_buffer_append(&sql, ")");
    enum status status = sql.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for a row of the ledger")
                                    : ledger_prepare(ledger, sql.text, &ledger->insert[table], error);
    text_buffer_release(&sql);
    return status;
}

static int bind_member(sqlite3_stmt *statement, int index, const struct ledger_column *column, const void *record)
{
    const char *member = (const char *)record + column->offset;
    if (column->type == LEDGER_TEXT) {
        const char *text;
        memcpy(&text, member, sizeof text);
        return sqlite3_bind_text(statement, index, text != NULL ? text : "", -1, SQLITE_STATIC);
    }
    if (column->type == LEDGER_INTEGER) {
        int64_t value;
        memcpy(&value, member, sizeof value);
        return column->references != LEDGER_TABLE_COUNT && value == 0 ? sqlite3_bind_null(statement, index)
                                                                      : sqlite3_bind_int64(statement, index, value);
    }
    double value;
    memcpy(&value, member, sizeof value);
    return isnan(value) ? sqlite3_bind_null(statement, index) : sqlite3_bind_double(statement, index, value);
}

static enum status check_texts(const struct ledger_layout *layout, const void *record, struct error *error)
{
    for (size_t i = 2; i < layout->column_count; i++) {
        const char *text;
        size_t bad;
        memcpy(&text, (const char *)record + layout->columns[i].offset, sizeof text);
        if (layout->columns[i].type == LEDGER_TEXT && text != NULL &&
            utf8_check(text, strlen(text), &bad) != STATUS_OK) {
            return error_set(error, STATUS_BAD_DATA, "ledger: %s.%s is no UTF-8 text (byte %zu)", layout->name,
                             layout->columns[i].name, bad);
        }
    }
    return STATUS_OK;
}

static enum status insert_row(struct ledger *ledger, enum ledger_table table, const void *record, int64_t *id,
                              struct error *error)
{
    const struct ledger_layout *layout = ledger_layout(table);
    sqlite3_stmt *statement = ledger->insert[table];
    enum status status = STATUS_OK;
    int code = SQLITE_OK;
    for (size_t i = 2; i < layout->column_count && code == SQLITE_OK; i++) {
        code = bind_member(statement, (int)i - 1, &layout->columns[i], record);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
    }
    if (code == SQLITE_DONE) {
        *id = sqlite3_last_insert_rowid(ledger->database);
    } else {
        char doing[64];
        (void)snprintf(doing, sizeof doing, "adding a %s", layout->name);
        status = ledger_fail(ledger, code, doing, error);
    }
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return status;
}

/* A row and its seal: both or none. */
enum status ledger_add(struct ledger *ledger, enum ledger_table table, const void *record, int64_t *id,
                       struct error *error)
{
    const bool is_own = !ledger->in_transaction;
    int64_t added = 0;
    enum status status = check_texts(ledger_layout(table), record, error);
    if (status == STATUS_OK && ledger->insert[table] == NULL) {
        status = prepare_insert(ledger, table, error);
    }
    if (status == STATUS_OK && is_own) {
        status = ledger_begin(ledger, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = insert_row(ledger, table, record, &added, error);
    if (status == STATUS_OK) {
        status = ledger_seal_row(ledger, table, added, error);
    }
    if (is_own && status == STATUS_OK) {
        status = ledger_commit(ledger, error);
    } else if (is_own) {
        ledger_rollback(ledger);
    }
    if (status == STATUS_OK && id != NULL) {
        *id = added;
    }
    return status;
}

/* ---- walks --------------------------------------------------------------------------------------------------------
 */

static const struct ledger_column *find_column(const struct ledger_layout *layout, const char *name)
{
    for (size_t i = 0; i < layout->column_count; i++) {
        if (strcmp(layout->columns[i].name, name) == 0) {
            return &layout->columns[i];
        }
    }
    BUG("the ledger's table %s has no column %s", layout->name, name);
}

static enum status prepare_walk(struct ledger *ledger, enum ledger_table table, const struct ledger_filter *filters,
                                bool with_replaced, const char *what, sqlite3_stmt **statement, struct error *error)
{
    const struct ledger_layout *layout = ledger_layout(table);
    struct text_buffer sql = {0};
    text_buffer_append_format(&sql, "SELECT %s FROM %s WHERE 1", what, layout->name);
    for (size_t i = 0; filters != NULL && filters[i].column != NULL; i++) {
        text_buffer_append_format(&sql, " AND %s IS ?", find_column(layout, filters[i].column)->name);
    }
    if (!with_replaced) {
        text_buffer_append_format(
            &sql, " AND NOT EXISTS (SELECT 1 FROM correction WHERE subject = '%s' AND replaced = %s.id)", layout->name,
            layout->name);
    }
    text_buffer_append(&sql, " ORDER BY id");
    enum status status = sql.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for a question to the ledger")
                                    : ledger_prepare(ledger, sql.text, statement, error);
    text_buffer_release(&sql);
    for (size_t i = 0; status == STATUS_OK && filters != NULL && filters[i].column != NULL; i++) {
        const struct ledger_column *column = find_column(layout, filters[i].column);
        int code = column->type == LEDGER_TEXT
                       ? sqlite3_bind_text(*statement, (int)i + 1, filters[i].text != NULL ? filters[i].text : "", -1,
                                           SQLITE_STATIC)
                   : column->references != LEDGER_TABLE_COUNT && filters[i].integer == 0
                       ? sqlite3_bind_null(*statement, (int)i + 1)
                       : sqlite3_bind_int64(*statement, (int)i + 1, filters[i].integer);
        if (code != SQLITE_OK) {
            status = ledger_fail(ledger, code, "reading it", error);
        }
    }
    return status;
}

static void read_member(sqlite3_stmt *statement, int index, const struct ledger_column *column, void *record)
{
    char *member = (char *)record + column->offset;
    if (column->type == LEDGER_TEXT) {
        const char *text = (const char *)sqlite3_column_text(statement, index);
        text = text != NULL ? text : "";
        memcpy(member, &text, sizeof text);
    } else if (column->type == LEDGER_INTEGER) {
        int64_t value = sqlite3_column_int64(statement, index);
        memcpy(member, &value, sizeof value);
    } else {
        bool is_known = sqlite3_column_type(statement, index) != SQLITE_NULL;
        double value = is_known ? sqlite3_column_double(statement, index) : (double)NAN;
        memcpy(member, &value, sizeof value);
    }
}

enum status ledger_each(struct ledger *ledger, enum ledger_table table, const struct ledger_filter *filters,
                        bool with_replaced,
                        enum status (*visit)(void *context, const void *record, struct error *error), void *context,
                        struct error *error)
{
    const struct ledger_layout *layout = ledger_layout(table);
    struct text_buffer columns = {0};
    for (size_t i = 0; i < layout->column_count; i++) {
        text_buffer_append_format(&columns, "%s%s", i > 0 ? ", " : "", layout->columns[i].name);
    }
    sqlite3_stmt *statement = NULL;
    enum status status = columns.failed
                             ? error_set(error, STATUS_NO_MEMORY, "no memory for a question to the ledger")
                             : prepare_walk(ledger, table, filters, with_replaced, columns.text, &statement, error);
    text_buffer_release(&columns);
    int code = SQLITE_DONE;
    _Alignas(double) char record[RECORD_BYTES_MAX];
    if (layout->size > sizeof record) {
        BUG("a row of %s does not fit", layout->name);
    }
    while (status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (size_t i = 0; i < layout->column_count; i++) {
            read_member(statement, (int)i, &layout->columns[i], record);
        }
        status = visit(context, record, error);
    }
    if (status == STATUS_OK && code != SQLITE_DONE) {
        status = ledger_fail(ledger, code, "reading it", error);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

enum status ledger_count(struct ledger *ledger, enum ledger_table table, const struct ledger_filter *filters,
                         uint64_t *count, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    enum status status = prepare_walk(ledger, table, filters, false, "count(*)", &statement, error);
    if (status == STATUS_OK) {
        int code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            *count = (uint64_t)sqlite3_column_int64(statement, 0);
        } else {
            status = ledger_fail(ledger, code, "reading it", error);
        }
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* ---- records that are kept once -------------------------------------------------------------------------------------
 */

static enum status take_id(void *context, const void *record, struct error *error)
{
    (void)error;
    memcpy(context, record, sizeof(int64_t)); /* id is the first member of every record */
    return STATUS_OK;
}

static enum status add_once(struct ledger *ledger, enum ledger_table table, const struct ledger_filter *filters,
                            const void *record, int64_t *id, struct error *error)
{
    *id = 0;
    bool is_own = !ledger->in_transaction;
    enum status status = is_own ? ledger_begin(ledger, error) : STATUS_OK;
    if (status == STATUS_OK) {
        status = ledger_each(ledger, table, filters, false, take_id, id, error);
    }
    if (status == STATUS_OK && *id == 0) {
        status = ledger_add(ledger, table, record, id, error);
    }
    if (is_own && status == STATUS_OK) {
        status = ledger_commit(ledger, error);
    } else if (is_own && ledger->in_transaction) {
        ledger_rollback(ledger);
    }
    return status;
}

enum status ledger_add_scenario_once(struct ledger *ledger, const struct ledger_scenario *scenario, int64_t *id,
                                     struct error *error)
{
    const struct ledger_filter filters[] = {
        {"hash", 0, scenario->hash}, {"device", 0, scenario->device}, {"path", 0, scenario->path}, {NULL, 0, NULL}};
    return add_once(ledger, LEDGER_SCENARIO, filters, scenario, id, error);
}

enum status ledger_add_calibration_once(struct ledger *ledger, const struct ledger_calibration *calibration,
                                        int64_t *id, struct error *error)
{
    const struct ledger_filter filters[] = {{"hash", 0, calibration->hash}, {NULL, 0, NULL}};
    return add_once(ledger, LEDGER_CALIBRATION, filters, calibration, id, error);
}
