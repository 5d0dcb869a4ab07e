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
    sqlite3_stmt *insert[LEDGER_TABLE_COUNT];
};

/* Tables, triggers and indices of the present version. */
void ledger_schema_sql(struct text_buffer *sql);
/* error_set with the library's reason in the words of the user; code is what SQLite returned. */
enum status ledger_fail(struct ledger *ledger, int code, const char *doing, struct error *error);
MUST_CHECK enum status ledger_execute(struct ledger *ledger, const char *sql, const char *doing, struct error *error);
MUST_CHECK enum status ledger_prepare(struct ledger *ledger, const char *sql, sqlite3_stmt **statement,
                                      struct error *error);

#endif
