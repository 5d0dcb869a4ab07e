/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs in, beliefs formed: what is known of the space before anything is proposed (docs/MODEL.md SEARCH-4, SEARCH-7).
 */
#include "calibrate/experiment/search_engine_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"

enum {
    POOL_MAX = 65536, /* configurations weighed at once; of larger spaces a sample and what is near the best */
    NEIGHBOURS_OF = 8
};
/* Forecasts are of configurations that were chosen because they looked good, so they are off by more than sigma. */
static const double stretch_start = 1.25, stretch_gain = 0.4;

void search_options_init(struct search_options *options)
{
    *options = (struct search_options){.kernel = SEARCH_KERNEL_AVERAGED,
                                       .initial_runs = 8,
                                       .chosen_runs = 3,
                                       .seed = 1,
                                       .interval_level = 0.8,
                                       .stop_gain = 0.01};
}

const char *search_reason_name(enum search_reason reason)
{
    static const char *const names[] = {"exploit", "explore", "settle", "conflict"};
    return names[reason];
}

static enum status no_room(size_t runs, struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "no memory for %zu runs", runs);
}

/* Room for as many runs as there are, and a batch. */
static enum status reserve(struct search_engine *self, size_t runs, struct error *error)
{
    const size_t doubled = runs < 32 ? 64 : 2 * runs;
    const size_t capacity = doubled < SEARCH_RUNS_MAX ? doubled : SEARCH_RUNS_MAX;
    if (runs <= self->run_capacity) {
        return STATUS_OK;
    }
    struct search_run *grown = realloc(self->runs, capacity * sizeof *grown);
    if (!grown) {
        return no_room(runs, error);
    }
    self->runs = grown;
    struct search_observation *rows = realloc(self->rows, capacity * sizeof *rows);
    if (!rows) {
        return no_room(runs, error);
    }
    self->rows = rows;
    uint32_t *tried = realloc(self->tried, capacity * sizeof *tried);
    if (!tried) {
        return no_room(runs, error);
    }
    self->tried = tried;
    bool *did_run = realloc(self->did_run, capacity * sizeof *did_run);
    if (!did_run) {
        return no_room(runs, error);
    }
    self->did_run = did_run;
    double *gains = realloc(self->gains_by_run, (capacity + 1) * sizeof *gains);
    if (!gains) {
        return no_room(runs, error);
    }
    self->gains_by_run = gains;
    for (size_t i = self->run_capacity ? self->run_capacity + 1 : 0; i <= capacity; i++) {
        gains[i] = (double)NAN;
    }
    self->run_capacity = capacity;
    search_members_free(self->members);
    return search_members_create(self->space, self->options.kernel, self->prior, capacity + SEARCH_BATCH_MAX,
                                 &self->members, error);
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
        self->pool_capacity = pool;
        self->is_taken = calloc(space->config_count, sizeof *self->is_taken);
        self->pool = malloc(pool * sizeof *self->pool);
        self->means = malloc(4 * pool * sizeof *self->means);
    }
    if (!self || !self->is_taken || !self->pool || !self->means) {
        search_engine_free(self);
        *engine = NULL;
        return error_set(error, STATUS_NO_MEMORY, "no memory to search %zu configurations", space->config_count);
    }
    self->deviations = self->means + pool;
    self->feasible = self->deviations + pool;
    self->gains = self->feasible + pool;
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
        search_members_free(engine->members);
        free(engine->runs);
        free(engine->rows);
        free(engine->tried);
        free(engine->did_run);
        free(engine->gains_by_run);
        free(engine->is_taken);
        free(engine->pool);
        free(engine->means);
        free(engine);
    }
}

/* SEARCH-7: the stretch follows the share of forecasts that missed (adaptive conformal inference; Gibbs, Candes 2021).
 */
static double score_forecasts(struct search_engine *self, size_t runs)
{
    double log_stretch = log(stretch_start * normal_quantile(0.5 + self->options.interval_level / 2));
    self->forecasts = self->forecasts_inside = 0;
    for (size_t i = 0; i < runs; i++) {
        const struct search_run *run = &self->runs[i];
        if (!run->failed && isfinite(run->forecast_lo) && isfinite(run->forecast_hi)) {
            const bool inside = run->value >= run->forecast_lo && run->value <= run->forecast_hi;
            self->forecasts++;
            self->forecasts_inside += inside;
            log_stretch += stretch_gain * ((inside ? 0 : 1) - (1 - self->options.interval_level));
        }
    }
    return log_stretch;
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
    }
    return status;
}

const struct search_run *search_engine_runs(const struct search_engine *engine, size_t *count)
{
    *count = engine->run_count;
    return engine->runs;
}

/* --- beliefs --- */

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

bool search_engine_knows_nothing(const struct search_engine *self)
{
    return !self->prior && self->row_count < 2;
}

void search_engine_form_beliefs(struct search_engine *self)
{
    self->log_stretch = score_forecasts(self, self->run_count);
    merge_runs(self);
    fill_pool(self);
    extend_pool(self);
    self->is_weighed = false;
    search_members_fit(self->members, self->rows, self->row_count);
}
