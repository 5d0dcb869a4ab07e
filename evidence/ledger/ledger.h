/* SPDX-License-Identifier: GPL-3.0-or-later
 * The record of experiments: one SQLite file of scenarios, hypotheses, frozen predictions, runs and verdicts. Rows are
 * only ever added; a correction is a row that names the one it replaces. Used by hypothesis, judge, tune, ledger. */
#ifndef OCCAM_EVIDENCE_LEDGER_LEDGER_H
#define OCCAM_EVIDENCE_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/status.h"

enum {
    LEDGER_SCHEMA_VERSION = 2,       /* 2: seals */
    LEDGER_TEXT_BYTES_MAX = 16 << 20 /* of one value; longer ones are refused */
};

/* Records. Texts are UTF-8, never NULL in what is read; NULL reads as "" in what is written. id and created are set by
 * the ledger: id counts from 1, created is UTC, ISO 8601. A reference of 0 means none. Numbers may be NaN: not known.
 */
struct ledger_scenario {
    int64_t id;
    const char *created, *name, *path, *device, *hash /* hexadecimal, of text */, *text;
};
struct ledger_calibration {
    int64_t id;
    const char *created, *name, *hash, *text;
};
struct ledger_hypothesis {
    int64_t id;
    const char *created;
    int64_t scenario, calibration;
    const char *statement;   /* as the user wrote it */
    const char *changes;     /* "num_warps=8", several separated by spaces, sorted by knob */
    const char *base_config; /* all knobs of the base, as in predictions */
    const char *quantity;    /* what is claimed of: "throughput", "kernel_time" */
    const char *direction;   /* "raises", "lowers", "keeps" */
    const char *model;       /* program version and hash of the parameters behind the predictions */
    const char *input_hash;
};
struct ledger_prediction {
    int64_t id;
    const char *created;
    int64_t hypothesis, scenario, calibration;
    const char *config;    /* all knobs, "name=value" separated by spaces, sorted */
    const char *condition; /* workload that the prediction is for, "C=8" */
    const char *quantity;  /* "throughput_ratio", "kernel_time_us", ...: with its unit */
    double value, low, high, level;
    int64_t extrapolating; /* 1: outside of what the calibration has seen */
    const char *mechanism; /* why, one line */
    const char *model, *input_hash;
};
struct ledger_run {
    int64_t id;
    const char *created;
    int64_t scenario, hypothesis, prediction;
    const char *role; /* "base", "variant", "revert", "tune" */
    const char *config, *condition, *quantity;
    const char *status;     /* "ok", "infeasible", "failed", "timeout" */
    double median;          /* of the samples; NaN unless ok */
    const char *source;     /* file or command that it came from */
    const char *provenance; /* device, driver, clocks, date, method: as the source states them */
    const char *note;
};
struct ledger_sample {
    int64_t id;
    const char *created;
    int64_t run, ordinal; /* repeats in the order they were taken, from 1 */
    double value;
};
struct ledger_verdict {
    int64_t id;
    const char *created;
    int64_t hypothesis, prediction;
    const char *kind; /* "effect", "revert" */
    const char *condition;
    const char *outcome; /* "supported", "refuted", "inconclusive"; "restored", "not restored" */
    double ratio, low, high, level, p_value, smallest_effect;
    int64_t covered; /* the frozen interval held the measured ratio: 1, 0; -1: there was none */
    const char *text;
};
struct ledger_correction {
    int64_t id;
    const char *created;
    const char *subject;           /* table of both rows */
    int64_t replaced, replacement; /* replacement 0: withdrawn */
    const char *reason;
};

enum ledger_table {
    LEDGER_SCENARIO,
    LEDGER_CALIBRATION,
    LEDGER_HYPOTHESIS,
    LEDGER_PREDICTION,
    LEDGER_RUN,
    LEDGER_SAMPLE,
    LEDGER_VERDICT,
    LEDGER_CORRECTION,
    LEDGER_TABLE_COUNT
};

/* How the structs above lie in the file: for printing and export without a case per table. */
enum ledger_type {
    LEDGER_TEXT,
    LEDGER_INTEGER,
    LEDGER_REAL
};
struct ledger_column {
    const char *name;
    enum ledger_type type;
    size_t offset;                /* in the struct */
    enum ledger_table references; /* LEDGER_TABLE_COUNT: no reference */
};
struct ledger_layout {
    const char *name; /* of the table */
    size_t size, column_count;
    const struct ledger_column *columns; /* id and created first */
};
const struct ledger_layout *ledger_layout(enum ledger_table table);

struct ledger; /* opaque; one per thread */

/* Opens path. to_write: made when missing, older schemas are brought up to date in one transaction; else it must be
 * there, and an older schema is read as it is. STATUS_MISSING: no such file or folder; STATUS_IO: read-only, locked for
 * over ten seconds, disk full; STATUS_BAD_DATA: no ledger, damaged, or written by a newer occam. */
MUST_CHECK enum status ledger_open(const char *path, bool to_write, struct ledger **ledger, struct error *error);
void ledger_close(struct ledger *ledger); /* NULL is fine; an open transaction is rolled back */
const char *ledger_path(const struct ledger *ledger);

/* Rows added between begin and commit are there all or none, also after a crash. Other processes wait for a writer. */
MUST_CHECK enum status ledger_begin(struct ledger *ledger, struct error *error);
MUST_CHECK enum status ledger_commit(struct ledger *ledger, struct error *error);
void ledger_rollback(struct ledger *ledger);

/* Adds a record, the struct of `table`; its id and created are not read. *id may be NULL. Outside of a transaction each
 * record is its own. STATUS_BAD_DATA: a reference that does not exist. */
MUST_CHECK enum status ledger_add(struct ledger *ledger, enum ledger_table table, const void *record, int64_t *id,
                                  struct error *error);
/* A scenario or calibration with this hash (and device) that is there already, or else a new one. */
MUST_CHECK enum status ledger_add_scenario_once(struct ledger *ledger, const struct ledger_scenario *scenario,
                                                int64_t *id, struct error *error);
MUST_CHECK enum status ledger_add_calibration_once(struct ledger *ledger, const struct ledger_calibration *calibration,
                                                   int64_t *id, struct error *error);

/* Condition column = value; integer columns compare integer, text columns text. column NULL ends a list of them. */
struct ledger_filter {
    const char *column;
    int64_t integer;
    const char *text;
};
/* Calls visit for each row that passes all filters (NULL: all), by id; rows that a correction replaced or withdrew only
 * when with_replaced. Texts are borrowed for the call. A status other than OK from visit ends the walk and is returned.
 */
MUST_CHECK enum status ledger_each(struct ledger *ledger, enum ledger_table table, const struct ledger_filter *filters,
                                   bool with_replaced,
                                   enum status (*visit)(void *context, const void *record, struct error *error),
                                   void *context, struct error *error);
MUST_CHECK enum status ledger_count(struct ledger *ledger, enum ledger_table table, const struct ledger_filter *filters,
                                    uint64_t *count, struct error *error);

/* Looks for damage: SQLite's own check, references, medians that are not those of their samples, predictions frozen
 * after their runs, and rows that are not as they were sealed. A seal is the SHA-256 of the seal before it and all that
 * its row holds: a row that was changed, taken away or put in past the seals is found; who makes all later seals anew
 * is found only by a seal that was noted elsewhere (ledger_has_seal). Each finding is told to `found`. *findings counts
 * them. */
MUST_CHECK enum status ledger_check(struct ledger *ledger, void (*found)(void *context, const char *text),
                                    void *context, uint64_t *findings, struct error *error);
/* The seal of the last row, "" where there is none: it stands for all rows so far. */
MUST_CHECK enum status ledger_last_seal(struct ledger *ledger, char seal[SHA256_HEX_SIZE], struct error *error);
/* Whether a seal that was noted earlier is one of this ledger's. */
MUST_CHECK enum status ledger_has_seal(struct ledger *ledger, const char *seal, bool *has, struct error *error);

#endif
