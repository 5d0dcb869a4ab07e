/* SPDX-License-Identifier: GPL-3.0-or-later
 * Beliefs into ranked runs, a batch at a time, and what remains to be gained (docs/MODEL.md SEARCH-3 to SEARCH-8). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "calibrate/experiment/search_design.h"
#include "calibrate/experiment/search_engine_private.h"
#include "calibrate/experiment/search_feasibility.h"

enum {
    STOP_CLAIMS = 5,   /* proposals in a row that see too little left to gain */
    DOUBTS = 8,        /* draws of lengths, amplitudes and noise that are asked before a stop */
    DOUBT_STEPS = 10,  /* of a chain from one to the next */
    DOUBT_ALWAYS = 40, /* runs; beyond, a draw is dear, and doubts are asked after every STOP_CLAIMS of them only */
};
static const double gain_margin = 2;

/* --- worth of a run --- */

static double cost_of(const struct search_engine *self, uint32_t config)
{
    return self->options.costs_s ? self->options.costs_s[config] : 1;
}

/* Place in the pool of the configuration that is worth most per second; SIZE_MAX: none is left. */
static size_t most_worth(const struct search_engine *self)
{
    size_t best = SIZE_MAX;
    double most = -HUGE_VAL;
    for (size_t i = 0; i < self->pool_count; i++) {
        if (self->is_taken[self->pool[i]]) {
            continue;
        }
        const double worth = log(self->feasible[i]) + log(self->gains[i]) - log(cost_of(self, self->pool[i]));
        if (worth > most) {
            most = worth;
            best = i;
        }
    }
    return best;
}

static double run_sigma(const struct search_engine *self, double deviation)
{
    const double noise = fmax(search_members_noise(self->members), self->run_noise);
    return sqrt(deviation * deviation + noise * noise);
}

/* A floor that a run went below by more than 5 % was not one: what is measured is another thing than what is described,
 * such as inputs that stay in L2. */
static bool floors_hold(const struct search_engine *self)
{
    bool hold = self->options.log_floors != NULL;
    for (size_t i = 0; i < self->run_count && hold; i++) {
        hold = self->runs[i].failed || log(self->runs[i].value) > self->options.log_floors[self->runs[i].config] - 0.05;
    }
    return hold;
}

static double floor_of(const struct search_engine *self, uint32_t config)
{
    return self->floors_hold ? self->options.log_floors[config] : -HUGE_VAL;
}

/* SEARCH-11: nothing is foretold below its floor, nor expected to gain more than down to it. */
static void cut_at_floors(struct search_engine *self, const uint32_t *configs, size_t count, double target)
{
    self->floors_hold = floors_hold(self);
    for (size_t i = 0; i < count && self->floors_hold; i++) {
        const double floor_log = floor_of(self, configs[i]);
        self->means[i] = fmax(self->means[i], floor_log);
        self->gains[i] = fmin(self->gains[i], fmax(target - floor_log, 1e-12 * self->gains[i]));
    }
}

static void describe(const struct search_engine *self, size_t place, double target, struct search_proposal *proposal)
{
    const double mean = self->means[place], deviation = self->deviations[place];
    const double sigma = run_sigma(self, deviation), half = exp(self->log_stretch) * sigma;
    const double cost = cost_of(self, self->pool[place]);
    *proposal = (struct search_proposal){.config = self->pool[place],
                                         .reason = mean <= target ? SEARCH_REASON_EXPLOIT : SEARCH_REASON_EXPLORE,
                                         .value = exp(mean),
                                         .value_lo = exp(fmax(mean - half, floor_of(self, self->pool[place]))),
                                         .value_hi = exp(mean + half),
                                         .feasible_probability = self->feasible[place],
                                         .best_probability = (double)NAN,
                                         .cost_s = cost};
    proposal->gain_fraction =
        isfinite(self->best_log) ? proposal->feasible_probability * self->gains[place] : (double)NAN;
    proposal->gain_per_s = proposal->gain_fraction / cost;
}

/* By design; what the process says of it beside, if it can say anything. */
static void describe_design(struct search_engine *self, uint32_t config, struct search_proposal *proposal)
{
    *proposal = (struct search_proposal){.config = config,
                                         .reason = SEARCH_REASON_EXPLORE,
                                         .value = (double)NAN,
                                         .value_lo = (double)NAN,
                                         .value_hi = (double)NAN,
                                         .feasible_probability = 1,
                                         .best_probability = (double)NAN,
                                         .gain_fraction = (double)NAN,
                                         .cost_s = cost_of(self, config),
                                         .gain_per_s = (double)NAN};
    search_feasibility(self->space, self->tried, self->did_run, self->run_count, &config, 1,
                       &proposal->feasible_probability);
}

static uint32_t design_pick(const struct search_engine *self, const struct search_proposal *batch, size_t batch_count)
{
    uint32_t chosen[64];
    size_t count = 0;
    for (size_t i = 0; i < self->run_count && count < 64; i++) {
        chosen[count++] = self->runs[i].config;
    }
    for (size_t i = 0; i < batch_count && count < 64; i++) {
        chosen[count++] = batch[i].config;
    }
    if (self->options.design_at_random || count >= self->options.chosen_runs) {
        struct random_stream stream;
        random_init(&stream, self->options.seed, 11 + count);
        uint32_t config = random_below(&stream, (uint32_t)self->space->config_count);
        while (self->is_taken[config]) {
            config = config + 1 < self->space->config_count ? config + 1 : 0;
        }
        return config;
    }
    return search_design_next(self->space, self->options.seed, chosen, count, self->is_taken);
}

static bool has_free(const struct search_engine *self)
{
    for (size_t c = 0; c < self->space->config_count; c++) {
        if (!self->is_taken[c]) {
            return true;
        }
    }
    return false;
}

/* Returns what is to be beaten: the best measured, or, before there is one, the best predicted. */
static double weigh_pool(struct search_engine *self)
{
    if (!self->is_weighed) {
        self->target = self->best_log;
        search_members_predict(self->members, self->pool, self->pool_count, &self->target, self->means,
                               self->deviations, self->gains);
        cut_at_floors(self, self->pool, self->pool_count, self->target);
        search_feasibility(self->space, self->tried, self->did_run, self->run_count, self->pool, self->pool_count,
                           self->feasible);
        self->is_weighed = true;
    }
    return self->target;
}

/* --- what remains --- */

/* The configurations that may yet be the best, by their worth, behind the incumbent. */
static void choose_joint(struct search_engine *self, double *feasible)
{
    double worths[SEARCH_JOINT_MAX] = {0};
    self->joint_count = 0;
    if (isfinite(self->best_log)) {
        worths[0] = HUGE_VAL;
        feasible[0] = 1;
        self->joint[self->joint_count++] = self->best_config;
    }
    for (size_t i = 0; i < self->pool_count; i++) {
        const double worth = self->feasible[i] * self->gains[i];
        size_t place = self->joint_count;
        if (place == SEARCH_JOINT_MAX) {
            if (worth <= worths[place - 1]) {
                continue;
            }
            place--;
        } else {
            self->joint_count++;
        }
        for (; place > 0 && worths[place - 1] < worth; place--) {
            worths[place] = worths[place - 1];
            feasible[place] = feasible[place - 1];
            self->joint[place] = self->joint[place - 1];
        }
        worths[place] = worth;
        feasible[place] = self->feasible[i];
        self->joint[place] = self->pool[i];
    }
}

/* Returns what the best of them is expected to gain. Late forecasts are of configurations beside the best, and that
 * they hold says nothing of those far from all runs: nothing is narrowed by them. */
static double judge_best(struct search_engine *self)
{
    const double stretch = exp(self->log_stretch) / normal_quantile(0.5 + self->options.interval_level / 2);
    double feasible[SEARCH_JOINT_MAX], gain;
    choose_joint(self, feasible);
    search_members_draw(self->members, self->joint, feasible, self->joint_count, fmax(stretch, 1), self->options.seed,
                        self->joint_probability, &gain);
    return gain;
}

static double best_probability(const struct search_engine *self, uint32_t config)
{
    for (size_t i = 0; i < self->joint_count; i++) {
        if (self->joint[i] == config) {
            return self->joint_probability[i];
        }
    }
    return 0;
}

static bool is_designing(const struct search_engine *self, size_t proposed)
{
    return search_engine_knows_nothing(self) ||
           (!self->prior && self->good_count + proposed < self->options.initial_runs);
}

/* ln(best / least floor of what was not run), at least 0: more cannot be gained. 0 where everything was run. */
static double most_to_gain(const struct search_engine *self)
{
    double least = HUGE_VAL;
    for (size_t c = 0; c < self->space->config_count; c++) {
        if (!self->is_taken[c]) {
            least = fmin(least, floor_of(self, (uint32_t)c));
        }
    }
    return least < HUGE_VAL ? fmax(self->best_log - least, 0) : 0;
}

/* SEARCH-8: what the most promising runs together are expected to gain, with a margin for what is not among them and
 * for what the process does not know of itself; after the beliefs were formed. NaN while it cannot be said. */
static double judge_remaining(struct search_engine *self)
{
    self->joint_count = 0;
    if (is_designing(self, 0)) {
        return (double)NAN;
    }
    (void)weigh_pool(self);
    const double gain = judge_best(self);
    return isfinite(self->best_log) ? fmin(gain_margin * gain, most_to_gain(self)) : (double)NAN;
}

/* Leaves out the last runs. */
static void take_back(struct search_engine *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        self->run_count--;
        self->good_count -= !self->runs[self->run_count].failed;
    }
    memset(self->is_taken, 0, self->space->config_count * sizeof *self->is_taken);
    for (size_t i = 0; i < self->run_count; i++) {
        self->is_taken[self->runs[i].config] = true;
    }
}

static void give_again(struct search_engine *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        self->good_count += !self->runs[self->run_count].failed;
        self->is_taken[self->runs[self->run_count++].config] = true;
    }
}

/* What remained, as it was said so many runs ago: asked again of the runs there were, so that the same results always
 * give the same answer. */
static double remaining_before(struct search_engine *self, size_t ago)
{
    const size_t place = self->run_count - ago;
    if (!isfinite(self->gains_by_run[place])) {
        take_back(self, ago);
        search_engine_form_beliefs(self);
        self->gains_by_run[place] = judge_remaining(self);
        give_again(self, ago);
        search_engine_form_beliefs(self);
        (void)judge_remaining(self);
    }
    return self->gains_by_run[place];
}

/* One lucky fit is no reason to stop: so many in a row must say so. */
static bool may_stop(struct search_engine *self)
{
    for (size_t ago = 0; ago < STOP_CLAIMS; ago++) {
        if (ago > self->run_count || !(remaining_before(self, ago) < self->options.stop_gain)) {
            return false;
        }
    }
    return true;
}

/* What remains with lengths, amplitudes and noise as the runs leave them open, instead of as they are likeliest: a
 * length that a few runs happen to agree on hides what lies far from them. Beliefs are formed anew afterwards. */
static double doubted_remaining(struct search_engine *self)
{
    double sum = 0;
    for (uint64_t doubt = 0; doubt < DOUBTS; doubt++) {
        search_members_walk(self->members, DOUBT_STEPS, self->options.seed + doubt);
        self->is_weighed = false;
        sum += judge_remaining(self) / DOUBTS;
    }
    search_engine_form_beliefs(self);
    (void)judge_remaining(self);
    return sum;
}

static bool was_all_run(const struct search_engine *self)
{
    size_t taken = 0;
    while (taken < self->space->config_count && self->is_taken[taken]) {
        taken++;
    }
    return taken == self->space->config_count;
}

static void summarise(struct search_engine *self, struct search_summary *summary)
{
    double remaining = self->gains_by_run[self->run_count] = judge_remaining(self);
    bool stop = may_stop(self) && (self->run_count <= DOUBT_ALWAYS || self->run_count % STOP_CLAIMS == 0);
    if (stop) {
        remaining = fmax(remaining, doubted_remaining(self));
        stop = remaining < self->options.stop_gain;
    }
    const bool has_best = isfinite(self->best_log), was_all = was_all_run(self);
    remaining = was_all && has_best ? 0 : remaining;
    stop = stop || (was_all && has_best);
    *summary = (struct search_summary){
        .was_all_run = was_all,
        .runs = self->run_count,
        .failures = self->run_count - self->good_count,
        .has_best = has_best,
        .best_config = self->best_config,
        .best_value = has_best ? exp(self->best_log) : (double)NAN,
        .best_probability = has_best && self->joint_count ? best_probability(self, self->best_config) : (double)NAN,
        .remaining_gain = remaining,
        .stop = stop,
        .noise = self->run_noise,
        .stretch = exp(self->log_stretch),
        .forecasts = self->forecasts,
        .forecasts_inside = self->forecasts_inside};
}

/* --- batch --- */

/* LEARN: the run that lowers the variance of a sample of the space most, per second. */
static size_t most_telling(struct search_engine *self, double *share)
{
    uint32_t references[SEARCH_JOINT_MAX];
    const size_t configs = self->space->config_count;
    const size_t count = configs < SEARCH_JOINT_MAX ? configs : SEARCH_JOINT_MAX;
    double *reductions = malloc((2 * self->pool_count + 1) * sizeof *reductions);
    size_t best = SIZE_MAX;
    if (!reductions) {
        return SIZE_MAX;
    }
    for (size_t r = 0; r < count; r++) {
        references[r] = (uint32_t)(r * configs / count);
    }
    search_members_reduction(self->members, references, count, self->pool, self->pool_count,
                             reductions + self->pool_count, reductions);
    for (size_t i = 0; i < self->pool_count; i++) {
        if (!self->is_taken[self->pool[i]] &&
            (best == SIZE_MAX || self->feasible[i] * reductions[i] / cost_of(self, self->pool[i]) >
                                     self->feasible[best] * reductions[best] / cost_of(self, self->pool[best]))) {
            best = i;
        }
    }
    *share = best == SIZE_MAX ? 0 : self->feasible[best] * reductions[best];
    free(reductions);
    return best;
}

/* One more proposal; false when no configuration is left. */
static bool propose_one(struct search_engine *self, struct search_proposal *proposals, size_t place)
{
    const bool learns = self->options.objective == SEARCH_OBJECTIVE_LEARN;
    if (is_designing(self, place)) {
        if (!has_free(self)) {
            return false;
        }
        describe_design(self, design_pick(self, proposals, place), &proposals[place]);
        return true;
    }
    const double target = weigh_pool(self);
    double share = 0;
    const size_t best = learns ? most_telling(self, &share) : most_worth(self);
    if (best == SIZE_MAX) {
        return false;
    }
    describe(self, best, target, &proposals[place]);
    if (learns) {
        proposals[place].gain_fraction = share;
        proposals[place].gain_per_s = share / proposals[place].cost_s;
    }
    return true;
}

/* The incumbent goes first where the noise leaves more open than the best new run promises. again: as it stands before
 * the batch; what is foretold of the batch's runs would narrow its interval. */
static void settle_first(const struct search_proposal *again, struct search_proposal *proposals, size_t wanted,
                         size_t *count)
{
    if (!(again->gain_fraction > 0) || (*count > 0 && !(again->gain_per_s > proposals[0].gain_per_s))) {
        return;
    }
    *count = *count < wanted ? *count + 1 : *count;
    memmove(proposals + 1, proposals, (*count - 1) * sizeof *proposals);
    proposals[0] = *again;
}

enum status search_engine_propose(struct search_engine *engine, size_t wanted, struct search_proposal *proposals,
                                  size_t *count, struct search_summary *summary, struct error *error)
{
    *count = 0;
    if (wanted > SEARCH_BATCH_MAX) {
        return error_set(error, STATUS_USAGE, "%zu runs wanted, at most %d in one batch", wanted, SEARCH_BATCH_MAX);
    }
    search_engine_form_beliefs(engine);
    struct search_proposal again;
    const bool may_settle = wanted > 0 && engine->options.objective != SEARCH_OBJECTIVE_LEARN &&
                            !is_designing(engine, 0) && search_engine_incumbent(engine, &again);
    if (summary) {
        summarise(engine, summary);
    }
    while (*count < wanted && propose_one(engine, proposals, *count)) {
        struct search_proposal *chosen = &proposals[(*count)++];
        engine->is_taken[chosen->config] = true;
        chosen->best_probability =
            summary && engine->joint_count ? best_probability(engine, chosen->config) : (double)NAN;
        if (isfinite(chosen->value) && *count < wanted) {
            engine->is_weighed = false;
            search_members_append(engine->members, &(struct search_observation){chosen->config, log(chosen->value), 0});
        }
    }
    for (size_t i = 0; i < *count; i++) {
        engine->is_taken[proposals[i].config] = false;
    }
    if (may_settle) {
        again.best_probability = summary && engine->joint_count ? best_probability(engine, again.config) : (double)NAN;
        settle_first(&again, proposals, wanted, count);
    }
    return STATUS_OK;
}

bool search_engine_describe(struct search_engine *engine, uint32_t config, struct search_proposal *proposal)
{
    if (search_engine_knows_nothing(engine)) {
        return false;
    }
    engine->is_weighed = false;
    const uint32_t kept = engine->pool[0];
    engine->pool[0] = config;
    double target = engine->best_log;
    search_members_predict(engine->members, &config, 1, &target, engine->means, engine->deviations, engine->gains);
    cut_at_floors(engine, &config, 1, target);
    search_feasibility(engine->space, engine->tried, engine->did_run, engine->run_count, &config, 1, engine->feasible);
    describe(engine, 0, target, proposal);
    engine->pool[0] = kept;
    proposal->best_probability = engine->joint_count ? best_probability(engine, config) : (double)NAN;
    return true;
}

bool search_engine_incumbent(struct search_engine *engine, struct search_proposal *proposal)
{
    if (!isfinite(engine->best_log)) {
        return false;
    }
    if (!search_engine_describe(engine, engine->best_config, proposal)) {
        describe_design(engine, engine->best_config, proposal);
    }
    proposal->reason = SEARCH_REASON_SETTLE;
    proposal->gain_fraction = 0;
    if (engine->run_noise > 0 && isfinite(engine->second_log)) {
        const double deviation = engine->run_noise * sqrt(1 + 1 / (double)engine->best_repeats);
        proposal->gain_fraction = search_expected_gain(engine->best_log, engine->second_log, deviation);
    }
    proposal->gain_per_s = proposal->gain_fraction / proposal->cost_s;
    return true;
}
