/* SPDX-License-Identifier: GPL-3.0-or-later
 * What running and compiling a configuration begin with: an empty result and the plan of its launches. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/measure_private.h"

void measure_result_end(struct measure_result *result, enum measure_outcome outcome, const char *reason)
{
    result->outcome = outcome;
    snprintf(result->reason, sizeof result->reason, "%.255s", reason);
}

const struct kernel_case_definition *measure_definition_of(const struct measure_kernel *kernel)
{
    for (size_t i = 0; kernel_case_definitions[i]; i++)
        if (&kernel_case_definitions[i]->kernel == kernel)
            return kernel_case_definitions[i];
    BUG("a kernel that is not in the list");
}

void measure_result_init(struct measure_result *result)
{
    memset(result, 0, sizeof *result);
    result->relative_error = NAN;
    result->cold.median_us = result->warm.median_us = result->single.median_us = NAN;
    result->before = result->after = (struct measure_sensors){NAN, NAN, NAN, NAN, 0};
}

/* True if the plan stands; else the outcome says why not. */
bool measure_plan_make(struct kernel_plan *plan, const struct measure_config *config, const struct measure_facts *facts,
                       unsigned arch, struct measure_result *result)
{
    struct error error = {0};
    memset(plan, 0, sizeof *plan);
    plan->definition = measure_definition_of(config->kernel);
    plan->config = config;
    plan->facts = facts;
    if (arch < plan->definition->minimum_arch) {
        snprintf(result->reason, sizeof result->reason, "needs sm_%u or newer", plan->definition->minimum_arch);
        result->outcome = MEASURE_OUTCOME_INFEASIBLE;
        return false;
    }
    if (plan->definition->plan(plan, &error) != STATUS_OK) {
        measure_result_end(result, MEASURE_OUTCOME_INFEASIBLE, error.text);
        return false;
    }
    result->stage_count = plan->stage_count;
    result->touched_bytes = plan->touched_bytes;
    result->flop = plan->flop;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const struct kernel_stage *stage = &plan->stages[i];
        struct measure_resources *resources = &result->stages[i];
        snprintf(resources->entry, sizeof resources->entry, "%s", stage->entry);
        resources->threads = stage->threads;
        resources->dynamic_smem_bytes = stage->dynamic_smem_bytes;
        resources->cluster_ctas = stage->cluster_ctas;
        resources->grid_ctas = (uint64_t)stage->grid_x * stage->grid_y;
        resources->driver_ctas_per_sm = -1;
        if (facts->smem_per_cta_optin_bytes && stage->dynamic_smem_bytes > facts->smem_per_cta_optin_bytes) {
            snprintf(result->reason, sizeof result->reason,
                     "smem: %s needs %llu bytes of dynamic SMEM, %llu over the limit of %u", stage->entry,
                     (unsigned long long)stage->dynamic_smem_bytes,
                     (unsigned long long)(stage->dynamic_smem_bytes - facts->smem_per_cta_optin_bytes),
                     facts->smem_per_cta_optin_bytes);
            result->outcome = MEASURE_OUTCOME_INFEASIBLE;
            return false;
        }
    }
    return true;
}

bool measure_same_code(const struct measure_config *left, const struct measure_config *right)
{
    if (left->kernel != right->kernel)
        return false;
    for (size_t i = 0; i < left->kernel->setting_count; i++)
        if (left->kernel->settings[i].compiled && left->values[i] != right->values[i])
            return false;
    return true;
}
