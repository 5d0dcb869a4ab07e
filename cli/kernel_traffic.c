/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rates from bytes, flop and time. */
#include "cli/kernel_traffic.h"

#include <math.h>
#include <stdio.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/quantity_text.h"

static double tensor_flop(const struct kernel_case *kernel, const char **format)
{
    const struct tile_loop *loop = &kernel->loop;
    double flop_per_iteration = 0.0;
    bool mixed = false;

    *format = NULL;
    for (uint32_t i = 0; i < loop->mma_count; i++) {
        const struct mma_op *op = &loop->mma[i];

        flop_per_iteration += 2.0 * op->m * op->n * op->k * op->count;
        mixed = mixed || op->format != loop->mma[0].format;
    }
    if (loop->mma_count > 0 && !mixed)
        *format = number_format_name(loop->mma[0].format);
    return flop_per_iteration * loop->iterations * (double)kernel->launch.grid_ctas;
}

void kernel_traffic_compute(const struct kernel_case *kernel, const struct kernel_time *time,
                            const struct time_model *model, struct kernel_traffic *traffic)
{
    *traffic = (struct kernel_traffic){.dram_bytes = time->dram_bytes, .l2_bytes = time->l2_bytes};
    traffic->tensor_flop = tensor_flop(kernel, &traffic->format);
    traffic->dram_bytes_per_s = time->dram_bytes / time->time_s;
    traffic->dram_peak_fraction = traffic->dram_bytes_per_s / model->peak_dram_bytes_per_s;
    traffic->tensor_flop_per_s = traffic->tensor_flop / time->time_s;
    traffic->tensor_peak_fraction = traffic->tensor_flop > 0.0 ? time->tensor_floor_s / time->time_s : (double)NAN;
}

void kernel_traffic_record(const struct kernel_traffic *traffic, struct report *report)
{
    static const struct kernel_traffic unknown = {
        .dram_bytes = (double)NAN,
        .l2_bytes = (double)NAN,
        .dram_bytes_per_s = (double)NAN,
        .dram_peak_fraction = (double)NAN,
        .tensor_flop = (double)NAN,
        .tensor_flop_per_s = (double)NAN,
        .tensor_peak_fraction = (double)NAN,
    };
    const struct kernel_traffic *known = traffic != NULL ? traffic : &unknown;

    report_number(report, "dram_bytes", known->dram_bytes);
    report_number(report, "l2_bytes", known->l2_bytes);
    report_number(report, "tensor_flop", known->tensor_flop);
    report_number(report, "dram_gb_per_s", known->dram_bytes_per_s / BYTES_PER_GB);
    report_number(report, "dram_peak_fraction", known->dram_peak_fraction);
    report_number(report, "tensor_tflop_per_s", known->tensor_flop_per_s / FLOP_PER_TFLOP);
    report_number(report, "tensor_peak_fraction", known->tensor_peak_fraction);
}

/* "46.1 MB": three digits in the decimal unit that leaves 1 to 999 of it. */
static const char *scaled(double value, const char *unit, char out[QUANTITY_TEXT_SIZE])
{
    static const char *const prefixes[] = {"", "K", "M", "G", "T", "P"};
    size_t prefix = 0;
    char number[32];

    for (; value >= 1000.0 && prefix + 1 < sizeof prefixes / sizeof prefixes[0]; prefix++)
        value /= 1000.0;
    (void)snprintf(out, QUANTITY_TEXT_SIZE, "%s %s%s", number_format_digits(value, 3, number), prefixes[prefix], unit);
    return out;
}

static void print_floors(const struct kernel_time *time)
{
    char text[QUANTITY_TEXT_SIZE];
    const char *separator = "    ";

    if (time->dram_floor_s > 0.0) {
        (void)printf("%sby the described bytes not below %s", separator, quantity_time(time->dram_floor_s, text));
        separator = ", ";
    }
    if (time->tensor_floor_s > 0.0) {
        (void)printf("%sby the flop not below %s", separator, quantity_time(time->tensor_floor_s, text));
        separator = ", ";
    }
    if (time->replication > 1.0) {
        (void)printf("%swarps repeat the tile product %s times", separator, quantity_number(time->replication, text));
        separator = "";
    }
    if (separator[0] != ' ')
        (void)printf("\n");
}

void kernel_traffic_print(const struct kernel_traffic *traffic, const struct kernel_time *time)
{
    char bytes[QUANTITY_TEXT_SIZE], rate[QUANTITY_TEXT_SIZE], percent[QUANTITY_TEXT_SIZE];

    (void)printf("    DRAM %s", scaled(traffic->dram_bytes, "B", bytes));
    if (traffic->dram_bytes > 0.0)
        (void)printf(", %s (%s of peak)", scaled(traffic->dram_bytes_per_s, "B/s", rate),
                     quantity_percent(traffic->dram_peak_fraction, percent));
    (void)printf("; L2 %s\n", scaled(traffic->l2_bytes, "B", bytes));
    if (traffic->tensor_flop > 0.0)
        (void)printf("    tensor %s, %s (%s of the %s%speak)\n", scaled(traffic->tensor_flop, "FLOP", bytes),
                     scaled(traffic->tensor_flop_per_s, "FLOP/s", rate),
                     quantity_percent(traffic->tensor_peak_fraction, percent),
                     traffic->format != NULL ? traffic->format : "", traffic->format != NULL ? " " : "");
    print_floors(time);
}
