/* SPDX-License-Identifier: GPL-3.0-or-later
 * Where a number came from. Every figure that enters a prediction carries one of these. */
#ifndef OCCAM_MODEL_DESCRIBE_INPUT_SOURCE_H
#define OCCAM_MODEL_DESCRIBE_INPUT_SOURCE_H

/* Ordered from the strongest to the weakest, so that "the weakest input" is the maximum. */
enum input_source {
    INPUT_SOURCE_MEASURED,   /* timed or read off hardware */
    INPUT_SOURCE_COMPILED,   /* read off compiled code */
    INPUT_SOURCE_FITTED,     /* from a calibration */
    INPUT_SOURCE_DATASHEET,  /* vendor document */
    INPUT_SOURCE_LITERATURE, /* published measurement by others */
    INPUT_SOURCE_RULE,       /* named rule, for example Triton's shared-memory layout */
    INPUT_SOURCE_FORMULA,    /* the scenario's own expression */
    INPUT_SOURCE_USER,       /* given on the command line */
    INPUT_SOURCE_ASSUMED,    /* nobody knows; a default */
    INPUT_SOURCE_ABSENT,     /* there is no value */
    INPUT_SOURCE_COUNT
};

/* "measured", "fitted", ... ; static storage. */
const char *input_source_name(enum input_source source);

#endif
