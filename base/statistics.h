/* SPDX-License-Identifier: GPL-3.0-or-later
 * Small statistics on arrays of doubles. No allocation: functions that must sort take a scratch array. */
#ifndef OCCAM_BASE_STATISTICS_H
#define OCCAM_BASE_STATISTICS_H

#include <stddef.h>

/* Sorts ascending in place. NaN is a BUG(). */
void sort_doubles(double *values, size_t count);
/* Quantile of an ascending array by linear interpolation (type 7, as R and numpy do). count >= 1, 0 <= q <= 1. */
double quantile_sorted(const double *sorted, size_t count, double q);
double mean(const double *values, size_t count);
/* Median; sorts values in place. */
double median_in_place(double *values, size_t count);
/* Sample standard deviation (count - 1); 0 for count < 2. */
double standard_deviation(const double *values, size_t count);
/* Spearman rank correlation with mean ranks for ties; scratch holds 2 * count doubles. NaN for count < 2 or a constant
 * side. */
double spearman(const double *x, const double *y, size_t count, double *scratch);
/* Inverse of the standard normal distribution function, 0 < p < 1 (Acklam's approximation with one Newton step,
 * relative error below 1e-13). */
double normal_quantile(double p);

#endif
