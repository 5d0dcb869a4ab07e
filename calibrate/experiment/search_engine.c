/* SPDX-License-Identifier: GPL-3.0-or-later
 * The loop's judgement: results in, ranked runs out (docs/MODEL.md SEARCH-3 to SEARCH-8). */
#include "calibrate/experiment/search_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "calibrate/experiment/search_best.h"
#include "calibrate/experiment/search_design.h"
#include "calibrate/experiment/search_feasibility.h"

enum {
    POOL_MAX = 65536, /* configurations weighed at once; of larger spaces a sample and what is near the best */
    NEIGHBOURS_OF = 8,
    STALE_RUNS = 4 /* without a gain before the search looks another way */
};
/* Forecasts are of configurations that were chosen because they looked good, so they are off by more than sigma. */
static const double stretch_start = 1.25, stretch_gain = 0.2;

struct search_engine {
    const struct search_space *space;
    const struct search_prior *prior; /* NULL: none */
    struct search_options options;
    struct search_surrogate *surrogate;
    struct search_run *runs;
    size_t run_count, run_capacity, good_count;
    double log_stretch;
    size_t forecasts, forecasts_inside;
    double remaining_gain, run_noise; /* of the last proposal; run_noise of ln(value) as told or seen in repeats */
    double second_log;                /* least mean of the other configurations */
    size_t best_repeats;
    uint32_t joint[SEARCH_JOINT_MAX]; /* those that may be the best, the incumbent first, and how likely */
    double joint_probability[SEARCH_JOINT_MAX];
    size_t joint_count;
    bool *is_taken; /* config_count: run, or proposed in this batch */
    uint32_t *pool;
    size_t pool_count, pool_capacity;
    double *means, *deviations, *feasible; /* of the pool */
    struct search_observation *rows;       /* of the surrogate: one per configuration that ran */
    size_t row_count;
    uint32_t *tried;
    bool *did_run;
    double best_log; /* least mean of ln(value); HUGE_VAL: none */
    uint32_t best_config;
};

void search_options_init(struct search_options *options)
{
    *options = (struct search_options){.kernel = SEARCH_KERNEL_ALTERNATING,
                                       .initial_runs = 8,
                                       .chosen_runs = 3,
                                       .seed = 1,
                                       .interval_level = 0.8,
                                       .stop_gain = 0.01};
}

const char *search_reason_name(enum search_reason reason)
{
    static const char *const names[] = {"exploit", "explore", "settle"};
    return names[reason];
}

/* Room for as many runs as there are, and a batch. */
static enum status reserve(struct search_engine *self, size_t runs, struct error *error)
{
    if (runs <= self->run_capacity) {
        return STATUS_OK;
    }
    const size_t capacity = runs < 32 ? 64 : 2 * runs;
    struct search_run *grown = realloc(self->runs, capacity * sizeof *grown);
    self->runs = grown ? grown : self->runs;
    struct search_observation *rows = realloc(self->rows, capacity * sizeof *rows);
    self->rows = rows ? rows : self->rows;
    uint32_t *tried = realloc(self->tried, capacity * sizeof *tried);
    self->tried = tried ? tried : self->tried;
    bool *did_run = realloc(self->did_run, capacity * sizeof *did_run);
    self->did_run = did_run ? did_run : self->did_run;
    if (!grown || !rows || !tried || !did_run) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu runs", runs);
    }
    self->run_capacity = capacity;
    search_surrogate_free(self->surrogate);
    return search_surrogate_create(self->space, self->options.kernel, self->prior, capacity + SEARCH_BATCH_MAX,
                                   &self->surrogate, error);
}

enum status search_engine_create(const struct search_space *space, const struct search_prior *prior,
                                 const struct search_options *options, struct search_engine **engine,
                                 struct error *error)
{
    const size_t pool = space->config_count < POOL_MAX ? space->config_count : POOL_MAX + POOL_MAX / 4;
    struct search_engine *self = calloc(1, sizeof *self);
    *engine = self;
    if (self) {
        self->space = space;
        self->prior = prior;
        self->options = *options;
        self->log_stretch = log(stretch_start * normal_quantile(0.5 + options->interval_level / 2));
        self->pool_capacity = pool;
        self->is_taken = calloc(space->config_count, sizeof *self->is_taken);
        self->pool = malloc(pool * sizeof *self->pool);
        self->means = malloc(3 * pool * sizeof *self->means);
    }
    if (!self || !self->is_taken || !self->pool || !self->means) {
        search_engine_free(self);
        *engine = NULL;
        return error_set(error, STATUS_NO_MEMORY, "no memory to search %zu configurations", space->config_count);
    }
    self->deviations = self->means + pool;
    self->feasible = self->deviations + pool;
    const enum status status = reserve(self, 1, error);
    if (status != STATUS_OK) {
        search_engine_free(self);
        *engine = NULL;
    }
    return status;
}

void search_engine_free(struct search_engine *engine)
{
    if (engine) {
        search_surrogate_free(engine->surrogate);
        free(engine->runs);
        free(engine->rows);
        free(engine->tried);
        free(engine->did_run);
        free(engine->is_taken);
        free(engine->pool);
        free(engine->means);
        free(engine);
    }
}

/* SEARCH-7: the stretch follows the share of forecasts that missed (adaptive conformal inference; Gibbs, Candes 2021).
 */
static void score_forecast(struct search_engine *self, const struct search_run *run)
{
    if (run->failed || !isfinite(run->forecast_lo) || !isfinite(run->forecast_hi)) {
        return;
    }
    const bool inside = run->value >= run->forecast_lo && run->value <= run->forecast_hi;
    self->forecasts++;
    self->forecasts_inside += inside;
    self->log_stretch += stretch_gain * ((inside ? 0 : 1) - (1 - self->options.interval_level));
}

enum status search_engine_tell(struct search_engine *engine, const struct search_run *run, struct error *error)
{
    if (run->config >= engine->space->config_count) {
        return error_set(error, STATUS_BAD_DATA, "run of configuration %u of %zu", run->config,
                         engine->space->config_count);
    }
    if (!run->failed && !(run->value > 0 && isfinite(run->value))) {
        return error_set(error, STATUS_BAD_DATA, "a run gave %g, expected a number above 0", run->value);
    }
    if (engine->run_count == SEARCH_RUNS_MAX) {
        return error_set(error, STATUS_LIMIT, "more than %d runs", SEARCH_RUNS_MAX);
    }
    const enum status status = reserve(engine, engine->run_count + 1, error);
    if (status == STATUS_OK) {
        engine->runs[engine->run_count++] = *run;
        engine->good_count += !run->failed;
        engine->is_taken[run->config] = true;
        score_forecast(engine, run);
    }
    return status;
}

/* --- beliefs --------------------------------------------------------------------------------------------------------
 */

/* Runs of one configuration. */
struct repeats {
    size_t count;
    double sum, squares; /* of ln(value) */
    double variance;     /* sum of what the runs' own repeats say */
};

static struct repeats collect_repeats(const struct search_engine *self, size_t first)
{
    struct repeats repeats = {0};
    for (size_t i = first; i < self->run_count; i++) {
        const struct search_run *run = &self->runs[i];
        if (!run->failed && run->config == self->runs[first].config) {
            const double log_value = log(run->value);
            repeats.count++;
            repeats.sum += log_value;
            repeats.squares += log_value * log_value;
            repeats.variance += run->log_sigma * run->log_sigma;
        }
    }
    return repeats;
}

static bool is_first_of_its_kind(const struct search_engine *self, size_t index)
{
    bool is_first = !self->runs[index].failed;
    for (size_t i = 0; i < index && is_first; i++) {
        is_first = self->runs[i].failed || self->runs[i].config != self->runs[index].config;
    }
    return is_first;
}

static void keep_best(struct search_engine *self, const struct search_observation *row, size_t repeats)
{
    if (row->log_value < self->best_log) {
        self->second_log = self->best_log;
        self->best_log = row->log_value;
        self->best_config = row->config;
        self->best_repeats = repeats;
    } else {
        self->second_log = fmin(self->second_log, row->log_value);
    }
}

/* Runs of one configuration become one row: the mean of ln(value), and the scatter of that mean where it is known. The
 * noise of a run is the largest of what was told, what repeats of configurations show, and what runs say of themselves.
 */
static void merge_runs(struct search_engine *self)
{
    double scatter = 0, own = 0;
    size_t freedom = 0;
    self->row_count = self->best_repeats = 0;
    self->best_log = self->second_log = HUGE_VAL;
    for (size_t i = 0; i < self->run_count; i++) {
        self->tried[i] = self->runs[i].config;
        self->did_run[i] = !self->runs[i].failed;
        if (!is_first_of_its_kind(self, i)) {
            continue;
        }
        const struct repeats repeats = collect_repeats(self, i);
        const double count = (double)repeats.count, told = self->options.run_noise;
        const double variance = fmax(repeats.variance / count, told * told);
        self->rows[self->row_count] = (struct search_observation){
            .config = self->runs[i].config, .log_value = repeats.sum / count, .log_variance = variance / count};
        keep_best(self, &self->rows[self->row_count++], repeats.count);
        scatter += fmax(repeats.squares - repeats.sum * repeats.sum / count, 0);
        freedom += repeats.count - 1;
        own += repeats.variance;
    }
    const double seen = freedom ? sqrt(scatter / (double)freedom) : 0;
    const double stated = self->good_count ? sqrt(own / (double)self->good_count) : 0;
    self->run_noise = fmax(fmax(seen, stated), self->options.run_noise);
}

static void pool_add(struct search_engine *self, uint32_t config)
{
    if (!self->is_taken[config] && self->pool_count < self->pool_capacity) {
        self->pool[self->pool_count++] = config;
    }
}

/* The whole space, or an even sample of it that is another one after every run. */
static void fill_pool(struct search_engine *self)
{
    const size_t configs = self->space->config_count;
    self->pool_count = 0;
    if (configs <= POOL_MAX) {
        for (size_t c = 0; c < configs; c++) {
            pool_add(self, (uint32_t)c);
        }
        return;
    }
    struct random_stream stream;
    random_init(&stream, self->options.seed, 7 + self->run_count);
    for (size_t i = 0; i < POOL_MAX; i++) { /* one of each of POOL_MAX equal parts */
        const size_t from = i * configs / POOL_MAX, to = (i + 1) * configs / POOL_MAX;
        pool_add(self, (uint32_t)(from + random_below(&stream, (uint32_t)(to - from))));
    }
}

static int compare_configs(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Configurations that differ from a good one in one knob at most, for spaces that are only sampled. */
static void add_neighbours(struct search_engine *self, uint32_t center)
{
    const struct search_space *space = self->space;
    for (size_t c = 0; c < space->config_count; c++) {
        uint32_t differences = 0;
        for (uint32_t f = 0; f < space->feature_count && differences < 2; f++) {
            differences += search_space_level(space, f, c) != search_space_level(space, f, center);
        }
        if (differences < 2) {
            pool_add(self, (uint32_t)c);
        }
    }
}

static void extend_pool(struct search_engine *self)
{
    if (self->space->config_count <= POOL_MAX || self->row_count == 0) {
        return;
    }
    double limit = self->best_log;
    for (int n = 0; n < NEIGHBOURS_OF; n++) {
        double next = HUGE_VAL;
        uint32_t config = UINT32_MAX;
        for (size_t i = 0; i < self->row_count; i++) {
            if (self->rows[i].log_value >= limit && self->rows[i].log_value < next) {
                next = self->rows[i].log_value;
                config = self->rows[i].config;
            }
        }
        if (config == UINT32_MAX) {
            break;
        }
        add_neighbours(self, config);
        limit = nextafter(next, HUGE_VAL);
    }
    qsort(self->pool, self->pool_count, sizeof *self->pool, compare_configs);
    size_t kept = 0;
    for (size_t i = 0; i < self->pool_count; i++) {
        if (kept == 0 || self->pool[i] != self->pool[kept - 1]) {
            self->pool[kept++] = self->pool[i];
        }
    }
    self->pool_count = kept;
}

static bool knows_nothing(const struct search_engine *self)
{
    return !self->prior && self->row_count < 2;
}

/* Runs since one was better than all before it. */
static size_t runs_without_gain(const struct search_engine *self)
{
    double least = HUGE_VAL;
    size_t since = 0;
    for (size_t i = 0; i < self->run_count; i++) {
        since++;
        if (!self->runs[i].failed && self->runs[i].value < least) {
            least = self->runs[i].value;
            since = 0;
        }
    }
    return since;
}

/* SEARCH-4: a search that has stopped gaining sees the space through the other kernel every second time: two views that
 * agree on what was run disagree on where to look next. */
static enum search_kernel kernel_of_the_day(const struct search_engine *self)
{
    const size_t stale = runs_without_gain(self);
    return self->options.kernel == SEARCH_KERNEL_ALTERNATING
               ? (stale >= STALE_RUNS && stale % 2 == 0 ? SEARCH_KERNEL_RADIAL : SEARCH_KERNEL_PRODUCT)
               : self->options.kernel;
}

static void form_beliefs(struct search_engine *self)
{
    merge_runs(self);
    search_surrogate_use(self->surrogate, kernel_of_the_day(self));
    fill_pool(self);
    extend_pool(self);
    search_surrogate_fit(self->surrogate, self->rows, self->row_count);
}

/* --- worth of a run --------------------------------------------------------------------------------------------------
 */

static double normal_density(double z)
{
    return exp(-z * z / 2) / sqrt(2 * M_PI);
}

static double normal_cumulative(double z)
{
    return erfc(-z * M_SQRT1_2) / 2;
}

/* Expected improvement of ln(value) on `best`; its tail continues as a slope, so that hopeless ones still have ranks.
 */
static double expected_gain(double best, double mean, double deviation)
{
    const double z = (best - mean) / deviation;
    return z > -6 ? fmax(deviation * (z * normal_cumulative(z) + normal_density(z)), 1e-14 * deviation)
                  : 1e-14 * deviation * exp(fmax(6 + z, -500));
}

static double cost_of(const struct search_engine *self, uint32_t config)
{
    return self->options.costs_s ? self->options.costs_s[config] : 1;
}

/* What is to be beaten: the best measured, or, before there is one, the best predicted. */
static double target_log(const struct search_engine *self)
{
    double target = self->best_log;
    for (size_t i = 0; i < self->pool_count && !isfinite(self->best_log); i++) {
        target = fmin(target, self->means[i]);
    }
    return target;
}

/* Place in the pool of the configuration that is worth most per second; SIZE_MAX: none is left. */
static size_t most_worth(const struct search_engine *self, double target)
{
    size_t best = SIZE_MAX;
    double most = -HUGE_VAL;
    for (size_t i = 0; i < self->pool_count; i++) {
        if (self->is_taken[self->pool[i]]) {
            continue;
        }
        const double worth = log(self->feasible[i]) + log(expected_gain(target, self->means[i], self->deviations[i])) -
                             log(cost_of(self, self->pool[i]));
        if (worth > most) {
            most = worth;
            best = i;
        }
    }
    return best;
}

static double run_sigma(const struct search_engine *self, double deviation)
{
    const double noise = fmax(search_surrogate_noise(self->surrogate), self->run_noise);
    return sqrt(deviation * deviation + noise * noise);
}

static void describe(const struct search_engine *self, size_t place, double target, struct search_proposal *proposal)
{
    const double mean = self->means[place], deviation = self->deviations[place];
    const double sigma = run_sigma(self, deviation), half = exp(self->log_stretch) * sigma;
    const double cost = cost_of(self, self->pool[place]);
    *proposal = (struct search_proposal){.config = self->pool[place],
                                         .reason = mean <= target ? SEARCH_REASON_EXPLOIT : SEARCH_REASON_EXPLORE,
                                         .value = exp(search_surrogate_expand(self->surrogate, mean)),
                                         .value_lo = exp(search_surrogate_expand(self->surrogate, mean - half)),
                                         .value_hi = exp(search_surrogate_expand(self->surrogate, mean + half)),
                                         .feasible_probability = self->feasible[place],
                                         .best_probability = (double)NAN,
                                         .cost_s = cost};
    proposal->gain_fraction = isfinite(self->best_log)
                                  ? proposal->feasible_probability * expected_gain(target, mean, deviation)
                                  : (double)NAN;
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

static void weigh_pool(struct search_engine *self)
{
    search_surrogate_predict(self->surrogate, self->pool, self->pool_count, self->means, self->deviations);
    search_feasibility(self->space, self->tried, self->did_run, self->run_count, self->pool, self->pool_count,
                       self->feasible);
}

/* --- what remains ---------------------------------------------------------------------------------------------------
 */

static double stretched_gain(const struct search_engine *self, size_t place, double target)
{
    const double sigmas = normal_quantile(0.5 + self->options.interval_level / 2);
    return self->feasible[place] *
           expected_gain(target, self->means[place], self->deviations[place] * exp(self->log_stretch) / sigmas);
}

/* The configurations that may yet be the best, by their worth, behind the incumbent. */
static void choose_joint(struct search_engine *self, double target, size_t *places)
{
    double worths[SEARCH_JOINT_MAX] = {0};
    self->joint_count = 0;
    if (isfinite(self->best_log)) {
        worths[0] = HUGE_VAL;
        places[0] = SIZE_MAX;
        self->joint[self->joint_count++] = self->best_config;
    }
    for (size_t i = 0; i < self->pool_count; i++) {
        const double worth = stretched_gain(self, i, target);
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
            places[place] = places[place - 1];
            self->joint[place] = self->joint[place - 1];
        }
        worths[place] = worth;
        places[place] = i;
        self->joint[place] = self->pool[i];
    }
}

static void judge_best(struct search_engine *self, double target)
{
    double means[SEARCH_JOINT_MAX], feasible[SEARCH_JOINT_MAX], deviation;
    double covariance[SEARCH_JOINT_MAX * SEARCH_JOINT_MAX];
    size_t places[SEARCH_JOINT_MAX];
    choose_joint(self, target, places);
    for (size_t i = 0; i < self->joint_count; i++) {
        feasible[i] = places[i] == SIZE_MAX ? 1 : self->feasible[places[i]];
        search_surrogate_predict(self->surrogate, &self->joint[i], 1, &means[i], &deviation);
    }
    search_surrogate_covariance(self->surrogate, self->joint, self->joint_count, covariance);
    search_best_probabilities(means, covariance, feasible, self->joint_count,
                              exp(self->log_stretch) / normal_quantile(0.5 + self->options.interval_level / 2),
                              self->options.seed, self->joint_probability);
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
    return knows_nothing(self) || (!self->prior && self->good_count + proposed < self->options.initial_runs);
}

static void summarise(struct search_engine *self, struct search_summary *summary)
{
    const bool has_best = isfinite(self->best_log);
    *summary = (struct search_summary){.runs = self->run_count,
                                       .failures = self->run_count - self->good_count,
                                       .has_best = has_best,
                                       .best_config = self->best_config,
                                       .best_value = has_best ? exp(self->best_log) : (double)NAN,
                                       .best_probability = (double)NAN,
                                       .remaining_gain = (double)NAN,
                                       .noise = self->run_noise,
                                       .stretch = exp(self->log_stretch),
                                       .forecasts = self->forecasts,
                                       .forecasts_inside = self->forecasts_inside};
    self->joint_count = 0;
    if (is_designing(self, 0)) {
        return;
    }
    weigh_pool(self);
    const double target = target_log(self);
    judge_best(self, target);
    if (has_best) {
        summary->best_probability = best_probability(self, self->best_config);
        summary->remaining_gain = 0;
        for (size_t i = 0; i < self->pool_count; i++) {
            summary->remaining_gain = fmax(summary->remaining_gain, stretched_gain(self, i, target));
        }
        summary->stop = summary->remaining_gain < self->options.stop_gain;
    }
}

/* --- batch
 * ------------------------------------------------------------------------------------------------------------ */

/* LEARN: the run that lowers the variance of a sample of the space most, per second. */
static size_t most_telling(struct search_engine *self, double *share)
{
    uint32_t references[SEARCH_JOINT_MAX];
    const size_t configs = self->space->config_count;
    const size_t count = configs < SEARCH_JOINT_MAX ? configs : SEARCH_JOINT_MAX;
    double *reductions = malloc((self->pool_count + 1) * sizeof *reductions);
    size_t best = SIZE_MAX;
    if (!reductions) {
        return SIZE_MAX;
    }
    for (size_t r = 0; r < count; r++) {
        references[r] = (uint32_t)(r * configs / count);
    }
    search_surrogate_reduction(self->surrogate, references, count, self->pool, self->pool_count, reductions);
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
    weigh_pool(self);
    const double target = target_log(self);
    double share = 0;
    const size_t best = learns ? most_telling(self, &share) : most_worth(self, target);
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

/* The incumbent goes first where the noise leaves more open than the best new run promises. */
static void settle_first(struct search_engine *self, struct search_proposal *proposals, size_t wanted, size_t *count)
{
    struct search_proposal again;
    if (wanted == 0 || self->options.objective == SEARCH_OBJECTIVE_LEARN || is_designing(self, 0) ||
        !search_engine_incumbent(self, &again) || !(again.gain_fraction > 0) ||
        (*count > 0 && !(again.gain_per_s > proposals[0].gain_per_s))) {
        return;
    }
    *count = *count < wanted ? *count + 1 : *count;
    memmove(proposals + 1, proposals, (*count - 1) * sizeof *proposals);
    proposals[0] = again;
}

enum status search_engine_propose(struct search_engine *engine, size_t wanted, struct search_proposal *proposals,
                                  size_t *count, struct search_summary *summary, struct error *error)
{
    *count = 0;
    if (wanted > SEARCH_BATCH_MAX) {
        return error_set(error, STATUS_USAGE, "%zu runs wanted, at most %d in one batch", wanted, SEARCH_BATCH_MAX);
    }
    form_beliefs(engine);
    if (summary) {
        summarise(engine, summary);
    }
    while (*count < wanted && propose_one(engine, proposals, *count)) {
        struct search_proposal *chosen = &proposals[(*count)++];
        engine->is_taken[chosen->config] = true;
        chosen->best_probability =
            summary && engine->joint_count ? best_probability(engine, chosen->config) : (double)NAN;
        if (isfinite(chosen->value) && *count < wanted) {
            search_surrogate_append(engine->surrogate,
                                    &(struct search_observation){chosen->config, log(chosen->value), 0});
        }
    }
    for (size_t i = 0; i < *count; i++) {
        engine->is_taken[proposals[i].config] = false;
    }
    settle_first(engine, proposals, wanted, count);
    return STATUS_OK;
}

bool search_engine_describe(struct search_engine *engine, uint32_t config, struct search_proposal *proposal)
{
    if (knows_nothing(engine)) {
        return false;
    }
    engine->pool[0] = config; /* the pool is filled anew by the next proposal */
    search_surrogate_predict(engine->surrogate, &config, 1, engine->means, engine->deviations);
    search_feasibility(engine->space, engine->tried, engine->did_run, engine->run_count, &config, 1, engine->feasible);
    describe(engine, 0, engine->best_log, proposal);
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
        proposal->gain_fraction = expected_gain(engine->best_log, engine->second_log, deviation);
    }
    proposal->gain_per_s = proposal->gain_fraction / proposal->cost_s;
    return true;
}
