/* SPDX-License-Identifier: GPL-3.0-or-later
 * The event queue against sorting, and what it must refuse. */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "sim/event_queue.h"

enum {
    EVENTS = 300,
    OUR_MISTAKE = 70
};

START_TEST(events_come_in_order)
{
    static struct event storage[EVENTS];
    struct event_queue queue;
    struct random_stream random;
    double last_s = 0;
    uint32_t pushed = 0, taken = 0;
    random_init(&random, 5, 1);
    event_queue_init(&queue, storage, EVENTS, 0);
    while (taken < 20 * EVENTS) {
        const bool push = queue.count == 0 || (queue.count < EVENTS && random_below(&random, 3) > 0);
        const double time_s = queue.now_s + random_below(&random, 4); /* many equal times */
        if (push) {
            event_queue_push(&queue, time_s, pushed++);
            continue;
        }
        for (uint32_t i = 0; i < queue.count; i++)
            if (!(storage[i].time_s >= storage[0].time_s))
                ck_abort_msg("event %u is earlier than the first", i);
        (void)event_queue_take(&queue);
        if (!(queue.now_s >= last_s))
            ck_abort_msg("%g after %g", queue.now_s, last_s);
        last_s = queue.now_s;
        taken++;
        if (random_below(&random, 2) > 0)
            event_queue_replace(&queue, time_s > queue.now_s ? time_s : queue.now_s);
        else
            event_queue_drop(&queue);
    }
    ck_assert_uint_eq(queue.taken, taken);
}
END_TEST

START_TEST(equal_times_keep_their_order)
{
    struct event storage[64];
    struct event_queue queue;
    event_queue_init(&queue, storage, 64, 1);
    for (uint32_t i = 0; i < 64; i++)
        event_queue_push(&queue, 1 + i % 3, i);
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = k; i < 64; i += 3) {
            if (event_queue_take(&queue) != i)
                ck_abort_msg("event %u came out of order", (unsigned)i);
            event_queue_drop(&queue);
        }
    ck_assert_uint_eq(queue.count, 0);
}
END_TEST

START_TEST(the_past_is_refused)
{
    struct event storage[2];
    struct event_queue queue;
    event_queue_init(&queue, storage, 2, 3);
    event_queue_push(&queue, 2.999, 0);
}
END_TEST

START_TEST(no_number_is_refused)
{
    struct event storage[2];
    struct event_queue queue;
    event_queue_init(&queue, storage, 2, 3);
    event_queue_push(&queue, (double)NAN, 0);
}
END_TEST

START_TEST(a_full_queue_is_refused)
{
    struct event storage[1];
    struct event_queue queue;
    event_queue_init(&queue, storage, 1, 0);
    event_queue_push(&queue, 1, 0);
    event_queue_push(&queue, 1, 1);
}
END_TEST

Suite *suite_event_queue(void);
Suite *suite_event_queue(void)
{
    Suite *suite = suite_create("event_queue");
    TCase *tcase = tcase_create("queue");
    tcase_add_test(tcase, events_come_in_order);
    tcase_add_test(tcase, equal_times_keep_their_order);
    const char *fork_mode = getenv("CK_FORK"); /* these end the process, which only a forked test survives */
    suite_add_tcase(suite, tcase);
    if (fork_mode != NULL && strcmp(fork_mode, "no") == 0)
        return suite;
    tcase_add_exit_test(tcase, the_past_is_refused, OUR_MISTAKE);
    tcase_add_exit_test(tcase, no_number_is_refused, OUR_MISTAKE);
    tcase_add_exit_test(tcase, a_full_queue_is_refused, OUR_MISTAKE);
    return suite;
}
