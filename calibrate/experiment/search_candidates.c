/* SPDX-License-Identifier: GPL-3.0-or-later
 * Predictions of the process for many configurations, a block at a time in single precision. */
#include <string.h>

#include "calibrate/experiment/search_surrogate_private.h"

/* A block of configurations: their levels, knob by knob, and their offsets. */
struct candidate_block {
    uint8_t levels[SEARCH_FEATURES_MAX][SEARCH_BLOCK];
    float offsets[SEARCH_BLOCK];
};

static void gather(const struct search_surrogate *self, const uint32_t *configs, size_t count,
                   struct candidate_block *block)
{
    for (uint32_t f = 0; f < self->space->feature_count; f++) {
        const uint8_t *levels = self->space->levels + (size_t)f * self->space->config_count;
        for (size_t j = 0; j < SEARCH_BLOCK; j++) {
            block->levels[f][j] = levels[configs[j < count ? j : 0]];
        }
    }
    for (size_t j = 0; j < SEARCH_BLOCK; j++) {
        block->offsets[j] = (float)surrogate_offset(self, configs[j < count ? j : 0]);
    }
}

/* Covariances of one configuration with a block. */
static void cross_covariance(const struct search_surrogate *self, size_t config, const struct candidate_block *block,
                             float *restrict out)
{
    const bool is_product = surrogate_is_product(self);
    const float amplitude = (float)self->amplitude, root = sqrtf(5);
    const float common = (float)self->common, slope = (float)(self->slope * surrogate_offset(self, config));
    const float *table = self->tables_single;
    for (size_t j = 0; j < SEARCH_BLOCK; j++) {
        out[j] = is_product ? amplitude : 0;
    }
    for (uint32_t f = 0; f < self->space->feature_count; f++) {
        const uint8_t *levels = block->levels[f];
        const uint32_t level_count = self->space->features[f].level_count;
        const float *line = table + (size_t)search_space_level(self->space, f, config) * level_count;
        if (is_product) {
            for (size_t j = 0; j < SEARCH_BLOCK; j++) {
                out[j] *= line[levels[j]];
            }
        } else {
            for (size_t j = 0; j < SEARCH_BLOCK; j++) {
                out[j] += line[levels[j]];
            }
        }
        table += (size_t)level_count * level_count;
    }
    for (size_t j = 0; j < SEARCH_BLOCK && !is_product; j++) {
        const float s = root * sqrtf(out[j]);
        out[j] = amplitude * (1 + s + s * s / 3) * expf(-s);
    }
#pragma omp simd
    for (size_t j = 0; j < SEARCH_BLOCK; j++) {
        out[j] += common + slope * block->offsets[j];
    }
}

/* block row i = (L^-1 k)_i for the configurations of the block; means gathers k' weights. */
static void project(struct search_surrogate *self, const struct candidate_block *candidates, double *restrict means,
                    double *restrict variances)
{
    for (size_t i = 0; i < self->count; i++) {
        float *restrict line = self->block + i * SEARCH_BLOCK;
        const double *row = self->factor + i * self->capacity, weight = self->weights[i];
        const float inverse = (float)(1 / row[i]);
        cross_covariance(self, self->rows[i].config, candidates, line);
#pragma omp simd
        for (size_t j = 0; j < SEARCH_BLOCK; j++) {
            means[j] += weight * (double)line[j];
        }
        for (size_t k = 0; k < i; k++) {
            const float *earlier = self->block + k * SEARCH_BLOCK, element = (float)row[k];
#pragma omp simd
            for (size_t j = 0; j < SEARCH_BLOCK; j++) {
                line[j] -= element * earlier[j];
            }
        }
#pragma omp simd
        for (size_t j = 0; j < SEARCH_BLOCK; j++) {
            line[j] *= inverse;
            variances[j] -= (double)(line[j] * line[j]);
        }
    }
}

static void prior_variances(const struct search_surrogate *self, const struct candidate_block *block, double *variances)
{
    for (size_t j = 0; j < SEARCH_BLOCK; j++) {
        variances[j] = self->amplitude + surrogate_common(self, (double)block->offsets[j], (double)block->offsets[j]);
    }
}

void search_surrogate_predict(struct search_surrogate *surrogate, const uint32_t *configs, size_t count, double *means,
                              double *deviations)
{
    struct candidate_block block;
    for (size_t first = 0; first < count; first += SEARCH_BLOCK) {
        const size_t some = count - first < SEARCH_BLOCK ? count - first : SEARCH_BLOCK;
        double block_means[SEARCH_BLOCK] = {0}, variances[SEARCH_BLOCK];
        gather(surrogate, configs + first, some, &block);
        prior_variances(surrogate, &block, variances);
        project(surrogate, &block, block_means, variances);
        for (size_t j = 0; j < some; j++) {
            const double offset = surrogate->offsets ? surrogate->offsets[configs[first + j]] : 0;
            means[first + j] = offset + surrogate->center + surrogate->scale * block_means[j];
            deviations[first + j] = surrogate->scale * sqrt(fmax(variances[j], 1e-12));
        }
    }
}

void search_surrogate_covariance(struct search_surrogate *surrogate, const uint32_t *configs, size_t count,
                                 double *covariance)
{
    const double square = surrogate->scale * surrogate->scale;
    struct candidate_block block;
    double means[SEARCH_BLOCK] = {0}, variances[SEARCH_BLOCK] = {0};
    if (count > SEARCH_JOINT_MAX) {
        BUG("joint covariance of %zu configurations, at most %d", count, SEARCH_JOINT_MAX);
    }
    gather(surrogate, configs, count, &block);
    project(surrogate, &block, means, variances);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            double value = surrogate_covariance(surrogate, configs[i], configs[j]) +
                           surrogate_common(surrogate, (double)block.offsets[i], (double)block.offsets[j]);
            for (size_t k = 0; k < surrogate->count; k++) {
                value -= (double)(surrogate->block[k * SEARCH_BLOCK + i] * surrogate->block[k * SEARCH_BLOCK + j]);
            }
            covariance[i * count + j] = covariance[j * count + i] = square * value;
        }
    }
}

/* Sum over the references of cov^2, in units of scale^2, for each configuration of a block. */
static void sum_reductions(struct search_surrogate *self, const uint32_t *references, size_t reference_count,
                           const struct candidate_block *candidates, double *sums)
{
    for (size_t r = 0; r < reference_count; r++) {
        float covariances[SEARCH_BLOCK];
        cross_covariance(self, references[r], candidates, covariances);
        for (size_t k = 0; k < self->count; k++) {
            const float element = self->reference[k * SEARCH_BLOCK + r], *line = self->block + k * SEARCH_BLOCK;
#pragma omp simd
            for (size_t j = 0; j < SEARCH_BLOCK; j++) {
                covariances[j] -= element * line[j];
            }
        }
        for (size_t j = 0; j < SEARCH_BLOCK; j++) {
            sums[j] += (double)(covariances[j] * covariances[j]);
        }
    }
}

void search_surrogate_reduction(struct search_surrogate *surrogate, const uint32_t *references, size_t reference_count,
                                const uint32_t *configs, size_t count, double *out)
{
    struct candidate_block block;
    double ignored[SEARCH_BLOCK] = {0}, variances[SEARCH_BLOCK], total = 0;
    if (reference_count > SEARCH_JOINT_MAX) {
        BUG("%zu reference configurations, at most %d", reference_count, SEARCH_JOINT_MAX);
    }
    gather(surrogate, references, reference_count, &block);
    prior_variances(surrogate, &block, variances);
    project(surrogate, &block, ignored, variances);
    memcpy(surrogate->reference, surrogate->block, surrogate->count * SEARCH_BLOCK * sizeof *surrogate->block);
    for (size_t r = 0; r < reference_count; r++) {
        total += variances[r];
    }
    for (size_t first = 0; first < count; first += SEARCH_BLOCK) {
        const size_t some = count - first < SEARCH_BLOCK ? count - first : SEARCH_BLOCK;
        double sums[SEARCH_BLOCK] = {0};
        gather(surrogate, configs + first, some, &block);
        prior_variances(surrogate, &block, variances);
        project(surrogate, &block, ignored, variances);
        sum_reductions(surrogate, references, reference_count, &block, sums);
        for (size_t j = 0; j < some; j++) {
            out[first + j] =
                sums[j] / (fmax(variances[j], 1e-12) + exp(surrogate->unknowns[LOG_NOISE])) / fmax(total, 1e-12);
        }
    }
}

double search_surrogate_noise(const struct search_surrogate *surrogate)
{
    return surrogate->scale * exp(surrogate->unknowns[LOG_NOISE] / 2);
}
