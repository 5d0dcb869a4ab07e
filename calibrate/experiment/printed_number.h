/* SPDX-License-Identifier: GPL-3.0-or-later
 * The number a program prints as its result, with its unit. Used by user_command.c. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_PRINTED_NUMBER_H
#define OCCAM_CALIBRATE_EXPERIMENT_PRINTED_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum printed_unit {
    PRINTED_UNIT_NONE,
    PRINTED_UNIT_TIME,   /* ns, us, ms, s, min, h and their spellings, also of one step, launch, ...: ms/step */
    PRINTED_UNIT_TOKENS, /* tokens per second */
    PRINTED_UNIT_OTHER,  /* another rate: GB/s, GFLOPS, it/s */
    PRINTED_UNIT_UNKNOWN /* a word where a unit stands, and no unit that is known: 5 bananas */
};

/* Why a number may be another one than was read. */
enum printed_doubt {
    PRINTED_DOUBT_NONE,
    PRINTED_DOUBT_THOUSANDS,     /* 1,234 without a unit: thousands or two numbers */
    PRINTED_DOUBT_DECIMAL_COMMA, /* 12,5 */
    PRINTED_DOUBT_SPACE          /* 1 234 us */
};

struct printed_number {
    double value; /* as printed; of 5 min 30 s: 330 s */
    enum printed_unit unit;
    double unit_size;   /* what one is in microseconds (a time) or tokens/s; else NaN */
    char unit_name[16]; /* as printed, "" without one; may be cut */
    enum printed_doubt doubt;
};

/* The result in a program's output: the last number with a unit of the kind that is wanted, wherever it stands; without
 * one, the last bare number that follows no number with a unit on its line and none with a unit of another kind
 * anywhere; else the last number of another kind or with an unknown word for its unit. A number is a word of its own,
 * or directly followed by a known unit: 9us and 12.5 GB/s are, v2, 10x, 3rd, 97%, 12:30:45, 2026-11-30 and 3/10 are
 * none. A unit stands behind the number on its line, in brackets before it (time [ms]: 9), or ends the name before it
 * (time_ms=9, TFLOPS: 9). A word of letters that ends its line, or what a bracket or comma ends, is an unknown unit: 9
 * runs, but not 9 runs in all. What follows ±, +-, +/- or
 * std is no result. Units of several words count: tokens per second, output tok/s. false: there is none. */
bool printed_number_find(const char *text, size_t length, enum printed_unit wanted, struct printed_number *number);

#endif
