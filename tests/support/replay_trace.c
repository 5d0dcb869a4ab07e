/* SPDX-License-Identifier: GPL-3.0-or-later
 * Searches on known tables, scored. */
#include "tests/support/replay_trace.h"

#include <math.h>
#include <stdlib.h>

#include "base/statistics.h"

static int phase_of(size_t run)
{
    return run <= 10 ? 0 : run <= 30 ? 1 : 2;
}

static void note_forecast(const struct search_proposal *proposal, double value, size_t run, struct replay_trace *trace)
{
    if (isfinite(value) && isfinite(proposal->value_lo)) {
        trace->forecasts[phase_of(run)]++;
        trace->inside[phase_of(run)] += value >= proposal->value_lo && value <= proposal->value_hi;
    }
}

enum status replay_search(const struct search_space *space, const double *times, const struct search_prior *prior,
                          const struct search_options *options, size_t runs, bool with_stop, struct replay_trace *trace,
                          struct error *error)
{
    struct search_engine *engine = NULL;
    double least = HUGE_VAL, found = HUGE_VAL;
    for (size_t c = 0; c < space->config_count; c++) {
        least = isfinite(times[c]) ? fmin(least, times[c]) : least;
    }
    enum status status = search_engine_create(space, prior, options, &engine, error);
    for (size_t run = 1; run <= runs && status == STATUS_OK; run++) {
        struct search_proposal proposal;
        struct search_summary summary = {.stop = false};
        size_t count = 0;
        status = search_engine_propose(engine, 1, &proposal, &count,
                                       with_stop && trace->stop_run == 0 ? &summary : NULL, error);
        if (summary.stop && trace->stop_run == 0) {
            trace->stop_run = run - 1;
            trace->stop_claim = summary.remaining_gain;
            trace->stop_truth = log(found / least);
        }
        if (status == STATUS_OK && count == 1) {
            const double value = times[proposal.config];
            note_forecast(&proposal, value, run, trace);
            found = isfinite(value) ? fmin(found, value) : found;
            status = search_engine_tell(engine,
                                        &(struct search_run){.config = proposal.config,
                                                             .failed = !isfinite(value),
                                                             .value = value,
                                                             .forecast_lo = proposal.value_lo,
                                                             .forecast_hi = proposal.value_hi},
                                        error);
        }
        trace->fractions[run - 1] = isfinite(found) ? least / found : 0;
    }
    search_engine_free(engine);
    return status;
}

static double fraction(const struct replay_trace *traces, const struct replay_trace *others, size_t trace, size_t runs)
{
    return traces[trace].fractions[runs - 1] - (others ? others[trace].fractions[runs - 1] : 0);
}

void replay_mean_difference(const struct replay_trace *traces, const struct replay_trace *others, size_t count,
                            size_t runs, double *mean, double *error)
{
    double sum = 0, squares = 0;
    for (size_t t = 0; t < count; t++) {
        sum += fraction(traces, others, t, runs) / (double)count;
    }
    for (size_t t = 0; t < count; t++) {
        const double distance = fraction(traces, others, t, runs) - sum;
        squares += distance * distance;
    }
    *mean = sum;
    *error = sqrt(squares / ((double)count * fmax((double)count - 1, 1)));
}

void replay_mean(const struct replay_trace *traces, size_t count, size_t runs, double *mean, double *error)
{
    replay_mean_difference(traces, NULL, count, runs, mean, error);
}

double replay_coverage(const struct replay_trace *traces, size_t count, int phase)
{
    size_t forecasts = 0, inside = 0;
    for (size_t t = 0; t < count; t++) {
        for (int p = 0; p < REPLAY_PHASES; p++) {
            forecasts += phase == REPLAY_PHASES || phase == p ? traces[t].forecasts[p] : 0;
            inside += phase == REPLAY_PHASES || phase == p ? traces[t].inside[p] : 0;
        }
    }
    return forecasts ? 100 * (double)inside / (double)forecasts : (double)NAN;
}

void replay_print_stops(FILE *stream, const struct replay_trace *traces, size_t count, double stop_gain)
{
    double *runs = malloc((count + 1) * sizeof *runs), claim = 0, truth = 0, worst = 0;
    size_t stopped = 0, kept = 0;
    for (size_t t = 0; t < count && runs; t++) {
        if (traces[t].stop_run > 0) {
            runs[stopped++] = (double)traces[t].stop_run;
            claim += traces[t].stop_claim;
            truth += traces[t].stop_truth;
            worst = fmax(worst, traces[t].stop_truth);
            kept += traces[t].stop_truth <= stop_gain;
        }
    }
    if (stopped == 0) {
        (void)fprintf(stream, "never spoke");
    } else {
        sort_doubles(runs, stopped);
        (void)fprintf(stream,
                      "spoke in %zu of %zu searches, after %g runs in the median (%g to %g); a gain of %.2f %% was "
                      "said to remain, %.2f %% did (at most %.1f %%), no more than %g %% in %.0f %%",
                      stopped, count, quantile_sorted(runs, stopped, 0.5), runs[0], runs[stopped - 1],
                      100 * claim / (double)stopped, 100 * truth / (double)stopped, 100 * worst, 100 * stop_gain,
                      100 * (double)kept / (double)stopped);
    }
    free(runs);
}
