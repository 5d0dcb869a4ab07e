/* SPDX-License-Identifier: GPL-3.0-or-later
 * Whether a kernel's outputs are those of its reference. Called by kernels/measure.c before anything is timed. */
#include <math.h>
#include <stdio.h>

#include "kernels/measure_private.h"

struct comparison {
    double difference_squared, reference_squared;
    uint64_t checked, mismatches, unwritten;
    bool exact;
};

static void compare_floats(const struct kernel_buffer *buffer, const void *output, const void *reference,
                           struct comparison *comparison)
{
    bool narrow = buffer->format == ELEMENT_FORMAT_BFLOAT16;
    uint64_t count = buffer->bytes / (narrow ? 2 : 4);
    for (uint64_t i = 0; i < count; i++) {
        double got = narrow ? bfloat16_to_double(((const uint16_t *)output)[i]) : (double)((const float *)output)[i];
        double want =
            narrow ? bfloat16_to_double(((const uint16_t *)reference)[i]) : (double)((const float *)reference)[i];
        if (isnan(got))
            comparison->unwritten++;
        if (isnan(want))
            continue; /* not in the reference's sample */
        comparison->checked++;
        comparison->difference_squared += (got - want) * (got - want);
        comparison->reference_squared += want * want;
    }
}

static void compare_integers(const struct kernel_buffer *buffer, const void *output, const void *reference,
                             struct comparison *comparison)
{
    uint64_t count = buffer->bytes / 4;
    comparison->exact = true;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t want = ((const uint32_t *)reference)[i];
        if (want == UINT32_MAX)
            continue;
        comparison->checked++;
        comparison->mismatches += ((const uint32_t *)output)[i] != want;
    }
}

static bool judge(const struct comparison *comparison, double maximum_error, struct measure_result *result)
{
    result->checked_elements = comparison->checked;
    double error = comparison->checked ? (double)comparison->mismatches / (double)comparison->checked : 0.0;
    if (comparison->reference_squared > 0.0)
        error += sqrt(comparison->difference_squared / comparison->reference_squared);
    else if (!(comparison->difference_squared <= 0.0))
        error = INFINITY;
    result->relative_error = error;
    if (comparison->unwritten > 0)
        snprintf(result->reason, sizeof result->reason, "%llu output elements are NaN or were not written",
                 (unsigned long long)comparison->unwritten);
    else if (!(error <= maximum_error))
        snprintf(result->reason, sizeof result->reason, "relative error %.3g over %llu elements, allowed %.3g", error,
                 (unsigned long long)comparison->checked, maximum_error);
    else
        return true;
    result->outcome = MEASURE_OUTCOME_WRONG;
    return false;
}

bool measure_compare(const struct kernel_plan *plan, void *const *outputs, void *const *references,
                     double maximum_error, struct measure_result *result)
{
    struct comparison comparison = {0};
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const struct kernel_buffer *buffer = &plan->buffers[i];
        if (buffer->role != BUFFER_ROLE_OUTPUT)
            continue;
        if (buffer->format == ELEMENT_FORMAT_FLOAT32 || buffer->format == ELEMENT_FORMAT_BFLOAT16)
            compare_floats(buffer, outputs[i], references[i], &comparison);
        else
            compare_integers(buffer, outputs[i], references[i], &comparison);
    }
    return judge(&comparison, maximum_error, result);
}
