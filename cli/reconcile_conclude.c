/* SPDX-License-Identifier: GPL-3.0-or-later
 * Whether a conflict changes a conclusion: resident CTAs, what fits, predicted time; and which check would decide. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "cli/prediction.h"
#include "cli/quantity_text.h"
#include "cli/reconcile.h"
#include "evidence/claims/claim_names.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/claims/claim_rank.h"

/* Where neither the user nor a claim names a GPU: one of each set of limits that are in use. */
static const char *const usual_limits[] = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

const char *reconcile_verdict_name(enum reconcile_verdict verdict)
{
    static const char *const names[] = {"single source", "agree", "conflict"};
    return names[verdict];
}

const char *reconcile_matters_name(enum reconcile_matters matters)
{
    static const char *const names[] = {"no", "yes", "unknown"};
    return names[matters];
}

/* A sentence more; NULL sentences: the case has no conflict, nobody asks. */
static void say(struct reconciliation *self, struct reconcile_sentences *sentences, const char *format, ...)
    PRINTF_LIKE(3, 4);
static void say(struct reconciliation *self, struct reconcile_sentences *sentences, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if (sentences == NULL || sentences->count == RECONCILE_SENTENCES_MAX) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *copy = arena_copy_text(&self->arena, text, strlen(text));
    if (copy != NULL) {
        sentences->items[sentences->count++] = copy;
    }
}

const char *reconcile_figure_text(enum claim_figure figure)
{
    static const char *const texts[CLAIM_FIGURE_COUNT] = {[CLAIM_REGISTERS] = "registers per thread",
                                                          [CLAIM_STATIC_SMEM] = "static SMEM",
                                                          [CLAIM_DYNAMIC_SMEM] = "dynamic SMEM",
                                                          [CLAIM_LAUNCH_SMEM] = "launch SMEM",
                                                          [CLAIM_RESERVED_SMEM] = "reserved SMEM",
                                                          [CLAIM_THREADS] = "threads per CTA",
                                                          [CLAIM_GRID] = "grid",
                                                          [CLAIM_CLUSTER] = "CTAs per cluster",
                                                          [CLAIM_STACK] = "stack",
                                                          [CLAIM_SPILL_STORES] = "spill stores",
                                                          [CLAIM_SPILL_LOADS] = "spill loads",
                                                          [CLAIM_BARRIERS] = "barriers",
                                                          [CLAIM_NUM_STAGES] = "num_stages"};
    return texts[figure] != NULL ? texts[figure] : claim_figure_name(figure);
}

const char *reconcile_value_text(enum claim_figure figure, const struct claim_value *value, char *out, size_t out_size)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    const char *unit = strstr(claim_figure_name(figure), "_bytes") != NULL ? " B" : "";
    if (!value->is_known) {
        (void)snprintf(out, out_size, "unknown");
    } else if (value->low == value->high) {
        (void)snprintf(out, out_size, "%s%s", quantity_whole(value->low, low), unit);
    } else {
        (void)snprintf(out, out_size, "%s to %s%s", quantity_whole(value->low, low), quantity_whole(value->high, high),
                       unit);
    }
    return out;
}

const char *reconcile_knobs_text(const struct reconciliation *self, const struct claim_implied *implied, char *out,
                                 size_t out_size)
{
    const size_t combinations = implied->is_ambiguous ? implied->example_count : 1;
    size_t used = 0;
    char number[32];
    out[0] = '\0';
    for (size_t e = 0; e < combinations; e++) {
        const double *values = implied->is_ambiguous ? implied->examples[e] : implied->values;
        const char *separator = e > 0 ? "; or " : "";
        for (size_t i = 0; i < scenario_knob_count(self->question.scenario) && used < out_size; i++) {
            if (implied->is_set[i] || implied->is_open[i]) {
                const int added =
                    snprintf(out + used, out_size - used, "%s%s=%s", separator,
                             scenario_variable_get(self->question.scenario, i)->name, number_format(values[i], number));
                used += added > 0 ? (size_t)added : 0;
                separator = ", ";
            }
        }
    }
    if (implied->has_more_examples && used < out_size) {
        (void)snprintf(out + used, out_size - used, "; or more");
    }
    return out;
}

/* --- devices and occupancy -----------------------------------------------------------------------------------------
 */

static enum status no_memory(struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "no memory for the conclusions");
}

static enum status choose_devices(struct reconciliation *self, const struct claim_case *item,
                                  struct reconcile_conclusion *conclusion, struct error *error)
{
    const size_t usual = sizeof usual_limits / sizeof usual_limits[0];
    conclusion->devices = arena_allocate(&self->arena, self->device_count + usual, sizeof(void *));
    if (conclusion->devices == NULL) {
        return no_memory(error);
    }
    struct error ignored = {0};
    char arch[16];
    const struct gpu_device *device = NULL;
    for (size_t i = 0; i < self->device_count; i++) {
        conclusion->devices[conclusion->device_count++] = self->devices[i];
    }
    (void)snprintf(arch, sizeof arch, "sm_%u", item->arch);
    if (conclusion->device_count == 0 && item->device[0] != '\0' &&
        device_catalogue_find(self->devices_known, item->device, &device, &ignored) == STATUS_OK) {
        conclusion->devices[conclusion->device_count++] = device;
    }
    if (conclusion->device_count == 0 && item->arch != 0 &&
        device_catalogue_find(self->devices_known, arch, &device, &ignored) == STATUS_OK) {
        conclusion->devices[conclusion->device_count++] = device;
    }
    const bool is_anywhere = item->arch == 0 && item->device[0] == '\0' && self->device_count == 0;
    for (size_t i = 0; is_anywhere && i < usual; i++) {
        if (device_catalogue_find(self->devices_known, usual_limits[i], &device, &ignored) == STATUS_OK) {
            conclusion->devices[conclusion->device_count++] = device;
        }
    }
    conclusion->occupancy = arena_allocate(&self->arena, conclusion->device_count * conclusion->story_count + 1,
                                           sizeof *conclusion->occupancy);
    return conclusion->occupancy != NULL ? STATUS_OK : no_memory(error);
}

const char *reconcile_fault_text(const struct reconcile_conclusion *conclusion, size_t device, size_t story, char *out,
                                 size_t out_size)
{
    const struct claim_occupancy *occupancy = reconcile_occupancy(conclusion, device, story);
    out[0] = '\0';
    return !occupancy->is_known || occupancy->fault == LAUNCH_FAULT_NONE
               ? out
               : launch_fault_reason(&conclusion->devices[device]->limits, &occupancy->launch, occupancy->fault, out,
                                     out_size);
}

static void range_text(uint32_t low, uint32_t high, char out[32])
{
    (void)snprintf(out, 32, low == high ? "%u" : "%u to %u", low, high);
}

/* What was taken as no limit, for the sentence. */
static const char *unknown_text(const struct claim_occupancy *occupancy)
{
    return occupancy->registers_unknown && occupancy->threads_unknown ? " (by SMEM alone)"
           : occupancy->registers_unknown                             ? " (registers unknown)"
           : occupancy->threads_unknown                               ? " (threads unknown)"
                                                                      : "";
}

/* Stories that cannot run there, and why. */
static void say_faults(struct reconciliation *self, struct reconcile_conclusion *conclusion, size_t device)
{
    char reason[LAUNCH_FAULT_REASON_SIZE];
    for (size_t s = 0; s < conclusion->story_count; s++) {
        if (reconcile_fault_text(conclusion, device, s, reason, sizeof reason)[0] != '\0') {
            say(self, conclusion->reasons, "on %s %s cannot be launched: %s", conclusion->devices[device]->name,
                s == 0 ? "the trusted figures" : "the other ones", reason);
        }
    }
}

static bool weigh_occupancy(struct reconciliation *self, const struct claim_case *item,
                            struct reconcile_conclusion *conclusion)
{
    bool changes = false;
    char trusted[32], other[32];
    for (size_t d = 0; d < conclusion->device_count; d++) {
        struct claim_occupancy *row = reconcile_occupancy(conclusion, d, 0);
        bool here = false;
        for (size_t s = 0; s < conclusion->story_count; s++) {
            claim_story_occupancy(&item->stories[s], &conclusion->devices[d]->limits, &row[s]);
        }
        range_text(row[0].ctas_low, row[0].ctas_high, trusted);
        for (size_t s = 1; s < conclusion->story_count && row[s].is_known; s++) {
            if (row[s].ctas_low != row[0].ctas_low || row[s].ctas_high != row[0].ctas_high) {
                range_text(row[s].ctas_low, row[s].ctas_high, other);
                here = true;
                say(self, conclusion->reasons, "on %s it decides the CTAs per SM: %s against %s%s",
                    conclusion->devices[d]->name, trusted, other, unknown_text(&row[s]));
            }
        }
        if (!here && conclusion->story_count > 1 && row[0].is_known) {
            say(self, conclusion->reasons, "on %s %s give %s CTA%s per SM%s", conclusion->devices[d]->name,
                conclusion->story_count == 2 ? "both" : "all", trusted, strcmp(trusted, "1") == 0 ? "" : "s",
                unknown_text(&row[0]));
        }
        say_faults(self, conclusion, d);
        changes = changes || here;
    }
    return changes;
}

/* Rounds of CTAs that a stated grid makes; other grids differ from launch to launch and are not compared. */
static bool weigh_grid(struct reconciliation *self, const struct claim_case *item,
                       struct reconcile_conclusion *conclusion)
{
    bool changes = false;
    for (size_t d = 0; d < conclusion->device_count; d++) {
        const double sms = gpu_device_value(conclusion->devices[d], GPU_FIGURE_SM_COUNT);
        double rounds[RECONCILE_STORIES_MAX];
        for (size_t s = 0; s < conclusion->story_count; s++) {
            const struct claim_value *grid = &item->stories[s].figures[CLAIM_GRID];
            const struct claim_occupancy *occupancy = reconcile_occupancy(conclusion, d, s);
            rounds[s] = claim_value_is_exact(grid) && occupancy->is_known && occupancy->ctas_low > 0
                            ? ceil(grid->low / (sms * occupancy->ctas_low))
                            : (double)NAN;
        }
        for (size_t s = 1; s < conclusion->story_count; s++) {
            if (isfinite(rounds[0]) && isfinite(rounds[s]) && rounds[0] != rounds[s]) {
                say(self, conclusion->reasons, "on %s it decides the rounds of CTAs: %.0f against %.0f",
                    conclusion->devices[d]->name, rounds[0], rounds[s]);
                changes = true;
            }
        }
    }
    return changes;
}

/* --- the scenario turned round -------------------------------------------------------------------------------------
 */

static bool scenario_describes(struct reconciliation *self, const struct claim_case *item,
                               struct reconcile_conclusion *conclusion)
{
    const struct scenario *scenario = self->has_question ? self->question.scenario : NULL;
    char base[CLAIM_BASE_NAME_SIZE];
    if (scenario == NULL) {
        return false;
    }
    (void)claim_base_name(item->name, base);
    conclusion->search = (struct implied_search){
        .scenario = scenario, .evaluator = self->question.evaluator, .base = self->question.values};
    for (size_t i = 0; i < scenario_kernel_count(scenario); i++) {
        if (strcmp(scenario_kernel_name(scenario, i), base) == 0) {
            conclusion->search.kernel = i;
            conclusion->scenario_kernel = scenario_kernel_name(scenario, i);
            return true;
        }
    }
    /* One kernel in question: it is the scenario's first, whatever it is called there. */
    bool is_only = true;
    for (size_t i = 0; i < self->cases.count; i++) {
        is_only = is_only && (claim_names_equal(self->cases.items[i].name, item->name) ||
                              claim_names_compatible(self->cases.items[i].name, item->name));
    }
    conclusion->scenario_kernel = scenario_kernel_name(scenario, 0);
    return is_only || self->names_kernel;
}

/* "num_stages=3 fits with 61,568 B (block_h=16: 83,136 B), and not with 80,000 B (block_h=32: 101,568 B, over by ...)"
 */
static void say_flip(struct reconciliation *self, const struct claim_case *item,
                     struct reconcile_conclusion *conclusion, size_t story, const struct implied_flip *flip)
{
    const size_t stories[2] = {0, story};
    const int fits = flip->fits[0] ? 0 : 1, fails = 1 - fits;
    char value[2][64], bytes[2][QUANTITY_TEXT_SIZE], over[QUANTITY_TEXT_SIZE], number[32];
    for (int side = 0; side < 2; side++) {
        (void)reconcile_value_text(CLAIM_LAUNCH_SMEM, &item->stories[stories[side]].figures[CLAIM_LAUNCH_SMEM],
                                   value[side], sizeof value[side]);
        (void)quantity_whole(flip->smem_bytes[side], bytes[side]);
    }
    say(self, conclusion->reasons,
        "it decides whether %s=%s fits on %s: yes with %s (then %s B), no with %s (then %s B, over the limit "
        "by %s B)",
        scenario_variable_get(self->question.scenario, flip->knob)->name, number_format(flip->value, number),
        conclusion->devices[0]->name, value[fits], bytes[fits], value[fails], bytes[fails],
        quantity_whole((double)flip->smem_over_limit_bytes[fails], over));
}

static bool weigh_neighbours(struct reconciliation *self, const struct claim_case *item,
                             struct reconcile_conclusion *conclusion)
{
    bool changes = false;
    for (size_t s = 1; s < conclusion->story_count && conclusion->device_count > 0; s++) {
        if (conclusion->implied[0].matches > 0 && conclusion->implied[s].matches > 0) {
            struct reconcile_flips *flips = &conclusion->flips[s];
            flips->count =
                claim_implied_flips(&conclusion->search, &conclusion->devices[0]->limits, conclusion->implied[0].values,
                                    conclusion->implied[s].values, flips->items);
            const bool is_sure = !conclusion->implied[0].is_ambiguous && !conclusion->implied[s].is_ambiguous;
            for (size_t i = 0; i < flips->count; i++) {
                say_flip(self, item, conclusion, s, &flips->items[i]);
                changes = changes || is_sure;
                conclusion->is_unsure = conclusion->is_unsure || !is_sure;
            }
            if (!is_sure) {
                say(self, conclusion->reasons,
                    "several configurations have these sizes: what fits and the times are told of those nearest to the "
                    "base, and decide nothing");
            }
        }
    }
    return changes;
}

static enum status weigh_time(struct reconciliation *self, struct reconcile_conclusion *conclusion, bool *changes,
                              struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t s = 0; s < conclusion->story_count && status == STATUS_OK && self->question.timed; s++) {
        struct reconcile_time *time = &conclusion->time[s];
        struct prediction *prediction = calloc(1, sizeof *prediction);
        if (prediction == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for a prediction");
        }
        if (conclusion->implied[0].matches > 0 && conclusion->implied[s].matches > 0) {
            status = prediction_make(&self->question, conclusion->implied[s].values, conclusion->implied[0].values,
                                     prediction, error);
            time->is_known = status == STATUS_OK && prediction->has_time;
            time->time_s = prediction->time.time_s;
            time->ratio = s > 0 && prediction->has_effect ? prediction->effect.kernel_ratio
                                                          : (struct interval){s > 0 ? (double)NAN : 1, 1, 1};
        }
        free(prediction);
        if (time->is_known && s > 0 && isfinite(time->ratio.center)) {
            const bool here = time->ratio.lo > 1 || time->ratio.hi < 1;
            const bool is_sure = !conclusion->implied[0].is_ambiguous && !conclusion->implied[s].is_ambiguous;
            say(self, conclusion->reasons, "predicted kernel time: %.3g times that of the trusted one (%.3g to %.3g)%s",
                time->ratio.center, time->ratio.lo, time->ratio.hi, here ? "" : ", which does not tell them apart");
            *changes = *changes || (here && is_sure);
            conclusion->is_unsure = conclusion->is_unsure || (here && !is_sure);
        }
    }
    return status;
}

static enum status turn_round(struct reconciliation *self, const struct claim_case *item,
                              struct reconcile_conclusion *conclusion, bool *changes, struct error *error)
{
    const size_t stories = conclusion->story_count;
    conclusion->implied = arena_allocate(&self->arena, stories, sizeof *conclusion->implied);
    conclusion->flips = arena_allocate(&self->arena, stories, sizeof *conclusion->flips);
    conclusion->time = arena_allocate(&self->arena, stories, sizeof *conclusion->time);
    if (conclusion->implied == NULL || conclusion->flips == NULL || conclusion->time == NULL) {
        return no_memory(error);
    }
    enum status status =
        claim_implied_find(&conclusion->search, item->stories, conclusion->story_count, conclusion->implied, error);
    conclusion->has_implied = status == STATUS_OK;
    if (status == STATUS_OK && conclusion->story_count > 1) {
        *changes = weigh_neighbours(self, item, conclusion) || *changes;
    }
    if (status == STATUS_OK) {
        status = weigh_time(self, conclusion, changes, error);
    }
    return status;
}

/* --- what would decide ---------------------------------------------------------------------------------------------
 */

/* The cheapest check: the values of the knobs that decide, where the kernel is launched. */
static void say_arguments(struct reconciliation *self, struct reconcile_conclusion *conclusion)
{
    char first[400], second[400];
    size_t used = 0;
    if (!conclusion->has_implied || conclusion->story_count < 2 || conclusion->implied[0].matches == 0 ||
        conclusion->implied[1].matches == 0) {
        return;
    }
    const struct claim_implied *implied = conclusion->implied;
    if (!implied[0].is_ambiguous && !implied[1].is_ambiguous) {
        say(self, conclusion->checks, "print the kernel's arguments where it is launched: %s, or %s",
            reconcile_knobs_text(self, &implied[0], first, sizeof first),
            reconcile_knobs_text(self, &implied[1], second, sizeof second));
        return;
    }
    first[0] = '\0';
    for (size_t i = 0; i < scenario_knob_count(self->question.scenario) && used < sizeof first; i++) {
        if (implied[0].is_open[i] || implied[1].is_open[i] || implied[0].is_set[i] || implied[1].is_set[i]) {
            const int added = snprintf(first + used, sizeof first - used, "%s%s", used > 0 ? ", " : "",
                                       scenario_variable_get(self->question.scenario, i)->name);
            used += added > 0 ? (size_t)added : 0;
        }
    }
    say(self, conclusion->checks, "print the kernel's arguments where it is launched: %s", first);
}

/* The order of trust takes it that what ran is what runs: a build made after the record may be a later version. */
static void say_newer_build(struct reconciliation *self, const struct claim_case *item,
                            struct reconcile_conclusion *conclusion)
{
    enum {
        SURELY_LATER_S = 60
    };
    const struct kernel_claim *trusted = &self->claims->items[item->stories[0].lead];
    struct stat record, build;
    if (claim_rank_of(trusted->source)->kind != CLAIM_LAUNCHED || stat(trusted->file, &record) != 0) {
        return;
    }
    for (size_t s = 1; s < conclusion->story_count; s++) {
        const struct kernel_claim *other = &self->claims->items[item->stories[s].lead];
        if (claim_rank_of(other->source)->kind == CLAIM_BUILT && stat(other->file, &build) == 0 &&
            build.st_mtime > record.st_mtime + SURELY_LATER_S) {
            say(self, conclusion->reasons,
                "%.200s was written after %.200s: it may be a later version, and the record the stale one", other->file,
                trusted->file);
            return;
        }
    }
}

static void say_checks(struct reconciliation *self, const struct claim_case *item,
                       struct reconcile_conclusion *conclusion)
{
    const char *told[4] = {NULL};
    size_t told_count = 0;
    say_arguments(self, conclusion);
    for (size_t s = 0; s < conclusion->story_count && told_count < 3; s++) {
        const struct kernel_claim *claim = &self->claims->items[item->stories[s].lead];
        const char *check = claim_rank_of(claim->source)->check;
        bool is_new = true;
        for (size_t i = 0; i < told_count; i++) {
            is_new = is_new && strcmp(told[i], check) != 0;
        }
        if (is_new) {
            told[told_count++] = check;
            say(self, conclusion->checks, "%s", check);
        }
    }
}

/* A scenario's GPU, or the one that was named, may be another than the claims'. */
static void say_other_architecture(struct reconciliation *self, const struct claim_case *item,
                                   struct reconcile_conclusion *conclusion)
{
    for (size_t d = 0; d < conclusion->device_count && item->arch != 0; d++) {
        const struct gpu_limits *limits = &conclusion->devices[d]->limits;
        const unsigned arch = 10 * limits->cc_major + limits->cc_minor;
        if (arch != item->arch) {
            say(self, conclusion->reasons, "%s is sm_%u, the claims are of sm_%u: another build would run there",
                conclusion->devices[d]->name, arch, item->arch);
        }
    }
}

static enum reconcile_verdict verdict_of(const struct claim_case *item)
{
    bool agrees = false;
    for (size_t i = 0; i < item->comparison_count; i++) {
        agrees = agrees || item->comparisons[i].readings[0].count > 1;
    }
    return item->conflict_count > 0 ? RECONCILE_CONFLICT : agrees ? RECONCILE_AGREES : RECONCILE_SINGLE;
}

static bool is_about_launch(const struct claim_case *item)
{
    static const enum claim_figure launch[] = {CLAIM_REGISTERS,    CLAIM_THREADS,  CLAIM_LAUNCH_SMEM, CLAIM_STATIC_SMEM,
                                               CLAIM_DYNAMIC_SMEM, CLAIM_BARRIERS, CLAIM_CLUSTER,     CLAIM_GRID};
    for (size_t i = 0; i < sizeof launch / sizeof launch[0]; i++) {
        const struct claim_comparison *comparison = claim_case_comparison(item, launch[i]);
        if (comparison != NULL && comparison->reading_count > 1) {
            return true;
        }
    }
    return false;
}

static enum status conclude(struct reconciliation *self, const struct claim_case *item,
                            struct reconcile_conclusion *conclusion, struct error *error)
{
    bool changes = false;
    conclusion->verdict = verdict_of(item);
    conclusion->story_count = item->story_count < RECONCILE_STORIES_MAX ? item->story_count : RECONCILE_STORIES_MAX;
    if (conclusion->verdict == RECONCILE_CONFLICT) {
        conclusion->reasons = arena_allocate(&self->arena, 1, sizeof *conclusion->reasons);
        conclusion->checks = arena_allocate(&self->arena, 1, sizeof *conclusion->checks);
        if (conclusion->reasons == NULL || conclusion->checks == NULL) {
            return no_memory(error);
        }
    }
    enum status status = choose_devices(self, item, conclusion, error);
    if (status == STATUS_OK) {
        changes = weigh_occupancy(self, item, conclusion);
        changes = weigh_grid(self, item, conclusion) || changes;
    }
    if (status == STATUS_OK && scenario_describes(self, item, conclusion)) {
        status = turn_round(self, item, conclusion, &changes, error);
    }
    if (conclusion->verdict != RECONCILE_CONFLICT || status != STATUS_OK) {
        return status;
    }
    const bool can_tell = !conclusion->is_unsure && is_about_launch(item) && conclusion->device_count > 0 &&
                          conclusion->occupancy[0].is_known;
    conclusion->matters = changes ? RECONCILE_YES : can_tell ? RECONCILE_NO : RECONCILE_UNKNOWN;
    say_other_architecture(self, item, conclusion);
    if (!is_about_launch(item)) {
        say(self, conclusion->reasons, "no occupancy and no limit follows from the figures that differ");
    }
    say_newer_build(self, item, conclusion);
    if (conclusion->matters != RECONCILE_NO) {
        say_checks(self, item, conclusion);
    }
    return STATUS_OK;
}

enum status reconcile_conclude(struct reconciliation *self, struct error *error)
{
    enum status status = STATUS_OK;
    self->conclusions = calloc(self->cases.count + 1, sizeof *self->conclusions);
    if (self->conclusions == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu conclusions", self->cases.count);
    }
    for (size_t i = 0; i < self->cases.count && status == STATUS_OK; i++) {
        status = conclude(self, &self->cases.items[i], &self->conclusions[i], error);
    }
    return status;
}
