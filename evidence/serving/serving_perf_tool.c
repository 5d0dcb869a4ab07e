/* SPDX-License-Identifier: GPL-3.0-or-later
 * AIPerf and its predecessor GenAI-Perf: summaries as JSON and as CSV, each metric with its unit. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "evidence/serving/serving_reader.h"

enum {
    NAME_SIZE = 96,
    SEARCH_DEPTH_MAX = 8
};

/* --- metrics -------------------------------------------------------------------------------------------------------
 */

/* Metrics stand at the top, in files of early versions under "records". */
static const json_t *metrics_of(const json_t *object)
{
    const json_t *records = serving_find(object, "records");

    return json_is_object(records) ? records : object;
}

bool serving_is_perf_tool(const json_t *object)
{
    static const char *const keys[] = {"inter_token_latency.avg", "output_token_throughput.avg",
                                       "time_to_first_token.avg"};
    const json_t *metrics = metrics_of(object);

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (serving_find(metrics, keys[i]) != NULL)
            return true;
    return false;
}

static double statistic(const json_t *metrics, const char *metric, const char *name)
{
    char path[NAME_SIZE];

    (void)snprintf(path, sizeof path, "%s.%s", metric, name);
    return serving_positive(metrics, path);
}

/* Milliseconds in the metric's unit; NaN for a unit that is no time. */
static double unit_ms(const json_t *metrics, const char *metric)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"", 1.0},
                 {"ms", 1.0},
                 {"milliseconds", 1.0},
                 {"s", 1e3},
                 {"sec", 1e3},
                 {"sec.", 1e3},
                 {"seconds", 1e3},
                 {"us", 1e-3},
                 {"ns", 1e-6},
                 {"microseconds", 1e-3},
                 {"nanoseconds", 1e-6}};
    char path[NAME_SIZE];

    (void)snprintf(path, sizeof path, "%s.unit", metric);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, serving_text(metrics, path)) == 0)
            return units[i].ms;
    return (double)NAN;
}

static enum status take_latency(struct serving_reader *reader, const json_t *metrics, const char *metric, double *mean,
                                double *median, double *p99)
{
    double factor = unit_ms(metrics, metric);

    if (!isfinite(factor))
        return error_set_at(reader->error, STATUS_BAD_DATA, reader->file, reader->one_value ? 0 : reader->line, 0,
                            "the unit of %s is no time", metric);
    *mean = factor * statistic(metrics, metric, "avg");
    *median = factor * statistic(metrics, metric, "p50");
    *p99 = factor * statistic(metrics, metric, "p99");
    return STATUS_OK;
}

static enum status take_latencies(struct serving_reader *reader, struct serving_result *result, const json_t *metrics)
{
    if (isfinite(statistic(metrics, "inter_token_latency", "avg")) &&
        *serving_text(metrics, "inter_token_latency.unit") == '\0')
        serving_note(reader, result, "inter_token_latency has no unit: taken for ms");
    enum status status = take_latency(reader, metrics, "inter_token_latency", &result->tpot_mean_ms,
                                      &result->tpot_median_ms, &result->tpot_p99_ms);

    if (status == STATUS_OK)
        status = take_latency(reader, metrics, "inter_chunk_latency", &result->itl_mean_ms, &result->itl_median_ms,
                              &result->itl_p99_ms);
    if (status == STATUS_OK)
        status = take_latency(reader, metrics, "time_to_first_token", &result->ttft_mean_ms, &result->ttft_median_ms,
                              &result->ttft_p99_ms);
    return status;
}

/* --- the load ------------------------------------------------------------------------------------------------------
 */

/* The first number under `key` anywhere below; the place differs between versions. */
static double search_number(const json_t *value, const char *key, unsigned depth)
{
    void *iterator;
    double found = serving_positive(value, key);

    if (isfinite(found) || depth >= SEARCH_DEPTH_MAX || !json_is_object(value))
        return found;
    /* The iterator does not change the object. */
    for (iterator = json_object_iter((json_t *)(uintptr_t)value); iterator != NULL && !isfinite(found);
         iterator = json_object_iter_next((json_t *)(uintptr_t)value, iterator))
        found = search_number(json_object_iter_value(iterator), key, depth + 1);
    return found;
}

/* Both programs name the folder of a run MODEL-ENDPOINT-concurrency16. */
static double folder_concurrency(const char *path)
{
    static const char word[] = "concurrency";
    char digits[8] = "";
    double value = (double)NAN;

    for (const char *at = strstr(path, word); at != NULL; at = strstr(at + 1, word)) {
        size_t count = strspn(at + sizeof word - 1, "0123456789");

        if (count > 0 && count < sizeof digits)
            (void)snprintf(digits, sizeof digits, "%.*s", (int)count, at + sizeof word - 1);
    }
    if (number_parse(digits, &value) != STATUS_OK)
        return (double)NAN;
    return value >= 1.0 && value <= 1e6 ? value : (double)NAN;
}

static void take_load(struct serving_reader *reader, struct serving_result *result, const json_t *object)
{
    const json_t *config = serving_find(object, "input_config");

    result->concurrency = search_number(config, "concurrency", 0);
    result->request_rate = search_number(config, "request_rate", 0);
    if (isfinite(result->concurrency))
        return;
    result->concurrency = isfinite(result->request_rate) ? (double)NAN : folder_concurrency(reader->file);
    if (isfinite(result->concurrency))
        serving_note(reader, result, "concurrency from the folder's name");
    else
        serving_note(reader, result, "no concurrency in the file: the batch that ran stands for it");
}

static const char *model_name(const json_t *object)
{
    const json_t *names = serving_find(object, "input_config.endpoint.model_names");

    if (names == NULL)
        names = serving_find(object, "input_config.model_names");
    if (json_is_string(json_array_get(names, 0)))
        return json_string_value(json_array_get(names, 0));
    return serving_text(object, "input_config.model");
}

static bool is_aiperf(const json_t *object)
{
    return serving_find(metrics_of(object), "inter_chunk_latency") != NULL ||
           serving_find(metrics_of(object), "benchmark_duration") != NULL ||
           serving_find(object, "schema_version") != NULL || serving_find(object, "aiperf_version") != NULL ||
           serving_find(object, "input_config.loadgen") != NULL;
}

enum status serving_read_perf_tool(struct serving_reader *reader, const json_t *object)
{
    const json_t *metrics = metrics_of(object);
    struct serving_result *result =
        serving_add(reader, is_aiperf(object) ? SERVING_RESULT_AIPERF : SERVING_RESULT_GENAI_PERF);

    if (result == NULL)
        return reader->error != NULL ? reader->error->status : STATUS_NO_MEMORY;
    const char *parts[] = {model_name(object)};

    serving_label(reader, result, parts, 1);
    take_load(reader, result, object);
    result->output_tokens_per_s = statistic(metrics, "output_token_throughput", "avg");
    result->input_tokens = statistic(metrics, "input_sequence_length", "avg");
    result->output_tokens = statistic(metrics, "output_sequence_length", "avg");
    result->completed = statistic(metrics, "request_count", "avg");
    result->failed = statistic(metrics, "error_request_count", "avg");
    result->duration_s =
        statistic(metrics, "benchmark_duration", "avg") * (serving_find(metrics, "benchmark_duration.unit") == NULL
                                                               ? 1.0
                                                               : unit_ms(metrics, "benchmark_duration") * 1e-3);
    enum status status = take_latencies(reader, result, metrics);

    if (status != STATUS_OK) {
        reader->results->count--;
        return status;
    }
    serving_finish(reader, result);
    return STATUS_OK;
}

/* --- CSV -----------------------------------------------------------------------------------------------------------
 * A table of metrics with statistics, an empty line, a table of metrics with one value: made into the object above.
 */

bool serving_is_perf_tool_csv(const char *text, size_t length)
{
    static const char *const heads[] = {"Metric,avg", "Metric,Value", "\"Metric\",\"avg\""};

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (length > strlen(heads[i]) && memcmp(text, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

/* "Time to First Token (ms)" -> "time_to_first_token" and "ms". */
static void split_name(const char *cell, char key[NAME_SIZE], char unit[NAME_SIZE])
{
    const char *open = strrchr(cell, '(');
    size_t length = open != NULL ? (size_t)(open - cell) : strlen(cell), used = 0;

    while (length > 0 && cell[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < length && used + 1 < NAME_SIZE; i++)
        key[used++] = cell[i] == ' ' ? '_' : (char)tolower((unsigned char)cell[i]);
    key[used] = '\0';
    used = 0;
    for (const char *at = open != NULL ? open + 1 : ""; *at != '\0' && *at != ')' && used + 1 < NAME_SIZE; at++)
        unit[used++] = *at;
    unit[used] = '\0';
}

/* "1,234.50" as a number; other cells are left out. */
static void set_cell(json_t *metric, const char *name, const char *cell)
{
    char plain[NAME_SIZE];
    size_t used = 0;
    double value;

    for (; *cell != '\0' && used + 1 < sizeof plain; cell++)
        if (*cell != ',')
            plain[used++] = *cell;
    plain[used] = '\0';
    if (number_parse(plain, &value) == STATUS_OK)
        (void)json_object_set_new(metric, strcmp(name, "Value") == 0 ? "avg" : name, json_real(value));
}

static void add_rows(json_t *object, const struct csv_table *table)
{
    char key[NAME_SIZE], unit[NAME_SIZE];

    if (table->column_count < 2 || strcmp(table->names[0], "Metric") != 0)
        return;
    for (size_t row = 0; row < table->row_count; row++) {
        json_t *metric = json_object();

        split_name(csv_cell(table, row, 0), key, unit);
        (void)json_object_set_new(metric, "unit", json_string(unit));
        for (size_t column = 1; column < table->column_count; column++)
            set_cell(metric, table->names[column], csv_cell(table, row, column));
        (void)json_object_set_new(object, key, metric);
    }
}

/* Length of the lines up to the next empty one. */
static size_t block_length(const char *text, size_t length)
{
    size_t at = 0;

    while (at < length && text[at] != '\n' && text[at] != '\r') {
        const char *end = memchr(text + at, '\n', length - at);

        at = end != NULL ? (size_t)(end - text) + 1 : length;
    }
    return at;
}

enum status serving_read_perf_tool_csv(struct serving_reader *reader, const char *text, size_t length)
{
    json_t *object = json_object();
    enum status status = object == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    reader->one_value = true;
    for (size_t at = 0; at < length && status == STATUS_OK;) {
        size_t block = block_length(text + at, length - at);
        struct csv_table table = {0};

        /* Only tables of metrics: what follows them (GPU telemetry) has columns of its own. */
        if (block > 6 && serving_is_perf_tool_csv(text + at, block)) {
            status = csv_parse(text + at, block, reader->file, &table, reader->error);
            if (status == STATUS_OK)
                add_rows(object, &table);
            csv_table_release(&table);
        }
        at += block > 0 ? block : 1;
    }
    if (status == STATUS_OK && serving_is_perf_tool(object))
        status = serving_read_perf_tool(reader, object);
    else if (status == STATUS_OK)
        serving_skip(reader, "no token latency or throughput among the metrics");
    json_decref(object);
    return status;
}
