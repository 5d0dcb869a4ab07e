/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam reconcile` for people: the conflicts in full, what agrees in a line. */
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/evidence_remarks.h"
#include "cli/inspect_evidence.h"
#include "cli/quantity_text.h"
#include "cli/reconcile.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/claims/claim_rank.h"

enum {
    FULL_CASES_MAX = 3, /* without conflict, printed in full; more become rows of a table */
    TABLE_ROWS_MAX = 60,
    PLACES_MAX = 9 /* files of a case that get a number */
};

/* The files that a case is about, each with its kind of source. */
struct places {
    size_t count, more;
    const struct kernel_claim *items[PLACES_MAX];
};

static const struct kernel_claim *claim_at(const struct reconciliation *self, size_t index)
{
    return &self->claims->items[index];
}

static void print_heading(const struct claim_case *item, const struct reconcile_conclusion *conclusion)
{
    (void)printf("%.120s", item->name[0] != '\0' ? item->name : "the kernel");
    if (item->arch != 0) {
        (void)printf(", sm_%u", item->arch);
    }
    if (item->device[0] != '\0') {
        (void)printf(", %s", item->device);
    }
    (void)printf(": %s%s\n", reconcile_verdict_name(conclusion->verdict),
                 item->is_launched ? "" : ", not seen running");
}

static size_t place_of(const struct places *places, const struct kernel_claim *claim)
{
    for (size_t i = 0; i < places->count; i++) {
        if (places->items[i]->source == claim->source && strcmp(places->items[i]->file, claim->file) == 0) {
            return i + 1;
        }
    }
    return 0;
}

static void find_places(const struct reconciliation *self, const struct claim_case *item, struct places *places)
{
    *places = (struct places){0};
    for (size_t i = 0; i < item->claim_count; i++) {
        const struct kernel_claim *claim = claim_at(self, item->claims[i]);
        if (place_of(places, claim) != 0) {
            continue;
        }
        if (places->count < PLACES_MAX) {
            places->items[places->count++] = claim;
        } else {
            places->more++;
        }
    }
}

static void print_places(const struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        const struct kernel_claim *claim = places->items[i];
        (void)printf("  [%zu] %-18s %s\n", i + 1, claim_source_name(claim->source),
                     claim_is_stated(claim) ? "stated on the command line" : claim->file);
    }
    if (places->more > 0) {
        (void)printf("  and %zu more\n", places->more);
    }
}

static void print_sources(const struct reconciliation *self, const struct places *places,
                          const struct claim_reading *reading)
{
    bool told[PLACES_MAX + 1] = {false};
    for (size_t i = 0; i < reading->count; i++) {
        const size_t place = place_of(places, claim_at(self, reading->claims[i]));
        if (!told[place] && place > 0) {
            (void)printf("[%zu]", place);
        }
        told[place] = true;
    }
    (void)printf("%s\n", told[0] ? " and more" : "");
}

static void print_comparison(const struct reconciliation *self, const struct places *places,
                             const struct claim_comparison *comparison)
{
    char value[96];
    const char *figure = reconcile_figure_text(comparison->figure);
    if (comparison->reading_count == 1) {
        (void)printf("  %-22s %-22s ", figure,
                     reconcile_value_text(comparison->figure, &comparison->readings[0].value, value, sizeof value));
        print_sources(self, places, &comparison->readings[0]);
        return;
    }
    (void)printf("  %-22s conflict\n", figure);
    for (size_t i = 0; i < comparison->reading_count; i++) {
        const struct claim_reading *reading = &comparison->readings[i];
        const char *role = comparison->is_undecided ? "either" : i == 0 ? "trusted" : "against";
        (void)printf("    %-20s %-22s ", role,
                     reconcile_value_text(comparison->figure, &reading->value, value, sizeof value));
        print_sources(self, places, reading);
        (void)printf("    %-20s %s: %s\n", "", claim_source_name(claim_at(self, reading->lead)->source),
                     claim_rank_of(claim_at(self, reading->lead)->source)->reason);
    }
}

static void print_charged(const struct claim_case *item, const struct reconcile_conclusion *conclusion)
{
    char launch[96], charged[QUANTITY_TEXT_SIZE];
    const struct claim_occupancy *occupancy = &conclusion->occupancy[0];
    if (conclusion->device_count > 0 && claim_value_is_exact(claim_case_value(item, CLAIM_LAUNCH_SMEM))) {
        (void)printf(
            "  %-22s %s at launch and the device's reserve: %s\n", "SMEM charged per CTA",
            reconcile_value_text(CLAIM_LAUNCH_SMEM, claim_case_value(item, CLAIM_LAUNCH_SMEM), launch, sizeof launch),
            quantity_bytes((double)occupancy->charged_smem_bytes, charged));
    }
}

/* Times are told, not weighed: a profiler that serialises is slower, and launches differ in their data. */
static void print_times(const struct reconciliation *self, const struct places *places, const struct claim_case *item,
                        const struct reconcile_conclusion *conclusion)
{
    enum {
        TIMES_MAX = 8
    };
    char time[QUANTITY_TEXT_SIZE], grid[QUANTITY_TEXT_SIZE];
    size_t told = 0, more = 0;
    for (size_t i = 0; i < item->claim_count; i++) {
        const struct kernel_claim *claim = claim_at(self, item->claims[i]);
        const double time_us = inspect_time_us(claim);
        if (!(time_us > 0) || told == TIMES_MAX) {
            more += time_us > 0;
            continue;
        }
        (void)printf("  %-22s %-22s [%zu]", told++ == 0 ? "time" : "", quantity_time(time_us * 1e-6, time),
                     place_of(places, claim));
        if (claim_value_is_exact(&claim->figures[CLAIM_GRID])) {
            (void)printf(" grid %s,", quantity_whole(claim->figures[CLAIM_GRID].low, grid));
        }
        (void)printf(" %llu time%s%s\n", (unsigned long long)claim->time.count, claim->time.count == 1 ? "" : "s",
                     claim->time.is_profiled ? ", one launch after the other, at the profiler's clocks" : "");
    }
    if (more > 0) {
        (void)printf("  %-22s and %zu more\n", "", more);
    }
    if (conclusion->has_implied && conclusion->time[0].is_known) {
        (void)printf("  %-22s %-22s by the scenario on %s, all kernels of a layer\n", "predicted time",
                     quantity_time(conclusion->time[0].time_s, time), self->question.device->name);
    }
}

/* --- what each value implies ---------------------------------------------------------------------------------------
 */

static void print_neighbour(const struct reconciliation *self, const struct implied_neighbour *neighbour,
                            const char *side)
{
    char bytes[QUANTITY_TEXT_SIZE], number[32];
    const struct scenario *scenario = self->question.scenario;
    if (!neighbour->is_known) {
        return;
    }
    (void)printf("    %-22s the nearest %s is %s B (", "", side, quantity_whole(neighbour->smem_bytes, bytes));
    size_t told = 0;
    for (size_t i = 0; i < scenario_knob_count(scenario); i++) {
        if (neighbour->values[i] != self->question.values[i]) {
            (void)printf("%s%s=%s", told++ > 0 ? ", " : "", scenario_variable_get(scenario, i)->name,
                         number_format(neighbour->values[i], number));
        }
    }
    (void)printf("%s)\n", told > 0 ? "; else as the base" : "the base");
}

static void print_implied(const struct reconciliation *self, const struct claim_case *item,
                          const struct reconcile_conclusion *conclusion)
{
    char value[96], knobs[1024];
    (void)printf("  What it implies, by %s of %s (%llu configurations tried%s):\n", conclusion->scenario_kernel,
                 scenario_name(self->question.scenario), (unsigned long long)conclusion->search.tried,
                 conclusion->search.is_cut ? ", some knobs held at the base" : "");
    for (size_t s = 0; s < conclusion->story_count; s++) {
        const struct claim_implied *implied = &conclusion->implied[s];
        const struct claim_value *smem = &item->stories[s].figures[CLAIM_LAUNCH_SMEM];
        if (!smem->is_known) {
            (void)printf("    no SMEM is known: nothing follows\n");
            continue;
        }
        (void)reconcile_value_text(CLAIM_LAUNCH_SMEM, smem, value, sizeof value);
        if (implied->matches == 0) {
            (void)printf("    %-22s no configuration of the scenario has this\n", value);
            print_neighbour(self, &implied->below, "below");
            print_neighbour(self, &implied->above, "above");
            continue;
        }
        (void)reconcile_knobs_text(self, implied, knobs, sizeof knobs);
        (void)printf("    %-22s %s%s\n", value, knobs[0] != '\0' ? knobs : "every configuration",
                     implied->threads_ignored ? " (but none of them has these threads)" : "");
    }
}

/* --- */

static void print_sentences(const char *heading, const struct reconcile_sentences *sentences)
{
    for (size_t i = 0; sentences != NULL && i < sentences->count; i++) {
        (void)printf("%s    %s\n", i == 0 ? heading : "", sentences->items[i]);
    }
}

static void print_matters(const struct reconcile_conclusion *conclusion)
{
    static const char *const headings[] = {"  It does not matter:\n", "  It matters:\n",
                                           "  Whether it matters cannot be told:\n"};
    print_sentences(headings[conclusion->matters], conclusion->reasons);
    print_sentences("  What would decide, cheapest first:\n", conclusion->checks);
}

static void print_notes(const struct reconciliation *self, const struct claim_case *item)
{
    for (size_t i = 0; i < item->remark_count; i++) {
        (void)printf("  note: %s\n", item->remarks[i]);
    }
    for (size_t i = 0, told = 0; i < item->claim_count && told < 6; i++) {
        const struct kernel_claim *claim = claim_at(self, item->claims[i]);
        if (claim->note[0] != '\0') {
            (void)printf("  note: %s: %s\n", claim_source_name(claim->source), claim->note);
            told++;
        }
    }
}

/* Why no CTA fits; ends the line. */
static void print_fault(const struct reconcile_conclusion *conclusion, size_t device, size_t story)
{
    char reason[LAUNCH_FAULT_REASON_SIZE];
    const char *text = reconcile_fault_text(conclusion, device, story, reason, sizeof reason);
    (void)printf(text[0] != '\0' ? ": cannot be launched: %s\n" : "%s\n", text);
}

static void print_case(const struct reconciliation *self, size_t index)
{
    const struct claim_case *item = &self->cases.items[index];
    const struct reconcile_conclusion *conclusion = &self->conclusions[index];
    struct places places;
    print_heading(item, conclusion);
    find_places(self, item, &places);
    print_places(&places);
    for (size_t i = 0; i < item->comparison_count; i++) {
        print_comparison(self, &places, &item->comparisons[i]);
    }
    print_charged(item, conclusion);
    print_times(self, &places, item, conclusion);
    if (conclusion->has_implied) {
        print_implied(self, item, conclusion);
    }
    if (conclusion->verdict == RECONCILE_CONFLICT) {
        print_matters(conclusion);
    } else if (conclusion->device_count > 0 && conclusion->device_count < 6 && conclusion->occupancy[0].is_known) {
        for (size_t d = 0; d < conclusion->device_count; d++) {
            const struct claim_occupancy *occupancy = reconcile_occupancy(conclusion, d, 0);
            (void)printf("  %-22s %u on %s%s", "CTAs per SM", occupancy->ctas_low, conclusion->devices[d]->name,
                         occupancy->registers_unknown ? " (registers unknown)" : "");
            print_fault(conclusion, d, 0);
        }
    }
    print_notes(self, item);
    (void)printf("\n");
}

/* --- cases without conflict, many of them --------------------------------------------------------------------------
 */

static void table_value(struct report *report, const char *key, const struct claim_case *item, enum claim_figure figure)
{
    char text[96];
    const struct claim_value *value = claim_case_value(item, figure);
    if (!value->is_known) {
        report_string(report, key, NULL);
    } else if (value->low == value->high) {
        report_number(report, key, value->low);
    } else {
        report_string(report, key, reconcile_value_text(figure, value, text, sizeof text));
    }
}

static void table_row(struct report *report, const struct reconciliation *self, size_t index)
{
    const struct claim_case *item = &self->cases.items[index];
    const struct reconcile_conclusion *conclusion = &self->conclusions[index];
    char name[44], arch[16], kinds[160] = "";
    struct places places;
    size_t used = 0;
    report_begin_object(report, NULL);
    (void)snprintf(name, sizeof name, strlen(item->name) < sizeof name ? "%s" : "%.39s...", item->name);
    report_string(report, "kernel", name);
    (void)snprintf(arch, sizeof arch, "sm_%u", item->arch);
    report_string(report, "arch", item->arch > 0 ? arch : NULL);
    table_value(report, "threads", item, CLAIM_THREADS);
    table_value(report, "registers", item, CLAIM_REGISTERS);
    table_value(report, "smem", item, CLAIM_LAUNCH_SMEM);
    if (conclusion->device_count > 0 && conclusion->occupancy[0].is_known) {
        report_integer(report, "ctas", conclusion->occupancy[0].ctas_low);
    } else {
        report_string(report, "ctas", NULL);
    }
    report_string(report, "verdict", reconcile_verdict_name(conclusion->verdict));
    find_places(self, item, &places);
    for (size_t i = 0; i < places.count && used < sizeof kinds; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++) {
            is_new = is_new && places.items[k]->source != places.items[i]->source;
        }
        if (is_new) {
            const int added = snprintf(kinds + used, sizeof kinds - used, "%s%s", i > 0 ? ", " : "",
                                       claim_source_name(places.items[i]->source));
            used += added > 0 ? (size_t)added : 0;
        }
    }
    report_string(report, "sources", kinds);
    report_end(report);
}

static enum status print_table(const struct reconciliation *self, struct error *error)
{
    static const struct report_column columns[] = {{"kernel", "kernel", 0},    {"arch", "arch", 0},
                                                   {"threads", "threads", 12}, {"registers", "registers", 12},
                                                   {"smem", "SMEM B", 12},     {"ctas", "CTAs per SM", 12},
                                                   {"verdict", "verdict", 0},  {"sources", "sources", 0}};
    struct report report = {0};
    size_t rows = 0;
    report_begin_rows(&report, "rows");
    for (size_t i = 0; i < self->cases.count; i++) {
        if (self->conclusions[i].verdict != RECONCILE_CONFLICT && rows++ < TABLE_ROWS_MAX) {
            table_row(&report, self, i);
        }
    }
    report_end(&report);
    enum status status =
        report_print_table(&report, "rows", columns, sizeof columns / sizeof columns[0], stdout, error);
    report_release(&report);
    for (size_t i = 0, told = 0; i < self->cases.count && status == STATUS_OK && told < 12; i++) {
        const struct claim_case *item = &self->cases.items[i];
        for (size_t r = 0; r < item->remark_count && self->conclusions[i].verdict != RECONCILE_CONFLICT; r++, told++) {
            (void)printf("note: %.60s: %s\n", item->name, item->remarks[r]);
        }
    }
    if (status == STATUS_OK && rows > TABLE_ROWS_MAX) {
        (void)printf("and %zu more without conflict: --kernel chooses, --format json has all\n", rows - TABLE_ROWS_MAX);
    }
    if (status == STATUS_OK) {
        (void)printf("\n");
    }
    return status;
}

static void print_files(const struct reconciliation *self)
{
    const struct evidence *evidence = &self->evidence;
    evidence_print_files(evidence);
    for (size_t i = 0; i < evidence->problem_count && i < EVIDENCE_PROBLEMS_MAX; i++) {
        (void)printf("not read: %s\n", evidence->problems[i]);
    }
    for (size_t i = 0; i < evidence->code.problem_count && i < CODE_PROBLEMS_MAX; i++) {
        (void)printf("not read: %s\n", evidence->code.problems[i]);
    }
    if (self->cases.tuned_only > 0) {
        (void)printf("%zu configurations of tuners are about kernels that nothing else here speaks of\n",
                     self->cases.tuned_only);
    }
}

enum status reconcile_print(const struct reconciliation *self, struct error *error)
{
    size_t conflicts = 0, changing = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < self->cases.count; i++) {
        conflicts += self->conclusions[i].verdict == RECONCILE_CONFLICT;
        changing += self->conclusions[i].matters == RECONCILE_YES;
    }
    const size_t quiet = self->cases.count - conflicts;
    for (size_t i = 0; i < self->cases.count; i++) {
        if (self->conclusions[i].verdict == RECONCILE_CONFLICT) {
            print_case(self, i);
        }
    }
    for (size_t i = 0; i < self->cases.count && quiet <= FULL_CASES_MAX; i++) {
        if (self->conclusions[i].verdict != RECONCILE_CONFLICT) {
            print_case(self, i);
        }
    }
    if (quiet > FULL_CASES_MAX) {
        status = print_table(self, error);
    }
    print_files(self);
    (void)printf("claims: %zu; launches and builds: %zu; conflicts: %zu", self->claims->count, self->cases.count,
                 conflicts);
    if (conflicts > 0) {
        (void)printf("; %s", changing == 0 ? "no conclusion changes" : "a conclusion changes");
    }
    (void)printf("\n");
    return status;
}
