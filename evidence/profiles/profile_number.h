/* SPDX-License-Identifier: GPL-3.0-or-later
 * Numbers as profilers print them: thousands separators of the user's locale, units that change from row to row, and
 * rounding, which makes an interval of a figure. Used by the readers of Nsight tables. */
#ifndef OCCAM_EVIDENCE_PROFILES_PROFILE_NUMBER_H
#define OCCAM_EVIDENCE_PROFILES_PROFILE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "evidence/profiles/kernel_claim.h"

/* What the numbers of a file say about its decimal sign; zero-initialise. */
struct number_votes {
    uint64_t point, comma; /* texts that can only be read with this decimal sign */
};
/* Counts text if it is a number that decides. "12.50" and "1,810,665" say point, "12,50" comma, "1,024" nothing. */
void number_votes_add(struct number_votes *votes, const char *text);
/* '.' unless more texts say ','. */
char number_votes_decimal(const struct number_votes *votes);

/* A number as printed; it stands for anything that rounds to it at its last decimal. */
struct printed_number {
    double value;
    int decimals; /* digits behind the decimal sign, less the exponent: 1.2e+03 has -2 */
};
/* False: no finite number ("n/a", "", "nan"), or separators that do not fit the decimal sign. Thousands may be
 * separated by the other sign, spaces (also no-break ones) or apostrophes, in groups of three. */
bool printed_number_parse(const char *text, char decimal, struct printed_number *number);
/* True for what profilers write where they have no value. */
bool is_no_value(const char *text);

/* PROFILE_UNIT_LIST is in the .c file: names as Nsight tools of all years print them. */
enum unit_kind {
    UNIT_NONE, /* "", "%", register/thread, block, SM, ... */
    UNIT_TIME,
    UNIT_BYTES,
    UNIT_UNKNOWN
};
/* low = high except for KB, MB and GB of Nsight Systems, where it is not known whether 10^3 or 2^10 is meant. */
struct unit {
    enum unit_kind kind;
    double low_scale, high_scale; /* to microseconds or bytes */
};
/* unit: "byte/block", "Kbyte", "usecond", "ns", "MB", ...; per-block endings are dropped. */
struct unit unit_parse(const char *unit);

/* What a number in this unit may have been before it was rounded, in base units; bytes are rounded outwards to whole
 * ones and are exact where the unit is the byte. No end is below 0. */
struct claim_value printed_interval(const struct printed_number *number, const struct unit *unit);

#endif
