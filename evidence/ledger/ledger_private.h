/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the files of the ledger share. */
#ifndef OCCAM_EVIDENCE_LEDGER_LEDGER_PRIVATE_H
#define OCCAM_EVIDENCE_LEDGER_LEDGER_PRIVATE_H

#include <sqlite3.h>

#include "base/text_buffer.h"
#include "evidence/ledger/ledger.h"

struct ledger {
    sqlite3 *database;
    char path[256]; /* for messages, cut when longer */
    bool in_transaction;
    int64_t version; /* of the schema: older than ours only where the ledger is read */
    int code;        /* of the last failure, extended */
    sqlite3_stmt *insert[LEDGER_TABLE_COUNT];
    sqlite3_stmt *read_row[LEDGER_TABLE_COUNT], *last_seal, *add_seal; /* of ledger_seals.c */
};

enum {
    LEDGER_SCHEMA_SEALS = 2 /* the first version with seals */
};

/* Tables, triggers and indices of a version. */
void ledger_schema_sql(struct text_buffer *sql, int64_t version);
/* Of schema 2: one row for every other row, in the order they were added. */
extern const char ledger_seal_sql[];
/* Seals the row that was just added, in the transaction that added it. */
MUST_CHECK enum status ledger_seal_row(struct ledger *ledger, enum ledger_table table, int64_t id, struct error *error);
/* Seals all rows of a ledger that had no seals, table by table. */
MUST_CHECK enum status ledger_seal_all(struct ledger *ledger, struct error *error);
/* Rows that are not as they were sealed, gone, or never sealed: told to found, counted. */
MUST_CHECK enum status ledger_check_seals(struct ledger *ledger, void (*found)(void *context, const char *text),
                                          void *context, uint64_t *findings, struct error *error);
void ledger_seals_close(struct ledger *ledger);
/* error_set with the library's reason in the words of the user; code is what SQLite returned. */
enum status ledger_fail(struct ledger *ledger, int code, const char *doing, struct error *error);
MUST_CHECK enum status ledger_execute(struct ledger *ledger, const char *sql, const char *doing, struct error *error);
MUST_CHECK enum status ledger_prepare(struct ledger *ledger, const char *sql, sqlite3_stmt **statement,
                                      struct error *error);

#endif
