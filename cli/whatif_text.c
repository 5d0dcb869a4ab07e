/* SPDX-License-Identifier: GPL-3.0-or-later
 * The words of `occam whatif`: answer, table, mechanisms, what is unknown, what speaks against it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/launch_remarks.h"
#include "cli/quantity_text.h"
#include "cli/whatif.h"

/* From here on the kernels' lower end leaves nothing for the rest of a step. */
static const double CONTRADICTING_SHARE = 0.95;

static void print_heading(const struct question *question)
{
    char before[32], after[32];
    const char *separator = "";
    for (size_t i = 0; i < scenario_variable_count(question->scenario); i++) {
        if (question->values[i] != question->base[i]) {
            printf("%s%s %s -> %s", separator, scenario_variable_get(question->scenario, i)->name,
                   number_format(question->base[i], before), number_format(question->values[i], after));
            separator = ", ";
        }
    }
    printf("\n%s on %s, %s%s\n\n", scenario_name(question->scenario), question->device->title,
           question->calibration != NULL ? "calibration " : "", question->parameters.calibration);
}

static bool same_verdict(const struct whatif *whatif, size_t i, size_t j)
{
    const struct whatif_row *one = &whatif->rows[i], *other = &whatif->rows[j];
    return strcmp(whatif_verdict(&one->variant.effect), whatif_verdict(&other->variant.effect)) == 0 &&
           whatif_is_contested(whatif, one) == whatif_is_contested(whatif, other);
}

/* "slower at 8, 48, 64 requests; slower, contested by other evidence below, at 1 request" */
static void print_verdicts(const struct whatif *whatif)
{
    char number[32];
    printf("Answer: ");
    if (scenario_concurrency_variable(whatif->question->scenario) < 0) {
        printf("%s%s.\n\n", whatif_verdict(&whatif->rows[0].variant.effect),
               whatif_is_contested(whatif, &whatif->rows[0]) ? " (contested by other evidence, below)" : "");
        return;
    }
    for (size_t i = 0; i < whatif->row_count; i++) {
        if (i && same_verdict(whatif, i, i - 1)) {
            printf(", %s", number_format(whatif->rows[i].concurrency, number));
        } else {
            printf("%s%s%s at %s", i ? "; " : "", whatif_verdict(&whatif->rows[i].variant.effect),
                   whatif_is_contested(whatif, &whatif->rows[i]) ? " (contested by other evidence, below)" : "",
                   number_format(whatif->rows[i].concurrency, number));
        }
    }
    printf(" request%s in the batch.\n\n", whatif->row_count == 1 && whatif->rows[0].concurrency == 1 ? "" : "s");
}

static void print_signed_percent(double fraction)
{
    printf(" %+6.1f%%", quantity_change_percent(fraction));
}

/* Without a step: the kernels alone. */
static void print_kernel_table(const struct whatif *whatif)
{
    char before[QUANTITY_TEXT_SIZE], after[QUANTITY_TEXT_SIZE];
    for (size_t i = 0; i < whatif->row_count; i++) {
        const struct whatif_row *row = &whatif->rows[i];
        const struct interval ratio = row->variant.effect.kernel_ratio;
        if (scenario_concurrency_variable(whatif->question->scenario) >= 0) {
            printf("  %g request%s: ", row->concurrency, row->concurrency == 1 ? "" : "s");
        } else {
            printf("  ");
        }
        printf("kernels %s -> %s, x %.2f (%.2f to %.2f, %g %% interval), slower with p %.2f\n",
               quantity_time(row->base.time.time_s, before), quantity_time(row->variant.time.time_s, after),
               ratio.center, ratio.lo, ratio.hi, 100 * whatif->question->level, row->variant.effect.probability_slower);
    }
}

static void print_step_table(const struct whatif *whatif)
{
    printf("  requests  throughput change  (%g %% interval)      slower with   kernel time       base step\n",
           100 * whatif->question->level);
    for (size_t i = 0; i < whatif->row_count; i++) {
        const struct whatif_row *row = &whatif->rows[i];
        const struct variant_effect *effect = &row->variant.effect;
        printf("  %8g ", row->concurrency);
        print_signed_percent(effect->throughput_change_fraction.center);
        printf("            ");
        print_signed_percent(effect->throughput_change_fraction.lo);
        printf(" to");
        print_signed_percent(effect->throughput_change_fraction.hi);
        printf("       p %.2f      x %.2f        %.4g ms\n", effect->probability_slower, effect->kernel_ratio.center,
               row->base.step.step_time_s / SECONDS_PER_MS);
    }
}

static void print_effect(double effect_fraction)
{
    if (isfinite(effect_fraction)) {
        printf(" Without the added copies it would take %.0f %% less time.", 100 * (1 - 1 / (1 + effect_fraction)));
    }
}

static void print_replication(const struct mechanism *m)
{
    if (m->base == m->variant) {
        printf(
            "  tile replication: depends on the warp layout, which the scenario does not state: as before under the\n"
            "    likelier one, %.3g copies of the tile product instead of %.3g under the other. `layout:` settles "
            "it.\n",
            m->variant_other, m->base_other);
        return;
    }
    printf("  tile replication: the warps compute the same tile product %.3g times instead of %.3g", m->variant,
           m->base);
    if (isfinite(m->base_other) && (m->base_other != m->base || m->variant_other != m->variant)) {
        printf(" (%.3g instead of %.3g under the compiler's other warp layout)", m->variant_other, m->base_other);
    }
    printf(": the tile is too small to be divided further.");
    print_effect(m->time_effect_fraction);
    printf("\n");
}

static void print_spills(const struct mechanism *m)
{
    if (isnan(m->base) || isnan(m->variant)) {
        printf(
            "  spills: unknown. Registers are at the cap, so the kernel may spill on one side and not on the other;\n"
            "    the compiled code tells (cubin or ptxas -v). Drawn from 0 to 400 bytes per thread here.\n");
    } else {
        printf("  spills: %.4g -> %.4g bytes per thread and iteration.\n", m->base, m->variant);
    }
}

static void print_mechanism(const struct mechanism *m)
{
    char before[QUANTITY_TEXT_SIZE], after[QUANTITY_TEXT_SIZE];
    switch (m->kind) {
    case MECHANISM_REPLICATION:
        print_replication(m);
        break;
    case MECHANISM_SPILLS:
        print_spills(m);
        break;
    case MECHANISM_WAVES:
        printf("  waves: %.3g -> %.3g.\n", m->base, m->variant);
        break;
    case MECHANISM_BUFFERS:
        printf("  loads in flight per SM: %s -> %s.\n", quantity_bytes(round(m->base), before),
               quantity_bytes(round(m->variant), after));
        break;
    case MECHANISM_WORK:
        printf("  iterations per CTA: %.4g -> %.4g.\n", m->base, m->variant);
        break;
    case MECHANISM_COMBINE:
        printf("  kernels after the first: %s -> %s.\n", quantity_time(m->base, before),
               quantity_time(m->variant, after));
        break;
    case MECHANISM_RESIDENCY: /* with occupancy, below */
    case MECHANISM_OCCUPANCY:
    case MECHANISM_COUNT:
        break;
    }
}

static void print_residency(const struct whatif_row *row)
{
    const struct occupancy *base = &row->base.occupancy[prediction_first_kernel(&row->base.layer)];
    const struct occupancy *variant = &row->variant.occupancy[prediction_first_kernel(&row->variant.layer)];
    const char *ctas = variant->ctas_per_sm == 1 ? "CTA" : "CTAs";
    char limiters[LAUNCH_LIMITERS_TEXT_SIZE];
    if (base->ctas_per_sm == variant->ctas_per_sm) {
        printf("  residency: %u %s per SM before and after, limited by", variant->ctas_per_sm, ctas);
    } else {
        printf("  residency: %u -> %u %s per SM, limited by", base->ctas_per_sm, variant->ctas_per_sm, ctas);
    }
    printf(" %s.\n", launch_limiters_text(variant->limiters, limiters));
    if (base->occupancy_fraction == variant->occupancy_fraction) {
        return;
    }
    printf("  occupancy: %.1f -> %.1f %%", 100 * base->occupancy_fraction, 100 * variant->occupancy_fraction);
    if (variant->ctas_per_sm == base->ctas_per_sm && variant->warps_per_sm == 2 * base->warps_per_sm) {
        printf(": it doubles without helping: no CTA more is resident, so no row more is in flight");
    } else if (variant->ctas_per_sm == base->ctas_per_sm) {
        printf(": more or fewer warps share the work of as many CTAs; the loads in flight do not follow it");
    }
    printf(".\n");
}

static void print_share(const struct whatif *whatif)
{
    const struct whatif_row *row = &whatif->rows[whatif->row_count - 1];
    const struct variant_effect *effect = &row->variant.effect;
    if (isnan(effect->kernel_share.center)) {
        return;
    }
    if (effect->kernel_share.lo > CONTRADICTING_SHARE) {
        printf("\nThe described kernels alone fill the whole step: the step time given and the kernels contradict each "
               "other.\n");
        return;
    }
    if (effect->share_is_measured) {
        printf("\nThe kernels' share of the step was measured: %.1f %%.\n", 100 * effect->kernel_share.center);
        return;
    }
    printf(
        "\nUnknown: the base kernels' share of the step. In a batch of %g it is drawn between %.1f and %.0f %% (%g %%\n"
        "interval); end-to-end figures alone cannot narrow it. Measuring it (one timing of the kernel in its base\n"
        "configuration, or its share in a trace) is the one run that would: were it %.1f %%, the interval would "
        "shrink\n"
        "from %.1f..%.1f %% to %.1f..%.1f %%.\n",
        row->concurrency, 100 * effect->kernel_share.lo, 100 * effect->kernel_share.hi, 100 * whatif->question->level,
        100 * effect->kernel_share.center, 100 * effect->throughput_change_fraction.lo,
        100 * effect->throughput_change_fraction.hi + 0.0, 100 * effect->change_if_share_known.lo,
        100 * effect->change_if_share_known.hi + 0.0);
}

static void print_notes(const struct whatif *whatif)
{
    const struct question *question = whatif->question;
    for (size_t i = 0; i < scenario_note_count(question->scenario) && i < SCENARIO_NOTES_MAX; i++) {
        const struct scenario_note *note = scenario_note_get(question->scenario, i);
        if (!whatif_note_rows(whatif, i)) {
            continue;
        }
        printf("\nOther evidence");
        const char *separator = " (batch of ";
        for (size_t r = 0; whatif->row_count > 1 && r < whatif->row_count; r++) {
            if (whatif->rows[r].note_applies[i]) {
                printf("%s%g", separator, whatif->rows[r].concurrency);
                separator = ", ";
            }
        }
        printf("%s: %s", whatif->row_count > 1 ? ")" : "", note->text);
        printf(*note->source ? " (%s).\n" : "%s\n", note->source);
    }
}

static void print_infeasible(const struct whatif *whatif)
{
    char text[256], bytes[QUANTITY_TEXT_SIZE];
    printf("Answer: cannot run. %s: %s.\n", whatif->base_is_to_blame ? "The base configuration" : "The changed one",
           whatif->reason);
    if (whatif->base_is_to_blame) {
        return;
    }
    if (!whatif->advice.count) {
        printf("\nNo change of one or two knobs within their lists makes it fit%s.\n",
               whatif->advice.truncated ? " among those tried" : "");
        return;
    }
    printf("\nSmallest changes that make it fit:\n");
    for (size_t i = 0; i < whatif->advice.count; i++) {
        const struct fit_option *option = &whatif->advice.options[i];
        printf("  %-32s SMEM %s, %u CTA%s per SM\n",
               fit_option_text(whatif->question->scenario, option, text, sizeof text),
               quantity_bytes((double)option->smem_bytes, bytes), option->ctas_per_sm,
               option->ctas_per_sm == 1 ? "" : "s");
    }
}

/* What moves in which layers, and how much of the answer hangs on the compiler's layout. */
static void print_ratios(const struct whatif *whatif, const struct variant_effect *effect)
{
    const struct scenario *scenario = whatif->question->scenario;
    char before[QUANTITY_TEXT_SIZE], after[QUANTITY_TEXT_SIZE];
    const size_t groups = scenario_layer_group_count(scenario);
    for (size_t g = 0; g < groups; g++) {
        const char *workload = scenario_layer_group_text(scenario, g);
        printf("  %g layers%s%s: %s -> %s%s\n", scenario_layer_group_layers(scenario, g),
               workload[0] == '\0' ? "" : " with ", workload, quantity_time(effect->group_base_s[g], before),
               quantity_time(effect->group_variant_s[g], after),
               groups > 1 && g == effect->leading_group ? "  <- moves the step most; what follows is about these" : "");
    }
    printf("  described kernels together: x %.2f", effect->central_ratio);
    if (isfinite(effect->other_layout_ratio) && fabs(effect->other_layout_ratio - effect->central_ratio) > 0.005) {
        printf("; x %.2f if the compiler lays all warps along M", effect->other_layout_ratio);
    }
    if (effect->is_unmoved) {
        printf(".\n    The change moves nothing that the description holds: the interval above is no more than the "
               "error of "
               "its form.\n");
        return;
    }
    printf(".\n    That is the description alone; the interval above also draws parameters, spills and unexplained "
           "time.\n");
}

void whatif_print(const struct whatif *whatif)
{
    print_heading(whatif->question);
    if (!whatif->feasible) {
        print_infeasible(whatif);
        return;
    }
    const struct whatif_row *last = &whatif->rows[whatif->row_count - 1];
    if (!last->variant.has_effect) {
        print_residency(last);
        printf("\nNo time can be predicted: %s.\n", whatif->question->untimed.text);
        return;
    }
    print_verdicts(whatif);
    if (last->base.has_step) {
        print_step_table(whatif);
        printf("\nWhy (at %g request%s)\n", last->concurrency, last->concurrency == 1 ? "" : "s");
    } else {
        print_kernel_table(whatif);
        printf("\nWhy\n");
    }
    print_ratios(whatif, &last->variant.effect);
    for (uint32_t i = 0; i < last->variant.effect.mechanism_count; i++) {
        print_mechanism(&last->variant.effect.mechanisms[i]);
    }
    print_residency(last);
    print_share(whatif);
    if (*last->variant.step_reason) {
        printf("\nStep time: %s.\n", last->variant.step_reason);
    }
    print_notes(whatif);
}
