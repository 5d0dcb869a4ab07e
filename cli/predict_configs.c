/* SPDX-License-Identifier: GPL-3.0-or-later
 * Many configurations through one opened question. */
#include "cli/predict_configs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/prediction.h"
#include "cli/report.h"

enum {
    COLUMNS_MAX = QUESTION_VALUES_MAX,
    ASSIGNMENT_SIZE = 512,
    BLOCK_BYTES = 65536
};

/* --- the list ------------------------------------------------------------------------------------------------------
 */

static enum status read_standard_input(struct csv_table *table, struct error *error)
{
    struct text_buffer text = {0};
    char block[BLOCK_BYTES];
    size_t got;
    enum status status = STATUS_OK;

    while (text.length <= CONFIGS_BYTES_MAX && (got = fread(block, 1, sizeof block, stdin)) > 0)
        text_buffer_append_bytes(&text, block, got);
    if (text.failed)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for the configurations");
    else if (ferror(stdin))
        status = error_set(error, STATUS_IO, "standard input cannot be read");
    else if (text.length > CONFIGS_BYTES_MAX)
        status = error_set(error, STATUS_LIMIT, "more than %d bytes of configurations", CONFIGS_BYTES_MAX);
    else
        status = csv_parse(text.text != NULL ? text.text : "", text.length, "standard input", table, error);
    text_buffer_release(&text);
    return status;
}

/* Places of the columns among the scenario's variables. */
static enum status match_columns(const struct question *question, const struct csv_table *table, size_t *places,
                                 struct error *error)
{
    if (table->row_count > CONFIGS_MAX)
        return error_set_at(error, STATUS_LIMIT, table->file, 0, 0, "more than %d configurations", CONFIGS_MAX);
    if (table->column_count > COLUMNS_MAX)
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0, "more columns than a scenario has variables");
    for (size_t column = 0; column < table->column_count; column++) {
        size_t variable = 0, count = scenario_variable_count(question->scenario);

        while (variable < count &&
               strcmp(scenario_variable_get(question->scenario, variable)->name, table->names[column]) != 0)
            variable++;
        if (variable == count)
            return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0,
                                "column %s is no knob or workload variable of %s", table->names[column],
                                scenario_name(question->scenario));
        places[column] = variable;
    }
    return STATUS_OK;
}

/* The row's values; a value that the scenario does not list is said in reason (then the row has no answer). */
static enum status take_row(const struct question *question, const struct csv_table *table, size_t row,
                            const size_t *places, bool free_values, double *values, char *reason, size_t reason_size,
                            struct error *error)
{
    char assignment[ASSIGNMENT_SIZE];
    double number;

    for (size_t column = 0; column < table->column_count; column++) {
        struct error refused = {0};
        enum status status = csv_number(table, row, column, &number, error);

        if (status != STATUS_OK)
            return status;
        (void)snprintf(assignment, sizeof assignment, "%s=%s",
                       scenario_variable_get(question->scenario, places[column])->name, csv_cell(table, row, column));
        if (scenario_set_value(question->scenario, assignment, free_values, values, &refused) == STATUS_OK)
            continue;
        values[places[column]] = number; /* what the row says, to be told with the reason */
        if (reason[0] == '\0')
            (void)snprintf(reason, reason_size, "%s", refused.text);
    }
    return STATUS_OK;
}

/* --- the answer ----------------------------------------------------------------------------------------------------
 */

struct row_answer {
    bool known; /* feasible or not; otherwise reason says why it cannot be told */
    const char *reason;
    const struct prediction *prediction; /* NULL where not known */
};

static void record_times(struct report *report, const struct prediction *prediction)
{
    bool timed = prediction != NULL && prediction->feasible && prediction->has_time;
    const struct layer_time *time = timed ? &prediction->time : NULL;

    report_number(report, "kernel_time_us", timed ? time->time_s / SECONDS_PER_US : (double)NAN);
    report_number(report, "kernel_time_lo_us", timed ? time->time_lo_s / SECONDS_PER_US : (double)NAN);
    report_number(report, "kernel_time_hi_us", timed ? time->time_hi_s / SECONDS_PER_US : (double)NAN);
    report_string(report, "limiter", timed ? time_limiter_name(time->limiter) : NULL);
    report_bool(report, "extrapolating", prediction != NULL && prediction->extrapolating);
}

static void record_row(struct report *report, const struct question *question, size_t row, const double *values,
                       const struct row_answer *answer)
{
    const struct prediction *prediction = answer->prediction;
    bool has_layer = prediction != NULL && prediction->has_layer;
    uint32_t first = has_layer ? prediction_first_kernel(&prediction->layer) : 0;

    report_begin_object(report, NULL);
    report_integer(report, "row", (int64_t)row + 1);
    for (size_t i = 0; i < scenario_variable_count(question->scenario); i++)
        report_number(report, scenario_variable_get(question->scenario, i)->name, values[i]);
    report_string(report, "verdict", !answer->known ? "unknown" : prediction->feasible ? "feasible" : "infeasible");
    report_string(report, "reason", answer->reason);
    report_number(report, "smem_bytes",
                  has_layer ? (double)prediction->occupancy[first].smem_requested_bytes : (double)NAN);
    report_number(report, "registers_per_thread",
                  has_layer ? prediction->layer.kernels[first].launch.registers_per_thread : (double)NAN);
    report_number(report, "ctas_per_sm", has_layer ? prediction->occupancy[first].ctas_per_sm : (double)NAN);
    record_times(report, prediction);
    report_end(report);
}

/* One row. Expressions that fail for its values make it unknown, not the list wrong. */
static void answer_row(struct question *question, size_t row, const double *values, const char *reason,
                       struct report *report)
{
    struct prediction prediction;
    struct error failed = {0};
    struct row_answer answer = {.reason = reason};
    const bool timed = question->timed;
    const struct error untimed = question->untimed;

    if (reason[0] == '\0') {
        question_set_values(question, values);
        /* Each row is its own base: no effect against another configuration is asked for. */
        answer.known = prediction_make(question, values, values, &prediction, &failed) == STATUS_OK;
        answer.reason = answer.known ? prediction.reason : failed.text;
        if (answer.known)
            answer.prediction = &prediction;
        if (answer.known && prediction.feasible && !prediction.has_time)
            answer.reason = question->untimed.text;
    }
    record_row(report, question, row, values, &answer);
    /* A kernel that cannot be timed is this row's trouble alone. */
    question->timed = timed;
    question->untimed = untimed;
}

static enum status answer_table(struct question *question, const struct csv_table *table, bool free_values,
                                struct report *report, struct error *error)
{
    const size_t count = scenario_variable_count(question->scenario);
    double asked[QUESTION_VALUES_MAX], values[QUESTION_VALUES_MAX];
    size_t places[COLUMNS_MAX];
    enum status status = match_columns(question, table, places, error);

    memcpy(asked, question->values, count * sizeof *asked);
    question->serving.present = false; /* the list is about the kernels */
    report_string(report, "scenario", scenario_name(question->scenario));
    report_string(report, "device", question->device->name);
    report_string(report, "calibration", question->parameters.calibration);
    report_number(report, "interval_level", question->level);
    report_begin_rows(report, "configs");
    for (size_t row = 0; row < table->row_count && status == STATUS_OK; row++) {
        char reason[sizeof error->text] = "";

        memcpy(values, asked, count * sizeof *values);
        status = take_row(question, table, row, places, free_values, values, reason, sizeof reason, error);
        if (status == STATUS_OK)
            answer_row(question, row, values, reason, report);
    }
    report_end(report);
    return status;
}

static enum status print_text(const struct report *report, struct error *error)
{
    static const struct report_column columns[] = {
        {"row", "row", 6},
        {"verdict", "verdict", 0},
        {"smem_bytes", "SMEM B", 9},
        {"ctas_per_sm", "CTAs/SM", 4},
        {"kernel_time_us", "kernel us", 4},
        {"kernel_time_lo_us", "from", 4},
        {"kernel_time_hi_us", "to", 4},
        {"reason", "why", 0},
    };

    return report_print_table(report, "configs", columns, sizeof columns / sizeof columns[0], stdout, error);
}

enum status predict_configs(struct question *question, const char *path, bool free_values, enum output_format format,
                            struct error *error)
{
    struct csv_table table = {0};
    struct report report = {0};
    enum status status =
        strcmp(path, "-") == 0 ? read_standard_input(&table, error) : csv_read(path, CONFIGS_BYTES_MAX, &table, error);

    if (status == STATUS_OK)
        status = answer_table(question, &table, free_values, &report, error);
    if (status == STATUS_OK)
        status = format == OUTPUT_FORMAT_TEXT ? print_text(&report, error)
                                              : report_print(&report, format, "configs", stdout, error);
    report_release(&report);
    csv_table_release(&table);
    return status;
}
