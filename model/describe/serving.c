/* SPDX-License-Identifier: GPL-3.0-or-later
 * Names of the step-time forms and the checks a serving description must pass before any formula reads it. */
#include "model/describe/serving.h"

#include <math.h>

/* Roles of a parameter decide its range; the order is the one of the formula in serving.h. */
enum parameter_role {
    ROLE_NONE,
    ROLE_TIME,
    ROLE_SLOPE_CHANGE,
    ROLE_EXPONENT,
    ROLE_REQUESTS
};

static const struct form_row {
    const char *name;
    uint32_t parameter_count;
    enum parameter_role roles[STEP_TIME_PARAMETERS_MAX];
    const char *symbols[STEP_TIME_PARAMETERS_MAX];
} form_rows[STEP_TIME_FORM_COUNT] = {
    [STEP_TIME_LINE] = {"line", 2, {ROLE_TIME, ROLE_TIME}, {"a", "b"}},
    [STEP_TIME_COVERAGE] = {"coverage", 3, {ROLE_TIME, ROLE_TIME, ROLE_TIME}, {"a", "m", "b"}},
    [STEP_TIME_POWER] = {"power", 3, {ROLE_TIME, ROLE_TIME, ROLE_EXPONENT}, {"a", "b", "p"}},
    [STEP_TIME_SQRT] = {"sqrt", 3, {ROLE_TIME, ROLE_TIME, ROLE_TIME}, {"a", "s", "b"}},
    [STEP_TIME_SATURATING] = {"saturating", 4, {ROLE_TIME, ROLE_TIME, ROLE_REQUESTS, ROLE_TIME}, {"a", "s", "h", "b"}},
    [STEP_TIME_PADDED] = {"padded", 2, {ROLE_TIME, ROLE_TIME}, {"a", "b"}},
    [STEP_TIME_HINGE] = {"hinge", 4, {ROLE_TIME, ROLE_TIME, ROLE_SLOPE_CHANGE, ROLE_REQUESTS}, {"a", "b1", "b2", "n0"}},
};

static const struct form_row *form_row(enum step_time_form form)
{
    if ((unsigned)form >= STEP_TIME_FORM_COUNT) {
        BUG("step-time form %d does not exist", (int)form);
    }
    return &form_rows[form];
}

const char *step_time_form_name(enum step_time_form form)
{
    return form == STEP_TIME_COMMITTEE ? "committee" : form_row(form)->name;
}

uint32_t step_time_form_parameter_count(enum step_time_form form)
{
    return form == STEP_TIME_COMMITTEE ? 0 : form_row(form)->parameter_count;
}

/* Finite and at least `least`; `strict` excludes the bound itself. */
static bool is_in_range(double value, double least, bool strict)
{
    return isfinite(value) && (strict ? value > least : value >= least);
}

static enum status validate_experts(double experts_per_token, double experts, const char *where, struct error *error)
{
    if (!is_in_range(experts, 1.0, false)) {
        return error_set(error, STATUS_BAD_DATA, "serving: %s: experts must be at least 1, not %g", where, experts);
    }
    if (!is_in_range(experts_per_token, 0.0, true) || experts_per_token > experts) {
        return error_set(error, STATUS_BAD_DATA,
                         "serving: %s: experts per token must lie above 0 and not above the %g experts, not %g", where,
                         experts, experts_per_token);
    }
    return STATUS_OK;
}

static enum status validate_parameters(enum step_time_form form, const double *parameters, struct error *error)
{
    const struct form_row *row = form_row(form);
    double time_sum = 0.0;
    for (uint32_t i = 0; i < row->parameter_count; i++) {
        double value = parameters[i];
        switch (row->roles[i]) {
        case ROLE_TIME:
            if (!is_in_range(value, 0.0, false)) {
                return error_set(error, STATUS_BAD_DATA,
                                 "serving: %s of the %s form must be a time of 0 s or more, not %g s", row->symbols[i],
                                 row->name, value);
            }
            time_sum += value;
            break;
        case ROLE_SLOPE_CHANGE: /* b1 + b2 is the slope behind the hinge: a step never gets shorter with n */
            if (!isfinite(value) || value + parameters[i - 1] < 0.0) {
                return error_set(error, STATUS_BAD_DATA,
                                 "serving: b1 + b2 of the hinge form must be 0 s or more, not %g s",
                                 value + parameters[i - 1]);
            }
            time_sum += value + parameters[i - 1];
            break;
        case ROLE_EXPONENT:
        case ROLE_REQUESTS:
            if (!is_in_range(value, 0.0, true)) {
                return error_set(error, STATUS_BAD_DATA, "serving: %s of the %s form must be above 0, not %g",
                                 row->symbols[i], row->name, value);
            }
            break;
        case ROLE_NONE:
            BUG("form %s has no role for parameter %u", row->name, (unsigned)i);
        }
    }
    if (!is_in_range(time_sum, 0.0, true)) {
        return error_set(error, STATUS_BAD_DATA, "serving: the %s form gives a step of 0 s: give it a time", row->name);
    }
    return STATUS_OK;
}

static enum status validate_captured_sizes(const struct step_time_law *law, struct error *error)
{
    if (law->captured_count < 1 || law->captured_count > CAPTURED_SIZES_MAX) {
        return error_set(error, STATUS_BAD_DATA, "serving: the padded form needs 1 to %d captured sizes, not %u",
                         (int)CAPTURED_SIZES_MAX, (unsigned)law->captured_count);
    }
    double previous = 0.0;
    for (uint32_t i = 0; i < law->captured_count; i++) {
        if (!is_in_range(law->captured_sizes[i], previous, true)) {
            return error_set(error, STATUS_BAD_DATA, "serving: captured size %u must be above %g (ascending), not %g",
                             (unsigned)i + 1, previous, law->captured_sizes[i]);
        }
        previous = law->captured_sizes[i];
    }
    return STATUS_OK;
}

static enum status validate_uncertainty(const struct step_time_law *law, struct error *error)
{
    if (!is_in_range(law->relative_sigma, 0.0, false)) {
        return error_set(error, STATUS_BAD_DATA, "serving: relative sigma must be 0 or more, not %g",
                         law->relative_sigma);
    }
    if (law->degrees_of_freedom < -1) {
        return error_set(error, STATUS_BAD_DATA, "serving: degrees of freedom must be -1 (given) or more, not %d",
                         law->degrees_of_freedom);
    }
    uint32_t count = step_time_form_parameter_count(law->form);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count; j++) {
            if (!isfinite(law->covariance[i][j]) || (i == j && law->covariance[i][i] < 0.0)) {
                return error_set(error, STATUS_BAD_DATA, "serving: covariance of parameters %u and %u is %g",
                                 (unsigned)i + 1, (unsigned)j + 1, law->covariance[i][j]);
            }
        }
    }
    return STATUS_OK;
}

static enum status validate_committee(const struct step_time_law *law, struct error *error)
{
    enum status status = STATUS_OK;
    double weight_sum = 0.0;
    bool has_coverage = false;
    if (law->member_count < 1 || law->member_count > STEP_TIME_MEMBERS_MAX) {
        return error_set(error, STATUS_BAD_DATA, "serving: a committee needs 1 to %d members, not %u",
                         (int)STEP_TIME_MEMBERS_MAX, (unsigned)law->member_count);
    }
    if (!is_in_range(law->fitted_lo, 0.0, true) || !is_in_range(law->fitted_hi, law->fitted_lo, false)) {
        return error_set(error, STATUS_BAD_DATA, "serving: a committee needs the range of its points, not %g to %g",
                         law->fitted_lo, law->fitted_hi);
    }
    for (uint32_t i = 0; status == STATUS_OK && i < law->member_count; i++) {
        const struct step_time_member *member = &law->members[i];
        bool is_form = (unsigned)member->form < STEP_TIME_FORM_COUNT;
        if (!is_form || member->form == STEP_TIME_PADDED || member->form == STEP_TIME_HINGE ||
            !is_in_range(member->weight, 0.0, true)) {
            return error_set(error, STATUS_BAD_DATA,
                             "serving: member %u of the committee has form number %d and weight %g", (unsigned)i + 1,
                             (int)member->form, member->weight);
        }
        has_coverage = has_coverage || member->form == STEP_TIME_COVERAGE;
        weight_sum += member->weight;
        status = validate_parameters(member->form, member->parameters, error);
    }
    if (status == STATUS_OK && !(fabs(weight_sum - 1.0) <= 1e-9)) {
        status =
            error_set(error, STATUS_BAD_DATA, "serving: the weights of a committee add up to %g, not 1", weight_sum);
    }
    return status == STATUS_OK && has_coverage
               ? validate_experts(law->experts_per_token, law->experts, "committee", error)
               : status;
}

static enum status validate_law(const struct step_time_law *law, struct error *error)
{
    if (law->form == STEP_TIME_COMMITTEE) {
        enum status verdict = validate_committee(law, error);
        return verdict == STATUS_OK ? validate_uncertainty(law, error) : verdict;
    }
    if ((unsigned)law->form >= STEP_TIME_FORM_COUNT) {
        return error_set(error, STATUS_BAD_DATA, "serving: step-time form number %d does not exist", (int)law->form);
    }
    enum status status = validate_parameters(law->form, law->parameters, error);
    if (status == STATUS_OK && law->form == STEP_TIME_COVERAGE) {
        status = validate_experts(law->experts_per_token, law->experts, "coverage form", error);
    }
    if (status == STATUS_OK && law->form == STEP_TIME_PADDED) {
        status = validate_captured_sizes(law, error);
    }
    return status == STATUS_OK ? validate_uncertainty(law, error) : status;
}

static enum status validate_points(const struct serving_model *serving, struct error *error)
{
    if (serving->point_count > SERVING_POINTS_MAX) {
        return error_set(error, STATUS_LIMIT, "serving: %u points, the limit is %d", (unsigned)serving->point_count,
                         (int)SERVING_POINTS_MAX);
    }
    if (serving->base_from_points && serving->point_count == 0) {
        return error_set(error, STATUS_BAD_DATA, "serving: the base is said to come from points, but there are none");
    }
    for (uint32_t i = 0; i < serving->point_count; i++) {
        const struct serving_point *point = &serving->points[i];
        unsigned number = (unsigned)i + 1;
        if (!is_in_range(point->concurrency, 0.0, true)) { /* a mean of the running batch may lie below 1 */
            return error_set(error, STATUS_BAD_DATA, "serving: point %u: concurrency must be above 0, not %g", number,
                             point->concurrency);
        }
        if (!is_in_range(point->step_time_s, 0.0, true)) {
            return error_set(error, STATUS_BAD_DATA, "serving: point %u: step time must be above 0 s, not %g s", number,
                             point->step_time_s);
        }
        if (!is_in_range(point->relative_sigma, 0.0, false)) {
            return error_set(error, STATUS_BAD_DATA, "serving: point %u: relative sigma must be 0 or more, not %g",
                             number, point->relative_sigma);
        }
        if (!isnan(point->throughput_tokens_per_s) && !is_in_range(point->throughput_tokens_per_s, 0.0, true)) {
            return error_set(error, STATUS_BAD_DATA, "serving: point %u: throughput must be above 0 tokens/s, not %g",
                             number, point->throughput_tokens_per_s);
        }
    }
    return STATUS_OK;
}

static enum status validate_floor(const struct serving_model *serving, struct error *error)
{
    if (!is_in_range(serving->floor_bytes_fixed, 0.0, false)) {
        return error_set(error, STATUS_BAD_DATA, "serving: fixed floor must be 0 bytes or more, not %g",
                         serving->floor_bytes_fixed);
    }
    if (!is_in_range(serving->floor_bytes_per_expert, 0.0, false)) {
        return error_set(error, STATUS_BAD_DATA, "serving: floor per expert must be 0 bytes or more, not %g",
                         serving->floor_bytes_per_expert);
    }
    if (serving->experts != 0.0 || serving->experts_per_token != 0.0) {
        return validate_experts(serving->experts_per_token, serving->experts, "model", error);
    }
    if (serving->floor_bytes_per_expert > 0.0) {
        return error_set(error, STATUS_BAD_DATA, "serving: a floor per expert needs experts and experts per token");
    }
    return STATUS_OK;
}

static enum status validate_quantities(const struct serving_model *serving, struct error *error)
{
    if (!is_in_range(serving->tokens_per_step_per_request, 1.0, false)) {
        return error_set(error, STATUS_BAD_DATA, "serving: tokens per step and request must be at least 1, not %g",
                         serving->tokens_per_step_per_request);
    }
    if (!isnan(serving->itl_limit_s) && !is_in_range(serving->itl_limit_s, 0.0, true)) {
        return error_set(error, STATUS_BAD_DATA, "serving: the ITL limit must be above 0 s, not %g s",
                         serving->itl_limit_s);
    }
    if (isnan(serving->kernel_share_measured)) {
        return STATUS_OK;
    }
    if (!is_in_range(serving->kernel_share_measured, 0.0, true) || serving->kernel_share_measured > 1.0) {
        return error_set(error, STATUS_BAD_DATA, "serving: the kernel's share must lie above 0 and not above 1, not %g",
                         serving->kernel_share_measured);
    }
    if (!is_in_range(serving->kernel_share_relative_sigma, 0.0, false)) {
        return error_set(error, STATUS_BAD_DATA,
                         "serving: the relative sigma of the kernel's share must be 0 or more, not %g",
                         serving->kernel_share_relative_sigma);
    }
    return STATUS_OK;
}

enum status serving_model_validate(const struct serving_model *serving, struct error *error)
{
    if (!serving->present) {
        return STATUS_OK;
    }
    enum status status = validate_points(serving, error);
    if (status == STATUS_OK) {
        status = validate_law(&serving->base, error);
    }
    if (status == STATUS_OK) {
        status = validate_floor(serving, error);
    }
    return status == STATUS_OK ? validate_quantities(serving, error) : status;
}
