/* SPDX-License-Identifier: GPL-3.0-or-later
 * Puts the figures of a device together, and against what its file states. */
#include "calibrate/device_figures.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "calibrate/device_fit_private.h"
#include "calibrate/gsl_errors.h"

static const double interval_level = 0.9;
/* A single row has no spread of its own; rows of one configuration that were measured again later differ by this much.
 */
static const double single_row_fraction = 0.01;
/* Device files state three digits. */
static const double rounding = 0.005;

size_t device_fit_pick(struct device_fit *self, enum benchmark benchmark, device_fit_wanted *wanted)
{
    self->count = 0;
    for (size_t i = 0; i < self->all->count; i++) {
        const struct benchmark_row *row = &self->all->rows[i];
        if (row->benchmark == benchmark && (!wanted || wanted(self, row))) {
            self->picked[self->count++] = row;
        }
    }
    return self->count;
}

/* "x.csv lines 5, 6, 9 and 14 more": of the first file alone where there are several. */
static void name_rows(const struct device_fit *self, struct device_figure *figure)
{
    figure->row_count = self->count;
    if (self->count == 0) {
        return;
    }
    int used = snprintf(figure->rows, sizeof figure->rows, "%.60s line%s", self->all->files[self->picked[0]->file],
                        self->count == 1 ? "" : "s");
    size_t i = 0;
    for (; i < self->count && used > 0 && (size_t)used < sizeof figure->rows - 32; i++) {
        used += snprintf(figure->rows + used, sizeof figure->rows - (size_t)used, "%s %u", i ? "," : "",
                         self->picked[i]->line);
    }
    if (i < self->count && used > 0) {
        (void)snprintf(figure->rows + used, sizeof figure->rows - (size_t)used, " and %zu more", self->count - i);
    }
}

struct device_figure *device_fit_add(struct device_fit *self, int id, const char *name, const char *unit)
{
    if (self->out->count >= DEVICE_FIGURES_MAX) {
        BUG("more than %d figures of a device", DEVICE_FIGURES_MAX);
    }
    struct device_figure *figure = &self->out->items[self->out->count++];
    *figure = (struct device_figure){
        .id = id, .unit = id >= 0 ? gpu_figure_unit((enum gpu_figure_id)id) : unit, .lo = NAN, .hi = NAN, .sigma = NAN};
    (void)snprintf(figure->name, sizeof figure->name, "%s", id >= 0 ? gpu_figure_column((enum gpu_figure_id)id) : name);
    name_rows(self, figure);
    return figure;
}

void device_fit_set(struct device_figure *figure, double value, double sigma, double freedom)
{
    const double tail = 0.5 + interval_level / 2;
    const double width = sigma * (freedom >= 1 ? gsl_cdf_tdist_Pinv(tail, freedom) : normal_quantile(tail));
    figure->bound = DEVICE_FIGURE_VALUE;
    figure->value = value;
    figure->sigma = sigma;
    figure->lo = value - width;
    figure->hi = value + width;
}

void device_fit_set_bound(struct device_figure *figure, enum device_figure_bound bound, double value)
{
    figure->bound = bound;
    figure->value = value;
}

void device_fit_set_parameter(struct device_figure *figure, const struct robust_fit *fit, size_t parameter,
                              double factor)
{
    const struct robust_fit_parameter *fitted = &fit->parameters[parameter];
    const double width = fitted->log_sigma * normal_quantile(0.5 + interval_level / 2);
    figure->value = fitted->value * factor;
    figure->sigma = figure->value * fitted->log_sigma;
    figure->lo = figure->value * exp(-width);
    figure->hi = figure->value * exp(width);
    if (!fitted->informed) {
        device_fit_note(figure, "the rows say little of it");
    }
    if (!fit->converged) {
        device_fit_note(figure, "the fit did not converge (%s)", fit->convergence);
    }
}

void device_fit_set_centre(struct device_fit *self, struct device_figure *figure, double floor)
{
    const size_t count = self->count;
    const double spread = standard_deviation(self->values, count);
    double centre = mean(self->values, count);
    if (count >= 5) { /* enough for an odd row to be outvoted */
        memcpy(self->scratch, self->values, count * sizeof *self->scratch);
        centre = median_in_place(self->scratch, count);
    }
    if (count == 1) {
        floor = fmax(floor, single_row_fraction * fabs(centre));
        device_fit_note(figure, "one row: its repeats are taken to differ by %g %%", 100 * single_row_fraction);
    }
    const double error = spread / sqrt((double)count);
    /* Student's width belongs to the spread of few rows, not to the floor. */
    device_fit_set(figure, centre, hypot(error, floor), error > floor ? (double)count - 1 : 0);
}

void device_fit_say(struct device_figure *figure, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(figure->method, sizeof figure->method, format, arguments);
    va_end(arguments);
}

void device_fit_note(struct device_figure *figure, const char *format, ...)
{
    const size_t used = strlen(figure->note);
    va_list arguments;
    const int joined = snprintf(figure->note + used, sizeof figure->note - used, "%s", used ? "; " : "");
    va_start(arguments, format);
    if (joined >= 0 && used + (size_t)joined < sizeof figure->note) {
        (void)vsnprintf(figure->note + used + joined, sizeof figure->note - used - (size_t)joined, format, arguments);
    }
    va_end(arguments);
}

enum status device_figures_fit(const struct benchmark_rows *rows, const struct gpu_device *device,
                               struct device_figures *figures, struct error *error)
{
    static enum status (*const questions[])(struct device_fit *) = {
        device_fit_latency, device_fit_bandwidth, device_fit_tensor, device_fit_launch, device_fit_execution};
    struct device_fit self = {.all = rows, .device = device, .out = figures, .error = error};
    *figures = (struct device_figures){0};
    gsl_errors_install();
    gsl_errors_clear();
    self.picked = malloc((rows->count + 1) * sizeof *self.picked);
    self.values = malloc((rows->count + 1) * sizeof *self.values);
    self.scratch = malloc((rows->count + 1) * sizeof *self.scratch);
    enum status status = self.picked && self.values && self.scratch
                             ? STATUS_OK
                             : error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", rows->count);
    for (size_t q = 0; q < sizeof questions / sizeof questions[0] && status == STATUS_OK; q++) {
        status = questions[q](&self);
    }
    free(self.picked);
    free(self.values);
    free(self.scratch);
    return status;
}

enum device_figure_verdict device_figure_compare(const struct device_figure *figure, const struct gpu_device *device,
                                                 double *stated)
{
    *stated = (double)NAN;
    if (figure->id < 0 || !isfinite(gpu_device_value(device, (enum gpu_figure_id)figure->id))) {
        return DEVICE_FIGURE_NEW;
    }
    const enum gpu_figure_id id = (enum gpu_figure_id)figure->id;
    const double value = *stated = gpu_device_value(device, id) / gpu_figure_si_factor(id);
    const double slack = rounding * figure->value;
    const bool above = value >= (figure->bound == DEVICE_FIGURE_VALUE ? figure->lo : figure->value) - slack;
    const bool below = value <= (figure->bound == DEVICE_FIGURE_VALUE ? figure->hi : figure->value) + slack;
    const bool agrees = figure->bound == DEVICE_FIGURE_AT_LEAST  ? above
                        : figure->bound == DEVICE_FIGURE_AT_MOST ? below
                                                                 : above && below;
    return agrees ? DEVICE_FIGURE_AGREES : DEVICE_FIGURE_DIFFERS;
}
