/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam inspect --as scenario`: launch and loop from compiled code, knobs by which its variants differ, and questions
 * where no file tells. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/inspect.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/scenario/scenario.h"

enum {
    NAME_LENGTH_MAX = INSPECT_NAME_SIZE - 1,
    REQUIRE_TEXT_MAX = 3000
};

struct scenario_writer {
    const struct inspect_rows *rows;
    const char *table; /* as the scenario names it */
    bool embeds;       /* the table stands in the scenario itself */
    FILE *stream;
    struct inspect_knobs knobs;
    char name[NAME_LENGTH_MAX + 1];
};

/* --- knobs ---------------------------------------------------------------------------------------------------------
 */

static size_t distinct_values(const struct inspect_rows *rows, const char *name, double *values)
{
    size_t count = 0;
    for (size_t row = 0; row < rows->count; row++) {
        double value = inspect_knob_value(rows, row, name);
        size_t i = 0;
        while (i < count && values[i] < value) {
            i++;
        }
        if (isnan(value)) {
            return 0; /* not every variant has it */
        }
        if (i < count && values[i] == value) {
            continue;
        }
        if (count == SCENARIO_KNOB_VALUES_MAX) {
            return 0;
        }
        memmove(values + i + 1, values + i, (count - i) * sizeof *values);
        values[i] = value;
        count++;
    }
    return count;
}

struct knob_tuple {
    double values[INSPECT_KNOBS_MAX];
};

static int compare_tuples(const void *left, const void *right)
{
    const struct knob_tuple *a = left, *b = right;
    for (size_t i = 0; i < INSPECT_KNOBS_MAX; i++) {
        if (a->values[i] != b->values[i]) {
            return a->values[i] < b->values[i] ? -1 : 1;
        }
    }
    return 0;
}

/* No two rows have the same knobs. */
static bool tells_rows_apart(const struct inspect_rows *rows, const struct inspect_knobs *knobs)
{
    struct knob_tuple *tuples = calloc(rows->count + 1, sizeof *tuples);
    bool apart = tuples != NULL;
    for (size_t row = 0; row < rows->count && apart; row++) {
        for (size_t i = 0; i < knobs->count; i++) {
            tuples[row].values[i] = inspect_knob_value(rows, row, knobs->names[i]);
        }
    }
    if (apart) {
        qsort(tuples, rows->count, sizeof *tuples, compare_tuples);
    }
    for (size_t row = 1; row < rows->count && apart; row++) {
        apart = compare_tuples(&tuples[row - 1], &tuples[row]) != 0;
    }
    free(tuples);
    return apart;
}

/* Columns of the index that are figures, not choices. */
static bool is_result(const char *name)
{
    static const char *const results[] = {"file",       "registers", "registers_per_thread", "spills",
                                          "smem_bytes", "shared",    "dynamic_smem_bytes",   "static_smem_bytes",
                                          "threads"};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (strcmp(name, results[i]) == 0) {
            return true;
        }
    }
    return strstr(name, "time") != NULL;
}

static bool is_identifier(const char *name)
{
    bool good = isalpha((unsigned char)name[0]) != 0 && strlen(name) <= NAME_LENGTH_MAX;
    for (const char *at = name; *at != '\0'; at++) {
        good = good && (isalnum((unsigned char)*at) != 0 || *at == '_');
    }
    return good;
}

static void choose_knobs(struct scenario_writer *self)
{
    static const char *const standard[] = {"num_warps", "num_stages", "tile_m", "tile_n", "tile_k"};
    double values[SCENARIO_KNOB_VALUES_MAX + 1];
    const struct inspect_rows *rows = self->rows;
    struct inspect_knobs *knobs = &self->knobs;
    double combinations = 1;
    size_t from_index = rows->code->has_index ? rows->code->index.column_count : 0;
    for (size_t i = 0; i < from_index + sizeof standard / sizeof standard[0]; i++) {
        const char *name = i < from_index ? rows->code->index.names[i] : standard[i - from_index];
        bool is_known = i >= from_index && rows->code->has_index && csv_column(&rows->code->index, name) >= 0;
        size_t count = is_known || is_result(name) || !is_identifier(name) ? 0 : distinct_values(rows, name, values);
        if (count > 1 && knobs->count < INSPECT_KNOBS_MAX && !tells_rows_apart(rows, knobs)) {
            knobs->names[knobs->count++] = name;
            combinations *= (double)count;
        }
    }
    if (!tells_rows_apart(rows, knobs) || combinations > 16.0 * (double)rows->count || knobs->count == 0) {
        *knobs = (struct inspect_knobs){1, {"variant"}};
    }
}

/* --- text ----------------------------------------------------------------------------------------------------------
 */

static void print_knobs(const struct scenario_writer *self)
{
    double values[SCENARIO_KNOB_VALUES_MAX + 1];
    char number[32];
    (void)fprintf(self->stream, "knobs:\n");
    for (size_t i = 0; i < self->knobs.count; i++) {
        size_t count = distinct_values(self->rows, self->knobs.names[i], values);
        (void)fprintf(self->stream, "  %s: [", self->knobs.names[i]);
        for (size_t v = 0; v < count; v++) {
            (void)fprintf(self->stream, "%s%s", v > 0 ? ", " : "", number_format(values[v], number));
        }
        (void)fprintf(self->stream, "]\n");
    }
    (void)fprintf(self->stream, "base: {");
    for (size_t i = 0; i < self->knobs.count; i++) {
        (void)fprintf(self->stream, "%s%s: %s", i > 0 ? ", " : "", self->knobs.names[i],
                      number_format(inspect_knob_value(self->rows, 0, self->knobs.names[i]), number));
    }
    (void)fprintf(self->stream, "}\n");
}

/* Combinations of knobs that were compiled, where the lists allow others; as variants by number where that would be too
 * long a condition. */
static enum status print_requirement(struct scenario_writer *self, struct error *error)
{
    double values[SCENARIO_KNOB_VALUES_MAX + 1];
    double combinations = 1;
    struct text_buffer text = {0};
    char number[32];
    for (size_t i = 0; i < self->knobs.count; i++) {
        combinations *= (double)distinct_values(self->rows, self->knobs.names[i], values);
    }
    for (size_t row = 0; row < self->rows->count && combinations > (double)self->rows->count; row++) {
        text_buffer_append(&text, row > 0 ? " || (" : "(");
        for (size_t i = 0; i < self->knobs.count; i++) {
            text_buffer_append_format(&text, "%s%s == %s", i > 0 ? " && " : "", self->knobs.names[i],
                                      number_format(inspect_knob_value(self->rows, row, self->knobs.names[i]), number));
        }
        text_buffer_append(&text, ")");
    }
    enum status status = text.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for the scenario") : STATUS_OK;
    if (status == STATUS_OK && text.length > 0) {
        (void)fprintf(self->stream, "require:\n  - {expr: \"%s\", why: \"no such variant was compiled\"}\n", text.text);
    }
    text_buffer_release(&text);
    return status;
}

static void choose_variant_numbers(struct scenario_writer *self)
{
    double length = 0;
    for (size_t i = 0; i < self->knobs.count; i++) {
        length += (double)strlen(self->knobs.names[i]) + 20;
    }
    if (length * (double)self->rows->count > REQUIRE_TEXT_MAX) {
        double values[SCENARIO_KNOB_VALUES_MAX + 1];
        double combinations = 1;
        for (size_t i = 0; i < self->knobs.count; i++) {
            combinations *= (double)distinct_values(self->rows, self->knobs.names[i], values);
        }
        if (combinations > (double)self->rows->count) {
            self->knobs = (struct inspect_knobs){1, {"variant"}};
        }
    }
}

static bool is_known_everywhere(const struct scenario_writer *self, const char *column)
{
    for (size_t row = 0; row < self->rows->count; row++) {
        if (isnan(inspect_knob_value(self->rows, row, column))) {
            return false;
        }
    }
    return true;
}

static void print_keys(const struct scenario_writer *self)
{
    (void)fprintf(self->stream, "keys: {");
    for (size_t i = 0; i < self->knobs.count; i++) {
        (void)fprintf(self->stream, "%s%s: %s", i > 0 ? ", " : "", self->knobs.names[i], self->knobs.names[i]);
    }
    (void)fprintf(self->stream, "}");
}

/* A figure of the launch: from the table, else the workload variable that asks for it, else left out. */
static void print_figure(const struct scenario_writer *self, const char *key, const char *column, const char *ask)
{
    if (is_known_everywhere(self, column)) {
        (void)fprintf(self->stream, "    %s: {from: %s, column: %s, ", key, self->table, column);
        print_keys(self);
        (void)fprintf(self->stream, "}\n");
    } else if (ask != NULL) {
        (void)fprintf(self->stream, "    %s: %s\n", key, ask);
    }
}

static bool has_loops(const struct scenario_writer *self)
{
    for (size_t row = 0; row < self->rows->count; row++) {
        if (!self->rows->items[row].has_loop) {
            return false;
        }
    }
    return true;
}

void inspect_print_quoted(FILE *stream, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        (void)fputc(*at == '"' || *at == '\\' || (unsigned char)*at < 0x20 ? '\'' : *at, stream);
    }
}

void inspect_print_comment(FILE *stream, const char *begin, const char *text)
{
    (void)fputs(begin, stream);
    inspect_print_quoted(stream, text);
    (void)fputc('\n', stream);
}

static void print_ask(const struct scenario_writer *self, const char *name, const char *question)
{
    (void)fprintf(self->stream, "  %s: {ask: \"", name);
    inspect_print_quoted(self->stream, question);
    (void)fprintf(self->stream, "\"}\n");
}

/* What the launch tells is no question any more. */
static void print_launched(const struct scenario_writer *self, const char *name, enum claim_figure figure,
                           const char *question)
{
    const struct kernel_claim *launch = self->rows->launch;
    char number[32];
    if (launch != NULL && claim_value_is_exact(&launch->figures[figure])) {
        (void)fprintf(self->stream, "  %s: %s   # of the launch\n", name,
                      number_format(launch->figures[figure].low, number));
    } else {
        print_ask(self, name, question);
    }
}

static void print_turns(const struct scenario_writer *self)
{
    const struct code_profile *profile = self->rows->items[0].variant->profile;
    char turns[256], text[400], number[32];
    if (is_known_everywhere(self, "loop.iterations")) {
        return; /* the table has them */
    }
    const bool is_told = profile != NULL && profile->has_loop;
    (void)snprintf(text, sizeof text, "turns of the %sloop per CTA%s%s", is_told ? "main " : "",
                   is_told ? "; the code says " : "",
                   is_told ? code_trip_text(&profile->trip, turns, sizeof turns) : "");
    if (isnan(self->rows->fit.turns)) {
        print_ask(self, "iterations", text);
        if (self->rows->fit.text[0] != '\0') {
            inspect_print_comment(self->stream, "  # not fitted to the launch's time: ", self->rows->fit.text);
        }
    } else {
        (void)fprintf(self->stream, "  iterations: %s", number_format(self->rows->fit.turns, number));
        inspect_print_comment(self->stream, "   # fitted to the launch's time; ", text);
    }
}

static void print_workload(const struct scenario_writer *self)
{
    (void)fprintf(self->stream, "# What no compiled file tells: answer with -s NAME=VALUE, or put the number here.\n"
                                "workload:\n");
    print_launched(self, "grid", CLAIM_GRID, "CTAs of the launch");
    print_turns(self);
    if (self->rows->launch != NULL) {
        (void)fprintf(self->stream, "  distinct_fraction: 1   # assumed: DRAM delivers all of the loop's bytes; less "
                                    "where CTAs read the same\n");
    } else {
        print_ask(self, "distinct_fraction",
                  "share of the loop's bytes that DRAM must deliver, 0 to 1; the rest hits L2");
    }
    if (!is_known_everywhere(self, "threads")) {
        print_launched(self, "cta_threads", CLAIM_THREADS, "threads per CTA");
    }
    if (!is_known_everywhere(self, "registers_per_thread")) {
        print_launched(self, "cta_registers", CLAIM_REGISTERS, "registers per thread");
    }
    if (!is_known_everywhere(self, "dynamic_smem_bytes")) {
        print_launched(self, "cta_smem_bytes",
                       is_known_everywhere(self, "static_smem_bytes") ? CLAIM_DYNAMIC_SMEM : CLAIM_LAUNCH_SMEM,
                       "dynamic SMEM per CTA in bytes");
    }
    if (!has_loops(self)) {
        print_ask(self, "bytes_per_turn", "bytes that a CTA loads in a turn; there is no listing of all variants");
    }
    if (self->rows->launch != NULL) {
        inspect_print_operator(self->rows->launch, self->stream);
    }
}

static void print_kernel(const struct scenario_writer *self)
{
    (void)fprintf(self->stream, "kernels:\n  %s:\n    grid: grid\n", self->name);
    print_figure(self, "threads", "threads", "cta_threads");
    print_figure(self, "registers", "registers_per_thread", "cta_registers");
    print_figure(self, "static_smem_bytes", "static_smem_bytes", NULL);
    print_figure(self, "smem_bytes", "dynamic_smem_bytes", "cta_smem_bytes");
    print_figure(self, "barriers", "barriers", NULL);
    print_figure(self, "cluster", "cluster_ctas", NULL);
    if (!has_loops(self)) {
        (void)fprintf(self->stream,
                      "    loop:\n      iterations: iterations\n      stream: {row_bytes: bytes_per_turn, "
                      "distinct_fraction: distinct_fraction}\n      spill_bytes: unknown\n");
        return;
    }
    print_figure(self, "prologue_bytes", "prologue_bytes", NULL);
    print_figure(self, "epilogue_bytes", "epilogue_bytes", NULL);
    (void)fprintf(self->stream, "    loop:\n      from: %s\n      ", self->table);
    print_keys(self);
    (void)fputs(is_known_everywhere(self, "loop.iterations") ? "\n" : "\n      iterations: iterations\n", self->stream);
    bool has_gather = false, has_stream = false;
    for (size_t row = 0; row < self->rows->count; row++) {
        has_gather = has_gather || self->rows->items[row].loop.gather.rows > 0;
        has_stream = has_stream || self->rows->items[row].loop.stream.rows > 0;
    }
    if (has_gather) {
        (void)fprintf(self->stream, "      gather: {distinct_fraction: distinct_fraction}\n");
    }
    if (has_stream) {
        (void)fprintf(self->stream, "      stream: {distinct_fraction: distinct_fraction}\n");
    }
}

/* --- */

/* A scenario's products are of one type each, whatever the knobs: the reader would refuse the table. */
static enum status check_products(const struct inspect_rows *rows, struct error *error)
{
    const struct inspect_row *known[TILE_LOOP_MMA_MAX] = {0};
    for (size_t row = 0; row < rows->count; row++) {
        const struct inspect_row *item = &rows->items[row];
        for (uint32_t i = 0; item->has_loop && i < item->loop.mma_count; i++) {
            known[i] = known[i] == NULL ? item : known[i];
            const struct mma_op *a = &known[i]->loop.mma[i], *b = &item->loop.mma[i];
            if (a->format != b->format) {
                return error_set(error, STATUS_USAGE,
                                 "a scenario's products are of one type; variant %u has %s and variant %u %s: give the "
                                 "files of one kind",
                                 known[i]->number, number_format_name(a->format), item->number,
                                 number_format_name(b->format));
            }
        }
    }
    return STATUS_OK;
}

static enum status check_rows(const struct inspect_rows *rows, struct error *error)
{
    const struct compiled_kernel *first = &rows->items[0].variant->kernel;
    for (size_t row = 1; row < rows->count; row++) {
        const struct compiled_kernel *kernel = &rows->items[row].variant->kernel;
        if (!compiled_names_match(kernel->name, first->name)) {
            return error_set(error, STATUS_USAGE,
                             "a scenario is of one kernel; here are several, such as %.60s and %.60s: choose with "
                             "--kernel",
                             first->name, kernel->name);
        }
        if (kernel->arch != first->arch) {
            char of_first[16], of_other[16];
            const bool is_told = first->arch > 0 && kernel->arch > 0;
            return is_told
                       ? error_set(error, STATUS_USAGE,
                                   "a scenario is for one architecture; here are several, such as %s and %s: choose "
                                   "with --arch",
                                   inspect_arch_text(first, of_first), inspect_arch_text(kernel, of_other))
                       : error_set(error, STATUS_USAGE,
                                   "a scenario is for one architecture; here are %s and variants whose file does "
                                   "not say it: choose with --arch",
                                   inspect_arch_text(first->arch > 0 ? first : kernel, of_first));
        }
    }
    if (rows->count > SCENARIO_KNOB_VALUES_MAX) {
        return error_set(error, STATUS_LIMIT, "%zu variants; a scenario holds at most %d", rows->count,
                         SCENARIO_KNOB_VALUES_MAX);
    }
    return first->arch > 0 ? check_products(rows, error)
                           : error_set(error, STATUS_BAD_DATA, "no file says which architecture %.60s was compiled for",
                                       first->name);
}

const char *inspect_scenario_name(const char *kernel, char out[INSPECT_NAME_SIZE])
{
    size_t length = 0;
    for (const char *at = kernel; *at != '\0' && length < NAME_LENGTH_MAX; at++) {
        out[length++] = (char)(isalnum((unsigned char)*at) != 0 ? *at : '_');
    }
    out[length] = '\0';
    if (length == 0 || isdigit((unsigned char)out[0])) {
        out[0] = '_';
        out[length > 0 ? length : 1] = '\0';
    }
    return out;
}

static void print_origin(const struct scenario_writer *self)
{
    const struct compiled_kernel *kernel = &self->rows->items[0].variant->kernel;
    (void)fprintf(self->stream,
                  "# Written by occam inspect from the compiled code of %zu variant%s; figures in %s%s.\n",
                  self->rows->count, self->rows->count == 1 ? "" : "s", self->table, self->embeds ? " at the end" : "");
    if (self->rows->launch != NULL) {
        inspect_print_launch(self->rows->launch, self->rows->other_launches, "# ", self->stream);
    }
    if (self->rows->launch_device != NULL) {
        (void)fprintf(self->stream, "name: %s\ndevice: %s\n", self->name, self->rows->launch_device);
    } else {
        (void)fprintf(self->stream,
                      "# The architecture's limits alone: put a GPU's name here, or give --device, for a time.\n"
                      "name: %s\ndevice: sm_%u\n",
                      self->name, kernel->arch);
    }
}

/* The table as a block of text, each of its lines indented. */
static enum status print_table(const struct scenario_writer *self, struct error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (memory == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the table of loops");
    }
    enum status status = inspect_loop_table(self->rows, memory, error);
    if (fclose(memory) != 0 && status == STATUS_OK) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for the table of loops");
    }
    if (status == STATUS_OK) {
        (void)fprintf(self->stream, "tables:\n  %s: |\n", self->table);
        for (size_t i = 0; i < length; i++) {
            if (i == 0 || text[i - 1] == '\n') {
                (void)fputs("    ", self->stream);
            }
            (void)fputc(text[i], self->stream);
        }
    }
    free(text);
    return status;
}

enum status inspect_scenario(const struct inspect_rows *rows, const char *table, FILE *stream, struct error *error)
{
    struct scenario_writer self = {
        .rows = rows, .table = table != NULL ? table : "loops.csv", .embeds = table == NULL, .stream = stream};
    enum status status = check_rows(rows, error);
    if (status != STATUS_OK) {
        return status;
    }
    (void)inspect_scenario_name(rows->items[0].variant->kernel.name, self.name);
    choose_knobs(&self);
    choose_variant_numbers(&self);
    print_origin(&self);
    print_knobs(&self);
    status = print_requirement(&self, error);
    print_workload(&self);
    print_kernel(&self);
    if (rows->launch != NULL) {
        inspect_print_launch_notes(rows, true, stream);
    }
    if (status == STATUS_OK && self.embeds) {
        status = print_table(&self, error);
    }
    if (status == STATUS_OK && (fflush(stream) != 0 || ferror(stream) != 0)) {
        status = error_set(error, STATUS_IO, "the scenario cannot be written: %s", strerror(errno));
    }
    return status;
}
