/* SPDX-License-Identifier: GPL-3.0-or-later
 * The process behind a search (docs/MODEL.md SEARCH-1, SEARCH-2). Knobs have few levels, so a length gives one small
 * table of correlations per knob, and a covariance is a product of look-ups. */
#include "calibrate/experiment/search_surrogate_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

enum {
    FIT_STEPS = 40,
    WALK_STEPS = 40,   /* that fail before the chain stays where it is */
    FIT_ROWS_MAX = 128 /* a step costs rows^3, and more rows hardly move the lengths */
};
/* Priors in units of the outputs' spread, and their standard deviations in the logarithm: noise of a few percent
 * of the spread (repeats of tuned kernels vary by 0.2 to 2.6 %, configurations by 30 to 70 %), lengths of the whole
 * range of a knob. Wide, so that a knob that does not matter is found out. */
static const double amplitude_center = 1, amplitude_sigma = 1, noise_center = 0.002, noise_sigma = 1, length_center = 1,
                    length_sigma = 1, radial_length_center = 0.7;
static const double reach = 4; /* unknowns stay within so many sigmas of their priors */
/* A prediction made beforehand may be wrong by a common factor of its own sigma, and in its slope by a quarter. */
static const double slope_sigma = 0.25;
/* Without one, the mean of the rows is no better known than a fraction of their spread. */
static const double common_variance = 0.25;
/* Of each knob's factor, this does not fall off: agreement in the others counts whatever this one does. */
static const double anova_share = 0.5;

static size_t table_size(const struct search_space *space)
{
    size_t size = 0;
    for (uint32_t f = 0; f < space->feature_count; f++) {
        size += (size_t)space->features[f].level_count * space->features[f].level_count;
    }
    return size;
}

static void lay_tables(struct search_surrogate *self)
{
    double *next = self->table_storage;
    for (uint32_t f = 0; f < self->space->feature_count; f++) {
        const size_t size = (size_t)self->space->features[f].level_count * self->space->features[f].level_count;
        self->tables[f] = next;
        self->slopes[f] = next + size;
        next += 2 * size;
    }
}

enum status search_surrogate_create(const struct search_space *space, enum search_kernel kernel,
                                    const struct search_prior *prior, size_t capacity,
                                    struct search_surrogate **surrogate, struct error *error)
{
    struct search_surrogate *self = calloc(1, sizeof *self);
    *surrogate = self;
    if (self) {
        self->space = space;
        self->kernel = kernel;
        self->capacity = capacity;
        self->rows = malloc((capacity + 1) * sizeof *self->rows);
        self->table_storage = malloc((2 * table_size(space) + 1) * sizeof(double));
        self->factor = malloc((capacity * capacity + 1) * sizeof(double));
        self->inverse = malloc(((capacity < FIT_ROWS_MAX ? capacity : FIT_ROWS_MAX) * capacity + 1) * sizeof(double));
        self->outputs = malloc((3 * capacity + 1) * sizeof(double));
        self->tables_single = malloc((table_size(space) + 1) * sizeof(float));
        self->block = malloc((2 * capacity * SEARCH_BLOCK + 1) * sizeof(float));
    }
    if (!self || !self->rows || !self->table_storage || !self->factor || !self->inverse || !self->outputs ||
        !self->tables_single || !self->block) {
        search_surrogate_free(self);
        *surrogate = NULL;
        return error_set(error, STATUS_NO_MEMORY, "no memory for a search with %zu runs", capacity);
    }
    self->forward = self->outputs + capacity;
    self->weights = self->forward + capacity;
    self->reference = self->block + capacity * SEARCH_BLOCK;
    lay_tables(self);
    if (prior) {
        self->offsets = prior->log_value;
        self->prior_scale = prior->log_sigma;
        for (size_t c = 0; c < space->config_count; c++) {
            self->offset_mean += prior->log_value[c] / (double)space->config_count;
        }
    }
    return STATUS_OK;
}

void search_surrogate_free(struct search_surrogate *surrogate)
{
    if (surrogate) {
        free(surrogate->rows);
        free(surrogate->table_storage);
        free(surrogate->factor);
        free(surrogate->inverse);
        free(surrogate->outputs);
        free(surrogate->tables_single);
        free(surrogate->block);
        free(surrogate);
    }
}

/* --- covariance --- */

static double level_distance(const struct search_feature *feature, uint32_t a, uint32_t b)
{
    return feature->is_category ? (a == b ? 0 : 1) : fabs(feature->positions[a] - feature->positions[b]);
}

static void fill_tables(struct search_surrogate *self)
{
    float *single = self->tables_single;
    self->amplitude = exp(self->unknowns[LOG_AMPLITUDE]);
    for (uint32_t f = 0; f < self->space->feature_count; f++) {
        const struct search_feature *feature = &self->space->features[f];
        const double length = exp(self->unknowns[LOG_LENGTHS + f]);
        for (uint32_t a = 0; a < feature->level_count; a++) {
            for (uint32_t b = 0; b < feature->level_count; b++) {
                const size_t place = (size_t)a * feature->level_count + b;
                const double distance = level_distance(feature, a, b) / length, s = sqrt(5) * distance;
                const double form = 1 + s + s * s / 3;
                const double share = self->kernel == SEARCH_KERNEL_ANOVA ? anova_share : 0, own = form * exp(-s);
                const double joined = share + (1 - share) * own;
                self->tables[f][place] = surrogate_is_product(self) ? joined : distance * distance;
                self->slopes[f][place] = s * s * (1 + s) / (3 * form) * (1 - share) * own / joined;
                *single++ = (float)self->tables[f][place];
            }
        }
    }
}

static double noise_of(const struct search_surrogate *self, const struct search_observation *row)
{
    return exp(self->unknowns[LOG_NOISE]) + row->log_variance / (self->scale * self->scale);
}

static size_t table_place(const struct search_surrogate *self, uint32_t feature, size_t a, size_t b)
{
    return (size_t)search_space_level(self->space, feature, a) * self->space->features[feature].level_count +
           search_space_level(self->space, feature, b);
}

/* Without common parts and noise. */
double surrogate_covariance(const struct search_surrogate *self, size_t a, size_t b)
{
    const uint32_t features = self->space->feature_count;
    if (surrogate_is_product(self)) {
        double product = self->amplitude;
        for (uint32_t f = 0; f < features; f++) {
            product *= self->tables[f][table_place(self, f, a, b)];
        }
        return product;
    }
    double squares = 0;
    for (uint32_t f = 0; f < features; f++) {
        squares += self->tables[f][table_place(self, f, a, b)];
    }
    const double s = sqrt(5 * squares);
    return self->amplitude * (1 + s + s * s / 3) * exp(-s);
}

static void fill_covariance(struct search_surrogate *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t a = self->rows[i].config;
        for (size_t j = 0; j <= i; j++) {
            const size_t b = self->rows[j].config;
            self->factor[i * self->capacity + j] =
                surrogate_covariance(self, a, b) +
                surrogate_common(self, surrogate_offset(self, a), surrogate_offset(self, b));
        }
        self->factor[i * self->capacity + i] += noise_of(self, &self->rows[i]);
    }
}

/* --- likelihood --- */

/* Row i of the Cholesky factor from the covariance that stands in its place; false where it is not positive. */
static bool factor_row(struct search_surrogate *self, size_t i)
{
    double *row = self->factor + i * self->capacity;
    for (size_t j = 0; j <= i; j++) {
        const double *other = self->factor + j * self->capacity;
        double sum = row[j];
#pragma omp simd reduction(- : sum)
        for (size_t k = 0; k < j; k++) {
            sum -= row[k] * other[k];
        }
        if (j < i) {
            row[j] = sum / other[j];
        } else if (sum > 0) {
            row[j] = sqrt(sum);
        } else {
            return false;
        }
    }
    return true;
}

static bool factorise(struct search_surrogate *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!factor_row(self, i)) {
            return false;
        }
    }
    return true;
}

/* forward = L^-1 outputs, weights = L^-T forward. */
static void solve_weights(struct search_surrogate *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double sum = self->outputs[i];
        for (size_t k = 0; k < i; k++) {
            sum -= self->factor[i * self->capacity + k] * self->forward[k];
        }
        self->forward[i] = sum / self->factor[i * self->capacity + i];
    }
    memcpy(self->weights, self->forward, count * sizeof *self->weights);
    for (size_t i = count; i-- > 0;) {
        const double *row = self->factor + i * self->capacity;
        self->weights[i] /= row[i];
        for (size_t k = 0; k < i; k++) {
            self->weights[k] -= row[k] * self->weights[i];
        }
    }
}

/* Row j of inverse becomes column j of L^-1, so that (K^-1)_ij = sum over k >= i of inverse_ik inverse_jk. */
static void invert_factor(struct search_surrogate *self, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        double *column = self->inverse + j * self->capacity;
        for (size_t i = j; i < count; i++) {
            const double *row = self->factor + i * self->capacity;
            double sum = i == j ? 1 : 0;
#pragma omp simd reduction(- : sum)
            for (size_t k = j; k < i; k++) {
                sum -= row[k] * column[k];
            }
            column[i] = sum / row[i];
        }
    }
}

/* Gradient of the likelihood's part of one pair; slope = its weight. */
static void add_pair_gradient(const struct search_surrogate *self, size_t a, size_t b, double slope, double *gradient)
{
    const uint32_t features = self->space->feature_count;
    const double covariance = surrogate_covariance(self, a, b);
    gradient[LOG_AMPLITUDE] += slope * covariance;
    if (a == b) {
        return;
    }
    if (surrogate_is_product(self)) {
        for (uint32_t f = 0; f < features; f++) {
            gradient[LOG_LENGTHS + f] += slope * covariance * self->slopes[f][table_place(self, f, a, b)];
        }
        return;
    }
    double squares = 0;
    for (uint32_t f = 0; f < features; f++) {
        squares += self->tables[f][table_place(self, f, a, b)];
    }
    const double s = sqrt(5 * squares), common = slope * self->amplitude * 5 / 3 * (1 + s) * exp(-s);
    for (uint32_t f = 0; f < features; f++) {
        gradient[LOG_LENGTHS + f] += common * self->tables[f][table_place(self, f, a, b)];
    }
}

static void add_gradient(struct search_surrogate *self, size_t count, double *gradient)
{
    invert_factor(self, count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double *left = self->inverse + i * self->capacity, *right = self->inverse + j * self->capacity;
            double element = 0;
#pragma omp simd reduction(+ : element)
            for (size_t k = i; k < count; k++) {
                element += left[k] * right[k];
            }
            const double slope = (i == j ? 0.5 : 1) * (element - self->weights[i] * self->weights[j]);
            add_pair_gradient(self, self->rows[i].config, self->rows[j].config, slope, gradient);
            if (i == j) {
                gradient[LOG_NOISE] += slope * exp(self->unknowns[LOG_NOISE]);
            }
        }
    }
}

static void prior_of(const struct search_surrogate *self, uint32_t unknown, double *center, double *sigma)
{
    *center = log(surrogate_is_product(self) ? length_center : radial_length_center);
    *sigma = length_sigma;
    if (unknown == LOG_AMPLITUDE) {
        *center = log(amplitude_center);
        *sigma = amplitude_sigma;
    } else if (unknown == LOG_NOISE) {
        *center = log(noise_center);
        *sigma = noise_sigma;
    }
}

static uint32_t unknown_count(const struct search_surrogate *self)
{
    return LOG_LENGTHS + self->space->feature_count;
}

/* Minus the logarithm of the likelihood of the first count rows; HUGE_VAL where the covariance is not positive. */
static double misfit(struct search_surrogate *self, size_t count)
{
    double value = 0;
    fill_tables(self);
    fill_covariance(self, count);
    if (!factorise(self, count)) {
        return HUGE_VAL;
    }
    solve_weights(self, count);
    for (size_t i = 0; i < count; i++) {
        value += self->forward[i] * self->forward[i] / 2 + log(self->factor[i * self->capacity + i]);
    }
    return value;
}

/* Minus the logarithm of the posterior density of the unknowns over the first count rows, and its gradient. */
static double evaluate(struct search_surrogate *self, size_t count, double *gradient)
{
    double value = 0;
    for (uint32_t k = 0; k < unknown_count(self); k++) {
        double center, sigma;
        prior_of(self, k, &center, &sigma);
        const double z = (self->unknowns[k] - center) / sigma;
        value += z * z / 2;
        gradient[k] = z / sigma;
    }
    value += misfit(self, count);
    if (isfinite(value)) {
        add_gradient(self, count, gradient);
    }
    return value;
}

/* --- fit --- */

struct descent {
    double steps[SEARCH_UNKNOWNS_MAX], last[SEARCH_UNKNOWNS_MAX], gradient[SEARCH_UNKNOWNS_MAX];
    double best[SEARCH_UNKNOWNS_MAX], best_value;
};

/* One step of Rprop (Riedmiller and Braun 1993, without going back): only the gradient's signs count, which does well
 * on likelihoods that are flat in some lengths and steep in others. */
static void take_step(struct search_surrogate *self, struct descent *descent)
{
    for (uint32_t k = 0; k < unknown_count(self); k++) {
        const double slope = descent->gradient[k], turn = slope * descent->last[k];
        double center, sigma;
        prior_of(self, k, &center, &sigma);
        descent->last[k] = turn < 0 ? 0 : slope;
        descent->steps[k] = turn < 0   ? descent->steps[k] * 0.5
                            : turn > 0 ? fmin(descent->steps[k] * 1.3, 1)
                                       : descent->steps[k];
        if (turn >= 0 && slope != 0) {
            self->unknowns[k] -= slope > 0 ? descent->steps[k] : -descent->steps[k];
        }
        self->unknowns[k] = fmin(fmax(self->unknowns[k], center - reach * sigma), center + reach * sigma);
    }
}

static void find_unknowns(struct search_surrogate *self, size_t count)
{
    struct descent descent = {.best_value = HUGE_VAL};
    for (uint32_t k = 0; k < unknown_count(self); k++) {
        double sigma;
        prior_of(self, k, &self->unknowns[k], &sigma);
        descent.steps[k] = 0.2;
    }
    memcpy(descent.best, self->unknowns, sizeof descent.best);
    for (int step = 0; step < FIT_STEPS && count > 1; step++) {
        const double value = evaluate(self, count, descent.gradient);
        double steepest = 0;
        if (value < descent.best_value) {
            descent.best_value = value;
            memcpy(descent.best, self->unknowns, sizeof descent.best);
        }
        for (uint32_t k = 0; k < unknown_count(self); k++) {
            descent.gradient[k] = isfinite(descent.gradient[k]) ? descent.gradient[k] : 0;
            steepest = fmax(steepest, fabs(descent.gradient[k]));
        }
        if (steepest < 0.02) {
            break;
        }
        take_step(self, &descent);
    }
    memcpy(self->unknowns, descent.best, sizeof descent.best);
    self->fit_value = descent.best_value;
    self->fit_count = count;
}

static void scale_outputs(struct search_surrogate *self)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < self->count; i++) {
        self->outputs[i] = self->rows[i].log_value - (self->offsets ? self->offsets[self->rows[i].config] : 0);
        sum += self->outputs[i];
    }
    self->center = self->offsets || !self->count ? 0 : sum / (double)self->count;
    for (size_t i = 0; i < self->count; i++) {
        squares += (self->outputs[i] - self->center) * (self->outputs[i] - self->center);
    }
    const double spread = self->count ? sqrt(squares / (double)self->count) : 0;
    self->scale = self->offsets ? self->prior_scale : spread > 1e-6 ? spread : 1e-6;
    self->common = self->offsets ? 1 : self->kernel == SEARCH_KERNEL_PLAIN ? 0 : common_variance;
    self->slope = self->offsets ? slope_sigma * slope_sigma : 0;
    for (size_t i = 0; i < self->count; i++) {
        self->outputs[i] = (self->outputs[i] - self->center) / self->scale;
    }
}

/* Rows where the factor fails (equal ones without noise) are not expected: noise has a floor. */
void search_surrogate_solve(struct search_surrogate *surrogate)
{
    fill_tables(surrogate);
    fill_covariance(surrogate, surrogate->count);
    if (!factorise(surrogate, surrogate->count)) {
        BUG("a covariance with noise is not positive");
    }
    solve_weights(surrogate, surrogate->count);
}

void search_surrogate_fit(struct search_surrogate *surrogate, const struct search_observation *observations,
                          size_t count)
{
    if (count > surrogate->capacity) {
        BUG("%zu observations in a search with room for %zu", count, surrogate->capacity);
    }
    memcpy(surrogate->rows, observations, count * sizeof *observations);
    surrogate->count = count;
    scale_outputs(surrogate);
    find_unknowns(surrogate, count < FIT_ROWS_MAX ? count : FIT_ROWS_MAX);
}

/* Their priors are normal, so that each step draws a direction from them and walks on an ellipse through the present
 * unknowns to a place that is likely enough (elliptical slice sampling; Murray, Adams, MacKay 2010). */
static void walk(struct search_surrogate *self, size_t count, double *value, struct random_stream *stream)
{
    double centers[SEARCH_UNKNOWNS_MAX], from[SEARCH_UNKNOWNS_MAX], direction[SEARCH_UNKNOWNS_MAX];
    const double most = *value - log(1 - random_uniform(stream));
    double angle = 2 * M_PI * random_uniform(stream), least_angle = angle - 2 * M_PI, most_angle = angle;
    for (uint32_t k = 0; k < unknown_count(self); k++) {
        double sigma;
        prior_of(self, k, &centers[k], &sigma);
        from[k] = self->unknowns[k] - centers[k];
        direction[k] = sigma * random_normal(stream);
    }
    for (int step = 0; step < WALK_STEPS; step++) {
        for (uint32_t k = 0; k < unknown_count(self); k++) {
            self->unknowns[k] = centers[k] + from[k] * cos(angle) + direction[k] * sin(angle);
        }
        *value = misfit(self, count);
        if (*value <= most) {
            return;
        }
        *(angle < 0 ? &least_angle : &most_angle) = angle;
        angle = least_angle + (most_angle - least_angle) * random_uniform(stream);
    }
    for (uint32_t k = 0; k < unknown_count(self); k++) {
        self->unknowns[k] = centers[k] + from[k];
    }
    *value = misfit(self, count);
}

void search_surrogate_walk(struct search_surrogate *surrogate, size_t steps, struct random_stream *stream)
{
    const size_t count = surrogate->fit_count;
    double value = misfit(surrogate, count);
    for (size_t step = 0; step < steps && isfinite(value); step++) {
        walk(surrogate, count, &value, stream);
    }
}

/* What a centre and a scale taken from the rows cost, as of any two free parameters (Schwarz 1978). */
double search_surrogate_evidence(const struct search_surrogate *surrogate)
{
    const double rows = (double)surrogate->fit_count;
    if (surrogate->fit_count < 2) {
        return 0; /* nothing to compare by */
    }
    /* finite also where no step gave a covariance that is positive */
    return fmax(-surrogate->fit_value - rows * log(surrogate->scale) - (surrogate->offsets ? 0 : log(fmax(rows, 1))),
                -1e300);
}

void search_surrogate_append(struct search_surrogate *surrogate, const struct search_observation *observation)
{
    const size_t i = surrogate->count;
    if (i == surrogate->capacity) {
        BUG("a search with room for %zu runs is full", i);
    }
    surrogate->rows[i] = *observation;
    surrogate->count++;
    const size_t a = observation->config;
    for (size_t j = 0; j <= i; j++) {
        const size_t b = surrogate->rows[j].config;
        surrogate->factor[i * surrogate->capacity + j] =
            surrogate_covariance(surrogate, a, b) +
            surrogate_common(surrogate, surrogate_offset(surrogate, a), surrogate_offset(surrogate, b));
    }
    surrogate->factor[i * surrogate->capacity + i] += noise_of(surrogate, observation);
    if (!factor_row(surrogate, i)) {
        BUG("a covariance with noise is not positive");
    }
    const double offset = surrogate->offsets ? surrogate->offsets[a] : 0;
    surrogate->outputs[i] = (observation->log_value - offset - surrogate->center) / surrogate->scale;
    solve_weights(surrogate, surrogate->count);
}
