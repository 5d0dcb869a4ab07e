/* SPDX-License-Identifier: GPL-3.0-or-later
 * The baselines (docs/MODEL.md CAL-10). */
#include "calibrate/baselines.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

#include "base/statistics.h"
#include "calibrate/gaussian_process.h"
#include "calibrate/gsl_errors.h"
#include "model/predict/kernel_time.h"

enum {
    DERIVED_COUNT = 4
};
/* Keeps the normal matrix regular where rows are fewer than inputs or inputs move together; on standardised inputs this
 * changes no digit that matters. */
static const double ridge = 1e-6;

const char *baseline_name(enum baseline_id id)
{
    static const char *const names[BASELINE_COUNT] = {"roofline", "waves",      "nearest", "linear",
                                                      "gp_knobs", "gp_derived", "constant"};
    return names[id];
}

static size_t line_size(const struct baseline_table *table)
{
    return table->input_count + table->derived_count;
}

/* One column into its place in every line: logarithm where all values are positive, of 1 + x where some are zero, as it
 * is otherwise; then standardised. Returns whether it varies; if not, nothing is kept. */
static bool add_column(struct baseline_table *table, const double *column, size_t stride, size_t place, size_t line)
{
    double least = HUGE_VAL, sum = 0, squares = 0;
    for (size_t i = 0; i < table->count; i++) {
        least = fmin(least, column[i * stride]);
    }
    for (size_t i = 0; i < table->count; i++) {
        const double value = column[i * stride];
        double *input = &table->inputs[i * line + place];
        *input = least > 0 ? log(value) : least >= 0 ? log1p(value) : value;
        sum += *input;
    }
    const double center = sum / (double)table->count;
    for (size_t i = 0; i < table->count; i++) {
        const double distance = table->inputs[i * line + place] - center;
        squares += distance * distance;
    }
    const double scale = sqrt(squares / (double)table->count);
    for (size_t i = 0; i < table->count && scale > 1e-9; i++) {
        double *input = &table->inputs[i * line + place];
        *input = (*input - center) / scale;
    }
    return scale > 1e-9;
}

/* Roofline, waves and the derived columns (DERIVED_COUNT per row). */
static enum status fill_derived(const struct gpu_device *device, const struct kernel_row *rows,
                                struct baseline_table *table, double *derived, struct error *error)
{
    struct model_parameters parameters;
    struct time_model model;
    model_parameters_init(&parameters);
    enum status status = time_model_init(&model, device, &parameters, error);
    for (size_t i = 0; i < table->count && status == STATUS_OK; i++) {
        struct layer_time time;
        double roofline_s = 0, work = 0;
        layer_time_predict(&model, &rows[i].layer, &time);
        if (!time.feasible) {
            return error_set(error, STATUS_DOMAIN, "the row of line %u does not fit an SM of %s", rows[i].line,
                             device->name);
        }
        for (uint32_t k = 0; k < time.kernel_count; k++) {
            const struct kernel_time *kernel = &time.kernels[k];
            if (!rows[i].layer.kernels[k].skipped) {
                roofline_s += fmax(kernel->dram_floor_s, kernel->tensor_floor_s);
                work += (double)kernel->waves.rounds * rows[i].layer.kernels[k].loop.iterations;
            }
        }
        const uint32_t main = layer_time_longest_kernel(&time);
        const double spills = rows[i].layer.kernels[main].loop.spill_bytes;
        table->log_roofline[i] = log(fmax(roofline_s, 1e-12));
        table->log_waves[i] = log(fmax(work, 1));
        table->log_time[i] = log(rows[i].time_s);
        derived[i * DERIVED_COUNT] = fmax(1, time.kernels[main].ctas_per_sm);
        derived[i * DERIVED_COUNT + 1] = rows[i].layer.kernels[main].loop.iterations;
        derived[i * DERIVED_COUNT + 2] = fmax(1e-6, time.kernels[main].waves.waves);
        derived[i * DERIVED_COUNT + 3] = isnan(spills) ? 0 : spills;
    }
    return status;
}

enum status baseline_table_create(const struct gpu_device *device, const struct kernel_row *rows, const double *values,
                                  size_t count, size_t variable_count, struct baseline_table *table,
                                  struct error *error)
{
    *table = (struct baseline_table){.count = count};
    if (variable_count + DERIVED_COUNT > GAUSSIAN_PROCESS_INPUTS_MAX) {
        return error_set(error, STATUS_LIMIT, "the baselines take at most %d variables, the scenario has %zu",
                         GAUSSIAN_PROCESS_INPUTS_MAX - DERIVED_COUNT, variable_count);
    }
    const size_t line = variable_count + DERIVED_COUNT;
    table->inputs = calloc(count * line + 1, sizeof(double));
    table->log_roofline = calloc(count + 1, sizeof(double));
    table->log_waves = calloc(count + 1, sizeof(double));
    table->log_time = calloc(count + 1, sizeof(double));
    double *derived = calloc(count * DERIVED_COUNT + 1, sizeof *derived);
    enum status status = STATUS_OK;
    if (!table->inputs || !table->log_roofline || !table->log_waves || !table->log_time || !derived) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", count);
    } else {
        status = fill_derived(device, rows, table, derived, error);
    }
    if (status == STATUS_OK) { /* columns close up over those that do not vary; lines keep their full size */
        for (size_t v = 0; v < variable_count; v++) {
            table->input_count += add_column(table, values + v, variable_count, table->input_count, line);
        }
        for (size_t d = 0; d < DERIVED_COUNT; d++) {
            table->derived_count += add_column(table, derived + d, DERIVED_COUNT, line_size(table), line);
        }
        for (size_t i = 0; i < count; i++) {
            for (size_t f = 0; f < line_size(table); f++) {
                table->inputs[i * line_size(table) + f] = table->inputs[i * line + f];
            }
        }
    } else {
        baseline_table_release(table);
    }
    free(derived);
    return status;
}

void baseline_table_release(struct baseline_table *table)
{
    free(table->inputs);
    free(table->log_roofline);
    free(table->log_waves);
    free(table->log_time);
    *table = (struct baseline_table){0};
}

/* One training problem. */
struct baseline_task {
    const struct baseline_table *table;
    const uint32_t *train, *test;
    size_t train_count, test_count;
    double *log_time;
};

/* base: ln of what the time is proportional to (NULL: to nothing). The factor is the median ratio. */
static enum status predict_scaled(const struct baseline_task *task, const double *base, struct error *error)
{
    double *ratios = malloc(task->train_count * sizeof *ratios);
    if (!ratios) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a baseline");
    }
    for (size_t i = 0; i < task->train_count; i++) {
        const uint32_t row = task->train[i];
        ratios[i] = task->table->log_time[row] - (base ? base[row] : 0);
    }
    const double scale = median_in_place(ratios, task->train_count);
    for (size_t i = 0; i < task->test_count; i++) {
        task->log_time[i] = scale + (base ? base[task->test[i]] : 0);
    }
    free(ratios);
    return STATUS_OK;
}

/* Rows at the same distance share: their mean logarithm. */
static void predict_nearest(const struct baseline_task *task)
{
    const size_t line = line_size(task->table);
    for (size_t i = 0; i < task->test_count; i++) {
        const double *here = task->table->inputs + task->test[i] * line;
        double nearest = HUGE_VAL, sum = 0;
        size_t ties = 0;
        for (size_t j = 0; j < task->train_count; j++) {
            const double *there = task->table->inputs + task->train[j] * line;
            double squares = 0;
            for (size_t f = 0; f < task->table->input_count; f++) {
                squares += (here[f] - there[f]) * (here[f] - there[f]);
            }
            if (squares < nearest * (1 - 1e-12)) {
                nearest = squares;
                sum = 0;
                ties = 0;
            }
            if (squares <= nearest * (1 + 1e-12)) {
                sum += task->table->log_time[task->train[j]];
                ties++;
            }
        }
        task->log_time[i] = sum / (double)ties;
    }
}

/* Mean of the training rows: of an input, or of ln(time) (f = SIZE_MAX). */
static double training_mean(const struct baseline_task *task, size_t f)
{
    double sum = 0;
    for (size_t i = 0; i < task->train_count; i++) {
        const uint32_t row = task->train[i];
        sum += f == SIZE_MAX ? task->table->log_time[row] : task->table->inputs[row * line_size(task->table) + f];
    }
    return sum / (double)task->train_count;
}

/* Around the means, so that the ridge leaves the level alone. */
static void fill_normal(const struct baseline_task *task, const double *means, double log_mean, gsl_matrix *matrix,
                        gsl_vector *right)
{
    const size_t size = task->table->input_count;
    for (size_t i = 0; i < task->train_count; i++) {
        const uint32_t row = task->train[i];
        const double *inputs = task->table->inputs + row * line_size(task->table);
        for (size_t a = 0; a < size; a++) {
            const double x = inputs[a] - means[a];
            *gsl_vector_ptr(right, a) += x * (task->table->log_time[row] - log_mean);
            for (size_t b = 0; b < size; b++) {
                *gsl_matrix_ptr(matrix, a, b) += x * (inputs[b] - means[b]);
            }
        }
    }
    for (size_t a = 0; a < size; a++) {
        *gsl_matrix_ptr(matrix, a, a) += ridge * (double)task->train_count;
    }
}

static enum status predict_linear(const struct baseline_task *task, struct error *error)
{
    const size_t size = task->table->input_count;
    const double log_mean = training_mean(task, SIZE_MAX);
    double means[GAUSSIAN_PROCESS_INPUTS_MAX];
    gsl_errors_install();
    gsl_errors_clear();
    gsl_matrix *matrix = gsl_matrix_calloc(size ? size : 1, size ? size : 1);
    gsl_vector *solution = gsl_vector_calloc(size ? size : 1);
    int code = matrix && solution ? GSL_SUCCESS : GSL_ENOMEM;
    for (size_t a = 0; a < size; a++) {
        means[a] = training_mean(task, a);
    }
    if (code == GSL_SUCCESS && size) {
        fill_normal(task, means, log_mean, matrix, solution);
        code = gsl_linalg_cholesky_decomp1(matrix);
        code = code == GSL_SUCCESS ? gsl_linalg_cholesky_svx(matrix, solution) : code;
    }
    for (size_t i = 0; i < task->test_count && code == GSL_SUCCESS; i++) {
        task->log_time[i] = log_mean;
        for (size_t a = 0; a < size; a++) {
            task->log_time[i] += gsl_vector_get(solution, a) *
                                 (task->table->inputs[task->test[i] * line_size(task->table) + a] - means[a]);
        }
    }
    gsl_matrix_free(matrix);
    gsl_vector_free(solution);
    return code == GSL_SUCCESS ? STATUS_OK : gsl_errors_status(code, "fitting the linear baseline", error);
}

static enum status predict_process(const struct baseline_task *task, bool derived, struct error *error)
{
    const struct baseline_table *table = task->table;
    const size_t line = line_size(table), used = derived ? line : table->input_count;
    double *inputs = malloc((task->train_count * used + 1) * sizeof *inputs);
    double *outputs = malloc(task->train_count * sizeof *outputs);
    struct gaussian_process process = {0};
    enum status status = STATUS_OK;
    if (inputs && outputs) {
        for (size_t i = 0; i < task->train_count; i++) {
            for (size_t f = 0; f < used; f++) {
                inputs[i * used + f] = table->inputs[task->train[i] * line + f];
            }
            outputs[i] = table->log_time[task->train[i]];
        }
        status = gaussian_process_fit(&process, inputs, outputs, task->train_count, used, error);
    } else {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a baseline");
    }
    for (size_t i = 0; i < task->test_count && status == STATUS_OK; i++) {
        task->log_time[i] = gaussian_process_mean(&process, table->inputs + task->test[i] * line);
    }
    gaussian_process_release(&process);
    free(inputs);
    free(outputs);
    return status;
}

enum status baseline_predict(const struct baseline_table *table, enum baseline_id id, const uint32_t *train,
                             size_t train_count, const uint32_t *test, size_t test_count, double *log_time,
                             struct error *error)
{
    const struct baseline_task task = {.table = table,
                                       .train = train,
                                       .test = test,
                                       .train_count = train_count,
                                       .test_count = test_count,
                                       .log_time = log_time};
    if (train_count < 2) {
        return error_set(error, STATUS_BAD_DATA, "a baseline needs at least 2 training rows, got %zu", train_count);
    }
    switch (id) {
    case BASELINE_ROOFLINE:
        return predict_scaled(&task, table->log_roofline, error);
    case BASELINE_WAVES:
        return predict_scaled(&task, table->log_waves, error);
    case BASELINE_NEAREST:
        predict_nearest(&task);
        return STATUS_OK;
    case BASELINE_LINEAR:
        return predict_linear(&task, error);
    case BASELINE_PROCESS_KNOBS:
        return predict_process(&task, false, error);
    case BASELINE_PROCESS_DERIVED:
        return predict_process(&task, true, error);
    case BASELINE_CONSTANT:
        return predict_scaled(&task, NULL, error);
    case BASELINE_COUNT:
        break;
    }
    BUG("unknown baseline %d", (int)id);
}
