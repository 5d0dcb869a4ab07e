/* SPDX-License-Identifier: GPL-3.0-or-later
 * Takes, fits or chooses the law of the step time. */
#include "cli/step_law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct step_time_fit_options fit_options(const struct serving_model *serving)
{
    return (struct step_time_fit_options){.experts_per_token = serving->experts_per_token,
                                          .experts = serving->experts,
                                          .captured_count = serving->base.captured_count,
                                          .captured_sizes = serving->base.captured_sizes};
}

static enum status form_find(const char *name, enum step_time_form *form, struct error *error)
{
    for (int i = 0; i < STEP_TIME_FORM_COUNT; i++) {
        *form = (enum step_time_form)i;
        if (strcmp(step_time_form_name(*form), name) == 0)
            return STATUS_OK;
    }
    return error_set(
        error, STATUS_USAGE,
        "step-time form \"%s\" is none of given, auto, committee, line, coverage, power, sqrt, saturating, "
        "padded, hinge",
        name);
}

static void use_fit(struct serving_model *serving, const struct step_time_fit *fit)
{
    serving->base = fit->law;
    serving->base_from_points = true;
    serving->present = true;
}

static enum status use_form(struct serving_model *serving, enum step_time_form form, struct step_law *law,
                            struct error *error)
{
    const struct step_time_fit_options options = fit_options(serving);
    struct step_time_fit fit;
    enum status status = step_time_fit(form, serving->points, serving->point_count, &options, &fit, error);

    if (status != STATUS_OK)
        return status;
    if (!fit.has_law || fit.verdict == STEP_TIME_FIT_FAILED)
        return error_set(error, STATUS_DOMAIN, "the form %s is not determined by %u measured point%s: %s",
                         step_time_form_name(form), serving->point_count, serving->point_count == 1 ? "" : "s",
                         fit.convergence);
    use_fit(serving, &fit);
    (void)snprintf(law->reason, sizeof law->reason, "%s was asked for", step_time_form_name(form));
    return STATUS_OK;
}

/* The committee of forms through the points; *used tells whether they carry one. */
static enum status try_committee(struct serving_model *serving, struct step_law *law, bool *used, struct error *error)
{
    const struct step_time_fit_options options = fit_options(serving);
    struct step_time_committee committee;
    enum status status = step_time_committee_fit(serving->points, serving->point_count, &options, &committee, error);

    *used = status == STATUS_OK && committee.has_law;
    if (status != STATUS_OK)
        return status;
    (void)snprintf(law->reason, sizeof law->reason, "%s", committee.reason);
    if (committee.has_law) {
        serving->base = committee.law;
        serving->base_from_points = true;
        serving->present = true;
    }
    return STATUS_OK;
}

/* The committee, or where two concurrencies are all there is, the line through them. */
static enum status use_committee(struct serving_model *serving, struct step_law *law, struct error *error)
{
    char why[sizeof law->reason];
    bool used;
    enum status status = try_committee(serving, law, &used, error);

    if (status != STATUS_OK || used)
        return status;
    (void)snprintf(why, sizeof why, "%s", law->reason);
    status = use_form(serving, STEP_TIME_LINE, law, error);
    if (status == STATUS_OK)
        (void)snprintf(law->reason, sizeof law->reason, "the line, because %.*s", (int)sizeof law->reason - 24, why);
    return status;
}

/* The chosen fit; where the points choose none, the committee; with too few points for that the line through them;
 * where not even that, the given law. */
static enum status use_choice(struct serving_model *serving, struct step_law *law, struct error *error)
{
    bool used;
    enum status status;

    const struct step_time_choice *choice = &law->fits;

    if (choice->chosen >= 0) {
        use_fit(serving, &choice->fits[choice->chosen]);
        (void)snprintf(law->reason, sizeof law->reason, "%s", choice->reason);
        return STATUS_OK;
    }
    status = try_committee(serving, law, &used, error);
    if (status != STATUS_OK || used)
        return status;
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct step_time_fit *fit = &choice->fits[i];

        if (fit->law.form != STEP_TIME_LINE || !fit->has_law || fit->verdict == STEP_TIME_FIT_FAILED)
            continue;
        use_fit(serving, fit);
        (void)snprintf(law->reason, sizeof law->reason, "the line, because %s", choice->reason);
        return STATUS_OK;
    }
    if (!serving->present || serving->base_from_points)
        return error_set(error, STATUS_DOMAIN, "the measured points determine no step time: %s", choice->reason);
    (void)snprintf(law->reason, sizeof law->reason, "the given law, because %s", choice->reason);
    return STATUS_OK;
}

enum status step_law_settle(struct serving_model *serving, const char *form, bool show_fits, struct step_law *law,
                            struct error *error)
{
    const char *own = *serving->form != '\0' ? serving->form : serving->base_from_points ? "committee" : "given";
    const char *name = form != NULL ? form : own;
    bool given = strcmp(name, "given") == 0, choose = strcmp(name, "auto") == 0;
    bool committee = strcmp(name, "committee") == 0;
    enum step_time_form wanted = STEP_TIME_LINE;
    enum status status = given || choose || committee ? STATUS_OK : form_find(name, &wanted, error);

    law->has_fits = false;
    if (status == STATUS_OK && given && serving->base_from_points)
        status =
            error_set(error, STATUS_USAGE, "no step time is given; --form auto or a form takes the measured points");
    if (status == STATUS_OK && !given && serving->point_count == 0)
        status = error_set(error, STATUS_USAGE,
                           "the form %s needs measured points: the scenario has none, and occam curve --measured FILE "
                           "gives them",
                           name);
    if (status == STATUS_OK && serving->point_count > 0 && (choose || show_fits)) {
        const struct step_time_fit_options options = fit_options(serving);

        status = step_time_choose(serving->points, serving->point_count, &options, &law->fits, error);
        law->has_fits = status == STATUS_OK;
        if (status == STATUS_OK && show_fits && !law->has_findings)
            status = step_law_find(serving, law, error);
    }
    if (status != STATUS_OK)
        return status;
    if (given)
        (void)snprintf(law->reason, sizeof law->reason, "the scenario's own");
    else if (committee)
        status = use_committee(serving, law, error);
    else if (choose)
        status = use_choice(serving, law, error);
    else
        status = use_form(serving, wanted, law, error);
    /* a scenario, measured points and a fit may have had a part in it */
    return status == STATUS_OK ? serving_model_validate(serving, error) : status;
}

enum status step_law_find(const struct serving_model *serving, struct step_law *law, struct error *error)
{
    const struct step_time_fit_options options = fit_options(serving);
    enum status status = step_time_find(serving->points, serving->point_count, serving->tokens_per_step_per_request,
                                        &options, &law->findings, error);

    law->has_findings = status == STATUS_OK;
    return status;
}
