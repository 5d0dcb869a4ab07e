/* SPDX-License-Identifier: GPL-3.0-or-later
 * How long one dependent load takes, by where it finds its data, and how much of L2 one SM has (docs/MODEL.md FIG-2).
 */
#include <math.h>

#include "calibrate/device_fit_private.h"

enum {
    SPACE_SMEM,
    SPACE_L1,
    SPACE_L2_OR_DRAM
};
/* The clock is read outside of the chain: what that costs is shared out over the hops. */
static const double clock_read_cycles = 64;
/* A plateau ends where a footprint takes this much longer than the ones before it. */
static const double plateau_most = 1.1;
/* L1 holds at least this much on every GPU that has a latency here; a chain in DRAM leaves at least this many L2s. */
static const double l1_least_bytes = 64 * 1024, dram_l2s = 2;
static const double line_bytes = 128;

/* What the chain holds of a cache, in whole lines. */
static double footprint(const struct benchmark_row *row)
{
    return row->links * fmin(row->stride_bytes, line_bytes);
}

static double l2_bytes(const struct device_fit *self)
{
    return gpu_device_value(self->device, GPU_FIGURE_L2_CAPACITY);
}

static bool in_smem(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->space == SPACE_SMEM;
}

static bool in_l1(const struct device_fit *self, const struct benchmark_row *row)
{
    (void)self;
    return row->space == SPACE_L1 && footprint(row) <= l1_least_bytes && row->warm_hops >= row->links;
}

/* Walked through once before it is timed, so that what fits is there. */
static bool in_l2(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->space == SPACE_L2_OR_DRAM && row->warm_hops >= row->links && footprint(row) <= l2_bytes(self);
}

static bool in_dram(const struct device_fit *self, const struct benchmark_row *row)
{
    return row->space == SPACE_L2_OR_DRAM && footprint(row) >= dram_l2s * l2_bytes(self);
}

static double take_latencies(struct device_fit *self)
{
    double hops = HUGE_VAL;
    for (size_t i = 0; i < self->count; i++) {
        self->values[i] = self->picked[i]->latency_cycles;
        hops = fmin(hops, self->picked[i]->hops);
    }
    return clock_read_cycles / hops;
}

static void sort_by_footprint(struct device_fit *self)
{
    for (size_t i = 1; i < self->count; i++) {
        const struct benchmark_row *row = self->picked[i];
        size_t j = i;
        for (; j > 0 && footprint(self->picked[j - 1]) > footprint(row); j--) {
            self->picked[j] = self->picked[j - 1];
        }
        self->picked[j] = row;
    }
}

/* Shortens the picked rows to the plateau. Returns the first row beyond it, NULL where all belong to it. */
static const struct benchmark_row *keep_plateau(struct device_fit *self)
{
    double sum = 0;
    sort_by_footprint(self);
    for (size_t i = 0; i < self->count; i++) {
        if (i > 0 && self->picked[i]->latency_cycles > plateau_most * sum / (double)i) {
            self->count = i;
            return self->picked[i];
        }
        sum += self->picked[i]->latency_cycles;
    }
    return NULL;
}

static void add_plain(struct device_fit *self, enum gpu_figure_id id, device_fit_wanted *wanted, const char *method)
{
    if (device_fit_pick(self, BENCHMARK_LATENCY_CHASE, wanted) == 0) {
        return;
    }
    const double floor = take_latencies(self);
    struct device_figure *figure = device_fit_add(self, (int)id, NULL, NULL);
    device_fit_set_centre(self, figure, floor);
    device_fit_say(figure, "%s", method);
}

/* In time: the clock that each row was read at. Returns the latency in cycles, NaN without rows. */
static double add_dram(struct device_fit *self)
{
    double cycles = 0;
    if (device_fit_pick(self, BENCHMARK_LATENCY_CHASE, in_dram) == 0) {
        return (double)NAN;
    }
    for (size_t i = 0; i < self->count; i++) {
        const double clock_mhz = self->picked[i]->sm_clock_mhz > 0
                                     ? self->picked[i]->sm_clock_mhz
                                     : gpu_device_value(self->device, GPU_FIGURE_BOOST_CLOCK) / 1e6;
        cycles += self->picked[i]->latency_cycles / (double)self->count;
        self->values[i] = self->picked[i]->latency_cycles / clock_mhz * 1e3;
    }
    struct device_figure *figure = device_fit_add(self, GPU_FIGURE_DRAM_LATENCY, NULL, NULL);
    device_fit_set_centre(self, figure, 0);
    device_fit_say(figure, "chains over at least %g times L2, %.0f cycles at the SM clock read beside them", dram_l2s,
                   cycles);
    device_fit_note(figure, "misses of the address translation are in it");
    return cycles;
}

/* Between the last footprint that L2 holds and the first that it does not. Without rows of DRAM (dram_cycles NaN) the
 * share that still hits is not known, and the middle of the two in the logarithm stands in. */
static void add_capacity(struct device_fit *self, const struct benchmark_row *beyond, double held_mib, double l2_cycles,
                         double dram_cycles)
{
    self->count = 1;
    self->picked[0] = beyond;
    const double beyond_mib = footprint(beyond) / 1048576;
    struct device_figure *capacity = device_fit_add(self, -1, "l2_capacity_of_one_sm_mib", "MiB");
    const double share = (dram_cycles - beyond->latency_cycles) / (dram_cycles - l2_cycles);
    if (isfinite(share)) { /* asked before it is bounded: fmax() takes NaN for nothing */
        const double hit = fmin(1, fmax(0, share));
        capacity->value = fmin(beyond_mib, fmax(held_mib, hit * beyond_mib));
        device_fit_say(capacity, "%g MiB stay at %.0f cycles, %g MiB take %.0f: a share of %.0f %% still hits",
                       held_mib, l2_cycles, beyond_mib, beyond->latency_cycles, 100 * hit);
    } else {
        capacity->value = sqrt(held_mib * beyond_mib);
        device_fit_say(capacity, "%g MiB stay at %.0f cycles, %g MiB take %.0f; no row of DRAM tells what still hits",
                       held_mib, l2_cycles, beyond_mib, beyond->latency_cycles);
    }
    capacity->lo = held_mib;
    capacity->hi = beyond_mib;
    capacity->sigma = (beyond_mib - held_mib) / sqrt(12);
    device_fit_note(capacity, "the bracket of the two footprints is all that is certain; whether the slower loads come "
                              "from DRAM or from the far half of L2 cannot be told");
}

static void add_l2(struct device_fit *self, double dram_cycles)
{
    if (device_fit_pick(self, BENCHMARK_LATENCY_CHASE, in_l2) == 0) {
        return;
    }
    const struct benchmark_row *beyond = keep_plateau(self);
    const double floor = take_latencies(self), held_mib = footprint(self->picked[self->count - 1]) / 1048576;
    struct device_figure *latency = device_fit_add(self, GPU_FIGURE_L2_LATENCY, NULL, NULL);
    device_fit_set_centre(self, latency, floor);
    device_fit_say(latency, "warmed chains up to the plateau's end, %g MiB", held_mib);
    if (beyond) {
        add_capacity(self, beyond, held_mib, latency->value, dram_cycles);
        return;
    }
    struct device_figure *most = device_fit_add(self, -1, "l2_capacity_of_one_sm_mib", "MiB");
    device_fit_set_bound(most, DEVICE_FIGURE_AT_LEAST, held_mib);
    device_fit_say(most, "no footprint left the plateau");
}

enum status device_fit_latency(struct device_fit *self)
{
    add_plain(self, GPU_FIGURE_SMEM_LATENCY, in_smem, "mean of the chains in SMEM");
    add_plain(self, GPU_FIGURE_L1_LATENCY, in_l1, "mean of the warmed chains through L1");
    const double dram_cycles = add_dram(self);
    add_l2(self, dram_cycles);
    return STATUS_OK;
}
