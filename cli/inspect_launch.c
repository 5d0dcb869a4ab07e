/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam inspect --as scenario` from a launch record: what was launched, with the loop from code where there is code,
 * else as questions. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/inspect_evidence.h"
#include "cli/quantity_text.h"
#include "evidence/claims/claim_names.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/claims/claim_rank.h"
#include "evidence/device_catalogue.h"

static bool is_launch(const struct kernel_claim *claim)
{
    return claim_rank_of(claim->source)->kind == CLAIM_LAUNCHED && claim->figures[CLAIM_GRID].is_known &&
           claim->figures[CLAIM_THREADS].is_known;
}

/* Launched more often; of as many, longer in all. */
static bool is_more(const struct kernel_claim *left, const struct kernel_claim *right)
{
    if (left->time.count != right->time.count) {
        return left->time.count > right->time.count;
    }
    return inspect_time_us(left) > inspect_time_us(right);
}

enum status inspect_launch_choose(const struct inspect_claims *claims, const struct kernel_claim **launch,
                                  size_t *others, struct error *error)
{
    *launch = NULL;
    *others = 0;
    for (size_t i = 0; i < claims->count; i++) {
        const struct kernel_claim *claim = claims->items[i];
        if (!is_launch(claim)) {
            continue;
        }
        if (*launch != NULL && !claim_names_equal((*launch)->name, claim->name) &&
            !claim_names_compatible((*launch)->name, claim->name)) {
            return error_set(error, STATUS_USAGE,
                             "a scenario is of one kernel; launched were several, such as %.60s and %.60s: choose with "
                             "--kernel",
                             (*launch)->name, claim->name);
        }
        *others += *launch != NULL;
        if (*launch == NULL || is_more(claim, *launch)) {
            *launch = claim;
        }
    }
    return STATUS_OK;
}

/* No figure of the compiled variant contradicts the launch. */
static bool explains(const struct compiled_kernel *kernel, const struct kernel_claim *launch)
{
    static const struct {
        enum compiled_figure compiled;
        enum claim_figure claimed;
    } pairs[] = {{COMPILED_REGISTERS, CLAIM_REGISTERS}, {COMPILED_THREADS, CLAIM_THREADS}};
    const struct code_figure *fixed = &kernel->figures[COMPILED_STATIC_SMEM],
                             *dynamic = &kernel->figures[COMPILED_DYNAMIC_SMEM];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct code_figure *figure = &kernel->figures[pairs[i].compiled];
        const struct claim_value *value = &launch->figures[pairs[i].claimed];
        if (figure->state == FIGURE_EXACT && value->is_known &&
            ((double)figure->value < value->low || (double)figure->value > value->high)) {
            return false;
        }
    }
    const struct claim_value *smem = &launch->figures[CLAIM_LAUNCH_SMEM];
    const double bytes = (double)dynamic->value + (fixed->state == FIGURE_EXACT ? (double)fixed->value : 0);
    return (launch->arch == 0 || kernel->arch == 0 || launch->arch == kernel->arch) &&
           (dynamic->state != FIGURE_EXACT || !smem->is_known || (bytes >= smem->low && bytes <= smem->high));
}

void inspect_rows_of_launch(struct inspect_rows *rows, const struct kernel_claim *launch, bool *explained)
{
    size_t kept = 0;
    *explained = false;
    for (size_t i = 0; i < rows->count; i++) {
        *explained = *explained || explains(&rows->items[i].variant->kernel, launch);
    }
    for (size_t i = 0; i < rows->count && *explained; i++) {
        if (explains(&rows->items[i].variant->kernel, launch)) {
            rows->items[kept++] = rows->items[i];
        }
    }
    rows->count = *explained ? kept : rows->count;
}

enum status inspect_launch_device(const struct kernel_claim *launch, char *out, struct error *error)
{
    struct device_catalogue *catalogue = NULL;
    const struct gpu_device *device = NULL;
    struct error ignored = {0};
    enum status status = device_catalogue_create(&catalogue, error);
    out[0] = '\0';
    if (status == STATUS_OK && launch->device[0] != '\0' &&
        device_catalogue_find(catalogue, launch->device, &device, &ignored) == STATUS_OK) {
        (void)snprintf(out, GPU_NAME_SIZE, "%s", device->name);
    } else if (status == STATUS_OK && launch->arch != 0) {
        (void)snprintf(out, GPU_NAME_SIZE, "sm_%u", launch->arch);
    }
    device_catalogue_free(catalogue);
    return status;
}

void inspect_print_launch(const struct kernel_claim *launch, size_t others, const char *prefix, FILE *stream)
{
    char time[QUANTITY_TEXT_SIZE];
    const double time_us = inspect_time_us(launch);
    (void)fprintf(stream, "%sLaunch: ", prefix);
    inspect_print_quoted(stream, launch->name);
    (void)fprintf(stream, " in ");
    inspect_print_quoted(stream, launch->file);
    (void)fprintf(stream, ", %s", claim_source_name(launch->source));
    if (launch->time.count > 0) {
        (void)fprintf(stream, ", %llu times%s%s%s", (unsigned long long)launch->time.count,
                      isfinite(time_us) ? ", " : "", isfinite(time_us) ? quantity_time(time_us * 1e-6, time) : "",
                      isfinite(time_us) ? " each" : "");
    }
    (void)fprintf(stream, ".\n");
    if (others > 0) {
        (void)fprintf(stream,
                      "%sOf %zu different launches of this kernel the one seen most often, the longest of equally "
                      "frequent ones.\n",
                      prefix, others + 1);
    }
}

/* A remark of the scenario; `when` may be NULL. */
static void begin_note(FILE *stream, const char *when, double measured_us)
{
    char number[32];
    (void)fputs("  - {", stream);
    if (when != NULL) {
        (void)fprintf(stream, "when: \"%s\", ", when);
    }
    if (!isnan(measured_us)) {
        (void)fprintf(stream, "measured_us: %s, ", number_format(measured_us, number));
    }
    (void)fputs("text: \"", stream);
}

static void print_measured(const struct inspect_rows *rows, const char *when, FILE *stream)
{
    const struct kernel_claim *launch = rows->launch;
    char time[QUANTITY_TEXT_SIZE];
    begin_note(stream, when, inspect_time_us(launch));
    (void)fprintf(stream, "the launch took %s%s", quantity_time(inspect_time_us(launch) * 1e-6, time),
                  launch->time.count > 1 ? " each" : "");
    if (launch->time.count > 1) {
        (void)fprintf(stream, " (%llu times)", (unsigned long long)launch->time.count);
    }
    (void)fprintf(stream, "%s%s, %s ", rows->launch_device != NULL ? " on " : "",
                  rows->launch_device != NULL ? rows->launch_device : "", claim_source_name(launch->source));
    inspect_print_quoted(stream, launch->file);
    (void)fprintf(stream, "%s", launch->time.is_profiled ? ", serialised and perhaps at lower clocks" : "");
    if (rows->other_launches > 0) {
        (void)fprintf(
            stream,
            "; of %zu different launches of this kernel it is the one seen most often, the longest of equally "
            "frequent ones",
            rows->other_launches + 1);
    }
    (void)fputs("\"}\n", stream);
}

void inspect_print_launch_notes(const struct inspect_rows *rows, bool has_loop, FILE *stream)
{
    const struct kernel_claim *launch = rows->launch;
    char grid[32], turns[32], when[96], time[QUANTITY_TEXT_SIZE];
    if (!isfinite(inspect_time_us(launch))) {
        return;
    }
    (void)fputs("notes:\n", stream);
    (void)snprintf(when, sizeof when, "grid == %s", number_format(launch->figures[CLAIM_GRID].low, grid));
    print_measured(rows, launch->figures[CLAIM_GRID].is_known ? when : NULL, stream);
    if (isnan(rows->fit.turns)) {
        return;
    }
    (void)snprintf(when, sizeof when, "iterations == %s", number_format(rows->fit.turns, turns));
    begin_note(stream, when, NAN);
    (void)fprintf(
        stream,
        "iterations = %s was fitted to the launch's %s on %s%s: the prediction of this launch is no evidence; "
        "it carries over to other grids, occupancies and GPUs as far as a CTA's loop stays the same\"}\n",
        turns, quantity_time(inspect_time_us(launch) * 1e-6, time),
        rows->launch_device != NULL ? rows->launch_device : "its GPU",
        has_loop ? "" : ", as if all of it went into loads of 16 bytes per thread and turn");
}

static void print_exact(FILE *stream, const char *key, const struct claim_value *value, const char *unknown)
{
    char number[32];
    if (claim_value_is_exact(value)) {
        (void)fprintf(stream, "    %s: {value: %s, source: measured}\n", key, number_format(value->low, number));
    } else {
        (void)fprintf(stream, "    %s: %s\n", key, unknown);
    }
}

/* What no launch record tells. Of the loop only the bytes of a CTA count where its time is all that is known, so a turn
 * is set to a load of each thread and the turns follow from the time. */
static void print_loop_questions(const struct inspect_rows *rows, FILE *stream)
{
    char number[32];
    const struct claim_value *threads = &rows->launch->figures[CLAIM_THREADS];
    if (isnan(rows->fit.turns)) {
        (void)fprintf(stream, "  iterations: {ask: \"turns of the loop per CTA\"}\n"
                              "  bytes_per_turn: {ask: \"bytes that a CTA loads in a turn\"}\n");
        if (rows->fit.text[0] != '\0') {
            inspect_print_comment(stream, "  # not fitted to the launch's time: ", rows->fit.text);
        }
        return;
    }
    (void)fprintf(stream, "  iterations: %s   # fitted to the launch's time\n", number_format(rows->fit.turns, number));
    (void)fprintf(stream, "  bytes_per_turn: %s   # assumed: 16 bytes of each thread\n",
                  number_format(INSPECT_LOAD_BYTES * threads->low, number));
}

enum status inspect_launch_scenario(const struct inspect_rows *rows, FILE *stream, struct error *error)
{
    const struct kernel_claim *launch = rows->launch;
    char name[INSPECT_NAME_SIZE], device[GPU_NAME_SIZE], base[CLAIM_BASE_NAME_SIZE], number[32];
    enum status status = inspect_launch_device(launch, device, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (device[0] == '\0') {
        return error_set(error, STATUS_BAD_DATA, "%.200s does not say on which GPU %.60s ran", launch->file,
                         launch->name);
    }
    const bool has_smem = claim_value_is_exact(&launch->figures[CLAIM_LAUNCH_SMEM]);
    const bool has_registers = claim_value_is_exact(&launch->figures[CLAIM_REGISTERS]);
    (void)inspect_scenario_name(claim_base_name(launch->name, base), name);
    (void)fprintf(stream, "# Written by occam inspect from a launch record.\n");
    inspect_print_launch(launch, rows->other_launches, "# ", stream);
    (void)fprintf(
        stream,
        "name: %s\ndevice: %s\n"
        "# What a launch record does not tell: answer with -s NAME=VALUE, or put the number here. The compiled\n"
        "# kernel beside the record (occam inspect RECORD CACHE --as scenario) tells the loop.\n"
        "workload:\n  grid: %s   # of the launch\n",
        name, device, number_format(launch->figures[CLAIM_GRID].low, number));
    print_loop_questions(rows, stream);
    (void)fprintf(stream, "  distinct_fraction: 1   # assumed: DRAM delivers all of the loop's bytes\n");
    if (!has_registers) {
        (void)fprintf(stream, "  cta_registers: {ask: \"registers per thread\"}\n");
    }
    if (!has_smem) {
        (void)fprintf(stream, "  cta_smem_bytes: {ask: \"static and dynamic SMEM per CTA in bytes\"}\n");
    }
    inspect_print_operator(launch, stream);
    (void)fprintf(stream, "kernels:\n  %s:\n    grid: grid\n", name);
    print_exact(stream, "threads", &launch->figures[CLAIM_THREADS], "32");
    print_exact(stream, "registers", &launch->figures[CLAIM_REGISTERS], "cta_registers");
    print_exact(stream, "smem_bytes", &launch->figures[CLAIM_LAUNCH_SMEM], "cta_smem_bytes");
    if (claim_value_is_exact(&launch->figures[CLAIM_CLUSTER]) && launch->figures[CLAIM_CLUSTER].low > 1) {
        print_exact(stream, "cluster", &launch->figures[CLAIM_CLUSTER], "1");
    }
    (void)fprintf(stream, "    loop:\n      iterations: iterations\n      stream: {row_bytes: bytes_per_turn, "
                          "distinct_fraction: distinct_fraction}\n      spill_bytes: unknown\n");
    inspect_print_launch_notes(rows, false, stream);
    return fflush(stream) == 0 && ferror(stream) == 0
               ? STATUS_OK
               : error_set(error, STATUS_IO, "the scenario cannot be written: %s", strerror(errno));
}
