/* SPDX-License-Identifier: GPL-3.0-or-later
 * Points of one deployment and workload put together, and what only neighbours tell of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/serving/serving_reader.h"

/* Mean lengths of one workload differ between runs by less than this factor. */
static const double length_factor = 1.5;
/* A first point that takes longer than the second by more than repeats differ. */
static const double warm_up_factor = 1.05;
static const double same_quantum = 1e-4;

static bool lengths_agree(double left, double right)
{
    return !(left > length_factor * right || right > length_factor * left);
}

static bool same_series(const struct serving_result *left, const struct serving_result *right)
{
    return left->kind == right->kind && strcmp(left->label, right->label) == 0 &&
           lengths_agree(left->input_tokens, right->input_tokens) &&
           lengths_agree(left->output_tokens, right->output_tokens);
}

/* Where a point stands on the axis of load. */
static double load_of(const struct serving_result *result)
{
    return isfinite(result->concurrency) ? result->concurrency : result->running;
}

static int compare_labels(const void *left_item, const void *right_item)
{
    const struct serving_result *left = *(const struct serving_result *const *)left_item;
    const struct serving_result *right = *(const struct serving_result *const *)right_item;
    int order = (left->kind > right->kind) - (left->kind < right->kind);

    if (order == 0)
        order = strcmp(left->label, right->label);
    if (order == 0) /* by place in the file: the first of a series names it */
        order = (left > right) - (left < right);
    return order;
}

/* Within one kind and label only, so that many labels cost no square. */
enum {
    WORKLOADS_MAX = 64 /* workloads of one label told apart; further ones join the last */
};

static void number_series(struct serving_results *results, struct serving_result **order)
{
    const struct serving_result *heads[WORKLOADS_MAX];
    unsigned first = 0, count = 0;

    for (size_t i = 0; i < results->count; i++) {
        unsigned at = 0;

        if (i > 0 && (order[i]->kind != order[i - 1]->kind || strcmp(order[i]->label, order[i - 1]->label) != 0)) {
            first += count;
            count = 0;
        }
        while (at < count && !same_series(heads[at], order[i]))
            at++;
        if (at == count && count < WORKLOADS_MAX)
            heads[count++] = order[i];
        order[i]->series = first + (at < WORKLOADS_MAX ? at : WORKLOADS_MAX - 1);
    }
    results->series_count = results->count > 0 ? first + count : 0;
}

struct place {
    struct serving_result result;
    size_t index;
};

static int compare_places(const void *left_item, const void *right_item)
{
    const struct place *left = left_item, *right = right_item;
    double left_load = load_of(&left->result), right_load = load_of(&right->result);

    if (left->result.series != right->result.series)
        return left->result.series > right->result.series ? 1 : -1;
    if (isfinite(left_load) != isfinite(right_load))
        return isfinite(left_load) ? -1 : 1;
    if (left_load > right_load || left_load < right_load)
        return left_load > right_load ? 1 : -1;
    return (left->index > right->index) - (left->index < right->index);
}

/* --- neighbours ----------------------------------------------------------------------------------------------------
 */

/* The first load against the next one. */
static void note_warm_up(struct serving_reader *reader, struct serving_result *items, size_t count)
{
    size_t next = 0;

    while (next < count && load_of(&items[next]) == load_of(&items[0]))
        next++;
    for (size_t i = 0; i < next && next < count; i++)
        if (items[i].step_time_ms > warm_up_factor * items[next].step_time_ms)
            serving_note(reader, &items[i],
                         "a step takes longer than at %.4g requests: warm-up or compilation in the first point?",
                         load_of(&items[next]));
}

/* Server logs round: the same tokens per second and request at several loads is no coincidence. */
static void note_quanta(struct serving_reader *reader, struct serving_result *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        double here = items[i].output_tokens_per_s / load_of(&items[i]);
        double before = items[i - 1].output_tokens_per_s / load_of(&items[i - 1]);

        if (load_of(&items[i]) > load_of(&items[i - 1]) && fabs(here / before - 1.0) < same_quantum)
            serving_note(reader, &items[i],
                         "%.4g tokens/s per request, as at %.4g requests: a rounded throughput, good to a few percent",
                         here, load_of(&items[i - 1]));
    }
}

static void note_neighbours(struct serving_results *results, struct serving_reader *reader)
{
    for (size_t from = 0; from < results->count;) {
        size_t to = from + 1;

        while (to < results->count && results->items[to].series == results->items[from].series)
            to++;
        note_warm_up(reader, &results->items[from], to - from);
        note_quanta(reader, &results->items[from], to - from);
        from = to;
    }
}

enum status serving_results_settle(struct serving_results *results, struct error *error)
{
    struct serving_reader reader = {.file = "", .results = results, .error = error};
    struct serving_result **order = calloc(results->count + 1, sizeof *order);
    struct place *places = calloc(results->count + 1, sizeof *places);

    if (order == NULL || places == NULL)
        reader.no_memory = true;
    for (size_t i = 0; !reader.no_memory && i < results->count; i++)
        order[i] = &results->items[i];
    if (!reader.no_memory) {
        qsort(order, results->count, sizeof *order, compare_labels);
        number_series(results, order);
        for (size_t i = 0; i < results->count; i++)
            places[i] = (struct place){results->items[i], i};
        qsort(places, results->count, sizeof *places, compare_places);
        for (size_t i = 0; i < results->count; i++)
            results->items[i] = places[i].result;
        note_neighbours(results, &reader);
    }
    free(order);
    free(places);
    return reader.no_memory ? error_set(error, STATUS_NO_MEMORY, "no memory for the serving results") : STATUS_OK;
}
