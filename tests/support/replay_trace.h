/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a replayed search did, and tables of many of them. Used by tests/replay/. */
#ifndef OCCAM_TESTS_SUPPORT_REPLAY_TRACE_H
#define OCCAM_TESTS_SUPPORT_REPLAY_TRACE_H

#include <stdio.h>

#include "calibrate/experiment/search_engine.h"

enum {
    REPLAY_PHASES = 3 /* runs 1 to 10, 11 to 30, and later */
};

struct replay_trace {
    double *fractions; /* best of all / best found, after each run; 0 while all failed */
    size_t forecasts[REPLAY_PHASES], inside[REPLAY_PHASES];
    size_t stop_run;               /* runs done when the stop rule first spoke; 0: never */
    double stop_claim, stop_truth; /* gain that remained then, in ln(value): as said, and by the whole table */
};

/* One search: runs proposals told one after the other (fewer when none is left). times: NaN fails. Fills the trace,
 * whose fractions the caller made with room for runs. */
MUST_CHECK enum status replay_search(const struct search_space *space, const double *times,
                                     const struct search_prior *prior, const struct search_options *options,
                                     size_t runs, bool with_stop, struct replay_trace *trace, struct error *error);

/* Mean and its standard error of the fractions after so many runs; the error is 0 for one trace. */
void replay_mean(const struct replay_trace *traces, size_t count, size_t runs, double *mean, double *error);
/* The same of the differences trace by trace. */
void replay_mean_difference(const struct replay_trace *traces, const struct replay_trace *others, size_t count,
                            size_t runs, double *mean, double *error);
/* Share of forecasts inside their interval in percent; phase REPLAY_PHASES: all. NaN: none. */
double replay_coverage(const struct replay_trace *traces, size_t count, int phase);
/* One line on when the stop rule spoke, what it claimed and what was true, for stop_gain (a fraction). */
void replay_print_stops(FILE *stream, const struct replay_trace *traces, size_t count, double stop_gain);

#endif
