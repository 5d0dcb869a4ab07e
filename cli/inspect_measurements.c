/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam inspect --as measurements` and `--as curve`: tables that calibrate, validate and curve read. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "cli/inspect_evidence.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/claims/claim_rank.h"

enum {
    KNOB_COLUMNS_MAX = 256
};

/* Figures that stand in columns of their own, unless a knob has the name. */
static const enum claim_figure figure_columns[] = {
    CLAIM_GRID,         CLAIM_THREADS,     CLAIM_NUM_WARPS, CLAIM_NUM_STAGES,   CLAIM_REGISTERS,     CLAIM_STATIC_SMEM,
    CLAIM_DYNAMIC_SMEM, CLAIM_LAUNCH_SMEM, CLAIM_STACK,     CLAIM_SPILL_STORES, CLAIM_SMEM_REQUIRED, CLAIM_SMEM_LIMIT};
enum {
    FIGURE_COLUMNS = sizeof figure_columns / sizeof figure_columns[0]
};

struct table {
    const struct inspect_claims *claims;
    FILE *stream;
    size_t knob_count;
    const char *knobs[KNOB_COLUMNS_MAX];
    const struct text_list *added; /* NAME=VALUE; NULL none */
    bool drop_profiled;            /* times under a profiler are left out beside others */
    size_t rows, without_time, profiled;
};

static bool is_result(const struct table *self, const struct kernel_claim *claim)
{
    const bool has_time = isfinite(inspect_time_us(claim)) && inspect_time_us(claim) > 0;
    return (has_time && !(self->drop_profiled && claim->time.is_profiled)) ||
           (claim->is_failed && claim_rank_of(claim->source)->kind == CLAIM_TUNED);
}

static bool is_own_column(const char *name)
{
    static const char *const names[] = {"kernel",          "device",          "outcome", "time_us", "times",
                                        "time_minimum_us", "time_maximum_us", "source",  "file",    "note"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_added(const struct table *self, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; self->added != NULL && i < self->added->count; i++) {
        if (strncmp(self->added->items[i], name, length) == 0 && self->added->items[i][length] == '=') {
            return true;
        }
    }
    return false;
}

static bool is_knob(const struct table *self, const char *name)
{
    if (is_added(self, name)) {
        return true;
    }
    for (size_t i = 0; i < self->knob_count; i++) {
        if (strcmp(self->knobs[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static enum status find_knobs(struct table *self, struct error *error)
{
    for (size_t i = 0; i < self->claims->count; i++) {
        const struct kernel_claim *claim = self->claims->items[i];
        for (size_t k = 0; k < claim->parameter_count && is_result(self, claim); k++) {
            const char *name = claim->parameters[k].name;
            if (is_knob(self, name) || is_own_column(name) || name[0] == '\0') {
                continue;
            }
            if (self->knob_count == KNOB_COLUMNS_MAX) {
                return error_set_at(error, STATUS_LIMIT, claim->file, claim->line, 0,
                                    "more than %d different knobs in one table: choose with --kernel",
                                    KNOB_COLUMNS_MAX);
            }
            self->knobs[self->knob_count++] = name;
        }
    }
    return STATUS_OK;
}

static void judge_profiled(struct table *self)
{
    bool plain = false;
    for (size_t i = 0; i < self->claims->count; i++) {
        const struct kernel_claim *claim = self->claims->items[i];
        plain = plain || (isfinite(inspect_time_us(claim)) && !claim->time.is_profiled);
    }
    self->drop_profiled = plain;
    for (size_t i = 0; i < self->claims->count; i++) {
        const struct kernel_claim *claim = self->claims->items[i];
        const bool is_row = is_result(self, claim);
        self->rows += is_row;
        self->profiled += !is_row && claim->time.is_profiled;
        self->without_time += !is_row && !claim->time.is_profiled;
    }
}

/* A launch that was refused for its SMEM is infeasible; any other failure may have another reason. */
static const char *outcome_of(const struct kernel_claim *claim)
{
    return !claim->is_failed ? "ok" : claim->figures[CLAIM_SMEM_REQUIRED].is_known ? "infeasible" : "failed";
}

static void print_number(FILE *stream, double value)
{
    char number[32];
    (void)fprintf(stream, ",%s", isfinite(value) ? number_format(value, number) : "");
}

static const struct claim_parameter *parameter_of(const struct kernel_claim *claim, const char *name)
{
    for (size_t i = 0; i < claim->parameter_count; i++) {
        if (strcmp(claim->parameters[i].name, name) == 0) {
            return &claim->parameters[i];
        }
    }
    return NULL;
}

/* The name before the equals sign into out; returns what stands behind it. */
static const char *added_column(const char *text, char name[INSPECT_COLUMN_SIZE])
{
    const size_t length = strcspn(text, "=");
    (void)snprintf(name, INSPECT_COLUMN_SIZE, "%.*s", (int)length, text);
    return text + length + (text[length] == '=');
}

static enum status check_added(struct table *self, struct error *error)
{
    for (size_t i = 0; self->added != NULL && i < self->added->count; i++) {
        char name[INSPECT_COLUMN_SIZE];
        const char *text = self->added->items[i], *value = added_column(text, name);
        const size_t length = strcspn(text, "=");
        if (value[0] == '\0' || length == 0 || length >= sizeof name || is_own_column(name)) {
            return error_set(error, STATUS_USAGE,
                             "option --column: \"%.100s\" is not NAME=VALUE with a name of its own", text);
        }
    }
    return STATUS_OK;
}

static void print_header(const struct table *self)
{
    (void)fprintf(self->stream, "# source: occam inspect, %zu rows", self->rows);
    if (self->without_time > 0) {
        (void)fprintf(self->stream, "; %zu without a time left out", self->without_time);
    }
    if (self->profiled > 0) {
        (void)fprintf(self->stream, "; %zu timed under a profiler left out", self->profiled);
    }
    (void)fprintf(self->stream, "\nkernel,device");
    for (size_t i = 0; self->added != NULL && i < self->added->count; i++) {
        char name[INSPECT_COLUMN_SIZE];
        (void)added_column(self->added->items[i], name);
        (void)fprintf(self->stream, ",%s", name);
    }
    for (size_t i = 0; i < self->knob_count; i++) {
        (void)fputc(',', self->stream);
        csv_write_field(self->stream, self->knobs[i]);
    }
    (void)fprintf(self->stream, ",outcome,time_us,times,time_minimum_us,time_maximum_us");
    for (size_t i = 0; i < FIGURE_COLUMNS; i++) {
        if (!is_knob(self, claim_figure_name(figure_columns[i]))) {
            (void)fprintf(self->stream, ",%s", claim_figure_name(figure_columns[i]));
        }
    }
    (void)fprintf(self->stream, ",source,file,note\n");
}

static void print_row(const struct table *self, const struct kernel_claim *claim)
{
    FILE *stream = self->stream;
    csv_write_field(stream, claim->name);
    (void)fputc(',', stream);
    csv_write_field(stream, claim->device);
    for (size_t i = 0; self->added != NULL && i < self->added->count; i++) {
        char name[INSPECT_COLUMN_SIZE];
        const char *value = added_column(self->added->items[i], name);
        const struct claim_parameter *parameter = parameter_of(claim, value);
        (void)fputc(',', stream);
        csv_write_field(stream, parameter != NULL ? parameter->text : value);
    }
    for (size_t i = 0; i < self->knob_count; i++) {
        const struct claim_parameter *parameter = parameter_of(claim, self->knobs[i]);
        (void)fputc(',', stream);
        csv_write_field(stream, parameter != NULL ? parameter->text : "");
    }
    (void)fprintf(stream, ",%s", outcome_of(claim));
    print_number(stream, claim->is_failed ? (double)NAN : inspect_time_us(claim));
    print_number(stream, claim->time.count > 0 ? (double)claim->time.count : (double)NAN);
    print_number(stream, claim->time.minimum_us);
    print_number(stream, claim->time.maximum_us);
    for (size_t i = 0; i < FIGURE_COLUMNS; i++) {
        const struct claim_value *value = &claim->figures[figure_columns[i]];
        if (!is_knob(self, claim_figure_name(figure_columns[i]))) {
            print_number(stream, claim_value_is_exact(value) ? value->low : (double)NAN);
        }
    }
    (void)fprintf(stream, ",%s,", claim_source_name(claim->source));
    csv_write_field(stream, claim->file);
    (void)fputc(',', stream);
    csv_write_field(stream, claim->note);
    (void)fputc('\n', stream);
}

static enum status finish(FILE *stream, struct error *error)
{
    return fflush(stream) == 0 && ferror(stream) == 0
               ? STATUS_OK
               : error_set(error, STATUS_IO, "the table cannot be written: %s", strerror(errno));
}

enum status inspect_measurements(const struct inspect_claims *claims, const struct text_list *added, FILE *stream,
                                 struct error *error)
{
    struct table *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the table");
    }
    *self = (struct table){.claims = claims, .stream = stream, .added = added};
    judge_profiled(self);
    enum status status = find_knobs(self, error);
    if (status == STATUS_OK) {
        status = check_added(self, error);
    }
    if (status == STATUS_OK && self->rows == 0) {
        status = error_set(error, STATUS_NOT_FOUND, "none of %zu claims has a time: nothing to write", claims->count);
    }
    if (status == STATUS_OK) {
        print_header(self);
    }
    for (size_t i = 0; i < claims->count && status == STATUS_OK; i++) {
        if (is_result(self, claims->items[i])) {
            print_row(self, claims->items[i]);
        }
    }
    free(self);
    return status == STATUS_OK ? finish(stream, error) : status;
}

/* --- points of a serving benchmark ---------------------------------------------------------------------------------
 */

static bool is_point(const struct serving_result *result)
{
    return result->concurrency >= 1 && isfinite(result->concurrency) &&
           ((isfinite(result->output_tokens_per_s) && result->output_tokens_per_s > 0) ||
            (isfinite(result->step_time_ms) && result->step_time_ms > 0));
}

/* curve wants a cell in every row of a column that is there. */
static bool all_have(const struct evidence *evidence, bool throughput)
{
    for (size_t i = 0; i < evidence->serving.count; i++) {
        const struct serving_result *result = &evidence->serving.items[i];
        const double value = throughput ? result->output_tokens_per_s : result->step_time_ms;
        if (is_point(result) && !(isfinite(value) && value > 0)) {
            return false;
        }
    }
    return true;
}

static void print_point(FILE *stream, const struct serving_result *result, bool has_throughput, bool has_step)
{
    char number[32];
    (void)fprintf(stream, "%s", number_format(result->concurrency, number));
    if (has_throughput) {
        print_number(stream, result->output_tokens_per_s);
    }
    if (has_step) {
        print_number(stream, result->step_time_ms);
    }
    print_number(stream, result->ttft_mean_ms);
    (void)fputc(',', stream);
    csv_write_field(stream, result->label);
    (void)fputc(',', stream);
    csv_write_field(stream, result->file);
    (void)fputc(',', stream);
    csv_write_field(stream, result->note);
    (void)fputc('\n', stream);
}

enum status inspect_curve(const struct evidence *evidence, FILE *stream, struct error *error)
{
    const bool has_throughput = all_have(evidence, true), has_step = all_have(evidence, false);
    size_t points = 0;
    for (size_t i = 0; i < evidence->serving.count; i++) {
        points += is_point(&evidence->serving.items[i]);
    }
    if (points == 0) {
        return error_set(error, STATUS_NOT_FOUND,
                         "no point with a concurrency and a throughput or step time in these files");
    }
    if (!has_throughput && !has_step) {
        return error_set(error, STATUS_BAD_DATA,
                         "some points have a throughput alone and others a step time alone: give files of one kind");
    }
    (void)fprintf(stream, "# source: occam inspect, %zu points", points);
    if (points < evidence->serving.count) {
        (void)fprintf(stream, "; %zu without a concurrency or a result left out", evidence->serving.count - points);
    }
    (void)fprintf(stream, "\nconcurrency%s%s,ttft_ms,label,file,note\n", has_throughput ? ",tok_s" : "",
                  has_step ? ",step_ms" : "");
    for (size_t i = 0; i < evidence->serving.count; i++) {
        if (is_point(&evidence->serving.items[i])) {
            print_point(stream, &evidence->serving.items[i], has_throughput, has_step);
        }
    }
    return finish(stream, error);
}
