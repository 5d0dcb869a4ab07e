/* SPDX-License-Identifier: GPL-3.0-or-later
 * The invented device `testgpu`: plausible, but with values that are all distinct and odd (37 SMs, not 64), so that a
 * missing factor or a swapped field changes the answer. */
#ifndef OCCAM_TESTS_SUPPORT_FIXTURE_DEVICE_H
#define OCCAM_TESTS_SUPPORT_FIXTURE_DEVICE_H

#include "model/describe/gpu_device.h"

/* Fills *device; strings are static. Compute capability 77.3 does not exist. */
void fixture_device_init(struct gpu_device *device);
/* Changes one figure (SI units) and marks it as given by the user. */
void fixture_device_set(struct gpu_device *device, enum gpu_figure_id id, double value_si);

#endif
