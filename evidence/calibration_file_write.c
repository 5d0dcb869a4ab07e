/* SPDX-License-Identifier: GPL-3.0-or-later
 * Writes calibrations. Numbers are written in their shortest exact form. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "evidence/calibration_file.h"
#include "evidence/calibration_file_private.h"
#include "evidence/json_writer.h"

enum {
    FEATURES = CALIBRATION_FEATURE_COUNT,
    PATH_SIZE = 1024
};

static void write_hash(struct json_writer *writer, const char *key, uint64_t hash)
{
    char text[20];
    (void)snprintf(text, sizeof text, "%016" PRIx64, hash);
    json_writer_string(writer, key, text);
}

static void write_numbers(struct json_writer *writer, const char *key, const double *values, size_t count)
{
    json_writer_begin_array(writer, key);
    for (size_t i = 0; i < count; i++) {
        json_writer_number(writer, NULL, values[i]);
    }
    json_writer_end(writer);
}

static void write_provenance(struct json_writer *writer, const struct calibration *calibration,
                             const struct calibration_provenance *provenance)
{
    json_writer_string(writer, "format", CALIBRATION_FORMAT);
    json_writer_integer(writer, "version", CALIBRATION_FORMAT_VERSION);
    json_writer_string(writer, "name", calibration->name);
    json_writer_string(writer, "date", calibration->date);
    json_writer_string(writer, "program", provenance->program);
    json_writer_string(writer, "scenario", calibration->scenario);
    write_hash(writer, "scenario_hash", calibration->scenario_hash);
    json_writer_begin_array(writer, "measurements");
    for (size_t i = 0; i < provenance->file_count; i++) {
        json_writer_string(writer, NULL, provenance->files[i]);
    }
    json_writer_end(writer);
    write_hash(writer, "measurements_hash", calibration->rows_hash);
    json_writer_string(writer, "device", calibration->device);
    json_writer_string(writer, "gpu_id", calibration->gpu_id);
    json_writer_string(writer, "driver", calibration->driver);
    json_writer_number(writer, "sm_clock_mhz", calibration->sm_clock_mhz);
    json_writer_integer(writer, "rows", calibration->row_count);
    json_writer_string(writer, "rows_chosen", provenance->rows);
    json_writer_integer(writer, "seed", (int64_t)provenance->seed);
}

static void write_parameters(struct json_writer *writer, const struct calibration *calibration)
{
    json_writer_begin_array(writer, "parameters");
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const struct model_parameter *parameter = &calibration->parameters.items[i];
        json_writer_begin_object(writer, NULL);
        json_writer_string(writer, "name", parameter_describe((enum parameter_id)i)->name);
        json_writer_number(writer, "value", parameter->value);
        json_writer_number(writer, "log_sigma", parameter->log_sigma);
        json_writer_string(writer, "source", input_source_name(parameter->source));
        json_writer_end(writer);
    }
    json_writer_end(writer);
    json_writer_begin_array(writer, "covariance");
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        write_numbers(writer, NULL, calibration->covariance[i], PARAMETER_COUNT);
    }
    json_writer_end(writer);
}

static void write_residual(struct json_writer *writer, const struct calibration_residual *residual)
{
    json_writer_begin_object(writer, "residual");
    json_writer_number(writer, "amplitude", residual->amplitude);
    json_writer_number(writer, "length", residual->length);
    json_writer_number(writer, "noise", residual->noise);
    write_numbers(writer, "center", residual->center, FEATURES);
    write_numbers(writer, "scale", residual->scale, FEATURES);
    write_numbers(writer, "weights", residual->weights, residual->row_count);
    json_writer_begin_array(writer, "rows");
    for (size_t i = 0; i < residual->row_count; i++) {
        write_numbers(writer, NULL, residual->features + i * FEATURES, FEATURES);
    }
    json_writer_end(writer);
    json_writer_end(writer);
}

/* As hexadecimal texts: a number of JSON does not hold 64 bits everywhere. */
static void write_workloads(struct json_writer *writer, const struct calibration *calibration)
{
    char text[24];
    json_writer_begin_array(writer, "workloads");
    for (uint32_t i = 0; i < calibration->workload_count; i++) {
        (void)snprintf(text, sizeof text, "%016" PRIx64, calibration->workloads[i]);
        json_writer_string(writer, NULL, text);
    }
    json_writer_end(writer);
}

static void write_document(struct json_writer *writer, const struct calibration *calibration,
                           const struct calibration_provenance *provenance)
{
    write_provenance(writer, calibration, provenance);
    json_writer_number(writer, "interval_level", calibration->interval_level);
    json_writer_number(writer, "form_log_sigma", calibration->form_log_sigma);
    json_writer_number(writer, "model_log_sigma", calibration->parameters.model_log_sigma);
    json_writer_number(writer, "stretch", calibration->stretch);
    json_writer_number(writer, "stretch_beyond", calibration->stretch_beyond);
    json_writer_number(writer, "leverage_limit", calibration->leverage_limit);
    write_workloads(writer, calibration);
    write_parameters(writer, calibration);
    json_writer_begin_array(writer, "features");
    for (unsigned f = 0; f < FEATURES; f++) {
        json_writer_string(writer, NULL, calibration_feature_name(f));
    }
    json_writer_end(writer);
    write_numbers(writer, "least", calibration->least, FEATURES);
    write_numbers(writer, "most", calibration->most, FEATURES);
    if (calibration->residual.row_count > 0) {
        write_residual(writer, &calibration->residual);
    } else {
        json_writer_null(writer, "residual");
    }
}

static enum status io_failure(const char *path, const char *what, struct error *error)
{
    return error_set_at(error, STATUS_IO, path, 0, 0, "%s: %s", what, strerror(errno));
}

/* The document into `temporary`, then onto the disk. Errors name the file that was asked for. */
static enum status write_temporary(const char *temporary, const char *path, struct json_writer *writer,
                                   struct error *error)
{
    const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!stream) {
        const enum status status = io_failure(path, "cannot be written", error);
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        return status;
    }
    enum status status = json_writer_print(writer, stream, error);
    if (status == STATUS_OK && (fflush(stream) != 0 || fsync(descriptor) != 0)) {
        status = io_failure(path, "cannot be written", error);
    }
    if (fclose(stream) != 0 && status == STATUS_OK) {
        status = io_failure(path, "cannot be written", error);
    }
    return status;
}

static enum status write_through(const char *path, struct json_writer *writer, struct error *error)
{
    char temporary[PATH_SIZE];
    struct stat state;
    const int length = snprintf(temporary, sizeof temporary, "%s.%ld.new", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary) {
        return error_set(error, STATUS_LIMIT, "the path of the calibration is too long");
    }
    if (stat(path, &state) == 0 && !S_ISREG(state.st_mode)) {
        return error_set_at(error, STATUS_IO, path, 0, 0, "is no regular file: a calibration is not written there");
    }
    enum status status = write_temporary(temporary, path, writer, error);
    if (status == STATUS_OK && rename(temporary, path) != 0) {
        status = io_failure(path, "cannot be written", error);
    }
    if (status != STATUS_OK) {
        (void)unlink(temporary);
    }
    return status;
}

enum status calibration_file_write(const char *path, const struct calibration *calibration,
                                   const struct calibration_provenance *provenance, struct error *error)
{
    struct json_writer *writer;
    enum status status = json_writer_create(&writer);
    if (status != STATUS_OK) {
        return error_set(error, status, "no memory for the calibration");
    }
    write_document(writer, calibration, provenance);
    status = write_through(path, writer, error);
    json_writer_free(writer);
    return status;
}
