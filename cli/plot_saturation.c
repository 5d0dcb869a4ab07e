/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `saturation`: bandwidth over bytes in flight on the device as the microbenchmarks measured it, the line
 * that the device's latency and sustained bandwidth give (Little's law under a ceiling, joined as the model joins
 * bounds). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/plot_table.h"

enum {
    LINE_POINTS = 80
};
#define FILE_BYTES_MAX (64u << 20)

struct flight_points {
    size_t count;
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

/* The driver's figure is of an SM filled with CTAs: what the grid really has on the device at once. NaN: not told. */
static double flight_bytes(const struct csv_table *table, size_t row, const char *figures, double sm_count)
{
    static const char *const names[] = {"grid_ctas", "driver_ctas_per_sm"};
    double values[2];

    for (int i = 0; i < 2; i++) {
        const long column = csv_column(table, names[i]);

        if (column < 0 || number_parse(csv_cell(table, row, (size_t)column), &values[i]) != STATUS_OK ||
            !(values[i] > 0.0))
            return (double)NAN;
    }
    return figure_value(figures, "in_flight_bytes_per_sm") / values[1] * fmin(values[0], values[1] * sm_count);
}

/* Rows that ran and went to DRAM. */
static enum status read_points(const char *path, double sm_count, struct figure_sheet *sheet,
                               struct flight_points *points, struct error *error)
{
    struct csv_table table = {0};
    enum status status = csv_read(path, FILE_BYTES_MAX, &table, error);

    if (status != STATUS_OK)
        return status;
    const long figures = csv_column(&table, "figures"), device = csv_column(&table, "device");
    if (figures < 0) {
        status = error_set_at(error, STATUS_BAD_DATA, table.file, 1, 0, "no column figures: not a bandwidth benchmark");
        csv_table_release(&table);
        return status;
    }
    points->x_mib = sheet_numbers(sheet, table.row_count);
    points->y_gb = sheet_numbers(sheet, table.row_count);
    for (size_t r = 0; !sheet->failed && r < table.row_count; r++) {
        const char *text = csv_cell(&table, r, (size_t)figures);
        const double x = flight_bytes(&table, r, text, sm_count), y = figure_value(text, "cold_gb_per_s");

        if (!(x > 0.0 && y > 0.0))
            continue;
        points->x_mib[points->count] = x / BYTES_PER_MIB;
        points->y_gb[points->count++] = y;
        if (device >= 0 && points->device[0] == '\0')
            (void)snprintf(points->device, sizeof points->device, "%s", csv_cell(&table, r, (size_t)device));
    }
    if (points->count == 0)
        status = error_set_at(error, STATUS_BAD_DATA, table.file, 0, 0,
                              "no row tells in_flight_bytes_per_sm, cold_gb_per_s, grid_ctas and driver_ctas_per_sm");
    csv_table_release(&table);
    return status;
}

static const char *stem(struct figure_sheet *sheet, const char *path)
{
    const char *base = strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;

    return sheet_text(sheet, "%.*s", (int)strcspn(base, "."), base);
}

static void add_line(struct figure_sheet *sheet, const struct time_model *model, double from_mib, double to_mib)
{
    double *x = sheet_numbers(sheet, LINE_POINTS), *y = sheet_numbers(sheet, LINE_POINTS);
    const double p = model->overlap_exponent;
    char latency[32], gb[32];

    if (sheet->failed)
        return;
    for (size_t i = 0; i < LINE_POINTS; i++) {
        x[i] = from_mib * pow(to_mib / from_mib, (double)i / (LINE_POINTS - 1));
        const double flight = x[i] * BYTES_PER_MIB / model->dram_latency_s;

        y[i] = pow(pow(flight, -p) + pow(model->dram_bytes_per_s, -p), -1.0 / p) / BYTES_PER_GB;
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
    add_line(sheet, model, least_mib, most_mib);
    return sheet_text(sheet, "The line: figures of %s, parameters uncalibrated. ", device->title);
}

enum status plot_saturation(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    static const int colors[] = {PLOT_COLOR_MEASURED, PLOT_COLOR_VARIANT, PLOT_COLOR_BEST, PLOT_COLOR_FOURTH};
    double least = (double)INFINITY, most = 0.0;
    const struct gpu_device *gpu = find_device(request);
    const double sms = gpu == NULL ? (double)NAN : gpu_device_value(gpu, GPU_FIGURE_SM_COUNT);
    char device[96] = "";

    for (size_t i = 0; i < request->file_count; i++) {
        struct flight_points points = {0};
        enum status status =
            read_points(request->files[i], isfinite(sms) ? sms : (double)INFINITY, sheet, &points, error);

        if (status != STATUS_OK)
            return status;
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
    sheet->figure.y_label = "from DRAM (GB/s)";
    sheet->figure.x_logarithmic = sheet->figure.y_logarithmic = true;
    sheet->figure.caption = sheet_text(sheet, "%sMeasured on %s; %s.", model,
                                       device[0] == '\0' ? "an unnamed GPU" : device, plot_date(sheet));
    return sheet_check(sheet, error);
}
