/* SPDX-License-Identifier: GPL-3.0-or-later
 * A file or folder of results as a table with a row for each run. Called by judged_files.c. */
#include "calibrate/experiment/judged_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"

enum {
    FILE_BYTES_MAX = 256 << 20
};

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static double mean_of(const struct serving_results *results, size_t offset)
{
    double sum = 0;
    for (size_t i = 0; i < results->count; i++) {
        double value;
        memcpy(&value, (const char *)&results->items[i] + offset, sizeof value);
        sum += value;
    }
    return results->count > 0 ? sum / (double)results->count : (double)NAN;
}

static struct judged_origin describe(const struct serving_results *results)
{
    struct judged_origin side = {.kind = results->count > 0 ? results->items[0].kind : SERVING_RESULT_KIND_COUNT,
                                 .input_tokens = mean_of(results, offsetof(struct serving_result, input_tokens)),
                                 .output_tokens = mean_of(results, offsetof(struct serving_result, output_tokens))};
    for (size_t i = 0; i < results->count; i++) {
        const struct serving_result *result = &results->items[i];
        side.kind = result->kind == side.kind ? side.kind : SERVING_RESULT_KIND_COUNT;
        side.completed += isfinite(result->completed) ? result->completed : 0;
        side.failed += isfinite(result->failed) ? result->failed : 0;
    }
    return side;
}

/* One more sentence. */
static void add(char *doubt, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
static void add(char *doubt, size_t size, const char *format, ...)
{
    const size_t length = strlen(doubt);
    va_list arguments;
    va_start(arguments, format);
    const int begun = snprintf(doubt + length, size - length, "%s", length > 0 ? "; " : "");
    if (length + (size_t)begun < size) {
        (void)vsnprintf(doubt + length + begun, size - length - (size_t)begun, format, arguments);
    }
    va_end(arguments);
}

void judged_origins_compare(const struct judged_origin *base, const struct judged_origin *variant, char *doubt,
                            size_t size)
{
    static const double alike = 1.1, failed_share = 0.01;
    const struct judged_origin *sides[] = {base, variant};
    doubt[0] = '\0';
    const double input = base->input_tokens / variant->input_tokens,
                 output = base->output_tokens / variant->output_tokens;
    if (base->kind != variant->kind && base->kind < SERVING_RESULT_KIND_COUNT &&
        variant->kind < SERVING_RESULT_KIND_COUNT) {
        add(doubt, size, "measured by two programs, %s and %s", serving_result_kind_name(base->kind),
            serving_result_kind_name(variant->kind));
    }
    if (input > alike || input < 1 / alike || output > alike || output < 1 / alike) {
        add(doubt, size, "two workloads, %.0f tokens in and %.0f out per request against %.0f and %.0f",
            base->input_tokens, base->output_tokens, variant->input_tokens, variant->output_tokens);
    }
    for (int i = 0; i < 2; i++) {
        const struct judged_origin *side = sides[i];
        if (side->failed > failed_share * (side->completed + side->failed)) {
            add(doubt, size, "%.4g of %.4g requests of the %s failed", side->failed, side->completed + side->failed,
                i == 0 ? "base" : "variant");
        }
    }
}

/* Serving benchmarks' files as such a table: one row for each run. */
static enum status read_serving(const char *path, struct csv_table *table, struct judged_origin *origin,
                                struct error *error)
{
    struct serving_results results = {0};
    struct text_buffer text = {0};
    enum status status = serving_results_read(path, &results, error);
    if (status == STATUS_OK) {
        status = serving_results_settle(&results, error);
        if (status == STATUS_OK && results.series_count > 1) {
            status = error_set(error, STATUS_BAD_DATA,
                               "%s holds results of %u deployments or workloads: give a folder or file of one", path,
                               results.series_count);
        }
    }
    *origin = describe(&results);
    bool has_rate = true, has_load = true;
    for (size_t i = 0; i < results.count; i++) {
        has_rate = has_rate && !isnan(results.items[i].request_rate);
        has_load = has_load && !isnan(results.items[i].concurrency);
    }
    text_buffer_append_format(&text, "%s,%s,output_tokens_per_s,outcome\n",
                              has_load ? "concurrency" : "unknown_concurrency",
                              has_rate ? "request_rate" : "unknown_rate");
    for (size_t i = 0; i < results.count && status == STATUS_OK; i++) {
        const struct serving_result *result = &results.items[i];
        char concurrency[32], rate[32], tokens[32];
        const bool has_failed = isnan(result->output_tokens_per_s) || result->completed == 0;
        text_buffer_append_format(&text, "%s,%s,%s,%s\n", number_format(result->concurrency, concurrency),
                                  number_format(result->request_rate, rate),
                                  has_failed ? "" : number_format(result->output_tokens_per_s, tokens),
                                  has_failed ? "failed" : "ok");
    }
    if (status == STATUS_OK) {
        status = text.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for the results of %s", path)
                             : csv_parse(text.text, text.length, path, table, error);
    }
    text_buffer_release(&text);
    serving_results_release(&results);
    return status;
}

/* JSON begins with a brace or a bracket. What a pipe gives can be read once only, so it is not looked into: it is CSV.
 */
static bool looks_like_json(const char *path)
{
    struct stat status;
    FILE *stream = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;
    int byte = ' ';
    while (stream != NULL && (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t')) {
        byte = fgetc(stream);
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    return byte == '{' || byte == '[';
}

enum status judged_table_read(const char *path, struct csv_table *table, struct judged_origin *origin,
                              struct error *error)
{
    *origin = (struct judged_origin){SERVING_RESULT_KIND_COUNT, NAN, NAN, 0, 0};
    return is_folder(path) || looks_like_json(path) ? read_serving(path, table, origin, error)
                                                    : csv_read(path, FILE_BYTES_MAX, table, error);
}
