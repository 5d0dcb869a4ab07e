/* SPDX-License-Identifier: GPL-3.0-or-later
 * A tuning loop's forecasts and runs as rows of the ledger. Used by `occam tune --ledger`. */
#ifndef OCCAM_CLI_TUNE_LEDGER_H
#define OCCAM_CLI_TUNE_LEDGER_H

#include "calibrate/experiment/tune_store.h"
#include "cli/ledger_place.h"
#include "cli/search_question.h"

struct tune_ledger {
    struct ledger *ledger;                     /* NULL: none is kept */
    int64_t scenario, calibration, prediction; /* prediction: of the run that is next */
    const char *source;                        /* command or table; borrowed */
};

/* Opens the file. Close with ledger_close(tune->ledger). */
MUST_CHECK enum status tune_ledger_open(struct tune_ledger *tune, const char *path, const struct question *question,
                                        const char *source, struct error *error);
/* Tells the engine of the runs in the ledger that came from the same source and scenario, with what was forecast of
 * each; those of another workload or outside of the space are counted and left (search->read_runs, other_runs). Other
 * tunes' rows in the same file are not touched. */
MUST_CHECK enum status tune_ledger_read(struct tune_ledger *tune, struct search_question *search, struct error *error);
/* A forecast ("frozen") or the run that follows it. */
MUST_CHECK enum status tune_ledger_keep(struct tune_ledger *tune, const struct search_question *search,
                                        const struct tune_row *row, struct error *error);

#endif
