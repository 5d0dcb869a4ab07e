/* SPDX-License-Identifier: GPL-3.0-or-later
 * What this machine has, looked up without linking against any of it. Used by cli/command_doctor.c. */
#ifndef OCCAM_CLI_DOCTOR_PROBE_H
#define OCCAM_CLI_DOCTOR_PROBE_H

#include <stdbool.h>

enum {
    PROBE_TEXT_SIZE = 1024
};

struct probe {
    bool found;
    char text[PROBE_TEXT_SIZE]; /* what was found, or what is missing */
};

/* The driver library, loaded only for this question, and the GPUs that it names. */
struct probe probe_gpu(void);
/* The CUDA compiler in PATH or below $CUDA_HOME or /usr/local/cuda. */
struct probe probe_nvcc(void);
/* The run-time compiler library. */
struct probe probe_nvrtc(void);
struct probe probe_gnuplot(void);

#endif
