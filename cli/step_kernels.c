/* SPDX-License-Identifier: GPL-3.0-or-later
 * Sums over layer groups, compared with the step time. */
#include "cli/step_kernels.h"

#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "cli/quantity_text.h"

void step_kernels_sum(struct question *question, const double *values, struct step_kernels *kernels)
{
    const size_t groups = scenario_layer_group_count(question->scenario);

    *kernels = (struct step_kernels){.known = groups > 0 && question->timed};
    for (size_t g = 0; g < groups && kernels->known; g++) {
        const double count = scenario_layer_group_layers(question->scenario, g);
        struct layer_case layer;
        struct calibrated_time calibrated;
        struct error ignored = {0};

        kernels->known = scenario_evaluate_group(question->evaluator, values, g, &layer, &ignored) == STATUS_OK;
        if (!kernels->known)
            return;
        question_predict_layer(question, &layer, &calibrated);
        const struct layer_time time = calibrated.layer;
        kernels->known = time.feasible;
        kernels->layers += count;
        kernels->time_s += count * time.time_s;
        kernels->time_lo_s += count * time.time_lo_s;
        kernels->time_hi_s += count * time.time_hi_s;
        for (uint32_t k = 0; k < time.kernel_count; k++)
            if (!layer.kernels[k].skipped)
                kernels->dram_floor_s += count * time.kernels[k].dram_floor_s;
    }
}

static double share(const struct step_kernels *kernels, const struct prediction *prediction)
{
    return kernels->known && prediction->has_step ? kernels->time_s / prediction->step.step_time_s : (double)NAN;
}

void step_kernels_record(const struct step_kernels *kernels, const struct prediction *prediction, struct report *report)
{
    const bool known = kernels->known;

    report_number(report, "step_kernels_ms", known ? kernels->time_s / SECONDS_PER_MS : (double)NAN);
    report_number(report, "step_kernels_lo_ms", known ? kernels->time_lo_s / SECONDS_PER_MS : (double)NAN);
    report_number(report, "step_kernels_hi_ms", known ? kernels->time_hi_s / SECONDS_PER_MS : (double)NAN);
    report_number(report, "step_kernels_share_fraction", share(kernels, prediction));
    report_number(report, "step_layers", known ? kernels->layers : (double)NAN);
}

void step_kernels_print(const struct step_kernels *kernels, const struct prediction *prediction)
{
    char text[QUANTITY_TEXT_SIZE], number[QUANTITY_TEXT_SIZE], percent[QUANTITY_TEXT_SIZE];
    const double step_s = prediction->step.step_time_s;

    if (!kernels->known)
        return;
    (void)printf("  step's kernels  %s in %s layer%s",
                 quantity_time_interval(kernels->time_s, kernels->time_lo_s, kernels->time_hi_s, text),
                 quantity_number(kernels->layers, number), kernels->layers == 1.0 ? "" : "s");
    if (prediction->has_step)
        (void)printf(", %s of the step", quantity_percent(share(kernels, prediction), percent));
    (void)printf("\n");
    if (prediction->has_step && kernels->dram_floor_s > step_s)
        (void)printf("  CONTRADICTION   the DRAM bytes that these layers describe need at least %s per step at peak\n"
                     "                  bandwidth, %s times the step time: the scenario contradicts itself\n",
                     quantity_time(kernels->dram_floor_s, text),
                     quantity_number(kernels->dram_floor_s / step_s, number));
}
