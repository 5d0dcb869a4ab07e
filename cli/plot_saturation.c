/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `saturation`: bandwidth over bytes in flight on the device as the microbenchmarks measured it, the line
 * that the device's latency and sustained bandwidth give (Little's law under a ceiling, joined as the model joins
 * bounds). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/plot_table.h"

enum {
    LINE_POINTS = 80
};
#define FILE_BYTES_MAX (64u << 20)
static const double LEAST_BYTES = 16e6; /* read in some ten microseconds */

/* What is known of the GPU beforehand. */
struct flight_device {
    double sm_count, start_us; /* NaN and 0 where it is not in the catalogue */
};

struct flight_points {
    size_t count, left_out;
    double *x_mib, *y_gb;
    char device[96];
};

/* "a=1;b=2": the value of name; NaN where it is not there. */
static double figure_value(const char *figures, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = figures; at != NULL && *at != '\0'; at = strchr(at, ';')) {
        char number[40];
        double value;

        at += *at == ';';
        if (strncmp(at, name, length) != 0 || at[length] != '=')
            continue;
        (void)snprintf(number, sizeof number, "%.*s", (int)strcspn(at + length + 1, ";") % 40, at + length + 1);
        return number_parse(number, &value) == STATUS_OK ? value : (double)NAN;
    }
    return (double)NAN;
}

/* A cell as a number; NaN: no such column, or no number. */
static double cell(const struct csv_table *table, size_t row, const char *name)
{
    const long column = csv_column(table, name);
    double value;

    if (column < 0 || number_parse(csv_cell(table, row, (size_t)column), &value) != STATUS_OK)
        return (double)NAN;
    return value;
}

/* Whether a row tells of the device's bandwidth: it reads, on all SMs, much more than the start of a kernel takes. */
static bool is_judged(const struct csv_table *table, size_t row, double sm_count)
{
    const double mode = cell(table, row, "mode"), grid = cell(table, row, "grid_ctas");

    return !(mode > 0.0) && cell(table, row, "touched_bytes") >= LEAST_BYTES && (isnan(sm_count) || grid >= sm_count);
}

/* The driver's figure is of an SM filled with CTAs: what the grid really has on the device at once. NaN: not told. */
static double flight_bytes(const struct csv_table *table, size_t row, const char *figures, double sm_count)
{
    const double grid = cell(table, row, "grid_ctas"), per_sm = cell(table, row, "driver_ctas_per_sm");

    return figure_value(figures, "in_flight_bytes_per_sm") / per_sm *
           (isnan(sm_count) ? grid : fmin(grid, per_sm * sm_count));
}

static void take_row(const struct csv_table *table, size_t row, const struct flight_device *gpu,
                     struct flight_points *points)
{
    const long figures = csv_column(table, "figures"), device = csv_column(table, "device");
    const double x = flight_bytes(table, row, csv_cell(table, row, (size_t)figures), gpu->sm_count);
    const double time_us = cell(table, row, "cold_us") - gpu->start_us;

    if (!(x > 0.0 && time_us > 0.0))
        return;
    if (!is_judged(table, row, gpu->sm_count)) {
        points->left_out++;
        return;
    }
    points->x_mib[points->count] = x / BYTES_PER_MIB;
    points->y_gb[points->count++] = cell(table, row, "touched_bytes") / (time_us * SECONDS_PER_US) / BYTES_PER_GB;
    if (device >= 0 && points->device[0] == '\0')
        (void)snprintf(points->device, sizeof points->device, "%s", csv_cell(table, row, (size_t)device));
}

static enum status read_points(const char *path, const struct flight_device *gpu, struct figure_sheet *sheet,
                               struct flight_points *points, struct error *error)
{
    struct csv_table table = {0};
    enum status status = csv_read(path, FILE_BYTES_MAX, &table, error);

    if (status != STATUS_OK)
        return status;
    points->x_mib = sheet_numbers(sheet, table.row_count);
    points->y_gb = sheet_numbers(sheet, table.row_count);
    if (csv_column(&table, "figures") < 0)
        status = error_set_at(error, STATUS_BAD_DATA, table.file, 1, 0, "no column figures: not a bandwidth benchmark");
    for (size_t r = 0; status == STATUS_OK && !sheet->failed && r < table.row_count; r++)
        take_row(&table, r, gpu, points);
    if (status == STATUS_OK && points->count == 0)
        status = error_set_at(error, STATUS_BAD_DATA, table.file, 0, 0,
                              "no row tells in_flight_bytes_per_sm, cold_us, touched_bytes, grid_ctas and "
                              "driver_ctas_per_sm of a read on all SMs");
    csv_table_release(&table);
    return status;
}

static const char *stem(struct figure_sheet *sheet, const char *path)
{
    const char *base = strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;

    return sheet_text(sheet, "%.*s", (int)strcspn(base, "."), base);
}

static double line_gb(const struct time_model *model, double mib)
{
    const double p = model->overlap_exponent, flight = mib * BYTES_PER_MIB / model->dram_latency_s;

    return pow(pow(flight, -p) + pow(model->dram_bytes_per_s, -p), -1.0 / p) / BYTES_PER_GB;
}

static void add_line(struct figure_sheet *sheet, const struct time_model *model, double from_mib, double to_mib)
{
    double *x = sheet_numbers(sheet, LINE_POINTS), *y = sheet_numbers(sheet, LINE_POINTS);
    char latency[32], gb[32];

    if (sheet->failed)
        return;
    for (size_t i = 0; i < LINE_POINTS; i++) {
        x[i] = from_mib * pow(to_mib / from_mib, (double)i / (LINE_POINTS - 1));
        y[i] = line_gb(model, x[i]);
    }
    sheet_add_series(sheet,
                     (struct figure_series){
                         .label = sheet_text(sheet, "model: %s ns, %s GB/s",
                                             number_format_digits(model->dram_latency_s / SECONDS_PER_NS, 3, latency),
                                             number_format_digits(model->dram_bytes_per_s / BYTES_PER_GB, 4, gb)),
                         .style = SERIES_STYLE_LINE,
                         .count = LINE_POINTS,
                         .x = x,
                         .y = y,
                         .color_index = PLOT_COLOR_BASE});
}

/* The GPU of the rows: as asked for, else by the name in the first file; NULL where it is not in the catalogue. */
static const struct gpu_device *find_device(const struct plot_request *request)
{
    const struct gpu_device *device = request->device;
    struct csv_table table = {0};
    struct error ignored = {0};

    if (device != NULL || csv_read(request->files[0], FILE_BYTES_MAX, &table, &ignored) != STATUS_OK)
        return device;
    const long column = csv_column(&table, "device");
    if (column >= 0 && table.row_count > 0 &&
        device_catalogue_find(request->catalogue, csv_cell(&table, 0, (size_t)column), &device, &ignored) != STATUS_OK)
        device = NULL;
    csv_table_release(&table);
    return device;
}

/* "bandwidth_gather: 42 % of the line in the median (16 to 75 %)." for every series; what is far off is said. */
static const char *beside_line(struct figure_sheet *sheet, const struct time_model *model)
{
    const char *text = "";

    for (size_t s = 0; s < sheet->figure.series_count; s++) {
        const struct figure_series *series = &sheet->series[s];
        double *shares = series->style == SERIES_STYLE_POINTS ? sheet_numbers(sheet, series->count) : NULL;
        char median[32], least[32], most[32];

        if (shares == NULL || series->count == 0)
            continue;
        for (size_t i = 0; i < series->count; i++)
            shares[i] = 100.0 * series->y[i] / line_gb(model, series->x[i]);
        sort_doubles(shares, series->count);
        text = sheet_text(sheet, "%s%s: %s %% of the line in the median (%s to %s). ", text, series->label,
                          number_format_digits(quantile_sorted(shares, series->count, 0.5), 3, median),
                          number_format_digits(shares[0], 3, least),
                          number_format_digits(shares[series->count - 1], 3, most));
    }
    return text;
}

/* The model's line, where the GPU is known with its figures; else why there is none. */
static const char *add_model(struct figure_sheet *sheet, const struct gpu_device *device, double least_mib,
                             double most_mib)
{
    struct model_parameters parameters;
    struct time_model *model = sheet_memory(sheet, sizeof *model);
    struct error reason = {0};

    if (model == NULL || device == NULL)
        return "No line of the model: the GPU is not known (--device names it). ";
    model_parameters_init(&parameters);
    if (time_model_init(model, device, &parameters, &reason) != STATUS_OK)
        return sheet_text(sheet, "No line of the model: %s. ", reason.text);
    const char *beside = beside_line(sheet, model);
    add_line(sheet, model, least_mib, most_mib);
    return sheet_text(sheet, "The line: figures of %s, parameters uncalibrated. %s", device->title, beside);
}

enum status plot_saturation(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    static const int colors[] = {PLOT_COLOR_MEASURED, PLOT_COLOR_VARIANT, PLOT_COLOR_BEST, PLOT_COLOR_FOURTH};
    double least = (double)INFINITY, most = 0.0;
    const struct gpu_device *gpu = find_device(request);
    struct flight_device known = {(double)NAN, 0.0};
    size_t left_out = 0;
    char device[96] = "";

    if (gpu != NULL && isfinite(gpu_device_value(gpu, GPU_FIGURE_SM_COUNT)))
        known.sm_count = gpu_device_value(gpu, GPU_FIGURE_SM_COUNT);
    if (gpu != NULL && isfinite(gpu_device_value(gpu, GPU_FIGURE_LAUNCH_LATENCY)))
        known.start_us = gpu_device_value(gpu, GPU_FIGURE_LAUNCH_LATENCY) / SECONDS_PER_US;
    for (size_t i = 0; i < request->file_count; i++) {
        struct flight_points points = {0};
        enum status status = read_points(request->files[i], &known, sheet, &points, error);

        if (status != STATUS_OK)
            return status;
        left_out += points.left_out;
        for (size_t k = 0; k < points.count; k++) {
            least = fmin(least, points.x_mib[k]);
            most = fmax(most, points.x_mib[k]);
        }
        if (device[0] == '\0')
            memcpy(device, points.device, sizeof device);
        else if (strcmp(device, points.device) != 0)
            return error_set(error, STATUS_BAD_DATA, "%s was measured on %s, the other rows on %s", request->files[i],
                             points.device, device);
        sheet_add_series(sheet, (struct figure_series){.label = stem(sheet, request->files[i]),
                                                       .style = SERIES_STYLE_POINTS,
                                                       .count = points.count,
                                                       .x = points.x_mib,
                                                       .y = points.y_gb,
                                                       .color_index = colors[i % 4]});
    }
    const char *model = add_model(sheet, gpu, least, most);
    sheet->figure.title = "bandwidth over bytes in flight";
    sheet->figure.x_label = "bytes in flight on the device (MiB)";
    sheet->figure.y_label = "read from DRAM (GB/s)";
    sheet->figure.x_logarithmic = sheet->figure.y_logarithmic = true;
    sheet->figure.caption =
        sheet_text(sheet,
                   "%sLess the start of a kernel; %zu rows that write, read little or leave SMs idle are "
                   "left out. Measured on %s; drawn %s.",
                   model, left_out, device[0] == '\0' ? "an unnamed GPU" : device, plot_date(sheet));
    return sheet_check(sheet, error);
}
