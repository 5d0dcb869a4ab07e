/* SPDX-License-Identifier: GPL-3.0-or-later
 * Barriers, special functions, fused multiply-adds and SMEM of one SM (docs/MODEL.md FIG-6). */
#include <math.h>

#include "calibrate/device_fit_private.h"

enum {
    OPERATION_BARRIER,
    OPERATION_EXP2,
    OPERATION_FMA,
    LANES = 32,
    BARRIER_WARPS = 4, /* of the CTA that the device file's figure is of */
    BUSY_WARPS = 16,
    SMEM_WIDE_MODE_LAST = 1 /* ldmatrix and 16 bytes a lane */
};
static const double row_log_sigma = 0.001;

static bool barrier(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->operation == OPERATION_BARRIER;
}

static bool busy_exp2(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->operation == OPERATION_EXP2 && row->warps >= BUSY_WARPS && row->chains > 1;
}

static bool busy_fma(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->operation == OPERATION_FMA && row->warps >= BUSY_WARPS && row->chains > 1;
}

static bool plain_smem(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->mode <= SMEM_WIDE_MODE_LAST && row->stride == 1;
}

static double barrier_law(const double *parameters, const void *rows, size_t i)
{
    const struct benchmark_row *row = ((const struct benchmark_row *const *)rows)[i];
    return parameters[0] + parameters[1] * row->warps;
}

/* The device file's figure is of four warps; the line's variance there counts intercept and slope as independent, which
 * overstates it. */
static enum status add_barrier(struct device_fit *self)
{
    struct robust_fit fit = {.parameter_count = 2};
    if (device_fit_pick(self, BENCHMARK_BARRIER_AND_EXP, barrier) <= 2) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < self->count; i++) {
        self->values[i] = self->picked[i]->iteration_cycles;
    }
    fit.parameters[0] = (struct robust_fit_parameter){.name = "once", .start = 12, .prior_log = 1};
    fit.parameters[1] = (struct robust_fit_parameter){.name = "per warp", .start = 2, .prior_log = 1};
    const enum status status = robust_fit_run(&fit, barrier_law, (const void *)self->picked, self->values, self->count,
                                              row_log_sigma, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    const double once = fit.parameters[0].value, per_warp = fit.parameters[1].value;
    struct device_figure *figure = device_fit_add(self, GPU_FIGURE_BARRIER, NULL, NULL);
    device_fit_set(figure, once + per_warp * BARRIER_WARPS,
                   hypot(once * fit.parameters[0].log_sigma, per_warp * BARRIER_WARPS * fit.parameters[1].log_sigma),
                   0);
    device_fit_say(figure, "%.1f + %.2f cycles per warp, at %d warps; scatter %.2f %%", once, per_warp, BARRIER_WARPS,
                   100 * fit.scatter_log);
    return STATUS_OK;
}

static void add_lanes(struct device_fit *self, device_fit_wanted *wanted, enum gpu_figure_id id, const char *what)
{
    if (device_fit_pick(self, BENCHMARK_BARRIER_AND_EXP, wanted) == 0) {
        return;
    }
    double most = 0;
    for (size_t i = 0; i < self->count; i++) {
        const struct benchmark_row *row = self->picked[i];
        most = fmax(most, row->warps * LANES * row->chains / row->iteration_cycles);
    }
    struct device_figure *figure = device_fit_add(self, (int)id, NULL, NULL);
    device_fit_set_bound(figure, DEVICE_FIGURE_AT_LEAST, most);
    device_fit_say(figure, "most results of %s per cycle, %d warps and more", what, BUSY_WARPS);
    device_fit_note(figure, "the loop around them is in it: the lanes are as many or more");
}

enum {
    BYTES,
    ALONE,
    EXPONENT,
    PARAMETERS
};

/* Bytes per cycle of w warps: each alone, until the SM's width is reached. */
static double smem_law(const double *parameters, const void *rows, size_t i)
{
    const struct benchmark_row *row = ((const struct benchmark_row *const *)rows)[i];
    const double x = row->warps * parameters[ALONE] / parameters[BYTES];
    return parameters[BYTES] * x * exp(-log1p(pow(x, parameters[EXPONENT])) / parameters[EXPONENT]);
}

static enum status add_smem(struct device_fit *self)
{
    struct robust_fit fit = {.parameter_count = PARAMETERS};
    if (device_fit_pick(self, BENCHMARK_SMEM_BANDWIDTH, plain_smem) <= PARAMETERS) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < self->count; i++) {
        self->values[i] = self->picked[i]->bytes_per_cycle_per_sm;
    }
    fit.parameters[BYTES] = (struct robust_fit_parameter){.name = "width", .start = 128, .prior_log = 1};
    fit.parameters[ALONE] = (struct robust_fit_parameter){.name = "one warp", .start = 30, .prior_log = 1};
    fit.parameters[EXPONENT] = (struct robust_fit_parameter){.name = "exponent", .start = 6, .prior_log = 1};
    const enum status status = robust_fit_run(&fit, smem_law, (const void *)self->picked, self->values, self->count,
                                              row_log_sigma, self->error);
    if (status == STATUS_OK) {
        struct device_figure *figure = device_fit_add(self, GPU_FIGURE_SMEM_BANDWIDTH, NULL, NULL);
        device_fit_set_parameter(figure, &fit, BYTES, 1);
        device_fit_say(figure,
                       "%.1f bytes per cycle and warp until the width is reached, exponent %.0f; scatter %.1f %%",
                       fit.parameters[ALONE].value, fit.parameters[EXPONENT].value, 100 * fit.scatter_log);
    }
    return status;
}

enum status device_fit_execution(struct device_fit *self)
{
    enum status status = add_barrier(self);
    if (status == STATUS_OK) {
        add_lanes(self, busy_exp2, GPU_FIGURE_SPECIAL_LANES, "ex2.approx");
        add_lanes(self, busy_fma, GPU_FIGURE_FP32_LANES, "fma");
        status = add_smem(self);
    }
    return status;
}
