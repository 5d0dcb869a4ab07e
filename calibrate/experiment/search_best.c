/* SPDX-License-Identifier: GPL-3.0-or-later
 * Joint normal draws, counted (SEARCH-6). */
#include "calibrate/experiment/search_best.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "calibrate/experiment/search_surrogate.h"

enum {
    MOST = SEARCH_JOINT_MAX
};

/* Lower factor of the covariance; directions without variance are left out. */
static void factorise(double *factor, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = factor[i * MOST + j];
            for (size_t k = 0; k < j; k++) {
                sum -= factor[i * MOST + k] * factor[j * MOST + k];
            }
            if (i == j) {
                factor[i * MOST + i] = sum > 1e-14 ? sqrt(sum) : 0;
            } else {
                factor[i * MOST + j] = factor[j * MOST + j] > 0 ? sum / factor[j * MOST + j] : 0;
            }
        }
    }
}

void search_best_draw(const double *means, const double *covariance, const double *feasible, size_t count,
                      double stretch, uint64_t seed, size_t draws, double weight, double *probabilities, double *gain)
{
    double factor[MOST * MOST], normals[MOST];
    struct random_stream stream;
    random_init(&stream, seed, 17);
    for (size_t i = 0; i < count; i++) {
        memcpy(factor + i * MOST, covariance + i * count, count * sizeof *factor);
    }
    factorise(factor, count);
    for (size_t draw = 0; draw < draws; draw++) {
        size_t best = count;
        double least = HUGE_VAL, first = HUGE_VAL;
        for (size_t i = 0; i < count; i++) {
            normals[i] = random_normal(&stream);
            double value = 0;
            for (size_t k = 0; k <= i; k++) {
                value += factor[i * MOST + k] * normals[k];
            }
            value = means[i] + stretch * value;
            first = i == 0 ? value : first;
            if (random_uniform(&stream) < feasible[i] && value < least) {
                least = value;
                best = i;
            }
        }
        if (best < count) {
            probabilities[best] += weight / (double)draws;
            *gain += weight * (first - least) / (double)draws;
        }
    }
}
