/* SPDX-License-Identifier: GPL-3.0-or-later
 * The model's time for a configuration of a verification kernel, for a campaign that predicts first. */
#ifndef OCCAM_CALIBRATE_MEASURE_PREDICTOR_H
#define OCCAM_CALIBRATE_MEASURE_PREDICTOR_H

#include "calibrate/campaign.h"

struct measure_predictor; /* opaque */

/* program: version and revision, part of what the hash of a prediction covers. */
MUST_CHECK enum status measure_predictor_create(const char *program, struct measure_predictor **predictor,
                                                struct error *error);
void measure_predictor_free(struct measure_predictor *predictor);
/* A campaign_predict_function; context is the predictor. Kernels without a built-in scenario, and GPUs without a device
 * file, get no time. */
void measure_predictor_predict(void *context, const struct measure_facts *facts, const struct measure_config *config,
                               const struct measure_result *resources, struct campaign_prediction *prediction);

struct layer_case;
/* What the compiler said of a build takes the place of the layer's registers, SMEM and spills. False where the stages
 * are not the layer's kernels, which is then half changed. */
bool measure_resources_take(const struct measure_result *resources, struct layer_case *layer);

#endif
