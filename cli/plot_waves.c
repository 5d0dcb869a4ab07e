/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `waves`: a knob that changes the grid against waves, rounds, tail and predicted time. */
#include <math.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/plot_table.h"

enum {
    POINTS_MAX = SCENARIO_KNOB_VALUES_MAX,
    TAIL_LABELS_MAX = 16
};

static uint64_t grid_at(struct question *question, size_t knob, double value)
{
    double values[QUESTION_VALUES_MAX];
    enum config_verdict verdict;
    size_t constraint;
    struct layer_case layer;
    struct error ignored = {0};

    memcpy(values, question->values, sizeof values);
    values[knob] = value;
    if (scenario_evaluate(question->evaluator, values, &verdict, &constraint, &layer, &ignored) != STATUS_OK ||
        verdict != CONFIG_OK)
        return 0;
    return layer.kernels[prediction_first_kernel(&layer)].launch.grid_ctas;
}

/* The knob under which the grid takes the most different values next to each other. */
static enum status choose_knob(const struct plot_request *request, size_t *knob, struct error *error)
{
    struct question *question = request->question;
    size_t best = 0;

    if (request->x_variable != NULL)
        return plot_variable(question, request->x_variable, knob, error);
    for (size_t k = 0; k < scenario_knob_count(question->scenario); k++) {
        const struct scenario_variable *variable = scenario_variable_get(question->scenario, k);
        uint64_t previous = 0;
        size_t changes = 0;

        for (uint32_t i = 0; i < variable->value_count; i++) {
            uint64_t grid = grid_at(question, k, variable->values[i]);

            changes += grid != 0 && grid != previous;
            previous = grid == 0 ? previous : grid;
        }
        if (changes > best) {
            best = changes;
            *knob = k;
        }
    }
    if (best < 2)
        return error_set(error, STATUS_DOMAIN, "no knob of %s changes the grid: name one with --x",
                         scenario_name(question->scenario));
    return STATUS_OK;
}

struct wave_columns {
    size_t count;
    double *x, *time, *time_lo, *time_hi, *waves, *rounds;
};

static enum status fill(const struct plot_request *request, size_t knob, struct figure_sheet *sheet,
                        struct wave_columns *columns, struct error *error)
{
    struct question *question = request->question;
    const struct scenario_variable *variable = scenario_variable_get(question->scenario, knob);
    double values[QUESTION_VALUES_MAX];
    struct prediction prediction;

    memcpy(values, question->values, sizeof values);
    for (uint32_t i = 0; i < variable->value_count; i++) {
        const size_t n = columns->count;
        struct error infeasible = {0};

        values[knob] = variable->values[i];
        enum status status = plot_predict_feasible(question, values, &prediction, &infeasible);
        if (status == STATUS_DOMAIN)
            continue;
        if (status != STATUS_OK) {
            *error = infeasible;
            return status;
        }
        const struct kernel_time *first = &prediction.time.kernels[prediction_first_kernel(&prediction.layer)];

        columns->x[n] = variable->values[i];
        columns->time[n] = prediction.time.time_s / SECONDS_PER_US;
        columns->time_lo[n] = prediction.time.time_lo_s / SECONDS_PER_US;
        columns->time_hi[n] = prediction.time.time_hi_s / SECONDS_PER_US;
        columns->waves[n] = first->waves.waves;
        columns->rounds[n] = (double)first->waves.rounds;
        if (n < TAIL_LABELS_MAX)
            sheet_add_label(sheet, columns->x[n], columns->time[n],
                            first->waves.tail_ctas == 0
                                ? "full"
                                : sheet_text(sheet, "tail %llu", (unsigned long long)first->waves.tail_ctas));
        columns->count++;
    }
    if (columns->count == 0)
        return error_set(error, STATUS_DOMAIN, "no value of %s can run", variable->name);
    return STATUS_OK;
}

enum status plot_waves(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    struct wave_columns columns = {0};
    size_t knob = 0;
    enum status status = choose_knob(request, &knob, error);

    if (status != STATUS_OK)
        return status;
    double **const members[] = {&columns.x,       &columns.time,  &columns.time_lo,
                                &columns.time_hi, &columns.waves, &columns.rounds};
    const struct scenario_variable *variable = scenario_variable_get(request->question->scenario, knob);

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        *members[i] = sheet_numbers(sheet, variable->value_count);
    status = sheet_check(sheet, error);
    if (status == STATUS_OK)
        status = fill(request, knob, sheet, &columns, error);
    if (status != STATUS_OK)
        return status;
    sheet_add_series(sheet, (struct figure_series){.label = "time of a layer (left)",
                                                   .style = SERIES_STYLE_LINE_POINTS,
                                                   .count = columns.count,
                                                   .x = columns.x,
                                                   .y = columns.time,
                                                   .color_index = PLOT_COLOR_BASE});
    sheet_add_series(sheet, (struct figure_series){.label = "rounds (right)",
                                                   .style = SERIES_STYLE_LINE_POINTS,
                                                   .count = columns.count,
                                                   .x = columns.x,
                                                   .y = columns.rounds,
                                                   .second_axis = true,
                                                   .color_index = PLOT_COLOR_VARIANT});
    sheet_add_series(sheet, (struct figure_series){.label = "waves: grid / slots (right)",
                                                   .style = SERIES_STYLE_DASHED,
                                                   .count = columns.count,
                                                   .x = columns.x,
                                                   .y = columns.waves,
                                                   .second_axis = true,
                                                   .color_index = PLOT_COLOR_BEST});
    sheet->figure.x_label = variable->name;
    sheet->figure.y_label = "time of a layer (us)";
    sheet->figure.y2_label = "rounds, waves";
    sheet->figure.y_from_zero = true;
    plot_describe(sheet, request->question, sheet_text(sheet, "waves over %s", variable->name),
                  sheet_text(sheet,
                             "Predicted: %s. Rounds above waves: the last round is not full; at the points, the "
                             "CTAs of that tail.",
                             plot_changes(sheet, request->question, request->question->values)));
    return sheet_check(sheet, error);
}
