/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam calibrate` in parts: training (calibrate_train.c, calibrate_answer.c), the choice of what to measure
 * (calibrate_design.c), drift (calibrate_check.c), figures of a GPU (calibrate_figures.c) and what there is
 * (calibrate_list.c). Used by cli/command_calibrate.c. */
#ifndef OCCAM_CLI_CALIBRATE_H
#define OCCAM_CLI_CALIBRATE_H

#include "calibrate/design.h"
#include "calibrate/kernel_calibration.h"
#include "calibrate/measured_rows.h"
#include "cli/options.h"

struct calibrate_options {
    const char *scenario, *device, *device_file;
    const char *train_rows, *output, *name, *check, *time_column, *kernel;
    bool first_kernel, figures, list;
    uint64_t train, design, seed; /* 0: not given; seed has a default */
    double level;
    enum output_format format;
};

/* What every part starts from. Zero-initialise; release with calibrate_inputs_release, also after an error. */
struct calibrate_inputs {
    struct device_catalogue *catalogue;
    struct scenario *scenario;
    struct measured_rows rows; /* none where no file was named */
};
MUST_CHECK enum status calibrate_inputs_open(struct calibrate_inputs *inputs, const struct calibrate_options *options,
                                             const char *scenario, const struct operands *files, struct error *error);
void calibrate_inputs_release(struct calibrate_inputs *inputs);

/* On rows the calibration has not seen; count 0: there were none. */
struct held_out_scores {
    size_t count;
    double median_error, p90_error, bias, coverage, half_width, rank_correlation;
};

struct calibrate_answer {
    const struct calibrate_options *options;
    const struct calibrate_inputs *inputs;
    struct calibration calibration;
    struct kernel_calibration_report report;
    struct held_out_scores held_out;
    size_t trained_on;
    char chosen[128]; /* how the rows were chosen, in words */
};

MUST_CHECK enum status calibrate_train(const struct calibrate_options *options, const struct operands *files,
                                       struct error *error);
MUST_CHECK enum status calibrate_answer_print(const struct calibrate_answer *answer, struct error *error);
/* The configurations to measure, of the scenario's whole space. */
MUST_CHECK enum status calibrate_design(const struct calibrate_options *options, struct error *error);
/* Progress of a choice on a terminal's stderr, NULL elsewhere. Static. */
const struct design_watch *calibrate_design_watch(void);
/* STATUS_TOLERANCE_FAILED, with nothing in *error, where the calibration does not hold. */
MUST_CHECK enum status calibrate_check(const struct calibrate_options *options, const struct operands *files,
                                       struct error *error);
/* Figures of the GPU that the microbenchmarks in files are of; --output writes a device file with them. */
MUST_CHECK enum status calibrate_figures(const struct calibrate_options *options, const struct operands *files,
                                         struct error *error);
MUST_CHECK enum status calibrate_list(const struct calibrate_options *options, struct error *error);

#endif
