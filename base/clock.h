/* SPDX-License-Identifier: GPL-3.0-or-later
 * Elapsed time. */
#ifndef OCCAM_BASE_CLOCK_H
#define OCCAM_BASE_CLOCK_H

/* Seconds of a clock that never goes back and stands for no date: only differences mean anything. */
double clock_now_s(void);

#endif
