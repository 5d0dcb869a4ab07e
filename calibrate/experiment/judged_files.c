/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rows of two files are sorted by condition, side and order; runs of equal conditions become samples. */
#include "calibrate/experiment/judged_files.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "calibrate/experiment/judged_dates.h"
#include "calibrate/experiment/judged_metric.h"
#include "calibrate/experiment/judged_table.h"

enum {
    COUNTED_MAX = 8,
    LONE_CONDITIONS_MAX = 256, /* looked at for a column that one file alone has */
    ROW_TEXT_MAX = sizeof((struct judged_condition *)0)->text
};

/* From a femtosecond counted in seconds to all that a cluster does in one. */
static const double VALUE_LEAST = 1e-15, VALUE_MOST = 1e21;
/* Between results of one condition, repeats or base and variant: beyond it two units were mixed up. */
static const double APART_MOST = 1e6;

/* Columns that say under which load a result was taken. */
static const char *const condition_names[] = {
    "concurrency",  "C",      "batch",   "batch_size", "max_concurrency", "users",         "clients", "bs",
    "num_requests", "tokens", "context", "heads",      "input_tokens",    "output_tokens", "isl",     "osl",
    "request_rate"};
const char *const judged_load_names[JUDGED_LOAD_NAMES] = {
    "concurrency", "C", "max_concurrency", "users", "clients", "bs", "batch", "batch_size", "num_requests"};
static const char *const pair_names[] = {"pair", "round"};
static const char *const date_names[] = {"date", "timestamp", "time_utc"};
static const char *const outcome_names[] = {"outcome", "status"};
static const char *const counted_names[] = {"counted", "method"};

struct side {
    const char *path;
    struct csv_table table;
    struct judged_origin origin;
    long metric, pair, date, outcome, counted;
    long columns[JUDGED_COLUMNS_MAX];
};

struct row {
    double numbers[JUDGED_COLUMNS_MAX]; /* NaN: the field is text */
    char text[ROW_TEXT_MAX];
    double value, rounding;
    double date; /* seconds since 1970; NaN: none that can be read */
    const char *pair;
    size_t order;
    bool is_variant;
};

struct row_list {
    size_t count, capacity;
    struct row *items;
};

static long find_any(const struct csv_table *table, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const long column = csv_column(table, names[i]);
        if (column >= 0) {
            return column;
        }
    }
    return -1;
}
#define FIND_ANY(table, names) find_any(table, names, sizeof(names) / sizeof(names)[0])

/* ---- columns --------------------------------------------------------------------------------------------------------
 */

/* The first known result of a table; NULL: it has none. */
static const char *known_metric(const struct csv_table *table)
{
    const char *name = NULL;
    for (size_t i = 0; (name = judged_metric_name(i)) != NULL && csv_column(table, name) < 0;) {
        i++;
    }
    return name;
}

/* Both tables have no result of one name: the one to blame is that which lacks what the other has. */
static enum status no_metric(const struct side *sides, struct error *error)
{
    const char *base = known_metric(&sides[0].table), *variant = known_metric(&sides[1].table);
    if (base == NULL && variant == NULL) {
        return error_set_at(error, STATUS_BAD_DATA, sides[0].path, 1, 0,
                            "no column that both files have is a known result (tokens_per_s, time_us, ...): name it "
                            "with --metric");
    }
    const struct side *side = &sides[base == NULL ? 0 : 1], *other = &sides[base == NULL ? 1 : 0];
    return error_set_at(error, STATUS_BAD_DATA, side->path, 1, 0,
                        "there is no column %s, the result that %.150s has: name one that both have with --metric",
                        base == NULL ? variant : base, other->path);
}

static enum status find_metric(const struct side *sides, const char **found, struct error *error)
{
    const char *name;
    *found = NULL;
    for (size_t i = 0; (name = judged_metric_name(i)) != NULL; i++) {
        if (csv_column(&sides[0].table, name) >= 0 && csv_column(&sides[1].table, name) >= 0) {
            if (*found != NULL) {
                return error_set_at(error, STATUS_BAD_DATA, sides[0].path, 1, 0,
                                    "both %s and %s could be the result: say which with --metric", *found, name);
            }
            *found = name;
        }
    }
    return *found != NULL ? STATUS_OK : no_metric(sides, error);
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}
#define IS_AMONG(name, names) is_among(name, names, sizeof(names) / sizeof(names)[0])

/* What says under which conditions a run was made is not what came out of it; and a hypothesis is of one quantity. */
static enum status check_metric(const char *name, const struct side *sides, const struct judged_options *options,
                                struct error *error)
{
    if (IS_AMONG(name, condition_names) || IS_AMONG(name, pair_names) || IS_AMONG(name, date_names) ||
        IS_AMONG(name, outcome_names) || IS_AMONG(name, counted_names) ||
        is_among(name, options->by, options->by_count) || is_among(name, options->prefer, options->prefer_count)) {
        return error_set(error, STATUS_USAGE, "--metric %s: this says how a run was made, not what came out of it",
                         name);
    }
    if (!judged_metric_measures(name, options->quantity)) {
        return error_set_at(error, STATUS_BAD_DATA, sides[0].path, 1, 0,
                            options->quantity == JUDGED_KERNEL_SPEED
                                ? "the hypothesis is of the speed of a kernel, which %s does not measure: times of the "
                                  "kernel do, or its work per second (kernel_time_us, time_us, tflops, ...)"
                                : "the hypothesis is of the throughput, which %s does not measure: rates of tokens do, "
                                  "or times of a step or token (tokens_per_s, step_time_ms, itl_ms, tpot_ms, ...)",
                            name);
    }
    return STATUS_OK;
}

static enum status choose_metric(struct side *sides, const struct judged_options *options, struct judged_files *files,
                                 struct error *error)
{
    const char *found = options->metric;
    enum status status = found == NULL ? find_metric(sides, &found, error) : STATUS_OK;
    for (int i = 0; i < 2 && status == STATUS_OK; i++) {
        sides[i].metric = csv_column(&sides[i].table, found);
        status = sides[i].metric < 0
                     ? error_set_at(error, STATUS_BAD_DATA, sides[i].path, 1, 0, "there is no column %s", found)
                     : STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = check_metric(found, sides, options, error);
    }
    if (status == STATUS_OK) {
        files->is_time = judged_metric_is_time(found);
        (void)snprintf(files->metric, sizeof files->metric, "%s", found);
    }
    return status;
}

static enum status take_column(struct side *sides, const char *name, bool must_be_there, struct judged_files *files,
                               struct error *error)
{
    const long base = csv_column(&sides[0].table, name), variant = csv_column(&sides[1].table, name);
    if (base < 0 || variant < 0) {
        return must_be_there ? error_set_at(error, STATUS_BAD_DATA, sides[base < 0 ? 0 : 1].path, 1, 0,
                                            "there is no column %s (--by)", name)
                             : STATUS_OK;
    }
    for (size_t i = 0; i < files->column_count; i++) {
        if (strcmp(files->columns[i], name) == 0) {
            return STATUS_OK;
        }
    }
    if (files->column_count == JUDGED_COLUMNS_MAX) {
        return error_set(error, STATUS_LIMIT, "more than %d columns of conditions", JUDGED_COLUMNS_MAX);
    }
    (void)snprintf(files->columns[files->column_count], sizeof files->columns[0], "%s", name);
    sides[0].columns[files->column_count] = base;
    sides[1].columns[files->column_count++] = variant;
    return STATUS_OK;
}

static const struct judged_setting *setting_of(const struct judged_options *options, const char *name)
{
    for (size_t i = 0; i < options->setting_count; i++) {
        if (strcasecmp(options->settings[i].name, name) == 0) {
            return &options->settings[i];
        }
    }
    return NULL;
}

/* Rows of one condition of `side` that differ in a column of conditions which the other file lacks are no repeats. */
static enum status check_lone_column(const struct side *side, const struct side *other, const char *name,
                                     const struct judged_files *files, struct error *error)
{
    const struct csv_table *table = &side->table;
    const long column = csv_column(table, name);
    if (column < 0 || csv_column(&other->table, name) >= 0) {
        return STATUS_OK;
    }
    size_t firsts[LONE_CONDITIONS_MAX], count = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        bool is_known = false;
        for (size_t i = 0; i < count && !is_known; i++) {
            is_known = true;
            for (size_t k = 0; k < files->column_count && is_known; k++) {
                const size_t shared = (size_t)side->columns[k];
                is_known = strcmp(csv_cell(table, firsts[i], shared), csv_cell(table, row, shared)) == 0;
            }
            if (is_known &&
                strcmp(csv_cell(table, firsts[i], (size_t)column), csv_cell(table, row, (size_t)column)) != 0) {
                return error_set_at(error, STATUS_BAD_DATA, side->path, table->lines[row], 0,
                                    "runs at several values of %s (%.30s, %.30s), which %.100s does not have: they are "
                                    "no repeats of each other; say with --by which columns are the conditions",
                                    name, csv_cell(table, firsts[i], (size_t)column),
                                    csv_cell(table, row, (size_t)column), other->path);
            }
        }
        if (!is_known && count < LONE_CONDITIONS_MAX) {
            firsts[count++] = row;
        }
    }
    return STATUS_OK;
}

/* A number of requests tells the load where no other column does; beside one it is how long the run was. */
static bool is_detail(const struct judged_files *files, const char *name)
{
    bool has_load = false;
    for (size_t i = 0; i < files->column_count; i++) {
        has_load = has_load || (IS_AMONG(files->columns[i], judged_load_names) && strcmp(files->columns[i], name) != 0);
    }
    return has_load && strcmp(name, "num_requests") == 0;
}

/* A load that one file alone tells, where the hypothesis is of one. */
static enum status check_lone_load(const struct side *side, const struct side *other, double load, struct error *error)
{
    for (size_t i = 0; i < JUDGED_LOAD_NAMES && load > 0; i++) {
        const long column = csv_column(&side->table, judged_load_names[i]);
        if (column < 0 || csv_column(&other->table, judged_load_names[i]) >= 0) {
            continue;
        }
        for (size_t row = 0; row < side->table.row_count; row++) {
            const char *cell = csv_cell(&side->table, row, (size_t)column);
            double value;
            if (number_parse(cell, &value) == STATUS_OK && value != load) {
                char number[32];
                return error_set_at(error, STATUS_BAD_DATA, side->path, side->table.lines[row], 0,
                                    "%s of %.30s: the hypothesis was frozen for %s", judged_load_names[i], cell,
                                    number_format(load, number));
            }
        }
    }
    return STATUS_OK;
}

static enum status check_lone_columns(const struct side *sides, const struct judged_files *files, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < 2 * sizeof condition_names / sizeof condition_names[0] && status == STATUS_OK; i++) {
        status = is_detail(files, condition_names[i / 2])
                     ? STATUS_OK
                     : check_lone_column(&sides[i % 2], &sides[1 - i % 2], condition_names[i / 2], files, error);
    }
    return status;
}

static enum status choose_conditions(struct side *sides, const struct judged_options *options,
                                     struct judged_files *files, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < options->by_count && status == STATUS_OK; i++) {
        status = take_column(sides, options->by[i], true, files, error);
    }
    for (size_t i = 0; options->by_count == 0 && i < options->prefer_count && status == STATUS_OK; i++) {
        status = take_column(sides, options->prefer[i], false, files, error);
    }
    for (size_t i = 0;
         options->by_count == 0 && i < sizeof condition_names / sizeof condition_names[0] && status == STATUS_OK; i++) {
        status = setting_of(options, condition_names[i]) == NULL && !is_detail(files, condition_names[i])
                     ? take_column(sides, condition_names[i], false, files, error)
                     : STATUS_OK;
    }
    return status == STATUS_OK && options->by_count == 0 ? check_lone_columns(sides, files, error) : status;
}

/* ---- rows -----------------------------------------------------------------------------------------------------------
 */

static struct row *next_row(struct row_list *rows)
{
    if (rows->count == rows->capacity) {
        const size_t capacity = rows->capacity == 0 ? 64 : rows->capacity * 2;
        struct row *items = realloc(rows->items, capacity * sizeof *items);
        if (items == NULL) {
            return NULL;
        }
        rows->items = items;
        rows->capacity = capacity;
    }
    struct row *row = &rows->items[rows->count++];
    memset(row, 0, sizeof *row);
    return row;
}

static bool has_failed(const struct side *side, size_t index)
{
    const char *outcome = side->outcome < 0 ? "" : csv_cell(&side->table, index, (size_t)side->outcome);
    return outcome[0] != '\0' && strcmp(outcome, "ok") != 0;
}

/* What the last printed digit is worth: 1 of "53", 0.1 of "53.1". With an exponent nothing was rounded by hand. */
static double last_digit(const char *text)
{
    const char *point = strchr(text, '.');
    return strpbrk(text, "eE") != NULL ? 0 : point == NULL ? 1 : pow(10, -(double)strspn(point + 1, "0123456789"));
}

/* The knob that a hypothesis changes, where a column tells it: files that are swapped, or of another change. */
static enum status check_settings(const struct side *side, bool is_variant, const struct judged_options *options,
                                  struct error *error)
{
    for (size_t column = 0; column < side->table.column_count; column++) {
        const struct judged_setting *setting = setting_of(options, side->table.names[column]);
        for (size_t row = 0; setting != NULL && row < side->table.row_count; row++) {
            const double wanted = is_variant ? setting->variant : setting->base;
            const char *cell = csv_cell(&side->table, row, column);
            double value;
            if (!has_failed(side, row) && number_parse(cell, &value) == STATUS_OK && !isnan(wanted) &&
                value != wanted) {
                char number[32];
                return error_set_at(
                    error, STATUS_BAD_DATA, side->path, side->table.lines[row], 0,
                    "%s=%.30s: of the %s the hypothesis says %s=%s%s", setting->name, cell,
                    is_variant ? "variant" : "base", setting->name, number_format(wanted, number),
                    value == (is_variant ? setting->base : setting->variant) ? "; are BASE and VARIANT swapped?" : "");
            }
        }
    }
    return STATUS_OK;
}

static enum status read_row(const struct side *side, size_t index, bool is_variant, const char *counted,
                            const struct judged_files *files, struct row_list *rows, struct error *error)
{
    struct row *row = next_row(rows);
    if (row == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the rows of %s", side->path);
    }
    const struct csv_table *table = &side->table;
    double value;
    enum status status = csv_number(table, index, (size_t)side->metric, &value, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(value > 0)) {
        return error_set_at(error, STATUS_BAD_DATA, side->path, table->lines[index], 0, "%s must be above 0, got %s",
                            files->metric, csv_cell(table, index, (size_t)side->metric));
    }
    if (value < VALUE_LEAST || value > VALUE_MOST) {
        return error_set_at(error, STATUS_BAD_DATA, side->path, table->lines[index], 0,
                            "%s of %s: nothing that is measured is outside of %g to %g", files->metric,
                            csv_cell(table, index, (size_t)side->metric), VALUE_LEAST, VALUE_MOST);
    }
    row->value = files->is_time ? 1 / value : value;
    row->rounding = last_digit(csv_cell(table, index, (size_t)side->metric)) / sqrt(12) / value;
    row->is_variant = is_variant;
    row->order = index;
    const char *date = side->date < 0 ? "" : csv_cell(table, index, (size_t)side->date);
    row->date = (double)NAN;
    if (date[0] != '\0' && !judged_date_parse(date, &row->date)) {
        return error_set_at(error, STATUS_BAD_DATA, side->path, table->lines[index], 0,
                            "\"%.40s\" is no date such as 2026-11-30T01:02:03Z or seconds since 1970", date);
    }
    row->pair = side->pair < 0 ? "" : csv_cell(table, index, (size_t)side->pair);
    struct text_buffer text = {0};
    for (size_t i = 0; i < files->column_count; i++) {
        const char *cell = csv_cell(table, index, (size_t)side->columns[i]);
        char number[32];
        const bool is_number = number_parse(cell, &row->numbers[i]) == STATUS_OK;
        row->numbers[i] = is_number ? row->numbers[i] : (double)NAN;
        text_buffer_append_format(&text, "%s%s=%s", i > 0 ? " " : "", files->columns[i],
                                  is_number ? number_format(row->numbers[i], number) : cell);
    }
    if (counted[0] != '\0') {
        text_buffer_append_format(&text, "%scounted=%s", text.length > 0 ? " " : "", counted);
    }
    if (text.failed || text.length >= ROW_TEXT_MAX) {
        status = error_set_at(error, STATUS_LIMIT, side->path, table->lines[index], 0,
                              "the columns of the condition are longer than %d bytes", (int)ROW_TEXT_MAX);
    } else {
        (void)snprintf(row->text, sizeof row->text, "%s", text.text != NULL ? text.text : "");
    }
    text_buffer_release(&text);
    return status;
}

/* Ways in which the results of one side were counted, where the other side does not say: they are judged one by one. */
static enum status counted_ways(const struct side *side, const char *ways[COUNTED_MAX], size_t *count,
                                struct error *error)
{
    *count = 0;
    for (size_t row = 0; side->counted >= 0 && row < side->table.row_count; row++) {
        const char *way = csv_cell(&side->table, row, (size_t)side->counted);
        bool is_new = true;
        for (size_t i = 0; i < *count; i++) {
            is_new = is_new && strcmp(ways[i], way) != 0;
        }
        if (is_new && *count == COUNTED_MAX) {
            return error_set_at(error, STATUS_LIMIT, side->path, side->table.lines ? side->table.lines[row] : 0, 0,
                                "more than %d ways of counting (%s), and the other file does not say which is its own",
                                COUNTED_MAX, side->table.names[side->counted]);
        }
        if (is_new) {
            ways[(*count)++] = way;
        }
    }
    return STATUS_OK;
}

static enum status read_rows(const struct side *side, const struct side *other, bool is_variant,
                             struct judged_files *files, struct row_list *rows, struct error *error)
{
    const char *ways[COUNTED_MAX] = {""};
    size_t copies = 1;
    enum status status = STATUS_OK;
    if (side->counted < 0 && other->counted >= 0) {
        status = counted_ways(other, ways, &copies, error);
    }
    files->counted_ways = copies > files->counted_ways ? copies : files->counted_ways;
    for (size_t i = 0; i < side->table.row_count && status == STATUS_OK; i++) {
        if (has_failed(side, i)) {
            files->failed++;
            continue;
        }
        for (size_t copy = 0; copy < copies && status == STATUS_OK; copy++) {
            const char *counted = side->counted >= 0 ? csv_cell(&side->table, i, (size_t)side->counted) : ways[copy];
            status = read_row(side, i, is_variant, counted, files, rows, error);
        }
    }
    return status;
}

/* Numbers in order, before anything that is none; then by text. A total order, as qsort needs it. */
static int compare_conditions(const struct row *left, const struct row *right)
{
    for (size_t i = 0; i < JUDGED_COLUMNS_MAX; i++) {
        const double a = left->numbers[i], b = right->numbers[i];
        if (isnan(a) != isnan(b)) {
            return isnan(a) ? 1 : -1;
        }
        if (!isnan(a) && a != b) {
            return a < b ? -1 : 1;
        }
    }
    return strcmp(left->text, right->text);
}

static int compare_rows(const void *left_row, const void *right_row)
{
    const struct row *left = left_row, *right = right_row;
    const int condition = compare_conditions(left, right);
    if (condition != 0) {
        return condition;
    }
    if (left->is_variant != right->is_variant) {
        return left->is_variant ? 1 : -1;
    }
    return left->order < right->order ? -1 : left->order > right->order;
}

/* ---- pairs ----------------------------------------------------------------------------------------------------------
 */

static int compare_pair_names(const void *left_row, const void *right_row)
{
    const struct row *left = left_row, *right = right_row;
    return strcmp(left->pair, right->pair);
}

/* Both halves sorted by the pair's name must show the same names, each once. */
static enum status match_named_pairs(struct row *base, struct row *variant, size_t base_count, size_t variant_count,
                                     const struct side *sides, struct error *error)
{
    qsort(base, base_count, sizeof *base, compare_pair_names);
    qsort(variant, variant_count, sizeof *variant, compare_pair_names);
    for (size_t i = 0; i < base_count || i < variant_count; i++) {
        const bool is_matched = i < base_count && i < variant_count && strcmp(base[i].pair, variant[i].pair) == 0 &&
                                (i == 0 || strcmp(base[i].pair, base[i - 1].pair) != 0);
        if (!is_matched) {
            const struct row *row = i < base_count ? &base[i] : &variant[i];
            const struct side *side = &sides[i < base_count ? 0 : 1];
            return error_set_at(error, STATUS_BAD_DATA, side->path, side->table.lines[row->order], 0,
                                "pair \"%s\" of %s is not there once in both files", row->pair,
                                row->text[0] != '\0' ? row->text : "the only condition");
        }
    }
    return STATUS_OK;
}

static int compare_dates(const void *left_row, const void *right_row)
{
    const struct row *left = *(const struct row *const *)left_row, *right = *(const struct row *const *)right_row;
    const int order = (left->date > right->date) - (left->date < right->date);
    return order != 0 ? order : (left->is_variant > right->is_variant) - (left->is_variant < right->is_variant);
}

/* Base and variant took turns: each two runs that follow each other in time are one of each. Both halves are then in
 * the order of time. */
static bool are_interleaved(struct row *base, struct row *variant, size_t count)
{
    const struct row **order = calloc(2 * count, sizeof *order);
    bool is_so = order != NULL;
    for (size_t i = 0; i < count && is_so; i++) {
        order[2 * i] = &base[i];
        order[2 * i + 1] = &variant[i];
        is_so = !isnan(base[i].date) && !isnan(variant[i].date) &&
                (i == 0 || (base[i - 1].date < base[i].date && variant[i - 1].date < variant[i].date));
    }
    if (is_so) {
        qsort(order, 2 * count, sizeof *order, compare_dates);
    }
    for (size_t i = 0; i < count && is_so; i++) {
        is_so = order[2 * i]->is_variant != order[2 * i + 1]->is_variant;
    }
    free(order);
    return is_so;
}

/* ---- conditions -----------------------------------------------------------------------------------------------------
 */

static enum status add_condition(struct judged_files *files, struct row *base, size_t base_count, size_t variant_count,
                                 const struct side *sides, struct error *error)
{
    struct row *variant = base + base_count;
    if (files->count == JUDGED_CONDITIONS_MAX) {
        return error_set(error, STATUS_LIMIT, "more than %d conditions", JUDGED_CONDITIONS_MAX);
    }
    struct judged_condition *condition = &files->conditions[files->count++];
    for (size_t i = 0; i < files->column_count; i++) {
        condition->numbers[i] = base->numbers[i];
    }
    (void)snprintf(condition->text, sizeof condition->text, "%s", base->text);
    enum status status = STATUS_OK;
    if (sides[0].pair >= 0 && sides[1].pair >= 0) {
        status = match_named_pairs(base, variant, base_count, variant_count, sides, error);
        condition->paired = true;
        (void)snprintf(files->pairing, sizeof files->pairing, "by column %s", sides[0].table.names[sides[0].pair]);
    } else if (base_count > 1 && base_count == variant_count && are_interleaved(base, variant, base_count)) {
        condition->paired = true;
        (void)snprintf(files->pairing, sizeof files->pairing, "by date: base and variant took turns");
    }
    return status;
}

/* Results of one condition so far apart are no effect and no noise. */
static enum status check_apart(const struct row *rows, size_t count, const struct judged_files *files,
                               const struct side *sides, struct error *error)
{
    for (size_t i = 1; i < count; i++) {
        const double apart = rows[i].value / rows[0].value;
        if (apart > APART_MOST || apart < 1 / APART_MOST) {
            const struct side *side = &sides[rows[i].is_variant ? 1 : 0], *first = &sides[rows[0].is_variant ? 1 : 0];
            return error_set_at(error, STATUS_BAD_DATA, side->path, side->table.lines[rows[i].order], 0,
                                "%s of %.60s, and %.60s in line %u of %.150s at the same condition: more than a factor "
                                "of %g apart",
                                files->metric, csv_cell(&side->table, rows[i].order, (size_t)side->metric),
                                csv_cell(&first->table, rows[0].order, (size_t)first->metric),
                                first->table.lines[rows[0].order], first->path, APART_MOST);
        }
    }
    return STATUS_OK;
}

static void keep_dates(struct judged_files *files, const struct row_list *rows)
{
    files->oldest = (double)NAN;
    for (size_t i = 0; i < rows->count; i++) {
        files->oldest = fmin(files->oldest, rows->items[i].date); /* NaN is no date: fmin passes it over */
    }
}

static enum status group_rows(struct judged_files *files, struct row_list *rows, const struct side *sides,
                              struct error *error)
{
    size_t used = 0;
    enum status status = STATUS_OK;
    qsort(rows->items, rows->count, sizeof *rows->items, compare_rows);
    for (size_t first = 0, end; first < rows->count && status == STATUS_OK; first = end) {
        size_t base_count = 0;
        for (end = first; end < rows->count && compare_conditions(&rows->items[first], &rows->items[end]) == 0; end++) {
            base_count += !rows->items[end].is_variant;
        }
        const size_t variant_count = end - first - base_count;
        if (base_count == 0 || variant_count == 0) {
            *(base_count > 0 ? &files->only_base : &files->only_variant) += 1;
            continue;
        }
        struct row *base = &rows->items[first];
        status = check_apart(base, end - first, files, sides, error);
        if (status == STATUS_OK) {
            status = add_condition(files, base, base_count, variant_count, sides, error);
        }
        if (status == STATUS_OK) {
            struct judged_condition *condition = &files->conditions[files->count - 1];
            condition->base = files->storage + used;
            condition->variant = condition->base + base_count;
            condition->base_count = base_count;
            condition->variant_count = variant_count;
            for (size_t i = first; i < end; i++) {
                condition->rounding = fmax(condition->rounding, rows->items[i].rounding);
                files->storage[used++] = rows->items[i].value;
            }
        }
    }
    return status;
}

static enum status open_side(const char *path, struct side *side, struct error *error)
{
    side->path = path;
    enum status status = judged_table_read(path, &side->table, &side->origin, error);
    if (status != STATUS_OK) {
        return status;
    }
    side->pair = FIND_ANY(&side->table, pair_names);
    side->date = FIND_ANY(&side->table, date_names);
    side->outcome = FIND_ANY(&side->table, outcome_names);
    side->counted = FIND_ANY(&side->table, counted_names);
    return side->table.row_count > 0 ? STATUS_OK : error_set_at(error, STATUS_BAD_DATA, path, 1, 0, "there is no row");
}

static enum status read_sides(struct side *sides, const struct judged_options *options, struct judged_files *files,
                              struct row_list *rows, struct error *error)
{
    enum status status = choose_metric(sides, options, files, error);
    if (status == STATUS_OK) {
        status = choose_conditions(sides, options, files, error);
    }
    for (int i = 0; i < 2 && status == STATUS_OK; i++) {
        status = check_settings(&sides[i], i == 1, options, error);
    }
    for (int i = 0; i < 2 && status == STATUS_OK; i++) {
        status = check_lone_load(&sides[i], &sides[1 - i], options->load, error);
    }
    for (int i = 0; i < 2 && status == STATUS_OK; i++) {
        status = read_rows(&sides[i], &sides[1 - i], i == 1, files, rows, error);
    }
    size_t of_variant = 0;
    for (size_t i = 0; i < rows->count; i++) {
        of_variant += rows->items[i].is_variant;
    }
    if (status == STATUS_OK && (of_variant == 0 || of_variant == rows->count)) {
        status = error_set(error, STATUS_BAD_DATA, "%s has no run that succeeded", sides[of_variant == 0].path);
    }
    if (status != STATUS_OK) {
        return status;
    }
    files->storage = calloc(rows->count + 1, sizeof *files->storage);
    files->conditions = calloc(rows->count < JUDGED_CONDITIONS_MAX ? rows->count + 1 : JUDGED_CONDITIONS_MAX,
                               sizeof *files->conditions);
    if (files->storage == NULL || files->conditions == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu results", rows->count);
    }
    keep_dates(files, rows);
    judged_origins_compare(&sides[0].origin, &sides[1].origin, files->doubt, sizeof files->doubt);
    status = group_rows(files, rows, sides, error);
    *(sides[0].counted < 0 ? &files->only_base : &files->only_variant) /= files->counted_ways;
    if (status == STATUS_OK && files->count == 0) {
        status =
            error_set(error, STATUS_BAD_DATA, "%s and %s have no condition in common", sides[0].path, sides[1].path);
    }
    return status;
}

enum status judged_files_read(const char *base_path, const char *variant_path, const struct judged_options *options,
                              struct judged_files *files, struct error *error)
{
    struct side sides[2] = {0};
    struct row_list rows = {0};
    *files = (struct judged_files){0};
    enum status status = open_side(base_path, &sides[0], error);
    if (status == STATUS_OK) {
        status = open_side(variant_path, &sides[1], error);
    }
    if (status == STATUS_OK) {
        status = read_sides(sides, options, files, &rows, error);
    }
    free(rows.items);
    csv_table_release(&sides[0].table);
    csv_table_release(&sides[1].table);
    if (status != STATUS_OK) {
        judged_files_release(files);
    }
    return status;
}

void judged_files_release(struct judged_files *files)
{
    free(files->conditions);
    free(files->storage);
    *files = (struct judged_files){0};
}
