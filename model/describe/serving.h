/* SPDX-License-Identifier: GPL-3.0-or-later
 * How kernels make up a serving step, and what has been measured of the step. */
#ifndef OCCAM_MODEL_DESCRIBE_SERVING_H
#define OCCAM_MODEL_DESCRIBE_SERVING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum {
    SERVING_LAYER_GROUPS_MAX = 16,
    SERVING_POINTS_MAX = 512,
    STEP_TIME_PARAMETERS_MAX = 6,
    STEP_TIME_MEMBERS_MAX = 4,
    CAPTURED_SIZES_MAX = 512
};

/* One point of a measured concurrency table. */
struct serving_point {
    double concurrency;             /* requests in the running batch, >= 1 */
    double step_time_s;             /* seconds per decode step of the whole batch */
    double relative_sigma;          /* relative standard deviation, 0 = unknown */
    double throughput_tokens_per_s; /* as measured; NaN if only a step time was given */
};

enum step_time_form {
    STEP_TIME_LINE,       /* a + b n */
    STEP_TIME_COVERAGE,   /* a + m (1 - (1 - k/E)^n) + b n : distinct experts touched */
    STEP_TIME_POWER,      /* a + b n^p */
    STEP_TIME_SQRT,       /* a + s sqrt(n) + b n */
    STEP_TIME_SATURATING, /* a + s n/(n + h) + b n */
    STEP_TIME_PADDED,     /* a + b pad(n), pad = next captured graph size */
    STEP_TIME_HINGE,      /* a + b1 n + b2 max(0, n - n0) */
    STEP_TIME_FORM_COUNT, /* how many forms can be fitted by themselves */
    STEP_TIME_COMMITTEE   /* weighted geometric mean of such forms: members instead of parameters */
};
/* "line", "coverage", ..., "committee"; static. */
const char *step_time_form_name(enum step_time_form form);
/* Free parameters of a form (2 for the line, 0 for the committee, whose members have their own). */
uint32_t step_time_form_parameter_count(enum step_time_form form);

/* One form of a committee, fitted to all of its points. */
struct step_time_member {
    enum step_time_form form; /* not PADDED or HINGE */
    double parameters[STEP_TIME_PARAMETERS_MAX];
    double weight; /* above 0; those of all members add up to 1 */
};

/* A step-time law with its parameters in seconds (documented order: as they appear in the form above, left to right;
 * POWER's last is the exponent, SATURATING's h and HINGE's n0 are requests). */
struct step_time_law {
    enum step_time_form form;
    double parameters[STEP_TIME_PARAMETERS_MAX];
    double covariance[STEP_TIME_PARAMETERS_MAX][STEP_TIME_PARAMETERS_MAX]; /* zero when given, not fitted */
    double relative_sigma;  /* residual scatter, relative to the step time; 0 when given or exactly determined */
    int degrees_of_freedom; /* points - parameters; -1 = given by the user, 0 = exact fit: nothing is validated.
                               COMMITTEE: distinct concurrencies - 1 */
    double experts_per_token, experts;         /* COVERAGE, or a member of that form: k and E, else 0 */
    uint32_t captured_count;                   /* PADDED */
    double captured_sizes[CAPTURED_SIZES_MAX]; /* ascending */
    uint32_t member_count;                     /* COMMITTEE */
    struct step_time_member members[STEP_TIME_MEMBERS_MAX];
    double fitted_lo, fitted_hi; /* COMMITTEE: least and largest concurrency of its points */
};

/* A kernel's part in the step: `count` layers whose workload variables take the given values. */
struct layer_group {
    double count;
    uint32_t override_count;
    /* what the overrides are is the scenario's business (evidence/scenario) */
};

struct serving_model {
    bool present;
    struct step_time_law base; /* the step with the base configuration */
    bool base_from_points;     /* no law is given: base is to be fitted to the points below (NaN until then) */
    char form[16];             /* form the scenario asks for: "auto", "line", ...; "" = given, or auto without a line */
    uint32_t point_count;
    struct serving_point points[SERVING_POINTS_MAX];
    double tokens_per_step_per_request; /* 1 without speculation */
    double itl_limit_s;                 /* NaN if none is set */
    double
        floor_bytes_fixed; /* bytes every step must read per GPU whatever the kernel does (dense weights); 0 unknown */
    double floor_bytes_per_expert; /* per GPU and step, per distinct expert of one layer times layers; 0 = no experts */
    double experts_per_token, experts; /* for the distinct-expert count; 0 = dense */
    double kernel_share_measured;      /* share of the base step spent in the kernels, NaN = unknown */
    double kernel_share_relative_sigma;
};

/* Ranges and completeness; STATUS_BAD_DATA names the quantity. What readers check piece by piece, with the place in the
 * file, as a whole: before a step law is used, and for programs that fill the struct themselves. */
MUST_CHECK enum status serving_model_validate(const struct serving_model *serving, struct error *error);

#endif
