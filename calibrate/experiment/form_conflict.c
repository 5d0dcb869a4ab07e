/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which forms the runs leave standing, where two of them disagree, and the run that separates them (SEARCH-10). */
#include "calibrate/experiment/form_conflict.h"

#include <math.h>
#include <stdint.h>

/* A form's error before any run counts as two runs of 10 %; one that is 20 times less likely than the best is out. */
static const double prior_runs = 2, prior_sigma = 0.1, least_odds = 0.05;
static const double quantile = 1.96; /* of differences that noise makes */

/* What the runs say of one form. */
struct standing {
    double shift;  /* measured less foretold, mean: forms are judged by ratios between configurations */
    double square; /* sum of what is left */
    double sigma;  /* how far off one value is */
    size_t runs;
};

static struct standing stand(const struct conflict_request *request, size_t form)
{
    const double *values = request->forms[form].log_values;
    struct standing standing = {0};
    double sum = 0, squares = 0;
    for (size_t c = 0; c < request->candidate_count; c++) {
        const double left = request->measured[c] - values[c];
        if (isfinite(left)) {
            standing.runs++;
            sum += left;
            squares += left * left;
        }
    }
    const double own = request->forms[form].log_sigma;
    if (standing.runs > 0) {
        standing.shift = sum / (double)standing.runs;
        standing.square = fmax(squares - sum * standing.shift, 0);
    } else if (request->anchor < request->candidate_count) {
        const double difference = request->forms[0].log_values[request->anchor] - values[request->anchor];
        standing.shift = isfinite(difference) ? difference : 0;
    }
    const double freedom = standing.runs > 0 ? (double)standing.runs - 1 : 0;
    standing.sigma = sqrt((prior_runs * own * own + standing.square) / (prior_runs + freedom));
    return standing;
}

/* Marginal likelihood of the runs with the form's scatter unknown (inverse gamma), common shift taken out. */
static double log_odds(const struct standing *standing)
{
    const double freedom = standing->runs > 0 ? (double)standing->runs - 1 : 0;
    return -(prior_runs + freedom) / 2 * log(prior_runs * prior_sigma * prior_sigma + standing->square);
}

/* Which forms stand; returns the one that rivals are held against: the form in use, or, where the runs refute it, the
 * likeliest. Forms that say nothing of a run that others speak of cannot be compared by the runs and stand. */
static size_t judge_forms(const struct conflict_request *request, const struct standing *standings, bool *is_plausible)
{
    size_t most = 0, likeliest = 0;
    double best = -HUGE_VAL;
    for (size_t f = 0; f < request->form_count; f++) {
        most = standings[f].runs > most ? standings[f].runs : most;
    }
    for (size_t f = 0; f < request->form_count; f++) {
        if (standings[f].runs == most && log_odds(&standings[f]) > best) {
            best = log_odds(&standings[f]);
            likeliest = f;
        }
    }
    for (size_t f = 0; f < request->form_count; f++) {
        is_plausible[f] = standings[f].runs < most || log_odds(&standings[f]) - best >= log(least_odds);
    }
    return is_plausible[0] ? 0 : likeliest;
}

/* What form f holds of candidate c: the measurement where there is one. */
static double held(const struct conflict_request *request, const struct standing *standings, size_t f, size_t c)
{
    return isfinite(request->measured[c]) ? request->measured[c] : request->forms[f].log_values[c] + standings[f].shift;
}

static size_t best_of(const struct conflict_request *request, const struct standing *standings, size_t f, size_t other)
{
    size_t best = SIZE_MAX;
    for (size_t c = 0; c < request->candidate_count; c++) {
        const double value = held(request, standings, f, c);
        if (isfinite(value) && isfinite(held(request, standings, other, c)) &&
            (!request->is_closed[c] || isfinite(request->measured[c])) &&
            (best == SIZE_MAX || value < held(request, standings, f, best))) {
            best = c;
        }
    }
    return best;
}

struct pair {
    size_t forms[2], bests[2], run;
    bool other_best;
    double apart, information_per_s; /* apart: largest difference in ln(value) over the open candidates */
};

/* Each form's pick is worse by the other's account: the two losses together, at most. */
static double stake(const struct conflict_request *request, const struct standing *standings, const struct pair *pair)
{
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        sum += held(request, standings, pair->forms[i], pair->bests[1 - i]) -
               held(request, standings, pair->forms[i], pair->bests[i]);
    }
    return sum;
}

/* The outcome of a run is a mixture of two normals: what it tells of which form is right is at most the logarithm of
 * how much wider the mixture is than either. */
static void find_run(const struct conflict_request *request, const struct standing *standings, struct pair *pair)
{
    const struct standing *one = &standings[pair->forms[0]], *other = &standings[pair->forms[1]];
    const double variance =
        request->noise * request->noise + (one->sigma * one->sigma + other->sigma * other->sigma) / 2;
    pair->run = SIZE_MAX;
    for (size_t c = 0; c < request->candidate_count; c++) {
        const double apart =
            fabs(held(request, standings, pair->forms[0], c) - held(request, standings, pair->forms[1], c));
        if (request->is_closed[c] || !isfinite(apart)) {
            continue;
        }
        const double information = log1p(apart * apart / (4 * variance)) / 2 / request->costs_s[c];
        pair->apart = fmax(pair->apart, apart);
        if (information > pair->information_per_s) {
            pair->information_per_s = information;
            pair->run = c;
        }
    }
}

static bool is_conflict(const struct conflict_request *request, const struct standing *standings, struct pair *pair)
{
    const struct standing *one = &standings[pair->forms[0]], *other = &standings[pair->forms[1]];
    pair->bests[0] = best_of(request, standings, pair->forms[0], pair->forms[1]);
    pair->bests[1] = best_of(request, standings, pair->forms[1], pair->forms[0]);
    find_run(request, standings, pair);
    if (pair->run == SIZE_MAX || pair->bests[0] == SIZE_MAX || pair->bests[1] == SIZE_MAX) {
        return false;
    }
    const double noise = quantile * M_SQRT2 * request->noise;
    pair->other_best =
        pair->bests[0] != pair->bests[1] && stake(request, standings, pair) > fmax(noise, request->least_gain);
    const double unsure =
        quantile * sqrt(request->noise * request->noise + one->sigma * one->sigma + other->sigma * other->sigma);
    return pair->other_best || pair->apart > fmax(unsure, request->least_gain);
}

static bool is_better(const struct pair *pair, const struct form_conflict *conflict)
{
    return !conflict->found || pair->other_best > conflict->other_best ||
           (pair->other_best == conflict->other_best && pair->information_per_s > conflict->information_per_s);
}

static void keep(const struct conflict_request *request, const struct standing *standings, const struct pair *pair,
                 struct form_conflict *conflict)
{
    conflict->found = true;
    conflict->other_best = pair->other_best;
    conflict->run = pair->run;
    conflict->information_per_s = pair->information_per_s;
    for (int i = 0; i < 2; i++) {
        conflict->forms[i] = pair->forms[i];
        conflict->bests[i] = pair->bests[i];
        conflict->log_values[i] = held(request, standings, pair->forms[i], pair->run);
    }
}

void form_conflict_find(const struct conflict_request *request, struct form_conflict *conflict)
{
    struct standing standings[CONFLICT_FORMS_MAX];
    *conflict = (struct form_conflict){0};
    for (size_t f = 0; f < request->form_count; f++) {
        standings[f] = stand(request, f);
    }
    const size_t base = judge_forms(request, standings, conflict->is_plausible);
    for (size_t f = 0; f < request->form_count; f++) {
        struct pair pair = {.forms = {base, f}};
        if (f != base && conflict->is_plausible[f] && is_conflict(request, standings, &pair) &&
            is_better(&pair, conflict)) {
            keep(request, standings, &pair, conflict);
        }
    }
}
