/* SPDX-License-Identifier: GPL-3.0-or-later
 * Committee of step-time forms: members, weights, sigma, bootstrap. */
#include "calibrate/step_time_committee.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "model/predict/step_time.h"

/* A misfit that measurements of this kind have anyway; only forms that miss by more lose weight (STEP-17). */
static const double tolerated_misfit = 0.05;
/* Held-out points of public curves miss by this over the root of the distinct concurrencies, however well the forms
 * pass through the others (STEP-18). */
static const double floor_sigma = 0.035;

static const enum step_time_form dense_forms[] = {STEP_TIME_LINE, STEP_TIME_POWER, STEP_TIME_SQRT,
                                                  STEP_TIME_SATURATING};
static const enum step_time_form expert_forms[] = {STEP_TIME_COVERAGE, STEP_TIME_SQRT, STEP_TIME_SATURATING};

static uint32_t count_distinct(const struct serving_point *points, uint32_t count, struct step_time_law *law)
{
    double values[SERVING_POINTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        values[i] = points[i].concurrency;
    }
    sort_doubles(values, count);
    uint32_t distinct = 1;
    for (uint32_t i = 1; i < count; i++) {
        distinct += values[i] > values[i - 1];
    }
    law->fitted_lo = values[0];
    law->fitted_hi = values[count - 1];
    return distinct;
}

static double mean_square_error(const struct step_time_law *law, const struct serving_point *points, uint32_t count)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double error = step_time_evaluate(law, points[i].concurrency) / points[i].step_time_s - 1.0;
        sum += error * error;
    }
    return sum / count;
}

/* Fits one form and adds it; squares gets its mean square relative error. */
static enum status add_member(enum step_time_form form, const struct serving_point *points, uint32_t count,
                              const struct step_time_fit_options *options, struct step_time_law *law, double *squares,
                              struct error *error)
{
    struct step_time_fit fit;
    enum status status = step_time_fit_once(form, points, count, options, &fit, error);
    if (status != STATUS_OK || !fit.has_law || fit.verdict == STEP_TIME_FIT_FAILED) {
        return status;
    }
    struct step_time_member *member = &law->members[law->member_count];
    member->form = form;
    memcpy(member->parameters, fit.law.parameters, sizeof member->parameters);
    if (form == STEP_TIME_COVERAGE) {
        law->experts_per_token = fit.law.experts_per_token;
        law->experts = fit.law.experts;
    }
    squares[law->member_count++] = mean_square_error(&fit.law, points, count);
    return STATUS_OK;
}

/* STEP-17, in logarithms so that hundreds of points do not underflow; returns the weighted mean square error. */
static double fill_weights(struct step_time_law *law, const double *squares, uint32_t distinct)
{
    double logs[STEP_TIME_MEMBERS_MAX], largest = -HUGE_VAL, sum = 0.0, mean = 0.0;
    for (uint32_t i = 0; i < law->member_count; i++) {
        logs[i] = -0.25 * distinct * log1p(squares[i] / (tolerated_misfit * tolerated_misfit));
        largest = fmax(largest, logs[i]);
    }
    for (uint32_t i = 0; i < law->member_count; i++) {
        law->members[i].weight = fmax(exp(logs[i] - largest), 1e-12);
        sum += law->members[i].weight;
    }
    for (uint32_t i = 0; i < law->member_count; i++) {
        law->members[i].weight /= sum;
        mean += law->members[i].weight * squares[i];
    }
    return mean;
}

/* Mean square of the stated sigmas, 0 unless every point has one. */
static double stated_squares(const struct serving_point *points, uint32_t count)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        if (!(points[i].relative_sigma > 0.0)) {
            return 0.0;
        }
        sum += points[i].relative_sigma * points[i].relative_sigma;
    }
    return sum / count;
}

static void describe(struct step_time_committee *committee)
{
    const struct step_time_law *law = &committee->law;
    size_t used = 0, size = sizeof committee->reason;
    for (uint32_t i = 0; i < law->member_count && used < size; i++) {
        int added = snprintf(committee->reason + used, size - used, "%s%s %.0f %%",
                             i == 0                      ? "geometric mean of "
                             : i + 1 < law->member_count ? ", "
                                                         : " and ",
                             step_time_form_name(law->members[i].form), 100.0 * law->members[i].weight);
        used += added > 0 ? (size_t)added : 0;
    }
}

enum status step_time_committee_fit(const struct serving_point *points, uint32_t count,
                                    const struct step_time_fit_options *options, struct step_time_committee *committee,
                                    struct error *error)
{
    bool has_experts = options->experts > 0.0;
    const enum step_time_form *forms = has_experts ? expert_forms : dense_forms;
    size_t form_count = has_experts ? sizeof expert_forms / sizeof *forms : sizeof dense_forms / sizeof *forms;
    struct step_time_law *law = &committee->law;
    double squares[STEP_TIME_MEMBERS_MAX];
    enum status status = STATUS_OK;
    memset(committee, 0, sizeof *committee);
    law->form = STEP_TIME_COMMITTEE;
    for (size_t i = 0; status == STATUS_OK && i < form_count; i++) {
        status = add_member(forms[i], points, count, options, law, squares, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    committee->distinct = count_distinct(points, count, law);
    if (committee->distinct < STEP_TIME_COMMITTEE_LEAST || law->member_count == 0) {
        snprintf(committee->reason, sizeof committee->reason,
                 "%u distinct concurrenc%s too few for a committee, which needs %d", (unsigned)committee->distinct,
                 committee->distinct == 1 ? "y is" : "ies are", (int)STEP_TIME_COMMITTEE_LEAST);
        return STATUS_OK;
    }
    double residual_squares = fill_weights(law, squares, committee->distinct);
    committee->has_law = true;
    committee->residual = sqrt(residual_squares);
    law->degrees_of_freedom = (int)committee->distinct - 1;
    /* Every form contains the line, whose two parameters the points have paid for in any case. */
    double scatter_squares = residual_squares * count / (count - 2.0);
    law->relative_sigma =
        sqrt(floor_sigma * floor_sigma / committee->distinct + fmax(scatter_squares, stated_squares(points, count)));
    describe(committee);
    return STATUS_OK;
}

enum status step_time_committee_bootstrap(const struct step_time_committee *committee,
                                          const struct serving_point *points, uint32_t count,
                                          const struct step_time_fit_options *options, uint32_t repeats, uint64_t seed,
                                          const double *concurrencies, uint32_t concurrency_count, double *sigmas,
                                          struct error *error)
{
    if (!committee->has_law || repeats < 2 || repeats > STEP_TIME_BOOTSTRAP_MAX) {
        BUG("a bootstrap of %u repeats, law %d", (unsigned)repeats, (int)committee->has_law);
    }
    struct serving_point drawn[SERVING_POINTS_MAX];
    struct random_stream stream;
    enum status status = STATUS_OK;
    random_init(&stream, seed, 0);
    memset(sigmas, 0, concurrency_count * sizeof *sigmas);
    for (uint32_t repeat = 0; status == STATUS_OK && repeat < repeats; repeat++) {
        struct step_time_committee again;
        for (uint32_t i = 0; i < count; i++) {
            drawn[i] = points[i];
            drawn[i].step_time_s = step_time_evaluate(&committee->law, points[i].concurrency) *
                                   exp(committee->law.relative_sigma * random_normal(&stream));
        }
        status = step_time_committee_fit(drawn, count, options, &again, error);
        for (uint32_t i = 0; status == STATUS_OK && i < concurrency_count; i++) {
            double miss = log(step_time_evaluate(&again.law, concurrencies[i]) /
                              step_time_evaluate(&committee->law, concurrencies[i]));
            sigmas[i] += miss * miss;
        }
    }
    for (uint32_t i = 0; i < concurrency_count; i++) {
        sigmas[i] = sqrt(sigmas[i] / repeats);
    }
    return status;
}
