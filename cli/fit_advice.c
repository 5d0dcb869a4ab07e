/* SPDX-License-Identifier: GPL-3.0-or-later
 * Search of the neighbourhood of an infeasible configuration, through the scenario interface alone. */
#include "cli/fit_advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "model/predict/occupancy.h"

struct search {
    const struct scenario *scenario;
    struct scenario_evaluator *evaluator;
    const struct gpu_limits *limits;
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    struct fit_advice *advice;
    unsigned tries;
};

/* Whether every kernel of the current values can be launched; fills the first kernel's figures. */
static bool current_values_fit(struct search *search, struct fit_option *option)
{
    struct layer_case layer;
    struct error ignored = {0};
    enum config_verdict verdict;
    size_t constraint;

    if (scenario_evaluate(search->evaluator, search->values, &verdict, &constraint, &layer, &ignored) != STATUS_OK ||
        verdict != CONFIG_OK)
        return false;
    for (uint32_t k = 0; k < layer.kernel_count; k++) {
        struct occupancy occupancy;

        if (layer.kernels[k].skipped)
            continue;
        occupancy_compute(search->limits, &layer.kernels[k].launch, &occupancy);
        if (occupancy.fault != LAUNCH_FAULT_NONE || occupancy.ctas_per_sm == 0)
            return false;
        if (k == 0) {
            option->smem_bytes = occupancy.smem_requested_bytes;
            option->ctas_per_sm = occupancy.ctas_per_sm;
        }
    }
    return true;
}

/* Keeps the nearest; equal distances stay in the order found. */
static void keep(struct fit_advice *advice, const struct fit_option *option)
{
    size_t place = advice->count;

    while (place > 0 && advice->options[place - 1].distance > option->distance)
        place--;
    if (place == FIT_ADVICE_MAX)
        return;
    size_t moved = advice->count == FIT_ADVICE_MAX ? FIT_ADVICE_MAX - 1 - place : advice->count - place;

    memmove(&advice->options[place + 1], &advice->options[place], moved * sizeof *option);
    advice->options[place] = *option;
    if (advice->count < FIT_ADVICE_MAX)
        advice->count++;
}

/* Place of value in the knob's list; for a value outside it, of the nearest one. */
static uint32_t list_place(const struct scenario_variable *knob, double value)
{
    uint32_t nearest = 0;

    for (uint32_t i = 1; i < knob->value_count; i++)
        if (fabs(knob->values[i] - value) < fabs(knob->values[nearest] - value))
            nearest = i;
    return nearest;
}

/* Sets the knob to each of its other listed values in turn; with depth left, changes a later knob as well. */
static void try_knob(struct search *search, size_t knob_index, const struct fit_option *so_far, unsigned depth)
{
    const struct scenario_variable *knob = scenario_variable_get(search->scenario, knob_index);
    double original = search->values[knob_index];
    uint32_t place = list_place(knob, original);

    for (uint32_t i = 0; i < knob->value_count; i++) {
        struct fit_option option = *so_far;

        if (knob->values[i] == original)
            continue;
        search->values[knob_index] = knob->values[i];
        option.changes[option.change_count++] = (struct fit_change){knob_index, knob->values[i]};
        option.distance += i > place ? i - place : place - i;
        if (depth > 0) {
            for (size_t other = knob_index + 1; other < scenario_knob_count(search->scenario); other++)
                try_knob(search, other, &option, depth - 1);
        } else if (search->tries >= FIT_ADVICE_TRIES_MAX) {
            search->advice->truncated = true;
        } else {
            search->tries++;
            if (current_values_fit(search, &option))
                keep(search->advice, &option);
        }
    }
    search->values[knob_index] = original;
}

enum status fit_advice_find(const struct scenario *scenario, struct scenario_evaluator *evaluator,
                            const struct gpu_limits *limits, const double *values, struct fit_advice *advice,
                            struct error *error)
{
    struct search search = {.scenario = scenario, .evaluator = evaluator, .limits = limits, .advice = advice};
    const struct fit_option none = {0};
    enum config_verdict verdict;
    size_t constraint;

    memset(advice, 0, sizeof *advice);
    memcpy(search.values, values, scenario_variable_count(scenario) * sizeof *values);
    for (unsigned depth = 0; depth < FIT_ADVICE_CHANGES_MAX && advice->count == 0; depth++)
        for (size_t knob = 0; knob < scenario_knob_count(scenario); knob++)
            try_knob(&search, knob, &none, depth);
    /* Leave the evaluator at the configuration that was asked about. */
    return scenario_evaluate(evaluator, values, &verdict, &constraint, NULL, error);
}

const char *fit_option_text(const struct scenario *scenario, const struct fit_option *option, char *out,
                            size_t out_size)
{
    size_t used = 0;
    char number[32];

    out[0] = '\0';
    for (uint32_t i = 0; i < option->change_count && used < out_size; i++) {
        int added = snprintf(out + used, out_size - used, "%s%s=%s", i == 0 ? "" : " and ",
                             scenario_variable_get(scenario, option->changes[i].knob)->name,
                             number_format(option->changes[i].value, number));

        used += added > 0 ? (size_t)added : 0;
    }
    return out;
}
