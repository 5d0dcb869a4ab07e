/* SPDX-License-Identifier: GPL-3.0-or-later
 * The kernels of all layers of a step together, where the scenario says how many layers run them. Used by predict. */
#ifndef OCCAM_CLI_STEP_KERNELS_H
#define OCCAM_CLI_STEP_KERNELS_H

#include "cli/prediction.h"
#include "cli/report.h"

struct step_kernels {
    bool known; /* layer groups exist and every layer can be launched and timed */
    double layers;
    double time_s, time_lo_s, time_hi_s; /* sum over the layers; the layers share their errors, so the ends add up */
    double dram_floor_s;                 /* the described DRAM bytes of all layers / peak bandwidth */
};

/* Evaluates every layer group at `values`; the evaluator is left at the last of them. Layers that cannot be evaluated
 * or launched leave known false: the step's own answer says why. */
void step_kernels_sum(struct question *question, const double *values, struct step_kernels *kernels);
/* Keys step_kernels_ms, its ends, step_layers and step_kernels_share_fraction; null where unknown. */
void step_kernels_record(const struct step_kernels *kernels, const struct prediction *prediction,
                         struct report *report);
/* The line of the answer; a second one where the described bytes do not fit into the step time. */
void step_kernels_print(const struct step_kernels *kernels, const struct prediction *prediction);

#endif
