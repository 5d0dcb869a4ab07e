/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs gnuplot as a child process, feeds it a script, collects what it prints. Used by plots/figure.c only. */
#ifndef OCCAM_PLOTS_GNUPLOT_PIPE_H
#define OCCAM_PLOTS_GNUPLOT_PIPE_H

#include <stddef.h>

#include "base/status.h"
#include "base/text_buffer.h"

/* Runs `gnuplot ARGUMENT` (found through PATH, no shell, no user start-up files) with script on its standard input.
 * argument: "-d" to run the script, "--version" to ask. script may be NULL. What gnuplot writes to standard output is
 * appended to *output (binary safe); the caller releases it also after an error.
 * STATUS_MISSING when there is no gnuplot, STATUS_IO with the first line of its complaint when it fails or dies,
 * STATUS_NO_MEMORY. The caller's signal dispositions are not touched. */
MUST_CHECK enum status gnuplot_run(const char *argument, const char *script, size_t script_length,
                                   struct text_buffer *output, struct error *error);

#endif
