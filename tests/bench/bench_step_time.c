/* SPDX-License-Identifier: GPL-3.0-or-later
 * All public concurrency curves: every form with leave-one-out, and the committee with its bootstrap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "calibrate/step_time_committee.h"
#include "calibrate/step_time_fit.h"
#include "tests/support/serving_curves.h"
#include "tests/support/shared_data.h"

enum {
    BOOTSTRAPS = 50
};

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void stop(const struct error *error)
{
    fprintf(stderr, "%s\n", error->text);
    exit(EXIT_FAILURE);
}

static void choose(const struct serving_curve *curve, struct error *error)
{
    static struct step_time_choice choice;
    const struct step_time_fit_options options = {curve->experts_per_token, curve->experts, 0, NULL};
    if (step_time_choose(curve->points, curve->count, &options, &choice, error) != STATUS_OK) {
        stop(error);
    }
}

static void bootstrap(const struct serving_curve *curve, size_t seed, struct error *error)
{
    const struct step_time_fit_options options = {curve->experts_per_token, curve->experts, 0, NULL};
    struct step_time_committee committee;
    const double asked = 2 * curve->points[curve->count - 1].concurrency;
    double sigma;
    if (step_time_committee_fit(curve->points, curve->count, &options, &committee, error) != STATUS_OK ||
        step_time_committee_bootstrap(&committee, curve->points, curve->count, &options, BOOTSTRAPS, seed, &asked, 1,
                                      &sigma, error) != STATUS_OK) {
        stop(error);
    }
}

int main(void)
{
    struct serving_curves curves;
    struct error error = {0};
    char path[1024];
    if (shared_data_path("bench_step_time", "data/serving_curves.csv", path, sizeof path) == NULL) {
        return EXIT_SUCCESS;
    }
    if (serving_curves_read(path, &curves, &error) != STATUS_OK) {
        stop(&error);
    }
    double begin = processor_seconds();
    for (size_t i = 0; i < curves.count; i++) {
        choose(&curves.curves[i], &error);
    }
    const double fits = processor_seconds() - begin;
    begin = processor_seconds();
    for (size_t i = 0; i < curves.count; i++) {
        bootstrap(&curves.curves[i], i, &error);
    }
    printf("step time: %zu curves, all forms with leave-one-out in %.2f s of a processor; committee with %d "
           "bootstraps in %.2f s (limit 2 s)\n",
           curves.count, fits, BOOTSTRAPS, processor_seconds() - begin);
    serving_curves_release(&curves);
    return EXIT_SUCCESS;
}
