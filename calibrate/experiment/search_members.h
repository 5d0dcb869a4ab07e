/* SPDX-License-Identifier: GPL-3.0-or-later
 * Several processes that see the same runs, each with its share of belief by how well it explains them (SEARCH-2). Used
 * by search_engine, which never asks one of them alone. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SEARCH_MEMBERS_H
#define OCCAM_CALIBRATE_EXPERIMENT_SEARCH_MEMBERS_H

#include "calibrate/experiment/search_surrogate.h"

struct search_members; /* opaque; not to be shared between threads */

/* The kernel SEARCH_KERNEL_AVERAGED gives all of them, with and without the prior (may be NULL); any other kernel one
 * member. Everything else as search_surrogate_create. */
MUST_CHECK enum status search_members_create(const struct search_space *space, enum search_kernel kernel,
                                             const struct search_prior *prior, size_t capacity,
                                             struct search_members **members, struct error *error);
void search_members_free(struct search_members *members);
/* As of search_surrogate, for all of them; the shares are found by the fit. */
void search_members_fit(struct search_members *members, const struct search_observation *observations, size_t count);
/* After a fit: draws lengths, amplitude and noise of every member from their posterior density, `steps` steps of a
 * chain from where they are (search_surrogate_walk); shares stay. Until the next fit everything below is by these. */
void search_members_walk(struct search_members *members, size_t steps, uint64_t seed);
void search_members_append(struct search_members *members, const struct search_observation *observation);
/* Mean and standard deviation of ln(value), the members' mixture, and what each configuration is expected to gain on
 * `target` in ln(value); a target that is not finite: on the least mean, which *target becomes. */
void search_members_predict(struct search_members *members, const uint32_t *configs, size_t count, double *target,
                            double *means, double *deviations, double *gains);
/* Of joint draws of a few configurations (count <= SEARCH_JOINT_MAX), the first of them measured: how often each is the
 * best, and by how much the best of the others is expected to be below the first. feasible, stretch, seed as
 * search_best_draw. */
void search_members_draw(struct search_members *members, const uint32_t *configs, const double *feasible, size_t count,
                         double stretch, uint64_t seed, double *probabilities, double *gain);
/* As search_surrogate_reduction, the members' mean. own: scratch, count. */
void search_members_reduction(struct search_members *members, const uint32_t *references, size_t reference_count,
                              const uint32_t *configs, size_t count, double *own, double *out);
/* Expected improvement of a normal on `best`; its tail continues as a slope, so that hopeless ones still have ranks. */
double search_expected_gain(double best, double mean, double deviation);
double search_members_noise(const struct search_members *members);

#endif
