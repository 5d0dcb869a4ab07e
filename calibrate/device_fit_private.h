/* SPDX-License-Identifier: GPL-3.0-or-later
 * Between device_figures.c and the device_fit_*.c, one of which answers each question. */
#ifndef OCCAM_CALIBRATE_DEVICE_FIT_PRIVATE_H
#define OCCAM_CALIBRATE_DEVICE_FIT_PRIVATE_H

#include <stdbool.h>

#include "calibrate/device_figures.h"
#include "calibrate/robust_fit.h"

struct device_fit {
    const struct benchmark_rows *all;
    const struct gpu_device *device;
    struct device_figures *out;
    size_t count;                        /* rows picked */
    const struct benchmark_row **picked; /* room for all rows */
    double *values, *scratch;            /* room for all rows each; values of the picked rows */
    struct error *error;
};

/* True for a row that belongs to a question. */
typedef bool device_fit_wanted(const struct device_fit *self, const struct benchmark_row *row);

/* The rows of one benchmark that are wanted (NULL: all), into self->picked. Returns their number. */
size_t device_fit_pick(struct device_fit *self, enum benchmark benchmark, device_fit_wanted *wanted);

/* A figure of a device file (id), or with id -1 one of our own called name in unit (both static). Its rows are the
 * picked ones. NULL, silently, once the list is full (a mistake of ours, caught by the tests). */
struct device_figure *device_fit_add(struct device_fit *self, int id, const char *name, const char *unit);
/* What is known of the value, in the figure's unit. */
void device_fit_set(struct device_figure *figure, double value, double sigma, double freedom);
void device_fit_set_bound(struct device_figure *figure, enum device_figure_bound bound, double value);
/* From a fitted parameter times factor; a parameter that the rows do not inform becomes a note. */
void device_fit_set_parameter(struct device_figure *figure, const struct robust_fit *fit, size_t parameter,
                              double factor);
/* Centre of self->values[0..count) with its standard error; floor: what each value is known to by itself. */
void device_fit_set_centre(struct device_fit *self, struct device_figure *figure, double floor);
void device_fit_say(struct device_figure *figure, const char *format, ...) PRINTF_LIKE(2, 3);
void device_fit_note(struct device_figure *figure, const char *format, ...) PRINTF_LIKE(2, 3);

MUST_CHECK enum status device_fit_latency(struct device_fit *self);
MUST_CHECK enum status device_fit_bandwidth(struct device_fit *self);
MUST_CHECK enum status device_fit_tensor(struct device_fit *self);
MUST_CHECK enum status device_fit_launch(struct device_fit *self);
MUST_CHECK enum status device_fit_execution(struct device_fit *self);

#endif
