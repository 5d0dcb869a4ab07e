/* SPDX-License-Identifier: GPL-3.0-or-later
 * The table of figures, and what they share. */
#include "cli/plot_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text_buffer.h"

#define OF_SCENARIO "set free device device-file calibration"
#define OF_CURVE    OF_SCENARIO " form level concurrency measured series experts experts-per-token itl-limit-ms variant"

const struct plot_row plot_table[] = {
    {"throughput", PLOT_NEEDS_SCENARIO, OF_CURVE, plot_throughput},
    {"step-time", PLOT_NEEDS_SCENARIO, OF_CURVE, plot_step_time},
    {"occupancy-registers", PLOT_NEEDS_SCENARIO, OF_SCENARIO, plot_occupancy_registers},
    {"occupancy-smem", PLOT_NEEDS_SCENARIO, OF_SCENARIO, plot_occupancy_smem},
    {"waves", PLOT_NEEDS_SCENARIO, OF_SCENARIO " x", plot_waves},
    {"timeline", PLOT_NEEDS_EITHER, OF_SCENARIO, plot_timeline},
    {"roofline", PLOT_NEEDS_SCENARIO, OF_SCENARIO, plot_roofline},
    {"limiters", PLOT_NEEDS_SCENARIO, OF_SCENARIO " concurrency", plot_limiters},
    {"heatmap", PLOT_NEEDS_SCENARIO, OF_SCENARIO " x y", plot_heatmap},
    {"parity", PLOT_NEEDS_FILES, "", plot_parity},
    {"errors", PLOT_NEEDS_FILES, "", plot_errors},
    {"saturation", PLOT_NEEDS_FILES, "device device-file", plot_saturation},
    {"regret", PLOT_NEEDS_FILES, "", plot_regret},
    {"scorecard", PLOT_NEEDS_LEDGER, "ledger", plot_scorecard},
};
const size_t plot_count = sizeof plot_table / sizeof plot_table[0];

enum status plot_find(const char *name, const struct plot_row **row, struct error *error)
{
    const char *names[sizeof plot_table / sizeof plot_table[0]];

    for (size_t i = 0; i < plot_count; i++) {
        *row = &plot_table[i];
        names[i] = plot_table[i].name;
        if (strcmp(plot_table[i].name, name) == 0)
            return STATUS_OK;
    }
    (void)error_set(error, STATUS_USAGE, "unknown figure \"%s\" (occam help plot lists them)", name);
    near_names_append(error, name, names, plot_count);
    return STATUS_USAGE;
}

const char *plot_changes(struct figure_sheet *sheet, const struct question *question, const double *values)
{
    const char *text = "";
    char number[32];

    for (size_t i = 0; i < scenario_knob_count(question->scenario); i++)
        if (values[i] != question->base[i])
            text = sheet_text(sheet, "%s%s%s=%s", text, *text == '\0' ? "" : " ",
                              scenario_variable_get(question->scenario, i)->name, number_format(values[i], number));
    return *text == '\0' ? "base" : text;
}

const char *plot_date(struct figure_sheet *sheet)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = time(NULL);
    double given;
    struct tm day;

    if (epoch != NULL && number_parse(epoch, &given) == STATUS_OK && given >= 0.0 && given < 1e12)
        now = (time_t)given;
    if (gmtime_r(&now, &day) == NULL)
        return "";
    return sheet_text(sheet, "%04d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

void plot_describe(struct figure_sheet *sheet, const struct question *question, const char *what, const char *remark)
{
    sheet->figure.title = sheet_text(sheet, "%s: %s", scenario_name(question->scenario), what);
    sheet->figure.caption =
        sheet_text(sheet, "%s%s%s; model parameters: %s; drawn %s.", remark, *remark == '\0' ? "" : " ",
                   question->device->title, question->parameters.calibration, plot_date(sheet));
}

enum status plot_variable(const struct question *question, const char *name, size_t *index, struct error *error)
{
    const char *names[QUESTION_VALUES_MAX];
    long found = scenario_variable_find(question->scenario, name);
    size_t count = scenario_variable_count(question->scenario);

    if (found >= 0) {
        *index = (size_t)found;
        return STATUS_OK;
    }
    for (size_t i = 0; i < count; i++)
        names[i] = scenario_variable_get(question->scenario, i)->name;
    (void)error_set(error, STATUS_USAGE, "%s has no variable \"%s\"", scenario_name(question->scenario), name);
    near_names_append(error, name, names, count);
    return STATUS_USAGE;
}

enum status plot_predict_feasible(struct question *question, const double *values, struct prediction *prediction,
                                  struct error *error)
{
    double base[QUESTION_VALUES_MAX];
    enum status status;

    if (!question->timed) {
        *error = question->untimed;
        return error->status;
    }
    question_values_at(question, question->base, question_concurrency(question, values), base);
    status = prediction_make(question, values, base, prediction, error);
    if (status == STATUS_OK && !prediction->has_time)
        status = error_set(error, STATUS_DOMAIN, "the configuration cannot run: %s",
                           prediction->reason[0] != '\0' ? prediction->reason : question->untimed.text);
    return status;
}
