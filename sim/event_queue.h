/* SPDX-License-Identifier: GPL-3.0-or-later
 * Events in order of time: a heap of small structs in memory of the caller. Equal times come out in the order in which
 * they were put in, so that a run repeats to the last digit. Used by the simulators. */
#ifndef OCCAM_SIM_EVENT_QUEUE_H
#define OCCAM_SIM_EVENT_QUEUE_H

#include <stdint.h>

struct event {
    double time_s;
    uint32_t order;   /* of insertion */
    uint32_t subject; /* whose event it is: the simulator's own numbering */
};

struct event_queue {
    struct event *heap; /* borrowed; four children per node */
    uint32_t count, capacity, next_order;
    double now_s; /* time of the last event taken */
    uint64_t taken;
};

enum {
    EVENT_QUEUE_EVENTS_MAX = 2000000000 /* order does not wrap before */
};

/* storage holds capacity events and outlives the queue. */
void event_queue_init(struct event_queue *queue, struct event *storage, uint32_t capacity, double now_s);
/* time_s >= now; an event in the past, NaN, or more events than the capacity is a BUG. */
void event_queue_push(struct event_queue *queue, double time_s, uint32_t subject);
/* Makes the earliest event now and returns its subject; it stays until event_queue_replace or event_queue_drop. The
 * queue is not empty. Events pushed meanwhile come after it. */
uint32_t event_queue_take(struct event_queue *queue);
/* The event taken last happens again at time_s >= now, or is over. */
void event_queue_replace(struct event_queue *queue, double time_s);
void event_queue_drop(struct event_queue *queue);

#endif
