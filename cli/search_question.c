/* SPDX-License-Identifier: GPL-3.0-or-later
 * A scenario's space, opened for a search; runs out of tables; proposals into reports. */
#include "cli/search_question.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "calibrate/measured_rows.h"
#include "cli/measured_points.h"
#include "cli/prediction.h"

enum {
    FILE_BYTES_MAX = 256 << 20
};
/* Of one token among all requests: beyond these no throughput is. */
#define TOKEN_LEAST_S 1e-12
#define TOKEN_MOST_S  1e6

void search_question_options_init(struct search_question_options *options)
{
    *options = (struct search_question_options){
        .compile_s = 2, .repeats = 100, .stop_percent = 1, .level = SEARCH_LEVEL_DEFAULT, .seed = 1};
}

enum status search_question_ask(struct question *question, const char *scenario_path,
                                struct question_options *question_options, struct search_question_options *options,
                                struct error *error)
{
    options->level = isnan(question_options->level) ? SEARCH_LEVEL_DEFAULT : question_options->level;
    question_options->level = QUESTION_LEVEL_DEFAULT;
    return question_open_timed(question, scenario_path, question_options, error);
}

/* "time", "learn", "throughput" or "throughput@C=96". */
static enum status read_objective(struct search_question *self, const char *text, struct error *error)
{
    static const char prefix[] = "throughput";
    const struct question *question = self->question;
    if (text == NULL || strcmp(text, "time") == 0) {
        return STATUS_OK;
    }
    if (strcmp(text, "learn") == 0) {
        self->options.objective = SEARCH_OBJECTIVE_LEARN;
        return STATUS_OK;
    }
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) {
        return error_set(error, STATUS_USAGE, "objective \"%s\" is none of time, throughput@C=N, learn", text);
    }
    self->is_throughput = true;
    self->concurrency = question_concurrency(question, question->values);
    return text[sizeof prefix - 1] == '\0' ? STATUS_OK
                                           : question_read_throughput_at(question, text, &self->concurrency, error);
}

static enum status take_costs(struct search_question *self, const struct search_question_options *options,
                              struct error *error)
{
    const struct search_scenario *space = &self->space;
    self->costs_s = malloc(space->count * sizeof *self->costs_s);
    if (self->costs_s == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu costs", space->count);
    }
    for (size_t c = 0; c < space->count; c++) {
        const double run_s = self->is_throughput ? 0 : exp(space->log_values[c]) * (double)options->repeats;
        self->costs_s[c] = fmax(options->compile_s + options->restart_s + run_s, 1e-6);
    }
    return STATUS_OK;
}

static enum status take_replay(struct search_question *self, const char *path, struct error *error);

static enum status narrow(struct search_question *self, const struct search_question_options *options,
                          struct error *error)
{
    struct search_scenario *space = &self->space;
    bool *keep = malloc(space->count);
    if (keep == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu configurations", space->count);
    }
    memset(keep, 1, space->count);
    enum status status = options->narrow(options->narrow_context, space, keep, error);
    const size_t before = space->count;
    if (status == STATUS_OK && memchr(keep, 0, before) != NULL) {
        status = search_scenario_keep(space, keep, error);
        space->infeasible_count += before - space->count;
    }
    free(keep);
    return status;
}

/* Variables that describe what is not known rather than what is chosen are not searched. */
static enum status take_unsettled(struct search_question *self, const char *names, struct error *error)
{
    const struct scenario *scenario = self->question->scenario;
    bool is_unsettled[CONFIG_VARIABLES_MAX] = {false};
    const bool all_knobs = self->varied_count == 0;
    uint32_t kept = 0;
    enum status status = config_space_parse_names(scenario, names, self->unsettled, &self->unsettled_count, error);
    for (uint32_t i = 0; i < self->unsettled_count && status == STATUS_OK; i++) {
        const struct scenario_variable *variable = scenario_variable_get(scenario, self->unsettled[i]);
        if (is_unsettled[self->unsettled[i]] || !variable->is_knob || variable->value_count < 2) {
            status = error_set(error, STATUS_USAGE, "--unsettled %s: %s", variable->name,
                               is_unsettled[self->unsettled[i]] ? "it is named twice"
                               : variable->is_knob              ? "it has one value only"
                                                                : "it is part of the workload");
        }
        is_unsettled[self->unsettled[i]] = true;
    }
    const uint32_t count = all_knobs ? (uint32_t)scenario_knob_count(scenario) : self->varied_count;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const uint32_t variable = all_knobs ? i : self->varied[i];
        if (is_unsettled[variable] && !all_knobs) {
            status = error_set(error, STATUS_USAGE, "%s is to be varied and unsettled",
                               scenario_variable_get(scenario, variable)->name);
        } else if (!is_unsettled[variable]) {
            self->varied[kept++] = variable;
        }
    }
    self->varied_count = kept;
    return status == STATUS_OK && kept == 0
               ? error_set(error, STATUS_USAGE, "--unsettled leaves no knob to be searched")
               : status;
}

struct sweep_request search_question_request(const struct search_question *self)
{
    struct question *question = self->question;
    return (struct sweep_request){.scenario = question->scenario,
                                  .parameters = &question->parameters,
                                  .calibrated = question->calibrated,
                                  .extrapolate_all =
                                      question->other_calibration_device || question->other_calibration_kernel,
                                  .serving = &question->serving,
                                  .values = self->values,
                                  .varied = self->varied,
                                  .varied_count = self->varied_count,
                                  .objective = self->is_throughput ? SWEEP_OBJECTIVE_THROUGHPUT : SWEEP_OBJECTIVE_TIME,
                                  .concurrency = self->concurrency,
                                  .objective_text = "throughput",
                                  .where = self->where,
                                  .top_count = 1};
}

static enum status take_options(struct search_question *self, const struct search_question_options *options,
                                struct error *error)
{
    const struct question *question = self->question;
    search_options_init(&self->options);
    self->options.seed = options->seed;
    self->options.interval_level = options->level;
    self->options.stop_gain = options->stop_percent / 100;
    self->where = options->where;
    enum status status = read_objective(self, options->objective, error);
    if (status == STATUS_OK && options->vary != NULL) {
        status = config_space_parse_names(question->scenario, options->vary, self->varied, &self->varied_count, error);
    }
    if (status == STATUS_OK && options->unsettled != NULL) {
        status = take_unsettled(self, options->unsettled, error);
    }
    question_values_at(question, question->values,
                       self->is_throughput ? self->concurrency : question_concurrency(question, question->values),
                       self->values);
    return status;
}

enum status search_question_open(struct search_question *self, struct question *question,
                                 const struct search_question_options *options, struct error *error)
{
    self->question = question;
    enum status status = take_options(self, options, error);
    if (status != STATUS_OK) {
        return status;
    }
    const struct sweep_request request = search_question_request(self);
    status = search_scenario_init(&self->space, &request, error);
    if (status == STATUS_OK && options->narrow != NULL) {
        status = narrow(self, options, error);
    }
    if (status == STATUS_OK && options->replay != NULL) {
        status = take_replay(self, options->replay, error);
    }
    status = status == STATUS_OK ? take_costs(self, options, error) : status;
    if (status == STATUS_OK) {
        self->options.costs_s = self->costs_s;
        self->options.log_floors = self->is_throughput ? NULL : self->space.log_floors;
        status = search_engine_create(&self->space.space, &self->space.prior, &self->options, &self->engine, error);
    }
    return status;
}

void search_question_release(struct search_question *self)
{
    search_engine_free(self->engine);
    search_scenario_release(&self->space);
    free(self->costs_s);
    free(self->replayed);
    *self = (struct search_question){0};
}

/* --- rows that are left out -----------------------------------------------------------------------------------------
 */

static const char *const absence_names[SEARCH_ABSENCE_COUNT] = {"other_workload", "fixed_knob", "unlisted_value",
                                                                "where", "cannot_launch"};
static const char *const absence_words[SEARCH_ABSENCE_COUNT] = {
    "of another workload", "with another value of a knob that is not varied",
    "with a value that the scenario does not list", "that --where leaves out", "that cannot be launched"};

static bool is_varied(const struct search_question *self, size_t variable)
{
    const struct config_space *configs = &self->space.configs;
    for (uint32_t i = 0; i < configs->varied_count; i++) {
        if (configs->varied[i] == variable) {
            return true;
        }
    }
    return false;
}

/* Which values keep the row out, and what would take it. */
static void describe_absence(const struct search_question *self, const double *values, struct text_buffer *out)
{
    struct text_buffer cure = {0};
    bool is_free = false, has_cure = true;
    for (size_t v = 0; v < self->space.variable_count; v++) {
        const struct scenario_variable *variable = scenario_variable_get(self->question->scenario, v);
        const bool varied = is_varied(self, v);
        char number[32], asked[32];
        if (varied ? scenario_variable_lists(variable, values[v]) : values[v] == self->space.configs.values[v]) {
            continue;
        }
        (void)number_format(values[v], number);
        text_buffer_append_format(out, "%s%s=%s", out->length > 0 ? ", " : "", variable->name, number);
        if (!varied) {
            text_buffer_append_format(out, " where %s is asked", number_format(self->space.configs.values[v], asked));
            text_buffer_append_format(&cure, " -s %s=%s", variable->name, number);
            is_free = is_free || (variable->is_knob && !scenario_variable_lists(variable, values[v]));
        }
        has_cure = has_cure && !varied;
    }
    if (has_cure && cure.length > 0 && !cure.failed) {
        text_buffer_append_format(out, ":%s%s would take it", cure.text, is_free ? " --free" : "");
    }
    text_buffer_release(&cure);
}

void search_question_warn(const struct search_question *self, const char *command)
{
    if (self->doubt[0] != '\0') {
        (void)fprintf(stderr, "occam: %s: warning: %s\n", command, self->doubt);
    }
}

void search_question_leave(struct search_question *self, const double *values, const char *file, unsigned line)
{
    const struct sweep_request request = search_question_request(self);
    const enum search_absence absence = search_scenario_absence(&self->space, &request, values);
    struct search_left *left = &self->left[absence];
    struct text_buffer reason = {0};
    self->other_runs++;
    if (left->count++ > 0) {
        return;
    }
    describe_absence(self, values, &reason);
    const bool has_reason = reason.length > 0 && !reason.failed;
    (void)snprintf(left->first, sizeof left->first, "%.100s:%u%s%s", file, line, has_reason ? ": " : "",
                   has_reason ? reason.text : "");
    text_buffer_release(&reason);
}

const char *search_left_text(const struct search_question *self, bool with_first, char *out, size_t out_size)
{
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; i < SEARCH_ABSENCE_COUNT; i++) {
        const struct search_left *left = &self->left[i];
        if (left->count > 0 && length < out_size) {
            const bool is_lacking = i == SEARCH_ABSENCE_LAUNCH && self->replayed != NULL;
            const int wrote =
                snprintf(out + length, out_size - length, "%s%zu row%s %s%s%s%s%s", length ? ", " : "", left->count,
                         left->count == 1 ? "" : "s", absence_words[i], is_lacking ? " or that the table lacks" : "",
                         with_first ? " (" : "", with_first ? left->first : "", with_first ? ")" : "");
            length += wrote > 0 ? (size_t)wrote : 0;
        }
    }
    return out;
}

void search_record_left(const struct search_question *self, struct report *report)
{
    report_integer(report, "left_out", (int64_t)self->other_runs);
    report_begin_object(report, "left_out_reasons");
    for (int i = 0; i < SEARCH_ABSENCE_COUNT; i++) {
        report_integer(report, absence_names[i], (int64_t)self->left[i].count);
    }
    report_end(report);
}

enum status search_none_taken(const struct search_question *self, const char *path, struct error *error)
{
    char text[1024];
    return self->other_runs == 0
               ? error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "no run in it")
               : error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "no row is of this workload and knob space: %s",
                              search_left_text(self, true, text, sizeof text));
}

/* --- runs out of tables ---------------------------------------------------------------------------------------------
 */

struct run_columns {
    long variables[QUESTION_VALUES_MAX]; /* -1: the table has none */
    long value, outcome, forecast_lo, forecast_hi, device;
    const char *value_name;
    double shown_per_unit; /* us of one in the column, or 1 for tokens/s */
};

/* What a row says of a run. */
struct read_run {
    uint32_t config; /* UINT32_MAX: left out */
    double value;    /* in the engine's unit; NaN: it failed */
};

/* "; add it, or search only what the table has: --vary a,b". */
static enum status lacks_column(const struct search_question *self, const struct csv_table *table,
                                const struct scenario_variable *lacking, struct error *error)
{
    const struct config_space *configs = &self->space.configs;
    struct text_buffer kept = {0};
    for (uint32_t i = 0; i < configs->varied_count; i++) {
        const char *name = scenario_variable_get(configs->scenario, configs->varied[i])->name;
        if (csv_column(table, name) >= 0) {
            text_buffer_append_format(&kept, "%s%s", kept.length > 0 ? "," : "", name);
        }
    }
    const bool has_others = kept.length > 0 && !kept.failed;
    const enum status status = error_set_at(
        error, STATUS_BAD_DATA, table->file, 1, 0, "no column %s, which is varied: add it%s%s", lacking->name,
        has_others ? ", or search only what the table has: --vary " : "", has_others ? kept.text : "");
    text_buffer_release(&kept);
    return status;
}

static enum status find_value(const struct search_question *self, const struct csv_table *table,
                              struct run_columns *columns, struct error *error)
{
    double second_per_unit = SECONDS_PER_US;
    columns->value_name = search_value_name(self);
    columns->value = csv_column(table, columns->value_name);
    columns->shown_per_unit = 1;
    if (columns->value < 0 && self->is_throughput) {
        columns->value = throughput_column(table);
        columns->value_name = columns->value >= 0 ? table->names[columns->value] : columns->value_name;
    } else if (columns->value < 0) {
        const enum status status = measured_time_find(table, NULL, &columns->value_name, &second_per_unit, error);
        if (status != STATUS_OK) {
            return status;
        }
        columns->value = csv_column(table, columns->value_name);
        columns->shown_per_unit = second_per_unit / SECONDS_PER_US;
    }
    return columns->value >= 0
               ? STATUS_OK
               : error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0, "no column %s", search_value_name(self));
}

/* Load generators name it so, whatever the scenario calls it; -1: none, or the scenario has a variable of that name. */
static long concurrency_column(const struct scenario *scenario, const struct csv_table *table)
{
    static const char *const names[] = {"concurrency", "max_concurrency"};
    long found = -1;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && found < 0; i++) {
        bool is_variable = false;
        for (size_t v = 0; v < scenario_variable_count(scenario); v++) {
            is_variable = is_variable || strcmp(scenario_variable_get(scenario, v)->name, names[i]) == 0;
        }
        found = is_variable ? -1 : csv_column(table, names[i]);
    }
    return found;
}

static enum status find_columns(const struct search_question *self, const struct csv_table *table,
                                struct run_columns *columns, struct error *error)
{
    const struct scenario *scenario = self->question->scenario;
    for (size_t v = 0; v < scenario_variable_count(scenario); v++) {
        const struct scenario_variable *variable = scenario_variable_get(scenario, v);
        columns->variables[v] = csv_column(table, variable->name);
        if (columns->variables[v] < 0 && (long)v == scenario_concurrency_variable(scenario)) {
            columns->variables[v] = concurrency_column(scenario, table);
        }
        if (columns->variables[v] < 0 && variable->value_count > 1 && is_varied(self, v)) {
            return lacks_column(self, table, variable, error);
        }
    }
    columns->outcome = csv_column(table, "outcome");
    columns->forecast_lo = csv_column(table, "forecast_lo");
    columns->forecast_hi = csv_column(table, "forecast_hi");
    columns->device = csv_column(table, "device");
    return find_value(self, table, columns, error);
}

static enum status row_values(const struct search_question *self, const struct csv_table *table, size_t row,
                              const struct run_columns *columns, double *values, struct error *error)
{
    enum status status = STATUS_OK;
    memcpy(values, self->space.configs.values, sizeof *values * self->space.variable_count);
    for (size_t v = 0; v < self->space.variable_count && status == STATUS_OK; v++) {
        if (columns->variables[v] >= 0) {
            status = csv_number(table, row, (size_t)columns->variables[v], &values[v], error);
        }
    }
    return status;
}

bool search_value_is_possible(const struct search_question *self, double value)
{
    return self->is_throughput ? value >= TOKEN_LEAST_S && value <= TOKEN_MOST_S : measured_time_is_possible(value);
}

/* Value of a run in the engine's unit; NaN: it failed. */
static enum status row_value(const struct search_question *self, const struct csv_table *table, size_t row,
                             const struct run_columns *columns, double *value, struct error *error)
{
    double shown = 0;
    *value = (double)NAN;
    if (columns->outcome >= 0 && strcmp(csv_cell(table, row, (size_t)columns->outcome), "ok") != 0) {
        return STATUS_OK;
    }
    const enum status status = csv_number(table, row, (size_t)columns->value, &shown, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(shown > 0)) {
        return error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0, "%s is %g, expected more than 0",
                            columns->value_name, shown);
    }
    *value = search_engine_value(self, shown * columns->shown_per_unit);
    return search_value_is_possible(self, *value)
               ? STATUS_OK
               : error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0, "%s is %g, which no run has",
                              columns->value_name, shown);
}

/* What was forecast, if anything: a larger throughput is a smaller value. */
static void row_forecast(const struct search_question *self, const struct csv_table *table, size_t row,
                         const struct run_columns *columns, struct search_run *run)
{
    double lo = 0, hi = 0;
    run->forecast_lo = run->forecast_hi = (double)NAN;
    if (columns->forecast_lo >= 0 && columns->forecast_hi >= 0 &&
        number_parse(csv_cell(table, row, (size_t)columns->forecast_lo), &lo) == STATUS_OK &&
        number_parse(csv_cell(table, row, (size_t)columns->forecast_hi), &hi) == STATUS_OK && lo > 0 && hi > 0) {
        run->forecast_lo = search_engine_value(self, self->is_throughput ? hi : lo);
        run->forecast_hi = search_engine_value(self, self->is_throughput ? lo : hi);
    }
}

static bool is_frozen(const struct csv_table *table, size_t row, const struct run_columns *columns)
{
    return columns->outcome >= 0 && strcmp(csv_cell(table, row, (size_t)columns->outcome), "frozen") == 0;
}

/* Whatever is wrong with a row is told, also where the row is left out then. */
static enum status read_row(struct search_question *self, const struct csv_table *table, size_t row,
                            const struct run_columns *columns, struct read_run *run, struct error *error)
{
    double values[QUESTION_VALUES_MAX];
    enum status status = columns->device < 0
                             ? STATUS_OK
                             : measured_device_check(self->question->catalogue, self->question->scenario,
                                                     csv_cell(table, row, (size_t)columns->device), table->file,
                                                     table->lines[row], error);
    run->config = UINT32_MAX;
    if (status != STATUS_OK || is_frozen(table, row, columns)) {
        return status;
    }
    status = row_values(self, table, row, columns, values, error);
    status = status == STATUS_OK ? row_value(self, table, row, columns, &run->value, error) : status;
    if (status == STATUS_OK) {
        run->config = search_scenario_find(&self->space, values);
    }
    if (status == STATUS_OK && run->config == UINT32_MAX) {
        search_question_leave(self, values, table->file, table->lines[row]);
    }
    return status;
}

/* What becomes of a run that is of the space. */
typedef enum status (*run_taker)(struct search_question *self, const struct csv_table *table, size_t row,
                                 const struct run_columns *columns, const struct read_run *read, struct error *error);

static enum status tell_engine(struct search_question *self, const struct csv_table *table, size_t row,
                               const struct run_columns *columns, const struct read_run *read, struct error *error)
{
    struct search_run run = {.config = read->config, .value = read->value, .failed = isnan(read->value)};
    row_forecast(self, table, row, columns, &run);
    self->read_runs++;
    return search_engine_tell(self->engine, &run, error);
}

/* To self->replayed; the first row of a configuration counts. */
static enum status keep_for_replay(struct search_question *self, const struct csv_table *table, size_t row,
                                   const struct run_columns *columns, const struct read_run *read, struct error *error)
{
    (void)table;
    (void)row;
    (void)columns;
    (void)error;
    if (!(self->replayed[read->config] > 0)) {
        self->replayed[read->config] = read->value;
    }
    return STATUS_OK;
}

/* ratios[0..count): times over what the model says. */
static enum status judge_unit(struct search_question *self, const char *path, const char *name, double *ratios,
                              size_t count, struct error *error)
{
    char doubt[200] = "";
    enum status status = STATUS_OK;
    if (count > 0 && !self->is_throughput) {
        status = measured_unit_judge(path, name, median_in_place(ratios, count), doubt, error);
    }
    if (doubt[0] != '\0') {
        (void)snprintf(self->doubt, sizeof self->doubt, "%.100s: %s", path, doubt);
    }
    return status;
}

static enum status read_table(struct search_question *self, const char *path, const struct csv_table *table,
                              run_taker take, double *ratios, struct error *error)
{
    struct run_columns columns = {.value = -1, .outcome = -1};
    size_t count = 0;
    enum status status = find_columns(self, table, &columns, error);
    for (size_t row = 0; row < table->row_count && status == STATUS_OK; row++) {
        struct read_run run;
        status = read_row(self, table, row, &columns, &run, error);
        if (status != STATUS_OK || run.config == UINT32_MAX) {
            continue;
        }
        if (isfinite(run.value)) {
            ratios[count++] = run.value / exp(self->space.log_values[run.config]);
        }
        status = take(self, table, row, &columns, &run, error);
    }
    return status == STATUS_OK ? judge_unit(self, path, columns.value_name, ratios, count, error) : status;
}

static enum status read_rows(struct search_question *self, const char *path, run_taker take, struct error *error)
{
    struct csv_table table;
    enum status status = csv_read(path, FILE_BYTES_MAX, &table, error);
    if (status != STATUS_OK) {
        return status;
    }
    double *ratios = malloc((table.row_count + 1) * sizeof *ratios);
    status = ratios != NULL ? read_table(self, path, &table, take, ratios, error)
                            : error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", table.row_count);
    free(ratios);
    csv_table_release(&table);
    return status;
}

enum status search_question_read(struct search_question *self, const char *path, struct error *error)
{
    return read_rows(self, path, tell_engine, error);
}

/* Leaves the configurations of the table alone as candidates. */
static enum status take_replay(struct search_question *self, const char *path, struct error *error)
{
    const size_t count = self->space.count;
    bool *keep = calloc(count, sizeof *keep);
    self->replayed = calloc(count, sizeof *self->replayed); /* 0: not in the table */
    enum status status = keep && self->replayed ? read_rows(self, path, keep_for_replay, error)
                                                : error_set(error, STATUS_NO_MEMORY, "no memory for a table");
    size_t kept = 0;
    for (size_t c = 0; c < count && status == STATUS_OK; c++) {
        keep[c] = self->replayed[c] != 0; /* NaN too */
        if (keep[c]) {
            self->replayed[kept++] = self->replayed[c];
        }
    }
    if (status == STATUS_OK && kept == 0) {
        status = search_none_taken(self, path, error);
    }
    status = status == STATUS_OK ? search_scenario_keep(&self->space, keep, error) : status;
    free(keep);
    return status;
}

/* --- proposals -------------------------------------------------------------------------------------------------------
 */

const char *search_config_text(const struct search_question *self, uint32_t config, char *out, size_t out_size)
{
    const struct config_space *configs = &self->space.configs;
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < configs->varied_count && length < out_size; i++) {
        const struct scenario_variable *variable = scenario_variable_get(configs->scenario, configs->varied[i]);
        char number[32];
        if (variable->value_count > 1) {
            const int wrote = snprintf(
                out + length, out_size - length, "%s%s=%s", length ? " " : "", variable->name,
                number_format(self->space.values[config * self->space.variable_count + configs->varied[i]], number));
            length += wrote > 0 ? (size_t)wrote : 0;
        }
    }
    return out;
}

double search_shown_value(const struct search_question *self, double value)
{
    return self->is_throughput ? 1 / value : value / SECONDS_PER_US;
}

void search_print_best(const struct search_question *self, const struct search_summary *summary, const char *lead)
{
    char config[1024], number[32];
    printf("%s: %s %s, %s; the best of all with probability ", lead,
           number_format_digits(search_shown_value(self, summary->best_value), 4, number),
           self->is_throughput ? "tokens/s" : "us",
           search_config_text(self, summary->best_config, config, sizeof config));
    if (summary->best_probability > 0.99 && !summary->was_all_run) {
        printf("above 99 %%\n");
    } else {
        printf("%.0f %%\n", 100 * summary->best_probability);
    }
}

double search_engine_value(const struct search_question *self, double shown)
{
    return self->is_throughput ? 1 / shown : shown * SECONDS_PER_US;
}

const char *search_value_name(const struct search_question *self)
{
    return self->is_throughput ? "throughput_tokens_per_s" : "time_us";
}

static void record_value(const struct search_question *self, struct report *report,
                         const struct search_proposal *proposal)
{
    if (self->is_throughput) {
        report_number(report, "throughput_tokens_per_s", 1 / proposal->value);
        report_number(report, "throughput_lo_tokens_per_s", 1 / proposal->value_hi);
        report_number(report, "throughput_hi_tokens_per_s", 1 / proposal->value_lo);
    } else {
        report_number(report, "time_us", proposal->value / SECONDS_PER_US);
        report_number(report, "time_lo_us", proposal->value_lo / SECONDS_PER_US);
        report_number(report, "time_hi_us", proposal->value_hi / SECONDS_PER_US);
    }
}

enum status search_record_proposal(struct search_question *self, struct report *report,
                                   const struct search_proposal *proposal, struct error *error)
{
    const double *values = self->space.values + (size_t)proposal->config * self->space.variable_count;
    struct prediction *prediction = malloc(sizeof *prediction);
    char text[1024];
    if (prediction == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a prediction");
    }
    const enum status status = prediction_make(self->question, values, values, prediction, error);
    if (status == STATUS_OK) {
        report_string(report, "config", search_config_text(self, proposal->config, text, sizeof text));
        report_begin_object(report, "knobs");
        for (size_t v = 0; v < scenario_knob_count(self->question->scenario); v++) {
            report_number(report, scenario_variable_get(self->question->scenario, v)->name, values[v]);
        }
        report_end(report);
        record_value(self, report, proposal);
        report_number(report, "feasible_probability", proposal->feasible_probability);
        report_number(report, "best_probability", proposal->best_probability);
        report_number(report, "gain_percent", 100 * proposal->gain_fraction);
        report_number(report, "cost_s", proposal->cost_s);
        report_number(report, "gain_percent_per_s", 100 * proposal->gain_per_s);
        report_string(report, "reason", search_reason_name(proposal->reason));
        report_string(report, "limiter", prediction->has_time ? time_limiter_name(prediction->time.limiter) : NULL);
    }
    free(prediction);
    return status;
}
