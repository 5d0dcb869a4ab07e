/* SPDX-License-Identifier: GPL-3.0-or-later
 * Launches: the time from one kernel to the next, the rate at which CTAs start, and what a slot loses when its CTA is
 * replaced (docs/MODEL.md FIG-5). */
#include <math.h>

#include "calibrate/device_fit_private.h"

enum {
    MANY_LAUNCHES = 200, /* of a chain, so that its start does not count */
    FEW_THREADS = 128
};
static const double row_log_sigma = 0.003;
/* The global timer steps by 32 ns: its error is uniform. */
static const double timer_step_ns = 32;

static double sm_count(const struct device_fit *self)
{
    return gpu_device_value(self->device, GPU_FIGURE_SM_COUNT);
}

static bool single_cta(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->launches >= MANY_LAUNCHES && row->ctas == 1;
}

static bool one_per_sm(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->launches >= MANY_LAUNCHES && row->ctas == sm_count(self);
}

static bool several_waves(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->launches >= MANY_LAUNCHES && row->ctas > sm_count(self) * row->driver_ctas_per_sm;
}

static bool small_grid(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->launches >= MANY_LAUNCHES && row->ctas <= sm_count(self) && row->stream_launch_us > 0;
}

static void take_graph(struct device_fit *self)
{
    for (size_t i = 0; i < self->count; i++) {
        self->values[i] = self->picked[i]->graph_launch_us;
    }
}

static void add_intervals(struct device_fit *self)
{
    if (device_fit_pick(self, BENCHMARK_LAUNCH_CHAIN, single_cta) > 0) {
        take_graph(self);
        struct device_figure *gap = device_fit_add(self, GPU_FIGURE_GRAPH_GAP, NULL, NULL);
        device_fit_set_bound(gap, DEVICE_FIGURE_AT_MOST, self->values[0]);
        device_fit_say(gap, "one launch after the other in a graph, each of one CTA that does nothing");
        device_fit_note(gap, "that CTA's own time is in it");
    }
    if (device_fit_pick(self, BENCHMARK_LAUNCH_CHAIN, one_per_sm) > 0) {
        take_graph(self);
        struct device_figure *interval = device_fit_add(self, -1, "graph_launch_interval_us", "us");
        device_fit_set_centre(self, interval, row_log_sigma * self->values[0]);
        device_fit_say(interval, "the same with one CTA on each SM: gap, start and drain together");
    }
    if (device_fit_pick(self, BENCHMARK_LAUNCH_CHAIN, small_grid) > 0) {
        double least = HUGE_VAL;
        for (size_t i = 0; i < self->count; i++) {
            least = fmin(least, self->picked[i]->stream_launch_us);
        }
        struct device_figure *gap = device_fit_add(self, GPU_FIGURE_STREAM_GAP, NULL, NULL);
        device_fit_set_bound(gap, DEVICE_FIGURE_AT_MOST, least);
        device_fit_say(gap, "one launch after the other in a stream");
        device_fit_note(gap, "the processor that submits them is what limits it");
    }
}

static double line_law(const double *parameters, const void *rows, size_t i)
{
    const struct benchmark_row *row = ((const struct benchmark_row *const *)rows)[i];
    return parameters[0] + parameters[1] * row->ctas;
}

static enum status add_rate(struct device_fit *self)
{
    struct robust_fit fit = {.parameter_count = 2};
    if (device_fit_pick(self, BENCHMARK_LAUNCH_CHAIN, several_waves) <= 2) {
        return STATUS_OK;
    }
    take_graph(self);
    fit.parameters[0] = (struct robust_fit_parameter){.name = "gap", .start = 1, .prior_log = 1};
    fit.parameters[1] = (struct robust_fit_parameter){.name = "per CTA", .start = 1e-3, .prior_log = 1};
    const enum status status = robust_fit_run(&fit, line_law, (const void *)self->picked, self->values, self->count,
                                              row_log_sigma, self->error);
    if (status == STATUS_OK) {
        struct device_figure *figure = device_fit_add(self, -1, "cta_replacement_interval_ns", "ns");
        device_fit_set_parameter(figure, &fit, 1, 1e3);
        device_fit_say(figure, "time of a launch of several waves of CTAs that do nothing, per CTA of the whole GPU");
        device_fit_note(figure, "threads of a CTA (32 to 512) make no difference: CTAs are handed out one by one");
    }
    return status;
}

/* Without values to keep alive, clusters or registers to fill first. */
static bool plain_probe(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->pad == 0 && row->cluster == 1 && row->threads <= FEW_THREADS;
}

static bool first_fill(const struct device_fit *self, const struct benchmark_row *row)
{
    return plain_probe(self, row) && row->first_round_starts_ns > 0 && row->first_round_ctas >= 4 * sm_count(self);
}

static bool many_rounds(const struct device_fit *self, const struct benchmark_row *row)
{
    return plain_probe(self, row) && row->rounds_count >= 2 && row->hold_us >= 10;
}

static double fill_law(const double *parameters, const void *rows, size_t i)
{
    const struct benchmark_row *row = ((const struct benchmark_row *const *)rows)[i];
    return parameters[0] + parameters[1] * row->first_round_ctas;
}

static double rounds_law(const double *parameters, const void *rows, size_t i)
{
    const struct benchmark_row *row = ((const struct benchmark_row *const *)rows)[i];
    return parameters[0] + parameters[1] * row->rounds_count;
}

static enum status add_fill(struct device_fit *self)
{
    struct robust_fit fit = {.parameter_count = 2};
    if (device_fit_pick(self, BENCHMARK_WAVE_PROBE, first_fill) <= 2) {
        return STATUS_OK;
    }
    double least = HUGE_VAL;
    for (size_t i = 0; i < self->count; i++) {
        self->values[i] = self->picked[i]->first_round_starts_ns;
        least = fmin(least, self->values[i]);
    }
    fit.parameters[0] = (struct robust_fit_parameter){.name = "start", .start = 60, .prior_log = 1};
    fit.parameters[1] = (struct robust_fit_parameter){.name = "per CTA", .start = 0.1, .prior_log = 1};
    const enum status status = robust_fit_run(&fit, fill_law, (const void *)self->picked, self->values, self->count,
                                              timer_step_ns / sqrt(12) / least, self->error);
    if (status == STATUS_OK) {
        struct device_figure *figure = device_fit_add(self, -1, "cta_first_start_interval_ns", "ns");
        device_fit_set_parameter(figure, &fit, 1, 1);
        device_fit_say(figure, "from the first start to the last of the first wave, per CTA of the whole GPU");
        device_fit_note(figure, "an empty GPU is filled faster than CTAs are replaced");
    }
    return status;
}

/* Every round of CTAs that hold their slot for a fixed time takes longer than that time by the same amount. */
static enum status add_turnover(struct device_fit *self)
{
    struct robust_fit fit = {.parameter_count = 2};
    if (device_fit_pick(self, BENCHMARK_WAVE_PROBE, many_rounds) <= 2) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < self->count; i++) {
        const struct benchmark_row *row = self->picked[i];
        self->values[i] = (row->span_us - row->rounds_count * row->hold_us) * 1e3;
        if (!(self->values[i] > 0)) {
            return error_set_at(self->error, STATUS_BAD_DATA, self->all->files[row->file], row->line, 0,
                                "rounds_count times hold_us is more than span_us");
        }
    }
    fit.parameters[0] = (struct robust_fit_parameter){.name = "start", .start = 300, .prior_log = 1};
    fit.parameters[1] = (struct robust_fit_parameter){.name = "per round", .start = 300, .prior_log = 1};
    const enum status status =
        robust_fit_run(&fit, rounds_law, (const void *)self->picked, self->values, self->count, 0.02, self->error);
    if (status == STATUS_OK) {
        struct device_figure *figure = device_fit_add(self, GPU_FIGURE_CTA_START, NULL, NULL);
        device_fit_set_parameter(figure, &fit, 1, 1);
        device_fit_say(figure, "rounds of CTAs that hold their slot: time lost per round; scatter %.0f %%",
                       100 * fit.scatter_log);
        device_fit_note(figure,
                        "end of the old CTA and start of the new one together; up to %g ns of it are the step "
                        "of the timer that ends the hold",
                        timer_step_ns);
    }
    return status;
}

enum status device_fit_launch(struct device_fit *self)
{
    add_intervals(self);
    enum status status = add_rate(self);
    status = status == STATUS_OK ? add_fill(self) : status;
    return status == STATUS_OK ? add_turnover(self) : status;
}
