/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam calibrate`: which rows are learnt from, the fit, the scores on the others, and the file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/csv.h"
#include "base/random.h"
#include "base/statistics.h"
#include "cli/calibrate.h"
#include "cli/program_version.h"
#include "evidence/calibration_file.h"
#include "model/predict/calibrated_time.h"

enum {
    TRAIN_ROWS_BYTES_MAX = 16 << 20
};

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

enum status calibrate_inputs_open(struct calibrate_inputs *inputs, const struct calibrate_options *options,
                                  const char *scenario, const struct operands *files, struct error *error)
{
    struct measured_rows_options row_options = {
        .time_column = options->time_column, .kernel = options->kernel, .first_kernel_only = options->first_kernel};
    const struct gpu_device *from_file = NULL;
    enum status status = device_catalogue_create(&inputs->catalogue, error);
    if (status == STATUS_OK && options->device_file) {
        status = device_catalogue_add_file(inputs->catalogue, options->device_file, &from_file, error);
    }
    if (status == STATUS_OK) {
        const char *device = options->device ? options->device : from_file ? from_file->name : NULL;
        status = scenario_read(scenario, inputs->catalogue, device, &inputs->scenario, error);
    }
    if (status != STATUS_OK || !files) {
        return status;
    }
    row_options.catalogue = inputs->catalogue;
    return measured_rows_read(inputs->scenario, files->items, files->count, &row_options, &inputs->rows, error);
}

void calibrate_inputs_release(struct calibrate_inputs *inputs)
{
    measured_rows_release(&inputs->rows);
    scenario_free(inputs->scenario);
    device_catalogue_free(inputs->catalogue);
    *inputs = (struct calibrate_inputs){0};
}

/* ---- which rows -------------------------------------------------------------------------------------------------- */

/* Every row, those to learn from first. */
struct split {
    uint32_t *order;
    size_t train;
    bool *typical; /* by row: drawn at random by a design; all where none was made */
};

static void put_first(struct split *split, size_t count, const bool *taken)
{
    size_t next = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            if (taken[i] == (pass == 0)) {
                split->order[next++] = (uint32_t)i;
            }
        }
        split->train = pass == 0 ? next : split->train;
    }
}

static void shuffle(uint32_t *order, size_t count, uint64_t seed)
{
    struct random_stream stream;
    random_init(&stream, seed, 5);
    for (size_t i = count; i > 1; i--) {
        const size_t j = random_below(&stream, (uint32_t)i);
        const uint32_t kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

static enum status split_by_design(const struct calibrate_inputs *inputs, size_t wanted, uint64_t seed,
                                   struct split *split, bool *taken, struct error *error)
{
    struct model_parameters priors;
    uint32_t *chosen = malloc((wanted + 1) * sizeof *chosen);
    if (!chosen) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", wanted);
    }
    model_parameters_init(&priors);
    const enum status status =
        design_choose_watched(scenario_device(inputs->scenario), &priors, inputs->rows.rows, inputs->rows.count, wanted,
                              seed, chosen, calibrate_design_watch(), error);
    for (size_t i = 0; i < wanted && status == STATUS_OK; i++) {
        taken[chosen[i]] = true;
        split->typical[chosen[i]] = design_is_typical(i);
    }
    if (status == STATUS_OK) {
        put_first(split, inputs->rows.count, taken);
    }
    free(chosen);
    return status;
}

/* One configuration of a table whose columns are called after variables. */
struct wanted_row {
    const struct csv_table *table;
    long columns[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    long typical; /* column that --design writes: 0 for a row chosen for being informative; -1: none */
    size_t row;
};

static enum status is_typical(const struct wanted_row *wanted, bool *typical, struct error *error)
{
    double flag = 1;
    const enum status status = wanted->typical >= 0
                                   ? csv_number(wanted->table, wanted->row, (size_t)wanted->typical, &flag, error)
                                   : STATUS_OK;
    *typical = flag != 0;
    return status;
}

static enum status find_row(const struct calibrate_inputs *inputs, const struct wanted_row *wanted, struct split *split,
                            bool *taken, struct error *error)
{
    const struct measured_rows *rows = &inputs->rows;
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    bool found = false, typical;
    enum status status = is_typical(wanted, &typical, error);
    for (size_t v = 0; v < rows->variable_count && status == STATUS_OK; v++) {
        if (wanted->columns[v] >= 0) {
            status = csv_number(wanted->table, wanted->row, (size_t)wanted->columns[v], &values[v], error);
        }
    }
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < rows->count; i++) {
        bool same = true;
        for (size_t v = 0; v < rows->variable_count && same; v++) {
            same = wanted->columns[v] < 0 || rows->values[i * rows->variable_count + v] == values[v];
        }
        taken[i] = taken[i] || same;
        split->typical[i] = same ? typical : split->typical[i];
        found = found || same;
    }
    return found ? STATUS_OK
                 : error_set_at(error, STATUS_BAD_DATA, wanted->table->file, wanted->table->lines[wanted->row], 0,
                                "no measured row has these values");
}

static enum status split_by_file(const struct calibrate_inputs *inputs, const char *path, struct split *split,
                                 bool *taken, struct error *error)
{
    struct csv_table table;
    enum status status = csv_read(path, TRAIN_ROWS_BYTES_MAX, &table, error);
    if (status != STATUS_OK) {
        return status;
    }
    struct wanted_row wanted = {.table = &table, .typical = csv_column(&table, "typical")};
    bool any = false;
    for (size_t v = 0; v < inputs->rows.variable_count; v++) {
        wanted.columns[v] = csv_column(&table, scenario_variable_get(inputs->scenario, v)->name);
        any = any || wanted.columns[v] >= 0;
    }
    if (!any) {
        status =
            error_set_at(error, STATUS_BAD_DATA, path, 1, 0, "no column is called after a knob or workload variable");
    }
    for (; wanted.row < table.row_count && status == STATUS_OK; wanted.row++) {
        status = find_row(inputs, &wanted, split, taken, error);
    }
    if (status == STATUS_OK) {
        put_first(split, inputs->rows.count, taken);
    }
    csv_table_release(&table);
    return status;
}

static enum status choose_rows(struct calibrate_answer *answer, struct split *split, bool *taken, struct error *error)
{
    const struct calibrate_options *options = answer->options;
    const size_t count = answer->inputs->rows.count, wanted = (size_t)(options->train + options->design);
    for (size_t i = 0; i < count; i++) {
        split->order[i] = (uint32_t)i;
        split->typical[i] = true;
    }
    if (count == 1 && answer->inputs->rows.repeats > 0) {
        return error_set(error, STATUS_BAD_DATA, "all %zu measured rows are one configuration: nothing to learn from",
                         answer->inputs->rows.repeats + 1);
    }
    if (wanted > count) {
        return error_set(error, STATUS_BAD_DATA, "%zu rows to learn from, but only %zu were measured", wanted, count);
    }
    if (options->design) {
        (void)snprintf(answer->chosen, sizeof answer->chosen, "design: %zu, informative and typical", wanted);
        return split_by_design(answer->inputs, wanted, options->seed, split, taken, error);
    }
    if (options->train_rows) {
        (void)snprintf(answer->chosen, sizeof answer->chosen, "listed in %.100s", options->train_rows);
        return split_by_file(answer->inputs, options->train_rows, split, taken, error);
    }
    split->train = options->train ? wanted : count;
    (void)snprintf(answer->chosen, sizeof answer->chosen, options->train ? "random" : "all");
    if (options->train) {
        shuffle(split->order, count, options->seed);
    }
    return STATUS_OK;
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

static void take_scores(const struct calibrated_model *model, const struct measured_rows *rows,
                        const struct split *split, double *room, struct held_out_scores *scores)
{
    const size_t count = rows->count - split->train;
    double *errors = room, *biases = room + count, *widths = room + 2 * count, *predicted = room + 3 * count,
           *measured = room + 4 * count, *scratch = room + 5 * count;
    size_t inside = 0;
    for (size_t i = 0; i < count; i++) {
        const struct kernel_row *row = &rows->rows[split->order[split->train + i]];
        struct calibrated_time time;
        calibrated_time_predict(model, &row->layer, &time);
        predicted[i] = time.time_s;
        measured[i] = row->time_s;
        errors[i] = fabs(time.time_s / row->time_s - 1);
        biases[i] = log(time.time_s / row->time_s);
        widths[i] = time.time_hi_s / time.time_s - 1;
        inside += row->time_s >= time.time_lo_s && row->time_s <= time.time_hi_s;
    }
    sort_doubles(errors, count);
    *scores = (struct held_out_scores){.count = count,
                                       .median_error = quantile_sorted(errors, count, 0.5),
                                       .p90_error = quantile_sorted(errors, count, 0.9),
                                       .bias = exp(median_in_place(biases, count)) - 1,
                                       .coverage = (double)inside / (double)count,
                                       .half_width = median_in_place(widths, count),
                                       .rank_correlation = spearman(predicted, measured, count, scratch)};
}

static enum status score_held_out(struct calibrate_answer *answer, const struct split *split, struct error *error)
{
    const struct measured_rows *rows = &answer->inputs->rows;
    if (split->train == rows->count) {
        return STATUS_OK;
    }
    struct calibrated_model *model = malloc(sizeof *model);
    double *room = malloc(7 * rows->count * sizeof *room);
    enum status status = model && room ? calibrated_model_init(model, scenario_device(answer->inputs->scenario),
                                                               &answer->calibration, error)
                                       : error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", rows->count);
    if (status == STATUS_OK) {
        take_scores(model, rows, split, room, &answer->held_out);
    }
    free(model);
    free(room);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* --name, else the stem of the file to be written, else the scenario's name. */
static void set_name(const struct calibrate_answer *answer, char *out, size_t size)
{
    const char *path = answer->options->output;
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *base = slash ? slash + 1 : path;
    size_t length = base ? strlen(base) : 0;
    if (length > 5 && strcmp(base + length - 5, ".json") == 0) {
        length -= 5;
    }
    if (answer->options->name) {
        (void)snprintf(out, size, "%s", answer->options->name);
    } else if (base && length > 0) {
        (void)snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1), base);
    } else {
        (void)snprintf(out, size, "%s", scenario_name(answer->inputs->scenario));
    }
}

static void set_provenance(struct calibrate_answer *answer)
{
    const struct calibrate_inputs *inputs = answer->inputs;
    struct calibration *calibration = &answer->calibration;
    const time_t now = time(NULL);
    struct tm moment;
    set_name(answer, calibration->name, sizeof calibration->name);
    memcpy(calibration->parameters.calibration, calibration->name, sizeof calibration->name);
    (void)snprintf(calibration->scenario, sizeof calibration->scenario, "%s", scenario_name(inputs->scenario));
    (void)snprintf(calibration->device, sizeof calibration->device, "%s", scenario_device(inputs->scenario)->name);
    (void)snprintf(calibration->gpu_id, sizeof calibration->gpu_id, "%s", inputs->rows.gpu_id);
    (void)snprintf(calibration->driver, sizeof calibration->driver, "%s", inputs->rows.driver);
    calibration->scenario_hash = scenario_hash(inputs->scenario);
    calibration->rows_hash = inputs->rows.hash;
    calibration->sm_clock_mhz = inputs->rows.sm_clock_mhz;
    if (gmtime_r(&now, &moment)) {
        (void)strftime(calibration->date, sizeof calibration->date, "%Y-%m-%dT%H:%M:%SZ", &moment);
    }
}

static enum status train(struct calibrate_answer *answer, const struct split *split, struct error *error)
{
    struct kernel_calibration_options options;
    struct model_parameters priors;
    model_parameters_init(&priors);
    kernel_calibration_options_init(&options);
    options.interval_level = answer->options->level;
    options.seed = answer->options->seed;
    options.typical = split->typical;
    answer->trained_on = split->train;
    enum status status =
        kernel_calibrate(scenario_device(answer->inputs->scenario), &priors, answer->inputs->rows.rows, split->order,
                         split->train, &options, &answer->calibration, &answer->report, error);
    if (status == STATUS_OK) {
        set_provenance(answer);
        status = score_held_out(answer, split, error);
    }
    return status;
}

static enum status write_file(const struct calibrate_answer *answer, const struct operands *files, struct error *error)
{
    const struct calibration_provenance provenance = {.file_count = files->count,
                                                      .files = files->items,
                                                      .program = program_version(),
                                                      .seed = answer->options->seed,
                                                      .rows = answer->chosen};
    return answer->options->output
               ? calibration_file_write(answer->options->output, &answer->calibration, &provenance, error)
               : STATUS_OK;
}

enum status calibrate_train(const struct calibrate_options *options, const struct operands *files, struct error *error)
{
    struct calibrate_inputs inputs = {0};
    struct calibrate_answer *answer = calloc(1, sizeof *answer);
    struct split split = {0};
    bool *taken = NULL;
    if (!answer) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to calibrate with");
    }
    answer->options = options;
    answer->inputs = &inputs;
    enum status status = calibrate_inputs_open(&inputs, options, options->scenario, files, error);
    if (status == STATUS_OK) {
        split.order = malloc((inputs.rows.count + 1) * sizeof *split.order);
        split.typical = malloc((inputs.rows.count + 1) * sizeof *split.typical);
        taken = calloc(inputs.rows.count + 1, sizeof *taken);
        status = split.order && split.typical && taken
                     ? choose_rows(answer, &split, taken, error)
                     : error_set(error, STATUS_NO_MEMORY, "no memory for the measured rows");
    }
    status = status == STATUS_OK ? train(answer, &split, error) : status;
    status = status == STATUS_OK ? write_file(answer, files, error) : status;
    status = status == STATUS_OK ? calibrate_answer_print(answer, error) : status;
    calibration_release(&answer->calibration);
    free(answer);
    free(split.order);
    free(split.typical);
    free(taken);
    calibrate_inputs_release(&inputs);
    return status;
}
