/* SPDX-License-Identifier: GPL-3.0-or-later
 * A file or folder of results as a table with a row for each run. Called by judged_files.c. */
#include "calibrate/experiment/judged_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "evidence/serving/serving_results.h"

enum {
    FILE_BYTES_MAX = 256 << 20
};

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Serving benchmarks' files as such a table: one row for each run. */
static enum status read_serving(const char *path, struct csv_table *table, struct error *error)
{
    struct serving_results results = {0};
    struct text_buffer text = {0};
    enum status status = serving_results_read(path, &results, error);
    if (status == STATUS_OK && is_folder(path)) {
        status = serving_results_settle(&results, error);
        if (status == STATUS_OK && results.series_count > 1) {
            status = error_set(error, STATUS_BAD_DATA,
                               "%s holds results of %u deployments or workloads: give a folder or file of one", path,
                               results.series_count);
        }
    }
    bool has_rate = true, has_load = true;
    for (size_t i = 0; i < results.count; i++) {
        has_rate = has_rate && !isnan(results.items[i].request_rate);
        has_load = has_load && !isnan(results.items[i].concurrency);
    }
    text_buffer_append_format(&text, "%s,%s,output_tokens_per_s\n", has_load ? "concurrency" : "unknown_concurrency",
                              has_rate ? "request_rate" : "unknown_rate");
    for (size_t i = 0; i < results.count && status == STATUS_OK; i++) {
        const struct serving_result *result = &results.items[i];
        char concurrency[32], rate[32], tokens[32];
        text_buffer_append_format(&text, "%s,%s,%s\n", number_format(result->concurrency, concurrency),
                                  number_format(result->request_rate, rate),
                                  number_format(result->output_tokens_per_s, tokens));
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

enum status judged_table_read(const char *path, struct csv_table *table, struct error *error)
{
    return is_folder(path) || looks_like_json(path) ? read_serving(path, table, error)
                                                    : csv_read(path, FILE_BYTES_MAX, table, error);
}
