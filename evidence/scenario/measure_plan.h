/* SPDX-License-Identifier: GPL-3.0-or-later
 * Plans of measurements in YAML, turned into the plain form that calibrate/campaign.h reads. Which kernels and settings
 * there are is not known here. Syntax: docs/DATA.md. */
#ifndef OCCAM_EVIDENCE_SCENARIO_MEASURE_PLAN_H
#define OCCAM_EVIDENCE_SCENARIO_MEASURE_PLAN_H

#include <stddef.h>

#include "base/status.h"
#include "base/text_buffer.h"

/* text[0..length) is the file, name its name for messages. plain receives one line per entry, each (where entries do
 * not share one) on the line of the file that it comes from, so that later messages name the right one. Errors carry
 * file, line and column. Release plain with text_buffer_release, also after an error. */
MUST_CHECK enum status measure_plan_convert(const char *text, size_t length, const char *name,
                                            struct text_buffer *plain, struct error *error);

#endif
