/* SPDX-License-Identifier: GPL-3.0-or-later
 * Claims of all sources as one table, JSON and CSV. */
#include "cli/inspect_evidence.h"
#include "cli/evidence_remarks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/claims/claim_names.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/claims/code_claims.h"

enum {
    TABLE_ROWS_MAX = 100,
    NAME_SHOWN = 36,
    CONFIGURATION_SHOWN = 48,
    NAMES_SHOWN = 5
};

/* --- which claims --------------------------------------------------------------------------------------------------
 */

static bool is_asked_for(const struct kernel_claim *claim, const char *kernel, const char *arch)
{
    char base[CLAIM_BASE_NAME_SIZE], suffix;
    uint32_t number = 0;
    const bool has_arch = arch == NULL || claim->arch == 0 ||
                          (code_arch_parse(arch, strlen(arch), &number, &suffix) && number == claim->arch);
    return has_arch && (kernel == NULL || claim_names_equal(claim->name, kernel) ||
                        strcmp(claim_base_name(claim->name, base), kernel) == 0);
}

struct known_names {
    const char *items[NAMES_SHOWN]; /* borrowed */
    size_t count;
    bool more;
};

static void add_name(struct known_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0) {
            return;
        }
    }
    if (names->count < NAMES_SHOWN) {
        names->items[names->count++] = name;
    } else {
        names->more = true;
    }
}

/* "; there are a, b, ..." of the kernels in the evidence; "" where there are none. */
static void describe_names(const struct evidence *evidence, struct text_buffer *out)
{
    struct known_names names = {0};
    for (size_t i = 0; i < evidence->code.count; i++) {
        add_name(&names, evidence->code.variants[i].kernel.name);
    }
    for (size_t i = 0; i < evidence->claims.count; i++) {
        add_name(&names, evidence->claims.items[i].name);
    }
    for (size_t i = 0; i < names.count; i++) {
        text_buffer_append_format(out, "%s%.60s", i == 0 ? "; there are " : ", ", names.items[i]);
    }
    text_buffer_append(out, names.more ? ", ..." : "");
}

static enum status nothing_about(const struct evidence *evidence, const char *kernel, const char *arch,
                                 struct error *error)
{
    struct text_buffer known = {0};
    describe_names(evidence, &known);
    const enum status status =
        error_set(error, STATUS_USAGE, "nothing here is about kernel %s%s%s%s", kernel != NULL ? kernel : "",
                  arch != NULL ? " on " : "", arch != NULL ? arch : "", known.text != NULL ? known.text : "");
    text_buffer_release(&known);
    return status;
}

enum status inspect_claims_choose(struct evidence *evidence, const struct inspect_rows *rows, const char *kernel,
                                  const char *arch, struct inspect_claims *claims, struct error *error)
{
    claims->evidence = evidence;
    claims->rows = rows;
    claims->items = calloc(rows->count + evidence->claims.count + 1, sizeof *claims->items);
    enum status status = claims->items != NULL ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for claims");
    for (size_t i = 0; i < rows->count && status == STATUS_OK; i++) {
        status = code_variant_claim(rows->items[i].variant, &claims->variants, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    claims_normalise(&claims->variants);
    claims_normalise(&evidence->claims);
    for (size_t i = 0; i < claims->variants.count; i++) {
        claims->items[claims->count++] = &claims->variants.items[i];
    }
    for (size_t i = 0; i < evidence->claims.count; i++) {
        if (is_asked_for(&evidence->claims.items[i], kernel, arch)) {
            claims->items[claims->count++] = &evidence->claims.items[i];
        }
    }
    if (claims->count > 0 || evidence->serving.count > 0) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < evidence->file_count; i++) {
        const struct evidence_file *file = &evidence->files[i];
        if (file->skipped > 0) {
            return error_set(error, STATUS_BAD_DATA, "%s: nothing could be read; %llu entries left out, the first: %s",
                             file->path, (unsigned long long)file->skipped, file->first_skipped);
        }
    }
    return kernel == NULL && arch == NULL ? error_set(error, STATUS_NOT_FOUND, "nothing here says anything of a kernel")
                                          : nothing_about(evidence, kernel, arch, error);
}

void inspect_claims_release(struct inspect_claims *claims)
{
    free(claims->items);
    kernel_claim_list_release(&claims->variants);
    *claims = (struct inspect_claims){0};
}

const char *inspect_configuration_text(const struct kernel_claim *claim, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < claim->parameter_count && used < out_size; i++) {
        const int added = snprintf(out + used, out_size - used, "%s%s=%s", i > 0 ? " " : "", claim->parameters[i].name,
                                   claim->parameters[i].text);
        used += added > 0 ? (size_t)added : 0;
    }
    return out;
}

double inspect_time_us(const struct kernel_claim *claim)
{
    const struct claim_time *time = &claim->time;
    const double candidates[] = {time->median_us, time->mean_us, time->last_us, time->minimum_us};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0] && time->count > 0; i++) {
        if (isfinite(candidates[i])) {
            return candidates[i];
        }
    }
    return NAN;
}

/* --- report --------------------------------------------------------------------------------------------------------
 */

static void record_figures(struct report *report, const struct kernel_claim *claim)
{
    char text[160], low[32], high[32];
    for (int i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        const struct claim_value *value = &claim->figures[i];
        report_number(report, claim_figure_name((enum claim_figure)i),
                      claim_value_is_exact(value) ? value->low : (double)NAN);
    }
    report_begin_array(report, "bounds");
    for (int i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        const struct claim_value *value = &claim->figures[i];
        if (value->is_known && !claim_value_is_exact(value)) {
            (void)snprintf(text, sizeof text, "%s %s to %s", claim_figure_name((enum claim_figure)i),
                           number_format(value->low, low), number_format(value->high, high));
            report_string(report, NULL, text);
        }
    }
    report_end(report);
}

static void record_time(struct report *report, const struct claim_time *time)
{
    report_begin_object(report, "time");
    report_integer(report, "count", (int64_t)time->count);
    report_number(report, "median_us", time->median_us);
    report_number(report, "mean_us", time->mean_us);
    report_number(report, "minimum_us", time->minimum_us);
    report_number(report, "maximum_us", time->maximum_us);
    report_number(report, "last_us", time->last_us);
    report_bool(report, "profiled", time->is_profiled);
    report_end(report);
}

static const char *extent_text(const uint32_t extent[3], char out[48])
{
    if (extent[0] == 0) {
        return NULL;
    }
    (void)snprintf(out, 48, "%ux%ux%u", extent[0], extent[1], extent[2]);
    return out;
}

static void record_operator(struct report *report, const struct claim_operator *operator)
{
    static const struct claim_operator none = {0};
    const struct claim_operator *told = operator!= NULL ? operator: & none;
    report_begin_object(report, "operator");
    report_string(report, "name", told->name);
    report_string(report, "input_dims", told->input_dims);
    report_string(report, "input_types", told->input_types);
    report_string(report, "concrete_inputs", told->concrete_inputs);
    report_end(report);
}

static void record_claim(struct report *report, const struct kernel_claim *claim)
{
    char text[4096], extent[48], arch[16];
    report_begin_object(report, NULL);
    report_string(report, "kernel", claim->name);
    (void)snprintf(arch, sizeof arch, "sm_%u", claim->arch);
    report_string(report, "arch", claim->arch > 0 ? arch : NULL);
    report_string(report, "device", claim->device[0] != '\0' ? claim->device : NULL);
    report_string(report, "source", claim_source_name(claim->source));
    report_string(report, "grid", extent_text(claim->grid, extent));
    report_string(report, "block", extent_text(claim->block, extent));
    record_figures(report, claim);
    record_time(report, &claim->time);
    record_operator(report, claim->operator);
    report_string(report, "configuration", inspect_configuration_text(claim, text, sizeof text));
    report_bool(report, "failed", claim->is_failed);
    report_string(report, "note", claim->note);
    report_string(report, "file", claim->file);
    report_integer(report, "line", claim->line);
    report_end(report);
}

static void record_point(struct report *report, const struct serving_result *point)
{
    report_begin_object(report, NULL);
    report_string(report, "format", serving_result_kind_name(point->kind));
    report_string(report, "label", point->label);
    report_number(report, "concurrency", point->concurrency);
    report_number(report, "running", point->running);
    report_number(report, "request_rate", point->request_rate);
    report_number(report, "output_tokens_per_s", point->output_tokens_per_s);
    report_number(report, "step_time_ms", point->step_time_ms);
    report_string(report, "step_source", point->step_source);
    report_number(report, "itl_mean_ms", point->itl_mean_ms);
    report_number(report, "itl_median_ms", point->itl_median_ms);
    report_number(report, "itl_p99_ms", point->itl_p99_ms);
    report_number(report, "tpot_mean_ms", point->tpot_mean_ms);
    report_number(report, "tpot_median_ms", point->tpot_median_ms);
    report_number(report, "tpot_p99_ms", point->tpot_p99_ms);
    report_number(report, "ttft_mean_ms", point->ttft_mean_ms);
    report_number(report, "ttft_median_ms", point->ttft_median_ms);
    report_number(report, "ttft_p99_ms", point->ttft_p99_ms);
    report_number(report, "input_tokens", point->input_tokens);
    report_number(report, "output_tokens", point->output_tokens);
    report_number(report, "duration_s", point->duration_s);
    report_number(report, "completed", point->completed);
    report_number(report, "failed", point->failed);
    report_number(report, "accept_length", point->accept_length);
    report_number(report, "gpu_count", point->gpu_count);
    report_string(report, "note", point->note);
    report_string(report, "file", point->file);
    report_integer(report, "line", point->line);
    report_end(report);
}

static void record_files(struct report *report, const struct evidence *evidence)
{
    evidence_record_files(report, evidence);
    report_begin_array(report, "other_problems");
    for (size_t i = 0; i < evidence->problem_count && i < EVIDENCE_PROBLEMS_MAX; i++) {
        report_string(report, NULL, evidence->problems[i]);
    }
    report_end(report);
    report_integer(report, "other_problem_count", (int64_t)evidence->problem_count);
    report_integer(report, "unknown_files", (int64_t)evidence->unknown_files);
}

void inspect_evidence_record(const struct inspect_claims *claims, struct report *report)
{
    report_begin_rows(report, "claims");
    for (size_t i = 0; i < claims->count; i++) {
        record_claim(report, claims->items[i]);
    }
    report_end(report);
    report_begin_rows(report, "serving");
    for (size_t i = 0; i < claims->evidence->serving.count; i++) {
        record_point(report, &claims->evidence->serving.items[i]);
    }
    report_end(report);
    record_files(report, claims->evidence);
}

/* --- text ----------------------------------------------------------------------------------------------------------
 */

static bool text_value(struct report *report, const char *key, const struct claim_value *value)
{
    char text[64], low[32], high[32];
    if (!value->is_known) {
        report_string(report, key, NULL);
    } else if (claim_value_is_exact(value)) {
        report_number(report, key, value->low);
    } else {
        (void)snprintf(text, sizeof text, "%s..%s", number_format(value->low, low), number_format(value->high, high));
        report_string(report, key, text);
    }
    return value->is_known && !claim_value_is_exact(value);
}

static void shorten(const char *text, size_t shown, char *out)
{
    const size_t length = strlen(text);
    (void)snprintf(out, shown + 1, "%s", text);
    if (length > shown) {
        memcpy(out + shown - 3, "...", 4);
    }
}

static void text_row(struct report *report, const struct kernel_claim *claim)
{
    static const enum claim_figure shown[] = {CLAIM_THREADS,      CLAIM_REGISTERS,    CLAIM_STATIC_SMEM,
                                              CLAIM_DYNAMIC_SMEM, CLAIM_LAUNCH_SMEM,  CLAIM_RESERVED_SMEM,
                                              CLAIM_STACK,        CLAIM_SPILL_STORES, CLAIM_NUM_STAGES};
    char name[NAME_SHOWN + 1], configuration[CONFIGURATION_SHOWN + 1], long_text[512], arch[16];
    bool has_bounds = false;
    report_begin_object(report, NULL);
    shorten(claim->name, NAME_SHOWN, name);
    report_string(report, "kernel", name);
    (void)snprintf(arch, sizeof arch, "sm_%u", claim->arch);
    report_string(report, "arch", claim->arch > 0 ? arch : NULL);
    (void)text_value(report, "grid_ctas", &claim->figures[CLAIM_GRID]);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        has_bounds = text_value(report, claim_figure_name(shown[i]), &claim->figures[shown[i]]) || has_bounds;
    }
    report_number(report, "time", inspect_time_us(claim));
    report_number(report, "count", claim->time.count > 0 ? (double)claim->time.count : (double)NAN);
    report_string(report, "source", claim_source_name(claim->source));
    report_string(report, "exact",
                  claim->is_failed                                         ? "failed"
                  : has_bounds && claim->source == CLAIM_SOURCE_NSYS_TABLE ? "rounded"
                  : has_bounds                                             ? "bounds"
                                                                           : "exact");
    shorten(inspect_configuration_text(claim, long_text, sizeof long_text), CONFIGURATION_SHOWN, configuration);
    report_string(report, "configuration", configuration[0] != '\0' ? configuration : NULL);
    report_end(report);
}

static enum status print_claims(const struct inspect_claims *claims, size_t first, struct error *error)
{
    static const struct report_column columns[] = {{"kernel", "kernel", 0},
                                                   {"arch", "arch", 0},
                                                   {"grid_ctas", "grid", 12},
                                                   {"threads", "threads", 12},
                                                   {"registers_per_thread", "registers", 12},
                                                   {"static_smem_bytes", "static B", 12},
                                                   {"dynamic_smem_bytes", "dynamic B", 12},
                                                   {"launch_smem_bytes", "launch B", 12},
                                                   {"reserved_smem_bytes", "reserved B", 12},
                                                   {"stack_bytes", "stack B", 12},
                                                   {"spill_store_bytes", "spilled B", 12},
                                                   {"num_stages", "stages", 12},
                                                   {"time", "time us", 4},
                                                   {"count", "times", 12},
                                                   {"source", "source", 0},
                                                   {"exact", "figures", 0},
                                                   {"configuration", "configuration", 0}};
    size_t count = sizeof columns / sizeof columns[0];
    bool has_configuration = false;
    struct report report = {0};
    report_begin_rows(&report, "rows");
    for (size_t i = first; i < claims->count && i < first + TABLE_ROWS_MAX; i++) {
        text_row(&report, claims->items[i]);
        has_configuration = has_configuration || claims->items[i]->parameter_count > 0;
    }
    report_end(&report);
    count -= has_configuration ? 0 : 1;
    enum status status = report_print_table(&report, "rows", columns, count, stdout, error);
    report_release(&report);
    if (status == STATUS_OK && claims->count > first + TABLE_ROWS_MAX) {
        (void)printf("and %zu more: --kernel chooses, --format json has all\n", claims->count - first - TABLE_ROWS_MAX);
    }
    return status;
}

static enum status print_serving(const struct evidence *evidence, struct error *error)
{
    static const struct report_column columns[] = {
        {"format", "results of", 0},          {"concurrency", "concurrency", 6}, {"running", "running", 4},
        {"output_tokens_per_s", "tok/s", 5},  {"step_time_ms", "step ms", 4},    {"itl_mean_ms", "ITL ms", 4},
        {"tpot_mean_ms", "TPOT ms", 4},       {"ttft_mean_ms", "TTFT ms", 4},    {"input_tokens", "prompt", 5},
        {"output_tokens", "output tokens", 5}};
    struct report report = {0};
    report_begin_rows(&report, "rows");
    for (size_t i = 0; i < evidence->serving.count && i < TABLE_ROWS_MAX; i++) {
        record_point(&report, &evidence->serving.items[i]);
    }
    report_end(&report);
    enum status status =
        report_print_table(&report, "rows", columns, sizeof columns / sizeof columns[0], stdout, error);
    report_release(&report);
    for (size_t i = 0; i < evidence->serving.count && i < TABLE_ROWS_MAX && status == STATUS_OK; i++) {
        const struct serving_result *point = &evidence->serving.items[i];
        if (point->note[0] != '\0') {
            (void)printf("note: concurrency %g: %s\n", point->concurrency, point->note);
        }
    }
    if (status == STATUS_OK && evidence->serving.count > TABLE_ROWS_MAX) {
        (void)printf("and %zu more points: --format csv has all\n", evidence->serving.count - TABLE_ROWS_MAX);
    }
    return status;
}

/* Each sentence once, with the first kernel that it is about. */
static void print_notes(const struct inspect_claims *claims, size_t first)
{
    enum {
        NOTES_MAX = 10
    };
    const char *told[NOTES_MAX];
    size_t counts[NOTES_MAX] = {0}, places[NOTES_MAX] = {0}, count = 0, more = 0;
    for (size_t i = first; i < claims->count; i++) {
        const char *note = claims->items[i]->note;
        size_t n = 0;
        while (n < count && strcmp(told[n], note) != 0) {
            n++;
        }
        if (note[0] == '\0' || n == NOTES_MAX) {
            more += note[0] != '\0';
            continue;
        }
        if (n == count) {
            told[count] = note;
            places[count++] = i;
        }
        counts[n]++;
    }
    for (size_t n = 0; n < count; n++) {
        const struct kernel_claim *claim = claims->items[places[n]];
        (void)printf("note: %.60s (%s)", claim->name, claim_source_name(claim->source));
        if (counts[n] > 1) {
            (void)printf(" and %zu more", counts[n] - 1);
        }
        (void)printf(": %s\n", told[n]);
    }
    if (more > 0) {
        (void)printf("note: %zu more notes: --format json has them\n", more);
    }
}

static void print_remarks(const struct inspect_claims *claims, size_t first)
{
    const struct evidence *evidence = claims->evidence;
    print_notes(claims, first);
    evidence_print_files(evidence);
    for (size_t i = 0; i < evidence->problem_count && i < EVIDENCE_PROBLEMS_MAX; i++) {
        (void)printf("not read: %s\n", evidence->problems[i]);
    }
    if (evidence->problem_count > EVIDENCE_PROBLEMS_MAX) {
        (void)printf("not read: %zu more files\n", evidence->problem_count - EVIDENCE_PROBLEMS_MAX);
    }
}

enum status inspect_evidence_print(const struct inspect_claims *claims, size_t first, struct error *error)
{
    enum status status = claims->count > first ? print_claims(claims, first, error) : STATUS_OK;
    if (status == STATUS_OK && claims->evidence->serving.count > 0) {
        (void)printf("%s", claims->count > first ? "\n" : "");
        status = print_serving(claims->evidence, error);
    }
    if (status == STATUS_OK) {
        print_remarks(claims, first);
    }
    return status;
}
