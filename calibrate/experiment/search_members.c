/* SPDX-License-Identifier: GPL-3.0-or-later
 * Shares by the posterior density of each member's fit (Bayesian model averaging); predictions are mixtures. */
#include "calibrate/experiment/search_members.h"

#include <math.h>
#include <stdlib.h>

#include "calibrate/experiment/search_best.h"

enum {
    MEMBERS_MOST = 6,
    BLOCK = 128,
    DRAWS = 2000,
    ROWS_WITHOUT_PRIOR = 6 /* what leaves the prior aside has nothing to say before */
};

struct member {
    struct search_surrogate *surrogate;
    bool with_prior;
    double share;
};

struct search_members {
    struct member items[MEMBERS_MOST];
    size_t count;
    bool has_prior;
};

static enum status add_member(struct search_members *self, const struct search_space *space, enum search_kernel kernel,
                              const struct search_prior *prior, size_t capacity, struct error *error)
{
    struct member *member = &self->items[self->count];
    const enum status status = search_surrogate_create(space, kernel, prior, capacity, &member->surrogate, error);
    member->with_prior = prior != NULL;
    self->count += status == STATUS_OK;
    return status;
}

enum status search_members_create(const struct search_space *space, enum search_kernel kernel,
                                  const struct search_prior *prior, size_t capacity, struct search_members **members,
                                  struct error *error)
{
    static const enum search_kernel kernels[] = {SEARCH_KERNEL_PRODUCT, SEARCH_KERNEL_ANOVA, SEARCH_KERNEL_RADIAL};
    enum status status = STATUS_OK;
    *members = calloc(1, sizeof **members);
    if (!*members) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a search");
    }
    (*members)->has_prior = prior != NULL;
    if (kernel != SEARCH_KERNEL_AVERAGED) {
        status = add_member(*members, space, kernel, prior, capacity, error);
    }
    for (size_t k = 0; k < 3 && kernel == SEARCH_KERNEL_AVERAGED && status == STATUS_OK; k++) {
        status = prior ? add_member(*members, space, kernels[k], prior, capacity, error) : STATUS_OK;
        status = status == STATUS_OK ? add_member(*members, space, kernels[k], NULL, capacity, error) : status;
    }
    if (status != STATUS_OK) {
        search_members_free(*members);
        *members = NULL;
    }
    return status;
}

void search_members_free(struct search_members *members)
{
    for (size_t m = 0; members && m < members->count; m++) {
        search_surrogate_free(members->items[m].surrogate);
    }
    free(members);
}

/* Members below are not asked: they change no answer by more than the fit's own tolerance. */
static bool has_share(const struct member *member)
{
    return member->share > 0.005;
}

void search_members_fit(struct search_members *members, const struct search_observation *observations, size_t count)
{
    double most = -HUGE_VAL, sum = 0;
    for (size_t m = 0; m < members->count; m++) {
        struct member *member = &members->items[m];
        const bool has_say = member->with_prior || !members->has_prior || count >= ROWS_WITHOUT_PRIOR;
        if (has_say) {
            search_surrogate_fit(member->surrogate, observations, count);
        }
        member->share = has_say ? search_surrogate_evidence(member->surrogate) : -HUGE_VAL;
        most = fmax(most, member->share);
    }
    for (size_t m = 0; m < members->count; m++) {
        members->items[m].share = exp(members->items[m].share - most);
        sum += members->items[m].share;
    }
    for (size_t m = 0; m < members->count; m++) {
        members->items[m].share /= sum;
        if (has_share(&members->items[m])) {
            search_surrogate_solve(members->items[m].surrogate);
        }
    }
}

void search_members_walk(struct search_members *members, size_t steps, uint64_t seed)
{
    struct random_stream stream;
    random_init(&stream, seed, 31);
    for (size_t m = 0; m < members->count; m++) {
        if (has_share(&members->items[m])) {
            search_surrogate_walk(members->items[m].surrogate, steps, &stream);
            search_surrogate_solve(members->items[m].surrogate);
        }
    }
}

void search_members_append(struct search_members *members, const struct search_observation *observation)
{
    for (size_t m = 0; m < members->count; m++) {
        if (has_share(&members->items[m])) {
            search_surrogate_append(members->items[m].surrogate, observation);
        }
    }
}

double search_expected_gain(double best, double mean, double deviation)
{
    const double z = (best - mean) / deviation;
    const double density = exp(-z * z / 2) / sqrt(2 * M_PI), cumulative = erfc(-z * M_SQRT1_2) / 2;
    return z > -6 ? fmax(deviation * (z * cumulative + density), 1e-14 * deviation)
                  : 1e-14 * deviation * exp(fmax(6 + z, -500));
}

static void predict_block(const struct search_members *self, const uint32_t *configs, size_t count, double target,
                          double *means, double *deviations, double *gains)
{
    double squares[BLOCK] = {0}, own_means[BLOCK], own_deviations[BLOCK], shares = 0;
    for (size_t i = 0; i < count; i++) {
        means[i] = gains[i] = 0;
    }
    for (size_t m = 0; m < self->count; m++) {
        const double share = self->items[m].share;
        if (!has_share(&self->items[m])) {
            continue;
        }
        search_surrogate_predict(self->items[m].surrogate, configs, count, own_means, own_deviations);
        for (size_t i = 0; i < count; i++) {
            means[i] += share * own_means[i];
            squares[i] += share * (own_deviations[i] * own_deviations[i] + own_means[i] * own_means[i]);
            gains[i] += isfinite(target) ? share * search_expected_gain(target, own_means[i], own_deviations[i]) : 0;
        }
        shares += share;
    }
    for (size_t i = 0; i < count; i++) {
        means[i] /= shares;
        deviations[i] = sqrt(fmax(squares[i] / shares - means[i] * means[i], 1e-12));
        gains[i] /= shares;
    }
}

void search_members_predict(struct search_members *members, const uint32_t *configs, size_t count, double *target,
                            double *means, double *deviations, double *gains)
{
    for (size_t first = 0; first < count; first += BLOCK) {
        const size_t some = count - first < BLOCK ? count - first : BLOCK;
        predict_block(members, configs + first, some, *target, means + first, deviations + first, gains + first);
    }
    if (!isfinite(*target)) {
        for (size_t i = 0; i < count; i++) {
            *target = fmin(*target, means[i]);
        }
        for (size_t i = 0; i < count; i++) {
            gains[i] = search_expected_gain(*target, means[i], deviations[i]);
        }
    }
}

void search_members_draw(struct search_members *members, const uint32_t *configs, const double *feasible, size_t count,
                         double stretch, uint64_t seed, double *probabilities, double *gain)
{
    double means[SEARCH_JOINT_MAX], deviations[SEARCH_JOINT_MAX];
    double covariance[SEARCH_JOINT_MAX * SEARCH_JOINT_MAX], shares = 0;
    *gain = 0;
    for (size_t i = 0; i < count; i++) {
        probabilities[i] = 0;
    }
    for (size_t m = 0; m < members->count; m++) {
        const struct member *member = &members->items[m];
        if (!has_share(member)) {
            continue;
        }
        search_surrogate_predict(member->surrogate, configs, count, means, deviations);
        search_surrogate_covariance(member->surrogate, configs, count, covariance);
        search_best_draw(means, covariance, feasible, count, stretch, seed + m, (size_t)ceil(DRAWS * member->share),
                         member->share, probabilities, gain);
        shares += member->share;
    }
    for (size_t i = 0; i < count; i++) {
        probabilities[i] /= shares;
    }
    *gain /= shares;
}

void search_members_reduction(struct search_members *members, const uint32_t *references, size_t reference_count,
                              const uint32_t *configs, size_t count, double *own, double *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = 0;
    }
    for (size_t m = 0; m < members->count; m++) {
        const struct member *member = &members->items[m];
        if (has_share(member)) {
            search_surrogate_reduction(member->surrogate, references, reference_count, configs, count, own);
            for (size_t i = 0; i < count; i++) {
                out[i] += member->share * own[i];
            }
        }
    }
}

double search_members_noise(const struct search_members *members)
{
    double sum = 0;
    for (size_t m = 0; m < members->count; m++) {
        sum += members->items[m].share > 0
                   ? members->items[m].share * search_surrogate_noise(members->items[m].surrogate)
                   : 0;
    }
    return sum;
}
