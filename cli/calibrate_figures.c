/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam calibrate --figures`: figures of a GPU from its microbenchmarks, against its device file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "calibrate/device_figures.h"
#include "cli/calibrate.h"
#include "cli/quantity_text.h"
#include "cli/report.h"
#include "evidence/device_catalogue.h"
#include "evidence/device_file_writer.h"

struct figures_answer {
    const struct calibrate_options *options;
    struct device_catalogue *catalogue;
    const struct gpu_device *device;
    struct benchmark_rows rows;
    struct device_figures figures;
};

static const char *verdict_text(enum device_figure_verdict verdict)
{
    static const char *const texts[] = {
        [DEVICE_FIGURE_NEW] = "not stated", [DEVICE_FIGURE_AGREES] = "agrees", [DEVICE_FIGURE_DIFFERS] = "DIFFERS"};
    return texts[verdict];
}

/* The GPU of the rows; --device and --device-file must mean the same one. */
static enum status open_device(struct figures_answer *self, struct error *error)
{
    const struct gpu_device *measured = NULL, *asked = NULL;
    struct error ignored = {0};
    enum status status = device_catalogue_create(&self->catalogue, error);
    if (status == STATUS_OK && self->options->device_file) {
        status = device_catalogue_add_file(self->catalogue, self->options->device_file, &asked, error);
    }
    if (status == STATUS_OK && self->options->device) {
        status = device_catalogue_find(self->catalogue, self->options->device, &asked, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (device_catalogue_find(self->catalogue, self->rows.device, &measured, asked ? &ignored : error) != STATUS_OK) {
        measured = asked; /* a name that no device file has is taken on trust */
    }
    self->device = asked && !self->options->device ? asked : measured;
    if (!measured) {
        return error->status;
    }
    if (asked && self->options->device && asked != measured) {
        return error_set(error, STATUS_BAD_DATA, "the rows were measured on %s, --device says %s", self->rows.device,
                         asked->name);
    }
    return isfinite(gpu_device_value(self->device, GPU_FIGURE_SM_COUNT)) &&
                   isfinite(gpu_device_value(self->device, GPU_FIGURE_BOOST_CLOCK))
               ? STATUS_OK
               : error_set(error, STATUS_MISSING, "%s has no SM count or no clock: name a GPU or its device file",
                           self->device->name);
}

static void record_figure(struct report *report, const struct figures_answer *self, const struct device_figure *figure)
{
    static const char *const bounds[] = {
        [DEVICE_FIGURE_VALUE] = "value", [DEVICE_FIGURE_AT_LEAST] = "at_least", [DEVICE_FIGURE_AT_MOST] = "at_most"};
    static const char *const shown[] = {
        [DEVICE_FIGURE_VALUE] = "", [DEVICE_FIGURE_AT_LEAST] = "at least ", [DEVICE_FIGURE_AT_MOST] = "at most "};
    double stated;
    const enum device_figure_verdict verdict = device_figure_compare(figure, self->device, &stated);
    char number[QUANTITY_TEXT_SIZE], text[QUANTITY_TEXT_SIZE + 16];
    (void)snprintf(text, sizeof text, "%s%s", shown[figure->bound], number_format_digits(figure->value, 5, number));
    report_begin_object(report, NULL);
    report_string(report, "figure", figure->name);
    report_string(report, "unit", figure->unit);
    report_string(report, "bound", bounds[figure->bound]);
    report_number(report, "value", figure->value);
    report_number(report, "standard_error", figure->sigma);
    report_number(report, "lo", figure->lo);
    report_number(report, "hi", figure->hi);
    report_number(report, "stated", stated);
    report_string(report, "stated_kind",
                  figure->id < 0 ? NULL : input_source_name(self->device->figures[figure->id].source));
    report_string(report, "verdict", verdict_text(verdict));
    report_integer(report, "row_count", (int64_t)figure->row_count);
    report_string(report, "rows", figure->rows);
    report_string(report, "method", figure->method);
    report_string(report, "note", figure->note);
    if (self->options->format == OUTPUT_FORMAT_TEXT) {
        report_string(report, "shown", text);
    }
    report_end(report);
}

static void record(const struct figures_answer *self, struct report *report)
{
    report_string(report, "device", self->device->name);
    report_string(report, "measured_on", self->rows.device);
    report_integer(report, "gpus", (int64_t)self->rows.gpu_count);
    report_string(report, "driver", self->rows.driver);
    report_string(report, "date", self->rows.date);
    report_integer(report, "rows_read", (int64_t)self->rows.count);
    report_string(report, "output", self->options->output);
    report_begin_rows(report, "figures");
    for (size_t i = 0; i < self->figures.count; i++) {
        record_figure(report, self, &self->figures.items[i]);
    }
    report_end(report);
}

static void print_details(const struct figures_answer *self)
{
    (void)printf("\nWhat was done, with which rows, and what they cannot tell:\n");
    for (size_t i = 0; i < self->figures.count; i++) {
        const struct device_figure *figure = &self->figures.items[i];
        (void)printf("  %s: %s (%s)%s%s\n", figure->name, figure->method, figure->rows,
                     figure->note[0] ? "\n    but: " : "", figure->note);
    }
    if (self->options->output) {
        (void)printf("\nWritten to %s: other commands take it as --device-file %s\n", self->options->output,
                     self->options->output);
    }
}

static enum status print(const struct figures_answer *self, struct error *error)
{
    static const struct report_column columns[] = {
        {"figure", "figure", 0}, {"shown", "measured", 0}, {"standard_error", "+-", 2}, {"lo", "from", 5},
        {"hi", "to", 5},         {"unit", "unit", 0},      {"stated", "stated", 5},     {"stated_kind", "its kind", 0},
        {"verdict", "", 0},      {"row_count", "rows", 6},
    };
    struct report report = {0};
    enum status status;
    record(self, &report);
    if (self->options->format == OUTPUT_FORMAT_TEXT) {
        (void)printf("%s: %zu rows of microbenchmarks on %s, driver %s, %s\n\n", self->device->title, self->rows.count,
                     self->rows.device, self->rows.driver[0] ? self->rows.driver : "unknown", self->rows.date);
        status = report_print_table(&report, "figures", columns, sizeof columns / sizeof columns[0], stdout, error);
        print_details(self);
    } else {
        status = report_print(&report, self->options->format, "figures", stdout, error);
    }
    report_release(&report);
    return status;
}

enum {
    CITATION_SIZE = 320
};

/* To a tenth of the standard error: further digits say nothing. */
static double rounded(const struct device_figure *figure)
{
    const double step = pow(10, floor(log10(figure->sigma)) - 1);
    return isfinite(step) && step > 0 ? round(figure->value / step) * step : figure->value;
}

/* The device with what was measured in the place of what was stated. Bounds change nothing. */
static enum status write_device(const struct figures_answer *self, struct error *error)
{
    struct gpu_device *device = malloc(sizeof *device);
    char(*citations)[CITATION_SIZE] = calloc(self->figures.count + 1, sizeof *citations);
    char origin[96], heading[160], error_text[32];
    enum status status =
        device && citations ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for a device file");
    if (status == STATUS_OK) {
        *device = *self->device;
        for (size_t i = 0; i < self->figures.count; i++) {
            const struct device_figure *figure = &self->figures.items[i];
            if (figure->id < 0 || figure->bound != DEVICE_FIGURE_VALUE) {
                continue;
            }
            (void)snprintf(citations[i], CITATION_SIZE, "measured: %.120s, %zu rows, +- %s %s", figure->rows,
                           figure->row_count, number_format_digits(figure->sigma, 2, error_text), figure->unit);
            device->figures[figure->id] =
                (struct gpu_figure){.value = rounded(figure) * gpu_figure_si_factor((enum gpu_figure_id)figure->id),
                                    .source = INPUT_SOURCE_MEASURED,
                                    .citation = citations[i],
                                    .note = figure->method};
        }
        (void)snprintf(origin, sizeof origin, "device %.80s", self->device->name);
        (void)snprintf(heading, sizeof heading, "%.80s: figures of its microbenchmarks, %.10s; the rest as it was.",
                       self->device->title, self->rows.date);
        status = gpu_device_validate(device, error);
    }
    if (status == STATUS_OK) {
        status = device_file_write(self->options->output, device, origin, heading, error);
    }
    free(device);
    free(citations);
    return status;
}

enum status calibrate_figures(const struct calibrate_options *options, const struct operands *files,
                              struct error *error)
{
    struct figures_answer *self = calloc(1, sizeof *self);
    if (!self) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for figures");
    }
    self->options = options;
    enum status status = benchmark_rows_read(files->items, files->count, &self->rows, error);
    status = status == STATUS_OK ? open_device(self, error) : status;
    status = status == STATUS_OK ? device_figures_fit(&self->rows, self->device, &self->figures, error) : status;
    if (status == STATUS_OK && options->output) {
        status = write_device(self, error);
    }
    status = status == STATUS_OK ? print(self, error) : status;
    benchmark_rows_release(&self->rows);
    device_catalogue_free(self->catalogue);
    free(self);
    return status;
}
