/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which file is the ledger, and what goes into it from a question. Used by hypothesis, judge, tune and ledger. */
#ifndef OCCAM_CLI_LEDGER_PLACE_H
#define OCCAM_CLI_LEDGER_PLACE_H

#include "base/text_buffer.h"
#include "calibrate/experiment/scorecard.h"
#include "cli/question.h"
#include "evidence/ledger/ledger.h"

/* The file that --ledger names (asked, may be NULL), else $OCCAM_LEDGER, else occam/ledger.sqlite below $XDG_DATA_HOME
 * or ~/.local/share; folders of the default are made when to_write. */
MUST_CHECK enum status ledger_place_open(const char *asked, bool to_write, struct ledger **ledger, struct error *error);

/* The question's scenario and calibration as records, kept once. *calibration is 0 when there is none. */
MUST_CHECK enum status ledger_keep_question(struct ledger *ledger, const struct question *question, int64_t *scenario,
                                            int64_t *calibration, struct error *error);
/* Provenance of runs that a table gave: their rows were there before any prediction. */
#define LEDGER_REPLAYED "recorded before: a row of the table that was replayed"

/* What a prediction was compared with. */
enum card_data {
    CARD_MEASURED,
    CARD_RECORDED, /* rows that were there before: tune --replay */
    CARD_FAKE,     /* a fake device */
    CARD_DATA_COUNT
};
struct ledger_card {
    char group[256]; /* "all", then "SCENARIO on DEVICE": measured ones; "recorded rows: ..." and "fake device: ..." */
    enum card_data data;
    struct scorecard card;
};
/* How good the frozen predictions that were measured have been, over all and by scenario and device; those of
 * recorded rows and of a fake device last, by themselves, and not in "all". *cards is allocated, to be freed.
 * STATUS_BAD_DATA: none was measured yet. */
MUST_CHECK enum status ledger_cards_make(struct ledger *ledger, struct ledger_card **cards, size_t *count,
                                         struct error *error);
/* Coverage, bias and sharpness of the frozen predictions that were measured, over all and by scenario and device
 * (calibrate/experiment/scorecard.h). STATUS_BAD_DATA: none was measured yet. */
MUST_CHECK enum status ledger_scorecard(struct ledger *ledger, enum output_format format, struct error *error);
/* "BLOCK_T=16 num_warps=4": all knobs of `values`, sorted by name; only_changed: those that differ from the base. */
void config_text(const struct question *question, const double *values, bool only_changed, struct text_buffer *out);
/* "0.1.0 5f3a...": program version and hash of the parameters behind the question's predictions. Returns out. */
const char *model_text(const struct question *question, char out[64]);
/* Hash of scenario, device, calibration and values, hexadecimal. Returns out. */
const char *input_hash_text(const struct question *question, const double *values, char out[17]);

#endif
