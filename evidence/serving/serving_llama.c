/* SPDX-License-Identifier: GPL-3.0-or-later
 * llama.cpp: llama-bench (one stream) as JSON, JSON lines and CSV; llama-batched-bench as JSON lines and as its table.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "evidence/serving/serving_reader.h"
#include "evidence/text_lines.h"

static enum status failure(const struct serving_reader *reader)
{
    return reader->error != NULL ? reader->error->status : STATUS_NO_MEMORY;
}

/* --- llama-bench ---------------------------------------------------------------------------------------------------
 */

bool serving_is_llama_bench(const json_t *object)
{
    return serving_find(object, "avg_ts") != NULL && serving_find(object, "avg_ns") != NULL &&
           serving_find(object, "n_gen") != NULL;
}

/* What the rows are about, from JSON or CSV. */
struct bench_row {
    double n_prompt, n_gen, n_depth, avg_ns, avg_ts;
    const char *model, *gpu, *type_k;
};

static enum status add_bench_row(struct serving_reader *reader, const struct bench_row *row)
{
    char depth[48] = "", cache[48] = "";

    if (!(row->n_gen > 0.0) || row->n_prompt > 0.0) {
        serving_skip(reader, row->n_gen > 0.0 ? "llama-bench: prompt and generation in one time"
                                              : "llama-bench: prompt processing only, no decode step");
        return STATUS_OK;
    }
    if (!(row->avg_ns > 0.0)) {
        serving_skip(reader, "llama-bench: avg_ns is not above 0");
        return STATUS_OK;
    }
    struct serving_result *result = serving_add(reader, SERVING_RESULT_LLAMA_BENCH);

    if (result == NULL)
        return failure(reader);
    if (row->n_depth > 0.0)
        (void)snprintf(depth, sizeof depth, "depth %.10g", row->n_depth);
    if (row->type_k[0] != '\0')
        (void)snprintf(cache, sizeof cache, "KV %.40s", row->type_k);
    const char *parts[] = {row->model, row->gpu, cache, depth};

    serving_label(reader, result, parts, sizeof parts / sizeof parts[0]);
    result->concurrency = result->running = 1.0;
    result->output_tokens = row->n_gen;
    result->input_tokens = row->n_depth > 0.0 ? row->n_depth : (double)NAN;
    result->output_tokens_per_s = row->avg_ts > 0.0 ? row->avg_ts : (double)NAN;
    result->step_time_ms = row->avg_ns * SECONDS_PER_NS / row->n_gen / SECONDS_PER_MS;
    serving_source(reader, result, "avg_ns / n_gen, one stream");
    serving_finish(reader, result);
    return STATUS_OK;
}

enum status serving_read_llama_bench(struct serving_reader *reader, const json_t *object)
{
    const struct bench_row row = {.n_prompt = serving_number(object, "n_prompt"),
                                  .n_gen = serving_number(object, "n_gen"),
                                  .n_depth = serving_number(object, "n_depth"),
                                  .avg_ns = serving_number(object, "avg_ns"),
                                  .avg_ts = serving_number(object, "avg_ts"),
                                  .model = serving_text(object, "model_type"),
                                  .gpu = serving_text(object, "gpu_info"),
                                  .type_k = serving_text(object, "type_k")};

    return add_bench_row(reader, &row);
}

/* The first line, without its end. */
static size_t first_line(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);

    return end != NULL ? (size_t)(end - text) : length;
}

static bool holds(const char *text, size_t length, const char *word)
{
    struct text_span span = {text, text + length};

    return span_find(&span, word);
}

bool serving_is_llama_bench_csv(const char *text, size_t length)
{
    size_t line = first_line(text, length);

    return length > 0 && text[0] != '{' && text[0] != '[' && holds(text, line, "n_gen") &&
           holds(text, line, "avg_ns") && holds(text, line, "avg_ts");
}

/* By column name: columns differ between versions. NaN where there is none or no number in it. */
static double column_number(const struct csv_table *table, size_t row, const char *name)
{
    long column = csv_column(table, name);
    double value = (double)NAN;

    if (column < 0 || number_parse(csv_cell(table, row, (size_t)column), &value) != STATUS_OK)
        return (double)NAN;
    return value;
}

static const char *column_text(const struct csv_table *table, size_t row, const char *name)
{
    long column = csv_column(table, name);

    return column < 0 ? "" : csv_cell(table, row, (size_t)column);
}

enum status serving_read_llama_bench_csv(struct serving_reader *reader, const char *text, size_t length)
{
    struct csv_table table = {0};
    enum status status = csv_parse(text, length, reader->file, &table, reader->error);

    for (size_t i = 0; status == STATUS_OK && i < table.row_count; i++) {
        const struct bench_row row = {.n_prompt = column_number(&table, i, "n_prompt"),
                                      .n_gen = column_number(&table, i, "n_gen"),
                                      .n_depth = column_number(&table, i, "n_depth"),
                                      .avg_ns = column_number(&table, i, "avg_ns"),
                                      .avg_ts = column_number(&table, i, "avg_ts"),
                                      .model = column_text(&table, i, "model_type"),
                                      .gpu = column_text(&table, i, "gpu_info"),
                                      .type_k = column_text(&table, i, "type_k")};

        reader->line = table.lines[i];
        status = add_bench_row(reader, &row);
    }
    csv_table_release(&table);
    return status;
}

/* --- llama-batched-bench -------------------------------------------------------------------------------------------
 */

bool serving_is_batched_bench(const json_t *object)
{
    return serving_find(object, "pl") != NULL && serving_find(object, "tg") != NULL &&
           serving_find(object, "t_tg") != NULL;
}

struct batched_row {
    double prompt, generated, batch, prompt_s, generate_s, total_s;
};

static enum status add_batched_row(struct serving_reader *reader, const struct batched_row *row)
{
    if (!(row->batch >= 1.0) || !(row->generated > 0.0) || !(row->generate_s > 0.0)) {
        serving_skip(reader, "llama-batched-bench: no generation in the row");
        return STATUS_OK;
    }
    struct serving_result *result = serving_add(reader, SERVING_RESULT_LLAMA_BATCHED_BENCH);

    if (result == NULL)
        return failure(reader);
    result->concurrency = result->running = row->batch;
    result->input_tokens = row->prompt > 0.0 ? row->prompt : (double)NAN;
    result->output_tokens = row->generated;
    result->ttft_mean_ms = row->prompt_s > 0.0 ? row->prompt_s / SECONDS_PER_MS : (double)NAN;
    result->duration_s = row->total_s;
    result->output_tokens_per_s = row->batch * row->generated / row->generate_s;
    result->step_time_ms = row->generate_s / row->generated / SECONDS_PER_MS;
    serving_source(reader, result, "T_TG / TG, one step of the batch");
    serving_finish(reader, result);
    return STATUS_OK;
}

enum status serving_read_batched_bench(struct serving_reader *reader, const json_t *object)
{
    const struct batched_row row = {.prompt = serving_number(object, "pp"),
                                    .generated = serving_number(object, "tg"),
                                    .batch = serving_number(object, "pl"),
                                    .prompt_s = serving_number(object, "t_pp"),
                                    .generate_s = serving_number(object, "t_tg"),
                                    .total_s = serving_positive(object, "t")};

    return add_batched_row(reader, &row);
}

enum {
    TABLE_COLUMNS = 10,
    CELL_SIZE = 32
};
static const char *const table_heads[TABLE_COLUMNS] = {"PP",       "TG",     "B",        "N_KV", "T_PP s",
                                                       "S_PP t/s", "T_TG s", "S_TG t/s", "T s",  "S t/s"};

/* The cells between bars, without the spaces around them; false unless there are ten. */
static bool split_cells(const char *line, const char *end, char cells[TABLE_COLUMNS][CELL_SIZE])
{
    size_t count = 0;

    while (line < end && *line == ' ')
        line++;
    if (line == end || *line != '|')
        return false;
    for (line++; line < end; count++) {
        const char *bar = memchr(line, '|', (size_t)(end - line)), *last = bar;

        if (bar == NULL)
            break;
        while (line < last && *line == ' ')
            line++;
        while (last > line && last[-1] == ' ')
            last--;
        if (count == TABLE_COLUMNS || (size_t)(last - line) >= CELL_SIZE)
            return false;
        memcpy(cells[count], line, (size_t)(last - line));
        cells[count][last - line] = '\0';
        line = bar + 1;
    }
    return count == TABLE_COLUMNS;
}

static bool is_head(char cells[TABLE_COLUMNS][CELL_SIZE])
{
    for (size_t i = 0; i < TABLE_COLUMNS; i++)
        if (strcmp(cells[i], table_heads[i]) != 0)
            return false;
    return true;
}

static bool next_line(const char **at, const char *end, const char **line, const char **line_end)
{
    if (*at >= end)
        return false;
    *line = *at;
    *line_end = memchr(*at, '\n', (size_t)(end - *at));
    *line_end = *line_end == NULL ? end : *line_end;
    *at = *line_end + 1;
    return true;
}

bool serving_is_batched_table(const char *text, size_t length)
{
    const char *at = text, *line, *end;
    char cells[TABLE_COLUMNS][CELL_SIZE];

    if (!holds(text, length, "N_KV"))
        return false;
    while (next_line(&at, text + length, &line, &end))
        if (split_cells(line, end, cells) && is_head(cells))
            return true;
    return false;
}

/* Lines around the table and its rule are passed over. */
enum status serving_read_batched_table(struct serving_reader *reader, const char *text, size_t length)
{
    const char *at = text, *line, *end;
    char cells[TABLE_COLUMNS][CELL_SIZE];
    double numbers[TABLE_COLUMNS];
    bool inside = false;
    enum status status = STATUS_OK;

    reader->line = 0;
    while (status == STATUS_OK && next_line(&at, text + length, &line, &end)) {
        size_t good = 0;

        reader->line++;
        if (!split_cells(line, end, cells))
            continue;
        inside = inside || is_head(cells);
        while (inside && good < TABLE_COLUMNS && number_parse(cells[good], &numbers[good]) == STATUS_OK)
            good++;
        if (good == TABLE_COLUMNS) {
            const struct batched_row row = {numbers[0], numbers[1], numbers[2], numbers[4], numbers[6], numbers[8]};

            status = add_batched_row(reader, &row);
        }
    }
    return status;
}
