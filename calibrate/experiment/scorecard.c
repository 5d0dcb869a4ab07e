/* SPDX-License-Identifier: GPL-3.0-or-later
 * Scores of log-normal predictions. */
#include "calibrate/experiment/scorecard.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/statistics.h"

static const double levels[SCORECARD_LEVELS] = {0.5, 0.68, 0.8, 0.9, 0.95};

const double *scorecard_levels(void)
{
    return levels;
}

static enum status check(const struct scored_prediction *prediction, size_t index, struct error *error)
{
    const struct scored_prediction *p = prediction;
    const bool is_sound = p->value > 0 && p->low > 0 && p->high > p->low && p->level > 0 && p->level < 1 &&
                          p->measured > 0 && isfinite(p->high) && isfinite(p->measured) && isfinite(p->value);
    return is_sound ? STATUS_OK
                    : error_set(error, STATUS_BAD_DATA, "prediction %zu: %g (%g to %g) against %g cannot be scored",
                                index + 1, p->value, p->low, p->high, p->measured);
}

/* Standard deviation of ln that the frozen interval stands for. */
static double sigma_of(const struct scored_prediction *prediction)
{
    return log(prediction->high / prediction->low) / 2 / gsl_cdf_ugaussian_Pinv(0.5 + prediction->level / 2);
}

/* SCORE-2: of a normal distribution (Gneiting and Raftery 2007, eq. 21). */
static double crps_of(double z, double sigma)
{
    return sigma * (z * (2 * gsl_cdf_ugaussian_P(z) - 1) + 2 * gsl_ran_ugaussian_pdf(z) - 1 / sqrt(M_PI));
}

/* Wilson's interval of a share. */
static void share_interval(double share, size_t count, double *low, double *high)
{
    const double z = gsl_cdf_ugaussian_Pinv(0.95), n = (double)count,
                 center = (share + z * z / (2 * n)) / (1 + z * z / n),
                 half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    *low = fmax(0, center - half);
    *high = fmin(1, center + half);
}

static void score(const struct scored_prediction *predictions, size_t count, double *ratios, double *errors,
                  double *widths, struct scorecard *card)
{
    for (size_t i = 0; i < count; i++) {
        const struct scored_prediction *prediction = &predictions[i];
        const double sigma = sigma_of(prediction), center = log(prediction->low * prediction->high) / 2,
                     miss = log(prediction->measured) - center, z = miss / sigma;
        for (int level = 0; level < SCORECARD_LEVELS; level++) {
            card->coverage[level] += fabs(z) <= gsl_cdf_ugaussian_Pinv(0.5 + levels[level] / 2) ? 1 / (double)count : 0;
        }
        card->crps += crps_of(z, sigma) / (double)count;
        card->crps_of_point += fabs(log(prediction->value / prediction->measured)) / (double)count;
        ratios[i] = prediction->measured / prediction->value;
        errors[i] = fabs(prediction->value / prediction->measured - 1);
        widths[i] = expm1(sigma * gsl_cdf_ugaussian_Pinv(0.95));
    }
    card->bias = median_in_place(ratios, count) - 1;
    card->median_error = median_in_place(errors, count);
    card->half_width = median_in_place(widths, count);
    for (int level = 0; level < SCORECARD_LEVELS; level++) {
        share_interval(card->coverage[level], count, &card->coverage_low[level], &card->coverage_high[level]);
    }
}

enum status scorecard_make(const struct scored_prediction *predictions, size_t count, struct scorecard *card,
                           struct error *error)
{
    *card = (struct scorecard){.count = count};
    enum status status =
        count == 0 ? error_set(error, STATUS_BAD_DATA, "no frozen prediction has been measured yet") : STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = check(&predictions[i], i, error);
    }
    double *scratch = status == STATUS_OK ? calloc(3 * count, sizeof *scratch) : NULL;
    if (status == STATUS_OK && scratch == NULL) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for %zu predictions", count);
    }
    if (status == STATUS_OK) {
        score(predictions, count, scratch, scratch + count, scratch + 2 * count, card);
    }
    free(scratch);
    return status;
}
