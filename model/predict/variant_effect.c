/* SPDX-License-Identifier: GPL-3.0-or-later
 * Effect of a change of configuration, with every unknown drawn for both sides at once (docs/MODEL.md section 6). */
#include "model/predict/variant_effect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "model/predict/step_time.h"

enum {
    DRAWS = 1000,
    GROUPS_MAX = SERVING_LAYER_GROUPS_MAX
};

/* VAR-3: error of the form that does not cancel between two configurations of one kernel, in ln(ratio). A form of this
 * kind, refitted on other kernels, left 13 to 17 % of structure unexplained even in sample; about two thirds of that
 * is common to neighbouring configurations (docs/MODEL.md section 6). */
static const double RATIO_LOG_SIGMA = 0.05;
/* Stack traffic per thread and iteration that a kernel at the register cap may hide (a twin of it spilled 380 bytes).
 */
static const double SPILL_BYTES_MAX = 400;

/* How likely all warps lie along M where the layout is not stated. For chained products both rules are in use, by
 * compiler version; for a single product current compilers balance, older and hand-written kernels may not. */
static const double CHAINED_SPLIT_M_PROBABILITY = 0.5, AUTO_SPLIT_M_PROBABILITY = 0.2;

const char *mechanism_name(enum mechanism_kind kind)
{
    static const char *const names[MECHANISM_COUNT] = {"replication", "spills",  "residency", "occupancy",
                                                       "waves",       "buffers", "work",      "combine"};
    return (unsigned)kind < MECHANISM_COUNT ? names[kind] : "unknown";
}

/* Everything unknown, for one draw. */
struct draw {
    struct model_parameters parameters;
    double layout_uniform;      /* unknown mma layouts are SPLIT_M in this draw when it lies below their probability */
    double spill_bytes;         /* per thread and iteration, of a kernel at the cap in the base configuration */
    double form_error;          /* multiplies the ratio */
    double share_uniform;       /* position between the bounds of the kernel's share */
    double replicated_fraction; /* of the time that the description does not explain: how much is replicated work */
};

/* Of ln(parameter i), from the normals drawn up to it: correlated as the calibration found them. */
static double parameter_shift(const struct model_parameters *central, const double *normals, int i)
{
    double shift = 0;
    if (!central->log_factor) {
        return central->items[i].log_sigma * normals[i];
    }
    for (int k = 0; k <= i; k++) {
        shift += central->log_factor[i * PARAMETER_COUNT + k] * normals[k];
    }
    return shift;
}

static void draw_unknowns(struct random_stream *stream, const struct model_parameters *central, struct draw *draw)
{
    draw->parameters = *central;
    double normals[PARAMETER_COUNT];
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        struct model_parameter *item = &draw->parameters.items[i];
        const struct parameter_description *about = parameter_describe((enum parameter_id)i);
        normals[i] = random_normal(stream);
        const double value = item->value * exp(parameter_shift(central, normals, i));
        item->value =
            fmin(fmax(value, about->minimum), about->maximum); /* a draw outside physics is drawn to its edge */
    }
    draw->layout_uniform = random_uniform(stream);
    draw->spill_bytes = SPILL_BYTES_MAX * random_uniform(stream);
    draw->form_error = exp(RATIO_LOG_SIGMA * random_normal(stream));
    draw->share_uniform = random_uniform(stream);
    draw->replicated_fraction = random_uniform(stream);
}

/* Accumulator tiles per warp of the largest product: what fills the registers. */
static double accumulators_per_warp(const struct kernel_case *kernel)
{
    double most = 0;
    for (uint32_t i = 0; i < kernel->loop.mma_count; i++) {
        struct mma_replication share;
        mma_replication_compute(&kernel->loop.mma[i], (kernel->launch.threads + 31) / 32, &share);
        most = fmax(most, share.tiles_per_warp);
    }
    return most;
}

/* Replace what is unknown in one kernel by the draw. base_accumulators: of the base configuration's kernel, same draw.
 */
static void settle_kernel(struct kernel_case *kernel, const struct draw *draw, bool at_cap, double base_accumulators)
{
    for (uint32_t i = 0; i < kernel->loop.mma_count; i++) {
        struct mma_op *op = &kernel->loop.mma[i];
        const double other = op->layout == MMA_LAYOUT_CHAINED ? CHAINED_SPLIT_M_PROBABILITY : AUTO_SPLIT_M_PROBABILITY;
        if (mma_layout_is_unknown(op) && draw->layout_uniform < other) {
            op->layout = MMA_LAYOUT_SPLIT_M; /* else the central layout stands */
        }
    }
    if (isnan(kernel->loop.spill_bytes)) {
        /* What is over the cap shrinks with the accumulators: half of them free more than any spill seen (VAR-2). */
        const double accumulators = accumulators_per_warp(kernel);
        const double ratio = base_accumulators > 0 ? accumulators / base_accumulators : 1;
        kernel->loop.spill_bytes = at_cap ? draw->spill_bytes * fmax(0, 2 * ratio - 1) : 0;
    }
}

static void settle_layer(const struct layer_case *layer, const struct layer_case *base, const struct gpu_limits *limits,
                         const struct draw *draw, struct layer_case *settled)
{
    *settled = *layer;
    for (uint32_t i = 0; i < layer->kernel_count; i++) {
        struct kernel_case reference = base->kernels[i < base->kernel_count ? i : 0];
        settle_kernel(&reference, draw, false, 0);
        const bool at_cap = layer->kernels[i].launch.registers_per_thread >= limits->max_registers_per_thread;
        settle_kernel(&settled->kernels[i], draw, at_cap, accumulators_per_warp(&reference));
    }
}

/* Sum over the step's layer groups, seconds. NaN when infeasible. */
static double step_kernel_time_s(const struct time_model *model, const struct variant_layers *groups,
                                 uint32_t group_count, bool variant, const struct gpu_limits *limits,
                                 const struct draw *draw)
{
    double total_s = 0;
    for (uint32_t g = 0; g < group_count; g++) {
        const struct layer_case *layer = variant ? groups[g].variant : groups[g].base;
        struct layer_case settled;
        struct layer_time time;
        if (draw) {
            settle_layer(layer, groups[g].base, limits, draw, &settled);
            layer = &settled;
        }
        layer_time_predict(model, layer, &time);
        total_s += groups[g].count * time.time_s;
    }
    return total_s;
}

/* VAR-4: bounds of the base kernels' share of the base step. Nothing in an end-to-end table says more than this. */
struct share_prior {
    bool measured;
    double center, relative_sigma; /* measured */
    double lo, hi;                 /* else log-uniform in between */
};

static struct share_prior share_prior_of(const struct serving_model *serving, const struct time_model *model,
                                         const struct variant_layers *groups, uint32_t group_count, double concurrency)
{
    struct share_prior prior = {.measured = !isnan(serving->kernel_share_measured),
                                .center = serving->kernel_share_measured,
                                .relative_sigma = serving->kernel_share_relative_sigma};
    const double step_s = step_time_evaluate(&serving->base, concurrency);
    double least_s = 0;
    for (uint32_t g = 0; g < group_count; g++) {
        struct layer_time time;
        layer_time_predict(model, groups[g].base, &time);
        least_s += groups[g].count * time.time_lo_s;
    }
    const double floor_s = step_time_floor(serving, concurrency, model->dram_bytes_per_s);
    prior.hi = fmin(fmax(1 - floor_s / step_s, 0.01), 0.99);
    prior.lo = fmin(fmax(least_s / step_s, 1e-4), prior.hi);
    return prior;
}

static double share_at(const struct share_prior *prior, double uniform)
{
    if (prior->measured) {
        const double z = normal_quantile(fmin(fmax(uniform, 1e-9), 1 - 1e-9));
        return fmin(prior->center * exp(prior->relative_sigma * z), 1);
    }
    return prior->lo * pow(prior->hi / prior->lo, uniform);
}

static struct interval interval_of(double *values, size_t count, double level)
{
    sort_doubles(values, count);
    return (struct interval){.center = quantile_sorted(values, count, 0.5),
                             .lo = quantile_sorted(values, count, (1 - level) / 2),
                             .hi = quantile_sorted(values, count, (1 + level) / 2)};
}

/* What each draw gave. ratio: variant / base of the described kernels; rest_ratio: of time they do not explain. */
struct draw_table {
    double base_s[DRAWS], ratio[DRAWS], rest_ratio[DRAWS], share_uniform[DRAWS];
    double share[DRAWS], change[DRAWS], scratch[DRAWS];
};

/* Largest change of replication over the tile products of the first kernel, under this draw's layouts. */
static double replication_ratio(const struct variant_layers *group, const struct draw *draw)
{
    struct kernel_case base = group->base->kernels[0], variant = group->variant->kernels[0];
    double largest = 1;
    settle_kernel(&base, draw, false, 0);
    settle_kernel(&variant, draw, false, 0);
    for (uint32_t i = 0; i < base.loop.mma_count && i < variant.loop.mma_count; i++) {
        struct mma_replication before, after;
        mma_replication_compute(&base.loop.mma[i], (base.launch.threads + 31) / 32, &before);
        mma_replication_compute(&variant.loop.mma[i], (variant.launch.threads + 31) / 32, &after);
        const double ratio = after.replication / before.replication;
        largest = fabs(log(ratio)) > fabs(log(largest)) ? ratio : largest;
    }
    return largest;
}

/* VAR-2: time beyond the description behaves like the described time, or is replicated like the tile product, or
 * anything in between. */
static double rest_ratio_of(double ratio, double replication, double replicated_fraction)
{
    const double extreme = replication > 1   ? fmax(replication, ratio)
                           : replication < 1 ? fmin(replication, ratio)
                                             : ratio;
    return ratio + replicated_fraction * (extreme - ratio);
}

static enum status fill_ratios(const struct gpu_device *device, const struct model_parameters *parameters,
                               const struct variant_layers *groups, uint32_t group_count,
                               const struct variant_layers *leading, bool identical, struct draw_table *table,
                               bool *is_unmoved, struct error *error)
{
    struct random_stream stream;
    *is_unmoved = true;
    random_init(&stream, 20, 26);
    for (int i = 0; i < DRAWS; i++) {
        struct draw draw;
        struct time_model model;
        draw_unknowns(&stream, parameters, &draw);
        const enum status status = time_model_init(&model, device, &draw.parameters, error);
        if (status) {
            return status;
        }
        const double base_s = step_kernel_time_s(&model, groups, group_count, false, &device->limits, &draw);
        const double variant_s = step_kernel_time_s(&model, groups, group_count, true, &device->limits, &draw);
        if (!(base_s > 0) || !(variant_s > 0)) {
            return error_set(error, STATUS_DOMAIN, "the %s configuration cannot be launched",
                             base_s > 0 ? "changed" : "base");
        }
        table->base_s[i] = base_s;
        table->ratio[i] = identical ? 1 : variant_s / base_s * draw.form_error;
        const double replication = replication_ratio(leading, &draw);
        *is_unmoved = *is_unmoved && variant_s == base_s && replication == 1;
        table->rest_ratio[i] = rest_ratio_of(table->ratio[i], replication, draw.replicated_fraction);
        table->share_uniform[i] = draw.share_uniform;
    }
    return STATUS_OK;
}

/* VAR-1: kernel time that the description explains moves by the drawn ratio, the rest by rest_ratio. */
static double step_change(const struct draw_table *table, int i, double share, double step_s)
{
    const double kernel_s = share * step_s;
    const double described_s = fmin(kernel_s, table->base_s[i]);
    return described_s * (table->ratio[i] - 1) + (kernel_s - described_s) * (table->rest_ratio[i] - 1);
}

static void carry_into_step(const struct serving_model *serving, const struct share_prior *prior, double concurrency,
                            double level, struct draw_table *table, struct variant_effect *result)
{
    const double step_s = step_time_evaluate(&serving->base, concurrency);
    int slower = 0;
    for (int i = 0; i < DRAWS; i++) {
        table->share[i] = share_at(prior, table->share_uniform[i]);
        const double delta_s = step_change(table, i, table->share[i], step_s);
        table->change[i] = step_s / (step_s + delta_s) - 1;
        table->scratch[i] = 1 + delta_s / (table->share[i] * step_s);
        slower += table->change[i] < 0;
    }
    result->probability_slower = (double)slower / DRAWS;
    result->share_is_measured = prior->measured;
    result->kernel_ratio = interval_of(table->scratch, DRAWS, level);
    result->throughput_change_fraction = interval_of(table->change, DRAWS, level);
    result->kernel_share = interval_of(table->share, DRAWS, level);
    const struct interval change = result->throughput_change_fraction;
    result->step_time_s = (struct interval){
        .center = step_s / (1 + change.center), .lo = step_s / (1 + change.hi), .hi = step_s / (1 + change.lo)};
    for (int i = 0; i < DRAWS; i++) {
        table->scratch[i] = step_s / (step_s + step_change(table, i, result->kernel_share.center, step_s)) - 1;
    }
    result->change_if_share_known = interval_of(table->scratch, DRAWS, level);
}

static void add_mechanism(struct variant_effect *result, struct mechanism mechanism)
{
    result->mechanisms[result->mechanism_count++] = mechanism;
}

static void add_if_moved(struct variant_effect *result, enum mechanism_kind kind, double base, double variant,
                         double effect)
{
    if (base != variant) {
        add_mechanism(result, (struct mechanism){.kind = kind,
                                                 .base = base,
                                                 .variant = variant,
                                                 .base_other = NAN,
                                                 .variant_other = NAN,
                                                 .time_effect_fraction = effect});
    }
}

static double replication_under(const struct kernel_case *kernel, bool unknown_is_split_m)
{
    double most = 1;
    for (uint32_t i = 0; i < kernel->loop.mma_count; i++) {
        struct mma_op op = kernel->loop.mma[i];
        struct mma_replication share;
        if (op.warpgroup) {
            continue;
        }
        op.layout = mma_layout_is_unknown(&op) && unknown_is_split_m ? MMA_LAYOUT_SPLIT_M : op.layout;
        mma_replication_compute(&op, (kernel->launch.threads + 31) / 32, &share);
        most = fmax(most, share.replication);
    }
    return most;
}

static bool layout_is_unknown(const struct kernel_case *kernel)
{
    for (uint32_t i = 0; i < kernel->loop.mma_count; i++) {
        if (mma_layout_is_unknown(&kernel->loop.mma[i])) {
            return true;
        }
    }
    return false;
}

static void name_replication(const struct time_model *model, const struct kernel_case *base,
                             const struct kernel_case *variant, double variant_s, struct variant_effect *result)
{
    const bool unknown = layout_is_unknown(variant);
    struct mechanism mechanism = {.kind = MECHANISM_REPLICATION,
                                  .base = replication_under(base, false),
                                  .variant = replication_under(variant, false),
                                  .base_other = unknown ? replication_under(base, true) : (double)NAN,
                                  .variant_other = unknown ? replication_under(variant, true) : (double)NAN};
    if (mechanism.base == mechanism.variant && !(unknown && mechanism.base_other != mechanism.variant_other)) {
        return;
    }
    struct kernel_case without = *variant; /* the same kernel with the added copies of each product left out */
    struct kernel_time time;
    for (uint32_t i = 0; i < without.loop.mma_count && i < base->loop.mma_count; i++) {
        struct mma_replication before, after;
        mma_replication_compute(&base->loop.mma[i], (base->launch.threads + 31) / 32, &before);
        mma_replication_compute(&variant->loop.mma[i], (variant->launch.threads + 31) / 32, &after);
        without.loop.mma[i].count *= fmin(1, before.replication / after.replication);
    }
    kernel_time_predict(model, &without, &time);
    mechanism.time_effect_fraction = variant_s / time.time_s - 1;
    add_mechanism(result, mechanism);
}

/* Unknown spills matter only where the registers are at the cap and what fills them changes. */
static void name_spills(const struct gpu_limits *limits, const struct kernel_case *base,
                        const struct kernel_case *variant, struct variant_effect *result)
{
    const uint32_t cap = limits->max_registers_per_thread;
    const bool unknown = (isnan(base->loop.spill_bytes) && base->launch.registers_per_thread >= cap) ||
                         (isnan(variant->loop.spill_bytes) && variant->launch.registers_per_thread >= cap);
    const bool same_code = base->launch.threads == variant->launch.threads &&
                           base->launch.registers_per_thread == variant->launch.registers_per_thread &&
                           accumulators_per_warp(base) == accumulators_per_warp(variant);
    const bool both_known = !isnan(base->loop.spill_bytes) && !isnan(variant->loop.spill_bytes);
    if (both_known || (unknown && !same_code)) {
        add_if_moved(result, MECHANISM_SPILLS, base->loop.spill_bytes, variant->loop.spill_bytes, NAN);
    }
}

static double later_kernels_s(const struct layer_time *layer)
{
    double sum_s = 0;
    for (uint32_t i = 1; i < layer->kernel_count; i++) {
        sum_s += layer->kernels[i].time_s;
    }
    return sum_s;
}

/* Mechanisms of the first kernel, at the central parameters. */
static void name_mechanisms(const struct time_model *model, const struct layer_case *base,
                            const struct layer_case *variant, struct variant_effect *result)
{
    const struct kernel_case *kernel_base = &base->kernels[0], *kernel_variant = &variant->kernels[0];
    struct layer_time before, after;
    struct occupancy occupancy_base, occupancy_variant;
    layer_time_predict(model, base, &before);
    layer_time_predict(model, variant, &after);
    occupancy_compute(model->limits, &kernel_base->launch, &occupancy_base);
    occupancy_compute(model->limits, &kernel_variant->launch, &occupancy_variant);
    const struct kernel_time *first_base = &before.kernels[0], *first_variant = &after.kernels[0];

    name_replication(model, kernel_base, kernel_variant, first_variant->time_s, result);
    name_spills(model->limits, kernel_base, kernel_variant, result);
    add_if_moved(result, MECHANISM_RESIDENCY, occupancy_base.ctas_per_sm, occupancy_variant.ctas_per_sm, NAN);
    add_if_moved(result, MECHANISM_OCCUPANCY, occupancy_base.occupancy_fraction, occupancy_variant.occupancy_fraction,
                 NAN);
    add_if_moved(result, MECHANISM_WAVES, first_base->waves.waves, first_variant->waves.waves, NAN);
    add_if_moved(result, MECHANISM_BUFFERS, first_base->bytes_in_flight_per_sm, first_variant->bytes_in_flight_per_sm,
                 NAN);
    add_if_moved(result, MECHANISM_WORK, kernel_base->loop.iterations, kernel_variant->loop.iterations, NAN);
    const double rest_base_s = later_kernels_s(&before), rest_variant_s = later_kernels_s(&after);
    add_if_moved(result, MECHANISM_COMBINE, rest_base_s, rest_variant_s,
                 (rest_variant_s - rest_base_s) / before.time_s);
}

static bool groups_identical(const struct variant_layers *groups, uint32_t group_count)
{
    for (uint32_t g = 0; g < group_count; g++) {
        if (groups[g].base != groups[g].variant) {
            return false;
        }
    }
    return true;
}

/* Central time of a layer of each group, and the group in which the change moves the step most. */
static void settle_groups(const struct time_model *model, const struct variant_layers *groups, uint32_t group_count,
                          struct variant_effect *result)
{
    double most_s = -1;
    for (uint32_t g = 0; g < group_count; g++) {
        struct layer_time base, variant;
        layer_time_predict(model, groups[g].base, &base);
        layer_time_predict(model, groups[g].variant, &variant);
        result->group_base_s[g] = base.time_s;
        result->group_variant_s[g] = variant.time_s;
        /* where nothing moves, the group that takes most of the step */
        const double moved_s = groups[g].count * (fabs(variant.time_s - base.time_s) + 1e-6 * base.time_s);
        if (moved_s > most_s) {
            most_s = moved_s;
            result->leading_group = g;
        }
    }
}

/* The ratio at the central parameters, under the likelier warp layout and under the other one. */
static void settle_ratios(const struct time_model *central, const struct model_parameters *parameters,
                          const struct variant_layers *groups, uint32_t group_count, struct variant_effect *result)
{
    const struct draw other = {.parameters = *parameters, .layout_uniform = 0};
    const double base_s = step_kernel_time_s(central, groups, group_count, false, central->limits, NULL);
    result->central_ratio = step_kernel_time_s(central, groups, group_count, true, central->limits, NULL) / base_s;
    result->other_layout_ratio = NAN;
    if (layout_is_unknown(&groups[result->leading_group].variant->kernels[0])) {
        result->other_layout_ratio = step_kernel_time_s(central, groups, group_count, true, central->limits, &other) /
                                     step_kernel_time_s(central, groups, group_count, false, central->limits, &other);
    }
}

static void set_unknown(struct variant_effect *result)
{
    const struct interval unknown = {NAN, NAN, NAN};
    memset(result, 0, sizeof *result);
    result->kernel_share = result->throughput_change_fraction = result->step_time_s = unknown;
    result->change_if_share_known = unknown;
    result->probability_slower = NAN;
}

enum status variant_effect_predict(const struct gpu_device *device, const struct model_parameters *parameters,
                                   const struct variant_layers *groups, uint32_t group_count,
                                   const struct serving_model *serving, double concurrency, double level,
                                   struct variant_effect *result, struct error *error)
{
    struct time_model central;
    set_unknown(result);
    if (group_count < 1 || group_count > GROUPS_MAX) {
        return error_set(error, STATUS_DOMAIN, "a step needs 1 to %d layer groups, got %u", GROUPS_MAX, group_count);
    }
    enum status status = time_model_init(&central, device, parameters, error);
    if (status) {
        return status;
    }
    settle_groups(&central, groups, group_count, result);
    struct draw_table *table = malloc(sizeof *table);
    if (!table) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for %d draws", DRAWS);
        goto cleanup;
    }
    status = fill_ratios(device, parameters, groups, group_count, &groups[result->leading_group],
                         groups_identical(groups, group_count), table, &result->is_unmoved, error);
    if (status) {
        goto cleanup;
    }
    if (serving && serving->present) {
        const struct share_prior prior = share_prior_of(serving, &central, groups, group_count, concurrency);
        carry_into_step(serving, &prior, concurrency, level, table, result);
    } else {
        int slower = 0;
        for (int i = 0; i < DRAWS; i++) {
            slower += table->ratio[i] > 1;
        }
        result->probability_slower = (double)slower / DRAWS;
        result->kernel_ratio = interval_of(table->ratio, DRAWS, level);
    }
    settle_ratios(&central, parameters, groups, group_count, result);
    name_mechanisms(&central, groups[result->leading_group].base, groups[result->leading_group].variant, result);
cleanup:
    free(table);
    return status;
}
