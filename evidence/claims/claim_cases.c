/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which builds explain which launches, and what is left over. */
#include "evidence/claims/claim_cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/claims/claim_compare.h"
#include "evidence/claims/claim_names.h"
#include "evidence/claims/claim_units.h"

enum {
    NO_CASE = 0
};

struct finder {
    struct claim_cases *cases;
    const struct kernel_claim_list *claims;
    struct error *error;
    size_t *sorted; /* claims by bare name, name, place */
    size_t count;   /* of those that were asked for */
    size_t *stated; /* stated without a kernel */
    size_t stated_count;
    size_t *indices; /* of the kernel at hand */
    size_t *next;    /* for claim_units */
    size_t *members; /* of a case */
};

/* A case in the making: its units are those with taken_by == its number. */
struct draft {
    size_t number; /* from 1 */
    const struct claim_unit *lead;
    size_t first_unit, last_unit; /* + 1 */
    unsigned sources;
    bool has_build;
    size_t fitting; /* builds that explain it and are not of it: which of them ran is not told */
    char remarks[4][256];
    size_t remark_count;
};

struct kernel_finder {
    struct finder *finder;
    struct claim_units units;
    size_t draft_count;
    struct draft *drafts; /* at most one per unit */
};

static enum status no_memory(struct finder *self)
{
    return error_set(self->error, STATUS_NO_MEMORY, "no memory to compare %zu claims", self->claims->count);
}

static void remark(struct draft *draft, const char *format, ...) PRINTF_LIKE(2, 3);
static void remark(struct draft *draft, const char *format, ...)
{
    if (draft->remark_count < sizeof draft->remarks / sizeof draft->remarks[0]) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(draft->remarks[draft->remark_count++], sizeof draft->remarks[0], format, arguments);
        va_end(arguments);
    }
}

/* --- units into drafts ---------------------------------------------------------------------------------------------
 */

/* The unit against all units of the draft. */
static void match_draft(const struct kernel_finder *self, const struct draft *draft, const struct claim_unit *unit,
                        struct claim_match *match)
{
    *match = (struct claim_match){0};
    for (size_t i = draft->first_unit; i != 0; i = self->units.items[i - 1].next_of_case) {
        struct claim_match one;
        claim_unit_match(&self->units.items[i - 1], unit, &one);
        match->agreeing += one.agreeing;
        match->differing += one.differing;
        match->threads_differ = match->threads_differ || one.threads_differ;
        match->distance += one.distance;
    }
}

static void take(struct kernel_finder *self, struct draft *draft, struct claim_unit *unit)
{
    const size_t place = (size_t)(unit - self->units.items) + 1;
    unit->taken_by = draft->number;
    if (draft->last_unit != 0) {
        self->units.items[draft->last_unit - 1].next_of_case = place;
    } else {
        draft->first_unit = place;
    }
    draft->last_unit = place;
    draft->sources |= unit->sources;
    draft->has_build = draft->has_build || unit->kind == CLAIM_BUILT;
}

static void open_draft(struct kernel_finder *self, struct claim_unit *unit)
{
    struct draft *draft = &self->drafts[self->draft_count++];
    *draft = (struct draft){.number = self->draft_count, .lead = unit};
    take(self, draft, unit);
}

/* A draft whose figures the unit shares, none differing. Builds of one source beside each other are different builds:
 * the second one that fits is counted, not taken. */
static struct draft *fitting_draft(struct kernel_finder *self, const struct claim_unit *unit)
{
    for (size_t i = 0; i < self->draft_count; i++) {
        struct draft *draft = &self->drafts[i];
        struct claim_match match, lead;
        match_draft(self, draft, unit, &match);
        claim_unit_match(draft->lead, unit, &lead);
        const bool fits = match.differing == 0 && (match.agreeing > 0 || unit->is_stated);
        if (fits && (unit->is_stated || unit->kind != CLAIM_BUILT || (draft->sources & unit->sources) == 0)) {
            return draft;
        }
        if (unit->kind == CLAIM_BUILT && lead.differing == 0 && lead.agreeing > 0 &&
            draft->lead->kind == CLAIM_LAUNCHED) {
            draft->fitting++;
        }
    }
    return NULL;
}

static struct draft *nearest_draft(struct kernel_finder *self, const struct claim_unit *unit)
{
    struct draft *nearest = NULL;
    struct claim_match best = {0};
    for (size_t i = 0; i < self->draft_count; i++) {
        struct claim_match match;
        match_draft(self, &self->drafts[i], unit, &match);
        if (nearest == NULL || match.differing < best.differing ||
            (match.differing == best.differing && match.distance < best.distance)) {
            nearest = &self->drafts[i];
            best = match;
        }
    }
    return nearest;
}

/* Launches first, then builds, by trust; what somebody states is about the kernel in question, so it joins or
 * contradicts. Tuners' configurations are looked at afterwards. */
static void deal_units(struct kernel_finder *self)
{
    for (size_t i = 0; i < self->units.count; i++) {
        struct claim_unit *unit = &self->units.items[i];
        if (unit->kind == CLAIM_TUNED && !unit->is_stated) {
            continue;
        }
        struct draft *draft = fitting_draft(self, unit);
        if (draft == NULL && unit->is_stated) {
            draft = nearest_draft(self, unit);
        }
        if (draft != NULL) {
            take(self, draft, unit);
        } else if (unit->kind == CLAIM_LAUNCHED || unit->is_stated) {
            open_draft(self, unit);
        }
    }
}

static bool is_left_over(const struct claim_unit *unit)
{
    return unit->taken_by == NO_CASE && unit->kind == CLAIM_BUILT;
}

/* A launch that no build explains, and builds that explain no launch: the nearest of these contradicts it. With other
 * threads it is another configuration, unless there is nothing else that either could be. */
static void contradict(struct kernel_finder *self, struct draft *draft, size_t unexplained)
{
    struct claim_unit *nearest = NULL;
    struct claim_match best = {0};
    size_t left = 0;
    for (size_t i = 0; i < self->units.count; i++) {
        struct claim_unit *unit = &self->units.items[i];
        struct claim_match match;
        claim_unit_match(draft->lead, unit, &match);
        const bool is_same_arch = unit->arch == 0 || draft->lead->arch == 0 || unit->arch == draft->lead->arch;
        if (!is_left_over(unit) || !is_same_arch || match.agreeing + match.differing == 0) {
            continue;
        }
        left++;
        if (nearest == NULL || match.differing < best.differing ||
            (match.differing == best.differing && match.distance < best.distance)) {
            nearest = unit;
            best = match;
        }
    }
    if (nearest == NULL) {
        return;
    }
    if (best.threads_differ && !(left == 1 && unexplained == 1)) {
        remark(draft, "none of the %zu other builds here has its block size: they are other configurations", left);
        return;
    }
    take(self, draft, nearest);
    if (left > 1) {
        remark(draft, "no build here explains this launch; the nearest of %zu is compared with it", left);
    }
}

static void contradict_launches(struct kernel_finder *self)
{
    size_t unexplained = 0;
    for (size_t i = 0; i < self->draft_count; i++) {
        unexplained += !self->drafts[i].has_build;
    }
    const size_t launches = self->draft_count;
    for (size_t i = 0; i < launches; i++) {
        if (self->drafts[i].lead->kind == CLAIM_LAUNCHED && !self->drafts[i].has_build) {
            contradict(self, &self->drafts[i], unexplained);
        }
    }
}

/* Builds that explain no launch: with each other, by trust. */
static void deal_builds(struct kernel_finder *self)
{
    const size_t launches = self->draft_count;
    for (size_t i = 0; i < self->units.count; i++) {
        struct claim_unit *unit = &self->units.items[i];
        struct draft *draft = NULL;
        for (size_t d = launches; is_left_over(unit) && d < self->draft_count && draft == NULL; d++) {
            struct claim_match match;
            match_draft(self, &self->drafts[d], unit, &match);
            const bool fits = match.differing == 0 && match.agreeing > 0;
            draft = fits && (self->drafts[d].sources & unit->sources) == 0 ? &self->drafts[d] : NULL;
        }
        if (draft != NULL) {
            take(self, draft, unit);
        } else if (is_left_over(unit)) {
            open_draft(self, unit);
        }
    }
    /* One of each of two kinds of source, and nothing else: the same kernel, so they contradict each other. */
    if (launches == 0 && self->draft_count == 2) {
        struct claim_unit *other = &self->units.items[self->drafts[1].last_unit - 1];
        struct claim_match match;
        claim_unit_match(self->drafts[0].lead, self->drafts[1].lead, &match);
        const bool is_same_arch = self->drafts[0].lead->arch == 0 || self->drafts[1].lead->arch == 0 ||
                                  self->drafts[0].lead->arch == self->drafts[1].lead->arch;
        if (other == self->drafts[1].lead && is_same_arch && match.differing > 0 &&
            (self->drafts[0].sources & other->sources) == 0) {
            take(self, &self->drafts[0], other);
            self->draft_count = 1;
        }
    }
}

/* What tuners asked for: only the block size can be held against a launch or build. */
static void look_at_tuned(struct kernel_finder *self)
{
    size_t tuned = 0;
    for (size_t i = 0; i < self->units.count; i++) {
        tuned += self->units.items[i].taken_by == NO_CASE && self->units.items[i].kind == CLAIM_TUNED;
    }
    for (size_t d = 0; d < self->draft_count && tuned > 0; d++) {
        struct draft *draft = &self->drafts[d];
        struct claim_unit *other = NULL;
        size_t agreeing = 0;
        for (size_t i = 0; i < self->units.count; i++) {
            struct claim_unit *unit = &self->units.items[i];
            struct claim_match match;
            claim_unit_match(draft->lead, unit, &match);
            if (unit->kind == CLAIM_TUNED && unit->taken_by == NO_CASE) {
                agreeing += match.threads_differ ? 0 : match.agreeing > 0;
                other = match.threads_differ && other == NULL ? unit : other;
            }
        }
        if (agreeing > 0) {
            remark(draft, "%zu of the %zu configurations that tuners tried have its block size", agreeing, tuned);
        } else if (other != NULL && self->draft_count == 1) {
            take(self, draft, other);
        } else if (other != NULL) {
            remark(draft, "of %zu configurations that tuners tried none has its block size", tuned);
        }
    }
    self->finder->cases->tuned_only += self->draft_count == 0 ? tuned : 0;
}

/* --- drafts into cases ---------------------------------------------------------------------------------------------
 */

static enum status grow(struct finder *self, struct claim_case **item)
{
    struct claim_cases *cases = self->cases;
    if (cases->count == cases->capacity) {
        const size_t capacity = cases->capacity == 0 ? 16 : 2 * cases->capacity;
        struct claim_case *items = realloc(cases->items, capacity * sizeof *items);
        if (items == NULL) {
            return no_memory(self);
        }
        cases->items = items;
        cases->capacity = capacity;
    }
    *item = &cases->items[cases->count++];
    **item = (struct claim_case){.name = "", .device = ""};
    return STATUS_OK;
}

static void keep_remark(struct finder *self, struct claim_case *item, const char *text)
{
    const char *copy =
        item->remark_count < CLAIM_CASE_REMARKS_MAX ? arena_copy_text(&self->cases->arena, text, strlen(text)) : NULL;
    if (copy != NULL) {
        item->remarks[item->remark_count++] = copy;
    }
}

/* The name of the most trusted claim that has one; arch and device likewise. */
static void name_case(struct finder *self, struct claim_case *item)
{
    for (size_t i = 0; i < item->claim_count; i++) {
        const struct kernel_claim *claim = &self->claims->items[item->claims[i]];
        item->name = item->name[0] == '\0' ? claim->name : item->name;
        item->device = item->device[0] == '\0' ? claim->device : item->device;
        item->arch = item->arch == 0 ? claim->arch : item->arch;
    }
}

static enum status finish_draft(struct kernel_finder *self, const struct draft *draft)
{
    struct finder *finder = self->finder;
    struct claim_case *item = NULL;
    size_t count = 0;
    enum status status = grow(finder, &item);
    for (size_t i = 0; i < self->units.count && status == STATUS_OK; i++) {
        if (self->units.items[i].taken_by == draft->number) {
            finder->members[count++] = i;
            item->is_launched = item->is_launched || self->units.items[i].kind == CLAIM_LAUNCHED;
        }
    }
    if (status == STATUS_OK) {
        status = claim_case_compare(&self->units, finder->members, count, &finder->cases->arena, item, finder->error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    name_case(finder, item);
    for (size_t i = 0; i < draft->remark_count; i++) {
        keep_remark(finder, item, draft->remarks[i]);
    }
    if (draft->fitting > 0) {
        char text[128];
        (void)snprintf(text, sizeof text, "%zu more build%s here would explain this launch as well", draft->fitting,
                       draft->fitting == 1 ? "" : "s");
        keep_remark(finder, item, text);
    }
    if (self->units.left_out > 0) {
        char text[128];
        (void)snprintf(text, sizeof text, "%zu further claims about it were not looked at", self->units.left_out);
        keep_remark(finder, item, text);
    }
    return STATUS_OK;
}

static enum status find_in_kernel(struct finder *finder, size_t count)
{
    struct kernel_finder self = {.finder = finder};
    enum status status =
        claim_units_make(finder->claims, finder->indices, count, finder->next, &self.units, finder->error);
    if (status == STATUS_OK) {
        self.drafts = calloc(self.units.count + 1, sizeof *self.drafts);
        status = self.drafts != NULL ? STATUS_OK : no_memory(finder);
    }
    if (status == STATUS_OK) {
        deal_units(&self);
        contradict_launches(&self);
        deal_builds(&self);
        look_at_tuned(&self);
    }
    if (self.draft_count > 1 && self.drafts[0].lead->kind == CLAIM_BUILT && !self.drafts[0].lead->is_stated) {
        remark(&self.drafts[0],
               "%zu builds of it here and no launch: a trace of one step would tell which of them runs",
               self.draft_count);
    }
    for (size_t i = 0; i < self.draft_count && status == STATUS_OK; i++) {
        status = finish_draft(&self, &self.drafts[i]);
    }
    free(self.drafts);
    claim_units_release(&self.units);
    return status;
}

/* --- kernels -------------------------------------------------------------------------------------------------------
 */

struct sort_key {
    const struct kernel_claim_list *claims;
    size_t index;
    char base[CLAIM_BASE_NAME_SIZE];
};

static int compare_keys(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    int order = strcmp(a->base, b->base);
    if (order == 0) {
        order = strcmp(a->claims->items[a->index].name, b->claims->items[b->index].name);
    }
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static bool is_asked_for(const struct kernel_claim *claim, const char *base, const char *kernel)
{
    return kernel == NULL || claim_names_equal(claim->name, kernel) || strcmp(base, kernel) == 0;
}

/* Sorts the claims that are asked for; those that are stated without a kernel are kept apart. */
static enum status sort_claims(struct finder *self, const char *kernel)
{
    struct sort_key *keys = calloc(self->claims->count + 1, sizeof *keys);
    if (keys == NULL) {
        return no_memory(self);
    }
    for (size_t i = 0; i < self->claims->count; i++) {
        const struct kernel_claim *claim = &self->claims->items[i];
        if (claim_is_stated(claim) && claim->name[0] == '\0') {
            self->stated[self->stated_count++] = i;
            continue;
        }
        struct sort_key *key = &keys[self->count];
        *key = (struct sort_key){.claims = self->claims, .index = i};
        (void)claim_base_name(claim->name, key->base);
        self->count += is_asked_for(claim, key->base, kernel);
    }
    qsort(keys, self->count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < self->count; i++) {
        self->sorted[i] = keys[i].index;
    }
    free(keys);
    return STATUS_OK;
}

static const char *name_at(const struct finder *self, size_t i)
{
    return self->claims->items[self->sorted[i]].name;
}

/* End of the run of claims from `start` that are of one kernel: one name, or one demangled name and other forms of it.
 */
static size_t kernel_end(const struct finder *self, size_t start)
{
    char base[CLAIM_BASE_NAME_SIZE], other[CLAIM_BASE_NAME_SIZE];
    size_t end = start, instances[3] = {0};
    const char *last[3] = {NULL, NULL, NULL};
    (void)claim_base_name(name_at(self, start), base);
    while (end < self->count && strcmp(claim_base_name(name_at(self, end), other), base) == 0) {
        const char *name = name_at(self, end++);
        const enum claim_name_form form = claim_name_form_of(name);
        instances[form] += last[form] == NULL || !claim_names_equal(last[form], name);
        last[form] = name;
    }
    if (instances[0] <= 1 && instances[1] <= 1 && instances[2] <= 1) {
        return end;
    }
    /* Several instantiations of a template: only equal names are one kernel. */
    size_t same = start + 1;
    while (same < end && claim_names_equal(name_at(self, start), name_at(self, same))) {
        same++;
    }
    return same;
}

static enum status several_kernels(const struct finder *self, size_t kernels)
{
    struct text_buffer names = {0};
    size_t told = 0;
    for (size_t start = 0; start < self->count && told < 6; start = kernel_end(self, start), told++) {
        text_buffer_append_format(&names, "%s%.60s", told > 0 ? ", " : "", name_at(self, start));
    }
    enum status status = error_set(self->error, STATUS_USAGE,
                                   "which of the %zu kernels is the claim about? say kernel=NAME in it, or --kernel: "
                                   "%s%s",
                                   kernels, names.text != NULL ? names.text : "", kernels > told ? ", ..." : "");
    text_buffer_release(&names);
    return status;
}

static enum status find_all(struct finder *self, const char *kernel)
{
    size_t kernels = 0;
    enum status status = sort_claims(self, kernel);
    for (size_t start = 0; start < self->count && status == STATUS_OK; start = kernel_end(self, start)) {
        kernels++;
    }
    if (status == STATUS_OK && kernels == 0 && self->stated_count == 0) {
        return kernel != NULL ? error_set(self->error, STATUS_USAGE, "nothing here is about kernel %s", kernel)
                              : error_set(self->error, STATUS_NOT_FOUND, "nothing here is about a kernel");
    }
    if (status == STATUS_OK && kernels > 1 && self->stated_count > 0) {
        return several_kernels(self, kernels);
    }
    size_t start = 0;
    do {
        const size_t end = start < self->count ? kernel_end(self, start) : start;
        memcpy(self->indices, self->sorted + start, (end - start) * sizeof *self->indices);
        memcpy(self->indices + (end - start), self->stated, self->stated_count * sizeof *self->indices);
        status = status == STATUS_OK ? find_in_kernel(self, end - start + self->stated_count) : status;
        start = end;
    } while (start < self->count && status == STATUS_OK);
    return status;
}

enum status claim_cases_find(const struct kernel_claim_list *claims, const char *kernel, struct claim_cases *cases,
                             struct error *error)
{
    struct finder self = {.cases = cases, .claims = claims, .error = error};
    size_t *room = calloc(claims->count + 1, 5 * sizeof *room);
    if (room == NULL) {
        return no_memory(&self);
    }
    const size_t stride = claims->count + 1;
    cases->claims = claims;
    self.sorted = room;
    self.stated = room + stride;
    self.indices = room + 2 * stride;
    self.next = room + 3 * stride;
    self.members = room + 4 * stride;
    enum status status = find_all(&self, kernel);
    free(room);
    return status;
}

void claim_cases_release(struct claim_cases *cases)
{
    free(cases->items);
    arena_release(&cases->arena);
    *cases = (struct claim_cases){0};
}

const struct claim_comparison *claim_case_comparison(const struct claim_case *item, enum claim_figure figure)
{
    for (size_t i = 0; i < item->comparison_count; i++) {
        if (item->comparisons[i].figure == figure) {
            return &item->comparisons[i];
        }
    }
    return NULL;
}

const struct claim_value *claim_case_value(const struct claim_case *item, enum claim_figure figure)
{
    return &item->stories[0].figures[figure];
}
