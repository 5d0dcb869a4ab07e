/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `limiters`: what a layer's time goes to, as shares over the concurrency. */
#include <math.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/plot_table.h"

enum {
    SHARES_SHOWN_MAX = FIGURE_COLORS - 1 /* the rest is one more */
};
static const double SHARE_SHOWN = 0.02; /* of some point at least */

struct share_table {
    size_t count;
    double *x;
    double *shares[TIME_LIMITER_COUNT]; /* count each */
};

static enum status predict_shares(const struct plot_request *request, const double *concurrencies, size_t count,
                                  struct share_table *table, struct error *error)
{
    struct question *question = request->question;
    double values[QUESTION_VALUES_MAX];
    struct prediction prediction;

    for (size_t i = 0; i < count; i++) {
        question_values_at(question, question->values, concurrencies[i], values);
        enum status status = plot_predict_feasible(question, values, &prediction, error);

        if (status != STATUS_OK)
            return status;
        table->x[table->count] = concurrencies[i];
        for (int l = 0; l < TIME_LIMITER_COUNT; l++)
            table->shares[l][table->count] = prediction.time.shares[l];
        table->count++;
    }
    return STATUS_OK;
}

/* One point is drawn as a bar of some width. */
static void widen(struct share_table *table)
{
    if (table->count != 1)
        return;
    table->x[1] = table->x[0] + 0.5;
    table->x[0] -= 0.5;
    for (int l = 0; l < TIME_LIMITER_COUNT; l++)
        table->shares[l][1] = table->shares[l][0];
    table->count = 2;
}

static double largest(const struct share_table *table, int limiter)
{
    double most = 0.0;

    for (size_t i = 0; i < table->count; i++)
        most = fmax(most, table->shares[limiter][i]);
    return most;
}

static void add_part(struct figure_sheet *sheet, const struct share_table *table, const char *label, double *below,
                     const double *part, int color)
{
    double *lo = sheet_numbers(sheet, table->count), *hi = sheet_numbers(sheet, table->count);

    if (sheet->failed)
        return;
    for (size_t i = 0; i < table->count; i++) {
        lo[i] = 100.0 * below[i];
        below[i] += part == NULL ? fmax(0.0, 1.0 - below[i]) : part[i];
        hi[i] = 100.0 * below[i];
    }
    sheet_add_series(sheet, (struct figure_series){.label = label,
                                                   .style = SERIES_STYLE_AREA,
                                                   .count = table->count,
                                                   .x = table->x,
                                                   .y_lo = lo,
                                                   .y_hi = hi,
                                                   .color_index = color});
}

/* "memory latency" from "memory_latency", "L2 bandwidth" from "l2_bandwidth". */
static const char *limiter_words(struct figure_sheet *sheet, enum time_limiter limiter)
{
    const char *name = time_limiter_name(limiter), *low = strchr(name, '_');

    if (limiter == TIME_LIMITER_DRAM || limiter == TIME_LIMITER_SMEM)
        return limiter == TIME_LIMITER_DRAM ? "DRAM" : "SMEM";
    if (limiter == TIME_LIMITER_L2 || limiter == TIME_LIMITER_SM_BANDWIDTH)
        return limiter == TIME_LIMITER_L2 ? "L2 bandwidth" : "SM bandwidth";
    return low == NULL ? name : sheet_text(sheet, "%.*s %s", (int)(low - name), name, low + 1);
}

/* The same part has the same colour in every figure, unless two that share one are both large. */
static int part_color(enum time_limiter limiter, unsigned *used)
{
    static const int preferred[TIME_LIMITER_COUNT] = {
        [TIME_LIMITER_LAUNCH] = 0,       [TIME_LIMITER_MEMORY_LATENCY] = 1,
        [TIME_LIMITER_DEPENDENCY] = 2,   [TIME_LIMITER_TENSOR] = 3,
        [TIME_LIMITER_ISSUE] = 4,        [TIME_LIMITER_SMEM] = 3,
        [TIME_LIMITER_SM_BANDWIDTH] = 4, [TIME_LIMITER_L2] = 5,
        [TIME_LIMITER_DRAM] = 5,
    };
    int color = preferred[limiter];

    for (int i = 0; i < PLOT_COLOR_MEASURED && (*used >> color & 1U) != 0; i++)
        color = i;
    *used |= 1U << color;
    return color;
}

static void stack(struct figure_sheet *sheet, const struct share_table *table)
{
    double *below = sheet_numbers(sheet, table->count);
    unsigned used = 0;
    int shown = 0, left = 0;

    if (sheet->failed)
        return;
    for (int l = 0; l < TIME_LIMITER_COUNT; l++) {
        if (largest(table, l) < SHARE_SHOWN || shown == SHARES_SHOWN_MAX) {
            left += largest(table, l) > 0.0;
            continue;
        }
        add_part(sheet, table, limiter_words(sheet, (enum time_limiter)l), below, table->shares[l],
                 part_color((enum time_limiter)l, &used));
        shown++;
    }
    if (left > 0)
        add_part(sheet, table, "other", below, NULL, PLOT_COLOR_MEASURED);
}

enum status plot_limiters(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    struct question *question = request->question;
    const long variable = scenario_concurrency_variable(question->scenario);
    const double asked = question_concurrency(question, question->values);
    const double *concurrencies = &asked;
    size_t count = 1;
    char number[32];
    struct share_table table = {0};

    if (request->curve->concurrency.count > 0) {
        concurrencies = request->curve->concurrency.items;
        count = request->curve->concurrency.count;
    } else if (variable >= 0) {
        concurrencies = scenario_variable_get(question->scenario, (size_t)variable)->values;
        count = scenario_variable_get(question->scenario, (size_t)variable)->value_count;
    }
    table.x = sheet_numbers(sheet, count + 1);
    for (int l = 0; l < TIME_LIMITER_COUNT; l++)
        table.shares[l] = sheet_numbers(sheet, count + 1);
    enum status status = sheet_check(sheet, error);
    if (status == STATUS_OK)
        status = predict_shares(request, concurrencies, count, &table, error);
    if (status != STATUS_OK)
        return status;
    widen(&table);
    stack(sheet, &table);
    if (count == 1) /* a width that means nothing */
        sheet_add_x_tick(sheet, concurrencies[0],
                         variable < 0 ? "the workload"
                                      : sheet_text(sheet, "%s", number_format(concurrencies[0], number)));
    sheet->figure.x_label = variable < 0 ? "" : "concurrency (requests in the running batch)";
    sheet->figure.y_label = "share of a layer's time (%)";
    plot_describe(sheet, question, "what the time goes to",
                  sheet_text(sheet, "Predicted: %s.", plot_changes(sheet, question, question->values)));
    return sheet_check(sheet, error);
}
