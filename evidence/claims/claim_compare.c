/* SPDX-License-Identifier: GPL-3.0-or-later
 * Readings of each figure, and the stories that the readings make. */
#include "evidence/claims/claim_compare.h"

#include <string.h>

#include "evidence/claims/claim_normal.h"

struct comparing {
    const struct claim_units *units;
    const size_t *members;
    size_t member_count;
    struct arena *arena;
    struct claim_case *item;
    struct error *error;
};

static enum status no_memory(struct comparing *self)
{
    return error_set(self->error, STATUS_NO_MEMORY, "no memory for the comparison of claims");
}

static const struct claim_unit *member(const struct comparing *self, size_t i)
{
    return &self->units->items[self->members[i]];
}

/* All claims of the units, most trusted first: units are, and the claims within each. */
static enum status collect(struct comparing *self)
{
    struct claim_case *item = self->item;
    size_t count = 0;
    for (size_t i = 0; i < self->member_count; i++) {
        count += member(self, i)->count;
    }
    item->claims = arena_allocate(self->arena, count + 1, sizeof *item->claims);
    if (item->claims == NULL) {
        return no_memory(self);
    }
    for (size_t i = 0; i < self->member_count; i++) {
        for (size_t at = member(self, i)->first; at != 0; at = self->units->next[at - 1]) {
            item->claims[item->claim_count++] = at - 1;
        }
    }
    return STATUS_OK;
}

/* Launch SMEM that nobody states follows from the parts, for the unit as a whole. */
static struct claim_value value_of(const struct comparing *self, const struct claim_unit *unit, size_t claim,
                                   enum claim_figure figure, double static_bytes)
{
    const struct claim_value *own = &self->units->claims->items[claim].figures[figure];
    const bool has_dynamic = self->units->claims->items[claim].figures[CLAIM_DYNAMIC_SMEM].is_known;
    if (figure == CLAIM_LAUNCH_SMEM && !own->is_known && has_dynamic) {
        return claim_unit_launch_smem(unit, static_bytes);
    }
    return *own;
}

static enum status add_reading(struct comparing *self, struct claim_comparison *comparison, size_t claim,
                               const struct claim_value *value)
{
    for (size_t i = 0; i < comparison->reading_count; i++) {
        struct claim_reading *reading = &comparison->readings[i];
        if (claim_values_agree(&reading->value, value)) {
            reading->value.low = value->low > reading->value.low ? value->low : reading->value.low;
            reading->value.high = value->high < reading->value.high ? value->high : reading->value.high;
            reading->claims[reading->count++] = claim;
            return STATUS_OK;
        }
    }
    struct claim_reading *reading = &comparison->readings[comparison->reading_count];
    *reading = (struct claim_reading){.value = *value, .lead = claim};
    reading->claims = arena_allocate(self->arena, self->item->claim_count + 1, sizeof *reading->claims);
    if (reading->claims == NULL) {
        return no_memory(self);
    }
    reading->claims[reading->count++] = claim;
    comparison->reading_count++;
    return STATUS_OK;
}

static bool is_compared(const struct comparing *self, const struct kernel_claim *claim, enum claim_figure figure)
{
    /* Grids differ from launch to launch; carve-outs and computed occupancies are no properties of the kernel. */
    if (figure == CLAIM_GRID) {
        return claim_is_stated(claim);
    }
    if (figure == CLAIM_STACK && self->item->is_launched && claim_rank_of(claim->source)->kind == CLAIM_LAUNCHED) {
        return false; /* the limit that was set, not the frame */
    }
    return figure != CLAIM_SMEM_CONFIG && figure != CLAIM_CTAS_PER_SM && figure != CLAIM_OCCUPANCY &&
           figure != CLAIM_SM_COUNT && figure != CLAIM_SMEM_REQUIRED && figure != CLAIM_SMEM_LIMIT &&
           figure != CLAIM_NUM_WARPS && figure != CLAIM_REGISTERS_ALLOCATED;
}

static double trusted_static(const struct comparing *self)
{
    const struct claim_comparison *comparison = claim_case_comparison(self->item, CLAIM_STATIC_SMEM);
    return comparison != NULL ? comparison->readings[0].value.low : 0;
}

static enum status compare_figure(struct comparing *self, enum claim_figure figure)
{
    struct claim_case *item = self->item;
    struct claim_comparison *comparison = &item->comparisons[item->comparison_count];
    *comparison = (struct claim_comparison){.figure = figure};
    comparison->readings = arena_allocate(self->arena, item->claim_count + 1, sizeof *comparison->readings);
    enum status status = comparison->readings != NULL ? STATUS_OK : no_memory(self);
    const double static_bytes = figure == CLAIM_LAUNCH_SMEM ? trusted_static(self) : 0;
    for (size_t i = 0; i < self->member_count && status == STATUS_OK; i++) {
        const struct claim_unit *unit = member(self, i);
        for (size_t at = unit->first; at != 0 && status == STATUS_OK; at = self->units->next[at - 1]) {
            const struct claim_value value = value_of(self, unit, at - 1, figure, static_bytes);
            if (value.is_known && is_compared(self, &self->units->claims->items[at - 1], figure)) {
                status = add_reading(self, comparison, at - 1, &value);
            }
        }
    }
    if (status != STATUS_OK || comparison->reading_count == 0) {
        return status;
    }
    if (comparison->reading_count > 1) {
        const struct kernel_claim *claims = self->units->claims->items;
        comparison->is_undecided = claim_rank_of(claims[comparison->readings[0].lead].source)->order ==
                                   claim_rank_of(claims[comparison->readings[1].lead].source)->order;
        item->conflict_count++;
    }
    item->comparison_count++;
    return STATUS_OK;
}

/* --- stories -------------------------------------------------------------------------------------------------------
 */

static bool reading_has(const struct claim_reading *reading, const struct claim_unit *unit,
                        const struct claim_units *units)
{
    /* The claims of a launch are alike: a few stand for all. */
    size_t looked_at = 0;
    for (size_t at = unit->first; at != 0 && looked_at < 16; at = units->next[at - 1], looked_at++) {
        for (size_t i = 0; i < reading->count; i++) {
            if (reading->claims[i] == at - 1) {
                return true;
            }
        }
    }
    return false;
}

static bool same_story(const struct claim_story *left, const struct claim_story *right)
{
    for (int i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        const struct claim_value *a = &left->figures[i], *b = &right->figures[i];
        if (a->is_known != b->is_known || (a->is_known && (a->low != b->low || a->high != b->high))) {
            return false;
        }
    }
    return true;
}

static void set_launch_smem(struct claim_story *story)
{
    struct claim_value *launch = &story->figures[CLAIM_LAUNCH_SMEM];
    const struct claim_value *fixed = &story->figures[CLAIM_STATIC_SMEM],
                             *dynamic = &story->figures[CLAIM_DYNAMIC_SMEM];
    if (!launch->is_known && dynamic->is_known) {
        const double low = fixed->is_known ? fixed->low : 0, high = fixed->is_known ? fixed->high : 0;
        *launch = (struct claim_value){true, dynamic->low + low, dynamic->high + high};
    }
}

static void keep_story(struct claim_case *item, struct claim_story *story)
{
    set_launch_smem(story);
    for (size_t i = 0; i < item->story_count; i++) {
        if (same_story(&item->stories[i], story)) {
            return;
        }
    }
    item->stories[item->story_count++] = *story;
}

/* The trusted figures with what this unit says of those in conflict; several readings within one unit are told by its
 * claims one by one. */
static void tell_unit(struct comparing *self, const struct claim_unit *unit)
{
    struct claim_case *item = self->item;
    struct claim_story story = item->stories[0];
    bool departs = false;
    for (size_t i = 0; i < item->comparison_count; i++) {
        const struct claim_comparison *comparison = &item->comparisons[i];
        for (size_t r = comparison->reading_count; r-- > 1;) {
            if (reading_has(&comparison->readings[r], unit, self->units) &&
                !reading_has(&comparison->readings[0], unit, self->units)) {
                story.figures[comparison->figure] = comparison->readings[r].value;
                story.lead = comparison->readings[r].lead;
                departs = true;
            }
        }
    }
    if (departs) {
        keep_story(item, &story);
    }
}

/* A unit that contradicts itself: one story for each reading that is not the trusted one. */
static void tell_readings(struct comparing *self)
{
    struct claim_case *item = self->item;
    for (size_t i = 0; i < item->comparison_count; i++) {
        const struct claim_comparison *comparison = &item->comparisons[i];
        for (size_t r = 1; r < comparison->reading_count; r++) {
            bool is_told = false;
            for (size_t s = 1; s < item->story_count; s++) {
                is_told = is_told || claim_values_agree(&item->stories[s].figures[comparison->figure],
                                                        &comparison->readings[r].value);
            }
            struct claim_story story = item->stories[0];
            story.figures[comparison->figure] = comparison->readings[r].value;
            story.lead = comparison->readings[r].lead;
            if (!is_told) {
                keep_story(item, &story);
            }
        }
    }
}

static enum status tell_stories(struct comparing *self)
{
    struct claim_case *item = self->item;
    size_t readings = 0;
    for (size_t i = 0; i < item->comparison_count; i++) {
        readings += item->comparisons[i].reading_count;
    }
    item->stories = arena_allocate(self->arena, 1 + self->member_count + readings, sizeof *item->stories);
    if (item->stories == NULL) {
        return no_memory(self);
    }
    struct claim_story *trusted = &item->stories[0];
    trusted->lead = item->claims[0];
    for (size_t i = 0; i < item->comparison_count; i++) {
        trusted->figures[item->comparisons[i].figure] = item->comparisons[i].readings[0].value;
    }
    set_launch_smem(trusted);
    item->story_count = 1;
    for (size_t i = 0; i < self->member_count && item->conflict_count > 0; i++) {
        tell_unit(self, member(self, i));
    }
    tell_readings(self);
    return STATUS_OK;
}

enum status claim_case_compare(const struct claim_units *units, const size_t *members, size_t member_count,
                               struct arena *arena, struct claim_case *item, struct error *error)
{
    struct comparing self = {units, members, member_count, arena, item, error};
    enum status status = collect(&self);
    item->comparisons =
        status == STATUS_OK ? arena_allocate(arena, CLAIM_FIGURE_COUNT, sizeof *item->comparisons) : NULL;
    if (item->comparisons == NULL) {
        return status == STATUS_OK ? no_memory(&self) : status;
    }
    for (int figure = 0; figure < CLAIM_FIGURE_COUNT && status == STATUS_OK; figure++) {
        status = compare_figure(&self, (enum claim_figure)figure);
    }
    return status == STATUS_OK ? tell_stories(&self) : status;
}
