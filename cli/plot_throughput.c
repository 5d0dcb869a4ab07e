/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figures `throughput` and `step-time`: over concurrency, base and variant with their intervals, measured points,
 * the ITL limit, and where the curve flattens. */
#include <math.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/plot_table.h"

enum {
    VARIANTS_MAX = 4, /* so many colours are left */
    NAME_COLUMNS_MAX = 32
};
static const double SATURATION_SHARE = 0.9; /* of the most tokens per second on the curve */

static void read_estimate(const struct serving_estimate *estimate, bool step_time, double values[3])
{
    if (step_time) {
        values[0] = 1e3 * estimate->step_time_s;
        values[1] = 1e3 * estimate->step_time_lo_s;
        values[2] = 1e3 * estimate->step_time_hi_s;
    } else {
        values[0] = estimate->throughput_tokens_per_s;
        values[1] = estimate->throughput_lo_tokens_per_s;
        values[2] = estimate->throughput_hi_tokens_per_s;
    }
}

/* What is drawn of one side. */
struct side {
    bool variant, step_time;
    int color;
    const char *label;
    size_t count, told_count; /* what follows is filled by compute_side */
    double *x, *y, *lo, *hi;
    size_t *told;
};

static bool is_listed(const struct throughput_curve *curve, double concurrency)
{
    for (size_t i = 0; i < curve->count; i++)
        if (curve->points[i].concurrency == concurrency)
            return true;
    return false;
}

/* The law itself: between the listed concurrencies it is not straight. It is left in *dense too. */
static enum status compute_side(struct figure_sheet *sheet, struct question *question,
                                const struct throughput_curve *curve, struct side *side, struct throughput_curve *dense,
                                struct error *error)
{
    double **const members[] = {&side->x, &side->y, &side->lo, &side->hi};
    enum status status;

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        *members[i] = sheet_numbers(sheet, NUMBER_LIST_MAX);
    side->told = sheet_memory(sheet, NUMBER_LIST_MAX * sizeof *side->told);
    status = sheet_check(sheet, error);
    if (status == STATUS_OK)
        status = throughput_curve_dense(question, curve, side->variant, dense, error);
    if (status != STATUS_OK)
        return status;
    side->count = dense->count;
    for (size_t i = 0; i < dense->count; i++) {
        double values[3];

        read_estimate(side->variant ? &dense->points[i].variant : &dense->points[i].base, side->step_time, values);
        side->x[i] = dense->points[i].concurrency;
        side->y[i] = values[0];
        side->lo[i] = values[1];
        side->hi[i] = values[2];
        if (is_listed(curve, side->x[i]))
            side->told[side->told_count++] = i;
    }
    return STATUS_OK;
}

static void add_band(struct figure_sheet *sheet, const struct side *side, const char *label)
{
    sheet_add_series(sheet, (struct figure_series){.label = label,
                                                   .style = SERIES_STYLE_BAND,
                                                   .count = side->count,
                                                   .x = side->x,
                                                   .y_lo = side->lo,
                                                   .y_hi = side->hi,
                                                   .told = side->told,
                                                   .told_count = side->told_count,
                                                   .color_index = side->color});
}

static void add_line(struct figure_sheet *sheet, const struct side *side)
{
    sheet_add_series(sheet,
                     (struct figure_series){.label = side->label,
                                            .style = side->count > 1 ? SERIES_STYLE_LINE : SERIES_STYLE_LINE_POINTS,
                                            .count = side->count,
                                            .x = side->x,
                                            .y = side->y,
                                            .told = side->told,
                                            .told_count = side->told_count,
                                            .color_index = side->color});
}

static void add_measured(struct figure_sheet *sheet, const struct serving_model *serving, bool step_time)
{
    double *x = sheet_numbers(sheet, serving->point_count), *y = sheet_numbers(sheet, serving->point_count);

    if (serving->point_count == 0 || sheet->failed)
        return;
    for (uint32_t i = 0; i < serving->point_count; i++) {
        const struct serving_point *point = &serving->points[i];

        x[i] = point->concurrency;
        y[i] = step_time ? 1e3 * point->step_time_s
                         : point->concurrency * serving->tokens_per_step_per_request / point->step_time_s;
    }
    sheet_add_series(sheet, (struct figure_series){.label = "measured",
                                                   .style = SERIES_STYLE_POINTS,
                                                   .count = serving->point_count,
                                                   .x = x,
                                                   .y = y,
                                                   .color_index = PLOT_COLOR_MEASURED});
}

/* The first concurrency with nine tenths of the most that the base's curve shows; NaN where that is the last. */
static double saturation(const struct throughput_curve *curve)
{
    double most = 0.0;

    for (size_t i = 0; i < curve->count; i++)
        most = fmax(most, curve->points[i].base.throughput_tokens_per_s);
    for (size_t i = 0; i + 1 < curve->count; i++)
        if (curve->points[i].base.throughput_tokens_per_s >= SATURATION_SHARE * most)
            return curve->points[i].concurrency;
    return (double)NAN;
}

static void add_marks(struct figure_sheet *sheet, const struct throughput_curve *curve, bool step_time)
{
    char text[32];

    if (isfinite(curve->itl_limit_ms)) {
        const char *label = sheet_text(sheet, "ITL limit %s ms", number_format_digits(curve->itl_limit_ms, 4, text));

        if (step_time)
            sheet_add_marker(sheet, false, curve->itl_limit_ms, label);
        else if (curve->within_itl_limit <= curve->points[curve->count - 1].concurrency)
            sheet_add_marker(sheet, true, curve->within_itl_limit, label);
    }
    if (!step_time && isfinite(saturation(curve)))
        sheet_add_marker(sheet, true, saturation(curve), "90 % of the maximum");
}

static const char *interval_label(struct figure_sheet *sheet, const struct question *question)
{
    char percent[32];

    return sheet_text(sheet, "%s %% interval", number_format_digits(100.0 * question->level, 4, percent));
}

/* A legend has no room for long names of several configurations: letters, told in the caption. */
struct naming {
    bool letters;
    int count;
    const char *told;
};

static bool needs_letters(const struct plot_request *request)
{
    const size_t variants = request->variants == NULL ? 0 : request->variants->count;
    size_t longest = 0;

    for (size_t i = 0; i < variants; i++)
        longest = strlen(request->variants->items[i]) > longest ? strlen(request->variants->items[i]) : longest;
    return variants + (request->question->knobs_changed ? 1 : 0) > 1 && longest > NAME_COLUMNS_MAX;
}

static const char *name_of(struct figure_sheet *sheet, struct naming *naming, const char *changes)
{
    const char letter = (char)('A' + naming->count);

    if (!naming->letters)
        return changes;
    naming->count++;
    naming->told = sheet_text(sheet, "%s %c: %s.", naming->told, letter, changes);
    return sheet_text(sheet, "variant %c", letter);
}

/* Bands beneath all lines. */
static enum status fill(const struct plot_request *request, const struct throughput_curve *curve, bool step_time,
                        struct naming *naming, struct figure_sheet *sheet, struct error *error)
{
    struct question *question = request->question;
    struct throughput_curve *dense = sheet_memory(sheet, sizeof *dense);
    const bool variant = curve->has_variant && curve->variant_reason[0] == '\0';
    const char *band = interval_label(sheet, question);
    struct side base = {.step_time = step_time, .color = PLOT_COLOR_BASE, .label = "base"};
    struct side changed = {.variant = true, .step_time = step_time, .color = PLOT_COLOR_VARIANT};
    enum status status = sheet_check(sheet, error);

    if (variant)
        changed.label = name_of(sheet, naming, plot_changes(sheet, question, question->values));
    if (status == STATUS_OK && variant)
        status = compute_side(sheet, question, curve, &changed, dense, error);
    if (status == STATUS_OK)
        status = compute_side(sheet, question, curve, &base, dense, error);
    if (status != STATUS_OK)
        return status;
    if (variant)
        add_band(sheet, &changed, question->step_interval_known ? "" : band);
    if (question->step_interval_known)
        add_band(sheet, &base, band);
    if (variant)
        add_line(sheet, &changed);
    add_line(sheet, &base);
    add_marks(sheet, dense, step_time);
    sheet->figure.x_label = "concurrency (requests in the running batch)";
    sheet->figure.y_label = step_time ? "step time (ms)" : "throughput (tokens/s)";
    sheet->figure.y_from_zero = true;
    return STATUS_OK;
}

static void describe(const struct plot_request *request, const struct throughput_curve *curve, bool step_time,
                     const struct naming *naming, struct figure_sheet *sheet)
{
    const struct question *question = request->question;

    plot_describe(sheet, question, step_time ? "time of a decode step" : "throughput over concurrency",
                  sheet_text(sheet, "Step time: %s.%s%s%s%s", question->step_basis,
                             question->step_interval_known && curve->has_variant && curve->variant_reason[0] == '\0'
                                 ? " Bands in the colours of the lines."
                                 : "",
                             naming->told, curve->variant_reason[0] == '\0' ? "" : " No figures for the variant: ",
                             curve->variant_reason));
}

/* "num_warps=8,num_stages=3" onto values. */
static enum status read_variant(const struct question *question, const char *text, double *values, struct error *error)
{
    enum status status = STATUS_OK;

    while (*text != '\0' && status == STATUS_OK) {
        const size_t length = strcspn(text, ",");
        char assignment[256];

        if (length >= sizeof assignment)
            return error_set(error, STATUS_USAGE, "--variant: \"%.40s...\" is too long", text);
        memcpy(assignment, text, length);
        assignment[length] = '\0';
        status = scenario_set_value(question->scenario, assignment, false, values, error);
        text += length + (text[length] == ',');
    }
    return status;
}

/* The first that differs from the base is vermilion, whether --set or --variant gave it. */
static int variant_color(bool set_changes, size_t index)
{
    return index == 0 && !set_changes ? PLOT_COLOR_VARIANT : PLOT_COLOR_BEST + (int)index - (set_changes ? 0 : 1);
}

/* One more configuration beside base and question; the question is as before afterwards. */
static enum status add_variant(const struct plot_request *request, size_t index, bool step_time,
                               const struct serving_model *serving, struct naming *naming, struct figure_sheet *sheet,
                               struct error *error)
{
    struct question *question = request->question;
    const int color = variant_color(question->knobs_changed, index);
    struct throughput_curve *curve = sheet_memory(sheet, sizeof *curve), *dense = sheet_memory(sheet, sizeof *dense);
    double asked[QUESTION_VALUES_MAX], values[QUESTION_VALUES_MAX];
    enum status status = sheet_check(sheet, error);

    if (status != STATUS_OK)
        return status;
    memcpy(asked, question->values, sizeof asked);
    memcpy(values, question->base, sizeof values);
    status = read_variant(question, request->variants->items[index], values, error);
    if (status != STATUS_OK)
        return status;
    question->serving = *serving;
    question_set_values(question, values);
    status = throughput_curve_make(question, request->curve, curve, error);
    if (status == STATUS_OK && (!curve->has_variant || curve->variant_reason[0] != '\0'))
        status = error_set(error, STATUS_DOMAIN, "--variant %s: %s", request->variants->items[index],
                           curve->has_variant ? curve->variant_reason : "nothing differs from the base");
    if (status == STATUS_OK) {
        struct side side = {.variant = true,
                            .step_time = step_time,
                            .color = color,
                            .label = name_of(sheet, naming, plot_changes(sheet, question, values))};

        status = compute_side(sheet, question, curve, &side, dense, error);
        if (status == STATUS_OK)
            add_line(sheet, &side);
    }
    question_set_values(question, asked);
    return status;
}

static enum status make(const struct plot_request *request, bool step_time, struct figure_sheet *sheet,
                        struct error *error)
{
    struct throughput_curve *curve = sheet_memory(sheet, sizeof *curve);
    struct serving_model *serving = sheet_memory(sheet, sizeof *serving);
    const size_t variants = request->variants == NULL ? 0 : request->variants->count;
    struct naming naming = {.letters = needs_letters(request), .told = ""};
    enum status status = sheet_check(sheet, error);

    if (status != STATUS_OK)
        return status;
    if (variants > VARIANTS_MAX)
        return error_set(error, STATUS_USAGE, "--variant may be given %d times", VARIANTS_MAX);
    *serving = request->question->serving;
    status = throughput_curve_make(request->question, request->curve, curve, error);
    if (status != STATUS_OK)
        return status;
    status = fill(request, curve, step_time, &naming, sheet, error);
    for (size_t i = 0; i < variants && status == STATUS_OK; i++)
        status = add_variant(request, i, step_time, serving, &naming, sheet, error);
    if (status != STATUS_OK)
        return status;
    describe(request, curve, step_time, &naming, sheet);
    add_measured(sheet, &request->question->serving, step_time);
    return sheet_check(sheet, error);
}

enum status plot_throughput(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    return make(request, false, sheet, error);
}

enum status plot_step_time(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    return make(request, true, sheet, error);
}
