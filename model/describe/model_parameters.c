/* SPDX-License-Identifier: GPL-3.0-or-later
 * The table of model parameters: defaults before any calibration, their uncertainty, their physical range. */
#include "model/describe/model_parameters.h"

#include <stdio.h>

/* Uncertainties are one standard deviation of the logarithm. Device figures taken from other people's measurements of
 * the same part agree within 5 to 10 % (docs/MODEL.md PARAM); figures carried over from another part, or with no
 * published number at all (CTA start, issue cost), are given a factor of up to two. */
/* Exponents end at 16: two equal bounds are then within 5 % of a hard maximum, and the powers of a microsecond are
 * still far from underflow. */
static const struct parameter_description descriptions[PARAMETER_COUNT] = {
    [PARAMETER_LAUNCH_FACTOR] = {"launch_factor", "1", 1.2, 0.70, 0.05, 20.0, "start and drain of a kernel"},
    [PARAMETER_CTA_START_FACTOR] = {"cta_start_factor", "1", 1.0, 0.70, 0.01, 100.0, "start of a CTA on its slot"},
    [PARAMETER_DRAM_LATENCY_FACTOR] = {"dram_latency_factor", "1", 1.2, 0.20, 0.3, 4.0, "loaded DRAM latency"},
    [PARAMETER_L2_LATENCY_FACTOR] = {"l2_latency_factor", "1", 1.0, 0.10, 0.3, 4.0, "loaded L2 latency"},
    [PARAMETER_DRAM_BANDWIDTH_FACTOR] = {"dram_bandwidth_factor", "1", 1.0, 0.06, 0.2, 1.3,
                                         "sustained DRAM bandwidth of this access pattern"},
    [PARAMETER_L2_BANDWIDTH_FACTOR] = {"l2_bandwidth_factor", "1", 1.0, 0.25, 0.1, 3.0, "sustained L2 bandwidth"},
    [PARAMETER_SM_BANDWIDTH_FACTOR] = {"sm_bandwidth_factor", "1", 1.2, 0.35, 0.1, 3.0, "L2-to-SM bandwidth of one SM"},
    [PARAMETER_SMEM_BANDWIDTH_FACTOR] = {"smem_bandwidth_factor", "1", 1.0, 0.20, 0.05, 1.1,
                                         "SMEM bandwidth (bank conflicts lower it)"},
    [PARAMETER_MMA_LATENCY_FACTOR] = {"mma_latency_factor", "1", 1.0, 0.15, 0.3, 4.0, "dependent mma.sync"},
    [PARAMETER_MMA_INTERVAL_FACTOR] = {"mma_interval_factor", "1", 1.0, 0.15, 0.6, 10.0,
                                       "issue interval of mma.sync over the peak rate's"},
    [PARAMETER_ISSUE_FACTOR] = {"issue_factor", "1", 2.0, 0.60, 0.5, 20.0,
                                "instructions issued per instruction the loop description counts"},
    [PARAMETER_ISSUE_INTERVAL] = {"issue_interval_cycles", "cycles", 2.0, 0.40, 1.0, 20.0,
                                  "between two instructions of a warp that has its sub-core to itself"},
    [PARAMETER_ITERATION_OVERHEAD] = {"iteration_overhead_cycles", "cycles", 200.0, 0.90, 1.0, 20000.0,
                                      "addresses, waits and predicates of one iteration"},
    [PARAMETER_BARRIER_FACTOR] = {"barrier_factor", "1", 1.0, 0.40, 0.1, 20.0, "CTA-wide barrier"},
    [PARAMETER_SPILL_CYCLES] = {"spill_cycles", "cycles", 12.0, 0.70, 0.1, 500.0,
                                "one warp's 4-byte access to local memory"},
    [PARAMETER_SPILL_TRAFFIC_FACTOR] = {"spill_traffic_factor", "1", 1.0, 0.70, 0.02, 20.0,
                                        "spill traffic between L1 and L2 over what capacity alone predicts"},
    [PARAMETER_OPERAND_FACTOR] = {"operand_factor", "1", 0.3, 0.90, 0.001, 10.0,
                                  "share of the SMEM latency of an operand load that its product waits for"},
    [PARAMETER_OVERLAP_EXPONENT] = {"overlap_exponent", "1", 3.0, 0.40, 1.0, 16.0,
                                    "p of the smooth maximum of the bounds of one SM", true},
    [PARAMETER_DEVICE_EXPONENT] = {"device_exponent", "1", 8.0, 0.50, 1.0, 16.0,
                                   "p of the smooth maximum of the SMs and the bandwidths they share", true},
    [PARAMETER_PIPELINE_EXPONENT] = {"pipeline_exponent", "1", 4.0, 0.40, 1.0, 16.0,
                                     "p of the smooth maximum of load and compute within one iteration", true},
};

/* Without any measurement of the kernel the form itself is trusted within a factor of two (one standard deviation
 * 0.45 -> 90 % within x/2.1): a calibrated form of this kind, moved to kernels it had never seen, was about 20 % off in
 * the median after refitting, and much worse before (docs/MODEL.md, PARAM-2). */
static const double UNCALIBRATED_LOG_SIGMA = 0.45;

const struct parameter_description *parameter_describe(enum parameter_id id)
{
    return &descriptions[id];
}

void model_parameters_init(struct model_parameters *parameters)
{
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        parameters->items[i].value = descriptions[i].default_value;
        parameters->items[i].log_sigma = descriptions[i].default_log_sigma;
        parameters->items[i].source = INPUT_SOURCE_ASSUMED;
    }
    parameters->model_log_sigma = UNCALIBRATED_LOG_SIGMA;
    snprintf(parameters->calibration, sizeof parameters->calibration, "uncalibrated");
    parameters->interval_level = 0.90;
    parameters->log_factor = NULL;
}
