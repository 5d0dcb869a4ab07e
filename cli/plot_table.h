/* SPDX-License-Identifier: GPL-3.0-or-later
 * Figures that `occam plot` can draw. Adding one: a file cli/plot_NAME.c and a row in cli/command_plot.c. */
#ifndef OCCAM_CLI_PLOT_TABLE_H
#define OCCAM_CLI_PLOT_TABLE_H

#include "cli/throughput_curve.h"
#include "plots/figure.h"

struct plot_request {
    struct question *question;
    const struct curve_options *curve;
    const struct figure_options *figure;
};

struct plot_row {
    const char *name;
    enum status (*draw)(const struct plot_request *request, size_t *left_out, struct error *error);
};

MUST_CHECK enum status plot_throughput(const struct plot_request *request, size_t *left_out, struct error *error);

#endif
