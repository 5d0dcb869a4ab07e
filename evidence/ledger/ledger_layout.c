/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which member of which struct is which column. The schema (ledger.c), inserts, walks and exports follow from it. */
#include <stddef.h>

#include "evidence/ledger/ledger.h"

#define NO_TABLE LEDGER_TABLE_COUNT
#define TEXT(record, member)                                                                                           \
    {                                                                                                                  \
#member, LEDGER_TEXT, offsetof(struct record, member), NO_TABLE                                                \
    }
#define INTEGER(record, member)                                                                                        \
    {                                                                                                                  \
#member, LEDGER_INTEGER, offsetof(struct record, member), NO_TABLE                                             \
    }
#define REAL(record, member)                                                                                           \
    {                                                                                                                  \
#member, LEDGER_REAL, offsetof(struct record, member), NO_TABLE                                                \
    }
#define REFERENCE(record, member, table)                                                                               \
    {                                                                                                                  \
#member, LEDGER_INTEGER, offsetof(struct record, member), table                                                \
    }
#define LAYOUT(name, record, columns)                                                                                  \
    {                                                                                                                  \
        name, sizeof(struct record), sizeof columns / sizeof columns[0], columns                                       \
    }
#define HEAD(record) INTEGER(record, id), TEXT(record, created)

static const struct ledger_column scenario_columns[] = {HEAD(ledger_scenario),       TEXT(ledger_scenario, name),
                                                        TEXT(ledger_scenario, path), TEXT(ledger_scenario, device),
                                                        TEXT(ledger_scenario, hash), TEXT(ledger_scenario, text)};

static const struct ledger_column calibration_columns[] = {HEAD(ledger_calibration), TEXT(ledger_calibration, name),
                                                           TEXT(ledger_calibration, hash),
                                                           TEXT(ledger_calibration, text)};

static const struct ledger_column hypothesis_columns[] = {HEAD(ledger_hypothesis),
                                                          REFERENCE(ledger_hypothesis, scenario, LEDGER_SCENARIO),
                                                          REFERENCE(ledger_hypothesis, calibration, LEDGER_CALIBRATION),
                                                          TEXT(ledger_hypothesis, statement),
                                                          TEXT(ledger_hypothesis, changes),
                                                          TEXT(ledger_hypothesis, base_config),
                                                          TEXT(ledger_hypothesis, quantity),
                                                          TEXT(ledger_hypothesis, direction),
                                                          TEXT(ledger_hypothesis, model),
                                                          TEXT(ledger_hypothesis, input_hash)};

static const struct ledger_column prediction_columns[] = {HEAD(ledger_prediction),
                                                          REFERENCE(ledger_prediction, hypothesis, LEDGER_HYPOTHESIS),
                                                          REFERENCE(ledger_prediction, scenario, LEDGER_SCENARIO),
                                                          REFERENCE(ledger_prediction, calibration, LEDGER_CALIBRATION),
                                                          TEXT(ledger_prediction, config),
                                                          TEXT(ledger_prediction, condition),
                                                          TEXT(ledger_prediction, quantity),
                                                          REAL(ledger_prediction, value),
                                                          REAL(ledger_prediction, low),
                                                          REAL(ledger_prediction, high),
                                                          REAL(ledger_prediction, level),
                                                          INTEGER(ledger_prediction, extrapolating),
                                                          TEXT(ledger_prediction, mechanism),
                                                          TEXT(ledger_prediction, model),
                                                          TEXT(ledger_prediction, input_hash)};

static const struct ledger_column run_columns[] = {HEAD(ledger_run),
                                                   REFERENCE(ledger_run, scenario, LEDGER_SCENARIO),
                                                   REFERENCE(ledger_run, hypothesis, LEDGER_HYPOTHESIS),
                                                   REFERENCE(ledger_run, prediction, LEDGER_PREDICTION),
                                                   TEXT(ledger_run, role),
                                                   TEXT(ledger_run, config),
                                                   TEXT(ledger_run, condition),
                                                   TEXT(ledger_run, quantity),
                                                   TEXT(ledger_run, status),
                                                   REAL(ledger_run, median),
                                                   TEXT(ledger_run, source),
                                                   TEXT(ledger_run, provenance),
                                                   TEXT(ledger_run, note)};

static const struct ledger_column sample_columns[] = {HEAD(ledger_sample), REFERENCE(ledger_sample, run, LEDGER_RUN),
                                                      INTEGER(ledger_sample, ordinal), REAL(ledger_sample, value)};

static const struct ledger_column verdict_columns[] = {HEAD(ledger_verdict),
                                                       REFERENCE(ledger_verdict, hypothesis, LEDGER_HYPOTHESIS),
                                                       REFERENCE(ledger_verdict, prediction, LEDGER_PREDICTION),
                                                       TEXT(ledger_verdict, kind),
                                                       TEXT(ledger_verdict, condition),
                                                       TEXT(ledger_verdict, outcome),
                                                       REAL(ledger_verdict, ratio),
                                                       REAL(ledger_verdict, low),
                                                       REAL(ledger_verdict, high),
                                                       REAL(ledger_verdict, level),
                                                       REAL(ledger_verdict, p_value),
                                                       REAL(ledger_verdict, smallest_effect),
                                                       INTEGER(ledger_verdict, covered),
                                                       TEXT(ledger_verdict, text)};

static const struct ledger_column correction_columns[] = {
    HEAD(ledger_correction), TEXT(ledger_correction, subject), INTEGER(ledger_correction, replaced),
    INTEGER(ledger_correction, replacement), TEXT(ledger_correction, reason)};

static const struct ledger_layout layouts[LEDGER_TABLE_COUNT] = {
    [LEDGER_SCENARIO] = LAYOUT("scenario", ledger_scenario, scenario_columns),
    [LEDGER_CALIBRATION] = LAYOUT("calibration", ledger_calibration, calibration_columns),
    [LEDGER_HYPOTHESIS] = LAYOUT("hypothesis", ledger_hypothesis, hypothesis_columns),
    [LEDGER_PREDICTION] = LAYOUT("prediction", ledger_prediction, prediction_columns),
    [LEDGER_RUN] = LAYOUT("run", ledger_run, run_columns),
    [LEDGER_SAMPLE] = LAYOUT("sample", ledger_sample, sample_columns),
    [LEDGER_VERDICT] = LAYOUT("verdict", ledger_verdict, verdict_columns),
    [LEDGER_CORRECTION] = LAYOUT("correction", ledger_correction, correction_columns)};

const struct ledger_layout *ledger_layout(enum ledger_table table)
{
    return (unsigned)table < LEDGER_TABLE_COUNT ? &layouts[table] : NULL;
}
