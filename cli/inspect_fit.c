/* SPDX-License-Identifier: GPL-3.0-or-later
 * Turns of a loop from the time of a launch: the scenario's own prediction, solved for its open question. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/inspect.h"
#include "cli/prediction.h"
#include "cli/quantity_text.h"

#define TURNS_LEAST 1e-3
#define TURNS_MOST  1e9

enum {
    BISECTIONS = 60 /* of an interval of twelve decades: beyond what is printed */
};

/* NaN: no prediction; then fit->text says why. */
static double predict(struct question *question, size_t variable, double turns, struct inspect_fit *fit)
{
    struct prediction prediction = {0};
    struct error error = {0};
    question->values[variable] = question->base[variable] = turns;
    if (prediction_make(question, question->values, question->base, &prediction, &error) != STATUS_OK) {
        (void)snprintf(fit->text, sizeof fit->text, "%.250s", error.text);
        return NAN;
    }
    if (!prediction.has_time) {
        (void)snprintf(fit->text, sizeof fit->text, "%.250s",
                       prediction.feasible ? question->untimed.text : prediction.reason);
        return NAN;
    }
    return prediction.time.time_s;
}

/* Time grows with the turns, so the interval is halved. */
static double solve(struct question *question, size_t variable, double time_s, struct inspect_fit *fit)
{
    double low = TURNS_LEAST, high = TURNS_MOST;
    char least[QUANTITY_TEXT_SIZE];
    const double shortest_s = predict(question, variable, low, fit), longest_s = predict(question, variable, high, fit);
    if (isnan(shortest_s) || isnan(longest_s)) {
        return NAN;
    }
    if (shortest_s >= time_s) {
        (void)snprintf(fit->text, sizeof fit->text, "without any turn %s are predicted",
                       quantity_time(shortest_s, least));
        return NAN;
    }
    if (longest_s < time_s) {
        (void)snprintf(fit->text, sizeof fit->text, "even %g turns are predicted to be shorter", TURNS_MOST);
        return NAN;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        const double middle = sqrt(low * high), middle_s = predict(question, variable, middle, fit);
        if (isnan(middle_s)) {
            return NAN;
        }
        *(middle_s < time_s ? &low : &high) = middle;
    }
    return high;
}

void inspect_fit_turns(const char *text, size_t length, double time_us, struct inspect_fit *fit)
{
    struct question_options options = {.level = QUESTION_LEVEL_DEFAULT, .text = text, .text_length = length};
    struct question question = {0};
    struct error error = {0};
    char digits[32];
    *fit = (struct inspect_fit){.turns = NAN};
    if (!(time_us > 0)) {
        (void)snprintf(fit->text, sizeof fit->text, "the record has none");
        return;
    }
    if (question_open(&question, "the scenario", &options, &error) != STATUS_OK) {
        (void)snprintf(fit->text, sizeof fit->text, "%.250s", error.text);
    } else {
        const long variable = scenario_variable_find(question.scenario, "iterations");
        double turns = variable < 0 ? (double)NAN : solve(&question, (size_t)variable, time_us * SECONDS_PER_US, fit);
        (void)snprintf(digits, sizeof digits, "%.4g", turns);
        fit->turns = number_parse(digits, &turns) == STATUS_OK ? turns : (double)NAN;
    }
    question_release(&question);
}
