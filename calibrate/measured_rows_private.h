/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the files behind measured_rows.h share: lines of files (measured_lines.c) become configurations
 * (measured_rows.c). */
#ifndef OCCAM_CALIBRATE_MEASURED_ROWS_PRIVATE_H
#define OCCAM_CALIBRATE_MEASURED_ROWS_PRIVATE_H

#include "calibrate/measured_rows.h"
#include "model/predict/kernel_time.h"

/* One usable line of a file. Its values lie in reader.values at index x variable count. */
struct raw_row {
    double time_s, clock_mhz;
    unsigned line;
    uint32_t file;
};

struct measured_reader {
    const struct scenario *scenario;
    const struct measured_rows_options *options;
    const char *const *paths;
    struct measured_rows *out;
    struct scenario_evaluator *evaluator;
    struct time_model model;
    size_t raw_count, raw_capacity, width;
    struct raw_row *raw;
    double *values;
    char kernel[128];   /* of the rows taken; "" until one is seen */
    char time_name[64]; /* of the column in the first file */
    size_t forbidden;   /* rows that a `require` line excludes */
    bool several_gpus, several_drivers;
};

enum {
    MEASURED_UNIT_COUNT = 4
};
/* From nanoseconds to seconds, a factor of a thousand each: "nanoseconds", ...; static. */
const char *measured_unit_name(int unit);
/* By the ending of the column's name; -1: it says none. */
int measured_unit_of(const char *column);

/* False: a column `device` that says nothing: "", n/a, unknown, ?. */
bool measured_device_is_told(const char *text);
/* "NVIDIA H200", "H200" and "nvidia-h200" are one GPU, "RTX 5070" and "RTX 5070 Ti" two. */
bool measured_device_is_same(const char *left, const char *right);

/* One line of warning, as long as there is room. */
void measured_rows_warn(struct measured_rows *out, const char *text);
/* Appends the usable lines of paths[file] to raw and values, and adds the file's bytes to the hash. */
MUST_CHECK enum status measured_lines_read(struct measured_reader *self, uint32_t file, struct error *error);

#endif
