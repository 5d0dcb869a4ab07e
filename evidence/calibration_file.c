/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reads calibrations. The n x n factor of the residual process is not stored but computed again by the code that made
 * it. */
#include "evidence/calibration_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "evidence/calibration_file_private.h"
#include "evidence/embedded_data.h"
#include "model/predict/residual_factor.h"

enum {
    FILE_BYTES_MAX = 32 << 20,
    FEATURES = CALIBRATION_FEATURE_COUNT,
    PATH_SIZE = 1024
};

/* ---- reading: values --------------------------------------------------------------------------------------------- */

struct reader {
    const char *file;
    struct error *error;
};

static enum status fail(const struct reader *self, const char *place, const char *text)
{
    return error_set_at(self->error, STATUS_BAD_DATA, self->file, 0, 0, "%s: %s", place, text);
}

static enum status member(const struct reader *self, const json_t *object, const char *key, const json_t **value)
{
    *value = json_object_get(object, key);
    return *value ? STATUS_OK : fail(self, key, "this key is missing");
}

/* A number within least..most; null is `absent` where that is allowed (absent is infinite or NaN). */
static enum status number_of(const struct reader *self, const json_t *value, const char *place, double least,
                             double most, double absent, double *out)
{
    char text[128], lo[32], hi[32];
    if (json_is_null(value) && !isfinite(absent)) {
        *out = absent;
        return STATUS_OK;
    }
    const double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    if (!(number >= least && number <= most)) {
        (void)snprintf(text, sizeof text, "expected a number from %s to %s", number_format_digits(least, 6, lo),
                       number_format_digits(most, 6, hi));
        return fail(self, place, text);
    }
    *out = number;
    return STATUS_OK;
}

static enum status read_number(const struct reader *self, const json_t *object, const char *key, double least,
                               double most, double absent, double *out)
{
    const json_t *value;
    const enum status status = member(self, object, key, &value);
    return status == STATUS_OK ? number_of(self, value, key, least, most, absent, out) : status;
}

/* Printable text of less than size bytes. */
static enum status read_text(const struct reader *self, const json_t *object, const char *key, char *out, size_t size)
{
    const json_t *value;
    char text[96];
    const enum status status = member(self, object, key, &value);
    if (status != STATUS_OK) {
        return status;
    }
    const char *string = json_string_value(value);
    bool fine = string && json_string_length(value) == strlen(string) && strlen(string) < size;
    for (const char *c = string; fine && *c; c++) {
        fine = !iscntrl((unsigned char)*c);
    }
    if (!fine) {
        (void)snprintf(text, sizeof text, "expected a text of at most %zu printable bytes", size - 1);
        return fail(self, key, text);
    }
    memcpy(out, string, strlen(string) + 1);
    return STATUS_OK;
}

static enum status read_hash(const struct reader *self, const json_t *object, const char *key, uint64_t *out)
{
    char text[20];
    const enum status status = read_text(self, object, key, text, sizeof text);
    if (status != STATUS_OK) {
        return status;
    }
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
        return fail(self, key, "expected 16 hexadecimal digits");
    }
    *out = strtoull(text, NULL, 16);
    return STATUS_OK;
}

static enum status read_list(const struct reader *self, const json_t *object, const char *key, size_t count,
                             const json_t **list)
{
    char text[64];
    const enum status status = member(self, object, key, list);
    if (status == STATUS_OK && (!json_is_array(*list) || json_array_size(*list) != count)) {
        (void)snprintf(text, sizeof text, "expected a list of %zu", count);
        return fail(self, key, text);
    }
    return status;
}

static enum status list_numbers(const struct reader *self, const json_t *list, const char *key, double least,
                                double most, double absent, double *out)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < json_array_size(list) && status == STATUS_OK; i++) {
        char place[64];
        (void)snprintf(place, sizeof place, "%.40s[%zu]", key, i);
        status = number_of(self, json_array_get(list, i), place, least, most, absent, &out[i]);
    }
    return status;
}

static enum status read_numbers(const struct reader *self, const json_t *object, const char *key, size_t count,
                                double least, double most, double absent, double *out)
{
    const json_t *list;
    const enum status status = read_list(self, object, key, count, &list);
    return status == STATUS_OK ? list_numbers(self, list, key, least, most, absent, out) : status;
}

/* ---- reading: parts ---------------------------------------------------------------------------------------------- */

static enum status read_format(const struct reader *self, const json_t *root)
{
    char text[64] = "";
    double version = 0;
    enum status status = read_text(self, root, "format", text, sizeof text);
    if (status == STATUS_OK && strcmp(text, CALIBRATION_FORMAT) != 0) {
        status = fail(self, "format", "this is no calibration");
    }
    if (status == STATUS_OK) {
        status = read_number(self, root, "version", 1, 1e9, 0, &version);
    }
    if (status == STATUS_OK && version != CALIBRATION_FORMAT_VERSION) {
        status = fail(self, "version", "the file is of another version of occam: calibrate again");
    }
    return status;
}

static enum status read_provenance(const struct reader *self, const json_t *root, struct calibration *calibration)
{
    const struct {
        const char *key;
        char *out;
        size_t size;
    } texts[] = {{"name", calibration->name, sizeof calibration->name},
                 {"date", calibration->date, sizeof calibration->date},
                 {"scenario", calibration->scenario, sizeof calibration->scenario},
                 {"device", calibration->device, sizeof calibration->device},
                 {"gpu_id", calibration->gpu_id, sizeof calibration->gpu_id},
                 {"driver", calibration->driver, sizeof calibration->driver}};
    enum status status = STATUS_OK;
    double rows = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == STATUS_OK; i++) {
        status = read_text(self, root, texts[i].key, texts[i].out, texts[i].size);
    }
    if (status == STATUS_OK && calibration->name[0] == '\0') {
        status = fail(self, "name", "expected a text");
    }
    status = status == STATUS_OK ? read_hash(self, root, "scenario_hash", &calibration->scenario_hash) : status;
    status = status == STATUS_OK ? read_hash(self, root, "measurements_hash", &calibration->rows_hash) : status;
    if (status == STATUS_OK) {
        status = read_number(self, root, "sm_clock_mhz", 1, 1e5, (double)NAN, &calibration->sm_clock_mhz);
    }
    if (status == STATUS_OK) {
        status = read_number(self, root, "rows", 1, 1e9, 0, &rows);
    }
    calibration->row_count = (uint32_t)rows;
    return status;
}

/* None in files made before they were kept. */
static enum status read_workloads(const struct reader *self, const json_t *root, struct calibration *calibration)
{
    const json_t *list = json_object_get(root, "workloads");
    const size_t count = json_array_size(list);
    calibration->workload_count = 0;
    if (list && (!json_is_array(list) || count > CALIBRATION_WORKLOADS_MAX)) {
        return fail(self, "workloads", "a list of at most 512 is expected");
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
            return fail(self, "workloads", "16 hexadecimal digits are expected");
        }
        calibration->workloads[i] = strtoull(text, NULL, 16);
        if (i > 0 && calibration->workloads[i] <= calibration->workloads[i - 1]) {
            return fail(self, "workloads", "they are not in ascending order");
        }
    }
    calibration->workload_count = (uint32_t)count;
    return STATUS_OK;
}

static enum status read_scales(const struct reader *self, const json_t *root, struct calibration *calibration)
{
    const double absent_limit = HUGE_VAL;
    enum status status = read_number(self, root, "interval_level", 0.5, 0.999999, 0, &calibration->interval_level);
    if (status == STATUS_OK) {
        status = read_number(self, root, "form_log_sigma", 1e-6, 10, 0, &calibration->form_log_sigma);
    }
    if (status == STATUS_OK) {
        status = read_number(self, root, "model_log_sigma", 0, 10, 0, &calibration->parameters.model_log_sigma);
    }
    if (status == STATUS_OK) {
        status = read_number(self, root, "stretch", 1e-6, 1e6, 0, &calibration->stretch);
    }
    calibration->stretch_beyond = calibration->stretch; /* files made before there was one */
    if (status == STATUS_OK && json_object_get(root, "stretch_beyond")) {
        status = read_number(self, root, "stretch_beyond", 1e-6, 1e6, 0, &calibration->stretch_beyond);
    }
    if (status == STATUS_OK) {
        status = read_workloads(self, root, calibration);
    }
    if (status == STATUS_OK) {
        status = read_number(self, root, "leverage_limit", 0, 1e300, absent_limit, &calibration->leverage_limit);
    }
    if (status == STATUS_OK) {
        status = read_numbers(self, root, "least", FEATURES, -1e6, 1e6, -HUGE_VAL, calibration->least);
    }
    if (status == STATUS_OK) {
        status = read_numbers(self, root, "most", FEATURES, -1e6, 1e6, HUGE_VAL, calibration->most);
    }
    return status;
}

static enum status source_of(const struct reader *self, const json_t *object, enum input_source *source)
{
    char text[32];
    const enum status status = read_text(self, object, "source", text, sizeof text);
    for (int i = 0; i < INPUT_SOURCE_COUNT && status == STATUS_OK; i++) {
        if (strcmp(text, input_source_name((enum input_source)i)) == 0) {
            *source = (enum input_source)i;
            return STATUS_OK;
        }
    }
    return status == STATUS_OK ? fail(self, "source", "unknown source") : status;
}

/* Parameters are known by name and come in the program's order: another order or name is another model. */
static enum status read_parameter(const struct reader *self, const json_t *list, int i, struct model_parameter *out)
{
    const struct parameter_description *description = parameter_describe((enum parameter_id)i);
    const json_t *object = json_array_get(list, (size_t)i);
    const char *name = json_string_value(json_object_get(object, "name"));
    char place[96];
    if (!name || strcmp(name, description->name) != 0) {
        (void)snprintf(place, sizeof place, "parameters[%d]", i);
        return error_set_at(self->error, STATUS_BAD_DATA, self->file, 0, 0,
                            "%s: expected %s; the file is of another version of occam: calibrate again", place,
                            description->name);
    }
    const json_t *value = json_object_get(object, "value"), *sigma = json_object_get(object, "log_sigma");
    (void)snprintf(place, sizeof place, "%s.value", description->name);
    enum status status = number_of(self, value, place, description->minimum, description->maximum, 0, &out->value);
    if (status == STATUS_OK) {
        (void)snprintf(place, sizeof place, "%s.log_sigma", description->name);
        status = number_of(self, sigma, place, 0, 100, 0, &out->log_sigma);
    }
    return status == STATUS_OK ? source_of(self, object, &out->source) : status;
}

static enum status check_covariance(const struct reader *self, const struct calibration *calibration)
{
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        for (int j = 0; j < i; j++) {
            const double value = calibration->covariance[i][j];
            const double bound = sqrt(calibration->covariance[i][i] * calibration->covariance[j][j]);
            char place[64];
            (void)snprintf(place, sizeof place, "covariance[%d][%d]", i, j);
            if (!(fabs(value - calibration->covariance[j][i]) <= 1e-9 * bound)) {
                return fail(self, place, "a covariance is symmetric");
            }
            if (!(fabs(value) <= bound * (1 + 1e-6))) {
                return fail(self, place, "larger than the two variances allow");
            }
        }
    }
    return STATUS_OK;
}

static enum status read_parameters(const struct reader *self, const json_t *root, struct calibration *calibration)
{
    const json_t *list, *lines;
    enum status status = read_list(self, root, "parameters", PARAMETER_COUNT, &list);
    for (int i = 0; i < PARAMETER_COUNT && status == STATUS_OK; i++) {
        status = read_parameter(self, list, i, &calibration->parameters.items[i]);
    }
    if (status == STATUS_OK) {
        status = read_list(self, root, "covariance", PARAMETER_COUNT, &lines);
    }
    for (int i = 0; i < PARAMETER_COUNT && status == STATUS_OK; i++) {
        const json_t *line = json_array_get(lines, (size_t)i);
        char place[64];
        (void)snprintf(place, sizeof place, "covariance[%d]", i);
        status = json_is_array(line) && json_array_size(line) == PARAMETER_COUNT
                     ? list_numbers(self, line, place, -1e4, 1e4, 0, calibration->covariance[i])
                     : fail(self, place, "expected as many numbers as there are parameters");
        if (status == STATUS_OK && calibration->covariance[i][i] < 0) {
            status = fail(self, place, "a variance is not below 0");
        }
    }
    return status == STATUS_OK ? check_covariance(self, calibration) : status;
}

static enum status check_features(const struct reader *self, const json_t *root)
{
    const json_t *list;
    const enum status status = read_list(self, root, "features", FEATURES, &list);
    for (unsigned f = 0; f < FEATURES && status == STATUS_OK; f++) {
        const char *name = json_string_value(json_array_get(list, f));
        if (!name || strcmp(name, calibration_feature_name(f)) != 0) {
            return fail(self, "features", "the file is of another version of occam: calibrate again");
        }
    }
    return status;
}

static enum status read_residual_rows(const struct reader *self, const json_t *object, uint32_t count,
                                      struct calibration_residual *residual)
{
    const json_t *list;
    enum status status = read_numbers(self, object, "weights", count, -1e12, 1e12, 0, residual->weights);
    status = status == STATUS_OK ? read_list(self, object, "rows", count, &list) : status;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const json_t *line = json_array_get(list, i);
        char place[64];
        (void)snprintf(place, sizeof place, "residual.rows[%u]", i);
        status = json_is_array(line) && json_array_size(line) == FEATURES
                     ? list_numbers(self, line, place, -1e6, 1e6, 0, residual->features + (size_t)i * FEATURES)
                     : fail(self, place, "expected one number for each feature");
    }
    return status;
}

static enum status read_residual(const struct reader *self, const json_t *root, struct calibration *calibration)
{
    struct calibration_residual *residual = &calibration->residual;
    const json_t *object;
    enum status status = member(self, root, "residual", &object);
    if (status != STATUS_OK || json_is_null(object)) {
        return status;
    }
    const size_t count = json_array_size(json_object_get(object, "rows"));
    if (!json_is_object(object) || count == 0 || count > CALIBRATION_RESIDUAL_ROWS_MAX) {
        return fail(self, "residual", "expected null, or an object with 1 to 2000 rows");
    }
    status = calibration_residual_allocate(calibration, (uint32_t)count, self->error);
    status =
        status == STATUS_OK ? read_number(self, object, "amplitude", 1e-300, 1e4, 0, &residual->amplitude) : status;
    status = status == STATUS_OK ? read_number(self, object, "length", 1e-9, 1e9, 0, &residual->length) : status;
    status = status == STATUS_OK ? read_number(self, object, "noise", 0, 1e4, 0, &residual->noise) : status;
    status =
        status == STATUS_OK ? read_numbers(self, object, "center", FEATURES, -1e6, 1e6, 0, residual->center) : status;
    status = status == STATUS_OK ? read_numbers(self, object, "scale", FEATURES, 0, 1e6, 0, residual->scale) : status;
    status = status == STATUS_OK ? read_residual_rows(self, object, (uint32_t)count, residual) : status;
    if (status == STATUS_OK) {
        struct error cause = {0};
        status = residual_factor_compute(residual, &cause);
        status = status == STATUS_OK ? status : fail(self, "residual", cause.text);
    }
    return status;
}

static enum status read_document(const struct reader *self, const json_t *root, struct calibration *calibration)
{
    enum status status = json_is_object(root) ? read_format(self, root)
                                              : fail(self, "document", "expected an object: this is no calibration");
    status = status == STATUS_OK ? read_provenance(self, root, calibration) : status;
    status = status == STATUS_OK ? check_features(self, root) : status;
    status = status == STATUS_OK ? read_scales(self, root, calibration) : status;
    status = status == STATUS_OK ? read_parameters(self, root, calibration) : status;
    status = status == STATUS_OK ? read_residual(self, root, calibration) : status;
    if (status == STATUS_OK) {
        calibration->parameters.interval_level = calibration->interval_level;
        memcpy(calibration->parameters.calibration, calibration->name, sizeof calibration->name);
    }
    return status;
}
_Static_assert(sizeof((struct model_parameters *)0)->calibration == sizeof((struct calibration *)0)->name,
               "a calibration's name is copied whole");

enum status calibration_text_read(const char *text, size_t length, const char *file, struct calibration *calibration,
                                  struct error *error)
{
    const struct reader self = {file, error};
    json_error_t cause;
    calibration_init(calibration);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &cause);
    if (!root) {
        return error_set_at(error, STATUS_BAD_DATA, file, cause.line > 0 ? (unsigned)cause.line : 0,
                            cause.column > 0 ? (unsigned)cause.column : 0, "not a calibration in JSON: %s", cause.text);
    }
    const enum status status = read_document(&self, root, calibration);
    json_decref(root);
    if (status != STATUS_OK) {
        calibration_release(calibration);
    }
    return status;
}

/* ---- reading: which file ----------------------------------------------------------------------------------------- */

static bool is_file(const char *path)
{
    struct stat state;
    return stat(path, &state) == 0 && !S_ISDIR(state.st_mode);
}

/* False where there is no such folder to look in. */
static bool user_path(const char *name, char *out, size_t size)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = -1;
    if (config && config[0] == '/') {
        length = snprintf(out, size, "%s/occam/calibrations/%s.json", config, name);
    } else if (home && home[0] != '\0') {
        length = snprintf(out, size, "%s/.config/occam/calibrations/%s.json", home, name);
    }
    return length > 0 && (size_t)length < size && is_file(out);
}

static enum status no_such_calibration(const char *name, struct error *error)
{
    static const char prefix[] = "calibrations/";
    char known[400] = "";
    size_t length = 0;
    for (size_t i = 0; i < embedded_file_count; i++) {
        const char *path = embedded_files[i].path, *stem = path + sizeof prefix - 1;
        if (strncmp(path, prefix, sizeof prefix - 1) == 0 && length < sizeof known - 80) {
            length += (size_t)snprintf(known + length, sizeof known - length, "%s %.*s",
                                       length ? "," : "; built in are", (int)strcspn(stem, "."), stem);
        }
    }
    return error_set(error, STATUS_MISSING, "there is no file and no calibration '%.200s'%s", name, known);
}

enum status calibration_file_read(const char *name, struct calibration *calibration, struct error *error)
{
    char path[PATH_SIZE];
    const char *file = name;
    const bool bare = strchr(name, '/') == NULL && !is_file(name);
    calibration_init(calibration);
    if (bare && user_path(name, path, sizeof path)) {
        file = path;
    } else if (bare) {
        char shipped_path[300];
        (void)snprintf(shipped_path, sizeof shipped_path, "calibrations/%.200s.json", name);
        const struct embedded_file *shipped = embedded_file_find(shipped_path);
        (void)snprintf(path, sizeof path, "built in: %s", shipped_path);
        return shipped ? calibration_text_read(shipped->begin, shipped->length, path, calibration, error)
                       : no_such_calibration(name, error);
    }
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read_text(file, FILE_BYTES_MAX, &text, &length, error);
    if (status == STATUS_OK) {
        status = calibration_text_read(text, length, file, calibration, error);
    }
    free(text);
    return status;
}
