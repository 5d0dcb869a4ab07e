/* SPDX-License-Identifier: GPL-3.0-or-later
 * The files of a campaign: one CSV per kernel, rows appended in one write each, and provenance.json beside them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "calibrate/campaign_private.h"
#include "evidence/json_writer.h"

enum {
    PATH_SIZE = 600
};
#define FILE_LIMIT_BYTES ((size_t)256 << 20)
#define WHOLE_LIMIT      0x1p53 /* whole numbers up to here are exact as double */

/* Columns behind the kernel's settings, in the order write_values prints them. */
static const char *const result_columns[] = {"outcome",
                                             "reason",
                                             "is_reference",
                                             "time_us",
                                             "cold_us",
                                             "cold_ci_fraction",
                                             "warm_us",
                                             "warm_ci_fraction",
                                             "single_us",
                                             "single_ci_fraction",
                                             "relative_error",
                                             "checked_elements",
                                             "input_sets",
                                             "launches_per_sample",
                                             "dropped_samples",
                                             "touched_bytes",
                                             "flop",
                                             "grid_ctas",
                                             "cta_threads",
                                             "registers",
                                             "spills",
                                             "local_bytes",
                                             "static_smem_bytes",
                                             "smem_bytes",
                                             "driver_ctas_per_sm",
                                             "second_grid_ctas",
                                             "second_cta_threads",
                                             "second_registers",
                                             "second_driver_ctas_per_sm",
                                             "predicted_ctas_per_sm",
                                             "predicted_limiters",
                                             "predicted_rounds",
                                             "predicted_tail_ctas",
                                             "predicted_us",
                                             "predicted_lo_us",
                                             "predicted_hi_us",
                                             "prediction_seal",
                                             "sm_clock_mhz",
                                             "memory_clock_mhz",
                                             "temperature_celsius",
                                             "power_watts",
                                             "throttle_reasons",
                                             "figures",
                                             "cold_samples_us",
                                             "warm_samples_us",
                                             "single_samples_us",
                                             "seed",
                                             "date",
                                             "device",
                                             "gpu_id",
                                             "driver",
                                             "compiler",
                                             "revision"};

static void file_path(const char *directory, const struct measure_kernel *kernel, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s/%s.csv", directory, kernel->name);
}

static void write_header(FILE *stream, const struct measure_kernel *kernel)
{
    fputs("kernel", stream);
    for (size_t i = 0; i < kernel->setting_count; i++)
        fprintf(stream, ",%s", kernel->settings[i].name);
    for (size_t i = 0; i < sizeof result_columns / sizeof *result_columns; i++)
        fprintf(stream, ",%s", result_columns[i]);
    fputc('\n', stream);
}

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

/* A process that was killed, or a full disk, can leave half a row: everything behind the last line end goes. */
static enum status cut_last_line(const char *path, struct error *error)
{
    char *text;
    size_t length;
    enum status status = file_read_text(path, FILE_LIMIT_BYTES, &text, &length, error);
    if (status != STATUS_OK)
        return status;
    size_t kept = length;
    while (kept > 0 && text[kept - 1] != '\n')
        kept--;
    free(text);
    if (kept != length && truncate(path, (off_t)kept) != 0)
        return error_set(error, STATUS_IO, "%s: cutting off an unfinished row: %s", path, strerror(errno));
    return STATUS_OK;
}

static enum status check_columns(const struct csv_table *table, const struct measure_kernel *kernel, const char *path,
                                 struct error *error)
{
    size_t results = sizeof result_columns / sizeof *result_columns;
    bool same = table->column_count == 1 + kernel->setting_count + results;
    for (size_t i = 0; same && i < kernel->setting_count; i++)
        same = strcmp(table->names[1 + i], kernel->settings[i].name) == 0;
    for (size_t i = 0; same && i < results; i++)
        same = strcmp(table->names[1 + kernel->setting_count + i], result_columns[i]) == 0;
    if (!same)
        return error_set_at(error, STATUS_BAD_DATA, path, 1, 0,
                            "the columns are not those of %s as this program writes them; use another directory",
                            kernel->name);
    return STATUS_OK;
}

static enum status add_rows(const struct csv_table *table, const struct measure_kernel *kernel,
                            struct campaign_past *past, struct error *error)
{
    if (table->row_count == 0)
        return STATUS_OK;
    struct measure_config *grown = realloc(past->configs, (past->count + table->row_count) * sizeof *grown);
    if (!grown)
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", table->row_count);
    past->configs = grown;
    const size_t outcome = 1 + kernel->setting_count; /* the first of result_columns */
    for (size_t row = 0; row < table->row_count; row++) {
        if (strcmp(csv_cell(table, row, outcome), measure_outcome_word(MEASURE_OUTCOME_NOT_TRIED)) == 0)
            continue;
        struct measure_config *config = &past->configs[past->count];
        memset(config, 0, sizeof *config);
        config->kernel = kernel;
        for (size_t i = 0; i < kernel->setting_count; i++) {
            double value;
            enum status status = csv_number(table, row, 1 + i, &value, error);
            if (status != STATUS_OK)
                return status;
            if (fabs(value) > WHOLE_LIMIT || value != trunc(value))
                return error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                                    "column '%.100s' holds '%.100s', a whole number is expected", table->names[1 + i],
                                    csv_cell(table, row, 1 + i));
            config->values[i] = (int64_t)value;
        }
        past->count++;
    }
    return STATUS_OK;
}

enum status campaign_past_read(const char *directory, const struct measure_kernel *kernel, struct campaign_past *past,
                               struct error *error)
{
    char path[PATH_SIZE];
    struct stat info;
    struct csv_table table;
    file_path(directory, kernel, path);
    if (stat(path, &info) != 0 || info.st_size == 0)
        return STATUS_OK;
    enum status status = cut_last_line(path, error);
    if (status != STATUS_OK)
        return status;
    if (stat(path, &info) == 0 && info.st_size == 0)
        return STATUS_OK;
    status = csv_read(path, FILE_LIMIT_BYTES, &table, error);
    if (status != STATUS_OK)
        return status;
    status = check_columns(&table, kernel, path, error);
    if (status == STATUS_OK)
        status = add_rows(&table, kernel, past, error);
    csv_table_release(&table);
    return status;
}

static int compare_configs(const void *left, const void *right)
{
    const struct measure_config *a = left, *b = right;
    int names = a->kernel == b->kernel ? 0 : strcmp(a->kernel->name, b->kernel->name);
    return names ? names : memcmp(a->values, b->values, sizeof a->values);
}

void campaign_past_sort(struct campaign_past *past)
{
    if (past->count > 0)
        qsort(past->configs, past->count, sizeof *past->configs, compare_configs);
}

size_t campaign_past_count(const struct campaign_past *past, const struct measure_config *config)
{
    size_t first = 0, end = past->count, count = 0;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (compare_configs(&past->configs[middle], config) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    while (first + count < past->count && compare_configs(&past->configs[first + count], config) == 0)
        count++;
    return count;
}

void campaign_past_release(struct campaign_past *past)
{
    free(past->configs);
    *past = (struct campaign_past){0};
}

/* ---- writing ------------------------------------------------------------------------------------------------------
 */

/* Empty where there is no value. */
static void write_number(FILE *stream, double value)
{
    char text[32];
    fprintf(stream, ",%s", isfinite(value) ? number_format_digits(value, 9, text) : "");
}

static void write_known(FILE *stream, bool known, double value)
{
    if (known)
        write_number(stream, value);
    else
        fputc(',', stream);
}

static void write_text(FILE *stream, const char *text)
{
    fputc(',', stream);
    csv_write_field(stream, text);
}

static void write_samples(FILE *stream, const struct measure_samples *samples)
{
    char text[32];
    fputc(',', stream);
    for (uint32_t i = 0; i < samples->count; i++)
        fprintf(stream, "%s%s", i ? ";" : "", number_format_digits(samples->us[i], 6, text));
}

static void write_median(FILE *stream, const struct measure_samples *samples)
{
    write_known(stream, samples->count > 0, samples->median_us);
    write_known(stream, samples->count > 0, samples->confidence_fraction);
}

static void write_resources(FILE *stream, const struct measure_result *result)
{
    const struct measure_resources *first = &result->stages[0], *second = &result->stages[1];
    bool known = result->stage_count > 0, both = result->stage_count > 1;
    write_known(stream, known, (double)first->grid_ctas);
    write_known(stream, known, first->threads);
    write_known(stream, known, first->registers_per_thread);
    write_known(stream, known, first->spill_store_bytes);
    write_known(stream, known, first->local_bytes);
    write_known(stream, known, first->static_smem_bytes);
    write_known(stream, known, (double)first->dynamic_smem_bytes);
    write_known(stream, known && first->driver_ctas_per_sm >= 0, first->driver_ctas_per_sm);
    write_known(stream, both, (double)second->grid_ctas);
    write_known(stream, both, second->threads);
    write_known(stream, both, second->registers_per_thread);
    write_known(stream, both && second->driver_ctas_per_sm >= 0, second->driver_ctas_per_sm);
}

static void write_prediction(FILE *stream, const struct campaign_prediction *prediction)
{
    write_known(stream, prediction->ctas_per_sm >= 0, prediction->ctas_per_sm);
    write_text(stream, prediction->limiters);
    write_number(stream, prediction->rounds);
    write_number(stream, prediction->tail_ctas);
    write_number(stream, prediction->time_us);
    write_number(stream, prediction->time_lo_us);
    write_number(stream, prediction->time_hi_us);
}

static void write_figures(FILE *stream, const struct measure_result *result)
{
    char text[32];
    fputc(',', stream);
    for (uint32_t i = 0; i < result->figure_count; i++)
        fprintf(stream, "%s%s=%s", i ? ";" : "", result->figures[i].name,
                isfinite(result->figures[i].value) ? number_format_digits(result->figures[i].value, 9, text) : "");
}

static void write_origin(FILE *stream, const struct campaign_row *row)
{
    char text[48];
    time_t now = time(NULL);
    struct tm parts;
    fprintf(stream, ",%llu", (unsigned long long)row->seed);
    gmtime_r(&now, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    write_text(stream, text);
    write_text(stream, row->facts->gpu_name);
    write_text(stream, row->facts->gpu_id);
    write_text(stream, row->facts->driver_text);
    /* Code that is built in or cached may be of another compiler than the one that is here, or is not. */
    bool known = row->result->compiler_major != 0;
    int major = known ? row->result->compiler_major : row->facts->compiler_major;
    int minor = known ? row->result->compiler_minor : row->facts->compiler_minor;
    snprintf(text, sizeof text, "NVRTC %d.%d", major, minor);
    write_text(stream, major ? text : "");
    write_text(stream, row->revision ? row->revision : "");
}

static void write_row(FILE *stream, const struct campaign_row *row)
{
    const struct measure_result *result = row->result;
    const struct measure_sensors *sensors = &result->after;
    fputs(row->config->kernel->name, stream);
    for (size_t i = 0; i < row->config->kernel->setting_count; i++)
        fprintf(stream, ",%lld", (long long)row->config->values[i]);
    write_text(stream, measure_outcome_word(result->outcome));
    write_text(stream, result->reason);
    fprintf(stream, ",%d", row->is_reference);
    write_known(stream, result->cold.count || result->warm.count,
                result->cold.count ? result->cold.median_us : result->warm.median_us);
    write_median(stream, &result->cold);
    write_median(stream, &result->warm);
    write_median(stream, &result->single);
    write_number(stream, result->relative_error);
    write_number(stream, (double)result->checked_elements);
    write_number(stream, result->input_sets);
    write_number(stream, result->launches_per_sample);
    write_number(stream, result->dropped_samples);
    write_number(stream, result->touched_bytes);
    write_number(stream, result->flop);
    write_resources(stream, result);
    write_prediction(stream, row->prediction);
    write_text(stream, row->seal ? row->seal : "");
    write_number(stream, sensors->sm_clock_mhz);
    write_number(stream, sensors->memory_clock_mhz);
    write_number(stream, sensors->temperature_celsius);
    write_number(stream, sensors->power_watts);
    write_number(stream, (double)(result->before.throttle_reasons | sensors->throttle_reasons));
    write_figures(stream, result);
    write_samples(stream, &result->cold);
    write_samples(stream, &result->warm);
    write_samples(stream, &result->single);
    write_origin(stream, row);
    fputc('\n', stream);
}

/* One write of the whole row to a descriptor in append mode; a partial one (disk full) is taken back. */
static enum status append_bytes(const char *path, const char *bytes, size_t count, struct error *error)
{
    int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    struct stat before;
    enum status status = STATUS_OK;
    if (fstat(descriptor, &before) != 0)
        before.st_size = -1;
    ssize_t written = write(descriptor, bytes, count);
    if (written != (ssize_t)count) {
        int reason = written < 0 ? errno : ENOSPC;
        bool restored = written <= 0 || before.st_size < 0 || ftruncate(descriptor, before.st_size) == 0;
        status = error_set(error, STATUS_IO, "%s: writing a row: %s%s", path, strerror(reason),
                           restored ? "" : " (its last line is unfinished)");
    }
    if (close(descriptor) != 0 && status == STATUS_OK)
        status = error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    return status;
}

enum status campaign_row_append(const char *directory, const struct campaign_row *row, struct error *error)
{
    char path[PATH_SIZE], *bytes = NULL;
    size_t count = 0;
    struct stat info;
    file_path(directory, row->config->kernel, path);
    FILE *stream = open_memstream(&bytes, &count);
    if (!stream)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a row");
    if (stat(path, &info) != 0 || info.st_size == 0)
        write_header(stream, row->config->kernel);
    write_row(stream, row);
    enum status status = fclose(stream) == 0 ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for a row");
    if (status == STATUS_OK)
        status = append_bytes(path, bytes, count, error);
    free(bytes);
    return status;
}

/* ---- sealed predictions -------------------------------------------------------------------------------------------
 */

static const char prediction_header[] =
    "date,config,revision,gpu_id,registers,predicted_ctas_per_sm,predicted_limiters,"
    "predicted_rounds,predicted_tail_ctas,predicted_us,predicted_lo_us,"
    "predicted_hi_us,model,inputs_sha256,seal\n";

/* The line without its seal, and without its end. */
static void write_prediction_line(FILE *stream, const struct campaign_row *row)
{
    char text[1024];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    fputs(text, stream);
    write_text(stream, measure_config_format(row->config, text, sizeof text));
    write_text(stream, row->revision ? row->revision : "");
    write_text(stream, row->facts->gpu_id);
    write_known(stream, row->result->stage_count > 0, row->result->stages[0].registers_per_thread);
    write_prediction(stream, row->prediction);
    write_text(stream, row->prediction->model);
    write_text(stream, row->prediction->inputs_sha256);
}

/* The seal of a line covers the seal before it and the line's own text. */
static enum status seal_line(const char *line, size_t length, char seal[CAMPAIGN_DIGEST_SIZE], struct error *error)
{
    struct text_buffer both = {0};
    text_buffer_append(&both, seal);
    text_buffer_append_bytes(&both, line, length);
    bool failed = both.failed;
    if (!failed)
        sha256_hex(both.text, both.length, seal);
    text_buffer_release(&both);
    return failed ? error_set(error, STATUS_NO_MEMORY, "no memory for a prediction") : STATUS_OK;
}

enum status campaign_prediction_append(const char *directory, const struct campaign_row *row,
                                       char seal[CAMPAIGN_DIGEST_SIZE], struct error *error)
{
    char path[PATH_SIZE], *line = NULL;
    size_t length = 0;
    struct stat info;
    struct text_buffer bytes = {0};
    snprintf(path, sizeof path, "%s/predictions.csv", directory);
    FILE *stream = open_memstream(&line, &length);
    if (!stream)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a prediction");
    write_prediction_line(stream, row);
    enum status status =
        fclose(stream) == 0 ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for a prediction");
    if (status == STATUS_OK)
        status = seal_line(line, length, seal, error);
    if (status == STATUS_OK) {
        if (stat(path, &info) != 0 || info.st_size == 0)
            text_buffer_append(&bytes, prediction_header);
        text_buffer_append_format(&bytes, "%s,%s\n", line, seal);
        status = bytes.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for a prediction")
                              : append_bytes(path, bytes.text, bytes.length, error);
    }
    text_buffer_release(&bytes);
    free(line);
    return status;
}

enum status campaign_seal_read(const char *directory, char seal[CAMPAIGN_DIGEST_SIZE], struct error *error)
{
    char path[PATH_SIZE], *text = NULL;
    size_t length;
    struct stat info;
    snprintf(path, sizeof path, "%s/predictions.csv", directory);
    seal[0] = '\0';
    if (stat(path, &info) != 0 || info.st_size == 0)
        return STATUS_OK;
    enum status status = cut_last_line(path, error);
    if (status == STATUS_OK)
        status = file_read_text(path, FILE_LIMIT_BYTES, &text, &length, error);
    if (status == STATUS_OK && strncmp(text, prediction_header, strlen(prediction_header)) != 0 && *text)
        status = error_set_at(error, STATUS_BAD_DATA, path, 1, 0,
                              "the columns are not those of predictions as this program writes them; use another "
                              "directory");
    unsigned number = 1;
    char *line = text;
    while (status == STATUS_OK && *line) {
        size_t count = strcspn(line, "\n");
        if (number > 1) {
            bool sealed = count > CAMPAIGN_DIGEST_SIZE && line[count - CAMPAIGN_DIGEST_SIZE] == ',';
            if (sealed)
                status = seal_line(line, count - CAMPAIGN_DIGEST_SIZE, seal, error);
            if (status == STATUS_OK && (!sealed || memcmp(line + count - CAMPAIGN_DIGEST_SIZE + 1, seal, 64) != 0))
                status = error_set_at(error, STATUS_BAD_DATA, path, number, 0,
                                      "the prediction was changed after it was written: its seal does not fit");
        }
        number++;
        line += count + (line[count] == '\n');
    }
    free(text);
    return status;
}

static void describe(struct json_writer *writer, const struct measure_facts *facts, const char *revision, uint64_t seed)
{
    char date[32];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    json_writer_string(writer, "device", facts->gpu_name);
    json_writer_string(writer, "gpu_id", facts->gpu_id);
    json_writer_integer(writer, "cc_major", facts->cc_major);
    json_writer_integer(writer, "cc_minor", facts->cc_minor);
    json_writer_integer(writer, "sm_count", facts->sm_count);
    json_writer_integer(writer, "l2_bytes", facts->l2_bytes);
    json_writer_integer(writer, "memory_bytes", (int64_t)facts->memory_bytes);
    json_writer_integer(writer, "smem_per_sm_bytes", facts->smem_per_sm_bytes);
    json_writer_integer(writer, "smem_per_cta_optin_bytes", facts->smem_per_cta_optin_bytes);
    json_writer_number(writer, "stated_clock_mhz", facts->clock_khz * 1e-3);
    json_writer_number(writer, "stated_memory_clock_mhz", facts->memory_clock_khz * 1e-3);
    json_writer_integer(writer, "cuda_driver_version", facts->driver_version);
    json_writer_string(writer, "driver", facts->driver_text);
    json_writer_integer(writer, "nvrtc_major", facts->compiler_major);
    json_writer_integer(writer, "nvrtc_minor", facts->compiler_minor);
    json_writer_string(writer, "date", date);
    json_writer_string(writer, "revision", revision ? revision : "");
    json_writer_integer(writer, "seed", (int64_t)seed);
}

static enum status write_document(struct json_writer *writer, const char *path, struct error *error)
{
    char draft[PATH_SIZE + 8];
    enum status status = STATUS_OK;
    snprintf(draft, sizeof draft, "%.*s.new", PATH_SIZE, path);
    FILE *stream = fopen(draft, "w");
    if (!stream) {
        status = error_set(error, STATUS_IO, "%s: %s", draft, strerror(errno));
    } else {
        status = json_writer_print(writer, stream, error);
        if (fclose(stream) != 0 && status == STATUS_OK)
            status = error_set(error, STATUS_IO, "%s: %s", draft, strerror(errno));
        if (status == STATUS_OK && rename(draft, path) != 0)
            status = error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    }
    return status;
}

enum status campaign_provenance_write(const char *directory, const struct measure_facts *facts,
                                      const struct campaign_options *options, struct error *error)
{
    char path[PATH_SIZE];
    struct json_writer *writer;
    snprintf(path, sizeof path, "%s/provenance.json", directory);
    enum status status = json_writer_create(&writer);
    if (status != STATUS_OK)
        return error_set(error, status, "no memory for the provenance");
    describe(writer, facts, options->revision, options->seed);
    json_writer_string(
        writer, "method",
        "one row: correctness against float64 on poisoned outputs, then samples. cold: one CUDA graph of "
        "many launch sequences that go round input sets larger together than three times the L2; warm: the "
        "same on one input set; single: one launch sequence between two events. Times are per launch "
        "sequence and hold the gap between launches. Medians; confidence by order statistics, 95 %. "
        "Clocks as found, not locked");
    status = write_document(writer, path, error);
    json_writer_free(writer);
    return status;
}

enum status timeline_provenance_write(const char *path, const struct measure_facts *facts,
                                      const struct measure_config *config, const struct measure_result *result,
                                      const char *revision, uint64_t seed, struct error *error)
{
    struct json_writer *writer;
    char settings[1024];
    enum status status = json_writer_create(&writer);
    if (status != STATUS_OK)
        return error_set(error, status, "no memory for the provenance");
    describe(writer, facts, revision, seed);
    json_writer_string(writer, "configuration", measure_config_format(config, settings, sizeof settings));
    json_writer_begin_object(writer, "figures");
    for (uint32_t i = 0; i < result->figure_count; i++)
        json_writer_number(writer, result->figures[i].name, result->figures[i].value);
    json_writer_end(writer);
    json_writer_string(writer, "method",
                       "one launch after 20 ms of the same launches, its results compared before that; one row per "
                       "CTA: %smid, and %globaltimer at its start and stop, from the first start on. Clocks as found, "
                       "not locked");
    status = write_document(writer, path, error);
    json_writer_free(writer);
    return status;
}
