/* SPDX-License-Identifier: GPL-3.0-or-later
 * The list of kernels, what their plan functions share, and number formats. */
#include "kernels/kernel_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/kernel_cases.h"

const struct kernel_case_definition *const kernel_case_definitions[] = {KERNEL_CASES, NULL};

int64_t kernel_plan_value(const struct kernel_plan *plan, const char *name)
{
    return measure_config_value(plan->config, name);
}

int kernel_plan_add_buffer(struct kernel_plan *plan, const char *name, enum buffer_role role,
                           enum element_format format, uint64_t bytes)
{
    if (plan->buffer_count >= KERNEL_BUFFERS_MAX)
        BUG("%s has too many buffers", plan->config->kernel->name);
    struct kernel_buffer *buffer = &plan->buffers[plan->buffer_count];
    *buffer = (struct kernel_buffer){.name = name, .bytes = bytes, .role = role, .format = format};
    buffer->shared_by_sets = true;
    return (int)plan->buffer_count++;
}

int kernel_plan_add_input(struct kernel_plan *plan, const char *name, uint64_t bytes, struct fill_rule fill)
{
    int index = kernel_plan_add_buffer(plan, name, BUFFER_ROLE_INPUT, ELEMENT_FORMAT_UINT32, bytes);
    plan->buffers[index].fill = fill;
    plan->buffers[index].shared_by_sets = false;
    return index;
}

struct kernel_stage *kernel_plan_add_stage(struct kernel_plan *plan, const char *entry, uint64_t grid_x,
                                           uint32_t grid_y, int64_t threads, uint64_t dynamic_smem_bytes)
{
    if (plan->stage_count >= MEASURE_STAGES_MAX)
        BUG("%s has too many launches", plan->config->kernel->name);
    struct kernel_stage *stage = &plan->stages[plan->stage_count++];
    *stage = (struct kernel_stage){.entry = entry,
                                   .grid_x = (uint32_t)grid_x,
                                   .grid_y = grid_y,
                                   .threads = (uint32_t)threads,
                                   .cluster_ctas = 1,
                                   .dynamic_smem_bytes = dynamic_smem_bytes,
                                   .carveout_percent = -1};
    return stage;
}

static void pass(struct kernel_stage *stage, struct kernel_argument argument)
{
    if (stage->argument_count >= KERNEL_ARGUMENTS_MAX)
        BUG("%s has too many arguments", stage->entry);
    stage->arguments[stage->argument_count++] = argument;
}

void kernel_stage_pass_buffer(struct kernel_stage *stage, int buffer)
{
    pass(stage, (struct kernel_argument){.buffer = buffer});
}

void kernel_stage_pass_value(struct kernel_stage *stage, int64_t value)
{
    pass(stage, (struct kernel_argument){.buffer = -1, .value = value});
}

void measure_result_add(struct measure_result *result, const char *name, double value)
{
    if (result->figure_count >= MEASURE_FIGURES_MAX)
        BUG("no room for figure %s", name);
    struct measure_figure *figure = &result->figures[result->figure_count++];
    snprintf(figure->name, sizeof figure->name, "%s", name);
    figure->value = value;
}

double bfloat16_to_double(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

uint16_t bfloat16_from_double(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (isnan(value))
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* OCP 8-bit format E4M3: bias 7, no infinities, S.1111.111 is NaN. */
double e4m3_to_double(uint8_t bits)
{
    int exponent = bits >> 3 & 15, fraction = bits & 7;
    if ((bits & 0x7f) == 0x7f)
        return NAN;
    double magnitude = exponent ? ldexp(8 + fraction, exponent - 10) : ldexp(fraction, -9);
    return bits & 0x80 ? -magnitude : magnitude;
}
