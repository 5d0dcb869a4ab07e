/* SPDX-License-Identifier: GPL-3.0-or-later
 * Integrals per interval; neighbours are joined when there are too many. */
#include "sim/queue_history.h"

#include <math.h>

#define FIRST_WIDTH_S 0x1p-20

static void join_neighbours(struct queue_history *history)
{
    for (size_t i = 0; i < QUEUE_HISTORY_INTERVALS / 2; i++) {
        const struct queue_interval *left = &history->intervals[2 * i], *right = left + 1;
        struct queue_interval joined = {.waiting_s = left->waiting_s + right->waiting_s,
                                        .running_s = left->running_s + right->running_s,
                                        .kv_token_s = left->kv_token_s + right->kv_token_s};

        history->intervals[i] = joined;
    }
    for (size_t i = QUEUE_HISTORY_INTERVALS / 2; i < QUEUE_HISTORY_INTERVALS; i++)
        history->intervals[i] = (struct queue_interval){0};
    history->width_s *= 2.0;
    history->count = (history->count + 1) / 2;
}

void queue_history_add(struct queue_history *history, double from_s, double to_s, double waiting, double running,
                       double kv_tokens)
{
    if (history->width_s == 0.0)
        history->width_s = FIRST_WIDTH_S;
    while (to_s > history->width_s * QUEUE_HISTORY_INTERVALS)
        join_neighbours(history);
    size_t index = (size_t)(from_s / history->width_s);

    while (from_s < to_s && index < QUEUE_HISTORY_INTERVALS) {
        double end = fmin(to_s, history->width_s * (double)(index + 1)), span = end - from_s;
        struct queue_interval *interval = &history->intervals[index];

        interval->waiting_s += waiting * span;
        interval->running_s += running * span;
        interval->kv_token_s += kv_tokens * span;
        from_s = end;
        history->count = index + 1 > history->count ? index + 1 : history->count;
        index++;
    }
    history->end_s = fmax(history->end_s, to_s);
}

double queue_history_waiting(const struct queue_history *history, double from_s, double to_s)
{
    double sum = 0.0;

    for (size_t i = 0; i < history->count; i++) {
        double begin = history->width_s * (double)i, end = begin + history->width_s;
        double inside = fmin(end, to_s) - fmax(begin, from_s), recorded = fmin(end, history->end_s) - begin;

        if (inside > 0.0 && recorded > 0.0)
            sum += history->intervals[i].waiting_s * fmin(1.0, inside / recorded);
    }
    return to_s > from_s ? sum / (to_s - from_s) : 0.0;
}
