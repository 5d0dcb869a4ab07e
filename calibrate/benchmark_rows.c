/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reads the microbenchmarks' CSV files into rows of numbers. */
#include "calibrate/benchmark_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"

enum {
    FILE_BYTES_MAX = 64 << 20,
    REQUIRED_MAX = 8,
    FIGURES_REQUIRED_MAX = 4,
    GPU_IDS_MAX = 16
};

/* Without these a benchmark's rows say nothing; settings first, then figures. */
static const struct {
    const char *name, *required[REQUIRED_MAX], *figures[FIGURES_REQUIRED_MAX];
} benchmarks[BENCHMARK_COUNT] = {
    [BENCHMARK_LATENCY_CHASE] = {"latency_chase",
                                 {"space", "links", "stride_bytes", "warm_hops", "hops"},
                                 {"latency_cycles"}},
    [BENCHMARK_BANDWIDTH_STREAM] = {"bandwidth_stream",
                                    {"mode", "lane_bytes", "unroll", "threads", "ctas", "kib", "driver_ctas_per_sm",
                                     "cold_us"},
                                    {NULL}},
    [BENCHMARK_BANDWIDTH_GATHER] = {"bandwidth_gather",
                                    {"row_bytes", "rows", "stages", "threads", "ctas", "driver_ctas_per_sm",
                                     "touched_bytes", "cold_us"},
                                    {NULL}},
    [BENCHMARK_MMA_TILE] = {"mma_tile",
                            {"format", "accumulators", "warps", "ctas_per_sm", "iterations"},
                            {"cycles_per_instruction_of_a_warp", "warm_tflop_per_s"}},
    [BENCHMARK_SMEM_BANDWIDTH] = {"smem_bandwidth", {"mode", "stride", "warps"}, {"bytes_per_cycle_per_sm"}},
    [BENCHMARK_LAUNCH_CHAIN] = {"launch_chain",
                                {"launches", "ctas", "threads", "driver_ctas_per_sm"},
                                {"graph_launch_us", "stream_launch_us"}},
    [BENCHMARK_BARRIER_AND_EXP] = {"barrier_and_exp", {"operation", "chains", "warps"}, {"iteration_cycles"}},
    [BENCHMARK_WAVE_PROBE] = {"wave_probe",
                              {"threads", "pad", "cluster", "grid", "hold_us"},
                              {"rounds_count", "first_round_ctas", "first_round_starts_ns", "span_us"}},
};

static const struct member {
    const char *name;
    size_t offset;
} fields[] =
    {
#define MEMBER(name) {#name, offsetof(struct benchmark_row, name)},
        BENCHMARK_FIELD_LIST(MEMBER)},
  figures[] = {BENCHMARK_FIGURE_LIST(MEMBER)
#undef MEMBER
};
enum {
    FIELD_COUNT = sizeof fields / sizeof fields[0],
    FIGURE_COUNT = sizeof figures / sizeof figures[0]
};

static double *member_of(struct benchmark_row *row, size_t offset)
{
    return (double *)(void *)((char *)row + offset);
}

struct reader {
    const struct csv_table *table;
    struct benchmark_rows *rows;
    long columns[FIELD_COUNT];
    long kernel, outcome, device, gpu_id, driver, date, figures;
    char gpu_ids[GPU_IDS_MAX][32];
    struct error *error;
};

static enum status fail(const struct reader *self, size_t row, const char *what, const char *name)
{
    return error_set_at(self->error, STATUS_BAD_DATA, self->table->file, self->table->lines[row], 0, "%s %.80s", what,
                        name);
}

static const char *text_of(const struct reader *self, size_t row, long column)
{
    return column < 0 ? "" : csv_cell(self->table, row, (size_t)column);
}

static enum status read_fields(const struct reader *self, size_t row, struct benchmark_row *out)
{
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        double *value = member_of(out, fields[f].offset);
        *value = (double)NAN;
        if (self->columns[f] < 0 || text_of(self, row, self->columns[f])[0] == '\0') {
            continue;
        }
        const enum status status = csv_number(self->table, row, (size_t)self->columns[f], value, self->error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status take_figure(const struct reader *self, size_t row, const char *at, size_t name, size_t length,
                               struct benchmark_row *out)
{
    char text[64];
    double value = (double)NAN;
    const size_t digits = length - name - 1;
    if (digits < sizeof text) {
        memcpy(text, at + name + 1, digits);
        text[digits] = '\0';
    }
    if (digits >= sizeof text || number_parse(text, &value) != STATUS_OK || value < 0) {
        return fail(self, row, "expected a number of at least 0 in the figure", at);
    }
    for (size_t f = 0; f < FIGURE_COUNT; f++) {
        if (strlen(figures[f].name) == name && strncmp(figures[f].name, at, name) == 0) {
            *member_of(out, figures[f].offset) = value;
        }
    }
    return STATUS_OK;
}

/* "name=value;name=value": names the fits do not use are passed over. */
static enum status read_figures(const struct reader *self, size_t row, struct benchmark_row *out)
{
    enum status status = STATUS_OK;
    for (size_t f = 0; f < FIGURE_COUNT; f++) {
        *member_of(out, figures[f].offset) = (double)NAN;
    }
    for (const char *at = text_of(self, row, self->figures); *at && status == STATUS_OK;) {
        const size_t length = strcspn(at, ";"), name = strcspn(at, "=");
        if (name >= length) {
            return fail(self, row, "expected name=value pairs in the column figures, got", at);
        }
        status = take_figure(self, row, at, name, length, out);
        at += length + (at[length] == ';');
    }
    return status;
}

static double value_by_name(struct benchmark_row *row, const char *name)
{
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        if (strcmp(fields[f].name, name) == 0) {
            return *member_of(row, fields[f].offset);
        }
    }
    for (size_t f = 0; f < FIGURE_COUNT; f++) {
        if (strcmp(figures[f].name, name) == 0) {
            return *member_of(row, figures[f].offset);
        }
    }
    BUG("no benchmark has the column %s", name);
}

/* No benchmark of a GPU comes near these. */
static const double value_least = 1e-9, value_most = 1e15;

/* Choices that count from 0, and what may be absent or too short to be seen. */
static bool may_be_zero(const char *name)
{
    static const char *const names[] = {"space", "mode",      "format", "operation",
                                        "pad",   "warm_hops", "stages", "first_round_starts_ns"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_sensible(struct benchmark_row *row, const char *name)
{
    const double value = value_by_name(row, name);
    return value <= value_most && (may_be_zero(name) ? value >= 0 : value >= value_least);
}

static enum status check_required(const struct reader *self, size_t row, struct benchmark_row *out)
{
    for (size_t i = 0; i < REQUIRED_MAX && benchmarks[out->benchmark].required[i]; i++) {
        const char *name = benchmarks[out->benchmark].required[i];
        if (!is_sensible(out, name)) {
            return fail(self, row,
                        may_be_zero(name) ? "expected a number of at least 0 in the column"
                                          : "expected a number above 0 in the column",
                        name);
        }
    }
    for (size_t i = 0; i < FIGURES_REQUIRED_MAX; i++) {
        if (!benchmarks[out->benchmark].figures[i]) {
            break;
        }
        if (!is_sensible(out, benchmarks[out->benchmark].figures[i])) {
            return fail(self, row, "the column figures lacks a number above 0 for",
                        benchmarks[out->benchmark].figures[i]);
        }
    }
    return STATUS_OK;
}

static enum status find_benchmark(const struct reader *self, size_t row, enum benchmark *benchmark)
{
    const char *kernel = text_of(self, row, self->kernel);
    for (int b = 0; b < BENCHMARK_COUNT; b++) {
        if (strcmp(kernel, benchmarks[b].name) == 0) {
            *benchmark = (enum benchmark)b;
            return STATUS_OK;
        }
    }
    return fail(self, row, "no microbenchmark with figures of a device:", kernel);
}

/* One kind of GPU; how many of it. */
static enum status check_device(struct reader *self, size_t row)
{
    struct benchmark_rows *rows = self->rows;
    const char *device = text_of(self, row, self->device), *id = text_of(self, row, self->gpu_id);
    if (rows->count == 0) {
        (void)snprintf(rows->device, sizeof rows->device, "%s", device);
        (void)snprintf(rows->driver, sizeof rows->driver, "%s", text_of(self, row, self->driver));
        (void)snprintf(rows->date, sizeof rows->date, "%.10s", text_of(self, row, self->date));
    }
    if (device[0] == '\0' || strncmp(device, rows->device, sizeof rows->device - 1) != 0) {
        return fail(self, row, rows->count ? "rows of another GPU:" : "the column device is empty", device);
    }
    for (size_t i = 0; i < rows->gpu_count; i++) {
        if (strncmp(self->gpu_ids[i], id, sizeof self->gpu_ids[i] - 1) == 0) {
            return STATUS_OK;
        }
    }
    if (rows->gpu_count < GPU_IDS_MAX) {
        (void)snprintf(self->gpu_ids[rows->gpu_count++], sizeof self->gpu_ids[0], "%s", id);
    }
    return STATUS_OK;
}

static enum status read_row(struct reader *self, size_t row, uint32_t file)
{
    struct benchmark_row *out = &self->rows->rows[self->rows->count];
    if (strcmp(text_of(self, row, self->outcome), "ok") != 0) {
        return STATUS_OK;
    }
    out->file = file;
    out->line = self->table->lines[row];
    enum status status = find_benchmark(self, row, &out->benchmark);
    status = status == STATUS_OK ? check_device(self, row) : status;
    status = status == STATUS_OK ? read_fields(self, row, out) : status;
    status = status == STATUS_OK ? read_figures(self, row, out) : status;
    status = status == STATUS_OK ? check_required(self, row, out) : status;
    self->rows->count += status == STATUS_OK;
    return status;
}

static enum status read_table(struct reader *self, uint32_t file)
{
    const struct {
        const char *name;
        long *column;
    } texts[] = {{"kernel", &self->kernel},   {"outcome", &self->outcome}, {"device", &self->device},
                 {"figures", &self->figures}, {"gpu_id", &self->gpu_id},   {"driver", &self->driver},
                 {"date", &self->date}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i].column = csv_column(self->table, texts[i].name);
        if (i < 4 && *texts[i].column < 0) {
            return error_set_at(self->error, STATUS_BAD_DATA, self->table->file, 1, 0,
                                "no column %s: expected a file that occam measure wrote", texts[i].name);
        }
    }
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        self->columns[f] = csv_column(self->table, fields[f].name);
    }
    struct benchmark_row *grown =
        realloc(self->rows->rows, (self->rows->count + self->table->row_count + 1) * sizeof *grown);
    if (!grown) {
        return error_set(self->error, STATUS_NO_MEMORY, "no memory for %zu rows", self->table->row_count);
    }
    self->rows->rows = grown;
    enum status status = STATUS_OK;
    for (size_t row = 0; row < self->table->row_count && status == STATUS_OK; row++) {
        status = read_row(self, row, file);
    }
    return status;
}

enum status benchmark_rows_read(const char *const *paths, size_t count, struct benchmark_rows *rows,
                                struct error *error)
{
    struct reader self = {.rows = rows, .error = error};
    enum status status = STATUS_OK;
    *rows = (struct benchmark_rows){.files = calloc(count + 1, sizeof *rows->files)};
    if (!rows->files) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu files", count);
    }
    for (; rows->file_count < count && status == STATUS_OK; rows->file_count++) {
        const char *path = paths[rows->file_count], *slash = strrchr(path, '/');
        struct csv_table table = {0};
        (void)snprintf(rows->files[rows->file_count], sizeof rows->files[0], "%s", slash ? slash + 1 : path);
        status = csv_read(path, FILE_BYTES_MAX, &table, error);
        if (status == STATUS_OK) {
            self.table = &table;
            status = read_table(&self, (uint32_t)rows->file_count);
            csv_table_release(&table);
        }
    }
    return status == STATUS_OK && rows->count == 0
               ? error_set(error, STATUS_BAD_DATA, "none of the %zu files holds a row that ran", count)
               : status;
}

void benchmark_rows_release(struct benchmark_rows *rows)
{
    free(rows->rows);
    free(rows->files);
    *rows = (struct benchmark_rows){0};
}
