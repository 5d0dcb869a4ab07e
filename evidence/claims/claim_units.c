/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which claims belong together before any of their figures is compared: by file for builds, by equal figures for
 * launches. */
#include "evidence/claims/claim_units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/claims/claim_cases.h"
#include "evidence/claims/claim_normal.h"

enum {
    SAME_FILE_LOOK_BACK = 64 /* units of one file that a further claim is compared with */
};

/* What makes a build or launch what it is. */
static const enum claim_figure compared[] = {CLAIM_REGISTERS,   CLAIM_THREADS,  CLAIM_STATIC_SMEM, CLAIM_DYNAMIC_SMEM,
                                             CLAIM_LAUNCH_SMEM, CLAIM_CLUSTER,  CLAIM_STACK,       CLAIM_SPILL_STORES,
                                             CLAIM_SPILL_LOADS, CLAIM_BARRIERS, CLAIM_NUM_STAGES};
enum {
    COMPARED = sizeof compared / sizeof compared[0]
};

bool claim_is_stated(const struct kernel_claim *claim)
{
    return strcmp(claim->file, "stated") == 0;
}

static size_t label_length(const char *file)
{
    const char *slash = strrchr(file, '/'), *stem = slash != NULL ? slash + 1 : file;
    const char *ending = strrchr(stem, '.');
    return ending != NULL && ending > stem ? (size_t)(ending - file) : strlen(file);
}

static bool same_label(const char *left, const char *right)
{
    const size_t a = label_length(left), b = label_length(right);
    return a == b && memcmp(left, right, a) == 0;
}

struct claim_value claim_unit_launch_smem(const struct claim_unit *unit, double static_bytes)
{
    const struct claim_value *launch = &unit->figures[CLAIM_LAUNCH_SMEM], *fixed = &unit->figures[CLAIM_STATIC_SMEM],
                             *dynamic = &unit->figures[CLAIM_DYNAMIC_SMEM];
    if (launch->is_known) {
        return *launch;
    }
    if (dynamic->is_known && fixed->is_known) {
        return (struct claim_value){true, dynamic->low + fixed->low, dynamic->high + fixed->high};
    }
    if (dynamic->is_known && (unit->sources >> CLAIM_SOURCE_TRITON_JSON & 1) != 0) {
        return (struct claim_value){true, dynamic->low + static_bytes, dynamic->high + static_bytes};
    }
    return (struct claim_value){0};
}

static struct claim_value unit_value(const struct claim_unit *unit, enum claim_figure figure)
{
    return figure == CLAIM_LAUNCH_SMEM ? claim_unit_launch_smem(unit, 0) : unit->figures[figure];
}

void claim_unit_match(const struct claim_unit *left, const struct claim_unit *right, struct claim_match *match)
{
    *match = (struct claim_match){0};
    for (size_t i = 0; i < COMPARED; i++) {
        /* A launch record's stack is the limit that was set, not the frame. */
        if (left->kind != right->kind && compared[i] == CLAIM_STACK) {
            continue;
        }
        const struct claim_value a = unit_value(left, compared[i]), b = unit_value(right, compared[i]);
        match->agreeing += claim_values_agree(&a, &b);
        if (claim_values_differ(&a, &b)) {
            match->differing++;
            match->threads_differ = match->threads_differ || compared[i] == CLAIM_THREADS;
            match->distance += fabs(log((a.low + 1) / (b.low + 1)));
        }
    }
    if (left->arch != 0 && right->arch != 0 && left->arch != right->arch) {
        match->differing += COMPARED; /* another architecture is another build, whatever agrees */
    }
}

/* --- */

static enum status grow(struct claim_units *units, struct error *error)
{
    if (units->count < units->capacity) {
        return STATUS_OK;
    }
    const size_t capacity = units->capacity == 0 ? 16 : 2 * units->capacity;
    struct claim_unit *items = realloc(units->items, capacity * sizeof *items);
    if (items == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu builds and launches", capacity);
    }
    units->items = items;
    units->capacity = capacity;
    return STATUS_OK;
}

/* Puts the claim at its place of the chain. */
static void link_claim(struct claim_units *units, struct claim_unit *unit, size_t index, unsigned order)
{
    size_t *link = &unit->first;
    /* Most come in order: the end first. */
    if (unit->last != 0 && claim_rank_of(units->claims->items[unit->last - 1].source)->order <= order) {
        link = &units->next[unit->last - 1];
    }
    while (*link != 0 && claim_rank_of(units->claims->items[*link - 1].source)->order <= order) {
        link = &units->next[*link - 1];
    }
    units->next[index] = *link;
    *link = index + 1;
    unit->last = units->next[index] == 0 ? index + 1 : unit->last;
}

static void add_claim(struct claim_units *units, struct claim_unit *unit, size_t index)
{
    const struct kernel_claim *claim = &units->claims->items[index];
    link_claim(units, unit, index, claim_rank_of(claim->source)->order);
    const bool is_first = unit->first == index + 1;
    for (int figure = 0; figure < CLAIM_FIGURE_COUNT; figure++) {
        if (claim->figures[figure].is_known && (is_first || !unit->figures[figure].is_known)) {
            unit->figures[figure] = claim->figures[figure];
        }
    }
    unit->count++;
    unit->sources |= 1u << claim->source;
    unit->arch = unit->arch != 0 ? unit->arch : claim->arch;
    unit->order = claim_rank_of(units->claims->items[unit->first - 1].source)->order;
}

static bool belongs(const struct claim_units *units, const struct claim_unit *unit, const struct kernel_claim *claim)
{
    const struct kernel_claim *present = &units->claims->items[unit->first - 1];
    const enum claim_class kind = claim_rank_of(claim->source)->kind;
    if (unit->is_stated || unit->kind != kind || kind == CLAIM_TUNED) {
        return false;
    }
    if (unit->arch != 0 && claim->arch != 0 && unit->arch != claim->arch) {
        return false;
    }
    if (kind == CLAIM_BUILT) {
        return (unit->sources >> claim->source & 1) == 0 && same_label(present->file, claim->file);
    }
    /* Launches: equal figures, any grid. */
    bool is_equal =
        strcmp(present->device, claim->device) == 0 || present->device[0] == '\0' || claim->device[0] == '\0';
    for (size_t i = 0; i < COMPARED && is_equal; i++) {
        is_equal = !claim_values_differ(&unit->figures[compared[i]], &claim->figures[compared[i]]);
    }
    return is_equal && claim_values_agree(&unit->figures[CLAIM_THREADS], &claim->figures[CLAIM_THREADS]);
}

static enum status take_claim(struct claim_units *units, size_t index, struct error *error)
{
    const struct kernel_claim *claim = &units->claims->items[index];
    const enum claim_class kind = claim_rank_of(claim->source)->kind;
    const bool is_stated = claim_is_stated(claim);
    const size_t look_back = kind == CLAIM_LAUNCHED ? units->count : SAME_FILE_LOOK_BACK;
    for (size_t i = units->count; !is_stated && i > 0 && units->count - i < look_back; i--) {
        if (belongs(units, &units->items[i - 1], claim)) {
            add_claim(units, &units->items[i - 1], index);
            return STATUS_OK;
        }
    }
    if (units->count == CLAIM_UNITS_PER_KERNEL_MAX) {
        units->left_out++;
        return STATUS_OK;
    }
    enum status status = grow(units, error);
    if (status == STATUS_OK) {
        struct claim_unit *unit = &units->items[units->count++];
        *unit = (struct claim_unit){.kind = kind, .is_stated = is_stated};
        add_claim(units, unit, index);
    }
    return status;
}

static int compare_units(const void *left, const void *right)
{
    const struct claim_unit *a = left, *b = right;
    if (a->order != b->order) {
        return a->order < b->order ? -1 : 1;
    }
    return (a->first > b->first) - (a->first < b->first);
}

/* Appends the claims of `from`, and what it knows more. */
static void absorb(struct claim_units *units, struct claim_unit *into, const struct claim_unit *from)
{
    units->next[into->last - 1] = from->first;
    into->last = from->last;
    into->count += from->count;
    into->sources |= from->sources;
    into->arch = into->arch != 0 ? into->arch : from->arch;
    for (int figure = 0; figure < CLAIM_FIGURE_COUNT; figure++) {
        if (!into->figures[figure].is_known) {
            into->figures[figure] = from->figures[figure];
        }
    }
}

/* The build of other sources that shares most figures, at least two, and differs in none: a report or log of elsewhere
 * is about the same build. */
static struct claim_unit *same_build(struct claim_units *units, size_t before, const struct claim_unit *unit)
{
    struct claim_unit *best = NULL;
    unsigned most = 1;
    for (size_t i = 0; i < before; i++) {
        struct claim_unit *other = &units->items[i];
        struct claim_match match;
        if (other->kind != CLAIM_BUILT || other->is_stated || (other->sources & unit->sources) != 0) {
            continue;
        }
        claim_unit_match(other, unit, &match);
        if (match.differing == 0 && match.agreeing > most) {
            best = other;
            most = match.agreeing;
        }
    }
    return best;
}

static void join_builds(struct claim_units *units)
{
    size_t kept = 0;
    for (size_t i = 0; i < units->count; i++) {
        const struct claim_unit unit = units->items[i];
        struct claim_unit *build = unit.kind == CLAIM_BUILT && !unit.is_stated ? same_build(units, kept, &unit) : NULL;
        if (build != NULL) {
            absorb(units, build, &unit);
        } else {
            units->items[kept++] = unit;
        }
    }
    units->count = kept;
}

enum status claim_units_make(const struct kernel_claim_list *claims, const size_t *indices, size_t count, size_t *next,
                             struct claim_units *units, struct error *error)
{
    enum status status = STATUS_OK;
    units->claims = claims;
    units->next = next;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct kernel_claim *claim = &claims->items[indices[i]];
        /* What a tuner could not run, and what the compiler refused although its report looks normal, is no build. */
        if (!claim->is_failed) {
            status = take_claim(units, indices[i], error);
        }
    }
    if (units->count > 1) {
        qsort(units->items, units->count, sizeof units->items[0], compare_units);
        join_builds(units);
    }
    return status;
}

void claim_units_release(struct claim_units *units)
{
    free(units->items);
    *units = (struct claim_units){0};
}
