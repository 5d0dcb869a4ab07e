/* SPDX-License-Identifier: GPL-3.0-or-later
 * mma.sync: latency of a dependent chain, interval between independent ones by warps and accumulators, and the clock
 * that is left under full load (docs/MODEL.md FIG-4). */
#include <math.h>

#include "calibrate/device_fit_private.h"

enum {
    SUB_CORES = 4,
    FORMAT_BF16 = 0,
    FORMAT_FP8 = 1
};
/* A row of many is known to this: start and end of the timed loop. */
static const double row_log_sigma = 0.002;
/* Rows of one CTA per SM: with more, older warps go first, and a CTA's own cycles say nothing of its share. */
static const double alone = 1;
/* A launch shorter than this is as much launch as load. */
static const double long_us = 200;

enum {
    LATENCY,
    INTERVAL,
    EXPONENT,
    PARAMETERS
};

static double warps_of_a_sub_core(const struct benchmark_row *row)
{
    return ceil(row->warps / SUB_CORES);
}

/* Cycles per instruction of a warp: its own chain, or the pipe it shares with the warps of its sub-core. */
static double interval_law(const double *parameters, const void *rows, size_t i)
{
    const struct benchmark_row *row = ((const struct benchmark_row *const *)rows)[i];
    const double chain = parameters[LATENCY] / row->accumulators,
                 pipe = parameters[INTERVAL] * warps_of_a_sub_core(row);
    const double p = parameters[EXPONENT], most = fmax(chain, pipe);
    return most * pow(pow(chain / most, p) + pow(pipe / most, p), 1 / p);
}

static bool bf16_alone(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->format == FORMAT_BF16 && row->ctas_per_sm == alone;
}

static bool fp8_alone(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->format == FORMAT_FP8 && row->ctas_per_sm == alone;
}

static bool bf16_chain(const struct device_fit *self, const struct benchmark_row *row)
{
    return bf16_alone(self, row) && row->accumulators == 1 && row->warps <= SUB_CORES;
}

static bool fp8_chain(const struct device_fit *self, const struct benchmark_row *row)
{
    return fp8_alone(self, row) && row->accumulators == 1 && row->warps <= SUB_CORES;
}

static bool bf16_long(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->format == FORMAT_BF16 && row->ctas_per_sm > alone && row->warm_us >= long_us;
}

static void take_cycles(struct device_fit *self)
{
    for (size_t i = 0; i < self->count; i++) {
        self->values[i] = self->picked[i]->cycles_per_instruction_of_a_warp;
    }
}

static void add_chain(struct device_fit *self, device_fit_wanted *wanted, int id, const char *name)
{
    if (device_fit_pick(self, BENCHMARK_MMA_TILE, wanted) == 0) {
        return;
    }
    take_cycles(self);
    struct device_figure *figure = device_fit_add(self, id, name, "cycles");
    device_fit_set_centre(self, figure, row_log_sigma * self->values[0]);
    device_fit_say(figure, "one accumulator, at most one warp on a sub-core");
}

/* Returns the interval in cycles, NaN without rows. */
static enum status add_interval(struct device_fit *self, device_fit_wanted *wanted, const char *name,
                                const char *exponent_name, double *interval)
{
    struct robust_fit fit = {.parameter_count = PARAMETERS};
    *interval = (double)NAN;
    if (device_fit_pick(self, BENCHMARK_MMA_TILE, wanted) <= PARAMETERS) {
        return STATUS_OK;
    }
    take_cycles(self);
    fit.parameters[LATENCY] = (struct robust_fit_parameter){.name = "latency", .start = 24, .prior_log = 1};
    fit.parameters[INTERVAL] = (struct robust_fit_parameter){.name = "interval", .start = 6, .prior_log = 1};
    fit.parameters[EXPONENT] = (struct robust_fit_parameter){.name = "exponent", .start = 4, .prior_log = 1};
    const enum status status = robust_fit_run(&fit, interval_law, (const void *)self->picked, self->values, self->count,
                                              row_log_sigma, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    *interval = fit.parameters[INTERVAL].value;
    struct device_figure *figure = device_fit_add(self, -1, name, "cycles");
    device_fit_set_parameter(figure, &fit, INTERVAL, 1);
    device_fit_say(figure, "max(%.1f / accumulators, interval x warps of a sub-core), smooth; scatter %.1f %%",
                   fit.parameters[LATENCY].value, 100 * fit.scatter_log);
    device_fit_note(figure, "line %u is %.0f %% off", self->picked[fit.worst]->line, 100 * expm1(fit.worst_log));
    struct device_figure *exponent = device_fit_add(self, -1, exponent_name, "1");
    device_fit_set_parameter(exponent, &fit, EXPONENT, 1);
    device_fit_say(exponent, "of the smooth maximum of chain and pipe");
    return STATUS_OK;
}

/* m16n8k16 of 4,096 flop and four pipes, over the rate of the best instruction. */
static void add_share(struct device_fit *self, double interval)
{
    const double rate = gpu_device_value(self->device, GPU_FIGURE_BF16_RATE), flop = 2.0 * 16 * 8 * 16;
    if (!isfinite(interval) || !(rate > 0)) {
        return;
    }
    /* The interval was added just before its exponent. */
    const struct device_figure *source = &self->out->items[self->out->count - 2];
    const double log_sigma = source->sigma / source->value, share = SUB_CORES * flop / interval / rate;
    struct device_figure *figure = device_fit_add(self, GPU_FIGURE_MMA_SYNC_FRACTION, NULL, NULL);
    device_fit_set(figure, share, share * log_sigma, 0);
    device_fit_say(figure, "%.0f flop / %.3f cycles x %d sub-cores of %.0f flop per cycle and SM", flop, interval,
                   SUB_CORES, rate);
}

/* All pipes busy all the time: flop per second over flop per cycle is the clock. */
static void add_clock(struct device_fit *self, double interval)
{
    const double flop_per_cycle =
        gpu_device_value(self->device, GPU_FIGURE_SM_COUNT) * SUB_CORES * 2.0 * 16 * 8 * 16 / interval;
    if (!isfinite(interval) || device_fit_pick(self, BENCHMARK_MMA_TILE, bf16_long) == 0) {
        return;
    }
    for (size_t i = 0; i < self->count; i++) {
        self->values[i] = self->picked[i]->warm_tflop_per_s * 1e12 / flop_per_cycle / 1e6;
    }
    struct device_figure *figure = device_fit_add(self, -1, "clock_under_tensor_load_mhz", "MHz");
    device_fit_set_centre(self, figure, 0);
    device_fit_say(figure, "flop per second of launches over %g us over flop per cycle of full pipes", long_us);
    device_fit_note(figure, "the clock read after such a row is %.0f MHz; the launch's own time is not taken off",
                    self->picked[0]->sm_clock_mhz);
}

enum status device_fit_tensor(struct device_fit *self)
{
    double bf16, fp8;
    add_chain(self, bf16_chain, GPU_FIGURE_MMA_LATENCY, NULL);
    enum status status = add_interval(self, bf16_alone, "mma_bf16_interval_cycles", "mma_bf16_exponent", &bf16);
    if (status == STATUS_OK) {
        add_share(self, bf16);
        add_clock(self, bf16);
        add_chain(self, fp8_chain, -1, "mma_fp8_latency_cycles");
        status = add_interval(self, fp8_alone, "mma_fp8_interval_cycles", "mma_fp8_exponent", &fp8);
    }
    return status;
}
