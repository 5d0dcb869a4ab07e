/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rankings as text, JSON and CSV. */
#include "cli/sweep_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/quantity_text.h"
#include "cli/report.h"

/* --- recording ---------------------------------------------------------------------------------------------------- */

static void record_values(struct report *report, const struct scenario *scenario, const double *values)
{
    const size_t knobs = scenario_knob_count(scenario), count = scenario_variable_count(scenario);
    report_begin_object(report, "knobs");
    for (size_t i = 0; i < knobs; i++) {
        report_number(report, scenario_variable_get(scenario, i)->name, values[i]);
    }
    report_end(report);
    report_begin_object(report, "workload");
    for (size_t i = knobs; i < count; i++) {
        report_number(report, scenario_variable_get(scenario, i)->name, values[i]);
    }
    report_end(report);
}

static void record_serving(struct report *report, const struct sweep_answer *answer, const struct sweep_entry *entry)
{
    const struct serving_estimate *serving = &entry->serving;
    const bool known = answer->with_throughput;
    const bool interval = known && answer->question->step_interval_known;
    report_number(report, "step_time_ms", known ? serving->step_time_s / SECONDS_PER_MS : (double)NAN);
    report_number(report, "step_time_lo_ms", interval ? serving->step_time_lo_s / SECONDS_PER_MS : (double)NAN);
    report_number(report, "step_time_hi_ms", interval ? serving->step_time_hi_s / SECONDS_PER_MS : (double)NAN);
    report_number(report, "throughput_tokens_per_s", known ? serving->throughput_tokens_per_s : (double)NAN);
    report_number(report, "throughput_lo_tokens_per_s", interval ? serving->throughput_lo_tokens_per_s : (double)NAN);
    report_number(report, "throughput_hi_tokens_per_s", interval ? serving->throughput_hi_tokens_per_s : (double)NAN);
}

static void record_entry(struct report *report, const struct sweep_answer *answer, const struct sweep_entry *entry,
                         size_t rank, double by_value, bool for_table)
{
    const struct kernel_time *kernel = &entry->layer.kernels[0];
    report_begin_object(report, NULL);
    report_integer(report, "rank", (int64_t)rank);
    report_number(report, "by_value", by_value);
    record_values(report, answer->question->scenario, entry->values);
    report_bool(report, "feasible", true);
    report_number(report, "objective_value",
                  answer->objective == SWEEP_OBJECTIVE_EXPRESSION ? entry->objective : (double)NAN);
    if (for_table) {
        report_string(report, "tie", entry->tie ? "=" : "");
    } else {
        report_bool(report, "tie", entry->tie);
    }
    report_number(report, "gain_percent", 100 * entry->gain_fraction);
    report_number(report, "kernel_time_us", entry->layer.time_s / SECONDS_PER_US);
    report_number(report, "kernel_time_lo_us", entry->layer.time_lo_s / SECONDS_PER_US);
    report_number(report, "kernel_time_hi_us", entry->layer.time_hi_s / SECONDS_PER_US);
    record_serving(report, answer, entry);
    report_number(report, "smem_bytes", (double)entry->smem_bytes);
    report_integer(report, "registers_per_thread", entry->registers_per_thread);
    report_integer(report, "ctas_per_sm", kernel->ctas_per_sm);
    report_number(report, "occupancy_fraction", entry->occupancy_fraction);
    report_number(report, "grid_ctas", (double)entry->grid_ctas);
    report_number(report, "waves", kernel->waves.waves);
    report_number(report, "rounds", (double)kernel->waves.rounds);
    report_number(report, "tail_ctas", (double)kernel->waves.tail_ctas);
    report_number(report, "wave_efficiency_fraction", kernel->waves.wave_efficiency_fraction);
    report_number(report, "iterations", entry->iterations);
    report_string(report, "limiter", time_limiter_name(entry->layer.limiter));
    report_bool(report, "extrapolating", entry->extrapolating);
    report_end(report);
}

static void record_reasons(struct report *report, const struct sweep_answer *answer)
{
    static const char *const kinds[] = {"constraint", "launch", "invalid"};
    report_begin_rows(report, "reasons");
    for (size_t i = 0; i < answer->ranking_count; i++) {
        const struct sweep_ranking *ranking = &answer->rankings[i];
        for (size_t k = 0; k < ranking->result.reason_count; k++) {
            const struct sweep_reason *reason = &ranking->result.reasons[k];
            report_begin_object(report, NULL);
            report_number(report, "by_value", ranking->by_value);
            report_string(report, "kind", kinds[reason->kind]);
            report_number(report, "count", (double)reason->count);
            report_string(report, "subject", reason->subject);
            report_string(report, "text", reason->text);
            report_end(report);
        }
    }
    report_end(report);
}

/* "512 CTAs on 188 SMs are 2.72 waves: 3 rounds, 91 % full, 9 iterations each" */
static const char *fill_text(const struct sweep_answer *answer, const struct sweep_entry *entry, char *out, size_t size)
{
    const struct waves *waves = &entry->layer.kernels[0].waves;
    const double sm_count = gpu_device_value(answer->question->device, GPU_FIGURE_SM_COUNT);
    const uint32_t resident = entry->layer.kernels[0].ctas_per_sm;
    char number[32], iterations[32], with[48] = "";
    if (resident > 1) {
        snprintf(with, sizeof with, " with %u CTAs each", resident);
    }
    snprintf(out, size, "%llu CTA%s on %.0f SMs%s %s %s waves: %llu round%s, %.0f %% full, %s iteration%s per CTA",
             (unsigned long long)entry->grid_ctas, entry->grid_ctas == 1 ? "" : "s", sm_count, with,
             entry->grid_ctas == 1 ? "is" : "are", number_format_digits(waves->waves, 3, number),
             (unsigned long long)waves->rounds, waves->rounds == 1 ? "" : "s", 100 * waves->wave_efficiency_fraction,
             number_format_digits(entry->iterations, 4, iterations), entry->iterations == 1 ? "" : "s");
    return out;
}

/* Why the winner wins over the base, in one sentence. */
static void reason_text(const struct sweep_answer *answer, const struct sweep_result *result, char *out, size_t size)
{
    if (result->entry_count == 0 && result->filtered_count > 0) {
        char count[QUANTITY_TEXT_SIZE];
        snprintf(out, size, "%s%s feasible configuration%s --where",
                 result->filtered_count == 1 ? "the " : "none of the ",
                 result->filtered_count == 1 ? "one" : quantity_whole((double)result->filtered_count, count),
                 result->filtered_count == 1 ? " does not pass" : "s passes");
        return;
    }
    if (result->entry_count == 0) {
        snprintf(out, size, "no configuration is feasible");
        return;
    }
    const struct sweep_entry *best = &result->entries[0];
    char best_fill[192], base_fill[192];
    fill_text(answer, best, best_fill, sizeof best_fill);
    if (!result->base_feasible) {
        snprintf(out, size, "%s; the base cannot be launched", best_fill);
    } else if (best->layer.time_s == result->base.layer.time_s && best->grid_ctas == result->base.grid_ctas) {
        snprintf(out, size, "%s, as the base", best_fill);
    } else {
        snprintf(out, size, "%s; the base: %s", best_fill,
                 fill_text(answer, &result->base, base_fill, sizeof base_fill));
    }
}

static void record_rankings(struct report *report, const struct sweep_answer *answer)
{
    report_begin_rows(report, "rankings");
    for (size_t i = 0; i < answer->ranking_count; i++) {
        const struct sweep_result *result = &answer->rankings[i].result;
        char text[512];
        reason_text(answer, result, text, sizeof text);
        report_begin_object(report, NULL);
        report_number(report, "by_value", answer->rankings[i].by_value);
        report_number(report, "config_count", (double)result->space.config_count);
        report_number(report, "feasible_count", (double)result->feasible_count);
        report_number(report, "filtered_count", (double)result->filtered_count);
        report_number(report, "infeasible_count", (double)result->infeasible_count);
        report_number(report, "base_kernel_time_us",
                      result->base_feasible ? result->base.layer.time_s / SECONDS_PER_US : (double)NAN);
        report_string(report, "reason", text);
        report_end(report);
    }
    report_end(report);
    report_begin_rows(report, "entries");
    for (size_t i = 0; i < answer->ranking_count; i++) {
        const struct sweep_result *result = &answer->rankings[i].result;
        for (size_t k = 0; k < result->entry_count; k++) {
            record_entry(report, answer, &result->entries[k], k + 1, answer->rankings[i].by_value, false);
        }
    }
    report_end(report);
}

/* Null where the step was not ranked. */
static void record_step_winner(struct report *report, const struct sweep_answer *answer)
{
    if (answer->step_winner == STEP_WINNER_UNKNOWN) {
        report_string(report, "step_winner_differs", NULL);
        report_string(report, "step_winner_tie", NULL);
        return;
    }
    report_bool(report, "step_winner_differs", answer->step_winner != STEP_WINNER_SAME);
    report_bool(report, "step_winner_tie", answer->step_winner == STEP_WINNER_TIED);
}

static void record(struct report *report, const struct sweep_answer *answer)
{
    const struct question *question = answer->question;
    const struct config_space *space = &answer->rankings[0].result.space;
    report_string(report, "scenario", scenario_name(question->scenario));
    report_string(report, "device", question->device->name);
    report_string(report, "objective", answer->objective_text);
    report_string(report, "where", answer->where);
    report_begin_array(report, "varied");
    for (uint32_t i = 0; i < space->varied_count; i++) {
        report_string(report, NULL, scenario_variable_get(question->scenario, space->varied[i])->name);
    }
    report_end(report);
    report_string(report, "by",
                  answer->by < 0 ? NULL : scenario_variable_get(question->scenario, (size_t)answer->by)->name);
    report_number(report, "interval_level", question->level);
    report_string(report, "calibration", question->parameters.calibration);
    record_rankings(report, answer);
    record_reasons(report, answer);
    record_step_winner(report, answer);
}

/* --- text --------------------------------------------------------------------------------------------------------- */

/* How many of the shown lie outside of what the calibration has seen. */
static void print_extrapolating(const struct sweep_answer *answer)
{
    size_t shown = 0, outside = 0;
    for (size_t i = 0; i < answer->ranking_count; i++) {
        shown += answer->rankings[i].result.entry_count;
        for (size_t k = 0; k < answer->rankings[i].result.entry_count; k++) {
            outside += answer->rankings[i].result.entries[k].extrapolating;
        }
    }
    if (outside > 0) {
        printf("Extrapolating: %zu of the %zu shown lie outside of what %s was calibrated on\n", outside, shown,
               answer->question->parameters.calibration);
    }
}

enum {
    TABLE_COLUMNS_MAX = CONFIG_VARIABLES_MAX + 24,
    COLUMN_KEY_SIZE = 96
};

struct table_columns {
    size_t count;
    struct report_column items[TABLE_COLUMNS_MAX];
    char keys[CONFIG_VARIABLES_MAX][COLUMN_KEY_SIZE];
};

static void add_column(struct table_columns *columns, const char *key, const char *heading, int digits)
{
    columns->items[columns->count++] = (struct report_column){key, heading, digits};
}

static void add_varied(struct table_columns *columns, const struct sweep_answer *answer)
{
    const struct config_space *space = &answer->rankings[0].result.space;
    for (uint32_t i = 0; i < space->varied_count; i++) {
        const struct scenario_variable *variable = scenario_variable_get(answer->question->scenario, space->varied[i]);
        snprintf(columns->keys[i], sizeof columns->keys[i], "%s.%s", variable->is_knob ? "knobs" : "workload",
                 variable->name);
        add_column(columns, columns->keys[i], variable->name, 6);
    }
}

static void set_columns(struct table_columns *columns, const struct sweep_answer *answer)
{
    columns->count = 0;
    add_column(columns, "rank", "rank", 6);
    add_column(columns, "tie", "tie", 0);
    add_varied(columns, answer);
    if (answer->with_throughput) {
        add_column(columns, "throughput_tokens_per_s", "tok/s", 4);
        if (answer->question->step_interval_known) {
            add_column(columns, "throughput_lo_tokens_per_s", "from", 4);
            add_column(columns, "throughput_hi_tokens_per_s", "to", 4);
        }
    }
    if (answer->objective == SWEEP_OBJECTIVE_EXPRESSION) {
        add_column(columns, "objective_value", "objective", 5);
    }
    add_column(columns, "kernel_time_us", "time us", 4);
    add_column(columns, "kernel_time_lo_us", "from", 3);
    add_column(columns, "kernel_time_hi_us", "to", 3);
    add_column(columns, "gain_percent", "gain %", 3);
    add_column(columns, "ctas_per_sm", "CTAs/SM", 3);
    add_column(columns, "grid_ctas", "grid", 12);
    add_column(columns, "waves", "waves", 3);
    add_column(columns, "rounds", "rounds", 6);
    add_column(columns, "tail_ctas", "tail", 6);
    add_column(columns, "iterations", "iterations", 4);
    add_column(columns, "limiter", "limiter", 0);
}

/* report_print_table takes one list; each ranking gets a report of its own. */
static enum status print_ranking(const struct sweep_answer *answer, const struct sweep_ranking *ranking,
                                 struct error *error)
{
    struct table_columns columns;
    struct report report = {0};
    set_columns(&columns, answer);
    report_begin_rows(&report, "entries");
    for (size_t k = 0; k < ranking->result.entry_count; k++) {
        record_entry(&report, answer, &ranking->result.entries[k], k + 1, ranking->by_value, true);
    }
    report_end(&report);
    const enum status status = report_print_table(&report, "entries", columns.items, columns.count, stdout, error);
    report_release(&report);
    return status;
}

static void print_settings(const struct sweep_answer *answer)
{
    const struct question *question = answer->question;
    const struct config_space *space = &answer->rankings[0].result.space;
    char number[32], count[QUANTITY_TEXT_SIZE];
    bool varied[CONFIG_VARIABLES_MAX] = {false};
    printf("%s on %s\n%s configurations of", scenario_name(question->scenario), question->device->title,
           quantity_whole((double)space->config_count, count));
    for (uint32_t i = 0; i < space->varied_count; i++) {
        printf("%s %s", i ? "," : "", scenario_variable_get(question->scenario, space->varied[i])->name);
        varied[space->varied[i]] = true;
    }
    const char *separator = "; ";
    for (size_t i = 0; i < scenario_variable_count(question->scenario); i++) {
        if (!varied[i] && (long)i != answer->by) {
            printf("%s%s=%s", separator, scenario_variable_get(question->scenario, i)->name,
                   number_format(space->values[i], number));
            separator = " ";
        }
    }
    printf("\nRanked by %s%s%s; model parameters: %s\n", answer->objective_text, answer->where ? " where " : "",
           answer->where ? answer->where : "", question->parameters.calibration);
    print_extrapolating(answer);
    if (answer->objective == SWEEP_OBJECTIVE_TIME && scenario_layer_group_count(question->scenario) > 0) {
        printf("time is that of one layer of the base workload; --objective throughput ranks the whole step\n");
    }
}

/* Where the step, with its layers' own workloads, ranks another configuration first. */
static void print_step_winner(const struct sweep_answer *answer)
{
    const struct config_space *space = &answer->rankings[0].result.space;
    char number[32];
    if (answer->step_winner == STEP_WINNER_UNKNOWN || answer->step_winner == STEP_WINNER_SAME) {
        return;
    }
    printf("The whole step ranks another first:");
    for (uint32_t i = 0; i < space->varied_count; i++) {
        printf(" %s=%s", scenario_variable_get(answer->question->scenario, space->varied[i])->name,
               number_format(answer->step_winner_values[space->varied[i]], number));
    }
    printf("%s\n", answer->step_winner == STEP_WINNER_TIED ? ", not to be told there from the best above" : "");
}

static void print_counts(const struct sweep_answer *answer, const struct sweep_result *result)
{
    char feasible[QUANTITY_TEXT_SIZE], infeasible[QUANTITY_TEXT_SIZE], filtered[QUANTITY_TEXT_SIZE];
    char count[QUANTITY_TEXT_SIZE];
    printf("%s feasible%s, %s infeasible", quantity_whole((double)result->feasible_count, feasible),
           answer->where ? " that pass --where" : "", quantity_whole((double)result->infeasible_count, infeasible));
    if (answer->where) {
        printf(", %s feasible but left out by it", quantity_whole((double)result->filtered_count, filtered));
    }
    printf("\n");
    for (size_t i = 0; i < result->reason_count; i++) {
        const struct sweep_reason *reason = &result->reasons[i];
        printf("%12s  ", quantity_whole((double)reason->count, count));
        switch (reason->kind) {
        case SWEEP_REASON_CONSTRAINT:
            printf("not %s: %s\n", reason->subject, reason->text);
            break;
        case SWEEP_REASON_LAUNCH:
            printf("kernel %s: %s\n", reason->subject, reason->text);
            break;
        case SWEEP_REASON_INVALID:
            printf("%s%s\n", reason->text, reason->count > 1 ? " (the first of them)" : "");
            break;
        }
    }
}

static bool has_ties(const struct sweep_answer *answer)
{
    for (size_t i = 0; i < answer->ranking_count; i++) {
        const struct sweep_result *result = &answer->rankings[i].result;
        for (size_t k = 0; k < result->entry_count; k++) {
            if (result->entries[k].tie) {
                return true;
            }
        }
    }
    return false;
}

static enum status print_rankings(const struct sweep_answer *answer, struct error *error)
{
    for (size_t i = 0; i < answer->ranking_count; i++) {
        const struct sweep_ranking *ranking = &answer->rankings[i];
        char number[32], text[512];
        printf("\n");
        if (answer->by >= 0) {
            printf("%s=%s\n", scenario_variable_get(answer->question->scenario, (size_t)answer->by)->name,
                   number_format(ranking->by_value, number));
        }
        if (ranking->result.entry_count) {
            const enum status status = print_ranking(answer, ranking, error);
            if (status) {
                return status;
            }
        }
        reason_text(answer, &ranking->result, text, sizeof text);
        printf("%s: %s\n", ranking->result.entry_count ? "Best" : "None", text);
        print_step_winner(answer);
        if (answer->by < 0 || ranking->result.infeasible_count || answer->where) {
            print_counts(answer, &ranking->result);
        }
    }
    if (has_ties(answer)) {
        printf("\n= not to be told from the best: the difference lies within its own %g %% interval\n",
               100 * answer->question->level);
    }
    return STATUS_OK;
}

enum status sweep_answer_print(const struct sweep_answer *answer, enum output_format format, struct error *error)
{
    if (format != OUTPUT_FORMAT_TEXT) {
        struct report report = {0};
        record(&report, answer);
        const enum status status = report_print(&report, format, "entries", stdout, error);
        report_release(&report);
        return status;
    }
    print_settings(answer);
    return print_rankings(answer, error);
}
