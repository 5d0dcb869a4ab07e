/* SPDX-License-Identifier: GPL-3.0-or-later
 * Between running a configuration (measure.c), compiling it (measure_compile.c) and what both begin with
 * (measure_launches.c). */
#ifndef OCCAM_KERNELS_MEASURE_PRIVATE_H
#define OCCAM_KERNELS_MEASURE_PRIVATE_H

#include "kernels/kernel_plan.h"

/* Everything unknown. */
void measure_result_init(struct measure_result *result);
void measure_result_end(struct measure_result *result, enum measure_outcome outcome, const char *reason);
/* What a kernel of the list is made of. */
const struct kernel_case_definition *measure_definition_of(const struct measure_kernel *kernel);
/* True if the plan stands; else the outcome says why not. config and facts must outlive the plan. */
bool measure_plan_make(struct kernel_plan *plan, const struct measure_config *config, const struct measure_facts *facts,
                       unsigned arch, struct measure_result *result);
/* Whether two configurations run the same machine code. */
bool measure_same_code(const struct measure_config *left, const struct measure_config *right);
/* measure_compare.c: whether the outputs are those of the reference, up to a relative error over all elements; else the
 * outcome says how far they are off. outputs and references: a pointer for each buffer of the plan. NaN (integers: all
 * ones) in a reference: not in its sample. */
bool measure_compare(const struct kernel_plan *plan, void *const *outputs, void *const *references,
                     double maximum_error, struct measure_result *result);

#endif
