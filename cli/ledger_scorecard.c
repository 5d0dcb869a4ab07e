/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam ledger scorecard`: frozen predictions beside what was measured, by device and scenario. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/experiment/scorecard.h"
#include "cli/ledger_place.h"
#include "cli/report.h"

struct scored {
    struct scored_prediction prediction;
    int64_t scenario, id;
    size_t order;
    enum card_data data;
    char group[200];
};

struct collection {
    struct ledger *ledger;
    size_t count, capacity;
    struct scored *items;
    double measured;     /* of the verdict or run at hand */
    enum card_data data; /* likewise */
};

static enum status keep_group(void *context, const void *record, struct error *error)
{
    (void)error;
    const struct ledger_scenario *scenario = record;
    struct scored *scored = context;
    (void)snprintf(scored->group, sizeof scored->group, "%s on %s", scenario->name, scenario->device);
    return STATUS_OK;
}

static enum status keep_prediction(void *context, const void *record, struct error *error)
{
    struct collection *collection = context;
    const struct ledger_prediction *prediction = record;
    if (!(prediction->low > 0) || !(prediction->high > prediction->low) || !(collection->measured > 0)) {
        return STATUS_OK;
    }
    if (collection->count == collection->capacity) {
        const size_t capacity = collection->capacity == 0 ? 64 : 2 * collection->capacity;
        struct scored *items = realloc(collection->items, capacity * sizeof *items);
        if (items == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for %zu predictions", capacity);
        }
        collection->items = items;
        collection->capacity = capacity;
    }
    struct scored *scored = &collection->items[collection->count++];
    *scored =
        (struct scored){{prediction->value, prediction->low, prediction->high, prediction->level, collection->measured},
                        prediction->scenario,
                        prediction->id,
                        collection->count,
                        collection->data,
                        ""};
    const struct ledger_filter place[] = {{"id", prediction->scenario, NULL}, {NULL, 0, NULL}};
    return ledger_each(collection->ledger, LEDGER_SCENARIO, place, true, keep_group, scored, error);
}

static enum status take_prediction(struct collection *collection, int64_t id, double measured, enum card_data data,
                                   struct error *error)
{
    const struct ledger_filter self[] = {{"id", id, NULL}, {NULL, 0, NULL}};
    collection->measured = measured;
    collection->data = data;
    return id == 0
               ? STATUS_OK
               : ledger_each(collection->ledger, LEDGER_PREDICTION, self, false, keep_prediction, collection, error);
}

/* Predicted ratios are measured by verdicts ... */
static enum status visit_verdict(void *context, const void *record, struct error *error)
{
    const struct ledger_verdict *verdict = record;
    return verdict->covered < 0 ? STATUS_OK
                                : take_prediction(context, verdict->prediction, verdict->ratio, CARD_MEASURED, error);
}

/* Rows that were replayed are older than their predictions, and a fake device measures nothing. Before replayed runs
 * said so they had no provenance, as those of a command, which names its knobs in braces. */
static enum card_data data_of(const struct ledger_run *record)
{
    static const char fake[] = "fake device ";
    const bool says_nothing = record->provenance[0] == '\0' && strchr(record->source, '{') == NULL;
    return strncmp(record->provenance, fake, sizeof fake - 1) == 0            ? CARD_FAKE
           : strcmp(record->provenance, LEDGER_REPLAYED) == 0 || says_nothing ? CARD_RECORDED
                                                                              : CARD_MEASURED;
}

/* ... and predicted values by runs. */
static enum status visit_run(void *context, const void *record, struct error *error)
{
    const struct ledger_run *run_record = record;
    return strcmp(run_record->role, "tune") != 0
               ? STATUS_OK
               : take_prediction(context, run_record->prediction, run_record->median, data_of(run_record), error);
}

static int compare_ids(const void *left_item, const void *right_item)
{
    const struct scored *left = left_item, *right = right_item;
    return left->id != right->id ? (left->id > right->id ? 1 : -1)
                                 : (left->order > right->order) - (left->order < right->order);
}

/* A prediction that was measured again counts once, by what was measured last. */
static void keep_latest(struct collection *collection)
{
    struct scored *items = collection->items;
    size_t kept = 0;
    if (collection->count == 0) {
        return;
    }
    qsort(items, collection->count, sizeof *items, compare_ids);
    for (size_t i = 0; i < collection->count; i++) {
        if (i + 1 == collection->count || items[i].id != items[i + 1].id) {
            items[kept++] = items[i];
        }
    }
    collection->count = kept;
}

static int compare_groups(const void *left_item, const void *right_item)
{
    const struct scored *left = left_item, *right = right_item;
    return left->data != right->data ? (left->data > right->data ? 1 : -1) : strcmp(left->group, right->group);
}

static enum status make_card(struct ledger_card *made, const char *group, const struct scored *items, size_t count,
                             struct error *error)
{
    struct scored_prediction *predictions = calloc(count, sizeof *predictions);
    if (predictions == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu predictions", count);
    }
    for (size_t i = 0; i < count; i++) {
        predictions[i] = items[i].prediction;
    }
    (void)snprintf(made->group, sizeof made->group, "%s", group);
    made->data = items[0].data;
    const enum status status = scorecard_make(predictions, count, &made->card, error);
    free(predictions);
    return status;
}

static enum status make_groups(struct collection *collection, struct ledger_card *cards, size_t *count,
                               struct error *error)
{
    static const char *const prefixes[CARD_DATA_COUNT] = {"", "recorded rows: ", "fake device: "};
    struct scored *items = collection->items;
    size_t measured = 0;
    enum status status = STATUS_OK;
    qsort(items, collection->count, sizeof *items, compare_groups);
    while (measured < collection->count && items[measured].data == CARD_MEASURED) {
        measured++;
    }
    *count = 0;
    if (measured > 0) {
        status = make_card(&cards[(*count)++], "all", items, measured, error);
    }
    for (size_t first = 0, end; first < collection->count && status == STATUS_OK; first = end) {
        char group[sizeof cards->group];
        for (end = first + 1; end < collection->count && compare_groups(&items[end], &items[first]) == 0;) {
            end++;
        }
        (void)snprintf(group, sizeof group, "%s%s", prefixes[items[first].data], items[first].group);
        status = make_card(&cards[(*count)++], group, &items[first], end - first, error);
    }
    return status;
}

static void record_card(struct report *report, const struct ledger_card *made)
{
    const struct scorecard *card = &made->card;
    report_begin_object(report, NULL);
    static const char *const names[CARD_DATA_COUNT] = {"measured", "recorded", "fake"};
    report_string(report, "group", made->group);
    report_integer(report, "predictions", (int64_t)card->count);
    report_number(report, "bias_percent", 100 * card->bias);
    report_number(report, "median_error_percent", 100 * card->median_error);
    report_number(report, "crps_ln", card->crps);
    report_number(report, "crps_ln_of_point", card->crps_of_point);
    report_number(report, "half_width_90_percent", 100 * card->half_width);
    for (int i = 0; i < SCORECARD_LEVELS; i++) {
        char key[48];
        const int level = (int)lround(100 * scorecard_levels()[i]);
        (void)snprintf(key, sizeof key, "coverage_%d_percent", level);
        report_number(report, key, 100 * card->coverage[i]);
        (void)snprintf(key, sizeof key, "coverage_%d_lo_percent", level);
        report_number(report, key, 100 * card->coverage_low[i]);
        (void)snprintf(key, sizeof key, "coverage_%d_hi_percent", level);
        report_number(report, key, 100 * card->coverage_high[i]);
    }
    report_string(report, "data", names[made->data]);
    report_end(report);
}

static enum status print_cards(const struct report *report, const struct ledger_card *cards, size_t count,
                               struct error *error)
{
    static const struct report_column columns[] = {
        {"group", "predictions of", 0},          {"predictions", "count", 0},
        {"bias_percent", "bias %", 2},           {"median_error_percent", "error %", 2},
        {"half_width_90_percent", "+- 90 %", 2}, {"coverage_50_percent", "in 50 %", 3},
        {"coverage_80_percent", "in 80 %", 3},   {"coverage_90_percent", "in 90 %", 3},
        {"coverage_95_percent", "in 95 %", 3},   {"crps_ln", "CRPS", 2},
        {"crps_ln_of_point", "of the point", 2}};
    printf("Frozen predictions beside what was measured\n\n");
    const enum status status =
        report_print_table(report, "scorecards", columns, sizeof columns / sizeof columns[0], stdout, error);
    bool has[CARD_DATA_COUNT] = {false};
    for (size_t i = 0; i < count; i++) {
        has[cards[i].data] = true;
    }
    printf("%s%s%s%s", has[CARD_RECORDED] || has[CARD_FAKE] ? "\n" : "",
           has[CARD_RECORDED] ? "Recorded rows (tune --replay) were there before the prediction: they prove nothing.\n"
                              : "",
           has[CARD_FAKE] ? "A fake device made its times up.\n" : "",
           has[CARD_MEASURED] ? "" : "No prediction of this ledger was measured on a device after it was frozen.\n");
    return status;
}

enum status ledger_cards_make(struct ledger *ledger, struct ledger_card **cards, size_t *count, struct error *error)
{
    struct collection collection = {.ledger = ledger};
    enum status status = ledger_each(ledger, LEDGER_VERDICT, NULL, false, visit_verdict, &collection, error);
    *cards = NULL;
    *count = 0;
    if (status == STATUS_OK) {
        status = ledger_each(ledger, LEDGER_RUN, NULL, false, visit_run, &collection, error);
    }
    keep_latest(&collection);
    if (status == STATUS_OK && collection.count == 0) {
        status = error_set(error, STATUS_BAD_DATA, "ledger %s: no frozen prediction has been measured yet",
                           ledger_path(ledger));
    }
    if (status == STATUS_OK) {
        *cards = calloc(collection.count + 1, sizeof **cards);
        status = *cards == NULL ? error_set(error, STATUS_NO_MEMORY, "no memory for %zu groups", collection.count)
                                : make_groups(&collection, *cards, count, error);
    }
    free(collection.items);
    return status;
}

enum status ledger_scorecard(struct ledger *ledger, enum output_format format, struct error *error)
{
    struct ledger_card *cards;
    struct report report = {0};
    size_t count;
    enum status status = ledger_cards_make(ledger, &cards, &count, error);
    if (status == STATUS_OK) {
        report_begin_array(&report, "scorecards");
        for (size_t i = 0; i < count; i++) {
            record_card(&report, &cards[i]);
        }
        report_end(&report);
        status = format == OUTPUT_FORMAT_TEXT ? print_cards(&report, cards, count, error)
                                              : report_print(&report, format, "scorecards", stdout, error);
    }
    free(cards);
    report_release(&report);
    return status;
}
