/* SPDX-License-Identifier: GPL-3.0-or-later
 * The sections of a report: question, answer, configurations, figures, sources, accuracy, proposal, provenance. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/page_report.h"
#include "cli/program_version.h"
#include "cli/quantity_text.h"
#include "cli/scenario_notes.h"
#include "cli/whatif.h"

enum {
    CONFIG_TEXT_SIZE = 1024,
    NUMBERS_MAX = 150 /* points of a figure that are told as a table */
};
#define FILE_BYTES_MAX (256u << 20)

/* "num_warps=4 num_stages=2 | C=96": knobs and workload, or the knobs alone. */
static const char *configuration_text(const struct question *question, const double *values, bool workload,
                                      char out[CONFIG_TEXT_SIZE])
{
    const size_t knobs = scenario_knob_count(question->scenario);
    size_t used = 0;
    char number[32];

    out[0] = '\0';
    for (size_t i = 0; i < (workload ? scenario_variable_count(question->scenario) : knobs); i++) {
        int added = snprintf(out + used, CONFIG_TEXT_SIZE - used, "%s%s=%s",
                             i == 0       ? ""
                             : i == knobs ? " | "
                                          : " ",
                             scenario_variable_get(question->scenario, i)->name, number_format(values[i], number));

        if (added < 0 || (size_t)added >= CONFIG_TEXT_SIZE - used)
            break;
        used += (size_t)added;
    }
    return out;
}

/* ---- question and answer ----------------------------------------------------------------------------------------- */

/* What the times are those of: a layer of a step, or, where the scenario tells of no layers, its kernels once. */
static const char *work_text(const struct question *question)
{
    return scenario_layer_group_count(question->scenario) > 0 ? "a layer" : "one run";
}

static void write_question(struct page *page, const struct report_answer *answer)
{
    const struct question *question = answer->request.question;
    char base[CONFIG_TEXT_SIZE], asked[CONFIG_TEXT_SIZE];

    page_section(page, "question", "Question");
    page_paragraph(page, "How long does %s take on %s%s, and is there a better configuration?", work_text(question),
                   question->device->title, answer->base.has_step ? ", what would serving give" : "");
    page_paragraph(page, "Base: %s", configuration_text(question, question->base, true, base));
    if (question->knobs_changed || question->workload_changed)
        page_paragraph(page, "Asked: %s", configuration_text(question, question->values, true, asked));
    page_section_end(page);
}

static const char *limiter_of(const struct layer_time *time, char *out, size_t size)
{
    char share[QUANTITY_TEXT_SIZE];

    (void)snprintf(out, size, "%s (%s of it)", time_limiter_name(time->limiter),
                   quantity_percent(time->shares[time->limiter], share));
    return out;
}

/* " (1 to 2)", "" where there is no interval. Returns out. */
static const char *interval_text(double lo, double hi, char out[2 * QUANTITY_TEXT_SIZE])
{
    char from[QUANTITY_TEXT_SIZE], to[QUANTITY_TEXT_SIZE];

    out[0] = '\0';
    if (isfinite(lo) && isfinite(hi))
        (void)snprintf(out, 2 * QUANTITY_TEXT_SIZE, " (%.40s to %.40s)", quantity_number(lo, from),
                       quantity_number(hi, to));
    return out;
}

static void write_time(struct page *page, const struct question *question, const char *name,
                       const struct prediction *prediction)
{
    char time[QUANTITY_TEXT_SIZE], limiter[128], rate[QUANTITY_TEXT_SIZE], interval[2 * QUANTITY_TEXT_SIZE],
        step[QUANTITY_TEXT_SIZE], level[32];

    if (!prediction->has_time) {
        page_item(page, "%s cannot run: %s", name,
                  prediction->reason[0] != '\0' ? prediction->reason : question->untimed.text);
        return;
    }
    page_item(
        page, "%s: %s takes %s, interval of %s %%; most of it goes to %s.", name, work_text(question),
        quantity_time_interval(prediction->time.time_s, prediction->time.time_lo_s, prediction->time.time_hi_s, time),
        number_format_digits(100.0 * question->level, 4, level),
        limiter_of(&prediction->time, limiter, sizeof limiter));
    if (prediction->has_step)
        page_item(page, "%s: %s tokens/s%s with %g request%s, %s per step. Step time: %s.", name,
                  quantity_number(prediction->step.throughput_tokens_per_s, rate),
                  interval_text(prediction->step.throughput_lo_tokens_per_s,
                                prediction->step.throughput_hi_tokens_per_s, interval),
                  prediction->concurrency, prediction->concurrency == 1.0 ? "" : "s",
                  quantity_time(prediction->step.step_time_s, step), question->step_basis);
    if (prediction->extrapolating)
        page_item(page, "%s extrapolates: %s.", name, prediction->extrapolation);
}

/* The change against the base, as whatif says it. */
static void write_effect(struct page *page, const struct report_answer *answer)
{
    const struct variant_effect *effect = &answer->asked.effect;
    const bool step = isfinite(effect->throughput_change_fraction.center);
    char center[QUANTITY_TEXT_SIZE], lo[QUANTITY_TEXT_SIZE], hi[QUANTITY_TEXT_SIZE];

    if (!answer->asked.has_effect)
        return;
    if (step)
        page_item(page,
                  "Throughput changes by %s (%s to %s) against the base; the change makes it slower with a "
                  "probability of %.0f %%.",
                  quantity_percent(effect->throughput_change_fraction.center, center),
                  quantity_percent(effect->throughput_change_fraction.lo, lo),
                  quantity_percent(effect->throughput_change_fraction.hi, hi), 100.0 * effect->probability_slower);
    else
        page_item(page, "The kernels take %.3g times as long as the base's (%.3g to %.3g).",
                  effect->kernel_ratio.center, effect->kernel_ratio.lo, effect->kernel_ratio.hi);
}

static void write_notes(struct page *page, const struct question *question)
{
    for (size_t i = 0; i < scenario_note_count(question->scenario); i++) {
        const struct scenario_note *note = scenario_note_get(question->scenario, i);
        struct error ignored = {0};
        bool applies = false, known = false;

        if (scenario_note_concerns(question, i, &applies, &known, &ignored) == STATUS_OK && applies)
            page_item(page, "To be weighed against it: %s (%s).", note->text, note->source);
    }
}

static void answer_sentence(struct page *page, const struct report_answer *answer)
{
    const struct question *question = answer->request.question;
    char time[QUANTITY_TEXT_SIZE];

    if (!answer->asked.has_time)
        page_answer(page, "No time can be told for this configuration: %s.",
                    answer->asked.reason[0] != '\0' ? answer->asked.reason : question->untimed.text);
    else if (question->knobs_changed && answer->asked.has_effect)
        page_answer(page, "The changed configuration is %s than the base: %s takes %s.",
                    strcmp(whatif_verdict(&answer->asked.effect), "no change") == 0
                        ? "not told apart"
                        : whatif_verdict(&answer->asked.effect),
                    work_text(question), quantity_time(answer->asked.time.time_s, time));
    else
        page_answer(page, "With the base configuration %s takes %s.", work_text(question),
                    quantity_time_interval(answer->asked.time.time_s, answer->asked.time.time_lo_s,
                                           answer->asked.time.time_hi_s, time));
}

static size_t tie_count(const struct sweep_result *sweep)
{
    size_t count = 0;

    for (size_t i = 0; i < sweep->entry_count; i++)
        count += sweep->entries[i].tie;
    return count;
}

static void write_best(struct page *page, const struct report_answer *answer)
{
    const struct sweep_result *sweep = &answer->sweep;
    char config[CONFIG_TEXT_SIZE], time[QUANTITY_TEXT_SIZE], gain[QUANTITY_TEXT_SIZE];

    if (!answer->has_sweep || sweep->entry_count == 0)
        return;
    page_item(page, "The best of %" PRIu64 " configurations by prediction: %s, %s for %s (speed against the base: %s).",
              sweep->space.config_count,
              configuration_text(answer->request.question, sweep->entries[0].values, false, config),
              quantity_time(sweep->entries[0].layer.time_s, time), work_text(answer->request.question),
              quantity_percent(sweep->entries[0].gain_fraction, gain));
    if (tie_count(sweep) > 0)
        page_item(page, "%zu of the next %zu are not to be told from it.", tie_count(sweep), sweep->entry_count - 1);
}

static void write_answer(struct page *page, const struct report_answer *answer)
{
    const struct question *question = answer->request.question;

    page_section(page, "answer", "Answer");
    answer_sentence(page, answer);
    page_list(page);
    if (question->knobs_changed)
        write_time(page, question, "As asked", &answer->asked);
    write_time(page, question, "Base", &answer->base);
    if (question->knobs_changed)
        write_effect(page, answer);
    write_best(page, answer);
    write_notes(page, question);
    page_list_end(page);
    page_section_end(page);
}

/* ---- configurations ---------------------------------------------------------------------------------------------- */

static void write_sweep_row(struct page *page, const struct question *question, const struct sweep_entry *entry,
                            const char *rank)
{
    enum {
        FIXED = 8
    };
    const char *cells[SCENARIO_KNOBS_MAX + FIXED];
    char texts[SCENARIO_KNOBS_MAX + FIXED][QUANTITY_TEXT_SIZE];
    const size_t knobs = scenario_knob_count(question->scenario);
    size_t n = 0;

    cells[n++] = rank;
    for (size_t i = 0; i < knobs; i++, n++)
        cells[n] = number_format(entry->values[i], texts[n]);
    const double numbers[] = {entry->layer.time_s / SECONDS_PER_US, entry->layer.time_lo_s / SECONDS_PER_US,
                              entry->layer.time_hi_s / SECONDS_PER_US,
                              quantity_percent_shown(100.0 * entry->gain_fraction)};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++, n++)
        cells[n] = isfinite(numbers[i]) ? number_format_digits(numbers[i], 4, texts[n]) : "-";
    cells[n++] = time_limiter_name(entry->layer.limiter);
    cells[n++] = entry->tie ? "tie" : entry->extrapolating ? "extrapolates" : "";
    page_row(page, cells);
}

static void write_configurations(struct page *page, const struct report_answer *answer)
{
    const struct question *question = answer->request.question;
    const struct sweep_result *sweep = &answer->sweep;
    const char *headings[SCENARIO_KNOBS_MAX + 8];
    char caption[80];
    size_t n = 0;

    page_section(page, "configurations", "Configurations");
    if (!answer->has_sweep || sweep->entry_count == 0) {
        page_paragraph(page, "No ranking: %s.", answer->has_sweep ? "no configuration can run" : answer->no_sweep);
        page_section_end(page);
        return;
    }
    headings[n++] = "rank";
    for (size_t i = 0; i < scenario_knob_count(question->scenario); i++)
        headings[n++] = scenario_variable_get(question->scenario, i)->name;
    headings[n++] = "time us";
    headings[n++] = "from us";
    headings[n++] = "to us";
    headings[n++] = "gain %";
    headings[n++] = "limiter";
    headings[n++] = "remark";
    (void)snprintf(caption, sizeof caption, "Configurations with the least predicted time of %s", work_text(question));
    page_table(page, caption, headings, n);
    for (size_t i = 0; i < sweep->entry_count; i++) {
        char rank[32];

        write_sweep_row(page, question, &sweep->entries[i], number_format((double)(i + 1), rank));
    }
    if (sweep->base_feasible)
        write_sweep_row(page, question, &sweep->base, "base");
    page_table_end(page);
    if (tie_count(sweep) > 0)
        page_paragraph(page, "tie: not to be told from the best, the difference lies within its own interval.");
    page_paragraph(page, "%" PRIu64 " can run, %" PRIu64 " cannot.", sweep->feasible_count, sweep->infeasible_count);
    page_list(page);
    for (size_t i = 0; i < sweep->reason_count && i < REPORT_TOP; i++)
        page_item(page, "%" PRIu64 ": %s%s%s", sweep->reasons[i].count, sweep->reasons[i].subject,
                  sweep->reasons[i].subject[0] == '\0' ? "" : ": ", sweep->reasons[i].text);
    page_list_end(page);
    page_section_end(page);
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

/* The path of a kept figure as seen from the report's folder, where it lies below it. */
static const char *link_of(const struct report_answer *answer, const char *name, char *out, size_t size)
{
    const char *slash = answer->output == NULL ? NULL : strrchr(answer->output, '/'), *folder = answer->keep;
    const size_t length = slash == NULL ? 0 : (size_t)(slash - answer->output) + 1;

    if (folder == NULL)
        return NULL;
    if (length > 0 && strncmp(folder, answer->output, length) == 0)
        folder += length;
    (void)snprintf(out, size, "%s%s%s.svg", folder, *folder == '\0' ? "" : "/", name);
    return out;
}

/* A number, or the label that the axis has there. */
static const char *axis_text(double value, const struct figure_tick *ticks, size_t count, char out[32])
{
    for (size_t i = 0; i < count; i++)
        if (fabs(ticks[i].position - value) < 1e-9)
            return ticks[i].label;
    return isfinite(value) ? number_format_digits(value, 6, out) : "-";
}

static double or_unknown(const double *values, size_t i)
{
    return values == NULL ? (double)NAN : values[i];
}

static void write_point(struct page *page, const struct figure *figure, const struct figure_series *series, size_t i)
{
    const bool cell = series->shade != NULL;
    const double x = cell ? 0.5 * (series->x_lo[i] + series->x_hi[i]) : series->x[i];
    const double y = cell ? 0.5 * (series->y_lo[i] + series->y_hi[i]) : or_unknown(series->y, i);
    char texts[4][32];

    page_row(page,
             (const char *const[]){series->label, axis_text(x, figure->x_ticks, figure->x_tick_count, texts[0]),
                                   axis_text(y, figure->y_ticks, figure->y_tick_count, texts[1]),
                                   axis_text(cell ? series->shade[i] : or_unknown(series->y_lo, i), NULL, 0, texts[2]),
                                   axis_text(cell ? (double)NAN : or_unknown(series->y_hi, i), NULL, 0, texts[3])});
}

static size_t told_points(const struct figure_series *series)
{
    return series->told == NULL ? series->count : series->told_count;
}

/* The numbers behind a figure, for who cannot see it; of many points some. The kept CSV has all. */
static void write_numbers(struct page *page, const struct figure *figure)
{
    size_t count = 0;
    bool cells = false;
    char summary[64];

    for (size_t s = 0; s < figure->series_count; s++) {
        const struct figure_series *series = &figure->series[s];

        cells = cells || series->shade != NULL;
        count += series->style == SERIES_STYLE_BOXES && series->shade == NULL ? 0 : told_points(series);
    }
    if (!page->html || count == 0)
        return;
    const size_t step = (count + NUMBERS_MAX - 1) / NUMBERS_MAX;

    (void)snprintf(summary, sizeof summary, "Numbers");
    if (step > 1)
        (void)snprintf(summary, sizeof summary, "Numbers, one of every %zu", step);
    page_details(page, summary);
    page_table(page, figure->title,
               (const char *const[]){"series", figure->x_label, figure->y_label, cells ? figure->shade_label : "from",
                                     cells ? "" : "to"},
               5);
    for (size_t s = 0; s < figure->series_count; s++)
        if (figure->series[s].style != SERIES_STYLE_BOXES || figure->series[s].shade != NULL)
            for (size_t i = 0; i < told_points(&figure->series[s]); i += step)
                write_point(page, figure, &figure->series[s],
                            figure->series[s].told == NULL ? i : figure->series[s].told[i]);
    page_table_end(page);
    page_details_end(page);
}

static void write_figures(struct page *page, const struct report_answer *answer)
{
    bool missing = false;
    char link[1024];

    page_section(page, "figures", "Figures");
    for (size_t i = 0; i < answer->figure_count; i++) {
        const struct report_figure *figure = &answer->figures[i];

        missing = missing || figure->reason[0] != '\0';
        if (figure->reason[0] != '\0')
            continue;
        page_figure(page, &(struct page_drawing){.name = figure->name,
                                                 .title = figure->sheet->figure.title,
                                                 .caption = figure->sheet->figure.caption,
                                                 .broad = figure->svg.text == NULL ? "" : figure->svg.text,
                                                 .narrow = figure->narrow.text == NULL ? "" : figure->narrow.text,
                                                 .link = link_of(answer, figure->name, link, sizeof link)});
        write_numbers(page, &figure->sheet->figure);
        page_figure_end(page);
    }
    if (missing) {
        page_paragraph(page, "Not drawn:");
        page_list(page);
        for (size_t i = 0; i < answer->figure_count; i++)
            if (answer->figures[i].reason[0] != '\0')
                page_item(page, "%s: %s", answer->figures[i].row->name, answer->figures[i].reason);
        page_list_end(page);
    }
    page_section_end(page);
}

static void write_proposals(struct page *page, struct report_answer *answer)
{
    static const char *const headings[] = {"rank", "configuration", "expected", "from", "to", "best with", "reason"};
    const bool throughput = answer->search.is_throughput;

    page_table(page, throughput ? "The next runs worth their cost, tokens/s" : "The next runs worth their cost, us",
               headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < answer->proposal_count; i++) {
        const struct search_proposal *proposal = &answer->proposals[i];
        const double ends[] = {proposal->value, throughput ? proposal->value_hi : proposal->value_lo,
                               throughput ? proposal->value_lo : proposal->value_hi};
        char rank[32], config[CONFIG_TEXT_SIZE], numbers[3][32], best[QUANTITY_TEXT_SIZE];
        const char *cells[] = {number_format((double)(i + 1), rank),
                               search_config_text(&answer->search, proposal->config, config, sizeof config),
                               "-",
                               "-",
                               "-",
                               quantity_percent(proposal->best_probability, best),
                               search_reason_name(proposal->reason)};

        for (int k = 0; k < 3; k++)
            if (isfinite(ends[k]))
                cells[2 + k] = number_format_digits(search_shown_value(&answer->search, ends[k]), 4, numbers[k]);
        page_row(page, cells);
    }
    page_table_end(page);
}

static void write_proposal(struct page *page, struct report_answer *answer)
{
    const struct question *question = answer->request.question;

    page_section(page, "proposal", "What to try next");
    if (answer->proposal_count == 0) {
        page_paragraph(page, "No proposal: %s.",
                       answer->no_proposals[0] != '\0' ? answer->no_proposals : "every configuration was run");
    } else {
        write_proposals(page, answer);
        page_paragraph(page,
                       "As occam propose ranks them, told of %zu measured row%s: exploit is the best expected, explore "
                       "where most may be gained from knowing, settle the best once more. From and to are meant to "
                       "hold %.3g %% of the "
                       "runs.",
                       answer->run_count, answer->run_count == 1 ? "" : "s", 100 * question->level);
    }
    if (question->calibration == NULL && question->timed)
        page_paragraph(page, "A calibration from about 24 measured rows narrows the intervals most (occam measure, "
                             "occam calibrate).");
    page_section_end(page);
}

/* ---- provenance -------------------------------------------------------------------------------------------------- */

static void write_file_hash(struct page *page, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    struct error ignored = {0};

    if (file_read_text(path, FILE_BYTES_MAX, &text, &length, &ignored) != STATUS_OK) {
        page_item(page, "data %s", path);
        return;
    }
    page_item(page, "data %s, %zu bytes, hash %016" PRIx64, path, length, hash_bytes(HASH_START, text, length));
    free(text);
}

static void write_provenance(struct page *page, const struct report_answer *answer, const char *date)
{
    const struct question *question = answer->request.question;
    const struct curve_options *curve = answer->request.curve;
    char version[32];
    struct error ignored = {0};

    page_section(page, "provenance", "Provenance");
    page_list(page);
    page_item(page, "occam %s, revision %s, %s", program_version(), program_revision(), date);
    page_item(page, "scenario %s, hash %016" PRIx64, scenario_path(question->scenario),
              scenario_hash(question->scenario));
    page_item(page, "GPU %s (%s)", question->device->name,
              device_catalogue_origin(question->catalogue, question->device));
    if (question->calibration != NULL)
        page_item(page, "calibration %s of %s, from rows with hash %016" PRIx64, question->calibration->name,
                  question->calibration->date, question->calibration->rows_hash);
    for (size_t i = 0; i < curve->measured.count; i++)
        write_file_hash(page, curve->measured.items[i]);
    for (size_t i = 0; i < answer->tables->count; i++)
        write_file_hash(page, answer->tables->items[i]);
    if (gnuplot_version(version, sizeof version, &ignored) == STATUS_OK)
        page_item(page, "figures drawn by gnuplot %s", version);
    page_list_end(page);
    page_section_end(page);
}

void report_write(struct page *page, struct report_answer *answer)
{
    static const char *const ids[] = {"question", "answer",   "configurations", "figures",
                                      "sources",  "accuracy", "proposal",       "provenance"};
    static const char *const headings[] = {
        "Question",          "Answer",           "Configurations", "Figures", "What is measured, fitted, assumed",
        "Held-out accuracy", "What to try next", "Provenance"};
    const struct question *question = answer->request.question;
    const char *title = scenario_title(question->scenario);
    struct figure_sheet *sheet = answer->figure_count > 0 ? answer->figures[0].sheet : NULL;
    const char *date = sheet == NULL ? "" : plot_date(sheet);
    char subtitle[512];

    (void)snprintf(subtitle, sizeof subtitle, "%s on %s, model parameters: %s, %s", scenario_name(question->scenario),
                   question->device->title, question->parameters.calibration, date);
    page_begin(page, *title == '\0' ? scenario_name(question->scenario) : title, subtitle);
    page_contents(page, ids, headings, sizeof ids / sizeof ids[0]);
    write_question(page, answer);
    write_answer(page, answer);
    write_configurations(page, answer);
    write_figures(page, answer);
    report_write_sources(page, answer);
    report_write_accuracy(page, answer);
    write_proposal(page, answer);
    write_provenance(page, answer, date);
    page_end(page);
}
