/* SPDX-License-Identifier: GPL-3.0-or-later
 * Bytes and flop of a predicted kernel and the rates that its time means: what an engineer checks first. Used by
 * predict. */
#ifndef OCCAM_CLI_KERNEL_TRAFFIC_H
#define OCCAM_CLI_KERNEL_TRAFFIC_H

#include "cli/report.h"
#include "model/predict/kernel_time.h"

struct kernel_traffic {
    double dram_bytes, l2_bytes;                    /* whole grid */
    double dram_bytes_per_s, dram_peak_fraction;    /* over the kernel's time; of the datasheet's peak */
    double tensor_flop;                             /* whole grid, of all tile products, without replication */
    double tensor_flop_per_s, tensor_peak_fraction; /* of the best tensor rate of the formats used; NaN without flop */
    const char *format;                             /* of the tile products; NULL: several, or none */
};

/* kernel is not skipped and *time its prediction. */
void kernel_traffic_compute(const struct kernel_case *kernel, const struct kernel_time *time,
                            const struct time_model *model, struct kernel_traffic *traffic);
/* Keys of one kernel's object; traffic NULL: all null (no time is known). */
void kernel_traffic_record(const struct kernel_traffic *traffic, struct report *report);
/* The lines below a kernel's own: DRAM and L2, tensor, floors. */
void kernel_traffic_print(const struct kernel_traffic *traffic, const struct kernel_time *time);

#endif
