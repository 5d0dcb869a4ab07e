/* SPDX-License-Identifier: GPL-3.0-or-later
 * Walks through a knob space once for all stories. */
#include "evidence/claims/claim_implied.h"

#include <math.h>
#include <string.h>

#include "evidence/claims/claim_normal.h"
#include "model/predict/occupancy.h"

/* What the scenario says of one configuration. */
struct answer {
    bool is_valid;
    double smem_bytes, threads;
    struct kernel_launch launch;
};

struct walk {
    struct implied_search *search;
    const struct claim_story *stories;
    size_t story_count;
    struct claim_implied *implied;
    struct claim_implied *without_threads; /* the same, threads not asked for */
    double values[IMPLIED_VALUES_MAX];
    bool want_examples; /* the second time: of the stories that are ambiguous */
};

static size_t knob_count(const struct implied_search *search)
{
    return scenario_knob_count(search->scenario);
}

static struct answer evaluate(const struct implied_search *search, const double *values)
{
    struct layer_case layer;
    struct error ignored = {0};
    enum config_verdict verdict;
    size_t constraint;
    struct answer answer = {0};
    if (scenario_evaluate(search->evaluator, values, &verdict, &constraint, &layer, &ignored) != STATUS_OK ||
        verdict != CONFIG_OK || search->kernel >= layer.kernel_count || layer.kernels[search->kernel].skipped) {
        return answer;
    }
    answer.is_valid = true;
    answer.launch = layer.kernels[search->kernel].launch;
    answer.smem_bytes = (double)answer.launch.static_smem_bytes + (double)answer.launch.dynamic_smem_bytes;
    answer.threads = answer.launch.threads;
    return answer;
}

/* Knobs that differ from the base: the fewer, the more likely it is what runs. */
static size_t distance(const struct implied_search *search, const double *values)
{
    size_t changed = 0;
    for (size_t i = 0; i < knob_count(search); i++) {
        changed += values[i] != search->base[i];
    }
    return changed;
}

static void take_match(struct implied_search *search, struct claim_implied *implied, const double *values,
                       double smem_bytes)
{
    const size_t knobs = knob_count(search);
    for (size_t i = 0; i < knobs; i++) {
        if (implied->matches == 0) {
            implied->is_set[i] = true;
        } else if (values[i] != implied->values[i]) {
            implied->is_set[i] = false;
            implied->is_open[i] = true;
        }
    }
    if (implied->matches++ == 0 || distance(search, values) < distance(search, implied->values)) {
        memcpy(implied->values, values, sizeof implied->values);
        implied->smem_bytes = smem_bytes;
    }
}

static void take_neighbour(const struct implied_search *search, struct claim_implied *implied, const double *values,
                           double smem_bytes, const struct claim_value *wanted)
{
    const bool is_below = smem_bytes < wanted->low;
    struct implied_neighbour *place = is_below ? &implied->below : &implied->above;
    const bool is_nearer = is_below ? smem_bytes > place->smem_bytes : smem_bytes < place->smem_bytes;
    const bool is_simpler = place->is_known && smem_bytes == place->smem_bytes &&
                            distance(search, values) < distance(search, place->values);
    if (!place->is_known || is_nearer || is_simpler) {
        place->is_known = true;
        place->smem_bytes = smem_bytes;
        memcpy(place->values, values, sizeof place->values);
    }
}

static bool has_threads_of(const struct claim_implied *implied, const struct claim_value *threads,
                           const struct answer *answer)
{
    return !threads->is_known || implied->threads_ignored ||
           (answer->threads >= threads->low && answer->threads <= threads->high);
}

static void take_example(const struct implied_search *search, struct claim_implied *implied, const double *values)
{
    for (size_t i = 0; i < implied->example_count; i++) {
        bool is_same = true;
        for (size_t knob = 0; knob < knob_count(search) && is_same; knob++) {
            is_same = !(implied->is_set[knob] || implied->is_open[knob]) || implied->examples[i][knob] == values[knob];
        }
        if (is_same) {
            return;
        }
    }
    if (implied->example_count == IMPLIED_EXAMPLES_MAX) {
        implied->has_more_examples = true;
        return;
    }
    memcpy(implied->examples[implied->example_count++], values, knob_count(search) * sizeof *values);
}

static void try_examples(struct walk *self, const struct answer *answer)
{
    for (size_t i = 0; i < self->story_count; i++) {
        struct claim_implied *implied = &self->implied[i];
        const struct claim_value *smem = &self->stories[i].figures[CLAIM_LAUNCH_SMEM];
        if (implied->is_ambiguous && answer->smem_bytes >= smem->low && answer->smem_bytes <= smem->high &&
            has_threads_of(implied, &self->stories[i].figures[CLAIM_THREADS], answer)) {
            take_example(self->search, implied, self->values);
        }
    }
}

static void try_configuration(struct walk *self, const struct answer *answer)
{
    for (size_t i = 0; i < self->story_count; i++) {
        const struct claim_value *smem = &self->stories[i].figures[CLAIM_LAUNCH_SMEM],
                                 *threads = &self->stories[i].figures[CLAIM_THREADS];
        if (!smem->is_known) {
            continue;
        }
        if (answer->smem_bytes < smem->low || answer->smem_bytes > smem->high) {
            take_neighbour(self->search, &self->implied[i], self->values, answer->smem_bytes, smem);
            continue;
        }
        if (has_threads_of(&self->implied[i], threads, answer)) {
            take_match(self->search, &self->implied[i], self->values, answer->smem_bytes);
        }
        take_match(self->search, &self->without_threads[i], self->values, answer->smem_bytes);
    }
}

static void walk_knobs(struct walk *self, size_t knob)
{
    struct implied_search *search = self->search;
    if (knob == knob_count(search)) {
        const struct answer answer = evaluate(search, self->values);
        search->tried += !self->want_examples;
        if (answer.is_valid && self->want_examples) {
            try_examples(self, &answer);
        } else if (answer.is_valid) {
            try_configuration(self, &answer);
        }
        return;
    }
    const struct scenario_variable *variable = scenario_variable_get(search->scenario, knob);
    const uint32_t count = search->is_held[knob] ? 1 : variable->value_count;
    for (uint32_t i = 0; i < count; i++) {
        self->values[knob] = search->is_held[knob] ? search->base[knob] : variable->values[i];
        walk_knobs(self, knob + 1);
    }
}

/* Whether the kernel's SMEM (or threads, where these are asked for) change when this knob alone does, from these
 * values. */
static bool decides(const struct implied_search *search, size_t knob, const double *from, bool with_threads)
{
    const struct scenario_variable *variable = scenario_variable_get(search->scenario, knob);
    double values[IMPLIED_VALUES_MAX];
    memcpy(values, from, sizeof values);
    const struct answer here = evaluate(search, values);
    for (uint32_t i = 0; i < variable->value_count && i < 64; i++) {
        values[knob] = variable->values[i];
        const struct answer there = evaluate(search, values);
        if (here.is_valid && there.is_valid &&
            (there.smem_bytes != here.smem_bytes || (with_threads && there.threads != here.threads))) {
            return true;
        }
    }
    return false;
}

/* Too many configurations: knobs that decide nothing at the base are held there, then the longest lists. */
static void hold_knobs(struct implied_search *search)
{
    double space = 1;
    const size_t knobs = knob_count(search);
    for (size_t i = 0; i < knobs; i++) {
        space *= scenario_variable_get(search->scenario, i)->value_count;
    }
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < knobs && space > IMPLIED_TRIES_MAX; i++) {
            if (!search->is_held[i] && (round == 1 || !decides(search, i, search->base, true))) {
                search->is_held[i] = true;
                search->is_cut = true;
                space /= scenario_variable_get(search->scenario, i)->value_count;
            }
        }
    }
}

/* Which knobs follow from a story's matches. Returns whether some stay open. */
static bool judge_knobs(const struct implied_search *search, const struct claim_story *story,
                        struct claim_implied *implied)
{
    const bool with_threads = story->figures[CLAIM_THREADS].is_known && !implied->threads_ignored;
    for (size_t knob = 0; knob < knob_count(search) && implied->matches > 0; knob++) {
        const bool counts = !search->is_held[knob] && decides(search, knob, implied->values, with_threads);
        implied->is_set[knob] = implied->is_set[knob] && counts;
        implied->is_open[knob] = implied->is_open[knob] && counts;
        implied->is_ambiguous = implied->is_ambiguous || implied->is_open[knob];
    }
    return implied->is_ambiguous;
}

static void find_matches(struct walk *self)
{
    walk_knobs(self, 0);
    for (size_t i = 0; i < self->story_count; i++) {
        if (self->implied[i].matches == 0 && self->without_threads[i].matches > 0) {
            self->implied[i] = self->without_threads[i];
            self->implied[i].threads_ignored = true;
        }
        self->want_examples = judge_knobs(self->search, &self->stories[i], &self->implied[i]) || self->want_examples;
    }
    if (self->want_examples) {
        walk_knobs(self, 0);
    }
}

/* An open question is answered by the user alone; other failures of the base configuration are one configuration's. */
static enum status check_questions(const struct implied_search *search, struct error *error)
{
    struct layer_case layer;
    struct error own = {0};
    enum config_verdict verdict;
    size_t constraint;
    enum status status = scenario_evaluate(search->evaluator, search->base, &verdict, &constraint, &layer, &own);
    if (status == STATUS_USAGE && error != NULL) {
        *error = own;
    }
    return status == STATUS_USAGE ? status : STATUS_OK;
}

enum status claim_implied_find(struct implied_search *search, const struct claim_story *stories, size_t story_count,
                               struct claim_implied *implied, struct error *error)
{
    struct walk self = {.search = search, .stories = stories, .story_count = story_count, .implied = implied};
    struct arena arena = {0};
    enum status status = check_questions(search, error);
    if (status != STATUS_OK) {
        return status;
    }
    self.without_threads = arena_allocate(&arena, story_count + 1, sizeof *self.without_threads);
    if (self.without_threads == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to turn the scenario round");
    }
    memset(implied, 0, story_count * sizeof *implied);
    memcpy(self.values, search->base, sizeof self.values);
    search->tried = 0;
    hold_knobs(search);
    find_matches(&self);
    arena_release(&arena);
    return STATUS_OK;
}

size_t claim_implied_flips(const struct implied_search *search, const struct gpu_limits *limits, const double *first,
                           const double *second, struct implied_flip flips[IMPLIED_FLIPS_MAX])
{
    const double *const from[2] = {first, second};
    size_t count = 0;
    for (size_t knob = 0; knob < knob_count(search); knob++) {
        const struct scenario_variable *variable = scenario_variable_get(search->scenario, knob);
        for (uint32_t i = 0; i < variable->value_count && first[knob] == second[knob]; i++) {
            struct implied_flip flip = {.knob = knob, .value = variable->values[i]};
            bool both_valid = variable->values[i] != first[knob];
            for (int side = 0; side < 2 && both_valid; side++) {
                double values[IMPLIED_VALUES_MAX];
                struct occupancy occupancy;
                memcpy(values, from[side], sizeof values);
                values[knob] = flip.value;
                const struct answer answer = evaluate(search, values);
                both_valid = answer.is_valid;
                occupancy_compute(limits, &answer.launch, &occupancy);
                flip.fits[side] = occupancy.fault == LAUNCH_FAULT_NONE && occupancy.ctas_per_sm > 0;
                flip.smem_bytes[side] = answer.smem_bytes;
                flip.smem_over_limit_bytes[side] = occupancy.smem_over_limit_bytes;
            }
            if (both_valid && flip.fits[0] != flip.fits[1] && count < IMPLIED_FLIPS_MAX) {
                flips[count++] = flip;
            }
        }
    }
    return count;
}
