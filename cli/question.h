/* SPDX-License-Identifier: GPL-3.0-or-later
 * What predict, curve, plot, sweep and whatif are asked: a scenario, a device, changed values; opened once, with
 * everything a prediction needs. */
#ifndef OCCAM_CLI_QUESTION_H
#define OCCAM_CLI_QUESTION_H

#include "cli/options.h"
#include "cli/step_law.h"
#include "evidence/scenario/scenario.h"
#include "model/describe/model_parameters.h"
#include "model/predict/calibrated_time.h"

enum {
    CONCURRENCY_MAX = 100000, /* the largest that can be asked for; where the search for the ITL limit stops */
    QUESTION_VALUES_MAX = SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX
};

struct question_options {
    const char *device, *device_file;
    struct text_list assignments;
    bool free_values;
    double level;
    const char *form;        /* of the step time; NULL: the scenario's own */
    const char *calibration; /* file or name; NULL: the scenario's own; "none" */
    const char *text;        /* the scenario itself, in place of the file; NULL: the file */
    size_t text_length;
    bool form_only; /* leave a calibration's residual process out: for comparisons (MODEL.md CAL-11) */
    enum output_format format;
};

/* Rows of the options above for a command's table; set options.level to QUESTION_LEVEL_DEFAULT before parsing. */
#define QUESTION_OPTION_ROWS(options)                                                                                  \
    {'s', "set", OPTION_LIST, &(options).assignments, 0, 0}, {0, "free", OPTION_FLAG, &(options).free_values, 0, 0},   \
        {0, "device", OPTION_TEXT, &(options).device, 0, 0},                                                           \
        {0, "device-file", OPTION_TEXT, &(options).device_file, 0, 0},                                                 \
        {0, "form", OPTION_TEXT, &(options).form, 0, 0},                                                               \
        {0, "calibration", OPTION_TEXT, &(options).calibration, 0, 0},                                                 \
    {                                                                                                                  \
        0, "level", OPTION_NUMBER, &(options).level, 0.5, 0.999                                                        \
    }
#define QUESTION_FORMAT_ROW(options)                                                                                   \
    {                                                                                                                  \
        0, "format", OPTION_FORMAT, &(options).format, 0, 0                                                            \
    }
#define QUESTION_LEVEL_DEFAULT 0.9

struct question {
    struct device_catalogue *catalogue;
    struct scenario *scenario;
    struct scenario_evaluator *evaluator;
    const struct gpu_device *device;
    double base[QUESTION_VALUES_MAX];   /* base configuration; the concurrency as asked */
    double values[QUESTION_VALUES_MAX]; /* as asked */
    bool knobs_changed;                 /* some knob differs from the base */
    bool workload_changed;              /* some workload variable besides the concurrency does */
    bool outside_lists;                 /* a value is not among those the scenario lists */
    bool other_device;                  /* not the GPU on which the scenario's step time was measured */
    struct model_parameters parameters;
    struct calibration *calibration;                      /* owned; NULL: uncalibrated */
    struct calibrated_model *calibrated;                  /* owned; of that calibration, when timed */
    double learnt_level;                                  /* at which its intervals were learnt; NaN without one */
    double log_factor[PARAMETER_COUNT * PARAMETER_COUNT]; /* parameters.log_factor points here */
    bool other_calibration_device; /* the calibration was made on another GPU: it extrapolates everywhere */
    bool other_calibration_kernel; /* it was made with another scenario: likewise */
    bool timed;                    /* time_model is ready; else untimed says what is missing */
    struct time_model time_model;
    struct error untimed;
    double level;
    struct serving_model serving; /* the scenario's; its scatter filled in from measured points where the law was
                                     only given */
    const char *form;             /* as asked for on the command line; NULL: not */
    struct step_law law;          /* which law, and why */
    char step_basis[160];         /* where the step-time law and its interval come from, one clause */
    bool step_interval_known;     /* else lower and upper ends are NaN */
    double step_z;                /* two-sided quantile for the base law: normal, or Student's t for few points */
};

/* Reads everything; "-" as a path is standard input. Zero-initialise *question; release it also after an error. */
MUST_CHECK enum status question_open(struct question *question, const char *scenario_path,
                                     const struct question_options *options, struct error *error);
/* The same where times are needed: what keeps them from being predicted is an error too. */
MUST_CHECK enum status question_open_timed(struct question *question, const char *scenario_path,
                                           const struct question_options *options, struct error *error);
void question_release(struct question *question);
/* Asks the opened question of other values of its variables. */
void question_set_values(struct question *question, const double *values);
/* The time of a layer: calibrated where there is a calibration, with time, kernels and interval in result->layer moved
 * along; else the form's own, never extrapolating. */
void question_predict_layer(const struct question *question, const struct layer_case *layer,
                            struct calibrated_time *result);
/* Reads the calibration that is asked for, if any, into question->parameters and the models; warns on stderr of what
 * does not match. Part of question_open. */
MUST_CHECK enum status question_take_calibration(struct question *question, const struct question_options *options,
                                                 struct error *error);
/* Recomputes step_basis, step_interval_known and step_z after question->serving was changed. */
void question_judge_step_law(struct question *question);
/* The concurrency that values ask for; 1 where the scenario has no such variable. */
double question_concurrency(const struct question *question, const double *values);
/* Reads an objective "throughput@C=96" (C by the scenario's name for it); STATUS_USAGE for anything else. */
MUST_CHECK enum status question_read_throughput_at(const struct question *question, const char *objective,
                                                   double *concurrency, struct error *error);
/* Copies question->values with the concurrency replaced (where the scenario has one). */
void question_values_at(const struct question *question, const double *values, double concurrency, double *out);

#endif
