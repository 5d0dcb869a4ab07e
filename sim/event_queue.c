/* SPDX-License-Identifier: GPL-3.0-or-later
 * A heap with four children per node: half the levels of a binary one, and siblings share a cache line. */
#include "sim/event_queue.h"

#include <stdbool.h>

#include "base/status.h"

enum {
    CHILDREN = 4
};

static inline bool is_before(const struct event *a, const struct event *b)
{
    return a->time_s < b->time_s || (a->time_s == b->time_s && a->order < b->order);
}

void event_queue_init(struct event_queue *queue, struct event *storage, uint32_t capacity, double now_s)
{
    *queue = (struct event_queue){.heap = storage, .capacity = capacity, .now_s = now_s};
}

static inline struct event new_event(struct event_queue *queue, double time_s, uint32_t subject)
{
    if (!(time_s >= queue->now_s))
        BUG("event at %g s when it is %g s already", time_s, queue->now_s);
    return (struct event){.time_s = time_s, .order = queue->next_order++, .subject = subject};
}

void event_queue_push(struct event_queue *queue, double time_s, uint32_t subject)
{
    const struct event event = new_event(queue, time_s, subject);
    if (queue->count == queue->capacity)
        BUG("more than %u events at once", queue->capacity);
    uint32_t place = queue->count++;
    while (place > 0) {
        const uint32_t parent = (place - 1) / CHILDREN;
        if (!is_before(&event, &queue->heap[parent]))
            break;
        queue->heap[place] = queue->heap[parent];
        place = parent;
    }
    queue->heap[place] = event;
}

uint32_t event_queue_take(struct event_queue *queue)
{
    if (queue->count == 0)
        BUG("no event is left");
    const struct event *first = &queue->heap[0];
    if (first->time_s < queue->now_s)
        BUG("event of %g s comes out at %g s", first->time_s, queue->now_s);
    queue->now_s = first->time_s;
    queue->taken++;
    return first->subject;
}

static void sink(struct event_queue *queue, struct event event)
{
    struct event *heap = queue->heap;
    const uint32_t count = queue->count;
    uint32_t place = 0;
    for (;;) {
        const uint32_t first = place * CHILDREN + 1;
        if (first >= count)
            break;
        const uint32_t end = first + CHILDREN < count ? first + CHILDREN : count;
        uint32_t least = first;
        for (uint32_t child = first + 1; child < end; child++)
            least = is_before(&heap[child], &heap[least]) ? child : least;
        if (!is_before(&heap[least], &event))
            break;
        heap[place] = heap[least];
        place = least;
    }
    heap[place] = event;
}

void event_queue_replace(struct event_queue *queue, double time_s)
{
    sink(queue, new_event(queue, time_s, queue->heap[0].subject));
}

void event_queue_drop(struct event_queue *queue)
{
    const struct event last = queue->heap[--queue->count];
    if (queue->count > 0)
        sink(queue, last);
}
