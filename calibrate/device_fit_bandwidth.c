/* SPDX-License-Identifier: GPL-3.0-or-later
 * Bytes per second against bytes in flight: DRAM, L2, the port of one SM (docs/MODEL.md FIG-3). */
#include <math.h>
#include <stdlib.h>

#include "calibrate/device_fit_private.h"

enum {
    MODE_READ = 0,
    LONE_SMS_MAX = 4 /* SMs so few that they cannot be in each other's way */
};
/* Of L2, for rows that are read from it: the rest is room for what else is there. */
static const double l2_share = 2.0 / 3;
/* Of what all ports carry, from which on they may be what bounds the reads. */
static const double ports_share = 0.8;
/* One row's median is known to half a percent; clocks and refresh add as much between rows. */
static const double row_log_sigma = 0.005;

/* One row of a stream: seconds = start + bytes / BW(in_flight). */
struct stream {
    double bytes, in_flight_bytes;
};

enum {
    BANDWIDTH,
    LATENCY,
    EXPONENT,
    START,
    PARAMETERS
};

/* BW(X) = B x / (1 + x^p)^(1/p), x = X / (B L): X / L while little is in flight, B when much is. */
static double saturating_law(const double *parameters, const void *rows, size_t i)
{
    const struct stream *stream = (const struct stream *)rows + i;
    const double x = stream->in_flight_bytes / (parameters[BANDWIDTH] * parameters[LATENCY]);
    const double rate = parameters[BANDWIDTH] * x * exp(-log1p(pow(x, parameters[EXPONENT])) / parameters[EXPONENT]);
    return parameters[START] + stream->bytes / rate;
}

static double line_law(const double *parameters, const void *rows, size_t i)
{
    return parameters[1] + ((const struct stream *)rows)[i].bytes / parameters[0];
}

static double sm_count(const struct device_fit *self)
{
    return gpu_device_value(self->device, GPU_FIGURE_SM_COUNT);
}

static bool whole_device_read(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->mode == MODE_READ && row->ctas >= sm_count(self) && row->driver_ctas_per_sm >= 1 && row->cold_us > 0;
}

static bool stays_in_l2(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->kib * 1024 <= l2_share * gpu_device_value(self->device, GPU_FIGURE_L2_CAPACITY);
}

static bool is_lone(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->mode == MODE_READ && row->ctas <= LONE_SMS_MAX && row->ctas < sm_count(self);
}

/* What L2 could hold is read too fast for the start of the kernel not to count. */
static bool lone_sm_read(const struct device_fit *self, const struct benchmark_row *row)
{
    return is_lone(self, row) && row->cold_us > 0 && !stays_in_l2(self, row);
}

static bool lone_warm_read(const struct device_fit *self, const struct benchmark_row *row)
{
    return is_lone(self, row) && row->warm_us > 0 && stays_in_l2(self, row);
}

static bool warm_read(const struct device_fit *self, const struct benchmark_row *row)
{
    return whole_device_read(self, row) && row->warm_us > 0 && stays_in_l2(self, row);
}

/* What the loads of all resident threads can have on their way, never more than there is to read. */
static void fill_streams(struct device_fit *self, struct stream *streams, bool warm)
{
    for (size_t i = 0; i < self->count; i++) {
        const struct benchmark_row *row = self->picked[i];
        const double ctas = fmin(row->ctas, row->driver_ctas_per_sm * sm_count(self));
        streams[i].bytes = row->kib * 1024;
        streams[i].in_flight_bytes = fmin(streams[i].bytes, ctas * row->threads * row->unroll * row->lane_bytes);
        self->values[i] = (warm ? row->warm_us : row->cold_us) * 1e-6;
    }
}

static void set_starts(const struct device_fit *self, struct robust_fit *fit)
{
    const double peak = gpu_device_value(self->device, GPU_FIGURE_DRAM_BANDWIDTH);
    *fit = (struct robust_fit){.parameter_count = PARAMETERS};
    fit->parameters[BANDWIDTH] = (struct robust_fit_parameter){.name = "bandwidth", .start = peak, .prior_log = 1};
    fit->parameters[LATENCY] = (struct robust_fit_parameter){.name = "latency", .start = 5e-7, .prior_log = 1};
    fit->parameters[EXPONENT] = (struct robust_fit_parameter){.name = "exponent", .start = 2, .prior_log = 1};
    fit->parameters[START] = (struct robust_fit_parameter){.name = "start", .start = 2e-6, .prior_log = 1};
}

static void describe_saturation(struct device_fit *self, const struct robust_fit *fit)
{
    const double peak = gpu_device_value(self->device, GPU_FIGURE_DRAM_BANDWIDTH);
    static const char law[] = "start + bytes / BW(in flight), ordered reads";
    struct device_figure *share = device_fit_add(self, GPU_FIGURE_DRAM_EFFICIENCY, NULL, NULL);
    device_fit_set_parameter(share, fit, BANDWIDTH, 1 / peak);
    device_fit_say(share, "%s: BW ends at %.0f of %.0f GB/s, scatter of the rows %.1f %%", law,
                   fit->parameters[BANDWIDTH].value / 1e9, peak / 1e9, 100 * fit->scatter_log);
    device_fit_note(share,
                    "row of line %u is %.0f %% off: the loads of one thread are not refilled before the last of "
                    "them is back, which the law does not know",
                    self->picked[fit->worst]->line, 100 * expm1(fit->worst_log));
    struct device_figure *latency = device_fit_add(self, -1, "dram_loaded_latency_ns", "ns");
    device_fit_set_parameter(latency, fit, LATENCY, 1e9);
    device_fit_say(latency, "%s: BW grows by 1 / latency", law);
    struct device_figure *exponent = device_fit_add(self, -1, "dram_saturation_exponent", "1");
    device_fit_set_parameter(exponent, fit, EXPONENT, 1);
    device_fit_say(exponent, "%s: how sharp BW bends", law);
    struct device_figure *start = device_fit_add(self, -1, "dram_read_start_us", "us");
    device_fit_set_parameter(start, fit, START, 1e6);
    device_fit_say(start, "%s: start and drain of a kernel with its first loads", law);
}

static enum status fit_dram(struct device_fit *self, struct stream *streams)
{
    struct robust_fit fit;
    if (!(gpu_device_value(self->device, GPU_FIGURE_DRAM_BANDWIDTH) > 0) ||
        device_fit_pick(self, BENCHMARK_BANDWIDTH_STREAM, whole_device_read) <= PARAMETERS) {
        return STATUS_OK;
    }
    fill_streams(self, streams, false);
    set_starts(self, &fit);
    const enum status status =
        robust_fit_run(&fit, saturating_law, streams, self->values, self->count, row_log_sigma, self->error);
    if (status == STATUS_OK) {
        describe_saturation(self, &fit);
    }
    return status;
}

static double row_clock_hz(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->sm_clock_mhz > 0 ? row->sm_clock_mhz * 1e6 : gpu_device_value(self->device, GPU_FIGURE_BOOST_CLOCK);
}

/* One SM alone has more in flight than its latency needs, so what is left is its port. */
static void fit_port(struct device_fit *self)
{
    if (device_fit_pick(self, BENCHMARK_BANDWIDTH_STREAM, lone_sm_read) == 0) {
        return;
    }
    for (size_t i = 0; i < self->count; i++) {
        const struct benchmark_row *row = self->picked[i];
        self->values[i] = row->kib * 1024 / (row->cold_us * 1e-6) / row->ctas / row_clock_hz(self, row);
    }
    struct device_figure *port = device_fit_add(self, GPU_FIGURE_SM_BANDWIDTH, NULL, NULL);
    device_fit_set_centre(self, port, row_log_sigma * self->values[0]);
    device_fit_say(port, "reads by 1 to %d SMs alone, per SM and cycle, from DRAM", LONE_SMS_MAX);
}

/* Time = start + bytes / bandwidth over the picked rows; bandwidth and start to begin with, in the unit of the times.
 */
static enum status fit_line(struct device_fit *self, const struct stream *streams, double bandwidth, double start,
                            struct robust_fit *fit)
{
    *fit = (struct robust_fit){.parameter_count = 2};
    fit->parameters[0] = (struct robust_fit_parameter){.name = "bandwidth", .start = bandwidth, .prior_log = 1};
    fit->parameters[1] = (struct robust_fit_parameter){.name = "start", .start = start, .prior_log = 1};
    return robust_fit_run(fit, line_law, streams, self->values, self->count, row_log_sigma, self->error);
}

/* The same from L2. */
static enum status fit_l2_port(struct device_fit *self, struct stream *streams)
{
    struct robust_fit fit;
    if (device_fit_pick(self, BENCHMARK_BANDWIDTH_STREAM, lone_warm_read) <= 2) {
        return STATUS_OK;
    }
    fill_streams(self, streams, true);
    for (size_t i = 0; i < self->count; i++) {
        streams[i].bytes /= self->picked[i]->ctas;
        self->values[i] *= row_clock_hz(self, self->picked[i]);
    }
    const enum status status = fit_line(self, streams, 64, 4000, &fit); /* bytes and cycles */
    if (status != STATUS_OK) {
        return status;
    }
    struct device_figure *port = device_fit_add(self, GPU_FIGURE_SM_L2_BANDWIDTH, NULL, NULL);
    device_fit_set_parameter(port, &fit, 0, 1);
    device_fit_say(port, "start + bytes / bandwidth of 1 to %d SMs alone that read from L2, scatter %.1f %%",
                   LONE_SMS_MAX, 100 * fit.scatter_log);
    return STATUS_OK;
}

static enum status fit_l2(struct device_fit *self, struct stream *streams)
{
    struct robust_fit fit;
    if (device_fit_pick(self, BENCHMARK_BANDWIDTH_STREAM, warm_read) <= 2) {
        return STATUS_OK;
    }
    fill_streams(self, streams, true);
    const enum status status = fit_line(self, streams, 5e12, 2e-6, &fit);
    if (status != STATUS_OK) {
        return status;
    }
    const double from_l2 = gpu_device_value(self->device, GPU_FIGURE_SM_L2_BANDWIDTH);
    const double port = isnan(from_l2) ? gpu_device_value(self->device, GPU_FIGURE_SM_BANDWIDTH) : from_l2;
    const double ports = sm_count(self) * port * gpu_device_value(self->device, GPU_FIGURE_BOOST_CLOCK);
    struct device_figure *rate = device_fit_add(self, GPU_FIGURE_L2_BANDWIDTH, NULL, NULL);
    device_fit_set_parameter(rate, &fit, 0, 1e-9);
    device_fit_say(rate, "start + bytes / bandwidth over %zu sizes that stay in L2, scatter %.1f %%", self->count,
                   100 * fit.scatter_log);
    if (fit.parameters[0].value > ports_share * ports) {
        device_fit_note(rate, "all ports of the SMs together carry %.0f GB/s: L2 itself may have more", ports / 1e9);
    }
    struct device_figure *start = device_fit_add(self, -1, "l2_read_start_us", "us");
    device_fit_set_parameter(start, &fit, 1, 1e6);
    device_fit_say(start, "the same law: start and drain of a kernel with its first loads from L2");
    /* That start holds a latency and the ramp; the launch by itself is shorter. */
    struct device_figure *launch = device_fit_add(self, GPU_FIGURE_LAUNCH_LATENCY, NULL, NULL);
    device_fit_set_bound(launch, DEVICE_FIGURE_AT_MOST, fit.parameters[1].value * 1e6);
    device_fit_say(launch, "a kernel that reads from L2 starts and drains in this time, loads included");
    device_fit_note(launch, "start of the kernel, gap to the next one and first loads cannot be told apart");
    return STATUS_OK;
}

static bool gather_row(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->ctas >= sm_count(self) && row->driver_ctas_per_sm >= 1 && row->stages >= 2 && row->cold_us > 0 &&
           row->touched_bytes > 0;
}

/* Whole rows by index: stages - 1 tiles of a CTA are on their way. */
static enum status fit_gather(struct device_fit *self, struct stream *streams)
{
    struct robust_fit fit;
    if (!(gpu_device_value(self->device, GPU_FIGURE_DRAM_BANDWIDTH) > 0) ||
        device_fit_pick(self, BENCHMARK_BANDWIDTH_GATHER, gather_row) <= PARAMETERS) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < self->count; i++) {
        const struct benchmark_row *row = self->picked[i];
        const double ctas = fmin(row->ctas, row->driver_ctas_per_sm * sm_count(self));
        streams[i].bytes = row->touched_bytes;
        streams[i].in_flight_bytes = ctas * row->rows * row->row_bytes * (row->stages - 1);
        self->values[i] = row->cold_us * 1e-6;
    }
    set_starts(self, &fit);
    const enum status status =
        robust_fit_run(&fit, saturating_law, streams, self->values, self->count, row_log_sigma, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    struct device_figure *rate = device_fit_add(self, -1, "gather_bandwidth_gb_per_s", "GB/s");
    device_fit_set_parameter(rate, &fit, BANDWIDTH, 1e-9);
    device_fit_say(rate, "start + bytes / BW(in flight), rows by index from DRAM; scatter %.0f %%",
                   100 * fit.scatter_log);
    device_fit_note(rate,
                    "the width of a row and the issue of its copies matter as well, which this law does not know: "
                    "no figure to predict with");
    return STATUS_OK;
}

enum status device_fit_bandwidth(struct device_fit *self)
{
    struct stream *streams = malloc((self->all->count + 1) * sizeof *streams);
    if (!streams) {
        return error_set(self->error, STATUS_NO_MEMORY, "no memory for %zu rows", self->all->count);
    }
    enum status status = fit_dram(self, streams);
    if (status == STATUS_OK) {
        fit_port(self);
        status = fit_l2_port(self, streams);
    }
    if (status == STATUS_OK) {
        status = fit_l2(self, streams);
    }
    status = status == STATUS_OK ? fit_gather(self, streams) : status;
    free(streams);
    return status;
}
