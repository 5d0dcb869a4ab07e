/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a search believes of a finite space: a Gaussian process on ln(value), one length per knob, fitted by penalised
 * likelihood, on top of an optional prediction per configuration (SEARCH-1, SEARCH-2). Used by search_engine. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_SURROGATE_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_SURROGATE_H

#include "base/random.h"
#include "calibrate/experiment/search_space.h"

enum {
    SEARCH_JOINT_MAX = 64 /* configurations in one joint covariance */
};

enum search_kernel {
    SEARCH_KERNEL_PRODUCT, /* product of a Matern 5/2 per knob */
    SEARCH_KERNEL_ANOVA,   /* product per knob of a constant and a Matern 5/2 */
    SEARCH_KERNEL_RADIAL,  /* Matern 5/2 of the scaled distance over all knobs */
    SEARCH_KERNEL_PLAIN,   /* the same with no doubt about the mean, the textbook form, to compare with */
    SEARCH_KERNEL_AVERAGED /* of search_members: the first three, by how well they explain the runs */
};

/* A prediction made beforehand, for every configuration of the space. */
struct search_prior {
    const double *log_value; /* config_count, finite; borrowed */
    double log_sigma;        /* how far off one of them is, typically; above 0 */
};

struct search_observation {
    uint32_t config;
    double log_value;
    double log_variance; /* known scatter of log_value; 0: unknown */
};

struct search_surrogate; /* opaque; not to be shared between threads */

/* capacity: most observations it will ever hold. prior may be NULL. space and the prior's array are borrowed. */
MUST_CHECK enum status search_surrogate_create(const struct search_space *space, enum search_kernel kernel,
                                               const struct search_prior *prior, size_t capacity,
                                               struct search_surrogate **surrogate, struct error *error);
void search_surrogate_free(struct search_surrogate *surrogate);
/* Takes the observations (count <= capacity) and finds lengths, amplitude and noise for them, always from the same
 * start, so that the same observations give the same beliefs. */
void search_surrogate_fit(struct search_surrogate *surrogate, const struct search_observation *observations,
                          size_t count);
/* Everything below but the evidence takes this after a fit; it costs the cube of the count. */
void search_surrogate_solve(struct search_surrogate *surrogate);
/* After a fit: so many steps of a Markov chain over lengths, amplitude and noise, whose places are draws of them from
 * their posterior density. Then search_surrogate_solve; the evidence stays that of the fit, and the next fit ends it.
 */
void search_surrogate_walk(struct search_surrogate *surrogate, size_t steps, struct random_stream *stream);
/* Logarithm of the posterior density of the fit, in units of ln(value), for comparison between surrogates. */
double search_surrogate_evidence(const struct search_surrogate *surrogate);
/* One observation more at unchanged lengths. */
void search_surrogate_append(struct search_surrogate *surrogate, const struct search_observation *observation);
/* Mean and standard deviation of ln(value) without the noise of a run. */
void search_surrogate_predict(struct search_surrogate *surrogate, const uint32_t *configs, size_t count, double *means,
                              double *deviations);
/* Covariance of ln(value) between configurations, count x count, without noise; count <= SEARCH_JOINT_MAX. */
void search_surrogate_covariance(struct search_surrogate *surrogate, const uint32_t *configs, size_t count,
                                 double *covariance);
/* For each of count configurations: by what share one run of it lowers the summed variance of the reference
 * configurations (at most SEARCH_JOINT_MAX). */
void search_surrogate_reduction(struct search_surrogate *surrogate, const uint32_t *references, size_t reference_count,
                                const uint32_t *configs, size_t count, double *out);
/* Standard deviation of ln(value) that runs of one configuration show, as fitted. */
double search_surrogate_noise(const struct search_surrogate *surrogate);

#endif
