/* SPDX-License-Identifier: GPL-3.0-or-later
 * The whole public interface of liboccam in one include: #include <occam.h>, flags from `pkg-config --cflags occam`. */
#ifndef OCCAM_H
#define OCCAM_H

#include "base/checked.h"
#include "base/csv.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/status.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "calibrate/step_time_committee.h"
#include "calibrate/step_time_findings.h"
#include "calibrate/step_time_fit.h"
#include "evidence/device_catalogue.h"
#include "evidence/embedded_data.h"
#include "evidence/json_writer.h"
#include "evidence/scenario/expression.h"
#include "evidence/scenario/scenario.h"
#include "model/describe/gpu_device.h"
#include "model/describe/input_source.h"
#include "model/describe/kernel_case.h"
#include "model/describe/kernel_launch.h"
#include "model/describe/model_parameters.h"
#include "model/describe/serving.h"
#include "model/describe/tile_loop.h"
#include "model/predict/kernel_time.h"
#include "model/predict/occupancy.h"
#include "model/predict/smem_rule.h"
#include "model/predict/step_time.h"
#include "model/predict/variant_effect.h"
#include "model/predict/waves.h"
#include "plots/figure.h"

#endif
