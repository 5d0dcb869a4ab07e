/* SPDX-License-Identifier: GPL-3.0-or-later
 * Queue and batch over time in bounded memory: equal intervals that double when the run outgrows them. */
#ifndef OCCAM_SIM_QUEUE_HISTORY_H
#define OCCAM_SIM_QUEUE_HISTORY_H

#include <stddef.h>

enum {
    QUEUE_HISTORY_INTERVALS = 512
};

struct queue_interval {
    double waiting_s, running_s, kv_token_s; /* time integrals of what the interval saw */
};

struct queue_history {
    double width_s; /* of one interval; a power of two times the first width */
    double end_s;   /* time that was recorded up to */
    size_t count;   /* intervals in use */
    struct queue_interval intervals[QUEUE_HISTORY_INTERVALS];
};

/* Zero-initialise. Adds constant levels over from_s..to_s; from_s is where the last call ended. */
void queue_history_add(struct queue_history *history, double from_s, double to_s, double waiting, double running,
                       double kv_tokens);
/* Mean of the waiting requests over from_s..to_s, an interval counted by the share that lies within. */
double queue_history_waiting(const struct queue_history *history, double from_s, double to_s);

#endif
