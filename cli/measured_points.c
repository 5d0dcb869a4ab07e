/* SPDX-License-Identifier: GPL-3.0-or-later
 * Tables with a column `concurrency`, and serving results, as points of a step-time law. */
#include "cli/measured_points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "evidence/byte_stream.h"

enum {
    MEASURED_BYTES_MAX = 4 << 20,
    HEAD_BYTES = 4096,
    SERIES_TEXT = 320
};

/* --- a table of our own --------------------------------------------------------------------------------------------
 */

/* Columns of a measured table; -1: not there. Where tok_s and a time stand side by side the batch that ran follows. */
struct measured_columns {
    long concurrency, tok_s, step_ms, itl_ms;
};

static long any_column(const struct csv_table *table, const char *const *names, size_t count)
{
    long column = -1;

    for (size_t i = 0; i < count && column < 0; i++)
        column = csv_column(table, names[i]);
    return column;
}

long throughput_column(const struct csv_table *table)
{
    static const char *const names[] = {"tok_s", "tokens_per_s", "throughput_tokens_per_s", "output_tokens_per_s"};

    return any_column(table, names, sizeof names / sizeof names[0]);
}

static enum status find_columns(const struct csv_table *table, uint32_t taken, struct measured_columns *columns,
                                struct error *error)
{
    static const char *const step_names[] = {"step_ms", "step_time_ms"};

    columns->concurrency = csv_column(table, "concurrency");
    columns->tok_s = throughput_column(table);
    columns->step_ms = any_column(table, step_names, sizeof step_names / sizeof step_names[0]);
    columns->itl_ms = columns->step_ms >= 0 ? -1 : csv_column(table, "itl_ms");
    if (columns->concurrency < 0 || (columns->tok_s < 0 && columns->step_ms < 0 && columns->itl_ms < 0))
        return error_set_at(
            error, STATUS_BAD_DATA, table->file, 1, 0,
            "a column concurrency and one of tok_s (or tokens_per_s), step_ms (or step_time_ms), itl_ms are "
            "expected");
    if (table->row_count == 0 || table->row_count > SERVING_POINTS_MAX - taken)
        return error_set_at(error, STATUS_BAD_DATA, table->file, 0, 0, "1 to %d measured points are expected, not %zu",
                            SERVING_POINTS_MAX - (int)taken, table->row_count);
    return STATUS_OK;
}

/* A positive number of at least `least` in a column that may be missing (then NaN). */
static enum status read_cell(const struct csv_table *table, size_t row, long column, const char *name, double least,
                             double *value, struct error *error)
{
    enum status status = column < 0 ? STATUS_OK : csv_number(table, row, (size_t)column, value, error);

    if (column < 0)
        *value = (double)NAN;
    else if (status == STATUS_OK && !(*value > 0.0 && *value >= least))
        status = error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                              "a concurrency of at least 1 and a positive %s are expected", name);
    return status;
}

/* No server of today or of the next years takes such a step, serves so many requests or gives so many tokens: a wrong
 * unit or a wrong column. */
static enum status check_sense(const struct csv_table *table, size_t row, const struct serving_point *point,
                               struct error *error)
{
    const struct {
        const char *what;
        double value, least, most;
    } checks[] = {{"a concurrency", point->concurrency, 1.0, 1e7},
                  {"a step time in ms", point->step_time_s / SECONDS_PER_MS, 0.1, 1e7},
                  {"tokens per second", point->throughput_tokens_per_s, 1e-3, 1e10}};

    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (!(checks[i].value >= checks[i].least && checks[i].value <= checks[i].most) && !isnan(checks[i].value))
            return error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                                "%s of %g makes no sense: %g to %g are expected; is a unit or a column wrong?",
                                checks[i].what, checks[i].value, checks[i].least, checks[i].most);
    return STATUS_OK;
}

static enum status read_row(const struct csv_table *table, size_t row, const struct measured_columns *columns,
                            double tokens_per_step, struct serving_point *point, struct error *error)
{
    long time_column = columns->step_ms >= 0 ? columns->step_ms : columns->itl_ms;
    double time_ms = (double)NAN;
    enum status status =
        read_cell(table, row, columns->concurrency, table->names[columns->tok_s >= 0 ? columns->tok_s : time_column],
                  1.0, &point->concurrency, error);

    if (status == STATUS_OK)
        status = read_cell(table, row, columns->tok_s, columns->tok_s >= 0 ? table->names[columns->tok_s] : "", 0.0,
                           &point->throughput_tokens_per_s, error);
    if (status == STATUS_OK)
        status =
            read_cell(table, row, time_column, time_column >= 0 ? table->names[time_column] : "", 0.0, &time_ms, error);
    if (status != STATUS_OK)
        return status;
    point->relative_sigma = 0.0;
    if (time_column < 0)
        point->step_time_s = point->concurrency * tokens_per_step / point->throughput_tokens_per_s;
    else
        point->step_time_s = time_ms * SECONDS_PER_MS * (columns->step_ms >= 0 ? 1.0 : tokens_per_step);
    return check_sense(table, row, point, error);
}

static enum status read_table(const char *path, struct serving_model *serving, struct error *error)
{
    struct csv_table table = {0};
    struct measured_columns columns;
    enum status status = csv_read(path, MEASURED_BYTES_MAX, &table, error);

    if (status == STATUS_OK)
        status = find_columns(&table, serving->point_count, &columns, error);
    for (size_t row = 0; status == STATUS_OK && row < table.row_count; row++) {
        status = read_row(&table, row, &columns, serving->tokens_per_step_per_request,
                          &serving->points[serving->point_count], error);
        serving->point_count += status == STATUS_OK;
    }
    csv_table_release(&table);
    return status;
}

/* The first line that is no comment, cut at size. */
static void first_line(const char *path, char *line, size_t size)
{
    struct byte_stream *stream = NULL;
    struct error ignored = {0};
    char head[HEAD_BYTES + 1];
    size_t length = 0;

    line[0] = '\0';
    if (byte_stream_open(path, &stream, &ignored) == STATUS_OK &&
        byte_stream_read(stream, head, HEAD_BYTES, &length, &ignored) != STATUS_OK)
        length = 0;
    byte_stream_free(stream);
    head[length] = '\0';
    const char *at = strncmp(head, "\xef\xbb\xbf", 3) == 0 ? head + 3 : head;

    while (*at == '#' || *at == '\n' || *at == '\r') {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    (void)snprintf(line, size, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static bool is_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Whether the header names a column `concurrency`. */
static bool is_own_table(const char *path)
{
    static const char name[] = "concurrency";
    char line[HEAD_BYTES];

    first_line(path, line, sizeof line);
    for (const char *cell = line; line[0] != '{' && line[0] != '['; cell++) {
        size_t length = strcspn(cell, ",");
        const char *start = cell + strspn(cell, "\" ");

        if (strncmp(start, name, sizeof name - 1) == 0 &&
            strspn(start + sizeof name - 1, "\" ") == length - (size_t)(start - cell) - (sizeof name - 1))
            return true;
        cell += length;
        if (*cell == '\0')
            break;
    }
    return false;
}

/* Why a text that nothing could read is perhaps a table of ours after all. */
static void suggest_table(const char *path, struct error *error)
{
    static const char *const names[] = {"concurrency"};
    char line[HEAD_BYTES], cell[64], cause[sizeof error->text];
    const char *hint = "a table needs a column concurrency and one of tok_s, step_ms, itl_ms";
    size_t length, before = strlen(error->text);
    double number;

    first_line(path, line, sizeof line);
    length = strcspn(line, ",;\t");
    if (line[0] == '{' || line[0] == '[' || line[length] == '\0')
        return;
    (void)snprintf(cell, sizeof cell, "%.*s", (int)(length < sizeof cell ? length : sizeof cell - 1), line);
    if (number_parse(cell, &number) == STATUS_OK)
        hint = "its first line must name the columns: concurrency and one of tok_s, step_ms, itl_ms";
    else if (line[length] != ',')
        hint = "a table has commas between its columns";
    for (const char *at = line; number_parse(cell, &number) != STATUS_OK && strlen(error->text) == before;) {
        length = strcspn(at, ",;\t");
        (void)snprintf(cell, sizeof cell, "%.*s", (int)(length < sizeof cell ? length : sizeof cell - 1), at);
        if (strcmp(cell, names[0]) != 0)
            near_names_append(error, cell, names, 1);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    if (strlen(error->text) > before)
        return;
    (void)snprintf(cause, sizeof cause, "%s", error->text);
    (void)snprintf(error->text, sizeof error->text, "%.*s; %s", (int)(sizeof cause - strlen(hint) - 3), cause, hint);
}

/* --- serving results -----------------------------------------------------------------------------------------------
 */

void measured_runs_release(struct measured_runs *runs)
{
    serving_results_release(&runs->results);
    *runs = (struct measured_runs){0};
}

const char *measured_series_text(const struct serving_result *result, char *out, size_t size)
{
    char lengths[64] = "";

    if (isfinite(result->input_tokens) && isfinite(result->output_tokens))
        (void)snprintf(lengths, sizeof lengths, "; %.0f in, %.0f out", result->input_tokens, result->output_tokens);
    (void)snprintf(out, size, "%s%s%s%s", serving_result_kind_name(result->kind), *result->label != '\0' ? ": " : "",
                   result->label, lengths);
    return out;
}

/* The points of a series that begins at `first`. */
static size_t series_length(const struct serving_results *results, size_t first)
{
    size_t end = first;

    while (end < results->count && results->items[end].series == results->items[first].series)
        end++;
    return end - first;
}

static bool is_wanted(const struct serving_result *result, const char *wanted)
{
    char text[SERIES_TEXT];
    double number;

    if (wanted == NULL)
        return true;
    if (number_parse(wanted, &number) == STATUS_OK)
        return number == result->series + 1.0;
    return strstr(measured_series_text(result, text, sizeof text), wanted) != NULL;
}

static enum status complain_of_series(const struct serving_results *results, const char *wanted, size_t matches,
                                      struct error *error)
{
    char list[560], text[SERIES_TEXT];
    size_t used = 0;

    list[0] = '\0';
    for (size_t first = 0; first < results->count; first += series_length(results, first)) {
        if ((matches > 0 && !is_wanted(&results->items[first], wanted)) || used >= sizeof list - 1)
            continue;
        int added = snprintf(
            list + used, sizeof list - used, "%s%u = %s (%zu)", used > 0 ? "; " : "", results->items[first].series + 1,
            measured_series_text(&results->items[first], text, sizeof text), series_length(results, first));

        used += added > 0 ? (size_t)added : 0;
    }
    if (matches == 0)
        return error_set(error, STATUS_DOMAIN, "no series of the files is \"%s\": %s", wanted, list);
    return error_set(error, STATUS_DOMAIN, "%zu series are in the files, --series takes one (its number or text): %s",
                     matches, list);
}

static enum status choose_series(struct measured_runs *runs, const char *wanted, struct error *error)
{
    const struct serving_results *results = &runs->results;
    size_t matches = 0;

    for (size_t first = 0; first < results->count; first += series_length(results, first))
        if (is_wanted(&results->items[first], wanted)) {
            runs->first = first;
            runs->count = series_length(results, first);
            matches++;
        }
    if (matches == 1)
        return STATUS_OK;
    runs->count = 0;
    return complain_of_series(results, wanted, matches, error);
}

/* Mean accept length of the runs that state one above 1; NaN where none does. */
static double accept_length(const struct measured_runs *runs)
{
    double sum = 0.0;
    unsigned count = 0;

    for (size_t i = runs->first; i < runs->first + runs->count; i++)
        if (runs->results.items[i].accept_length > 1.0) {
            sum += runs->results.items[i].accept_length;
            count++;
        }
    return count > 0 ? sum / count : (double)NAN;
}

static bool is_usable(const struct serving_result *run)
{
    return isfinite(run->step_time_ms) && run->step_time_ms > 0.0 &&
           (run->concurrency >= 1.0 || (isfinite(run->running) && run->running > 0.0));
}

double measured_run_batch(const struct serving_result *run)
{
    static const double most = 1.1; /* as STEP-21; beyond it a unit or a column is another one */

    if (!isfinite(run->running) || !(run->running > 0.0))
        return run->concurrency;
    return run->running > most * run->concurrency ? run->concurrency : run->running;
}

/* scale: tokens per step that the run's time does not have in it. */
static void take_run(const struct serving_result *run, double scale, double tokens_per_step,
                     struct serving_point *point)
{
    point->concurrency = run->concurrency >= 1.0 ? run->concurrency : run->running;
    point->step_time_s = run->step_time_ms * SECONDS_PER_MS * scale;
    point->relative_sigma = 0.0;
    point->throughput_tokens_per_s = measured_run_batch(run) * tokens_per_step / point->step_time_s;
}

static enum status take_runs(struct measured_runs *runs, struct serving_model *serving, struct error *error)
{
    double accepted = accept_length(runs);
    double scale = isfinite(accepted) ? 1.0 : serving->tokens_per_step_per_request;
    uint32_t before = serving->point_count;

    if (isfinite(accepted))
        serving->tokens_per_step_per_request = accepted;
    for (size_t i = runs->first; i < runs->first + runs->count; i++) {
        if (!is_usable(&runs->results.items[i]))
            continue;
        if (serving->point_count == SERVING_POINTS_MAX)
            return error_set(error, STATUS_LIMIT, "more than %d measured points", SERVING_POINTS_MAX);
        take_run(&runs->results.items[i], scale, serving->tokens_per_step_per_request,
                 &serving->points[serving->point_count++]);
    }
    if (serving->point_count == before)
        return error_set_at(error, STATUS_BAD_DATA, runs->results.items[runs->first].file, 0, 0,
                            "no run in it has a step time and a concurrency");
    return STATUS_OK;
}

enum status measured_points_read(const struct text_list *files, const char *series, struct serving_model *serving,
                                 struct measured_runs *runs, struct error *error)
{
    enum status status = STATUS_OK;

    serving->point_count = 0;
    for (size_t i = 0; i < files->count && status == STATUS_OK; i++) {
        const size_t before = runs->results.count;
        struct stat info;

        /* What a file is, is told by its beginning, and then it is read: a pipe has nothing left by then. */
        if (stat(files->items[i], &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
            return error_set_at(error, STATUS_BAD_DATA, files->items[i], 0, 0,
                                "no regular file (write what a pipe gives to a file)");
        status = is_own_table(files->items[i]) ? read_table(files->items[i], serving, error)
                                               : serving_results_read(files->items[i], &runs->results, error);
        if (status == STATUS_BAD_DATA && runs->results.count == before && !is_own_table(files->items[i]) &&
            is_file(files->items[i]))
            suggest_table(files->items[i], error);
    }
    if (status == STATUS_OK && runs->results.count == 0 && series != NULL)
        status = error_set(error, STATUS_USAGE, "--series chooses among serving results, and the files are tables");
    if (status == STATUS_OK && runs->results.count > 0) {
        status = serving_results_settle(&runs->results, error);
        if (status == STATUS_OK)
            status = choose_series(runs, series, error);
        if (status == STATUS_OK)
            status = take_runs(runs, serving, error);
    }
    return status;
}
