/* SPDX-License-Identifier: GPL-3.0-or-later
 * Small statistics. Called by the calibration, the interval propagation of model/predict and the comparisons. */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void sort_doubles(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i]))
            BUG("NaN among %zu values to sort", count);
    if (count > 1)
        qsort(values, count, sizeof *values, compare_doubles);
}

double quantile_sorted(const double *sorted, size_t count, double q)
{
    if (count == 0 || !(q >= 0.0 && q <= 1.0))
        BUG("quantile %g of %zu values", q, count);
    double position = q * (double)(count - 1);
    size_t below = (size_t)position;
    double fraction = position - (double)below;
    /* The neighbour is left alone where it has no weight: it may not exist, and 0 x infinity is NaN. */
    if (!(fraction > 0.0) || sorted[below] == sorted[below + 1])
        return sorted[below];
    return (1.0 - fraction) * sorted[below] + fraction * sorted[below + 1];
}

double mean(const double *values, size_t count)
{
    if (count == 0)
        BUG("mean of no values");
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

double median_in_place(double *values, size_t count)
{
    sort_doubles(values, count);
    return quantile_sorted(values, count, 0.5);
}

double standard_deviation(const double *values, size_t count)
{
    if (count < 2)
        return 0.0;
    double centre = mean(values, count);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - centre) * (values[i] - centre);
    return sqrt(sum / (double)(count - 1));
}

/* Number of entries of an ascending array that are below value, or at most value when `inclusive`. */
static size_t count_below(const double *sorted, size_t count, double value, int inclusive)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < value || (inclusive && sorted[middle] == value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Mean of the ranks (from 1) that equal values share. */
static double mean_rank(const double *sorted, size_t count, double value)
{
    size_t first = count_below(sorted, count, value, 0) + 1, last = count_below(sorted, count, value, 1);
    return 0.5 * ((double)first + (double)last);
}

double spearman(const double *x, const double *y, size_t count, double *scratch)
{
    if (count < 2)
        return NAN;
    double *sorted_x = scratch, *sorted_y = scratch + count;
    memcpy(sorted_x, x, count * sizeof *x);
    memcpy(sorted_y, y, count * sizeof *y);
    sort_doubles(sorted_x, count);
    sort_doubles(sorted_y, count);
    double centre = 0.5 * ((double)count + 1.0);
    double sum_xx = 0.0, sum_yy = 0.0, sum_xy = 0.0;
    for (size_t i = 0; i < count; i++) {
        double dx = mean_rank(sorted_x, count, x[i]) - centre, dy = mean_rank(sorted_y, count, y[i]) - centre;
        sum_xx += dx * dx;
        sum_yy += dy * dy;
        sum_xy += dx * dy;
    }
    if (!(sum_xx > 0.0) || !(sum_yy > 0.0))
        return NAN;
    return fmax(-1.0, fmin(1.0, sum_xy / sqrt(sum_xx * sum_yy)));
}

/* P. J. Acklam's rational approximation for 0 < p <= 0.5, relative error below 1.15e-9. */
static double approximate_quantile(double p)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                               1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    if (p < 0.02425) {
        double q = sqrt(-2.0 * log(p));
        return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
               ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
    }
    double q = p - 0.5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
}

double normal_quantile(double p)
{
    static const double sqrt_half = 0.70710678118654752440, half_log_2pi = 0.91893853320467274178;
    if (!(p > 0.0 && p < 1.0))
        BUG("normal quantile of %g", p);
    if (p > 0.5)
        return -normal_quantile(1.0 - p); /* 1 - p is exact here, and the lower tail keeps its digits */
    double x = approximate_quantile(p);
    /* Newton's step (Phi(x) - p) / phi(x). Near the centre through erf, in the tail relative to p, so that neither the
     * difference nor exp(x^2 / 2) loses digits. */
    double step = p > 0.25 ? (0.5 * erf(x * sqrt_half) - (p - 0.5)) * exp(0.5 * x * x + half_log_2pi)
                           : (0.5 * erfc(-x * sqrt_half) / p - 1.0) * exp(log(p) + 0.5 * x * x + half_log_2pi);
    return x - step;
}
