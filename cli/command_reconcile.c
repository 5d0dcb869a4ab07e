/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam reconcile`: evidence about one kernel weighed, and what a conflict changes. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/options.h"
#include "cli/reconcile.h"
#include "cli/report.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/claims/code_claims.h"
#include "evidence/claims/stated_claim.h"

struct reconcile_options {
    enum output_format format;
    const char *scenario, *kernel;
    struct text_list devices, claims;
    struct question_options question;
    struct operands operands;
};

static enum status read_options(int argc, char **argv, struct reconcile_options *options, struct error *error)
{
    *options = (struct reconcile_options){.question.level = QUESTION_LEVEL_DEFAULT};
    const struct option_row rows[] = {
        {.name = "scenario", .kind = OPTION_TEXT, .target = &options->scenario},
        {.name = "kernel", .kind = OPTION_TEXT, .target = &options->kernel},
        {.name = "device", .kind = OPTION_LIST, .target = &options->devices},
        {.name = "device-file", .kind = OPTION_TEXT, .target = &options->question.device_file},
        {.name = "claim", .kind = OPTION_LIST, .target = &options->claims},
        {.letter = 's', .name = "set", .kind = OPTION_LIST, .target = &options->question.assignments},
        {.name = "calibration", .kind = OPTION_TEXT, .target = &options->question.calibration},
        {0, "level", OPTION_NUMBER, &options->question.level, 0.5, 0.999},
        {.name = "format", .kind = OPTION_FORMAT, .target = &options->format},
    };
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "PATH", 0, OPERANDS_MAX,
                                       &options->operands, error);
    if (status == STATUS_OK && options->operands.count + options->claims.count == 0) {
        status = error_set(error, STATUS_USAGE, "nothing to reconcile: give files, folders, or --claim");
    }
    if (status == STATUS_OK && options->scenario == NULL && options->question.assignments.count > 0) {
        status = error_set(error, STATUS_USAGE, "option --set goes with --scenario");
    }
    options->question.device = options->devices.count > 0 ? options->devices.items[0] : NULL;
    return status;
}

static enum status read_claims(struct reconciliation *self, const struct reconcile_options *options,
                               struct error *error)
{
    enum status status = STATUS_OK;
    if (options->operands.count > 0) {
        status =
            evidence_read(options->operands.items, options->operands.count, CODE_LISTING_AUTO, &self->evidence, error);
    }
    self->claims = &self->evidence.claims;
    if (status == STATUS_OK) {
        status = code_claims_append(&self->evidence.code, self->claims, error);
    }
    for (size_t i = 0; i < options->claims.count && status == STATUS_OK; i++) {
        status = stated_claim_parse(options->claims.items[i], self->claims, error);
    }
    if (status == STATUS_OK) {
        claims_normalise(self->claims);
        status = claim_cases_find(self->claims, options->kernel, &self->cases, error);
    }
    return status;
}

static enum status open_devices(struct reconciliation *self, const struct reconcile_options *options,
                                struct error *error)
{
    enum status status = STATUS_OK;
    if (options->scenario != NULL) {
        status = question_open(&self->question, options->scenario, &options->question, error);
        self->has_question = status == STATUS_OK;
        self->devices_known = self->question.catalogue;
    } else {
        status = device_catalogue_create(&self->catalogue, error);
        if (status == STATUS_OK && options->question.device_file != NULL) {
            status = device_catalogue_add_file(self->catalogue, options->question.device_file, NULL, error);
        }
        self->devices_known = self->catalogue;
    }
    for (size_t i = 0; i < options->devices.count && status == STATUS_OK; i++) {
        status = device_catalogue_find(self->devices_known, options->devices.items[i],
                                       &self->devices[self->device_count++], error);
    }
    if (status == STATUS_OK && self->has_question && self->device_count == 0) {
        self->devices[self->device_count++] = self->question.device;
    }
    return status;
}

static enum status answer(const struct reconciliation *self, enum output_format format, struct error *error)
{
    struct report report = {0};
    if (format == OUTPUT_FORMAT_TEXT) {
        return reconcile_print(self, error);
    }
    reconcile_record(self, &report);
    enum status status = report_print(&report, format, "cases", stdout, error);
    report_release(&report);
    return status;
}

static bool matters(const struct reconciliation *self)
{
    for (size_t i = 0; i < self->cases.count; i++) {
        if (self->conclusions[i].matters == RECONCILE_YES) {
            return true;
        }
    }
    return false;
}

int command_reconcile(int argc, char **argv)
{
    struct reconcile_options options;
    struct reconciliation self = {0};
    struct error error = {0};
    int code = 0;
    enum status status = read_options(argc, argv, &options, &error);
    if (status == STATUS_OK) {
        status = read_claims(&self, &options, &error);
    }
    if (status == STATUS_OK) {
        status = open_devices(&self, &options, &error);
    }
    self.names_kernel = options.kernel != NULL;
    if (status == STATUS_OK) {
        status = reconcile_conclude(&self, &error);
    }
    if (status == STATUS_OK) {
        status = answer(&self, options.format, &error);
    }
    if (status != STATUS_OK) {
        code = command_fail("reconcile", &error);
    } else if (matters(&self)) {
        code = status_exit_code(STATUS_TOLERANCE_FAILED);
    }
    free(self.conclusions);
    arena_release(&self.arena);
    claim_cases_release(&self.cases);
    evidence_release(&self.evidence);
    question_release(&self.question);
    device_catalogue_free(self.catalogue);
    return code;
}
