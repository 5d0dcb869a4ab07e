/* SPDX-License-Identifier: GPL-3.0-or-later
 * The number a program prints as its result, with its unit. Used by user_command.c. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_PRINTED_NUMBER_H
#define OCCAM_CALIBRATE_EXPERIMENT_PRINTED_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum printed_unit {
    PRINTED_UNIT_NONE,
    PRINTED_UNIT_TIME,   /* ns, us, ms, s, min, h and their spellings */
    PRINTED_UNIT_TOKENS, /* tokens per second */
    PRINTED_UNIT_OTHER,  /* another rate: GB/s, GFLOPS */
    PRINTED_UNIT_UNKNOWN /* a word where a unit stands, and no unit that is known: 5 bananas */
};

struct printed_number {
    double value; /* as printed; of 5 min 30 s: 330 s */
    enum printed_unit unit;
    double unit_us;     /* of a time: what one is in microseconds; else NaN */
    char unit_name[16]; /* as printed, "" without one; an unknown word may be cut */
};

/* The last number of a text that is a word of its own, or directly followed by a unit of time or rate: 9us and 12.5
 * GB/s are, v2, 10x, 3rd, 97%, 12:30:45, 2026-11-30 and 3/10 are none. A unit may stand behind a space, on the same
 * line; on one line a number with a unit goes before those without that follow it: 12.5 us (best of 10) is 12.5 us. A
 * word of letters that stands there instead and ends its line, or what a bracket or comma ends, is an unknown unit: 9
 * runs, but not 9 runs in all. false: there is none, or (*ambiguous) its commas may separate thousands or numbers
 * (1,234). */
bool printed_number_last(const char *text, size_t length, struct printed_number *number, bool *ambiguous);

#endif
