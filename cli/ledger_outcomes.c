/* SPDX-License-Identifier: GPL-3.0-or-later
 * Verdicts sorted by what they are about; the last of each counts. */
#include "cli/ledger_outcomes.h"

#include <stdlib.h>
#include <string.h>

struct item {
    char *kind, *condition, *outcome; /* owned, in one piece at kind */
    int64_t id, prediction, covered;
};

struct collection {
    size_t count, capacity;
    struct item *items;
};

static enum status keep(void *context, const void *record, struct error *error)
{
    struct collection *collection = context;
    const struct ledger_verdict *verdict = record;
    if (collection->count == collection->capacity) {
        const size_t capacity = collection->capacity == 0 ? 16 : 2 * collection->capacity;
        struct item *items = realloc(collection->items, capacity * sizeof *items);
        if (items == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for %zu verdicts", capacity);
        }
        collection->items = items;
        collection->capacity = capacity;
    }
    const size_t kind = strlen(verdict->kind) + 1, condition = strlen(verdict->condition) + 1,
                 outcome = strlen(verdict->outcome) + 1;
    struct item *item = &collection->items[collection->count];
    *item = (struct item){.id = verdict->id, .prediction = verdict->prediction, .covered = verdict->covered};
    item->kind = malloc(kind + condition + outcome);
    if (item->kind == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a verdict");
    }
    item->condition = item->kind + kind;
    item->outcome = item->condition + condition;
    memcpy(item->kind, verdict->kind, kind);
    memcpy(item->condition, verdict->condition, condition);
    memcpy(item->outcome, verdict->outcome, outcome);
    collection->count++;
    return STATUS_OK;
}

static int compare_subject(const struct item *left, const struct item *right)
{
    const int kind = strcmp(left->kind, right->kind);
    return kind != 0 ? kind : strcmp(left->condition, right->condition);
}

static int by_subject(const void *left_item, const void *right_item)
{
    const struct item *left = left_item, *right = right_item;
    const int subject = compare_subject(left, right);
    return subject != 0 ? subject : (left->id > right->id) - (left->id < right->id);
}

static int by_prediction(const void *left_item, const void *right_item)
{
    const struct item *left = left_item, *right = right_item;
    return left->prediction != right->prediction ? (left->prediction > right->prediction ? 1 : -1)
                                                 : (left->id > right->id) - (left->id < right->id);
}

static void count_outcome(const char *outcome, struct ledger_outcomes *outcomes)
{
    const struct {
        const char *name;
        uint64_t *count;
    } rows[] = {{"supported", &outcomes->supported},
                {"refuted", &outcomes->refuted},
                {"inconclusive", &outcomes->inconclusive},
                {"restored", &outcomes->restored},
                {"not restored", &outcomes->not_restored}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i].count += strcmp(rows[i].name, outcome) == 0;
    }
}

static void count(struct collection *collection, struct ledger_outcomes *outcomes)
{
    struct item *items = collection->items;
    const size_t item_count = collection->count;
    qsort(items, item_count, sizeof *items, by_subject);
    for (size_t i = 0; i < item_count; i++) {
        if (i + 1 < item_count && compare_subject(&items[i], &items[i + 1]) == 0) {
            outcomes->replaced++;
        } else {
            count_outcome(items[i].outcome, outcomes);
        }
    }
    qsort(items, item_count, sizeof *items, by_prediction);
    int64_t covered = -1;
    for (size_t i = 0; i < item_count; i++) {
        covered = items[i].covered >= 0 ? items[i].covered : covered;
        if (i + 1 == item_count || items[i + 1].prediction != items[i].prediction) {
            outcomes->held += covered == 1;
            outcomes->missed += covered == 0;
            covered = -1;
        }
    }
}

enum status ledger_outcomes_read(struct ledger *ledger, int64_t hypothesis, struct ledger_outcomes *outcomes,
                                 struct error *error)
{
    struct collection collection = {0};
    const struct ledger_filter of_it[] = {{"hypothesis", hypothesis, NULL}, {NULL, 0, NULL}};
    *outcomes = (struct ledger_outcomes){0};
    enum status status = ledger_each(ledger, LEDGER_VERDICT, of_it, false, keep, &collection, error);
    if (status == STATUS_OK && collection.count > 0) {
        count(&collection, outcomes);
    }
    for (size_t i = 0; i < collection.count; i++) {
        free(collection.items[i].kind);
    }
    free(collection.items);
    return status;
}
