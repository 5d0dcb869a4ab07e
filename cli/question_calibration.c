/* SPDX-License-Identifier: GPL-3.0-or-later
 * The calibration behind a question: which one, whether it fits, and times by it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/calibration_match.h"
#include "cli/question.h"
#include "evidence/calibration_file.h"
#include "model/predict/calibration_transfer.h"

static void warn_of_differences(const struct question *question)
{
    struct calibration_match match;

    calibration_match_scenario(question->calibration, question->scenario, &match);
    for (unsigned i = 0; i < match.count; i++)
        (void)fprintf(stderr, "occam: warning: calibration %s: %s\n", question->calibration->name, match.texts[i]);
}

/* The stretch was learnt from how the training rows scattered at the calibration's own level; at another one it is the
 * normal distribution's guess (CAL-11). */
static void warn_of_level(const struct question *question, double level)
{
    char learnt[32], asked[32];

    if (fabs(question->calibration->interval_level - level) < 1e-9)
        return;
    (void)fprintf(
        stderr,
        "occam: warning: calibration %s: its intervals were learnt at %s %%; at %s %% they are stretched as a "
        "normal distribution's, which nothing has checked\n",
        question->calibration->name, number_format_digits(100 * question->calibration->interval_level, 4, learnt),
        number_format_digits(100 * level, 4, asked));
}

/* A calibration of another scenario is taken for one of another kernel. The device of the calibration takes its place
 * in the catalogue by name; where it is not there, its figures count as assumed. */
static void carry_over(struct question *question)
{
    const struct gpu_device *from = NULL;
    struct error ignored = {0};

    question->other_calibration_kernel =
        strcmp(question->calibration->scenario, scenario_name(question->scenario)) != 0;
    if (question->other_calibration_kernel)
        calibration_transfer_kernel(question->calibration);
    question->other_calibration_device = strcmp(question->calibration->device, question->device->name) != 0;
    if (!question->other_calibration_device)
        return;
    if (device_catalogue_find(question->catalogue, question->calibration->device, &from, &ignored) != STATUS_OK)
        from = NULL;
    calibration_transfer(question->calibration, from, question->device);
}

static enum status open_calibration(struct question *question, const char *name, struct error *error)
{
    question->calibration = malloc(sizeof *question->calibration);
    question->calibrated = malloc(sizeof *question->calibrated);
    if (question->calibration == NULL || question->calibrated == NULL) {
        free(question->calibration);
        question->calibration = NULL;
        return error_set(error, STATUS_NO_MEMORY, "no memory for a calibration");
    }
    return calibration_file_read(name, question->calibration, error);
}

enum status question_take_calibration(struct question *question, const struct question_options *options,
                                      struct error *error)
{
    const char *name = options->calibration ? options->calibration : scenario_calibration(question->scenario);
    enum status status;

    model_parameters_init(&question->parameters);
    question->parameters.interval_level = options->level;
    question->learnt_level = (double)NAN;
    if (name == NULL || strcmp(name, "none") == 0)
        return STATUS_OK;
    status = open_calibration(question, name, error);
    if (status != STATUS_OK)
        return status;
    warn_of_differences(question);
    carry_over(question);
    question->learnt_level = question->calibration->interval_level;
    warn_of_level(question, options->level);
    calibration_set_level(question->calibration, options->level);
    if (options->form_only)
        calibration_release(question->calibration);
    question->parameters = question->calibration->parameters;
    covariance_factor_compute(&question->calibration->covariance[0][0], question->log_factor);
    question->parameters.log_factor = question->log_factor;
    return STATUS_OK;
}

/* What the process adds to the layer, its kernels share in proportion; so they do in its interval. */
static void move_layer(struct calibrated_time *result)
{
    struct layer_time *layer = &result->layer;
    const double factor = result->time_s / layer->time_s, lo = result->time_lo_s / result->time_s,
                 hi = result->time_hi_s / result->time_s;

    for (uint32_t k = 0; k < layer->kernel_count; k++) {
        layer->kernels[k].time_s *= factor;
        layer->kernels[k].time_lo_s = layer->kernels[k].time_s * lo;
        layer->kernels[k].time_hi_s = layer->kernels[k].time_s * hi;
    }
    layer->time_s = result->time_s;
    layer->time_lo_s = result->time_lo_s;
    layer->time_hi_s = result->time_hi_s;
}

void question_predict_layer(const struct question *question, const struct layer_case *layer,
                            struct calibrated_time *result)
{
    if (question->calibration != NULL) {
        calibrated_time_predict(question->calibrated, layer, result);
        if (result->layer.feasible && result->layer.time_s > 0)
            move_layer(result);
        result->extrapolating =
            result->extrapolating || question->other_calibration_device || question->other_calibration_kernel;
        return;
    }
    memset(result, 0, sizeof *result);
    layer_time_predict(&question->time_model, layer, &result->layer);
    result->time_s = result->layer.time_s;
    result->time_lo_s = result->layer.time_lo_s;
    result->time_hi_s = result->layer.time_hi_s;
}
