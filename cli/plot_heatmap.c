/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `heatmap`: predicted time over two knobs; cells that cannot run are hatched, with the reason. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/plot_table.h"

enum {
    CELLS_MAX = 1024,
    SIDE_MAX = 64,
    REASONS_MAX = 8, /* the last stands for all others */
    LABELLED_CELLS_MAX = 160,
    COLUMNS_FOR_DIGITS = 16
};

struct heat {
    struct figure_sheet *sheet;
    size_t x, y; /* variables */
    size_t cell_count, forbidden_count, reason_count;
    double *boxes[4], *shades, *forbidden[4]; /* x_lo, x_hi, y_lo, y_hi */
    unsigned char reason_of[CELLS_MAX];
    const char *reasons[REASONS_MAX];
    size_t counts[REASONS_MAX];
    double best;
    double best_x, best_y;
};

/* The two knobs with the most listed values that still make a readable map, the larger one along x. */
static enum status choose(const struct plot_request *request, struct heat *heat, struct error *error)
{
    const struct scenario *scenario = request->question->scenario;
    size_t order[2] = {SIZE_MAX, SIZE_MAX};

    for (int place = 0; place < 2; place++)
        for (size_t k = 0; k < scenario_knob_count(scenario); k++) {
            const uint32_t count = scenario_variable_get(scenario, k)->value_count;

            if (k == order[0] || count < 2 || count > SIDE_MAX)
                continue;
            if (place == 1 && count * scenario_variable_get(scenario, order[0])->value_count > CELLS_MAX)
                continue;
            if (order[place] == SIZE_MAX || count > scenario_variable_get(scenario, order[place])->value_count)
                order[place] = k;
        }
    heat->x = order[0];
    heat->y = order[1];
    enum status status = STATUS_OK;
    if (request->x_variable != NULL)
        status = plot_variable(request->question, request->x_variable, &heat->x, error);
    if (status == STATUS_OK && request->y_variable != NULL)
        status = plot_variable(request->question, request->y_variable, &heat->y, error);
    if (status != STATUS_OK)
        return status;
    if (request->x_variable != NULL && request->y_variable == NULL && heat->x == heat->y)
        heat->y = order[0];
    if (heat->y != SIZE_MAX && request->y_variable != NULL && request->x_variable == NULL && heat->x == heat->y)
        heat->x = order[1];
    if (heat->x == SIZE_MAX || heat->y == SIZE_MAX)
        return error_set(error, STATUS_DOMAIN, "%s has no two knobs with several values", scenario_name(scenario));
    if (heat->x == heat->y)
        return error_set(error, STATUS_USAGE, "--x and --y name the same variable");
    return STATUS_OK;
}

/* The same reason in every cell it holds for: without the cell's own numbers. */
static const char *reason_text(struct figure_sheet *sheet, const struct prediction *prediction)
{
    for (uint32_t k = 0; prediction->has_layer && k < prediction->layer.kernel_count; k++)
        if (!prediction->layer.kernels[k].skipped && prediction->occupancy[k].fault != LAUNCH_FAULT_NONE &&
            strncmp(prediction->reason, "the scenario requires", 21) != 0)
            return sheet_text(sheet, "kernel %s: %s", prediction->layer.kernels[k].name,
                              launch_fault_text(prediction->occupancy[k].fault));
    return sheet_text(sheet, "%s", prediction->reason);
}

static unsigned char reason_index(struct heat *heat, const char *text)
{
    size_t i = 0;

    while (i < heat->reason_count && strcmp(heat->reasons[i], text) != 0)
        i++;
    if (i == REASONS_MAX) {
        i = REASONS_MAX - 1;
        heat->reasons[i] = "other reasons";
    } else if (i == heat->reason_count) {
        heat->reasons[heat->reason_count++] = text;
    }
    heat->counts[i]++;
    return (unsigned char)i;
}

static void set_box(double *const boxes[4], size_t n, double x, double y)
{
    boxes[0][n] = x - 0.5;
    boxes[1][n] = x + 0.5;
    boxes[2][n] = y - 0.5;
    boxes[3][n] = y + 0.5;
}

static enum status add_cell(struct question *question, struct heat *heat, const double *values, double x, double y,
                            struct error *error)
{
    struct prediction prediction;
    double base[QUESTION_VALUES_MAX];

    question_values_at(question, question->base, question_concurrency(question, values), base);
    enum status status = prediction_make(question, values, base, &prediction, error);
    if (status != STATUS_OK)
        return status;
    if (!prediction.has_time) {
        set_box(heat->forbidden, heat->forbidden_count, x, y);
        heat->reason_of[heat->forbidden_count++] = reason_index(heat, reason_text(heat->sheet, &prediction));
        return STATUS_OK;
    }
    const double time_us = prediction.time.time_s / SECONDS_PER_US;
    set_box(heat->boxes, heat->cell_count, x, y);
    heat->shades[heat->cell_count++] = time_us;
    if (heat->cell_count == 1 || time_us < heat->best) {
        heat->best = time_us;
        heat->best_x = x;
        heat->best_y = y;
    }
    return STATUS_OK;
}

static enum status fill_cells(const struct plot_request *request, struct heat *heat, struct error *error)
{
    const struct scenario *scenario = request->question->scenario;
    const struct scenario_variable *x = scenario_variable_get(scenario, heat->x);
    const struct scenario_variable *y = scenario_variable_get(scenario, heat->y);
    double values[QUESTION_VALUES_MAX];
    char number[32];
    enum status status = STATUS_OK;

    if (x->value_count > SIDE_MAX || y->value_count > SIDE_MAX || x->value_count * y->value_count > CELLS_MAX)
        return error_set(error, STATUS_LIMIT, "%s by %s has more than %d cells", x->name, y->name, CELLS_MAX);
    if (!request->question->timed) {
        *error = request->question->untimed;
        return error->status;
    }
    memcpy(values, request->question->values, sizeof values);
    for (uint32_t i = 0; i < x->value_count; i++)
        sheet_add_x_tick(heat->sheet, i, sheet_text(heat->sheet, "%s", number_format(x->values[i], number)));
    for (uint32_t k = 0; k < y->value_count; k++) {
        sheet_add_y_tick(heat->sheet, k, sheet_text(heat->sheet, "%s", number_format(y->values[k], number)));
        for (uint32_t i = 0; i < x->value_count && status == STATUS_OK; i++) {
            values[heat->x] = x->values[i];
            values[heat->y] = y->values[k];
            status = add_cell(request->question, heat, values, i, k, error);
        }
    }
    return status;
}

static void add_inside(struct heat *heat, double *const boxes[4], size_t n, const char *text, enum label_ground ground)
{
    sheet_add_label(heat->sheet, 0.5 * (boxes[0][n] + boxes[1][n]), 0.5 * (boxes[2][n] + boxes[3][n]), text);
    if (heat->sheet->figure.label_count > 0) {
        struct figure_label *label = &heat->sheet->labels[heat->sheet->figure.label_count - 1];

        label->inside = true;
        label->ground = ground;
    }
}

/* Whether there is room for it. */
static bool label_cells(struct heat *heat)
{
    double least = (double)INFINITY, most = 0.0;
    char number[32];

    if (heat->cell_count + heat->forbidden_count > LABELLED_CELLS_MAX ||
        heat->sheet->figure.x_tick_count > COLUMNS_FOR_DIGITS)
        return false;
    for (size_t i = 0; i < heat->cell_count; i++) {
        least = fmin(least, heat->shades[i]);
        most = fmax(most, heat->shades[i]);
    }
    for (size_t i = 0; i < heat->cell_count; i++)
        add_inside(heat, heat->boxes, i,
                   sheet_text(heat->sheet, "%s%s", number_format_digits(heat->shades[i], 3, number),
                              heat->shades[i] <= heat->best ? " *" : ""),
                   heat->shades[i] < least + 0.6 * (most - least) ? LABEL_ON_DARK : LABEL_ON_BRIGHT);
    for (size_t i = 0; i < heat->forbidden_count; i++)
        add_inside(heat, heat->forbidden, i, sheet_text(heat->sheet, "%c", 'a' + heat->reason_of[i]), LABEL_ON_PAPER);
    return true;
}

static const char *caption(struct heat *heat, bool labelled)
{
    char number[32];
    const char *text =
        heat->cell_count == 0
            ? "Nothing here can run."
            : sheet_text(heat->sheet, "Least%s: %s us at %s=%s, %s=%s.", labelled ? " (*)" : "",
                         number_format_digits(heat->best, 4, number), heat->sheet->figure.x_label,
                         heat->sheet->figure.x_ticks[(size_t)heat->best_x].label, heat->sheet->figure.y_label,
                         heat->sheet->figure.y_ticks[(size_t)heat->best_y].label);

    for (size_t i = 0; i < heat->reason_count; i++)
        text = sheet_text(heat->sheet, "%s %s%c (%zu cell%s): %s.", text, i == 0 ? "Hatched: " : "", (char)('a' + i),
                          heat->counts[i], heat->counts[i] == 1 ? "" : "s", heat->reasons[i]);
    return text;
}

enum status plot_heatmap(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    struct heat *heat = sheet_memory(sheet, sizeof *heat);
    enum status status = sheet_check(sheet, error);

    if (status != STATUS_OK)
        return status;
    heat->sheet = sheet;
    heat->shades = sheet_numbers(sheet, CELLS_MAX);
    for (int i = 0; i < 4; i++) {
        heat->boxes[i] = sheet_numbers(sheet, CELLS_MAX);
        heat->forbidden[i] = sheet_numbers(sheet, CELLS_MAX);
    }
    status = sheet_check(sheet, error);
    if (status == STATUS_OK)
        status = choose(request, heat, error);
    if (status == STATUS_OK)
        status = fill_cells(request, heat, error);
    if (status != STATUS_OK)
        return status;
    const bool labelled = label_cells(heat);
    sheet_add_series(sheet, (struct figure_series){.label = "",
                                                   .style = SERIES_STYLE_BOXES,
                                                   .count = heat->cell_count,
                                                   .x_lo = heat->boxes[0],
                                                   .x_hi = heat->boxes[1],
                                                   .y_lo = heat->boxes[2],
                                                   .y_hi = heat->boxes[3],
                                                   .shade = heat->shades});
    sheet_add_series(sheet, (struct figure_series){.label = "cannot run",
                                                   .style = SERIES_STYLE_BOXES,
                                                   .count = heat->forbidden_count,
                                                   .x_lo = heat->forbidden[0],
                                                   .x_hi = heat->forbidden[1],
                                                   .y_lo = heat->forbidden[2],
                                                   .y_hi = heat->forbidden[3],
                                                   .hatched = true});
    const struct scenario *scenario = request->question->scenario;
    sheet->figure.x_label = scenario_variable_get(scenario, heat->x)->name;
    sheet->figure.y_label = scenario_variable_get(scenario, heat->y)->name;
    sheet->figure.shade_label = "time of a layer (us)";
    plot_describe(sheet, request->question,
                  sheet_text(sheet, "time over %s and %s", sheet->figure.x_label, sheet->figure.y_label),
                  sheet_text(sheet, "Predicted: %s. %s",
                             plot_changes(sheet, request->question, request->question->values),
                             caption(heat, labelled)));
    return sheet_check(sheet, error);
}
