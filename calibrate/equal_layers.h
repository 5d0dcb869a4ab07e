/* SPDX-License-Identifier: GPL-3.0-or-later
 * Measured configurations that describe the same layer: knobs that the description does not use make many of them in
 * foreign tables. What costs time per layer is then done once. Used by compare. */
#ifndef OCCAM_CALIBRATE_EQUAL_LAYERS_H
#define OCCAM_CALIBRATE_EQUAL_LAYERS_H

#include <stddef.h>

#include "base/status.h"
#include "calibrate/measured_rows.h"

struct equal_layers {
    size_t count;  /* different layers */
    size_t *first; /* count: a row of each, the first one */
    size_t *layer; /* by row: which of them it is */
};

/* STATUS_NO_MEMORY. Release with equal_layers_release, also after an error. */
MUST_CHECK enum status equal_layers_find(const struct measured_rows *rows, struct equal_layers *layers,
                                         struct error *error);
void equal_layers_release(struct equal_layers *layers);

#endif
