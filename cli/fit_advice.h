/* SPDX-License-Identifier: GPL-3.0-or-later
 * The smallest changes of knobs that make an infeasible configuration fit. Used by predict and whatif. */
#ifndef OCCAM_CLI_FIT_ADVICE_H
#define OCCAM_CLI_FIT_ADVICE_H

#include "evidence/scenario/scenario.h"

enum {
    FIT_ADVICE_CHANGES_MAX = 2,
    FIT_ADVICE_MAX = 12,
    FIT_ADVICE_TRIES_MAX = 200000 /* evaluations; pairs beyond it are not looked at, and truncated says so */
};

struct fit_change {
    size_t knob; /* variable index */
    double value;
};

struct fit_option {
    uint32_t change_count;
    struct fit_change changes[FIT_ADVICE_CHANGES_MAX];
    uint64_t smem_bytes;  /* of the first kernel, static + dynamic */
    uint32_t ctas_per_sm; /* of the first kernel */
    unsigned distance;    /* steps along the knobs' lists */
};

struct fit_advice {
    size_t count;
    struct fit_option options[FIT_ADVICE_MAX]; /* nearest first */
    bool truncated;
};

/* Tries every other listed value of every knob alone, and pairs of knobs if no single change fits. Configurations that
 * a constraint forbids or whose expressions fail are no advice. limits: of the device asked for. */
MUST_CHECK enum status fit_advice_find(const struct scenario *scenario, struct scenario_evaluator *evaluator,
                                       const struct gpu_limits *limits, const double *values, struct fit_advice *advice,
                                       struct error *error);
/* "block_h=16" or "block_h=16 and BLOCK_T=32" into out; returns out. */
const char *fit_option_text(const struct scenario *scenario, const struct fit_option *option, char *out,
                            size_t out_size);

#endif
