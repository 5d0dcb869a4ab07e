/* SPDX-License-Identifier: GPL-3.0-or-later
 * Step time and throughput from a step-time law, and kernel changes carried into the step (eq. STEP-1 ff.). */
#ifndef OCCAM_MODEL_PREDICT_STEP_TIME_H
#define OCCAM_MODEL_PREDICT_STEP_TIME_H

#include "model/describe/serving.h"

/* Value of the law at n running requests, seconds (eq. STEP-1..7, STEP-16). */
double step_time_evaluate(const struct step_time_law *law, double concurrency);
/* Partial derivatives by the law's parameters, seconds per unit; gradient has STEP_TIME_PARAMETERS_MAX entries. Not
 * for a committee, which has no parameters of its own. */
void step_time_gradient(const struct step_time_law *law, double concurrency, double *gradient);
/* Relative standard deviation of a new observation at n: parameter covariance + residual scatter (eq. STEP-10),
 * for a committee scatter + spread of the members, growing outside the points (eq. STEP-18).
 * 0 means that no uncertainty is known (a law the user gave, or an exact fit), never that there is none. */
double step_time_relative_sigma(const struct step_time_law *law, double concurrency);
/* Distinct experts touched per layer by n tokens: E (1 - (1 - k/E)^n) (eq. STEP-8). */
double distinct_experts(double experts, double experts_per_token, double tokens);
/* Seconds a step cannot go below whatever the kernel does: bytes that must be read / sustained bandwidth (eq. STEP-12).
 * 0 when the bytes are unknown. Experts count as touched by n x tokens per step tokens spread evenly; real routing is
 * skewed and touches fewer, so with experts the floor is an estimate. dram_bytes_per_s > 0. */
double step_time_floor(const struct serving_model *serving, double concurrency, double dram_bytes_per_s);

struct serving_estimate {
    double concurrency;
    double step_time_s, step_time_lo_s, step_time_hi_s;
    double throughput_tokens_per_s, throughput_lo_tokens_per_s,
        throughput_hi_tokens_per_s; /* n x tokens per step / step */
    double request_tokens_per_s;    /* per request */
};
/* The base configuration at n: z = two-sided normal quantile of the interval (or Student's t for few points, see
 * step_time_quantile in calibrate/step_time_fit.h). The interval is symmetric in log(step time), so lo > 0.
 * Where nothing is known of the uncertainty (step_time_relative_sigma is 0: a given law, degrees_of_freedom -1, or an
 * exact fit of points without a sigma, degrees_of_freedom 0) lo = hi = center; the caller must then say "no interval
 * known" and must not print the three equal numbers as an interval. */
void serving_estimate_base(const struct serving_model *serving, double concurrency, double z,
                           struct serving_estimate *result);
/* A variant whose kernels take kernel_delta_s more per step than the base's (may be negative), with standard deviation
 * kernel_delta_sigma_s, anchored at the base law (eq. STEP-11). If the change would take away the whole step, the
 * kernel model contradicts the measured step: every field but concurrency is NaN and the caller must say so. */
void serving_estimate_variant(const struct serving_model *serving, double concurrency, double kernel_delta_s,
                              double kernel_delta_sigma_s, double z, struct serving_estimate *result);
/* Largest concurrency (whole number, 1..limit) whose step time per token stays within itl_limit_s; 0 if none does.
 * The centre of the law decides, not its interval. limit above 2^53 counts as 2^53.
 * For laws that are not monotone the largest n such that all smaller n comply too. */
double concurrency_within_itl(const struct serving_model *serving, double itl_limit_s, double limit);

#endif
